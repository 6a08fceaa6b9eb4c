/* SPDX-License-Identifier: MIT */
/*
 * The program of atl_perf: registers or unregisters the library in its folder, and reads its
 * counters by name, in any language; or it publishes numbers, without using counters:
 *
 * atl_perf register | unregister | read [LANGUAGE] | scribble
 */
#include "../scribble.h"

#include <openperflib/block.h>
#include <windows.h>

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

/* Reads a value of HKEY_PERFORMANCE_DATA, which the caller frees. NULL: it cannot be read. */
static char *query(const char *value, DWORD *size)
{
    char *data = NULL;
    DWORD type, capacity = 1 << 16;
    LSTATUS result = ERROR_MORE_DATA;
    for (; result == ERROR_MORE_DATA && capacity < 1u << 30; capacity *= 2) {
        free(data);
        data = calloc(capacity + 2, 1);
        *size = capacity;
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

/* Prints the counters in an answer, with their names from `base`. False: the answer has no
 * object. */
static bool printCounters(const char *data, DWORD size, const char *base)
{
    opl_block block;
    opl_object_view object = {0};
    bool any = false;
    opl_block_init(&block, data, size);
    for (; opl_block_next_object(&block, &object); any = true) {
        opl_instance_view values = {0};
        opl_counter_view counter = {0};
        uint64_t value;
        if (!opl_object_next_instance(&block, &object, &values))
            return false;
        printf("%s\n", titleOf(base, object.type.ObjectNameTitleIndex));
        while (opl_object_next_counter(&block, &object, &counter))
            if (opl_counter_number(&block, &values, &counter, &value))
                printf("    %llu  %s\n", (unsigned long long)value,
                       titleOf(base, counter.definition.CounterNameTitleIndex));
    }
    return any;
}

/* Queries the objects by their numbers, which are the same in all languages. */
static int readCounters(const char *language)
{
    char value[64], list[128];
    DWORD size = sizeof list, baseSize;
    bool answered;
    if (RegGetValueA(HKEY_LOCAL_MACHINE, PERFORMANCE, "Object List", RRF_RT_REG_SZ, NULL, list,
                     &size) != ERROR_SUCCESS) {
        fprintf(stderr, "atl_perf: the library is not registered; run \"atl_perf register\"\n");
        return 1;
    }
    snprintf(value, sizeof value, "Counter %.16s", language);
    char *base = query(value, &baseSize);
    char *data = base ? query(list, &size) : NULL;
    answered = data && printCounters(data, size, base);
    if (data && !answered)
        fprintf(
            stderr,
            "atl_perf: the answer has none of its objects; \"pcview --events\" shows the reason\n");
    free(data);
    free(base);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    return answered ? 0 : 1;
}

/* ---- scribble ---- */

/* Reads standard input: each line counts as a stroke, and each of its characters as a point. The
 * published numbers exist as long as this program runs. */
static int scribble(void)
{
    char line[1024];
    HANDLE memory = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0,
                                       sizeof(Scribble), SCRIBBLE_MEMORY);
    bool taken = GetLastError() == ERROR_ALREADY_EXISTS;
    Scribble *shared =
        memory && !taken ? MapViewOfFile(memory, FILE_MAP_ALL_ACCESS, 0, 0, 0) : NULL;
    if (!shared) {
        fputs(taken ? "atl_perf: another \"atl_perf scribble\" is running already\n"
                    : "atl_perf: the shared memory cannot be created\n",
              stderr);
        return 1;
    }
    shared->version = 1;
    while (fgets(line, sizeof line, stdin)) {
        shared->points += (DWORD)strcspn(line, "\n");
        shared->strokes++;
        printf("stroke %u\n", (unsigned)shared->strokes);
        fflush(stdout);
    }
    return 0;
}

static const char usage[] =
    "Usage: atl_perf register | unregister | read [LANGUAGE] | scribble\n"
    "LANGUAGE is a number such as 009 (English) or 007 (German).\n"
    "scribble reads lines, and publishes the number of lines (strokes) and characters (points).\n";

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (!strcmp(word, "register") && argc == 2)
        return callLibrary("DllRegisterServer");
    if (!strcmp(word, "unregister") && argc == 2)
        return callLibrary("DllUnregisterServer");
    if (!strcmp(word, "read") && argc <= 3)
        return readCounters(argc == 3 ? argv[2] : "009");
    if (!strcmp(word, "scribble") && argc == 2)
        return scribble();
    fputs(usage, strcmp(word, "--help") ? stderr : stdout);
    return strcmp(word, "--help") ? 2 : 0;
}
