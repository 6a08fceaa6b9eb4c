/* SPDX-License-Identifier: MIT */
/* Paths of counters as people type them: \Object(instance)\Counter or Object(instance)::Counter. */
#ifndef OPL_TOOLS_COUNTER_PATH_H
#define OPL_TOOLS_COUNTER_PATH_H

#include <stdbool.h>

/* Has it an asterisk or a question mark? */
bool counter_path_is_pattern(const char *path);
/* Does it begin with a machine? */
bool counter_path_has_machine(const char *path);
/* Is it the form with backslashes? */
bool counter_path_is_windows(const char *path);
/* Is this this machine: its name, ".", "localhost", with or without backslashes? */
bool counter_path_is_here(const char *machine);

/* The path with the machine (with its backslashes, or "": none) in front, unless it has one or the
 * machine is this one: malloc, NULL: no memory. */
char *counter_path_on(char *machine, const char *path);

#endif
