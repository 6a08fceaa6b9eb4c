/* SPDX-License-Identifier: MIT */
/*
 * Functions of Microsoft's C runtime that the C library lacks: printf by Windows' rules, for narrow
 * and 16-bit wide text, and copies that check the capacity of their target.
 *
 * The rules: a `long` has 32 bits, so %lu takes a DWORD (of a 64-bit `long` only the low 32 bits
 * are printed); I64 and ll are 64 bits, I, z and t the size of a pointer; %s is text of the
 * function's own width, %S of the other, %hs narrow, %ls and %ws wide; %p has all digits, in
 * capitals; %n prints nothing. Wide text goes to streams as UTF-8. printf and its family themselves
 * are replaced only where OPL_WINDOWS_PRINTF is defined, as openperflib-cc does. The printing
 * functions are in the static libopenperflib-win32.a.
 */
#ifndef OPENPERFLIB_CRT_H
#define OPENPERFLIB_CRT_H

#include <wide.h>

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifdef __cplusplus
#include <cstdio>
#include <cstring>
#endif

OPL_BEGIN_SHIMS

/* Prints to a stream. Returns the number of units of the function's width, or -1. */
int opl_printf(const char *format, ...) OPL_SHIM(printf);
int opl_vprintf(const char *format, va_list arguments) OPL_SHIM(vprintf);
int opl_fprintf(FILE *out, const char *format, ...) OPL_SHIM(fprintf);
int opl_vfprintf(FILE *out, const char *format, va_list arguments) OPL_SHIM(vfprintf);
int opl_wprintf(const WCHAR *format, ...) OPL_SHIM(wprintf);
int opl_vwprintf(const WCHAR *format, va_list arguments) OPL_SHIM(vwprintf);
int opl_fwprintf(FILE *out, const WCHAR *format, ...) OPL_SHIM(fwprintf);
int opl_vfwprintf(FILE *out, const WCHAR *format, va_list arguments) OPL_SHIM(vfwprintf);
int opl_fputws(const WCHAR *text, FILE *out) OPL_SHIM(fputws);
/* Print without a limit: the buffer must be large enough. */
int opl_sprintf(char *to, const char *format, ...) OPL_SHIM(sprintf);
int opl_vsprintf(char *to, const char *format, va_list arguments) OPL_SHIM(vsprintf);
int opl_swprintf_old(WCHAR *to, const WCHAR *format, ...) OPL_SHIM(swprintf_old);
int opl_vswprintf_old(WCHAR *to, const WCHAR *format, va_list arguments) OPL_SHIM(vswprintf_old);
/* Print at most `capacity` units including the terminator, which is always written. Return the
 * length that the whole text has. */
int opl_snprintf(char *to, size_t capacity, const char *format, ...) OPL_SHIM(snprintf);
int opl_vsnprintf(char *to, size_t capacity, const char *format, va_list arguments)
    OPL_SHIM(vsnprintf);
/* Like opl_snprintf and opl_vsnprintf, for wide text, but they return -1 if the text was
 * truncated. */
int opl_swprintf(WCHAR *to, size_t capacity, const WCHAR *format, ...) OPL_SHIM(swprintf);
int opl_vswprintf(WCHAR *to, size_t capacity, const WCHAR *format, va_list arguments)
    OPL_SHIM(vswprintf);
/* Like Windows' _snprintf family: if the text fills the buffer or is truncated, no terminator is
 * written; if it is truncated, they return -1. */
int opl_snprintf_old(char *to, size_t capacity, const char *format, ...) OPL_SHIM(snprintf_old);
int opl_vsnprintf_old(char *to, size_t capacity, const char *format, va_list arguments)
    OPL_SHIM(vsnprintf_old);
int opl_snwprintf(WCHAR *to, size_t capacity, const WCHAR *format, ...) OPL_SHIM(snwprintf);
int opl_vsnwprintf(WCHAR *to, size_t capacity, const WCHAR *format, va_list arguments)
    OPL_SHIM(vsnwprintf);
/* system() for wide text. */
int opl_wsystem(const WCHAR *command) OPL_SHIM(wsystem);
/* Like opl_snprintf, but if the buffer is too small, they return -1 and the text is empty. */
int opl_sprintf_s(char *to, size_t capacity, const char *format, ...) OPL_SHIM(sprintf_s);
int opl_swprintf_s(WCHAR *to, size_t capacity, const WCHAR *format, ...) OPL_SHIM(swprintf_s);

OPL_END_SHIMS

