/* SPDX-License-Identifier: MIT */
/* A program's own state, compared before and after it queried third-party providers. */
#ifndef OPL_EXPERIMENTS_UNHARMED_H
#define OPL_EXPERIMENTS_UNHARMED_H

#include <stdio.h>

/* Opens descriptors, sets a SIGCHLD handler, a timer, a mask and more, and remembers all of it. */
void unharmed_begin(void);
/* Prints a line for each thing that is not as it was. */
void unharmed_end(FILE *report);

#endif
