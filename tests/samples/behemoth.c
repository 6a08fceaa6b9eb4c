/* SPDX-License-Identifier: MIT */
/*
 * The sample behemoth: a server that simulates a herd of animals ("behemoths"), and a provider that
 * reads counters from it. Tested together: counters compared with the server's own data, a server
 * that is killed again and again, and malicious clients and servers.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* pipe2, execvpe */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <openperflib/block.h>
#include <winperf.h>

#include "../skip.h"
#include "pasture.h"

/* ---- tests ---- */

static void c84_counters_are_what_the_server_says(void **state)
{
    (void)state;
    struct behemoth_line line = {0};
    start("--count=500", "--capacity=1000", "--forward=700");
    set("speed", 0);
    assert_true(send_request(BEHEMOTH_HERD, NULL, 0, &line));
    const struct behemoth_herd *herd = behemoth_herd_of(&line);
    assert_non_null(herd);
    assert_in_range(herd->count, 300, 1000);
    struct reader reader = opened();
    look(&reader);
    assert_same_snapshot(herd, &reader);
    assert_int_equal(summary(&reader, BEHEMOTHS_SUMMARY_STATUS), 1);
    reader_close(&reader);
    behemoth_line_end(&line);
    stop();
}

/* After one query, the following ones get equal answers for a tenth of a second (the provider keeps
 * the answer), even while the herd's time passes as fast as possible. */
static void c79_two_queries_within_a_tenth_are_equal(void **state)
{
    (void)state;
    int compared = 0;
    start("--count=50", "--speed=1000000", NULL);
    struct reader reader = opened();
    for (int i = 0; i < 20 && compared < 5; i++) {
        /* longer than the provider keeps an answer, so the next query goes to the server */
        usleep(150000);
        int64_t begun = behemoth_now();
        look(&reader);
        uint64_t ticks = summary(&reader, BEHEMOTHS_SUMMARY_HERD_TIME);
        struct reader_behemoth first = reader.all[0];
        look(&reader);
        if (behemoth_now() - begun >= 90)
            continue; /* skipped, because the machine was too slow */
        compared++;
        assert_int_equal(summary(&reader, BEHEMOTHS_SUMMARY_HERD_TIME), ticks);
        assert_memory_equal(&reader.all[0], &first, sizeof first);
    }
    assert_true(compared > 0);
    reader_close(&reader);
    stop();
}

static void c77_what_is_always_equal_is_never_seen_different(void **state)
{
    (void)state;
    lab_set_dword(PARAMETERS, "Cache Milliseconds", 0);
    start("--count=20", "--speed=100000000", "--capacity=40");
    struct reader reader = opened();
    uint64_t last = 0, changes = 0;
    for (int i = 0; i < 100000 && changes < 1000; i++) {
        uint64_t weight = 0;
        look(&reader);
        for (size_t j = 0; j < reader.count; j++)
            weight += reader.all[j].values[BEHEMOTH_WEIGHT / 2];
        assert_int_equal(summary(&reader, BEHEMOTHS_SUMMARY_LEFT_STEPS_SEC),
                         summary(&reader, BEHEMOTHS_SUMMARY_RIGHT_STEPS_SEC));
        assert_int_equal(summary(&reader, BEHEMOTHS_SUMMARY_TOTAL_WEIGHT), weight);
        assert_int_equal(summary(&reader, BEHEMOTHS_SUMMARY_FOUNDERS) +
                             summary(&reader, BEHEMOTHS_SUMMARY_BIRTHS_SEC) -
                             summary(&reader, BEHEMOTHS_SUMMARY_DEATHS_SEC),
                         reader.count);
        changes += summary(&reader, BEHEMOTHS_SUMMARY_HERD_TIME) != last;
        last = summary(&reader, BEHEMOTHS_SUMMARY_HERD_TIME);
    }
    /* the two samples of each pair differed: otherwise the comparison would prove nothing */
    assert_int_equal(changes, 1000);
    reader_close(&reader);
    stop();
}

