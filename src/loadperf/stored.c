/* SPDX-License-Identifier: MIT */
/*
 * Reads a backup (docs/windows/registration.md#e5): an ini file with the providers' numbers and
 * every language's texts, made by Windows, by hand or by us. Only ours contains the number of its
 * texts: without it, texts lost by truncation would look like texts that never existed.
 */
#include "loadperf/stored.h"

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
    uint32_t wanted;     /* language, or 0 */
    const char *section; /* the section of `kind` */
    enum { NOTHING, PERFLIB, OURS, PROVIDER, STRINGS, HAND } kind;
    struct stored_provider *provider; /* of PROVIDER; NULL: refused */
    uint32_t language;
    bool any, ours, has_count;
    uint32_t count; /* as stated in the file */
    size_t found;   /* texts of all languages */
};

/* ---- sections ---- */

static bool behind(struct span section, const char *head, struct span *ret)
{
    size_t count = strlen(head);
    if (section.count <= count || !span_is((struct span){section.at, count}, head))
        return false;
    *ret = (struct span){section.at + count, section.count - count};
    return true;
}

static struct stored_provider *provider_of(struct stored *stored, struct span name)
{
    for (size_t i = 0; i < stored->provider_count; i++)
        if (span_is(name, stored->providers[i].name))
            return &stored->providers[i];
    return NULL;
}

static LSTATUS begin_provider(struct stored_reading *reading, struct span name, unsigned line)
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
    struct span name = {0};
    reading->section = entry->section.at;
    reading->kind = NOTHING;
    if (span_is(entry->section, SECTION_PERFLIB))
        reading->any = true;
    else if (span_is(entry->section, SECTION_OURS))
        reading->kind = OURS;
    else if (behind(entry->section, SECTION_PROVIDER, &name))
        return begin_provider(reading, name, entry->line);
    else if (behind(entry->section, SECTION_TEXTS, &name))
        reading->kind = STRINGS;
    else if (behind(entry->section, SECTION_HAND, &name))
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
                     "is not an index and text: it is ignored");
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
        load_error(load, path, 0, "cannot be read: %s", status_text(status));
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
