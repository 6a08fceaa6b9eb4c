/* SPDX-License-Identifier: MIT */
/*
 * perfdisk.so on this machine, compared with sys/block/NAME/stat of each disk, with df and the
 * kernel's list of disks; and with work of known size, written and read without the page cache, on
 * the real disk and on a file system that the test makes.
 */
#include "answer.h"
#include "../skip.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>

enum { PHYSICAL = 234, LOGICAL = 236, SPACE = 101700, MEBI = 1 << 20, PIECES = 32, LOOKS = 40 };

static struct library perfdisk;

static void run_query(const char *query)
{
    assert_int_equal(library_query(&perfdisk, query), ERROR_SUCCESS);
    answer_begin();
}

/* ---- answers of other sources ---- */

/* Lists the disks: names in sys/block that have a link "device", except floppies and CDs. */
static unsigned list_disks(char names[][64], unsigned most)
{
    unsigned count = 0;
    char path[512];
    DIR *folder = opendir("/sys/block");
    for (struct dirent *entry; folder && (entry = readdir(folder)) && count < most;) {
        snprintf(path, sizeof path, "/sys/block/%s/device", entry->d_name);
        if (access(path, F_OK) == 0 && strncmp(entry->d_name, "sr", 2) != 0 &&
            strncmp(entry->d_name, "fd", 2) != 0 && !strstr(entry->d_name, "boot"))
            snprintf(names[count++], 64, "%.63s", entry->d_name);
    }
    if (folder)
        closedir(folder);
    return count;
}

static void stat_of(const char *disk, unsigned long long ret[11])
{
    char path[128];
    snprintf(path, sizeof path, "/sys/block/%.63s/stat", disk);
    FILE *file = fopen(path, "r");
    memset(ret, 0, 11 * sizeof *ret);
    for (int i = 0; file && i < 11; i++)
        if (fscanf(file, "%llu", &ret[i]) != 1)
            break;
    if (file)
        fclose(file);
}

static void is_between(const char *disk, unsigned index, unsigned long long before,
                       unsigned long long after, unsigned long long unit, bool wide)
{
    uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
    uint64_t value = answer_number(PHYSICAL, disk, index, false);
    if (((value - before * unit) & mask) > (((after - before) * unit) & mask))
        fail_msg("%s: %u is %llu, not from %llu to %llu", disk, index, (unsigned long long)value,
                 before * unit, after * unit);
}

static void counts_lie_between(void **state)
{
    static const struct {
        unsigned index, column, unit;
        bool wide;
    } counts[] = {
        {214,  0,  1,     false},
        {216,  4,  1,     false},
        {220,  2,  512,   true },
        {222,  6,  512,   true },
        {202,  3,  10000, true },
        {204,  7,  10000, true },
        {1400, 10, 10000, true }
    };
    char names[64][64];
    unsigned count = list_disks(names, 64);
    if (count == 0)
        report_skipped("no disks in sys/block");
    for (unsigned i = 0; i < count; i++) {
        unsigned long long before[11], after[11];
        stat_of(names[i], before);
        run_query("234");
        stat_of(names[i], after);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            if (after[counts[k].column] < UINT32_MAX || counts[k].unit != 10000)
                is_between(names[i], counts[k].index, before[counts[k].column],
                           after[counts[k].column], counts[k].unit, counts[k].wide);
    }
}

static void all_disks_are_there(void **state)
{
    char names[64][64];
    unsigned count = list_disks(names, 64);
    opl_object_view object;
    run_query("234");
    if (count == 0 || !answer_object(PHYSICAL, &object)) {
        report_skipped("no disks here");
        return;
    }
    assert_int_equal(object.type.NumInstances, count + 1);
    for (unsigned i = 0; i < count; i++)
        answer_number(PHYSICAL, names[i], 198, false);
}

/* Reads df's output for the file system at `place`, in bytes, because in MiB df rounds up. */
static bool df_of(const char *place, uint64_t *ret_available, uint64_t *ret_used)
{
    char command[256];
    unsigned long long used, available;
    snprintf(command, sizeof command, "df -B1 --output=used,avail '%s' 2>&1 | tail -n 1", place);
    FILE *stream = popen(command, "r");
    bool good = stream && fscanf(stream, "%llu %llu", &used, &available) == 2;
    if (stream)
        pclose(stream);
    *ret_available = good ? available / MEBI : 0;
    *ret_used = good ? used / MEBI : 0;
    return good;
}

