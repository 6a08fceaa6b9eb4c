/* SPDX-License-Identifier: MIT */
/*
 * atl_perf: a provider that consists of a map of objects, and a map of counters for each. The
 * provider counts the queries that it answers, by the calling program only, because each program
 * has the library in a separate process; and it shows the numbers that another program, atl_perf
 * scribble, publishes.
 */
#include "perfmap.h"
#include "scribble.h"

#include <string.h>

EXPORT HRESULT APIENTRY DllRegisterServer(void);
EXPORT HRESULT APIENTRY DllUnregisterServer(void);
EXPORT BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved);

typedef struct {
    ULONGLONG bytes;
    DWORD questions, answers, capacity;
} Usage;
static Usage usage;

static BOOL readUsage(void *to)
{
    memcpy(to, &usage, sizeof usage);
    return TRUE;
}

/* Copies the published numbers; FALSE: no program publishes. The handle is closed before the
 * return, because an open handle would keep the memory in existence after the program has ended. */
static BOOL readScribble(void *to)
{
    HANDLE memory = OpenFileMappingA(FILE_MAP_READ, FALSE, SCRIBBLE_MEMORY);
    const Scribble *shared =
        memory ? (const Scribble *)MapViewOfFile(memory, FILE_MAP_READ, 0, 0, 0) : NULL;
    BOOL good = shared && shared->version == 1;
    if (good)
        memcpy(to, shared, sizeof *shared);
    if (shared)
        UnmapViewOfFile(shared);
    if (memory)
        CloseHandle(memory);
    return good;
}

/* clang-format off */
static const PerfCounter usageCounters[] = {
    PERF_COUNTER(Usage, questions, PERF_COUNTER_RAWCOUNT, 0, "Questions", "The number of queries of this provider."),
    PERF_COUNTER(Usage, questions, PERF_COUNTER_COUNTER, 0, "Questions/sec", "The number of queries of this provider per second."),
    PERF_COUNTER(Usage, answers, PERF_COUNTER_RAWCOUNT, 0, "Answers", "The number of objects in all answers."),
    PERF_COUNTER(Usage, bytes, PERF_COUNTER_LARGE_RAWCOUNT, -2, "Bytes Answered", "The number of bytes in all answers."),
    PERF_COUNTER(Usage, capacity, PERF_COUNTER_RAWCOUNT, -3, "Bytes Offered", "The buffer size of the last query, in bytes."),
};
static const PerfCounter scribbleCounters[] = {
    PERF_COUNTER(Scribble, strokes, PERF_COUNTER_RAWCOUNT, 0, "Strokes", "How many strokes were drawn."),
    PERF_COUNTER(Scribble, points, PERF_COUNTER_RAWCOUNT, -1, "Points", "How many points all strokes have."),
    PERF_COUNTER(Scribble, points, PERF_COUNTER_COUNTER, -1, "Points/sec", "How many points are drawn in a second."),
};
static const PerfObject objects[] = {
    PERF_CHAIN("Perf Map", "What a provider sees of the programs that query it.", usageCounters, Usage, readUsage),
    PERF_CHAIN("Perf Scribble", "Lines (strokes) and characters (points) that atl_perf scribble reads.", scribbleCounters, Scribble, readScribble),
};
/* clang-format on */

static const PerfMap map = {TEXT("AtlPerf"), PERFORMANCE_KEY("AtlPerf"), objects,
                            sizeof objects / sizeof *objects, TEXT("atl_perf_texts")};

static HINSTANCE thisLibrary;

BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved)
{
    (void)reserved;
    if (reason == DLL_PROCESS_ATTACH)
        thisLibrary = self;
    return TRUE;
}

DWORD CALLBACK Open(LPWSTR devices)
{
    (void)devices;
    return perfMapOpen(&map);
}

DWORD WINAPI Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    DWORD result;
    usage.questions++;
    usage.capacity = *bytes;
    result = perfMapCollect(&map, query, data, bytes, types);
    usage.answers += *types;
    usage.bytes += *bytes;
    return result;
}

DWORD WINAPI Close(void)
{
    return ERROR_SUCCESS;
}

static HRESULT resultOf(DWORD status)
{
    return status == ERROR_SUCCESS ? S_OK : (HRESULT)(0x80070000 | status);
}

HRESULT APIENTRY DllRegisterServer(void)
{
    return resultOf(perfMapRegister(&map, thisLibrary));
}

HRESULT APIENTRY DllUnregisterServer(void)
{
    return resultOf(perfMapUnregister(&map));
}
