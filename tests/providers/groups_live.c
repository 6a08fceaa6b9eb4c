/* SPDX-License-Identifier: MIT */
/*
 * The objects Job Object, Job Object Details and systemd Unit are compared with control groups that
 * the test makes, in which a worker process does work of known size. Needs root. Uses a mount
 * namespace of its own, and those controllers that are enabled. Each test runs in a child process.
 */
#include "answer.h"
#include "../skip.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum { PROCESS = 230, JOB = 1500, DETAILS = 1548, UNIT = 100900 };
enum { CANNOT_RUN = 77, MEBI = 1 << 20, MEMORY = 32 * MEBI, DISK = 4 * MEBI, THREADS = 3 };

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

static struct library perfproc, perflinux;

/* ---- in the child process, which ends at the first error ---- */

static char group[256]; /* below sys/fs/cgroup */
static pid_t worker;
static bool slice_is_ours;
static int orders[2], answers[2];

static void remove_group(void)
{
    char path[300];
    if (worker > 0)
        kill(worker, SIGKILL), waitpid(worker, NULL, 0);
    snprintf(path, sizeof path, "/sys/fs/cgroup/%s", group);
    for (int i = 0; *group && i < 100 && rmdir(path) && errno == EBUSY; i++)
        usleep(10000);
    if (slice_is_ours)
        rmdir("/sys/fs/cgroup/system.slice");
}

static void leave(int code)
{
    remove_group();
    fflush(stdout);
    _exit(code);
}

static void is_near(int line, const char *what, double value, double expected, double distance)
{
    if (value >= expected - distance && value <= expected + distance)
        return;
    printf("# line %d: %s: %.0f, not %.0f\n", line, what, value, expected);
    leave(1);
}

#define CLOSE_TO(value, expected, distance)                                                        \
    is_near(__LINE__, #value, (double)(value), (double)(expected), (double)(distance))
#define IS(value, expected) CLOSE_TO(value, expected, 0)
#define BETWEEN(value, low, high) CLOSE_TO(value, ((low) + (high)) / 2, ((high) - (low)) / 2)

static void run_query(const struct library *library, const char *query)
{
    IS(library_query(library, query), ERROR_SUCCESS);
    IS(opl_block_init(&answer_block, answer.bytes, sizeof answer), OPL_BLOCK_GOOD);
}

static bool write_file(const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "/sys/fs/cgroup/%s/%s", group, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return good;
}

static void not_reported(const char *what)
{
    printf("# skipped: %s: its controller is not on here\n", what);
}

/* ---- the worker ---- */

struct account {
    uint64_t user, system, elapsed; /* microseconds */
    bool done;
};

static uint64_t microseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void burn(uint64_t time)
{
    static char bytes[MEBI];
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    uint64_t start = microseconds(CLOCK_PROCESS_CPUTIME_ID);
    while (microseconds(CLOCK_PROCESS_CPUTIME_ID) - start < time / 2)
        for (volatile int i = 0; i < 10000; i++)
            ;
    while (microseconds(CLOCK_PROCESS_CPUTIME_ID) - start < time)
        if (read(zero, bytes, sizeof bytes) < 0)
            break;
    close(zero);
}

static char *touched;

static bool touch(size_t bytes)
{
    touched = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(touched, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; touched != MAP_FAILED && i < bytes; i += 4096)
        touched[i] = 1;
    return touched != MAP_FAILED;
}

static void *sleeper(void *arg)
{
    pause();
    return arg;
}

static bool start_threads(void)
{
    pthread_t thread;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, sleeper, NULL))
            return false;
    return true;
}

