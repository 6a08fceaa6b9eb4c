/* SPDX-License-Identifier: MIT */
/* The terminal as a canvas with keys, which is given back as it was however the program ends. */
#ifndef BEHEMOTH_CLIENT_TERMINAL_H
#define BEHEMOTH_CLIENT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

enum terminal_key {
    KEY_NONE = -1,   /* time is up, or it was nothing that anybody waits for */
    KEY_END = -2,    /* nobody will press a key any more */
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

/* Takes the terminal of standard input and output. A signal that ends the program gives it back
 * first; Ctrl-Z too, until the program goes on. False: there is none. */
bool terminal_begin(void);
void terminal_end(void);
void terminal_size(int *ret_columns, int *ret_rows);
/* Shows lines of text, each ended by '\n'. Only those that changed are written, all at once, so it
 * does not flicker. `whole`: what is on the screen is not trusted. */
void terminal_draw(const char *text, bool whole);
/* A byte, or a terminal_key. */
int terminal_key(int milliseconds);

#endif
