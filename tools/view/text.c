/* SPDX-License-Identifier: MIT */
/* UTF-8 on a terminal: width, truncation, and removal of control characters. */
#include "text.h"

#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

static bool ellipsis_is_utf8;

bool text_begin(void)
{
    if (!setlocale(LC_ALL, "")) /* a category's locale is missing; that of LC_CTYPE may be there */
        setlocale(LC_CTYPE, "");
    ellipsis_is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (!ellipsis_is_utf8)
        setlocale(LC_CTYPE, "C.UTF-8");
    setlocale(LC_NUMERIC, "C");
    return ellipsis_is_utf8;
}

/* Decodes a character: its length in bytes (at least 1) and its code; an invalid byte: U+FFFD. */
static size_t character(const char *text, wchar_t *ret)
{
    mbstate_t state = {0};
    if ((unsigned char)*text < 0x80) { /* most characters are ASCII, and mbrtowc is slow */
        *ret = *text;
        return 1;
    }
    size_t count = mbrtowc(ret, text, strnlen(text, MB_LEN_MAX), &state);
    if (count != 0 && count != (size_t)-1 && count != (size_t)-2)
        return count;
    *ret = 0xfffd;
    return 1;
}

static int character_width(wchar_t code)
{
    int width = wcwidth(code);
    return width < 0 ? 1 : width;
}

int text_width(const char *text)
{
    int width = 0;
    while (*text) {
        wchar_t code;
        text += character(text, &code);
        width += character_width(code);
    }
    return width;
}

bool text_steers(wchar_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0x2028 || code == 0x2029;
}

