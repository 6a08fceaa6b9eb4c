/* SPDX-License-Identifier: MIT */
/*
 * What a capture offers: its columns by object. Columns that stand for many instances, or for whole
 * blocks, are looked at in the first samples.
 */
#include "pdh/capture.h"

#include <stdlib.h>
#include <string.h>

/* ---- names, each once ---- */

struct names {
    struct item_set set;
    struct names_more {
        DWORD type;
        LONG scale;
        bool has_parent;
    } * more; /* of each item */
    uint32_t more_room;
};

static void names_done(struct names *names)
{
    item_set_done(&names->set);
    free(names->more);
}

/* False: no memory. */
static bool names_add(struct names *names, const char *name, uint32_t number,
                      struct names_more more)
{
    const struct sample none = {0};
    size_t length = strlen(name);
    const struct instance_key key = {name, length, picture_hash(name, length), number};
    if (item_find_key(&names->set, &key, UINT32_MAX))
        return true;
    if (names->set.count == names->more_room) {
        uint32_t room = names->more_room ? names->more_room * 2 : 16;
        struct names_more *grown = reallocarray(names->more, room, sizeof *grown);
        if (!grown)
            return false;
        names->more = grown;
        names->more_room = room;
    }
    names->more[names->set.count] = more;
    return item_add(&names->set, &key, &none);
}

/* ---- one object's names ---- */

struct gathering {
    struct reading *reading;
    const char *machine, *object;
    struct names counters, instances;
    bool has_instances, open; /* open: samples tell more */
};

static void gathering_done(struct gathering *gathering)
{
    names_done(&gathering->counters);
    names_done(&gathering->instances);
}

static const char *without_slashes(const char *name)
{
    return strncmp(name, "\\\\", 2) ? name : name + 2;
}

static bool is_of(const struct gathering *gathering, const struct log_column *column)
{
    bool machine = !gathering->machine ||
                   (column->machine && text_equal_fold(without_slashes(gathering->machine),
                                                       without_slashes(column->machine)));
    return machine && column->object && text_equal_fold(column->object, gathering->object);
}

static bool add_instance(struct gathering *gathering, const char *parent, const char *name,
                         uint32_t number)
{
    BUFFER_AUTO full = {0};
    buffer_printf(&full, "%s%s%s", parent ? parent : "", parent ? "/" : "", name);
    return !full.failed && names_add(&gathering->instances, full.data, number,
                                     (struct names_more){.has_parent = parent});
}

static bool gather_column(struct gathering *gathering, const struct log_column *column)
{
    bool any = column->instance && !strcmp(column->instance, "*");
    struct names_more more = {column->kind == LOG_COOKED ? TYPE_DOUBLE : column->type,
                              column->scale, false};
    gathering->has_instances |= column->instance != NULL;
    gathering->open |= any || column->kind == LOG_BLOCK;
    if (column->counter && strcmp(column->counter, "*") != 0 &&
        !names_add(&gathering->counters, column->counter, 0, more))
        return false;
    return !column->instance || any ||
           add_instance(gathering, column->parent, column->instance, column->index);
}

/* ---- what samples tell ---- */

static bool gather_items(struct gathering *gathering, const struct log_value *value)
{
    struct names here = {0};
    bool good = true;
    gathering->has_instances = true;
    for (size_t i = 0; good && i < value->count; i++) {
        const char *name = value->items[i].name;
        uint32_t number =
            item_set_number(&here.set, name, strlen(name), picture_hash(name, strlen(name)));
        struct names_more more = {.has_parent = strchr(name, '/')};
        good = names_add(&here, name, number, more) &&
               names_add(&gathering->instances, name, number, more);
    }
    names_done(&here);
    return good;
}

