/* SPDX-License-Identifier: MIT */
/* What the files of host share: services and their code, the service table, answers and their
 * checks. */
#ifndef OPL_HOST_INTERNAL_H
#define OPL_HOST_INTERNAL_H

#include "host/host.h"
#include "host/isolation/isolate.h"
#include "host/module.h"
#include "wire/wire.h"

#include <pthread.h>

/* Perflib's settings (docs/windows/providers.md#d1, docs/windows/providers.md#d4), read again when
 * the registry changes. */
struct host_settings {
    /* ExtCounterTestLevel: from 1 (all checks) to 4 (no checks, and Collect gets the caller's own
     * buffer) */
    uint32_t test_level;
    uint32_t configuration; /* Configuration Flags, CONFIGURATION_* */
    uint32_t disabled;      /* Disable Performance Counters: no provider is queried */
    uint32_t event_level;   /* EventLogLevel: from 0 (no events) to 3 (all) */
    uint32_t slow_open;     /* OpenProcedureWaitTime in ms: an Open that takes longer is reported */
    uint32_t error_limit;   /* Error Count Limit: failures until a quarantine; 0: no quarantines */
    const struct service_table
        /* the service table that has these settings; NULL: owners of objects are not checked */
        *table;
};
enum {
    CONFIGURATION_NO_ALIGNMENT = 1,
    CONFIGURATION_NEVER_DISABLE = 2,
    CONFIGURATION_NO_GUARDS = 4,
    CONFIGURATION_NO_HANG_TEST = 8
};
/* bytes; a provider that needs a larger buffer has failed */
enum { LARGEST_ANSWER = ISOLATE_LARGEST };
enum { TICKS_PER_MS = CLOCK_TICKS_PER_SECOND / 1000 };
/* How long a provider may take if its registration does not say. */
enum { DEFAULT_OPEN_MS = 2000, DEFAULT_COLLECT_MS = 1000, DEFAULT_COSTLY_MS = 30000 };

/* ---- library.c: a buffer between two guard patterns; it grows and is reused ---- */
enum { GUARD_BYTES = 1024 };
struct guarded {
    unsigned char *memory;
    size_t allocated, capacity;
};

/* ---- service.c: one provider's registration ---- */
enum { VALIDATION_BYTES = 16 };
struct service {
    char *name, *library, *open, *collect, *close;
    uint16_t *export_names; /* Linkage\Export as UTF-16 multi-string, or NULL */
    size_t export_units;
    uint32_t *objects; /* Object List, ascending */
    size_t object_count;
    uint32_t disable_flags, keep_resident, observe, children;
    uint32_t memory_mib; /* limit of the helper's resident memory; 0: the default */
    uint32_t isolation;  /* 0: runs in this process; 1: in a helper if it is third-party; 2: always
                          * in a helper */
    /* not queried for Global and Costly until a query has requested one of the service's objects */
    uint32_t on_demand;
    uint32_t first_counter, last_counter; /* both 0: no texts were loaded for the service */
    uint32_t shares; /* the service's answers may have other services' objects */
    uint32_t open_timeout, collect_timeout; /* ms; 0: the default */
    char *quarantine;       /* the value Quarantine (reason and end) of the registry, or NULL */
    int64_t quarantine_end; /* FILETIME when the quarantine ends; 0: none is stated */
    /* the value Unanswered (how many programs got no answer) of the registry, or NULL */
    char *unanswered;
    unsigned unanswered_times;
    int64_t unanswered_end; /* FILETIME when the value Unanswered expires */
    unsigned char validation[VALIDATION_BYTES];
    bool has_validation, has_list;
    bool disabled, on_probation; /* the service's state when the table was made */
    struct library *code;        /* the service's code; NULL until the service is queried */
};
int64_t service_open_ms(const struct service *service);
int64_t service_collect_ms(const struct service *service, const struct query *query);

