/* SPDX-License-Identifier: MIT */
/* Opens sources of names and values, and lists their machines, objects, counters and instances. */
#include "pdh/source.h"

#include <stdlib.h>
#include <string.h>

/* ---- object infos ---- */

struct object_info *object_info_ref(struct object_info *info)
{
    __atomic_add_fetch(&info->references, 1, __ATOMIC_RELAXED);
    return info;
}

void object_info_unref(struct object_info *info)
{
    if (!info || __atomic_sub_fetch(&info->references, 1, __ATOMIC_ACQ_REL))
        return;
    buffer_done(&info->texts);
    free(info->counters);
    free(info->instances);
    free(info);
}

void object_infos_done(struct object_infos *infos)
{
    for (size_t i = 0; i < infos->count; i++)
        object_info_unref(infos->items[i]);
    free(infos->items);
    *infos = (struct object_infos){0};
}

struct object_info *object_info_new(uint32_t counters, uint32_t instances)
{
    struct object_info *info = calloc(1, sizeof *info);
    if (!info)
        return NULL;
    info->references = 1;
    info->taken_ticks = clock_ticks();
    info->counters = calloc(counters + 1, sizeof *info->counters);
    info->instances = calloc(instances + 1, sizeof *info->instances);
    if (info->counters && info->instances)
        return info;
    object_info_unref(info);
    return NULL;
}

/* ---- opening ---- */

/* Opens a capture or live data; only this function decides which. */
PDH_STATUS source_open(struct pdh_from from, enum source_use use, struct data_source **ret)
{
    PDH_STATUS status = log_source_open(from, use, ret);
    return status == (PDH_STATUS)PDH_DATA_SOURCE_IS_REAL_TIME ? live_source_open(ret) : status;
}

void source_close(struct data_source *source)
{
    if (source)
        source->ops->close(source);
}

static PDH_STATUS objects_of(struct pdh_from from, const char *machine, enum info_age age,
                             struct object_infos *ret)
{
    SOURCE_AUTO *source = NULL;
    PDH_STATUS status = source_open(from, SOURCE_NAMES, &source);
    return status ? status : source->ops->objects(source, machine, age, ret);
}

static PDH_STATUS object_of(struct pdh_from from, const char *machine, const char *name,
                            bool english, enum info_age age, struct object_info **ret)
{
    SOURCE_AUTO *source = NULL;
    PDH_STATUS status = source_open(from, SOURCE_NAMES, &source);
    return status ? status : source->ops->object(source, machine, name, english, age, ret);
}

/* ---- machines ---- */

PDH_STATUS browse_machines(struct pdh_from from, struct buffer *ret)
{
    SOURCE_AUTO *source = NULL;
    PDH_STATUS status = source_open(from, SOURCE_NAMES, &source);
    return status ? status : source->ops->machines(source, ret);
}

/* ---- objects ---- */

static bool level_allows(DWORD detail, DWORD level)
{
    return level <= (detail & PERF_DETAIL_STANDARD);
}

static bool lists(const struct buffer *list, const char *name)
{
    const char *cursor = list->data, *end = list->data ? cursor + list->len : NULL;
    for (const char *text; cursor && (text = text_multi_next(&cursor, end));)
        if (text_equal_fold(text, name))
            return true;
    return false;
}

/* Adds a title to the list, unless the title is empty or in the list already. */
static void list_once(struct buffer *list, const char *name)
{
    if (name[0] && !lists(list, name))
        buffer_add(list, name, strlen(name) + 1);
}

PDH_STATUS browse_objects(struct pdh_from from, const char *machine, DWORD detail, bool refresh,
                          struct buffer *ret)
{
    OBJECT_INFOS_AUTO all = {0};
    PDH_STATUS status = objects_of(from, machine, refresh ? INFO_NOW : INFO_STABLE, &all);
    for (size_t i = 0; !status && i < all.count; i++) {
        const struct object_info *info = all.items[i];
        if (level_allows(detail, info->detail) && (!info->costly || detail & PERF_DETAIL_COSTLY))
            list_once(ret, info->name);
    }
    return status;
}

/* ---- counters and instances ---- */

static void list_counters(const struct object_info *info, DWORD detail, struct buffer *ret)
{
    for (uint32_t i = 0; i < info->counter_count; i++) {
        const struct counter_info *counter = &info->counters[i];
        if (!counter->hidden && level_allows(detail, counter->detail))
            list_once(ret, counter->name);
    }
}

/* Lists each name once; for equal names, the program that shows the list adds #1 and so on. An
 * instance with an empty name is left out, because a multi-string cannot contain it. */
static void list_instances(const struct object_info *info, struct buffer *ret)
{
    for (uint32_t i = 0; i < info->instance_count; i++) {
        const struct instance_info *instance = &info->instances[i];
        if (instance->number || (!instance->parent && !instance->name[0]))
            continue;
        if (instance->parent)
            buffer_printf(ret, "%s/", instance->parent);
        buffer_add(ret, instance->name, strlen(instance->name) + 1);
    }
}

PDH_STATUS browse_items(struct pdh_from from, const char *machine, const char *object, DWORD detail,
                        struct buffer *ret_counters, struct buffer *ret_instances, bool *ret_single)
{
    OBJECT_INFO_AUTO *info = NULL;
    PDH_STATUS status = object_of(from, machine, object, false, INFO_STABLE, &info);
    if (status)
        return status;
    list_counters(info, detail, ret_counters);
    list_instances(info, ret_instances);
    *ret_single = info->single;
    return 0;
}

/* ---- defaults ---- */

PDH_STATUS browse_default_object(struct pdh_from from, const char *machine, struct buffer *ret)
{
    OBJECT_INFOS_AUTO all = {0};
    const struct object_info *found = NULL;
    PDH_STATUS status = objects_of(from, machine, INFO_STABLE, &all);
    if (status)
        return status;
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i]->name[0] &&
            (!found || (all.default_object && all.items[i]->index == all.default_object)))
            found = all.items[i];
    if (!found)
        return (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    buffer_add_text(ret, found->name);
    return 0;
}

/* Appends the name of the object's default counter; if that counter is hidden, of the first counter
 * that is not. */
PDH_STATUS browse_default_counter(struct pdh_from from, const char *machine, const char *object,
                                  struct buffer *ret)
{
    OBJECT_INFO_AUTO *info = NULL;
    const struct counter_info *found = NULL;
    PDH_STATUS status = object_of(from, machine, object, false, INFO_STABLE, &info);
    if (status)
        return status;
    for (uint32_t i = 0; i < info->counter_count; i++) {
        const struct counter_info *counter = &info->counters[i];
        if (!counter->hidden && counter->name[0] && (!found || i == info->default_counter))
            found = counter;
    }
    if (!found)
        return (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
    buffer_add_text(ret, found->name);
    return 0;
}
