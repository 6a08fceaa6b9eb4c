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

/* ---- the header ---- */

/*
 * The header of an answer, PERF_DATA_BLOCK: signature, the same moment on three clocks, the
 * machine's name. HeaderLength includes the name, rounded up to 8; padding is zero.
 * (docs/windows/articles.md#c4, docs/windows/blocks.md#a1)
 */

enum { PROCESSOR_OBJECT = 238, ALIGNMENT = 8, NAME_UNITS = 16 };

struct header {
    uint16_t name[NAME_UNITS * 2]; /* the machine's name, ended by a NUL */
    size_t name_bytes;             /* bytes of the name with its NUL */
    size_t size; /* bytes of the header and the name, rounded up to 8: the offset of the first
                  * object */
};

/* Writes the header with the clocks' present values; `data` must have space for is->size bytes. */
static void header_write(const struct header *is, void *data, size_t total, uint32_t objects)
{
    static const WCHAR signature[4] = {'P', 'E', 'R', 'F'};
    const uint16_t order = 1;
    PERF_DATA_BLOCK header = {
        .LittleEndian = *(const unsigned char *)&order,
        .Version = PERF_DATA_VERSION,
        .Revision = PERF_DATA_REVISION,
        .TotalByteLength = (DWORD)total,
        .HeaderLength = (DWORD)is->size,
        .NumObjectTypes = objects,
        .DefaultObject = PROCESSOR_OBJECT,
        .SystemNameLength = (DWORD)is->name_bytes,
        .SystemNameOffset = sizeof(PERF_DATA_BLOCK),
    };
    memcpy(header.Signature, signature, sizeof(signature));
    int64_t ticks, filetime;
    clock_both(&ticks, &filetime);
    header.PerfTime.QuadPart = ticks;
    header.PerfFreq.QuadPart = CLOCK_TICKS_PER_SECOND;
    header.PerfTime100nSec.QuadPart = filetime;
    clock_systemtime(filetime, &header.SystemTime);
    memset(data, 0, is->size);
    memcpy(data, &header, sizeof(header));
    memcpy((char *)data + sizeof(header), is->name, is->name_bytes);
}

/* ---- the query ---- */

/* The parsed query is too big for a thread's stack. Used structures are kept in a free list, so
 * that a program that repeats its query does not allocate memory each time. */
struct question {
    struct query query;
    struct question *next;
};
static struct question *free_list;
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

static LSTATUS collect_block(const struct query *query, unsigned char *data, DWORD *size)
{
    char machine[16 * 4];
    struct header header = {.name = {0}};
    size_t used = 0;
    uint32_t objects = 0;
    bool whole = false;
    machine_name(machine);
    size_t units = utf8_to_16(machine, strlen(machine), header.name, COUNT(header.name) - 1);
    header.name_bytes = (units + 1) * sizeof(WCHAR);
    header.size =
        (sizeof(PERF_DATA_BLOCK) + header.name_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!data || *size < header.size)
        return ERROR_MORE_DATA;
    unsigned char *at = data + header.size;
    size_t capacity = *size - header.size;
    LSTATUS status = host_collect(query, at, capacity, &used, &objects, &whole);
    if (status)
        return status;
    if (whole) {
        memmove(data, at, used);
        *size = (DWORD)used;
        return ERROR_SUCCESS;
    }
    status = pad_last(at, &used, objects, capacity);
    if (status)
        return status;
    *size = (DWORD)(header.size + used);
    header_write(&header, data, *size, objects);
    return ERROR_SUCCESS;
}

LSTATUS collect_query(const char *text, void *data, DWORD *size)
{
    if (!size)
        return ERROR_INVALID_PARAMETER;
    UNCANCELLED;
    lock_take(&free_list_lock);
    struct question *question = free_list;
    if (question)
        free_list = question->next;
    lock_release(&free_list_lock);
    if (!question)
        question = malloc(sizeof(*question));
    if (!question)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = query_parse(text, &question->query);
    if (!status) {
        trace("query", "\"%s\" asks for %s, %zu indices; buffer of %u bytes", question->query.text,
              kind_texts[question->query.kind], question->query.object_count,
              data ? (unsigned)*size : 0);
        status = collect_block(&question->query, data, size);
        trace("collect", "%s, %u bytes", status_text(status), status ? 0 : (unsigned)*size);
    }
    lock_take(&free_list_lock);
    question->next = free_list;
    free_list = question;
    lock_release(&free_list_lock);
    return status;
}

void collect_close(void)
{
    UNCANCELLED;
    host_close();
}
