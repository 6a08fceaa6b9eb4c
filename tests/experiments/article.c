/* SPDX-License-Identifier: MIT */
/*
 * The experiments that the second source article describes. Each is a test that expects the exact
 * sequence of calls of the provider and of events, and runs twice: with the provider in the
 * querying process (Isolation = 0), and in a helper process. Every session is a new process, like
 * every start of the article's program. (docs/windows/articles.md#c39)
 */
#include "session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Joins texts as in "a, b, b, b, c": `first` once, then `again` `count` times, then `last`. */
static const char *repeated(const char *first, const char *again, int count, const char *last)
{
    static char text[1 << 14];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", first);
    for (int i = 0; i < count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", again);
    snprintf(text + used, sizeof text - used, ", %s", last);
    return text;
}

/* ---- the experiments ---- */

static void c40_c41_four_values_are_a_registration(void **state)
{
    install("record_open", "record_object", NULL);
    session("Global", NULL);
    assert_true(answered("Global", "22222"));
    expect_calls("attach, Open, Collect \"Global\", key closed, Close, detach");
    lab_set_text(LAB_SERVICES "MyPerf\\Linkage", "Export", "not a multi-string");
    lab_unregister("MyPerf");
    session("Global", "22222", NULL);
    expect_calls("key closed");
    expect_events("");
}

static void c39_c43_the_mechanism(void **state)
{
    install("record_open", "record_object", NULL);
    install_second("record_object", NULL);
    session("Global", "close", "22222 33332", NULL);
    assert_true(answered("Global", "22222:1"));
    assert_true(answered("Global", "33332:1"));
    assert_true(answered("Global", "2"));
    assert_string_equal(answer_to("22222 33332"), "status 0, 1 try, 22222:1 33332:1");
    lab_remove("notes");
    expect_events("");
}

static void c45_c46_global_v1(void **state)
{
    install("record_open", "record_forgets", NULL);
    session("Global", "Global", "2", "Global", NULL);
    expect_calls("attach, Open, Collect \"Global\", key closed, Close, detach");
    expect_events("warning 2000, error 1017");
    assert_int_equal(disabled(), 1);
    assert_true(answered("Global", "2"));
    session("Global", "22222", NULL);
    expect_calls("key closed");
    expect_events("");
    lab_unset(lab_performance("MyPerf"), "Disable Performance Counters");
    session("Global", NULL);
    expect_calls("attach, Open, Collect \"Global\", key closed, Close, detach");
    expect_events("warning 2000, error 1017");
    assert_int_equal(disabled(), 1);
}

static void c47_c48_global_v2(void **state)
{
    install("record_open", "record_nothing", NULL);
    for (int run = 0; run < 2; run++) {
        session("grow Global", "Global", "2", "Global", NULL);
        int tries = tries_of("Global");
        assert_in_range(tries, 3, 12);
        expect_calls(
            repeated("attach, Open", "Collect \"Global\"", tries + 2, "key closed, Close, detach"));
        expect_events("");
    }
}

static void c46_v2_works_where_v1_was_disabled(void **state)
{
    install("record_open", "record_forgets", NULL);
    session("Global", NULL);
    lab_remove("notes");
    lab_remove("events");
    lab_unset(lab_performance("MyPerf"), "Disable Performance Counters");
    lab_set_text(lab_performance("MyPerf"), "Collect", "record_nothing");
    session("Global", "Global", NULL);
    expect_calls("attach, Open, Collect \"Global\", Collect \"Global\", key closed, Close, detach");
    expect_events("");
}

static void c49_costly(void **state)
{
    install("record_open", "record_nothing", NULL);
    session("Costly", "Costly", NULL);
    expect_calls("attach, Open, Collect \"Costly\", Collect \"Costly\", key closed, Close, detach");
    lab_set_text(lab_performance("MyPerf"), "Collect", "record_details");
    session("Global", "Costly", "22222", NULL);
    assert_true(answered("Global", "22222:1"));
    assert_true(answered("Costly", "22222:2"));
    assert_true(answered("22222", "22222:1"));
    assert_false(answered("Costly", "2"));
    lab_remove("notes");
    expect_events("");
    lab_set_text(lab_performance("MyPerf"), "Collect", "record_forgets");
    session("Costly", "Costly", NULL);
    expect_calls("attach, Open, Collect \"Costly\", key closed, Close, detach");
    expect_events("warning 2000, error 1017");
}

static void c50_words(void **state)
{
    install("record_open", "record_object", NULL);
    session("ABCD", "EFGHIJ", "Globally", "abcd 22222x", NULL);
    expect_calls("key closed");
    assert_string_equal(answer_to("ABCD"), "status 0, 1 try,");
    assert_string_equal(answer_to("EFGHIJ"), "status 0, 1 try,");
    assert_string_equal(answer_to("Globally"), "status 0, 1 try,");
    expect_events("");
}

static void c51_c55_object_2_v1(void **state)
{
    install("record_open", "record_object", NULL);
    session("2", NULL);
    expect_calls("key closed");
    session("Global", "2", "2 4", NULL);
    expect_calls("attach, Open, Collect \"Global\", key closed, Close, detach");
    assert_true(answered("2", "2"));
    expect_events("");
}

static void c38_c52_object_2_v2(void **state)
{
    install("record_open", "record_nothing", "2");
    session("2", NULL);
    expect_calls("attach, Open, Collect \"2\", key closed, Close, detach");
    assert_true(answered("2", "2"));
    session("2 4", "4", NULL);
    expect_calls("attach, Open, Collect \"2 4\", key closed, Close, detach");
    assert_true(answered("2 4", "2"));
    assert_true(answered("2 4", "4"));
    expect_events("");
}

/* A provider cannot add a counter to another provider's object (here to System, number 2). If its
 * registration lets it return that number, the answer has two objects with the number 2. */
static void c38_system_stays_as_it_was(void **state)
{
    char alone[64];
    session("2", NULL);
    snprintf(alone, sizeof alone, "%s 2:1", answer_to("2"));
    install("record_open", "record_system", "2");
    lab_set_dword(lab_performance("MyPerf"), "Shared Objects", 1);
    session("2", NULL);
    assert_string_equal(answer_to("2"), alone);
    lab_remove("notes");
    expect_events("");
}

static void c53_c55_object_22222_v1(void **state)
{
    install("record_open", "record_object", "2");
    session("22222", NULL);
    expect_calls("key closed");
    assert_string_equal(answer_to("22222"), "status 0, 1 try,");
    session("2", "22222", NULL);
    expect_calls("attach, Open, Collect \"2\", key closed, Close, detach");
    expect_events("");
}

static void c54_c55_object_22222_v2(void **state)
{
    install("record_open", "record_object", "2");
    lab_unset(lab_performance("MyPerf"), "Object List");
    session("22222", NULL);
    expect_calls("attach, Open, Collect \"22222\", key closed, Close, detach");
    assert_true(answered("22222", "22222:1"));
    session("2 22222", NULL);
    expect_calls("attach, Open, Collect \"2 22222\", key closed, Close, detach");
    assert_string_equal(strrchr(answer_to("2 22222"), ' '), " 22222:1");
    expect_events("");
}

/* With an Object List, the library is loaded when one of its objects is requested, and is not
 * loaded for other objects. */
static void c56_a_list_is_useful(void **state)
{
    install("record_open", "record_object", "22222");
    install_second("record_object", NULL);
    session("22222", NULL);
    expect_calls("attach, Open, Collect \"22222\", key closed, Close, detach");
    lab_unset(lab_performance("MyPerf"), "Object List");
    session("22222", "33332", NULL);
    assert_non_null(strstr(calls_so_far(), "second Collect \"22222\""));
    assert_non_null(strstr(calls_so_far(), "second Collect \"33332\""));
    lab_set_text(lab_performance("MyPerf"), "Object List", "22222");
    lab_set_text(lab_performance("MySecond"), "Object List", "33332");
    lab_remove("notes");
    session("33332", NULL);
    expect_calls("second attach, second Open, second Collect \"33332\", key closed, second Close, "
                 "second detach");
    expect_events("");
}

static void c57_c58_open_denied(void **state)
{
    install("record_open_denied", "record_object", NULL);
    install_second("record_object", NULL);
    session("grow Global", "Global", "22222", NULL);
    int attempts = tries_of("Global") + 2;
    const char *calls = calls_so_far();
    int opens = 0, closes = 0;
    for (const char *at = calls; (at = strstr(at, ", Open,")); at++)
        opens++;
    for (const char *at = calls; (at = strstr(at, ", Close")); at++)
        closes++;
    assert_int_equal(opens, attempts);
    assert_int_equal(closes, 0);
    assert_true(answered("Global", "2"));
    assert_true(answered("Global", "33332"));
    assert_false(answered("Global", "22222"));
    expect_each_time(1008, attempts);
    assert_int_equal(disabled(), 0);
}

/* The only provider's Open returns ERROR_ACCESS_DENIED: exactly these calls happen, because each
 * query loads the library, calls Open and unloads the library. */
static void c57_open_denied_alone(void **state)
{
    install("record_open_denied", "record_object", NULL);
    session("22222", "Global", NULL);
    expect_calls("attach, Open, detach, attach, Open, detach, key closed");
    assert_string_equal(lab_events(NULL, true), "1008 1008");
    session("Global", NULL);
    expect_calls("attach, Open, detach, key closed");
    assert_int_equal(disabled(), 0);
}

static void c59_collect_error(void **state)
{
    install("record_open", "record_error", NULL);
    session("grow Global", "Global", "22222", NULL);
    int tries = tries_of("Global");
    expect_calls(repeated("attach, Open", "Collect \"Global\"", tries + 1,
                          "Collect \"22222\", key closed, Close, detach"));
    expect_each_time(1014, tries + 2);
    assert_true(answered("Global", "2"));
    assert_int_equal(disabled(), 0);
    session("22222", NULL);
    expect_calls("attach, Open, Collect \"22222\", key closed, Close, detach");
}

static void c116_foreign_and_c118_more_data(void **state)
{
    install("record_open", "record_nothing", NULL);
    session("Foreign there 22222", NULL);
    assert_string_equal(answer_to("Foreign there 22222"), "status 0, 1 try,");
    expect_calls("attach, Open, Collect \"Foreign there 22222\", key closed, Close, detach");
    lab_set_text(lab_performance("MyPerf"), "Collect", "record_more_data");
    session("22222", "2", NULL);
    assert_non_null(strstr(answer_to("22222"), "status 234"));
    assert_true(answered("2", "2"));
    expect_calls("attach, Open, Collect \"22222\", key closed, Close, detach");
    assert_int_equal(disabled(), 0);
}

/* ---- main ---- */

static const struct experiment experiments[] = {
    {"registration",    c40_c41_four_values_are_a_registration},
    {"mechanism",       c39_c43_the_mechanism                 },
    {"global-v1",       c45_c46_global_v1                     },
    {"global-v2",       c47_c48_global_v2                     },
    {"global-v1-v2",    c46_v2_works_where_v1_was_disabled    },
    {"costly",          c49_costly                            },
    {"words",           c50_words                             },
    {"object-2-v1",     c51_c55_object_2_v1                   },
    {"object-2-v2",     c38_c52_object_2_v2                   },
    {"object-2-twice",  c38_system_stays_as_it_was            },
    {"object-22222-v1", c53_c55_object_22222_v1               },
    {"object-22222-v2", c54_c55_object_22222_v2               },
    {"object-lists",    c56_a_list_is_useful                  },
    {"open-denied",     c57_c58_open_denied                   },
    {"open-denied-one", c57_open_denied_alone                 },
    {"collect-error",   c59_collect_error                     },
    {"foreign-more",    c116_foreign_and_c118_more_data       },
};

int main(int argc, char **argv)
{
    return run_experiments(experiments, sizeof experiments / sizeof experiments[0],
                           argc > 1 ? argv[1] : "in-process");
}
