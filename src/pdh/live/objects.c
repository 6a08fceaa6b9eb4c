/* SPDX-License-Identifier: MIT */
/* Finds the objects of a machine by name, makes their descriptions from an answer, and lists
 * them. */
#include "pdh/live/machine.h"

#include <openperflib/unstable.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts are appended to one buffer; pointers into it are set when it does not grow any more
 * ---- */

static void add_title(struct machine *machine, uint32_t index, struct buffer *texts)
{
    machine_title(machine, index, texts);
    buffer_add_byte(texts, '\0');
}

static void write_texts(struct object_info *info, struct machine *machine,
                        const struct snapshot *snapshot, const struct snapshot_object *object)
{
    struct buffer *texts = &info->texts;
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
    const char *cursor = info->texts.data;
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

/* Makes a counter's description from its definition. A base counter belongs to the counter before
 * it, and is hidden. */
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

/* Returns the position of the default counter. In real blocks DefaultCounter is a position; by the
 * documents it is a title's index. (docs/windows/blocks.md#a2) */
static uint32_t default_counter(const struct object_info *info, const PERF_OBJECT_TYPE *type)
{
    if ((DWORD)type->DefaultCounter < info->counter_count)
        return (uint32_t)type->DefaultCounter;
    for (uint32_t i = 0; i < info->counter_count; i++)
        if (info->counters[i].index == (DWORD)type->DefaultCounter)
            return i;
    return 0;
}

/* Describes the object in an answer, with the names of its instances if they are wanted. */
static struct object_info *describe(struct machine *machine, struct snapshot *snapshot,
                                    const struct snapshot_object *object, bool names)
{
    const PERF_OBJECT_TYPE *type = &object->view.type;
    bool single = type->NumInstances == PERF_NO_INSTANCES;
    uint32_t instances = single || !names ? 0 : object->instance_count;
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
    info->machine = machine;
    info->tick_frequency = snapshot->block.header.PerfFreq.QuadPart;
    info->object_frequency = type->PerfFreq.QuadPart;
    write_texts(info, machine, snapshot, object);
    if (info->texts.failed) {
        object_info_unref(info);
        return NULL;
    }
    point_to_texts(info, snapshot_instances(snapshot, object));
    return info;
}

/* Types without a clock get the ticks per second of the block. (docs/windows/types.md#b3) */
LONGLONG object_info_time_base(const struct object_info *info, DWORD type)
{
    enum { TIMER_MASK = 0x00300000 };
    if ((type & TIMER_MASK) == PERF_TIMER_100NS)
        return CLOCK_TICKS_PER_SECOND;
    return (type & TIMER_MASK) == PERF_OBJECT_TIMER ? info->object_frequency : info->tick_frequency;
}

/* ---- the names of an object's counters ---- */

bool live_has_title(const struct object_info *info, uint32_t index, enum title_stage stage,
                    const char *pattern)
{
    return machine_title_fits(info->machine, stage, index, pattern);
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

const struct counter_info *live_counter(const struct object_info *info, const char *name,
                                        bool english)
{
    const struct counter_info *found = NULL;
    for (uint32_t i = 0; i < info->counter_count && !english; i++)
        if (!info->counters[i].hidden && text_equal_fold(info->counters[i].name, name))
            return &info->counters[i];
    enum title_stage last = english ? STAGE_NUMBER : STAGE_OTHERS;
    for (enum title_stage stage = STAGE_ENGLISH; !found && stage <= last; stage++) {
        uint32_t numbers[MOST_NUMBERS];
        found =
            counter_numbered(info, numbers, machine_numbers(info->machine, stage, name, numbers));
    }
    return found;
}

/* ---- one object ---- */

/* Writes a query for exactly these objects, such as "2 4". */
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
    if (info && !object_info_is_recent(info)) {
        object_info_unref(info);
        info = NULL;
    }
    return info;
}

/* Queries the objects with these numbers; *ret: the one that the machine has. */
static PDH_STATUS query_object(struct machine *machine, const uint32_t *numbers, size_t count,
                               struct snapshot *snapshot, const struct snapshot_object **ret)
{
    char query[MOST_NUMBERS * 11 + 1] = "";
    query_of(numbers, count, query, sizeof query);
    PDH_STATUS status = machine_query(machine, query, snapshot);
    for (size_t i = 0; !status && !*ret && i < count; i++)
        *ret = snapshot_object(snapshot, numbers[i]);
    return status || *ret ? status : (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
}

static PDH_STATUS request_info(struct machine *machine, const uint32_t *numbers, size_t count,
                               enum info_age age, struct object_info **ret)
{
    struct snapshot snapshot = {0};
    const struct snapshot_object *object = NULL;
    PDH_STATUS status = query_object(machine, numbers, count, &snapshot, &object);
    if (!status) {
        *ret = describe(machine, &snapshot, object, true);
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
    return request_info(machine, numbers, count, age, ret);
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

/* Finds one object. If it is missing, the titles are read again, because it may have been
 * registered meanwhile. */
PDH_STATUS live_object(struct data_source *source, const char *machine_name, const char *name,
                       bool english, enum info_age age, struct object_info **ret)
{
    struct machine *machine;
    PDH_STATUS status = machine_find(machine_name, &machine);
    if (status)
        return status;
    status = find_info_at_any_stage(machine, name, english, age, ret);
    if (status && machine_renew_titles(machine))
        status = find_info_at_any_stage(machine, name, english, age, ret);
    return status;
}

/* ---- text counters ---- */

struct text_values {
    const struct pdh_path *path;
    struct snapshot *snapshot;
    const struct snapshot_object *object;
    opl_text_found found;
    void *context;
    bool any_instance, ended;
};

static void find_texts(struct text_values *search, const opl_counter_view *counter,
                       const char *name)
{
    enum { MOST_BYTES = 4096 };
    char text[MOST_BYTES];
    const struct snapshot_object *object = search->object;
    bool single = object->view.type.NumInstances == PERF_NO_INSTANCES;
    const struct snapshot_instance *instance = snapshot_instances(search->snapshot, object);
    for (uint32_t i = 0; i < object->instance_count && !search->ended; i++, instance++) {
        const char *full = single ? "" : snapshot_full_name(search->snapshot, instance);
        if (!single && !path_match_full(search->path, full, instance->number))
            continue;
        search->any_instance = true;
        if (opl_counter_text(&search->snapshot->block, &object->view, &instance->view, counter,
                             text, sizeof text))
            search->ended = !search->found(search->context, full, name, text);
    }
}

/* Finds the counters of the description that match and are texts in the answer. */
static PDH_STATUS find_text_counters(struct text_values *search, const struct object_info *info)
{
    const opl_counter_view *views = snapshot_counters(search->snapshot, search->object);
    const struct counter_info *named = live_counter(info, search->path->counter, false);
    PDH_STATUS status = (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
    for (uint32_t i = 0; i < search->object->counter_count; i++)
        for (uint32_t k = 0; k < info->counter_count; k++) {
            const struct counter_info *one = &info->counters[k];
            if (views[i].definition.CounterNameTitleIndex != one->index ||
                !type_is_text(views[i].definition.CounterType) ||
                (one != named && !text_match(search->path->counter, one->name)))
                continue;
            status = 0;
            find_texts(search, &views[i], one->name);
        }
    return status || search->any_instance ? status : (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE;
}

/* Queries the object with this name in any language. */
static PDH_STATUS query_named(struct machine *machine, const char *name, struct snapshot *snapshot,
                              const struct snapshot_object **ret)
{
    PDH_STATUS status = (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    for (enum title_stage stage = STAGE_USER; status && stage <= STAGE_OTHERS; stage++) {
        uint32_t numbers[MOST_NUMBERS];
        size_t count = machine_numbers(machine, stage, name, numbers);
        if (count)
            status = query_object(machine, numbers, count, snapshot, ret);
    }
    return status;
}

int32_t opl_text_values(const char *text, opl_text_found found, void *context)
{
    PATH_AUTO path = {0};
    OBJECT_INFO_AUTO *info = NULL;
    struct machine *machine = NULL;
    struct snapshot snapshot = {0};
    struct text_values search = {&path, &snapshot, NULL, found, context, false, false};
    if (!text || !found)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = path_parse(text, &path);
    if (!status)
        status = machine_find(path.machine, &machine);
    if (status)
        return status;
    status = query_named(machine, path.object, &snapshot, &search.object);
    if (status && machine_renew_titles(machine)) /* it may have been registered meanwhile */
        status = query_named(machine, path.object, &snapshot, &search.object);
    if (!status && !(info = describe(machine, &snapshot, search.object, false)))
        status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (!status)
        status = find_text_counters(&search, info);
    snapshot_done(&snapshot);
    return status;
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
    PDH_STATUS status = machine_query(machine, query, &snapshot);
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
        struct object_info *info = describe(machine, &snapshot, object, true);
        if (!info)
            status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        else {
            info->listed = true;
            info->costly = text_equal_fold(query, "Costly");
            ret->items[ret->count++] = info;
        }
    }
    snapshot_done(&snapshot);
    return status;
}

PDH_STATUS live_objects(struct data_source *source, const char *machine_name, enum info_age age,
                        struct object_infos *ret)
{
    struct machine *machine;
    PDH_STATUS status = machine_find(machine_name, &machine);
    if (status || (age == INFO_STABLE && machine_list_objects(machine, ret)))
        return status;
    machine_renew_titles(machine);
    status = add_infos(machine, "Global", ret);
    PDH_STATUS costly = status ? status : add_infos(machine, "Costly", ret);
    /* ignored: a machine may have no costly objects (unmodified Samba returns error 2 for this
     * query) */
    if (costly != (PDH_STATUS)PDH_NO_DATA)
        status = costly;
    if (!status)
        machine_put_list(machine, ret);
    return status;
}

/* ---- machines and titles ---- */

PDH_STATUS connect_machine(const char *machine_name)
{
    struct machine *machine;
    return machine_find(machine_name, &machine);
}

PDH_STATUS lookup_name(const char *machine_name, DWORD index, struct buffer *ret)
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

static bool first_number(struct machine *machine, const char *title, DWORD *ret)
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

PDH_STATUS lookup_index(const char *machine_name, const char *title, DWORD *ret)
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

void live_explain(const char *machine_name, uint32_t help, struct buffer *ret)
{
    struct machine *machine;
    if (!machine_find(machine_name, &machine))
        machine_explain(machine, help, ret);
}

bool live_is_numbered(const char *name, uint32_t number)
{
    uint32_t numbers[MOST_NUMBERS];
    struct machine *machine;
    if (machine_find(NULL, &machine))
        return false;
    for (enum title_stage stage = STAGE_USER; stage < STAGES; stage++) {
        size_t count = stage == STAGE_NUMBER ? 0 : machine_numbers(machine, stage, name, numbers);
        for (size_t i = 0; i < count; i++)
            if (numbers[i] == number)
                return true;
    }
    return false;
}
