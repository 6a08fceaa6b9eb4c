/* SPDX-License-Identifier: MIT */
/* The objects of a set of logman, and their instances at one time. PDH's own lists have the
 * instances of all times, for which it reads all captures of the set. */
#include "internal.h"

#include <openperflib/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* seconds: the instances are those of the last sample in this time before */
enum { BEFORE = 15 * 60 };

/* A list like those of PDH: texts, each with its NUL, and one more NUL. */
struct list {
    char *texts;
    size_t size; /* without the last NUL */
};

/* Adds the text; with `once`, unless it is there. False: no memory. */
static bool add(struct list *list, const char *text, bool once)
{
    size_t length = strlen(text) + 1;
    for (const char *at = list->texts; once && at && *at; at += strlen(at) + 1)
        if (!strcmp(at, text))
            return true;
    char *texts = realloc(list->texts, list->size + length + 1);
    if (!texts)
        return false;
    memcpy(texts + list->size, text, length);
    list->texts = texts;
    list->size += length;
    texts[list->size] = 0;
    return true;
}

char *recorded_paths(const char *set)
{
    static const char *const all = "\\\\*\\*(*)\\*";
    DWORD size = 0;
    PDH_STATUS status = PdhExpandWildCardPathA(set, all, NULL, &size, OPL_EXPAND_AS_RECORDED);
    char *list = (DWORD)status == PDH_MORE_DATA ? calloc(1, size + 2) : NULL;
    if (list && !PdhExpandWildCardPathA(set, all, list, &size, OPL_EXPAND_AS_RECORDED))
        return list;
    free(list);
    return NULL;
}

bool model_path_parts(const char *path, struct path_parts *ret)
{
    DWORD size = sizeof *ret;
    return PdhParseCounterPathA(path, &ret->path, &size, 0) == 0;
}

char *recorded_objects(const char *paths)
{
    struct list objects = {0};
    struct path_parts parsed;
    bool good = add(&objects, "", false);
    objects.size = 0;
    for (const char *at = paths; good && at && *at; at += strlen(at) + 1)
        if (model_path_parts(at, &parsed))
            good = add(&objects, parsed.path.szObjectName, true);
    return objects.texts;
}

/* Adds the instances that the counter has in the last sample up to `time`. */
static bool add_instances(const char *set, LONGLONG time, const char *path, struct list *instances)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    struct items items = {0};
    PDH_TIME_INFO range = {.StartTime = time - (LONGLONG)BEFORE * SECOND, .EndTime = time};
    bool good = true;
    if (PdhOpenQueryA(set, 0, &query))
        return false;
    if (!PdhAddCounterA(query, path, 0, &counter) && !PdhSetQueryTimeRange(query, &range)) {
        LONGLONG sample;
        PDH_STATUS status = 0;
        while (!status || (DWORD)status == PDH_BINARY_LOG_CORRUPT)
            status = PdhCollectQueryDataWithTime(query, &sample);
        items_read_raw(&items, counter);
        const PDH_RAW_COUNTER_ITEM_A *list = items.data;
        for (DWORD i = 0; good && i < items.count; i++)
            good = add(instances, list[i].szName, false);
    }
    free(items.data);
    PdhCloseQuery(query);
    return good;
}

PDH_STATUS recorded_lists(const char *paths, const char *set, LONGLONG time, const char *object,
                          char **ret_counters, char **ret_instances, bool *ret_single)
{
    struct list counters = {0}, instances = {0};
    struct path_parts parsed;
    char all[2 * PDH_MAX_COUNTER_PATH] = "";
    bool good = add(&instances, "", false);
    instances.size = 0;
    *ret_single = true;
    for (const char *at = paths; good && at && *at; at += strlen(at) + 1) {
        if (!model_path_parts(at, &parsed) || strcmp(parsed.path.szObjectName, object) != 0)
            continue;
        good = add(&counters, parsed.path.szCounterName, true);
        *ret_single &= !parsed.path.szInstanceName;
        if (!*all)
            snprintf(all, sizeof all, "\\%s(*)\\%s", object, parsed.path.szCounterName);
    }
    if (good && !*ret_single)
        good = add_instances(set, time, all, &instances);
    *ret_counters = counters.texts;
    *ret_instances = instances.texts;
    if (!counters.texts)
        return (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    return good ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}
