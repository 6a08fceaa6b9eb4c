/* SPDX-License-Identifier: MIT */
/*
 * API of log: one interface for captures of all formats. Reads and writes CSV, TSV and BLG, also a
 * compressed BLG.
 *
 * A column is one counter that was recorded; the list of columns is the catalogue. A sample has one
 * value for each column. Text is UTF-8, times are FILETIMEs in the capture's own local time. A
 * capture is read as a stream: memory does not grow with the file, only with its largest sample.
 *
 * Functions return PDH statuses. log_problem describes damaged or unusual bytes, with file and
 * offset.
 */
#ifndef OPL_LOG_H
#define OPL_LOG_H

#include "base/base.h"
#include <pdh.h>
#include <pdhmsg.h>
#include <stdio.h>

/* the formats, with the values of PDH_LOG_TYPE_* */
enum log_kind { LOG_CSV = 1, LOG_TSV = 2, LOG_BINARY = 8 };

enum log_column_kind {
    LOG_RAW,   /* a raw value */
    LOG_ARRAY, /* the raw values of all instances that existed when the sample was taken */
    LOG_BLOCK, /* a whole PERF_DATA_BLOCK; log_name returns the names for its numbers */
    LOG_COOKED /* a cooked value, as in text files */
};

/* A column and the parts of its path; NULL: the path lacks the part. */
struct log_column {
    /* kind of the column's values; a column with "*" may have another kind in a sample */
    enum log_column_kind kind;
    const char *path;    /* the whole path, with the machine */
    const char *machine; /* the machine's name with its \\ */
    const char *object, *parent, *instance, *counter;
    DWORD index; /* the number after "#" in the path; 0: none */
    /* the counter's type, such as PERF_COUNTER_COUNTER; 0: unknown, as in text files */
    DWORD type;
    LONGLONG time_base;
    LONG scale;    /* default scale, a power of ten */
    bool no_texts; /* a text counter that had a number in a sample */
    bool twice;    /* an earlier column of the same catalogue has the same path */
    /* Writing, of a text counter: the numbers in its blocks, each followed by its name */
    const char *names;
    size_t names_size;
};

struct log_item {
    const char *name; /* "parent/name" or "name"; several items may have the same name */
    LONGLONG first, second;
    DWORD multi;
};

struct log_value {
    enum log_column_kind kind;
    /* status of the value, PDH_CSTATUS_*; PDH_ENTRY_NOT_IN_LOG_FILE: the file lacks the column */
    DWORD status;
    /* used with LOG_RAW; with LOG_ARRAY `raw` has the status and time of all items */
    PDH_RAW_COUNTER raw;
    const struct log_item *items; /* the items of the array; used with LOG_ARRAY */
    size_t count;
    /* the items have the same names in the same order as in the previous sample */
    bool same_names;
    bool like_left;    /* LOG_ARRAY: the array of the column before has the same names */
    const void *block; /* used with LOG_BLOCK; the content was not checked */
    size_t size;
    double number; /* used with LOG_COOKED, if `status` is valid data */
};

struct log_sample {
    LONGLONG time;
    const struct log_value *values; /* the values, one for each of log_columns */
    /* the text of this line in the caption's column; NULL: the capture has no such column */
    const char *text;
    /* The bytes in the file: a line without its newline, or the body of a BLG record. */
    const void *record;
    size_t record_size;
    enum log_kind kind; /* format of the file that the sample is from */
    bool early;         /* the sample is before the range (log_want_early) */
};

struct log_facts {
    enum log_kind kind;  /* format of the first file; of several, that of the first text file */
    const char *name;    /* name of the first file, as the caller gave it */
    const char *machine; /* machine of the first column, with its \\; NULL: none */
    const char *zone;    /* name of the time zone, in English if it is known */
    LONG bias;           /* minutes to add to local time for UTC, when the first sample was taken */
    const void *zone_rule; /* the zone as a TIME_ZONE_INFORMATION, 172 bytes; NULL: not a BLG */
    const char *caption;   /* title of the column for captions (comments); NULL: no such column */
    uint64_t size_bytes;   /* current size of all files */
};

struct log_extent {
    LONGLONG first, last; /* both 0: no samples */
    uint64_t samples;
};

