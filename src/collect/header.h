/* SPDX-License-Identifier: MIT */
/* Writes the header of a PERF_DATA_BLOCK; for collect.c. */
#ifndef OPL_COLLECT_HEADER_H
#define OPL_COLLECT_HEADER_H

#include <stddef.h>
#include <stdint.h>

/* Header and machine name (UTF-8), rounded up to 8: the offset of the first object. */
size_t header_size(const char *machine);
/* Writes the header with this moment's clocks; `data` has at least header_size bytes. */
void header_write(void *data, const char *machine, size_t total, uint32_t objects);

#endif
