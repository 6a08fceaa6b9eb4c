/* SPDX-License-Identifier: MIT */
/* One case: one third-party provider, one mode, one test level, in a separate process. */
#ifndef OPL_EXPERIMENTS_CASE_H
#define OPL_EXPERIMENTS_CASE_H

#include <stdio.h>

#include "kinds.h"

/* Runs a case in the laboratory (lab.h), which is open, and prints a line for each result that is
 * not as expected. */
void case_run(const struct kind_table *table, const struct kind *kind, int isolation, int level,
              FILE *report);

#endif
