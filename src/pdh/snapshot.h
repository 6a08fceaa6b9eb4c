/* SPDX-License-Identifier: MIT */
/*
 * Private to pdh: an answer of the performance key, parsed once: objects, their definitions and
 * instances with names, parents and duplicate numbers; instances are found by a hash table. All
 * memory is kept for the next answer.
 */
#ifndef OPL_PDH_SNAPSHOT_H
#define OPL_PDH_SNAPSHOT_H

#include "pdh/pdh.h"
#include <openperflib/block.h>
#include <winperf.h>

#define SNAPSHOT_NONE UINT32_MAX

struct snapshot_instance {
    opl_instance_view view;
    uint64_t hash;        /* of "parent/name", folded */
    uint32_t name;        /* offset in `names`; the bytes before it may be "parent/" */
    uint32_t full;        /* offset of "parent/name"; the same as `name` without a parent */
    uint32_t number;      /* how many with the same full name are before it */
    uint32_t next;        /* the next with the same full name, or SNAPSHOT_NONE */
    uint32_t last, count; /* of the first of a name: the end and length of its chain */
};
struct snapshot_object {
    opl_object_view view;
    uint32_t first_counter, counter_count;
    uint32_t first_instance, instance_count;
    bool with_parents;
    bool identified;      /* its instances can be identified */
    uint32_t identity[3]; /* positions of 784, 684, 804; SNAPSHOT_NONE */
};
struct snapshot {
    opl_block block;
    struct buffer bytes, names;
    struct snapshot_object *objects;
    opl_counter_view *counters;
    struct snapshot_instance *instances;
    uint32_t *table; /* instance + 1 */
    uint32_t object_count, counter_count, instance_count;
    uint32_t object_capacity, counter_capacity, instance_capacity,
        table_capacity; /* table_capacity: a power of 2 */
};

/* Parses snapshot->bytes. A damaged part is dropped with all after it. PDH_INVALID_DATA: it is not
 * a block at all; PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS snapshot_parse(struct snapshot *snapshot);
void snapshot_done(struct snapshot *snapshot);
/* NULL: the answer has no such object. */
struct snapshot_object *snapshot_object(struct snapshot *snapshot, uint32_t title_index);

/* NULL if there are none at all: an offset must not be added to NULL. */
static inline const opl_counter_view *snapshot_counters(const struct snapshot *snapshot,
                                                        const struct snapshot_object *object)
{
    return snapshot->counters ? snapshot->counters + object->first_counter : NULL;
}
static inline const struct snapshot_instance *
snapshot_instances(const struct snapshot *snapshot, const struct snapshot_object *object)
{
    return snapshot->instances ? snapshot->instances + object->first_instance : NULL;
}
static inline const char *snapshot_name(const struct snapshot *snapshot,
                                        const struct snapshot_instance *instance)
{
    return snapshot->names.data + instance->name;
}
/* "parent/name", or the name alone */
static inline const char *snapshot_full_name(const struct snapshot *snapshot,
                                             const struct snapshot_instance *instance)
{
    return snapshot->names.data + instance->full;
}
/* The instance of this full name; SNAPSHOT_NONE-th: NULL. `hash` is text_hash_fold's. */
const struct snapshot_instance *snapshot_find(const struct snapshot *snapshot,
                                              const struct snapshot_object *object, uint64_t hash,
                                              const char *full_name, size_t length,
                                              uint32_t number);
/* The instance's identity, beyond its name; 0 if its object has none. */
uint64_t snapshot_identity(struct snapshot *snapshot, const struct snapshot_object *object,
                           const struct snapshot_instance *instance);

#endif
