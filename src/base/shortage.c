/* SPDX-License-Identifier: MIT */
/*
 * A query that lacks room says nothing but that it lacks room (C118). What was measured on the way
 * is kept here, for the event that a loop without an end is worth. Nor does an answer say what is
 * not in it for lack of rights; programs with a person before them want to.
 */
#include "base/base.h"

struct shortage *shortage_here(void)
{
    static _Thread_local struct shortage here;
    return &here;
}

char *denied_here(void)
{
    static _Thread_local char here[DENIED_ROOM];
    return here;
}
