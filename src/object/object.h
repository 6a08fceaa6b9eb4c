/* SPDX-License-Identifier: MIT */
/*
 * API of object: the engine behind <openperflib/object.h>. A provider is a set of objects; an
 * object is rows (counters) over a listing (instances); a row takes its value from a source, which
 * is a kernel text file that is read once per collection or once per instance.
 */
#ifndef OPL_OBJECT_H
#define OPL_OBJECT_H

#include "base/base.h"
#include "query/query.h"
#include <openperflib/unstable.h>
#include <winerror.h>
#include <winperf.h>

typedef struct opl_provider opl_provider; /* the engine's state between Open and Close */

enum {
    OBJECT_MAX_ROWS = 256,  /* maximum number of counters of an object, base counters included */
    OBJECT_MAX_TERMS = 4,   /* maximum number of keys whose numbers one row adds up */
    OBJECT_MAX_KEY = 64,    /* maximum characters of a key */
    OBJECT_MAX_TEXT = 1024, /* maximum bytes of a text */
    OBJECT_MAX_WORDS = 64,  /* maximum number of words of a line */
    OBJECT_MAX_PATH = 512,  /* maximum characters of a path below the system root */
    OBJECT_LEVELS = 2,      /* number of levels in opl_listing_numbers */
    /* maximum number of memory blocks that a provider may keep until Close */
    OBJECT_MEMORIES = 16,
    OBJECT_RECORDS = 4, /* maximum number of pinned BPF iterators of a provider */
    OBJECT_MAX_PERSISTENT =
        8, /* number of instances whose files stay open; few, because the program needs its
            * descriptors itself */
    OBJECT_MAX_PERSISTENT_NAME = 16
};

/* ---- source.c: a kernel text file ---- */
/* A descriptor that stays open between collections. Some programs close all descriptors that they
 * did not open, so before each use its device and inode are compared with those of the opened
 * file. */
struct kept {
    int fd; /* -1: none */
    dev_t device;
    ino_t inode;
};
struct source_key {
    char text[OBJECT_MAX_KEY];
    size_t length;
    const char *at;  /* what follows the key in the latest text; NULL: the key is absent */
    uint64_t number; /* the first number after the key */
    unsigned line;   /* number of the line where the key was found last */
    size_t order;    /* the order of the keys (keys_sort) */
    size_t after;    /* position of the key that came after this one the last time */
    /* bytes from the line of the key found before to this key's line; 0: not known. In files of
     * pairs of lines (words.c): offset of the name in the line of names */
    size_t gap;
    /* in files of pairs of lines: position of the key's number in the line of numbers, counted from
     * 1 */
    unsigned column;
};
struct source {
    const opl_source *is;
    const char *star; /* address of the '*' in the path; NULL: one file for all instances */
    const char *rest; /* the part of the path after the folder whose name has the '*' */
    struct persistent {
        struct kept kept;
        char folder[OBJECT_MAX_PERSISTENT_NAME];
    } persistent[OBJECT_MAX_PERSISTENT];
    struct kept kept; /* the file; if the path has a '*': the folder that contains the instances'
                       * folders */
    char *text;       /* NUL-terminated */
    size_t length, capacity;
    LSTATUS status;                       /* result of the reading for serial `read_for` */
    uint64_t version;                     /* how often the file was read */
    ino_t namespace;                      /* mount namespace in which a watched file was opened */
    uint64_t read_for;                    /* serial of the last reading; 0: never read */
    uint64_t keys_for;                    /* the serial for which the keys are valid */
    uint64_t words_for;                   /* the serial for which the words are valid */
    uint64_t checked_for;                 /* collection in which the kept folder was last checked */
    uint64_t words[OBJECT_MAX_WORDS + 1]; /* values of the line's words; the first is words[1] */
    /* number of words on the line; number of the last needed word */
    unsigned word_count, words_wanted;
    uint64_t columns_requested; /* bit n - 1: word n is needed */
    uint64_t words_odd;         /* bit n - 1: word n is needed, and is not a number */
    const char *name;           /* the text in parentheses, such as the process name in a
                                           * stat file */
    size_t name_bytes;
    struct source_key *keys;
    size_t key_count;
    uint64_t key_starts[4]; /* one bit for each byte value, set if some key begins with that byte */
    bool keys_sorted;       /* all keys were found and are sorted by line: probably the next text
                             * has them in the same lines */
    size_t keys_there;      /* in files of pairs of lines: how many keys were found */
    uint64_t names_shape;   /* names_shape() of the text when keys_there was counted */
    uint64_t net;           /* for a path below proc/net: the network namespace of the kept file */
};
struct opl_reading {
    opl_provider *provider;
    const char *folder;
    uint32_t position;
    uint64_t note;
    const void *item;
    /* Number of this reading: sources keep it to know whether they were already read for it.
     * Instances in the same folder, one after the other, share it. Never 0. */
    uint64_t serial;
    struct source *line_source; /* the source whose words are those of `line` */
    const char *line;
};

