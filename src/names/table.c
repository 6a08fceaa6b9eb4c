/* SPDX-License-Identifier: MIT */
/*
 * Tables of (index, text) and the pairs of a multi-string.
 *
 * A table is filled in any order, sorted once and then searched. Texts are interned and never
 * freed, so that a base may be rebuilt while a caller still reads a name of the old one.
 */
#include "names/table.h"

#include <stdio.h>
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
struct string_block {
    struct string_block *next;
    size_t used, capacity;
    char text[];
};
static struct string_block *blocks;
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
        struct string_block *block = malloc(sizeof *block + capacity);
        if (!block)
            return NULL;
        *block = (struct string_block){.next = blocks, .capacity = capacity};
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
        struct string_block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
    free(places);
    places = NULL;
    place_count = interned = 0;
}

/* The address after the string's NUL; NULL: there is none before `end`. */
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

/* ---- a whole base ---- */

/* "Counter 009", "Explain 009": a whole base as one multi-string, made once for each encoding.
 * (docs/windows/articles.md#c24) */

static bool add_string(struct buffer *buffer, bool wide, const char *text)
{
    size_t count = strlen(text) + 1;
    return wide ? utf8_add_as_16(buffer, text, count) : buffer_add(buffer, text, count);
}

static LSTATUS make_base_text(const struct name_table *table, bool wide, struct buffer *ret)
{
    char index[16];
    for (size_t i = 0; i < table->count; i++) {
        snprintf(index, sizeof index, "%u", (unsigned)table->entries[i].index);
        add_string(ret, wide, index);
        add_string(ret, wide, table->entries[i].text);
    }
    add_string(ret, wide, ""); /* a multi-string ends with an empty string */
    LSTATUS status = buffer_status(ret);
    if (status != ERROR_SUCCESS)
        buffer_done(ret);
    return status;
}

/* The size rules of name queries (docs/windows/articles.md#c108, docs/windows/queries.md#c3):
 * unlike that of performance data, the size can be queried. */
static LSTATUS hand_out(const struct buffer *text, void *data, DWORD *size)
{
    DWORD capacity = *size;
    *size = (DWORD)text->len;
    if (!data)
        return ERROR_SUCCESS;
    if (capacity < text->len)
        return ERROR_MORE_DATA;
    memcpy(data, text->data, text->len);
    return ERROR_SUCCESS;
}

static LSTATUS answer(enum names_part part, uint32_t language, bool wide, void *data, DWORD *size)
{
    LSTATUS status = names_refresh();
    if (status != ERROR_SUCCESS)
        return status;
    struct name_language *base = names_base(language);
    if (!base)
        return ERROR_NOT_ENOUGH_MEMORY;
    struct buffer *text = &base->text[part][wide];
    if (!text->len)
        status = make_base_text(&base->merged[part], wide, text);
    DWORD capacity = data ? *size : 0;
    if (!status)
        status = hand_out(text, data, size);
    const char *what = part == NAMES_COUNTER ? "names" : "explanations";
    if (data)
        trace("names", "%s wanted in %03X, found in %03X; %zu bytes, capacity %u: %s", what,
              (unsigned)language, (unsigned)base->id, text->len, (unsigned)capacity,
              status_text(status));
    else
        trace("names", "%s wanted in %03X, found in %03X; size queried: %zu bytes", what,
              (unsigned)language, (unsigned)base->id, text->len);
    return status;
}

LSTATUS names_text(enum names_part part, uint32_t language, bool wide, void *data, DWORD *size)
{
    if (!size)
        return ERROR_INVALID_PARAMETER;
    lock_take(&names_lock);
    LSTATUS status = answer(part, language, wide, data, size);
    lock_release(&names_lock);
    return status;
}
