/* SPDX-License-Identifier: MIT */
/*
 * driver: counters of a driver of the kernel. zram keeps disks in compressed memory and shows its
 * counts in files of sysfs, as any driver can (DEVICE_ATTR_RO). The provider needs only one row for
 * each number.
 */
#include <openperflib/object.h>
#include <winerror.h>
#include <winperf.h>

#include <string.h>

/* The kernel's Documentation/admin-guide/blockdev/zram.rst describes the words of these files. */
static const opl_source memory = {.path = "sys/block/*/mm_stat"};
static const opl_source requests = {.path = "sys/block/*/io_stat"};

#define LEVEL PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_NOVICE
#define RATE PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_ADVANCED
#define WORD(file, number) OPL_COLUMN(&file, number, OPL_ONE)

/* clang-format off */
static const opl_counter counters[] = {
    {2, 2, LEVEL, WORD(memory, 1), .total = OPL_SUM, .name = "Stored Bytes", .help = "What was written to the disk, before it was compressed."},
    {4, 4, LEVEL, WORD(memory, 3), .total = OPL_SUM, .name = "Memory Bytes", .help = "Memory that the disk takes, what its driver needs for itself included."},
    {6, 6, PERF_LARGE_RAW_FRACTION, 0, PERF_DETAIL_NOVICE, WORD(memory, 3), .base = OPL_COLUMN(&memory, 1, OPL_ONE),
     .total = OPL_SUM, .name = "% Compressed", .help = "Memory that the disk takes, as share of what was written to it."},
    {8, 8, RATE, WORD(requests, 1), .total = OPL_SUM, .name = "Failed Reads/sec", .help = "Reads per second that failed."},
    {10, 10, RATE, WORD(requests, 2), .total = OPL_SUM, .name = "Failed Writes/sec", .help = "Writes per second that failed, mostly for lack of memory."},
};
/* clang-format on */

/* Lists the devices of this driver. A device whose file cannot be read is skipped. */
static void list(opl_listing *listing)
{
    const char *found = opl_listing_folders(listing, "sys/block", 1);
    for (; found && *found; found += strlen(found) + 1)
        if (strncmp(found, "zram", 4) == 0)
            opl_listing_read(listing, found, found, strlen(found));
}

static const opl_object disks = {.index = 0,
                                 .help_index = 0,
                                 .name = "Compressed Disk",
                                 .help = "Disks in compressed memory (zram): how much they take.",
                                 OPL_COUNTERS(counters),
                                 .default_counter = 4,
                                 .instances = true,
                                 .total = "_Total",
                                 .list = list,
                                 .needs = "sys/block",
                                 .known_only = true};
static const opl_object *const objects[] = {&disks};
OPL_PROVIDER("Driver", objects);
