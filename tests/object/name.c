/* SPDX-License-Identifier: MIT */
/* Names of instances: characters that counter paths do not allow are replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include <openperflib/unstable.h>

static void assert_name(const char *name, bool is_path, const char *expected)
{
    char to[64];
    assert_int_equal(opl_sanitize_name(to, sizeof to, name, strlen(name), is_path),
                     strlen(expected));
    assert_string_equal(to, expected);
}

static void what_paths_give_a_meaning_to_is_replaced(void **state)
{
    assert_name("a\\b(c)d/e#f*g", false, "a_b[c]d_e_f_g");
    assert_name("tab\tline\nend\x1f", false, "tab_line_end_");
    assert_name("", false, "");
    /* all other ASCII characters, characters of other languages, and invalid bytes stay */
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
    assert_int_equal(opl_sanitize_name(to, sizeof to, "a\0b", 3, true), 3);
    assert_memory_equal(to, "a_b", 4);
}

static void what_does_not_fit_is_cut_between_characters(void **state)
{
    static const struct {
        const char *name;
        size_t capacity, bytes;
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
 /* continuation bytes without the beginning of a character */
        {"\x80\x80\x80\x80\x80\x80", 6, 5},
        {"\x80\x80",                 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char to[8] = "-------";
        size_t bytes =
            opl_sanitize_name(to, cases[i].capacity, cases[i].name, strlen(cases[i].name), 0);
        assert_int_equal(bytes, cases[i].bytes);
        assert_memory_equal(to, cases[i].name, bytes);
        assert_int_equal(to[bytes], cases[i].capacity ? 0 : '-');
        assert_int_equal(to[bytes + 1], '-'); /* nothing is written after the terminator */
    }
}

static void a_name_is_replaced_in_its_place(void **state)
{
    char name[] = "sd(a)/1";
    assert_int_equal(opl_sanitize_name(name, sizeof name, name, strlen(name), false), 7);
    assert_string_equal(name, "sd[a]_1");
}

static void assert_word(const char *word, const char *expected)
{
    char to[16];
    assert_int_equal(opl_octal_name(to, sizeof to, word, strlen(word)), strlen(expected));
    assert_string_equal(to, expected);
}

static void octal_digits_are_characters(void **state)
{
    assert_word("a\\040b\\011\\012\\134", "a b\t\n\\");
    assert_word("\\303\\251\\377", "\xc3\xa9\xff");
    assert_word("", "");
    /* each stays unchanged: too few digits, a number that is too large, no digits */
    assert_word("\\04", "\\04");
    assert_word("\\400\\08a\\", "\\400\\08a\\");
    assert_word("12345678901234567890", "123456789012345");
}

/* opl_octal_name decodes octal digits such as \040: it reads no more bytes than its last argument
 * says, writes no more than the capacity, and may write over its input. */
static void octal_digits_end_with_the_word(void **state)
{
    char to[8] = "-------", word[] = "x\\040y z";
    assert_int_equal(opl_octal_name(to, 3, "\\101\\102\\103", 12), 2);
    assert_memory_equal(to, "AB\0----", 8);
    assert_int_equal(opl_octal_name(to, sizeof to, "\\1012", 3), 3);
    assert_string_equal(to, "\\10");
    assert_int_equal(opl_octal_name(to, 0, "ab", 2), 0);
    assert_int_equal(opl_octal_name(word, sizeof word, word, 6), 3);
    assert_string_equal(word, "x y");
}

static void the_next_line_begins_behind_the_end_of_this(void **state)
{
    static const char text[] = "one\n\nthree";
    assert_ptr_equal(opl_next_line(text), text + 4);
    assert_ptr_equal(opl_next_line(text + 4), text + 5);
    assert_ptr_equal(opl_next_line(text + 5), text + 10);
    assert_ptr_equal(opl_next_line(text + 10), text + 10);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_paths_give_a_meaning_to_is_replaced),
        cmocka_unit_test(paths_of_files_keep_their_slashes),
        cmocka_unit_test(a_zero_in_the_middle_is_replaced),
        cmocka_unit_test(what_does_not_fit_is_cut_between_characters),
        cmocka_unit_test(a_name_is_replaced_in_its_place),
        cmocka_unit_test(octal_digits_are_characters),
        cmocka_unit_test(octal_digits_end_with_the_word),
        cmocka_unit_test(the_next_line_begins_behind_the_end_of_this),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
