/* SPDX-License-Identifier: MIT */
/*
 * The counter types: one row per named type, and the bit fields of any type as text.
 *
 * The fields are enumerations, not flags: each is masked first and then compared
 * (docs/windows/articles.md#c15, docs/windows/types.md#b1). The clock or base that belongs to a
 * value comes from the row, because the bits alone do not determine it (docs/windows/types.md#b3).
 */
#include "wire/inner.h"

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
    /* second names, and second values, of types above; a type is shown with its first row's name */
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
