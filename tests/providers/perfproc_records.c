/* SPDX-License-Identifier: MIT */
/*
 * perfproc.so can read processes and threads from records that a BPF program writes. Such answers
 * are compared with /proc: the same processes are queried from /proc, from the records, and from
 * /proc again. Values that do not change must be equal (processor times: within the tick that /proc
 * shows); values that change must lie between the two readings of /proc.
 */
#include "counted.h"
#include "records.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST = 6000, FIELDS = 32, MOST_WORKERS = 1000, TICK = 100000 };
enum { PROCESSES = 230, THREADS = 232, PROCESS_V2 = 101900, PROCESS_IO = 101800 };
enum { PROCESS_DETAILS = 102000 };
enum { ID = 784, THREAD_ID = 804, CREATION = 684, STATE = 46 };
enum { PROCESSOR_TIME = 6, USER_TIME = 142, SYSTEM_TIME = 144, HANDLES = 952 };

/* ---- an answer, copied into arrays ---- */

struct seen {
    char name[80];
    uint64_t parent, id, creation, values[FIELDS];
};
struct snapshot {
    DWORD fields[FIELDS];
    size_t field_count, count;
    struct seen seen[MOST];
};
static struct snapshot *before, *records, *after;

static size_t field_of(const struct snapshot *snapshot, DWORD index)
{
    for (size_t i = 0; i < snapshot->field_count; i++)
        if (snapshot->fields[i] == index)
            return i;
    fail_msg("no counter %u", (unsigned)index);
    return 0;
}

static void spread_instance(struct answer *answer, opl_object_view *object,
                            opl_instance_view *instance, struct snapshot *snapshot, DWORD key)
{
    struct seen *seen = &snapshot->seen[snapshot->count++];
    opl_counter_view counter = {0};
    assert_true(snapshot->count < MOST);
    opl_instance_name(&answer->block, object, instance, seen->name, sizeof seen->name);
    seen->parent = instance->definition.ParentObjectInstance;
    for (size_t i = 0; opl_object_next_counter(&answer->block, object, &counter); i++) {
        uint64_t value;
        assert_true(opl_counter_number(&answer->block, instance, &counter, &value));
        seen->values[i] = value;
    }
    seen->id = seen->values[field_of(snapshot, key)];
    seen->creation = seen->values[field_of(snapshot, CREATION)];
}

static void spread(struct answer *answer, DWORD index, struct snapshot *snapshot)
{
    opl_object_view object;
    opl_counter_view counter = {0};
    opl_instance_view instance = {0};
    snapshot->count = snapshot->field_count = 0;
    assert_true(answer_object(answer, index, &object));
    while (opl_object_next_counter(&answer->block, &object, &counter))
        snapshot->fields[snapshot->field_count++] = counter.definition.CounterNameTitleIndex;
    while (opl_object_next_instance(&answer->block, &object, &instance))
        spread_instance(answer, &object, &instance, snapshot, index == THREADS ? THREAD_ID : ID);
    assert_int_equal(answer->block.fault, OPL_BLOCK_GOOD);
}

static const struct seen *find(const struct snapshot *snapshot, const struct seen *like)
{
    /* not the first and the last instance, Idle and _Total */
    for (size_t i = 1; i + 1 < snapshot->count; i++)
        if (snapshot->seen[i].id == like->id && snapshot->seen[i].creation == like->creation)
            return &snapshot->seen[i];
    return NULL;
}

static void take(DWORD setting, DWORD object, struct snapshot *snapshot)
{
    use_records(setting);
    struct answer answer =
        run_query(object == THREADS      ? u"232"
                  : object == PROCESS_V2 ? u"101900"
                  : object == PROCESS_IO ? u"101800 101900" /* from records with V2 only */
                                         : u"230");
    assert_int_equal(answer.status, 0);
    spread(&answer, object, snapshot);
}

/* ---- processes of all kinds, which stand still when they have done their work ---- */

static void burn(int ms, bool system)
{
    struct timespec start, now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    do {
        for (int i = 0; system && i < 50; i++)
            getppid();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

static void *burn_a_little(void *system)
{
    burn(1, system != NULL);
    return NULL;
}

static void *wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void have_threads(void)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++) /* these three threads end before the process is compared */
        if (pthread_create(&thread, NULL, burn_a_little, i ? &thread : NULL) == 0)
            pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, wait_for_ever, NULL);
    usleep(1000);
}

