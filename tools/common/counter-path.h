/* SPDX-License-Identifier: MIT */
/* What people type for a counter, as the path that PDH takes. */
#ifndef OPL_TOOLS_COUNTER_PATH_H
#define OPL_TOOLS_COUNTER_PATH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the path for a text: one with backslashes stays as it is, and
 *     Processor(_Total)::% Processor Time    becomes  \Processor(_Total)\% Processor Time
 * False: it does not fit into `size`.
 */
bool counter_path_from_text(const char *text, char *ret_path, size_t size);
/* Has it an asterisk or a question mark? */
bool counter_path_is_pattern(const char *path);
/* Does it begin with a machine? */
bool counter_path_has_machine(const char *path);
/* Is this this machine: its name, ".", "localhost", with or without backslashes? */
bool counter_path_is_here(const char *machine);

#endif
