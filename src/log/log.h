/* SPDX-License-Identifier: MIT */
/*
 * API of log: captures, one model for all formats. Read: CSV, TSV, BLG; written: CSV, TSV.
 *
 * A column of the catalogue is what was recorded; a sample has one value for each column. Text is
 * UTF-8, times are FILETIMEs in the capture's own local time. A capture is read as a stream: memory
 * does not grow with the file, and nothing is allocated after the largest sample.
 *
 * Statuses are PDH's. Damaged or unusual bytes are described as text, with file and offset, by
 * log_problem.
 */
#ifndef OPL_LOG_H
#define OPL_LOG_H

#include "base/base.h"
#include <pdh.h>
#include <pdhmsg.h>

enum log_kind { LOG_CSV = 1, LOG_TSV = 2, LOG_BINARY = 8 }; /* the numbers of PDH_LOG_TYPE_* */

enum log_column_kind {
    LOG_RAW,   /* one raw value */
    LOG_ARRAY, /* raw values of all instances at that time */
    LOG_BLOCK, /* a whole PERF_DATA_BLOCK; its names by log_name */
    LOG_COOKED /* a number as it was printed */
};

/* Absent parts are NULL. */
struct log_column {
    enum log_column_kind kind; /* an instance or counter "*" can become another kind in a sample */
    const char *path;          /* whole, with machine */
    const char *machine;       /* with its \\ */
    const char *object, *parent, *instance, *counter;
    DWORD index; /* the n of "#n", 0: none */
    DWORD type;  /* PERF_*; 0 if unknown, as in text */
    LONGLONG time_base;
    LONG scale; /* default scale, a power of ten */
    bool twice; /* an earlier column of the same catalogue has its path */
};

struct log_item {
    const char *name; /* "parent/name" or "name"; not unique */
    LONGLONG first, second;
    DWORD multi;
};

struct log_value {
    enum log_column_kind kind;
    DWORD status;        /* PDH_CSTATUS_*; PDH_ENTRY_NOT_IN_LOG_FILE: this file lacks the column */
    PDH_RAW_COUNTER raw; /* LOG_RAW; of LOG_ARRAY the status and time that all items share */
    const struct log_item *items; /* LOG_ARRAY */
    size_t count;
    bool same_names;   /* count and names equal those of the previous sample, in the same order */
    const void *block; /* LOG_BLOCK: untrusted, to be checked */
    size_t size;
    double number; /* LOG_COOKED, if the status is good */
};

struct log_sample {
    LONGLONG time;
    const struct log_value *values; /* one for each column that log_columns returned last */
    /* text of the column for a caption, "" if it is empty; NULL: there is no such column */
    const char *text;
    /* As in its file: the line without its end, or the body of a BLG's record. */
    const void *record;
    size_t record_size;
    enum log_kind kind; /* format of the sample's file */
    bool early;         /* the sample is before the range: see log_want_early */
};

struct log_facts {
    enum log_kind kind;
    const char *name;    /* name of the first file, as it was opened */
    const char *machine; /* machine of the first column, with \\, or NULL */
    const char *zone;    /* name of the time zone, in English if it is known */
    LONG bias;           /* minutes to add to local time for UTC, at the first sample */
    const char *caption; /* NULL: there is no column for a caption */
    uint64_t size_bytes; /* size of all files, now */
};

struct log_extent {
    LONGLONG first, last; /* 0: no samples */
    uint64_t samples;
};

/* What a capture contains but cannot be shown, by reason. The first ones are for lists of counters,
 * the others are found while samples are read. */
enum log_loss {
    LOSS_OBJECT,  /* an object of a block whose number has no name */
    LOSS_COUNTER, /* a counter of a block whose number has no name */
    LOSS_TYPE,    /* a counter of a type without a formula */
    LOSS_ENTRY,   /* an entry of the catalogue without object or counter */
    LOSS_TWICE,   /* a path that an earlier column of the same catalogue has */
    LOSS_PATTERN, /* an instance whose name looks like a pattern */
    LOSS_RECORD,  /* a record of an unknown kind */
    LOSS_NAMES,   /* entries of a name table */
    LOSS_VALUE,   /* a value that is too short, or of an unknown kind */
    LOSS_SURPLUS, /* values or fields without a column */
    LOSS_BLOCK,   /* a block that is damaged, as a whole or in part */
    LOSS_TEXT,    /* a field of a text capture that is not a number */
    LOSS_COMMENT, /* a text in a caption's column */
    LOSSES
};
struct log_losses {
    struct log_lost {
        uint64_t count;
        char example[96]; /* the first thing that was lost */
    } list[LOSSES];
    bool any;
};

struct log;

/* Opens the files as one source: their samples are merged in order of time, their columns are
 * merged. "-" is standard input; a stream without positions is copied to an unnamed temporary file.
 * `problem`, which may be NULL, gets the message. PDH_FILE_NOT_FOUND, PDH_ACCESS_DENIED,
 * PDH_LOG_FILE_OPEN_ERROR, PDH_UNKNOWN_LOG_FORMAT, PDH_UNABLE_READ_LOG_HEADER,
 * PDH_BINARY_LOG_CORRUPT, PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS log_open(const char *const *paths, size_t count, struct log **ret,
                    struct buffer *problem);
/* Takes ownership of the descriptor; `name` is for messages. */
PDH_STATUS log_open_fd(int fd, const char *name, struct log **ret, struct buffer *problem);
/* Opens a capture from a copy of `bytes`, without a file. */
PDH_STATUS log_open_bytes(const void *bytes, size_t size, const char *name, struct log **ret,
                          struct buffer *problem);
