/* SPDX-License-Identifier: MIT */
/* The terminal in full-screen mode; its state is restored however the program ends. */
#ifndef BEHEMOTH_TERMINAL_H
#define BEHEMOTH_TERMINAL_H

#include "../common/text.h"

enum terminal_key {
    KEY_NONE = -1,   /* timeout, or an unused key */
    KEY_END = -2,    /* standard input has ended */
    KEY_RESIZE = -3, /* the window has another size, or must be drawn again */
    KEY_UP = 256,
    KEY_DOWN,
    KEY_RIGHT,
    KEY_LEFT,
    KEY_FIRST,
    KEY_LAST,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN
};

/* Sets up the terminal of standard input and output. A signal that ends the program restores the
 * terminal first; so does Ctrl-Z, until the program continues. False: standard input or output is
 * not a terminal. */
bool terminal_begin(struct text_style style);
void terminal_end(void);
void terminal_size(int *ret_columns, int *ret_rows);
/* The stream whose contents become the next frame. NULL: no memory. */
FILE *terminal_frame(void);
/* Shows the frame, cut or filled so that `keys` is on the last line. Only changed lines are
 * written, all at once, against flicker; `whole`: all lines. */
void terminal_show(const char *keys, bool whole);
/* Waits at most `milliseconds` for a key; returns a byte, or an enum terminal_key. */
int terminal_key(int milliseconds);

#endif
