/* SPDX-License-Identifier: MIT */
/*
 * The cost of running third-party providers in processes of their own: one call, the first query of
 * many providers, a provider that hangs for ever, and a query by index among many registered
 * providers. Each part calls RegQueryValueEx in its own process with its own root folder.
 */
#include "bench.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../tests/temp.h"
#include <openperflib/block.h>
#include <winperf.h>

static const char help[] =
    "usage: bench-isolation [PART...]\n\n"
    "The cost of providers in helper processes, each figure with its target.\n\n"
    "parts (all, if none is named):\n"
    "  call        one call of an isolated provider, and of the same one in-process\n"
    "  cold        the first Global query with 60 isolated providers\n"
    "  hanging     Global with a provider that never returns\n"
    "  registered  a query by index among 1, 100 and 1,000 registered providers\n\n"
    "Run it in a release build: meson devenv -C build-bench bench/bench-isolation\n";

enum {
    FIRST_OBJECT = 30000,
    CALLS = 5000,
    GUESTS = 60,
    COLD_ROUNDS = 21,
    HANGING_ROUNDS = 7,
    INDEX_ROUNDS = 9
};

/* ---- guests ---- */

static char place[128]; /* folder registry.d in the root of this part */

static void begin_root(void)
{
    static char parent[64];
    if (!*parent)
        snprintf(parent, sizeof parent, "%s", getenv("OPENPERFLIB_ROOT"));
    char root[96], machine[112];
    static int number;
    snprintf(root, sizeof root, "%s/%d-%d", parent, (int)getpid(), number++);
    snprintf(machine, sizeof machine, "%s/machine", root);
    snprintf(place, sizeof place, "%s/registry.d", machine);
    if (mkdir(root, 0700) || mkdir(machine, 0700) || mkdir(place, 0700)) {
        perror("bench: the root cannot be made");
        exit(1);
    }
    setenv("OPENPERFLIB_ROOT", root, 1);
}

/* Registers the provider `visitor` of tests/isolation as service number `guest`, with one object:
 * FIRST_OBJECT + 10 * guest. */
static void register_guest(int guest, const char *collect, bool isolated)
{
    char path[192];
    int object = FIRST_OBJECT + 10 * guest;
    snprintf(path, sizeof path, "%s/guest%04d.reg", place, guest);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file,
            "Windows Registry Editor Version 5.00\n\n"
            "[HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\Guest%d\\Linkage]\n"
            "\"Export\"=hex(7):",
            guest);
    char digits[16];
    snprintf(digits, sizeof digits, "%d", object);
    for (const char *digit = digits; *digit; digit++)
        fprintf(file, "%02x,00,", *digit);
    fprintf(file,
            "00,00,00,00\n"
            "[HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\Guest%d\\Performance]\n"
            "\"Library\"=\"" BENCH_VISITOR "\"\n\"Open\"=\"visitor_open\"\n\"Collect\"=\"%s\"\n"
            "\"Close\"=\"visitor_close\"\n\"Object List\"=\"%d\"\n\"Isolation\"=dword:%d\n",
            guest, collect, object, isolated);
    fclose(file);
}

/* ---- queries ---- */

static unsigned char data[16 << 20];

static double run_query(const char *query)
{
    DWORD size = sizeof data;
    double start = bench_wall_us();
    LSTATUS status = RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, NULL, data, &size);
    double took = bench_wall_us() - start;
    if (status) {
        fprintf(stderr, "bench: the query \"%s\" failed with %d\n", query, (int)status);
        exit(1);
    }
    return took;
}

/* Returns the value of the first counter of the guest's object: the pid of the process in which the
 * guest runs. 0: the object is missing. */
static pid_t answered_by(int guest)
{
    opl_block block;
    opl_object_view object;
    opl_counter_view counter = {0};
    opl_instance_view single = {0};
    uint64_t value = 0;
    if (opl_block_init(&block, data, sizeof data) != OPL_BLOCK_GOOD ||
        !opl_block_find_object(&block, (DWORD)(FIRST_OBJECT + 10 * guest), &object) ||
        !opl_object_next_counter(&block, &object, &counter) ||
        !opl_object_next_instance(&block, &object, &single))
        return 0;
    opl_counter_number(&block, &single, &counter, &value);
    return (pid_t)value;
}

