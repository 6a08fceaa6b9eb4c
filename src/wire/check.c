/* SPDX-License-Identifier: MIT */
/*
 * What ExtCounterTestLevel 1 demands of a provider's answer (D.4, checks 5-8): lengths that add up.
 * Strict where a viewer would go astray, lenient where shipped providers are known to be untidy.
 */
#include "wire/inner.h"

#include <string.h>

enum { SLACK_BEHIND_INSTANCES = 7 };

/* Steps by TotalByteLength alone, so that one wrong length is not taken for a wrong definition. */
static bool objects_add_up(const unsigned char *data, size_t size, uint32_t count,
                           uint32_t *ret_object)
{
    for (*ret_object = 0; *ret_object < count; (*ret_object)++) {
        DWORD length;
        if (size < sizeof(PERF_OBJECT_TYPE))
            return false;
        memcpy(&length, data, sizeof(length));
        if (length < sizeof(PERF_OBJECT_TYPE) || length > size)
            return false;
        data += length;
        size -= length;
    }
    *ret_object = count > 0 ? count - 1 : 0;
    return size == 0;
}

static bool definitions_add_up(opl_block *block, const opl_object_view *object)
{
    opl_counter_view counter = {0};
    size_t end = object->offset + object->type.HeaderLength;
    while (opl_object_next_counter(block, object, &counter))
        end = counter.offset + counter.definition.ByteLength;
    return !block->fault && end == object->offset + object->type.DefinitionLength;
}

/* An object without instances may leave bytes unused (a shipped provider leaves 88). */
static bool instances_add_up(opl_block *block, const opl_object_view *object)
{
    opl_instance_view instance = {0};
    size_t end = object->offset + object->type.TotalByteLength;
    while (opl_object_next_instance(block, object, &instance))
        continue;
    if (block->fault)
        return false;
    return object->type.NumInstances <= 0 || end - instance.end <= SLACK_BEHIND_INSTANCES;
}

/* An object that the walker refuses: its counters or its instances? */
static enum wire_fault judge_refused(const unsigned char *data)
{
    PERF_OBJECT_TYPE type;
    memcpy(&type, data, sizeof(type));
    bool definitions_fit = type.HeaderLength >= sizeof(type) &&
                           type.HeaderLength <= type.DefinitionLength &&
                           type.DefinitionLength <= type.TotalByteLength &&
                           type.NumCounters <= (type.DefinitionLength - type.HeaderLength) /
                                                   sizeof(PERF_COUNTER_DEFINITION);
    return definitions_fit ? WIRE_FAULT_INSTANCES : WIRE_FAULT_DEFINITIONS;
}

/* One object behind `object`, which becomes it. */
static enum wire_fault check_next(opl_block *block, opl_object_view *object)
{
    const unsigned char *next = block->data + object->offset + object->type.TotalByteLength;
    if (!opl_block_next_object(block, object))
        return judge_refused(next);
    if (!definitions_add_up(block, object))
        return WIRE_FAULT_DEFINITIONS;
    if (!instances_add_up(block, object))
        return WIRE_FAULT_INSTANCES;
    return object->type.TotalByteLength % 8 == 0 ? WIRE_GOOD : WIRE_FAULT_ALIGNMENT;
}

enum wire_fault wire_check_objects(const void *data, size_t size, uint32_t count,
                                   uint32_t *ret_object)
{
    enum wire_fault verdict = WIRE_GOOD;
    uint32_t warned = 0;
    if (!objects_add_up(data, size, count, ret_object))
        return WIRE_FAULT_OBJECTS;
    opl_block block = {.data = data, .size = size, .header.NumObjectTypes = count};
    opl_object_view object = {0};
    for (*ret_object = 0; *ret_object < count; (*ret_object)++) {
        enum wire_fault fault = check_next(&block, &object);
        if (fault != WIRE_GOOD && fault != WIRE_FAULT_ALIGNMENT)
            return fault;
        if (verdict == WIRE_GOOD && fault != WIRE_GOOD)
            warned = *ret_object;
        verdict = verdict != WIRE_GOOD ? verdict : fault;
    }
    *ret_object = warned;
    return verdict;
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
