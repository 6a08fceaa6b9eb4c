/* SPDX-License-Identifier: MIT */
/* Isolation (a provider runs in a helper process), tested through the internal API: answers,
 * overdue replies, and crashes. */
#include "../skip.h"
#include "../temp.h"
#include "host/isolation/isolate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 4096, MILLISECOND = CLOCK_TICKS_PER_SECOND / 1000 };

static char root[64];
static struct isolated_provider *isolated;
static struct isolate_reply reply;
static char answer[SIZE];

static struct isolate_request request_of(const char *open, const char *collect, const char *close)
{
    return (struct isolate_request){
        .service = "Naughty",
        .library = getenv("NAUGHTY"),
        .procedures = {open, collect, close},
        .query = "Global",
        .capacity = SIZE,
        .guards = true,
    };
}

static void wait_for(int milliseconds)
{
    int64_t deadline = clock_ticks() + (int64_t)milliseconds * MILLISECOND;
    isolate_wait(isolated, deadline, deadline, &reply);
}

static void query_open(const char *open, const char *collect)
{
    struct isolate_request request = request_of(open, collect, "good_close");
    assert_int_equal(isolate_send(isolated, &request), 0);
    wait_for(10000);
}

static void run_query(const char *collect)
{
    query_open("good_open", collect);
}

static int begin(void **state)
{
    return (int)isolate_new(&isolated);
}

static int end(void **state)
{
    isolate_free(isolated);
    return 0;
}

static void take_text(void)
{
    assert_int_equal(reply.end, ISOLATE_ANSWERED);
    assert_int_equal(reply.stage, ISOLATE_COLLECT);
    assert_int_equal(reply.status, 0);
    assert_true(reply.guards_intact);
    assert_true(reply.bytes < SIZE);
    assert_int_equal(reply.end_offset, reply.bytes);
    assert_int_equal(reply.objects, 1);
    isolate_copy(isolated, answer, reply.bytes);
    answer[reply.bytes] = '\0';
}

static void answers_in_another_process(void **state)
{
    for (int i = 0; i < 3; i++) {
        unsigned opened;
        int pid;
        run_query("good_collect");
        take_text();
        assert_int_equal(sscanf(answer, "Gl:4096:%u:%d", &opened, &pid), 2);
        assert_int_equal(opened, 1);
        assert_int_not_equal(pid, getpid());
    }
}

static void closes_and_says_what_close_said(void **state)
{
    run_query("good_collect");
    isolate_close(isolated, true, clock_ticks() + CLOCK_TICKS_PER_SECOND, &reply);
    assert_int_equal(reply.end, ISOLATE_ANSWERED);
    assert_int_equal(reply.stage, ISOLATE_CLOSE);
    assert_int_equal(reply.status, 7);
}

static const struct death {
    const char *collect;
    enum isolate_end end;
    int code;
    uint64_t address;
} deaths[] = {
    {"crash_collect",       ISOLATE_CRASHED, SIGSEGV, 0x1234},
    {"abort_collect",       ISOLATE_CRASHED, SIGABRT, 0     },
    {"overflow_collect",    ISOLATE_CRASHED, SIGSEGV, 1     },
    {"kill_collect",        ISOLATE_CRASHED, SIGKILL, 0     },
    {"kill_bus_collect",    ISOLATE_CRASHED, SIGBUS,  0     },
    {"exit_collect",        ISOLATE_EXITED,  3,       0     },
    {"_exit_collect",       ISOLATE_EXITED,  4,       0     },
    {"thread_exit_collect", ISOLATE_EXITED,  0,       0     },
};

