/* SPDX-License-Identifier: MIT */
/* The few kernel functions that performance programs call: clock, names, languages, last error. */
#ifndef OPENPERFLIB_WINBASE_H
#define OPENPERFLIB_WINBASE_H

#include "windef.h"
#include "winerror.h"

#define MAX_COMPUTERNAME_LENGTH 15
#define INFINITE 0xffffffff

/* why a provider's DllMain is called, if it has one; of threads it never hears */
#define DLL_PROCESS_DETACH 0
#define DLL_PROCESS_ATTACH 1
#define DLL_THREAD_ATTACH 2
#define DLL_THREAD_DETACH 3

/* code pages: the ANSI and the console's one are UTF-8 here */
#define CP_ACP 0
#define CP_OEMCP 1
#define CP_THREAD_ACP 3
#define CP_UTF8 65001
#define MB_PRECOMPOSED 0x00000001
#define MB_ERR_INVALID_CHARS 0x00000008
#define WC_ERR_INVALID_CHARS 0x00000080
#define WC_NO_BEST_FIT_CHARS 0x00000400

OPL_BEGIN_DECLS

/* The clock of PERF_DATA_BLOCK.PerfTime, ticks since an arbitrary start. Fails for NULL only, with
 * ERROR_NOACCESS. */
BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *ticks) OPL_SYMBOL(QueryPerformanceCounter);
/* Ticks per second: always 10,000,000. */
BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER *ticks_per_second)
    OPL_SYMBOL(QueryPerformanceFrequency);
/* This host's first label in upper case, at most 15 characters: the name in every block. *size
 * counts characters (A: bytes of UTF-8), in: with the terminator, out: without. Too small: FALSE,
 * last error ERROR_BUFFER_OVERFLOW, *size is what is needed with the terminator, name untouched.
 * NULL: FALSE, ERROR_INVALID_PARAMETER. (reference C.2: it agrees with the block's header) */
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
/* At least so long, interrupted by no signal; 0xFFFFFFFF: for ever. */
void WINAPI Sleep(DWORD milliseconds) OPL_SYMBOL(Sleep);
/* Text between UTF-8 (CP_ACP, CP_OEMCP, CP_THREAD_ACP, CP_UTF8) and UTF-16. A count of -1 takes the
 * terminator along; room 0 tells the needed size. Returns units written, or 0 with last error
 * ERROR_INSUFFICIENT_BUFFER, ERROR_INVALID_PARAMETER (another code page, too), ERROR_INVALID_FLAGS,
 * ERROR_NO_UNICODE_TRANSLATION (with *_ERR_INVALID_CHARS). Without that flag what is not UTF-8
 * becomes U+FFFD, and lone surrogates keep a three-byte form. default_char is never used; both it
 * and used_default must be NULL for CP_UTF8, as on Windows. (C113) */
int WINAPI WideCharToMultiByte(UINT code_page, DWORD flags, LPCWCH text, int count, LPSTR out,
                               int room, LPCCH default_char, LPBOOL used_default)
    OPL_SYMBOL(WideCharToMultiByte);
int WINAPI MultiByteToWideChar(UINT code_page, DWORD flags, LPCCH text, int count, LPWSTR out,
                               int room) OPL_SYMBOL(MultiByteToWideChar);

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
