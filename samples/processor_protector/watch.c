/* SPDX-License-Identifier: MIT */
/*
 * Samples all processes at one moment.
 *
 * One query has a wildcard counter for each property, and each counter returns an array of all
 * instances. All arrays of one collection have the same instances in the same order, so a process
 * has the same position in all of them. In the next collection the same position, or the same name,
 * may belong to another process.
 */
#include "protector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char load_path[] = "\\Processor(_Total)\\% Processor Time";
static const char *const paths[COLUMNS] = {
    [ID] = "\\Process(*)\\ID Process",
    [BEGAN] = "\\Process(*)\\Elapsed Time", /* the raw value of this counter is the start time */
    [PARENT] = "\\Process(*)\\Creating Process ID",
    [MEMORY] = "\\Process(*)\\Virtual Bytes",
    [WORK] = "\\Process(*)\\% Processor Time",
};

PDH_STATUS watch_open(struct watch *watch, const char **ret_what)
{
    *watch = (struct watch){0};
    *ret_what = "PdhOpenQuery";
    PDH_STATUS status = PdhOpenQueryA(NULL, 0, &watch->query);
    if (status == 0) {
        *ret_what = load_path;
        status = PdhAddEnglishCounterA(watch->query, load_path, 0, &watch->load);
    }
    for (int i = 0; i < COLUMNS && status == 0; i++) {
        *ret_what = paths[i];
        status = PdhAddEnglishCounterA(watch->query, paths[i], 0, &watch->columns[i]);
    }
    return status;
}

void watch_close(struct watch *watch, struct look *look)
{
    if (watch->query)
        PdhCloseQuery(watch->query);
    for (int i = 0; i < COLUMNS; i++)
        free(watch->answers[i].items);
    free(look->all);
    *watch = (struct watch){0};
    *look = (struct look){0};
}

/* Reads the array of a counter. The buffer grows until the array fits, and is reused. */
static PDH_STATUS fetch(PDH_HCOUNTER counter, struct answer *answer)
{
    for (;;) {
        DWORD needed = answer->capacity;
        PDH_STATUS status = PdhGetRawCounterArrayA(counter, &needed, &answer->count, answer->items);
        if ((DWORD)status != PDH_MORE_DATA)
            return status;
        void *items = realloc(answer->items, needed);
        if (!items)
            return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        answer->items = items;
        answer->capacity = needed;
    }
}

/* Do all arrays have the same instance at this position, with a valid value? */
static bool agree(const struct watch *watch, DWORD at)
{
    for (int i = 0; i < COLUMNS; i++) {
        const PDH_RAW_COUNTER_ITEM_A *item = &watch->answers[i].items[at];
        if (strcmp(item->szName, watch->answers[ID].items[at].szName) != 0 ||
            item->RawValue.CStatus > PDH_CSTATUS_NEW_DATA)
            return false;
    }
    return true;
}

/* Copies a name without control characters, which a process may put into its name and a terminal
 * would interpret. */
static void copy_name(char *to, const char *from)
{
    snprintf(to, NAME_BYTES, "%s", from);
    for (; *to; to++) {
        if ((unsigned char)*to < ' ' || *to == 127)
            *to = '?';
    }
}

static void take_process(const struct watch *watch, DWORD at, struct look *ret)
{
    const PDH_RAW_COUNTER *raw[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        raw[i] = &watch->answers[i].items[at].RawValue;
    struct process *process = &ret->all[ret->count];
    *process = (struct process){
        .identity = {(uint32_t)raw[ID]->FirstValue, raw[BEGAN]->FirstValue},
        .parent = (uint32_t)raw[PARENT]->FirstValue,
        .has_memory = raw[MEMORY]->FirstValue != 0,
        .work = *raw[WORK],
    };
    copy_name(process->name, watch->answers[ID].items[at].szName);
    /* the object's clock, which is the same for all instances */
    ret->time = raw[BEGAN]->SecondValue;
    ret->count++;
}

static bool reserve(struct look *look, size_t count)
{
    if (count <= look->capacity)
        return true;
    struct process *all = realloc(look->all, count * sizeof *all);
    if (!all)
        return false;
    look->all = all;
    look->capacity = count;
    return true;
}

/* Combines the arrays into processes. The instances Idle and _Total, whose process number is 0, are
 * omitted. */
static PDH_STATUS put_together(const struct watch *watch, struct look *ret)
{
    DWORD count = watch->answers[ID].count;
    ret->count = 0;
    for (int i = 0; i < COLUMNS; i++) {
        if (watch->answers[i].count != count)
            return (PDH_STATUS)PDH_INVALID_DATA;
    }
    if (!reserve(ret, count))
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    for (DWORD at = 0; at < count; at++) {
        if (watch->answers[ID].items[at].RawValue.FirstValue != 0 && agree(watch, at))
            take_process(watch, at, ret);
    }
    return 0;
}

PDH_STATUS watch_look(struct watch *watch, struct look *ret, const char **ret_what)
{
    PDH_FMT_COUNTERVALUE load;
    *ret_what = "PdhCollectQueryData";
    PDH_STATUS status = PdhCollectQueryData(watch->query);
    for (int i = 0; i < COLUMNS && status == 0; i++) {
        *ret_what = paths[i];
        status = fetch(watch->columns[i], &watch->answers[i]);
    }
    if (status == 0)
        status = put_together(watch, ret);
    /* the load is a rate: at the first look it is unknown, which is no error */
    bool known =
        status == 0 && PdhGetFormattedCounterValue(watch->load, PDH_FMT_DOUBLE, NULL, &load) == 0;
    ret->load = known ? load.doubleValue : -1;
    return status;
}

const struct process *look_find(const struct look *look, uint32_t id)
{
    for (size_t i = 0; i < look->count; i++) {
        if (look->all[i].identity.id == id)
            return &look->all[i];
    }
    return NULL;
}

bool look_is_parent(const struct look *look, uint32_t id, uint32_t child)
{
    /* limited to the number of processes, because the parents in the counters might form a
     * circle */
    for (size_t i = 0; i < look->count; i++) {
        const struct process *process = look_find(look, child);
        if (!process || process->parent == 0)
            return false;
        child = process->parent;
        if (child == id)
            return true;
    }
    return false;
}
