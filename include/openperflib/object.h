/* SPDX-License-Identifier: MIT */
/*
 * A performance object as a table: one row per counter, and no other place to keep consistent with
 * it. This is a complete provider, for the service Demo:
 *
 *     static uint64_t visitors;
 *     static const opl_source meminfo = {"proc/meminfo"};
 *     static const opl_counter counters[] = {
 *         {.index = 2, .help_index = 2, .type = PERF_COUNTER_LARGE_RAWCOUNT,
 *          .level = PERF_DETAIL_NOVICE, .value = OPL_VARIABLE(visitors),
 *          .name = "Visitors", .help = "Number of visitors."},
 *         {4, 4, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_NOVICE,
 *          OPL_KEY(&meminfo, "MemAvailable", OPL_KIB), .name = "Free Bytes", .help = "..."},
 *     };
 *     static const opl_object demo = {0, 0, "Demo", "...", OPL_COUNTERS(counters)};
 *     static const opl_object *const objects[] = {&demo};
 *     OPL_PROVIDER("Demo", objects);
 *
 * (C++20 requires that all members of a row are named, as in the first one, or none; older C++ does
 * not.) The indices are offsets from the service's First Counter and First Help, which lodctr
 * wrote; NT's own objects have fixed numbers, see OPL_PROVIDER_NT. `openperflib-tables` prints the
 * files for lodctr from the rows.
 *
 * Sizes, offsets, definitions, base counters, alignment, the query string, `_Total`,
 * ERROR_MORE_DATA and open files are handled by the engine. A counter that this machine's kernel
 * does not have is left out of the answers; this is decided once, at Open.
 * (docs/windows/providers.md#d2, docs/windows/providers.md#d6)
 */
#ifndef OPENPERFLIB_OBJECT_H
#define OPENPERFLIB_OBJECT_H

#include <openperflib/format.h>

/* The interface between a provider library and openperflib has version 1; the name of a library's
 * tables, opl_tables_1, shows its version. The interface can grow in two ways that keep built
 * libraries usable: a reserved member gets a meaning, or opl_source, opl_counter, opl_object and
 * opl_table_list get new members at the end; the tables have the sizes with which the library was
 * built. In new members 0 always means "as before". A member that is not 0 but that this
 * openperflib does not know is refused, with event 4004, because its row would have a false value.
 * opl_unit, opl_value and opl_lines are part of other structures and never change. */
typedef struct opl_object opl_object;
typedef struct opl_source opl_source;
typedef struct opl_reading opl_reading; /* one instance (or the single object) being read */
typedef struct opl_listing opl_listing; /* the instances of one object being collected */

/* A source of values: a text file of the kernel. */
struct opl_source {
    /* Below the system root, without a leading slash: "proc/meminfo". A '*' as the
     * name of a folder stands for the folder of the instance, as in "proc", '*', "stat", joined by
     * slashes. "proc/net/..." is that of the
     * calling thread's current network namespace. */
    const char *path;
    /* The first line has the format of /proc/PID/stat: its second field is in parentheses and
     * may contain any characters. */
    bool stat;
    /* The instances' files exist as long as the instance, like those of sys/devices: the files
     * of the first eight instances stay open. */
    bool persistent;
    /* Lines come in pairs, as those of proc/net/snmp: names, then numbers, both after the same
     * word. The key "Tcp.InSegs" is the number below InSegs in the lines that begin with "Tcp:". */
    bool pairs;
    /* Not read for instances whose word `if_word` of this other source is 0, because it would
     * have no data (a process without memory). NULL: always read. */
    const opl_source *if_source;
    unsigned if_word;
    /* The file supports poll for changes, as proc/self/mountinfo does, and is read again only
     * after a change. */
    bool watched;
    /* An instance's file that may be longer than a page and then comes in several pieces, as
     * proc/PID/maps does. (Other instances' files end at the first short piece.) */
    bool pieces;
    uintptr_t reserved[4]; /* must be 0 */
};

