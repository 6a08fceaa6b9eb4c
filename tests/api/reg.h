/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the Reg functions: a new root folder (OPENPERFLIB_ROOT), in which their
 * registry is stored. These tests include public headers only. */
#ifndef OPL_API_REG_H
#define OPL_API_REG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../temp.h"
#include <windows.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TEST_KEY "SOFTWARE\\OpenPerfLibTest"

static char test_root[64];

/* Makes one root folder for the whole program, because the library reads its environment only
 * once. */
static inline int make_root(void **state)
{
    temp_make(test_root);
    return setenv("OPENPERFLIB_ROOT", test_root, 1);
}

static inline int remove_root(void **state)
{
    temp_remove(test_root);
    return 0;
}

static inline int clean(void **state)
{
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, TEST_KEY);
    /* deleting a key that does not exist creates no file */
    RegDeleteTreeA(HKEY_CURRENT_USER, TEST_KEY);
    return 0;
}

static inline HKEY made(REGSAM access)
{
    HKEY key = NULL;
    assert_int_equal(
        RegCreateKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, NULL, 0, access, NULL, &key, NULL),
        ERROR_SUCCESS);
    assert_non_null(key);
    return key;
}

static inline void set_text(HKEY key, const char *name, const char *text)
{
    assert_int_equal(
        RegSetValueExA(key, name, 0, REG_SZ, (const BYTE *)text, (DWORD)strlen(text) + 1),
        ERROR_SUCCESS);
}

#define CLEAN_TEST(function) cmocka_unit_test_teardown(function, clean)

#endif
