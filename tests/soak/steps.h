/* SPDX-License-Identifier: MIT */
/* The counters of steps.c, for the provider and for the program that checks the values from PDH. */
#ifndef OPL_TEST_SOAK_STEPS_H
#define OPL_TEST_SOAK_STEPS_H

#include <windows.h>
#include <winperf.h>

#include <stdbool.h>

enum { STEPS_OBJECT = 22230, STEPS_COUNTERS = 12 };
enum steps_rule {
    STEPS_COUNT, /* the value is the count of collections itself */
    STEPS_RATE,  /* the value is increase / seconds */
    STEPS_RISE,
    STEPS_RATIO, /* increase / increase of the base, which is the next row of steps_rows */
    STEPS_PERCENT,
    STEPS_BASE
};

/* The raw value is `start`, plus `step` for each collection; after `period` collections (0: never)
 * it is `start` again. */
static const struct steps_row {
    DWORD type;
    enum steps_rule rule;
    ULONGLONG start, step;
    unsigned period;
} steps_rows[STEPS_COUNTERS] = {
    {PERF_COUNTER_LARGE_RAWCOUNT, STEPS_COUNT,   0,                      1,              0 },
    {PERF_COUNTER_COUNTER,        STEPS_RATE,    UINT32_MAX - 7,         0x30000001,     0 },
    {PERF_COUNTER_COUNTER,        STEPS_RATE,    UINT32_MAX - 70000,     20000,          0 },
    {PERF_COUNTER_DELTA,          STEPS_RISE,    0xfffffff0u,            0x21000007,     0 },
    {PERF_SAMPLE_FRACTION,        STEPS_PERCENT, 5,                      0x10000001,     0 },
    {PERF_SAMPLE_BASE,            STEPS_BASE,    0xf0000000u,            0x20000002,     0 },
    {PERF_AVERAGE_BULK,           STEPS_RATIO,   1,                      3 * 0x2a000000, 0 },
    {PERF_AVERAGE_BASE,           STEPS_BASE,    77,                     0x2a000000,     0 },
    {PERF_COUNTER_BULK_COUNT,     STEPS_RATE,    UINT64_MAX - 0x4000001, 0x100000,       0 },
 /* these decrease by less than half of their range: PDH must not take that for a wrap around, but
  * for a counter that began again */
    {PERF_COUNTER_COUNTER,        STEPS_RATE,    5,                      1000,           10},
    {PERF_COUNTER_DELTA,          STEPS_RISE,    2000000000,             100000000,      7 },
    {PERF_COUNTER_BULK_COUNT,     STEPS_RATE,    5,                      0x100000000,    13},
};

static inline DWORD steps_title(DWORD row)
{
    return STEPS_OBJECT + 2 + 2 * row;
}

/* Returns the raw value of a row before it is truncated to the counter's size. */
static inline ULONGLONG steps_value(DWORD row, ULONGLONG count)
{
    const struct steps_row *is = &steps_rows[row];
    return is->start + is->step * (is->period ? count % is->period : count);
}

/* Does the instance that comes and goes exist in this collection? */
static inline bool steps_guest(ULONGLONG count)
{
    return count % 7 < 4;
}

#endif
