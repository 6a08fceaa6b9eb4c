/* SPDX-License-Identifier: MIT */
/*
 * Wide text in 16-bit units, for programs that say wcslen(L"...").
 *
 * With -fshort-wchar the C library's own wide functions are wrong: they take 4-byte characters
 * (wcslen of a five-letter string gives 20). So <wchar.h> is included first, and then each wcs* and
 * wmem* name stands for a function of this header, the wide printf functions are those of crt.h,
 * and wide scanf and stream functions are refused at compile time. Without -fshort-wchar nothing of
 * the C library is touched, and the opl_wcs* functions serve u"..." text.
 */
#ifndef OPENPERFLIB_WIDE_H
#define OPENPERFLIB_WIDE_H

#include "windef.h"

#if __SIZEOF_WCHAR_T__ == 2
#ifdef __cplusplus
#include <cwchar>
#include <iomanip>
#include <string>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>
#endif
#include <stdlib.h>
#include <string.h>

OPL_BEGIN_DECLS

static inline size_t opl_wcslen(const WCHAR *text)
{
    size_t count = 0;
    while (text[count])
        count++;
    return count;
}

static inline size_t opl_wcsnlen(const WCHAR *text, size_t most)
{
    size_t count = 0;
    while (count < most && text[count])
        count++;
    return count;
}

static inline WCHAR *opl_wmemcpy(WCHAR *to, const WCHAR *from, size_t count)
{
    return (WCHAR *)memcpy(to, from, count * sizeof *to);
}

static inline WCHAR *opl_wmemmove(WCHAR *to, const WCHAR *from, size_t count)
{
    return (WCHAR *)memmove(to, from, count * sizeof *to);
}

static inline WCHAR *opl_wmemset(WCHAR *to, WCHAR unit, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = unit;
    return to;
}

static inline int opl_wmemcmp(const WCHAR *left, const WCHAR *right, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static inline WCHAR *opl_wmemchr(const WCHAR *text, WCHAR unit, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text[i] == unit)
            return (WCHAR *)(text + i);
    return NULL;
}

static inline WCHAR *opl_wcscpy(WCHAR *to, const WCHAR *from)
{
    return opl_wmemcpy(to, from, opl_wcslen(from) + 1);
}

/* Like wcsncpy: pads with zeros; no terminator if `from` has `count` units or more. */
static inline WCHAR *opl_wcsncpy(WCHAR *to, const WCHAR *from, size_t count)
{
    size_t used = opl_wcsnlen(from, count);
    opl_wmemcpy(to, from, used);
    opl_wmemset(to + used, 0, count - used);
    return to;
}

static inline WCHAR *opl_wcscat(WCHAR *to, const WCHAR *from)
{
    opl_wcscpy(to + opl_wcslen(to), from);
    return to;
}

static inline WCHAR *opl_wcsncat(WCHAR *to, const WCHAR *from, size_t most)
{
    WCHAR *end = to + opl_wcslen(to);
    size_t used = opl_wcsnlen(from, most);
    opl_wmemcpy(end, from, used);
    end[used] = 0;
    return to;
}

/* Lower case of A-Z: the "C" locale's rule, which Windows programs start in. */
static inline WCHAR opl_wide_lower(WCHAR unit)
{
    return unit >= 'A' && unit <= 'Z' ? (WCHAR)(unit + ('a' - 'A')) : unit;
}

static inline WCHAR opl_wide_upper(WCHAR unit)
{
    return unit >= 'a' && unit <= 'z' ? (WCHAR)(unit - ('a' - 'A')) : unit;
}

static inline int opl_wcsncmp(const WCHAR *left, const WCHAR *right, size_t most)
{
    for (size_t i = 0; i < most; i++) {
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
        if (!left[i])
            return 0;
    }
    return 0;
}

static inline int opl_wcscmp(const WCHAR *left, const WCHAR *right)
{
    return opl_wcsncmp(left, right, (size_t)-1);
}

static inline int opl_wcsnicmp(const WCHAR *left, const WCHAR *right, size_t most)
{
    for (size_t i = 0; i < most; i++) {
        WCHAR a = opl_wide_lower(left[i]), b = opl_wide_lower(right[i]);
        if (a != b)
            return a < b ? -1 : 1;
        if (!a)
            return 0;
    }
    return 0;
}

static inline int opl_wcsicmp(const WCHAR *left, const WCHAR *right)
{
    return opl_wcsnicmp(left, right, (size_t)-1);
}

