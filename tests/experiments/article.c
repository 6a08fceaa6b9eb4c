/* SPDX-License-Identifier: MIT */
/*
 * The experiments of the second article, each under its own name with its exact sequence of calls
 * and events, once with the provider in the asking process (Isolation = 0) and once in a helper.
 * Every session is a new process, as every start of the article's program was. (C39-C59)
 */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, MOST_STEPS = 8 };

static int isolation;      /* of every provider of the running test */
static char told[1 << 16]; /* what the last session printed */
static pid_t asker_pid;

static void install(const char *open, const char *collect, const char *list)
{
    lab_register(&(struct lab_service){"MyPerf", getenv("RECORDER"), open, collect, "record_close",
                                       list, isolation});
}

static void install_second(const char *collect, const char *list)
{
    lab_register(&(struct lab_service){"MySecond", getenv("SECOND_RECORDER"), "record_open",
                                       collect, "record_close", list, isolation});
}

static void read_all(int from)
{
    size_t used = 0;
    ssize_t count;
    while ((count = read(from, told + used, sizeof told - 1 - used)) > 0 ||
           (count < 0 && errno == EINTR))
        used += count > 0 ? (size_t)count : 0;
    told[used] = '\0';
    close(from);
}

/* A new process asks these questions, closes the key and ends well. */
static void session(const char *first, ...)
{
    char *steps[MOST_STEPS + 2] = {getenv("ASKER"), (char *)first};
    int pipes[2], status;
    va_list list;
    va_start(list, first);
    for (int i = 2; i < MOST_STEPS + 1 && (steps[i] = va_arg(list, char *)); i++)
        continue;
    va_end(list);
    assert_int_equal(pipe(pipes), 0);
    if ((asker_pid = fork()) == 0) {
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        execv(steps[0], steps);
        _exit(127);
    }
    close(pipes[1]);
    read_all(pipes[0]);
    assert_int_equal(waitpid(asker_pid, &status, 0), asker_pid);
    assert_int_equal(status, 0);
}

/* The calls behind their process and thread. In-process they come in the asking thread, else all in
 * one process that is not the asking one. */
static void check_place(long pid, long tid, const char *what, long *helper)
{
    if (strcmp(what, "key closed") == 0)
        return;
    if (isolation == LAB_IN_PROCESS) {
        assert_int_equal(pid, asker_pid);
        assert_int_equal(tid, asker_pid);
    } else {
        assert_int_not_equal(pid, asker_pid);
        if (*helper && strstr(what, "second") == NULL)
            assert_int_equal(pid, *helper);
        *helper = strstr(what, "second") ? *helper : pid;
    }
}

static const char *calls_so_far(void)
{
    static char calls[1 << 16];
    char *rest = lab_read("notes");
    size_t used = 0;
    long helper = 0;
    calls[0] = '\0';
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        char *end;
        long pid = strtol(line, &end, 10), tid = strtol(end, &end, 10);
        check_place(pid, tid, end + 1, &helper);
        used +=
            (size_t)snprintf(calls + used, sizeof calls - used, "%s%s", used ? ", " : "", end + 1);
        if (used >= sizeof calls)
            abort();
    }
    return calls;
}

/* Exactly these calls since the last time it was asked; "" is none. A helper may close a moment
 * after the key was closed. */
static void expect_calls(const char *wanted)
{
    long long until = lab_now_ms() + PATIENCE_MS;
    while (strlen(calls_so_far()) < strlen(wanted) && lab_now_ms() < until)
        usleep(10000);
    assert_string_equal(calls_so_far(), wanted);
    lab_remove("notes");
}

static void expect_events(const char *wanted)
{
    assert_string_equal(lab_events(NULL, false), wanted);
    lab_remove("events");
}

/* The line that answers this question, without its head: "status 0, 1 try, 2:17". */
static const char *answer_to(const char *question)
{
    static char line[4096];
    char head[64];
    snprintf(head, sizeof head, "%s: ", question);
    const char *start = told;
    while (strncmp(start, head, strlen(head)) != 0) {
        start = strchr(start, '\n');
        if (!start++ || !*start)
            fail_msg("no answer to %s in:\n%s", question, told);
    }
    start += strlen(head);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(start, "\n"), start);
    return line;
}

/* How often "grow" asked. */
static int tries_of(const char *question)
{
    int status, tries;
    assert_int_equal(sscanf(answer_to(question), "status %d, %d", &status, &tries), 2);
    assert_int_equal(status, 0);
    return tries;
}

static bool answered(const char *question, const char *object)
{
    char with_gaps[4100], wanted[64];
    snprintf(with_gaps, sizeof with_gaps, "%s ", answer_to(question));
    snprintf(wanted, sizeof wanted, " %s%s", object, strchr(object, ':') ? " " : ":");
    assert_non_null(strstr(with_gaps, "status 0,"));
    assert_null(strstr(with_gaps, "damaged"));
    return strstr(with_gaps, wanted) != NULL;
}

/* "a, b, b, b, c": the first, then the second `count` times, then the rest. */
static const char *repeated(const char *first, const char *again, int count, const char *last)
{
    static char text[1 << 14];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", first);
    for (int i = 0; i < count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", again);
    snprintf(text + used, sizeof text - used, ", %s", last);
    return text;
}

/* An event for each time, the first ten singly, and no other. */
static void expect_each_time(unsigned id, int times)
{
    const char *ids = lab_events(NULL, true);
    int count = 0;
    for (char *end; *ids; ids = end, count++)
        assert_int_equal(strtoul(ids, &end, 10), id);
    assert_int_equal(count, times < 10 ? times : 10);
}

static DWORD disabled(void)
{
    long long value = lab_get_dword(lab_performance("MyPerf"), "Disable Performance Counters");
    return value < 0 ? 0 : (DWORD)value;
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

/* A counter cannot be added to somebody else's object: there are two objects then. */
static void c38_system_stays_as_it_was(void **state)
{
    char alone[64];
    session("2", NULL);
    snprintf(alone, sizeof alone, "%s 2:1", answer_to("2"));
    install("record_open", "record_system", "2");
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

/* Loaded when needed, not loaded without need, and others not loaded for it. */
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

/* Alone, the calls are exactly these: loaded, opened and unloaded at every query. */
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

/* ---- running them ---- */

static int begin(void **state)
{
    isolation = *(int *)*state;
    lab_remove("notes");
    lab_remove("events");
    return 0;
}

static int end(void **state)
{
    lab_unregister("MyPerf");
    lab_unregister("MySecond");
    return 0;
}

static int open_lab(void **state)
{
    lab_open();
    return 0;
}

static int close_lab(void **state)
{
    lab_close();
    return 0;
}

static const struct {
    const char *name;
    CMUnitTestFunction run;
} experiments[] = {
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
enum { EXPERIMENTS = sizeof experiments / sizeof experiments[0] };

int main(int argc, char **argv)
{
    static int ways[] = {LAB_IN_PROCESS, LAB_ISOLATED};
    static char names[EXPERIMENTS][64];
    struct CMUnitTest tests[EXPERIMENTS];
    int *way = &ways[argc > 1 && strcmp(argv[1], "isolated") == 0];
    for (int i = 0; i < EXPERIMENTS; i++) {
        snprintf(names[i], sizeof names[i], "%s, %s", experiments[i].name,
                 *way == LAB_ISOLATED ? "isolated" : "in-process");
        tests[i] = (struct CMUnitTest){names[i], experiments[i].run, begin, end, way};
    }
    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
