/* SPDX-License-Identifier: MIT */
/* Input: bytes after the head of a binary capture. The capture is read to its end, twice; each
 * failure must have a message. */
#include "capture.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    capture_try(data, size);
    return 0;
}
