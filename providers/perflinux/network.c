/* SPDX-License-Identifier: MIT */
/*
 * Network (101600): the traffic of each network interface since it was created, with the names that
 * other agents for Linux use. Network Interface has the same values as rates. This object exists
 * for lists of counters that were written for other agents, and is not part of a Global query.
 */
#include <net/if.h>
#include <string.h>

#include "perflinux.h"

static const opl_source dev = {.path = "proc/net/dev"};

/* Adds the interface of a line " eth0: 17 2 ..."; skips the heading lines, whose first word does
 * not end with a colon. */
static void add(opl_listing *listing, const char *line)
{
    char name[IF_NAMESIZE];
    const char *begin = line + strspn(line, " ");
    size_t bytes = strcspn(begin, " \n");
    if (bytes < 2 || bytes > sizeof name || begin[bytes - 1] != ':')
        return;
    opl_sanitize_name(name, sizeof name, begin, bytes - 1, false);
    opl_listing_line(listing, &dev, line, name, name);
}

static void list(opl_listing *listing)
{
    const char *text = opl_reading_text(opl_listing_reading(listing), &dev, NULL);
    for (; text && *text; text = opl_next_line(text))
        add(listing, text);
}

#define TOTAL(scale) PERF_COUNTER_LARGE_RAWCOUNT, scale, PERF_DETAIL_NOVICE
#define ERRORS PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_ADVANCED
#define WORD(number) OPL_COLUMN(&dev, number, OPL_ONE)
#define WORDS(number, added) OPL_COLUMNS(&dev, number, added, OPL_ONE)

/* clang-format off */
static const opl_counter counters[] = {
    {101602, 101603, TOTAL(-6), WORDS(2, 10), .name = "Total Bytes",
     .help = "Bytes that the interface has sent and received, framing included."},
    {101604, 101605, TOTAL(-6), WORD(10), .name = "Total Bytes Transmitted", .help = "Bytes that the interface has sent, framing included."},
    {101606, 101607, TOTAL(-6), WORD(2), .name = "Total Bytes Received", .help = "Bytes that the interface has received, framing included."},
    {101608, 101609, TOTAL(-3), WORD(11), .name = "Total Packets Transmitted", .help = "Packets that the interface has sent."},
    {101610, 101611, TOTAL(-3), WORD(3), .name = "Total Packets Received", .help = "Packets that the interface has received."},
    {101612, 101613, ERRORS, WORD(4), .name = "Total Rx Errors",
     .help = "Received packets that had an error and could not be delivered."},
    {101614, 101615, ERRORS, WORD(12), .name = "Total Tx Errors", .help = "Packets that could not be sent because of errors."},
    {101616, 101617, ERRORS, WORD(15), .name = "Total Collisions",
     .help = "How often two machines on one wire sent at once, so that the packet had to be sent again."},
};
/* clang-format on */

const opl_object perflinux_network = {101600,
                                      101601,
                                      "Network",
                                      "What each network interface has carried since it was "
                                      "created.",
                                      OPL_COUNTERS(counters),
                                      .default_counter = 101602,
                                      .costly = true,
                                      .instances = true,
                                      .list = list};
