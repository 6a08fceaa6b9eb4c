/* SPDX-License-Identifier: MIT */
/* The sample myperf1, but one counter has a type that PDH has no formula for. */
#include "../../samples/common/sample.h"
#undef PERF_COUNTER_RAWCOUNT_HEX
#define PERF_COUNTER_RAWCOUNT_HEX PERF_COUNTER_HISTOGRAM_TYPE
#include "../../samples/myperf1/myperf1.c"
