/* SPDX-License-Identifier: MIT */
/* What options.c prints from a tool's table: help, version, and the raw table for the build. */
#ifndef OPL_TOOLS_OPTIONS_PRINT_H
#define OPL_TOOLS_OPTIONS_PRINT_H

#include "options.h"

/* the options help, version and print-options */
extern const struct option_row options_common_rows[];

void options_print_help(const struct tool *tool, const struct tool *command);
void options_print_version(const struct tool *tool);
/* Tab-separated lines: tool, usage, words, command, option; read by tools/common/from-options.py */
void options_print_table(const struct tool *tool);

#endif
