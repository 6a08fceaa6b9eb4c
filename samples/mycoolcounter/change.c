/* SPDX-License-Identifier: MIT */
/*
 * An object without instances consists of its header, its definitions, its counter block, and then
 * the next object. Adding a counter inserts 40 bytes after the last definition and 8 after the last
 * value; offsets of values count from the counter block, so they stay valid when the block moves.
 */
#include "mycoolcounter.h"

#include <string.h>

static DWORD roundUp8(DWORD size)
{
    return (size + 7) / 8 * 8;
}

static PERF_COUNTER_BLOCK *blockOf(PERF_OBJECT_TYPE *object)
{
    return (PERF_COUNTER_BLOCK *)((BYTE *)object + object->DefinitionLength);
}

LONG changeAdd(PERF_OBJECT_TYPE *object, BYTE *end, DWORD name, DWORD help, ULONGLONG value)
{
    enum { DEFINITION = sizeof(PERF_COUNTER_DEFINITION) };
    BYTE *next = (BYTE *)object + object->TotalByteLength;
    PERF_COUNTER_BLOCK *block = blockOf(object);
    DWORD length = block->ByteLength;
    /* the value is placed at a multiple of 8 from the object's beginning */
    DWORD offset = roundUp8(object->DefinitionLength + length) - object->DefinitionLength;
    DWORD total = object->DefinitionLength + DEFINITION + offset + (DWORD)sizeof value;
    DWORD grown = total > object->TotalByteLength ? total - object->TotalByteLength : 0;
    PERF_COUNTER_DEFINITION *definition = (PERF_COUNTER_DEFINITION *)block;
    memmove(next + grown, next, (size_t)(end - next));
    memmove((BYTE *)block + DEFINITION, block, length);
    block = (PERF_COUNTER_BLOCK *)((BYTE *)block + DEFINITION);
    memset((BYTE *)block + length, 0, (size_t)(next + grown - (BYTE *)block - length));
    memcpy((BYTE *)block + offset, &value, sizeof value);
    block->ByteLength = offset + (DWORD)sizeof value;

    memset(definition, 0, DEFINITION);
    definition->ByteLength = DEFINITION;
    definition->CounterNameTitleIndex = name;
    definition->CounterHelpTitleIndex = help;
    definition->DetailLevel = PERF_DETAIL_NOVICE;
    definition->CounterType = PERF_COUNTER_LARGE_RAWCOUNT;
    definition->CounterSize = sizeof value;
    definition->CounterOffset = offset;

    object->NumCounters++;
    object->DefinitionLength += DEFINITION;
    object->TotalByteLength += grown;
    return (LONG)grown;
}

/* Finds a counter by its number; *ret_place is its position, from 0. NULL: there is none. */
static PERF_COUNTER_DEFINITION *find(PERF_OBJECT_TYPE *object, DWORD name, DWORD *ret_place)
{
    BYTE *at = (BYTE *)object + object->HeaderLength;
    DWORD i;
    for (i = 0; i < object->NumCounters; i++) {
        PERF_COUNTER_DEFINITION *definition = (PERF_COUNTER_DEFINITION *)at;
        if (definition->CounterNameTitleIndex == name) {
            *ret_place = i;
            return definition;
        }
        at += definition->ByteLength;
    }
    return NULL;
}

/* Is the definition a base, that is, the divisor of the counter before it? A base has no meaning
 * alone. */
static BOOL isBase(const PERF_COUNTER_DEFINITION *definition)
{
    return (definition->CounterType & 0x00070C00) == (PERF_TYPE_COUNTER | PERF_COUNTER_BASE);
}

/* Removes a counter's definition; the value stays in the counter block, unused. */
LONG changeRemove(PERF_OBJECT_TYPE *object, BYTE *end, DWORD name)
{
    DWORD place = 0, count = 1, gone;
    PERF_COUNTER_DEFINITION *definition = find(object, name, &place), *next;
    if (!definition)
        return 0;
    gone = definition->ByteLength;
    next = (PERF_COUNTER_DEFINITION *)((BYTE *)definition + gone);
    if (place + 1 < object->NumCounters && isBase(next)) {
        count++;
        gone += next->ByteLength;
    }
    if (gone % 8) /* the data after it would not be at multiples of 8 */
        return 0;
    memmove(definition, (BYTE *)definition + gone, (size_t)(end - (BYTE *)definition) - gone);
    object->NumCounters -= count;
    object->DefinitionLength -= gone;
    object->TotalByteLength -= gone;
    if (object->DefaultCounter >= (LONG)(place + count))
        object->DefaultCounter -= (LONG)count;
    else if (object->DefaultCounter >= (LONG)place)
        object->DefaultCounter = -1;
    return -(LONG)gone;
}

void changeValue(PERF_OBJECT_TYPE *object, DWORD name, ULONGLONG value)
{
    DWORD place, low = (DWORD)value;
    PERF_COUNTER_DEFINITION *definition = find(object, name, &place);
    BYTE *at = (BYTE *)blockOf(object);
    if (definition && definition->CounterSize == sizeof low)
        memcpy(at + definition->CounterOffset, &low, sizeof low);
    else if (definition && definition->CounterSize == sizeof value)
        memcpy(at + definition->CounterOffset, &value, sizeof value);
}
