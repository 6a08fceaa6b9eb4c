/* SPDX-License-Identifier: MIT */
/* Continues 32-bit counters in 64 bits, because Prometheus takes a wrap for a restart. A hash table
 * keeps the last value of each counter; counters that were not seen for a while are forgotten when
 * it grows. */
#include "metrics.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 1024, FORGET_SECONDS = 600 };

struct carried {
    uint64_t key; /* 0: the place is free */
    uint32_t last, wraps;
    int64_t seen;
};
struct carry {
    struct carried *places;
    size_t capacity, count; /* capacity: a power of two */
};

struct carry *carry_new(void)
{
    struct carry *carry = calloc(1, sizeof *carry);
    if (carry)
        carry->places = calloc(carry->capacity = FIRST_CAPACITY, sizeof *carry->places);
    if (carry && !carry->places) {
        free(carry);
        return NULL;
    }
    return carry;
}

void carry_free(struct carry *carry)
{
    if (carry)
        free(carry->places);
    free(carry);
}

/* Returns the place of the key, or the free one where it belongs. */
static struct carried *place_of(struct carried *places, size_t capacity, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (capacity - 1);
    while (places[at].key && places[at].key != key)
        at = (at + 1) & (capacity - 1);
    return &places[at];
}

/* Makes space: forgets what was not seen lately, and doubles the table if that is not enough.
 * False: no memory. */
static bool grow(struct carry *carry, int64_t now)
{
    size_t kept = 0, capacity = carry->capacity;
    for (size_t i = 0; i < carry->capacity; i++)
        kept += carry->places[i].key && now - carry->places[i].seen < FORGET_SECONDS;
    if (kept > capacity / 4)
        capacity *= 2;
    struct carried *places = calloc(capacity, sizeof *places);
    if (!places)
        return false;
    for (size_t i = 0; i < carry->capacity; i++)
        if (carry->places[i].key && now - carry->places[i].seen < FORGET_SECONDS)
            *place_of(places, capacity, carry->places[i].key) = carry->places[i];
    free(carry->places);
    *carry = (struct carry){places, capacity, kept};
    return true;
}

/* A decrease by more than half of the range is a wrap, as in docs/formulas.md; any other decrease
 * means that something else is counted now, and begins anew. */
uint64_t carry_on(struct carry *carry, uint64_t key, uint32_t value, int64_t now)
{
    key = key ? key : 1;
    if (carry->count >= carry->capacity / 2 && !grow(carry, now) &&
        carry->count >= carry->capacity - 1)
        return value;
    struct carried *place = place_of(carry->places, carry->capacity, key);
    if (!place->key) {
        *place = (struct carried){.key = key};
        carry->count++;
    } else if (value < place->last) {
        place->wraps = place->last - value > UINT32_MAX / 2 ? place->wraps + 1 : 0;
    }
    place->last = value;
    place->seen = now;
    return (uint64_t)place->wraps << 32 | value;
}
