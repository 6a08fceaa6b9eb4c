/* SPDX-License-Identifier: MIT */
/*
 * The service table: all services at one moment. It is rebuilt when the registry changes and never
 * altered: a query holds the one that was current when it began, and no lock while it waits.
 * Unchanged code is passed on to the next table; the last holder of removed code closes it.
 * (docs/windows/articles.md#c39, docs/windows/queries.md#c5)
 *
 * The time of a query by index must not depend on how many others are registered: the index of
 * listed objects is sorted here, once.
 */
#include "host/internal.h"
#include "registry/registry.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `current` and all `holders` */
static struct roster *current;

/* ---- listed objects ---- */

static int compare_listed(const void *left, const void *right)
{
    const struct listed_object *a = left, *b = right;
    if (a->object != b->object)
        return (a->object > b->object) - (a->object < b->object);
    return (a->position > b->position) - (a->position < b->position);
}

static void index_service(struct roster *roster, uint32_t position)
{
    const struct service *service = &roster->services[position];
    if (service->disabled)
        return;
    roster->enabled[roster->enabled_count++] = position;
    if (!service->has_list)
        roster->listless[roster->listless_count++] = position;
    for (size_t i = 0; i < service->object_count; i++)
        roster->listed[roster->listed_count++] =
            (struct listed_object){service->objects[i], position};
}

LSTATUS roster_index(struct roster *roster)
{
    size_t objects = 1;
    for (size_t i = 0; i < roster->count; i++)
        objects += roster->services[i].object_count;
    roster->enabled = calloc(roster->count + 1, sizeof(*roster->enabled));
    roster->listless = calloc(roster->count + 1, sizeof(*roster->listless));
    roster->listed = calloc(objects, sizeof(*roster->listed));
    if (!roster->enabled || !roster->listless || !roster->listed)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; i < roster->count; i++)
        index_service(roster, (uint32_t)i);
    qsort(roster->listed, roster->listed_count, sizeof(*roster->listed), compare_listed);
    return ERROR_SUCCESS;
}

void roster_index_done(struct roster *roster)
{
    free(roster->enabled);
    free(roster->listless);
    free(roster->listed);
    roster->enabled = roster->listless = NULL;
    roster->listed = NULL;
    roster->enabled_count = roster->listless_count = roster->listed_count = 0;
}

/* ---- order and code ---- */

/* The shipped providers answer first, as the system's own objects do on Windows
 * (docs/windows/queries.md#c5, 6). */
static LSTATUS put_shipped_first(struct roster *roster)
{
    struct service *ordered = calloc(roster->count + 1, sizeof(*ordered));
    if (!ordered)
        return ERROR_NOT_ENOUGH_MEMORY;
    size_t filled = 0;
    for (int shipped = 1; shipped >= 0; shipped--) {
        for (size_t i = 0; i < roster->count; i++)
            if (library_named_as_shipped(roster->services[i].library) == shipped)
                ordered[filled++] = roster->services[i];
        if (shipped)
            roster->shipped = filled;
    }
    free(roster->services);
    roster->services = ordered;
    return ERROR_SUCCESS;
}

static int compare_names(const void *left, const void *right)
{
    return text_compare_fold(((const struct service *)left)->name,
                             ((const struct service *)right)->name);
}

static const struct service *find_service(const struct roster *roster, const struct service *wanted)
{
    const struct service *found = NULL;
    if (roster && roster->shipped)
        found = bsearch(wanted, roster->services, roster->shipped, sizeof(*wanted), compare_names);
    if (!found && roster && roster->count > roster->shipped)
        found = bsearch(wanted, roster->services + roster->shipped, roster->count - roster->shipped,
                        sizeof(*wanted), compare_names);
    return found;
}

/* Keeps the code if the same functions are registered; enabling it by hand clears its failures. */
static LSTATUS take_code(struct service *service, const struct service *before)
{
    if (before && before->code && service_same_code(before, service)) {
        service->code = before->code;
        if (before->disabled && !service->disabled)
            atomic_store(&service->code->forgiven, true);
    } else if (library_new(&service->code)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    service->code->holders++;
    return ERROR_SUCCESS;
}

/* When the table must be rebuilt without a change of the registry. */
static void note_quarantines(struct roster *roster)
{
    roster->valid_until = INT64_MAX;
    for (size_t i = 0; i < roster->count; i++) {
        const struct service *service = &roster->services[i];
        if (service->disabled && service->quarantine_end &&
            service->quarantine_end < roster->valid_until)
            roster->valid_until = service->quarantine_end;
    }
}

/* ---- life ---- */

/* Code that is also held elsewhere is taken out, so that only unshared code stays. Under the
 * lock. */
static void let_go_of_code(struct roster *roster)
{
    for (size_t i = 0; i < roster->count; i++) {
        struct library **code = &roster->services[i].code;
        if (*code && --(*code)->holders > 0)
            *code = NULL;
    }
}

/* Closes providers, so the lock must not be held. */
static void roster_free(struct roster *roster)
{
    for (size_t i = 0; i < roster->count; i++)
        library_free(&roster->services[i]);
    services_free(roster->services, roster->count);
    roster_index_done(roster);
    free(roster);
}

void roster_release(struct roster *roster)
{
    if (!roster)
        return;
    lock_take(&lock);
    bool last = --roster->holders == 0;
    if (last)
        let_go_of_code(roster);
    lock_release(&lock);
    if (last)
        roster_free(roster);
}

static LSTATUS fill(struct roster *roster)
{
    LSTATUS status = services_read(&roster->services, &roster->count);
    if (!status)
        status = put_shipped_first(roster);
    for (size_t i = 0; !status && i < roster->count; i++)
        status = take_code(&roster->services[i], find_service(current, &roster->services[i]));
    if (!status)
        status = roster_index(roster);
    note_quarantines(roster);
    return status;
}

/* Under the lock; *ret_old: the previous table, to be released after unlocking. */
static LSTATUS make(uint64_t generation, struct roster **ret_old)
{
    struct roster *roster = calloc(1, sizeof(*roster));
    if (!roster)
        return ERROR_NOT_ENOUGH_MEMORY;
    *roster = (struct roster){.holders = 1, .generation = generation};
    settings_read(&roster->settings);
    roster->settings.roster = roster;
    verdict_set_level(roster->settings.event_level);
    LSTATUS status = fill(roster);
    *ret_old = status ? roster : current;
    if (status)
        return status;
    current = roster;
    trace("host", "%zu services registered, test level %u", roster->count,
          roster->settings.test_level);
    return ERROR_SUCCESS;
}

LSTATUS roster_hold(struct roster **ret)
{
    uint64_t generation = registry_generation();
    struct roster *old = NULL;
    LSTATUS status = ERROR_SUCCESS;
    lock_take(&lock);
    if (!current || current->generation != generation ||
        quarantine_clock.filetime() >= current->valid_until)
        status = make(generation, &old);
    *ret = status ? NULL : current;
    if (!status)
        current->holders++;
    lock_release(&lock);
    roster_release(old);
    return status;
}

struct roster *roster_last(void)
{
    lock_take(&lock);
    struct roster *roster = current;
    if (roster)
        roster->holders++;
    lock_release(&lock);
    return roster;
}
