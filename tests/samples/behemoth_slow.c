/* SPDX-License-Identifier: MIT */
/*
 * Tests of the sample behemoth (a server with a herd of animals, and its provider) that take long:
 * values that must always be equal are read 100,000 times while the herd's time passes as fast as
 * possible; ten thousand behemoths live for an hour, compared between server and provider; and the
 * server's processor time is measured.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "pasture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- values that are always equal in the server ---- */

enum { READS = 100000, READERS = 8 };

struct tally {
    uint64_t reads, moments, different, failed, silent;
};

/* Do these values of the answer agree, as they always do in the server? Two counters; a sum and its
 * parts; births minus deaths, and the count. */
static bool is_of_one_moment(const struct reader *reader)
{
    uint64_t weight = 0;
    for (size_t i = 0; i < reader->count; i++)
        weight += reader->all[i].values[BEHEMOTH_WEIGHT / 2];
    return summary(reader, BEHEMOTHS_SUMMARY_LEFT_STEPS_SEC) ==
               summary(reader, BEHEMOTHS_SUMMARY_RIGHT_STEPS_SEC) &&
           summary(reader, BEHEMOTHS_SUMMARY_TOTAL_WEIGHT) == weight &&
           summary(reader, BEHEMOTHS_SUMMARY_FOUNDERS) +
                   summary(reader, BEHEMOTHS_SUMMARY_BIRTHS_SEC) -
                   summary(reader, BEHEMOTHS_SUMMARY_DEATHS_SEC) ==
               reader->count;
}

/* Reads once and counts the result. It uses no assertions, because it runs in child processes. */
static void read_once(struct reader *reader, struct tally *tally)
{
    uint64_t last = summary(reader, BEHEMOTHS_SUMMARY_HERD_TIME);
    tally->reads++;
    if (reader_read(reader) != ERROR_SUCCESS) {
        tally->failed++;
        return;
    }
    tally->different += !is_of_one_moment(reader);
    tally->silent += summary(reader, BEHEMOTHS_SUMMARY_STATUS) == 0;
    tally->moments += summary(reader, BEHEMOTHS_SUMMARY_HERD_TIME) != last;
}

/* The readers are processes, so that several clients query the server at once. */
static pid_t begin_reader(int to)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    struct reader reader;
    struct tally tally = {.failed = reader_open(&reader, NULL, "009") != ERROR_SUCCESS};
    for (int i = 0; i < READS / READERS && tally.failed == 0; i++)
        read_once(&reader, &tally);
    reader_close(&reader);
    _exit(write(to, &tally, sizeof tally) == sizeof tally ? 0 : 1);
}

static void c77_what_is_always_equal_is_never_seen_different(void **state)
{
    (void)state;
    struct tally all = {0}, one;
    pid_t readers[READERS];
    int results[2];
    lab_set_dword(PARAMETERS, "Cache Milliseconds", 0);
    lab_set_dword(PARAMETERS, "Deadline Milliseconds", 60000);
    start("--count=20", "--speed=100000000", "--capacity=40");
    uint64_t begun = ticks_now();
    assert_int_equal(pipe(results), 0);
    for (int i = 0; i < READERS; i++)
        readers[i] = begin_reader(results[1]);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(end_of(readers[i]), 0);
        assert_int_equal(read(results[0], &one, sizeof one), sizeof one);
        all.reads += one.reads;
        all.moments += one.moments;
        all.different += one.different;
        all.failed += one.failed + one.silent;
    }
    print_message("# %llu reads of %llu moments, %llu different; the herd lived %llu seconds\n",
                  (unsigned long long)all.reads, (unsigned long long)all.moments,
                  (unsigned long long)all.different, (unsigned long long)(ticks_now() - begun));
    assert_int_equal(all.failed, 0);
    assert_int_equal(all.reads, READS);
    assert_int_equal(all.different, 0);
    /* the data changed often: otherwise the comparison would prove nothing */
    assert_true(all.moments > READS / 100);
    close(results[0]), close(results[1]);
    stop();
}

/* ---- a server that is killed during queries ---- */

enum { KILLS = 100 };

/* Starts a process that again and again starts a server and kills it after a moment. */
static pid_t begin_killer(void)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    for (int i = 0; i < KILLS; i++) {
        char path[4096], socket_option[160], state_option[160];
        struct behemoth_line line = {0};
        program(path, sizeof path);
        snprintf(socket_option, sizeof socket_option, "--socket=%s", place);
        snprintf(state_option, sizeof state_option, "--state=%s", herd_file);
        char *argv[] = {
            path, socket_option, state_option, "--count=2000", "--capacity=2500", "--speed=100000",
            NULL};
        pid_t victim = spawn(argv);
        while (!send_request(BEHEMOTH_HERD, NULL, 0, &line))
            usleep(1000);
        usleep((useconds_t)(i * 7919 % 40) * 1000);
        behemoth_line_end(&line);
        kill(victim, SIGKILL);
        waitpid(victim, NULL, 0);
    }
    _exit(0);
}

