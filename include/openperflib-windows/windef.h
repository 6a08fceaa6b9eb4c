/* SPDX-License-Identifier: MIT */
/*
 * The basic Windows types, calling conventions and text macros.
 *
 * WCHAR is a 16-bit code unit in every mode: char16_t by default (write u"..." or TEXT("...")),
 * wchar_t when the program is compiled with -fshort-wchar (write L"..."). All structures have the
 * layout of 64-bit and 32-bit Windows, which is the same.
 *
 * Types keep Windows' sizes: LONG and DWORD have 4 bytes. The language's own long has 8 on 64-bit
 * Linux, so ULONG_MAX of limits.h is not (DWORD)-1, and a DWORD is printed with %u.
 */
#ifndef OPENPERFLIB_WINDEF_H
#define OPENPERFLIB_WINDEF_H

#include <openperflib/format.h>

/* Every Win32 name is bound to a symbol "opl_<Name>", so that another library of this process
 * that also exports Win32 names (as libwinpr2 does) is never called by mistake. */
#define OPL_SYMBOL(name) __asm__("opl_" #name)
/* Like OPL_SYMBOL, for functions that are linked statically from libopenperflib-win32.a: the
 * program or library that contains them does not export them. */
#define OPL_SHIM(name) __asm__("opl_" #name)

/* OPL_BEGIN_SHIMS and OPL_END_SHIMS enclose declarations of functions that are linked statically: C
 * linkage, and hidden with any -fvisibility. */
#ifdef __cplusplus
#define OPL_BEGIN_SHIMS                                                                            \
    _Pragma("GCC visibility push(hidden)") extern "C"                                              \
    {
#else
#define OPL_BEGIN_SHIMS _Pragma("GCC visibility push(hidden)")
#endif
#define OPL_END_SHIMS OPL_END_DECLS

/* Calling conventions: there is only one on this platform. IN, OUT and OPTIONAL are empty macros
 * that Windows' headers define too; tests/compat shows that every system header can be included
 * after them. */
#define WINAPI
#define APIENTRY
#define CALLBACK
#define WINAPIV
#define PASCAL
#ifndef __cdecl
#define __cdecl
#endif
#ifndef __stdcall
#define __stdcall
#endif
#ifndef __declspec
#define __declspec(what) __attribute__((OPL_DECLSPEC_##what))
#ifndef OPL_DECLSPEC_dllexport
#define OPL_DECLSPEC_dllexport visibility("default")
#endif
#define OPL_DECLSPEC_dllimport visibility("default")
#define OPL_DECLSPEC_noinline noinline
#define OPL_DECLSPEC_noreturn noreturn
#define OPL_DECLSPEC_selectany weak
#define OPL_DECLSPEC_align(bytes) aligned(bytes)
#endif
#ifndef __fallthrough
#define __fallthrough __attribute__((fallthrough))
#endif
#ifndef CONST
#define CONST const
#endif
#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef OPTIONAL
#define OPTIONAL
#endif
#define UNALIGNED
#define FAR
#define NEAR
#define FIELD_OFFSET(type, field) ((LONG)offsetof(type, field))
#define ARRAYSIZE(array) (sizeof(array) / sizeof *(array))
#define UNREFERENCED_PARAMETER(name) ((void)(name))

typedef uint8_t BYTE, UCHAR, BOOLEAN, *PBYTE, *LPBYTE;
typedef uint16_t WORD, USHORT, *PWORD, *LPWORD;
typedef uint32_t DWORD, ULONG, UINT, *PDWORD, *LPDWORD, *PULONG, *PUINT;
typedef int32_t LONG, INT, BOOL, *PLONG, *LPLONG, *PINT, *LPINT, *PBOOL, *LPBOOL;
typedef int16_t SHORT, *PSHORT;
typedef char CHAR, *PCHAR;
typedef float FLOAT;
typedef double DOUBLE;
/* `long long` as on Windows, also where int64_t is `long`, for %lld and C++ overloads. These types
 * are aligned to 8 bytes on 32-bit x86 too, where `long long` in a structure is aligned to 4. */
typedef opl_int64 LONGLONG;
typedef opl_uint64 ULONGLONG;
typedef LONGLONG LONG64, INT64, *PLONGLONG;
typedef ULONGLONG ULONG64, UINT64, DWORD64, DWORDLONG, *PULONGLONG;
typedef uint32_t DWORD32, UINT32;
typedef int32_t INT32, LONG32;
typedef intptr_t INT_PTR, LONG_PTR;
typedef uintptr_t UINT_PTR, ULONG_PTR, DWORD_PTR;
typedef size_t SIZE_T;
typedef ptrdiff_t SSIZE_T;

typedef void *PVOID, *LPVOID, *HANDLE, *PSID;
typedef const void *LPCVOID;
#ifndef VOID
#define VOID void
#endif

typedef opl_char16 WCHAR;
/* the types with ZZ are multi-strings: consecutive texts, ended by an empty text */
typedef WCHAR *PWCHAR, *PWCH, *LPWCH, *PWSTR, *LPWSTR, *NWPSTR, *PZZWSTR;
typedef const WCHAR *LPCWCH, *PCWCH, *PCWSTR, *LPCWSTR, *PCZZWSTR;
typedef CHAR *PCH, *PSTR, *LPSTR, *LPCH, *NPSTR, *PZZSTR;
typedef const CHAR *PCSTR, *LPCSTR, *LPCCH, *PCCH, *PCZZSTR;

#if __SIZEOF_WCHAR_T__ == 2
#define OPL_TEXT_W(text) L##text
#else
#define OPL_TEXT_W(text) u##text
#endif
#ifdef UNICODE
typedef WCHAR TCHAR;
#define OPL_TEXT(text) OPL_TEXT_W(text)
#else
typedef CHAR TCHAR;
#define OPL_TEXT(text) text
#endif
#define TEXT(text) OPL_TEXT(text)
typedef TCHAR *PTSTR, *LPTSTR, *PTCHAR, *PTCH, *PZZTSTR;
typedef const TCHAR *PCTSTR, *LPCTSTR;

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif
#define MAX_PATH 260

typedef struct _SECURITY_ATTRIBUTES {
    DWORD nLength;
    LPVOID lpSecurityDescriptor;
    BOOL bInheritHandle;
} SECURITY_ATTRIBUTES, *PSECURITY_ATTRIBUTES, *LPSECURITY_ATTRIBUTES;

#define DECLARE_HANDLE(name)                                                                       \
    struct name##__ {                                                                              \
        int unused;                                                                                \
    };                                                                                             \
    typedef struct name##__ *name
