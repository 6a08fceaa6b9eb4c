/* SPDX-License-Identifier: MIT */
/* The calling thread's priority, and locks of one process. */
#include "shims.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- priority ---- */

static const struct {
    int priority, nice; /* relative to the process's first value */
} levels[] = {
    {THREAD_PRIORITY_TIME_CRITICAL, -20},
    {THREAD_PRIORITY_HIGHEST,       -10},
    {THREAD_PRIORITY_ABOVE_NORMAL,  -5 },
    {THREAD_PRIORITY_NORMAL,        0  },
    {THREAD_PRIORITY_BELOW_NORMAL,  5  },
    {THREAD_PRIORITY_LOWEST,        10 },
    {THREAD_PRIORITY_IDLE,          19 },
};
enum { LEVELS = sizeof levels / sizeof *levels };

static int normal; /* the process's nice value at the first call in this module */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_normal(void)
{
    normal = getpriority(PRIO_PROCESS, 0);
}

static int nice_of(size_t level)
{
    int value = normal + levels[level].nice;
    return value < -20 ? -20 : value > 19 ? 19 : value;
}

HANDLE WINAPI GetCurrentThread(void)
{
    return (HANDLE)(intptr_t)-2;
}

BOOL WINAPI SetThreadPriority(HANDLE thread, int priority)
{
    size_t level = 0;
    if (thread != GetCurrentThread())
        return opl_shim_fail(ERROR_INVALID_HANDLE);
    while (level < LEVELS && levels[level].priority != priority)
        level++;
    if (level == LEVELS)
        return opl_shim_fail(ERROR_INVALID_PARAMETER);
    pthread_once(&once, find_normal);
    /* on Linux, PRIO_PROCESS 0 is only the calling thread */
    if (setpriority(PRIO_PROCESS, 0, nice_of(level)) != 0)
        return opl_shim_fail(ERROR_ACCESS_DENIED);
    return TRUE;
}

/* Returns the level that is nearest to the nice value, which other programs may have set. */
int WINAPI GetThreadPriority(HANDLE thread)
{
    if (thread != GetCurrentThread()) {
        SetLastError(ERROR_INVALID_HANDLE);
        return THREAD_PRIORITY_ERROR_RETURN;
    }
    pthread_once(&once, find_normal);
    int now = getpriority(PRIO_PROCESS, 0), best = THREAD_PRIORITY_NORMAL,
        distance = abs(now - normal);
    for (size_t i = 0; i < LEVELS; i++)
        if (abs(now - nice_of(i)) < distance) {
            distance = abs(now - nice_of(i));
            best = levels[i].priority;
        }
    return best;
}

/* ---- critical sections ---- */

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(CRITICAL_SECTION),
               "CRITICAL_SECTION is smaller than the C library's mutex");

static pthread_mutex_t *mutex_of(LPCRITICAL_SECTION section)
{
    return (pthread_mutex_t *)section->opl_mutex;
}

BOOL WINAPI InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION section, DWORD count)
{
    pthread_mutexattr_t kind;
    if (pthread_mutexattr_init(&kind) != 0)
        return opl_shim_fail(ERROR_NOT_ENOUGH_MEMORY);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    int error = pthread_mutex_init(mutex_of(section), &kind);
    pthread_mutexattr_destroy(&kind);
    return error ? opl_shim_fail(ERROR_NOT_ENOUGH_MEMORY) : TRUE;
}

void WINAPI InitializeCriticalSection(LPCRITICAL_SECTION section)
{
    InitializeCriticalSectionAndSpinCount(section, 0);
}

void WINAPI EnterCriticalSection(LPCRITICAL_SECTION section)
{
    pthread_mutex_lock(mutex_of(section));
}

BOOL WINAPI TryEnterCriticalSection(LPCRITICAL_SECTION section)
{
    return pthread_mutex_trylock(mutex_of(section)) == 0;
}

void WINAPI LeaveCriticalSection(LPCRITICAL_SECTION section)
{
    pthread_mutex_unlock(mutex_of(section));
}

void WINAPI DeleteCriticalSection(LPCRITICAL_SECTION section)
{
    pthread_mutex_destroy(mutex_of(section));
}
