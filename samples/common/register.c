/* SPDX-License-Identifier: MIT */
/*
 * The functions that regsvr32 calls. They write the service's Performance key, with this library
 * and its functions. Run lodctr afterwards to add names and numbers, and unlodctr before
 * unregistering to remove them.
 */
#include "sample.h"

static const LPCWSTR procedures[] = {TEXT("Open"), TEXT("Collect"), TEXT("Close")};
enum { PROCEDURES = sizeof procedures / sizeof *procedures, PATH_SIZE = 1024 };

static DWORD setText(HKEY key, LPCWSTR value, LPCWSTR text)
{
    return (DWORD)RegSetValueEx(key, value, 0, REG_SZ, (const BYTE *)text,
                                (DWORD)((DWORD)(lstrlenW(text) + 1) * sizeof *text));
}

DWORD sampleRegister(LPCWSTR performanceKey, HINSTANCE library)
{
    HKEY key;
    WCHAR path[PATH_SIZE];
    DWORD i, length = GetModuleFileName(library, path, PATH_SIZE), result;
    if (length == 0 || length >= PATH_SIZE)
        return ERROR_MOD_NOT_FOUND;
    result = (DWORD)RegCreateKeyEx(HKEY_LOCAL_MACHINE, performanceKey, 0, NULL, 0, KEY_ALL_ACCESS,
                                   NULL, &key, NULL);
    if (result != ERROR_SUCCESS)
        return result;
    result = setText(key, TEXT("Library"), path);
    for (i = 0; result == ERROR_SUCCESS && i < PROCEDURES; i++)
        result = setText(key, procedures[i], procedures[i]);
    RegCloseKey(key);
    return result;
}

/* Deletes the key if it has neither values nor subkeys. */
static DWORD deleteEmpty(LPCWSTR path)
{
    HKEY key;
    DWORD keys = 0, values = 0;
    DWORD result = (DWORD)RegOpenKeyEx(HKEY_LOCAL_MACHINE, path, 0, KEY_READ, &key);
    if (result != ERROR_SUCCESS)
        return result;
    RegQueryInfoKey(key, NULL, NULL, NULL, &keys, NULL, NULL, &values, NULL, NULL, NULL, NULL);
    RegCloseKey(key);
    return keys + values ? ERROR_SUCCESS : (DWORD)RegDeleteKey(HKEY_LOCAL_MACHINE, path);
}

DWORD sampleUnregister(LPCWSTR performanceKey)
{
    HKEY key;
    WCHAR service[PATH_SIZE];
    DWORD i, length = (DWORD)lstrlenW(performanceKey);
    DWORD result = (DWORD)RegOpenKeyEx(HKEY_LOCAL_MACHINE, performanceKey, 0, KEY_ALL_ACCESS, &key);
    if (result != ERROR_SUCCESS)
        return result;
    for (i = 0; i < PROCEDURES; i++)
        RegDeleteValue(key, procedures[i]);
    RegDeleteValue(key, TEXT("Library"));
    RegCloseKey(key);
    result = deleteEmpty(performanceKey);
    while (length > 0 && performanceKey[length - 1] != '\\')
        length--;
    if (result != ERROR_SUCCESS || length == 0 || length >= PATH_SIZE)
        return result;
    lstrcpynW(service, performanceKey, (int)length); /* a zero replaces the backslash */
    return deleteEmpty(service);
}
