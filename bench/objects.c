/* SPDX-License-Identifier: MIT */
/*
 * What the objects cost beside what other programs cost for the same facts: all take turns in one
 * run, so that ratios hold on a noisy machine. CPU time; of programs, less what their mere start
 * costs. Process and Thread by the kernel's records and by /proc.
 */
#include "bench.h"

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
    "CPU time of the objects beside other programs, medians of variants that take turns; of\n"
    "programs, less what their start costs. bench/objects-setup installs them; who is missing is\n"
    "left out. Run openperflib-bpf pin before: without it the records are /proc too.\n\n"
    "parts (all, if none is named):\n"
    "  process  Process with 1,000 idle processes more\n"
    "  thread   Process and Thread with 5,000 processes, 450 of which have 9 threads\n"
    "  system   System, Memory, Processor, disks and network together\n"
    "  global   a Global query with 100 processes more\n\n"
    "Run it in a release build: meson devenv -C build-bench bench/bench-objects\n";

/* ---- our queries ---- */

static void use_records(DWORD wish)
{
    static DWORD now = 2;
    if (now != wish)
        bench_set_switch("Kernel Records", wish);
    now = wish;
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

/* ---- other programs ---- */

#define PSUTIL_NAMES                                                                               \
    "'pid','ppid','name','cpu_times','memory_info','io_counters','num_fds','num_threads','nice',"  \
    "'create_time','num_ctx_switches'"

static const struct peer {
    const char *name, *command, *start; /* start: what it costs to do nothing */
} peers[] = {
    {"ps, 12 fields",              "ps -eo pid,ppid,comm,cputimes,vsz,rss,min_flt,maj_flt,nlwp,pri,lstart,sz",
     "ps --version"                                                                                                                                 },
    {"ps -eL",                     "ps -eL",                                                                   "ps --version"                       },
    {"top -bn1",                   "top -bn1",                                                                 "top -v"                             },
    {"psutil, 11 attributes",
     "/usr/bin/python3 -c \"import psutil; [p.info for p in psutil.process_iter([" PSUTIL_NAMES
     "])]\"",                                                                                                  "/usr/bin/python3 -c 'import psutil'"},
    {"pidstat -urd",               "pidstat -urd -p ALL",                                                      "pidstat -V"                         },
    {"pminfo proc.psinfo proc.io", "pminfo -L -f proc.psinfo proc.io",                                         "pminfo --version"                   },
    {"vmstat",                     "vmstat",                                                                   "vmstat -V"                          },
};

static void run_command(const char *command)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(126);
        char line[1024];
        snprintf(line, sizeof line, "exec %s", command);
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

static const struct peer *running;
static void run_peer(void)
{
    run_command(running->command);
}

static void run_start(void)
{
    run_command(running->start);
}

static bool is_there(const struct peer *peer)
{
    char line[1024];
    snprintf(line, sizeof line, "%s >/dev/null 2>&1", peer->start);
    return system(line) == 0;
}

static double children_us(void (*run)(void))
{
    double before = bench_children_us();
    run();
    return bench_children_us() - before;
}

/* The peer's median, in turns with ours. */
static double peer_us(const struct peer *peer, const struct variant *own, int rounds)
{
    double with[BENCH_ROUNDS], without[BENCH_ROUNDS];
    running = peer;
    for (int i = 0; i < rounds; i++) {
        own->run();
        with[i] = children_us(run_peer);
        without[i] = children_us(run_start);
    }
    return bench_median(with, rounds) - bench_median(without, rounds);
}

/* Ours, then each of the peers named, as a multiple of our first. */
static void compare(struct variant *own, size_t count, const char *const *names, int rounds)
{
    bench_measure(own, count, rounds);
    bench_print(own, count, &own[0]);
    double ours = own[0].median;
    for (; *names; names++)
        for (size_t i = 0; i < COUNT(peers); i++) {
            if (strcmp(peers[i].name, *names) != 0)
                continue;
            if (!is_there(&peers[i])) {
                printf("  %-34s is not installed\n", *names);
                continue;
            }
            double us = peer_us(&peers[i], own, rounds / 2 + 1);
            printf("  %-34s %12.1f us   %6.2f x %s\n", *names, us, us / ours, own[0].name);
        }
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
                                        "pminfo proc.psinfo proc.io",
                                        NULL};
    struct variant own[] = {
        {.name = "Process, records",         .run = process_records, .repeat = 20},
        {.name = "Process, /proc",           .run = process_files,   .repeat = 3 },
        {.name = "bare reader of the files", .run = bare_processes,  .repeat = 3 },
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
        {.name = "Process + Thread, records", .run = thread_records, .repeat = 5},
        {.name = "Process + Thread, /proc",   .run = thread_files,   .repeat = 1},
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
    static const char *const names[] = {"vmstat", NULL};
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
    idle_start(100);
    printf("Global, 100 idle processes more\n");
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
            bool asked = strcmp(argv[i], "--help") == 0;
            fputs(help, asked ? stdout : stderr);
            return asked ? 0 : 2;
        }
    bench_root_make();
    for (size_t i = 0; i < COUNT(parts); i++)
        if (is_wanted(parts[i].name, argc, argv))
            bench_part(parts[i].run, 0);
    bench_root_remove();
    return 0;
}
