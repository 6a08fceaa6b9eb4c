/* SPDX-License-Identifier: MIT */
/* The clocks of a block: ticks from CLOCK_MONOTONIC, 100 ns since 1601 from CLOCK_REALTIME. */
#include "base/base.h"

#include <time.h>

static int64_t in_100ns(const struct timespec *time)
{
    return (int64_t)time->tv_sec * CLOCK_TICKS_PER_SECOND + time->tv_nsec / 100;
}

int64_t clock_ticks(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return in_100ns(&now);
}
