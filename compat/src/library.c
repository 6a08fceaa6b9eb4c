/* SPDX-License-Identifier: MIT */
/*
 * Libraries at run time: LoadLibrary by dlopen. A library built by openperflib-cc calls its DllMain
 * itself, in its constructor (see compat/openperflib-cc), and exports a DllMain that returns the
 * result of that call.
 */
#include "shims.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finding the file ---- */

/* True for a library of Windows whose functions are all in libopenperflib. */
static bool is_ours(const char *name)
{
    static const char *const names[] = {"pdh",    "advapi32", "kernel32", "kernelbase", "loadperf",
                                        "user32", "psapi",    "iphlpapi", "ntdll"};
    size_t length = strcspn(name, ".");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (length == strlen(names[i]) && !strncasecmp(name, names[i], length) &&
            (!name[length] || !strcasecmp(name + length, ".dll")))
            return true;
    return false;
}

/* Appends to the folder `path` the real name of `name` in any letter case; false: none. */
static bool find_in_folder(char path[static PATH_MAX], const char *name)
{
    size_t used = strlen(path);
    DIR *listing = opendir(used ? path : ".");
    bool found = false;
    for (const struct dirent *entry; listing && !found && (entry = readdir(listing));)
        if (!strcasecmp(entry->d_name, name) && used + strlen(entry->d_name) < PATH_MAX) {
            strcpy(path + used, entry->d_name);
            found = true;
        }
    if (listing)
        closedir(listing);
    return found;
}

/* Writes `name` with slashes and with the ending .so; false: the result is too long. */
static bool plain_name(const char *name, char ret[static PATH_MAX])
{
    int length = snprintf(ret, PATH_MAX - 4, "%s", name);
    if (length < 0 || length >= PATH_MAX - 4)
        return false;
    for (char *at = ret; *at; at++)
        if (*at == '\\')
            *at = '/';
    if (length > 4 && !strcasecmp(ret + length - 4, ".dll"))
        ret[length - 4] = '\0';
    const char *slash = strrchr(ret, '/');
    if (!strstr(slash ? slash : ret, ".so"))
        strcat(ret, ".so");
    return true;
}

/* Changes `path` to an existing file: the file itself, else one with different letter case in the
 * same folder. A name without folders is searched in the program's folder; if it is not there,
 * `path` stays the name, which the dynamic linker searches. */
static void find_file(char path[static PATH_MAX])
{
    char name[PATH_MAX], beside[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
    if (slash) {
        if (access(path, F_OK) != 0) {
            path[slash + 1 - path] = '\0';
            if (!find_in_folder(path, name))
                strcat(path, name);
        }
        return;
    }
    DWORD length = GetModuleFileNameA(NULL, beside, sizeof beside);
    char *end = length ? strrchr(beside, '/') : NULL;
    if (end) {
        end[1] = '\0';
        if (find_in_folder(beside, name))
            strcpy(path, beside);
    }
}

/* ---- loading ---- */

static DWORD status_of_file(const char *path)
{
    unsigned char head[EI_NIDENT] = {0};
    FILE *file = fopen(path, "re");
    size_t count = file ? fread(head, 1, sizeof head, file) : 0;
    if (file)
        fclose(file);
    bool other = count == sizeof head && !memcmp(head, ELFMAG, SELFMAG) &&
                 head[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
    return other ? ERROR_BAD_EXE_FORMAT : ERROR_MOD_NOT_FOUND;
}

static void *load(const char *name)
{
    char path[PATH_MAX];
    Dl_info info;
    if (is_ours(name))
        return dladdr((void *)(uintptr_t)SetLastError, &info) ? dlopen(info.dli_fname, RTLD_NOW)
                                                              : NULL;
    if (!plain_name(name, path)) {
        SetLastError(ERROR_FILENAME_EXCED_RANGE);
        return NULL;
    }
    find_file(path);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        opl_shim_trace("library", dlerror());
        SetLastError(status_of_file(path));
    }
    return handle;
}

HMODULE WINAPI LoadLibraryA(LPCSTR name)
{
    typedef BOOL WINAPI attached(void);
    attached *check;
    if (!name || !*name) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    void *handle = load(name);
    *(void **)&check = handle ? dlsym(handle, "opl_dll_attached") : NULL;
    if (check && !check()) {
        dlclose(handle);
        SetLastError(ERROR_DLL_INIT_FAILED);
        return NULL;
    }
    return handle;
}

HMODULE WINAPI LoadLibraryW(LPCWSTR name)
{
    return LoadLibraryExW(name, NULL, 0);
}

HMODULE WINAPI LoadLibraryExA(LPCSTR name, HANDLE file, DWORD flags)
{
    if (flags & (DONT_RESOLVE_DLL_REFERENCES | LOAD_LIBRARY_AS_DATAFILE)) {
        SetLastError(ERROR_NOT_SUPPORTED);
        return NULL;
    }
    return LoadLibraryA(name);
}

HMODULE WINAPI LoadLibraryExW(LPCWSTR name, HANDLE file, DWORD flags)
{
    char *narrow = name ? opl_shim_narrow(name) : NULL;
    HMODULE module = LoadLibraryExA(narrow, file, flags);
    free(narrow);
    return module;
}

/* True if this is a loaded library, which has a path; dlsym and dlclose do not check pointers. */
static bool is_loaded(HMODULE module)
{
    char path[PATH_MAX];
    return module && GetModuleFileNameA(module, path, sizeof path) != 0;
}

FARPROC WINAPI GetProcAddress(HMODULE module, LPCSTR name)
{
    char ours[256];
    FARPROC found = NULL;
    if (!is_loaded(module)) {
        SetLastError(ERROR_MOD_NOT_FOUND);
        return NULL;
    }
    if ((uintptr_t)name > 0xffff) { /* a smaller value is a number, not a name */
        *(void **)&found = dlsym(module, name);
        snprintf(ours, sizeof ours, "opl_%s", name);
        if (!found)
            *(void **)&found = dlsym(module, ours);
    }
    if (!found)
        SetLastError(ERROR_PROC_NOT_FOUND);
    return found;
}

BOOL WINAPI FreeLibrary(HMODULE module)
{
    if (!is_loaded(module))
        return opl_shim_fail(ERROR_MOD_NOT_FOUND);
    return dlclose(module) == 0 ? TRUE : opl_shim_fail(ERROR_INVALID_HANDLE);
}
