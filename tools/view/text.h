/* SPDX-License-Identifier: MIT */
/* Text on a terminal. All names that come from a capture, a provider, the registry or another
 * machine are printed through these functions. */
#ifndef OPL_TOOLS_TEXT_H
#define OPL_TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

/* Call this function first: it lets the C library treat names as UTF-8 in every locale. Returns
 * whether the terminal is UTF-8, too. */
bool text_begin(void);
/* Returns the text's width in columns of a terminal. */
int text_width(const char *text);
/* Is the character one of C0, DEL, C1 or bidirectional? Such control characters change more than
 * their cell. */
bool text_steers(wchar_t code);
/* Copies a text with control characters made visible (\n, \e, \x7f): names may contain anything. */
void text_clean(const char *text, char *out, size_t capacity);
void text_put(FILE *out, const char *text); /* prints what text_clean makes */
/* Writes the text as one word of a shell; what does not fit is cut. */
void text_quote(const char *text, char *out, size_t capacity);
/* Return the text with control characters made visible, valid until the eighth next call: text_seen
 * always, for messages and reports; text_shown if `out` is a terminal, for data. */
const char *text_seen(const char *text);
const char *text_shown(FILE *out, const char *text);
/* Prints the output of another program, each line as text_shown returns it. */
void text_put_output(FILE *out, const char *bytes, size_t size);
/* Prints the text in exactly `width` columns; a longer text is cut and gets an ellipsis. `width`
 * negative: right-aligned. */
void text_cell(FILE *out, const char *text, int width);
/* Prints a text in lines of at most `width` columns, each after `indent` blanks. */
void text_wrap(FILE *out, const char *text, int indent, int width);
/* Breaks a title at blanks into lines of at most `width` columns; returns the number of lines. */
enum { TITLE_LINES = 4, TITLE_SIZE = 48 };
size_t title_lines(const char *title, int width, char lines[TITLE_LINES][TITLE_SIZE]);
bool text_equal(const char *left, const char *right); /* ignoring case */
bool text_contains(const char *text, const char *part);

#endif
