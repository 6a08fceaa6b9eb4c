/* SPDX-License-Identifier: MIT */
/*
 * systemd Unit (100900): control groups (version 2) in system.slice, or in a slice there. A
 * controller's counters exist only if systemd has enabled it for the whole machine.
 */
#include <stdio.h>
#include <string.h>

#include "perflinux.h"

enum { PATH_SIZE = 512 };

#define GROUP(file)                                                                                \
    {                                                                                              \
        .path = "sys/fs/cgroup/*/" file                                                            \
    }
static const opl_source cpu = GROUP("cpu.stat");
static const opl_source memory = GROUP("memory.current");
static const opl_source swap = GROUP("memory.swap.current");
static const opl_source memory_events = GROUP("memory.events");
static const opl_source tasks = GROUP("pids.current");
static const opl_source io = GROUP("io.stat");
/* The enabled controllers of the groups below the root. */
static const opl_source controllers = {.path = "sys/fs/cgroup/cgroup.subtree_control"};

/* The sum of a key's values in io.stat, which has a line "8:0 rbytes=180224 wbytes=0 rios=3 wios=0
 * dbytes=0 dios=0" for each device. */
static bool io_sum(opl_reading *reading, const char *key, uint64_t *ret)
{
    const char *text = opl_reading_text(reading, &io, NULL);
    if (!text)
        return false;
    *ret = 0;
    while ((text = strstr(text, key)) != NULL) {
        text += strlen(key);
        *ret += perflinux_number(&text);
    }
    return true;
}

#define IO_SUM(name, key)                                                                          \
    static bool name(opl_reading *reading, uint64_t *ret)                                          \
    {                                                                                              \
        return io_sum(reading, key, ret);                                                          \
    }
IO_SUM(read_bytes, " rbytes=")
IO_SUM(written_bytes, " wbytes=")
IO_SUM(reads, " rios=")
IO_SUM(writes, " wios=")

/* ---- units ---- */

static bool ends_with(const char *text, size_t bytes, const char *end)
{
    size_t length = strlen(end);
    return bytes > length && memcmp(text + bytes - length, end, length) == 0;
}

/* The unit's name, if the group is a unit and all groups above it are slices; else NULL. */
static const char *unit_name(const char *path)
{
    const char *slash;
    for (; (slash = strchr(path, '/')) != NULL; path = slash + 1)
        if (!ends_with(path, (size_t)(slash - path), ".slice"))
            return NULL;
    return ends_with(path, strlen(path), ".slice") || !strchr(path, '.') ? NULL : path;
}

static void list_units(opl_listing *listing)
{
    const char *found = opl_listing_folders(listing, "sys/fs/cgroup/system.slice", 3);
    for (; found && *found; found += strlen(found) + 1) {
        char folder[PATH_SIZE], name[PATH_SIZE];
        const char *unit = unit_name(found);
        if (!unit || strlen(found) + sizeof "system.slice/" > sizeof folder)
            continue;
        snprintf(folder, sizeof folder, "system.slice/%s", found);
        opl_listing_read(listing, folder, name,
                         opl_sanitize_name(name, sizeof name, unit, strlen(unit), false));
    }
}

#define ON(controller) .if_source = &controllers, .if_word = controller
#define TIMER PERF_100NSEC_TIMER, 0, PERF_DETAIL_ADVANCED
#define BULK PERF_COUNTER_BULK_COUNT
#define TIME(key) OPL_KEY(&cpu, key, OPL_MICROSECONDS), .total = OPL_SUM
#define IO(function, key)                                                                          \
    OPL_FN_OF(&io, function), .total = OPL_SUM, ON("io"),                                          \
                              .where = "`sys/fs/cgroup/*/io.stat`: the sum of " key

/* clang-format off */
static const opl_counter unit_counters[] = {
    {6, 7, PERF_100NSEC_TIMER, 0, PERF_DETAIL_NOVICE, TIME("usage_usec"), .name = "% Processor Time",
     .help = "Share of one processor's time that the unit used; with several processors it can be more than 100 %."},
    {142, 143, TIMER, TIME("user_usec"), .name = "% User Time",
     .help = "Share of one processor's time that the unit used in its programs themselves."},
    {144, 145, TIMER, TIME("system_usec"), .name = "% Privileged Time",
     .help = "Share of one processor's time that the unit used in the kernel."},
    {100902, 100903, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_NOVICE, OPL_COLUMN(&memory, 1, OPL_ONE), .total = OPL_SUM, ON("memory"),
     .name = "Memory Bytes", .help = "Memory that the unit uses, including its files in the kernel's cache."},
    {100904, 100905, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_ADVANCED, OPL_COLUMN(&swap, 1, OPL_ONE), .total = OPL_SUM, ON("memory"),
     .name = "Swap Bytes", .help = "Swap space that the unit uses."},
    {100906, 100907, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_COLUMN(&tasks, 1, OPL_ONE), .total = OPL_SUM, ON("pids"),
     .name = "Tasks", .help = "Processes and threads of the unit."},
    {100908, 100909, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&memory_events, "oom_kill", OPL_ONE), .total = OPL_SUM, ON("memory"),
     .name = "Out of Memory Kills", .help = "Processes of the unit that the kernel ended since the unit was started, because memory ran out."},
    {100910, 100911, TIMER, OPL_KEY(&cpu, "throttled_usec", OPL_MICROSECONDS), .total = OPL_SUM, ON("cpu"), .name = "% Throttled Time",
     .help = "Share of time that the unit's tasks had to wait because all processor time that it may use was used up."},
    {1412, 1413, BULK, 0, PERF_DETAIL_ADVANCED, IO(reads, "rios"), .name = "IO Read Operations/sec",
     .help = "Requests per second that read from disks for the unit."},
    {1414, 1415, BULK, 0, PERF_DETAIL_ADVANCED, IO(writes, "wios"), .name = "IO Write Operations/sec",
     .help = "Requests per second that wrote to disks for the unit."},
    {1420, 1421, BULK, -4, PERF_DETAIL_NOVICE, IO(read_bytes, "rbytes"), .name = "IO Read Bytes/sec",
     .help = "Bytes per second that were read from disks for the unit."},
    {1422, 1423, BULK, -4, PERF_DETAIL_NOVICE, IO(written_bytes, "wbytes"), .name = "IO Write Bytes/sec",
     .help = "Bytes per second that were written to disks for the unit."},
};
/* clang-format on */

const opl_object perflinux_unit = {
    100900,
    100901,
    "systemd Unit",
    "What the system's services and other units use: processors, memory, tasks, disks.",
    OPL_COUNTERS(unit_counters),
    .default_counter = 6,
    .costly = true,
    .needs = "sys/fs/cgroup/system.slice",
    .instances = true,
    .total = "_Total",
    .list = list_units};
