/* SPDX-License-Identifier: MIT */
/* Loads a sample's library in the way of regsvr32: first DllMain is called, then the function
 * DllRegisterServer or DllUnregisterServer. */
#ifndef OPL_TESTS_SAMPLE_MODULE_H
#define OPL_TESTS_SAMPLE_MODULE_H

#include <dlfcn.h>

static void *module;

static inline void module_function(const char *name, void *ret)
{
    void *found = dlsym(module, name);
    if (!found)
        fail_msg("%s", dlerror());
    memcpy(ret, &found, sizeof found);
}

static inline void module_load(const char *path)
{
    BOOL(APIENTRY * attach)(HINSTANCE, DWORD, LPVOID);
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        fail_msg("%s", dlerror());
    module_function("DllMain", &attach);
    attach((HINSTANCE)module, DLL_PROCESS_ATTACH, NULL);
}

/* Calls DllRegisterServer or DllUnregisterServer. */
static inline DWORD module_call(const char *name)
{
    HRESULT(APIENTRY * procedure)(void);
    module_function(name, &procedure);
    return (DWORD)procedure();
}

#endif
