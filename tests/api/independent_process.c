/* SPDX-License-Identifier: MIT */
/*
 * The library in programs that make its work difficult, tested from the documents alone: threads,
 * forks, signals, closed descriptors, a full disk, missing rights, setuid, no /proc. When the
 * difficulty is over, every call must work again.
 */
#include "independent.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/time.h>

static char **arguments;

static unsigned rounds(unsigned usual)
{
    const char *wanted = getenv("INDEPENDENT_ROUNDS");
    return wanted ? (unsigned)atoi(wanted) : usual;
}

/* Writes, reads and deletes a registry value, queries names and counters, and checks that all this
 * works. */
static void all_is_well(void)
{
    DWORD value = 4711;
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
    CHECK_IS(set_dword(key, "well", value), 0);
    CHECK_IS(dword_of(key, "well"), value);
    CHECK_IS(RegDeleteValueA(key, "well"), 0);
    CHECK_IS(RegCloseKey(key), 0);
    CHECK_IS(run_query("Counter 007"), 0);
    CHECK(answer_name(230) && !strcmp(answer_name(230), "Prozess"));
    CHECK_IS(run_query("2 4 230 238"), 0);
    CHECK_IS(answer_objects(), 4);
}

INDEPENDENT(a_root_is_made_at_the_first_write)
{
    char deep[128];
    struct stat found;
    snprintf(deep, sizeof(deep), "%s/not/yet", test_root);
    setenv("OPENPERFLIB_ROOT", deep, 1);
    HKEY key = NULL;
    CHECK_IS(run_query("Global"), 0);
    CHECK_IS(run_query("Counter 019"), 0);
    CHECK_IS(RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, KEY_ALL_ACCESS, &key),
             ERROR_FILE_NOT_FOUND);
    CHECK_IS(RegOpenKeyExA(HKEY_LOCAL_MACHINE, "SOFTWARE", 0, KEY_READ, &key), 0);
    CHECK_IS(RegDeleteValueA(key, "none") != 0, 1);
    CHECK_IS(RegCloseKey(key), 0);
    CHECK_IS(access(deep, F_OK), -1);
    umask(0);
    all_is_well();
    CHECK_IS(stat(deep, &found), 0);
    CHECK_IS(found.st_mode & 022, 0);
}

INDEPENDENT(the_umask_never_makes_unreadable_state)
{
    static const mode_t masks[] = {0, 077, 02, 0777};
    for (size_t i = 0; i < COUNT(masks); i++) {
        umask(masks[i]);
        HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
        CHECK_IS(set_dword(key, "mask", masks[i]), 0);
        CHECK_IS(dword_of(key, "mask"), masks[i]);
        CHECK_IS(RegCloseKey(key), 0);
    }
}

static pthread_barrier_t start;
static int thread_failures;

static void thread_round(unsigned self, unsigned round, BYTE *storage, DWORD capacity_size,
                         HKEY key)
{
    static const char *const queries[] = {"2 230", "Counter 009", "238", "232", "Explain 019"};
    char name[32];
    DWORD size = capacity_size, type = 0;
    const char *query = queries[(self + round) % COUNT(queries)];
    if (self == 0 && round % 8 == 7)
        RegCloseKey(HKEY_PERFORMANCE_DATA); /* while other threads query */
    LSTATUS status = RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, &type, storage, &size);
    opl_block block;
    opl_object_view object = {0};
    bool good = status == 0;
    if (good && type == REG_BINARY) {
        DWORD count = 0;
        good = opl_block_init(&block, storage, size) == OPL_BLOCK_GOOD;
        while (opl_block_next_object(&block, &object))
            count++;
        good = good && block.fault == OPL_BLOCK_GOOD && count >= 1;
    }
    if (round % 16 == self) {
        snprintf(name, sizeof(name), "thread %u", self);
        good = good && set_dword(key, name, round) == 0 && dword_of(key, name) == round;
    }
    if (!good)
        __atomic_add_fetch(&thread_failures, 1, __ATOMIC_RELAXED);
}

static void *one_thread(void *data)
{
    unsigned self = (unsigned)(uintptr_t)data, count = rounds(20);
    DWORD capacity_size = 4 << 20;
    BYTE *storage = malloc(capacity_size);
    HKEY key = NULL;
    RegCreateKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, NULL, 0, KEY_ALL_ACCESS, NULL, &key, NULL);
    pthread_barrier_wait(&start);
    for (unsigned round = 0; round < count; round++)
        thread_round(self, round, storage, capacity_size, key);
    RegCloseKey(key);
    free(storage);
    return NULL;
}

