/* SPDX-License-Identifier: MIT */
/* Texts in other languages are in a second module in the library's folder, so that a translation
 * can be added, removed and replaced separately. */
#include "../common/bases.h"
#include "perfmap.h"

#include <string.h>

#ifndef _WIN32
#include <dlfcn.h>
#endif

enum { PATH_SIZE = 1024 };

#ifdef _WIN32
#define SUFFIX TEXT(".dll")
#define SLASH '\\'
static void *loadModule(LPCWSTR path, PerfTextsFunction **ret)
{
    HMODULE module = LoadLibraryW(path);
    FARPROC function = module ? GetProcAddress(module, PERF_TEXTS) : NULL;
    memcpy((void *)ret, (const void *)&function, sizeof function);
    return (void *)module;
}

static void unloadModule(void *module)
{
    FreeLibrary((HMODULE)module);
}
#else
#define SUFFIX TEXT(".so")
#define SLASH '/'
static void *loadModule(LPCWSTR path, PerfTextsFunction **ret)
{
    char narrow[PATH_SIZE * 3];
    void *module = NULL, *function;
    if (WideCharToMultiByte(CP_UTF8, 0, path, -1, narrow, sizeof narrow, NULL, NULL) > 0)
        module = dlopen(narrow, RTLD_NOW | RTLD_LOCAL);
    function = module ? dlsym(module, PERF_TEXTS) : NULL;
    memcpy((void *)ret, (const void *)&function, sizeof function);
    return module;
}

static void unloadModule(void *module)
{
    dlclose(module);
}
#endif

/* Writes the path of file `name` in the library's folder, and returns its length; 0: it is too
 * long. */
static DWORD pathOf(LPCWSTR name, HINSTANCE library, WCHAR path[PATH_SIZE])
{
    static const WCHAR suffix[] = SUFFIX;
    DWORD length = GetModuleFileName(library, path, PATH_SIZE);
    DWORD count = (DWORD)lstrlenW(name);
    while (length > 0 && path[length - 1] != SLASH)
        length--;
    if (length == 0 || length + count + sizeof suffix / sizeof *suffix > PATH_SIZE)
        return 0;
    memcpy(path + length, name, count * sizeof *name);
    memcpy(path + length + count, suffix, sizeof suffix);
    return length;
}

void perfTextsOpen(LPCWSTR name, HINSTANCE library, PerfTexts *ret)
{
    WCHAR path[PATH_SIZE];
    PerfTextsFunction *function = NULL;
    ret->module = pathOf(name, library, path) ? loadModule(path, &function) : NULL;
    ret->texts = function ? function() : NULL;
}

void perfTextsClose(PerfTexts *texts)
{
    if (texts->module)
        unloadModule(texts->module);
    texts->module = NULL;
    texts->texts = NULL;
}

LPCWSTR perfTextsFind(const PerfTexts *texts, const PerfMap *map, LPCWSTR language, DWORD row,
                      BOOL help)
{
    const PerfText *text;
    for (text = texts->texts; text && text->language; text++) {
        LPCWSTR found = help ? text->help : text->name;
        if (text->row == row && found && basesSameLanguage(text->language, language))
            return found;
    }
    return perfMapText(map, row, help);
}