/* If the server dies during an answer, the provider shows its last complete answer, and no client
 * gets an error. */
static void killed_a_hundred_times_in_the_midst_of_queries(void **state)
{
    (void)state;
    int status = 0;
    struct tally tally = {0};
    lab_set_dword(PARAMETERS, "Cache Milliseconds", 0);
    struct reader reader = opened();
    pid_t killer = begin_killer();
    while (waitpid(killer, &status, WNOHANG) == 0)
        read_once(&reader, &tally);
    print_message("# %llu reads, %llu of them without a server, %llu moments\n",
                  (unsigned long long)tally.reads, (unsigned long long)tally.silent,
                  (unsigned long long)tally.moments);
    assert_int_equal(status, 0);
    assert_int_equal(tally.failed, 0);
    assert_int_equal(tally.different, 0);
    assert_true(tally.silent > 0 && tally.moments >= KILLS / 2);
    assert_string_equal(lab_events("Behemoth", false), "");
    reader_close(&reader);
}

/* ---- ten thousand behemoths for an hour ---- */

struct ancestry {
    uint64_t id, mother;
};

static struct ancestry *born; /* every behemoth that was ever seen, sorted by number */
static size_t born_count;

static void note_newcomers(const struct behemoth_herd *herd)
{
    const struct behemoth *all = behemoth_all(herd);
    uint64_t last = born_count > 0 ? born[born_count - 1].id : 0;
    born = realloc(born, (born_count + herd->count + 1) * sizeof *born);
    assert_non_null(born);
    for (uint32_t i = 0; i < herd->count; i++) {
        if (all[i].id > last)
            born[born_count++] = (struct ancestry){all[i].id, all[i].mother};
    }
}

static int by_id(const void *key, const void *element)
{
    /* the number is the first member of the struct */
    uint64_t id = *(const uint64_t *)key, other = *(const uint64_t *)element;
    return id < other ? -1 : id > other;
}

/* Checks that behemoths whose mother has died have no parent instance; returns how many these
 * are. */
static uint64_t assert_no_dead_parents(const struct behemoth_herd *herd,
                                       const struct reader *reader)
{
    uint64_t orphans = 0;
    const struct behemoth *all = behemoth_all(herd);
    for (uint32_t i = 0; i < herd->count; i++) {
        const struct ancestry *is = bsearch(&all[i].id, born, born_count, sizeof *born, by_id);
        assert_non_null(is);
        if (is->mother == 0 || bsearch(&is->mother, all, herd->count, sizeof *all, by_id))
            continue;
        assert_int_equal(reader->all[i].mother, NO_MOTHER);
        orphans++;
    }
    return orphans;
}

/* Checks that answers are equal for a tenth of a second after the first one. Returns false, without
 * a check, if the machine is too slow. */
static bool assert_kept(struct reader *reader)
{
    static struct reader_behemoth *first;
    usleep(150000);
    int64_t begun = behemoth_now();
    look(reader);
    size_t count = reader->count, bytes = count * sizeof *first;
    uint64_t ticks = summary(reader, BEHEMOTHS_SUMMARY_HERD_TIME);
    first = realloc(first, bytes + 1);
    assert_non_null(first);
    memcpy(first, reader->all, bytes);
    forward(1);
    look(reader);
    if (behemoth_now() - begun >= 90)
        return false;
    assert_int_equal(summary(reader, BEHEMOTHS_SUMMARY_HERD_TIME), ticks);
    assert_int_equal(reader->count, count);
    assert_memory_equal(first, reader->all, bytes);
    return true;
}

static void c79_c87_an_hour_of_ten_thousand_seen_from_both_ends(void **state)
{
    (void)state;
    struct behemoth_line line = {0};
    uint64_t orphans = 0, kept = 0;
    lab_set_dword(PARAMETERS, "Deadline Milliseconds", 60000);
    start("--count=10000", "--capacity=11500", "--speed=0");
    struct reader reader = opened();
    for (int minute = 0; minute < 60; minute++) {
        assert_true(send_request(BEHEMOTH_HERD, NULL, 0, &line));
        note_newcomers(behemoth_herd_of(&line));
        forward(59);
        kept += assert_kept(&reader);
        usleep(150000);
        look(&reader);
        assert_true(send_request(BEHEMOTH_HERD, NULL, 0, &line));
        const struct behemoth_herd *herd = behemoth_herd_of(&line);
        note_newcomers(herd);
        assert_int_equal(herd->ticks, (uint64_t)(minute + 1) * 60);
        assert_same_snapshot(herd, &reader);
        orphans += assert_no_dead_parents(herd, &reader);
    }
    const struct behemoth_herd *herd = behemoth_herd_of(&line);
    print_message("# %u live, %llu born, %llu died, %llu looks at children of dead mothers, "
                  "%llu of 60 times two queries within 90 ms\n",
                  (unsigned)herd->count, (unsigned long long)herd->births,
                  (unsigned long long)herd->deaths, (unsigned long long)orphans,
                  (unsigned long long)kept);
    assert_true(herd->births > 30000 && herd->deaths > 30000 && orphans > 1000);
    assert_in_range(herd->count, 9000, 11500);
    reader_close(&reader);
    behemoth_line_end(&line);
    free(born);
    stop();
}

