/* SPDX-License-Identifier: MIT */
/*
 * Locks that survive fork(). A program may fork while other threads are in a query; their locks
 * would stay locked in the child for ever. So a thread that holds any lock of the library is inside
 * one gate (a read-write lock that it holds for reading), and fork() waits until no thread is
 * inside: the child gets consistent tables and free locks.
 *
 * A thread that waits for another process must not delay a fork: claims are outside the gate, and
 * those taken before a fork are free in the child.
 */
#include "base/base.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
/* a lock that prefers writers: otherwise fork() would wait for ever in a program that queries all
 * the time */
#define GATE_INITIALIZER PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#else
#define GATE_INITIALIZER PTHREAD_RWLOCK_INITIALIZER
#endif

static pthread_rwlock_t gate = GATE_INITIALIZER;
static pthread_once_t registered = PTHREAD_ONCE_INIT;
static _Thread_local unsigned held; /* number of locks that this thread holds; only the first one
                                     * enters the gate */
static _Thread_local unsigned forbidden; /* number of nested blocks in which this thread cannot be
                                          * cancelled */
static _Thread_local int permitted;      /* the thread's cancel state before the outermost block,
                                          * restored at its end */

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

/* Waits until no thread is inside the gate. If a provider forks inside Collect, this thread itself
 * holds locks, so it must not wait until the gate is empty. */
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

/* The two lowest bits of a claim are its state. The higher bits hold the value of `forks` in the
 * process that took the claim: if they differ from this process's `forks`, the claim was taken
 * before a fork, and is free here. */
enum { CLAIM_OPEN, CLAIM_TAKEN, CLAIM_AWAITED, CLAIM_BITS = 3, FORKED_ONCE = 4 };
static uint32_t forks;

static void after_fork_in_child(void)
{
    forks += FORKED_ONCE;
    gate = (pthread_rwlock_t)GATE_INITIALIZER;
    if (held)
        pthread_rwlock_rdlock(&gate);
}

/* Called at the first lock instead of in a constructor. The fork handlers stay valid, because the
 * library is never unloaded. */
static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void lock_take(pthread_mutex_t *lock)
{
    cancel_forbid();
    pthread_once(&registered, watch_forks);
    if (!held)
        pthread_rwlock_rdlock(&gate);
    held++;
    pthread_mutex_lock(lock);
}

void lock_release(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    if (--held == 0)
        pthread_rwlock_unlock(&gate);
    cancel_permit(NULL);
}

static bool is_open(uint32_t word)
{
    return (word & ~(uint32_t)CLAIM_BITS) != forks || (word & CLAIM_BITS) == CLAIM_OPEN;
}

/* Waits until the claim's word is not `word` any more. CLOCK_MONOTONIC counts from boot, so its
 * seconds fit into the 32-bit times of a 32-bit kernel, too. */
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
        mark = CLAIM_AWAITED; /* from now on other threads may be waiting for the claim */
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
