/* SPDX-License-Identifier: MIT */
/* What the parts of openperflib-check share. */
#ifndef OPL_TOOLS_CHECK_H
#define OPL_TOOLS_CHECK_H

#include "worker.h"
#include "../common/child.h"
#include "../common/refused.h"
#include "../common/service.h"
#include "../common/status.h"
#include "../view/view.h"
#include "option-rows.h"

#include <stdio.h>
#include <sys/types.h>

/* ---- report.c: findings ---- */
enum { FINDING_TEXT = 320, FINDINGS_MOST = 400 };
struct finding {
    bool warning;     /* true: a warning; false: a mistake */
    uint32_t object;  /* title index; 0: the finding concerns no object */
    uint32_t counter; /* title index; 0: the finding concerns no counter */
    char instance[128];
    const char *field;
    char found[FINDING_TEXT], expected[FINDING_TEXT];
    const char *section; /* section of docs/provider-guide.md that explains the finding */
    char details[FINDING_TEXT * 4]; /* further lines: frames of a crash, a sanitizer's report */
    unsigned times;
};
struct report {
    const char *library;
    struct finding list[FINDINGS_MOST];
    size_t count, lost; /* lost: findings that were dropped, because the report was full */
    struct view_names names;
};
/* Where a finding was made: the fields of struct finding that the caller sets. */
struct place {
    uint32_t object, counter;
    const char *instance; /* NULL: none */
};
enum severity { MISTAKE, WARNING };
/* Adds a finding, or increments the count of an equal finding (same object, counter, field and
 * section). `found` is a format string. Returns the finding, for more details; NULL: the report is
 * full. */
struct finding *report_add(struct report *report, enum severity severity, const struct place *place,
                           const char *field, const char *section, const char *expected,
                           const char *found, ...) __attribute__((format(printf, 7, 8)));
size_t report_mistakes(const struct report *report);
/* Turns the mistakes of a field into warnings where they were found fewer than `times` times. */
void report_rare_as_warning(struct report *report, const char *field, unsigned times);

/* Sections of the guide that explain a finding. */
#define IN_RETURNS "what-collect-returns"
#define IN_OBJECTS "lengths-of-objects"
#define IN_COUNTERS "counter-definitions"
#define IN_INSTANCES "instances"
#define IN_NAMES "numbers-and-names"
#define IN_VALUES "values"
#define IN_QUERIES "queries"
#define IN_LIFE "open-close-and-time"
#define IN_PROCESS "what-belongs-to-the-process"

/* ---- registration.c: what the library is registered as ---- */
struct registration {
    const char *library;        /* real path of the library */
    char refused[REFUSED_TEXT]; /* why the library may not be loaded; "": it may */
    const char *ini;            /* NULL: none */
    char *procedures[3];
    char *service;     /* name of the service; NULL: not registered */
    char *object_list; /* NULL: none */
    /* the service's numbers; 0: the service has no such number */
    DWORD first_counter, last_counter, first_help, last_help;
    DWORD open_ms, collect_ms;
    char *root; /* the temporary registry; NULL: the system's is used */
    /* the library may start processes: its registration has the value Children = 1, or it runs in
     * the calling program, which isolation does not limit */
    bool may_start;
    bool has_names; /* the registry has names for the library's title indices */
};
/* The command line's options; NULL: not given. */
/* Registers the library in a temporary registry by its ini file (given or found in its folder),
 * or uses its existing registration. False: the reason is on stderr, *ret_code is the exit code.
 * Findings about the ini file go into the report. */
bool registration_make(const struct wanted *wanted, struct registration *ret, struct report *report,
                       int *ret_code);
void registration_done(struct registration *registration);

/* ---- drive.c: controls the worker process ---- */
enum worker_end {
    WORKER_ANSWERED,
    WORKER_OVERDUE,     /* the worker missed its deadline and was killed */
    WORKER_CUT,         /* the time of the check ended before the worker's deadline */
    WORKER_CRASHED,     /* a signal ended the worker; `code` is its number */
    WORKER_EXITED,      /* the worker called exit, with `code` */
    WORKER_LEFT,        /* the worker executed another program */
    WORKER_DUMB,        /* the worker closed its socket, or sent invalid data */
    WORKER_OVERWRITTEN, /* the marks in the shared memory were overwritten */
};
struct worker {
    struct worker_channel *channel;
    pid_t process;
    /* the socket to the worker; the file that receives the worker's standard output and error */
    int socket, output_file;
    int listener;    /* readable when the library tries to start a process; -1: none */
    unsigned starts; /* number of attempts to start a process since the last reset */
    uint64_t number;
    enum worker_end end; /* how the worker answered the last order */
    int code;
    bool sanitized; /* the library was built with a sanitizer, whose runtime is loaded first */
};
/* Calls `find` with the content of the library's file and returns its result; false: the library is
 * not a file, or cannot be read. */
