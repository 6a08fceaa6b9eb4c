/* SPDX-License-Identifier: MIT */
/* -config FILE: options in a file. A line "[si]" names an option, the next line is its value. */
#ifndef OPL_TOOLS_CONFIG_H
#define OPL_TOOLS_CONFIG_H

#include "options.h"
#include "text-list.h"

/* A file's options as a command line; `kept` owns the strings. */
struct config {
    struct text_list *kept;
    bool nested; /* these options come from a file */
    int argc;
    char **argv;
};
/* Reads the file that is the option's value. Returns 0, or an exit code after a message. */
int config_read(struct config *config, const struct options *options);

#endif
