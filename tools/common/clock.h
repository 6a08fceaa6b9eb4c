/* SPDX-License-Identifier: MIT */
/* The time of a clock, in seconds. */
#ifndef OPL_TOOLS_CLOCK_H
#define OPL_TOOLS_CLOCK_H

#include <time.h>

static inline double clock_seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
