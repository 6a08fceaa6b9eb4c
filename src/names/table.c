/* SPDX-License-Identifier: MIT */
/*
 * Tables of (index, text) and the pairs of a multi-string.
 *
 * A table is filled in any order, sorted once and then searched. Texts are interned and never
 * freed, so that a base may be built anew while a caller still reads a name of the old one.
 */
#include "names/table.h"

#include <search.h>
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
    if (table->count == table->room) {
        size_t room = table->room ? table->room * 2 : 64;
        struct name_entry *entries = reallocarray(table->entries, room, sizeof *entries);
        if (!entries)
            return false;
        table->entries = entries;
        table->room = room;
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

static void *interned; /* a tree of texts, guarded by names_lock */

static int compare_texts(const void *left, const void *right)
{
    return strcmp(left, right);
}

const char *name_intern(const char *text, size_t count)
{
    char *copy = strndup(text, count);
    char **node = copy ? tsearch(copy, &interned, compare_texts) : NULL;
    if (!node || *node != copy)
        free(copy);
    return node ? *node : NULL;
}

void name_intern_forget(void)
{
    tdestroy(interned, free);
    interned = NULL;
}

/* What lies behind the string's NUL; NULL: there is none before `end`. */
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
        /* damage: the string behind what is no index may be one again */
        at = is_index ? next : text;
        if (!at)
            break; /* an index without its text, or a string that was cut */
    }
    return true;
}
