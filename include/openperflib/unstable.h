/* SPDX-License-Identifier: MIT */
/*
 * Functions that only the project's own providers and tools use. They are public, so that there is
 * no private API, but they have no promise of stability: any release may change or remove them.
 * Their symbols have a version of their own, which changes with each release, so that another
 * release refuses to load a library that uses them, instead of failing later.
 */
#ifndef OPENPERFLIB_UNSTABLE_H
#define OPENPERFLIB_UNSTABLE_H

#include <openperflib/build.h>
#include <openperflib/object.h>

/* The space of a file system, in bytes. */
typedef struct opl_space {
    uint64_t size;      /* total */
    uint64_t free;      /* unused, perhaps including a reserve for the system */
    uint64_t available; /* available to programs without special rights */
} opl_space;

/* A file system that may never answer a query, and its last answer. */
typedef struct opl_place {
    const char *path;
    bool known;
    opl_space space;
} opl_place;

/* Binary records that the kernel writes: a BPF iterator that an administrator has pinned (see
 * openperflib-bpf(1)). A record begins with two 32-bit numbers: the version, and its length in
 * bytes, a multiple of 8. */
typedef struct opl_records {
    const char *name; /* the file in OPL_RECORDS_FOLDER */
    uint32_t version;
    uint32_t least; /* the minimum length of a record, in bytes */
} opl_records;
#define OPL_RECORDS_FOLDER "sys/fs/bpf/openperflib"

OPL_BEGIN_DECLS
#pragma GCC visibility push(default)

/* ---- a library's tables ---- */
/* Loads the provider library at `path`, which stays loaded, and returns a checked copy of its
 * tables in which all structures have the sizes of this header. The library's open function is not
 * called. NULL: there are no tables, or they cannot be used; `why` has the reason. */
enum { OPL_TABLES_WHY = 256 };
const opl_table_list *opl_tables_load(const char *path, char why[OPL_TABLES_WHY]);

/* ---- for functions of OPL_FN ---- */
/* A number that identifies the calling thread's network namespace, for providers that keep data
 * about its interfaces; 0 below another system root, which has only one. The folder sys/class/net
 * does not depend on the thread: it shows the namespace in which sys was mounted. */
uint64_t opl_reading_namespace(opl_reading *reading);
/* A number that changes each time the file is read again; a watched file is read again only after
 * it has changed. 0: unreadable. */
uint64_t opl_reading_version(opl_reading *reading, const opl_source *source);
/* True if the instance's file was already read in this collection, so that using it costs
 * nothing. */
bool opl_reading_has(opl_reading *reading, const opl_source *source);
/* How many files are in the folder `path` below the system root ('*' as in opl_source), "." and
 * ".." not counted; since Linux 6.2 the kernel counts the files of some folders, and that count is
 * used. False: unreadable. */
bool opl_reading_folder_count(opl_reading *reading, const char *path, uint64_t *ret);
/* How many processes the kernel has, zombies and kernel threads included: the kernel's own count,
 * which needs no walk over all of them and in a container covers the whole machine. Below another
 * system root, and where proc is not a proc file system, the numbered folders are counted. */
bool opl_reading_process_count(opl_reading *reading, uint64_t *ret);
/* The total and the free space of the file system that is mounted at `path` (a blank in it is a
 * blank, not \040). Below another system root: from its file "statfs". False: unknown. */
bool opl_reading_space(opl_reading *reading, const char *path, opl_space *ret);
/* Like opl_reading_space, for file systems that are served by other machines or programs and may
 * never answer: a separate process queries them, at most every 10 seconds. The first call with a
 * place waits up to 200 ms for all new places together; later calls do not wait, and use answers
 * that are at most a minute old. Call it once per collection, with all such places. */
void opl_reading_remote_spaces(opl_reading *reading, opl_place *places, size_t count);
/* How many files and folders the file system that is mounted at `path` can have, and how many
 * more are free. Below another system root: from its file "statfs.inodes". False: the file
 * system has no fixed number, or it is unknown. */
bool opl_reading_inodes(opl_reading *reading, const char *path, uint64_t *ret_all,
                        uint64_t *ret_free);
/* The instance's position among the instances, 0 for a single object. */
uint32_t opl_reading_position(const opl_reading *reading);

/* ---- for functions that list instances ---- */
/* Decodes a word of the kernel's tables of mounts and swap areas, where blanks, line ends and
 * backslashes are written as three octal digits, "\040". Text that does not fit is cut off. `to`
 * ends with 0 and may be `word`. Returns the bytes without that 0. */
