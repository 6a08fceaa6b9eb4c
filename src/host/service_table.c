/* SPDX-License-Identifier: MIT */
/*
 * The service table: all services at one time. When the registry changes, a new table is made; a
 * table never changes. So a query keeps the table that was current when it began, and needs no lock
 * while it waits. Code of unchanged services is taken over by the new table; code of removed
 * services is closed with the last table that has it. (docs/windows/articles.md#c39,
 * docs/windows/queries.md#c5)
 *
 * The array of listed objects is sorted here, once, so that the time of a query by index does not
 * depend on the number of registered objects.
 */
#include "host/internal.h"
#include "registry/registry.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `current` and all `holders` */
static struct service_table *current;

/* ---- listed objects ---- */

static int compare_listed(const void *left, const void *right)
{
    const struct listed_object *a = left, *b = right;
    if (a->object != b->object)
        return (a->object > b->object) - (a->object < b->object);
    return (a->position > b->position) - (a->position < b->position);
}

static void index_service(struct service_table *table, uint32_t position)
{
    const struct service *service = &table->services[position];
    if (service->disabled)
        return;
    table->enabled[table->enabled_count++] = position;
    if (!service->has_list)
        table->listless[table->listless_count++] = position;
    for (size_t i = 0; i < service->object_count; i++)
        table->listed[table->listed_count++] =
            (struct listed_object){service->objects[i], position};
}

LSTATUS service_table_index(struct service_table *table)
{
    size_t objects = 1;
    for (size_t i = 0; i < table->count; i++)
        objects += table->services[i].object_count;
    table->enabled = calloc(table->count + 1, sizeof(*table->enabled));
    table->listless = calloc(table->count + 1, sizeof(*table->listless));
    table->listed = calloc(objects, sizeof(*table->listed));
    if (!table->enabled || !table->listless || !table->listed)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; i < table->count; i++)
        index_service(table, (uint32_t)i);
    qsort(table->listed, table->listed_count, sizeof(*table->listed), compare_listed);
    return ERROR_SUCCESS;
}

void service_table_index_done(struct service_table *table)
{
    free(table->enabled);
    free(table->listless);
    free(table->listed);
    table->enabled = table->listless = NULL;
    table->listed = NULL;
    table->enabled_count = table->listless_count = table->listed_count = 0;
}

/* ---- order and code ---- */

/* The shipped providers answer first, as the system's own objects do on Windows
 * (docs/windows/queries.md#c5, 6). */
static LSTATUS put_shipped_first(struct service_table *table)
{
    struct service *ordered = calloc(table->count + 1, sizeof(*ordered));
    if (!ordered)
        return ERROR_NOT_ENOUGH_MEMORY;
    size_t filled = 0;
    for (int shipped = 1; shipped >= 0; shipped--) {
        for (size_t i = 0; i < table->count; i++)
            if (library_named_as_shipped(table->services[i].library) == shipped)
                ordered[filled++] = table->services[i];
        if (shipped)
            table->shipped = filled;
    }
    free(table->services);
    table->services = ordered;
    return ERROR_SUCCESS;
}

static int compare_names(const void *left, const void *right)
{
    return text_compare_fold(((const struct service *)left)->name,
                             ((const struct service *)right)->name);
}

static const struct service *find_service(const struct service_table *table,
                                          const struct service *wanted)
{
    const struct service *found = NULL;
    if (table && table->shipped)
        found = bsearch(wanted, table->services, table->shipped, sizeof(*wanted), compare_names);
    if (!found && table && table->count > table->shipped)
        found = bsearch(wanted, table->services + table->shipped, table->count - table->shipped,
                        sizeof(*wanted), compare_names);
    return found;
}

/* Takes over the code of the previous table if the same functions are registered. If an
 * administrator has enabled the service, its failures are forgotten. */
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

/* Sets valid_until, because when the next quarantine ends the table must be rebuilt although the
 * registry has not changed. */
static void note_quarantines(struct service_table *table)
{
    table->valid_until = INT64_MAX;
    for (size_t i = 0; i < table->count; i++) {
        const struct service *service = &table->services[i];
        if (service->disabled && service->quarantine_end &&
            service->quarantine_end < table->valid_until)
            table->valid_until = service->quarantine_end;
    }
}

/* ---- life ---- */

/* Releases the table's references to code. Code that another table holds is removed from this one;
 * the rest is freed with it. The caller holds the lock. */
static void let_go_of_code(struct service_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct library **code = &table->services[i].code;
        if (*code && --(*code)->holders > 0)
            *code = NULL;
    }
}

/* Frees the table. The lock must not be held, because this closes providers. */
static void service_table_free(struct service_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        library_free(&table->services[i]);
    services_free(table->services, table->count);
    service_table_index_done(table);
    free(table);
}

void service_table_release(struct service_table *table)
{
    if (!table)
        return;
    lock_take(&lock);
    bool last = --table->holders == 0;
    if (last)
        let_go_of_code(table);
    lock_release(&lock);
    if (last)
        service_table_free(table);
}

static LSTATUS fill(struct service_table *table)
{
    LSTATUS status = services_read(&table->services, &table->count);
    if (!status)
        status = put_shipped_first(table);
    for (size_t i = 0; !status && i < table->count; i++)
        status = take_code(&table->services[i], find_service(current, &table->services[i]));
    if (!status)
        status = service_table_index(table);
    note_quarantines(table);
    return status;
}

/* Makes a new table; the caller holds the lock. *ret_old is the previous table, which the caller
 * must release after unlocking. */
static LSTATUS make(uint64_t generation, struct service_table **ret_old)
{
    struct service_table *table = calloc(1, sizeof(*table));
    if (!table)
        return ERROR_NOT_ENOUGH_MEMORY;
    *table = (struct service_table){.holders = 1, .generation = generation};
    settings_read(&table->settings);
    table->settings.table = table;
    verdict_set_level(table->settings.event_level);
    LSTATUS status = fill(table);
    *ret_old = status ? table : current;
    if (status)
        return status;
    current = table;
    trace("host", "%zu services registered, test level %u", table->count,
          table->settings.test_level);
    return ERROR_SUCCESS;
}

LSTATUS service_table_hold(struct service_table **ret)
{
    uint64_t generation = registry_generation();
    struct service_table *old = NULL;
    LSTATUS status = ERROR_SUCCESS;
    lock_take(&lock);
    if (!current || current->generation != generation ||
        quarantine_clock.filetime() >= current->valid_until)
        status = make(generation, &old);
    *ret = status ? NULL : current;
    if (!status)
        current->holders++;
    lock_release(&lock);
    service_table_release(old);
    return status;
}

struct service_table *service_table_last(void)
{
    lock_take(&lock);
    struct service_table *table = current;
    if (table)
        table->holders++;
    lock_release(&lock);
    return table;
}
