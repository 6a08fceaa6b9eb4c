/* SPDX-License-Identifier: MIT */
/*
 * Counters of the objects Kernel Limits, Slab, Memory Zone, Memory Usage, Interrupt and Pressure,
 * and some of Memory and Processor, on this machine: each is compared with work of known size or
 * with another source of the same value.
 */
#include "answer.h"
#include "../skip.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>

enum {
    MEMORY = 4,
    NODE = 1814,
    CACHE = 86,
    PROCESSOR = 238,
    INFORMATION = 100000,
    PRESSURE = 100100,
    INTERRUPT = 100300,
    ZONE = 100500,
    SLAB = 100600,
    LIMITS = 100700,
    USAGE = 101500
};
enum { TRIES = 100, KIB = 1024, MEBI = 1 << 20, CANNOT_RUN = 77 };

static struct library perfos, perflinux;

static void run_query(unsigned object)
{
    char query[16];
    snprintf(query, sizeof query, "%u", object);
    assert_int_equal(library_query(object < 1848 ? &perfos : &perflinux, query), ERROR_SUCCESS);
    answer_begin();
}

static uint64_t queried(unsigned object, const char *name, unsigned index)
{
    run_query(object);
    return answer_number(object, name, index, false);
}

static bool has(unsigned object, unsigned index)
{
    run_query(object);
    if (answer_has(object, index))
        return true;
    report_skipped("this kernel does not report it");
    return false;
}

static bool near(uint64_t value, uint64_t other, uint64_t distance)
{
    return value + distance >= other && other + distance >= value;
}

/* Reads the file: returns number `number` (from 1) of those after `key`; UINT64_MAX: there is
 * none. */
static uint64_t reading(const char *path, const char *key, unsigned number)
{
    char line[4096];
    size_t length = strlen(key);
    uint64_t value = UINT64_MAX;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        char *at = line + length;
        if (strncmp(line, key, length) != 0 || (length && !strchr(": \t", *at)))
            continue;
        at += strspn(at, ": \t");
        for (unsigned i = 1; i < number; i++)
            strtoull(at, &at, 10);
        value = strtoull(at, NULL, 10);
        break;
    }
    if (file)
        fclose(file);
    return value;
}

static void in_child(void (*test)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        test();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN)
        report_skipped("not allowed here");
    else
        assert_int_equal(status, 0);
}

/* ---- Kernel Limits ---- */

enum { NOBODY = 54321 }; /* an unused user number */

/* Opens as many inotify instances as the counter says that one user may have; one more must
 * fail. */
static void child_inotify(void)
{
    uint64_t most = queried(LIMITS, NULL, 100726), count = 0;
    if (setuid(NOBODY) != 0)
        _exit(CANNOT_RUN);
    while (count <= most && inotify_init1(IN_CLOEXEC) >= 0)
        count++;
    if (count < most && errno == EMFILE && sysconf(_SC_OPEN_MAX) < (long)most + 64)
        _exit(CANNOT_RUN); /* the limit of descriptors is too low for this test */
    _exit(count == most ? 0 : 1);
}

static void a_user_has_so_many_queues(void **state)
{
    if (has(LIMITS, 100726))
        in_child(child_inotify);
}

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        _exit(CANNOT_RUN);
    close(fd);
}

static pid_t next_process(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return child;
}

/* The highest process number must be the counter's value minus 1, and a low number must follow it.
 * Tested in a pid namespace, which may have a maximum of its own. */
static void child_first_process(void)
{
    char last[32];
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", 0, NULL) != 0)
        _exit(CANNOT_RUN);
    perflinux.close();
    if (perflinux.open(NULL) != 0)
        _exit(1);
    pid_t most = (pid_t)queried(LIMITS, NULL, 100704);
    snprintf(last, sizeof last, "%d", (int)most - 2);
    write_text("/proc/sys/kernel/ns_last_pid", last);
    pid_t highest = next_process(), lowest = next_process();
    _exit(highest == most - 1 && lowest < most / 2 ? 0 : 1);
}

