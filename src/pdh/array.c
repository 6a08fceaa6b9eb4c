/* SPDX-License-Identifier: MIT */
/*
 * Values of all instances that a wildcard met. An instance is found in the sample before by name
 * and number: mostly at the same place, else by a table that is made when it is needed.
 */
#include "pdh/query.h"

#include <stdlib.h>
#include <string.h>

void item_set_done(struct item_set *set)
{
    free(set->items);
    free(set->table);
    buffer_done(&set->names);
    *set = (struct item_set){0};
}

/* ---- an instance in another set ---- */

static bool same_item(const struct item_set *left_set, const struct item *left,
                      const struct item_set *right_set, const struct item *right)
{
    return left->hash == right->hash && left->number == right->number &&
           !text_compare_fold_n(left_set->names.data + left->name, left->length,
                                right_set->names.data + right->name, right->length);
}

static uint32_t place_of(const struct item_set *set, const struct item *item)
{
    uint64_t hash = (item->hash + item->number) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32) & (set->table_room - 1);
}

static bool make_table(struct item_set *set)
{
    uint32_t room = 16;
    while (room / 2 < set->count)
        room *= 2;
    if (room > set->table_room) {
        uint32_t *table = reallocarray(set->table, room, sizeof *table);
        if (!table)
            return false;
        set->table = table;
        set->table_room = room;
    }
    memset(set->table, 0, set->table_room * sizeof *set->table);
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t at = place_of(set, &set->items[i]);
        while (set->table[at])
            at = (at + 1) & (set->table_room - 1);
        set->table[at] = i + 1;
    }
    return set->table_made = true;
}

const struct item *item_find(struct item_set *set, const struct item_set *of,
                             const struct item *item, uint32_t hint)
{
    if (hint < set->count && same_item(set, &set->items[hint], of, item))
        return &set->items[hint];
    if (!set->table_made && !make_table(set))
        return NULL;
    uint32_t at = place_of(set, item);
    for (; set->table[at]; at = (at + 1) & (set->table_room - 1)) {
        const struct item *found = &set->items[set->table[at] - 1];
        if (same_item(set, found, of, item))
            return found;
    }
    return NULL;
}

/* ---- what an array needs ---- */

/* A counter of one instance is an array of one. */
struct array {
    struct counter *counter;
    struct item_set *set;
    uint32_t count;
    const char *only; /* the one instance's name, if it is no wildcard */
};

static void array_of(struct counter *counter, struct array *ret)
{
    *ret = (struct array){.counter = counter, .set = &counter->sets[counter->turn]};
    ret->count = ret->set->count;
    if (!counter->wild) {
        ret->only = counter->path.whole ? counter->path.whole : "";
        ret->count = counter->newest.raw.CStatus == PDH_CSTATUS_VALID_DATA;
    }
}

static size_t bytes_of_names(const struct array *array, bool wide)
{
    if (!array->only)
        return wide ? array->set->wide_bytes : array->set->names.len;
    size_t length = strlen(array->only) + 1;
    if (!array->count)
        return 0;
    return wide ? utf8_to_16(array->only, length, NULL, 0) * sizeof(uint16_t) : length;
}

static PDH_STATUS measure(const struct array *array, size_t item_size, bool wide, DWORD *size,
                          DWORD *count, bool *ret_fits)
{
    size_t needed = array->count * item_size + bytes_of_names(array, wide);
    *ret_fits = needed <= *size;
    if (needed > UINT32_MAX)
        return (PDH_STATUS)PDH_INSUFFICIENT_BUFFER;
    *size = (DWORD)needed;
    *count = array->count;
    return *ret_fits ? 0 : (PDH_STATUS)PDH_MORE_DATA;
}

static const char *name_of(const struct array *array, uint32_t at, size_t *ret_length)
{
    if (array->only) {
        *ret_length = strlen(array->only);
        return array->only;
    }
    *ret_length = array->set->items[at].length;
    return array->set->names.data + array->set->items[at].name;
}

/* Writes the name's text and returns where it is; *cursor goes behind it. */
static void *put_name(const struct array *array, uint32_t at, bool wide, char **cursor)
{
    size_t length;
    const char *name = name_of(array, at, &length);
    void *start = *cursor;
    if (wide)
        *cursor += utf8_to_16(name, length + 1, (uint16_t *)start, SIZE_MAX) * sizeof(uint16_t);
    else {
        memcpy(start, name, length + 1);
        *cursor += length + 1;
    }
    return start;
}

/* ---- raw ---- */

PDH_STATUS counter_raw_array(PDH_HCOUNTER handle, bool wide, DWORD *size, DWORD *count, void *items)
{
    PDH_RAW_COUNTER_ITEM_A *out = items;
    struct array array;
    bool fits;
    if (!size || !count || (*size && !items))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    array_of(counter, &array);
    PDH_STATUS status = measure(&array, sizeof *out, wide, size, count, &fits);
    char *cursor = (char *)(out + array.count);
    for (uint32_t i = 0; fits && i < array.count; i++) {
        out[i].szName = put_name(&array, i, wide, &cursor);
        out[i].RawValue = array.only ? counter->newest.raw : array.set->items[i].sample.raw;
    }
    counter_unlock(counter);
    return status;
}

/* ---- cooked ---- */

static void cook_item(const struct array *array, uint32_t at, DWORD format,
                      PDH_FMT_COUNTERVALUE *ret)
{
    const struct counter *counter = array->counter;
    if (array->only) {
        cook_samples(counter, format, &counter->newest, &counter->before, counter->comparable, ret);
        return;
    }
    const struct item *item = &array->set->items[at], *before = NULL;
    if (counter->comparable)
        before = item_find(&array->counter->sets[!counter->turn], array->set, item, at);
    cook_samples(counter, format, &item->sample, before ? &before->sample : NULL,
                 counter->comparable, ret);
}

/* Each value has its own status in CStatus. */
PDH_STATUS counter_value_array(PDH_HCOUNTER handle, DWORD format, bool wide, DWORD *size,
                               DWORD *count, void *items)
{
    PDH_FMT_COUNTERVALUE_ITEM_A *out = items;
    struct array array;
    bool fits;
    if (!size || !count || (*size && !items) || !format_valid(format))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    array_of(counter, &array);
    PDH_STATUS status = measure(&array, sizeof *out, wide, size, count, &fits);
    char *cursor = (char *)(out + array.count);
    for (uint32_t i = 0; fits && i < array.count; i++) {
        out[i].szName = put_name(&array, i, wide, &cursor);
        cook_item(&array, i, format, &out[i].FmtValue);
    }
    counter_unlock(counter);
    return status;
}