static void must_be_there(int guest, bool isolated)
{
    pid_t process = answered_by(guest);
    if (process && (process != getpid()) == isolated)
        return;
    fprintf(stderr, "bench: guest %d %s\n", guest,
            process ? "runs in the wrong process" : "does not answer");
    exit(1);
}

static double *results; /* in memory shared with the processes of the parts */

/* ---- a call ---- */

static double process_us(pid_t process)
{
    clockid_t clock;
    struct timespec used = {0};
    if (clock_getcpuclockid(process, &clock) || clock_gettime(clock, &used))
        return 0;
    return (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
}

/* Stores for one call, in microseconds: results[0] wall time, results[1] CPU time of both
 * processes. */
static void measure_calls(bool isolated)
{
    static double times[CALLS];
    begin_root();
    register_guest(0, "visitor_collect", isolated);
    for (int i = 0; i < 500; i++)
        run_query("30000");
    must_be_there(0, isolated);
    pid_t helper = isolated ? answered_by(0) : 0;
    double own = bench_own_us(), its = helper ? process_us(helper) : 0;
    for (int i = 0; i < CALLS; i++)
        times[i] = run_query("30000");
    results[1] = (bench_own_us() - own + (helper ? process_us(helper) - its : 0)) / CALLS;
    results[0] = bench_median(times, CALLS);
}

/* Restricts this process and its helper processes, which inherit the restriction, to one processor,
 * so that they take turns. */
static void pin(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one)) {
        perror("bench: sched_setaffinity");
        exit(1);
    }
}

static void calls_isolated(int pinned)
{
    if (pinned)
        pin();
    measure_calls(true);
}

static void calls_inside(int unused)
{
    (void)unused;
    measure_calls(false);
}

static void print_call(const char *how, double at_most, double inside_wall, double inside_cpu)
{
    char what[96];
    snprintf(what, sizeof what, "call, %s: wall above in-process (%.2f - %.2f us)", how, results[0],
             inside_wall);
    bench_verdict(what, results[0] - inside_wall, at_most, "us");
    printf("%-62s %9.2f us\n", "      CPU of both processes above in-process",
           results[1] - inside_cpu);
}

static void part_call(void)
{
    bench_part(calls_inside, 0);
    double wall = results[0], cpu = results[1];
    bench_part(calls_isolated, 1);
    print_call("pinned to one CPU", 10, wall, cpu);
    bench_part(calls_isolated, 0);
    print_call("median, not pinned", 60, wall, cpu);
}

/* ---- cold ---- */

static char cold_roots[2][96];

/* Registers the guests, then waits: the library reads a file more than once if it was written just
 * before, but a query usually finds no such file. */
static void prepare_cold(void)
{
    for (int isolated = 0; isolated < 2; isolated++) {
        begin_root();
        snprintf(cold_roots[isolated], sizeof cold_roots[isolated], "%s",
                 getenv("OPENPERFLIB_ROOT"));
        for (int i = 0; i < GUESTS; i++)
            register_guest(i, "visitor_collect", isolated);
    }
    sleep(3);
}

/* Stores in milliseconds: results[0] wall time, results[1] CPU time of program and helpers. The
 * keeper process starts the helpers, so they are not children of this process. */
static void cold_global(int isolated)
{
    setenv("OPENPERFLIB_ROOT", cold_roots[isolated], 1);
    double own = bench_own_us();
    results[0] = run_query("Global") / 1000;
    results[1] = (bench_own_us() - own) / 1000;
    for (int i = 0; i < GUESTS; i++) {
        must_be_there(i, isolated);
        results[1] += isolated ? process_us(answered_by(i)) / 1000 : 0;
    }
}

static void part_cold(void)
{
    double times[2][COLD_ROUNDS], cpu[2][COLD_ROUNDS];
    prepare_cold();
    for (int round = 0; round < COLD_ROUNDS; round++)
        for (int isolated = 0; isolated < 2; isolated++) {
            bench_part(cold_global, isolated);
            times[isolated][round] = results[0];
            cpu[isolated][round] = results[1];
        }
    double inside = bench_median(times[0], COLD_ROUNDS);
    double isolated = bench_median(times[1], COLD_ROUNDS);
    char what[96];
    snprintf(what, sizeof what, "cold Global, 60 isolated (best %.1f ms, in-process %.1f ms)",
             times[1][0], inside);
    bench_verdict(what, isolated, 60, "ms");
    printf("      CPU of program and helpers %.1f ms, in-process %.1f ms\n",
           bench_median(cpu[1], COLD_ROUNDS), bench_median(cpu[0], COLD_ROUNDS));
}

