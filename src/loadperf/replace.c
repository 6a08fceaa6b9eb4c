/* SPDX-License-Identifier: MIT */
/*
 * New base texts of a language (UpdatePerfNameFiles): files like Windows' perfc009.dat, pairs of an
 * index and its text, each terminated by a zero or a line end. They are treated like texts written
 * by hand: an index that is not in the files keeps its text.
 */
#include "loadperf/stored.h"

#include <stdlib.h>
#include <string.h>

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
                   status_text(status));
    return status;
}

/* The next piece that is not empty. */
static bool take_piece(struct span *rest, struct span *ret)
{
    while (rest->count && (!*rest->at || *rest->at == '\n' || *rest->at == '\r')) {
        rest->at++;
        rest->count--;
    }
    size_t count = 0;
    while (count < rest->count && rest->at[count] && rest->at[count] != '\n' &&
           rest->at[count] != '\r')
        count++;
    *ret = (struct span){rest->at, count};
    rest->at += count;
    rest->count -= count;
    return count > 0;
}

static LSTATUS add_pairs(const struct buffer *text, uint32_t part, uint32_t language,
                         struct stored_texts *ret)
{
    struct span rest = {text->data, text->len}, piece;
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
    for (size_t i = 0; !status && i < base.count; i++) /* behind the file's: earlier ones count */
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
        load_error(
            load, path, 0,
            "is not a list of pairs: %s number, its text, each in a line or terminated by a zero",
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
    size_t count = language ? strlen(language) : 0;
    load_init(&load, options);
    if ((!counters && !helps) || load.layer == LAYER_USER)
        return ERROR_INVALID_PARAMETER;
    if (!count || count > 4 || !text_hex(language, count, &id) || !id ||
        !names_language_installed(names_language(id))) {
        load_error(&load, NULL, 0, "\"%s\" is not an installed language such as 009",
                   language ? language : "");
        if (count && id && !load.options->dry_run)
            load_language_event(EVENT_NO_NAMES + !counters, names_language(id),
                                ERROR_FILE_NOT_FOUND);
        return ERROR_INVALID_PARAMETER;
    }
    id = names_language(id);
    LSTATUS status = counters ? replace_part(&load, counters, 0, id) : ERROR_SUCCESS;
    if (!status && helps)
        status = replace_part(&load, helps, 1, id);
    return load_end(&load, status);
}