DECLARE_HANDLE(HKEY);
typedef HKEY *PHKEY;
typedef struct _GUID {
    DWORD Data1;
    WORD Data2, Data3;
    BYTE Data4[8];
} GUID;
typedef HANDLE HMODULE, HINSTANCE, HWND;

typedef union _LARGE_INTEGER LARGE_INTEGER, *PLARGE_INTEGER;
typedef union _ULARGE_INTEGER {
    __extension__ struct {
        DWORD LowPart;
        DWORD HighPart;
    };
    struct {
        DWORD LowPart;
        DWORD HighPart;
    } u;
    ULONGLONG QuadPart;
} ULARGE_INTEGER, *PULARGE_INTEGER;

typedef struct _FILETIME {
    DWORD dwLowDateTime;
    DWORD dwHighDateTime;
} FILETIME, *PFILETIME, *LPFILETIME;
typedef struct _SYSTEMTIME SYSTEMTIME, *PSYSTEMTIME, *LPSYSTEMTIME;

#define MAKELONG(low, high) ((LONG)((WORD)(low) | ((DWORD)(WORD)(high)) << 16))
#define MAKEWORD(low, high) ((WORD)((BYTE)(low) | ((WORD)(BYTE)(high)) << 8))
#define LOWORD(value) ((WORD)((DWORD_PTR)(value)&0xffff))
#define HIWORD(value) ((WORD)(((DWORD_PTR)(value) >> 16) & 0xffff))
#define LOBYTE(value) ((BYTE)((DWORD_PTR)(value)&0xff))
#define HIBYTE(value) ((BYTE)(((DWORD_PTR)(value) >> 8) & 0xff))

typedef WORD LANGID;
#define LANG_NEUTRAL 0x00
#define LANG_ARABIC 0x01
#define LANG_CHINESE 0x04
#define LANG_CZECH 0x05
#define LANG_DANISH 0x06
#define LANG_GERMAN 0x07
#define LANG_GREEK 0x08
#define LANG_ENGLISH 0x09
#define LANG_SPANISH 0x0a
#define LANG_FINNISH 0x0b
#define LANG_FRENCH 0x0c
#define LANG_HEBREW 0x0d
#define LANG_HUNGARIAN 0x0e
#define LANG_ITALIAN 0x10
#define LANG_JAPANESE 0x11
#define LANG_KOREAN 0x12
#define LANG_DUTCH 0x13
#define LANG_NORWEGIAN 0x14
#define LANG_POLISH 0x15
#define LANG_PORTUGUESE 0x16
#define LANG_RUSSIAN 0x19
#define LANG_SWEDISH 0x1d
#define LANG_TURKISH 0x1f
#define LANG_UKRAINIAN 0x22
#define LANG_INVARIANT 0x7f
#define SUBLANG_NEUTRAL 0x00
#define SUBLANG_DEFAULT 0x01
#define SUBLANG_SYS_DEFAULT 0x02
#define SUBLANG_ENGLISH_US 0x01
#define SUBLANG_ENGLISH_UK 0x02
#define MAKELANGID(primary, sub) ((LANGID)(((WORD)(sub) << 10) | (WORD)(primary)))
#define PRIMARYLANGID(id) ((WORD)(id)&0x3ff)
#define SUBLANGID(id) ((WORD)(id) >> 10)
#define MAKELCID(language, sorting) ((DWORD)((DWORD)(WORD)(sorting) << 16 | (WORD)(language)))
#define LANG_SYSTEM_DEFAULT MAKELANGID(LANG_NEUTRAL, SUBLANG_SYS_DEFAULT)
#define LANG_USER_DEFAULT MAKELANGID(LANG_NEUTRAL, SUBLANG_DEFAULT)
#define LANGIDFROMLCID(locale) ((WORD)(locale))

#endif