/* Writes and reads a file without the page cache, in pieces of 64 KiB. */
static bool use_disk(void)
{
    enum { PIECE = 65536 };
    char file[512];
    void *piece;
    const char *folder = getenv("TMPDIR");
    snprintf(file, sizeof file, "%s/opl-groups-XXXXXX", folder ? folder : getenv("BUILD_ROOT"));
    int fd = mkstemp(file);
    bool good = fd >= 0 && posix_memalign(&piece, 4096, PIECE) == 0 && ftruncate(fd, DISK) == 0 &&
                fcntl(fd, F_SETFL, O_DIRECT) == 0;
    for (off_t at = 0; good && at < DISK; at += PIECE)
        good = pwrite(fd, piece, PIECE, at) == PIECE;
    for (off_t at = 0; good && at < DISK; at += PIECE)
        good = pread(fd, piece, PIECE, at) == PIECE;
    if (fd >= 0)
        unlink(file), close(fd);
    return good;
}

static bool work(char order)
{
    switch (order) {
    case 'c':
        burn(400000);
        return true;
    case 'm':
        return touch(MEMORY);
    case 't':
        return start_threads();
    case 'd':
        return use_disk();
    case 's':
        return madvise(touched, MEMORY, MADV_PAGEOUT) == 0;
    default:
        return true;
    }
}

static void run_worker(void)
{
    char order;
    while (read(orders[0], &order, 1) == 1) {
        struct rusage used;
        uint64_t start = microseconds(CLOCK_MONOTONIC);
        struct account account = {.done = work(order)};
        account.elapsed = microseconds(CLOCK_MONOTONIC) - start;
        getrusage(RUSAGE_SELF, &used);
        account.user = (uint64_t)used.ru_utime.tv_sec * 1000000 + (uint64_t)used.ru_utime.tv_usec;
        account.system = (uint64_t)used.ru_stime.tv_sec * 1000000 + (uint64_t)used.ru_stime.tv_usec;
        if (write(answers[1], &account, sizeof account) != sizeof account)
            break;
    }
    _exit(0);
}

static struct account order(char what)
{
    struct account account = {0};
    IS(write(orders[1], &what, 1), 1);
    IS(read(answers[0], &account, sizeof account), sizeof account);
    usleep(20000); /* time until the worker waits again */
    return account;
}

/* Starts the worker process in a new control group below the group `above` ("": below the root).
 * What the worker did before it was moved there is not counted for the group. */
static void begin(const char *above)
{
    char path[300], number[16];
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        _exit(CANNOT_RUN);
    if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) != 0 &&
        mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL) != 0)
        _exit(CANNOT_RUN);
    if (*above) {
        snprintf(path, sizeof path, "/sys/fs/cgroup/%s", above);
        slice_is_ours = mkdir(path, 0755) == 0;
    }
    snprintf(group, sizeof group, "%s%sopl_test-%d.service", above, *above ? "/" : "",
             (int)getpid());
    snprintf(path, sizeof path, "/sys/fs/cgroup/%s", group);
    if (mkdir(path, 0755) != 0)
        leave(CANNOT_RUN);
    IS(pipe(orders) + pipe(answers), 0);
    worker = fork();
    if (worker == 0)
        run_worker();
    snprintf(number, sizeof number, "%d", (int)worker);
    if (!write_file("cgroup.procs", number))
        leave(CANNOT_RUN);
    /* opens the providers again, because they had opened files of the old mount namespace */
    perfproc.close(), perflinux.close();
    IS(perfproc.open(NULL) + perflinux.open(NULL), 0);
}

static void in_child(void (*test)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        test();
        leave(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN)
        report_skipped("no control groups of our own can be made here");
    else
        assert_int_equal(status, 0);
}

/* ---- jobs ---- */

static uint64_t job(unsigned index)
{
    char name[256];
    snprintf(name, sizeof name, "%s", group);
    run_query(&perfproc, "1500");
    return answer_number(JOB, name, index, false);
}

static void child_job_time(void)
{
    begin("");
    struct account none = order(' ');
    uint64_t before = job(1522), user_before = job(1524), system_before = job(1526);
    uint64_t raw_before = job(1502);
    struct account used = order('c');
    double user = (double)(used.user - none.user), system = (double)(used.system - none.system);
    double all = user + system;
    CLOSE_TO(job(1522) - before, all / 1000, all / 100000 + 2);
    CLOSE_TO(job(1502) - raw_before, all * 10, all / 10 + 20000);
    /* user and system time are estimated by ticks, separately for a process and for a group */
    CLOSE_TO(job(1524) - user_before, user / 1000, 80);
    CLOSE_TO(job(1526) - system_before, system / 1000, 80);
    CLOSE_TO(job(1504), job(1524) * 10000, 20000);
    CLOSE_TO(job(1506), job(1526) * 10000, 20000);
    IS(job(1518), 1);
}

