/* SPDX-License-Identifier: MIT */
/* Empty helpers wait here, each until it has waited 30 s and goes. */
#include "host/helper.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { POOL_MOST = 64 };

static struct {
    pthread_mutex_t lock;
    struct helper *first;
    size_t count;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool has_gone(const struct helper *helper)
{
    return atomic_load(&helper->channel->request.value) != helper->number ||
           atomic_load(&helper->channel->life.value) & CHANNEL_DIED;
}

struct helper *helper_pool_take(void)
{
    struct helper *gone = NULL, *helper;
    lock_take(&pool.lock);
    while ((helper = pool.first)) {
        pool.first = helper->next;
        pool.count--;
        if (helper_is_ours(helper) && !has_gone(helper))
            break;
        helper->next = gone;
        gone = helper;
    }
    lock_release(&pool.lock);
    while (gone) {
        struct helper *next = gone->next;
        helper_end(gone);
        gone = next;
    }
    return helper;
}

void helper_pool_put(struct helper *helper)
{
    /* nobody is to see what the last provider wrote, and an empty one costs no memory */
    madvise(channel_texts(helper->channel), helper->mapped - CHANNEL_TEXT_OFFSET, MADV_REMOVE);
    lock_take(&pool.lock);
    bool kept = pool.count < POOL_MOST;
    if (kept) {
        helper->next = pool.first;
        pool.first = helper;
        pool.count++;
    }
    lock_release(&pool.lock);
    if (!kept)
        helper_end(helper);
}
