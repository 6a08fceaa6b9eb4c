/* SPDX-License-Identifier: MIT */
/*
 * CPU time of queries, made through RegQueryValueEx as any program makes them, compared with a bare
 * reader of the same files, with ps and, if installed, pminfo; and the share of our own code.
 * Figures are medians in microseconds of CPU time (user + system) of variants that are measured in
 * turns.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tests/temp.h"

static const char help[] =
    "usage: bench-query [PART...] [PROCESSES...]\n\n"
    "CPU time per query in microseconds, medians of variants that take turns.\n\n"
    "parts (all, if none is named):\n"
    "  system     the system objects together and one by one, and a reader of their files\n"
    "  network    Network Interface, the protocols, and a reader of their files\n"
    "  processes  Process and Thread with PROCESSES idle processes (100 1000 5000), a reader of\n"
    "             their files, ps and, if installed, pminfo\n"
    "  replay     the same with copies of the files in memory (1000), to measure our own work\n\n"
    "Run it in a release build: meson devenv -C build-bench bench/bench-query\n";

/* ---- the variants ---- */

static void query_together(void)
{
    bench_query("2 4 86 238 260 700");
}

static void query_network(void)
{
    bench_query("510 546 548 582 638 658 1532 1534 1820");
}

static void query_interfaces(void)
{
    bench_query("510");
}

static void query_tcp(void)
{
    bench_query("638");
}

static void query_system(void)
{
    bench_query("2");
}

static void query_memory(void)
{
    bench_query("4");
}

static void query_cache(void)
{
    bench_query("86");
}

static void query_processor(void)
{
    bench_query("238");
}

static void query_objects(void)
{
    bench_query("260");
}

static void query_paging(void)
{
    bench_query("700");
}

static void query_process(void)
{
    bench_query("230");
}

static void query_threads(void)
{
    bench_query("230 232");
}

