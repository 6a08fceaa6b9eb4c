/* SPDX-License-Identifier: MIT */
/*
 * Statements of docs/windows/pdh.md that can be checked by calls of PDH. Compiled with mingw-w64 it
 * queries Windows, compiled with our headers it queries this project: both have to agree. Prints a
 * line of JSON for each statement, as check.ps1 does. The exit code is 1 if one does not hold.
 */
#include <windows.h>

#include <pdh.h>
#include <pdhmsg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static bool failed;

/* Prints whether the statement in `section` holds; `got` is what PDH returned. */
static void fact(const char *section, const char *text, bool holds, unsigned long got)
{
    printf("{\"check\":\"fact\",\"file\":\"pdh.md "
           "%s\",\"ok\":%s,\"fact\":\"%s\",\"got\":\"0x%08lX\"}\n",
           section, holds ? "true" : "false", text, got);
    failed |= !holds;
}

static void expect(const char *section, const char *text, PDH_STATUS got, DWORD expected)
{
    fact(section, text, (DWORD)got == expected, (unsigned long)(DWORD)got);
}

static void queries(void)
{
    HQUERY query = NULL;
    HCOUNTER counter = NULL;
    expect("F.2", "no place for the query", PdhOpenQueryA(NULL, 0, NULL), PDH_INVALID_ARGUMENT);
    expect("F.2", "a query opens", PdhOpenQueryA(NULL, 0, &query), ERROR_SUCCESS);
    expect("F.2", "no counters", PdhCollectQueryData(query), PDH_NO_DATA);
    expect("F.2", "no such object", PdhAddEnglishCounterA(query, "\\No Such\\Thing", 0, &counter),
           PDH_CSTATUS_NO_OBJECT);
    expect("F.2", "no such counter", PdhAddEnglishCounterA(query, "\\System\\No Such", 0, &counter),
           PDH_CSTATUS_NO_COUNTER);
    fact("F.2", "then the handle is NULL", !counter, counter != NULL);
    expect("F.2", "no path", PdhAddEnglishCounterA(query, "System", 0, &counter),
           PDH_CSTATUS_BAD_COUNTERNAME);
    expect("F.2", "an empty path", PdhAddEnglishCounterA(query, "", 0, &counter),
           PDH_CSTATUS_NO_COUNTERNAME);
    expect("F.2", "an absent instance may be added",
           PdhAddEnglishCounterA(query, "\\Processor(none)\\% Processor Time", 0, &counter),
           ERROR_SUCCESS);
    expect("F.2", "the only instance is absent", PdhCollectQueryData(query), PDH_NO_DATA);
    expect("F.2", "a scale of 8", PdhSetCounterScaleFactor(counter, 8), PDH_INVALID_ARGUMENT);
    expect("F.2", "a query closes", PdhCloseQuery(query), ERROR_SUCCESS);
    expect("F.2", "but not twice", PdhCloseQuery(query), PDH_INVALID_HANDLE);
    expect("F.1", "arguments are checked before handles", PdhGetRawCounterValue(query, NULL, NULL),
           PDH_INVALID_ARGUMENT);
}

static void formats(void)
{
    LONGLONG second = 10000000;
    PDH_RAW_COUNTER raw = {.FirstValue = -7, .MultiCount = 1};
    PDH_FMT_COUNTERVALUE value = {0};
    const DWORD plain = PERF_COUNTER_LARGE_RAWCOUNT, base = PERF_AVERAGE_BASE;
    expect("F.2", "one sample is enough for a raw count",
           PdhFormatFromRawValue(plain, PDH_FMT_LARGE, &second, &raw, NULL, &value), ERROR_SUCCESS);
    fact("F.2", "and it is the value", value.largeValue == -7, (unsigned long)value.largeValue);
    expect("F.2", "a base has no value",
           PdhFormatFromRawValue(base, PDH_FMT_LARGE, &second, &raw, &raw, &value),
           PDH_INVALID_ARGUMENT);
    expect("F.5", "two formats at once",
           PdhFormatFromRawValue(plain, PDH_FMT_LARGE | PDH_FMT_LONG, &second, &raw, NULL, &value),
           PDH_INVALID_ARGUMENT);
    fact("F.5", "a raw value has 40 bytes, its value is at 16",
         sizeof raw == 40 && offsetof(PDH_RAW_COUNTER, FirstValue) == 16, sizeof raw);
}

int main(void)
{
    queries();
    formats();
    return failed;
}
