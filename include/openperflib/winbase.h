/* SPDX-License-Identifier: MIT */
/* The few kernel functions that performance programs call: clock, names, languages, last error. */
#ifndef OPENPERFLIB_WINBASE_H
#define OPENPERFLIB_WINBASE_H

#include "windef.h"
#include "winerror.h"

#define MAX_COMPUTERNAME_LENGTH 15

OPL_BEGIN_DECLS

/* The clock of PERF_DATA_BLOCK.PerfTime, ticks since an arbitrary start; never fails. */
BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *ticks) OPL_SYMBOL(QueryPerformanceCounter);
/* Ticks per second: always 10,000,000. */
BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER *ticks_per_second)
    OPL_SYMBOL(QueryPerformanceFrequency);
/* This host's first label in upper case, at most 15 characters: the name in every block. *size counts
 * characters, in: with the terminator, out: without; too small: FALSE, ERROR_MORE_DATA... see the page. */
BOOL WINAPI GetComputerNameA(LPSTR name, LPDWORD size) OPL_SYMBOL(GetComputerNameA);
BOOL WINAPI GetComputerNameW(LPWSTR name, LPDWORD size) OPL_SYMBOL(GetComputerNameW);
/* UTC now. */
void WINAPI GetSystemTime(SYSTEMTIME *time) OPL_SYMBOL(GetSystemTime);
void WINAPI GetSystemTimeAsFileTime(FILETIME *time) OPL_SYMBOL(GetSystemTimeAsFileTime);
/* The language of LC_ALL, LC_MESSAGES or LANG as a Windows language id; 0x409 when it says none. */
LANGID WINAPI GetSystemDefaultUILanguage(void) OPL_SYMBOL(GetSystemDefaultUILanguage);
LANGID WINAPI GetUserDefaultUILanguage(void) OPL_SYMBOL(GetUserDefaultUILanguage);
/* The calling thread's last error. */
DWORD WINAPI GetLastError(void) OPL_SYMBOL(GetLastError);
void WINAPI SetLastError(DWORD code) OPL_SYMBOL(SetLastError);
/* Characters before the terminator; NULL counts 0. */
int WINAPI lstrlenA(LPCSTR text) OPL_SYMBOL(lstrlenA);
int WINAPI lstrlenW(LPCWSTR text) OPL_SYMBOL(lstrlenW);
void WINAPI Sleep(DWORD milliseconds) OPL_SYMBOL(Sleep);

OPL_END_DECLS

#ifdef UNICODE
#define GetComputerName GetComputerNameW
#define lstrlen lstrlenW
#else
#define GetComputerName GetComputerNameA
#define lstrlen lstrlenA
#endif

#define ZeroMemory(where, size) __builtin_memset((where), 0, (size))
#define CopyMemory(to, from, size) __builtin_memcpy((to), (from), (size))
#define FillMemory(where, size, byte) __builtin_memset((where), (byte), (size))

#endif
