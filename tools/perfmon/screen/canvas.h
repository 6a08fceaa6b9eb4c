/* SPDX-License-Identifier: MIT */
/*
 * A canvas: rows of character cells, which every view of perfmon draws into. A canvas is shown by
 * ncurses, which sends the cells that changed, or printed as text.
 */
#ifndef OPL_PERFMON_CANVAS_H
#define OPL_PERFMON_CANVAS_H

#include <stdbool.h>
#include <stdio.h>
#include <wchar.h>

enum style {
    STYLE_PLAIN,
    STYLE_WEAK,
    STYLE_STRONG,
    STYLE_TITLE,
    STYLE_GOOD,
    STYLE_WARN,
    STYLE_BAD,
    STYLE_BAR, /* the top line and the bottom line of the screen */
    STYLE_SELECTED,
    STYLE_LINE, /* this style and those after it, LINE_STYLES in all, are for lines of a chart */
    LINE_STYLES = 8,
    STYLES = STYLE_LINE + LINE_STYLES
};
struct canvas_cell {
    /* a character and a combining character; empty: the right half of a wide character */
    wchar_t text[3];
    unsigned char style;
};
struct canvas {
    int rows, columns;
    bool utf8;    /* the terminal can show more than ASCII */
    bool braille; /* the terminal can also show Braille characters and colours */
    bool console; /* Linux' text console, whose font has few characters */
    bool marks;   /* bars of each style have a mark of their own, not only a colour */
    struct canvas_cell *cells;
};

/* Makes the canvas empty and of this size; false: no memory. */
bool canvas_begin(struct canvas *canvas, int rows, int columns);
void canvas_done(struct canvas *canvas);
/* Writes at most `width` columns; a longer text ends with an ellipsis. Control characters are made
 * visible. Outside the canvas nothing is written. Returns the number of columns written. */
int canvas_text(struct canvas *canvas, int row, int column, int width, enum style style,
                const char *text);
/* Like canvas_text, but the text ends at the right end of the `width` columns. */
void canvas_right(struct canvas *canvas, int row, int column, int width, enum style style,
                  const char *text);
/* Prints in the user's language, if there is a translation of `format`. */
int canvas_print(struct canvas *canvas, int row, int column, int width, enum style style,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));
void canvas_put(struct canvas *canvas, int row, int column, enum style style, wchar_t character);
/* Gives `width` cells a style, without changing their text. */
void canvas_style(struct canvas *canvas, int row, int column, int width, enum style style);
/* Writes a text in several lines, broken between words; returns the number of lines written. */
int canvas_wrap(struct canvas *canvas, int row, int column, int width, int lines, enum style style,
                const char *text);
/* Returns the character that bars of this style are made of. */
wchar_t canvas_mark(const struct canvas *canvas, enum style style);
/* Draws the part from `from` to `to` (0 to 1) of a bar that is `width` columns long, in steps of an
 * eighth of a column. */
void canvas_bar(struct canvas *canvas, int row, int column, int width, double from, double to,
                enum style style);
/* Prints the rows without the blanks at their ends, and without empty rows at the end. */
void canvas_write(const struct canvas *canvas, FILE *out);

#endif
