/* SPDX-License-Identifier: MIT */
/*
 * System (2): the machine as a whole. Counts are those of the whole kernel, also in a container,
 * where the object Process shows only the processes of its pid namespace.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "perfos.h"

static bool up_time(opl_reading *reading, uint64_t *ret)
{
    *ret = (uint64_t)opl_boot_time(reading);
    return *ret != 0;
}

/* Estimates how many threads wait for a processor. The kernel reports running and ready threads as
 * one number. At most one thread per processor can run, so the other threads wait. The calling
 * thread runs and is not counted. */
static bool queue_length(opl_reading *reading, uint64_t *ret)
{
    uint64_t runnable;
    unsigned processors = 0;
    if (!opl_reading_key(reading, &perfos_stat, "procs_running", &runnable))
        return false;
    /* each online processor has a line "cpu0 ...", "cpu1 ...", after the sum "cpu  ..." */
    const char *line = opl_reading_text(reading, &perfos_stat, NULL);
    while (line && strncmp(line, "cpu", 3) == 0) {
        processors += isdigit((unsigned char)line[3]) != 0;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    *ret = runnable > processors ? runnable - processors : 0;
    return processors > 0;
}

/* Returns the number after the slash in proc/loadavg: 94 for "0.56 0.18 0.08 1/94 7030". */
bool perfos_threads(opl_reading *reading, uint64_t *ret)
{
    const char *text = opl_reading_text(reading, &perfos_loadavg, NULL);
    const char *slash = text ? strchr(text, '/') : NULL;
    if (!slash || !isdigit((unsigned char)slash[1]))
        return false;
    for (*ret = 0; isdigit((unsigned char)*++slash);)
        *ret = *ret * 10 + (uint64_t)(*slash - '0');
    return true;
}

/* Hundredths of the `number`-th load average: 236 for the 2.36 in "2.36 1.07 0.43 1/94 7030". */
static bool load(opl_reading *reading, unsigned number, uint64_t *ret)
{
    const char *at = opl_reading_text(reading, &perfos_loadavg, NULL);
    for (unsigned i = 1; at && i < number; i++)
        at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL;
    char *point;
    if (!at || !isdigit((unsigned char)*at))
        return false;
    *ret = strtoull(at, &point, 10) * 100;
    if (*point != '.' || !isdigit((unsigned char)point[1]) || !isdigit((unsigned char)point[2]))
        return false;
    *ret += (uint64_t)(point[1] - '0') * 10 + (uint64_t)(point[2] - '0');
    return true;
}

static bool load_1(opl_reading *reading, uint64_t *ret)
{
    return load(reading, 1, ret);
}

static bool load_5(opl_reading *reading, uint64_t *ret)
{
    return load(reading, 2, ret);
}

static bool load_15(opl_reading *reading, uint64_t *ret)
{
    return load(reading, 3, ret);
}

/* PDH shows numerator * 100 / base of a fraction: hundredths of the load * 100 / 10,000 is the
 * load. */
static const uint32_t whole_load = 10000;
#define LOAD(function, number, time)                                                               \
    PERF_RAW_FRACTION, 0, PERF_DETAIL_NOVICE, OPL_FN_OF(&perfos_loadavg, function),                \
        .base = OPL_VARIABLE(whole_load), .name = "Load Average " time " min",                     \
        .where = "word " #number " of proc/loadavg, of 100"
#define LOAD_HELP(time)                                                                            \
    "Tasks that ran, or waited for a processor or uninterruptibly for a disk, as the kernel "      \
    "averages them over about " time ". The value is no percentage and may exceed 100."

/* clang-format off */
static const opl_counter counters[] = {
    {146, 147, PERF_COUNTER_COUNTER, -2, PERF_DETAIL_ADVANCED, OPL_KEY(&perfos_stat, "ctxt", OPL_ONE), .name = "Context Switches/sec",
     .help = "How often per second the processors changed from one thread to another, all processors together."},
    {674, 675, PERF_ELAPSED_TIME, -5, PERF_DETAIL_NOVICE, OPL_FN(up_time), .name = "System Up Time",
     .help = "Seconds since the machine was started, sleep included.", .where = "btime of proc/stat"},
    {44, 45, PERF_COUNTER_RAWCOUNT, 1, PERF_DETAIL_WIZARD, OPL_FN(queue_length), .name = "Processor Queue Length",
     .help = "Threads that could run but wait for a processor, at this moment. Linux counts running and waiting threads together, so this is the count of both "
             "less the number of processors: at least this many threads wait.", .where = "procs_running of proc/stat, minus the number of processors"},
    {248, 249, PERF_COUNTER_RAWCOUNT, 1, PERF_DETAIL_WIZARD, OPL_FN(opl_reading_process_count), .name = PROCESSES_NAME, .help = PROCESSES_HELP,
     .where = PROCESSES_WHERE},
    {250, 251, PERF_COUNTER_RAWCOUNT, 1, PERF_DETAIL_WIZARD, OPL_FN(perfos_threads), .name = THREADS_NAME, .help = THREADS_HELP,
     .where = THREADS_WHERE},
    {101402, 101403, LOAD(load_1, 1, "1"), .help = LOAD_HELP("1 minute")},
    {101404, 101405, LOAD(load_5, 2, "5"), .help = LOAD_HELP("5 minutes")},
    {101406, 101407, LOAD(load_15, 3, "15"), .help = LOAD_HELP("15 minutes")},
};
/* clang-format on */

/* On Windows the counter shown first is File Data Operations/sec, which Linux does not count. */
const opl_object perfos_system = {
    2,
    3,
    "System",
    "The machine as a whole: how long it has been up, how much there is to do, and how many "
    "processes and threads exist.",
    OPL_COUNTERS(counters),
    .default_counter = 406,
    .clock = true};
