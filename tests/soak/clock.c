/* SPDX-License-Identifier: MIT */
/*
 * The function clock_gettime of this program replaces that of the C library, also for the libraries
 * that the program loads. So the test can set their wall clock, and that of no other program. The
 * monotonic clocks stay the kernel's, as when a real clock is set.
 */
#include "soak.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_clock_gettime64
enum { GET_TIME = SYS_clock_gettime64 };
#else
enum { GET_TIME = SYS_clock_gettime };
#endif

static atomic_llong offset_ns, waiting_ns;
static atomic_int readings_until;

double clock_real(void)
{
    struct timespec time;
    syscall(GET_TIME, CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void clock_step(double seconds)
{
    atomic_fetch_add(&offset_ns, (long long)(seconds * 1e9));
}

void clock_step_within(double seconds, int readings)
{
    atomic_store(&waiting_ns, (long long)(seconds * 1e9));
    atomic_store(&readings_until, readings);
}

bool clock_stepped(void)
{
    return atomic_load(&readings_until) <= 0;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    const long long second = 1000000000;
    int status = (int)syscall(GET_TIME, which, ret);
    if (which != CLOCK_REALTIME || status)
        return status;
    if (atomic_load(&readings_until) > 0 && atomic_fetch_sub(&readings_until, 1) == 1)
        atomic_fetch_add(&offset_ns, atomic_load(&waiting_ns));
    long long ns = (long long)ret->tv_sec * second + ret->tv_nsec + atomic_load(&offset_ns);
    ret->tv_sec = (time_t)(ns / second);
    ret->tv_nsec = (long)(ns % second);
    return 0;
}