static void open_many(void)
{
    struct rlimit limit = {3000, 3000};
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < 1500; i++)
        dup(0);
    for (int i = 0; i < 100; i++)
        close(700 + i * 3);
}

__attribute__((no_sanitize("address"))) static void touch(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 600 * page;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; memory != MAP_FAILED && i < size; i += page)
        *(volatile char *)(memory + i) = 1;
    munmap(memory + size / 2, size / 2); /* the peak sizes remain */
}

static void move_bytes(void)
{
    char bytes[4096];
    int in = open("/dev/zero", O_RDONLY), out = open("/dev/null", O_WRONLY);
    for (int i = 0; i < 20; i++)
        if (read(in, bytes, sizeof bytes) != write(out, bytes, (size_t)(100 + i)))
            continue;
}

static void be_scheduled_otherwise(int number)
{
    struct sched_param fifo = {.sched_priority = 1 + number % 60}, none = {0};
    if (number % 3 == 0)
        sched_setscheduler(0, SCHED_FIFO, &fifo);
    else
        sched_setscheduler(0, number % 3 == 1 ? SCHED_IDLE : SCHED_BATCH, &none);
}

static void have_a_zombie(void)
{
    siginfo_t info;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
}

static void work(int number)
{
    switch (number % 10) {
    case 0:
    case 1:
        burn(4, number % 10 == 0);
        break;
    case 2:
        have_threads();
        break;
    case 3:
        open_many();
        break;
    case 4:
        touch();
        break;
    case 5:
        move_bytes();
        break;
    case 6:
        setpriority(PRIO_PROCESS, 0, number % 40 - 20);
        break;
    case 7:
        be_scheduled_otherwise(number);
        break;
    case 8:
        have_a_zombie();
        break;
    default:
        prctl(PR_SET_NAME, "b) S 2 (\n\xfe");
    }
}

static pid_t workers[MOST_WORKERS];
/* an argument of the program sets fewer, for slow machines */
static int worker_count = MOST_WORKERS;

static void workers_start(void)
{
    int status;
    for (int i = 0; i < worker_count; i++) {
        workers[i] = fork();
        assert_true(workers[i] >= 0);
        if (workers[i] > 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work(i);
        raise(SIGSTOP);
        _exit(0);
    }
    for (int i = 0; i < worker_count; i++) {
        assert_int_equal(waitpid(workers[i], &status, WUNTRACED), workers[i]);
        assert_true(WIFSTOPPED(status));
    }
}

static void workers_end(void)
{
    for (int i = 0; i < worker_count; i++)
        kill(workers[i], SIGKILL);
    for (int i = 0; i < worker_count; i++)
        waitpid(workers[i], NULL, 0);
}

static bool is_worker(uint64_t id)
{
    for (int i = 0; i < worker_count; i++)
        if ((uint64_t)workers[i] == id)
            return true;
    return false;
}

/* Starts one process whose children come and go, and one whose threads do, while other processes
 * are compared. */
static pid_t storm_start(void)
{
    pid_t storm = fork();
    if (storm != 0)
        return storm;
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    for (unsigned i = 0;; i++) {
        if (fork() == 0)
            _exit(0);
        if (pthread_create(&thread, NULL, burn_a_little, NULL) == 0)
            pthread_join(thread, NULL);
    }
}

static void storm_end(pid_t storm)
{
    kill(storm, SIGKILL);
    waitpid(storm, NULL, 0);
}

/* ---- comparing records with /proc ---- */

/* Does the counter never decrease? Peak values do: when a process ends, they disappear with its
 * memory. */
static bool is_monotone(DWORD index)
{
    static const DWORD all[] = {PROCESSOR_TIME, USER_TIME, SYSTEM_TIME, 28,   146,    1412,  1414,
                                1416,           1420,      1422,        1424, 101802, 101804};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == index)
            return true;
    return false;
}

