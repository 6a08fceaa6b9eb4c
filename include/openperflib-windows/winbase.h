/* SPDX-License-Identifier: MIT */
/* The few system functions that performance programs call: clock, names, last error, event log. */
#ifndef OPENPERFLIB_WINBASE_H
#define OPENPERFLIB_WINBASE_H

#include "windef.h"
#include "winerror.h"

#include <stdarg.h>

#define MAX_COMPUTERNAME_LENGTH 15
#define INFINITE 0xffffffff

/* results of waiting, in addition to WAIT_TIMEOUT */
#define WAIT_OBJECT_0 0
#define WAIT_ABANDONED 0x00000080
#define WAIT_FAILED ((DWORD)0xffffffff)

/* reasons for a call of a provider's DllMain, if it has one; it is never called for threads */
#define DLL_PROCESS_DETACH 0
#define DLL_PROCESS_ATTACH 1
#define DLL_THREAD_ATTACH 2
#define DLL_THREAD_DETACH 3

/* flags of LoadLibraryEx; those not described at the function have no effect */
#define DONT_RESOLVE_DLL_REFERENCES 0x00000001
#define LOAD_LIBRARY_AS_DATAFILE 0x00000002
#define LOAD_WITH_ALTERED_SEARCH_PATH 0x00000008

/* priorities of threads */
#define THREAD_PRIORITY_IDLE -15
#define THREAD_PRIORITY_LOWEST -2
#define THREAD_PRIORITY_BELOW_NORMAL -1
#define THREAD_PRIORITY_NORMAL 0
#define THREAD_PRIORITY_ABOVE_NORMAL 1
#define THREAD_PRIORITY_HIGHEST 2
#define THREAD_PRIORITY_TIME_CRITICAL 15
#define THREAD_PRIORITY_ERROR_RETURN 0x7fffffff

/* flags of FormatMessage */
#define FORMAT_MESSAGE_ALLOCATE_BUFFER 0x00000100
#define FORMAT_MESSAGE_IGNORE_INSERTS 0x00000200
#define FORMAT_MESSAGE_FROM_STRING 0x00000400
#define FORMAT_MESSAGE_FROM_HMODULE 0x00000800
#define FORMAT_MESSAGE_FROM_SYSTEM 0x00001000
#define FORMAT_MESSAGE_ARGUMENT_ARRAY 0x00002000
#define FORMAT_MESSAGE_MAX_WIDTH_MASK 0x000000ff

#define VER_PLATFORM_WIN32_NT 2

#define INVALID_HANDLE_VALUE ((HANDLE)(LONG_PTR)-1)

/* protection and access of file mappings. PAGE_NOACCESS and SEC_IMAGE are refused; SEC_COMMIT and
 * SEC_NOCACHE have no effect; no view is executable. */
#define PAGE_NOACCESS 0x01
#define PAGE_READONLY 0x02
#define PAGE_READWRITE 0x04
#define PAGE_WRITECOPY 0x08
#define PAGE_EXECUTE_READ 0x20
#define PAGE_EXECUTE_READWRITE 0x40
#define SEC_IMAGE 0x01000000
#define SEC_RESERVE 0x04000000
#define SEC_COMMIT 0x08000000
#define SEC_NOCACHE 0x10000000
#define SECTION_QUERY 0x0001
#define SECTION_MAP_WRITE 0x0002
#define SECTION_MAP_READ 0x0004
#define FILE_MAP_COPY SECTION_QUERY
#define FILE_MAP_WRITE SECTION_MAP_WRITE
#define FILE_MAP_READ SECTION_MAP_READ
#define FILE_MAP_ALL_ACCESS 0x000f001f

/* access rights of mutexes, files and processes */
#define MUTEX_MODIFY_STATE 0x0001
#define MUTEX_ALL_ACCESS 0x001f0001
#define GENERIC_READ 0x80000000
#define GENERIC_WRITE 0x40000000
#define FILE_SHARE_READ 0x00000001
#define FILE_SHARE_WRITE 0x00000002
#define FILE_SHARE_DELETE 0x00000004
#define FILE_ATTRIBUTE_NORMAL 0x00000080
#define CREATE_NEW 1
#define CREATE_ALWAYS 2
#define OPEN_EXISTING 3
#define OPEN_ALWAYS 4
#define TRUNCATE_EXISTING 5
#define PROCESS_VM_READ 0x0010
#define PROCESS_QUERY_INFORMATION 0x0400
#define PROCESS_ALL_ACCESS 0x001fffff

/* flags of the memory functions */
#define GMEM_FIXED 0x0000
#define GMEM_MOVEABLE 0x0002
#define GMEM_ZEROINIT 0x0040
#define GMEM_MODIFY 0x0080
#define GMEM_SHARE 0x2000
#define GHND (GMEM_MOVEABLE | GMEM_ZEROINIT)
#define GPTR (GMEM_FIXED | GMEM_ZEROINIT)
#define LMEM_FIXED 0x0000
#define LMEM_MOVEABLE 0x0002
#define LMEM_ZEROINIT 0x0040
#define LMEM_MODIFY 0x0080
#define LHND (LMEM_MOVEABLE | LMEM_ZEROINIT)
#define LPTR (LMEM_FIXED | LMEM_ZEROINIT)
#define HEAP_ZERO_MEMORY 0x00000008

