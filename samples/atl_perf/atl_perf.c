/* SPDX-License-Identifier: MIT */
/*
 * atl_perf: a provider that is nothing but a table. What it counts is how it is asked itself: by
 * this program, as each has the library in a process of its own.
 */
#include "perfmap.h"

EXPORT HRESULT APIENTRY DllRegisterServer(void);
EXPORT HRESULT APIENTRY DllUnregisterServer(void);
EXPORT BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved);

typedef struct {
    ULONGLONG bytes;
    DWORD questions, answers, room;
} Values;
static Values values;

/* clang-format off */
static const PerfRow rows[] = {
    PERF_OBJECT("Perf Map", "What a provider sees of those who ask it."),
    PERF_COUNTER(Values, questions, PERF_COUNTER_RAWCOUNT, 0, "Questions", "How often it was asked for anything."),
    PERF_COUNTER(Values, questions, PERF_COUNTER_COUNTER, 0, "Questions/sec", "How often it was asked for anything in a second."),
    PERF_COUNTER(Values, answers, PERF_COUNTER_RAWCOUNT, 0, "Answers", "How often it was asked for this object."),
    PERF_COUNTER(Values, bytes, PERF_COUNTER_LARGE_RAWCOUNT, -2, "Bytes Answered", "How many bytes it answered with."),
    PERF_COUNTER(Values, room, PERF_COUNTER_RAWCOUNT, -3, "Bytes Offered", "How much room it was offered the last time."),
};
/* clang-format on */

static const PerfMap map = {
    TEXT("AtlPerf"), PERFORMANCE_KEY("AtlPerf"), rows, sizeof rows / sizeof *rows, &values,
    sizeof values,   TEXT("atl_perf_texts")};

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
    values.questions++;
    values.room = *bytes;
    result = perfMapCollect(&map, query, data, bytes, types);
    values.answers += *types;
    values.bytes += *bytes;
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
