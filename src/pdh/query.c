/* SPDX-License-Identifier: MIT */
/* Queries: their handles and lifetime, and collecting all counters, once or at intervals. */
#include "pdh/query.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { QUERY_TABLE_TAG = 3 };
static struct handle_table queries = {.tag = QUERY_TABLE_TAG};
/* Held while a handle is looked up and the reference is added, so that no other thread frees the
 * query in between. */
static pthread_mutex_t holding = PTHREAD_MUTEX_INITIALIZER;

/* ---- handles ---- */

/* Returns the query with one more reference. NULL: `handle` is not a handle of a query. */
static struct pdh_query *query_hold(PDH_HQUERY handle)
{
    lock_take(&holding);
    struct pdh_query *query = handle_get(&queries, (uintptr_t)handle);
    if (query)
        __atomic_add_fetch(&query->references, 1, __ATOMIC_RELAXED);
    lock_release(&holding);
    return query;
}

void query_let_go(struct pdh_query *query)
{
    if (__atomic_sub_fetch(&query->references, 1, __ATOMIC_ACQ_REL))
        return;
    for (uint32_t i = 0; i < query->counter_count; i++)
        counter_free(query->counters[i]);
    free(query->counters);
    source_close(query->source);
    pthread_mutex_destroy(&query->lock);
    free(query);
}

struct pdh_query *query_claim(PDH_HQUERY handle)
{
    struct pdh_query *query = query_hold(handle);
    if (!query)
        return NULL;
    cancel_forbid();
    claim_take(&query->claim);
    if (!query->closed)
        return query;
    query_unclaim(query);
    return NULL;
}

void query_unclaim(struct pdh_query *query)
{
    claim_release(&query->claim);
    query_let_go(query);
    cancel_permit(NULL);
}

/*
 * A query's thread, the only kind of thread in the library. The thread collects at regular
 * intervals for PdhCollectQueryDataEx, and sets the caller's event after each collection. Slow
 * collections and changes of the system's time do not shift the intervals.
 */
struct query_thread {
    pthread_t thread;
    pid_t process; /* the process in which the thread runs; a child of fork() does not have it */
    struct pdh_query *query;
    int64_t interval_100ns;
    int event; /* file descriptor of the caller's event; -1: none */
    uint32_t stop;
};

/* Stops the query's thread and waits until it has ended, so the caller must not hold the query's
 * claim or lock. */
