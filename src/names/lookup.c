/* SPDX-License-Identifier: MIT */
/* Queries of the merged bases: languages, an index's text, a name's index, the maxima. */
#include "names/table.h"
#include "names/names.h"
#include "registry/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANGUAGE_ID_SIZE = 8 };

bool names_language_installed(uint32_t language)
{
    lock_take(&names_lock);
    const struct name_language *base =
        names_refresh() == ERROR_SUCCESS ? names_base_exactly(names_language(language)) : NULL;
    bool installed = base && base->installed;
    lock_release(&names_lock);
    return installed;
}

LSTATUS names_each_language(bool (*each)(void *self, const char *id), void *self)
{
    uint32_t ids[MOST_LANGUAGES];
    size_t count = 0;
    lock_take(&names_lock);
    LSTATUS status = names_refresh();
    for (size_t i = 0; i < names_language_count; i++)
        if (names_languages[i]->installed)
            ids[count++] = names_languages[i]->id;
    lock_release(&names_lock);
    for (size_t i = 0; i < count; i++) {
        char id[LANGUAGE_ID_SIZE];
        snprintf(id, sizeof id, "%03X", (unsigned)(ids[i] & 0xffff));
        if (!each(self, id))
            break;
    }
    return status;
}

/* Returns the present list of a language; the caller holds names_lock. */
static const struct name_list *current(enum names_part part, uint32_t language)
{
    return names_refresh() == ERROR_SUCCESS ? names_list(names_base(language), part) : NULL;
}

const struct name_list *names_hold(enum names_part part, uint32_t language)
{
    lock_take(&names_lock);
    const struct name_list *list = current(part, language);
    if (list)
        name_list_hold(list);
    lock_release(&names_lock);
    return list;
}

/* Returns the text in the present list; NULL: none. */
static const char *current_text(enum names_part part, uint32_t language, uint32_t index)
{
    const struct name_list *list;
    const char *text;
    do {
        list = current(part, language);
        text = list ? name_list_text(list, index) : NULL;
    } while (name_list_failed(list));
    return text;
}

bool names_lookup(uint32_t index, uint32_t language, struct buffer *ret)
{
    const char *text = NULL;
    enum names_part part = names_part_of(index);
    lock_take(&names_lock);
    /* searches both parts, because a program may have written the text into the other one */
    for (int i = 0; !text && i < NAMES_PARTS; i++, part = NAMES_PARTS - 1 - part)
        text = current_text(part, language, index);
    if (text && ret)
        buffer_add_text(ret, text);
    lock_release(&names_lock);
    return text;
}

static uint32_t highest(const struct name_table *table, uint32_t parity, uint32_t at_least)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->entries[i].index % 2 == parity && table->entries[i].index > at_least)
            at_least = table->entries[i].index;
    return at_least;
}

static uint32_t larger(uint32_t left, uint32_t right)
{
    return left > right ? left : right;
}

/* Raises *counter and *help to the highest indices in the base, whether services use them, they are
 * shipped or were written by hand. */
static void note_highest(const struct name_language *base, uint32_t *counter, uint32_t *help)
{
    *counter = larger(*counter, base->highest[NAMES_COUNTER]);
    *help = larger(*help, base->highest[NAMES_HELP]);
    const struct name_table *const tables[] = {base->hand, base->given};
    for (size_t i = 0; i < COUNT(tables); i++) {
        *counter = highest(&tables[i][NAMES_COUNTER], 0, *counter);
        *help = highest(&tables[i][NAMES_HELP], 1, *help);
    }
}

static uint32_t past_block(uint32_t highest, uint32_t last)
{
    return highest >= NAMES_BLOCK_FIRST && highest < last ? last : highest;
}

LSTATUS names_last(uint32_t *ret_counter, uint32_t *ret_help)
{
    lock_take(&names_lock);
    LSTATUS status = names_refresh();
    uint32_t counter = NAMES_BASE_INDEX - 1, help = NAMES_BASE_INDEX;
    for (size_t i = 0; !status && i < names_language_count; i++) {
        if (!names_note_highest(names_languages[i]))
            status = ERROR_NOT_ENOUGH_MEMORY;
        note_highest(names_languages[i], &counter, &help);
    }
    lock_release(&names_lock);
    if (status == ERROR_SUCCESS) {
        *ret_counter = past_block(counter, NAMES_BLOCK_LAST - 1);
        *ret_help = past_block(help, NAMES_BLOCK_LAST);
    }
    return status;
}

