/* SPDX-License-Identifier: MIT */
/* Private to the runner of a set: its counters, its files, its commands and its state. */
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
    double passed_since, last; /* 0: the limit is not passed; there was no alert yet */
    bool alerted;              /* the value has not come back since the last alert */
    bool present;              /* in this sample */
};

/* One counter of the set, which with a wildcard in its counter is several for PDH. */
struct source {
    char *path; /* of an alert without the limit */
    bool above; /* alerts: the value must be above the limit, else below it */
    double limit;
    PDH_HCOUNTER *handles;
    size_t count; /* 0: PDH could not add it yet */
    bool seen;    /* it has had a value */
    PDH_STATUS status;
    char reason[400]; /* why it has no value */
    struct watch *watches;
    size_t watch_count;
};

struct command;
struct runner;
/* A collector that runs: its counters, and the file that is being recorded. */
struct active {
    struct runner *runner;
    const struct collector *collector;
    PDH_HQUERY query;
    struct source *sources;
    size_t count;
    double next;    /* when the next sample is taken; 0: it has taken all */
    uint64_t taken; /* samples since it began */
    double looked;  /* when missing counters and old files were looked for */
    uint64_t samples;

    /* recording */
    PDH_HLOG log;
    char *file; /* the current file; NULL: none */
    double file_began;
    uint32_t files, file_samples;
    int64_t size, growth;     /* of the current file, and the most that a sample added to it */
    bool resumes;             /* the file is continued after an error */
    char problem[TRUST_TEXT]; /* why samples are lost; "": they are not */
};

struct runner {
    const struct set *set;
    bool user;
    struct active *active; /* one for each collector of the set */
    uint64_t lost, alerts;
    bool failed; /* the first file cannot be written */

    struct command *commands; /* the first one runs, the others wait */
    bool uncompressed;        /* an event has said that files stay plain */
    bool reported;            /* who started the set knows that it runs */
    int lock, starter;        /* starter: pipe to `logman start`; -1: none */
    time_t since;
    double written; /* when the state was written */
};

double run_clock(void); /* seconds, with the time in which the machine was suspended */

/* ---- sources.c ---- */
/* Makes the list of the collector's counters; false: a message is on stderr. */
bool sources_open(struct active *active);
/* Adds to the query what could not be added before. Returns whether a counter was added. */
bool sources_add(struct active *active);
/* After a sample: which counters have had a value? */
void sources_note(struct active *active);
/* Finds the reasons why counters have no value. */
void sources_explain(struct active *active);
void sources_close(struct active *active);

/* ---- record.c ---- */
/* Takes a sample, into a new file if the current one is full or old. A sample that cannot be
 * written is counted as lost, and the next one tries again. False: the collector ends here; a
 * message is on stderr if runner->failed. */
bool record_sample(struct active *active);
/* After counters were added to the query: the next sample has them, if the format allows it. */
void record_more(struct active *active);
/* Closes the file and runs the set's command for it. */
void record_close(struct active *active);

/* ---- files.c ---- */
/* Returns the path of the next file, to be freed; NULL: no memory. */
char *files_next(const struct active *active);
/* Gives a new file to the group that may read the system's captures. */
void files_share(const struct runner *runner, const char *path);
/* Deletes old files of the collector, and the oldest ones if the disk is too full. */
void files_clean(const struct active *active);
/* Starts the compression of all files that are closed and still plain. */
void files_compress(const struct active *active);
/* Is there such a file, plain or compressed? */
bool files_exists(const char *path);

/* ---- alert.c ---- */
/* Parses "PATH>LIMIT" or "PATH<LIMIT"; the path is to be freed. False: it is neither. */
bool alert_parse(const char *text, struct source *ret);
void alert_sample(struct active *active);
void alert_forget(struct source *source);

/* ---- command.c ---- */
struct command_about {
    const char *file, *counter, *value, *limit; /* what the environment says; NULL: nothing */
};
/* Runs a command line with the set's user and a new environment, after those that run already.
 * `arguments` are further words of it, and may be NULL. */
void command_run(struct runner *runner, const char *line, const char *arguments,
                 const struct command_about *about);
/* Compresses files in the background. */
void command_compress(struct runner *runner, const struct text_list *files);
/* Starts the set with this name, as `logman start` does. */
void command_start_set(struct runner *runner, const char *name);
/* Notes which command has ended, kills one that takes too long, and starts the next. */
void command_step(struct runner *runner);
/* Forgets the commands that have not begun. */
void command_forget(struct runner *runner);

/* ---- state.c: a folder for each set with a file that its runner locks, and one with its state:
 * lines of a key, a blank and a value ---- */
/* Locks the set. Returns 0, or an exit code after a message: it runs already. */
int state_lock(struct runner *runner);
/* Returns the process that runs the set; 0: none. */
pid_t state_holder(const char *name, bool user);
/* Writes the state, at most once a second unless `now`. */
void state_write(struct runner *runner, bool now);
void state_done(struct runner *runner);
/* Returns the state's text, to be freed; NULL: there is none. */
char *state_read(const char *name, bool user);

/* ---- runner.c ---- */
/* Runs the set until it ends or a signal comes. */
int runner_run(struct runner *runner);

#endif
