/* SPDX-License-Identifier: MIT */
/* behemoth-manager: starts, stops and changes the herd, and shows it as the server knows it. */
#include "manager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOCKET = 1, JSON, SORT, REVERSE, SEX, MOTHER, AGE, X, Y, INTERVAL, SECONDS, TO_SERVER };

/* clang-format off */
static const struct option_row start_rows[] = {
    {0, "state", "PATH", TO_SERVER, "The herd's file; where it is kept if not given: behemoth-server --help.", "@files", 0},
    {0, "save-every", "N", TO_SERVER, "Save every N seconds; 30 if not given, 0 saves only at the end.", NULL, 0},
    {0, "seed", "N", TO_SERVER, "Of a new herd: the same seed, the same herd.", NULL, 0},
    {0, "count", "N", TO_SERVER, "Of a new herd: how many there are at first; 50 if not given.", NULL, 0},
    {0, "since", "SECONDS", TO_SERVER, "Of a new herd: its first moment, since 1970; now if not given.", NULL, 0},
    {0, "forward", "N", TO_SERVER, "Let N seconds of its life pass first.", NULL, 0},
    {0, "capacity", "N", TO_SERVER, "How many the field can bear.", NULL, 0},
    {0, "lifetime", "N", TO_SERVER, "The mean one, in seconds.", NULL, 0},
    {0, "children", "N", TO_SERVER, "Of each mother in a life, if there were space for all.", NULL, 0},
    {0, "speed", "N", TO_SERVER, "Thousandths of the herd's seconds in one of ours.", NULL, 0},
    {0, "width", "N", TO_SERVER, "Of the field, in metres.", NULL, 0},
    {0, "height", "N", TO_SERVER, "Of the field, in metres.", NULL, 0},
    {0},
};
static const struct option_row status_rows[] = {
    {'j', "json", NULL, JSON, "Print JSON.", NULL, 0},
    {0},
};
static const struct option_row list_rows[] = {
    {'j', "json", NULL, JSON, "Print JSON.", NULL, 0},
    {'s', "sort", "COLUMN", SORT, "Sort by this column; by id if not given.",
     "id name sex age x y weight volume generation children mother", 0},
    {'r', "reverse", NULL, REVERSE, "The other way round.", NULL, 0},
    {0},
};
static const struct option_row create_rows[] = {
    {0, "sex", "SEX", SEX, "male or female; as it happens if not given.", "male female", 0},
    {'m', "mother", "WHO", MOTHER, "Her name or number; none if not given.", NULL, 0},
    {'a', "age", "SECONDS", AGE, "Of the herd's time; 0 if not given. The weight comes with it.", NULL, 0},
    {'x', NULL, "METRES", X, "From the left edge; beside the mother, or anywhere, if not given.", NULL, 0},
    {'y', NULL, "METRES", Y, "From the upper edge.", NULL, 0},
    {0},
};
static const struct option_row watch_rows[] = {
    {'i', "interval", "SECONDS", INTERVAL, "Look so often, from 0.05; every 0.5 s if not given.", NULL, 0},
    {0, "seconds", "N", SECONDS, "End after so long; without it: q, Ctrl-C.", NULL, 0},
    {0},
};
static const struct option_row tool_rows[] = {
    {0, "socket", "PATH", SOCKET, "Where the server listens.", "@files", 0},
    {0},
};
enum { START, STOP, STATUS, LIST, CREATE, KILL, PARAMETERS, FORWARD, SAVE, WATCH };
static const struct tool commands[] = {
    {.name = "start", .summary = "Start a server in the background, if none runs, and wait until it listens.",
     .usage = "[OPTION]...", .rows = start_rows, .id = START,
     .more = "What it has to say later is in a file beside its socket: SOCKET.log.\n"},
    {.name = "stop", .summary = "Let the server save and end, and wait for it.", .usage = "", .id = STOP},
    {.name = "status", .summary = "Show the herd as a whole.", .usage = "[--json]", .rows = status_rows, .id = STATUS},
    {.name = "list", .summary = "Show the behemoths of one moment, or those named.", .usage = "[OPTION]... [WHO]...",
     .rows = list_rows, .id = LIST},
    {.name = "create", .summary = "Let a behemoth appear.", .usage = "[OPTION]... [NAME]", .rows = create_rows,
     .id = CREATE},
    {.name = "kill", .summary = "Let behemoths die.", .usage = "WHO...", .id = KILL},
    {.name = "parameters", .summary = "Show the parameters of life, or set some.", .usage = "[--json] [NAME[=VALUE]]...",
     .rows = status_rows, .complete_words = "capacity= lifetime= children= speed= width= height=", .id = PARAMETERS},
    {.name = "forward", .summary = "Let seconds of the herd's time pass now, at most 100000.", .usage = "SECONDS",
     .id = FORWARD},
    {.name = "save", .summary = "Let the server write the herd to the disk now.", .usage = "", .id = SAVE},
    {.name = "watch", .summary = "Show births and deaths as they come.", .usage = "[OPTION]...", .rows = watch_rows,
     .id = WATCH},
    {0},
};
/* clang-format on */

static int (*const functions[])(struct manager *) = {
    [START] = command_start,
    [STOP] = command_stop,
    [STATUS] = command_status,
    [LIST] = command_list,
    [CREATE] = command_create,
    [KILL] = command_kill,
    [PARAMETERS] = command_parameters,
    [FORWARD] = command_forward,
    [SAVE] = command_save,
    [WATCH] = command_watch,
};
/* How many plain words a command may have. */
static const size_t words[] = {[LIST] = SIZE_MAX,       [CREATE] = 1,  [KILL] = SIZE_MAX,
                               [PARAMETERS] = SIZE_MAX, [FORWARD] = 1, [WATCH] = 0};

