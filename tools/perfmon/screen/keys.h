/* SPDX-License-Identifier: MIT */
/* The keys that are not characters, with ncurses' names and values. */
#ifndef OPL_PERFMON_KEYS_H
#define OPL_PERFMON_KEYS_H

#ifdef HAVE_NCURSES
#define NCURSES_WIDECHAR 1
#include <curses.h>
#else
enum {
    KEY_DOWN = 258,
    KEY_UP,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_HOME,
    KEY_BACKSPACE,
    KEY_DC = 330,
    KEY_IC,
    KEY_NPAGE = 338,
    KEY_PPAGE,
    KEY_ENTER = 343,
    KEY_BTAB = 353,
    KEY_END = 360
};
#define KEY_F(number) (264 + (number))
#endif

#endif
