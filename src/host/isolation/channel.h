/* SPDX-License-Identifier: MIT */
/*
 * The memory that a client, its keeper and the keeper's helpers share: a sealed memfd with one page
 * between client and keeper, and a channel for each helper. A helper maps only its own channel, but
 * may write anything to any part of it at any time: the client reads each value once and trusts
 * none of them. The keeper runs no third-party code, so its page is trusted.
 *
 * No channel is used twice: when a helper is started again, it gets a new one.
 */
#ifndef OPL_HOST_CHANNEL_H
#define OPL_HOST_CHANNEL_H

#include "host/isolation/isolate.h"

#include <linux/futex.h>
#include <stdatomic.h>

enum {
    CHANNEL_VERSION = 5, /* version of this layout, which perfhost checks, because it may belong to
                          * another installation */
    CHANNEL_MARK =
        0x6f706c, /* a known value at both ends of the first page; a provider that overwrites the
                   * page damages it */
    CHANNEL_GUARD = 1024,
    CHANNEL_GUARD_PATTERN = 0xA5,
    CHANNEL_PAGE = 4096,
    CHANNEL_TEXT_OFFSET = CHANNEL_PAGE,
    CHANNEL_TEXT_BYTES = 1 << 20,
    CHANNEL_BUFFER_OFFSET = CHANNEL_TEXT_OFFSET + CHANNEL_TEXT_BYTES + CHANNEL_PAGE,
    CHANNEL_BYTES = CHANNEL_BUFFER_OFFSET + ISOLATE_LARGEST + CHANNEL_PAGE,
    CHANNEL_TEXT = 256,        /* maximum bytes of a message */
    CHANNEL_EXIT_MEMORY = 212, /* exit code of a helper that exceeded its memory limit */
    /* a helper that finds a mark overwritten exits with this code plus the number of the stage
     * (enum isolate_stage) at whose end it found that */
    CHANNEL_EXIT_OVERWRITTEN = 213,
    KEEPER_SLOTS = 64,
    KEEPER_IDLE_SECONDS = 30,
    /* numbers of the descriptors that the keeper inherits */
    KEEPER_MEMORY_FD = 3,
    KEEPER_CLIENT_FD = 4 /* pidfd of the client; absent if the kernel has no pidfds */
};

/* A futex in a cache line of its own, so that writes to other members do not slow down its
 * readers. */
struct channel_word {
    _Alignas(64) _Atomic uint32_t value;
};
struct channel_text {
    uint32_t offset, bytes; /* both 0: there is no text; `bytes` includes the NUL */
};

enum channel_order { CHANNEL_COLLECT = 1, CHANNEL_CLOSE, CHANNEL_CLOSE_AND_STAY };
/* Values of the channel's word `answer`. The client stores OWED, the helper ANSWERED, and the
 * keeper DIED if the helper has ended without an answer. */
enum { CHANNEL_ANSWERED, CHANNEL_OWED, CHANNEL_DIED };

struct channel {
    uint32_t mark;
    struct channel_word request; /* number of the request; the helper waits until it changes */
    struct channel_word answer;  /* the client waits until this word changes */
    struct channel_word stage;   /* the last stage that the helper entered (enum isolate_stage) */
    /* content of the request; the client writes it before it changes the word `request` */
    struct {
        uint32_t order, capacity, observes, children, memory_mib;
        struct channel_text service, library, procedures[3], export_names, query;
    } order;
    struct { /* content of the answer; the helper writes it before it changes the word `answer` */
        uint32_t number, stage, status, bytes, objects;
        int64_t end_offset, took_100ns;
        char text[CHANNEL_TEXT];
    } reply;
    /* details of a crash, written by the crashing helper; `signal` and `resident_mib` come from the
     * keeper */
    struct {
        uint32_t signal, resident_mib;
        /* true after a fault, which has an address; false if another process sent the signal */
        uint32_t has_address;
        uint64_t address;
        char calls[CHANNEL_TEXT]; /* the address of the crash and its callers, as text */
    } last;
    uint32_t end_mark;
};
_Static_assert(sizeof(struct channel) <= CHANNEL_PAGE, "struct channel must fit into one page");
_Static_assert(sizeof(atomic_uint) == 4 && ATOMIC_INT_LOCK_FREE == 2,
               "a futex must be a lock-free word of 4 bytes");

/* What the client requests for a slot, and the state of the slot's helper, which the keeper
 * stores. */
enum keeper_command { KEEPER_NOTHING, KEEPER_START, KEEPER_RELEASE };
enum keeper_state { KEEPER_UNUSED, KEEPER_RUNS, KEEPER_ENDED, KEEPER_FAILED };
struct keeper_slot {
    _Atomic uint32_t command, state;
    uint32_t status;       /* KEEPER_ENDED: the status from wait(); KEEPER_FAILED: errno of fork */
    uint32_t resident_mib; /* the helper's memory, if the keeper ended it because of its size; else
                            * 0 */
};
/* The last argument of perfhost: blanks that a helper overwrites with its name, for ps. */
#define KEEPER_TITLE_SIZE "                                                                "
/* Value of the keeper page's `request` when the keeper has exited after 30 s without a helper. */
#define KEEPER_LEFT UINT32_MAX

struct keeper_page {
    uint32_t version, slot_count;
    /* the client increments this word after it has set the command of a slot */
    struct channel_word request;
    /* a robust futex that a thread of the keeper holds, so the kernel marks it when that thread
     * ends; 0 before the thread runs */
    struct channel_word life;
    struct keeper_slot slots[KEEPER_SLOTS];
};
_Static_assert(sizeof(struct keeper_page) <= CHANNEL_PAGE,
               "struct keeper_page must fit into one page");

static inline bool channel_is_marked(const volatile struct channel *channel)
{
    return channel->mark == CHANNEL_MARK && channel->end_mark == CHANNEL_MARK;
}

static inline int64_t keeper_slot_offset(uint32_t slot)
{
    return CHANNEL_PAGE + (int64_t)slot * CHANNEL_BYTES;
}

static inline char *channel_texts(struct channel *channel)
{
    return (char *)channel + CHANNEL_TEXT_OFFSET;
}

static inline unsigned char *channel_buffer(struct channel *channel)
{
    return (unsigned char *)channel + CHANNEL_BUFFER_OFFSET;
}

/* ---- channel.c, in the library and in perfhost ---- */
/* Sleeps while *word is `value`, until clock_ticks() reaches the deadline; may return too early. */
void channel_sleep(_Atomic uint32_t *word, uint32_t value, int64_t deadline_100ns);
void channel_wake(_Atomic uint32_t *word);

#endif
