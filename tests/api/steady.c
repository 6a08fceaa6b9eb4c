/* SPDX-License-Identifier: MIT */
/*
 * A steady query allocates nothing: after a few rounds, RegQueryValueEx(HKEY_PERFORMANCE_DATA) does
 * not call malloc, whether the query is for the system's objects, for a third-party provider in its
 * helper process, or for names. Neither do PdhCollectQueryData and the functions that format values
 * and arrays.
 */
#include <windows.h>
#include <pdh.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../temp.h"

/* volatile, because compilers assume that malloc changes no variable */
static volatile unsigned long allocations;

#ifndef __has_feature /* gcc defines __SANITIZE_ADDRESS__ instead */
#define __has_feature(what) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
static void count_malloc(const volatile void *memory, size_t size)
{
    allocations++;
}
static void count_free(const volatile void *memory)
{
}
static void watch(void)
{
    __sanitizer_install_malloc_and_free_hooks(count_malloc, count_free);
}
#else
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size)
{
    allocations++;
    return __libc_realloc(memory, size);
}
static void watch(void)
{
}
#endif

#define SERVICES "SYSTEM\\CurrentControlSet\\Services\\"
static char root[64];
static unsigned char data[16 << 20];

static void run_query(const char *query)
{
    DWORD size = sizeof(data);
    if (RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, NULL, data, &size))
        abort();
}

/* Returns true as soon as a round allocates nothing, usually the second. On a busy machine new
 * processes make buffers grow; and if a process ends while it is read, the provider tries another
 * file for the same value, perhaps for the first time. Each of some dozens of such files may cause
 * allocations in one round. */
static bool becomes_steady(void (*do_it)(const char *), const char *what)
{
    for (int round = 0; round < 50; round++) {
        unsigned long before = allocations;
        for (int i = 0; i < 20; i++)
            do_it(what);
        if (allocations == before)
            return true;
    }
    return false;
}

static void set(const char *name, const char *text)
{
    HKEY key;
    if (RegCreateKeyExA(HKEY_LOCAL_MACHINE, SERVICES "First\\Performance", 0, NULL, 0, KEY_WRITE,
                        NULL, &key, NULL) ||
        RegSetValueExA(key, name, 0, REG_SZ, (const BYTE *)text, (DWORD)strlen(text) + 1))
        abort();
    RegCloseKey(key);
}

/* Registers a third-party provider, which runs in a helper process and has object 22222. */
static int register_third_party(void **state)
{
    HKEY key;
    temp_make(root);
    setenv("OPENPERFLIB_ROOT", root, 1);
    set("Library", getenv("THIRD_PARTY"));
    set("Open", "third_party_open");
    set("Collect", "third_party_collect");
    set("Close", "third_party_close");
    set("Object List", "22222");
    return RegCreateKeyExA(HKEY_LOCAL_MACHINE, SERVICES "First\\Linkage", 0, NULL, 0, KEY_WRITE,
                           NULL, &key, NULL) ||
           RegSetValueExA(key, "Export", 0, REG_MULTI_SZ, (const BYTE *)"22222\0", 7) ||
           RegCloseKey(key);
}

static int remove_root(void **state)
{
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    temp_remove(root);
    return 0;
}

static void a_steady_query_allocates_nothing(void **state)
{
    static const char *const queries[] = {"2 4 86 238 260 700", "230",         "Global",  "22222",
                                          "nonsense",           "Counter 009", "Help 007"};
    watch();
    /* if the registry's folder has just changed, every query reads it again, which allocates
     * memory */
    usleep(100 * 1000);
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        if (!becomes_steady(run_query, queries[i]))
            fail_msg("\"%s\" allocates", queries[i]);
    run_query("22222");
    assert_int_equal(((PERF_DATA_BLOCK *)(void *)data)->NumObjectTypes, 1);
}

static PDH_HQUERY pdh_query;
static PDH_HCOUNTER one, many;

static void collect(const char *format)
{
    PDH_FMT_COUNTERVALUE value;
    DWORD size = sizeof data, count;
    PdhCollectQueryData(pdh_query);
    PdhGetFormattedCounterValue(one, PDH_FMT_DOUBLE, NULL, &value);
    PdhGetFormattedCounterArrayA(many, PDH_FMT_DOUBLE, &size, &count,
                                 (PPDH_FMT_COUNTERVALUE_ITEM_A)data);
}

static void a_steady_collection_allocates_nothing(void **state)
{
    assert_int_equal(PdhOpenQueryA(NULL, 0, &pdh_query), 0);
    assert_int_equal(PdhAddCounterA(pdh_query, "\\Processor(_Total)\\% Processor Time", 0, &one),
                     0);
    assert_int_equal(PdhAddCounterA(pdh_query, "\\Process(*)\\% Processor Time", 0, &many), 0);
    assert_true(becomes_steady(collect, NULL));
    assert_int_equal(PdhCloseQuery(pdh_query), 0);
}

static void the_counting_counts(void **state)
{
    unsigned long before = allocations;
    void *volatile memory = malloc(10);
    free(memory);
    assert_true(allocations > before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_query_allocates_nothing),
        cmocka_unit_test(a_steady_collection_allocates_nothing),
        cmocka_unit_test(the_counting_counts),
    };
    return cmocka_run_group_tests(tests, register_third_party, remove_root);
}
