/* SPDX-License-Identifier: MIT */
/* Growing buffers; UTF-8 and UTF-16; words, numbers and multi-strings. */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- buffers ---- */

/* A growing byte buffer. A failed allocation is remembered, so callers may append many times and
 * check once, at the end, whether all of it succeeded. */

enum { SMALLEST_SIZE = 64 };

void buffer_done(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

void buffer_clear(struct buffer *buffer)
{
    buffer->len = 0;
    buffer->failed = false;
    if (buffer->data)
        buffer->data[0] = '\0';
}

static bool fail(struct buffer *buffer)
{
    buffer->failed = true;
    return false;
}

bool buffer_reserve(struct buffer *buffer, size_t more)
{
    if (buffer->failed)
        return false;
    if (more < buffer->capacity - buffer->len)
        return true;
    if (more >= PTRDIFF_MAX - buffer->len)
        return fail(buffer);
    size_t needed = buffer->len + more + 1;
    size_t capacity = buffer->capacity <= PTRDIFF_MAX / 2 ? buffer->capacity * 2 : needed;
    capacity = capacity < needed ? needed : capacity;
    capacity = capacity < SMALLEST_SIZE ? SMALLEST_SIZE : capacity;
    char *data = realloc(buffer->data, capacity);
    if (!data)
        return fail(buffer);
    buffer->data = data;
    buffer->capacity = capacity;
    buffer->data[buffer->len] = '\0';
    return true;
}

bool buffer_add(struct buffer *buffer, const void *bytes, size_t count)
{
    if (!buffer_reserve(buffer, count))
        return false;
    if (count)
        memcpy(buffer->data + buffer->len, bytes, count);
    buffer->len += count;
    buffer->data[buffer->len] = '\0';
    return true;
}

bool buffer_add_text(struct buffer *buffer, const char *text)
{
    return buffer_add(buffer, text, strlen(text));
}

bool buffer_add_byte(struct buffer *buffer, char byte)
{
    return buffer_add(buffer, &byte, 1);
}

bool buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int count = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (count < 0)
        return fail(buffer);
    if (!buffer_reserve(buffer, (size_t)count))
        return false;
    va_start(list, format);
    vsnprintf(buffer->data + buffer->len, (size_t)count + 1, format, list);
    va_end(list);
    buffer->len += (size_t)count;
    return true;
}

LSTATUS buffer_status(const struct buffer *buffer)
{
    return buffer->failed ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
}

void memory_populate(void *memory, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)memory;
    uintptr_t first = (start + page - 1) / page * page, last = (start + bytes) / page * page;
    if (first < last)
        madvise((void *)first, last - first, MADV_POPULATE_WRITE);
#endif
}

void memory_unused(void *memory, size_t bytes)
{
    enum { LARGE = 64 << 10 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = -(uintptr_t)memory & (page - 1);
    if (bytes >= LARGE)
        madvise((char *)memory + before, (bytes - before) & ~(page - 1), MADV_DONTNEED);
}

bool list_grow(void *array_pointer, size_t count, size_t *capacity, size_t size)
{
    void **array = array_pointer;
    if (count < *capacity)
        return true;
    size_t more = *capacity ? *capacity * 2 : 16;
    void *bigger = reallocarray(*array, more, size);
    if (!bigger)
        return false;
    *array = bigger;
    *capacity = more;
    return true;
}

void free_pointer(void *pointer_to_pointer)
{
    void *pointer;
    memcpy(&pointer, pointer_to_pointer, sizeof pointer);
    free(pointer);
}

/* ---- UTF-8 and UTF-16 ---- */

/*
 * UTF-8 <-> UTF-16, and the case folding by which names are compared.
 *
 * UTF-8 is the generalized form: a lone surrogate, which Windows allows anywhere, is encoded in
 * three bytes and survives both conversions. A byte that belongs to no valid sequence becomes
 * U+FFFD.
 *
 * An empty text may be NULL, and C forbids pointer arithmetic on NULL: so a text's end is
 * `count ? at + count : at`.
 */

enum { REPLACEMENT = 0xfffd };

/* Decodes the code point of several bytes at *text, which is before `end`, and moves *text past it.
 * False: the bytes are invalid; then *ret is U+FFFD, and only one byte is skipped. */
static bool decode_long(const unsigned char **text, const unsigned char *end, uint32_t *ret)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = *text;
    size_t length = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
    *text = at + 1;
    *ret = REPLACEMENT;
    if (*at < 0xc2 || *at > 0xf4 || (size_t)(end - at) < length)
        return false;
    uint32_t code = *at & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return false;
        code = code << 6 | (at[i] & 0x3f);
    }
    if (code < smallest[length] || code > 0x10ffff)
        return false;
    *text = at + length;
    *ret = code;
    return true;
}

