/* SPDX-License-Identifier: MIT */
/* Tests of the merged view: layers, deletions, changes seen, trust, damage. */
#include "test.h"

const struct registry_tables registry_tables = {0};

static void nothing_written_yet_makes_no_folder(void **state)
{
    BUFFER_AUTO data = {0};
    assert_int_equal(registry_get(KEY, "x", NULL, &data), ERROR_FILE_NOT_FOUND);
    assert_int_equal(access(path_of("machine"), F_OK), -1);
    assert_int_equal(access(path_of("user"), F_OK), -1);
}

static void later_layers_and_files_win(void **state)
{
    put("vendor/data/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"vendor\"\n\"v\"=\"vendor\"\n");
    assert_text(KEY, "x", "vendor");
    put("machine/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"machine a\"\n");
    assert_text(KEY, "x", "machine a");
    put("machine/registry.d/b.reg", HEADER "[" KEY "]\n\"x\"=\"machine b\"\n");
    assert_text(KEY, "x", "machine b");
    put("machine/registry.d/manual.reg", HEADER "[" KEY "]\n\"x\"=\"machine manual\"\n");
    assert_text(KEY, "x", "machine manual");
    put("machine/registry.d/z.reg", HEADER "[" KEY "]\n\"x\"=\"machine z\"\n");
    assert_text(KEY, "x", "machine manual");
    put("user/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"user\"\n");
    assert_text(KEY, "x", "user");
    assert_text("hkey_local_machine\\software\\TEST", "X", "user");
    assert_text(KEY, "v", "vendor");
    unlink(path_of("user/registry.d/a.reg"));
    assert_text(KEY, "x", "machine manual");
}

static void deletions_hide_what_lies_below(void **state)
{
    put("vendor/data/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"1\"\n\"y\"=\"2\"\n"
                                               "[" KEY "\\Sub]\n\"z\"=\"3\"\n");
    put("machine/registry.d/manual.reg",
        HEADER "[" KEY "]\n\"x\"=-\n[-" KEY "\\Sub]\n[-" KEY "\\Never]\n");
    assert_text(KEY, "x", NULL);
    assert_text(KEY, "y", "2");
    assert_text(KEY "\\Sub", "z", NULL);
    put("user/registry.d/a.reg", HEADER "[" KEY "\\Sub]\n\"new\"=\"4\"\n");
    assert_text(KEY "\\Sub", "new", "4");
    assert_text(KEY "\\Sub", "z", NULL);
}

static bool add_name(void *self, const char *name)
{
    buffer_add_text(self, name);
    return buffer_add_byte(self, ' ');
}

static bool add_value(void *self, const struct registry_value *value)
{
    return buffer_printf(self, "%s:%u:%zu ", value->name, (unsigned)value->type, value->size);
}

static void keys_are_ordered_and_values_keep_their_order(void **state)
{
    BUFFER_AUTO keys = {0}, values = {0};
    put("machine/registry.d/a.reg",
        HEADER "[" KEY "\\beta]\n[" KEY "\\Alpha]\n[" KEY "\\ALPHA\\below]\n[" KEY "\\_]\n"
               "[" KEY "]\n\"z\"=dword:1\n@=\"d\"\n\"a\"=hex:01,02\n\"Z\"=dword:2\n");
    assert_int_equal(registry_each_key(KEY, add_name, &keys), ERROR_SUCCESS);
    assert_string_equal(keys.data, "Alpha beta _ ");
    assert_int_equal(registry_each_value(KEY, add_value, &values), ERROR_SUCCESS);
    assert_string_equal(values.data, "z:4:4 :1:2 a:3:2 ");
    assert_int_equal(registry_each_key(KEY "\\none", add_name, &keys), ERROR_FILE_NOT_FOUND);
}

static void the_generation_follows_the_files(void **state)
{
    put("machine/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"1\"\n");
    uint64_t first = registry_generation();
    assert_int_equal(registry_generation(), first);
    put("machine/registry.d/b.reg", HEADER "[" KEY "]\n\"x\"=\"2\"\n");
    uint64_t second = registry_generation();
    assert_int_not_equal(second, first);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "x", REG_SZ, "3", 2), ERROR_SUCCESS);
    assert_int_not_equal(registry_generation(), second);
    usleep(60 * 1000); /* the folder settles: only looked at from now on */
    second = registry_generation();
    assert_int_equal(registry_generation(), second);
    put("machine/registry.d/b.reg", HEADER "[" KEY "]\n\"other\"=\"2\"\n"); /* in place */
    usleep(1100 * 1000);
    assert_int_not_equal(registry_generation(), second);
    assert_text(KEY, "other", "2");
}

static void the_users_number_is_the_user(void **state)
{
    char text[256];
    snprintf(text, sizeof text, HEADER "[%s\\Test]\n\"x\"=\"own\"\n", path_users_own());
    put("user/registry.d/a.reg", text);
    assert_text(USER_KEY, "x", "own");
}

/* ---- trust ---- */

static void a_file_that_others_may_write_is_ignored_and_named(void **state)
{
    put("machine/registry.d/good.reg", HEADER "[" KEY "]\n\"x\"=\"good\"\n");
    put("machine/registry.d/loose.reg", HEADER "[" KEY "]\n\"x\"=\"loose\"\n");
    chmod(path_of("machine/registry.d/loose.reg"), 0664);
    assert_text(KEY, "x", "good");
    assert_file_has("events", "4001\t");
    assert_file_has("events", "loose.reg");
    chmod(path_of("machine/registry.d/loose.reg"), 0644);
    usleep(1100 * 1000);
    assert_text(KEY, "x", "loose");
}

