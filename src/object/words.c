/* SPDX-License-Identifier: MIT */
/* Parses a text that was read: finds its keys, and turns its words into numbers. */
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

const char *opl_next_line(const char *text)
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

/* returns the blank, line end or NUL after the word */
static const char *skip_word(const char *at)
{
    while (*at && *at != ' ' && *at != '\t' && *at != '\n')
        at++;
    return at;
}

/* ---- pairs of lines ---- */

/*
 * Files whose lines come in pairs, a line of names and a line of numbers, like proc/net/snmp. The
 * position of each key's name is determined once; afterwards only the text at this position is
 * compared with it, and each line of numbers is parsed once for all its keys.
 */

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
 * there is no such pair. */
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
            /* not NULL, so the key counts as found; the address is replaced when the number is
             * read */
            key->at = name;
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

/* Returns a hash of the number of pairs and the lengths of their lines of names. While the hash is
 * the same, the names are taken to be the same. */
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

/* Finds the keys of a source whose lines come in pairs. */
static void source_find_pairs(struct source *source)
{
    bool same = source->keys_sorted && names_shape(source->text) == source->names_shape;
    if (same && read_numbers(source))
        return;
    find_names(source);
    source->keys_sorted = read_numbers(source);
}

/* ---- keys ---- */

uint64_t key_number(const struct source_key *key, unsigned column)
{
    const char *at = skip_blanks(key->at);
    for (unsigned i = 1; i < column; i++)
        at = skip_blanks(skip_word(at));
    return text_number(&at);
}

/* True if the line begins with this key; if so, records its position and first number. */
static bool key_match(struct source_key *key, const char *line)
{
    if (line[0] != key->text[0] || strncmp(line, key->text, key->length) != 0)
        return false;
    char next = line[key->length];
    if (next != ':' && next != ' ' && next != '\t')
        return false;
    const char *at = key->at = line + key->length + 1;
    at = skip_blanks(at);
    key->number = text_number(&at);
    return true;
}

/* False if the line's first character shows that the line has none of the keys. */
static bool keys_may_match(const struct source *source, const char *line)
{
    unsigned char first = (unsigned char)*line;
    return source->key_starts[first / 64] >> first % 64 & 1;
}

/* Returns the key of this line; NULL: the line has no key. First tries the key that came next in
 * the previous text, after the key that was found last. */
static struct source_key *keys_match(struct source *source, const char *line, size_t next)
{
    for (size_t tried = 0; tried < source->key_count; tried++, next++) {
        if (next >= source->key_count)
            next = 0;
        struct source_key *key = &source->keys[next];
        if (!key->at && key_match(key, line))
            return key;
    }
    return NULL;
}

/* Sorts the keys by line: keys[0].order, keys[1].order and so on become the positions in `keys`, in
 * the order of their lines. */
static void keys_sort(struct source *source)
{
    struct source_key *keys = source->keys;
    for (size_t i = 0; i < source->key_count; i++) {
        size_t at = i;
        for (; at > 0 && keys[keys[at - 1].order].line > keys[i].line; at--)
            keys[at].order = keys[at - 1].order;
        keys[at].order = i;
    }
}

/* Looks for key `next` at the same distance from *line as in the previous text, and moves *line
 * there; NULL: the key is not there. This works because instances' files differ in the first lines
 * only; the later ones have equal lengths. */
static struct source_key *keys_jump(struct source *source, const char **line, size_t next)
{
    if (next >= source->key_count || source->keys[next].at || !source->keys[next].gap)
        return NULL;
    const char *there = *line + source->keys[next].gap;
    bool begins = there < source->text + source->length && there[-1] == '\n';
    if (!begins || !key_match(&source->keys[next], there))
        return NULL;
    *line = there;
    return &source->keys[next];
}

/* Called for a key found at `line`: records what helps to find it in the next text. */
static void key_found(struct source *source, struct source_key *key, struct source_key *before,
                      const char *line, const char *line_before, unsigned number)
{
    key->line = number;
    key->gap = (size_t)(line - line_before);
    if (before)
        before->after = (size_t)(key - source->keys);
}

/* Finds the keys line by line; with `jump` it skips the lines between one key and the next where
 * possible. Returns how many keys were not found. */
