/* SPDX-License-Identifier: MIT */
/* Runs the querying program asker.c (each run is a session), and reads what the recording provider
 * (recorder.c) noted. */
#include "session.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMEOUT_MS = 10000, MOST_STEPS = 24, MOST_EXPERIMENTS = 64 };

int isolation;
static char reported[1 << 16]; /* what the last session printed */
static pid_t client_pid;

void install(const char *open, const char *collect, const char *list)
{
    lab_register(&(struct lab_service){"MyPerf", getenv("RECORDER"), open, collect, "record_close",
                                       list, isolation});
}

void install_second(const char *collect, const char *list)
{
    lab_register(&(struct lab_service){"MySecond", getenv("SECOND_RECORDER"), "record_open",
                                       collect, "record_close", list, isolation});
}

static void read_all(int from)
{
    size_t used = 0;
    ssize_t count;
    while ((count = read(from, reported + used, sizeof reported - 1 - used)) > 0 ||
           (count < 0 && errno == EINTR))
        used += count > 0 ? (size_t)count : 0;
    reported[used] = '\0';
    close(from);
}

/* A new process makes these queries and closes the key; its exit code must be 0. */
void session(const char *first, ...)
{
    char *steps[MOST_STEPS + 2] = {getenv("ASKER"), (char *)first};
    int pipes[2], status;
    va_list list;
    va_start(list, first);
    for (int i = 2; i < MOST_STEPS + 1 && (steps[i] = va_arg(list, char *)); i++)
        continue;
    va_end(list);
    assert_int_equal(pipe(pipes), 0);
    if ((client_pid = fork()) == 0) {
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        execv(steps[0], steps);
        _exit(127);
    }
    close(pipes[1]);
    read_all(pipes[0]);
    assert_int_equal(waitpid(client_pid, &status, 0), client_pid);
    assert_int_equal(status, 0);
}

/* Checks the process and thread of a call: the querying thread if the provider runs in-process,
 * else one process that is not the querying one. */
static void check_place(long pid, long tid, const char *what, long *helper)
{
    if (strcmp(what, "key closed") == 0)
        return;
    if (isolation == LAB_IN_PROCESS) {
        assert_int_equal(pid, client_pid);
        assert_int_equal(tid, client_pid);
    } else {
        assert_int_not_equal(pid, client_pid);
        if (*helper && strstr(what, "second") == NULL)
            assert_int_equal(pid, *helper);
        *helper = strstr(what, "second") ? *helper : pid;
    }
}

const char *calls_so_far(void)
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

/* Expects that exactly these calls were noted since the last check; "": none. A helper process may
 * note Close a moment after the key was closed. */
void expect_calls(const char *wanted)
{
    long long until = lab_now_ms() + TIMEOUT_MS;
    while (strlen(calls_so_far()) < strlen(wanted) && lab_now_ms() < until)
        usleep(10000);
    assert_string_equal(calls_so_far(), wanted);
    lab_remove("notes");
}

void expect_events(const char *wanted)
{
    assert_string_equal(lab_events(NULL, false), wanted);
    lab_remove("events");
}

/* The line with the answer to a query, without the query: "status 0, 1 try, 2:17". */
const char *answer_to(const char *question)
{
    static char line[4096];
    char head[64];
    snprintf(head, sizeof head, "%s: ", question);
    const char *start = reported;
    while (strncmp(start, head, strlen(head)) != 0) {
        start = strchr(start, '\n');
        if (!start++ || !*start)
            fail_msg("no answer to %s in:\n%s", question, reported);
    }
    start += strlen(head);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(start, "\n"), start);
    return line;
}

/* How many calls of RegQueryValueEx the command "grow QUERY" of asker.c needed. */
int tries_of(const char *question)
{
    int status, tries;
    assert_int_equal(sscanf(answer_to(question), "status %d, %d", &status, &tries), 2);
    assert_int_equal(status, 0);
    return tries;
}

bool answered(const char *question, const char *object)
{
    char with_gaps[4100], wanted[64];
    snprintf(with_gaps, sizeof with_gaps, "%s ", answer_to(question));
    snprintf(wanted, sizeof wanted, " %s%s", object, strchr(object, ':') ? " " : ":");
    assert_non_null(strstr(with_gaps, "status 0,"));
    assert_null(strstr(with_gaps, "damaged"));
    return strstr(with_gaps, wanted) != NULL;
}

/* Expects that the event `id` was reported `times` times, and no other event: the first ten are
 * written one by one; the rest are written as one event with their count, when the key is
 * closed. */
void expect_each_time(unsigned id, int times)
{
    const char *ids = lab_events(NULL, true);
    int count = 0;
    for (char *end; *ids; ids = end, count++)
        assert_int_equal(strtoul(ids, &end, 10), id);
    assert_int_equal(count, times <= 10 ? times : 11);
}

DWORD disabled(void)
{
    long long value = lab_get_dword(lab_performance("MyPerf"), "Disable Performance Counters");
    return value < 0 ? 0 : (DWORD)value;
}

static int begin_session(void **state)
{
    isolation = *(int *)*state;
    lab_remove("notes");
    lab_remove("events");
    return 0;
}

/* Values below Perflib that the tests set. */
static const char *const switches[] = {"Disable Performance Counters", "EventLogLevel",
                                       "Configuration Flags", "Error Count Limit"};

static int end_session(void **state)
{
    lab_unregister("MyPerf");
    lab_unregister("MySecond");
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
        lab_unset(LAB_PERFLIB, switches[i]);
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

int run_experiments(const struct experiment *experiments, size_t count, const char *way)
{
    static int ways[] = {LAB_IN_PROCESS, LAB_ISOLATED};
    static char names[MOST_EXPERIMENTS][64];
    static struct CMUnitTest tests[MOST_EXPERIMENTS];
    int *chosen = &ways[strcmp(way, "isolated") == 0];
    size_t used = 0;
    for (size_t i = 0; i < count && used < MOST_EXPERIMENTS; i++) {
        if (experiments[i].isolated_only && *chosen != LAB_ISOLATED)
            continue;
        snprintf(names[used], sizeof names[used], "%s, %s", experiments[i].name, way);
        tests[used] = (struct CMUnitTest){names[used], experiments[i].run, begin_session,
                                          end_session, chosen};
        used++;
    }
    return _cmocka_run_group_tests("experiments", tests, used, open_lab, close_lab);
}
