/* SPDX-License-Identifier: MIT */
/*
 * A performance object as a table: one row per counter, and nothing else has to agree with it.
 *
 *     static const opl_source meminfo = {"proc/meminfo"};
 *     static const opl_counter counters[] = {
 *         {24, 25, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_NOVICE,
 *          OPL_KEY(&meminfo, "MemAvailable", OPL_KIB), .name = "Available Bytes", .help = "..."},
 *     };
 *     static const opl_object memory = {4, 5, "Memory", "...", OPL_COUNTERS(counters)};
 *     static const opl_object *const objects[] = {&memory};
 *     static opl_provider *provider;
 *     DWORD Open(LPWSTR)  { return opl_provider_open(OPL_OBJECTS(objects), 0, 0, &provider); }
 *     DWORD Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
 *                         { return opl_provider_collect(provider, query, data, bytes, types); }
 *     DWORD Close(void)   { opl_provider_close(provider); provider = NULL; return 0; }
 *
 * Sizes, offsets, definitions, base counters, alignment, the query string, `_Total`,
 * ERROR_MORE_DATA and kept files are the engine's work. What this machine's kernel does not offer
 * has no definition: that is decided once, at Open. (D.2, D.6)
 */
#ifndef OPENPERFLIB_OBJECT_H
#define OPENPERFLIB_OBJECT_H

#include <stdbool.h>

#include "winerror.h"
#include "winperf.h"

typedef struct opl_object opl_object;
typedef struct opl_source opl_source;
typedef struct opl_provider opl_provider; /* the engine's state between Open and Close */
typedef struct opl_reading opl_reading;   /* one instance (or the single object) being read */
typedef struct opl_listing opl_listing;   /* the instances of one object being collected */

/* A text file of the kernel. */
struct opl_source {
    /* Below the system root, without a leading slash: "proc/meminfo". A '*' stands for the
     * instance's folder: "proc/(*)/stat" without the parentheses. */
    const char *path;
    /* The first line is one of /proc/PID/stat: its second field is in parentheses and may hold
     * anything. */
    bool stat;
    /* The instances' files are there as long as the instance is, as those of sys/devices are: the
     * files of the first eight instances stay open. */
    bool lasting;
    /* Not read for instances whose word `if_word` of this other source is 0: it would say nothing
     * there (no memory, for a process without any). NULL: always read. */
    const opl_source *if_source;
    unsigned if_word;
};

/* A value's unit as a fraction: file's number * times / parts. */
typedef struct opl_unit {
    int64_t times, parts; /* or one of the OPL_RUNTIME_ numbers */
} opl_unit;
enum {
    OPL_RUNTIME_PAGE = -1, /* bytes of a page */
    OPL_RUNTIME_HZ = -2    /* clock ticks of a second, sysconf(_SC_CLK_TCK) */
};
/* clang-format off */
#define OPL_ONE          {1, 1}
#define OPL_KIB          {1024, 1}
#define OPL_SECTORS      {512, 1}
#define OPL_PAGES        {OPL_RUNTIME_PAGE, 1}        /* pages to bytes */
#define OPL_TICKS        {10000000, OPL_RUNTIME_HZ}   /* clock ticks to 100 ns */
#define OPL_NANOSECONDS  {1, 100}                     /* to 100 ns */
#define OPL_MICROSECONDS {10, 1}                      /* to 100 ns */
#define OPL_MILLISECONDS {10000, 1}                   /* to 100 ns */
#define OPL_TIMES(n)     {n, 1}
#define OPL_PARTS(n)     {1, n}
/* clang-format on */

/* Computes a value. False: it cannot be read for this instance; at Open, for none: the counter is
 * left out. Calls the opl_reading_ functions; keeps nothing. */
typedef bool (*opl_function)(opl_reading *reading, uint64_t *ret);

/* Where a value comes from: KEY, COLUMN or FN; write it with the macros below. {0}: nowhere, the
 * list function gives it with opl_listing_set. */
typedef struct opl_value {
    const opl_source *source;
    const char *key;       /* KEY: one key, or a sum: "syscr + syscw", "pgfault - pgmajfault"; a key
                            * with a question mark, "new?", may be missing */
    unsigned column, plus; /* COLUMN: this field, and this one added (0: none) */
    opl_unit unit;
    opl_function function;
} opl_value;
/* The first number behind the key of a line "key: number ..." or "key number ...". A key that a
 * readable file does not have is 0 for an instance; if no instance has it, the counter is absent.
 */
#define OPL_KEY(file, text, ...)                                                                   \
    {                                                                                              \
        .source = file, .key = text, .unit = __VA_ARGS__                                           \
    }
