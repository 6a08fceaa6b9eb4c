/* SPDX-License-Identifier: MIT */
/* Tests of opl_reg_import: a file is imported completely or not at all. */
#include "test.h"
#include "registry/key.h"

#include <openperflib/regfile.h>
#include <winreg.h>

struct reported {
    unsigned count, line;
    LSTATUS status;
};

static void note(void *self, const opl_reg_entry *entry, LSTATUS status)
{
    struct reported *reported = self;
    reported->count++;
    reported->line = entry->line;
    reported->status = status;
}

static struct reported reported;

static LSTATUS import(const char *text)
{
    reported = (struct reported){0};
    return opl_reg_import(text, strlen(text), OPL_REG_STRICT_HEADER, note, &reported);
}

static void every_kind_of_line_counts_in_its_order(void **state)
{
    assert_int_equal(import(HEADER "[" KEY "]\n\"x\"=\"1\"\n\"y\"=\"2\"\n[" KEY "\\Sub]\n"
                                   "\"z\"=\"3\"\n[" KEY "\\Empty]\n[" USER_KEY "]\n\"u\"=\"4\"\n"),
                     ERROR_SUCCESS);
    assert_int_equal(reported.count, 0);
    assert_text(KEY, "x", "1");
    assert_text(KEY "\\Sub", "z", "3");
    assert_text(USER_KEY, "u", "4");
    assert_int_equal(access(path_of("user/registry.d/manual.reg"), F_OK), 0);
    HKEY key;
    assert_int_equal(key_open(HKEY_LOCAL_MACHINE, "SOFTWARE\\Test\\Empty", KEY_READ, &key), 0);
    key_close(key);
    assert_int_equal(import(HEADER "[" KEY "]\n\"x\"=-\n\"never\"=-\n[-" KEY "\\Sub]\n[-" KEY
                                   "\\Never]\n[" KEY "\\Sub]\n\"new\"=\"5\"\n"),
                     ERROR_SUCCESS);
    assert_text(KEY, "x", NULL);
    assert_text(KEY, "y", "2");
    assert_text(KEY "\\Sub", "z", NULL);
    assert_text(KEY "\\Sub", "new", "5");
}

static void what_a_package_says_is_deleted_too(void **state)
{
    put("vendor/data/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"vendor\"\n[" KEY "\\Sub]\n"
                                               "\"z\"=\"vendor\"\n");
    assert_int_equal(import(HEADER "[" KEY "]\n\"x\"=-\n[-" KEY "\\Sub]\n"), ERROR_SUCCESS);
    assert_text(KEY, "x", NULL);
    assert_text(KEY "\\Sub", "z", NULL);
}

/* One value of the file, for the machine's layer, would be hidden by a value of the user's layer,
 * so it is refused, and with it the whole file. */
static void all_or_nothing(void **state)
{
    put("user/registry.d/a.reg", HEADER "[" KEY "]\n\"y\"=\"user\"\n");
    assert_int_equal(import(HEADER "[" KEY "]\n\"x\"=\"1\"\n\"y\"=\"2\"\n\"z\"=\"3\"\n"),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(reported.count, 1);
    assert_int_equal(reported.status, ERROR_ACCESS_DENIED);
    assert_int_equal(reported.line, 5);
    assert_text(KEY, "x", NULL);
    assert_int_equal(access(path_of("machine/registry.d/manual.reg"), F_OK), -1);
}

static void a_damaged_line_costs_only_itself(void **state)
{
    assert_int_equal(import(HEADER "[" KEY "]\n\"x\"=dw\n\"y\"=\"2\"\n"), ERROR_SUCCESS);
    assert_int_equal(reported.count, 1);
    assert_int_equal(reported.status, ERROR_INVALID_DATA);
    assert_int_equal(reported.line, 4);
    assert_text(KEY, "y", "2");
    assert_int_equal(import("no header\n"), ERROR_NOT_REGISTRY_FILE);
}

static void old_handles_of_deleted_keys_know_it(void **state)
{
    HKEY key;
    DWORD type, size = 0;
    assert_int_equal(import(HEADER "[" KEY "\\Sub]\n\"x\"=\"1\"\n"), ERROR_SUCCESS);
    assert_int_equal(key_open(HKEY_LOCAL_MACHINE, "SOFTWARE\\Test\\Sub", KEY_READ, &key), 0);
    assert_int_equal(import(HEADER "[-" KEY "]\n"), ERROR_SUCCESS);
    assert_int_equal(key_query(key, "x", false, &type, NULL, &size), ERROR_KEY_DELETED);
    key_close(key);
}

static void an_empty_file_writes_nothing(void **state)
{
    assert_int_equal(import(HEADER), ERROR_SUCCESS);
    assert_int_equal(access(path_of("machine"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_kind_of_line_counts_in_its_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_package_says_is_deleted_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_or_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_line_costs_only_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_handles_of_deleted_keys_know_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_file_writes_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("registry-import", tests, NULL, NULL);
}
