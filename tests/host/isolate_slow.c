/* SPDX-License-Identifier: MIT */
/* What can only be seen after some time: a keeper (the process that starts a client's helper
 * processes) with nothing to do ends after 30 s, and the client continues with a new one; a keeper
 * whose client has become another program by exec ends within seconds. */
#include "host/isolation/isolate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 4096 };

/* The keeper's process id: the parent of the helper process. */
static pid_t request_keeper(struct isolated_provider *isolated)
{
    char answer[SIZE] = "";
    struct isolate_reply reply;
    struct isolate_request request = {
        .service = "Naughty",
        .library = getenv("NAUGHTY"),
        .procedures = {"good_open", "look_collect", "good_close"},
        .query = "Global",
        .capacity = SIZE - 1,
    };
    if (isolate_send(isolated, &request))
        return 0;
    int64_t deadline = clock_ticks() + 20 * (int64_t)CLOCK_TICKS_PER_SECOND;
    isolate_wait(isolated, deadline, deadline, &reply);
    if (reply.end != ISOLATE_ANSWERED)
        return 0;
    isolate_copy(isolated, answer, reply.bytes);
    const char *last = strrchr(answer, ' ');
    return last ? atoi(last) : 0;
}

static bool gone_within(pid_t pid, int seconds)
{
    for (int i = 0; i < seconds * 10 && kill(pid, 0) == 0; i++)
        usleep(100000);
    return kill(pid, 0) != 0;
}

static void an_idle_keeper_goes_and_a_new_one_comes(void **state)
{
    struct isolated_provider *isolated;
    assert_int_equal(isolate_new(&isolated), 0);
    pid_t keeper = request_keeper(isolated);
    assert_true(keeper > 0);
    isolate_close(isolated, true, clock_ticks() + 20 * (int64_t)CLOCK_TICKS_PER_SECOND, NULL);
    sleep(20);
    assert_int_equal(kill(keeper, 0), 0);
    assert_int_equal(request_keeper(isolated), keeper);
    sleep(40); /* the keeper does not end while it has a helper process */
    assert_int_equal(kill(keeper, 0), 0);
    isolate_end(isolated);
    assert_true(gone_within(keeper, 45));
    pid_t next = request_keeper(isolated);
    assert_true(next > 0);
    assert_int_not_equal(next, keeper);
    isolate_free(isolated);
}

/* The client's process continues with another program, which does not use the library. */
static void a_keeper_goes_when_its_client_became_another_program(void **state)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct isolated_provider *isolated;
        pid_t keeper = isolate_new(&isolated) ? 0 : request_keeper(isolated);
        if (write(ends[1], &keeper, sizeof keeper) == sizeof keeper)
            execlp("sleep", "sleep", "60", (char *)NULL);
        _exit(1);
    }
    pid_t keeper = 0;
    assert_int_equal(read(ends[0], &keeper, sizeof keeper), sizeof keeper);
    assert_true(keeper > 0);
    assert_true(gone_within(keeper, 15));
    assert_int_equal(kill(child, 0), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_keeper_goes_and_a_new_one_comes),
        cmocka_unit_test(a_keeper_goes_when_its_client_became_another_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
