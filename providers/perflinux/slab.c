/* SPDX-License-Identifier: MIT */
/*
 * Slab (100600): the kernel's own memory, by kind of object. Only root may read proc/slabinfo.
 * Costly, because the kernel walks all its lists of objects whenever this file is read.
 */
#include <string.h>
#include <unistd.h>

#include "perflinux.h"

static const opl_source slabinfo = {.path = "proc/slabinfo"};

enum { NAME_SIZE = 128 };

struct slab {
    uint64_t active, objects, object_bytes, slabs, bytes;
};

/* Parses a line such as "dentry 100 120 192 21 1 : tunables 0 0 0 : slabdata 6 6 0": objects in
 * use, objects, bytes of an object, objects and pages of a slab; after "slabdata", slabs in use and
 * slabs. False: another line. */
static bool read_line(const char *line, char name[NAME_SIZE], struct slab *ret)
{
    uint64_t words[5];
    size_t bytes = strcspn(line, " \n");
    const char *end = strchrnul(line, '\n'), *at = line + bytes;
    if (*line == '#' || bytes == 0 || bytes >= NAME_SIZE)
        return false;
    opl_sanitize_name(name, NAME_SIZE, line, bytes, false);
    for (unsigned i = 0; i < 5; i++) {
        at += strspn(at, " ");
        if (*at < '0' || *at > '9')
            return false; /* the heading, which has the version */
        words[i] = perflinux_number(&at);
    }
    at = memmem(at, (size_t)(end - at), "slabdata", 8);
    if (!at)
        return false;
    at += 8 + strspn(at + 8, " ");
    perflinux_number(&at);
    at += strspn(at, " ");
    *ret = (struct slab){words[0], words[1], words[2], perflinux_number(&at), 0};
    ret->bytes = ret->slabs * words[4] * (uint64_t)sysconf(_SC_PAGESIZE);
    return true;
}

static void list(opl_listing *listing)
{
    const char *line = opl_reading_text(opl_listing_reading(listing), &slabinfo, NULL);
    for (; line && *line; line = opl_next_line(line)) {
        char name[NAME_SIZE];
        struct slab slab;
        if (read_line(line, name, &slab))
            opl_listing_item(listing, name, &slab);
    }
}

#define OF(member, text) OPL_FIELD(struct slab, member), .where = "proc/slabinfo: " text

/* clang-format off */
static const opl_counter counters[] = {
    {100602, 100603, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_NOVICE, OF(bytes, "num_slabs times pagesperslab, pages to bytes"), .total = OPL_SUM,
     .name = "Bytes", .help = "Memory that this cache takes."},
    {100604, 100605, PERF_COUNTER_LARGE_RAWCOUNT, -3, PERF_DETAIL_NOVICE, OF(active, "active_objs"), .total = OPL_SUM, .name = "Active Objects",
     .help = "Objects of the cache that are in use, including free ones that processors keep aside for themselves."},
    {100606, 100607, PERF_COUNTER_LARGE_RAWCOUNT, -3, PERF_DETAIL_ADVANCED, OF(objects, "num_objs"), .total = OPL_SUM, .name = "Objects Allocated",
     .help = "Objects for which the cache has memory, used or not."},
    {100608, 100609, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OF(object_bytes, "objsize"), .total = OPL_NONE, .name = "Object Bytes",
     .help = "Memory that one object takes."},
    {100610, 100611, PERF_COUNTER_LARGE_RAWCOUNT, -2, PERF_DETAIL_ADVANCED, OF(slabs, "num_slabs"), .total = OPL_SUM, .name = "Slabs",
     .help = "Pieces of memory that this cache consists of."},
    {100612, 100613, PERF_LARGE_RAW_FRACTION, 0, PERF_DETAIL_ADVANCED, OF(active, "active_objs of num_objs"), .base = OPL_FIELD(struct slab, objects),
     .name = "% Active", .help = "Share of the cache's objects that is in use; the rest is kept for later."},
};
/* clang-format on */

const opl_object perflinux_slab = {
    100600,
    100601,
    "Slab",
    "The kernel's own memory. Each instance is a cache for one kind of the kernel's objects.",
    OPL_COUNTERS(counters),
    .default_counter = 100602,
    .costly = true,
    .needs = "proc/slabinfo",
    .only_with_instances = true,
    .instances = true,
    .total = "_Total",
    .list = list};