static inline bool decode(const unsigned char **text, const unsigned char *end, uint32_t *ret)
{
    if (**text >= 0x80)
        return decode_long(text, end, ret);
    *ret = *(*text)++;
    return true;
}

size_t utf8_to_16(const char *text, size_t count, uint16_t *out, size_t capacity)
{
    const unsigned char *at = (const unsigned char *)text, *end = count ? at + count : at;
    size_t needed = 0;
    while (at < end) {
        uint32_t code;
        if (*at < 0x80)
            code = *at++;
        else
            decode_long(&at, end, &code);
        uint16_t unit = (uint16_t)code;
        if (code > 0xffff) {
            if (needed < capacity)
                out[needed] = (uint16_t)(0xd800 + ((code - 0x10000) >> 10));
            unit = (uint16_t)(0xdc00 + (code & 0x3ff));
            needed++;
        }
        if (needed < capacity)
            out[needed] = unit;
        needed++;
    }
    return needed;
}

size_t utf16_to_8(const void *text, size_t count, char *out, size_t capacity)
{
    size_t needed = 0;
    for (size_t i = 0; i < count; i++) {
        char bytes[4];
        uint16_t units[2] = {0};
        memcpy(units, (const char *)text + i * 2, i + 1 < count ? 4 : 2);
        uint32_t code = units[0];
        if (code < 0x80) { /* most names have no other characters */
            if (needed < capacity)
                out[needed] = (char)code;
            needed++;
            continue;
        }
        if ((units[0] & 0xfc00) == 0xd800 && (units[1] & 0xfc00) == 0xdc00) {
            code = 0x10000 + ((units[0] & 0x3ffu) << 10) + (units[1] & 0x3ffu);
            i++;
        }
        size_t width = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (size_t k = width - 1; k > 0; k--, code >>= 6)
            bytes[k] = (char)(0x80 | (code & 0x3f));
        bytes[0] = (char)((0xf00u >> width) | code);
        for (size_t k = 0; k < width; k++, needed++)
            if (needed < capacity)
                out[needed] = bytes[k];
    }
    return needed;
}

bool utf16_add_as_8(struct buffer *buffer, const uint16_t *text, size_t count)
{
    size_t needed = utf16_to_8(text, count, NULL, 0);
    if (!buffer_reserve(buffer, needed))
        return false;
    utf16_to_8(text, count, buffer->data + buffer->len, needed);
    buffer->len += needed;
    buffer->data[buffer->len] = '\0';
    return true;
}

bool utf8_add_as_16(struct buffer *buffer, const char *text, size_t count)
{
    const unsigned char *at = (const unsigned char *)text, *end = count ? at + count : at;
    /* the buffer may be misaligned, so units are copied as bytes, one block after the other */
    while (at < end) {
        uint16_t units[128];
        size_t used = 0;
        while (at < end && used + 2 <= COUNT(units)) {
            const unsigned char *begin = at;
            uint32_t code;
            decode(&at, end, &code);
            used += utf8_to_16((const char *)begin, (size_t)(at - begin), units + used, 2);
        }
        if (!buffer_add(buffer, units, used * sizeof units[0]))
            return false;
    }
    return true;
}

bool utf8_valid(const char *text, size_t count)
{
    const unsigned char *at = (const unsigned char *)text, *end = count ? at + count : at;
    uint32_t code;
    while (at < end)
        if (*at < 0x80)
            at++;
        else if (!decode_long(&at, end, &code))
            return false;
    return true;
}

