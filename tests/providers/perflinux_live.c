/* SPDX-License-Identifier: MIT */
/*
 * perflinux.so on this machine: work and things that we make ourselves appear in its counters, as
 * much of it as other interfaces of the kernel say.
 */
#include "answer.h"
#include "../skip.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

enum { PRESSURE = 100100 };

static struct library perflinux;

static void ask(const char *query)
{
    assert_int_equal(library_ask(&perflinux, query), ERROR_SUCCESS);
    answer_begin();
}

static uint64_t asked(unsigned object, const char *name, unsigned index)
{
    char query[16];
    snprintf(query, sizeof query, "%u", object);
    ask(query);
    return answer_number(object, name, index, false);
}

static uint64_t monotonic_100ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 10000000 + (uint64_t)now.tv_nsec / 100;
}

/* ---- pressure: how long work waited, by the scheduler's own account ---- */

enum { PER_CPU = 3, MOST_CHILDREN = 256 };

static pid_t busy_on(unsigned cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pid_t child = fork();
    if (child == 0) {
        sched_setaffinity(0, sizeof one, &one);
        alarm(60); /* nobody is left behind */
        for (;;)
            ;
    }
    return child;
}

/* How long the process was ready but did not run, in 100 ns. */
static uint64_t waited(pid_t process)
{
    char path[64];
    unsigned long long ran = 0, delay = 0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)process);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%llu %llu", &ran, &delay) != 2)
        delay = 0;
    if (file)
        fclose(file);
    return delay / 100;
}

static void processors_under_pressure(void **state)
{
    cpu_set_t mine;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    sched_getaffinity(0, sizeof mine, &mine);
    ask("100100");
    if (!strstr(answer_names(PRESSURE), "cpu,") || CPU_COUNT(&mine) != cpus ||
        cpus * PER_CPU > MOST_CHILDREN || !waited(getpid())) {
        say_skipped("no pressure figures, no schedstat, or not all processors are ours");
        return;
    }
    pid_t children[MOST_CHILDREN];
    size_t count = 0;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        for (int i = 0; CPU_ISSET(cpu, &mine) && i < PER_CPU; i++)
            children[count++] = busy_on(cpu);
    usleep(100000);
    uint64_t start = monotonic_100ns(), before = asked(PRESSURE, "cpu", 100102), least = UINT64_MAX;
    uint64_t delays[MOST_CHILDREN];
    for (size_t i = 0; i < count; i++)
        delays[i] = waited(children[i]);
    usleep(700000);
    for (size_t i = 0; i < count; i++) {
        uint64_t delay = waited(children[i]) - delays[i];
        least = delay < least ? delay : least;
    }
    uint64_t stalled = asked(PRESSURE, "cpu", 100102) - before, time = monotonic_100ns() - start;
    for (size_t i = 0; i < count; i++)
        kill(children[i], SIGKILL), waitpid(children[i], NULL, 0);
    assert_true(least > 0);
    /* while any of them waits, some task waits; the kernel's samples may be a few ticks old */
    assert_true(stalled + 400000 >= least);
    assert_true(stalled <= time + 400000);
}

static int open_library(void **state)
{
    library_load(&perflinux, "perflinux", "OpenLinuxObject", "CollectLinuxObjectData",
                 "CloseLinuxObject");
    return (int)perflinux.open(NULL);
}

static int close_library(void **state)
{
    return (int)perflinux.close();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_under_pressure),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
