/* SPDX-License-Identifier: MIT */
/* -config FILE: options in a file. A line "[si]" names an option, the next line is its value. */
#ifndef OPL_TOOLS_CONFIG_H
#define OPL_TOOLS_CONFIG_H

#include "options.h"
#include "text-list.h"

/* Reads the file that is the option's value; *ret has its options like a command line, whose
 * strings `kept` owns. `nested`: the option is itself from a file. Returns 0, or an exit code after
 * a message. */
int config_read(const struct options *options, bool nested, struct text_list *kept,
                struct options *ret);

#endif
