/* SPDX-License-Identifier: MIT */
/* A growing list of texts, for files of counters and of options. */
#ifndef OPL_TOOLS_TEXT_LIST_H
#define OPL_TOOLS_TEXT_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct text_list {
    char **texts; /* each allocated, and freed by text_list_done */
    size_t count, capacity;
};

/* Copies the text to the end of the list; false: no memory. */
bool text_list_add(struct text_list *list, const char *text);
/* Copies the first `size` bytes of the text to the end of the list; false: no memory. */
bool text_list_add_part(struct text_list *list, const char *text, size_t size);
void text_list_done(struct text_list *list);

/*
 * Reads a file's lines; omits surrounding blanks, a byte order mark, empty lines and one pair of
 * double quotes. UTF-8, or UTF-16 with a mark; "-" is standard input. False: errno is the reason,
 * and the list may contain some of the lines.
 */
bool text_list_read(struct text_list *list, const char *path);

/*
 * Reads a file of options for typeperf and relog: "[si]", and its value in the next line. The list
 * gets the words of a command line: "-si", "5". False: as for text_list_read.
 */
bool text_list_read_options(struct text_list *list, const char *path);

/*
 * Reads a file's lines, without empty ones and those that begin with "#". A line belongs to `take`
 * if that returns NULL; otherwise it returns what is wrong with it. False: `why` has the reason.
 */
bool text_lines_take(const char *path, const char *(*take)(void *self, char *line, unsigned number),
                     void *self, char *why, size_t capacity);

/* Returns the sign in a line "PATH>LIMIT" or "PATH<LIMIT". NULL: the line is neither. */
const char *text_limit(const char *line, double *ret_limit);

#endif
