/* SPDX-License-Identifier: MIT */
/*
 * The process that the checked library runs in, and the memory that both sides share: one mapping
 * with one request and one reply at a time, and a socket that signals which of the two is ready.
 * The library may write anywhere in this memory, so the tool copies what it reads and trusts no
 * length.
 */
#ifndef OPL_TOOLS_CHECK_WORKER_H
#define OPL_TOOLS_CHECK_WORKER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WORKER_MEMORY_FD = 3,
    WORKER_LINE_FD = 4,
    WORKER_LOST = 97, /* exit code: the parent closed the socket */
    WORKER_MARK = 0x6368656b,
    WORKER_TEXT = 512,
    WORKER_QUERY = 4096,
    WORKER_FRAMES = 6,
    WORKER_SIZE = 64 << 20, /* bytes; a provider that needs a larger buffer has failed */
    GUARD_BELOW = 4096,
    GUARD_PATTERN = 0xA5
};

enum worker_order { ORDER_NONE, ORDER_LOAD, ORDER_OPEN, ORDER_COLLECT, ORDER_CLOSE, ORDER_UNLOAD };

/* Process-wide state that the library must not change. One bit each in `changed`. */
enum worker_state {
    STATE_HANDLERS,
    STATE_BLOCKED,
    STATE_FOLDER,
    STATE_UMASK,
    STATE_PRIORITY,
    STATE_LIMITS,
    STATE_TIMER,
    STATE_LOCALE,
    STATE_ENVIRONMENT,
    STATE_USER,
    STATE_NAME,
    STATE_STREAMS,
    STATE_FLOATS,
    STATE_COUNT
};

/* Resources that the process has in use. */
struct usage {
    int64_t heap;   /* bytes that were allocated and not freed */
    int64_t mapped; /* bytes of address space, without the buffer */
    int32_t descriptors, threads, children;
    /* number of System V shared memory segments that this process made, and the last one's id */
    int32_t segments, segment_id;
};

struct worker_reply {
    uint32_t status;  /* result of the procedure, or of loading */
    uint32_t missing; /* after ORDER_LOAD: 1 + index of the missing procedure; 0: none */
    uint32_t bytes, objects;
    int64_t end; /* the returned pointer, as an offset from the buffer's start */
    /* distance of the first changed guard byte from the buffer, below and above it; 0: none was
     * changed */
    int64_t below, above;
    int64_t took_ns;   /* duration, without the time in which the call waited for a processor */
    int64_t waited_ns; /* how long the worker has waited for a processor since it began */
    uint32_t changed; /* bits of enum worker_state: what has changed since the library was loaded */
    uint32_t signals; /* number of signals to other processes, which were refused */
    bool outputs_kept;      /* *data, *bytes and *types are what they were before the call */
    bool delayed_writes;    /* the answer of the previous Collect was changed after its return */
    bool query_changed;     /* the query string was written to */
    struct usage usage;     /* resources in use after the call */
    char text[WORKER_TEXT]; /* text of the status, or why the library cannot be loaded */
};

struct worker_channel {
    uint32_t mark;
    struct {
        uint32_t order, capacity;
        bool null_buffer, own_thread;
        char query[WORKER_QUERY];
    } request;
    struct worker_reply reply;
    struct { /* details of a crash */
        uint32_t signal;
        uint64_t address;
        int64_t beyond; /* bytes after the buffer's end, or before its start */
        bool in_guard;
        char frames[WORKER_FRAMES][128];
    } crash;
    uint32_t end_mark;
    unsigned char data[WORKER_SIZE] __attribute__((aligned(4096)));
};

/* ---- worker.c ---- */
/* Runs as the worker process, whose descriptors are WORKER_MEMORY_FD and WORKER_LINE_FD. Never
 * returns. */
_Noreturn void worker_main(const char *library, const char *const procedures[3],
                           const char *export_names, bool sanitized);

/* ---- signals.c ---- */
void signals_refuse(void);      /* from now on, signals to other processes are refused */
uint32_t signals_refused(void); /* their number since the last call */

/* ---- state.c ---- */
void state_note(void);        /* saves the state before the library is loaded */
uint32_t state_changes(void); /* bits of enum worker_state */
const char *state_text(enum worker_state state);
struct usage usage_now(void);
/* Nanoseconds that this thread waited for a processor; 0 where the kernel does not count them. */
int64_t waited_ns(void);

#endif
