/* SPDX-License-Identifier: MIT */
/* Tests of query/parse.c, which parses the names of queries such as "Global" or "2 230". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct query query;

static void expect(const char *text, enum query_kind kind, const char *handed_on)
{
    memset(&query, 0x55, sizeof query);
    assert_int_equal(query_parse(text, &query), ERROR_SUCCESS);
    if (query.kind != kind)
        fail_msg("\"%s\" is of kind %d", text, query.kind);
    assert_string_equal(query.text, handed_on);
    if (kind != QUERY_FOREIGN) {
        assert_null(query.machine);
        assert_int_equal(query.machine_count, 0);
    }
    if (kind != QUERY_NAMES && kind != QUERY_HELPS)
        assert_int_equal(query.language, 9);
    if (kind != QUERY_OBJECTS && kind != QUERY_FOREIGN)
        assert_int_equal(query.object_count, 0);
}

static void expect_objects(const char *text, size_t count, const uint32_t *objects)
{
    expect(text, QUERY_OBJECTS, text); /* the result contains the text of the query unchanged */
    assert_int_equal(query.object_count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(query_wants_object(&query, objects[i]));
    for (size_t i = 1; i < query.object_count; i++)
        assert_true(query.objects[i - 1] < query.objects[i]);
    assert_false(query_wants_object(&query, 77));
}
#define OBJECTS(text, ...)                                                                         \
    expect_objects(text, COUNT(((const uint32_t[]){__VA_ARGS__})), (const uint32_t[]){__VA_ARGS__})

static void c30_global_and_costly(void **state)
{
    expect("Global", QUERY_GLOBAL, "Global");
    expect("Costly", QUERY_COSTLY, "Costly");
    assert_int_equal(query.object_count, 0);
}

static void old_global_is_global_and_metadata_is_not_announced(void **state)
{
    expect("OLD_Global", QUERY_GLOBAL, "Global");
    expect("old_global", QUERY_GLOBAL, "Global");
    expect("MetadataGlobal", QUERY_NOTHING, "MetadataGlobal");
    expect("OLD_MetadataCostly", QUERY_NOTHING, "OLD_MetadataCostly");
}

static void c31_lists_of_indices(void **state)
{
    OBJECTS("2", 2);
    OBJECTS("2 230", 2, 230);
    OBJECTS(" 230\t2   4 ", 4, 230, 2); /* any order and any blanks are allowed */
    OBJECTS("2 2 2 02 002", 2);         /* duplicates are allowed */
    OBJECTS("4294967295", 4294967295u);
    OBJECTS("2 4294967296", 2);
}

/* Indices in any order, each several times: exactly these are found, and each is stored only
 * once. */
static void indices_in_any_order_are_kept_once(void **state)
{
    static const uint32_t indices[] = {2, 4, 230, 232, 238, 1848, 4294967295};
    char text[512];
    for (unsigned order = 0; order < 5040; order++) {
        bool used[COUNT(indices)] = {false};
        size_t length = 0;
        unsigned rest = order;
        for (size_t left = COUNT(indices); left; rest /= left--) {
            size_t pick = 0;
            for (unsigned steps = rest % left; used[pick] || steps; pick++)
                steps -= !used[pick];
            used[pick] = true;
            length += (size_t)sprintf(text + length, "%u %u ", indices[pick], indices[rest % 7]);
        }
        assert_int_equal(query_parse(text, &query), ERROR_SUCCESS);
        assert_int_equal(query.object_count, COUNT(indices));
        for (size_t i = 0; i < COUNT(indices); i++) {
            assert_int_equal(query.objects[i], indices[i]);
            assert_true(query_wants_object(&query, indices[i]));
            assert_false(query_wants_object(&query, indices[i] - 1));
        }
    }
}

/* A query leaves nothing behind in the next one: `expect` fills the struct with bytes 0x55 before
 * it parses, and indices of that value must not be found by chance. */
static void what_the_last_question_left_is_no_answer(void **state)
{
    OBJECTS("1431655765", 0x55555555);
    OBJECTS("3 1431655765 4", 3, 4, 0x55555555);
    expect("2", QUERY_OBJECTS, "2");
    assert_false(query_wants_object(&query, 0x55555555));
    expect("Global", QUERY_GLOBAL, "Global");
    assert_false(query_wants_object(&query, 0x55555555));
}

static void c32_foreign_names_a_machine(void **state)
{
    expect("Foreign unix1", QUERY_FOREIGN, "Foreign unix1");
    assert_int_equal(query.machine_count, 5);
    assert_memory_equal(query.machine, "unix1", 5);
    assert_int_equal(query.object_count, 0);
    expect("  fOREIGN \\\\Unix1  2 x 230", QUERY_FOREIGN, "Foreign \\\\Unix1  2 x 230");
    assert_int_equal(query.machine_count, 7);
    assert_memory_equal(query.machine, "\\\\Unix1", 7);
    assert_int_equal(query.object_count, 2);
    assert_true(query_wants_object(&query, 230));
    expect("Foreign 2", QUERY_FOREIGN, "Foreign 2"); /* a machine may be called "2" */
    assert_int_equal(query.object_count, 0);
    expect("Foreign", QUERY_NOTHING, "Foreign");
    expect("Foreigner x", QUERY_NOTHING, "Foreigner x");
}

