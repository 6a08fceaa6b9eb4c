/* SPDX-License-Identifier: MIT */
/* Reads the other languages of an ini file: the lines of [languages] and [text], nothing else. */
#include "tables.h"

#include "../view/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *grow(void *list, size_t count, size_t size)
{
    void *grown = realloc(list, (count + 1) * size);
    if (!grown) {
        fputs("openperflib-tables: out of memory\n", stderr);
        exit(1);
    }
    return grown;
}

/* Returns a language's name, as a comment for readers of the ini file; lodctr does not use it. */
static const char *language_name(const char *id)
{
    /* clang-format off */
    static const char *const names[][2] = {
        {"004", "中文"}, {"404", "中文"}, {"804", "中文"}, {"007", "Deutsch"}, {"00A", "español"},
        {"00C", "français"}, {"010", "italiano"}, {"011", "日本語"}, {"019", "русский"},
        {"416", "português"}, {"816", "português"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(names[i][0], id) == 0)
            return names[i][1];
    return "";
}

void old_add_language(struct old *old, const char *id, const char *comment)
{
    for (size_t i = 0; i < old->language_count; i++)
        if (strcasecmp(old->languages[i].id, id) == 0)
            return;
    old->languages = grow(old->languages, old->language_count, sizeof *old->languages);
    old->languages[old->language_count++] = (struct old_language){
        .id = strdup(id), .comment = strdup(*comment ? comment : language_name(id))};
}

/* Removes blanks at both ends, in place. */
static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

/* Splits "SYMBOL_007_NAME" in place, from the end, because a symbol may contain '_'. */
static bool split(char *key, char **ret_language, bool *ret_help)
{
    char *kind = strrchr(key, '_');
    if (!kind)
        return false;
    *kind++ = '\0';
    char *language = strrchr(key, '_');
    if (!language || (strcasecmp(kind, "NAME") != 0 && strcasecmp(kind, "HELP") != 0))
        return false;
    *language++ = '\0';
    *ret_language = language;
    *ret_help = strcasecmp(kind, "HELP") == 0;
    return strlen(language) >= 3 && strspn(language, "0123456789abcdefABCDEF") == strlen(language);
}

void old_add_text(struct old *old, const char *symbol, const char *language, bool help,
                  const char *text)
{
    old->texts = grow(old->texts, old->text_count, sizeof *old->texts);
    old->texts[old->text_count++] = (struct old_text){
        .symbol = strdup(symbol), .language = strdup(language), .text = strdup(text), .help = help};
}

static void add_line(struct old *old, char *line, char section[32])
{
    line = trim(line);
    if (*line == '[') {
        line[strcspn(line, "]")] = '\0';
        snprintf(section, 32, "%s", trim(line + 1));
        return;
    }
    char *equals = *line == ';' ? NULL : strchr(line, '=');
    if (!equals)
        return;
    *equals = '\0';
    char *key = trim(line), *value = trim(equals + 1), *language;
    bool help;
    if (strcasecmp(section, "languages") == 0)
        old_add_language(old, key, value);
    else if (strcasecmp(section, "text") == 0 && split(key, &language, &help))
        old_add_text(old, key, language, help, value);
}

bool old_is_language(const char *id)
{
    size_t length = strlen(id);
    return (length == 3 || length == 4) && strspn(id, "0123456789abcdefABCDEF") == length &&
           strcmp(id, "009") != 0;
}

static bool is_utf8(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        int more = *at < 0x80             ? 0
                   : (*at & 0xE0) == 0xC0 ? 1
                   : (*at & 0xF0) == 0xE0 ? 2
                   : (*at & 0xF8) == 0xF0 ? 3
                                          : -1;
        for (; more > 0; more--)
            if ((*++at & 0xC0) != 0x80)
                return false;
        if (more < 0)
            return false;
    }
    return true;
}

bool old_read(const char *path, struct old *ret)
{
    char *line = NULL, section[32] = "";
    size_t capacity = 0;
    bool good = true;
    *ret = (struct old){0};
    FILE *file = fopen(path, "r");
    if (!file && errno == ENOENT)
        return true;
    for (unsigned number = 1; file && good && getline(&line, &capacity, file) >= 0; number++) {
        good = is_utf8(line);
        if (good)
            add_line(ret, line + (strncmp(line, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0), section);
        else
            fprintf(stderr, "openperflib-tables: %s:%u: not UTF-8; convert it first, with iconv\n",
                    text_seen(path), number);
    }
    free(line);
    if (!file || ferror(file)) {
        fprintf(stderr, "openperflib-tables: %s: %s\n", text_seen(path), strerror(errno));
        good = false;
    }
    if (file)
        fclose(file);
    return good;
}

const char *old_text(const struct old *old, const char *symbol, const char *language, bool help)
{
    for (size_t i = 0; i < old->text_count; i++) {
        const struct old_text *text = &old->texts[i];
        if (text->help == help && strcasecmp(text->symbol, symbol) == 0 &&
            strcasecmp(text->language, language) == 0)
            return text->text;
    }
    return NULL;
}

void old_done(struct old *old)
{
    for (size_t i = 0; i < old->text_count; i++) {
        free(old->texts[i].symbol);
        free(old->texts[i].language);
        free(old->texts[i].text);
    }
    for (size_t i = 0; i < old->language_count; i++) {
        free(old->languages[i].id);
        free(old->languages[i].comment);
    }
    free(old->texts);
    free(old->languages);
}
