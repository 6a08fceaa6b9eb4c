/* SPDX-License-Identifier: MIT */
/*
 * One query's way to all providers that it concerns. No lock is held on the way but that of the
 * provider that is being asked. (C39, C.5, C.6)
 */
#include "host/host.h"
#include "host/internal.h"

#include <stdlib.h>

/* What a query needs besides the caller's buffer; spent ones are kept, so that a steady query
 * allocates nothing. */
struct round {
    uint32_t *chosen; /* positions in the roster */
    size_t count, room;
    struct round *next;
};
static struct round *spent;
static pthread_mutex_t spent_lock = PTHREAD_MUTEX_INITIALIZER;

static void round_return(struct round *round)
{
    lock_take(&spent_lock);
    round->next = spent;
    spent = round;
    lock_release(&spent_lock);
}

static struct round *round_take(size_t room)
{
    lock_take(&spent_lock);
    struct round *round = spent;
    if (round)
        spent = round->next;
    lock_release(&spent_lock);
    if (!round)
        round = calloc(1, sizeof(*round));
    if (round && round->room < room) {
        uint32_t *chosen = reallocarray(round->chosen, room, sizeof(*chosen));
        if (!chosen) {
            round_return(round);
            return NULL;
        }
        round->chosen = chosen;
        round->room = room;
    }
    return round;
}

static void trace_the_others(const struct roster *roster, const struct round *round,
                             const struct query *query)
{
    size_t next = 0;
    for (size_t i = 0; i < roster->count; i++) {
        const struct service *service = &roster->services[i];
        if (next < round->count && round->chosen[next] == i)
            next++;
        else
            trace("host", "%s is not asked: %s", service->name,
                  roster->settings.disabled      ? "all counters are disabled"
                  : service->disabled            ? "it is disabled"
                  : query->kind != QUERY_OBJECTS ? "the query concerns nobody"
                  : service->has_list            ? "its Object List has none of the objects"
                                                 : "each object is in the list of another");
    }
}

/* What has come together, and where the next answer goes. */
struct heap {
    unsigned char *data;
    size_t room, used;
    uint32_t objects;
    LSTATUS status;
};

/* Too much of one is ERROR_MORE_DATA for all, but the others are asked all the same, as the
 * article's experiments saw. */
static void add_piece(struct heap *heap, const struct piece *piece, LSTATUS status)
{
    if (!status) {
        heap->used += piece->size;
        heap->objects += piece->size ? piece->objects : 0;
    } else if (!heap->status || heap->status == ERROR_MORE_DATA) {
        heap->status = status;
    }
}

/* Where the helper process is missing, nothing of a stranger runs. */
static void refuse(struct service *service)
{
    if (!service->code->patience.off)
        verdict_report(service, 1018, NULL,
                       "it is not a shipped library and would run in a helper process, which this "
                       "version does not have yet; set Performance\\Isolation to 0 to load it into "
                       "the reading process");
    service->code->patience.off = true;
}

static bool may_be_called(struct service *service)
{
    lock_take(&service->code->lock);
    bool placed = library_place(service) == ERROR_SUCCESS;
    if (placed && service->code->place == PLACE_HELPER)
        refuse(service);
    bool here = placed && service->code->place != PLACE_HELPER;
    lock_release(&service->code->lock);
    return here;
}

static void collect_chosen(const struct roster *roster, const struct round *round,
                           const struct query *query, struct heap *heap)
{
    for (size_t i = 0; i < round->count; i++) {
        struct service *service = &roster->services[round->chosen[i]];
        struct piece piece = {.data = heap->data + heap->used, .room = heap->room - heap->used};
        if (may_be_called(service))
            add_piece(heap, &piece, call_collect(service, &roster->settings, query, &piece));
    }
}

LSTATUS host_collect(const struct query *query, void *data, size_t room, size_t *ret_size,
                     uint32_t *ret_objects)
{
    struct roster *roster;
    struct heap heap = {.data = data, .room = room};
    *ret_size = 0;
    *ret_objects = 0;
    if (provider_inside())
        return ERROR_LOCK_FAILED;
    LSTATUS status = roster_hold(&roster);
    if (status)
        return status;
    struct round *round = round_take(roster->count);
    if (round) {
        round->count = select_services(roster, query, round->chosen);
        if (trace_on())
            trace_the_others(roster, round, query);
        collect_chosen(roster, round, query, &heap);
        round_return(round);
    }
    roster_release(roster);
    *ret_size = heap.used;
    *ret_objects = heap.objects;
    return round ? heap.status : ERROR_NOT_ENOUGH_MEMORY;
}

void host_close(void)
{
    struct roster *roster = provider_inside() ? NULL : roster_last();
    for (size_t i = 0; roster && i < roster->count; i++)
        library_close(&roster->services[i], !roster->services[i].keep_resident);
    roster_release(roster);
}
