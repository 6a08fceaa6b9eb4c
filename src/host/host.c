/* SPDX-License-Identifier: MIT */
/*
 * Sends one query to all providers that it concerns, and collects their answers. While a Collect is
 * running, only that provider's lock is held. (docs/windows/articles.md#c39,
 * docs/windows/queries.md#c5)
 */
#include "host/host.h"
#include "host/internal.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- selection ---- */

/* A provider with an Object List is queried for its own objects; one without a list is queried only
 * if the query has an index that is in no provider's list. (docs/windows/articles.md#c50,
 * docs/windows/queries.md#c5) */

static size_t copy_positions(const uint32_t *from, size_t count, uint32_t *to)
{
    if (count)
        memcpy(to, from, count * sizeof(*to));
    return count;
}

/* The positions in `ret` stay ascending, and each occurs once. */
static size_t select_by_object(const struct service_table *table, const struct query *query,
                               uint32_t *ret)
{
    bool unclaimed = false;
    size_t count = 0;
    for (size_t i = 0; i < query->object_count && !unclaimed; i++) {
        size_t at = select_listed(table, query->objects[i]);
        unclaimed = at == table->listed_count || table->listed[at].object != query->objects[i];
    }
    if (unclaimed)
        count = copy_positions(table->listless, table->listless_count, ret);
    for (size_t i = 0; i < query->object_count; i++) {
        size_t at = select_listed(table, query->objects[i]);
        for (; at < table->listed_count && table->listed[at].object == query->objects[i]; at++) {
            uint32_t position = table->listed[at].position;
            size_t place = count;
            while (place > 0 && ret[place - 1] > position)
                place--;
            if (place > 0 && ret[place - 1] == position)
                continue;
            memmove(&ret[place + 1], &ret[place], (count - place) * sizeof(*ret));
            ret[place] = position;
            count++;
        }
    }
    return count;
}

/* Selects all enabled services. One that is registered as on demand is selected only if an earlier
 * query named one of its objects, so that other queries do not start its helper. */
static size_t select_all(const struct service_table *table, uint32_t *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < table->enabled_count; i++) {
        const struct service *service = &table->services[table->enabled[i]];
        if (!service->on_demand || (service->code && atomic_load(&service->code->awake)))
            ret[count++] = table->enabled[i];
    }
    return count;
}

size_t select_services(const struct service_table *table, const struct query *query, uint32_t *ret)
{
    size_t count = 0;
    if (table->settings.disabled)
        return 0;
    if (query->kind == QUERY_GLOBAL || query->kind == QUERY_COSTLY)
        return select_all(table, ret);
    if (query->kind == QUERY_FOREIGN)
        count = copy_positions(table->enabled, table->enabled_count, ret);
    else if (query->kind == QUERY_OBJECTS)
        count = select_by_object(table, query, ret);
    for (size_t i = 0; i < count; i++) {
        const struct service *service = &table->services[ret[i]];
        if (service->on_demand && service->code)
            atomic_store(&service->code->awake, true);
    }
    return count;
}

/* ---- a query in progress ---- */

/* How long to wait for the next provider in order before the others' answers are checked, in
 * clock_ticks: first FIRST_LOOK, then twice as long each time, up to about LONGEST_LOOK. */
enum {
    NOT_AT_ALL = 0,
    FIRST_LOOK = CLOCK_TICKS_PER_SECOND / 1000,
    LONGEST_LOOK = CLOCK_TICKS_PER_SECOND / 20
};

/* The state of a provider within a query. */
enum run_state { RUN_NONE, RUN_SHIPPED, RUN_IN_PROCESS, RUN_ISOLATED, RUN_REQUESTED, RUN_TAKEN };

/* The arrays that a query needs; kept in a free list, so that a program that repeats its query
 * allocates nothing. */
struct round {
    uint32_t *chosen;       /* positions of the queried providers in the service table */
    enum run_state *states; /* state of each provider in `chosen` */
    struct taken_answer {
        struct piece piece;
        LSTATUS status;
        size_t begin, end; /* offsets of this provider's objects in the block */
    } * taken;             /* answers that arrived before those of earlier providers */
    size_t count, capacity;
    struct round *next;
};
static struct round *free_list;
static pthread_mutex_t free_list_lock = PTHREAD_MUTEX_INITIALIZER;

