/* SPDX-License-Identifier: MIT */
/*
 * Splits a task's run time into user and system time like the kernel, which knows the run time
 * exactly, but samples user and system time only at ticks: by the ratio of the ticks, and so that
 * neither part ever decreases. proc(5) does not describe this; it was derived from values in
 * /proc/PID/stat.
 */
#include "perfproc.h"

/* a * b / c, for a <= c, exact even if a * b does not fit into 64 bits. */
static uint64_t scaled(uint64_t a, uint64_t b, uint64_t c)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b / c);
#else
    uint64_t whole = 0, rest = 0; /* quotient and remainder of a * (the bits of b so far) / c */
    for (int bit = 63; bit >= 0; bit--) {
        bool carried = rest >> 63;
        rest <<= 1;
        whole <<= 1;
        if (carried || rest >= c) {
            rest -= c;
            whole++;
        }
        if (!(b >> bit & 1))
            continue;
        if (rest >= c - a) {
            rest -= c - a;
            whole++;
        } else {
            rest += a;
        }
    }
    return whole;
#endif
}

static uint64_t system_share(struct perfproc_cputime ticks, uint64_t run)
{
    if (ticks.system == 0)
        return 0;
    return ticks.user == 0 ? run : scaled(ticks.system, run, ticks.user + ticks.system);
}

struct perfproc_cputime perfproc_no_less(struct perfproc_cputime split,
                                         struct perfproc_cputime shown)
{
    uint64_t run = split.user + split.system;
    if (shown.user + shown.system >= run)
        return shown;
    if (split.system < shown.system)
        split.system = shown.system;
    split.user = run - split.system;
    if (split.user < shown.user) {
        split.user = shown.user;
        split.system = run - split.user;
    }
    return split;
}

struct perfproc_cputime perfproc_split(struct perfproc_cputime ticks, uint64_t run,
                                       struct perfproc_cputime proc, struct perfproc_cputime shown)
{
    uint64_t system = system_share(ticks, run);
    struct perfproc_cputime split = {run - system, system};
    return perfproc_no_less(perfproc_no_less(split, proc), shown);
}
