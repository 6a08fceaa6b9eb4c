/* SPDX-License-Identifier: MIT */
/* The door of wire: the binary format. Walker and builder are public (block.h, build.h); here is
 * what only the library needs: the checks of ExtCounterTestLevel. */
#ifndef OPL_WIRE_H
#define OPL_WIRE_H

#include "base/base.h"
#include <openperflib/block.h>
#include <openperflib/build.h>
#include <openperflib/winperf.h>

/* What a provider's answer fails at; in the order of reference D.4, checks 5-8. */
enum wire_fault {
    WIRE_GOOD,
    WIRE_FAULT_OBJECTS,     /* the objects' lengths do not add up (event 1003) */
    WIRE_FAULT_DEFINITIONS, /* definition lengths do not add up (1019) */
    WIRE_FAULT_INSTANCES,   /* instances do not end where the object ends (1004) */
    WIRE_FAULT_ALIGNMENT    /* lengths not multiples of 8: a warning, data kept (1016) */
};
/* Judges `count` objects in [data, data + size). *ret_object: position of the faulty one. Kept as
 * in the wild: up to 7 bytes behind the last instance, any behind an object without instances. */
enum wire_fault wire_check_objects(const void *data, size_t size, uint32_t count,
                                   uint32_t *ret_object);

/* Does it begin as a whole PERF_DATA_BLOCK does? No object does: its length would be too large. */
bool wire_is_block(const void *data, size_t size);
/* Judges one whole block, of whatever byte order: every length inside leads somewhere inside. */
bool wire_check_block(const void *data, size_t size);

#endif
