/* SPDX-License-Identifier: MIT */
/* A provider in C, with UNICODE: instances, wide text, __declspec(dllexport), DllMain, interlocked
 * values. */
#ifndef UNICODE
#error "this one is Unicode"
#endif
#include <windows.h>
#include <winperf.h>
#include <psapi.h>
#include <tchar.h>
#include <strsafe.h>
#include "lampsym.h"

#define DllExport __declspec(dllexport)

typedef struct {
    PERF_OBJECT_TYPE object;
    PERF_COUNTER_DEFINITION length, calls;
} LAMP_DEFINITION;

typedef struct {
    PERF_COUNTER_BLOCK block;
    DWORD length, calls;
} LAMP_VALUES;

static LAMP_DEFINITION definition;
static HINSTANCE hInstance;
static LONG cOpen, cCalls;
static TCHAR szModule[MAX_PATH];

BOOL WINAPI DllMain(HINSTANCE hDll, DWORD dwReason, LPVOID lpReserved)
{
    if (dwReason == DLL_PROCESS_ATTACH) {
        hInstance = hDll;
        DisableThreadLibraryCalls(hDll);
    }
    return TRUE;
}

static DWORD GetFirst(LPCTSTR pszName, __int64 *pValue)
{
    HKEY hKey;
    TCHAR szKey[128];
    DWORD dwType, dwValue = 0, cb = sizeof(dwValue), dwResult;
    StringCchPrintf(szKey, sizeof szKey / sizeof *szKey,
                    _T("SYSTEM\\CurrentControlSet\\Services\\%s\\Performance"), L"Lamps");
    dwResult = RegOpenKeyEx(HKEY_LOCAL_MACHINE, szKey, 0, KEY_READ, &hKey);
    if (dwResult)
        return dwResult;
    dwResult = RegQueryValueEx(hKey, pszName, NULL, &dwType, (LPBYTE)&dwValue, &cb);
    RegCloseKey(hKey);
    *pValue = dwValue;
    return dwResult;
}

static void Describe(PERF_COUNTER_DEFINITION *p, DWORD name, DWORD help, DWORD offset)
{
    p->ByteLength = sizeof *p;
    p->CounterNameTitleIndex = name;
    p->CounterHelpTitleIndex = help;
    p->DetailLevel = PERF_DETAIL_NOVICE;
    p->CounterType = PERF_COUNTER_RAWCOUNT;
    p->CounterSize = sizeof(DWORD);
    p->CounterOffset = offset;
}

DllExport DWORD APIENTRY Open(LPWSTR pszDevices)
{
    __int64 name, help;
    DWORD result;
    if (InterlockedIncrement(&cOpen) > 1)
        return ERROR_SUCCESS;
    if ((result = GetFirst(TEXT("First Counter"), &name)) ||
        (result = GetFirst(TEXT("First Help"), &help))) {
        InterlockedDecrement(&cOpen);
        return result;
    }
    GetModuleFileName(hInstance, szModule, MAX_PATH);
    definition.object.DefinitionLength = sizeof definition;
    definition.object.HeaderLength = sizeof definition.object;
    definition.object.ObjectNameTitleIndex = (DWORD)name + LAMP;
    definition.object.ObjectHelpTitleIndex = (DWORD)help + LAMP;
    definition.object.DetailLevel = PERF_DETAIL_NOVICE;
    definition.object.NumCounters = 2;
    Describe(&definition.length, (DWORD)name + LAMP_LENGTH, (DWORD)help + LAMP_LENGTH,
             FIELD_OFFSET(LAMP_VALUES, length));
    Describe(&definition.calls, (DWORD)name + LAMP_CALLS, (DWORD)help + LAMP_CALLS,
             FIELD_OFFSET(LAMP_VALUES, calls));
    return ERROR_SUCCESS;
}

static void MakeName(int i, WCHAR *szName, size_t cch)
{
    static const WCHAR *pszNames[] = {L"Hall", L"\u0414\u0432\u043e\u0440"};
    WCHAR szNumber[12];
    if (i < 2) {
        wcscpy_s(szName, cch, pszNames[i]);
        return;
    }
    if (i == 2) { /* the library's file name, found by its handle */
        const WCHAR *pSlash = wcsrchr(szModule, L'/');
        lstrcpy(szName, pSlash ? pSlash + 1 : szModule);
        _wcslwr_s(szName, cch);
        return;
    }
    _ultow_s(48879, szNumber, 12, 16);
    StringCchCopy(szName, cch, L"Lamp ");
    wcscat(szName, szNumber);
}

DllExport DWORD APIENTRY Collect(LPWSTR pszQuery, LPVOID *ppData, LPDWORD pcb, LPDWORD pcTypes)
{
    BYTE *pStart = (BYTE *)*ppData, *p = pStart + sizeof definition;
    DWORD cb = *pcb, i;
    WCHAR szIndex[16];
    *pcb = *pcTypes = 0;
    swprintf(szIndex, L"%lu", definition.object.ObjectNameTitleIndex);
    if (_wcsicmp(pszQuery, L"Global") && wcsstr(pszQuery, szIndex) == NULL)
        return ERROR_SUCCESS;
    InterlockedIncrement(&cCalls);
    if (cb < sizeof definition)
        return ERROR_MORE_DATA;
    for (i = 0; i < 4; i++) {
        PERF_INSTANCE_DEFINITION *pInstance = (PERF_INSTANCE_DEFINITION *)p;
        LAMP_VALUES *pValues;
        WCHAR szName[64];
        DWORD cbName, cbAll;
        MakeName(i, szName, 64);
        cbName = (DWORD)(wcslen(szName) + 1) * sizeof(WCHAR);
        cbAll = (sizeof *pInstance + cbName + 7) & ~7;
        if ((DWORD)(p - pStart) + cbAll + sizeof *pValues + 8 > cb)
            return ERROR_MORE_DATA;
        memset(pInstance, 0, cbAll);
        pInstance->ByteLength = cbAll;
        pInstance->UniqueID = PERF_NO_UNIQUE_ID;
        pInstance->NameOffset = sizeof *pInstance;
        pInstance->NameLength = cbName;
        CopyMemory(pInstance + 1, szName, cbName);
        pValues = (LAMP_VALUES *)(p + cbAll);
        ZeroMemory(pValues, sizeof *pValues);
        pValues->block.ByteLength = (sizeof *pValues + 7) & ~7;
        pValues->length = (DWORD)wcslen(szName);
        pValues->calls = cCalls;
        p += cbAll + pValues->block.ByteLength;
    }
    definition.object.NumInstances = i;
    definition.object.TotalByteLength = (DWORD)(p - pStart);
    CopyMemory(pStart, &definition, sizeof definition);
    *pcb = definition.object.TotalByteLength;
    *ppData = p;
    *pcTypes = 1;
    return ERROR_SUCCESS;
}

DllExport DWORD APIENTRY Close(void)
{
    InterlockedDecrement(&cOpen);
    return ERROR_SUCCESS;
}
