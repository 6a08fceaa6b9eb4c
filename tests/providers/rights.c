/* SPDX-License-Identifier: MIT */
/*
 * A value that a user may not read must be absent, not 0. All counters of this project's providers
 * are read as root, as an ordinary user, and as root again. A value is false if it is 0 for the
 * user, but not for root before and after. The test must be root, to become other users and to
 * mount proc.
 */
#include "../skip.h"
#include "answer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { NOBODY = 65534, SIZE = 8 << 20, MOST_FALSE = 4000 };

/* One answer of one provider; larger than `answer` of answer.h, so that it fits for any machine. */
struct taken {
    DWORD status;
    union {
        PERF_DATA_BLOCK header;
        unsigned char bytes[sizeof(PERF_DATA_BLOCK) + SIZE];
    } block;
    opl_block walk;
};
static const char *const queries[] = {"Global", "Costly"};
enum { QUERIES = 2, ANSWERS = SHIPPED_PROVIDERS * QUERIES };

static struct library libraries[SHIPPED_PROVIDERS];
static rlim_t files; /* how many files a child may have open; 0: the usual limit */

static void take(const struct library *library, const char *query, struct taken *to)
{
    WCHAR wide[16] = {0};
    static const char signature[8] = {'P', 0, 'E', 0, 'R', 0, 'F', 0};
    for (size_t i = 0; query[i]; i++)
        wide[i] = (WCHAR)query[i];
    LPVOID data = to->block.bytes + sizeof(PERF_DATA_BLOCK);
    DWORD types = 0, bytes = SIZE;
    to->status = library->collect(wide, &data, &bytes, &types);
    to->block.header = (PERF_DATA_BLOCK){.LittleEndian = 1,
                                         .Version = 1,
                                         .Revision = 1,
                                         .HeaderLength = sizeof to->block.header,
                                         .TotalByteLength = (DWORD)sizeof to->block.header + bytes,
                                         .NumObjectTypes = types};
    memcpy(to->block.header.Signature, signature, sizeof signature);
}

/* Queries as another user, in a child process that becomes this user before it calls Open. Returns
 * NULL, after a message, if that fails. Uses no assertions, because the caller may itself be a
 * child process. */
static struct taken *take_as(uid_t user)
{
    size_t bytes = sizeof(struct taken) * ANSWERS;
    struct taken *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int status = 1;
    pid_t child = all == MAP_FAILED ? -1 : fork();
    if (child == 0) {
        if (files && setrlimit(RLIMIT_NOFILE, &(struct rlimit){files, files}))
            _exit(2);
        /* a process that has changed its user cannot read its own files in /proc, unless it is made
         * dumpable */
        if (user &&
            (setgroups(0, NULL) || setgid(user) || setuid(user) || prctl(PR_SET_DUMPABLE, 1)))
            _exit(2);
        for (size_t i = 0; i < SHIPPED_PROVIDERS; i++) {
            if (libraries[i].open(NULL))
                _exit(3);
            for (size_t q = 0; q < QUERIES; q++)
                take(&libraries[i], queries[q], &all[i * QUERIES + q]);
        }
        _exit(0);
    }
    bool good = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    if (!good)
        print_error("user %u could not ask: %#x\n", (unsigned)user, (unsigned)status);
    for (size_t i = 0; i < ANSWERS && good; i++)
        if (all[i].status ||
            opl_block_init(&all[i].walk, all[i].block.bytes, sizeof all[i].block)) {
            print_error("%s of %s: %u\n", queries[i % QUERIES], shipped_providers[i / QUERIES][0],
                        (unsigned)all[i].status);
            good = false;
        }
    return good ? all : NULL;
}

static void restore(struct taken *all)
{
    if (all)
        munmap(all, sizeof(struct taken) * ANSWERS);
}

/* ---- the same value in another answer ---- */

static bool number_of(struct taken *from, const opl_object_view *object,
                      const opl_instance_view *instance, DWORD index, uint64_t *ret)
{
    opl_counter_view counter = {0};
    while (opl_object_next_counter(&from->walk, object, &counter))
        if (counter.definition.CounterNameTitleIndex == index)
            return opl_counter_number(&from->walk, instance, &counter, ret);
    return false;
}

/* Returns what identifies an instance: for processes and threads their numbers, for others name and
 * order. */
static uint64_t identity(struct taken *from, const opl_object_view *object,
                         const opl_instance_view *instance)
{
    uint64_t process = 0, thread = 0;
    number_of(from, object, instance, 784, &process);
    number_of(from, object, instance, 804, &thread);
    return process << 32 | thread;
}

