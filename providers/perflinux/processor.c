/* SPDX-License-Identifier: MIT */
/*
 * Processor Information (100000): processors by the memory node that they belong to, "node,number",
 * with a total for each node and one for the machine. Times are from proc/stat: those that
 * Processor shows, and those for which Windows has no counter.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perflinux.h"

enum { MOST_PROCESSORS = 8192, MOST_NODES = 1024 }; /* the kernel's own limits */
/* The words of a line "cpu0 user nice system idle iowait irq softirq steal guest guest_nice". */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, GUEST, GUEST_NICE, TIMES };

static const opl_source proc_stat = {.path = "proc/stat"};
static const opl_source cpuinfo = {.path = "proc/cpuinfo"};
static const opl_source nodes = {.path = "sys/devices/system/node/online"};
static const opl_source node_list = {.path = "sys/devices/system/node/node*/cpulist"};
#define FREQUENCY(file)                                                                            \
    {                                                                                              \
        .path = "sys/devices/system/cpu/cpu*/cpufreq/" file, .persistent = true                    \
    }
static const opl_source current = FREQUENCY("scaling_cur_freq");
static const opl_source highest = FREQUENCY("cpuinfo_max_freq");

/* One processor, or a sum. */
struct cpu {
    unsigned number;      /* 12 of "cpu12"; unused in a sum */
    unsigned count;       /* how many processors are summed; 1: one processor */
    uint64_t time[TIMES]; /* 100 ns */
    unsigned words;       /* how many elements of `time` are set */
    uint64_t khz, most_khz;
    unsigned khz_count, most_count; /* how many processors have khz, and most_khz */
};

/* Data that is read once, and values of proc/cpuinfo in this collection. */
static struct {
    bool known, scaled;
    uint16_t node[MOST_PROCESSORS];
    uint32_t khz[MOST_PROCESSORS];
} place;

void perflinux_processor_open(void)
{
    place.known = false;
}

/* ---- nodes: "0-3,8-11" ---- */

static void take_node(opl_listing *listing, unsigned node)
{
    char folder[16];
    snprintf(folder, sizeof folder, "%u", node);
    const char *at = opl_reading_text(opl_listing_at(listing, folder), &node_list, NULL);
    uint64_t first, last;
    while (at && perflinux_range(&at, &first, &last))
        for (; first <= last && first < MOST_PROCESSORS; first++)
            place.node[first] = (uint16_t)node;
}

/* Finds the memory node of each processor. The nodes are read only once, because a processor never
 * changes its node. On a machine without nodes all processors belong to node 0. */
static void find_places(opl_listing *listing)
{
    char list[1024];
    const char *at = list, *text = opl_reading_text(opl_listing_reading(listing), &nodes, NULL);
    uint64_t first, last;
    memset(&place, 0, sizeof place);
    place.scaled = opl_reading_text(opl_listing_at(listing, "0"), &current, NULL) != NULL;
    snprintf(list, sizeof list, "%s", text ? text : "");
    while (perflinux_range(&at, &first, &last))
        for (; first <= last && first < MOST_NODES; first++)
            take_node(listing, (unsigned)first);
    place.known = true;
}

/* ---- frequencies ---- */

/* Reads megahertz, "2599.998", as kilohertz. */
static uint32_t read_khz(const char *at)
{
    uint64_t khz = perflinux_number(&at) * 1000;
    const char *digits = at + 1;
    if (*at == '.')
        for (unsigned part = 100; part && *digits >= '0' && *digits <= '9'; part /= 10)
            khz += (uint64_t)(*digits++ - '0') * part;
    return (uint32_t)khz;
}

/* Reads "processor : 3", "cpu MHz : 2599.998" of proc/cpuinfo, for kernels without cpufreq. */
static void read_cpuinfo(opl_listing *listing)
{
    uint64_t cpu = 0;
    const char *line = opl_reading_text(opl_listing_reading(listing), &cpuinfo, NULL);
    for (; line && *line; line = opl_next_line(line)) {
        const char *at = line + strcspn(line, ":\n");
        if (*at++ != ':')
            continue;
        at += strspn(at, " ");
        if (strncmp(line, "processor", 9) == 0)
            cpu = perflinux_number(&at);
        else if (strncmp(line, "cpu MHz", 7) == 0 && cpu < MOST_PROCESSORS)
            place.khz[cpu] = read_khz(at);
    }
}

