/* SPDX-License-Identifier: MIT */
/*
 * Memory Usage (101500): shares of memory and swap for which Memory and Paging File have no
 * counters, with the names that other monitoring agents for Linux use, and the kernel's two caches,
 * which are not divided as those of Memory.
 */
#include "perflinux.h"

static const opl_source meminfo = {.path = "proc/meminfo"};

#define MBYTES PERF_COUNTER_LARGE_RAWCOUNT, -3, PERF_DETAIL_NOVICE
#define BYTES PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_ADVANCED
#define SHARE PERF_LARGE_RAW_FRACTION, 0, PERF_DETAIL_NOVICE
#define OF(keys, ...) OPL_KEY(&meminfo, keys, __VA_ARGS__)

/* clang-format off */
static const opl_counter counters[] = {
    {101502, 101503, MBYTES, OF("MemTotal - MemAvailable", OPL_PARTS(1024)), .name = "Used Memory MBytes",
     .help = "Memory that cannot be given to programs without swapping, in units of 1,048,576 bytes."},
    {101504, 101505, SHARE, OF("MemTotal - MemAvailable", OPL_ONE), .base = OF("MemTotal", OPL_ONE), .name = "% Used Memory",
     .help = "Share of memory that cannot be given to programs without swapping."},
    {101506, 101507, SHARE, OF("MemAvailable", OPL_ONE), .base = OF("MemTotal", OPL_ONE), .name = "% Available Memory",
     .help = "Share of memory that can be given to programs without swapping."},
    {101508, 101509, MBYTES, OF("SwapFree", OPL_PARTS(1024)), .name = "Available MBytes Swap",
     .help = "Swap space that is not in use, in units of 1,048,576 bytes."},
    {101510, 101511, SHARE, OF("SwapFree", OPL_ONE), .base = OF("SwapTotal", OPL_ONE), .name = "% Available Swap",
     .help = "Share of swap space that is not in use."},
    {101512, 101513, MBYTES, OF("SwapTotal - SwapFree", OPL_PARTS(1024)), .name = "Used MBytes Swap Space",
     .help = "Swap space that is in use, in units of 1,048,576 bytes."},
    {101514, 101515, SHARE, OF("SwapTotal - SwapFree", OPL_ONE), .base = OF("SwapTotal", OPL_ONE), .name = "% Used Swap Space",
     .help = "Share of swap space that is in use."},
    {101516, 101517, BYTES, OF("Cached", OPL_TIMES(1024)), .name = "File Cache Bytes",
     .help = "Memory that has contents of files, of shared memory and of file systems in memory."},
    {101518, 101519, BYTES, OF("Buffers", OPL_TIMES(1024)), .name = "Buffer Cache Bytes",
     .help = "Memory that has blocks of devices, such as structures of file systems."},
};
/* clang-format on */

const opl_object perflinux_memory = {
    101500,
    101501,
    "Memory Usage",
    "Shares of memory and of swap space that are in use or available.",
    OPL_COUNTERS(counters),
    .default_counter = 101504};
