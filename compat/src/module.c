/* SPDX-License-Identifier: MIT */
/* The file of a library, and the current user. */
#include "shims.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- modules ---- */

struct search {
    const void *module;
    char *path; /* PATH_MAX bytes; "": the module is not loaded */
};

/* Searches the loader's list for the module. dl_iterate_phdr calls this with the loader's lock
 * held, so no library is loaded or unloaded meanwhile. A handle of dlopen is the address of a
 * record in this list. dlinfo is not used, because it does not check pointers. */
static int look_through(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (map == search->module && map->l_name)
            snprintf(search->path, PATH_MAX, "%s", map->l_name);
    return 1;
}

/* True if the names are equal but for case and the endings .so and .dll: "PERF.DLL" is perf.so. */
static bool is_same_file(const char *path, const char *wanted)
{
    const char *slash = strrchr(path, '/');
    bool by_path = strchr(wanted, '/') != NULL;
    const char *name = by_path || !slash ? path : slash + 1;
    size_t length = strlen(name), count = strlen(wanted);
    if (length > 3 && !strcmp(name + length - 3, ".so"))
        length -= 3;
    if (count > 3 && !strcasecmp(wanted + count - 3, ".so"))
        count -= 3;
    else if (count > 4 && !strcasecmp(wanted + count - 4, ".dll"))
        count -= 4;
    return length == count && !strncasecmp(name, wanted, count);
}

struct name_search {
    const char *wanted;
    void *found;
};

static int look_for_name(struct dl_phdr_info *info, size_t size, void *context)
{
    struct name_search *search = context;
    for (struct link_map *map = _r_debug.r_map; map && !search->found; map = map->l_next)
        if (map->l_name && *map->l_name && is_same_file(map->l_name, search->wanted))
            search->found = map;
    return 1;
}

HMODULE WINAPI GetModuleHandleA(LPCSTR name)
{
    struct name_search search = {.wanted = name};
    if (name) {
        dl_iterate_phdr(look_for_name, &search);
    } else {
        search.found = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
        if (search.found)
            dlclose(search.found);
    }
    if (!search.found)
        SetLastError(ERROR_MOD_NOT_FOUND);
    return search.found;
}

HMODULE WINAPI GetModuleHandleW(LPCWSTR name)
{
    char *narrow = name ? opl_shim_narrow(name) : NULL;
    HMODULE module = name && !narrow ? NULL : GetModuleHandleA(narrow);
    free(narrow);
    return module;
}

static DWORD path_of(HMODULE module, char path[static PATH_MAX])
{
    struct search search = {module, path};
    path[0] = '\0';
    if (module)
        dl_iterate_phdr(look_through, &search);
    char whole[PATH_MAX]; /* for a library that was loaded by a relative path */
    if (path[0] && path[0] != '/' && realpath(path, whole))
        strcpy(path, whole);
    if (module && path[0])
        return ERROR_SUCCESS;
    /* dl_iterate_phdr has no name for the program itself */
    void *program = module ? dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    bool is_program = !module || program == module;
    if (program)
        dlclose(program);
    ssize_t length = is_program ? readlink("/proc/self/exe", path, PATH_MAX - 1) : -1;
    path[length > 0 ? length : 0] = '\0';
    return length > 0 ? ERROR_SUCCESS : ERROR_MOD_NOT_FOUND;
}

/* Returns `needed`, the length without the NUL; `capacity` if it is truncated; 0: failure. */
static DWORD path_answer(DWORD status, size_t needed, DWORD capacity)
{
    if (!status && needed >= capacity)
        status = ERROR_INSUFFICIENT_BUFFER;
    if (status)
        SetLastError(status);
    return !status ? (DWORD)needed : status == ERROR_INSUFFICIENT_BUFFER ? capacity : 0;
}

DWORD WINAPI GetModuleFileNameA(HMODULE module, LPSTR path, DWORD capacity)
{
    char found[PATH_MAX];
    DWORD status = path_of(module, found);
    if (!status && path && capacity)
        snprintf(path, capacity, "%s", found);
    return path_answer(status, strlen(found), path ? capacity : 0);
}

DWORD WINAPI GetModuleFileNameW(HMODULE module, LPWSTR path, DWORD capacity)
{
    char found[PATH_MAX];
    WCHAR wide[PATH_MAX];
    DWORD status = path_of(module, found);
    int length = MultiByteToWideChar(CP_UTF8, 0, found, -1, wide, PATH_MAX);
    size_t count = length > 0 ? (size_t)length - 1 : 0;
    size_t fit = capacity && count >= capacity ? capacity - 1 : count;
    if (!status && path && capacity) {
        memcpy(path, wide, fit * sizeof *wide);
        path[fit] = 0;
    }
    return path_answer(status, count, path ? capacity : 0);
}

BOOL WINAPI DisableThreadLibraryCalls(HMODULE module)
{
    return TRUE;
}

/* ---- the user ---- */

static void user_name(char name[static 256])
{
    struct passwd entry, *found = NULL;
    char storage[4096];
    if (getpwuid_r(geteuid(), &entry, storage, sizeof storage, &found) == 0 && found)
        snprintf(name, 256, "%s", entry.pw_name);
    else
        snprintf(name, 256, "%u", (unsigned)geteuid());
}

/* Do `needed` characters, terminator included, fit into *size? *size becomes `needed`. */
static BOOL fits(const void *name, LPDWORD size, DWORD needed)
{
    if (!size || (!name && *size >= needed)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    DWORD there = *size;
    *size = needed;
    if (there < needed)
        SetLastError(ERROR_INSUFFICIENT_BUFFER);
    return there >= needed;
}

BOOL WINAPI GetUserNameA(LPSTR name, LPDWORD size)
{
    char text[256];
    user_name(text);
    if (!fits(name, size, (DWORD)strlen(text) + 1))
        return FALSE;
    memcpy(name, text, strlen(text) + 1);
    return TRUE;
}

BOOL WINAPI GetUserNameW(LPWSTR name, LPDWORD size)
{
    char text[256];
    WCHAR wide[256];
    user_name(text);
    int count = MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, 256);
    if (!fits(name, size, (DWORD)count))
        return FALSE;
    memcpy(name, wide, (size_t)count * sizeof *wide);
    return TRUE;
}
