/* SPDX-License-Identifier: MIT */
/*
 * logman: data collector sets, which record counters into files or watch their limits. Its command
 * line is Windows' with some additions.
 */
#include "runner.h"
#include "set.h"

#include "../common/config.h"
#include "../common/counter-path.h"
#include "../common/last-event.h"
#include "../common/output-file.h"
#include "../common/pace.h"
#include "../common/when.h"
#include "../view/text.h"
#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { CREATE = 1, UPDATE, DELETE_, QUERY, START, STOP, RUN, IMPORT, EXPORT };
enum { CONFIG = 1, TRACE, AT_ONCE, MANUAL, BEGIN, END };
enum { COUNTER = END + 1, COUNTER_FILE, THRESHOLD, INTERVAL, FORMAT, OUTPUT, APPEND, OVERWRITE };
enum { VERSION = OVERWRITE + 1, MOST, NEW_FILE, SAMPLES, REPEAT, RUN_FOR, COMMAND, RUN_AS };
enum { LOG_EVENT = RUN_AS + 1, START_SET, TASK, TASK_ARGUMENTS, RETENTION, KEEP_FREE };
enum { COMMAND_LINES = KEEP_FREE + 1, COMPRESS, HOLD, HYSTERESIS, PAUSE, END_OF_OPTIONS };
enum { MOST_NUMBER = 1 << 30 };

/* An option that changes a set. It is kept, because the set's name may follow after it. */
struct change {
    int id;
    const char *spelled, *value;
    int64_t time; /* of -b and -e */
};

struct logman {
    const char *name, *xml, *server;
    bool yes, own, list, tabs, kind_given;
    enum set_kind kind;
    int last; /* the last option, if plain words after it may belong to it; else 0 */
    struct change *changes;
    size_t count;
    struct text_list kept;     /* strings from files of options */
    struct text_list counters; /* the set's new counters, in place of the present ones */
};

