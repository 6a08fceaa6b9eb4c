/* SPDX-License-Identifier: MIT */
/*
 * The cost of the objects compared with that of other programs which report the same facts. All are
 * measured in turns in one run, so that the ratios are right on a busy machine. Only CPU time
 * counts; for programs the cost of starting is subtracted. Process and Thread are measured twice:
 * read from the kernel's records (BPF) and from /proc.
 */
#include "peers.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: bench-objects [PART...]\n\n"
    "CPU time of the objects compared with other programs, medians of variants that take turns;\n"
    "for programs without the cost of their start, and with that of their servers, which run on\n"
    "127.0.0.1 meanwhile. bench/objects-setup gets the programs; missing ones are left out. Run\n"
    "openperflib-bpf pin before: without it the records are read from /proc, too.\n\n"
    "parts (all, if none is named):\n"
    "  process  Process with 1,000 idle processes more\n"
    "  thread   Process and Thread with 5,000 processes, 450 of which have 9 threads\n"
    "  system   System, Memory, Processor, disks and network together\n"
    "  global   a Global query with 100 processes more\n\n"
    "Run it in a release build: meson devenv -C build-bench bench/bench-objects\n";

/* ---- our queries ---- */

static void use_records(DWORD setting)
{
    static DWORD now = 2;
    if (now != setting)
        bench_set_switch("Kernel Records", setting);
    now = setting;
}

static void process_records(void)
{
    use_records(1);
    bench_query("230");
}

static void process_files(void)
{
    use_records(0);
    bench_query("230");
}

static void thread_records(void)
{
    use_records(1);
    bench_query("230 232");
}

static void thread_files(void)
{
    use_records(0);
    bench_query("230 232");
}

static void system_together(void)
{
    bench_query("2 4 238 234 510");
}

static void global_records(void)
{
    use_records(1);
    bench_query("Global");
}

static void global_files(void)
{
    use_records(0);
    bench_query("Global");
}

/* Reads the kernel's records without using them. */
static void bare_records(const char *name)
{
    static char text[1 << 16];
    char path[64];
    snprintf(path, sizeof path, "/sys/fs/bpf/openperflib/%s", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got = 1; fd >= 0 && got != 0;)
        got = read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
}

static void bare_process_records(void)
{
    bare_records("processes");
}

static void bare_thread_records(void)
{
    bare_records("threads");
}

/* ---- other programs ---- */

/* Measures our variants, then each of the named programs, and prints these as a multiple of the
 * first variant. */
static void compare(struct variant *own, size_t count, const char *const *names, int rounds)
{
    bench_measure(own, count, rounds);
    bench_print(own, count, &own[0]);
    for (; *names; names++)
        peer_compare(*names, own, rounds / 2 + 1);
    server_stop();
}

/* ---- processes with threads ---- */

static void *wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

enum { THREADED = 450, THREADS_MORE = 8 };
static pid_t threaded[THREADED];

static void threaded_start(void)
{
    pthread_t thread;
    for (int i = 0; i < THREADED; i++) {
        threaded[i] = fork();
        if (threaded[i] != 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int j = 0; j < THREADS_MORE; j++)
            pthread_create(&thread, NULL, wait_for_ever, NULL);
        wait_for_ever(NULL);
    }
}

static void threaded_stop(void)
{
    for (int i = 0; i < THREADED; i++)
        kill(threaded[i], SIGKILL);
    for (int i = 0; i < THREADED; i++)
        waitpid(threaded[i], NULL, 0);
}

/* ---- the parts ---- */

static void part_process(int unused)
{
    (void)unused;
    static const char *const names[] = {"ps, 12 fields",
                                        "top -bn1",
                                        "psutil, 11 attributes",
                                        "pidstat -urd",
                                        "PCP: pminfo -L proc.psinfo proc.io",
                                        "PCP: libpcp alone, 16 metrics",
                                        "PCP: libpcp and pmcd, 16 metrics",
                                        "node_exporter, process totals",
                                        NULL};
    struct variant own[] = {
        {.name = "Process, records",           .run = process_records,      .repeat = 20},
        {.name = "Process, /proc",             .run = process_files,        .repeat = 3 },
        {.name = "bare reader of the files",   .run = bare_processes,       .repeat = 3 },
        {.name = "bare reader of the records", .run = bare_process_records, .repeat = 20},
    };
    bare_root("/");
    idle_start(1000);
    double processes = (double)bare_process_count();
    printf("Process, %.0f processes\n", processes);
    compare(own, COUNT(own), names, 11);
    idle_stop();
    bench_verdict("a process by records, CPU", own[0].median / processes, 1, "us");
    bench_verdict("by /proc, against a bare reader", own[1].median / own[2].median, 1.15, "x");
}

static void part_thread(int unused)
{
    (void)unused;
    static const char *const names[] = {"ps -eL", NULL};
    struct variant own[] = {
        {.name = "Process + Thread, records",  .run = thread_records,      .repeat = 10},
        {.name = "Process + Thread, /proc",    .run = thread_files,        .repeat = 1 },
        {.name = "bare reader of the records", .run = bare_thread_records, .repeat = 10},
    };
    bare_root("/");
    idle_start(4550);
    threaded_start();
    printf("Process + Thread, %zu processes\n", bare_process_count());
    compare(own, COUNT(own), names, 5);
    threaded_stop();
    idle_stop();
    bench_verdict("all by records, CPU", own[0].median / 1000, 10, "ms");
}

static void part_system(int unused)
{
    (void)unused;
    static const char *const names[] = {"vmstat",
                                        "psutil, 6 calls",
                                        "PCP: libpcp alone, 40 metrics",
                                        "PCP: libpcp and pmcd, 40 metrics",
                                        "node_exporter, 7 collectors",
                                        "node_exporter, all its collectors",
                                        NULL};
    struct variant own[] = {
        {.name = "system, disks, network", .run = system_together, .repeat = 500}
    };
    printf("System, Memory, Processor, PhysicalDisk, Network Interface together\n");
    compare(own, COUNT(own), names, 21);
    bench_verdict("together, CPU", own[0].median, 80, "us");
}

static void part_global(int unused)
{
    (void)unused;
    static const char *const none[] = {NULL};
    struct variant own[] = {
        {.name = "Global, records", .run = global_records, .repeat = 20},
        {.name = "Global, /proc",   .run = global_files,   .repeat = 5 },
    };
    bare_root("/");
    idle_start(100);
    printf("Global, %zu processes, 100 of them idle ones more\n", bare_process_count());
    compare(own, COUNT(own), none, 11);
    idle_stop();
    bench_verdict("Global by records, CPU", own[0].median / 1000, 0.6, "ms");
    bench_verdict("Global by /proc, CPU", own[1].median / 1000, 7, "ms");
}

static const struct part {
    const char *name;
    void (*run)(int unused);
} parts[] = {
    {"process", part_process},
    {"thread",  part_thread },
    {"system",  part_system },
    {"global",  part_global },
};

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 1;
}

static bool understood(const char *word)
{
    for (size_t i = 0; i < COUNT(parts); i++)
        if (strcmp(word, parts[i].name) == 0)
            return true;
    return false;
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
        if (is_wanted(parts[i].name, argc, argv))
            bench_part(parts[i].run, 0);
    bench_root_remove();
    return 0;
}
