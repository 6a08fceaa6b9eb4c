/* SPDX-License-Identifier: MIT */
/* Whether a tool may load a library: loading runs the library's code as the user of the tool. */
#ifndef OPL_TOOLS_REFUSED_H
#define OPL_TOOLS_REFUSED_H

#include <stdbool.h>

enum { REFUSED_TEXT = 512 };
/* True if the file may not be loaded; `why` has the reason and what to do. The rule is that of
 * Perflib: root and this user alone may change the file and the folders above it. This user's own
 * group may, too, because umask 002 makes such files. */
bool library_refused(const char *real_path, char why[static REFUSED_TEXT]);

#endif