INDEPENDENT(sixteen_threads_at_once)
{
    pthread_t threads[16];
    pthread_barrier_init(&start, NULL, COUNT(threads));
    for (uintptr_t i = 0; i < COUNT(threads); i++)
        CHECK_IS(pthread_create(&threads[i], NULL, one_thread, (void *)i), 0);
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    CHECK_IS(thread_failures, 0);
    all_is_well();
}

static _Atomic int stop;

static void *query_until_stopped(void *data)
{
    static BYTE storage[2][4 << 20];
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY "\\asker");
    while (!stop) {
        DWORD size = sizeof(storage[0]);
        RegQueryValueExA(HKEY_PERFORMANCE_DATA, "2 230", NULL, NULL, storage[data != NULL], &size);
        set_dword(key, "v", size);
    }
    RegCloseKey(key);
    return NULL;
}

/* The allocator of the address sanitizer, unlike libc's, has locks that are never released in a
 * child if another thread held them during fork. So with this sanitizer a few children may hang. */
#if defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
enum { TIMEOUT_SECONDS = 10, MAY_HANG = 3 };
#else
enum { TIMEOUT_SECONDS = 30, MAY_HANG = 0 };
#endif

INDEPENDENT(a_child_of_a_threaded_program_may_ask)
{
    pthread_t threads[2];
    int hung = 0;
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, query_until_stopped, (void *)i);
    for (unsigned i = 0; i < rounds(20); i++) {
        int status = -1;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            alarm(TIMEOUT_SECONDS); /* ends a child that waits for a lock for ever */
            all_is_well();
            fflush(NULL);
            _exit(failures != 0);
        }
        CHECK_IS(waitpid(child, &status, 0), child);
        if (status == SIGALRM && hung < MAY_HANG)
            hung++;
        else
            CHECK_IS(status, 0);
    }
    stop = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static unsigned open_count(int lists[1024])
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(folder) && count < 1024)
            lists[count++] = atoi(entry->d_name);
    if (folder)
        closedir(folder);
    return count;
}

/* The program's own file takes the number of each descriptor that the library keeps open (dup2).
 * The library must notice it: it neither uses nor closes the program's file. */
