/* SPDX-License-Identifier: MIT */
/*
 * Values of all instances that match a wildcard. An instance is found in the previous sample by
 * name and number: mostly at the same position, else by a hash table that is built when it is
 * needed.
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

void item_set_clear(struct item_set *set)
{
    set->count = 0;
    set->wide_bytes = 0;
    set->table_made = false;
    buffer_clear(&set->names);
}

/* ---- the table ---- */

/* The slot of the name and number, or the empty one where to insert it. */
static uint32_t *slot_of(const struct item_set *set, const struct instance_key *key)
{
    uint64_t mixed = (key->hash + key->number) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t mask = set->table_capacity - 1, at = (uint32_t)(mixed >> 32) & mask;
    for (; set->table[at]; at = (at + 1) & mask) {
        const struct item *item = &set->items[set->table[at] - 1];
        if (item->hash == key->hash && item->number == key->number &&
            !text_compare_fold_n(set->names.data + item->name, item->length, key->name,
                                 key->length))
            break;
    }
    return &set->table[at];
}

static struct instance_key key_of(const struct item_set *set, const struct item *item)
{
    return (struct instance_key){set->names.data + item->name, item->length, item->hash,
                                 item->number};
}

static bool make_table(struct item_set *set)
{
    uint32_t capacity = 16;
    while (capacity / 4 < set->count)
        capacity *= 2;
    if (capacity > set->table_capacity) {
        uint32_t *table = reallocarray(set->table, capacity, sizeof *table);
        if (!table)
            return false;
        set->table = table;
        set->table_capacity = capacity;
    }
    memset(set->table, 0, set->table_capacity * sizeof *set->table);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct instance_key key = key_of(set, &set->items[i]);
        *slot_of(set, &key) = i + 1;
    }
    return set->table_made = true;
}

/* ---- items ---- */

static bool capacity_for_one(struct item_set *set)
{
    if (set->count < set->capacity)
        return true;
    uint32_t capacity = set->capacity ? set->capacity * 2 : 16;
    struct item *items = reallocarray(set->items, capacity, sizeof *items);
    if (!items)
        return false;
    set->items = items;
    set->capacity = capacity;
    return true;
}

/* The key's name is NUL-terminated. */
bool item_add(struct item_set *set, const struct instance_key *key, const struct sample *sample)
{
    if (!capacity_for_one(set) || set->names.len + key->length >= UINT32_MAX)
        return false;
    set->items[set->count] = (struct item){.sample = *sample,
                                           .hash = key->hash,
                                           .name = (uint32_t)set->names.len,
                                           .length = (uint32_t)key->length,
                                           .number = key->number};
    if (!buffer_add(&set->names, key->name, key->length + 1))
        return false;
    set->wide_bytes += utf8_to_16(key->name, key->length + 1, NULL, 0) * sizeof(uint16_t);
    set->count++;
    if (set->count > set->table_capacity / 2)
        set->table_made = false;
    else if (set->table_made)
        *slot_of(set, key) = set->count;
    return true;
}

const struct item *item_find_key(struct item_set *set, const struct instance_key *key,
                                 uint32_t hint)
{
    if (hint < set->count) {
        const struct item *item = &set->items[hint];
        if (item->hash == key->hash && item->number == key->number &&
            !text_compare_fold_n(set->names.data + item->name, item->length, key->name,
                                 key->length))
            return item;
    }
    if (!set->count || (!set->table_made && !make_table(set)))
        return NULL;
    uint32_t slot = *slot_of(set, key);
    return slot ? &set->items[slot - 1] : NULL;
}

uint32_t item_set_number(struct item_set *set, const char *name, size_t length, uint64_t hash)
{
    struct instance_key key = {name, length, hash, 0};
    while (item_find_key(set, &key, UINT32_MAX))
        key.number++;
    return key.number;
}

const struct item *item_find(struct item_set *set, const struct item_set *of,
                             const struct item *item, uint32_t hint)
{
    const struct instance_key key = key_of(of, item);
    return item_find_key(set, &key, hint);
}

/* ---- writing an array ---- */

/* A counter of one instance is an array of one. */
struct array {
    struct counter *counter;
    struct item_set *set;
    uint32_t count;
    const char *only; /* the only instance's name, if it is not a wildcard */
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

/* Writes the name and returns its address; advances *cursor behind it. */
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
    char *cursor = fits && items ? (char *)(out + array.count) : NULL;
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
    char *cursor = fits && items ? (char *)(out + array.count) : NULL;
    for (uint32_t i = 0; fits && i < array.count; i++) {
        out[i].szName = put_name(&array, i, wide, &cursor);
        cook_item(&array, i, format, &out[i].FmtValue);
    }
    counter_unlock(counter);
    return status;
}
