/* SPDX-License-Identifier: MIT */
/*
 * The values of a registration and of Perflib that control how providers are queried
 * (docs/windows/providers.md#d1), each tried by sessions of real programs; waiting periods and
 * quarantine; providers that share a library or are queried at the same time.
 */
#include "session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <openperflib/block.h>
#include <winperf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set(const char *name, DWORD value)
{
    lab_set_dword(lab_performance("MyPerf"), name, value);
}

static void set_perflib(const char *name, DWORD value)
{
    lab_set_dword(LAB_PERFLIB, name, value);
}

static void install_lie(const char *collect)
{
    char path[512];
    snprintf(path, sizeof path, "%s/lies.so", getenv("THIRD_PARTIES"));
    lab_register(
        &(struct lab_service){"MyPerf", path, "lie_open", collect, "lie_close", NULL, isolation});
}

static int count_of(const char *text, const char *word)
{
    int count = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        count++;
    return count;
}

/* ---- values of the registration ---- */

static void disabled_by_1_and_on_64_bits_by_4(void **state)
{
    enum { never_here = sizeof(void *) == 8 ? 4 : 2, only_elsewhere = 6 - never_here };
    static const struct {
        DWORD value;
        bool queried;
    } rows[] = {
        {1,              false},
        {never_here,     false},
        {only_elsewhere, true },
        {0,              true }
    };
    install("record_open", "record_object", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set("Disable Performance Counters", rows[i].value);
        session("22222", NULL);
        expect_calls(rows[i].queried ? "attach, Open, Collect \"22222\", key closed, Close, detach"
                                     : "key closed");
    }
    expect_events("");
}

static void keep_resident_is_closed_and_stays_loaded(void **state)
{
    install("record_open", "record_object", NULL);
    set("Keep Resident", 1);
    session("22222", "close", "22222", NULL);
    assert_int_equal(count_of(calls_so_far(), "attach"), 1);
    assert_non_null(strstr(calls_so_far(), "attach, Open, Collect \"22222\", key closed, Close, "
                                           "Open, Collect \"22222\", key closed, Close"));
    lab_remove("notes");
    expect_events("");
}

static void isolation_1_is_the_default(void **state)
{
    isolation = LAB_ISOLATED;
    install("record_open", "record_object", NULL);
    set("Isolation", 1);
    session("22222", NULL);
    expect_calls("attach, Open, Collect \"22222\", key closed, Close, detach");
    expect_events("");
}

static void another_file_than_validated_runs_apart(void **state)
{
    static const BYTE code[16] = {1};
    HKEY key;
    install("record_open", "record_object", NULL);
    assert_int_equal(
        RegOpenKeyExA(HKEY_LOCAL_MACHINE, lab_performance("MyPerf"), 0, KEY_WRITE, &key), 0);
    assert_int_equal(RegSetValueExA(key, "Library Validation Code", 0, REG_BINARY, code, 16), 0);
    RegCloseKey(key);
    /* the library does not match this code, so it runs in a helper process despite Isolation */
    isolation = LAB_ISOLATED;
    session("22222", "22222", NULL);
    assert_true(answered("22222", "22222"));
    expect_calls("attach, Open, Collect \"22222\", Collect \"22222\", key closed, Close, detach");
    expect_events("warning 2003");
}

/* In a helper process, the deadline ends the wait. In-process, Collect cannot be stopped, and its
 * answer is accepted. */
static void collect_timeout(void **state)
{
    install("record_open", "record_slow", NULL);
    set("Collect Timeout", 100);
    session("22222", NULL);
    assert_int_equal(answered("22222", "22222"), isolation == LAB_IN_PROCESS);
    expect_events("warning 1015");
    set("Collect Timeout", 10000);
    session("22222", NULL);
    assert_true(answered("22222", "22222"));
    expect_events("");
    lab_remove("notes");
}

static void costly_may_take_longer(void **state)
{
    install("record_open", "record_very_slow", NULL);
    session("Costly", "22222", NULL);
    assert_true(answered("Costly", "22222"));
    assert_int_equal(answered("22222", "22222"), isolation == LAB_IN_PROCESS);
    expect_events("warning 1015");
    lab_remove("notes");
}

static void two_that_hang_cost_one_deadline(void **state)
{
    install("record_open", "record_hangs", NULL);
    install_second("record_hangs", NULL);
    set("Collect Timeout", 3000);
    lab_set_dword(lab_performance("MySecond"), "Collect Timeout", 3000);
    long long start = lab_now_ms();
    session("Global", NULL);
    assert_in_range(lab_now_ms() - start, 2900, 5800);
    assert_true(answered("Global", "2"));
    lab_remove("notes");
    expect_events("warning 1015, warning 1015");
}

