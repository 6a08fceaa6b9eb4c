/* SPDX-License-Identifier: MIT */
/*
 * The counter types: one row per named type, and the bit fields of any type as text.
 *
 * The fields are enumerations, not flags: each is masked first and then compared
 * (docs/windows/articles.md#c15, docs/windows/types.md#b1). The clock or base that belongs to a
 * value comes from the row, because the bits alone do not determine it (docs/windows/types.md#b3).
 */
#include "wire/inner.h"

#include <byteswap.h>
#include <string.h>

/* clang-format off */
static const struct type_row types[] = {
    /* name                                type        size second         two    base   suffix */
    { "PERF_COUNTER_COUNTER",                0x10410400, 4, SECOND_TICKS,  true,  false, "/sec" },
    { "PERF_COUNTER_BULK_COUNT",             0x10410500, 8, SECOND_TICKS,  true,  false, "/sec" },
    { "PERF_SAMPLE_COUNTER",                 0x00410400, 4, SECOND_TICKS,  true,  false, "" },
    { "PERF_COUNTER_TIMER",                  0x20410500, 8, SECOND_TICKS,  true,  false, "%" },
    { "PERF_COUNTER_TIMER_INV",              0x21410500, 8, SECOND_TICKS,  true,  false, "%" },
    { "PERF_100NSEC_TIMER",                  0x20510500, 8, SECOND_100NS,  true,  false, "%" },
    { "PERF_100NSEC_TIMER_INV",              0x21510500, 8, SECOND_100NS,  true,  false, "%" },
    { "PERF_OBJ_TIME_TIMER",                 0x20610500, 8, SECOND_OBJECT, true,  false, "%" },
    { "PERF_COUNTER_MULTI_TIMER",            0x22410500, 8, SECOND_TICKS,  true,  false, "%" },
    { "PERF_COUNTER_MULTI_TIMER_INV",        0x23410500, 8, SECOND_TICKS,  true,  false, "%" },
    { "PERF_100NSEC_MULTI_TIMER",            0x22510500, 8, SECOND_100NS,  true,  false, "%" },
    { "PERF_100NSEC_MULTI_TIMER_INV",        0x23510500, 8, SECOND_100NS,  true,  false, "%" },
    { "PERF_COUNTER_MULTI_BASE",             0x42030500, 8, SECOND_NONE,   false, true,  "" },
    { "PERF_COUNTER_QUEUELEN_TYPE",          0x00450400, 4, SECOND_TICKS,  true,  false, "" },
    { "PERF_COUNTER_LARGE_QUEUELEN_TYPE",    0x00450500, 8, SECOND_TICKS,  true,  false, "" },
    { "PERF_COUNTER_100NS_QUEUELEN_TYPE",    0x00550500, 8, SECOND_100NS,  true,  false, "" },
    { "PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE", 0x00650500, 8, SECOND_OBJECT, true,  false, "" },
    { "PERF_COUNTER_RAWCOUNT",               0x00010000, 4, SECOND_NONE,   false, false, "" },
    { "PERF_COUNTER_LARGE_RAWCOUNT",         0x00010100, 8, SECOND_NONE,   false, false, "" },
    { "PERF_COUNTER_RAWCOUNT_HEX",           0x00000000, 4, SECOND_NONE,   false, false, "" },
    { "PERF_COUNTER_LARGE_RAWCOUNT_HEX",     0x00000100, 8, SECOND_NONE,   false, false, "" },
    { "PERF_COUNTER_DELTA",                  0x00400400, 4, SECOND_NONE,   true,  false, "" },
    { "PERF_COUNTER_LARGE_DELTA",            0x00400500, 8, SECOND_NONE,   true,  false, "" },
    { "PERF_SAMPLE_FRACTION",                0x20C20400, 4, SECOND_BASE,   true,  false, "%" },
    { "PERF_SAMPLE_BASE",                    0x40030401, 4, SECOND_NONE,   false, true,  "" },
    { "PERF_RAW_FRACTION",                   0x20020400, 4, SECOND_BASE,   false, false, "%" },
    { "PERF_RAW_BASE",                       0x40030403, 4, SECOND_NONE,   false, true,  "" },
    { "PERF_LARGE_RAW_FRACTION",             0x20020500, 8, SECOND_BASE,   false, false, "%" },
    { "PERF_LARGE_RAW_BASE",                 0x40030500, 8, SECOND_NONE,   false, true,  "" },
    /* the size bits mean 4 bytes, but providers of Windows deliver 8 (seen in recorded blocks) */
    { "PERF_AVERAGE_TIMER",                  0x30020400, 8, SECOND_BASE,   true,  false, "secs" },
    { "PERF_AVERAGE_BULK",                   0x40020500, 8, SECOND_BASE,   true,  false, "" },
    { "PERF_AVERAGE_BASE",                   0x40030402, 4, SECOND_NONE,   false, true,  "" },
    { "PERF_ELAPSED_TIME",                   0x30240500, 8, SECOND_OBJECT, false, false, "secs" },
    { "PERF_PRECISION_SYSTEM_TIMER",         0x20470500, 8, SECOND_BASE,   true,  false, "%" },
    { "PERF_PRECISION_100NS_TIMER",          0x20570500, 8, SECOND_BASE,   true,  false, "%" },
    { "PERF_PRECISION_OBJECT_TIMER",         0x20670500, 8, SECOND_BASE,   true,  false, "%" },
    { "PERF_COUNTER_TEXT",                   0x00000B00, 0, SECOND_NONE,   false, false, "" },
    { "PERF_COUNTER_NODATA",                 0x40000200, 0, SECOND_NONE,   false, false, "" },
    { "PERF_COUNTER_HISTOGRAM_TYPE",         0x80000000, 0, SECOND_NONE,   false, false, "" },
    /* other names and other values of types above; a type is shown with its first row's name */
    { "PERF_PRECISION_TIMESTAMP",            0x40030500, 8, SECOND_NONE,   false, true,  "" },
    { "PERF_LARGE_RAW_BASE",                 0x40030503, 8, SECOND_NONE,   false, true,  "" },
};

