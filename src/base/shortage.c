/* SPDX-License-Identifier: MIT */
/*
 * A query whose buffer is too small returns only a status that says so
 * (docs/windows/articles.md#c118). The sizes that were needed are kept here, for the event that
 * reports endless retries. An answer does not state either which counters are missing because this
 * user may not read them: their names are kept here, for tools.
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