static bool find_same(struct taken *mine, const opl_object_view *object,
                      const opl_instance_view *instance, struct taken *other, DWORD index,
                      uint64_t *ret)
{
    opl_object_view there;
    opl_instance_view at = {0};
    char name[1024], found[1024];
    uint64_t is = identity(mine, object, instance);
    opl_instance_name(&mine->walk, object, instance, name, sizeof name);
    if (!opl_block_find_object(&other->walk, object->type.ObjectNameTitleIndex, &there))
        return false;
    while (opl_object_next_instance(&other->walk, &there, &at)) {
        opl_instance_name(&other->walk, &there, &at, found, sizeof found);
        bool same = is ? identity(other, &there, &at) == is
                       : strcmp(name, found) == 0 && at.position == instance->position;
        if (same || object->type.NumInstances == PERF_NO_INSTANCES)
            return number_of(other, &there, &at, index, ret);
    }
    return false;
}

/* ---- false values ---- */

struct falsehood {
    DWORD object, counter;
    char instance[64];
};

/* Finds the false values in one provider's answer: those that are 0 here, but not in the answers
 * before and after. */
static size_t compare(struct taken *mine, struct taken *before, struct taken *after,
                      struct falsehood found[], size_t count)
{
    opl_object_view object = {0};
    while (opl_block_next_object(&mine->walk, &object)) {
        opl_counter_view counter = {0};
        while (opl_object_next_counter(&mine->walk, &object, &counter)) {
            opl_instance_view instance = {0};
            DWORD index = counter.definition.CounterNameTitleIndex;
            while (opl_object_next_instance(&mine->walk, &object, &instance)) {
                uint64_t here = 0, first = 0, last = 0;
                if (!opl_counter_number(&mine->walk, &instance, &counter, &here) || here ||
                    !find_same(mine, &object, &instance, before, index, &first) || !first ||
                    !find_same(mine, &object, &instance, after, index, &last) || !last ||
                    count == MOST_FALSE)
                    continue;
                found[count] = (struct falsehood){object.type.ObjectNameTitleIndex, index, {0}};
                opl_instance_name(&mine->walk, &object, &instance, found[count].instance,
                                  sizeof found[count].instance);
                count++;
            }
        }
    }
    return count;
}

static size_t round_of(uid_t user, struct falsehood found[])
{
    size_t count = 0;
    struct taken *before = take_as(0), *mine = take_as(user), *after = take_as(0);
    bool good = before && mine && after;
    if (!good)
        found[count++] = (struct falsehood){.instance = "no answer"};
    for (size_t i = 0; i < ANSWERS && good; i++)
        count = compare(&mine[i], &before[i], &after[i], found, count);
    restore(before);
    restore(mine);
    restore(after);
    return count;
}

/* Counts and prints the values that are 0 for the user in every round; several rounds are needed,
 * because a value may really be 0 for a moment. */
static size_t false_values(uid_t user)
{
    static struct falsehood kept[MOST_FALSE], found[MOST_FALSE];
    size_t left = round_of(user, kept);
    for (int round = 0; round < 3 && left; round++) {
        size_t count = round_of(user, found), both = 0;
        for (size_t i = 0; i < left; i++)
            for (size_t k = 0; k < count; k++)
                if (memcmp(&kept[i], &found[k], sizeof *kept) == 0) {
                    kept[both++] = kept[i];
                    break;
                }
        left = both;
    }
    for (size_t i = 0; i < left; i++)
        print_error("object %u, counter %u, \"%s\": 0 for user %u, not for root\n",
                    (unsigned)kept[i].object, (unsigned)kept[i].counter, kept[i].instance,
                    (unsigned)user);
    return left;
}

/* ---- containers and mount options ---- */

enum { NO_NAMESPACES = 77 };

/* Runs the comparison in a new mount namespace (and a new pid namespace, if `flags` say so), in
 * which proc is mounted with `options`. */
static void look_in_namespaces(int flags, const char *options)
{
    pid_t inner;
    int status = 1;
    if (unshare(CLONE_NEWNS | flags) || (inner = fork()) < 0)
        _exit(NO_NAMESPACES);
    if (inner == 0) {
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
            mount("proc", "/proc", "proc", 0, options))
            _exit(NO_NAMESPACES);
        _exit(false_values(NOBODY) ? 1 : 0);
    }
    waitpid(inner, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void in_namespaces(int flags, const char *options)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        look_in_namespaces(flags, options);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_NAMESPACES) {
        report_skipped("no namespaces of our own can be made");
        return;
    }
    assert_int_equal(status, 0);
}