#define _snprintf opl_snprintf_old
#define _vsnprintf opl_vsnprintf_old
#define _snwprintf opl_snwprintf
#define _vsnwprintf opl_vsnwprintf
#define sprintf_s opl_sprintf_s
#define swprintf_s opl_swprintf_s

#if __SIZEOF_WCHAR_T__ == 2
#define wprintf opl_wprintf
#define fwprintf opl_fwprintf
#define vwprintf opl_vwprintf
#define vfwprintf opl_vfwprintf
#define fputws opl_fputws
#ifdef __cplusplus
/* swprintf with a capacity, as in the C standard, and without, as Windows had it */
template <typename... Values>
inline int opl_cxx_swprintf(WCHAR *to, size_t capacity, const WCHAR *format, Values... values)
{
    return opl_swprintf(to, capacity, format, values...);
}
template <typename... Values>
inline int opl_cxx_swprintf(WCHAR *to, const WCHAR *format, Values... values)
{
    return opl_swprintf_old(to, format, values...);
}
inline int opl_cxx_vswprintf(WCHAR *to, size_t capacity, const WCHAR *format, va_list arguments)
{
    return opl_vswprintf(to, capacity, format, arguments);
}
inline int opl_cxx_vswprintf(WCHAR *to, const WCHAR *format, va_list arguments)
{
    return opl_vswprintf_old(to, format, arguments);
}
#define swprintf opl_cxx_swprintf
#define vswprintf opl_cxx_vswprintf
#else
#define OPL_FIRST(first, ...) (first)
#define OPL_COUNTED(with_count, without, ...)                                                      \
    _Generic(OPL_FIRST(__VA_ARGS__, 0), WCHAR *: without, const WCHAR *: without,                  \
             default: with_count)
#define swprintf(to, ...) OPL_COUNTED(opl_swprintf, opl_swprintf_old, __VA_ARGS__)(to, __VA_ARGS__)
#define vswprintf(to, ...)                                                                         \
    OPL_COUNTED(opl_vswprintf, opl_vswprintf_old, __VA_ARGS__)(to, __VA_ARGS__)
#endif
#endif

/* Finds the last `unit` of the text. Sources split paths at the last backslash; in a path that
 * begins with a slash and has no backslash the last slash is found instead, so that they get an
 * existing folder. */
static inline WCHAR *opl_wcsrchr_path(const WCHAR *text, WCHAR unit)
{
    WCHAR *found = opl_wcsrchr(text, unit);
    return !found && unit == '\\' && text[0] == '/' ? opl_wcsrchr(text, '/') : found;
}
static inline char *opl_strrchr_path(const char *text, int unit)
{
    const char *found = strrchr(text, unit);
    return (char *)(!found && unit == '\\' && text[0] == '/' ? strrchr(text, '/') : found);
}

#ifdef OPL_WINDOWS_PRINTF
#define strrchr opl_strrchr_path
#ifdef wcsrchr
#undef wcsrchr
#define wcsrchr opl_wcsrchr_path
#endif
#define printf(...) opl_printf(__VA_ARGS__)
#define vprintf(...) opl_vprintf(__VA_ARGS__)
#define fprintf(...) opl_fprintf(__VA_ARGS__)
#define vfprintf(...) opl_vfprintf(__VA_ARGS__)
#define sprintf(...) opl_sprintf(__VA_ARGS__)
#define vsprintf(...) opl_vsprintf(__VA_ARGS__)
#define snprintf(...) opl_snprintf(__VA_ARGS__)
#define vsnprintf(...) opl_vsnprintf(__VA_ARGS__)
#ifdef __cplusplus
namespace std
{
using ::opl_fprintf;
using ::opl_printf;
using ::opl_snprintf;
using ::opl_sprintf;
using ::opl_strrchr_path;
using ::opl_vfprintf;
using ::opl_vprintf;
using ::opl_vsnprintf;
using ::opl_vsprintf;
} // namespace std
#endif
#endif

/* ---- copies that check the capacity; each returns 0, or an error and an empty text ---- */

OPL_BEGIN_DECLS

#define _TRUNCATE ((size_t)-1)
#define STRUNCATE 80
typedef int errno_t;

static inline size_t opl_strnlen(const char *text, size_t most)
{
    size_t count = 0;
    while (count < most && text[count])
        count++;
    return count;
}