static void take_frequency(opl_listing *listing, struct cpu *cpu)
{
    char folder[16];
    snprintf(folder, sizeof folder, "%u", cpu->number);
    cpu->khz = place.khz[cpu->number];
    if (place.scaled) {
        opl_reading *reading = opl_listing_at(listing, folder);
        cpu->khz = 0;
        if (opl_reading_column(reading, &current, 1, &cpu->khz) && cpu->khz > 0)
            cpu->most_count = opl_reading_column(reading, &highest, 1, &cpu->most_khz);
    }
    cpu->khz_count = cpu->khz > 0;
}

/* ---- instances ---- */

/* Parses a line "cpu12 1 2 3 ..."; false: it is another line, or the sum of all processors. */
static bool read_line(const char *line, struct cpu *ret)
{
    if (strncmp(line, "cpu", 3) != 0 || line[3] < '0' || line[3] > '9')
        return false;
    *ret = (struct cpu){.count = 1};
    line += 3;
    ret->number = (unsigned)perflinux_number(&line);
    while (*line == ' ' && ret->words < TIMES) {
        line += strspn(line, " ");
        ret->time[ret->words++] =
            perflinux_number(&line) * (10000000 / (uint64_t)sysconf(_SC_CLK_TCK));
    }
    return ret->number < MOST_PROCESSORS;
}

static void add(struct cpu *sum, const struct cpu *cpu)
{
    sum->count += cpu->count;
    sum->words = cpu->words;
    for (unsigned i = 0; i < TIMES; i++)
        sum->time[i] += cpu->time[i];
    sum->khz += cpu->khz;
    sum->khz_count += cpu->khz_count;
    sum->most_khz += cpu->most_khz;
    sum->most_count += cpu->most_count;
}

static void list_node(opl_listing *listing, const char *text, unsigned node, struct cpu *all)
{
    char name[32];
    struct cpu cpu, sum = {0};
    for (; *text; text = opl_next_line(text)) {
        if (!read_line(text, &cpu) || place.node[cpu.number] != node)
            continue;
        take_frequency(listing, &cpu);
        snprintf(name, sizeof name, "%u,%u", node, cpu.number);
        opl_listing_item(listing, name, &cpu);
        add(&sum, &cpu);
    }
    if (sum.count == 0)
        return;
    snprintf(name, sizeof name, "%u,_Total", node);
    opl_listing_item(listing, name, &sum);
    add(all, &sum);
}

static void list(opl_listing *listing)
{
    struct cpu cpu, all = {0};
    unsigned last_node = 0;
    const char *text = opl_reading_text(opl_listing_reading(listing), &proc_stat, NULL);
    if (!text)
        return;
    if (!place.known)
        find_places(listing);
    if (!place.scaled)
        read_cpuinfo(listing);
    for (const char *line = text; *line; line = opl_next_line(line))
        if (read_line(line, &cpu) && place.node[cpu.number] > last_node)
            last_node = place.node[cpu.number];
    for (unsigned node = 0; node <= last_node; node++)
        list_node(listing, text, node, &all);
    opl_listing_item(listing, "_Total", &all);
}

/* ---- values: of several processors, the mean ---- */

static bool mean(opl_reading *reading, unsigned first, unsigned second, uint64_t *ret)
{
    const struct cpu *cpu = opl_reading_item(reading);
    if (!cpu || !cpu->count || first >= cpu->words || second >= cpu->words)
        return false;
    *ret = (cpu->time[first] + (second != first ? cpu->time[second] : 0)) / cpu->count;
    return true;
}

#define MEAN(name, first, second)                                                                  \
    static bool name(opl_reading *reading, uint64_t *ret)                                          \
    {                                                                                              \
        return mean(reading, first, second, ret);                                                  \
    }
MEAN(idle_time, IDLE, IOWAIT)
MEAN(user_time, USER, NICE)
MEAN(dpc_time, SOFTIRQ, SOFTIRQ)
MEAN(interrupt_time, IRQ, IRQ)
MEAN(nice_time, NICE, NICE)
MEAN(wait_time, IOWAIT, IOWAIT)
MEAN(stolen_time, STEAL, STEAL)
MEAN(guest_time, GUEST, GUEST_NICE)

static bool privileged_time(opl_reading *reading, uint64_t *ret)
{
    const struct cpu *cpu = opl_reading_item(reading);
    if (!cpu || !cpu->count || cpu->words <= SOFTIRQ)
        return false;
    *ret = (cpu->time[SYSTEM] + cpu->time[IRQ] + cpu->time[SOFTIRQ]) / cpu->count;
    return true;
}

