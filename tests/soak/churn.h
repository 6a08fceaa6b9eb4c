/* SPDX-License-Identifier: MIT */
/* Memory that the program soak-churn shares with the program soak: for each process ID, which of
 * the processes that it started has that ID now. */
#ifndef OPL_TEST_SOAK_CHURN_H
#define OPL_TEST_SOAK_CHURN_H

#include <stdatomic.h>

/* Processes are counted from 1. A number's entry is set when its process has started, and is 0
 * before the number can become free: a program that reads the same count twice has seen the same
 * process. */
enum { CHURN_TRACKED = 65536 };
struct churn {
    atomic_uint process[CHURN_TRACKED];
    atomic_uint started, ended, reused; /* reused: how many had a number that another had before */
    atomic_uint small_range;            /* process numbers are soon reused */
};

#endif