/* ---- the user's language ---- */

/* LC_ALL, LC_MESSAGES or LANG name the user's locale. A table translates it to a language id
 * (names_user_langid), and names_language this id to that of a language base. */

enum { PRIMARY_MASK = 0x3ff, PRIMARY_CHINESE = 0x04, PRIMARY_PORTUGUESE = 0x16 };
enum { ENGLISH_US = 0x0409, CHINESE_TAIWAN = 0x404, CHINESE_CHINA = 0x804 };
enum { PORTUGUESE_BRAZIL = 0x416, PORTUGUESE_PORTUGAL = 0x816 };

/* For each language the rows with a country come first; the row without one is for all other
 * countries. */
static const struct {
    const char *locale;
    uint16_t langid;
} locales[] = {
  /* clang-format off */
    {"af", 0x0436}, {"sq", 0x041c}, {"am", 0x045e}, {"ar_EG", 0x0c01}, {"ar_DZ", 0x1401}, {"ar_MA", 0x1801}, {"ar_AE", 0x3801},
    {"ar", 0x0401}, {"hy", 0x042b}, {"az", 0x042c}, {"eu", 0x042d}, {"be", 0x0423}, {"bn_BD", 0x0845}, {"bn", 0x0445},
    {"bs", 0x141a}, {"bg", 0x0402}, {"ca", 0x0403}, {"zh_TW", 0x0404}, {"zh_HK", 0x0c04}, {"zh_MO", 0x1404}, {"zh_SG", 0x1004},
    {"zh", 0x0804}, {"hr", 0x041a}, {"cs", 0x0405}, {"da", 0x0406}, {"nl_BE", 0x0813}, {"nl", 0x0413}, {"en_GB", 0x0809},
    {"en_AU", 0x0c09}, {"en_CA", 0x1009}, {"en_NZ", 0x1409}, {"en_IE", 0x1809}, {"en_ZA", 0x1c09}, {"en_PH", 0x3409},
    {"en_IN", 0x4009}, {"en_SG", 0x4809}, {"en", 0x0409}, {"et", 0x0425}, {"fo", 0x0438}, {"fi", 0x040b}, {"fr_BE", 0x080c},
    {"fr_CA", 0x0c0c}, {"fr_CH", 0x100c}, {"fr_LU", 0x140c}, {"fr", 0x040c}, {"gl", 0x0456}, {"ka", 0x0437}, {"de_CH", 0x0807},
    {"de_AT", 0x0c07}, {"de_LU", 0x1007}, {"de_LI", 0x1407}, {"de", 0x0407}, {"el", 0x0408}, {"gu", 0x0447}, {"he", 0x040d},
    {"iw", 0x040d}, {"hi", 0x0439}, {"hu", 0x040e}, {"is", 0x040f}, {"id", 0x0421}, {"ga", 0x083c}, {"it_CH", 0x0810},
    {"it", 0x0410}, {"ja", 0x0411}, {"kn", 0x044b}, {"kk", 0x043f}, {"km", 0x0453}, {"ko", 0x0412}, {"ky", 0x0440},
    {"lo", 0x0454}, {"lv", 0x0426}, {"lt", 0x0427}, {"lb", 0x046e}, {"mk", 0x042f}, {"ms", 0x043e}, {"ml", 0x044c},
    {"mt", 0x043a}, {"mi", 0x0481}, {"mr", 0x044e}, {"mn", 0x0450}, {"ne", 0x0461}, {"nn", 0x0814}, {"nb", 0x0414},
    {"no", 0x0414}, {"or", 0x0448}, {"fa", 0x0429}, {"pl", 0x0415}, {"pt_BR", 0x0416}, {"pt", 0x0816}, {"pa", 0x0446},
    {"ro", 0x0418}, {"ru", 0x0419}, {"sr", 0x0c1a}, {"si", 0x045b}, {"sk", 0x041b}, {"sl", 0x0424}, {"es_MX", 0x080a},
    {"es_GT", 0x100a}, {"es_CR", 0x140a}, {"es_PA", 0x180a}, {"es_DO", 0x1c0a}, {"es_VE", 0x200a}, {"es_CO", 0x240a},
    {"es_PE", 0x280a}, {"es_AR", 0x2c0a}, {"es_EC", 0x300a}, {"es_CL", 0x340a}, {"es_UY", 0x380a}, {"es_PY", 0x3c0a},
    {"es_BO", 0x400a}, {"es_SV", 0x440a}, {"es_HN", 0x480a}, {"es_NI", 0x4c0a}, {"es_PR", 0x500a}, {"es_US", 0x540a},
    {"es", 0x0c0a}, {"sw", 0x0441}, {"sv_FI", 0x081d}, {"sv", 0x041d}, {"ta", 0x0449}, {"tt", 0x0444}, {"te", 0x044a},
    {"th", 0x041e}, {"tr", 0x041f}, {"uk", 0x0422}, {"ur", 0x0420}, {"uz", 0x0443}, {"vi", 0x042a}, {"cy", 0x0452},
  /* clang-format on */
};

