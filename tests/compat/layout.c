/* SPDX-License-Identifier: MIT */
/*
 * Sizes, offsets, types and prototypes, proven by the compiler: this one file is compiled against
 * our headers (gcc, clang, 64 and 32 bits) and against mingw-w64's own. layout.py demands that
 * every structure and field of our headers stands here. -DWRONG must make it fail.
 */
#include <windows.h>
#include <winperf.h>
#include <pdh.h>
#include <pdhmsg.h>
#include <loadperf.h>

#include <stddef.h>

#ifdef WRONG
#define OFF_BY 1
#else
#define OFF_BY 0
#endif

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), "size of " #type)
#define FIELD(type, field, offset)                                                                 \
    _Static_assert(offsetof(type, field) == (offset) + OFF_BY, "offset of " #type "." #field)
#define SIGNED(type, size) _Static_assert((type)-1 < 0 && sizeof(type) == (size), #type)
#define UNSIGNED(type, size) _Static_assert((type)-1 > 0 && sizeof(type) == (size), #type)
#define POINTER(type) SIZE(type, sizeof(void *))

/* ---- windef.h ---- */
UNSIGNED(BYTE, 1);
UNSIGNED(UCHAR, 1);
UNSIGNED(BOOLEAN, 1);
UNSIGNED(WORD, 2);
UNSIGNED(USHORT, 2);
UNSIGNED(WCHAR, 2);
UNSIGNED(LANGID, 2);
UNSIGNED(DWORD, 4);
UNSIGNED(ULONG, 4);
UNSIGNED(UINT, 4);
UNSIGNED(DWORD32, 4);
UNSIGNED(UINT32, 4);
UNSIGNED(REGSAM, 4);
UNSIGNED(ACCESS_MASK, 4);
SIGNED(LONG, 4);
SIGNED(INT, 4);
SIGNED(BOOL, 4);
SIGNED(INT32, 4);
SIGNED(LONG32, 4);
SIGNED(LSTATUS, 4);
SIGNED(HRESULT, 4);
SIGNED(PDH_STATUS, 4);
SIGNED(SHORT, 2);
SIGNED(LONGLONG, 8);
SIGNED(LONG64, 8);
SIGNED(INT64, 8);
UNSIGNED(ULONGLONG, 8);
UNSIGNED(ULONG64, 8);
UNSIGNED(UINT64, 8);
UNSIGNED(DWORD64, 8);
UNSIGNED(DWORDLONG, 8);
SIGNED(INT_PTR, sizeof(void *));
SIGNED(LONG_PTR, sizeof(void *));
SIGNED(SSIZE_T, sizeof(void *));
UNSIGNED(UINT_PTR, sizeof(void *));
UNSIGNED(ULONG_PTR, sizeof(void *));
UNSIGNED(DWORD_PTR, sizeof(void *));
UNSIGNED(SIZE_T, sizeof(void *));
SIZE(CHAR, 1);
SIZE(FLOAT, 4);
SIZE(DOUBLE, 8);
POINTER(HANDLE);
POINTER(HKEY);
POINTER(HMODULE);
POINTER(HINSTANCE);
POINTER(LPVOID);
POINTER(LPCWSTR);

/* 8-byte numbers are 8-aligned inside structures, on 32 bits too (the portability trap of part A)
 */
struct aligned {
    char before;
    LONGLONG number;
};
FIELD(struct aligned, number, 8);

SIZE(LARGE_INTEGER, 8);
FIELD(LARGE_INTEGER, LowPart, 0);
FIELD(LARGE_INTEGER, HighPart, 4);
FIELD(LARGE_INTEGER, u.LowPart, 0);
FIELD(LARGE_INTEGER, u.HighPart, 4);
FIELD(LARGE_INTEGER, QuadPart, 0);
SIZE(ULARGE_INTEGER, 8);
FIELD(ULARGE_INTEGER, LowPart, 0);
FIELD(ULARGE_INTEGER, HighPart, 4);
FIELD(ULARGE_INTEGER, u.LowPart, 0);
FIELD(ULARGE_INTEGER, u.HighPart, 4);
FIELD(ULARGE_INTEGER, QuadPart, 0);
SIZE(FILETIME, 8);
FIELD(FILETIME, dwLowDateTime, 0);
FIELD(FILETIME, dwHighDateTime, 4);
SIZE(SYSTEMTIME, 16);
FIELD(SYSTEMTIME, wYear, 0);
FIELD(SYSTEMTIME, wMonth, 2);
FIELD(SYSTEMTIME, wDayOfWeek, 4);
FIELD(SYSTEMTIME, wDay, 6);
FIELD(SYSTEMTIME, wHour, 8);
FIELD(SYSTEMTIME, wMinute, 10);
FIELD(SYSTEMTIME, wSecond, 12);
FIELD(SYSTEMTIME, wMilliseconds, 14);

_Static_assert(MAKELONG(0x1234, 0x8765) == (LONG)0x87651234, "MAKELONG");
_Static_assert(MAKEWORD(0x12, 0x87) == 0x8712, "MAKEWORD");
_Static_assert(LOWORD(0x87654321) == 0x4321 && HIWORD(0x87654321) == 0x8765, "LOWORD, HIWORD");
_Static_assert(LOBYTE(0x8765) == 0x65 && HIBYTE(0x8765) == 0x87, "LOBYTE, HIBYTE");
_Static_assert(MAKELANGID(0x07, 0x01) == 0x0407, "MAKELANGID");
_Static_assert(PRIMARYLANGID(0x0807) == 0x07 && SUBLANGID(0x0807) == 0x02, "PRIMARYLANGID");
_Static_assert(SUCCEEDED(0) && FAILED((HRESULT)0x80000001), "SUCCEEDED, FAILED");

/* ---- winreg.h ---- */
SIZE(SECURITY_ATTRIBUTES, sizeof(void *) == 8 ? 24 : 12);
FIELD(SECURITY_ATTRIBUTES, nLength, 0);
FIELD(SECURITY_ATTRIBUTES, lpSecurityDescriptor, sizeof(void *));
FIELD(SECURITY_ATTRIBUTES, bInheritHandle, 2 * sizeof(void *));

/* ---- winperf.h ---- */
SIZE(PERF_DATA_BLOCK, 88);
FIELD(PERF_DATA_BLOCK, Signature, 0);
FIELD(PERF_DATA_BLOCK, LittleEndian, 8);
FIELD(PERF_DATA_BLOCK, Version, 12);
FIELD(PERF_DATA_BLOCK, Revision, 16);
FIELD(PERF_DATA_BLOCK, TotalByteLength, 20);
FIELD(PERF_DATA_BLOCK, HeaderLength, 24);
FIELD(PERF_DATA_BLOCK, NumObjectTypes, 28);
FIELD(PERF_DATA_BLOCK, DefaultObject, 32);
FIELD(PERF_DATA_BLOCK, SystemTime, 36);
FIELD(PERF_DATA_BLOCK, PerfTime, 56);
FIELD(PERF_DATA_BLOCK, PerfFreq, 64);
FIELD(PERF_DATA_BLOCK, PerfTime100nSec, 72);
FIELD(PERF_DATA_BLOCK, SystemNameLength, 80);
FIELD(PERF_DATA_BLOCK, SystemNameOffset, 84);
SIZE(PERF_OBJECT_TYPE, 64);
FIELD(PERF_OBJECT_TYPE, TotalByteLength, 0);
FIELD(PERF_OBJECT_TYPE, DefinitionLength, 4);
FIELD(PERF_OBJECT_TYPE, HeaderLength, 8);
FIELD(PERF_OBJECT_TYPE, ObjectNameTitleIndex, 12);
FIELD(PERF_OBJECT_TYPE, ObjectNameTitle, 16);
FIELD(PERF_OBJECT_TYPE, ObjectHelpTitleIndex, 20);
FIELD(PERF_OBJECT_TYPE, ObjectHelpTitle, 24);
FIELD(PERF_OBJECT_TYPE, DetailLevel, 28);
FIELD(PERF_OBJECT_TYPE, NumCounters, 32);
FIELD(PERF_OBJECT_TYPE, DefaultCounter, 36);
FIELD(PERF_OBJECT_TYPE, NumInstances, 40);
FIELD(PERF_OBJECT_TYPE, CodePage, 44);
FIELD(PERF_OBJECT_TYPE, PerfTime, 48);
FIELD(PERF_OBJECT_TYPE, PerfFreq, 56);
SIZE(PERF_COUNTER_DEFINITION, 40);
FIELD(PERF_COUNTER_DEFINITION, ByteLength, 0);
FIELD(PERF_COUNTER_DEFINITION, CounterNameTitleIndex, 4);
FIELD(PERF_COUNTER_DEFINITION, CounterNameTitle, 8);
FIELD(PERF_COUNTER_DEFINITION, CounterHelpTitleIndex, 12);
FIELD(PERF_COUNTER_DEFINITION, CounterHelpTitle, 16);
FIELD(PERF_COUNTER_DEFINITION, DefaultScale, 20);
FIELD(PERF_COUNTER_DEFINITION, DetailLevel, 24);
FIELD(PERF_COUNTER_DEFINITION, CounterType, 28);
FIELD(PERF_COUNTER_DEFINITION, CounterSize, 32);
FIELD(PERF_COUNTER_DEFINITION, CounterOffset, 36);
SIZE(PERF_INSTANCE_DEFINITION, 24);
FIELD(PERF_INSTANCE_DEFINITION, ByteLength, 0);
FIELD(PERF_INSTANCE_DEFINITION, ParentObjectTitleIndex, 4);
FIELD(PERF_INSTANCE_DEFINITION, ParentObjectInstance, 8);
FIELD(PERF_INSTANCE_DEFINITION, UniqueID, 12);
FIELD(PERF_INSTANCE_DEFINITION, NameOffset, 16);
FIELD(PERF_INSTANCE_DEFINITION, NameLength, 20);
SIZE(PERF_COUNTER_BLOCK, 4);
FIELD(PERF_COUNTER_BLOCK, ByteLength, 0);

/* ---- pdh.h ---- */
SIZE(PDH_RAW_COUNTER, 40);
FIELD(PDH_RAW_COUNTER, CStatus, 0);
FIELD(PDH_RAW_COUNTER, TimeStamp, 4);
FIELD(PDH_RAW_COUNTER, FirstValue, 16);
FIELD(PDH_RAW_COUNTER, SecondValue, 24);
FIELD(PDH_RAW_COUNTER, MultiCount, 32);
SIZE(PDH_FMT_COUNTERVALUE, 16);
FIELD(PDH_FMT_COUNTERVALUE, CStatus, 0);
FIELD(PDH_FMT_COUNTERVALUE, longValue, 8);
FIELD(PDH_FMT_COUNTERVALUE, doubleValue, 8);
FIELD(PDH_FMT_COUNTERVALUE, largeValue, 8);
FIELD(PDH_FMT_COUNTERVALUE, AnsiStringValue, 8);
FIELD(PDH_FMT_COUNTERVALUE, WideStringValue, 8);

/* ---- prototypes: assigning them must need no conversion ---- */
#define PROTOTYPE(result, name, arguments) result(WINAPI *check_##name) arguments = name
#define BOTH(name, arguments_a, arguments_w)                                                       \
    PROTOTYPE(LONG, name##A, arguments_a);                                                         \
    PROTOTYPE(LONG, name##W, arguments_w)

PROTOTYPE(BOOL, QueryPerformanceCounter, (LARGE_INTEGER *));
PROTOTYPE(BOOL, QueryPerformanceFrequency, (LARGE_INTEGER *));
PROTOTYPE(BOOL, GetComputerNameA, (LPSTR, LPDWORD));
PROTOTYPE(BOOL, GetComputerNameW, (LPWSTR, LPDWORD));
PROTOTYPE(void, GetSystemTime, (LPSYSTEMTIME));
PROTOTYPE(void, GetSystemTimeAsFileTime, (LPFILETIME));
PROTOTYPE(LANGID, GetSystemDefaultUILanguage, (void));
PROTOTYPE(LANGID, GetUserDefaultUILanguage, (void));
PROTOTYPE(DWORD, GetLastError, (void));
PROTOTYPE(void, SetLastError, (DWORD));
PROTOTYPE(int, lstrlenA, (LPCSTR));
PROTOTYPE(int, lstrlenW, (LPCWSTR));
PROTOTYPE(void, Sleep, (DWORD));
PROTOTYPE(int, WideCharToMultiByte, (UINT, DWORD, LPCWCH, int, LPSTR, int, LPCCH, LPBOOL));
PROTOTYPE(int, MultiByteToWideChar, (UINT, DWORD, LPCCH, int, LPWSTR, int));

PROTOTYPE(HANDLE, RegisterEventSourceA, (LPCSTR, LPCSTR));
PROTOTYPE(HANDLE, RegisterEventSourceW, (LPCWSTR, LPCWSTR));
PROTOTYPE(BOOL, DeregisterEventSource, (HANDLE));
PROTOTYPE(BOOL, ReportEventA, (HANDLE, WORD, WORD, DWORD, PSID, WORD, DWORD, LPCSTR *, LPVOID));
PROTOTYPE(BOOL, ReportEventW, (HANDLE, WORD, WORD, DWORD, PSID, WORD, DWORD, LPCWSTR *, LPVOID));
PROTOTYPE(DWORD, GetCurrentProcessId, (void));
PROTOTYPE(DWORD, GetCurrentThreadId, (void));
PROTOTYPE(DWORD, GetModuleFileNameA, (HMODULE, LPSTR, DWORD));
PROTOTYPE(DWORD, GetModuleFileNameW, (HMODULE, LPWSTR, DWORD));
PROTOTYPE(BOOL, DisableThreadLibraryCalls, (HMODULE));
PROTOTYPE(BOOL, GetUserNameA, (LPSTR, LPDWORD));
PROTOTYPE(BOOL, GetUserNameW, (LPWSTR, LPDWORD));
PROTOTYPE(void, OutputDebugStringA, (LPCSTR));
PROTOTYPE(void, OutputDebugStringW, (LPCWSTR));
PROTOTYPE(int, MessageBoxA, (HWND, LPCSTR, LPCSTR, UINT));
PROTOTYPE(int, MessageBoxW, (HWND, LPCWSTR, LPCWSTR, UINT));
PROTOTYPE(DWORD, LoadPerfCounterTextStringsA, (LPSTR, BOOL));
PROTOTYPE(DWORD, LoadPerfCounterTextStringsW, (LPWSTR, BOOL));
PROTOTYPE(DWORD, UnloadPerfCounterTextStringsA, (LPSTR, BOOL));
PROTOTYPE(DWORD, UnloadPerfCounterTextStringsW, (LPWSTR, BOOL));

BOTH(RegOpenKeyEx, (HKEY, LPCSTR, DWORD, REGSAM, PHKEY), (HKEY, LPCWSTR, DWORD, REGSAM, PHKEY));
BOTH(RegOpenKey, (HKEY, LPCSTR, PHKEY), (HKEY, LPCWSTR, PHKEY));
BOTH(RegCreateKeyEx,
     (HKEY, LPCSTR, DWORD, LPSTR, DWORD, REGSAM, LPSECURITY_ATTRIBUTES, PHKEY, LPDWORD),
     (HKEY, LPCWSTR, DWORD, LPWSTR, DWORD, REGSAM, LPSECURITY_ATTRIBUTES, PHKEY, LPDWORD));
BOTH(RegCreateKey, (HKEY, LPCSTR, PHKEY), (HKEY, LPCWSTR, PHKEY));
BOTH(RegQueryValueEx, (HKEY, LPCSTR, LPDWORD, LPDWORD, LPBYTE, LPDWORD),
     (HKEY, LPCWSTR, LPDWORD, LPDWORD, LPBYTE, LPDWORD));
BOTH(RegSetValueEx, (HKEY, LPCSTR, DWORD, DWORD, const BYTE *, DWORD),
     (HKEY, LPCWSTR, DWORD, DWORD, const BYTE *, DWORD));
BOTH(RegDeleteValue, (HKEY, LPCSTR), (HKEY, LPCWSTR));
BOTH(RegDeleteKey, (HKEY, LPCSTR), (HKEY, LPCWSTR));
BOTH(RegDeleteKeyEx, (HKEY, LPCSTR, REGSAM, DWORD), (HKEY, LPCWSTR, REGSAM, DWORD));
BOTH(RegDeleteTree, (HKEY, LPCSTR), (HKEY, LPCWSTR));
BOTH(RegEnumKeyEx, (HKEY, DWORD, LPSTR, LPDWORD, LPDWORD, LPSTR, LPDWORD, PFILETIME),
     (HKEY, DWORD, LPWSTR, LPDWORD, LPDWORD, LPWSTR, LPDWORD, PFILETIME));
BOTH(RegEnumKey, (HKEY, DWORD, LPSTR, DWORD), (HKEY, DWORD, LPWSTR, DWORD));
BOTH(RegEnumValue, (HKEY, DWORD, LPSTR, LPDWORD, LPDWORD, LPDWORD, LPBYTE, LPDWORD),
     (HKEY, DWORD, LPWSTR, LPDWORD, LPDWORD, LPDWORD, LPBYTE, LPDWORD));
BOTH(RegQueryInfoKey,
     (HKEY, LPSTR, LPDWORD, LPDWORD, LPDWORD, LPDWORD, LPDWORD, LPDWORD, LPDWORD, LPDWORD, LPDWORD,
      PFILETIME),
     (HKEY, LPWSTR, LPDWORD, LPDWORD, LPDWORD, LPDWORD, LPDWORD, LPDWORD, LPDWORD, LPDWORD, LPDWORD,
      PFILETIME));
BOTH(RegGetValue, (HKEY, LPCSTR, LPCSTR, DWORD, LPDWORD, PVOID, LPDWORD),
     (HKEY, LPCWSTR, LPCWSTR, DWORD, LPDWORD, PVOID, LPDWORD));
BOTH(RegConnectRegistry, (LPCSTR, HKEY, PHKEY), (LPCWSTR, HKEY, PHKEY));
PROTOTYPE(LONG, RegCloseKey, (HKEY));
PROTOTYPE(LONG, RegFlushKey, (HKEY));

PROTOTYPE(PDH_STATUS, PdhFormatFromRawValue,
          (DWORD, DWORD, LONGLONG *, PPDH_RAW_COUNTER, PPDH_RAW_COUNTER, PPDH_FMT_COUNTERVALUE));

/* the provider's three functions can be declared by their types */
PM_OPEN_PROC open_proc;
PM_COLLECT_PROC collect_proc;
PM_CLOSE_PROC close_proc;
__declspec(dllexport) DWORD APIENTRY open_proc(IN LPWSTR names)
{
    (void)names;
    return ERROR_SUCCESS;
}
__declspec(dllexport) DWORD APIENTRY
    collect_proc(IN LPWSTR query, IN OUT LPVOID *data, IN OUT LPDWORD bytes, OUT LPDWORD types)
{
    (void)query, (void)data, (void)bytes, (void)types;
    return ERROR_SUCCESS;
}
__declspec(dllexport) DWORD APIENTRY close_proc(void)
{
    return ERROR_SUCCESS;
}
