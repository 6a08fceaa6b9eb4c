/* SPDX-License-Identifier: MIT */
/* A provider in C, without UNICODE: with a message file, from which a header is made before this
 * file is compiled, and a .def file. */
#include <windows.h>
#include <winperf.h>
#include <stdio.h>
#include "MillMsg.h"
#include "millsym.h"

static struct {
    PERF_OBJECT_TYPE object;
    PERF_COUNTER_DEFINITION counter;
} def;
static HANDLE hLog;

static DWORD number(HKEY hKey, LPSTR szName)
{
    DWORD dwValue = 0, cb = sizeof dwValue;
    RegQueryValueExA(hKey, szName, NULL, NULL, (LPBYTE)&dwValue, &cb);
    return dwValue;
}

DWORD WINAPI MillOpen(LPWSTR lpDevices)
{
    HKEY hKey;
    char szFirst[32];
    LPCSTR pszStrings[2] = {"Mill", szFirst};
    if (RegOpenKeyExA(HKEY_LOCAL_MACHINE, "SYSTEM\\CurrentControlSet\\Services\\Mill\\Performance",
                      0, KEY_READ, &hKey))
        return GetLastError();
    def.object.ObjectNameTitleIndex = number(hKey, "First Counter") + MILL;
    def.object.ObjectHelpTitleIndex = number(hKey, "First Help") + MILL;
    RegCloseKey(hKey);
    def.object.TotalByteLength = sizeof def + 16;
    def.object.DefinitionLength = sizeof def;
    def.object.HeaderLength = sizeof def.object;
    def.object.DetailLevel = PERF_DETAIL_NOVICE;
    def.object.NumCounters = 1;
    def.object.NumInstances = PERF_NO_INSTANCES;
    def.counter.ByteLength = sizeof def.counter;
    def.counter.CounterNameTitleIndex = def.object.ObjectNameTitleIndex + MILL_SACKS;
    def.counter.CounterHelpTitleIndex = def.object.ObjectHelpTitleIndex + MILL_SACKS;
    def.counter.CounterType = PERF_COUNTER_RAWCOUNT;
    def.counter.CounterSize = sizeof(DWORD);
    def.counter.CounterOffset = 8;
    sprintf(szFirst, "%lu", def.object.ObjectNameTitleIndex);
    hLog = RegisterEventSourceA(NULL, "Mill");
    ReportEventA(hLog, EVENTLOG_INFORMATION_TYPE, 0, MILL_OPENED, NULL, 2, 0, pszStrings, NULL);
    return ERROR_SUCCESS;
}

DWORD WINAPI MillCollect(LPWSTR lpwszValue, LPVOID *lppData, LPDWORD lpcbBytes,
                         LPDWORD lpcObjectTypes)
{
    DWORD values[4] = {16, 0, 77, 0};
    LPBYTE lpByte = *lppData;
    if (*lpcbBytes < def.object.TotalByteLength) {
        *lpcbBytes = *lpcObjectTypes = 0;
        return ERROR_MORE_DATA;
    }
    memcpy(lpByte, &def, sizeof def);
    memcpy(lpByte + sizeof def, values, sizeof values);
    *lppData = lpByte + def.object.TotalByteLength;
    *lpcbBytes = def.object.TotalByteLength;
    *lpcObjectTypes = 1;
    return ERROR_SUCCESS;
}

DWORD WINAPI MillClose(void)
{
    ReportEventA(hLog, EVENTLOG_WARNING_TYPE, 0, MILL_CLOSED, NULL, 0, 0, NULL, NULL);
    DeregisterEventSource(hLog);
    return ERROR_SUCCESS;
}
