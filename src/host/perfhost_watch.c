/* SPDX-License-Identifier: MIT */
/*
 * The watching thread. Two words of the channel are on its robust list: whatever ends the process,
 * SIGKILL and the kernel's memory killer included, the kernel marks them and wakes the client. And
 * it waits for the end of the client, which PR_SET_PDEATHSIG would confuse with the end of the
 * thread that asked first.
 */
#include "host/perfhost.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct channel *watched;
static _Atomic uint32_t ready; /* a futex */

/* The kernel finds a word at its list entry's address plus one offset for all: so the entries,
 * which are ours alone, lie as far apart as the words. */
static union {
    struct robust_list entry;
    char line[sizeof(struct channel_word)];
} entries[2];
static struct robust_list_head head;
_Static_assert(offsetof(struct channel, answer) - offsetof(struct channel, life) ==
                   sizeof(struct channel_word),
               "entries and words have the same distance");

/* `life` first: hand_over() of isolate.c relies on it. */
static void promise_last_sign(void)
{
    head.list.next = &entries[0].entry;
    entries[0].entry.next = &entries[1].entry;
    entries[1].entry.next = &head.list;
    head.futex_offset = (long)((intptr_t)&watched->life - (intptr_t)&entries[0]);
    syscall(SYS_set_robust_list, &head, sizeof(head));
    uint32_t sign = (uint32_t)syscall(SYS_gettid) | FUTEX_WAITERS, owed = CHANNEL_OWED;
    atomic_store(&watched->life.value, sign);
    atomic_compare_exchange_strong(&watched->answer.value, &owed, sign);
    channel_wake(&watched->answer.value);
}

/* With us ends what the provider started, unless it made a session of its own. */
static void end_all(void)
{
    kill(0, SIGKILL);
    syscall(SYS_exit_group, 0);
}

static void *watch(void *argument)
{
    promise_last_sign();
    atomic_store(&ready, 1);
    channel_wake(&ready);
    struct pollfd client = {.fd = CHANNEL_CLIENT_FD, .events = POLLIN};
    for (;;) {
        poll(&client, 1, -1);
        if (client.revents & POLLIN)
            end_all();
    }
    return argument;
}

/* The thread takes no signal of the provider's: they are blocked when it is made. */
bool watch_start(struct channel *channel)
{
    watched = channel;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
#ifndef __SANITIZE_ADDRESS__
    pthread_attr_setstacksize(&attributes, 64 << 10);
#endif
    bool started = pthread_create(&thread, &attributes, watch, NULL) == 0;
    while (started && !atomic_load(&ready))
        channel_sleep(&ready, 0, INT64_MAX);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    return started;
}
