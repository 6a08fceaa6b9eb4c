/* SPDX-License-Identifier: MIT */
/*
 * logman: data collector sets, which record counters into files or watch their limits. Its command
 * line is Windows' with some additions.
 */
#include "set.h"

#include "../common/config.h"
#include "../common/counter-path.h"
#include "../common/last-event.h"
#include "../common/output-file.h"
#include "../common/pace.h"
#include "../common/when.h"
#include "../view/text.h"

#include <errno.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { CREATE = 1, UPDATE, DELETE_, QUERY, START, STOP, RUN, IMPORT, EXPORT };
enum { NAME = 1, SERVER, CONFIG, YES, OWN, LIST, XML_FILE, TRACE, AT_ONCE, MANUAL, BEGIN, END };
enum { COUNTER = END + 1, COUNTER_FILE, THRESHOLD, INTERVAL, FORMAT, OUTPUT, APPEND, OVERWRITE };
enum { VERSION = OVERWRITE + 1, MOST, NEW_FILE, SAMPLES, REPEAT, RUN_FOR, COMMAND, RUN_AS };
enum { LOG_EVENT = RUN_AS + 1, START_SET, TASK, TASK_ARGUMENTS, RETENTION, KEEP_FREE };
enum { COMMAND_LINES = KEEP_FREE + 1, HOLD, HYSTERESIS, PAUSE };
enum {
    NOT = 100 /* is added by the second dash of an option such as --v */,
    MOST_NUMBER = 1 << 30
};

