/* SPDX-License-Identifier: MIT */
/*
 * perfos.so on this machine: each count must lie between a value that the test read just before and
 * one that it read just after; and work that the test does must be counted.
 */
#include "answer.h"
#include "../skip.h"

#include <ctype.h>
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

enum { SYSTEM = 2, MEMORY = 4, CACHE = 86, PROCESSOR = 238, OBJECTS = 260 };

static struct library perfos;

static void run_query(const char *query)
{
    assert_int_equal(library_query(&perfos, query), ERROR_SUCCESS);
    answer_begin();
}

/* ---- the test reads the values itself, in another way than the provider ---- */

/* Returns number `number` (from 1) of the line that begins with `word`. */
static uint64_t reading(const char *path, const char *word, int number)
{
    char line[16384];
    uint64_t value = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        size_t length = strlen(word);
        if (strncmp(line, word, length) != 0 || isalnum((unsigned char)line[length]) ||
            line[length] == '_')
            continue;
        char *rest = NULL, *field = strtok_r(line, " :\t\n", &rest);
        for (int i = 0; field && i < number; i++)
            field = strtok_r(NULL, " :\t\n", &rest);
        value = field ? strtoull(field, NULL, 10) : 0;
        break;
    }
    if (file)
        fclose(file);
    return value;
}

static bool there(const char *path, const char *word)
{
    return reading(path, word, 1) != 0;
}

/* Returns the number of a processor's interrupts in /proc/interrupts. Its columns are the online
 * processors, so column `cpu` is right only if all processors are online. */
static uint64_t interrupts_of(unsigned cpu)
{
    char line[65536];
    uint64_t sum = 0;
    FILE *file = fopen("/proc/interrupts", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!colon || strncasecmp(colon - 3, "ERR", 3) == 0 || strncmp(colon - 3, "MIS", 3) == 0)
            continue;
        char *at = colon + 1;
        for (unsigned i = 0; i < cpu; i++)
            strtoull(at, &at, 10);
        sum += strtoull(at, NULL, 10);
    }
    if (file)
        fclose(file);
    return sum;
}

static bool between(uint64_t before, uint64_t value, uint64_t after, bool wide)
{
    uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
    return ((value - before) & mask) <= ((after - before) & mask);
}

/* ---- values between two readings of the test ---- */

/* clang-format off */
static const struct count {
    unsigned object, index;
    const char *path, *word;
    int number;
} counts[] = {
    {SYSTEM, 146, "/proc/stat",   "ctxt",       1},
    {MEMORY, 28,  "/proc/vmstat", "pgfault",    1},
    {MEMORY, 42,  "/proc/vmstat", "pgmajfault", 1},
    {MEMORY, 48,  "/proc/vmstat", "pswpout",    1},
    {CACHE,  140, "/proc/vmstat", "nr_written", 1},
};
/* clang-format on */

static void counts_lie_between(void **state)
{
    uint64_t before[sizeof counts / sizeof *counts];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        before[i] = reading(counts[i].path, counts[i].word, counts[i].number);
    run_query("Global");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t after = reading(counts[i].path, counts[i].word, counts[i].number);
        if (!there(counts[i].path, counts[i].word) &&
            !answer_has(counts[i].object, counts[i].index))
            continue;
        uint64_t value = answer_number(counts[i].object, NULL, counts[i].index, false);
        if (!between(before[i], value, after, false))
            fail_msg("%s: %llu is not from %llu to %llu", counts[i].word, (unsigned long long)value,
                     (unsigned long long)before[i], (unsigned long long)after);
    }
}

