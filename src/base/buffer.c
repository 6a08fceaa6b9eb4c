/* SPDX-License-Identifier: MIT */
/*
 * A growing byte buffer. A failed allocation is remembered, so callers may append many times and
 * check once, at the end, whether all of it succeeded.
 */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

void memory_unused(void *memory, size_t bytes)
{
    enum { LARGE = 256 << 10 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = -(uintptr_t)memory & (page - 1);
    if (bytes >= LARGE)
        madvise((char *)memory + before, (bytes - before) & ~(page - 1), MADV_DONTNEED);
}

void free_pointer(void *pointer_to_pointer)
{
    void *pointer;
    memcpy(&pointer, pointer_to_pointer, sizeof pointer);
    free(pointer);
}
