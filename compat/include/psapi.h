/* SPDX-License-Identifier: MIT */
/* The processes of this machine and their loaded modules; in the static libopenperflib-win32.a. */
#ifndef OPENPERFLIB_PSAPI_H
#define OPENPERFLIB_PSAPI_H

#include <windows.h>

OPL_BEGIN_SHIMS

/* Writes the ids of all processes, as many as fit; *ret_bytes is the size of what was written. */
BOOL WINAPI EnumProcesses(DWORD *numbers, DWORD bytes, LPDWORD ret_bytes) OPL_SHIM(EnumProcesses);
/* Writes a handle for the program and for each of its libraries: the address where it is loaded,
 * the lowest first. Only the functions of this header accept these handles. *ret_bytes is the size
 * needed for all. FALSE: ERROR_INVALID_HANDLE (no process, or it has ended), ERROR_ACCESS_DENIED
 * (the kernel shows a process's modules to its owner only), ERROR_PARTIAL_COPY (a kernel thread,
 * which has no modules). */
BOOL WINAPI EnumProcessModules(HANDLE process, HMODULE *modules, DWORD bytes, LPDWORD ret_bytes)
    OPL_SHIM(EnumProcessModules);
/* Writes the file name of a module, or of the program (`wanted` is NULL), truncated to `capacity`
 * characters (A: bytes of UTF-8) with the terminator. Returns the length without the terminator; 0:
 * failure. */
DWORD WINAPI GetModuleBaseNameA(HANDLE process, HMODULE wanted, LPSTR name, DWORD capacity)
    OPL_SHIM(GetModuleBaseNameA);
DWORD WINAPI GetModuleBaseNameW(HANDLE process, HMODULE wanted, LPWSTR name, DWORD capacity)
    OPL_SHIM(GetModuleBaseNameW);

OPL_END_SHIMS

#ifdef UNICODE
#define GetModuleBaseName GetModuleBaseNameW
#else
#define GetModuleBaseName GetModuleBaseNameA
#endif

#endif
