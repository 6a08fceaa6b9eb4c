/* SPDX-License-Identifier: MIT */
/*
 * The builder: definitions, instances and values are appended to the caller's buffer, lengths are
 * filled in when an object ends. After the first structure or value that does not fit, nothing more
 * is written, so callers need to check only once, at the end. The buffer may be misaligned, because
 * all structures are copied into it as bytes.
 */
#include "wire/inner.h"

#include <string.h>

#define NOWHERE ((size_t)-1)

static size_t align_up(size_t value, size_t to)
{
    return (value + to - 1) / to * to;
}

static bool writable(const opl_build *build)
{
    return !build->full && !build->misused;
}

static void misuse(opl_build *build)
{
    if (writable(build))
        build->misused = true;
}

/* Takes the next `size` bytes of the buffer, zeroed; NULL if they do not fit. The format's lengths
 * have 32 bits, so the whole is limited to 4 GiB. */
static unsigned char *take(opl_build *build, size_t size)
{
    if (!writable(build))
        return NULL;
    if (size > build->capacity - build->used || build->used + size > UINT32_MAX) {
        build->full = true;
        return NULL;
    }
    unsigned char *at = build->data + build->used;
    memset(at, 0, size);
    build->used += size;
    return at;
}

void opl_build_init(opl_build *build, void *data, size_t capacity)
{
    memset(build, 0, sizeof(*build));
    build->data = data;
    build->capacity = capacity;
    build->object = build->empty = build->counters = NOWHERE;
}

/* ---- objects ---- */

/* Returns the bytes that a counter needs in the counter block: those of its value and, for a multi
 * timer, of the count that follows the value. */
static uint64_t slot_size(const opl_build_counter *counter, DWORD size)
{
    const struct type_row *row = type_find(counter->type);
    bool counted = row && !row->is_base && (counter->type & PERF_MULTI_COUNTER);
    return size + (counted ? sizeof(DWORD) : 0);
}

/* True for a base counter that is the count of the multi timer before it: that count lies directly
 * after the timer's value and has no other place. */
static bool is_count_of(const opl_build_counter *counters, DWORD position)
{
    return position > 0 && counters[position].type == PERF_COUNTER_MULTI_BASE &&
           counters[position - 1].type != PERF_COUNTER_MULTI_BASE &&
           (counters[position - 1].type & PERF_MULTI_COUNTER);
}

static size_t alignment(const opl_build_counter *counter, DWORD size)
{
    return size == 8 && (counter->type & TYPE_KIND_MASK) != PERF_TYPE_TEXT ? 8 : 4;
}

static bool find_sizes(opl_build *build, const opl_build_counter *counters, DWORD count)
{
    for (DWORD i = 0; i < count; i++) {
        DWORD size = counters[i].size ? counters[i].size : type_value_size(counters[i].type);
        bool sized = size > 0 || (counters[i].type & TYPE_SIZE_MASK) != PERF_SIZE_VARIABLE_LEN;
        bool offset_good =
            counters[i].offset == 0 || counters[i].offset >= sizeof(PERF_COUNTER_BLOCK);
        if (!sized || !offset_good || size > INT32_MAX || counters[i].offset > INT32_MAX)
            return false;
        build->sizes[i] = size;
    }
    return true;
}

/* Places the counters with explicit offsets first, then the others after them in their order.
 * Returns where the values end. */
static uint64_t place_counters(opl_build *build, const opl_build_counter *counters, DWORD count)
{
    uint64_t end = sizeof(PERF_COUNTER_BLOCK);
    for (DWORD i = 0; i < count; i++)
        if (counters[i].offset) {
            uint64_t after = counters[i].offset + slot_size(&counters[i], build->sizes[i]);
            build->offsets[i] = counters[i].offset;
            end = after > end ? after : end;
        }
    for (DWORD i = 0; i < count; i++)
        if (!counters[i].offset) {
            uint64_t offset = align_up(end, alignment(&counters[i], build->sizes[i]));
            if (is_count_of(counters, i))
                offset = build->offsets[i - 1] + build->sizes[i - 1];
            uint64_t after = offset + slot_size(&counters[i], build->sizes[i]);
            build->offsets[i] = (DWORD)offset;
            end = after > end ? after : end;
        }
    return end;
}

static bool lay_out(opl_build *build, const opl_build_counter *counters, DWORD count)
{
    if (count > OPL_BUILD_MAX_COUNTERS || !find_sizes(build, counters, count))
        return false;
    uint64_t end = align_up(place_counters(build, counters, count), build->packed ? 1 : 8);
    build->block_size = (DWORD)end;
    build->counter_count = count;
    return end <= INT32_MAX;
}

static DWORD lowest_level(const opl_build_counter *counters, DWORD count)
{
    DWORD lowest = count > 0 ? counters[0].level : PERF_DETAIL_NOVICE;
    for (DWORD i = 1; i < count; i++)
        if (counters[i].level < lowest)
            lowest = counters[i].level;
    return lowest;
}

