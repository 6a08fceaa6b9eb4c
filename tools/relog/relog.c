/* SPDX-License-Identifier: MIT */
/*
 * relog: converts captures to another format, and selects counters, samples and times. Its command
 * line is Windows' with some additions.
 */
#include "relog.h"

#include "../view/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char more[] =
    "FILE is a capture: BLG, CSV or TSV as perfmon, logman, typeperf and relog write\n"
    "them; - is standard input. Several are combined in the order of time. Options may\n"
    "be written as on Windows: /f CSV.\n"
    "\n"
    "Examples:\n"
    "  relog server.blg                                 times, samples, counters\n"
    "  relog server.blg -f CSV -o server.csv\n"
    "  relog server.blg -c 'Processor(*)::*' -f jsonl -o - | jq .\n"
    "  relog server.blg -t 60 -b 1/13/2018 5:00:00 -o thin.tsv\n"
    "  relog server.csv -t 60 --average -o minutes.csv\n"
    "  relog server.blg --top 10 'Process(*)::% Processor Time' -o top.csv\n"
    "  relog --summary before.blg after.blg             what differs\n"
    "\n"
    "The exit code is 0; 1 if something failed, 2 usage, 3 if some of the counters\n"
    "are not in the captures or cannot be shown (the others were written), 4 no rights.\n";

static const struct tool tool = {
    .name = "relog",
    .summary = "Convert, reduce or describe captures of performance counters.",
    .usage = "FILE... [OPTION]... -o FILE\n"
             "FILE... [-q]\n"
             "--summary FILE [FILE]",
    .rows = relog_rows,
    .more = more,
    .complete_args = "@files",
};

/* ---- the command line ---- */

static int take_file(struct text_list *list, const struct options *options)
{
    return text_list_read(list, options->value)
               ? 0
               : tool_failed(options->tool->name, "%s: %s", options->value, strerror(errno));
}

static int take_number(unsigned long *ret, const struct options *options)
{
    char *end;
    errno = 0;
    *ret = strtoul(options->value, &end, 10);
    if (errno || *end || !strchr("123456789", options->value[0]) || !*ret)
        return options_complain(options, "%s needs a number above 0, not '%s'", options->spelled,
                                options->value);
    return 0;
}

static int keep(struct text_list *list, const struct options *options)
{
    return text_list_add(list, options->value) ? 0 : EXIT_FAILED;
}

static int take_rename(struct relog *opts, const struct options *options)
{
    const char *equals = strchr(options->value, '=');
    if (!equals || equals == options->value)
        return options_complain(options, "--rename needs OLD=NEW, not %s", options->value);
    return keep(&opts->renames, options);
}

/* Takes a plain word: the path of a counter, or a file. After -c and --top, a word with a backslash
 * or "::" is a path; elsewhere one with "::" or a backslash in front is, if there is no such
 * file. */
static int take_word(struct relog *opts, const struct options *options, bool after_counter)
{
    const char *word = options->value;
    bool path = strstr(word, "::") || (after_counter ? strchr(word, '\\') != NULL : *word == '\\');
    path = path && (after_counter || access(word, F_OK) != 0);
    return keep(path ? &opts->wanted : &opts->inputs, options);
}

static int take_options(struct relog *opts, struct options *options, bool nested);

static int take_option(struct relog *opts, struct options *options, int id, bool nested)
{
    struct options inner;
    int wrong;
    switch (id) {
    case COUNTER:
        return keep(&opts->wanted, options);
    case COUNTER_FILE:
        return take_file(&opts->wanted, options);
    case FORMAT:
        return sheet_take_format(options, &opts->format);
    case EVERY:
    case TOP:
        return take_number(id == TOP ? &opts->top : &opts->every, options);
    case OUTPUT:
        return sheet_take_output(options, &opts->output);
    case BEGIN:
    case END:
        return when_take(options, id == BEGIN ? &opts->begin : &opts->end);
    case CONFIG:
        wrong = config_read(options, nested, &opts->kept, &inner);
        return wrong ? wrong : take_options(opts, &inner, true);
    case RENAME:
        return take_rename(opts, options);
    default:
        return options_set(options, opts);
    }
}

/* Reads the command line, or a file of options. Returns 0, an exit code, or OPTION_SHOWN. */
static int take_options(struct relog *opts, struct options *options, bool nested)
{
    bool after_counter = false;
    int wrong = 0, id = 1;
    while (id > 0 && !wrong && (id = options_next(options)) > 0) {
        wrong = id == OPTION_ARGUMENT ? take_word(opts, options, after_counter)
                                      : take_option(opts, options, id, nested);
        after_counter = id == COUNTER || id == TOP || (id == OPTION_ARGUMENT && after_counter);
    }
    if (id == OPTION_SHOWN)
        return OPTION_SHOWN;
    return id < 0 ? options_status(id) : wrong;
}

static bool is_compressed(const struct relog *opts)
{
    const char *dot = opts->output && !opts->list ? strrchr(opts->output, '.') : NULL;
    return dot && strcmp(dot, ".zst") == 0;
}

/* Chooses the format if there is no -f: by the extension of the output, before .zst if it has that,
 * else BIN, as on Windows. */
static void choose_format(struct relog *opts)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s", opts->output ? opts->output : "");
    char *dot = strrchr(name, '.');
    if (is_compressed(opts)) {
        *dot = '\0';
        dot = strrchr(name, '.');
    }
    if (!opts->format && (!opts->output || opts->list))
        opts->format = opts->summary ? sheet_format_of("table") : sheet_formats;
    else if (!opts->format && dot)
        opts->format = sheet_format_of(dot + 1);
    if (!opts->format)
        opts->format = sheet_format_of("BIN");
}