static void c120_a_dead_server_leaves_its_last_words(void **state)
{
    (void)state;
    start("--count=30", "--speed=0", NULL);
    struct reader reader = opened();
    look(&reader);
    assert_int_equal(summary(&reader, BEHEMOTHS_SUMMARY_STATUS), 1);
    struct reader_behemoth first = reader.all[0];
    kill(server, SIGKILL);
    end_of(server);
    usleep(150000);
    look(&reader);
    assert_int_equal(summary(&reader, BEHEMOTHS_SUMMARY_STATUS), 0);
    assert_int_equal(reader.count, 30);
    assert_memory_equal(&reader.all[0], &first, sizeof first);
    start(NULL, NULL, NULL);
    usleep(150000);
    look(&reader);
    assert_int_equal(summary(&reader, BEHEMOTHS_SUMMARY_STATUS), 1);
    /* While the server was dead, the herd's time stood still, but the time of day did not. So the
     * moment of birth, from which the age is computed, must differ, and nothing else. */
    reader.all[0].values[BEHEMOTH_AGE / 2] = first.values[BEHEMOTH_AGE / 2];
    assert_memory_equal(&reader.all[0], &first, sizeof first);
    reader_close(&reader);
    stop();
}

/* ---- the summary alone ---- */

static unsigned char block_bytes[32 << 20];

/* Returns the count of behemoths in the summary of the answer to this query; -1: the answer has no
 * summary. */
static int64_t query_counters(const char *query)
{
    DWORD size = sizeof block_bytes;
    opl_block block;
    opl_object_view object = {0};
    opl_instance_view instance = {0};
    opl_counter_view counter = {0};
    uint64_t value = 0;
    assert_int_equal(RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, NULL, block_bytes, &size),
                     0);
    assert_int_equal(opl_block_init(&block, block_bytes, size), OPL_BLOCK_GOOD);
    while (opl_block_next_object(&block, &object))
        if (object.type.NumInstances == PERF_NO_INSTANCES &&
            opl_object_next_instance(&block, &object, &instance) &&
            opl_object_next_counter(&block, &object, &counter) &&
            opl_counter_number(&block, &instance, &counter, &value))
            return (int64_t)value;
    return -1;
}

/* Answers like the sample's server, which may know the request BEHEMOTH_SUMMARY or not (`knows`),
 * and writes the requests that it gets to `notes`. */
static void answer_as_server(int listening, int notes, bool knows)
{
    struct behemoth_head head;
    for (int fd; (fd = accept(listening, NULL, NULL)) >= 0; close(fd))
        while (recv(fd, &head, sizeof head, MSG_WAITALL) == sizeof head) {
            struct behemoth_herd herd = {.each = sizeof(struct behemoth), .lifetime = 1};
            bool good = head.what == BEHEMOTH_HERD || knows;
            herd.weight = head.what;
            (void)!write(notes, &head.what, sizeof head.what);
            head.what = good ? BEHEMOTH_OK : BEHEMOTH_BAD;
            head.bytes = good ? sizeof herd : 0;
            /* the client closes its connection as soon as it has the answer */
            send(fd, &head, sizeof head, MSG_NOSIGNAL);
            send(fd, &herd, head.bytes, MSG_NOSIGNAL);
        }
}

static int listen_at_place(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", place);
    unlink(place);
    assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listening, 4), 0);
    return listening;
}

static uint32_t requested(int notes)
{
    uint32_t what = 0;
    struct pollfd one = {.fd = notes, .events = POLLIN};
    if (poll(&one, 1, 0) == 1)
        assert_int_equal(read(notes, &what, sizeof what), sizeof what);
    return what;
}

static void c138_the_summary_alone_does_not_cost_the_herd(void **state)
{
    (void)state;
    struct reader reader = opened();
    char alone[32], both[64];
    snprintf(alone, sizeof alone, "%u", (unsigned)reader.first + BEHEMOTHS_SUMMARY);
    snprintf(both, sizeof both, "%u %u", (unsigned)reader.first + BEHEMOTH,
             (unsigned)reader.first + BEHEMOTHS_SUMMARY);
    lab_set_dword(PARAMETERS, "Cache Milliseconds", 0);
    for (int knows = 1; knows >= 0; knows--) {
        int ends[2], listening = listen_at_place();
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        server = fork();
        if (server == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            answer_as_server(listening, ends[1], knows);
            _exit(0);
        }
        close(listening);
        RegCloseKey(HKEY_PERFORMANCE_DATA);
        assert_int_equal(query_counters(alone), 0);
        assert_int_equal(requested(ends[0]), BEHEMOTH_SUMMARY);
        assert_int_equal(requested(ends[0]), knows ? 0 : BEHEMOTH_HERD);
        assert_int_equal(query_counters(both), 0);
        assert_int_equal(requested(ends[0]), BEHEMOTH_HERD);
        assert_int_equal(requested(ends[0]), 0);
        kill(server, SIGKILL);
        end_of(server);
        server = 0;
        close(ends[0]), close(ends[1]);
    }
    unlink(place);
    reader_close(&reader);
    RegCloseKey(HKEY_PERFORMANCE_DATA); /* clears the provider's kept answer for the next test */
}

