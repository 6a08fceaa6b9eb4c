/* SPDX-License-Identifier: MIT */
/* Ends a child and its process group, then, one by one, the processes that left the group. */
#include "child.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool has_others; /* this process had children before child_fork, which are not ended */

int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int machine_is_busy(void)
{
    enum { MOST = 10 };
    double load = 0;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (getloadavg(&load, 1) != 1 || processors < 1)
        return 1;
    load /= (double)processors;
    return load < 1 ? 1 : load > MOST ? MOST : (int)(load + 0.5);
}

/* Returns the first child of this process other than `but`, and counts those that have not ended.
 * 0: there is none, or the kernel lacks the file "children". */
static pid_t other_child(pid_t but, int *ret_running)
{
    char path[64];
    int child = 0, first = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%d", &child) == 1) {
        siginfo_t ended = {0};
        if (child == but)
            continue;
        first = first ? first : child;
        if (!waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) && !ended.si_pid)
            ++*ret_running;
    }
    if (file)
        fclose(file);
    return first;
}

pid_t child_fork(void)
{
    int running = 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    has_others = other_child(0, &running) > 0;
    fflush(NULL);
    pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent ended before the line above */
        _exit(EXIT_FAILURE);
    return 0;
}

int child_end(pid_t child, int *ret_state)
{
    enum { MOST = 20000 };
    int left = 0, ignored = 0;
    siginfo_t ended;
    if (child > 0) {
        kill(child, SIGKILL);
        waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT); /* the pid stays reserved */
        if (!has_others)
            other_child(child, &left);
        kill(-child, SIGKILL);
        waitpid(child, ret_state, 0);
    }
    pid_t next;
    for (int i = 0; !has_others && i < MOST && (next = other_child(0, &ignored)) > 0; i++) {
        kill(next, SIGKILL);
        waitpid(next, NULL, 0);
    }
    return left;
}
