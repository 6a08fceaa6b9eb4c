/* SPDX-License-Identifier: MIT */
/* One query for both objects, and a checked walk through the answer, which is not trusted. */
#include "shown.h"

#include "base.h"

#include <pdh.h>
#include <pdhmsg.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST_SIZE = 65536, LARGEST_SIZE = 256 << 20, TITLES = 16 };

static size_t find_titles(const struct base *base, const char *text, DWORD found[TITLES])
{
    struct base_title title = {0};
    size_t count = 0;
    while (count < TITLES && base_next(base, &title)) {
        if (strcmp(title.text, text) == 0)
            found[count++] = title.index;
    }
    return count;
}

/* On this machine First Counter of the service would do, but another machine does not show its
 * services, while every user that may read counters may read its name bases. Another provider's
 * object may have one of our titles, but not both with the same distance. */
static LSTATUS find_first(const struct base *base, DWORD *ret)
{
    DWORD herds[TITLES], summaries[TITLES];
    size_t herd_count = find_titles(base, "Behemoth", herds);
    size_t summary_count = find_titles(base, "Behemoths Summary", summaries);
    for (size_t i = 0; i < herd_count * summary_count; i++) {
        DWORD herd = herds[i / summary_count], summary = summaries[i % summary_count];
        if (summary - herd == BEHEMOTHS_SUMMARY) {
            *ret = herd;
            return ERROR_SUCCESS;
        }
    }
    return ERROR_FILE_NOT_FOUND;
}

LSTATUS shown_open(struct shown *shown, const char *machine)
{
    struct base base;
    *shown = (struct shown){.data = HKEY_PERFORMANCE_DATA};
    if (machine) {
        shown->data = NULL;
        LSTATUS status = RegConnectRegistryA(machine, HKEY_PERFORMANCE_DATA, &shown->data);
        if (status)
            return status;
    }
    LSTATUS status = base_read(&base, shown->data, "009");
    if (status)
        return status;
    status = find_first(&base, &shown->first);
    free(base.text);
    return status;
}

void shown_close(struct shown *shown)
{
    if (shown->data)
        RegCloseKey(shown->data);
    free(shown->block);
    free(shown->all);
    free(shown->spare);
    *shown = (struct shown){0};
}

/* ---- the answer ---- */

/* The size of an answer is not known before: if the buffer is too small, the query is repeated
 * with a larger one. */
static LSTATUS ask(struct shown *shown, DWORD *ret_size)
{
    char query[32];
    snprintf(query, sizeof query, "%u %u", (unsigned)(shown->first + BEHEMOTH),
             (unsigned)(shown->first + BEHEMOTHS_SUMMARY));
    for (;;) {
        DWORD size = shown->block_capacity;
        LSTATUS status = size > 0
                             ? RegQueryValueExA(shown->data, query, NULL, NULL, shown->block, &size)
                             : ERROR_MORE_DATA;
        *ret_size = size;
        if (status != ERROR_MORE_DATA || shown->block_capacity >= LARGEST_SIZE)
            return status;
        DWORD capacity = shown->block_capacity > 0 ? shown->block_capacity * 2 : SMALLEST_SIZE;
        BYTE *block = realloc(shown->block, capacity);
        if (!block)
            return ERROR_NOT_ENOUGH_MEMORY;
        shown->block = block;
        shown->block_capacity = capacity;
    }
}

/* The definitions of an object, searched once: the position of each symbol's value. */
struct columns {
    opl_counter_view of[SHOWN_SYMBOLS / 2];
    bool has[SHOWN_SYMBOLS / 2];
};

static void find_columns(const struct shown *shown, opl_block *block, const opl_object_view *object,
                         struct columns *ret)
{
    opl_counter_view counter = {0};
    *ret = (struct columns){0};
    while (opl_object_next_counter(block, object, &counter)) {
        DWORD symbol = counter.definition.CounterNameTitleIndex - shown->first;
        if (symbol >= SHOWN_SYMBOLS || ret->has[symbol / 2]) /* a base has its counter's title */
            continue;
        ret->of[symbol / 2] = counter;
        ret->has[symbol / 2] = true;
    }
}

/* A value that is missing for one behemoth is not shown for any. */
static void read_values(const opl_block *block, const opl_instance_view *instance,
                        struct columns *columns, uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        columns->has[i] =
            columns->has[i] && opl_counter_number(block, instance, &columns->of[i], &value);
        values[i] = value;
    }
}

/* ---- the herd ---- */

static struct shown_behemoth *add(struct shown *shown)
{
    if (shown->count == shown->capacity) {
        size_t capacity = shown->capacity > 0 ? shown->capacity * 2 : 64;
        struct shown_behemoth *all = realloc(shown->all, capacity * sizeof *all);
        if (!all)
            return NULL;
        shown->all = all;
        shown->capacity = capacity;
    }
    return &shown->all[shown->count++];
}

static void keep_columns(struct shown *shown, const struct columns *columns)
{
    for (size_t i = 0; i < SHOWN_VALUES; i++) {
        shown->has[i] = columns->has[i];
        for (size_t j = 0; j < shown->count && !columns->has[i]; j++)
            shown->all[j].values[i] = 0;
    }
}