static bool gather_object(struct gathering *gathering, const char *machine,
                          const struct picture *picture, const struct picture_object *object)
{
    struct log *log = gathering->reading->log;
    const opl_counter_view *views = picture_counters(picture, object);
    const struct picture_instance *instances = picture_instances(picture, object);
    bool single = object->view.type.NumInstances == PERF_NO_INSTANCES;
    for (uint32_t i = 0; i < object->counter_count; i++) {
        opl_type_info type;
        const char *name = log_name(log, machine, views[i].definition.CounterNameTitleIndex);
        opl_type_describe(views[i].definition.CounterType, &type);
        struct names_more more = {views[i].definition.CounterType,
                                  (LONG)views[i].definition.DefaultScale, false};
        if (name && !type.is_base && !names_add(&gathering->counters, name, 0, more))
            return false;
    }
    gathering->has_instances |= !single;
    for (uint32_t i = 0; !single && i < object->instance_count; i++) {
        struct names_more more = {.has_parent = instances[i].name != instances[i].full};
        if (!names_add(&gathering->instances, picture_full_name(picture, &instances[i]),
                       instances[i].number, more))
            return false;
    }
    return true;
}

static bool gather_block(struct gathering *gathering, size_t column, const struct log_value *value)
{
    struct picture *picture = reading_block(gathering->reading, column, value);
    const char *machine = log_column(gathering->reading->log, column)->machine;
    for (uint32_t i = 0; picture && i < picture->object_count; i++) {
        DWORD index = picture->objects[i].view.type.ObjectNameTitleIndex;
        const char *name = log_name(gathering->reading->log, machine, index);
        if (name && text_equal_fold(name, gathering->object) &&
            !gather_object(gathering, machine, picture, &picture->objects[i]))
            return false;
    }
    return true;
}

/* Processes come and go; the beginning of a capture stands for all of it. */
static bool gather_samples(struct gathering *gathering)
{
    enum { SAMPLES_LOOKED_AT = 20 };
    struct reading *reading = gathering->reading;
    const struct log_sample *sample;
    bool good = true;
    if (log_rewind(reading->log))
        return true;
    for (int i = 0; good && i < SAMPLES_LOOKED_AT && !log_next(reading->log, &sample); i++) {
        reading->samples++;
        for (size_t k = 0; good && k < log_columns(reading->log); k++) {
            const struct log_value *value = &sample->values[k];
            if (value->status || !is_of(gathering, log_column(reading->log, k)))
                continue;
            if (value->kind == LOG_ARRAY)
                good = gather_items(gathering, value);
            else if (value->kind == LOG_BLOCK)
                good = gather_block(gathering, k, value);
        }
    }
    return good;
}

/* ---- an offer of it ---- */

static void point_to(struct offer *offer, const struct gathering *from)
{
    char *texts = offer->inside->texts.data;
    offer->name = texts;
    char *counters = texts + strlen(texts) + 1;
    char *instances = counters + from->counters.set.names.len;
    for (uint32_t i = 0; i < offer->counter_count; i++) {
        offer->counters[i].name = counters + from->counters.set.items[i].name;
        offer->counters[i].type = from->counters.more[i].type;
        offer->counters[i].scale = from->counters.more[i].scale;
        offer->counters[i].detail = PERF_DETAIL_NOVICE;
    }
    for (uint32_t i = 0; i < offer->instance_count; i++) {
        char *full = instances + from->instances.set.items[i].name, *slash = strchr(full, '/');
        bool parted = from->instances.more[i].has_parent && slash;
        offer->instances[i].name = parted ? slash + 1 : full;
        offer->instances[i].parent = parted ? full : NULL;
        offer->instances[i].number = from->instances.set.items[i].number;
        if (parted)
            *slash = '\0';
    }
}

static struct offer *offer_of(const struct gathering *from)
{
    struct offer *offer = offer_new(from->counters.set.count, from->instances.set.count);
    if (!offer)
        return NULL;
    struct buffer *texts = &offer->inside->texts;
    buffer_add(texts, from->object, strlen(from->object) + 1);
    buffer_add(texts, from->counters.set.names.data, from->counters.set.names.len);
    buffer_add(texts, from->instances.set.names.data, from->instances.set.names.len);
    if (texts->failed) {
        offer_release(offer);
        return NULL;
    }
    offer->detail = PERF_DETAIL_NOVICE;
    offer->single = !from->has_instances;
    offer->counter_count = from->counters.set.count;
    offer->instance_count = from->instances.set.count;
    point_to(offer, from);
    return offer;
}

