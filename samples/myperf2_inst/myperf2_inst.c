/* SPDX-License-Identifier: MIT */
/* myperf2_inst: the answer of myperf1_inst, byte for byte, written with openperflib's builder. */
#include "../common/sample.h"
#include <openperflib/build.h>
#include <winerror.h>
#include <winperf.h>

#include "../myperf1_inst/data.h"
#include "offsets.h"

static DWORD name, help; /* the registry values First Counter and First Help */

const WCHAR samplePerformanceKey[] = PERFORMANCE_KEY("MyPerf2Inst");

DWORD CALLBACK Open(LPWSTR devices)
{
    (void)devices;
    sampleSeed();
    return sampleNumbers(samplePerformanceKey, &name, &help);
}

static void writeObject(opl_build *build)
{
    const opl_build_counter luck = {name + MYPERF2_INST_LUCK,
                                    help + MYPERF2_INST_LUCK,
                                    PERF_COUNTER_RAWCOUNT_HEX,
                                    0,
                                    PERF_DETAIL_NOVICE,
                                    0,
                                    0};
    opl_build_object_info object = {0};
    DWORD i, count = dataCount();
    object.name_index = name + MYPERF2_INST_OBJECT;
    object.help_index = help + MYPERF2_INST_OBJECT;
    object.packed = true; /* no padding, as in myperf1_inst */
    opl_build_object(build, &object, &luck, 1);
    for (i = 0; i < count; i++) {
        opl_build_instance(build, dataName(i));
        opl_build_dword(build, 0, dataValue(i));
    }
}

DWORD WINAPI Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    opl_build build;
    Request request = sampleRequest(query, name + MYPERF2_INST_OBJECT);
    opl_build_init(&build, *data, *bytes);
    if (request == REQUEST_GLOBAL || request == REQUEST_BY_NUMBER)
        writeObject(&build);
    return opl_build_collect(&build, data, bytes, types);
}

DWORD WINAPI Close(void)
{
    return ERROR_SUCCESS;
}