void log_close(struct log *log); /* NULL: does nothing */

/* Valid until log_close; more columns may follow when the second catalogue of an appended capture
 * is reached, the old ones keep their number. */
const struct log_facts *log_facts(struct log *log);
size_t log_columns(const struct log *log);
/* Makes all columns known, except those that are still to come through a pipe. */
void log_know_columns(struct log *log);
const struct log_column *log_column(const struct log *log, size_t number);
/* Name of an index in the capture's tables of that machine, NULL: none. Valid until the next
 * read. */
const char *log_name(const struct log *log, const char *machine, DWORD index);
/* Skips columns that are not needed: their values have status PDH_NO_DATA. */
void log_want(struct log *log, size_t column, bool wanted); /* initially: all */

/* The next sample; its memory belongs to the log and is valid until the next call. PDH_NO_MORE_DATA
 * at the end: a later call returns what was written meanwhile. PDH_BINARY_LOG_CORRUPT: unreadable
 * data; the next call continues after it. Any other status is final. */
PDH_STATUS log_next(struct log *log, const struct log_sample **ret);
/* The message for the last status, or for an end in the middle of a record; NULL: none. */
const char *log_problem(const struct log *log);
PDH_STATUS log_rewind(struct log *log);
/* What was skipped since the capture was opened or rewound, in the columns that are needed. The
 * caller may add to it. */
struct log_losses *log_losses(struct log *log);
void losses_add(struct log_losses *losses, enum log_loss reason, uint64_t count,
                const char *example, ...) PRINTF_LIKE(4, 5);
void losses_join(struct log_losses *losses, const struct log_losses *more);
/* Appends a line for each reason; nothing if nothing was lost. */
void losses_print(const struct log_losses *losses, struct buffer *ret);
/* From now on only samples in [first, last] are returned, beginning with the first of them; 0: no
 * bound. Sections far outside are not read: their times are known. */
PDH_STATUS log_set_range(struct log *log, LONGLONG first, LONGLONG last);
/* Some samples before the range are returned too, marked: the last of them is the start of the
 * first rate. */
void log_want_early(struct log *log, bool wanted);
/* Reads to the end independently of the range, and keeps the position. All columns are known
 * then. */
PDH_STATUS log_extent(struct log *log, struct log_extent *ret);

/* ---- writing: each line is written completely; an incomplete one is removed ---- */
struct log_header {
    enum log_kind kind;       /* LOG_CSV, LOG_TSV */
    const char *zone;         /* NULL: only "(PDH-CSV 4.0)", as on a console */
    LONG bias;                /* minutes */
    const char *const *paths; /* one for each column */
    size_t count;
    const char *caption; /* NULL: no such column */
};
enum log_create_mode {
    LOG_CREATE_NEW,    /* PDH_FILE_ALREADY_EXISTS */
    LOG_CREATE_ALWAYS, /* the old content is lost */
    LOG_CREATE_APPEND  /* continues the file; PDH_UNMATCHED_APPEND_COUNTER */
};
struct log_writer;
/* "-" is standard output. A full disk is ERROR_DISK_FULL. */
PDH_STATUS log_create(const char *path, enum log_create_mode mode, const struct log_header *header,
                      struct log_writer **ret, struct buffer *problem);
/* One number for each column, NAN: no value. `text` is the caption's column, NULL is "". After a
 * failure the file ends with its last complete line, and each further call fails. */
PDH_STATUS log_write(struct log_writer *writer, LONGLONG time, const double *numbers,
                     const char *text);
/* Lines are buffered up to 64 KiB; this writes them. So does log_write_close. */
PDH_STATUS log_flush(struct log_writer *writer);
uint64_t log_written_bytes(const struct log_writer *writer);
PDH_STATUS log_write_close(struct log_writer *writer); /* frees the writer in any case */

/* ---- number.c: printf's text, faster; independent of locale and rounding mode ---- */
enum { NUMBER_SIZE = 32, NUMBER_FIXED_SIZE = 320 };
/* Like "%.17g" (also used by opl_capture_number) and "%f"; returns the length, no NUL is
 * written. */
size_t number_shortest17(double number, char *out); /* NUMBER_SIZE */
size_t number_fixed6(double number, char *out);     /* NUMBER_FIXED_SIZE */
/* The whole of [text, text + size), with optional blanks around it. */
bool number_parse(const char *text, size_t size, double *ret);

/* ---- zone.c ---- */
/* English name of "@tzres.dll,-212"; other texts and unknown numbers unchanged. */
const char *zone_name(const char *stored);
/* This machine's zone as Windows names it, and the minutes to add for UTC at a UTC FILETIME. For a
 * zone that is not in Windows' list and has no abbreviation ("+0530") it is the place, in
 * `storage`. */
enum { ZONE_TEXT_SIZE = 256 };
const char *zone_local(LONGLONG utc, char storage[static ZONE_TEXT_SIZE], LONG *ret_bias);

#endif