int kept_open(struct kept *kept, int dir_fd, const char *path, int flags);
void kept_close(struct kept *kept);
/* Finds or creates the source that the provider's tables describe in `is`. NULL: no memory, or the
 * source requires a feature that this version lacks. */
struct source *source_of(opl_provider *provider, const opl_source *is);
struct source_key *source_add_key(struct source *source, const char *text, size_t length);
/* Reads the file, unless its text was already read for this collection or instance. */
LSTATUS source_load(opl_reading *reading, struct source *source);
void source_done(struct source *source);
/* Returns `path` with the instance's folder in place of the '*', written to `storage`; a path
 * without '*' is returned unchanged. NULL: the path is too long. */
const char *source_place(opl_reading *reading, const char *path, char storage[OBJECT_MAX_PATH]);

/* ---- words.c: the words and keys of a source ---- */
LSTATUS source_load_keys(opl_reading *reading, struct source *source);
/* Splits the line into words and converts them, up to the last that a row or an earlier call needs,
 * or word `wanted` if that is later (0: none). */
LSTATUS source_load_words(opl_reading *reading, struct source *source, unsigned wanted);
/* True if word `number` exists and is a number. Only valid for a word that some row needs. */
bool source_has_number(const struct source *source, unsigned number);
/* `number` is 1 to OBJECT_MAX_WORDS */
void source_request_word(struct source *source, unsigned number);
/* Returns the number at position `column` after the key, from 2 on; the first one is
 * key->number. */
uint64_t key_number(const struct source_key *key, unsigned column);
uint64_t text_number(const char **cursor); /* parses a decimal number that may be negative; *cursor
                                            * stops after its digits */

/* ---- define.c: one counter of this machine ---- */
struct term {
    size_t key; /* position of the key in source->keys */
    bool minus, optional;
};
struct row {
    const opl_counter *is;
    const opl_value *value;
    bool is_base; /* this row is the base of the row before it */
    struct source *source;
    struct term terms[OBJECT_MAX_TERMS];
    unsigned term_count;
    uint64_t times, parts;
    DWORD type, size, offset;
    /* the value is a text: the row's number is the address of the UTF-8 text, or 0 for none */
    bool text;
    opl_total total;
    bool seen;   /* the value could be read for at least one instance */
    bool denied; /* in this collection, this user may not read the value for some instance */
    /* in this collection, the value cannot be read for some instance, so the row is hidden */
    bool unread;
    bool unwanted; /* the present query does not need the row (base/base.h), so it is not read */
    /* this row, its base, or the row whose base it is, is unread or unwanted: no definition now */
    bool hidden;
    const char *why; /* what is wrong with the row, if row_init returns ERROR_INVALID_PARAMETER */
    /* the trace already has a line that the value could not be read for some instance */
    bool complained;
};
enum row_result {
    ROW_UNREADABLE,
    ROW_ABSENT, /* the file is readable but lacks the key: the value is 0 */
    ROW_READ
};
enum row_result row_read(const struct row *row, opl_reading *reading, uint64_t *ret);

/* ---- listing.c: the instances of an object in one collection ---- */
struct instance {
    size_t name; /* position of the name in listing->names */
    uint32_t name_units;
    DWORD parent_object;
    uint32_t parent;
};
struct opl_listing {
    opl_provider *provider;
    struct object *object;
    bool requested;
    struct instance *instances;
    uint64_t *values;  /* the values: a row of numbers for each instance */
    uint64_t *unknown; /* one bit for each value that could not be read */
    size_t count, capacity;
    uint16_t *names;
    size_t names_used, names_capacity;
    opl_reading reading; /* the reading of the instance that was added last */
};
/* What is needed to write a row's value: kept small, because it is used again for thousands of
 * instances. */
