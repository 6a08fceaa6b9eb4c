/* SPDX-License-Identifier: MIT */
/* Other machines: functions that PDH lacks. */
#ifndef OPENPERFLIB_MACHINE_H
#define OPENPERFLIB_MACHINE_H

#include <openperflib/base.h>

OPL_BEGIN_DECLS
#pragma GCC visibility push(default)

/* Connects to several machines at the same time, as PdhConnectMachine does to one. The call takes
 * as long as the slowest machine, at most one deadline (docs/remote.md), even if many machines do
 * not answer. Afterwards their counters are added without waiting for a connection.
 *
 * `machines` are `count` names in UTF-8, with or without \\, or addresses such as ssh://HOST; this
 * machine's own name is treated like others, and NULL is this machine. ret_reasons, NULL or `count`
 * long, receives for each machine 0 or the Win32 error of RegConnectRegistry. Connections stay open
 * until the process ends.
 *
 * Returns 0 if all are connected, else PDH_CSTATUS_NO_MACHINE, or PDH_INVALID_ARGUMENT if
 * `machines` is NULL and `count` is not 0, or PDH_MEMORY_ALLOCATION_FAILURE; the last two do not
 * change ret_reasons. */
int32_t opl_connect_machines(const char *const *machines, size_t count, int32_t *ret_reasons);

#pragma GCC visibility pop
OPL_END_DECLS

#endif
