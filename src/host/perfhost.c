/* SPDX-License-Identifier: MIT */
/*
 * perfhost: the process that a stranger's provider runs in. helper.c starts it with two
 * descriptors, the shared memory and its client's pidfd, and every other one closed; it answers one
 * request after the other and ends with its client, or when it was empty for 30 s.
 */
#include "host/perfhost.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The provider gets no descriptor of ours, and a child that it forks none of the memory. */
static struct channel *map_channel(void)
{
    void *memory = mmap(NULL, CHANNEL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, CHANNEL_FD, 0);
    if (memory == MAP_FAILED)
        return NULL;
    close(CHANNEL_FD);
    madvise(memory, CHANNEL_BYTES, MADV_DONTFORK);
    struct channel *channel = memory;
    return channel->mark == CHANNEL_MARK && channel->version == CHANNEL_VERSION ? channel : NULL;
}

/* In `ps` each helper is called after the service that it runs. */
static void take_name(struct channel *channel)
{
    const struct channel_text *service = &channel->order.service;
    if (service->bytes)
        prctl(PR_SET_NAME, channel_texts(channel) + service->offset);
}

/* The next request's number. Who is empty does not wait for ever; whoever counts the word up first,
 * the client by asking or we by leaving, has decided. */
static uint32_t next_request(struct channel *channel, uint32_t seen)
{
    _Atomic uint32_t *word = &channel->request.value;
    bool empty = !provider_is_loaded();
    int64_t until =
        empty ? clock_ticks() + CHANNEL_IDLE_SECONDS * (int64_t)CLOCK_TICKS_PER_SECOND : INT64_MAX;
    for (;;) {
        uint32_t number = atomic_load(word);
        if (number != seen)
            return number;
        if (clock_ticks() >= until && atomic_compare_exchange_strong(word, &number, CHANNEL_LEFT))
            leave(0);
        channel_sleep(word, seen, until);
    }
}

static void answer(struct channel *channel, uint32_t number)
{
    channel->reply.number = number;
    atomic_store(&channel->answer.value, CHANNEL_ANSWERED);
    channel_wake(&channel->answer.value);
}

static void serve(struct channel *channel)
{
    for (uint32_t number = 0;;) {
        number = next_request(channel, number);
        if (channel->order.order == CHANNEL_CLOSE) {
            provider_close(channel);
        } else {
            if (!provider_is_loaded())
                take_name(channel);
            provider_collect(channel);
        }
        answer(channel, number);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3 || strcmp(argv[1], "3") != 0) {
        puts("perfhost runs performance-counter providers for openperflib, which starts it; there "
             "is "
             "nothing to do for it by hand");
        return argc != 2 || strcmp(argv[1], "--help") != 0;
    }
    struct channel *channel = map_channel();
    if (!channel)
        return EXIT_FAILURE;
    last_words_prepare(channel);
    sandbox_enter();
    if (!watch_start(channel)) {
        last_words(CHANNEL_END_REFUSED, 0, 0, "the helper may not start a thread: see ulimit -u");
        leave(EXIT_FAILURE);
    }
    serve(channel);
}
