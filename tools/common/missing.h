/* SPDX-License-Identifier: MIT */
/* Why a counter path names nothing, for the tools that take paths from people. */
#ifndef OPL_TOOLS_MISSING_H
#define OPL_TOOLS_MISSING_H

#include <openperflib/pdh.h>

/* Finds which part of the path names nothing (PDH reports a wildcard without a match as a missing
 * instance, whichever part it stands in), and what is spelled alike. Returns the status that fits,
 * `status` where the path cannot be taken apart; `similar` becomes "" or names. */
PDH_STATUS missing_part(const char *path, PDH_STATUS status, char *similar, size_t size);

/* What is left out of answers because this user may not read it, and what to do: on stderr, once. A
 * path that names it lacks its counter. `object`: only if it is of this one; NULL: of any. */
void missing_rights(const char *tool, const char *object);

/* The same for a path whose counter is a pattern, which stands for all that are there. */
void missing_rights_of_all(const char *tool, const char *path);

/* pdh_complain of that status, with the similar names. */
int missing_complain(const char *tool, const char *path, PDH_STATUS status);

#endif
