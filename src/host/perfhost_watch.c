/* SPDX-License-Identifier: MIT */
/*
 * The keeper's second thread: it sleeps at the word that the client increments, and turns each
 * request into an event that can be polled. `life` is on its robust list: whatever ends the
 * process, including SIGKILL and the kernel's memory killer, the kernel marks the word.
 */
#include "host/perfhost.h"

#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct keeper_page *watched;
static int call_fd;
static _Atomic uint32_t ready; /* a futex */

/* The kernel finds each futex of a robust list at the address of its entry plus one offset for the
 * whole list. libc's list has another offset, so this thread gets a list of its own. */
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

/* Returns when the thread runs: a fork() while a thread is being created may inherit a lock held by
 * a thread that the child does not have (for example an address sanitizer's). */
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
