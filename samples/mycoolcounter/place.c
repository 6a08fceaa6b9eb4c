/* SPDX-License-Identifier: MIT */
/* The registration that we replace: the service whose Object List has System (2), and its
 * values. */
#include "mycoolcounter.h"

#define SERVICES TEXT("SYSTEM\\CurrentControlSet\\Services")

/* The values that are saved, changed and restored. A Library Validation Code must be removed,
 * because it is for the original library's file. */
static const LPCWSTR values[] = {TEXT("Library"), TEXT("Open"), TEXT("Collect"), TEXT("Close"),
                                 TEXT("Library Validation Code")};
enum { VALUES = sizeof values / sizeof *values, LIBRARY = 0, PROCEDURES = 4 };

DWORD placeNumber(HKEY key, LPCWSTR value, DWORD *ret)
{
    DWORD number, type, size = sizeof number;
    DWORD result = (DWORD)RegQueryValueEx(key, value, NULL, &type, (LPBYTE)&number, &size);
    if (result == ERROR_SUCCESS && (type != REG_DWORD || size != sizeof number))
        result = ERROR_INVALID_DATA;
    if (result == ERROR_SUCCESS)
        *ret = number;
    return result;
}

/* ---- finding the service ---- */

static BOOL hasSystem(HKEY performance)
{
    WCHAR list[TEXT_SIZE];
    DWORD i, type, number = 0, size = sizeof list - sizeof *list;
    if (RegQueryValueEx(performance, TEXT("Object List"), NULL, &type, (LPBYTE)list, &size) !=
            ERROR_SUCCESS ||
        type != REG_SZ)
        return FALSE;
    list[size / sizeof *list] = 0;
    for (i = 0;; i++) {
        if (list[i] >= '0' && list[i] <= '9') {
            number = number * 10 + (DWORD)(list[i] - '0');
            continue;
        }
        if (number == SYSTEM)
            return TRUE;
        number = 0;
        if (list[i] == 0)
            return FALSE;
    }
}

static BOOL hasOwnKey(HKEY performance)
{
    HKEY own;
    if (RegOpenKeyEx(performance, OWN_KEY, 0, KEY_READ, &own) != ERROR_SUCCESS)
        return FALSE;
    RegCloseKey(own);
    return TRUE;
}

static DWORD openPerformance(HKEY services, LPCWSTR service, REGSAM access, HKEY *ret)
{
    static const WCHAR below[] = TEXT("\\Performance");
    WCHAR path[NAME_SIZE + sizeof below / sizeof *below];
    int i, length = lstrlenW(service);
    for (i = 0; i < length; i++)
        path[i] = service[i];
    for (i = 0; i < (int)(sizeof below / sizeof *below); i++)
        path[length + i] = below[i];
    return (DWORD)RegOpenKeyEx(services, path, 0, access, ret);
}

DWORD placeOpen(BOOL ours, REGSAM access, HKEY *ret)
{
    HKEY services;
    WCHAR name[NAME_SIZE];
    DWORD index, size, result;
    BOOL found = FALSE;
    result = (DWORD)RegOpenKeyEx(HKEY_LOCAL_MACHINE, SERVICES, 0, KEY_READ, &services);
    if (result != ERROR_SUCCESS)
        return result;
    for (index = 0; !found && result == ERROR_SUCCESS; index++) {
        size = NAME_SIZE;
        result = (DWORD)RegEnumKeyEx(services, index, name, &size, NULL, NULL, NULL, NULL);
        if (result != ERROR_SUCCESS || openPerformance(services, name, KEY_READ, ret))
            continue;
        found = ours ? hasOwnKey(*ret) : hasSystem(*ret);
        RegCloseKey(*ret);
    }
    if (found)
        result = openPerformance(services, name, access, ret);
    else if (result == ERROR_NO_MORE_ITEMS)
        result = ERROR_FILE_NOT_FOUND;
    RegCloseKey(services);
    return result;
}

/* ---- replacing and restoring the registration ---- */

/* Copies a value from one key to another; if the value is missing in `from`, it is deleted in
 * `to`. */
static DWORD copyValue(HKEY from, HKEY to, LPCWSTR value)
{
    BYTE data[TEXT_SIZE * sizeof(WCHAR)];
    DWORD type, size = sizeof data;
    DWORD result = (DWORD)RegQueryValueEx(from, value, NULL, &type, data, &size);
    if (result == ERROR_SUCCESS)
        return (DWORD)RegSetValueEx(to, value, 0, type, data, size);
    if (result == ERROR_FILE_NOT_FOUND)
        result = (DWORD)RegDeleteValue(to, value);
    return result == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : result;
}

static DWORD copyValues(HKEY from, HKEY to)
{
    DWORD result = ERROR_SUCCESS;
    int i;
    for (i = 0; result == ERROR_SUCCESS && i < VALUES; i++)
        result = copyValue(from, to, values[i]);
    return result;
}

static DWORD setText(HKEY key, LPCWSTR value, LPCWSTR text)
{
    return (DWORD)RegSetValueEx(key, value, 0, REG_SZ, (const BYTE *)text,
                                (DWORD)((DWORD)(lstrlenW(text) + 1) * sizeof *text));
}

DWORD placeTake(HKEY performance, HKEY own)
{
    WCHAR path[TEXT_SIZE];
    DWORD result, length = GetModuleFileName(thisLibrary, path, TEXT_SIZE);
    int i;
    if (length == 0 || length >= TEXT_SIZE)
        return ERROR_MOD_NOT_FOUND;
    result = copyValues(performance, own);
    for (i = 1; result == ERROR_SUCCESS && i < PROCEDURES; i++)
        /* the functions of this library have the names of the values */
        result = setText(performance, values[i], values[i]);
    if (result == ERROR_SUCCESS)
        result = setText(performance, values[LIBRARY], path);
    if (result == ERROR_SUCCESS)
        RegDeleteValue(performance, values[PROCEDURES]);
    else
        copyValues(own, performance);
    return result;
}

static BOOL sameText(LPCWSTR left, LPCWSTR right)
{
    while (*left && *left == *right) {
        left++;
        right++;
    }
    return *left == *right;
}

DWORD placeReturn(HKEY performance, HKEY own)
{
    WCHAR path[TEXT_SIZE], there[TEXT_SIZE];
    DWORD type, size = sizeof there - sizeof *there;
    DWORD result =
        (DWORD)RegQueryValueEx(performance, values[LIBRARY], NULL, &type, (LPBYTE)there, &size);
    if (result != ERROR_SUCCESS)
        return result;
    there[size / sizeof *there] = 0;
    if (GetModuleFileName(thisLibrary, path, TEXT_SIZE) == 0 || !sameText(path, there))
        return ERROR_BUSY;
    return copyValues(own, performance);
}