struct cell {
    /* offset of the number in an item of 8-byte numbers, and in the counter block */
    uint32_t item, offset;
    /* how to write the number: 64 bits, 32 bits truncated, 32 bits limited, by write_other, or not
     * at all */
    enum { CELL_LARGE, CELL_COUNTER, CELL_LEVEL, CELL_OTHER, CELL_HIDDEN } format;
};
struct object {
    const opl_object *is; /* the engine's copy of the object's table */
    /* the provider's own structure, to which the provider's tables and function calls refer */
    const opl_object *address;
    struct object *related, *listed_with; /* those of `is`; NULL: none */
    struct row *rows;
    struct cell *cells;         /* one cell for each row, made when the rows are fixed */
    bool items;                 /* every row has an item, so list functions pass all values */
    size_t row_count, all_rows; /* number of rows that this machine has, and of all rows */
    size_t mask_words;          /* 64-bit words of `unknown` for each instance */
    DWORD block_size;
    DWORD definition_size;
    /* PERF_OBJECT_TYPE and counter definitions, the first bytes of every answer */
    unsigned char *definition;
    size_t shown;  /* number of rows in `definition` */
    bool all_seen; /* while opening: all rows are known to be readable */
    opl_listing listing;
};
void listing_lines(opl_listing *listing);  /* adds the instances of an object whose instances are
                                            * lines of a file */
void listing_single(opl_listing *listing); /* reads the values of an object without instances */
void listing_total(opl_listing *listing);
void listing_unused(const opl_listing *listing);
void listing_done(opl_listing *listing);

/* ---- tables.c: checked copies of the provider's tables ---- */
struct tables {
    opl_table_list list; /* the copied list; it points to `objects`, and these to their rows */
    const opl_object **objects;
    opl_object *copies;
    const opl_object **addresses; /* addresses of the provider's own objects, in the order of
                                   * `objects` */
    opl_counter *rows;
    struct tables *next; /* the next element in the list of tables that opl_tables_load keeps */
};
struct table_fault {
    const char *object; /* the object's name; NULL: the fault concerns all tables */
    const char *part;   /* the member or row that is wrong */
    char why[160];
};
/* Copies the tables `theirs`. ERROR_INVALID_PARAMETER: the tables cannot be used, `fault` says why;
 * ERROR_NOT_ENOUGH_MEMORY. Texts, sources and functions are not copied. */
LSTATUS tables_copy(const opl_table_list *theirs, struct tables *ret, struct table_fault *fault);
void tables_done(struct tables *tables);
/* true if `source` is NULL, or if this version knows all that the source requires */
bool source_known(const opl_source *source);

/* ---- define.c: what is fixed at Open ---- */
LSTATUS object_init(struct object *object, opl_provider *provider, const opl_object *is,
                    const opl_object *address);
/* Drops the rows that could not be read for any instance, and determines the offsets and
 * definitions of the others. */
LSTATUS object_fix(struct object *object, const opl_provider *provider);
/* Hides the rows that were denied in this collection or are unwanted, and shows the other rows. A
 * value that was not read must not look like a 0, and all instances have the same definitions, so
 * the counter is hidden for all of them. False: no row is left. */
bool object_hide_denied(struct object *object, const opl_provider *provider);
void object_done(struct object *object);

/* ---- define.c: the binary format ---- */
size_t object_size(const struct object *object); /* bytes of the object's answer */
/* Writes the object's answer; `out` has at least object_size() bytes. Returns the address after the
 * answer. */
unsigned char *object_write(const struct object *object, unsigned char *out, LONGLONG now);

/* ---- reading.c: names ---- */
/* Replaces slashes, and the characters that opl_sanitize_name replaces. */
void name_sanitize(uint16_t *units, size_t count);

/* ---- folder.c: numeric names in a folder ---- */
/* what the kernel's getdents64 writes */
struct folder_entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

struct folder {
    struct kept kept;
    uint32_t *numbers;
    size_t count, capacity;
};
LSTATUS folder_read(opl_provider *provider, struct folder *folder, const char *path, bool keep);
void folder_done(struct folder *folder);

/* ---- folder.c: the folders in a folder ---- */
struct text_buffer {
    char *text;
    size_t used, capacity;
};
struct tree {
    struct text_buffer found; /* the result, a multi-string */
    struct text_buffer names; /* names of the folders being walked */
    uint32_t *order;          /* positions in `names`; those of one folder are sorted by name */
    size_t order_used, order_capacity;
};
void tree_done(struct tree *tree);

