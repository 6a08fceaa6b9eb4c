/* SPDX-License-Identifier: MIT */
/* Loading libraries as LoadLibrary does: which DllMain is called, how often, and which functions
 * are found. */
#include "host/module.h"
#include "registry/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char why[MODULE_TEXT];

static const char *library(void)
{
    return getenv("DLLMAIN");
}

/* How often the DllMain was called: "11" means attached once and detached once. */
static const char *calls(void)
{
    const char *text = getenv("DLLMAIN_CALLS");
    return text ? text : "00";
}

static int fresh(void **state)
{
    unsetenv("REFUSE_TO_START");
    return unsetenv("DLLMAIN_CALLS");
}

static void c45_dllmain_hears_of_coming_and_going(void **state)
{
    struct module module;
    assert_int_equal(module_load(&module, library(), why), ERROR_SUCCESS);
    assert_string_equal(calls(), "10");
    module_unload(&module);
    assert_string_equal(calls(), "11");
    module_unload(&module);
    assert_string_equal(calls(), "11");
}

static void of_two_services_dllmain_hears_the_first_and_the_last(void **state)
{
    struct module first, second;
    assert_int_equal(module_load(&first, library(), why), ERROR_SUCCESS);
    assert_int_equal(module_load(&second, library(), why), ERROR_SUCCESS);
    assert_string_equal(calls(), "10");
    module_unload(&first);
    assert_string_equal(calls(), "10");
    module_unload(&second);
    assert_string_equal(calls(), "11");
}

static void a_refusal_to_start_is_a_failure_to_load(void **state)
{
    struct module module = {0};
    setenv("REFUSE_TO_START", "1", 1);
    assert_int_equal(module_load(&module, library(), why), ERROR_DLL_INIT_FAILED);
    assert_null(module.handle);
    assert_non_null(strstr(why, "DllMain"));
    assert_string_equal(calls(), "10");
}

static void a_missing_file_is_named(void **state)
{
    struct module module;
    assert_int_equal(module_load(&module, "/nonexistent/library.so", why), ERROR_MOD_NOT_FOUND);
    assert_non_null(strstr(why, "/nonexistent/library.so"));
}

/* A file with only the first bytes of a library of the other word size (32 or 64 bits): the error
 * must say so. */
static void another_word_size_is_distinguished(void **state)
{
    char path[] = "/tmp/openperflib-module-XXXXXX", start[64] = "\177ELF";
    struct module module;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    start[4] = sizeof(void *) == 8 ? 1 : 2;
    start[5] = start[6] = 1;
    assert_int_equal(write(fd, start, sizeof start), sizeof start);
    close(fd);
    LSTATUS status = module_load(&module, path, why);
    unlink(path);
    assert_int_equal(status, ERROR_BAD_EXE_FORMAT);
}

static void find(const char *open, const char *collect, const char *close, LSTATUS expected,
                 enum module_procedure expected_missing)
{
    const char *const names[] = {open, collect, close};
    struct module module;
    enum module_procedure missing = MODULE_PROCEDURES;
    assert_int_equal(module_load(&module, library(), why), ERROR_SUCCESS);
    assert_int_equal(module_find(&module, names, &missing), expected);
    assert_int_equal(missing, expected_missing);
    assert_true(!module.collect == !!expected);
    assert_true(!module.open);
    module_unload(&module);
}

static void c39_only_collect_must_be_registered(void **state)
{
    find(NULL, "Collect", NULL, ERROR_SUCCESS, MODULE_PROCEDURES);
    find(NULL, NULL, NULL, ERROR_PROC_NOT_FOUND, MODULE_COLLECT);
}

/* libc exports open and close: calling these instead of the provider's functions would be worse
 * than an error. */
static void names_of_other_libraries_do_not_count(void **state)
{
    find("open", "Collect", NULL, ERROR_PROC_NOT_FOUND, MODULE_OPEN);
    find(NULL, "Collect", "close", ERROR_PROC_NOT_FOUND, MODULE_CLOSE);
    find(NULL, "malloc", NULL, ERROR_PROC_NOT_FOUND, MODULE_COLLECT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(c45_dllmain_hears_of_coming_and_going, fresh),
        cmocka_unit_test_setup(of_two_services_dllmain_hears_the_first_and_the_last, fresh),
        cmocka_unit_test_setup(a_refusal_to_start_is_a_failure_to_load, fresh),
        cmocka_unit_test_setup(a_missing_file_is_named, fresh),
        cmocka_unit_test_setup(another_word_size_is_distinguished, fresh),
        cmocka_unit_test_setup(c39_only_collect_must_be_registered, fresh),
        cmocka_unit_test_setup(names_of_other_libraries_do_not_count, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