/* The conversion of a unit: value = number in the file * `times` / `parts`. For a text,
 * OPL_TIMES(n) is the number of UTF-16 units of its value with the NUL, by default as many as its
 * variable has bytes. */
typedef struct opl_unit {
    int64_t times, parts; /* each a number, or one of OPL_RUNTIME_* */
} opl_unit;
enum {
    OPL_RUNTIME_PAGE = -1, /* bytes in a page */
    OPL_RUNTIME_HZ = -2    /* clock ticks per second, sysconf(_SC_CLK_TCK) */
};
/* clang-format off */
#define OPL_ONE          {1, 1}
#define OPL_KIB          {1024, 1}
#define OPL_SECTORS      {512, 1}
#define OPL_PAGES        {OPL_RUNTIME_PAGE, 1}        /* pages to bytes */
#define OPL_TICKS        {10000000, OPL_RUNTIME_HZ}   /* clock ticks to 100 ns */
#define OPL_NANOSECONDS  {1, 100}                     /* nanoseconds to 100 ns */
#define OPL_MICROSECONDS {10, 1}                      /* microseconds to 100 ns */
#define OPL_MILLISECONDS {10000, 1}                   /* milliseconds to 100 ns */
#define OPL_TIMES(n)     {n, 1}
#define OPL_PARTS(n)     {1, n}
/* clang-format on */

/* Computes a value. False: it cannot be read for this instance; if it can be read for no instance
 * at Open, the counter is omitted. The function calls the opl_reading_ functions and must not keep
 * their results. */
typedef bool (*opl_function)(opl_reading *reading, uint64_t *ret);

/* The source of a value: KEY, COLUMN, VARIABLE, FIELD or FN; written with the macros below. {0}:
 * the list function sets it with opl_listing_set. This structure never changes. */
typedef struct opl_value {
    const opl_source *source;
    const char *key;       /* KEY: one key, or a sum of up to four: "syscr + syscw", "pgfault -
                            * pgmajfault"; a key with a question mark, "new?", may be missing */
    unsigned column, plus; /* COLUMN: field `column`, to which field `plus` is added (0: none) */
    opl_unit unit;
    opl_function function;
    const void *variable; /* VARIABLE: the variable's address */
    size_t offset;        /* FIELD: the member's offset in the instance's item */
    size_t size;          /* VARIABLE and FIELD, in bytes */
} opl_value;
/* The first number after the key of a line "key: number ..." or "key number ...". A key that is
 * missing in a readable file is 0 for an instance; if no instance has it, the counter is absent. */
#define OPL_KEY(file, text, ...)                                                                   \
    {                                                                                              \
        .source = file, .key = text, .unit = __VA_ARGS__                                           \
    }
/* The number-th number after the key, counted from 1: "cpu" lines of proc/stat. */
#define OPL_KEY_COLUMN(file, text, number, ...)                                                    \
    {                                                                                              \
        .source = file, .key = text, .column = number, .unit = __VA_ARGS__                         \
    }
/* The number-th word, counted from 1 as in proc(5), of the instance's line (see `lines`), or else
 * of the file's first line. Words that are not numbers are counted too and have the value 0. */
#define OPL_COLUMN(file, number, ...)                                                              \
    {                                                                                              \
        .source = file, .column = number, .unit = __VA_ARGS__                                      \
    }
/* The sum of two columns: the number-th and the added-th. */
#define OPL_COLUMNS(file, number, added, ...)                                                      \
    {                                                                                              \
        .source = file, .column = number, .plus = added, .unit = __VA_ARGS__                       \
    }
#define OPL_FN(compute)                                                                            \
    {                                                                                              \
        .function = compute                                                                        \
    }
/* Like OPL_FN, for a function that needs `file`: without the file the counter is absent, even if
 * there is no instance at Open with which the function could be tested. */