static void time_of_a_job_appears(void **state)
{
    in_child(child_job_time);
}

static void child_job_memory(void)
{
    enum { PAGES = MEMORY / 4096 };
    begin("");
    run_query(&perfproc, "1500");
    if (!answer_has(JOB, 1514)) {
        not_reported("page faults of groups");
        return;
    }
    order(' ');
    uint64_t before = job(1514);
    IS(order('m').done, true);
    sleep(3); /* newer kernels update these values every two seconds */
    CLOSE_TO((uint32_t)(job(1514) - before), PAGES, PAGES / 100 + 64);
    IS(job(1520), 0);
    if (!write_file("memory.swap.max", "0"))
        not_reported("swap of groups");
    IS(job(102102), 0);
    IS(write_file("memory.max", "8388608"), true); /* less than the group uses now */
    IS(job(102102), 8388608);
    char more = 'm';
    IS(write(orders[1], &more, 1), 1);
    int status = 0;
    IS(waitpid(worker, &status, 0), worker);
    IS(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, true);
    worker = 0;
    IS(job(1520), 1);
    IS(job(1518), 0);
}

static void faults_and_ends_of_a_job_appear(void **state)
{
    in_child(child_job_memory);
}

/* A limit lets the group use only a tenth of a processor's time. */
static void child_job_limit(void)
{
    begin("");
    run_query(&perfproc, "1500");
    if (!answer_has(JOB, 102104) || job(102104) != 0 || !write_file("cpu.max", "10000 100000")) {
        not_reported("limits of processor time");
        return;
    }
    struct account none = order(' ');
    uint64_t before = job(102106);
    struct account used = order('c');
    double waited =
        (double)used.elapsed - (double)(used.user + used.system - none.user - none.system);
    CLOSE_TO(job(102106) - before, waited * 10, waited); /* within 10 % */
    IS(job(102104), 10000);
    IS(answer_number(JOB, group, 102104, true), 100000);
}

static void limit_of_a_job_appears(void **state)
{
    in_child(child_job_limit);
}

static void use_first_processor(pid_t process)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    IS(sched_setaffinity(process, sizeof set, &set), 0);
}

/* The worker competes with a process outside its group for a processor; then it waits for a
 * disk. On a busy machine it also waits for a processor before it takes an order and after it has
 * answered, which is pressure too, but no part of the elapsed time that it measures. */
static void child_job_pressure(void)
{
    begin("");
    run_query(&perfproc, "1500");
    if (!answer_has(JOB, 102108)) {
        not_reported("pressure of groups");
        return;
    }
    struct account none = order(' ');
    uint64_t before = job(102108), memory_before = job(102110);
    use_first_processor(worker);
    pid_t other = fork();
    if (other == 0) {
        use_first_processor(0);
        burn(20000000);
        _exit(0);
    }
    uint64_t start = microseconds(CLOCK_MONOTONIC);
    struct account used = order('c');
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    double waited =
        (double)used.elapsed - (double)(used.user + used.system - none.user - none.system);
    uint64_t pressure = job(102108) - before;
    double unseen = (double)(microseconds(CLOCK_MONOTONIC) - start) - (double)used.elapsed;
    BETWEEN(pressure, waited * 9 - 200000, (waited + unseen) * 11 + 200000);
    IS(job(102110), memory_before);
    before = job(102112);
    uint64_t processor_before = job(102108);
    none = used;
    used = order('d');
    if (!used.done) {
        not_reported("waiting for a disk");
        return;
    }
    double most =
        (double)used.elapsed - (double)(used.user + used.system - none.user - none.system);
    double least = most - (double)(job(102108) - processor_before) / 10;
    BETWEEN(job(102112) - before, least * 5 - 50000, most * 15 + 50000);
}

