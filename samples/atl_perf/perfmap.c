/* SPDX-License-Identifier: MIT */
/* The answer of a map: its object, a definition for each row, and its values as they are. */
#include "perfmap.h"

#include <string.h>

typedef struct {
    PERF_OBJECT_TYPE object;
    PERF_COUNTER_DEFINITION counters[PERF_ROWS];
} Description;
static Description description;

/* Values lie at multiples of 8 behind the counter block. */
enum { VALUES = 8 };

static DWORD roundUp8(DWORD size)
{
    return (size + 7) / 8 * 8;
}

static void describeCounter(const PerfRow *row, DWORD name, DWORD help,
                            PERF_COUNTER_DEFINITION *counter)
{
    counter->ByteLength = sizeof *counter;
    counter->CounterNameTitleIndex = name;
    counter->CounterHelpTitleIndex = help;
    counter->DefaultScale = row->scale;
    counter->DetailLevel = PERF_DETAIL_NOVICE;
    counter->CounterType = row->type;
    counter->CounterSize = row->size;
    counter->CounterOffset = VALUES + row->place;
}

DWORD perfMapOpen(const PerfMap *map)
{
    DWORD name, help, i, result = sampleNumbers(map->performanceKey, &name, &help);
    PERF_OBJECT_TYPE *object = &description.object;
    if (result != ERROR_SUCCESS)
        return result;
    memset(&description, 0, sizeof description);
    object->HeaderLength = sizeof *object;
    object->DefinitionLength =
        (DWORD)(sizeof *object + (map->count - 1) * sizeof *description.counters);
    object->TotalByteLength = object->DefinitionLength + roundUp8(VALUES + map->valuesSize);
    object->ObjectNameTitleIndex = name;
    object->ObjectHelpTitleIndex = help;
    object->DetailLevel = PERF_DETAIL_NOVICE;
    object->NumCounters = map->count - 1;
    object->NumInstances = PERF_NO_INSTANCES;
    for (i = 1; i < map->count; i++)
        describeCounter(&map->rows[i], name + 2 * i, help + 2 * i, &description.counters[i - 1]);
    return ERROR_SUCCESS;
}

DWORD perfMapCollect(const PerfMap *map, LPCWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    const PERF_OBJECT_TYPE *object = &description.object;
    DWORD room = *bytes;
    BYTE *at = (BYTE *)*data;
    PERF_COUNTER_BLOCK block;
    Asked asked = sampleAsked(query, object->ObjectNameTitleIndex);
    *bytes = *types = 0;
    if (asked != ASKED_GLOBAL && asked != ASKED_BY_NUMBER)
        return ERROR_SUCCESS;
    if (room < object->TotalByteLength)
        return ERROR_MORE_DATA;
    memset(at, 0, object->TotalByteLength);
    memcpy(at, &description, object->DefinitionLength);
    at += object->DefinitionLength;
    block.ByteLength = object->TotalByteLength - object->DefinitionLength;
    memcpy(at, &block, sizeof block);
    memcpy(at + VALUES, map->values, map->valuesSize);
    *data = (BYTE *)*data + object->TotalByteLength;
    *bytes = object->TotalByteLength;
    *types = 1;
    return ERROR_SUCCESS;
}
