/* SPDX-License-Identifier: MIT */
/* Object descriptions: an object of an answer copied with its names, for lists and for finding
 * counters. */
#include "pdh/capture.h"
#include "pdh/machine.h"

#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

struct object_info *object_info_ref(struct object_info *info)
{
    __atomic_add_fetch(&info->priv->references, 1, __ATOMIC_RELAXED);
    return info;
}

void object_info_unref(struct object_info *info)
{
    if (!info || __atomic_sub_fetch(&info->priv->references, 1, __ATOMIC_ACQ_REL))
        return;
    buffer_done(&info->priv->texts);
    free(info->counters);
    free(info->instances);
    free(info->priv);
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
    info->priv = calloc(1, sizeof *info->priv);
    info->counters = calloc(counters + 1, sizeof *info->counters);
    info->instances = calloc(instances + 1, sizeof *info->instances);
    if (!info->priv || !info->counters || !info->instances) {
        free(info->priv);
        free(info->counters);
        free(info->instances);
        free(info);
        return NULL;
    }
    info->priv->references = 1;
    info->priv->taken_ticks = clock_ticks();
    return info;
}

/* ---- texts: appended to one buffer; pointers are set when it no longer moves ---- */

static void add_title(struct machine *machine, uint32_t index, struct buffer *texts)
{
    machine_title(machine, index, texts);
    buffer_add_byte(texts, '\0');
}

static void write_texts(struct object_info *info, struct machine *machine,
                        const struct snapshot *snapshot, const struct snapshot_object *object)
{
    struct buffer *texts = &info->priv->texts;
    add_title(machine, info->index, texts);
    for (uint32_t i = 0; i < info->counter_count; i++)
        add_title(machine, info->counters[i].index, texts);
    const struct snapshot_instance *instances = snapshot_instances(snapshot, object);
    for (uint32_t i = 0; i < info->instance_count; i++) {
        const char *full = snapshot_full_name(snapshot, &instances[i]);
        const char *name = snapshot_name(snapshot, &instances[i]);
        if (name > full) {
            buffer_add(texts, full, (size_t)(name - full) - 1);
            buffer_add_byte(texts, '\0');
        }
        buffer_add(texts, name, strlen(name) + 1);
    }
}

static const char *next_text(const char **cursor)
{
    const char *text = *cursor;
    *cursor += strlen(text) + 1;
    return text;
}

static void point_to_texts(struct object_info *info, const struct snapshot_instance *instances)
{
    const char *cursor = info->priv->texts.data;
    info->name = next_text(&cursor);
    for (uint32_t i = 0; i < info->counter_count; i++)
        info->counters[i].name = next_text(&cursor);
    for (uint32_t i = 0; i < info->instance_count; i++) {
        if (instances[i].name != instances[i].full)
            info->instances[i].parent = next_text(&cursor);
        info->instances[i].name = next_text(&cursor);
        info->instances[i].number = instances[i].number;
    }
}

/* ---- from an answer ---- */

/* A base belongs to the counter before it. */
static void take_definition(const opl_counter_view *view, struct counter_info *ret)
{
    opl_type_info type;
    opl_type_describe(view->definition.CounterType, &type);
    ret->index = view->definition.CounterNameTitleIndex;
    ret->help = view->definition.CounterHelpTitleIndex;
    ret->type = view->definition.CounterType;
    ret->detail = view->definition.DetailLevel;
    ret->scale = (LONG)view->definition.DefaultScale;
    ret->hidden = type.is_base;
}

/* A position in practice, a title in the documents. (docs/windows/blocks.md#a2) */
static uint32_t default_counter(const struct object_info *info, const PERF_OBJECT_TYPE *type)
{
    if ((DWORD)type->DefaultCounter < info->counter_count)
        return (uint32_t)type->DefaultCounter;
    for (uint32_t i = 0; i < info->counter_count; i++)
        if (info->counters[i].index == (DWORD)type->DefaultCounter)
            return i;
    return 0;
}

