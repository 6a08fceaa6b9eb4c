/* SPDX-License-Identifier: MIT */
/* What the parts of perfmon share: providers, what is recorded of them, and where it is shown. */
#ifndef OPL_TOOLS_PERFMON_H
#define OPL_TOOLS_PERFMON_H

#include "../common/json.h"
#include "../common/last-event.h"
#include "../common/options.h"
#include "../common/owner.h"
#include "../common/service.h"
#include "../view/view.h"

#include <time.h>

enum { EXIT_TROUBLE = 5 }; /* a provider needs somebody */

/* What was asked for, and where it goes. */
struct perfmon {
    bool json, ask, details;
    unsigned events;
    char **words; /* services */
    size_t word_count;
    int width;
    bool utf8, colours;
};

/* ---- events.c: the event log, read whole ---- */
struct event {
    char *time; /* UTC, ISO 8601 */
    char *source, *level, *service, *text;
    unsigned id;
};
struct event_log {
    bool readable;
    char why[256]; /* it is not */
    struct event *list;
    size_t count, room;
};
/* The file below OPENPERFLIB_ROOT, else the journal. */
void event_log_read(struct event_log *log);
void event_log_done(struct event_log *log);
/* The last `most` different events of a service, oldest first; `warnings`: without mere
 * information. */
struct recent {
    const struct event *event; /* the last one that says so */
    size_t count;              /* how many say so */
};
size_t event_log_last(const struct event_log *log, const char *service, bool warnings, size_t most,
                      struct recent *ret);

/* ---- ask.c: a provider asked now ---- */
struct answer {
    bool asked, answered;
    double first_ms, again_ms; /* with loading and Open; and the next one */
    size_t objects, instances;
    LSTATUS status;
};
/* By its objects' numbers; not asked when nobody knows these. */
void ask_provider(const struct service *service, struct answer *ret);

/* ---- providers.c: what the registry records of each ---- */
enum state {
    ENABLED,
    DISABLED,
    ON_PROBATION,
    LATE,
    FAILING,
    SILENT,
    NOT_LOADED,
    NO_LIBRARY,
    LIBRARY_GONE,
    QUARANTINED,
    TAKEN, /* an object of its list is another service's */
    SWITCHED_OFF,
    STATES
};
struct provider {
    struct service service;
    enum state state;
    char *path; /* of its library; NULL: it has none */
    /* From Quarantine or Unanswered: until when (0: not told), which time, and why. */
    time_t until;
    unsigned ordinal;
    const char *why; /* NULL: not told */
    size_t objects;  /* in its list */
    struct answer answer;
    /* The last one that anybody heard, as recorded. */
    time_t heard_at; /* 0: nobody recorded one */
    double heard_ms; /* how long its Collect took */
    bool heard_by_root;
    opl_load_event event; /* the last one */
    bool has_event;
};
struct providers {
    struct provider *list;
    size_t count, room;
    bool switched_off;   /* Perflib's Disable Performance Counters: nobody is asked */
    const char *missing; /* a word that is no service */
    struct owners owners;
    LSTATUS status;
};
void providers_read(const struct perfmon *perfmon, struct providers *ret);
void providers_done(struct providers *providers);
const char *provider_state(const struct provider *provider); /* "in quarantine" */
bool provider_in_trouble(const struct provider *provider);
const char *provider_place(const struct provider *provider); /* NULL: it runs nowhere */
/* What to do next, a sentence or two; "" when there is nothing to do. */
void provider_next(const struct provider *provider, const struct owners *owners, char *text,
                   size_t room);

/* ---- print.c, as-json.c ---- */
void status_print(const struct perfmon *perfmon, const struct providers *providers,
                  const struct event_log *log);
void status_json(const struct perfmon *perfmon, const struct providers *providers,
                 const struct event_log *log);

#endif
