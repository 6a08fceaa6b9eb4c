/* SPDX-License-Identifier: MIT */
/*
 * Another library of the process, libwinpr2, exports functions with Win32 names. Programs built for
 * our library must call our functions nevertheless, and those built for libwinpr2 must call that
 * library's functions.
 * usage: winpr MODE [LIBRARY], where MODE is the way in which libwinpr2 is loaded:
 *   after     by dlopen with RTLD_GLOBAL, after our library, with which this program is linked
 *   before    by dlopen with RTLD_GLOBAL, before our library, which is then loaded by dlopen, too
 *   preload   by LD_PRELOAD, before all other libraries
 * Exit code 77: libwinpr2 is not installed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <windows.h>

static int failed;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                 \
            failed = 1;                                                                            \
        }                                                                                          \
    } while (0)

static const char *file_of(void *function)
{
    Dl_info info = {0};
    return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "nowhere";
}

#ifdef LINKED
/* Our headers bind these names to our functions when a program is compiled. */
static void names_reach_us(void)
{
    const uintptr_t functions[] = {(uintptr_t)RegOpenKeyExA,
                                   (uintptr_t)RegOpenKeyExW,
                                   (uintptr_t)RegQueryValueExA,
                                   (uintptr_t)RegQueryValueExW,
                                   (uintptr_t)RegSetValueExA,
                                   (uintptr_t)RegCloseKey,
                                   (uintptr_t)RegEnumKeyExA,
                                   (uintptr_t)GetComputerNameA,
                                   (uintptr_t)GetLastError,
                                   (uintptr_t)SetLastError,
                                   (uintptr_t)Sleep,
                                   (uintptr_t)lstrlenW,
                                   (uintptr_t)WideCharToMultiByte,
                                   (uintptr_t)GetSystemTime};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        CHECK(strstr(file_of((void *)functions[i]), "libopenperflib"));
}

/* Calls reach our functions, not those of libwinpr2, which would fail here: its registry has no
 * performance keys, and its GetLastError reads another variable. */
static void calls_reach_us(void)
{
    DWORD (*their_last_error)(void);
    *(void **)&their_last_error = dlsym(RTLD_DEFAULT, "GetLastError");
    DWORD size = 10, type, sum = 0;
    BYTE data[10];
    HKEY key = NULL;
    LARGE_INTEGER frequency;
    SetLastError(4711);
    CHECK(GetLastError() == 4711);
    CHECK(their_last_error && their_last_error() != 4711);
    CHECK(RegQueryValueEx(HKEY_PERFORMANCE_DATA, "2", NULL, &type, data, &size) == ERROR_MORE_DATA);
    CHECK(RegOpenKeyEx(HKEY_LOCAL_MACHINE, "\\SOFTWARE", 0, KEY_READ, &key) == ERROR_BAD_PATHNAME);
    CHECK(RegCloseKey(HKEY_PERFORMANCE_DATA) == ERROR_SUCCESS);
    CHECK(QueryPerformanceFrequency(&frequency) && frequency.QuadPart == 10000000);
    CHECK(!GetComputerName(NULL, &sum) && GetLastError() == ERROR_BUFFER_OVERFLOW);
}
#endif

/* A program that looks up the plain names gets libwinpr2's functions: we do not export these
 * names. */
static void bare_names_are_theirs(void *ours)
{
    static const char *const names[] = {"RegOpenKeyExA", "RegQueryValueExW", "GetLastError"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK(strstr(file_of(dlsym(RTLD_DEFAULT, names[i])), "libwinpr"));
    CHECK(dlsym(ours, "opl_RegOpenKeyExA"));
    CHECK(strstr(file_of(dlsym(ours, "opl_RegOpenKeyExA")), "libopenperflib"));
}

static void *load_winpr(void)
{
    void *library = dlopen("libwinpr2.so.2", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        printf("skipped: libwinpr2.so.2 is not installed\n");
        exit(77);
    }
    return library;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "after";
    if (strcmp(mode, "preload") == 0 && !dlopen("libwinpr2.so.2", RTLD_NOW | RTLD_NOLOAD)) {
        printf("skipped: libwinpr2.so.2 is not preloaded, perhaps not installed\n");
        return 77;
    }
    load_winpr();
    void *ours = dlopen(argc > 2 ? argv[2] : "libopenperflib.so.0", RTLD_NOW);
    if (!ours) {
        printf("%s\n", dlerror());
        return 1;
    }
#ifdef LINKED
    names_reach_us();
    calls_reach_us();
#endif
    bare_names_are_theirs(ours);
    return failed;
}
