/* SPDX-License-Identifier: MIT */
/*
 * Parses a value name of HKEY_PERFORMANCE_DATA.
 *
 * The first word decides. What Microsoft's documents do not state is decided thus:
 *   - only blanks are the same as ""; blanks around Global and Costly are ignored;
 *   - in a list, words that are not a title index are ignored ("2 abc" is the same as 2); if none
 *     is left ("abc", "99999999999", "Global Costly"), the answer is an empty block without
 *     providers;
 *   - the words with Metadata query no provider: Perflib has no "Supports Metadata" here;
 *   - "Foreign" without a machine queries no provider;
 *   - in a query for names the second word is the language if it is hexadecimal ("Counter 00C",
 *     "counters 9"); otherwise the language is English ("Counter9", "Help xyz").
 */
#include "query/query.h"

#include <string.h>

enum { LANGUAGE_ENGLISH_ID = 0x009 };

static const struct {
    const char *prefix;
    enum query_kind kind;
} text_queries[] = {
    {"Counter", QUERY_NAMES},
    {"Help",    QUERY_HELPS},
    {"Explain", QUERY_HELPS},
};

/* Keywords that stand alone, and the text that providers get. OLD_Global means all objects except
 * counter sets, which this library does not have. (docs/windows/queries.md#c2) */
static const struct {
    const char *word, *canonical;
    enum query_kind kind;
} keywords[] = {
    {"Global",     "Global", QUERY_GLOBAL},
    {"OLD_Global", "Global", QUERY_GLOBAL},
    {"Costly",     "Costly", QUERY_COSTLY},
};

static const char foreign[] = "Foreign";

enum query_kind query_text_kind(const char *text)
{
    for (size_t i = 0; text && i < COUNT(text_queries); i++)
        if (text_starts_fold(text, text_queries[i].prefix))
            return text_queries[i].kind;
    return QUERY_NOTHING;
}

static uint32_t language_of(const char *text)
{
    uint32_t language;
    size_t count;
    text_word(&text, &count);
    const char *word = text_word(&text, &count);
    return word && text_hex(word, count, &language) ? language : LANGUAGE_ENGLISH_ID;
}

/* Returns the position of `index` in query->objects, which ascend; if `index` is missing, the
 * position at which to insert it. */
static size_t place_of(const struct query *query, uint32_t index)
{
    size_t low = 0, high = query->object_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (query->objects[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool query_wants_object(const struct query *query, uint32_t index)
{
    size_t place = place_of(query, index);
    return place < query->object_count && query->objects[place] == index;
}

static LSTATUS parse_objects(const char *text, struct query *ret)
{
    const char *word;
    size_t count;
    while ((word = text_word(&text, &count))) {
        uint32_t index;
        if (!text_decimal(word, count, &index) || query_wants_object(ret, index))
            continue;
        if (ret->object_count == LIMIT_QUERY_OBJECTS)
            return ERROR_INVALID_PARAMETER;
        size_t place = place_of(ret, index);
        uint32_t *at = &ret->objects[place];
        memmove(at + 1, at, (ret->object_count - place) * sizeof *at);
        *at = index;
        ret->object_count++;
    }
    return ERROR_SUCCESS;
}

static LSTATUS parse_foreign(const char *rest, struct query *ret)
{
    ret->machine = text_word(&rest, &ret->machine_count);
    if (!ret->machine)
        return ERROR_SUCCESS;
    ret->kind = QUERY_FOREIGN;
    return parse_objects(rest, ret);
}

LSTATUS query_parse(const char *text, struct query *ret)
{
    ret->kind = QUERY_NOTHING;
    ret->text = ret->storage;
    ret->machine = NULL;
    ret->machine_count = 0;
    ret->language = LANGUAGE_ENGLISH_ID;
    ret->object_count = 0;
    ret->storage[0] = '\0';
    if (!text || !text[strspn(text, " \t")]) {
        ret->kind = QUERY_GLOBAL;
        return ERROR_SUCCESS;
    }
    size_t size = strnlen(text, sizeof ret->storage), count, more;
    if (size == sizeof ret->storage || utf8_to_16(text, size, NULL, 0) > LIMIT_QUERY_CHARS)
        return ERROR_INVALID_PARAMETER;
    memcpy(ret->storage, text, size + 1);
    ret->kind = query_text_kind(ret->text);
    if (ret->kind != QUERY_NOTHING) {
        ret->language = language_of(ret->text);
        return ERROR_SUCCESS;
    }
    const char *rest = ret->text, *first = text_word(&rest, &count);
    if (!text_compare_fold_n(first, count, foreign, strlen(foreign))) {
        memcpy(ret->storage + (first - ret->text), foreign, strlen(foreign));
        ret->text = first;
        return parse_foreign(rest, ret);
    }
    bool alone = !text_word(&rest, &more);
    for (size_t i = 0; alone && i < COUNT(keywords); i++)
        if (!text_compare_fold_n(first, count, keywords[i].word, strlen(keywords[i].word))) {
            ret->kind = keywords[i].kind;
            strcpy(ret->storage, keywords[i].canonical);
            return ERROR_SUCCESS;
        }
    LSTATUS status = parse_objects(ret->text, ret);
    if (ret->object_count)
        ret->kind = QUERY_OBJECTS;
    return status;
}
