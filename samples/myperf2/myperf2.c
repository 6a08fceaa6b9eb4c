/* SPDX-License-Identifier: MIT */
/*
 * myperf2: the answer of myperf1, byte for byte, written with openperflib's builder: offsets,
 * lengths and padding are computed by the builder.
 */
#include "../common/sample.h"
#include <openperflib/build.h>
#include <winerror.h>
#include <winperf.h>

#include "offsets.h"

#include <stdlib.h>

static DWORD name, help; /* the registry values First Counter and First Help */

const WCHAR samplePerformanceKey[] = PERFORMANCE_KEY("MyPerf2");

DWORD CALLBACK Open(LPWSTR devices)
{
    (void)devices;
    sampleSeed();
    return sampleNumbers(samplePerformanceKey, &name, &help);
}

static void writeObject(opl_build *build)
{
    /* clang-format off */
    const opl_build_counter counters[] = {
        {name + MYPERF2_GREETING, help + MYPERF2_GREETING, PERF_COUNTER_TEXT, 0, PERF_DETAIL_NOVICE, 28, 0},
        {name + MYPERF2_DIGIT, help + MYPERF2_DIGIT, PERF_COUNTER_RAWCOUNT_HEX, 0, PERF_DETAIL_NOVICE, 0, 0},
    };
    /* clang-format on */
    opl_build_object_info object = {0};
    object.name_index = name + MYPERF2_OBJECT;
    object.help_index = help + MYPERF2_OBJECT;
    object.single = true;
    object.packed = true; /* no padding, as in myperf1 */
    opl_build_object(build, &object, counters, 2);
    opl_build_text(build, 0, "Hello, World!");
    opl_build_dword(build, 1, (DWORD)(rand() % 10));
}

DWORD WINAPI Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    opl_build build;
    Request request = sampleRequest(query, name + MYPERF2_OBJECT);
    opl_build_init(&build, *data, *bytes);
    if (request == REQUEST_GLOBAL || request == REQUEST_BY_NUMBER)
        writeObject(&build);
    return opl_build_collect(&build, data, bytes, types);
}

DWORD WINAPI Close(void)
{
    return ERROR_SUCCESS;
}
