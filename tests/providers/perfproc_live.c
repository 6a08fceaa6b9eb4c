/* SPDX-License-Identifier: MIT */
/* perfproc.so on this machine: values between two readings of the test, work of known size, many
 * processes that come and go; repeated queries allocate nothing and open no files that they need
 * not open. */
#include "../skip.h"
#include <errno.h>
#include <pwd.h>
#include "perfproc.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { FREQUENCY = 10000000 };

/* ---- allocations and opened files ---- */

static unsigned allocations, opens, opens_elsewhere;
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
int __real_openat64(int folder, const char *path, int flags, ...);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
int __wrap_openat64(int folder, const char *path, int flags, ...);

void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    allocations++;
    return __real_realloc(memory, size);
}

/* with 64-bit file offsets the library calls openat64 on every machine */
int __wrap_openat64(int folder, const char *path, int flags, ...)
{
    const char *name = strncmp(path, "proc/", 5) == 0 ? path + 5 : path;
    opens++;
    opens_elsewhere += *name < '0' || *name > '9';
    return __real_openat64(folder, path, flags, 0);
}

static void a_steady_query_allocates_and_opens_nothing(void **state)
{
    (void)state;
    run_query(u"232");
    allocations = 1;
    /* tries again, because other programs may start processes meanwhile */
    for (int i = 0; i < 200 && (allocations || opens_elsewhere); i++) {
        nanosleep(&(struct timespec){.tv_nsec = i < 50 ? 0 : 20000000}, NULL);
        allocations = opens = opens_elsewhere = 0;
        assert_int_equal(run_query(u"232").types, 2);
        assert_int_equal(run_query(u"230").types, 1);
        assert_int_equal(run_query(u"101800").types, 1);
    }
    assert_int_equal(allocations, 0);
    assert_int_equal(opens_elsewhere, 0);
    assert_true(opens > 0);
}

/* ---- values that the test reads itself ---- */

static uint64_t own_word(unsigned column)
{
    char text[1024], *at;
    FILE *file = fopen("/proc/self/stat", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    at = strrchr(text, ')') + 2;
    for (unsigned i = 3; i < column; i++)
        at = strchr(at, ' ') + 1;
    return strtoull(at, NULL, 10);
}

static uint64_t own_key(const char *path, const char *key)
{
    char line[512];
    uint64_t value = UINT64_MAX;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtoull(line + strlen(key), NULL, 10);
    fclose(file);
    assert_true(value != UINT64_MAX);
    return value;
}

static void own_counters_lie_between_two_readings(void **state)
{
    (void)state;
    static const struct pair {
        DWORD index;
        unsigned column, plus;
        uint64_t unit;
        const char *key;
    } pairs[] = {
        {142,    14, 0,  0, NULL           },
        {144,    15, 0,  0, NULL           },
        {28,     10, 12, 1, NULL           },
        {1412,   0,  0,  1, "syscr: "      },
        {1414,   0,  0,  1, "syscw: "      },
        {1420,   0,  0,  1, "rchar: "      },
        {1422,   0,  0,  1, "wchar: "      },
        {101802, 0,  0,  1, "read_bytes: " },
        {101804, 0,  0,  1, "write_bytes: "}
    };
    uint64_t ticks = FREQUENCY / (uint64_t)sysconf(_SC_CLK_TCK);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        uint64_t reading[3];
        for (int when = 0; when < 3; when += 2) {
            reading[when] =
                pairs[i].key ? own_key("/proc/self/io", pairs[i].key) : own_word(pairs[i].column);
            reading[when] += pairs[i].plus ? own_word(pairs[i].plus) : 0;
            reading[when] *= pairs[i].unit ? pairs[i].unit : ticks;
            if (when == 0) {
                struct answer answer = run_query(u"230 101800");
                reading[1] = process_value(&answer, (uint64_t)getpid(), pairs[i].index);
            }
        }
        assert_true(reading[0] <= reading[1]);
        assert_true(reading[1] <= reading[2]);
    }
}

