/* SPDX-License-Identifier: MIT */
/* The options of processor_protector. */
#ifndef PROCESSOR_PROTECTOR_OPTIONS_H
#define PROCESSOR_PROTECTOR_OPTIONS_H

#include "protector.h"

struct options {
    struct limits limits;
    double interval, duration; /* seconds; duration 0: until a signal */
    int nice;
    bool act, restore;
    char **names; /* patterns of names, ended by NULL; if empty: all processes */
};

/* Reads the command line. Exits if the options are wrong, or after printing help or version. */
void options_read(struct options *options, int argc, char **argv);
/* Does one of the patterns match this name? */
bool options_name_it(const struct options *options, const char *name);

#endif
