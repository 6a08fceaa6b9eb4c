/* SPDX-License-Identifier: MIT */
/* A tool's output file: may it be overwritten; error messages. */
#ifndef OPL_TOOLS_OUTPUT_FILE_H
#define OPL_TOOLS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* May `path` be written? False, with a message on stderr: it exists, `yes` is false, and no
 * user at a terminal agreed. */
bool output_file_free(const char *tool, const char *path, bool yes);
/* Opens `path` for text, "-" or NULL is standard output. NULL: the reason is on stderr. */
FILE *output_file_open(const char *tool, const char *path);
/* Closes the file, or flushes standard output. False, after a message: not all was written. */
bool output_file_close(const char *tool, const char *path, FILE *file);
/* Returns the exit code for the last message: 1, or 4 for missing rights. */
int output_file_code(void);
/* Prints "TOOL: PATH: reason" by errno, and what to do about it. */
void output_file_complain(const char *tool, const char *path);

#endif
