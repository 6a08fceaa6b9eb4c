/* SPDX-License-Identifier: MIT */
/* The only lock of the shims. A fork waits for it, so that a child has consistent tables. */
#include "shims.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void take(void)
{
    pthread_mutex_lock(&lock);
}

void opl_shim_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(take, opl_shim_unlock, opl_shim_unlock);
}

void opl_shim_lock(void)
{
    pthread_once(&once, watch_forks);
    take();
}
