/* SPDX-License-Identifier: MIT */
/*
 * Processes, threads and modules as they were when a snapshot was made. The data comes from the
 * performance counters (objects Process, Thread and Full Image): a user without the right to read a
 * counter does not see its data. In the static libopenperflib-win32.a.
 *
 * Fields without a counter are 0, like fields that newer Windows versions do not use: default heap
 * and usage counts of modules.
 */
#ifndef OPENPERFLIB_TLHELP32_H
#define OPENPERFLIB_TLHELP32_H

#include <windows.h>

#define MAX_MODULE_NAME32 255

#define TH32CS_SNAPHEAPLIST 0x00000001
#define TH32CS_SNAPPROCESS 0x00000002
#define TH32CS_SNAPTHREAD 0x00000004
#define TH32CS_SNAPMODULE 0x00000008
#define TH32CS_SNAPMODULE32 0x00000010
#define TH32CS_SNAPALL                                                                             \
    (TH32CS_SNAPHEAPLIST | TH32CS_SNAPPROCESS | TH32CS_SNAPTHREAD | TH32CS_SNAPMODULE)
#define TH32CS_INHERIT 0x80000000

typedef struct tagPROCESSENTRY32W {
    DWORD dwSize;
    DWORD cntUsage;
    DWORD th32ProcessID;
    ULONG_PTR th32DefaultHeapID;
    DWORD th32ModuleID;
    DWORD cntThreads;
    DWORD th32ParentProcessID;
    LONG pcPriClassBase;
    DWORD dwFlags;
    WCHAR szExeFile[MAX_PATH];
} PROCESSENTRY32W, *PPROCESSENTRY32W, *LPPROCESSENTRY32W;
typedef struct tagPROCESSENTRY32 {
    DWORD dwSize;
    DWORD cntUsage;
    DWORD th32ProcessID;
    ULONG_PTR th32DefaultHeapID;
    DWORD th32ModuleID;
    DWORD cntThreads;
    DWORD th32ParentProcessID;
    LONG pcPriClassBase;
    DWORD dwFlags;
    CHAR szExeFile[MAX_PATH];
} PROCESSENTRY32, *PPROCESSENTRY32, *LPPROCESSENTRY32;
typedef struct tagTHREADENTRY32 {
    DWORD dwSize;
    DWORD cntUsage;
    DWORD th32ThreadID;
    DWORD th32OwnerProcessID;
    LONG tpBasePri;
    LONG tpDeltaPri;
    DWORD dwFlags;
} THREADENTRY32, *PTHREADENTRY32, *LPTHREADENTRY32;
typedef struct tagMODULEENTRY32W {
    DWORD dwSize;
    DWORD th32ModuleID;
    DWORD th32ProcessID;
    DWORD GlblcntUsage;
    DWORD ProccntUsage;
    BYTE *modBaseAddr;
    DWORD modBaseSize;
    HMODULE hModule;
    WCHAR szModule[MAX_MODULE_NAME32 + 1];
    WCHAR szExePath[MAX_PATH];
} MODULEENTRY32W, *PMODULEENTRY32W, *LPMODULEENTRY32W;
typedef struct tagMODULEENTRY32 {
    DWORD dwSize;
    DWORD th32ModuleID;
    DWORD th32ProcessID;
    DWORD GlblcntUsage;
    DWORD ProccntUsage;
    BYTE *modBaseAddr;
    DWORD modBaseSize;
    HMODULE hModule;
    char szModule[MAX_MODULE_NAME32 + 1];
    char szExePath[MAX_PATH];
} MODULEENTRY32, *PMODULEENTRY32, *LPMODULEENTRY32;

OPL_BEGIN_SHIMS

/* Takes a snapshot of the items in `flags`; modules are those of `process` (0: the calling
 * process). The caller closes the snapshot with CloseHandle. INVALID_HANDLE_VALUE and last error:
 * ERROR_INVALID_PARAMETER (no flag, no such process), ERROR_ACCESS_DENIED (this user may not see
 * the modules of `process`, or it is a kernel thread, which has no modules), ERROR_NOT_SUPPORTED
 * (only heaps, or the counters are disabled). */
HANDLE WINAPI CreateToolhelp32Snapshot(DWORD flags, DWORD process)
    OPL_SHIM(CreateToolhelp32Snapshot);
/* Return the first process, and the next process. dwSize must be set; if it is smaller than the
 * structure: FALSE and ERROR_INSUFFICIENT_BUFFER. FALSE: ERROR_NO_MORE_FILES after the last,
 * ERROR_INVALID_HANDLE. Names that are too long are truncated. szExeFile is the instance's name in
 * the object Process. */
BOOL WINAPI Process32First(HANDLE snapshot, LPPROCESSENTRY32 entry) OPL_SHIM(Process32First);
BOOL WINAPI Process32Next(HANDLE snapshot, LPPROCESSENTRY32 entry) OPL_SHIM(Process32Next);
BOOL WINAPI Process32FirstW(HANDLE snapshot, LPPROCESSENTRY32W entry) OPL_SHIM(Process32FirstW);
BOOL WINAPI Process32NextW(HANDLE snapshot, LPPROCESSENTRY32W entry) OPL_SHIM(Process32NextW);
/* Threads of all processes. tpDeltaPri is the difference between the scheduler's priority and
 * the base priority. */
BOOL WINAPI Thread32First(HANDLE snapshot, LPTHREADENTRY32 entry) OPL_SHIM(Thread32First);
BOOL WINAPI Thread32Next(HANDLE snapshot, LPTHREADENTRY32 entry) OPL_SHIM(Thread32Next);
/* The modules of the requested process. modBaseAddr and hModule: the address where the module
 * begins, as EnumProcessModules of psapi.h returns it. modBaseSize: its size in memory, limited to
 * 32 bits. */
BOOL WINAPI Module32First(HANDLE snapshot, LPMODULEENTRY32 entry) OPL_SHIM(Module32First);
BOOL WINAPI Module32Next(HANDLE snapshot, LPMODULEENTRY32 entry) OPL_SHIM(Module32Next);
BOOL WINAPI Module32FirstW(HANDLE snapshot, LPMODULEENTRY32W entry) OPL_SHIM(Module32FirstW);
BOOL WINAPI Module32NextW(HANDLE snapshot, LPMODULEENTRY32W entry) OPL_SHIM(Module32NextW);

OPL_END_SHIMS

#ifdef UNICODE
#define Process32First Process32FirstW
#define Process32Next Process32NextW
#define Module32First Module32FirstW
#define Module32Next Module32NextW
#define PROCESSENTRY32 PROCESSENTRY32W
#define PPROCESSENTRY32 PPROCESSENTRY32W
#define LPPROCESSENTRY32 LPPROCESSENTRY32W
#define MODULEENTRY32 MODULEENTRY32W
#define PMODULEENTRY32 PMODULEENTRY32W
#define LPMODULEENTRY32 LPMODULEENTRY32W
#endif

#endif
