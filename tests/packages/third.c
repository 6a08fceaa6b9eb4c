/* SPDX-License-Identifier: MIT */
/* A third-party provider for tests/packages. VALUE is its counter's value, which differs by
 * architecture; COUNTERS is the number of counters, which differs by the package's version; if
 * CRASHES is defined, the provider crashes. */
#include <openperflib/object.h>

static uint32_t value = VALUE;

#ifdef CRASHES
static bool answer(opl_reading *reading, uint64_t *ret)
{
    (void)reading;
    *ret = *(volatile uint32_t *)NULL;
    return true;
}
#define ANSWER OPL_FN(answer)
#else
#define ANSWER OPL_VARIABLE(value)
#endif

static const opl_counter counters[] = {
    {.index = 2,
     .help_index = 2,
     .type = PERF_COUNTER_RAWCOUNT,
     .level = PERF_DETAIL_NOVICE,
     .value = ANSWER,
     .name = "Answer",
     .help = "The answer."      },
#if COUNTERS > 1
    {.index = 4,
     .help_index = 4,
     .type = PERF_COUNTER_RAWCOUNT,
     .level = PERF_DETAIL_NOVICE,
     .value = OPL_VARIABLE(value),
     .name = "Second",
     .help = "The answer again."},
#endif
};

static const opl_object third = {
    .index = 0, .help_index = 0, .name = SERVICE, .help = "A third party.", OPL_COUNTERS(counters)};
static const opl_object *const objects[] = {&third};
OPL_PROVIDER(SERVICE, objects);
