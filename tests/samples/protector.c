/* SPDX-License-Identifier: MIT */
/*
 * The sample processor_protector lowers the priority of processes that use too much processor time.
 * Tested are its decisions, with simulated measurements; which processes it may change, with
 * processes of the test; and the program itself. Where it could change processes, it gets only the
 * names of the test's child processes, because other people's processes run on this machine.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* SCHED_IDLE, pipe2 */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../samples/processor_protector/protector.h"
#include "../experiments/lab.h"
#include "../skip.h"

enum { THIRD_PARTY = 65534 };

/* ---- simulated measurements ---- */

static struct process all[4];
static struct look made = {.all = all};
static struct judge judge;

/* Simulates a measurement `seconds` after the last one, in which no process has worked. */
static void pass(double seconds)
{
    made.time += (int64_t)(seconds * SECOND_100NS);
    for (size_t i = 0; i < made.count; i++)
        all[i].work.SecondValue += (int64_t)(seconds * SECOND_100NS);
}

static void work(size_t at, double seconds)
{
    all[at].work.FirstValue += (int64_t)(seconds * SECOND_100NS);
}

static int begin(void **state)
{
    (void)state;
    memset(all, 0, sizeof all);
    made.count = 2;
    made.time = 1000 * (int64_t)SECOND_100NS;
    made.load = 100;
    judge = (struct judge){
        .limits = {.percent = 90, .seconds = 3, .load = 80}
    };
    for (uint32_t i = 0; i < 4; i++)
        all[i] = (struct process){
            .identity = {100 + i, 1000 * i},
              .parent = 1, .has_memory = true, .name = "cc"
        };
    assert_true(judge_look(&judge, &made));
    return 0;
}

static int end(void **state)
{
    (void)state;
    judge_end(&judge);
    return 0;
}

/* Simulates a second in which the process at position `at` uses `share` of one processor. */
static void second(size_t at, double share)
{
    pass(1);
    work(at, share);
    assert_true(judge_look(&judge, &made));
}

static bool too_long(uint32_t id)
{
    return judge_too_long(&judge, judge_find(&judge, id));
}

static void c37_three_seconds_are_too_long_and_two_are_not(void **state)
{
    (void)state;
    second(0, 1);
    second(0, 1);
    assert_false(too_long(100));
    second(0, 0.95);
    assert_true(too_long(100));
    assert_false(too_long(101));
    assert_true(judge_find(&judge, 100)->mean > 98 && judge_find(&judge, 100)->mean < 99);
}

static void c37_a_quiet_second_makes_a_burst_of_it(void **state)
{
    (void)state;
    second(0, 1);
    second(0, 1);
    second(0, 0.89);
    second(0, 1);
    second(0, 1);
    assert_false(too_long(100));
    second(0, 1);
    assert_true(too_long(100));
}

static void c37_several_processors_of_one_process_are_above_100(void **state)
{
    (void)state;
    judge.limits.percent = 250;
    for (int i = 0; i < 3; i++)
        second(0, i == 1 ? 2.6 : 3);
    assert_true(too_long(100));
}

static void a_number_that_is_used_again_is_somebody_new(void **state)
{
    (void)state;
    second(0, 1);
    second(0, 1);
    all[0].identity.began += 5; /* the process ended, and another one has its number now */
    second(0, 1);
    assert_false(too_long(100));
    assert_true(judge_find(&judge, 100)->percent < 0);
    second(0, 1);
    second(0, 1);
    assert_false(too_long(100));
    second(0, 1);
    assert_true(too_long(100));
}

/* There are two processes "cc". The first one ends, so the second one, which was "cc#1", is now
 * called "cc". It must not get the first one's times. */
static void a_name_that_moves_to_another_moves_nothing_else(void **state)
{
    (void)state;
    all[1].work.FirstValue = 500 * (int64_t)SECOND_100NS;
    second(0, 1);
    second(0, 1);
    all[0] = all[1];
    made.count = 1;
    second(0, 0.1);
    assert_null(judge_find(&judge, 100));
    assert_true(judge_find(&judge, 101)->percent > 9 && judge_find(&judge, 101)->percent < 11);
    assert_false(too_long(101));
}

static void the_order_of_a_look_means_nothing(void **state)
{
    (void)state;
    second(0, 1);
    struct process first = all[0];
    all[0] = all[1];
    all[1] = first;
    second(1, 1);
    second(1, 1);
    assert_true(too_long(100));
    assert_false(too_long(101));
}

