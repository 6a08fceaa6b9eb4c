/* SPDX-License-Identifier: MIT */
/*
 * A data collector set of logman: what is recorded or watched, how often, and into which files.
 * set.c stores it as XML (MS-PLA 3.2.4.19), runner.c runs it, logman.c has the command line.
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

/* A part of a set, with its own counters, interval and file. */
struct collector {
    struct text_list counters; /* paths with wildcards; alerts: "PATH>LIMIT" or "PATH<LIMIT" */
    double interval;           /* seconds between samples: 15 by default */
    uint64_t samples;          /* number of samples after which it ends; 0: no limit */

    /* files, for SET_COUNTER */
    enum set_format format;
    char *label;              /* the collector's own name */
    char *file;               /* file name without version and extension; NULL: the set's name */
    enum set_version version; /* what is added to the name: _000001, _MMDDHHMM */
    bool append, overwrite;   /* what to do if the file exists; neither: an error */

    /* alerts */
    bool event;                  /* -el: log an event */
    char *start_set;             /* -rdcs: name of a set that an alert starts; NULL: none */
    char *task, *task_arguments; /* -tn, -targ: a command that an alert runs, and its arguments */
    uint64_t hold;               /* seconds for which the limit must be passed; 0: in one sample */
    double hysteresis;           /* percent of the limit; see alert.c; 0: none */
    uint64_t pause;              /* minimum seconds between two alerts of one counter */

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
    char *folder;      /* absolute path; anything else, or NULL: the default folder */
    uint64_t serial;   /* lowest number for the next file with VERSION_NUMBER */
    uint64_t most;     /* maximum size of a file in MiB; 0: no limit */
    uint64_t new_file; /* seconds after which a new file begins; 0: never */
    bool segment;      /* -cnf: after a full file a new one begins; else the set ends */

    /* when */
    /* local time in seconds, as timegm converts it; 0: the set begins when it is started, never
     * ends */
    int64_t begin, end;
    uint64_t run_for; /* seconds after which the set ends; 0: no limit */
    bool repeat;      /* every day, between the times of day of `begin` and `end` */

    /* after */
    char *command;      /* -rc: runs when a file is closed; "" or NULL: none */
    char *user;         /* -u: the commands' user; NULL: the user who runs the set */
    uint64_t retention; /* age in seconds at which files are deleted; 0: never */
    double keep_free;   /* if less percent is free, delete the oldest files; 0: never */
    bool command_lines; /* also record command lines (Process Details) */
    bool compress;      /* compress each .blg to .blg.zst when it is closed */

    /* private to set.c */
    uint64_t days, duration;
    bool enabled;
    void *document; /* an xmlDoc; it also has the elements that are unknown here */
};

/* ---- set.c ---- */
enum { SET_NAME_MOST = 100, SET_FILE_MOST = 1 << 20, SET_WHY = 256 };
/* True if a set may have this name: 1 to SET_NAME_MOST bytes of UTF-8, without '/' and control
 * characters, and without a dot at its beginning, because it becomes the name of a file. */
bool set_name_valid(const char *name);
/* Returns the text of an element of the set, or with `collector` of that collector; to be freed.
 * NULL: there is no such element. */
char *set_get(const struct set *set, const struct collector *collector, const char *element);
/* set_put and set_put_counters (for the first collector) change the document only; set_read then
 * sets the members of the set from the document. False: `why` has the reason. */
void set_put(struct set *set, const struct collector *collector, const char *element,
             const char *text);
void set_put_counters(struct set *set, const struct text_list *counters);
bool set_read(struct set *set, char why[static SET_WHY]);
/* Returns a set with defaults, without counters. Free it with set_free. NULL: no memory. */
struct set *set_new(const char *name, enum set_kind kind);
void set_free(struct set *set);
/* Returns the set that the bytes of an XML file describe. NULL: `why` has the reason. */
struct set *set_parse(const char *name, const void *data, size_t size, char why[static SET_WHY]);
/* Returns the document as XML, to be freed by xmlFree. NULL: no memory, a text has characters that
 * XML does not allow, or the document is too large. */
void *set_print(struct set *set, size_t *ret_size);
/* Prints "logman: NAME: WHAT" on stderr; returns `code`. */
int set_complain(const char *name, const char *what, int code);
/* These return 0, or after a message on stderr an exit code. set_load reads the set `name`,
 * set_import any XML file; set_save writes the file of the set, set_export any other file. `user`,
 * here and below: the sets of this user, not those of the system. */
int set_load(bool user, const char *name, struct set **ret);
int set_import(const char *name, const char *path, struct set **ret);
int set_save(struct set *set, bool user);
int set_export(struct set *set, const char *path);
int set_delete(bool user, const char *name);
/* Adds the names of all sets in alphabetical order; there may be none. False: no memory. */
bool set_list(bool user, struct text_list *ret);

/* ---- files.c ---- */
/* Compresses .blg files of a set, and deletes the originals. Returns an exit code; unless `quiet`,
 * an event reports the first problem. A runner starts this as `logman --compress SET FILE...`. */
int set_compress(const char *name, char *const *files, bool quiet);
/* Returns the collector's file name without version and extension. */
const char *set_file_name(const struct set *set, const struct collector *collector);
/* Returns the same name with its folder, to be freed. NULL: no memory, or no home folder. */
char *set_output(const struct set *set, const struct collector *collector, bool user);

/* ---- control.c, runner.c: these return an exit code, after a message if it is not 0 ---- */
/* set_start starts a runner in the background; set_stop ends it and waits for its end; set_run runs
 * the set in this process until it ends, or until a signal. */
int set_start(struct set *set, bool user);
int set_stop(struct set *set, bool user);
int set_run(struct set *set, bool user);
bool set_is_running(const char *name, bool user);
/* Returns "Running", "Stopped" or, if this user may not know, "Unknown (no rights)". */
const char *set_state(const char *name, bool user);
/* Prints of the set's run, or of its last one of which there is a state: when, the number of
 * samples, and the counters without values. */
void set_print_status(const struct set *set, bool user);

#endif
