/* SPDX-License-Identifier: MIT */
/* Calls each function of block.h for everything in a block. Aborts if a function returns bytes
 * outside the block, or a text without a terminator. */
#include "everything.h"

#include <stdlib.h>
#include <string.h>

static void demand(bool promise)
{
    if (!promise)
        abort();
}

/* Checks that a text is terminated, and valid up to the given capacity; returns `needed`. */
static size_t checked_text(const char *text, size_t needed, size_t capacity)
{
    demand(memchr(text, '\0', capacity) != NULL);
    demand(needed > capacity || strlen(text) <= needed - 1);
    return needed;
}

static void walk_value(opl_block *block, const opl_object_view *object,
                       const opl_instance_view *instance, const opl_counter_view *counter,
                       struct everything *ret)
{
    char text[32];
    uint64_t number;
    opl_sample sample;
    const unsigned char *data = opl_counter_data(block, instance, counter);
    if (data) {
        demand(data >= block->data && data <= block->data + block->size &&
               counter->definition.CounterSize <= (size_t)(block->data + block->size - data));
    }
    ret->values += opl_counter_number(block, instance, counter, &number);
    ret->samples += opl_counter_sample(block, object, instance, counter, &sample);
    size_t needed = opl_counter_text(block, object, instance, counter, text, sizeof(text));
    if (needed > 0) {
        checked_text(text, needed, sizeof(text));
        ret->texts++;
    }
}

static void walk_instances(opl_block *block, const opl_object_view *object, struct everything *ret)
{
    opl_instance_view instance = {0}, parent;
    opl_object_view parent_object;
    char name[32];
    while (opl_object_next_instance(block, object, &instance)) {
        opl_counter_view counter = {0};
        demand(instance.end <= object->offset + object->type.TotalByteLength);
        ret->instances++;
        ret->name_bytes += checked_text(
            name, opl_instance_name(block, object, &instance, name, sizeof(name)), sizeof(name));
        ret->parents += opl_instance_parent(block, &instance, &parent_object, &parent);
        while (opl_object_next_counter(block, object, &counter))
            walk_value(block, object, &instance, &counter, ret);
    }
}

static void walk_object(opl_block *block, const opl_object_view *object, struct everything *ret)
{
    opl_counter_view counter = {0};
    opl_type_info info;
    demand(object->offset + object->type.TotalByteLength <= block->size);
    ret->objects++;
    while (opl_object_next_counter(block, object, &counter)) {
        opl_type_describe(counter.definition.CounterType, &info);
        demand(info.size_text && info.type_text && info.subtype_text && info.timer_text &&
               info.display_text && info.suffix);
        ret->counters++;
    }
    walk_instances(block, object, ret);
}

void walk_everything(const void *data, size_t size, struct everything *ret)
{
    opl_block block;
    opl_object_view object = {0};
    char name[32];
    *ret = (struct everything){0};
    opl_block_init(&block, data, size);
    demand(block.size <= size);
    ret->name_bytes +=
        checked_text(name, opl_block_system_name(&block, name, sizeof(name)), sizeof(name));
    while (opl_block_next_object(&block, &object))
        walk_object(&block, &object, ret);
    ret->fault = block.fault;
    demand(opl_block_fault_text(block.fault) != NULL);
}
