/* SPDX-License-Identifier: MIT */
/* Doing something every so many seconds, until Ctrl-C. */
#ifndef OPL_TOOLS_PACE_H
#define OPL_TOOLS_PACE_H

#include <stdbool.h>
#include <time.h>

struct pace {
    struct timespec next; /* when it is due, monotonic */
};

/* From now on SIGINT, SIGTERM and SIGHUP (unless ignored) end a wait and are remembered. */
void pace_catch(void);
bool pace_stopped(void);
/* Now it is due. */
void pace_begin(struct pace *pace);
/* Waits until `seconds` behind the last time due; what was missed is left out. False: stopped. */
bool pace_wait(struct pace *pace, double seconds);
/* "[[hh:]mm:]ss" with fractions, from a millisecond to a year; false: it is none. */
bool pace_parse(const char *text, double *ret_seconds);

#endif