/* locales, flags and results of CompareString */
#define LOCALE_SYSTEM_DEFAULT 0x0800
#define LOCALE_USER_DEFAULT 0x0400
#define LOCALE_NEUTRAL 0x0000
#define LOCALE_INVARIANT 0x007f
#define NORM_IGNORECASE 0x00000001
#define NORM_IGNOREKANATYPE 0x00010000
#define NORM_IGNOREWIDTH 0x00020000
#define SORT_STRINGSORT 0x00001000
#define CSTR_LESS_THAN 1
#define CSTR_EQUAL 2
#define CSTR_GREATER_THAN 3

typedef HANDLE HGLOBAL, HLOCAL;
typedef DWORD LCID;
typedef INT_PTR(WINAPI *FARPROC)(void);

/* A lock of this process; its contents belong to the C library. */
typedef struct RTL_CRITICAL_SECTION {
    ULONG_PTR opl_mutex[6];
} CRITICAL_SECTION, *PCRITICAL_SECTION, *LPCRITICAL_SECTION;

typedef struct _OSVERSIONINFOA {
    DWORD dwOSVersionInfoSize;
    DWORD dwMajorVersion;
    DWORD dwMinorVersion;
    DWORD dwBuildNumber;
    DWORD dwPlatformId;
    CHAR szCSDVersion[128];
} OSVERSIONINFOA, *POSVERSIONINFOA, *LPOSVERSIONINFOA;
typedef struct _OSVERSIONINFOW {
    DWORD dwOSVersionInfoSize;
    DWORD dwMajorVersion;
    DWORD dwMinorVersion;
    DWORD dwBuildNumber;
    DWORD dwPlatformId;
    WCHAR szCSDVersion[128];
} OSVERSIONINFOW, *POSVERSIONINFOW, *LPOSVERSIONINFOW;
#ifdef UNICODE
typedef OSVERSIONINFOW OSVERSIONINFO, *POSVERSIONINFO, *LPOSVERSIONINFO;
#else
typedef OSVERSIONINFOA OSVERSIONINFO, *POSVERSIONINFO, *LPOSVERSIONINFO;
#endif

/* code pages; the ANSI and the console's code page are UTF-8 here */
#define CP_ACP 0
#define CP_OEMCP 1
#define CP_THREAD_ACP 3
#define CP_UTF8 65001
#define MB_PRECOMPOSED 0x00000001
#define MB_ERR_INVALID_CHARS 0x00000008
#define WC_ERR_INVALID_CHARS 0x00000080
#define WC_NO_BEST_FIT_CHARS 0x00000400

/* the severity of a reported event */
#define EVENTLOG_SUCCESS 0x0000
#define EVENTLOG_ERROR_TYPE 0x0001
#define EVENTLOG_WARNING_TYPE 0x0002
#define EVENTLOG_INFORMATION_TYPE 0x0004
#define EVENTLOG_AUDIT_SUCCESS 0x0008
#define EVENTLOG_AUDIT_FAILURE 0x0010

OPL_BEGIN_DECLS

/* The clock of PERF_DATA_BLOCK.PerfTime: ticks since an arbitrary start. FALSE, with
 * ERROR_NOACCESS: `ticks` is NULL. */
BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *ticks) OPL_SYMBOL(QueryPerformanceCounter);
/* Ticks per second: always 10,000,000. */
BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER *ticks_per_second)
    OPL_SYMBOL(QueryPerformanceFrequency);
/* The host name up to its first dot, in upper case, at most 15 characters: the system name in every
 * block (docs/windows/queries.md#c2). *size counts characters (A: bytes of UTF-8): before the call
 * the capacity with the terminator, afterwards the length without it. FALSE and last error:
 * ERROR_BUFFER_OVERFLOW (the capacity is too small: *size is the size needed with the terminator,
 * `name` is unchanged), ERROR_INVALID_PARAMETER (a pointer is NULL). */
BOOL WINAPI GetComputerNameA(LPSTR name, LPDWORD size) OPL_SYMBOL(GetComputerNameA);
BOOL WINAPI GetComputerNameW(LPWSTR name, LPDWORD size) OPL_SYMBOL(GetComputerNameW);
/* UTC now. */
void WINAPI GetSystemTime(SYSTEMTIME *time) OPL_SYMBOL(GetSystemTime);
void WINAPI GetSystemTimeAsFileTime(FILETIME *time) OPL_SYMBOL(GetSystemTimeAsFileTime);
/* The language of LC_ALL, LC_MESSAGES or LANG as a Windows language id; 0x409 if there is none. */
LANGID WINAPI GetSystemDefaultUILanguage(void) OPL_SYMBOL(GetSystemDefaultUILanguage);
LANGID WINAPI GetUserDefaultUILanguage(void) OPL_SYMBOL(GetUserDefaultUILanguage);
/* The calling thread's last error. */
DWORD WINAPI GetLastError(void) OPL_SYMBOL(GetLastError);
void WINAPI SetLastError(DWORD code) OPL_SYMBOL(SetLastError);
/* The number of characters before the terminator; 0 for NULL. */
int WINAPI lstrlenA(LPCSTR text) OPL_SYMBOL(lstrlenA);
int WINAPI lstrlenW(LPCWSTR text) OPL_SYMBOL(lstrlenW);
/* Waits at least `milliseconds`, even if signals arrive; 0xFFFFFFFF: for ever. */
void WINAPI Sleep(DWORD milliseconds) OPL_SYMBOL(Sleep);
/* Converts between UTF-8 (CP_ACP, CP_OEMCP, CP_THREAD_ACP, CP_UTF8) and UTF-16. A count of -1
 * includes the terminator; size 0 returns the needed size. Returns units written, or 0 with last
 * error ERROR_INSUFFICIENT_BUFFER, ERROR_INVALID_PARAMETER (another code page, too),
 * ERROR_INVALID_FLAGS, ERROR_NO_UNICODE_TRANSLATION (with *_ERR_INVALID_CHARS). Without these flags
 * invalid UTF-8 becomes U+FFFD, and an unpaired surrogate becomes three bytes. default_char is
 * never used; both it and used_default must be NULL for CP_UTF8, as on Windows.
 * (docs/windows/articles.md#c113) */
