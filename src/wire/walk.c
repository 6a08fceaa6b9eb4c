/* SPDX-License-Identifier: MIT */
/*
 * The checked walk (docs/windows/blocks.md#a6): a structure is copied once, checked, and only the
 * copy is used, because the bytes may be untrusted, misaligned, and changing while we read. The
 * lengths of a returned view stay inside its object, so the next step need not trust the data
 * again.
 */
#include "wire/inner.h"

#include <stdio.h>
#include <string.h>

enum {
    MINIMUM_HEADER = sizeof(PERF_DATA_BLOCK),
    MINIMUM_OBJECT = sizeof(PERF_OBJECT_TYPE),
    MINIMUM_DEFINITION = sizeof(PERF_COUNTER_DEFINITION),
    MINIMUM_INSTANCE = sizeof(PERF_INSTANCE_DEFINITION),
    MINIMUM_COUNTERS = sizeof(PERF_COUNTER_BLOCK)
};

/* ---- copying ---- */

/* Copies `size` bytes at `offset` of data that ends at `end`; false if the data ends before. The
 * barrier keeps the compiler from reading the same bytes again, after they may have changed. */
static bool fetch(const opl_block *block, size_t end, size_t offset, void *ret, size_t size)
{
    if (offset > end || size > end - offset)
        return false;
    memcpy(ret, block->data + offset, size);
    __asm__ volatile("" : : : "memory");
    return true;
}

/* Swaps the bytes of `count` adjacent fields of `width` bytes; returns the address after them. */
static unsigned char *swap_fields(unsigned char *fields, size_t count, size_t width)
{
    for (unsigned char *end = fields + count * width; fields < end; fields += width)
        for (size_t i = 0; i < width / 2; i++) {
            unsigned char byte = fields[i];
            fields[i] = fields[width - 1 - i];
            fields[width - 1 - i] = byte;
        }
    return fields;
}

static bool fetch_dwords(const opl_block *block, size_t end, size_t offset, void *ret, size_t count)
{
    if (!fetch(block, end, offset, ret, count * 4))
        return false;
    if (block->swapped)
        swap_fields(ret, count, 4);
    return true;
}

static void swap_header(PERF_DATA_BLOCK *header)
{
    unsigned char *rest = swap_fields((unsigned char *)header, 4, 2); /* swaps the signature */
    /* swaps the next 7 fields, up to DefaultObject */
    rest = swap_fields(rest, 7, 4);
    rest = swap_fields(rest, 8, 2); /* swaps SystemTime */
    rest = swap_fields(rest + 4, 3, 8);
    swap_fields(rest, 2, 4); /* swaps length and offset of the system name */
}

/* ---- the block ---- */

/* Records the first damage found in a walk of this block; returns false. */
static bool damaged(opl_block *block, opl_block_fault fault, size_t offset)
{
    if (block->fault == OPL_BLOCK_GOOD) {
        block->fault = fault;
        block->fault_offset = offset;
    }
    return false;
}

/* Reads the block's byte order from the field LittleEndian: the bytes 1 0 0 0 mean little, four
 * zeros big endian. */
static opl_block_fault read_byte_order(const opl_block *block, bool *ret_swapped)
{
    static const unsigned char little[] = {'P', 0, 'E', 0, 'R', 0, 'F', 0, 1, 0, 0, 0};
    static const unsigned char big[] = {0, 'P', 0, 'E', 0, 'R', 0, 'F', 0, 0, 0, 0};
    const uint16_t one = 1;
    bool host_little = *(const unsigned char *)&one == 1;
    if (memcmp(&block->header, little, sizeof(little)) == 0)
        *ret_swapped = !host_little;
    else if (memcmp(&block->header, big, sizeof(big)) == 0)
        *ret_swapped = host_little;
    else
        return OPL_BLOCK_SIGNATURE;
    return OPL_BLOCK_GOOD;
}

static bool header_lengths_good(const PERF_DATA_BLOCK *header, size_t size)
{
    if (header->HeaderLength < MINIMUM_HEADER || header->HeaderLength > header->TotalByteLength ||
        header->TotalByteLength > size)
        return false;
    return header->SystemNameLength == 0 ||
           (header->SystemNameOffset <= header->TotalByteLength &&
            header->SystemNameLength <= header->TotalByteLength - header->SystemNameOffset);
}