/* ---- service.c: all services at one time; never changed, so queries need no lock ---- */
struct listed_object {
    uint32_t object, position;
};
struct service_table {
    unsigned holders;
    uint64_t generation;
    int64_t valid_until; /* FILETIME when a quarantine ends and the table must be rebuilt */
    struct host_settings settings;
    struct service *services; /* the shipped services, then the others; each part sorted by name */
    size_t count, shipped;
    /* the next members refer to enabled services by their positions in `services` */
    /* objects in the lists of enabled services, sorted by object number */
    struct listed_object *listed;
    uint32_t *enabled, *listless;
    size_t listed_count, enabled_count, listless_count;
};
/* Returns the table for the registry's present state; each holder must release it. */
LSTATUS service_table_hold(struct service_table **ret);
struct service_table *
service_table_last(void); /* returns the last table without checking the registry for changes; NULL:
                           * none */
void service_table_release(struct service_table *table);
/* Fills in `listed`, `enabled` and `listless`. */
LSTATUS service_table_index(struct service_table *table);
void service_table_index_done(struct service_table *table);
/* Returns the position of the object's first entry in table->listed; if the object has no entry,
 * the position at which to insert one. */
size_t select_listed(const struct service_table *table, uint32_t object);

/* ---- judge.c: each object number has one owner ---- */
/* Returns whether `service` may answer with the object. OWNED_BY_OTHER: *ret_other is the owner. */
enum ownership { OWNED, OWNED_BY_OTHER, UNOWNED };
enum ownership owner_find(const struct service_table *table, const struct service *service,
                          uint32_t object, const struct service **ret_other);
struct piece;
/* True if [data, data + size) already has an object of the piece, which must be dropped then. The
 * report names the service that `at` returns for that object's offset. */
bool owner_check_twice(const struct service *service, const struct piece *piece, const void *data,
                       size_t size, const struct service *(*at)(const void *self, size_t offset),
                       const void *self);

/* ---- host.c ---- */
/* Writes the positions of the services that the query concerns, ascending, and returns their
 * number, at most table->count. The time does not depend on the number of other services.
 * (docs/windows/articles.md#c50, docs/windows/queries.md#c5) */
size_t select_services(const struct service_table *table, const struct query *query, uint32_t *ret);

/* ---- verdict.c: a provider that fails is not queried, for a longer time after each failure
 * ---- */
enum backoff_count {
    NO_COUNT,
    FAILURES,        /* number of crashes, hangs and damages of memory in this session */
    MISSES,          /* number of sessions in which an answer was missing */
    OVERDUE_ANSWERS, /* number of answers in a row that came too late */
    BACKOFF_COUNTS
};
/* What is known about a provider; several may be true at once. */
enum backoff_state {
    IS_OFF = 1,        /* the provider is not queried any more in this session */
    IS_CLEARED = 2,    /* the registry's values about its quarantine were removed */
    IS_PERSISTENT = 4, /* all this stays after the session, until an answer passes the checks */
    IS_ALIVE = 8,      /* the provider answered in this session */
    IS_KEPT = 16,      /* the registry's value Unanswered could not be removed */
    IS_SUSPECT = 32,   /* requests are sent, but queries do not wait for the answers */
    /* the answer that is overdue now, or was when the key was closed, was counted as missing */
    IS_MISSED = 64,
    /* an answer that was counted as missing has arrived: no more are counted in this session */
    IS_FORGIVEN = 128
};
struct backoff {
    unsigned counts[BACKOFF_COUNTS];
    unsigned states;      /* enum backoff_state */
    int64_t last_failure; /* clock_ticks of the last failure */
    int64_t until;        /* the provider is not queried before this value of clock_ticks */
};
extern struct quarantine_clock {
    int64_t (*ticks)(void), (*filetime)(void);
} quarantine_clock; /* the clocks of quarantines, which tests replace */
/* What happened to a provider; `transitions` in verdict.c has what each does in each state. */
enum provider_event {
    PROVIDER_UNCHANGED,
    PROVIDER_FAILED, /* the provider crashed, hung or damaged memory: `why` says which */
    /* The provider crashed in Close, at the end of a session. One crash may be chance; after the
     * second the provider is not queried for a while, and closing the key does not reset that. */
    PROVIDER_CRASHED_LAST,
    PROVIDER_HUNG, /* the provider failed: its helper was ended because no answer came */
    /* The provider did not answer in time. This is not a failure, but after the second time the
     * provider is not queried for a while, and the registry informs other programs: one that
     * queries only once exits before it can notice a long silence. */
    PROVIDER_MISSED,
    PROVIDER_SUSPECTED, /* by the registry, programs got no answer lately (quarantine_suspects) */
    /* the provider answered, but too late: if that repeats, it is queried less often */
    PROVIDER_OVERDUE,
    PROVIDER_CAUGHT_UP, /* an answer that may have been counted as missing came, or a crash */
    PROVIDER_ARRIVED,   /* such an answer came, too late to be used */
    /* a suspect answered: no query waited, so the answer does not count as late */
    PROVIDER_ANSWERED,
    PROVIDER_IN_TIME, /* the provider answered in time; the answer is not checked yet */
    PROVIDER_PASSED,  /* the provider's answer passed all checks */
    PROVIDER_SILENT,  /* Collect changed none of its outputs: the provider is disabled for good */
    /* no helper could be started, which is not the provider's fault: the provider is queried again
     * soon */
    PROVIDER_NO_HELPER,
    PROVIDER_CLOSED,  /* the session ended: the performance key was closed */
    PROVIDER_ENABLED, /* an administrator enabled the provider: its failures are forgotten */
    PROVIDER_EVENTS
};
/* Counts the event and applies its consequences. `settings` NULL: events that would be counted are
 * ignored. `why` is the reason, needed for failures only. */
