/* SPDX-License-Identifier: MIT */
/* behemoth-manager: starts, stops and changes the herd, and shows it as the server knows it. */
#include "manager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SOCKET = SERVER_OPTIONS, JSON, SORT, REVERSE, SEX, MOTHER, AGE, X, Y, INTERVAL, SECONDS };

/* clang-format off */
static const struct option_row json_rows[] = {
    {'j', "json", NULL, JSON, "Print JSON.", NULL, 0},
    {0},
};
static const struct option_row list_rows[] = {
    {'j', "json", NULL, JSON, "Print JSON.", NULL, 0},
    {'s', "sort", "COLUMN", SORT, "Sort by this column. Default: id.",
     "id name sex age x y weight volume generation children mother", 0},
    {'r', "reverse", NULL, REVERSE, "Sort in descending order.", NULL, 0},
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
    {0, "seconds", "N", SECONDS, "End after N seconds. Default: when q or Ctrl-C is pressed.", NULL, 0},
    {0},
};
static const struct option_row tool_rows[] = {
    {0, "socket", "PATH", SOCKET, "The socket on which the server listens.", "@files", 0},
    {0},
};
enum { START, STOP, STATUS, LIST, CREATE, KILL, PARAMETERS, FORWARD, SAVE, WATCH };
static const struct tool commands[] = {
    {.name = "start", .summary = "Start a server in the background, if none runs, and wait until it listens.",
     .usage = "[OPTION]...", .rows = behemoth_server_rows + 1, .id = START,
     .more = "The server writes later messages into a file beside its socket: SOCKET.log.\n"},
    {.name = "stop", .summary = "Stop the server, and wait until it has saved the herd and ended.", .usage = "", .id = STOP},
    {.name = "status", .summary = "Show numbers and sums of the whole herd.", .usage = "[--json]", .rows = json_rows, .id = STATUS},
    {.name = "list", .summary = "List all behemoths, or only those named.", .usage = "[OPTION]... [BEHEMOTH]...",
     .rows = list_rows, .id = LIST},
    {.name = "create", .summary = "Create a behemoth.", .usage = "[OPTION]... [NAME]", .rows = create_rows,
     .id = CREATE},
    {.name = "kill", .summary = "Kill behemoths.", .usage = "BEHEMOTH...", .id = KILL},
    {.name = "parameters", .summary = "Show the parameters of the simulation, or set some.", .usage = "[--json] [NAME[=VALUE]]...",
     .rows = json_rows, .complete_args = "capacity= lifetime= children= speed= width= height=", .id = PARAMETERS},
    {.name = "forward", .summary = "Simulate SECONDS of the herd's time now, at most 100000.", .usage = "SECONDS",
     .id = FORWARD},
    {.name = "save", .summary = "Make the server write the herd to the disk now.", .usage = "", .id = SAVE},
    {.name = "watch", .summary = "Show births and deaths as they happen.", .usage = "[OPTION]...", .rows = watch_rows,
     .id = WATCH},
    {0},
};
/* The functions of the commands, and how many plain words they may have. */
static const struct {
    int (*run)(struct manager *manager);
    size_t args;
} functions[] = {
    [START] = {command_start, 0}, [STOP] = {command_stop, 0}, [STATUS] = {command_status, 0},
    [LIST] = {command_list, SIZE_MAX}, [CREATE] = {command_create, 1}, [KILL] = {command_kill, SIZE_MAX},
    [PARAMETERS] = {command_parameters, SIZE_MAX}, [FORWARD] = {command_forward, 1}, [SAVE] = {command_save, 0},
    [WATCH] = {command_watch, 0},
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

/* ---- the connection ---- */

int manager_complain(const struct manager *manager)
{
    int reason = errno, code = EXIT_NO_SERVER;
    const char *place = manager->place;
    fputs("behemoth-manager: ", stderr);
    if (reason == ENOENT || reason == ECONNREFUSED) {
        fprintf(stderr,
                "no server listens at %s.\n'behemoth-manager start' starts one; --socket or "
                "BEHEMOTH_SOCKET names another place.\n",
                place);
    } else if (reason == EACCES) {
        fprintf(stderr,
                "access to %s is denied, or its server runs as another user than you, root "
                "or behemoth.\n",
                place);
        code = EXIT_NO_RIGHT;
    } else if (reason == ETIMEDOUT || reason == EAGAIN) {
        fprintf(stderr, "the server at %s does not answer.\n", place);
    } else if (reason == EPROTO || reason == ECONNRESET || reason == EPIPE) {
        fprintf(stderr, "the server at %s closed the connection, or is not a behemoth-server.\n",
                place);
    } else {
        fprintf(stderr, "%s: %s.\n", place, strerror(reason));
        code = EXIT_FAILED;
    }
    return code;
}

int manager_request(struct manager *manager, uint32_t what, const void *body, uint32_t bytes,
                    int64_t milliseconds)
{
    static const struct {
        int code;
        const char *text;
    } refusals[] = {
        [BEHEMOTH_OK] = {EXIT_GOOD,     NULL                                                  },
        [BEHEMOTH_BAD] = {EXIT_FAILED,   "the server does not know this request"               },
        [BEHEMOTH_REFUSED] = {EXIT_NO_RIGHT,
                         "only root and the server's own user may change the herd"            },
        [BEHEMOTH_UNKNOWN] = {EXIT_MISSING,  "there is no such behemoth or parameter"              },
        [BEHEMOTH_FULL] = {EXIT_FAILED,   "the field is full: see --capacity of behemoth-server"},
        [BEHEMOTH_TAKEN] = {EXIT_FAILED,   "another behemoth has this name"                      },
        [BEHEMOTH_FAILED] = {EXIT_FAILED,
                         "the server failed; its messages (SOCKET.log) have the reason"       },
        [BEHEMOTH_NAME_BAD] = {EXIT_USAGE,
                         "a name has ASCII characters except \\ / ( ) # *, which have a "
                               "meaning in the path of a counter"                             },
        [BEHEMOTH_NO_MOTHER] = {EXIT_FAILED,   "the mother must be female"                           },
        [BEHEMOTH_YOUNGER] = {EXIT_FAILED,   "the mother is younger than the child would be"       },
    };
    if (!behemoth_exchange(&manager->line, manager->place, what, body, bytes,
                           behemoth_now() + milliseconds))
        return manager_complain(manager);
    uint32_t status = manager->line.head.what;
    if (status >= sizeof refusals / sizeof *refusals) {
        errno = EPROTO;
        return manager_complain(manager);
    }
    if (refusals[status].code)
        fprintf(stderr, "behemoth-manager: %s.\n", refusals[status].text);
    return refusals[status].code;
}

int manager_herd(struct manager *manager, const struct behemoth_herd **ret)
{
    int code = manager_request(manager, BEHEMOTH_HERD, NULL, 0, ANSWER_MS);
    *ret = code ? NULL : behemoth_herd_of(&manager->line);
    if (code || *ret)
        return code;
    errno = EPROTO;
    return manager_complain(manager);
}

/* ---- options ---- */

static struct manager manager = {
    .sex = BEHEMOTH_NONE, .age = -1, .x = -1, .y = -1, .interval = 0.5};
/* clang-format off */
static const struct option_target targets[] = {
    [SOCKET] = OPTION_TEXT(manager.socket), [JSON] = OPTION_FLAG(manager.json),
    [SORT] = OPTION_TEXT(manager.sort), [REVERSE] = OPTION_FLAG(manager.reverse),
    [MOTHER] = OPTION_TEXT(manager.mother), [AGE] = OPTION_WHOLE(manager.age, 0, 100000000),
    [X] = OPTION_WHOLE(manager.x, 0, 100000000), [Y] = OPTION_WHOLE(manager.y, 0, 100000000),
    [INTERVAL] = OPTION_SECONDS(manager.interval, 0.05, 3600), [SECONDS] = OPTION_WHOLE(manager.seconds, 1, 1000000),
};
/* clang-format on */

static const char *take(int id, const char *value)
{
    if (id == SEX) {
        bool female = strcmp(value, "female") == 0;
        manager.sex = female ? BEHEMOTH_FEMALE : BEHEMOTH_MALE;
        return female || strcmp(value, "male") == 0 ? NULL : "--sex must be male or female";
    }
    manager.for_server |= id < SERVER_OPTIONS;
    if (id != OPTION_ARGUMENT)
        return NULL;
    if (manager.arg_count >= functions[manager.options.command->id].args)
        return "unexpected argument";
    manager.args[manager.arg_count++] = value;
    return NULL;
}

static int run(void)
{
    if (!behemoth_place(manager.socket, false, manager.place, sizeof manager.place)) {
        errno = ENAMETOOLONG;
        return manager_complain(&manager);
    }
    int code = functions[manager.options.command->id].run(&manager);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("behemoth-manager: standard output");
        return code ? code : EXIT_FAILED;
    }
    return code;
}

int main(int argc, char **argv)
{
    manager.style = style_begin();
    manager.args = calloc((size_t)argc, sizeof *manager.args);
    if (!manager.args)
        return EXIT_FAILED;
    int code = options_read(&manager.options, &tool, argc, argv, OPTION_TARGETS(targets), take);
    if (code < 0)
        code = run();
    behemoth_line_end(&manager.line);
    free(manager.args);
    return code;
}
