/* SPDX-License-Identifier: MIT */
/* Waits and wakes between two processes, by futexes in shared memory. */
#include "host/isolation/channel.h"

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

/* the kernel's struct timespec; libc's may have a wider time_t */
struct short_moment {
    long seconds, nanoseconds;
};

static int wait_call(_Atomic uint32_t *word, uint32_t value, int64_t seconds, long nanoseconds)
{
#ifdef SYS_futex_time64
    struct {
        int64_t seconds, nanoseconds;
    } until = {seconds, nanoseconds};
    if (!syscall(SYS_futex_time64, word, FUTEX_WAIT_BITSET, value, &until, NULL,
                 FUTEX_BITSET_MATCH_ANY) ||
        errno != ENOSYS)
        return 0;
#endif
    struct short_moment until_short = {seconds > LONG_MAX ? LONG_MAX : (long)seconds, nanoseconds};
    return (int)syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, &until_short, NULL,
                        FUTEX_BITSET_MATCH_ANY);
}

void channel_sleep(_Atomic uint32_t *word, uint32_t value, int64_t deadline_100ns)
{
    if (deadline_100ns > 0)
        wait_call(word, value, deadline_100ns / CLOCK_TICKS_PER_SECOND,
                  (long)(deadline_100ns % CLOCK_TICKS_PER_SECOND * 100));
}

void channel_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
