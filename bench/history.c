/* SPDX-License-Identifier: MIT */
/*
 * How fast the past of a counter comes from the captures of a set: opening it, the line of means
 * over all of it, all its samples, and all samples of some single hours, in processor time, which a
 * busy machine does not change. To make 14 days:
 *
 *   export OPENPERFLIB_ROOT=/var/tmp/history && mkdir -p $OPENPERFLIB_ROOT/captures/base
 *   build-release/tests/log/make-set $OPENPERFLIB_ROOT/captures/base \
 *       $(($(date +%s) / 86400 * 86400)) 14 200 zst
 *   build-release/bench/bench-history
 */
#include <openperflib/capture.h>
#include <openperflib/unstable.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUCKETS = 600 };
static const int64_t hour = INT64_C(36000000000);

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

struct seen {
    size_t count;
    int64_t first, last;
};

static bool found(void *context, const char *instance, int64_t before, int64_t time, double value)
{
    struct seen *seen = context;
    (void)instance;
    (void)before;
    (void)value;
    seen->first = seen->count++ && seen->first < time ? seen->first : time;
    seen->last = seen->last > time ? seen->last : time;
    return true;
}

static struct seen measure(opl_history *history, const char *what, const char *path, int64_t from,
                           int64_t to, int64_t step)
{
    struct seen seen = {0};
    double start = now_ms();
    int32_t status = opl_history_read(history, path, from, to, step, found, &seen);
    printf("%-52s %-10s %8zu values %8.1f ms%s\n", path, what, seen.count, now_ms() - start,
           status ? "  failed" : "");
    return seen;
}

static void measure_all(opl_history *history, const char *path)
{
    struct seen all = measure(history, "few", path, 0, INT64_MAX / 2, hour * 24);
    measure(history, "means", path, all.first, all.last, (all.last - all.first) / BUCKETS);
    measure(history, "bands", path, all.first, all.last, 0);
    for (int i = 1; i < 4; i++) {
        int64_t from = all.first + (all.last - all.first) / 4 * i;
        measure(history, "an hour", path, from, from + hour, 0);
    }
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {
        "\\Memory\\Available Bytes", "\\Processor(_Total)\\% User Time",
        "\\Process V2(worker:150)\\% Processor Time", "\\Process V2(*)\\% Processor Time"};
    const char *set = argc > 1 ? argv[1] : "base";
    double start = now_ms();
    if (!strcmp(set, "--help")) {
        puts("bench-history [SET [PATH...]]: how fast the past of counters is read from a set");
        return EXIT_SUCCESS;
    }
    opl_history *history = opl_history_open(set);
    if (!history) {
        fprintf(stderr, "bench-history: %s\n", opl_capture_problem());
        return EXIT_FAILURE;
    }
    printf("%-52s %-10s %24.1f ms\n", set, "opened", now_ms() - start);
    for (int i = 2; i < argc; i++)
        measure_all(history, argv[i]);
    for (size_t i = 0; argc < 3 && i < sizeof usual / sizeof *usual; i++)
        measure_all(history, usual[i]);
    printf("%s", opl_history_lost(history));
    opl_history_close(history);
    return EXIT_SUCCESS;
}