static size_t keys_walk(struct source *source, bool jump)
{
    size_t left = source->key_count, next = 0;
    unsigned number = 0;
    struct source_key *last = NULL, *jumped = NULL;
    const char *last_line = source->text;
    for (size_t i = 0; i < source->key_count; i++)
        source->keys[i].at = NULL;
    for (const char *line = source->text; *line && left; number++) {
        struct source_key *key = jumped;
        if (!key && keys_may_match(source, line))
            key = keys_match(source, line, next);
        jumped = NULL;
        if (key) {
            key_found(source, key, last, line, last_line, number);
            last = key;
            last_line = line;
            next = key->after;
            left--;
            jumped = jump ? keys_jump(source, &line, next) : NULL;
        }
        if (!jumped)
            line = opl_next_line(line);
    }
    return left;
}

/* Finds all keys; if jumping missed one, searches all lines again. */
static void keys_find(struct source *source)
{
    bool jump = source->star != NULL;
    size_t left = keys_walk(source, jump);
    if (left && jump)
        left = keys_walk(source, false);
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
    if (source->is->pairs) {
        source_find_pairs(source);
        return ERROR_SUCCESS;
    }
    /* in system-wide files all keys are usually in the same lines as in the last text */
    bool found = source->keys_sorted;
    const char *line = source->text;
    unsigned number = 0;
    for (size_t i = 0; found && i < source->key_count; i++) {
        struct source_key *key = &source->keys[source->keys[i].order];
        for (; number < key->line && *line; number++)
            line = opl_next_line(line);
        found = key_match(key, line);
    }
    if (!found)
        keys_find(source);
    return ERROR_SUCCESS;
}

/* ---- words ---- */

/* Finds the end of the second word of a stat line. This word is in parentheses and may itself
 * contain blanks, parentheses and line ends, so it ends at the last parenthesis of the file. */
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

void source_request_word(struct source *source, unsigned number)
{
    source->columns_requested |= (uint64_t)1 << (number - 1);
    if (number > source->words_wanted)
        source->words_wanted = number;
}

static bool is_requested(const struct source *source, unsigned number)
{
    return number == 0 || source->columns_requested >> (number - 1) & 1;
}

/* Parses the number at the start of a word and returns the word's end. *ret_whole: the whole word
 * is a number; otherwise *ret is 0. */
static const char *split_number(const char *word, uint64_t *ret, bool *ret_whole)
{
    const char *at = word;
    uint64_t number = text_number(&at);
    bool whole = at > word && (*at == ' ' || *at == '\n' || *at == '\t' || !*at);
    *ret = whole ? number : 0;
    *ret_whole = whole;
    return whole ? at : skip_word(at);
}

static void split_words(struct source *source, const char *line)
{
    const char *at = skip_blanks(line);
    unsigned count = 0;
    source->word_count = 0;
    source->words_odd = 0;
    source->name = NULL;
    while (*at && *at != '\n' && count < source->words_wanted) {
        count++;
        bool whole = true;
        at = is_requested(source, count) ? split_number(at, &source->words[count], &whole)
                                         : skip_word(at);
        if (!whole)
            source->words_odd |= (uint64_t)1 << (count - 1);
        at = skip_blanks(at);
        if (count == 1 && source->is->stat) {
            at = skip_blanks(split_name(source, at));
            count += source->name != NULL;
        }
    }
    source->word_count = count;
}

bool source_has_number(const struct source *source, unsigned number)
{
    return number <= source->word_count && !(source->words_odd >> (number - 1) & 1);
}

LSTATUS source_load_words(opl_reading *reading, struct source *source, unsigned wanted)
{
    LSTATUS status = source_load(reading, source);
    if (status || wanted > OBJECT_MAX_WORDS)
        return status ? status : ERROR_INVALID_PARAMETER;
    bool line = source == reading->line_source;
    uint64_t serial = line ? reading->serial : source->read_for;
    if (source->words_for == serial && is_requested(source, wanted))
        return ERROR_SUCCESS;
    if (wanted)
        source_request_word(source, wanted);
    source->words_for = serial;
    split_words(source, line ? reading->line : source->text);
    return ERROR_SUCCESS;
}
