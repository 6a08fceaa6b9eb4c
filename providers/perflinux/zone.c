/* SPDX-License-Identifier: MIT */
/*
 * Memory Zone (100500): the parts of memory that the kernel manages separately, "node,zone". A zone
 * runs short when its free memory falls below its watermarks, even if other zones have free memory.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perflinux.h"

static const opl_source zoneinfo = {.path = "proc/zoneinfo"};
static const opl_source buddyinfo = {.path = "proc/buddyinfo"};

enum { MOST_ORDERS = 16 };

/* A zone of a node; amounts are in pages. */
struct zone {
    unsigned node;
    char name[32];
    uint64_t free, min, low, high, present, managed;
    bool has_managed, has_blocks;
    uint64_t largest; /* pages of the largest free block */
};

/* Parses "Node 0, zone   Normal" and moves *line after it; false: it is another line. */
static bool read_head(const char **line, struct zone *ret)
{
    const char *at = *line;
    if (strncmp(at, "Node ", 5) != 0)
        return false;
    at += 5;
    ret->node = (unsigned)perflinux_number(&at);
    if (strncmp(at, ", zone", 6) != 0)
        return false;
    at += 6;
    at += strspn(at, " ");
    size_t length = strcspn(at, " \n");
    if (length >= sizeof ret->name)
        return false;
    memcpy(ret->name, at, length);
    ret->name[length] = 0;
    *line = at + length;
    return true;
}

/* Reads the number of a line "    min    25"; false: the line does not begin with `word`. */
static bool read_value(const char *line, const char *word, uint64_t *ret)
{
    size_t length = strlen(word);
    line += strspn(line, " ");
    if (strncmp(line, word, length) != 0 || line[length] != ' ')
        return false;
    line += length;
    line += strspn(line, " ");
    *ret = perflinux_number(&line);
    return true;
}

/* Reads the lines of one zone; returns the first line of the next zone. */
static const char *read_zone(const char *line, struct zone *zone)
{
    struct zone other;
    bool pages = false;
    for (; *line; line = opl_next_line(line)) {
        const char *head = line;
        if (read_head(&head, &other))
            break;
        if (strncmp(line, "  pagesets", 10) == 0)
            pages = false; /* the following lines, for each processor, are not needed */
        if (read_value(line, "pages free", &zone->free))
            pages = true;
        if (!pages || read_value(line, "min", &zone->min) || read_value(line, "low", &zone->low) ||
            read_value(line, "high", &zone->high) || read_value(line, "present", &zone->present))
            continue;
        zone->has_managed |= read_value(line, "managed", &zone->managed);
    }
    return line;
}

/* Reads free blocks of 1, 2, 4 ... pages from a line "Node 0, zone  Normal  7046 2109 ...". */
static void take_blocks(opl_reading *reading, struct zone *zone)
{
    struct zone other;
    const char *line = opl_reading_text(reading, &buddyinfo, NULL);
    for (; line && *line; line = opl_next_line(line)) {
        const char *at = line;
        if (!read_head(&at, &other) || other.node != zone->node ||
            strcmp(other.name, zone->name) != 0)
            continue;
        zone->has_blocks = true;
        for (unsigned order = 0; order < MOST_ORDERS; order++) {
            at += strspn(at, " ");
            if (*at < '0' || *at > '9')
                break;
            if (perflinux_number(&at) > 0)
                zone->largest = UINT64_C(1) << order;
        }
    }
}

static void list(opl_listing *listing)
{
    opl_reading *reading = opl_listing_reading(listing);
    const char *line = opl_reading_text(reading, &zoneinfo, NULL);
    while (line && *line) {
        struct zone zone = {0};
        char name[64];
        if (!read_head(&line, &zone)) {
            line = opl_next_line(line);
            continue;
        }
        line = read_zone(opl_next_line(line), &zone);
        if (zone.present == 0)
            continue; /* this node does not have this zone */
        take_blocks(reading, &zone);
        snprintf(name, sizeof name, "%u,%s", zone.node, zone.name);
        opl_listing_item(listing, name, &zone);
    }
}

static uint64_t bytes(uint64_t pages)
{
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

#define PAGES(name, member, known)                                                                 \
    static bool name(opl_reading *reading, uint64_t *ret)                                          \
    {                                                                                              \
        const struct zone *zone = opl_reading_item(reading);                                       \
        *ret = zone ? bytes(zone->member) : 0;                                                     \
        return zone && (known);                                                                    \
    }
PAGES(free_bytes, free, true)
PAGES(min_bytes, min, true)
PAGES(low_bytes, low, true)
PAGES(high_bytes, high, true)
PAGES(managed_bytes, managed, zone->has_managed)
PAGES(largest_bytes, largest, zone->has_blocks)

#define BYTES PERF_COUNTER_LARGE_RAWCOUNT, -6
#define OF(function, word)                                                                         \
    OPL_FN_OF(&zoneinfo, function), .total = OPL_SUM, .where = "proc/zoneinfo: " word

/* clang-format off */
static const opl_counter counters[] = {
    {1768, 1769, BYTES, PERF_DETAIL_NOVICE, OF(free_bytes, "pages free"), .name = "Free Bytes",
     .help = "Memory of the zone that is not in use."},
    {100504, 100505, BYTES, PERF_DETAIL_NOVICE, OF(managed_bytes, "managed"), .name = "Managed Bytes",
     .help = "Memory of the zone that the kernel can give out."},
    {100506, 100507, PERF_LARGE_RAW_FRACTION, 0, PERF_DETAIL_NOVICE, OPL_FN_OF(&zoneinfo, free_bytes), .base = OPL_FN_OF(&zoneinfo, managed_bytes),
     .name = "% Free", .help = "Share of the zone's memory that is not in use.", .where = "proc/zoneinfo: pages free; divided by managed"},
    {100508, 100509, BYTES, PERF_DETAIL_ADVANCED, OF(min_bytes, "min"), .name = "Minimum Watermark Bytes",
     .help = "When less than this is free, an allocation must first reclaim memory, and only the most urgent allocations may use the rest."},
    {100510, 100511, BYTES, PERF_DETAIL_ADVANCED, OF(low_bytes, "low"), .name = "Low Watermark Bytes",
     .help = "When less than this is free, the kernel begins to free memory on its own."},
    {100512, 100513, BYTES, PERF_DETAIL_ADVANCED, OF(high_bytes, "high"), .name = "High Watermark Bytes",
     .help = "When this much is free, the kernel stops freeing memory on its own."},
    {100514, 100515, BYTES, PERF_DETAIL_ADVANCED, OPL_FN_OF(&buddyinfo, largest_bytes), .total = OPL_NONE, .name = "Largest Free Block Bytes",
     .help = "The largest contiguous piece of free memory. If there are only small pieces, memory is fragmented.",
     .where = "proc/buddyinfo: the highest order that is not 0"},
};
/* clang-format on */

const opl_object perflinux_zone = {
    100500,
    100501,
    "Memory Zone",
    "Parts of memory that the kernel manages separately: how much of each is free, and at which "
    "limits the kernel begins to reclaim memory.",
    OPL_COUNTERS(counters),
    .default_counter = 100506,
    .needs = "proc/zoneinfo",
    .only_with_instances = true,
    .instances = true,
    .total = "_Total",
    .list = list};
