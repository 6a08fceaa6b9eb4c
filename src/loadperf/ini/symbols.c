/* SPDX-License-Identifier: MIT */
/*
 * Reads symbol files, which are real C headers (docs/windows/articles.md#c64,
 * docs/windows/articles.md#c98): only lines of the form "#define NAME number" are used, with the
 * number as atol() reads it. Comments count as blanks, as in C.
 */
#include "loadperf/inner.h"

#include <stdlib.h>
#include <string.h>

/* Replaces comments by blanks. Newlines and texts in quotation marks are not changed. */
static void blank_comments(char *text, size_t size)
{
    enum { CODE, QUOTED, LINE, BLOCK } state = CODE;
    char quote = 0;
    for (size_t i = 0; i < size; i++) {
        char at = text[i], next = i + 1 < size ? text[i + 1] : '\0';
        bool line_end = at == '\n' || at == '\r';
        if (state == CODE && (at == '"' || at == '\'')) {
            state = QUOTED;
            quote = at;
        } else if (state == QUOTED) {
            if (at == '\\' && next && next != '\n' && next != '\r')
                i++;
            else if (at == quote || line_end)
                state = CODE;
        } else if (state == CODE && at == '/' && (next == '/' || next == '*')) {
            state = next == '/' ? LINE : BLOCK;
            text[i] = text[i + 1] = ' ';
            i++;
        } else if (state == BLOCK && at == '*' && next == '/') {
            state = CODE;
            text[i] = text[i + 1] = ' ';
            i++;
        } else if (state == LINE && line_end) {
            state = CODE;
        } else if ((state == LINE || state == BLOCK) && !line_end) {
            text[i] = ' ';
        }
    }
}

static bool is_name_start(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           character == '_' || (unsigned char)character >= 0x80;
}

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static struct text_span take(struct text_span *line, size_t count)
{
    struct text_span taken = {line->at, count};
    line->at += count;
    line->count -= count;
    *line = span_trim(*line);
    return taken;
}

static size_t name_length(struct text_span line)
{
    size_t count = 0;
    if (!line.count || !is_name_start(*line.at))
        return 0;
    while (count < line.count && (is_name_start(line.at[count]) || is_digit(line.at[count])))
        count++;
    return count;
}

/* Reads a number like atol: a sign and digits; the rest is ignored. A number that is too large
 * becomes a value above INT32_MAX. False: it is not a number, or hexadecimal; atol would read that
 * as 0, and several counters would get the same offset. */
static bool read_number(struct text_span text, int64_t *ret)
{
    size_t at = 0;
    bool negative = text.count && *text.at == '-';
    at += negative || (text.count && *text.at == '+');
    if (at == text.count || !is_digit(text.at[at]))
        return false;
    if (text.at[at] == '0' && at + 1 < text.count && (text.at[at + 1] | 0x20) == 'x')
        return false;
    *ret = 0;
    for (; at < text.count && is_digit(text.at[at]); at++)
        *ret = *ret > INT32_MAX ? *ret : *ret * 10 + (text.at[at] - '0');
    *ret = negative ? -*ret : *ret;
    return true;
}

/* Reads a line like "#define NAME 4"; false if the line is anything else, for example a macro with
 * parameters. */
static bool read_define(struct text_span line, struct symbol *ret)
{
    line = span_trim(line);
    if (!line.count || *line.at != '#')
        return false;
    take(&line, 1);
    size_t word = name_length(line);
    if (word != 6 || memcmp(line.at, "define", 6))
        return false;
    const char *after = line.at + word;
    if (after < line.at + line.count && *after != ' ' && *after != '\t')
        return false;
    take(&line, word);
    size_t count = name_length(line);
    bool plain = count && (count == line.count || line.at[count] == ' ' || line.at[count] == '\t');
    if (!plain)
        return false;
    ret->name = take(&line, count);
    ret->text = line;
    ret->value = 0;
    ret->is_number = read_number(line, &ret->value);
    return line.count > 0;
}

static int compare_symbols(const void *left, const void *right)
{
    const struct symbol *l = left, *r = right;
    int order = span_compare(l->name, r->name);
    return order ? order : l->order < r->order ? -1 : l->order > r->order;
}

LSTATUS symbols_parse(const void *bytes, size_t size, struct symbols *ret)
{
    bool raw;
    *ret = (struct symbols){0};
    LSTATUS status = decode_file(bytes, size, &ret->text, &raw);
    if (status)
        return status;
    blank_comments(ret->text.data, ret->text.len);
    struct text_span rest = {ret->text.data, ret->text.len}, line;
    for (unsigned number = 1; decode_line(&rest, &line); number++) {
        struct symbol symbol = {.line = number, .order = (unsigned)ret->count};
        if (!read_define(line, &symbol))
            continue;
        if (!list_grow(&ret->list, ret->count, &ret->capacity, sizeof *ret->list))
            return ERROR_NOT_ENOUGH_MEMORY;
        ret->list[ret->count++] = symbol;
    }
    if (ret->count)
        qsort(ret->list, ret->count, sizeof *ret->list, compare_symbols);
    return ERROR_SUCCESS;
}

void symbols_done(struct symbols *symbols)
{
    buffer_done(&symbols->text);
    free(symbols->list);
    *symbols = (struct symbols){0};
}

const struct symbol *symbols_find(const struct symbols *symbols, struct text_span name)
{
    size_t low = 0, high = symbols->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (span_compare(symbols->list[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct symbol *first = NULL;
    for (; low < symbols->count && !span_compare(symbols->list[low].name, name); low++) {
        const struct symbol *symbol = &symbols->list[low];
        if (symbol->name.count == name.count && !memcmp(symbol->name.at, name.at, name.count))
            return symbol;
        first = first ? first : symbol;
    }
    return first;
}
