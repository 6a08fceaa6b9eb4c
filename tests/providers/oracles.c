/* SPDX-License-Identifier: MIT */
/*
 * Counters of System, Memory, Processor, Objects, Paging File, Process and Thread on this machine,
 * compared with another source of the same value: system calls, another file of the kernel, or work
 * of known size.
 */
#include "answer.h"
#include "../skip.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>

enum {
    SYSTEM = 2,
    MEMORY = 4,
    CACHE = 86,
    PROCESS = 230,
    THREAD = 232,
    PROCESSOR = 238,
    OBJECTS = 260,
    PAGING_FILE = 700,
    NODE = 1814
};
enum { TRIES = 100, KIB = 1024, MEBI = 1 << 20 };

static struct library perfos, perfproc;

static uint64_t queried(unsigned object, const char *name, unsigned index)
{
    char query[16];
    snprintf(query, sizeof query, "%u", object);
    assert_int_equal(library_query(&perfos, query), ERROR_SUCCESS);
    answer_begin();
    return answer_number(object, name, index, false);
}

static bool near(uint64_t value, uint64_t other, uint64_t distance)
{
    return value + distance >= other && other + distance >= value;
}

/* ---- compared with system calls ---- */

/* sysinfo(2) returns load averages in units of 1/65536. */
static void loads_are_those_of_sysinfo(void **state)
{
    static const unsigned indices[] = {101402, 101404, 101406};
    bool same = false;
    for (int i = 0; i < TRIES && !same; i++) { /* the kernel updates them every 5 seconds */
        struct sysinfo info;
        same = true;
        for (unsigned k = 0; k < 3; k++) {
            uint64_t value = queried(SYSTEM, NULL, indices[k]);
            sysinfo(&info);
            same &= near(value, (uint64_t)info.loads[k] * 100 / 65536, 1);
        }
    }
    assert_true(same);
}

/* sysinfo(2) returns the same number of threads as proc/loadavg. Other programs start and end
 * threads between the two, so the comparison is repeated. */
static void threads_are_those_of_sysinfo(void **state)
{
    bool same = false;
    for (int i = 0; i < TRIES && !same; i++) {
        struct sysinfo before, after;
        sysinfo(&before);
        uint64_t value = queried(SYSTEM, NULL, 250);
        same = queried(OBJECTS, NULL, 250) == value;
        sysinfo(&after);
        same = same && before.procs == (uint16_t)value && after.procs == before.procs;
    }
    assert_true(same);
}

static void semaphores_made_here_appear(void **state)
{
    enum { MADE = 7 };
    bool exact = false;
    assert_int_equal(library_query(&perfos, "260"), ERROR_SUCCESS);
    answer_begin();
    if (!answer_has(OBJECTS, 254)) {
        report_skipped("no semaphores are listed here");
        return;
    }
    for (int i = 0; i < TRIES && !exact; i++) {
        uint64_t before = queried(OBJECTS, NULL, 254);
        int set = semget(IPC_PRIVATE, MADE, 0600);
        if (set < 0) {
            report_skipped("no semaphores can be made here");
            return;
        }
        uint64_t with = queried(OBJECTS, NULL, 254);
        semctl(set, 0, IPC_RMID);
        exact = with == before + MADE && queried(OBJECTS, NULL, 254) == before;
    }
    assert_true(exact);
}

static void swap_is_that_of_sysinfo(void **state)
{
    struct sysinfo info;
    assert_int_equal(library_query(&perfos, "700"), ERROR_SUCCESS);
    answer_begin();
    if (!answer_has(PAGING_FILE, 702)) {
        report_skipped("this kernel does not swap");
        return;
    }
    sysinfo(&info);
    uint64_t total = (uint64_t)info.totalswap * info.mem_unit / KIB;
    uint64_t used = total - (uint64_t)info.freeswap * info.mem_unit / KIB;
    assert_int_equal(answer_number(PAGING_FILE, "_Total", 702, true), total);
    assert_true(near(answer_number(PAGING_FILE, "_Total", 702, false), used, 65536));
}

static void free_memory_is_that_of_sysinfo(void **state)
{
    bool same = false;
    for (int i = 0; i < TRIES && !same; i++) {
        struct sysinfo info;
        sysinfo(&info);
        same = near(queried(MEMORY, NULL, 1676), (uint64_t)info.freeram * info.mem_unit, 8 * MEBI);
    }
    assert_true(same);
}