void quarantine_take(struct service *service, const struct host_settings *settings,
                     enum provider_event event, const char *why);
/* True if the provider must not be queried now; the reason is traced. */
bool quarantine_waits(struct service *service);
/* True if so many programs got no answer lately that queries should not wait for this provider. */
bool quarantine_suspects(const struct service *service, const struct host_settings *settings);
/* Parses a text such as "until WHEN (first quarantine): why": returns the number (here 1), and WHEN
 * as filetime; 0 and 0 if it is not such a text. */
unsigned quarantine_read(const char *text, int64_t *ret_end);

/* ---- answers.c: when each provider answered last, for monitoring tools ---- */
struct heard {
    _Atomic int64_t when; /* FILETIME of the last answer that passed the checks; 0: none */
    _Atomic int64_t took; /* duration of Collect for that answer, in units of 100 ns */
    /* the members below are guarded by the lock in answers.c */
    int64_t written; /* value of `when` that was last written to the file */
    off_t place;     /* last known offset of the service's line in the file */
};
/* Writes new times to the file, at most once a second; with `last` at once. */
void answers_write(const struct service_table *table, bool last);

/* ---- library.c: a provider's code, wherever it runs ---- */
enum placement { PLACE_UNKNOWN, PLACE_SHIPPED, PLACE_INSIDE, PLACE_HELPER };
/* The helper process of a provider, and the last request to it. */
struct isolated {
    struct isolated_provider *isolated;
    struct isolate_reply *reply; /* NULL: there was no request yet */
    bool replied;                /* `reply` has the helper's answer */
    bool opening;                /* Open may still be running */
    bool looked; /* the first wait for the answer is over, and Open was running then */
    size_t offered;
    bool foreign;                                          /* the request names a foreign machine */
    int64_t requested_at, open_deadline, collect_deadline; /* clock_ticks of the request and of the
                                                            * two deadlines */
    int64_t collect_ms, silence_ms; /* ms after which the answer is overdue; ms after which the
                                     * helper is ended */
    bool refusal_reported, slow_open_reported; /* already reported in this session */
};
/* A provider's code is never called by two threads at once: a thread that queries it in this
 * process holds `lock`; a thread that queries its helper holds `claim`, and takes `lock` only to
 * read `place` and `path`. */
