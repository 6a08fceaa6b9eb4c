/* SPDX-License-Identifier: MIT */
/*
 * Prints samples of counters as text, one at a time: CSV and TSV as Windows prints them, JSON, JSON
 * lines, and a readable table. Shared by typeperf and relog.
 */
#ifndef OPL_TOOLS_SHEET_H
#define OPL_TOOLS_SHEET_H

#include <pdh.h>
#include <stdio.h>

#include "options.h"

/* The formats for the tables of options and for messages. */
#define SHEET_NAMES "CSV TSV BIN json jsonl table"
#define SHEET_OTHERS "json, jsonl or table"
#define SHEET_HELP "json, one document; jsonl, one document per line; table, for reading"

/* how relog --summary writes a format; SHEET_PDH: not at all, only PDH writes it */
enum sheet_kind { SHEET_PDH, SHEET_COLUMNS, SHEET_ARRAY, SHEET_LINES, SHEET_TABLE, SHEET_KINDS };
struct sheet;
struct sheet_format {
    const char *name; /* value of -f, and extension of a file; case is ignored */
    DWORD capture;    /* PDH_LOG_TYPE_* of a capture, whose header fixes the columns; or 0 */
    char separator;   /* between columns, in a format of captures */
    enum sheet_kind kind;
    bool (*begin)(struct sheet *sheet); /* prints the header; false: no memory; may be NULL */
    bool (*row)(const struct sheet *sheet, LONGLONG time, const double *values);
    const char *end; /* text after the rows */
};
extern const struct sheet_format sheet_formats[]; /* the first is CSV, the default */

/* Initialize with zeros, and set the members marked "to be set". */
struct sheet {
    FILE *out;                         /* output stream, to be set */
    const struct sheet_format *format; /* to be set */
    const char *const *paths;          /* to be set: one for each column, with machine */
    size_t count;                      /* number of paths, to be set */
    /* texts that are shown in place of missing values, one for each column; NULL: there are none */
    char *const *texts;
    size_t top;      /* show only this many columns, those with the largest values; 0: all */
    size_t *order;   /* private: the columns that are shown */
    size_t shown;    /* private */
    size_t samples;  /* how many samples were printed */
    size_t *heads;   /* private: for each column, the offset in head_text of its JSON text */
    char *head_text; /* private */
};

/* Returns the format with this name; NULL: there is none. */
const struct sheet_format *sheet_format_of(const char *name);
/* sheet_take_format takes the value of -f, sheet_take_output that of -o. They return 0, or an exit
 * code after a message. */
int sheet_take_format(const struct options *options, const struct sheet_format **ret);
int sheet_take_output(const struct options *options, const char **ret);
/* Prints the header; false: no memory. If `top` is set, CSV and TSV print the header with the first
 * sample. */
bool sheet_begin(struct sheet *sheet);
/* Sets other columns for the samples that follow, in a format that is not a capture's; false: no
 * memory. The paths belong to the caller until the next call. */
bool sheet_columns(struct sheet *sheet, const char *const *paths, size_t count);
/* Prints one sample at a local time; NAN: no value. False: no memory. */
bool sheet_row(struct sheet *sheet, LONGLONG time, const double *values);
/* Prints the text that ends the rows, and frees the memory. */
void sheet_end(struct sheet *sheet);
/* Flushes the output; false: it cannot be written, and errno is the reason. */
bool sheet_flush(const struct sheet *sheet);

enum { SHEET_TIME_SIZE = 64 };

#endif
