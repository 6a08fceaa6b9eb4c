/* SPDX-License-Identifier: MIT */
/* The few system functions that performance programs call: clock, names, last error, event log. */
#ifndef OPENPERFLIB_WINBASE_H
#define OPENPERFLIB_WINBASE_H

#include "windef.h"
#include "winerror.h"

#define MAX_COMPUTERNAME_LENGTH 15
#define INFINITE 0xffffffff

/* of waiting, beside WAIT_TIMEOUT */
#define WAIT_OBJECT_0 0
#define WAIT_FAILED ((DWORD)0xffffffff)

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

/* how grave a reported event is */
#define EVENTLOG_SUCCESS 0x0000
#define EVENTLOG_ERROR_TYPE 0x0001
#define EVENTLOG_WARNING_TYPE 0x0002
#define EVENTLOG_INFORMATION_TYPE 0x0004
#define EVENTLOG_AUDIT_SUCCESS 0x0008
#define EVENTLOG_AUDIT_FAILURE 0x0010

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

/* The event log (docs/events.md). A source is any name of 1 to 255 characters and needs no
 * registration; the handle is the caller's, for DeregisterEventSource. server: NULL, "" or this
 * machine by one of its names, with or without \\. NULL and last error: ERROR_INVALID_PARAMETER (no
 * name, or a longer one), ERROR_ACCESS_DENIED ("Security" is not for programs),
 * RPC_S_SERVER_UNAVAILABLE (another machine), ERROR_NOT_ENOUGH_MEMORY. */
HANDLE WINAPI RegisterEventSourceA(LPCSTR server, LPCSTR source) OPL_SYMBOL(RegisterEventSourceA);
HANDLE WINAPI RegisterEventSourceW(LPCWSTR server, LPCWSTR source) OPL_SYMBOL(RegisterEventSourceW);
BOOL WINAPI DeregisterEventSource(HANDLE log) OPL_SYMBOL(DeregisterEventSource);
/* One event. type: one of EVENTLOG_; id: its low 16 bits are the log's number, the rest a field of
 * a structured log; user: not looked at; strings: `count` of them, NULL is empty, joined to the
 * event's text and each a field (of sources Perflib and LoadPerf: values of the catalog's text);
 * data: `size` bytes, shown as hexadecimal digits. Never waits, and nothing is held back. FALSE and
 * last error: ERROR_INVALID_HANDLE; ERROR_INVALID_PARAMETER (type, or NULL with a count or size);
 * RPC_S_INVALID_BOUND (more than 256 strings, 31,839 characters in one, 61,440 bytes); or why the
 * log did not take it, ERROR_NOT_READY where there is none. */
BOOL WINAPI ReportEventA(HANDLE log, WORD type, WORD category, DWORD id, PSID user, WORD count,
                         DWORD size, LPCSTR *strings, LPVOID data) OPL_SYMBOL(ReportEventA);
BOOL WINAPI ReportEventW(HANDLE log, WORD type, WORD category, DWORD id, PSID user, WORD count,
                         DWORD size, LPCWSTR *strings, LPVOID data) OPL_SYMBOL(ReportEventW);

OPL_END_DECLS

/* The rest is in the static libopenperflib-win32.a (pkg-config openperflib-win32). */
OPL_BEGIN_SHIMS

DWORD WINAPI GetCurrentProcessId(void) OPL_SHIM(GetCurrentProcessId);
/* The kernel's number of the calling thread. */
DWORD WINAPI GetCurrentThreadId(void) OPL_SHIM(GetCurrentThreadId);
/* The path of a loaded library (the handle that DllMain was given), or of the program (NULL).
 * Returns its characters (A: bytes of UTF-8) without the terminator; 0 and ERROR_MOD_NOT_FOUND for
 * what is not loaded. Too little room: cut, terminated, returns `room`, last error
 * ERROR_INSUFFICIENT_BUFFER. */
DWORD WINAPI GetModuleFileNameA(HMODULE module, LPSTR path, DWORD room)
    OPL_SHIM(GetModuleFileNameA);
DWORD WINAPI GetModuleFileNameW(HMODULE module, LPWSTR path, DWORD room)
    OPL_SHIM(GetModuleFileNameW);
/* TRUE: threads are never told to a DllMain. */
BOOL WINAPI DisableThreadLibraryCalls(HMODULE module) OPL_SHIM(DisableThreadLibraryCalls);
/* The name of the effective user, its number if it has none. *size counts characters with the
 * terminator, in and out. Too small: FALSE, ERROR_INSUFFICIENT_BUFFER, *size is what is needed. */
BOOL WINAPI GetUserNameA(LPSTR name, LPDWORD size) OPL_SHIM(GetUserNameA);
BOOL WINAPI GetUserNameW(LPWSTR name, LPDWORD size) OPL_SHIM(GetUserNameW);
/* A line on standard error when OPENPERFLIB_TRACE is set, else nothing. */
void WINAPI OutputDebugStringA(LPCSTR text) OPL_SHIM(OutputDebugStringA);
void WINAPI OutputDebugStringW(LPCWSTR text) OPL_SHIM(OutputDebugStringW);

/* Events, for PdhCollectQueryDataEx: a handle is the number of an eventfd. Named ones are
 * ERROR_NOT_SUPPORTED. Without manual_reset, a wait that succeeds resets it. NULL on failure. */
HANDLE WINAPI CreateEventA(LPSECURITY_ATTRIBUTES security, BOOL manual_reset, BOOL initial_state,
                           LPCSTR name) OPL_SHIM(CreateEventA);
HANDLE WINAPI CreateEventW(LPSECURITY_ATTRIBUTES security, BOOL manual_reset, BOOL initial_state,
                           LPCWSTR name) OPL_SHIM(CreateEventW);
/* These take events only: anything else is ERROR_INVALID_HANDLE. */
BOOL WINAPI SetEvent(HANDLE event) OPL_SHIM(SetEvent);
BOOL WINAPI CloseHandle(HANDLE event) OPL_SHIM(CloseHandle);
/* WAIT_OBJECT_0: it was set; WAIT_TIMEOUT; WAIT_FAILED. INFINITE waits for ever. */
DWORD WINAPI WaitForSingleObject(HANDLE event, DWORD milliseconds) OPL_SHIM(WaitForSingleObject);

OPL_END_SHIMS

#ifdef UNICODE
#define CreateEvent CreateEventW
#define GetModuleFileName GetModuleFileNameW
#define GetUserName GetUserNameW
#define OutputDebugString OutputDebugStringW
#define GetComputerName GetComputerNameW
#define RegisterEventSource RegisterEventSourceW
#define ReportEvent ReportEventW
#define lstrlen lstrlenW
#else
#define CreateEvent CreateEventA
#define GetModuleFileName GetModuleFileNameA
#define GetUserName GetUserNameA
#define OutputDebugString OutputDebugStringA
#define GetComputerName GetComputerNameA
#define RegisterEventSource RegisterEventSourceA
#define ReportEvent ReportEventA
#define lstrlen lstrlenA
#endif

#define ZeroMemory(where, size) __builtin_memset((where), 0, (size))
#define CopyMemory(to, from, size) __builtin_memcpy((to), (from), (size))
#define FillMemory(where, size, byte) __builtin_memset((where), (byte), (size))

#endif
