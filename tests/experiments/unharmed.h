/* SPDX-License-Identifier: MIT */
/* Compares a program's own state (descriptors, signals, limits ...) before and after it queried
 * third-party providers. */
#ifndef OPL_EXPERIMENTS_UNHARMED_H
#define OPL_EXPERIMENTS_UNHARMED_H

#include <stdio.h>

/* Opens descriptors, sets a SIGCHLD handler, a timer, a signal mask and more, and records the
 * state. */
void unharmed_begin(void);
/* Prints a line for each part of the state that has changed. */
void unharmed_end(FILE *report);

#endif
