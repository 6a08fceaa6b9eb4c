/* SPDX-License-Identifier: MIT */
/* A program that uses names without A or W: every such generic name of our headers, compiled with
 * UNICODE and without. */
#include <windows.h>
#include <winperf.h>

static const TCHAR services[] = TEXT("SYSTEM\\CurrentControlSet\\Services");

LONG read_everything(LPCTSTR machine, LPTSTR capacity, LPDWORD size);

LONG read_everything(LPCTSTR machine, LPTSTR capacity, LPDWORD size)
{
    HKEY root, key, made;
    DWORD type, disposition, count = (DWORD)lstrlen(services);
    FILETIME written;
    BYTE data[64] = {0};
    RegConnectRegistry(machine, HKEY_LOCAL_MACHINE, &root);
    RegOpenKey(root, services, &key);
    RegOpenKeyEx(root, services, 0, KEY_READ, &key);
    RegCreateKey(root, services, &made);
    RegCreateKeyEx(root, services, 0, NULL, REG_OPTION_NON_VOLATILE, KEY_ALL_ACCESS, NULL, &made,
                   &disposition);
    RegSetValueEx(key, TEXT("Library"), 0, REG_SZ, data, sizeof data);
    RegQueryValueEx(key, TEXT("Library"), NULL, &type, data, &count);
    RegGetValue(key, NULL, TEXT("Library"), RRF_RT_REG_SZ, &type, data, &count);
    RegEnumKey(key, 0, capacity, *size);
    RegEnumKeyEx(key, 0, capacity, size, NULL, NULL, NULL, &written);
    RegEnumValue(key, 0, capacity, size, NULL, &type, data, &count);
    RegQueryInfoKey(key, NULL, NULL, NULL, &count, NULL, NULL, NULL, NULL, NULL, NULL, &written);
    RegDeleteValue(key, TEXT("Library"));
    RegDeleteKey(key, TEXT("Performance"));
    RegDeleteKeyEx(key, TEXT("Performance"), 0, 0);
    RegDeleteTree(key, NULL);
    RegFlushKey(key);
    GetComputerName(capacity, size);
    return RegCloseKey(key);
}