static void says_at_once_what_it_died_of(void **state)
{
    for (size_t i = 0; i < COUNT(deaths); i++) {
        const struct death *death = &deaths[i];
        int64_t before = clock_ticks();
        print_message("# %s\n", death->collect);
        run_query(death->collect);
        print_message("# %d %d %s\n", reply.end, reply.code, reply.text);
        assert_int_equal(reply.end, death->end);
        assert_int_equal(reply.stage, ISOLATE_COLLECT);
        assert_int_equal(reply.code, death->code);
        if (death->address > 1)
            assert_int_equal(reply.address, death->address);
        else
            assert_int_equal(reply.address != 0, death->address);
        assert_true(clock_ticks() - before < 3 * (int64_t)CLOCK_TICKS_PER_SECOND);
        run_query("good_collect");
        take_text();
        isolate_end(isolated);
    }
}

static void late_is_late_and_may_come_later(void **state)
{
    run_query("good_collect");
    isolate_end(isolated);
    struct isolate_request request = request_of("good_open", "nap_collect", "good_close");
    assert_int_equal(isolate_send(isolated, &request), 0);
    wait_for(50);
    assert_int_equal(reply.end, ISOLATE_OVERDUE);
    assert_true(isolate_busy(isolated));
    assert_int_equal(isolate_send(isolated, &request), ERROR_BUSY);
    wait_for(5000);
    take_text();
    assert_string_equal(answer, "late");
    assert_true(reply.took_100ns >= 300 * (int64_t)MILLISECOND);
    assert_false(isolate_busy(isolated));
}

static void ends_a_helper_that_never_answers(void **state)
{
    static const char *const names[] = {"loop_collect", "stop_collect"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct isolate_request request = request_of("good_open", names[i], "good_close");
        assert_int_equal(isolate_send(isolated, &request), 0);
        wait_for(100);
        assert_int_equal(reply.end, ISOLATE_OVERDUE);
        isolate_end(isolated);
        assert_false(isolate_busy(isolated));
        run_query("good_collect");
        take_text();
        isolate_end(isolated);
    }
}

/* Runs `test` in a child process, which gets a keeper (the parent of its helper processes) of its
 * own. `vice` names a fault of the provider naughty.c that happens outside Open, Collect and Close,
 * for example in DllMain; "": none. */
