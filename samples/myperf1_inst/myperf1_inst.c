/* SPDX-License-Identifier: MIT */
/*
 * myperf1_inst: an object with any number of instances, written with nothing but the structures of
 * winperf.h. After the object's definitions, each instance has its definition, its name and its
 * values. No instance is padded; only the length of the whole object is rounded up to a multiple of
 * 8.
 */
#include "../common/sample.h"
#include "data.h"
#include "offsets.h"

#include <stddef.h>
#include <string.h>

struct definitions {
    PERF_OBJECT_TYPE object;
    PERF_COUNTER_DEFINITION luck;
};
static struct definitions definitions;

struct values {
    PERF_COUNTER_BLOCK block;
    DWORD luck;
};

static void describe(DWORD name, DWORD help)
{
    memset(&definitions, 0, sizeof definitions);
    definitions.object.DefinitionLength = sizeof definitions;
    definitions.object.HeaderLength = sizeof definitions.object;
    definitions.object.ObjectNameTitleIndex = name + MYPERF1_INST_OBJECT;
    definitions.object.ObjectHelpTitleIndex = help + MYPERF1_INST_OBJECT;
    definitions.object.DetailLevel = PERF_DETAIL_NOVICE;
    definitions.object.NumCounters = 1;

    definitions.luck.ByteLength = sizeof definitions.luck;
    definitions.luck.CounterNameTitleIndex = name + MYPERF1_INST_LUCK;
    definitions.luck.CounterHelpTitleIndex = help + MYPERF1_INST_LUCK;
    definitions.luck.DetailLevel = PERF_DETAIL_NOVICE;
    definitions.luck.CounterType = PERF_COUNTER_RAWCOUNT_HEX;
    definitions.luck.CounterSize = sizeof(DWORD);
    definitions.luck.CounterOffset = offsetof(struct values, luck);
}

/* The output buffer. put() writes only what fits, but always increases `size`, so that one check at
 * the end is sufficient. */
struct capacity {
    BYTE *data;
    DWORD bytes, size;
};

static void put(struct capacity *capacity, const void *what, DWORD bytes)
{
    if (capacity->size <= capacity->bytes && bytes <= capacity->bytes - capacity->size)
        memcpy(capacity->data + capacity->size, what, bytes);
    capacity->size += bytes;
}

/* Writes an instance. The terminator is part of its name, because viewers rely on it. */
static void putInstance(struct capacity *capacity, const char *name, DWORD luck)
{
    PERF_INSTANCE_DEFINITION instance;
    struct values values;
    size_t i, length = strlen(name) + 1;
    instance.NameOffset = sizeof instance;
    instance.NameLength = (DWORD)(length * sizeof(WCHAR));
    instance.ByteLength = instance.NameOffset + instance.NameLength;
    instance.ParentObjectTitleIndex = 0;
    instance.ParentObjectInstance = 0;
    instance.UniqueID = PERF_NO_UNIQUE_ID;
    put(capacity, &instance, sizeof instance);
    for (i = 0; i < length; i++) {
        WCHAR c = (WCHAR)(unsigned char)name[i];
        put(capacity, &c, sizeof c);
    }
    values.block.ByteLength = sizeof values;
    values.luck = luck;
    put(capacity, &values, sizeof values);
}

const WCHAR samplePerformanceKey[] = PERFORMANCE_KEY("MyPerf1Inst");

DWORD CALLBACK Open(LPWSTR devices)
{
    DWORD name, help, result = sampleNumbers(samplePerformanceKey, &name, &help);
    (void)devices;
    sampleSeed();
    if (result == ERROR_SUCCESS)
        describe(name, help);
    return result;
}

DWORD WINAPI Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    static const BYTE zeros[8] = {0};
    struct capacity capacity = {(BYTE *)*data, *bytes, 0};
    struct definitions head = definitions;
    Request request = sampleRequest(query, head.object.ObjectNameTitleIndex);
    DWORD i, count;
    *bytes = *types = 0;
    if (request == NOT_REQUESTED || request == REQUEST_COSTLY)
        return ERROR_SUCCESS;
    count = dataCount();
    put(&capacity, &head, sizeof head);
    for (i = 0; i < count; i++)
        putInstance(&capacity, dataName(i), dataValue(i));
    /* some programs read a counter block after the definitions, even without instances */
    if (count == 0)
        put(&capacity, zeros, sizeof zeros);
    put(&capacity, zeros, (8 - capacity.size % 8) % 8);
    if (capacity.size > capacity.bytes)
        return ERROR_MORE_DATA;
    head.object.NumInstances = (LONG)count; /* the number is known only now */
    head.object.TotalByteLength = capacity.size;
    memcpy(*data, &head, sizeof head);
    *data = capacity.data + capacity.size;
    *bytes = capacity.size;
    *types = 1;
    return ERROR_SUCCESS;
}

DWORD WINAPI Close(void)
{
    return ERROR_SUCCESS;
}