static uint64_t cpu_ticks(unsigned cpu, int first, int second, int third)
{
    char word[16];
    snprintf(word, sizeof word, "cpu%u", cpu);
    uint64_t sum = reading("/proc/stat", word, first);
    sum += second ? reading("/proc/stat", word, second) : 0;
    sum += third ? reading("/proc/stat", word, third) : 0;
    return sum * (10000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void times_lie_between(void **state)
{
    static const struct {
        unsigned index;
        int columns[3];
    } times[] = {
        {142, {1, 2}   },
        {144, {3, 6, 7}},
        {696, {7}      },
        {698, {6}      }
    };
    uint64_t before[4];
    for (size_t i = 0; i < 4; i++)
        before[i] = cpu_ticks(0, times[i].columns[0], times[i].columns[1], times[i].columns[2]);
    run_query("238");
    for (size_t i = 0; i < 4; i++) {
        uint64_t after =
            cpu_ticks(0, times[i].columns[0], times[i].columns[1], times[i].columns[2]);
        assert_in_range(answer_number(PROCESSOR, "0", times[i].index, false), before[i], after);
    }
}

static void interrupts_lie_between(void **state)
{
    uint64_t before = interrupts_of(0);
    run_query("238");
    if (!before || !answer_has(PROCESSOR, 148)) {
        report_skipped("interrupts are not reported here");
        return;
    }
    assert_true(
        between(before, answer_number(PROCESSOR, "0", 148, false), interrupts_of(0), false));
}

static void idle_and_processor_time_are_one(void **state)
{
    run_query("238");
    VALUE(PROCESSOR, "0", 6, answer_number(PROCESSOR, "0", 1746, false));
    assert_true(answer_number(PROCESSOR, "0", 6, false) > 0);
}

static void levels_are_what_the_kernel_says(void **state)
{
    run_query("4");
    assert_int_equal(answer_number(MEMORY, NULL, 30, false),
                     reading("/proc/meminfo", "CommitLimit", 1) * 1024);
    uint64_t total = reading("/proc/meminfo", "MemTotal", 1) * 1024;
    assert_in_range(answer_number(MEMORY, NULL, 24, false), 1, total);
    assert_in_range(answer_number(MEMORY, NULL, 1676, false), 1, total);
    assert_int_equal(answer_number(MEMORY, NULL, 24, false) >> 20,
                     answer_number(MEMORY, NULL, 1382, false));
}

static void up_time_is_that_of_the_kernel(void **state)
{
    opl_object_view object;
    run_query("2");
    assert_true(answer_object(SYSTEM, &object));
    double ours = (double)(object.type.PerfTime.QuadPart -
                           (LONGLONG)answer_number(SYSTEM, NULL, 674, false)) /
                  1e7;
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    double theirs = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    assert_true(ours <= theirs + 0.02 && ours > theirs - 1.0);
}

/* ---- work that the test does ---- */

static uint64_t processes_by_names(void)
{
    uint64_t count = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc && (entry = readdir(proc));)
        count += isdigit((unsigned char)*entry->d_name) != 0;
    closedir(proc);
    return count;
}

/* Other processes start and end at the same time, so the test tries again: the value must be exact
 * as soon as none does. */
static void processes_are_exact(void **state)
{
    enum { CHILDREN = 20, TRIES = 200 };
    pid_t children[CHILDREN];
    bool exact = false;
    if (!sees_all_processes()) {
        report_skipped("not all processes can be seen from here");
        return;
    }
    for (int i = 0; i < CHILDREN; i++)
        if ((children[i] = fork()) == 0)
            pause(), _exit(0);
    for (int i = 0; i < TRIES && !exact; i++) {
        uint64_t before = processes_by_names();
        run_query("2 260");
        uint64_t value = answer_number(SYSTEM, NULL, 248, false);
        exact = value == before && value == processes_by_names() && value > CHILDREN &&
                answer_number(OBJECTS, NULL, 248, false) == value;
    }
    for (int i = 0; i < CHILDREN; i++)
        kill(children[i], SIGKILL), waitpid(children[i], NULL, 0);
    assert_true(exact);
}

static uint64_t queried(unsigned object, unsigned index)
{
    run_query("Global");
    return answer_number(object, NULL, index, false);
}

static void faults_appear(void **state)
{
    enum { PAGES = 4000 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory =
        mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
    uint64_t before = queried(MEMORY, 28);
    for (size_t i = 0; i < PAGES; i++)
        memory[i * page] = 1;
    assert_true((uint32_t)(queried(MEMORY, 28) - before) >= PAGES);
    munmap(memory, PAGES * page);
}

static void answer_each(int in, int out)
{
    char byte;
    while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
        ;
    _exit(0);
}

/* Two processes on one processor exchange bytes: for each byte, one has to wait for the other, so
 * each byte causes a context switch. */
static void switches_appear(void **state)
{
    enum { ROUNDS = 2000 };
    int there_pipe[2], back_pipe[2];
    char byte = 0;
    cpu_set_t mine, one;
    sched_getaffinity(0, sizeof mine, &mine);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    assert_int_equal(pipe(there_pipe) | pipe(back_pipe), 0);
    pid_t child = fork();
    if (child == 0)
        close(there_pipe[1]), answer_each(there_pipe[0], back_pipe[1]);
    uint64_t before = queried(SYSTEM, 146);
    for (int i = 0; i < ROUNDS; i++)
        if (write(there_pipe[1], &byte, 1) != 1 || read(back_pipe[0], &byte, 1) != 1)
            fail();
    uint64_t after = queried(SYSTEM, 146);
    close(there_pipe[0]), close(there_pipe[1]), close(back_pipe[0]), close(back_pipe[1]);
    waitpid(child, NULL, 0);
    sched_setaffinity(0, sizeof mine, &mine);
    assert_true((uint32_t)(after - before) >= 2 * ROUNDS);
}

static double own_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t busy_time(void)
{
    opl_object_view object;
    opl_instance_view instance = {0};
    uint64_t sum = 0;
    char name[16];
    run_query("238");
    assert_true(answer_object(PROCESSOR, &object));
    while (opl_object_next_instance(&answer_block, &object, &instance)) {
        opl_instance_name(&answer_block, &object, &instance, name, sizeof name);
        if (isdigit((unsigned char)*name))
            sum += answer_number(PROCESSOR, name, 142, false) +
                   answer_number(PROCESSOR, name, 144, false);
    }
    return sum;
}

/* The kernel counts ticks of 10 ms, so a few ticks of the half second of work may be missing. */
static void processor_time_appears(void **state)
{
    uint64_t before = busy_time();
    for (double start = own_seconds(); own_seconds() - start < 0.5;)
        ;
    assert_true(busy_time() - before >= 4500000);
}

static int open_library(void **state)
{
    return library_open(&perfos, "perfos");
}

static int close_library(void **state)
{
    return (int)perfos.close();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_lie_between),
        cmocka_unit_test(times_lie_between),
        cmocka_unit_test(interrupts_lie_between),
        cmocka_unit_test(idle_and_processor_time_are_one),
        cmocka_unit_test(levels_are_what_the_kernel_says),
        cmocka_unit_test(up_time_is_that_of_the_kernel),
        cmocka_unit_test(processes_are_exact),
        cmocka_unit_test(faults_appear),
        cmocka_unit_test(switches_appear),
        cmocka_unit_test(processor_time_appears),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