static void own_sizes_and_numbers(void **state)
{
    (void)state;
    struct answer answer = run_query(u"230");
    uint64_t self = (uint64_t)getpid();
    assert_int_equal(process_value(&answer, self, 1410), getppid());
    assert_int_equal(process_value(&answer, self, 680), own_word(20));
    assert_int_equal(process_value(&answer, self, 174), own_word(23));
    uint64_t peak = process_value(&answer, self, 178), now = process_value(&answer, self, 180);
    /* the kernel's count of pages is approximate on several processors */
    assert_true(peak >= now - now / 50);
    assert_true(process_value(&answer, self, 1478) <= peak);
    assert_int_equal(process_value(&answer, self, 682), 8 - (own_word(19) * 7 + 9) / 19);
}

static void c113_idle_has_number_zero_and_total_too(void **state)
{
    (void)state;
    struct answer answer = run_query(u"230");
    assert_int_equal(value_of(&answer, 230, "Idle", 784), 0);
    assert_int_equal(value_of(&answer, 230, "_Total", 784), 0);
    assert_int_equal(value_of(&answer, 230, "Idle", 680), sysconf(_SC_NPROCESSORS_ONLN));
}

/* ---- a child process that works when it gets an order ---- */

struct worker {
    pid_t pid;
    int to, from;
};

static struct worker worker_start(void (*work)(void))
{
    int to[2], from[2];
    char byte = 0;
    assert_int_equal(pipe(to) | pipe(from), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
            if (read(to[0], &byte, 1) != 1)
                _exit(0);
            work();
            if (write(from[1], &byte, 1) != 1)
                _exit(1);
        }
    }
    close(to[0]);
    close(from[1]);
    return (struct worker){pid, to[1], from[0]};
}

static void worker_work(struct worker *worker)
{
    char byte = 0;
    assert_int_equal(write(worker->to, &byte, 1), 1);
    assert_int_equal(read(worker->from, &byte, 1), 1);
    usleep(2000); /* time until the worker waits again */
}

static void worker_stop(struct worker *worker)
{
    kill(worker->pid, SIGKILL);
    waitpid(worker->pid, NULL, 0);
    close(worker->to);
    close(worker->from);
}

/* Measures how much counters of the worker grow during one piece of work. */
static uint64_t work_growth(struct worker *worker, const DWORD *indices, uint64_t *growths,
                            size_t count)
{
    struct answer answer = run_query(u"230 101800");
    for (size_t i = 0; i < count; i++)
        growths[i] = process_value(&answer, (uint64_t)worker->pid, indices[i]);
    worker_work(worker);
    answer = run_query(u"230 101800");
    for (size_t i = 0; i < count; i++)
        growths[i] = process_value(&answer, (uint64_t)worker->pid, indices[i]) - growths[i];
    return growths[0];
}

enum { BLOCK = 4096, BLOCKS = 256, PAGES = 2000, BURN_MS = 300 };

static void write_blocks(void)
{
    static const char block[BLOCK];
    int fd = open("/dev/null", O_WRONLY);
    for (int i = 0; i < BLOCKS; i++)
        if (write(fd, block, sizeof block) != sizeof block)
            _exit(1);
    close(fd);
}

static void injected_writes_appear_exactly(void **state)
{
    (void)state;
    static const DWORD indices[] = {1422, 1414, 1420, 1412, 1416, 1424};
    uint64_t growths[6];
    struct worker worker = worker_start(write_blocks);
    worker_work(&worker);
    work_growth(&worker, indices, growths, 6);
    assert_int_equal(growths[0], BLOCK * BLOCKS + 1);
    assert_int_equal(growths[1], BLOCKS + 1);
    assert_int_equal(growths[2], 1);
    assert_int_equal(growths[3], 1);
    assert_int_equal(growths[4], BLOCKS + 2);
    assert_int_equal(growths[5], BLOCK * BLOCKS + 2);
    worker_stop(&worker);
}

