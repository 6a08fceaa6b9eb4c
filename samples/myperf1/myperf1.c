/* SPDX-License-Identifier: MIT */
/*
 * myperf1: a single object with a text and a number. The answer is made of the structures of
 * winperf.h only, without functions that build blocks: it is one structure, filled in Open; Collect
 * copies it and sets a random number.
 */
#include "../common/sample.h"
#include "offsets.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const WCHAR greeting[] = TEXT("Hello, World!");

/* The values of the answer. Their offsets count from the counter block, which is before the
 * values. */
struct values {
    PERF_COUNTER_BLOCK block;
    WCHAR text[sizeof greeting / sizeof *greeting];
    DWORD digit;
};

/* The format of the answer. The object is aligned to 8 bytes, so that the structure ends with 4
 * bytes of padding: an object's length must be a multiple of 8. */
struct answer {
    PERF_OBJECT_TYPE object;
    PERF_COUNTER_DEFINITION text, digit;
    struct values values;
};
static struct answer answer;

static void describeCounter(PERF_COUNTER_DEFINITION *counter, DWORD type, size_t offset,
                            size_t size)
{
    counter->ByteLength = sizeof *counter;
    counter->CounterType = type;
    counter->CounterOffset = (DWORD)offset;
    counter->CounterSize = (DWORD)size;
    counter->DetailLevel = PERF_DETAIL_NOVICE;
}

static void describe(DWORD name, DWORD help)
{
    memset(&answer, 0, sizeof answer);
    answer.object.TotalByteLength = sizeof answer;
    answer.object.DefinitionLength = offsetof(struct answer, values);
    answer.object.HeaderLength = sizeof answer.object;
    answer.object.ObjectNameTitleIndex = name + MYPERF1_OBJECT;
    answer.object.ObjectHelpTitleIndex = help + MYPERF1_OBJECT;
    answer.object.DetailLevel = PERF_DETAIL_NOVICE;
    answer.object.NumCounters = 2;
    answer.object.NumInstances = PERF_NO_INSTANCES;

    describeCounter(&answer.text, PERF_COUNTER_TEXT, offsetof(struct values, text),
                    sizeof greeting);
    answer.text.CounterNameTitleIndex = name + MYPERF1_GREETING;
    answer.text.CounterHelpTitleIndex = help + MYPERF1_GREETING;
    describeCounter(&answer.digit, PERF_COUNTER_RAWCOUNT_HEX, offsetof(struct values, digit),
                    sizeof(DWORD));
    answer.digit.CounterNameTitleIndex = name + MYPERF1_DIGIT;
    answer.digit.CounterHelpTitleIndex = help + MYPERF1_DIGIT;

    answer.values.block.ByteLength = sizeof(struct values);
    memcpy(answer.values.text, greeting, sizeof greeting);
}

const WCHAR samplePerformanceKey[] = PERFORMANCE_KEY("MyPerf1");

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
    struct answer now = answer; /* a copy, because several threads may call Collect at once */
    DWORD capacity = *bytes;
    Request request = sampleRequest(query, now.object.ObjectNameTitleIndex);
    *bytes = *types = 0;
    if (request == NOT_REQUESTED || request == REQUEST_COSTLY)
        return ERROR_SUCCESS;
    if (capacity < sizeof now)
        return ERROR_MORE_DATA;
    now.values.digit = (DWORD)(rand() % 10);
    memcpy(*data, &now, sizeof now);
    *data = (BYTE *)*data + sizeof now;
    *bytes = sizeof now;
    *types = 1;
    return ERROR_SUCCESS;
}

DWORD WINAPI Close(void)
{
    return ERROR_SUCCESS;
}
