/* SPDX-License-Identifier: MIT */
/* Loads the library that this one has replaced, and finds the functions that were registered for
 * it. */
#include "mycoolcounter.h"

#ifndef _WIN32
#include <dlfcn.h>
#include <openperflib/load.h>
#include <winerror.h>
#endif
#include <string.h>

#ifdef _WIN32
static void *loadLibrary(const char *name)
{
    char path[TEXT_SIZE];
    DWORD length = ExpandEnvironmentStringsA(name, path, sizeof path);
    return length && length <= sizeof path ? (void *)LoadLibraryA(path) : NULL;
}

static void unloadLibrary(void *library)
{
    FreeLibrary((HMODULE)library);
}

/* Finds a function by its name. memcpy is used because C has no cast from a data pointer to a
 * function pointer. */
static BOOL findFunction(void *library, const char *name, void *ret)
{
    FARPROC function = GetProcAddress((HMODULE)library, name);
    memcpy(ret, (const void *)&function, sizeof function);
    return function != NULL;
}
#else
/* Loads a library; a bare name is in the folder of providers, where the loader does not search. */
static void *loadLibrary(const char *name)
{
    char path[TEXT_SIZE];
    return opl_load_library_path(name, path, sizeof path) == ERROR_SUCCESS
               ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
               : NULL;
}

static void unloadLibrary(void *library)
{
    dlclose(library);
}

static BOOL findFunction(void *library, const char *name, void *ret)
{
    void *function = dlsym(library, name);
    memcpy(ret, (const void *)&function, sizeof function);
    return function != NULL;
}
#endif

static DWORD readText(HKEY own, const char *value, char text[TEXT_SIZE])
{
    DWORD type, size = TEXT_SIZE - 1;
    DWORD result = (DWORD)RegQueryValueExA(own, value, NULL, &type, (LPBYTE)text, &size);
    text[result == ERROR_SUCCESS ? size : 0] = 0;
    return result;
}

/* Finds the function that the registry value `value` names. Open and Close may have no name; a
 * function that has a name must exist. */
static DWORD find(const struct original *original, HKEY own, const char *value, void *ret)
{
    char name[TEXT_SIZE];
    if (readText(own, value, name) != ERROR_SUCCESS)
        return ERROR_SUCCESS;
    return findFunction(original->library, name, ret) ? ERROR_SUCCESS : ERROR_PROC_NOT_FOUND;
}

DWORD originalLoad(struct original *original, HKEY own)
{
    char library[TEXT_SIZE];
    DWORD result = readText(own, "Library", library);
    memset(original, 0, sizeof *original);
    if (result != ERROR_SUCCESS)
        return result;
    original->library = loadLibrary(library);
    if (!original->library)
        return ERROR_MOD_NOT_FOUND;
    result = find(original, own, "Open", &original->open);
    if (result == ERROR_SUCCESS)
        result = find(original, own, "Collect", &original->collect);
    if (result == ERROR_SUCCESS)
        result = find(original, own, "Close", &original->close);
    return result == ERROR_SUCCESS && !original->collect ? ERROR_PROC_NOT_FOUND : result;
}

void originalUnload(struct original *original)
{
    if (original->library)
        unloadLibrary(original->library);
    memset(original, 0, sizeof *original);
}
