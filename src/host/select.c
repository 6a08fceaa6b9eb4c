/* SPDX-License-Identifier: MIT */
/*
 * Selects the providers that a query concerns. A provider with an Object List is queried for its
 * own objects; one without a list is queried only if the query has an index that is in no
 * provider's list. (docs/windows/articles.md#c50, docs/windows/queries.md#c5)
 */
#include "host/internal.h"

#include <stdatomic.h>
#include <string.h>

size_t select_listed(const struct service_table *table, uint32_t object)
{
    size_t low = 0, high = table->listed_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->listed[middle].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Inserts a position if the list lacks it; the list stays ascending. */
static size_t add_position(uint32_t *list, size_t count, uint32_t position)
{
    size_t at = count;
    while (at > 0 && list[at - 1] > position)
        at--;
    if (at > 0 && list[at - 1] == position)
        return count;
    memmove(&list[at + 1], &list[at], (count - at) * sizeof(*list));
    list[at] = position;
    return count + 1;
}

static size_t copy_positions(const uint32_t *from, size_t count, uint32_t *to)
{
    if (count)
        memcpy(to, from, count * sizeof(*to));
    return count;
}

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
        for (; at < table->listed_count && table->listed[at].object == query->objects[i]; at++)
            count = add_position(ret, count, table->listed[at].position);
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

static size_t wake(const struct service_table *table, const uint32_t *chosen, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct service *service = &table->services[chosen[i]];
        if (service->on_demand && service->code)
            atomic_store(&service->code->awake, true);
    }
    return count;
}

size_t select_services(const struct service_table *table, const struct query *query, uint32_t *ret)
{
    if (table->settings.disabled)
        return 0;
    switch (query->kind) {
    case QUERY_GLOBAL:
    case QUERY_COSTLY:
        return select_all(table, ret);
    case QUERY_FOREIGN:
        return wake(table, ret, copy_positions(table->enabled, table->enabled_count, ret));
    case QUERY_OBJECTS:
        return wake(table, ret, select_by_object(table, query, ret));
    default:
        return 0;
    }
}
