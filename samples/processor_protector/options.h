/* SPDX-License-Identifier: MIT */
/* What processor_protector was told to do. */
#ifndef PROCESSOR_PROTECTOR_OPTIONS_H
#define PROCESSOR_PROTECTOR_OPTIONS_H

#include "protector.h"

struct options {
    struct limits limits;
    double interval, duration; /* seconds; duration 0: until a signal */
    int nice;
    bool act, restore;
    char **names; /* with wildcards, ended by NULL; none: all processes */
};

/* Does not return when the options are wrong, or ask for help or version. */
void options_read(struct options *options, int argc, char **argv);
/* Is this a process that may be named? */
bool options_name_it(const struct options *options, const char *name);

#endif
