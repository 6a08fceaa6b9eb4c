/* SPDX-License-Identifier: MIT */
/* perfmon: the performance monitor. On a terminal it shows the machine; its commands print the
 * health of the providers, the first view as text, or what counters mean. */
#include "perfmon.h"
#include "screen/screen.h"
#include "../serve/option-rows.h"

#include "../common/beside.h"
#include "../common/pdh-message.h"
#include "../common/status.h"
#include "../common/text-list.h"
#include "../common/when.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { STATUS = 1, SNAPSHOT, EXPLAIN, SERVE, OPEN };
enum { SHOWN = -1, DEFAULT_EVENTS = 3, DEFAULT_WIDTH = 80, LEAST_WIDTH = 40 };

/* clang-format off */
static const char status_more[] =
    "Without SERVICE, all providers are listed, with details of those that need\n"
    "attention; a named SERVICE is always shown with details. The data comes from\n"
    "the registry and the event log; what is not recorded there is not shown.\n"
    "Providers are queried only with --ask.\n"
    "\n"
    "The exit code is 0 if all is healthy, 5 if something needs attention, 3 if there\n"
    "is no such SERVICE, 1 if the registry cannot be read, 2 for wrong usage.\n";
static const struct tool commands[] = {
    {.name = "status", .summary = "Show the health of all providers and how to fix problems.",
     .usage = "[OPTION]... [SERVICE]...", .rows = status_rows, .more = status_more,
     .complete_args = "@services", .id = STATUS},
    {.name = "snapshot", .summary = "Print what the machine does now, as text.",
     .usage = "[OPTION]...", .rows = window_rows, .id = SNAPSHOT},
    {.name = "explain", .summary = "Print what counters mean, with their types.",
     .usage = "PATH...", .complete_args = "@paths", .id = EXPLAIN},
    {.name = "serve", .summary = "Serve a page that shows the same in a browser, with openperflib-serve.",
     .usage = "[OPTION]...", .rows = serve_rows, .id = SERVE},
    {.name = "open", .summary = "Open the page in the browser, or print a link to it.",
     .usage = "[OPTION]...", .rows = open_rows, .id = OPEN},
    {0},
};
static const struct tool tool = {
    .name = "perfmon", .summary = "Performance monitor.",
    .usage = "[OPTION]... [PATH]...\n[OPTION]... OBJECT\n[OPTION]... CAPTURE [PATH|OBJECT]...\n[OPTION]... COMMAND [OPTION]... [ARGUMENT]...",
    .rows = window_rows, .commands = commands, .without_command = true, .complete_args = "@objects",
    .more = "Without a command, perfmon shows processors, memory, pressure, disks, network and the busiest\n"
            "processes of this machine on the terminal. With PATH it charts these counters; with OBJECT, a\n"
            "name or number such as Process or 230, it shows a table of the object's instances and counters,\n"
            "with Process(b*) only those instances that match; with CAPTURE, a file that ends in .blg, .csv or\n"
            ".tsv, it charts the counters of the capture: all, or those with a PATH. Press ? for the keys.\n"
            "Without a terminal it prints what it would show once, as text.\n"
            "\"perfmon COMMAND --help\" describes a command; it may also follow after its options.\n",
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

static int take_option(struct options *options, int id, struct perfmon *perfmon,
                       struct text_list *list)
{
    if (id == OPTION_SET)
        return options_set(options, perfmon);
    if (id == AT && !when_at(options->value, &perfmon->at))
        return options_complain(options,
                                "not a time: %s; use 'yesterday 03:00', 03:00, '3m ago' or "
                                "'YYYY-MM-DD HH:MM'",
                                options->value);
    if (id == MACHINE)
        perfmon->machines[perfmon->machine_count++] = options->value;
    else if (id == COUNTER_FILE && !text_list_read(list, options->value))
        return tool_failed(options->tool->name, "%s: %s", options->value, strerror(errno));
    else if (id == OPTION_ARGUMENT && !text_list_add(list, options->value))
        return EXIT_FAILED;
    return 0;
}

/* Parses the command line; `list` keeps the words that are no options. Returns 0; SHOWN if help or
 * version was printed; or an exit code after a message. */
static int parse(struct options *options, struct perfmon *perfmon, struct text_list *list)
{
    int id, code = 0;
    while (!code && (id = options_next(options)) > 0)
        code = take_option(options, id, perfmon, list);
    if (code)
        return code;
    perfmon->args = list->texts;
    perfmon->arg_count = list->count;
    return id == OPTION_SHOWN ? SHOWN : id < 0 ? options_status(id) : EXIT_GOOD;
}

static int print_missing(const struct providers *providers)
{
    fprintf(stderr, "perfmon: %s: no such provider; \"perfmon status\" lists them all\n",
            text_seen(providers->missing));
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
    int code = last_event_root_refused("perfmon") ? EXIT_TROUBLE : EXIT_GOOD;
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
    if ((perfmon->json ? status_json : status_print)(perfmon, &providers, &log))
        code = EXIT_TROUBLE;
    if (!providers.count) {
        last_event_no_names("perfmon");
        code = EXIT_TROUBLE;
    }
    for (size_t i = 0; i < providers.count; i++)
        if (provider_in_trouble(&providers.list[i]))
            code = EXIT_TROUBLE;
    if (providers.switched_off)
        code = EXIT_TROUBLE;
    event_log_done(&log);
    providers_done(&providers);
    return finish(code);
}

static int run_open(const struct options *options, const struct perfmon *perfmon)
{
    if (perfmon->arg_count)
        return options_complain(options, "too many words: %s", perfmon->args[0]);
    return finish(open_run(perfmon->socket, perfmon->print));
}

static bool is_capture(const char *name)
{
    static const char *const ends[] = {".blg", ".csv", ".tsv"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (length > 4 && !strcasecmp(name + length - 4, ends[i]))
            return true;
    return false;
}

/* True on Linux' text console, whose font has no Braille characters and few blocks. */
static bool on_console(void)
{
    const char *term = getenv("TERM");
    return term && !strncmp(term, "linux", 5);
}

/* True for the words by which Windows' perfmon opens a view: /sys (chart), /res (resources). */
static bool is_view(const char *word)
{
    return !strcasecmp(word, "/sys") || !strcasecmp(word, "/res");
}

static bool can_read(const char *files)
{
    DWORD entries = 0, size = sizeof(PDH_TIME_INFO);
    PDH_TIME_INFO info;
    PDH_STATUS status = PdhGetDataSourceTimeRangeA(files, &entries, &info, &size);
    if (status)
        pdh_complain("perfmon", files, status);
    return !status;
}

static bool is_path(const char *text)
{
    return *text == '\\' || strstr(text, "::");
}

static bool has_screen(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && (!term || strcmp(term, "dumb") != 0);
}

/* Takes views and captures from the front of the arguments; false: wrong usage, after a message. */
static bool take_first_args(struct window_options *options)
{
    while (options->path_count && (is_view(*options->paths) || is_capture(*options->paths))) {
        if (is_capture(*options->paths) && options->files) {
            fprintf(stderr, "perfmon: %s: only one capture can be shown; \"relog\" joins several\n",
                    text_seen(*options->paths));
            return false;
        }
        if (is_capture(*options->paths))
            options->files = *options->paths;
        options->chart |= !strcasecmp(*options->paths, "/sys");
        options->paths++;
        options->path_count--;
    }
    return true;
}

/* True if all arguments are counter paths, or the only one is an object; false after a message. */
static bool check_paths(const struct window_options *options)
{
    for (size_t i = 0; i < options->path_count && options->path_count > 1; i++)
        if (!is_path(options->paths[i])) {
            fprintf(stderr,
                    "perfmon: %s: give either one object or counter paths, such as '\\Memory\\"
                    "Available Bytes'; \"perfmon --help\" lists the commands\n",
                    text_seen(options->paths[i]));
            return false;
        }
    bool object = options->path_count && !is_path(*options->paths);
    if (object && **options->paths == '/')
        fprintf(stderr,
                "perfmon: %s is neither a command nor an option; \"perfmon --help\" lists them\n",
                text_seen(*options->paths));
    else if (options->files && options->plain)
        fputs("perfmon: --plain cannot show a capture; without a terminal, perfmon prints a "
              "capture as a report\n",
              stderr);
    else if (object && options->plain)
        fputs("perfmon: --plain takes counter paths, not an object\n", stderr);
    else
        return true;
    return false;
}

/* Lets the C library give memory of 32 KiB and more back to the system when it is freed. Otherwise
 * it keeps what thousands of processes need for a moment at each sample, in pieces between what
 * stays. */
static void return_large_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 10);
#endif
}

