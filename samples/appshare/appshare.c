/* SPDX-License-Identifier: MIT */
/*
 * appshare: the counters of another program, from named memory that both share.
 *
 * Collect follows the documented steps: check that Open succeeded, parse the query, check that it
 * requests our object and that the buffer is large enough, take the guard (a mutex), copy the
 * numbers, release the guard, advance the pointers. Collect connects to the memory at each query,
 * because the application may start and end at any time: while the application does not run, the
 * counter Status is 0 and the other counters keep their last values.
 */
#include "../common/sample.h"
#include "offsets.h"
#include "shared.h"

#include <stddef.h>
#include <string.h>

enum { COUNTERS = 4, TIMEOUT_MS = 200 };

struct definitions {
    PERF_OBJECT_TYPE object;
    PERF_COUNTER_DEFINITION counters[COUNTERS];
};
struct values {
    PERF_COUNTER_BLOCK block;
    DWORD status, done, doneAgain, waiting;
    DWORD unused;
};

static struct definitions definitions;
static HANDLE memory, guard;
static const struct appshare *shared;
static struct appshare last;

/* ---- the application ---- */

static void disconnect(void)
{
    if (shared)
        UnmapViewOfFile(shared);
    if (memory)
        CloseHandle(memory);
    if (guard)
        CloseHandle(guard);
    shared = NULL;
    memory = guard = NULL;
}

static BOOL connectTo(void)
{
    memory = OpenFileMappingA(FILE_MAP_READ, FALSE, APPSHARE_MEMORY);
    guard = memory ? OpenMutexA(MUTEX_ALL_ACCESS, FALSE, APPSHARE_GUARD) : NULL;
    if (guard)
        shared = (const struct appshare *)MapViewOfFile(memory, FILE_MAP_READ, 0, 0, 0);
    return shared != NULL;
}

/* Copies the application's numbers. FALSE: the application does not run. The handles are closed
 * before the return, because an open handle would keep the name in existence after the application
 * has ended. */
static BOOL look(void)
{
    DWORD wait = connectTo() ? WaitForSingleObject(guard, TIMEOUT_MS) : WAIT_TIMEOUT;
    BOOL good = FALSE;
    if (wait == WAIT_OBJECT_0 || wait == WAIT_ABANDONED) {
        struct appshare now = *shared;
        ReleaseMutex(guard);
        /* if the application was killed while writing, the numbers may be inconsistent */
        good = now.version == 1 && now.sum == now.done + now.waiting;
        if (good)
            last = now;
    }
    disconnect();
    return good;
}

/* ---- the three functions ---- */

static void describe(DWORD name, DWORD help)
{
    static const DWORD offsets[COUNTERS] = {
        offsetof(struct values, status), offsetof(struct values, done),
        offsetof(struct values, doneAgain), offsetof(struct values, waiting)};
    DWORD i;
    memset(&definitions, 0, sizeof definitions);
    definitions.object.TotalByteLength = sizeof definitions + sizeof(struct values);
    definitions.object.DefinitionLength = sizeof definitions;
    definitions.object.HeaderLength = sizeof definitions.object;
    definitions.object.ObjectNameTitleIndex = name + APPSHARE_OBJECT;
    definitions.object.ObjectHelpTitleIndex = help + APPSHARE_OBJECT;
    definitions.object.DetailLevel = PERF_DETAIL_NOVICE;
    definitions.object.NumCounters = COUNTERS;
    definitions.object.NumInstances = PERF_NO_INSTANCES;
    for (i = 0; i < COUNTERS; i++) {
        PERF_COUNTER_DEFINITION *counter = &definitions.counters[i];
        counter->ByteLength = sizeof *counter;
        counter->CounterNameTitleIndex = name + APPSHARE_STATUS + 2 * i;
        counter->CounterHelpTitleIndex = help + APPSHARE_STATUS + 2 * i;
        counter->DetailLevel = PERF_DETAIL_NOVICE;
        counter->CounterType = i == 2 ? PERF_COUNTER_COUNTER : PERF_COUNTER_RAWCOUNT;
        counter->CounterSize = sizeof(DWORD);
        counter->CounterOffset = offsets[i];
    }
}

DWORD CALLBACK Open(LPWSTR devices)
{
    DWORD name, help, result = sampleNumbers(PERFORMANCE_KEY("AppShare"), &name, &help);
    (void)devices;
    if (result == ERROR_SUCCESS)
        describe(name, help);
    return result;
}

DWORD WINAPI Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    struct values values;
    DWORD capacity = *bytes;
    Request request = sampleRequest(query, definitions.object.ObjectNameTitleIndex);
    *bytes = *types = 0;
    if (request == NOT_REQUESTED || request == REQUEST_COSTLY)
        return ERROR_SUCCESS;
    if (capacity < definitions.object.TotalByteLength)
        return ERROR_MORE_DATA;
    memset(&values, 0, sizeof values);
    values.block.ByteLength = sizeof values;
    values.status = look() ? 1 : 0;
    values.done = values.doneAgain = last.done;
    values.waiting = last.waiting;
    memcpy(*data, &definitions, sizeof definitions);
    memcpy((BYTE *)*data + sizeof definitions, &values, sizeof values);
    *data = (BYTE *)*data + definitions.object.TotalByteLength;
    *bytes = definitions.object.TotalByteLength;
    *types = 1;
    return ERROR_SUCCESS;
}

DWORD WINAPI Close(void)
{
    return ERROR_SUCCESS;
}
