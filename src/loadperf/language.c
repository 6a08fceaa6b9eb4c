/* SPDX-License-Identifier: MIT */
/*
 * Installs and removes languages; enables services. A shipped language is installed at first; what
 * was changed is stored in SOFTWARE\openperflib\Languages, because subkeys of Perflib must be
 * languages (docs/windows/articles.md#c107).
 */
#include "loadperf/store/stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_language(const char *text, uint32_t *ret)
{
    size_t count = text ? strlen(text) : 0;
    if (!count || count > 4 || !text_hex(text, count, ret) || !*ret)
        return false;
    *ret = names_language(*ret);
    return true;
}

static LSTATUS choose(const struct load *load, uint32_t language, uint32_t choice)
{
    char name[8];
    snprintf(name, sizeof name, "%03X", (unsigned)language & 0xffff);
    return registry_set(load->layer, LANGUAGES_KEY, name, REG_DWORD, &choice, sizeof choice);
}

/* Deletes the texts of the language that were written by hand. */
static LSTATUS delete_texts(const struct load *load, uint32_t language)
{
    FREE_AUTO char *key = text_format("%s\\%03X", REGISTRY_PERFLIB, (unsigned)language & 0xffff);
    if (!key)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = registry_delete_tree(load->layer, key);
    return status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : status;
}

DWORD opl_load_language(const char *language, bool remove, const opl_load_options *options)
{
    struct load load;
    uint32_t id;
    load_init(&load, options);
    if (!read_language(language, &id)) {
        load_error(&load, NULL, 0, "\"%s\" is not a language id such as 007",
                   language ? language : "");
        return ERROR_INVALID_PARAMETER;
    }
    if (id == LANGUAGE_ENGLISH && remove) {
        load_error(&load, NULL, 0,
                   "English cannot be removed, because other languages use its texts");
        return ERROR_INVALID_PARAMETER;
    }
    bool installed = names_language_installed(id);
    if (remove && !installed) {
        load_error(&load, NULL, 0, "language %03X is not installed", (unsigned)id);
        return ERROR_FILE_NOT_FOUND;
    }
    if (installed != remove || load.options->dry_run)
        return ERROR_SUCCESS;
    LSTATUS status = choose(&load, id, !remove);
    if (!status && remove)
        status = delete_texts(&load, id);
    for (unsigned part = 0; status && part <= 1; part++)
        load_language_event(EVENT_NAMES_NOT_WRITTEN + part, id, status);
    if (status)
        load_error(&load, registry_folder(load.layer), 0, "cannot be written: %s",
                   status_text(status));
    return load_end(&load, status);
}

/* ---- services ---- */

static bool count_value(void *self, const struct registry_value *value)
{
    return true;
}

static LSTATUS delete_value(const struct load *load, const char *key, const char *value)
{
    LSTATUS status = registry_delete_last_value(load->layer, key, value, SERVICE_KEYS);
    return status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : status;
}

/* Deletes the values that disable the service. A user's service may have such values in the
 * machine's layer, because Perflib writes there if it has the right; so they are deleted there,
 * too. */
static LSTATUS forgive(const struct load *load, const char *key)
{
    if (load->layer == LAYER_USER && registry_is_users(key, text_names[LIBRARY]))
        state_forget(key);
    LSTATUS status = delete_value(load, key, VALUE_DISABLED);
    for (size_t i = 0; !status && i < STATE_VALUES; i++)
        status = delete_value(load, key, state_values[i]);
    return status;
}

DWORD opl_load_enable(const char *service, bool enable, const opl_load_options *options)
{
    struct load load;
    uint32_t disabled = !enable, now = 0;
    load_init(&load, options);
    if (!service || !*service || strchr(service, '\\'))
        return ERROR_INVALID_PARAMETER;
    FREE_AUTO char *key = text_format("%s\\%s\\Performance", REGISTRY_SERVICES, service);
    if (!key)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = registry_each_value(key, count_value, NULL);
    if (status) {
        load_error(&load, NULL, 0, "%s: there is no such service", service);
        return (DWORD)status;
    }
    if (load.options->dry_run)
        return ERROR_SUCCESS;
    if (enable)
        status = forgive(&load, key);
    registry_get_dword(key, VALUE_DISABLED, &now);
    if (!status && now != disabled)
        status =
            registry_set(load.layer, key, VALUE_DISABLED, REG_DWORD, &disabled, sizeof disabled);
    if (status)
        load_error(&load, registry_folder(load.layer), 0, "cannot be written: %s",
                   status_text(status));
    return (DWORD)status;
}

/* ---- base texts ---- */

/* New base texts of a language (UpdatePerfNameFiles): files like Windows' perfc009.dat, pairs of an
 * index and its text, each terminated by a zero or a line end. They are stored as texts written by
 * hand. An index that is not in the files keeps its text. */

