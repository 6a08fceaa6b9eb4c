/* SPDX-License-Identifier: MIT */
/*
 * mycoolcounter: adds a counter to System, an object of another provider. This library is
 * registered in place of the library that has System, passes all calls to that library, and changes
 * its answer: this library adds a counter, and may remove or change others (see README.md).
 *
 * Our counter is the number of queries of System since Open.
 */
#include "mycoolcounter.h"

HINSTANCE thisLibrary;

static struct original original;
static DWORD openedAgain;
static DWORD name, help;                    /* the numbers of our counter */
static DWORD removed, changed, changedInto; /* the settings Remove, Change and Value; 0: not set */
static ULONGLONG queries;

BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved)
{
    (void)reserved;
    if (reason == DLL_PROCESS_ATTACH)
        thisLibrary = self;
    return TRUE;
}

/* ---- Open and Close: call the other library ---- */

static DWORD readSettings(HKEY own)
{
    DWORD result = placeNumber(own, TEXT("Counter"), &name);
    if (result == ERROR_SUCCESS)
        result = placeNumber(own, TEXT("Help"), &help);
    removed = changed = changedInto = 0;
    placeNumber(own, TEXT("Remove"), &removed);
    placeNumber(own, TEXT("Change"), &changed);
    placeNumber(own, TEXT("Value"), &changedInto);
    queries = 0;
    return result;
}

DWORD CALLBACK Open(LPWSTR devices)
{
    HKEY performance, own;
    DWORD result;
    if (original.library) { /* a connection from another computer calls Open again */
        openedAgain++;
        return ERROR_SUCCESS;
    }
    result = placeOpen(TRUE, KEY_READ, &performance);
    if (result != ERROR_SUCCESS)
        return result;
    result = (DWORD)RegOpenKeyEx(performance, OWN_KEY, 0, KEY_READ, &own);
    RegCloseKey(performance);
    if (result != ERROR_SUCCESS)
        return result;
    result = readSettings(own);
    if (result == ERROR_SUCCESS)
        result = originalLoad(&original, own);
    RegCloseKey(own);
    if (result == ERROR_SUCCESS && original.open)
        result = original.open(devices);
    if (result != ERROR_SUCCESS)
        originalUnload(&original);
    return result;
}

DWORD WINAPI Close(void)
{
    DWORD result;
    if (openedAgain > 0) {
        openedAgain--;
        return ERROR_SUCCESS;
    }
    result = original.library && original.close ? original.close() : ERROR_SUCCESS;
    originalUnload(&original);
    return result;
}

/* ---- Collect ---- */

/* Finds System in the answer. NULL: System is missing, or its layout is unknown. */
static PERF_OBJECT_TYPE *findSystem(BYTE *at, const BYTE *end, DWORD count)
{
    for (; count > 0 && at + sizeof(PERF_OBJECT_TYPE) <= end; count--) {
        PERF_OBJECT_TYPE *object = (PERF_OBJECT_TYPE *)at;
        if (object->ObjectNameTitleIndex == SYSTEM)
            return object->NumInstances == PERF_NO_INSTANCES ? object : NULL;
        if (object->TotalByteLength < sizeof *object)
            return NULL;
        at += object->TotalByteLength;
    }
    return NULL;
}

static LONG changeSystem(PERF_OBJECT_TYPE *object, BYTE *end)
{
    LONG grown = changeAdd(object, end, name, help, ++queries);
    if (changed)
        changeValue(object, changed, changedInto);
    if (removed)
        grown += changeRemove(object, end + grown, removed);
    return grown;
}

/* Passes the query on. The other library gets the caller's buffer, minus the space for our
 * additions. */
DWORD WINAPI Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    BYTE *begin = (BYTE *)*data;
    DWORD capacity = *bytes > SIZE_FOR_COUNTER ? *bytes - SIZE_FOR_COUNTER : 0, result;
    PERF_OBJECT_TYPE *object = NULL;
    *bytes = capacity / 8 * 8;
    result = original.collect(query, data, bytes, types);
    if (result == ERROR_SUCCESS && *bytes)
        object = findSystem(begin, begin + *bytes, *types);
    if (object) {
        LONG grown = changeSystem(object, begin + *bytes);
        *bytes += (DWORD)grown;
        *data = (BYTE *)*data + grown;
    }
    return result;
}

/* ---- regsvr32, or lodctr --register ---- */

static HRESULT resultOf(DWORD status)
{
    return status == ERROR_SUCCESS ? S_OK : (HRESULT)(0x80070000 | status);
}

static DWORD noteNumbers(HKEY own)
{
    const DWORD numbers[] = {name, help};
    DWORD result = (DWORD)RegSetValueEx(own, TEXT("Counter"), 0, REG_DWORD,
                                        (const BYTE *)&numbers[0], sizeof numbers[0]);
    if (result == ERROR_SUCCESS)
        result = (DWORD)RegSetValueEx(own, TEXT("Help"), 0, REG_DWORD, (const BYTE *)&numbers[1],
                                      sizeof numbers[1]);
    return result;
}

static DWORD install(HKEY performance)
{
    HKEY own;
    DWORD result = namesNext(&name, &help);
    if (result != ERROR_SUCCESS)
        return result;
    result =
        (DWORD)RegCreateKeyEx(performance, OWN_KEY, 0, NULL, 0, KEY_ALL_ACCESS, NULL, &own, NULL);
    if (result != ERROR_SUCCESS)
        return result;
    result = noteNumbers(own);
    if (result == ERROR_SUCCESS)
        result = namesAdd(name, help);
    if (result == ERROR_SUCCESS)
        result = placeTake(performance, own);
    RegCloseKey(own);
    if (result != ERROR_SUCCESS) {
        namesRemove(name, help);
        RegDeleteKey(performance, OWN_KEY);
    }
    return result;
}

HRESULT APIENTRY DllRegisterServer(void)
{
    HKEY performance;
    DWORD result = placeOpen(TRUE, KEY_READ, &performance);
    if (result != ERROR_SUCCESS) {
        result = placeOpen(FALSE, KEY_ALL_ACCESS, &performance);
        if (result == ERROR_SUCCESS)
            result = install(performance);
        else
            return resultOf(result);
    }
    RegCloseKey(performance);
    return resultOf(result);
}

static DWORD uninstall(HKEY performance, HKEY own)
{
    DWORD result = placeNumber(own, TEXT("Counter"), &name);
    if (result == ERROR_SUCCESS)
        result = placeNumber(own, TEXT("Help"), &help);
    if (result == ERROR_SUCCESS)
        result = placeReturn(performance, own);
    if (result == ERROR_SUCCESS)
        result = namesRemove(name, help);
    return result;
}

HRESULT APIENTRY DllUnregisterServer(void)
{
    HKEY performance, own;
    DWORD result = placeOpen(TRUE, KEY_ALL_ACCESS, &performance);
    if (result != ERROR_SUCCESS)
        return resultOf(result);
    result = (DWORD)RegOpenKeyEx(performance, OWN_KEY, 0, KEY_ALL_ACCESS, &own);
    if (result == ERROR_SUCCESS) {
        result = uninstall(performance, own);
        RegCloseKey(own);
    }
    if (result == ERROR_SUCCESS)
        result = (DWORD)RegDeleteKey(performance, OWN_KEY);
    RegCloseKey(performance);
    return resultOf(result);
}
