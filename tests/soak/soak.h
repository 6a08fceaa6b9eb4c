/* SPDX-License-Identifier: MIT */
/*
 * The soak: PDH queries are sampled while processes come and go, the wall clock is set and counters
 * wrap; every value of every sample is judged by what is known of the world beside it.
 */
#ifndef OPL_TEST_SOAK_H
#define OPL_TEST_SOAK_H

#include "churn.h"

#include <pdh.h>
#include <pdhmsg.h>
#include <windows.h>
#include <winperf.h>

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- clock.c ---- */
double clock_real(void); /* seconds, of a clock that is never set */
void clock_step(double seconds);
/* Not now, but right before the wall clock is read for so many times more. */
void clock_step_within(double seconds, int readings);
bool clock_stepped(void); /* nothing of that is waiting */

/* ---- what lies between two samples ---- */
struct interval {
    unsigned long sample;
    double begin, end;        /* of the newest collecting, in real seconds */
    double shortest, longest; /* the interval had at least and at most so many real seconds */
    double step;              /* by which the wall clock was set meanwhile */
    bool set;                 /* so far that no rate may have a value */
};

/* ---- watch.c: arrays of one object ---- */
enum { NAME_SIZE = 96, MOST_COLUMNS = 64 };

/* An instance at one sample, and who it was. */
struct row {
    char name[NAME_SIZE];
    unsigned number; /* so many of that name stand before it */
    long long pid, start, thread;
    unsigned process; /* the churn's count, 0: not known for sure */
};

struct rows {
    struct row *rows;
    unsigned *order; /* by name and number */
    DWORD count;
};

struct column {
    char title[128];
    PDH_HCOUNTER counter;
    DWORD type;
    DWORD count;
    PDH_FMT_COUNTERVALUE_ITEM_A *values;
    PDH_RAW_COUNTER_ITEM_A *raw, *raw_before;
    DWORD values_size, raw_size, raw_before_size, count_before;
};

struct watch {
    const char *object;
    bool single;
    bool known;        /* judged by known.c: as large as its provider likes */
    double processors; /* that one instance can use, 0: all */
    struct column columns[MOST_COLUMNS];
    unsigned count;
    const struct column *pid, *start, *thread; /* which say who a row is, or NULL */
    struct rows now, before;
};

bool watch_add_counter(struct watch *watch, PDH_HQUERY query, const char *title);
/* Every counter of the object, for all its instances. */
bool watch_add(struct watch *watch, PDH_HQUERY query);
/* Takes the newest sample; `processes`: the churn's table before it was collected, and now. */
bool watch_take(struct watch *watch, const unsigned *before, const struct churn *now);
/* The row of the same name and number in the sample before; -1: none. */
int watch_before(const struct watch *watch, unsigned row);

/* ---- judge.c ---- */
struct tally {
    unsigned long values, rates, not_negative, bounded, same, refused_set, refused_other, no_value;
    unsigned long refused_number;
    unsigned long elapsed, kernel, twins, exact, wraps, falls, intervals_set, offending;
};
extern struct tally tally;
extern unsigned long processors;

bool is_rate(DWORD type);
void judge_watch(const struct watch *watch, const struct interval *interval);
void offend(const struct interval *interval, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- known.c: counters whose values are known otherwise ---- */
bool known_add(PDH_HQUERY query, struct watch *steps);
void known_look(bool after); /* at the kernel's own counts, right before and after collecting */
void known_judge(const struct watch *steps, const struct interval *interval);

#endif