bool library_read(const char *library, bool (*find)(const unsigned char *, size_t, void *),
                  void *self);
bool worker_start(struct worker *worker, const struct registration *registration,
                  struct report *report);
/* Sends channel->request and waits for the reply, at most `most_ms` (more if the machine is busy)
 * and never more than `left_ms`, the rest of the time for the whole check. *ret is a copy of the
 * reply. False: worker->end has the reason, and the worker can take no more orders. */
bool worker_send(struct worker *worker, enum worker_order order, int most_ms, int left_ms,
                 struct worker_reply *ret);
/* Kills the worker and all processes that it started, reports what the worker printed, and frees
 * `worker`. */
void worker_end(struct worker *worker, struct report *report);

/* ---- answer.c: the answer of one Collect ---- */
struct check_answer {
    const char *query;
    uint32_t capacity;
    int64_t begin_ms, end_ms; /* times of the monotonic clock before and after the call, in ms */
    struct worker_reply reply;
    unsigned char *data; /* a copy of the answer's `size` bytes */
    size_t size;
    /* walks over `data`; header.NumObjectTypes is 0 when the lengths do not add up */
    opl_block block;
};
/* Checks status, pointer, lengths and guards. False: there is no data to check further. */
bool answer_check_returns(const struct check_answer *answer, struct report *report);
/* Returns the number of objects and instances in an answer whose lengths add up. */
size_t answer_count(struct check_answer *answer);
/* Checks the lengths inside the data. False: the lengths do not add up. */
bool answer_check_lengths(struct check_answer *answer, struct report *report);
void answer_done(struct check_answer *answer);

/* ---- fields.c: every field of an answer whose lengths add up ---- */
void fields_check(struct check_answer *answer, const struct registration *registration,
                  struct report *report);
/* ---- compare.c: two answers to one query, the older one first ---- */
/* Reports values and times that fell from `before` to `now`. `first` is an answer before these two,
 * or has no data. */
void values_compare(struct check_answer *first, struct check_answer *before,
                    struct check_answer *now, struct report *report);
/* True if this is the name of a sum. A sum falls when one of its instances ends. */
bool is_total(const char *name);
/* Reports a PerfTime that is unchanged although values have changed. */
void values_compare_times(struct check_answer *before, struct check_answer *now,
                          struct report *report);

/* ---- constant.c: what must be the same in two answers to one query, the older one first ---- */
#define CHANGED_ID "UniqueID of a name" /* only a warning if it is rare */
void constants_compare(struct check_answer *before, struct check_answer *now,
                       struct report *report);

/* ---- pace.c: the progress of times in answers that were collected PACE_MS apart ---- */
enum { PACE_ANSWERS = 3, PACE_MS = 40 };
void pace_check(struct check_answer answers[static PACE_ANSWERS], struct report *report);

/* ---- trial.c: the sequence of tests ---- */
/* The steps that are left out if calls are slow. */
enum step {
    STEP_OWN,
    STEP_FOREIGN,
    STEP_SIZES,
    STEP_THREADS,
    STEP_ROUNDS,
    STEP_AGAIN,
    STEP_REOPEN,
    STEP_SHORT,
    STEP_COSTLY,
    STEP_PERFLIB,
    STEP_COUNT
};
struct timing {
    int64_t begin_ms; /* time of the monotonic clock when this program began, in ms */
    unsigned planned[STEP_COUNT], made[STEP_COUNT];
    double open_ms, close_ms, median_ms, worst_ms;
    double waited_ms; /* how long the check and its worker waited for a processor, in ms */
    unsigned collects;
    bool queried_perflib; /* the library was also queried through HKEY_PERFORMANCE_DATA */
    bool hurried;         /* there were too few calls to find small leaks */
    char cut[128];        /* the call that was ended because the time was over; "": none */
};
void trial_run(const struct registration *registration, struct report *report,
               struct timing *timing);

/* ---- perflib.c: the library as programs use it ---- */
void perflib_check(const struct registration *registration, const char *query,
                   struct report *report);

/* ---- report.c: printing ---- */
void report_print(const struct report *report, const struct timing *timing, bool quiet);
void report_json(const struct report *report, const struct registration *registration,
                 const struct timing *timing);

#endif
