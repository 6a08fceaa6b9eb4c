/* SPDX-License-Identifier: MIT */
/* Private to win32: text between a caller, in UTF-8 or UTF-16, and the modules behind. */
#ifndef OPL_WIN32_TEXT_H
#define OPL_WIN32_TEXT_H

#include "base/base.h"

/* A caller's text in UTF-8; usual ones need no allocation, so a steady query makes none. */
struct name {
    const char *text; /* NULL if the caller's text is NULL */
    char *large;
    char small[600];
};
LSTATUS narrow(LPCWSTR wide, struct name *ret);
void name_done(struct name *name);
#define NAME_AUTO __attribute__((cleanup(name_done))) struct name

#endif
