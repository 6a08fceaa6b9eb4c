/* SPDX-License-Identifier: MIT */
/* The C library has the width of a character; this file finds where it begins and which are
 * allowed. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* wcwidth */
#endif
#include "text.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static const char *ellipsis = "~";

bool text_begin(void)
{
    setlocale(LC_CTYPE, "");
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (utf8)
        ellipsis = "\xe2\x80\xa6";
    else
        setlocale(LC_CTYPE, "C.UTF-8");
    return utf8;
}

/* One character: its bytes, at least 1, and its columns; -1: it is none, or must not be printed. */
static size_t character(const char *text, size_t bytes, int *ret_width)
{
    wchar_t code;
    mbstate_t state = {0};
    size_t count = mbrtowc(&code, text, bytes, &state);
    if (count == 0 || count > bytes) {
        *ret_width = -1;
        return 1;
    }
    bool turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    *ret_width = turns ? -1 : wcwidth(code); /* -1: control characters */
    return count;
}

void text_clean(const char *text, char *out, size_t capacity)
{
    size_t used = 0;
    for (size_t left = strlen(text); left > 0;) {
        int width;
        size_t count = character(text, left, &width);
        const char *from = width < 0 ? REPLACEMENT : text;
        size_t bytes = width < 0 ? sizeof REPLACEMENT - 1 : count;
        if (used + bytes >= capacity)
            break;
        memcpy(out + used, from, bytes);
        used += bytes;
        text += count;
        left -= count;
    }
    out[used] = 0;
}

/* The bytes of a clean text that fit into `width` columns. What has no width belongs to what is
 * before it. */
static size_t fitting(const char *text, int width, int *ret_used)
{
    size_t bytes = strlen(text), at = 0;
    *ret_used = 0;
    while (at < bytes) {
        int columns;
        size_t count = character(text + at, bytes - at, &columns);
        columns = columns < 0 ? 1 : columns;
        if (*ret_used + columns > width)
            break;
        *ret_used += columns;
        at += count;
    }
    return at;
}

int text_width(const char *text)
{
    int used;
    fitting(text, 1 << 20, &used);
    return used;
}

void text_put(FILE *out, const char *text, int width)
{
    int capacity = abs(width), used;
    size_t bytes = fitting(text, capacity, &used);
    if (text[bytes] && capacity > 0) {
        bytes = fitting(text, capacity - 1, &used);
        fprintf(out, "%.*s%s%*s", (int)bytes, text, ellipsis, capacity - 1 - used, "");
    } else if (width < 0) {
        fprintf(out, "%*s%s", capacity - used, "", text);
    } else {
        fprintf(out, "%.*s%*s", (int)bytes, text, capacity - used, "");
    }
}

static size_t escape(const char *line, size_t bytes)
{
    size_t at = 1;
    while (at < bytes && !(line[at] >= 'A' && line[at] <= 'z' && line[at] != '['))
        at++;
    return at < bytes ? at + 1 : bytes;
}

void text_line(FILE *out, const char *line, size_t bytes, int width)
{
    int used = 0;
    for (size_t at = 0, count; at < bytes; at += count) {
        int columns = 0;
        if (line[at] == '\033')
            count = escape(line + at, bytes - at);
        else
            count = character(line + at, bytes - at, &columns);
        used += columns < 0 ? 1 : columns;
        if (width == 0 || used <= width)
            fwrite(line + at, 1, count, out);
    }
}
