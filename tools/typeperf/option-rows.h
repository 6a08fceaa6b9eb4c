/* SPDX-License-Identifier: MIT */
/* The options of typeperf, and the structure that they set. */
#ifndef OPL_TOOLS_TYPEPERF_OPTION_ROWS_H
#define OPL_TOOLS_TYPEPERF_OPTION_ROWS_H

#include "../common/options.h"
#include "../common/sheet.h"
#include "../common/text-list.h"

struct typeperf {
    struct text_list args; /* counters; with -q, objects */
    const struct sheet_format *format;
    double interval; /* interval in seconds; 0: none was given */
    unsigned long samples, top;
    const char *output, *server;
    bool list, list_instances, yes, explain, names;
    struct text_list kept; /* strings from files of options; the texts above point to them */
};

enum { FORMAT = 1, COUNTER_FILE, INTERVAL, LIST, COUNT, OUTPUT, CONFIG, SERVER, TOP };

/* clang-format off */
static const struct option_row typeperf_rows[] = {
    {'f', "format", "FORMAT", FORMAT, "CSV (the default), TSV or BIN (.blg) as on Windows; " SHEET_HELP ".", SHEET_NAMES, 0, NULL},
    {0, "counter-file", "FILE", COUNTER_FILE, "Read counters from a file, one in each line; - is standard input.", "@files", 0, "cf"},
    {0, "interval", "TIME", INTERVAL,
     "Time between samples, [[hh:]mm:]ss; 0.1 is a tenth of a second. Default 1 second; the first sample is taken after 0.25 s.",
     "0.1 1 10 1:00", 0, "si"},
    {'o', "output", "FILE", OUTPUT,
     "Write to a file: CSV, TSV and BIN files are captures, with the time zone and all digits of the values, for relog and Windows.", "@files", 0, NULL},
    {'q', "query", "[OBJECT]", LIST, "List the counters of all objects, or of the given ones.", "@objects", 0, NULL},
    {0, "query-instances", NULL, 0, "Like -q, with a line for each instance.", "@objects", 0, "qx", .sets = OPTION_FLAG(struct typeperf, list_instances)},
    {0, "samples", "N", COUNT, "End after N samples. Default: at Ctrl-C.", NULL, 0, "sc"},
    {0, "config", "FILE", CONFIG, "Read options from a file: a line [si], and in the next line its value.", "@files", 0, "config"},
    {'s', "server", "MACHINE", SERVER,
     "The machine for counters and objects that name no machine: a NAME, or an address such as ssh://HOST.", "localhost", 0, NULL},
    {'y', "yes", NULL, 0, "Overwrite an existing file without confirmation.", NULL, 0, NULL, .sets = OPTION_FLAG(struct typeperf, yes)},
    {0, "top", "N", TOP,
     "Show only the N largest values of each sample; in CSV and TSV the columns are fixed by the first "
    "sample. With --top, * does not match _Total.", "5 10 20", 0, NULL},
    {0, "explain", NULL, 0, "Explain the counters instead of reading them.", NULL, 0, NULL, .sets = OPTION_FLAG(struct typeperf, explain)},
    {0, "names", NULL, 0, "Print only the list of -q, for completions.", NULL, true, NULL, .sets = OPTION_FLAG(struct typeperf, names)},
    {0},
};
/* clang-format on */

#endif
