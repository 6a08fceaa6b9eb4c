/* SPDX-License-Identifier: MIT */
/* The functions of winbase.h: clock, names, languages, last error, text between UTF-8 and
 * UTF-16. */
#include "base/base.h"
#include "names/names.h"
#include "win32/text.h"
#include <winbase.h>

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- texts ---- */

/* ---- the names that W functions get, in UTF-8 ---- */

void name_done(struct name *name)
{
    free(name->large);
}

LSTATUS narrow(LPCWSTR wide, struct name *ret)
{
    ret->text = NULL;
    ret->large = NULL;
    if (!wide)
        return ERROR_SUCCESS;
    size_t count = utf16_length(wide);
    char *storage = ret->small;
    size_t need = utf16_to_8(wide, count, storage, sizeof ret->small - 1);
    if (need >= sizeof ret->small) {
        storage = ret->large = malloc(need + 1);
        if (!storage)
            return ERROR_NOT_ENOUGH_MEMORY;
        utf16_to_8(wide, count, storage, need);
    }
    storage[need] = 0;
    ret->text = storage;
    return ERROR_SUCCESS;
}

/* ---- last error ---- */

/* With initial-exec the first use in a thread needs no allocation; the library must be loaded with
 * the program or by an early dlopen. */
static __thread DWORD last_error __attribute__((tls_model("initial-exec")));

DWORD WINAPI GetLastError(void)
{
    return last_error;
}

void WINAPI SetLastError(DWORD code)
{
    last_error = code;
}

static int fail(DWORD code)
{
    last_error = code;
    return 0;
}

/* ---- clock ---- */

BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *ticks)
{
    if (!ticks)
        return fail(ERROR_NOACCESS);
    ticks->QuadPart = clock_ticks();
    return TRUE;
}

BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER *ticks_per_second)
{
    if (!ticks_per_second)
        return fail(ERROR_NOACCESS);
    ticks_per_second->QuadPart = CLOCK_TICKS_PER_SECOND;
    return TRUE;
}

void WINAPI GetSystemTime(SYSTEMTIME *time)
{
    clock_systemtime(clock_filetime(), time);
}

void WINAPI GetSystemTimeAsFileTime(FILETIME *time)
{
    uint64_t now = (uint64_t)clock_filetime();
    time->dwLowDateTime = (DWORD)now;
    time->dwHighDateTime = (DWORD)(now >> 32);
}

void WINAPI Sleep(DWORD milliseconds)
{
    struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    if (milliseconds == 0)
        sched_yield();
    while (milliseconds == INFINITE)
        pause();
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* ---- names ---- */

/* Checks the caller's buffer by the rules of GetComputerName. `needed` includes the terminator; a
 * *size that is too small becomes `needed`. */
static BOOL name_fits(const void *name, LPDWORD size, size_t needed)
{
    if (!size || (!name && *size >= needed))
        return fail(ERROR_INVALID_PARAMETER);
    if (*size >= needed)
        return TRUE;
    *size = (DWORD)needed;
    return fail(ERROR_BUFFER_OVERFLOW);
}

BOOL WINAPI GetComputerNameA(LPSTR name, LPDWORD size)
{
    char text[16 * 4];
    machine_name(NULL, text);
    if (!name_fits(name, size, strlen(text) + 1))
        return FALSE;
    *size = (DWORD)strlen(text);
    memcpy(name, text, *size + 1);
    return TRUE;
}

BOOL WINAPI GetComputerNameW(LPWSTR name, LPDWORD size)
{
    char text[16 * 4];
    machine_name(NULL, text);
    size_t needed = utf8_to_16(text, strlen(text) + 1, NULL, 0);
    if (!name_fits(name, size, needed))
        return FALSE;
    *size = (DWORD)utf8_to_16(text, strlen(text) + 1, (uint16_t *)name, needed) - 1;
    return TRUE;
}

LANGID WINAPI GetSystemDefaultUILanguage(void)
{
    return (LANGID)names_user_langid();
}

LANGID WINAPI GetUserDefaultUILanguage(void)
{
    return (LANGID)names_user_langid();
}

/* ---- text ---- */

int WINAPI lstrlenA(LPCSTR text)
{
    return text ? (int)strlen(text) : 0;
}

int WINAPI lstrlenW(LPCWSTR text)
{
    return text ? (int)utf16_length((const uint16_t *)text) : 0;
}

static bool code_page_known(UINT code_page)
{
    return code_page == CP_ACP || code_page == CP_OEMCP || code_page == CP_THREAD_ACP ||
           code_page == CP_UTF8;
}

/* Checks the arguments of a conversion, to or from UTF-16. */
static DWORD conversion_fault(UINT code_page, const void *text, int count, const void *out,
                              int capacity, DWORD wrong_flags)
{
    if (!text || !count || capacity < 0 || (capacity && (!out || out == text)))
        return ERROR_INVALID_PARAMETER;
    if (!code_page_known(code_page))
        return ERROR_INVALID_PARAMETER;
    return wrong_flags ? ERROR_INVALID_FLAGS : ERROR_SUCCESS;
}

static int converted(size_t needed, int capacity)
{
    if (needed > INT_MAX)
        return fail(ERROR_INVALID_PARAMETER);
    return capacity && needed > (size_t)capacity ? fail(ERROR_INSUFFICIENT_BUFFER) : (int)needed;
}

static bool is_lead(WCHAR unit)
{
    return (unit & 0xfc00) == 0xd800;
}

static bool is_trail(WCHAR unit)
{
    return (unit & 0xfc00) == 0xdc00;
}

static bool utf16_paired(LPCWCH text, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_trail(text[i]))
            return false;
        if (!is_lead(text[i]))
            continue;
        if (i + 1 == count || !is_trail(text[i + 1]))
            return false;
        i++;
    }
    return true;
}

int WINAPI WideCharToMultiByte(UINT code_page, DWORD flags, LPCWCH text, int count, LPSTR out,
                               int capacity, LPCCH default_char, LPBOOL used_default)
{
    const uint16_t *units = (const uint16_t *)text;
    DWORD fault = conversion_fault(code_page, text, count, out, capacity,
                                   flags & ~(DWORD)(WC_ERR_INVALID_CHARS | WC_NO_BEST_FIT_CHARS));
    if (!fault && code_page == CP_UTF8 && (default_char || used_default))
        fault = ERROR_INVALID_PARAMETER;
    if (fault)
        return fail(fault);
    size_t length = count < 0 ? utf16_length(units) + 1 : (size_t)count;
    if (flags & WC_ERR_INVALID_CHARS && !utf16_paired(text, length))
        return fail(ERROR_NO_UNICODE_TRANSLATION);
    if (used_default)
        *used_default = FALSE;
    return converted(utf16_to_8(units, length, out, (size_t)capacity), capacity);
}

int WINAPI MultiByteToWideChar(UINT code_page, DWORD flags, LPCCH text, int count, LPWSTR out,
                               int capacity)
{
    DWORD fault = conversion_fault(code_page, text, count, out, capacity,
                                   flags & ~(DWORD)(MB_PRECOMPOSED | MB_ERR_INVALID_CHARS));
    if (fault)
        return fail(fault);
    size_t length = count < 0 ? strlen(text) + 1 : (size_t)count;
    if (flags & MB_ERR_INVALID_CHARS && !utf8_valid(text, length))
        return fail(ERROR_NO_UNICODE_TRANSLATION);
    return converted(utf8_to_16(text, length, (uint16_t *)out, (size_t)capacity), capacity);
}
