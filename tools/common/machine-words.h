/* SPDX-License-Identifier: MIT */
/* Why another machine cannot be read, in words. */
#ifndef OPL_TOOLS_MACHINE_WORDS_H
#define OPL_TOOLS_MACHINE_WORDS_H

#include <openperflib/windows.h>

/* NULL: it is none of the statuses that another machine is known by. */
const char *machine_words(LSTATUS status);

#endif
