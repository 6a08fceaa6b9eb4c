/* SPDX-License-Identifier: MIT */
/* Measures variants in turns; makes and removes a root folder. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../tests/temp.h"

/* ---- time ---- */

double bench_children_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double clock_us(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

double bench_own_us(void)
{
    return clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

double bench_wall_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

static int compare_times(const void *left, const void *right)
{
    double one = *(const double *)left, other = *(const double *)right;
    return (one > other) - (one < other);
}

double bench_median(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, compare_times);
    return times[count / 2];
}

/* ---- variants ---- */

static double measure(const struct variant *variant)
{
    double (*now)(void) = variant->child ? bench_children_us : bench_own_us;
    if (variant->level)
        bench_set_switch("ExtCounterTestLevel", variant->level);
    variant->run();
    double before = now();
    for (int i = 0; i < variant->repeat; i++)
        variant->run();
    return (now() - before) / variant->repeat;
}

void bench_measure(struct variant *variants, size_t count, int rounds)
{
#ifdef __SANITIZE_ADDRESS__
    fputs("built with sanitizers: the figures are meaningless\n", stderr);
#endif
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++)
            variants[i].times[round] = measure(&variants[i]);
    for (size_t i = 0; i < count; i++)
        variants[i].median = bench_median(variants[i].times, rounds);
}

void bench_print(const struct variant *variants, size_t count, const struct variant *against)
{
    for (size_t i = 0; i < count; i++)
        printf("  %-34s %12.1f us   %6.2f x %s\n", variants[i].name, variants[i].median,
               variants[i].median / against->median, against->name);
}

void bench_verdict(const char *what, double is, double at_most, const char *unit)
{
    printf("%-62s %9.2f %-3s  target %6.4g  %s\n", what, is, unit, at_most,
           is <= at_most ? "reached" : "MISSED");
}

/* ---- the root folder ---- */

static char root[64];

void bench_root_make(void)
{
    temp_make(root);
    if (!*root) {
        fputs("bench: no temporary folder can be made\n", stderr);
        exit(1);
    }
    setenv("OPENPERFLIB_ROOT", root, 1);
}

void bench_root_remove(void)
{
    temp_remove(root);
}

void bench_set_switch(const char *name, DWORD value)
{
    HKEY key;
    if (RegCreateKeyExA(HKEY_LOCAL_MACHINE, PERFLIB, 0, NULL, 0, KEY_WRITE, NULL, &key, NULL) ||
        RegSetValueExA(key, name, 0, REG_DWORD, (BYTE *)&value, sizeof value)) {
        fprintf(stderr, "bench: %s cannot be set\n", name);
        exit(1);
    }
    RegCloseKey(key);
}

void bench_part(void (*part)(int number), int number)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        part(number);
        fflush(NULL);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
        bench_root_remove();
        exit(1);
    }
}

DWORD bench_query(const char *what)
{
    static unsigned char data[64 << 20];
    DWORD size = sizeof data;
    LSTATUS status = RegQueryValueExA(HKEY_PERFORMANCE_DATA, what, NULL, NULL, data, &size);
    if (status) {
        fprintf(stderr, "bench: the query \"%s\" failed with %d\n", what, (int)status);
        exit(1);
    }
    return size;
}