/* clang-format off */
static const struct option_row set_rows[] = {
    {'c', "counter", "PATH", COUNTER, "A counter to record; * and ? match any names. More paths may follow.", "@counters", 0, NULL},
    {0, "counter-file", "FILE", COUNTER_FILE, "Read counters, or thresholds, from a file, one in each line.", "@files", 0, "cf"},
    {0, "threshold", "LIMIT", THRESHOLD, "Alerts: 'PATH>NUMBER' or 'PATH<NUMBER'. More may follow.", NULL, 0, "th"},
    {0, "interval", "TIME", INTERVAL, "Time between samples, [[hh:]mm:]ss; 0.1 is a tenth of a second. Default 15 seconds.", "1 15 1:00", 0, "si"},
    {'f', "format", "FORMAT", FORMAT, "bin (.blg, the default), bincirc, csv or tsv. bincirc overwrites its oldest samples.", "bin bincirc csv tsv", 0, NULL},
    {'o', "output", "PATH", OUTPUT, "Where to record, without extension. Default: the set's name, in the folder of its captures.", "@files", 0, NULL},
    {'a', "append", NULL, APPEND, "Append to an existing file.", NULL, 0, NULL, true},
    {0, "overwrite", NULL, OVERWRITE, "Overwrite an existing file.", NULL, 0, "ow", true},
    {'v', "versions", "FORM", VERSION, "Added to a file's name: nnnnnn, a number (the default), or mmddhhmm, the time.", "nnnnnn mmddhhmm", 0, NULL, true},
    {0, "max-size", "MIB", MOST, "The largest size of a file. At this size the set ends, or with -cnf begins a new file.", "10 100", 0, "max", true},
    {0, "new-file", "[TIME]", NEW_FILE, "Begin a new file each time that TIME has passed, or the size of -max is reached.", "1:00:00 24:00:00", 0, "cnf", true},
    {0, "samples", "N", SAMPLES, "End after N samples.", NULL, 0, "sc"},
    {'b', "begin", "TIME", BEGIN, "Begin at a local time: M/D/YYYY [[HH:]MM:]SS, or YYYY-MM-DD HH:MM:SS.", NULL, 0, NULL},
    {'e', "end", "TIME", END, "End at a local time, written as for -b.", NULL, 0, NULL},
    {'m', "manual", NULL, MANUAL, "Start and stop by hand instead of at -b and -e; -m start, -m stop: only that one by hand.", NULL, 0, NULL},
    {'r', "repeat", NULL, REPEAT, "Repeat each day, between the times of day of -b and -e.", NULL, 0, NULL, true},
    {0, "run-for", "TIME", RUN_FOR, "End after this time.", "1:00:00", 0, "rf"},
    {0, "command", "COMMAND", COMMAND, "Run a command each time that a file is closed.", NULL, 0, "rc", true},
    {'u', "run-as", "USER", RUN_AS, "Run the commands as this user.", NULL, 0, NULL, true},
    {0, "log-event", NULL, LOG_EVENT, "Alerts: write an event.", NULL, 0, "el", true},
    {0, "start-set", "NAME", START_SET, "Alerts: start another set.", "@sets", 0, "rdcs", true},
    {0, "task", "COMMAND", TASK, "Alerts: run a command.", NULL, 0, "tn", true},
    {0, "task-arguments", "TEXT", TASK_ARGUMENTS, "Alerts: the arguments of the command of -tn.", NULL, 0, "targ", true},
    {0, "retention", "AGE", RETENTION, "Delete files of the set that are older than AGE, such as 12h, 14d or 8w.", "1d 14d 8w", 0, NULL, true},
    {0, "keep-free", "PERCENT", KEEP_FREE, "Delete the set's oldest files when less than PERCENT of the disk is free.", "5% 10%", 0, NULL, true},
    {0, "command-lines", NULL, COMMAND_LINES, "Record command lines, too, which may contain passwords.", NULL, 0, NULL, true},
    {0, "compress", NULL, COMPRESS, "Compress each .blg to .blg.zst when it is closed.", NULL, 0, NULL, true},
    {0, "hold", "TIME", HOLD, "Alerts: raise one only when the value has been beyond its limit for TIME.", "1:00", 0, NULL, true},
    {0, "hysteresis", "PERCENT", HYSTERESIS, "Alerts: raise the next one only after the value was within its limit by PERCENT of it.", "5 10", 0, NULL, true},
    {0, "pause", "TIME", PAUSE, "Alerts: the shortest time between two alerts of one counter.", "10:00 1:00:00", 0, NULL, true},
    {0},
};
static const struct option_row name_rows[] = {
    {0, "ets", NULL, TRACE, "", NULL, true, "ets"},
    {0, "as", NULL, AT_ONCE, "", NULL, true, "as"},
    {0},
};
static const struct option_row query_rows[] = {
    {'q', "names", NULL, 0, "Print the names of all sets only.", NULL, 0, NULL, .sets = OPTION_FLAG(struct logman, list)},
    {0, "tabs", NULL, 0, "Print name, type and status of each set, with a tab between them, for programs.", NULL, 0, NULL,
     .sets = OPTION_FLAG(struct logman, tabs)},
    {0, "ets", NULL, TRACE, "", NULL, true, "ets"},
    {0},
};
static const struct option_row xml_rows[] = {
    {0, "xml", "FILE", 0, "The file.", "@files", 0, "xml", .sets = OPTION_TEXT(struct logman, xml)},
    {0},
};
static const struct option_row rows[] = {
    {'n', "name", "NAME", 0, "The set's name, also without -n; system:NAME is the system's set.", "@sets", 0, NULL, .sets = OPTION_TEXT(struct logman, name)},
    {0, "config", "FILE", CONFIG, "Read options from a file: a line [si], and in the next line its value.", "@files", 0, "config"},
    {0, "user", NULL, 0, "Use the sets of this user, as user: before the name. Only root needs it, to use other sets than those of the system.", NULL, 0, NULL,
     .sets = OPTION_FLAG(struct logman, own)},
    {'s', "server", "MACHINE", 0, "Only for query: the machine, which can only be this one.", "localhost", 0, NULL, .sets = OPTION_TEXT(struct logman, server)},
    {'y', "yes", NULL, 0, "Overwrite without confirmation.", NULL, 0, NULL, .sets = OPTION_FLAG(struct logman, yes)},
    {0},
};

static const char negations[] =
    "A second dash cancels an option: --a --ow --v --max --cnf --r --rc --u --el --rdcs\n"
    "--tn --targ; of the others, --no-retention, --no-keep-free, --no-command-lines,\n"
    "--no-compress, --no-hold, --no-hysteresis and --no-pause.\n";
