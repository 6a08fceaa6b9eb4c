/* SPDX-License-Identifier: MIT */
/*
 * A performance object as a table: one row per counter, and nothing else has to agree with it. This
 * is a whole provider, for the service Demo:
 *
 *     static uint64_t visitors;
 *     static const opl_source meminfo = {"proc/meminfo"};
 *     static const opl_counter counters[] = {
 *         {.index = 2, .help_index = 2, .type = PERF_COUNTER_LARGE_RAWCOUNT,
 *          .level = PERF_DETAIL_NOVICE, .value = OPL_VARIABLE(visitors),
 *          .name = "Visitors", .help = "Who came."},
 *         {4, 4, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_NOVICE,
 *          OPL_KEY(&meminfo, "MemAvailable", OPL_KIB), .name = "Free Bytes", .help = "..."},
 *     };
 *     static const opl_object demo = {0, 0, "Demo", "...", OPL_COUNTERS(counters)};
 *     static const opl_object *const objects[] = {&demo};
 *     OPL_PROVIDER("Demo", objects);
 *
 * (C++20 wants all members of a row named, as in the first one, or none; older C++ does not mind.)
 * The indices are offsets from the service's First Counter and First Help, which lodctr wrote; the
 * objects of NT have their own numbers, see OPL_PROVIDER_NT. `openperflib-tables` prints the files
 * for lodctr from the rows.
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
     * instance's folder: "proc/(*)/stat" without the parentheses. "proc/net/..." is that of the
     * network namespace in which the asking thread is at the moment. */
    const char *path;
    /* The first line is one of /proc/PID/stat: its second field is in parentheses and may hold
     * anything. */
    bool stat;
    /* The instances' files are there as long as the instance is, as those of sys/devices are: the
     * files of the first eight instances stay open. */
    bool lasting;
    /* Lines come in pairs, as those of proc/net/snmp: names, then numbers, both behind the same
     * word. The key "Tcp.InSegs" is the number below InSegs in the lines that begin with "Tcp:". */
    bool pairs;
    /* Not read for instances whose word `if_word` of this other source is 0: it would say nothing
     * there (no memory, for a process without any). NULL: always read. */
    const opl_source *if_source;
    unsigned if_word;
    /* The kernel tells whoever polls it that it changed, as proc/self/mountinfo does: it is read
     * again only then. */
    bool watched;
    /* An instance's file that may be longer than a page and then comes in several pieces, as
     * proc/PID/maps does. (Other instances' files end at the first short piece.) */
    bool pieces;
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

/* A file system's room, in bytes. */
typedef struct opl_space {
    uint64_t size;      /* all that there is */
    uint64_t free;      /* not in use, part of it perhaps kept for the system */
    uint64_t available; /* what programs without rights can still write */
} opl_space;

/* A file system that may never answer, and what it said. */
typedef struct opl_place {
    const char *path;
    bool known;
    opl_space space;
} opl_place;

/* Computes a value. False: it cannot be read for this instance; at Open, for none: the counter is
 * left out. Calls the opl_reading_ functions; keeps nothing. */
typedef bool (*opl_function)(opl_reading *reading, uint64_t *ret);

/* Where a value comes from: KEY, COLUMN, VARIABLE, FIELD or FN; write it with the macros below.
 * {0}: nowhere, the list function gives it with opl_listing_set. */
