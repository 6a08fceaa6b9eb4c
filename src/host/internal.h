/* SPDX-License-Identifier: MIT */
/* What the files of host share: services and their code, the service table, answers and their
 * checks. */
#ifndef OPL_HOST_INTERNAL_H
#define OPL_HOST_INTERNAL_H

#include "host/host.h"
#include "host/isolate.h"
#include "host/module.h"
#include "wire/wire.h"

#include <pthread.h>

/* Perflib's switches (docs/windows/providers.md#d1, docs/windows/providers.md#d4), read again when
 * the registry changes. */
struct host_settings {
    uint32_t test_level;    /* ExtCounterTestLevel: 1 all checks ... 4 the caller's own buffer */
    uint32_t configuration; /* Configuration Flags, CONFIGURATION_* */
    uint32_t disabled;      /* Disable Performance Counters: no provider is queried */
    uint32_t event_level;   /* EventLogLevel: 0 nothing ... 3 all */
    uint32_t slow_open;     /* OpenProcedureWaitTime in ms: an Open that takes longer is reported */
    uint32_t error_limit;   /* Error Count Limit: failures until a quarantine; 0: no quarantines */
    const struct service_table
        /* the table that these settings belong to; NULL: the owners of objects are unknown */
        *table;
};
enum {
    CONFIGURATION_NO_ALIGNMENT = 1,
    CONFIGURATION_NEVER_DISABLE = 2,
    CONFIGURATION_NO_GUARDS = 4,
    CONFIGURATION_NO_HANG_TEST = 8
};
/* In bytes; a provider that needs more has failed. */
enum { LARGEST_ANSWER = ISOLATE_LARGEST };
enum { TICKS_PER_MS = CLOCK_TICKS_PER_SECOND / 1000 };
/* How long a provider may take, unless its registration states otherwise. */
enum { DEFAULT_OPEN_MS = 2000, DEFAULT_COLLECT_MS = 1000, DEFAULT_COSTLY_MS = 30000 };

/* ---- guard.c: a buffer between two guard patterns; it grows and is reused ---- */
enum { GUARD_BYTES = 1024 };
struct guarded {
    unsigned char *memory;
    size_t allocated, capacity;
};
/* prepares a buffer of this size between fresh patterns */
LSTATUS guard_arm(struct guarded *guarded, size_t capacity);
unsigned char *guard_start(const struct guarded *guarded);
bool guard_intact(const struct guarded *guarded);
void guard_done(struct guarded *guarded);

/* ---- service.c: one provider's registration ---- */
enum { VALIDATION_BYTES = 16 };
struct service {
    char *name, *library, *open, *collect, *close;
    uint16_t *export_names; /* Linkage\Export as UTF-16 multi-string, or NULL */
    size_t export_units;
    uint32_t *objects; /* Object List, ascending */
    size_t object_count;
    uint32_t disable_flags, keep_resident, observe, children;
    uint32_t memory_mib; /* resident memory limit of its helper; 0: the default */
    uint32_t isolation;  /* 0: in this process; 1: third-party in a helper; 2: any in a helper */
    /* not in Global and Costly queries until a query has named one of its objects */
    uint32_t on_demand;
    uint32_t first_counter, last_counter; /* 0, 0: no texts were loaded for it */
    uint32_t shares; /* answers may contain objects that belong to other services */
    uint32_t open_timeout, collect_timeout; /* ms; 0: the default */
    char *quarantine;       /* the registry's value Quarantine (reason and end), or NULL */
    int64_t quarantine_end; /* FILETIME when the quarantine ends; 0: none is stated */
    /* the registry's value Unanswered (how many programs got no answer), or NULL */
    char *unanswered;
    unsigned unanswered_times;
    int64_t unanswered_end; /* FILETIME when that value expires */
    unsigned char validation[VALIDATION_BYTES];
    bool has_validation, has_list;
    bool disabled, on_probation; /* now */
    struct library *code;        /* NULL until the service is queried */
};
/* Returns an array sorted by name; services without Library are left out. */
LSTATUS services_read(struct service **ret, size_t *ret_count);
void services_free(struct service *services, size_t count);
/* True if both would load the same functions: then loaded code may stay when the registry
 * changed. */
