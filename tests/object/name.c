/* SPDX-License-Identifier: MIT */
/* Names that can stand in a counter's path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include <openperflib/object.h>

static void assert_name(const char *name, bool is_path, const char *expected)
{
    char to[64];
    assert_int_equal(opl_harmless_name(to, sizeof to, name, strlen(name), is_path),
                     strlen(expected));
    assert_string_equal(to, expected);
}

static void what_paths_give_a_meaning_to_is_replaced(void **state)
{
    assert_name("a\\b(c)d/e#f*g", false, "a_b[c]d_e_f_g");
    assert_name("tab\tline\nend\x1f", false, "tab_line_end_");
    assert_name("", false, "");
    /* all other characters of ASCII, those of other languages, and bytes that are none */
    assert_name(" !\"$%&'+,-.0:;<=>?@A[]^_`{|}~\x7f", false, " !\"$%&'+,-.0:;<=>?@A[]^_`{|}~\x7f");
    assert_name("caf\xc3\xa9 \xff\xfe", false, "caf\xc3\xa9 \xff\xfe");
}

static void paths_of_files_keep_their_slashes(void **state)
{
    assert_name("/srv/a(1)/b#\\*", true, "/srv/a[1]/b___");
    assert_name("/", true, "/");
}

static void a_zero_in_the_middle_is_replaced(void **state)
{
    char to[8];
    assert_int_equal(opl_harmless_name(to, sizeof to, "a\0b", 3, true), 3);
    assert_memory_equal(to, "a_b", 4);
}

static void what_has_no_room_is_cut_between_characters(void **state)
{
    static const struct {
        const char *name;
        size_t room, bytes;
    } cases[] = {
        {"abcd",                     5, 4},
        {"abcd",                     4, 3},
        {"abcd",                     1, 0},
        {"abcd",                     0, 0},
        {"ab\xc3\xa9",               4, 2},
        {"ab\xc3\xa9",               5, 4},
        {"a\xe2\x82\xac",            3, 1},
        {"a\xe2\x82\xac",            4, 1},
        {"a\xf0\x9f\x98\x80",        5, 1},
        {"a\xf0\x9f\x98\x80",        6, 5},
        {"\x80\x80\x80\x80\x80\x80", 6, 5}, /* no characters */
        {"\x80\x80",                 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char to[8] = "-------";
        size_t bytes =
            opl_harmless_name(to, cases[i].room, cases[i].name, strlen(cases[i].name), 0);
        assert_int_equal(bytes, cases[i].bytes);
        assert_memory_equal(to, cases[i].name, bytes);
        assert_int_equal(to[bytes], cases[i].room ? 0 : '-');
        assert_int_equal(to[bytes + 1], '-'); /* nothing is written behind it */
    }
}

static void a_name_is_replaced_in_its_place(void **state)
{
    char name[] = "sd(a)/1";
    assert_int_equal(opl_harmless_name(name, sizeof name, name, strlen(name), false), 7);
    assert_string_equal(name, "sd[a]_1");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_paths_give_a_meaning_to_is_replaced),
        cmocka_unit_test(paths_of_files_keep_their_slashes),
        cmocka_unit_test(a_zero_in_the_middle_is_replaced),
        cmocka_unit_test(what_has_no_room_is_cut_between_characters),
        cmocka_unit_test(a_name_is_replaced_in_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