static void c33_keywords_in_any_case_are_handed_on_canonically(void **state)
{
    expect("GLOBAL", QUERY_GLOBAL, "Global");
    expect("global", QUERY_GLOBAL, "Global");
    expect("\tgLoBaL ", QUERY_GLOBAL, "Global");
    expect("costly", QUERY_COSTLY, "Costly");
    expect("FOREIGN X", QUERY_FOREIGN, "Foreign X");
}

static void c50_nonsense_asks_nobody(void **state)
{
    static const char *const words[] = {
        "ABCD",       "EFGHIJ",      "Globa",        "Globals", "OLD_Costly",
        "Global\n",   "-2",          "0x2",          "2.5",     "Global Costly",
        "4294967296", "99999999999", "\xff\xfe\x80", "\xc2",    "230,232",
    };
    for (size_t i = 0; i < COUNT(words); i++) {
        expect(words[i], QUERY_NOTHING, words[i]);
        assert_int_equal(query.object_count, 0);
    }
}

static void c51_c52_c53_c54_numbers_between_words_count(void **state)
{
    OBJECTS("2 abc", 2);
    OBJECTS("abc 22222 Global", 22222);
}

static void c72_the_empty_string_arrives_as_such(void **state)
{
    expect("", QUERY_GLOBAL, "");
    expect(NULL, QUERY_GLOBAL, "");
    expect(" \t ", QUERY_GLOBAL, "");
}

static void c22_names_and_helps_with_a_language(void **state)
{
    static const struct {
        const char *text;
        enum query_kind kind;
        uint32_t language;
    } cases[] = {
        {"Counter",           QUERY_NAMES, 9    },
        {"Counter 009",       QUERY_NAMES, 9    },
        {"counter 9",         QUERY_NAMES, 9    },
        {"COUNTER\t 019",     QUERY_NAMES, 0x19 },
        {"Counter 00c",       QUERY_NAMES, 0xc  },
        {"Counter 416 x",     QUERY_NAMES, 0x416},
        {"Counters",          QUERY_NAMES, 9    },
        {"counter9xyz",       QUERY_NAMES, 9    },
        {"Counters 00A",      QUERY_NAMES, 0xa  },
        {"Counter xyz",       QUERY_NAMES, 9    },
        {"Counter ",          QUERY_NAMES, 9    },
        {"Help",              QUERY_HELPS, 9    },
        {"help 00A",          QUERY_HELPS, 0xa  },
        {"Explain 007",       QUERY_HELPS, 7    },
        {"EXPLAIN",           QUERY_HELPS, 9    },
        {"Explain 999999999", QUERY_HELPS, 9    }, /* this number of a language does not fit */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect(cases[i].text, cases[i].kind, cases[i].text);
        assert_int_equal(query.language, cases[i].language);
        assert_int_equal(query_text_kind(cases[i].text), cases[i].kind);
    }
    assert_int_equal(query_text_kind(NULL), QUERY_NOTHING);
    assert_int_equal(query_text_kind(""), QUERY_NOTHING);
    assert_int_equal(query_text_kind("Global"), QUERY_NOTHING);
    assert_int_equal(query_text_kind(" Counter"),
                     QUERY_NOTHING); /* the word must be at the beginning */
    expect(" Counter", QUERY_NOTHING, " Counter");
}

static void limits_are_errors(void **state)
{
    char *text = malloc(LIMIT_QUERY_CHARS * 4);
    size_t length = 0;
    for (unsigned i = 0; i < LIMIT_QUERY_OBJECTS; i++)
        length += (size_t)sprintf(text + length, "%u ", 10000 + i);
    assert_int_equal(query_parse(text, &query), ERROR_SUCCESS);
    assert_int_equal(query.object_count, LIMIT_QUERY_OBJECTS);
    strcpy(text + length, "10000");
    assert_int_equal(query_parse(text, &query), ERROR_SUCCESS);
    strcpy(text + length, "9");
    assert_int_equal(query_parse(text, &query), ERROR_INVALID_PARAMETER);
    for (size_t i = 0; i < LIMIT_QUERY_CHARS; i++)
        memcpy(text + i * 3, "€", 3);
    text[LIMIT_QUERY_CHARS * 3] = '\0';
    assert_int_equal(query_parse(text, &query), ERROR_SUCCESS);
    assert_string_equal(query.text, text);
    strcpy(text + LIMIT_QUERY_CHARS * 3, "x");
    assert_int_equal(query_parse(text, &query), ERROR_INVALID_PARAMETER);
    memset(text, '2', LIMIT_QUERY_CHARS + 1);
    text[LIMIT_QUERY_CHARS + 1] = '\0';
    assert_int_equal(query_parse(text, &query), ERROR_INVALID_PARAMETER);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c30_global_and_costly),
        cmocka_unit_test(old_global_is_global_and_metadata_is_not_announced),
        cmocka_unit_test(c31_lists_of_indices),
        cmocka_unit_test(indices_in_any_order_are_kept_once),
        cmocka_unit_test(what_the_last_question_left_is_no_answer),
        cmocka_unit_test(c32_foreign_names_a_machine),
        cmocka_unit_test(c33_keywords_in_any_case_are_handed_on_canonically),
        cmocka_unit_test(c50_nonsense_asks_nobody),
        cmocka_unit_test(c51_c52_c53_c54_numbers_between_words_count),
        cmocka_unit_test(c72_the_empty_string_arrives_as_such),
        cmocka_unit_test(c22_names_and_helps_with_a_language),
        cmocka_unit_test(limits_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
