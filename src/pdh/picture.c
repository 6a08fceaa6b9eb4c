/* SPDX-License-Identifier: MIT */
/*
 * Parsing an answer costs a few dozen nanoseconds for each instance, independent of its later use:
 * names become UTF-8, parents and duplicate numbers are found in one pass over the block.
 */
#include "pdh/picture.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

/* Space for `count` items in an array that grows and is kept. */
static bool room_for(void *array, uint32_t *room, size_t count, size_t size)
{
    void *grown;
    if (count <= *room)
        return true;
    size_t wanted = count + count / 2 + 8;
    memcpy(&grown, array, sizeof grown);
    grown = wanted < UINT32_MAX ? reallocarray(grown, wanted, size) : NULL;
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *room = (uint32_t)wanted;
    return true;
}

void picture_done(struct picture *picture)
{
    buffer_done(&picture->bytes);
    buffer_done(&picture->names);
    free(picture->objects);
    free(picture->counters);
    free(picture->instances);
    free(picture->table);
    *picture = (struct picture){0};
}

/* ---- hashes ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* ---- definitions ---- */

/* A process is identified by its number and its start, a thread by its own
 * number too. */
enum { ID_PROCESS = 784, ELAPSED_TIME = 684, ID_THREAD = 804 };

static void note_identity(struct picture_object *object, const opl_counter_view *counter)
{
    static const DWORD titles[] = {ID_PROCESS, ELAPSED_TIME, ID_THREAD};
    for (size_t i = 0; i < COUNT(titles); i++)
        if (counter->definition.CounterNameTitleIndex == titles[i])
            object->identity[i] = counter->position;
}

static bool take_counters(struct picture *picture, struct picture_object *object)
{
    opl_counter_view counter = {0};
    object->first_counter = picture->counter_count;
    for (size_t i = 0; i < COUNT(object->identity); i++)
        object->identity[i] = PICTURE_NONE;
    while (opl_object_next_counter(&picture->block, &object->view, &counter)) {
        if (!room_for(&picture->counters, &picture->counter_room, picture->counter_count + 1u,
                      sizeof *picture->counters))
            return false;
        picture->counters[picture->counter_count++] = counter;
        note_identity(object, &counter);
    }
    object->counter_count = picture->counter_count - object->first_counter;
    object->identified = object->identity[0] != PICTURE_NONE && object->identity[1] != PICTURE_NONE;
    return true;
}

/* ---- instances ---- */

static bool take_instances(struct picture *picture, struct picture_object *object)
{
    opl_instance_view view = {0};
    object->first_instance = picture->instance_count;
    while (opl_object_next_instance(&picture->block, &object->view, &view)) {
        if (!room_for(&picture->instances, &picture->instance_room, picture->instance_count + 1u,
                      sizeof *picture->instances))
            return false;
        picture->instances[picture->instance_count++] = (struct picture_instance){.view = view};
        object->with_parents |= view.definition.ParentObjectTitleIndex != 0;
    }
    object->instance_count = picture->instance_count - object->first_instance;
    return true;
}

/* Appends the name of an instance, without a terminator. */
static bool add_name(struct picture *picture, const struct picture_object *object,
                     const opl_instance_view *view)
{
    struct buffer *names = &picture->names;
    enum { USUAL_ROOM = 256 };
    if (!buffer_reserve(names, USUAL_ROOM))
        return false;
    size_t needed = opl_instance_name(&picture->block, &object->view, view,
                                      names->data + names->len, USUAL_ROOM);
    if (needed > USUAL_ROOM) {
        if (!buffer_reserve(names, needed))
            return false;
        opl_instance_name(&picture->block, &object->view, view, names->data + names->len, needed);
    }
    names->len += needed ? needed - 1 : 0;
    return true;
}

static const struct picture_instance *parent_of(struct picture *picture,
                                                const opl_instance_view *view,
                                                struct picture_object **ret_object)
{
    DWORD title = view->definition.ParentObjectTitleIndex;
    struct picture_object *object = title ? picture_object(picture, title) : NULL;
    if (!object || object->view.type.NumInstances == PERF_NO_INSTANCES ||
        view->definition.ParentObjectInstance >= object->instance_count)
        return NULL;
    *ret_object = object;
    return picture_instances(picture, object) + view->definition.ParentObjectInstance;
}

/* A name that begins with a slash is unique by itself, as a mount point is: paths have no parent
 * before it. */
static void drop_needless_parent(struct buffer *names, struct picture_instance *instance)
{
    size_t prefix = instance->name - instance->full;
    if (prefix == 0 || names->len == instance->name || names->data[instance->name] != '/')
        return;
    memmove(names->data + instance->full, names->data + instance->name,
            names->len - instance->name);
    names->len -= prefix;
    instance->name = instance->full;
}

static bool name_instance(struct picture *picture, const struct picture_object *object,
                          struct picture_instance *instance)
{
    struct picture_object *parent_object = NULL;
    const struct picture_instance *parent = parent_of(picture, &instance->view, &parent_object);
    struct buffer *names = &picture->names;
    instance->full = (uint32_t)names->len;
    if (parent &&
        (!add_name(picture, parent_object, &parent->view) || !buffer_add_byte(names, '/')))
        return false;
    instance->name = (uint32_t)names->len;
    if (!add_name(picture, object, &instance->view))
        return false;
    drop_needless_parent(names, instance);
    instance->hash = text_hash_fold(names->data + instance->full, names->len - instance->full);
    return buffer_add_byte(names, '\0') && names->len < UINT32_MAX;
}

