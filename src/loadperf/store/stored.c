/* SPDX-License-Identifier: MIT */
/*
 * Reads a backup (docs/windows/registration.md#e5): an ini file with the providers' numbers and
 * every language's texts, made by Windows, by hand or by lodctr. Only lodctr's has the number of
 * its texts; without that, texts that were lost by truncation cannot be noticed.
 */
#include "loadperf/store/stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stored_done(struct stored *stored)
{
    for (size_t i = 0; i < stored->provider_count; i++) {
        free(stored->providers[i].name);
        for (size_t k = 0; k < TEXTS; k++)
            free(stored->providers[i].text[k]);
    }
    free(stored->providers);
    stored_texts_done(&stored->texts);
    stored_texts_done(&stored->hand);
    *stored = (struct stored){0};
}

bool stored_has_numbers(const struct stored_provider *provider)
{
    bool all = true;
    for (size_t i = 0; i < NUMBERS; i++)
        all &= provider->has[i];
    return all;
}

struct stored_reading {
    struct load *load;
    struct stored *stored;
    const struct ini *ini;
    uint32_t wanted;     /* only texts of this language are wanted; 0: texts of all languages */
    const char *section; /* name of the present section, whose kind is `kind` */
    enum { NOTHING, PERFLIB, OURS, PROVIDER, STRINGS, HAND } kind;
    /* service of the present PROVIDER section; NULL: the section was refused */
    struct stored_provider *provider;
    uint32_t language;
    bool any, ours, has_count;
    uint32_t count; /* number of texts that the file states */
    size_t found;   /* number of texts that were found, in all languages */
};

/* ---- sections ---- */

static bool text_after(struct text_span section, const char *head, struct text_span *ret)
{
    size_t count = strlen(head);
    if (section.count <= count || !span_is((struct text_span){section.at, count}, head))
        return false;
    *ret = (struct text_span){section.at + count, section.count - count};
    return true;
}

static struct stored_provider *provider_of(struct stored *stored, struct text_span name)
{
    for (size_t i = 0; i < stored->provider_count; i++)
        if (span_is(name, stored->providers[i].name))
            return &stored->providers[i];
    return NULL;
}

