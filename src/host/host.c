/* SPDX-License-Identifier: MIT */
/*
 * All providers of this process. The list is a copy of the registry's and is made anew when that
 * changed; libraries that stay the same stay loaded. Queries share the list, one provider is never
 * entered twice at once. (C39, C.5, C.6)
 */
#include "host/host.h"
#include "host/internal.h"
#include "registry/registry.h"

#include <stdlib.h>

static struct {
    pthread_rwlock_t lock; /* read by queries, written by reload and close */
    struct service *services;
    size_t count;
    struct host_settings settings;
    uint64_t generation;
    bool known;
} host = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* Set while this thread runs a provider's code: that code must not ask again, it would wait for
 * itself. */
static _Thread_local bool inside_provider;

static void take_over_code(struct service *services, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < host.count && !services[i].code; j++)
            if (host.services[j].code && service_same_code(&services[i], &host.services[j])) {
                services[i].code = host.services[j].code;
                host.services[j].code = NULL;
            }
}

static LSTATUS add_locks(struct service *services, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!services[i].code && library_new(&services[i].code))
            return ERROR_NOT_ENOUGH_MEMORY;
    return ERROR_SUCCESS;
}

/* The shipped providers answer first, as the system's own objects do on Windows (C.5, 6). */
static void put_shipped_first(struct service *services, size_t count)
{
    size_t front = 0;
    for (size_t i = 0; i < count; i++) {
        if (services[i].library[0] == '/')
            continue;
        struct service shipped = services[i];
        for (size_t j = i; j > front; j--)
            services[j] = services[j - 1];
        services[front++] = shipped;
    }
}

static void drop_services(struct service *services, size_t count)
{
    for (size_t i = 0; i < count; i++)
        library_free(&services[i]);
    services_free(services, count);
}

static LSTATUS reload(uint64_t generation)
{
    struct service *services;
    size_t count;
    LSTATUS status = services_read(&services, &count);
    if (status)
        return status;
    put_shipped_first(services, count);
    take_over_code(services, count);
    drop_services(host.services, host.count);
    host.services = services;
    host.count = count;
    host.known = true;
    host.generation = generation;
    status = settings_read(&host.settings);
    trace("host", "%zu services registered, test level %u", count, host.settings.test_level);
    return status ? status : add_locks(services, count);
}

/* Leaves the lock held for reading, the list as the registry says now. */
static LSTATUS lock_current_services(void)
{
    uint64_t generation = registry_generation();
    LSTATUS status = ERROR_SUCCESS;
    lock_take_shared(&host.lock);
    while (!status && (!host.known || host.generation != generation)) {
        lock_release_rw(&host.lock);
        lock_take_alone(&host.lock);
        if (!host.known || host.generation != generation)
            status = reload(generation);
        lock_release_rw(&host.lock);
        lock_take_shared(&host.lock);
    }
    return status;
}

static LSTATUS collect_service(struct service *service, const struct query *query, void *data,
                               size_t room, size_t *ret_size, uint32_t *ret_objects)
{
    LSTATUS status = ERROR_SUCCESS;
    *ret_size = 0;
    lock_take(&service->code->lock);
    inside_provider = true;
    if (!service->code->off_for_session && library_open(service) == ERROR_SUCCESS)
        status = call_collect(service, &host.settings, query, data, room, ret_size, ret_objects);
    inside_provider = false;
    lock_release(&service->code->lock);
    return status;
}

static bool is_asked(size_t position, const struct query *query)
{
    const struct service *service = &host.services[position];
    bool asked =
        !host.settings.disabled && select_service(host.services, host.count, position, query);
    if (!asked)
        trace("host", "%s is not asked: %s", service->name,
              host.settings.disabled         ? "all counters are disabled"
              : service->disabled            ? "it is disabled"
              : query->kind != QUERY_OBJECTS ? "the query concerns nobody"
              : service->has_list            ? "its Object List has none of the objects"
                                             : "each object is in the list of another");
    return asked;
}

static LSTATUS collect_all(const struct query *query, unsigned char *data, size_t room,
                           size_t *used, uint32_t *objects)
{
    bool more = false;
    for (size_t i = 0; i < host.count; i++) {
        size_t size;
        uint32_t count;
        if (!is_asked(i, query))
            continue;
        LSTATUS status =
            collect_service(&host.services[i], query, data + *used, room - *used, &size, &count);
        if (status == ERROR_MORE_DATA)
            more = true; /* the others are asked all the same, as the article's experiments saw */
        else if (status)
            return status;
        if (size) {
            *used += size;
            *objects += count;
        }
    }
    return more ? ERROR_MORE_DATA : ERROR_SUCCESS;
}

LSTATUS host_collect(const struct query *query, void *data, size_t room, size_t *ret_size,
                     uint32_t *ret_objects)
{
    *ret_size = 0;
    *ret_objects = 0;
    if (inside_provider)
        return ERROR_LOCK_FAILED;
    LSTATUS status = lock_current_services();
    if (!status)
        status = collect_all(query, data, room, ret_size, ret_objects);
    lock_release_rw(&host.lock);
    return status;
}

void host_close(void)
{
    if (inside_provider)
        return;
    lock_take_alone(&host.lock);
    for (size_t i = 0; i < host.count; i++)
        library_close(&host.services[i], !host.services[i].keep_resident);
    lock_release_rw(&host.lock);
}