static void in_child(const char *vice, void (*test)(void))
{
    temp_write(root, "vice", vice);
    pid_t pid = fork();
    if (pid == 0) {
        test();
        isolate_free(isolated);
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    temp_write(root, "vice", "");
    assert_int_equal(status, 0);
}

static void check(bool fact, const char *what, int line)
{
    if (fact)
        return;
    printf("# line %d: %s; stage %d end %d status %d code %d: %s\n", line, what, reply.stage,
           reply.end, (int)reply.status, reply.code, reply.text);
    fflush(stdout);
    _exit(1);
}
#define CHECK(fact) check(fact, #fact, __LINE__)

static void check_crash_at_load(void)
{
    struct isolate_request request = request_of("good_open", "good_collect", "good_close");
    CHECK(isolate_send(isolated, &request) == 0);
    wait_for(10000);
    CHECK(reply.end == ISOLATE_CRASHED && reply.stage == ISOLATE_LOAD && reply.code == SIGSEGV);
    CHECK(reply.address == 0x1234);
}

static void check_refusal_at_load(void)
{
    struct isolate_request request = request_of("good_open", "good_collect", "good_close");
    CHECK(isolate_send(isolated, &request) == 0);
    wait_for(10000);
    CHECK(reply.end == ISOLATE_ANSWERED && reply.stage == ISOLATE_LOAD);
    CHECK(reply.status == ERROR_DLL_INIT_FAILED);
}

static void check_crash_at_close(void)
{
    struct isolate_request request = request_of("good_open", "good_collect", "good_close");
    CHECK(isolate_send(isolated, &request) == 0);
    wait_for(10000);
    CHECK(reply.end == ISOLATE_ANSWERED);
    isolate_close(isolated, true, clock_ticks() + 10 * CLOCK_TICKS_PER_SECOND, &reply);
    CHECK(reply.end == ISOLATE_CRASHED && reply.stage == ISOLATE_CLOSE);
}

static void survives_loading_and_unloading(void **state)
{
    in_child("constructor", check_crash_at_load);
    in_child("attach", check_crash_at_load);
    in_child("refuse", check_refusal_at_load);
    in_child("detach", check_crash_at_close);
}

static void says_what_cannot_be_loaded(void **state)
{
    struct isolate_request request = request_of("good_open", "good_collect", "good_close");
    request.library = "/nowhere/at-all.so";
    assert_int_equal(isolate_send(isolated, &request), 0);
    wait_for(10000);
    assert_int_equal(reply.end, ISOLATE_ANSWERED);
    assert_int_equal(reply.stage, ISOLATE_LOAD);
    assert_int_equal(reply.status, ERROR_MOD_NOT_FOUND);
    assert_non_null(strstr(reply.text, "at-all.so"));
    run_query("not_there_collect");
    assert_int_equal(reply.stage, ISOLATE_FIND);
    assert_int_equal(reply.status, ERROR_PROC_NOT_FOUND);
    assert_string_equal(reply.text, "not_there_collect");
    run_query("good_collect");
    take_text();
}

static void open_gets_the_export_names(void **state)
{
    static const uint16_t names[] = {'x', 0, 0};
    struct isolate_request request = request_of("good_open", "good_collect", "good_close");
    request.export_names = names;
    request.export_units = COUNT(names);
    assert_int_equal(isolate_send(isolated, &request), 0);
    wait_for(10000);
    assert_int_equal(reply.end, ISOLATE_ANSWERED);
    assert_int_equal(reply.stage, ISOLATE_OPEN);
    assert_int_equal(reply.status, 5);
    run_query("good_collect");
    take_text();
}

static void open_may_take_longer_than_collect(void **state)
{
    struct isolate_request request = request_of("nap_open", "good_collect", "good_close");
    int64_t now = clock_ticks();
    assert_int_equal(isolate_send(isolated, &request), 0);
    isolate_wait(isolated, now + 100 * CLOCK_TICKS_PER_SECOND, now, &reply);
    /* opened, but Collect did not return in time ... */
    assert_int_equal(reply.stage, ISOLATE_COLLECT);
    if (reply.end == ISOLATE_OVERDUE)
        wait_for(10000); /* ... unless it was faster than expected */
    take_text();
    isolate_end(isolated);
    now = clock_ticks();
    assert_int_equal(isolate_send(isolated, &request), 0);
    isolate_wait(isolated, now + 50 * MILLISECOND, now + 10 * CLOCK_TICKS_PER_SECOND, &reply);
    assert_int_equal(reply.end, ISOLATE_OVERDUE);
    assert_true(reply.stage <= ISOLATE_OPEN);
}

static void gives_up_on_close_at_its_deadline(void **state)
{
    struct isolate_request request = request_of("good_open", "good_collect", "hang_close");
    assert_int_equal(isolate_send(isolated, &request), 0);
    wait_for(10000);
    take_text();
    int64_t now = clock_ticks();
    isolate_close(isolated, true, now + 100 * MILLISECOND, &reply);
    assert_int_equal(reply.end, ISOLATE_OVERDUE);
    assert_int_equal(reply.stage, ISOLATE_CLOSE);
    assert_true(clock_ticks() - now < 3 * (int64_t)CLOCK_TICKS_PER_SECOND);
    run_query("good_collect");
    take_text();
}

static void cannot_reach_others(void **state)
{
    int keeper, client, memory, mounts, traced, own;
    run_query("reach_collect");
    take_text();
    assert_int_equal(
        sscanf(answer, "%d %d %d %d %d %d", &keeper, &client, &memory, &mounts, &traced, &own), 6);
    assert_int_equal(keeper, EPERM);
    assert_int_equal(client, EPERM);
    assert_int_equal(memory, EPERM);
    assert_int_equal(mounts, EPERM);
    assert_int_equal(traced, EPERM);
    assert_int_equal(own, 0);
    isolate_end(isolated);
    run_query("reach32_collect");
    if (reply.end == ISOLATE_CRASHED && reply.code == SIGSEGV)
        return; /* this kernel has no system calls of 32-bit programs */
    take_text();
    assert_string_equal(answer, "1 1");
}

static void has_a_clean_buffer(void **state)
{
    int descriptors, blocked, ignored, client, leads, keeper;
    char one[64], clear[16];
    run_query("look_collect");
    take_text();
    assert_int_equal(sscanf(answer, "%d %d %d %63s %15s %d %d %d", &descriptors, &blocked, &ignored,
                            one, clear, &client, &leads, &keeper),
                     8);
    assert_int_equal(descriptors, 3);
    assert_int_equal(blocked, 0);
    assert_int_equal(ignored, 0);
    assert_string_equal(one, "/dev/null");
    assert_string_equal(clear, "clear");
    assert_int_equal(client, getpid());
    assert_int_equal(leads, 1);
    assert_int_not_equal(keeper, getpid());
}

/* A provider that closes descriptors, truncates files or changes signal handlers harms only its own
 * helper process: either the answer still comes, or the end of the process is reported. */
static void keeps_the_mess_at_home(void **state)
{
    static const char *const answering[][2] = {
        {"close_all_collect", "closed"},
        {"truncate_collect",  "cut 0" },
        {"talk_collect",      "talked"},
    };
    for (size_t i = 0; i < COUNT(answering); i++) {
        run_query(answering[i][0]);
        take_text();
        assert_string_equal(answer, answering[i][1]);
        run_query(answering[i][0]); /* the helper process still runs */
        assert_int_equal(reply.end, ISOLATE_ANSWERED);
        isolate_end(isolated);
    }
    run_query("handler_collect");
    assert_int_equal(reply.end, ISOLATE_EXITED);
    assert_int_equal(reply.code, 9);
    run_query("kill0_collect");
    assert_int_equal(reply.end, ISOLATE_CRASHED);
    assert_int_equal(reply.code, SIGTERM);
}

static void sees_what_was_written_outside(void **state)
{
    static const char *const queries[] = {"Global", "0", "1"};
    run_query("below_collect");
    assert_int_equal(reply.end, ISOLATE_ANSWERED);
    assert_false(reply.guards_intact);
    isolate_end(isolated);
    run_query("above_collect");
    assert_int_equal(reply.end, ISOLATE_ANSWERED);
    assert_false(reply.guards_intact);
    isolate_end(isolated);
    for (size_t i = 0; i < COUNT(queries); i++) {
        struct isolate_request request = request_of("good_open", "overwrite_collect", "good_close");
        request.query = queries[i];
        assert_int_equal(isolate_send(isolated, &request), 0);
        wait_for(1000);
        /* the client finds the answer invalid, or the helper hangs because of what it overwrote */
        assert_true(reply.end == ISOLATE_CRASHED || reply.end == ISOLATE_OVERDUE);
        /* the failure is not reported as one of loading */
        assert_int_equal(reply.stage, ISOLATE_COLLECT);
        isolate_end(isolated);
    }
    struct isolate_request lie = request_of("good_open", "lie_collect", "good_close");
    assert_int_equal(isolate_send(isolated, &lie), 0);
    /* the provider has written a wrong state without waking the client, which finds it only when it
     * looks again */
    for (int i = 0; i < 200 && isolate_busy(isolated); i++)
        wait_for(50);
    assert_int_equal(reply.end, ISOLATE_CRASHED);
    assert_non_null(strstr(reply.text, "far outside its buffer"));
    for (int i = 0; i < 20; i++) {
        struct isolate_request request = request_of("good_open", "overwrite_later_collect", NULL);
        if (!isolate_busy(isolated))
            assert_int_equal(isolate_send(isolated, &request), 0);
        wait_for(20);
    }
    isolate_end(isolated);
    run_query("good_collect");
    take_text();
}

static void what_open_overwrites_is_not_blamed_on_collect(void **state)
{
    static const char *const opens[] = {"overwrite_0_open", "overwrite_255_open"};
    for (size_t i = 0; i < COUNT(opens); i++) {
        struct isolate_request request = request_of(opens[i], "good_collect", "good_close");
        assert_int_equal(isolate_send(isolated, &request), 0);
        for (int wait = 0; wait < 100 && isolate_busy(isolated); wait++)
            wait_for(50);
        assert_int_equal(reply.end, ISOLATE_CRASHED);
        assert_non_null(strstr(reply.text, "far outside its buffer"));
        assert_int_equal(reply.stage, ISOLATE_OPEN);
    }
    run_query("good_collect");
    take_text();
}

static bool gone_within_2_s(pid_t pid)
{
    for (int i = 0; i < 200 && kill(pid, 0) == 0; i++)
        usleep(10000);
    return kill(pid, 0) != 0;
}

static void leaves_no_thread_and_no_child(void **state)
{
    struct isolate_request request = request_of("good_open", "fork_collect", "good_close");
    run_query("thread_collect");
    take_text();
    pid_t pid = atoi(answer);
    isolate_close(isolated, true, clock_ticks() + 10 * CLOCK_TICKS_PER_SECOND, &reply);
    /* the thread may crash, because its code is unloaded while it runs; that is the provider's
     * fault */
    assert_int_not_equal(reply.end, ISOLATE_OVERDUE);
    assert_true(gone_within_2_s(pid));
    isolate_end(isolated);
    request.children = true;
    assert_int_equal(isolate_send(isolated, &request), 0);
    wait_for(10000);
    take_text();
    pid = atoi(answer);
    char before[16], after[16];
    isolate_copy(isolated, before, sizeof before);
    usleep(300000);
    isolate_copy(isolated, after, sizeof after);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(isolate_send(isolated, &request), 0);
    wait_for(10000);
    take_text();
    pid = atoi(answer);
    isolate_end(isolated);
    assert_true(gone_within_2_s(pid));
}

/* ---- what a helper process may not do ---- */

static void f_c5_helper_reaches_no_other_channel(void **state)
{
    run_query("files_collect");
    take_text();
    assert_string_equal(answer, "0 0");
}

static void f_c5_helper_moves_its_channel_nowhere(void **state)
{
    run_query("remap_collect");
    take_text();
    assert_string_equal(answer, "0 0 0");
}

static void f_c5_helper_moves_its_channel_with_no_neighbour(void **state)
{
    char refused[16];
    snprintf(refused, sizeof refused, "%d 0", EPERM);
    run_query("remap_from_below_collect");
    take_text();
    assert_string_equal(answer, refused);
}

/* A helper process's capability sets: inherited, permitted, effective, bounding, ambient. */
static void f_c5_helper_keeps_few_capabilities(void **state)
{
    enum { KEPT = 1 << 2 | 1 << 6 | 1 << 7 };
    const unsigned long long kept = KEPT | 1ULL << 38;
    unsigned long long sets[5];
    run_query("rights_collect");
    take_text();
    assert_int_equal(sscanf(answer, "%llx %llx %llx %llx %llx", &sets[0], &sets[1], &sets[2],
                            &sets[3], &sets[4]),
                     5);
    assert_true(sets[0] == 0 && sets[4] == 0);
    assert_true((sets[1] & ~kept) == 0 && (sets[2] & ~kept) == 0);
    assert_true(geteuid() != 0 || (sets[3] & ~kept) == 0);
}

static pid_t parent_of(pid_t pid)
{
    char path[64], line[256];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "PPid: %d", &parent) != 1)
        ;
    if (file)
        fclose(file);
    return parent;
}

