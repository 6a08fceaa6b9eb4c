/* SPDX-License-Identifier: MIT */
/* Private to the shims: reading this machine's counters. */
#ifndef OPL_SHIM_COUNTERS_H
#define OPL_SHIM_COUNTERS_H

#include "shims.h"
#include <openperflib/block.h>
#include <winperf.h>

/* Queries this machine's counters. Returns 0 or a Win32 status. *ret_data is the answer, which the
 * caller frees (NULL if the status is not 0); *ret walks over it. */
DWORD opl_shim_query(const char *query, opl_block *ret, void **ret_data);
/* Finds the object's counters with these title indices. For a missing counter
 * ret[i].definition.ByteLength is 0. */
void opl_shim_counters(opl_block *block, const opl_object_view *object, const DWORD *titles,
                       size_t count, opl_counter_view *ret);
/* Reads a counter's value. False: the counter is missing, and *ret is 0. */
bool opl_shim_number(const opl_block *block, const opl_instance_view *instance,
                     const opl_counter_view *counter, uint64_t *ret);

#endif
