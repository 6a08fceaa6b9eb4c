/* SPDX-License-Identifier: MIT */
/* What the files of host share: a service's record, its library, the guarded buffer, the verdicts.
 */
#ifndef OPL_HOST_INTERNAL_H
#define OPL_HOST_INTERNAL_H

#include "host/host.h"
#include "host/module.h"
#include "wire/wire.h"

#include <pthread.h>

/* Perflib's switches (reference D.1, D.4), read whenever the registry changed. */
struct host_settings {
    uint32_t test_level;    /* ExtCounterTestLevel: 1 all checks ... 4 the caller's own buffer */
    uint32_t configuration; /* Configuration Flags, CONFIGURATION_* */
    bool disabled;          /* Disable Performance Counters: nobody is asked */
};
enum {
    CONFIGURATION_NO_ALIGNMENT = 1,
    CONFIGURATION_NEVER_DISABLE = 2,
    CONFIGURATION_NO_GUARDS = 4
};

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
struct service {
    char *name, *library, *open, *collect, *close;
    uint16_t *export_names; /* Linkage\Export as UTF-16 multi-string, or NULL */
    uint32_t *objects;      /* Object List, ascending */
    size_t object_count;
    bool has_list, disabled, keep_resident, in_process;
    struct library *code; /* once it was asked */
};
/* *ret: an array sorted by name; those without Library are left out. */
LSTATUS services_read(struct service **ret, size_t *ret_count);
void services_free(struct service *services, size_t count);
bool service_same_code(const struct service *now, const struct service *before);
LSTATUS settings_read(struct host_settings *ret);

/* ---- select.c ---- */
/* Does the query concern services[position]? (C50-C55, reference C.5) */
bool select_service(const struct service *services, size_t count, size_t position,
                    const struct query *query);

/* ---- library.c: a loaded provider; one lock each, never entered twice at once ---- */
struct library {
    pthread_mutex_t lock;
    struct module module;
    bool opened, off_for_session;
    struct guarded buffer;
    uint16_t *query_text; /* a fresh copy for each call: the provider may write to it */
    size_t query_room;
};
LSTATUS library_new(struct library **ret);
/* Loads and opens if needed; a failure is reported, leaves nothing behind and is tried again. */
LSTATUS library_open(struct service *service);
void library_close(struct service *service, bool unload);
void library_free(struct service *service);
/* The shipped providers' folder, resolved; NULL: there is none. */
const char *library_shipped_folder(void);
bool library_is_shipped(const char *real_path);

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
    MISTAKE_ODD_LENGTH,  /* not a multiple of 4 */
    MISTAKE_ALIGNMENT,   /* not a multiple of 8 */
    MISTAKE_STATUS,      /* Collect returned an error */
    MISTAKE_COUNT
};
/* Reports the mistake, switches the provider off where the row says so; is the data kept? */
bool verdict_keep(struct service *service, const struct host_settings *settings,
                  enum mistake mistake, uint64_t detail);

/* ---- call.c ---- */
/* One Collect: arm, call, judge, copy to `data`. ERROR_MORE_DATA: it needs more room. Anything else
 * is success, with *ret_size 0 when nothing was kept. */
LSTATUS call_collect(struct service *service, const struct host_settings *settings,
                     const struct query *query, void *data, size_t room, size_t *ret_size,
                     uint32_t *ret_objects);

#endif