/* Like strchr, also finds the terminator. */
static inline WCHAR *opl_wcschr(const WCHAR *text, WCHAR unit)
{
    return opl_wmemchr(text, unit, opl_wcslen(text) + 1);
}

static inline WCHAR *opl_wcsrchr(const WCHAR *text, WCHAR unit)
{
    for (size_t i = opl_wcslen(text) + 1; i > 0; i--)
        if (text[i - 1] == unit)
            return (WCHAR *)(text + i - 1);
    return NULL;
}

static inline WCHAR *opl_wcsstr(const WCHAR *text, const WCHAR *part)
{
    size_t count = opl_wcslen(part);
    for (;; text++) {
        if (opl_wcsncmp(text, part, count) == 0)
            return (WCHAR *)text;
        if (!*text)
            return NULL;
    }
}

/* The number of units at the start of `text` that are in `set`, or, if `member` is 0, are not in
 * it. */
static inline size_t opl_wide_span(const WCHAR *text, const WCHAR *set, int member)
{
    size_t set_count = opl_wcslen(set), count = 0;
    while (text[count] && (opl_wmemchr(set, text[count], set_count) != NULL) == member)
        count++;
    return count;
}

static inline size_t opl_wcsspn(const WCHAR *text, const WCHAR *set)
{
    return opl_wide_span(text, set, 1);
}

static inline size_t opl_wcscspn(const WCHAR *text, const WCHAR *set)
{
    return opl_wide_span(text, set, 0);
}

static inline WCHAR *opl_wcspbrk(const WCHAR *text, const WCHAR *set)
{
    const WCHAR *found = text + opl_wcscspn(text, set);
    return *found ? (WCHAR *)found : NULL;
}

/* Like the C standard's wcstok with three arguments, which Windows has since 2015. */
static inline WCHAR *opl_wcstok(WCHAR *text, const WCHAR *set, WCHAR **rest)
{
    WCHAR *start = text ? text : *rest, *end;
    if (!start)
        return NULL;
    start += opl_wcsspn(start, set);
    end = start + opl_wcscspn(start, set);
    *rest = *end ? end + 1 : NULL;
    *end = 0;
    return end == start ? NULL : start;
}

/* A copy of the text; the caller frees it. NULL: no memory. */
static inline WCHAR *opl_wcsdup(const WCHAR *text)
{
    size_t count = opl_wcslen(text) + 1;
    WCHAR *copy = (WCHAR *)malloc(count * sizeof *copy);
    return copy ? opl_wmemcpy(copy, text, count) : NULL;
}

static inline WCHAR *opl_wcslwr(WCHAR *text)
{
    for (WCHAR *unit = text; *unit; unit++)
        *unit = opl_wide_lower(*unit);
    return text;
}

static inline WCHAR *opl_wcsupr(WCHAR *text)
{
    for (WCHAR *unit = text; *unit; unit++)
        *unit = opl_wide_upper(*unit);
    return text;
}

/* Copies the characters at the start of `text` that may belong to a number, for the C library's
 * narrow function to parse. */
static inline void opl_wide_number(const WCHAR *text, char *number, size_t capacity)
{
    size_t count = 0;
    while (count + 1 < capacity && text[count] && text[count] < 0x80) {
        number[count] = (char)text[count];
        count++;
    }
    number[count] = 0;
}

/* Numbers of more than 127 characters, including signs and leading blanks, are truncated. On
 * Windows long has 32 bits; here wcstol and its family return the C library's long. */
#define OPL_WIDE_NUMBER(name, type, narrow)                                                        \
    static inline type opl_##name(const WCHAR *text, WCHAR **end, int base)                        \
    {                                                                                              \
        char number[128], *stop;                                                                   \
        type value;                                                                                \
        opl_wide_number(text, number, sizeof number);                                              \
        value = narrow(number, &stop, base);                                                       \
        if (end)                                                                                   \
            *end = (WCHAR *)(text + (stop - number));                                              \
        return value;                                                                              \
    }
OPL_WIDE_NUMBER(wcstol, long, strtol)
OPL_WIDE_NUMBER(wcstoul, unsigned long, strtoul)
__extension__ typedef long long opl_llong;
__extension__ typedef unsigned long long opl_ullong;
OPL_WIDE_NUMBER(wcstoll, opl_llong, strtoll)
OPL_WIDE_NUMBER(wcstoull, opl_ullong, strtoull)
#undef OPL_WIDE_NUMBER

