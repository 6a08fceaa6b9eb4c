/* SPDX-License-Identifier: MIT */
/*
 * The cost of registering many providers: in one process, and each by a process of its own, as
 * setup programs call lodctr. Then the cost of such a large registry for programs that read it: the
 * first lookup of a name, the first query, and the first value of a process. The last is compared
 * with an empty registry.
 */
#include "bench.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openperflib/load.h>
#include <pdh.h>
#include <winerror.h>

extern char **environ;

static const char help[] =
    "usage: bench-lodctr [--counters N] [--providers N] [--keep] [PROGRAM]\n"
    "\n"
    "Registers 1,000 providers with 40 counters in 5 languages each, first by calls in this\n"
    "process, then by one process each, and unloads them; prints seconds. Each process runs\n"
    "PROGRAM with the ini file as its argument, for example tools/lodctr; the default is this\n"
    "program. Then it prints what the first reads of a process cost, and before that of one with\n"
    "nothing registered. Each registration is durable when it returns: the time of the sync is "
    "included.\n"
    "--keep: the registry stays; its folder is printed, for bench/start --root.\n";

static const char *const languages[] = {"009", "007", "00C", "00A", "019"};
static int providers = 1000, counters = 40;
static bool keep;
static const char *program;
static char own_path[4096], folder[4096];

static void fail(const char *what, long status)
{
    fprintf(stderr, "bench-lodctr: %s: %ld\n", what, status);
    exit(1);
}

/* ---- the files ---- */

static FILE *create(const char *format, int number)
{
    char path[sizeof folder + 32], name[32];
    snprintf(name, sizeof name, format, number);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file)
        fail(path, errno);
    return file;
}

static void write_symbols(void)
{
    FILE *file = create("bench.h", 0);
    for (int i = 0; i <= counters; i++)
        fprintf(file, "#define COUNTER_%d %d\n", i, 2 * i);
    fclose(file);
}

static void write_ini(int number)
{
    FILE *file = create("p%04d.ini", number);
    fprintf(file, "[info]\ndrivername=Bench%04d\nsymbolfile=bench.h\n[languages]\n", number);
    for (size_t i = 0; i < COUNT(languages); i++)
        fprintf(file, "%s=\n", languages[i]);
    fprintf(file, "[objects]\nCOUNTER_0_009_NAME=\n[text]\n");
    for (size_t i = 0; i < COUNT(languages); i++)
        for (int k = 0; k <= counters; k++)
            fprintf(file,
                    "COUNTER_%d_%s_NAME=Counter %d of provider %d, %s\n"
                    "COUNTER_%d_%s_HELP=What counter %d counts for provider %d in language %s.\n",
                    k, languages[i], k, number, languages[i], k, languages[i], k, number,
                    languages[i]);
    fclose(file);
}

static void ini_path(int number, char *path, size_t capacity)
{
    snprintf(path, capacity, "%s/p%04d.ini", folder, number);
}

/* ---- registering ---- */

static void load_one(const char *path, const char *library)
{
    opl_load_options options = {.library = library};
    opl_load_result result;
    DWORD status = opl_load_install(path, &options, &result);
    if (status)
        fail(path, (long)status);
}

static void load_in_this_process(void)
{
    char path[sizeof folder + 32];
    for (int i = 0; i < providers; i++) {
        ini_path(i, path, sizeof path);
        load_one(path, "/nowhere/bench.so");
    }
}

static void run(char *const *arguments)
{
    pid_t child;
    int status;
    int error = posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ);
    if (error || waitpid(child, &status, 0) != child || status)
        fail(arguments[0], error ? error : status);
}

static void load_by_processes(void)
{
    char path[sizeof folder + 32];
    for (int i = 0; i < providers; i++) {
        ini_path(i, path, sizeof path);
        char *own[] = {own_path, (char *)"--one", path, NULL};
        char *others[] = {(char *)program, path, NULL};
        run(program ? others : own);
    }
}

static void unload_in_this_process(void)
{
    char name[32];
    for (int i = 0; i < providers; i++) {
        snprintf(name, sizeof name, "Bench%04d", i);
        DWORD status = opl_load_remove(name, NULL, NULL);
        if (status)
            fail(name, (long)status);
    }
}

static const struct task {
    const char *what;
    void (*work)(void);
} tasks[] = {
    {"registered by calls",     load_in_this_process  },
    {"unloaded by calls",       unload_in_this_process},
    {"registered by processes", load_by_processes     },
};

