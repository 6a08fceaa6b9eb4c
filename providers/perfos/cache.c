/* SPDX-License-Identifier: MIT */
/*
 * Cache (86): the cache of file pages. NT's interfaces to its cache (maps, pins, MDL reads) have no
 * equivalent in Linux; both systems have changed pages that are written to disk.
 */
#include "perfos.h"

/* clang-format off */
static const opl_counter counters[] = {
    {140, 141, PERF_COUNTER_COUNTER, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfos_vmstat, "nr_written", OPL_ONE), .name = "Data Flush Pages/sec",
     .help = "Changed pages written to disk per second, by the kernel on its own or because a program asked for it."},
    {1810, 1811, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfos_vmstat, "nr_dirty", OPL_ONE), .name = "Dirty Pages",
     .help = "Pages of files that were changed and are not yet being written to disk."},
    {1812, 1813, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfos_vmstat, "nr_dirty_threshold", OPL_ONE),
     .name = "Dirty Page Threshold",
     .help = "When so many pages are changed, programs that change more pages must wait for the disk."},
};
/* clang-format on */

const opl_object perfos_cache = {
    86, 87, "Cache", "The cache of file pages in memory: changed pages and their way to disk.",
    OPL_COUNTERS(counters)};
