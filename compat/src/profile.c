/* SPDX-License-Identifier: MIT */
/* GetPrivateProfileString: ini files as Windows' own programs read them, in wide text. */
#include "shims.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST_FILE = 16 << 20 };

/* ---- the file ---- */

/* The characters of CP1252 from 0x80 to 0x9f; 0: undefined, unchanged. */
static const WCHAR cp1252[32] = {0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
                                 0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

static void widen(const unsigned char *data, size_t bytes, WCHAR *to)
{
    size_t skip = bytes >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
    if (bytes >= 2 && data[0] == 0xff && data[1] == 0xfe) {
        memcpy(to, data + 2, (bytes - 2) / 2 * 2);
        to[(bytes - 2) / 2] = 0;
        return;
    }
    int count = bytes > skip
                    ? MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, (LPCCH)data + skip,
                                          (int)(bytes - skip), to, (int)bytes)
                    : 0;
    for (size_t i = 0; !count && i < bytes; i++)
        to[i] = data[i] >= 0x80 && data[i] < 0xa0 && cp1252[data[i] - 0x80] ? cp1252[data[i] - 0x80]
                                                                            : data[i];
    to[count ? (size_t)count : bytes] = 0;
}

/* Opens a regular file whose name may have backslashes. NULL: there is none, or too large. */
static FILE *open_profile(LPCWSTR name, size_t *ret_size)
{
    struct stat st;
    char *path = name ? opl_shim_narrow(name) : NULL;
    for (char *at = path; at && (at = strchr(at, '\\'));)
        *at = '/';
    FILE *file = path ? fopen(path, "re") : NULL;
    free(path);
    if (!file)
        return NULL;
    if (fstat(fileno(file), &st) || !S_ISREG(st.st_mode) || st.st_size > LARGEST_FILE) {
        fclose(file);
        return NULL;
    }
    *ret_size = (size_t)st.st_size;
    return file;
}

/* Reads the file as UTF-16 text, which the caller frees. NULL: the last error is the reason. */
static WCHAR *read_file(LPCWSTR name)
{
    size_t size;
    FILE *file = open_profile(name, &size);
    if (!file) {
        SetLastError(ERROR_FILE_NOT_FOUND);
        return NULL;
    }
    unsigned char *data = malloc(size + 1);
    WCHAR *text = data ? calloc(size + 1, sizeof *text) : NULL;
    if (text)
        widen(data, fread(data, 1, size, file), text);
    SetLastError(text ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY);
    fclose(file);
    free(data);
    return text;
}

/* ---- the file's lines ---- */

struct wide_span {
    const WCHAR *text;
    size_t count;
};

static struct wide_span trimmed(const WCHAR *text, const WCHAR *end)
{
    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    return (struct wide_span){text, (size_t)(end - text)};
}

static bool same(struct wide_span span, LPCWSTR name)
{
    return CompareStringW(LOCALE_INVARIANT, NORM_IGNORECASE, span.text, (int)span.count, name,
                          -1) == CSTR_EQUAL;
}

enum line { LINE_END, LINE_OTHER, LINE_SECTION, LINE_KEY };

static const WCHAR *find(const WCHAR *text, const WCHAR *end, WCHAR unit)
{
    while (text < end && *text != unit)
        text++;
    return text;
}

/* Parses the line at *at and moves *at after it. A comment or a line without "=" is LINE_OTHER. */
static enum line next_line(const WCHAR **at, struct wide_span *name, struct wide_span *value)
{
    const WCHAR *begin = *at, *end = begin;
    if (!*begin || *begin == 0x1a)
        return LINE_END;
    while (*end && *end != '\n')
        end++;
    *at = *end ? end + 1 : end;
    *name = trimmed(begin, end);
    begin = name->text;
    end = begin + name->count;
    if (!name->count || *begin == ';')
        return LINE_OTHER;
    if (*begin == '[') {
        *name = trimmed(begin + 1, find(begin, end, ']'));
        return LINE_SECTION;
    }
    const WCHAR *equals = find(begin, end, '=');
    if (equals == end)
        return LINE_OTHER;
    *name = trimmed(begin, equals);
    *value = trimmed(equals + 1, end);
    if (value->count >= 2 && (value->text[0] == '"' || value->text[0] == '\'') &&
        value->text[value->count - 1] == value->text[0])
        *value = (struct wide_span){value->text + 1, value->count - 2};
    return LINE_KEY;
}

/* ---- answers ---- */

struct profile_answer {
    WCHAR *to;
    size_t capacity, count;
    bool list, cut;
};

static void put(struct profile_answer *answer, const WCHAR *text, size_t count)
{
    size_t reserved = answer->list ? 2 : 1;
    size_t left = answer->capacity > answer->count + reserved
                      ? answer->capacity - answer->count - reserved
                      : 0;
    answer->cut = answer->cut || count > left;
    if (count > left)
        count = left;
    memcpy(answer->to + answer->count, text, count * sizeof *text);
    answer->count += count;
}

static void put_name(struct profile_answer *answer, struct wide_span name)
{
    static const WCHAR zero = 0;
    if (answer->cut)
        return;
    put(answer, name.text, name.count);
    if (!answer->cut && answer->count + 1 < answer->capacity)
        answer->to[answer->count++] = zero;
}

