/* SPDX-License-Identifier: MIT */
/* Compares the state of a program that queries a faulty provider: descriptors, signals, children,
 * limits, memory. */
#include "unharmed.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DESCRIPTORS = 64, SIGNALS = 65, LIMITS = 16, CANARY = 1 << 16 };
static const unsigned char canary_byte = 0xc5;

struct descriptor {
    bool open;
    int flags;
    dev_t device;
    ino_t inode;
};

static struct {
    struct descriptor descriptors[DESCRIPTORS];
    struct sigaction actions[SIGNALS];
    sigset_t mask;
    struct rlimit limits[LIMITS];
    struct itimerval timer;
    mode_t umask;
    int priority;
    pid_t session, group;
    char folder[512], locale[256], environment[16384];
    unsigned char *heap;
} before;
static volatile sig_atomic_t children_seen;

static void on_child(int number)
{
    children_seen++;
}

static struct descriptor look_at(int number)
{
    struct stat st;
    struct descriptor found = {.open = fstat(number, &st) == 0};
    if (found.open) {
        found.flags = fcntl(number, F_GETFD);
        found.device = st.st_dev;
        found.inode = st.st_ino;
    }
    return found;
}

static void copy_environment(char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (char **entry = environ; *entry && used < capacity; entry++)
        used += (size_t)snprintf(out + used, capacity - used, "%s\n", *entry);
}

static mode_t current_umask(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return mask;
}

static void open_things(void)
{
    int pipes[2];
    if (pipe(pipes) || memfd_create("mine", 0) < 0 || open("/dev/null", O_RDWR) < 0)
        abort();
    before.heap = malloc(CANARY);
    memset(before.heap, canary_byte, CANARY);
}

static void set_signals(void)
{
    struct sigaction child = {.sa_handler = on_child};
    struct itimerval timer = {
        {0,    0},
        {3600, 0}
    };
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    sigaction(SIGCHLD, &child, NULL);
    sigprocmask(SIG_SETMASK, &mask, &before.mask);
    setitimer(ITIMER_REAL, &timer, NULL);
}

void unharmed_begin(void)
{
    open_things();
    set_signals();
    for (int i = 0; i < DESCRIPTORS; i++)
        before.descriptors[i] = look_at(i);
    for (int i = 1; i < SIGNALS; i++)
        sigaction(i, NULL, &before.actions[i]);
    sigprocmask(SIG_SETMASK, NULL, &before.mask);
    for (int i = 0; i < LIMITS; i++)
        getrlimit((__rlimit_resource_t)i, &before.limits[i]);
    before.umask = current_umask();
    before.priority = getpriority(PRIO_PROCESS, 0);
    before.session = getsid(0);
    before.group = getpgrp();
    if (!getcwd(before.folder, sizeof before.folder))
        abort();
    snprintf(before.locale, sizeof before.locale, "%s", setlocale(LC_ALL, NULL));
    copy_environment(before.environment, sizeof before.environment);
}

static void check_descriptors(FILE *report)
{
    for (int i = 0; i < DESCRIPTORS; i++) {
        struct descriptor *was = &before.descriptors[i], now = look_at(i);
        if (was->open && (!now.open || now.flags != was->flags || now.device != was->device ||
                          now.inode != was->inode))
            fprintf(report, "the caller's descriptor %d is another\n", i);
    }
}

static void check_signals(FILE *report)
{
    sigset_t mask, pending;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    sigpending(&pending);
    for (int i = 1; i < SIGNALS; i++) {
        struct sigaction now = {0};
        sigaction(i, NULL, &now);
        if (now.sa_handler != before.actions[i].sa_handler ||
            now.sa_flags != before.actions[i].sa_flags)
            fprintf(report, "the caller's signal %d is handled otherwise\n", i);
        if (sigismember(&mask, i) != sigismember(&before.mask, i))
            fprintf(report, "the caller's signal %d is %sblocked\n", i,
                    sigismember(&mask, i) ? "" : "no longer ");
        if (sigismember(&pending, i) > 0)
            fprintf(report, "signal %d is waiting for the caller\n", i);
    }
}

static void check_children(FILE *report)
{
    int status;
    if (waitpid(-1, &status, WNOHANG | __WALL) >= 0 || errno != ECHILD)
        fprintf(report, "the caller has a child\n");
    if (children_seen)
        fprintf(report, "the caller saw SIGCHLD %d times\n", children_seen);
}

static long thread_count(void)
{
    char line[256];
    long threads = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Threads: %ld", &threads);
    if (file)
        fclose(file);
    return threads;
}

static void check_state(FILE *report)
{
    static char environment[sizeof before.environment];
    char folder[sizeof before.folder];
    struct itimerval timer;
    for (int i = 0; i < LIMITS; i++) {
        struct rlimit now = {0, 0};
        getrlimit((__rlimit_resource_t)i, &now);
        if (now.rlim_cur != before.limits[i].rlim_cur || now.rlim_max != before.limits[i].rlim_max)
            fprintf(report, "the caller's limit %d changed\n", i);
    }
    copy_environment(environment, sizeof environment);
    getitimer(ITIMER_REAL, &timer);
    if (strcmp(environment, before.environment) != 0)
        fprintf(report, "the caller's environment changed\n");
    if (!getcwd(folder, sizeof folder) || strcmp(folder, before.folder) != 0)
        fprintf(report, "the caller's folder changed\n");
    if (strcmp(setlocale(LC_ALL, NULL), before.locale) != 0)
        fprintf(report, "the caller's locale changed\n");
    if (timer.it_value.tv_sec < 1800)
        fprintf(report, "the caller's timer changed\n");
    if (current_umask() != before.umask || getpriority(PRIO_PROCESS, 0) != before.priority)
        fprintf(report, "the caller's umask or priority changed\n");
    if (getsid(0) != before.session || getpgrp() != before.group)
        fprintf(report, "the caller's session or group changed\n");
    if (thread_count() != 1)
        fprintf(report, "the caller has %ld threads\n", thread_count());
}

void unharmed_end(FILE *report)
{
    check_descriptors(report);
    check_signals(report);
    check_children(report);
    check_state(report);
    for (int i = 0; i < CANARY; i++)
        if (before.heap[i] != canary_byte) {
            fprintf(report, "the caller's memory changed\n");
            break;
        }
}
