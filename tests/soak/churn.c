/* SPDX-License-Identifier: MIT */
/*
 * usage: soak-churn PROCESSES SECONDS (descriptor 3: shared memory with a struct churn)
 *
 * Starts many processes that end soon: at once, after sleeping, after working, with threads. They
 * have only two names, so their instance names often change (name#1 becomes name). In a new PID
 * namespace it can set the last process number, so that every number is reused within a second. If
 * the machine is too busy, it ends after four times the given time.
 */
#include "churn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ALIVE = 60, FIRST_PID = 300, DESCRIPTOR = 3 };
static struct churn *churn;
static unsigned char had[CHURN_TRACKED];
static unsigned alive;
static int last_pid_file = -1;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void nap(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/* ---- the children ---- */

static double burn_seconds;

static void *burn(void *unused)
{
    while (processor_time() < burn_seconds)
        ;
    return unused;
}

static void burn_twice(void)
{
    pthread_t thread;
    bool two = pthread_create(&thread, NULL, burn, NULL) == 0;
    burn(NULL);
    if (two)
        pthread_join(thread, NULL);
}

/* Works for so long that the process is in several samples. */
static void live(int rounds)
{
    while (rounds-- > 0) {
        burn_seconds = processor_time() + 0.004;
        burn(NULL);
        nap(0.03);
    }
}

static void child(long chance)
{
    prctl(PR_SET_NAME, chance & 1 ? "soak-left" : "soak-right");
    chance = chance / 2 % 100;
    burn_seconds = (double)(chance % 30 + 1) / 1000;
    if (chance >= 97)
        live(60);
    else if (chance >= 92)
        burn_twice();
    else if (chance >= 75)
        burn(NULL);
    else if (chance >= 60)
        nap((double)(chance - 59) * 0.02);
    _exit(0);
}

/* ---- starting and ending the children ---- */

static atomic_uint *entry(pid_t pid)
{
    static atomic_uint nobody;
    return pid < CHURN_TRACKED ? &churn->process[pid] : &nobody;
}

/* Clears a process's entry, and then waits for the process: as long as it is a zombie, its number
 * cannot be reused. */
static bool write_one_tombstone(bool wait)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | (wait ? 0 : WNOHANG)) != 0 || !info.si_pid)
        return false;
    atomic_store(entry(info.si_pid), 0);
    waitid(P_PID, (id_t)info.si_pid, &info, WEXITED);
    alive--;
    atomic_fetch_add(&churn->ended, 1);
    return true;
}

/* Sets the kernel's last process number back, so that the next process gets the first free number
 * after it. */
static void go_back(void)
{
    char text[16];
    int length = snprintf(text, sizeof text, "%d", FIRST_PID);
    if (last_pid_file >= 0 && pwrite(last_pid_file, text, (size_t)length, 0) != length) {
        close(last_pid_file);
        last_pid_file = -1;
        atomic_store(&churn->small_range, 0);
    }
}

static void start_one(unsigned number)
{
    pid_t pid = fork();
    long chance = random();
    if (pid == 0)
        child(chance);
    if (pid < 0) {
        nap(0.01);
        return;
    }
    alive++;
    atomic_store(entry(pid), number);
    atomic_fetch_add(&churn->started, 1);
    if (pid >= CHURN_TRACKED)
        return;
    atomic_fetch_add(&churn->reused, had[pid]);
    had[pid] = 1;
    if (pid > FIRST_PID + 10 + chance % 60)
        go_back();
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    unsigned processes = (unsigned)atoi(argv[1]);
    double seconds = atof(argv[2]), begin = now();
    churn = mmap(NULL, sizeof *churn, PROT_READ | PROT_WRITE, MAP_SHARED, DESCRIPTOR, 0);
    if (churn == MAP_FAILED)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    srandom(2026);
    /* the parent is process 1: this is a new PID namespace, in which no other program's numbers
     * are affected */
    if (getppid() == 1)
        last_pid_file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    atomic_store(&churn->small_range, last_pid_file >= 0);
    go_back();
    while (atomic_load(&churn->started) < processes && now() < begin + 4 * seconds) {
        double due = begin + seconds * atomic_load(&churn->started) / processes;
        while (write_one_tombstone(alive >= MOST_ALIVE))
            ;
        if (due > now())
            nap(0.2); /* after a pause, several are started at once */
        start_one(atomic_load(&churn->started) + 1);
    }
    while (write_one_tombstone(true))
        ;
    return 0;
}
