/* SPDX-License-Identifier: MIT */
/*
 * A data collector set of logman: what is recorded or watched, how often, and into which files.
 * set.c keeps it as an XML file (MS-PLA 3.2.4.19), runner.c does what it says, logman.c has the
 * command line.
 */
#ifndef OPL_TOOLS_LOGMAN_SET_H
#define OPL_TOOLS_LOGMAN_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/text-list.h"
#include "base/base.h"

enum set_kind { SET_COUNTER, SET_ALERT };
enum set_format { SET_BIN, SET_BINCIRC, SET_CSV, SET_TSV };
enum set_version { VERSION_NONE, VERSION_NUMBER, VERSION_MONTH_DAY_HOUR_MINUTE };

/* A set's part with an interval and a file of its own. */
struct collector {
    struct text_list counters; /* paths, with wildcards; of an alert "PATH>LIMIT" or "PATH<LIMIT" */
    double interval;           /* seconds between samples: 15 by default */
    uint64_t samples;          /* end after so many; 0: no limit */

    /* files, for SET_COUNTER */
    enum set_format format;
    char *label;              /* the collector's own name */
    char *file;               /* name without version and extension; NULL: the set's name */
    enum set_version version; /* what is added to the name: _000001, _MMDDHHMM */
    bool append, overwrite;   /* if the file exists; neither: an error */

    /* alerts */
    bool event;                  /* -el: log an event */
    char *start_set;             /* -rdcs: a set that starts */
    char *task, *task_arguments; /* -tn, -targ: a command and its words */
    uint64_t hold;               /* seconds that the limit must be passed; 0: one sample */
    double hysteresis; /* percent of the limit to fall back before the next alert; 0: none */
    uint64_t pause;    /* seconds between two alerts of one counter at least */

    /* private to set.c */
    void *node;
    char *pattern;
    uint64_t name_format, log_format;
    double whole_interval, exact_interval;
    bool circular;
};

struct set {
    char *name;
    enum set_kind kind; /* of all collectors */
    struct collector *collectors;
    size_t count; /* of the collectors, at least 1 */

    /* files */
    char *folder;      /* NULL, or no absolute path: the default one */
    uint64_t serial;   /* the next number of VERSION_NUMBER */
    uint64_t most;     /* most MiB of a file; 0: no limit */
    uint64_t new_file; /* a new file after so many seconds; 0: never */
    bool segment;      /* -cnf: when a file is full, go on with a new one; else stop */

    /* when */
    int64_t begin, end; /* local time in seconds since 1970 as for timegm; 0: at start, never */
    uint64_t run_for;   /* seconds; 0: no limit */
    bool repeat;        /* every day from the time of day of begin to that of end */

    /* after */
    char *command;      /* -rc: run when a file is closed; "" or NULL: none */
    char *user;         /* -u; NULL: the caller */
    uint64_t retention; /* delete files of the set that are older, seconds; 0: never */
    double keep_free;   /* delete the oldest when less than so many percent are free; 0: never */
    bool command_lines; /* record command lines (Process Details) too */
    bool compress;      /* a .blg becomes .blg.zst when it is closed */

    /* private to set.c */
    uint64_t days, duration;
    bool enabled;
    void *document; /* xmlDoc with all elements, also those that are not known here */
};

/* ---- set.c ---- */
enum { SET_NAME_MOST = 100, SET_FILE_MOST = 1 << 20, SET_WHY = 256, EXIT_NO_RIGHTS = 4 };
/* May a set have this name? UTF-8 of 1 to SET_NAME_MOST bytes without '/', control characters and a
 * dot at its beginning, because it is the name of a file. */
bool set_name_valid(const char *name);
/* Returns the text of an element of the set, or of its collector if that is not NULL; to be freed.
 * NULL: there is no such element. */
char *set_get(const struct set *set, const struct collector *collector, const char *element);
/* These change the document; set_put_counters changes the first collector. set_read brings the
 * members up to date. False: `why` has the reason. */
void set_put(struct set *set, const struct collector *collector, const char *element,
             const char *text);
void set_put_counters(struct set *set, const struct text_list *counters);
bool set_read(struct set *set, char why[static SET_WHY]);
/* Returns a set with defaults, without counters. Free it with set_free. NULL: no memory. */
struct set *set_new(const char *name, enum set_kind kind);
void set_free(struct set *set);
/* Returns the set that the bytes of an XML file describe. NULL: `why` has the reason. */
struct set *set_parse(const char *name, const void *data, size_t size, char why[static SET_WHY]);
/* Returns the document as XML, for xmlFree. NULL: no memory, or a text
 * has characters that XML cannot have, or it is too large. */
void *set_print(struct set *set, size_t *ret_size);
/* Prints what is the matter with a set, or a file, and returns the exit code `code`. */
int set_complain(const char *name, const char *what, int code);
/* These return 0, or an exit code after a message on standard error. set_load reads the set of that
 * name, set_import an XML file; set_save writes the set's file, set_export another. */
int set_load(bool user, const char *name, struct set **ret);
int set_import(const char *name, const char *path, struct set **ret);
int set_save(struct set *set, bool user);
int set_export(struct set *set, const char *path);
int set_delete(bool user, const char *name);
/* Adds the names of all sets in alphabetical order; there may be none. False: no memory. */
bool set_list(bool user, struct text_list *ret);

/* ---- files.c ---- */
/* Compresses the .blg files of a set, and deletes them. Returns an exit code; unless `quiet`, an
 * event says the first problem. This is `logman --compress SET FILE...`, which a runner starts. */
int set_compress(const char *name, char *const *files, bool quiet);
/* Returns the name of the collector's files without version and extension. */
const char *set_file_name(const struct set *set, const struct collector *collector);
/* Returns the same as a path, to be freed. NULL: no memory, or no home folder. */
char *set_output(const struct set *set, const struct collector *collector, bool user);

/* ---- runner.c: exit codes, after a message on standard error ---- */
/* Starts a runner in the background; ends it, and waits for its end; runs the set here until it
 * ends, or until a signal. */
int set_start(struct set *set, bool user);
int set_stop(struct set *set, bool user);
int set_run(struct set *set, bool user);
bool set_is_running(const char *name, bool user);
/* Prints since when the set runs, its samples and its counters without values. */
void set_print_status(const struct set *set, bool user);

#endif