/* /proc rounds times down to its ticks, so a sum of two times may be almost two ticks too small. */
static uint64_t slack(DWORD index)
{
    if (index == PROCESSOR_TIME)
        return 2 * TICK - 1;
    return index == USER_TIME || index == SYSTEM_TIME ? TICK - 1 : 0;
}

static unsigned compare_one(const struct snapshot *snapshot, const struct seen *first,
                            const struct seen *middle, const struct seen *last, bool still)
{
    unsigned equal = 0;
    for (size_t i = 0; i < snapshot->field_count; i++) {
        DWORD index = snapshot->fields[i];
        uint64_t low = first->values[i], high = last->values[i], is = middle->values[i];
        bool split = index == USER_TIME || index == SYSTEM_TIME;
        /* how the kernel divides a time into user and system time depends on earlier readings
         * (neither may decrease), so records and /proc may differ */
        if (!still && (!is_monotone(index) || split))
            continue;
        if (is < low || is > high + slack(index))
            fail_msg("%s (%u), counter %u: %llu is not in %llu .. %llu", first->name,
                     (unsigned)first->id, (unsigned)index, (unsigned long long)is,
                     (unsigned long long)low, (unsigned long long)high);
        if (still)
            assert_int_equal(low, high);
        equal += low == high;
    }
    return equal;
}

/* Compares all instances. Returns how many values of processes that stood still were equal. */
static unsigned compare(DWORD object, bool (*stands_still)(const struct seen *seen))
{
    unsigned equal = 0;
    take(0, object, before);
    take(1, object, records);
    take(0, object, after);
    assert_int_equal(before->field_count, records->field_count);
    assert_memory_equal(before->fields, records->fields, before->field_count * sizeof(DWORD));
    for (size_t i = 1; i + 1 < before->count; i++) {
        const struct seen *first = &before->seen[i], *last = find(after, first);
        const struct seen *middle = find(records, first);
        if (!last)
            continue; /* the process has ended */
        if (!middle)
            fail_msg("%s (%u) has no record", first->name, (unsigned)first->id);
        /* the name of a kernel thread shows its current work, so it may change */
        if (stands_still(first))
            assert_string_equal(first->name, middle->name);
        equal += compare_one(before, first, middle, last, stands_still(first));
    }
    return equal;
}

static bool worker_stands_still(const struct seen *seen)
{
    return is_worker(seen->id);
}

static bool is_workers_thread(const struct seen *seen)
{
    return is_worker(seen->values[field_of(before, ID)]);
}

/* The processes from the records are in the same order as those from /proc: Idle, the processes by
 * number, _Total. */
static void records_are_in_the_order_of_proc(void)
{
    for (size_t i = 2; i + 1 < records->count; i++)
        assert_true(records->seen[i - 1].id < records->seen[i].id);
    assert_string_equal(records->seen[0].name, "Idle");
    assert_string_equal(records->seen[records->count - 1].name, "_Total");
}

/* Process V2 from the records: the same as Process, but with a number after each name. */
static void process_v2_is_process(void **state)
{
    char name[256];
    (void)state;
    take(1, 230, before);
    take(1, PROCESS_V2, records);
    for (size_t i = 0; i < before->count; i++) {
        const struct seen *seen = &before->seen[i], *same = find(records, seen);
        snprintf(name, sizeof name, i + 1 < before->count ? "%s:%u" : "%s", seen->name,
                 (unsigned)seen->id);
        if (same && is_worker(seen->id))
            assert_string_equal(same->name, name);
    }
    assert_string_equal(records->seen[0].name, "Idle:0");
    assert_string_equal(records->seen[records->count - 1].name, "_Total");
}

static void a_thousand_processes_are_as_proc_says(void **state)
{
    (void)state;
    workers_start();
    pid_t storm = storm_start();
    for (int round = 0; round < 3; round++) {
        unsigned equal = compare(PROCESSES, worker_stands_still);
        assert_true(equal >= (unsigned)worker_count * before->field_count);
        records_are_in_the_order_of_proc();
        equal = compare(PROCESS_IO, worker_stands_still);
        assert_true(equal >= (unsigned)worker_count * before->field_count);
    }
    storm_end(storm);
    workers_end();
}

