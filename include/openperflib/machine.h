/* SPDX-License-Identifier: MIT */
/* Other machines: what PDH has no function for. */
#ifndef OPENPERFLIB_MACHINE_H
#define OPENPERFLIB_MACHINE_H

#include <stddef.h>

#include "pdh.h"

OPL_BEGIN_DECLS
#pragma GCC visibility push(default)

/* Connects to several machines, as PdhConnectMachine does to one, but to all at once: it takes the
 * time of the slowest, at most one deadline (docs/remote.md), however many do not answer. Counters
 * of them are added without waiting for a connection afterwards.
 *
 * `machines` are `count` names in UTF-8, with or without \\, or addresses such as ssh://HOST; this
 * machine's own name is one like others, and NULL is this machine. ret_reasons, NULL or `count`
 * long, tells of each: 0, or the Win32 error of RegConnectRegistry. What is connected stays so for
 * the process's life.
 *
 * 0 if all are there, else PDH_CSTATUS_NO_MACHINE, or PDH_INVALID_ARGUMENT when `machines` is NULL
 * and `count` is not 0, or PDH_MEMORY_ALLOCATION_FAILURE; the last two leave ret_reasons alone. */
PDH_STATUS opl_connect_machines(const char *const *machines, size_t count, LSTATUS *ret_reasons);

#pragma GCC visibility pop
OPL_END_DECLS

#endif
