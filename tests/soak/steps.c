/* SPDX-License-Identifier: MIT */
/*
 * A provider whose counters wrap around every few collections, decrease, or come and go. All values
 * are computed from one number, the count of collections, which is itself a counter. So a program
 * that knows this count for two samples knows what PDH must return.
 */
#include "steps.h"

#include <openperflib/build.h>
#include <openperflib/unstable.h>
#include <windows.h>
#include <winperf.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT DWORD steps_open(LPWSTR names);
EXPORT DWORD steps_close(void);
EXPORT DWORD steps_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);

static ULONGLONG collections;

DWORD steps_open(LPWSTR names)
{
    (void)names;
    return ERROR_SUCCESS;
}

DWORD steps_close(void)
{
    return ERROR_SUCCESS;
}

static void add_instance(opl_build *build, const char *name, ULONGLONG count)
{
    opl_build_instance(build, name);
    for (DWORD i = 0; i < STEPS_COUNTERS; i++)
        opl_build_number(build, i, steps_value(i, count));
}

DWORD steps_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    static const opl_build_object_info object = {.name_index = STEPS_OBJECT,
                                                 .help_index = STEPS_OBJECT + 1};
    opl_build_counter counters[STEPS_COUNTERS];
    opl_build build;
    (void)query;
    for (DWORD i = 0; i < STEPS_COUNTERS; i++)
        counters[i] = (opl_build_counter){.name_index = steps_title(i),
                                          .help_index = steps_title(i) + 1,
                                          .type = steps_rows[i].type,
                                          .level = PERF_DETAIL_NOVICE};
    collections++;
    opl_build_init(&build, *data, *bytes);
    opl_build_object(&build, &object, counters, STEPS_COUNTERS);
    add_instance(&build, "always", collections);
    if (steps_guest(collections))
        add_instance(&build, "guest", collections);
    return opl_build_collect(&build, data, bytes, types);
}