static void child_numbers(void)
{
    int status = 0;
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
        _exit(CANNOT_RUN);
    pid_t child = fork();
    if (child == 0)
        child_first_process();
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void processes_have_so_many_numbers(void **state)
{
    if (has(LIMITS, 100704))
        in_child(child_numbers);
}

static void reserved_requests_appear(void **state)
{
    enum { RESERVED = 3000 };
    bool exact = false;
    if (!has(LIMITS, 100718))
        return;
    for (int i = 0; i < TRIES && !exact; i++) {
        aio_context_t context = 0;
        uint64_t before = queried(LIMITS, NULL, 100718);
        if (syscall(SYS_io_setup, RESERVED, &context) != 0) {
            report_skipped("no asynchronous requests here");
            return;
        }
        uint64_t with = queried(LIMITS, NULL, 100718);
        syscall(SYS_io_destroy, context);
        exact = with == before + RESERVED;
    }
    assert_true(exact);
}

/* A user without other keys creates keys up to the kernel's limit per user, so the used share
 * becomes 100 %. */
static void child_keys(void)
{
    enum { SPARE = 20 };
    char name[32];
    uint64_t before = queried(LIMITS, NULL, 100728), made = 0;
    uint64_t most = reading("/proc/sys/kernel/keys/maxkeys", "", 1);
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0 ||
        syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0)
        _exit(CANNOT_RUN);
    for (; made < most; made++) {
        snprintf(name, sizeof name, "opl-%u", (unsigned)made);
        if (syscall(SYS_add_key, "user", name, "x", (size_t)1, KEY_SPEC_SESSION_KEYRING) < 0)
            break;
    }
    run_query(LIMITS);
    uint64_t keys = answer_number(LIMITS, NULL, 100728, false);
    /* if the test is not root, only the user's own keys are counted */
    bool counted = near(keys, before + made, SPARE) || near(keys, made, SPARE);
    uint64_t used = answer_number(LIMITS, NULL, 100730, false);
    uint64_t base = answer_number(LIMITS, NULL, 100730, true);
    uint64_t bytes = answer_number(LIMITS, NULL, 100732, false);
    _exit(errno == EDQUOT && counted && base == most && used + 2 >= base && made + 10 >= most &&
                  bytes >= made * 5
              ? 0
              : 1);
}

static void keys_appear(void **state)
{
    if (has(LIMITS, 100730))
        in_child(child_keys);
}

