/* SPDX-License-Identifier: MIT */
/* A key without Enter; in the static libopenperflib-win32.a. */
#ifndef OPENPERFLIB_CONIO_H
#define OPENPERFLIB_CONIO_H

#include "windef.h"

#include <stdio.h>

OPL_BEGIN_SHIMS

/* Not 0 when _getch would not wait: a key was pressed, or standard input is no terminal and has
 * bytes or has ended. */
int opl_kbhit(void) OPL_SHIM(kbhit);
/* The next byte of standard input, not shown; of a terminal without waiting for Enter. EOF: there
 * is no more. */
int opl_getch(void) OPL_SHIM(getch);

OPL_END_SHIMS

#define _kbhit opl_kbhit
#define kbhit opl_kbhit
#define _getch opl_getch
#define getch opl_getch

#endif
