/* SPDX-License-Identifier: MIT */
/* Copies that are always terminated: the functions of strsafe.h without formats. */
#include "shims.h"

#include <strsafe.h>

#include <string.h>

static size_t length_within(bool wide, const void *text, size_t most)
{
    return wide ? opl_wcsnlen(text, most) : strnlen(text, most);
}

/* Copies at most `most` units after the first `used` units of `to`. */
static HRESULT append(bool wide, void *to, size_t capacity, size_t used, const void *from,
                      size_t most)
{
    size_t unit = wide ? sizeof(WCHAR) : 1;
    size_t count =
        from ? length_within(wide, from, most < capacity - used ? most : capacity - used) : 0;
    bool fits = count < capacity - used;
    if (!fits)
        count = capacity - used - 1;
    if (count)
        memcpy((char *)to + used * unit, from, count * unit);
    memset((char *)to + (used + count) * unit, 0, unit);
    return fits ? S_OK : STRSAFE_E_INSUFFICIENT_BUFFER;
}

static HRESULT copy(bool wide, void *to, size_t capacity, const void *from, size_t most)
{
    if (!to || !capacity || capacity > STRSAFE_MAX_CCH)
        return STRSAFE_E_INVALID_PARAMETER;
    return append(wide, to, capacity, 0, from, most);
}

static HRESULT add(bool wide, void *to, size_t capacity, const void *from, size_t most)
{
    size_t used = to && capacity <= STRSAFE_MAX_CCH ? length_within(wide, to, capacity) : capacity;
    return used == capacity ? STRSAFE_E_INVALID_PARAMETER
                            : append(wide, to, capacity, used, from, most);
}

static HRESULT measure(bool wide, const void *text, size_t most, size_t *ret_count)
{
    size_t count = text && most <= STRSAFE_MAX_CCH ? length_within(wide, text, most) : most;
    if (ret_count)
        *ret_count = count == most ? 0 : count;
    return count == most ? STRSAFE_E_INVALID_PARAMETER : S_OK;
}

HRESULT WINAPI StringCchCopyA(LPSTR to, size_t capacity, LPCSTR from)
{
    return copy(false, to, capacity, from, STRSAFE_MAX_CCH);
}

HRESULT WINAPI StringCchCopyW(LPWSTR to, size_t capacity, LPCWSTR from)
{
    return copy(true, to, capacity, from, STRSAFE_MAX_CCH);
}

HRESULT WINAPI StringCchCopyNA(LPSTR to, size_t capacity, LPCSTR from, size_t most)
{
    return copy(false, to, capacity, from, most);
}

HRESULT WINAPI StringCchCopyNW(LPWSTR to, size_t capacity, LPCWSTR from, size_t most)
{
    return copy(true, to, capacity, from, most);
}

HRESULT WINAPI StringCchCatA(LPSTR to, size_t capacity, LPCSTR from)
{
    return add(false, to, capacity, from, STRSAFE_MAX_CCH);
}

HRESULT WINAPI StringCchCatW(LPWSTR to, size_t capacity, LPCWSTR from)
{
    return add(true, to, capacity, from, STRSAFE_MAX_CCH);
}

HRESULT WINAPI StringCchCatNA(LPSTR to, size_t capacity, LPCSTR from, size_t most)
{
    return add(false, to, capacity, from, most);
}

HRESULT WINAPI StringCchCatNW(LPWSTR to, size_t capacity, LPCWSTR from, size_t most)
{
    return add(true, to, capacity, from, most);
}

HRESULT WINAPI StringCchLengthA(LPCSTR text, size_t most, size_t *ret_count)
{
    return measure(false, text, most, ret_count);
}

HRESULT WINAPI StringCchLengthW(LPCWSTR text, size_t most, size_t *ret_count)
{
    return measure(true, text, most, ret_count);
}