/* ---- memory, compared with the sum of its nodes ---- */

static uint64_t of_nodes(const char *key)
{
    uint64_t sum = 0;
    for (int node = 0; node < 64; node++) {
        char path[64], line[256], found[64];
        unsigned long long kib;
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/meminfo", node);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, "Node %*d %63[^:]: %llu", found, &kib) == 2 && !strcmp(found, key))
                sum += kib * KIB;
        if (file)
            fclose(file);
    }
    return sum;
}

static bool same_as_nodes(unsigned index, const char *key, const char *added)
{
    bool same = false;
    for (int i = 0; i < TRIES && !same; i++) {
        uint64_t sum = of_nodes(key) + (added ? of_nodes(added) : 0);
        same = near(queried(MEMORY, NULL, index), sum, 4 * MEBI);
    }
    return same;
}

static void memory_is_that_of_the_nodes(void **state)
{
    static const struct {
        unsigned index;
        const char *key, *added;
    } pairs[] = {
        {56,   "SReclaimable",   NULL          },
        {66,   "SReclaimable",   NULL          },
        {58,   "SUnreclaim",     NULL          },
        {76,   "Active(file)",   NULL          },
        {818,  "Active(file)",   "SReclaimable"},
        {1678, "Dirty",          NULL          },
        {1682, "Inactive(file)", NULL          },
    };
    if (of_nodes("MemTotal") == 0) {
        report_skipped("no nodes are shown here");
        return;
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!same_as_nodes(pairs[i].index, pairs[i].key, pairs[i].added))
            fail_msg("%u is not the nodes' %s", pairs[i].index, pairs[i].key);
}

/* ---- work of known size ---- */

/* The kernel counts committed memory even before it is used; each processor keeps a part of the
 * count, so the total is not exact. */
static void promised_memory_appears(void **state)
{
    const size_t bytes = (size_t)256 * MEBI;
    bool appeared = false;
    for (int i = 0; i < 5 && !appeared; i++) {
        uint64_t before = queried(MEMORY, NULL, 26);
        void *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            report_skipped("so much memory is not promised here");
            return;
        }
        uint64_t with = queried(MEMORY, NULL, 26);
        munmap(memory, bytes);
        appeared = near(with - before, bytes, bytes / 2);
    }
    assert_true(appeared);
}

static void a_thread_that_waits_for_a_processor_is_counted(void **state)
{
    enum { MORE = 4, MOST = 64 };
    pid_t children[MOST];
    long count = sysconf(_SC_NPROCESSORS_ONLN) + MORE;
    uint64_t most = 0;
    if (count > MOST) {
        report_skipped("too many processors to keep busy");
        return;
    }
    for (long i = 0; i < count; i++)
        if ((children[i] = fork()) == 0) {
            alarm(60); /* ends the child even if the test fails before it does */
            for (;;)
                ;
        }
    for (int i = 0; i < 20 && most < MORE; i++) {
        usleep(20000);
        uint64_t now = queried(SYSTEM, NULL, 44);
        most = now > most ? now : most;
    }
    for (long i = 0; i < count; i++)
        kill(children[i], SIGKILL), waitpid(children[i], NULL, 0);
    assert_true(most >= MORE);
}

/* The test sleeps many times; each end of a sleep needs an interrupt of the clock. */
static void interrupts_of_the_clock_appear(void **state)
{
    enum { SLEEPS = 200 };
    assert_int_equal(library_query(&perfos, "238"), ERROR_SUCCESS);
    answer_begin();
    if (!answer_has(PROCESSOR, 148)) {
        report_skipped("interrupts are not reported here");
        return;
    }
    uint64_t before = queried(PROCESSOR, "_Total", 148);
    for (int i = 0; i < SLEEPS; i++)
        usleep(1000);
    assert_true((uint32_t)(queried(PROCESSOR, "_Total", 148) - before) >= SLEEPS / 2);
}

/* Writes a file through the page cache and syncs it, then reads it without the cache: pages are
 * written to the disk, and pages are read from the disk. */
