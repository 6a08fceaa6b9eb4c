/* SPDX-License-Identifier: MIT */
/* The options of perfmon and of its commands, and the structure that they set. */
#ifndef OPL_TOOLS_PERFMON_OPTION_ROWS_H
#define OPL_TOOLS_PERFMON_OPTION_ROWS_H

#include "../common/options.h"

#include <windef.h>

/* The options, and the output. */
struct perfmon {
    bool json, query, details;
    int64_t events;
    const char **machines; /* names given with --machine */
    size_t machine_count;
    double seconds;  /* between samples */
    LONGLONG at;     /* local time to show, in 100 ns since 1601; 0: now */
    const char *set; /* the set to show at that time; NULL: not given */
    char **args;     /* names of services, or counter paths */
    size_t arg_count;
    int width;
    bool utf8, colours, plain;
    const char *socket; /* of openperflib-serve; NULL: not given */
    bool print;         /* the link to the page is printed, and no browser started */
};

enum { MACHINE = 1, COUNTER_FILE, AT };

/* clang-format off */
static const struct option_row status_rows[] = {
    {'a', "ask", NULL, 0, "Query each provider now, twice, and show whether it answers and how fast.", NULL, 0, .sets = OPTION_FLAG(struct perfmon, query)},
    {'e', "events", "COUNT", 0, "Show the last COUNT events of each provider; default 3, 0 for none.", NULL, 0,
     .sets = OPTION_WHOLE(struct perfmon, events, 0, 1000)},
    {'j', "json", NULL, 0, "Print one JSON document.", NULL, 0, .sets = OPTION_FLAG(struct perfmon, json)},
    {'v', "verbose", NULL, 0, "Show all details of each provider.", NULL, 0, .sets = OPTION_FLAG(struct perfmon, details)},
    {0},
};
static const struct option_row window_rows[] = {
    {'m', "machine", "MACHINE", MACHINE, "Show another machine; several may be given.", NULL, 0},
    {'i', "interval", "SECONDS", 0, "Take a sample every SECONDS; default 1.", NULL, 0, .sets = OPTION_SECONDS(struct perfmon, seconds, 0.05, 3600)},
    {0, "counter-file", "FILE", COUNTER_FILE, "Chart the counters in a file, one in each line.", "@files", 0, "cf"},
    {0, "at", "TIME", AT, "Show what was recorded at TIME: 'yesterday 03:00', 03:00, '3m ago', '2026-11-26 03:00'.", NULL, 0},
    {0, "set", "NAME", 0, "With --at: the set of logman whose captures are shown; default base.", "@sets", 0, .sets = OPTION_TEXT(struct perfmon, set)},
    {'p', "plain", NULL, 0, "For screen readers: print what changes, at most one line per second.", NULL, 0, .sets = OPTION_FLAG(struct perfmon, plain)},
    {0},
};
static const struct option_row open_rows[] = {
    {0, "socket", "PATH", 0, "The server's Unix socket; default your server's, else this machine's.", "@files", 0, .sets = OPTION_TEXT(struct perfmon, socket)},
    {0, "print", NULL, 0, "Print the link, also where a browser could show it.", NULL, 0, .sets = OPTION_FLAG(struct perfmon, print)},
    {0},
};
/* clang-format on */

#endif
