/* SPDX-License-Identifier: MIT */
/* Counter paths as people type them: \Object(instance)\Counter or Object(instance)::Counter. */
#ifndef OPL_TOOLS_COUNTER_PATH_H
#define OPL_TOOLS_COUNTER_PATH_H

#include <stdbool.h>

/* Does it contain an asterisk or a question mark? */
bool counter_path_is_pattern(const char *path);
/* Does it begin with a machine? */
bool counter_path_has_machine(const char *path);
/* Is it the notation with backslashes? */
bool counter_path_is_windows(const char *path);
/* Is it the local machine: its name, "." or "localhost", with or without backslashes? */
bool counter_path_is_here(const char *machine);

/* A copy of the path, with `machine` (with its backslashes; "": none) in front, unless the path has
 * a machine already or `machine` is the local one. The caller frees it. NULL: no memory. */
char *counter_path_on(char *machine, const char *path);

#endif
