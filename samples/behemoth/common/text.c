/* SPDX-License-Identifier: MIT */
/* Splits text into characters, and removes those that must not be printed. */
#include "text.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Characters that the programs draw, three bytes each, and their replacements in ASCII. */
static const char drawn[] = "♂♀├└│─┌┐┘▫▪■◦•●▲▼›…▁▂▃▄▅▆▇█";
static const char ascii[] = "mf|`|-+++mmMffF^v>~__..--##";

struct text_style text_style_begin(void)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    setlocale(LC_CTYPE, "");
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (!utf8)
        setlocale(LC_CTYPE, "C.UTF-8");
    return (struct text_style){utf8, isatty(STDOUT_FILENO) && !(no && *no) && term && *term &&
                                         strcmp(term, "dumb") != 0};
}

/* Decodes a character; returns the number of its bytes, at least 1. *ret_width: the columns that it
 * takes; -1: not printable. */
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

void text_sanitize(const char *text, char *out, size_t capacity)
{
    size_t used = 0;
    for (size_t left = strlen(text), count; left > 0; text += count, left -= count) {
        int width;
        count = character(text, left, &width);
        const char *from = width < 0 ? REPLACEMENT : text;
        size_t bytes = width < 0 ? sizeof REPLACEMENT - 1 : count;
        if (used + bytes >= capacity)
            break;
        memcpy(out + used, from, bytes);
        used += bytes;
    }
    out[used] = 0;
}

/* The number of bytes of a clean text that fit into `width` columns, including characters without a
 * width. */
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

int text_columns(const char *text)
{
    int used;
    fitting(text, 1 << 20, &used);
    return used;
}

void text_field(FILE *out, const char *text, int width)
{
    int columns = abs(width), used;
    size_t bytes = fitting(text, columns, &used);
    bool cut = text[bytes] && columns > 0;
    if (cut)
        bytes = fitting(text, columns - 1, &used);
    fprintf(out, "%*s%.*s%s%*s", width < 0 && !cut ? columns - used : 0, "", (int)bytes, text,
            cut ? "…" : "", width > 0 || cut ? columns - used - cut : 0, "");
}

/* An escape sequence, which ends with a letter, takes no column. */
void text_line(FILE *out, const char *line, size_t bytes, int width, struct text_style style)
{
    int used = 0;
    for (size_t at = 0, count; at < bytes; at += count) {
        int columns = 0;
        if (line[at] == '\033') {
            const char *end = memchr(line + at, 'm', bytes - at);
            count = end ? (size_t)(end - line) + 1 - at : bytes - at;
            fwrite(line + at, 1, style.colours ? count : 0, out);
            continue;
        }
        count = character(line + at, bytes - at, &columns);
        used += columns < 0 ? 1 : columns;
        if (width > 0 && used > width)
            continue;
        const char *known =
            count == 3 && !style.utf8 ? memmem(drawn, sizeof drawn, line + at, 3) : NULL;
        if (known)
            fputc(ascii[(known - drawn) / 3], out);
        else
            fwrite(line + at, 1, count, out);
    }
}

void text_lines(FILE *out, const char *text, int width, struct text_style style)
{
    while (*text) {
        size_t bytes = strcspn(text, "\n");
        text_line(out, text, bytes, width, style);
        text += bytes;
        if (*text)
            fputc(*text++, out);
    }
}

const char *age_text(double age, char out[TEXT_VALUE])
{
    bool good = age >= 0 && age < 1e15;
    long long seconds = good ? (long long)age : 0, days = seconds / 86400;
    int left = (int)(seconds % 86400), used = 0;
    if (days > 0)
        used = snprintf(out, TEXT_VALUE, "%lldd ", days);
    snprintf(out + used, TEXT_VALUE - (size_t)used, days > 0 ? "%02d:%02d:%02d" : "%d:%02d:%02d",
             left / 3600, left / 60 % 60, left % 60);
    return good ? out : "-";
}

const char *time_text(uint64_t filetime, char out[TEXT_VALUE])
{
    int64_t seconds = (int64_t)(filetime / 10000000) - 11644473600;
    time_t moment = (time_t)seconds;
    struct tm parts;
    if ((int64_t)moment != seconds || !gmtime_r(&moment, &parts) ||
        strftime(out, TEXT_VALUE, "%Y-%m-%d %H:%M:%S", &parts) == 0)
        return "-";
    return out;
}
