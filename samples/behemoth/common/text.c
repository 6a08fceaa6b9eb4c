/* SPDX-License-Identifier: MIT */
/* Lines for any terminal, ages and times. */
#include "text.h"

#include <status.h>

#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

/* Characters that the programs draw, three bytes each, and their replacements in ASCII. */
static const char drawn[] = "♂♀├└│─┌┐┘▫▪■◦•●▲▼›…";
static const char ascii[] = "mf|`|-+++mmMffF^v>~";

enum { TEXT_VALUE = 32 };

struct text_style style_begin(void)
{
    return (struct text_style){.utf8 = text_begin(), .colours = status_colours(STDOUT_FILENO)};
}

/* An escape sequence, which ends with a letter, takes no column. */
void text_line(FILE *out, const char *line, size_t bytes, int width, struct text_style style)
{
    int used = 0;
    for (size_t at = 0, count; at < bytes; at += count) {
        wchar_t code;
        mbstate_t state = {0};
        if (line[at] == '\033') {
            const char *end = memchr(line + at, 'm', bytes - at);
            count = end ? (size_t)(end - line) + 1 - at : bytes - at;
            fwrite(line + at, 1, style.colours ? count : 0, out);
            continue;
        }
        count = mbrtowc(&code, line + at, bytes - at, &state);
        if (count == 0 || count > bytes) /* no character */
            return;
        used += wcwidth(code);
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

static char *next_value(void)
{
    static char values[8][TEXT_VALUE];
    static unsigned next;
    return values[next++ % 8];
}

const char *age_text(double age)
{
    char *out = next_value();
    bool good = age >= 0 && age < 1e15;
    long long seconds = good ? (long long)age : 0, days = seconds / 86400;
    int left = (int)(seconds % 86400), used = days > 0 ? sprintf(out, "%lldd ", days) : 0;
    sprintf(out + used, days > 0 ? "%02d:%02d:%02d" : "%d:%02d:%02d", left / 3600, left / 60 % 60,
            left % 60);
    return good ? out : "-";
}

const char *time_text(uint64_t filetime)
{
    char *out = next_value();
    time_t moment = (time_t)(filetime / 10000000) - 11644473600;
    struct tm parts;
    return gmtime_r(&moment, &parts) && strftime(out, TEXT_VALUE, "%Y-%m-%d %H:%M:%S", &parts) > 0
               ? out
               : "-";
}