/* The number-th number behind the key, counted from 1: "cpu" lines of proc/stat. */
#define OPL_KEY_COLUMN(file, text, number, ...)                                                    \
    {                                                                                              \
        .source = file, .key = text, .column = number, .unit = __VA_ARGS__                         \
    }
/* The number-th word, counted from 1 as in proc(5), of the instance's line (see `lines`), or else
 * of the file's first line. Words that are no numbers count too and have the value 0. */
#define OPL_COLUMN(file, number, ...)                                                              \
    {                                                                                              \
        .source = file, .column = number, .unit = __VA_ARGS__                                      \
    }
#define OPL_COLUMNS(file, number, added, ...)                                                      \
    {                                                                                              \
        .source = file, .column = number, .plus = added, .unit = __VA_ARGS__                       \
    }
#define OPL_FN(compute)                                                                            \
    {                                                                                              \
        .function = compute                                                                        \
    }
/* The same for a function that needs `file`: without it there is no such counter, even if there is
 * no instance at Open to try it on. */
#define OPL_FN_OF(file, compute)                                                                   \
    {                                                                                              \
        .source = file, .function = compute                                                        \
    }

/* What `_Total` shows. */
typedef enum opl_total {
    OPL_SUM,  /* the sum of those instances where the value could be read */
    OPL_MEAN, /* their mean */
    OPL_NONE, /* 0: the sum would mean nothing (identifiers, priorities) */
    OPL_NOW   /* the object's own time: an elapsed time of zero seconds, as Windows has it */
} opl_total;

/* One row: one counter. Rows of fraction and average types get their base counter automatically,
 * with the same title, directly behind. */
typedef struct opl_counter {
    DWORD index, help_index; /* absolute, or relative to First Counter and First Help */
    DWORD type;              /* PERF_*: numbers only; texts are written with build.h */
    LONG scale;              /* power of ten for graphs, -7..7 */
    DWORD level;             /* PERF_DETAIL_* */
    opl_value value, base;
    opl_total total;
    const char *name, *help; /* help: sentences with a period */
    const char *where;       /* where the value comes from, for docs/counters.md */
} opl_counter;

/* Instances that are lines of a file. */
typedef struct opl_lines {
    const opl_source *source; /* NULL: no such thing */
    const char *prefix; /* only lines that begin with it and go on; it is no part of the name */
    unsigned name;      /* the word that is the name, counted from 1 */
    unsigned skip;      /* lines to skip at the beginning */
} opl_lines;

struct opl_object {
    DWORD index, help_index;
    const char *name, *help;
    const opl_counter *counters;
    size_t counter_count;
    DWORD default_counter; /* the title index of the counter to show first (if absent: the first) */
    bool clock;            /* its PerfTime is a FILETIME, PerfFreq 10,000,000; else both are 0 */
    bool costly;           /* answers only "Costly" and its own number */
    const opl_object *related; /* asked for this object, the provider answers that one too */

    bool instances;                     /* false: a single object */
    const char *total;                  /* the name of the last instance, "_Total"; NULL: none */
    opl_lines lines;                    /* instances that are lines of a file, or */
    void (*list)(opl_listing *listing); /* a function that adds the instances, or */
    const opl_object *listed_with;      /* the object whose `list` adds these too */
};
#define OPL_COUNTERS(rows) .counters = rows, .counter_count = sizeof(rows) / sizeof((rows)[0])
#define OPL_OBJECTS(objects) objects, sizeof(objects) / sizeof((objects)[0])

/* A provider library exports this under the name opl_tables, so that documents, names and tests are
 * made from the rows without opening it: OPL_EXPORT_TABLES(objects); */
typedef struct opl_table_list {
    const opl_object *const *objects;
    size_t count;
} opl_table_list;
#define OPL_EXPORT_TABLES(objects)                                                                 \
    extern const opl_table_list opl_tables;                                                        \
    __attribute__((visibility("default"))) const opl_table_list opl_tables = {OPL_OBJECTS(objects)}

OPL_BEGIN_DECLS
#pragma GCC visibility push(default)

/* Opens the tables, which must outlive the provider: reads every file once, drops the rows that
 * this machine does not offer, lays out the rest. `first_counter` and `first_help` are added to
 * every index: 0 for the numbers of NT's own objects, the values of the registration for everybody
 * else. ERROR_INVALID_PARAMETER: a row is wrong (OPENPERFLIB_TRACE=1 says which);
 * ERROR_NOT_ENOUGH_MEMORY. */
