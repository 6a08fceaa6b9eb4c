/* SPDX-License-Identifier: MIT */
/* The message catalog is complete (docs/windows/providers.md#d5, docs/windows/registration.md#e7),
 * and every row of it has a valid text. */
#include "test.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The ids of Windows' events (docs/windows) that can occur here, and of LoadPerf 2000: a copy by
 * hand, with which the catalog is compared. */
static const struct {
    const char *source;
    enum event_level level;
    const char *ids;
} listed[] = {
    {"Perflib",  EVENT_ERROR,   "1000 1001 1002 1003 1004 1005 1006 1007 1008 1009 1010 1011 1013"},
    {"Perflib",  EVENT_ERROR,   "1017 1018 1019 1020 1021 1022 1023 2002 3002 3003 3004"          },
    {"Perflib",  EVENT_WARNING, "1014 1015 1016 2000 2001 2003"                                   },
    {"LoadPerf", EVENT_INFO,    "1000 1001 1002"                                                  },
    {"LoadPerf", EVENT_WARNING, "2000 2004 2005 2006 2007"                                        },
    {"LoadPerf", EVENT_ERROR,   "3000 3001 3002 3003 3004 3005 3006 3007 3008 3009 3011 3012"     },
    {"LoadPerf", EVENT_ERROR,   "3013 3014 3017 3018"                                             },
    {"PLA",      EVENT_WARNING, "2031"                                                            },
};

static void every_event_of_the_reference_has_its_row(void **state)
{
    size_t count = 0, length;
    for (size_t i = 0; i < COUNT(listed); i++) {
        const char *cursor = listed[i].ids, *word;
        for (; (word = text_word(&cursor, &length)); count++) {
            uint32_t id = 0;
            assert_true(text_decimal(word, length, &id));
            const struct event_message *row = event_message(listed[i].source, id);
            if (!row || row->level != listed[i].level)
                fail_msg("%s %u is lacking, or of another level", listed[i].source, id);
        }
    }
    for (size_t i = 0; i < event_message_count; i++)
        count += event_messages[i].id >= 4000; /* this project's own events */
    assert_int_equal(count, event_message_count);
    assert_null(event_message("Perflib", 1012));
    assert_null(event_message("Other", 1000));
    static const uint32_t impossible[] = {2001, 2002, 2003, 3015,
                                          3016}; /* docs/windows-events.tsv says why */
    for (size_t i = 0; i < COUNT(impossible); i++)
        assert_null(event_message("LoadPerf", impossible[i]));
}

static void fields_are_those_of_the_reference(void **state)
{
    assert_string_equal(event_message("Perflib", 1001)->fields, "Library Service Size");
    assert_string_equal(event_message("Perflib", 1005)->fields,
                        "ProcName Library Service Win32Error");
    assert_string_equal(event_message("Perflib", 1010)->fields,
                        "Library Service ExceptionCode ExceptionAddress Crash");
    assert_string_equal(event_message("Perflib", 1014)->fields, "Service Library Win32Error");
    assert_string_equal(event_message("Perflib", 1016)->fields, "Library Service Buffer BytesLeft");
    assert_string_equal(event_message("Perflib", 2000)->fields,
                        "Library Service BytesLeft BytesAvailable");
    assert_string_equal(event_message("Perflib", 3003)->fields, "ProcName Service");
}

static void rows_are_in_order_and_single(void **state)
{
    for (size_t i = 1; i < event_message_count; i++) {
        const struct event_message *row = &event_messages[i];
        bool same = !strcmp(row[-1].source, row->source);
        assert_true(same ? row[-1].id < row->id : i > 1);
    }
}

static bool has_field(const struct event_message *row, const char *name, size_t length)
{
    const char *cursor = row->fields, *word;
    size_t count;
    while ((word = text_word(&cursor, &count)))
        if (count == length && !memcmp(word, name, length))
            return true;
    return false;
}

static void assert_braces(const struct event_message *row, const char *text)
{
    for (const char *brace = text; (brace = strchr(brace, '{')); brace++) {
        const char *end = strchr(brace, '}');
        assert_non_null(end);
        if (!has_field(row, brace + 1, (size_t)(end - brace) - 1))
            fail_msg("%s %u: no field for %s", row->source, row->id, brace);
    }
}

static void every_brace_is_a_field(void **state)
{
    for (size_t i = 0; i < event_message_count; i++) {
        assert_braces(&event_messages[i], event_messages[i].text);
        assert_braces(&event_messages[i], event_messages[i].advice);
    }
}

/* The names of an event's fields consist of letters only, and none is a name that the library
 * itself uses for each event in the journal (`taken`). */
static void field_names_are_words_of_letters(void **state)
{
    static const char *const taken[] = {"Source", "Id", "Level", "Repeated"};
    for (size_t i = 0; i < event_message_count; i++) {
        const char *cursor = event_messages[i].fields, *word;
        size_t count;
        while ((word = text_word(&cursor, &count))) {
            assert_true(isupper((unsigned char)word[0]) && count < 30);
            for (size_t c = 0; c < count; c++)
                assert_true(isalnum((unsigned char)word[c]));
            for (size_t t = 0; t < COUNT(taken); t++)
                assert_false(strlen(taken[t]) == count && !memcmp(taken[t], word, count));
        }
    }
}

/* Texts of events and of advice are parts of a longer line, so they must not end with a period. */
static void texts_are_phrases(void **state)
{
    for (size_t i = 0; i < event_message_count; i++) {
        const struct event_message *row = &event_messages[i];
        assert_true(*row->text && row->text[strlen(row->text) - 1] != '.');
        assert_true(row->level == EVENT_INFO || *row->advice);
        assert_true(!*row->advice || row->advice[strlen(row->advice) - 1] != '.');
    }
}

static void every_event_has_its_own_message_id(void **state)
{
    static char ids[200][33];
    size_t count = event_message_count;
    assert_true(count < COUNT(ids));
    for (size_t i = 0; i < count; i++)
        event_message_id(event_messages[i].source, event_messages[i].id, ids[i]);
    event_message_id("Application Popup", 26, ids[count]);
    event_message_id("Another", 1000, ids[count + 1]);
    /* events that programs report (here those of any unknown source) share one message id */
    assert_string_equal(ids[count], ids[count + 1]);
    for (size_t i = 0; i <= count; i++) {
        assert_int_equal(strlen(ids[i]), 32);
        assert_int_equal(strspn(ids[i], "0123456789abcdef"), 32);
        assert_int_equal(ids[i][12], '4'); /* the id has the form of a random UUID */
        assert_non_null(strchr("89ab", ids[i][16]));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(ids[i], ids[j]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_of_the_reference_has_its_row),
        cmocka_unit_test(fields_are_those_of_the_reference),
        cmocka_unit_test(rows_are_in_order_and_single),
        cmocka_unit_test(every_brace_is_a_field),
        cmocka_unit_test(field_names_are_words_of_letters),
        cmocka_unit_test(texts_are_phrases),
        cmocka_unit_test(every_event_has_its_own_message_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
