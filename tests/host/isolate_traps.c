/* SPDX-License-Identifier: MIT */
/*
 * Programs that handle children, descriptors or limits in unusual ways. Each runs in a child of the
 * test, with its own keeper (the process that starts helper processes). No program may notice that
 * the library has started processes. (docs/isolation.md)
 */
#include "../skip.h"
#include "host/isolation/isolate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 4096, MILLISECOND = CLOCK_TICKS_PER_SECOND / 1000 };

static struct isolate_reply reply;
static char answer[SIZE];

static void check(bool fact, const char *what, int line)
{
    if (fact)
        return;
    dprintf(2, "# line %d: %s; stage %d end %d status %d code %d: %s\n", line, what, reply.stage,
            reply.end, (int)reply.status, reply.code, reply.text);
    _exit(1);
}
#define CHECK(fact) check(fact, #fact, __LINE__)

/* Runs the tested program in a process of its own. */
static void in_child(void (*program)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        program();
        _exit(0);
    }
    int status = -1;
    while (waitpid(pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    assert_int_equal(status, 0);
}

static void wait_for(struct isolated_provider *isolated, int milliseconds)
{
    int64_t deadline = clock_ticks() + (int64_t)milliseconds * MILLISECOND;
    isolate_wait(isolated, deadline, deadline, &reply);
}

static void hand_over(struct isolated_provider *isolated, const char *collect)
{
    struct isolate_request request = {
        .service = "Naughty",
        .library = getenv("NAUGHTY"),
        .procedures = {"good_open", collect, "good_close"},
        .query = "Global",
        .capacity = SIZE,
        .guards = true,
    };
    CHECK(isolate_send(isolated, &request) == 0);
}

static void run_query(struct isolated_provider *isolated, const char *collect)
{
    hand_over(isolated, collect);
    wait_for(isolated, 20000);
}

/* Queries good_collect; *ret_pid: the helper process that answered. */
static void query_good(struct isolated_provider *isolated, int *ret_pid)
{
    unsigned opened;
    run_query(isolated, "good_collect");
    CHECK(reply.end == ISOLATE_ANSWERED && reply.status == 0 && reply.bytes < SIZE);
    isolate_copy(isolated, answer, reply.bytes);
    answer[reply.bytes] = '\0';
    CHECK(sscanf(answer, "Gl:4096:%u:%d", &opened, ret_pid) == 2);
}

static struct isolated_provider *new_isolated(void)
{
    struct isolated_provider *isolated = NULL;
    CHECK(isolate_new(&isolated) == 0);
    return isolated;
}

/* Queries helper processes that answer, crash, and are overdue, and ends and closes them. */
static void live_through_all(void)
{
    struct isolated_provider *isolated = new_isolated();
    int pid;
    query_good(isolated, &pid);
    run_query(isolated, "crash_collect");
    isolate_end(isolated);
    run_query(isolated, "crash_collect");
    CHECK(reply.end == ISOLATE_CRASHED);
    hand_over(isolated, "loop_collect");
    wait_for(isolated, 30);
    CHECK(reply.end == ISOLATE_OVERDUE);
    isolate_end(isolated);
    query_good(isolated, &pid);
    isolate_close(isolated, true, clock_ticks() + 20 * CLOCK_TICKS_PER_SECOND, &reply);
    CHECK(reply.end == ISOLATE_ANSWERED);
    isolate_free(isolated);
    usleep(50000); /* waits for a signal that must not come */
}

/* ---- children ---- */

static volatile sig_atomic_t child_signals;

static void on_child(int number)
{
    child_signals++;
}

static void watch_children(void)
{
    signal(SIGCHLD, on_child);
    live_through_all();
    CHECK(child_signals == 0);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    CHECK(waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD);
}

static void ignore_children(void)
{
    signal(SIGCHLD, SIG_IGN);
    live_through_all();
}

static void *wait_for_anybody(void *argument)
{
    while (!*(volatile bool *)argument)
        CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    return NULL;
}

/* Waits for children all the time in another thread, as shells and supervisors do. */
static void reap_all_the_time(void)
{
    bool stop = false;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wait_for_anybody, &stop) == 0);
    live_through_all();
    *(volatile bool *)&stop = true;
    pthread_join(thread, NULL);
}

static void children_are_never_noticed(void **state)
{
    in_child(watch_children);
    in_child(ignore_children);
    in_child(reap_all_the_time);
}

/* ---- descriptors ---- */

