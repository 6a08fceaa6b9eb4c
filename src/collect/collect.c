/* SPDX-License-Identifier: MIT */
/*
 * Answers one query: parses it, collects the objects of all providers, and writes the header before
 * them. (docs/windows/articles.md#c2, docs/windows/queries.md)
 */
#include "collect/collect.h"
#include "base/base.h"
#include "host/host.h"
#include "query/query.h"

#include <winperf.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSOR_OBJECT = 238, ALIGNMENT = 8, NAME_UNITS = 16 };

/* The parsed query is too big for a thread's stack. Used structures are kept in a free list, so
 * that a program that repeats its query does not allocate memory each time. */
struct request {
    struct query query;
    struct request *next;
};
static struct request *free_list;
static pthread_mutex_t free_list_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *const kind_texts[] = {[QUERY_NOTHING] = "nothing known",
                                         [QUERY_GLOBAL] = "Global",
                                         [QUERY_COSTLY] = "Costly",
                                         [QUERY_FOREIGN] = "Foreign",
                                         [QUERY_OBJECTS] = "objects",
                                         [QUERY_NAMES] = "names",
                                         [QUERY_HELPS] = "helps"};

/* Returns how many bytes must be added after the last object if it has no instances: some readers
 * take it for an object that never has instances, and read a counter block after its counter
 * definitions. opl_build_collect writes such a block itself; objects that were built in another way
 * get it here. */
static size_t counter_block_lacking(const unsigned char *at, const PERF_OBJECT_TYPE *object)
{
    PERF_COUNTER_DEFINITION definition;
    uint64_t size = sizeof(PERF_COUNTER_BLOCK), left = object->TotalByteLength, from;
    from = object->HeaderLength;
    for (DWORD i = 0; i < object->NumCounters; i++) {
        if (from + sizeof definition > left)
            return 0;
        memcpy(&definition, at + from, sizeof definition);
        uint64_t end = (uint64_t)definition.CounterOffset + definition.CounterSize;
        size = end > size ? end : size;
        if (definition.ByteLength < sizeof definition)
            return 0;
        from += definition.ByteLength;
    }
    /* a larger block is a mistake of the provider: do not pad */
    enum { LARGEST = 1 << 16 };
    size = (size + 7) / 8 * 8;
    uint64_t there = object->DefinitionLength < left ? left - object->DefinitionLength : 0;
    return size > there && size <= LARGEST ? (size_t)(size - there) : 0;
}

/* Adds as many bytes as counter_block_lacking says after the last of the `count` objects, which
 * fill the `*used` bytes at `last`; adds nothing if the objects' lengths are inconsistent. */
static LSTATUS pad_last(unsigned char *last, size_t *used, uint32_t count, size_t capacity)
{
    PERF_OBJECT_TYPE object = {0};
    size_t left = *used;
    for (uint32_t i = 0; i < count; i++) {
        last += object.TotalByteLength;
        left -= object.TotalByteLength;
        if (left < sizeof object)
            return ERROR_SUCCESS;
        memcpy(&object, last, sizeof object);
        if (object.TotalByteLength < sizeof object || object.TotalByteLength > left)
            return ERROR_SUCCESS;
    }
    if (!count || object.TotalByteLength != left || object.NumInstances != 0)
        return ERROR_SUCCESS;
    size_t lacking = counter_block_lacking(last, &object);
    if (lacking > capacity - *used)
        return ERROR_MORE_DATA;
    if (!lacking)
        return ERROR_SUCCESS;
    memset(last + left, 0, lacking);
    object.TotalByteLength += (DWORD)lacking;
    memcpy(last, &object, sizeof object);
    *used += lacking;
    return ERROR_SUCCESS;
}

/* Writes the objects, and before them the header: signature, the same moment on three clocks, the
 * machine's name. HeaderLength includes the name, rounded up to 8; padding is zero.
 * (docs/windows/articles.md#c4, docs/windows/blocks.md#a1) */
static LSTATUS collect_block(const struct query *query, unsigned char *data, DWORD *size)
{
    static const WCHAR signature[4] = {'P', 'E', 'R', 'F'};
    const uint16_t order = 1;
    char machine[16 * 4];
    uint16_t name[NAME_UNITS * 2] = {0};
    size_t used = 0;
    uint32_t objects = 0;
    bool whole = false;
    machine_name(NULL, machine);
    size_t units = utf8_to_16(machine, strlen(machine), name, COUNT(name) - 1);
    size_t name_bytes = (units + 1) * sizeof(WCHAR);
    size_t first = (sizeof(PERF_DATA_BLOCK) + name_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!data || *size < first)
        return ERROR_MORE_DATA;
    size_t capacity = *size - first;
    LSTATUS status = host_collect(query, data + first, capacity, &used, &objects, &whole);
    if (!status && !whole)
        status = pad_last(data + first, &used, objects, capacity);
    if (status)
        return status;
    *size = (DWORD)(whole ? used : first + used);
    if (whole) {
        memmove(data, data + first, used);
        return ERROR_SUCCESS;
    }
    PERF_DATA_BLOCK header = {
        .LittleEndian = *(const unsigned char *)&order,
        .Version = PERF_DATA_VERSION,
        .Revision = PERF_DATA_REVISION,
        .TotalByteLength = *size,
        .HeaderLength = (DWORD)first,
        .NumObjectTypes = objects,
        .DefaultObject = PROCESSOR_OBJECT,
        .PerfFreq.QuadPart = CLOCK_TICKS_PER_SECOND,
        .SystemNameLength = (DWORD)name_bytes,
        .SystemNameOffset = sizeof header,
    };
    int64_t ticks, filetime;
    clock_both(&ticks, &filetime);
    header.PerfTime.QuadPart = ticks;
    header.PerfTime100nSec.QuadPart = filetime;
    clock_systemtime(filetime, &header.SystemTime);
    memcpy(header.Signature, signature, sizeof signature);
    memset(data, 0, first);
    memcpy(data, &header, sizeof header);
    memcpy(data + sizeof header, name, name_bytes);
    return ERROR_SUCCESS;
}

LSTATUS collect_query(const char *text, void *data, DWORD *size)
{
    if (!size)
        return ERROR_INVALID_PARAMETER;
    UNCANCELLED;
    lock_take(&free_list_lock);
    struct request *request = free_list;
    if (request)
        free_list = request->next;
    lock_release(&free_list_lock);
    if (!request)
        request = malloc(sizeof(*request));
    if (!request)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = query_parse(text, &request->query);
    if (!status) {
        trace("query", "\"%s\" asks for %s, %zu indices; buffer of %u bytes", request->query.text,
              kind_texts[request->query.kind], request->query.object_count,
              data ? (unsigned)*size : 0);
        status = collect_block(&request->query, data, size);
        if (trace_on())
            trace("collect", "%s, %u bytes", status_text(status), status ? 0 : (unsigned)*size);
    }
    lock_take(&free_list_lock);
    request->next = free_list;
    free_list = request;
    lock_release(&free_list_lock);
    return status;
}

void collect_close(void)
{
    UNCANCELLED;
    host_close();
}
