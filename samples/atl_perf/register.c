/* SPDX-License-Identifier: MIT */
/*
 * The registration of a map: the service's values, a number for each row, and the texts of the
 * numbers in every installed language. ATL 7 stops at a language that is not installed, omits
 * languages without texts, and leaves an incomplete registration when it fails. Here English texts
 * replace missing ones, languages that are not installed are skipped, and a failed registration is
 * undone. The map is also stored in the registry, so that Open detects a library with a different
 * map, whose values would appear under wrong names.
 */
#include "../common/bases.h"
#include "perfmap.h"

#include <string.h>

/* ---- values ---- */

static DWORD setText(HKEY key, LPCWSTR value, LPCWSTR text)
{
    return (DWORD)RegSetValueEx(key, value, 0, REG_SZ, (const BYTE *)text,
                                (DWORD)((DWORD)(lstrlenW(text) + 1) * sizeof *text));
}

static const LPCWSTR numberNames[] = {TEXT("First Counter"), TEXT("Last Counter"),
                                      TEXT("First Help"), TEXT("Last Help")};
enum { NUMBERS = sizeof numberNames / sizeof *numberNames };

/* Writes the four numbers into a list, in the order of `numberNames`. */
static void spread(const Numbers *numbers, DWORD list[NUMBERS])
{
    list[0] = numbers->firstName;
    list[1] = numbers->lastName;
    list[2] = numbers->firstHelp;
    list[3] = numbers->lastHelp;
}

/* Writes the number and a blank so that they end before `at`; returns where the number begins. */
static WCHAR *putNumber(WCHAR *at, DWORD number)
{
    *--at = ' ';
    for (; number; number /= 10)
        *--at = (WCHAR)('0' + number % 10);
    return at;
}

/* Writes the value with the numbers of all objects. The text is filled from its end, because the
 * digits of a number are produced from the right. */
static DWORD setObjectList(HKEY key, const PerfMap *map, DWORD number)
{
    WCHAR text[PERF_OBJECTS * 12 + 1], *at = text + PERF_OBJECTS * 12;
    DWORD i;
    *at = 0;
    number += 2 * perfMapRows(map);
    for (i = map->count; i > 0; i--) {
        number -= 2 * (1 + map->objects[i - 1].count);
        at = putNumber(at, number);
    }
    text[PERF_OBJECTS * 12 - 1] = 0; /* a zero replaces the blank after the last number */
    return setText(key, TEXT("Object List"), at);
}

static DWORD setNumbers(HKEY key, const PerfMap *map, const Numbers *numbers)
{
    DWORD list[NUMBERS], stored[PERF_STORED], result = ERROR_SUCCESS, i;
    spread(numbers, list);
    for (i = 0; result == ERROR_SUCCESS && i < NUMBERS; i++)
        result = (DWORD)RegSetValueEx(key, numberNames[i], 0, REG_DWORD, (const BYTE *)&list[i],
                                      sizeof list[i]);
    i = perfMapStored(map, stored);
    if (result == ERROR_SUCCESS)
        result = (DWORD)RegSetValueEx(key, TEXT("Map"), 0, REG_BINARY, (const BYTE *)stored,
                                      (DWORD)(i * sizeof *stored));
    return result == ERROR_SUCCESS ? setObjectList(key, map, numbers->firstName) : result;
}

BOOL perfMapIsRegistered(const PerfMap *map)
{
    HKEY key;
    DWORD ours[PERF_STORED], stored[PERF_STORED], type, size = sizeof stored, result;
    DWORD count = perfMapStored(map, ours);
    if (RegOpenKeyEx(HKEY_LOCAL_MACHINE, map->performanceKey, 0, KEY_READ, &key) != ERROR_SUCCESS)
        return FALSE;
    result = (DWORD)RegQueryValueEx(key, TEXT("Map"), NULL, &type, (LPBYTE)stored, &size);
    RegCloseKey(key);
    return result == ERROR_SUCCESS && type == REG_BINARY && size == count * sizeof *ours &&
           memcmp(ours, stored, size) == 0;
}