static void one_library_serves_two_registrations(void **state)
{
    install("record_open", "record_object", NULL);
    lab_register(&(struct lab_service){"MySecond", getenv("RECORDER"), "record_open",
                                       "record_nothing", "record_close", NULL, isolation});
    session("Global", NULL);
    assert_true(answered("Global", "22222"));
    const char *notes = lab_read("notes");
    int loads = isolation == LAB_IN_PROCESS ? 1 : 2;
    assert_int_equal(count_of(notes, " attach"), loads);
    assert_int_equal(count_of(notes, " Open"), 2);
    assert_int_equal(count_of(notes, " Collect"), 2);
    assert_int_equal(count_of(notes, " Close"), 2);
    assert_int_equal(count_of(notes, " detach"), loads);
    lab_remove("notes");
    expect_events("");
}

/* ---- values of Perflib ---- */

static void perflib_disables_everybody(void **state)
{
    install("record_open", "record_object", NULL);
    set_perflib("Disable Performance Counters", 1);
    session("Global", "2", NULL);
    assert_string_equal(answer_to("Global"), "status 0, 1 try,");
    assert_string_equal(answer_to("2"), "status 0, 1 try,");
    expect_calls("key closed");
    expect_events("");
}

static void event_log_level(void **state)
{
    static const char *const events[] = {"", "error 1017", "warning 2000, error 1017",
                                         "warning 2000, error 1017"};
    for (DWORD level = 0; level < 4; level++) {
        install("record_open", "record_forgets", NULL);
        set_perflib("EventLogLevel", level);
        session("22222", NULL);
        assert_int_equal(disabled(), 1);
        lab_unset(lab_performance("MyPerf"), "Disable Performance Counters");
        expect_events(events[level]);
    }
    lab_remove("notes");
}

static void flag_1_minds_no_alignment(void **state)
{
    install_lie("lie_multiple_of_4");
    session("22222", NULL);
    assert_true(answered("22222", "22222"));
    expect_events("warning 1016");
    set_perflib("Configuration Flags", 1);
    session("22222", NULL);
    assert_true(answered("22222", "22222"));
    expect_events("");
}

static void flag_2_disables_nobody(void **state)
{
    install("record_open", "record_forgets", NULL);
    set_perflib("Configuration Flags", 2);
    session("22222", "22222", NULL);
    expect_calls("attach, Open, Collect \"22222\", Collect \"22222\", key closed, Close, detach");
    assert_int_equal(disabled(), 0);
    expect_events("warning 2000");
}

static void flag_4_looks_at_no_guards(void **state)
{
    install_lie("lie_writes_4_above");
    set_perflib("Configuration Flags", 4);
    session("22222", NULL);
    assert_true(answered("22222", "22222"));
    expect_events("");
}

static void flag_8_waits_for_everybody(void **state)
{
    install("record_open", "record_slow", NULL);
    set("Collect Timeout", 100);
    set_perflib("Configuration Flags", 8);
    session("22222", NULL);
    assert_true(answered("22222", "22222"));
    expect_events("");
    lab_remove("notes");
}

/* ---- waiting periods and quarantine ---- */

static void c126_damage_is_left_alone_for_a_second(void **state)
{
    install("record_open", "record_below", NULL);
    session("22222", "22222", "22222", NULL);
    assert_int_equal(count_of(lab_read("notes"), "Collect"), 1);
    lab_remove("notes");
    session("22222", "wait 1500", "22222", NULL);
    assert_int_equal(count_of(lab_read("notes"), "Collect"), 2);
    assert_int_equal(disabled(), 0);
    assert_true(lab_has_event("MyPerf", 1002));
    lab_remove("notes");
}

static const char *quarantine_text(void)
{
    static char text[256];
    DWORD size = sizeof text;
    text[0] = '\0';
    RegGetValueA(HKEY_LOCAL_MACHINE, lab_performance("MyPerf"), "Quarantine", RRF_RT_REG_SZ, NULL,
                 text, &size);
    return text;
}

static void quarantine_has_passed(const char *collect)
{
    set("Disable Performance Counters", 1);
    lab_set_text(lab_performance("MyPerf"), "Quarantine",
                 "until 2001-01-01T00:00:00Z, time 1: a test");
    lab_set_text(lab_performance("MyPerf"), "Collect", collect);
}

