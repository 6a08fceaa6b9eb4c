/* SPDX-License-Identifier: MIT */
/*
 * Keeps a counter's newest two samples. For a wildcard each sample is a set: of items, which are
 * the instances, and of their values. An instance is found in the previous set by name and number:
 * usually at the same position, otherwise by a hash table that is built when first needed.
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

/* Returns the slot of the table for this name and number; the slot has 0 if the table lacks the
 * pair. */
static uint32_t *slot_of(const struct item_set *set, const struct instance_key *key)
{
    uint64_t mixed = (key->hash + key->number) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t mask = set->table_capacity - 1, at = (uint32_t)(mixed >> 32) & mask;
    for (; set->table[at]; at = (at + 1) & mask) {
        const struct sample_item *item = &set->items[set->table[at] - 1];
        if (item->hash == key->hash && item->number == key->number &&
            !text_compare_fold_n(set->names.data + item->name, item->length, key->name,
                                 key->length))
            break;
    }
    return &set->table[at];
}

static struct instance_key key_of(const struct item_set *set, const struct sample_item *item)
{
    return (struct instance_key){set->names.data + item->name, item->length, item->hash,
                                 item->number};
}

static bool make_table(struct item_set *set)
{
    if (!snapshot_table_clear(&set->table, &set->table_capacity, 4 * (size_t)set->count))
        return false;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct instance_key key = key_of(set, &set->items[i]);
        *slot_of(set, &key) = i + 1;
    }
    return set->table_made = true;
}

/* ---- items ---- */

bool item_add(struct item_set *set, const struct instance_key *key)
{
    if (!list_grow(&set->items, set->count, &set->capacity, sizeof *set->items) ||
        set->names.len + key->length >= UINT32_MAX)
        return false;
    set->items[set->count] = (struct sample_item){.hash = key->hash,
                                                  .name = (uint32_t)set->names.len,
                                                  .length = (uint32_t)key->length,
                                                  .number = key->number};
    if (!buffer_add(&set->names, key->name, key->length + 1))
        return false;
    set->wide_bytes = 0;
    set->count++;
    if (set->count > set->table_capacity / 2)
        set->table_made = false;
    else if (set->table_made)
        *slot_of(set, key) = set->count;
    return true;
}

