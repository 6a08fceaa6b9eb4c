/* SPDX-License-Identifier: MIT */
/* Makes idle processes and a copy of their files in proc. The kernel need not produce the files of
 * the copy at each reading, so the cost of our own code can be seen. */
#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- idle processes ---- */

static pid_t idle[1 << 16];
static size_t idle_count;

void idle_start(int count)
{
    for (idle_count = 0; idle_count < (size_t)count && idle_count < COUNT(idle); idle_count++) {
        pid_t child = idle[idle_count] = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
        if (child < 0)
            break;
    }
    if (idle_count < (size_t)count) {
        fprintf(stderr, "bench: only %zu of %d processes could be started: %s\n", idle_count, count,
                strerror(errno));
        idle_stop();
        exit(1);
    }
}

void idle_stop(void)
{
    for (size_t i = 0; i < idle_count; i++)
        kill(idle[i], SIGKILL);
    for (size_t i = 0; i < idle_count; i++)
        waitpid(idle[i], NULL, 0);
    idle_count = 0;
}

/* ---- a copy ---- */

enum { MOST_PATH = 640 }; /* space for two file names and the text between them */

static int copy = -1; /* the folder that replaces "/" */

static void fail(const char *path)
{
    fprintf(stderr, "bench: %s cannot be copied: %s\n", path, strerror(errno));
    exit(1);
}

static void copy_file(const char *path)
{
    static char text[1 << 20];
    char from[MOST_PATH + 1];
    size_t length = 0;
    snprintf(from, sizeof from, "/%s", path);
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) /* another user's, or the process ended: left out of the copy */
        return;
    for (ssize_t got; (got = read(in, text + length, sizeof text - length)) > 0;)
        length += (size_t)got;
    close(in);
    int out = openat(copy, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (out < 0 || write(out, text, length) != (ssize_t)length)
        fail(path);
    close(out);
}

/* Makes one entry for each descriptor that the kernel shows. */
static void copy_descriptors(const char *process)
{
    char path[MOST_PATH];
    snprintf(path, sizeof path, "/proc/%s/fd", process);
    DIR *descriptors = opendir(path);
    mkdirat(copy, path + 1, 0700);
    for (struct dirent *entry; descriptors && (entry = readdir(descriptors));) {
        snprintf(path, sizeof path, "proc/%s/fd/%s", process, entry->d_name);
        if (entry->d_name[0] != '.' && symlinkat("file", copy, path) != 0)
            fail(path);
    }
    if (descriptors)
        closedir(descriptors);
}

static void copy_process(const char *process)
{
    static const char *const files[] = {"stat", "status", "io"};
    char path[MOST_PATH];
    snprintf(path, sizeof path, "proc/%s", process);
    if (mkdirat(copy, path, 0700) != 0)
        fail(path);
    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof path, "proc/%s/%s", process, files[i]);
        copy_file(path);
    }
    copy_descriptors(process);
}

static void copy_begin(const char *folder)
{
    copy = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0)
        fail(folder);
}

void frozen_copy(const char *folder)
{
    static const char *const files[] = {"proc/stat",     "proc/loadavg",    "proc/meminfo",
                                        "proc/vmstat",   "proc/swaps",      "proc/interrupts",
                                        "proc/softirqs", "proc/sysvipc/sem"};
    copy_begin(folder);
    if (mkdirat(copy, "proc", 0700) || mkdirat(copy, "proc/sysvipc", 0700))
        fail(folder);
    for (size_t i = 0; i < COUNT(files); i++)
        copy_file(files[i]);
    close(copy);
}

void frozen_copy_processes(const char *folder)
{
    DIR *proc = opendir("/proc");
    copy_begin(folder);
    for (struct dirent *entry; proc && (entry = readdir(proc));)
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            copy_process(entry->d_name);
    if (proc)
        closedir(proc);
    close(copy);
}