/* Reads size and free bytes, with the part for the system, as stat -f prints them. */
static bool size_of(const char *place, uint64_t *ret_total, uint64_t *ret_free)
{
    char command[256];
    unsigned long long blocks, free, size;
    snprintf(command, sizeof command, "stat -f -c '%%b %%f %%S' '%s'", place);
    FILE *stream = popen(command, "r");
    bool good = stream && fscanf(stream, "%llu %llu %llu", &blocks, &free, &size) == 3;
    if (stream)
        pclose(stream);
    *ret_total = good ? blocks * size : 0;
    *ret_free = good ? free * size : 0;
    return good;
}

static bool lies_between(uint64_t value, uint64_t before, uint64_t after)
{
    return value >= (before < after ? before : after) && value <= (before < after ? after : before);
}

/* Compares the root's values with what df and stat say before and after. Returns what differs, or
 * NULL; *ret_known: df can be compared. */
static const char *difference_to_df(bool *ret_known)
{
    uint64_t before, after, used_before, used_after, total, free_before, free_after;
    *ret_known = df_of("/", &before, &used_before);
    if (!*ret_known)
        return NULL;
    assert_true(size_of("/", &total, &free_before));
    run_query("236 101700");
    assert_true(size_of("/", &total, &free_after));
    assert_true(df_of("/", &after, &used_after));
    uint64_t available = answer_number(LOGICAL, "/", 410, false);
    uint64_t usable = answer_number(LOGICAL, "/", 408, true);
    uint64_t used = answer_number(SPACE, "/", 101704, false);
    VALUE(LOGICAL, "/", 408, available);
    VALUE(SPACE, "/", 101702, used);
    VALUE(SPACE, "/", 101706, total);
    if (!lies_between(available, before, after))
        return "free megabytes";
    if (!lies_between(usable, available + used_before, available + used_after) &&
        !lies_between(usable - 1, available + used_before, available + used_after))
        return "usable megabytes";
    if (!lies_between(used, used_before, used_after))
        return "used megabytes";
    if (answer_number(SPACE, "/", 101702, true) + 1 - usable > 2)
        return "usable megabytes of the other object";
    return lies_between(answer_number(SPACE, "/", 101708, false), free_before, free_after)
               ? NULL
               : "free bytes with the reserve";
}

/* A file that others write and delete within one look changes the values from both sides, so a few
 * looks are allowed; a wrong value differs in each. */
static void spaces_are_what_df_says(void **state)
{
    const struct timespec moment = {0, 50000000};
    const char *differs;
    bool known;
    run_query("236");
    if (!strstr(answer_names(LOGICAL), "/,") || *answer_names(LOGICAL) != '/') {
        report_skipped("the root is no file system on a disk");
        return;
    }
    for (int looks = 0; (differs = difference_to_df(&known)) && looks < LOOKS; looks++)
        nanosleep(&moment, NULL);
    if (!known)
        report_skipped("df does not report bytes here");
    else if (differs)
        fail_msg("not once in %d looks what df says: %s", LOOKS, differs);
}

/* ---- work of known size ---- */

struct work {
    uint64_t reads, writes, read_bytes, write_bytes, read_time, write_time, free;
};

static struct work work_of(unsigned object, const char *name)
{
    struct work work = {0};
    run_query("236");
    work.reads = answer_number(object, name, 214, false);
    work.writes = answer_number(object, name, 216, false);
    work.read_bytes = answer_number(object, name, 220, false);
    work.write_bytes = answer_number(object, name, 222, false);
    work.read_time = answer_number(object, name, 1402, false);
    work.write_time = answer_number(object, name, 1404, false);
    work.free = object == LOGICAL ? answer_number(object, name, 410, false) : 0;
    return work;
}

/* Is the file in a file system in memory? That opening it with O_DIRECT succeeds does not show a
 * disk, because since Linux 6.6 tmpfs accepts O_DIRECT, too. */
static bool is_in_memory(int fd)
{
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0)
        return false;
    uint32_t type = (uint32_t)fs.f_type;
    return type == TMPFS_MAGIC || type == RAMFS_MAGIC;
}

/* Writes and reads a number of MiB without the page cache. Returns false if the file system has no
 * disk or does not support O_DIRECT. */
static bool do_work(const char *file)
{
    void *piece = NULL;
    bool good = posix_memalign(&piece, 4096, MEBI) == 0;
    int fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
    good = good && fd >= 0 && !is_in_memory(fd);
    if (good)
        memset(piece, 0x5a, MEBI);
    for (int i = 0; i < PIECES && good; i++)
        good = write(fd, piece, MEBI) == MEBI;
    good = good && fsync(fd) == 0;
    for (int i = 0; i < PIECES && good; i++)
        good = pread(fd, piece, MEBI, (off_t)i * MEBI) == MEBI;
    if (fd >= 0)
        close(fd);
    free(piece);
    return good;
}

