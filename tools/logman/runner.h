/* SPDX-License-Identifier: MIT */
/* Shared by the parts of the program that runs a set: counters, files, commands and state. */
#ifndef OPL_TOOLS_LOGMAN_RUNNER_H
#define OPL_TOOLS_LOGMAN_RUNNER_H

#include "base/base.h"
#include "set.h"

#include <pdh.h>
#include <pdhmsg.h>
#include <time.h>

/* One instance of a counter that an alert watches. Times are those of run_clock. */
struct watch {
    char *instance;
    /* when the limit was passed (0: it is not), and when the last alert was (-HUGE_VAL: never) */
    double passed_since, last;
    bool alerted; /* the last alert still lasts: the value has not come back since */
    bool present; /* the instance is in the present sample */
};

/* A counter of the set. PDH has several handles for it if its path has a wildcard as counter. */
struct source {
    char *path; /* the counter's path; an alert's limit is not part of it */
    bool above; /* alerts: true for PATH>LIMIT, false for PATH<LIMIT */
    double limit;
    PDH_HCOUNTER *handles;
    size_t count; /* number of handles; 0: PDH could not add the counter yet */
    bool seen;    /* the counter has a value in the newest sample */
    time_t lost;  /* when it had none for the first time after it had one; 0: it never had one */
    PDH_STATUS status;
    char reason[400]; /* why the counter has no value */
    struct watch *watches;
    size_t watch_count;
};

struct command;
struct runner;
/* A running collector: its counters, and the file that it writes. */
struct active {
    struct runner *runner;
    const struct collector *collector;
    PDH_HQUERY query;
    struct source *sources;
    size_t count;
    double next;    /* when the next sample is due; 0: no more samples */
    uint64_t taken; /* number of samples since this period began */
    double looked;  /* when it last looked for missing counters and old files */
    uint64_t samples;

    /* recording */
    PDH_HLOG log;
    char *file; /* the current file; NULL: none */
    double file_began;
    uint32_t files, file_samples;
    int64_t size, growth;     /* size of the file, and the largest growth by one sample */
    bool resumes;             /* after an error: the file will be opened again and continued */
    char problem[TRUST_TEXT]; /* why samples are lost; "": none are lost */
    const char *other_kind;   /* what is there in place of the file: a pipe; NULL: nothing */
};

struct runner {
    const struct set *set;
    bool user;
    struct active *active; /* one for each collector of the set */
    uint64_t lost, alerts;
    bool failed; /* the first file cannot be written */

    struct command *commands; /* the first one runs, the rest wait */
    bool uncompressed;        /* an event has reported a file that could not be compressed */
    bool reported;            /* systemd or `logman start` was told that the set runs */
    int lock, starter;        /* starter: pipe to `logman start`; -1: none */
    time_t since, until;      /* until: 0 while it runs */
    double written;           /* when the state file was last written */
};

double run_clock(void); /* seconds since boot, including suspended time */

/* ---- sources.c ---- */
/* Makes the list of the collector's counters, and adds them to a query. False: the list could not
 * be made; for a wrong threshold a message is on stderr. */
bool sources_open(struct active *active);
/* Adds the counters that could not be added before to the query. True: at least one was added. */
bool sources_add(struct active *active);
/* After a sample: notes which counters have a value. */
void sources_note(struct active *active);
/* Stores for each counter without a value the reason. */
void sources_explain(struct active *active);
void sources_close(struct active *active);

/* ---- record.c ---- */
/* Takes a sample. If the current file is full or old, the sample begins a new file. A sample that
 * cannot be written counts as lost; the next call tries to write again. False: the collector ends;
 * if runner->failed, a message is on stderr. */
bool record_sample(struct active *active);
/* Called after counters were added to the query: a BLG has them from the next sample on. */
void record_more(struct active *active);
/* Closes the file and starts the set's command (-rc) for it. */
void record_close(struct active *active);

/* ---- files.c ---- */
/* Returns the path of the next file, to be freed; NULL: no memory. */
char *files_next(const struct active *active);
/* Gives a new file or folder, unless it is a user's, to the group that may read the system's sets
 * and captures. */
void files_share(bool user, const char *path);
/* Deletes the collector's files that are too old; while the disk is too full, also the oldest. */
void files_clean(const struct active *active);
/* Starts the compression of all closed files that are not compressed yet. */
void files_compress(const struct active *active);
/* Does this file exist, or its compressed form PATH.zst? */
bool files_exists(const char *path);

/* ---- alert.c ---- */
/* Parses "PATH>LIMIT" or "PATH<LIMIT"; ret->path is to be freed. False: the text is neither. */
bool alert_parse(const char *text, struct source *ret);
void alert_sample(struct active *active);
void alert_forget(struct source *source);

/* ---- command.c ---- */
struct command_about {
    const char *file, *counter, *value, *limit; /* OPENPERFLIB_FILE and so on; NULL: not set */
};
/* Queues a command line, which runs as the set's user in a new environment when the earlier
 * commands have ended. `arguments`: more arguments; may be NULL. */
void command_run(struct runner *runner, const char *line, const char *arguments,
                 const struct command_about *about);
/* Compresses files in the background. */
void command_compress(struct runner *runner, const struct text_list *files);
/* Starts the set with this name, as `logman start` does. */
void command_start_set(struct runner *runner, const char *name);
/* Takes the result of a command that has ended, kills one that runs too long, starts the next. */
void command_step(struct runner *runner);
/* Removes the commands that still wait. */
void command_forget(struct runner *runner);

/* ---- state.c: each set has a folder with a file that its runner locks, and a file with its state:
 * lines "KEY VALUE" ---- */
/* Locks the set. Returns 0; or, after a message, an exit code: it runs already, or an error. */
int state_lock(struct runner *runner);
void state_remove(const char *name, bool user);
/* Returns the process that runs the set; 0: none, -1: one on another machine, if both have the same
 * home folder; HOLDER_HIDDEN: this user may not know. */
enum { HOLDER_HIDDEN = -2 };
pid_t state_holder(const char *name, bool user);
/* Writes the state file, but only once a second unless `now` is set. */
void state_write(struct runner *runner, bool now);
/* Returns the state's text, to be freed; NULL: there is none. It stays after the run, until the set
 * is started or deleted; that of a system's set is in /run, so a boot ends it, too. */
char *state_read(const char *name, bool user);

/* ---- runner.c ---- */
/* Runs the set until its end or until a signal. Returns an exit code. */
int runner_run(struct runner *runner);

#endif
