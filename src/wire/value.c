/* SPDX-License-Identifier: MIT */
/*
 * The values in a counter block: as a number, as a text, and as the sample that PDH would store,
 * which is the value together with the clock or base that its type requires
 * (docs/windows/types.md#b3).
 */
#include "wire/inner.h"

#include <byteswap.h>
#include <string.h>

enum { TICKS_OF_100NS = 10000000 };

const void *opl_counter_data(const opl_block *block, const opl_instance_view *instance,
                             const opl_counter_view *counter)
{
    size_t offset = counter->definition.CounterOffset, size = counter->definition.CounterSize;
    if (offset > instance->counters_size || size > instance->counters_size - offset)
        return NULL;
    return block->data + instance->counters + offset;
}

static DWORD load_dword(const opl_block *block, const unsigned char *at)
{
    DWORD value;
    memcpy(&value, at, sizeof(value));
    return block->swapped ? bswap_32(value) : value;
}

static uint64_t load_large(const opl_block *block, const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return block->swapped ? bswap_64(value) : value;
}

static bool is_text(const opl_counter_view *counter)
{
    return (counter->definition.CounterType & TYPE_KIND_MASK) == PERF_TYPE_TEXT;
}

bool opl_counter_number(const opl_block *block, const opl_instance_view *instance,
                        const opl_counter_view *counter, uint64_t *ret)
{
    const void *data = opl_counter_data(block, instance, counter);
    if (!data || is_text(counter))
        return false;
    switch (counter->definition.CounterSize) {
    case 4:
        *ret = load_dword(block, data);
        return true;
    case 8:
        *ret = load_large(block, data);
        return true;
    default:
        return false;
    }
}

/* Decodes a text of subtype ASCII by the object's code page; if it has none, the text is taken as
 * UTF-8. */
static void decode_text(const opl_block *block, const opl_object_view *object,
                        const PERF_COUNTER_DEFINITION *definition, const void *data,
                        struct text_sink *sink)
{
    enum { CODE_PAGE_UTF8 = 65001 };
    DWORD code_page = object->type.CodePage ? object->type.CodePage : CODE_PAGE_UTF8;
    if ((definition->CounterType & TYPE_SUBTYPE_MASK) == PERF_TEXT_UNICODE)
        text_decode_utf16(data, definition->CounterSize, block->swapped, sink);
    else
        text_decode_codepage(code_page, data, definition->CounterSize, sink);
}

size_t opl_counter_text(const opl_block *block, const opl_object_view *object,
                        const opl_instance_view *instance, const opl_counter_view *counter,
                        char *out, size_t capacity)
{
    struct text_sink sink = {out, capacity, 0};
    const void *data = opl_counter_data(block, instance, counter);
    if (!data || !is_text(counter))
        return 0;
    decode_text(block, object, &counter->definition, data, &sink);
    return sink_end_text(&sink);
}

/* ---- samples ---- */

/* Returns the ticks per second of the clock that the type uses; for a type without a clock, those
 * of the block. */
static int64_t time_base(const opl_block *block, const opl_object_view *object, uint32_t type)
{
    switch (type & TYPE_TIMER_MASK) {
    case PERF_TIMER_100NS:
        return TICKS_OF_100NS;
    case PERF_OBJECT_TIMER:
        return object->type.PerfFreq.QuadPart;
    default:
        return block->header.PerfFreq.QuadPart;
    }
}

/* Reads the base from the next counter definition, if that is a base. False: the base's value is
 * damaged; a missing base is not an error here. */
static bool take_base(opl_block *block, const opl_object_view *object,
                      const opl_instance_view *instance, const opl_counter_view *counter,
                      opl_sample *sample)
{
    opl_counter_view base = *counter;
    uint64_t value;
    if (!opl_object_next_counter(block, object, &base))
        return true;
    const struct type_row *row = type_find(base.definition.CounterType);
    if (!row || !row->is_base)
        return true;
    if (!opl_counter_number(block, instance, &base, &value))
        return false;
    sample->has_base = true;
    sample->second = (int64_t)value;
    return true;
}

static bool take_second(opl_block *block, const opl_object_view *object,
                        const opl_instance_view *instance, const opl_counter_view *counter,
                        enum second_value second, opl_sample *sample)
{
    switch (second) {
    case SECOND_TICKS:
        sample->second = block->header.PerfTime.QuadPart;
        return true;
    case SECOND_100NS:
        sample->second = block->header.PerfTime100nSec.QuadPart;
        return true;
    case SECOND_OBJECT:
        sample->second = object->type.PerfTime.QuadPart;
        return true;
    case SECOND_BASE:
        return take_base(block, object, instance, counter, sample);
    default:
        return true;
    }
}

/* For multi timers: reads the count, which is the DWORD right after the value. If the timer counts
 * ticks, the sample's value is multiplied by the frequency. False: the count is outside of the
 * counter block. */
static bool take_count(const opl_block *block, const opl_instance_view *instance,
                       const opl_counter_view *counter, opl_sample *sample)
{
    size_t offset = (size_t)counter->definition.CounterOffset + counter->definition.CounterSize;
    if (instance->counters_size - offset < sizeof(DWORD))
        return false;
    sample->multi_count = load_dword(block, block->data + instance->counters + offset);
    if ((sample->type & TYPE_TIMER_MASK) == PERF_TIMER_TICK)
        sample->first =
            (int64_t)((uint64_t)sample->first * (uint64_t)block->header.PerfFreq.QuadPart);
    return true;
}

bool opl_counter_sample(opl_block *block, const opl_object_view *object,
                        const opl_instance_view *instance, const opl_counter_view *counter,
                        opl_sample *ret)
{
    DWORD type = counter->definition.CounterType;
    const struct type_row *row = type_find(type);
    uint64_t value;
    if (!opl_counter_number(block, instance, counter, &value))
        return false;
    opl_sample sample = {.type = type, .first = (int64_t)value, .multi_count = 1};
    sample.time_base = time_base(block, object, type);
    if (row && !take_second(block, object, instance, counter, row->second, &sample))
        return false;
    if (row && !row->is_base && (type & PERF_MULTI_COUNTER) &&
        !take_count(block, instance, counter, &sample))
        return false;
    *ret = sample;
    return true;
}
