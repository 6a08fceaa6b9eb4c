/* SPDX-License-Identifier: MIT */
/* PDH's statuses as sentences and as exit codes, for typeperf and relog. */
#ifndef OPL_TOOLS_PDH_MESSAGE_H
#define OPL_TOOLS_PDH_MESSAGE_H

#include <pdh.h>
#include <pdhmsg.h>
#include <stdbool.h>

/* After this number of damaged places a tool stops reading the capture, and prints this message. */
enum { PDH_MOST_DAMAGE = 100 };
#define PDH_MUCH_DAMAGE "more than 100 damaged places: the rest is not read"

/* Returns a sentence with what went wrong and what to do; never NULL. Valid until the next call. */
const char *pdh_message(PDH_STATUS status);
/* Prints "TOOL: ABOUT: message (0xC0000BB8)" on stderr, or what PDH's last call found wrong in a
 * capture, with the position. Returns the exit code: 1, or 4 for missing rights. */
int pdh_complain(const char *tool, const char *about, PDH_STATUS status);
/* Prints each line of the text on stderr, after the tool's name; false: there is no text (NULL). */
bool pdh_lines(const char *tool, const char *text);
/* Reports what PDH's last call found wrong in a capture although it succeeded; false: it found
 * nothing wrong. */
bool pdh_remark(const char *tool);
/* Reports data of a capture that PDH's last call could not show; false: there is no such data. */
bool pdh_unshown(const char *tool);

#endif
