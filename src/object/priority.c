/* SPDX-License-Identifier: MIT */
/*
 * Costly objects are collected at a lowered priority of the calling thread.
 * (docs/windows/providers.md#d2) Without rights, Linux lets a thread lower its priority but not
 * raise it: in that case the thread only becomes a batch thread (SCHED_BATCH), which needs no
 * rights to undo.
 */
#include "object/object.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

enum { STEPS_DOWN = 5 };

/* True if the thread may raise its priority: tries to raise it by one step. (Thread 0 is the
 * calling one.) */
static bool may_rise(int nice)
{
    return setpriority(PRIO_PROCESS, 0, nice - 1) == 0;
}

static bool change_policy(int from, int to)
{
    static const struct sched_param none;
    return sched_getscheduler(0) == from && sched_setscheduler(0, to, &none) == 0;
}

struct priority priority_lower(void)
{
    struct priority usual = {0};
    errno = 0;
    usual.nice = getpriority(PRIO_PROCESS, 0);
    if (errno)
        return usual;
    usual.niced = may_rise(usual.nice);
    if (usual.niced)
        setpriority(PRIO_PROCESS, 0, usual.nice + STEPS_DOWN);
    else
        usual.batch = change_policy(SCHED_OTHER, SCHED_BATCH);
    return usual;
}

void priority_restore(struct priority usual)
{
    if (usual.niced)
        setpriority(PRIO_PROCESS, 0, usual.nice);
    if (usual.batch)
        change_policy(SCHED_BATCH, SCHED_OTHER);
}
