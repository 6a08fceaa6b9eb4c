/* SPDX-License-Identifier: MIT */
/* One case: a faulty third-party provider, in-process or isolated, at one test level. Each case
 * runs in a separate process. */
#ifndef OPL_EXPERIMENTS_CASE_H
#define OPL_EXPERIMENTS_CASE_H

#include <stdio.h>

#include "kinds.h"

/* Runs a case in the laboratory (a root folder for tests, see lab.h), which the caller has opened.
 * Prints a line to `report` for each result that is not as expected. */
void case_run(const struct kind_table *table, const struct kind *kind, int isolation, int level,
              FILE *report);

#endif