/* ---- records.c: the output of a pinned BPF iterator ---- */
struct records {
    const opl_records *is;
    unsigned char *bytes;
    size_t length, capacity;
    /* the last reason that was traced for not using the records (each is traced once); NULL:
     * none */
    const char *reported;
};
/* Gives memory back to the system. The records are not read again before the next collection. */
void records_unused(const struct records *records);
void records_done(struct records *records);

/* ---- provider.c ---- */
struct opl_provider {
    struct tables tables;
    struct object *objects;
    size_t object_count;
    struct source **sources; /* the sources stay at their addresses; the array of pointers grows
                              * only during Open */
    size_t source_count;
    struct folder folders[OBJECT_LEVELS];
    struct tree tree;
    struct kept root, processes;
    struct provider_memory {
        void *at;
        size_t bytes;
    } memories[OBJECT_MEMORIES];
    struct remote_fs_reader *remote_fs; /* reads sizes of file systems that may hang for ever
                                         * (space.c) */
    uint64_t root_checked_for;          /* collection in which `root` was last checked */
    uint64_t net, net_checked_for; /* network namespace of the calling thread, and the collection in
                                    * which it was determined */
    struct records records[OBJECT_RECORDS];
    /* generation of the registry when the value "Kernel Records" was read */
    uint64_t switch_generation;
    bool switch_known, switched_off;
    int proc_known_for; /* the process for which proc_is_ours was determined; 0: none yet */
    bool proc_is_ours;  /* proc shows the processes of our pid namespace */
    DWORD first_counter, first_help;
    enum { FD_SIZES_UNKNOWN, FD_SIZES_COUNT, FD_SIZES_OTHER } fd_sizes;
    int pid;      /* the process that called Open; a forked child must open files of its own */
    bool live;    /* the system root is "/", not another OPENPERFLIB_SYSROOT */
    bool opening; /* Open is running, and finds out which rows this machine has */
    bool failed;  /* an allocation failed in this collection */
    bool frugal;  /* descriptors ran out once: since then files are closed after reading */
    bool denied;  /* the current row needed a file that this user may not read */
    uint64_t collection; /* serial number of this collection; never 0 after Open */
    uint64_t serial;     /* the last serial number that a collection or an instance got */
    /* the serial of the last instance with a folder of its own, and that folder; serial 0: no such
     * instance */
    uint64_t folder_serial;
    char folder[40];
    LONGLONG time, boot, other_folders_time;
    LONGLONG answered;      /* time of the last answer */
    uint64_t other_folders; /* number of folders of proc that are not processes */
    /* number of processes, and the collection in which it was determined; 0: never */
    uint64_t process_count, processes_counted_for;
    struct query query;
    char query_text[LIMIT_QUERY_CHARS * 3 + 1];
    _Alignas(8) char entries[32768]; /* buffer for directory entries from the kernel */
};
/* Makes a provider from copies of the tables; what the tables point to must outlive the provider.
 * ERROR_INVALID_PARAMETER: the tables are wrong, and event 4004 or 4018 says where and why;
 * ERROR_NOT_ENOUGH_MEMORY. */
LSTATUS provider_new(const opl_table_list *theirs, opl_provider **ret);
/* Reads every file once, drops the rows that this machine lacks, and makes the definitions of the
 * others. `first_counter` and `first_help` are added to every index. After a failure only
 * provider_close may be called, as after a failure of provider_new. */
LSTATUS provider_open(opl_provider *provider, DWORD first_counter, DWORD first_help);
/* What Open, Collect and Close of a library share. */
struct opl_entry {
    opl_provider *provider;
    /* number of Open calls without a Close yet: remote service processes call Open once per
     * connection (docs/windows/providers.md#d2) */
    unsigned opened;
};
void provider_close(opl_provider *provider); /* does nothing if `provider` is NULL */

/* ---- reading.c, space.c, source.c ---- */
void memories_done(opl_provider *provider);
void remote_fs_done(struct remote_fs_reader *remote_fs);
int source_openat(int dir_fd, const char *path, int flags);
/* true: since it was set to false, an open of this thread failed for lack of descriptors or
 * memory */
extern _Thread_local bool source_lacked;
/* returns the descriptor of the system root; -1: the root cannot be opened */
int provider_root(opl_provider *provider);
/* Returns the inode number of the calling thread's network namespace; 0: unknown, as below another
 * OPENPERFLIB_SYSROOT. */
uint64_t provider_namespace(opl_provider *provider);

#endif
