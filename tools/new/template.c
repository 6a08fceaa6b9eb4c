/* SPDX-License-Identifier: MIT */
/*
 * Templates: text with @words@, and parts between lines "@if WORD", "@else" and "@end", where WORD
 * is instances, windows or table.
 */
#include "new.h"

#include <stdlib.h>
#include <string.h>

static const char *word_value(const struct chosen *chosen, const struct example *example,
                              const char *word)
{
    if (strcmp(word, "file") == 0)
        return chosen->file;
    /* a template that began with "#!" itself would be taken for a script */
    if (strcmp(word, "shebang") == 0)
        return "#!/bin/sh";
    if (strcmp(word, "service") == 0 || strcmp(word, "object") == 0)
        return chosen->service;
    if (strcmp(word, "SYMBOL") == 0)
        return example->entries.list[0].symbol;
    return example_text(chosen, word);
}

/* Prints a line with its @words@ replaced; unknown words stay unchanged. */
static void print_line(FILE *out, const char *line, size_t length, const struct chosen *chosen,
                       const struct example *example)
{
    const char *end = line + length;
    while (line < end) {
        char word[32];
        const char *close = *line == '@' ? memchr(line + 1, '@', (size_t)(end - line - 1)) : NULL;
        size_t count = close ? (size_t)(close - line - 1) : sizeof word;
        const char *value = NULL;
        if (count < sizeof word) {
            memcpy(word, line + 1, count);
            word[count] = '\0';
            value = word_value(chosen, example, word);
        }
        if (value)
            fputs(value, out);
        else
            fputc(*line, out);
        line = value ? close + 1 : line + 1;
    }
}

static bool condition(const char *line, const struct chosen *chosen)
{
    if (strncmp(line, "@if instances", 13) == 0)
        return chosen->instances;
    return strncmp(line, "@if windows", 11) == 0 ? chosen->windows : !chosen->windows;
}

static const char *find_template(const char *name)
{
    const struct template *at = templates;
    while (at->name && strcmp(at->name, name) != 0)
        at++;
    return at->text;
}

void template_print(FILE *out, const char *name, const struct chosen *chosen,
                    const struct example *example)
{
    bool shown[8] = {true};
    unsigned depth = 0;
    for (const char *line = find_template(name); *line;) {
        size_t length = strcspn(line, "\n") + 1;
        if (strncmp(line, "@if ", 4) == 0) {
            shown[depth + 1] = shown[depth] && condition(line, chosen);
            depth++;
        } else if (strncmp(line, "@else\n", 6) == 0) {
            shown[depth] = shown[depth - 1] && !shown[depth];
        } else if (strncmp(line, "@end\n", 5) == 0) {
            depth--;
        } else if (shown[depth]) {
            print_line(out, line, length, chosen, example);
        }
        line += length;
    }
}
