/* SPDX-License-Identifier: MIT */
/* Tests of base/text.c. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

static void words_end_at_blanks(void **state)
{
    const char *cursor = " \t2  Foreign\tx ", *word;
    size_t count;
    word = text_word(&cursor, &count);
    assert_int_equal(count, 1);
    assert_memory_equal(word, "2", 1);
    word = text_word(&cursor, &count);
    assert_int_equal(count, 7);
    assert_memory_equal(word, "Foreign", 7);
    word = text_word(&cursor, &count);
    assert_memory_equal(word, "x", 1);
    assert_null(text_word(&cursor, &count));
    assert_int_equal(count, 0);
    assert_null(text_word(&cursor, &count));
}

static void numbers_are_whole_or_none(void **state)
{
    static const struct {
        const char *text;
        bool decimal, hex;
        uint32_t decimal_value, hex_value;
    } cases[] = {
        {"0",                          true,  true,  0,           0          },
        {"009",                        true,  true,  9,           9          },
        {"4294967295",                 true,  false, 4294967295u, 0          },
        {"4294967296",                 false, false, 0,           0          },
        {"99999999999999999999999999", false, false, 0,           0          },
        {"00C",                        false, true,  0,           12         },
        {"ffffFFFF",                   false, true,  0,           0xffffffffu},
        {"",                           false, false, 0,           0          },
        {"-1",                         false, false, 0,           0          },
        {"+1",                         false, false, 0,           0          },
        {"1 ",                         false, false, 0,           0          },
        {"0x9",                        false, false, 0,           0          },
        {"g",                          false, false, 0,           0          },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t count = strlen(cases[i].text);
        uint32_t value = 77;
        assert_int_equal(text_decimal(cases[i].text, count, &value), cases[i].decimal);
        assert_int_equal(value, cases[i].decimal ? cases[i].decimal_value : 77);
        value = 77;
        assert_int_equal(text_hex(cases[i].text, count, &value), cases[i].hex);
        assert_int_equal(value, cases[i].hex ? cases[i].hex_value : 77);
    }
}

static void prefixes_know_no_case(void **state)
{
    assert_true(text_starts_fold("counter 009", "Counter"));
    assert_true(text_starts_fold("Counter", "Counter"));
    assert_false(text_starts_fold("Counte", "Counter"));
    assert_false(text_starts_fold("", "Counter"));
    assert_true(text_equal_fold("GLOBAL", "Global"));
    assert_false(text_equal_fold("Globa", "Global"));
}

static void multi_strings_stay_inside(void **state)
{
    static const char text[] = "1\0two\0\0behind";
    const char *cursor = text;
    assert_string_equal(text_multi_next(&cursor, text + sizeof text), "1");
    assert_string_equal(text_multi_next(&cursor, text + sizeof text), "two");
    assert_null(text_multi_next(&cursor, text + sizeof text));
    assert_null(text_multi_next(&cursor, text + sizeof text));
    cursor = text;
    assert_null(text_multi_next(&cursor, text));     /* an empty list */
    assert_null(text_multi_next(&cursor, text + 1)); /* "1" without the NUL that ends it */
    assert_ptr_equal(cursor, text);
}

static void buffers_grow_and_stay(void **state)
{
    BUFFER_AUTO buffer = {0};
    for (int i = 0; i < 1000; i++)
        assert_true(buffer_printf(&buffer, "%d,", i));
    assert_int_equal(buffer.len, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(buffer.data[buffer.len], 0);
    char *before = buffer.data;
    buffer_clear(&buffer);
    assert_int_equal(buffer.len, 0);
    assert_true(buffer_add(&buffer, "a\0b", 3));
    assert_true(buffer_add_byte(&buffer, 'c'));
    assert_true(buffer_add_text(&buffer, "d"));
    assert_true(buffer_add(&buffer, NULL, 0));
    assert_ptr_equal(buffer.data, before);
    assert_memory_equal(buffer.data, "a\0bcd", 6);
    assert_int_equal(buffer_status(&buffer), ERROR_SUCCESS);
}

static void a_failed_buffer_stays_failed(void **state)
{
    BUFFER_AUTO buffer = {0};
    assert_true(buffer_add_text(&buffer, "kept"));
    assert_false(buffer_reserve(&buffer, SIZE_MAX - 2));
    assert_false(buffer_reserve(&buffer, SIZE_MAX));
    assert_false(buffer_add_text(&buffer, "x"));
    assert_false(buffer_printf(&buffer, "x"));
    assert_int_equal(buffer_status(&buffer), ERROR_NOT_ENOUGH_MEMORY);
    assert_string_equal(buffer.data, "kept");
    buffer_clear(&buffer);
    assert_true(buffer_add_text(&buffer, "again"));
}

static void format_allocates(void **state)
{
    FREE_AUTO char *text = text_format("%s-%d", "a", 5);
    assert_string_equal(text, "a-5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_end_at_blanks),   cmocka_unit_test(numbers_are_whole_or_none),
        cmocka_unit_test(prefixes_know_no_case), cmocka_unit_test(multi_strings_stay_inside),
        cmocka_unit_test(buffers_grow_and_stay), cmocka_unit_test(a_failed_buffer_stays_failed),
        cmocka_unit_test(format_allocates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