/* clang-format off */
static const struct option_row set_rows[] = {
    {'n', "name", "NAME", NAME, "The set's name, which may also be written without -n.", "@sets", 0, NULL},
    {'c', "counter", "PATH", COUNTER, "A counter to record; * and ? match any names. More paths may follow.", "@counters", 0, NULL},
    {0, "counter-file", "FILE", COUNTER_FILE, "Read counters, or the thresholds of an alert, from a file, one in each line.", "@files", 0, "cf"},
    {0, "threshold", "LIMIT", THRESHOLD, "Alerts: 'PATH>NUMBER' or 'PATH<NUMBER'. More may follow.", NULL, 0, "th"},
    {0, "interval", "TIME", INTERVAL, "Time between samples, [[hh:]mm:]ss; 0.1 is a tenth of a second. Default 15 seconds.", "1 15 1:00", 0, "si"},
    {'f', "format", "FORMAT", FORMAT, "bin (.blg, the default), bincirc, csv or tsv. bincirc overwrites its oldest samples.", "bin bincirc csv tsv", 0, NULL},
    {'o', "output", "PATH", OUTPUT, "Where to record, without extension. Default: the set's name, in the folder of its captures.", "@files", 0, NULL},
    {'a', "append", NULL, APPEND, "Append to an existing file.", NULL, 0, NULL},
    {0, "overwrite", NULL, OVERWRITE, "Overwrite an existing file.", NULL, 0, "ow"},
    {'v', "versions", "FORM", VERSION, "What is added to a file's name: nnnnnn, a number (the default), or mmddhhmm, the time.", "nnnnnn mmddhhmm", 0, NULL},
    {0, "max-size", "MIB", MOST, "End, or with -cnf begin a new file, at this size.", "10 100", 0, "max"},
    {0, "new-file", "[TIME]", NEW_FILE, "Begin a new file each time that TIME has passed, or the size of -max is reached.", "1:00:00 24:00:00", 0, "cnf"},
    {0, "samples", "N", SAMPLES, "End after N samples.", NULL, 0, "sc"},
    {'b', "begin", "TIME", BEGIN, "Begin at a local time: M/D/YYYY [[HH:]MM:]SS, or YYYY-MM-DD HH:MM:SS.", NULL, 0, NULL},
    {'e', "end", "TIME", END, "End at a time, in the same form.", NULL, 0, NULL},
    {'m', "manual", NULL, MANUAL, "Begin and end by hand, without the times of -b and -e; only begin or only end, if start or stop follows.", NULL, 0, NULL},
    {'r', "repeat", NULL, REPEAT, "Repeat each day, between the times of day of -b and -e.", NULL, 0, NULL},
    {0, "run-for", "TIME", RUN_FOR, "End after this time.", "1:00:00", 0, "rf"},
    {0, "command", "COMMAND", COMMAND, "Run a command each time that a file is closed.", NULL, 0, "rc"},
    {'u', "run-as", "USER", RUN_AS, "Run the commands as this user.", NULL, 0, NULL},
    {0, "log-event", NULL, LOG_EVENT, "Alerts: write an event.", NULL, 0, "el"},
    {0, "start-set", "NAME", START_SET, "Alerts: start another set.", "@sets", 0, "rdcs"},
    {0, "task", "COMMAND", TASK, "Alerts: run a command.", NULL, 0, "tn"},
    {0, "task-arguments", "TEXT", TASK_ARGUMENTS, "Alerts: the arguments of the command of -tn.", NULL, 0, "targ"},
    {0, "retention", "AGE", RETENTION, "Delete the set's files that are older, such as 12h, 14d or 8w.", "1d 14d 8w", 0, NULL},
    {0, "keep-free", "PERCENT", KEEP_FREE, "Delete the set's oldest files when less of the disk is free.", "5% 10%", 0, NULL},
    {0, "command-lines", NULL, COMMAND_LINES, "Keep the counter of command lines in the set. Texts themselves are not recorded yet.", NULL, 0, NULL},
    {0, "hold", "TIME", HOLD, "Alerts: only when the value has been beyond the limit for this time.", "1:00", 0, NULL},
    {0, "hysteresis", "PERCENT", HYSTERESIS, "Alerts: the next one only after the value has come back from the limit by this part of it.", "5 10", 0, NULL},
    {0, "pause", "TIME", PAUSE, "Alerts: the least time between two of one counter.", "10:00 1:00:00", 0, NULL},
    {0, "a", NULL, NOT + APPEND, "", NULL, true, NULL},
    {0, "ow", NULL, NOT + OVERWRITE, "", NULL, true, NULL},
    {0, "v", NULL, NOT + VERSION, "", NULL, true, NULL},
    {0, "max", NULL, NOT + MOST, "", NULL, true, NULL},
    {0, "cnf", NULL, NOT + NEW_FILE, "", NULL, true, NULL},
    {0, "r", NULL, NOT + REPEAT, "", NULL, true, NULL},
    {0, "rc", NULL, NOT + COMMAND, "", NULL, true, NULL},
    {0, "u", NULL, NOT + RUN_AS, "", NULL, true, NULL},
    {0, "el", NULL, NOT + LOG_EVENT, "", NULL, true, NULL},
    {0, "rdcs", NULL, NOT + START_SET, "", NULL, true, NULL},
    {0, "tn", NULL, NOT + TASK, "", NULL, true, NULL},
    {0, "targ", NULL, NOT + TASK_ARGUMENTS, "", NULL, true, NULL},
    {0, "no-retention", NULL, NOT + RETENTION, "", NULL, true, NULL},
    {0, "no-keep-free", NULL, NOT + KEEP_FREE, "", NULL, true, NULL},
    {0, "no-command-lines", NULL, NOT + COMMAND_LINES, "", NULL, true, NULL},
    {0, "no-hold", NULL, NOT + HOLD, "", NULL, true, NULL},
    {0, "no-hysteresis", NULL, NOT + HYSTERESIS, "", NULL, true, NULL},
    {0, "no-pause", NULL, NOT + PAUSE, "", NULL, true, NULL},
    {0},
};
static const struct option_row name_rows[] = {
    {'n', "name", "NAME", NAME, "The set's name, which may also be written without -n.", "@sets", 0, NULL},
    {0, "ets", NULL, TRACE, "", NULL, true, "ets"},
    {0, "as", NULL, AT_ONCE, "", NULL, true, "as"},
    {0},
};
static const struct option_row query_rows[] = {
    {'n', "name", "NAME", NAME, "The set's name, which may also be written without -n.", "@sets", 0, NULL},
    {'q', "names", NULL, LIST, "Print the names of all sets only.", NULL, 0, NULL},
    {0, "ets", NULL, TRACE, "", NULL, true, "ets"},
    {0},
};
static const struct option_row xml_rows[] = {
    {'n', "name", "NAME", NAME, "The set's name, which may also be written without -n.", "@sets", 0, NULL},
    {0, "xml", "FILE", XML_FILE, "The file.", "@files", 0, "xml"},
    {0},
};
static const struct option_row rows[] = {
    {0, "config", "FILE", CONFIG, "Read options from a file: a line [si], and in the next line its value.", "@files", 0, "config"},
    {0, "user", NULL, OWN, "The sets of this user; for root, whose sets are otherwise those of the system.", NULL, 0, NULL},
    {'s', "server", "MACHINE", SERVER, "Only for query, and only this machine.", "localhost", 0, NULL},
    {'y', "yes", NULL, YES, "Overwrite without confirmation.", NULL, 0, NULL},
    {0},
};

static const char negations[] =
    "A second dash takes an option back: --a --ow --v --max --cnf --r --rc --u --el --rdcs\n"
    "--tn --targ; of the others, --no-retention, --no-keep-free, --no-command-lines,\n"
    "--no-hold, --no-hysteresis and --no-pause.\n";
