/* SPDX-License-Identifier: MIT */
/*
 * The provider of all services of the tests: its file is copied as svc-N.so for the service "Svc
 * N". The test program that loads it has the function first_number, which returns First Counter of
 * service N. The provider has one object with one counter.
 */
#include <windows.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Defined by the program that loads this library. */
DWORD first_number(int provider);

__declspec(dllexport) DWORD APIENTRY Open(LPWSTR devices);
__declspec(dllexport) DWORD APIENTRY
    Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
__declspec(dllexport) DWORD APIENTRY Close(void);

struct answer {
    PERF_OBJECT_TYPE object;
    PERF_COUNTER_DEFINITION counter;
    PERF_COUNTER_BLOCK block;
    DWORD value;
};
static DWORD first;

DWORD APIENTRY Open(LPWSTR devices)
{
    Dl_info info;
    const char *number = dladdr(&first, &info) ? strstr(info.dli_fname, "svc-") : NULL;
    first = number ? first_number(atoi(number + strlen("svc-"))) : 0;
    return first ? ERROR_SUCCESS : ERROR_INVALID_DATA;
}

static BOOL is_queried(LPCWSTR query)
{
    DWORD number = 0;
    if (!*query || *query == 'G')
        return TRUE;
    for (;; query++) {
        if (*query >= '0' && *query <= '9') {
            number = number * 10 + (DWORD)(*query - '0');
            continue;
        }
        if (number == first)
            return TRUE;
        number = 0;
        if (!*query)
            return FALSE;
    }
}

DWORD APIENTRY Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    struct answer answer = {.value = first};
    DWORD capacity = *bytes;
    *bytes = *types = 0;
    if (!is_queried(query))
        return ERROR_SUCCESS;
    if (capacity < sizeof answer)
        return ERROR_MORE_DATA;
    answer.object.TotalByteLength = sizeof answer;
    answer.object.DefinitionLength = sizeof answer.object + sizeof answer.counter;
    answer.object.HeaderLength = sizeof answer.object;
    answer.object.ObjectNameTitleIndex = first;
    answer.object.ObjectHelpTitleIndex = first + 1;
    answer.object.NumCounters = 1;
    answer.object.NumInstances = PERF_NO_INSTANCES;
    answer.counter.ByteLength = sizeof answer.counter;
    answer.counter.CounterNameTitleIndex = first + 2;
    answer.counter.CounterHelpTitleIndex = first + 3;
    answer.counter.CounterType = PERF_COUNTER_RAWCOUNT;
    answer.counter.CounterSize = sizeof answer.value;
    answer.counter.CounterOffset = sizeof answer.block;
    answer.block.ByteLength = sizeof answer.block + sizeof answer.value;
    memcpy(*data, &answer, sizeof answer);
    *data = (BYTE *)*data + sizeof answer;
    *bytes = sizeof answer;
    *types = 1;
    return ERROR_SUCCESS;
}

DWORD APIENTRY Close(void)
{
    return ERROR_SUCCESS;
}
