/* SPDX-License-Identifier: MIT */
/*
 * CPU per query, through RegQueryValueEx like any program, beside a bare reader of the same files,
 * ps and (where installed) pminfo. All variants of one size take turns in one run, so that the
 * ratios hold on a noisy machine; figures are medians in microseconds of CPU (user + system).
 *
 *     meson devenv -C build bench/bench-query [PROCESSES...]        (default 100 1000 5000)
 */
#include <openperflib/windows.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

static unsigned char data[64 << 20];
static char file[1 << 20];

static double cpu_us(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return usage.ru_utime.tv_sec * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_sec * 1e6 +
           usage.ru_stime.tv_usec;
}

static double own_cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

/* ---- the variants ---- */

static void query(const char *what)
{
    DWORD size = sizeof(data);
    LSTATUS status = RegQueryValueExA(HKEY_PERFORMANCE_DATA, what, NULL, NULL, data, &size);
    if (status) {
        fprintf(stderr, "bench-query: \"%s\" failed with %d\n", what, (int)status);
        exit(1);
    }
}

static void query_system(void)
{
    query("2 4 86 238 260 700");
}

static void query_process(void)
{
    query("230");
}

static void query_threads(void)
{
    query("230 232");
}

static void read_at(int folder, const char *path)
{
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    while (read(fd, file, sizeof(file)) > 0)
        ;
    close(fd);
}

/* Calls back for each numeric entry of a folder. */
static void each_number(int folder, void (*each)(int folder, const char *name))
{
    static char entries[2][1 << 16];
    static int depth;
    struct entry {
        uint64_t inode;
        int64_t offset;
        unsigned short length;
        unsigned char type;
        char name[];
    };
    char *room = entries[depth++];
    long got;
    lseek(folder, 0, SEEK_SET);
    while ((got = syscall(SYS_getdents64, folder, room, sizeof(entries[0]))) > 0)
        for (long at = 0; at < got;) {
            struct entry *entry = (struct entry *)(room + at);
            at += entry->length;
            if (entry->name[0] >= '0' && entry->name[0] <= '9')
                each(folder, entry->name);
        }
    depth--;
}

/* The files that the Process object reads, found out once by looking at what a query opens would
 * need a tracer; they are named here and a test of perfproc keeps them true. */
static const char *const process_files[] = {BENCH_PROCESS_FILES};

static void bare_process(int proc, const char *name)
{
    struct stat st;
    char path[64];
    for (size_t i = 0; i < COUNT(process_files); i++) {
        snprintf(path, sizeof(path), "%s/%s", name, process_files[i]);
        if (strcmp(process_files[i], "fd") == 0)
            fstatat(proc, path, &st, 0);
        else
            read_at(proc, path);
    }
}

static int proc_folder(void)
{
    static int proc = -1;
    if (proc < 0)
        proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return proc;
}

static void read_processes(void)
{
    each_number(proc_folder(), bare_process);
}

