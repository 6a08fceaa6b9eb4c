/* SPDX-License-Identifier: MIT */
/*
 * Replaces PDH's functions for a test: one object, "Herd", whose instances and values are
 * variables, on machines that can be unreachable. The functions can hang, and count their calls.
 */
#ifndef OPL_TEST_MODEL_DOUBLE_H
#define OPL_TEST_MODEL_DOUBLE_H

#include "../../tools/common/last-event.h"

#include <openperflib/capture.h>
#include <openperflib/unstable.h>
#include <pdh.h>
#include <pdhmsg.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLE_MOST = 32 };
enum double_call { OPEN = 1, ADD = 2, COLLECT = 4, ARRAY = 8, RANGE = 16 };

/* The state of the replaced PDH, which the mutex protects. */
static pthread_mutex_t double_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t double_wake = PTHREAD_COND_INITIALIZER;
static struct {
    unsigned hang;       /* bits of enum double_call: which calls hang */
    const char *hanging; /* the machine whose calls hang; NULL: all machines */
    bool away;           /* the machine "remote" is unreachable */
    bool has_object, has_second;
    const char *instances[DOUBLE_MOST]; /* the instances of the counter "First" */
    /* the counter "Second" has only these instances */
    unsigned instance_count, second_first, second_count;
    unsigned capture_samples, range_samples;
    unsigned capture_first; /* number of samples that the capture does not have any more */
    /* what a capture does not show, which PDH reports after its last sample; NULL: nothing */
    const char *unshown;
    PDH_STATUS open_status;
    DWORD type; /* type of all counters; this PDH can only compute PERF_COUNTER_RAWCOUNT */
    /* counts of what happened */
    unsigned queries, counters, collects, hung;
} pdh_double;

struct double_query {
    bool capture;
    unsigned samples;
    struct double_counter *first;
};
struct double_counter {
    struct double_counter *next;
    struct double_query *query;
    char path[512];
    bool remote;
};

static inline void double_reset(void)
{
    pthread_mutex_lock(&double_mutex);
    memset(&pdh_double, 0, sizeof pdh_double);
    pdh_double.has_object = pdh_double.has_second = true;
    pdh_double.type = PERF_COUNTER_RAWCOUNT;
    pdh_double.instances[0] = "one";
    pdh_double.instances[1] = "two";
    pdh_double.instances[2] = "three";
    pdh_double.instance_count = pdh_double.second_count = 3;
    pthread_mutex_unlock(&double_mutex);
}

static inline void double_hang(unsigned calls, const char *machine)
{
    pthread_mutex_lock(&double_mutex);
    pdh_double.hang = calls;
    pdh_double.hanging = machine;
    pthread_cond_broadcast(&double_wake);
    pthread_mutex_unlock(&double_mutex);
}

/* Locks the mutex and returns `*number`. */
static inline unsigned double_count(const unsigned *number)
{
    pthread_mutex_lock(&double_mutex);
    unsigned now = *number;
    pthread_mutex_unlock(&double_mutex);
    return now;
}

/* Locks the mutex. If calls of this kind hang, first waits until they do not hang any more. `where`
 * is a path that contains the machine's name. */
static inline void double_enter(enum double_call call, const char *where)
{
    pthread_mutex_lock(&double_mutex);
    if (!(pdh_double.hang & call) ||
        (pdh_double.hanging && (!where || !strstr(where, pdh_double.hanging))))
        return;
    pdh_double.hung++;
    while (pdh_double.hang & call)
        pthread_cond_wait(&double_wake, &double_mutex);
    pdh_double.hung--;
}

static inline PDH_STATUS double_leave(DWORD status)
{
    pthread_mutex_unlock(&double_mutex);
    return (PDH_STATUS)status;
}

PDH_STATUS PdhOpenQueryA(const char *source, DWORD_PTR user, PDH_HQUERY *ret)
{
    double_enter(OPEN, source);
    struct double_query *query = calloc(1, sizeof *query);
    query->capture = source != NULL;
    query->samples = source ? pdh_double.capture_first : 0;
    if (pdh_double.open_status) {
        free(query);
        return double_leave((DWORD)pdh_double.open_status);
    }
    pdh_double.queries++;
    *ret = query;
    return double_leave(0);
}

int32_t opl_counter_texts(void *counter, opl_text_found found, void *context)
{
    (void)counter, (void)found, (void)context;
    return (int32_t)PDH_CSTATUS_NO_COUNTER;
}

PDH_STATUS PdhSetQueryTimeRange(PDH_HQUERY query, PPDH_TIME_INFO range)
{
    (void)query, (void)range;
    return 0;
}