size_t opl_octal_name(char *to, size_t capacity, const char *word, size_t bytes);
/* A reading for the opl_reading_ functions, for an instance that is not added yet, and perhaps will
 * not be: `folder` replaces '*'. */
opl_reading *opl_listing_at(opl_listing *listing, const char *folder);
/* Adds an instance that is a line of a file, and computes its rows now: the words of `source` are
 * those of `line`, which points into the text of that source. `folder` replaces '*'. Unlike with
 * opl_object's member `lines`, the instance's name may differ from the file's. */
void opl_listing_line(opl_listing *listing, const opl_source *source, const char *line,
                      const char *folder, const char *name);
/* Like opl_listing_read_with, but `item` has the values for rows with a member `item`; the files
 * are read for the other rows only. `item` must stay valid until the function returns. */
bool opl_listing_read_known(opl_listing *listing, const char *folder, const char *name,
                            size_t name_bytes, uint64_t note, const void *item);
/* Appends ASCII text to the name of the last instance, if the listing is that of `object`. */
void opl_listing_append_name(opl_listing *listing, const opl_object *object, const char *text);
/* The current records, valid until the next collection; their lengths are checked. False: there
 * are none (not pinned, no right to read them, not root's, of another version, of another pid
 * namespace than proc, switched off by the registry, another system root); the trace has the
 * reason. Read the files instead. */
bool opl_listing_records(opl_listing *listing, const opl_records *is, const void **ret,
                         size_t *ret_bytes);
/* The unconverted number in word `column` of `source` for the instance read last; 0: none. */
uint64_t opl_listing_column(opl_listing *listing, const opl_source *source, unsigned column);
/* True if the provider is being opened and all counters are already known to be readable, so that
 * more instances need not be listed. */
bool opl_listing_enough(const opl_listing *listing);
/* Removes the last instance. */
void opl_listing_withdraw(opl_listing *listing);
/* The numeric names in a folder below the system root, in the folder's order, as an array that is
 * valid until the next call with the same `level`: 0 or 1, for two arrays. False: the folder cannot
 * be read. */
bool opl_listing_numbers(opl_listing *listing, const char *path, unsigned level,
                         const uint32_t **ret, size_t *ret_count);

/* ---- other machines ---- */
/* Writes the kinds of addresses of machines that RegConnectRegistry accepts, for messages:
 * "ssh://HOST, smb://HOST or unix:/PATH". */
enum { OPL_ADDRESSES_SIZE = 256 };
void opl_machine_addresses(char ret[OPL_ADDRESSES_SIZE]);

/* ---- beside capture.h ---- */
/* Compresses the finished BLG `from` to `to`, a file of zstd frames, which all functions of PDH
 * read like the BLG itself. No program may write `from` meanwhile; `to` is written as a whole or
 * not at all, replaces a file of that name, and has the mode and the group of `from`. Needs
 * libzstd. Returns 0, a status of PDH or of the system; opl_capture_problem has the text. */
uint32_t opl_capture_compress(const char *from, const char *to);

/* Stores the folder of the captures that the name of a set of logman stands for, and whether they
 * are this user's own or the system's. False: it is not the name of a set, or there are none. */
bool opl_captures_folder(const char *name, char *ret, size_t capacity, bool *ret_own);

/* ---- beside build.h ---- */
/* For programs that write other programs' objects, for example those of a simulated machine. These
 * functions add UniqueIDs, parents, values whose size is known only at run time, and multi timers.
 * At present only the project's tests use them; a provider needs only build.h. */
/* Like opl_build_instance, with all fields: the name and its length, the parent (parent_object 0:
 * none), UniqueID (-1: none). */
void opl_build_instance_full(opl_build *build, const char *name, size_t name_bytes,
                             uint32_t parent_object, uint32_t parent_instance, int32_t unique_id);
/* Sets a value with the counter's size: 8 bytes, or 4 bytes (the low half of `value`). */
void opl_build_number(opl_build *build, uint32_t position, uint64_t value);
/* Sets the value of a multi timer (PERF_..._MULTI_TIMER...) and the count after it. */
void opl_build_multi(opl_build *build, uint32_t position, uint64_t value, uint32_t count);

/* ---- captures ---- */
/* A CSV or TSV file, as PDH writes it, of rows whose values the program has computed. All functions
 * return 0, a status of PDH or of the system; opl_capture_problem has the text. */
