/* SPDX-License-Identifier: MIT */
/*
 * typeperf: prints counters at intervals, writes them to a capture, or lists them. Its command line
 * is Windows' with some additions.
 */
#include "typeperf.h"
#include "../common/last-event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char more[] =
    "COUNTER is a path: '\\Processor(_Total)\\% Processor Time', which a shell needs in\n"
    "quotes, or the same without backslashes: 'Processor(_Total)::% Processor Time'.\n"
    "* and ? match any names. Options may be written as on Windows: /si 5, /SC 3.\n"
    "\n"
    "Examples:\n"
    "  typeperf 'Processor(*)::% Processor Time'            every second, until Ctrl-C\n"
    "  typeperf -si 10 -sc 6 -f CSV -o cpu.csv -cf list.txt a minute, to a file\n"
    "  typeperf --top 10 -f table 'Process(*)::% Processor Time'\n"
    "  typeperf -q Memory                                   list the counters\n"
    "  typeperf --explain 'Memory::Available Bytes'         its meaning\n"
    "  typeperf -s ssh://web1 '\\Memory\\Available Bytes'    of another machine\n"
    "\n"
    "The exit code is 0; 1 if something failed, 2 usage, 3 if some of the counters\n"
    "do not exist (the others were printed), 4 no rights.\n";

static const struct tool tool = {
    .name = "typeperf",
    .summary = "Print performance counters as they change, or list them.",
    .usage = "[OPTION]... COUNTER...\n"
             "[OPTION]... -cf FILE\n"
             "-q [OBJECT]... | -qx [OBJECT]...\n"
             "--explain COUNTER...",
    .rows = typeperf_rows,
    .more = more,
    .complete_args = "@counters",
};

void typeperf_success(FILE *out)
{
    fputs("The command completed successfully.\n", out);
}

/* ---- the command line ---- */

static bool parse_count(const char *text, unsigned long *ret)
{
    char *end;
    errno = 0;
    *ret = strtoul(text, &end, 10);
    return !errno && end != text && !*end && strchr("0123456789", *text) && *ret > 0;
}

static int take_server(struct typeperf *opts, const struct options *options)
{
    const char *name = options->value + strspn(options->value, "\\");
    if (!*name || strchr(name, '\\'))
        return options_complain(options, "not the name of a machine: %s", options->value);
    opts->server = options->value;
    return 0;
}

static int take_counter_file(struct typeperf *opts, const struct options *options)
{
    size_t before = opts->args.count;
    if (!text_list_read(&opts->args, options->value))
        return tool_failed(options->tool->name, "%s: %s", options->value, strerror(errno));
    if (opts->args.count == before)
        return tool_failed(options->tool->name, "%s: the file has no counters", options->value);
    return 0;
}

static int take_options(struct typeperf *opts, struct options *options, bool nested);

static int take_number(struct typeperf *opts, const struct options *options, int id)
{
    const char *text = options->value;
    if (id == INTERVAL && !pace_parse(text, &opts->interval))
        return options_complain(options, "'%s' is not a time; use [[hh:]mm:]ss, at least 0.001",
                                text);
    if (id != INTERVAL && !parse_count(text, id == TOP ? &opts->top : &opts->samples))
        return options_complain(options, "%s needs a number above 0, not '%s'", options->spelled,
                                text);
    return 0;
}

static int take_option(struct typeperf *opts, const struct options *options, int id, bool nested)
{
    struct options inner;
    int wrong;
    switch (id) {
    case FORMAT:
        return sheet_take_format(options, &opts->format);
    case COUNTER_FILE:
        return take_counter_file(opts, options);
    case INTERVAL:
    case COUNT:
    case TOP:
        return take_number(opts, options, id);
    case OUTPUT:
        return sheet_take_output(options, &opts->output);
    case CONFIG:
        wrong = config_read(options, nested, &opts->kept, &inner);
        return wrong ? wrong : take_options(opts, &inner, true);
    case SERVER:
        return take_server(opts, options);
    case OPTION_SET:
        return options_set(options, opts);
    case LIST:
        opts->list = true;
        if (!options->value)
            return 0;
        break; /* --query=OBJECT: the value is added as a plain word */
    }
    return text_list_add(&opts->args, options->value) ? 0 : EXIT_FAILED;
}

/* Reads the command line, or a file of options. Returns 0, an exit code, or OPTION_SHOWN. */
static int take_options(struct typeperf *opts, struct options *options, bool nested)
{
    int wrong = 0, id = 1;
    while (id > 0 && !wrong && (id = options_next(options)) > 0)
        wrong = take_option(opts, options, id, nested);
    if (id == OPTION_SHOWN)
        return OPTION_SHOWN;
    return id < 0 ? options_status(id) : wrong;
}

static int check(const struct typeperf *opts)
{
    const struct options options = {.tool = &tool};
    bool capture = opts->output && opts->format->capture && !opts->list;
    if (!opts->list && !opts->args.count)
        return options_complain(&options, "COUNTER is missing; 'typeperf -q' lists the counters");
    if (opts->list && opts->explain)
        return options_complain(&options, "--explain and -q cannot be used together");
    bool binary = opts->format->capture == PDH_LOG_TYPE_BINARY && !opts->list;
    if (binary && (!opts->output || (strcmp(opts->output, "-") == 0 && isatty(STDOUT_FILENO))))
        return options_complain(&options, "-f BIN is not for a terminal; name a file with -o");
    if (opts->top && capture)
        return options_complain(&options, "--top with -o needs -f " SHEET_OTHERS);
    return 0;
}

/* ---- the work ---- */

static int count_counters(const struct typeperf *opts)
{
    struct counters counters = {0};
    int code = counters_open(&counters, opts);
    size_t missing = counters.missing;
    if (!code && opts->explain)
        code = explain_counters(&counters);
    else if (!code && opts->output && opts->format->capture)
        code = sample_record(opts, &counters);
    else if (!code)
        code = sample_print(opts, &counters);
    for (size_t i = 0; !opts->explain && i < counters.paths.count; i++)
        missing += !counters.states[i].seen;
    counters_close(&counters);
    return !code && missing ? EXIT_MISSING : code;
}

static int run(const struct typeperf *opts)
{
    last_event_root_refused(tool.name);
    if (opts->output && !opts->explain && !output_file_free(tool.name, opts->output, opts->yes))
        return EXIT_FAILED;
    return opts->list ? list_objects(opts) : count_counters(opts);
}

int main(int argc, char **argv)
{
    struct typeperf opts = {.format = sheet_formats};
    struct options options;
    options_begin(&options, &tool, argc, argv); /* cannot fail, because there are no commands */
    int code = take_options(&opts, &options, false);
    opts.list |= opts.list_instances || opts.names;
    if (!code)
        code = check(&opts);
    if (!code)
        code = run(&opts);
    else if (code == OPTION_SHOWN)
        code = EXIT_GOOD;
    text_list_done(&opts.args);
    text_list_done(&opts.kept);
    return code;
}