/* Writes a file to the disk and reads it back page by page, without the cache. */
static void use_the_disk(void)
{
    static char block[BLOCK];
    char path[] = "openperflib-disk-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || unlink(path))
        _exit(1);
    for (int i = 0; i < BLOCKS; i++)
        if (write(fd, block, sizeof block) != sizeof block)
            _exit(1);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    for (int i = 0; i < BLOCKS; i++)
        if (pread(fd, block, sizeof block, (off_t)i * BLOCK) != sizeof block)
            _exit(1);
    close(fd);
}

static void injected_disk_bytes_appear(void **state)
{
    (void)state;
    static const DWORD indices[] = {101802, 101804, 1420, 1422};
    const uint64_t bytes = BLOCK * BLOCKS;
    uint64_t growths[4];
    struct worker worker = worker_start(use_the_disk);
    worker_work(&worker);
    work_growth(&worker, indices, growths, 4);
    worker_stop(&worker);
    assert_true(growths[2] >= bytes && growths[3] >= bytes);
    if (growths[0] == 0 || growths[1] == 0) {
        report_skipped("the folder is on no disk");
        return;
    }
    assert_in_range(growths[0], bytes, bytes * 2); /* the file system reads and writes, too */
    assert_in_range(growths[1], bytes, bytes * 2);
}

/* Starts a child that writes, and waits for it, as a shell waits for its commands. */
static void have_a_child_write(void)
{
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 64; i++)
            write_blocks();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void f_b2_a_shell_did_not_write_what_its_child_wrote(void **state)
{
    (void)state;
    static const DWORD indices[] = {1422, 1414, 1420, 1412, 1416, 1424};
    uint64_t growths[6], first;
    struct worker worker = worker_start(have_a_child_write);
    struct answer answer = run_query(u"230 101800");
    first = process_value(&answer, (uint64_t)worker.pid, 1422);
    for (int i = 0; i < 3; i++) {
        work_growth(&worker, indices, growths, 6);
        for (size_t k = 0; k < 6; k++)
            /* the two bytes that the worker exchanges with the test in this interval are not
             * counted, either */
            assert_int_equal(growths[k], 0);
    }
    answer = run_query(u"230 101800");
    assert_int_equal(process_value(&answer, (uint64_t)worker.pid, 1422), first);
    assert_true(first < BLOCK);
    worker_stop(&worker);
}

/* Compiled without the sanitizer, which would touch pages of its own when the test touches
 * pages. */
__attribute__((no_sanitize("address"))) static void touch_pages(void)
{
    static char *memory;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; memory && i < PAGES; i++)
        *(volatile char *)(memory + i * page) = 1;
    if (memory)
        return;
    memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
}

static void injected_page_faults_appear(void **state)
{
    (void)state;
    static const DWORD indices[] = {28, 180, 1478};
    uint64_t growths[3], page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct worker worker = worker_start(touch_pages);
    worker_work(&worker);
    work_growth(&worker, indices, growths, 3);
    assert_in_range(growths[0], PAGES, PAGES + PAGES / 100);
    assert_in_range(growths[1], PAGES * page * 9 / 10, PAGES * page * 11 / 10);
    assert_in_range(growths[2], PAGES * page * 9 / 10, PAGES * page * 11 / 10);
    worker_stop(&worker);
}

static void burn(void)
{
    struct timespec start, now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < BURN_MS);
}

static void injected_processor_time_appears(void **state)
{
    (void)state;
    static const DWORD indices[] = {6, 142, 144};
    uint64_t growths[3], tick = FREQUENCY / (uint64_t)sysconf(_SC_CLK_TCK);
    struct worker worker = worker_start(burn);
    work_growth(&worker, indices, growths, 3);
    assert_in_range(growths[0], BURN_MS * 10000 - 2 * tick, BURN_MS * 10000 + 2 * tick);
    assert_int_equal(growths[0], growths[1] + growths[2]);
    worker_stop(&worker);
}

static int64_t filetime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return ((int64_t)now.tv_sec + 11644473600) * FREQUENCY + now.tv_nsec / 100;
}

/* A process is identified by its number and creation time, so its creation time must never
 * change. */
