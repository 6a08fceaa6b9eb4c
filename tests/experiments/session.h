/* SPDX-License-Identifier: MIT */
/*
 * Sessions: new processes that ask (asker.c), and what recording providers (recorder.c) noted
 * meanwhile. The functions fail the running cmocka test.
 */
#ifndef OPL_EXPERIMENTS_SESSION_H
#define OPL_EXPERIMENTS_SESSION_H

#include "lab.h"

struct experiment {
    const char *name;
    void (*run)(void **state);
    bool isolated_only;
};

extern int isolation; /* of every provider of the running test */

/* The service MyPerf with the recording library, and MySecond with the other one, whose notes begin
 * with "second" and whose object is 33332. A NULL list is none. */
void install(const char *open, const char *collect, const char *list);
void install_second(const char *collect, const char *list);
/* A new process asks these questions (NULL ends them), closes the key and ends well. */
void session(const char *first, ...);
/* The calls noted since they were last expected, joined by ", ". */
const char *calls_so_far(void);
/* Exactly these calls since the last time it was asked; "" is none. A helper may close a moment
 * after the key was closed. */
void expect_calls(const char *wanted);
/* Exactly these events since the last time, as "warning 2000, error 1017". */
void expect_events(const char *wanted);
/* An event for each time, the first ten singly, and no other. */
void expect_each_time(unsigned id, int times);
/* The line that answers this question, without its head: "status 0, 1 try, 2:17". */
const char *answer_to(const char *question);
/* How often "grow" asked. */
int tries_of(const char *question);
/* Was there an object (as "2", or "2:17" with its counters) in a sound answer? */
bool answered(const char *question, const char *object);
/* Disable Performance Counters of MyPerf; 0: absent. */
DWORD disabled(void);

/* Runs them in one laboratory; `way` is "in-process" or "isolated". The exit code. */
int run_experiments(const struct experiment *experiments, size_t count, const char *way);

#endif
