/* SPDX-License-Identifier: MIT */
/* Starts another tool of this installation or build tree. */
#ifndef OPL_TOOLS_BESIDE_H
#define OPL_TOOLS_BESIDE_H

#include <stddef.h>

/* Writes the path of the program `name`, which lies in the folder of this one. */
void beside_path(const char *name, char *ret, size_t capacity);
/* Runs the program `name`, which lies in the folder of this one, in place of this process. If
 * args[0] is NULL, sets it to the path. If that fails, reports it as `tool` and returns
 * EXIT_FAILED. */
int beside_run(const char *tool, const char *name, char **args);

#endif
