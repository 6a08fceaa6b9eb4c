/* SPDX-License-Identifier: MIT */
/* The function that each fuzz target defines. It must process any bytes without a sanitizer's
 * finding. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
