/* SPDX-License-Identifier: MIT */
/* Values that processes and threads share: the time of creation, and priorities. */
#include <unistd.h>

#include "perfproc.h"

/* Words of proc/PID/stat, counted as in proc(5). */
enum { STAT_NICE = 19, STAT_START = 22, STAT_REALTIME = 40, STAT_POLICY = 41 };
enum { POLICY_FIFO = 1, POLICY_RR = 2, POLICY_IDLE = 5, POLICY_DEADLINE = 6 };
/* Windows: 1..15 are ordinary priorities, 8 is normal, 16..31 are real-time priorities. */
enum { LEVEL_LOWEST = 1, LEVEL_NORMAL = 8, LEVEL_REALTIME = 16, LEVEL_HIGHEST = 31 };

bool perfproc_creation(opl_reading *reading, uint64_t *ret)
{
    uint64_t ticks;
    LONGLONG boot = opl_boot_time(reading);
    if (!boot || !opl_reading_column(reading, &perfproc_stat, STAT_START, &ticks))
        return false;
    *ret = (uint64_t)boot + ticks * perfproc_tick_100ns();
    return true;
}

uint64_t perfproc_tick_100ns(void)
{
    return 10000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

static uint64_t level_of_nice(int64_t nice)
{
    int64_t level = nice > 0 ? LEVEL_NORMAL - (nice * 7 + 9) / 19 : LEVEL_NORMAL - nice * 7 / 20;
    return (uint64_t)(level < LEVEL_LOWEST ? LEVEL_LOWEST : level);
}

static uint64_t level_of_realtime(int64_t realtime)
{
    int64_t level = LEVEL_REALTIME + (realtime - 1) * 15 / 98;
    return (uint64_t)(level > LEVEL_HIGHEST ? LEVEL_HIGHEST : level);
}

uint64_t perfproc_priority_level(int64_t priority)
{
    return priority < 0 ? level_of_realtime(-1 - priority) : level_of_nice(priority - 20);
}

uint64_t perfproc_base_level(uint64_t policy, uint64_t realtime, int64_t nice)
{
    if (policy == POLICY_FIFO || policy == POLICY_RR)
        return level_of_realtime((int64_t)realtime);
    if (policy == POLICY_DEADLINE)
        return LEVEL_HIGHEST;
    return policy == POLICY_IDLE ? LEVEL_LOWEST : level_of_nice(nice);
}

bool perfproc_priority_base(opl_reading *reading, uint64_t *ret)
{
    uint64_t nice, realtime, policy;
    if (!opl_reading_column(reading, &perfproc_stat, STAT_POLICY, &policy) ||
        !opl_reading_column(reading, &perfproc_stat, STAT_REALTIME, &realtime) ||
        !opl_reading_column(reading, &perfproc_stat, STAT_NICE, &nice))
        return false;
    *ret = perfproc_base_level(policy, realtime, (int64_t)nice);
    return true;
}