/* ---- the hash table ---- */

/* Objects of one answer share the table: the object's number is part of the hash. */
static uint32_t place_of(const struct picture *picture, const struct picture_object *object,
                         uint64_t hash)
{
    return (uint32_t)mix(hash, object->view.position) & (picture->table_room - 1);
}

static bool is_of(const struct picture_object *object, uint32_t instance)
{
    return instance - object->first_instance < object->instance_count;
}

/* The slot of a full name, or the empty one where to insert it. */
static uint32_t *slot_of(const struct picture *picture, const struct picture_object *object,
                         uint64_t hash, const char *full_name, size_t length)
{
    uint32_t mask = picture->table_room - 1, at = place_of(picture, object, hash);
    for (; picture->table[at]; at = (at + 1) & mask) {
        const struct picture_instance *instance = &picture->instances[picture->table[at] - 1];
        const char *name = picture_full_name(picture, instance);
        if (instance->hash == hash && is_of(object, picture->table[at] - 1) &&
            !text_compare_fold_n(name, strlen(name), full_name, length))
            break;
    }
    return &picture->table[at];
}

/* The number of an instance counts those with the same name before it. */
static void enter_instance(struct picture *picture, const struct picture_object *object,
                           uint32_t position)
{
    struct picture_instance *instance = &picture->instances[position];
    const char *name = picture_full_name(picture, instance);
    uint32_t *slot = slot_of(picture, object, instance->hash, name, strlen(name));
    instance->next = PICTURE_NONE;
    if (!*slot) {
        *slot = position + 1;
        instance->last = position;
        instance->count = 1;
        return;
    }
    struct picture_instance *first = &picture->instances[*slot - 1];
    instance->number = first->count++;
    picture->instances[first->last].next = position;
    first->last = position;
}

static bool make_table(struct picture *picture)
{
    uint32_t room = 16;
    while (room / 2 < picture->instance_count)
        room *= 2;
    if (room > picture->table_room) {
        uint32_t *table = reallocarray(picture->table, room, sizeof *table);
        if (!table)
            return false;
        picture->table = table;
        picture->table_room = room;
    }
    memset(picture->table, 0, picture->table_room * sizeof *picture->table);
    return true;
}

static bool name_instances(struct picture *picture)
{
    if (!make_table(picture))
        return false;
    for (uint32_t i = 0; i < picture->object_count; i++) {
        const struct picture_object *object = &picture->objects[i];
        if (object->view.type.NumInstances == PERF_NO_INSTANCES)
            continue;
        for (uint32_t k = 0; k < object->instance_count; k++) {
            uint32_t position = object->first_instance + k;
            if (!name_instance(picture, object, &picture->instances[position]))
                return false;
            enter_instance(picture, object, position);
        }
    }
    return true;
}

/* ---- the whole ---- */

static bool take_objects(struct picture *picture)
{
    opl_object_view view = {0};
    while (opl_block_next_object(&picture->block, &view)) {
        if (!room_for(&picture->objects, &picture->object_room, picture->object_count + 1u,
                      sizeof *picture->objects))
            return false;
        struct picture_object *object = &picture->objects[picture->object_count++];
        *object = (struct picture_object){.view = view};
        if (!take_counters(picture, object) || !take_instances(picture, object))
            return false;
    }
    return true;
}

PDH_STATUS picture_take(struct picture *picture)
{
    picture->object_count = picture->counter_count = picture->instance_count = 0;
    buffer_clear(&picture->names);
    if (opl_block_init(&picture->block, picture->bytes.data, picture->bytes.len))
        return (PDH_STATUS)PDH_INVALID_DATA;
    if (take_objects(picture) && name_instances(picture))
        return 0;
    picture->object_count = 0;
    return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

struct picture_object *picture_object(struct picture *picture, uint32_t title_index)
{
    for (uint32_t i = 0; i < picture->object_count; i++)
        if (picture->objects[i].view.type.ObjectNameTitleIndex == title_index)
            return &picture->objects[i];
    return NULL;
}

const struct picture_instance *picture_find(const struct picture *picture,
                                            const struct picture_object *object, uint64_t hash,
                                            const char *full_name, size_t length, uint32_t number)
{
    uint32_t slot = *slot_of(picture, object, hash, full_name, length);
    const struct picture_instance *instance = slot ? &picture->instances[slot - 1] : NULL;
    while (instance && number--)
        instance = instance->next == PICTURE_NONE ? NULL : &picture->instances[instance->next];
    return instance;
}

/* Number 0 is not a real process (Idle, _Total): these are identified by their names alone. */
uint64_t picture_identity(struct picture *picture, const struct picture_object *object,
                          const struct picture_instance *instance)
{
    const opl_counter_view *counters = picture_counters(picture, object);
    uint64_t identity = 1;
    if (!object->identified)
        return 0;
    for (size_t i = 0; i < COUNT(object->identity); i++) {
        uint64_t value = 0;
        if (object->identity[i] != PICTURE_NONE)
            opl_counter_number(&picture->block, &instance->view, &counters[object->identity[i]],
                               &value);
        if (i == 0 && value == 0)
            return 0;
        identity = mix(identity, value);
    }
    return identity ? identity : 1;
}
