/* SPDX-License-Identifier: MIT */
/* Words, numbers and multi-strings. */
#include "base/base.h"

#include <stdio.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

const char *text_word(const char **cursor, size_t *count)
{
    const char *start = *cursor;
    while (is_blank(*start))
        start++;
    const char *end = start;
    while (*end && !is_blank(*end))
        end++;
    *cursor = end;
    *count = (size_t)(end - start);
    return end > start ? start : NULL;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static bool number(const char *text, size_t count, unsigned base, uint32_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned digit = (unsigned)digit_value(text[i]);
        if (digit >= base)
            return false;
        value = value * base + digit;
        if (value > UINT32_MAX)
            return false;
    }
    if (count)
        *ret = (uint32_t)value;
    return count > 0;
}

bool text_decimal(const char *text, size_t count, uint32_t *ret)
{
    return number(text, count, 10, ret);
}

bool text_hex(const char *text, size_t count, uint32_t *ret)
{
    return number(text, count, 16, ret);
}

bool text_equal_fold(const char *left, const char *right)
{
    /* ASCII characters are compared without decoding; upper and lower case of a letter differ in
     * one bit */
    for (; *left && *left == *right && (unsigned char)*left < 0x80; left++, right++)
        ;
    unsigned char l = (unsigned char)*left, r = (unsigned char)*right;
    if (l < 0x80 && r < 0x80 && ((l ^ r) & ~0x20))
        return false;
    return l == r && !l ? true : text_compare_fold(left, right) == 0;
}

bool text_starts_fold(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strnlen(text, length) == length &&
           text_compare_fold_n(text, length, prefix, length) == 0;
}

const char *text_multi_next(const char **cursor, const char *end)
{
    const char *string = *cursor;
    const char *nul = string < end ? memchr(string, '\0', (size_t)(end - string)) : NULL;
    if (!nul || nul == string)
        return NULL;
    *cursor = nul + 1;
    return string;
}

char *text_format(const char *format, ...)
{
    char *text;
    va_list list;
    va_start(list, format);
    int count = vasprintf(&text, format, list);
    va_end(list);
    return count < 0 ? NULL : text;
}
