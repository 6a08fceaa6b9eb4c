/* SPDX-License-Identifier: MIT */
/*
 * Programs that a child process could disturb: they count their children, ignore them, wait for all
 * of them, fork, close descriptors that are not theirs, or end while a provider hangs. Each gets
 * its counters, and never notices the helper process in which a third-party provider runs.
 * (docs/isolation.md)
 */
#include "isolation.h"

#include <pthread.h>
#include <sys/prctl.h>

#define TENTH 100000 /* microseconds */

/* ---- actions of all programs ---- */

static void query_hanging(void)
{
    static unsigned char storage[1 << 20];
    DWORD size = sizeof storage;
    RegQueryValueExA(HKEY_PERFORMANCE_DATA, "22222", NULL, NULL, storage, &size);
}

static void *hang_in_thread(void *unused)
{
    query_hanging();
    return unused;
}

/* Queries the provider Visitor, then Victim, which crashes in its helper process, and closes the
 * key: so helper processes start, answer, crash and end. */
static void use_helpers(void)
{
    visitor_install("Visitor", "visitor_collect");
    CHECK(visitor_process() > 0);
    CHECK(visitor_process() != getpid());
    visitor_install("Victim", "visitor_crash");
    CHECK(answers("Global", 2)); /* the other objects are in the answer nevertheless */
    pid_t victim = noted_process();
    CHECK(victim > 0 && victim != getpid());
    CHECK(process_ends_within(victim, 2000));
    CHECK_IS(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
}

/* ---- SIGCHLD and waiting ---- */

static volatile sig_atomic_t children_ended;

static void count_child(int signal)
{
    (void)signal;
    children_ended++;
}

INDEPENDENT(own_handler_of_sigchld_counts_none_of_ours)
{
    struct sigaction action = {.sa_handler = count_child};
    sigaction(SIGCHLD, &action, NULL);
    use_helpers();
    CHECK_IS(children_ended, 0);
    pid_t own = fork();
    if (own == 0)
        _exit(3);
    int status = 0;
    while (waitpid(own, &status, 0) < 0 && errno == EINTR)
        ;
    CHECK_IS(WEXITSTATUS(status), 3);
    CHECK_IS(children_ended, 1); /* only the program's own child */
}

INDEPENDENT(ignored_sigchld_hides_nothing)
{
    signal(SIGCHLD, SIG_IGN);
    use_helpers();
    /* the library noticed that the helper process ended, and by which signal */
    CHECK(event_has(1010, "Victim"));
    struct sigaction now;
    sigaction(SIGCHLD, NULL, &now);
    CHECK(now.sa_handler == SIG_IGN);
}

static _Atomic int third_parties_reaped, waiter_stops;

static void *wait_for_all(void *unused)
{
    while (!waiter_stops) {
        pid_t pid = waitpid(-1, NULL, 0);
        third_parties_reaped += pid > 0;
        CHECK(pid > 0 || errno == ECHILD || errno == EINTR);
        usleep(200);
    }
    return unused;
}

INDEPENDENT(waiting_for_all_children_finds_none_of_ours)
{
    pthread_t waiter;
    pthread_create(&waiter, NULL, wait_for_all, NULL);
    use_helpers();
    CHECK(visitor_process() > 0);
    waiter_stops = 1;
    pthread_join(waiter, NULL);
    CHECK_IS(third_parties_reaped, 0);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

/* ---- what a program can see of itself ---- */

INDEPENDENT(no_descriptor_thread_or_mask_is_left)
{
    visitor_install("Visitor", "visitor_collect");
    CHECK(answers("2 230", 230));
    size_t descriptors = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
    sigset_t before, after;
    sigemptyset(&before), sigemptyset(&after);
    sigprocmask(SIG_SETMASK, NULL, &before);
    CHECK(visitor_process() > 0);
    sigprocmask(SIG_SETMASK, NULL, &after);
    CHECK_IS(entries_of("/proc/self/fd"), descriptors);
    CHECK_IS(entries_of("/proc/self/task"), threads);
    for (int i = 1; i < 65; i++)
        CHECK_IS(sigismember(&after, i), sigismember(&before, i));
}

INDEPENDENT(all_descriptors_closed_between_queries)
{
    visitor_install("Visitor", "visitor_collect");
    pid_t helper = visitor_process();
    CHECK(helper > 0);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    CHECK_IS(visitor_process(), helper);
    CHECK(answers("230", 230));
    close(0), close(1), close(2);
    bool standard = visitor_process() == helper && answers("230", 230);
    /* open returns the lowest free descriptor: if that is 0, the library uses none of 0, 1, 2 */
    int taken = open("/dev/null", O_RDWR | O_CLOEXEC);
    exit(failures || !standard || taken != 0);
}

INDEPENDENT(no_standard_descriptors_when_the_helper_starts)
{
    visitor_install("Visitor", "visitor_collect");
    close(0), close(1), close(2);
    pid_t helper = visitor_process();
    int taken = open("/dev/null", O_RDWR | O_CLOEXEC);
    exit(failures || helper <= 0 || taken != 0);
}

/* ---- fork ---- */

/* Runs in a child of fork(): its answers come from a helper process of its own. */
static void query_as_child(pid_t parents_helper)
{
    pid_t helper = visitor_process();
    CHECK(helper > 0 && helper != parents_helper && helper != getpid());
    CHECK(answers("230", 230));
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    fflush(NULL);
    _exit(failures ? 1 : 0);
}

INDEPENDENT(forked_child_asks_and_parent_goes_on)
{
    int status = -1;
    visitor_install("Visitor", "visitor_collect");
    pid_t helper = visitor_process();
    CHECK(helper > 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        query_as_child(helper);
    CHECK_IS(visitor_process(), helper); /* while the child queries */
    CHECK_IS(waitpid(child, &status, 0), child);
    CHECK_IS(status, 0);
    /* the child's end does not end the parent's helper process */
    CHECK_IS(visitor_process(), helper);
}

INDEPENDENT(fork_returns_while_a_provider_hangs)
{
    visitor_install("Victim", "visitor_hang");
    pthread_t thread;
    int status = -1;
    pthread_create(&thread, NULL, hang_in_thread, NULL);
    CHECK(noted_process() > 0);
    double start = seconds();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(answers("230", 230) ? 0 : 1);
    CHECK(seconds() - start < 0.3);
    CHECK_IS(waitpid(child, &status, 0), child);
    CHECK_IS(status, 0);
    pthread_join(thread, NULL);
}

/* ---- threads ---- */

static void *query_once(void *ret)
{
    *(pid_t *)ret = visitor_process();
    return NULL;
}

INDEPENDENT(helper_outlives_the_thread_that_started_it)
{
    pid_t helper = 0;
    pthread_t thread;
    visitor_install("Visitor", "visitor_collect");
    pthread_create(&thread, NULL, query_once, &helper);
    pthread_join(thread, NULL);
    usleep(TENTH);
    CHECK(helper > 0);
    CHECK_IS(visitor_process(), helper);
}

static void *query_for_ever(void *unused)
{
    static _Thread_local unsigned char storage[1 << 20];
    for (;;) {
        DWORD size = sizeof storage;
        RegQueryValueExA(HKEY_PERFORMANCE_DATA, "2 230 22222", NULL, NULL, storage, &size);
        pthread_testcancel();
    }
    return unused;
}

INDEPENDENT(f_c4_a_cancelled_thread_leaves_no_lock)
{
    visitor_install("Visitor", "visitor_collect");
    CHECK(visitor_process() > 0);
    for (int i = 0; i < 40; i++) {
        pthread_t thread;
        CHECK_IS(pthread_create(&thread, NULL, query_for_ever, NULL), 0);
        usleep((useconds_t)(i * 997 % 20000));
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        alarm(60); /* ends this process if a lock was not released */
        CHECK(answers("230", 230));
        CHECK(visitor_process() > 0);
        alarm(0);
    }
    CHECK_IS(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
}

/* ---- how programs and helper processes end ---- */

/* Starts a program in which a provider hangs in another thread; then the program calls `last`. */
static pid_t start_hanging(void (*last)(void), pid_t *ret_helper)
{
    visitor_install("Victim", "visitor_hang");
    fflush(NULL);
    pid_t program = fork();
    if (program == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, hang_in_thread, NULL);
        noted_process();
        last();
    }
    *ret_helper = noted_process();
    CHECK(*ret_helper > 0);
    return program;
}

static void exit_good(void)
{
    exit(0);
}

static void wait_to_be_killed(void)
{
    for (;;)
        pause();
}

/* Returns how many seconds one exit takes. It can be long, because sanitizers search for leaks at
 * exit, and other programs use the processors. */
static double exit_once(void)
{
    int status = -1;
    pid_t helper, program = start_hanging(exit_good, &helper);
    double start = seconds();
    CHECK_IS(waitpid(program, &status, 0), program);
    double took = seconds() - start;
    CHECK_IS(status, 0);
    CHECK(process_ends_within(helper, 1000));
    return took;
}

/* If exit waited for the provider, each of the measured exits would take a second or more. */
INDEPENDENT(exit_while_a_provider_hangs_returns_at_once)
{
    double least = exit_once();
    for (int again = 0; again < 4 && least >= 0.6; again++)
        least = exit_once();
    CHECK(least < 0.6);
}

INDEPENDENT(killed_program_takes_its_helper_along)
{
    int status = -1;
    pid_t helper, program = start_hanging(wait_to_be_killed, &helper);
    CHECK(process_runs(helper));
    kill(program, SIGKILL);
    CHECK_IS(waitpid(program, &status, 0), program);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK(process_ends_within(helper, 1000));
}

INDEPENDENT(exec_takes_the_helper_along)
{
    visitor_install("Visitor", "visitor_collect");
    int pipes[2], status = -1;
    pid_t helper = 0;
    CHECK_IS(pipe2(pipes, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t program = fork();
    if (program == 0) {
        helper = visitor_process();
        if (write(pipes[1], &helper, sizeof helper) == sizeof helper)
            execlp("sleep", "sleep", "0", (char *)NULL);
        _exit(9);
    }
    CHECK_IS(read(pipes[0], &helper, sizeof helper), sizeof helper);
    CHECK_IS(waitpid(program, &status, 0), program);
    CHECK_IS(status, 0);
    CHECK(helper > 0 && process_ends_within(helper, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_handler_of_sigchld_counts_none_of_ours),
        cmocka_unit_test(ignored_sigchld_hides_nothing),
        cmocka_unit_test(waiting_for_all_children_finds_none_of_ours),
        cmocka_unit_test(no_descriptor_thread_or_mask_is_left),
        cmocka_unit_test(all_descriptors_closed_between_queries),
        cmocka_unit_test(no_standard_descriptors_when_the_helper_starts),
        cmocka_unit_test(forked_child_asks_and_parent_goes_on),
        cmocka_unit_test(fork_returns_while_a_provider_hangs),
        cmocka_unit_test(helper_outlives_the_thread_that_started_it),
        cmocka_unit_test(f_c4_a_cancelled_thread_leaves_no_lock),
        cmocka_unit_test(exit_while_a_provider_hangs_returns_at_once),
        cmocka_unit_test(killed_program_takes_its_helper_along),
        cmocka_unit_test(exec_takes_the_helper_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
