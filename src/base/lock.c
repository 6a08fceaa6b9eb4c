/* SPDX-License-Identifier: MIT */
/*
 * Locks that survive fork(). A program forks while other threads ask; their locks would stay locked
 * in the child for ever. So whoever holds any lock of the library is inside one gate, and a fork
 * waits until the gate is empty: it sees every table whole and every lock open.
 *
 * Who waits for somebody else's process must not keep a fork waiting too: claims are outside the
 * gate, and those that were taken before a fork are open in the child.
 */
#include "base/base.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
/* a fork must not wait for ever in a program that always asks */
#define GATE_INITIALIZER PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#else
#define GATE_INITIALIZER PTHREAD_RWLOCK_INITIALIZER
#endif

static pthread_rwlock_t gate = GATE_INITIALIZER;
static pthread_once_t registered = PTHREAD_ONCE_INIT;
static _Thread_local unsigned held; /* locks of this thread; only the first one enters the gate */
static _Thread_local unsigned forbidden; /* who forbids that this thread be cancelled */
static _Thread_local int permitted;      /* whether the program did, before */

void cancel_forbid(void)
{
    if (!forbidden++)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &permitted);
}

void cancel_permit(void *unused)
{
    (void)unused;
    if (!--forbidden)
        pthread_setcancelstate(permitted, &(int){0});
}

/* A provider that forks inside Collect holds locks itself: it cannot wait for them. */
static void before_fork(void)
{
    if (!held)
        pthread_rwlock_wrlock(&gate);
}

static void after_fork_in_parent(void)
{
    if (!held)
        pthread_rwlock_unlock(&gate);
}

/* Of a claim: its two lowest bits; above them, how often its process was forked. */
enum { CLAIM_OPEN, CLAIM_TAKEN, CLAIM_AWAITED, CLAIM_BITS = 3, FORKED_ONCE = 4 };
static uint32_t forks;

static void after_fork_in_child(void)
{
    forks += FORKED_ONCE;
    gate = (pthread_rwlock_t)GATE_INITIALIZER;
    if (held)
        pthread_rwlock_rdlock(&gate);
}

/* At the first lock, not in a constructor; the library is never unloaded. */
static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static void enter(void)
{
    cancel_forbid();
    pthread_once(&registered, watch_forks);
    if (!held)
        pthread_rwlock_rdlock(&gate);
    held++;
}

static void leave(void)
{
    if (--held == 0)
        pthread_rwlock_unlock(&gate);
    cancel_permit(NULL);
}

void lock_take(pthread_mutex_t *lock)
{
    enter();
    pthread_mutex_lock(lock);
}

void lock_release(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    leave();
}

static bool is_open(uint32_t word)
{
    return (word & ~(uint32_t)CLAIM_BITS) != forks || (word & CLAIM_BITS) == CLAIM_OPEN;
}

/* The clock counts from boot: its seconds fit into the kernel's short ones too. */
static void wait_for_change(struct claim *claim, uint32_t word, int64_t deadline)
{
    struct {
        long seconds, nanoseconds;
    } until = {(long)(deadline / CLOCK_TICKS_PER_SECOND),
               (long)(deadline % CLOCK_TICKS_PER_SECOND) * 100};
    syscall(SYS_futex, &claim->word, FUTEX_WAIT_BITSET_PRIVATE, word,
            deadline == INT64_MAX ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY);
}

bool claim_take_until(struct claim *claim, int64_t deadline)
{
    uint32_t word = atomic_load(&claim->word), mark = CLAIM_TAKEN;
    pthread_once(&registered, watch_forks);
    for (;;) {
        bool open = is_open(word);
        if (!open && deadline != INT64_MAX && clock_ticks() >= deadline)
            return false;
        uint32_t wanted = forks | (open ? mark : CLAIM_AWAITED);
        if (word != wanted && !atomic_compare_exchange_strong(&claim->word, &word, wanted))
            continue;
        if (open)
            return true;
        wait_for_change(claim, wanted, deadline);
        mark = CLAIM_AWAITED; /* there may be more who wait */
        word = atomic_load(&claim->word);
    }
}

void claim_take(struct claim *claim)
{
    claim_take_until(claim, INT64_MAX);
}

void claim_release(struct claim *claim)
{
    uint32_t word = atomic_exchange(&claim->word, forks | CLAIM_OPEN);
    if ((word & CLAIM_BITS) == CLAIM_AWAITED)
        syscall(SYS_futex, &claim->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
