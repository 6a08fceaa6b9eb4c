/* SPDX-License-Identifier: MIT */
/*
 * printf by Windows' rules (see crt.h), with the same code for char and WCHAR text: two small
 * functions read and write a unit (a char or a WCHAR), and the C library formats numbers.
 */
#include "shims.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- units ---- */

static bool reserve(struct opl_shim_text *text, size_t more)
{
    size_t unit = text->wide ? sizeof(WCHAR) : 1, capacity = text->capacity ? text->capacity : 128;
    if (text->failed || text->count + more + 1 < more)
        return false;
    while (capacity < text->count + more + 1)
        capacity *= 2;
    void *units = capacity == text->capacity ? text->units : realloc(text->units, capacity * unit);
    text->failed = !units;
    if (units) {
        text->units = units;
        text->capacity = capacity;
    }
    return units != NULL;
}

void opl_shim_add(struct opl_shim_text *text, const void *units, size_t count)
{
    size_t unit = text->wide ? sizeof(WCHAR) : 1;
    if (!reserve(text, count))
        return;
    memcpy((char *)text->units + text->count * unit, units, count * unit);
    text->count += count;
    memset((char *)text->units + text->count * unit, 0, unit);
}

static void add_filling(struct opl_shim_text *text, char filling, size_t count)
{
    WCHAR wide = (WCHAR)filling;
    for (; count; count--)
        opl_shim_add(text, text->wide ? (const void *)&wide : &filling, 1);
}

static unsigned unit_at(bool wide, const void *text, size_t at)
{
    return wide ? ((const WCHAR *)text)[at] : ((const unsigned char *)text)[at];
}

/* ---- one specification ---- */

struct spec {
    char flags[8];
    int width, precision; /* -1: none */
    char size;            /* 0, h, H (hh), l, 6 (64 bits), p (a pointer's), L */
    char type;
};

/* Converts text to the output's width; the caller frees the result. NULL: no memory. */
static void *converted(bool wide, const void *from, size_t count, size_t *ret_count)
{
    int length = (int)count;
    int needed = !count ? 0
                 : wide ? MultiByteToWideChar(CP_UTF8, 0, from, length, NULL, 0)
                        : WideCharToMultiByte(CP_UTF8, 0, from, length, NULL, 0, NULL, NULL);
    void *to = malloc(((size_t)needed + 1) * sizeof(WCHAR));
    if (to && needed) {
        if (wide)
            MultiByteToWideChar(CP_UTF8, 0, from, length, to, needed);
        else
            WideCharToMultiByte(CP_UTF8, 0, from, length, to, needed, NULL, NULL);
    }
    *ret_count = (size_t)needed;
    return to;
}

static void add_padded(struct opl_shim_text *text, const struct spec *spec, const void *units,
                       size_t count)
{
    size_t width = spec->width > 0 ? (size_t)spec->width : 0;
    size_t filling = width > count ? width - count : 0;
    bool left = strchr(spec->flags, '-') != NULL;
    if (!left)
        add_filling(text, strchr(spec->flags, '0') ? '0' : ' ', filling);
    opl_shim_add(text, units, count);
    if (left)
        add_filling(text, ' ', filling);
}

/* Adds the argument of %s, at most `most` of its own units, converted to the output's width. */
static void add_text(struct opl_shim_text *text, const struct spec *spec, bool wide,
                     const void *from, size_t most)
{
    size_t count = 0, there;
    while (count < most && unit_at(wide, from, count))
        count++;
    if (wide == text->wide) {
        add_padded(text, spec, from, count);
        return;
    }
    void *other = converted(text->wide, from, count, &there);
    if (other)
        add_padded(text, spec, other, there);
    else
        text->failed = true;
    free(other);
}

/* Is the argument of %s, %S, %c or %C wide? */
static bool is_wide(const struct opl_shim_text *text, const struct spec *spec)
{
    if (spec->size == 'h')
        return false;
    if (spec->size == 'l')
        return true;
    return text->wide == (spec->type == 's' || spec->type == 'c');
}