bool service_same_code(const struct service *left, const struct service *right);
void settings_read(struct host_settings *ret);
int64_t service_open_ms(const struct service *service);
int64_t service_collect_ms(const struct service *service, const struct query *query);

/* ---- service_table.c: all services at one moment; never altered, so queries hold no lock ---- */
struct listed_object {
    uint32_t object, position;
};
struct service_table {
    unsigned holders;
    uint64_t generation;
    int64_t valid_until; /* FILETIME: the table must be rebuilt when the next quarantine ends */
    struct host_settings settings;
    struct service *services; /* the shipped services, then the others; each part sorted by name */
    size_t count, shipped;
    /* the members below list enabled services by their positions in `services` */
    struct listed_object *listed; /* ascending */
    uint32_t *enabled, *listless;
    size_t listed_count, enabled_count, listless_count;
};
/* The table as of the registry's current state; each holder must release it. */
LSTATUS service_table_hold(struct service_table **ret);
struct service_table *
service_table_last(void); /* the last table, without checking the registry; NULL: none */
void service_table_release(struct service_table *table);
/* Fills in `listed`, `enabled` and `listless`. */
LSTATUS service_table_index(struct service_table *table);
void service_table_index_done(struct service_table *table);

/* ---- owner.c: an object number has one owner ---- */
/* May `service` answer with the object? *ret_other: its owner, if not. */
enum ownership { OWNED, OWNED_BY_OTHER, UNOWNED };
enum ownership owner_find(const struct service_table *table, const struct service *service,
                          uint32_t object, const struct service **ret_other);
/* Checks the owners of the objects of an answer that passed the other checks; false: reported, drop
 * it. */
struct piece;
bool owner_check(struct service *service, const struct host_settings *settings,
                 struct piece *piece);
/* True if an object of the piece is in [data, data + size) already: the piece must be dropped. This
 * is reported with the service that `at` returns for the object's offset. */
bool owner_check_twice(const struct service *service, const struct piece *piece, const void *data,
                       size_t size, const struct service *(*at)(const void *self, size_t offset),
                       const void *self);
/* Reports title numbers that have no name in any language, once a session. */
void owner_check_titles(struct service *service, const struct host_settings *settings,
                        const struct piece *piece);

/* ---- select.c ---- */
/* Writes the positions of the services that the query concerns, ascending, and returns their
 * number: at most table->count. Runs in time that does not depend on other services.
 * (docs/windows/articles.md#c50, docs/windows/queries.md#c5) */
size_t select_services(const struct service_table *table, const struct query *query, uint32_t *ret);

/* The position in table->listed of the first entry of `object`, or where it would be inserted. */
size_t select_listed(const struct service_table *table, uint32_t object);

