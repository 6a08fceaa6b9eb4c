/* SPDX-License-Identifier: MIT */
/* The options of relog, and the structure that they set. */
#ifndef OPL_TOOLS_RELOG_OPTION_ROWS_H
#define OPL_TOOLS_RELOG_OPTION_ROWS_H

#include "../common/options.h"
#include "../common/sheet.h"
#include "../common/text-list.h"
#include "../common/when.h"

struct relog {
    struct text_list inputs;           /* captures to read; "-" is standard input */
    struct text_list wanted;           /* paths and patterns; if there are none: all counters */
    struct text_list renames;          /* "OLD=NEW" */
    const struct sheet_format *format; /* NULL: chosen by the output's extension */
    bool binary;                       /* the output is a BLG */
    bool append, average, list, yes, follow, merge, summary;
    bool flows;          /* --follow of a pipe: stops at its end; each sample is written at once */
    unsigned long every; /* keep each n-th sample; 0: all */
    unsigned long top;   /* of what a wildcard matches, keep the n largest; 0: all */
    const char *output;
    LONGLONG begin, end;   /* local times; 0: none was given */
    struct text_list kept; /* strings from files of options; the texts above point to them */
};

enum { COUNTER = 1, COUNTER_FILE, FORMAT, EVERY, OUTPUT, BEGIN, END, CONFIG, RENAME, TOP };

/* clang-format off */
static const struct option_row relog_rows[] = {
    {'c', "counter", "PATH", COUNTER,
     "Only these counters; * and ? match any names. More paths may follow; an argument without backslash or :: is a file.", NULL, 0, NULL},
    {0, "counter-file", "FILE", COUNTER_FILE, "Read paths from a file, one in each line.", "@files", 0, "cf"},
    {'f', "format", "FORMAT", FORMAT,
     "CSV, TSV or BIN (.blg, .blg.zst) as on Windows; " SHEET_HELP ". Default: by the extension of the "
     "output's name, else BIN.", SHEET_NAMES, 0, NULL},
    {'t', "every", "N", EVERY, "Keep every N-th sample only; rates are calculated between the kept samples.", "2 5 10 60", 0, NULL},
    {0, "average", NULL, 0, "With -t: print the mean since the previous line instead of the kept sample's own value.", NULL, 0, NULL,
     .sets = OPTION_FLAG(struct relog, average)},
    {'o', "output", "FILE", OUTPUT, "Write to a file; - is standard output. Without it, the input is only described.", "@files", 0, NULL},
    {'b', "begin", "TIME", BEGIN, "Begin at TIME, a local time as in the capture: M/D/YYYY [[HH:]MM:]SS, or YYYY-MM-DD HH:MM:SS.", NULL, 0, NULL},
    {'e', "end", "TIME", END, "End at TIME, in the same format.", NULL, 0, NULL},
    {'a', "append", NULL, 0, "Append to a capture with the same counters.", NULL, 0, NULL, .sets = OPTION_FLAG(struct relog, append)},
    {0, "config", "FILE", CONFIG, "Read options from a file: a line [t], and in the next line its value.", "@files", 0, "config"},
    {'i', NULL, "FILE", CONFIG, "The same as -config.", "@files", true, NULL},
    {'q', "query", NULL, 0, "List the counters; with -o to a file.", NULL, 0, NULL, .sets = OPTION_FLAG(struct relog, list)},
    {'y', "yes", NULL, 0, "Overwrite an existing file without confirmation.", NULL, 0, NULL, .sets = OPTION_FLAG(struct relog, yes)},
    {0, "follow", NULL, 0, "At the end of the capture wait for more samples, until Ctrl-C; from a pipe, until its writer closes it.", NULL, 0, NULL,
     .sets = OPTION_FLAG(struct relog, follow)},
    {0, "merge", NULL, 0,
     "With several captures: join samples within half a second into one, if no two have a value of the same counter.", NULL, 0, NULL,
     .sets = OPTION_FLAG(struct relog, merge)},
    {0, "top", "N", TOP,
     "For each counter, keep only the N instances with the largest averages of those that * matches, without _Total. "
     "Paths may follow, as after -c.", "5 10 20", 0, NULL},
    {0, "summary", NULL, 0,
     "Print minimum, average, 95th percentile, maximum, last value and course of each counter; of two captures what differs, "
     "the largest relative difference first.", NULL, 0, NULL, .sets = OPTION_FLAG(struct relog, summary)},
    {0, "rename", "OLD=NEW", RENAME, "Replace OLD by NEW in the paths, such as '\\\\web1=\\\\web2'.", NULL, 0, NULL},
    {0},
};
/* clang-format on */

#endif
