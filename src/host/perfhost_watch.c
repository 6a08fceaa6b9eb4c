/* SPDX-License-Identifier: MIT */
/*
 * The keeper's second thread: it waits at the futex that the client increments for each request,
 * and makes a descriptor readable that the first thread polls. The word `life` is on its robust
 * list, so the kernel marks it when the process ends, even by SIGKILL or for lack of memory.
 */
#include "host/perfhost.h"

#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct keeper_page *watched;
static int call_fd;
static _Atomic uint32_t ready; /* a futex: 1 when the thread runs */

/* The kernel finds each futex of a robust list at the address of its entry plus an offset that is
 * the same for the whole list. libc's list has another offset, so this thread uses a list of its
 * own. */
static struct robust_list entry;
static struct robust_list_head head;

static void promise_last_sign(void)
{
    head.list.next = &entry;
    entry.next = &head.list;
    head.futex_offset = (long)((intptr_t)&watched->life - (intptr_t)&entry);
    syscall(SYS_set_robust_list, &head, sizeof(head));
    atomic_store(&watched->life.value, (uint32_t)syscall(SYS_gettid) | FUTEX_WAITERS);
}

static void *watch(void *argument)
{
    promise_last_sign();
    atomic_store(&ready, 1);
    channel_wake(&ready);
    for (uint32_t seen = 0;;) {
        uint32_t number = atomic_load(&watched->request.value);
        uint64_t one = 1;
        if (number == seen)
            channel_sleep(&watched->request.value, seen, INT64_MAX);
        else if (write(call_fd, &one, sizeof(one)) == sizeof(one))
            seen = number;
    }
    return argument;
}

/* Starts the thread, and returns when it runs. A fork() while a thread is being created could give
 * the child a lock (such as one of a sanitizer) whose holder does not exist there. */
bool watch_start(struct keeper_page *page, int event_fd)
{
    watched = page;
    call_fd = event_fd;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
#ifndef __SANITIZE_ADDRESS__
    pthread_attr_setstacksize(&attributes, 64 << 10);
#endif
    bool started = pthread_create(&thread, &attributes, watch, NULL) == 0;
    while (started && !atomic_load(&ready))
        channel_sleep(&ready, 0, INT64_MAX);
    return started;
}
