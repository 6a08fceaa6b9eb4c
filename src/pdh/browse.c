/* SPDX-License-Identifier: MIT */
/* Lists to choose from: machines, objects, counters, instances; titles and numbers. */
#include "pdh/source.h"

#include <string.h>

/* ---- machines ---- */

PDH_STATUS browse_connect(const char *machine)
{
    BUFFER_AUTO label = {0};
    return source_machine((struct pdh_from){0}, machine, &label);
}

PDH_STATUS browse_machines(struct pdh_from from, struct buffer *ret)
{
    return source_machines(from, ret);
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

/* Objects without title are not listed; each title is listed once. */
static void list_once(struct buffer *list, const char *name)
{
    if (name[0] && !lists(list, name))
        buffer_add(list, name, strlen(name) + 1);
}

PDH_STATUS browse_objects(struct pdh_from from, const char *machine, DWORD detail, bool refresh,
                          struct buffer *ret)
{
    OBJECT_INFOS_AUTO all = {0};
    PDH_STATUS status = source_list_objects(from, machine, refresh ? INFO_NOW : INFO_STABLE, &all);
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

/* The first of each name; the reader adds #1 and so on. An instance without name cannot be in a
 * multi-string. */
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
    PDH_STATUS status = source_object(from, machine, object, false, INFO_STABLE, &info);
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
    PDH_STATUS status = source_list_objects(from, machine, INFO_STABLE, &all);
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

/* The object's default counter, unless it is hidden; else the first. */
PDH_STATUS browse_default_counter(struct pdh_from from, const char *machine, const char *object,
                                  struct buffer *ret)
{
    OBJECT_INFO_AUTO *info = NULL;
    const struct counter_info *found = NULL;
    PDH_STATUS status = source_object(from, machine, object, false, INFO_STABLE, &info);
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

/* ---- titles and their numbers ---- */

PDH_STATUS lookup_name(const char *machine, DWORD index, struct buffer *ret)
{
    return source_title(machine, index, ret);
}

PDH_STATUS lookup_index(const char *machine, const char *name, DWORD *ret)
{
    uint32_t index = 0;
    PDH_STATUS status = source_index(machine, name, &index);
    if (!status)
        *ret = index;
    return status;
}
