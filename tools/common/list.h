/* SPDX-License-Identifier: MIT */
/* An array that grows by one element at a time. */
#ifndef OPL_TOOLS_COMMON_LIST_H
#define OPL_TOOLS_COMMON_LIST_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Makes space for one more element of `size` bytes in the array that the pointer at `array_pointer`
 * points to; that pointer may change. */
static inline bool list_grow(void *array_pointer, size_t count, size_t *capacity, size_t size)
{
    void *array;
    if (count < *capacity)
        return true;
    size_t more = *capacity ? *capacity * 2 : 16;
    memcpy(&array, array_pointer, sizeof array);
    array = reallocarray(array, more, size);
    if (!array)
        return false;
    memcpy(array_pointer, &array, sizeof array);
    *capacity = more;
    return true;
}

#endif
