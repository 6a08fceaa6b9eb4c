/* SPDX-License-Identifier: MIT */
/*
 * The titles of one language, read once through the public performance key, so that remote machines
 * need no special code. Several numbers may have the same title.
 */
#include "pdh/live/machine.h"
#include "registry/registry.h"

#include <stdlib.h>
#include <string.h>

struct title {
    uint32_t index;
    uint32_t next; /* position + 1 of the next title with the same hash; 0: none */
    const char *text;
};
struct titles {
    struct buffer multi;
    struct title *items; /* sorted by `index` */
    uint32_t count, mask;
    uint32_t *table; /* heads of the chains, by hash: position + 1 of the first title; 0: none */
};

/* The first pair of the table is the number of pairs, not a title. */
enum { FIRST_PAIR = 1 };

void titles_free(struct titles *titles)
{
    if (!titles)
        return;
    buffer_done(&titles->multi);
    free(titles->items);
    free(titles->table);
    free(titles);
}

static LSTATUS read_multi(HKEY key, const char *query, struct buffer *ret)
{
    enum { MOST_TRIES = 10 };
    LSTATUS status;
    DWORD size = 0;
    int tries = 0;
    do { /* the text may have grown between the two calls */
        buffer_clear(ret);
        if (!buffer_reserve(ret, size))
            return ERROR_NOT_ENOUGH_MEMORY;
        size = (DWORD)ret->capacity;
        status = key_query(key, query, false, NULL, ret->data, &size);
    } while (status == ERROR_MORE_DATA && size > ret->capacity && ++tries < MOST_TRIES);
    if (status == ERROR_MORE_DATA)
        trace("pdh", "\"%s\": %u bytes are needed, %zu are offered after %d tries", query,
              (unsigned)size, ret->capacity, tries);
    ret->len = status ? 0 : size;
    return status;
}

static int by_index(const void *left, const void *right)
{
    const struct title *l = left, *r = right;
    return l->index < r->index ? -1 : l->index > r->index;
}

/* Parses the pairs of "number" and "text"; a pair with an invalid number is skipped. */
static bool take_pairs(struct titles *titles)
{
    const char *cursor = titles->multi.data, *end = cursor + titles->multi.len;
    const char *number, *text;
    bool ordered = true;
    uint32_t capacity = 0;
    while ((number = text_multi_next(&cursor, end)) && (text = text_multi_next(&cursor, end))) {
        struct title title = {.text = text};
        if (!text_decimal(number, strlen(number), &title.index) || title.index == FIRST_PAIR)
            continue;
        if (titles->count == capacity) {
            capacity = capacity ? capacity * 2 : 2048;
            struct title *items = reallocarray(titles->items, capacity, sizeof *items);
            if (!items)
                return false;
            titles->items = items;
        }
        ordered &= !titles->count || titles->items[titles->count - 1].index < title.index;
        titles->items[titles->count++] = title;
    }
    if (!ordered)
        qsort(titles->items, titles->count, sizeof *titles->items, by_index);
    return true;
}

static uint32_t hash_of(const char *name)
{
    return (uint32_t)text_hash_fold(name, strlen(name));
}

/* Inserts the titles from last to first, so that each chain ascends. */
static bool make_table(struct titles *titles)
{
    uint32_t capacity = 16;
    while (capacity < titles->count)
        capacity *= 2;
    titles->mask = capacity - 1;
    titles->table = calloc(capacity, sizeof *titles->table);
    if (!titles->table)
        return false;
    for (uint32_t i = titles->count; i-- > 0;) {
        uint32_t *slot = &titles->table[hash_of(titles->items[i].text) & titles->mask];
        titles->items[i].next = *slot;
        *slot = i + 1;
    }
    return true;
}

LSTATUS titles_load(HKEY key, const char *query, struct titles **ret)
{
    struct titles *titles = calloc(1, sizeof *titles);
    if (!titles)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = read_multi(key, query, &titles->multi);
    if (!status && (!take_pairs(titles) || !make_table(titles)))
        status = ERROR_NOT_ENOUGH_MEMORY;
    if (status)
        titles_free(titles);
    else
        *ret = titles;
    return status;
}

const char *titles_text(const struct titles *titles, uint32_t index)
{
    const struct title wanted = {.index = index};
    const struct title *found =
        titles->count ? bsearch(&wanted, titles->items, titles->count, sizeof wanted, by_index)
                      : NULL;
    return found ? found->text : NULL;
}

size_t titles_numbers(const struct titles *titles, const char *name, uint32_t *ret, size_t capacity)
{
    size_t count = 0;
    for (uint32_t at = titles->table[hash_of(name) & titles->mask]; at;
         at = titles->items[at - 1].next) {
        const struct title *title = &titles->items[at - 1];
        if (text_compare_fold(title->text, name) != 0)
            continue;
        if (count < capacity)
            ret[count] = title->index;
        count++;
    }
    return count;
}
