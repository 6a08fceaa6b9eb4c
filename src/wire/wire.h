/* SPDX-License-Identifier: MIT */
/* API of wire: the binary format. Walker and builder are public (block.h, build.h); this header has
 * the checks of ExtCounterTestLevel, which only the library needs. */
#ifndef OPL_WIRE_H
#define OPL_WIRE_H

#include "base/base.h"
#include <openperflib/block.h>
#include <openperflib/build.h>
#include <openperflib/unstable.h>
#include <winerror.h>
#include <winperf.h>

/* Ends the current object and sets its TotalByteLength and NumInstances. The next
 * opl_build_object and opl_build_collect call it too. */
void build_end(opl_build *build);
/* Name and type of a row of the table of named types, for enumerating; NULL after the last row. The
 * last two rows repeat types: PERF_PRECISION_TIMESTAMP is another name for a type above, and the
 * last row has another value of PERF_LARGE_RAW_BASE. (docs/windows/types.md#b2) */
const char *type_name_at(size_t position, DWORD *ret_type);

/* What is wrong with a provider's answer; checks 5-8 of docs/windows/providers.md#d4 in their
 * order, then this project's own. */
enum wire_fault {
    WIRE_GOOD,
    WIRE_FAULT_OBJECTS,     /* the objects' lengths do not add up (event 1003) */
    WIRE_FAULT_DEFINITIONS, /* definition lengths do not add up (1019) */
    WIRE_FAULT_INSTANCES,   /* instances do not end where the object ends (1004) */
    WIRE_FAULT_TWICE,       /* two objects have the same number (4006) */
    WIRE_FAULT_BASE,        /* the base of a counter does not directly follow it (4007) */
    WIRE_FAULT_OFFSET,      /* a value outside its counter block: a warning, data kept (4008) */
    WIRE_FAULT_ALIGNMENT    /* lengths not multiples of 8: a warning, data kept (1016) */
};

/* One finding as data: the part of the answer, the field, its value and the expected one. */
struct wire_finding {
    enum wire_fault fault;
    uint32_t position; /* position of the object in the answer, 0 for the first */
    uint32_t object;   /* title index of the object; 0: the data ends before the object */
    bool has_counter, has_instance;
    uint32_t counter, counter_position; /* title index and position of the definition */
    uint32_t instance_position;
    char instance[64]; /* name of the instance, truncated; "" if it cannot be read */
    const char *field; /* name of the field in winperf.h */
    /* relation to the expected value: "", "at least ", "at most ", "a multiple of " */
    const char *relation;
    const char *reason; /* what the expected number is, such as "the bytes that were returned" */
    bool is_type;       /* found and expected are counter types */
    bool described;     /* `reason` alone describes the expected value */
    int64_t found, expected;
    size_t offset; /* offset of the field from the answer's first byte */
};
/* Checks `count` objects in [data, data + size) and passes each finding to `each`. Damaged lengths
 * (the first three faults) end the check, because what follows cannot be found; all other faults
 * are reported and the check goes on. Accepted, because existing providers do it: up to 7 bytes
 * after the last instance, any number after an object without instances. Returns the first fault
 * that is not a warning, else the first warning. */
enum wire_fault wire_check_each(const void *data, size_t size, uint32_t count,
                                void (*each)(void *self, const struct wire_finding *finding),
                                void *self);
/* Returns what wire_check_each returns, and the details in *ret: all zero if there is no fault. */
enum wire_fault wire_check_objects(const void *data, size_t size, uint32_t count,
                                   struct wire_finding *ret);
/* True: the answer is dropped because of the fault; false: the answer is kept with a warning. */
static inline bool wire_fault_damages(enum wire_fault fault)
{
    return fault != WIRE_GOOD && fault < WIRE_FAULT_OFFSET;
}
/* Writes the found value as text, and the expected one, such as "528" and "at most 496 (the bytes
 * that were returned)". */
enum { WIRE_TEXT = 128 };
void wire_finding_text(const struct wire_finding *finding, char found[static WIRE_TEXT],
                       char expected[static WIRE_TEXT]);

/* True if the bytes begin like a whole PERF_DATA_BLOCK. No object begins like that: its length
 * would be too large. */
bool wire_is_block(const void *data, size_t size);
/* Checks one whole block, of either byte order: every length in it leads to a place within it. */
bool wire_check_block(const void *data, size_t size);

#endif
