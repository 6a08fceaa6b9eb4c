/* SPDX-License-Identifier: MIT */
/* What the files of host share: services and their code, the roster of all, an answer and what is
 * thought of it. */
#ifndef OPL_HOST_INTERNAL_H
#define OPL_HOST_INTERNAL_H

#include "host/host.h"
#include "host/isolate.h"
#include "host/module.h"
#include "wire/wire.h"

#include <pthread.h>

/* Perflib's switches (reference D.1, D.4), read whenever the registry changed. */
struct host_settings {
    uint32_t test_level;    /* ExtCounterTestLevel: 1 all checks ... 4 the caller's own buffer */
    uint32_t configuration; /* Configuration Flags, CONFIGURATION_* */
    uint32_t disabled;      /* Disable Performance Counters: nobody is asked */
    uint32_t event_level;   /* EventLogLevel: 0 nothing ... 3 all */
    uint32_t slow_open;     /* OpenProcedureWaitTime in ms: an Open that takes longer is reported */
    uint32_t error_limit;   /* Error Count Limit: so many failures are a quarantine; 0: none is */
    const struct roster
        *roster; /* that they are part of; NULL: whose objects are whose is unknown */
};
enum {
    CONFIGURATION_NO_ALIGNMENT = 1,
    CONFIGURATION_NEVER_DISABLE = 2,
    CONFIGURATION_NO_GUARDS = 4,
    CONFIGURATION_NO_HANG_TEST = 8
};
/* Who needs more than this has failed. */
enum { LARGEST_ANSWER = ISOLATE_ROOM };
enum { TICKS_PER_MS = CLOCK_TICKS_PER_SECOND / 1000 };
/* How long a provider may take, unless its registration says otherwise. (house section 0a) */
enum { DEFAULT_OPEN_MS = 2000, DEFAULT_COLLECT_MS = 1000, DEFAULT_COSTLY_MS = 30000 };

/* ---- guard.c: memory between two patterns; grows and stays ---- */
enum { GUARD_BYTES = 1024 };
struct guarded {
    unsigned char *memory;
    size_t capacity, room;
};
LSTATUS guard_arm(struct guarded *guarded, size_t room); /* room bytes between fresh patterns */
unsigned char *guard_start(const struct guarded *guarded);
bool guard_intact(const struct guarded *guarded);
void guard_done(struct guarded *guarded);

/* ---- service.c: what the registry says of one provider ---- */
enum { VALIDATION_BYTES = 16 };
struct service {
    char *name, *library, *open, *collect, *close;
    uint16_t *export_names; /* Linkage\Export as UTF-16 multi-string, or NULL */
    size_t export_units;
    uint32_t *objects; /* Object List, ascending */
    size_t object_count;
    uint32_t disable_flags, keep_resident, observe, children;
    uint32_t memory_mib; /* that its helper may have, resident; 0: the default */
    uint32_t isolation;  /* 0: in this process; 2: in a helper even if it is shipped */
    uint32_t on_demand;  /* not asked for Global and Costly before it was asked by name */
    uint32_t first_counter, last_counter;   /* 0, 0: no texts were loaded for it */
    uint32_t shares;                        /* its answers may have objects that belong to others */
    uint32_t open_timeout, collect_timeout; /* ms; 0: the default */
    char *quarantine;                       /* why and until when, or NULL */
    int64_t quarantine_end;                 /* filetime, 0: it says nothing */
    char *unanswered;                       /* so many programs heard no answer, or NULL */
    unsigned unanswered_times;
    int64_t unanswered_end; /* filetime: then it is forgotten */
    unsigned char validation[VALIDATION_BYTES];
    bool has_validation, has_list;
    bool disabled, on_probation; /* now */
    struct library *code;        /* once it was asked */
};
/* *ret: an array sorted by name; those without Library are left out. */
LSTATUS services_read(struct service **ret, size_t *ret_count);
void services_free(struct service *services, size_t count);
/* Would it load the same functions? Then loaded code may stay when the registry changed. */
bool service_same_code(const struct service *left, const struct service *right);
void settings_read(struct host_settings *ret);
int64_t service_open_ms(const struct service *service);
int64_t service_collect_ms(const struct service *service, const struct query *query);