static void their_threads_are_as_proc_says(void **state)
{
    (void)state;
    workers_start();
    pid_t storm = storm_start();
    for (int round = 0; round < 3; round++) {
        unsigned equal = compare(THREADS, is_workers_thread);
        assert_true(equal >= (unsigned)worker_count * before->field_count);
    }
    storm_end(storm);
    workers_end();
}

static void threads_have_their_processes_and_ordinals(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        have_threads();
        raise(SIGSTOP);
    }
    waitpid(pid, NULL, WUNTRACED);
    take(0, THREADS, before);
    take(1, THREADS, records);
    unsigned found = 0;
    for (size_t i = 1; i + 1 < before->count; i++) {
        const struct seen *seen = &before->seen[i], *other = find(records, seen);
        if (seen->values[field_of(before, ID)] != (uint64_t)pid)
            continue;
        assert_non_null(other);
        assert_string_equal(seen->name, other->name);
        assert_int_equal(other->values[field_of(records, ID)], pid);
        found++;
    }
    assert_int_equal(found, 4);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void descriptors_beyond_1024_count(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        open_many();
        raise(SIGSTOP);
    }
    waitpid(pid, NULL, WUNTRACED);
    use_records(0);
    struct answer answer = run_query(u"230");
    uint64_t count = process_value(&answer, (uint64_t)pid, HANDLES);
    assert_true(count > 1300);
    use_records(1);
    answer = run_query(u"230");
    assert_int_equal(process_value(&answer, (uint64_t)pid, HANDLES), count);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* The name of a kernel thread shows its current work, so it may be longer than 15 bytes; records
 * must have the whole name. */
static void kernel_threads_are_there(void **state)
{
    (void)state;
    unsigned equal = 0;
    if (!sees_all_processes()) {
        report_skipped("kernel threads are not seen from a pid namespace");
        return;
    }
    take(0, PROCESSES, before);
    take(1, PROCESSES, records);
    for (size_t i = 1; i + 1 < before->count; i++) {
        const struct seen *other = find(records, &before->seen[i]);
        bool kernel = before->seen[i].values[field_of(before, 1410)] == 2;
        equal += kernel && other && strcmp(other->name, before->seen[i].name) == 0 &&
                 strlen(other->name) > 15;
    }
    assert_true(equal > 0);
}

/* ---- Process Details ---- */

struct texts {
    uint64_t id, creation;
    char name[80], all[5][300];
};
static struct texts from_proc[MOST], from_records[MOST];

static size_t take_texts(DWORD setting, struct texts *list)
{
    use_records(setting);
    struct answer answer = run_query(u"101900 102000");
    size_t count = 0;
    opl_object_view object;
    opl_instance_view instance = {0};
    assert_true(answer_object(&answer, PROCESS_DETAILS, &object));
    while (opl_object_next_instance(&answer.block, &object, &instance)) {
        opl_counter_view counter = {0};
        struct texts *texts = &list[count++];
        size_t text = 0;
        assert_true(count < MOST);
        opl_instance_name(&answer.block, &object, &instance, texts->name, sizeof texts->name);
        while (opl_object_next_counter(&answer.block, &object, &counter))
            if (counter.definition.CounterNameTitleIndex == ID)
                opl_counter_number(&answer.block, &instance, &counter, &texts->id);
            else if (counter.definition.CounterNameTitleIndex == CREATION)
                opl_counter_number(&answer.block, &instance, &counter, &texts->creation);
            else
                opl_counter_text(&answer.block, &object, &instance, &counter, texts->all[text++],
                                 sizeof texts->all[0]);
        assert_int_equal(text, 5);
    }
    return count;
}

static const struct texts *texts_of(const struct texts *list, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].id == id)
            return &list[i];
    fail_msg("no process %u", (unsigned)id);
    return NULL;
}

/* The machine's other processes may start and end at any time: only workers' files count. */
static bool is_workers_file(int folder, const char *path)
{
    char link[40], full[300] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    size_t length = path[0] == '/' ? 0 : (size_t)readlink(link, full, sizeof full - 1);
    if (length >= sizeof full) /* -1: of no folder */
        return false;
    snprintf(full + length, sizeof full - length, "/%s", path);
    return strncmp(full, "/proc/", 6) == 0 && is_worker(strtoull(full + 6, NULL, 10));
}