static void creation_is_right_and_never_changes(void **state)
{
    (void)state;
    const int64_t slack = FREQUENCY / 50; /* a tick of 1/100 s, and its rounding */
    int64_t before = filetime();
    struct worker worker = worker_start(burn);
    int64_t after = filetime();
    struct answer answer = run_query(u"230");
    int64_t created = (int64_t)process_value(&answer, (uint64_t)worker.pid, 684);
    assert_in_range(created, before - slack, after + slack);
    CloseSysProcessObject();
    assert_int_equal(OpenSysProcessObject(NULL), 0);
    for (int i = 0; i < 3; i++) {
        answer = run_query(u"230");
        assert_int_equal(process_value(&answer, (uint64_t)worker.pid, 684), created);
    }
    worker_stop(&worker);
}

static void opened_files_are_handles(void **state)
{
    (void)state;
    int fds[10];
    struct answer answer = run_query(u"230");
    uint64_t before = process_value(&answer, (uint64_t)getpid(), 952);
    for (int i = 0; i < 10; i++)
        fds[i] = open("/dev/null", O_RDONLY);
    answer = run_query(u"230");
    assert_int_equal(process_value(&answer, (uint64_t)getpid(), 952), before + 10);
    for (int i = 0; i < 10; i++)
        close(fds[i]);
}

/* ---- names, zombies, threads ---- */

/* Reads the text of counter `index` in Process Details for the process `id`. */
static void text_of(struct answer *answer, uint64_t id, DWORD index, char text[static 1024])
{
    opl_object_view object;
    opl_instance_view instance = {0};
    opl_counter_view counter = {0};
    *text = 0;
    assert_true(answer_object(answer, 102000, &object));
    while (opl_object_next_instance(&answer->block, &object, &instance))
        if (value_at(answer, &object, &instance, 784) == id)
            while (opl_object_next_counter(&answer->block, &object, &counter))
                if (counter.definition.CounterNameTitleIndex == index)
                    opl_counter_text(&answer->block, &object, &instance, &counter, text, 1024);
}

/* Compares the texts of this process with those of the C library and the kernel. The state of a
 * process that queries is always "running". */
static void texts_of_this_process(void **state)
{
    static const DWORD user = 102002, own_state = 102004, group = 102006, unit = 102008,
                       command = 102010;
    char text[1024], line[1024] = "", *path = line;
    struct answer answer = run_query(u"102000");
    const struct passwd *entry = getpwuid(geteuid());
    (void)state;
    text_of(&answer, (uint64_t)getpid(), user, text);
    assert_string_equal(text, entry ? entry->pw_name : "");
    text_of(&answer, (uint64_t)getpid(), own_state, text);
    assert_string_equal(text, "running");
    text_of(&answer, (uint64_t)getpid(), command, text);
    assert_memory_equal(text, program_invocation_name, strlen(program_invocation_name));
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file) && strncmp(line, "0::", 3) != 0)
        continue;
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = 0;
    path += strlen(line) > 3 ? 3 : 0;
    text_of(&answer, (uint64_t)getpid(), group, text);
    if (strncmp(line, "0::/", 4) == 0 && path[1] && strlen(path) <= 64)
        assert_string_equal(text, path);
    text_of(&answer, (uint64_t)getpid(), unit, text);
    assert_true(*text == 0 || strstr(path, ".service") || strstr(path, ".scope") ||
                strlen(path) > 64);
}

/* In Process V2 each name ends with the process's number, except _Total. */
static void names_of_process_v2_have_numbers(void **state)
{
    opl_object_view object;
    opl_instance_view instance = {0};
    char name[256], number[32];
    bool own = false;
    (void)state;
    struct answer answer = run_query(u"101900");
    assert_true(answer_object(&answer, 101900, &object));
    while (opl_object_next_instance(&answer.block, &object, &instance)) {
        uint64_t id = value_at(&answer, &object, &instance, 784);
        opl_instance_name(&answer.block, &object, &instance, name, sizeof name);
        snprintf(number, sizeof number, ":%u", (unsigned)id);
        const char *colon = strrchr(name, ':');
        if (instance.position + 1 == (uint32_t)object.type.NumInstances)
            number[0] = 0, colon = strcmp(name, "_Total") == 0 ? "" : name;
        assert_string_equal(colon ? colon : name, number);
        own |= id == (uint64_t)getpid();
    }
    assert_true(own);
}

