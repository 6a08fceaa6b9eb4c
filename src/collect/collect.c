/* SPDX-License-Identifier: MIT */
/*
 * Answers one query: parses it, collects the objects of all providers, and writes the header before
 * them. (docs/windows/articles.md#c2, docs/windows/queries.md)
 */
#include "collect/collect.h"
#include "host/host.h"
#include "query/query.h"
#include "base/base.h"

#include <winperf.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- the header ---- */

/*
 * PERF_DATA_BLOCK: signature, the same moment on three clocks, the machine's name. HeaderLength
 * includes the name, rounded up to 8; padding is zero. (docs/windows/articles.md#c4,
 * docs/windows/blocks.md#a1)
 */

enum { PROCESSOR_OBJECT = 238, ALIGNMENT = 8, NAME_UNITS = 16 };

static size_t name_bytes(const char *machine)
{
    return (utf8_to_16(machine, strlen(machine), NULL, 0) + 1) * sizeof(WCHAR);
}

/* Bytes of the header and the machine's name (UTF-8), rounded up to 8: the offset of the first
 * object. */
static size_t header_size(const char *machine)
{
    size_t size = sizeof(PERF_DATA_BLOCK) + name_bytes(machine);
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Writes the header with the clocks' present values; `data` has at least header_size bytes. */
static void header_write(void *data, const char *machine, size_t total, uint32_t objects)
{
    static const WCHAR signature[4] = {'P', 'E', 'R', 'F'};
    const uint16_t order = 1;
    PERF_DATA_BLOCK header = {
        .LittleEndian = *(const unsigned char *)&order,
        .Version = PERF_DATA_VERSION,
        .Revision = PERF_DATA_REVISION,
        .TotalByteLength = (DWORD)total,
        .HeaderLength = (DWORD)header_size(machine),
        .NumObjectTypes = objects,
        .DefaultObject = PROCESSOR_OBJECT,
        .SystemNameLength = (DWORD)name_bytes(machine),
        .SystemNameOffset = sizeof(PERF_DATA_BLOCK),
    };
    uint16_t name[NAME_UNITS * 2] = {0};
    memcpy(header.Signature, signature, sizeof(signature));
    int64_t ticks, filetime;
    clock_both(&ticks, &filetime);
    header.PerfTime.QuadPart = ticks;
    header.PerfFreq.QuadPart = CLOCK_TICKS_PER_SECOND;
    header.PerfTime100nSec.QuadPart = filetime;
    clock_systemtime(filetime, &header.SystemTime);
    memset(data, 0, header_size(machine));
    memcpy(data, &header, sizeof(header));
    utf8_to_16(machine, strlen(machine), name, COUNT(name));
    memcpy((char *)data + sizeof(header), name, header.SystemNameLength);
}

/* ---- the query ---- */

/* The parsed query is too big for a thread's stack. Used ones are kept in a free list, so that a
 * program that repeats its query does not allocate memory each time. */
struct question {
    struct query query;
    struct question *next;
};
static struct question *free_list;
static pthread_mutex_t free_list_lock = PTHREAD_MUTEX_INITIALIZER;

static struct question *question_take(void)
{
    lock_take(&free_list_lock);
    struct question *question = free_list;
    if (question)
        free_list = question->next;
    lock_release(&free_list_lock);
    return question ? question : malloc(sizeof(*question));
}

static void question_return(struct question *question)
{
    lock_take(&free_list_lock);
    question->next = free_list;
    free_list = question;
    lock_release(&free_list_lock);
}

static const char *kind_text(enum query_kind kind)
{
    static const char *const texts[] = {[QUERY_NOTHING] = "nothing known",
                                        [QUERY_GLOBAL] = "Global",
                                        [QUERY_COSTLY] = "Costly",
                                        [QUERY_FOREIGN] = "Foreign",
                                        [QUERY_OBJECTS] = "objects",
                                        [QUERY_NAMES] = "names",
                                        [QUERY_HELPS] = "helps"};
    return texts[kind];
}

/* Returns the last of `count` objects, which fill the `used` bytes at `at`, and its type in *ret;
 * NULL: the objects' lengths are inconsistent. */
static unsigned char *last_object(unsigned char *at, size_t used, uint32_t count,
                                  PERF_OBJECT_TYPE *ret)
{
    for (; count; count--) {
        if (used < sizeof *ret)
            return NULL;
        memcpy(ret, at, sizeof *ret);
        if (ret->TotalByteLength < sizeof *ret || ret->TotalByteLength > used)
            return NULL;
        if (count == 1)
            return ret->TotalByteLength == used ? at : NULL;
        at += ret->TotalByteLength;
        used -= ret->TotalByteLength;
    }
    return NULL;
}

/* Returns how many bytes must follow the last object if it has no instances: some readers take it
 * for an object without instance definitions, and read a counter block after its definitions.
 * opl_build_collect writes such a block itself; objects that were built in another way get it
 * here. */
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
    /* a provider that states a larger block is in error: do not pad */
    enum { LARGEST = 1 << 16 };
    size = (size + 7) / 8 * 8;
    uint64_t there = object->DefinitionLength < left ? left - object->DefinitionLength : 0;
    return size > there && size <= LARGEST ? (size_t)(size - there) : 0;
}

static LSTATUS pad_last(unsigned char *objects, size_t *used, uint32_t count, size_t capacity)
{
    PERF_OBJECT_TYPE object;
    unsigned char *last = last_object(objects, *used, count, &object);
    size_t lacking = last && object.NumInstances == 0 ? counter_block_lacking(last, &object) : 0;
    if (lacking > capacity - *used)
        return ERROR_MORE_DATA;
    if (!lacking)
        return ERROR_SUCCESS;
    memset(objects + *used, 0, lacking);
    object.TotalByteLength += (DWORD)lacking;
    memcpy(last, &object, sizeof object);
    *used += lacking;
    return ERROR_SUCCESS;
}

static LSTATUS collect_block(const struct query *query, unsigned char *data, DWORD *size)
{
    char name[16 * 4];
    size_t used = 0;
    uint32_t objects = 0;
    bool whole = false;
    machine_name(name);
    size_t header = header_size(name);
    if (!data || *size < header)
        return ERROR_MORE_DATA;
    LSTATUS status = host_collect(query, data + header, *size - header, &used, &objects, &whole);
    if (status)
        return status;
    if (whole) {
        memmove(data, data + header, used);
        *size = (DWORD)used;
        return ERROR_SUCCESS;
    }
    status = pad_last(data + header, &used, objects, *size - header);
    if (status)
        return status;
    header_write(data, name, header + used, objects);
    *size = (DWORD)(header + used);
    return ERROR_SUCCESS;
}

LSTATUS collect_query(const char *text, void *data, DWORD *size)
{
    if (!size)
        return ERROR_INVALID_PARAMETER;
    UNCANCELLED;
    struct question *question = question_take();
    if (!question)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = query_parse(text, &question->query);
    if (!status) {
        trace("query", "\"%s\" asks for %s, %zu indices; buffer of %u bytes", question->query.text,
              kind_text(question->query.kind), question->query.object_count,
              data ? (unsigned)*size : 0);
        status = collect_block(&question->query, data, size);
        trace("collect", "%s, %u bytes", status_text(status), status ? 0 : (unsigned)*size);
    }
    question_return(question);
    return status;
}

void collect_close(void)
{
    UNCANCELLED;
    host_close();
}
