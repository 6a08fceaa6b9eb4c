/* SPDX-License-Identifier: MIT */
/* Reads the numbers that lodctr gave to a service, as any Windows program reads them; and seeds
 * rand(). */
#include "sample.h"

#include <stdlib.h>

static DWORD readNumber(HKEY key, LPCWSTR value, DWORD *number)
{
    DWORD type, size = sizeof *number;
    DWORD result = (DWORD)RegQueryValueEx(key, value, NULL, &type, (LPBYTE)number, &size);
    if (result == ERROR_SUCCESS && (type != REG_DWORD || size != sizeof *number))
        return ERROR_INVALID_DATA;
    return result;
}

DWORD sampleNumbers(LPCWSTR performanceKey, DWORD *name, DWORD *help)
{
    HKEY key;
    DWORD result =
        (DWORD)RegOpenKeyEx(HKEY_LOCAL_MACHINE, performanceKey, 0, KEY_QUERY_VALUE, &key);
    if (result != ERROR_SUCCESS)
        return result;
    result = readNumber(key, TEXT("First Counter"), name);
    if (result == ERROR_SUCCESS)
        result = readNumber(key, TEXT("First Help"), help);
    RegCloseKey(key);
    return result;
}

void sampleSeed(void)
{
    FILETIME now; /* in 100 ns, so that processes started in the same second get different seeds */
    GetSystemTimeAsFileTime(&now);
    srand(now.dwLowDateTime);
}
