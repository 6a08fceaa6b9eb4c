/* SPDX-License-Identifier: MIT */
/* The whole snapshot as one JSON document: every field of the structures, raw and cooked values. */
#include "pcview.h"
#include "../common/json.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 4096 };

static void json_time(struct json *json, const SYSTEMTIME *time)
{
    char text[64];
    snprintf(text, sizeof text, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", time->wYear, time->wMonth,
             time->wDay, time->wHour, time->wMinute, time->wSecond, time->wMilliseconds);
    json_string(json, "time", text);
}

static void json_block(struct json *json, const struct pcview *view)
{
    char system[256];
    const opl_block *block = &view->now.block;
    const PERF_DATA_BLOCK *header = &block->header;
    opl_block_system_name(block, system, sizeof system);
    json_string(json, "system", system);
    json_time(json, &header->SystemTime);
    json_string(json, "language", view->names.language);
    json_integer(json, "samples", view->has_before ? 2 : 1);
    json_bool(json, "littleEndian", !block->swapped);
    json_integer(json, "version", header->Version);
    json_integer(json, "revision", header->Revision);
    json_integer(json, "totalByteLength", header->TotalByteLength);
    json_integer(json, "headerLength", header->HeaderLength);
    json_integer(json, "numObjectTypes", header->NumObjectTypes);
    json_integer(json, "defaultObject", header->DefaultObject);
    json_integer(json, "perfTime", header->PerfTime.QuadPart);
    json_integer(json, "perfFreq", header->PerfFreq.QuadPart);
    json_integer(json, "perfTime100nSec", header->PerfTime100nSec.QuadPart);
}

static void json_type(struct json *json, const struct view_counter *counter)
{
    const opl_type_info *type = &counter->type;
    json_open_flat(json, "type");
    json_integer(json, "value", counter->now.definition.CounterType);
    json_string(json, "name", type->name);
    json_string(json, "size", type->size_text);
    json_string(json, "type", type->type_text);
    json_string(json, "subtype", type->subtype_text);
    json_string(json, "timer", type->timer_text);
    json_string(json, "display", type->display_text);
    json_string(json, "suffix", type->suffix);
    json_bool(json, "deltaCounter", type->delta_counter);
    json_bool(json, "deltaBase", type->delta_base);
    json_bool(json, "inverse", type->inverse);
    json_bool(json, "multi", type->multi);
    json_bool(json, "isBase", type->is_base);
    json_bool(json, "needsTwoSamples", type->needs_two_samples);
    json_close_flat(json);
}

static void json_counter(struct json *json, struct pcview *view, const struct view_counter *counter)
{
    const PERF_COUNTER_DEFINITION *definition = &counter->now.definition;
    json_open(json, NULL, '{');
    json_integer(json, "index", definition->CounterNameTitleIndex);
    json_string(json, "name", names_title(&view->names, definition->CounterNameTitleIndex));
    json_integer(json, "helpIndex", definition->CounterHelpTitleIndex);
    json_string(json, "help", names_help(&view->names, definition->CounterHelpTitleIndex));
    json_integer(json, "level", definition->DetailLevel);
    json_integer(json, "scale", definition->DefaultScale);
    json_integer(json, "size", definition->CounterSize);
    json_integer(json, "offset", definition->CounterOffset);
    json_type(json, counter);
    json_close(json, '}');
}

static void json_raw(struct json *json, const struct view_value *value)
{
    if (!value->has_raw)
        return;
    json_integer(json, "raw", value->raw.first);
    json_integer(json, "second", value->raw.second);
    json_integer(json, "multiCount", value->raw.multi_count);
    json_integer(json, "timeBase", value->raw.time_base);
}

static void json_value(struct json *json, const struct view_object *object,
                       const struct view_instance *instance, const struct view_counter *counter)
{
    char text[TEXT_SIZE] = "";
    struct view_value value;
    view_value_get(object, instance, counter, &value);
    json_open_flat(json, NULL);
    json_integer(json, "counter", counter->now.definition.CounterNameTitleIndex);
    json_raw(json, &value);
    if (value.state == VIEW_STRING) {
        opl_counter_text(&object->now_snapshot->block, &object->now, &instance->now, &counter->now,
                         text, sizeof text);
        json_string(json, "text", text);
    } else if (value.state == VIEW_NUMBER) {
        json_double(json, "cooked", value.number);
    } else if (*view_value_why(&value)) {
        json_string(json, "why", view_value_why(&value));
    }
    json_close_flat(json);
}

