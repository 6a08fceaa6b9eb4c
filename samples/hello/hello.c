/* SPDX-License-Identifier: MIT */
/* hello: a minimal provider. One object, one counter, one variable. */
#include <openperflib/object.h>

static uint32_t answer = 42;
/* clang-format off */
static const opl_counter counters[] = {{.index = 2, .help_index = 2, .type = PERF_COUNTER_RAWCOUNT,
    .level = PERF_DETAIL_NOVICE, .value = OPL_VARIABLE(answer), .name = "Answer",
    .help = "What it all comes to."}};
static const opl_object hello = {.index = 0, .help_index = 0, .name = "Hello",
    .help = "Says hello.", OPL_COUNTERS(counters)};
static const opl_object *const objects[] = {&hello};
OPL_PROVIDER("Hello", objects);
