/* SPDX-License-Identifier: MIT */
/* A growing list of texts, and the files that fill one. */
#include "text-list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool text_list_add_part(struct text_list *list, const char *text, size_t size)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 16;
        char **grown = realloc(list->texts, room * sizeof *grown);
        if (!grown)
            return false;
        list->texts = grown;
        list->room = room;
    }
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

/* Cuts off what is around a line: blanks and the line's end. */
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

/* "[si]" becomes "-si"; every other line is a word. */
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

static bool read_lines(struct text_list *list, FILE *file,
                       bool (*add)(struct text_list *list, char *line))
{
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    for (bool first = true; good && getline(&line, &room, file) >= 0; first = false) {
        char *text = line;
        if (first && strncmp(text, "\xEF\xBB\xBF", 3) == 0)
            text += 3;
        text = trim(text);
        if (*text)
            good = add(list, text);
    }
    free(line);
    return good && !ferror(file);
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