/* Process Details needs the same file of each process as Process V2: as long as its texts are kept,
 * querying both opens no more than querying Process V2. */
static void details_beside_process_v2_open_nothing_more(void **state)
{
    unsigned alone = 0, both = 0;
    (void)state;
    for (int i = 0; i < 20 && (!both || both > alone); i++) { /* other processes start and end */
        run_query(u"101900 102000");
        opens = 0;
        run_query(u"101900");
        alone = opens;
        opens = 0;
        run_query(u"101900 102000");
        both = opens;
    }
    assert_in_range(both, 1, alone);
}

static void odd_name(void)
{
    prctl(PR_SET_NAME, "a) R 1 (\n\xff");
}

static void odd_names_of_living_processes(void **state)
{
    (void)state;
    struct worker worker = worker_start(odd_name);
    worker_work(&worker);
    struct answer answer = run_query(u"230");
    assert_int_equal(value_of(&answer, 230, "a] R 1 [_\xef\xbf\xbd", 784), worker.pid);
    worker_stop(&worker);
}

static void zombies_are_there(void **state)
{
    (void)state;
    siginfo_t info;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    struct answer answer = run_query(u"230");
    assert_int_equal(process_value(&answer, (uint64_t)pid, 174), 0);
    assert_int_equal(process_value(&answer, (uint64_t)pid, 1410), getpid());
    waitpid(pid, NULL, 0);
}

static pthread_barrier_t barrier;