static void pressure_of_a_job_appears(void **state)
{
    in_child(child_job_pressure);
}

/* ---- the processes of jobs, compared with the object Process, which other tests check ---- */

static bool find_process(unsigned object_index, opl_object_view *object,
                         opl_instance_view *instance)
{
    opl_counter_view id;
    uint64_t number;
    memset(instance, 0, sizeof *instance);
    IS(answer_object(object_index, object) && answer_counter(object, 784, false, &id), true);
    while (opl_object_next_instance(&answer_block, object, instance))
        if (opl_counter_number(&answer_block, instance, &id, &number) && number == (uint64_t)worker)
            return true;
    return false;
}

static unsigned same_rows(const opl_object_view *details, const opl_instance_view *one,
                          const opl_object_view *process, const opl_instance_view *other)
{
    opl_counter_view row = {0}, same;
    uint64_t value, theirs;
    unsigned rows = 0;
    for (; opl_object_next_counter(&answer_block, details, &row); rows++) {
        DWORD index = row.definition.CounterNameTitleIndex;
        bool is_io = (index >= 1412 && index <= 1424) || index > 101800;
        if (is_io && !answer_counter(process, 1412, false, &same))
            /* Process lacks such a counter if this user may not read it for every process */
            continue;
        IS(answer_counter(process, row.definition.CounterNameTitleIndex, false, &same), true);
        IS(opl_counter_number(&answer_block, one, &row, &value), true);
        IS(opl_counter_number(&answer_block, other, &same, &theirs), true);
        /* the kernel's records of times (BPF) are more precise than /proc */
        CLOSE_TO(value, theirs, theirs / 1000);
    }
    return rows;
}

static void child_details(void)
{
    opl_object_view details, process;
    opl_instance_view one, other;
    char name[256] = "";
    begin("");
    IS(order('c').done && order('m').done && order('t').done, true);
    run_query(&perfproc, "230 1548");
    IS(find_process(DETAILS, &details, &one) && find_process(PROCESS, &process, &other), true);
    IS(same_rows(&details, &one, &process, &other) >= 20, true);
    IS(one.definition.ParentObjectTitleIndex, JOB);
    opl_object_view jobs;
    opl_instance_view parent = {0};
    IS(answer_object(JOB, &jobs), true);
    for (DWORD i = 0; i <= one.definition.ParentObjectInstance; i++)
        IS(opl_object_next_instance(&answer_block, &jobs, &parent), true);
    opl_instance_name(&answer_block, &jobs, &parent, name, sizeof name);
    IS(strcmp(name, group), 0);
}

static void processes_of_a_job_are_those_of_process(void **state)
{
    in_child(child_details);
}

/* ---- units ---- */

static uint64_t unit(unsigned index)
{
    char name[256];
    snprintf(name, sizeof name, "%s", strchr(group, '/') + 1);
    run_query(&perflinux, "100900");
    return answer_number(UNIT, name, index, false);
}

/* Does the counter exist, and has this control group the file from which it is read? */
static bool unit_has(unsigned index, const char *file)
{
    char path[400];
    snprintf(path, sizeof path, "/sys/fs/cgroup/%s/%s", group, file);
    run_query(&perflinux, "100900");
    return answer_has(UNIT, index) && access(path, R_OK) == 0;
}

static void child_unit(void)
{
    begin("system.slice");
    struct account none = order(' ');
    uint64_t before = unit(6), user_before = unit(142), system_before = unit(144);
    struct account used = order('c');
    double user = (double)(used.user - none.user), system = (double)(used.system - none.system);
    CLOSE_TO(unit(6) - before, (user + system) * 10, (user + system) / 10 + 20000);
    CLOSE_TO(unit(142) - user_before, user * 10, 800000);
    CLOSE_TO(unit(144) - system_before, system * 10, 800000);
}

