/* SPDX-License-Identifier: MIT */
/* The terminal in full-screen mode; its state is restored however the program ends. */
#ifndef BEHEMOTH_CLIENT_TERMINAL_H
#define BEHEMOTH_CLIENT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

enum terminal_key {
    KEY_NONE = -1,   /* timeout, or an unused key */
    KEY_END = -2,    /* standard input has ended */
    KEY_RESIZE = -3, /* the window has another size, or must be drawn again */
    KEY_UP = 256,
    KEY_DOWN,
    KEY_RIGHT,
    KEY_LEFT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_FIRST,
    KEY_LAST
};

/* Sets up the terminal of standard input and output. A signal that ends the program restores it
 * first; so does Ctrl-Z, until the program continues. False: there is none. */
bool terminal_begin(void);
void terminal_end(void);
void terminal_size(int *ret_columns, int *ret_rows);
/* Shows lines of text, each ended by '\n'. Only those that changed are written, all at once, so it
 * does not flicker. `whole`: redraw all, because the screen may have changed. */
void terminal_draw(const char *text, bool whole);
/* A byte, or a terminal_key. */
int terminal_key(int milliseconds);

#endif
