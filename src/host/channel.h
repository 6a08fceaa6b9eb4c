/* SPDX-License-Identifier: MIT */
/*
 * The memory that a client and its helper share, a sealed memfd: one page of words and numbers, the
 * texts of the request, and the room that Collect writes to, between two guards. The helper may
 * write anything anywhere in it at any moment: the client reads each value once and believes none.
 *
 * Who owes an answer is a robust futex: `answer` names the thread that will give it, and when that
 * thread's process dies, however it dies, the kernel marks the word and wakes the waiting client.
 */
#ifndef OPL_HOST_CHANNEL_H
#define OPL_HOST_CHANNEL_H

#include "host/isolate.h"

#include <linux/futex.h>
#include <stdatomic.h>

enum {
    CHANNEL_VERSION = 1, /* of this layout: the helper's file may be of another installation */
    CHANNEL_MARK =
        0x6f706c, /* at both ends of the first page; who scribbles, scribbles there too */
    CHANNEL_GUARD = 1024,
    CHANNEL_GUARD_PATTERN = 0xA5,
    CHANNEL_PAGE = 4096,
    CHANNEL_TEXT_OFFSET = CHANNEL_PAGE,
    CHANNEL_TEXT_BYTES = 1 << 20,
    CHANNEL_ROOM_OFFSET = CHANNEL_TEXT_OFFSET + CHANNEL_TEXT_BYTES + CHANNEL_PAGE,
    CHANNEL_BYTES = CHANNEL_ROOM_OFFSET + ISOLATE_ROOM + CHANNEL_PAGE,
    CHANNEL_WORDS = 256, /* characters of what is said in words */
    /* the descriptors that the helper is started with */
    CHANNEL_FD = 3,
    CHANNEL_CLIENT_FD = 4, /* a pidfd; absent where the kernel has none */
    CHANNEL_IDLE_SECONDS = 30
};

/* Values of `answer`. Any other with FUTEX_WAITERS and a thread's number: that thread owes it. */
#define CHANNEL_ANSWERED 0u
#define CHANNEL_OWED FUTEX_WAITERS /* nobody in particular: the helper is still starting */
#define CHANNEL_DIED FUTEX_OWNER_DIED
/* Value of `request`: the helper has gone, because nobody had asked it for long. */
#define CHANNEL_LEFT UINT32_MAX

/* A cache line each: one side's writing does not slow the other's waiting. */
struct channel_word {
    _Alignas(64) _Atomic uint32_t value;
};
struct channel_text {
    uint32_t offset, bytes; /* 0, 0: there is none; its NUL is counted */
};

enum channel_order { CHANNEL_COLLECT = 1, CHANNEL_CLOSE };
enum channel_end { CHANNEL_END_SIGNAL = 1, CHANNEL_END_EXIT, CHANNEL_END_REFUSED };

struct channel {
    uint32_t mark, version;
    struct channel_word request; /* counts; the helper waits for a new number */
    struct channel_word life;    /* the helper's watching thread, robust; before `answer` */
    struct channel_word answer;  /* robust; the client waits for it */
    struct channel_word stage;   /* enum isolate_stage, as far as it came */
    struct {                     /* written by the client before `request` */
        uint32_t order, room;
        struct channel_text service, library, procedures[3], export_names, query;
    } order;
    struct { /* written by the helper before `answer` */
        uint32_t number, stage, status, bytes, objects;
        int64_t end_offset;
        char text[CHANNEL_WORDS];
    } reply;
    struct { /* the helper's last words */
        uint32_t end, code;
        uint64_t address;
        char text[CHANNEL_WORDS];
    } last;
    uint32_t end_mark;
};
_Static_assert(sizeof(struct channel) <= CHANNEL_PAGE, "the words fit into their page");
_Static_assert(sizeof(atomic_uint) == 4 && ATOMIC_INT_LOCK_FREE == 2, "a futex is an atomic word");

static inline char *channel_texts(struct channel *channel)
{
    return (char *)channel + CHANNEL_TEXT_OFFSET;
}

static inline unsigned char *channel_room(struct channel *channel)
{
    return (unsigned char *)channel + CHANNEL_ROOM_OFFSET;
}

/* ---- channel.c, in the library and in perfhost ---- */
/* Sleeps while *word is `value`, until clock_ticks() reaches `deadline`; may return too early. */
void channel_sleep(_Atomic uint32_t *word, uint32_t value, int64_t deadline_100ns);
void channel_wake(_Atomic uint32_t *word);

#endif