static const struct tool commands[] = {
    {.name = "create", .summary = "Make a set that records counters, or watches their limits.",
     .usage = "counter NAME -c PATH... [OPTION]...\nalert NAME -th 'PATH>NUMBER'... [OPTION]...", .rows = set_rows, .more = negations, .id = CREATE},
    {.name = "update", .summary = "Change a set; what no option names stays as it is.",
     .usage = "counter NAME [OPTION]...\nalert NAME [OPTION]...", .rows = set_rows, .more = negations, .id = UPDATE},
    {.name = "delete", .summary = "Delete a set; its captures stay.", .usage = "NAME", .rows = name_rows, .id = DELETE_},
    {.name = "query", .summary = "List the sets, or show one.", .usage = "[NAME]\n-q", .rows = query_rows, .id = QUERY},
    {.name = "start", .summary = "Start a set in the background.", .usage = "NAME", .rows = name_rows, .id = START},
    {.name = "stop", .summary = "Stop a set.", .usage = "NAME", .rows = name_rows, .id = STOP},
    {.name = "run", .summary = "Run a set here, until it ends or Ctrl-C.", .usage = "NAME", .rows = name_rows, .id = RUN},
    {.name = "import", .summary = "Make a set from an XML file, also from Windows.", .usage = "NAME -xml FILE", .rows = xml_rows, .id = IMPORT},
    {.name = "export", .summary = "Write a set to an XML file.", .usage = "NAME -xml FILE", .rows = xml_rows, .id = EXPORT},
    {0},
};
/* clang-format on */

static const char more[] =
    "Examples:\n"
    "  logman create counter cpu -c '\\Processor(*)\\% Processor Time' -si 5 --retention 14d\n"
    "  logman start cpu; logman query cpu; logman stop cpu\n"
    "  logman create alert full -th '\\Memory\\Available MBytes<100' -el --hold 1:00\n"
    "  logman update counter cpu -f csv --v -max 100 -cnf\n"
    "  logman export cpu -xml cpu.xml\n"
    "\n"
    "The exit code is 0; 1 if something failed, 2 usage, 3 no such set, 4 no rights.\n";

static const struct tool tool = {
    .name = "logman",
    .summary = "Record performance counters into files, and watch their limits.",
    .usage = "COMMAND [counter | alert] [NAME] [OPTION]...",
    .rows = rows,
    .commands = commands,
    .more = more,
    .complete_args = "@sets",
};

/* An option that changes a set, as it was given; the name may come after it. */
struct change {
    int id;
    const char *spelled, *value;
    int64_t time; /* of -b and -e */
};

struct logman {
    const char *name, *xml, *server;
    bool yes, own, list, kind_given;
    enum set_kind kind;
    int last; /* the last option, for plain words that belong to it; 0: none */
    struct change *changes;
    size_t count;
    struct text_list kept; /* strings from files of options */
};

/* ---- the command line ---- */

static int add_change(struct logman *opts, struct options *options, int id)
{
    LONGLONG time = 0;
    struct change *grown = realloc(opts->changes, (opts->count + 1) * sizeof *grown);
    if (!grown)
        return options_complain(options, "no memory");
    opts->changes = grown;
    opts->last = id;
    if ((id == BEGIN || id == END) && when_take(options, &time))
        return EXIT_USAGE;
    opts->changes[opts->count++] =
        (struct change){id, options->spelled, options->value, time / 10000000 - 11644473600};
    return 0;
}

/* Reads "counter" or "alert", which follows create and update. */
static int take_kind(struct logman *opts, const struct options *options)
{
    static const char *const others[] = {"trace", "cfg", "api"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcasecmp(options->value, others[i]) == 0)
            return options_complain(options, "%s is not supported; there are counter and alert",
                                    others[i]);
    opts->kind_given = true;
    opts->kind = strcasecmp(options->value, "alert") == 0 ? SET_ALERT : SET_COUNTER;
    if (opts->kind == SET_COUNTER && strcasecmp(options->value, "counter") != 0)
        return options_complain(options, "counter or alert is missing before %s", options->value);
    return 0;
}

/* Is the plain word a further value of the option before it, as on Windows? */
static bool belongs(const struct logman *opts, const char *word)
{
    double seconds;
    switch (opts->last) {
    case COUNTER:
        return strchr(word, '\\') || strstr(word, "::");
    case THRESHOLD:
        return strpbrk(word, "<>") != NULL;
    case MANUAL:
        return strcasecmp(word, "start") == 0 || strcasecmp(word, "stop") == 0;
    case NEW_FILE:
        return pace_parse(word, &seconds);
    default:
        return false;
    }
}

static int take_word(struct logman *opts, struct options *options)
{
    int command = options->command->id;
    if ((command == CREATE || command == UPDATE) && !opts->kind_given)
        return take_kind(opts, options);
    if (belongs(opts, options->value)) {
        struct change *last = &opts->changes[opts->count - 1];
        if (last->value)
            return add_change(opts, options, opts->last);
        last->value = options->value;
        return 0;
    }
    if (opts->name && opts->last == RUN_AS)
        return options_complain(options, "-u takes no password; only root may name another user");
    if (opts->name)
        return options_complain(options, "unexpected argument: %s", options->value);
    if (command == QUERY && strcasecmp(options->value, "providers") == 0)
        return options_complain(options, "providers is not supported; 'perfmon status' lists the "
                                         "providers of counters");
    opts->name = options->value;
    return 0;
}