struct object_info *object_info_of_object(struct machine *machine, struct snapshot *snapshot,
                                          const struct snapshot_object *object)
{
    const PERF_OBJECT_TYPE *type = &object->view.type;
    bool single = type->NumInstances == PERF_NO_INSTANCES;
    uint32_t instances = single ? 0 : object->instance_count;
    struct object_info *info = object_info_new(object->counter_count, instances);
    if (!info)
        return NULL;
    info->index = type->ObjectNameTitleIndex;
    info->help = type->ObjectHelpTitleIndex;
    info->detail = type->DetailLevel;
    info->single = single;
    info->counter_count = object->counter_count;
    info->instance_count = instances;
    for (uint32_t i = 0; i < info->counter_count; i++)
        take_definition(&snapshot_counters(snapshot, object)[i], &info->counters[i]);
    info->default_counter = default_counter(info, type);
    info->priv->machine = machine;
    info->priv->tick_frequency = snapshot->block.header.PerfFreq.QuadPart;
    info->priv->object_frequency = type->PerfFreq.QuadPart;
    write_texts(info, machine, snapshot, object);
    if (info->priv->texts.failed) {
        object_info_unref(info);
        return NULL;
    }
    point_to_texts(info, snapshot_instances(snapshot, object));
    return info;
}

/* docs/windows/types.md#b3; counters without a clock count in ticks too. */
LONGLONG object_info_time_base(const struct object_info *info, DWORD type)
{
    enum { TIMER_MASK = 0x00300000 };
    if ((type & TIMER_MASK) == PERF_TIMER_100NS)
        return CLOCK_TICKS_PER_SECOND;
    return (type & TIMER_MASK) == PERF_OBJECT_TIMER ? info->priv->object_frequency
                                                    : info->priv->tick_frequency;
}

/* ---- names that match patterns ---- */

static bool name_fits(const struct object_info *info, uint32_t index, const char *name,
                      enum title_stage stage, const char *pattern)
{
    struct machine *machine = info->priv->machine;
    if (!name[0])
        return false;
    if (stage == STAGE_USER)
        return path_match(pattern, name);
    return machine && machine_title_fits(machine, stage, index, pattern);
}

bool object_info_fits(const struct object_info *info, enum title_stage stage, const char *pattern)
{
    return name_fits(info, info->index, info->name, stage, pattern);
}

bool object_info_counter_fits(const struct object_info *info, const struct counter_info *counter,
                              enum title_stage stage, const char *pattern)
{
    return !counter->hidden && name_fits(info, counter->index, counter->name, stage, pattern);
}

/* ---- counters by name ---- */

static const struct counter_info *counter_named(const struct object_info *info, const char *name)
{
    for (uint32_t i = 0; i < info->counter_count; i++)
        if (!info->counters[i].hidden &&
            (info->priv->machine ? text_equal_fold(info->counters[i].name, name)
                                 : capture_is_named(name, info->counters[i].name)))
            return &info->counters[i];
    return NULL;
}

static const struct counter_info *counter_numbered(const struct object_info *info,
                                                   const uint32_t *numbers, size_t count)
{
    for (uint32_t i = 0; i < info->counter_count; i++)
        for (size_t k = 0; k < count; k++)
            if (!info->counters[i].hidden && info->counters[i].index == numbers[k])
                return &info->counters[i];
    return NULL;
}

const struct counter_info *object_info_find_counter(const struct object_info *info,
                                                    const char *name, bool english)
{
    struct machine *machine = info->priv->machine;
    const struct counter_info *found = NULL;
    if (!machine || !english)
        found = counter_named(info, name);
    enum title_stage last = english ? STAGE_NUMBER : STAGE_OTHERS;
    for (enum title_stage stage = STAGE_ENGLISH; machine && !found && stage <= last; stage++) {
        uint32_t numbers[MOST_NUMBERS];
        found = counter_numbered(info, numbers, machine_numbers(machine, stage, name, numbers));
    }
    return found;
}
