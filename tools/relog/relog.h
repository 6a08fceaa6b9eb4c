/* SPDX-License-Identifier: MIT */
/* Shared by the parts of relog: the options, the captures read, and their columns. */
#ifndef OPL_TOOLS_RELOG_H
#define OPL_TOOLS_RELOG_H

#include "../common/config.h"
#include "../common/counter-path.h"
#include "../common/output-file.h"
#include "../common/pace.h"
#include "../common/pdh-message.h"
#include "option-rows.h"

/* ---- source.c: captures and the selected counters ---- */
struct input_log {
    PDH_HLOG log;
    PDH_HQUERY query;
    PDH_TIME_INFO extent;
    DWORD expansion;        /* flags for expanding paths: in a BLG wildcards stay wildcards */
    struct text_list paths; /* paths as in the capture */
    struct text_list shown; /* the same paths, renamed */
    size_t named;           /* --top: the first of the paths, which no wildcard matched */
    PDH_HCOUNTER *handles;  /* one for each path, once the counters are added */
    void *seen;             /* search tree of the paths */
    unsigned damaged;       /* damaged places that were skipped */
    size_t missing;         /* counters that were requested but do not exist; reported on stderr */
    /* the samples are read again: what they lack was reported at the first reading */
    bool silent;
};
/* Opens the captures and finds the counters. Returns an exit code; failures are reported. */
int source_open(struct input_log *source, const struct relog *opts);
/* Creates the query of the counters and times; if there is one already, replaces it. */
int source_add(struct input_log *source, const struct relog *opts);
void source_close(struct input_log *source);
/* Reads all samples, calls `take` (may be NULL) after each one, and reports what cannot be shown of
 * them. Returns an exit code. */
typedef void source_take(void *context, LONGLONG time);
int source_read(struct input_log *source, const struct relog *opts, source_take *take,
                void *context);
/* Does this status mean the end of the capture? */
bool source_ended(PDH_STATUS status);
/* Reports a sample that the capture's end cuts off, and data that was not shown. Returns an exit
 * code. */
int source_end(struct input_log *source);
bool source_goes_on(struct input_log *source, PDH_STATUS status);
/* Returns the kind of the file: "Binary", "CSV", "TSV", or "unknown". */
const char *source_kind(const char *file);

/* ---- report.c: text for the user; nothing if standard output has the data ---- */
void report_input(const struct relog *opts, const struct input_log *source);
void report_counters(const struct input_log *source, FILE *out);
/* Is it time to show the progress? It is shown only on a terminal, not in the first second, and
 * then at most ten times a second, because the loop of samples must be fast. */
bool report_due(const struct relog *opts, const struct input_log *source);
void report_progress(const struct input_log *source, LONGLONG time);
struct relog_report {
    LONGLONG first, last;
    unsigned long samples;
    struct relog_order {
        unsigned long read, backward, place; /* `place`: number of the first backward sample */
        LONGLONG newest, least; /* time of the last sample that was read; the earliest time */
        LONGLONG from, to;      /* the times before and after the first step backwards */
    } order;
};
/* Updates `order` with the time of the sample that was read last. */
void report_time(struct relog_order *order, LONGLONG time);
/* Prints how many samples are earlier than the one before them; nothing if there are none. */
void report_order(const struct relog *opts, const struct relog_order *order);
/* Prints the block about the output. `good`: the conversion was successful. */
void report_output(const struct relog *opts, const struct relog_report *report, bool good);
bool report_wanted(const struct relog *opts);
void report_no_samples(void);

/* ---- write.c ---- */
int write_output(const struct relog *opts, struct input_log *source);

/* ---- rows.c: what PDH's own writer cannot do: other formats, -t, --merge, --follow ---- */
int rows_write(const struct relog *opts, struct input_log *source, struct relog_report *report);
/* Returns the cooked value at the newest sample; NAN: there is none. */
double value_now(PDH_HCOUNTER counter);

/* ---- top.c ---- */
/* Reads the capture, and keeps only the counters that --top asks for. */
int top_choose(const struct relog *opts, struct input_log *source);

/* ---- summary.c ---- */
int summary_write(const struct relog *opts);

#endif