/* *ret NULL: no column has this object. */
static PDH_STATUS gather(struct reading *reading, const char *machine, const char *object,
                         struct offer **ret)
{
    struct gathering gathering = {.reading = reading, .machine = machine, .object = object};
    bool good = true, found = false;
    for (size_t i = 0; good && i < log_columns(reading->log); i++) {
        const struct log_column *column = log_column(reading->log, i);
        if (!is_of(&gathering, column))
            continue;
        found = true;
        good = gather_column(&gathering, column);
    }
    if (good && gathering.open)
        good = gather_samples(&gathering);
    *ret = good && found ? offer_of(&gathering) : NULL;
    gathering_done(&gathering);
    return good && (!found || *ret) ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

/* ---- doors ---- */

PDH_STATUS capture_offer(struct pdh_from from, const char *machine, const char *object,
                         struct offer **ret)
{
    struct reading *reading;
    PDH_STATUS status = reading_borrow(from, &reading);
    if (status)
        return status;
    status = gather(reading, machine, object, ret);
    reading_close(reading);
    return status || *ret ? status : (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
}

static PDH_STATUS add_offer(struct reading *reading, const char *machine, const char *object,
                            struct offers *ret)
{
    struct offer **items = reallocarray(ret->items, ret->count + 1, sizeof *items);
    if (!items)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    ret->items = items;
    PDH_STATUS status = gather(reading, machine, object, &items[ret->count]);
    if (!status && items[ret->count])
        ret->count++;
    return status;
}

PDH_STATUS capture_offers(struct pdh_from from, const char *machine, struct offers *ret)
{
    struct names objects = {0};
    struct reading *reading;
    PDH_STATUS status = reading_borrow(from, &reading);
    if (status)
        return status;
    for (size_t i = 0; !status && i < log_columns(reading->log); i++) {
        const struct log_column *column = log_column(reading->log, i);
        if (column->object && strcmp(column->object, "*") != 0 &&
            !names_add(&objects, column->object, 0, (struct names_more){0}))
            status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    for (uint32_t i = 0; !status && i < objects.set.count; i++)
        status =
            add_offer(reading, machine, objects.set.names.data + objects.set.items[i].name, ret);
    names_done(&objects);
    reading_close(reading);
    return status;
}

PDH_STATUS capture_machines(struct pdh_from from, struct buffer *ret)
{
    struct names machines = {0};
    struct reading *reading;
    PDH_STATUS status = reading_borrow(from, &reading);
    if (status)
        return status;
    for (size_t i = 0; !status && i < log_columns(reading->log); i++) {
        const char *machine = log_column(reading->log, i)->machine;
        if (machine && !names_add(&machines, machine, 0, (struct names_more){0}))
            status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    buffer_add(ret, machines.set.names.data, machines.set.names.len);
    names_done(&machines);
    reading_close(reading);
    return status;
}

/* The machine as its columns spell it; without a name the first one's. */
PDH_STATUS capture_label(struct pdh_from from, const char *machine, struct buffer *ret)
{
    struct reading *reading;
    PDH_STATUS status = reading_borrow(from, &reading);
    if (status)
        return status;
    status = machine ? (PDH_STATUS)PDH_CSTATUS_NO_MACHINE : 0;
    for (size_t i = 0; i < log_columns(reading->log); i++) {
        const char *label = log_column(reading->log, i)->machine;
        if (!label ||
            (machine && !text_equal_fold(without_slashes(machine), without_slashes(label))))
            continue;
        buffer_add_text(ret, label);
        status = 0;
        break;
    }
    reading_close(reading);
    return status;
}