/* Searches for the key, or collects the names for a list. True: the key was found. */
static bool look(const WCHAR *text, LPCWSTR section, LPCWSTR key, struct profile_answer *answer)
{
    struct wide_span name, value;
    bool inside = false;
    for (enum line line; (line = next_line(&text, &name, &value)) != LINE_END;) {
        if (line == LINE_SECTION && !section)
            put_name(answer, name);
        else if (line == LINE_SECTION && inside)
            return false; /* a further section of the same name is ignored */
        else if (line == LINE_SECTION)
            inside = same(name, section);
        else if (line == LINE_KEY && inside && !key)
            put_name(answer, name);
        else if (line == LINE_KEY && inside && key && same(name, key)) {
            put(answer, value.text, value.count);
            return true;
        }
    }
    return false;
}

static void put_fallback(struct profile_answer *answer, LPCWSTR fallback)
{
    size_t count = fallback ? opl_wcslen(fallback) : 0;
    while (count && fallback[count - 1] == ' ')
        count--;
    if (count)
        put(answer, fallback, count);
}

DWORD WINAPI GetPrivateProfileStringW(LPCWSTR section, LPCWSTR key, LPCWSTR fallback, LPWSTR to,
                                      DWORD capacity, LPCWSTR file)
{
    struct profile_answer answer = {.to = to, .capacity = capacity, .list = !section || !key};
    if (!to || capacity < (answer.list ? 2 : 1))
        return (DWORD)opl_shim_fail(ERROR_INVALID_PARAMETER);
    WCHAR *text = read_file(file);
    bool found = text && look(text, section, key, &answer);
    free(text);
    if (!found && !answer.count)
        put_fallback(&answer, fallback);
    if (answer.list && answer.count && to[answer.count - 1] == 0)
        answer.count--; /* the length does not include the zero after the last name */
    to[answer.count] = 0;
    if (answer.list)
        to[answer.count + 1] = 0;
    return (DWORD)answer.count + (answer.list && answer.count && !answer.cut);
}

/* A copy as UTF-16, which the caller frees; NULL for NULL. */
static WCHAR *wide_of(LPCSTR text)
{
    int count = text ? MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0) : 0;
    WCHAR *wide = count > 0 ? calloc((size_t)count, sizeof *wide) : NULL;
    if (wide)
        MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, count);
    return wide;
}

/* Copies the answer as UTF-8, truncated between two characters; returns its length. */
static DWORD narrow_answer(const WCHAR *wide, size_t count, bool list, LPSTR to, DWORD capacity)
{
    size_t used = 0, reserved = list ? 2 : 1;
    for (size_t i = 0, units; i < count; i += units) {
        char one[8];
        units = wide[i] >= 0xd800 && wide[i] < 0xdc00 && i + 1 < count ? 2 : 1;
        int bytes =
            WideCharToMultiByte(CP_UTF8, 0, wide + i, (int)units, one, sizeof one, NULL, NULL);
        if (bytes <= 0 || used + (size_t)bytes + reserved > capacity)
            break;
        memcpy(to + used, one, (size_t)bytes);
        used += (size_t)bytes;
    }
    memset(to + used, 0, reserved);
    return (DWORD)used;
}

DWORD WINAPI GetPrivateProfileStringA(LPCSTR section, LPCSTR key, LPCSTR fallback, LPSTR to,
                                      DWORD capacity, LPCSTR file)
{
    bool list = !section || !key;
    if (!to || capacity < (list ? 2u : 1u))
        return (DWORD)opl_shim_fail(ERROR_INVALID_PARAMETER);
    WCHAR *texts[] = {wide_of(section), wide_of(key), wide_of(fallback), wide_of(file)};
    WCHAR *wide = calloc((size_t)capacity + 1, sizeof *wide);
    DWORD count = 0;
    if (wide && (texts[0] || !section) && (texts[1] || !key) && (texts[3] || !file))
        count = GetPrivateProfileStringW(texts[0], texts[1], texts[2], wide, capacity, texts[3]);
    else
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    if (wide)
        count = narrow_answer(wide, count, list, to, capacity);
    else
        to[0] = '\0';
    free(wide);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    return count;
}

UINT WINAPI GetPrivateProfileIntA(LPCSTR section, LPCSTR key, INT fallback, LPCSTR file)
{
    char text[64];
    if (!section || !key || !GetPrivateProfileStringA(section, key, "", text, sizeof text, file))
        return (UINT)fallback;
    return (UINT)strtol(text, NULL, 0);
}

UINT WINAPI GetPrivateProfileIntW(LPCWSTR section, LPCWSTR key, INT fallback, LPCWSTR file)
{
    static const WCHAR nothing = 0;
    WCHAR text[64];
    char narrow[64] = "";
    if (!section || !key || !GetPrivateProfileStringW(section, key, &nothing, text, 64, file))
        return (UINT)fallback;
    for (size_t i = 0; i < 63 && text[i]; i++)
        narrow[i] = text[i] < 0x7f ? (char)text[i] : '?';
    return (UINT)strtol(narrow, NULL, 0);
}