int WINAPI WideCharToMultiByte(UINT code_page, DWORD flags, LPCWCH text, int count, LPSTR out,
                               int capacity, LPCCH default_char, LPBOOL used_default)
    OPL_SYMBOL(WideCharToMultiByte);
int WINAPI MultiByteToWideChar(UINT code_page, DWORD flags, LPCCH text, int count, LPWSTR out,
                               int capacity) OPL_SYMBOL(MultiByteToWideChar);

/* The event log (docs/events.md). A source is any name of 1 to 255 characters and needs no
 * registration; the caller closes the handle with DeregisterEventSource. server: NULL, "" or this
 * machine by one of its names, with or without \\. NULL and last error: ERROR_INVALID_PARAMETER (no
 * name, or a longer one), ERROR_ACCESS_DENIED ("Security" is not for programs),
 * RPC_S_SERVER_UNAVAILABLE (another machine), ERROR_NOT_ENOUGH_MEMORY. */
HANDLE WINAPI RegisterEventSourceA(LPCSTR server, LPCSTR source) OPL_SYMBOL(RegisterEventSourceA);
HANDLE WINAPI RegisterEventSourceW(LPCWSTR server, LPCWSTR source) OPL_SYMBOL(RegisterEventSourceW);
BOOL WINAPI DeregisterEventSource(HANDLE log) OPL_SYMBOL(DeregisterEventSource);
/* Writes an event at once, without waiting. type: one of EVENTLOG_*; id: its low 16 bits are the
 * event's number in the log, the rest a field of a structured log; user: ignored; strings: `count`
 * of them, NULL is empty; they are joined to the event's text, and each is a field (for sources
 * Perflib and LoadPerf: values for the catalog's text); data: `size` bytes, shown in hexadecimal.
 * FALSE and last error: ERROR_INVALID_HANDLE; ERROR_INVALID_PARAMETER (type, or NULL with a count
 * or size); RPC_S_INVALID_BOUND (more than 256 strings, 31,839 characters in one, 61,440 bytes); or
 * the reason why the log refused it, ERROR_NOT_READY if there is no log. */
BOOL WINAPI ReportEventA(HANDLE log, WORD type, WORD category, DWORD id, PSID user, WORD count,
                         DWORD size, LPCSTR *strings, LPVOID data) OPL_SYMBOL(ReportEventA);
BOOL WINAPI ReportEventW(HANDLE log, WORD type, WORD category, DWORD id, PSID user, WORD count,
                         DWORD size, LPCWSTR *strings, LPVOID data) OPL_SYMBOL(ReportEventW);

OPL_END_DECLS

/* The functions from here on are in the static libopenperflib-win32.a (pkg-config
 * openperflib-win32). */
OPL_BEGIN_SHIMS

DWORD WINAPI GetCurrentProcessId(void) OPL_SHIM(GetCurrentProcessId);
/* The kernel's id of the calling thread. */
DWORD WINAPI GetCurrentThreadId(void) OPL_SHIM(GetCurrentThreadId);
/* The path of a loaded library (the handle that DllMain was given), or of the program (NULL).
 * Returns its characters (A: bytes of UTF-8) without the terminator; 0 and ERROR_MOD_NOT_FOUND if
 * there is no such library in the process. If the buffer is too small: truncated, terminated,
 * returns `capacity`, last error ERROR_INSUFFICIENT_BUFFER. */
DWORD WINAPI GetModuleFileNameA(HMODULE module, LPSTR path, DWORD capacity)
    OPL_SHIM(GetModuleFileNameA);
DWORD WINAPI GetModuleFileNameW(HMODULE module, LPWSTR path, DWORD capacity)
    OPL_SHIM(GetModuleFileNameW);
/* The handle of a loaded library by its path or file name, with or without .so or .dll, in any
 * letter case; name NULL is the program. This does not count as another use of the library, so do
 * not call FreeLibrary for the handle. NULL and ERROR_MOD_NOT_FOUND: the library is not loaded. */