static void pages_of_the_disk_appear(void **state)
{
    enum { PIECES = 8 };
    char file[1024];
    void *piece = NULL;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages = PIECES * (uint64_t)MEBI / page;
    snprintf(file, sizeof file, "%s/pages-XXXXXX", getenv("BUILD_ROOT"));
    int fd = mkstemp(file);
    assert_int_equal(posix_memalign(&piece, 4096, MEBI), 0);
    memset(piece, 0x5a, MEBI);
    uint64_t written = queried(CACHE, NULL, 140), in = queried(MEMORY, NULL, 822);
    uint64_t moved = queried(MEMORY, NULL, 40);
    bool good = fd >= 0;
    for (int i = 0; i < PIECES && good; i++)
        good = write(fd, piece, MEBI) == MEBI;
    good = good && fsync(fd) == 0 && fcntl(fd, F_SETFL, O_DIRECT) == 0;
    written = queried(CACHE, NULL, 140) - written;
    for (int i = 0; i < PIECES && good; i++)
        good = pread(fd, piece, MEBI, (off_t)i * MEBI) == MEBI;
    in = queried(MEMORY, NULL, 822) - in, moved = queried(MEMORY, NULL, 40) - moved;
    if (fd >= 0)
        close(fd), unlink(file);
    free(piece);
    if (!good || written == 0 || in == 0) {
        report_skipped("the build folder is not on a disk");
        return;
    }
    assert_true((uint32_t)written >= pages);
    assert_true((uint32_t)in >= pages);
    assert_true((uint32_t)moved >= pages);
}

/* Changed pages that are not yet on the disk: the object Cache counts pages, the object Memory
 * counts bytes. */
static void changed_pages_are_changed_bytes(void **state)
{
    bool same = false;
    for (int i = 0; i < TRIES && !same; i++)
        same = near(queried(CACHE, NULL, 1810) * (uint64_t)sysconf(_SC_PAGESIZE),
                    queried(MEMORY, NULL, 1678), MEBI);
    assert_true(same);
}

/* ---- a process and its threads ---- */

/* Returns a value of this process, or of its thread number `thread` (0: of any of its threads). */
static uint64_t own(unsigned object, long thread, unsigned index)
{
    opl_object_view view;
    opl_instance_view instance = {0};
    opl_counter_view id, tid, wanted;
    uint64_t number = 0, value = 0;
    /* a query for Thread (232) also returns Process */
    assert_int_equal(library_query(&perfproc, "232"), ERROR_SUCCESS);
    answer_begin();
    assert_true(answer_object(object, &view) && answer_counter(&view, 784, false, &id) &&
                answer_counter(&view, index, false, &wanted));
    if (thread)
        assert_true(answer_counter(&view, 804, false, &tid));
    while (opl_object_next_instance(&answer_block, &view, &instance))
        if (opl_counter_number(&answer_block, &instance, &id, &number) &&
            number == (uint64_t)getpid() &&
            (!thread || (opl_counter_number(&answer_block, &instance, &tid, &number) &&
                         number == (uint64_t)thread)) &&
            opl_counter_number(&answer_block, &instance, &wanted, &value))
            return value;
    fail_msg("this process is missing");
    return 0;
}

static void mapped_memory_appears(void **state)
{
    const size_t bytes = (size_t)48 * MEBI;
    own(PROCESS, 0, 174); /* the first query allocates memory that later ones use again */
    uint64_t before = own(PROCESS, 0, 174);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(own(PROCESS, 0, 174), before + bytes);
    munmap(memory, bytes);
    assert_int_equal(own(PROCESS, 0, 174), before);
    /* the peak stays after the memory was freed */
    assert_true(own(PROCESS, 0, 172) >= before + bytes);
}

/* getrusage(2) returns the peak in KiB, and includes the program that ran before exec. So a new
 * child, which has no peak yet, is measured. On several processors the kernel's count of pages is
 * not exact. */
