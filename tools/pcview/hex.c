/* SPDX-License-Identifier: MIT */
/*
 * The bytes with their meaning: offset, up to eight bytes, field and value. Bytes that no field
 * covers are printed too, so that the dump has no gaps.
 */
#include "pcview.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 8, TITLE = 22 };

struct header_field {
    const char *name;
    size_t offset, size; /* offset and size of the field in the structure */
    char kind;           /* u: unsigned, i: signed, x: hexadecimal, t: text, s: SYSTEMTIME */
};

#define FIELD(structure, name, kind)                                                               \
    {                                                                                              \
#name, offsetof(structure, name), sizeof(((structure *)0)->name), kind                     \
    }

static const struct header_field block_fields[] = {
    FIELD(PERF_DATA_BLOCK, Signature, 't'),
    FIELD(PERF_DATA_BLOCK, LittleEndian, 'u'),
    FIELD(PERF_DATA_BLOCK, Version, 'u'),
    FIELD(PERF_DATA_BLOCK, Revision, 'u'),
    FIELD(PERF_DATA_BLOCK, TotalByteLength, 'u'),
    FIELD(PERF_DATA_BLOCK, HeaderLength, 'u'),
    FIELD(PERF_DATA_BLOCK, NumObjectTypes, 'u'),
    FIELD(PERF_DATA_BLOCK, DefaultObject, 'i'),
    FIELD(PERF_DATA_BLOCK, SystemTime, 's'),
    FIELD(PERF_DATA_BLOCK, PerfTime, 'i'),
    FIELD(PERF_DATA_BLOCK, PerfFreq, 'i'),
    FIELD(PERF_DATA_BLOCK, PerfTime100nSec, 'i'),
    FIELD(PERF_DATA_BLOCK, SystemNameLength, 'u'),
    FIELD(PERF_DATA_BLOCK, SystemNameOffset, 'u'),
    {0},
};
static const struct header_field object_fields[] = {
    FIELD(PERF_OBJECT_TYPE, TotalByteLength, 'u'),
    FIELD(PERF_OBJECT_TYPE, DefinitionLength, 'u'),
    FIELD(PERF_OBJECT_TYPE, HeaderLength, 'u'),
    FIELD(PERF_OBJECT_TYPE, ObjectNameTitleIndex, 'n'),
    FIELD(PERF_OBJECT_TYPE, ObjectNameTitle, 'u'),
    FIELD(PERF_OBJECT_TYPE, ObjectHelpTitleIndex, 'u'),
    FIELD(PERF_OBJECT_TYPE, ObjectHelpTitle, 'u'),
    FIELD(PERF_OBJECT_TYPE, DetailLevel, 'u'),
    FIELD(PERF_OBJECT_TYPE, NumCounters, 'u'),
    FIELD(PERF_OBJECT_TYPE, DefaultCounter, 'i'),
    FIELD(PERF_OBJECT_TYPE, NumInstances, 'i'),
    FIELD(PERF_OBJECT_TYPE, CodePage, 'u'),
    FIELD(PERF_OBJECT_TYPE, PerfTime, 'i'),
    FIELD(PERF_OBJECT_TYPE, PerfFreq, 'i'),
    {0},
};
static const struct header_field counter_fields[] = {
    FIELD(PERF_COUNTER_DEFINITION, ByteLength, 'u'),
    FIELD(PERF_COUNTER_DEFINITION, CounterNameTitleIndex, 'n'),
    FIELD(PERF_COUNTER_DEFINITION, CounterNameTitle, 'u'),
    FIELD(PERF_COUNTER_DEFINITION, CounterHelpTitleIndex, 'u'),
    FIELD(PERF_COUNTER_DEFINITION, CounterHelpTitle, 'u'),
    FIELD(PERF_COUNTER_DEFINITION, DefaultScale, 'i'),
    FIELD(PERF_COUNTER_DEFINITION, DetailLevel, 'u'),
    FIELD(PERF_COUNTER_DEFINITION, CounterType, 'c'),
    FIELD(PERF_COUNTER_DEFINITION, CounterSize, 'u'),
    FIELD(PERF_COUNTER_DEFINITION, CounterOffset, 'u'),
    {0},
};
static const struct header_field instance_fields[] = {
    FIELD(PERF_INSTANCE_DEFINITION, ByteLength, 'u'),
    FIELD(PERF_INSTANCE_DEFINITION, ParentObjectTitleIndex, 'n'),
    FIELD(PERF_INSTANCE_DEFINITION, ParentObjectInstance, 'u'),
    FIELD(PERF_INSTANCE_DEFINITION, UniqueID, 'i'),
    FIELD(PERF_INSTANCE_DEFINITION, NameOffset, 'u'),
    FIELD(PERF_INSTANCE_DEFINITION, NameLength, 'u'),
    {0},
};