static void on_an_idle_machine_no_process_waits(void **state)
{
    (void)state;
    made.load = 79;
    for (int i = 0; i < 10; i++)
        second(0, 1);
    assert_false(too_long(100));
    made.load = -1; /* the load of the machine is unknown */
    second(0, 1);
    made.load = 80;
    second(0, 1);
    second(0, 1);
    assert_false(too_long(100));
    second(0, 1);
    assert_true(too_long(100));
}

static void a_clock_that_is_set_is_no_work(void **state)
{
    (void)state;
    second(0, 1);
    second(0, 1);
    for (int i = 0; i < 2; i++)
        /* the interval is halved, so the share of processor time doubles */
        all[i].work.SecondValue -= SECOND_100NS / 2;
    second(0, 0.6);
    assert_true(judge_find(&judge, 100)->percent < 0);
    assert_false(too_long(100));
    second(0, 1);
    assert_true(judge_find(&judge, 100)->percent > 99);
}

/* On a machine without free processor time, a process with a high nice value gets little of it.
 * This must not count as "calm". */
static void a_process_given_little_time_is_not_calm(void **state)
{
    (void)state;
    made.load = 100;
    for (int i = 0; i < 5; i++)
        second(0, 0.1);
    assert_false(judge_calm_again(&judge, judge_find(&judge, 100)));
    made.load = 50;
    for (int i = 0; i < 3; i++)
        second(0, 0.1);
    assert_true(judge_calm_again(&judge, judge_find(&judge, 100)));
    second(0, 1);
    assert_false(judge_calm_again(&judge, judge_find(&judge, 100)));
}

static void parents_of_parents_and_circles(void **state)
{
    (void)state;
    made.count = 4;
    all[0].parent = 101;
    all[1].parent = 102;
    all[2].parent = 0;
    assert_true(look_is_parent(&made, 101, 100));
    assert_true(look_is_parent(&made, 102, 100));
    assert_false(look_is_parent(&made, 100, 100));
    assert_false(look_is_parent(&made, 103, 100));
    assert_false(look_is_parent(&made, 100, 101));
    all[2].parent = 100;
    assert_false(look_is_parent(&made, 103, 100));
}

/* ---- processes of the test ---- */

static void spin_until(double seconds)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)(now.tv_sec - from.tv_sec) + (double)(now.tv_nsec - from.tv_nsec) / 1e9 <
           seconds);
}

static void *rest(void *of)
{
    while (pause() < 0)
        ;
    return of;
}

/* What a child process of the test does. When it is ready, it writes a byte to a pipe. */
struct kind {
    double spins; /* how many seconds it works; 0: for ever; below 0: not at all */
    int threads, policy, nice;
    bool third_party; /* it runs as another user */
};

static void be(const struct kind *kind, const char *name, int ready)
{
    struct sched_param none = {0};
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, name);
    if ((kind->policy && sched_setscheduler(0, kind->policy, &none) < 0) ||
        (kind->nice && setpriority(PRIO_PROCESS, 0, kind->nice) < 0) ||
        (kind->third_party && setuid(THIRD_PARTY) < 0))
        _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* needed again, because a change of user resets it */
    for (int i = 1; i < kind->threads; i++)
        if (pthread_create(&thread, NULL, rest, NULL) != 0)
            _exit(1);
    if (write(ready, "", 1) != 1)
        _exit(1);
    if (kind->spins >= 0)
        spin_until(kind->spins > 0 ? kind->spins : 1e9);
    rest(NULL);
}

static pid_t child(const struct kind *kind, const char *name)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0)
        be(kind, name, ends[1]);
    assert_true(pid > 0);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