static opl_block_fault read_header(opl_block *block)
{
    if (!fetch(block, block->size, 0, &block->header, sizeof(block->header)))
        return OPL_BLOCK_SHORT;
    opl_block_fault fault = read_byte_order(block, &block->swapped);
    if (fault)
        return fault;
    if (block->swapped)
        swap_header(&block->header);
    if (block->header.Version > PERF_DATA_VERSION)
        return OPL_BLOCK_VERSION;
    if (!header_lengths_good(&block->header, block->size))
        return OPL_BLOCK_HEADER;
    return OPL_BLOCK_GOOD;
}

opl_block_fault opl_block_init(opl_block *block, const void *data, size_t size)
{
    *block = (opl_block){.data = data, .size = size};
    opl_block_fault fault = read_header(block);
    if (fault) /* the header is damaged, so nothing can be walked */
        *block = (opl_block){.data = (const unsigned char *)"", .fault = fault};
    else
        block->size = block->header.TotalByteLength;
    return fault;
}

const char *opl_block_fault_text(opl_block_fault fault)
{
    static const char *const texts[] = {
        [OPL_BLOCK_GOOD] = "no fault",
        [OPL_BLOCK_SHORT] = "fewer bytes than a header",
        [OPL_BLOCK_SIGNATURE] = "not a performance block",
        [OPL_BLOCK_VERSION] = "unknown version",
        [OPL_BLOCK_HEADER] = "damaged header",
        [OPL_BLOCK_OBJECT] = "damaged object",
        [OPL_BLOCK_DEFINITION] = "damaged counter definition",
        [OPL_BLOCK_INSTANCE] = "damaged instance",
        [OPL_BLOCK_COUNTERS] = "damaged counter block",
        [OPL_BLOCK_TRUNCATED] = "fewer objects than its header says",
    };
    return (size_t)fault < COUNT(texts) ? texts[fault] : "unknown fault";
}

size_t opl_block_system_name(const opl_block *block, char *out, size_t capacity)
{
    struct text_sink sink = {out, capacity, 0};
    size_t size = block->header.SystemNameLength;
    if (size > 0) /* for an empty name the offset was not checked, so nothing is read there */
        text_decode_utf16(block->data + block->header.SystemNameOffset, size, block->swapped,
                          &sink);
    return sink_end_text(&sink);
}

/* ---- objects ---- */

/* Checks an object's lengths (docs/windows/blocks.md#a6, rules 3 and 7). The function divides,
 * because the product of two invalid counts may overflow. */
static bool object_lengths_good(const PERF_OBJECT_TYPE *type, size_t left)
{
    if (type->HeaderLength < MINIMUM_OBJECT || type->HeaderLength > type->DefinitionLength ||
        type->DefinitionLength > type->TotalByteLength || type->TotalByteLength > left)
        return false;
    DWORD capacity = type->TotalByteLength - type->DefinitionLength;
    return type->NumCounters <=
               (type->DefinitionLength - type->HeaderLength) / MINIMUM_DEFINITION &&
           type->NumInstances >= PERF_METADATA_NO_INSTANCES &&
           (type->NumInstances <= 0 ||
            (DWORD)type->NumInstances <= capacity / (MINIMUM_INSTANCE + MINIMUM_COUNTERS));
}

bool opl_block_next_object(opl_block *block, opl_object_view *object)
{
    opl_object_view next = {.offset = block->header.HeaderLength};
    if (object->type.TotalByteLength > 0) {
        next.offset = object->offset + object->type.TotalByteLength;
        next.position = object->position + 1;
    }
    if (next.position >= block->header.NumObjectTypes)
        return false;
    if (next.offset == block->size)
        return damaged(block, OPL_BLOCK_TRUNCATED, next.offset);
    bool fetched = fetch(block, block->size, next.offset, &next.type, sizeof(next.type));
    if (fetched && block->swapped)
        swap_fields(swap_fields((unsigned char *)&next.type, 12, 4), 2, 8);
    if (!fetched || !object_lengths_good(&next.type, block->size - next.offset))
        return damaged(block, OPL_BLOCK_OBJECT, next.offset);
    *object = next;
    return true;
}

bool opl_block_find_object(opl_block *block, DWORD title_index, opl_object_view *object)
{
    opl_object_view step = {0};
    while (opl_block_next_object(block, &step))
        if (step.type.ObjectNameTitleIndex == title_index) {
            *object = step;
            return true;
        }
    return false;
}

/* ---- counter definitions ---- */