static bool grow(struct round *round, size_t capacity)
{
    uint32_t *chosen = reallocarray(round->chosen, capacity, sizeof(*chosen));
    round->chosen = chosen ? chosen : round->chosen;
    enum run_state *states = chosen ? reallocarray(round->states, capacity, sizeof(*states)) : NULL;
    round->states = states ? states : round->states;
    struct taken_answer *taken =
        states ? reallocarray(round->taken, capacity, sizeof(*taken)) : NULL;
    round->taken = taken ? taken : round->taken;
    round->capacity = taken ? capacity : round->capacity;
    return taken != NULL;
}

static struct round *round_take(size_t capacity)
{
    lock_take(&free_list_lock);
    struct round *round = free_list;
    if (round)
        free_list = round->next;
    lock_release(&free_list_lock);
    if (!round)
        round = calloc(1, sizeof(*round));
    if (!round || round->capacity >= capacity || grow(round, capacity))
        return round;
    free(round->chosen);
    free(round->states);
    free(round->taken);
    free(round);
    return NULL;
}

/* A query in progress, and the answers that it has so far. */
struct collection {
    const struct query *query;
    struct service_table *table;
    struct round *round;
    struct isolated_request request; /* the request for providers in helper processes */
    unsigned char *data;
    size_t capacity, used;
    uint32_t objects;
    bool whole; /* a provider answered with a whole block, so nothing else is added */
    LSTATUS status;
    struct service *short_of_space; /* the first provider whose answer did not fit */
    struct shortage shortage;
    size_t before;  /* bytes of the answers before the one that did not fit */
    size_t lacking; /* bytes of all answers that did not fit, as far as they are known */
};

static void trace_the_others(const struct collection *collection)
{
    const struct service_table *table = collection->table;
    size_t next = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct service *service = &table->services[i];
        if (next < collection->round->count && collection->round->chosen[next] == i)
            next++;
        else
            trace("host", "%s is not queried: %s", service->name,
                  table->settings.disabled                   ? "all counters are disabled"
                  : service->disabled                        ? "it is disabled"
                  : collection->query->kind != QUERY_OBJECTS ? "the query concerns no provider"
                  : service->has_list ? "its Object List has none of the requested objects"
                                      : "each object is in another provider's list");
    }
}

static struct service *chosen_service(const struct collection *collection, size_t i)
{
    return &collection->table->services[collection->round->chosen[i]];
}

/* Returns the service whose objects are at `offset` of the block. */
static const struct service *service_at(const void *self, size_t offset)
{
    const struct collection *collection = self;
    size_t i = 0;
    while (i + 1 < collection->round->count && !(offset >= collection->round->taken[i].begin &&
                                                 offset < collection->round->taken[i].end))
        i++;
    return chosen_service(collection, i);
}

/* Adds an answer that was taken before its turn. ERROR_MORE_DATA: other answers have meanwhile
 * filled the space. */
static LSTATUS join(struct taken_answer *taken, struct piece *piece)
{
    LSTATUS status = taken->status;
    *piece = (struct piece){.data = piece->data,
                            .capacity = piece->capacity,
                            .unowned = taken->piece.unowned,
                            .took_100ns = taken->piece.took_100ns};
    if (!status && taken->piece.size > piece->capacity) {
        status = ERROR_MORE_DATA;
    } else if (!status && taken->piece.size) {
        memcpy(piece->data, taken->piece.data, taken->piece.size);
        piece->size = taken->piece.size;
        piece->objects = taken->piece.objects;
        piece->whole = taken->piece.whole;
    }
    free(taken->piece.data);
    return status;
}

/* Adds what the service lacked to what the query lacks. */
static void note_shortage(struct collection *collection, struct service *service)
{
    collection->lacking += shortage_here.needed;
    if (collection->short_of_space)
        return;
    collection->short_of_space = service;
    collection->shortage = shortage_here;
    collection->before = collection->used;
}

/* Adds a provider's answer to the block, unless the block already has an object with the number of
 * one of the answer's objects: readers would find only the first of the two. If the answer does not
 * fit, the query will return ERROR_MORE_DATA, but the other providers are still queried, as on
 * Windows. */
