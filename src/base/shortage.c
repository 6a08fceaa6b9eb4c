/* SPDX-License-Identifier: MIT */
/*
 * A query that lacks room says nothing but that it lacks room (C118). What was measured on the way
 * is kept here, for the event that a loop without an end is worth.
 */
#include "base/base.h"

struct shortage *shortage_here(void)
{
    static _Thread_local struct shortage here;
    return &here;
}
