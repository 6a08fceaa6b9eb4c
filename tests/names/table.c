/* SPDX-License-Identifier: MIT */
/* Tests of names/table.c: name tables in any order, with gaps and damage; and of names/lookup.c. */
#include "test.h"

static bool add_pair(void *self, uint32_t index, const char *text)
{
    return buffer_printf(self, "%u=%s;", (unsigned)index, text);
}

static void check_pairs(const char *multi, size_t size, const char *expected)
{
    BUFFER_AUTO pairs = {0};
    /* allocates exactly this size, so that a sanitizer reports a read beyond it */
    char *exact = malloc(size ? size : 1);
    memcpy(exact, multi, size);
    buffer_add_text(&pairs, "");
    assert_true(name_pairs_each(exact, size, add_pair, &pairs));
    assert_string_equal(pairs.data, expected);
    free(exact);
}
#define PAIRS(multi, expected) check_pairs(multi, sizeof(multi), expected)

static void c24_any_order_holes_and_duplicates(void **state)
{
    PAIRS("1\0001847\0002\0A\0004\0B\0", "1=1847;2=A;4=B;");
    PAIRS("4\0B\0001\0001847\000900\0C\0", "4=B;1=1847;900=C;");
    PAIRS("2\0A\0002\0B\0", "2=A;2=B;");
    PAIRS("", "");
}

static void damage_costs_only_what_is_damaged(void **state)
{
    PAIRS("2\0A\0x\0004\0B\0", "2=A;4=B;");    /* a text without an index */
    PAIRS("2\0\0004\0B\0", "4=B;");            /* an empty text */
    PAIRS("2\0A\0\0004\0B\0", "2=A;");         /* text after the list's final NUL */
    PAIRS("2\0A\0004", "2=A;");                /* an index without its text */
    PAIRS("99999999999\0A\0004\0B\0", "4=B;"); /* a number that is too large for an index */
    check_pairs("2\0A\0004\0B", 7, "2=A;");    /* a text that was cut off */
    check_pairs("2\0A\0004", 5, "2=A;");
    check_pairs("2", 1, "");
    check_pairs("2\0", 2, "");
    check_pairs("", 0, "");
}

/* A table that is cut off at any byte: nothing is read beyond its end, and only pairs that the
 * whole table has are found. */
static void every_cut_is_survived(void **state)
{
    static const char multi[] = "1\0001847\0002\0A\0abc\0004\0Bcd\0\0";
    for (size_t size = 0; size <= sizeof multi; size++) {
        BUFFER_AUTO pairs = {0};
        char *exact = malloc(size ? size : 1);
        memcpy(exact, multi, size);
        buffer_add_text(&pairs, "");
        assert_true(name_pairs_each(exact, size, add_pair, &pairs));
        assert_memory_equal(pairs.data, "1=1847;2=A;4=Bcd;", pairs.len);
        free(exact);
    }
}

static void tables_sort_and_keep_the_first(void **state)
{
    struct name_table table = {0};
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(name_table_add(&table, (i * 7919) % 500, i < 500 ? "first" : "second", 6));
    name_table_sort(&table);
    assert_int_equal(table.count, 500);
    for (uint32_t i = 0; i < 500; i++)
        assert_string_equal(name_table_find(&table, i), "first");
    assert_null(name_table_find(&table, 500));
    name_table_done(&table);
    name_table_sort(&table);
    assert_null(name_table_find(&table, 0));
}

static void c27_the_users_language(void **state)
{
    static const struct {
        const char *all, *messages, *lang;
        uint32_t langid;
    } cases[] = {
        {NULL,         NULL,    NULL,            0x409},
        {"",           "",      "",              0x409},
        {NULL,         NULL,    "ru_RU.UTF-8",   0x419},
        {NULL,         "de_DE", "ru_RU.UTF-8",   0x407},
        {"fr_FR@euro", "de_DE", "ru_RU",         0x40c},
 /* of the three variables, the first that is set decides */
        {"C",          "de_DE", "ru_RU",         0x409},
        {"",           "POSIX", "de_DE",         0x409},
        {NULL,         NULL,    "C.UTF-8",       0x409},
        {NULL,         NULL,    "zh_CN.GB18030", 0x804},
        {NULL,         NULL,    "zh_TW",         0x404},
        {NULL,         NULL,    "pt_BR.UTF-8",   0x416},
        {NULL,         NULL,    "pt_PT",         0x816},
        {NULL,         NULL,    "de_AT",         0xc07},
        {NULL,         NULL,    "ca_ES",         0x403},
        {NULL,         NULL,    "de",            0x407},
        {NULL,         NULL,    "de_XX",         0x407}, /* an unknown country */
        {NULL,         NULL,    "es_ES",         0xc0a},
        {NULL,         NULL,    "en_GB",         0x809},
        {NULL,         NULL,    "tlh_KX",        0x409},
        {NULL,         NULL,    "deu",           0x409},
        {NULL,         NULL,    "../etc",        0x409},
    };
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *values[] = {cases[i].all, cases[i].messages, cases[i].lang};
        for (size_t k = 0; k < COUNT(names); k++)
            values[k] ? setenv(names[k], values[k], 1) : unsetenv(names[k]);
        assert_int_equal(names_user_langid(), cases[i].langid);
    }
}

static void c23_ids_of_bases(void **state)
{
    static const uint32_t pairs[][2] = {
        {0x409,  9    },
        {0x809,  9    },
        {0x419,  0x19 },
        {0xc0a,  0xa  },
        {0x804,  0x804},
        {0x404,  0x404},
        {0x1004, 0x804},
        {0xc04,  0x404},
        {0x1404, 0x404},
        {0x416,  0x416},
        {0x816,  0x816},
        {9,      9    },
        {0x19,   0x19 },
        {0,      0    },
        {0x14,   0x14 },
    };
    for (size_t i = 0; i < COUNT(pairs); i++)
        assert_int_equal(names_language(pairs[i][0]), pairs[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NAMES_TEST(c24_any_order_holes_and_duplicates),
        NAMES_TEST(damage_costs_only_what_is_damaged),
        NAMES_TEST(every_cut_is_survived),
        NAMES_TEST(tables_sort_and_keep_the_first),
        NAMES_TEST(c27_the_users_language),
        NAMES_TEST(c23_ids_of_bases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
