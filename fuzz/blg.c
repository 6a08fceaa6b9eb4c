/* SPDX-License-Identifier: MIT */
/* Any bytes after the head of a binary capture: read to the end, twice; failures must have a
 * message. */
#include "capture.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    capture_try(data, size);
    return 0;
}
