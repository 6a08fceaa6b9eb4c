/* SPDX-License-Identifier: MIT */
/* Tests of log/formats/number.c: the same text as printf, the same number as strtod, for numbers of
 * all sizes. The argument is how many random numbers are tried. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "log/log.h"

static int random_count = 200000;
static uint64_t seed = UINT64_C(88172645463325252);

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Random numbers of several kinds: any bits; rates; counts; numbers that end in a half, where
 * rounding is difficult; large products. */
static double random_number(int kind)
{
    uint64_t bits = next_random();
    double number;
    switch (kind % 6) {
    case 0:
        memcpy(&number, &bits, sizeof(number));
        return number;
    case 1:
        return (double)(bits >> 11) / (double)(1 + (next_random() >> 40));
    case 2:
        return (double)(int64_t)bits / (double)(UINT64_C(1) << next_random() % 31);
    case 3:
        return (double)(bits % 1000000) / 1000;
    case 4:
        return (double)bits * (double)(next_random() % 1000);
    default:
        return (double)(bits >> 20) * 0.5 + (double)(next_random() % 64) / 64;
    }
}

static void check_text(const char *format, double number, const char *text, size_t length)
{
    char expected[NUMBER_FIXED_SIZE + 1];
    int count = snprintf(expected, sizeof(expected), format, number);
    if ((size_t)count != length || memcmp(expected, text, length) != 0)
        fail_msg("%s: %s became %.*s", format, expected, (int)length, text);
}

static void check_back(double number, const char *text, size_t length)
{
    double back = 0;
    if (!isfinite(number))
        return;
    if (!number_parse(text, length, &back) || memcmp(&back, &number, sizeof(back)) != 0)
        fail_msg("%.*s was read as %.17g", (int)length, text, back);
}

static void check(double number)
{
    char text[NUMBER_FIXED_SIZE];
    size_t length = number_shortest17(number, text);
    assert_true(length <= NUMBER_SIZE);
    check_text("%.17g", number, text, length);
    check_back(number, text, length);
    length = number_fixed6(number, text);
    assert_true(length <= NUMBER_FIXED_SIZE);
    check_text("%f", number, text, length);
}

static void random_numbers_have_printfs_text(void **state)
{
    (void)state;
    for (int i = 0; i < random_count; i++)
        check(random_number(i));
}

static void borders_have_printfs_text(void **state)
{
    static const double numbers[] = {
        0,      -0.0,   1,      0.1,    INFINITY, -INFINITY, NAN,       1e15,
        1e16,   1e17,   1e18,   1e22,   1e23,     1e37,      1e38,      1e39,
        1e-4,   1e-5,   1e-6,   5e-7,   1e-36,    1e-37,     1e-38,     1e308,
        5e-324, 0x1p43, 0x1p53, 0x1p63, 0x1p64,   0x1p127,   0x1p-1022, 123456.5e-6};
    (void)state;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        check(numbers[i]);
        check(nextafter(numbers[i], 0));
        check(nextafter(numbers[i], INFINITY));
    }
    for (int power = -1074; power < 1024; power++) {
        check(ldexp(1, power));
        check(-ldexp(0x1.fffffffffffffp0, power));
    }
}

/* A number exactly between two possible texts is printed as the one whose last digit is even; a
 * text exactly between two numbers is read in the same way. */
static void ties_go_to_the_even_digit(void **state)
{
    (void)state;
    for (int whole = 0; whole < 200; whole++) {
        check(9007199254740993.0 * 8 + whole * 8);
        check((whole + 0.5) / 64);
        check(1e17 + whole * 16 + 5);
        check(whole + 0x1p-7);
    }
}

static void bad_text_is_refused(void **state)
{
    static const char *const bad[] = {"",   " ",     ".",  "-",   "e5",    "1e", "1e+",    "1 2",
                                      "0x", "0x1p3", "1,", "nan", "1.2.3", "--", "1e5.0x", "inf"};
    double number = 7;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(number_parse(bad[i], strlen(bad[i]), &number));
    assert_true(number == 7);
}

static void read_like_strtod(const char *text)
{
    double number = 0;
    assert_true(number_parse(text, strlen(text), &number));
    double expected = strtod(text, NULL);
    if (memcmp(&number, &expected, sizeof(number)) != 0)
        fail_msg("%s was read as %.17g", text, number);
}

static void any_spelling_is_read(void **state)
{
    static const char *const texts[] = {
        "1.",
        ".5",
        "+3",
        "-0",
        "00012.500",
        "1E3",
        "1e-3",
        "12345678901234567890123",
        "0.000000000000000000000000000000000000000000001234567890123456789",
        "9007199254740993",
        "9007199254740992.9999999999999999999",
        "9007199254740993.0000000000000000001",
        "1e400",
        "1e-400",
        "-99.982990",
        "1e99999999999"};
    double number = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        read_like_strtod(texts[i]);
    assert_true(number_parse("  86.5 ", 7, &number) && number == 86.5);
}

/* The decimal point does not depend on the locale that a program has set. Needs an installed locale
 * with a comma. */
static void no_locale_moves_the_point(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8", "de_DE"};
    bool found = false;
    (void)state;
    for (size_t i = 0; i < COUNT(names) && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    char text[NUMBER_FIXED_SIZE];
    double back = 0;
    number_shortest17(0x1.8p-1000, text);
    assert_memory_equal(text, "1.3", 3);
    assert_true(number_parse("2.5e-300", 8, &back) && back > 2e-300);
    setlocale(LC_NUMERIC, "C");
    assert_true(back == 2.5e-300);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        random_count = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_numbers_have_printfs_text),
        cmocka_unit_test(borders_have_printfs_text),
        cmocka_unit_test(ties_go_to_the_even_digit),
        cmocka_unit_test(bad_text_is_refused),
        cmocka_unit_test(any_spelling_is_read),
        cmocka_unit_test(no_locale_moves_the_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
