/* SPDX-License-Identifier: MIT */
/*
 * Processor (238): an instance per online processor. Times are from proc/stat; waiting for a disk
 * counts as idle, time stolen by the hypervisor does not.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfos.h"

/* The words of a line "cpu0 user nice system idle iowait irq softirq steal ...". */
enum { USER = 2, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ };

/* Windows counts interrupts and deferred calls as privileged; Linux counts them separately. */
static bool privileged_time(opl_reading *reading, uint64_t *ret)
{
    uint64_t system, irq, softirq;
    if (!opl_reading_column(reading, &perfos_stat, SYSTEM, &system) ||
        !opl_reading_column(reading, &perfos_stat, IRQ, &irq) ||
        !opl_reading_column(reading, &perfos_stat, SOFTIRQ, &softirq))
        return false;
    *ret = (system + irq + softirq) * (10000000 / (uint64_t)sysconf(_SC_CLK_TCK));
    return true;
}

/* ---- tables with a column per processor: proc/interrupts, proc/softirqs ---- */

enum { MOST_PROCESSORS = 8192 }; /* the kernel's own limit */

/* The sums of a table's columns, made once per collection. */
struct column_sums {
    LONGLONG time; /* when the sums were made: opl_reading_time of that collection */
    bool readable;
    size_t columns;
    uint16_t processor[MOST_PROCESSORS]; /* processor of each column; offline ones may have none */
    uint64_t sum[MOST_PROCESSORS];       /* indexed by processor */
};

static const char *read_number(const char *at, uint64_t *ret)
{
    for (*ret = 0; isdigit((unsigned char)*at); at++)
        *ret = *ret * 10 + (uint64_t)(*at - '0');
    return at;
}

/* Reads the heading " CPU0 CPU2 ", which has each column's processor; returns the text after the
 * heading. */
static const char *read_heading(struct column_sums *sums, const char *text)
{
    const char *end = strchrnul(text, '\n');
    uint64_t processor;
    sums->columns = 0;
    while ((text = memmem(text, (size_t)(end - text), "CPU", 3)) != NULL) {
        text = read_number(text + 3, &processor);
        if (processor >= MOST_PROCESSORS || sums->columns == MOST_PROCESSORS)
            break;
        sums->processor[sums->columns++] = (uint16_t)processor;
        sums->sum[processor] = 0;
    }
    return end;
}

/* Adds the numbers of a line such as " 24: 1 0 what it is" to the sums. Errors, which belong to no
 * processor but are in the first column, are not counted as interrupts. */
static void add_line(struct column_sums *sums, const char *line)
{
    line += strspn(line, " ");
    const char *label = line;
    line = strpbrk(line, ":\n");
    if (!line || *line == '\n' || strncasecmp(label, "ERR:", 4) == 0 ||
        strncmp(label, "MIS:", 4) == 0)
        return;
    line++;
    for (size_t column = 0; column < sums->columns; column++) {
        while (*line == ' ')
            line++;
        if (!isdigit((unsigned char)*line))
            return;
        uint64_t number;
        line = read_number(line, &number);
        sums->sum[sums->processor[column]] += number;
    }
}

static void read_sums(struct column_sums *sums, const char *text)
{
    const char *line = read_heading(sums, text);
    for (; *line && *++line; line = strchrnul(line, '\n'))
        add_line(sums, line);
}

/* The sum over all rows of the instance's processor. False: the table exceeds `limit` bytes,
 * because there are many processors and devices. Reading such a table would take longer than all
 * other objects together. */
static bool column_sum(opl_reading *reading, const opl_source *source, struct column_sums *sums,
                       size_t limit, uint64_t *ret)
{
    LONGLONG time = opl_reading_time(reading);
    if (sums->time != time) {
        size_t bytes = 0;
        const char *text = opl_reading_text(reading, source, &bytes);
        sums->time = time;
        sums->readable = text && bytes <= limit;
        if (sums->readable)
            read_sums(sums, text);
    }
    unsigned long processor = strtoul(opl_reading_folder(reading), NULL, 10);
    if (!sums->readable || processor >= MOST_PROCESSORS)
        return false;
    *ret = sums->sum[processor];
    return sums->columns > 0;
}

enum { INTERRUPTS_LIMIT = 65536, SOFTIRQS_LIMIT = 1048576 };

static bool interrupts(opl_reading *reading, uint64_t *ret)
{
    static const opl_source source = {.path = "proc/interrupts"};
    static struct column_sums sums;
    return column_sum(reading, &source, &sums, INTERRUPTS_LIMIT, ret);
}

