/* SPDX-License-Identifier: MIT */
/* Shared by the parts of perfmon: providers, their recorded state, and output. */
#ifndef OPL_TOOLS_PERFMON_H
#define OPL_TOOLS_PERFMON_H

#include "../common/json.h"
#include "../common/last-event.h"
#include "../common/owner.h"
#include "../common/service.h"
#include "../model/catalogue.h"
#include "../view/view.h"
#include "option-rows.h"

#include <time.h>

enum { EXIT_TROUBLE = 5 }; /* exit code: a provider needs attention */

/* ---- events.c: the whole event log ---- */
struct event {
    char *time; /* time in UTC, ISO 8601 */
    char *source, *level, *service, *text;
    unsigned id;
};
struct event_log {
    bool readable;
    char why[256]; /* why the log cannot be read */
    struct event *list;
    size_t count, capacity;
};
/* Reads the files in the folder OPENPERFLIB_ROOT, or if that variable is not set, the journal. */
void event_log_read(struct event_log *log);
void event_log_done(struct event_log *log);
/* event_log_last gets the last different events of a service, oldest first, and returns their
 * number, at most `most`; `warnings`: without events of level information. */
struct recent {
    const struct event *event; /* the last one of several equal events */
    size_t count;              /* number of equal events */
};
size_t event_log_last(const struct event_log *log, const char *service, bool warnings, size_t most,
                      struct recent *ret);

/* ---- open.c: the page; both return an exit code ---- */
/* Runs openperflib-serve in place of this program; args[0] is changed. */
int serve_run(char **args);
/* Gets a link from the server at the socket `named`, NULL: the usual ones, and opens it in the
 * browser; with `print`, or where there is none, prints it. */
int open_run(const char *named, bool print);

/* ---- query.c: queries a provider now ---- */
struct status_answer {
    bool queried, answered;
    bool only_global; /* the provider answers Global, but not the numbers of its objects */
    /* duration in ms of the first query, with loading and Open, and of the next query */
    double first_ms, again_ms;
    size_t objects, instances;
    LSTATUS status;
};
/* Queries a provider by its objects' numbers; does nothing if these are unknown. */
void query_provider(const struct service_settings *service, struct status_answer *ret);

/* ---- providers.c: each provider's state in the registry ---- */
enum state {
    ENABLED,
    DISABLED,
    ON_PROBATION,
    OVERDUE,
    FAILING,
    SILENT,
    NOT_LOADED,
    NO_LIBRARY,
    LIBRARY_GONE,
    QUARANTINED,
    TAKEN, /* an object in the provider's list belongs to another service */
    REFUSED,
    SWITCHED_OFF,
    STATES
};
struct provider {
    struct service_settings service;
    enum state state;
    char *path;    /* path of the provider's library; NULL: none */
    char *refused; /* why the library may not be loaded; NULL: nothing forbids it */
    /* From the registry value Quarantine or Unanswered: the end of that state (0: not recorded),
     * its ordinal number (2: the second time) and its reason. */
    time_t until;
    unsigned ordinal;
    const char *why; /* the reason; NULL: not recorded */
    size_t objects;  /* number of objects in the provider's list */
    struct status_answer answer;
    /* The last answer that any program received, as recorded. */
    time_t heard_at; /* time of the answer; 0: no answer is recorded */
    double heard_ms; /* duration of Collect for that answer, in ms */
    bool heard_by_root;
    bool untried;         /* enabled after a quarantine, and no answer since */
    opl_load_event event; /* the provider's last event */
    bool has_event;
};
struct providers {
    struct provider *list;
    size_t count, capacity;
    bool switched_off;   /* Perflib's Disable Performance Counters: no provider is queried */
    const char *missing; /* the first argument that is not a service */
    struct owners owners;
    LSTATUS status;
};
void providers_read(const struct perfmon *perfmon, struct providers *ret);
void providers_done(struct providers *providers);
const char *provider_state(const struct provider *provider); /* such as "in quarantine" */
bool provider_in_trouble(const struct provider *provider);
/* Returns "isolated" or "in-process"; NULL: the provider has no library. */
const char *provider_place(const struct provider *provider);
/* Writes what the user can do next, a sentence or two; "" for nothing. */
void provider_next(const struct provider *provider, const struct owners *owners, char *text,
                   size_t capacity);

/* ---- find-object.c ---- */
/* Finds the object that a word names, such as "Process", "230", "Process(b*)" or a service. Changes
 * the word; *ret_instances becomes its pattern of instances, if the word has one. NULL: there is
 * none, for the reason in *ret_status. */
struct catalogue *find_object(const char *machine, const char *files, char *word,
                              const char **ret_instances, PDH_STATUS *ret_status);
/* Prints that there is no such object, and names that are like it; returns the exit code. */
int complain_of_object(const char *machine, const char *files, const char *word, PDH_STATUS status);

/* ---- explain.c ---- */
/* Explains the counters of the arguments; for words that are no paths, prints paths that match.
 * Returns an exit code. */
int explain_run(const struct perfmon *perfmon);

/* ---- print.c, as-json.c; both return how many files of the providers' state are unusable ---- */
unsigned status_print(const struct perfmon *perfmon, const struct providers *providers,
                      const struct event_log *log);
unsigned status_json(const struct perfmon *perfmon, const struct providers *providers,
                     const struct event_log *log);

#endif
