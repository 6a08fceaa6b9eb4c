/* SPDX-License-Identifier: MIT */
/* API of collect: one query becomes one PERF_DATA_BLOCK. */
#ifndef OPL_COLLECT_H
#define OPL_COLLECT_H

#include "base/base.h"

/* Answers a query for data; for names it must not be called. *size: on entry the buffer's size, on
 * return TotalByteLength; unchanged with ERROR_MORE_DATA. */
LSTATUS collect_query(const char *text, void *data, DWORD *size);
void collect_close(void);

#endif