static int count_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void keep_no_descriptor(void)
{
    struct isolated_provider *isolated = new_isolated();
    int pid, before = count_descriptors();
    query_good(isolated, &pid);
    CHECK(count_descriptors() == before);
    for (int fd = 0; fd < 256; fd++)
        close(fd);
    int same = pid;
    query_good(isolated, &pid);
    CHECK(pid == same && count_descriptors() == 0);
    isolate_free(isolated);
    live_through_all(); /* the same again: the process has no open descriptor when it begins */
    CHECK(count_descriptors() == 0);
}

static void have_none_left(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 3;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    while (open("/", O_PATH) >= 0)
        ;
    live_through_all();
}

static void descriptors_are_never_noticed(void **state)
{
    in_child(keep_no_descriptor);
    in_child(have_none_left);
}

/* ---- limits ---- */

static void write_small_files(void)
{
    struct rlimit limit = {4096, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 4096;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    live_through_all();
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == 4096);
}

static void write_small_files_for_ever(void)
{
    /* the keeper's shared memory is a file too: at most 100 MiB leaves one slot, for one helper
     * process */
    struct rlimit limit = {100 << 20, 100 << 20};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    live_through_all();
}

static void have_little_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    CHECK(file && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    struct rlimit limit = {pages * 4096 + (8 << 20), RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
#endif
    live_through_all();
}

static void *live_on_little_stack(void *argument)
{
    live_through_all();
    return argument;
}

static void have_little_stack(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    CHECK(pthread_create(&thread, &attributes, live_on_little_stack, NULL) == 0);
    pthread_join(thread, NULL);
}

static void limits_do_not_matter(void **state)
{
    in_child(write_small_files);
    in_child(write_small_files_for_ever);
    in_child(have_little_memory);
    in_child(have_little_stack);
}

/* ---- forks ---- */

static struct isolated_provider *shared;

/* Has this process mapped the memory that helper processes write to? */
static bool is_mapped(void)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps))
        found |= strstr(line, "memfd:openperflib") != NULL;
    fclose(maps);
    return found;
}

static void go_on_in_a_child(void)
{
    int pid, parents, other;
    shared = new_isolated();
    query_good(shared, &parents);
    hand_over(shared, "good_collect"); /* the parent waits for an answer */
    pid_t child = fork();
    if (child == 0) {
        CHECK(!isolate_busy(shared) && !is_mapped());
        query_good(shared, &other);
        CHECK(is_mapped());
        CHECK(other != parents);
        isolate_free(shared);
        _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    wait_for(shared, 20000);
    CHECK(reply.end == ISOLATE_ANSWERED);
    query_good(shared, &pid);
    CHECK(pid == parents);
    isolate_free(shared);
}

/* One child of fork only ends, another one first frees the library's resources: the parent must
 * keep its helper process in both cases. */
static void lose_nothing_by_children(void)
{
    int pid, first;
    shared = new_isolated();
    query_good(shared, &first);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            if (i == 1)
                isolate_free(shared);
            exit(0);
        }
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        query_good(shared, &pid);
        CHECK(pid == first);
    }
    isolate_free(shared);
}

static void *wait_long(void *argument)
{
    wait_for(shared, 3000);
    return argument;
}

/* One thread waits for a hanging provider; fork() and exit() of other threads do not wait. */
static void fork_while_waiting(void)
{
    pthread_t thread;
    shared = new_isolated();
    hand_over(shared, "loop_collect");
    CHECK(pthread_create(&thread, NULL, wait_long, NULL) == 0);
    usleep(50000);
    int64_t best = INT64_MAX;
    for (int i = 0; i < 10; i++) {
        int64_t before = clock_ticks();
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        int64_t took = clock_ticks() - before;
        best = took < best ? took : best;
        CHECK(waitpid(child, NULL, 0) == child);
    }
    CHECK(best < 10 * MILLISECOND);
    exit(0);
}

static void forks_are_free(void **state)
{
    in_child(go_on_in_a_child);
    in_child(lose_nothing_by_children);
    int64_t before = clock_ticks();
    in_child(fork_while_waiting);
    assert_true(clock_ticks() - before < 2500 * (int64_t)MILLISECOND);
}

/* ---- refused system calls ---- */