static void quarantine(void **state)
{
    install("record_open", "record_below", NULL);
    set_perflib("Error Count Limit", 1);
    session("22222", NULL);
    assert_int_equal(disabled(), 1);
    assert_int_equal(strncmp(quarantine_text(), "until 2", 7), 0);
    assert_non_null(strstr(quarantine_text(), "(first quarantine)"));
    expect_events("error 1002, error 1017");
    lab_remove("notes");
    session("Global", "22222", NULL);
    expect_calls("key closed");
    quarantine_has_passed("record_below");
    session("22222", NULL);
    assert_non_null(strstr(quarantine_text(), "(second quarantine)"));
    assert_int_equal(disabled(), 1);
    lab_remove("events");
    quarantine_has_passed("record_object");
    session("22222", NULL);
    assert_true(answered("22222", "22222"));
    assert_int_equal(disabled(), 0);
    assert_string_equal(quarantine_text(), "");
    expect_events("");
    lab_remove("notes");
}

static void c46_deleting_the_value_ends_a_quarantine(void **state)
{
    install("record_open", "record_below", NULL);
    set_perflib("Error Count Limit", 1);
    session("22222", NULL);
    assert_int_equal(disabled(), 1);
    lab_unset(lab_performance("MyPerf"), "Disable Performance Counters");
    lab_set_text(lab_performance("MyPerf"), "Collect", "record_object");
    session("22222", NULL);
    assert_true(answered("22222", "22222"));
    assert_int_equal(disabled(), 0);
    lab_remove("notes");
}

static void c118_errors_flood_no_log(void **state)
{
    install("record_open", "record_error", NULL);
    session("22222", "22222", "22222", "22222", "22222", "22222", "22222", "22222", "22222",
            "22222", "22222", "22222", "22222", "22222", "22222", NULL);
    assert_int_equal(count_of(lab_read("notes"), "Collect"), 15);
    expect_each_time(1014, 15);
    lab_remove("notes");
}

/* ---- threads ---- */

enum { QUERYING_THREADS = 4, QUESTIONS = 25 };

static void *query_often(void *failures)
{
    static _Thread_local unsigned char data[1 << 16];
    opl_block block;
    opl_object_view object;
    for (int i = 0; i < QUESTIONS; i++) {
        DWORD size = sizeof data;
        LSTATUS status =
            RegQueryValueExA(HKEY_PERFORMANCE_DATA, "22222 33332", NULL, NULL, data, &size);
        if (status || opl_block_init(&block, data, size) != OPL_BLOCK_GOOD ||
            !opl_block_find_object(&block, 22222, &object) ||
            !opl_block_find_object(&block, 33332, &object))
            ++*(int *)failures;
    }
    return NULL;
}

static void no_provider_is_entered_twice_at_once(void **state)
{
    pthread_t threads[QUERYING_THREADS];
    int failures[QUERYING_THREADS] = {0};
    install("record_open", "record_exclusive", NULL);
    install_second("record_exclusive", NULL);
    set("Collect Timeout", 20000);
    lab_set_dword(lab_performance("MySecond"), "Collect Timeout", 20000);
    for (int i = 0; i < QUERYING_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, query_often, &failures[i]), 0);
    for (int i = 0; i < QUERYING_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    for (int i = 0; i < QUERYING_THREADS; i++)
        assert_int_equal(failures[i], 0);
    assert_null(strstr(lab_read("notes"), "entered twice"));
    expect_events("");
    lab_remove("notes");
}

static const struct experiment experiments[] = {
    {"disable-values",       disabled_by_1_and_on_64_bits_by_4,        false},
    {"keep-resident",        keep_resident_is_closed_and_stays_loaded, false},
    {"isolation-1",          isolation_1_is_the_default,               true },
    {"validation-code",      another_file_than_validated_runs_apart,   false},
    {"collect-timeout",      collect_timeout,                          false},
    {"costly-timeout",       costly_may_take_longer,                   false},
    {"two-hang",             two_that_hang_cost_one_deadline,          true },
    {"two-services",         one_library_serves_two_registrations,     false},
    {"perflib-disable",      perflib_disables_everybody,               false},
    {"event-log-level",      event_log_level,                          false},
    {"configuration-flag-1", flag_1_minds_no_alignment,                false},
    {"configuration-flag-2", flag_2_disables_nobody,                   false},
    {"configuration-flag-4", flag_4_looks_at_no_guards,                false},
    {"configuration-flag-8", flag_8_waits_for_everybody,               false},
    {"patience",             c126_damage_is_left_alone_for_a_second,   false},
    {"quarantine",           quarantine,                               false},
    {"quarantine-ended",     c46_deleting_the_value_ends_a_quarantine, false},
    {"flood",                c118_errors_flood_no_log,                 false},
    {"threads",              no_provider_is_entered_twice_at_once,     false},
};

int main(int argc, char **argv)
{
    return run_experiments(experiments, sizeof experiments / sizeof experiments[0],
                           argc > 1 ? argv[1] : "in-process");
}