static LSTATUS begin_provider(struct stored_reading *reading, struct text_span name, unsigned line)
{
    struct stored *stored = reading->stored;
    reading->kind = PROVIDER;
    reading->any = true;
    reading->provider = provider_of(stored, name);
    if (reading->provider)
        return ERROR_SUCCESS;
    if (name.count >= SERVICE_SIZE || memchr(name.at, '\\', name.count)) {
        load_warning(reading->load, stored->path, line, "\"%.*s\" is not the name of a service",
                     (int)(name.count < 80 ? name.count : 80), name.at);
        return ERROR_SUCCESS;
    }
    struct stored_provider provider = {.name = span_copy(name), .line = line};
    if (!provider.name || !list_grow(&stored->providers, stored->provider_count,
                                     &stored->provider_capacity, sizeof provider)) {
        free(provider.name);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    reading->provider = &stored->providers[stored->provider_count++];
    *reading->provider = provider;
    return ERROR_SUCCESS;
}

static LSTATUS begin_section(struct stored_reading *reading, const struct ini_entry *entry)
{
    struct text_span name = {0};
    reading->section = entry->section.at;
    reading->kind = NOTHING;
    if (span_is(entry->section, SECTION_PERFLIB))
        reading->any = true;
    else if (span_is(entry->section, SECTION_OURS))
        reading->kind = OURS;
    else if (text_after(entry->section, SECTION_PROVIDER, &name))
        return begin_provider(reading, name, entry->line);
    else if (text_after(entry->section, SECTION_TEXTS, &name))
        reading->kind = STRINGS;
    else if (text_after(entry->section, SECTION_HAND, &name))
        reading->kind = HAND;
    if (reading->kind != STRINGS && reading->kind != HAND)
        return ERROR_SUCCESS;
    if (name.count > 4 || !text_hex(name.at, name.count, &reading->language)) {
        load_warning(reading->load, reading->stored->path, entry->line,
                     "\"%.*s\" is not a language id such as 009: its texts are ignored",
                     (int)(name.count < 80 ? name.count : 80), name.at);
        reading->kind = NOTHING;
        return ERROR_SUCCESS;
    }
    reading->language = names_language(reading->language);
    return ERROR_SUCCESS;
}

/* ---- values ---- */

static LSTATUS decoded(struct stored_reading *reading, const struct ini_entry *entry, char **ret)
{
    BUFFER_AUTO text = {0};
    bool bad;
    uint32_t language = reading->kind == STRINGS ? reading->language : LANGUAGE_ENGLISH;
    if (!reading->ini->raw) {
        *ret = span_copy(entry->value);
        return *ret ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
    }
    LSTATUS status = decode_text(entry->value, decode_code_page(language), &text, &bad);
    buffer_add(&text, "", 1);
    if (status || text.failed) {
        load_error(reading->load, reading->stored->path, entry->line,
                   "is in a code page that the C library does not know; save it as UTF-16");
        return status ? status : ERROR_NOT_ENOUGH_MEMORY;
    }
    *ret = text.data;
    text = (struct buffer){0};
    return ERROR_SUCCESS;
}

static LSTATUS take_setting(struct stored_reading *reading, const struct ini_entry *entry)
{
    struct stored_provider *provider = reading->provider;
    uint32_t number;
    bool is_number = text_decimal(entry->value.at, entry->value.count, &number);
    for (size_t i = 0; i < TEXTS; i++)
        if (span_is(entry->key, text_names[i]) && !provider->text[i])
            return decoded(reading, entry, &provider->text[i]);
    for (size_t i = 0; i < NUMBERS; i++)
        if (span_is(entry->key, number_names[i]) && !provider->has[i]) {
            provider->has[i] = is_number;
            provider->number[i] = is_number ? number : 0;
        }
    if (span_is(entry->key, VALUE_DISABLED) && is_number && !provider->disabled)
        provider->disabled = number;
    return ERROR_SUCCESS;
}

static void report_damaged(const struct stored_reading *reading, const struct ini_entry *entry)
{
    char key[32], language[8];
    snprintf(key, sizeof key, "%.*s", (int)(entry->key.count < 31 ? entry->key.count : 31),
             entry->key.at);
    snprintf(language, sizeof language, "%03X", (unsigned)reading->language & 0xffff);
    if (!reading->load->options->dry_run)
        event_log(SOURCE, EVENT_DAMAGED_TEXT, NULL,
                  EVENT_FIELDS(EVENT_TEXT("Index", key), EVENT_TEXT("Language", language)), NULL);
}

static LSTATUS take_text(struct stored_reading *reading, const struct ini_entry *entry)
{
    uint32_t index;
    char *text = NULL;
    if (!text_decimal(entry->key.at, entry->key.count, &index) || !entry->has_value) {
        load_warning(reading->load, reading->stored->path, entry->line,
                     "the line is not INDEX=text, so it is ignored");
        report_damaged(reading, entry);
        return ERROR_SUCCESS;
    }
    reading->found++;
    if (reading->wanted && reading->language != reading->wanted)
        return ERROR_SUCCESS;
    LSTATUS status = decoded(reading, entry, &text);
    struct stored_texts *texts =
        reading->kind == HAND ? &reading->stored->hand : &reading->stored->texts;
    if (!status && !stored_texts_add(texts, reading->language, index, text))
        status = ERROR_NOT_ENOUGH_MEMORY;
    return status;
}

static LSTATUS take_entry(struct stored_reading *reading, const struct ini_entry *entry)
{
    LSTATUS status =
        entry->section.at == reading->section ? ERROR_SUCCESS : begin_section(reading, entry);
    if (status)
        return status;
    if (reading->kind == STRINGS || reading->kind == HAND)
        return take_text(reading, entry);
    if (reading->kind == PROVIDER && reading->provider)
        return take_setting(reading, entry);
    reading->ours |= reading->kind == OURS;
    if (reading->kind == OURS && span_is(entry->key, VALUE_TEXTS))
        reading->has_count = text_decimal(entry->value.at, entry->value.count, &reading->count);
    return ERROR_SUCCESS;
}

/* ---- the file ---- */

static LSTATUS judge(struct stored_reading *reading)
{
    struct stored *stored = reading->stored;
    if (!reading->any) {
        load_error(reading->load, stored->path, 0,
                   "is not a backup: it has neither [Perflib] nor a section [PERF_SERVICE]");
        return ERROR_INVALID_DATA;
    }
    if (reading->ours && (!reading->has_count || reading->count != reading->found)) {
        load_error(reading->load, stored->path, 0,
                   "is incomplete: it has only %zu of its texts; nothing was restored",
                   reading->found);
        return ERROR_INVALID_DATA;
    }
    stored->whole = reading->ours;
    return stored_texts_sort(&stored->texts) && stored_texts_sort(&stored->hand)
               ? ERROR_SUCCESS
               : ERROR_NOT_ENOUGH_MEMORY;
}

LSTATUS stored_read(struct load *load, const char *path, uint32_t language, struct stored *ret)
{
    BUFFER_AUTO bytes = {0};
    struct ini ini = {0};
    *ret = (struct stored){.path = path};
    struct stored_reading reading = {.load = load, .stored = ret, .ini = &ini, .wanted = language};
    LSTATUS status = load_file(path, &bytes);
    if (status) {
        load_error(load, path, 0, "cannot be read: %s", load_file_reason(path, status));
        return status;
    }
    status = ini_parse(bytes.data ? bytes.data : "", bytes.len, &ini);
    for (size_t i = 0; !status && i < ini.count; i++)
        status = take_entry(&reading, &ini.entries[i]);
    status = status ? status : judge(&reading);
    ini_done(&ini);
    if (status)
        stored_done(ret);
    return status;
}

/* ---- texts ---- */

/* Texts by language and index, from a backup or from the registry. */

void stored_texts_done(struct stored_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->list[i].text);
    free(texts->list);
    *texts = (struct stored_texts){0};
}