static void peak_is_that_of_getrusage(void **state)
{
    const size_t bytes = (size_t)48 * MEBI;
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        struct rusage used;
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (memory == MAP_FAILED || munmap(memory, bytes))
            _exit(2);
        uint64_t peak = own(PROCESS, 0, 178), now = own(PROCESS, 0, 180);
        getrusage(RUSAGE_SELF, &used);
        uint64_t theirs = (uint64_t)used.ru_maxrss * KIB;
        _exit(near(peak, theirs, theirs / 20 + 2 * MEBI) && peak > now + bytes / 2 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

struct thread {
    pthread_barrier_t barrier;
    long number;
    uint64_t time, switches; /* what the thread itself measured, time in 100 ns */
};

static void *burn_and_wait(void *of)
{
    struct thread *thread = of;
    struct timespec now = {0};
    struct rusage used;
    thread->number = syscall(SYS_gettid);
    while (now.tv_sec == 0 && now.tv_nsec < 300000000)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    for (int i = 0; i < 50; i++)
        usleep(100);
    getrusage(RUSAGE_THREAD, &used);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    thread->time = (uint64_t)now.tv_sec * 10000000 + (uint64_t)now.tv_nsec / 100;
    thread->switches = (uint64_t)(used.ru_nvcsw + used.ru_nivcsw);
    pthread_barrier_wait(&thread->barrier);
    pthread_barrier_wait(&thread->barrier);
    return NULL;
}

static uint64_t now_as_filetime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec + 11644473600) * 10000000 + (uint64_t)now.tv_nsec / 100;
}

/* Compares the counters of a thread with the time that the thread itself measured, and with the
 * kernel's count of its context switches. */
static void a_thread_is_what_it_says_itself(void **state)
{
    enum { WAITS = 5 };
    struct thread thread;
    pthread_t id;
    uint64_t tick = 10000000 / (uint64_t)sysconf(_SC_CLK_TCK), before = now_as_filetime();
    pthread_barrier_init(&thread.barrier, NULL, 2);
    assert_int_equal(pthread_create(&id, NULL, burn_and_wait, &thread), 0);
    uint64_t after = now_as_filetime();
    pthread_barrier_wait(&thread.barrier);
    usleep(20000); /* time until the thread waits */
    uint64_t time = own(THREAD, thread.number, 6);
    assert_true(near(time, thread.time, 3 * tick));
    assert_int_equal(own(THREAD, thread.number, 142) + own(THREAD, thread.number, 144), time);
    assert_in_range(own(THREAD, thread.number, 146), thread.switches, thread.switches + 3);
    assert_in_range(own(THREAD, thread.number, 684), before - 2 * tick, after + 2 * tick);
    assert_int_equal(own(THREAD, thread.number, 46), WAITS);
    pthread_barrier_wait(&thread.barrier);
    pthread_join(id, NULL);
    pthread_barrier_destroy(&thread.barrier);
}

/* The priority is lowered in a child process, because a process may not raise it again. */
static void priority_falls_when_asked(void **state)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        uint64_t base = own(PROCESS, 0, 682), first = own(THREAD, getpid(), 682),
                 now = own(THREAD, getpid(), 694);
        if (setpriority(PRIO_PROCESS, 0, 19))
            _exit(2);
        _exit(own(PROCESS, 0, 682) < base && own(THREAD, getpid(), 682) < first &&
                      own(THREAD, getpid(), 694) < now
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int open_libraries(void **state)
{
    return library_open(&perfos, "perfos") || library_open(&perfproc, "perfproc");
}

static int close_libraries(void **state)
{
    return perfos.close() || perfproc.close();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_those_of_sysinfo),
        cmocka_unit_test(threads_are_those_of_sysinfo),
        cmocka_unit_test(semaphores_made_here_appear),
        cmocka_unit_test(swap_is_that_of_sysinfo),
        cmocka_unit_test(free_memory_is_that_of_sysinfo),
        cmocka_unit_test(memory_is_that_of_the_nodes),
        cmocka_unit_test(promised_memory_appears),
        cmocka_unit_test(a_thread_that_waits_for_a_processor_is_counted),
        cmocka_unit_test(interrupts_of_the_clock_appear),
        cmocka_unit_test(pages_of_the_disk_appear),
        cmocka_unit_test(changed_pages_are_changed_bytes),
        cmocka_unit_test(mapped_memory_appears),
        cmocka_unit_test(peak_is_that_of_getrusage),
        cmocka_unit_test(a_thread_is_what_it_says_itself),
        cmocka_unit_test(priority_falls_when_asked),
    };
    return cmocka_run_group_tests(tests, open_libraries, close_libraries);
}