static void refuse(int call, uint32_t action)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {COUNT(code), code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

static void check_refused(const char *step, LSTATUS status)
{
    struct isolated_provider *isolated = new_isolated();
    for (int i = 0; i < 2; i++) {
        run_query(isolated, "good_collect");
        CHECK(reply.end == ISOLATE_REFUSED && reply.stage == ISOLATE_START);
        CHECK(reply.status == status);
        CHECK(strstr(reply.text, step));
        CHECK(strstr(reply.text, "Isolation") || strstr(reply.text, "perfhost"));
        wait_for(isolated, 20000); /* each request tries to start a helper process, once */
        CHECK(reply.end == ISOLATE_REFUSED && reply.status == ERROR_INVALID_FUNCTION);
    }
    isolate_free(isolated);
    CHECK(waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD);
}

static void forbid_exec(void)
{
    refuse(SYS_execve, SECCOMP_RET_ERRNO | EPERM);
    check_refused("exec of ", ERROR_ACCESS_DENIED);
}

static void kill_helper_that_execs(void)
{
    refuse(SYS_execve, SECCOMP_RET_KILL_PROCESS);
    check_refused("perfhost ended before it was ready", ERROR_PROCESS_ABORTED);
}

static void forbid_memory(void)
{
    refuse(SYS_memfd_create, SECCOMP_RET_ERRNO | ENOSYS);
    check_refused("memfd_create", ERROR_CALL_NOT_IMPLEMENTED);
}

static void forbid_processes(void)
{
    refuse(SYS_clone, SECCOMP_RET_ERRNO | EAGAIN);
    check_refused("clone", ERROR_NOT_READY);
}

static void know_no_pidfd(void)
{
    refuse(SYS_pidfd_open, SECCOMP_RET_ERRNO | ENOSYS);
    live_through_all();
}

static void live_elsewhere(void)
{
    char folder[] = "/tmp/openperflib-chroot-XXXXXX";
    int isolated = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(mkdtemp(folder) != NULL);
    CHECK(chroot(folder) == 0);
    CHECK(unlinkat(isolated, folder + 1, AT_REMOVEDIR) == 0);
    close(isolated);
    check_refused("exec of ", ERROR_FILE_NOT_FOUND);
}

/* After unshare(CLONE_NEWPID), the first child of a process is process 1 of the new namespace. It
 * must not be one that the library starts. */
static void wait_for_process_1(void)
{
    if (unshare(CLONE_NEWPID) && (unshare(CLONE_NEWUSER) || unshare(CLONE_NEWPID))) {
        report_skipped("a PID namespace cannot be made here");
        return;
    }
    check_refused("namespace", ERROR_ACCESS_DENIED);
    pid_t first = fork(), second;
    if (first == 0)
        for (;;)
            pause();
    CHECK(first > 0);
    second = fork();
    if (second == 0)
        _exit(0);
    CHECK(second > 0);
    CHECK(waitpid(second, NULL, 0) == second);
    CHECK(kill(first, SIGKILL) == 0 && waitpid(first, NULL, 0) == first);
}

static void refusals_are_reported(void **state)
{
    in_child(wait_for_process_1);
    in_child(forbid_exec);
    in_child(kill_helper_that_execs);
    in_child(forbid_memory);
    in_child(forbid_processes);
    in_child(know_no_pidfd);
}

static void a_chroot_without_perfhost_is_reported(void **state)
{
    if (geteuid() != 0)
        report_skipped("only root may chroot");
    else
        in_child(live_elsewhere);
}

/* ---- how programs and helper processes end ---- */

static bool gone_within(pid_t pid, int seconds)
{
    for (int i = 0; i < seconds * 100 && kill(pid, 0) == 0; i++)
        usleep(10000);
    return kill(pid, 0) != 0;
}

static struct ids {
    pid_t helper, keeper;
} * ids; /* shared with the child */

static void note_ids(struct isolated_provider *isolated)
{
    query_good(isolated, &ids->helper);
    isolate_end(isolated);
    run_query(isolated, "look_collect");
    CHECK(reply.end == ISOLATE_ANSWERED);
    isolate_copy(isolated, answer, reply.bytes);
    answer[reply.bytes] = '\0';
    const char *last = strrchr(answer, ' ');
    CHECK(last && sscanf(last, "%d", &ids->keeper) == 1);
    isolate_end(isolated);
    query_good(isolated, &ids->helper);
}

/* A process that opens the shared memory cannot truncate it while the program uses it: it is
 * sealed. */
static void look_at_the_seals(void)
{
    struct isolated_provider *isolated = new_isolated();
    char path[64];
    note_ids(isolated);
    snprintf(path, sizeof path, "/proc/%d/fd/3", (int)ids->keeper);
    int fd = open(path, O_RDWR);
    if (fd < 0) {
        report_skipped("the keeper's descriptors cannot be seen here");
        return;
    }
    CHECK(fcntl(fd, F_GET_SEALS) >= 0);
    CHECK((fcntl(fd, F_GET_SEALS) & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) ==
          (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
    CHECK(ftruncate(fd, 0) < 0);
    isolate_free(isolated);
}

static void memory_is_sealed(void **state)
{
    in_child(look_at_the_seals);
}

/* The client is killed while one provider is in an endless loop and another has stopped its own
 * process. The caller checks that the helper processes end. */
static void die_suddenly(void)
{
    struct isolated_provider *isolated = new_isolated(), *other = new_isolated();
    note_ids(isolated);
    isolate_end(isolated);
    hand_over(isolated, "loop_collect");
    hand_over(other, "stop_collect");
    wait_for(isolated, 50);
    raise(SIGKILL);
}

static void helpers_end_with_their_client(void **state)
{
    pid_t pid = fork();
    if (pid == 0)
        die_suddenly();
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_true(ids->keeper > 0);
    assert_true(gone_within(ids->keeper, 3)); /* sooner than by its own check every 5 s */
    assert_true(gone_within(ids->helper, 3));
}

/* The keeper, then a helper process, is killed: this is reported at the next query, and the query
 * after it gets a new helper process. */
static void lose_the_keeper(void)
{
    struct isolated_provider *isolated = new_isolated(), *idle = new_isolated();
    int pid, idle_pid;
    note_ids(isolated);
    query_good(idle, &idle_pid);
    hand_over(isolated, "good_collect");
    wait_for(isolated, 20000);
    CHECK(reply.end == ISOLATE_ANSWERED);
    isolate_end(isolated);
    hand_over(isolated, "loop_collect");
    wait_for(isolated, 50);
    CHECK(reply.end == ISOLATE_OVERDUE);
    kill(ids->keeper, SIGKILL);
    int64_t before = clock_ticks();
    wait_for(isolated, 20000);
    CHECK(reply.end == ISOLATE_CRASHED && strstr(reply.text, "parent of the helper"));
    CHECK(clock_ticks() - before < 5 * (int64_t)CLOCK_TICKS_PER_SECOND);
    /* the idle helper process ends with its keeper; nothing else would end it */
    CHECK(gone_within(idle_pid, 5));
    run_query(idle, "good_collect");
    CHECK(reply.end == ISOLATE_CRASHED && strstr(reply.text, "parent of the helper"));
    isolate_free(idle);
    query_good(isolated, &pid);
    kill(pid, SIGKILL); /* killed while idle: reported once, at the next query */
    CHECK(gone_within(pid, 5));
    run_query(isolated, "good_collect");
    CHECK(reply.end == ISOLATE_CRASHED && reply.code == SIGKILL &&
          strstr(reply.text, "killed by another process"));
    query_good(isolated, &pid);
    isolate_free(isolated);
}

static void killed_helpers_are_reported_and_replaced(void **state)
{
    in_child(lose_the_keeper);
}

/* A keeper can start 64 helper processes; then a new keeper is needed. */
static void use_up_a_keeper(void)
{
    struct isolated_provider *isolated = new_isolated(), *others[3];
    int pid;
    for (int i = 0; i < 3; i++)
        others[i] = new_isolated();
    for (int i = 0; i < 150; i++) {
        query_good(i % 50 ? isolated : others[i / 50], &pid);
        isolate_end(isolated);
    }
    for (int i = 0; i < 3; i++) {
        query_good(others[i], &pid);
        isolate_free(others[i]);
    }
    isolate_free(isolated);
}

static void keepers_are_replaced(void **state)
{
    in_child(use_up_a_keeper);
}

static int share_ids(void **state)
{
    ids = mmap(NULL, sizeof(*ids), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return ids == MAP_FAILED;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_are_never_noticed),
        cmocka_unit_test(descriptors_are_never_noticed),
        cmocka_unit_test(limits_do_not_matter),
        cmocka_unit_test(forks_are_free),
        cmocka_unit_test(refusals_are_reported),
        cmocka_unit_test(a_chroot_without_perfhost_is_reported),
        cmocka_unit_test(memory_is_sealed),
        cmocka_unit_test(helpers_end_with_their_client),
        cmocka_unit_test(killed_helpers_are_reported_and_replaced),
        cmocka_unit_test(keepers_are_replaced),
    };
    return cmocka_run_group_tests(tests, share_ids, NULL);
}