static int take_options(struct logman *opts, struct options *options, bool nested);

static int take_config(struct logman *opts, const struct options *options, bool nested)
{
    struct config config = {.kept = &opts->kept, .nested = nested};
    int wrong = config_read(&config, options);
    struct options inner = {.tool = &tool,
                            .command = options->command,
                            .at = 1,
                            .argv = config.argv,
                            .argc = config.argc};
    return wrong ? wrong : take_options(opts, &inner, true);
}

static int take_option(struct logman *opts, struct options *options, int id, bool nested)
{
    const struct option_target targets[] = {
        [NAME] = OPTION_TEXT(opts->name), [SERVER] = OPTION_TEXT(opts->server),
        [YES] = OPTION_FLAG(opts->yes),   [OWN] = OPTION_FLAG(opts->own),
        [LIST] = OPTION_FLAG(opts->list), [XML_FILE] = OPTION_TEXT(opts->xml)};
    if (id == OPTION_ARGUMENT)
        return take_word(opts, options);
    opts->last = 0;
    if (id == CONFIG)
        return take_config(opts, options, nested);
    if (id == TRACE)
        return options_complain(options, "-ets is not supported: there are no event traces");
    if (id == AT_ONCE) /* start returns at once anyway */
        return 0;
    int wrong = options_set(options, id, OPTION_TARGETS(targets));
    return wrong == OPTION_OTHER ? add_change(opts, options, id) : wrong;
}

/* Returns 0, an exit code, or OPTION_SHOWN. */
static int take_options(struct logman *opts, struct options *options, bool nested)
{
    int wrong = 0, id = 1;
    while (!wrong && (id = options_next(options)) > 0)
        wrong = take_option(opts, options, id, nested);
    if (id == OPTION_SHOWN)
        return OPTION_SHOWN;
    return id < 0 ? options_status(id) : wrong;
}

/* ---- changes of a set ---- */

/* clang-format off */
#define MEMBER(name) offsetof(struct set, name), sizeof(((struct set *)NULL)->name)
static const struct setting {
    int id;
    enum { FLAG, TEXT, TIME, NUMBER, OTHER } type;
    enum { BOTH, COUNTERS, ALERTS } kinds;
    size_t member, size; /* size 0: the option cannot be taken back */
} settings[] = {
    {APPEND, FLAG, BOTH, MEMBER(append)},
    {OVERWRITE, FLAG, BOTH, MEMBER(overwrite)},
    {REPEAT, FLAG, BOTH, MEMBER(repeat)},
    {COMMAND_LINES, FLAG, COUNTERS, MEMBER(command_lines)},
    {LOG_EVENT, FLAG, ALERTS, MEMBER(event)},
    {COMMAND, TEXT, BOTH, MEMBER(command)},
    {RUN_AS, TEXT, BOTH, MEMBER(user)},
    {START_SET, TEXT, ALERTS, MEMBER(start_set)},
    {TASK, TEXT, ALERTS, MEMBER(task)},
    {TASK_ARGUMENTS, TEXT, ALERTS, MEMBER(task_arguments)},
    {RUN_FOR, TIME, BOTH, MEMBER(run_for)},
    {HOLD, TIME, ALERTS, MEMBER(hold)},
    {PAUSE, TIME, ALERTS, MEMBER(pause)},
    {MOST, NUMBER, BOTH, MEMBER(most)},
    {SAMPLES, NUMBER, COUNTERS, MEMBER(samples)},
    {RETENTION, OTHER, COUNTERS, MEMBER(retention)},
    {KEEP_FREE, OTHER, COUNTERS, MEMBER(keep_free)},
    {FORMAT, OTHER, COUNTERS, 0, 0},
    {COUNTER, OTHER, COUNTERS, 0, 0},
    {THRESHOLD, OTHER, ALERTS, 0, 0},
    {HYSTERESIS, OTHER, ALERTS, MEMBER(hysteresis)},
    {VERSION, OTHER, BOTH, MEMBER(version)},
    {NEW_FILE, OTHER, BOTH, MEMBER(new_file)},
    {0, OTHER, BOTH, 0, 0},
};
/* clang-format on */

static int replace(char **member, const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    free(*member);
    *member = copy;
    return 0;
}

static int take_seconds(const struct options *options, double *ret)
{
    return pace_parse(options->value, ret)
               ? 0
               : options_complain(options, "'%s' is not a time; use [[hh:]mm:]ss", options->value);
}

