/* SPDX-License-Identifier: MIT */
/*
 * Softnet (100400): received packets by processor. proc/net/softnet_stat has a
 * line of hexadecimal numbers for each online processor; newer kernels add the processor's number.
 */
#include <stdio.h>

#include "perflinux.h"

enum { PROCESSED, DROPPED, SQUEEZED, RECEIVED_RPS = 9, FLOW_LIMIT, BACKLOG, NUMBER, WORDS = 16 };

static const opl_source softnet = {.path = "proc/net/softnet_stat"};

struct softnet_line {
    unsigned count;
    uint64_t word[WORDS];
};

static void list(opl_listing *listing)
{
    const char *at = opl_reading_text(opl_listing_reading(listing), &softnet, NULL);
    for (unsigned position = 0; at && *at; at = opl_next_line(at), position++) {
        struct softnet_line line = {0};
        char name[16];
        while (line.count < WORDS && perflinux_hex(&at, &line.word[line.count]))
            line.count++;
        unsigned cpu = line.count > NUMBER ? (unsigned)line.word[NUMBER] : position;
        snprintf(name, sizeof name, "%u", cpu);
        if (line.count > SQUEEZED)
            opl_listing_item(listing, name, &line);
    }
}

static bool word(opl_reading *reading, unsigned number, uint64_t *ret)
{
    const struct softnet_line *line = opl_reading_item(reading);
    if (!line || line->count <= number)
        return false;
    *ret = line->word[number];
    return true;
}

#define WORD(name, number)                                                                         \
    static bool name(opl_reading *reading, uint64_t *ret)                                          \
    {                                                                                              \
        return word(reading, number, ret);                                                         \
    }
WORD(processed, PROCESSED)
WORD(dropped, DROPPED)
WORD(squeezed, SQUEEZED)
WORD(received_rps, RECEIVED_RPS)
WORD(flow_limit, FLOW_LIMIT)
WORD(backlog, BACKLOG)

#define OF(function, number)                                                                       \
    OPL_FN_OF(&softnet, function), .total = OPL_SUM, .where = "proc/net/softnet_stat: word " number

/* clang-format off */
static const opl_counter counters[] = {
    {100402, 100403, PERF_COUNTER_COUNTER, -2, PERF_DETAIL_NOVICE, OF(processed, "1"), .name = "Packets Processed/sec",
     .help = "Packets per second that the processor took from network cards, or from other processors."},
    {100404, 100405, PERF_COUNTER_COUNTER, 0, PERF_DETAIL_NOVICE, OF(dropped, "2"), .name = "Packets Dropped/sec",
     .help = "Packets per second that were lost because too many already waited for the processor."},
    {100406, 100407, PERF_COUNTER_COUNTER, 0, PERF_DETAIL_ADVANCED, OF(squeezed, "3"), .name = "Time Squeezes/sec",
     .help = "How often per second the processor had to stop although packets were still waiting, because the time or number of packets for one round was used "
             "up."},
    {100408, 100409, PERF_COUNTER_COUNTER, 0, PERF_DETAIL_ADVANCED, OF(received_rps, "10"), .name = "Steering Interrupts/sec",
     .help = "How often per second another processor woke this one to hand over packets."},
    {100410, 100411, PERF_COUNTER_COUNTER, 0, PERF_DETAIL_ADVANCED, OF(flow_limit, "11"), .name = "Flow Limit Drops/sec",
     .help = "Packets per second that were dropped because one connection sent too large a part of those that waited."},
    {100412, 100413, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OF(backlog, "12"), .name = "Backlog Length",
     .help = "Packets that wait for the processor now."},
};
/* clang-format on */

const opl_object perflinux_softnet = {
    100400,
    100401,
    "Softnet",
    "What processors do with packets that arrive: how many they process, and how many they have no "
    "time for.",
    OPL_COUNTERS(counters),
    .default_counter = 100402,
    .needs = "proc/net/softnet_stat",
    .only_with_instances = true,
    .instances = true,
    .total = "_Total",
    .list = list};
