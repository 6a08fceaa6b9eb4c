/* SPDX-License-Identifier: MIT */
/* The terminal in full-screen mode: raw keys, resizing; its state is always restored. */
#ifndef OPL_TOOLS_TERMINAL_H
#define OPL_TOOLS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

enum key {
    KEY_TIMEOUT = -1,
    KEY_END_OF_INPUT = -2,
    KEY_UP = 256,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_RESIZE,
    KEY_SIGNAL, /* a signal asks the program to end; terminal_signal() returns its number */
    KEY_OTHER
};
enum { KEY_ESCAPE = 27, KEY_ENTER = '\r', KEY_BACKSPACE = 127, KEY_REDRAW = 'L' - 64 };

bool terminal_begin(void);
void terminal_end(void);
void terminal_size(int *ret_rows, int *ret_columns);
/* Waits for a key, at most this long; bytes of UTF-8 are returned one by one. */
int terminal_key(long milliseconds);
int terminal_signal(void);
/* Replaces the whole screen by these lines in one write. */
void terminal_draw(const char *frame, size_t size);

#endif
