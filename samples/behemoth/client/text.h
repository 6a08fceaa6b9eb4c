/* SPDX-License-Identifier: MIT */
/* UTF-8 in the cells of a terminal: names are third-party data of any width, with any
 * characters. */
#ifndef BEHEMOTH_CLIENT_TEXT_H
#define BEHEMOTH_CLIENT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* Call first: texts are UTF-8 in every locale. Returns whether the terminal is UTF-8, too. */
bool text_begin(void);
/* A copy without control sequences: control characters and invalid bytes become U+FFFD. */
void text_clean(const char *text, char *out, size_t capacity);
/* How many columns a clean text takes. */
int text_width(const char *text);
/* Prints it in exactly so many columns, cut with an ellipsis; negative: at their right end. */
void text_put(FILE *out, const char *text, int width);
/* The same line with nothing behind its column `width` (0: all of it stays); what is between an
 * escape and its letter takes no column. */
void text_line(FILE *out, const char *line, size_t bytes, int width);

#endif
