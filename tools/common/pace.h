/* SPDX-License-Identifier: MIT */
/* Repeats something at a fixed interval, until Ctrl-C. */
#ifndef OPL_TOOLS_PACE_H
#define OPL_TOOLS_PACE_H

#include <stdbool.h>
#include <time.h>

struct pace {
    struct timespec next; /* the next time, monotonic */
};

/* From now on SIGINT, SIGTERM and SIGHUP (unless ignored) end a wait, and pace_wait returns
 * false. */
void pace_catch(void);
bool pace_stopped(void);
/* Sets the next time to now. */
void pace_begin(struct pace *pace);
/* Waits until `seconds` after the previous time; skips times that have passed. False: a signal
 * came. */
bool pace_wait(struct pace *pace, double seconds);
/* Parses "[[hh:]mm:]ss" with fractions, a millisecond to a year. False: it is no such time. */
bool pace_parse(const char *text, double *ret_seconds);

#endif