/* Texts from records are those from files, for workers that are stopped and for their zombies, and
 * no file is opened for them as long as they are kept. */
static void details_are_as_proc_says(void **state)
{
    (void)state;
    workers_start();
    size_t proc_count = take_texts(0, from_proc);
    opens = 0;
    counts_open = is_workers_file;
    size_t count = take_texts(1, from_records);
    unsigned zombies = 0, compared = 0;
    for (size_t i = 0; i < proc_count; i++) {
        bool zombie = strcmp(from_proc[i].all[1], "ended") == 0;
        if (!is_worker(from_proc[i].id) && !zombie)
            continue;
        const struct texts *record = texts_of(from_records, count, from_proc[i].id);
        assert_memory_equal(record, &from_proc[i], sizeof *record);
        assert_string_equal(record->all[1], zombie ? "ended" : "stopped");
        zombies += zombie;
        compared++;
    }
    assert_true(compared - zombies == (unsigned)worker_count);
    assert_true(zombies >= (unsigned)worker_count / 10);
    for (size_t i = 1; i < count; i++)
        assert_true(from_records[i - 1].id < from_records[i].id);
    assert_true(opens > 0);
    /* tries again, because texts are read again after 10 s, and a busy machine may need as long */
    for (int i = 0; i < 5 && opens; i++) {
        opens = 0;
        take_texts(1, from_records);
    }
    counts_open = NULL;
    assert_int_equal(opens, 0);
    workers_end();
}

/* The texts are read again as soon as a process has executed another program, even one of the same
 * name. */
static void details_notice_another_program(void **state)
{
    (void)state;
    int ends[2], more[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(more), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[0], STDIN_FILENO);
        dup2(more[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", "echo; read x; exec sh -c 'echo; read x' two", "one", NULL);
        _exit(127);
    }
    assert_int_equal(read(more[0], &byte, 1), 1);
    size_t count = take_texts(1, from_records);
    const struct texts *texts = texts_of(from_records, count, (uint64_t)pid);
    assert_non_null(strstr(texts->all[4], " one"));
    assert_string_equal(texts->all[1], "sleeping");
    assert_int_equal(write(ends[1], "\n", 1), 1);
    assert_int_equal(read(more[0], &byte, 1), 1);
    count = take_texts(1, from_records);
    texts = texts_of(from_records, count, (uint64_t)pid);
    assert_non_null(strstr(texts->all[4], " two"));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(more[i]);
    }
}

static void times_are_finer_than_ticks(void **state)
{
    (void)state;
    unsigned fine = 0;
    take(1, PROCESSES, records);
    for (size_t i = 1; i + 1 < records->count; i++)
        fine += records->seen[i].values[field_of(records, PROCESSOR_TIME)] % TICK != 0;
    assert_true(fine > 0);
}

/* A repeated query opens only the pinned BPF programs, one for each query. Some kernels omit
 * processes from BPF iterators; for these, 40 at most, it opens files of /proc. */
static void a_steady_query_opens_what_is_pinned(void **state)
{
    (void)state;
    enum { LEFT_OUT = 40 };
    use_records(1);
    run_query(u"232");
    run_query(u"230");
    run_query(u"101800 101900");
    allocations = 1;
    /* tries again, because other programs may start and end many processes for half a minute */
    for (int i = 0; i < 500 && (allocations || opens > 3 + LEFT_OUT); i++) {
        usleep(i < 50 ? 0 : 100000);
        allocations = opens = 0;
        assert_int_equal(run_query(u"232").types, 2);
        assert_int_equal(run_query(u"230").types, 1);
        assert_int_equal(run_query(u"101800 101900").types, 2);
    }
    assert_int_equal(allocations, 0);
    assert_in_range(opens, 3, 3 + LEFT_OUT);
}

