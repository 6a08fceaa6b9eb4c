/* SPDX-License-Identifier: MIT */
/* Captures: what PDH has no function for. */
#ifndef OPENPERFLIB_CAPTURE_H
#define OPENPERFLIB_CAPTURE_H

#include <stddef.h>

#include "windef.h"

OPL_BEGIN_DECLS
#pragma GCC visibility push(default)

/* What this thread's last call of PDH that opened, read or made a capture met in it: a line for
 * each file, "FILE: line N, offset N: what is wrong; what was done about it". Beside a failure's
 * status, and also beside the end of a capture that ends in the middle of a sample. NULL: there was
 * nothing. Valid until the thread's next call of PDH. */
const char *opl_capture_problem(void);

/* What the capture holds and that call could not show: a line for each reason, "not shown: what: N,
 * the first is ...". The functions that list, and PdhExpandWildCardPathH, report objects and
 * counters of the objects that they listed; the collection that comes to the capture's end reports
 * what could not be read of the wanted counters since its begin. NULL: nothing was left out. Valid
 * until the thread's next call of this function or of PDH. */
const char *opl_capture_unshown(void);

/* The number as captures have it, like "%.17g" without regard to the locale and ten times as fast;
 * the text's length. Without a NUL. */
#define OPL_CAPTURE_NUMBER_ROOM 32
size_t opl_capture_number(double number, char text[OPL_CAPTURE_NUMBER_ROOM]);

#pragma GCC visibility pop
OPL_END_DECLS

#endif