static void shares_are_of_their_limits(void **state)
{
    static const unsigned rows[][3] = {
        {100706, 100702, 100704},
        {100710, 100702, 100708},
        {100716, 100712, 100714},
        {100722, 100718, 100720}
    };
    run_query(LIMITS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (answer_has(LIMITS, rows[i][0])) {
            VALUE(LIMITS, NULL, rows[i][0], answer_number(LIMITS, NULL, rows[i][1], false));
            BASE(LIMITS, NULL, rows[i][0], answer_number(LIMITS, NULL, rows[i][2], false));
        }
}

static void settings_are_what_the_kernel_says(void **state)
{
    static const struct {
        unsigned index;
        const char *path;
    } rows[] = {
        {100708, "/proc/sys/kernel/threads-max"         },
        {100714, "/proc/sys/fs/file-max"                },
        {100720, "/proc/sys/fs/aio-max-nr"              },
        {100724, "/proc/sys/fs/inotify/max_user_watches"},
    };
    run_query(LIMITS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (answer_has(LIMITS, rows[i].index))
            VALUE(LIMITS, NULL, rows[i].index, reading(rows[i].path, "", 1));
}

/* ---- Slab, compared with sys/kernel/slab ---- */

static uint64_t of_slab(const char *cache, const char *file)
{
    char path[256];
    snprintf(path, sizeof path, "/sys/kernel/slab/%s/%s", cache, file);
    return reading(path, "", 1);
}

/* Has the counter the same values as sys? Compared are only caches that seldom change. */
static bool same_slab(const char *cache)
{
    run_query(SLAB);
    uint64_t objects = answer_number(SLAB, cache, 100606, false);
    return answer_number(SLAB, cache, 100608, false) == of_slab(cache, "slab_size") &&
           objects == of_slab(cache, "total_objects") &&
           answer_number(SLAB, cache, 100610, false) == of_slab(cache, "slabs") &&
           near(answer_number(SLAB, cache, 100604, false), of_slab(cache, "objects"), objects) &&
           answer_number(SLAB, cache, 100612, true) == objects &&
           answer_number(SLAB, cache, 100612, false) == answer_number(SLAB, cache, 100604, false) &&
           answer_number(SLAB, cache, 100602, false) % (uint64_t)sysconf(_SC_PAGESIZE) == 0;
}

static void slabs_are_those_of_sys(void **state)
{
    static const char *const caches[] = {"task_struct", "dentry", "vm_area_struct", "files_cache",
                                         "kmalloc-4k",  "pid",    "bdev_cache",     "mnt_cache"};
    unsigned same = 0, reported = 0;
    if (!has(SLAB, 100606))
        return;
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        opl_object_view object;
        opl_instance_view instance;
        run_query(SLAB);
        if (of_slab(caches[i], "total_objects") == UINT64_MAX || !answer_object(SLAB, &object) ||
            !answer_instance(&object, caches[i], &instance))
            continue;
        reported++;
        bool is = false;
        for (int k = 0; k < TRIES && !is; k++)
            is = same_slab(caches[i]);
        same += is;
    }
    if (reported < 3)
        report_skipped("sys has no slabs");
    else
        assert_true(same + 1 >= reported);
}

/* ---- Memory Zone: the watermarks are computed here from two kernel settings ---- */

/* Has the kernel raised the watermarks of a zone temporarily, because memory is fragmented? */
static bool a_mark_is_raised(void)
{
    char line[128];
    unsigned long pages = 0, raised = 0;
    FILE *file = fopen("/proc/zoneinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, " boost %lu", &pages) == 1)
            raised += pages;
    if (file)
        fclose(file);
    return raised > 0;
}

static void watermarks_follow_from_settings(void **state)
{
    if (a_mark_is_raised()) {
        report_skipped("the kernel has raised a mark for a while");
        return;
    }
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), managed = 0;
    uint64_t least = reading("/proc/sys/vm/min_free_kbytes", "", 1);
    uint64_t scale = reading("/proc/sys/vm/watermark_scale_factor", "", 1);
    if (!has(ZONE, 100504) || least == UINT64_MAX || scale == UINT64_MAX)
        return;
    opl_object_view object;
    opl_instance_view instance = {0};
    char name[64];
    assert_true(answer_object(ZONE, &object));
    while (opl_object_next_instance(&answer_block, &object, &instance)) {
        opl_instance_name(&answer_block, &object, &instance, name, sizeof name);
        managed = answer_number(ZONE, name, 100504, false);
        uint64_t min = answer_number(ZONE, name, 100508, false), step = min / 4;
        if (strcmp(name, "_Total") == 0) {
            /* the share of each zone is rounded down to whole pages, so the sum may be less */
            assert_true(near(min, least * KIB, 64 * page) || min < least * KIB);
            continue;
        }
        if (managed / 10000 * scale > step)
            step = managed / 10000 * scale;
        uint64_t slack = managed / 10000 + scale * page + 2 * page;
        assert_true(near(answer_number(ZONE, name, 100510, false), min + step, slack));
        assert_true(near(answer_number(ZONE, name, 100512, false), min + 2 * step, 2 * slack));
        assert_int_equal(answer_number(ZONE, name, 100506, true), managed);
        assert_int_equal(answer_number(ZONE, name, 100506, false),
                         answer_number(ZONE, name, 1768, false));
    }
}

/* ---- Memory ---- */

/* The commit limit is what the strict mode of overcommit would allow: a percentage of the memory
 * (without huge pages), plus swap. */
static void commit_limit_follows_from_settings(void **state)
{
    uint64_t all = reading("/proc/meminfo", "MemTotal", 1) * KIB;
    uint64_t huge = reading("/proc/meminfo", "Hugetlb", 1);
    uint64_t given = reading("/proc/sys/vm/overcommit_kbytes", "", 1) * KIB;
    uint64_t share = reading("/proc/sys/vm/overcommit_ratio", "", 1);
    struct sysinfo info;
    sysinfo(&info);
    if (!has(MEMORY, 30) || huge == UINT64_MAX || share == UINT64_MAX)
        return;
    uint64_t limit = (given ? given : (all - huge * KIB) / 100 * share) +
                     (uint64_t)info.totalswap * info.mem_unit;
    assert_true(near(queried(MEMORY, NULL, 30), limit, MEBI));
}

/* Adds up for each zone the largest number in its line "protection: (0, 2, ...)" and its high
 * watermark. */
static uint64_t reserved_pages(void)
{
    char line[1024];
    uint64_t high = 0, managed = 0, sum = 0;
    FILE *file = fopen("/proc/zoneinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        unsigned long long number;
        if (sscanf(line, " high %llu", &number) == 1)
            high = number;
        else if (sscanf(line, " managed %llu", &number) == 1)
            managed = number;
        char *at = strstr(line, "protection: (");
        uint64_t most = 0;
        for (at = at ? at + 13 : NULL; at && *at && *at != '\n'; at += strspn(at, ", )")) {
            uint64_t one = strtoull(at, &at, 10);
            most = one > most ? one : most;
        }
        if (strstr(line, "protection: ("))
            sum += most + high < managed ? most + high : managed;
    }
    if (file)
        fclose(file);
    return sum;
}

static uint64_t low_marks(void)
{
    char line[1024];
    unsigned long long number, sum = 0;
    FILE *file = fopen("/proc/zoneinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, " low %llu", &number) == 1)
            sum += number;
    if (file)
        fclose(file);
    return sum;
}

static uint64_t kept_back(uint64_t bytes, uint64_t low)
{
    return bytes - (bytes / 2 < low ? bytes / 2 : low);
}

/* Computes available memory as the kernel's documents define it: free memory that is not reserved,
 * plus the caches, of which half or the low watermarks are left out, whichever is less. */
static bool available_is_right(void)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), low = low_marks() * page;
    run_query(MEMORY);
    uint64_t free_bytes = answer_number(MEMORY, NULL, 1676, false);
    uint64_t files =
        answer_number(MEMORY, NULL, 76, false) + answer_number(MEMORY, NULL, 1682, false);
    uint64_t slabs = reading("/proc/meminfo", "KReclaimable", 1) * KIB;
    uint64_t available =
        free_bytes - reserved_pages() * page + kept_back(files, low) + kept_back(slabs, low);
    uint64_t reported = answer_number(MEMORY, NULL, 24, false);
    return near(reported, available, reported / 50) &&
           answer_number(MEMORY, NULL, 1380, false) == reported / KIB &&
           answer_number(MEMORY, NULL, 1382, false) == reported / MEBI;
}

