/* SPDX-License-Identifier: MIT */
/* perfmon: the performance monitor. Its only command so far: status, the health of the
 * providers. */
#include "perfmon.h"

#include "../common/status.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { STATUS = 1 };
enum { JSON = 1, QUERY, EVENTS, VERBOSE };
enum { SHOWN = -1 };
enum { DEFAULT_EVENTS = 3, MOST_EVENTS = 1000, DEFAULT_WIDTH = 80, LEAST_WIDTH = 40 };

/* clang-format off */
static const struct option_row status_rows[] = {
    {'a', "ask", NULL, QUERY, "Query each provider now, twice, and show whether it answers and how fast.", NULL, 0},
    {'e', "events", "COUNT", EVENTS, "Show the last COUNT events of each provider; default 3, 0 for none.", NULL, 0},
    {'j', "json", NULL, JSON, "Print one JSON document.", NULL, 0},
    {'v', "verbose", NULL, VERBOSE, "Show all details of each provider.", NULL, 0},
    {0},
};
static const char status_more[] =
    "Without SERVICE, all providers are listed, with details of those that need\n"
    "attention; a named SERVICE is always shown with details. The data comes from\n"
    "the registry and the event log; what is not recorded there is not shown.\n"
    "Providers are queried only with --ask.\n"
    "\n"
    "The exit code is 0 if all providers are healthy, 5 if one needs attention, 3 if there\n"
    "is no such SERVICE, 1 if the registry cannot be read, 2 for wrong usage.\n";
static const struct tool commands[] = {
    {.name = "status", .summary = "Show the health of all providers and how to fix problems.",
     .usage = "[OPTION]... [SERVICE]...", .rows = status_rows, .more = status_more,
     .complete_args = "@services", .id = STATUS},
    {0},
};
static const struct tool tool = {
    .name = "perfmon", .summary = "Performance monitor.", .usage = "COMMAND [OPTION]... [ARGUMENT]...",
    .commands = commands,
    .more = "\"perfmon COMMAND --help\" describes a command.\n",
};
/* clang-format on */

static void look_at_terminal(struct perfmon *perfmon)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    perfmon->utf8 = text_begin();
    perfmon->colours = status_colours(STDOUT_FILENO);
    perfmon->width = columns ? atoi(columns) : 0;
    if (perfmon->width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        perfmon->width = size.ws_col;
    if (perfmon->width <= 0)
        perfmon->width = DEFAULT_WIDTH;
    if (perfmon->width < LEAST_WIDTH)
        perfmon->width = LEAST_WIDTH;
}

static bool read_count(const char *text, unsigned *ret)
{
    char *end;
    unsigned long count = strtoul(text, &end, 10);
    *ret = (unsigned)count;
    return *text >= '0' && *text <= '9' && !*end && count <= MOST_EVENTS;
}

/* Parses the command line. Returns 0; SHOWN: help or version was printed; or an exit code after a
 * message. */
static int parse(struct options *options, struct perfmon *perfmon)
{
    int id;
    while ((id = options_next(options)) > 0)
        switch (id) {
        case JSON:
            perfmon->json = true;
            break;
        case QUERY:
            perfmon->query = true;
            break;
        case VERBOSE:
            perfmon->details = true;
            break;
        case EVENTS:
            if (!read_count(options->value, &perfmon->events))
                return options_complain(options, "%s: not a number from 0 to %d", options->value,
                                        MOST_EVENTS);
            break;
        default:
            perfmon->args[perfmon->arg_count++] = (char *)options->value;
        }
    return id == OPTION_SHOWN ? SHOWN : id < 0 ? options_status(id) : EXIT_GOOD;
}

static int print_missing(const struct providers *providers)
{
    fprintf(stderr, "perfmon: %s: no such provider; \"perfmon status\" lists them all\n",
            providers->missing);
    return EXIT_MISSING;
}

static int finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fputs("perfmon: standard output could not be written\n", stderr);
    return EXIT_FAILED;
}

static int run_status(struct perfmon *perfmon)
{
    struct providers providers;
    struct event_log log = {0};
    int code = EXIT_GOOD;
    providers_read(perfmon, &providers);
    if (providers.missing || providers.status) {
        code = providers.missing ? print_missing(&providers) : EXIT_FAILED;
        if (!providers.missing)
            fprintf(stderr, "perfmon: the registry cannot be read: %s\n",
                    status_message((DWORD)providers.status));
        providers_done(&providers);
        return code;
    }
    event_log_read(&log);
    if (perfmon->json)
        status_json(perfmon, &providers, &log);
    else
        status_print(perfmon, &providers, &log);
    for (size_t i = 0; i < providers.count; i++)
        if (provider_in_trouble(&providers.list[i]))
            code = EXIT_TROUBLE;
    if (providers.switched_off)
        code = EXIT_TROUBLE;
    event_log_done(&log);
    providers_done(&providers);
    return finish(code);
}

/* Windows' perfmon starts its window, or a part of it, with these. */
static bool refuse_window(const char *word)
{
    static const char *const names[] = {"/sys", "/res", "/rel", "/report"};
    for (size_t i = 0; word && i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(word, names[i])) {
            fprintf(stderr,
                    "perfmon: %s starts a window of Windows, which does not exist here yet; use "
                    "'perfmon status' or 'pcview --watch'\n",
                    word);
            return true;
        }
    return false;
}

int main(int argc, char **argv)
{
    struct options options;
    struct perfmon perfmon = {.events = DEFAULT_EVENTS};
    if (refuse_window(argc > 1 ? argv[1] : NULL))
        return EXIT_USAGE;
    int id = options_begin(&options, &tool, argc, argv);
    if (id < 0)
        return options_status(id);
    perfmon.args = calloc((size_t)argc + 1, sizeof *perfmon.args);
    if (!perfmon.args)
        return EXIT_FAILED;
    int code = parse(&options, &perfmon);
    if (code == 0) {
        look_at_terminal(&perfmon);
        code = run_status(&perfmon);
    } else if (code == SHOWN) {
        code = EXIT_GOOD;
    }
    free(perfmon.args);
    return code;
}
