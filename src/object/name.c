/* SPDX-License-Identifier: MIT */
/* Makes the names of instances from the system's names. (docs/windows/providers.md#d6) */
#include "object/object.h"

#include <string.h>

static bool is_ordinary(unsigned c)
{
    static const uint64_t special =
        0xffffffff | 1ull << '(' | 1ull << ')' | 1ull << '#' | 1ull << '*' | 1ull << '/';
    return c < 64 ? !(special >> c & 1) : c != '\\';
}

/* Returns the replacement for `c`, a byte of UTF-8 or a unit of UTF-16; most stay as they are. */
static unsigned sanitized(unsigned c, bool is_path)
{
    if (is_ordinary(c) || (is_path && c == '/'))
        return c;
    return c == '(' ? '[' : c == ')' ? ']' : '_';
}

/* Returns how many bytes to keep of a name that is too long, so that no character is cut. */
static size_t whole_characters(const char *name, size_t bytes)
{
    size_t whole = bytes;
    while (whole > 0 && bytes - whole < 3 && ((unsigned char)name[whole] & 0xc0) == 0x80)
        whole--;
    return ((unsigned char)name[whole] & 0xc0) == 0x80 ? bytes : whole; /* not UTF-8 */
}

size_t opl_sanitize_name(char *to, size_t capacity, const char *name, size_t bytes, bool is_path)
{
    if (capacity == 0)
        return 0;
    if (bytes >= capacity)
        bytes = whole_characters(name, capacity - 1);
    for (size_t i = 0; i < bytes; i++)
        to[i] = (char)sanitized((unsigned char)name[i], is_path);
    to[bytes] = 0;
    return bytes;
}

void name_sanitize(uint16_t *units, size_t count)
{
    for (size_t i = 0; i < count; i++)
        units[i] = (uint16_t)sanitized(units[i], false);
}

static bool is_octal(const char *word, size_t bytes)
{
    return bytes >= 4 && word[0] == '\\' && word[1] >= '0' && word[1] <= '3' && word[2] >= '0' &&
           word[2] <= '7' && word[3] >= '0' && word[3] <= '7';
}

size_t opl_octal_name(char *to, size_t capacity, const char *word, size_t bytes)
{
    size_t used = 0;
    if (capacity == 0)
        return 0;
    for (size_t at = 0; at < bytes && used + 1 < capacity; used++)
        if (is_octal(word + at, bytes - at)) {
            to[used] =
                (char)((word[at + 1] - '0') * 64 + (word[at + 2] - '0') * 8 + word[at + 3] - '0');
            at += 4;
        } else {
            to[used] = word[at++];
        }
    to[used] = 0;
    return used;
}
