/* SPDX-License-Identifier: MIT */
/*
 * Memory (4): for Windows' lists of pages, the nearest equivalents of Linux: memory not in use
 * (free), file pages not used for a while (standby), file pages changed (modified), file pages in
 * use (system cache), kernel memory that can be reclaimed (paged pool) or not.
 */
#include <unistd.h>

#include "perfos.h"

#define PAGES_READ                                                                                 \
    {                                                                                              \
        1024, OPL_RUNTIME_PAGE                                                                     \
    } /* KiB to pages */

/* Pages/sec is Pages Input/sec and Pages Output/sec together, as on Windows. */
static bool pages_moved(opl_reading *reading, uint64_t *ret)
{
    uint64_t in_kib, out_pages;
    if (!opl_reading_key(reading, &perfos_vmstat, "pgpgin", &in_kib) ||
        !opl_reading_key(reading, &perfos_vmstat, "pswpout", &out_pages))
        return false;
    *ret = in_kib * 1024 / (uint64_t)sysconf(_SC_PAGESIZE) + out_pages;
    return true;
}

/* clang-format off */
static const opl_counter counters[] = {
    {28, 29, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_NOVICE, OPL_KEY(&perfos_vmstat, "pgfault", OPL_ONE), .name = "Page Faults/sec",
     .help = "How often per second a program touched a page that its page table did not hold, whether the disk had to be read for it or not."},
    {24, 25, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_EXPERT, OPL_KEY(&perfos_meminfo, "MemAvailable", OPL_KIB), .name = "Available Bytes",
     .help = "Memory that programs can still get without swapping: free memory and what can be taken from caches, as the kernel estimates it."},
    {26, 27, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_EXPERT, OPL_KEY(&perfos_meminfo, "Committed_AS", OPL_KIB), .name = "Committed Bytes",
     .help = "Memory promised to programs, whether they use it already or not."},
    {30, 31, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_WIZARD, OPL_KEY(&perfos_meminfo, "CommitLimit", OPL_KIB), .name = "Commit Limit",
     .help = "The most memory that the kernel promises to programs if it is set to be strict (vm.overcommit_memory is 2). Otherwise it may promise more."},
    {40, 41, PERF_COUNTER_COUNTER, 0, PERF_DETAIL_NOVICE, OPL_FN(pages_moved), .name = "Pages/sec",
     .help = "Pages Input/sec and Pages Output/sec together: pages read from disk, and pages written to swap to free memory.",
     .where = "proc/vmstat: pgpgin in pages, and pswpout"},
    {822, 823, PERF_COUNTER_COUNTER, 0, PERF_DETAIL_NOVICE, OPL_KEY(&perfos_vmstat, "pgpgin", PAGES_READ), .name = "Pages Input/sec",
     .help = "Pages read from disks per second: for hard page faults, for reads of files through the cache, and for direct reads, which Linux "
             "counts with them."},
    {42, 43, PERF_COUNTER_COUNTER, 0, PERF_DETAIL_EXPERT, OPL_KEY(&perfos_vmstat, "pgmajfault", OPL_ONE), .name = "Page Reads/sec",
     .help = "Hard page faults per second: each waits for a read from disk, which may bring several pages."},
    {48, 49, PERF_COUNTER_COUNTER, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfos_vmstat, "pswpout", OPL_ONE), .name = "Pages Output/sec",
     .help = "Pages written to swap per second to free memory. Changed pages of files are not included: see Data Flush Pages/sec of Cache."},
    {56, 57, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_ADVANCED, OPL_KEY(&perfos_meminfo, "SReclaimable", OPL_KIB), .name = "Pool Paged Bytes",
     .help = "Kernel memory that can be taken back when memory is short, such as the caches of file names and of inodes. Linux does not write kernel memory to "
             "swap."},
    {58, 59, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_ADVANCED, OPL_KEY(&perfos_meminfo, "SUnreclaim", OPL_KIB), .name = "Pool Nonpaged Bytes",
     .help = "Kernel memory for small objects (slabs) that cannot be taken back while it is in use."},
    {818, 819, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_ADVANCED, OPL_KEY(&perfos_meminfo, "Active(file) + SReclaimable", OPL_KIB),
     .name = "Cache Bytes",
     .help = "System Cache Resident Bytes and Pool Paged Resident Bytes together. Cached files that were not used for a while are in Standby Cache "
             "Normal Priority Bytes."},
    {66, 63, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_ADVANCED, OPL_KEY(&perfos_meminfo, "SReclaimable", OPL_KIB),
     .name = "Pool Paged Resident Bytes",
     .help = "The part of Pool Paged Bytes that is in memory: on Linux, all of it."},
    {76, 77, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_ADVANCED, OPL_KEY(&perfos_meminfo, "Active(file)", OPL_KIB),
     .name = "System Cache Resident Bytes",
     .help = "Pages of files in memory that were recently used more than once."},
    {1406, 1407, PERF_RAW_FRACTION, 0, PERF_DETAIL_EXPERT, OPL_KEY(&perfos_meminfo, "Committed_AS", OPL_ONE),
     .base = OPL_KEY(&perfos_meminfo, "CommitLimit", OPL_ONE), .name = "% Committed Bytes In Use",
     .help = "Committed Bytes as a share of Commit Limit. It can exceed 100, because the kernel may promise more than the limit."},
    {1380, 1381, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_EXPERT, OPL_KEY(&perfos_meminfo, "MemAvailable", OPL_ONE), .name = "Available KBytes",
     .help = "Available Bytes in units of 1,024 bytes."},
    {1382, 1383, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_EXPERT, OPL_KEY(&perfos_meminfo, "MemAvailable", OPL_PARTS(1024)),
     .name = "Available MBytes", .help = "Available Bytes in units of 1,048,576 bytes."},
    {824, 825, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_WIZARD,
     OPL_KEY(&perfos_vmstat, "pgsteal_kswapd + pgsteal_direct + pgsteal_khugepaged? + pgsteal_proactive?", OPL_ONE),
     .name = "Transition Pages RePurposed/sec",
     .help = "Pages per second that were taken from caches and from programs that had not used them recently, to serve another purpose."},
    {1676, 1677, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_WIZARD, OPL_KEY(&perfos_meminfo, "MemFree", OPL_KIB),
     .name = "Free & Zero Page List Bytes", .help = "Memory that holds nothing."},
    {1678, 1679, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_WIZARD, OPL_KEY(&perfos_meminfo, "Dirty", OPL_KIB),
     .name = "Modified Page List Bytes", .help = "Pages of files that were changed and must be written to disk before they can serve another purpose."},
    {1682, 1683, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_WIZARD, OPL_KEY(&perfos_meminfo, "Inactive(file)", OPL_KIB),
     .name = "Standby Cache Normal Priority Bytes",
     .help = "Pages of files that stay in memory although they were not used for a while; they are the first to serve another purpose."},
};
/* clang-format on */

const opl_object perfos_memory = {
    4,
    5,
    "Memory",
    "How memory is used, how much is left, and how much must be moved between memory and disk.",
    OPL_COUNTERS(counters),
    .default_counter = 40};
