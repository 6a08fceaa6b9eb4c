/* SPDX-License-Identifier: MIT */
/* Global, local and heap memory, from malloc, preceded by the requested size. A handle is the
 * memory's address. */
#include "shims.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct heap_block {
    size_t bytes;
    _Alignas(max_align_t) char memory[];
};

static struct heap_block *block_of(const void *memory)
{
    return (struct heap_block *)((char *)memory - offsetof(struct heap_block, memory));
}

static void *allocate(bool zeroed, SIZE_T bytes)
{
    struct heap_block *block = NULL;
    if (bytes <= PTRDIFF_MAX - sizeof *block)
        block = zeroed ? calloc(1, sizeof *block + bytes) : malloc(sizeof *block + bytes);
    if (!block) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    block->bytes = bytes;
    return block->memory;
}

static void *reallocate(void *memory, bool zeroed, SIZE_T bytes)
{
    struct heap_block *block = NULL;
    size_t before = memory ? block_of(memory)->bytes : 0;
    if (!memory) {
        SetLastError(ERROR_INVALID_HANDLE);
        return NULL;
    }
    if (bytes <= PTRDIFF_MAX - sizeof *block)
        block = realloc(block_of(memory), sizeof *block + bytes);
    if (!block) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    if (zeroed && bytes > before)
        memset(block->memory + before, 0, bytes - before);
    block->bytes = bytes;
    return block->memory;
}

static void release(void *memory)
{
    if (memory)
        free(block_of(memory));
}

static SIZE_T size_of(const void *memory)
{
    if (!memory)
        SetLastError(ERROR_INVALID_HANDLE);
    return memory ? block_of(memory)->bytes : 0;
}

/* ---- global and local ---- */

HGLOBAL WINAPI GlobalAlloc(UINT flags, SIZE_T bytes)
{
    return allocate(flags & GMEM_ZEROINIT, bytes);
}

HGLOBAL WINAPI GlobalReAlloc(HGLOBAL memory, SIZE_T bytes, UINT flags)
{
    /* with GMEM_MODIFY the size is ignored */
    return flags & GMEM_MODIFY ? memory : reallocate(memory, flags & GMEM_ZEROINIT, bytes);
}

HGLOBAL WINAPI GlobalFree(HGLOBAL memory)
{
    release(memory);
    return NULL;
}

SIZE_T WINAPI GlobalSize(HGLOBAL memory)
{
    return size_of(memory);
}

LPVOID WINAPI GlobalLock(HGLOBAL memory)
{
    return memory;
}

BOOL WINAPI GlobalUnlock(HGLOBAL memory)
{
    return opl_shim_fail(NO_ERROR);
}

HLOCAL WINAPI LocalAlloc(UINT flags, SIZE_T bytes)
{
    return allocate(flags & LMEM_ZEROINIT, bytes);
}

HLOCAL WINAPI LocalReAlloc(HLOCAL memory, SIZE_T bytes, UINT flags)
{
    return flags & LMEM_MODIFY ? memory : reallocate(memory, flags & LMEM_ZEROINIT, bytes);
}

HLOCAL WINAPI LocalFree(HLOCAL memory)
{
    release(memory);
    return NULL;
}

SIZE_T WINAPI LocalSize(HLOCAL memory)
{
    return size_of(memory);
}

/* ---- the heap of the process ---- */

HANDLE WINAPI GetProcessHeap(void)
{
    static char heap;
    return &heap;
}

LPVOID WINAPI HeapAlloc(HANDLE heap, DWORD flags, SIZE_T bytes)
{
    return allocate(flags & HEAP_ZERO_MEMORY, bytes);
}

LPVOID WINAPI HeapReAlloc(HANDLE heap, DWORD flags, LPVOID memory, SIZE_T bytes)
{
    return reallocate(memory, flags & HEAP_ZERO_MEMORY, bytes);
}

BOOL WINAPI HeapFree(HANDLE heap, DWORD flags, LPVOID memory)
{
    release(memory);
    return TRUE;
}

SIZE_T WINAPI HeapSize(HANDLE heap, DWORD flags, LPCVOID memory)
{
    return memory ? size_of(memory) : (SIZE_T)-1;
}