static void tombstone(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static const char *own_name(char letter)
{
    static char name[16];
    snprintf(name, sizeof name, "opl%c%u", letter, (unsigned)getpid());
    return name;
}

static struct held *hold_child(const struct kind *kind, pid_t *ret)
{
    *ret = child(kind, own_name('h'));
    struct held *held = hold((uint32_t)*ret);
    assert_non_null(held);
    return held;
}

static void c37_all_threads_are_lowered_and_get_back_what_they_had(void **state)
{
    (void)state;
    pid_t pid;
    int nice = 0, own = getpriority(PRIO_PROCESS, 0);
    struct held *held = hold_child(&(struct kind){.spins = -1, .threads = 4}, &pid);
    assert_int_equal(hold_judge(held, own + 3), SPARE_NOT);
    assert_true(hold_lower(held, own + 3));
    assert_int_equal(held->count, 4);
    assert_int_equal(held->was, own);
    assert_true(hold_nice(held, &nice));
    assert_int_equal(nice, own + 3);
    assert_int_equal(hold_judge(held, own + 3), SPARE_NICE);
    if (hold_may_restore()) {
        /* the test changes this thread's value: such a change by another program must not be
         * undone */
        assert_int_equal(setpriority(PRIO_PROCESS, held->threads[3].id, own + 5), 0);
        assert_true(hold_restore(held));
        for (int i = 0; i < 4; i++)
            assert_int_equal(getpriority(PRIO_PROCESS, held->threads[i].id), own + (i == 3) * 5);
    } else {
        assert_false(hold_restore(held));
        assert_true(errno == EACCES || errno == EPERM);
    }
    tombstone(pid);
    hold_end(held);
}

static void a_process_keeps_the_nice_value_it_had(void **state)
{
    (void)state;
    pid_t pid;
    int own = getpriority(PRIO_PROCESS, 0);
    struct held *held = hold_child(&(struct kind){.spins = -1, .threads = 2, .nice = 0}, &pid);
    if (hold_may_restore()) {
        assert_int_equal(setpriority(PRIO_PROCESS, (id_t)pid, own + 4), 0);
        assert_true(hold_lower(held, own + 4));
        assert_true(hold_restore(held));
        assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), own + 4);
    } else {
        report_skipped("giving priorities back needs rights");
    }
    tombstone(pid);
    hold_end(held);
}

static void spared_processes(void **state)
{
    (void)state;
    static const struct {
        struct kind kind;
        enum spare spare;
    } rows[] = {
        {{.spins = -1, .nice = 19},            SPARE_NICE  },
        {{.spins = -1, .policy = SCHED_IDLE},  SPARE_POLICY},
        {{.spins = -1, .policy = SCHED_BATCH}, SPARE_NOT   },
        {{.spins = -1, .third_party = true},   SPARE_USER  },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pid_t pid;
        if (rows[i].kind.third_party && getuid() != 0) {
            report_skipped("only root has processes of other users");
            continue;
        }
        struct held *held = hold_child(&rows[i].kind, &pid);
        assert_int_equal(hold_judge(held, 19), rows[i].spare);
        tombstone(pid);
        assert_int_equal(hold_judge(held, 19), SPARE_GONE);
        hold_end(held);
    }
}

/* If a held process has ended and another one has its number, that one must not be changed. */
static void a_held_process_does_not_become_another(void **state)
{
    (void)state;
    pid_t pid;
    int nice;
    struct held *held = hold_child(&(struct kind){.spins = -1}, &pid);
    tombstone(pid);
    assert_false(hold_nice(held, &nice));
    assert_int_equal(errno, ESRCH);
    assert_false(hold_lower(held, 19));
    assert_int_equal(held->count, 0);
    hold_end(held);
    assert_null(hold((uint32_t)pid));
}

static void samples_and_the_kernel_agree_on_identity(void **state)
{
    (void)state;
    struct watch watch;
    struct look look = {0};
    const char *what;
    pid_t pid;
    struct held *held = hold_child(&(struct kind){.spins = -1}, &pid);
    struct held *self = hold((uint32_t)getpid());
    assert_non_null(self);
    assert_int_equal(watch_open(&watch, &what), 0);
    assert_int_equal(watch_look(&watch, &look, &what), 0);
    const struct process *process = look_find(&look, (uint32_t)pid);
    assert_non_null(process);
    assert_string_equal(process->name, own_name('h'));
    assert_true(process->has_memory);
    assert_int_equal(process->parent, getpid());
    assert_true(look_is_parent(&look, (uint32_t)getpid(), (uint32_t)pid));
    assert_true(hold_is(held, self, &look, &process->identity));
    /* simulates an earlier process with the same number, which began a second before */
    struct identity before = process->identity;
    before.began -= SECOND_100NS;
    assert_false(hold_is(held, self, &look, &before));
    const struct process *kernel = look_find(&look, 2);
    if (kernel && strcmp(kernel->name, "kthreadd") == 0)
        assert_false(kernel->has_memory);
    tombstone(pid);
    watch_close(&watch, &look);
    hold_end(held);
    hold_end(self);
}

/* ---- the program ---- */

struct run {
    pid_t pid;
    int out;
    char reported[16384];
    size_t bytes;
};

static void start(struct run *run, const char *first, ...)
{
    char program[4096], *argv[16] = {program, (char *)first};
    va_list arguments;
    int ends[2];
    va_start(arguments, first);
    for (int i = 2; i < 16 && argv[i - 1]; i++)
        argv[i] = va_arg(arguments, char *);
    va_end(arguments);
    snprintf(program, sizeof program, "%s/samples/processor_protector", getenv("BUILD_ROOT"));
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    *run = (struct run){.pid = fork(), .out = ends[0]};
    if (run->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execv(program, argv);
        _exit(126);
    }
    assert_true(run->pid > 0);
    close(ends[1]);
}

