/* SPDX-License-Identifier: MIT */
/* The language bases, one for each language below Perflib: read, changed and written completely. */
#include "bases.h"

#include <stdlib.h>
#include <string.h>

#define PERFLIB TEXT("SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib")
enum { LANGUAGE_SIZE = 256, PAIR_SIZE = 16 };

/* The base Counter or Help of one language, in memory. */
typedef struct {
    LPWSTR texts; /* number, text, number, text, ... */
    DWORD size;   /* in characters, without the zero that ends the list */
} Base;

/* ---- reading and writing a base ---- */

static DWORD readBase(HKEY perflib, LPCWSTR language, LPCWSTR value, Base *ret)
{
    HKEY key;
    DWORD type, size = 0, result = (DWORD)RegOpenKeyEx(perflib, language, 0, KEY_READ, &key);
    ret->texts = NULL;
    if (result != ERROR_SUCCESS)
        return result;
    result = (DWORD)RegQueryValueEx(key, value, NULL, &type, NULL, &size);
    if (result == ERROR_SUCCESS) {
        ret->texts = (LPWSTR)calloc(size / sizeof *ret->texts + 2, sizeof *ret->texts);
        result = ret->texts
                     ? (DWORD)RegQueryValueEx(key, value, NULL, &type, (LPBYTE)ret->texts, &size)
                     : ERROR_OUTOFMEMORY;
    }
    RegCloseKey(key);
    size /= sizeof *ret->texts;
    while (result == ERROR_SUCCESS && size > 0 && ret->texts[size - 1] == 0)
        size--;
    ret->size = size ? size + 1 : 0;
    return result;
}

static DWORD writeBase(HKEY perflib, LPCWSTR language, LPCWSTR value, const Base *base)
{
    HKEY key;
    DWORD result = (DWORD)RegOpenKeyEx(perflib, language, 0, KEY_SET_VALUE, &key);
    if (result != ERROR_SUCCESS)
        return result;
    result = (DWORD)RegSetValueEx(key, value, 0, REG_MULTI_SZ, (const BYTE *)base->texts,
                                  (DWORD)((base->size + 1) * sizeof *base->texts));
    RegCloseKey(key);
    return result;
}

/* ---- changing a base ---- */

static DWORD numberOf(LPCWSTR text)
{
    DWORD number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (DWORD)(*text - '0');
    return *text ? 0 : number;
}

static void takeOut(Base *base, DWORD first, DWORD last)
{
    DWORD from = 0, to = 0;
    while (from < base->size) {
        DWORD number = numberOf(base->texts + from);
        DWORD length = (DWORD)lstrlenW(base->texts + from) + 1;
        if (from + length < base->size)
            length += (DWORD)lstrlenW(base->texts + from + length) + 1;
        if (number < first || number > last) {
            memmove(base->texts + to, base->texts + from, length * sizeof *base->texts);
            to += length;
        }
        from += length;
    }
    base->size = to;
    base->texts[to] = 0;
}

static void addText(Base *base, LPCWSTR text)
{
    DWORD length = (DWORD)lstrlenW(text) + 1;
    memcpy(base->texts + base->size, text, length * sizeof *text);
    base->size += length;
    base->texts[base->size] = 0;
}

static BOOL addPair(Base *base, DWORD number, LPCWSTR text)
{
    WCHAR digits[PAIR_SIZE];
    int at = PAIR_SIZE - 1;
    DWORD capacity = base->size + PAIR_SIZE + (DWORD)lstrlenW(text) + 2;
    LPWSTR bigger = (LPWSTR)realloc(base->texts, capacity * sizeof *bigger);
    if (!bigger)
        return FALSE;
    base->texts = bigger;
    for (digits[at] = 0; number; number /= 10)
        digits[--at] = (WCHAR)('0' + number % 10);
    addText(base, digits + at);
    addText(base, text);
    return TRUE;
}

/* ---- all bases ---- */

