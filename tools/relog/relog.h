/* SPDX-License-Identifier: MIT */
/* What the parts of relog share: what was asked, the captures read, and their columns. */
#ifndef OPL_TOOLS_RELOG_H
#define OPL_TOOLS_RELOG_H

#include "../common/config.h"
#include "../common/counter-path.h"
#include "../common/options.h"
#include "../common/output-file.h"
#include "../common/pace.h"
#include "../common/pdh-words.h"
#include "../common/sheet.h"
#include "../common/text-list.h"

struct relog {
    struct text_list inputs;  /* captures, "-" is standard input */
    struct text_list wanted;  /* paths and patterns; none: all counters */
    struct text_list renames; /* "OLD=NEW" */
    enum sheet_form form;
    bool form_given, append, average, list, yes, follow, merge;
    bool flows; /* --follow of a pipe: its end is the end, and each sample goes out at once */
    unsigned long every; /* keep each n-th sample; 0: all */
    const char *output;
    LONGLONG begin, end;   /* local times; 0: not given */
    struct text_list kept; /* words of files that the texts above point into */
};

/* ---- when.c: local times ---- */
/* "M/D/YYYY [[HH:]MM:]SS[AM|PM]" or "YYYY-MM-DD[ HH:MM:SS]"; false: it is none. */
bool when_parse(const char *text, LONGLONG *ret);
/* Is this the time of a day, to stand behind a date? */
bool when_is_time(const char *text);
/* "1/13/2018 5:13:23", as relog prints it. */
void when_print(LONGLONG time, char text[SHEET_TIME_ROOM]);

/* ---- source.c: captures and the counters of them that are wanted ---- */
struct source {
    PDH_HLOG log;
    PDH_HQUERY query;
    PDH_TIME_INFO extent;
    struct text_list paths; /* as in the capture */
    struct text_list shown; /* renamed */
    PDH_HCOUNTER *handles;  /* one for each path, once added */
    void *seen;             /* the paths, to find them */
    unsigned damaged;       /* places that were passed over */
    size_t missing;         /* asked for and not there: said on stderr */
};
/* Opens the captures and finds the counters; an exit code, on failure it was said. */
int source_open(struct source *source, const struct relog *asked);
/* Makes a query of them, within the times that were asked for. */
int source_add(struct source *source, const struct relog *asked);
void source_close(struct source *source);
/* Is this the end of the capture? Is it damage, with more behind it? */
bool source_ended(PDH_STATUS status);
/* Reports a capture that ends in the middle of a sample, and what of it was not shown; the exit
 * code. */
int source_end(struct source *source);
bool source_goes_on(struct source *source, PDH_STATUS status);
/* What kind of file: "Binary", "CSV", "TSV", or "unknown". */
const char *source_kind(const char *file);

/* ---- report.c: what a person sees; nothing if standard output has the data ---- */
void report_input(const struct relog *asked, const struct source *source);
void report_counters(const struct source *source, FILE *out);
/* Shall it be shown how far it is? On a terminal only, not before a second, and then at most ten
 * times a second: the loop that asks is the fast one. */
bool report_due(const struct relog *asked, const struct source *source);
void report_progress(const struct source *source, LONGLONG time);
struct report {
    LONGLONG first, last;
    unsigned long samples;
};
/* `good`: it ends well. */
void report_output(const struct relog *asked, const struct report *report, bool good);
bool report_wanted(const struct relog *asked);

/* ---- write.c ---- */
int write_output(const struct relog *asked, struct source *source);

/* ---- rows.c: what PDH's own writer does not do: other forms, thinning, joining, following ---- */
int rows_write(const struct relog *asked, struct source *source, struct report *report);

#endif