static LSTATUS read_herd(struct shown *shown, opl_block *block)
{
    struct columns columns;
    opl_object_view object = {0};
    opl_instance_view instance = {0};
    shown->count = 0;
    if (!opl_block_find_object(block, shown->first + BEHEMOTH, &object))
        return ERROR_FILE_NOT_FOUND;
    shown->time = object.type.PerfTime.QuadPart;
    shown->frequency = object.type.PerfFreq.QuadPart;
    find_columns(shown, block, &object, &columns);
    while (opl_object_next_instance(block, &object, &instance)) {
        struct shown_behemoth *one = add(shown);
        if (!one)
            return ERROR_NOT_ENOUGH_MEMORY;
        const PERF_INSTANCE_DEFINITION *is = &instance.definition;
        bool has_mother = is->ParentObjectTitleIndex == shown->first + BEHEMOTH;
        memset(one->name, 0, sizeof one->name);
        opl_instance_name(block, &object, &instance, one->name, sizeof one->name);
        one->mother = has_mother ? (int64_t)is->ParentObjectInstance : SHOWN_NONE;
        read_values(block, &instance, &columns, one->values, SHOWN_VALUES);
    }
    keep_columns(shown, &columns);
    return ERROR_SUCCESS;
}

/* ---- the summary ---- */

static LSTATUS read_summary(struct shown *shown, opl_block *block)
{
    struct columns columns;
    opl_object_view object = {0};
    opl_instance_view instance = {0};
    if (!opl_block_find_object(block, shown->first + BEHEMOTHS_SUMMARY, &object) ||
        !opl_object_next_instance(block, &object, &instance))
        return ERROR_FILE_NOT_FOUND;
    find_columns(shown, block, &object, &columns);
    read_values(block, &instance, &columns, shown->summary, SHOWN_SYMBOLS / 2);
    for (size_t i = 0; i < SHOWN_SYMBOLS / 2; i++) {
        struct shown_pair *pair = &shown->pairs[i];
        pair->was_there = pair->there;
        pair->before = pair->now;
        pair->there = columns.has[i] &&
                      opl_counter_sample(block, &object, &instance, &columns.of[i], &pair->now);
    }
    return ERROR_SUCCESS;
}

static LSTATUS read_block(struct shown *shown, const void *data, size_t size)
{
    opl_block block;
    if (opl_block_init(&block, data, size) != OPL_BLOCK_GOOD)
        return ERROR_INVALID_DATA;
    opl_block_system_name(&block, shown->machine, sizeof shown->machine);
    LSTATUS status = read_herd(shown, &block);
    if (!status)
        status = read_summary(shown, &block);
    return block.fault ? ERROR_INVALID_DATA : status;
}

/* Reads into separate memory; the shown data is replaced only if the whole answer is valid. */
LSTATUS shown_take(struct shown *shown, const void *block, size_t size)
{
    struct shown fresh = *shown;
    fresh.all = shown->spare;
    fresh.capacity = shown->spare_capacity;
    LSTATUS status = read_block(&fresh, block, size);
    if (status) {
        shown->spare = fresh.all;
        shown->spare_capacity = fresh.capacity;
        return status;
    }
    fresh.spare = shown->all;
    fresh.spare_capacity = shown->capacity;
    *shown = fresh;
    return ERROR_SUCCESS;
}

LSTATUS shown_read(struct shown *shown)
{
    DWORD size;
    LSTATUS status = ask(shown, &size);
    return status ? status : shown_take(shown, shown->block, size);
}

/* ---- what the values mean ---- */

bool shown_server_there(const struct shown *shown)
{
    return shown->summary[BEHEMOTHS_SUMMARY_STATUS / 2] != 0;
}

/* If the server never answered, the age of its data counts from time 0. */
bool shown_server_heard(const struct shown *shown)
{
    return shown->summary[BEHEMOTHS_SUMMARY_DATA_AGE / 2] != 0;
}

static PDH_RAW_COUNTER raw_of(const opl_sample *sample)
{
    return (PDH_RAW_COUNTER){.CStatus = PDH_CSTATUS_VALID_DATA,
                             .FirstValue = sample->first,
                             .SecondValue = sample->second,
                             .MultiCount = sample->multi_count};
}

bool shown_summary(const struct shown *shown, unsigned symbol, double *ret)
{
    const struct shown_pair *pair = &shown->pairs[symbol / 2];
    PDH_RAW_COUNTER now = raw_of(&pair->now), before = raw_of(&pair->before);
    PDH_FMT_COUNTERVALUE value;
    opl_type_info type;
    LONGLONG time_base = pair->now.time_base;
    opl_type_describe(pair->now.type, &type);
    if (!pair->there || (type.needs_two_samples && !pair->was_there))
        return false;
    if (PdhFormatFromRawValue(pair->now.type, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100 | PDH_FMT_NOSCALE,
                              &time_base, &now, pair->was_there ? &before : NULL,
                              &value) != ERROR_SUCCESS ||
        value.CStatus > PDH_CSTATUS_NEW_DATA)
        return false;
    *ret = value.doubleValue;
    return true;
}

bool shown_age(const struct shown *shown, const struct shown_behemoth *one, double *ret)
{
    int64_t since = (int64_t)one->values[BEHEMOTH_AGE / 2];
    if (!shown->has[BEHEMOTH_AGE / 2] || shown->frequency <= 0)
        return false;
    *ret = ((double)shown->time - (double)since) / (double)shown->frequency;
    return *ret >= 0;
}
