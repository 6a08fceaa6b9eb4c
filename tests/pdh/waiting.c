/* SPDX-License-Identifier: MIT */
/*
 * Which queries wait while a provider is slow? Only those that need this provider. Here the answer
 * for Process is delayed, and that for System comes at once. Values, lists and other queries must
 * not wait.
 */
#include "pdh/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <semaphore.h>
#include <time.h>

#define FAKE_QUERY slow_query
#include "fake.h"

static const struct pdh_from now;
static sem_t queried, answer;
static bool slow;

/* Gets each query before fake.h: a query of Process alone is delayed. */
static LSTATUS slow_query(const char *path, const char *name, bool wide, DWORD *type, void *data,
                          DWORD *size)
{
    if (__atomic_load_n(&slow, __ATOMIC_ACQUIRE) && !strcmp(name, "230")) {
        sem_post(&queried);
        sem_wait(&answer);
    }
    return fake_query(path, name, wide, type, data, size);
}

static PDH_HQUERY processes, system_query;
static PDH_HCOUNTER process, length;

static void *collect_processes(void *ret)
{
    *(PDH_STATUS *)ret = query_collect(processes, NULL);
    return NULL;
}

static int prepare(void **state)
{
    fake_reset(state);
    sem_init(&queried, 0, 0);
    sem_init(&answer, 0, 0);
    return query_open(now, 0, &processes) || query_open(now, 0, &system_query) ||
           counter_add(processes, "\\Process(init)\\ID Process", false, 0, &process) ||
           counter_add(system_query, "\\System\\Processor Queue Length", false, 0, &length) ||
           query_collect(processes, NULL) || query_collect(system_query, NULL);
}

static int clean(void **state)
{
    return query_close(processes) || query_close(system_query);
}

static LONG value_of(PDH_HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE value;
    assert_int_equal(counter_value(counter, PDH_FMT_LONG, NULL, &value), 0);
    return value.longValue;
}

/* Does, in this thread, everything that needs no answer for Process. If anything of it waited for
 * Process, it would wait for ever. */
static void go_on(void)
{
    PDH_HQUERY other;
    PDH_HCOUNTER counter;
    LONGLONG base;
    BUFFER_AUTO list = {0};
    fake_length = 7;
    assert_int_equal(query_collect(system_query, NULL), 0);
    assert_int_equal(value_of(length), 7);
    /* the value of the previous sample, because the query still waits for the new one */
    assert_int_equal(value_of(process), 1);
    assert_int_equal(counter_scale(process, 2), 0);
    assert_int_equal(value_of(process), 100);
    assert_int_equal(counter_scale(process, 0), 0);
    assert_int_equal(counter_time_base(process, &base), 0);
    assert_int_equal(query_open(now, 0, &other), 0);
    assert_int_equal(counter_add(other, "\\System\\44", true, 0, &counter), 0);
    assert_int_equal(query_collect(other, NULL), 0);
    assert_int_equal(value_of(counter), 7);
    assert_int_equal(query_close(other), 0);
    assert_int_equal(expand_path(now, "\\System\\Proc*", 0, &list), 0);
    assert_int_equal(path_validate(now, "\\System\\44"), 0);
}

static void only_its_own_question_waits(void **state)
{
    PDH_STATUS status = 77;
    pthread_t thread;
    struct timespec end;
    __atomic_store_n(&slow, true, __ATOMIC_RELEASE);
    assert_int_equal(pthread_create(&thread, NULL, collect_processes, &status), 0);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    assert_int_equal(sem_timedwait(&queried, &end), 0);
    go_on();
    fake_processes[0].id = 5;
    __atomic_store_n(&slow, false, __ATOMIC_RELEASE);
    sem_post(&answer);
    pthread_join(thread, NULL);
    assert_int_equal(status, 0);
    assert_int_equal(value_of(process), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_its_own_question_waits, prepare, clean),
    };
    return cmocka_run_group_tests_name("pdh-waiting", tests, NULL, NULL);
}
