/* SPDX-License-Identifier: MIT */
/*
 * Each object number has one owner. An object belongs to the shipped provider that lists it, else
 * to the service whose range (First Counter to Last Counter) contains it, else to the first service
 * that lists it. Readers use the first object with a number, so an answer with an object of another
 * owner is dropped; `Shared Objects` = 1 in a registration allows it. An object that is registered
 * to no service belongs to the first that answers with it in a block.
 */
#include "host/internal.h"
#include "names/names.h"

#include <stdatomic.h>
#include <string.h>

static bool has_in_range(const struct service *service, uint32_t index)
{
    return service->last_counter && index >= service->first_counter &&
           index <= service->last_counter;
}

static const struct service *find_range(const struct service_table *table, uint32_t object)
{
    for (size_t i = 0; i < table->count; i++)
        if (has_in_range(&table->services[i], object))
            return &table->services[i];
    return NULL;
}

/* Returns the first enabled service that lists the object; shipped services come first. */
static const struct service *find_lister(const struct service_table *table, uint32_t object)
{
    size_t at = select_listed(table, object);
    bool listed = at < table->listed_count && table->listed[at].object == object;
    return listed ? &table->services[table->listed[at].position] : NULL;
}

enum ownership owner_find(const struct service_table *table, const struct service *service,
                          uint32_t object, const struct service **ret_other)
{
    const struct service *owner = find_lister(table, object);
    bool shipped = owner && owner < table->services + table->shipped;
    if (!shipped && has_in_range(service, object))
        return OWNED;
    const struct service *ranged = shipped ? NULL : find_range(table, object);
    owner = ranged ? ranged : owner;
    *ret_other = owner;
    return !owner ? UNOWNED : owner == service ? OWNED : OWNED_BY_OTHER;
}

/* Returns a block without a header, for functions that walk over the objects of a piece. */
static opl_block block_of(const void *data, size_t size, uint32_t objects)
{
    return (opl_block){.data = data, .size = size, .header.NumObjectTypes = objects};
}

static struct wire_finding about(const opl_object_view *object)
{
    return (struct wire_finding){.position = object->position,
                                 .object = object->type.ObjectNameTitleIndex,
                                 .field = "ObjectNameTitleIndex",
                                 .relation = "",
                                 .reason = "a number of this service",
                                 .described = true,
                                 .found = object->type.ObjectNameTitleIndex,
                                 .offset = object->offset +
                                           offsetof(PERF_OBJECT_TYPE, ObjectNameTitleIndex)};
}

bool owner_check(struct service *service, const struct host_settings *settings, struct piece *piece)
{
    opl_block block = block_of(piece->data, piece->size, piece->objects);
    opl_object_view object = {0};
    if (!settings->table || service->shares)
        return true;
    while (opl_block_next_object(&block, &object)) {
        const struct service *other;
        enum ownership ownership =
            owner_find(settings->table, service, object.type.ObjectNameTitleIndex, &other);
        piece->unowned |= ownership == UNOWNED;
        if (ownership == OWNED_BY_OTHER)
            return verdict_keep(service, settings,
                                &(struct fault_finding){.fault = FAULT_FOREIGN,
                                                        .content = about(&object),
                                                        .owner = other->name});
    }
    return true;
}

bool owner_check_twice(const struct service *service, const struct piece *piece, const void *data,
                       size_t size, const struct service *(*at)(const void *self, size_t offset),
                       const void *self)
{
    opl_block added = block_of(piece->data, piece->size, piece->objects);
    opl_object_view object = {0}, before;
    while (opl_block_next_object(&added, &object)) {
        opl_block block = block_of(data, size, UINT32_MAX);
        before = (opl_object_view){0};
        if (!opl_block_find_object(&block, object.type.ObjectNameTitleIndex, &before))
            continue;
        trace("host", "%s: dropped, object %u was answered before", service->name,
              object.type.ObjectNameTitleIndex);
        if (!atomic_exchange(&service->code->twice_reported, true))
            verdict_report_finding(service,
                                   &(struct fault_finding){.fault = FAULT_FOREIGN,
                                                           .content = about(&object),
                                                           .owner = at(self, before.offset)->name});
        return true;
    }
    return false;
}

/* ---- titles ---- */

static uint64_t add_to_hash(uint64_t hash, uint32_t index)
{
    return (hash ^ index) * UINT64_C(0x100000001b3);
}

static bool is_base(DWORD type)
{
    opl_type_info info;
    opl_type_describe(type, &info);
    return info.is_base;
}

/* True if the number has a name. Numbers in the service's own range have one, because lodctr loaded
 * its texts. */
static bool has_name(const struct service *service, uint32_t index)
{
    return (has_in_range(service, index) && (index - service->first_counter) % 2 == 0) ||
           names_lookup(index, LANGUAGE_ENGLISH, NULL);
}

static void report_nameless(struct service *service, const struct host_settings *settings,
                            struct wire_finding *finding)
{
    finding->reason = "a number that has a name";
    verdict_keep(service, settings,
                 &(struct fault_finding){
                     .fault = FAULT_UNNAMED, .numbers = {finding->position}, .content = *finding});
}

static uint64_t hash_titles(const struct piece *piece)
{
    opl_block block = block_of(piece->data, piece->size, piece->objects);
    opl_object_view object = {0};
    uint64_t hash = 1;
    while (opl_block_next_object(&block, &object)) {
        opl_counter_view counter = {0};
        hash = add_to_hash(hash, object.type.ObjectNameTitleIndex);
        while (opl_object_next_counter(&block, &object, &counter))
            hash = add_to_hash(hash, counter.definition.CounterNameTitleIndex);
    }
    return hash;
}

static void look_up_titles(struct service *service, const struct host_settings *settings,
                           const struct piece *piece)
{
    opl_block block = block_of(piece->data, piece->size, piece->objects);
    opl_object_view object = {0};
    while (opl_block_next_object(&block, &object)) {
        opl_counter_view counter = {0};
        struct wire_finding finding = about(&object);
        if (!has_name(service, finding.object))
            report_nameless(service, settings, &finding);
        while (opl_object_next_counter(&block, &object, &counter)) {
            uint32_t index = counter.definition.CounterNameTitleIndex;
            if (!index || is_base(counter.definition.CounterType) || has_name(service, index))
                continue;
            finding = about(&object);
            finding.has_counter = true;
            finding.counter = index;
            finding.counter_position = counter.position;
            finding.field = "CounterNameTitleIndex";
            finding.found = index;
            finding.offset =
                counter.offset + offsetof(PERF_COUNTER_DEFINITION, CounterNameTitleIndex);
            report_nameless(service, settings, &finding);
        }
    }
}

/* Does not check a service without loaded texts: it has no names, so each of its numbers would be
 * reported. */
void owner_check_titles(struct service *service, const struct host_settings *settings,
                        const struct piece *piece)
{
    uint64_t hash = service->last_counter ? hash_titles(piece) : service->code->titles;
    if (hash == service->code->titles)
        return;
    service->code->titles = hash;
    look_up_titles(service, settings, piece);
}
