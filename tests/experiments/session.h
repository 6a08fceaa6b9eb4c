/* SPDX-License-Identifier: MIT */
/*
 * Sessions: new processes that query (asker.c), and the notes that recording providers (recorder.c)
 * wrote meanwhile. Each function fails the running cmocka test if something is not as expected.
 */
#ifndef OPL_EXPERIMENTS_SESSION_H
#define OPL_EXPERIMENTS_SESSION_H

#include "lab.h"

struct experiment {
    const char *name;
    void (*run)(void **state);
    bool isolated_only;
};

extern int isolation; /* the registry value Isolation of every provider in the running test */

/* install registers the service MyPerf with the recording library; install_second registers
 * MySecond with the second library, whose notes begin with "second" and whose object is 33332.
 * `list` NULL: no Object List. */
void install(const char *open, const char *collect, const char *list);
void install_second(const char *collect, const char *list);
/* A new process makes these queries (NULL ends the list) and closes the key; its exit code must be
 * 0. */
void session(const char *first, ...);
/* The calls that the provider noted since the last check, joined by ", ". */
const char *calls_so_far(void);
/* Expects that exactly these calls were noted since the last check; "": none. A helper process may
 * note Close a moment after the key was closed. */
void expect_calls(const char *wanted);
/* Expects that exactly these events were written since the last check, as "warning 2000, error
 * 1017". */
void expect_events(const char *wanted);
/* Expects that the event `id` was reported `times` times, and no other event: the first ten are
 * written one by one; the rest are written as one event with their count, when the key is
 * closed. */
void expect_each_time(unsigned id, int times);
/* The line with the answer to a query, without the query: "status 0, 1 try, 2:17". */
const char *answer_to(const char *question);
/* How many calls of RegQueryValueEx the command "grow QUERY" of asker.c needed. */
int tries_of(const char *question);
/* Did a valid answer to the query have this object ("2", or "2:17" with its number of counters)? */
bool answered(const char *question, const char *object);
/* The registry value Disable Performance Counters of the service MyPerf; 0: there is no such
 * value. */
DWORD disabled(void);

/* Runs the experiments in one laboratory; `way` is "in-process" or "isolated". Returns the exit
 * code. */
int run_experiments(const struct experiment *experiments, size_t count, const char *way);

#endif
