/* SPDX-License-Identifier: MIT */
/* Messages: why a counter path matches nothing, for tools that take paths from people. */
#ifndef OPL_TOOLS_MISSING_H
#define OPL_TOOLS_MISSING_H

#include <pdh.h>
#include <stdbool.h>

/* Finds the part of the path that matches nothing, and similar names. (PDH reports any wildcard
 * without a match as a missing instance.) Returns the status for that part, or `status` if the path
 * cannot be parsed; `similar` becomes "" or names. */
PDH_STATUS missing_part(const char *path, PDH_STATUS status, char *similar, size_t size);

/* Reports once, on stderr, the counters that are omitted because this user may not read them,
 * and what to do. A path to such a counter matches nothing. `object`: only its counters; NULL:
 * all. */
void missing_rights(const char *tool, const char *object);

/* Calls missing_rights if the path's counter is a pattern: it matches no omitted counters. */
void missing_rights_of_all(const char *tool, const char *path);

/* Is the word (no path or object) the name of a capture? Then reports which tools read captures. */
bool missing_is_capture(const char *tool, const char *word);

/* Like pdh_complain, but prints similar names after the message, if there are any. */
int missing_complain(const char *tool, const char *path, PDH_STATUS status);

#endif
