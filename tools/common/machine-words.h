/* SPDX-License-Identifier: MIT */
/* Why another machine cannot be read, in words. */
#ifndef OPL_TOOLS_MACHINE_WORDS_H
#define OPL_TOOLS_MACHINE_WORDS_H

#include <openperflib/windows.h>

/* `machine` as it was given: a NAME with or without backslashes, or an address. Valid until the
 * next call. NULL: the status is none that another machine is known by. */
const char *machine_words(const char *machine, LSTATUS status);

/* Why openperflib-smb cannot log in: its own rules of the file of passwords (src/remote). */
const char *smb_login_words(const char *machine);

#endif
