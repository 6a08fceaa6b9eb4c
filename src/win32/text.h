/* SPDX-License-Identifier: MIT */
/* Private to win32: converts a caller's text (UTF-8 or UTF-16) to UTF-8. */
#ifndef OPL_WIN32_TEXT_H
#define OPL_WIN32_TEXT_H

#include "base/base.h"

/* A caller's text in UTF-8. A text that fits into `small` needs no allocation, so that a repeated
 * query allocates nothing. */
struct name {
    const char *text; /* the text in UTF-8; NULL if the caller's text is NULL */
    char *large;
    char small[600];
};
LSTATUS narrow(LPCWSTR wide, struct name *ret);
void name_done(struct name *name);
#define NAME_AUTO __attribute__((cleanup(name_done))) struct name

#endif
