/* SPDX-License-Identifier: MIT */
/*
 * A query whose buffer is too small returns that status and nothing more
 * (docs/windows/articles.md#c118). The sizes measured on the way are kept here, for the event that
 * reports endless retries. Nor does an answer state which counters it lacks because of missing
 * rights; tools for people want to report them.
 */
#include "base/base.h"

struct shortage *shortage_here(void)
{
    static _Thread_local struct shortage here;
    return &here;
}

char *denied_here(void)
{
    static _Thread_local char here[DENIED_SIZE];
    return here;
}
