/* SPDX-License-Identifier: MIT */
/* Private to the shims: reading this machine's counters. */
#ifndef OPL_SHIM_COUNTERS_H
#define OPL_SHIM_COUNTERS_H

#include "shims.h"
#include <openperflib/block.h>
#include <winperf.h>

/* The caller frees *ret_data, which is NULL unless the status is 0; *ret walks over it. */
DWORD opl_shim_query(const char *query, opl_block *ret, void **ret_data);
/* The counters of these title indices; a missing one has ByteLength 0. */
void opl_shim_counters(opl_block *block, const opl_object_view *object, const DWORD *titles,
                       size_t count, opl_counter_view *ret);
/* false: the counter is missing; *ret is 0 then. */
bool opl_shim_number(const opl_block *block, const opl_instance_view *instance,
                     const opl_counter_view *counter, uint64_t *ret);

#endif