bool stored_texts_add(struct stored_texts *texts, uint32_t language, uint32_t index, char *text)
{
    if (!text || !list_grow(&texts->list, texts->count, &texts->capacity, sizeof *texts->list)) {
        free(text);
        return false;
    }
    texts->list[texts->count++] = (struct stored_text){language, index, text};
    return true;
}

static int compare(const struct stored_text *text, uint32_t language, uint32_t index)
{
    if (text->language != language)
        return text->language < language ? -1 : 1;
    return text->index < index ? -1 : text->index > index;
}

/* Merges two sorted halves. Merge sort is stable, and needs one pass if all is sorted already. */
static void merge_halves(struct stored_text *list, size_t half, size_t count,
                         struct stored_text *storage)
{
    size_t left = 0, right = half, at = 0;
    memcpy(storage, list, half * sizeof *list);
    while (left < half) {
        bool take_right =
            right < count && compare(&list[right], storage[left].language, storage[left].index) < 0;
        list[at++] = take_right ? list[right++] : storage[left++];
    }
}

static void sort(struct stored_text *list, size_t count, struct stored_text *storage)
{
    size_t half = count / 2;
    if (count < 2)
        return;
    sort(list, half, storage);
    sort(list + half, count - half, storage);
    if (compare(&list[half - 1], list[half].language, list[half].index) > 0)
        merge_halves(list, half, count, storage);
}

static bool in_order(const struct stored_texts *texts)
{
    for (size_t i = 1; i < texts->count; i++)
        if (compare(&texts->list[i - 1], texts->list[i].language, texts->list[i].index) >= 0)
            return false;
    return true;
}

bool stored_texts_sort(struct stored_texts *texts)
{
    size_t kept = 0;
    if (in_order(texts))
        return true;
    FREE_AUTO struct stored_text *storage = calloc(texts->count, sizeof *storage);
    if (!storage)
        return false;
    sort(texts->list, texts->count, storage);
    for (size_t i = 0; i < texts->count; i++) {
        struct stored_text *text = &texts->list[i];
        if (kept && !compare(&texts->list[kept - 1], text->language, text->index))
            free(text->text);
        else
            texts->list[kept++] = *text;
    }
    texts->count = kept;
    return true;
}