static void read_system(void)
{
    static const char *const paths[] = {BENCH_SYSTEM_FILES};
    static int fds[COUNT(paths)];
    for (size_t i = 0; i < COUNT(paths); i++) {
        if (!fds[i])
            fds[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
        if (fds[i] > 0 && pread(fds[i], file, sizeof(file), 0) < 0)
            fds[i] = -1;
    }
}

static void run_program(char *const argv[])
{
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
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

static void set_level(DWORD level)
{
    HKEY key;
    if (RegCreateKeyExA(HKEY_LOCAL_MACHINE, PERFLIB, 0, NULL, 0, KEY_WRITE, NULL, &key, NULL))
        return;
    RegSetValueExA(key, "ExtCounterTestLevel", 0, REG_DWORD, (BYTE *)&level, sizeof(level));
    RegCloseKey(key);
    query("2");
}

/* ---- measuring ---- */

struct variant {
    const char *name;
    void (*run)(void);
    bool child;  /* its CPU is a child's */
    DWORD level; /* ExtCounterTestLevel, 0: leave */
    int repeat;  /* runs per measurement */
    double times[64];
    double median;
};

static double measure(struct variant *variant)
{
    if (variant->level)
        set_level(variant->level);
    variant->run();
    double before = variant->child ? cpu_us(RUSAGE_CHILDREN) : own_cpu_us();
    for (int i = 0; i < variant->repeat; i++)
        variant->run();
    double after = variant->child ? cpu_us(RUSAGE_CHILDREN) : own_cpu_us();
    return (after - before) / variant->repeat;
}

static int compare_times(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void measure_all(struct variant *variants, size_t count, int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++)
            variants[i].times[round] = measure(&variants[i]);
    for (size_t i = 0; i < count; i++) {
        qsort(variants[i].times, (size_t)rounds, sizeof(double), compare_times);
        variants[i].median = variants[i].times[rounds / 2];
    }
}

static void print(const struct variant *variants, size_t count, const struct variant *against)
{
    for (size_t i = 0; i < count; i++)
        printf("  %-34s %12.1f us   %6.2f x %s\n", variants[i].name, variants[i].median,
               variants[i].median / against->median, against->name);
}

static bool installed(const char *program)
{
    char command[128];
    snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0;
}

static void bench_system(void)
{
    struct variant variants[] = {
        {.name = "bare reader of the files", .run = read_system, .repeat = 2000},
        { .name = "system objects, level 1",               .run = query_system,     .repeat = 2000,     .level = 1},
        { .name = "system objects, level 3",               .run = query_system,     .repeat = 2000,     .level = 3},
    };
    measure_all(variants, COUNT(variants), 11);
    printf("system objects together (2 4 86 238 260 700)\n");
    print(variants, COUNT(variants), &variants[0]);
}

static pid_t *start_idle(int count)
{
    pid_t *pids = calloc((size_t)count + 1, sizeof(*pids));
    for (int i = 0; i < count; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
        if (pids[i] < 0) {
            fprintf(stderr, "bench-query: only %d of %d processes could be started: %s\n", i, count,
                    strerror(errno));
            pids[i] = 0;
            break;
        }
    }
    return pids;
}

static void stop_idle(pid_t *pids)
{
    for (pid_t *pid = pids; *pid; pid++)
        kill(*pid, SIGKILL);
    for (pid_t *pid = pids; *pid; pid++)
        waitpid(*pid, NULL, 0);
    free(pids);
}

static void bench_processes(int count)
{
    pid_t *pids = start_idle(count);
    int repeat = count > 1000 ? 2 : count > 100 ? 5 : 20;
    struct variant variants[] = {
        {.name = "bare reader of the files", .run = read_processes, .repeat = repeat},
        { .name = "Process, level 1",              .run = query_process,      .repeat = repeat,       .level = 1},
        { .name = "Process, level 3",              .run = query_process,      .repeat = repeat,       .level = 3},
        { .name = "Process + Thread",              .run = query_threads,      .repeat = repeat,       .level = 1},
        { .name = "ps, 12 fields",                     .run = run_ps,      .repeat = repeat,    .child = true},
        { .name = "pminfo, proc.psinfo",                 .run = run_pminfo,      .repeat = repeat,    .child = true},
    };
    size_t used = installed("pminfo") ? COUNT(variants) : COUNT(variants) - 1;
    measure_all(variants, used, count > 1000 ? 7 : 11);
    stop_idle(pids);
    printf("%d idle processes\n", count);
    print(variants, used, &variants[0]);
}

int main(int argc, char **argv)
{
    static const int usual[] = {100, 1000, 5000};
    char root[] = "/tmp/openperflib-bench-XXXXXX";
    if (!mkdtemp(root))
        return 1;
    setenv("OPENPERFLIB_ROOT", root, 1);
    bench_system();
    for (int i = 1; i < argc; i++)
        bench_processes(atoi(argv[i]));
    for (size_t i = 0; argc < 2 && i < COUNT(usual); i++)
        bench_processes(usual[i]);
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, PERFLIB);
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command) != 0;
}
