/* SPDX-License-Identifier: MIT */
/* A claim (a lock of the library) belongs to one thread at a time. fork() does not wait until a
 * claim is released, and in the child process the claim is free. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 20000 };
static struct claim claim;
static long long counted; /* changed only by the thread that has the claim */

static void *count(void *nothing)
{
    for (int i = 0; i < ROUNDS; i++) {
        claim_take(&claim);
        long long before = counted;
        if (i % 100 == 0)
            usleep(1);
        counted = before + 1;
        claim_release(&claim);
    }
    return nothing;
}

static void one_thread_at_a_time(void **state)
{
    pthread_t threads[THREADS];
    counted = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counted, THREADS * ROUNDS);
}

static void *take_and_release(void *nothing)
{
    claim_take(&claim);
    claim_release(&claim);
    return nothing;
}

static void *try_for_a_while(void *nothing)
{
    int64_t start = clock_ticks(), wait = CLOCK_TICKS_PER_SECOND / 10;
    assert_false(claim_take_until(&claim, start + wait));
    assert_true(clock_ticks() - start >= wait);
    assert_false(claim_take_until(&claim, 0));
    return NULL;
}

/* A thread that waits for the claim with a time limit, and gives up, does not disturb the thread
 * that holds the claim, nor other waiting threads. */
static void waiting_has_an_end(void **state)
{
    pthread_t waiting, hasty;
    counted = 0;
    assert_true(claim_take_until(&claim, 0));
    assert_int_equal(pthread_create(&waiting, NULL, count, NULL), 0);
    assert_int_equal(pthread_create(&hasty, NULL, try_for_a_while, NULL), 0);
    pthread_join(hasty, NULL);
    assert_int_equal(counted, 0);
    claim_release(&claim);
    pthread_join(waiting, NULL);
    assert_int_equal(counted, ROUNDS);
}

/* The process forks while one thread has the claim and another waits for it: in the child, the
 * claim is free. */
static void a_claim_is_open_in_a_child(void **state)
{
    pthread_t waiting;
    int ended;
    claim_take(&claim);
    assert_int_equal(pthread_create(&waiting, NULL, take_and_release, NULL), 0);
    usleep(20 * 1000);
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        for (int i = 0; i < 2; i++)
            take_and_release(NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    claim_release(&claim);
    pthread_join(waiting, NULL);
}

/* In the parent process, the claim still belongs to the thread that took it. */
static void a_fork_leaves_it_as_it_is(void **state)
{
    pthread_t waiting;
    int ended;
    claim_take(&claim);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(pthread_create(&waiting, NULL, count, NULL), 0);
    counted = 0;
    usleep(20 * 1000);
    assert_int_equal(counted, 0);
    claim_release(&claim);
    pthread_join(waiting, NULL);
    assert_int_equal(counted, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_at_a_time),
        cmocka_unit_test(waiting_has_an_end),
        cmocka_unit_test(a_claim_is_open_in_a_child),
        cmocka_unit_test(a_fork_leaves_it_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