/* Other programs use this disk too, so the counters must grow at least by the test's own
 * requests. */
static void work_on_the_real_disk_appears(void **state)
{
    char file[1024], names[64][64];
    unsigned count = list_disks(names, 64), moved = 0;
    struct work before[64];
    snprintf(file, sizeof file, "%s/work-XXXXXX", getenv("BUILD_ROOT"));
    int fd = mkstemp(file);
    if (fd < 0) {
        report_skipped("the build folder cannot be written to");
        return;
    }
    close(fd);
    for (unsigned i = 0; i < count; i++)
        before[i] = work_of(PHYSICAL, names[i]);
    bool done = do_work(file);
    unlink(file);
    for (unsigned i = 0; i < count; i++) {
        struct work after = work_of(PHYSICAL, names[i]);
        moved += after.write_bytes - before[i].write_bytes >= PIECES * (uint64_t)MEBI &&
                 after.read_bytes - before[i].read_bytes >= PIECES * (uint64_t)MEBI &&
                 (uint32_t)(after.writes - before[i].writes) >= PIECES / 8 &&
                 (uint32_t)(after.reads - before[i].reads) >= PIECES / 8 &&
                 after.write_time + after.read_time > before[i].write_time + before[i].read_time;
    }
    if (!done || count == 0)
        report_skipped("the build folder is not on a disk");
    else
        assert_true(moved >= 1);
}

/* ---- a separate file system, which no other program uses ---- */

static char place[] = "/tmp/opl-live-XXXXXX";

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static bool within_1_percent(uint64_t value)
{
    const uint64_t expected = PIECES * (uint64_t)MEBI;
    return value >= expected && value <= expected + expected / 100;
}

/* Mounts a file system for the test: an image in memory, on a loop device that ends with the mount,
 * in a mount namespace that ends with this process. Exits with 77 if that is not permitted. */
static void mount_own(void)
{
    char path[64];
    int image = memfd_create("disk", 0), control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (image < 0 || control < 0 || ftruncate(image, 80 * MEBI))
        _exit(77);
    snprintf(path, sizeof path, "mkfs.ext2 -q -F /proc/%d/fd/%d >&2", (int)getpid(), image);
    int number = ioctl(control, LOOP_CTL_GET_FREE);
    if (number < 0 || system(path) != 0)
        _exit(77);
    snprintf(path, sizeof path, "/dev/loop%d", number);
    int loop = open(path, O_RDWR | O_CLOEXEC);
    struct loop_info64 info = {.lo_flags = LO_FLAGS_AUTOCLEAR};
    if (loop < 0 || ioctl(loop, LOOP_SET_FD, image) || ioctl(loop, LOOP_SET_STATUS64, &info))
        _exit(77);
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount(path, place, "ext2", 0, NULL))
        _exit(77);
    close(loop);
}

static void work_in_own_place(void)
{
    char file[64];
    mount_own();
    snprintf(file, sizeof file, "%s/work", place);
    if (perfdisk.open(NULL) != 0)
        _exit(2);
    struct work before = work_of(LOGICAL, place);
    if (!do_work(file))
        _exit(77);
    sync();
    struct work after = work_of(LOGICAL, place);
    MUST(within_1_percent(after.write_bytes - before.write_bytes));
    MUST(within_1_percent(after.read_bytes - before.read_bytes));
    uint64_t less = before.free - after.free;
    MUST(less >= PIECES && less <= PIECES + 1);
    MUST((uint32_t)(after.reads - before.reads) > 0);
    MUST((uint32_t)(after.writes - before.writes) > 0);
    MUST(strstr(answer_names(PHYSICAL), "loop") == NULL);
    perfdisk.close();
    umount2(place, MNT_DETACH);
    _exit(0);
}

static void work_in_a_place_of_our_own_is_exact(void **state)
{
    int status = 0;
    if (geteuid() != 0) {
        report_skipped("only root may mount");
        return;
    }
    assert_non_null(mkdtemp(place));
    pid_t child = fork();
    if (child == 0)
        work_in_own_place();
    assert_int_equal(waitpid(child, &status, 0), child);
    rmdir(place);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        report_skipped("loop devices, mkfs.ext2 or mounts are not permitted here");
    else
        assert_int_equal(status, 0);
}

static int open_library(void **state)
{
    return library_open(&perfdisk, "perfdisk");
}

static int close_library(void **state)
{
    return (int)perfdisk.close();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_lie_between),
        cmocka_unit_test(all_disks_are_there),
        cmocka_unit_test(spaces_are_what_df_says),
        cmocka_unit_test(work_on_the_real_disk_appears),
        cmocka_unit_test(work_in_a_place_of_our_own_is_exact),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
