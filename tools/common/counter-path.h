/* SPDX-License-Identifier: MIT */
/* Counter paths as people type them: in Windows' notation, \Object(instance)\Counter and
 * \\MACHINE\Object..., or in the notation for shells, Object(instance)::Counter and
 * //MACHINE/Object... */
#ifndef OPL_TOOLS_COUNTER_PATH_H
#define OPL_TOOLS_COUNTER_PATH_H

#include <stdbool.h>

/* Does the path contain an asterisk or a question mark? */
bool counter_path_is_pattern(const char *path);
/* Does the path name an instance, without an asterisk or a question mark in object and instance?
 * PDH expands a pattern of counters even if there is no such instance. */
bool counter_path_names_instance(const char *path);
/* Is this the path of a _Total? With --top it would always be the largest value. */
bool counter_path_is_total(const char *path);
/* Do two paths in Windows' notation differ only in their counters? */
bool counter_path_same_instance(const char *left, const char *right);
/* Does the path begin with a machine? */
bool counter_path_has_machine(const char *path);
/* Does the path have backslashes, as in Windows' notation? */
bool counter_path_is_windows(const char *path);
/* Does `machine` mean the local machine, by its name, "." or "localhost", with or without
 * backslashes? */
bool counter_path_is_here(const char *machine);

/* Returns a copy of the path in Windows' notation, to be freed. NULL: no path, or no memory. */
char *counter_path_to_windows(const char *path);
/* Copies the path, with `machine` (with its backslashes; "": none) in front, unless the path has a
 * machine already or `machine` is the local one. The caller frees the copy. NULL: no memory. */
char *counter_path_on(char *machine, const char *path);

#endif
