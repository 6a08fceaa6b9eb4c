/* SPDX-License-Identifier: MIT */
/*
 * Tables of (index, text) and the pairs of a multi-string.
 *
 * A table is filled in any order, sorted once and then searched. It owns its texts.
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
    buffer_done(&table->texts);
    *table = (struct name_table){0};
}

bool name_table_add(struct name_table *table, uint32_t index, const char *text, size_t count)
{
    if (!list_grow(&table->entries, table->count, &table->capacity, sizeof *table->entries))
        return false;
    size_t offset = table->texts.len;
    if (offset + count >= UINT32_MAX || !buffer_add(&table->texts, text, count) ||
        !buffer_add_byte(&table->texts, '\0'))
        return false;
    table->entries[table->count++] = (struct name_entry){index, (uint32_t)offset};
    return true;
}

bool name_table_add_all(struct name_table *table, const struct name_table *more)
{
    for (size_t i = 0; i < more->count; i++) {
        const char *text = more->texts.data + more->entries[i].text;
        if (!name_table_add(table, more->entries[i].index, text, strlen(text)))
            return false;
    }
    return true;
}

static int compare_entries(const void *left, const void *right)
{
    const struct name_entry *l = left, *r = right;
    if (l->index != r->index)
        return l->index < r->index ? -1 : 1;
    return l->text < r->text ? -1 : l->text > r->text;
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
    return found ? table->texts.data + table->entries[low].text : NULL;
}

/* Returns the address after the string's NUL; NULL: there is no NUL before `end`. */
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
        /* damaged data: if this string is not an index, the next one may be */
        at = is_index ? next : text;
        if (!at)
            break; /* the last string is not followed by a text, or has no NUL */
    }
    return true;
}

/* ---- a whole base as one multi-string (docs/windows/articles.md#c24) ---- */

/* Copies the text by the size rules of name queries (docs/windows/articles.md#c108,
 * docs/windows/queries.md#c3): the size can be queried, unlike that of performance data. */
static LSTATUS hand_out(const char *text, size_t length, void *data, DWORD *size)
{
    DWORD capacity = *size;
    *size = (DWORD)length;
    if (!data)
        return ERROR_SUCCESS;
    if (capacity < length)
        return ERROR_MORE_DATA;
    memcpy(data, text, length);
    return ERROR_SUCCESS;
}

static LSTATUS answer(enum names_part part, uint32_t language, bool wide, void *data, DWORD *size)
{
    LSTATUS status = names_refresh();
    if (status != ERROR_SUCCESS)
        return status;
    struct name_language *base = names_base(language);
    const struct name_list *list = names_list_whole(base, part);
    if (!list)
        return ERROR_NOT_ENOUGH_MEMORY;
    size_t length;
    const char *text = name_list_multi(list, &length);
    struct buffer *converted = &base->wide[part];
    if (wide && !converted->len && !utf8_add_as_16(converted, text, length)) {
        buffer_done(converted);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    text = wide ? converted->data : text;
    length = wide ? converted->len : length;
    DWORD capacity = data ? *size : 0;
    status = hand_out(text, length, data, size);
    const char *what = part == NAMES_COUNTER ? "names" : "explanations";
    if (data)
        trace("names", "%s wanted in %03X, found in %03X; %zu bytes, capacity %u: %s", what,
              (unsigned)language, (unsigned)base->id, length, (unsigned)capacity,
              status_text(status));
    else
        trace("names", "%s wanted in %03X, found in %03X; size queried: %zu bytes", what,
              (unsigned)language, (unsigned)base->id, length);
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