/* Reads the program's output, for at most `milliseconds`. Returns false if the program has
 * ended. */
static bool listen_to(struct run *run, int milliseconds)
{
    struct pollfd polled = {.fd = run->out, .events = POLLIN};
    if (poll(&polled, 1, milliseconds) <= 0)
        return true;
    ssize_t got = read(run->out, run->reported + run->bytes, sizeof run->reported - 1 - run->bytes);
    run->bytes += got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* Waits until the program prints `what` about a process; up to ten seconds, because the machine may
 * be busy. */
static bool hears(struct run *run, const char *what, pid_t process)
{
    char text[64];
    long long until = lab_now_ms() + 10000;
    snprintf(text, sizeof text, "%-11s %7u ", what, (unsigned)process);
    while (!strstr(run->reported, text) && lab_now_ms() < until && listen_to(run, 100))
        ;
    return strstr(run->reported, text) != NULL;
}

static int finish(struct run *run)
{
    int status;
    kill(run->pid, SIGTERM);
    while (listen_to(run, 10000) && run->bytes < sizeof run->reported - 1)
        ;
    close(run->out);
    assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#define QUICK "--percent=1", "--interval=0.1", "--load=0"

static void c37_a_dry_run_names_it_and_changes_nothing(void **state)
{
    (void)state;
    struct run run;
    int own = getpriority(PRIO_PROCESS, 0);
    pid_t busy = child(&(struct kind){0}, own_name('b'));
    pid_t burst = child(&(struct kind){.spins = 0.1}, own_name('b'));
    start(&run, QUICK, "--seconds=0.4", "--nice=19", own_name('b'), NULL);
    assert_true(hears(&run, "would lower", busy));
    assert_int_equal(finish(&run), 0);
    assert_non_null(strstr(run.reported, "% of a processor for 0."));
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)busy), own);
    char other[32];
    snprintf(other, sizeof other, " %u ", (unsigned)burst);
    assert_null(strstr(run.reported, other));
    assert_string_equal(lab_events(NULL, true), "");
    tombstone(busy);
    tombstone(burst);
}

static void c37_with_act_it_is_lowered_and_reported(void **state)
{
    (void)state;
    struct run run;
    int own = getpriority(PRIO_PROCESS, 0);
    pid_t busy = child(&(struct kind){.threads = 3}, own_name('a'));
    start(&run, QUICK, "--seconds=0.2", "--nice=19", "--act", own_name('a'), NULL);
    assert_true(hears(&run, "lowered", busy));
    assert_int_equal(finish(&run), 0);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)busy), 19);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), own);
    assert_non_null(strstr(lab_read("events"), "was lowered: nice"));
    tombstone(busy);
}

static void everything_is_given_back_at_the_end(void **state)
{
    (void)state;
    struct run run;
    int own = getpriority(PRIO_PROCESS, 0);
    pid_t busy = child(&(struct kind){0}, own_name('r'));
    start(&run, QUICK, "--seconds=0.2", "--nice=19", "-ar", own_name('r'), NULL);
    if (!hold_may_restore()) {
        report_skipped("giving priorities back needs rights");
        while (listen_to(&run, 10000))
            ;
        assert_int_equal(finish(&run), 1);
        assert_non_null(strstr(run.reported, "RLIMIT_NICE"));
    } else {
        assert_true(hears(&run, "lowered", busy));
        assert_int_equal(finish(&run), 0);
        assert_true(hears(&run, "restored", busy));
        assert_int_equal(getpriority(PRIO_PROCESS, (id_t)busy), own);
    }
    tombstone(busy);
}

/* The parent process of the program (here the test itself) uses much processor time: it must not be
 * changed. */
static void c37_never_its_parents(void **state)
{
    (void)state;
    struct run run;
    char name[16] = "", reported[64];
    int own = getpriority(PRIO_PROCESS, 0);
    long long until = lab_now_ms() + 10000;
    prctl(PR_GET_NAME, name);
    prctl(PR_SET_NAME, own_name('p'));
    start(&run, QUICK, "--seconds=0.2", "--nice=19", "--act", own_name('p'), NULL);
    snprintf(reported, sizeof reported, "left alone  %7u ", (unsigned)getpid());
    while (!strstr(run.reported, reported) && lab_now_ms() < until && listen_to(&run, 0))
        spin_until(0.02);
    assert_int_equal(finish(&run), 0);
    prctl(PR_SET_NAME, name);
    assert_non_null(strstr(run.reported, reported));
    assert_non_null(strstr(run.reported, "it is a parent of this program"));
    assert_int_equal(getpriority(PRIO_PROCESS, 0), own);
}

