/* SPDX-License-Identifier: MIT */
/* What the sample's programs share in addition to the protocol: options, numbers, folders. */
#ifndef BEHEMOTH_PROGRAM_H
#define BEHEMOTH_PROGRAM_H

#include <options.h>

#include <stddef.h>
#include <stdint.h>

/* The options of behemoth-server; `behemoth-manager start` also accepts all of them except the
 * first, and passes them on to the server. The herd's parameters are options, too: the n-th,
 * counted from 0, is SERVER_PARAMETER + n. */
extern const struct option_row behemoth_server_rows[];
enum { SERVER_SOCKET = 1, SERVER_STATE, SERVER_SAVE_EVERY, SERVER_SEED, SERVER_COUNT };
enum { SERVER_SINCE = SERVER_COUNT + 1, SERVER_FORWARD, SERVER_PARAMETER };
enum { SERVER_OPTIONS = SERVER_PARAMETER + 6 }; /* the first id that is free for other programs */

/* Takes an option whose row names no member, or a plain word (OPTION_ARGUMENT). Returns what is
 * wrong with the value, or NULL. */
typedef const char *take_option(int id, const char *value);
/* Parses the command line; the rows name members of the structure. Returns the exit code; -1:
 * continue. */
int options_read(struct options *options, const struct tool *tool, int argc, char **argv,
                 void *structure, take_option *take);
/* Creates the folders of a file, if they do not exist. */
void make_folders(const char *path);

#endif
