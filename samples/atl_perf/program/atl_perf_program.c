/* SPDX-License-Identifier: MIT */
/*
 * The program of atl_perf: registers the library beside it, takes that back, and reads its counters
 * by their names, in any language:
 *
 *     atl_perf register | unregister | read [LANGUAGE]
 */
#include <openperflib/block.h>
#include <openperflib/windows.h>

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PERFORMANCE "SYSTEM\\CurrentControlSet\\Services\\AtlPerf\\Performance"

/* ---- register, unregister ---- */

typedef BOOL APIENTRY attachFunction(HINSTANCE, DWORD, LPVOID);
typedef HRESULT APIENTRY registerFunction(void);

static int callLibrary(const char *name)
{
    char path[PATH_MAX + 16];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    attachFunction *attach = NULL;
    registerFunction *function = NULL;
    void *module, *symbol;
    while (length > 0 && path[length - 1] != '/')
        length--;
    if (length <= 0)
        return 1;
    strcpy(path + length, "atl_perf.so");
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        fprintf(stderr, "atl_perf: %s\n", dlerror());
        return 1;
    }
    symbol = dlsym(module, "DllMain");
    memcpy(&attach, &symbol, sizeof symbol);
    symbol = dlsym(module, name);
    memcpy(&function, &symbol, sizeof symbol);
    if (!attach || !function || !attach((HINSTANCE)module, DLL_PROCESS_ATTACH, NULL))
        return 1;
    HRESULT result = function();
    attach((HINSTANCE)module, DLL_PROCESS_DETACH, NULL);
    dlclose(module);
    if (FAILED(result))
        fprintf(stderr, "atl_perf: %s failed with error %u\n", name, (unsigned)result & 0xffff);
    return FAILED(result) ? 1 : 0;
}

/* ---- read ---- */

/* To be freed; NULL: it cannot be had. */
static char *query(const char *value, DWORD *size)
{
    char *data = NULL;
    DWORD type, room = 1 << 16;
    LSTATUS result = ERROR_MORE_DATA;
    for (; result == ERROR_MORE_DATA && room < 1u << 30; room *= 2) {
        free(data);
        data = calloc(room + 2, 1);
        *size = room;
        result =
            data ? RegQueryValueExA(HKEY_PERFORMANCE_DATA, value, NULL, &type, (LPBYTE)data, size)
                 : ERROR_OUTOFMEMORY;
    }
    if (result == ERROR_SUCCESS)
        return data;
    fprintf(stderr, "atl_perf: \"%s\" cannot be read: error %d\n", value, (int)result);
    free(data);
    return NULL;
}

static const char *titleOf(const char *base, DWORD number)
{
    while (*base) {
        const char *title = base + strlen(base) + 1;
        if (strtoul(base, NULL, 10) == number)
            return title;
        base = title + strlen(title) + 1;
    }
    return "(no name)";
}

static void printCounters(const char *data, DWORD size, DWORD number, const char *base)
{
    opl_block block;
    opl_object_view object = {0};
    opl_instance_view values = {0};
    opl_counter_view counter = {0};
    ULONGLONG value;
    opl_block_init(&block, data, size);
    if (!opl_block_find_object(&block, number, &object) ||
        !opl_object_next_instance(&block, &object, &values)) {
        fprintf(stderr, "atl_perf: the object did not answer; is it registered?\n");
        exit(1);
    }
    printf("%s\n", titleOf(base, number));
    while (opl_object_next_counter(&block, &object, &counter))
        if (opl_counter_number(&block, &values, &counter, &value))
            printf("    %llu  %s\n", (unsigned long long)value,
                   titleOf(base, counter.definition.CounterNameTitleIndex));
}

/* The object is asked for by its number, which its name stands for in any language. */
static int readCounters(const char *language)
{
    char value[64];
    DWORD number, size = sizeof number, baseSize;
    if (RegGetValueA(HKEY_LOCAL_MACHINE, PERFORMANCE, "First Counter", RRF_RT_REG_DWORD, NULL,
                     &number, &size) != ERROR_SUCCESS) {
        fprintf(stderr, "atl_perf: it is not registered: \"atl_perf register\"\n");
        return 1;
    }
    snprintf(value, sizeof value, "Counter %.16s", language);
    char *base = query(value, &baseSize);
    snprintf(value, sizeof value, "%u", (unsigned)number);
    char *data = base ? query(value, &size) : NULL;
    if (data)
        printCounters(data, size, number, base);
    free(data);
    free(base);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    return data ? 0 : 1;
}

static const char usage[] = "Usage: atl_perf register | unregister | read [LANGUAGE]\n"
                            "LANGUAGE is a number such as 009 (English) or 007 (German).\n";

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (!strcmp(word, "register") && argc == 2)
        return callLibrary("DllRegisterServer");
    if (!strcmp(word, "unregister") && argc == 2)
        return callLibrary("DllUnregisterServer");
    if (!strcmp(word, "read") && argc <= 3)
        return readCounters(argc == 3 ? argv[2] : "009");
    fputs(usage, strcmp(word, "--help") ? stderr : stdout);
    return strcmp(word, "--help") ? 2 : 0;
}