static int64_t microseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static int64_t least_of_ten(const char *query)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 10; i++) {
        int64_t begun = microseconds();
        query_counters(query);
        int64_t took = microseconds() - begun;
        least = took < least ? took : least;
    }
    return least;
}

/* A query for the summary alone gives the same numbers as the query for everything, also after the
 * server has ended. For a herd of 20,000, everything takes many times as long as the summary. */
static void c138_the_summary_alone_says_the_same(void **state)
{
    (void)state;
    char alone[32], both[64];
    start("--count=20000", "--capacity=30000", NULL);
    set("speed", 0);
    struct reader reader = opened();
    lab_set_dword(PARAMETERS, "Cache Milliseconds", 0);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    snprintf(alone, sizeof alone, "%u", (unsigned)reader.first + BEHEMOTHS_SUMMARY);
    snprintf(both, sizeof both, "%u %u", (unsigned)reader.first + BEHEMOTH,
             (unsigned)reader.first + BEHEMOTHS_SUMMARY);
    int64_t count = query_counters(both);
    assert_in_range(count, 10000, 30000);
    assert_int_equal(query_counters(alone), count);
    int64_t one = 0, all = 0;
    /* tries again, because other programs may disturb the measurement */
    for (int i = 0; i < 10 && one * 4 >= all; i++) {
        one = least_of_ten(alone);
        all = least_of_ten(both);
        print_message("# the summary alone: %d us, with the herd: %d us\n", (int)one, (int)all);
    }
    assert_true(one * 4 < all);
    stop();
    /* the last answer of the server, which has ended */
    assert_int_equal(query_counters(alone), count);
    assert_int_equal(query_counters(both), count);
    reader_close(&reader);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
}

/* Queries before any server was started. */
static void c120_no_server_at_all(void **state)
{
    (void)state;
    struct reader reader = opened();
    look(&reader);
    assert_int_equal(reader.count, 0);
    assert_int_equal(summary(&reader, BEHEMOTHS_SUMMARY_STATUS), 0);
    start("--count=30", NULL, NULL);
    usleep(150000);
    look(&reader);
    assert_int_equal(summary(&reader, BEHEMOTHS_SUMMARY_STATUS), 1);
    assert_int_equal(reader.count, summary(&reader, BEHEMOTHS_SUMMARY_BEHEMOTHS));
    reader_close(&reader);
    stop();
}

/* ---- the time of day ---- */

/* How many seconds the time of day is set forward in this process, and so in a provider that runs
 * in it. */
static int64_t ahead_seconds;

#if __SIZEOF_LONG__ == 8
__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    int result = (int)syscall(SYS_clock_gettime, which, ret);
    if (result == 0 && which == CLOCK_REALTIME)
        ret->tv_sec += __atomic_load_n(&ahead_seconds, __ATOMIC_RELAXED);
    return result;
}
#endif

static void assert_sensible_ages(const struct reader *reader, const struct behemoth_herd *herd)
{
    int64_t heard = (int64_t)summary(reader, BEHEMOTHS_SUMMARY_DATA_AGE);
    assert_in_range(reader->time - heard, 0, 60 * (int64_t)BEHEMOTH_SECOND);
    assert_same_snapshot(herd, reader);
}

/* Setting the time of day forward and back, with and without a running server, must not change
 * ages. */
static void ages_do_not_follow_the_time_of_day(void **state)
{
    static const int64_t steps[] = {0, -3600, 86400, -86400 * 365, 86400 * 365};
    struct behemoth_line line = {0};
    (void)state;
    if (!inside || __SIZEOF_LONG__ < 8) {
        report_skipped("the clock of another process cannot be set");
        return;
    }
    start("--count=20", "--speed=0", NULL);
    assert_true(send_request(BEHEMOTH_HERD, NULL, 0, &line));
    struct reader reader = opened();
    for (int there = 1; there >= 0; there--) {
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            __atomic_store_n(&ahead_seconds, steps[i], __ATOMIC_RELAXED);
            usleep(110000); /* longer than the provider keeps an answer */
            look(&reader);
            assert_int_equal(summary(&reader, BEHEMOTHS_SUMMARY_STATUS), there);
            assert_sensible_ages(&reader, behemoth_herd_of(&line));
        }
        if (there)
            stop();
    }
    ahead_seconds = 0;
    reader_close(&reader);
    behemoth_line_end(&line);
}