static size_t resident_bytes(void)
{
    char text[64] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    return strtoul(strchr(text, ' '), NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* A program that asks twice a second or less often keeps no memory for the records. Tries again,
 * because on a busy machine queries that should follow each other may be half a second apart. */
static void records_are_given_back_to_the_system(void **state)
{
    enum { LEAST_BYTES = 200, TRIES = 20 }; /* a record is larger */
    size_t often = 0, seldom = 0;
    (void)state;
    workers_start();
    use_records(1);
    for (int try = 0; try < TRIES && often < seldom + LEAST_BYTES * (size_t)worker_count; try++) {
        for (int i = 0; i < 3; i++)
            assert_int_equal(run_query(u"101900").types, 1);
        often = resident_bytes();
        usleep(600000);
        assert_int_equal(run_query(u"101900").types, 1);
        seldom = resident_bytes();
    }
    workers_end();
    assert_true(often >= seldom + LEAST_BYTES * (size_t)worker_count);
}

/* ---- processes that come and go ---- */

static void check_growth(const struct snapshot *old, const struct snapshot *new)
{
    for (size_t i = 1; i + 1 < new->count; i++) {
        const struct seen *last = find(old, &new->seen[i]);
        for (size_t field = 0; last && field < new->field_count; field++)
            if (is_monotone(new->fields[field]) && new->seen[i].values[field] < last->values[field])
                fail_msg("%s (%u), counter %u: %llu after %llu", new->seen[i].name,
                         (unsigned)new->seen[i].id, (unsigned)new->fields[field],
                         (unsigned long long)new->seen[i].values[field],
                         (unsigned long long)last->values[field]);
    }
}

/* Each short-lived process has its number in its name: if values of two processes were mixed, name
 * and number would differ. */
static void check_names(const struct snapshot *snapshot)
{
    for (size_t i = 1; i + 1 < snapshot->count; i++) {
        const struct seen *seen = &snapshot->seen[i];
        if (strncmp(seen->name, "life-", 5) == 0)
            assert_int_equal(strtoull(seen->name + 5, NULL, 10), seen->id);
        assert_true(seen->values[field_of(snapshot, 680)] >= 1);
        assert_true(seen->values[field_of(snapshot, 1478)] <=
                    seen->values[field_of(snapshot, 180)]);
        assert_true(seen->values[field_of(snapshot, 180)] <= seen->values[field_of(snapshot, 178)]);
    }
}

static void live_shortly(bool with_a_thread)
{
    char name[16];
    pthread_t thread;
    snprintf(name, sizeof name, "life-%d", (int)getpid());
    prctl(PR_SET_NAME, name);
    if (with_a_thread && pthread_create(&thread, NULL, burn_a_little, NULL) == 0)
        usleep(300);
    _exit(0);
}

static pid_t lives_start(int count, void (*between)(int number))
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < count; i++) {
        pid_t life = i % 16 == 0 ? fork() : vfork(); /* vfork is faster */
        if (life == 0)
            live_shortly(i % 16 == 0);
        if (i % 16 == 15)
            while (waitpid(-1, NULL, 0) > 0)
                ;
        if (between)
            between(i);
    }
    while (waitpid(-1, NULL, 0) > 0)
        ;
    _exit(0);
}

/* Takes samples until the child has ended. If a number is reused within one tick, two processes
 * have the same number and creation time; `numbers_are_unique` says that this cannot happen. */
static void sample_while(pid_t pid, bool numbers_are_unique)
{
    struct snapshot *old = before, *new = records;
    unsigned rounds = 0;
    use_records(1);
    old->count = 0;
    while (waitpid(pid, NULL, WNOHANG) == 0) {
        struct answer answer = run_query(rounds++ % 2 ? u"230" : u"232");
        assert_int_equal(answer.status, 0);
        spread(&answer, PROCESSES, new);
        check_names(new);
        if (numbers_are_unique)
            check_growth(old, new);
        struct snapshot *swap = old;
        old = new;
        new = swap;
    }
    assert_true(rounds > 5);
}

static void ten_thousand_short_lives(void **state)
{
    (void)state;
    sample_while(lives_start(10 * worker_count, NULL), true);
}

/* ---- pid namespaces ---- */

static void use_numbers_again(int number)
{
    if (number % 16 != 15)
        return;
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
    if (fd >= 0 && write(fd, "50", 2) == 2)
        close(fd);
}

