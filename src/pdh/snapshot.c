/* SPDX-License-Identifier: MIT */
/*
 * Parses an answer in one pass over the block: converts names to UTF-8, finds parents, and numbers
 * equal names. All instances are parsed, needed or not, because an instance takes only a few dozen
 * nanoseconds.
 */
#include "pdh/snapshot.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

/* Makes the array large enough for `count` items. Returns false if there is no memory. */
static bool capacity_for(void *array, uint32_t *capacity, size_t count, size_t size)
{
    void *grown;
    if (count <= *capacity)
        return true;
    size_t wanted = count + count / 2 + 8;
    memcpy(&grown, array, sizeof grown);
    grown = wanted < UINT32_MAX ? reallocarray(grown, wanted, size) : NULL;
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = (uint32_t)wanted;
    return true;
}

void snapshot_unused(struct snapshot *snapshot)
{
    memory_unused(snapshot->bytes.data, snapshot->bytes.capacity);
    memory_unused(snapshot->names.data, snapshot->names.capacity);
    memory_unused(snapshot->instances, snapshot->instance_capacity * sizeof *snapshot->instances);
    memory_unused(snapshot->table, snapshot->table_capacity * sizeof *snapshot->table);
}

void snapshot_done(struct snapshot *snapshot)
{
    buffer_done(&snapshot->bytes);
    buffer_done(&snapshot->names);
    free(snapshot->objects);
    free(snapshot->counters);
    free(snapshot->instances);
    free(snapshot->table);
    *snapshot = (struct snapshot){0};
}

/* ---- hashes ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* ---- definitions ---- */

/* ID Process, Elapsed Time, ID Thread */
const uint32_t snapshot_identifiers[SNAPSHOT_IDENTIFIERS] = {784, 684, 804};

static void note_identity(struct snapshot_object *object, const opl_counter_view *counter)
{
    for (size_t i = 0; i < COUNT(snapshot_identifiers); i++)
        if (counter->definition.CounterNameTitleIndex == snapshot_identifiers[i])
            object->identity[i] = counter->position;
}

static bool take_counters(struct snapshot *snapshot, struct snapshot_object *object)
{
    opl_counter_view counter = {0};
    object->first_counter = snapshot->counter_count;
    for (size_t i = 0; i < COUNT(object->identity); i++)
        object->identity[i] = SNAPSHOT_NONE;
    while (opl_object_next_counter(&snapshot->block, &object->view, &counter)) {
        if (!capacity_for(&snapshot->counters, &snapshot->counter_capacity,
                          snapshot->counter_count + 1u, sizeof *snapshot->counters))
            return false;
        snapshot->counters[snapshot->counter_count++] = counter;
        note_identity(object, &counter);
    }
    object->counter_count = snapshot->counter_count - object->first_counter;
    object->identified =
        object->identity[0] != SNAPSHOT_NONE && object->identity[1] != SNAPSHOT_NONE;
    return true;
}

/* ---- instances ---- */

static bool take_instances(struct snapshot *snapshot, struct snapshot_object *object)
{
    opl_instance_view view = {0};
    object->first_instance = snapshot->instance_count;
    while (opl_object_next_instance(&snapshot->block, &object->view, &view)) {
        if (!capacity_for(&snapshot->instances, &snapshot->instance_capacity,
                          snapshot->instance_count + 1u, sizeof *snapshot->instances))
            return false;
        snapshot->instances[snapshot->instance_count++] = (struct snapshot_instance){.view = view};
        object->with_parents |= view.definition.ParentObjectTitleIndex != 0;
    }
    object->instance_count = snapshot->instance_count - object->first_instance;
    return true;
}

/* Appends the name of an instance without a NUL. */
static bool add_name(struct snapshot *snapshot, const struct snapshot_object *object,
                     const opl_instance_view *view)
{
    struct buffer *names = &snapshot->names;
    enum { USUAL_SIZE = 256 };
    if (!buffer_reserve(names, USUAL_SIZE))
        return false;
    size_t needed = opl_instance_name(&snapshot->block, &object->view, view,
                                      names->data + names->len, USUAL_SIZE);
    if (needed > USUAL_SIZE) {
        if (!buffer_reserve(names, needed))
            return false;
        opl_instance_name(&snapshot->block, &object->view, view, names->data + names->len, needed);
    }
    names->len += needed ? needed - 1 : 0;
    return true;
}

