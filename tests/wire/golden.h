/* SPDX-License-Identifier: MIT */
/* Golden blocks (expected or recorded answers) for tests: hexadecimal text with comments
 * (tests/golden/NAME.hex), and blocks recorded on Windows (tests/golden/windows/NAME.perf). Each is
 * loaded into memory of exactly its size, so that a sanitizer reports any read beyond it. */
#ifndef TESTS_WIRE_GOLDEN_H
#define TESTS_WIRE_GOLDEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/wire.h"

struct golden {
    unsigned char *data; /* after golden_load_odd at an odd address */
    size_t size;
    void *memory;
};

/* The names of all golden blocks, such as "hello.hex" or "windows/s00-7-System.perf"; ends with
 * NULL. */
extern const char *const golden_names[];

void golden_load(const char *name, struct golden *ret);
/* Loads the block to an odd address. */
void golden_load_odd(const char *name, struct golden *ret);
void golden_done(struct golden *golden);
/* Loads a block and begins to walk through it; fails the test if the block is not valid. */
void golden_open(const char *name, struct golden *ret, opl_block *block);

/* Reads the 32-bit number at `offset`, in the byte order of the block. */
uint32_t golden_get(const struct golden *golden, size_t offset);
void golden_set(struct golden *golden, size_t offset, uint32_t value);

/* Functions that find a part of a block, and fail the test if there is none. */
opl_object_view object_at(opl_block *block, uint32_t position);
opl_counter_view counter_at(opl_block *block, const opl_object_view *object, uint32_t position);
opl_instance_view instance_at(opl_block *block, const opl_object_view *object, uint32_t position);

#endif
