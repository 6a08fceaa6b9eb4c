/* SPDX-License-Identifier: MIT */
/* A growing list of texts; what files of counters and of options hold. */
#ifndef OPL_TOOLS_TEXT_LIST_H
#define OPL_TOOLS_TEXT_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct text_list {
    char **texts; /* each malloc, the list's own */
    size_t count, room;
};

/* Copies the text; false: no memory. */
bool text_list_add(struct text_list *list, const char *text);
/* The same, of a part of a text. */
bool text_list_add_part(struct text_list *list, const char *text, size_t size);
void text_list_done(struct text_list *list);

/*
 * Reads a file's lines, without blanks around them, a byte order mark, empty lines and one pair of
 * double quotes; UTF-8, or UTF-16 with a mark; "-" is standard input. False: errno says why, the
 * list may have some of them.
 */
bool text_list_read(struct text_list *list, const char *path);

/*
 * Reads a file of options as typeperf and relog take it: "[si]" and in the next line its value.
 * They come as words of a command line: "-si", "5". False: see above.
 */
bool text_list_read_options(struct text_list *list, const char *path);

#endif