static pid_t pid_of_helper(void)
{
    unsigned opened;
    int pid = 0;
    run_query("good_collect");
    take_text();
    assert_int_equal(sscanf(answer, "Gl:4096:%u:%d", &opened, &pid), 2);
    return pid;
}

/* The test removes all pages of the memory that keeper and client share, as a helper process with
 * root's rights once could. */
static void f_c5_a_broken_keeper_is_replaced(void **state)
{
    char path[64];
    pid_t helper = pid_of_helper(), keeper = parent_of(helper);
    snprintf(path, sizeof path, "/proc/%d/fd/3", (int)keeper);
    int fd = open(path, O_RDWR);
    if (fd < 0) {
        report_skipped("only root reaches the keeper's memory");
        return;
    }
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, st.st_size), 0);
    close(fd);
    struct isolate_request request = request_of("good_open", "good_collect", "good_close");
    isolate_send(isolated, &request);
    wait_for(3000); /* the result does not matter */
    isolate_end(isolated);
    assert_int_not_equal(parent_of(pid_of_helper()), keeper);
    assert_true(gone_within_2_s(helper));
}

static void f_c6_helper_changes_nobodys_rank(void **state)
{
    run_query("rank_collect");
    take_text();
    assert_string_equal(answer, "12 of 12, 6 of 6");
}