/* ---- killed and restarted ---- */

static int descriptors_of(const char *process)
{
    char path[320];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%s/fd", process);
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

static bool is_of_this_test(const char *process)
{
    static char environment[65536], wanted[128];
    char path[320];
    snprintf(path, sizeof path, "/proc/%s/environ", process);
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(environment, 1, sizeof environment, file) : 0;
    int length = snprintf(wanted, sizeof wanted, "OPENPERFLIB_ROOT=%s", lab_root);
    if (file)
        fclose(file);
    return memmem(environment, size, wanted, (size_t)length + 1) != NULL;
}

static bool is_helper(const char *process)
{
    char path[320], name[32] = "";
    snprintf(path, sizeof path, "/proc/%s/comm", process);
    FILE *file = fopen(path, "re");
    bool good = file && fgets(name, sizeof name, file) && strcmp(name, "Behemoth\n") == 0;
    if (file)
        fclose(file);
    return good && is_of_this_test(process);
}

/* Returns the private memory of a process in KiB. */
static int memory_of_helper(const char *process)
{
    char path[320], line[256];
    int kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%s/status", process);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "RssAnon: %d", &kilobytes) != 1)
        ;
    if (file)
        fclose(file);
    return kilobytes;
}

/* Adds up `count` over the helper processes that have loaded the provider; returns 0 if the
 * provider runs in this process. */
static int of_helpers(int (*count)(const char *process))
{
    int sum = 0, helpers = 0;
    const struct dirent *entry;
    DIR *dir = inside ? NULL : opendir("/proc");
    while (dir && (entry = readdir(dir))) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !is_helper(entry->d_name))
            continue;
        sum += count(entry->d_name);
        helpers++;
    }
    if (dir)
        closedir(dir);
    assert_true(helpers > 0 || inside);
    return sum;
}

/* Counts descriptors while the provider is connected, so that each count includes the provider's
 * socket. */
static int descriptors(struct reader *reader)
{
    do {
        usleep(110000); /* longer than the provider keeps an answer */
        look(reader);
    } while (summary(reader, BEHEMOTHS_SUMMARY_STATUS) != 1);
    return descriptors_of("self") + of_helpers(descriptors_of);
}

/* A sanitizer keeps freed memory, so then the memory in use grows with every call. */
#ifdef __SANITIZE_ADDRESS__
enum { MEMORY_IS_EXACT = 0 };
#elif defined __has_feature
enum { MEMORY_IS_EXACT = !__has_feature(address_sanitizer) };
#else
enum { MEMORY_IS_EXACT = 1 };
#endif
enum { MOST_GROWTH_KB = 128 }; /* KiB; if each of the 70 restarts lost a herd, it would be 600 */

static void killed_and_restarted_100_times(void **state)
{
    (void)state;
    struct behemoth_line line = {0};
    int there = 0, before = 0, memory = 0;
    start("--count=100", "--capacity=200", "--speed=100000");
    struct reader reader = opened();
    for (int i = 0; i < 100; i++) {
        uint64_t saved_ticks, saved_born;
        assert_true(send_request(BEHEMOTH_HERD, NULL, 0, &line));
        saved_ticks = behemoth_herd_of(&line)->ticks;
        saved_born = behemoth_herd_of(&line)->births;
        assert_true(send_request(BEHEMOTH_SAVE, NULL, 0, &line));
        for (int j = 0; j < 3; j++) {
            look(&reader);
            if (j == i % 3) {
                kill(server, SIGKILL);
                end_of(server);
            }
        }
        assert_true(reader.count > 0);
        start(NULL, NULL, NULL);
        assert_true(send_request(BEHEMOTH_HERD, NULL, 0, &line));
        assert_true(behemoth_herd_of(&line)->ticks >= saved_ticks);
        assert_true(behemoth_herd_of(&line)->births >= saved_born);
        usleep(i % 10 == 0 ? 110000 : 0);
        look(&reader);
        there += summary(&reader, BEHEMOTHS_SUMMARY_STATUS) == 1;
        if (i == 9)
            before = descriptors(&reader);
        if (i == 29)
            memory = of_helpers(memory_of_helper);
    }
    assert_true(there >= 10);
    assert_int_equal(descriptors(&reader), before);
    int grown = of_helpers(memory_of_helper) - memory;
    if (MEMORY_IS_EXACT && grown > MOST_GROWTH_KB)
        fail_msg("the helper has %d KiB more than after 30 restarts", grown);
    assert_string_equal(lab_events("Behemoth", false), "");
    reader_close(&reader);
    behemoth_line_end(&line);
    stop();
}