size_t utf16_length(const uint16_t *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

static const struct fold_run {
    uint32_t first, last, step;
    int32_t delta;
} fold_runs[] = {
#include "fold.inc"
};

uint32_t unicode_upper(uint32_t code_point)
{
    if (code_point < 0x80)
        return code_point >= 'a' && code_point <= 'z' ? code_point - 32 : code_point;
    size_t low = 0, high = COUNT(fold_runs);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (fold_runs[middle].last < code_point)
            low = middle + 1;
        else
            high = middle;
    }
    const struct fold_run *run = &fold_runs[low];
    if (low == COUNT(fold_runs) || code_point < run->first || (code_point - run->first) % run->step)
        return code_point;
    return (uint32_t)((int32_t)code_point + run->delta);
}

int text_compare_fold_n(const char *left, size_t left_count, const char *right, size_t right_count)
{
    const unsigned char *l = (const unsigned char *)left, *l_end = l + left_count;
    const unsigned char *r = (const unsigned char *)right, *r_end = r + right_count;
    /* the common case: identical bytes */
    if (left_count == right_count && left_count && !memcmp(left, right, left_count))
        return 0;
    for (; l < l_end && r < r_end && *l == *r && *l < 0x80; l++, r++)
        ;
    while (l < l_end && r < r_end) {
        uint32_t a = *l, b = *r;
        if ((a | b) < 0x80) {
            l++, r++;
        } else {
            decode(&l, l_end, &a);
            decode(&r, r_end, &b);
        }
        if (a != b && (a = unicode_upper(a)) != (b = unicode_upper(b)))
            return a < b ? -1 : 1;
    }
    return (l < l_end) - (r < r_end);
}

uint64_t text_hash_fold(const char *text, size_t count)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + count;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    while (at < end) {
        uint32_t code;
        if (*at < 0x80)
            code = *at - (*at >= 'a' && *at <= 'z' ? 'a' - 'A' : 0u), at++;
        else if (decode_long(&at, end, &code))
            code = unicode_upper(code);
        hash = (hash ^ code) * UINT64_C(0x100000001b3);
    }
    return hash ^ hash >> 32;
}

int text_compare_fold(const char *left, const char *right)
{
    return text_compare_fold_n(left, strlen(left), right, strlen(right));
}

/* ---- patterns ---- */

/* Returns the length of the first character in bytes; an invalid byte counts as one character. */
static size_t character(const char *text)
{
    size_t count = 1;
    if ((unsigned char)*text >= 0xc0)
        while (count < 4 && ((unsigned char)text[count] & 0xc0) == 0x80)
            count++;
    return count;
}

static bool same_character(const char *left, const char *right)
{
    unsigned char l = (unsigned char)*left, r = (unsigned char)*right;
    if (l < 0x80 && r < 0x80)
        return l == r || unicode_upper(l) == unicode_upper(r);
    return !text_compare_fold_n(left, character(left), right, character(right));
}

/* On a mismatch only the last star is tried again with a longer text; earlier stars need not be. */
bool text_match(const char *pattern, const char *text)
{
    const char *star = NULL, *taken = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            taken = text;
        } else if (*pattern == '?' || (*pattern && same_character(pattern, text))) {
            pattern += character(pattern);
            text += character(text);
        } else if (star) {
            pattern = star;
            text = taken += character(taken);
        } else {
            return false;
        }
    }
    return !pattern[strspn(pattern, "*")];
}

/* ---- words and numbers ---- */

const char *text_word(const char **cursor, size_t *count)
{
    const char *start = *cursor;
    while (*start == ' ' || *start == '\t')
        start++;
    const char *end = start;
    while (*end && *end != ' ' && *end != '\t')
        end++;
    *cursor = end;
    *count = (size_t)(end - start);
    return end > start ? start : NULL;
}

bool text_decimal(const char *text, size_t count, uint32_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
        if (value > UINT32_MAX)
            return false;
    }
    if (count)
        *ret = (uint32_t)value;
    return count > 0;
}

bool text_hex(const char *text, size_t count, uint32_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = memchr(digits, text[i] < 'A' ? text[i] : text[i] | 0x20, 16);
        if (!digit || value > UINT32_MAX >> 4)
            return false;
        value = value << 4 | (uint64_t)(digit - digits);
    }
    if (count)
        *ret = (uint32_t)value;
    return count > 0;
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