/* Can the capture be read? Without a capture: true, and reports an OPENPERFLIB_ROOT that was
 * refused, because the providers that are registered there are missing. */
static bool can_begin(const char *files)
{
    if (files)
        return can_read(files);
    last_event_root_refused("perfmon");
    return true;
}

/* Checks what is to be shown, and whether it can be. Returns 0, or an exit code after a message. */
static int prepare(const struct perfmon *perfmon, struct window_options *options)
{
    if (!take_first_args(options))
        return EXIT_USAGE;
    if (options->at && (options->files || perfmon->machine_count)) {
        fputs("perfmon: --at shows a set of this machine, not a capture or another machine\n",
              stderr);
        return EXIT_USAGE;
    }
    if (options->at)
        options->files = perfmon->set ? perfmon->set : "base";
    else if (!can_begin(options->files))
        return EXIT_FAILED;
    if (options->files && options->plain)
        fputs("perfmon: --plain cannot show a capture; without a terminal, perfmon prints a "
              "capture as a report\n",
              stderr);
    return (options->files && options->plain) || !check_paths(options) ? EXIT_USAGE : EXIT_GOOD;
}

/* Reads the machines of a capture; if it has several and shows an object, each has a table. */
static void read_machines(struct window_options *options, struct text_list *list)
{
    DWORD size = 0;
    bool object = options->path_count && !is_path(*options->paths);
    char *names = NULL;
    if (options->files && !options->at &&
        (DWORD)PdhEnumMachinesA(options->files, NULL, &size) == PDH_MORE_DATA)
        names = calloc(1, size + 2);
    if (names && !PdhEnumMachinesA(options->files, names, &size))
        for (const char *at = names; *at; at += strlen(at) + 1)
            text_list_add(list, at);
    free(names);
    options->several = list->count > 1;
    if (!options->several || !object || *options->machines)
        return;
    options->machines = (const char **)list->texts;
    options->machine_count = list->count;
}