/* The dump so far: everything before `shown` is printed. */
struct dump {
    struct pcview *view;
    const struct view_names *names;
    size_t shown;
};

/* Prints lines of at most ROW bytes; the meaning is on the first line. */
static void dump_bytes(struct dump *dump, size_t from, size_t to, const char *meaning)
{
    const struct style *style = &dump->view->style;
    FILE *out = dump->view->out;
    to = to < dump->view->now.size ? to : dump->view->now.size;
    for (size_t row = from; row < to; row += ROW) {
        fprintf(out, "%s%08zx%s ", style->weak, row, style->off);
        for (size_t i = row; i < row + ROW; i++)
            if (i < to)
                fprintf(out, " %02x", dump->view->now.data[i]);
            else if (row == from)
                fputs("   ", out);
        fprintf(out, "%s%s\n", row == from ? "  " : "", row == from ? meaning : "");
    }
    if (to > dump->shown)
        dump->shown = to;
}

static void dump_gap(struct dump *dump, size_t to)
{
    if (to > dump->shown)
        dump_bytes(dump, dump->shown, to, to - dump->shown < 8 ? "(padding)" : "(no field)");
}

/* Prints another meaning of bytes that were already printed. */
static void dump_again(struct dump *dump, size_t offset, const char *meaning)
{
    const struct style *style = &dump->view->style;
    fprintf(dump->view->out, "%s%08zx%s  %-*s  %s\n", style->weak, offset, style->off, ROW * 3 - 1,
            "(as above)", meaning);
}

static void dump_part(struct dump *dump, size_t from, size_t size, const char *meaning)
{
    if (from < dump->shown) {
        dump_again(dump, from, meaning);
        return;
    }
    dump_gap(dump, from);
    dump_bytes(dump, from, from + size, meaning);
}

static void dump_title(struct dump *dump, const char *kind, const char *name)
{
    char clean[256];
    text_clean(name, clean, sizeof clean);
    fprintf(dump->view->out, "%s%s%s%s%s\n", dump->view->style.title, kind, *clean ? " " : "",
            clean, dump->view->style.off);
}

static int64_t field_number(const struct header_field *field, const void *structure)
{
    int64_t large;
    uint32_t small;
    if (field->size == 8) {
        memcpy(&large, (const char *)structure + field->offset, 8);
        return large;
    }
    memcpy(&small, (const char *)structure + field->offset, 4);
    return field->kind == 'i' ? (int64_t)(int32_t)small : (int64_t)small;
}

static void field_meaning(const struct dump *dump, const struct header_field *field,
                          const void *structure, char *out, size_t capacity)
{
    char text[256] = "";
    const char *title;
    opl_type_info type;
    int64_t number = 0;
    if (field->kind == 't') {
        snprintf(text, sizeof text, "PERF");
    } else if (field->kind == 's') {
        block_time(&dump->view->now.block, text, sizeof text);
    } else {
        number = field_number(field, structure);
        snprintf(text, sizeof text, "%" PRId64, number);
    }
    if (field->kind == 'n' && number && (title = names_title(dump->names, (uint32_t)number))) {
        size_t used = strlen(text);
        snprintf(text + used, 3, "  ");
        text_clean(title, text + used + 2, sizeof text - used - 2);
    } else if (field->kind == 'c') {
        opl_type_describe((DWORD)number, &type);
        snprintf(text, sizeof text, "0x%08x  %s", (unsigned)number, type.name ? type.name : "");
    }
    snprintf(out, capacity, "%-22s %s", field->name, text);
}

static void dump_structure(struct dump *dump, const struct header_field *fields,
                           const void *structure, size_t at)
{
    char meaning[320];
    for (const struct header_field *field = fields; field->name; field++) {
        field_meaning(dump, field, structure, meaning, sizeof meaning);
        dump_part(dump, at + field->offset, field->size, meaning);
    }
}

static void dump_value(struct dump *dump, const struct view_object *object,
                       const struct view_instance *instance, const struct view_counter *counter)
{
    char value[256], meaning[640], title[256];
    uint64_t number = 0;
    const PERF_COUNTER_DEFINITION *definition = &counter->now.definition;
    opl_block *block = &dump->view->now.block;
    text_clean(counter->title, title, sizeof title);
    if (!opl_counter_data(block, &instance->now, &counter->now)) {
        snprintf(meaning, sizeof meaning, "%s  (damaged: outside the counter block)", title);
        dump_again(dump, instance->now.counters, meaning);
        return;
    }
    view_value_text(object, instance, counter, value, sizeof value);
    int pad = TITLE > text_width(title) ? TITLE - text_width(title) : 0;
    if (opl_counter_number(block, &instance->now, &counter->now, &number)) {
        char plain[32];
        snprintf(plain, sizeof plain, "%" PRIu64, (uint64_t)number);
        bool more = strcmp(value, "-") != 0 && strcmp(value, plain) != 0;
        snprintf(meaning, sizeof meaning, "%s%*s %s%s%s", title, pad, "", plain, more ? "  = " : "",
                 more ? value : "");
    } else {
        snprintf(meaning, sizeof meaning, "%s%*s %s", title, pad, "", value);
    }
    dump_part(dump, instance->now.counters + definition->CounterOffset, definition->CounterSize,
              meaning);
}