static void collect_one(struct collection *collection, size_t i)
{
    const struct host_settings *settings = &collection->table->settings;
    struct service *service = chosen_service(collection, i);
    struct taken_answer *taken = &collection->round->taken[i];
    struct piece piece = {.data = collection->data + collection->used,
                          .capacity = collection->capacity - collection->used,
                          .took_100ns = -1};
    enum run_state state = collection->round->states[i];
    shortage_here = (struct shortage){0};
    LSTATUS status = state == RUN_TAKEN ? join(taken, &piece)
                     : state == RUN_REQUESTED
                         ? isolated_finish(service, settings, &piece)
                         : call_collect(service, settings, collection->query, &piece);
    if (status == ERROR_MORE_DATA)
        note_shortage(collection, service);
    if (status && (!collection->status || collection->status == ERROR_MORE_DATA))
        collection->status = status;
    if (piece.unowned && piece.size &&
        owner_check_twice(service, &piece, collection->data, collection->used, service_at,
                          collection)) {
        piece.size = piece.objects = 0;
        piece.took_100ns = -1;
    }
    if (piece.took_100ns >= 0) {
        struct heard *heard = &service->code->heard;
        atomic_store_explicit(&heard->took, piece.took_100ns, memory_order_relaxed);
        atomic_store_explicit(&heard->when, clock_filetime(), memory_order_relaxed);
    }
    taken->begin = collection->used;
    if (piece.size && !collection->whole) {
        collection->whole = piece.whole;
        if (piece.whole) {
            memmove(collection->data, piece.data, piece.size);
            collection->used = collection->objects = piece.objects = 0;
        }
        collection->used += piece.size;
        collection->objects += piece.objects;
    }
    taken->end = collection->used;
}

/* Sends the request. The result is RUN_ISOLATED if another thread still uses the helper at `until`;
 * the helper becomes free at the latest when that thread's deadline is over. */
static enum run_state send_to_helper(struct collection *collection, size_t i, int64_t until)
{
    static const enum run_state states[] = {[ISOLATED_NOT_REQUESTED] = RUN_NONE,
                                            [ISOLATED_REQUESTED] = RUN_REQUESTED,
                                            [ISOLATED_BUSY] = RUN_ISOLATED};
    return states[isolated_begin_collect(chosen_service(collection, i), &collection->request,
                                         until)];
}

/* Copies an answer that arrived before its turn. If there is no memory, it stays in the helper
 * until its turn. */
static void take_early(struct collection *collection, size_t i)
{
    struct service *service = chosen_service(collection, i);
    struct taken_answer *taken = &collection->round->taken[i];
    size_t size = isolated_size(service);
    *taken = (struct taken_answer){
        .piece = {.data = malloc(size + 1), .capacity = size, .took_100ns = -1}
    };
    if (!taken->piece.data)
        return;
    taken->status = isolated_finish(service, &collection->table->settings, &taken->piece);
    collection->round->states[i] = RUN_TAKEN;
}

/* True if there is no answer to wait for: the service was not queried, or has answered, or its
 * deadline is over. */
static bool is_ready(struct collection *collection, size_t i, int64_t until)
{
    enum run_state *state = &collection->round->states[i];
    if (*state == RUN_ISOLATED)
        *state = send_to_helper(collection, i, until);
    if (*state == RUN_ISOLATED)
        return false;
    return *state != RUN_REQUESTED ||
           isolated_is_ready(chosen_service(collection, i), &collection->table->settings, until);
}

/* Takes the answers that have arrived from provider `first` on. True: some provider has not
 * answered yet. */
static bool take_ready(struct collection *collection, size_t first)
{
    const enum run_state *states = collection->round->states;
    bool awaited = false;
    for (size_t i = first; i < collection->round->count; i++) {
        if (states[i] != RUN_REQUESTED && states[i] != RUN_ISOLATED)
            continue;
        if (is_ready(collection, i, NOT_AT_ALL) && states[i] == RUN_REQUESTED)
            take_early(collection, i);
        awaited |= states[i] == RUN_REQUESTED || states[i] == RUN_ISOLATED;
    }
    return awaited;
}

/* Waits until provider `i` is ready, because answers are added in registry order. Meanwhile it
 * takes answers of later providers, so that other threads can query them even if this one hangs. */
static void await_turn(struct collection *collection, size_t i)
{
    int64_t look = FIRST_LOOK;
    bool others = true;
    while (!is_ready(collection, i, others ? clock_ticks() + look : INT64_MAX)) {
        others = take_ready(collection, i + 1);
        if (look < LONGEST_LOOK)
            look *= 2;
    }
}

/* Collects from the shipped providers; sends the requests to all helpers before it waits for any
 * answer; then adds the others' answers in registry order. Each helper may fill all the space that
 * the shipped providers left. */
