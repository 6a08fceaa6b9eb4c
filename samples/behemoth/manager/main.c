/* SPDX-License-Identifier: MIT */
/* behemoth-manager: starts, stops and changes the herd, and shows it as the server knows it. */
#include "manager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SOCKET = SERVER_OPTIONS, JSON, SORT, REVERSE, SEX, MOTHER, AGE, X, Y, INTERVAL, SECONDS };

/* clang-format off */
static const struct option_row list_rows[] = {
    {'s', "sort", "COLUMN", SORT, "Sort by this column. Default: id.",
     "id name sex age x y weight volume generation children mother", 0},
    {'r', "reverse", NULL, REVERSE, "Sort in descending order.", NULL, 0},
    {'j', "json", NULL, JSON, "Print JSON.", NULL, 0}, /* status and parameters have this one only */
    {0},
};
static const struct option_row create_rows[] = {
    {0, "sex", "SEX", SEX, "male or female. Default: random.", "male female", 0},
    {'m', "mother", "BEHEMOTH", MOTHER, "The mother's name or number. Default: no mother.", NULL, 0},
    {'a', "age", "SECONDS", AGE, "The age, in the herd's time, which determines the weight. Default: 0.", NULL, 0},
    {'x', NULL, "METRES", X, "Distance from the left edge. Default: beside the mother; anywhere if there is none.", NULL, 0},
    {'y', NULL, "METRES", Y, "Distance from the upper edge.", NULL, 0},
    {0},
};
static const struct option_row watch_rows[] = {
    {'i', "interval", "SECONDS", INTERVAL, "Time between two queries, at least 0.05. Default: 0.5.", NULL, 0},
    {0, "seconds", "N", SECONDS, "End after N seconds. Default: when Ctrl-C is pressed.", NULL, 0},
    {0},
};
static const struct option_row tool_rows[] = {
    {0, "socket", "PATH", SOCKET, "The socket on which the server listens.", "@files", 0},
    {0},
};
static const struct tool commands[] = {
    {"start", "Start a server in the background, if none runs, and wait until it listens.", "[OPTION]...", behemoth_server_rows + 1,
     .more = "The server writes later messages into a file beside its socket: SOCKET.log.\n"},
    {"stop", "Stop the server, and wait until it has saved the herd and ended.", "", NULL},
    {"status", "Show numbers and sums of the whole herd.", "[--json]", list_rows + 2},
    {"list", "List all behemoths, or only those named.", "[OPTION]... [BEHEMOTH]...", list_rows},
    {"create", "Create a behemoth.", "[OPTION]... [NAME]", create_rows},
    {"kill", "Kill behemoths.", "BEHEMOTH...", NULL},
    {"parameters", "Show the parameters of the simulation, or set some.", "[--json] [NAME[=VALUE]]...", list_rows + 2,
     .complete_args = "capacity= lifetime= children= speed= width= height="},
    {"forward", "Simulate SECONDS of the herd's time now, at most 100000.", "SECONDS", NULL},
    {"save", "Make the server write the herd to the disk now.", "", NULL},
    {"watch", "Show births and deaths as they happen.", "[OPTION]...", watch_rows},
    {0},
};
/* The functions of the commands, in the same order, and how many plain words they may have. */
static const struct {
    int (*run)(void);
    size_t args;
} functions[] = {
    {command_start, 0},
    {command_stop, 0},
    {command_status, 0},
    {command_list, SIZE_MAX},
    {command_create, 1},
    {command_kill, SIZE_MAX},
    {command_parameters, SIZE_MAX},
    {command_forward, 1},
    {command_save, 0},
    {command_watch, 0},
};
/* clang-format on */

static const struct tool tool = {
    .name = "behemoth-manager",
    .summary = "Start, stop and change a herd of behemoths, and show it as its server knows it.",
    .usage = "COMMAND [OPTION]...",
    .rows = tool_rows,
    .commands = commands,
    .more =
        "BEHEMOTH is a name (case is ignored) or a number. The default socket is the first of\n"
        "$BEHEMOTH_SOCKET, $XDG_RUNTIME_DIR/behemoth/herd.sock and /run/behemoth/herd.sock.\n"
        "All users may read; root and the server's own user may change the herd.\n"
        "\n"
        "Examples:\n"
        "  behemoth-manager start --count=30 --speed=60000\n"
        "  behemoth-manager list --sort=weight --reverse\n"
        "  behemoth-manager create Eve --sex=female --age=120\n"
        "  behemoth-manager parameters capacity=200 speed=1000\n"
        "\n"
        "Exit status: 0 success, 1 failure, 2 wrong usage, 3 no such behemoth or parameter, or\n"
        "the name is ambiguous, 4 no server answers, 5 access denied.\n",
};

struct manager manager = {.x = -1, .y = -1, .interval = 0.5};

/* ---- the connection ---- */

