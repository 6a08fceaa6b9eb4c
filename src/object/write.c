/* SPDX-License-Identifier: MIT */
/* Writes the binary format: the definitions made at Open, then the listing's instances. Sizes are
 * known before the first byte is written. */
#include "object/object.h"

#include <string.h>

static size_t instance_size(const struct instance *instance)
{
    return (sizeof(PERF_INSTANCE_DEFINITION) + (instance->name_units + 1) * 2 + 7) / 8 * 8;
}

size_t object_size(const struct object *object)
{
    const opl_listing *listing = &object->listing;
    size_t size = object->definition_size;
    if (object->is->instances)
        for (size_t i = 0; i < listing->count; i++)
            size += instance_size(&listing->instances[i]);
    /* an object without instances is followed by the space of one counter block, because some
     * readers look for one after its definitions and would read past the end */
    return size + (listing->count ? listing->count : 1) * object->block_size;
}

static void write_dword(unsigned char *out, uint64_t value)
{
    DWORD dword = (DWORD)value;
    memcpy(out, &dword, sizeof dword);
}

/* Writes a fraction whose values have 32 bits: both parts are shifted right until they fit. */
static void write_fraction(const struct row *row, const uint64_t *values, unsigned char *block)
{
    uint64_t part = values[0], whole = values[1];
    for (; (part | whole) > UINT32_MAX; part >>= 1, whole >>= 1)
        ;
    write_dword(block + row[0].offset, part);
    write_dword(block + row[1].offset, whole);
}

/* Writes the text as UTF-16. The block is zeroed before, so the text needs no terminator. */
static void write_text(const struct row *row, uint64_t value, unsigned char *out)
{
    const char *text = (const char *)(uintptr_t)value;
    uint16_t units[OBJECT_MAX_TEXT];
    size_t capacity = row->size / 2 - 1;
    size_t count = text ? utf8_to_16(text, strnlen(text, row->value->size), units, capacity) : 0;
    memcpy(out + row->offset, units, (count < capacity ? count : capacity) * 2);
}

/* Writes a text; or a fraction, whose row and base are written together. */
static void write_other(const struct row *row, const uint64_t *values, unsigned char *block)
{
    if (row->type == PERF_RAW_FRACTION)
        write_fraction(row, values, block);
    else if (row->text)
        write_text(row, *values, block);
}

static void write_block(const struct object *object, const uint64_t *values, unsigned char *block)
{
    memset(block, 0, object->block_size);
    write_dword(block, object->block_size);
    for (size_t i = 0; i < object->row_count; i++) {
        const struct cell *cell = &object->cells[i];
        uint64_t value = values[i];
        if (cell->format == CELL_LARGE)
            memcpy(block + cell->offset, &value, sizeof value);
        else if (cell->format == CELL_HIDDEN)
            continue;
        else if (cell->format == CELL_COUNTER)
            write_dword(block + cell->offset, value);
        else if (cell->format == CELL_LEVEL)
            write_dword(block + cell->offset, value < UINT32_MAX ? value : UINT32_MAX);
        else
            write_other(&object->rows[i], values + i, block);
    }
}

static unsigned char *write_instance(const opl_listing *listing, size_t position,
                                     unsigned char *out)
{
    const struct instance *instance = &listing->instances[position];
    PERF_INSTANCE_DEFINITION definition = {
        .ByteLength = (DWORD)instance_size(instance),
        .ParentObjectTitleIndex = instance->parent_object,
        .ParentObjectInstance = instance->parent,
        .UniqueID = PERF_NO_UNIQUE_ID,
        .NameOffset = sizeof definition,
        .NameLength = (instance->name_units + 1) * 2,
    };
    memset(out + definition.ByteLength - 8, 0, 8);
    memcpy(out, &definition, sizeof definition);
    memcpy(out + sizeof definition, listing->names + instance->name, instance->name_units * 2);
    memset(out + sizeof definition + instance->name_units * 2, 0, 2);
    return out + definition.ByteLength;
}

/* `out` has at least object_size() bytes. */
void object_write(const struct object *object, unsigned char *out, LONGLONG now)
{
    const opl_listing *listing = &object->listing;
    PERF_OBJECT_TYPE type;
    memcpy(out, object->definition, object->definition_size);
    memcpy(&type, out, sizeof type);
    type.TotalByteLength = (DWORD)object_size(object);
    type.NumInstances = object->is->instances ? (LONG)listing->count : PERF_NO_INSTANCES;
    type.PerfTime.QuadPart = object->is->clock ? now : 0;
    memcpy(out, &type, sizeof type);

    unsigned char *at = out + object->definition_size;
    for (size_t i = 0; i < listing->count; i++) {
        if (object->is->instances)
            at = write_instance(listing, i, at);
        write_block(object, listing->values + i * object->all_rows, at);
        at += object->block_size;
    }
    if (listing->count == 0)
        memset(at, 0, object->block_size);
}