/* ---- roster.c: all services of one moment; never altered, so that queries hold no lock ---- */
struct listed_object {
    uint32_t object, position;
};
struct roster {
    unsigned holders;
    uint64_t generation;
    int64_t valid_until; /* filetime: then somebody's quarantine ends */
    struct host_settings settings;
    struct service *services; /* the shipped ones, then the others, both by name */
    size_t count, shipped;
    /* positions in services, of the enabled ones */
    struct listed_object *listed; /* ascending */
    uint32_t *enabled, *listless;
    size_t listed_count, enabled_count, listless_count;
};
/* What the registry says now; released by each holder. */
LSTATUS roster_hold(struct roster **ret);
struct roster *roster_last(void); /* the same without a look at the registry, or NULL */
void roster_release(struct roster *roster);
/* Fills in `listed`, `enabled` and `listless`. */
LSTATUS roster_index(struct roster *roster);
void roster_index_done(struct roster *roster);

/* ---- owner.c: a number has one owner ---- */
/* May `service` answer with the object? *ret_other: to whom it belongs, if not. */
enum ownership { OWNED, OWNED_BY_OTHER, OWNED_BY_NOBODY };
enum ownership owner_find(const struct roster *roster, const struct service *service,
                          uint32_t object, const struct service **ret_other);
/* The objects of an answer that passed the checks; false: it was reported, and is to be dropped. */
struct piece;
bool owner_check(struct service *service, const struct host_settings *settings,
                 struct piece *piece);
/* Which of them is in [data, data + size) already? It is reported with the service that `who` says
 * is there; true: the piece is to be dropped. */
bool owner_check_twice(const struct service *service, const struct piece *piece, const void *data,
                       size_t size, const struct service *(*at)(const void *self, size_t offset),
                       const void *self);
/* Titles that no base knows, reported once a session. */
void owner_check_titles(struct service *service, const struct host_settings *settings,
                        const struct piece *piece);

/* ---- select.c ---- */
/* Writes the positions of the services that the query concerns, ascending, and returns how many:
 * at most roster->count. Touches no others. (C50-C55, reference C.5) */
size_t select_services(const struct roster *roster, const struct query *query, uint32_t *ret);

/* Where in roster->listed the first entry of `object` is, or would be. */
size_t select_listed(const struct roster *roster, uint32_t object);

/* ---- quarantine.c: who fails badly is left alone, for longer each time ---- */
struct patience {
    unsigned failures;    /* crashes, hangs, damage in this session */
    unsigned misses;      /* sessions that it left without an answer */
    unsigned missed;      /* answers in a row that came too late */
    int64_t last_failure; /* clock_ticks */
    int64_t until;        /* clock_ticks: not asked before */
    bool off;             /* not asked in this session */
    bool cleared;         /* the registry's values were removed */
    bool lasts;           /* it outlives the session, until an answer passes */
    bool answered;        /* an answer was heard in this session */
    bool kept;            /* the registry's value Unanswered cannot be removed */
};
extern struct quarantine_clock {
    int64_t (*ticks)(void), (*filetime)(void);
} quarantine_clock; /* tests put their own here */
/* Is it to be left alone now? The trace says why. */
bool quarantine_waits(struct service *service);
/* It crashed, hung or damaged memory: `why` says so. */
void quarantine_failure(struct service *service, const struct host_settings *settings,
                        const char *why);
/* The same at the end of a session: it crashed in Close. The first time may be chance; from the
 * second on it is left alone, and closing the key does not forgive it. */
void quarantine_lapse(struct service *service, const struct host_settings *settings,
                      const char *why);
/* It did not answer in time, in this session for the first time. No failure, but left alone from
 * the second session on, and told to other programs. */
void quarantine_miss(struct service *service, const struct host_settings *settings);
/* Did so many programs miss its answer lately that nobody should wait for it? */
bool quarantine_doubts(const struct service *service, const struct host_settings *settings);
/* The answer that was counted as missing came after all. */
void quarantine_take_back(struct service *service);
/* It answered, late or not: what programs missed is forgiven. */
void quarantine_answered(struct service *service);
/* Its answer passed. */
void quarantine_success(struct service *service);
/* It answered, but too late: who does so again and again is asked less often. */
void quarantine_late(struct service *service);
/* It could not even be asked, through no fault of its own: tried again soon. */
void quarantine_delay(struct service *service);
/* Disabled at once and for good. */
void quarantine_disable(struct service *service, const struct host_settings *settings);
/* Reads "until WHEN (first quarantine): why": 1, and WHEN as filetime; 0 and 0: it is none. */
unsigned quarantine_read(const char *text, int64_t *ret_end);

