/* SPDX-License-Identifier: MIT */
/*
 * Loads libraries like LoadLibrary: DllMain is called when a library is loaded and unloaded, but
 * not for threads; if it returns false, loading fails. Procedures are searched only among the names
 * that the library itself exports, because dlsym would also find names like "close" in libc.
 * (docs/windows/articles.md#c45, docs/windows/providers.md#d2)
 */
#include "host/module.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <winbase.h>

typedef BOOL WINAPI DLL_MAIN(HINSTANCE, DWORD, LPVOID);

/* A loaded library; several services may share it. */
struct loaded {
    void *handle;
    unsigned count;
    DLL_MAIN *main;
    struct loaded *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct loaded *all_loaded;

/* Finds a symbol that the library itself exports; false: it does not export the name. `ret` is the
 * address of a function pointer, because C has no conversion of dlsym's data pointer to one. */
static bool own_symbol(void *handle, const char *name, void *ret)
{
    struct link_map *own, *its;
    Dl_info info;
    void *symbol = dlsym(handle, name);
    if (!symbol || dlinfo(handle, RTLD_DI_LINKMAP, &own) ||
        !dladdr1(symbol, &info, (void **)&its, RTLD_DL_LINKMAP) || own != its)
        return false;
    memcpy(ret, &symbol, sizeof symbol);
    return true;
}

/* True if the library is for the other word size (64 or 32 bits), which has an event of its own. */
static bool other_word_size(const char *path)
{
    unsigned char start[EI_NIDENT];
    FILE *file = fopen(path, "re");
    bool whole = file && fread(start, sizeof start, 1, file) == 1;
    if (file)
        fclose(file);
    return whole && !memcmp(start, ELFMAG, SELFMAG) &&
           start[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
}

static struct loaded **find_loaded(const void *handle)
{
    struct loaded **at = &all_loaded;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

/* Calls DllMain if this is the library's first load. */
static LSTATUS attach(void *handle, char text[static MODULE_TEXT])
{
    struct loaded *loaded = malloc(sizeof *loaded);
    if (!loaded) {
        snprintf(text, MODULE_TEXT, "%s", status_text(ERROR_NOT_ENOUGH_MEMORY));
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *loaded = (struct loaded){.handle = handle, .count = 1, .next = all_loaded};
    own_symbol(handle, "DllMain", &loaded->main);
    if (loaded->main && !loaded->main(handle, DLL_PROCESS_ATTACH, NULL)) {
        free(loaded);
        snprintf(text, MODULE_TEXT, "its DllMain returned FALSE");
        return ERROR_DLL_INIT_FAILED;
    }
    all_loaded = loaded;
    return ERROR_SUCCESS;
}

static LSTATUS failed_to_load(const char *path, char text[static MODULE_TEXT])
{
    const char *why = dlerror();
    snprintf(text, MODULE_TEXT, "%s", why ? why : "dlopen failed");
    if (other_word_size(path))
        return ERROR_BAD_EXE_FORMAT;
    if (!library_is_unreleased(path))
        return ERROR_MOD_NOT_FOUND;
    snprintf(text, MODULE_TEXT, "%s", LIBRARY_UNRELEASED);
    return ERROR_PROC_NOT_FOUND;
}

/* Refuses a library built for tables without a version, because their rows have another layout. */
static LSTATUS check_tables(void *handle, char text[static MODULE_TEXT])
{
    const void *tables;
    if (own_symbol(handle, "opl_tables_1", &tables) || !own_symbol(handle, "opl_tables", &tables))
        return ERROR_SUCCESS;
    snprintf(text, MODULE_TEXT, "%s", LIBRARY_UNRELEASED);
    return ERROR_PROC_NOT_FOUND;
}

static LSTATUS load(struct module *ret, const char *path, char text[static MODULE_TEXT])
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return failed_to_load(path, text);
    struct loaded *loaded = *find_loaded(handle);
    if (loaded)
        loaded->count++;
    LSTATUS status = loaded ? ERROR_SUCCESS : check_tables(handle, text);
    if (!status && !loaded)
        status = attach(handle, text);
    if (status)
        dlclose(handle);
    else
        *ret = (struct module){.handle = handle};
    return status;
}

LSTATUS module_load(struct module *ret, const char *path, char text[static MODULE_TEXT])
{
    lock_take(&lock);
    LSTATUS status = load(ret, path, text);
    lock_release(&lock);
    return status;
}

LSTATUS module_find(struct module *module, const char *const names[static MODULE_PROCEDURES],
                    enum module_procedure *ret_missing)
{
    struct module found = {.handle = module->handle};
    void *const places[] = {&found.open, &found.collect, &found.close};
    for (int i = 0; i < MODULE_PROCEDURES; i++) {
        bool optional = i != MODULE_COLLECT && !names[i];
        if (optional || (names[i] && own_symbol(module->handle, names[i], places[i])))
            continue;
        *ret_missing = (enum module_procedure)i;
        return ERROR_PROC_NOT_FOUND;
    }
    *module = found;
    return ERROR_SUCCESS;
}

void module_unload(struct module *module)
{
    if (!module->handle)
        return;
    lock_take(&lock);
    struct loaded **at = find_loaded(module->handle), *loaded = *at;
    if (loaded && --loaded->count == 0) {
        if (loaded->main)
            loaded->main(module->handle, DLL_PROCESS_DETACH, NULL);
        *at = loaded->next;
        free(loaded);
    }
    dlclose(module->handle);
    lock_release(&lock);
    *module = (struct module){0};
}