static void stop_thread(struct pdh_query *query)
{
    lock_take(&query->lock);
    struct query_thread *thread = query->thread;
    query->thread = NULL;
    lock_release(&query->lock);
    if (!thread)
        return;
    __atomic_store_n(&thread->stop, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &thread->stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    if (thread->process == getpid())
        pthread_join(thread->thread, NULL);
    free(thread);
}

/* ---- life ---- */

PDH_STATUS query_open(struct pdh_from from, DWORD_PTR user, PDH_HQUERY *ret)
{
    if (!ret)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct pdh_query *query = calloc(1, sizeof *query);
    if (!query)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    query->user = user;
    query->references = 1; /* the handle holds this reference */
    pthread_mutex_init(&query->lock, NULL);
    PDH_STATUS status = source_open(from, SOURCE_SAMPLES, &query->source);
    if (!status && handle_new(&queries, query, &query->handle))
        status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (status)
        query_let_go(query);
    else
        *ret = (PDH_HQUERY)query->handle;
    return status;
}

PDH_STATUS query_close(PDH_HQUERY handle)
{
    UNCANCELLED;
    lock_take(&holding);
    struct pdh_query *query = handle_take(&queries, (uintptr_t)handle);
    lock_release(&holding);
    if (!query)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    stop_thread(query);
    claim_take(&query->claim);
    query->closed = true;
    for (uint32_t i = 0; i < query->counter_count; i++)
        counter_forget_handle(query->counters[i]);
    claim_release(&query->claim);
    query_let_go(query);
    return 0;
}

bool query_is_real_time(PDH_HQUERY handle)
{
    struct pdh_query *query = query_hold(handle);
    if (!query)
        return false;
    bool real_time = query->source->ops->real_time;
    query_let_go(query);
    return real_time;
}

PDH_STATUS query_time_range(PDH_HQUERY handle, const PDH_TIME_INFO *range)
{
    if (!range)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct pdh_query *query = query_claim(handle);
    if (!query)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    PDH_STATUS status = query->source->ops->limit(query->source, range);
    query_unclaim(query);
    return status;
}

/* ---- collecting ---- */

/* Collects all counters; the caller holds the claim. */
static PDH_STATUS collect(struct pdh_query *query, LONGLONG *ret_time)
{
    return query->source->ops->collect(query, ret_time);
}

PDH_STATUS query_collect(PDH_HQUERY handle, LONGLONG *ret_time)
{
    struct pdh_query *query = query_claim(handle);
    if (!query)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    PDH_STATUS status = collect(query, ret_time);
    query_unclaim(query);
    return status;
}

/* ---- collecting at intervals ---- */

/* True if the descriptor is an eventfd, which has no file type. Nothing may be written to any other
 * kind of descriptor. */
static bool is_event(int descriptor)
{
    struct stat st;
    return descriptor >= 0 && fstat(descriptor, &st) == 0 && (st.st_mode & S_IFMT) == 0;
}

static void set_event(int descriptor)
{
    const uint64_t one = 1;
    if (is_event(descriptor) && write(descriptor, &one, sizeof one) < 0)
        return; /* EAGAIN: the event is already set */
}

/* Waits until clock_ticks() is `ticks`. Returns true if the thread must stop. */
static bool wait_until(struct query_thread *thread, int64_t ticks)
{
    while (!__atomic_load_n(&thread->stop, __ATOMIC_ACQUIRE)) {
        int64_t left = ticks - clock_ticks();
        if (left <= 0)
            return false;
        struct timespec time = {(time_t)(left / CLOCK_TICKS_PER_SECOND),
                                (long)(left % CLOCK_TICKS_PER_SECOND) * 100};
        syscall(SYS_futex, &thread->stop, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
    }
    return true;
}

static void *run(void *self)
{
    struct query_thread *thread = self;
    int64_t next = clock_ticks() + thread->interval_100ns;
    while (!wait_until(thread, next)) {
        claim_take(&thread->query->claim);
        collect(thread->query, NULL);
        claim_release(&thread->query->claim);
        set_event(thread->event);
        next += thread->interval_100ns;
        if (next < clock_ticks()) /* collecting took longer than the interval, so skip to the next
                                   * one */
            next = clock_ticks();
    }
    return NULL;
}

/* Starts the thread with all signals blocked, so that the program's own threads get the signals. */
static bool start(struct query_thread *thread)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = pthread_create(&thread->thread, NULL, run, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

/* Starts the thread under the query's lock, so that a query that is closed gets no thread. */
static PDH_STATUS start_in(struct pdh_query *query, struct query_thread *thread)
{
    PDH_STATUS status = 0;
    lock_take(&query->lock);
    if (query->closed)
        status = (PDH_STATUS)PDH_INVALID_HANDLE;
    /* another caller has started a thread, or there is no memory */
    else if (query->thread || !start(thread))
        status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    else
        query->thread = thread;
    lock_release(&query->lock);
    return status;
}

PDH_STATUS query_collect_each(PDH_HQUERY handle, DWORD seconds, HANDLE event)
{
    int descriptor = event ? (int)(intptr_t)event : -1;
    if (seconds == 0 || (event && !is_event(descriptor)))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct pdh_query *query = query_hold(handle);
    if (!query)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    stop_thread(query);
    struct query_thread *thread = calloc(1, sizeof *thread);
    PDH_STATUS status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (thread) {
        thread->process = getpid();
        thread->query = query;
        thread->event = descriptor;
        thread->interval_100ns = (int64_t)seconds * CLOCK_TICKS_PER_SECOND;
        status = start_in(query, thread);
    }
    if (status)
        free(thread);
    query_let_go(query);
    return status;
}
