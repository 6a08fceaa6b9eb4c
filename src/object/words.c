/* SPDX-License-Identifier: MIT */
/* Looking at a text that was read: its keys and its words become numbers. */
#include "object/object.h"

#include <string.h>

uint64_t text_number(const char **cursor)
{
    const char *at = *cursor;
    bool negative = *at == '-';
    uint64_t number = 0;
    for (at += negative; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    *cursor = at;
    return negative ? -number : number;
}

const char *text_line(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? end + 1 : text + strlen(text);
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static const char *skip_word(const char *at)
{
    while (*at && *at != ' ' && *at != '\t' && *at != '\n')
        at++;
    return at;
}

/* ---- keys ---- */

uint64_t key_number(const struct key *key, unsigned column)
{
    const char *at = skip_blanks(key->at);
    for (unsigned i = 1; i < column; i++)
        at = skip_blanks(skip_word(at));
    return text_number(&at);
}

/* Does the line begin with this key? Then remembers where its numbers are. */
static bool key_match(struct key *key, const char *line)
{
    if (line[0] != key->text[0] || strncmp(line, key->text, key->length) != 0)
        return false;
    char next = line[key->length];
    if (next != ':' && next != ' ' && next != '\t')
        return false;
    key->at = line + key->length + 1;
    return true;
}

/* The keys are where they were last time, as they are in most system-wide files. */
static bool keys_find_again(struct source *source)
{
    const char *line = source->text;
    unsigned number = 0;
    for (size_t i = 0; i < source->key_count; i++) {
        struct key *key = &source->keys[source->keys[i].order];
        for (; number < key->line && *line; number++)
            line = text_line(line);
        if (!key_match(key, line))
            return false;
    }
    return true;
}

/* The line's key is probably the one behind the last key found: look there first. */
static struct key *keys_match(struct source *source, const char *line, size_t *next)
{
    for (size_t tried = 0; tried < source->key_count; tried++) {
        size_t position = *next + tried;
        if (position >= source->key_count)
            position -= source->key_count;
        struct key *key = &source->keys[position];
        if (key->at || !key_match(key, line))
            continue;
        *next = position + 1 < source->key_count ? position + 1 : 0;
        return key;
    }
    return NULL;
}

/* keys[0].order, keys[1].order ... are the keys' positions by ascending line. */
static void keys_sort(struct source *source)
{
    struct key *keys = source->keys;
    for (size_t i = 0; i < source->key_count; i++) {
        size_t at = i;
        for (; at > 0 && keys[keys[at - 1].order].line > keys[i].line; at--)
            keys[at].order = keys[at - 1].order;
        keys[at].order = i;
    }
}

/* Where the next key was the last time, counted from the last one found: files of instances differ
 * in their first lines, but then have columns of equal width. */
static const char *keys_jump(struct source *source, const char *line, size_t next, struct key **ret)
{
    struct key *key = &source->keys[next];
    const char *there = line + key->gap;
    if (!source->star || key->at || !key->gap || there >= source->text + source->length ||
        there[-1] != '\n' || !key_match(key, there))
        return NULL;
    *ret = key;
    return there;
}

static void keys_find(struct source *source)
{
    size_t next = 0, left = source->key_count;
    unsigned number = 0;
    const char *last = source->text;
    for (size_t i = 0; i < source->key_count; i++)
        source->keys[i].at = NULL;
    for (const char *line = source->text; *line && left; line = text_line(line), number++) {
        struct key *key = keys_match(source, line, &next);
        while (key) {
            key->line = number;
            key->gap = (size_t)(line - last);
            last = line;
            left--;
            const char *there = left ? keys_jump(source, line, next, &key) : NULL;
            if (!there)
                break;
            line = there;
            next = next + 1 < source->key_count ? next + 1 : 0;
        }
    }
    source->keys_sorted = left == 0 && !source->star;
    if (source->keys_sorted)
        keys_sort(source);
}

LSTATUS source_load_keys(opl_reading *reading, struct source *source)
{
    LSTATUS status = source_load(reading, source);
    if (status || source->keys_for == source->read_for)
        return status;
    source->keys_for = source->read_for;
    if (!source->keys_sorted || !keys_find_again(source))
        keys_find(source);
    return ERROR_SUCCESS;
}

/* ---- words ---- */

/* The second word of a stat line is in parentheses and may itself hold blanks, parentheses and line
 * ends: it ends at the last parenthesis of the file. */
static const char *split_name(struct source *source, const char *at)
{
    const char *end = memrchr(source->text, ')', source->length);
    if (*at != '(' || !end || end < at)
        return at;
    source->name = at + 1;
    source->name_bytes = (size_t)(end - at) - 1;
    source->words[2] = 0;
    return end + 1;
}

static void split_words(struct source *source, const char *line)
{
    const char *at = skip_blanks(line);
    unsigned count = 0;
    source->word_count = 0;
    source->name = NULL;
    while (*at && *at != '\n' && count < source->words_wanted) {
        const char *word = at;
        uint64_t number = text_number(&at);
        bool whole = at > word && (*at == ' ' || *at == '\n' || *at == '\t' || !*at);
        source->words[++count] = whole ? number : 0;
        at = skip_blanks(whole ? at : skip_word(at));
        if (count == 1 && source->is->stat) {
            at = skip_blanks(split_name(source, at));
            count += source->name != NULL;
        }
    }
    source->word_count = count;
}

LSTATUS source_load_words(opl_reading *reading, struct source *source, unsigned wanted)
{
    LSTATUS status = source_load(reading, source);
    if (status || wanted > OBJECT_MAX_WORDS)
        return status ? status : ERROR_INVALID_PARAMETER;
    bool line = source == reading->line_source;
    uint64_t serial = line ? reading->serial : source->read_for;
    if (source->words_for == serial && wanted <= source->words_wanted)
        return ERROR_SUCCESS;
    if (wanted > source->words_wanted)
        source->words_wanted = wanted;
    source->words_for = serial;
    split_words(source, line ? reading->line : source->text);
    return ERROR_SUCCESS;
}