/* Returns the length of a locale's name up to the country: 5 for "de_AT.UTF-8@euro". */
static size_t locale_length(const char *locale)
{
    return strcspn(locale, ".@");
}

static uint32_t langid_of_locale(const char *locale)
{
    size_t length = locale_length(locale);
    for (size_t i = 0; i < COUNT(locales); i++) {
        const char *row = locales[i].locale;
        size_t row_length = strlen(row);
        bool same = length == row_length ||
                    (!strchr(row, '_') && length > row_length && locale[row_length] == '_');
        if (same && strncmp(locale, row, row_length) == 0)
            return locales[i].langid;
    }
    return ENGLISH_US; /* for C, POSIX and unknown languages */
}

uint32_t names_user_langid(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < COUNT(variables); i++) {
        const char *locale = getenv(variables[i]);
        if (locale && *locale) /* the first variable that is set decides, even if it is "C" */
            return langid_of_locale(locale);
    }
    return ENGLISH_US;
}

uint32_t names_language(uint32_t langid)
{
    uint32_t primary = langid & PRIMARY_MASK;
    if (langid <= PRIMARY_MASK)
        return langid;
    if (primary == PRIMARY_CHINESE) /* Singapore uses the same script as mainland China */
        return langid == CHINESE_CHINA || langid == 0x1004 ? CHINESE_CHINA : CHINESE_TAIWAN;
    if (primary == PRIMARY_PORTUGUESE)
        return langid == PORTUGUESE_BRAZIL ? PORTUGUESE_BRAZIL : PORTUGUESE_PORTUGAL;
    return primary;
}

/* ---- storing ---- */

/*
 * Stores a whole base that a program has read, extended and written back
 * (docs/windows/articles.md#c80): only texts that no other source has are stored, as
 * Perflib\LLL\Manual. Texts written by hand that the written base lacks are deleted; texts of the
 * vendor and of services stay, because they belong to their registrations.
 */

struct difference {
    enum names_part part;
    const struct name_language *base; /* NULL: the language has no base yet */
    const struct name_list *english;
    struct name_table table;
};

static bool is_english(const struct name_language *base)
{
    return base && base->id == LANGUAGE_ENGLISH;
}

/* Returns the text that the index would have in this language without texts written by hand; NULL:
 * none. */
static const char *known(const struct difference *difference, uint32_t index)
{
    const struct name_language *base = difference->base;
    const char *text = base ? name_table_find(&base->given[difference->part], index) : NULL;
    if (!text && !is_english(base))
        text = name_list_text(difference->english, index);
    return text;
}

/* True for an English text that the program read because this language has no text for the index,
 * and wrote back unchanged. It is not stored, so it cannot replace a text that the program appended
 * for the same index. */
static bool is_stand_in(const struct difference *difference, uint32_t index, const char *text)
{
    enum names_part part = difference->part;
    const struct name_language *base = difference->base;
    if (is_english(base) || (base && (name_table_find(&base->given[part], index) ||
                                      name_table_find(&base->hand[part], index))))
        return false;
    const char *stored = name_list_text(difference->english, index);
    return stored && !strcmp(stored, text);
}