HMODULE WINAPI GetModuleHandleA(LPCSTR name) OPL_SHIM(GetModuleHandleA);
HMODULE WINAPI GetModuleHandleW(LPCWSTR name) OPL_SHIM(GetModuleHandleW);
/* Loads a library by its path (also with backslashes), or by its name: first from the program's
 * folder, then from the linker's folders. PERF.DLL is perf.so; if no file has the name in the given
 * letter case, one in another letter case is used. The names of Windows' own libraries (pdh,
 * advapi32, kernel32, ...) stand for libopenperflib. Call FreeLibrary once for each successful
 * call. LoadLibraryEx cannot load a library as data only (ERROR_NOT_SUPPORTED). NULL and last
 * error: ERROR_MOD_NOT_FOUND, ERROR_BAD_EXE_FORMAT (another word size), ERROR_DLL_INIT_FAILED (its
 * DllMain returned FALSE). */
HMODULE WINAPI LoadLibraryA(LPCSTR name) OPL_SHIM(LoadLibraryA);
HMODULE WINAPI LoadLibraryW(LPCWSTR name) OPL_SHIM(LoadLibraryW);
HMODULE WINAPI LoadLibraryExA(LPCSTR name, HANDLE file, DWORD flags) OPL_SHIM(LoadLibraryExA);
HMODULE WINAPI LoadLibraryExW(LPCWSTR name, HANDLE file, DWORD flags) OPL_SHIM(LoadLibraryExW);
/* The address that the library exports by this name; names of libopenperflib are given without
 * their prefix opl_. NULL and last error: ERROR_PROC_NOT_FOUND (also if `name` is a number),
 * ERROR_MOD_NOT_FOUND. */
FARPROC WINAPI GetProcAddress(HMODULE module, LPCSTR name) OPL_SHIM(GetProcAddress);
BOOL WINAPI FreeLibrary(HMODULE module) OPL_SHIM(FreeLibrary);
/* Does nothing and returns TRUE: here DllMain is never called for threads. */
BOOL WINAPI DisableThreadLibraryCalls(HMODULE module) OPL_SHIM(DisableThreadLibraryCalls);
/* The name of the effective user, or the user's number if there is no name. *size counts characters
 * with the terminator: before the call the capacity, afterwards the number written. FALSE, with
 * ERROR_INSUFFICIENT_BUFFER: the capacity is too small, and *size is the size needed. */
BOOL WINAPI GetUserNameA(LPSTR name, LPDWORD size) OPL_SHIM(GetUserNameA);
BOOL WINAPI GetUserNameW(LPWSTR name, LPDWORD size) OPL_SHIM(GetUserNameW);
/* Writes a line to standard error if OPENPERFLIB_TRACE is set, else nothing. */
void WINAPI OutputDebugStringA(LPCSTR text) OPL_SHIM(OutputDebugStringA);
void WINAPI OutputDebugStringW(LPCWSTR text) OPL_SHIM(OutputDebugStringW);

/* The priority of the calling thread only (GetCurrentThread; other handles are
 * ERROR_INVALID_HANDLE). The priority is the thread's nice value: NORMAL is the value that the
 * process started with; BELOW_NORMAL, LOWEST, IDLE are 5, 10, 19 more; ABOVE_NORMAL, HIGHEST,
 * TIME_CRITICAL are 5, 10, 20 less. Raising the priority, even back to NORMAL, needs rights
 * (RLIMIT_NICE), else ERROR_ACCESS_DENIED. (docs/windows/articles.md#c144) */
HANDLE WINAPI GetCurrentThread(void) OPL_SHIM(GetCurrentThread);
BOOL WINAPI SetThreadPriority(HANDLE thread, int priority) OPL_SHIM(SetThreadPriority);
int WINAPI GetThreadPriority(HANDLE thread) OPL_SHIM(GetThreadPriority);
/* A lock that a thread may take more than once. It must be initialized; waiting does not spin. */
void WINAPI InitializeCriticalSection(LPCRITICAL_SECTION section)
    OPL_SHIM(InitializeCriticalSection);
BOOL WINAPI InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION section, DWORD count)
    OPL_SHIM(InitializeCriticalSectionAndSpinCount);
void WINAPI EnterCriticalSection(LPCRITICAL_SECTION section) OPL_SHIM(EnterCriticalSection);
BOOL WINAPI TryEnterCriticalSection(LPCRITICAL_SECTION section) OPL_SHIM(TryEnterCriticalSection);
void WINAPI LeaveCriticalSection(LPCRITICAL_SECTION section) OPL_SHIM(LeaveCriticalSection);
void WINAPI DeleteCriticalSection(LPCRITICAL_SECTION section) OPL_SHIM(DeleteCriticalSection);

/* The Windows version whose behaviour this project follows, for sources that check it: 10.0,
 * build 10240, NT, without a service pack. The machine's own version is uname's. */
DWORD WINAPI GetVersion(void) OPL_SHIM(GetVersion);
BOOL WINAPI GetVersionExA(LPOSVERSIONINFOA version) OPL_SHIM(GetVersionExA);
BOOL WINAPI GetVersionExW(LPOSVERSIONINFOW version) OPL_SHIM(GetVersionExW);
/* The same language as GetUserDefaultUILanguage returns. */
LANGID WINAPI GetUserDefaultLangID(void) OPL_SHIM(GetUserDefaultLangID);
LANGID WINAPI GetSystemDefaultLangID(void) OPL_SHIM(GetSystemDefaultLangID);
LCID WINAPI GetUserDefaultLCID(void) OPL_SHIM(GetUserDefaultLCID);
LCID WINAPI GetSystemDefaultLCID(void) OPL_SHIM(GetSystemDefaultLCID);

