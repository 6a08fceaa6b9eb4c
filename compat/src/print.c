/* SPDX-License-Identifier: MIT */
/* The printing functions of crt.h, winuser.h and strsafe.h over format.c. */
#include "shims.h"

#include <strsafe.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MADE_AUTO __attribute__((cleanup(made_done))) struct opl_shim_text

static void made_done(struct opl_shim_text *made)
{
    free(made->units);
}

static int count_of(const struct opl_shim_text *made)
{
    return made->failed || made->count > INT_MAX ? -1 : (int)made->count;
}

/* What happens to a text that does not fit: END_LENGTH returns its length, the others -1; END_OPEN
 * writes no terminator; END_EMPTY writes no text. */
enum end { END_LENGTH, END_MINUS, END_OPEN, END_EMPTY };

/* Copies the text, at most `capacity` units; returns its length or -1, see enum end. */
static int deliver(const struct opl_shim_text *made, void *to, size_t capacity, enum end end)
{
    size_t unit = made->wide ? sizeof(WCHAR) : 1, count = made->count;
    int length = count_of(made);
    if (length < 0 || !to || !capacity)
        return length < 0 || end != END_LENGTH ? -1 : length;
    bool fits = count < capacity;
    size_t kept = fits ? count : end == END_EMPTY ? 0 : capacity - 1;
    if (!fits && end == END_OPEN) {
        memcpy(to, made->units, capacity * unit);
        return count == capacity ? length : -1;
    }
    memcpy(to, made->units, kept * unit);
    memset((char *)to + kept * unit, 0, unit);
    return fits || end == END_LENGTH ? length : -1;
}

static int print_to(FILE *out, bool wide, const void *format, va_list arguments)
{
    MADE_AUTO made = {.wide = wide};
    opl_shim_format(&made, format, arguments);
    if (made.failed)
        return -1;
    char *narrow = wide ? opl_shim_narrow(made.units) : made.units;
    size_t bytes = !narrow ? 0 : wide ? strlen(narrow) : made.count;
    bool good = narrow && fwrite(narrow, 1, bytes, out) == bytes;
    if (wide)
        free(narrow);
    return good ? count_of(&made) : -1;
}

static int print_in(bool wide, void *to, size_t capacity, enum end end, const void *format,
                    va_list arguments)
{
    MADE_AUTO made = {.wide = wide};
    opl_shim_format(&made, format, arguments);
    return deliver(&made, to, capacity, end);
}

/* Calls `call`, which uses `arguments`, and returns its result. */
#define ANSWER(call)                                                                               \
    va_list arguments;                                                                             \
    va_start(arguments, format);                                                                   \
    int count = call;                                                                              \
    va_end(arguments);                                                                             \
    return count

/* ---- to streams ---- */

int opl_printf(const char *format, ...)
{
    ANSWER(print_to(stdout, false, format, arguments));
}

int opl_vprintf(const char *format, va_list arguments)
{
    return print_to(stdout, false, format, arguments);
}

int opl_fprintf(FILE *out, const char *format, ...)
{
    ANSWER(print_to(out, false, format, arguments));
}

int opl_vfprintf(FILE *out, const char *format, va_list arguments)
{
    return print_to(out, false, format, arguments);
}

int opl_wprintf(const WCHAR *format, ...)
{
    ANSWER(print_to(stdout, true, format, arguments));
}

int opl_vwprintf(const WCHAR *format, va_list arguments)
{
    return print_to(stdout, true, format, arguments);
}

int opl_fwprintf(FILE *out, const WCHAR *format, ...)
{
    ANSWER(print_to(out, true, format, arguments));
}

int opl_vfwprintf(FILE *out, const WCHAR *format, va_list arguments)
{
    return print_to(out, true, format, arguments);
}

int opl_fputws(const WCHAR *text, FILE *out)
{
    char *narrow = opl_shim_narrow(text);
    int result = narrow ? fputs(narrow, out) : -1;
    free(narrow);
    return result;
}

/* ---- into buffers ---- */

enum { NO_LIMIT = INT_MAX };

int opl_sprintf(char *to, const char *format, ...)
{
    ANSWER(print_in(false, to, NO_LIMIT, END_MINUS, format, arguments));
}

int opl_vsprintf(char *to, const char *format, va_list arguments)
{
    return print_in(false, to, NO_LIMIT, END_MINUS, format, arguments);
}

int opl_swprintf_old(WCHAR *to, const WCHAR *format, ...)
{
    ANSWER(print_in(true, to, NO_LIMIT, END_MINUS, format, arguments));
}

