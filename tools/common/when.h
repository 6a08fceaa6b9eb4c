/* SPDX-License-Identifier: MIT */
/* Local times without a time zone, as captures and options have them: 100 ns since 1601. */
#ifndef OPL_TOOLS_WHEN_H
#define OPL_TOOLS_WHEN_H

#include "options.h"
#include "sheet.h"

/* "M/D/YYYY [[HH:]MM:]SS[AM|PM]" or "YYYY-MM-DD[ HH:MM:SS]"; false: the text is not a time. */
bool when_parse(const char *text, LONGLONG *ret);
/* Parses a time of the past as people say it, too: "yesterday 03:00", "today 3:00", "03:00" (the
 * last one), "3m ago" (s, m, h, d), "now". Returns local time. */
bool when_at(const char *text, LONGLONG *ret);
/* Takes the value of an option such as -b; the time of day may be the next word, as on Windows.
 * Returns 0, or an exit code after a message. */
int when_take(struct options *options, LONGLONG *ret);
LONGLONG when_now(void);
/* Prints a time as relog shows it: "1/13/2018 5:13:23". */
void when_print(LONGLONG time, char text[SHEET_TIME_SIZE]);

#endif
