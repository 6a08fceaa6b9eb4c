/* SPDX-License-Identifier: MIT */
/*
 * Input: bytes for the walker and for the checker of provider answers. The seeds are the golden
 * blocks as binary files; tests/wire/seeds.c checks that both are equal.
 */
#include "target.h"

#include "../tests/wire/everything.h"
#include "wire/wire.h"

enum { HEADER = 112 }; /* size of the header of the hand-made golden blocks */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct everything found;
    struct wire_finding finding;
    walk_everything(data, size, &found);
    wire_check_objects(data, size, 1, &finding);
    if (size > HEADER)
        wire_check_objects(data + HEADER, size - HEADER, data[28], &finding);
    return 0;
}
