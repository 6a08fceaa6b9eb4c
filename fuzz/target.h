/* SPDX-License-Identifier: MIT */
/* What a fuzz target defines: any bytes must be processed without a finding of the sanitizers. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