PDH_STATUS PdhGetFormattedCounterValue(PDH_HCOUNTER counter, DWORD format, LPDWORD type,
                                       PPDH_FMT_COUNTERVALUE value)
{
    (void)counter, (void)format, (void)type, (void)value;
    return (PDH_STATUS)PDH_INVALID_DATA;
}

PDH_STATUS PdhRemoveCounter(PDH_HCOUNTER handle)
{
    double_enter(0, NULL);
    struct double_counter *counter = handle, **link = &counter->query->first;
    while (*link != counter)
        link = &(*link)->next;
    *link = counter->next;
    free(counter);
    pdh_double.counters--;
    return double_leave(0);
}

PDH_STATUS PdhCloseQuery(PDH_HQUERY handle)
{
    struct double_query *query = handle;
    while (query->first)
        PdhRemoveCounter(query->first);
    double_enter(0, NULL);
    pdh_double.queries--;
    free(query);
    return double_leave(0);
}

static inline bool double_is_second(const struct double_counter *counter)
{
    return strstr(counter->path, "\\Second") != NULL;
}

static inline bool double_is_away(const struct double_counter *counter)
{
    return counter->remote && pdh_double.away;
}

PDH_STATUS PdhAddEnglishCounterA(PDH_HQUERY handle, const char *path, DWORD_PTR user,
                                 PDH_HCOUNTER *ret)
{
    double_enter(ADD, path);
    struct double_query *query = handle;
    struct double_counter *counter = calloc(1, sizeof *counter);
    strncpy(counter->path, path, sizeof counter->path - 1);
    counter->query = query;
    counter->remote = strstr(path, "\\\\remote") != NULL;
    DWORD status = double_is_away(counter)                               ? PDH_CSTATUS_NO_MACHINE
                   : !pdh_double.has_object || !strstr(path, "\\Herd")   ? PDH_CSTATUS_NO_OBJECT
                   : double_is_second(counter) && !pdh_double.has_second ? PDH_CSTATUS_NO_COUNTER
                                                                         : 0;
    *ret = NULL;
    if (status && status != PDH_CSTATUS_NO_MACHINE) {
        free(counter);
        return double_leave(status);
    }
    counter->next = query->first;
    query->first = counter;
    pdh_double.counters++;
    *ret = counter;
    return double_leave(status);
}

/* Finds no counter, because this PDH has no names in the user's language. */
PDH_STATUS PdhAddCounterA(PDH_HQUERY handle, const char *path, DWORD_PTR user, PDH_HCOUNTER *ret)
{
    *ret = NULL;
    return (PDH_STATUS)(pdh_double.has_object ? PDH_CSTATUS_NO_COUNTER : PDH_CSTATUS_NO_OBJECT);
}

PDH_STATUS PdhCollectQueryDataWithTime(PDH_HQUERY handle, LONGLONG *time)
{
    struct double_query *query = handle;
    double_enter(COLLECT, query->first ? query->first->path : NULL);
    bool any = false;
    for (const struct double_counter *c = query->first; c; c = c->next)
        any |= !double_is_away(c);
    pdh_double.collects++;
    if (query->capture && any &&
        query->samples >= pdh_double.capture_first + pdh_double.capture_samples)
        return double_leave(PDH_NO_MORE_DATA);
    if (!any)
        return double_leave(PDH_NO_DATA);
    query->samples++;
    *time = 133000000000000000 + (LONGLONG)query->samples * 10000000;
    return double_leave(0);
}

static inline PDH_STATUS double_array(PDH_HCOUNTER handle, DWORD *size, DWORD *count, void *items,
                                      DWORD each)
{
    const struct double_counter *counter = handle;
    double_enter(ARRAY, counter->path);
    bool second = double_is_second(counter);
    unsigned first = second ? pdh_double.second_first : 0;
    unsigned number = double_is_away(counter) ? 0
                      : second                ? pdh_double.second_count
                                              : pdh_double.instance_count;
    DWORD names = number * each, needed = names;
    for (unsigned i = 0; i < number; i++)
        needed += (DWORD)strlen(pdh_double.instances[first + i]) + 1;
    bool fits = items && *size >= needed;
    *size = needed;
    *count = number;
    if (!fits)
        return double_leave(number ? PDH_MORE_DATA : 0);
    char *name = (char *)items + names;
    for (unsigned i = 0; i < number; i++) {
        PDH_FMT_COUNTERVALUE_ITEM_A *formatted = items;
        PDH_RAW_COUNTER_ITEM_A *raw = items;
        strcpy(name, pdh_double.instances[first + i]);
        if (each == sizeof *raw)
            raw[i] = (PDH_RAW_COUNTER_ITEM_A){.szName = name, .RawValue = {.FirstValue = 7000 + i}};
        else
            formatted[i] = (PDH_FMT_COUNTERVALUE_ITEM_A){
                .szName = name,
                .FmtValue = {.CStatus = 0,
                             .doubleValue =
                                 counter->query->samples * 100.0 + first + i + (second ? 0.5 : 0)}
            };
        name += strlen(name) + 1;
    }
    return double_leave(0);
}

