/* SPDX-License-Identifier: MIT */
/*
 * The buffer a provider writes to: private, with 1 KiB of a known pattern on both sides. Writing
 * and checking the patterns takes 0.06 us, too little to need a way without them.
 * (docs/windows/articles.md#c125, docs/windows/articles.md#c126)
 */
#include "host/internal.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD_PATTERN = 0xA5 };

LSTATUS guard_arm(struct guarded *guarded, size_t capacity)
{
    size_t needed = capacity + 2 * (size_t)GUARD_BYTES;
    if (needed < capacity)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (needed > guarded->allocated) {
        free(guarded->memory);
        guarded->memory = malloc(needed);
        guarded->allocated = guarded->memory ? needed : 0;
        if (!guarded->memory)
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    guarded->capacity = capacity;
    memset(guarded->memory, GUARD_PATTERN, GUARD_BYTES);
    memset(guarded->memory + GUARD_BYTES + capacity, GUARD_PATTERN, GUARD_BYTES);
    return ERROR_SUCCESS;
}

unsigned char *guard_start(const struct guarded *guarded)
{
    return guarded->memory + GUARD_BYTES;
}

static bool pattern_intact(const unsigned char *guard)
{
    return guard[0] == GUARD_PATTERN && memcmp(guard, guard + 1, GUARD_BYTES - 1) == 0;
}

bool guard_intact(const struct guarded *guarded)
{
    return pattern_intact(guarded->memory) &&
           pattern_intact(guarded->memory + GUARD_BYTES + guarded->capacity);
}

void guard_done(struct guarded *guarded)
{
    free(guarded->memory);
    *guarded = (struct guarded){0};
}