/* ---- quarantine.c: a provider that fails is not queried, for longer each time ---- */
enum backoff_count {
    NO_COUNT,
    FAILURES,        /* crashes, hangs and damage in this session */
    MISSES,          /* sessions in which it did not answer */
    OVERDUE_ANSWERS, /* answers in a row that were too late */
    BACKOFF_COUNTS
};
struct backoff {
    unsigned counts[BACKOFF_COUNTS];
    int64_t last_failure; /* clock_ticks */
    int64_t until;        /* clock_ticks before which the provider is not queried */
    bool off;             /* the provider is not queried in this session */
    bool cleared;         /* the registry's values were removed */
    bool lasts;           /* the state persists beyond the session, until an answer passes */
    bool answered;        /* the provider answered in this session */
    bool kept;            /* the registry's value Unanswered cannot be removed */
};
extern struct quarantine_clock {
    int64_t (*ticks)(void), (*filetime)(void);
} quarantine_clock; /* replaced by tests */
/* What happened to a provider; `transitions` of quarantine.c says what follows. */
enum provider_event {
    PROVIDER_UNCHANGED,
    PROVIDER_FAILED, /* it crashed, hung or damaged memory: `why` says which */
    /* It crashed in Close, at the end of a session. The first time may be chance; from the second
     * on it is not queried for a while, and closing the key does not reset that. */
    PROVIDER_CRASHED_LAST,
    /* It did not answer in time, for the first time in this session. This is not a failure, but
     * from the second session on it is not queried for a while, and other programs are informed. */
    PROVIDER_MISSED,
    PROVIDER_OVERDUE,   /* it answered, but too late: after several it is queried less often */
    PROVIDER_CAUGHT_UP, /* an answer arrived that was counted as missing */
    PROVIDER_ANSWERED,  /* it answered, and no query waited for that */
    PROVIDER_IN_TIME,   /* it answered in time; its answer is not checked yet */
    PROVIDER_PASSED,    /* its answer passed all checks */
    PROVIDER_SILENT,    /* Collect changed none of its outputs: disables it permanently */
    PROVIDER_NO_HELPER, /* it could not be queried for a reason outside of it: retried soon */
    PROVIDER_CLOSED,    /* the session ended */
    PROVIDER_ENABLED,   /* it was enabled by hand: its failures are forgotten */
    PROVIDER_EVENTS
};
/* Counts the event and does what follows from it. Without `settings` nothing is counted. `why` is
 * needed for failures only. */
void quarantine_take(struct service *service, const struct host_settings *settings,
                     enum provider_event event, const char *why);
/* Must the provider be skipped now? The trace prints the reason. */
bool quarantine_waits(struct service *service);
/* Did so many programs get no answer lately that queries should not wait for this provider? */
bool quarantine_suspects(const struct service *service, const struct host_settings *settings);
/* Parses "until WHEN (first quarantine): why": returns 1, and WHEN as filetime; 0 and 0 if it is no
 * such text. */
unsigned quarantine_read(const char *text, int64_t *ret_end);

/* ---- answers.c: when each provider answered last, for monitoring tools ---- */
struct heard {
    _Atomic int64_t when; /* FILETIME of the last answer that passed the checks; 0: none */
    _Atomic int64_t took; /* duration of its Collect, in units of 100 ns */
    /* answers.c's lock guards the members below */
    int64_t written; /* `when`, as last written to the file */
    off_t place;     /* the probable offset of its line in the file */
};
/* Records that an answer passed the checks; costs two stores. */
void answers_note(struct library *code, int64_t took_100ns);
/* Writes new times to the file, at most once a second; with `last` at once. */
void answers_write(const struct service_table *table, bool last);

/* ---- library.c: a provider's code, wherever it runs ---- */
enum placement { PLACE_UNKNOWN, PLACE_SHIPPED, PLACE_INSIDE, PLACE_HELPER };
/* The helper process of a provider, and the last request to it. */
struct isolated {
    struct isolated_provider *isolated;
    struct isolate_reply reply;
    bool replied; /* `reply` has the helper's answer */
    bool opening; /* it is not known yet whether Open has ended */
    bool looked;  /* a wait for the answer ended while Open was running */
    size_t offered;
    bool foreign;                                          /* the request names a foreign machine */
    int64_t requested_at, open_deadline, collect_deadline; /* clock_ticks */
    int64_t collect_ms, silence_ms; /* ms until the answer is late; ms until the helper is ended */
    bool refusal_reported, slow_open_reported; /* both in this session */
    /* the last helper was ended because it did not answer: it is queried, but not waited for */
    bool suspect;
    /* the answer that it owes, or owed when the key was closed, is counted as missing */
    bool miss_counted;
    /* a missing answer arrived after all: no more are counted in this session */
    bool miss_forgiven;
};
/* Never entered by two threads at once: a thread that queries it in this process holds `lock`; a
 * thread that queries its helper holds `claim`, and takes `lock` only to read `place` and
 * `path`. */
