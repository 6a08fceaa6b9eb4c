/* SPDX-License-Identifier: MIT */
/* One case: one third-party provider, one mode, one test level, in a separate process. */
#ifndef OPL_EXPERIMENTS_CASE_H
#define OPL_EXPERIMENTS_CASE_H

#include <stdio.h>

#include "kinds.h"

/* Runs in a laboratory that is open, and prints a line for each thing that is not as it must be. */
void case_run(const struct kind_table *table, const struct kind *kind, int isolation, int level,
              FILE *report);

#endif
