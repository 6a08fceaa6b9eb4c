/* SPDX-License-Identifier: MIT */
/*
 * perflinux.so on this machine: work that the test does, and resources that it uses, appear in the
 * counters as exactly as in other interfaces of the kernel.
 */
#include "answer.h"
#include "../skip.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

enum {
    PROCESSOR = 100000,
    PRESSURE = 100100,
    INODES = 100200,
    SOFTNET = 100400,
    ZONE = 100500,
    SLAB = 100600,
    LIMITS = 100700
};

static struct library perflinux;

static void run_query(const char *query)
{
    assert_int_equal(library_query(&perflinux, query), ERROR_SUCCESS);
    answer_begin();
}

static uint64_t queried(unsigned object, const char *name, unsigned index)
{
    char query[16];
    snprintf(query, sizeof query, "%u", object);
    run_query(query);
    return answer_number(object, name, index, false);
}

static uint64_t monotonic_100ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 10000000 + (uint64_t)now.tv_nsec / 100;
}

/* ---- pressure: how long processes waited, as the scheduler itself counts it ---- */

enum { PER_CPU = 3, MOST_CHILDREN = 256 };

static pid_t busy_on(unsigned cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pid_t child = fork();
    if (child == 0) {
        sched_setaffinity(0, sizeof one, &one);
        alarm(60); /* ends the child even if the test fails before it does */
        for (;;)
            ;
    }
    return child;
}

/* Returns how long the process was ready to run but did not run, in 100 ns. */
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
    run_query("100100");
    if (!strstr(answer_names(PRESSURE), "cpu,") || CPU_COUNT(&mine) != cpus ||
        cpus * PER_CPU > MOST_CHILDREN || !waited(getpid())) {
        report_skipped("no pressure figures, no schedstat, or not all processors are ours");
        return;
    }
    pid_t children[MOST_CHILDREN];
    size_t count = 0;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        for (int i = 0; CPU_ISSET(cpu, &mine) && i < PER_CPU; i++)
            children[count++] = busy_on(cpu);
    usleep(100000);
    uint64_t start = monotonic_100ns(), before = queried(PRESSURE, "cpu", 100102),
             least = UINT64_MAX;
    uint64_t delays[MOST_CHILDREN];
    for (size_t i = 0; i < count; i++)
        delays[i] = waited(children[i]);
    usleep(700000);
    for (size_t i = 0; i < count; i++) {
        uint64_t delay = waited(children[i]) - delays[i];
        least = delay < least ? delay : least;
    }
    uint64_t stalled = queried(PRESSURE, "cpu", 100102) - before, time = monotonic_100ns() - start;
    for (size_t i = 0; i < count; i++)
        kill(children[i], SIGKILL), waitpid(children[i], NULL, 0);
    assert_true(least > 0);
    /* a processor is "stalled" while any child waits, so at least as long as one child waited; the
     * kernel's samples may be a few ticks old */
    assert_true(stalled + 400000 >= least);
    assert_true(stalled <= time + 400000);
}

/* ---- processors: time of a child with a high nice value, as it measured it ---- */

static uint64_t nice_time(void)
{
    opl_object_view object;
    opl_instance_view instance = {0};
    uint64_t sum = 0;
    char name[32];
    run_query("100000");
    assert_true(answer_object(PROCESSOR, &object));
    while (opl_object_next_instance(&answer_block, &object, &instance)) {
        opl_instance_name(&answer_block, &object, &instance, name, sizeof name);
        if (!strstr(name, "_Total"))
            sum += answer_number(PROCESSOR, name, 100002, false);
    }
    return sum;
}

static void unimportant_work_appears(void **state)
{
    struct rusage used;
    uint64_t before = nice_time();
    pid_t child = fork();
    if (child == 0) {
        if (nice(1) < 0) /* enough to be counted; with 19 a busy machine would never run it */
            _exit(1);
        for (struct rusage now = {0}; now.ru_utime.tv_sec * 1000000 + now.ru_utime.tv_usec < 400000;
             getrusage(RUSAGE_SELF, &now))
            for (volatile int i = 0; i < 1000000; i++) /* in the program, not in the kernel */
                ;
        _exit(0);
    }
    assert_int_equal(wait4(child, NULL, 0, &used), child);
    uint64_t mine =
        (uint64_t)used.ru_utime.tv_sec * 10000000 + (uint64_t)used.ru_utime.tv_usec * 10;
    /* the kernel counts whole ticks, and a tick that falls into kernel code is not counted as the
     * program's */
    assert_true(nice_time() - before + 2000000 >= mine);
}

/* ---- limits ---- */