static LSTATUS read_pairs(struct load *load, const char *path, struct buffer *ret)
{
    BUFFER_AUTO bytes = {0};
    bool raw = false;
    LSTATUS status = load_file(path, &bytes);
    status = status ? status : decode_file(bytes.data ? bytes.data : "", bytes.len, ret, &raw);
    if (!status && raw)
        status = ERROR_INVALID_DATA;
    if (status)
        load_error(load, path, 0, "cannot be read%s: %s", raw ? " as UTF-16 or UTF-8" : "",
                   load_file_reason(path, status));
    return status;
}

/* Reads the next index or text, after skipping zeros and line ends; false: no more. */
static bool take_piece(struct text_span *rest, struct text_span *ret)
{
    while (rest->count && (!*rest->at || *rest->at == '\n' || *rest->at == '\r')) {
        rest->at++;
        rest->count--;
    }
    size_t count = 0;
    while (count < rest->count && rest->at[count] && rest->at[count] != '\n' &&
           rest->at[count] != '\r')
        count++;
    *ret = (struct text_span){rest->at, count};
    rest->at += count;
    rest->count -= count;
    return count > 0;
}

static LSTATUS add_pairs(const struct buffer *text, uint32_t part, uint32_t language,
                         struct stored_texts *ret)
{
    struct text_span rest = {text->data, text->len}, piece;
    uint32_t index;
    while (take_piece(&rest, &piece)) {
        if (!text_decimal(piece.at, piece.count, &index) || !take_piece(&rest, &piece))
            return ERROR_INVALID_DATA;
        if (index % 2 != part && index != 1)
            return ERROR_INVALID_DATA;
        if (index != 1 && !stored_texts_add(ret, language, index, span_copy(piece)))
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    return ret->count ? ERROR_SUCCESS : ERROR_INVALID_DATA;
}

static LSTATUS store(uint32_t part, uint32_t language, struct stored_texts *texts)
{
    BUFFER_AUTO multi = {0};
    struct stored_texts base = {0};
    LSTATUS status = stored_texts_of_language(language, &base);
    /* the existing texts come after those of the file, because the first text of an index counts */
    for (size_t i = 0; !status && i < base.count; i++)
        if (base.list[i].index % 2 == part &&
            !stored_texts_add(texts, language, base.list[i].index, strdup(base.list[i].text)))
            status = ERROR_NOT_ENOUGH_MEMORY;
    stored_texts_done(&base);
    if (!status && !stored_texts_sort(texts))
        status = ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; !status && i < texts->count; i++) {
        const char *text = texts->list[i].text;
        buffer_printf(&multi, "%u", (unsigned)texts->list[i].index);
        buffer_add_byte(&multi, '\0');
        buffer_add(&multi, text, strlen(text) + 1);
    }
    buffer_add_byte(&multi, '\0');
    status = status ? status : buffer_status(&multi);
    return status ? status
                  : names_store(part ? NAMES_HELP : NAMES_COUNTER, language, multi.data, multi.len);
}

static LSTATUS replace_part(struct load *load, const char *path, uint32_t part, uint32_t language)
{
    BUFFER_AUTO text = {0};
    struct stored_texts texts = {0};
    LSTATUS status = read_pairs(load, path, &text);
    if (status)
        return status;
    status = add_pairs(&text, part, language, &texts);
    if (status == ERROR_INVALID_DATA && !load->options->dry_run)
        load_language_event(EVENT_DAMAGED_NAMES + part, language, status);
    if (status == ERROR_INVALID_DATA)
        load_error(load, path, 0,
                   "this file must be a list of pairs, %s number and its text; each of the two "
                   "ends with a line break or a zero byte",
                   part ? "an odd" : "an even");
    if (!status && !load->options->dry_run) {
        status = store(part, language, &texts);
        if (status)
            load_language_event(EVENT_NAMES_NOT_WRITTEN + part, language, status);
        if (status)
            load_error(load, registry_folder(LAYER_MACHINE), 0, "cannot be written: %s",
                       status_text(status));
    }
    stored_texts_done(&texts);
    return status;
}

DWORD opl_load_replace(const char *counters, const char *helps, const char *language,
                       const opl_load_options *options)
{
    struct load load;
    uint32_t id = 0;
    load_init(&load, options);
    if ((!counters && !helps) || load.layer == LAYER_USER)
        return ERROR_INVALID_PARAMETER;
    if (!read_language(language, &id) || !names_language_installed(id)) {
        load_error(&load, NULL, 0, "\"%s\" is not an installed language such as 009",
                   language ? language : "");
        if (id && !load.options->dry_run)
            load_language_event(EVENT_NO_NAMES + !counters, id, ERROR_FILE_NOT_FOUND);
        return ERROR_INVALID_PARAMETER;
    }
    LSTATUS status = counters ? replace_part(&load, counters, 0, id) : ERROR_SUCCESS;
    if (!status && helps)
        status = replace_part(&load, helps, 1, id);
    return load_end(&load, status);
}