/* Prints wall time, which includes the disk and other programs, and our CPU time. Runs in a child
 * process: the processes that read later must not inherit what it knows of the registry. */
static void timed(int number)
{
    const struct task *task = &tasks[number];
    double start = bench_wall_us(), own = bench_own_us(), children = bench_children_us();
    task->work();
    double seconds = (bench_wall_us() - start) / 1e6;
    double cpu = (bench_own_us() - own + bench_children_us() - children) / 1e6;
    printf("%-32s %8.2f s, of it CPU %8.2f s\n", task->what, seconds, cpu);
    fflush(stdout);
}

static void timed_here(const char *what, double wall, double own)
{
    printf("%-32s %8.1f ms, of it CPU %7.1f ms\n", what, (bench_wall_us() - wall) / 1e3,
           (bench_own_us() - own) / 1e3);
}

/* ---- reading, in a new process ---- */

static void first_query(int number)
{
    double wall = bench_wall_us(), own = bench_own_us();
    bench_query("2");
    timed_here("first query of a process", wall, own);
    wall = bench_wall_us();
    own = bench_own_us();
    bench_query("2");
    timed_here("its second query", wall, own);
}

static void first_names(int number)
{
    DWORD size = 0, type;
    double wall = bench_wall_us(), own = bench_own_us();
    LSTATUS status =
        RegQueryValueExA(HKEY_PERFORMANCE_DATA, "Counter 009", NULL, &type, NULL, &size);
    if (status)
        fail("Counter 009", status);
    timed_here("first name query of a process", wall, own);
}

static double *shared; /* the times of a child process: wall time, CPU time */

static void first_value(int number)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_RAW_COUNTER value;
    double wall = bench_wall_us(), own = bench_own_us();
    long status = PdhOpenQueryA(NULL, 0, &query);
    if (!status)
        status = PdhAddCounterA(query, "\\System\\Processes", 0, &counter);
    if (!status)
        status = PdhCollectQueryData(query);
    if (!status)
        status = PdhGetRawCounterValue(counter, NULL, &value);
    if (status)
        fail("\\System\\Processes", status);
    shared[0] = bench_wall_us() - wall;
    shared[1] = bench_own_us() - own;
}

static void first_values(const char *what, double target_ms)
{
    enum { VALUES = 31 };
    double elapsed[VALUES], cpu[VALUES];
    char title[64];
    for (int i = 0; i < VALUES; i++) {
        bench_part(first_value, 0);
        elapsed[i] = shared[0] / 1e3;
        cpu[i] = shared[1] / 1e3;
    }
    snprintf(title, sizeof title, "first value of a process, %s: CPU", what);
    bench_verdict(title, bench_median(cpu, VALUES), target_ms, "ms");
    printf("%62s %9.2f ms elapsed\n", "", bench_median(elapsed, VALUES));
}

static void measure(void)
{
    shared =
        mmap(NULL, 2 * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        fail("mmap", errno);
    first_values("nothing registered", 2.5);
    write_symbols();
    for (int i = 0; i < providers; i++)
        write_ini(i);
    printf("%d providers, %d counters, %zu languages\n", providers, counters, COUNT(languages));
    for (int i = 0; i < (int)COUNT(tasks); i++)
        bench_part(timed, i);
    bench_part(first_query, 0);
    bench_part(first_names, 0);
    first_values("all registered", 5);
}

static bool read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int *number = !strcmp(argv[i], "--counters")    ? &counters
                      : !strcmp(argv[i], "--providers") ? &providers
                                                        : NULL;
        if (number && i + 1 < argc && (*number = atoi(argv[++i])) > 0)
            continue;
        bool keeps = !strcmp(argv[i], "--keep");
        keep |= keeps;
        if (keeps)
            continue;
        if (number || *argv[i] == '-' || program)
            return false;
        program = argv[i];
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--one")) {
        /* NULL: the value Library of load_in_this_process is still registered */
        load_one(argv[2], NULL);
        return 0;
    }
    if (!read_arguments(argc, argv)) {
        bool wants_help = argc > 1 && !strcmp(argv[1], "--help");
        fputs(help, wants_help ? stdout : stderr);
        return wants_help ? 0 : 2;
    }
    if (readlink("/proc/self/exe", own_path, sizeof own_path - 1) < 0)
        fail("/proc/self/exe", errno);
    bench_root_make();
    snprintf(folder, sizeof folder, "%s", getenv("OPENPERFLIB_ROOT"));
    measure();
    if (keep)
        printf("kept: %s\n", folder);
    else
        bench_root_remove();
    return 0;
}
