/* SPDX-License-Identifier: MIT */
/*
 * The client's side of a provider in a process of its own: it sends requests without waiting, waits
 * for answers until a deadline, and never trusts the answers. perfhost.c is the other side,
 * channel.h the memory that both share.
 *
 * This isolates faults; it is not a security boundary. (docs/isolation.md)
 */
#ifndef OPL_HOST_ISOLATE_H
#define OPL_HOST_ISOLATE_H

#include "base/base.h"

/* What a helper is doing. */
enum isolate_stage {
    /* there is no helper yet, or the helper has closed the provider and waits for a request */
    ISOLATE_START,
    ISOLATE_LOAD, /* loading the library: constructors and DllMain run */
    ISOLATE_FIND, /* looking for the three procedures */
    ISOLATE_OPEN,
    ISOLATE_COLLECT,
    ISOLATE_CLOSE, /* Close runs, then DllMain again, then the library is unloaded */
};
enum isolate_end {
    /* the stage ended with `status`; after ISOLATE_COLLECT the other members are set */
    ISOLATE_ANSWERED,
    ISOLATE_OVERDUE, /* the deadline passed, and the helper is still running */
    ISOLATE_CRASHED, /* a signal ended the helper; `code` is its number, `address` the address of
                      * the fault */
    ISOLATE_EXITED,  /* the helper exited; `code` is its exit code */
    /* no helper could be started: `status`, and `text` names the step that failed */
    ISOLATE_REFUSED,
    ISOLATE_LARGE, /* the helper exceeded its memory limit and was ended; `resident_mib` is set */
};

/* A request with all that the helper needs. The texts belong to the caller and must stay valid
 * during isolate_send. */
struct isolate_request {
    const char *service;          /* service name, for traces and the process title */
    const char *library;          /* an absolute real path whose owner was checked */
    const char *procedures[3];    /* names of Open, Collect and Close; NULL: not registered */
    const uint16_t *export_names; /* Linkage\Export, multi-string in UTF-16, or NULL */
    size_t export_units;
    const char *query; /* the query that Collect gets, in UTF-8 */
    size_t capacity;   /* buffer size for Collect, at most ISOLATE_LARGEST */
    bool guards;       /* write and check the patterns around the buffer */
    /* used only when a helper is started: */
    bool observes;       /* the provider may read other processes' data */
    bool children;       /* the provider may start processes */
    uint32_t memory_mib; /* registered limit of resident memory; 0: the default */
};
enum { ISOLATE_LARGEST = 64 << 20 }; /* bytes; a provider that needs a larger buffer has failed */
/* Returns the limit that applies to a helper's resident memory: the registered one or 256 MiB, and
 * more if built with sanitizers, which need much memory themselves. */
uint32_t isolate_limit_mib(uint32_t registered_mib);

struct isolate_reply {
    enum isolate_stage stage;
    enum isolate_end end;
    LSTATUS status;          /* result of the stage: of loading, of Open or of Collect */
    uint32_t bytes, objects; /* Collect's outputs */
    int64_t end_offset;      /* offset of the returned pointer in the buffer */
    int64_t took_100ns;      /* duration of Collect, measured by the helper */
    bool guards_intact;
    int code;
    bool has_address; /* true after a fault, which has an address; false if a process sent the
                       * signal: abort() does, too */
    uint32_t resident_mib;
    uint64_t address;
    char calls[256]; /* the address of the crash and its callers, as text; "" if unknown */
    /* dlerror's message, the name of the missing procedure, the step that failed, or how the helper
     * ended */
    char text[256];
};

/* One provider's helper, its shared memory and its state, for one thread at a time. No function
 * here waits while it holds a lock of base/lock.c, and callers should not either, because fork()
 * waits for such locks. In a child of fork() the struct is in its first state again, and the
 * parent's helper is not touched. */
struct isolated_provider;
LSTATUS isolate_new(struct isolated_provider **ret);
/* Sends the request and returns at once; starts a helper first if no helper runs. The helper loads
 * the library and calls Open if that was not done yet, then calls Collect. ERROR_BUSY: the helper
 * has not answered the last request. */
LSTATUS isolate_send(struct isolated_provider *isolated, const struct isolate_request *request);
/* Waits for the reply until clock_ticks() reaches `open_deadline` while Open runs, and
 * `collect_deadline` afterwards. With a deadline in the past it only checks for a reply. After
 * ISOLATE_OVERDUE this function may be called again. */
void isolate_wait(struct isolated_provider *isolated, int64_t open_deadline,
                  int64_t collect_deadline, struct isolate_reply *ret);
/* Copies the answer's first `size` bytes out of the shared memory. The copy must be checked,
 * because the helper may change the shared memory at any time. */
void isolate_copy(struct isolated_provider *isolated, void *to, size_t size);
/* True if a request has not been answered. */
bool isolate_busy(const struct isolated_provider *isolated);
/* Calls Close, and with `unload` unloads the library and ends the helper. Waits until `deadline`,
 * then ends a helper that hangs. The keeper stays for 30 s, for later requests. `ret` may be NULL;
 * ISOLATE_ANSWERED with `status` 0 also means that nothing was open. */
void isolate_close(struct isolated_provider *isolated, bool unload, int64_t deadline,
                   struct isolate_reply *ret);
/* Ends the helper at once, without Close, when its state cannot be trusted. */
void isolate_end(struct isolated_provider *isolated);
void isolate_free(struct isolated_provider *isolated);

#endif
