/* SPDX-License-Identifier: MIT */
/*
 * Prints samples of counters as text, one at a time: CSV and TSV as Windows prints them, JSON, JSON
 * lines, and a readable table. Shared by typeperf and relog.
 */
#ifndef OPL_TOOLS_SHEET_H
#define OPL_TOOLS_SHEET_H

#include <pdh.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum sheet_format { SHEET_CSV, SHEET_TSV, SHEET_JSON, SHEET_JSONL, SHEET_TABLE, SHEET_UNKNOWN };

/* Initialize with zeros, and set the members marked "to be set". */
struct sheet {
    FILE *out;                /* to be set */
    enum sheet_format format; /* to be set */
    const char *const *paths; /* to be set: one for each column, with machine */
    size_t count;             /* to be set */
    size_t top;               /* only this many columns, with the largest values; 0: all */
    const char *zone;         /* text after "(PDH-CSV 4.0)", with a leading blank; NULL: none */
    const char *missing;      /* what CSV and TSV print for no value */
    bool exact;               /* CSV and TSV: 17 digits instead of six decimals */
    const char *line_end;     /* of CSV and TSV */
    size_t *order;            /* private: the columns that are shown */
    size_t shown;             /* private */
    size_t samples;           /* how many were printed */
    size_t *heads;            /* private: of each column in JSON, its offset in head_text */
    char *head_text, *row;    /* private */
};

/* The format of this name, in any case, or SHEET_UNKNOWN. */
enum sheet_format sheet_format_of(const char *name);
/* Prints the header; false: no memory. With `top`, CSV and TSV print it with the first sample. */
bool sheet_begin(struct sheet *sheet);
/* Prints one sample at a local time; NAN: no value. */
void sheet_row(struct sheet *sheet, LONGLONG time, const double *values);
/* Ends the text, and frees. False: not all of it could be written; errno is the reason. */
bool sheet_end(struct sheet *sheet);
/* Flushes; false: it cannot be written, errno is the reason. */
bool sheet_flush(const struct sheet *sheet);

/* A local time as text: "MM/DD/YYYY HH:MM:SS.mmm", or ISO 8601 "YYYY-MM-DDTHH:MM:SS.mmm". */
enum { SHEET_TIME_SIZE = 64 };
void sheet_time(LONGLONG time, bool iso, char text[SHEET_TIME_SIZE]);

#endif
