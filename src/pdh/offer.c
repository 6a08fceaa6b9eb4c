/* SPDX-License-Identifier: MIT */
/* Object descriptions: an object of an answer copied with its names, for lists and for finding
 * counters. */
#include "pdh/capture.h"
#include "pdh/machine.h"

#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

struct offer *offer_take(struct offer *offer)
{
    __atomic_add_fetch(&offer->inside->references, 1, __ATOMIC_RELAXED);
    return offer;
}

void offer_release(struct offer *offer)
{
    if (!offer || __atomic_sub_fetch(&offer->inside->references, 1, __ATOMIC_ACQ_REL))
        return;
    buffer_done(&offer->inside->texts);
    free(offer->counters);
    free(offer->instances);
    free(offer->inside);
    free(offer);
}

void offers_done(struct offers *offers)
{
    for (size_t i = 0; i < offers->count; i++)
        offer_release(offers->items[i]);
    free(offers->items);
    *offers = (struct offers){0};
}

struct offer *offer_new(uint32_t counters, uint32_t instances)
{
    struct offer *offer = calloc(1, sizeof *offer);
    if (!offer)
        return NULL;
    offer->inside = calloc(1, sizeof *offer->inside);
    offer->counters = calloc(counters + 1, sizeof *offer->counters);
    offer->instances = calloc(instances + 1, sizeof *offer->instances);
    if (!offer->inside || !offer->counters || !offer->instances) {
        free(offer->inside);
        free(offer->counters);
        free(offer->instances);
        free(offer);
        return NULL;
    }
    offer->inside->references = 1;
    offer->inside->taken_ticks = clock_ticks();
    return offer;
}

/* ---- texts: appended to one buffer; pointers are set when it no longer moves ---- */

static void add_title(struct machine *machine, uint32_t index, struct buffer *texts)
{
    machine_title(machine, index, texts);
    buffer_add_byte(texts, '\0');
}

static void write_texts(struct offer *offer, struct machine *machine, const struct picture *picture,
                        const struct picture_object *object)
{
    struct buffer *texts = &offer->inside->texts;
    add_title(machine, offer->index, texts);
    for (uint32_t i = 0; i < offer->counter_count; i++)
        add_title(machine, offer->counters[i].index, texts);
    const struct picture_instance *instances = picture_instances(picture, object);
    for (uint32_t i = 0; i < offer->instance_count; i++) {
        const char *full = picture_full_name(picture, &instances[i]);
        const char *name = picture_name(picture, &instances[i]);
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

static void point_to_texts(struct offer *offer, const struct picture_instance *instances)
{
    const char *cursor = offer->inside->texts.data;
    offer->name = next_text(&cursor);
    for (uint32_t i = 0; i < offer->counter_count; i++)
        offer->counters[i].name = next_text(&cursor);
    for (uint32_t i = 0; i < offer->instance_count; i++) {
        if (instances[i].name != instances[i].full)
            offer->instances[i].parent = next_text(&cursor);
        offer->instances[i].name = next_text(&cursor);
        offer->instances[i].number = instances[i].number;
    }
}

/* ---- from an answer ---- */

/* A base belongs to the counter before it. */
static void take_definition(const opl_counter_view *view, struct offer_counter *ret)
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
static uint32_t default_counter(const struct offer *offer, const PERF_OBJECT_TYPE *type)
{
    if ((DWORD)type->DefaultCounter < offer->counter_count)
        return (uint32_t)type->DefaultCounter;
    for (uint32_t i = 0; i < offer->counter_count; i++)
        if (offer->counters[i].index == (DWORD)type->DefaultCounter)
            return i;
    return 0;
}

struct offer *offer_of_object(struct machine *machine, struct picture *picture,
                              const struct picture_object *object)
{
    const PERF_OBJECT_TYPE *type = &object->view.type;
    bool single = type->NumInstances == PERF_NO_INSTANCES;
    uint32_t instances = single ? 0 : object->instance_count;
    struct offer *offer = offer_new(object->counter_count, instances);
    if (!offer)
        return NULL;
    offer->index = type->ObjectNameTitleIndex;
    offer->help = type->ObjectHelpTitleIndex;
    offer->detail = type->DetailLevel;
    offer->single = single;
    offer->counter_count = object->counter_count;
    offer->instance_count = instances;
    for (uint32_t i = 0; i < offer->counter_count; i++)
        take_definition(&picture_counters(picture, object)[i], &offer->counters[i]);
    offer->default_counter = default_counter(offer, type);
    offer->inside->machine = machine;
    offer->inside->tick_frequency = picture->block.header.PerfFreq.QuadPart;
    offer->inside->object_frequency = type->PerfFreq.QuadPart;
    write_texts(offer, machine, picture, object);
    if (offer->inside->texts.failed) {
        offer_release(offer);
        return NULL;
    }
    point_to_texts(offer, picture_instances(picture, object));
    return offer;
}

/* docs/windows/types.md#b3; counters without a clock count in ticks too. */
LONGLONG offer_time_base(const struct offer *offer, DWORD type)
{
    enum { TIMER_MASK = 0x00300000 };
    if ((type & TIMER_MASK) == PERF_TIMER_100NS)
        return CLOCK_TICKS_PER_SECOND;
    return (type & TIMER_MASK) == PERF_OBJECT_TIMER ? offer->inside->object_frequency
                                                    : offer->inside->tick_frequency;
}

/* ---- names that match patterns ---- */

static bool name_fits(const struct offer *offer, uint32_t index, const char *name,
                      enum title_stage stage, const char *pattern)
{
    struct machine *machine = offer->inside->machine;
    if (!name[0])
        return false;
    if (stage == STAGE_USER)
        return path_match(pattern, name);
    return machine && machine_title_fits(machine, stage, index, pattern);
}

bool offer_fits(const struct offer *offer, enum title_stage stage, const char *pattern)
{
    return name_fits(offer, offer->index, offer->name, stage, pattern);
}

bool offer_counter_fits(const struct offer *offer, const struct offer_counter *counter,
                        enum title_stage stage, const char *pattern)
{
    return !counter->hidden && name_fits(offer, counter->index, counter->name, stage, pattern);
}

/* ---- counters by name ---- */

static const struct offer_counter *counter_named(const struct offer *offer, const char *name)
{
    for (uint32_t i = 0; i < offer->counter_count; i++)
        if (!offer->counters[i].hidden &&
            (offer->inside->machine ? text_equal_fold(offer->counters[i].name, name)
                                    : capture_is_named(name, offer->counters[i].name)))
            return &offer->counters[i];
    return NULL;
}

static const struct offer_counter *counter_numbered(const struct offer *offer,
                                                    const uint32_t *numbers, size_t count)
{
    for (uint32_t i = 0; i < offer->counter_count; i++)
        for (size_t k = 0; k < count; k++)
            if (!offer->counters[i].hidden && offer->counters[i].index == numbers[k])
                return &offer->counters[i];
    return NULL;
}

const struct offer_counter *offer_find_counter(const struct offer *offer, const char *name,
                                               bool english)
{
    struct machine *machine = offer->inside->machine;
    const struct offer_counter *found = NULL;
    if (!machine || !english)
        found = counter_named(offer, name);
    enum title_stage last = english ? STAGE_NUMBER : STAGE_OTHERS;
    for (enum title_stage stage = STAGE_ENGLISH; machine && !found && stage <= last; stage++) {
        uint32_t numbers[MOST_NUMBERS];
        found = counter_numbered(offer, numbers, machine_numbers(machine, stage, name, numbers));
    }
    return found;
}