static bool is_pipe(const char *input)
{
    struct stat facts;
    bool standard = strcmp(input, "-") == 0;
    return !(standard ? fstat(STDIN_FILENO, &facts) : stat(input, &facts)) &&
           (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode) || S_ISCHR(facts.st_mode));
}

static bool can_append(const struct relog *opts)
{
    return opts->format->capture && (opts->every <= 1 || opts->binary) && !opts->follow &&
           !opts->merge && !opts->renames.count;
}

static int check_summary(const struct relog *opts, const struct options *options)
{
    if (opts->format->capture == PDH_LOG_TYPE_BINARY)
        return options_complain(options, "--summary needs -f CSV, TSV, " SHEET_OTHERS);
    if (opts->inputs.count > 2)
        return options_complain(options, "--summary takes one capture, or two that are compared");
    if (opts->append || opts->every || opts->list || opts->follow || opts->merge)
        return options_complain(
            options, "--summary cannot be used with -a, -t, -q, --follow, --merge or --average");
    return 0;
}

/* A BLG is written by PDH, sample by sample, from the raw values of the input. */
static int check_binary(struct relog *opts, const struct options *options)
{
    opts->binary = opts->format->capture == PDH_LOG_TYPE_BINARY && opts->output && !opts->list;
    if (is_compressed(opts) && (opts->append || !opts->binary))
        return options_complain(options, opts->append ? "-a cannot be used with .zst: a compressed "
                                                        "capture is written as a whole"
                                                      : "only BIN is written compressed (.zst)");
    if (opts->binary && (opts->follow || opts->average || opts->renames.count))
        return options_complain(options,
                                "-f BIN cannot be used with --follow, --average or --rename");
    if (opts->binary && strcmp(opts->output, "-") == 0 && isatty(STDOUT_FILENO))
        return options_complain(options, "-f BIN is not for a terminal; name a file with -o");
    return 0;
}

static int check_samples(const struct relog *opts, const struct options *options)
{
    if (opts->average && opts->every < 2)
        return options_complain(
            options, "--average needs -t N, with N above 1: it is the mean of N samples");
    if (opts->begin && opts->end && opts->end < opts->begin)
        return options_complain(options, "the end (-e) is before the beginning (-b)");
    if (opts->follow && (!opts->output || opts->top))
        return options_complain(options, "--follow needs -o, and cannot be used with --top");
    return 0;
}

static int check(struct relog *opts)
{
    const struct options options = {.tool = &tool};
    if (!opts->inputs.count)
        return options_complain(&options, "FILE is missing: the capture to read");
    choose_format(opts);
    int code = opts->summary ? check_summary(opts, &options) : check_binary(opts, &options);
    if (code)
        return code;
    if (opts->append && !can_append(opts))
        return options_complain(&options, "-a needs the format BIN, CSV or TSV, and cannot be used "
                                          "with --follow, --merge or --rename, nor -t with text");
    code = check_samples(opts, &options);
    opts->flows = opts->follow && opts->inputs.count == 1 && is_pipe(opts->inputs.texts[0]);
    return code;
}

/* ---- the work ---- */

static int describe(const struct relog *opts, struct input_log *source)
{
    FILE *out = output_file_open(tool.name, opts->output);
    if (!out)
        return output_file_code();
    report_counters(source, out);
    fflush(out);
    int code = source_read(source, opts, NULL, NULL);
    if (!code && report_wanted(opts))
        printf("\nThe command completed successfully.\n");
    return output_file_close(tool.name, opts->output, out) ? code : EXIT_FAILED;
}

/* Is the output one of the captures? Writing would destroy or extend what is still to be read. A
 * compressed output is another file until all of it is written. */
static bool replaces_input(const struct relog *opts)
{
    struct stat output, input;
    if (!opts->output || is_compressed(opts) || stat(opts->output, &output) ||
        !S_ISREG(output.st_mode))
        return false;
    for (size_t i = 0; i < opts->inputs.count; i++) {
        const char *name = opts->inputs.texts[i];
        int failed = strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, &input) : stat(name, &input);
        if (!failed && input.st_dev == output.st_dev && input.st_ino == output.st_ino)
            return true;
    }
    return false;
}

static int run(const struct relog *opts)
{
    struct input_log source = {0};
    bool list = opts->list || !opts->output;
    if (replaces_input(opts)) {
        fprintf(stderr, "relog: %s: it is read, so it cannot be the output; name another file\n",
                text_seen(opts->output));
        return EXIT_FAILED;
    }
    if (!opts->append && !output_file_free(tool.name, opts->output, opts->yes))
        return EXIT_FAILED;
    pace_catch();
    if (opts->summary)
        return summary_write(opts);
    int code = source_open(&source, opts);
    if (!code && opts->top)
        code = top_choose(opts, &source);
    if (!code) {
        report_input(opts, &source);
        code = list ? describe(opts, &source) : write_output(opts, &source);
    }
    size_t missing = source.missing;
    source_close(&source);
    return !code && missing ? EXIT_MISSING : code;
}

int main(int argc, char **argv)
{
    struct relog opts = {0};
    struct options options;
    options_begin(&options, &tool, argc, argv); /* cannot fail, because there are no commands */
    int code = take_options(&opts, &options, false);
    if (!code)
        code = check(&opts);
    if (!code)
        code = run(&opts);
    else if (code == OPTION_SHOWN)
        code = EXIT_GOOD;
    text_list_done(&opts.inputs);
    text_list_done(&opts.wanted);
    text_list_done(&opts.renames);
    text_list_done(&opts.kept);
    return code;
}