static void c37_never_itself(void **state)
{
    (void)state;
    struct run run;
    /* changes nothing, because other programs may have the same name; the program's own work is
     * enough to be noticed */
    start(&run, "--percent=0.1", "--interval=0.1", "--load=0", "--seconds=0.1", "processor_prot*",
          NULL);
    assert_true(hears(&run, "left alone", run.pid));
    assert_int_equal(finish(&run), 0);
    assert_non_null(strstr(run.reported, "it is this program"));
}

static void c37_never_another_users(void **state)
{
    (void)state;
    struct run run;
    if (getuid() != 0) {
        report_skipped("only root has processes of other users");
        return;
    }
    int own = getpriority(PRIO_PROCESS, 0);
    pid_t busy = child(&(struct kind){.third_party = true}, own_name('u'));
    start(&run, QUICK, "--seconds=0.2", "--nice=19", "--act", own_name('u'), NULL);
    assert_true(hears(&run, "left alone", busy));
    assert_int_equal(finish(&run), 0);
    assert_non_null(strstr(run.reported, "its user ids are not all this user's"));
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)busy), own);
    tombstone(busy);
}

static void another_machines_numbers_mean_no_process_here(void **state)
{
    (void)state;
    struct run run;
    char tree[4096];
    snprintf(tree, sizeof tree, "%s/tests/roots/laptop4", getenv("SOURCE_ROOT"));
    setenv("OPENPERFLIB_SYSROOT", tree, 1);
    start(&run, QUICK, "--act", own_name('s'), NULL);
    unsetenv("OPENPERFLIB_SYSROOT");
    while (listen_to(&run, 10000))
        ;
    assert_int_equal(finish(&run), 1);
    assert_non_null(strstr(run.reported, "cannot be changed"));
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "--percent=much", "--percent=nan", "--nice=0",     "--nice=1.5", "--nice=20",
        "--interval=0",   "--load=101",    "--seconds=-1", "--no-such",  "--duration="};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct run run;
        start(&run, wrong[i], NULL);
        while (listen_to(&run, 10000))
            ;
        assert_int_equal(finish(&run), 2);
        assert_non_null(strstr(run.reported, "processor_protector: "));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(c37_three_seconds_are_too_long_and_two_are_not, begin, end),
        cmocka_unit_test_setup_teardown(c37_a_quiet_second_makes_a_burst_of_it, begin, end),
        cmocka_unit_test_setup_teardown(c37_several_processors_of_one_process_are_above_100, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_number_that_is_used_again_is_somebody_new, begin, end),
        cmocka_unit_test_setup_teardown(a_name_that_moves_to_another_moves_nothing_else, begin,
                                        end),
        cmocka_unit_test_setup_teardown(the_order_of_a_look_means_nothing, begin, end),
        cmocka_unit_test_setup_teardown(on_an_idle_machine_no_process_waits, begin, end),
        cmocka_unit_test_setup_teardown(a_clock_that_is_set_is_no_work, begin, end),
        cmocka_unit_test_setup_teardown(a_process_given_little_time_is_not_calm, begin, end),
        cmocka_unit_test_setup_teardown(parents_of_parents_and_circles, begin, end),
        cmocka_unit_test(c37_all_threads_are_lowered_and_get_back_what_they_had),
        cmocka_unit_test(a_process_keeps_the_nice_value_it_had),
        cmocka_unit_test(spared_processes),
        cmocka_unit_test(a_held_process_does_not_become_another),
        cmocka_unit_test(samples_and_the_kernel_agree_on_identity),
        cmocka_unit_test(c37_a_dry_run_names_it_and_changes_nothing),
        cmocka_unit_test(c37_with_act_it_is_lowered_and_reported),
        cmocka_unit_test(everything_is_given_back_at_the_end),
        cmocka_unit_test(c37_never_its_parents),
        cmocka_unit_test(c37_never_itself),
        cmocka_unit_test(c37_never_another_users),
        cmocka_unit_test(another_machines_numbers_mean_no_process_here),
        cmocka_unit_test(wrong_options_are_refused),
    };
    if (getpriority(PRIO_PROCESS, 0) > 14) {
        printf("1..0 # SKIP no process can be lowered by a process this nice\n");
        return 0;
    }
    lab_open();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    lab_close();
    return failed;
}