static void query_inside(bool own_proc)
{
    if (own_proc)
        assert_int_equal(mount("proc", "/proc", "proc", 0, NULL), 0);
    CloseSysProcessObject();
    assert_int_equal(OpenSysProcessObject(NULL), 0);
    take(1, PROCESSES, records);
    take(0, PROCESSES, before);
    if (own_proc)
        assert_true(records->count <= 5); /* Idle, this process, a child, _Total */
    assert_true(records->count >= before->count - (own_proc ? 0 : 20));
    for (size_t i = 1; own_proc && i + 1 < before->count; i++) {
        const struct seen *other = find(records, &before->seen[i]);
        assert_non_null(other);
        for (size_t field = 0; field < before->field_count; field++)
            if (before->fields[field] == ID || before->fields[field] == 1410)
                assert_int_equal(other->values[field], before->seen[i].values[field]);
    }
}

static void inside_with_proc(void)
{
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    query_inside(true);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    sample_while(lives_start(3000, use_numbers_again), false);
}

static void inside_with_others_proc(void)
{
    query_inside(false);
}

static void inside(void (*deed)(void))
{
    int status;
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
        _exit(99);
    pid_t pid = fork();
    if (pid == 0) {
        deed();
        exit(0);
    }
    waitpid(pid, &status, 0);
    _exit(status ? 1 : 0);
}

static void in_own_namespace(void)
{
    inside(inside_with_proc);
}

static void in_own_namespace_without_proc(void)
{
    inside(inside_with_others_proc);
}

static void a_pid_namespace_sees_its_own_numbers(void **state)
{
    (void)state;
    assert_true(trace_has(in_own_namespace, "records \"processes\" are used"));
}

static void proc_of_another_namespace_is_read_itself(void **state)
{
    (void)state;
    assert_true(trace_has(in_own_namespace_without_proc, "proc is of another pid namespace"));
}

/* ---- which records are trusted; who may read them ---- */

static void query_anew(void)
{
    CloseSysProcessObject();
    assert_int_equal(OpenSysProcessObject(NULL), 0);
    struct answer answer = run_query(u"230");
    process_value(&answer, (uint64_t)getpid(), ID);
}

static void query_as_nobody(void)
{
    assert_int_equal(setgid(65534) | setuid(65534), 0);
    query_anew();
}

static void without_permission_for_records_proc_is_read(void **state)
{
    (void)state;
    use_records(1);
    assert_true(trace_has(query_as_nobody,
                          "records \"processes\" are not used: this user may not read them"));
}

static void a_group_may_read_them(void **state)
{
    (void)state;
    assert_int_equal(run_pin((const char *const[]){"pin", "--group", "nogroup", "--grant", NULL}),
                     0);
    assert_true(trace_has(query_as_nobody, "records \"processes\" are used"));
    assert_int_equal(run_pin((const char *const[]){"pin", NULL}), 0);
}

/* Kernels before 6.2 cannot load the BPF program for newer kernels. The variant for older kernels
 * must give the same values. */
static void what_older_kernels_load_says_the_same(void **state)
{
    assert_int_equal(run_pin((const char *const[]){"pin", "--indirect", NULL}), 0);
    workers_start();
    assert_true(compare(PROCESSES, worker_stands_still) >=
                (unsigned)worker_count * before->field_count);
    assert_true(compare(THREADS, is_workers_thread) >=
                (unsigned)worker_count * before->field_count);
    workers_end();
    descriptors_beyond_1024_count(state);
    assert_int_equal(run_pin((const char *const[]){"pin", NULL}), 0);
}

static void another_version_is_refused(void **state)
{
    (void)state;
    assert_int_equal(run_pin((const char *const[]){"pin", "--record-version", "7", NULL}), 0);
    assert_true(trace_has(query_anew, "not used: they are of another version"));
    assert_int_equal(run_pin((const char *const[]){"status", NULL}), 1);
    assert_int_equal(run_pin((const char *const[]){"pin", NULL}), 0);
    assert_int_equal(run_pin((const char *const[]){"status", NULL}), 0);
}

static void another_owner_is_refused(void **state)
{
    (void)state;
    static const char file[] = "/sys/fs/bpf/openperflib/processes";
    assert_int_equal(chown(file, 65534, 0), 0);
    assert_true(trace_has(query_anew, "not used: the file does not belong to root"));
    assert_int_equal(chown(file, 0, 0) | chmod(file, 0462), 0);
    assert_true(trace_has(query_anew,
                          "not used: the file does not belong to root, or others may write it"));
    assert_int_equal(chmod(file, 0400), 0);
    assert_int_equal(chmod("/sys/fs/bpf/openperflib", 0722), 0);
    assert_true(trace_has(query_anew, "not used: the folder does not belong to root"));
    assert_int_equal(chmod("/sys/fs/bpf/openperflib", 0700), 0);
    assert_true(trace_has(query_anew, "records \"processes\" are used"));
}

