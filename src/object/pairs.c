/* SPDX-License-Identifier: MIT */
/*
 * Files whose lines come in pairs, a line of names and a line of numbers, like proc/net/snmp. The
 * position of each key's name is determined once; afterwards only the text at this position is
 * compared with it, and each line of numbers is parsed once for all its keys.
 */
#include "object/object.h"

#include <string.h>

/* A line of names and the line of numbers after it. */
struct line_pair {
    const char *names, *numbers, *end; /* start of the line of names, start of the line of numbers,
                                        * end of that line */
    size_t word;                       /* bytes of the word with which both lines begin, without the
                                        * colon */
    unsigned line;                     /* number of the line of names */
};

static size_t line_word(const char *line)
{
    size_t bytes = strcspn(line, ": \n");
    return line[bytes] == ':' ? bytes : 0;
}

/* Finds the first pair of lines at `line` or after it; `number` is the number of `line`. False:
 * there is none. */
static bool pair_next(struct line_pair *pair, const char *line, unsigned number)
{
    for (; *line; line = pair->numbers, number++) {
        pair->names = line;
        pair->numbers = opl_next_line(line);
        pair->line = number;
        pair->word = line_word(line);
        pair->end = opl_next_line(pair->numbers);
        if (pair->word && line_word(pair->numbers) == pair->word &&
            memcmp(line, pair->numbers, pair->word) == 0)
            return true;
    }
    return false;
}

/* True if the `length` bytes at `name` are the key's name in this pair: the key "Tcp.InSegs" is
 * InSegs in the pair of lines that begin with "Tcp:". */
static bool is_key(const struct source_key *key, const struct line_pair *pair, const char *name,
                   size_t length)
{
    return key->length == pair->word + 1 + length && key->text[pair->word] == '.' &&
           memcmp(key->text, pair->names, pair->word) == 0 &&
           memcmp(key->text + pair->word + 1, name, length) == 0;
}

/* ---- the first time ---- */

static void take_name(struct source *source, const struct line_pair *pair, const char *name,
                      size_t length, unsigned column)
{
    for (size_t i = 0; i < source->key_count; i++) {
        struct source_key *key = &source->keys[i];
        if (!key->at && is_key(key, pair, name, length)) {
            key->line = pair->line;
            key->gap = (size_t)(name - pair->names);
            key->column = column;
            key->at = name; /* any address but NULL: marks the key as found until its number is read
                             * */
            source->keys[source->keys_there++].order = i;
        }
    }
}

static void take_names(struct source *source, const struct line_pair *pair)
{
    unsigned column = 1;
    const char *at = skip_blanks(pair->names + pair->word + 1);
    for (; *at && *at != '\n'; column++) {
        const char *end = skip_word(at);
        take_name(source, pair, at, (size_t)(end - at), column);
        at = skip_blanks(end);
    }
}

/* Returns a hash of the number of pairs and the lengths of their lines of names. While it is the
 * same, the names are taken to be the same. */
static uint64_t names_shape(const char *text)
{
    struct line_pair pair;
    uint64_t shape = 0;
    unsigned number = 0;
    for (; pair_next(&pair, text, number); text = pair.end, number = pair.line + 2)
        shape += (uint64_t)(pair.numbers - pair.names) + ((uint64_t)1 << 32);
    return shape;
}

/* Finds the keys. keys[0].order, keys[1].order ... become the positions in `keys` of those that
 * exist, in the order of the file. */
static void find_names(struct source *source)
{
    struct line_pair pair;
    const char *text = source->text;
    unsigned number = 0;
    source->keys_there = 0;
    source->names_shape = names_shape(text);
    for (size_t i = 0; i < source->key_count; i++)
        source->keys[i].at = NULL;
    for (; pair_next(&pair, text, number); text = pair.end, number = pair.line + 2)
        take_names(source, &pair);
}

/* ---- each time ---- */

static bool key_stays(const struct source_key *key, const struct line_pair *pair)
{
    size_t width = (size_t)(pair->numbers - pair->names);
    if (key->length <= pair->word + 1 || key->gap + key->length - pair->word - 1 >= width)
        return false;
    const char *name = pair->names + key->gap;
    return is_key(key, pair, name, key->length - pair->word - 1) &&
           skip_word(name) == name + key->length - pair->word - 1;
}

/* Reads the numbers of the keys that exist; false: the file's layout has changed. */
static bool read_numbers(struct source *source)
{
    struct line_pair pair = {.numbers = NULL};
    const char *line = source->text, *at = NULL;
    unsigned number = 0, column = 0;
    for (size_t i = 0; i < source->keys_there; i++) {
        struct source_key *key = &source->keys[source->keys[i].order];
        if (!pair.numbers || key->line != pair.line) {
            for (; number < key->line && *line; number++)
                line = opl_next_line(line);
            if (!pair_next(&pair, line, number) || pair.line != key->line)
                return false;
            at = skip_blanks(pair.numbers + pair.word + 1);
            column = 1;
        }
        if (!key_stays(key, &pair))
            return false;
        for (; column < key->column; column++)
            at = skip_blanks(skip_word(at));
        bool there = *at && *at != '\n';
        key->at = there ? at : NULL;
        const char *cursor = at;
        key->number = there ? text_number(&cursor) : 0;
    }
    return true;
}

void source_find_pairs(struct source *source)
{
    bool same = source->keys_sorted && names_shape(source->text) == source->names_shape;
    if (same && read_numbers(source))
        return;
    find_names(source);
    source->keys_sorted = read_numbers(source);
}
