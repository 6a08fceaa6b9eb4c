/* SPDX-License-Identifier: MIT */
/*
 * What recording costs in addition to the query: one process collects a query, and collects the
 * same query and writes it to a BLG, in turns, so that the ratio is right on a busy machine.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pdh.h>
#include <pdhmsg.h>

static const char help[] =
    "usage: bench-recording PATH...\n"
    "The processor time of a sample of these counters, such as '\\Processor(*)\\*', without and\n"
    "with writing it to a BLG in the present folder, and its bytes. bench/captures runs it.\n";

enum { ROUNDS = 41, REPEAT = 5, AT_MOST_PERCENT = 15 };
static const char file[] = "bench-recording.blg";
static PDH_HQUERY query;
static PDH_HLOG written;

static void demand(PDH_STATUS status, const char *what)
{
    if (status) {
        fprintf(stderr, "bench-recording: %s: %08lx\n", what, (unsigned long)status);
        exit(1);
    }
}

static void collect(void)
{
    demand(PdhCollectQueryData(query), "PdhCollectQueryData");
}

static void record(void)
{
    demand(PdhUpdateLogA(written, NULL), "PdhUpdateLog");
}

/* Adds the counters that a path matches; instances stay wildcards. Prints a path that this machine
 * does not have. */
static void add(const char *path)
{
    static char paths[1 << 16];
    DWORD size = sizeof paths;
    PDH_STATUS status = PdhExpandWildCardPathA(NULL, path, paths, &size, PDH_NOEXPANDINSTANCES);
    if ((DWORD)status == PDH_CSTATUS_NO_OBJECT) {
        printf("not here: %s\n", path);
        return;
    }
    demand(status, path);
    for (const char *one = paths; *one; one += strlen(one) + 1) {
        PDH_HCOUNTER counter;
        demand(PdhAddCounterA(query, one, 0, &counter), one);
    }
}

static LONGLONG bytes(void)
{
    LONGLONG size = 0;
    demand(PdhGetLogFileSize(written, &size), "PdhGetLogFileSize");
    return size;
}

int main(int argc, char **argv)
{
    struct variant variants[] = {
        {.name = "the query",                    .run = collect, .repeat = REPEAT},
        {.name = "the query, written to a .blg", .run = record,  .repeat = REPEAT},
    };
    DWORD type = PDH_LOG_TYPE_BINARY;
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        fputs(help, argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    demand(PdhOpenQueryA(NULL, 0, &query), "PdhOpenQuery");
    for (int i = 1; i < argc; i++)
        add(argv[i]);
    demand(PdhOpenLogA(file, PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_ALWAYS, &type, query, 0, NULL,
                       &written),
           "PdhOpenLog");
    record();
    LONGLONG before = bytes();
    bench_measure(variants, COUNT(variants), ROUNDS);
    bench_print(variants, COUNT(variants), &variants[0]);
    printf("a sample: %lld bytes\n", (long long)(bytes() - before) / (ROUNDS * REPEAT));
    demand(PdhCloseLog(written, 0), "PdhCloseLog");
    unlink(file);
    bench_verdict("writing, beside the query", (variants[1].median / variants[0].median - 1) * 100,
                  AT_MOST_PERCENT, "%");
    return 0;
}
