/* SPDX-License-Identifier: MIT */
/*
 * Pressure (100100): how long tasks waited for processors, memory, storage or interrupts because
 * there was not enough. The kernel's values in proc/pressure: "some" while at least one task waits,
 * "full" while no task works.
 */
#include <string.h>

#include "perflinux.h"

static const opl_source pressure = {.path = "proc/pressure/*", .persistent = true};

/* The text after `key` in a line "some avg10=0.12 avg60=0.00 avg300=0.00 total=123"; NULL: none. */
static const char *find(opl_reading *reading, const char *line, const char *key)
{
    const char *text = opl_reading_text(reading, &pressure, NULL);
    size_t bytes = strlen(line);
    while (text && *text && strncmp(text, line, bytes) != 0)
        text = opl_next_line(text);
    if (!text || !*text)
        return NULL;
    const char *end = strchrnul(text, '\n');
    text = memmem(text, (size_t)(end - text), key, strlen(key));
    return text ? text + strlen(key) : NULL;
}

static bool total(opl_reading *reading, const char *line, uint64_t *ret)
{
    const char *at = find(reading, line, " total=");
    if (!at)
        return false;
    *ret = perflinux_number(&at) * 10; /* from microseconds to 100 ns */
    return true;
}

/* Reads a percentage in hundredths: "12.34", which always has two decimals, as 1234. */
static bool average(opl_reading *reading, const char *line, const char *key, uint64_t *ret)
{
    const char *at = find(reading, line, key);
    if (!at)
        return false;
    *ret = perflinux_number(&at) * 100;
    if (*at++ == '.')
        *ret += perflinux_number(&at);
    return true;
}

#define FIGURE(name, line, key)                                                                    \
    static bool name(opl_reading *reading, uint64_t *ret)                                          \
    {                                                                                              \
        return average(reading, line, key, ret);                                                   \
    }
FIGURE(some_10, "some", " avg10=")
FIGURE(some_60, "some", " avg60=")
FIGURE(some_300, "some", " avg300=")
FIGURE(full_10, "full", " avg10=")
FIGURE(full_60, "full", " avg60=")
FIGURE(full_300, "full", " avg300=")

static bool some_time(opl_reading *reading, uint64_t *ret)
{
    return total(reading, "some", ret);
}

static bool full_time(opl_reading *reading, uint64_t *ret)
{
    return total(reading, "full", ret);
}

/* The files of proc/pressure. Those that do not exist at Open are not tried again, because a
 * running kernel does not get new ones. */
static const char *const names[] = {"cpu", "memory", "io", "irq"};
enum { RESOURCES = sizeof names / sizeof *names };
static bool known, there[RESOURCES];

void perflinux_pressure_open(void)
{
    known = false;
}

static void list(opl_listing *listing)
{
    for (size_t i = 0; i < RESOURCES; i++)
        if (!known || there[i])
            there[i] = opl_listing_read(listing, names[i], names[i], strlen(names[i])) || known;
    known = true;
}

#define SOME_HELP "at least one task waited for the resource"
#define FULL_HELP                                                                                  \
    "all tasks that were not idle waited for the resource at the same time, and nothing was done"
#define AVERAGED(seconds)                                                                          \
    "The kernel's average over the last " seconds " seconds of the share of time that "
#define PERCENT(function)                                                                          \
    OPL_FN_OF(&pressure, function), .base = OPL_VARIABLE(perflinux_whole), .total = OPL_NONE
#define WHERE(line, key) "proc/pressure: " key " of the line " line

/* clang-format off */
static const opl_counter counters[] = {
    {100102, 100103, PERF_100NSEC_TIMER, 0, PERF_DETAIL_NOVICE, OPL_FN_OF(&pressure, some_time), .total = OPL_NONE, .name = "% Some Time",
     .help = "Share of time that " SOME_HELP ".", .where = WHERE("some", "total")},
    {100104, 100105, PERF_100NSEC_TIMER, 0, PERF_DETAIL_NOVICE, OPL_FN_OF(&pressure, full_time), .total = OPL_NONE, .name = "% Full Time",
     .help = "Share of time that " FULL_HELP ". For processors it is always 0.", .where = WHERE("full", "total")},
    {100106, 100107, PERF_RAW_FRACTION, 0, PERF_DETAIL_ADVANCED, PERCENT(some_10), .name = "% Some Average 10 s",
     .help = AVERAGED("10") SOME_HELP ".", .where = WHERE("some", "avg10")},
    {100108, 100109, PERF_RAW_FRACTION, 0, PERF_DETAIL_ADVANCED, PERCENT(some_60), .name = "% Some Average 60 s",
     .help = AVERAGED("60") SOME_HELP ".", .where = WHERE("some", "avg60")},
    {100110, 100111, PERF_RAW_FRACTION, 0, PERF_DETAIL_ADVANCED, PERCENT(some_300), .name = "% Some Average 300 s",
     .help = AVERAGED("300") SOME_HELP ".", .where = WHERE("some", "avg300")},
    {100112, 100113, PERF_RAW_FRACTION, 0, PERF_DETAIL_ADVANCED, PERCENT(full_10), .name = "% Full Average 10 s",
     .help = AVERAGED("10") FULL_HELP ".", .where = WHERE("full", "avg10")},
    {100114, 100115, PERF_RAW_FRACTION, 0, PERF_DETAIL_ADVANCED, PERCENT(full_60), .name = "% Full Average 60 s",
     .help = AVERAGED("60") FULL_HELP ".", .where = WHERE("full", "avg60")},
    {100116, 100117, PERF_RAW_FRACTION, 0, PERF_DETAIL_ADVANCED, PERCENT(full_300), .name = "% Full Average 300 s",
     .help = AVERAGED("300") FULL_HELP ".", .where = WHERE("full", "avg300")},
};
/* clang-format on */

const opl_object perflinux_pressure = {100100,
                                       100101,
                                       "Pressure",
                                       "How long tasks waited because there was not enough of a "
                                       "resource (processors, memory, storage), or because "
                                       "interrupts took the time.",
                                       OPL_COUNTERS(counters),
                                       .default_counter = 100102,
                                       .needs = "proc/pressure/memory",
                                       .instances = true,
                                       .list = list};