static int take_time(const struct options *options, uint32_t *ret)
{
    double seconds = 0;
    int wrong = take_seconds(options, &seconds);
    *ret = (uint32_t)ceil(seconds);
    return wrong;
}

/* Parses a number and its unit, which may be missing if it is "%". */
static int take_quantity(const struct options *options, const char *units, uint64_t most,
                         uint64_t *ret)
{
    static const uint64_t factors[] = {1, 60, 3600, 86400, 7 * 86400};
    char *unit;
    *ret = strtoull(options->value, &unit, 10);
    const char *found = *unit ? strchr(units, *unit) : *units == '%' ? units : NULL;
    if (!strchr("0123456789", *options->value) || !*ret || *ret > most || !found ||
        (*unit && unit[1]))
        return options_complain(options, "%s needs a number and one of the units %s, not '%s'",
                                options->spelled, units, options->value);
    *ret *= factors[found - units];
    return 0;
}

static int take_format(const struct options *options, struct set *set)
{
    static const char *const names[] = {"bin", "bincirc", "csv", "tsv"};
    for (int i = 0; i < 4; i++)
        if (strcasecmp(options->value, names[i]) == 0)
            return set->format = (enum set_format)i, 0;
    return options_complain(options,
                            strcasecmp(options->value, "sql") == 0
                                ? "-f %s is not supported yet; use bin"
                                : "-f must be bin, bincirc, csv or tsv, not %s",
                            options->value);
}

/* The path of the output is kept as an absolute one, without an extension that a format has. */
static int take_output(const struct options *options, struct set *set)
{
    const char *path, *dot;
    char folder[4096] = "", *whole = NULL;
    if (sheet_take_output(options, &path))
        return EXIT_USAGE;
    if (*path != '/' && !getcwd(folder, sizeof folder))
        return options_complain(options, "%s: %s", path, strerror(errno));
    dot = strrchr(path, '.');
    bool known =
        dot && (!strcasecmp(dot, ".blg") || !strcasecmp(dot, ".csv") || !strcasecmp(dot, ".tsv"));
    size_t size = known ? (size_t)(dot - path) : strlen(path);
    bool is_folder = size && path[size - 1] == '/';
    if (asprintf(&whole, "%s%s%.*s%s", folder, *path == '/' ? "" : "/", (int)size, path,
                 is_folder ? set->name : "") < 0)
        return options_complain(options, "no memory");
    const char *file = strrchr(whole, '/') + 1;
    int wrong = set_name_valid(file)
                    ? replace(&set->output, whole)
                    : options_complain(options, "not the name of a file: %s", path);
    free(whole);
    return wrong;
}

/* Adds a counter in Windows' notation, or the threshold of an alert. */
static int add_counter(const struct options *options, struct set *set, const char *text)
{
    bool alert = set->kind == SET_ALERT;
    const char *over = strrchr(text, '>'), *under = strrchr(text, '<');
    const char *sign = alert ? over > under ? over : under : text + strlen(text);
    if (alert && !set_is_threshold(text))
        return options_complain(options, "not a threshold: %s; use 'PATH>NUMBER' or 'PATH<NUMBER'",
                                text);
    char *path = strndup(text, (size_t)(sign - text)), *whole = NULL;
    char *windows = path ? counter_path_to_windows(path) : NULL;
    int wrong = 0;
    if (!windows)
        wrong = options_complain(options, "not the path of a counter: %s", text);
    else if (asprintf(&whole, "%s%s", windows, sign) < 0 || !text_list_add(&set->counters, whole))
        wrong = options_complain(options, "no memory");
    free(path);
    free(windows);
    free(whole);
    return wrong;
}

static int add_counter_file(const struct options *options, struct set *set)
{
    struct text_list list = {0};
    int wrong = 0;
    if (!text_list_read(&list, options->value))
        wrong = options_complain(options, "%s: %s", options->value, strerror(errno));
    for (size_t i = 0; !wrong && i < list.count; i++)
        wrong = add_counter(options, set, list.texts[i]);
    text_list_done(&list);
    return wrong;
}

static int take_version(const struct options *options, struct set *set)
{
    bool number = strcasecmp(options->value, "nnnnnn") == 0;
    set->version = number ? VERSION_NUMBER : VERSION_MONTH_DAY_HOUR_MINUTE;
    return number || strcasecmp(options->value, "mmddhhmm") == 0
               ? 0
               : options_complain(options, "-v must be nnnnnn or mmddhhmm, not %s", options->value);
}

static int take_manual(struct set *set, const char *which)
{
    if (!which || strcasecmp(which, "start") == 0)
        set->begin = 0, set->repeat = false;
    if (!which || strcasecmp(which, "stop") == 0)
        set->end = set->run_for = 0, set->repeat = false;
    return 0;
}

