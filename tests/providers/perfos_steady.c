/* SPDX-License-Identifier: MIT */
/*
 * After its first answer perfos.so neither allocates nor opens anything. It survives a program that
 * closes all descriptors, and never writes beyond the caller's buffer. Linked statically, with
 * malloc, calloc, realloc and openat (providers open files in no other way) replaced by functions
 * that count. Also built for perflinux.so, whose functions are then OPEN, COLLECT and CLOSE.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <winerror.h>
#include <winperf.h>

#include "../skip.h"
#include "counted.h"

#ifndef OPEN
#define OPEN OpenOSObject
#define COLLECT CollectOSObjectData
#define CLOSE CloseOSObject
#endif
DWORD APIENTRY OPEN(LPWSTR devices);
DWORD APIENTRY COLLECT(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD APIENTRY CLOSE(void);
/* The number of an object to query; for perflinux.so, of a costly object (not in Global) that is
 * quick to read. */
#ifndef BY_NUMBER
#define BY_NUMBER "2"
#endif

static unsigned char storage[1 << 20];
static WCHAR query[16];

static void request(const char *text)
{
    for (size_t i = 0; i <= strlen(text); i++)
        query[i] = (WCHAR)text[i];
}

static DWORD collect(DWORD size, DWORD *ret_bytes, DWORD *ret_types)
{
    LPVOID data = storage;
    *ret_bytes = size;
    *ret_types = 77;
    DWORD status = COLLECT(query, &data, ret_bytes, ret_types);
    assert_ptr_equal(data, storage + *ret_bytes);
    return status;
}

static void no_allocation_in_a_steady_query(void **state)
{
    DWORD bytes, types;
    assert_int_equal(collect(sizeof storage, &bytes, &types), ERROR_SUCCESS);
    allocations = 0;
    for (int i = 0; i < 20; i++)
        assert_int_equal(collect(sizeof storage, &bytes, &types), ERROR_SUCCESS);
    assert_int_equal(allocations, 0);
}

static void no_open_in_a_steady_query(void **state)
{
    DWORD bytes, types;
    if (sysconf(_SC_NPROCESSORS_ONLN) > 8) {
        report_skipped("idle states of the ninth processor are opened each time");
        return;
    }
    collect(sizeof storage, &bytes, &types);
    opens = 0;
    for (int i = 0; i < 20; i++)
        assert_int_equal(collect(sizeof storage, &bytes, &types), ERROR_SUCCESS);
    assert_int_equal(opens, 0);
}

static void an_object_by_its_number_is_steady_too(void **state)
{
    DWORD bytes, types;
    request(BY_NUMBER);
    collect(sizeof storage, &bytes, &types);
    assert_int_equal(types, 1);
    allocations = opens = 0;
    for (int i = 0; i < 20; i++)
        assert_int_equal(collect(sizeof storage, &bytes, &types), ERROR_SUCCESS);
    request("Global");
    assert_int_equal(allocations, 0);
    assert_int_equal(opens, 0);
}

static void a_program_may_close_what_is_not_its_own(void **state)
{
    DWORD bytes, types, again;
    collect(sizeof storage, &bytes, &types);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    assert_int_equal(collect(sizeof storage, &again, &types), ERROR_SUCCESS);
    assert_int_equal(again, bytes);
}

static void c71_too_little_space_leaves_everything(void **state)
{
    DWORD bytes, types, size;
    collect(sizeof storage, &size, &types);
    for (DWORD less = 0; less < size; less += 97) {
        memset(storage, 0x5a, size + 8);
        assert_int_equal(collect(less, &bytes, &types), ERROR_MORE_DATA);
        assert_int_equal(bytes, 0);
        assert_int_equal(types, 0);
        for (DWORD i = 0; i < size; i++)
            assert_int_equal(storage[i], 0x5a);
    }
    assert_int_equal(collect(size, &bytes, &types), ERROR_SUCCESS);
    assert_int_equal(bytes, size);
}

static void opens_are_counted(void **state)
{
    DWORD bytes, types;
    assert_int_equal(OPEN(NULL), ERROR_SUCCESS);
    assert_int_equal(CLOSE(), ERROR_SUCCESS);
    assert_int_equal(collect(sizeof storage, &bytes, &types), ERROR_SUCCESS);
    assert_true(types > 0);
}

static void closing_once_too_often_is_harmless(void **state)
{
    DWORD bytes = sizeof storage, types = 1;
    LPVOID data = storage;
    assert_int_equal(CLOSE(), ERROR_SUCCESS);
    assert_int_equal(CLOSE(), ERROR_SUCCESS);
    assert_int_not_equal(COLLECT(query, &data, &bytes, &types), ERROR_SUCCESS);
    assert_int_equal(bytes, 0);
    assert_int_equal(types, 0);
    assert_int_equal(OPEN(NULL), ERROR_SUCCESS);
}

/* One allocation after the other fails: each time the provider returns an error, or an answer
 * without the data concerned, and nothing leaks. */
static void each_allocation_may_fail(void **state)
{
    DWORD status = ERROR_NOT_ENOUGH_MEMORY, bytes, types;
    assert_int_equal(CLOSE(), ERROR_SUCCESS);
    for (unsigned n = 1; status; n++) {
        allocations = 0;
        failing = n;
        status = OPEN(NULL);
        if (!status) {
            status = collect(sizeof storage, &bytes, &types);
            CLOSE();
        }
        failing = 0;
        assert_true(status == ERROR_SUCCESS || status == ERROR_NOT_ENOUGH_MEMORY);
        assert_true(n < 5000);
        status = status || allocations >= n ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
    }
    assert_int_equal(OPEN(NULL), ERROR_SUCCESS);
}

static int open_objects(void **state)
{
    request("Global");
    return (int)OPEN(NULL);
}

static int close_objects(void **state)
{
    return (int)CLOSE();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_allocation_in_a_steady_query),
        cmocka_unit_test(no_open_in_a_steady_query),
        cmocka_unit_test(an_object_by_its_number_is_steady_too),
        cmocka_unit_test(a_program_may_close_what_is_not_its_own),
        cmocka_unit_test(c71_too_little_space_leaves_everything),
        cmocka_unit_test(opens_are_counted),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(closing_once_too_often_is_harmless),
    };
    return cmocka_run_group_tests(tests, open_objects, close_objects);
}