static size_t escape(wchar_t code, char out[12])
{
    static const char plain[] = "\nn\tt\rr\033e\aa\bb";
    for (const char *at = plain; *at; at += 2)
        if (code == (wchar_t)*at)
            return (size_t)snprintf(out, 12, "\\%c", at[1]);
    return (size_t)snprintf(out, 12, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
}

/* Moves *text after its first character, of which `out` receives the visible form; returns the
 * length of that form in bytes. */
static size_t visible(const char **text, char out[MB_LEN_MAX + 12])
{
    wchar_t code;
    const char *from = *text;
    size_t count = character(from, &code);
    *text += count;
    if (code != 0xfffd && text_steers(code))
        return escape(code, out);
    count = code == 0xfffd ? 3 : count;
    memcpy(out, code == 0xfffd ? "\xef\xbf\xbd" : from, count);
    return count;
}

void text_clean(const char *text, char *out, size_t capacity)
{
    size_t used = 0;
    while (*text) {
        char seen[MB_LEN_MAX + 12];
        size_t count = visible(&text, seen);
        if (used + count >= capacity)
            break;
        memcpy(out + used, seen, count);
        used += count;
    }
    if (capacity)
        out[used] = 0;
}

void text_quote(const char *text, char *out, size_t capacity)
{
    size_t used = (size_t)snprintf(out, capacity, "'");
    for (; *text && used + 6 < capacity; text++)
        used += (size_t)snprintf(out + used, 5, *text == '\'' ? "'\\''" : "%c", *text);
    snprintf(out + used, capacity - used, "'");
}

void text_put(FILE *out, const char *text)
{
    char seen[MB_LEN_MAX + 12];
    while (*text)
        fwrite(seen, 1, visible(&text, seen), out);
}

static bool is_ascii(const char *text)
{
    while (*text >= ' ' && *text < 0x7f)
        text++;
    return !*text;
}

const char *text_seen(const char *text)
{
    enum { TEXTS = 8, LONGEST = 4 }; /* one byte becomes at most LONGEST bytes, such as \x7f */
    static char *texts[TEXTS];
    static unsigned next;
    if (is_ascii(text))
        return text;
    if (MB_CUR_MAX == 1) /* the program has not called text_begin */
        setlocale(LC_CTYPE, "C.UTF-8");
    size_t capacity = LONGEST * strlen(text) + 1;
    char *seen = realloc(texts[next % TEXTS], capacity);
    if (!seen)
        return "?";
    text_clean(text, seen, capacity);
    return texts[next++ % TEXTS] = seen;
}

const char *text_shown(FILE *out, const char *text)
{
    return isatty(fileno(out)) ? text_seen(text) : text;
}

void text_put_output(FILE *out, const char *bytes, size_t size)
{
    if (!isatty(fileno(out))) {
        fwrite(bytes, 1, size, out);
        return;
    }
    for (const char *end = bytes + size; bytes < end;) {
        const char *feed = memchr(bytes, '\n', (size_t)(end - bytes));
        char *line = strndup(bytes, (size_t)((feed ? feed : end) - bytes));
        fputs(line ? text_seen(line) : "?", out);
        free(line);
        if (feed)
            fputc('\n', out);
        bytes = feed ? feed + 1 : end;
    }
}

/* Returns the number of bytes of `text` that fit into `width` columns. */
static size_t fitting(const char *text, int width)
{
    const char *at = text;
    while (*at) {
        wchar_t code;
        size_t count = character(at, &code);
        width -= character_width(code);
        if (width < 0)
            break;
        at += count;
    }
    return (size_t)(at - text);
}

void text_cell(FILE *out, const char *text, int width)
{
    int capacity = abs(width), used = text_width(text);
    if (capacity == 0)
        return;
    if (used > capacity) {
        size_t count = fitting(text, capacity - 1);
        char *part = strndup(text, count);
        int left = part ? capacity - 1 - text_width(part) : 0;
        fprintf(out, "%s%s%*s", part ? part : "", ellipsis_is_utf8 ? "\xe2\x80\xa6" : "~", left,
                "");
        free(part);
    } else if (width < 0) {
        fprintf(out, "%*s%s", capacity - used, "", text);
    } else {
        fprintf(out, "%s%*s", text, capacity - used, "");
    }
}

void text_wrap(FILE *out, const char *text, int indent, int width)
{
    int at = 0;
    text += strspn(text, " \n\t\r");
    while (*text) {
        char word[512];
        size_t bytes = strcspn(text, " \n\t\r");
        char *raw = strndup(text, bytes);
        text_clean(raw ? raw : "", word, sizeof word);
        free(raw);
        int columns = text_width(word);
        if (at && indent + at + 1 + columns > width) {
            fputc('\n', out);
            at = 0;
        }
        at += fprintf(out, "%*s%s", at ? 1 : indent, "", word) >= 0 ? columns + (at ? 1 : 0) : 0;
        text += bytes;
        text += strspn(text, " \n\t\r");
    }
    fputc('\n', out);
}

/* A line of one character, such as the "%" of "% Processor Time", is joined with the next word. */
size_t title_lines(const char *title, int width, char lines[TITLE_LINES][TITLE_SIZE])
{
    char text[256], *at = text;
    size_t count = 0;
    text_clean(title, text, sizeof text);
    memset(lines, 0, TITLE_LINES * sizeof *lines);
    for (char *word; (word = strsep(&at, " "));) {
        if (!*word)
            continue;
        int before = count ? text_width(lines[count - 1]) : 0;
        bool joins = before == 1 || (count && before + 1 + text_width(word) <= width); /* "%" */
        if (!joins && count == TITLE_LINES)
            break;
        char *line = joins ? lines[count - 1] : lines[count++];
        size_t used = strlen(line);
        snprintf(line + used, TITLE_SIZE - used, "%s%s", used ? " " : "", word);
    }
    return count;
}

static wchar_t folded(const char **text)
{
    wchar_t code;
    *text += character(*text, &code);
    return (wchar_t)towupper((wint_t)code);
}

/* Returns the text after `part` if `text` begins with it, else NULL. */
static const char *begins(const char *text, const char *part)
{
    while (*part) {
        if (!*text || folded(&text) != folded(&part))
            return NULL;
    }
    return text;
}

bool text_equal(const char *left, const char *right)
{
    const char *end = begins(left, right);
    return end && !*end;
}

bool text_contains(const char *text, const char *part)
{
    do {
        if (begins(text, part))
            return true;
    } while (*text && *++text);
    return false;
}
