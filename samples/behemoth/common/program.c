/* SPDX-License-Identifier: MIT */
/* The server's options, and small functions that the sample's programs share. */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* clang-format off */
const struct option_row behemoth_server_rows[] = {
    {0, "socket", "PATH", SERVER_SOCKET, "Where to listen; the usual place if not given, see below.", "@files", 0},
    {0, "state", "PATH", SERVER_STATE, "The herd's file; the usual place if not given: behemoth-server --help.", "@files", 0},
    {0, "save-every", "N", SERVER_SAVE_EVERY, "Save every N seconds; 30 if not given, 0 saves only at the end.", NULL, 0},
    {0, "seed", "N", SERVER_SEED, "Of a new herd: the same seed, the same herd.", NULL, 0},
    {0, "count", "N", SERVER_COUNT, "Of a new herd: how many there are at first; 50 if not given.", NULL, 0},
    {0, "since", "SECONDS", SERVER_SINCE, "Of a new herd: its first moment, since 1970; now if not given.", NULL, 0},
    {0, "forward", "N", SERVER_FORWARD, "Let N seconds of its life pass first.", NULL, 0},
    {0, "capacity", "N", SERVER_PARAMETER, "How many the field can bear: near it, fewer are born.", NULL, 0},
    {0, "lifetime", "N", SERVER_PARAMETER + 1, "The mean one, in seconds of the herd's time.", NULL, 0},
    {0, "children", "N", SERVER_PARAMETER + 2, "Of each mother in a life, if there were space for all.", NULL, 0},
    {0, "speed", "N", SERVER_PARAMETER + 3, "Thousandths of the herd's seconds in one of ours; 0: stop.", NULL, 0},
    {0, "width", "N", SERVER_PARAMETER + 4, "Of the field, in metres.", NULL, 0},
    {0, "height", "N", SERVER_PARAMETER + 5, "Of the field, in metres.", NULL, 0},
    {0},
};
/* clang-format on */

bool number_of(const char *text, int64_t least, int64_t most, int64_t *ret)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        return false;
    *ret = value;
    return true;
}

bool option_number(const struct options *options, int64_t least, int64_t most, int64_t *ret)
{
    if (number_of(options->value, least, most, ret))
        return true;
    options_complain(options, "%s: a number from %lld to %lld is wanted", options->spelled,
                     (long long)least, (long long)most);
    return false;
}

void make_folders(const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(folder, 0755);
        *slash = '/';
    }
}
