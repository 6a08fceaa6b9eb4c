/* SPDX-License-Identifier: MIT */
/*
 * The cost that PDH adds to a registry query: adding counters, collecting and formatting them, a
 * wildcard over many processes, the first value of a new program, and the start of typeperf.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pdh.h>

static const char help[] =
    "usage: bench-pdh [PROCESSES]\n\n"
    "CPU time of PDH compared with that of its registry query, medians.\n"
    "PROCESSES: the number of idle processes for the wildcard (5000).\n\n"
    "Run it in a release build: meson devenv -C build-bench bench/bench-pdh\n";

enum { COUNTERS = 1000 };
static PDH_HQUERY query;
static PDH_HCOUNTER counters[COUNTERS];

static void demand(PDH_STATUS status, const char *what)
{
    if (status) {
        fprintf(stderr, "bench: %s failed with %08x\n", what, (unsigned)status);
        exit(1);
    }
}

static const char *path_of(int number)
{
    static const char *const paths[] = {
        "\\Processor(_Total)\\% Processor Time", "\\Processor(0)\\% User Time",
        "\\Processor(0)\\Interrupts/sec", "\\Processor(_Total)\\% Privileged Time"};
    return paths[(size_t)number % COUNT(paths)];
}

static void add_all(void)
{
    demand(PdhOpenQueryA(NULL, 0, &query), "PdhOpenQuery");
    for (int i = 0; i < COUNTERS; i++)
        demand(PdhAddCounterA(query, path_of(i), 0, &counters[i]), path_of(i));
}

/* ---- the variants ---- */

static void query_processor(void)
{
    bench_query("238");
}

static void query_process(void)
{
    bench_query("230");
}

static void collect(void)
{
    demand(PdhCollectQueryData(query), "PdhCollectQueryData");
}

static void format_all(void)
{
    PDH_FMT_COUNTERVALUE value;
    for (int i = 0; i < COUNTERS; i++)
        PdhGetFormattedCounterValue(counters[i], PDH_FMT_DOUBLE, NULL, &value);
}

static void collect_and_format(void)
{
    collect();
    format_all();
}

static void collect_wildcard(void)
{
    static char storage[4 << 20];
    DWORD size = sizeof storage, count;
    collect();
    demand(PdhGetFormattedCounterArrayA(counters[0], PDH_FMT_DOUBLE, &size, &count,
                                        (PPDH_FMT_COUNTERVALUE_ITEM_A)storage),
           "PdhGetFormattedCounterArray");
}

/* ---- the parts ---- */

static void adding(int unused)
{
    (void)unused;
    bench_query("238");
    double start = bench_own_us();
    add_all();
    bench_verdict("adding 1,000 counters", (bench_own_us() - start) / 1000, 20, "ms");
    PdhCloseQuery(query);
}

static void collecting(int unused)
{
    (void)unused;
    add_all();
    collect();
    struct variant all[] = {
        {.name = "the registry query alone",       .run = query_processor,    .repeat = 100},
        {.name = "collecting 1,000 counters",      .run = collect,            .repeat = 100},
        {.name = "collecting and formatting them", .run = collect_and_format, .repeat = 100},
    };
    bench_measure(all, COUNT(all), 51);
    bench_print(all, COUNT(all), &all[0]);
    bench_verdict("collecting and formatting a counter",
                  (all[2].median - all[0].median) * 1000 / COUNTERS, 200, "ns");
    PdhCloseQuery(query);
}

static void wildcard(int processes)
{
    idle_start(processes);
    demand(PdhOpenQueryA(NULL, 0, &query), "PdhOpenQuery");
    demand(PdhAddCounterA(query, "\\Process(*)\\% Processor Time", 0, &counters[0]),
           "PdhAddCounter");
    collect();
    struct variant all[] = {
        {.name = "Process alone",           .run = query_process,    .repeat = 1},
        {.name = "a wildcard over Process", .run = collect_wildcard, .repeat = 1},
    };
    bench_measure(all, COUNT(all), 21);
    idle_stop();
    bench_print(all, COUNT(all), &all[0]);
    bench_verdict("a wildcard beside the query", all[1].median / all[0].median, 3, "times");
    PdhCloseQuery(query);
}

/* Run in a process of its own, so that titles, definitions and the provider are loaded for the
 * first time. */
static void first_value(int unused)
{
    PDH_FMT_COUNTERVALUE value;
    (void)unused;
    double start = bench_wall_us(), cpu = bench_own_us();
    demand(PdhOpenQueryA(NULL, 0, &query), "PdhOpenQuery");
    demand(PdhAddCounterA(query, path_of(0), 0, &counters[0]), "PdhAddCounter");
    collect();
    usleep(1000);
    collect();
    demand(PdhGetFormattedCounterValue(counters[0], PDH_FMT_DOUBLE, NULL, &value), "the value");
    bench_verdict("the first value of a program, less 1 ms of waiting",
                  (bench_wall_us() - start) / 1000 - 1, 15, "ms");
    bench_verdict("the same, its CPU time", (bench_own_us() - cpu) / 1000, 15, "ms");
}

static int by_number(const void *left, const void *right)
{
    const double *l = left, *r = right;
    return *l < *r ? -1 : *l > *r;
}

/* Measures typeperf from its start to the line with the paths, which it prints before the first
 * interval, when titles, paths and the first sample have been read. The shell that starts it is
 * included. */
static void starting(int unused)
{
    enum { RUNS = 9 };
    double times[RUNS];
    char line[512];
    (void)unused;
    for (int i = 0; i < RUNS; i++) {
        double start = bench_wall_us();
        FILE *pipe = popen("exec typeperf '\\Processor(_Total)\\% Processor Time' -sc 1", "r");
        if (!pipe || !fgets(line, sizeof line, pipe) || !fgets(line, sizeof line, pipe)) {
            fprintf(stderr, "bench: typeperf does not start\n");
            exit(1);
        }
        times[i] = bench_wall_us() - start;
        while (fgets(line, sizeof line, pipe))
            ;
        pclose(pipe);
    }
    qsort(times, RUNS, sizeof *times, by_number);
    bench_verdict("starting typeperf, median", times[RUNS / 2] / 1000, 20, "ms");
    bench_verdict("starting typeperf, fastest", times[0] / 1000, 20, "ms");
}

int main(int argc, char **argv)
{
    int processes = argc > 1 ? atoi(argv[1]) : 5000;
    if (argc > 2 || processes <= 0) {
        bool wants_help = argc == 2 && strcmp(argv[1], "--help") == 0;
        fputs(help, wants_help ? stdout : stderr);
        return wants_help ? 0 : 2;
    }
    bench_root_make();
    bench_part(first_value, 0);
    bench_part(starting, 0);
    bench_part(adding, 0);
    bench_part(collecting, 0);
    bench_part(wildcard, processes);
    bench_root_remove();
    return 0;
}
