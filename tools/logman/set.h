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

enum set_kind { SET_COUNTER, SET_ALERT };
enum set_format { SET_BIN, SET_BINCIRC, SET_CSV, SET_TSV };
enum set_version { VERSION_NONE, VERSION_NUMBER, VERSION_MONTH_DAY_HOUR_MINUTE };
enum set_unit { UNIT_NONE, UNIT_SAMPLES, UNIT_SECONDS, UNIT_MIB };

struct set {
    char *name;
    enum set_kind kind;
    struct text_list counters; /* paths, with wildcards; of an alert "PATH>LIMIT" or "PATH<LIMIT" */
    double interval;           /* seconds between samples: 15 by default */

    /* files, for SET_COUNTER */
    enum set_format format;
    char *output;             /* absolute path without version and extension */
    enum set_version version; /* what is added to the name: _000001, _MMDDHHMM */
    uint32_t serial;          /* the next number of VERSION_NUMBER */
    bool append, overwrite;   /* if the file exists; neither: an error */
    uint32_t most;            /* most MiB or samples of a file; 0: no limit */
    enum set_unit most_unit;  /* UNIT_MIB or UNIT_SAMPLES */
    uint32_t new_file;      /* a new file after so many seconds (UNIT_SECONDS), or when `most` is */
    enum set_unit new_unit; /* reached (UNIT_NONE with `segment`) */
    bool segment;           /* -cnf: when a file is full, go on with a new one; else stop */

    /* when */
    int64_t begin, end; /* local time in seconds since 1970 as for timegm; 0: at start, never */
    uint32_t run_for;   /* seconds; 0: no limit */
    bool repeat;        /* every day from the time of day of begin to that of end */
    uint32_t samples;   /* end after so many; 0: no limit */

    /* after */
    char *command;      /* -rc: run when a file is closed; "" or NULL: none */
    char *user;         /* -u; NULL: the caller */
    uint64_t retention; /* delete files of the set that are older, seconds; 0: never */
    uint32_t keep_free; /* delete the oldest when less than so many percent are free; 0: never */
    bool command_lines; /* record command lines (Process Details) too */

    /* alerts */
    bool event;                  /* -el: log an event */
    char *start_set;             /* -rdcs: a set that starts */
    char *task, *task_arguments; /* -tn, -targ: a command and its words */
    uint32_t hold;               /* seconds that the limit must be passed; 0: one sample */
    double hysteresis; /* percent of the limit to fall back before the next alert; 0: none */
    uint32_t pause;    /* seconds between two alerts of one counter at least */

    void *document; /* xmlDoc with all elements, also those that are not known here */
};

/* ---- set.c ---- */
enum { SET_NAME_MOST = 100, SET_FILE_MOST = 1 << 20, SET_WHY = 256, EXIT_NO_RIGHTS = 4 };
/* May a set have this name? UTF-8 of 1 to SET_NAME_MOST bytes without '/', control characters and a
 * dot at its beginning, because it is the name of a file. */
bool set_name_valid(const char *name);
/* Where a set, its captures and its state are: of the system, or of the user (`user`). Returns the
 * path, to be freed: a file for PLACE_SET, else a folder, which may be missing. `name` NULL: the
 * folder of all sets. NULL: no memory, or the user has no home folder. */
enum set_place { PLACE_SET, PLACE_CAPTURES, PLACE_RUN };
char *set_path(bool user, const char *name, enum set_place place);
/* Is the text "PATH>LIMIT" or "PATH<LIMIT"? */
bool set_is_threshold(const char *text);
/* Returns a set with defaults, without counters. Free it with set_free. NULL: no memory. */
struct set *set_new(const char *name, enum set_kind kind);
void set_free(struct set *set);
/* Returns the set that the bytes of an XML file describe. NULL: `why` has the reason. */
struct set *set_parse(const char *name, const void *data, size_t size, char why[static SET_WHY]);
/* Brings the document up to date, and returns it as XML, for xmlFree. NULL: no memory, or a text
 * has characters that XML cannot have, or it is too large. */
void *set_print(struct set *set, size_t *ret_size);
/* These return 0, or an exit code after a message on standard error. set_load reads the set of that
 * name, set_import an XML file; set_save writes the set's file, set_export another. */
int set_load(bool user, const char *name, struct set **ret);
int set_import(const char *name, const char *path, struct set **ret);
int set_save(struct set *set, bool user);
int set_export(struct set *set, const char *path);
int set_delete(bool user, const char *name);
/* Adds the names of all sets in alphabetical order; there may be none. False: no memory. */
bool set_list(bool user, struct text_list *ret);

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