/* ---- a client lets the herd's time pass fast ---- */

static int dial(void);

static void send_forward(int fd, uint64_t seconds)
{
    struct {
        struct behemoth_head head;
        uint64_t seconds;
    } request = {
        {BEHEMOTH_MAGIC, BEHEMOTH_FORWARD, 8, 7},
        seconds
    };
    assert_int_equal(send(fd, &request, sizeof request, MSG_NOSIGNAL), sizeof request);
}

static void others_are_served_while_time_is_forwarded(void **state)
{
    (void)state;
    struct behemoth_head head;
    start("--count=10000", "--capacity=11500", "--speed=0");
    int one = dial(), two = dial(), gone = dial();
    send_forward(gone, 1);
    send_forward(one, 20);
    close(gone);
    assert_int_equal(recv(one, &head, sizeof head, MSG_WAITALL), sizeof head);
    assert_int_equal(head.what, BEHEMOTH_OK);
    assert_int_equal(head.number, 7);
    uint64_t begun = ticks_now(), first, later;
    assert_in_range(begun, 20, 21);
    send_forward(two, 100000);
    while ((first = ticks_now()) == begun)
        ;
    assert_in_range(first, begun + 1, 99999);
    while ((later = ticks_now()) == first) /* the herd's time continues while requests are served */
        ;
    assert_in_range(later, first + 1, 99999);
    kill(server, SIGTERM);
    assert_int_equal(recv(two, &head, sizeof head, MSG_WAITALL), sizeof head);
    assert_int_equal(head.what, BEHEMOTH_FAILED);
    assert_int_equal(end_of(server), 0);
    server = 0;
    close(one), close(two);
}

/* ---- malicious clients and servers ---- */

static int dial(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", place);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static bool hung_up_within(int fd, int milliseconds)
{
    char storage[4096];
    struct pollfd one = {.fd = fd, .events = POLLIN};
    while (poll(&one, 1, milliseconds) > 0) {
        if (recv(fd, storage, sizeof storage, MSG_DONTWAIT) <= 0)
            return true;
    }
    return false;
}

static void hostile_peers_harm_no_server(void **state)
{
    (void)state;
    static char megabyte[1 << 20];
    struct behemoth_head head = {BEHEMOTH_MAGIC, BEHEMOTH_HERD, 0, 1};
    struct behemoth_head huge = {BEHEMOTH_MAGIC, BEHEMOTH_CREATE, 1 << 30, 1};
    int silent[100];
    start("--count=200", "--capacity=300", NULL);
    for (int i = 0; i < 100; i++)
        silent[i] = dial(); /* more connections than the server accepts */
    wait_for_server();
    /* now the silent connections are the oldest, and are closed to make place for the next four */
    usleep(5000);
    int garbage = dial(), half = dial(), gigabyte = dial(), deaf = dial();
    memset(megabyte, 0x5A, sizeof megabyte);
    assert_true(send(garbage, megabyte, 4096, MSG_NOSIGNAL) > 0);
    assert_true(send(half, &head, sizeof head / 2, MSG_NOSIGNAL) > 0);
    assert_true(send(gigabyte, &huge, sizeof huge, MSG_NOSIGNAL) > 0);
    for (int i = 0; i < 1024 && send(gigabyte, megabyte, sizeof megabyte, MSG_NOSIGNAL) > 0;)
        i++;
    for (int i = 0; i < 2000; i++) /* sends requests and reads no answer */
        (void)!send(deaf, &head, sizeof head, MSG_DONTWAIT | MSG_NOSIGNAL);
    wait_for_server();
    assert_true(hung_up_within(garbage, 1000));
    assert_true(hung_up_within(gigabyte, 1000));
    assert_true(hung_up_within(half, 4000));
    wait_for_server();
    for (int i = 0; i < 100; i++)
        close(silent[i]);
    close(garbage), close(half), close(gigabyte), close(deaf);
    wait_for_server();
    stop();
}

/* Returns the memory of a process in KiB, as the kernel counts it. */
static long memory_of(pid_t pid)
{
    char path[64], line[256];
    long kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && sscanf(line, "VmRSS: %ld", &kilobytes) != 1)
        ;
    fclose(file);
    return kilobytes;
}

