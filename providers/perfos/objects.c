/* SPDX-License-Identifier: MIT */
/*
 * Objects (260): how many objects of each kind the kernel has.
 */
#include <stdlib.h>
#include <string.h>

#include "perfos.h"

static const opl_source semaphore_sets = {.path = "proc/sysvipc/sem"};

/* The number of semaphores: the sum of nsems in proc/sysvipc/sem, which has a line for each set. */
static bool semaphores(opl_reading *reading, uint64_t *ret)
{
    const char *line = opl_reading_text(reading, &semaphore_sets, NULL);
    if (!line)
        return false;
    *ret = 0;
    while ((line = strchr(line, '\n')) && *++line) {
        char *word = (char *)line;
        for (int skipped = 0; skipped < 3; skipped++)
            strtoul(word, &word, 10);
        *ret += strtoul(word, NULL, 10);
    }
    return true;
}

/* clang-format off */
static const opl_counter counters[] = {
    {248, 249, PERF_COUNTER_RAWCOUNT, 1, PERF_DETAIL_ADVANCED, OPL_FN(opl_reading_process_count), .name = PROCESSES_NAME, .help = PROCESSES_HELP,
     .where = PROCESSES_WHERE},
    {250, 251, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN(perfos_threads), .name = THREADS_NAME, .help = THREADS_HELP,
     .where = THREADS_WHERE},
    {254, 255, PERF_COUNTER_RAWCOUNT, -1, PERF_DETAIL_ADVANCED, OPL_FN(semaphores), .name = "Semaphores",
     .help = "Semaphores that the kernel keeps (System V). POSIX semaphores are in the programs' memory and are not counted.",
     .where = "proc/sysvipc/sem: the sum of nsems"},
};
/* clang-format on */

const opl_object perfos_objects = {260, 261, "Objects",
                                   "How many things of a kind exist in the kernel now.",
                                   OPL_COUNTERS(counters)};
