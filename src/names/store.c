/* SPDX-License-Identifier: MIT */
/*
 * Stores a whole base that a program has read, extended and written back
 * (docs/windows/articles.md#c80): only texts that no other source has are stored, as
 * Perflib\LLL\Manual. Texts written by hand that it lacks are deleted; texts of the vendor and of
 * services stay, because they belong to their registrations.
 */
#include "names/table.h"
#include "registry/registry.h"

#include <stdio.h>
#include <string.h>

struct difference {
    enum names_part part;
    const struct name_language *base; /* NULL: a new language */
    const struct name_list *english;
    struct name_table table;
};

static bool is_english(const struct name_language *base)
{
    return base && base->id == LANGUAGE_ENGLISH;
}

/* The text that the index would have in this language if none were written by hand; NULL: none. */
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

/* If the program wrote an index twice, the first text counts, as when a base is read. */
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
    difference->english = names_list(names_base_exactly(LANGUAGE_ENGLISH), difference->part);
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

/* Does not write an unchanged value, so a program without write access may "write" the existing
 * content. If no text is left, the key Manual is deleted; with `stands`, which means that the
 * language is installed even without its key Perflib\LLL, that key is deleted too. */
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