struct library {
    unsigned holders; /* service tables; guarded by service_table.c's lock */
    struct heard heard;
    struct claim claim;
    pthread_mutex_t lock;
    enum placement place;
    char *path;    /* the real path, after its checks; set by library_place */
    bool unproven; /* the file does not match its Library Validation Code */
    struct module module;
    bool opened;
    struct isolated isolated;
    struct guarded buffer;
    uint16_t *query_text; /* a fresh copy for each call: the provider may write to it */
    size_t query_capacity;
    _Atomic size_t filled;       /* the buffer size that the last answer filled; 0: none */
    _Atomic size_t least_filled; /* the smallest such size at which other answers lacked space */
    uint32_t reported;           /* one bit for each enum fault that was reported in this session */
    uint64_t titles;             /* hash of the title numbers that were checked last */
    /* duplicates of another provider's objects were reported in this session */
    _Atomic bool twice_reported;
    struct backoff backoff;
    _Atomic bool awake; /* queried by name or for a foreign machine in this session */
    /* it was reported that a query gave up waiting for another thread's query */
    _Atomic bool busy_reported;
    _Atomic bool forgiven; /* enabled by hand: its failures are forgotten */
};
LSTATUS library_new(struct library **ret);
/* Finds and checks the library's file, and decides where it runs. A failure is reported and retried
 * later. The caller holds the lock. */
LSTATUS library_place(struct service *service);
/* Loads and opens in this process; a failure is reported, undone and retried later. */
LSTATUS library_open(struct service *service, const struct host_settings *settings);
/* Each reports a failure to load or open the library as an event. `why` may be "". */
void library_report_load(const struct service *service, LSTATUS status, const char *why);
void library_report_missing(const struct service *service, enum module_procedure missing);
void library_report_open(const struct service *service, LSTATUS status);
void library_report_slow_open(const struct service *service, int64_t ms);
/* Ends the session. Waits for threads that are querying it. Without `settings` its failures are not
 * counted. */
void library_close(struct service *service, const struct host_settings *settings, bool unload);
void library_free(struct service *service);
/* Is this a shipped library, judged by the registered path alone? Cheap; decides the order of
 * answers. */
bool library_named_as_shipped(const char *library);
/* Marks that a provider's code runs in this thread. A query by that code would wait for itself, and
 * is refused. */
void provider_enter(void);
void provider_leave(void);
bool provider_inside(void);

/* ---- verdict.c: one row per mistake ---- */
enum fault {
    FAULT_NONE,
    FAULT_LENGTH,       /* pointer and length disagree; the pointer is used */
    FAULT_SILENT,       /* outputs left unchanged */
    FAULT_OVERRUN,      /* the pointer ends in the guard */
    FAULT_HEAP,         /* the pointer ends beyond it */
    FAULT_GUARD,        /* a guard was written to */
    FAULT_OBJECTS,      /* object lengths do not add up */
    FAULT_DEFINITIONS,  /* definition lengths do not add up */
    FAULT_INSTANCES,    /* instances do not end with their object */
    FAULT_TWICE,        /* two objects of one number */
    FAULT_BASE,         /* a counter that is not followed by its base */
    FAULT_OFFSET,       /* a value outside its counter block */
    FAULT_FOREIGN,      /* an object that belongs to another service */
    FAULT_UNNAMED,      /* a title number without a name in any language */
    FAULT_ODD_LENGTH,   /* not a multiple of 4 */
    FAULT_ALIGNMENT,    /* not a multiple of 8 */
    FAULT_STATUS,       /* Collect returned an error */
    FAULT_NEVER_ENOUGH, /* the largest buffer was not enough */
    FAULT_BUFFER_HOG,   /* it fills any buffer that it is given */
    FAULT_OVERDUE,      /* Collect took too long */
    FAULT_COUNT
};
struct fault_finding {
    enum fault fault;
    uint64_t numbers[2]; /* found numbers; the names of their fields are in the fault's row */
    enum fault because;  /* for FAULT_LENGTH: why the answer is dropped nevertheless */
    /* what was found in the answer; its field is NULL if nothing was */
    struct wire_finding content;
    const char *owner; /* for FAULT_FOREIGN: the service that owns the object */
};
/* Reports the fault and applies the consequences in its row; returns whether the data is kept. */
bool verdict_keep(struct service *service, const struct host_settings *settings,
                  const struct fault_finding *finding);
