/* SPDX-License-Identifier: MIT */
/* A growing list of texts, and the files that fill one. */
#include "text-list.h"
#include "list.h"

#include <errno.h>
#include <iconv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool text_list_add_part(struct text_list *list, const char *text, size_t size)
{
    if (!list_grow(&list->texts, list->count, &list->capacity, sizeof *list->texts))
        return false;
    char *copy = strndup(text, size);
    if (!copy)
        return false;
    list->texts[list->count++] = copy;
    return true;
}

bool text_list_add(struct text_list *list, const char *text)
{
    return text_list_add_part(list, text, strlen(text));
}

void text_list_done(struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->texts[i]);
    free(list->texts);
    *list = (struct text_list){0};
}

/* ---- files ---- */

/* Removes blanks around a line, and its line end. */
static char *trim(char *line)
{
    static const char blanks[] = " \t\r\n";
    line += strspn(line, blanks);
    size_t size = strlen(line);
    while (size && strchr(blanks, line[size - 1]))
        line[--size] = 0;
    return line;
}

static char *unquote(char *text)
{
    size_t size = strlen(text);
    if (size < 2 || text[0] != '"' || text[size - 1] != '"')
        return text;
    text[size - 1] = 0;
    return text + 1;
}

/* Adds a line of a file of options: "[si]" becomes "-si"; every other line is a word. */
static bool add_option_line(struct text_list *list, char *line)
{
    size_t size = strlen(line);
    if (size < 3 || line[0] != '[' || line[size - 1] != ']')
        return text_list_add(list, unquote(line));
    line[size - 1] = 0;
    char word[64];
    if (snprintf(word, sizeof word, "-%s", line[1] == '-' ? line + 2 : line + 1) >=
        (int)sizeof word)
        return errno = EINVAL, false;
    return text_list_add(list, word);
}

static bool add_plain_line(struct text_list *list, char *line)
{
    return text_list_add(list, unquote(line));
}

/* Reads the whole file, NUL-terminated; NULL: errno is the reason. */
static char *read_whole(FILE *file, size_t *ret_bytes)
{
    char *bytes = NULL;
    size_t count = 0, capacity = 0;
    do {
        if (capacity - count < 2) {
            char *grown = realloc(bytes, capacity = capacity ? capacity * 2 : 4096);
            if (!grown)
                return free(bytes), NULL;
            bytes = grown;
        }
        count += fread(bytes + count, 1, capacity - count - 1, file);
    } while (!feof(file) && !ferror(file));
    if (ferror(file))
        return free(bytes), NULL;
    bytes[count] = 0;
    *ret_bytes = count;
    return bytes;
}

/* Is the text UTF-16? Windows' own editors write UTF-16 with a byte order mark. */
static bool is_utf16(const char *bytes, size_t count)
{
    return count >= 2 && (!memcmp(bytes, "\xFF\xFE", 2) || !memcmp(bytes, "\xFE\xFF", 2));
}

/* Converts the bytes to UTF-8, without the mark; NULL: errno is the reason. */
static char *from_utf16(char *bytes, size_t *count)
{
    iconv_t converter = iconv_open("UTF-8", "UTF-16");
    if (converter == (iconv_t)-1)
        return NULL;
    size_t capacity = *count * 2 + 1, left = capacity;
    char *text = calloc(capacity, 1), *in = bytes, *out = text;
    bool good = text && iconv(converter, &in, count, &out, &left) != (size_t)-1;
    int error = errno;
    iconv_close(converter);
    errno = error;
    if (!good)
        return free(text), NULL;
    *count = capacity - left;
    return text;
}

static bool add_lines(struct text_list *list, char *text, size_t bytes,
                      bool (*add)(struct text_list *list, char *line))
{
    char *end = text + bytes;
    if (bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3;
    for (char *line = text, *next; line < end; line = next) {
        char *feed = memchr(line, '\n', (size_t)(end - line));
        next = feed ? feed + 1 : end;
        if (feed)
            *feed = 0;
        line = trim(line);
        if (*line && !add(list, line))
            return false;
    }
    return true;
}

static bool read_lines(struct text_list *list, FILE *file,
                       bool (*add)(struct text_list *list, char *line))
{
    size_t count;
    char *bytes = read_whole(file, &count), *text = bytes;
    if (bytes && is_utf16(bytes, count))
        text = from_utf16(bytes, &count);
    bool good = text && add_lines(list, text, count, add);
    int error = errno;
    if (text != bytes)
        free(text);
    free(bytes);
    errno = error;
    return good;
}

static bool read_file(struct text_list *list, const char *path,
                      bool (*add)(struct text_list *list, char *line))
{
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "re");
    if (!file)
        return false;
    bool good = read_lines(list, file, add);
    int error = errno;
    if (!standard)
        fclose(file);
    errno = error;
    return good;
}

bool text_list_read(struct text_list *list, const char *path)
{
    return read_file(list, path, add_plain_line);
}

bool text_list_read_options(struct text_list *list, const char *path)
{
    return read_file(list, path, add_option_line);
}

bool text_lines_take(const char *path, const char *(*take)(void *self, char *line, unsigned number),
                     void *self, char *why, size_t capacity)
{
    FILE *file = fopen(path, "re");
    const char *wrong = file ? NULL : strerror(errno);
    char *line = NULL;
    unsigned number = 0;
    for (size_t size = 0; !wrong && getline(&line, &size, file) > 0;) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (line[strspn(line, " \t")] == '\0' || *line == '#')
            continue;
        wrong = take(self, line, number);
        if (!wrong) {
            line = NULL; /* its buffer was taken */
            size = 0;
        }
    }
    free(line);
    if (wrong && file)
        snprintf(why, capacity, "line %u: %s", number, wrong);
    else if (wrong || ferror(file))
        snprintf(why, capacity, "%s", strerror(errno));
    bool good = !wrong && !ferror(file);
    if (file)
        fclose(file);
    return good;
}

const char *text_limit(const char *text, double *ret_limit)
{
    const char *sign = text + strlen(text);
    char *end = NULL;
    while (sign > text && *sign != '<' && *sign != '>')
        sign--;
    *ret_limit = sign > text ? strtod(sign + 1, &end) : 0;
    return end && end != sign + 1 && !*end && isfinite(*ret_limit) ? sign : NULL;
}
