/* SPDX-License-Identifier: MIT */
/* Which libraries may be loaded: the owner and rights of the file and of every folder above it
 * decide. */
#include "host.h"

#include "../skip.h"

#include <sys/stat.h>

static char deep[128], file[160], why[TRUST_TEXT];

static int set_up(void **state)
{
    char folder[128];
    temp_make(test_root);
    snprintf(folder, sizeof folder, "%s/one", test_root);
    snprintf(deep, sizeof deep, "%s/one/two", test_root);
    snprintf(file, sizeof file, "%s/lib.so", deep);
    return mkdir(folder, 0755) || mkdir(deep, 0755) || (temp_write(deep, "lib.so", "x"), 0) ||
           chmod(file, 0755);
}

static int tear_down(void **state)
{
    temp_remove(test_root);
    return 0;
}

static const char *folder_one(void)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/one", test_root);
    return path;
}

static void expect_refusal(const char *path)
{
    assert_int_equal(trust_check(file, why), ERROR_ACCESS_DENIED);
    assert_non_null(strstr(why, path));
    assert_non_null(strstr(why, "chmod go-w"));
}

/* The user's own file below /tmp is trusted although everybody may write to /tmp: /tmp is sticky
 * and root's, so no other user can replace the user's folder in it. */
static void ones_own_file_is_trusted(void **state)
{
    assert_int_equal(trust_check(file, why), ERROR_SUCCESS);
}

static void a_file_that_others_may_write_is_not(void **state)
{
    chmod(file, 0775);
    expect_refusal(file);
    chmod(file, 0757);
    expect_refusal(file);
}

static void nor_is_one_in_such_a_folder(void **state)
{
    chmod(deep, 0775);
    expect_refusal(deep);
}

static void nor_is_one_far_below_such_a_folder(void **state)
{
    chmod(folder_one(), 0757);
    expect_refusal(folder_one());
    chmod(folder_one(), 0755);
    assert_int_equal(trust_check(file, why), ERROR_SUCCESS);
}

/* A sticky folder is trusted only if root owns it: the owner of a sticky folder may move every file
 * in it. */
static void a_sticky_folder_of_root_is_fine(void **state)
{
    chmod(folder_one(), 01777);
    if (geteuid() == 0)
        assert_int_equal(trust_check(file, why), ERROR_SUCCESS);
    else
        expect_refusal(folder_one());
}

static void another_owner_is_named(void **state)
{
    char number[16];
    if (geteuid() != 0 || chown(deep, 12345, (gid_t)-1) != 0) {
        report_skipped("only root gives files away");
        return;
    }
    snprintf(number, sizeof number, "%d", 12345);
    assert_int_equal(trust_check(file, why), ERROR_ACCESS_DENIED);
    assert_non_null(strstr(why, deep));
    assert_non_null(strstr(why, number));
}

static void a_missing_file_is_reported(void **state)
{
    unlink(file);
    assert_int_equal(trust_check(file, why), ERROR_FILE_NOT_FOUND);
    assert_non_null(strstr(why, file));
    assert_int_equal(trust_check("lib.so", why), ERROR_INVALID_PARAMETER);
}

static void f_c3_a_shipped_file_may_be_the_own_groups(void **state)
{
    chmod(file, 0664);
    expect_refusal(file);
    assert_int_equal(trust_check_shipped(file, why), ERROR_SUCCESS);
    chmod(file, 0666);
    assert_int_equal(trust_check_shipped(file, why), ERROR_ACCESS_DENIED);
    chmod(file, 0664);
    if (geteuid() != 0 || chown(file, (uid_t)-1, 12345) != 0)
        return;
    assert_int_equal(trust_check_shipped(file, why), ERROR_ACCESS_DENIED);
    assert_int_equal(chown(file, 12345, getegid()), 0);
    assert_int_equal(trust_check_shipped(file, why), ERROR_ACCESS_DENIED);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(ones_own_file_is_trusted),        CASE(a_file_that_others_may_write_is_not),
        CASE(nor_is_one_in_such_a_folder),     CASE(nor_is_one_far_below_such_a_folder),
        CASE(a_sticky_folder_of_root_is_fine), CASE(another_owner_is_named),
        CASE(a_missing_file_is_reported),      CASE(f_c3_a_shipped_file_may_be_the_own_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