/* Finds the object. In a capture, finds it on each machine; machines that lack it are not shown.
 * Returns an exit code, after a message if it is not 0. */
static int find_objects(struct window_options *options)
{
    const char *files = options->at ? NULL : options->files;
    size_t used = 0, count = files ? options->machine_count : 1;
    PDH_STATUS status = 0;
    char *word = *options->paths;
    options->objects = calloc(options->machine_count, sizeof *options->objects);
    for (size_t i = 0; options->objects && i < count; i++) {
        options->objects[used] =
            find_object(options->machines[i], files, word, &options->instances, &status);
        if (!options->objects[used])
            continue;
        const char *machine = options->machines[i];
        options->machines[i] = options->machines[used];
        options->machines[used++] = machine;
    }
    options->path_count = 0;
    if (!used)
        return complain_of_object(*options->machines, files, word, status);
    options->machine_count = files ? used : options->machine_count;
    return EXIT_GOOD;
}

static int run_window(const struct perfmon *perfmon, bool snapshot)
{
    struct window_options options = {.machines = perfmon->machines,
                                     .machine_count =
                                         perfmon->machine_count + !perfmon->machine_count,
                                     .paths = perfmon->args,
                                     .path_count = perfmon->arg_count,
                                     .at = perfmon->at,
                                     .plain = perfmon->plain,
                                     .seconds = perfmon->seconds,
                                     .utf8 = perfmon->utf8,
                                     .braille = perfmon->utf8 && perfmon->colours && !on_console(),
                                     .console = on_console(),
                                     .colours = perfmon->colours};
    int code = prepare(perfmon, &options);
    if (code)
        return code;
    return_large_memory();
    struct text_list machines = {0};
    read_machines(&options, &machines);
    code = options.path_count && !is_path(*options.paths) ? find_objects(&options) : EXIT_GOOD;
    if (code == EXIT_GOOD)
        code = snapshot || (!options.plain && !has_screen())
                   ? finish(window_snapshot(&options, perfmon->width))
                   : window_run(&options);
    for (size_t i = 0; options.objects && i < options.machine_count; i++)
        catalogue_free(options.objects[i]);
    free(options.objects);
    text_list_done(&machines);
    return code;
}

int main(int argc, char **argv)
{
    struct options options;
    struct perfmon perfmon = {.events = DEFAULT_EVENTS};
    struct text_list list = {0};
    int id = options_begin(&options, &tool, argc, argv);
    if (id < 0)
        return options_status(id);
    if (options.command && options.command->id == SERVE)
        return serve_run(&argv[1]);
    perfmon.machines = calloc((size_t)argc, sizeof *perfmon.machines);
    if (!perfmon.machines)
        return EXIT_FAILED;
    int code = parse(&options, &perfmon, &list);
    if (code == 0) {
        look_at_terminal(&perfmon);
        int command = options.command ? options.command->id : 0;
        code = command == STATUS    ? run_status(&perfmon)
               : command == EXPLAIN ? finish(explain_run(&perfmon))
               : command == OPEN    ? run_open(&options, &perfmon)
                                    : run_window(&perfmon, command == SNAPSHOT);
    } else if (code == SHOWN) {
        code = EXIT_GOOD;
    }
    text_list_done(&list);
    free(perfmon.machines);
    catalogue_wait();
    return code;
}
