/* SPDX-License-Identifier: MIT */
/* Live data: which machines, which objects, which numbers. */
#include "pdh/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one object ---- */

/* Numbers as a query for exactly these objects. */
static void query_of(const uint32_t *numbers, size_t count, char *ret, size_t capacity)
{
    size_t at = 0;
    for (size_t i = 0; i < count && at < capacity; i++)
        at += (size_t)snprintf(ret + at, capacity - at, "%s%u", i ? " " : "", (unsigned)numbers[i]);
}

static struct object_info *cached_info(struct machine *machine, enum info_age age, uint32_t number)
{
    struct object_info *info = NULL;
    if (age == INFO_STABLE)
        return machine_cached_info(machine, CACHE_STABLE, number);
    if (age == INFO_RECENT)
        info = machine_cached_info(machine, CACHE_RECENT, number);
    if (info && clock_ticks() - info->priv->taken_ticks > CLOCK_TICKS_PER_SECOND) {
        object_info_unref(info);
        info = NULL;
    }
    return info;
}

static PDH_STATUS ask_for_info(struct machine *machine, const uint32_t *numbers, size_t count,
                               enum info_age age, struct object_info **ret)
{
    char query[MOST_NUMBERS * 11 + 1];
    struct snapshot snapshot = {0};
    const struct snapshot_object *object = NULL;
    query_of(numbers, count, query, sizeof query);
    PDH_STATUS status = machine_ask(machine, query, &snapshot);
    for (size_t i = 0; !status && !object && i < count; i++)
        object = snapshot_object(&snapshot, numbers[i]);
    if (!status && !object)
        status = (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    if (!status) {
        *ret = object_info_of_object(machine, &snapshot, object);
        status = *ret ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    if (!status && age != INFO_STABLE)
        machine_cache_info(machine, CACHE_RECENT, *ret);
    if (!status && (age == INFO_STABLE || age == INFO_REFRESH))
        machine_cache_info(machine, CACHE_STABLE, *ret);
    snapshot_done(&snapshot);
    return status;
}

static PDH_STATUS find_info(struct machine *machine, const char *name, enum title_stage stage,
                            enum info_age age, struct object_info **ret)
{
    uint32_t numbers[MOST_NUMBERS];
    size_t count = machine_numbers(machine, stage, name, numbers);
    for (size_t i = 0; i < count; i++)
        if ((*ret = cached_info(machine, age, numbers[i])))
            return 0;
    if (!count)
        return (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    return ask_for_info(machine, numbers, count, age, ret);
}

static PDH_STATUS find_info_at_any_stage(struct machine *machine, const char *name, bool english,
                                         enum info_age age, struct object_info **ret)
{
    PDH_STATUS status = (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    enum title_stage first = english ? STAGE_ENGLISH : STAGE_USER;
    enum title_stage last = english ? STAGE_NUMBER : STAGE_OTHERS;
    for (enum title_stage stage = first; status && stage <= last; stage++)
        status = find_info(machine, name, stage, age, ret);
    return status;
}

/* An object that is not found may have been registered since its machine's titles were read. */
static PDH_STATUS live_info(const char *machine_name, const char *object, bool english,
                            enum info_age age, struct object_info **ret)
{
    struct machine *machine;
    PDH_STATUS status = machine_find(machine_name, &machine);
    if (status)
        return status;
    status = find_info_at_any_stage(machine, object, english, age, ret);
    if (status && machine_renew_titles(machine))
        status = find_info_at_any_stage(machine, object, english, age, ret);
    return status;
}

PDH_STATUS source_object(struct pdh_from from, const char *machine, const char *object,
                         bool english, enum info_age age, struct object_info **ret)
{
    PDH_STATUS status = capture_resolve_from(&from);
    if (status)
        return status;
    return from.file || from.log ? capture_object_info(from, machine, object, ret)
                                 : live_info(machine, object, english, age, ret);
}

/* ---- all objects ---- */

static bool is_listed(const struct object_infos *infos, uint32_t number)
{
    for (size_t i = 0; i < infos->count; i++)
        if (infos->items[i]->index == number)
            return true;
    return false;
}

static PDH_STATUS add_infos(struct machine *machine, const char *query, struct object_infos *ret)
{
    struct snapshot snapshot = {0};
    PDH_STATUS status = machine_ask(machine, query, &snapshot);
    struct object_info **items = NULL;
    if (!status) {
        items = reallocarray(ret->items, ret->count + snapshot.object_count + 1, sizeof *items);
        status = items ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    if (items)
        ret->items = items;
    if (!status && !ret->default_object)
        ret->default_object = (uint32_t)snapshot.block.header.DefaultObject;
    for (uint32_t i = 0; !status && i < snapshot.object_count; i++) {
        const struct snapshot_object *object = &snapshot.objects[i];
        if (is_listed(ret, object->view.type.ObjectNameTitleIndex))
            continue;
        struct object_info *info = object_info_of_object(machine, &snapshot, object);
        if (!info)
            status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        else {
            info->priv->listed = true;
            info->costly = text_equal_fold(query, "Costly");
            ret->items[ret->count++] = info;
        }
    }
    snapshot_done(&snapshot);
    return status;
}

PDH_STATUS source_list_objects(struct pdh_from from, const char *machine_name, enum info_age age,
                               struct object_infos *ret)
{
    struct machine *machine;
    PDH_STATUS status = capture_resolve_from(&from);
    if (!status && (from.file || from.log))
        return capture_object_infos(from, machine_name, ret);
    if (!status)
        status = machine_find(machine_name, &machine);
    if (status || (age == INFO_STABLE && machine_list_objects(machine, ret)))
        return status;
    machine_renew_titles(machine);
    status = add_infos(machine, "Global", ret);
    PDH_STATUS costly = status ? status : add_infos(machine, "Costly", ret);
    if (costly != (PDH_STATUS)PDH_NO_DATA) /* a machine may have none: stock Samba returns 2 */
        status = costly;
    if (!status)
        machine_put_list(machine, ret);
    return status;
}

/* ---- machines ---- */

PDH_STATUS source_machine(struct pdh_from from, const char *machine_name, struct buffer *ret)
{
    struct machine *machine;
    PDH_STATUS status = capture_resolve_from(&from);
    if (!status && (from.file || from.log))
        return capture_label(from, machine_name, ret);
    if (!status)
        status = machine_find(machine_name, &machine);
    if (!status)
        buffer_add_text(ret, machine_label(machine));
    return status;
}

PDH_STATUS source_machines(struct pdh_from from, struct buffer *ret)
{
    PDH_STATUS status = capture_resolve_from(&from);
    if (!status && (from.file || from.log))
        return capture_machines(from, ret);
    if (!status)
        machine_list(ret);
    return status;
}

/* ---- titles ---- */

PDH_STATUS source_title(const char *machine_name, uint32_t index, struct buffer *ret)
{
    struct machine *machine;
    PDH_STATUS status = machine_find(machine_name, &machine);
    if (status)
        return status;
    if (machine_title(machine, index, ret) || machine_explain(machine, index, ret) ||
        (machine_renew_titles(machine) &&
         (machine_title(machine, index, ret) || machine_explain(machine, index, ret))))
        return 0;
    return (PDH_STATUS)PDH_STRING_NOT_FOUND;
}

static bool first_number(struct machine *machine, const char *title, uint32_t *ret)
{
    static const enum title_stage stages[] = {STAGE_USER, STAGE_ENGLISH, STAGE_OTHERS};
    uint32_t numbers[MOST_NUMBERS];
    for (size_t i = 0; i < COUNT(stages); i++)
        if (machine_numbers(machine, stages[i], title, numbers)) {
            *ret = numbers[0];
            return true;
        }
    return false;
}

PDH_STATUS source_index(const char *machine_name, const char *title, uint32_t *ret)
{
    struct machine *machine;
    PDH_STATUS status = machine_find(machine_name, &machine);
    if (status)
        return status;
    if (first_number(machine, title, ret) ||
        (machine_renew_titles(machine) && first_number(machine, title, ret)))
        return 0;
    return (PDH_STATUS)PDH_STRING_NOT_FOUND;
}

PDH_STATUS source_explain(const char *machine_name, uint32_t help, struct buffer *ret)
{
    struct machine *machine;
    PDH_STATUS status = machine_find(machine_name, &machine);
    if (!status)
        machine_explain(machine, help, ret);
    return status;
}