#define OPL_FN_OF(file, compute)                                                                   \
    {                                                                                              \
        .source = file, .function = compute                                                        \
    }
/* The value of a variable of the provider: an unsigned integer of 1, 2, 4 or 8 bytes; for
 * PERF_COUNTER_TEXT an array of char with UTF-8. The variable is read at each query: another thread
 * must change it atomically. */
#define OPL_VARIABLE(name)                                                                         \
    {                                                                                              \
        .variable = &(name), .size = sizeof(name)                                                  \
    }
/* The value of a member of the structure that the list function passed to opl_listing_item; types
 * as for OPL_VARIABLE. */
#define OPL_FIELD(structure, member)                                                               \
    {                                                                                              \
        .offset = offsetof(structure, member), .size = sizeof(((structure *)0)->member)            \
    }

/* The value for `_Total`. */
typedef enum opl_total {
    OPL_SUM,  /* the sum over the instances whose value could be read */
    OPL_MEAN, /* the mean of these values */
    OPL_NONE, /* 0: a sum has no meaning (identifiers, priorities) */
    OPL_NOW   /* the time of the collection: an elapsed time of 0 seconds, as on Windows */
} opl_total;

/* One row: one counter. Rows of fraction and average types get their base counter automatically,
 * with the same title, as the next definition. */
typedef struct opl_counter {
    uint32_t index, help_index; /* absolute, or relative to First Counter and First Help */
    uint32_t type;              /* PERF_*; a text has the value OPL_VARIABLE or OPL_FIELD */
    int32_t scale;              /* power of ten for graphs, -7..7 */
    uint32_t level;             /* PERF_DETAIL_* */
    opl_value value, base;
    opl_total total;
    const char *name, *help; /* help: sentences with a period */
    const char *where;       /* the source of the value, for docs/counters */
    /* An OPL_FIELD with the same data from another source. For an instance that
     * opl_listing_read_known added, the value is this member of the instance's item (a number), and
     * `value` is not read. {0}: none. */
    opl_value item;
    /* The row exists only if this file contains this word at Open: for example
     * sys/fs/cgroup/cgroup.subtree_control has the names of the enabled controllers. For objects
     * that are not listed at Open there is no other way to know. NULL: the row always exists. */
    const opl_source *if_source;
    const char *if_word;
    uintptr_t reserved[4]; /* must be 0 */
} opl_counter;

/* Instances that are lines of a file. This structure never changes. */
typedef struct opl_lines {
    const opl_source *source; /* the file; NULL: the instances are no lines */
    /* only lines that begin with this text and have more after it; the name does not include it */
    const char *prefix;
    unsigned name; /* position of the word that is the instance's name, counted from 1 */
    unsigned skip; /* number of lines to skip at the beginning */
} opl_lines;

struct opl_object {
    uint32_t index, help_index;
    const char *name, *help;
    const opl_counter *counters;
    size_t counter_count;
    uint32_t
        default_counter; /* the title index of the counter to show first (if absent: the first) */
    /* true: PerfTime of the object is a FILETIME, and PerfFreq 10,000,000; else both are 0 */
    bool clock;
    /* The object answers only queries for "Costly" and for its own number, at a lowered priority of
     * the calling thread; `list` is not called at Open, so that opening is cheap. */
    bool costly;
    const opl_object *related; /* an object that a query for this object also returns */