static void add_ascii(struct opl_shim_text *text, const char *ascii)
{
    struct spec plain = {.width = -1, .precision = -1};
    add_text(text, &plain, false, ascii, strlen(ascii));
}

static void add_formatted(struct opl_shim_text *text, char *made, int count)
{
    if (count < 0)
        text->failed = true;
    else
        add_ascii(text, made);
    if (count >= 0)
        free(made);
}

/* Writes a specification for the C library's printf, such as "%-08.3", followed by `tail`. */
static void head_of(const struct spec *spec, const char *tail, char ret[static 64])
{
    int used = snprintf(ret, 64, "%%%s", spec->flags);
    if (spec->width >= 0)
        used += snprintf(ret + used, 64 - (size_t)used, "%d", spec->width);
    if (spec->precision >= 0)
        used += snprintf(ret + used, 64 - (size_t)used, ".%d", spec->precision);
    snprintf(ret + used, 64 - (size_t)used, "%s%c", tail, spec->type);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void add_whole(struct opl_shim_text *text, const struct spec *spec, uint64_t value)
{
    char head[64], *made = NULL;
    head_of(spec, "ll", head);
    int count = asprintf(&made, head, (unsigned long long)value);
    add_formatted(text, made, count);
}

static void add_real(struct opl_shim_text *text, const struct spec *spec, long double value)
{
    char head[64], *made = NULL;
    head_of(spec, "L", head);
    int count = asprintf(&made, head, value);
    add_formatted(text, made, count);
}

#pragma GCC diagnostic pop

/* On some machines va_list is an array, so a pointer to a parameter of that type has a wrong type;
 * a pointer to a structure can be passed everywhere. */
struct value_list {
    va_list list;
};

static uint64_t take_whole(const struct spec *spec, struct value_list *values)
{
    bool is_signed = spec->type == 'd' || spec->type == 'i';
    if (spec->size == '6' || (spec->size == 'p' && sizeof(void *) == 8))
        return va_arg(values->list, uint64_t);
    int value = va_arg(values->list, int);
    if (spec->size == 'h')
        return is_signed ? (uint64_t)(int64_t)(int16_t)value : (uint16_t)value;
    if (spec->size == 'H')
        return is_signed ? (uint64_t)(int64_t)(int8_t)value : (uint8_t)value;
    return is_signed ? (uint64_t)(int64_t)value : (uint32_t)value;
}

static void add_character(struct opl_shim_text *text, const struct spec *spec, int value)
{
    WCHAR wide = (WCHAR)value;
    char narrow = (char)value;
    bool is_it = is_wide(text, spec);
    if (value || is_it != text->wide)
        add_text(text, spec, is_it, is_it ? (const void *)&wide : &narrow, 1);
    else
        add_padded(text, spec, is_it ? (const void *)&wide : &narrow, 1);
}

static void add_string(struct opl_shim_text *text, const struct spec *spec, const void *string)
{
    size_t most = spec->precision >= 0 ? (size_t)spec->precision : SIZE_MAX;
    if (string)
        add_text(text, spec, is_wide(text, spec), string, most);
    else
        add_text(text, spec, false, "(null)", most);
}

static void add_pointer(struct opl_shim_text *text, const struct spec *spec, const void *pointer)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%0*llX", (int)sizeof(void *) * 2,
             (unsigned long long)(uintptr_t)pointer);
    struct spec padded = *spec;
    memset(padded.flags, 0, sizeof padded.flags);
    padded.flags[0] = strchr(spec->flags, '-') ? '-' : '\0';
    add_text(text, &padded, false, digits, strlen(digits));
}

static void add_value(struct opl_shim_text *text, const struct spec *spec,
                      struct value_list *values)
{
    switch (spec->type) {
    case 's':
    case 'S':
        add_string(text, spec, va_arg(values->list, const void *));
        break;
    case 'c':
    case 'C':
        add_character(text, spec, va_arg(values->list, int));
        break;
    case 'p':
        add_pointer(text, spec, va_arg(values->list, const void *));
        break;
    case 'n':
        (void)va_arg(values->list, void *);
        break;
    default:
        if (strchr("diouxX", spec->type))
            add_whole(text, spec, take_whole(spec, values));
        else if (spec->size == 'L')
            add_real(text, spec, va_arg(values->list, long double));
        else
            add_real(text, spec, va_arg(values->list, double));
    }
}

