/* SPDX-License-Identifier: MIT */
/* Counts what a provider that is linked with the test allocates, and how many files it opens
 * (providers open files only by openat), and can let one allocation fail. The test must be linked
 * with --wrap=malloc, calloc, realloc and openat64. Only one source file of a program may include
 * this file, because it defines functions. */
#ifndef OPL_TEST_COUNTED_H
#define OPL_TEST_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __real_openat64(int folder, const char *path, int flags, mode_t mode);
int __wrap_openat64(int folder, const char *path, int flags, mode_t mode);

static unsigned allocations, opens;
static unsigned failing; /* number of the allocation that fails; 0: none */
static bool (*counts_open)(int folder, const char *path); /* which opens count; NULL: all */

int __wrap_openat64(int folder, const char *path, int flags, mode_t mode)
{
    opens += !counts_open || counts_open(folder, path);
    return __real_openat64(folder, path, flags, mode);
}

void *__wrap_malloc(size_t size)
{
    return ++allocations == failing ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return ++allocations == failing ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return ++allocations == failing ? NULL : __real_realloc(old, size);
}

#endif
