/* SPDX-License-Identifier: MIT */
/* Captures: functions that PDH lacks. */
#ifndef OPENPERFLIB_CAPTURE_H
#define OPENPERFLIB_CAPTURE_H

#include <openperflib/base.h>

OPL_BEGIN_DECLS
#pragma GCC visibility push(default)

/* The problems that this thread's last PDH call found in the captures that it opened, read or
 * wrote: a line for each file, "FILE: line N, offset N: what is wrong; what was done about it". A
 * call that fails may have a text, and also a call that succeeds, when a capture ends in the middle
 * of a sample. NULL: no problems. Valid until the thread's next PDH call. */
const char *opl_capture_problem(void);

/* What this thread's last PDH call could not show of a capture: a line for each reason, "not shown:
 * what: N, the first is ...". Functions that list (and PdhExpandWildCardPathH) report objects, and
 * counters of the objects that they list. The collection that reaches the capture's end reports all
 * values of the query's counters that could not be read since the capture's beginning. NULL:
 * nothing was omitted. Valid until the thread calls this function or PDH again. */
const char *opl_capture_unshown(void);

/* For PdhOpenLog's access, with PDH_LOG_WRITE_ACCESS and a query on several captures: their samples
 * become one if their times differ by at most half a second and no counter of the query has a value
 * in both; a value that two captures have with exactly the same time is written once; and a sample
 * that is earlier than the one before it is left out (opl_capture_unshown counts them).
 * PDH_NOT_IMPLEMENTED: the captures are of different time zones. */
#define OPL_LOG_MERGE 0x10000000u

#pragma GCC visibility pop
OPL_END_DECLS

#endif