static const struct tool commands[] = {
    {.name = "create", .summary = "Make a set that records counters, or watches their limits.",
     .usage = "counter NAME -c PATH... [OPTION]...\nalert NAME -th 'PATH>NUMBER'... [OPTION]...", .rows = set_rows, .more = negations, .id = CREATE},
    {.name = "update", .summary = "Change a set; what no option names stays as it is.",
     .usage = "counter NAME [OPTION]...\nalert NAME [OPTION]...", .rows = set_rows, .more = negations, .id = UPDATE},
    {.name = "delete", .summary = "Delete a set; its captures stay.", .usage = "NAME", .rows = name_rows, .id = DELETE_},
    {.name = "query", .summary = "List the sets, or show one.", .usage = "[NAME]\n-q\n--tabs", .rows = query_rows, .id = QUERY},
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

/* ---- the command line ---- */

static int add_change(struct logman *opts, struct options *options, int id)
{
    LONGLONG time = 0;
    struct change *grown = realloc(opts->changes, (opts->count + 1) * sizeof *grown);
    if (!grown)
        return tool_failed(options->tool->name, "no memory");
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
            return options_complain(options, "%s sets are not supported, only counter and alert",
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

static int take_option(struct logman *opts, struct options *options, int id, bool nested)
{
    if (id == OPTION_ARGUMENT)
        return take_word(opts, options);
    opts->last = 0;
    if (id == CONFIG) {
        struct options inner;
        int wrong = config_read(options, nested, &opts->kept, &inner);
        return wrong ? wrong : take_options(opts, &inner, true);
    }
    if (id == TRACE)
        return options_complain(options, "-ets is not supported: there are no event traces");
    if (id == AT_ONCE) /* start returns at once anyway */
        return 0;
    return id == OPTION_SET ? options_set(options, opts) : add_change(opts, options, id);
}

/* Reads all options. Returns 0, an exit code, or OPTION_SHOWN. */
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

/* Options that set one element of the set's XML; `query` prints these elements, too. */
/* clang-format off */
static const struct setting {
    int id;
    enum { FLAG, TEXT, TIME, QUANTITY, OTHER } type; /* OTHER: see change_other */
    enum { BOTH, COUNTERS, ALERTS } kinds;
    bool of_collector;
    const char *element;
    const char *units; /* QUANTITY: the letters of its units; "": a number without a unit */
    uint64_t most;
    const char *label, *unit; /* printed by `query`; FLAG: `unit` is printed as its value */
} settings[] = {
    {RUN_AS, TEXT, BOTH, false, "UserAccount", NULL, 0, "Run as:", NULL},
    {RUN_FOR, TIME, BOTH, false, "Duration", NULL, 0, "Run for:", " second(s)"},
    {MOST, QUANTITY, BOTH, false, "SegmentMaxSize", "", MOST_NUMBER, "Largest file:", " MiB"},
    {NEW_FILE, FLAG, BOTH, false, "Segment", NULL, 0, "Next file:", "when a file is full or old"},
    {NEW_FILE, TIME, BOTH, false, "SegmentMaxDuration", NULL, 0, "Longest file:", " second(s)"},
    {RETENTION, QUANTITY, COUNTERS, false, "Retention", "smhdw", 1000000, "Retention:", " second(s)"},
    {KEEP_FREE, QUANTITY, COUNTERS, false, "KeepFree", "%", 99, "Keep free:", " %"},
    {COMMAND_LINES, FLAG, COUNTERS, false, "CommandLines", NULL, 0, "Command lines:", "recorded"},
    {COMPRESS, FLAG, COUNTERS, false, "Compress", NULL, 0, "Closed files:", "compressed"},
    {COMMAND, TEXT, BOTH, false, "Task", NULL, 0, "Command:", NULL},
    {SAMPLES, QUANTITY, COUNTERS, true, "SegmentMaxRecords", "", MOST_NUMBER, "Samples:", ""},
    {APPEND, FLAG, BOTH, true, "LogAppend", NULL, 0, "Existing file:", "append"},
    {OVERWRITE, FLAG, BOTH, true, "LogOverwrite", NULL, 0, "Existing file:", "overwrite"},
    {LOG_EVENT, FLAG, ALERTS, true, "EventLog", NULL, 0, "Event:", "yes"},
    {START_SET, TEXT, ALERTS, true, "TriggerDataCollectorSet", NULL, 0, "Starts the set:", NULL},
    {TASK, TEXT, ALERTS, true, "Task", NULL, 0, "Task:", NULL},
    {TASK_ARGUMENTS, TEXT, ALERTS, true, "TaskArguments", NULL, 0, "Task arguments:", NULL},
    {HOLD, TIME, ALERTS, true, "Hold", NULL, 0, "Hold:", " second(s)"},
    {PAUSE, TIME, ALERTS, true, "Pause", NULL, 0, "Pause:", " second(s)"},
    {HYSTERESIS, QUANTITY, ALERTS, true, "Hysteresis", "%", 100, "Hysteresis:", " %"},
    {COUNTER, OTHER, COUNTERS, false, NULL, NULL, 0, NULL, NULL},
    {FORMAT, OTHER, COUNTERS, false, NULL, NULL, 0, NULL, NULL},
    {THRESHOLD, OTHER, ALERTS, false, NULL, NULL, 0, NULL, NULL},
};

/* Options that set several elements: a row for each. `word`: the option's argument; "": no
 * argument; "-": the option is cancelled. */
static const struct effect {
    int id;
    const char *word;
    bool of_collector;
    const char *element, *text;
} effects[] = {
    {FORMAT, "bin", true, "LogFileFormat", "3"},
    {FORMAT, "bin", true, "LogCircular", "0"},
    {FORMAT, "bincirc", true, "LogFileFormat", "3"},
    {FORMAT, "bincirc", true, "LogCircular", "-1"},
    {FORMAT, "csv", true, "LogFileFormat", "0"},
    {FORMAT, "tsv", true, "LogFileFormat", "1"},
    {VERSION, "nnnnnn", true, "FileNameFormat", "1"},
    {VERSION, "nnnnnn", true, "FileNameFormatPattern", "\\_NNNNNN"},
    {VERSION, "mmddhhmm", true, "FileNameFormat", "1"},
    {VERSION, "mmddhhmm", true, "FileNameFormatPattern", "\\_MMddHHmm"},
    {VERSION, "-", true, "FileNameFormat", "0"},
    {REPEAT, "", false, "Days", "127"},
    {REPEAT, "-", false, "Days", "0"},
    {MANUAL, "start", false, "SchedulesEnabled", "0"},
    {MANUAL, "start", false, "StartDate", ""},
    {MANUAL, "start", false, "StartTime", ""},
    {MANUAL, "start", false, "Days", ""},
    {MANUAL, "stop", false, "Days", ""},
    {MANUAL, "stop", false, "Duration", "0"},
    {MANUAL, "stop", false, "End", ""},
};
/* clang-format on */

/* Sets an element of the set, or with `of_collector` the element of all its collectors. */
static void put(struct set *set, bool of_collector, const char *element, const char *text)
{
    for (size_t i = 0; i < (of_collector ? set->count : 1); i++)
        set_put(set, of_collector ? &set->collectors[i] : NULL, element, text);
}

static int take_effects(const struct options *options, struct set *set, int id, const char *word)
{
    bool known = false;
    for (size_t i = 0; i < COUNT(effects); i++)
        if (effects[i].id == id && strcasecmp(effects[i].word, word) == 0) {
            known = true;
            put(set, effects[i].of_collector, effects[i].element, effects[i].text);
        }
    return known ? 0 : options_complain(options, "%s %s is not supported", options->spelled, word);
}

static bool take_seconds(const struct options *options, double *ret)
{
    bool good = pace_parse(options->value, ret);
    if (!good)
        options_complain(options, "'%s' is not a time; use [[hh:]mm:]ss", options->value);
    return good;
}

/* Parses a number and its unit. The unit "%" may be omitted. */
static bool take_quantity(const struct options *options, const struct setting *row, uint64_t *ret)
{
    static const uint64_t factors[] = {1, 60, 3600, 86400, 7 * 86400};
    char *end;
    *ret = strtoull(options->value, &end, 10);
    const char *unit = *end ? strchr(row->units, *end) : strchr("%", *row->units);
    bool good = strchr("0123456789", *options->value) && *ret && *ret <= row->most && unit &&
                (!*end || !end[1]);
    if (good && *row->units == 's')
        *ret *= factors[unit - row->units];
    if (!good)
        options_complain(options, "%s needs a number%s%s up to %llu, not '%s'", options->spelled,
                         *row->units ? " and one of the units " : "", row->units,
                         (unsigned long long)row->most, options->value);
    return good;
}

/* Returns the text for the element that the option sets, to be freed. NULL, after a message: the
 * option's value is wrong. */
static char *take_text(const struct options *options, const struct setting *row)
{
    uint64_t number;
    double seconds;
    if (row->type == FLAG)
        return strdup("-1");
    if (row->type == TEXT)
        return strdup(options->value);
    if (row->type == TIME && !options->value)
        return strdup("0");
    if (row->type == TIME)
        return take_seconds(options, &seconds) ? text_format("%.0f", ceil(seconds)) : NULL;
    return take_quantity(options, row, &number) ? text_format("%llu", (unsigned long long)number)
                                                : NULL;
}

static int take_interval(const struct options *options, struct set *set)
{
    double seconds;
    char whole[32], exact[32] = "";
    if (!take_seconds(options, &seconds))
        return EXIT_USAGE;
    snprintf(whole, sizeof whole, "%.0f", ceil(seconds));
    if (seconds < ceil(seconds))
        snprintf(exact, sizeof exact, "%.15g", seconds);
    put(set, true, "SampleInterval", whole);
    put(set, true, "Interval", exact);
    return 0;
}

/* Removes the extension if it is that of a capture. */
static void cut_extension(char *file)
{
    static const char *const extensions[] = {".blg", ".csv", ".tsv"};
    char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < COUNT(extensions); i++)
        if (strcasecmp(dot, extensions[i]) == 0)
            *dot = 0;
}

/* Splits the path into the set's folder, made absolute, and the file name of its collector. */
static int take_output(const struct options *options, struct set *set)
{
    const char *path;
    if (sheet_take_output(options, &path))
        return EXIT_USAGE;
    FREE_AUTO char *here = *path == '/' ? strdup("") : getcwd(NULL, 0);
    FREE_AUTO char *whole = here ? text_format("%s%s%s", here, *here ? "/" : "", path) : NULL;
    if (!whole)
        return tool_failed(options->tool->name, "%s: %s", path, strerror(errno));
    char *file = strrchr(whole, '/') + 1;
    cut_extension(file);
    if (*file && !set_name_valid(file))
        return options_complain(options, "not the name of a file: %s", path);
    if (*file && set->count > 1)
        return options_complain(options,
                                "%s: each collector of the set has a file of its own; "
                                "name the folder, with a slash at its end",
                                path);
    if (set->count == 1)
        put(set, true, "FileName", file);
    *(file - whole > 1 ? file - 1 : file) = 0;
    put(set, false, "RootPath", whole);
    return 0;
}

/* Adds a counter to opts->counters, in Windows' notation; for an alert with its threshold. */
static int add_counter(struct logman *opts, const struct options *options, const struct set *set,
                       const char *text)
{
    double limit;
    const char *sign = set->kind == SET_ALERT ? text_limit(text, &limit) : text + strlen(text);
    if (!sign)
        return options_complain(options, "not a threshold: %s; use 'PATH>NUMBER' or 'PATH<NUMBER'",
                                text);
    FREE_AUTO char *path = strndup(text, (size_t)(sign - text));
    FREE_AUTO char *windows = path ? counter_path_to_windows(path) : NULL;
    FREE_AUTO char *whole = windows ? text_format("%s%s", windows, sign) : NULL;
    return whole && text_list_add(&opts->counters, whole)
               ? 0
               : options_complain(options, "not the path of a counter: %s", text);
}

static int add_counter_file(struct logman *opts, const struct options *options,
                            const struct set *set)
{
    struct text_list list = {0};
    int wrong = 0;
    if (!text_list_read(&list, options->value))
        wrong = tool_failed(options->tool->name, "%s: %s", options->value, strerror(errno));
    for (size_t i = 0; !wrong && i < list.count; i++)
        wrong = add_counter(opts, options, set, list.texts[i]);
    text_list_done(&list);
    return wrong;
}

static void put_time(struct set *set, const char *element, const char *format, time_t time)
{
    char text[32];
    struct tm parts;
    strftime(text, sizeof text, format, gmtime_r(&time, &parts));
    put(set, false, element, text);
}

static int change_other(struct logman *opts, const struct options *options, struct set *set,
                        const struct change *change)
{
    const char *word = change->value;
    switch (change->id) {
    case INTERVAL:
        return take_interval(options, set);
    case OUTPUT:
        return take_output(options, set);
    case BEGIN:
        put(set, false, "SchedulesEnabled", "-1");
        put_time(set, "StartDate", "%m/%d/%Y", change->time);
        put_time(set, "StartTime", "%H:%M:%S", change->time);
        return 0;
    case END:
        put_time(set, "End", "%Y-%m-%d %H:%M:%S", change->time);
        return 0;
    case MANUAL:
        if (!word && take_effects(options, set, MANUAL, "start"))
            return EXIT_USAGE;
        return take_effects(options, set, MANUAL, word ? word : "stop");
    case COUNTER_FILE:
        return add_counter_file(opts, options, set);
    case COUNTER:
    case THRESHOLD:
        return add_counter(opts, options, set, word);
    default:
        return take_effects(options, set, change->id, word ? word : "");
    }
}

static int change_set(struct logman *opts, const struct options *options, struct set *set,
                      const struct change *change)
{
    bool back = change->id >= OPTION_BACK, found = false;
    int id = change->id - (back ? OPTION_BACK : 0);
    for (size_t i = 0; i < COUNT(settings); i++) {
        const struct setting *row = &settings[i];
        if (row->id != id)
            continue;
        if (row->kinds && (row->kinds == ALERTS) != (set->kind == SET_ALERT))
            return options_complain(options, "%s is only for %s", options->spelled,
                                    row->kinds == ALERTS ? "alerts" : "counters");
        if (row->type == OTHER)
            break;
        FREE_AUTO char *text =
            back ? strdup(row->type == TEXT ? "" : "0") : take_text(options, row);
        if (!text)
            return EXIT_USAGE;
        put(set, row->of_collector, row->element, text);
        found = true;
    }
    if (found)
        return 0;
    return back ? take_effects(options, set, id, "-") : change_other(opts, options, set, change);
}

static const char *collector_fault(const struct set *set, const struct collector *collector)
{
    if (!collector->counters.count)
        return set->kind == SET_ALERT ? "-th is missing: the counters and their limits"
                                      : "-c or -cf is missing: the counters to record";
    if (collector->append && collector->overwrite)
        return "-a and -ow cannot be used together";
    if (set->compress && (collector->append || collector->format != SET_BIN))
        return "--compress is only for -f bin without -a: a compressed file is written once";
    for (const struct collector *other = set->collectors; other < collector; other++)
        if (set->kind == SET_COUNTER &&
            strcmp(set_file_name(set, other), set_file_name(set, collector)) == 0)
            return "two collectors have the same file name (FileName)";
    return collector->format == SET_BINCIRC && (!set->most || set->segment)
               ? "-f bincirc needs -max, the size of its only file, and cannot be used with -cnf"
               : NULL;
}

/* Returns what is wrong with the set as a whole; NULL: nothing. */
static const char *set_fault(const struct set *set)
{
    const char *fault = set->end && set->end <= set->begin && !set->repeat
                            ? "the end (-e) is not after the beginning (-b)"
                            : NULL;
    for (size_t i = 0; !fault && i < set->count; i++)
        fault = collector_fault(set, &set->collectors[i]);
    return fault;
}

static int check_user(const struct options *options, const struct set *set)
{
    const struct passwd *user = set->user ? getpwnam(set->user) : NULL;
    if (set->user && !user)
        return tool_failed(options->tool->name, "-u: there is no such user: %s", set->user);
    if (user && geteuid() != 0 && user->pw_uid != geteuid())
        return options_complain(options, "-u: only root may name another user");
    return 0;
}

/* Sets Duration from our own element End: Windows has only a set's begin and its duration. */
static void put_duration(struct set *set)
{
    const int64_t day = 24 * 3600;
    char text[32];
    FREE_AUTO char *end = set_get(set, NULL, "End");
    int64_t length = set->begin ? set->end - set->begin : 0;
    if (set->repeat)
        length = (length % day + day) % day;
    snprintf(text, sizeof text, "%lld", (long long)length);
    if (end && *end)
        put(set, false, "Duration", text);
}

/* Returns which options do not fit together, or the fault of the changed set; NULL: nothing. */
static const char *options_fault(const struct set *set, const bool given[static END_OF_OPTIONS])
{
    return given[END] && given[RUN_FOR] ? "-e and -rf both say when the set ends; give one of them"
           : given[REPEAT] && !set->begin ? "-r needs -b: the time of day at which the set begins"
           : given[COUNTER] && set->count > 1 ? "the set has several collectors; change their "
                                                "counters by export and import"
           : given[NEW_FILE] && !set->most && !set->new_file ? "-cnf needs a time, or -max"
                                                             : set_fault(set);
}

/* Applies the options. */
static int change_all(struct logman *opts, const struct options *options, struct set *set)
{
    struct options now = *options;
    bool given[END_OF_OPTIONS] = {0};
    char why[SET_WHY];
    for (size_t i = 0; i < opts->count; i++) {
        const struct change *change = &opts->changes[i];
        now.spelled = change->spelled;
        now.value = change->value;
        int wrong = change_set(opts, &now, set, change);
        if (wrong)
            return wrong;
        if (change->id < END_OF_OPTIONS)
            given[change->id] = true;
    }
    given[COUNTER] = opts->counters.count;
    if (given[COUNTER])
        set_put_counters(set, &opts->counters);
    if (given[RUN_FOR])
        put(set, false, "End", "");
    const char *fault = set_read(set, why) ? options_fault(set, given) : why;
    if (fault)
        return options_complain(options, "%s", fault);
    put_duration(set);
    /* without -u, an account of Windows in an imported set is kept unchecked */
    return given[RUN_AS] ? check_user(options, set) : 0;
}

/* ---- the commands ---- */

/* Saves the set as `path`. The group that may read its captures may read where they are, too. */
static int save(const struct logman *opts, struct set *set, const char *path)
{
    int code = set_save(set, opts->own);
    if (!code && path)
        files_share(opts->own, path);
    return code;
}

/* Changes a set, or for `create` fills a new one, and saves it. */
static int change(struct logman *opts, const struct options *options, struct set *set)
{
    FREE_AUTO char *path = set_path(opts->own, opts->name, PLACE_SET);
    if (options->command->id == CREATE && path && access(path, F_OK) == 0)
        return set_complain(opts->name, "exists already; 'logman update' changes it", EXIT_FAILED);
    if (set->kind != opts->kind)
        return set_complain(opts->name, set->kind == SET_ALERT ? "is an alert" : "records counters",
                            EXIT_USAGE);
    int wrong = change_all(opts, options, set);
    if (!wrong)
        wrong = save(opts, set, path);
    if (!wrong && set_is_running(opts->name, opts->own))
        set_complain(opts->name, "is running, and keeps its old settings until it is started again",
                     0);
    return wrong;
}

static int delete_set(const struct logman *opts)
{
    if (set_is_running(opts->name, opts->own))
        return set_complain(opts->name, "is running; 'logman stop' stops it", EXIT_FAILED);
    int code = set_delete(opts->own, opts->name);
    if (!code)
        state_remove(opts->name, opts->own);
    return code;
}

static int import(const struct logman *opts)
{
    FREE_AUTO char *path = set_path(opts->own, opts->name, PLACE_SET);
    struct set *set = NULL;
    bool may = path && output_file_free(tool.name, path, opts->yes);
    int code = may ? set_import(opts->name, opts->xml, &set) : EXIT_FAILED;
    if (!code && set_fault(set))
        code = set_complain(opts->xml, set_fault(set), EXIT_FAILED);
    if (!code)
        code = save(opts, set, path);
    for (size_t i = 0; !code && i < set->count; i++) {
        const char *command = i || !set->command ? set->collectors[i].task : set->command;
        if (command)
            fprintf(stderr, "logman: %s: note: when this set runs, it runs the command %s\n",
                    text_seen(opts->name), text_seen(command));
    }
    set_free(set);
    return code;
}

/* Whether the system and this user both have a set or captures of this name. With OPENPERFLIB_ROOT
 * they have the same folders. */
static bool has_both(const char *name, bool own)
{
    FREE_AUTO char *mine = set_path(own, name, PLACE_SET);
    FREE_AUTO char *set = set_path(!own, name, PLACE_SET);
    FREE_AUTO char *captures = set_path(!own, name, PLACE_CAPTURES);
    return mine && set && captures && strcmp(mine, set) != 0 &&
           (access(set, F_OK) == 0 || access(captures, F_OK) == 0);
}

static int list(const struct logman *opts)
{
    struct text_list names = {0};
    if (!set_list(opts->own, &names))
        return set_complain("query", "no memory, or no home folder", EXIT_FAILED);
    if (!opts->list && !opts->tabs)
        printf("\n%-40s%-30s%s\n%.78s\n", "Data Collector Set", "Type", "Status",
               "--------------------------------------------------------------------------------");
    for (size_t i = 0; i < names.count; i++) {
        struct set *set = NULL;
        if (opts->list) {
            printf("%s\n", text_shown(stdout, names.texts[i]));
            if (has_both(names.texts[i], opts->own))
                printf("%s:%s\n", opts->own ? "system" : "user",
                       text_shown(stdout, names.texts[i]));
        } else if (set_load(opts->own, names.texts[i], &set) == 0) {
            const char *kind = set->kind == SET_ALERT ? "Alert" : "Counter";
            if (opts->tabs)
                printf("%s\t%s\t", set->name, kind); /* a name has no control characters */
            else if (text_cell(stdout, names.texts[i], 39), true)
                printf(" %-30s", kind);
            puts(set_state(set->name, opts->own));
        }
        set_free(set);
    }
    text_list_done(&names);
    return 0;
}

static void print_row(const char *name, const char *value)
{
    printf("%-22s%s\n", name, text_seen(value));
}

static void print_when(const char *name, int64_t time)
{
    char text[SHEET_TIME_SIZE];
    when_print((time + 11644473600) * 10000000, text);
    if (time)
        print_row(name, text);
}

/* Prints the settings of the set (`collector` NULL) or of one of its collectors. */
static void print_settings(const struct set *set, const struct collector *collector)
{
    for (size_t i = 0; i < COUNT(settings); i++) {
        const struct setting *row = &settings[i];
        if (!row->element || row->of_collector != (collector != NULL))
            continue;
        FREE_AUTO char *text = set_get(set, collector, row->element);
        double number = text ? strtod(text, NULL) : 0;
        if (row->type == TEXT && text && *text)
            print_row(row->label, text);
        else if (row->type == FLAG && (number != 0 || (text && strcasecmp(text, "true") == 0)))
            print_row(row->label, row->unit);
        else if (row->type > TEXT && number > 0)
            printf("%-22s%.15g%s\n", row->label, number, row->unit);
    }
}

/* True if the path's counter may be a command line, by its English names. The runner also finds the
 * names of other languages. */
static bool may_be_command_line(const char *path)
{
    const char *counter = strrchr(path, '\\'), *end = strchr(path, '(');
    if (!counter || counter == path)
        return false;
    FREE_AUTO char *before = strndup(path, (size_t)((end && end < counter ? end : counter) - path));
    const char *object = before ? strrchr(before, '\\') : NULL;
    return object && text_match(object + 1, "Process Details") &&
           text_match(counter + 1, "Command Line");
}

static void show_collector(const struct set *set, const struct collector *collector, bool own)
{
    static const char *const formats[] = {"bin", "bincirc", "csv", "tsv"};
    static const char *const versions[] = {"-", "nnnnnn", "mmddhhmm"};
    FREE_AUTO char *path = set_output(set, collector, own);
    printf("\n");
    if (set->count > 1)
        print_row("Collector:", collector->label ? collector->label : "-");
    printf("%-22s%.15g second(s)\n", "Sample interval:", collector->interval);
    if (set->kind == SET_COUNTER) {
        print_row("Output:", path ? path : "-");
        print_row("Format:", formats[collector->format]);
        print_row("Versions:", versions[collector->version]);
    }
    print_settings(set, collector);
    bool leaves_out = false;
    for (size_t i = 0; i < collector->counters.count && !set->command_lines; i++)
        leaves_out |= may_be_command_line(collector->counters.texts[i]);
    if (leaves_out && set->kind == SET_COUNTER)
        print_row("Command lines:",
                  "left out, because they may contain passwords; see --command-lines");
    printf("%s:\n", set->kind == SET_ALERT ? "Limits" : "Counters");
    for (size_t i = 0; i < collector->counters.count; i++)
        printf("    %s\n", text_seen(collector->counters.texts[i]));
}

static int show(const struct set *set, bool own)
{
    printf("\n");
    print_row("Name:", set->name);
    print_row("Type:", set->kind == SET_ALERT ? "Alert" : "Counter");
    print_row("Status:", set_state(set->name, own));
    print_when("Begin:", set->begin);
    print_when("End:", set->end);
    if (set->repeat)
        print_row("Repeat:", "every day");
    print_settings(set, NULL);
    for (size_t i = 0; i < set->count; i++)
        show_collector(set, &set->collectors[i], own);
    set_print_status(set, own);
    return 0;
}

/* Runs one of the commands that read or make the set first. */
static int run_with(struct logman *opts, const struct options *options)
{
    struct set *set = NULL;
    int command = options->command->id, code = EXIT_GOOD;
    if (command != CREATE)
        code = set_load(opts->own, opts->name, &set);
    else if (!(set = set_new(opts->name, opts->kind)))
        code = EXIT_FAILED;
    if (!code)
        code = command == CREATE || command == UPDATE               ? change(opts, options, set)
               : command == QUERY                                   ? show(set, opts->own)
               : command == START                                   ? set_start(set, opts->own)
               : command == STOP                                    ? set_stop(set, opts->own)
               : command == RUN                                     ? set_run(set, opts->own)
               : !output_file_free(tool.name, opts->xml, opts->yes) ? EXIT_FAILED
                                                                    : set_export(set, opts->xml);
    set_free(set);
    return code;
}

static int check_name(struct logman *opts, const struct options *options)
{
    int command = options->command->id;
    bool other;
    if (opts->name)
        opts->name = set_owner(opts->name, &opts->own);
    if (!opts->name && (command == CREATE || command == UPDATE) && !opts->kind_given)
        return options_complain(options, "counter or alert and the set's name are missing");
    if (!opts->name && command != QUERY)
        return options_complain(options, "NAME is missing: the set's name");
    if (opts->name && opts->tabs)
        return options_complain(options, "--tabs lists all sets: leave out %s", opts->name);
    return !opts->name ||
                   (set_name_valid(opts->name) && set_owner(opts->name, &other) == opts->name)
               ? 0
               : options_complain(options,
                                  "%s: not the name of a set: at most %d bytes, without '/', "
                                  "control characters and a dot or an owner at its beginning",
                                  opts->name, SET_NAME_MOST);
}

static int check(struct logman *opts, const struct options *options)
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

static int run(struct logman *opts, const struct options *options)
{
    int command = options->command->id;
    if (last_event_root_refused(tool.name))
        return EXIT_FAILED;
    int code = !opts->name          ? list(opts)
               : command == IMPORT  ? import(opts)
               : command == DELETE_ ? delete_set(opts)
                                    : run_with(opts, options);
    bool quiet = opts->list || opts->tabs || command == RUN ||
                 (command == EXPORT && strcmp(opts->xml, "-") == 0);
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
    bool quiet = argc > 1 && strcmp(argv[1], "--compress-quietly") == 0;
    if (argc > 3 && (quiet || strcmp(argv[1], "--compress") == 0))
        return set_compress(argv[2], argv + 3, quiet);
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
    text_list_done(&opts.counters);
    return code == OPTION_SHOWN ? EXIT_GOOD : code;
}
