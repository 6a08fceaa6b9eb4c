/* SPDX-License-Identifier: MIT */
/*
 * The checks of a provider's answer at ExtCounterTestLevel 1 (docs/windows/providers.md#d4, checks
 * 5-8): the lengths must add up. Three checks are this project's own: no object number twice, each
 * base directly after its counter, each value inside its counter block. Strict where a reader would
 * fail, lenient where providers of Windows are known to be imprecise.
 */
#include "wire/inner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    SLACK_AFTER_INSTANCES = 7,
    MOST_COMPARED = 1024, /* only the numbers of this many objects are compared with each other */
    LEAST_INSTANCE = sizeof(PERF_INSTANCE_DEFINITION) + sizeof(PERF_COUNTER_BLOCK)
};
static const char at_least[] = "at least ", at_most[] = "at most ";

/* The check of one answer. */
struct answer_check {
    opl_block block;
    opl_object_view object; /* the object that is being checked */
    enum wire_fault fault;  /* the fault that the check will return */
    void (*each)(void *self, const struct wire_finding *finding);
    void *self;
};

static void report(struct answer_check *check, const struct wire_finding *finding)
{
    if (check->fault == WIRE_GOOD ||
        (wire_fault_damages(finding->fault) && !wire_fault_damages(check->fault)))
        check->fault = finding->fault;
    if (check->each)
        check->each(check->self, finding);
}

