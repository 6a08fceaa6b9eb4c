/* SPDX-License-Identifier: MIT */
/* Services are removed: which of their values are removed, which stay, and what happens to values
 * in other registry files. */
#include "test.h"

static void c102_the_numbers_go_and_the_rest_stays(void **state)
{
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    uint32_t disabled = 1;
    assert_int_equal(registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Disable Performance Counters",
                                  REG_DWORD, &disabled, sizeof disabled),
                     ERROR_SUCCESS);
    assert_int_equal(unload("myperf"), ERROR_SUCCESS); /* the name in any letter case */
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
    assert_int_equal(unload("Absent"), ERROR_FILE_NOT_FOUND);
    assert_remark("Absent: there is no such service");
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

/* A package's file is not changed: a deletion in another file hides its numbers and texts. If the
 * service is loaded again, it gets new ones. */
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

/* Numbers that were written with reg add are removed, too. */
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

/* ---- a user's service, and its state in the machine's registry files ---- */

static DWORD unload_users(bool record)
{
    opl_load_options options = options_of();
    options.user = true;
    options.library = record ? "" : NULL;
    return opl_load_remove("MyPerf", &options, &result);
}

static void load_users_with_state(void)
{
    static const char quarantine[] = "until 2999-01-01T00:00:00Z (first quarantine): it crashed";
    opl_load_options options = options_of();
    uint32_t number = 1;
    options.user = true;
    options.library = LIBRARY_PATH;
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_with("my.ini", options), ERROR_SUCCESS);
    const char *const numbers[] = {"Error Count", "Disable Performance Counters"};
    for (size_t i = 0; i < COUNT(numbers); i++)
        assert_int_equal(registry_set(LAYER_MACHINE, PERFORMANCE_KEY, numbers[i], REG_DWORD,
                                      &number, sizeof number),
                         ERROR_SUCCESS);
    assert_int_equal(registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Quarantine", REG_SZ, quarantine,
                                  sizeof quarantine),
                     ERROR_SUCCESS);
}

static bool none(void *self, const struct registry_value *value)
{
    return true;
}

static void state_in_the_machines_layer_goes_too(void **state)
{
    load_users_with_state();
    assert_int_equal(unload_users(true), ERROR_SUCCESS);
    assert_int_equal(registry_each_value(PERFORMANCE_KEY, none, NULL), ERROR_FILE_NOT_FOUND);
    assert_int_equal(registry_each_value(SERVICE_KEY, none, NULL), ERROR_FILE_NOT_FOUND);
    assert_string_equal(remarks.data ? remarks.data : "", "");
}

/* What an administrator wrote stays, and a remark names it: settings, and that the service is
 * disabled. Perflib has not written these values. */
static void settings_for_the_machine_stay_and_are_named(void **state)
{
    load_users_with_state();
    assert_int_equal(registry_delete_value(LAYER_MACHINE, PERFORMANCE_KEY, "Quarantine"),
                     ERROR_SUCCESS);
    assert_int_equal(unload_users(false), ERROR_SUCCESS);
    assert_text(PERFORMANCE_KEY, "Library", LIBRARY_PATH);
    assert_int_equal(number_of("MyPerf", "Error Count"), 0);
    assert_no_remark("still has");
    assert_int_equal(unload_users(true), ERROR_SUCCESS);
    assert_int_equal(number_of("MyPerf", "Disable Performance Counters"), 1);
    assert_remark(
        "MyPerf: the machine's registry still has \"Disable Performance Counters\" for it;");
    assert_remark("reg delete 'HKLM\\SYSTEM\\CurrentControlSet\\Services\\MyPerf\\Performance' /f");
}

static void state_that_may_not_be_deleted_is_named(void **state)
{
    enum { NOBODY = 65534 };
    load_users_with_state();
    if (geteuid() == 0) {
        char command[160];
        snprintf(command, sizeof command, "chown -R %d '%s/user'", NOBODY, test_root);
        assert_int_equal(system(command), 0);
        assert_int_equal(chmod(test_root, 0755), 0);
        assert_int_equal(seteuid(NOBODY), 0);
    } else {
        assert_int_equal(chmod(path_of("machine/registry.d"), 0555), 0);
    }
    store_forget();
    DWORD status = unload_users(false);
    assert_int_equal(geteuid() == NOBODY && getuid() == 0 ? seteuid(0) : 0, 0);
    assert_int_equal(chmod(path_of("machine/registry.d"), 0755), 0);
    assert_int_equal(status, ERROR_SUCCESS);
    assert_remark(
        "the machine's registry still has \"Error Count\", \"Quarantine\" for it; to delete "
        "that, run with the right to write there");
}

/* The machine's registry files have state of the service (a quarantine, failures), which values in
 * the user's files hide. This state is removed, too, because it would become visible when the
 * user's registration is gone. */
static void masked_state_goes_too(void **state)
{
    static const char masks[] =
        HEADER "[" PERFORMANCE_KEY "]\n\"Quarantine\"=-\n\"Error Count\"=-\n"
               "\"Disable Performance Counters\"=dword:00000000\n";
    load_users_with_state();
    put("user/registry.d/manual.reg", masks);
    assert_int_equal(number_of("MyPerf", "Disable Performance Counters"), 0);
    assert_int_equal(unload_users(true), ERROR_SUCCESS);
    assert_int_equal(registry_each_value(PERFORMANCE_KEY, none, NULL), ERROR_FILE_NOT_FOUND);
    assert_string_equal(remarks.data ? remarks.data : "", "");
}

/* The service is also registered for the machine: when the user's registration is removed, the
 * state (quarantine, failures) of the machine's registration stays. */
static void state_of_the_machines_own_stays(void **state)
{
    assert_int_equal(registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Library", REG_SZ, "x", 2),
                     ERROR_SUCCESS);
    load_users_with_state();
    assert_int_equal(unload_users(false), ERROR_SUCCESS);
    assert_int_equal(number_of("MyPerf", "Error Count"), 1);
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
        LOAD_TEST(state_in_the_machines_layer_goes_too),
        LOAD_TEST(masked_state_goes_too),
        LOAD_TEST(settings_for_the_machine_stay_and_are_named),
        LOAD_TEST(state_that_may_not_be_deleted_is_named),
        LOAD_TEST(state_of_the_machines_own_stays),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