static const struct snapshot_instance *parent_of(struct snapshot *snapshot,
                                                 const opl_instance_view *view,
                                                 struct snapshot_object **ret_object)
{
    DWORD title = view->definition.ParentObjectTitleIndex;
    struct snapshot_object *object = title ? snapshot_object(snapshot, title) : NULL;
    if (!object || object->view.type.NumInstances == PERF_NO_INSTANCES ||
        view->definition.ParentObjectInstance >= object->instance_count)
        return NULL;
    *ret_object = object;
    return snapshot_instances(snapshot, object) + view->definition.ParentObjectInstance;
}

/* Removes the parent of a name that begins with a slash, such as a mount point: a mount point is
 * unique, and paths have it without parent. */
static void drop_needless_parent(struct buffer *names, struct snapshot_instance *instance)
{
    size_t prefix = instance->name - instance->full;
    if (prefix == 0 || names->len == instance->name || names->data[instance->name] != '/')
        return;
    memmove(names->data + instance->full, names->data + instance->name,
            names->len - instance->name);
    names->len -= prefix;
    instance->name = instance->full;
}

static bool name_instance(struct snapshot *snapshot, const struct snapshot_object *object,
                          struct snapshot_instance *instance)
{
    struct snapshot_object *parent_object = NULL;
    const struct snapshot_instance *parent = parent_of(snapshot, &instance->view, &parent_object);
    struct buffer *names = &snapshot->names;
    instance->full = (uint32_t)names->len;
    if (parent &&
        (!add_name(snapshot, parent_object, &parent->view) || !buffer_add_byte(names, '/')))
        return false;
    instance->name = (uint32_t)names->len;
    if (!add_name(snapshot, object, &instance->view))
        return false;
    drop_needless_parent(names, instance);
    instance->hash = text_hash_fold(names->data + instance->full, names->len - instance->full);
    return buffer_add_byte(names, '\0') && names->len < UINT32_MAX;
}

/* ---- the hash table ---- */

/* Returns the slot at which to start searching. All objects of an answer share the table, so the
 * hash depends on the object's position, too. */
static uint32_t place_of(const struct snapshot *snapshot, const struct snapshot_object *object,
                         uint64_t hash)
{
    return (uint32_t)mix(hash, object->view.position) & (snapshot->table_capacity - 1);
}

static bool is_of(const struct snapshot_object *object, uint32_t instance)
{
    return instance - object->first_instance < object->instance_count;
}

/* Returns the slot of the table for this full name; the slot has 0 if the table lacks the name. */
static uint32_t *slot_of(const struct snapshot *snapshot, const struct snapshot_object *object,
                         uint64_t hash, const char *full_name, size_t length)
{
    uint32_t mask = snapshot->table_capacity - 1, at = place_of(snapshot, object, hash);
    for (; snapshot->table[at]; at = (at + 1) & mask) {
        const struct snapshot_instance *instance = &snapshot->instances[snapshot->table[at] - 1];
        const char *name = snapshot_full_name(snapshot, instance);
        if (instance->hash == hash && is_of(object, snapshot->table[at] - 1) &&
            !text_compare_fold_n(name, strlen(name), full_name, length))
            break;
    }
    return &snapshot->table[at];
}

/* Adds an instance to the table and sets its number, which is the number of instances before it
 * with the same name. */
static void enter_instance(struct snapshot *snapshot, const struct snapshot_object *object,
                           uint32_t position)
{
    struct snapshot_instance *instance = &snapshot->instances[position];
    const char *name = snapshot_full_name(snapshot, instance);
    uint32_t *slot = slot_of(snapshot, object, instance->hash, name, strlen(name));
    instance->next = SNAPSHOT_NONE;
    if (!*slot) {
        *slot = position + 1;
        instance->last = position;
        instance->count = 1;
        return;
    }
    struct snapshot_instance *first = &snapshot->instances[*slot - 1];
    instance->number = first->count++;
    snapshot->instances[first->last].next = position;
    first->last = position;
}