static bool add_pair(void *self, uint32_t index, const char *text)
{
    struct difference *difference = self;
    return is_stand_in(difference, index, text) ||
           name_table_add(&difference->table, index, text, strlen(text));
}

/* Finds the texts that must be stored. If the program wrote an index twice, the first text counts,
 * as when a base is read. */
static LSTATUS find_difference(const char *multi, size_t size, struct difference *difference)
{
    struct name_table *table = &difference->table;
    size_t kept = 0;
    if (!name_pairs_each(multi, size, add_pair, difference))
        return ERROR_NOT_ENOUGH_MEMORY;
    name_table_sort(table);
    for (size_t i = 0; i < table->count; i++) {
        struct name_entry entry = table->entries[i];
        const char *stored = known(difference, entry.index);
        if (entry.index != NAMES_FIRST_PAIR &&
            (!stored || strcmp(stored, table->texts.data + entry.text) != 0))
            table->entries[kept++] = entry;
    }
    table->count = kept;
    return ERROR_SUCCESS;
}

static LSTATUS compare_with_base(uint32_t language, const char *multi, size_t size,
                                 struct difference *difference)
{
    LSTATUS status = names_refresh();
    if (status != ERROR_SUCCESS)
        return status;
    struct name_language *base = names_base_exactly(language);
    difference->english = names_list_whole(names_base_exactly(LANGUAGE_ENGLISH), difference->part);
    if (!difference->english || (base && !names_load(base)))
        return ERROR_NOT_ENOUGH_MEMORY;
    difference->base = base;
    return find_difference(multi, size, difference);
}

static LSTATUS print(const struct name_table *table, struct buffer *ret)
{
    size_t size;
    const struct name_list *list = name_list_of_table(table);
    const char *multi = list ? name_list_multi(list, &size) : NULL;
    if (multi)
        buffer_add(ret, multi, size);
    name_list_drop(list);
    return multi ? buffer_status(ret) : ERROR_NOT_ENOUGH_MEMORY;
}

/* Stores the texts of `wanted` in the value. Does not write an unchanged value, so a program
 * without write access may "write" the existing content. If no text is left, the key Manual is
 * deleted; with `stands`, which means that the language is installed even without its key
 * Perflib\LLL, that key is deleted too. */
static LSTATUS write_manual(const char *key, const char *value, const struct buffer *wanted,
                            bool stands)
{
    uint32_t type = 0;
    BUFFER_AUTO there = {0};
    LSTATUS status = registry_get(key, value, &type, &there);
    bool is_empty = wanted->len == 1;
    if (status == ERROR_FILE_NOT_FOUND && is_empty)
        return ERROR_SUCCESS;
    if (status == ERROR_SUCCESS && type == REG_MULTI_SZ && there.len == wanted->len &&
        memcmp(there.data, wanted->data, there.len) == 0)
        return ERROR_SUCCESS;
    if (is_empty)
        return registry_delete_last_value(LAYER_MACHINE, key, value, stands ? 2 : 1);
    return registry_set(LAYER_MACHINE, key, value, REG_MULTI_SZ, wanted->data, wanted->len);
}

LSTATUS names_store(enum names_part part, uint32_t language, const char *multi, size_t size)
{
    BUFFER_AUTO wanted = {0};
    language = names_language(language);
    struct difference difference = {.part = part};
    lock_take(&names_lock);
    LSTATUS status = compare_with_base(language, multi, size, &difference);
    if (status == ERROR_SUCCESS)
        status = print(&difference.table, &wanted);
    bool stands = difference.base && difference.base->stands;
    lock_release(&names_lock);
    trace("names", "%zu texts of language %03X differ", difference.table.count, (unsigned)language);
    name_table_done(&difference.table);
    if (status != ERROR_SUCCESS)
        return status;
    FREE_AUTO char *key = text_format("%s\\%03X\\Manual", REGISTRY_PERFLIB, (unsigned)language);
    if (!key)
        return ERROR_NOT_ENOUGH_MEMORY;
    return write_manual(key, part == NAMES_COUNTER ? "Counter" : "Help", &wanted, stands);
}
