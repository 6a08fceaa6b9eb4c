/* SPDX-License-Identifier: MIT */
/*
 * Runs one path through the library in measured(), whose instructions bench/paths counts. What runs
 * before it only makes the state in which the path begins.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pdh.h>
#include <pdhmsg.h>

static const char help[] =
    "usage: bench-paths PATH [FILE]\n"
    "Goes one path, whose instructions bench/paths counts: steady, cold, global, process, pdh,\n"
    "value, german; capture, whose FILE is a .blg; stream, whose FILE is the socket of a server.\n";

static const char *file;

static void demand(long status, const char *what)
{
    if (status) {
        fprintf(stderr, "bench-paths: %s: %08lx\n", what, (unsigned long)status);
        exit(1);
    }
}

static void steady(void)
{
    bench_query("2");
}

static void global(void)
{
    bench_query("Global");
}

static void process(void)
{
    bench_query("230");
}

/* Adds all counters that `path` matches, collects twice, or to the end of a capture, and formats
 * all values. */
static void collect(const char *path, const char *source)
{
    static char paths[1 << 16];
    enum { MOST = 1000 };
    PDH_HCOUNTER counters[MOST];
    PDH_HQUERY query;
    PDH_FMT_COUNTERVALUE value;
    DWORD size = sizeof paths;
    int count = 0;
    demand(PdhExpandWildCardPathA(source, path, paths, &size, 0), path);
    demand(PdhOpenQueryA(source, 0, &query), "PdhOpenQuery");
    for (const char *one = paths; *one && count < MOST; one += strlen(one) + 1)
        demand(PdhAddCounterA(query, one, 0, &counters[count++]), one);
    int values = 0;
    for (int round = 0; (source || round < 2) && PdhCollectQueryData(query) == 0; round++)
        for (int i = 0; i < count; i++)
            values += PdhGetFormattedCounterValue(counters[i], PDH_FMT_DOUBLE, NULL, &value) == 0;
    PdhCloseQuery(query);
    demand(values == 0, "no values");
}

static void pdh(void)
{
    collect("\\Processor(*)\\% Processor Time", NULL);
}

static void value_of(const char *path)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_RAW_COUNTER raw;
    demand(PdhOpenQueryA(NULL, 0, &query), "PdhOpenQuery");
    demand(PdhAddCounterA(query, path, 0, &counter), "PdhAddCounter");
    demand(PdhCollectQueryData(query), "PdhCollectQueryData");
    demand(PdhGetRawCounterValue(counter, NULL, &raw), "PdhGetRawCounterValue");
}

static void value(void)
{
    value_of("\\System\\Processes");
}

static void german(void)
{
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    value_of("\\System\\Prozesse");
}

static void capture(void)
{
    collect("\\*(*)\\*", file);
}

static void stream(void)
{
    static HKEY key;
    static BYTE data[1 << 20];
    if (!key)
        demand(RegConnectRegistryA(file, HKEY_PERFORMANCE_DATA, &key), file);
    for (int i = 0; i < 1000; i++) {
        DWORD size = sizeof data;
        demand(RegQueryValueExA(key, "2", NULL, NULL, data, &size), "a query through the stream");
    }
}

static const struct path {
    const char *name;
    void (*run)(void);
    bool cold; /* counts the first run; otherwise the third */
} paths[] = {
    {"steady",  steady,  false},
    {"cold",    steady,  true },
    {"global",  global,  false},
    {"process", process, false},
    {"pdh",     pdh,     false},
    {"value",   value,   true },
    {"german",  german,  true },
    {"capture", capture, true },
    {"stream",  stream,  true },
};

__attribute__((noinline)) void measured(void (*run)(void));

void measured(void (*run)(void))
{
    run();
    __asm__ volatile(""); /* prevents a tail call: this function must end after run() */
}

int main(int argc, char **argv)
{
    file = argc == 3 ? argv[2] : "";
    for (size_t i = 0; argc >= 2 && i < COUNT(paths); i++)
        if (!strcmp(argv[1], paths[i].name)) {
            for (int round = 0; !paths[i].cold && round < 2; round++)
                paths[i].run();
            measured(paths[i].run);
            return 0;
        }
    bool wants_help = argc == 2 && !strcmp(argv[1], "--help");
    fputs(help, wants_help ? stdout : stderr);
    return wants_help ? 0 : 2;
}