static bool frequency(opl_reading *reading, uint64_t *ret)
{
    const struct cpu *cpu = opl_reading_item(reading);
    if (!cpu || !cpu->khz_count)
        return false;
    *ret = (cpu->khz / cpu->khz_count + 500) / 1000;
    return true;
}

static bool scaled(opl_reading *reading, uint64_t *ret)
{
    const struct cpu *cpu = opl_reading_item(reading);
    if (!cpu || !cpu->most_count)
        return false;
    *ret = cpu->khz / cpu->khz_count;
    return true;
}

static bool most(opl_reading *reading, uint64_t *ret)
{
    const struct cpu *cpu = opl_reading_item(reading);
    if (!cpu || !cpu->most_count)
        return false;
    *ret = cpu->most_khz / cpu->most_count;
    return true;
}

#define TIME PERF_100NSEC_TIMER, 0, PERF_DETAIL_ADVANCED
#define FIRST PERF_DETAIL_NOVICE
#define OF(function, words)                                                                        \
    OPL_FN_OF(&proc_stat, function), .total = OPL_MEAN, .where = "proc/stat: " words

/* clang-format off */
static const opl_counter counters[] = {
    {6, 7, PERF_100NSEC_TIMER_INV, 0, FIRST, OF(idle_time, "idle and iowait"), .name = "% Processor Time",
     .help = "Share of time that the processor was not idle. Time that the hypervisor took away counts as busy; waiting for a disk is idle."},
    {142, 143, TIME, OF(user_time, "user and nice"), .name = "% User Time",
     .help = "Share of time that the processor spent in programs themselves, guests of virtual machines included."},
    {144, 145, TIME, OF(privileged_time, "system, irq and softirq"), .name = "% Privileged Time",
     .help = "Share of time that the processor spent in the kernel, interrupts and deferred work included."},
    {696, 339, TIME, OF(dpc_time, "softirq"), .name = "% DPC Time",
     .help = "Share of time that the processor spent on work which interrupt handlers put off. It is part of % Privileged Time."},
    {698, 397, TIME, OF(interrupt_time, "irq"), .name = "% Interrupt Time",
     .help = "Share of time that the processor spent in interrupt handlers. It is part of % Privileged Time; kernels built without interrupt "
             "time accounting show little or none."},
    {1746, 1747, TIME, OF(idle_time, "idle and iowait"), .name = "% Idle Time",
     .help = "Share of time that the processor had nothing to do, or only waited for a disk."},
    {100002, 100003, TIME, OF(nice_time, "nice"), .name = "% Nice Time",
     .help = "Share of time that the processor spent in programs with lowered priority (a nice value above 0). It is part of % User Time."},
    {100004, 100005, TIME, OF(wait_time, "iowait"), .name = "% IO Wait Time",
     .help = "Share of time that the processor had nothing to do while a task waited for a disk. It is part of % Idle Time."},
    {100006, 100007, TIME, OF(stolen_time, "steal"), .name = "% Steal Time",
     .help = "Share of time that the processor could have worked, but that the hypervisor gave to other virtual machines."},
    {100008, 100009, TIME, OF(guest_time, "guest and guest_nice"), .name = "% Guest Time",
     .help = "Share of time that the processor ran guests of virtual machines. It is part of % User Time."},
    {100010, 100011, PERF_COUNTER_RAWCOUNT, -2, FIRST, OPL_FN(frequency), .total = OPL_MEAN, .name = "Processor Frequency",
     .help = "The processor's frequency now, in megahertz.",
     .where = "sys/devices/system/cpu/cpuN/cpufreq/scaling_cur_freq; where there is none, cpu MHz of proc/cpuinfo"},
    {100012, 100013, PERF_RAW_FRACTION, 0, FIRST, OPL_FN(scaled), .base = OPL_FN(most), .total = OPL_MEAN, .name = "% of Maximum Frequency",
     .help = "The processor's frequency now, as a share of the highest that it may have.",
     .where = "sys/devices/system/cpu/cpuN/cpufreq: scaling_cur_freq and cpuinfo_max_freq"},
};
/* clang-format on */

const opl_object perflinux_processor = {
    100000,
    100001,
    "Processor Information",
    "What the processors did: each processor that is online, named by its memory node, each node, "
    "and the machine.",
    OPL_COUNTERS(counters),
    .default_counter = 6,
    .needs = "proc/stat",
    .known_only = true,
    .instances = true,
    .list = list};