static const struct tool tool = {
    .name = "behemoth-manager",
    .summary = "Start, stop and change a herd of behemoths, and show it as its server knows it.",
    .usage = "COMMAND [OPTION]...",
    .rows = tool_rows,
    .commands = commands,
    .more =
        "WHO is a name, in any case, or a number. Without --socket the server is looked for at\n"
        "$BEHEMOTH_SOCKET, $XDG_RUNTIME_DIR/behemoth/herd.sock or /run/behemoth/herd.sock.\n"
        "Everybody may look; root and the server's own user may change the herd.\n"
        "\n"
        "Examples:\n"
        "  behemoth-manager start --count=30 --speed=60000\n"
        "  behemoth-manager list --sort=weight --reverse\n"
        "  behemoth-manager create Eve --sex=female --age=120\n"
        "  behemoth-manager parameters capacity=200 speed=1000\n"
        "\n"
        "Exit status: 0 done, 1 failed, 2 a wrong option, 3 no such behemoth or parameter, or "
        "several,\n4 no server that answers, 5 no right.\n",
};

/* ---- options ---- */

static bool take_number(struct manager *manager, int64_t least, int64_t most, int64_t *ret)
{
    const struct options *options = &manager->options;
    if (number_of(options->value, least, most, ret))
        return true;
    options_complain(options, "%s: a number from %lld to %lld is wanted", options->spelled,
                     (long long)least, (long long)most);
    return false;
}

static bool take_count(struct manager *manager, uint32_t *ret)
{
    int64_t value;
    if (!take_number(manager, 0, 100000000, &value))
        return false;
    *ret = (uint32_t)value;
    return true;
}

static bool take_sex(struct manager *manager)
{
    const char *value = manager->options.value;
    bool female = strcmp(value, "female") == 0;
    manager->create.sex = female ? BEHEMOTH_FEMALE : BEHEMOTH_MALE;
    if (female || strcmp(value, "male") == 0)
        return true;
    options_complain(&manager->options, "--sex is male or female, not %s", value);
    return false;
}

static bool take_interval(struct manager *manager)
{
    char *end;
    const char *value = manager->options.value;
    manager->interval = strtod(value, &end);
    if (end != value && !*end && manager->interval >= 0.05 && manager->interval <= 3600)
        return true;
    options_complain(&manager->options, "--interval is from 0.05 to 3600 seconds, not %s", value);
    return false;
}

/* "--count=12" or "--count 12" becomes the server's "--count=12". */
static bool take_for_server(struct manager *manager)
{
    const struct options *options = &manager->options;
    size_t i = manager->server_option_count;
    int length = (int)strcspn(options->spelled, "=");
    if (i < SERVER_OPTIONS && asprintf(&manager->server_options[i], "%.*s=%s", length,
                                       options->spelled, options->value) > 0) {
        manager->server_option_count++;
        return true;
    }
    options_complain(options, "too many options");
    return false;
}

static bool take_word(struct manager *manager)
{
    if (manager->word_count < words[manager->options.command->id]) {
        manager->words[manager->word_count++] = manager->options.value;
        return true;
    }
    options_complain(&manager->options, "one word too many: %s", manager->options.value);
    return false;
}

static bool take_option(struct manager *manager, int id)
{
    switch (id) {
    case OPTION_WORD:
        return take_word(manager);
    case SEX:
        return take_sex(manager);
    case AGE:
        return take_count(manager, &manager->create.age);
    case X:
        return take_count(manager, &manager->create.x);
    case Y:
        return take_count(manager, &manager->create.y);
    case INTERVAL:
        return take_interval(manager);
    case SECONDS:
        return take_number(manager, 1, 1000000, &manager->seconds);
    case TO_SERVER:
        return take_for_server(manager);
    default:
        manager->socket = id == SOCKET ? manager->options.value : manager->socket;
        manager->sort = id == SORT ? manager->options.value : manager->sort;
        manager->mother = id == MOTHER ? manager->options.value : manager->mother;
        manager->json |= id == JSON;
        manager->reverse |= id == REVERSE;
        return true;
    }
}

/* ---- */

static bool wants_colours(void)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

static int run(struct manager *manager)
{
    if (!behemoth_place(manager->socket, manager->place, sizeof manager->place)) {
        errno = ENAMETOOLONG;
        return manager_complain(manager);
    }
    int code = functions[manager->options.command->id](manager);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("behemoth-manager: standard output");
        return code ? code : EXIT_FAILED;
    }
    return code;
}

int main(int argc, char **argv)
{
    static struct manager manager = {
        .line = {.socket = -1       },
        .create = { .sex = BEHEMOTH_NONE, .x = BEHEMOTH_NONE, .y = BEHEMOTH_NONE},
        .interval = 0.5,
    };
    manager.colours = wants_colours();
    manager.words = calloc((size_t)argc, sizeof *manager.words);
    int id = manager.words ? options_begin(&manager.options, &tool, argc, argv) : OPTION_WRONG;
    while (id > 0 && (id = options_next(&manager.options)) > 0) {
        if (!take_option(&manager, id))
            id = OPTION_WRONG;
    }
    int code = id < 0 ? options_status(id) : run(&manager);
    behemoth_line_end(&manager.line);
    for (size_t i = 0; i < manager.server_option_count; i++)
        free(manager.server_options[i]);
    free(manager.words);
    return code;
}
