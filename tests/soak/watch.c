/* SPDX-License-Identifier: MIT */
/* All counters of an object, as PDH returns them for a wildcard: the newest sample and the previous
 * one. */
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- adding counters ---- */

bool watch_add_counter(struct watch *watch, PDH_HQUERY query, const char *title)
{
    struct column *column = &watch->columns[watch->count];
    char path[256];
    union {
        PDH_COUNTER_INFO_A info;
        char storage[4096];
    } storage;
    DWORD size = sizeof storage;
    if (watch->count == MOST_COLUMNS)
        return false;
    snprintf(column->title, sizeof column->title, "%s", title);
    snprintf(path, sizeof path, "\\%s%s\\%s", watch->object, watch->single ? "" : "(*)", title);
    if (PdhAddEnglishCounterA(query, path, 0, &column->counter) ||
        PdhGetCounterInfoA(column->counter, FALSE, &size, &storage.info))
        return false;
    column->type = storage.info.dwType;
    watch->count++;
    return true;
}

static const struct column *column_of(const struct watch *watch, const char *title)
{
    for (unsigned i = 0; i < watch->count; i++)
        if (!strcmp(watch->columns[i].title, title))
            return &watch->columns[i];
    return NULL;
}

bool watch_add(struct watch *watch, PDH_HQUERY query)
{
    static char counters[16384], instances[1 << 20];
    DWORD counters_size = sizeof counters, instances_size = sizeof instances;
    if (PdhEnumObjectItemsA(NULL, NULL, watch->object, counters, &counters_size, instances,
                            &instances_size, PERF_DETAIL_WIZARD, 0))
        return false;
    for (const char *title = counters; *title; title += strlen(title) + 1)
        if (!watch_add_counter(watch, query, title))
            return false;
    watch->pid = column_of(watch, "ID Process");
    watch->start = column_of(watch, "Elapsed Time");
    watch->thread = column_of(watch, "ID Thread");
    return watch->count > 0;
}

/* ---- a sample ---- */

/* Returns `old` if it has at least `needed` bytes, else a larger buffer. *size is the buffer's
 * size. */
static void *capacity_for(void *old, DWORD *size, DWORD needed)
{
    if (needed <= *size)
        return old;
    *size = needed * 2;
    return realloc(old, *size);
}

static bool take_column(struct column *column)
{
    PDH_RAW_COUNTER_ITEM_A *raw = column->raw_before;
    DWORD size = 0, raw_size = column->raw_before_size, count, raw_count;
    PdhGetFormattedCounterArrayA(column->counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, &size, &count,
                                 NULL);
    column->values = capacity_for(column->values, &column->values_size, size);
    size = 0;
    PdhGetRawCounterArrayA(column->counter, &size, &raw_count, NULL);
    raw = capacity_for(raw, &raw_size, size);
    column->raw_before = column->raw;
    column->raw_before_size = column->raw_size;
    column->count_before = column->count;
    column->raw = raw;
    column->raw_size = size = raw_size;
    column->count = 0;
    if (size && PdhGetRawCounterArrayA(column->counter, &size, &raw_count, raw))
        return false;
    size = column->values_size;
    if (size && PdhGetFormattedCounterArrayA(column->counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100,
                                             &size, &count, column->values))
        return false;
    column->count = count;
    return count == raw_count;
}

/* ---- identifying instances ---- */

static const struct row *sorting;

static int by_name(const void *left, const void *right)
{
    const unsigned *l = left, *r = right;
    int order = strcasecmp(sorting[*l].name, sorting[*r].name);
    if (order)
        return order;
    return *l < *r ? -1 : *l > *r;
}

/* Rows with equal names get the numbers 0, 1, 2..., in their order. */
static void number_rows(struct rows *rows)
{
    for (DWORD i = 0; i < rows->count; i++)
        rows->order[i] = i;
    sorting = rows->rows;
    qsort(rows->order, rows->count, sizeof *rows->order, by_name);
    for (DWORD i = 1; i < rows->count; i++) {
        const struct row *before = &rows->rows[rows->order[i - 1]];
        struct row *row = &rows->rows[rows->order[i]];
        if (!strcasecmp(before->name, row->name))
            row->number = before->number + 1;
    }
}

static long long raw_of(const struct column *column, DWORD at)
{
    return column && at < column->count ? column->raw[at].RawValue.FirstValue : 0;
}

static bool make_rows(struct watch *watch)
{
    const struct column *first = &watch->columns[0];
    struct rows spare = watch->before, *rows = &watch->now;
    watch->before = watch->now;
    *rows = spare;
    rows->count = first->count;
    rows->rows = realloc(rows->rows, (rows->count + 1) * sizeof *rows->rows);
    rows->order = realloc(rows->order, (rows->count + 1) * sizeof *rows->order);
    for (DWORD i = 0; i < rows->count; i++) {
        struct row *row = &rows->rows[i];
        *row = (struct row){.pid = raw_of(watch->pid, i),
                            .start = raw_of(watch->start, i),
                            .thread = raw_of(watch->thread, i)};
        snprintf(row->name, sizeof row->name, "%s", first->values[i].szName);
    }
    number_rows(rows);
    for (unsigned k = 0; k < watch->count; k++) {
        const struct column *column = &watch->columns[k];
        if (column->count != rows->count)
            return false;
        for (DWORD i = 0; i < rows->count; i++)
            if (strcmp(column->values[i].szName, first->values[i].szName) ||
                strcmp(column->raw[i].szName, first->values[i].szName))
                return false;
    }
    return true;
}

bool watch_take(struct watch *watch, const unsigned *before, const struct churn *now)
{
    for (unsigned i = 0; i < watch->count; i++)
        if (!take_column(&watch->columns[i]))
            return false;
    if (!make_rows(watch))
        return false;
    for (DWORD i = 0; i < watch->now.count && watch->pid; i++) {
        struct row *row = &watch->now.rows[i];
        if (row->pid > 0 && row->pid < CHURN_TRACKED &&
            before[row->pid] == atomic_load(&now->process[row->pid]))
            row->process = before[row->pid];
    }
    return true;
}

int watch_before(const struct watch *watch, unsigned at)
{
    const struct row *row = &watch->now.rows[at];
    const struct rows *before = &watch->before;
    unsigned low = 0, high = before->count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        const struct row *other = &before->rows[before->order[middle]];
        int order = strcasecmp(other->name, row->name);
        if (!order && other->number == row->number)
            return (int)before->order[middle];
        if (order < 0 || (!order && other->number < row->number))
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}
