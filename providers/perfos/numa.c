/* SPDX-License-Identifier: MIT */
/*
 * NUMA Node Memory (1814): an instance per online node, named by its number; a machine without
 * nodes has node 0. The kernel estimates available memory only for the whole machine, so Available
 * is the same sum as on Windows: free memory and memory that can be dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfos.h"

static const opl_source online = {"sys/devices/system/node/online"};
/* Lines "Node 0 MemTotal:       24689824 kB". */
static const opl_source meminfo = {"sys/devices/system/node/node*/meminfo", .persistent = true};

static bool kib(opl_reading *reading, const char *key, uint64_t *ret)
{
    const char *line = opl_reading_text(reading, &meminfo, NULL);
    size_t bytes = strlen(key);
    for (; line && *line; line = opl_next_line(line)) {
        const char *at = strncmp(line, "Node ", 5) ? NULL : strpbrk(line + 5, " \n");
        if (!at || strncmp(at + 1, key, bytes) != 0 || at[1 + bytes] != ':')
            continue;
        *ret = strtoull(at + bytes + 2, NULL, 10);
        return true;
    }
    return false;
}

static bool megabytes(opl_reading *reading, const char *key, const char *added, uint64_t *ret)
{
    uint64_t more = 0;
    if (!kib(reading, key, ret) || (added && !kib(reading, added, &more)))
        return false;
    *ret = (*ret + more) / 1024;
    return true;
}

static bool total(opl_reading *reading, uint64_t *ret)
{
    return megabytes(reading, "MemTotal", NULL, ret);
}

static bool holding_nothing(opl_reading *reading, uint64_t *ret)
{
    return megabytes(reading, "MemFree", NULL, ret);
}

static bool standby(opl_reading *reading, uint64_t *ret)
{
    return megabytes(reading, "Inactive(file)", NULL, ret);
}

static bool available(opl_reading *reading, uint64_t *ret)
{
    return megabytes(reading, "MemFree", "Inactive(file)", ret);
}

/* clang-format off */
static const opl_counter counters[] = {
    {1816, 1817, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN_OF(&meminfo, total), .name = "Total MBytes",
     .help = "All memory of the node that the system may use, in units of 1,048,576 bytes.",
     .where = "`sys/devices/system/node/node*/meminfo`: MemTotal, KiB to MiB"},
    {1818, 1819, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN_OF(&meminfo, holding_nothing), .name = "Free & Zero Page List MBytes",
     .help = "Memory of the node that holds nothing, in units of 1,048,576 bytes.",
     .where = "`sys/devices/system/node/node*/meminfo`: MemFree, KiB to MiB"},
    {1822, 1823, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN_OF(&meminfo, standby), .name = "Standby List MBytes",
     .help = "Pages of files in memory of the node that were not used for a while, in units of 1,048,576 bytes; they are the first to serve "
             "another purpose.",
     .where = "`sys/devices/system/node/node*/meminfo`: Inactive(file), KiB to MiB"},
    {1824, 1825, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN_OF(&meminfo, available), .name = "Available MBytes",
     .help = "Memory of the node that holds nothing, or files that were not used for a while, in units of 1,048,576 bytes. Available MBytes of "
             "Memory counts more, because the kernel estimates what else it could take back.",
     .where = "`sys/devices/system/node/node*/meminfo`: MemFree + Inactive(file), KiB to MiB"},
};
/* clang-format on */

static void add_node(opl_listing *listing, unsigned long node)
{
    char name[24];
    int bytes = snprintf(name, sizeof name, "%lu", node);
    opl_listing_read(listing, name, name, (size_t)bytes);
}

enum { MOST_NODES = 1024 }; /* the kernel's own limit */

/* Lists the online nodes, from a file such as "0-1,4". */
static void list_nodes(opl_listing *listing)
{
    const char *text = opl_reading_text(opl_listing_reading(listing), &online, NULL);
    while (text && *text >= '0' && *text <= '9') {
        char *end;
        unsigned long first = strtoul(text, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        for (unsigned long node = first; node <= last && node < MOST_NODES; node++)
            add_node(listing, node);
        text = *end == ',' ? end + 1 : "";
    }
}

const opl_object perfos_numa = {
    .index = 1814,
    .help_index = 1815,
    .name = "NUMA Node Memory",
    .help = "How the memory of each node is used. On machines with several nodes, a processor "
            "reaches the memory of "
            "its own node faster than that of others.",
    OPL_COUNTERS(counters),
    .default_counter = 1824,
    .needs = "sys/devices/system/node/online",
    .instances = true,
    .list = list_nodes,
};