int opl_vswprintf_old(WCHAR *to, const WCHAR *format, va_list arguments)
{
    return print_in(true, to, NO_LIMIT, END_MINUS, format, arguments);
}

int opl_snprintf(char *to, size_t capacity, const char *format, ...)
{
    ANSWER(print_in(false, to, capacity, END_LENGTH, format, arguments));
}

int opl_vsnprintf(char *to, size_t capacity, const char *format, va_list arguments)
{
    return print_in(false, to, capacity, END_LENGTH, format, arguments);
}

int opl_swprintf(WCHAR *to, size_t capacity, const WCHAR *format, ...)
{
    ANSWER(print_in(true, to, capacity, END_MINUS, format, arguments));
}

int opl_vswprintf(WCHAR *to, size_t capacity, const WCHAR *format, va_list arguments)
{
    return print_in(true, to, capacity, END_MINUS, format, arguments);
}

int opl_snprintf_old(char *to, size_t capacity, const char *format, ...)
{
    ANSWER(print_in(false, to, capacity, END_OPEN, format, arguments));
}

int opl_vsnprintf_old(char *to, size_t capacity, const char *format, va_list arguments)
{
    return print_in(false, to, capacity, END_OPEN, format, arguments);
}

int opl_snwprintf(WCHAR *to, size_t capacity, const WCHAR *format, ...)
{
    ANSWER(print_in(true, to, capacity, END_OPEN, format, arguments));
}

int opl_vsnwprintf(WCHAR *to, size_t capacity, const WCHAR *format, va_list arguments)
{
    return print_in(true, to, capacity, END_OPEN, format, arguments);
}

int opl_sprintf_s(char *to, size_t capacity, const char *format, ...)
{
    ANSWER(print_in(false, to, capacity, END_EMPTY, format, arguments));
}

int opl_swprintf_s(WCHAR *to, size_t capacity, const WCHAR *format, ...)
{
    ANSWER(print_in(true, to, capacity, END_EMPTY, format, arguments));
}

/* ---- winuser.h ---- */

enum { WSPRINTF_SIZE = 1024 };

static int print_short(bool wide, void *to, const void *format, va_list arguments)
{
    MADE_AUTO made = {.wide = wide};
    opl_shim_format(&made, format, arguments);
    deliver(&made, to, WSPRINTF_SIZE, END_MINUS);
    return made.failed ? 0 : made.count < WSPRINTF_SIZE ? (int)made.count : WSPRINTF_SIZE - 1;
}

int WINAPIV wsprintfA(LPSTR to, LPCSTR format, ...)
{
    ANSWER(print_short(false, to, format, arguments));
}

int WINAPIV wsprintfW(LPWSTR to, LPCWSTR format, ...)
{
    ANSWER(print_short(true, to, format, arguments));
}

int WINAPI wvsprintfA(LPSTR to, LPCSTR format, va_list arguments)
{
    return print_short(false, to, format, arguments);
}

int WINAPI wvsprintfW(LPWSTR to, LPCWSTR format, va_list arguments)
{
    return print_short(true, to, format, arguments);
}

/* ---- strsafe.h ---- */

static HRESULT print_safely(bool wide, void *to, size_t capacity, const void *format,
                            va_list arguments)
{
    if (!to || !capacity || capacity > STRSAFE_MAX_CCH)
        return STRSAFE_E_INVALID_PARAMETER;
    MADE_AUTO made = {.wide = wide};
    opl_shim_format(&made, format, arguments);
    if (made.failed)
        return E_OUTOFMEMORY;
    deliver(&made, to, capacity, END_MINUS);
    return made.count < capacity ? S_OK : STRSAFE_E_INSUFFICIENT_BUFFER;
}

HRESULT WINAPIV StringCchPrintfA(LPSTR to, size_t capacity, LPCSTR format, ...)
{
    ANSWER(print_safely(false, to, capacity, format, arguments));
}

HRESULT WINAPIV StringCchPrintfW(LPWSTR to, size_t capacity, LPCWSTR format, ...)
{
    ANSWER(print_safely(true, to, capacity, format, arguments));
}

HRESULT WINAPI StringCchVPrintfA(LPSTR to, size_t capacity, LPCSTR format, va_list arguments)
{
    return print_safely(false, to, capacity, format, arguments);
}

HRESULT WINAPI StringCchVPrintfW(LPWSTR to, size_t capacity, LPCWSTR format, va_list arguments)
{
    return print_safely(true, to, capacity, format, arguments);
}
