/* SPDX-License-Identifier: MIT */
/*
 * The soak test: PDH queries are sampled while processes come and go, the wall clock is set, and
 * counters wrap around. Every value of every sample is compared with what the test knows from
 * elsewhere.
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
double clock_real(void); /* returns the seconds of a clock that is never set */
void clock_step(double seconds);
/* Sets the wall clock a little later: just before the `readings`-th time from now that a program
 * reads it. */
void clock_step_within(double seconds, int readings);
bool clock_stepped(void); /* has clock_step_within set the clock already? */

/* ---- the interval between two samples ---- */
struct interval {
    unsigned long sample;
    /* of the newest collection, in seconds of a clock that is never set */
    double begin, end;
    double shortest, longest; /* limits of the interval's length, in seconds of that clock */
    double step;              /* by how many seconds the wall clock was set in the interval */
    /* the wall clock was set so far that every rate must be refused (must have no value) */
    bool set;
};

/* ---- watch.c: all values of one object ---- */
enum { NAME_SIZE = 96, MOST_COLUMNS = 64 };

/* An instance in one sample, and what identifies it. */
struct row {
    char name[NAME_SIZE];
    unsigned number; /* how many instances with the same name stand before it */
    long long pid, start, thread;
    unsigned process; /* which of soak-churn's processes it is; 0: unknown */
};

struct rows {
    struct row *rows;
    unsigned *order; /* the rows' positions, sorted by name and number */
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
    bool known;        /* checked by known.c; its values may have any size */
    double processors; /* how many processors one instance can use; 0: all */
    struct column columns[MOST_COLUMNS];
    unsigned count;
    const struct column *pid, *start, *thread; /* the columns that identify a row, or NULL */
    struct rows now, before;
};

bool watch_add_counter(struct watch *watch, PDH_HQUERY query, const char *title);
/* Adds every counter of the object, for all its instances. */
bool watch_add(struct watch *watch, PDH_HQUERY query);
/* Reads the newest sample. `before` and `now` are soak-churn's tables before and after the
 * collection. */
bool watch_take(struct watch *watch, const unsigned *before, const struct churn *now);
/* Returns the position of the row with the same name and number in the previous sample; -1:
 * none. */
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

/* ---- known.c: counters whose right values are known ---- */
bool known_add(PDH_HQUERY query, struct watch *steps);
/* reads the kernel's own counts; called directly before and after each collection */
void known_look(bool after);
void known_judge(const struct watch *steps, const struct interval *interval);

#endif
