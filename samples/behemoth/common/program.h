/* SPDX-License-Identifier: MIT */
/* What the sample's programs share in addition to the protocol: options, numbers, folders. */
#ifndef BEHEMOTH_PROGRAM_H
#define BEHEMOTH_PROGRAM_H

#include <options.h>

#include <stddef.h>
#include <stdint.h>

/* The options of behemoth-server; `behemoth-manager start` takes those after the first one, too,
 * and passes them on. SERVER_PARAMETER is the first of the herd's parameters, in their order. */
extern const struct option_row behemoth_server_rows[];
enum {
    SERVER_SOCKET = 1,
    SERVER_STATE,
    SERVER_SAVE_EVERY,
    SERVER_SEED,
    SERVER_COUNT,
    SERVER_SINCE,
    SERVER_FORWARD,
    SERVER_PARAMETER,
    SERVER_OPTIONS = SERVER_PARAMETER + 6 /* the first id that is free for another program */
};

/* Parses a whole number from `least` to `most`; false: the text is not one. */
bool number_of(const char *text, int64_t least, int64_t most, int64_t *ret);
/* Parses the value of the option; false, after a message: it is not such a number. */
bool option_number(const struct options *options, int64_t least, int64_t most, int64_t *ret);
/* Creates the folders of a file, if they do not exist. */
void make_folders(const char *path);

#endif
