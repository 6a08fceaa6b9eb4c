/* SPDX-License-Identifier: MIT */
/* What the sample's programs share in addition to the protocol: options, numbers, folders. */
#ifndef BEHEMOTH_PROGRAM_H
#define BEHEMOTH_PROGRAM_H

#include <options.h>

#include <stddef.h>
#include <stdint.h>

/* The options of behemoth-server; `behemoth-manager start` also accepts all of them except the
 * first, and passes them on to the server. The herd's parameters are options, too, in their order
 * from SERVER_PARAMETER on. */
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

/* Parses a whole number from `least` to `most`; false: the text is no such number. */
bool number_of(const char *text, int64_t least, int64_t most, int64_t *ret);
/* Parses the option's value as number_of does. False, after a message: the value is no such
 * number. */
bool option_number(const struct options *options, int64_t least, int64_t most, int64_t *ret);
/* Creates the folders of a file, if they do not exist. */
void make_folders(const char *path);

#endif
