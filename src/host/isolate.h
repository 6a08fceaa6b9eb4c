/* SPDX-License-Identifier: MIT */
/*
 * A provider in a process of its own, as its client sees it: queried without waiting, awaited until
 * a deadline, and never trusted. perfhost.c is the other side, channel.h what both share.
 *
 * It is fault isolation, not a security boundary. (docs/isolation.md)
 */
#ifndef OPL_HOST_ISOLATE_H
#define OPL_HOST_ISOLATE_H

#include "base/base.h"

/* The stage a helper has reached. */
enum isolate_stage {
    ISOLATE_START, /* no helper yet, or it has closed the provider and waits for a request */
    ISOLATE_LOAD,  /* the library, its constructors, DllMain */
    ISOLATE_FIND,  /* looking for the three procedures */
    ISOLATE_OPEN,
    ISOLATE_COLLECT,
    ISOLATE_CLOSE, /* Close, DllMain's detach, unloading */
};
enum isolate_end {
    /* the stage ended with `status`; after ISOLATE_COLLECT the other members are set */
    ISOLATE_ANSWERED,
    ISOLATE_OVERDUE, /* the deadline passed; the helper goes on */
    ISOLATE_CRASHED, /* a signal; `code` is its number, `address` the fault's */
    ISOLATE_EXITED,  /* the helper ended itself; `code` is its exit code */
    /* no helper could be started: `status`, and `text` names the step that failed */
    ISOLATE_REFUSED,
    ISOLATE_LARGE, /* the helper exceeded its memory limit and was ended; `resident_mib` is set */
};

/* What the helper needs to know. The texts belong to the caller and must stay valid during
 * isolate_send. */
struct isolate_request {
    const char *service;          /* service name, for traces and the process title */
    const char *library;          /* an absolute real path whose owner was checked */
    const char *procedures[3];    /* Open, Collect, Close; NULL: not registered */
    const uint16_t *export_names; /* Linkage\Export, multi-string in UTF-16, or NULL */
    size_t export_units;
    const char *query; /* UTF-8, passed to Collect */
    size_t capacity;   /* buffer size for Collect, at most ISOLATE_LARGEST */
    bool guards;       /* arm and check the patterns around the buffer */
    /* used when a helper starts only: */
    bool observes;       /* the provider may read other processes' data */
    bool children;       /* the provider may start processes */
    uint32_t memory_mib; /* resident memory limit; 0: ISOLATE_MEMORY_MIB */
};
enum { ISOLATE_LARGEST = 64 << 20 }; /* a provider that needs more has failed */
enum { ISOLATE_MEMORY_MIB = 256 };

struct isolate_reply {
    enum isolate_stage stage;
    enum isolate_end end;
    LSTATUS status;          /* result of the stage: of Open, of Collect, or why loading failed */
    uint32_t bytes, objects; /* outputs as Collect left them */
    int64_t end_offset;      /* the returned pointer, relative to the buffer's start */
    int64_t took_100ns;      /* duration of Collect, measured by the helper */
    bool guards_intact;
    int code;
    bool has_address; /* a fault has an address; a signal sent by another process has none */
    uint32_t resident_mib;
    uint64_t address;
    char calls[256]; /* where it crashed, and its callers; "" when unknown */
    /* dlerror's message, the missing procedure, the step that failed, or how it ended */
    char text[256];
};

/* One provider's helper, shared memory and state, for one thread at a time. No function here waits
 * while it holds a lock of base/lock.c, and callers should not either: fork() waits for those. In a
 * child of fork() each starts as new, and the parent's helper is left alone. */
struct isolated_provider;
LSTATUS isolate_new(struct isolated_provider **ret);
/* Sends the request and returns at once: starts a helper if there is none, which loads and opens
 * the library if needed, then calls Collect. ERROR_BUSY: it has not answered the last request. */
LSTATUS isolate_send(struct isolated_provider *isolated, const struct isolate_request *request);
/* Waits for the reply: while Open runs, until clock_ticks() reaches `open_deadline`, afterwards
 * until `collect_deadline`. A deadline in the past: only checks. After ISOLATE_OVERDUE it may be
 * called again. */
void isolate_wait(struct isolated_provider *isolated, int64_t open_deadline,
                  int64_t collect_deadline, struct isolate_reply *ret);
/* Copies the answer's first `size` bytes out of the shared memory: check the copy, never the shared
 * memory. */
void isolate_copy(struct isolated_provider *isolated, void *to, size_t size);
/* True if a request has not been answered. */
bool isolate_busy(const struct isolated_provider *isolated);
/* Calls Close, and with `unload` unloads the library and ends its helper; waits until `deadline` (a
 * hung helper is ended). The keeper stays for 30 s, for later requests. `ret` may be NULL;
 * ISOLATE_ANSWERED with `status` 0: nothing was open. */
void isolate_close(struct isolated_provider *isolated, bool unload, int64_t deadline,
                   struct isolate_reply *ret);
/* Ends the helper at once, without Close, when its state cannot be trusted. */
void isolate_end(struct isolated_provider *isolated);
void isolate_free(struct isolated_provider *isolated);

#endif
