/* SPDX-License-Identifier: MIT */
/* A provider in C, ANSI, whose file name is in capitals. Like the article's counter it is
 * registered in place of another provider: it loads that provider's library from its own folder,
 * and calls it. */
#include <Windows.h>
#include <WinPerf.h>
#include <string.h>
#include <sal.h>

typedef DWORD(APIENTRY *OPEN)(LPWSTR);
typedef DWORD(APIENTRY *COLLECT)(LPWSTR, LPVOID *, LPDWORD, LPDWORD);
typedef DWORD(APIENTRY *CLOSE)(void);

static HINSTANCE hSelf;
static HMODULE hOriginal;
static CRITICAL_SECTION section;
static OPEN pOpen;
static COLLECT pCollect;
static CLOSE pClose;
static int class; /* `class` is a valid name, because this is C, not C++ */

BOOL APIENTRY DllMain(HINSTANCE hInstance, DWORD dwReason, LPVOID lpReserved)
{
    if (dwReason == DLL_PROCESS_ATTACH) {
        hSelf = hInstance;
        InitializeCriticalSection(&section);
    }
    if (dwReason == DLL_PROCESS_DETACH)
        DeleteCriticalSection(&section);
    return TRUE;
}

DWORD APIENTRY CoolOpen(_In_opt_ LPWSTR lpDevices)
{
    CHAR szPath[MAX_PATH];
    if (!GetModuleFileName(hSelf, szPath, sizeof szPath) || !strrchr(szPath, '\\'))
        return GetLastError();
    *strrchr(szPath, '\\') = '\0';
    strcat(szPath, "\\ORIGINAL.DLL");
    hOriginal = LoadLibrary(szPath);
    if (!hOriginal)
        return GetLastError();
    pOpen = (OPEN)GetProcAddress(hOriginal, "OpenTankPerformanceData");
    pCollect = (COLLECT)GetProcAddress(hOriginal, "CollectTankPerformanceData");
    pClose = (CLOSE)GetProcAddress(hOriginal, "CloseTankPerformanceData");
    if (!pOpen || !pCollect || !pClose)
        return ERROR_PROC_NOT_FOUND;
    return pOpen(lpDevices);
}

DWORD APIENTRY CoolCollect(LPWSTR lpQuery, LPVOID *lppData, LPDWORD lpcbData, LPDWORD lpTypes)
{
    BYTE *pBegin = (BYTE *)*lppData;
    DWORD dwResult;
    SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL);
    EnterCriticalSection(&section);
    dwResult = pCollect(lpQuery, lppData, lpcbData, lpTypes);
    if (dwResult == ERROR_SUCCESS && *lpcbData) {
        PERF_OBJECT_TYPE *pObject = (PERF_OBJECT_TYPE *)pBegin;
        /* gives the first counter another value */
        *(DWORD *)(pBegin + pObject->DefinitionLength +
                   ((PERF_COUNTER_DEFINITION *)(pObject + 1))->CounterOffset) = 4711 + class;
    }
    LeaveCriticalSection(&section);
    SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_NORMAL);
    return dwResult;
}

DWORD APIENTRY CoolClose(void)
{
    DWORD dwResult = pClose ? pClose() : ERROR_SUCCESS;
    if (hOriginal)
        FreeLibrary(hOriginal);
    hOriginal = NULL;
    return dwResult;
}