    bool instances;                     /* false: the object never has instances */
    const char *total;                  /* the name of the last instance, "_Total"; NULL: none */
    opl_lines lines;                    /* instances that are lines of a file, or */
    void (*list)(opl_listing *listing); /* a function that adds the instances, or */
    const opl_object *listed_with;      /* the object whose `list` also adds these instances */
    /* A file or folder below the system root that must be readable at Open: without it the
     * object is absent, not just without instances. NULL: none. */
    const char *needs;
    /* While no instances are listed, the object is absent, with its `total`, because a mean of
     * no values would look like a measurement. */
    bool only_with_instances;
    /* true: a counter that cannot be read for one of the instances, for example because the user
     * has no right, is omitted from the whole answer. false: the counter is 0 for that instance,
     * and `total` does not include the instance. */
    bool known_only;
    /* An earlier object with the same rows that, unlike a costly object, is listed at Open: rows
     * that are absent in that object are also absent in this one. NULL: none. */
    const opl_object *rows_as;
    uintptr_t reserved[8]; /* must be 0 */
};
#define OPL_COUNTERS(rows) .counters = rows, .counter_count = sizeof(rows) / sizeof((rows)[0])
#define OPL_OBJECTS(objects) objects, sizeof(objects) / sizeof((objects)[0])

/* A provider library exports this as opl_tables_1, so that documents, names, lodctr's files and
 * tests are generated from the rows without a call of Open. The macros below define
 * opl_tables_1. */
