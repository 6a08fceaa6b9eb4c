/* SPDX-License-Identifier: MIT */
/*
 * Identifies a process, and changes its nice value.
 *
 * Linux has a nice value for each thread: setpriority(PRIO_PROCESS) with a process's number changes
 * only its first thread. And setpriority takes a number, not a handle: the thread may end after its
 * number was read from /proc and before the call. The kernel reuses a number only after all others,
 * so no other thread gets the number within some microseconds.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* SCHED_BATCH */
#endif
#include "protector.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIELD_BEGAN = 22, PASSES = 10 };

/* ---- data in /proc ---- */

/* Reads a file of the process's folder. False: errno is the reason; ESRCH: the process has
 * ended. */
static bool read_file(int folder, const char *name, char *text, size_t capacity)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t bytes = read(fd, text, capacity - 1);
    int problem = errno;
    close(fd);
    errno = problem;
    if (bytes <= 0)
        return false;
    text[bytes] = 0;
    return true;
}

/* Reads the process's number and start time from stat. The name between them may contain anything,
 * also brackets and blanks. */
static bool read_identity(struct held *held)
{
    char text[1024];
    if (!read_file(held->folder, "stat", text, sizeof text))
        return false;
    held->id = (uint32_t)strtoul(text, NULL, 10);
    char *at = strrchr(text, ')');
    for (int field = 2; at && field < FIELD_BEGAN; field++)
        at = strchr(at + 1, ' ');
    if (!at)
        return errno = EINVAL, false;
    held->began_ticks = strtoull(at, NULL, 10);
    return true;
}

struct held *hold(uint32_t id)
{
    char path[32];
    struct held *held = calloc(1, sizeof *held);
    if (!held)
        return NULL;
    snprintf(path, sizeof path, "/proc/%u", (unsigned)id);
    held->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (held->folder >= 0 && read_identity(held) && held->id == id)
        return held;
    hold_end(held);
    return NULL;
}

void hold_end(struct held *held)
{
    int problem = errno;
    if (held->folder >= 0)
        close(held->folder);
    free(held->threads);
    free(held);
    errno = problem;
}

bool hold_is(const struct held *held, const struct held *self, const struct look *look,
             const struct identity *identity)
{
    const struct process *looked = look_find(look, self->id);
    int64_t tick = SECOND_100NS / sysconf(_SC_CLK_TCK);
    if (!looked || held->id != identity->id)
        return false;
    int64_t counters_value = identity->began - looked->identity.began;
    int64_t kernel_value = ((int64_t)held->began_ticks - (int64_t)self->began_ticks) * tick;
    return llabs(counters_value - kernel_value) <= 2 * tick; /* both values may be rounded */
}

/* Does the process belong to our user? All four of its user ids must be ours: if they differ, the
 * process is changing its user. */