static void a_folder_that_others_may_write_is_ignored(void **state)
{
    put("user/registry.d/a.reg", HEADER "[" USER_KEY "]\n\"x\"=\"1\"\n");
    chmod(path_of("user/registry.d"), 0777);
    assert_text(USER_KEY, "x", NULL);
    assert_file_has("events", "4001\t");
    assert_int_equal(registry_set(LAYER_USER, USER_KEY, "x", REG_SZ, "2", 2), ERROR_ACCESS_DENIED);
    chmod(path_of("user/registry.d"), 0755);
    assert_text(USER_KEY, "x", "1");
}

static void who_may_own_a_file(void **state)
{
    struct stat st = {.st_uid = geteuid(), .st_mode = S_IFREG | 0644};
    assert_true(layer_trusts(LAYER_USER, &st));
    assert_true(layer_trusts(LAYER_MACHINE, &st));
    st.st_uid = geteuid() + 4711;
    assert_false(layer_trusts(LAYER_USER, &st));
    assert_false(layer_trusts(LAYER_MACHINE, &st));
    st.st_uid = 0;
    assert_true(layer_trusts(LAYER_MACHINE, &st));
    assert_int_equal(layer_trusts(LAYER_USER, &st), geteuid() == 0);
    st.st_mode |= S_IWOTH;
    assert_false(layer_trusts(LAYER_MACHINE, &st));
    assert_false(layer_trusts(LAYER_VENDOR, &st));
}

static void a_build_tree_of_a_group_is_as_good_as_its_library(void **state)
{
    struct stat st = {.st_uid = geteuid(), .st_mode = S_IFREG | 0664};
    assert_true(layer_trusts(LAYER_VENDOR, &st));
    assert_false(layer_trusts(LAYER_MACHINE, &st));
    assert_false(layer_trusts(LAYER_USER, &st));
    st.st_uid = geteuid() + 4711;
    assert_false(layer_trusts(LAYER_VENDOR, &st));
}

static void what_is_no_file_is_passed_over(void **state)
{
    put("machine/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"1\"\n");
    put("machine/registry.d/.hidden.reg", HEADER "[" KEY "]\n\"x\"=\"2\"\n");
    put("machine/registry.d/b.reg.bak", HEADER "[" KEY "]\n\"x\"=\"3\"\n");
    mkdir(path_of("machine/registry.d/c.reg"), 0755);
    mkfifo(path_of("machine/registry.d/d.reg"), 0644);
    assert_int_equal(symlink("nowhere", path_of("machine/registry.d/e.reg")), 0);
    assert_text(KEY, "x", "1");
    assert_file_has("events", "4002\t");
}

/* ---- damage ---- */

static void a_damaged_line_is_named_and_costs_only_itself(void **state)
{
    put("machine/registry.d/a.reg",
        HEADER "[" KEY "]\n\"a\"=\"1\"\n\"b\"=\"no end\n\"c\"=dword:xyz\n"
               "garbage\n\"d\"=\"4\"\n[NO_ROOT\\x]\n\"lost\"=\"5\"\n"
               "[" KEY "\\Next]\n\"e\"=\"6\"\n");
    assert_text(KEY, "a", "1");
    assert_text(KEY, "b", NULL);
    assert_text(KEY, "c", NULL);
    assert_text(KEY, "d", "4");
    assert_text(KEY, "lost", NULL);
    assert_text(KEY "\\Next", "e", "6");
    assert_file_has("events", "a.reg\tline 5: the closing quotation mark is missing");
    assert_file_has("events", "line 6: a dword");
    assert_file_has("events", "line 7: the line is neither");
    assert_file_has("events", "line 9: the key does not begin");
    assert_file_has("events", "line 10: the value belongs to no key");
}

static void a_damaged_line_survives_a_write_as_a_remark(void **state)
{
    put("machine/registry.d/manual.reg",
        HEADER "; by hand\n[" KEY "]\n\"a\"=\"1\"\nbroken line\n\"b\"=\"2\"\n");
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "c", REG_SZ, "3", 2), ERROR_SUCCESS);
    assert_text(KEY, "a", "1");
    assert_text(KEY, "b", "2");
    assert_text(KEY, "c", "3");
    assert_file_has("machine/registry.d/manual.reg", "; by hand\n");
    assert_file_has("machine/registry.d/manual.reg", "broken line");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROOT_TEST(nothing_written_yet_makes_no_folder),
        ROOT_TEST(later_layers_and_files_win),
        ROOT_TEST(deletions_hide_what_lies_below),
        ROOT_TEST(keys_are_ordered_and_values_keep_their_order),
        ROOT_TEST(the_generation_follows_the_files),
        ROOT_TEST(the_users_number_is_the_user),
        ROOT_TEST(a_file_that_others_may_write_is_ignored_and_named),
        ROOT_TEST(a_folder_that_others_may_write_is_ignored),
        ROOT_TEST(who_may_own_a_file),
        ROOT_TEST(a_build_tree_of_a_group_is_as_good_as_its_library),
        ROOT_TEST(what_is_no_file_is_passed_over),
        ROOT_TEST(a_damaged_line_is_named_and_costs_only_itself),
        ROOT_TEST(a_damaged_line_survives_a_write_as_a_remark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