/* Runs as another user: requests herds of 16 MB each, and reads none of the answers. Writes a byte
 * to `ready` when the last request was sent, and stays until the other end of `until` is closed. */
static void ask_and_not_listen(int ready, int until)
{
    struct behemoth_head head = {BEHEMOTH_MAGIC, BEHEMOTH_HERD, 0, 1};
    char byte = 0;
    if (setgid(65534) < 0 || setuid(65534) < 0)
        _exit(1);
    for (int i = 0; i < 20; i++) {
        int fd = dial();
        struct pollfd one = {.fd = fd, .events = POLLIN};
        if (send(fd, &head, sizeof head, MSG_NOSIGNAL) < 0 || poll(&one, 1, 60 * SECOND_MS) < 1)
            _exit(2);
    }
    _exit(write(ready, &byte, 1) == 1 && read(until, &byte, 1) == 0 ? 0 : 3);
}

static void clients_that_do_not_listen_cost_little(void **state)
{
    (void)state;
    int ready[2], until[2];
    char byte;
    if (geteuid() != 0) {
        report_skipped("only root can be another user");
        return;
    }
    /* limits how much freed memory a sanitizer keeps */
    const char *usual = getenv("ASAN_OPTIONS");
    char options[300], kept[256];
    snprintf(kept, sizeof kept, "%s", usual ? usual : "");
    snprintf(options, sizeof options, "%s:quarantine_size_mb=1", kept);
    setenv("ASAN_OPTIONS", options, 1);
    start("--count=200000", "--capacity=200000", "--speed=0");
    setenv("ASAN_OPTIONS", kept, 1);
    chmod(lab_root, 0755);
    assert_int_equal(pipe(ready) | pipe(until), 0);
    long before = memory_of(server);
    pid_t third_party = fork();
    if (third_party == 0) {
        close(until[1]);
        ask_and_not_listen(ready[1], until[0]);
    }
    close(ready[1]), close(until[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    wait_for_server();
    long grown = memory_of(server) - before;
    close(until[1]), close(ready[0]);
    assert_int_equal(end_of(third_party), 0);
    /* at most half of the memory that all the unread answers would need */
    assert_in_range(grown, 0, 20 * 16 * 1024 / 2);
    stop();
}

/* If there are more clients than descriptors, new clients must still be served, and the server must
 * not loop without waiting. */
static void few_descriptors_are_enough(void **state)
{
    (void)state;
    struct rlimit usual, few;
    int silent[40];
    getrlimit(RLIMIT_NOFILE, &usual);
    start("--count=5", "--speed=0", NULL);
    few = (struct rlimit){16, usual.rlim_max};
    assert_int_equal(prlimit(server, RLIMIT_NOFILE, &few, NULL), 0);
    for (int i = 0; i < 40; i++)
        silent[i] = dial();
    wait_for_server();
    for (int i = 0; i < 40; i++)
        close(silent[i]);
    stop();
}

enum {
    MEAN_GARBAGE,
    MEAN_HALF,
    MEAN_SILENT,
    MEAN_GIGABYTE,
    MEAN_SLOW,
    MEAN_LIES,
    MEAN_GONE,
    MEANS
};

static void send_lies(int fd, uint32_t number, uint32_t count, uint32_t mother)
{
    struct {
        struct behemoth_head head;
        struct behemoth_herd herd;
        struct behemoth one;
    } all = {
        {BEHEMOTH_MAGIC, BEHEMOTH_OK,               sizeof all.herd + sizeof all.one, number},
        {.each = sizeof all.one,              .count = count                 },
        {.id = 1,        .mother_position = mother, .name = "Liar"                      }
    };
    send(fd, &all, sizeof all, MSG_NOSIGNAL);
}

static void be_mean(int fd, int way)
{
    static char megabyte[1 << 20];
    struct behemoth_head head = {0};
    (void)!read(fd, &head, sizeof head);
    struct behemoth_head answer = {BEHEMOTH_MAGIC, BEHEMOTH_OK, 1 << 30, head.number};
    if (way == MEAN_GARBAGE)
        send(fd, megabyte, sizeof megabyte, MSG_NOSIGNAL);
    if (way == MEAN_HALF)
        send(fd, &answer, sizeof answer / 2, MSG_NOSIGNAL);
    if (way == MEAN_LIES)
        send_lies(fd, head.number, head.number % 2 ? 1 : 100000, 0);
    if (way == MEAN_GIGABYTE && send(fd, &answer, sizeof answer, MSG_NOSIGNAL) > 0)
        for (int i = 0; i < 1024 && send(fd, megabyte, sizeof megabyte, MSG_NOSIGNAL) > 0; i++)
            ;
    answer.bytes = 100000;
    if (way == MEAN_SLOW && send(fd, &answer, sizeof answer, MSG_NOSIGNAL) > 0)
        for (int i = 0; i < 1000 && send(fd, megabyte, 1, MSG_NOSIGNAL) > 0; i++)
            usleep(10000);
    if (way == MEAN_GONE)
        close(fd);
}

/* Starts a server that treats every connection wrongly, in the way number `way`; connections that
 * it does not answer stay open. */
static pid_t mean_server(int way)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", place);
    unlink(place);
    assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listening, 8), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            be_mean(accept(listening, NULL, NULL), way);
    }
    close(listening);
    return pid;
}