static int change_other(const struct options *options, struct set *set, const struct change *change)
{
    uint64_t percent = 0;
    int wrong = 0;
    switch (change->id) {
    case FORMAT:
        return take_format(options, set);
    case OUTPUT:
        return take_output(options, set);
    case VERSION:
        return take_version(options, set);
    case INTERVAL:
        return take_seconds(options, &set->interval);
    case BEGIN:
    case END:
        *(change->id == BEGIN ? &set->begin : &set->end) = change->time;
        return 0;
    case NEW_FILE:
        set->segment = true;
        set->new_file = 0;
        return options->value ? take_time(options, &set->new_file) : 0;
    case MANUAL:
        return take_manual(set, options->value);
    case COUNTER_FILE:
        return add_counter_file(options, set);
    case KEEP_FREE:
        wrong = take_quantity(options, "%", 99, &percent);
        set->keep_free = (uint32_t)percent;
        return wrong;
    case HYSTERESIS:
        wrong = take_quantity(options, "%", 100, &percent);
        set->hysteresis = (double)percent;
        return wrong;
    case RETENTION:
        return take_quantity(options, "smhdw", 1000000, &set->retention);
    default:
        return add_counter(options, set, options->value);
    }
}

static int change_number(const struct options *options, uint32_t *member)
{
    int64_t number;
    if (!options_number(options->value, 1, MOST_NUMBER, &number))
        return options_complain(options, "%s needs a number from 1 to %d, not '%s'",
                                options->spelled, MOST_NUMBER, options->value);
    *member = (uint32_t)number;
    return 0;
}

static int change_set(const struct options *options, struct set *set, const struct change *change)
{
    bool negated = change->id >= NOT;
    int id = change->id - (negated ? NOT : 0);
    const struct setting *row = settings;
    while (row->id && row->id != id)
        row++;
    void *member = (char *)set + row->member;
    if (row->kinds && (row->kinds == ALERTS) != (set->kind == SET_ALERT))
        return options_complain(options, "%s is only for %s", options->spelled,
                                row->kinds == ALERTS ? "alerts" : "counters");
    if (row->type == TEXT)
        return replace(member, negated ? NULL : options->value);
    if (negated) {
        set->segment &= id != NEW_FILE;
        memset(member, 0, row->size);
    } else if (row->type == OTHER) {
        return change_other(options, set, change);
    } else if (row->type == FLAG) {
        *(bool *)member = true;
    } else {
        return (row->type == TIME ? take_time : change_number)(options, member);
    }
    return 0;
}

static const char *schedule_fault(const struct set *set)
{
    if (set->end && set->run_for)
        return "-e and -rf both say when the set ends";
    if (set->end && set->end <= set->begin && !set->repeat)
        return "the end (-e) is not after the beginning (-b)";
    return set->repeat && !set->begin ? "-r needs -b: the time of day at which the set begins"
                                      : NULL;
}

/* What is wrong with the set as a whole? NULL: nothing. */
static const char *set_fault(const struct set *set)
{
    if (!set->counters.count)
        return set->kind == SET_ALERT ? "-th is missing: the counters and their limits"
                                      : "-c or -cf is missing: the counters to record";
    if (set->append && set->overwrite)
        return "-a and -ow cannot be used together";
    if (set->format == SET_BINCIRC && (!set->most || set->segment))
        return "-f bincirc needs -max, the size of its one file, and no -cnf";
    return schedule_fault(set);
}

static int check_user(const struct options *options, const struct set *set)
{
    const struct passwd *user = set->user ? getpwnam(set->user) : NULL;
    if (set->user && !user)
        return options_complain(options, "-u: there is no such user: %s", set->user);
    if (user && geteuid() != 0 && user->pw_uid != geteuid())
        return options_complain(options, "-u: only root may name another user than itself");
    return 0;
}

/* Applies the options; the first one with counters replaces those that the set has. */
static int change_all(const struct logman *opts, const struct options *options, struct set *set)
{
    struct text_list old = set->counters;
    struct options given = *options;
    bool new_files = false;
    int wrong = 0;
    set->counters = (struct text_list){0};
    for (size_t i = 0; !wrong && i < opts->count; i++) {
        new_files |= opts->changes[i].id == NEW_FILE;
        given.spelled = opts->changes[i].spelled;
        given.value = opts->changes[i].value;
        wrong = change_set(&given, set, &opts->changes[i]);
    }
    if (set->counters.count)
        text_list_done(&old);
    else
        set->counters = old;
    set->most_unit = set->most ? UNIT_MIB : UNIT_NONE;
    set->new_unit = set->new_file ? UNIT_SECONDS : UNIT_NONE;
    if (!wrong && set_fault(set))
        wrong = options_complain(options, "%s", set_fault(set));
    else if (!wrong && new_files && !set->most && !set->new_file)
        wrong = options_complain(options, "-cnf needs a time, or -max");
    return wrong ? wrong : check_user(options, set);
}

