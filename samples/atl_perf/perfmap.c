/* SPDX-License-Identifier: MIT */
/* Builds the answer of a map of objects: each object, then a definition for each of its counters,
 * then its values. */
#include "perfmap.h"

#include <string.h>

typedef struct {
    PERF_OBJECT_TYPE object;
    PERF_COUNTER_DEFINITION counters[PERF_COUNTERS];
} Description;
static Description descriptions[PERF_OBJECTS];

/* Offset of the object's values in the counter block: after its header, at a multiple of 8. */
enum { VALUES = 8 };

static DWORD roundUp8(DWORD size)
{
    return (size + 7) / 8 * 8;
}

/* ---- rows ---- */

DWORD perfMapRows(const PerfMap *map)
{
    DWORD i, rows = 0;
    for (i = 0; i < map->count; i++)
        rows += 1 + map->objects[i].count;
    return rows;
}

LPCWSTR perfMapText(const PerfMap *map, DWORD row, BOOL help)
{
    const PerfObject *object = map->objects;
    for (; row > object->count; object++)
        row -= 1 + object->count;
    if (row == 0)
        return help ? object->help : object->name;
    return help ? object->counters[row - 1].help : object->counters[row - 1].name;
}

static DWORD *store(DWORD *to, DWORD type, DWORD scale, DWORD place, DWORD size)
{
    to[0] = type;
    to[1] = scale;
    to[2] = place;
    to[3] = size;
    return to + 4;
}

DWORD perfMapStored(const PerfMap *map, DWORD stored[PERF_STORED])
{
    DWORD i, n, *to = stored;
    for (i = 0; i < map->count; i++) {
        const PerfObject *object = &map->objects[i];
        to = store(to, 0, object->count, 0, object->valuesSize);
        for (n = 0; n < object->count; n++) {
            const PerfCounter *counter = &object->counters[n];
            to = store(to, counter->type, (DWORD)counter->scale, counter->place, counter->size);
        }
    }
    return (DWORD)(to - stored);
}

/* ---- Open ---- */

static void describeCounter(const PerfCounter *row, DWORD name, DWORD help,
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

static void describeObject(const PerfObject *row, DWORD name, DWORD help, Description *ret)
{
    PERF_OBJECT_TYPE *object = &ret->object;
    DWORD i;
    memset(ret, 0, sizeof *ret);
    object->HeaderLength = sizeof *object;
    object->DefinitionLength = (DWORD)(sizeof *object + row->count * sizeof *ret->counters);
    object->TotalByteLength = object->DefinitionLength + roundUp8(VALUES + row->valuesSize);
    object->ObjectNameTitleIndex = name;
    object->ObjectHelpTitleIndex = help;
    object->DetailLevel = PERF_DETAIL_NOVICE;
    object->NumCounters = row->count;
    object->NumInstances = PERF_NO_INSTANCES;
    for (i = 0; i < row->count; i++)
        describeCounter(&row->counters[i], name + 2 * (i + 1), help + 2 * (i + 1),
                        &ret->counters[i]);
}

DWORD perfMapOpen(const PerfMap *map)
{
    DWORD name, help, i, result = sampleNumbers(map->performanceKey, &name, &help);
    if (result != ERROR_SUCCESS)
        return result;
    if (!perfMapIsRegistered(map))
        return ERROR_INVALID_DATA;
    for (i = 0; i < map->count; i++) {
        describeObject(&map->objects[i], name, help, &descriptions[i]);
        name += 2 * (1 + map->objects[i].count);
        help += 2 * (1 + map->objects[i].count);
    }
    return ERROR_SUCCESS;
}

/* ---- Collect ---- */

static void putObject(const Description *description, const void *values, DWORD size, BYTE *at)
{
    const PERF_OBJECT_TYPE *object = &description->object;
    PERF_COUNTER_BLOCK block;
    memset(at, 0, object->TotalByteLength);
    memcpy(at, description, object->DefinitionLength);
    at += object->DefinitionLength;
    block.ByteLength = object->TotalByteLength - object->DefinitionLength;
    memcpy(at, &block, sizeof block);
    memcpy(at + VALUES, values, size);
}

DWORD perfMapCollect(const PerfMap *map, LPCWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    ULONGLONG values[PERF_VALUES / sizeof(ULONGLONG)];
    DWORD capacity = *bytes, used = 0, count = 0, i;
    *bytes = *types = 0;
    for (i = 0; i < map->count; i++) {
        const PerfObject *object = &map->objects[i];
        DWORD size = descriptions[i].object.TotalByteLength;
        Request request = sampleRequest(query, descriptions[i].object.ObjectNameTitleIndex);
        if ((request != REQUEST_GLOBAL && request != REQUEST_BY_NUMBER) || !object->values(values))
            continue;
        if (capacity - used < size)
            return ERROR_MORE_DATA;
        putObject(&descriptions[i], values, object->valuesSize, (BYTE *)*data + used);
        used += size;
        count++;
    }
    *data = (BYTE *)*data + used;
    *bytes = used;
    *types = count;
    return ERROR_SUCCESS;
}
