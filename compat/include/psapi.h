/* SPDX-License-Identifier: MIT */
/* The processes of this machine and their loaded modules; in the static libopenperflib-win32.a. */
#ifndef OPENPERFLIB_PSAPI_H
#define OPENPERFLIB_PSAPI_H

#include <windows.h>

OPL_BEGIN_SHIMS

/* The numbers of all processes, as many as fit; *ret_bytes is the size of what was written. */
BOOL WINAPI EnumProcesses(DWORD *numbers, DWORD bytes, LPDWORD ret_bytes) OPL_SHIM(EnumProcesses);
/* The program and its libraries, each as the address where it is loaded, the lowest first; the
 * handles are for these functions only. *ret_bytes is the size needed for all. FALSE:
 * ERROR_INVALID_HANDLE (no process, or it has ended), ERROR_ACCESS_DENIED (the kernel shows
 * modules to the owner only), ERROR_PARTIAL_COPY (a kernel thread, which has none). */
BOOL WINAPI EnumProcessModules(HANDLE process, HMODULE *modules, DWORD bytes, LPDWORD ret_bytes)
    OPL_SHIM(EnumProcessModules);
/* The file name of one of them, or of the program (NULL), cut to `capacity` with its terminator.
 * Returns its characters (A: bytes of UTF-8) without the terminator, 0 on failure. */
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