static struct wire_finding about_object(const struct answer_check *check, enum wire_fault fault,
                                        const char *field, size_t field_offset)
{
    return (struct wire_finding){.fault = fault,
                                 .position = check->object.position,
                                 .object = check->object.type.ObjectNameTitleIndex,
                                 .field = field,
                                 .relation = "",
                                 .reason = "",
                                 .offset = check->object.offset + field_offset};
}
#define OBJECT_FIELD(check, fault, name)                                                           \
    about_object(check, fault, #name, offsetof(PERF_OBJECT_TYPE, name))

static struct wire_finding about_counter(const struct answer_check *check, enum wire_fault fault,
                                         const opl_counter_view *counter, const char *field,
                                         size_t field_offset)
{
    struct wire_finding finding = about_object(check, fault, field, 0);
    finding.has_counter = true;
    finding.counter = counter->definition.CounterNameTitleIndex;
    finding.counter_position = counter->position;
    finding.offset = counter->offset + field_offset;
    return finding;
}
#define COUNTER_FIELD(check, fault, counter, name)                                                 \
    about_counter(check, fault, counter, #name, offsetof(PERF_COUNTER_DEFINITION, name))

static void set_expected(struct wire_finding *finding, int64_t found, const char *relation,
                         uint64_t expected, const char *reason)
{
    finding->found = found;
    finding->relation = relation;
    finding->expected = (int64_t)expected;
    finding->reason = reason;
}

/* Copies the header of the object at `offset`; bytes beyond the answer's end become 0. */
static void fetch_type(const struct answer_check *check, size_t offset, PERF_OBJECT_TYPE *ret)
{
    size_t left = check->block.size - offset;
    *ret = (PERF_OBJECT_TYPE){0};
    if (left)
        memcpy(ret, check->block.data + offset, left < sizeof(*ret) ? left : sizeof(*ret));
}

/* ---- the objects' lengths ---- */

static bool report_length(struct answer_check *check, const char *relation, uint64_t expected,
                          const char *reason)
{
    struct wire_finding finding = OBJECT_FIELD(check, WIRE_FAULT_OBJECTS, TotalByteLength);
    set_expected(&finding, check->object.type.TotalByteLength, relation, expected, reason);
    report(check, &finding);
    return false;
}

static bool report_count(struct answer_check *check, uint32_t count, const char *relation,
                         uint32_t expected)
{
    struct wire_finding finding = about_object(check, WIRE_FAULT_OBJECTS, "NumObjectTypes", 0);
    set_expected(&finding, count, relation, expected, "the number of objects that were returned");
    report(check, &finding);
    return false;
}

/* Reports that bytes remain after the last object: that object's length is wrong, or the answer has
 * one object more than NumObjectTypes says. */
static bool report_rest(struct answer_check *check, uint32_t count, size_t offset)
{
    size_t left = check->block.size - offset;
    PERF_OBJECT_TYPE next;
    fetch_type(check, offset, &next);
    if (count == 0 || (next.TotalByteLength >= sizeof(next) && next.TotalByteLength <= left))
        return report_count(check, count, at_least, count + 1);
    return report_length(check, "", check->object.type.TotalByteLength + (uint64_t)left,
                         "the number of bytes that were returned");
}

/* Reads TotalByteLength only, so that a wrong length is not reported as a wrong definition. */
static bool objects_add_up(struct answer_check *check, uint32_t count)
{
    size_t offset = 0, size = check->block.size;
    for (uint32_t i = 0; i < count; i++) {
        size_t left = size - offset;
        PERF_OBJECT_TYPE type;
        fetch_type(check, offset, &type);
        check->object = (opl_object_view){.type = type, .offset = offset, .position = i};
        if (left < sizeof(type))
            return report_count(check, count, left ? "" : at_most, i);
        if (type.TotalByteLength < sizeof(type))
            return report_length(check, at_least, sizeof(type), "the size of its header");
        if (type.TotalByteLength > left)
            return report_length(check, i + 1 == count ? "" : at_most, left,
                                 "the number of bytes that were returned");
        offset += type.TotalByteLength;
    }
    return offset == size || report_rest(check, count, offset);
}

/* ---- definitions ---- */

static bool definition_is_good(struct answer_check *check, const opl_counter_view *at, size_t left)
{
    const PERF_COUNTER_DEFINITION *definition = &at->definition;
    struct wire_finding finding = COUNTER_FIELD(check, WIRE_FAULT_DEFINITIONS, at, ByteLength);
    if (definition->ByteLength < sizeof(*definition))
        set_expected(&finding, definition->ByteLength, at_least, sizeof(*definition),
                     "the size of a definition");
    else if (definition->ByteLength > left)
        set_expected(&finding, definition->ByteLength, at_most, left,
                     "the rest of DefinitionLength");
    else
        return true;
    report(check, &finding);
    return false;
}

/* Reports the definition at `counter`, which the walker (walk.c) refused. */
static bool report_definition(struct answer_check *check, opl_counter_view *counter)
{
    const opl_object_view *object = &check->object;
    size_t left = object->offset + object->type.DefinitionLength - counter->offset;
    if (left < sizeof(counter->definition)) {
        struct wire_finding finding = OBJECT_FIELD(check, WIRE_FAULT_DEFINITIONS, NumCounters);
        set_expected(&finding, object->type.NumCounters, at_most, counter->position,
                     "what fits into DefinitionLength");
        report(check, &finding);
        return false;
    }
    memcpy(&counter->definition, check->block.data + counter->offset, sizeof(counter->definition));
    if (!definition_is_good(check, counter, left))
        return false;
    bool size = counter->definition.CounterSize > INT32_MAX;
    struct wire_finding finding =
        size ? COUNTER_FIELD(check, WIRE_FAULT_DEFINITIONS, counter, CounterSize)
             : COUNTER_FIELD(check, WIRE_FAULT_DEFINITIONS, counter, CounterOffset);
    set_expected(&finding,
                 size ? counter->definition.CounterSize : counter->definition.CounterOffset,
                 at_most, INT32_MAX, "");
    report(check, &finding);
    return false;
}

static DWORD base_of(DWORD type)
{
    switch (type) {
    case PERF_SAMPLE_FRACTION:
        return PERF_SAMPLE_BASE;
    case PERF_RAW_FRACTION:
        return PERF_RAW_BASE;
    case PERF_AVERAGE_TIMER:
    case PERF_AVERAGE_BULK:
        return PERF_AVERAGE_BASE;
    default:
        return PERF_LARGE_RAW_BASE;
    }
}

/* Reports a counter whose type needs a base but that is not followed by one: readers would not
 * divide its value, or divide it by another counter's base. */
static void check_base(struct answer_check *check, const opl_counter_view *counter,
                       const struct type_row *next, DWORD next_type)
{
    const struct type_row *row = type_find(counter->definition.CounterType);
    if (!row || row->second != SECOND_BASE || (next && next->is_base))
        return;
    struct wire_finding finding = COUNTER_FIELD(check, WIRE_FAULT_BASE, counter, CounterType);
    finding.field = "CounterType of the next definition";
    finding.offset += counter->definition.ByteLength;
    finding.is_type = true;
    set_expected(&finding, next_type, "", base_of(row->type), "the base of this counter");
    report(check, &finding);
}

/* Checks the object's definitions. *ret_needed: bytes that the counters require of each instance's
 * counter block. */
static bool definitions_add_up(struct answer_check *check, size_t *ret_needed)
{
    const opl_object_view *object = &check->object;
    opl_counter_view counter = {0}, before;
    size_t end = object->offset + object->type.HeaderLength;
    for (uint32_t i = 0; before = counter, i < object->type.NumCounters; i++) {
        if (!opl_object_next_counter(&check->block, object, &counter)) {
            opl_counter_view refused = {.offset = end, .position = i};
            return report_definition(check, &refused);
        }
        const PERF_COUNTER_DEFINITION *definition = &counter.definition;
        if (i > 0)
            check_base(check, &before, type_find(definition->CounterType), definition->CounterType);
        size_t needed = (size_t)definition->CounterOffset + definition->CounterSize;
        if (definition->CounterSize && needed > *ret_needed)
            *ret_needed = needed;
        end = counter.offset + definition->ByteLength;
    }
    if (object->type.NumCounters)
        check_base(check, &counter, NULL, 0);
    if (end == object->offset + object->type.DefinitionLength)
        return true;
    struct wire_finding finding = OBJECT_FIELD(check, WIRE_FAULT_DEFINITIONS, DefinitionLength);
    set_expected(&finding, object->type.DefinitionLength, "", end - object->offset,
                 "HeaderLength plus the length of the definitions");
    report(check, &finding);
    return false;
}

/* ---- instances ---- */

static void take_instance(struct answer_check *check, struct wire_finding *finding,
                          const opl_instance_view *instance)
{
    if (check->object.type.NumInstances == PERF_NO_INSTANCES)
        return;
    finding->has_instance = true;
    finding->instance_position = instance->position;
    if (instance->definition.ByteLength)
        opl_instance_name(&check->block, &check->object, instance, finding->instance,
                          sizeof(finding->instance));
}

/* Reports the first counter whose value is outside of this instance's counter block. */
static void report_outside(struct answer_check *check, const opl_instance_view *instance)
{
    opl_counter_view counter = {0};
    while (opl_object_next_counter(&check->block, &check->object, &counter))
        if (counter.definition.CounterSize && !opl_counter_data(&check->block, instance, &counter))
            break;
    bool fits = counter.definition.CounterSize <= instance->counters_size;
    struct wire_finding finding =
        fits ? COUNTER_FIELD(check, WIRE_FAULT_OFFSET, &counter, CounterOffset)
             : COUNTER_FIELD(check, WIRE_FAULT_OFFSET, &counter, CounterSize);
    set_expected(&finding, fits ? counter.definition.CounterOffset : counter.definition.CounterSize,
                 at_most, instance->counters_size - (fits ? counter.definition.CounterSize : 0),
                 "because the value must be inside the counter block");
    take_instance(check, &finding, instance);
    report(check, &finding);
}

/* Finds out which field of an instance's definition is wrong. */
static void judge_instance(const PERF_INSTANCE_DEFINITION *definition, size_t left,
                           struct wire_finding *ret)
{
#define INSTANCE_FIELD(name)                                                                       \
    ret->field = #name, ret->offset += offsetof(PERF_INSTANCE_DEFINITION, name)
    if (definition->ByteLength < sizeof(*definition)) {
        INSTANCE_FIELD(ByteLength);
        set_expected(ret, definition->ByteLength, at_least, sizeof(*definition),
                     "the size of an instance definition");
    } else if (definition->ByteLength > left) {
        INSTANCE_FIELD(ByteLength);
        set_expected(ret, definition->ByteLength, at_most, left, "the rest of the object");
    } else if (definition->NameOffset > definition->ByteLength) {
        INSTANCE_FIELD(NameOffset);
        set_expected(ret, definition->NameOffset, at_most, definition->ByteLength,
                     "its ByteLength");
    } else {
        INSTANCE_FIELD(NameLength);
        set_expected(ret, definition->NameLength, at_most,
                     definition->ByteLength - definition->NameOffset,
                     "ByteLength minus NameOffset");
    }
#undef INSTANCE_FIELD
}

/* Reports the instance at `position`, which the walker refused; the instance before it ends at
 * `end`. */
static bool report_instance(struct answer_check *check, size_t end, uint32_t position)
{
    const opl_object_view *object = &check->object;
    bool counters = check->block.fault == OPL_BLOCK_COUNTERS;
    size_t at = counters ? check->block.fault_offset : end;
    size_t left = object->offset + object->type.TotalByteLength - at;
    struct wire_finding finding = OBJECT_FIELD(check, WIRE_FAULT_INSTANCES, NumInstances);
    opl_instance_view instance = {.offset = end, .position = position};
    size_t needed = counters ? sizeof(DWORD) : sizeof(instance.definition);
    if (left < needed && object->type.NumInstances == PERF_NO_INSTANCES) {
        finding = OBJECT_FIELD(check, WIRE_FAULT_INSTANCES, TotalByteLength);
        set_expected(&finding, object->type.TotalByteLength, at_least, at + needed - object->offset,
                     "because a counter block must follow the definitions");
    } else if (left < needed && counters) {
        memcpy(&instance.definition, check->block.data + end, sizeof(instance.definition));
        take_instance(check, &finding, &instance);
        finding.field = "ByteLength";
        finding.offset = end;
        set_expected(&finding, instance.definition.ByteLength, at_most, at + left - end - needed,
                     "because its counter block must fit after it");
    } else if (left < needed) {
        set_expected(&finding, object->type.NumInstances, at_most, position,
                     "the object has no space for more instances");
    } else {
        DWORD length;
        memcpy(&length, check->block.data + at, sizeof(length));
        finding.offset = at;
        if (counters && at > end)
            memcpy(&instance.definition, check->block.data + end, sizeof(instance.definition));
        take_instance(check, &finding, &instance);
        finding.field = "ByteLength of the counter block";
        set_expected(&finding, length, length < sizeof(length) ? at_least : at_most,
                     length < sizeof(length) ? sizeof(length) : left,
                     length < sizeof(length) ? "the size of ByteLength" : "the rest of the object");
        if (!counters) {
            memcpy(&instance.definition, check->block.data + at, sizeof(instance.definition));
            judge_instance(&instance.definition, left, &finding);
        }
    }
    report(check, &finding);
    return false;
}

/* Reports bytes after the last instance: the object is too long, or has one instance more than it
 * states. Not called for objects without instances, which may leave bytes unused (one of Windows'
 * providers leaves 88). */
static bool report_slack(struct answer_check *check, const opl_instance_view *last)
{
    opl_object_view longer = check->object;
    opl_instance_view next = *last;
    struct wire_finding finding = OBJECT_FIELD(check, WIRE_FAULT_INSTANCES, TotalByteLength);
    longer.type.NumInstances++;
    set_expected(&finding, longer.type.TotalByteLength, "", last->end - longer.offset,
                 "the end of its last instance");
    if (opl_object_next_instance(&check->block, &longer, &next)) {
        finding = OBJECT_FIELD(check, WIRE_FAULT_INSTANCES, NumInstances);
        set_expected(&finding, check->object.type.NumInstances, at_least,
                     (uint64_t)longer.type.NumInstances, "one more instance follows");
    }
    report(check, &finding);
    return false;
}

static bool instances_add_up(struct answer_check *check, size_t needed)
{
    const opl_object_view *object = &check->object;
    opl_instance_view instance = {0};
    uint32_t position = 0;
    bool outside = false;
    size_t end = object->offset + object->type.DefinitionLength;
    for (; opl_object_next_instance(&check->block, object, &instance); position++) {
        if (instance.counters_size < needed && !outside)
            report_outside(check, &instance);
        outside |= instance.counters_size < needed;
        end = instance.end;
    }
    if (check->block.fault)
        return report_instance(check, end, position);
    return object->type.NumInstances <= 0 ||
           object->offset + object->type.TotalByteLength - end <= SLACK_AFTER_INSTANCES ||
           report_slack(check, &instance);
}

/* ---- objects ---- */

/* Reports an object that the walker refused because fields of its header contradict each other. */
static void report_refused(struct answer_check *check)
{
    const PERF_OBJECT_TYPE *type = &check->object.type;
    struct wire_finding finding = OBJECT_FIELD(check, WIRE_FAULT_DEFINITIONS, HeaderLength);
    if (type->HeaderLength < sizeof(*type)) {
        set_expected(&finding, type->HeaderLength, at_least, sizeof(*type),
                     "the size of its header");
    } else if (type->HeaderLength > type->DefinitionLength) {
        set_expected(&finding, type->HeaderLength, at_most, type->DefinitionLength,
                     "DefinitionLength");
    } else if (type->DefinitionLength > type->TotalByteLength) {
        finding = OBJECT_FIELD(check, WIRE_FAULT_DEFINITIONS, DefinitionLength);
        set_expected(&finding, type->DefinitionLength, at_most, type->TotalByteLength,
                     "TotalByteLength");
    } else if (type->NumCounters >
               (type->DefinitionLength - type->HeaderLength) / sizeof(PERF_COUNTER_DEFINITION)) {
        finding = OBJECT_FIELD(check, WIRE_FAULT_DEFINITIONS, NumCounters);
        set_expected(&finding, type->NumCounters, at_most,
                     (type->DefinitionLength - type->HeaderLength) /
                         sizeof(PERF_COUNTER_DEFINITION),
                     "what fits into DefinitionLength");
    } else {
        bool negative = type->NumInstances < PERF_METADATA_NO_INSTANCES;
        finding = OBJECT_FIELD(check, WIRE_FAULT_INSTANCES, NumInstances);
        set_expected(&finding, type->NumInstances, negative ? at_least : at_most,
                     negative ? (uint64_t)PERF_METADATA_NO_INSTANCES
                              : (type->TotalByteLength - type->DefinitionLength) / LEAST_INSTANCE,
                     negative ? "the lowest valid value" : "what fits into TotalByteLength");
    }
    report(check, &finding);
}

/* Reports an object with the number of an earlier one: readers take the first of two objects with
 * the same number and never see the second. */
static void report_twice(struct answer_check *check)
{
    struct wire_finding finding = OBJECT_FIELD(check, WIRE_FAULT_TWICE, ObjectNameTitleIndex);
    set_expected(&finding, check->object.type.ObjectNameTitleIndex, "", 0,
                 "a number that no other object has");
    finding.described = true;
    report(check, &finding);
}

enum wire_fault wire_check_each(const void *data, size_t size, uint32_t count,
                                void (*each)(void *self, const struct wire_finding *finding),
                                void *self)
{
    struct answer_check check = {
        .block = {.data = data, .size = size, .header.NumObjectTypes = count},
        .each = each,
        .self = self
    };
    if (!objects_add_up(&check, count))
        return check.fault;
    opl_object_view *object = &check.object;
    *object = (opl_object_view){0};
    for (uint32_t i = 0; i < count; i++) {
        size_t offset = object->offset + object->type.TotalByteLength, needed = 0;
        if (!opl_block_next_object(&check.block, object)) {
            object->position = i;
            object->offset = offset;
            fetch_type(&check, offset, &object->type);
            report_refused(&check);
            break;
        }
        opl_object_view before = {0};
        while (i < MOST_COMPARED && opl_block_next_object(&check.block, &before) &&
               before.position < i)
            if (before.type.ObjectNameTitleIndex == object->type.ObjectNameTitleIndex) {
                report_twice(&check);
                break;
            }
        /* after a damaged length the next object cannot be reached */
        if (!definitions_add_up(&check, &needed) || !instances_add_up(&check, needed))
            break;
        if (object->type.TotalByteLength % 8 != 0) {
            struct wire_finding finding =
                OBJECT_FIELD(&check, WIRE_FAULT_ALIGNMENT, TotalByteLength);
            set_expected(&finding, object->type.TotalByteLength, "a multiple of ", 8, "");
            report(&check, &finding);
        }
    }
    return check.fault;
}

static void keep_gravest(void *self, const struct wire_finding *finding)
{
    struct wire_finding *kept = self;
    if (kept->fault == WIRE_GOOD ||
        (wire_fault_damages(finding->fault) && !wire_fault_damages(kept->fault)))
        *kept = *finding;
}

enum wire_fault wire_check_objects(const void *data, size_t size, uint32_t count,
                                   struct wire_finding *ret)
{
    *ret = (struct wire_finding){0};
    return wire_check_each(data, size, count, keep_gravest, ret);
}

/* ---- as text ---- */

static void number_text(const struct wire_finding *finding, int64_t number,
                        char out[static WIRE_TEXT])
{
    const struct type_row *row = finding->is_type ? type_find((DWORD)number) : NULL;
    if (row)
        snprintf(out, WIRE_TEXT, "%s", row->name);
    else if (finding->is_type)
        snprintf(out, WIRE_TEXT, "0x%08" PRIx64, (uint64_t)number);
    else
        snprintf(out, WIRE_TEXT, "%" PRId64, number);
}

void wire_finding_text(const struct wire_finding *finding, char found[static WIRE_TEXT],
                       char expected[static WIRE_TEXT])
{
    char number[WIRE_TEXT];
    number_text(finding, finding->found, found);
    number_text(finding, finding->expected, number);
    if (finding->described)
        snprintf(expected, WIRE_TEXT, "%s", finding->reason);
    else
        snprintf(expected, WIRE_TEXT, *finding->reason ? "%s%.40s (%.60s)" : "%s%.40s%s",
                 finding->relation, number, finding->reason);
}

/* ---- whole blocks ---- */

bool wire_is_block(const void *data, size_t size)
{
    static const unsigned char little[] = "P\0E\0R\0F", big[] = "\0P\0E\0R\0F";
    enum { MARK = 8 };
    return size >= MARK && (!memcmp(data, little, MARK) || !memcmp(data, big, MARK));
}

bool wire_check_block(const void *data, size_t size)
{
    opl_block block;
    opl_object_view object = {0};
    if (opl_block_init(&block, data, size) || block.size != size)
        return false;
    while (opl_block_next_object(&block, &object)) {
        opl_counter_view counter = {0};
        opl_instance_view instance = {0};
        while (opl_object_next_counter(&block, &object, &counter))
            ;
        while (opl_object_next_instance(&block, &object, &instance))
            ;
    }
    return block.fault == OPL_BLOCK_GOOD;
}
