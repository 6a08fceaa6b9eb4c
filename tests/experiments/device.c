/* SPDX-License-Identifier: MIT */
/*
 * The provider of the design document's example: static structures with the offsets of devdef.h, to
 * which Open adds First Counter and First Help. Open also checks that no index is above Last
 * Counter.
 */
#include <windows.h>
#include <winperf.h>

#include <string.h>

#include "devdef.h"

#define EXPORT __declspec(dllexport)
#define PERFORMANCE "SYSTEM\\CurrentControlSet\\Services\\DriverName\\Performance"

EXPORT DWORD OpenPerformanceData(LPWSTR names);
EXPORT DWORD ClosePerformanceData(void);
EXPORT DWORD CollectPerformanceData(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);

struct device {
    PERF_OBJECT_TYPE object;
    PERF_COUNTER_DEFINITION counters[2];
    struct {
        DWORD length, a, b, padding;
    } values;
};

/* clang-format off */
#define COUNTER(index, offset) \
    {sizeof(PERF_COUNTER_DEFINITION), index, 0, index, 0, 0, PERF_DETAIL_ADVANCED, \
     PERF_COUNTER_COUNTER, sizeof(DWORD), offset}

static struct device device = {
    {.TotalByteLength = sizeof(struct device),
     .DefinitionLength = sizeof(PERF_OBJECT_TYPE) + 2 * sizeof(PERF_COUNTER_DEFINITION),
     .HeaderLength = sizeof(PERF_OBJECT_TYPE),
     .ObjectNameTitleIndex = OBJECT_1,
     .ObjectHelpTitleIndex = OBJECT_1,
     .DetailLevel = PERF_DETAIL_ADVANCED,
     .NumCounters = 2,
     .NumInstances = PERF_NO_INSTANCES},
    {COUNTER(DEVICE_COUNTER_1, 4), COUNTER(DEVICE_COUNTER_2, 8)},
    {16, 7, 9, 0},
};
/* clang-format on */

static DWORD read_number(HKEY key, const char *name, DWORD *ret)
{
    DWORD size = sizeof *ret;
    return (DWORD)RegQueryValueExA(key, name, NULL, NULL, (BYTE *)ret, &size);
}

static void move_to(DWORD counter, DWORD help)
{
    device.object.ObjectNameTitleIndex += counter;
    device.object.ObjectHelpTitleIndex += help;
    for (int i = 0; i < 2; i++) {
        device.counters[i].CounterNameTitleIndex += counter;
        device.counters[i].CounterHelpTitleIndex += help;
    }
}

DWORD OpenPerformanceData(LPWSTR names)
{
    HKEY key;
    DWORD counter, help, last = 0;
    DWORD status = (DWORD)RegOpenKeyExA(HKEY_LOCAL_MACHINE, PERFORMANCE, 0, KEY_READ, &key);
    if (status)
        return status;
    if (!(status = read_number(key, "First Counter", &counter)) &&
        !(status = read_number(key, "First Help", &help)) &&
        !(status = read_number(key, "Last Counter", &last)))
        move_to(counter, help);
    RegCloseKey(key);
    return status ? status : device.counters[1].CounterNameTitleIndex > last ? ERROR_BADKEY : 0;
}

DWORD ClosePerformanceData(void)
{
    return ERROR_SUCCESS;
}

DWORD CollectPerformanceData(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    DWORD capacity = *bytes;
    *bytes = *types = 0;
    if (capacity < sizeof device)
        return ERROR_MORE_DATA;
    memcpy(*data, &device, sizeof device);
    *data = (char *)*data + sizeof device;
    *bytes = sizeof device;
    *types = 1;
    return ERROR_SUCCESS;
}