INDEPENDENT(descriptors_taken_over_by_the_program)
{
    char path[128];
    struct stat own, now;
    int list[1024];
    temp_write(test_root, "own", "mine");
    snprintf(path, sizeof(path), "%s/own", test_root);
    CHECK_IS(stat(path, &own), 0);
    for (int round = 0; round < 4; round++) {
        all_is_well();
        int file = open(path, O_RDONLY);
        unsigned count = open_count(list);
        for (unsigned i = 0; i < count; i++)
            if (list[i] > 2 && list[i] != file)
                CHECK_IS(dup2(file, list[i]), list[i]);
        if (round == 2)
            CHECK_IS(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
        all_is_well();
        for (unsigned i = 0; i < count; i++)
            if (list[i] > 2)
                CHECK(fstat(list[i], &now) == 0 && now.st_ino == own.st_ino);
        if (round == 3)
            CHECK_IS(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
        for (unsigned i = 0; i < count; i++)
            if (list[i] > 2)
                CHECK_IS(close(list[i]), 0);
    }
    all_is_well();
}

INDEPENDENT(descriptors_closed_between_all_calls)
{
    for (int i = 0; i < 5; i++) {
        HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
        syscall(SYS_close_range, 3u, ~0u, 0u);
        all_is_well();
        syscall(SYS_close_range, 3u, ~0u, 0u);
        CHECK_IS(set_dword(key, "x", 1), 0);
        CHECK_IS(RegCloseKey(key), 0);
        if (i % 2)
            CHECK_IS(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
    }
}

INDEPENDENT(no_descriptor_stays_behind)
{
    int list[1024];
    all_is_well();
    CHECK_IS(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
    unsigned before = open_count(list);
    for (int i = 0; i < 30; i++) {
        all_is_well();
        CHECK_IS(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
    }
    CHECK_IS(open_count(list), before);
}

/* No descriptor is free: the result is an error or fewer objects, never a crash; later everything
 * works as before. */
INDEPENDENT(no_descriptors_left)
{
    struct rlimit limit = {64, 256};
    int taken[64], count = 0;
    CHECK_IS(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int first = 0; first < 2; first++) {
        while (count < 64 && (taken[count] = open("/dev/null", O_RDONLY)) >= 0)
            count++;
        HKEY key = NULL;
        LSTATUS status = run_query("2 4 230 238");
        printf("# without descriptors: %d\n", (int)status);
        if (status == 0)
            answer_objects();
        else
            CHECK_IS(answer_size, sizeof(answer));
        while (count < 64 && (taken[count] = open("/dev/null", O_RDONLY)) >= 0)
            count++; /* fills those that providers have closed meanwhile */
        CHECK(RegCreateKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY "\\new", 0, NULL, 0, KEY_ALL_ACCESS,
                              NULL, &key, NULL) != 0);
        run_query("Counter 009");
        for (int free_ones = 1; free_ones < 6 && count > 0; free_ones++) {
            close(taken[--count]);
            if (run_query("2 4 230 238") == 0)
                answer_objects();
        }
        while (count > 0)
            close(taken[--count]);
        all_is_well();
    }
}

static void on_alarm(int number)
{
    (void)number;
}

INDEPENDENT(signals_interrupt_nothing)
{
    struct sigaction action = {.sa_handler = on_alarm}; /* without SA_RESTART */
    struct itimerval often =
                         {
                             {0, 300},
                             {0, 300}
    },
                     never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 20; i++)
        all_is_well();
    setitimer(ITIMER_REAL, &never, NULL);
}

static void *on_a_small_stack(void *data)
{
    (void)data;
    all_is_well();
    return NULL;
}

INDEPENDENT(a_small_stack_is_enough)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    CHECK_IS(pthread_attr_setstacksize(&attributes, 128 << 10), 0);
    CHECK_IS(pthread_create(&thread, &attributes, on_a_small_stack, NULL), 0);
    pthread_join(thread, NULL);
}

INDEPENDENT(an_empty_system_root)
{
    static const char *const queries[] = {"2",   "4",   "86",     "230", "232",    "238",
                                          "260", "700", "Global", "",    "Costly", "2 230 238"};
    char empty[128];
    snprintf(empty, sizeof(empty), "%s/empty", test_root);
    CHECK_IS(mkdir(empty, 0755), 0);
    setenv("OPENPERFLIB_SYSROOT", empty, 1);
    for (size_t i = 0; i < COUNT(queries); i++) {
        CHECK_IS(run_query(queries[i]), 0);
        DWORD count = answer_objects();
        if (count)
            printf("# \"%s\" brought %u objects of nothing\n", queries[i], count), failures++;
    }
    CHECK_IS(run_query("Counter 009"), 0);
    CHECK(answer_name(230) != NULL);
    CHECK_IS(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
}

INDEPENDENT(without_rights_writing_is_error_5)
{
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY), other = NULL;
    CHECK_IS(set_dword(key, "v", 1), 0);
    CHECK_IS(chmod(test_root, 0755), 0);
    if (geteuid() != 0)
        skipped("only root can become another user");
    CHECK_IS(setgid(65534), 0);
    CHECK_IS(setuid(65534), 0);
    CHECK_IS(dword_of(key, "v"), 1);
    CHECK_IS(set_dword(key, "v", 2), ERROR_ACCESS_DENIED);
    CHECK_IS(RegDeleteValueA(key, "v"), ERROR_ACCESS_DENIED);
    CHECK_IS(RegDeleteTreeA(HKEY_LOCAL_MACHINE, TEST_KEY), ERROR_ACCESS_DENIED);
    CHECK_IS(RegCreateKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY "\\new", 0, NULL, 0, KEY_ALL_ACCESS, NULL,
                             &other, NULL),
             ERROR_ACCESS_DENIED);
    CHECK_IS(dword_of(key, "v"), 1);
    CHECK_IS(RegCloseKey(key), 0);
    if (access(getenv("OPENPERFLIB_VENDOR"), X_OK))
        skipped("the user nobody cannot reach the build folder");
    CHECK_IS(run_query("2 230"), 0);
    CHECK(answer_has(230));
}

/* Mounts a new tmpfs over test_root (not over "/"); only this process sees it. */
static void mount_over_root(const char *options, unsigned long flags)
{
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", test_root, "tmpfs", flags, options))
        skipped("mounts are not allowed here");
}

INDEPENDENT(a_full_disk_loses_nothing)
{
    static BYTE big[8192];
    char name[16];
    LSTATUS status = 0;
    DWORD written = 0, size;
    mount_over_root("size=128k,mode=0755", 0);
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
    for (; written < 100 && status == 0; written += status == 0) {
        snprintf(name, sizeof(name), "%u", written);
        memset(big, (int)written, sizeof(big));
        status = RegSetValueExA(key, name, 0, REG_BINARY, big, sizeof(big));
    }
    CHECK_IS(status, ERROR_DISK_FULL);
    CHECK(written > 0);
    for (DWORD i = 0; i < written; i++) {
        snprintf(name, sizeof(name), "%u", i);
        size = sizeof(big);
        CHECK_IS(RegQueryValueExA(key, name, NULL, NULL, big, &size), 0);
        CHECK_IS(size, sizeof(big));
        CHECK_IS(big[77], i);
    }
    size = sizeof(big);
    snprintf(name, sizeof(name), "%u", written);
    CHECK_IS(RegQueryValueExA(key, name, NULL, NULL, big, &size), ERROR_FILE_NOT_FOUND);
    CHECK_IS(RegDeleteTreeA(HKEY_LOCAL_MACHINE, TEST_KEY), 0); /* deleting needs no space */
    RegCloseKey(key);
    all_is_well();
}

INDEPENDENT(a_read_only_disk_is_reported)
{
    HKEY key = NULL;
    mount_over_root("mode=0755", 0);
    CHECK_IS(mount(NULL, test_root, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    LSTATUS status =
        RegCreateKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, NULL, 0, KEY_ALL_ACCESS, NULL, &key, NULL);
    printf("# %d\n", (int)status);
    CHECK(status == ERROR_WRITE_PROTECT || status == ERROR_ACCESS_DENIED);
    CHECK_IS(run_query("2 230"), 0);
    CHECK(answer_has(2) && answer_has(230));
}

/* Runs in the setuid copy of this program. Returns SKIPPED if setuid had no effect, 0 if the
 * library ignored OPENPERFLIB_ROOT, as it must in a setuid program, and 3 if it did not. */
static int look_as_setuid(void)
{
    HKEY key = NULL;
    if (geteuid() == getuid())
        return SKIPPED;
    return RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, KEY_READ, &key) == 0 ? 3 : 0;
}

static int run_copy(const char *copy, const char *errors)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (setgid(65534) || setuid(65534) || !freopen(errors, "w", stderr))
            _exit(SKIPPED);
        setenv("OPENPERFLIB_TRACE", "1", 1);
        execl(copy, copy, "setuid", NULL);
        _exit(SKIPPED);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

INDEPENDENT(setuid_programs_ignore_the_environment)
{
    char copy[128], command[256], errors[128];
    struct stat reported = {0};
    if (geteuid() != 0)
        skipped("only root can make a setuid program");
    CHECK_IS(RegCloseKey(created(HKEY_LOCAL_MACHINE, TEST_KEY)), 0);
    CHECK_IS(chmod(test_root, 0755), 0);
    snprintf(copy, sizeof(copy), "%s/copy", test_root);
    snprintf(errors, sizeof(errors), "%s/errors", test_root);
    temp_write(test_root, "errors", "");
    CHECK_IS(chmod(errors, 0666), 0);
    snprintf(command, sizeof(command), "cp /proc/%d/exe %s", getpid(), copy);
    CHECK_IS(system(command), 0);
    CHECK_IS(chmod(copy, 0755), 0);
    int plain = run_copy(copy, errors);
    if (plain == 127)
        skipped("the user nobody cannot reach the build folder");
    CHECK_IS(plain, SKIPPED); /* the copy runs, and is not setuid yet */
    CHECK_IS(chmod(copy, 04755), 0);
    int code = run_copy(copy, errors);
    if (code == SKIPPED)
        skipped("setuid has no effect here");
    CHECK_IS(code, 0);
    CHECK_IS(stat(errors, &reported), 0);
    CHECK_IS(reported.st_size, 0); /* OPENPERFLIB_TRACE was ignored */
}

int main(int count, char **values)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_root_is_made_at_the_first_write),
        cmocka_unit_test(the_umask_never_makes_unreadable_state),
        cmocka_unit_test(sixteen_threads_at_once),
        cmocka_unit_test(a_child_of_a_threaded_program_may_ask),
        cmocka_unit_test(descriptors_taken_over_by_the_program),
        cmocka_unit_test(descriptors_closed_between_all_calls),
        cmocka_unit_test(no_descriptor_stays_behind),
        cmocka_unit_test(no_descriptors_left),
        cmocka_unit_test(signals_interrupt_nothing),
        cmocka_unit_test(a_small_stack_is_enough),
        cmocka_unit_test(an_empty_system_root),
        cmocka_unit_test(without_rights_writing_is_error_5),
        cmocka_unit_test(a_full_disk_loses_nothing),
        cmocka_unit_test(a_read_only_disk_is_reported),
        cmocka_unit_test(setuid_programs_ignore_the_environment),
    };
    arguments = values;
    if (count > 1 && !strcmp(arguments[1], "setuid"))
        return look_as_setuid();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
