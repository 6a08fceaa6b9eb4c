/* SPDX-License-Identifier: MIT */
/*
 * Which service owns a number, as in src/host/judge.c: the shipped provider that lists it, else the
 * service whose numbers (First Counter to Last Counter) include it, else the first service that
 * lists it.
 */
#include "owner.h"
#include "service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct claims {
    char *name;
    DWORD first, last;
    bool loaded, shipped, shares;
};
/* An object in the list of an enabled service; disabled services own no numbers. */
struct listed {
    DWORD object;
    size_t position;
};

static void add_list(struct owners *owners, const char *list)
{
    char *end;
    for (; list && *list; list = end) {
        unsigned long object = strtoul(list, &end, 10);
        struct listed *more = NULL;
        if (end == list)
            return;
        more = reallocarray(owners->listed, owners->listed_count + 1, sizeof *more);
        if (!more)
            return;
        owners->listed = more;
        more[owners->listed_count++] = (struct listed){(DWORD)object, owners->count};
    }
}

static bool take(void *self, const char *name)
{
    struct owners *owners = self;
    struct service_settings service;
    if (service_read(name, &service))
        return true;
    struct claims *more = reallocarray(owners->claims, owners->count + 1, sizeof *more);
    if (more) {
        owners->claims = more;
        if (service_enabled(&service))
            add_list(owners, service.object_list);
        more[owners->count++] = (struct claims){.name = service.name,
                                                .first = service.first_counter,
                                                .last = service.last_counter,
                                                .loaded = service.loaded,
                                                .shipped = service.shipped,
                                                .shares = service.shares};
        service.name = NULL;
    }
    service_done(&service);
    return more != NULL;
}

void owners_read(struct owners *ret)
{
    *ret = (struct owners){0};
    service_each(take, ret);
}

void owners_done(struct owners *owners)
{
    for (size_t i = 0; i < owners->count; i++)
        free(owners->claims[i].name);
    free(owners->claims);
    free(owners->listed);
}

static bool in_range(const struct claims *claims, DWORD object)
{
    return claims->loaded && object >= claims->first && object <= claims->last;
}

static const struct claims *find_lister(const struct owners *owners, DWORD object, bool shipped)
{
    for (size_t i = 0; i < owners->listed_count; i++) {
        const struct claims *claims = &owners->claims[owners->listed[i].position];
        if (owners->listed[i].object == object && (!shipped || claims->shipped))
            return claims;
    }
    return NULL;
}

static const struct claims *owner_of(const struct owners *owners, const struct claims *lister,
                                     DWORD object)
{
    const struct claims *shipped = find_lister(owners, object, true);
    if (shipped || in_range(lister, object))
        return shipped ? shipped : lister;
    for (size_t i = 0; i < owners->count; i++)
        if (in_range(&owners->claims[i], object))
            return &owners->claims[i];
    return find_lister(owners, object, false);
}

bool owners_other(const struct owners *owners, const char *service, DWORD *ret_object,
                  const char **ret_owner)
{
    for (size_t i = 0; i < owners->listed_count; i++) {
        const struct claims *lister = &owners->claims[owners->listed[i].position];
        if (lister->shares || strcasecmp(lister->name, service) != 0)
            continue;
        const struct claims *owner = owner_of(owners, lister, owners->listed[i].object);
        if (owner == lister)
            continue;
        *ret_object = owners->listed[i].object;
        *ret_owner = owner->name;
        return true;
    }
    return false;
}

int owners_explain(const struct owners *owners, const char *service, const char *user, char *text,
                   size_t size)
{
    DWORD object;
    const char *owner;
    if (!owners_other(owners, service, &object, &owner))
        return 0;
    return snprintf(
        text, size,
        "object %u in its Object List belongs to %s, so all its answers are dropped: give this "
        "service numbers of its own (unlodctr%s %s, then lodctr%s FILE.ini), or correct Object "
        "List in its Performance key; if this service replaces %s, set Shared Objects = 1 there",
        (unsigned)object, owner, user, service, user, owner);
}
