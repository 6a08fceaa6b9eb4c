/* SPDX-License-Identifier: MIT */
/* Queries: handles, lifetime, and the collection of all counters at one moment. */
#include "pdh/capture.h"

#include <stdlib.h>
#include <string.h>

enum { QUERY_TABLE_TAG = 3 };
static struct handle_table queries = {.tag = QUERY_TABLE_TAG};
/* Held so that a query is not freed between finding it and taking a reference. */
static pthread_mutex_t holding = PTHREAD_MUTEX_INITIALIZER;

/* ---- handles ---- */

struct pdh_query *query_hold(PDH_HQUERY handle)
{
    lock_take(&holding);
    struct pdh_query *query = handle_get(&queries, (uintptr_t)handle);
    if (query)
        __atomic_add_fetch(&query->references, 1, __ATOMIC_RELAXED);
    lock_release(&holding);
    return query;
}

static void free_groups(struct machine_group *group)
{
    while (group) {
        struct machine_group *next = group->next;
        snapshot_done(&group->snapshot);
        buffer_done(&group->question);
        free(group->name);
        free(group);
        group = next;
    }
}

void query_let_go(struct pdh_query *query)
{
    if (__atomic_sub_fetch(&query->references, 1, __ATOMIC_ACQ_REL))
        return;
    for (uint32_t i = 0; i < query->counter_count; i++)
        counter_free(query->counters[i]);
    free(query->counters);
    free_groups(query->groups);
    reading_close(query->reading);
    free(query->file);
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

/* ---- life ---- */

static PDH_STATUS open_source(struct pdh_query *query, struct pdh_from from)
{
    PDH_STATUS status = capture_resolve_from(&from);
    if (status || (!from.file && !from.log))
        return status;
    if (from.file && !(query->file = strdup(from.file)))
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    query->from = (struct pdh_from){.file = query->file, .log = from.log};
    return reading_open(from, &query->reading);
}

PDH_STATUS query_open(struct pdh_from from, DWORD_PTR user, PDH_HQUERY *ret)
{
    if (!ret)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct pdh_query *query = calloc(1, sizeof *query);
    if (!query)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    query->user = user;
    query->references = 1; /* the handle's */
    pthread_mutex_init(&query->lock, NULL);
    PDH_STATUS status = open_source(query, from);
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
    query_stop_thread(query);
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
    bool live = !query->reading;
    query_let_go(query);
    return live;
}

PDH_STATUS query_time_range(PDH_HQUERY handle, const PDH_TIME_INFO *range)
{
    PDH_STATUS status = (PDH_STATUS)PDH_DATA_SOURCE_IS_REAL_TIME;
    if (!range)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct pdh_query *query = query_claim(handle);
    if (!query)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    if (query->reading && range->EndTime && range->EndTime < range->StartTime)
        status = (PDH_STATUS)PDH_INVALID_ARGUMENT;
    else if (query->reading)
        status = capture_limit(query->reading, range);
    query_unclaim(query);
    return status;
}

/* ---- collecting ---- */

PDH_STATUS query_collect_claimed(struct pdh_query *query, LONGLONG *ret_time)
{
    return query->reading ? collect_capture(query, ret_time) : collect_live(query, ret_time);
}

PDH_STATUS query_collect(PDH_HQUERY handle, LONGLONG *ret_time)
{
    struct pdh_query *query = query_claim(handle);
    if (!query)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    PDH_STATUS status = query_collect_claimed(query, ret_time);
    query_unclaim(query);
    return status;
}