static void hostile_servers_harm_no_reader(void **state)
{
    (void)state;
    start("--count=30", "--speed=0", NULL);
    struct reader reader = opened();
    look(&reader);
    assert_int_equal(reader.count, 30);
    struct reader_behemoth first = reader.all[0];
    stop();
    for (int way = 0; way < MEANS; way++) {
        pid_t mean = mean_server(way);
        for (int i = 0; i < 4; i++) {
            usleep(110000);
            int64_t begun = behemoth_now();
            look(&reader);
            assert_in_range(behemoth_now() - begun, 0, 900);
            assert_int_equal(summary(&reader, BEHEMOTHS_SUMMARY_STATUS), 0);
            assert_int_equal(reader.count, 30);
            assert_memory_equal(&reader.all[0], &first, sizeof first);
        }
        kill(mean, SIGKILL);
        end_of(mean);
        /* after a timeout, the provider does not ask the server again for a second */
        usleep(1100000);
    }
    assert_string_equal(lab_events("Behemoth", false), "");
    reader_close(&reader);
    unlink(place);
}

/* ---- only one server; which users may do what; the socket ---- */

static void there_is_only_one(void **state)
{
    (void)state;
    char path[4096], socket_option[160], other_socket[160], state_option[160], other_state[160];
    start("--count=5", NULL, NULL);
    program(path, sizeof path);
    snprintf(socket_option, sizeof socket_option, "--socket=%s", place);
    snprintf(other_socket, sizeof other_socket, "--socket=%s.other", place);
    snprintf(state_option, sizeof state_option, "--state=%s", herd_file);
    snprintf(other_state, sizeof other_state, "--state=%s.other", herd_file);
    assert_int_equal(end_of(spawn((char *[]){path, other_socket, state_option, NULL})),
                     EXIT_SECOND);
    assert_int_equal(end_of(spawn((char *[]){path, socket_option, other_state, NULL})),
                     EXIT_SECOND);
    wait_for_server();
    stop();
    assert_int_equal(access(place, F_OK), -1);
}

/* If a file of another program has the name of the socket or of the saved herd, it is not removed,
 * and no program hangs. */
static void other_files_are_left_alone(void **state)
{
    (void)state;
    char path[4096], socket_option[160], state_option[160], text[16] = "";
    program(path, sizeof path);
    snprintf(socket_option, sizeof socket_option, "--socket=%s", place);
    snprintf(state_option, sizeof state_option, "--state=%s", herd_file);
    char *argv[] = {path, socket_option, state_option, "--count=5", NULL};
    FILE *file = fopen(place, "w");
    assert_non_null(file);
    fputs("a thesis", file);
    fclose(file);
    assert_int_equal(end_of(spawn(argv)), 1);
    file = fopen(place, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "a thesis");
    remove(place);
    remove(herd_file);
    snprintf(path, sizeof path, "%s.lock", herd_file);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("a thesis", file);
    fclose(file);
    program(path, sizeof path);
    assert_int_equal(end_of(spawn(argv)), 1);
    snprintf(path, sizeof path, "%s.lock", herd_file);
    assert_int_equal(remove(path), 0);
    program(path, sizeof path);
    assert_int_equal(mkfifo(herd_file, 0600), 0);
    assert_int_equal(end_of(spawn(argv)), 1);
    remove(herd_file);
}

