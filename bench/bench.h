/* SPDX-License-Identifier: MIT */
/*
 * What the benchmarks share: variants that are measured in turns in one run, so that their ratios
 * are right on a busy machine; a root folder; and the bare reader, which reads the same files as a
 * query but does not use them.
 */
#ifndef OPL_BENCH_H
#define OPL_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include <windows.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

enum { BENCH_ROUNDS = 201 };

struct variant {
    const char *name;
    void (*run)(void);
    bool child;                 /* the CPU time of child processes counts */
    DWORD level;                /* ExtCounterTestLevel to set; 0: none */
    int repeat;                 /* runs per measurement */
    double times[BENCH_ROUNDS]; /* CPU time, in microseconds */
    double median;
};

/* Return microseconds: CPU time of this process, CPU time of its ended children, wall time. */
double bench_own_us(void);
double bench_children_us(void);
double bench_wall_us(void);

double bench_median(double *times, int count); /* sorts `times` */

/* Measures all variants in turns, `rounds` times (at most BENCH_ROUNDS). */
void bench_measure(struct variant *variants, size_t count, int rounds);
void bench_print(const struct variant *variants, size_t count, const struct variant *against);

/* bench_root_make sets OPENPERFLIB_ROOT to a new folder; call it before the library is used.
 * bench_root_remove removes the folder. */
void bench_root_make(void);
void bench_root_remove(void);

/* Sets a DWORD of Perflib's key. */
void bench_set_switch(const char *name, DWORD value);

/* Prints the time, and whether it is within the target. */
void bench_verdict(const char *what, double is, double at_most, const char *unit);

/* Runs one part of a benchmark in a process of its own; ends the program if it fails. */
void bench_part(void (*part)(int number), int number);

/* RegQueryValueEx(HKEY_PERFORMANCE_DATA, what) into a large buffer; an error ends the program. */
DWORD bench_query(const char *what);

/* ---- the bare reader (bare.c) ---- */

/* The functions after this one read files below `root`; without a call, below "/". */
void bare_root(const char *root);
void bare_system(void);
void bare_network(void);
void bare_processes(void);
void bare_threads(void);
size_t bare_process_count(void);

/* ---- idle processes, and a copy of their files in proc (frozen.c) ---- */

void idle_start(int count); /* ends the program on failure */
void idle_stop(void);

/* Copies the files of proc that the queries read into `folder`, for OPENPERFLIB_SYSROOT. */
void frozen_copy(const char *folder);
void frozen_copy_processes(const char *folder);

#endif
