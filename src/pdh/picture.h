/* SPDX-License-Identifier: MIT */
/*
 * Private to pdh: an answer of the performance key, parsed once: objects, their definitions and
 * instances with names, parents and duplicate numbers; instances are found by a hash table. All
 * memory is kept for the next answer.
 */
#ifndef OPL_PDH_PICTURE_H
#define OPL_PDH_PICTURE_H

#include "pdh/pdh.h"
#include <openperflib/block.h>
#include <winperf.h>

#define PICTURE_NONE UINT32_MAX

struct picture_instance {
    opl_instance_view view;
    uint64_t hash;        /* of "parent/name", folded */
    uint32_t name;        /* offset in `names`; the bytes before it may be "parent/" */
    uint32_t full;        /* offset of "parent/name"; the same as `name` without a parent */
    uint32_t number;      /* how many with the same full name are before it */
    uint32_t next;        /* the next with the same full name, or PICTURE_NONE */
    uint32_t last, count; /* of the first of a name: the end and length of its chain */
};
struct picture_object {
    opl_object_view view;
    uint32_t first_counter, counter_count;
    uint32_t first_instance, instance_count;
    bool with_parents;
    bool identified;      /* its instances can be identified */
    uint32_t identity[3]; /* positions of 784, 684, 804; PICTURE_NONE */
};
struct picture {
    opl_block block;
    struct buffer bytes, names;
    struct picture_object *objects;
    opl_counter_view *counters;
    struct picture_instance *instances;
    uint32_t *table; /* instance + 1 */
    uint32_t object_count, counter_count, instance_count;
    uint32_t object_room, counter_room, instance_room, table_room; /* table_room: a power of 2 */
};

/* Parses picture->bytes. A damaged part is dropped with all behind it. PDH_INVALID_DATA: it is not
 * a block at all; PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS picture_take(struct picture *picture);
void picture_done(struct picture *picture);
/* NULL: the answer has no such object. */
struct picture_object *picture_object(struct picture *picture, uint32_t title_index);

/* NULL if there are none at all: no offset is added to that. */
static inline const opl_counter_view *picture_counters(const struct picture *picture,
                                                       const struct picture_object *object)
{
    return picture->counters ? picture->counters + object->first_counter : NULL;
}
static inline const struct picture_instance *picture_instances(const struct picture *picture,
                                                               const struct picture_object *object)
{
    return picture->instances ? picture->instances + object->first_instance : NULL;
}
static inline const char *picture_name(const struct picture *picture,
                                       const struct picture_instance *instance)
{
    return picture->names.data + instance->name;
}
/* "parent/name", or the name alone */
static inline const char *picture_full_name(const struct picture *picture,
                                            const struct picture_instance *instance)
{
    return picture->names.data + instance->full;
}
/* The instance of this full name; PICTURE_NONE-th: NULL. `hash` is text_hash_fold's. */
const struct picture_instance *picture_find(const struct picture *picture,
                                            const struct picture_object *object, uint64_t hash,
                                            const char *full_name, size_t length, uint32_t number);
/* The instance's identity, beyond its name; 0 if its object has none. */
uint64_t picture_identity(struct picture *picture, const struct picture_object *object,
                          const struct picture_instance *instance);

#endif
