/* SPDX-License-Identifier: MIT */
/* Input: a compressed capture. It is read to its end, twice; each failure must have a message. A
 * checksum keeps most changed frames from being decoded, so the input is also tried without one. */
#include "capture.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *unchecked = malloc(size + 1);
    capture_try(data, size);
    if (unchecked && size > 4 && data[4] & 4) {
        memcpy(unchecked, data, size);
        unchecked[4] &= (unsigned char)~4;
        capture_try(unchecked, size);
    }
    free(unchecked);
    return 0;
}
