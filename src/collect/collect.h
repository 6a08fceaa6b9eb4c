/* SPDX-License-Identifier: MIT */
/* API of collect: one query becomes one PERF_DATA_BLOCK. */
#ifndef OPL_COLLECT_H
#define OPL_COLLECT_H

#include "base/base.h"

/* A data query (never a name query). *size in: buffer size, out: TotalByteLength; ERROR_MORE_DATA
 * leaves it unchanged. */
LSTATUS collect_query(const char *text, void *data, DWORD *size);
void collect_close(void);

#endif
