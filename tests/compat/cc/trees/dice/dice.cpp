// SPDX-License-Identifier: MIT
// A provider in C++, ANSI: reads what an application (player.cpp) writes to a file mapping that a
// mutex guards. It does so in the steps that Microsoft's document on Collect lists: open the mapping,
// lock the mutex, check the size, copy, release.
#include <WINDOWS.H>
#include <winperf.h>
#include "..\shared\dice.h"
#include <fstream.h>
#include <iomanip.h>
#include <iostream.h>

class CDice
{
public:
    CDice() : m_hMap(NULL), m_hMutex(NULL), m_pShared(NULL) {}
    ~CDice() { Disconnect(); }

    bool Connect()
    {
        if (m_pShared)
            return true;
        m_hMap = OpenFileMapping(FILE_MAP_READ, FALSE, DICE_MAPPING);
        m_hMutex = m_hMap ? OpenMutex(MUTEX_ALL_ACCESS, FALSE, DICE_MUTEX) : NULL;
        if (m_hMutex)
            m_pShared = (const DICE_SHARED *)MapViewOfFile(m_hMap, FILE_MAP_READ, 0, 0, 0);
        if (!m_pShared)
            Disconnect();
        return m_pShared != NULL;
    }

    void Disconnect()
    {
        if (m_pShared)
            UnmapViewOfFile(m_pShared);
        if (m_hMap)
            CloseHandle(m_hMap);
        if (m_hMutex)
            CloseHandle(m_hMutex);
        m_hMap = m_hMutex = NULL;
        m_pShared = NULL;
    }

    // returns 0 if the application has ended, or holds the mutex too long
    DWORD Read(DICE_SHARED &copy)
    {
        if (!Connect())
            return 0;
        DWORD dwWait = WaitForSingleObject(m_hMutex, 500);
        if (dwWait != WAIT_OBJECT_0 && dwWait != WAIT_ABANDONED)
            return 0;
        copy = *m_pShared;
        ReleaseMutex(m_hMutex);
        return dwWait == WAIT_ABANDONED ? 2 : 1;
    }

private:
    HANDLE m_hMap, m_hMutex;
    const DICE_SHARED *m_pShared;
};

static CDice *g_pDice;

struct DEFINITION {
    PERF_OBJECT_TYPE object;
    PERF_COUNTER_DEFINITION counters[3];
};
static DEFINITION g_definition = {0};

struct VALUES {
    PERF_COUNTER_BLOCK block;
    DWORD status, throws, sum;
};

static DWORD ReadNumber(const char *name, DWORD &number)
{
    HKEY key;
    DWORD size = sizeof(number), type;
    long result = RegOpenKeyEx(HKEY_LOCAL_MACHINE, "SYSTEM\\CurrentControlSet\\Services\\Dice\\Performance", 0,
                               KEY_QUERY_VALUE, &key);
    if (result != ERROR_SUCCESS)
        return result;
    result = RegQueryValueEx(key, name, NULL, &type, reinterpret_cast<BYTE *>(&number), &size);
    RegCloseKey(key);
    return result;
}

extern "C" __declspec(dllexport) DWORD CALLBACK DiceOpen(LPWSTR)
{
    DWORD name, help;
    if (DWORD result = ReadNumber("First Counter", name))
        return result;
    if (DWORD result = ReadNumber("First Help", help))
        return result;
    g_definition.object.ObjectNameTitleIndex = name;
    g_definition.object.ObjectHelpTitleIndex = help;
    g_definition.object.HeaderLength = sizeof(g_definition.object);
    g_definition.object.DefinitionLength = sizeof(g_definition);
    g_definition.object.TotalByteLength = sizeof(g_definition) + sizeof(VALUES);
    g_definition.object.DetailLevel = PERF_DETAIL_NOVICE;
    g_definition.object.NumCounters = 3;
    g_definition.object.NumInstances = PERF_NO_INSTANCES;
    for (int i = 0; i < 3; i++) {
        PERF_COUNTER_DEFINITION &counter = g_definition.counters[i];
        counter.ByteLength = sizeof(counter);
        counter.CounterNameTitleIndex = name + DICE_STATUS + 2 * i;
        counter.CounterHelpTitleIndex = help + DICE_STATUS + 2 * i;
        counter.DetailLevel = PERF_DETAIL_NOVICE;
        counter.CounterType = PERF_COUNTER_RAWCOUNT;
        counter.CounterSize = sizeof(DWORD);
        counter.CounterOffset = sizeof(PERF_COUNTER_BLOCK) + i * sizeof(DWORD);
    }
    g_pDice = new CDice;
    return ERROR_SUCCESS;
}

extern "C" __declspec(dllexport) DWORD WINAPI DiceCollect(LPWSTR lpwszValue, LPVOID *lppData, LPDWORD lpcbBytes,
                                                          LPDWORD lpcObjectTypes)
{
    static DICE_SHARED last;
    VALUES values = {{sizeof(VALUES)}};
    if (*lpcbBytes < g_definition.object.TotalByteLength) {
        *lpcbBytes = *lpcObjectTypes = 0;
        return ERROR_MORE_DATA;
    }
    values.status = g_pDice->Read(last);
    if (!values.status)
        g_pDice->Disconnect();
    values.throws = last.throws;
    values.sum = last.sum;
    char *temp = (char *)*lppData;
    memcpy(temp, &g_definition, sizeof(g_definition));
    memcpy(temp + sizeof(g_definition), &values, sizeof(values));
    *lppData = temp + g_definition.object.TotalByteLength;
    *lpcbBytes = g_definition.object.TotalByteLength;
    *lpcObjectTypes = 1;
    return ERROR_SUCCESS;
}

extern "C" __declspec(dllexport) DWORD WINAPI DiceClose()
{
    delete g_pDice;
    g_pDice = NULL;
    return ERROR_SUCCESS;
}
