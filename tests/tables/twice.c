/* SPDX-License-Identifier: MIT */
/* A provider with a mistake that a test must find: two counters have the same number. */
#include <openperflib/object.h>
#include <winperf.h>

static uint64_t eggs, hens;
static const opl_counter counters[] = {
    {4, 5, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_VARIABLE(eggs), .name = "Eggs"},
    {4, 7, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_VARIABLE(hens), .name = "Hens"},
};
static const opl_object farm = {2, 3, "Farm", "What grows.", OPL_COUNTERS(counters)};
static const opl_object *const objects[] = {&farm};

OPL_PROVIDER("Farm", objects);
