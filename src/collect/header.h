/* SPDX-License-Identifier: MIT */
/* Writes the header of a PERF_DATA_BLOCK; for collect.c. */
#ifndef OPL_COLLECT_HEADER_H
#define OPL_COLLECT_HEADER_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the header and the machine's name (UTF-8), rounded up to 8: the offset of the first
 * object. */
size_t header_size(const char *machine);
/* Writes the header with the clocks' present values; `data` has at least header_size bytes. */
void header_write(void *data, const char *machine, size_t total, uint32_t objects);

#endif