typedef struct opl_value {
    const opl_source *source;
    const char *key;       /* KEY: one key, or a sum: "syscr + syscw", "pgfault - pgmajfault"; a key
                            * with a question mark, "new?", may be missing */
    unsigned column, plus; /* COLUMN: this field, and this one added (0: none) */
    opl_unit unit;
    opl_function function;
    const void *variable; /* VARIABLE: where it is */
    size_t offset;        /* FIELD: its place in the instance's thing */
    size_t size;          /* VARIABLE and FIELD, in bytes */
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
/* What stands in a variable of the provider: an unsigned integer of 1, 2, 4 or 8 bytes; for
 * PERF_COUNTER_TEXT an array of char with UTF-8. It is read at each query: another thread that
 * changes it changes it as a whole. */
#define OPL_VARIABLE(name)                                                                         \
    {                                                                                              \
        .variable = &(name), .size = sizeof(name)                                                  \
    }
/* The same for a member of the structure that the list function gave with opl_listing_item. */
#define OPL_FIELD(structure, member)                                                               \
    {                                                                                              \
        .offset = offsetof(structure, member), .size = sizeof(((structure *)0)->member)            \
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
    DWORD type;              /* PERF_*; a text has the value OPL_VARIABLE or OPL_FIELD */
    LONG scale;              /* power of ten for graphs, -7..7 */
    DWORD level;             /* PERF_DETAIL_* */
    opl_value value, base;
    opl_total total;
    const char *name, *help; /* help: sentences with a period */
    const char *where;       /* where the value comes from, for docs/counters */
    /* OPL_FIELD: of instances whose item is known (opl_listing_read_known) the value is this
     * member, a number, and `value` is not asked: the same fact, had in another way. */
    opl_value item;
    /* The row is there only where this file has this word at Open, as
     * sys/fs/cgroup/cgroup.subtree_control has those of the controllers that are on: of an object
     * that is not listed at Open nothing else tells. NULL: always. */
    const opl_source *if_source;
    const char *if_word;
} opl_counter;

/* Binary records that the kernel writes: a BPF iterator that an administrator has pinned (see
 * openperflib-bpf(1)). A record begins with two 32-bit numbers: the version, and its length in
 * bytes, a multiple of 8. */
typedef struct opl_records {
    const char *name; /* the file in OPL_RECORDS_FOLDER */
    DWORD version;
    DWORD least; /* bytes that each record has at least */
} opl_records;
#define OPL_RECORDS_FOLDER "sys/fs/bpf/openperflib"

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
    /* Answers only "Costly" and its own number, at a lowered priority of the asking thread; `list`
     * is not called at Open, so that opening costs nothing. */
    bool costly;
    const opl_object *related; /* asked for this object, the provider answers that one too */

    bool instances;                     /* false: a single object */
    const char *total;                  /* the name of the last instance, "_Total"; NULL: none */
    opl_lines lines;                    /* instances that are lines of a file, or */
    void (*list)(opl_listing *listing); /* a function that adds the instances, or */
    const opl_object *listed_with;      /* the object whose `list` adds these too */
    /* A file or folder below the system root that must be readable at Open: without it there is no
     * such object, not even one without instances. NULL: nothing is needed. */
    const char *needs;
    /* While nothing is listed there is no such object, not even its `total`: the mean of nothing
     * would look like a measurement. */
    bool only_with_instances;
    /* A counter that cannot be read for one of the instances is not in that answer, as one is that
     * was denied for lack of rights. false: it is 0 there, and `total` leaves the instance out. */
    bool known_only;
    /* An object before this one that has rows with the same indices and is listed at Open, as a
     * costly one is not: what is absent there is absent here. NULL: none. */
    const opl_object *rows_as;
};
#define OPL_COUNTERS(rows) .counters = rows, .counter_count = sizeof(rows) / sizeof((rows)[0])
#define OPL_OBJECTS(objects) objects, sizeof(objects) / sizeof((objects)[0])

/* A provider library exports this under the name opl_tables, so that documents, names, lodctr's
 * files and tests are made from the rows without opening it. The macros below make it. */
typedef struct opl_table_list {
    const opl_object *const *objects;
    size_t count;
    const char *service;       /* the key below Services; NULL: the numbers are absolute */
    const char *procedures[3]; /* the names of Open, Collect and Close */
} opl_table_list;

/* What the three functions of a provider work on; its maker fills the first two, the rest is the
 * engine's. */
typedef struct opl_entry {
    const opl_table_list *tables;
    void (*begin)(void); /* called by Open before the tables are opened; NULL: nothing to do */
    opl_provider *provider;
    unsigned opened; /* remote service processes open once per connection (D.2) */
} opl_entry;

/* Defines the provider's functions Open, Collect and Close, opl_tables, and DllRegisterServer,
 * which registers them for the service of this name: a text, "Demo". */
