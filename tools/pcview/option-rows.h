/* SPDX-License-Identifier: MIT */
/* The options of pcview, and the structure that they set. */
#ifndef OPL_TOOLS_PCVIEW_OPTION_ROWS_H
#define OPL_TOOLS_PCVIEW_OPTION_ROWS_H

#include "../common/options.h"
#include "../view/view.h"

enum { WANTED_INDICES = 32, MAX_WANTED = 64, SAMPLE_MILLISECONDS = 250 };

/* One OBJECT of the command line: "Process", "230", "Process(bash*)". */
struct requested_object {
    const char *text;
    char title[256];
    const char *instances; /* pattern of instance names; NULL: all */
    uint32_t indices[WANTED_INDICES];
    size_t index_count;
    bool found;
    bool matched; /* an instance was shown */
};

/* Escape sequences, all "" without colours. */
struct style {
    const char *strong, *weak, *title, *good, *warn, *bad, *off;
};

struct pcview {
    FILE *out;
    int width;
    bool terminal, utf8, colours;
    struct style style;
    const char *language;
    const char *blocks[2]; /* the files of --block, the older file first */
    int block_count;
    const char *save;
    const char *machine; /* the machine to query; NULL: this one */
    bool counters, values, explain, hex, json, watch, names_only;
    bool paths;          /* the arguments are counter paths */
    unsigned events;     /* --events: number of events to show */
    const char *seconds; /* seconds between samples; NULL: not given */
    struct requested_object wanted[MAX_WANTED];
    size_t wanted_count;
    struct view_names names;
    LSTATUS names_status;
    struct view_snapshot now, before;
    bool has_before;
};

enum { LANGUAGE = 1, BLOCK, WATCH, EVENTS, INTERVAL };

/* clang-format off */
static const struct option_row pcview_rows[] = {
    {'c', "counters", NULL, 0,
     "Show the counters: indices, size, offset, scale, level, and the parts of the type.", NULL, 0, .sets = OPTION_FLAG(struct pcview, counters)},
    {'v', "values", NULL, 0, "Show the instances and their current values.", NULL, 0, .sets = OPTION_FLAG(struct pcview, values)},
    {'e', "explain", NULL, 0, "Show what each counter means.", NULL, 0, .sets = OPTION_FLAG(struct pcview, explain)},
    {'l', "language", "ID", LANGUAGE,
     "Titles, explanations and units in this language, such as 007 (German); default 009 (English).", "007 009 00A 00C 019", 0},
    {'x', "hex", NULL, 0, "Show the bytes with their fields.", NULL, 0, .sets = OPTION_FLAG(struct pcview, hex)},
    {'j', "json", NULL, 0, "Print one JSON document with everything.", NULL, 0, .sets = OPTION_FLAG(struct pcview, json)},
    {'b', "block", "FILE", BLOCK,
     "Read a saved block instead of querying this system; - is standard input. Given twice, the "
     "first is the older sample.", "@files", 0},
    {'m', "machine", "NAME", 0,
     "Query another machine: a NAME from the registry or the network, or an address such as ssh://HOST.", "localhost", 0,
     .sets = OPTION_TEXT(struct pcview, machine)},
    {'s', "server", "NAME", 0, "The same as -m, as typeperf names it.", "localhost", 0, .sets = OPTION_TEXT(struct pcview, machine)},
    {'o', "save", "FILE", 0, "Write the unchanged block to FILE; - is standard output.",
     "@files", 0, .sets = OPTION_TEXT(struct pcview, save)},
    {'w', "watch", "[SECONDS]", WATCH,
     "Start perfmon, which shows the OBJECT or the machine, with a sample every SECONDS.", NULL, 0},
    {'i', "interval", "SECONDS", INTERVAL, "With --watch: the same as --watch=SECONDS.", NULL, 0},
    {0, "events", "[N]", EVENTS, "Show the last N events (default 20): mistakes of providers, and the consequences.", NULL, 0},
    {0, "names", NULL, 0, "Print the objects' names only, for completions.", NULL, true, .sets = OPTION_FLAG(struct pcview, names_only)},
    {0},
};
/* clang-format on */

#endif
