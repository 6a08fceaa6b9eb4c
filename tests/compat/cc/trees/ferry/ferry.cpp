// SPDX-License-Identifier: MIT
// A provider in C++, Unicode: C++ functions that only a .def file exports, TCHAR, and classes.
#include "StdAfx.h"
#include <vector>
#include "Ferrysym.h"

namespace
{
struct Ferry {
    LPCTSTR name;
    DWORD passengers;
    LONGLONG metres;
};

class CProvider
{
public:
    DWORD Init();
    DWORD Write(LPVOID *data, LPDWORD bytes, LPDWORD types);
    bool Wanted(LPCWSTR query) const;

private:
    struct Definition {
        PERF_OBJECT_TYPE object;
        PERF_COUNTER_DEFINITION passengers, metres;
    };
    struct Values {
        PERF_COUNTER_BLOCK block;
        DWORD passengers;
        LONGLONG metres;
    };
    static void Define(PERF_COUNTER_DEFINITION &counter, DWORD name, DWORD help, DWORD type, DWORD size,
                       DWORD offset);
    Definition m_definition;
    std::vector<Ferry> m_ferries;
};

CProvider *g_pProvider;
DWORD g_cOpen;

void CProvider::Define(PERF_COUNTER_DEFINITION &counter, DWORD name, DWORD help, DWORD type, DWORD size, DWORD offset)
{
    counter.ByteLength = sizeof(counter);
    counter.CounterNameTitleIndex = name;
    counter.CounterHelpTitleIndex = help;
    counter.DetailLevel = PERF_DETAIL_NOVICE;
    counter.CounterType = type;
    counter.CounterSize = size;
    counter.CounterOffset = offset;
}

DWORD CProvider::Init()
{
    HKEY hKey;
    DWORD name = 0, help = 0, cb = sizeof(DWORD);
    LONG lResult =
        RegOpenKeyEx(HKEY_LOCAL_MACHINE, _T("SYSTEM\\CurrentControlSet\\Services\\Ferry\\Performance"), 0, KEY_READ, &hKey);
    if (lResult != ERROR_SUCCESS)
        return lResult;
    lResult = RegQueryValueEx(hKey, _T("First Counter"), NULL, NULL, (LPBYTE)&name, &cb);
    cb = sizeof(DWORD);
    if (lResult == ERROR_SUCCESS)
        lResult = RegQueryValueEx(hKey, _T("First Help"), NULL, NULL, (LPBYTE)&help, &cb);
    RegCloseKey(hKey);
    memset(&m_definition, 0, sizeof(m_definition));
    m_definition.object.DefinitionLength = sizeof(m_definition);
    m_definition.object.HeaderLength = sizeof(m_definition.object);
    m_definition.object.ObjectNameTitleIndex = name + FERRY;
    m_definition.object.ObjectHelpTitleIndex = help + FERRY;
    m_definition.object.DetailLevel = PERF_DETAIL_NOVICE;
    m_definition.object.NumCounters = 2;
    Define(m_definition.passengers, name + FERRY_PASSENGERS, help + FERRY_PASSENGERS, PERF_COUNTER_RAWCOUNT,
           sizeof(DWORD), offsetof(Values, passengers));
    Define(m_definition.metres, name + FERRY_METRES, help + FERRY_METRES, PERF_COUNTER_LARGE_RAWCOUNT,
           sizeof(LONGLONG), offsetof(Values, metres));
    static const Ferry ferries[] = {{_T("Pride"), 120, 4294967297}, {_T("Joy"), 80, 5}};
    m_ferries.assign(ferries, ferries + 2);
    return lResult;
}

bool CProvider::Wanted(LPCWSTR query) const
{
    WCHAR number[16];
    ::StringCchPrintfW(number, ARRAYSIZE(number), L"%d", m_definition.object.ObjectNameTitleIndex);
    return ::CompareStringW(LOCALE_USER_DEFAULT, NORM_IGNORECASE, query, -1, L"GLOBAL", -1) == CSTR_EQUAL ||
           wcsstr(query, number) != NULL;
}

DWORD CProvider::Write(LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    BYTE *start = static_cast<BYTE *>(*data), *at = start + sizeof(m_definition);
    DWORD capacity = *bytes;
    *bytes = *types = 0;
    for (size_t i = 0; i < m_ferries.size(); ++i) {
        DWORD cbName = (lstrlen(m_ferries[i].name) + 1) * sizeof(WCHAR);
        DWORD cbInstance = (sizeof(PERF_INSTANCE_DEFINITION) + cbName + 7) / 8 * 8;
        if (at + cbInstance + sizeof(Values) > start + capacity)
            return ERROR_MORE_DATA;
        PERF_INSTANCE_DEFINITION instance = {cbInstance, 0, 0, (DWORD)PERF_NO_UNIQUE_ID, sizeof(instance), cbName};
        memset(at, 0, cbInstance);
        memcpy(at, &instance, sizeof(instance));
        memcpy(at + sizeof(instance), m_ferries[i].name, cbName);
        Values values = {{sizeof(values)}, m_ferries[i].passengers, m_ferries[i].metres};
        memcpy(at + cbInstance, &values, sizeof(values));
        at += cbInstance + sizeof(values);
    }
    m_definition.object.NumInstances = (LONG)m_ferries.size();
    m_definition.object.TotalByteLength = (DWORD)(at - start);
    memcpy(start, &m_definition, sizeof(m_definition));
    *data = at;
    *bytes = m_definition.object.TotalByteLength;
    *types = 1;
    return ERROR_SUCCESS;
}
} // namespace

DWORD WINAPI OpenFerry(LPWSTR)
{
    if (g_cOpen++)
        return ERROR_SUCCESS;
    g_pProvider = new CProvider;
    DWORD result = g_pProvider->Init();
    if (result != ERROR_SUCCESS) {
        delete g_pProvider;
        g_cOpen = 0;
    }
    return result;
}

DWORD WINAPI CollectFerry(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    if (g_pProvider && g_pProvider->Wanted(query))
        return g_pProvider->Write(data, bytes, types);
    *bytes = *types = 0;
    return ERROR_SUCCESS;
}

DWORD WINAPI CloseFerry()
{
    if (--g_cOpen == 0)
        delete g_pProvider;
    return ERROR_SUCCESS;
}

BOOL APIENTRY DllMain(HANDLE, DWORD reason, LPVOID)
{
    OutputDebugString(reason == DLL_PROCESS_ATTACH ? _T("ferry: here") : _T("ferry: gone"));
    return TRUE;
}
