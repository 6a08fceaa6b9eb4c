/* SPDX-License-Identifier: MIT */
/* Reads everything in a block, which may be damaged; for tests and for the fuzzer. */
#ifndef TESTS_WIRE_EVERYTHING_H
#define TESTS_WIRE_EVERYTHING_H

#include <stddef.h>

#include <openperflib/block.h>
#include <winperf.h>

/* Counts of what was found, so that tests can compare two walks through a block. */
struct everything {
    size_t objects, counters, instances, values, samples, texts, parents, name_bytes;
    opl_block_fault fault;
};
void walk_everything(const void *data, size_t size, struct everything *ret);

#endif
