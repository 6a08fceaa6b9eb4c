/* SPDX-License-Identifier: MIT */
/* FormatMessage: the text of a status, or a caller's text, with its inserts; and the Windows
 * version. */
#include "shims.h"

#include <stdlib.h>
#include <string.h>

/* ---- the text of a status ---- */

static const struct {
    LSTATUS status;
    const char *text;
} texts[] = {
#include "base/status.inc"
};

/* The text of a status, or of the status inside an HRESULT; NULL: none. */
static const char *text_of(DWORD id)
{
    LSTATUS status = id >> 16 == 0x8007 ? (LSTATUS)(id & 0xffff) : (LSTATUS)id;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].status == status)
            return texts[i].text;
    return NULL;
}

/* ---- inserts ---- */

enum { MOST_INSERTS = 99, SPEC_SIZE = 32 };

struct format_message {
    struct opl_shim_text text;
    DWORD flags, status;
    const void *source; /* char or WCHAR, as in `text` */
    size_t at;
    va_list *list; /* NULL: the arguments are in `array` */
    const DWORD_PTR *array;
    DWORD_PTR taken[MOST_INSERTS]; /* the arguments read from `list` so far */
    unsigned taken_count;
};

static unsigned unit_at(const struct format_message *message, size_t at)
{
    return message->text.wide ? ((const WCHAR *)message->source)[at]
                              : ((const unsigned char *)message->source)[at];
}

static void add(struct format_message *message, const char *plain)
{
    for (; *plain; plain++) {
        WCHAR wide = (WCHAR)*plain;
        opl_shim_add(&message->text, message->text.wide ? (const void *)&wide : plain, 1);
    }
}

static bool argument(struct format_message *message, unsigned number, DWORD_PTR *ret)
{
    if (message->array) {
        *ret = message->array[number - 1];
        return true;
    }
    if (!message->list)
        return false;
    while (message->taken_count < number)
        message->taken[message->taken_count++] = va_arg(*message->list, DWORD_PTR);
    *ret = message->taken[number - 1];
    return true;
}

static void format_one(struct format_message *message, const void *spec, ...)
{
    va_list one;
    va_start(one, spec);
    opl_shim_format(&message->text, spec, one);
    va_end(one);
}

/* Reads the format of an insert up to its second "!", as that of printf; message->at is at the
 * first. */
static void read_spec(struct format_message *message, char spec[SPEC_SIZE])
{
    size_t used = 1;
    unsigned next;
    while ((next = unit_at(message, ++message->at)) && next != '!') {
        if (used + 1 == SPEC_SIZE || next > 0x7e || next == '*' || next == 'n')
            message->status = ERROR_INVALID_PARAMETER;
        else
            spec[used++] = (char)next;
    }
    spec[used] = '\0';
    if (next)
        message->at++;
}

/* Adds the argument that "%1" or "%2!08x!" stands for; message->at is at the digit. */
static void add_insert(struct format_message *message)
{
    char spec[SPEC_SIZE] = "%s";
    WCHAR wide[SPEC_SIZE];
    DWORD_PTR value;
    unsigned number = unit_at(message, message->at++) - '0', next = unit_at(message, message->at);
    if (next >= '0' && next <= '9') {
        number = number * 10 + next - '0';
        next = unit_at(message, ++message->at);
    }
    if (next == '!')
        read_spec(message, spec);
    if (!argument(message, number, &value))
        message->status = ERROR_INVALID_PARAMETER;
    if (message->status)
        return;
    for (size_t i = 0; i < SPEC_SIZE; i++)
        wide[i] = (WCHAR)spec[i];
    format_one(message, message->text.wide ? (const void *)wide : spec, value);
}

/* Adds what the character after a percent sign stands for. False: the message ends (%0), or an
 * error. */
static bool add_escape(struct format_message *message)
{
    unsigned unit = unit_at(message, message->at);
    bool keeps = message->flags & FORMAT_MESSAGE_IGNORE_INSERTS;
    if (unit >= '1' && unit <= '9' && !keeps) {
        add_insert(message);
        return true;
    }
    if (unit == '0')
        return false;
    if (unit >= '1' && unit <= '9')
        add(message, "%");
    if (!unit) {
        message->status = ERROR_INVALID_PARAMETER;
        return false;
    }
    const char other[] = {(char)unit, '\0'};
    add(message, unit == 'n'   ? "\r\n"
                 : unit == 'r' ? "\r"
                 : unit == 't' ? "\t"
                 : unit == 'b' ? " "
                               : other);
    message->at++;
    return true;
}

static void expand(struct format_message *message)
{
    size_t size = message->text.wide ? sizeof(WCHAR) : 1;
    for (unsigned unit; !message->status && (unit = unit_at(message, message->at)) != 0;) {
        if (unit == '%') {
            message->at++;
            if (!add_escape(message))
                break;
        } else if (unit == '\r' || unit == '\n') {
            message->at += unit == '\r' && unit_at(message, message->at + 1) == '\n' ? 2 : 1;
            add(message, message->flags & FORMAT_MESSAGE_MAX_WIDTH_MASK ? " " : "\r\n");
        } else {
            opl_shim_add(&message->text, (const char *)message->source + message->at++ * size, 1);
        }
    }
}