/* ---- answers.c: when each answered last, for whoever looks on ---- */
struct heard {
    _Atomic int64_t when; /* filetime of its last answer that passed, 0: none */
    _Atomic int64_t took; /* 100 ns that its Collect took */
    /* under answers.c's lock: */
    int64_t written; /* `when`, as it was written down */
    off_t place;     /* where in the file its line probably is */
};
/* Its answer passed: two stores. */
void answers_note(struct library *code, int64_t took_100ns);
/* Writes what is new, once a second at most, or at once where it is the `last` chance. */
void answers_write(const struct roster *roster, bool last);

/* ---- library.c: a provider's code, wherever it runs ---- */
enum placement { PLACE_UNKNOWN, PLACE_SHIPPED, PLACE_INSIDE, PLACE_HELPER };
/* Its helper process, and the request that was handed over last. */
struct outside {
    struct isolated *isolated;
    struct isolate_reply reply;
    bool replied; /* `reply` is the answer */
    bool opening; /* whether its Open is over is not known yet */
    bool looked;  /* and it was not when it was asked */
    size_t offered;
    bool foreign;                                      /* asked for a foreign machine */
    int64_t asked_at, open_deadline, collect_deadline; /* clock_ticks */
    int64_t collect_ms, silence_ms;                    /* until it is late, until it is ended */
    bool refusal_said, slow_open_said;                 /* in this session */
    bool unsure;        /* its last process was ended for its silence: asked, but not waited for */
    bool miss_counted;  /* the answer that it owes, or owed when the key was closed, is missed */
    bool miss_forgiven; /* one came after all: in this session they are not counted any more */
};
/* Never entered twice at once: whoever asks it in this process holds `lock`; whoever asks its
 * helper holds `claim`, and `lock` only for a look at `place` and `path`. */
struct library {
    unsigned holders; /* rosters; roster.c's lock guards it */
    struct heard heard;
    struct claim claim;
    pthread_mutex_t lock;
    enum placement place;
    char *path;    /* real, judged; once placed */
    bool unproven; /* it does not match its Library Validation Code */
    struct module module;
    bool opened;
    struct outside outside;
    struct guarded buffer;
    uint16_t *query_text; /* a fresh copy for each call: the provider may write to it */
    size_t query_room;
    _Atomic size_t filled;       /* the room that its last answer filled, or 0 */
    _Atomic size_t least_filled; /* the least such room while others had none */
    uint32_t reported;           /* bits by enum mistake: said in this session */
    uint64_t titles;             /* hash of those that were looked up last */
    _Atomic bool twice_said;     /* objects that another one had answered, in this session */
    struct patience patience;
    _Atomic bool awake;     /* in this session it was asked by name, or for a foreign machine */
    _Atomic bool busy_said; /* a query gave up waiting for another thread's */
    _Atomic bool forgiven;  /* somebody enabled it by hand: patience begins anew */
};
LSTATUS library_new(struct library **ret);
/* Finds the file, judges it, decides where it runs. A failure is reported and tried again. Under
 * the lock. */
LSTATUS library_place(struct service *service);
/* Loads and opens in this process; a failure is reported, leaves nothing behind and is tried
 * again. */
LSTATUS library_open(struct service *service, const struct host_settings *settings);
/* Its failures, as events. `why` may be "". */
void library_report_load(const struct service *service, LSTATUS status, const char *why);
void library_report_missing(const struct service *service, enum module_procedure missing);
void library_report_open(const struct service *service, LSTATUS status);
void library_report_slow_open(const struct service *service, int64_t ms);
/* The session ends. Waits for whoever is asking. Without `settings` its failures do not count. */
void library_close(struct service *service, const struct host_settings *settings, bool unload);
void library_free(struct service *service);
/* Will it probably be? Cheap, for the order of answers. */
bool library_named_as_shipped(const char *library);
/* A provider's code runs in this thread: it must not ask again, it would wait for itself. */
void provider_enter(void);
void provider_leave(void);
bool provider_inside(void);

