/* SPDX-License-Identifier: MIT */
/*
 * A query whose buffer is too small returns only a status that says so
 * (docs/windows/articles.md#c118). The sizes measured on the way are kept here, for the event that
 * reports endless retries. Nor does an answer state which counters it lacks because of missing
 * rights: their names are kept here too, for tools that report them.
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