static void write_object(const opl_build_object_info *info, const opl_build_counter *counters,
                         DWORD count, unsigned char *at)
{
    PERF_OBJECT_TYPE type = {
        .HeaderLength = sizeof(type),
        .DefinitionLength = (DWORD)(sizeof(type) + count * sizeof(PERF_COUNTER_DEFINITION)),
        .ObjectNameTitleIndex = info->name_index,
        .ObjectHelpTitleIndex = info->help_index,
        .DetailLevel = info->level ? info->level : lowest_level(counters, count),
        .NumCounters = count,
        .DefaultCounter = info->default_counter,
        .CodePage = info->code_page,
        .PerfTime.QuadPart = info->time,
        .PerfFreq.QuadPart = info->frequency,
    };
    memcpy(at, &type, sizeof(type));
}

static void write_definition(const opl_build_counter *counter, DWORD size, DWORD offset,
                             unsigned char *at)
{
    PERF_COUNTER_DEFINITION definition = {
        .ByteLength = sizeof(definition),
        .CounterNameTitleIndex = counter->name_index,
        .CounterHelpTitleIndex = counter->help_index,
        .DefaultScale = counter->scale,
        .DetailLevel = counter->level,
        .CounterType = counter->type,
        .CounterSize = size,
        .CounterOffset = offset,
    };
    memcpy(at, &definition, sizeof(definition));
}

static void begin_counter_block(opl_build *build)
{
    unsigned char *at = take(build, build->block_size);
    if (!at)
        return;
    memcpy(at, &build->block_size, sizeof(DWORD));
    build->counters = (size_t)(at - build->data);
}

void opl_build_object(opl_build *build, const opl_build_object_info *info,
                      const opl_build_counter *counters, DWORD count)
{
    build_end(build);
    build->empty = NOWHERE;
    build->packed = info->packed;
    if (!lay_out(build, counters, count)) {
        misuse(build);
        return;
    }
    size_t start = build->used;
    unsigned char *at =
        take(build, sizeof(PERF_OBJECT_TYPE) + count * sizeof(PERF_COUNTER_DEFINITION));
    if (!at)
        return;
    write_object(info, counters, count, at);
    at += sizeof(PERF_OBJECT_TYPE);
    for (DWORD i = 0; i < count; i++, at += sizeof(PERF_COUNTER_DEFINITION))
        write_definition(&counters[i], build->sizes[i], build->offsets[i], at);
    build->object = start;
    build->objects++;
    build->instances = 0;
    build->single = info->single;
    build->code_page = info->code_page;
    if (build->single)
        begin_counter_block(build);
}

static void patch(opl_build *build, size_t offset, DWORD value)
{
    memcpy(build->data + offset, &value, sizeof(value));
}

static void patch_total(opl_build *build, size_t object)
{
    patch(build, object + offsetof(PERF_OBJECT_TYPE, TotalByteLength),
          (DWORD)(build->used - object));
}

void build_end(opl_build *build)
{
    if (build->object == NOWHERE)
        return;
    if (build->packed)
        take(build, (8 - (build->used - build->object) % 8) % 8);
    if (writable(build)) {
        patch_total(build, build->object);
        patch(build, build->object + offsetof(PERF_OBJECT_TYPE, NumInstances),
              build->single ? (DWORD)PERF_NO_INSTANCES : build->instances);
    }
    build->empty = build->single || build->instances > 0 ? NOWHERE : build->object;
    build->object = build->counters = NOWHERE;
}

static void pad_empty(opl_build *build)
{
    if (build->empty != NOWHERE && take(build, align_up(build->block_size, 8)))
        patch_total(build, build->empty);
    build->empty = NOWHERE;
}

DWORD opl_build_collect(opl_build *build, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    build_end(build);
    pad_empty(build);
    *bytes = *types = 0;
    if (build->misused)
        return ERROR_INVALID_PARAMETER;
    if (build->full)
        return ERROR_MORE_DATA;
    if (build->objects > 0)
        *data = build->data + build->used;
    *bytes = (DWORD)build->used;
    *types = build->objects;
    return ERROR_SUCCESS;
}

/* ---- instances ---- */

/* Writes `units` UTF-16 units to `at`. If `at` is misaligned, writes the units one byte earlier and
 * then moves them; the byte before `at` always exists, because a structure precedes every text. */
static void put_utf16(unsigned char *at, const char *text, size_t count, size_t units)
{
    bool odd = (uintptr_t)at % 2 != 0;
    unsigned char before = at[-1];
    uint16_t *aligned = (uint16_t *)(void *)(odd ? at - 1 : at);
    utf8_to_16(text, count, aligned, units);
    if (odd) {
        memmove(at, at - 1, units * 2);
        at[-1] = before;
    }
}

/* Returns the bytes of the name with its NUL, or 0 if its code page is unknown. */
static size_t name_size(const opl_build *build, const char *name, size_t count)
{
    struct text_sink measure = {0};
    if (build->code_page == 0)
        return (utf8_to_16(name, count, NULL, 0) + 1) * 2;
    return text_encode_codepage(build->code_page, name, count, &measure) ? measure.used + 1 : 0;
}