/* Formats a message: the text of status `id` (FROM_SYSTEM: this project's texts, not Windows'), or
 * the text `source` (FROM_STRING). %1 to %99, which may have formats (!d!, by crt.h's rules), are
 * replaced by `arguments`: a va_list, or with ARGUMENT_ARRAY an array of DWORD_PTRs.
 * ALLOCATE_BUFFER: *(LPTSTR *)to is allocated with at least `capacity` characters; free it with
 * LocalFree. A maximum width in the flags only makes line breaks blanks. Returns the characters
 * without the terminator; 0 and last error: ERROR_MR_MID_NOT_FOUND (a status without a text),
 * ERROR_INSUFFICIENT_BUFFER, ERROR_INVALID_PARAMETER, ERROR_NOT_SUPPORTED (FROM_HMODULE without
 * FROM_SYSTEM: a module's texts are for the event log). */
DWORD WINAPI FormatMessageA(DWORD flags, LPCVOID source, DWORD id, DWORD language, LPSTR to,
                            DWORD capacity, va_list *arguments) OPL_SHIM(FormatMessageA);
DWORD WINAPI FormatMessageW(DWORD flags, LPCVOID source, DWORD id, DWORD language, LPWSTR to,
                            DWORD capacity, va_list *arguments) OPL_SHIM(FormatMessageW);

/* A value of an ini file: the first "key=value" below "[section]", both ignoring case, without
 * surrounding blanks and one pair of quotes. The file is UTF-8, UTF-16 with a byte order mark, or
 * else CP1252. key NULL: the keys of the section as a multi-string; section NULL: the sections. If
 * there is no such value, `fallback` is copied without the blanks at its end. Returns the number of
 * characters copied without the terminator; `capacity` - 1 if the text was truncated, `capacity` -
 * 2 for a list. Last error: ERROR_FILE_NOT_FOUND. (docs/windows/articles.md#c142) */
DWORD WINAPI GetPrivateProfileStringA(LPCSTR section, LPCSTR key, LPCSTR fallback, LPSTR to,
                                      DWORD capacity, LPCSTR file)
    OPL_SHIM(GetPrivateProfileStringA);
DWORD WINAPI GetPrivateProfileStringW(LPCWSTR section, LPCWSTR key, LPCWSTR fallback, LPWSTR to,
                                      DWORD capacity, LPCWSTR file)
    OPL_SHIM(GetPrivateProfileStringW);
/* The number with which the key's value begins; `fallback` if there is no such key. */
UINT WINAPI GetPrivateProfileIntA(LPCSTR section, LPCSTR key, INT fallback, LPCSTR file)
    OPL_SHIM(GetPrivateProfileIntA);
UINT WINAPI GetPrivateProfileIntW(LPCWSTR section, LPCWSTR key, INT fallback, LPCWSTR file)
    OPL_SHIM(GetPrivateProfileIntW);

/* Creates an event, for PdhCollectQueryDataEx: the handle is the number of an eventfd. A name is
 * not supported (ERROR_NOT_SUPPORTED). Without manual_reset, a successful wait resets the event.
 * NULL on failure. */
HANDLE WINAPI CreateEventA(LPSECURITY_ATTRIBUTES security, BOOL manual_reset, BOOL initial_state,
                           LPCSTR name) OPL_SHIM(CreateEventA);
HANDLE WINAPI CreateEventW(LPSECURITY_ATTRIBUTES security, BOOL manual_reset, BOOL initial_state,
                           LPCWSTR name) OPL_SHIM(CreateEventW);
BOOL WINAPI SetEvent(HANDLE event) OPL_SHIM(SetEvent);
BOOL WINAPI ResetEvent(HANDLE event) OPL_SHIM(ResetEvent);
/* Closes the handle of an event, mutex, file mapping, file or process. Any other handle is
 * ERROR_INVALID_HANDLE, so that a descriptor that the program opened by itself is never closed. */
BOOL WINAPI CloseHandle(HANDLE handle) OPL_SHIM(CloseHandle);
/* Waits for an event, a mutex or the end of a process. WAIT_OBJECT_0: success; WAIT_ABANDONED:
 * the caller has the mutex because its owner was killed, so the protected data may be
 * inconsistent; WAIT_TIMEOUT; WAIT_FAILED. INFINITE waits for ever. */
DWORD WINAPI WaitForSingleObject(HANDLE handle, DWORD milliseconds) OPL_SHIM(WaitForSingleObject);