typedef struct opl_table_list {
    /* sizes in bytes: of this structure, of each object, of each row */
    uint32_t size, object_size, counter_size;
    uint32_t flags; /* must be 0 */
    const opl_object *const *objects;
    size_t count;
    const char *service;       /* the key below Services; NULL: the numbers are absolute */
    const char *procedures[3]; /* the names of Open, Collect and Close */
    void (*begin)(void);   /* called by Open before the tables are opened; NULL: nothing to do */
    uintptr_t reserved[4]; /* must be 0 */
} opl_table_list;
/* clang-format off */
#define OPL_TABLE_LIST(service, objects, begin, open, collect, close)                              \
    {sizeof(opl_table_list), sizeof(opl_object), sizeof(opl_counter), 0, OPL_OBJECTS(objects),     \
     service, {#open, #collect, #close}, begin, {0}}
/* clang-format on */
/* Defines opl_tables_1, for a provider that writes its functions itself: each calls one of
 * opl_entry_open_1, opl_entry_collect_1 and opl_entry_close_1. */
#define OPL_TABLES(service, objects, begin, open, collect, close)                                  \
    extern OPL_EXPORTED_DATA const opl_table_list opl_tables_1;                                    \
    const opl_table_list opl_tables_1 =                                                            \
        OPL_TABLE_LIST(service, objects, begin, open, collect, close)

/* The state of a provider's three functions between Open and Close; only the engine knows its
 * members. */
typedef struct opl_entry opl_entry;

/* Defines the provider's functions Open, Collect and Close, opl_tables_1, and DllRegisterServer,
 * which registers them for the service of this name: a text, "Demo". */
#define OPL_PROVIDER(service, objects) OPL_PROVIDER_AS(service, objects, NULL, Open, Collect, Close)
/* Like OPL_PROVIDER, with other names for the three functions, and with a function `begin` that is
 * called before the tables are opened (or NULL). */
#define OPL_PROVIDER_AS(service, objects, begin, open, collect, close)                             \
    OPL_DEFINE_PROVIDER(service, objects, begin, open, collect, close);                            \
    OPL_EXPORTED int32_t DllRegisterServer(void);                                                  \
    OPL_EXPORTED int32_t DllUnregisterServer(void);                                                \
    int32_t DllRegisterServer(void)                                                                \
    {                                                                                              \
        return opl_entry_register_1(&opl_tables_1);                                                \
    }                                                                                              \
    int32_t DllUnregisterServer(void)                                                              \
    {                                                                                              \
        return opl_entry_unregister_1(&opl_tables_1);                                              \
    }                                                                                              \
    extern const opl_table_list opl_tables_1
/* Like OPL_PROVIDER_AS, for objects with absolute numbers (NT's own, or the project's). This macro
 * defines no DllRegisterServer. */
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
    OPL_EXPORTED uint32_t open(opl_char16 *devices);                                               \
    OPL_EXPORTED uint32_t collect(opl_char16 *query, void **data, uint32_t *bytes,                 \
                                  uint32_t *types);                                                \
    OPL_EXPORTED uint32_t close(void);                                                             \
    OPL_TABLES(service, objects, begin, open, collect, close);                                     \
    static opl_entry *opl_this_entry;                                                              \
    uint32_t open(opl_char16 *devices)                                                             \
    {                                                                                              \
        return opl_entry_open_1(&opl_this_entry, &opl_tables_1, devices);                          \
    }                                                                                              \
    uint32_t collect(opl_char16 *query, void **data, uint32_t *bytes,                              \
                     uint32_t *types)                                                              \
    {                                                                                              \
        return opl_entry_collect_1(opl_this_entry, query, data, bytes, types);                     \
    }                                                                                              \
    uint32_t close(void)                                                                           \
    {                                                                                              \
        return opl_entry_close_1(&opl_this_entry);                                                 \
    }                                                                                              \
    extern const opl_table_list opl_tables_1
/* clang-format on */

OPL_BEGIN_DECLS
#pragma GCC visibility push(default)

/* ---- for the macros OPL_PROVIDER... and OPL_TABLES ---- */
/* Opens the tables: adds First Counter and First Help of the service's registration to every index,
 * reads every file once, drops the rows that this machine does not offer, and lays out the rest. A
 * further Open is only counted. `*entry` is NULL before the first; `devices`, the strings of
 * Linkage\Export, is not used. ERROR_FILE_NOT_FOUND: not registered, ERROR_INVALID_DATA: registered
 * for fewer counters than the tables have; for both, event 3004 has advice.
 * ERROR_INVALID_PARAMETER: the tables are wrong, event 4004 has the row and the reason;
 * ERROR_NOT_ENOUGH_MEMORY. (docs/windows/articles.md#c67, docs/windows/articles.md#c100) */
uint32_t opl_entry_open_1(opl_entry **entry, const opl_table_list *tables,
                          const opl_char16 *devices);
/* Answers a query as Collect must: the requested objects and their related ones; nothing for
 * Foreign and for unknown words; ERROR_MORE_DATA with zeros and *data unchanged if the buffer is
 * too small; ERROR_NOT_READY before Open. The caller serialises the calls for one provider.
 * (docs/windows/articles.md#c43, docs/windows/articles.md#c71) */
uint32_t opl_entry_collect_1(opl_entry *entry, const opl_char16 *query, void **data,
                             uint32_t *bytes, uint32_t *types);
/* The last Close closes the files, frees everything and sets `*entry` to NULL. Always
 * ERROR_SUCCESS. */
uint32_t opl_entry_close_1(opl_entry **entry);
/* Writes Library (the file that contains `tables`), Open, Collect and Close of the service's
 * Performance key, or removes them, and the key if nothing else is left. */
int32_t opl_entry_register_1(const opl_table_list *tables);
int32_t opl_entry_unregister_1(const opl_table_list *tables);

/* ---- for functions of OPL_FN ---- */
/* Word `column` of the file's first line or of the instance's own line; false: unreadable. */
bool opl_reading_column(opl_reading *reading, const opl_source *source, unsigned column,
                        uint64_t *ret);
/* The first number after a key; false: unreadable, or there is no such key. */
bool opl_reading_key(opl_reading *reading, const opl_source *source, const char *key,
                     uint64_t *ret);
/* The whole file, NUL-terminated, valid until the next instance is read; NULL: unreadable. */
const char *opl_reading_text(opl_reading *reading, const opl_source *source, size_t *ret_bytes);
/* The beginning of a small file below the system root ('*' as in opl_source), NUL-terminated;
 * for data that is read once and not at each query. False: unreadable, and `storage` is empty. */
bool opl_reading_file(opl_reading *reading, const char *path, char *storage, size_t bytes);
/* Memory that is kept until Close, for data from the previous collection: 16 pieces, `slot` 0 to
 * 15, which all objects of the provider share. The piece grows to `bytes`; new bytes are 0, and it
 * may move when it grows. NULL: no memory; the collection will fail. */
void *opl_reading_memory(opl_reading *reading, unsigned slot, size_t bytes);
/* The instance's folder, which replaces the '*' of an opl_source's path; "" for a single object. */
const char *opl_reading_folder(const opl_reading *reading);
/* The time of this collection as FILETIME; the same for all objects of an answer. */
int64_t opl_reading_time(const opl_reading *reading);
/* The system's start time as FILETIME. It is determined once, so setting the clock does not change
 * it. Below another system root it is btime of proc/stat. 0: unknown. */
int64_t opl_boot_time(opl_reading *reading);
/* The number that the list function set for the instance (`note` of opl_listing_read_with). */
uint64_t opl_reading_note(const opl_reading *reading);
/* The item that the list function passed to opl_listing_item; NULL: none. */
const void *opl_reading_item(const opl_reading *reading);

/* ---- for functions that list instances ---- */
/* Copies a name and replaces what an instance's name must not contain, because it has a meaning in
 * a counter path: \ / # * and control characters become underlines, ( ) become square brackets.
 * `is_path` is for the paths of files and of mounted file systems, which keep their slashes: a path
 * is not split at a leading slash. Text that does not fit is cut off between two characters. `to`
 * ends with 0 and may be `name`. Returns the bytes without that 0.
 * (docs/windows/providers.md#d6) */
size_t opl_sanitize_name(char *to, size_t capacity, const char *name, size_t bytes, bool is_path);
/* The beginning of the next line after the one at `text`. At the last line: the NUL at the end. */
const char *opl_next_line(const char *text);
/* A reading for the opl_reading_ functions, for data that belongs to no instance. */
opl_reading *opl_listing_reading(opl_listing *listing);
/* The listing of an object whose instances this list function adds, too (`listed_with`); NULL: the
 * object was not requested. */
opl_listing *opl_listing_of(opl_listing *listing, const opl_object *object);
/* Adds an instance that has no files: every value is 0 until set. The name is copied. */
void opl_listing_add(opl_listing *listing, const char *name, size_t name_bytes);
/* Adds an instance with a structure in the provider's memory, which OPL_FIELD reads, and
 * computes its rows now. `item` must stay valid until Collect returns; the name is copied. */
void opl_listing_item(opl_listing *listing, const char *name, const void *item);
/* Adds an instance, reads its files and computes its rows now. `folder` replaces '*'. An empty name
 * (0 bytes) is replaced by the name in parentheses, if a source has one, sanitized by
 * opl_sanitize_name. False: the instance has ended (its first file does not exist any more) and was
 * not added. */
bool opl_listing_read(opl_listing *listing, const char *folder, const char *name,
                      size_t name_bytes);
/* Like opl_listing_read, with a number and a structure in the provider's memory for the functions
 * and fields of its rows. If `item` is NULL, the fields cannot be read for this instance. */
bool opl_listing_read_with(opl_listing *listing, const char *folder, const char *name,
                           size_t name_bytes, uint64_t note, const void *item);
/* Sets a value of the last instance, by the row's index; nothing happens if the row is absent. */
void opl_listing_set(opl_listing *listing, uint32_t index, uint64_t value);
/* Sets the parent of the last instance: a position among the instances of `parent`. */
void opl_listing_parent(opl_listing *listing, const opl_object *parent, uint32_t position);
/* How many instances there are so far: the position of the next one. */
uint32_t opl_listing_count(const opl_listing *listing);
/* The folders and links in the folder `path` below the system root; with `depth` 2 also the folders
 * in these folders, and so on: relative paths as a multi-string sorted by name, a folder before its
 * contents. The multi-string is valid until the next call. NULL: the folder cannot be read. */
const char *opl_listing_folders(opl_listing *listing, const char *path, unsigned depth);

#pragma GCC visibility pop
OPL_END_DECLS

#endif