bool opl_object_next_counter(opl_block *block, const opl_object_view *object,
                             opl_counter_view *counter)
{
    opl_counter_view next = {.offset = object->offset + object->type.HeaderLength};
    size_t end = object->offset + object->type.DefinitionLength;
    if (counter->definition.ByteLength > 0) {
        next.offset = counter->offset + counter->definition.ByteLength;
        next.position = counter->position + 1;
    }
    if (next.position >= object->type.NumCounters)
        return false;
    const PERF_COUNTER_DEFINITION *definition = &next.definition;
    if (!fetch_dwords(block, end, next.offset, &next.definition, sizeof(*definition) / 4) ||
        definition->ByteLength < MINIMUM_DEFINITION || definition->ByteLength > end - next.offset ||
        definition->CounterSize > INT32_MAX || definition->CounterOffset > INT32_MAX)
        return damaged(block, OPL_BLOCK_DEFINITION, next.offset);
    *counter = next;
    return true;
}

/* ---- instances ---- */

/* Completes a view whose counter block begins at `counters`. (docs/windows/blocks.md#a6, rule 6) */
static bool fetch_counter_block(opl_block *block, const opl_object_view *object,
                                opl_instance_view *ret)
{
    DWORD length;
    size_t end = object->offset + object->type.TotalByteLength;
    if (!fetch_dwords(block, end, ret->counters, &length, 1) || length < MINIMUM_COUNTERS ||
        length > end - ret->counters)
        return damaged(block, OPL_BLOCK_COUNTERS, ret->counters);
    ret->counters_size = length;
    ret->end = ret->counters + length;
    return true;
}

static bool instance_good(const PERF_INSTANCE_DEFINITION *instance, size_t left)
{
    return instance->ByteLength >= MINIMUM_INSTANCE && instance->ByteLength <= left &&
           instance->NameOffset <= instance->ByteLength &&
           instance->NameLength <= instance->ByteLength - instance->NameOffset;
}

bool opl_object_next_instance(opl_block *block, const opl_object_view *object,
                              opl_instance_view *instance)
{
    opl_instance_view next = {.offset = object->offset + object->type.DefinitionLength};
    size_t end = object->offset + object->type.TotalByteLength;
    if (object->type.NumInstances == PERF_NO_INSTANCES) {
        /* the only counter block lies right after the counter definitions
         * (docs/windows/articles.md#c9) */
        next.counters = next.offset;
        if (instance->end > 0 || !fetch_counter_block(block, object, &next))
            return false;
        *instance = next;
        return true;
    }
    if (instance->end > 0) {
        next.offset = instance->end;
        next.position = instance->position + 1;
    }
    if (object->type.NumInstances <= 0 || next.position >= (DWORD)object->type.NumInstances)
        return false;
    if (!fetch_dwords(block, end, next.offset, &next.definition, sizeof(next.definition) / 4) ||
        !instance_good(&next.definition, end - next.offset))
        return damaged(block, OPL_BLOCK_INSTANCE, next.offset);
    next.counters = next.offset + next.definition.ByteLength;
    if (!fetch_counter_block(block, object, &next))
        return false;
    *instance = next;
    return true;
}

static void decode_name(const opl_block *block, const opl_object_view *object,
                        const opl_instance_view *instance, struct text_sink *sink)
{
    const PERF_INSTANCE_DEFINITION *definition = &instance->definition;
    const unsigned char *bytes = block->data + instance->offset + definition->NameOffset;
    char number[16];
    if (object->type.NumInstances == PERF_NO_INSTANCES)
        return;
    if (definition->UniqueID != PERF_NO_UNIQUE_ID)
        sink_add(sink, number,
                 (size_t)snprintf(number, sizeof(number), "%d", definition->UniqueID));
    else if (object->type.CodePage != 0)
        text_decode_codepage(object->type.CodePage, bytes, definition->NameLength, sink);
    else
        text_decode_utf16(bytes, definition->NameLength, block->swapped, sink);
}

size_t opl_instance_name(const opl_block *block, const opl_object_view *object,
                         const opl_instance_view *instance, char *out, size_t capacity)
{
    struct text_sink sink = {out, capacity, 0};
    decode_name(block, object, instance, &sink);
    return sink_end_text(&sink);
}

bool opl_instance_parent(opl_block *block, const opl_instance_view *instance,
                         opl_object_view *parent_object, opl_instance_view *parent)
{
    opl_object_view object;
    opl_instance_view step = {0};
    DWORD title_index = instance->definition.ParentObjectTitleIndex;
    if (title_index == 0 || !opl_block_find_object(block, title_index, &object) ||
        object.type.NumInstances == PERF_NO_INSTANCES)
        return false;
    while (opl_object_next_instance(block, &object, &step))
        if (step.position == instance->definition.ParentObjectInstance) {
            *parent_object = object;
            *parent = step;
            return true;
        }
    return false;
}