#define OPL_PROVIDER(service, objects) OPL_PROVIDER_AS(service, objects, NULL, Open, Collect, Close)
/* The same for functions that must have certain names, and with a function that is called before
 * the tables are opened (or NULL). */
#define OPL_PROVIDER_AS(service, objects, begin, open, collect, close)                             \
    OPL_DEFINE_PROVIDER(service, objects, begin, open, collect, close);                            \
    OPL_EXPORTED HRESULT DllRegisterServer(void);                                                  \
    OPL_EXPORTED HRESULT DllUnregisterServer(void);                                                \
    HRESULT DllRegisterServer(void)                                                                \
    {                                                                                              \
        return opl_entry_register(&opl_this_entry);                                                \
    }                                                                                              \
    HRESULT DllUnregisterServer(void)                                                              \
    {                                                                                              \
        return opl_entry_unregister(&opl_this_entry);                                              \
    }                                                                                              \
    extern const opl_table_list opl_tables
/* The same for objects whose numbers are NT's own, or the project's: absolute. */
#define OPL_PROVIDER_NT(objects, begin, open, collect, close)                                      \
    OPL_DEFINE_PROVIDER(NULL, objects, begin, open, collect, close)

#define OPL_EXPORTED_DATA __attribute__((visibility("default")))
#ifdef __cplusplus
#define OPL_EXPORTED extern "C" OPL_EXPORTED_DATA
#else
#define OPL_EXPORTED OPL_EXPORTED_DATA
#endif
/* clang-format off */
#define OPL_DEFINE_PROVIDER(service, objects, begin, open, collect, close)                         \
    OPL_EXPORTED DWORD APIENTRY open(LPWSTR devices);                                              \
    OPL_EXPORTED DWORD APIENTRY collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types); \
    OPL_EXPORTED DWORD APIENTRY close(void);                                                       \
    extern OPL_EXPORTED_DATA const opl_table_list opl_tables;                                      \
    const opl_table_list opl_tables = {OPL_OBJECTS(objects), service, {#open, #collect, #close}};  \
    static opl_entry opl_this_entry = {&opl_tables, begin, NULL, 0};                               \
    DWORD APIENTRY open(LPWSTR devices)                                                            \
    {                                                                                              \
        return opl_entry_open(&opl_this_entry, devices);                                           \
    }                                                                                              \
    DWORD APIENTRY collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)               \
    {                                                                                              \
        return opl_entry_collect(&opl_this_entry, query, data, bytes, types);                      \
    }                                                                                              \
    DWORD APIENTRY close(void)                                                                     \
    {                                                                                              \
        return opl_entry_close(&opl_this_entry);                                                   \
    }                                                                                              \
    extern const opl_table_list opl_tables
/* clang-format on */

OPL_BEGIN_DECLS
#pragma GCC visibility push(default)

/* Opens the tables, which must outlive the provider: reads every file once, drops the rows that
 * this machine does not offer, lays out the rest. `first_counter` and `first_help` are added to
 * every index: 0 for the numbers of NT's own objects, the values of the registration for everybody
 * else. ERROR_INVALID_PARAMETER: a row is wrong, event 4004 says which and why;
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

/* ---- for the macros OPL_PROVIDER... ---- */
/* First Counter and First Help of a service, as lodctr wrote them; both 0 for NULL. `last_offset`
 * is the highest offset that will be added. Not registered: ERROR_FILE_NOT_FOUND; registered for
 * fewer counters: ERROR_INVALID_DATA. Each is an event that says what to do. (C67, C100, C101) */
DWORD opl_service_numbers(const char *service, DWORD last_offset, DWORD *ret_first_counter,
                          DWORD *ret_first_help);
/* Opens the tables with the service's numbers; a further Open is only counted. `devices` are the
 * strings of Linkage\Export, which tables have no use for. (C41) */
DWORD opl_entry_open(opl_entry *entry, LPCWSTR devices);
DWORD opl_entry_collect(opl_entry *entry, LPCWSTR query, LPVOID *data, LPDWORD bytes,
                        LPDWORD types);
/* The last Close closes. Always ERROR_SUCCESS. */
DWORD opl_entry_close(opl_entry *entry);
/* Writes Library (the file that `entry` lies in), Open, Collect and Close of the service's
 * Performance key, or removes them, and the key if nothing else is left. */
HRESULT opl_entry_register(const opl_entry *entry);
HRESULT opl_entry_unregister(const opl_entry *entry);

/* ---- for functions of OPL_FN ---- */
/* Word `column` of the file's first line or of the instance's own line; false: unreadable. */
bool opl_reading_column(opl_reading *reading, const opl_source *source, unsigned column,
                        uint64_t *ret);
/* The first number behind a key; false: unreadable, or there is no such key. */
bool opl_reading_key(opl_reading *reading, const opl_source *source, const char *key,
                     uint64_t *ret);
/* The whole file, NUL-terminated, valid until the next instance is read; NULL: unreadable. */
const char *opl_reading_text(opl_reading *reading, const opl_source *source, size_t *ret_bytes);
/* A number of the network namespace that the asking thread is in, for those who remember something
 * about its interfaces; 0 in archived trees, which have but one. The folder sys/class/net does not
 * follow the thread: it shows the namespace in which sys was mounted. */
uint64_t opl_reading_namespace(opl_reading *reading);
/* A number that is another one when the file was read anew since it was last asked for: of a
 * watched file, when it changed. 0: unreadable. */
uint64_t opl_reading_version(opl_reading *reading, const opl_source *source);
/* How many files are in the folder `path` below the system root ('*' as in opl_source), "." and
 * ".." not counted; asks the kernel's own figure where the folder's size is one (Linux 6.2). */
bool opl_reading_folder_count(opl_reading *reading, const char *path, uint64_t *ret);
/* How many processes the kernel has, zombies and kernel threads included: its own figure, which
 * costs no walk over all of them and in a container counts the whole machine. In archived trees,
 * and where proc is something else, the numbered folders are counted. */
bool opl_reading_process_count(opl_reading *reading, uint64_t *ret);
/* The beginning of a small file below the system root ('*' as in opl_source), NUL-terminated; for
 * what is found out once and not read at each query. False: unreadable, and `room` is empty. */
bool opl_reading_file(opl_reading *reading, const char *path, char *room, size_t bytes);
/* Memory that stays until Close, for what a provider knows from the collection before: 16 pieces,
 * `slot` 0..15, for all of its objects together. It grows to `bytes`, new bytes are 0, and it may
 * move when it grows. NULL: no memory; the collection will fail. */
void *opl_reading_memory(opl_reading *reading, unsigned slot, size_t bytes);
/* How much is free in the file system that is mounted at `path` (as the kernel writes it, without
 * escapes). Below another system root: what its file "statfs" says. False: nobody can tell. */
bool opl_reading_space(opl_reading *reading, const char *path, opl_space *ret);
/* The same for file systems that other machines or programs answer for, and that may never answer:
 * a process of our own asks, every 10 seconds at most. A place that is new is waited for, 200 ms
 * for all of them together; later what was told last is taken, if it is not older than a minute. To
 * be called once per collection, with all such places. */
void opl_reading_far_spaces(opl_reading *reading, opl_place *places, size_t count);
/* How many files and folders the file system that is mounted at `path` can have, and how many more
 * it can take. Below another system root: what its file "statfs.inodes" says. False: it makes room
 * as it likes, or nobody can tell. */
bool opl_reading_inodes(opl_reading *reading, const char *path, uint64_t *ret_all,
                        uint64_t *ret_free);
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
/* What the list function gave with opl_listing_item; NULL: nothing. */
const void *opl_reading_item(const opl_reading *reading);

/* ---- for functions that list instances ---- */
/* Copies what the system calls a thing, so that it can be an instance's name: the characters that
 * have a meaning in a counter's path become others, \ / # * and control characters an underline,
 * ( ) square brackets. `is_path` is for the paths of files and of mounted file systems, which keep
 * their slashes: nothing is split at a slash in front. What has no room is cut off, no character in
 * two. `to` ends with 0 and may be `name`. Returns the bytes without that 0. (D.6) */
size_t opl_harmless_name(char *to, size_t room, const char *name, size_t bytes, bool is_path);
/* Copies a word of the kernel's tables of mounts and swap areas as what it stands for: there
 * blanks, line ends and backslashes are three octal digits, "\040". What has no room is cut off.
 * `to` ends with 0 and may be `word`. Returns the bytes without that 0. */
size_t opl_octal_name(char *to, size_t room, const char *word, size_t bytes);
/* The line behind the one at `text`; the NUL at the end. */
const char *opl_next_line(const char *text);
/* The reading of things that belong to no instance. */
opl_reading *opl_listing_reading(opl_listing *listing);
/* The reading of an instance that may be added next, or not: `folder` stands for '*'. */
opl_reading *opl_listing_at(opl_listing *listing, const char *folder);
/* The listing of an object that is listed with this one; NULL: it was not asked for. */
opl_listing *opl_listing_of(opl_listing *listing, const opl_object *object);
/* Adds an instance that has no files: every value is 0 until set. The name is copied. */
void opl_listing_add(opl_listing *listing, const char *name, size_t name_bytes);
/* Adds an instance that is a thing in the provider's memory, and computes its rows now: what
 * OPL_FIELD reads. `item` must stay until Collect returns; the name is copied. */
void opl_listing_item(opl_listing *listing, const char *name, const void *item);
/* Adds an instance whose files are read and whose rows are computed now. `folder` stands for '*'.
 * An empty name (0 bytes) is replaced by the name in parentheses, if a source has one, as
 * opl_harmless_name makes it. False: it is gone (its first file does not exist any more) and
 * nothing was added. */
bool opl_listing_read(opl_listing *listing, const char *folder, const char *name,
                      size_t name_bytes);
/* Like opl_listing_read, with a number for the functions of its rows. */
bool opl_listing_read_note(opl_listing *listing, const char *folder, const char *name,
                           size_t name_bytes, uint64_t note);
/* Adds an instance that is a line of a file, and computes its rows now: the words of `source` are
 * those of `line`, which lies in the text of that source. `folder` stands for '*'. Unlike the lines
 * of opl_object, it may have another name than the file gives it. */
void opl_listing_line(opl_listing *listing, const opl_source *source, const char *line,
                      const char *folder, const char *name);
/* Both in one: an instance with files and with a thing in the provider's memory for OPL_FIELD. NULL
 * as `item`: what the fields would hold cannot be read for this instance. */
bool opl_listing_read_item(opl_listing *listing, const char *folder, const char *name,
                           size_t name_bytes, const void *item);
/* Like opl_listing_read_note for an instance of which `item` says what the rows' members `item`
 * need; the files are read for the other rows only. `item` must stay until this returns. */
bool opl_listing_read_known(opl_listing *listing, const char *folder, const char *name,
                            size_t name_bytes, uint64_t note, const void *item);
/* The records of this moment, valid until the next collection; every length is right. False: there
 * are none (not pinned, no right to read them, not root's, of another version, of another pid
 * namespace than proc, switched off by the registry, another system root); the trace says why. Read
 * the files instead. */
bool opl_listing_records(opl_listing *listing, const opl_records *is, const void **ret,
                         size_t *ret_bytes);
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
/* The folders, and links, in a folder below the system root, and with `depth` more than 1 those in
 * the folders, and so on: paths relative to it, as a multi-string ordered by name, a folder before
 * what is in it. It stays until the next call. NULL: the folder cannot be read. */
const char *opl_listing_folders(opl_listing *listing, const char *path, unsigned depth);
/* The numbers among the names in a folder below the system root, in the folder's order, as an array
 * that stays until the next call with this `level` (0 or 1). False: the folder cannot be read. */
bool opl_listing_numbers(opl_listing *listing, const char *path, unsigned level,
                         const uint32_t **ret, size_t *ret_count);

#pragma GCC visibility pop
OPL_END_DECLS

#endif
