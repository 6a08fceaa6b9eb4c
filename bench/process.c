/* SPDX-License-Identifier: MIT */
/*
 * What Process and Thread cost, in CPU time per query, beside a bare reader of the same files, with
 * a number of idle processes made for the purpose. One line per result: name, processes,
 * microseconds per query, per process, ratio to the bare reader.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <uchar.h>
#include <unistd.h>

#include <openperflib/winerror.h>
#include <openperflib/winperf.h>

PM_OPEN_PROC OpenSysProcessObject;
PM_COLLECT_PROC CollectSysProcessObjectData;
PM_CLOSE_PROC CloseSysProcessObject;

enum { ROOM = 64 << 20, ROUNDS = 31, MOST_NUMBERS = 1 << 20 };

static double cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int by_value(const void *left, const void *right)
{
    double one = *(const double *)left, other = *(const double *)right;
    return (one > other) - (one < other);
}

/* ---- the bare reader ---- */

static int proc = -1, system_stat = -1;
static char text[1 << 16];

static size_t numbers_in(int folder, unsigned *numbers)
{
    static _Alignas(8) char entries[32768];
    size_t count = 0;
    long bytes;
    lseek(folder, 0, SEEK_SET);
    while ((bytes = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < bytes; at += *(unsigned short *)(entries + at + 16))
            if (entries[at + 19] >= '0' && entries[at + 19] <= '9' && count < MOST_NUMBERS)
                numbers[count++] = (unsigned)strtoul(entries + at + 19, NULL, 10);
    return count;
}

static void read_file(unsigned process, const char *rest)
{
    char path[96];
    snprintf(path, sizeof path, "%u/%s", process, rest);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t bytes = read(fd, text, sizeof text - 1);
    text[bytes > 0 ? bytes : 0] = 0;
    close(fd);
}

/* A word of stat, which was read last: without the few that say what else is there to read, the
 * reader would open files that ours leaves alone. */
static unsigned long stat_word(unsigned number)
{
    const char *at = strrchr(text, ')');
    for (unsigned i = 2; at && i < number; i++)
        at = strchr(at + 1, ' ');
    return at ? strtoul(at, NULL, 10) : 0;
}

static void read_threads(unsigned process, bool single)
{
    static unsigned threads[MOST_NUMBERS];
    char path[64];
    size_t count = 1;
    threads[0] = process;
    if (!single) {
        snprintf(path, sizeof path, "%u/task", process);
        int folder = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0)
            return;
        count = numbers_in(folder, threads);
        close(folder);
    }
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "task/%u/stat", threads[i]);
        read_file(process, path);
        snprintf(path, sizeof path, "task/%u/schedstat", threads[i]);
        read_file(process, path);
    }
}

static void bare_read(bool threads)
{
    static unsigned processes[MOST_NUMBERS];
    struct stat folder;
    char path[64];
    size_t count = numbers_in(proc, processes);
    if (pread(system_stat, text, sizeof text, 0) < 0) /* for Idle */
        abort();
    for (size_t i = 0; i < count; i++) {
        read_file(processes[i], "stat");
        bool single = stat_word(20) == 1, memory = stat_word(23) != 0;
        if (memory)
            read_file(processes[i], "status");
        read_file(processes[i], "io");
        snprintf(path, sizeof path, "%u/fd", processes[i]);
        (void)!fstatat(proc, path, &folder, 0);
        if (threads)
            read_threads(processes[i], single);
    }
}

static void bare_processes(void)
{
    bare_read(false);
}

static void bare_threads(void)
{
    bare_read(true);
}

/* ---- ours ---- */

static unsigned char *room;

static void collect(const char16_t *query)
{
    LPVOID data = room;
    DWORD bytes = ROOM, types = 0;
    if (CollectSysProcessObjectData((LPWSTR)query, &data, &bytes, &types) || !types)
        abort();
}

static void ours_processes(void)
{
    collect(u"230");
}

static void ours_threads(void)
{
    collect(u"232");
}

/* ---- measuring ---- */

/* Ours and bare alternate, so that both see the same machine; medians. */
static void compare(const char *name, unsigned processes, void (*bare)(void), void (*ours)(void))
{
    double bare_times[ROUNDS], our_times[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double start = cpu_us();
        bare();
        double middle = cpu_us();
        ours();
        our_times[i] = cpu_us() - middle;
        bare_times[i] = middle - start;
    }
    qsort(bare_times, ROUNDS, sizeof *bare_times, by_value);
    qsort(our_times, ROUNDS, sizeof *our_times, by_value);
    double bare_us = bare_times[ROUNDS / 2], our_us = our_times[ROUNDS / 2];
    printf("%-15s %6u processes %10.1f us %8.2f us each   bare %8.2f us each   ratio %.3f\n", name,
           processes, our_us, our_us / processes, bare_us / processes, our_us / bare_us);
}

static pid_t idle_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return child;
}

static int usage(FILE *out)
{
    fputs("usage: bench-process [COUNT...]\n\n"
          "Measures Process and Thread with COUNT idle processes (default: 100 1000).\n",
          out);
    return out == stdout ? 0 : 2;
}

static bool measure_with(unsigned count)
{
    static pid_t children[1 << 16];
    static unsigned listed[MOST_NUMBERS];
    unsigned made = 0;
    for (; made < count && made < sizeof children / sizeof *children; made++)
        if ((children[made] = idle_child()) < 0)
            break;
    unsigned processes = (unsigned)numbers_in(proc, listed);
    if (made == count) {
        compare("Process", processes, bare_processes, ours_processes);
        compare("Process+Thread", processes, bare_threads, ours_threads);
    } else {
        fprintf(stderr, "bench-process: only %u processes could be made: %s\n", made,
                strerror(errno));
    }
    for (unsigned i = 0; i < made; i++)
        kill(children[i], SIGKILL);
    for (unsigned i = 0; i < made; i++)
        waitpid(children[i], NULL, 0);
    return made == count;
}

int main(int argc, char **argv)
{
    bool good = true;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout);
        else if (atoi(argv[i]) <= 0)
            return usage(stderr);
#ifdef __SANITIZE_ADDRESS__
    fputs("bench-process: built with sanitizers: the figures mean nothing\n", stderr);
#endif
    proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    system_stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    room = malloc(ROOM);
    if (proc < 0 || system_stat < 0 || !room || OpenSysProcessObject(NULL)) {
        perror("bench-process");
        return 1;
    }
    for (int i = 1; i < argc && good; i++)
        good = measure_with((unsigned)atoi(argv[i]));
    if (argc == 1)
        good = measure_with(100) && measure_with(1000);
    CloseSysProcessObject();
    free(room);
    close(proc);
    close(system_stat);
    return good ? 0 : 1;
}
