/* SPDX-License-Identifier: MIT */
/* The mechanism of isolation through its inner door: who answers, who is late, who died of what. */
#include "host/isolate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 4096, MILLISECOND = CLOCK_TICKS_PER_SECOND / 1000 };

static struct isolated *isolated;
static struct isolate_reply reply;
static char answer[ROOM];

static struct isolate_request request_of(const char *open, const char *collect, const char *close)
{
    return (struct isolate_request){
        .service = "Naughty",
        .library = getenv("NAUGHTY"),
        .procedures = {open, collect, close},
        .query = "Global",
        .room = ROOM,
        .guards = true,
    };
}

static void wait_for(int milliseconds)
{
    int64_t deadline = clock_ticks() + (int64_t)milliseconds * MILLISECOND;
    isolate_wait(isolated, deadline, deadline, &reply);
}

static void ask_open(const char *open, const char *collect)
{
    struct isolate_request request = request_of(open, collect, "good_close");
    assert_int_equal(isolate_ask(isolated, &request), 0);
    wait_for(10000);
}

static void ask(const char *collect)
{
    ask_open("good_open", collect);
}

static int begin(void **state)
{
    return (int)isolate_new(&isolated);
}

static int end(void **state)
{
    isolate_free(isolated);
    return 0;
}

static void take_text(void)
{
    assert_int_equal(reply.end, ISOLATE_ANSWERED);
    assert_int_equal(reply.stage, ISOLATE_COLLECT);
    assert_int_equal(reply.status, 0);
    assert_true(reply.guards_intact);
    assert_true(reply.bytes < ROOM);
    assert_int_equal(reply.end_offset, reply.bytes);
    assert_int_equal(reply.objects, 1);
    isolate_copy(isolated, answer, reply.bytes);
    answer[reply.bytes] = '\0';
}

static void answers_in_another_process(void **state)
{
    for (int i = 0; i < 3; i++) {
        unsigned opened;
        int pid;
        ask("good_collect");
        take_text();
        assert_int_equal(sscanf(answer, "Gl:4096:%u:%d", &opened, &pid), 2);
        assert_int_equal(opened, 1);
        assert_int_not_equal(pid, getpid());
    }
}

static void closes_and_says_what_close_said(void **state)
{
    ask("good_collect");
    isolate_close(isolated, true, clock_ticks() + CLOCK_TICKS_PER_SECOND, &reply);
    assert_int_equal(reply.end, ISOLATE_ANSWERED);
    assert_int_equal(reply.stage, ISOLATE_CLOSE);
    assert_int_equal(reply.status, 7);
}

static const struct death {
    const char *collect;
    enum isolate_end end;
    int code;
    uint64_t address;
} deaths[] = {
    {"crash_collect",       ISOLATE_CRASHED, SIGSEGV, 0x1234},
    {"abort_collect",       ISOLATE_CRASHED, SIGABRT, 0     },
    {"overflow_collect",    ISOLATE_CRASHED, SIGSEGV, 1     },
    {"kill_collect",        ISOLATE_CRASHED, SIGKILL, 0     },
    {"exit_collect",        ISOLATE_EXITED,  3,       0     },
    {"_exit_collect",       ISOLATE_EXITED,  4,       0     },
    {"thread_exit_collect", ISOLATE_EXITED,  0,       0     },
};

static void says_at_once_what_it_died_of(void **state)
{
    for (size_t i = 0; i < COUNT(deaths); i++) {
        const struct death *death = &deaths[i];
        int64_t before = clock_ticks();
        print_message("# %s\n", death->collect);
        ask(death->collect);
        print_message("# %d %d %s\n", reply.end, reply.code, reply.text);
        assert_int_equal(reply.end, death->end);
        assert_int_equal(reply.stage, ISOLATE_COLLECT);
        assert_int_equal(reply.code, death->code);
        if (death->address > 1)
            assert_int_equal(reply.address, death->address);
        else
            assert_int_equal(reply.address != 0, death->address);
        assert_true(clock_ticks() - before < 3 * (int64_t)CLOCK_TICKS_PER_SECOND);
        ask("good_collect");
        take_text();
        isolate_end(isolated);
    }
}

static void late_is_late_and_may_come_later(void **state)
{
    ask("good_collect");
    isolate_end(isolated);
    struct isolate_request request = request_of("good_open", "nap_collect", "good_close");
    assert_int_equal(isolate_ask(isolated, &request), 0);
    wait_for(50);
    assert_int_equal(reply.end, ISOLATE_LATE);
    assert_true(isolate_busy(isolated));
    assert_int_equal(isolate_ask(isolated, &request), ERROR_BUSY);
    wait_for(5000);
    take_text();
    assert_string_equal(answer, "late");
    assert_false(isolate_busy(isolated));
}

static void ends_who_never_answers(void **state)
{
    static const char *const who[] = {"loop_collect", "stop_collect"};
    for (size_t i = 0; i < COUNT(who); i++) {
        struct isolate_request request = request_of("good_open", who[i], "good_close");
        assert_int_equal(isolate_ask(isolated, &request), 0);
        wait_for(100);
        assert_int_equal(reply.end, ISOLATE_LATE);
        isolate_end(isolated);
        assert_false(isolate_busy(isolated));
        ask("good_collect");
        take_text();
        isolate_end(isolated);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_in_another_process, begin, end),
        cmocka_unit_test_setup_teardown(closes_and_says_what_close_said, begin, end),
        cmocka_unit_test_setup_teardown(says_at_once_what_it_died_of, begin, end),
        cmocka_unit_test_setup_teardown(late_is_late_and_may_come_later, begin, end),
        cmocka_unit_test_setup_teardown(ends_who_never_answers, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
