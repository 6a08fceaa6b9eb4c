/* SPDX-License-Identifier: MIT */
/*
 * The registration of a map: the service's values, a number for each row, and its texts in every
 * installed language. ATL 7 stops at a language that is not installed, forgets those that it has no
 * texts for, and leaves half a registration when it fails. Here English stands in, what nobody has
 * installed is passed over, and what failed is taken back.
 */
#include "../common/bases.h"
#include "perfmap.h"

#define SERVICES TEXT("SYSTEM\\CurrentControlSet\\Services")
enum { PATH_ROOM = 1024 };

/* ---- values ---- */

static DWORD setText(HKEY key, LPCWSTR value, LPCWSTR text)
{
    return (DWORD)RegSetValueEx(key, value, 0, REG_SZ, (const BYTE *)text,
                                (DWORD)((DWORD)(lstrlenW(text) + 1) * sizeof *text));
}

static DWORD setLibrary(HKEY key, HINSTANCE library)
{
    static const LPCWSTR procedures[] = {TEXT("Open"), TEXT("Collect"), TEXT("Close")};
    WCHAR path[PATH_ROOM];
    DWORD length = GetModuleFileName(library, path, PATH_ROOM), result = ERROR_MOD_NOT_FOUND;
    size_t i;
    if (length > 0 && length < PATH_ROOM)
        result = setText(key, TEXT("Library"), path);
    for (i = 0; result == ERROR_SUCCESS && i < sizeof procedures / sizeof *procedures; i++)
        result = setText(key, procedures[i], procedures[i]);
    return result;
}

static const LPCWSTR numberNames[] = {TEXT("First Counter"), TEXT("Last Counter"),
                                      TEXT("First Help"), TEXT("Last Help")};
enum { NUMBERS = sizeof numberNames / sizeof *numberNames };

/* In that order. */
static void spread(const Numbers *numbers, DWORD list[NUMBERS])
{
    list[0] = numbers->firstName;
    list[1] = numbers->lastName;
    list[2] = numbers->firstHelp;
    list[3] = numbers->lastHelp;
}

static DWORD setNumbers(HKEY key, const Numbers *numbers)
{
    DWORD list[NUMBERS], number = numbers->firstName, result = ERROR_SUCCESS;
    WCHAR digits[16];
    int i, at = 15;
    spread(numbers, list);
    for (i = 0; result == ERROR_SUCCESS && i < NUMBERS; i++)
        result = (DWORD)RegSetValueEx(key, numberNames[i], 0, REG_DWORD, (const BYTE *)&list[i],
                                      sizeof list[i]);
    for (digits[at] = 0; number; number /= 10)
        digits[--at] = (WCHAR)('0' + number % 10);
    return result == ERROR_SUCCESS ? setText(key, TEXT("Object List"), digits + at) : result;
}

/* ERROR_FILE_NOT_FOUND: there are none, or not as many as the map has rows. */
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
    return !map || list[1] == list[0] + 2 * (map->count - 1) ? ERROR_SUCCESS : ERROR_FILE_NOT_FOUND;
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

/* ---- the two ---- */

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
        basesRemove(&numbers); /* an older version's, with other rows */
    if (getNumbers(key, map, &numbers) != ERROR_SUCCESS)
        result = basesNumbers(map->count, &numbers);
    if (result == ERROR_SUCCESS)
        result = addNames(map, library, &numbers);
    if (result == ERROR_SUCCESS)
        result = setNumbers(key, &numbers);
    if (result == ERROR_SUCCESS)
        result = setLibrary(key, library);
    RegCloseKey(key);
    if (result != ERROR_SUCCESS)
        perfMapUnregister(map);
    return result;
}

/* Values of ours; a key in which others wrote something stays. */
static DWORD removeValues(HKEY key)
{
    static const LPCWSTR values[] = {TEXT("Library"), TEXT("Open"), TEXT("Collect"), TEXT("Close"),
                                     TEXT("Object List")};
    DWORD count = 0;
    size_t i;
    for (i = 0; i < NUMBERS; i++)
        RegDeleteValue(key, numberNames[i]);
    for (i = 0; i < sizeof values / sizeof *values; i++)
        RegDeleteValue(key, values[i]);
    RegQueryInfoKey(key, NULL, NULL, NULL, NULL, NULL, NULL, &count, NULL, NULL, NULL, NULL);
    return count;
}

DWORD perfMapUnregister(const PerfMap *map)
{
    HKEY key, services;
    Numbers numbers;
    DWORD left, result = (DWORD)RegOpenKeyEx(HKEY_LOCAL_MACHINE, map->performanceKey, 0,
                                             KEY_ALL_ACCESS, &key);
    if (result != ERROR_SUCCESS)
        return result;
    if (getNumbers(key, NULL, &numbers) == ERROR_SUCCESS)
        result = basesRemove(&numbers);
    left = result == ERROR_SUCCESS ? removeValues(key) : 1;
    RegCloseKey(key);
    if (left == 0 && RegDeleteKey(HKEY_LOCAL_MACHINE, map->performanceKey) == ERROR_SUCCESS &&
        RegOpenKeyEx(HKEY_LOCAL_MACHINE, SERVICES, 0, KEY_ALL_ACCESS, &services) == ERROR_SUCCESS) {
        RegDeleteKey(services, map->service); /* unless it has more */
        RegCloseKey(services);
    }
    return result;
}
