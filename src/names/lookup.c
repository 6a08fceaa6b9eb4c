/* SPDX-License-Identifier: MIT */
/* Queries of the merged bases: languages, an index's text, a name's index, the maxima. */
#include "names/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANGUAGE_ID_SIZE = 8 };

bool names_language_installed(uint32_t language)
{
    lock_take(&names_lock);
    const struct name_language *base =
        names_refresh() == ERROR_SUCCESS ? names_base_exactly(names_language(language)) : NULL;
    bool installed = base && base->installed;
    lock_release(&names_lock);
    return installed;
}

LSTATUS names_each_language(bool (*each)(void *self, const char *id), void *self)
{
    uint32_t ids[MOST_LANGUAGES];
    size_t count = 0;
    lock_take(&names_lock);
    LSTATUS status = names_refresh();
    for (size_t i = 0; i < names_language_count; i++)
        if (names_languages[i]->installed)
            ids[count++] = names_languages[i]->id;
    lock_release(&names_lock);
    for (size_t i = 0; i < count; i++) {
        char id[LANGUAGE_ID_SIZE];
        snprintf(id, sizeof id, "%03X", (unsigned)(ids[i] & 0xffff));
        if (!each(self, id))
            break;
    }
    return status;
}

const char *names_lookup(uint32_t index, uint32_t language)
{
    const char *text = NULL;
    lock_take(&names_lock);
    const struct name_language *base =
        names_refresh() == ERROR_SUCCESS ? names_base(language) : NULL;
    if (base) {
        enum names_part part = names_part_of(index);
        text = name_table_find(&base->merged[part], index);
        if (!text) /* a program may have written it into the other table */
            text = name_table_find(&base->merged[NAMES_PARTS - 1 - part], index);
    }
    lock_release(&names_lock);
    return text;
}

static int compare_names(const void *left, const void *right)
{
    const struct name_entry *l = left, *r = right;
    int order = text_compare_fold(l->text, r->text);
    return order ? order : l->index < r->index ? -1 : l->index > r->index;
}

static bool order_names(struct name_language *base)
{
    const struct name_table *table = &base->merged[NAMES_COUNTER];
    if (base->by_name || !table->count)
        return base->by_name != NULL;
    base->by_name = malloc(table->count * sizeof *base->by_name);
    if (!base->by_name)
        return false;
    memcpy(base->by_name, table->entries, table->count * sizeof *base->by_name);
    qsort(base->by_name, table->count, sizeof *base->by_name, compare_names);
    return true;
}

static uint32_t find_name(struct name_language *base, const char *name)
{
    size_t count = base->merged[NAMES_COUNTER].count, low = 0, high = count;
    if (!order_names(base))
        return 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (text_compare_fold(base->by_name[middle].text, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    /* the first pair is a number, not a name */
    if (low < count && base->by_name[low].index == NAMES_FIRST_PAIR)
        low++;
    bool found = low < count && text_compare_fold(base->by_name[low].text, name) == 0;
    return found ? base->by_name[low].index : 0;
}

uint32_t names_find(const char *name, uint32_t language)
{
    lock_take(&names_lock);
    struct name_language *base = names_refresh() == ERROR_SUCCESS ? names_base(language) : NULL;
    uint32_t index = base ? find_name(base, name) : 0;
    lock_release(&names_lock);
    return index;
}

static uint32_t highest(const struct name_table *table, uint32_t parity, uint32_t at_least)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->entries[i].index % 2 == parity && table->entries[i].index > at_least)
            at_least = table->entries[i].index;
    return at_least;
}

static uint32_t larger(uint32_t left, uint32_t right)
{
    return left > right ? left : right;
}

/* Indices that are shipped or written by hand count, loaded or not. */
static void note_highest(const struct name_language *base, uint32_t *counter, uint32_t *help)
{
    *counter = larger(*counter, base->highest[NAMES_COUNTER]);
    *help = larger(*help, base->highest[NAMES_HELP]);
    const struct name_table *const tables[] = {base->hand, base->given};
    for (size_t i = 0; i < COUNT(tables); i++) {
        *counter = highest(&tables[i][NAMES_COUNTER], 0, *counter);
        *help = highest(&tables[i][NAMES_HELP], 1, *help);
    }
}

static uint32_t past_block(uint32_t highest, uint32_t last)
{
    return highest >= NAMES_BLOCK_FIRST && highest < last ? last : highest;
}

LSTATUS names_last(uint32_t *ret_counter, uint32_t *ret_help)
{
    lock_take(&names_lock);
    LSTATUS status = names_refresh();
    uint32_t counter = NAMES_BASE_INDEX - 1, help = NAMES_BASE_INDEX;
    for (size_t i = 0; !status && i < names_language_count; i++) {
        if (!names_note_highest(names_languages[i]))
            status = ERROR_NOT_ENOUGH_MEMORY;
        note_highest(names_languages[i], &counter, &help);
    }
    lock_release(&names_lock);
    if (status == ERROR_SUCCESS) {
        *ret_counter = past_block(counter, NAMES_BLOCK_LAST - 1);
        *ret_help = past_block(help, NAMES_BLOCK_LAST);
    }
    return status;
}