/* Creates memory that processes share by a name, or maps a file (`file` is a handle of CreateFile,
 * and there is no name). Names belong to the effective user: other users cannot find them, whatever
 * `security` is. Global\x, Local\x and x are the same; case matters. An object exists as long as a
 * process has a handle or a view of it, even if the last one is killed. The memory is allocated
 * when the function returns (SEC_RESERVE: when it is first accessed). If memory of this name
 * exists, its handle is returned, its size does not change, and the last error is
 * ERROR_ALREADY_EXISTS; if the name belongs to another kind of object: NULL and
 * ERROR_INVALID_HANDLE. NULL and last error: ERROR_INVALID_PARAMETER (no size),
 * ERROR_NOT_ENOUGH_MEMORY, ERROR_ACCESS_DENIED, ERROR_PATH_NOT_FOUND (a further backslash),
 * ERROR_FILENAME_EXCED_RANGE (more than 259 characters), ERROR_NOT_SUPPORTED (SEC_IMAGE, a name for
 * a file). (docs/windows/articles.md#c76) */
HANDLE WINAPI CreateFileMappingA(HANDLE file, LPSECURITY_ATTRIBUTES security, DWORD protection,
                                 DWORD bytes_high, DWORD bytes_low, LPCSTR name)
    OPL_SHIM(CreateFileMappingA);
HANDLE WINAPI CreateFileMappingW(HANDLE file, LPSECURITY_ATTRIBUTES security, DWORD protection,
                                 DWORD bytes_high, DWORD bytes_low, LPCWSTR name)
    OPL_SHIM(CreateFileMappingW);
/* Opens existing memory by its name. NULL and ERROR_FILE_NOT_FOUND: there is none. */
HANDLE WINAPI OpenFileMappingA(DWORD access, BOOL inherit, LPCSTR name) OPL_SHIM(OpenFileMappingA);
HANDLE WINAPI OpenFileMappingW(DWORD access, BOOL inherit, LPCWSTR name) OPL_SHIM(OpenFileMappingW);
/* Maps a part of the memory or file. The offset must be a multiple of 64 KiB. `bytes` 0: up to the
 * end. NULL and last error: ERROR_MAPPED_ALIGNMENT, ERROR_ACCESS_DENIED (also for a range beyond
 * the end), ERROR_INVALID_ADDRESS (MapViewOfFileEx: the address is in use). */
LPVOID WINAPI MapViewOfFile(HANDLE mapping, DWORD access, DWORD offset_high, DWORD offset_low,
                            SIZE_T bytes) OPL_SHIM(MapViewOfFile);
LPVOID WINAPI MapViewOfFileEx(HANDLE mapping, DWORD access, DWORD offset_high, DWORD offset_low,
                              SIZE_T bytes, LPVOID address) OPL_SHIM(MapViewOfFileEx);
/* Unmaps a view, or writes it to its file. FALSE and ERROR_INVALID_ADDRESS: no view that this
 * module mapped begins at `address`. */
BOOL WINAPI UnmapViewOfFile(LPCVOID address) OPL_SHIM(UnmapViewOfFile);
BOOL WINAPI FlushViewOfFile(LPCVOID address, SIZE_T bytes) OPL_SHIM(FlushViewOfFile);
/* Opens a regular file for mapping; there are no functions to read or write it. The path may
 * have backslashes; drives, devices of Windows and other machines are not found. `share` and
 * `attributes` have no effect. INVALID_HANDLE_VALUE on failure. */
HANDLE WINAPI CreateFileA(LPCSTR path, DWORD access, DWORD share, LPSECURITY_ATTRIBUTES security,
                          DWORD disposition, DWORD attributes, HANDLE template_file)
    OPL_SHIM(CreateFileA);
HANDLE WINAPI CreateFileW(LPCWSTR path, DWORD access, DWORD share, LPSECURITY_ATTRIBUTES security,
                          DWORD disposition, DWORD attributes, HANDLE template_file)
    OPL_SHIM(CreateFileW);

/* Creates a mutex for this process or, with a name (see CreateFileMapping), for several. A thread
 * may take it more than once. `owned`: if the mutex is new, the caller takes it at once.
 * WaitForSingleObject takes a mutex. (docs/windows/articles.md#c77) */
HANDLE WINAPI CreateMutexA(LPSECURITY_ATTRIBUTES security, BOOL owned, LPCSTR name)
    OPL_SHIM(CreateMutexA);
HANDLE WINAPI CreateMutexW(LPSECURITY_ATTRIBUTES security, BOOL owned, LPCWSTR name)
    OPL_SHIM(CreateMutexW);
HANDLE WINAPI OpenMutexA(DWORD access, BOOL inherit, LPCSTR name) OPL_SHIM(OpenMutexA);
HANDLE WINAPI OpenMutexW(DWORD access, BOOL inherit, LPCWSTR name) OPL_SHIM(OpenMutexW);
/* Releases a mutex. FALSE and ERROR_NOT_OWNER: the calling thread does not have it. */
BOOL WINAPI ReleaseMutex(HANDLE mutex) OPL_SHIM(ReleaseMutex);

/* Returns a handle of the process with this id, to wait for the process's end, and for psapi.h.
 * `access` is ignored: the kernel checks rights when the handle is used. NULL and
 * ERROR_INVALID_PARAMETER: no such process. */
