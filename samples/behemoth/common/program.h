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
/* What an option sets: the member that is not NULL. */
struct setting {
    const char **text;
    bool *flag;
    int64_t *whole;
    double *seconds;
    double least, most; /* limits of `whole` and `seconds`; most 0: none */
};
/* Takes an option that has no setting, or a plain word (OPTION_ARGUMENT). Returns what is wrong
 * with the value, or NULL. */
typedef const char *take_option(int id, const char *value);
/* Parses the command line; `settings` are indexed by the option's id. Returns the exit code;
 * -1: continue. */
int options_read(struct options *options, const struct tool *tool, int argc, char **argv,
                 const struct setting *settings, take_option *take);
/* Creates the folders of a file, if they do not exist. */
void make_folders(const char *path);

#endif
