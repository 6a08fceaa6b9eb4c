/* SPDX-License-Identifier: MIT */
/* Finds the service of each registered object, so that an object without an answer is not taken for
 * an unknown one. */
#include "pcview.h"
#include "../common/service.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct registered_walk {
    void (*each)(void *self, const struct registered *object);
    void *self;
};

static bool walk_service(void *self, const char *name)
{
    const struct registered_walk *walk = self;
    struct service_settings service;
    char *end;
    if (service_read(name, &service) == ERROR_SUCCESS && service.library)
        for (char *at = service.object_list; at && *at; at = *end ? end + 1 : end) {
            unsigned long index = strtoul(at, &end, 10);
            if (end != at && index <= UINT32_MAX)
                walk->each(walk->self,
                           &(struct registered){(uint32_t)index, name, service_enabled(&service)});
        }
    service_done(&service);
    return true;
}

void registered_each(void (*each)(void *self, const struct registered *object), void *self)
{
    if (!view_is_remote()) /* another machine's services cannot be read */
        service_each(walk_service, &(struct registered_walk){each, self});
}

struct title_search {
    const char *service; /* when searching by service: the name of the service */
    uint32_t index;      /* when searching by object: the number of the object */
    uint32_t *indices;
    char *name;
    size_t capacity, count;
    bool enabled;
};

static void take_object(void *self, const struct registered *object)
{
    struct title_search *search = self;
    if (strcasecmp(object->service, search->service) == 0 && search->count < search->capacity)
        search->indices[search->count++] = object->index;
}

size_t registered_objects(const char *service, uint32_t *indices, size_t capacity)
{
    struct title_search search = {.service = service, .indices = indices, .capacity = capacity};
    registered_each(take_object, &search);
    return search.count;
}

static void take_service(void *self, const struct registered *object)
{
    struct title_search *search = self;
    if (object->index == search->index && !search->count &&
        strlen(object->service) < search->capacity) {
        strcpy(search->name, object->service);
        search->enabled = object->enabled;
        search->count = 1;
    }
}

bool registered_by(uint32_t index, char *service, size_t capacity, bool *ret_enabled)
{
    struct title_search search = {.index = index, .name = service, .capacity = capacity};
    registered_each(take_service, &search);
    *ret_enabled = search.enabled;
    return search.count != 0;
}