static void available_memory_follows_from_the_rest(void **state)
{
    bool right = false;
    if (!has(MEMORY, 24) || !has(MEMORY, 1682) ||
        reading("/proc/meminfo", "KReclaimable", 1) == UINT64_MAX)
        return;
    for (int i = 0; i < TRIES && !right; i++)
        right = available_is_right();
    assert_true(right);
}

/* Reads pages of a file that are not in memory: each page causes a fault that waits for the
 * disk. */
static void faults_that_need_the_disk_appear(void **state)
{
    enum { PAGES = 200, STEP = 16 };
    char file[1024];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * STEP * page;
    snprintf(file, sizeof file, "%s/faults-XXXXXX", getenv("BUILD_ROOT"));
    int fd = mkstemp(file);
    if (fd < 0) {
        report_skipped("the build folder is not ours to write");
        return;
    }
    char *piece = calloc(1, bytes);
    bool written = piece && write(fd, piece, bytes) == (ssize_t)bytes;
    free(piece);
    assert_true(written);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    const volatile char *at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(at != MAP_FAILED);
    madvise((void *)(uintptr_t)at, bytes, MADV_RANDOM);
    uint64_t before = queried(MEMORY, NULL, 42);
    for (size_t i = 0; i < PAGES; i++)
        (void)at[i * STEP * page];
    uint64_t faults = (uint32_t)(queried(MEMORY, NULL, 42) - before);
    munmap((void *)(uintptr_t)at, bytes);
    close(fd), unlink(file);
    if (faults == 0)
        report_skipped("the build folder is not on a disk");
    else
        assert_in_range(faults, PAGES, 10 * PAGES); /* other programs cause such faults, too */
}

