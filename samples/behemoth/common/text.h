/* SPDX-License-Identifier: MIT */
/* Text with colours. The programs draw in UTF-8 and colours; text_line leaves out what the terminal
 * cannot show. Names are third-party data: the tools' text_clean makes their control characters
 * visible, and text_cell prints them in a given width. */
#ifndef BEHEMOTH_TEXT_H
#define BEHEMOTH_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <text.h>

#define PLAIN "\033[0m"
#define STRONG "\033[1m"
#define WEAK "\033[2m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define BLUE "\033[34m"
#define MAGENTA "\033[35m"
#define BAD "\033[1;31m"
#define YELLOW "\033[1;33m"
#define TITLE "\033[1;36m"

struct text_style {
    bool utf8, colours;
};

/* Calls text_begin, and returns what standard output can show. */
struct text_style style_begin(void);
/* Prints a line, truncated after `width` columns; or, with width 0, a text of any length. */
void text_line(FILE *out, const char *line, size_t bytes, int width, struct text_style style);
/* Return texts that are valid until the eighth next call. age_text: "1:02:03" or "2d 01:02:03"; "-"
 * if the number is negative or too large. time_text: a FILETIME as UTC, "2026-11-22 16:30:05"; "-"
 * if it is out of range. */
const char *age_text(double seconds);
const char *time_text(uint64_t filetime);

#endif
