/* SPDX-License-Identifier: MIT */
/*
 * Tables of (index, text) and the pairs of a multi-string.
 *
 * A table is filled in any order, sorted once and then searched. Texts are interned and never
 * freed, so that a base may be rebuilt while a caller still reads a name of the old one.
 */
#include "names/table.h"

#include <stdlib.h>
#include <string.h>

enum names_part names_part_of(uint32_t index)
{
    return index % 2 == 0 || index == NAMES_FIRST_PAIR ? NAMES_COUNTER : NAMES_HELP;
}

void name_table_done(struct name_table *table)
{
    free(table->entries);
    *table = (struct name_table){0};
}

bool name_table_add(struct name_table *table, uint32_t index, const char *text)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 64;
        struct name_entry *entries = reallocarray(table->entries, capacity, sizeof *entries);
        if (!entries)
            return false;
        table->entries = entries;
        table->capacity = capacity;
    }
    table->entries[table->count] = (struct name_entry){index, (uint32_t)table->count, text};
    table->count++;
    return true;
}

bool name_table_add_all(struct name_table *table, const struct name_table *more)
{
    for (size_t i = 0; i < more->count; i++)
        if (!name_table_add(table, more->entries[i].index, more->entries[i].text))
            return false;
    return true;
}

static int compare_entries(const void *left, const void *right)
{
    const struct name_entry *l = left, *r = right;
    if (l->index != r->index)
        return l->index < r->index ? -1 : 1;
    return l->order < r->order ? -1 : l->order > r->order;
}

void name_table_sort(struct name_table *table)
{
    size_t kept = 0;
    if (!table->count)
        return;
    qsort(table->entries, table->count, sizeof *table->entries, compare_entries);
    for (size_t i = 1; i < table->count; i++)
        if (table->entries[i].index != table->entries[kept].index)
            table->entries[++kept] = table->entries[i];
    table->count = kept + 1;
}

const char *name_table_find(const struct name_table *table, uint32_t index)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table->entries[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < table->count && table->entries[low].index == index;
    return found ? table->entries[low].text : NULL;
}

/* ---- interned texts, kept until the process ends; guarded by names_lock ---- */

enum { BLOCK_BYTES = 64 << 10, FIRST_PLACES = 1 << 12 };
struct block {
    struct block *next;
    size_t used, capacity;
    char text[];
};
static struct block *blocks;
static const char **places; /* a hash table, at most half full */
static size_t place_count, interned;

static size_t hash_of(const char *text, size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ count;
    for (; count >= 8; text += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, text, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    for (; count; count--)
        hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ hash >> 32);
}

static size_t place_of(const char *text, size_t count)
{
    size_t place = hash_of(text, count) & (place_count - 1);
    while (places[place] && (strncmp(places[place], text, count) || places[place][count]))
        place = (place + 1) & (place_count - 1);
    return place;
}

static bool make_places(void)
{
    const char **old = places;
    size_t old_count = place_count, count = old_count ? old_count * 2 : FIRST_PLACES;
    const char **fresh = calloc(count, sizeof *fresh);
    if (!fresh)
        return false;
    places = fresh;
    place_count = count;
    for (size_t i = 0; i < old_count; i++)
        if (old[i])
            places[place_of(old[i], strlen(old[i]))] = old[i];
    free(old);
    return true;
}

static char *make_text(size_t size)
{
    if (!blocks || blocks->capacity - blocks->used < size) {
        size_t capacity = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        struct block *block = malloc(sizeof *block + capacity);
        if (!block)
            return NULL;
        *block = (struct block){.next = blocks, .capacity = capacity};
        blocks = block;
    }
    char *text = blocks->text + blocks->used;
    blocks->used += size;
    return text;
}

const char *name_intern(const char *text, size_t count)
{
    count = strnlen(text, count);
    if (interned * 2 >= place_count && !make_places())
        return NULL;
    size_t place = place_of(text, count);
    if (places[place])
        return places[place];
    char *copy = make_text(count + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, count);
    copy[count] = '\0';
    interned++;
    return places[place] = copy;
}

void name_intern_forget(void)
{
    while (blocks) {
        struct block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
    free(places);
    places = NULL;
    place_count = interned = 0;
}

/* The address behind the string's NUL; NULL: there is none before `end`. */
static const char *string_end(const char *string, const char *end)
{
    const char *nul = string < end ? memchr(string, '\0', (size_t)(end - string)) : NULL;
    return nul ? nul + 1 : NULL;
}

bool name_pairs_each(const char *multi, size_t size,
                     bool (*each)(void *self, uint32_t index, const char *text), void *self)
{
    const char *at = multi, *end = multi + size;
    while (at < end && *at) {
        const char *text = string_end(at, end);
        uint32_t index;
        bool is_index = text && text_decimal(at, (size_t)(text - 1 - at), &index);
        const char *next = text ? string_end(text, end) : NULL;
        if (is_index && next && *text && !each(self, index, text))
            return false;
        /* damage: if this is not an index, the next string may be one */
        at = is_index ? next : text;
        if (!at)
            break; /* an index without its text, or a truncated string */
    }
    return true;
}