static void *wait_twice(void *number)
{
    *(pid_t *)number = (pid_t)syscall(SYS_gettid);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static bool is_ours(uint64_t thread, const pid_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((uint64_t)numbers[i] == thread)
            return true;
    return thread == (uint64_t)getpid();
}

static void c31_own_threads_are_there(void **state)
{
    (void)state;
    enum { COUNT = 3 };
    pthread_t threads[COUNT];
    pid_t numbers[COUNT];
    unsigned found = 0;
    pthread_barrier_init(&barrier, NULL, COUNT + 1);
    for (int i = 0; i < COUNT; i++)
        pthread_create(&threads[i], NULL, wait_twice, &numbers[i]);
    pthread_barrier_wait(&barrier);
    struct answer answer = run_query(u"232");
    opl_object_view object;
    opl_instance_view instance = {0};
    assert_true(answer_object(&answer, 232, &object));
    while (opl_object_next_instance(&answer.block, &object, &instance))
        if (value_at(&answer, &object, &instance, 784) == (uint64_t)getpid()) {
            assert_true(is_ours(value_at(&answer, &object, &instance, 804), numbers, COUNT));
            assert_true(value_at(&answer, &object, &instance, 146) > 0);
            found++;
        }
    assert_int_equal(found, process_value(&answer, (uint64_t)getpid(), 680));
    assert_true(found >= COUNT + 1);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
}

/* ---- processes that come and go ---- */

/* how many processes must at least have come and gone during the test */
static unsigned long storm_least;

static pid_t storm_start(volatile unsigned long *births)
{
    pid_t storm = fork();
    if (storm != 0)
        return storm;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    for (;;)
        if (fork() == 0) {
            usleep(500);
            _exit(0);
        } else {
            usleep(storm_least ? 0 : 200);
            ++*births;
        }
}

static void check_parents(struct answer *answer)
{
    opl_object_view processes, threads;
    opl_instance_view instance = {0}, parent;
    static uint64_t ids[1 << 16];
    assert_true(answer_object(answer, 230, &processes));
    assert_true(answer_object(answer, 232, &threads));
    memset(&parent, 0, sizeof parent);
    while (opl_object_next_instance(&answer->block, &processes, &parent))
        if (parent.position < sizeof ids / sizeof *ids)
            ids[parent.position] = value_at(answer, &processes, &parent, 784);
    while (opl_object_next_instance(&answer->block, &threads, &instance)) {
        assert_true(instance.definition.ParentObjectInstance < (DWORD)processes.type.NumInstances);
        assert_int_equal(ids[instance.definition.ParentObjectInstance],
                         value_at(answer, &threads, &instance, 784));
    }
    assert_int_equal(answer->block.fault, OPL_BLOCK_GOOD);
}

static void a_storm_of_processes_leaves_answers_whole(void **state)
{
    (void)state;
    volatile unsigned long *births =
        mmap(NULL, sizeof *births, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(births != MAP_FAILED);
    pid_t storm = storm_start(births);
    for (int i = 0; i < 20 || *births < storm_least; i++) {
        struct answer answer = run_query(u"232");
        assert_int_equal(answer.types, 2);
        check_parents(&answer);
    }
    kill(storm, SIGKILL);
    waitpid(storm, NULL, 0);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    munmap((void *)births, sizeof *births);
}

/* A child process made by fork shares the read positions of its parent's open folders; its answer
 * must be complete all the same. */
static void a_forked_child_may_ask_too(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 50; i++)
            run_query(u"230");
        _exit(0);
    }
    for (int i = 0; i < 50; i++) {
        struct answer answer = run_query(u"230");
        process_value(&answer, (uint64_t)getpid(), 784);
    }
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

/* If a program closes all descriptors, the next answer is complete all the same. Files that the
 * program then opens under the same numbers must not be touched. */
static void a_program_may_close_all_descriptors(void **state)
{
    (void)state;
    enum { COUNT = 16 };
    int pipes[COUNT][2];
    char text[4];
    run_query(u"232");
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(pipe(pipes[i]), 0);
    struct answer answer = run_query(u"232");
    process_value(&answer, (uint64_t)getpid(), 784);
    check_parents(&answer);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(write(pipes[i][1], "here", 4), 4);
        assert_int_equal(read(pipes[i][0], text, 4), 4);
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
}

static int begin(void **state)
{
    (void)state;
    unsetenv("OPENPERFLIB_SYSROOT");
    return (int)OpenSysProcessObject(NULL);
}

static int end(void **state)
{
    (void)state;
    return (int)CloseSysProcessObject();
}

/* With an argument N, runs only the test with many processes, until N processes have come and
 * gone. */
int main(int count, char **words)
{
    static const struct CMUnitTest storm[] = {
        cmocka_unit_test(a_storm_of_processes_leaves_answers_whole),
    };
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_query_allocates_and_opens_nothing),
        cmocka_unit_test(own_counters_lie_between_two_readings),
        cmocka_unit_test(own_sizes_and_numbers),
        cmocka_unit_test(c113_idle_has_number_zero_and_total_too),
        cmocka_unit_test(injected_writes_appear_exactly),
        cmocka_unit_test(injected_disk_bytes_appear),
        cmocka_unit_test(f_b2_a_shell_did_not_write_what_its_child_wrote),
        cmocka_unit_test(injected_page_faults_appear),
        cmocka_unit_test(injected_processor_time_appears),
        cmocka_unit_test(creation_is_right_and_never_changes),
        cmocka_unit_test(opened_files_are_handles),
        cmocka_unit_test(texts_of_this_process),
        cmocka_unit_test(names_of_process_v2_have_numbers),
        cmocka_unit_test(details_beside_process_v2_open_nothing_more),
        cmocka_unit_test(odd_names_of_living_processes),
        cmocka_unit_test(zombies_are_there),
        cmocka_unit_test(c31_own_threads_are_there),
        cmocka_unit_test(a_storm_of_processes_leaves_answers_whole),
        cmocka_unit_test(a_forked_child_may_ask_too),
        cmocka_unit_test(a_program_may_close_all_descriptors),
    };
    if (count > 1)
        storm_least = strtoul(words[1], NULL, 10);
    return count > 1 ? cmocka_run_group_tests(storm, begin, end)
                     : cmocka_run_group_tests(tests, begin, end);
}
