/* SPDX-License-Identifier: MIT */
/*
 * Private to pdh: an answer of the performance key, parsed once into objects, their counter
 * definitions, and their instances with names, parents and positions among the instances of the
 * same name. A hash table finds instances. The memory is reused for the next answer.
 */
#ifndef OPL_PDH_SNAPSHOT_H
#define OPL_PDH_SNAPSHOT_H

#include "pdh/pdh.h"
#include <openperflib/block.h>
#include <winperf.h>

#define SNAPSHOT_NONE UINT32_MAX

/* Title numbers of the counters that identify an instance: a process by its ID and start time, a
 * thread by its own ID, too. */
enum { SNAPSHOT_IDENTIFIERS = 3 };
extern const uint32_t snapshot_identifiers[SNAPSHOT_IDENTIFIERS];

static inline bool type_is_text(DWORD counter_type)
{
    return (counter_type & 0xc00) == PERF_TYPE_TEXT;
}

struct snapshot_instance {
    opl_instance_view view;
    uint64_t hash;   /* hash of "parent/name", without regard to case */
    uint32_t name;   /* offset of the name in `names`; the bytes before may be "parent/" */
    uint32_t full;   /* offset of "parent/name"; without a parent the same as `name` */
    uint32_t number; /* number of earlier instances with the same full name */
    uint32_t next;   /* position of the next instance with this full name, or SNAPSHOT_NONE */
    /* in the first instance with this name: position of the last such instance, and number of such
     * instances */
    uint32_t last, count;
};
struct snapshot_object {
    opl_object_view view;
    uint32_t first_counter, counter_count;
    uint32_t first_instance, instance_count;
    bool with_parents;
    bool identified; /* the object has the counters that identify its instances */
    /* positions of the counters snapshot_identifiers, or SNAPSHOT_NONE */
    uint32_t identity[SNAPSHOT_IDENTIFIERS];
};
struct snapshot {
    opl_block block;
    struct buffer bytes, names;
    struct snapshot_object *objects;
    opl_counter_view *counters;
    struct snapshot_instance *instances;
    uint32_t *table; /* hash table: position of an instance + 1; 0: none */
    uint32_t object_count, counter_count, instance_count;
    uint32_t object_capacity, counter_capacity, instance_capacity,
        table_capacity; /* table_capacity: a power of 2 */
};

/* Makes an empty hash table of at least `least` slots, a power of 2; it never shrinks. False: no
 * memory; the table is as it was. */
bool snapshot_table_clear(uint32_t **table, uint32_t *capacity, size_t least);
/* Parses snapshot->bytes. A damaged part and everything after it are ignored. PDH_INVALID_DATA: the
 * bytes are not a block; PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS snapshot_parse(struct snapshot *snapshot);
/* Gives the memory of the answer back to the system; to be called when it is not read again. */
void snapshot_unused(struct snapshot *snapshot);
void snapshot_done(struct snapshot *snapshot);
/* Returns NULL if the answer has no such object. */
struct snapshot_object *snapshot_object(struct snapshot *snapshot, uint32_t title_index);

/* Returns NULL if no object has counters, because C forbids adding an offset to NULL. */
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
/* Returns "parent/name", or the name alone if there is no parent. */
static inline const char *snapshot_full_name(const struct snapshot *snapshot,
                                             const struct snapshot_instance *instance)
{
    return snapshot->names.data + instance->full;
}
/* Finds the instance with this full name and number; NULL: none. `hash` is from text_hash_fold. */
const struct snapshot_instance *snapshot_find(const struct snapshot *snapshot,
                                              const struct snapshot_object *object, uint64_t hash,
                                              const char *full_name, size_t length,
                                              uint32_t number);
/* Returns a number that distinguishes instances with the same name, such as processes; 0: there is
 * no such number. */
uint64_t snapshot_identity(struct snapshot *snapshot, const struct snapshot_object *object,
                           const struct snapshot_instance *instance);

#endif