/* Only writes the fault's event. */
void verdict_report_finding(const struct service *service, const struct fault_finding *finding);
/* An event of source Perflib, if EventLogLevel allows it: Library and up to three more `fields`
 * (terminated by one without name, or NULL); `more` may be NULL. */
void verdict_report(const struct service *service, unsigned id, const struct event_field *fields,
                    const char *more);
void verdict_set_level(uint32_t event_level);

/* ---- judge.c: checks an answer and decides what is kept ---- */
struct answer {
    LSTATUS status;
    uint32_t bytes, objects; /* outputs as Collect left them */
    int64_t end;             /* the returned pointer, relative to the buffer's start */
    size_t capacity;         /* size of the buffer that Collect was given */
    bool guards_intact;      /* also true if the buffer had no guards */
    bool foreign;            /* the query names a foreign machine */
    int64_t took_100ns;      /* Collect */
    /* copies the answer's first bytes; NULL: they are in place already */
    void (*copy)(void *self, void *to, size_t size);
    void *self;
};
/* The free part of the caller's buffer, and the answer put there. */
struct piece {
    unsigned char *data;
    size_t capacity, size;
    uint32_t objects;
    bool whole;         /* a whole PERF_DATA_BLOCK, of a foreign machine */
    bool unowned;       /* has objects that are not registered to any service */
    int64_t took_100ns; /* duration of Collect, for answers_note; below 0: no valid answer */
};
/* Returns ERROR_MORE_DATA if the provider needs a larger buffer. Otherwise success, with
 * piece->size 0 if nothing was kept. */
LSTATUS judge(struct service *service, const struct host_settings *settings,
              const struct answer *answer, struct piece *piece);
/* Records that the last query that the provider answered left too little space for others. */
void note_buffer_pressure(struct service *service);

/* ---- call.c ---- */
/* Loads, opens and collects in this process. */
LSTATUS call_collect(struct service *service, const struct host_settings *settings,
                     const struct query *query, struct piece *piece);

/* ---- isolated.c: the same in a helper process, in two steps: request and answer ---- */
struct isolated_request {
    const struct host_settings *settings;
    const struct query *query;
    size_t capacity; /* size of the buffer that Collect is given */
    int64_t start;   /* when the query began, in clock_ticks */
};
/* Waits at most until `until` for other threads that query the provider, then sends the request.
 * ISOLATED_BUSY: another thread still queries it, call again. ISOLATED_NOT_REQUESTED: it must not
 * or cannot be queried, which was reported. ISOLATED_REQUESTED: isolated_finish must follow. */
enum isolated_begun { ISOLATED_NOT_REQUESTED, ISOLATED_REQUESTED, ISOLATED_BUSY };
enum isolated_begun isolated_begin_collect(struct service *service,
                                           const struct isolated_request *question, int64_t until);
/* Waits for the answer until `until`, or until the provider's deadline; true if isolated_finish
 * would return at once. */
bool isolated_is_ready(struct service *service, const struct host_settings *settings,
                       int64_t until);
/* The size of a ready answer, 0: none. */
size_t isolated_size(const struct service *service);
LSTATUS isolated_finish(struct service *service, const struct host_settings *settings,
                        struct piece *piece);
void isolated_close(struct service *service, const struct host_settings *settings, bool unload);

#endif
