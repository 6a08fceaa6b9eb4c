/* SPDX-License-Identifier: MIT */
/* Memory that the program soak-churn shares with the program soak: it says for each process ID
 * which of soak-churn's processes has that ID now. */
#ifndef OPL_TEST_SOAK_CHURN_H
#define OPL_TEST_SOAK_CHURN_H

#include <stdatomic.h>

/* soak-churn counts its processes from 1. The entry of a process ID is set to that count after the
 * process has started, and to 0 before the ID can be reused. So a program that reads the same count
 * twice has seen the same process. */
enum { CHURN_TRACKED = 65536 };
struct churn {
    atomic_uint process[CHURN_TRACKED];
    /* reused: how many processes got an ID that an earlier one had */
    atomic_uint started, ended, reused;
    atomic_uint small_range; /* the IDs are few, so they are soon reused */
};

#endif
