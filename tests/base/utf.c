/* SPDX-License-Identifier: MIT */
/* Tests of base/text.c: UTF-8 and UTF-16. */
#include "test.h"

#include <string.h>

static void check_to_16(const char *text, const uint16_t *expected, size_t count)
{
    uint16_t units[16];
    memset(units, 0x55, sizeof units);
    assert_int_equal(utf8_to_16(text, strlen(text), NULL, 0), count);
    assert_int_equal(utf8_to_16(text, strlen(text), units, COUNT(units)), count);
    assert_memory_equal(units, expected, count * sizeof units[0]);
    assert_int_equal(units[count], 0x5555);
}
#define TO_16(text, ...)                                                                           \
    check_to_16(text, (const uint16_t[]){__VA_ARGS__}, COUNT(((const uint16_t[]){__VA_ARGS__})))

static void every_width_converts(void **state)
{
    TO_16("aé€", 'a', 0xe9, 0x20ac);
    TO_16("\xf0\x9f\x98\x80", 0xd83d, 0xde00);
    TO_16("\xf4\x8f\xbf\xbf", 0xdbff, 0xdfff);
}

static void each_invalid_byte_is_replaced(void **state)
{
    TO_16("\x80z", 0xfffd, 'z');
    TO_16("\xc0\x80", 0xfffd, 0xfffd);                         /* overlong */
    TO_16("\xe0\x80\x80", 0xfffd, 0xfffd, 0xfffd);             /* overlong */
    TO_16("\xf4\x90\x80\x80", 0xfffd, 0xfffd, 0xfffd, 0xfffd); /* above 10FFFF */
    TO_16("\xe2\x82", 0xfffd, 0xfffd);                         /* the last byte is missing */
    TO_16("\xe2(", 0xfffd, '(');
    TO_16("\xff", 0xfffd);
    assert_false(utf8_valid("\xe2\x82", 2));
    assert_false(utf8_valid("a\xff", 2));
    assert_true(utf8_valid("aé\0€", 7));
}

/* An empty text may be given as NULL. The functions must not add an offset to it, because clang's
 * sanitizer reports this. */
static void empty_text_may_be_null(void **state)
{
    struct buffer units = {0};
    assert_true(utf8_valid(NULL, 0));
    assert_int_equal(utf8_to_16(NULL, 0, NULL, 0), 0);
    assert_int_equal(utf16_to_8(NULL, 0, NULL, 0), 0);
    assert_true(utf8_add_as_16(&units, NULL, 0));
    assert_int_equal(units.len, 0);
    buffer_done(&units);
}

static void lone_surrogates_survive(void **state)
{
    static const uint16_t odd[] = {0xd800, 'a', 0xdc00, 0xd83d, 0xde00, 0xdbff};
    char text[32];
    uint16_t back[8];
    size_t count = utf16_to_8(odd, COUNT(odd), text, sizeof text);
    assert_int_equal(count, 3 + 1 + 3 + 4 + 3);
    assert_true(utf8_valid(text, count));
    assert_int_equal(utf8_to_16(text, count, back, COUNT(back)), COUNT(odd));
    assert_memory_equal(back, odd, sizeof odd);
}

static void space_is_never_exceeded(void **state)
{
    char text[4] = {9, 9, 9, 9};
    uint16_t units[2] = {7, 7};
    assert_int_equal(utf16_to_8((const uint16_t[]){0x20ac, 'b'}, 2, text, 2), 4);
    assert_int_equal(text[2], 9);
    assert_int_equal(utf8_to_16("\xf0\x9f\x98\x80", 4, units, 1), 2);
    assert_int_equal(units[0], 0xd83d);
    assert_int_equal(units[1], 7);
}

static void misaligned_text_is_read(void **state)
{
    char bytes[7] = {0}, text[8];
    memcpy(bytes + 1, (const uint16_t[]){'o', 'k', 0xe9}, 6);
    assert_int_equal(utf16_to_8(bytes + 1, 3, text, sizeof text), 4);
    assert_memory_equal(text, "oké", 4);
}

static void buffers_take_both_forms(void **state)
{
    BUFFER_AUTO buffer = {0};
    char text[700];
    assert_true(buffer_add_byte(&buffer, 'x')); /* makes the following text misaligned */
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "a\xf0\x9f\x98\x80q\xff"[i % 7];
    assert_true(utf8_add_as_16(&buffer, text, sizeof text));
    assert_int_equal(buffer.len, 1 + 100 * 5 * 2);
    uint16_t units[500];
    memcpy(units, buffer.data + 1, sizeof units);
    buffer_clear(&buffer);
    assert_true(utf16_add_as_8(&buffer, units, COUNT(units)));
    assert_int_equal(buffer.len, 100 * (1 + 4 + 1 + 3));
    assert_memory_equal(buffer.data + 9, "a\xf0\x9f\x98\x80q\xef\xbf\xbd", 9);
    assert_int_equal(utf16_length(u"abc"), 3);
}

static void upper_is_the_simple_fold(void **state)
{
    static const uint32_t pairs[][2] = {
        {'a',      'A'     },
        {'z',      'Z'     },
        {'{',      '{'     },
        {0xe4,     0xc4    },
        {0xdf,     0xdf    },
        {0xff,     0x178   },
        {0x101,    0x100   },
        {0x100,    0x100   },
        {0x3c2,    0x3a3   },
        {0x436,    0x416   },
        {0x1c6,    0x1c4   },
        {0x1fb3,   0x1fbc  },
        {0x1f50,   0x1f50  },
        {0xab70,   0x13a0  },
        {0x10428,  0x10400 },
        {0xfffd,   0xfffd  },
        {0xd800,   0xd800  },
        {0xf7,     0xf7    },
        {0x4e00,   0x4e00  },
        {0x10ffff, 0x10ffff},
    };
    for (size_t i = 0; i < COUNT(pairs); i++)
        assert_int_equal(unicode_upper(pairs[i][0]), pairs[i][1]);
    /* the upper case of an upper-case letter is the letter itself */
    for (uint32_t code = 0; code < 0x110000; code++)
        if (unicode_upper(unicode_upper(code)) != unicode_upper(code))
            fail_msg("U+%04X", code);
}

static void comparing_orders_by_fold(void **state)
{
    assert_int_equal(text_compare_fold("straße ПРИВЕТ", "STRAßE привет"), 0);
    assert_true(text_compare_fold("a", "B") < 0);
    /* letters are compared as upper case, so '_' comes after all letters: it is between 'Z' and
     * 'a' */
    assert_true(text_compare_fold("_", "A") > 0);
    assert_true(text_compare_fold("ab", "a") > 0);
    assert_true(text_compare_fold("", "a") < 0);
    assert_int_equal(text_compare_fold_n("abX", 2, "ABY", 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_converts),     cmocka_unit_test(each_invalid_byte_is_replaced),
        cmocka_unit_test(empty_text_may_be_null),   cmocka_unit_test(lone_surrogates_survive),
        cmocka_unit_test(space_is_never_exceeded),  cmocka_unit_test(misaligned_text_is_read),
        cmocka_unit_test(buffers_take_both_forms),  cmocka_unit_test(upper_is_the_simple_fold),
        cmocka_unit_test(comparing_orders_by_fold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
