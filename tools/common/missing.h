/* SPDX-License-Identifier: MIT */
/* Why a counter path names nothing, for the tools that take paths from people. */
#ifndef OPL_TOOLS_MISSING_H
#define OPL_TOOLS_MISSING_H

#include <openperflib/pdh.h>

/* Finds which part of the path names nothing (PDH reports a wildcard without a match as a missing
 * instance, whichever part it stands in), and what is spelled alike. Returns the status that fits,
 * `status` where the path cannot be taken apart; `similar` becomes "" or names. */
PDH_STATUS missing_part(const char *path, PDH_STATUS status, char *similar, size_t size);

/* pdh_complain of that status, with the similar names. */
int missing_complain(const char *tool, const char *path, PDH_STATUS status);

#endif
