/* SPDX-License-Identifier: MIT */
/* What lodctr and unlodctr share: Win32 codes as sentences and as exit codes, remarks on stderr. */
#ifndef OPL_TOOLS_STATUS_H
#define OPL_TOOLS_STATUS_H

#include <stdbool.h>

#include <openperflib/loadperf.h>

/* What went wrong and what to do; never NULL. Valid until the next call. */
const char *status_words(DWORD status);
/* "TOOL: ABOUT: words (error N)" on stderr; returns the status. */
DWORD status_complain(const char *tool, const char *about, DWORD status);
/* "FILE:LINE: error: text", in colours on a terminal that wants them. */
void status_remark(const char *tool, const opl_load_remark *remark);
/* The exit code: the status, or 29 if standard output could not be written; 255 at most. */
int status_exit(const char *tool, DWORD status);
/* Is this stream a terminal that takes escape sequences? Colours: and is NO_COLOR unset? */
bool status_terminal(int descriptor);
bool status_colours(int descriptor);

#endif