static void query_with_a_plain_file(void)
{
    assert_int_equal(unshare(CLONE_NEWNS) | mount("tmpfs", "/sys/fs/bpf", "tmpfs", 0, NULL), 0);
    assert_int_equal(mkdir("/sys/fs/bpf/openperflib", 0700), 0);
    int fd = open("/sys/fs/bpf/openperflib/processes", O_CREAT | O_WRONLY, 0400);
    assert_int_equal(write(fd, "OPT\1\0\0\0\0", 8), 8);
    close(fd);
    query_anew();
}

static void a_plain_file_is_refused(void **state)
{
    (void)state;
    assert_true(
        trace_has(query_with_a_plain_file, "not used: the file is not in a BPF file system"));
}

static void the_registry_switches_them_off(void **state)
{
    (void)state;
    use_records(0);
    assert_true(trace_has(query_anew, "not used: \"Kernel Records\" of Perflib is 0"));
    use_records(1);
    assert_true(trace_has(query_anew, "records \"processes\" are used"));
}

static void what_is_unpinned_is_not_missed(void **state)
{
    (void)state;
    assert_int_equal(run_pin((const char *const[]){"unpin", NULL}), 0);
    assert_true(trace_has(query_anew, "not used: nothing is pinned"));
    assert_int_equal(run_pin((const char *const[]){"unpin", NULL}), 3);
    assert_int_equal(run_pin((const char *const[]){"pin", NULL}), 0);
    assert_true(trace_has(query_anew, "records \"processes\" are used"));
}

static int begin(void **state)
{
    (void)state;
    before = calloc(1, sizeof *before);
    records = calloc(1, sizeof *records);
    after = calloc(1, sizeof *after);
    return before && records && after ? (int)OpenSysProcessObject(NULL) : -1;
}

static int end(void **state)
{
    (void)state;
    free(before);
    free(records);
    free(after);
    return (int)CloseSysProcessObject();
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_processes_are_as_proc_says),
        cmocka_unit_test(process_v2_is_process),
        cmocka_unit_test(their_threads_are_as_proc_says),
        cmocka_unit_test(threads_have_their_processes_and_ordinals),
        cmocka_unit_test(descriptors_beyond_1024_count),
        cmocka_unit_test(kernel_threads_are_there),
        cmocka_unit_test(details_are_as_proc_says),
        cmocka_unit_test(details_notice_another_program),
        cmocka_unit_test(times_are_finer_than_ticks),
        cmocka_unit_test(a_steady_query_opens_what_is_pinned),
        cmocka_unit_test(records_are_given_back_to_the_system),
        cmocka_unit_test(ten_thousand_short_lives),
        cmocka_unit_test(a_pid_namespace_sees_its_own_numbers),
        cmocka_unit_test(proc_of_another_namespace_is_read_itself),
        cmocka_unit_test(without_permission_for_records_proc_is_read),
        cmocka_unit_test(a_group_may_read_them),
        cmocka_unit_test(what_older_kernels_load_says_the_same),
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(another_owner_is_refused),
        cmocka_unit_test(a_plain_file_is_refused),
        cmocka_unit_test(the_registry_switches_them_off),
        cmocka_unit_test(what_is_unpinned_is_not_missed),
    };
    char folder[64];
    int setting = argc > 1 ? atoi(argv[1]) : 0;
    worker_count = setting > 0 && setting < MOST_WORKERS ? setting : MOST_WORKERS;
    const char *why = records_prepare();
    if (why) {
        report_skipped(why);
        return 0;
    }
    temp_make(folder);
    setenv("OPENPERFLIB_ROOT", folder, 1);
    setenv("OPENPERFLIB_TRACE", "1", 1);
    int failed = cmocka_run_group_tests(tests, begin, end);
    temp_remove(folder);
    return failed;
}
