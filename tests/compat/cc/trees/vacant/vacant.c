/* SPDX-License-Identifier: MIT */
/* A provider whose object can have instances but has none now: the object ends with its counter
 * definitions. Programs that read further (last.c) must not read beyond the answer. */
#include <windows.h>
#include <winperf.h>

static struct {
    PERF_OBJECT_TYPE object;
    PERF_COUNTER_DEFINITION counter;
} definition;

__declspec(dllexport) DWORD APIENTRY Open(LPWSTR devices)
{
    HKEY key;
    DWORD name = 0, help = 0, size = sizeof name;
    if (RegOpenKeyExA(HKEY_LOCAL_MACHINE,
                      "SYSTEM\\CurrentControlSet\\Services\\Vacant\\Performance", 0, KEY_READ,
                      &key))
        return ERROR_FILE_NOT_FOUND;
    RegQueryValueExA(key, "First Counter", NULL, NULL, (LPBYTE)&name, &size);
    RegQueryValueExA(key, "First Help", NULL, NULL, (LPBYTE)&help, &size);
    RegCloseKey(key);
    definition.object.TotalByteLength = definition.object.DefinitionLength = sizeof definition;
    definition.object.HeaderLength = sizeof definition.object;
    definition.object.ObjectNameTitleIndex = name;
    definition.object.ObjectHelpTitleIndex = help;
    definition.object.NumCounters = 1;
    definition.object.NumInstances = 0;
    definition.counter.ByteLength = sizeof definition.counter;
    definition.counter.CounterNameTitleIndex = name + 2;
    definition.counter.CounterHelpTitleIndex = help + 2;
    definition.counter.CounterType = PERF_COUNTER_LARGE_RAWCOUNT;
    definition.counter.CounterSize = sizeof(LONGLONG);
    definition.counter.CounterOffset = 8;
    return ERROR_SUCCESS;
}

__declspec(dllexport) DWORD APIENTRY
    Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    DWORD capacity = *bytes;
    *bytes = *types = 0;
    if (capacity < sizeof definition)
        return ERROR_MORE_DATA;
    CopyMemory(*data, &definition, sizeof definition);
    *bytes = sizeof definition;
    *data = (BYTE *)*data + *bytes;
    *types = 1;
    return ERROR_SUCCESS;
}

__declspec(dllexport) DWORD APIENTRY Close(void)
{
    return ERROR_SUCCESS;
}