static void another_users_request_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        report_skipped("only root can be another user");
        return;
    }
    start("--count=5", NULL, NULL);
    chmod(lab_root, 0755);
    pid_t third_party = fork();
    if (third_party == 0) {
        struct behemoth_line line = {0};
        uint64_t id = 1;
        bool good =
            setgid(65534) == 0 && setuid(65534) == 0 && send_request(BEHEMOTH_KILL, &id, 8, &line);
        good = good && line.head.what == BEHEMOTH_REFUSED;
        good = good && send_request(BEHEMOTH_HERD, NULL, 0, &line) && behemoth_herd_of(&line);
        _exit(good ? 0 : 1);
    }
    assert_int_equal(end_of(third_party), 0);
    stop();
}

static void another_users_server_is_not_trusted(void **state)
{
    (void)state;
    struct behemoth_line line = {0};
    if (geteuid() != 0) {
        report_skipped("only root can be another user");
        return;
    }
    /* for the client, the user at the other end is the one who called listen */
    assert_int_equal(seteuid(65534), 0);
    char kept[sizeof place];
    memcpy(kept, place, sizeof kept);
    snprintf(place, sizeof place, "/tmp/opl-foreign-%ld", (long)getpid());
    pid_t mean = mean_server(MEAN_SILENT);
    assert_int_equal(seteuid(0), 0);
    int64_t begun = behemoth_now();
    assert_false(send_request(BEHEMOTH_HERD, NULL, 0, &line));
    assert_int_equal(errno, EACCES);
    assert_in_range(behemoth_now() - begun, 0, 1000);
    kill(mean, SIGKILL);
    end_of(mean);
    unlink(place);
    memcpy(place, kept, sizeof kept);
    behemoth_line_end(&line);
}

/* A server that systemd starts on demand: descriptor 3 is a listening socket, and LISTEN_PID is the
 * server's process number. */
static void it_takes_a_socket_from_systemd(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[4096], state_option[160], me[32];
    program(path, sizeof path);
    snprintf(state_option, sizeof state_option, "--state=%s", herd_file);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", place);
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listening, 8), 0);
    server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(me, sizeof me, "%ld", (long)getpid());
        setenv("LISTEN_PID", me, 1);
        setenv("LISTEN_FDS", "1", 1);
        if (listening == 3 ? fcntl(3, F_SETFD, 0) == 0 : dup2(listening, 3) == 3)
            execl(path, path, state_option, (char *)NULL);
        _exit(126);
    }
    close(listening);
    wait_for_server();
    stop();
    /* the socket file is still there, because it belongs to systemd */
    assert_int_equal(access(place, F_OK), 0);
    unlink(place);
}

int main(int argc, char **argv)
{
    inside = argc > 1 && strcmp(argv[1], "inside") == 0;
    const struct CMUnitTest restarts[] = {
        cmocka_unit_test_teardown(killed_and_restarted_100_times, after_each),
    };
    if (argc > 2) /* with an argument: runs only the restarts, under valgrind */
        return cmocka_run_group_tests_name("behemoth-restarts", restarts, begin, end);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(c120_no_server_at_all, after_each),
        cmocka_unit_test_teardown(c84_counters_are_what_the_server_says, after_each),
        cmocka_unit_test_teardown(c138_the_summary_alone_does_not_cost_the_herd, after_each),
        cmocka_unit_test_teardown(c138_the_summary_alone_says_the_same, after_each),
        cmocka_unit_test_teardown(c79_two_queries_within_a_tenth_are_equal, after_each),
        cmocka_unit_test_teardown(c77_what_is_always_equal_is_never_seen_different, after_each),
        cmocka_unit_test_teardown(c120_a_dead_server_leaves_its_last_words, after_each),
        cmocka_unit_test_teardown(killed_and_restarted_100_times, after_each),
        cmocka_unit_test_teardown(ages_do_not_follow_the_time_of_day, after_each),
        cmocka_unit_test_teardown(others_are_served_while_time_is_forwarded, after_each),
        cmocka_unit_test_teardown(hostile_peers_harm_no_server, after_each),
        cmocka_unit_test_teardown(hostile_servers_harm_no_reader, after_each),
        cmocka_unit_test_teardown(clients_that_do_not_listen_cost_little, after_each),
        cmocka_unit_test_teardown(few_descriptors_are_enough, after_each),
        cmocka_unit_test_teardown(there_is_only_one, after_each),
        cmocka_unit_test_teardown(other_files_are_left_alone, after_each),
        cmocka_unit_test_teardown(another_users_request_is_refused, after_each),
        cmocka_unit_test_teardown(another_users_server_is_not_trusted, after_each),
        cmocka_unit_test_teardown(it_takes_a_socket_from_systemd, after_each),
    };
    return cmocka_run_group_tests_name("behemoth", tests, begin, end);
}
