/* SPDX-License-Identifier: MIT */
/*
 * A checked walk over a performance block: never reads outside the given bytes; a damaged length
 * ends the walk and is reported. The block need not be aligned, and need not be trusted.
 *
 *     opl_block block;
 *     opl_object_view object = {0};
 *     if (opl_block_init(&block, data, size) == OPL_BLOCK_GOOD)
 *         while (opl_block_next_object(&block, &object))
 *             printf("%u\n", object.type.ObjectNameTitleIndex);
 */
#ifndef OPENPERFLIB_BLOCK_H
#define OPENPERFLIB_BLOCK_H

#include <openperflib/format.h>

typedef enum opl_block_fault {
    OPL_BLOCK_GOOD = 0,
    OPL_BLOCK_SHORT,      /* there are fewer bytes than the structure needs */
    OPL_BLOCK_SIGNATURE,  /* the signature is not "PERF" */
    OPL_BLOCK_VERSION,    /* the version is above 1 */
    OPL_BLOCK_HEADER,     /* header lengths or the system name disagree with the size */
    OPL_BLOCK_OBJECT,     /* an object's lengths or counts are damaged */
    OPL_BLOCK_DEFINITION, /* a counter definition's length is damaged */
    OPL_BLOCK_INSTANCE,   /* an instance's lengths or name are damaged */
    OPL_BLOCK_COUNTERS,   /* a counter block's length is damaged */
    OPL_BLOCK_TRUNCATED   /* fewer objects than announced (occurs in practice; those are valid) */
} opl_block_fault;

/* The walk over one block. Header fields are in this machine's byte order. */
typedef struct opl_block {
    const unsigned char *data;
    size_t size; /* TotalByteLength, never above the bytes given */
    PERF_DATA_BLOCK header;
    bool swapped;          /* the block has the other byte order */
    opl_block_fault fault; /* the first damage that any walk found since opl_block_init */
    size_t fault_offset;   /* position of that damage, in bytes from the block's start */
} opl_block;

typedef struct opl_object_view {
    PERF_OBJECT_TYPE type; /* a copy, in this machine's byte order */
    size_t offset;         /* offset of the object from the block's start */
    uint32_t position;     /* 0 for the first object */
} opl_object_view;

typedef struct opl_counter_view {
    PERF_COUNTER_DEFINITION definition;
    size_t offset;
    uint32_t position;
} opl_counter_view;

typedef struct opl_instance_view {
    PERF_INSTANCE_DEFINITION definition; /* zero for the data of a single object */
    size_t offset;
    uint32_t position;
    size_t counters;      /* offset of the instance's counter block */
    size_t counters_size; /* ByteLength of the counter block */
    size_t end;           /* offset of the end of the counter block */
} opl_instance_view;

/* The numbers from which one value is cooked (docs/windows/types.md#b3). */
typedef struct opl_sample {
    uint32_t type;
    bool has_base; /* second is a base counter's value */
    int64_t first, second;
    uint32_t multi_count;
    int64_t time_base;
} opl_sample;

OPL_BEGIN_DECLS

/* Begins a walk over `size` bytes, which the caller owns. Checks signature, version and header;
 * after a fault the block has no objects. (docs/windows/blocks.md#a1, docs/windows/blocks.md#a6,
 * rule 1) */
opl_block_fault opl_block_init(opl_block *block, const void *data, size_t size);
/* Short lower-case text for a fault; never NULL. */
const char *opl_block_fault_text(opl_block_fault fault);
/* The system name as UTF-8. Returns the bytes needed with the NUL; writes at most `capacity` bytes,
 * always terminated if capacity > 0. */
size_t opl_block_system_name(const opl_block *block, char *out, size_t capacity);
/* Steps to the next object; start with a zeroed view. False at the end or on damage: see
 * block->fault; the view is unchanged. (docs/windows/blocks.md#a6, rules 2, 3, 7) */
