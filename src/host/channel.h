/* SPDX-License-Identifier: MIT */
/*
 * The memory that a client, its keeper and the keeper's helpers share: a sealed memfd with one page
 * between client and keeper, and a channel for each helper. A helper maps its own channel and no
 * other, and may write anything anywhere in it at any moment: the client reads each value once and
 * believes none. The keeper runs nobody else's code; its page is believed.
 *
 * No part is ever used twice: a helper that is started again has a channel that nobody wrote to.
 */
#ifndef OPL_HOST_CHANNEL_H
#define OPL_HOST_CHANNEL_H

#include "host/isolate.h"

#include <linux/futex.h>
#include <stdatomic.h>

enum {
    CHANNEL_VERSION = 5, /* of this layout: perfhost may be of another installation */
    CHANNEL_MARK =
        0x6f706c, /* at both ends of the first page; who scribbles, scribbles there too */
    CHANNEL_GUARD = 1024,
    CHANNEL_GUARD_PATTERN = 0xA5,
    CHANNEL_PAGE = 4096,
    CHANNEL_TEXT_OFFSET = CHANNEL_PAGE,
    CHANNEL_TEXT_BYTES = 1 << 20,
    CHANNEL_ROOM_OFFSET = CHANNEL_TEXT_OFFSET + CHANNEL_TEXT_BYTES + CHANNEL_PAGE,
    CHANNEL_BYTES = CHANNEL_ROOM_OFFSET + ISOLATE_ROOM + CHANNEL_PAGE,
    CHANNEL_WORDS = 256,       /* characters of what is said in words */
    CHANNEL_EXIT_MEMORY = 212, /* a helper's exit code: it had more memory than it may */
    KEEPER_SLOTS = 64,
    KEEPER_IDLE_SECONDS = 30,
    /* the descriptors that the keeper is started with */
    KEEPER_MEMORY_FD = 3,
    KEEPER_CLIENT_FD = 4 /* a pidfd; absent where the kernel has none */
};

/* A futex, in a cache line of its own: one side's writing does not slow the other's waiting. */
struct channel_word {
    _Alignas(64) _Atomic uint32_t value;
};
struct channel_text {
    uint32_t offset, bytes; /* 0, 0: there is none; its NUL is counted */
};

enum channel_order { CHANNEL_COLLECT = 1, CHANNEL_CLOSE, CHANNEL_CLOSE_AND_STAY };
/* Values of `answer`. The client owes the word a request, the helper an answer, the keeper the word
 * that nobody will answer any more. */
enum { CHANNEL_ANSWERED, CHANNEL_OWED, CHANNEL_DIED };

struct channel {
    uint32_t mark;
    struct channel_word request; /* counts; the helper waits for a new number */
    struct channel_word answer;  /* the client waits for it */
    struct channel_word stage;   /* enum isolate_stage, as far as it came */
    struct {                     /* written by the client before `request` */
        uint32_t order, room, observes, children, memory_mib;
        struct channel_text service, library, procedures[3], export_names, query;
    } order;
    struct { /* written by the helper before `answer` */
        uint32_t number, stage, status, bytes, objects;
        int64_t end_offset, took_100ns;
        char text[CHANNEL_WORDS];
    } reply;
    struct { /* a crashing helper's last words; which signal it was the keeper knows better */
        uint32_t signal, resident_mib;
        uint32_t has_address; /* of a fault; a signal that was sent has none */
        uint64_t address;
        char calls[CHANNEL_WORDS]; /* the place, and what called it */
    } last;
    uint32_t end_mark;
};
_Static_assert(sizeof(struct channel) <= CHANNEL_PAGE, "the words fit into their page");
_Static_assert(sizeof(atomic_uint) == 4 && ATOMIC_INT_LOCK_FREE == 2, "a futex is an atomic word");

/* What the client wishes for a helper, and what became of it. */
enum keeper_wish { KEEPER_NOTHING, KEEPER_START, KEEPER_RELEASE };
enum keeper_state { KEEPER_UNUSED, KEEPER_RUNS, KEEPER_ENDED, KEEPER_FAILED };
struct keeper_slot {
    _Atomic uint32_t wish, state;
    uint32_t status;       /* KEEPER_ENDED: as wait() has it; KEEPER_FAILED: errno of fork */
    uint32_t resident_mib; /* why the keeper ended it: it had so much; else 0 */
};
/* The last argument of perfhost: room for a name. */
#define KEEPER_TITLE_ROOM "                                                                "
/* Value of `request`: the keeper has gone, because it had no helper for long. */
#define KEEPER_LEFT UINT32_MAX

struct keeper_page {
    uint32_t version, slot_count;
    struct channel_word request; /* the client counts it up after it wished */
    struct channel_word life;    /* a thread of the keeper, a robust futex: 0 before it is there */
    struct keeper_slot slots[KEEPER_SLOTS];
};
_Static_assert(sizeof(struct keeper_page) <= CHANNEL_PAGE, "the keeper's page is one");

static inline int64_t keeper_slot_offset(uint32_t slot)
{
    return CHANNEL_PAGE + (int64_t)slot * CHANNEL_BYTES;
}

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