/* Reads the four numbers. ERROR_FILE_NOT_FOUND: numbers are missing, or are not as many as the map
 * has rows. */
static DWORD getNumbers(HKEY key, const PerfMap *map, Numbers *numbers)
{
    DWORD list[NUMBERS], type, size, result;
    int i;
    for (i = 0; i < NUMBERS; i++) {
        size = sizeof list[i];
        result = (DWORD)RegQueryValueEx(key, numberNames[i], NULL, &type, (LPBYTE)&list[i], &size);
        if (result != ERROR_SUCCESS)
            return result;
    }
    numbers->firstName = list[0];
    numbers->lastName = list[1];
    numbers->firstHelp = list[2];
    numbers->lastHelp = list[3];
    return !map || list[1] == list[0] + 2 * (perfMapRows(map) - 1) ? ERROR_SUCCESS
                                                                   : ERROR_FILE_NOT_FOUND;
}

/* ---- texts ---- */

typedef struct {
    const PerfMap *map;
    const PerfTexts *texts;
    Numbers numbers;
} Naming;

static LPCWSTR textOf(void *context, LPCWSTR language, DWORD number)
{
    const Naming *naming = (const Naming *)context;
    BOOL help = number % 2 != 0;
    DWORD first = help ? naming->numbers.firstHelp : naming->numbers.firstName;
    return perfTextsFind(naming->texts, naming->map, language, (number - first) / 2, help);
}

static DWORD addNames(const PerfMap *map, HINSTANCE library, const Numbers *numbers)
{
    PerfTexts texts;
    Naming naming;
    DWORD result;
    perfTextsOpen(map->module, library, &texts);
    naming.map = map;
    naming.texts = &texts;
    naming.numbers = *numbers;
    result = basesAdd(numbers, textOf, &naming);
    perfTextsClose(&texts);
    return result;
}

/* ---- registering and unregistering ---- */

DWORD perfMapRegister(const PerfMap *map, HINSTANCE library)
{
    HKEY key;
    Numbers numbers;
    DWORD result = (DWORD)RegCreateKeyEx(HKEY_LOCAL_MACHINE, map->performanceKey, 0, NULL, 0,
                                         KEY_ALL_ACCESS, NULL, &key, NULL);
    if (result != ERROR_SUCCESS)
        return result;
    if (getNumbers(key, NULL, &numbers) == ERROR_SUCCESS &&
        getNumbers(key, map, &numbers) != ERROR_SUCCESS)
        basesRemove(&numbers); /* removes texts of an older version, which had other rows */
    if (getNumbers(key, map, &numbers) != ERROR_SUCCESS)
        result = basesNumbers(perfMapRows(map), &numbers);
    if (result == ERROR_SUCCESS)
        result = addNames(map, library, &numbers);
    if (result == ERROR_SUCCESS)
        result = setNumbers(key, map, &numbers);
    if (result == ERROR_SUCCESS)
        result = sampleRegister(map->performanceKey, library);
    RegCloseKey(key);
    if (result != ERROR_SUCCESS)
        perfMapUnregister(map);
    return result;
}

DWORD perfMapUnregister(const PerfMap *map)
{
    HKEY key;
    Numbers numbers;
    DWORD i, result = (DWORD)RegOpenKeyEx(HKEY_LOCAL_MACHINE, map->performanceKey, 0,
                                          KEY_ALL_ACCESS, &key);
    if (result != ERROR_SUCCESS)
        return result;
    if (getNumbers(key, NULL, &numbers) == ERROR_SUCCESS)
        result = basesRemove(&numbers);
    for (i = 0; result == ERROR_SUCCESS && i < NUMBERS; i++)
        RegDeleteValue(key, numberNames[i]);
    if (result == ERROR_SUCCESS) {
        RegDeleteValue(key, TEXT("Object List"));
        RegDeleteValue(key, TEXT("Map"));
    }
    RegCloseKey(key);
    return result == ERROR_SUCCESS ? sampleUnregister(map->performanceKey) : result;
}