DWORD opl_provider_open(const opl_object *const *objects, size_t count, DWORD first_counter,
                        DWORD first_help, opl_provider **ret);
/* Answers a query as Collect must: the objects asked for and their relatives; nothing for Foreign
 * and for words nobody knows; ERROR_MORE_DATA with zeros and *data untouched when there is not
 * enough room. The caller serialises the calls for one provider. (C43, C44, C71, C116, C118) */
DWORD opl_provider_collect(opl_provider *provider, LPCWSTR query, LPVOID *data, LPDWORD bytes,
                           LPDWORD types);
/* Closes the files and frees everything; NULL is fine. */
void opl_provider_close(opl_provider *provider);

/* ---- for functions of OPL_FN ---- */
/* Word `column` of the file's first line or of the instance's own line; false: unreadable. */
bool opl_reading_column(opl_reading *reading, const opl_source *source, unsigned column,
                        uint64_t *ret);
/* The first number behind a key; false: unreadable, or there is no such key. */
bool opl_reading_key(opl_reading *reading, const opl_source *source, const char *key,
                     uint64_t *ret);
/* The whole file, NUL-terminated, valid until the next instance is read; NULL: unreadable. */
const char *opl_reading_text(opl_reading *reading, const opl_source *source, size_t *ret_bytes);
/* How many files are in the folder `path` below the system root ('*' as in opl_source), "." and
 * ".." not counted; asks the kernel's own figure where the folder's size is one (Linux 6.2). */
bool opl_reading_folder_count(opl_reading *reading, const char *path, uint64_t *ret);
/* How many processes the kernel has, zombies and kernel threads included: its own figure, which
 * costs no walk over all of them and in a container counts the whole machine. In archived trees,
 * and where proc is something else, the numbered folders are counted. */
bool opl_reading_process_count(opl_reading *reading, uint64_t *ret);
/* The instance's position among the instances, 0 for a single object. */
uint32_t opl_reading_position(const opl_reading *reading);
/* The instance's folder: what stands for '*'; "" for a single object. */
const char *opl_reading_folder(const opl_reading *reading);
/* The moment of this collection as FILETIME; the same for all objects of an answer. */
LONGLONG opl_reading_time(const opl_reading *reading);
/* When the system was started, as FILETIME: determined once and never changed by setting the clock.
 * Below another system root: btime of its proc/stat. 0: unknown. */
LONGLONG opl_boot_time(opl_reading *reading);
/* A number that the list function gave to the instance (opl_listing_note). */
uint64_t opl_reading_note(const opl_reading *reading);

/* ---- for functions that list instances ---- */
/* The reading of things that belong to no instance. */
opl_reading *opl_listing_reading(opl_listing *listing);
/* The listing of an object that is listed with this one; NULL: it was not asked for. */
opl_listing *opl_listing_of(opl_listing *listing, const opl_object *object);
/* Adds an instance that has no files: every value is 0 until set. The name is copied. */
void opl_listing_add(opl_listing *listing, const char *name, size_t name_bytes);
/* Adds an instance whose files are read and whose rows are computed now. `folder` stands for '*'.
 * An empty name (0 bytes) is replaced by the name in parentheses, if a source has one. False: it is
 * gone (its first file does not exist any more) and nothing was added. */
bool opl_listing_read(opl_listing *listing, const char *folder, const char *name,
                      size_t name_bytes);
/* Like opl_listing_read, with a number for the functions of its rows. */
bool opl_listing_read_note(opl_listing *listing, const char *folder, const char *name,
                           size_t name_bytes, uint64_t note);
/* Sets a value of the last instance, by the row's index; nothing happens if the row is absent. */
void opl_listing_set(opl_listing *listing, DWORD index, uint64_t value);
/* The value, as read, of word `column` of a source of the last instance that was read; 0: none. */
uint64_t opl_listing_column(opl_listing *listing, const opl_source *source, unsigned column);
/* Gives the last instance a parent: a position among the instances of `parent`. */
void opl_listing_parent(opl_listing *listing, const opl_object *parent, uint32_t position);
/* Takes the last instance back. */
void opl_listing_withdraw(opl_listing *listing);
/* How many instances there are so far: the position of the next one. */
uint32_t opl_listing_count(const opl_listing *listing);
/* The numbers among the names in a folder below the system root, in the folder's order, as an array
 * that stays until the next call with this `level` (0 or 1). False: the folder cannot be read. */
bool opl_listing_numbers(opl_listing *listing, const char *path, unsigned level,
                         const uint32_t **ret, size_t *ret_count);

#pragma GCC visibility pop
OPL_END_DECLS

#endif
