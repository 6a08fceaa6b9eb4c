/* SPDX-License-Identifier: MIT */
/* Messages: why a remote machine cannot be read. */
#ifndef OPL_TOOLS_MACHINE_MESSAGE_H
#define OPL_TOOLS_MACHINE_MESSAGE_H

#include <windows.h>

/* Returns the message for this status. `machine` is written as the user gave it: a NAME with or
 * without backslashes, or an address. Valid until the next call. NULL: there is no message for this
 * status. */
const char *machine_message(const char *machine, LSTATUS status);

/* Returns why openperflib-smb cannot log in, by its rules for the password file (src/remote). */
const char *smb_login_text(const char *machine);

#endif