static bool is_root(void)
{
    if (geteuid() != 0)
        report_skipped("only root can compare with another user");
    return geteuid() == 0;
}

static void f_b1_no_zero_that_is_only_the_users(void **state)
{
    (void)state;
    if (!is_root())
        return;
    assert_int_equal(false_values(NOBODY), 0);
}

static void f_b1_nor_where_proc_hides_processes(void **state)
{
    (void)state;
    if (!is_root())
        return;
    in_namespaces(0, "hidepid=1");
    in_namespaces(0, "hidepid=2");
}

static void f_b1_nor_in_a_container(void **state)
{
    (void)state;
    if (!is_root())
        return;
    in_namespaces(CLONE_NEWPID, "");
}

/* ---- counters that exist ---- */

static bool has(struct taken *all, DWORD index, DWORD counter)
{
    for (size_t i = 0; i < ANSWERS; i++) {
        opl_object_view object;
        opl_counter_view at = {0};
        if (!opl_block_find_object(&all[i].walk, index, &object))
            continue;
        while (opl_object_next_counter(&all[i].walk, &object, &at))
            if (at.definition.CounterNameTitleIndex == counter)
                return true;
    }
    return false;
}

/* May this process read the file io of every process? In some containers even root may not. */
static bool may_read_io_of_all(void)
{
    DIR *proc = opendir("/proc");
    char path[300], byte;
    bool all = proc != NULL;
    for (struct dirent *entry; proc && (entry = readdir(proc)) && all;) {
        snprintf(path, sizeof path, "/proc/%s/io", entry->d_name);
        int fd = *entry->d_name >= '1' && *entry->d_name <= '9' ? open(path, O_RDONLY) : -2;
        if (fd == -1 ? errno == EACCES : fd >= 0 && read(fd, &byte, 1) < 0 && errno == EACCES)
            all = false;
        if (fd >= 0)
            close(fd);
    }
    if (proc)
        closedir(proc);
    return all;
}

/* A user may not read the input and output of other users' processes, so Process has no counters of
 * them. Process IO has only those processes whose counts the user may read. */
static void f_b1_what_may_not_be_read_has_no_definition(void **state)
{
    static const DWORD io[] = {1412, 1414, 1416, 1420, 1422, 1424, 101802, 101804};
    (void)state;
    if (!is_root())
        return;
    bool all = may_read_io_of_all();
    struct taken *root = take_as(0), *mine = take_as(NOBODY);
    assert_true(root && mine);
    for (size_t i = 0; i < sizeof io / sizeof *io; i++) {
        assert_int_equal(has(root, 230, io[i]), all);
        assert_false(has(mine, 230, io[i]));
        assert_true(has(root, 101800, io[i]) && has(mine, 101800, io[i]));
    }
    assert_true(has(mine, 230, 6) && has(mine, 230, 784) && has(mine, 232, 804));
    assert_true(has(mine, 786, 780) && has(mine, 816, 708));
    restore(root);
    restore(mine);
}

/* All providers run in one program. They keep files open only as long as there are free
 * descriptors, so few descriptors must be enough. */
static void f_b7_few_descriptors_are_enough(void **state)
{
    (void)state;
    struct taken *usual = take_as(0);
    files = 20;
    struct taken *few = take_as(0);
    files = 0;
    assert_true(usual && few);
    for (size_t i = 0; i < ANSWERS; i++)
        assert_int_equal(few[i].block.header.NumObjectTypes, usual[i].block.header.NumObjectTypes);
    restore(usual);
    restore(few);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(f_b1_no_zero_that_is_only_the_users),
        cmocka_unit_test(f_b1_nor_where_proc_hides_processes),
        cmocka_unit_test(f_b1_nor_in_a_container),
        cmocka_unit_test(f_b1_what_may_not_be_read_has_no_definition),
        cmocka_unit_test(f_b7_few_descriptors_are_enough),
    };
    unsetenv("OPENPERFLIB_SYSROOT");
    for (size_t i = 0; i < SHIPPED_PROVIDERS; i++)
        library_load(&libraries[i], shipped_providers[i][0], shipped_providers[i][1],
                     shipped_providers[i][2], shipped_providers[i][3]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