#define OPL_COPIES(unit, prefix, length_most, copy)                                                \
    static inline errno_t prefix##ncpy_s(unit *to, size_t capacity, const unit *from, size_t most) \
    {                                                                                              \
        size_t count;                                                                              \
        if (!to || !capacity || !from) {                                                           \
            if (to && capacity)                                                                    \
                *to = 0;                                                                           \
            return EINVAL;                                                                         \
        }                                                                                          \
        count = length_most(from, most < capacity ? most : capacity);                              \
        if (count >= capacity && most != _TRUNCATE) {                                              \
            *to = 0;                                                                               \
            return ERANGE;                                                                         \
        }                                                                                          \
        copy(to, from, count < capacity ? count : capacity - 1);                                   \
        to[count < capacity ? count : capacity - 1] = 0;                                           \
        return count < capacity ? 0 : STRUNCATE;                                                   \
    }                                                                                              \
    static inline errno_t prefix##cpy_s(unit *to, size_t capacity, const unit *from)               \
    {                                                                                              \
        return prefix##ncpy_s(to, capacity, from, capacity);                                       \
    }                                                                                              \
    static inline errno_t prefix##cat_s(unit *to, size_t capacity, const unit *from)               \
    {                                                                                              \
        size_t used = to ? length_most(to, capacity) : 0;                                          \
        if (!to || used == capacity)                                                               \
            return EINVAL;                                                                         \
        if (!from || length_most(from, capacity - used) == capacity - used) {                      \
            *to = 0;                                                                               \
            return from ? ERANGE : EINVAL;                                                         \
        }                                                                                          \
        return prefix##ncpy_s(to + used, capacity - used, from, capacity - used);                  \
    }
OPL_COPIES(WCHAR, wcs, opl_wcsnlen, opl_wmemcpy)
OPL_COPIES(char, str, opl_strnlen, memcpy)
#undef OPL_COPIES

static inline errno_t opl_wcslwr_s(WCHAR *text, size_t capacity)
{
    if (!text || opl_wcsnlen(text, capacity) == capacity)
        return EINVAL;
    opl_wcslwr(text);
    return 0;
}

static inline errno_t opl_wcsupr_s(WCHAR *text, size_t capacity)
{
    if (!text || opl_wcsnlen(text, capacity) == capacity)
        return EINVAL;
    opl_wcsupr(text);
    return 0;
}

/* Converts a number to text in a base from 2 to 36, with lower-case letters. */
static inline errno_t opl_ultow_s(ULONG value, WCHAR *to, size_t capacity, int base)
{
    WCHAR digits[33];
    size_t count = 0, i;
    if (!to || !capacity || base < 2 || base > 36)
        return EINVAL;
    do {
        ULONG digit = value % (ULONG)base;
        digits[count++] = (WCHAR)(digit < 10 ? '0' + digit : 'a' + digit - 10);
        value /= (ULONG)base;
    } while (value);
    if (count >= capacity) {
        *to = 0;
        return ERANGE;
    }
    for (i = 0; i < count; i++)
        to[i] = digits[count - 1 - i];
    to[count] = 0;
    return 0;
}

static inline char *opl_strlwr(char *text)
{
    char *at;
    for (at = text; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return text;
}

static inline char *opl_strupr(char *text)
{
    char *at;
    for (at = text; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return text;
}

OPL_END_DECLS

#define _wsystem opl_wsystem
#define _wcslwr_s opl_wcslwr_s
#define _wcsupr_s opl_wcsupr_s
#define _ultow_s opl_ultow_s
#define _strdup strdup
#define _stricmp strcasecmp
#define _strnicmp strncasecmp
#define _strlwr opl_strlwr
#define _strupr opl_strupr

#ifdef __cplusplus
/* if the target is an array, its size is the capacity */
template <size_t capacity> inline errno_t wcscpy_s(WCHAR (&to)[capacity], const WCHAR *from)
{
    return wcscpy_s(to, capacity, from);
}
template <size_t capacity>
inline errno_t wcsncpy_s(WCHAR (&to)[capacity], const WCHAR *from, size_t most)
{
    return wcsncpy_s(to, capacity, from, most);
}
template <size_t capacity> inline errno_t wcscat_s(WCHAR (&to)[capacity], const WCHAR *from)
{
    return wcscat_s(to, capacity, from);
}
template <size_t capacity> inline errno_t strcpy_s(char (&to)[capacity], const char *from)
{
    return strcpy_s(to, capacity, from);
}
template <size_t capacity> inline errno_t strcat_s(char (&to)[capacity], const char *from)
{
    return strcat_s(to, capacity, from);
}
#endif

#endif