struct library {
    /* number of service tables that refer to this library; guarded by service.c's lock */
    unsigned holders;
    struct heard heard;
    struct claim claim;
    pthread_mutex_t lock;
    enum placement place;
    /* the real path of the library's file, which has passed the checks; set by library_place */
    char *path;
    bool unproven; /* the file differs from the registration's Library Validation Code */
    struct module module;
    bool opened;
    struct isolated isolated;
    struct guarded buffer;
    uint16_t *query_text; /* copy of the query for Collect, made again for each call, because the
                           * provider may write to it */
    size_t query_capacity;
    /* size of the buffer that the last answer filled; 0: the last answer did not fill its buffer */
    _Atomic size_t filled;
    /* the smallest buffer size that the provider filled while other answers lacked space */
    _Atomic size_t least_filled;
    /* one bit for each enum fault, set when the fault was reported in this session */
    uint32_t reported;
    uint64_t titles; /* hash of the title numbers that were checked last */
    /* in this session it was reported that another provider has objects with the same numbers */
    _Atomic bool twice_reported;
    struct backoff backoff;
    /* in this session a query named one of the provider's objects or a foreign machine */
    _Atomic bool awake;
    /* it was reported that a query gave up waiting, because another thread's query used the
     * provider */
    _Atomic bool busy_reported;
    /* an administrator enabled the provider: the next query takes PROVIDER_ENABLED */
    _Atomic bool enabled;
};
LSTATUS library_new(struct library **ret);
/* Finds and checks the library's file, and decides where the library runs. A failure is reported
 * and retried later. The caller holds the lock. */
LSTATUS library_place(struct service *service);
/* Each of these functions logs a failure to load or open the library as an event. `why` may be
 * "". */
void library_report_load(const struct service *service, LSTATUS status, const char *why);
void library_report_missing(const struct service *service, enum module_procedure missing);
void library_report_open(const struct service *service, LSTATUS status);
void library_report_slow_open(const struct service *service, int64_t ms);
/* Ends the provider's session, after the threads that are querying the provider are done.
 * `settings` NULL: its failures are not counted. */
void library_close(struct service *service, const struct host_settings *settings, bool unload);
void library_free(struct service *service);
/* True if the registered path alone shows that it is a shipped library. Fast; used to sort the
 * services. */
bool library_named_as_shipped(const char *library);
/* True while a provider's code runs in this thread. A query by that code would wait for itself, so
 * it is refused. */
extern _Thread_local bool provider_inside;

/* ---- verdict.c: what follows from each mistake of a provider ---- */
enum fault {
    FAULT_NONE,
    FAULT_LENGTH,       /* the returned pointer and length disagree; the pointer is used */
    FAULT_SILENT,       /* Collect changed none of its outputs */
    FAULT_OVERRUN,      /* the returned pointer is in the guard after the buffer */
    FAULT_HEAP,         /* the returned pointer is beyond the guard after the buffer */
    FAULT_GUARD,        /* the guard before or after the buffer was overwritten */
    FAULT_OBJECTS,      /* object lengths do not add up */
    FAULT_DEFINITIONS,  /* definition lengths do not add up */
    FAULT_INSTANCES,    /* instances do not end with their object */
    FAULT_TWICE,        /* two objects with the same number */
    FAULT_BASE,         /* a counter that is not followed by its base */
    FAULT_OFFSET,       /* a value outside its counter block */
    FAULT_FOREIGN,      /* an object that belongs to another service */
    FAULT_UNNAMED,      /* a title number without a name in any language */
    FAULT_ODD_LENGTH,   /* the answer's length is not a multiple of 4 */
    FAULT_ALIGNMENT,    /* lengths in the answer are not multiples of 8 */
    FAULT_STATUS,       /* Collect returned an error */
    FAULT_NEVER_ENOUGH, /* the largest buffer was not enough */
    FAULT_BUFFER_HOG,   /* the provider fills any buffer that it is given */
    FAULT_OVERDUE,      /* Collect took too long */
    FAULT_COUNT
};
struct fault_finding {
    enum fault fault;
    /* the numbers that were found; the fault's row in verdict.c names the event fields for them */
    uint64_t numbers[2];
    enum fault because; /* for FAULT_LENGTH: another fault, for which the answer is dropped */
    /* what the checks found in the answer; content.field NULL: nothing */
    struct wire_finding content;
    const char *owner; /* for FAULT_FOREIGN: the service that owns the object */
};
/* Logs the fault, which is not FAULT_NONE, and applies the consequences in its row of verdict.c;
 * returns whether the answer is kept. */