static bool deferred_calls(opl_reading *reading, uint64_t *ret)
{
    static const opl_source source = {.path = "proc/softirqs"};
    static struct column_sums sums;
    return column_sum(reading, &source, &sums, SOFTIRQS_LIMIT, ret);
}

/* ---- low-power states ---- */

#define IDLE_STATE(n, file)                                                                        \
    {                                                                                              \
        .path = "sys/devices/system/cpu/cpu*/cpuidle/state" n "/" file, .persistent = true         \
    }
#define IDLE_STATES(file)                                                                          \
    {                                                                                              \
        IDLE_STATE("0", file), IDLE_STATE("1", file), IDLE_STATE("2", file),                       \
            IDLE_STATE("3", file), IDLE_STATE("4", file), IDLE_STATE("5", file),                   \
            IDLE_STATE("6", file), IDLE_STATE("7", file), IDLE_STATE("8", file),                   \
            IDLE_STATE("9", file),                                                                 \
    }
enum { MOST_STATES = 10 }; /* CPUIDLE_STATE_MAX of the kernel */
static const opl_source state_time[MOST_STATES] = IDLE_STATES("time");
static const opl_source state_usage[MOST_STATES] = IDLE_STATES("usage");

static int polling_state = -1; /* -1: not checked yet; 1: state 0 is not a sleep state */

void perfos_processor_open(void)
{
    polling_state = -1;
}

/* The first state that is a sleep: on most machines state 0 is a loop that watches for work. */
static size_t first_sleep(opl_reading *reading)
{
    static const opl_source name = {.path = "sys/devices/system/cpu/cpu0/cpuidle/state0/name"};
    if (polling_state < 0) {
        const char *text = opl_reading_text(reading, &name, NULL);
        polling_state = text && strncmp(text, "POLL", 4) == 0;
    }
    return (size_t)polling_state;
}

/* The value of a Windows sleep state: as in ACPI, C1 is the lightest sleep, C2 the next, and C3 the
 * third and all deeper ones. */
static bool sleep_state(opl_reading *reading, const opl_source *states, size_t depth, uint64_t *ret)
{
    uint64_t number;
    size_t state = first_sleep(reading) + depth - 1;
    if (!opl_reading_column(reading, &states[state], 1, ret))
        return false;
    while (depth == 3 && ++state < MOST_STATES &&
           opl_reading_column(reading, &states[state], 1, &number))
        *ret += number;
    return true;
}

static bool sleep_time(opl_reading *reading, size_t depth, uint64_t *ret)
{
    bool readable = sleep_state(reading, state_time, depth, ret);
    *ret *= 10; /* from microseconds to 100 ns */
    return readable;
}

static bool c1_time(opl_reading *reading, uint64_t *ret)
{
    return sleep_time(reading, 1, ret);
}
static bool c2_time(opl_reading *reading, uint64_t *ret)
{
    return sleep_time(reading, 2, ret);
}
static bool c3_time(opl_reading *reading, uint64_t *ret)
{
    return sleep_time(reading, 3, ret);
}

static bool c1_entries(opl_reading *reading, uint64_t *ret)
{
    return sleep_state(reading, state_usage, 1, ret);
}

static bool c2_entries(opl_reading *reading, uint64_t *ret)
{
    return sleep_state(reading, state_usage, 2, ret);
}

static bool c3_entries(opl_reading *reading, uint64_t *ret)
{
    return sleep_state(reading, state_usage, 3, ret);
}

#define TIME_WHERE(which) "sys/devices/system/cpu/cpuN/cpuidle: time of " which
#define USAGE_WHERE(which) "sys/devices/system/cpu/cpuN/cpuidle: usage of " which
#define FIRST "the lightest state that is not POLL"
#define SECOND "the second state that is not POLL"
#define THIRD "the third and all deeper states that are not POLL"

