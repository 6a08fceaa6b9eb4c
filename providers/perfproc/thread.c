/* SPDX-License-Identifier: MIT */
/*
 * Thread (232): the threads of the processes that are in Process of the same answer, named by their
 * ordinal in the process. Linux reports neither the start address of a thread nor a wait reason
 * like Windows'.
 */
#include <string.h>

#include "perfproc.h"

static const opl_source schedstat = {"proc/*/schedstat"};
static const opl_source status = {"proc/*/status"};

/* Words of proc/PID/stat. */
enum { STAT_PRIORITY = 18 };

static bool priority_current(opl_reading *reading, uint64_t *ret)
{
    uint64_t priority;
    if (!opl_reading_column(reading, &perfproc_stat, STAT_PRIORITY, &priority))
        return false;
    *ret = perfproc_priority_level((int64_t)priority);
    return true;
}

/* Returns the number of context switches, from schedstat, because reading status takes five times
 * as long. In kernels without scheduler statistics schedstat is absent or 0, and status is read. */
static bool context_switches(opl_reading *reading, uint64_t *ret)
{
    uint64_t waited, forced;
    if (opl_reading_column(reading, &schedstat, 3, ret) && *ret > 0)
        return true;
    if (!opl_reading_key(reading, &status, "voluntary_ctxt_switches", &waited) ||
        !opl_reading_key(reading, &status, "nonvoluntary_ctxt_switches", &forced))
        return false;
    *ret = waited + forced;
    return true;
}

static bool process_number(opl_reading *reading, uint64_t *ret)
{
    *ret = opl_reading_note(reading);
    return true;
}

/* Linux' letters for states, and Windows' numbers for them. */
static const struct thread_state {
    char letters[8];
    uint64_t number;
} states[] = {
    {"R",      PERFPROC_RUNNING   },
    {"SDITtP", PERFPROC_WAITING   },
    {"ZXx",    PERFPROC_TERMINATED}
};

static bool thread_state(opl_reading *reading, uint64_t *ret)
{
    size_t bytes;
    const char *text = opl_reading_text(reading, &perfproc_stat, &bytes);
    const char *end = text ? memrchr(text, ')', bytes) : NULL;
    if (!end || end[1] != ' ' || !end[2])
        return false;
    *ret = PERFPROC_UNKNOWN;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strchr(states[i].letters, end[2]))
            *ret = states[i].number;
    return true;
}

/* Windows' numbers of the first four explanations are unknown; the numbers here are unused ones. */
#define THREAD(member) OPL_FIELD(struct perfproc_task, member)
/* clang-format off */
static const opl_counter counters[] = {
    {6, 193, PERF_100NSEC_TIMER, 0, PERF_DETAIL_NOVICE, OPL_COLUMNS(&perfproc_stat, 14, 15, OPL_TICKS),
     .item = THREAD(processor_time),
     .name = "% Processor Time",
     .help = "The share of elapsed time that the thread ran on a processor."},
    {142, 195, PERF_100NSEC_TIMER, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfproc_stat, 14, OPL_TICKS),
     .item = THREAD(user_time),
     .name = "% User Time",
     .help = "The share of elapsed time that the thread ran in user mode, that is in the code of its program."},
    {144, 197, PERF_100NSEC_TIMER, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfproc_stat, 15, OPL_TICKS),
     .item = THREAD(system_time),
     .name = "% Privileged Time",
     .help = "The share of elapsed time that the thread ran in privileged mode, that is inside the operating "
             "system."},
    {146, 335, PERF_COUNTER_COUNTER, -2, PERF_DETAIL_NOVICE, OPL_FN(context_switches),
     .item = THREAD(switches),
     .name = "Context Switches/sec",
     .help = "The rate at which a processor changes to this thread from another one.",
     .where = "`proc/*/schedstat`: word 3, how often the thread was put on a processor; where the kernel does not "
              "count it, `proc/*/status`: voluntary_ctxt_switches + nonvoluntary_ctxt_switches"},
    {684, 685, PERF_ELAPSED_TIME, -4, PERF_DETAIL_ADVANCED, OPL_FN(perfproc_creation), .total = OPL_NOW,
     .item = THREAD(creation),
     .name = "Elapsed Time",
     .help = "The time, in seconds, since the process or thread was started.",
     .where = "`proc/*/stat`: word 22, ticks since the start of the system, added to the FILETIME of that start"},
    {694, 695, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN(priority_current), .total = OPL_NONE,
     .item = THREAD(priority),
     .name = "Priority Current",
     .help = "The priority of the thread at this moment. The system may raise and lower it around the base priority.",
     .where = "`proc/*/stat`: word 18, the priority that the scheduler uses now, on the scale of Priority Base"},
    {682, 683, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN(perfproc_priority_base), .total = OPL_NONE,
     .item = THREAD(priority_base),
     .name = "Priority Base",
     .help = "The base priority of the process or thread. Its threads are scheduled around this value; a higher "
             "one goes first.",
     .where = "`proc/*/stat`: words 19, 40, 41: nice 19..0..-20 is 1..8..15, real-time priority 1..99 is 16..31, a "
              "deadline 31, the idle policy 1"},
    {46, 47, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_WIZARD, OPL_FN(thread_state), .total = OPL_NONE,
     .item = THREAD(state),
     .name = "Thread State",
     .help = "What the thread is doing, as a number: 0 initialized, 1 ready, 2 running, 3 about to run, 4 "
             "terminated, 5 waiting, 6 in transition, 7 unknown.",
     .where = "`proc/*/stat`: word 3: R is 2 (running or ready: Linux does not distinguish them), S, D, I, T, t and "
              "P are 5, Z, X and x are 4, others 7"},
    {784, 785, PERF_COUNTER_RAWCOUNT, -1, PERF_DETAIL_NOVICE, OPL_FN(process_number), .total = OPL_NONE,
     .item = THREAD(process),
     .name = "ID Process",
     .help = "The number that identifies the process as long as it exists. It may be given to another process "
             "later.",
     .where = "the number of the folder in `proc`"},
    {804, 805, PERF_COUNTER_RAWCOUNT, -1, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfproc_stat, 1, OPL_ONE), .total = OPL_NONE,
     .item = THREAD(id),
     .name = "ID Thread",
     .help = "The number that identifies the thread as long as it exists. It may be given to another thread later."},
};
/* clang-format on */

const opl_object perfproc_thread = {
    .index = 232,
    .help_index = 233,
    .name = "Thread",
    .help = "The Thread object shows what each thread of each process does. The parent of a thread "
            "is its process.",
    OPL_COUNTERS(counters),
    .default_counter = 6,
    .clock = true,
    .related = &perfproc_process,
    .instances = true,
    .total = "_Total",
    .listed_with = &perfproc_process,
};