static int by_offset(const void *left, const void *right)
{
    const struct view_counter *a = *(struct view_counter *const *)left;
    const struct view_counter *b = *(struct view_counter *const *)right;
    DWORD one = a->now.definition.CounterOffset, two = b->now.definition.CounterOffset;
    return one != two ? (one < two ? -1 : 1) : a->now.position < b->now.position ? -1 : 1;
}

static void dump_counter_block(struct dump *dump, const struct view_object *object,
                               const struct view_instance *instance,
                               const struct view_counter **order)
{
    char meaning[64];
    const opl_instance_view *now = &instance->now;
    snprintf(meaning, sizeof meaning, "%-22s %zu", "ByteLength", now->counters_size);
    dump_part(dump, now->counters, 4, meaning);
    for (size_t i = 0; i < object->counter_count; i++)
        dump_value(dump, object, instance, order[i]);
    dump_gap(dump, now->end);
}

static void dump_instance(struct dump *dump, const struct view_object *object,
                          const struct view_instance *instance, const struct view_counter **order)
{
    char label[2048], meaning[2100];
    const PERF_INSTANCE_DEFINITION *definition = &instance->now.definition;
    if (!view_object_single(object)) {
        view_instance_label(object, instance, label, sizeof label);
        dump_title(dump, "instance", label);
        dump_structure(dump, instance_fields, definition, instance->now.offset);
        snprintf(meaning, sizeof meaning, "%-22s %s", "name", label);
        if (definition->NameLength)
            dump_part(dump, instance->now.offset + definition->NameOffset, definition->NameLength,
                      meaning);
        dump_gap(dump, instance->now.counters);
    }
    dump_title(dump, "counter block", "");
    dump_counter_block(dump, object, instance, order);
}

static const struct view_counter **counters_by_offset(const struct view_object *object)
{
    const struct view_counter **order = calloc(object->counter_count + 1, sizeof *order);
    for (size_t i = 0; order && i < object->counter_count; i++)
        order[i] = &object->counters[i];
    if (order)
        qsort(order, object->counter_count, sizeof *order, by_offset);
    return order;
}

static void dump_object(struct dump *dump, const struct view_object *object,
                        struct requested_object *requested)
{
    const struct view_counter **order = counters_by_offset(object);
    dump->shown = object->now.offset;
    dump_title(dump, "\nobject", object->title);
    dump_structure(dump, object_fields, &object->now.type, object->now.offset);
    dump_gap(dump, object->now.offset + object->now.type.HeaderLength);
    for (size_t i = 0; i < object->counter_count; i++) {
        dump_title(dump, "counter", object->counters[i].title);
        dump_structure(dump, counter_fields, &object->counters[i].now.definition,
                       object->counters[i].now.offset);
    }
    for (size_t i = 0; order && i < object->instance_count; i++) {
        if (!find_instance(requested, object, &object->instances[i]))
            continue;
        if (requested && requested->instances)
            dump->shown = object->instances[i].now.offset;
        dump_instance(dump, object, &object->instances[i], order);
    }
    if (!requested || !requested->instances)
        dump_gap(dump, object->now.offset + object->now.type.TotalByteLength);
    free(order);
}

static void dump_header(struct dump *dump)
{
    char meaning[300], system[256];
    const opl_block *block = &dump->view->now.block;
    dump_title(dump, "block", "");
    dump_structure(dump, block_fields, &block->header, 0);
    block_system(block, system, sizeof system);
    snprintf(meaning, sizeof meaning, "%-22s %s", "system name", system);
    dump_part(dump, block->header.SystemNameOffset, block->header.SystemNameLength, meaning);
    dump_gap(dump, block->header.HeaderLength);
}

void hex_objects(struct pcview *view)
{
    struct dump dump = {view, &view->names, 0};
    opl_object_view where = {0};
    dump_header(&dump);
    while (snapshot_next_object(&view->now, &where)) {
        bool all;
        struct view_object object;
        struct requested_object *requested = find_requested(view, &where, &all);
        if (!requested && !all)
            continue;
        if (view_object_load(&object, &view->now, &where, view->has_before ? &view->before : NULL,
                             &view->names))
            dump_object(&dump, &object, requested);
        view_object_done(&object);
    }
    if (view->wanted_count == 0)
        dump_gap(&dump, view->now.size);
}
