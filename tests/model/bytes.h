/* SPDX-License-Identifier: MIT */
/* The memory that a test of the model has in use. */
#ifndef OPL_TEST_MODEL_BYTES_H
#define OPL_TEST_MODEL_BYTES_H

#include <malloc.h>
#include <stddef.h>

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/* Returns the bytes in use; 0: this C library cannot report them. */
static inline size_t bytes_used(void)
{
    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
    return mallinfo2().uordblks + mallinfo2().hblkhd;
#else
    return 0;
#endif
}

#endif
