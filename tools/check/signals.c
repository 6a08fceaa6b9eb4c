/* SPDX-License-Identifier: MIT */
/*
 * The C library's functions that send signals, defined in this program: so the checked library
 * calls these. In the worker, a signal to another process is counted, and refused as in a helper
 * process. Calls that bypass them are refused by the worker's system call filter, but not counted.
 */
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static bool refusing;
static uint32_t refused;

void signals_refuse(void)
{
    refusing = true;
}

uint32_t signals_refused(void)
{
    return __atomic_exchange_n(&refused, 0, __ATOMIC_RELAXED);
}

/* True if the signal must not be sent. Signal 0 only tests whether a process exists. */
static bool refuse(pid_t process, int number)
{
    if (!refusing || number == 0 || process == getpid())
        return false;
    __atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
    errno = EPERM;
    return true;
}

EXPORTED int kill(pid_t process, int number)
{
    return refuse(process, number) ? -1 : (int)syscall(SYS_kill, process, number);
}

EXPORTED int killpg(pid_t group, int number)
{
    return kill(-group, number);
}

EXPORTED int tgkill(pid_t process, pid_t thread, int number)
{
    return refuse(process, number) ? -1 : (int)syscall(SYS_tgkill, process, thread, number);
}

EXPORTED int sigqueue(pid_t process, int number, const union sigval value)
{
    siginfo_t info = {.si_signo = number, .si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value = value;
    return refuse(process, number) ? -1 : (int)syscall(SYS_rt_sigqueueinfo, process, number, &info);
}