static bool is_ours(const struct held *held)
{
    char text[4096];
    unsigned ids[4], own = (unsigned)getuid();
    if (!read_file(held->folder, "status", text, sizeof text))
        return false;
    const char *at = strstr(text, "\nUid:");
    if (!at || sscanf(at, "\nUid: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4)
        return false;
    return ids[0] == own && ids[1] == own && ids[2] == own && ids[3] == own;
}

/* ---- threads of a process ---- */

typedef bool each_thread(void *of, uint32_t thread);

/* Calls `each` for the current threads; false and errno: the process has ended, or `each`
 * failed. */
static bool walk_threads(const struct held *held, each_thread *each, void *of)
{
    int fd = openat(held->folder, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    bool good = true, any = false;
    if (!folder) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (struct dirent *entry; good && (entry = readdir(folder));) {
        uint32_t thread = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (thread > 0)
            good = any = true, good = each(of, thread);
    }
    int problem = any ? errno : ESRCH;
    closedir(folder);
    errno = problem;
    return good && any;
}

/* Reads a thread's nice value. False: the thread has ended. (getpriority returns -1 then, but also
 * for a nice value of -1.) */
static bool nice_of(uint32_t thread, int *ret)
{
    errno = 0;
    *ret = getpriority(PRIO_PROCESS, thread);
    return errno == 0;
}

static bool find_least(void *of, uint32_t thread)
{
    int *least = of, nice;
    if (nice_of(thread, &nice) && nice < *least)
        *least = nice;
    return true;
}

bool hold_nice(const struct held *held, int *ret)
{
    *ret = 20;
    return walk_threads(held, find_least, ret);
}

enum spare hold_judge(const struct held *held, int nice)
{
    int least, policy = sched_getscheduler((pid_t)held->id);
    if (!hold_nice(held, &least) || policy < 0)
        return SPARE_GONE;
    if (!is_ours(held))
        return SPARE_USER;
    if (policy != SCHED_OTHER && policy != SCHED_BATCH)
        return SPARE_POLICY;
    return least >= nice ? SPARE_NICE : SPARE_NOT;
}

const char *hold_why(enum spare spare)
{
    static const char *const texts[] = {
        [SPARE_NOT] = "",
        [SPARE_GONE] = "it has ended",
        [SPARE_USER] = "its user ids are not all this user's",
        [SPARE_POLICY] = "its scheduling policy has no nice values",
        [SPARE_NICE] = "its nice value is high enough already",
    };
    return texts[spare];
}

/* ---- changing ---- */

static bool remember(struct held *held, uint32_t thread, int was)
{
    for (size_t i = 0; i < held->count; i++) {
        if (held->threads[i].id == thread)
            return true;
    }
    struct thread *threads = realloc(held->threads, (held->count + 1) * sizeof *threads);
    if (!threads)
        return errno = ENOMEM, false;
    held->threads = threads;
    threads[held->count++] = (struct thread){thread, was};
    return true;
}

struct lowering {
    struct held *held;
    bool first, changed;
};

static bool lower_one(void *of, uint32_t thread)
{
    struct lowering *lowering = of;
    struct held *held = lowering->held;
    int nice;
    if (!nice_of(thread, &nice) || nice > held->given)
        return true;
    /* a thread that already has this value keeps it when the other threads are restored */
    if (nice == held->given)
        return !lowering->first || remember(held, thread, nice);
    if (!remember(held, thread, nice))
        return false;
    if (setpriority(PRIO_PROCESS, thread, held->given) < 0)
        return errno == ESRCH;
    return lowering->changed = true;
}

/* Raises the nice value of all threads to at least `nice`. A thread that is created meanwhile
 * inherits its creator's nice value, so the walk is repeated until all threads have it. */
bool hold_lower(struct held *held, int nice)
{
    bool good = hold_nice(held, &held->was);
    struct lowering lowering = {held, true, true};
    held->given = nice;
    for (int pass = 0; good && lowering.changed && pass < PASSES; pass++) {
        lowering.changed = false;
        good = walk_threads(held, lower_one, &lowering);
        lowering.first = false;
    }
    return good;
}

/* Returns the nice value that a thread had before; for a thread created later, the lowest of the
 * old values. */
static int value_before(const struct held *held, uint32_t thread)
{
    for (size_t i = 0; i < held->count; i++) {
        if (held->threads[i].id == thread)
            return held->threads[i].was;
    }
    return held->was;
}

/* Restores a thread's nice value. A value that hold_lower did not set was set by another program,
 * and is kept. */
static bool restore_one(void *of, uint32_t thread)
{
    const struct held *held = of;
    int nice;
    if (!nice_of(thread, &nice) || nice != held->given)
        return true;
    return setpriority(PRIO_PROCESS, thread, value_before(held, thread)) == 0 || errno == ESRCH;
}

bool hold_restore(struct held *held)
{
    return held->count == 0 || walk_threads(held, restore_one, held);
}

bool hold_may_restore(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        int own = getpriority(PRIO_PROCESS, 0);
        if (own == 19)
            _exit(setpriority(PRIO_PROCESS, 0, 18) < 0);
        _exit(setpriority(PRIO_PROCESS, 0, own + 1) < 0 || setpriority(PRIO_PROCESS, 0, own) < 0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