size_t stored_texts_from(const struct stored_texts *texts, uint32_t language, uint32_t index)
{
    size_t low = 0, high = texts->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(&texts->list[middle], language, index) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *stored_texts_find(const struct stored_texts *texts, uint32_t language, uint32_t index)
{
    size_t at = stored_texts_from(texts, language, index);
    bool found = at < texts->count && !compare(&texts->list[at], language, index);
    return found ? texts->list[at].text : NULL;
}

bool stored_texts_language(const struct stored_texts *texts, size_t *cursor, uint32_t *ret)
{
    if (*cursor >= texts->count)
        return false;
    *ret = texts->list[*cursor].language;
    *cursor = stored_texts_from(texts, *ret + 1, 0);
    return true;
}

/* ---- of a service ---- */

struct name_search {
    struct stored_texts *texts;
    const char *names_key;
    uint32_t language;
    LSTATUS status;
};

static bool take_value(void *self, const struct registry_value *value)
{
    struct name_search *collecting = self;
    uint32_t index;
    if (value->type != REG_SZ || !text_decimal(value->name, strlen(value->name), &index))
        return true;
    char *text = strndup(value->size ? value->data : "", value->size);
    if (!stored_texts_add(collecting->texts, collecting->language, index, text))
        collecting->status = ERROR_NOT_ENOUGH_MEMORY;
    return !collecting->status;
}

static bool take_language(void *self, const char *name)
{
    struct name_search *collecting = self;
    if (!text_hex(name, strlen(name), &collecting->language))
        return true;
    FREE_AUTO char *key = text_format("%s\\%s", collecting->names_key, name);
    LSTATUS status =
        key ? registry_each_value(key, take_value, collecting) : ERROR_NOT_ENOUGH_MEMORY;
    if (status && status != ERROR_FILE_NOT_FOUND)
        collecting->status = status;
    return !collecting->status;
}

LSTATUS stored_texts_of_service(const char *service, struct stored_texts *ret)
{
    FREE_AUTO char *key = text_format("%s\\%s\\Performance\\Names", REGISTRY_SERVICES, service);
    struct name_search collecting = {.texts = ret, .names_key = key};
    LSTATUS status =
        key ? registry_each_key(key, take_language, &collecting) : ERROR_NOT_ENOUGH_MEMORY;
    if (status == ERROR_FILE_NOT_FOUND)
        status = ERROR_SUCCESS;
    status = status ? status : collecting.status;
    if (!status && !stored_texts_sort(ret))
        status = ERROR_NOT_ENOUGH_MEMORY;
    return status;
}

/* ---- of a language ---- */

static LSTATUS add_pairs(uint32_t language, const struct buffer *multi, struct stored_texts *ret)
{
    const char *cursor = multi->data, *end = multi->data + multi->len, *text;
    uint32_t index = 0;
    bool wants_index = true;
    if (!multi->data)
        return ERROR_SUCCESS;
    while ((text = text_multi_next(&cursor, end))) {
        if (wants_index) {
            wants_index = !text_decimal(text, strlen(text), &index);
            continue;
        }
        wants_index = true;
        if (!stored_texts_add(ret, language, index, strdup(text)))
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    return ERROR_SUCCESS;
}

static LSTATUS read_base(enum names_part part, uint32_t language, struct buffer *ret)
{
    DWORD size = 0;
    LSTATUS status = names_text(part, language, false, NULL, &size);
    while (!status) {
        buffer_clear(ret);
        if (!buffer_reserve(ret, size + 1))
            return ERROR_NOT_ENOUGH_MEMORY;
        status = names_text(part, language, false, ret->data, &size);
        if (!status)
            break;
        status = status == ERROR_MORE_DATA ? ERROR_SUCCESS : status;
    }
    ret->len = status ? 0 : size;
    return status;
}

LSTATUS stored_texts_of_language(uint32_t language, struct stored_texts *ret)
{
    LSTATUS status = ERROR_SUCCESS;
    for (int part = NAMES_COUNTER; !status && part <= NAMES_HELP; part++) {
        BUFFER_AUTO multi = {0};
        status = read_base((enum names_part)part, language, &multi);
        if (status)
            load_language_event(EVENT_NO_NAMES + (part == NAMES_HELP), language, status);
        status = status ? status : add_pairs(language, &multi, ret);
    }
    return status;
}

LSTATUS stored_texts_by_hand(uint32_t language, struct stored_texts *ret)
{
    static const char *const values[] = {"Counter", "Help"};
    LSTATUS status = ERROR_SUCCESS;
    FREE_AUTO char *key =
        text_format("%s\\%03X\\Manual", REGISTRY_PERFLIB, (unsigned)language & 0xffff);
    if (!key)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; !status && i < COUNT(values); i++) {
        uint32_t type;
        BUFFER_AUTO multi = {0};
        status = registry_get(key, values[i], &type, &multi);
        if (!status && type == REG_MULTI_SZ)
            status = add_pairs(language, &multi, ret);
        status = status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : status;
    }
    return status;
}
