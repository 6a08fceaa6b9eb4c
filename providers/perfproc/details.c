/* SPDX-License-Identifier: MIT */
/*
 * Thread Details (816), costly: the current instruction address of each thread of Thread. The
 * kernel reports the address only of a waiting thread, and only to a program that may trace it; the
 * address of a running thread is unknown. A thread without an address is not an instance, because 0
 * would be an address.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfproc.h"

/* The file contains "running", or "-1 SP PC", or the number of a system call, its six arguments, SP
 * and PC (stack pointer and program counter). */
static const opl_source call = {"proc/*/syscall"};

static bool user_pc(opl_reading *reading, uint64_t *ret)
{
    const char *text = opl_reading_text(reading, &call, NULL);
    const char *last = text ? strrchr(text, ' ') : NULL;
    if (!last)
        return false;
    *ret = strtoull(last + 1, NULL, 16);
    return true;
}

/* clang-format off */
static const opl_counter counters[] = {
    {708, 709, PERF_COUNTER_LARGE_RAWCOUNT_HEX, 0, PERF_DETAIL_WIZARD, OPL_FN(user_pc), .name = "User PC",
     .help = "The address in its program at which the thread will continue after its wait. Threads that run at this moment, and threads that this user may not "
             "inspect, are absent.",
     .where = "`proc/*/syscall`: the last word"},
};
/* clang-format on */

void perfproc_add_details(opl_listing *details, uint32_t process, uint32_t thread,
                          uint32_t position, unsigned ordinal)
{
    char folder[40], name[16];
    snprintf(folder, sizeof folder, "%u/task/%u", (unsigned)process, (unsigned)thread);
    int length = snprintf(name, sizeof name, "%u", ordinal);
    uint64_t pc;
    if (!user_pc(opl_listing_at(details, folder), &pc))
        return;
    if (opl_listing_read(details, folder, name, (size_t)length))
        opl_listing_parent(details, &perfproc_process, position);
}

const opl_object perfproc_thread_details = {
    .index = 816,
    .help_index = 817,
    .name = "Thread Details",
    .help = "The Thread Details object shows where in its program each thread is. The parent of a "
            "thread is its process.",
    OPL_COUNTERS(counters),
    .costly = true,
    .related = &perfproc_process,
    .instances = true,
    .listed_with = &perfproc_process,
};