/* ---- verdict.c: one row per mistake ---- */
enum mistake {
    MISTAKE_NONE,
    MISTAKE_LENGTH,      /* pointer and length disagree; the pointer is believed */
    MISTAKE_SILENT,      /* outputs left as they were */
    MISTAKE_OVERRUN,     /* the pointer ends in the guard */
    MISTAKE_HEAP,        /* the pointer ends beyond it */
    MISTAKE_GUARD,       /* a guard was written to */
    MISTAKE_OBJECTS,     /* object lengths do not add up */
    MISTAKE_DEFINITIONS, /* definition lengths do not add up */
    MISTAKE_INSTANCES,   /* instances do not end with their object */
    MISTAKE_TWICE,       /* two objects of one number */
    MISTAKE_BASE,        /* a counter without its base behind it */
    MISTAKE_OFFSET,      /* a value outside its counter block */
    MISTAKE_FOREIGN,     /* an object that belongs to another service */
    MISTAKE_NAMELESS,    /* a title that no base knows */
    MISTAKE_ODD_LENGTH,  /* not a multiple of 4 */
    MISTAKE_ALIGNMENT,   /* not a multiple of 8 */
    MISTAKE_STATUS,      /* Collect returned an error */
    MISTAKE_GREED,       /* the largest buffer was not enough */
    MISTAKE_HOARD,       /* it fills any room that it is offered */
    MISTAKE_LATE,        /* Collect took too long */
    MISTAKE_COUNT
};
struct finding {
    enum mistake mistake;
    uint64_t numbers[2];         /* as its row names them */
    enum mistake because;        /* of MISTAKE_LENGTH: why the rest is dropped after all */
    struct wire_finding content; /* what was found inside; its field is NULL if nothing was */
    const char *owner;           /* of MISTAKE_FOREIGN: the other service's name */
};
/* Reports it and does what its row demands; is the data kept? */
bool verdict_keep(struct service *service, const struct host_settings *settings,
                  const struct finding *finding);
/* The event alone. */
void verdict_report_finding(const struct service *service, const struct finding *finding);
/* An event of source Perflib, if EventLogLevel wants it: Library and up to three more `fields`
 * (ended by one without name, or NULL); `more` may be NULL. */
void verdict_report(const struct service *service, unsigned id, const struct event_field *fields,
                    const char *more);
void verdict_set_level(uint32_t event_level);

/* ---- judge.c: an answer, and what is kept of it ---- */
struct answer {
    LSTATUS status;
    uint32_t bytes, objects; /* as Collect left them */
    int64_t end;             /* where its pointer stood, from the buffer's start */
    size_t room;             /* what it was offered */
    bool guards_intact;      /* true also where there were none */
    bool foreign;            /* to a query that names a foreign machine */
    int64_t took_100ns;      /* Collect */
    /* fetches its first bytes; NULL: they are in place */
    void (*copy)(void *self, void *to, size_t size);
    void *self;
};
/* The part of the caller's buffer that is still free, and what came into it. */
struct piece {
    unsigned char *data;
    size_t room, size;
    uint32_t objects;
    bool whole;         /* a whole PERF_DATA_BLOCK, of a foreign machine */
    bool unowned;       /* it has objects that are registered to nobody */
    int64_t took_100ns; /* Collect, for answers_note; below 0: no answer passed */
};
/* ERROR_MORE_DATA: it needs more room. Else success, with piece->size 0 when nothing was kept. */
LSTATUS judge(struct service *service, const struct host_settings *settings,
              const struct answer *answer, struct piece *piece);
/* The query in which it answered last ended for want of room. */
void judge_starving(struct service *service);

/* ---- call.c ---- */
/* Loads, opens and asks in this process. */
LSTATUS call_collect(struct service *service, const struct host_settings *settings,
                     const struct query *query, struct piece *piece);

/* ---- outside.c: the same in two steps, in its helper process ---- */
struct outside_question {
    const struct host_settings *settings;
    const struct query *query;
    size_t room;   /* that it is offered */
    int64_t start; /* when the query began to ask, in clock_ticks */
};
/* Waits until then for other threads that ask it. BUSY: one still does, come again. NOT_ASKED: it
 * is not to be, or cannot be, which was said. ASKED: outside_finish must follow. */
enum outside_asked { OUTSIDE_NOT_ASKED, OUTSIDE_ASKED, OUTSIDE_BUSY };
enum outside_asked outside_ask(struct service *service, const struct outside_question *question,
                               int64_t until);
/* Waits for its answer until then, or until its deadline: would outside_finish return at once? */
bool outside_is_ready(struct service *service, const struct host_settings *settings, int64_t until);
/* How much room a ready answer takes, 0: none. */
size_t outside_size(const struct service *service);
LSTATUS outside_finish(struct service *service, const struct host_settings *settings,
                       struct piece *piece);
void outside_close(struct service *service, const struct host_settings *settings, bool unload);

#endif
