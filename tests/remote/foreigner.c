/* SPDX-License-Identifier: MIT */
/*
 * A provider that answers queries for other machines: for the machine GOOD with a block, for
 * DAMAGED with a block that has a wrong length inside, for LONG with a block and bytes after it,
 * for OBJECTS with an object instead of a block; other names are unknown.
 */
#include <openperflib/build.h>
#include <windows.h>

#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
EXPORTED DWORD APIENTRY OpenForeigner(LPWSTR devices);
EXPORTED DWORD APIENTRY CollectForeigner(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
EXPORTED DWORD APIENTRY CloseForeigner(void);

DWORD APIENTRY OpenForeigner(LPWSTR devices)
{
    (void)devices;
    return ERROR_SUCCESS;
}

DWORD APIENTRY CloseForeigner(void)
{
    return ERROR_SUCCESS;
}

static bool is_query(const WCHAR *query, const char *text)
{
    while (*text && *query == (WCHAR)*text) {
        query++;
        text++;
    }
    return !*text && !*query;
}

static void write_object(opl_build *build)
{
    static const opl_build_counter counters[] = {
        {.name_index = 6, .type = PERF_COUNTER_RAWCOUNT, .level = PERF_DETAIL_NOVICE}
    };
    const opl_build_object_info info = {.name_index = 22222, .single = true};
    opl_build_object(build, &info, counters, 1);
    opl_build_dword(build, 0, 4711);
}

/* Writes the header of a block before the objects, which the builder has already written. */
static DWORD write_block(LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    PERF_DATA_BLOCK *header = *data;
    LPVOID end = header + 1;
    DWORD capacity = *bytes, size = capacity - (DWORD)sizeof *header;
    opl_build build;
    *bytes = *types = 0;
    if (capacity < sizeof *header)
        return ERROR_MORE_DATA;
    opl_build_init(&build, end, size);
    write_object(&build);
    DWORD status = opl_build_collect(&build, &end, &size, types);
    if (status)
        return status;
    *header = (PERF_DATA_BLOCK){
        .Signature = {'P', 'E',        'R',           'F'},
        .LittleEndian = 1,
        .Version = 1,
        .Revision = 1,
        .TotalByteLength = (DWORD)sizeof *header + size,
        .HeaderLength = sizeof *header,
        .NumObjectTypes = 1,
        .SystemTime = {.wYear = 1995,   .wMonth = 3, .wDay = 1}
    };
    *bytes = header->TotalByteLength;
    *data = end;
    return ERROR_SUCCESS;
}

DWORD APIENTRY CollectForeigner(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    PERF_DATA_BLOCK *header = *data;
    opl_build build;
    bool damaged = is_query(query, "Foreign DAMAGED"), longer = is_query(query, "Foreign LONG");
    if (damaged || longer || is_query(query, "Foreign GOOD") || is_query(query, "Global")) {
        DWORD status = write_block(data, bytes, types);
        if (!status && damaged)
            ((PERF_OBJECT_TYPE *)(header + 1))->DefinitionLength += 400;
        if (!status && longer)
            header->TotalByteLength -= 8;
        return status;
    }
    opl_build_init(&build, *data, *bytes);
    if (is_query(query, "Foreign OBJECTS"))
        write_object(&build);
    return opl_build_collect(&build, data, bytes, types);
}
