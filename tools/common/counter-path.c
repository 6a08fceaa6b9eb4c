/* SPDX-License-Identifier: MIT */
/* Examines the text of a counter path without calling PDH; PDH accepts both notations. */
#include "counter-path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <pdh.h>
#include <pdhmsg.h>

bool counter_path_is_pattern(const char *path)
{
    return strpbrk(path, "*?") != NULL;
}

bool counter_path_names_instance(const char *path)
{
    union {
        PDH_COUNTER_PATH_ELEMENTS_A elements;
        char bytes[4 * PDH_MAX_COUNTER_PATH];
    } parsed;
    const PDH_COUNTER_PATH_ELEMENTS_A *parts = &parsed.elements;
    DWORD size = sizeof parsed;
    if (PdhParseCounterPathA(path, &parsed.elements, &size, 0) || !parts->szInstanceName)
        return false;
    return !counter_path_is_pattern(parts->szObjectName) &&
           !counter_path_is_pattern(parts->szInstanceName) &&
           (!parts->szParentInstance || !counter_path_is_pattern(parts->szParentInstance));
}

bool counter_path_is_total(const char *path)
{
    return strcasestr(path, "(_Total)") || strcasestr(path, "/_Total)");
}

bool counter_path_same_instance(const char *left, const char *right)
{
    const char *counter = strrchr(left, '\\'), *other = strrchr(right, '\\');
    return counter && other && counter - left == other - right &&
           strncasecmp(left, right, (size_t)(counter - left)) == 0;
}

bool counter_path_has_machine(const char *path)
{
    return strncmp(path, "\\\\", 2) == 0 || strncmp(path, "//", 2) == 0;
}

bool counter_path_is_windows(const char *path)
{
    return path[0] == '\\';
}

bool counter_path_is_here(const char *machine)
{
    static const char *const names[] = {".", "localhost", "127.0.0.1", "::1"};
    char host[256] = "";
    machine += strspn(machine, "\\");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(machine, names[i]) == 0)
            return true;
    if (gethostname(host, sizeof host - 1))
        return false;
    return strcasecmp(machine, host) == 0;
}

/* Returns a copy of the path in Windows' notation; PDH parses both notations. `machine`, unless it
 * is NULL, replaces the path's own. Returns NULL if this is no path or there is no memory. */
static char *to_windows(char *machine, const char *path)
{
    PDH_COUNTER_PATH_ELEMENTS_A *parts = NULL;
    DWORD size = 0, length = PDH_MAX_COUNTER_PATH * 4;
    PDH_STATUS status = PdhParseCounterPathA(path, NULL, &size, 0);
    char *whole = NULL;
    if ((DWORD)status == PDH_MORE_DATA && (parts = malloc(size)) && (whole = malloc(length)))
        status = PdhParseCounterPathA(path, parts, &size, 0);
    if (whole && !status) {
        if (machine || !counter_path_has_machine(path))
            parts->szMachineName = machine;
        status = PdhMakeCounterPathA(parts, whole, &length, 0);
    }
    free(parts);
    if (!status && whole)
        return whole;
    free(whole);
    return NULL;
}

char *counter_path_to_windows(const char *path)
{
    return to_windows(NULL, path);
}

char *counter_path_on(char *machine, const char *path)
{
    char *whole = NULL;
    if (!*machine || counter_path_is_here(machine) || counter_path_has_machine(path))
        return strdup(path);
    if (!counter_path_is_windows(path) && (whole = to_windows(machine, path)))
        return whole;
    if (!counter_path_is_windows(path))
        return strdup(path); /* PDH reports what is wrong when the path is added */
    return asprintf(&whole, "%s%s", machine, path) < 0 ? NULL : whole;
}
