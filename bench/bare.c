/* SPDX-License-Identifier: MIT */
/*
 * The bare reader: opens and reads only the files that the queries for the system objects,
 * processes and threads read, and does not use their content. It uses only those few words that
 * queries also use to skip a file (for example, a kernel thread has no memory).
 */
#include "bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_NUMBERS = 1 << 20 };

static const char *const system_files[] = {"proc/stat",     "proc/loadavg",    "proc/meminfo",
                                           "proc/vmstat",   "proc/swaps",      "proc/interrupts",
                                           "proc/softirqs", "proc/sysvipc/sem"};

static char text[1 << 16];
static int root = -1, proc = -1;
static bool live = true; /* true: st_size of proc/PID/fd is the number of descriptors */

void bare_root(const char *path)
{
    struct stat own;
    root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    proc = openat(root, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    live = strcmp(path, "/") == 0 && stat("/proc/self/fd", &own) == 0 && own.st_size > 0;
    if (proc < 0) {
        fprintf(stderr, "bench: %s/proc cannot be read\n", path);
        exit(1);
    }
}

static void read_all(const char *const *files, int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!fds[i])
            fds[i] = openat(root, files[i], O_RDONLY | O_CLOEXEC);
        for (off_t at = 0, got; (got = pread(fds[i], text, sizeof text, at)) > 0;)
            at += got;
    }
}

void bare_system(void)
{
    static int fds[COUNT(system_files)];
    read_all(system_files, fds, COUNT(system_files));
}

void bare_network(void)
{
    static const char *const files[] = {"proc/net/dev", "proc/net/snmp", "proc/net/snmp6"};
    static int fds[COUNT(files)];
    read_all(files, fds, COUNT(files));
}

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

size_t bare_process_count(void)
{
    static unsigned processes[MOST_NUMBERS];
    return numbers_in(proc, processes);
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

/* Returns a number of the stat file that was read last; `number` is its position, from 1. */
static unsigned long stat_word(unsigned number)
{
    const char *at = strrchr(text, ')');
    for (unsigned i = 2; at && i < number; i++)
        at = strchr(at + 1, ' ');
    return at ? strtoul(at, NULL, 10) : 0;
}

static void count_descriptors(unsigned process)
{
    static _Alignas(8) char entries[32768];
    struct stat folder;
    char path[64];
    snprintf(path, sizeof path, "%u/fd", process);
    if (live) {
        (void)!fstatat(proc, path, &folder, 0);
        return;
    }
    int fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    while (syscall(SYS_getdents64, fd, entries, sizeof entries) > 0)
        ;
    close(fd);
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

static void read_process(unsigned process, bool threads)
{
    read_file(process, "stat");
    bool single = stat_word(20) == 1, memory = stat_word(23) != 0;
    if (memory)
        read_file(process, "status");
    read_file(process, "io");
    count_descriptors(process);
    if (threads)
        read_threads(process, single);
}

static void read_processes(bool threads)
{
    static unsigned processes[MOST_NUMBERS];
    static int system_stat = -1;
    if (system_stat < 0)
        system_stat = openat(proc, "stat", O_RDONLY | O_CLOEXEC);
    if (pread(system_stat, text, sizeof text, 0) < 0) /* queries read it for the instance Idle */
        exit(1);
    size_t count = numbers_in(proc, processes);
    for (size_t i = 0; i < count; i++)
        read_process(processes[i], threads);
}

void bare_processes(void)
{
    read_processes(false);
}

void bare_threads(void)
{
    read_processes(true);
}
