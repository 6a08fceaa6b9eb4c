/* SPDX-License-Identifier: MIT */
/*
 * Handles. A handle is one small number made of a slot number, the slot's generation and the
 * table's tag, so a closed handle, a handle of another table and a stray pointer are refused and
 * never dereferenced. Bit 31 is always clear, so no handle equals a predefined registry key,
 * whether that is sign- or zero-extended.
 */
#include "base/base.h"

#include <pthread.h>
#include <stdlib.h>

struct handle_slot {
    void *object; /* the handle's object; NULL: the slot is free */
    uint32_t generation;
    uint32_t next_free; /* next free slot's number + 1; 0: none */
};

/* From the lowest bit: two zeros, as in Windows' handles; slot; tag; bit 31; generation. With
 * 32-bit pointers the generation lies between slot and tag. */
enum { WIDE = sizeof(uintptr_t) > 4, TAG_SHIFT = 28, TAG_MASK = 7, SLOT_SHIFT = 2 };
enum { SLOT_BITS = WIDE ? 26 : 14, GENERATION_BITS = WIDE ? 31 : 12 };
enum { GENERATION_SHIFT = WIDE ? 32 : 16, MOST_SLOTS = 1 << SLOT_BITS };
#define GENERATION_MASK ((UINT32_C(1) << GENERATION_BITS) - 1)

/* One lock for all tables: it is held for a few instructions only. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uintptr_t compose(const struct handle_table *table, uint32_t slot)
{
    return (uintptr_t)table->slots[slot].generation << GENERATION_SHIFT |
           (uintptr_t)(table->tag & TAG_MASK) << TAG_SHIFT | (uintptr_t)slot << SLOT_SHIFT;
}

static bool grow(struct handle_table *table)
{
    uint32_t capacity = table->capacity ? table->capacity * 2 : 16;
    if (capacity > MOST_SLOTS)
        return false;
    struct handle_slot *slots = reallocarray(table->slots, capacity, sizeof *slots);
    if (!slots)
        return false;
    table->slots = slots;
    table->capacity = capacity;
    return true;
}

static LSTATUS take_slot(struct handle_table *table, uint32_t *ret)
{
    if (table->free_head) {
        *ret = table->free_head - 1;
        table->free_head = table->slots[*ret].next_free;
        return ERROR_SUCCESS;
    }
    if (table->count == table->capacity && !grow(table))
        return ERROR_NOT_ENOUGH_MEMORY;
    *ret = table->count++;
    table->slots[*ret] = (struct handle_slot){.generation = 1};
    return ERROR_SUCCESS;
}

LSTATUS handle_new(struct handle_table *table, void *object, uintptr_t *ret)
{
    uint32_t slot = 0;
    if (!object)
        return ERROR_INVALID_PARAMETER;
    lock_take(&lock);
    LSTATUS status = take_slot(table, &slot);
    if (status == ERROR_SUCCESS) {
        table->slots[slot].object = object;
        *ret = compose(table, slot);
    }
    lock_release(&lock);
    return status;
}

static struct handle_slot *find(struct handle_table *table, uintptr_t handle)
{
    uint32_t slot = (uint32_t)(handle >> SLOT_SHIFT) & (MOST_SLOTS - 1);
    if (slot >= table->count || !table->slots[slot].object || compose(table, slot) != handle)
        return NULL;
    return &table->slots[slot];
}

static void release(struct handle_table *table, struct handle_slot *slot)
{
    slot->object = NULL;
    slot->generation = (slot->generation + 1) & GENERATION_MASK;
    slot->generation += slot->generation == 0;
    slot->next_free = table->free_head;
    table->free_head = (uint32_t)(slot - table->slots) + 1;
}

static void *look(struct handle_table *table, uintptr_t handle, bool take)
{
    lock_take(&lock);
    struct handle_slot *slot = find(table, handle);
    void *object = slot ? slot->object : NULL;
    if (slot && take)
        release(table, slot);
    lock_release(&lock);
    return object;
}

void *handle_get(struct handle_table *table, uintptr_t handle)
{
    return look(table, handle, false);
}

void *handle_take(struct handle_table *table, uintptr_t handle)
{
    return look(table, handle, true);
}