bool opl_block_next_object(opl_block *block, opl_object_view *object);
/* Finds the first object with this title index; false: there is none, *object is unchanged. */
bool opl_block_find_object(opl_block *block, uint32_t title_index, opl_object_view *object);
/* Steps to the next counter definition of the object; start with a zeroed view. False at the end or
 * on damage, as above. (docs/windows/blocks.md#a3, docs/windows/blocks.md#a6, rule 4) */
bool opl_object_next_counter(opl_block *block, const opl_object_view *object,
                             opl_counter_view *counter);
/* Steps to the next instance; start with a zeroed view. A single object has exactly one view,
 * with only its counter block; an object without instances, or metadata, has none. False at the
 * end or on damage, as above. (docs/windows/blocks.md#a4, docs/windows/blocks.md#a6, rules 5 to
 * 7) */
bool opl_object_next_instance(opl_block *block, const opl_object_view *object,
                              opl_instance_view *instance);
/* The instance's name as UTF-8, converted from UTF-16 or a code page; an instance with a UniqueID
 * has that number as its name, in decimal (docs/windows/articles.md#c19). Returns the bytes needed
 * with the NUL; writes at most `capacity` bytes. 1 (the NUL only): the instance has no name. */
size_t opl_instance_name(const opl_block *block, const opl_object_view *object,
                         const opl_instance_view *instance, char *out, size_t capacity);
/* The address of the value's bytes; NULL: CounterOffset and CounterSize exceed the counter
 * block. */
const void *opl_counter_data(const opl_block *block, const opl_instance_view *instance,
                             const opl_counter_view *counter);
/* The value as a number of CounterSize bytes, 4 (zero-extended) or 8; false: a text, or damaged. */
bool opl_counter_number(const opl_block *block, const opl_instance_view *instance,
                        const opl_counter_view *counter, uint64_t *ret);
/* A text counter as UTF-8, like opl_instance_name; 0: the counter is no text counter, or is
 * damaged. */
size_t opl_counter_text(const opl_block *block, const opl_object_view *object,
                        const opl_instance_view *instance, const opl_counter_view *counter,
                        char *out, size_t capacity);
/* Fills a sample as PDH does: value, clock or base, multi count and time base. False: the value is
 * damaged, or a text. The base is the next definition, if it has a base type; otherwise has_base is
 * false. Unknown types have only their value. (docs/windows/types.md#b3) */
bool opl_counter_sample(opl_block *block, const opl_object_view *object,
                        const opl_instance_view *instance, const opl_counter_view *counter,
                        opl_sample *ret);
/* The parent instance of `instance`, found in the same block; false: the instance has no parent.
 * (docs/windows/blocks.md#a4) */
bool opl_instance_parent(opl_block *block, const opl_instance_view *instance,
                         opl_object_view *parent_object, opl_instance_view *parent);

/* One counter type, decoded. NULL name: not one of the named types. (docs/windows/articles.md#c15,
 * docs/windows/types.md#b1) */
typedef struct opl_type_info {
    const char *name;      /* such as "PERF_COUNTER_COUNTER" */
    const char *size_text; /* "DWORD", "LARGE", "ZERO", "VARIABLE_LEN" */
    const char *type_text; /* "NUMBER", "COUNTER", "TEXT", "ZERO" */
    const char *subtype_text;
    const char *timer_text;   /* "TIMER_TICK", "TIMER_100NS", "OBJECT_TIMER" */
    const char *display_text; /* "", "/sec", "%", "secs", "hidden", "histogram" */
    const char *suffix;       /* what follows the shown value */
    bool delta_counter, delta_base, inverse, multi;
    bool is_base;    /* belongs to the previous definition and is not shown */
    bool needs_base; /* the next definition is its base */
    bool needs_two_samples;
} opl_type_info;
/* Decodes any 32 bits. Every text is set; a part without a meaning is "unknown".
 * (docs/windows/articles.md#c15, docs/windows/articles.md#c16) */
void opl_type_describe(uint32_t counter_type, opl_type_info *ret);

OPL_END_DECLS

#endif