/* Memory that the test sends to swap is counted, if there is swap. */
static void pages_sent_to_swap_appear(void **state)
{
    const size_t bytes = (size_t)8 * MEBI;
    struct sysinfo info;
    sysinfo(&info);
    if (info.freeswap * (uint64_t)info.mem_unit < 2 * bytes || !has(MEMORY, 48)) {
        report_skipped("there is no swap");
        return;
    }
    uint64_t pages = bytes / (uint64_t)sysconf(_SC_PAGESIZE), before = queried(MEMORY, NULL, 48);
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    memset(at, 0x5a, bytes);
    if (madvise(at, bytes, 21 /* MADV_PAGEOUT */) == 0)
        assert_in_range((uint32_t)(queried(MEMORY, NULL, 48) - before), pages - pages / 50,
                        pages * 4);
    munmap(at, bytes);
}

/* ---- NUMA Node Memory, compared with the counts of pages in sys ---- */

static uint64_t of_node(unsigned node, unsigned index)
{
    char name[16];
    snprintf(name, sizeof name, "%u", node);
    return queried(NODE, name, index);
}

static uint64_t pages_of_node(unsigned node, const char *key)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%u/vmstat", node);
    uint64_t pages = reading(path, key, 1);
    return pages == UINT64_MAX ? pages : pages * (uint64_t)sysconf(_SC_PAGESIZE) / MEBI;
}

static bool same_node(unsigned node)
{
    enum { FEW = 8 }; /* other programs allocate and free meanwhile */
    uint64_t nothing = pages_of_node(node, "nr_free_pages");
    uint64_t files = pages_of_node(node, "nr_inactive_file");
    return near(of_node(node, 1818), nothing, FEW) && near(of_node(node, 1822), files, FEW) &&
           near(of_node(node, 1824), nothing + files, 2 * FEW);
}

/* Returns the memory of all zones of all nodes, in MiB. MemTotal may be more, because it includes
 * memory that was added while the machine ran. */
