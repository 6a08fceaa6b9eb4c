/* SPDX-License-Identifier: MIT */
/* Shared by lodctr and unlodctr: messages and exit codes for Win32 codes, remarks on stderr. */
#ifndef OPL_TOOLS_STATUS_H
#define OPL_TOOLS_STATUS_H

#include <stdbool.h>

#include <openperflib/load.h>
#include <winerror.h>

/* Returns a sentence with what went wrong and what to do; never NULL. Valid until the next call. */
const char *status_message(DWORD status);
/* Prints "TOOL: ABOUT: message (error N)" on stderr; returns the status. */
DWORD status_complain(const char *tool, const char *about, DWORD status);
/* Prints "FILE:LINE: error: text", in colours if the terminal has them. */
void status_remark(const char *tool, const opl_load_remark *remark);
/* Returns the exit code: the status, or 29 if standard output could not be written; 255 at most. */
int status_exit(const char *tool, DWORD status);
/* status_terminal: is the descriptor a terminal that understands escape sequences? status_colours:
 * the same, and is NO_COLOR unset? */
bool status_terminal(int descriptor);
bool status_colours(int descriptor);

#endif