/* ---- reading the format ---- */

struct format_reader {
    bool wide;
    const void *format;
    size_t at;
};

static unsigned peek(const struct format_reader *reader, size_t ahead)
{
    return unit_at(reader->wide, reader->format, reader->at + ahead);
}

static bool accept(struct format_reader *reader, const char *word)
{
    size_t count = 0;
    while (word[count] && peek(reader, count) == (unsigned char)word[count])
        count++;
    if (word[count])
        return false;
    reader->at += count;
    return true;
}

/* Reads a number, or for an asterisk the next argument; -1: there is neither. Large numbers are
 * limited. */
static int read_number(struct format_reader *reader, struct value_list *values)
{
    if (accept(reader, "*"))
        return va_arg(values->list, int);
    int value = -1;
    for (unsigned unit; (unit = peek(reader, 0)) >= '0' && unit <= '9'; reader->at++)
        value = value < 0 ? (int)unit - '0' : value < 100000 ? value * 10 + (int)unit - '0' : value;
    return value;
}

static char read_size(struct format_reader *reader)
{
    static const struct {
        const char *word;
        char size;
    } sizes[] = {
        {"I64", '6'},
        {"I32", 'l'},
        {"hh",  'H'},
        {"ll",  '6'},
        {"h",   'h'},
        {"l",   'l'},
        {"w",   'l'},
        {"j",   '6'},
        {"I",   'p'},
        {"z",   'p'},
        {"t",   'p'},
        {"L",   'L'}
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (accept(reader, sizes[i].word))
            return sizes[i].size;
    return 0;
}

/* Parses a specification; the reader is after the percent sign. */
static void read_spec(struct format_reader *reader, struct value_list *values, struct spec *ret)
{
    *ret = (struct spec){.width = -1, .precision = -1};
    for (size_t count = 0;; reader->at++) {
        unsigned unit = peek(reader, 0);
        if (!unit || unit > 127 || !strchr("-+ #0", (int)unit))
            break;
        if (!strchr(ret->flags, (int)unit))
            ret->flags[count++] = (char)unit;
    }
    ret->width = read_number(reader, values);
    if (ret->width < -1) {
        ret->width = ret->width > -100000 ? -ret->width : 100000;
        ret->flags[strlen(ret->flags)] = strchr(ret->flags, '-') ? '\0' : '-';
    }
    if (accept(reader, ".")) {
        ret->precision = read_number(reader, values);
        ret->precision = ret->precision < 0 && peek(reader, 0) ? 0 : ret->precision;
    }
    ret->size = read_size(reader);
    ret->type = peek(reader, 0) < 128 ? (char)peek(reader, 0) : '?';
}

void opl_shim_format(struct opl_shim_text *text, const void *format, va_list arguments)
{
    struct format_reader reader = {.wide = text->wide, .format = format};
    struct value_list values;
    struct spec spec;
    size_t unit = text->wide ? sizeof(WCHAR) : 1;
    va_copy(values.list, arguments);
    while (peek(&reader, 0) && !text->failed) {
        size_t start = reader.at;
        while (peek(&reader, 0) && peek(&reader, 0) != '%')
            reader.at++;
        opl_shim_add(text, (const char *)format + start * unit, reader.at - start);
        if (!accept(&reader, "%"))
            break;
        read_spec(&reader, &values, &spec);
        if (spec.type && strchr("sScCpndiouxXeEfFgGaA", spec.type))
            add_value(text, &spec, &values);
        else if (spec.type)
            opl_shim_add(text, (const char *)format + reader.at * unit, 1);
        reader.at += spec.type != '\0';
    }
    reserve(text, 0);
    va_end(values.list);
}