static uint64_t managed_by_zones(void)
{
    char line[1024];
    unsigned long long number, sum = 0;
    FILE *file = fopen("/proc/zoneinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, " managed %llu", &number) == 1)
            sum += number;
    if (file)
        fclose(file);
    return sum * (uint64_t)sysconf(_SC_PAGESIZE) / MEBI;
}

static void nodes_are_their_pages(void **state)
{
    uint64_t sum = 0;
    unsigned node = 0;
    if (!has(NODE, 1818))
        return;
    for (; pages_of_node(node, "nr_free_pages") != UINT64_MAX; node++) {
        bool same = false;
        for (int i = 0; i < TRIES && !same; i++)
            same = same_node(node);
        assert_true(same);
        sum += of_node(node, 1816);
    }
    assert_true(node == 0 || near(sum, managed_by_zones(), 16 + node));
}

/* ---- Memory Usage ---- */

static bool usage_is_that_of_sysinfo(void)
{
    struct sysinfo info;
    run_query(USAGE);
    sysinfo(&info);
    uint64_t all = (uint64_t)info.totalswap * info.mem_unit;
    uint64_t left = (uint64_t)info.freeswap * info.mem_unit;
    uint64_t memory = (uint64_t)info.totalram * info.mem_unit;
    uint64_t available = answer_number(USAGE, NULL, 101506, false) * KIB;
    bool same =
        answer_number(USAGE, NULL, 101508, false) == left / MEBI &&
        answer_number(USAGE, NULL, 101512, false) == (all - left) / MEBI &&
        answer_number(USAGE, NULL, 101510, true) * KIB == all &&
        answer_number(USAGE, NULL, 101514, true) * KIB == all &&
        answer_number(USAGE, NULL, 101510, false) * KIB == left &&
        answer_number(USAGE, NULL, 101514, false) * KIB == all - left &&
        answer_number(USAGE, NULL, 101504, true) * KIB == memory &&
        answer_number(USAGE, NULL, 101506, true) * KIB == memory &&
        answer_number(USAGE, NULL, 101504, false) + answer_number(USAGE, NULL, 101506, false) ==
            memory / KIB &&
        answer_number(USAGE, NULL, 101502, false) ==
            answer_number(USAGE, NULL, 101504, false) / KIB;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t files = reading("/proc/vmstat", "nr_file_pages", 1) * page -
                     reading("/proc/meminfo", "SwapCached:", 1) * KIB;
    uint64_t buffers = (uint64_t)info.bufferram * info.mem_unit;
    same &= answer_number(USAGE, NULL, 101518, false) == buffers &&
            near(answer_number(USAGE, NULL, 101516, false), files - buffers, 16 * MEBI);
    return same && near(available, queried(MEMORY, NULL, 24), 16 * MEBI);
}

static void memory_usage_is_that_of_sysinfo(void **state)
{
    bool same = false;
    if (!has(USAGE, 101508))
        return;
    for (int i = 0; i < TRIES && !same; i++)
        same = usage_is_that_of_sysinfo();
    assert_true(same);
}

/* ---- Processor Information, compared with Processor before and after, or with proc/stat ---- */

static uint64_t total_of_stat(unsigned word)
{
    return reading("/proc/stat", "cpu", word) * (10000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static uint64_t sum_of_processors(unsigned index)
{
    opl_object_view object;
    opl_instance_view instance = {0};
    uint64_t sum = 0;
    char name[32];
    assert_true(answer_object(INFORMATION, &object));
    while (opl_object_next_instance(&answer_block, &object, &instance)) {
        opl_instance_name(&answer_block, &object, &instance, name, sizeof name);
        if (!strstr(name, "_Total"))
            sum += answer_number(INFORMATION, name, index, false);
    }
    return sum;
}

static void processors_are_those_of_processor(void **state)
{
    static const unsigned rows[] = {6, 142, 144, 696, 698, 1746};
    static const unsigned words[][2] = {
        {100004, 5},
        {100006, 8},
        {100008, 9}
    };
    uint64_t slack = 10000000;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!has(INFORMATION, rows[i]) || !has(PROCESSOR, rows[i]))
            continue;
        uint64_t before = queried(PROCESSOR, "0", rows[i]);
        uint64_t value = queried(INFORMATION, "0,0", rows[i]);
        uint64_t after = queried(PROCESSOR, "0", rows[i]);
        assert_true(value + slack >= before && value <= after + slack);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!has(INFORMATION, words[i][0]))
            continue;
        uint64_t before = total_of_stat(words[i][1]);
        run_query(INFORMATION);
        uint64_t value = sum_of_processors(words[i][0]);
        uint64_t guests = words[i][0] == 100008 ? total_of_stat(10) : 0;
        assert_true(value + slack >= before &&
                    value <= total_of_stat(words[i][1]) + guests + slack);
    }
}

/* ---- Interrupt, compared with the sums of proc/stat ---- */