bool snapshot_table_clear(uint32_t **table, uint32_t *capacity, size_t least)
{
    size_t wanted = 16;
    while (wanted < least)
        wanted *= 2;
    if (wanted > *capacity) {
        uint32_t *grown = reallocarray(*table, wanted, sizeof *grown);
        if (!grown)
            return false;
        *table = grown;
        *capacity = (uint32_t)wanted;
    }
    memset(*table, 0, *capacity * sizeof **table);
    return true;
}

static bool name_instances(struct snapshot *snapshot)
{
    if (!snapshot_table_clear(&snapshot->table, &snapshot->table_capacity,
                              2 * (size_t)snapshot->instance_count))
        return false;
    for (uint32_t i = 0; i < snapshot->object_count; i++) {
        const struct snapshot_object *object = &snapshot->objects[i];
        if (object->view.type.NumInstances == PERF_NO_INSTANCES)
            continue;
        for (uint32_t k = 0; k < object->instance_count; k++) {
            uint32_t position = object->first_instance + k;
            if (!name_instance(snapshot, object, &snapshot->instances[position]))
                return false;
            enter_instance(snapshot, object, position);
        }
    }
    return true;
}

/* ---- the whole ---- */

static bool take_objects(struct snapshot *snapshot)
{
    opl_object_view view = {0};
    while (opl_block_next_object(&snapshot->block, &view)) {
        if (!capacity_for(&snapshot->objects, &snapshot->object_capacity,
                          snapshot->object_count + 1u, sizeof *snapshot->objects))
            return false;
        struct snapshot_object *object = &snapshot->objects[snapshot->object_count++];
        *object = (struct snapshot_object){.view = view};
        if (!take_counters(snapshot, object) || !take_instances(snapshot, object))
            return false;
    }
    return true;
}

PDH_STATUS snapshot_parse(struct snapshot *snapshot)
{
    snapshot->object_count = snapshot->counter_count = snapshot->instance_count = 0;
    buffer_clear(&snapshot->names);
    if (opl_block_init(&snapshot->block, snapshot->bytes.data, snapshot->bytes.len))
        return (PDH_STATUS)PDH_INVALID_DATA;
    if (take_objects(snapshot) && name_instances(snapshot))
        return 0;
    snapshot->object_count = 0;
    return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

struct snapshot_object *snapshot_object(struct snapshot *snapshot, uint32_t title_index)
{
    for (uint32_t i = 0; i < snapshot->object_count; i++)
        if (snapshot->objects[i].view.type.ObjectNameTitleIndex == title_index)
            return &snapshot->objects[i];
    return NULL;
}

const struct snapshot_instance *snapshot_find(const struct snapshot *snapshot,
                                              const struct snapshot_object *object, uint64_t hash,
                                              const char *full_name, size_t length, uint32_t number)
{
    uint32_t slot = *slot_of(snapshot, object, hash, full_name, length);
    const struct snapshot_instance *instance = slot ? &snapshot->instances[slot - 1] : NULL;
    while (instance && number--)
        instance = instance->next == SNAPSHOT_NONE ? NULL : &snapshot->instances[instance->next];
    return instance;
}

/* Process ID 0 is not a real process (Idle, _Total), so such instances are identified by their
 * names only. */
uint64_t snapshot_identity(struct snapshot *snapshot, const struct snapshot_object *object,
                           const struct snapshot_instance *instance)
{
    const opl_counter_view *counters = snapshot_counters(snapshot, object);
    uint64_t identity = 1;
    if (!object->identified)
        return 0;
    for (size_t i = 0; i < COUNT(object->identity); i++) {
        uint64_t value = 0;
        if (object->identity[i] != SNAPSHOT_NONE)
            opl_counter_number(&snapshot->block, &instance->view, &counters[object->identity[i]],
                               &value);
        if (i == 0 && value == 0)
            return 0;
        identity = mix(identity, value);
    }
    return identity ? identity : 1;
}
