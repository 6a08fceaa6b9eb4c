/* SPDX-License-Identifier: MIT */
/*
 * Which providers a query concerns. A provider with an Object List is asked for its own objects;
 * one without is asked only when some index is in nobody's list. (C50-C56, reference C.5)
 */
#include "host/internal.h"

#include <stdlib.h>

static int compare_indices(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static bool claims(const struct service *service, uint32_t index)
{
    return service->has_list && !service->disabled &&
           bsearch(&index, service->objects, service->object_count, sizeof(index),
                   compare_indices) != NULL;
}

static bool claims_any(const struct service *service, const struct query *query)
{
    for (size_t i = 0; i < query->object_count; i++)
        if (claims(service, query->objects[i]))
            return true;
    return false;
}

static bool somebody_claims(const struct service *services, size_t count, uint32_t index)
{
    for (size_t i = 0; i < count; i++)
        if (claims(&services[i], index))
            return true;
    return false;
}

static bool some_index_is_unclaimed(const struct service *services, size_t count,
                                    const struct query *query)
{
    for (size_t i = 0; i < query->object_count; i++)
        if (!somebody_claims(services, count, query->objects[i]))
            return true;
    return false;
}

bool select_service(const struct service *services, size_t count, size_t position,
                    const struct query *query)
{
    const struct service *service = &services[position];
    if (service->disabled)
        return false;
    if (query->kind == QUERY_GLOBAL || query->kind == QUERY_COSTLY || query->kind == QUERY_FOREIGN)
        return true;
    if (query->kind != QUERY_OBJECTS)
        return false;
    return service->has_list ? claims_any(service, query)
                             : some_index_is_unclaimed(services, count, query);
}