static void interrupts_are_those_of_stat(void **state)
{
    if (!has(INTERRUPT, 148))
        return;
    uint32_t before = (uint32_t)reading("/proc/stat", "intr", 1);
    uint32_t value = (uint32_t)queried(INTERRUPT, "_Total", 148);
    usleep(500000);
    uint32_t more = (uint32_t)queried(INTERRUPT, "_Total", 148) - value;
    uint32_t theirs = (uint32_t)reading("/proc/stat", "intr", 1) - before;
    assert_true(near(more, theirs, theirs / 10 + 200));
}

static void deferred_work_is_that_of_stat(void **state)
{
    if (!has(PROCESSOR, 1334))
        return;
    uint32_t before = (uint32_t)reading("/proc/stat", "softirq", 1);
    uint32_t value = (uint32_t)queried(PROCESSOR, "_Total", 1334);
    uint32_t after = (uint32_t)reading("/proc/stat", "softirq", 1);
    assert_true(value - before <= after - before);
}

/* ---- Pressure, compared with the pressure files of the root control group ---- */

static bool averages_are(const char *resource, const char *folder)
{
    static const unsigned rows[2][3] = {
        {100106, 100108, 100110},
        {100112, 100114, 100116}
    };

    char path[256], line[256];
    snprintf(path, sizeof path, "%s/%s.pressure", folder, resource);
    bool same = true;
    FILE *file = fopen(path, "r");
    run_query(PRESSURE);
    while (file && fgets(line, sizeof line, file)) {
        double average[3];
        unsigned long long total;
        unsigned which = strncmp(line, "full", 4) == 0;
        if (sscanf(line + 4, " avg10=%lf avg60=%lf avg300=%lf total=%llu", &average[0], &average[1],
                   &average[2], &total) != 4)
            same = false;
        for (int i = 0; i < 3; i++)
            same = same && near(answer_number(PRESSURE, resource, rows[which][i], false),
                                (uint64_t)(average[i] * 100 + 0.5), 1);
        if (which)
            same =
                same && near(answer_number(PRESSURE, resource, 100104, false), total * 10, 100000);
    }
    if (file)
        fclose(file);
    return same;
}

static void pressure_is_that_of_the_root_group(void **state)
{
    static const char *const resources[] = {"cpu", "memory", "io"};
    static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    const char *folder = access("/sys/fs/cgroup/cpu.pressure", R_OK) == 0 ? places[0] : places[1];
    char path[128];
    snprintf(path, sizeof path, "%s/cpu.pressure", folder);
    if (!has(PRESSURE, 100106) || access(path, R_OK) != 0) {
        report_skipped("control groups report no pressure");
        return;
    }
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
        bool same = false;
        for (int k = 0; k < TRIES && !same; k++)
            same = averages_are(resources[i], folder);
        assert_true(same);
    }
}

static int open_libraries(void **state)
{
    return library_open(&perfos, "perfos") || library_open(&perflinux, "perflinux");
}

static int close_libraries(void **state)
{
    return perfos.close() || perflinux.close();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_has_so_many_queues),
        cmocka_unit_test(processes_have_so_many_numbers),
        cmocka_unit_test(reserved_requests_appear),
        cmocka_unit_test(keys_appear),
        cmocka_unit_test(shares_are_of_their_limits),
        cmocka_unit_test(settings_are_what_the_kernel_says),
        cmocka_unit_test(slabs_are_those_of_sys),
        cmocka_unit_test(watermarks_follow_from_settings),
        cmocka_unit_test(commit_limit_follows_from_settings),
        cmocka_unit_test(available_memory_follows_from_the_rest),
        cmocka_unit_test(faults_that_need_the_disk_appear),
        cmocka_unit_test(pages_sent_to_swap_appear),
        cmocka_unit_test(nodes_are_their_pages),
        cmocka_unit_test(memory_usage_is_that_of_sysinfo),
        cmocka_unit_test(processors_are_those_of_processor),
        cmocka_unit_test(interrupts_are_those_of_stat),
        cmocka_unit_test(deferred_work_is_that_of_stat),
        cmocka_unit_test(pressure_is_that_of_the_root_group),
    };
    return cmocka_run_group_tests(tests, open_libraries, close_libraries);
}
