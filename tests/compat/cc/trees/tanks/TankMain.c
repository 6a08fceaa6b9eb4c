/* SPDX-License-Identifier: MIT */
/* A provider in C, without UNICODE: static definitions of two objects, exports by a .def file, file
 * names in other letter cases. */
#include <Windows.h>
#include <WinPerf.h>
#include <String.h>
#include "TankCtrs.H"
#include "Inc\TankData.h"

/* declared by the types of winperf.h */
PM_OPEN_PROC OpenTankPerformanceData;
PM_COLLECT_PROC CollectTankPerformanceData;
PM_CLOSE_PROC CloseTankPerformanceData;

/* clang-format off */
TANK_DATA_DEFINITION TankDataDefinition = {
    {sizeof(TANK_DATA_DEFINITION) + SIZE_OF_TANK_DATA,
     sizeof(TANK_DATA_DEFINITION),
     sizeof(PERF_OBJECT_TYPE),
     TANKOBJ, 0, TANKOBJ, 0,
     PERF_DETAIL_NOVICE, 2, 0, PERF_NO_INSTANCES, 0},
    {sizeof(PERF_COUNTER_DEFINITION),
     TANK_LEVEL, 0, TANK_LEVEL, 0, 0,
     PERF_DETAIL_NOVICE, PERF_COUNTER_RAWCOUNT, sizeof(DWORD), LEVEL_OFFSET},
    {sizeof(PERF_COUNTER_DEFINITION),
     TANK_PUMPED, 0, TANK_PUMPED, 0, 0,
     PERF_DETAIL_NOVICE, PERF_COUNTER_BULK_COUNT, sizeof(LONGLONG), PUMPED_OFFSET},
};
/* clang-format on */

DWORD dwOpenCount = 0;
BOOL bInitOK = FALSE;
HANDLE hEventLog;
int nCommon;

DWORD APIENTRY OpenTankPerformanceData(LPWSTR lpDeviceNames)
{
    LONG status;
    HKEY hKey;
    DWORD size, type, dwFirstCounter, dwFirstHelp;
    CHAR text[128];
    LPSTR strings[1];

    UNREFERENCED_PARAMETER(lpDeviceNames);
    if (!dwOpenCount) {
        hEventLog = RegisterEventSource(NULL, TEXT("Tanks"));
        status = RegOpenKeyEx(HKEY_LOCAL_MACHINE,
                              "SYSTEM\\CurrentControlSet\\Services\\Tanks\\Performance", 0L,
                              KEY_READ, &hKey);
        if (status != ERROR_SUCCESS) {
            wsprintf(text, "the key cannot be opened: %lu", status);
            strings[0] = text;
            ReportEvent(hEventLog, EVENTLOG_ERROR_TYPE, 0, 1, NULL, 1, 0, (LPCSTR *)strings, NULL);
            return status;
        }
        size = sizeof(DWORD);
        status = RegQueryValueEx(hKey, "First Counter", 0L, &type, (LPBYTE)&dwFirstCounter, &size);
        size = sizeof(DWORD);
        if (status == ERROR_SUCCESS)
            status = RegQueryValueEx(hKey, "First Help", 0L, &type, (LPBYTE)&dwFirstHelp, &size);
        RegCloseKey(hKey);
        if (status != ERROR_SUCCESS)
            return status;
        TankDataDefinition.TankObject.ObjectNameTitleIndex += dwFirstCounter;
        TankDataDefinition.TankObject.ObjectHelpTitleIndex += dwFirstHelp;
        TankDataDefinition.Level.CounterNameTitleIndex += dwFirstCounter;
        TankDataDefinition.Level.CounterHelpTitleIndex += dwFirstHelp;
        TankDataDefinition.Pumped.CounterNameTitleIndex += dwFirstCounter;
        TankDataDefinition.Pumped.CounterHelpTitleIndex += dwFirstHelp;
        wsprintf(text, "%lu numbers from %lu on in %s", (DWORD)3, dwFirstCounter, "Tanks");
        strings[0] = text;
        ReportEvent(hEventLog, EVENTLOG_INFORMATION_TYPE, 0, 2, NULL, 1, 0, (LPCSTR *)strings,
                    NULL);
        bInitOK = TRUE;
    }
    dwOpenCount++;
    return ERROR_SUCCESS;
}

DWORD APIENTRY CollectTankPerformanceData(IN LPWSTR lpValueName, IN OUT LPVOID *lppData,
                                          IN OUT LPDWORD lpcbTotalBytes,
                                          IN OUT LPDWORD lpNumObjectTypes)
{
    ULONG SpaceNeeded = sizeof(TANK_DATA_DEFINITION) + SIZE_OF_TANK_DATA;
    PBYTE pData = (PBYTE)*lppData;

    if (!bInitOK ||
        !IsNumberWanted(lpValueName, TankDataDefinition.TankObject.ObjectNameTitleIndex)) {
        *lpcbTotalBytes = (DWORD)0;
        *lpNumObjectTypes = (DWORD)0;
        return ERROR_SUCCESS;
    }
    if (*lpcbTotalBytes < SpaceNeeded) {
        *lpcbTotalBytes = (DWORD)0;
        *lpNumObjectTypes = (DWORD)0;
        return ERROR_MORE_DATA;
    }
    memmove(pData, &TankDataDefinition, sizeof(TANK_DATA_DEFINITION));
    FillTank(pData + sizeof(TANK_DATA_DEFINITION));
    *lppData = (PVOID)(pData + SpaceNeeded);
    *lpcbTotalBytes = SpaceNeeded;
    *lpNumObjectTypes = 1;
    return ERROR_SUCCESS;
}

DWORD APIENTRY CloseTankPerformanceData()
{
    if (!(--dwOpenCount)) {
        DeregisterEventSource(hEventLog);
        hEventLog = NULL;
        bInitOK = FALSE;
        ReleaseTank();
    }
    return ERROR_SUCCESS;
}