static void open_files_appear(void **state)
{
    enum { MOST = 4000 };
    static int files[MOST];
    struct rlimit limit;
    run_query("100700");
    if (!answer_has(LIMITS, 100712)) {
        report_skipped("no count of open files");
        return;
    }
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    uint64_t before = queried(LIMITS, NULL, 100712);
    int count = 0;
    while (count < MOST && (files[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        count++;
    uint64_t after = queried(LIMITS, NULL, 100712);
    for (int i = 0; i < count; i++)
        close(files[i]);
    /* each processor keeps a part of the count, and other programs close files meanwhile */
    if (count == MOST)
        assert_true(after - before >= MOST / 2 && after - before < 10 * MOST);
    else
        report_skipped("too few descriptors are allowed");
}

static void processes_appear(void **state)
{
    enum { CHILDREN = 300 };
    pid_t children[CHILDREN];
    int count = 0;
    uint64_t before = queried(LIMITS, NULL, 100702);
    for (; count < CHILDREN && (children[count] = fork()) >= 0; count++)
        if (children[count] == 0)
            pause(), _exit(0);
    uint64_t after = queried(LIMITS, NULL, 100702);
    for (int i = 0; i < count; i++)
        kill(children[i], SIGKILL), waitpid(children[i], NULL, 0);
    if (count == CHILDREN) /* may be too few, because other processes end meanwhile */
        assert_true(after >= before + CHILDREN / 2);
    else
        report_skipped("too few processes are allowed");
}

/* ---- packets ---- */

static void packets_appear(void **state)
{
    enum { PACKETS = 4000 };
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof to;
    int in = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), sent = 0;
    run_query("100400");
    if (!answer_has(SOFTNET, 100402) || bind(in, (struct sockaddr *)&to, size) != 0 ||
        getsockname(in, (struct sockaddr *)&to, &size) != 0) {
        report_skipped("no softnet figures, or no loopback");
        close(in), close(out);
        return;
    }
    uint64_t before = queried(SOFTNET, "_Total", 100402);
    for (int i = 0; i < PACKETS; i++)
        sent += sendto(out, "x", 1, 0, (struct sockaddr *)&to, size) == 1;
    uint64_t after = queried(SOFTNET, "_Total", 100402);
    close(in), close(out);
    assert_true(sent == 0 || (uint32_t)(after - before) + 100 >= (uint32_t)sent);
}

/* ---- memory, compared with other interfaces of the kernel ---- */

static uint64_t meminfo_bytes(const char *key)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), ": %llu", &kib);
    if (file)
        fclose(file);
    return kib * 1024;
}

static bool near(uint64_t value, uint64_t other, uint64_t distance)
{
    return value + distance >= other && other + distance >= value;
}

static void zones_are_the_memory(void **state)
{
    run_query("100500");
    if (!answer_has(ZONE, 1768)) {
        report_skipped("no zones are shown");
        return;
    }
    uint64_t free_bytes = 0, value = 0;
    for (int i = 0; i < 50 && !near(value, free_bytes, 16 << 20); i++) {
        value = queried(ZONE, "_Total", 1768);
        free_bytes = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    }
    assert_true(near(value, free_bytes, 16 << 20)); /* other programs allocate and free meanwhile */
    if (answer_has(ZONE,
                   100504)) /* a hypervisor may have taken back some of the machine's memory */
        assert_in_range(queried(ZONE, "_Total", 100504), value,
                        meminfo_bytes("MemTotal") + (64 << 20));
}

/* Compares with the output of stat(1), which uses another system call than the provider. */
static void inodes_are_those_of_stat(void **state)
{
    unsigned long long all = 0, free_inodes = 0;
    FILE *tool = popen("stat -f -c '%c %d' / 2>/dev/null", "r");
    int found = tool ? fscanf(tool, "%llu %llu", &all, &free_inodes) : 0;
    if (tool)
        pclose(tool);
    run_query("100200");
    if (found != 2 || all == 0 || strncmp(answer_names(INODES), "/,", 2) != 0) {
        report_skipped("no stat(1), or the root has no fixed number of inodes");
        return;
    }
    assert_int_equal(answer_number(INODES, "/", 100202, false), all);
    assert_true(near(answer_number(INODES, "/", 100204, false), free_inodes, all / 100 + 10000));
}

static void slabs_are_the_kernels_memory(void **state)
{
    run_query("100600");
    if (!answer_has(SLAB, 100602)) {
        report_skipped("slabs are root's to see");
        return;
    }
    uint64_t value = queried(SLAB, "_Total", 100602), slab = meminfo_bytes("Slab");
    assert_true(near(value, slab, slab / 4));
}

static int open_library(void **state)
{
    return library_open(&perflinux, "perflinux");
}

static int close_library(void **state)
{
    return (int)perflinux.close();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_under_pressure),
        cmocka_unit_test(unimportant_work_appears),
        cmocka_unit_test(open_files_appear),
        cmocka_unit_test(processes_appear),
        cmocka_unit_test(packets_appear),
        cmocka_unit_test(zones_are_the_memory),
        cmocka_unit_test(inodes_are_those_of_stat),
        cmocka_unit_test(slabs_are_the_kernels_memory),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