/* clang-format off */
static const opl_counter counters[] = {
    {6, 7, PERF_100NSEC_TIMER_INV, 0, PERF_DETAIL_NOVICE, OPL_COLUMNS(&perfos_stat, IDLE, IOWAIT, OPL_TICKS), .total = OPL_MEAN,
     .name = "% Processor Time",
     .help = "Share of time that the processor was not idle. Time that the hypervisor took away counts as busy; waiting for a disk is idle."},
    {142, 143, PERF_100NSEC_TIMER, 0, PERF_DETAIL_ADVANCED, OPL_COLUMNS(&perfos_stat, USER, NICE, OPL_TICKS), .total = OPL_MEAN,
     .name = "% User Time",
     .help = "Share of time that the processor spent in programs themselves, guests of virtual machines included."},
    {144, 145, PERF_100NSEC_TIMER, 0, PERF_DETAIL_ADVANCED, OPL_FN(privileged_time), .total = OPL_MEAN, .name = "% Privileged Time",
     .help = "Share of time that the processor spent in the kernel, interrupts and deferred work included.",
     .where = "proc/stat: system, irq and softirq"},
    {148, 149, PERF_COUNTER_COUNTER, -2, PERF_DETAIL_NOVICE, OPL_FN(interrupts), .total = OPL_SUM, .name = "Interrupts/sec",
     .help = "Interrupts per second that the processor served: of devices, of timers, and from other processors.",
     .where = "proc/interrupts, the processor's column, without ERR and MIS; absent if that file has more than 64 KiB"},
    {696, 339, PERF_100NSEC_TIMER, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfos_stat, SOFTIRQ, OPL_TICKS), .total = OPL_MEAN,
     .name = "% DPC Time",
     .help = "Share of time that the processor spent on work which interrupt handlers put off. It is part of % Privileged Time."},
    {698, 397, PERF_100NSEC_TIMER, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfos_stat, IRQ, OPL_TICKS), .total = OPL_MEAN,
     .name = "% Interrupt Time",
     .help = "Share of time that the processor spent in interrupt handlers. It is part of % Privileged Time; kernels built without interrupt "
             "time accounting show little or none."},
    {1334, 1335, PERF_COUNTER_COUNTER, 0, PERF_DETAIL_ADVANCED, OPL_FN(deferred_calls), .total = OPL_SUM, .name = "DPCs Queued/sec",
     .help = "How often per second the processor began work that interrupt handlers had put off (a softirq of any kind).",
     .where = "proc/softirqs, the processor's column"},
    {1746, 1747, PERF_100NSEC_TIMER, 0, PERF_DETAIL_WIZARD, OPL_COLUMNS(&perfos_stat, IDLE, IOWAIT, OPL_TICKS), .total = OPL_MEAN,
     .name = "% Idle Time", .help = "Share of time that the processor had nothing to do, or only waited for a disk."},
    {1748, 1749, PERF_100NSEC_TIMER, 0, PERF_DETAIL_WIZARD, OPL_FN(c1_time), .total = OPL_MEAN, .name = "% C1 Time",
     .help = "Share of time in the lightest sleep state, from which the processor wakes fastest. It is part of % Idle Time.", .where = TIME_WHERE(FIRST)},
    {1750, 1751, PERF_100NSEC_TIMER, 0, PERF_DETAIL_WIZARD, OPL_FN(c2_time), .total = OPL_MEAN, .name = "% C2 Time",
     .help = "Share of time in the second sleep state, which saves more and wakes slower. It is part of % Idle Time.", .where = TIME_WHERE(SECOND)},
    {1752, 1753, PERF_100NSEC_TIMER, 0, PERF_DETAIL_WIZARD, OPL_FN(c3_time), .total = OPL_MEAN, .name = "% C3 Time",
     .help = "Share of time in the third sleep state or a deeper one. It is part of % Idle Time.", .where = TIME_WHERE(THIRD)},
    {1754, 1755, PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_WIZARD, OPL_FN(c1_entries), .total = OPL_SUM, .name = "C1 Transitions/sec",
     .help = "How often per second the processor went into the lightest sleep state.", .where = USAGE_WHERE(FIRST)},
    {1756, 1757, PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_WIZARD, OPL_FN(c2_entries), .total = OPL_SUM, .name = "C2 Transitions/sec",
     .help = "How often per second the processor went into the second sleep state.", .where = USAGE_WHERE(SECOND)},
    {1758, 1759, PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_WIZARD, OPL_FN(c3_entries), .total = OPL_SUM, .name = "C3 Transitions/sec",
     .help = "How often per second the processor went into the third sleep state or a deeper one.", .where = USAGE_WHERE(THIRD)},
};
/* clang-format on */

const opl_object perfos_processor = {
    238,
    239,
    "Processor",
    "What the processors did: each processor that is online, and all together.",
    OPL_COUNTERS(counters),
    .default_counter = 6,
    .instances = true,
    .total = "_Total",
    .lines = {.source = &perfos_stat, .prefix = "cpu", .name = 1}
};
