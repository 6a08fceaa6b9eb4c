/* SPDX-License-Identifier: MIT */
/*
 * String functions that always terminate the result: each takes the capacity of its target in
 * characters, and reports whether it was sufficient. In the static libopenperflib-win32.a.
 */
#ifndef OPENPERFLIB_STRSAFE_H
#define OPENPERFLIB_STRSAFE_H

#include <windows.h>

#include <stdarg.h>

#define STRSAFE_MAX_CCH 2147483647
#define STRSAFE_E_INSUFFICIENT_BUFFER ((HRESULT)0x8007007a)
#define STRSAFE_E_INVALID_PARAMETER ((HRESULT)0x80070057)
#define STRSAFE_E_END_OF_FILE ((HRESULT)0x80070026)

OPL_BEGIN_SHIMS

/* `capacity` counts characters (A: bytes) with the terminator. STRSAFE_E_INSUFFICIENT_BUFFER: the
 * part that fits was written and terminated; STRSAFE_E_INVALID_PARAMETER: `capacity` is 0, or more
 * than STRSAFE_MAX_CCH. Formats are those of crt.h. */
HRESULT WINAPI StringCchCopyA(LPSTR to, size_t capacity, LPCSTR from) OPL_SHIM(StringCchCopyA);
HRESULT WINAPI StringCchCopyW(LPWSTR to, size_t capacity, LPCWSTR from) OPL_SHIM(StringCchCopyW);
HRESULT WINAPI StringCchCopyNA(LPSTR to, size_t capacity, LPCSTR from, size_t most)
    OPL_SHIM(StringCchCopyNA);
HRESULT WINAPI StringCchCopyNW(LPWSTR to, size_t capacity, LPCWSTR from, size_t most)
    OPL_SHIM(StringCchCopyNW);
HRESULT WINAPI StringCchCatA(LPSTR to, size_t capacity, LPCSTR from) OPL_SHIM(StringCchCatA);
HRESULT WINAPI StringCchCatW(LPWSTR to, size_t capacity, LPCWSTR from) OPL_SHIM(StringCchCatW);
HRESULT WINAPI StringCchCatNA(LPSTR to, size_t capacity, LPCSTR from, size_t most)
    OPL_SHIM(StringCchCatNA);
HRESULT WINAPI StringCchCatNW(LPWSTR to, size_t capacity, LPCWSTR from, size_t most)
    OPL_SHIM(StringCchCatNW);
HRESULT WINAPIV StringCchPrintfA(LPSTR to, size_t capacity, LPCSTR format, ...)
    OPL_SHIM(StringCchPrintfA);
HRESULT WINAPIV StringCchPrintfW(LPWSTR to, size_t capacity, LPCWSTR format, ...)
    OPL_SHIM(StringCchPrintfW);
HRESULT WINAPI StringCchVPrintfA(LPSTR to, size_t capacity, LPCSTR format, va_list arguments)
    OPL_SHIM(StringCchVPrintfA);
HRESULT WINAPI StringCchVPrintfW(LPWSTR to, size_t capacity, LPCWSTR format, va_list arguments)
    OPL_SHIM(StringCchVPrintfW);
/* *ret_count (`ret_count` may be NULL) is the length without the terminator.
 * STRSAFE_E_INVALID_PARAMETER: the first `most` characters contain no terminator. */
HRESULT WINAPI StringCchLengthA(LPCSTR text, size_t most, size_t *ret_count)
    OPL_SHIM(StringCchLengthA);
HRESULT WINAPI StringCchLengthW(LPCWSTR text, size_t most, size_t *ret_count)
    OPL_SHIM(StringCchLengthW);

OPL_END_SHIMS

#ifdef UNICODE
#define StringCchCopy StringCchCopyW
#define StringCchCopyN StringCchCopyNW
#define StringCchCat StringCchCatW
#define StringCchCatN StringCchCatNW
#define StringCchPrintf StringCchPrintfW
#define StringCchVPrintf StringCchVPrintfW
#define StringCchLength StringCchLengthW
#else
#define StringCchCopy StringCchCopyA
#define StringCchCopyN StringCchCopyNA
#define StringCchCat StringCchCatA
#define StringCchCatN StringCchCatNA
#define StringCchPrintf StringCchPrintfA
#define StringCchVPrintf StringCchVPrintfA
#define StringCchLength StringCchLengthA
#endif

#endif