HANDLE WINAPI OpenProcess(DWORD access, BOOL inherit, DWORD number) OPL_SHIM(OpenProcess);
#define NORMAL_PRIORITY_CLASS 0x00000020
#define IDLE_PRIORITY_CLASS 0x00000040
#define HIGH_PRIORITY_CLASS 0x00000080
#define REALTIME_PRIORITY_CLASS 0x00000100
#define BELOW_NORMAL_PRIORITY_CLASS 0x00004000
#define ABOVE_NORMAL_PRIORITY_CLASS 0x00008000
/* The priority class by scheduling policy and nice value: a real-time policy is REALTIME; else a
 * nice value of 10 or more is IDLE, 5 or more BELOW_NORMAL, -5 or less ABOVE_NORMAL, -10 or less
 * HIGH. 0 and ERROR_INVALID_HANDLE: not a process, or it has ended. */
DWORD WINAPI GetPriorityClass(HANDLE process) OPL_SHIM(GetPriorityClass);
HANDLE WINAPI GetCurrentProcess(void) OPL_SHIM(GetCurrentProcess);

/* Allocates memory. The handle is the memory's address, which only GlobalReAlloc changes. NULL and
 * ERROR_NOT_ENOUGH_MEMORY: no memory. GlobalSize returns the size that was requested. */
HGLOBAL WINAPI GlobalAlloc(UINT flags, SIZE_T bytes) OPL_SHIM(GlobalAlloc);
HGLOBAL WINAPI GlobalReAlloc(HGLOBAL memory, SIZE_T bytes, UINT flags) OPL_SHIM(GlobalReAlloc);
HGLOBAL WINAPI GlobalFree(HGLOBAL memory) OPL_SHIM(GlobalFree);
SIZE_T WINAPI GlobalSize(HGLOBAL memory) OPL_SHIM(GlobalSize);
LPVOID WINAPI GlobalLock(HGLOBAL memory) OPL_SHIM(GlobalLock);
BOOL WINAPI GlobalUnlock(HGLOBAL memory) OPL_SHIM(GlobalUnlock);
HLOCAL WINAPI LocalAlloc(UINT flags, SIZE_T bytes) OPL_SHIM(LocalAlloc);
HLOCAL WINAPI LocalReAlloc(HLOCAL memory, SIZE_T bytes, UINT flags) OPL_SHIM(LocalReAlloc);
HLOCAL WINAPI LocalFree(HLOCAL memory) OPL_SHIM(LocalFree);
SIZE_T WINAPI LocalSize(HLOCAL memory) OPL_SHIM(LocalSize);
/* There is only one heap; `heap` is ignored. */
HANDLE WINAPI GetProcessHeap(void) OPL_SHIM(GetProcessHeap);
LPVOID WINAPI HeapAlloc(HANDLE heap, DWORD flags, SIZE_T bytes) OPL_SHIM(HeapAlloc);
LPVOID WINAPI HeapReAlloc(HANDLE heap, DWORD flags, LPVOID memory, SIZE_T bytes)
    OPL_SHIM(HeapReAlloc);
BOOL WINAPI HeapFree(HANDLE heap, DWORD flags, LPVOID memory) OPL_SHIM(HeapFree);
SIZE_T WINAPI HeapSize(HANDLE heap, DWORD flags, LPCVOID memory) OPL_SHIM(HeapSize);

/* Milliseconds since the machine started, including time in suspend. */
DWORD WINAPI GetTickCount(void) OPL_SHIM(GetTickCount);
ULONGLONG WINAPI GetTickCount64(void) OPL_SHIM(GetTickCount64);
/* The current local time of this process (TZ). */
void WINAPI GetLocalTime(SYSTEMTIME *time) OPL_SHIM(GetLocalTime);
/* Conversions of times. FALSE and ERROR_INVALID_PARAMETER: there is no such day, or the year is
 * outside 1601 to 30827. */
BOOL WINAPI FileTimeToSystemTime(const FILETIME *time, LPSYSTEMTIME ret)
    OPL_SHIM(FileTimeToSystemTime);
BOOL WINAPI SystemTimeToFileTime(const SYSTEMTIME *time, LPFILETIME ret)
    OPL_SHIM(SystemTimeToFileTime);
BOOL WINAPI FileTimeToLocalFileTime(const FILETIME *time, LPFILETIME ret)
    OPL_SHIM(FileTimeToLocalFileTime);

/* Compare texts: lstrcmp by case, lstrcmpi ignoring case by Unicode's tables. The order is that of
 * the code units, not of a language. */
int WINAPI lstrcmpA(LPCSTR left, LPCSTR right) OPL_SHIM(lstrcmpA);
int WINAPI lstrcmpW(LPCWSTR left, LPCWSTR right) OPL_SHIM(lstrcmpW);
int WINAPI lstrcmpiA(LPCSTR left, LPCSTR right) OPL_SHIM(lstrcmpiA);
int WINAPI lstrcmpiW(LPCWSTR left, LPCWSTR right) OPL_SHIM(lstrcmpiW);
/* CSTR_LESS_THAN, CSTR_EQUAL or CSTR_GREATER_THAN in the order of lstrcmp, with any `locale`; 0:
 * ERROR_INVALID_PARAMETER (NULL), ERROR_INVALID_FLAGS (NORM_IGNORESYMBOLS and others). A count of
 * -1: the text ends at its terminator. */
int WINAPI CompareStringA(LCID locale, DWORD flags, LPCSTR left, int left_count, LPCSTR right,
                          int right_count) OPL_SHIM(CompareStringA);