static void json_instance(struct json *json, const struct view_object *object,
                          const struct view_instance *instance)
{
    const PERF_INSTANCE_DEFINITION *definition = &instance->now.definition;
    json_open(json, NULL, '{');
    if (!view_object_single(object)) {
        json_string(json, "name", view_text(object, instance->name));
        json_integer(json, "copy", instance->copy);
        json_integer(json, "uniqueId", definition->UniqueID);
        json_integer(json, "parentObject", definition->ParentObjectTitleIndex);
        json_integer(json, "parentInstance", definition->ParentObjectInstance);
        json_string(json, "parent",
                    instance->has_parent ? view_text(object, instance->parent_name) : NULL);
    }
    json_open(json, "values", '[');
    for (size_t i = 0; i < object->counter_count; i++)
        json_value(json, object, instance, &object->counters[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void json_object_head(struct json *json, struct pcview *view,
                             const struct view_object *object)
{
    const PERF_OBJECT_TYPE *type = &object->now.type;
    json_integer(json, "index", type->ObjectNameTitleIndex);
    json_string(json, "name", names_title(&view->names, type->ObjectNameTitleIndex));
    json_integer(json, "helpIndex", type->ObjectHelpTitleIndex);
    json_string(json, "help", names_help(&view->names, type->ObjectHelpTitleIndex));
    json_integer(json, "level", type->DetailLevel);
    json_integer(json, "totalByteLength", type->TotalByteLength);
    json_integer(json, "definitionLength", type->DefinitionLength);
    json_integer(json, "headerLength", type->HeaderLength);
    json_integer(json, "numCounters", type->NumCounters);
    json_integer(json, "defaultCounter", type->DefaultCounter);
    json_integer(json, "numInstances", type->NumInstances);
    json_integer(json, "codePage", type->CodePage);
    json_integer(json, "perfTime", type->PerfTime.QuadPart);
    json_integer(json, "perfFreq", type->PerfFreq.QuadPart);
}

static void json_object(struct json *json, struct pcview *view, const struct view_object *object,
                        struct requested_object *requested)
{
    json_open(json, NULL, '{');
    json_object_head(json, view, object);
    json_open(json, "counters", '[');
    for (size_t i = 0; i < object->counter_count; i++)
        json_counter(json, view, &object->counters[i]);
    json_close(json, ']');
    json_open(json, "instances", '[');
    for (size_t i = 0; i < object->instance_count; i++)
        if (find_instance(requested, object, &object->instances[i]))
            json_instance(json, object, &object->instances[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void json_damage(struct json *json, const struct view_snapshot *snapshot)
{
    if (snapshot->fault == OPL_BLOCK_GOOD) {
        json_string(json, "damage", NULL);
        return;
    }
    json_open(json, "damage", '{');
    json_string(json, "what", opl_block_fault_text(snapshot->fault));
    json_integer(json, "offset", (int64_t)snapshot->fault_offset);
    json_close(json, '}');
}

static void json_missing(struct json *json, const struct pcview *view)
{
    json_open(json, "missing", '[');
    for (size_t i = 0; i < view->wanted_count; i++)
        if (!view->wanted[i].found)
            json_string(json, NULL, view->wanted[i].text);
    json_close(json, ']');
}

bool json_objects(struct pcview *view)
{
    struct json json = {.out = view->out};
    opl_object_view where = {0};
    bool good = true;
    json_open(&json, NULL, '{');
    json_block(&json, view);
    json_open(&json, "objects", '[');
    while (good && snapshot_next_object(&view->now, &where)) {
        bool all;
        struct view_object object;
        struct requested_object *requested = find_requested(view, &where, &all);
        if (!requested && !all)
            continue;
        good = view_object_load(&object, &view->now, &where,
                                view->has_before ? &view->before : NULL, &view->names);
        if (good)
            json_object(&json, view, &object, requested);
        view_object_done(&object);
    }
    json_close(&json, ']');
    json_missing(&json, view);
    json_damage(&json, &view->now);
    json_close(&json, '}');
    fputc('\n', view->out);
    return good;
}
