/* SPDX-License-Identifier: MIT */
/* Reads keys without waiting for Enter; in the static libopenperflib-win32.a. */
#ifndef OPENPERFLIB_CONIO_H
#define OPENPERFLIB_CONIO_H

#include <windef.h>

#include <stdio.h>

OPL_BEGIN_SHIMS

/* Returns 1 if _getch would return at once: a key was pressed, or standard input is not a terminal
 * and has bytes or has ended; else 0. */
int opl_kbhit(void) OPL_SHIM(kbhit);
/* Reads a byte of standard input, without echo, without waiting for Enter. EOF: standard input has
 * ended. */
int opl_getch(void) OPL_SHIM(getch);

OPL_END_SHIMS

#define _kbhit opl_kbhit
#define kbhit opl_kbhit
#define _getch opl_getch
#define getch opl_getch

#endif
