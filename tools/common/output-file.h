/* SPDX-License-Identifier: MIT */
/* A tool's output file: may it be written, and what to say if not. */
#ifndef OPL_TOOLS_OUTPUT_FILE_H
#define OPL_TOOLS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* Says on stderr why `path` stays as it is: it exists, `yes` was not given, and nobody at a
 * terminal agreed. */
bool output_file_free(const char *tool, const char *path, bool yes);
/* Opens `path` for text, "-" or NULL is standard output; NULL: said on stderr. */
FILE *output_file_open(const char *tool, const char *path);
/* Closes it, or flushes standard output; false: said on stderr that not all was written. */
bool output_file_close(const char *tool, const char *path, FILE *file);
/* The exit code for what was said last: 1, or 4 for lack of rights. */
int output_file_code(void);
/* "TOOL: PATH: reason" by errno, and what to do about it. */
void output_file_complain(const char *tool, const char *path);

#endif
