/* SPDX-License-Identifier: MIT */
/* openperflib-winregd: answers other machines' queries for this one's counters, read only. */
#include "remote/winregd.h"

#include <options.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { STDIO = 1, AT_SOCKET };

/* clang-format off */
static const struct option_row rows[] = {
    {0, "stdio", NULL, STDIO, "Serve one client on standard input and output, as ssh starts it."},
    {0, "socket", "PATH", AT_SOCKET, "Serve many clients on a Unix socket; a socket passed by systemd is used instead.", "@files"},
    {0},
};
/* clang-format on */

static const char more[] =
    "Root, the server's own user and the users in the lists may read; without\n"
    "a list these are the group openperflib. openperflib-winregd(1) describes the lists.\n"
    "\n"
    "Exit codes: 0 the client disconnected, or SIGTERM came; 1 the socket cannot be opened, or\n"
    "the client broke the protocol; 2 usage.\n";

static const struct tool tool = {
    .name = "openperflib-winregd",
    .summary = "Answer other machines' queries for this one's performance counters.",
    .usage = "--stdio\n--socket PATH",
    .rows = rows,
    .more = more,
};

static int serve_stdio(void)
{
    struct peer peer;
    if (!peer_of_process(&peer))
        return EXIT_FAILED;
    bool good = session_serve(0, 1, &peer);
    peer_done(&peer);
    event_close();
    return good ? EXIT_GOOD : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct options options;
    bool stdio = false;
    const char *path = NULL;
    int id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && (id = options_next(&options)) > 0)
        if (id == STDIO)
            stdio = true;
        else if (id == AT_SOCKET)
            path = options.value;
        else
            return options_complain(&options, "unexpected argument \"%s\"", options.value);
    if (id < 0)
        return options_status(id);
    if (stdio == (path != NULL))
        return options_complain(&options, "one of --stdio and --socket is needed");
    signal(SIGPIPE, SIG_IGN);
    if (stdio)
        return serve_stdio();
    return serve_socket(serve_is_activated() ? NULL : path);
}