/* Reasons why something in a capture cannot be shown. The first reasons are found when counters are
 * listed, the others when samples are read. */
enum log_loss {
    LOSS_OBJECT,  /* an object in a block whose number has no name */
    LOSS_COUNTER, /* a counter in a block whose number has no name */
    LOSS_TYPE,    /* a text counter that has numbers in place of texts */
    LOSS_FORMULA, /* a counter of another type without a formula: its raw value can be shown */
    LOSS_ENTRY,   /* an entry of the catalogue without object or counter */
    LOSS_TWICE,   /* a path that an earlier column of the same catalogue has */
    LOSS_PATTERN, /* an instance whose name looks like a wildcard */
    LOSS_RECORD,  /* a record of an unknown kind */
    LOSS_BUFFER,  /* a missing buffer, known by its number or by the capture's head */
    LOSS_TIME,    /* a sample whose time is not from 1601 to 9999 */
    LOSS_ORDER,   /* log_merge: a sample that is earlier than the one before it */
    LOSS_NAMES,   /* entries of a name table without a number */
    LOSS_VALUE,   /* a value that is damaged or of an unknown kind */
    LOSS_SURPLUS, /* more values or fields than there are columns */
    LOSS_BLOCK,   /* a block that is damaged, as a whole or in part */
    LOSS_TEXT,    /* a field of a text capture that is not a number */
    LOSS_COMMENT, /* a text in the caption's column */
    LOSS_FILE,    /* a file of a set that cannot be read */
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

/* Opens the files as one source: their columns are merged, and their samples are merged in order of
 * time. "-" is standard input; a pipe is copied to an unnamed temporary file. A single name without
 * a slash that is no file but a set of logman stands for all its captures, the user's before the
 * system's unless "user:" or "system:" is before it; PDH_NO_DATA: there are none. `problem` (may be
 * NULL) receives the message of a failure. PDH_FILE_NOT_FOUND, PDH_ACCESS_DENIED,
 * PDH_LOG_FILE_OPEN_ERROR, PDH_UNKNOWN_LOG_FORMAT, PDH_UNABLE_READ_LOG_HEADER,
 * PDH_BINARY_LOG_CORRUPT, PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS log_open(const char *const *paths, size_t count, struct log **ret,
                    struct buffer *problem);
/* Opens a capture from a descriptor and takes ownership of it, even on failure. `name` is for
 * messages. */
PDH_STATUS log_open_fd(int fd, const char *name, struct log **ret, struct buffer *problem);
/* Opens a capture from a copy of `bytes`, without a file. */
PDH_STATUS log_open_bytes(const void *bytes, size_t size, const char *name, struct log **ret,
                          struct buffer *problem);
/* Finds the folder of the captures that the name of a set stands for, and whether they are this
 * user's own or the system's. False: it is no such name, or there are no captures. */
bool log_captures_folder(const char *name, char *ret, size_t capacity, bool *ret_own);
void log_close(struct log *log); /* does nothing if `log` is NULL */

/* The results of the next functions are valid until log_close. If other counters were appended to
 * the capture, columns are added while samples are read; existing columns keep their numbers. */
const struct log_facts *log_facts(struct log *log);
size_t log_columns(const struct log *log);
/* Finds all columns, except those that a pipe has not delivered yet. */
void log_know_columns(struct log *log);
const struct log_column *log_column(const struct log *log, size_t number);
/* Returns the name of an index, from the names that the capture has for that machine. NULL: none.
 * Valid until the next read. */
const char *log_name(const struct log *log, const char *machine, DWORD index);
/* Sets whether a column is needed; at first all are. A column that is not needed is skipped, and
 * its values have status PDH_NO_DATA. */
void log_want(struct log *log, size_t column, bool wanted);

/* Returns the next sample, which belongs to the log and is valid until the next call.
 * PDH_NO_MORE_DATA: the end; a later call returns samples that were written meanwhile.
 * PDH_BINARY_LOG_CORRUPT: unreadable data; the next call continues after it. After any other status
 * no call succeeds. */
PDH_STATUS log_next(struct log *log, const struct log_sample **ret);
/* Returns the message about the last status, or about an incomplete last record; NULL: no
 * message. */
const char *log_problem(const struct log *log);
PDH_STATUS log_rewind(struct log *log);
/* Returns what could not be shown since the capture was opened or rewound, for the columns that are
 * needed. The caller may add to it. */
struct log_losses *log_losses(struct log *log);
void losses_add(struct log_losses *losses, enum log_loss reason, uint64_t count,
                const char *example, ...) PRINTF_LIKE(4, 5);
void losses_join(struct log_losses *losses, const struct log_losses *more);
/* Appends one line for each reason; nothing if nothing was lost. */
void losses_print(const struct log_losses *losses, struct buffer *ret);
/* Restricts the samples to those from `first` to `last` (0: no limit), and restarts at the first
 * sample of that range. Sections outside of the range are not read if their times are known. */
PDH_STATUS log_set_range(struct log *log, LONGLONG first, LONGLONG last);
/* Sets whether some samples before the range are returned, too, marked `early`: the first rate in
 * the range needs the last sample before the range. */
void log_want_early(struct log *log, bool wanted);
/* Finds all columns, and the first and last time and the number of samples of the whole capture,
 * whatever the range. The position does not change. */
PDH_STATUS log_extent(struct log *log, struct log_extent *ret);

/* ---- skim.c: the needed columns of a set over a long time ---- */
struct log_skim {
    LONGLONG from, to; /* the range, UTC */
    /* about one sample in each interval of this length is wanted; 0: all samples */
    LONGLONG step;
    /* Gets the samples, one file after the other; `utc` is the sample's time. `first`: the one
     * before was of another series of files. False: no more are wanted. */
    bool (*take)(void *context, const struct log_sample *sample, LONGLONG utc, bool first);
    void *context;
};
/* Reads samples of a set's files that have a needed column; other files are not read. With a step,
 * only the beginning of some frames is decoded. A clock that was set back by more than an hour
 * hides samples. PDH_INVALID_ARGUMENT: `log` is not that of a set. */
PDH_STATUS log_skim(struct log *log, const struct log_skim *skim);

/* ---- set.c, log.c ---- */
/* False if files came or went since the set was opened, or it records elsewhere now. */
bool captures_are_current(const struct log *log);

/* From now on, samples of different files are returned as one if their times differ by at most half
 * a second and no needed column has a value in both; of values with exactly the same time and
 * column only the first file's is returned. A sample that is earlier than the one before it is
 * left out. False: the files are of different time zones, and `problem` names two of them. */
bool log_merge(struct log *log, struct buffer *problem);

/* ---- writing: an incomplete last line is removed ---- */
struct log_header {
    enum log_kind kind;
    const char *zone;         /* name of the time zone; NULL: the head has only "(PDH-CSV 4.0)" */
    LONG bias;                /* minutes to add to local time for UTC */
    const char *const *paths; /* CSV and TSV: the paths of the columns */
    size_t count;
    const char *caption; /* CSV and TSV: title of the column for captions; NULL: no such column */
    /* BLG: the zone as a TIME_ZONE_INFORMATION of 172 bytes; NULL: from `zone` and `bias` */
    const void *zone_rule;
    /* BLG: a circular file of about this size, in which new samples replace the oldest; 0: not
     * circular */
    uint64_t most_bytes;
    /* BLG: each flush waits until the samples are on the disk, before the head of their buffer says
     * so: after a power cut the head never covers bytes that were not written */
    bool sync;
    bool terminal; /* CSV and TSV: control characters in the name of the zone are replaced */
};
enum log_create_mode {
    LOG_CREATE_NEW,    /* the file must not exist, else PDH_FILE_ALREADY_EXISTS */
    LOG_CREATE_ALWAYS, /* replaces an existing file */
    /* appends to the file; PDH_UNMATCHED_APPEND_COUNTER: the file has other columns */
    LOG_CREATE_APPEND
};
struct log_writer;
/* Creates or opens the file and writes the head. "-" is standard output. A full disk is
 * ERROR_DISK_FULL; a file that another writer has open is PDH_LOG_FILE_OPEN_ERROR. If the path ends
 * with .zst the BLG is an unnamed file, and is compressed to `path` when it is closed. */
PDH_STATUS log_create(const char *path, enum log_create_mode mode, const struct log_header *header,
                      struct log_writer **ret, struct buffer *problem);
/* CSV and TSV, before the first line: sets other columns than those of log_create. `path` is for
 * messages. */
PDH_STATUS log_set_header(struct log_writer *writer, const char *path,
                          const struct log_header *header, struct buffer *problem);
/* Writes a line with one number for each column; NAN: no value, or a text of `texts`, which is NULL
 * if there are none. `caption` is that of this line; NULL is "". After a failure the file ends with
 * its last complete line, and all further calls fail. */
PDH_STATUS log_write(struct log_writer *writer, LONGLONG time, const double *numbers,
                     const char *const *texts, const char *caption);
/* BLG: sets the columns of the samples that follow; must be called before the first one. `time` is
 * that of the next sample. */
PDH_STATUS log_write_columns(struct log_writer *writer, LONGLONG time,
                             const struct log_column *columns, size_t count);
/* BLG: writes a sample with one raw value, array or block for each column. After a failure the file
 * ends with its last complete sample, and all further calls fail. */
PDH_STATUS log_write_values(struct log_writer *writer, LONGLONG time,
                            const struct log_value *values);
/* Writes what is still in the buffer of 64 KiB. log_write_close does that, too. */
PDH_STATUS log_flush(struct log_writer *writer);
uint64_t log_written_bytes(const struct log_writer *writer);
PDH_STATUS log_write_close(struct log_writer *writer); /* frees the writer in any case */
/* Compresses the BLG `from` to `to`, which is written as a whole or not at all, replaces a file of
 * that name, and has the mode and group of `from`. PDH_UNKNOWN_LOG_FORMAT: it is no BLG;
 * PDH_LOG_FILE_OPEN_ERROR: it is being written. */
PDH_STATUS log_compress(const char *from, const char *to, struct buffer *problem);
bool log_is_zst(const char *path); /* does the path end with .zst? */

/* ---- number.c: numbers as text, equal to printf's but faster; independent of locale and rounding
 * mode ---- */
enum { NUMBER_SIZE = 32, NUMBER_FIXED_SIZE = 320 };
/* Write the number like "%.17g" and like "%f", without NUL; return the length. */
size_t number_shortest17(double number, char *out); /* `out`: NUMBER_SIZE bytes */
size_t number_fixed6(double number, char *out);     /* `out`: NUMBER_FIXED_SIZE bytes */
/* Parses a text that is a number, with optional blanks around it. Returns false if it is not a
 * number. */
bool number_parse(const char *text, size_t size, double *ret);

/* ---- csv.c: makes lines of CSV and TSV, of captures and of what tools print ---- */
/* Lines, and how they are written; every field is in quotes. lines.failed: no memory. */
struct csv {
    char separator;
    bool fixed;        /* numbers are written like "%f"; else like "%.17g" */
    const char *none;  /* stands for a number that is missing */
    const char *quote; /* stands for a quote in a text */
    const char *end;   /* ends a line */
    struct buffer lines;
};
/* Each adds a field and a separator. csv_head: "(PDH-CSV 4.0)" and `zone`; csv_name: a path of a
 * header, as it is, because it is read without escapes; csv_text: other texts, with blanks for
 * control characters; csv_number: NAN is `none`. */
void csv_head(struct csv *csv, const char *zone);
void csv_name(struct csv *csv, const char *name);
void csv_text(struct csv *csv, const char *text);
void csv_number(struct csv *csv, double number);
void csv_time(struct csv *csv, LONGLONG time);
void csv_end(struct csv *csv); /* replaces the last separator by the end of the line */
/* Ends the line, prints all lines and frees them; false: no memory. */
bool csv_print(struct csv *csv, FILE *out);

/* ---- zone.c ---- */
/* Returns the English name for a text like "@tzres.dll,-212"; other texts and unknown numbers are
 * returned unchanged. */
const char *zone_name(const char *stored);
/* Returns Windows' name for this machine's time zone. If Windows does not have the zone, returns
 * the zone's abbreviation; if the zone has none, its place, such as "Asia/Kolkata", copied to
 * `storage`. `utc` is a FILETIME; *ret_bias: minutes to add to local time for UTC at that time. */
enum { ZONE_TEXT_SIZE = 256 };
const char *zone_local(LONGLONG utc, char storage[static ZONE_TEXT_SIZE], LONG *ret_bias);

#endif
