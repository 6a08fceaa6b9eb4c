/* SPDX-License-Identifier: MIT */
/* Removing: what goes, what stays, and what other files say. */
#include "test.h"

static void c102_the_numbers_go_and_the_rest_stays(void **state)
{
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    uint32_t disabled = 1;
    assert_int_equal(registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Disable Performance Counters",
                                  REG_DWORD, &disabled, sizeof disabled),
                     ERROR_SUCCESS);
    assert_int_equal(unload("myperf"), ERROR_SUCCESS); /* in any case */
    assert_int_equal(result.first_counter, 1848);
    assert_int_equal(result.names, 0);
    assert_not_loaded("MyPerf");
    assert_name(1848, 9, NULL);
    assert_last(1846);
    assert_text(PERFORMANCE_KEY, "Library", LIBRARY_PATH);
    assert_int_equal(number_of("MyPerf", "Disable Performance Counters"), 1);
    assert_true(event_was("LoadPerf\t1001"));
}

static void what_is_not_loaded_is_error_2(void **state)
{
    assert_int_equal(unload("Nobody"), ERROR_FILE_NOT_FOUND);
    assert_remark("Nobody: there is no such service");
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_int_equal(unload("MyPerf"), ERROR_FILE_NOT_FOUND);
    assert_remark("MyPerf: is not loaded");
    assert_int_equal(opl_load_remove("", NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(opl_load_remove("a\\b", NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(opl_load_remove(NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
}

static const char packaged[] =
    HEADER "[" PERFORMANCE_KEY "]\n\"Library\"=\"x.so\"\n\"First Counter\"=dword:00000800\n"
           "\"Last Counter\"=dword:00000800\n\"First Help\"=dword:00000801\n"
           "\"Last Help\"=dword:00000801\n\"Object List\"=\"2048\"\n"
           "[" PERFORMANCE_KEY "\\Names\\009]\n\"2048\"=\"Packaged\"\n\"2049\"=\"Help\"\n";

/* A package's file is not ours to write: it is hidden, and comes to light again by loading. */
static void what_a_package_says_is_deleted_from_behind(void **state)
{
    put("vendor/data/registry.d/MyPerf.reg", packaged);
    assert_loaded("MyPerf", 2048, 2048);
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_not_loaded("MyPerf");
    assert_name(2048, 9, NULL);
    assert_text(PERFORMANCE_KEY, "Library", "x.so");
    assert_int_equal(unload("MyPerf"), ERROR_FILE_NOT_FOUND);
    put_ini(ini_head, ini_texts);
    assert_int_equal(load("my.ini"), ERROR_SUCCESS);
    assert_loaded("MyPerf", 2050, 2054);
    assert_name(2050, 9, "Mine");
    assert_name(2048, 9, NULL);
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_not_loaded("MyPerf");
}

/* Numbers that were written manually, as with reg add. */
static void what_was_written_by_hand_goes_too(void **state)
{
    uint32_t number = 3000;
    assert_int_equal(registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Library", REG_SZ, "x", 2), 0);
    for (size_t i = 0; i < NUMBERS; i++)
        assert_int_equal(registry_set(LAYER_MACHINE, PERFORMANCE_KEY, number_names[i], REG_DWORD,
                                      &number, sizeof number),
                         0);
    assert_int_equal(
        registry_set(LAYER_MACHINE, PERFORMANCE_KEY "\\Names\\009", "3000", REG_SZ, "Hand", 5), 0);
    assert_name(3000, 9, "Hand");
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_not_loaded("MyPerf");
    assert_name(3000, 9, NULL);
    assert_text(PERFORMANCE_KEY, "Library", "x");
}

static void a_dry_run_removes_nothing(void **state)
{
    opl_load_options options = options_of();
    options.dry_run = true;
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_int_equal(opl_load_remove("MyPerf", &options, &result), ERROR_SUCCESS);
    assert_loaded("MyPerf", 1848, 1852);
}

static int free_all(void **state)
{
    buffer_done(&remarks);
    buffer_done(&written);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOAD_TEST(c102_the_numbers_go_and_the_rest_stays),
        LOAD_TEST(what_is_not_loaded_is_error_2),
        LOAD_TEST(what_a_package_says_is_deleted_from_behind),
        LOAD_TEST(what_was_written_by_hand_goes_too),
        LOAD_TEST(a_dry_run_removes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