PDH_STATUS PdhGetFormattedCounterArrayA(PDH_HCOUNTER counter, DWORD format, DWORD *size,
                                        DWORD *count, PDH_FMT_COUNTERVALUE_ITEM_A *items)
{
    return double_array(counter, size, count, items, sizeof *items);
}

PDH_STATUS PdhGetRawCounterArrayA(PDH_HCOUNTER counter, DWORD *size, DWORD *count,
                                  PDH_RAW_COUNTER_ITEM_A *items)
{
    return double_array(counter, size, count, items, sizeof *items);
}

PDH_STATUS PdhGetRawCounterValue(PDH_HCOUNTER counter, DWORD *type, PDH_RAW_COUNTER *ret)
{
    *ret = (PDH_RAW_COUNTER){.CStatus = double_is_away(counter) ? PDH_CSTATUS_NO_MACHINE
                                                                : PDH_CSTATUS_VALID_DATA};
    return 0;
}

/* Reports the texts of two processes; the second process has one text fewer than the first. */
int32_t opl_text_values(const char *path, opl_text_found found, void *context)
{
    if (!strstr(path, "\\Process Details(*)\\*"))
        return (int32_t)PDH_CSTATUS_NO_OBJECT;
    if (found(context, "one:1", "State", "idle") && found(context, "two:2", "State", "running"))
        found(context, "one:1", "User", "root");
    return 0;
}

PDH_STATUS PdhGetCounterInfoA(PDH_HCOUNTER handle, BOOLEAN explain, DWORD *size,
                              PDH_COUNTER_INFO_A *info)
{
    static char text[] = "What it counts.";
    const struct double_counter *counter = handle;
    double_enter(0, NULL);
    if (*size < sizeof *info) {
        *size = sizeof *info;
        return double_leave(PDH_MORE_DATA);
    }
    memset(info, 0, sizeof *info);
    if (!double_is_away(counter)) {
        info->dwType = pdh_double.type;
        info->lDefaultScale = -2;
        info->szExplainText = text;
    }
    return double_leave(0);
}

PDH_STATUS PdhFormatFromRawValue(DWORD type, DWORD format, LONGLONG *time_base,
                                 PDH_RAW_COUNTER *newest, PDH_RAW_COUNTER *before,
                                 PDH_FMT_COUNTERVALUE *ret)
{
    return type == PERF_COUNTER_RAWCOUNT ? 0 : (PDH_STATUS)PDH_INVALID_ARGUMENT;
}

PDH_STATUS PdhGetCounterTimeBase(PDH_HCOUNTER counter, LONGLONG *time_base)
{
    return 0;
}

PDH_STATUS PdhLookupPerfIndexByNameA(LPCSTR machine, LPCSTR name, DWORD *index)
{
    return (PDH_STATUS)PDH_INVALID_ARGUMENT;
}

/* replaces the function of the tools that reads the registry and the events */
bool last_event_of_object(const char *object, char *ret, size_t capacity)
{
    if (strcmp(object, "Nothing") != 0)
        return false;
    snprintf(ret, capacity, "belongs to Faulty (%u)", double_count(&pdh_double.collects));
    return true;
}

const char *opl_capture_problem(void)
{
    return NULL;
}

const char *opl_capture_unshown(void)
{
    return pdh_double.unshown;
}

/* no test of the double keeps a BLG */
PDH_STATUS PdhOpenLogA(const char *file, DWORD access, DWORD *type, PDH_HQUERY query, DWORD size,
                       const char *caption, PDH_HLOG *ret)
{
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS PdhCloseLog(PDH_HLOG log, DWORD flags)
{
    return (PDH_STATUS)PDH_INVALID_HANDLE;
}

uint32_t opl_log_newest(void *log, int64_t time)
{
    return PDH_INVALID_HANDLE;
}

PDH_STATUS PdhGetDataSourceTimeRangeA(const char *source, DWORD *entries, PDH_TIME_INFO *info,
                                      DWORD *size)
{
    double_enter(RANGE, source);
    info->SampleCount = pdh_double.range_samples;
    return double_leave(0);
}

#endif