static void run_program(char *const argv[])
{
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(126);
        execvp(argv[0], argv);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

static void run_ps(void)
{
    char *argv[] = {"ps", "-eo",
                    "pid,ppid,comm,cputimes,vsz,rss,min_flt,maj_flt,nlwp,pri,lstart,sz", NULL};
    run_program(argv);
}

static void run_pminfo(void)
{
    char *argv[] = {"pminfo", "-f", "-L", "proc.psinfo", NULL};
    run_program(argv);
}

static bool pminfo_is_there(void)
{
    return system("command -v pminfo >/dev/null 2>&1") == 0;
}

/* ---- the parts ---- */

static void system_objects(int unused)
{
    (void)unused;
    bare_root("/");
    struct variant all[] = {
        {.name = "bare reader of the files", .run = bare_system, .repeat = 2000},
        { .name = "system objects, level 1",             .run = query_together,     .repeat = 2000,     .level = 1},
        { .name = "system objects, level 3",             .run = query_together,     .repeat = 2000,     .level = 3},
        { .name = "System alone",               .run = query_system,      .repeat = 500,     .level = 1},
        { .name = "Memory alone",               .run = query_memory,      .repeat = 500,     .level = 1},
        { .name = "Cache alone",                .run = query_cache,      .repeat = 500,     .level = 1},
        { .name = "Processor alone",            .run = query_processor,      .repeat = 500,     .level = 1},
        { .name = "Objects alone",              .run = query_objects,      .repeat = 500,     .level = 1},
        { .name = "Paging File alone",               .run = query_paging,      .repeat = 500,     .level = 1},
    };
    bench_measure(all, COUNT(all), 11);
    printf("system objects together (2 4 86 238 260 700)\n");
    bench_print(all, COUNT(all), &all[0]);
}

static void network(int count)
{
    (void)count;
    bare_root("/");
    struct variant all[] = {
        {.name = "bare reader of the files", .run = bare_network, .repeat = 2000},
        { .name = "network objects, level 1",              .run = query_network,      .repeat = 2000,     .level = 1},
        { .name = "network objects, level 3",              .run = query_network,      .repeat = 2000,     .level = 3},
        { .name = "Network Interface alone",           .run = query_interfaces,       .repeat = 500,     .level = 1},
        { .name = "TCPv4 alone",                  .run = query_tcp,       .repeat = 500,     .level = 1},
    };
    bench_measure(all, COUNT(all), 11);
    printf("network objects together (510 546 548 582 638 658 1532 1534 1820)\n");
    bench_print(all, COUNT(all), &all[0]);
}

static void processes(int count)
{
    int repeat = count > 1000 ? 2 : count > 100 ? 5 : 20;
    struct variant all[] = {
        {.name = "bare reader of the files", .run = bare_processes, .repeat = repeat},
        {                             .name = "Process, level 1",              .run = query_process,      .repeat = repeat,       .level = 1},
        {                             .name = "Process, level 3",              .run = query_process,      .repeat = repeat,       .level = 3},
        {                             .name = "bare reader, with threads",               .run = bare_threads,      .repeat = repeat                },
        {    .name = "Process + Thread",                  .run = query_threads,                             .repeat = repeat,                 .level = 1},
        {       .name = "ps, 12 fields",                  .run = run_ps,                          .repeat = repeat,                 .child = true},
        { .name = "pminfo, proc.psinfo",                  .run = run_pminfo,                          .repeat = repeat,                 .child = true},
    };
    size_t used = pminfo_is_there() ? COUNT(all) : COUNT(all) - 1;
    bare_root("/");
    idle_start(count);
    bench_measure(all, used, count > 1000 ? 7 : 11);
    idle_stop();
    printf("%d idle processes\n", count);
    bench_print(all, used, &all[0]);
}

/* ---- our own share ---- */

static double *live; /* cost of the live query, in shared memory */
static char frozen[64];

static void prepare_replay(void)
{
    live = mmap(NULL, sizeof *live, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(frozen, sizeof frozen, "/dev/shm/openperflib-bench-XXXXXX");
    if (live == MAP_FAILED || !mkdtemp(frozen)) {
        perror("bench: no folder in memory, /dev/shm");
        exit(1);
    }
    frozen_copy(frozen);
}

static void measure_live_system(int rounds)
{
    struct variant all[] = {
        {.run = query_together, .repeat = 500, .level = 1}
    };
    bench_measure(all, COUNT(all), rounds);
    *live = all[0].median;
}

static void measure_live_process(int rounds)
{
    struct variant all[] = {
        {.run = query_process, .repeat = 5, .level = 1}
    };
    bench_measure(all, COUNT(all), rounds);
    *live = all[0].median;
}

/* Prints what a query costs more than the bare reader of the same copied files, as a share of the
 * cost of a query whose files the kernel produces. */
static void measure_work(struct variant *all, int rounds)
{
    bench_measure(all, 3, rounds);
    double bare = all[0].median, checked = all[1].median, unchecked = all[2].median;
    bench_print(all, 3, &all[0]);
    printf(
        "    a live query %.1f us, of it our work %.1f us = %.1f %%, of it the checks (level 1 - "
        "level 3) %.1f us = %.1f %%\n",
        *live, checked - bare, 100 * (checked - bare) / *live, checked - unchecked,
        100 * (checked - unchecked) / *live);
}

static void use_copies(void)
{
    setenv("OPENPERFLIB_SYSROOT", frozen, 1);
    bare_root(frozen);
}

static void measure_frozen_system(int rounds)
{
    struct variant all[] = {
        {.name = "bare reader of copies", .run = bare_system, .repeat = 2000},
        { .name = "system objects, level 1",          .run = query_together,     .repeat = 2000,     .level = 1},
        { .name = "system objects, level 3",          .run = query_together,     .repeat = 2000,     .level = 3},
    };
    use_copies();
    printf("copies of the files in memory: system objects\n");
    measure_work(all, rounds);
}

static void measure_frozen_process(int rounds)
{
    struct variant all[] = {
        {.name = "bare reader of copies", .run = bare_processes, .repeat = 5},
        { .name = "Process, level 1",           .run = query_process,           .repeat = 5,  .level = 1},
        { .name = "Process, level 3",           .run = query_process,           .repeat = 5,  .level = 3},
    };
    use_copies();
    printf("copies of the files in memory: %zu processes\n", bare_process_count());
    measure_work(all, rounds);
}

static void replay(int count)
{
    prepare_replay();
    bench_part(measure_live_system, 21);
    bench_part(measure_frozen_system, 21);
    idle_start(count);
    frozen_copy_processes(frozen);
    bench_part(measure_live_process, 31);
    idle_stop();
    bench_part(measure_frozen_process, 101);
    temp_remove(frozen);
}

/* ---- all together ---- */

static const struct part {
    const char *name;
    void (*run)(int count);
    int usual[4];
} parts[] = {
    {"system",    system_objects, {1}              },
    {"network",   network,        {1}              },
    {"processes", processes,      {100, 1000, 5000}},
    {"replay",    replay,         {1000}           },
};

static bool is_named(const char *name, int argc, char **argv, bool *ret_any)
{
    bool named = false;
    for (int i = 1; i < argc; i++) {
        *ret_any |= atoi(argv[i]) <= 0;
        named |= strcmp(argv[i], name) == 0;
    }
    return named;
}

static void run_part(const struct part *part, int argc, char **argv)
{
    bool any = false, counted = false;
    if (!is_named(part->name, argc, argv, &any) && any)
        return;
    for (int i = 1; i < argc && part->usual[0] > 1; i++)
        if (atoi(argv[i]) > 0) {
            bench_part(part->run, atoi(argv[i]));
            counted = true;
        }
    for (const int *usual = part->usual; !counted && *usual; usual++)
        bench_part(part->run, *usual);
}

static bool understood(const char *word)
{
    for (size_t i = 0; i < COUNT(parts); i++)
        if (strcmp(word, parts[i].name) == 0)
            return true;
    return atoi(word) > 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!understood(argv[i])) {
            bool wants_help = strcmp(argv[i], "--help") == 0;
            fputs(help, wants_help ? stdout : stderr);
            return wants_help ? 0 : 2;
        }
    bench_root_make();
    for (size_t i = 0; i < COUNT(parts); i++)
        run_part(&parts[i], argc, argv);
    bench_root_remove();
    return 0;
}