static DWORD changeBase(HKEY perflib, LPCWSTR language, BOOL help, const Numbers *numbers,
                        BaseText *text, void *context)
{
    DWORD first = help ? numbers->firstHelp : numbers->firstName, number;
    DWORD last = help ? numbers->lastHelp : numbers->lastName;
    LPCWSTR value = help ? TEXT("Help") : TEXT("Counter");
    Base base;
    DWORD result = readBase(perflib, language, value, &base);
    if (result == ERROR_SUCCESS) {
        /* in steps of two, because the numbers between two names are those of explanations */
        for (number = first; number <= last; number += 2)
            takeOut(&base, number, number);
        for (number = first; text && result == ERROR_SUCCESS && number <= last; number += 2)
            if (!addPair(&base, number, text(context, language, number)))
                result = ERROR_OUTOFMEMORY;
        if (result == ERROR_SUCCESS)
            result = writeBase(perflib, language, value, &base);
    } else if (result == ERROR_FILE_NOT_FOUND) {
        result = ERROR_SUCCESS; /* the subkey of Perflib is not a language */
    }
    free(base.texts);
    return result;
}

static DWORD changeAll(HKEY perflib, const Numbers *numbers, BaseText *text, void *context)
{
    WCHAR language[LANGUAGE_SIZE];
    DWORD index, size, result = ERROR_SUCCESS;
    for (index = 0; result == ERROR_SUCCESS; index++) {
        size = LANGUAGE_SIZE;
        if (RegEnumKeyEx(perflib, index, language, &size, NULL, NULL, NULL, NULL) != ERROR_SUCCESS)
            break;
        result = changeBase(perflib, language, FALSE, numbers, text, context);
        if (result == ERROR_SUCCESS)
            result = changeBase(perflib, language, TRUE, numbers, text, context);
    }
    return result;
}

static DWORD readNumber(HKEY key, LPCWSTR value, DWORD *ret)
{
    DWORD type, size = sizeof *ret;
    return (DWORD)RegQueryValueEx(key, value, NULL, &type, (LPBYTE)ret, &size);
}

/* Sets the highest number to the last of these numbers; if they are being removed (`add` FALSE), to
 * the number before them, unless another service was registered later. */
static DWORD setHighest(HKEY perflib, LPCWSTR value, DWORD first, DWORD last, BOOL add)
{
    DWORD highest, result = readNumber(perflib, value, &highest);
    if (result != ERROR_SUCCESS || (add ? highest >= last : highest != last))
        return result;
    highest = add ? last : first - 2;
    return (DWORD)RegSetValueEx(perflib, value, 0, REG_DWORD, (const BYTE *)&highest,
                                sizeof highest);
}

static DWORD change(const Numbers *numbers, BaseText *text, void *context)
{
    HKEY perflib;
    BOOL add = text != NULL;
    DWORD result =
        (DWORD)RegOpenKeyEx(HKEY_LOCAL_MACHINE, PERFLIB, 0, KEY_READ | KEY_SET_VALUE, &perflib);
    if (result != ERROR_SUCCESS)
        return result;
    result = changeAll(perflib, numbers, text, context);
    if (result == ERROR_SUCCESS)
        result =
            setHighest(perflib, TEXT("Last Counter"), numbers->firstName, numbers->lastName, add);
    if (result == ERROR_SUCCESS)
        result = setHighest(perflib, TEXT("Last Help"), numbers->firstHelp, numbers->lastHelp, add);
    RegCloseKey(perflib);
    return result;
}

DWORD basesNumbers(DWORD count, Numbers *numbers)
{
    HKEY perflib;
    DWORD name, help;
    DWORD result = (DWORD)RegOpenKeyEx(HKEY_LOCAL_MACHINE, PERFLIB, 0, KEY_READ, &perflib);
    if (result != ERROR_SUCCESS)
        return result;
    result = readNumber(perflib, TEXT("Last Counter"), &name);
    if (result == ERROR_SUCCESS)
        result = readNumber(perflib, TEXT("Last Help"), &help);
    RegCloseKey(perflib);
    if (result == ERROR_SUCCESS) {
        numbers->firstName = name + 2;
        numbers->firstHelp = help + 2;
        numbers->lastName = name + 2 * count;
        numbers->lastHelp = help + 2 * count;
    }
    return result;
}

DWORD basesAdd(const Numbers *numbers, BaseText *text, void *context)
{
    return change(numbers, text, context);
}

DWORD basesRemove(const Numbers *numbers)
{
    return change(numbers, NULL, NULL);
}

static WCHAR upper(WCHAR c)
{
    return c >= 'a' && c <= 'z' ? (WCHAR)(c - 'a' + 'A') : c;
}

BOOL basesSameLanguage(LPCWSTR left, LPCWSTR right)
{
    while (*left && upper(*left) == upper(*right)) {
        left++;
        right++;
    }
    return *left == *right;
}