/* Each attack must be refused. The attacks are chosen so that they would do no harm if they were
 * allowed; then they succeed, or fail with another error than that of a refusal. */
static void f_c6_attacks_on_other_processes_are_refused(void **state)
{
    run_query("attack_client_collect");
    take_text();
    assert_string_equal(answer, "13 refused");
}

static void f_c6_attacks_on_the_machine_are_refused(void **state)
{
    run_query("attack_machine_collect");
    take_text();
    assert_string_equal(answer, "31 refused");
}

static void f_c8_helper_starts_threads_but_no_processes(void **state)
{
    run_query("start_collect");
    take_text();
    /* 1: the thread was started; 1: fork failed with EPERM; 32512 is 127 << 8: system() could not
     * start a shell */
    assert_string_equal(answer, "1 1 32512");
}

static pid_t start_daemon(const char *query)
{
    struct isolate_request request = request_of("good_open", "daemon_collect", "good_close");
    request.children = true;
    request.query = query;
    assert_int_equal(isolate_send(isolated, &request), 0);
    wait_for(10000);
    take_text();
    pid_t pid = atoi(answer);
    assert_true(pid > 0);
    return pid;
}

static bool gone_within_20_s(pid_t pid)
{
    for (int i = 0; i < 10 && !gone_within_2_s(pid); i++)
        ;
    return kill(pid, 0) != 0;
}