static void time_of_a_unit_appears(void **state)
{
    in_child(child_unit);
}

/* With a limit of a tenth of a processor, a busy group waits for nine tenths of the time. */
static void child_throttled(void)
{
    begin("system.slice");
    if (!unit_has(100910, "cpu.max") || !write_file("cpu.max", "10000 100000")) {
        not_reported("limits of processor time");
        return;
    }
    struct account none = order(' ');
    uint64_t before = unit(100910);
    struct account used = order('c');
    double waited =
        (double)used.elapsed - (double)(used.user + used.system - none.user - none.system);
    CLOSE_TO(unit(100910) - before, waited * 10, waited); /* within 10 % */
}

static void waiting_of_a_unit_appears(void **state)
{
    in_child(child_throttled);
}

static void child_unit_memory(void)
{
    begin("system.slice");
    if (unit_has(100906, "pids.current")) {
        IS(unit(100906), 1);
        IS(order('t').done, true);
        IS(unit(100906), 1 + THREADS);
    } else {
        not_reported("tasks of groups");
    }
    if (!unit_has(100902, "memory.current")) {
        not_reported("memory of groups");
        return;
    }
    uint64_t before = unit(100902);
    IS(order('m').done, true);
    /* each processor adds to the kernel's count in batches, so the count is not exact */
    CLOSE_TO(unit(100902) - before, MEMORY, MEMORY / 50);
    FILE *swaps = fopen("/proc/swaps", "r");
    char line[256];
    bool swapping = swaps && fgets(line, sizeof line, swaps) && fgets(line, sizeof line, swaps);
    if (swapping && unit_has(100904, "memory.swap.current")) {
        IS(order('s').done, true);
        CLOSE_TO(unit(100904), MEMORY, MEMORY / 50);
    }
    IS(unit(100908), 0);
    IS(write_file("memory.swap.max", "0") && write_file("memory.max", "4194304"), true);
    char more = 'm';
    IS(write(orders[1], &more, 1), 1);
    IS(waitpid(worker, NULL, 0), worker);
    worker = 0;
    IS(unit(100908), 1);
}

static void memory_and_tasks_of_a_unit_appear(void **state)
{
    in_child(child_unit_memory);
}

static void child_unit_disk(void)
{
    begin("system.slice");
    if (!unit_has(1420, "io.stat")) {
        not_reported("disks of groups");
        return;
    }
    uint64_t reads = unit(1412), writes = unit(1414), in = unit(1420), out = unit(1422);
    if (!order('d').done || unit(1420) == in)
        leave(CANNOT_RUN); /* this disk does not count requests by control group */
    CLOSE_TO(unit(1420) - in, DISK, DISK / 100);
    CLOSE_TO(unit(1422) - out, DISK, DISK / 20); /* the file system's own writes are counted, too */
    IS(unit(1412) - reads >= DISK / MEBI, true);
    IS(unit(1412) - reads <= DISK / 65536 + 8, true);
    IS(unit(1414) - writes >= DISK / MEBI, true);
    IS(unit(1414) - writes <= DISK / 65536 + 16, true);
}

static void requests_of_a_unit_appear(void **state)
{
    in_child(child_unit_disk);
}

static int open_libraries(void **state)
{
    return library_open(&perfproc, "perfproc") || library_open(&perflinux, "perflinux");
}

static int close_libraries(void **state)
{
    return perfproc.close() || perflinux.close();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_of_a_job_appears),
        cmocka_unit_test(faults_and_ends_of_a_job_appear),
        cmocka_unit_test(limit_of_a_job_appears),
        cmocka_unit_test(pressure_of_a_job_appears),
        cmocka_unit_test(processes_of_a_job_are_those_of_process),
        cmocka_unit_test(time_of_a_unit_appears),
        cmocka_unit_test(waiting_of_a_unit_appears),
        cmocka_unit_test(memory_and_tasks_of_a_unit_appear),
        cmocka_unit_test(requests_of_a_unit_appear),
    };
    return cmocka_run_group_tests(tests, open_libraries, close_libraries);
}
