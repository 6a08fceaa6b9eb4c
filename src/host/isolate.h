/* SPDX-License-Identifier: MIT */
/*
 * A provider in a process of its own, as its client sees it: asked without waiting, awaited until a
 * moment, and never believed. perfhost.c is the other side, channel.h what both share.
 *
 * It is fault isolation, not a security boundary. (house section 0a)
 */
#ifndef OPL_HOST_ISOLATE_H
#define OPL_HOST_ISOLATE_H

#include "base/base.h"

/* How far a helper came. */
enum isolate_stage {
    ISOLATE_START, /* no helper yet */
    ISOLATE_LOAD,  /* the library, its constructors, DllMain */
    ISOLATE_FIND,  /* the three procedures */
    ISOLATE_OPEN,
    ISOLATE_COLLECT,
    ISOLATE_CLOSE, /* Close, DllMain's detach, unloading */
};
enum isolate_end {
    ISOLATE_ANSWERED, /* the stage ended with `status`; after ISOLATE_COLLECT the rest is filled */
    ISOLATE_LATE,     /* the moment passed; the helper goes on */
    ISOLATE_CRASHED,  /* a signal; `code` is its number, `address` the place */
    ISOLATE_EXITED,   /* it ended itself; `code` is its exit code */
    ISOLATE_REFUSED,  /* no helper could be started: `status`, `text` says what was refused */
    ISOLATE_LARGE,    /* it had more memory than it may, and was ended; `resident_mib` */
};

/* What the helper needs to know. Texts stay the caller's and must last during isolate_ask. */
struct isolate_request {
    const char *service;          /* for traces and the helper's title */
    const char *library;          /* an absolute real path whose owner was judged */
    const char *procedures[3];    /* Open, Collect, Close; NULL: not registered */
    const uint16_t *export_names; /* Linkage\Export, multi-string in UTF-16, or NULL */
    size_t export_units;
    const char *query; /* UTF-8, as it is handed on */
    size_t room;       /* bytes offered to Collect, at most ISOLATE_ROOM */
    bool guards;       /* arm and check the patterns around the buffer */
    /* heard by a new helper only: */
    bool observes;       /* it may look into other processes */
    bool children;       /* it may start processes */
    uint32_t memory_mib; /* that it may have, resident; 0: ISOLATE_MEMORY_MIB */
};
enum { ISOLATE_ROOM = 64 << 20 }; /* who has not enough with this has failed */
enum { ISOLATE_MEMORY_MIB = 256 };

struct isolate_reply {
    enum isolate_stage stage;
    enum isolate_end end;
    LSTATUS status;          /* of the stage: Open's, Collect's, or why loading failed */
    uint32_t bytes, objects; /* as Collect left them */
    int64_t end_offset;      /* where its pointer stood, from the buffer's start */
    int64_t took_100ns;      /* Collect, as its helper says */
    bool guards_intact;
    int code;
    bool has_address; /* of a fault; a signal that was sent has none */
    uint32_t resident_mib;
    uint64_t address;
    char calls[256]; /* where it crashed, and what called that; "" when nothing is known */
    char text[256];  /* dlerror's words, the missing procedure, what was refused, how it died */
};

/* One provider's helper, shared memory and state, for one thread at a time. No function here waits
 * with a lock of base/lock.c held, and neither should its caller: fork() waits for those. In a
 * child of fork() each is as new, and nothing is done to the parent's helper. */
struct isolated;
LSTATUS isolate_new(struct isolated **ret);
/* Hands the request over and returns at once: starts a helper if there is none, lets it load and
 * open what is not loaded and opened, then Collect. ERROR_BUSY: it has not answered the last
 * one. */
LSTATUS isolate_ask(struct isolated *isolated, const struct isolate_request *request);
/* Waits until the reply is there or clock_ticks() reached `open_deadline` while it was still to be
 * opened, `collect_deadline` else; a moment in the past only looks. After ISOLATE_LATE it may be
 * called again. */
void isolate_wait(struct isolated *isolated, int64_t open_deadline, int64_t collect_deadline,
                  struct isolate_reply *ret);
/* Copies the answer's first `size` bytes out of the shared memory: check the copy, never that. */
void isolate_copy(struct isolated *isolated, void *to, size_t size);
/* Was a request handed over that nobody answered? */
bool isolate_busy(const struct isolated *isolated);
/* Close, and with `unload` the end of the library and its helper; awaited until `deadline` (a hung
 * one is ended); what starts helpers stays 30 s for whoever asks next. `ret` may be NULL;
 * ISOLATE_ANSWERED with `status` 0: nothing was open. */
void isolate_close(struct isolated *isolated, bool unload, int64_t deadline,
                   struct isolate_reply *ret);
/* Ends the helper at once, without Close: what it does cannot be trusted any more. */
void isolate_end(struct isolated *isolated);
void isolate_free(struct isolated *isolated);

#endif
