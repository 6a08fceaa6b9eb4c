/* SPDX-License-Identifier: MIT */
/*
 * The only thread of the library: PdhCollectQueryDataEx collects in it at regular intervals, which
 * do not depend on slow collections or changes of the clock, and sets the caller's event.
 */
#include "pdh/query.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct query_thread {
    pthread_t thread;
    pid_t process; /* a child of fork() does not have the thread */
    struct pdh_query *query;
    int64_t interval_100ns;
    int event; /* descriptor; -1: none */
    uint32_t stop;
};

/* An event is an eventfd, which has no file type; nothing else is ever written to. */
static bool is_event(int descriptor)
{
    struct stat st;
    return descriptor >= 0 && fstat(descriptor, &st) == 0 && (st.st_mode & S_IFMT) == 0;
}

static void set_event(int descriptor)
{
    const uint64_t one = 1;
    if (is_event(descriptor) && write(descriptor, &one, sizeof one) < 0)
        return; /* it is set already */
}

/* True: stop. */
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
        query_collect_claimed(thread->query, NULL);
        claim_release(&thread->query->claim);
        set_event(thread->event);
        next += thread->interval_100ns;
        if (next < clock_ticks()) /* it took longer than the interval */
            next = clock_ticks();
    }
    return NULL;
}

/* The program's signals must not be delivered to this thread. */
static bool start(struct query_thread *thread)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = pthread_create(&thread->thread, NULL, run, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

void query_stop_thread(struct pdh_query *query)
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

/* Holds the query's lock: the thread starts only if the query is open. */
static PDH_STATUS start_in(struct pdh_query *query, struct query_thread *thread)
{
    PDH_STATUS status = 0;
    lock_take(&query->lock);
    if (query->closed)
        status = (PDH_STATUS)PDH_INVALID_HANDLE;
    else if (query->thread || !start(thread)) /* another caller was faster; no more threads */
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
    query_stop_thread(query);
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