static inline double opl_wcstod(const WCHAR *text, WCHAR **end)
{
    char number[128], *stop;
    double value;
    opl_wide_number(text, number, sizeof number);
    value = strtod(number, &stop);
    if (end)
        *end = (WCHAR *)(text + (stop - number));
    return value;
}

static inline int opl_wtoi(const WCHAR *text)
{
    return (int)opl_wcstol(text, NULL, 10);
}

static inline long opl_wtol(const WCHAR *text)
{
    return opl_wcstol(text, NULL, 10);
}

OPL_END_DECLS

/* the names that only Windows has */
#define _wcsicmp opl_wcsicmp
#define _wcsnicmp opl_wcsnicmp
#define _wcsdup opl_wcsdup
#define _wcslwr opl_wcslwr
#define _wcsupr opl_wcsupr
#define _wtoi opl_wtoi
#define _wtol opl_wtol
#define _wcstoui64 opl_wcstoull
#define _wcstoi64 opl_wcstoll

#if __SIZEOF_WCHAR_T__ == 2
#define wcslen opl_wcslen
#define wcsnlen opl_wcsnlen
#define wcscpy opl_wcscpy
#define wcsncpy opl_wcsncpy
#define wcscat opl_wcscat
#define wcsncat opl_wcsncat
#define wcscmp opl_wcscmp
#define wcsncmp opl_wcsncmp
#define wcscasecmp opl_wcsicmp
#define wcsncasecmp opl_wcsnicmp
#define wcschr opl_wcschr
#define wcsrchr opl_wcsrchr
#define wcsstr opl_wcsstr
#define wcsspn opl_wcsspn
#define wcscspn opl_wcscspn
#define wcspbrk opl_wcspbrk
#define wcstok opl_wcstok
#define wcsdup opl_wcsdup
#define wcstol opl_wcstol
#define wcstoul opl_wcstoul
#define wcstoll opl_wcstoll
#define wcstoull opl_wcstoull
#define wcstod opl_wcstod
#define wmemcpy opl_wmemcpy
#define wmemmove opl_wmemmove
#define wmemset opl_wmemset
#define wmemcmp opl_wmemcmp
#define wmemchr opl_wmemchr

/* Calls of the C library's functions fail to compile instead of printing garbage. */
#define OPL_WIDE_REASON                                                                            \
    "the C library's wide functions take 4-byte characters: with -fshort-wchar convert the text "  \
    "and use the narrow function"
#ifdef __clang__
#define OPL_REFUSED __attribute__((__unavailable__(OPL_WIDE_REASON)))
#else
#define OPL_REFUSED __attribute__((__error__(OPL_WIDE_REASON)))
#endif
OPL_BEGIN_DECLS
int wscanf(const wchar_t *, ...) OPL_REFUSED;
int fwscanf(FILE *, const wchar_t *, ...) OPL_REFUSED;
int swscanf(const wchar_t *, const wchar_t *, ...) __THROW OPL_REFUSED;
wchar_t *fgetws(wchar_t *, int, FILE *) OPL_REFUSED;
size_t mbstowcs(wchar_t *, const char *, size_t)
__THROW OPL_REFUSED;
size_t wcstombs(char *, const wchar_t *, size_t)
__THROW OPL_REFUSED;
int mbtowc(wchar_t *, const char *, size_t)
__THROW OPL_REFUSED;
int wctomb(char *, wchar_t)
__THROW OPL_REFUSED;
int wcscoll(const wchar_t *, const wchar_t *) __THROW OPL_REFUSED;
OPL_END_DECLS

#ifdef __cplusplus
/* libstdc++ contains std::wstring compiled for 4-byte characters: use std::u16string or a vector.
 * The few libstdc++ headers that mention wstring (regex, filesystem) must be included before this
 * header. */
#ifdef _GLIBCXX_STRING
namespace std
{
typedef wstring wstring
    __attribute__((__unavailable__("the C++ library's wstring has 4-byte characters, which "
                                   "-fshort-wchar does not change; include <regex> and "
                                   "<filesystem> before <windows.h>")));
}
#endif
#endif
#endif

#if __has_include(<crt.h>)
#include <crt.h>
#elif __SIZEOF_WCHAR_T__ == 2
#error "printing L\"...\" needs crt.h: compile with pkg-config --cflags openperflib-win32"
#endif

#endif