bool verdict_keep(struct service *service, const struct host_settings *settings,
                  const struct fault_finding *finding);
/* Only logs the fault's event. */
void verdict_report_finding(const struct service *service, const struct fault_finding *finding);
/* Logs an event of source Perflib if EventLogLevel allows it, with the field Library and up to
 * three more `fields` (terminated by one without a name; NULL: none). `more` may be NULL. */
void verdict_report(const struct service *service, unsigned id, const struct event_field *fields,
                    const char *more);
void verdict_set_level(uint32_t event_level);

/* ---- judge.c: checks an answer and decides what is kept ---- */
struct answer {
    LSTATUS status;
    uint32_t bytes, objects; /* Collect's outputs */
    int64_t end;             /* offset of the returned pointer in the buffer */
    size_t capacity;         /* size of the buffer that Collect got */
    bool guards_intact;      /* also true if the buffer had no guards */
    bool foreign;            /* the query names a foreign machine */
    int64_t took_100ns;      /* duration of Collect */
    /* copies the answer's first `size` bytes to `to`; NULL: the caller's buffer already has them */
    void (*copy)(void *self, void *to, size_t size);
    void *self;
};
/* The free part of the caller's buffer, and the answer that was written to it. */
struct piece {
    unsigned char *data;
    size_t capacity, size;
    uint32_t objects;
    bool whole;         /* the answer is a whole PERF_DATA_BLOCK of a foreign machine */
    bool unowned;       /* the answer has objects that are not registered to any service */
    int64_t took_100ns; /* duration of Collect, for collect_one; below 0: no valid answer */
};
/* Checks an answer. Returns ERROR_MORE_DATA if the provider needs a larger buffer, else success;
 * piece->size is 0 if the answer was not kept. */
LSTATUS judge(struct service *service, const struct host_settings *settings,
              const struct answer *answer, struct piece *piece);
/* Records that other answers lacked space after this provider filled its buffer. */
void note_buffer_pressure(struct service *service);

/* ---- library.c: Collect ---- */
/* Loads, opens and collects in this process. */
LSTATUS call_collect(struct service *service, const struct host_settings *settings,
                     const struct query *query, struct piece *piece);

/* ---- isolated.c: collects in a helper process, in two steps: request and answer ---- */
struct isolated_request {
    const struct host_settings *settings;
    const struct query *query;
    size_t capacity; /* size of the buffer that Collect is given */
    int64_t start;   /* when the query began, in clock_ticks */
};
/* Sends the request, after waiting at most until `until` for other threads that query the provider.
 * ISOLATED_BUSY: another thread still queries it; call again. ISOLATED_NOT_REQUESTED: the provider
 * must not or cannot be queried, which was traced or reported. ISOLATED_REQUESTED: isolated_finish
 * must follow. */
enum isolated_begun { ISOLATED_NOT_REQUESTED, ISOLATED_REQUESTED, ISOLATED_BUSY };
enum isolated_begun isolated_begin_collect(struct service *service,
                                           const struct isolated_request *request, int64_t until);
/* Waits for the answer until `until`, or until the provider's deadline if that is earlier; true:
 * isolated_finish would not wait. */
bool isolated_is_ready(struct service *service, const struct host_settings *settings,
                       int64_t until);
/* Returns the size of the answer that is ready; 0: none. */
size_t isolated_size(const struct service *service);
LSTATUS isolated_finish(struct service *service, const struct host_settings *settings,
                        struct piece *piece);
void isolated_close(struct service *service, const struct host_settings *settings, bool unload);

#endif