int manager_complain(void)
{
    int reason = errno, code = EXIT_NO_SERVER;
    const char *text = "the server does not answer";
    if (reason == ENOENT || reason == ECONNREFUSED) {
        text = "no server listens; 'behemoth-manager start' starts one, and --socket or "
               "BEHEMOTH_SOCKET names another place";
    } else if (reason == EACCES) {
        text = "access is denied, or its server runs as another user than you, root or behemoth";
        code = EXIT_NO_RIGHT;
    } else if (reason == EPROTO || reason == ECONNRESET || reason == EPIPE) {
        text = "the server closed the connection, or is not a behemoth-server";
    } else if (reason != ETIMEDOUT && reason != EAGAIN) {
        text = strerror(reason);
        code = EXIT_FAILED;
    }
    fprintf(stderr, "behemoth-manager: %s: %s.\n", manager.place, text);
    return code;
}

int manager_request(uint32_t what, const void *body, uint32_t bytes)
{
    static const struct {
        int code;
        const char *text;
    } refusals[] = {
        [BEHEMOTH_BAD] = {EXIT_FAILED,   "the server does not know this request"                                         },
        [BEHEMOTH_REFUSED] = {EXIT_NO_RIGHT, "only root and the server's own user may do this"                               },
        [BEHEMOTH_UNKNOWN] = {EXIT_MISSING,  "there is no such behemoth or parameter"                                        },
        [BEHEMOTH_FULL] = {EXIT_FAILED,   "the field is full: see --capacity of behemoth-server"                          },
        [BEHEMOTH_TAKEN] = {EXIT_FAILED,   "another behemoth has this name"                                                },
        [BEHEMOTH_FAILED] = {EXIT_FAILED,   "the server failed; SOCKET.log has the reason"                                  },
        [BEHEMOTH_NAME_BAD] = {EXIT_USAGE,    "a name has ASCII characters except \\ / ( ) # *, which "
                                           "have a meaning in the path of a counter"},
        [BEHEMOTH_NO_MOTHER] = {EXIT_FAILED,   "the mother must be female"                                                     },
        [BEHEMOTH_YOUNGER] = {EXIT_FAILED,   "the mother is younger than the child would be"                                 },
    };
    int64_t wait = what == BEHEMOTH_FORWARD ? FORWARD_MS : ANSWER_MS;
    bool good =
        behemoth_exchange(&manager.line, manager.place, what, body, bytes, behemoth_now() + wait);
    uint32_t status = manager.line.head.what;
    if (good && status >= sizeof refusals / sizeof *refusals)
        errno = EPROTO;
    if (!good || status >= sizeof refusals / sizeof *refusals)
        return manager_complain();
    if (refusals[status].code)
        fprintf(stderr, "behemoth-manager: %s.\n", refusals[status].text);
    return refusals[status].code;
}

const struct behemoth_herd *manager_look(uint32_t what)
{
    if (!behemoth_exchange(&manager.line, manager.place, what, NULL, 0, behemoth_now() + ANSWER_MS))
        return NULL;
    errno = EPROTO; /* if the answer is invalid */
    return behemoth_herd_of(&manager.line);
}

/* ---- options ---- */

/* clang-format off */
static const struct option_target targets[] = {
    [SOCKET] = OPTION_TEXT(manager.socket), [JSON] = OPTION_FLAG(manager.json),
    [SORT] = OPTION_TEXT(manager.sort), [REVERSE] = OPTION_FLAG(manager.reverse),
    [SEX] = OPTION_TEXT(manager.sex), [MOTHER] = OPTION_TEXT(manager.mother),
    [AGE] = OPTION_WHOLE(manager.age, 0, 100000000),
    [X] = OPTION_WHOLE(manager.x, 0, 100000000), [Y] = OPTION_WHOLE(manager.y, 0, 100000000),
    [INTERVAL] = OPTION_SECONDS(manager.interval, 0.05, 3600), [SECONDS] = OPTION_WHOLE(manager.seconds, 1, 1000000),
};
/* clang-format on */

static const char *take(int id, const char *value)
{
    manager.for_server |= id < SERVER_OPTIONS;
    if (id != OPTION_ARGUMENT)
        return NULL;
    if (manager.arg_count >= functions[manager.options.command - commands].args)
        return "unexpected argument";
    manager.args[manager.arg_count++] = value;
    return NULL;
}

int main(int argc, char **argv)
{
    manager.style = style_begin();
    manager.args = calloc((size_t)argc, sizeof *manager.args);
    if (!manager.args)
        return EXIT_FAILED;
    int code = options_read(&manager.options, &tool, argc, argv, OPTION_TARGETS(targets), take);
    if (code < 0) {
        errno = ENAMETOOLONG;
        code = behemoth_place(manager.socket, false, manager.place, sizeof manager.place)
                   ? functions[manager.options.command - commands].run()
                   : manager_complain();
        if (fflush(stdout) != 0 || ferror(stdout)) {
            perror("behemoth-manager: standard output");
            code = code ? code : EXIT_FAILED;
        }
    }
    behemoth_line_end(&manager.line);
    free(manager.args);
    return code;
}