typedef struct opl_rows opl_rows;
/* Creates `file`, or replaces it; "-" is standard output. `type`: PDH_LOG_TYPE_CSV or _TSV.
 * `query`: an open PDH_HQUERY, whose source has the time zone of the header. `terminal`: control
 * characters in the zone's name are replaced; the names and texts are the caller's. */
uint32_t opl_rows_open(const char *file, uint32_t type, void *query, const char *const *paths,
                       size_t count, bool terminal, opl_rows **ret);
/* Adds a row at a local time, a FILETIME. `numbers`: one for each path, NAN: no value. `texts`: the
 * texts that stand in place of numbers; the others are NULL. */
uint32_t opl_rows_add(opl_rows *rows, int64_t time, const double *numbers,
                      const char *const *texts);
uint32_t opl_rows_flush(opl_rows *rows); /* writes the rows that were added to the file */
uint32_t opl_rows_close(opl_rows *rows); /* flushes, and frees all; `rows` may be NULL */

/* A flag of PdhOpenLog for writing: the file gets only the counters that have user data other than
 * 0, and of several with the same path the first. */
#define OPL_LOG_MARKED 0x20000000u
/* Like PdhUpdateLog, but writes the newest values of the log's query, which
 * PdhCollectQueryDataWithTime has collected at `time`, instead of collecting others. Returns a
 * status of pdhmsg.h. */
uint32_t opl_log_newest(void *log, int64_t time);

/* A flag of PdhExpandWildCardPathH: lists paths as the capture has them. If a column has all
 * instances of each sample, its path has "*" and is not expanded. No effect on live data. */
#define OPL_EXPAND_AS_RECORDED 0x80000000u

/* ---- text counters, for which PDH has no format ---- */
/* Receives a text of an instance; `instance` is "parent/name", or "" if the object has no
 * instances. All texts are UTF-8 and valid until the function returns. It returns false to end the
 * search. */
typedef bool (*opl_text_found)(void *context, const char *instance, const char *counter,
                               const char *text);
/* Queries the object of a path once, and calls `found` with the text of each text counter and
 * instance that match, such as "\\Process Details(*:812)\\*", in the order of the object. Returns a
 * status of pdhmsg.h: PDH_CSTATUS_NO_MACHINE, NO_OBJECT; NO_COUNTER: no text counter matches;
 * NO_INSTANCE: no instance matches. */
int32_t opl_text_values(const char *path, opl_text_found found, void *context);
/* Calls `found` with the newest texts of a counter (PDH_HCOUNTER) of a query, which may be one on a
 * capture. `found` must not use the query. PDH_CSTATUS_NO_COUNTER: it is no text counter. */
int32_t opl_counter_texts(void *counter, opl_text_found found, void *context);
/* The number of a live counter's name, which is the same in all languages; 0: its machine was not
 * reached yet. */
uint32_t opl_counter_title(void *counter);
/* Valid data if the newest sample of a live counter has a value or a text, of a counter with a
 * wildcard for at least one instance; else the CStatus with the reason. */
uint32_t opl_counter_status(void *counter);

/* ---- the past of counters, from the captures of a set of logman ---- */
/* One thread at a time may use a history. NULL: there is none; opl_capture_problem has the text. */
typedef struct opl_history opl_history;
opl_history *opl_history_open(const char *set);
void opl_history_close(opl_history *history); /* does nothing if `history` is NULL */
/* False: files were added or removed since it was opened. Samples that are appended to its files
 * are found without opening it again. */
bool opl_history_is_current(const opl_history *history);
/* Receives the value of an instance ("" if the object has none) at `time`, in 100 ns since 1601,
 * UTC; NaN: the sample gives none. A rate is the mean since `before`, the time of the instance's
 * sample before this one; 0: it is the first. Returns false to end the reading. */
typedef bool (*opl_history_found)(void *context, const char *instance, int64_t before, int64_t time,
                                  double value);
/* Reads the values of a path without machine from `from` to `to`, in order of time unless clocks
 * were set: all of them, or with a `step` some samples, about one in each interval of this length.
 * Of the instances of an array, the first 1024 that match are read. Returns a status of pdhmsg.h;
 * PDH_CSTATUS_NO_COUNTER: the set has no such counter. */
int32_t opl_history_read(opl_history *history, const char *path, int64_t from, int64_t to,
                         int64_t step, opl_history_found found, void *context);
/* What the last reading could not read, a line for each reason; "": nothing. Valid until the next
 * call. */
const char *opl_history_lost(opl_history *history);

#pragma GCC visibility pop
OPL_END_DECLS

#endif
