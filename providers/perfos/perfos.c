/* SPDX-License-Identifier: MIT */
/*
 * perfos.so: the operating system's own objects, as an ordinary provider. All data is in the
 * tables; the three functions have the names that Windows registers for PerfOS, so that programs
 * find the functions by these names.
 */
#include "perfos.h"

const opl_source perfos_stat = {.path = "proc/stat"};
const opl_source perfos_loadavg = {.path = "proc/loadavg"};
const opl_source perfos_meminfo = {.path = "proc/meminfo"};
const opl_source perfos_vmstat = {.path = "proc/vmstat"};

static const opl_object *const objects[] = {PERFOS_OBJECTS(&)};
OPL_PROVIDER_NT(objects, perfos_processor_open, OpenOSObject, CollectOSObjectData, CloseOSObject);