int WINAPI CompareStringW(LCID locale, DWORD flags, LPCWSTR left, int left_count, LPCWSTR right,
                          int right_count) OPL_SHIM(CompareStringW);
/* Copy a text and return `to`; NULL if a pointer is NULL. lstrcpyn truncates to `capacity` - 1
 * units and always terminates the text. */
LPSTR WINAPI lstrcpyA(LPSTR to, LPCSTR from) OPL_SHIM(lstrcpyA);
LPWSTR WINAPI lstrcpyW(LPWSTR to, LPCWSTR from) OPL_SHIM(lstrcpyW);
LPSTR WINAPI lstrcpynA(LPSTR to, LPCSTR from, int capacity) OPL_SHIM(lstrcpynA);
LPWSTR WINAPI lstrcpynW(LPWSTR to, LPCWSTR from, int capacity) OPL_SHIM(lstrcpynW);
LPSTR WINAPI lstrcatA(LPSTR to, LPCSTR from) OPL_SHIM(lstrcatA);
LPWSTR WINAPI lstrcatW(LPWSTR to, LPCWSTR from) OPL_SHIM(lstrcatW);

OPL_END_SHIMS

#ifdef UNICODE
#define CreateEvent CreateEventW
#define LoadLibrary LoadLibraryW
#define LoadLibraryEx LoadLibraryExW
#define GetVersionEx GetVersionExW
#define FormatMessage FormatMessageW
#define GetPrivateProfileString GetPrivateProfileStringW
#define GetPrivateProfileInt GetPrivateProfileIntW
#define GetModuleFileName GetModuleFileNameW
#define GetModuleHandle GetModuleHandleW
#define GetUserName GetUserNameW
#define OutputDebugString OutputDebugStringW
#define GetComputerName GetComputerNameW
#define RegisterEventSource RegisterEventSourceW
#define ReportEvent ReportEventW
#define lstrlen lstrlenW
#define lstrcmp lstrcmpW
#define lstrcmpi lstrcmpiW
#define lstrcpy lstrcpyW
#define lstrcpyn lstrcpynW
#define lstrcat lstrcatW
#define CompareString CompareStringW
#define CreateFile CreateFileW
#define CreateFileMapping CreateFileMappingW
#define OpenFileMapping OpenFileMappingW
#define CreateMutex CreateMutexW
#define OpenMutex OpenMutexW
#else
#define CreateEvent CreateEventA
#define LoadLibrary LoadLibraryA
#define LoadLibraryEx LoadLibraryExA
#define GetVersionEx GetVersionExA
#define FormatMessage FormatMessageA
#define GetPrivateProfileString GetPrivateProfileStringA
#define GetPrivateProfileInt GetPrivateProfileIntA
#define GetModuleFileName GetModuleFileNameA
#define GetModuleHandle GetModuleHandleA
#define GetUserName GetUserNameA
#define OutputDebugString OutputDebugStringA
#define GetComputerName GetComputerNameA
#define RegisterEventSource RegisterEventSourceA
#define ReportEvent ReportEventA
#define lstrlen lstrlenA
#define lstrcmp lstrcmpA
#define lstrcmpi lstrcmpiA
#define lstrcpy lstrcpyA
#define lstrcpyn lstrcpynA
#define lstrcat lstrcatA
#define CompareString CompareStringA
#define CreateFile CreateFileA
#define CreateFileMapping CreateFileMappingA
#define OpenFileMapping OpenFileMappingA
#define CreateMutex CreateMutexA
#define OpenMutex OpenMutexA
#endif

OPL_BEGIN_DECLS

/* Atomic operations. They return the new value, or (Exchange, ExchangeAdd, CompareExchange) the
 * old one. */
static inline LONG InterlockedIncrement(LONG volatile *value)
{
    return __atomic_add_fetch(value, 1, __ATOMIC_SEQ_CST);
}
static inline LONG InterlockedDecrement(LONG volatile *value)
{
    return __atomic_sub_fetch(value, 1, __ATOMIC_SEQ_CST);
}
static inline LONG InterlockedExchange(LONG volatile *value, LONG wanted)
{
    return __atomic_exchange_n(value, wanted, __ATOMIC_SEQ_CST);
}
static inline LONG InterlockedExchangeAdd(LONG volatile *value, LONG more)
{
    return __atomic_fetch_add(value, more, __ATOMIC_SEQ_CST);
}
static inline LONG InterlockedCompareExchange(LONG volatile *value, LONG wanted, LONG expected)
{
    __atomic_compare_exchange_n(value, &expected, wanted, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}

OPL_END_DECLS

#define ZeroMemory(where, size) __builtin_memset((where), 0, (size))
#define MoveMemory(to, from, size) __builtin_memmove((to), (from), (size))
#define RtlZeroMemory ZeroMemory
#define RtlMoveMemory MoveMemory
#define RtlCopyMemory CopyMemory
#define RtlFillMemory FillMemory
#define RtlEqualMemory(left, right, size) (!__builtin_memcmp((left), (right), (size)))
#define CopyMemory(to, from, size) __builtin_memcpy((to), (from), (size))
#define FillMemory(where, size, byte) __builtin_memset((where), (byte), (size))

#endif
