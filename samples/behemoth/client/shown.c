/* SPDX-License-Identifier: MIT */
/* One query for both objects, and a checked walk through the answer. */
#include "shown.h"

#include <openperflib/block.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERFORMANCE "SYSTEM\\CurrentControlSet\\Services\\Behemoth\\Performance"

static LSTATUS read_first(HKEY machine, DWORD *ret)
{
    DWORD size = sizeof *ret;
    return RegGetValueA(machine, PERFORMANCE, "First Counter", RRF_RT_REG_DWORD, NULL, ret, &size);
}

LSTATUS shown_open(struct shown *shown, const char *machine)
{
    *shown = (struct shown){.data = HKEY_PERFORMANCE_DATA};
    if (!machine)
        return read_first(HKEY_LOCAL_MACHINE, &shown->first);
    HKEY registry;
    LSTATUS status = RegConnectRegistryA(machine, HKEY_LOCAL_MACHINE, &registry);
    if (status)
        return status;
    status = read_first(registry, &shown->first);
    RegCloseKey(registry);
    return status ? status : RegConnectRegistryA(machine, HKEY_PERFORMANCE_DATA, &shown->data);
}

void shown_close(struct shown *shown)
{
    RegCloseKey(shown->data);
    free(shown->block);
    free(shown->all);
    *shown = (struct shown){0};
}

/* ---- the answer ---- */

static LSTATUS ask(struct shown *shown, DWORD *ret_size)
{
    char query[32];
    snprintf(query, sizeof query, "%u %u", (unsigned)(shown->first + BEHEMOTH),
             (unsigned)(shown->first + BEHEMOTHS_SUMMARY));
    for (;;) {
        DWORD size = shown->block_room;
        LSTATUS status = size > 0
                             ? RegQueryValueExA(shown->data, query, NULL, NULL, shown->block, &size)
                             : ERROR_MORE_DATA;
        *ret_size = size;
        if (status != ERROR_MORE_DATA)
            return status;
        DWORD room = shown->block_room > 0 ? shown->block_room * 2 : 65536;
        BYTE *block = realloc(shown->block, room);
        if (!block)
            return ERROR_NOT_ENOUGH_MEMORY;
        shown->block = block;
        shown->block_room = room;
    }
}

/* The definitions of an object, looked up once: where each symbol's value is. */
struct columns {
    opl_counter_view of[SHOWN_SYMBOLS / 2];
    bool has[SHOWN_SYMBOLS / 2];
};

static void find_columns(struct shown *shown, opl_block *block, const opl_object_view *object,
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

static void read_values(const opl_block *block, const opl_instance_view *instance,
                        const struct columns *columns, uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ULONGLONG value = 0;
        if (columns->has[i])
            opl_counter_number(block, instance, &columns->of[i], &value);
        values[i] = value;
    }
}

static bool add(struct shown *shown, opl_block *block, const opl_object_view *object,
                const opl_instance_view *instance, const struct columns *columns)
{
    if (shown->count == shown->room) {
        size_t room = shown->room > 0 ? shown->room * 2 : 64;
        struct shown_behemoth *all = realloc(shown->all, room * sizeof *all);
        if (!all)
            return false;
        shown->all = all;
        shown->room = room;
    }
    struct shown_behemoth *one = &shown->all[shown->count++];
    const PERF_INSTANCE_DEFINITION *is = &instance->definition;
    bool has_mother = is->ParentObjectTitleIndex == shown->first + BEHEMOTH;
    opl_instance_name(block, object, instance, one->name, sizeof one->name);
    one->mother = has_mother ? (int64_t)is->ParentObjectInstance : SHOWN_NONE;
    read_values(block, instance, columns, one->values, sizeof one->values / sizeof *one->values);
    return true;
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
    find_columns(shown, block, &object, &columns);
    while (opl_object_next_instance(block, &object, &instance)) {
        if (!add(shown, block, &object, &instance, &columns))
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    return ERROR_SUCCESS;
}

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
    return ERROR_SUCCESS;
}

LSTATUS shown_read(struct shown *shown)
{
    DWORD size;
    opl_block block;
    LSTATUS status = ask(shown, &size);
    if (status)
        return status;
    if (opl_block_init(&block, shown->block, size) != OPL_BLOCK_GOOD)
        return ERROR_INVALID_DATA;
    status = read_herd(shown, &block);
    if (!status)
        status = read_summary(shown, &block);
    return !status && block.fault ? ERROR_INVALID_DATA : status;
}
