/* SPDX-License-Identifier: MIT */
/* A key without Enter; in the static libopenperflib-win32.a. */
#ifndef OPENPERFLIB_CONIO_H
#define OPENPERFLIB_CONIO_H

#include <windef.h>

#include <stdio.h>

OPL_BEGIN_SHIMS

/* Not 0 if _getch would not wait: a key was pressed, or standard input is not a terminal and
 * has bytes or has ended. */
int opl_kbhit(void) OPL_SHIM(kbhit);
/* Reads a byte of standard input without echo; a terminal need not send Enter. EOF: there are
 * no more. */
int opl_getch(void) OPL_SHIM(getch);

OPL_END_SHIMS

#define _kbhit opl_kbhit
#define kbhit opl_kbhit
#define _getch opl_getch
#define getch opl_getch

#endif