static void collect_chosen(struct collection *collection)
{
    static const enum run_state places[] = {[PLACE_UNKNOWN] = RUN_NONE,
                                            [PLACE_SHIPPED] = RUN_SHIPPED,
                                            [PLACE_INSIDE] = RUN_IN_PROCESS,
                                            [PLACE_HELPER] = RUN_ISOLATED};
    const struct host_settings *settings = &collection->table->settings;
    enum run_state *states = collection->round->states;
    size_t count = collection->round->count;
    for (size_t i = 0; i < count; i++)
        collection->round->taken[i].begin = collection->round->taken[i].end = 0;
    for (size_t i = 0; i < count; i++) {
        struct service *service = chosen_service(collection, i);
        lock_take(&service->code->lock);
        library_place(service);
        states[i] = places[service->code->place];
        lock_release(&service->code->lock);
        if (states[i] == RUN_SHIPPED) {
            collect_one(collection, i);
            states[i] = RUN_NONE;
        }
    }
    collection->request =
        (struct isolated_request){.settings = settings,
                                  .query = collection->query,
                                  .capacity = collection->capacity - collection->used,
                                  .start = clock_ticks()};
    for (size_t i = 0; i < count; i++)
        if (states[i] == RUN_ISOLATED)
            states[i] = send_to_helper(collection, i, NOT_AT_ALL);
    for (size_t i = 0; i < count; i++)
        if (states[i] == RUN_REQUESTED)
            isolated_is_ready(chosen_service(collection, i), settings, NOT_AT_ALL);
    for (size_t i = 0; i < count; i++) {
        if (states[i] == RUN_REQUESTED || states[i] == RUN_ISOLATED)
            await_turn(collection, i);
        if (states[i] != RUN_NONE)
            collect_one(collection, i);
    }
    for (size_t i = 0; collection->status == ERROR_MORE_DATA && i < count; i++)
        note_buffer_pressure(chosen_service(collection, i));
}

/* Logs that the program got ERROR_MORE_DATA many times in a row. Programs retry with larger buffers
 * until the answer fits, but the status does not show why it never does; the event names the
 * provider and the size that it needs. */
static void report_pressure(const struct collection *collection, unsigned tries)
{
    const struct shortage *shortage = &collection->shortage;
    char needs[200], others[64] = "";
    if (collection->before)
        snprintf(others, sizeof(others), " after the %zu bytes of other services",
                 collection->before);
    if (shortage->needed)
        snprintf(needs, sizeof(needs), "%zu bytes%s (%s has %zu instances)", shortage->needed,
                 others, shortage->object, shortage->instances);
    else
        snprintf(needs, sizeof(needs), "more than its buffer of %zu bytes",
                 collection->capacity - collection->before);
    verdict_report(collection->short_of_space, 4016,
                   EVENT_FIELDS(EVENT_NUMBER("Tries", tries),
                                EVENT_NUMBER("BufferSize", collection->capacity),
                                EVENT_TEXT("Needs", needs)),
                   NULL);
}

LSTATUS host_collect(const struct query *query, void *data, size_t capacity, size_t *ret_size,
                     uint32_t *ret_objects, bool *ret_whole)
{
    enum { MANY_TRIES = 10 };
    static _Thread_local unsigned tries; /* that failed for lack of space, in a row */
    struct collection collection = {.query = query, .data = data, .capacity = capacity};
    *ret_whole = false;
    *ret_size = 0;
    *ret_objects = 0;
    if (provider_inside)
        return ERROR_LOCK_FAILED;
    LSTATUS status = service_table_hold(&collection.table);
    if (status)
        return status;
    struct round *round = collection.round = round_take(collection.table->count);
    if (round) {
        round->count = select_services(collection.table, query, round->chosen);
        if (trace_on())
            trace_the_others(&collection);
        collect_chosen(&collection);
        tries = collection.status == ERROR_MORE_DATA ? tries + 1 : 0;
        if (collection.short_of_space && tries && tries % MANY_TRIES == 0)
            report_pressure(&collection, tries);
        shortage_here.needed = collection.lacking ? collection.used + collection.lacking : 0;
        lock_take(&free_list_lock);
        round->next = free_list;
        free_list = round;
        lock_release(&free_list_lock);
        answers_write(collection.table, false);
    }
    service_table_release(collection.table);
    *ret_size = collection.used;
    *ret_objects = collection.objects;
    *ret_whole = collection.whole;
    return round ? collection.status : ERROR_NOT_ENOUGH_MEMORY;
}

void host_close(void)
{
    struct service_table *table = provider_inside ? NULL : service_table_last();
    if (table)
        answers_write(table, true);
    for (size_t i = 0; table && i < table->count; i++)
        library_close(&table->services[i], &table->settings, !table->services[i].keep_resident);
    service_table_release(table);
    event_close();
}
