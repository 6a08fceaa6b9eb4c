/* SPDX-License-Identifier: MIT */
/* Families and samples as text: Prometheus' format 0.0.4, and OpenMetrics 1.0. */
#include "metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FIRST_CAPACITY = 64 << 10, NUMBER_SIZE = 64 };

/* ---- bytes ---- */

/* Returns space for `size` bytes; NULL: there is none, and the text has failed. */
static char *reserve(struct exposition *text, size_t size)
{
    if (text->most && text->size + size > text->most) {
        text->failed = true;
        return NULL;
    }
    if (text->size + size > text->capacity) {
        size_t capacity = text->capacity ? text->capacity : FIRST_CAPACITY;
        while (capacity < text->size + size)
            capacity *= 2;
        char *bytes = realloc(text->bytes, capacity);
        if (!bytes) {
            text->failed = true;
            return NULL;
        }
        text->bytes = bytes;
        text->capacity = capacity;
    }
    return text->bytes + text->size;
}

static void put(struct exposition *text, const char *bytes, size_t size)
{
    char *space = reserve(text, size);
    if (space) {
        memcpy(space, bytes, size);
        text->size += size;
    }
}

static void put_text(struct exposition *text, const char *add)
{
    put(text, add, strlen(add));
}

static void put_escaped(struct exposition *text, const char *add, bool quotes)
{
    for (; *add; add++) {
        size_t plain = strcspn(add, quotes ? "\\\n\"" : "\\\n");
        put(text, add, plain);
        add += plain;
        if (!*add)
            return;
        put(text, *add == '\n' ? "\\n" : (char[]){'\\', *add, '\0'}, 2);
    }
}

/* ---- UTF-8 ---- */

/* Returns the bytes of the valid character at `text`; 0: there is none. */
static size_t character(const unsigned char *text)
{
    size_t size = *text < 0x80       ? 1
                  : *text >> 5 == 6  ? 2
                  : *text >> 4 == 14 ? 3
                  : *text >> 3 == 30 ? 4
                                     : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t code = size ? *text & (0xffu >> (size > 1 ? size + 1 : 1)) : 0;
    for (size_t i = 1; i < size; i++) {
        if (text[i] >> 6 != 2)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    return size && code >= least[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
               ? size
               : 0;
}

size_t metric_escape(const char *text, char *out)
{
    char *to = out;
    for (; *text; text++) {
        if (*text == '\\' || *text == '"' || *text == '\n')
            *to++ = '\\';
        *to++ = *text == '\n' ? 'n' : *text;
    }
    *to = '\0';
    return (size_t)(to - out);
}

size_t metric_utf8(const char *text, char *out, size_t capacity)
{
    size_t used = 0;
    while (*text) {
        size_t size = character((const unsigned char *)text);
        const char *from = size ? text : "\xef\xbf\xbd";
        size_t count = size ? size : 3;
        if (used + count + 1 > capacity)
            break;
        memcpy(out + used, from, count);
        used += count;
        text += size ? size : 1;
    }
    out[used] = '\0';
    return used;
}

/* ---- numbers ---- */

double metric_number(const struct metric_value *value)
{
    long double number = value->is_real ? value->real : (long double)value->whole, divisor = 1;
    for (unsigned i = 0; i < value->digits && !value->is_real; i++)
        divisor *= 10;
    return (double)(value->negative ? -number / divisor : number / divisor);
}

/* Writes whole / 10^digits without trailing zeros, before `end`; returns where it begins. */
static char *write_decimal(uint64_t whole, unsigned digits, char *end)
{
    char *at = end;
    bool shown = false;
    for (unsigned i = 0; i < digits; i++, whole /= 10) {
        shown |= whole % 10 != 0;
        if (shown)
            *--at = (char)('0' + whole % 10);
    }
    if (shown)
        *--at = '.';
    do
        *--at = (char)('0' + whole % 10);
    while (whole /= 10);
    return at;
}

static void put_value(struct exposition *text, const struct metric_value *value)
{
    char number[NUMBER_SIZE], *end = number + sizeof number;
    if (value->is_real) {
        for (int digits = 15; digits <= 17; digits++) { /* the shortest text that is exact */
            snprintf(number, sizeof number, "%.*g", digits, value->real);
            if (strtod(number, NULL) == value->real)
                break;
        }
        put_text(text, number);
        return;
    }
    char *begin = write_decimal(value->whole, value->digits, end);
    if (value->negative)
        *--begin = '-';
    put(text, begin, (size_t)(end - begin));
}

/* ---- the sink ---- */

static void put_line(struct exposition *text, const char *word, const struct metric_family *family,
                     const char *what, bool quotes)
{
    bool open = text->format == FORMAT_OPENMETRICS;
    put_text(text, word);
    put_text(text, family->name);
    if (!open && (family->kind == METRIC_COUNTER || family->kind == METRIC_INFO))
        put_text(text, family->samples[0].suffix);
    put_text(text, " ");
    put_escaped(text, what, quotes);
    put_text(text, "\n");
}

static void family(struct metric_sink *sink, const struct metric_family *family)
{
    static const char *const kinds[] = {"gauge", "counter", "summary", "info"};
    struct exposition *text = (struct exposition *)sink;
    bool open = text->format == FORMAT_OPENMETRICS;
    if (family->hidden)
        return;
    if (family->help)
        put_line(text, "# HELP ", family, family->help, open);
    put_line(text, "# TYPE ", family,
             kinds[!open && family->kind == METRIC_INFO ? METRIC_GAUGE : family->kind], false);
    if (open && *family->unit)
        put_line(text, "# UNIT ", family, family->unit, false);
}

static void sample(struct metric_sink *sink, const struct metric_family *family,
                   const struct metric_sample *sample, const struct metric_labels *labels,
                   const char *label, const struct metric_value *value)
{
    struct exposition *text = (struct exposition *)sink;
    if (family->hidden)
        return;
    put_text(text, family->name);
    put_text(text, sample->suffix);
    if (labels->size || label) {
        put(text, "{", 1);
        put(text, labels->text, labels->size);
        if (label) {
            put_text(text, labels->size ? ",text=\"" : "text=\"");
            put_escaped(text, label, true);
            put(text, "\"", 1);
        }
        put(text, "}", 1);
    }
    put(text, " ", 1);
    put_value(text, value);
    put(text, "\n", 1);
}

void exposition_begin(struct exposition *text, enum metric_format format)
{
    text->sink = (struct metric_sink){family, sample};
    text->format = format;
    text->size = 0;
    text->failed = false;
}

void exposition_end(struct exposition *text)
{
    if (text->format == FORMAT_OPENMETRICS)
        put_text(text, "# EOF\n");
}

enum metric_format exposition_format(const char *accept)
{
    return accept && strcasestr(accept, "application/openmetrics-text") ? FORMAT_OPENMETRICS
                                                                        : FORMAT_TEXT;
}

const char *exposition_type(enum metric_format format)
{
    return format == FORMAT_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}