/* ---- how much processor time it takes ---- */

/* Returns the processor time of a process (user and system, from its stat file) in milliseconds. */
static int64_t processor_ms(pid_t pid)
{
    char path[64], text[1024] = "";
    unsigned long user = 0, kernel = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char *rest = strrchr(text, ')');
    assert_non_null(rest);
    assert_int_equal(
        sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel),
        2);
    return (int64_t)(user + kernel) * 1000 / sysconf(_SC_CLK_TCK);
}

/* A build with sanitizers is slower, so the limits are multiplied by this. */
#ifdef __SANITIZE_ADDRESS__
enum { DEARER = 4 };
#else
enum { DEARER = 1 };
#endif

static int64_t microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Returns the shortest time of several queries: other work of the machine can only make a query
 * longer. */
static int64_t least_query(const char *query, unsigned pause)
{
    enum { SIZE = 8 << 20, TRIES = 40 };
    static BYTE block[SIZE];
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        DWORD size = sizeof block;
        usleep(pause);
        int64_t begun = microseconds();
        assert_int_equal(RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, NULL, block, &size),
                         ERROR_SUCCESS);
        int64_t took = microseconds() - begun;
        least = took < least ? took : least;
        assert_true(size > 500000);
    }
    return least;
}

static void ten_thousand_are_collected_at_once(void **state)
{
    (void)state;
    char query[32];
    lab_set_dword(PARAMETERS, "Deadline Milliseconds", 60000);
    start("--count=10000", "--capacity=11500", NULL);
    struct reader reader = opened();
    look(&reader);
    snprintf(query, sizeof query, "%u %u", (unsigned)(reader.first + BEHEMOTH),
             (unsigned)(reader.first + BEHEMOTHS_SUMMARY));
    int64_t fetched = least_query(query, 110000), kept = least_query(query, 0);
    print_message("# %u behemoths: %lld us when they must be fetched, %lld us when they are kept\n",
                  (unsigned)reader.count, (long long)fetched, (long long)kept);
    assert_in_range(fetched, 1, 25000 * DEARER);
    assert_in_range(kept, 1, 5000 * DEARER);
    reader_close(&reader);
    stop();
}

static void one_query_a_second_costs_the_server_little(void **state)
{
    enum { SECONDS = 30 };
    const int most = 10 * DEARER; /* of processor time per second, in milliseconds: 1 % */
    (void)state;
    start("--count=10000", "--capacity=11500", NULL);
    struct reader reader = opened();
    look(&reader);
    int64_t used = processor_ms(server), begun = behemoth_now();
    for (int i = 0; i < SECONDS; i++) {
        while (behemoth_now() - begun < i * SECOND_MS)
            usleep(10000);
        look(&reader);
    }
    used = processor_ms(server) - used;
    int64_t passed = behemoth_now() - begun;
    print_message("# %u behemoths, %d queries in %.1f s: %lld ms of a processor, %.2f %%\n",
                  (unsigned)reader.count, SECONDS, (double)passed / SECOND_MS, (long long)used,
                  (double)used * 100 / (double)passed);
    assert_true(used <= most * passed / SECOND_MS);
    reader_close(&reader);
    stop();
}

int main(int argc, char **argv)
{
    inside = argc > 1 && strcmp(argv[1], "inside") == 0;
    if (argc > 2) /* the pattern chooses tests by name, such as "ten_*" */
        cmocka_set_test_filter(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(c77_what_is_always_equal_is_never_seen_different, after_each),
        cmocka_unit_test_teardown(killed_a_hundred_times_in_the_midst_of_queries, after_each),
        cmocka_unit_test_teardown(c79_c87_an_hour_of_ten_thousand_seen_from_both_ends, after_each),
        cmocka_unit_test_teardown(ten_thousand_are_collected_at_once, after_each),
        cmocka_unit_test_teardown(one_query_a_second_costs_the_server_little, after_each),
    };
    return cmocka_run_group_tests_name("behemoth-slow", tests, begin, end);
}
