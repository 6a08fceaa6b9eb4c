/* SPDX-License-Identifier: MIT */
/*
 * Windows' own string functions. They compare by Unicode's simple folds, unit by unit: the order is
 * that of the units, not of a language.
 */
#include "shims.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    uint32_t first, last, step;
    int delta;
} folds[] = {
#include "base/fold.inc"
};

static WCHAR upper(WCHAR unit)
{
    size_t low = 0, high = sizeof folds / sizeof *folds;
    if (unit < 0x80)
        return opl_wide_upper(unit);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (folds[middle].last < unit)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < sizeof folds / sizeof *folds && unit >= folds[low].first &&
                 (unit - folds[low].first) % folds[low].step == 0;
    return found ? (WCHAR)(unit + folds[low].delta) : unit;
}

static int compare(LPCWSTR left, size_t left_count, LPCWSTR right, size_t right_count, bool fold)
{
    size_t count = left_count < right_count ? left_count : right_count;
    for (size_t i = 0; i < count; i++) {
        WCHAR a = fold ? upper(left[i]) : left[i], b = fold ? upper(right[i]) : right[i];
        if (a != b)
            return a < b ? -1 : 1;
    }
    return left_count == right_count ? 0 : left_count < right_count ? -1 : 1;
}

static size_t count_of(LPCWSTR text, int count)
{
    return count < 0 ? opl_wcslen(text) : (size_t)count;
}

int WINAPI CompareStringW(LCID locale, DWORD flags, LPCWSTR left, int left_count, LPCWSTR right,
                          int right_count)
{
    const DWORD known = NORM_IGNORECASE | SORT_STRINGSORT | NORM_IGNOREWIDTH | NORM_IGNOREKANATYPE;
    if (!left || !right || flags & ~known) {
        SetLastError(!left || !right ? ERROR_INVALID_PARAMETER : ERROR_INVALID_FLAGS);
        return 0;
    }
    int order = compare(left, count_of(left, left_count), right, count_of(right, right_count),
                        flags & NORM_IGNORECASE);
    return order < 0 ? CSTR_LESS_THAN : order > 0 ? CSTR_GREATER_THAN : CSTR_EQUAL;
}

/* A copy as UTF-16 with a terminator, which the caller frees. NULL: no memory. */
static WCHAR *widen(LPCSTR text, int length, int *ret_count)
{
    int count = length ? MultiByteToWideChar(CP_UTF8, 0, text, length, NULL, 0) : 0;
    WCHAR *wide = calloc((size_t)count + 1, sizeof *wide);
    if (wide && count)
        MultiByteToWideChar(CP_UTF8, 0, text, length, wide, count);
    *ret_count = length < 0 && count ? count - 1 : count;
    return wide;
}

int WINAPI CompareStringA(LCID locale, DWORD flags, LPCSTR left, int left_count, LPCSTR right,
                          int right_count)
{
    int order = 0, counts[2];
    if (!left || !right)
        return CompareStringW(locale, flags, NULL, 0, NULL, 0);
    WCHAR *a = widen(left, left_count, &counts[0]), *b = widen(right, right_count, &counts[1]);
    if (a && b)
        order = CompareStringW(locale, flags, a, counts[0], b, counts[1]);
    else
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    free(a);
    free(b);
    return order;
}

/* NULL comes before every text. */
static int compare_texts(LPCWSTR left, LPCWSTR right, DWORD flags)
{
    if (!left || !right)
        return !left && !right ? 0 : !left ? -1 : 1;
    return CompareStringW(LOCALE_USER_DEFAULT, flags, left, -1, right, -1) - CSTR_EQUAL;
}

int WINAPI lstrcmpW(LPCWSTR left, LPCWSTR right)
{
    return compare_texts(left, right, 0);
}

int WINAPI lstrcmpiW(LPCWSTR left, LPCWSTR right)
{
    return compare_texts(left, right, NORM_IGNORECASE);
}

static int compare_narrow(LPCSTR left, LPCSTR right, DWORD flags)
{
    if (!left || !right)
        return !left && !right ? 0 : !left ? -1 : 1;
    return CompareStringA(LOCALE_USER_DEFAULT, flags, left, -1, right, -1) - CSTR_EQUAL;
}

int WINAPI lstrcmpA(LPCSTR left, LPCSTR right)
{
    return compare_narrow(left, right, 0);
}

int WINAPI lstrcmpiA(LPCSTR left, LPCSTR right)
{
    return compare_narrow(left, right, NORM_IGNORECASE);
}

/* ---- copies; each returns NULL if a pointer is NULL ---- */

LPSTR WINAPI lstrcpyA(LPSTR to, LPCSTR from)
{
    return to && from ? strcpy(to, from) : NULL;
}

LPWSTR WINAPI lstrcpyW(LPWSTR to, LPCWSTR from)
{
    return to && from ? opl_wcscpy(to, from) : NULL;
}

LPSTR WINAPI lstrcpynA(LPSTR to, LPCSTR from, int capacity)
{
    if (!to || !from || capacity <= 0)
        return NULL;
    size_t length = strnlen(from, (size_t)capacity - 1);
    memmove(to, from, length);
    to[length] = '\0';
    return to;
}

LPWSTR WINAPI lstrcpynW(LPWSTR to, LPCWSTR from, int capacity)
{
    if (!to || !from || capacity <= 0)
        return NULL;
    size_t length = opl_wcsnlen(from, (size_t)capacity - 1);
    memmove(to, from, length * sizeof *to);
    to[length] = 0;
    return to;
}

LPSTR WINAPI lstrcatA(LPSTR to, LPCSTR from)
{
    return to && from ? strcat(to, from) : NULL;
}

LPWSTR WINAPI lstrcatW(LPWSTR to, LPCWSTR from)
{
    return to && from ? opl_wcscat(to, from) : NULL;
}