/* ---- the commands ---- */

static int complain(const char *name, const char *what, int code)
{
    fprintf(stderr, "logman: %s: %s\n", text_seen(name), what);
    return code;
}

static int create(const struct logman *opts, const struct options *options, struct set *set)
{
    char *path = set_path(opts->own, opts->name, PLACE_SET);
    bool exists = path && access(path, F_OK) == 0;
    free(path);
    if (exists)
        return complain(opts->name, "exists already; 'logman update' changes it", EXIT_FAILED);
    set->version = set->kind == SET_COUNTER ? VERSION_NUMBER : VERSION_NONE;
    int wrong = change_all(opts, options, set);
    return wrong ? wrong : set_save(set, opts->own);
}

static int update(const struct logman *opts, const struct options *options, struct set *set)
{
    if (set->kind != opts->kind)
        return complain(opts->name, set->kind == SET_ALERT ? "is an alert" : "records counters",
                        EXIT_USAGE);
    int wrong = change_all(opts, options, set);
    if (!wrong)
        wrong = set_save(set, opts->own);
    if (!wrong && set_is_running(opts->name, opts->own))
        complain(opts->name, "runs on as it was until it is started again", 0);
    return wrong;
}

static int delete_set(const struct logman *opts)
{
    if (set_is_running(opts->name, opts->own))
        return complain(opts->name, "is running; 'logman stop' stops it", EXIT_FAILED);
    return set_delete(opts->own, opts->name);
}

static int import(const struct logman *opts)
{
    char *path = set_path(opts->own, opts->name, PLACE_SET);
    struct set *set = NULL;
    bool may = path && output_file_free(tool.name, path, opts->yes);
    int code = may ? set_import(opts->name, opts->xml, &set) : EXIT_FAILED;
    free(path);
    if (!code && set_fault(set))
        code = complain(opts->xml, set_fault(set), EXIT_FAILED);
    if (!code)
        code = set_save(set, opts->own);
    if (!code && (set->command || set->task))
        fprintf(stderr, "logman: %s: when it runs, it runs the command %s\n", text_seen(opts->name),
                text_seen(set->command ? set->command : set->task));
    set_free(set);
    return code;
}

static const char *state_of(const char *name, bool own)
{
    return set_is_running(name, own) ? "Running" : "Stopped";
}

static int list(const struct logman *opts)
{
    struct text_list names = {0};
    if (!set_list(opts->own, &names))
        return complain("query", "no memory, or no home folder", EXIT_FAILED);
    if (!opts->list)
        printf("\n%-40s%-30s%s\n%.78s\n", "Data Collector Set", "Type", "Status",
               "--------------------------------------------------------------------------------");
    for (size_t i = 0; i < names.count; i++) {
        struct set *set = NULL;
        if (opts->list) {
            printf("%s\n", text_shown(stdout, names.texts[i]));
        } else if (set_load(opts->own, names.texts[i], &set) == 0) {
            text_cell(stdout, names.texts[i], 39);
            printf(" %-30s%s\n", set->kind == SET_ALERT ? "Alert" : "Counter",
                   state_of(set->name, opts->own));
        }
        set_free(set);
    }
    text_list_done(&names);
    return 0;
}

static void print_row(const char *name, const char *value)
{
    printf("%-22s%s\n", name, text_seen(value && *value ? value : "-"));
}

static void print_seconds(const char *name, double seconds)
{
    if (seconds > 0)
        printf("%-22s%.15g second(s)\n", name, seconds);
}

static void print_when(const char *name, int64_t time)
{
    char text[SHEET_TIME_SIZE];
    if (!time)
        return;
    when_print((time + 11644473600) * 10000000, text);
    print_row(name, text);
}

static void print_files(const struct set *set)
{
    static const char *const formats[] = {"bin", "bincirc", "csv", "tsv"};
    static const char *const versions[] = {"-", "nnnnnn", "mmddhhmm"};
    print_row("Output:", set->output ? set->output : set->name);
    print_row("Format:", formats[set->format]);
    print_row("Versions:", versions[set->version]);
    print_row("Existing file:", set->append ? "append" : set->overwrite ? "overwrite" : "-");
    if (set->most)
        printf("%-22s%lu MiB\n", "Largest file:", (unsigned long)set->most);
    print_row("Next file:", set->segment ? "when a file is full or old" : "-");
    print_seconds("Longest file:", set->new_file);
    print_seconds("Retention:", (double)set->retention);
    if (set->keep_free)
        printf("%-22s%lu %%\n", "Keep free:", (unsigned long)set->keep_free);
    if (set->command_lines)
        print_row("Command lines:", "recorded");
}

