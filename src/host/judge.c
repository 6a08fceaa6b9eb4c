/* SPDX-License-Identifier: MIT */
/*
 * Checks an answer in the order of docs/windows/providers.md#d4, for a provider in this process or
 * in a helper. The bytes are first copied to the caller's buffer and checked there, because the
 * provider may still change its own buffer. (docs/windows/articles.md#c115,
 * docs/windows/articles.md#c123)
 */
#include "host/internal.h"
#include "names/names.h"

#include <stdatomic.h>
#include <string.h>

/* ---- owners of objects ---- */

/*
 * Each object number has one owner. An object belongs to the shipped provider that lists it, else
 * to the service whose range (First Counter to Last Counter) contains it, else to the first service
 * that lists it. Readers use the first object with a number, so an answer with an object of another
 * owner is dropped; `Shared Objects` = 1 in a registration allows it. An object that is registered
 * to no service belongs to the first that answers with it in a block.
 */

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

enum ownership owner_find(const struct service_table *table, const struct service *service,
                          uint32_t object, const struct service **ret_other)
{
    size_t at = select_listed(table, object);
    bool listed = at < table->listed_count && table->listed[at].object == object;
    /* the first enabled service that lists the object; shipped services come first */
    const struct service *owner = listed ? &table->services[table->listed[at].position] : NULL;
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

/* Checks the owners of the objects in an answer that passed all other checks. False: an object
 * belongs to another service; this was reported, and the answer must be dropped. */
static bool owner_check(struct service *service, const struct host_settings *settings,
                        struct piece *piece)
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
        trace("host", "%s: the answer is dropped, %s had already answered for object %u",
              service->name, at(self, before.offset)->name, object.type.ObjectNameTitleIndex);
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

/* Reports title numbers in the answer that have no name. */
static void owner_check_titles(struct service *service, const struct host_settings *settings,
                               const struct piece *piece)
{
    uint64_t hash = hash_titles(piece);
    if (hash == service->code->titles)
        return;
    service->code->titles = hash;
    look_up_titles(service, settings, piece);
}

/* ---- the checks ---- */

/* Checks the returned pointer and length: first checks 2 and 3 (docs/windows/providers.md#d4), at
 * every level, because bytes beyond the buffer cannot be copied; then check 1. */
static struct fault_finding judge_pointer(const struct answer *answer)
{
    int64_t capacity = (int64_t)answer->capacity, end = answer->end;
    uint64_t beyond = end < 0 ? -(uint64_t)end : (uint64_t)end - answer->capacity;
    if (end < 0 || end > capacity + GUARD_BYTES)
        return (struct fault_finding){FAULT_HEAP, .numbers = {beyond}};
    if (end > capacity)
        return (struct fault_finding){FAULT_OVERRUN, .numbers = {beyond}};
    if ((int64_t)answer->bytes == end)
        return (struct fault_finding){FAULT_NONE};
    return (struct fault_finding){
        end ? FAULT_LENGTH : FAULT_SILENT, .numbers = {answer->bytes, (uint64_t)end}
    };
}

/* State of the check of an answer whose findings are reported one by one. */
struct answer_content {
    struct service *service;
    const struct host_settings *settings;
    const struct answer *answer;
    const struct fault_finding *pointer;
    struct fault_finding grave; /* the first finding because of which the answer must be dropped */
};

static void take_finding(void *self, const struct wire_finding *found)
{
    static const enum fault faults[] = {
        [WIRE_GOOD] = FAULT_NONE,
        [WIRE_FAULT_OBJECTS] = FAULT_OBJECTS,
        [WIRE_FAULT_DEFINITIONS] = FAULT_DEFINITIONS,
        [WIRE_FAULT_INSTANCES] = FAULT_INSTANCES,
        [WIRE_FAULT_TWICE] = FAULT_TWICE,
        [WIRE_FAULT_BASE] = FAULT_BASE,
        [WIRE_FAULT_OFFSET] = FAULT_OFFSET,
        [WIRE_FAULT_ALIGNMENT] = FAULT_ALIGNMENT,
    };
    struct answer_content *content = self;
    const struct answer *answer = content->answer;
    struct fault_finding finding = {
        .fault = faults[found->fault], .numbers = {found->position}, .content = *found};
    if (found->fault == WIRE_FAULT_OBJECTS)
        finding.numbers[0] = answer->objects;
    if (found->fault == WIRE_FAULT_ALIGNMENT) {
        finding.numbers[0] = (uint64_t)answer->end;
        finding.numbers[1] = (uint64_t)answer->end % 8;
    }
    if (wire_fault_damages(found->fault)) {
        if (!content->grave.fault)
            content->grave = finding;
    } else if (!content->pointer->fault &&
               !(found->fault == WIRE_FAULT_ALIGNMENT &&
                 content->settings->configuration & CONFIGURATION_NO_ALIGNMENT)) {
        verdict_keep(content->service, content->settings, &finding);
    }
}

static struct fault_finding judge_block(const struct answer *answer, const struct piece *piece)
{
    bool good = wire_check_block(piece->data, (size_t)answer->end);
    return (struct fault_finding){good ? FAULT_NONE : FAULT_OBJECTS, .numbers = {answer->objects}};
}

/* Checks the bytes that were copied into the piece: checks 5 to 8 (docs/windows/providers.md#d4)
 * and those that Windows does not have. Warnings are reported; returns the first finding because of
 * which the answer must be dropped. */
static struct fault_finding judge_bytes(struct service *service,
                                        const struct host_settings *settings,
                                        const struct answer *answer, const struct piece *piece,
                                        const struct fault_finding *pointer)
{
    if (piece->whole)
        return judge_block(answer, piece);
    if (answer->end % 4)
        return (struct fault_finding){
            FAULT_ODD_LENGTH, .numbers = {(uint64_t)answer->end, (uint64_t)answer->end % 8}
        };
    struct answer_content content = {service, settings, answer, pointer, {FAULT_NONE}};
    if (settings->test_level <= 1 || pointer->fault)
        wire_check_each(piece->data, (size_t)answer->end, answer->objects, take_finding, &content);
    return content.grave;
}

/* Reports that the pattern before or after the buffer was overwritten (check 4). Returns whether
 * the answer is kept. */
static bool report_guard(struct service *service, const struct host_settings *settings,
                         const struct answer *answer)
{
    return verdict_keep(service, settings,
                        &(struct fault_finding){FAULT_GUARD, .numbers = {answer->capacity}});
}

/* ---- buffer size ---- */

/* True if a provider fills buffers of any size: it filled one while other providers lacked space,
 * and then one that was four times as large. A provider that just needs much space leaves more of a
 * larger buffer free: at least a sixteenth. If false, records whether the buffer is full. */
static bool fills_any_buffer(struct service *service, const struct answer *answer)
{
    struct library *code = service->code;
    size_t least = atomic_load(&code->least_filled), capacity = answer->capacity;
    bool full = answer->end > 0 && capacity - (size_t)answer->end < capacity / 16;
    if (full && (capacity >= LARGEST_ANSWER || (least && capacity / 4 >= least)))
        return true;
    atomic_store(&code->filled, full ? capacity : 0);
    if (!full)
        atomic_store(&code->least_filled, 0);
    return false;
}

void note_buffer_pressure(struct service *service)
{
    size_t filled = atomic_load(&service->code->filled);
    size_t least = atomic_load(&service->code->least_filled);
    if (filled && (!least || filled < least))
        atomic_store(&service->code->least_filled, filled);
}

/* Checks an answer for which Collect returned success, but not the owners of its objects; returns
 * whether it is kept. piece->size: bytes whose owners must be checked. */
static bool keep(struct service *service, const struct host_settings *settings,
                 const struct answer *answer, struct piece *piece)
{
    uint32_t level = settings->test_level;
    struct fault_finding pointer = judge_pointer(answer);
    bool outside = (uint64_t)answer->end > answer->capacity; /* FAULT_HEAP or FAULT_OVERRUN */
    if (outside || (level <= 2 && pointer.fault == FAULT_SILENT))
        return verdict_keep(service, settings, &pointer);
    if (!answer->guards_intact)
        return report_guard(service, settings, answer);
    if (fills_any_buffer(service, answer))
        return verdict_keep(
            service, settings,
            &(struct fault_finding){FAULT_BUFFER_HOG, .numbers = {answer->capacity}});
    if ((size_t)answer->end > piece->capacity)
        return true; /* the caller will retry with a larger buffer */
    if (answer->copy)
        answer->copy(answer->self, piece->data, (size_t)answer->end);
    /* a whole block of a foreign machine, in either byte order (docs/windows/articles.md#c121) */
    piece->whole = answer->foreign && wire_is_block(piece->data, (size_t)answer->end);
    struct fault_finding content = judge_bytes(service, settings, answer, piece, &pointer);
    /* a wrong length is reported together with what is wrong in the content */
    pointer.because = content.fault;
    pointer.content = content.content;
    bool both = pointer.fault && level <= 2;
    const struct fault_finding *finding = both ? &pointer : &content;
    if (finding->fault && !verdict_keep(service, settings, finding))
        return false;
    if (!piece->whole) {
        piece->size = (size_t)answer->end;
        piece->objects = answer->objects;
    }
    return true;
}

/* Handles an answer for which Collect returned an error. */
static LSTATUS judge_status(struct service *service, const struct host_settings *settings,
                            const struct answer *answer)
{
    struct fault_finding finding = {FAULT_STATUS, .numbers = {(DWORD)answer->status}};
    if (!answer->guards_intact) {
        report_guard(service, settings, answer);
        return ERROR_SUCCESS;
    }
    if (answer->status == ERROR_MORE_DATA) {
        if (answer->capacity < LARGEST_ANSWER)
            return ERROR_MORE_DATA;
        finding = (struct fault_finding){FAULT_NEVER_ENOUGH, .numbers = {answer->capacity}};
    }
    verdict_keep(service, settings, &finding);
    return ERROR_SUCCESS;
}

LSTATUS judge(struct service *service, const struct host_settings *settings,
              const struct answer *answer, struct piece *piece)
{
    struct host_settings strict = *settings;
    *piece = (struct piece){.data = piece->data, .capacity = piece->capacity, .took_100ns = -1};
    /* test level 1: everything is checked; 2: only pointers and guards; above: only what could
     * damage this process */
    strict.test_level = service->code->unproven ? 1 : settings->test_level;
    settings = &strict;
    if (answer->status)
        return judge_status(service, settings, answer);
    bool kept = keep(service, settings, answer, piece);
    if (kept && piece->size) {
        /* a service without loaded texts would be reported for each of its numbers */
        if (service->last_counter)
            owner_check_titles(service, settings, piece);
        kept = owner_check(service, settings, piece);
    }
    piece->size = piece->objects = 0;
    if (!kept)
        return ERROR_SUCCESS;
    quarantine_take(service, settings, PROVIDER_PASSED, NULL);
    piece->took_100ns = answer->took_100ns;
    if ((size_t)answer->end > piece->capacity)
        return ERROR_MORE_DATA;
    if (answer->end) {
        piece->size = (size_t)answer->end;
        piece->objects = answer->objects;
        trace("host", "%s: %zu bytes passed the checks of test level %u", service->name,
              piece->size, settings->test_level);
    }
    return ERROR_SUCCESS;
}