const struct sample_item *item_find_key(struct item_set *set, const struct instance_key *key,
                                        uint32_t hint)
{
    if (hint < set->count) {
        const struct sample_item *item = &set->items[hint];
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

struct instance_key item_key(const char *name, uint32_t number)
{
    size_t length = strlen(name);
    return (struct instance_key){name, length, text_hash_fold(name, length), number};
}

/* Equal names have the numbers 0, 1, ... without gaps. Finds the first free number: in steps that
 * double, then by binary search. */
uint32_t item_set_number(struct item_set *set, struct instance_key key)
{
    uint32_t used = 0, step = 1; /* numbers below `used` are in the set */
    for (; item_find_key(set, &key, UINT32_MAX); step *= 2) {
        used = key.number + 1;
        key.number += step;
    }
    for (uint32_t free = key.number; used < free;) {
        key.number = used + (free - used) / 2;
        if (item_find_key(set, &key, UINT32_MAX))
            used = key.number + 1;
        else
            free = key.number;
    }
    return used;
}

bool item_add_name(struct item_set *set, const char *name, const struct item_set **like,
                   struct instance_key *ret)
{
    const struct sample_item *twin =
        *like && set->count < (*like)->count ? &(*like)->items[set->count] : NULL;
    if (twin && !strcmp((*like)->names.data + twin->name, name)) {
        *ret = (struct instance_key){name, twin->length, twin->hash, twin->number};
    } else {
        *like = NULL;
        *ret = item_key(name, 0);
        ret->number = item_set_number(set, *ret);
    }
    return item_add(set, ret);
}

/* ---- sets of samples ---- */

static void drop_items(struct sample_set *set)
{
    if (set->items && __atomic_sub_fetch(&set->items->references, 1, __ATOMIC_ACQ_REL) == 0) {
        item_set_done(set->items);
        free(set->items);
    }
    set->items = NULL;
}

void sample_set_done(struct sample_set *set)
{
    drop_items(set);
    buffer_done(&set->samples);
    *set = (struct sample_set){0};
}

static bool is_shared(const struct sample_set *set)
{
    return set->items && __atomic_load_n(&set->items->references, __ATOMIC_ACQUIRE) > 1;
}

/* True if each item has a sample. */
static bool is_complete(const struct sample_set *set)
{
    return set->items && set->items->count == set->count;
}

/* Items that no other set has are used again, with their memory. */
static void clear_items(struct sample_set *set)
{
    if (is_shared(set))
        drop_items(set);
    else if (set->items)
        item_set_clear(set->items);
}

static void share_items(struct sample_set *set, struct item_set *items)
{
    __atomic_add_fetch(&items->references, 1, __ATOMIC_RELAXED);
    drop_items(set);
    set->items = items;
}

/* Replaces the items by copies of those that have samples. False: no memory. */
static bool copy_items(struct sample_set *set)
{
    struct sample_set copy = {0};
    for (; copy.count < set->count; copy.count++) {
        const struct sample_item *item = &set->items->items[copy.count];
        const struct instance_key key = key_of(set->items, item);
        struct item_set *items = copy.count ? copy.items : sample_set_items(&copy);
        if (!items || !item_add(items, &key))
            break;
        items->items[copy.count].identity = item->identity;
    }
    if (copy.count == set->count)
        share_items(set, copy.items);
    drop_items(&copy);
    return copy.count == set->count;
}

struct item_set *sample_set_items(struct sample_set *set)
{
    if (!set->count)
        clear_items(set);
    else if ((is_shared(set) || !is_complete(set)) && !copy_items(set))
        return NULL;
    if (!set->items && (set->items = calloc(1, sizeof *set->items)))
        set->items->references = 1;
    return set->items;
}

static bool push(struct sample_set *set, const struct sample *sample)
{
    const LONGLONG first = sample->raw.FirstValue;
    return set->whole ? buffer_add(&set->samples, sample, sizeof *sample)
                      : buffer_add(&set->samples, &first, sizeof first);
}

/* True if the samples differ in more than their first values. */
static bool differs(const struct sample *one, const struct sample *other)
{
    return one->raw.CStatus != other->raw.CStatus || one->raw.MultiCount != other->raw.MultiCount ||
           one->raw.SecondValue != other->raw.SecondValue ||
           memcmp(&one->raw.TimeStamp, &other->raw.TimeStamp, sizeof one->raw.TimeStamp) != 0;
}

/* Replaces first values by whole samples. False: no memory, the set is unchanged. */
static bool make_whole(struct sample_set *set)
{
    struct sample_set whole = {.whole = true};
    for (uint32_t i = 0; i < set->count; i++) {
        const struct sample sample = sample_set_at(set, i);
        if (!push(&whole, &sample)) {
            buffer_done(&whole.samples);
            return false;
        }
    }
    buffer_done(&set->samples);
    set->samples = whole.samples;
    return set->whole = true;
}

bool sample_set_push(struct sample_set *set, const struct sample *sample)
{
    if (!set->count)
        set->common = *sample;
    if (!set->whole && differs(&set->common, sample) && !make_whole(set))
        return false;
    if (!push(set, sample))
        return false;
    set->count++;
    return true;
}

struct sample sample_set_at(const struct sample_set *set, uint32_t at)
{
    if (set->whole)
        return ((const struct sample *)set->samples.data)[at];
    struct sample sample = set->common;
    sample.raw.FirstValue = ((const LONGLONG *)set->samples.data)[at];
    return sample;
}

bool sample_add(struct sample_set *set, const struct instance_key *key, const struct sample *sample)
{
    struct item_set *items = sample_set_items(set);
    if (!items || !item_add(items, key))
        return false;
    items->items[items->count - 1].identity = sample->identity;
    return sample_set_push(set, sample);
}

uint32_t sample_find(const struct sample_set *set, const struct instance_key *key, uint32_t hint)
{
    const struct sample_item *item = set->items ? item_find_key(set->items, key, hint) : NULL;
    uint32_t at = item ? (uint32_t)(item - set->items->items) : set->count;
    return at < set->count ? at : set->count;
}

PDH_STATUS cook_item(const struct counter *counter, uint32_t at, DWORD format,
                     PDH_FMT_COUNTERVALUE *ret)
{
    const struct sample_set *set = &counter->sets[counter->turn],
                            *old = &counter->sets[!counter->turn];
    const struct instance_key key = key_of(set->items, &set->items->items[at]);
    struct sample newest = sample_set_at(set, at), before;
    uint32_t found = !counter->comparable       ? old->count
                     : set->items == old->items ? at
                                                : sample_find(old, &key, at);
    newest.identity = set->items->items[at].identity;
    if (found < old->count) {
        before = sample_set_at(old, found);
        before.identity = old->items->items[found].identity;
    }
    return cook_samples(counter, format, &newest, found < old->count ? &before : NULL,
                        counter->comparable, ret);
}

/* ---- a counter's samples ---- */

struct sample sample_at(int64_t time, DWORD cstatus)
{
    return (struct sample){
        .raw = {.CStatus = cstatus,
                .TimeStamp = {(DWORD)(uint64_t)time, (DWORD)((uint64_t)time >> 32)},
                .MultiCount = 1}
    };
}

void counter_sampled(struct counter *counter, const struct sample *sample, bool steady)
{
    counter->before = counter->newest;
    counter->newest = *sample;
    counter->comparable = steady && counter->collected > 0;
    counter->collected += counter->collected < 2;
}

/* Returns which set the next sample replaces. A type whose values need no earlier sample has one
 * set only, which saves memory with thousands of instances. */
static unsigned next_turn(const struct counter *counter)
{
    return formula_needs_two(counter->type) ? !counter->turn : counter->turn;
}

struct sample_set *counter_next_set(struct counter *counter)
{
    struct sample_set *set = &counter->sets[next_turn(counter)];
    set->count = 0;
    set->whole = false;
    buffer_clear(&set->samples);
    if (type_is_text(counter->type)) /* the items have texts; others may have the same again */
        clear_items(set);
    return set;
}

void counter_sampled_set(struct counter *counter, bool steady)
{
    counter->turn = next_turn(counter);
    counter->comparable = steady && counter->collected > 0;
    counter->collected += counter->collected < 2;
}

/* ---- values in an answer ---- */

const char *item_text(const struct item_set *set, const struct sample_item *item)
{
    return item->has_text ? set->names.data + item->name + item->length + 1 : NULL;
}

/* Adds an instance to the next set; its text, if the counter is one. False: no memory. */
static bool add_item(struct counter *counter, const struct snapshot *snapshot,
                     const struct snapshot_object *object, const struct snapshot_instance *instance,
                     const opl_counter_view *definition, const struct sample *sample)
{
    enum { MOST_BYTES = 4096 };
    char text[MOST_BYTES];
    struct sample_set *set = &counter->sets[next_turn(counter)];
    bool single = object->view.type.NumInstances == PERF_NO_INSTANCES;
    const char *name = single ? "" : snapshot_full_name(snapshot, instance);
    const struct instance_key key = {name, strlen(name), instance->hash, instance->number};
    if (!sample_add(set, &key, sample))
        return false;
    if (!type_is_text(counter->type) ||
        !opl_counter_text(&snapshot->block, &object->view, &instance->view, definition, text,
                          sizeof text))
        return true;
    set->items->items[set->count - 1].has_text = true;
    return buffer_add(&set->items->names, text, strlen(text) + 1);
}

static void take_value(struct counter *counter, struct snapshot *snapshot,
                       const struct snapshot_object *object,
                       const struct snapshot_instance *instance, const opl_counter_view *definition,
                       struct sample *ret)
{
    opl_sample sample;
    if (!opl_counter_sample(&snapshot->block, &object->view, &instance->view, definition,
                            &sample)) {
        ret->raw.CStatus = PDH_CSTATUS_INVALID_DATA;
        return;
    }
    ret->raw.FirstValue = sample.first;
    ret->raw.SecondValue = sample.second;
    ret->raw.MultiCount = sample.multi_count;
    counter->time_base = sample.time_base;
}

static const struct snapshot_instance *instance_of(const struct counter *counter,
                                                   struct snapshot *snapshot,
                                                   const struct snapshot_object *object)
{
    const struct snapshot_instance *found = NULL;
    if (object->view.type.NumInstances == PERF_NO_INSTANCES)
        return object->instance_count && !counter->path.whole ? snapshot_instances(snapshot, object)
                                                              : NULL;
    for (unsigned i = 0; i < counter->key_count && !found; i++) {
        const struct instance_key *key = &counter->keys[i];
        found = snapshot_find(snapshot, object, key->hash, key->name, key->length, key->number);
    }
    return found;
}

/* True if the item of the next sample, which is perhaps from an earlier answer, is this
 * instance. */
static bool is_next_item(const struct sample_set *set, const struct snapshot *snapshot,
                         const struct snapshot_instance *instance, uint64_t identity)
{
    const struct sample_item *item = &set->items->items[set->count];
    return set->count < set->items->count && item->identity == identity &&
           item->hash == instance->hash && item->number == instance->number &&
           !strcmp(set->items->names.data + item->name, snapshot_full_name(snapshot, instance));
}

/* Where the items of the next set come from: they are those of the answer; they are those of the
 * sample before, as far as they were compared with the answer; or they are added one by one. */
enum origin { ORIGIN_ANSWER, ORIGIN_BEFORE, ORIGIN_NONE };

static enum origin find_items(struct counter *counter, const struct counter *like)
{
    struct sample_set *set = &counter->sets[next_turn(counter)];
    struct item_set *before = counter->sets[counter->turn].items;
    if (like && is_complete(&like->sets[like->turn])) {
        share_items(set, like->sets[like->turn].items);
        return ORIGIN_ANSWER;
    }
    if (!before || set->count || type_is_text(counter->type))
        return ORIGIN_NONE;
    share_items(set, before);
    return ORIGIN_BEFORE;
}

void sample_all(struct counter *counter, struct snapshot *snapshot,
                const struct snapshot_object *object, const opl_counter_view *definition,
                const struct sample *empty, const struct counter *like)
{
    const struct snapshot_instance *instances = snapshot_instances(snapshot, object);
    struct sample_set *set = &counter->sets[next_turn(counter)];
    uint32_t count = object->view.type.NumInstances > 0 ? object->instance_count : 0;
    bool each = counter->path.whole && !strcmp(counter->path.whole, "*"), good = true;
    enum origin origin = find_items(counter, like);
    for (uint32_t i = 0; good && i < count; i++) {
        const char *name = each ? NULL : snapshot_full_name(snapshot, &instances[i]);
        if (!each && !path_match_full(&counter->path, name, instances[i].number))
            continue;
        struct sample sample = *empty;
        take_value(counter, snapshot, object, &instances[i], definition, &sample);
        if (origin != ORIGIN_ANSWER)
            sample.identity = snapshot_identity(snapshot, object, &instances[i]);
        if (origin == ORIGIN_BEFORE && !is_next_item(set, snapshot, &instances[i], sample.identity))
            origin = ORIGIN_NONE;
        good = origin == ORIGIN_NONE
                   ? add_item(counter, snapshot, object, &instances[i], definition, &sample)
                   : sample_set_push(set, &sample);
    }
    if (origin == ORIGIN_BEFORE && !is_complete(set))
        sample_set_items(set); /* other counters share complete items only */
}

void sample_one(struct counter *counter, struct snapshot *snapshot,
                const struct snapshot_object *object, const opl_counter_view *definition,
                struct sample *ret)
{
    const struct snapshot_instance *instance = instance_of(counter, snapshot, object);
    if (instance)
        take_value(counter, snapshot, object, instance, definition, ret);
    else
        ret->raw.CStatus = PDH_CSTATUS_NO_INSTANCE;
    if (instance && formula_needs_two(counter->type)) /* only these depend on the sample before */
        ret->identity = snapshot_identity(snapshot, object, instance);
    if (instance && type_is_text(counter->type))
        add_item(counter, snapshot, object, instance, definition, ret);
}