static void f_c8_what_a_helper_started_ends_with_it(void **state)
{
    pid_t pid = start_daemon("Wait");
    assert_int_equal(kill(pid, 0), 0);
    isolate_end(isolated);
    assert_true(gone_within_20_s(pid));
    /* the daemon's parent has ended, but the helper process has not: the daemon is ended
     * nevertheless */
    assert_true(gone_within_20_s(start_daemon("Orphan")));
    run_query("good_collect");
    take_text();
}

static void f_c8_a_leak_ends_its_helper(void **state)
{
    static const char *const leaks[] = {"leak_collect", "leak_on_collect"};
    for (size_t i = 0; i < COUNT(leaks); i++) {
        struct isolate_request request = request_of("good_open", leaks[i], "good_close");
        request.memory_mib = 64;
        reply.end = ISOLATE_ANSWERED;
        for (int tries = 0; tries < 10 && reply.end == ISOLATE_ANSWERED; tries++) {
            assert_int_equal(isolate_send(isolated, &request), 0);
            wait_for(60000);
        }
        assert_int_equal(reply.end, ISOLATE_LARGE);
        assert_true(reply.resident_mib > 64);
    }
    struct isolate_request request = request_of("good_open", "leak_collect", "good_close");
    assert_int_equal(isolate_send(isolated, &request), 0);
    wait_for(60000);
    take_text(); /* the provider takes 200 MiB, and its limit is 256 MiB: it answers */
}

