/* SPDX-License-Identifier: MIT */
/*
 * Conntrack (100800): the table of connections of firewalls and address translation.
 * proc/net/stat/nf_conntrack has a line of names, and one of hexadecimal numbers for each possible
 * processor. Which columns there are depends on the kernel.
 */
#include <string.h>

#include "perflinux.h"

static const opl_source entries = {.path = "proc/sys/net/netfilter/nf_conntrack_count"};
static const opl_source most = {.path = "proc/sys/net/netfilter/nf_conntrack_max"};
static const opl_source statistics = {.path = "proc/net/stat/nf_conntrack"};

/* The column of a name on the first line, counted from 1; 0: the line does not have the name. */
static unsigned column_of(const char *text, const char *name)
{
    unsigned column = 0;
    size_t length;
    for (text += strspn(text, " "); *text && *text != '\n'; text += strspn(text, " ")) {
        length = strcspn(text, " \n");
        column++;
        if (length == strlen(name) && memcmp(text, name, length) == 0)
            return column;
        text += length;
    }
    return 0;
}

static bool sum(opl_reading *reading, const char *name, uint64_t *ret)
{
    const char *text = opl_reading_text(reading, &statistics, NULL);
    unsigned column = text ? column_of(text, name) : 0;
    if (!column)
        return false;
    *ret = 0;
    for (text = opl_next_line(text); *text; text = opl_next_line(text)) {
        uint64_t number = 0;
        for (unsigned i = 0; i < column; i++)
            if (!perflinux_hex(&text, &number))
                return false;
        *ret += number;
    }
    return true;
}

#define SUM(name)                                                                                  \
    static bool name(opl_reading *reading, uint64_t *ret)                                          \
    {                                                                                              \
        return sum(reading, #name, ret);                                                           \
    }
SUM(found)
SUM(invalid)
SUM(insert_failed)
SUM(drop)
SUM(early_drop)
SUM(icmp_error)
SUM(search_restart)
SUM(clashres)

#define RATE PERF_COUNTER_COUNTER, 0, PERF_DETAIL_ADVANCED
#define OF(column)                                                                                 \
    OPL_FN_OF(&statistics, column), .where = "proc/net/stat/nf_conntrack: the sum of " #column

/* clang-format off */
static const opl_counter counters[] = {
    {100802, 100803, PERF_COUNTER_RAWCOUNT, -3, PERF_DETAIL_NOVICE, OPL_COLUMN(&entries, 1, OPL_ONE), .name = "Entries",
     .help = "Connections that are remembered now."},
    {100804, 100805, PERF_COUNTER_RAWCOUNT, -4, PERF_DETAIL_ADVANCED, OPL_COLUMN(&most, 1, OPL_ONE), .name = "Entries Maximum",
     .help = "The largest number of connections that can be remembered. When the table is full, packets of new connections are lost."},
    {100806, 100807, PERF_RAW_FRACTION, 0, PERF_DETAIL_NOVICE, OPL_COLUMN(&entries, 1, OPL_ONE), .base = OPL_COLUMN(&most, 1, OPL_ONE),
     .name = "% Entries Used", .help = "How full the table of connections is."},
    {100808, 100809, RATE, OF(drop), .name = "Drops/sec",
     .help = "Packets per second that were lost because the table of connections was full, or no memory was left."},
    {100810, 100811, RATE, OF(early_drop), .name = "Early Drops/sec",
     .help = "Connections per second that were forgotten early, to make space for new ones."},
    {100812, 100813, RATE, OF(insert_failed), .name = "Insert Failures/sec",
     .help = "Connections per second that could not be put into the table, for instance because the same connection was there already."},
    {100814, 100815, RATE, OF(invalid), .name = "Invalid Packets/sec",
     .help = "Packets per second that belong to no connection and cannot begin one."},
    {100816, 100817, RATE, OF(found), .name = "Lookups Found/sec",
     .help = "Lookups per second that found a connection. Newer kernels count only those with which address translation looks for a free port."},
    {100818, 100819, RATE, OF(search_restart), .name = "Search Restarts/sec",
     .help = "Lookups per second that had to begin again because the table was being made larger or smaller."},
    {100820, 100821, RATE, OF(clashres), .name = "Clashes Resolved/sec",
     .help = "How often per second two packets began the same connection at the same time, so that one entry was used for both."},
    {100822, 100823, RATE, OF(icmp_error), .name = "ICMP Errors/sec",
     .help = "Error messages per second that could not be matched with a connection."},
};
/* clang-format on */

const opl_object perflinux_conntrack = {
    100800,
    100801,
    "Conntrack",
    "The table of connections that firewalls and address translation remember: how full it is, and "
    "what could not be put into it.",
    OPL_COUNTERS(counters),
    .default_counter = 100806};