static const char *const size_texts[] = {"DWORD", "LARGE", "ZERO", "VARIABLE_LEN"};
static const char *const kind_texts[] = {"NUMBER", "COUNTER", "TEXT", "ZERO"};
static const char *const timer_texts[] = {"TIMER_TICK", "TIMER_100NS", "OBJECT_TIMER", "unknown"};
static const char *const subtype_texts[][16] = {
    { "HEX", "DECIMAL", "DEC_1000" },
    { "VALUE", "RATE", "FRACTION", "BASE", "ELAPSED", "QUEUELEN", "HISTOGRAM", "PRECISION" },
    { "UNICODE", "ASCII" },
    { "" },
};
static const char *const display_texts[16] = {
    "", "/sec", "%", "secs", "hidden", [8] = "histogram",
};
/* clang-format on */

const struct type_row *type_find(DWORD type)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (types[i].type == type)
            return &types[i];
    return NULL;
}

DWORD type_value_size(DWORD type)
{
    const struct type_row *row = type_find(type);
    if (row)
        return row->size;
    switch (type & TYPE_SIZE_MASK) {
    case PERF_SIZE_DWORD:
        return 4;
    case PERF_SIZE_LARGE:
        return 8;
    default:
        return 0;
    }
}

static const char *known(const char *text)
{
    return text ? text : "unknown";
}

static const char *suffix_of_display(DWORD type)
{
    DWORD display = type >> 28;
    return display >= 1 && display <= 3 ? display_texts[display] : "";
}

void opl_type_describe(DWORD type, opl_type_info *ret)
{
    const struct type_row *row = type_find(type);
    size_t kind = (type & TYPE_KIND_MASK) >> 10;
    *ret = (opl_type_info){
        .name = row ? row->name : NULL,
        .size_text = size_texts[(type & TYPE_SIZE_MASK) >> 8],
        .type_text = kind_texts[kind],
        .subtype_text = known(subtype_texts[kind][(type & TYPE_SUBTYPE_MASK) >> 16]),
        .timer_text = timer_texts[(type & TYPE_TIMER_MASK) >> 20],
        .display_text = known(display_texts[type >> 28]),
        .suffix = row ? row->suffix : suffix_of_display(type),
        .delta_counter = type & PERF_DELTA_COUNTER,
        .delta_base = type & PERF_DELTA_BASE,
        .inverse = type & PERF_INVERSE_COUNTER,
        .multi = type & PERF_MULTI_COUNTER,
        .is_base = row && row->is_base,
        .needs_base = row && row->second == SECOND_BASE,
        .needs_two_samples = row ? row->two_samples : (type & PERF_DELTA_COUNTER) != 0,
    };
}

const char *type_name_at(size_t position, DWORD *ret_type)
{
    if (position >= COUNT(types))
        return NULL;
    *ret_type = types[position].type;
    return types[position].name;
}

/* ---- values ---- */

/*
 * The values in a counter block: as a number, as a text, and as the sample that PDH would store,
 * which is the value together with the clock or base that its type requires
 * (docs/windows/types.md#b3).
 */

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

/* Decodes a text of subtype ASCII by the object's code page; if the object has none, the text is
 * taken as UTF-8. */
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