static void print_alert(const struct set *set)
{
    print_row("Event:", set->event ? "yes" : "no");
    print_row("Starts the set:", set->start_set);
    print_row("Task:", set->task);
    print_row("Task arguments:", set->task_arguments);
    print_seconds("Hold:", set->hold);
    print_seconds("Pause:", set->pause);
    if (set->hysteresis > 0)
        printf("%-22s%.15g %%\n", "Hysteresis:", set->hysteresis);
}

static int show(const struct set *set, bool own)
{
    printf("\n");
    print_row("Name:", set->name);
    print_row("Type:", set->kind == SET_ALERT ? "Alert" : "Counter");
    print_row("Status:", state_of(set->name, own));
    print_row("Run as:", set->user);
    print_when("Begin:", set->begin);
    print_when("End:", set->end);
    if (set->repeat)
        print_row("Repeat:", "every day");
    print_seconds("Run for:", set->run_for);
    print_seconds("Sample interval:", set->interval);
    if (set->samples)
        printf("%-22s%lu\n", "Samples:", (unsigned long)set->samples);
    if (set->kind == SET_ALERT)
        print_alert(set);
    else
        print_files(set);
    print_row("Command:", set->command);
    printf("\n%s:\n", set->kind == SET_ALERT ? "Limits" : "Counters");
    for (size_t i = 0; i < set->counters.count; i++)
        printf("    %s\n", text_seen(set->counters.texts[i]));
    set_print_status(set, own);
    return 0;
}

/* Runs a command that needs the set. */
static int run_with(const struct logman *opts, const struct options *options)
{
    struct set *set = NULL;
    int command = options->command->id, code = 0;
    if (command == CREATE)
        code = (set = set_new(opts->name, opts->kind)) ? 0 : EXIT_FAILED;
    else
        code = set_load(opts->own, opts->name, &set);
    if (!code)
        code = command == CREATE                                    ? create(opts, options, set)
               : command == UPDATE                                  ? update(opts, options, set)
               : command == QUERY                                   ? show(set, opts->own)
               : command == START                                   ? set_start(set, opts->own)
               : command == STOP                                    ? set_stop(set, opts->own)
               : command == RUN                                     ? set_run(set, opts->own)
               : !output_file_free(tool.name, opts->xml, opts->yes) ? EXIT_FAILED
                                                                    : set_export(set, opts->xml);
    set_free(set);
    return code;
}

static int check_name(const struct logman *opts, const struct options *options)
{
    int command = options->command->id;
    if (!opts->name && (command == CREATE || command == UPDATE) && !opts->kind_given)
        return options_complain(options, "counter or alert is missing, and the set's name");
    if (!opts->name && command != QUERY)
        return options_complain(options, "NAME is missing: the set's name");
    return !opts->name || set_name_valid(opts->name)
               ? 0
               : options_complain(options,
                                  "%s: not the name of a set: at most %d bytes, without '/', "
                                  "control characters and a dot at its beginning",
                                  opts->name, SET_NAME_MOST);
}

static int check(const struct logman *opts, const struct options *options)
{
    int command = options->command->id;
    if (opts->server && command != QUERY)
        return options_complain(
            options, "-s is only for query; a set records other machines by their paths");
    if (opts->server && !counter_path_is_here(opts->server))
        return options_complain(options,
                                "-s: the sets of other machines are not read; run logman there");
    if ((command == IMPORT || command == EXPORT) && !opts->xml)
        return options_complain(options, "-xml FILE is missing");
    return check_name(opts, options);
}

static int run(const struct logman *opts, const struct options *options)
{
    int command = options->command->id;
    if (last_event_root_refused(tool.name))
        return EXIT_FAILED;
    int code = !opts->name          ? list(opts)
               : command == IMPORT  ? import(opts)
               : command == DELETE_ ? delete_set(opts)
                                    : run_with(opts, options);
    bool quiet = opts->list || command == RUN || (command == EXPORT && strcmp(opts->xml, "-") == 0);
    if (!code && !quiet)
        printf("%sThe command completed successfully.\n", command == QUERY ? "\n" : "");
    return code || fflush(stdout) == 0 ? code : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct logman opts = {.own = geteuid() != 0};
    struct options options;
    text_begin();
    char query[] = "query", names[] = "-q", *for_completions[] = {argv[0], query, names, NULL};
    if (argc == 2 && strcmp(argv[1], "--names") == 0) {
        argv = for_completions;
        argc = 3;
    }
    int code = options_begin(&options, &tool, argc, argv);
    code = code > 0               ? take_options(&opts, &options, false)
           : code == OPTION_SHOWN ? code
                                  : EXIT_USAGE;
    if (!code)
        code = check(&opts, &options);
    if (!code)
        code = run(&opts, &options);
    free(opts.changes);
    text_list_done(&opts.kept);
    return code == OPTION_SHOWN ? EXIT_GOOD : code;
}