static void put_name(const opl_build *build, const char *name, size_t count, unsigned char *at,
                     size_t size)
{
    struct text_sink sink = {(char *)at, size - 1, 0};
    if (build->code_page == 0)
        put_utf16(at, name, count, size / 2 - 1);
    else
        text_encode_codepage(build->code_page, name, count, &sink);
}

void opl_build_instance_full(opl_build *build, const char *name, size_t name_bytes,
                             DWORD parent_object, DWORD parent_instance, LONG unique_id)
{
    PERF_INSTANCE_DEFINITION instance = {0,         parent_object,    parent_instance,
                                         unique_id, sizeof(instance), 0};
    if (!writable(build))
        return;
    size_t length = name ? name_size(build, name, name_bytes) : 0;
    if (build->object == NOWHERE || build->single || (name && length == 0)) {
        misuse(build);
        return;
    }
    size_t size = align_up(sizeof(instance) + length, build->packed ? 1 : 8);
    unsigned char *at = take(build, size);
    if (!at)
        return;
    instance.NameLength = (DWORD)length;
    instance.ByteLength = (DWORD)size;
    memcpy(at, &instance, sizeof(instance));
    if (name)
        put_name(build, name, name_bytes, at + sizeof(instance), length);
    build->instances++;
    begin_counter_block(build);
}

void opl_build_instance(opl_build *build, const char *name)
{
    opl_build_instance_full(build, name, name ? strlen(name) : 0, 0, 0, PERF_NO_UNIQUE_ID);
}

/* ---- values ---- */

/* Returns the address of a counter's value; NULL: the builder is full or misused, so nothing is to
 * be written. */
static unsigned char *value_slot(opl_build *build, DWORD position)
{
    if (!writable(build))
        return NULL;
    if (build->counters == NOWHERE || position >= build->counter_count) {
        misuse(build);
        return NULL;
    }
    return build->data + build->counters + build->offsets[position];
}

void opl_build_number(opl_build *build, DWORD position, uint64_t value)
{
    DWORD low = (DWORD)value;
    unsigned char *at = value_slot(build, position);
    if (!at)
        return;
    if (build->sizes[position] == sizeof(value))
        memcpy(at, &value, sizeof(value));
    else if (build->sizes[position] == sizeof(low))
        memcpy(at, &low, sizeof(low));
    else
        misuse(build);
}

void opl_build_dword(opl_build *build, DWORD position, DWORD value)
{
    opl_build_number(build, position, value);
}

void opl_build_large(opl_build *build, DWORD position, uint64_t value)
{
    if (!value_slot(build, position))
        return;
    if (build->sizes[position] == sizeof(value))
        opl_build_number(build, position, value);
    else
        misuse(build);
}

static DWORD counter_type(const opl_build *build, DWORD position)
{
    DWORD type;
    size_t definition =
        build->object + sizeof(PERF_OBJECT_TYPE) + position * sizeof(PERF_COUNTER_DEFINITION);
    memcpy(&type, build->data + definition + offsetof(PERF_COUNTER_DEFINITION, CounterType),
           sizeof(type));
    return type;
}

void opl_build_multi(opl_build *build, DWORD position, uint64_t value, DWORD count)
{
    unsigned char *at = value_slot(build, position);
    if (!at)
        return;
    DWORD type = counter_type(build, position);
    if (!(type & PERF_MULTI_COUNTER) || type == PERF_COUNTER_MULTI_BASE) {
        misuse(build);
        return;
    }
    opl_build_number(build, position, value);
    memcpy(at + build->sizes[position], &count, sizeof(count));
}

/* Writes as much of the text as fits, in whole characters; the rest of the slot becomes zero. */
static void put_text_utf16(unsigned char *at, size_t size, const char *text)
{
    size_t units = size / 2 - 1, needed = utf8_to_16(text, strlen(text), NULL, 0);
    put_utf16(at, text, strlen(text), units < needed ? units : needed);
    uint16_t last = 0;
    if (units > 0 && units < needed)
        memcpy(&last, at + (units - 1) * 2, sizeof(last));
    if ((last & 0xFC00) == 0xD800) /* drops the first half of a surrogate pair that was cut */
        memset(at + (units - 1) * 2, 0, sizeof(last));
}

static void put_text_bytes(unsigned char *at, size_t size, const char *text)
{
    struct text_sink sink = {(char *)at, size, 0};
    sink_add(&sink, text, strlen(text));
    sink_end_text(&sink);
    size_t kept = strlen((const char *)at);
    memset(at + kept, 0, size - kept);
}

void opl_build_text(opl_build *build, DWORD position, const char *text)
{
    unsigned char *at = value_slot(build, position);
    if (!at)
        return;
    DWORD type = counter_type(build, position), size = build->sizes[position];
    if ((type & TYPE_KIND_MASK) != PERF_TYPE_TEXT) {
        misuse(build);
        return;
    }
    memset(at, 0, size);
    if ((type & TYPE_SUBTYPE_MASK) == PERF_TEXT_ASCII)
        put_text_bytes(at, size, text);
    else if (size >= 4)
        put_text_utf16(at, size, text);
}