static void f_e4_ps_shows_the_service(void **state)
{
    char path[64], line[128] = "";
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid_of_helper());
    FILE *file = fopen(path, "r");
    assert_true(file && fgets(line, sizeof line, file));
    fclose(file);
    assert_string_equal(line, "perfhost: Naughty");
}

static void check_bomb(void)
{
    struct rlimit limit = {200 << 20, 200 << 20};
    setrlimit(RLIMIT_DATA, &limit);
    struct isolate_request request = request_of("good_open", "bomb_collect", "good_close");
    CHECK(isolate_send(isolated, &request) == 0);
    wait_for(10000);
    CHECK(reply.end != ISOLATE_OVERDUE && reply.end != ISOLATE_REFUSED);
}

static void memory_ends_before_the_machine_does(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    (void)check_bomb;
    report_skipped("the sanitizer's own memory is larger than any limit");
#else
    in_child("", check_bomb);
#endif
}

static void grows_its_capacity(void **state)
{
    for (size_t capacity = 4096; capacity <= ISOLATE_LARGEST; capacity *= 4) {
        struct isolate_request request = request_of("good_open", "good_collect", "good_close");
        request.capacity = capacity;
        assert_int_equal(isolate_send(isolated, &request), 0);
        wait_for(10000);
        assert_int_equal(reply.end, ISOLATE_ANSWERED);
        assert_true(reply.guards_intact);
        isolate_copy(isolated, answer, reply.bytes);
        answer[reply.bytes] = '\0';
        assert_int_equal(strtoul(answer + 3, NULL, 10), capacity);
    }
    struct isolate_request request = request_of("good_open", "good_collect", "good_close");
    request.capacity = ISOLATE_LARGEST + 1;
    assert_int_equal(isolate_send(isolated, &request), ERROR_INVALID_PARAMETER);
}

static int set_environment(void **state)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)getpid());
    temp_make(root);
    temp_write(root, "client", number);
    return setenv("OPENPERFLIB_ROOT", root, 1);
}

static int remove_root(void **state)
{
    temp_remove(root);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answers_in_another_process),
        TEST(closes_and_says_what_close_said),
        TEST(says_at_once_what_it_died_of),
        TEST(late_is_late_and_may_come_later),
        TEST(ends_a_helper_that_never_answers),
        TEST(survives_loading_and_unloading),
        TEST(says_what_cannot_be_loaded),
        TEST(open_gets_the_export_names),
        TEST(open_may_take_longer_than_collect),
        TEST(gives_up_on_close_at_its_deadline),
        TEST(cannot_reach_others),
        TEST(has_a_clean_buffer),
        TEST(keeps_the_mess_at_home),
        TEST(sees_what_was_written_outside),
        TEST(what_open_overwrites_is_not_blamed_on_collect),
        TEST(leaves_no_thread_and_no_child),
        TEST(f_c5_helper_reaches_no_other_channel),
        TEST(f_c5_helper_moves_its_channel_nowhere),
        TEST(f_c5_helper_moves_its_channel_with_no_neighbour),
        TEST(f_c5_helper_keeps_few_capabilities),
        TEST(f_c5_a_broken_keeper_is_replaced),
        TEST(f_c6_helper_changes_nobodys_rank),
        TEST(f_c6_attacks_on_other_processes_are_refused),
        TEST(f_c6_attacks_on_the_machine_are_refused),
        TEST(f_c8_helper_starts_threads_but_no_processes),
        TEST(f_c8_what_a_helper_started_ends_with_it),
        TEST(f_c8_a_leak_ends_its_helper),
        TEST(f_e4_ps_shows_the_service),
        TEST(memory_ends_before_the_machine_does),
        TEST(grows_its_capacity),
    };
    return cmocka_run_group_tests(tests, set_environment, remove_root);
}
