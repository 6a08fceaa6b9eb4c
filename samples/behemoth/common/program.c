/* SPDX-License-Identifier: MIT */
/* The server's options, and functions that the sample's programs share. */
#include "program.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* clang-format off */
const struct option_row behemoth_server_rows[] = {
    {0, "socket", "PATH", SERVER_SOCKET, "The socket to listen on. Default: see below.", "@files", 0},
    {0, "state", "PATH", SERVER_STATE, "The herd's file. Default: see behemoth-server --help.", "@files", 0},
    {0, "save-every", "N", SERVER_SAVE_EVERY, "Save the herd every N seconds (default 30); 0: only at the end.", NULL, 0},
    {0, "seed", "N", SERVER_SEED, "For a new herd: herds with the same seed are equal.", NULL, 0},
    {0, "count", "N", SERVER_COUNT, "For a new herd: the number of behemoths at the beginning. Default: 50.", NULL, 0},
    {0, "since", "SECONDS", SERVER_SINCE, "For a new herd: the time at which it begins, since 1970. Default: now.", NULL, 0},
    {0, "forward", "N", SERVER_FORWARD, "Simulate N seconds before the first request is served.", NULL, 0},
    {0, "capacity", "N", SERVER_PARAMETER, "Maximum of behemoths; near it, fewer are born.", NULL, 0},
    {0, "lifetime", "N", SERVER_PARAMETER + 1, "Mean lifetime, in seconds of the herd's time.", NULL, 0},
    {0, "children", "N", SERVER_PARAMETER + 2, "Children of a mother in a mean lifetime, on an empty field.", NULL, 0},
    {0, "speed", "N", SERVER_PARAMETER + 3, "Thousandths of herd seconds for each real second; 0: pause.", NULL, 0},
    {0, "width", "N", SERVER_PARAMETER + 4, "Width of the field, in metres.", NULL, 0},
    {0, "height", "N", SERVER_PARAMETER + 5, "Height of the field, in metres.", NULL, 0},
    {0},
};
/* clang-format on */

int options_read(struct options *options, const struct tool *tool, int argc, char **argv,
                 void *structure, take_option *take)
{
    int id = options_begin(options, tool, argc, argv);
    while (id > 0 && (id = options_next(options)) > 0) {
        int code = id == OPTION_SET ? options_set(options, structure) : 0;
        const char *wrong = id == OPTION_SET ? NULL : take(id, options->value);
        if (wrong)
            return options_complain(options, "%s: %s", wrong, options->value);
        if (code > 0)
            return code;
    }
    return id < 0 ? options_status(id) : -1;
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