/* ---- hanging ---- */

/* Stores in milliseconds: results[0] the time of the first Global, results[1] the median of the
 * later ones. */
static void global_with(int hanging)
{
    static double times[200];
    begin_root();
    for (int i = 0; i < 5; i++)
        register_guest(i, "visitor_collect", true);
    if (hanging)
        register_guest(5, "visitor_hang", true);
    results[0] = run_query("Global") / 1000;
    for (size_t i = 0; i < COUNT(times); i++)
        times[i] = run_query("Global") / 1000;
    must_be_there(4, true);
    results[1] = bench_median(times, COUNT(times));
}

static void part_hanging(void)
{
    double first[2][HANGING_ROUNDS], later[2][HANGING_ROUNDS];
    for (int round = 0; round < HANGING_ROUNDS; round++)
        for (int hanging = 0; hanging < 2; hanging++) {
            bench_part(global_with, hanging);
            first[hanging][round] = results[0];
            later[hanging][round] = results[1];
        }
    double without = bench_median(later[0], HANGING_ROUNDS);
    char what[96];
    bench_verdict("first Global with one that hangs: within its deadline and 50 ms",
                  bench_median(first[1], HANGING_ROUNDS) - bench_median(first[0], HANGING_ROUNDS),
                  1050, "ms");
    snprintf(what, sizeof what, "later ones above those without it (%.2f ms)", without);
    bench_verdict(what, bench_median(later[1], HANGING_ROUNDS) - without, 1, "ms");
}

/* ---- registered ---- */

static void query_among(int registered)
{
    static double times[CALLS];
    pin();
    begin_root();
    for (int i = 0; i < registered; i++)
        register_guest(i, "visitor_collect", true);
    for (int i = 0; i < 500; i++)
        run_query("30000");
    must_be_there(0, true);
    for (int i = 0; i < CALLS; i++)
        times[i] = run_query("30000");
    results[0] = bench_median(times, CALLS);
}

/* Measures several processes for each number of providers, in turns, and compares the fastest ones:
 * differences between processes must not count. */
static void part_registered(void)
{
    static const int counts[] = {1, 100, 1000};
    double times[COUNT(counts)][INDEX_ROUNDS], medians[COUNT(counts)];
    for (int round = 0; round < INDEX_ROUNDS; round++)
        for (size_t i = 0; i < COUNT(counts); i++) {
            bench_part(query_among, counts[i]);
            times[i][round] = results[0];
        }
    for (size_t i = 0; i < COUNT(counts); i++) {
        bench_median(times[i], INDEX_ROUNDS); /* sorts them */
        medians[i] = times[i][0];
    }
    for (size_t i = 1; i < COUNT(counts); i++) {
        char what[96];
        snprintf(what, sizeof what, "by index among %d (%.2f us) above one (%.2f us)", counts[i],
                 medians[i], medians[0]);
        bench_verdict(what, 100 * (medians[i] / medians[0] - 1), 10, "%");
    }
}

/* ---- all together ---- */

static const struct part {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"call",       part_call      },
    {"cold",       part_cold      },
    {"hanging",    part_hanging   },
    {"registered", part_registered},
};

static const struct part *part_named(const char *name)
{
    for (size_t i = 0; i < COUNT(parts); i++)
        if (strcmp(parts[i].name, name) == 0)
            return &parts[i];
    return NULL;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!part_named(argv[i])) {
            bool wants_help = strcmp(argv[i], "--help") == 0;
            fputs(help, wants_help ? stdout : stderr);
            return wants_help ? 0 : 2;
        }
    results = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (results == MAP_FAILED)
        return 1;
    bench_root_make();
    for (int i = 1; i < argc; i++)
        part_named(argv[i])->run();
    for (size_t i = 0; argc == 1 && i < COUNT(parts); i++)
        parts[i].run();
    bench_root_remove();
    return 0;
}
