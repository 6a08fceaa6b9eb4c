/* SPDX-License-Identifier: MIT */
/*
 * The provider of bench/remote. Object 22221 has one instance, 22222 has so many that its block is
 * 58 KB, 22223 so many that it is 6 MB.
 */
#include <openperflib/build.h>
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))
EXPORTED DWORD APIENTRY source_open(LPWSTR devices);
EXPORTED DWORD APIENTRY source_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
EXPORTED DWORD APIENTRY source_close(void);

DWORD APIENTRY source_open(LPWSTR devices)
{
    (void)devices;
    return ERROR_SUCCESS;
}

DWORD APIENTRY source_close(void)
{
    return ERROR_SUCCESS;
}

static void write_object(opl_build *build, DWORD number, DWORD instances)
{
    static const opl_build_counter counters[] = {
        {.name_index = 6, .type = PERF_COUNTER_BULK_COUNT, .level = PERF_DETAIL_NOVICE},
        {.name_index = 8, .type = PERF_COUNTER_RAWCOUNT,   .level = PERF_DETAIL_NOVICE},
    };
    const opl_build_object_info info = {.name_index = number};
    opl_build_object(build, &info, counters, 2);
    for (DWORD i = 0; i < instances && !build->full; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%05u", (unsigned)i);
        opl_build_instance(build, name);
        opl_build_large(build, 0, (ULONGLONG)i * 1000);
        opl_build_dword(build, 1, i);
    }
}

/* Uses only the first number of the query. */
DWORD APIENTRY source_collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    static const DWORD instances[] = {1, 895, 95000};
    opl_build build;
    char text[8] = "";
    for (int i = 0; i < 7 && query[i] >= '0' && query[i] <= '9'; i++)
        text[i] = (char)query[i];
    DWORD number = (DWORD)strtoul(text, NULL, 10);
    opl_build_init(&build, *data, *bytes);
    if (number >= 22221 && number <= 22223)
        write_object(&build, number, instances[number - 22221]);
    return opl_build_collect(&build, data, bytes, types);
}