/* ---- the answer ---- */

static DWORD copy_out(struct format_message *message, void *to, DWORD capacity)
{
    size_t size = message->text.wide ? sizeof(WCHAR) : 1, bytes = (message->text.count + 1) * size;
    void *target = to;
    if (message->text.failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (message->flags & FORMAT_MESSAGE_ALLOCATE_BUFFER) {
        target =
            LocalAlloc(LMEM_ZEROINIT, message->text.count < capacity ? capacity * size : bytes);
        if (!target)
            return ERROR_NOT_ENOUGH_MEMORY;
        memcpy(to, &target, sizeof target);
    } else if (message->text.count >= capacity) {
        return ERROR_INSUFFICIENT_BUFFER;
    }
    if (message->text.count)
        memcpy(target, message->text.units, bytes);
    else
        memset(target, 0, size);
    return ERROR_SUCCESS;
}

static DWORD format(struct format_message *message, void *to, DWORD capacity)
{
    expand(message);
    DWORD status = message->status ? message->status : copy_out(message, to, capacity);
    size_t count = message->text.count;
    free(message->text.units);
    if (status)
        SetLastError(status);
    return status ? 0 : (DWORD)count;
}

static DWORD format_message(bool wide, DWORD flags, LPCVOID source, DWORD id, void *to,
                            DWORD capacity, va_list *arguments)
{
    char plain[256];
    WCHAR units[256];
    struct format_message message = {.text = {.wide = wide}, .flags = flags, .source = source};
    if (flags & FORMAT_MESSAGE_ARGUMENT_ARRAY)
        message.array = (const DWORD_PTR *)arguments;
    else
        message.list = arguments;
    const char *known = text_of(id);
    DWORD status = ERROR_SUCCESS;
    if (!to || (flags & FORMAT_MESSAGE_FROM_STRING && !source))
        status = ERROR_INVALID_PARAMETER;
    else if (!(flags & (FORMAT_MESSAGE_FROM_STRING | FORMAT_MESSAGE_FROM_SYSTEM)))
        status =
            flags & FORMAT_MESSAGE_FROM_HMODULE ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER;
    else if (!(flags & FORMAT_MESSAGE_FROM_STRING) && !known)
        status = ERROR_MR_MID_NOT_FOUND;
    if (status)
        return (DWORD)opl_shim_fail(status);
    if (!(flags & FORMAT_MESSAGE_FROM_STRING)) {
        snprintf(plain, sizeof plain, "%s.\r\n", known);
        MultiByteToWideChar(CP_UTF8, 0, plain, -1, units, 256);
        message.source = wide ? (const void *)units : plain;
        message.flags |= FORMAT_MESSAGE_IGNORE_INSERTS;
    }
    return format(&message, to, capacity);
}

DWORD WINAPI FormatMessageA(DWORD flags, LPCVOID source, DWORD id, DWORD language, LPSTR to,
                            DWORD capacity, va_list *arguments)
{
    return format_message(false, flags, source, id, to, capacity, arguments);
}

DWORD WINAPI FormatMessageW(DWORD flags, LPCVOID source, DWORD id, DWORD language, LPWSTR to,
                            DWORD capacity, va_list *arguments)
{
    return format_message(true, flags, source, id, to, capacity, arguments);
}

/* ---- version and language ---- */

enum { MAJOR = 10, MINOR = 0, BUILD = 10240 };

DWORD WINAPI GetVersion(void)
{
    return (DWORD)BUILD << 16 | MINOR << 8 | MAJOR;
}

/* Accepts only OSVERSIONINFOA, not the larger OSVERSIONINFOEXA. */
BOOL WINAPI GetVersionExA(LPOSVERSIONINFOA version)
{
    if (!version || version->dwOSVersionInfoSize != sizeof *version)
        return opl_shim_fail(ERROR_INSUFFICIENT_BUFFER);
    *version = (OSVERSIONINFOA){sizeof *version, MAJOR, MINOR, BUILD, VER_PLATFORM_WIN32_NT, ""};
    return TRUE;
}

BOOL WINAPI GetVersionExW(LPOSVERSIONINFOW version)
{
    if (!version || version->dwOSVersionInfoSize != sizeof *version)
        return opl_shim_fail(ERROR_INSUFFICIENT_BUFFER);
    *version = (OSVERSIONINFOW){sizeof *version, MAJOR, MINOR, BUILD, VER_PLATFORM_WIN32_NT, {0}};
    return TRUE;
}

LANGID WINAPI GetUserDefaultLangID(void)
{
    return GetUserDefaultUILanguage();
}

LANGID WINAPI GetSystemDefaultLangID(void)
{
    return GetSystemDefaultUILanguage();
}

LCID WINAPI GetUserDefaultLCID(void)
{
    return GetUserDefaultUILanguage();
}

LCID WINAPI GetSystemDefaultLCID(void)
{
    return GetSystemDefaultUILanguage();
}
