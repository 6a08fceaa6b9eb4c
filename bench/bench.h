/* SPDX-License-Identifier: MIT */
/*
 * What the benchmarks share: variants that take turns in one run, so that their ratios hold on a
 * noisy machine; a root of their own; and the bare reader, which reads the files that a query reads
 * and does nothing with them.
 */
#ifndef OPL_BENCH_H
#define OPL_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include <openperflib/windows.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

enum { BENCH_ROUNDS = 201 };

struct variant {
    const char *name;
    void (*run)(void);
    bool child;                 /* its CPU is a child's */
    DWORD level;                /* ExtCounterTestLevel, 0: leave */
    int repeat;                 /* runs per measurement */
    double times[BENCH_ROUNDS]; /* microseconds of CPU */
    double median;
};

/* CPU time of this process, of its ended children, and time that passes, in microseconds. */
double bench_own_us(void);
double bench_children_us(void);
double bench_wall_us(void);

double bench_median(double *times, int count); /* sorts them */

/* All variants take turns, `rounds` times (at most BENCH_ROUNDS). */
void bench_measure(struct variant *variants, size_t count, int rounds);
void bench_print(const struct variant *variants, size_t count, const struct variant *against);

/* Sets OPENPERFLIB_ROOT to a new folder, before the library is used; removes it at the end. */
void bench_root_make(void);
void bench_root_remove(void);

/* Sets a DWORD of Perflib's key. */
void bench_set_switch(const char *name, DWORD value);

/* How long it took, and whether that is what it should be. */
void bench_verdict(const char *what, double is, double at_most, const char *unit);

/* Runs one part of a benchmark in a process of its own; ends the program if it fails. */
void bench_part(void (*part)(int number), int number);

/* RegQueryValueEx(HKEY_PERFORMANCE_DATA, what) into a large buffer; an error ends the program. */
DWORD bench_query(const char *what);

/* ---- the bare reader (bare.c) ---- */

/* What follows is read below this folder, "/" if it was never said. */
void bare_root(const char *root);
void bare_system(void);
void bare_network(void);
void bare_processes(void);
void bare_threads(void);
size_t bare_process_count(void);

/* ---- idle processes, and a copy of what the kernel says of them (frozen.c) ---- */

void idle_start(int count); /* ends the program if they cannot be had */
void idle_stop(void);

/* Copies the files of proc that the queries read into `folder`, for OPENPERFLIB_SYSROOT. */
void frozen_copy(const char *folder);
void frozen_copy_processes(const char *folder);

#endif
