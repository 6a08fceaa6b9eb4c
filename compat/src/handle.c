/* SPDX-License-Identifier: MIT */
/*
 * Handles are the kernel's descriptors, so that each module of a process may link its own copy of
 * these functions and use handles that other modules made. The kind of a descriptor is read from
 * the kernel. Only handles of files have a mark, an additional bit of the number, so that a file's
 * descriptor that the program opened by itself is never closed.
 */
#include "shims.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MARK_FILE = 1 << 30, MARK_FILE_MAPPING = 1 << 29, MARKS = MARK_FILE | MARK_FILE_MAPPING };

BOOL opl_shim_fail(DWORD code)
{
    SetLastError(code);
    return FALSE;
}

HANDLE opl_shim_handle(int descriptor, enum opl_shim_kind kind)
{
    int mark = kind == SHIM_FILE ? MARK_FILE : kind == SHIM_FILE_MAPPING ? MARK_FILE_MAPPING : 0;
    if (descriptor >= 0 && descriptor < 3) {
        int low = descriptor;
        descriptor = fcntl(low, F_DUPFD_CLOEXEC, 3);
        close(low);
    }
    if (descriptor < 0)
        SetLastError(ERROR_TOO_MANY_OPEN_FILES);
    return descriptor < 0 ? NULL : (HANDLE)(intptr_t)(descriptor | mark);
}

/* Returns the kind of a regular file: objects of object.c have a header; a pidfd, which counts as a
 * regular file since Linux 6.9, is found by its link in /proc/self/fd. */
static enum opl_shim_kind regular_kind(int descriptor)
{
    struct opl_shim_header header;
    char path[64];
    if (opl_shim_header(descriptor, &header))
        return header.kind == SHIM_MAPPING || header.kind == SHIM_MUTEX ||
                       header.kind == SHIM_SNAPSHOT
                   ? (enum opl_shim_kind)header.kind
                   : SHIM_NOTHING;
    char target[32] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(path, target, sizeof target - 1);
    return length > 0 && (strstr(target, "pidfd") != NULL) ? SHIM_PROCESS : SHIM_NOTHING;
}

enum opl_shim_kind opl_shim_kind(HANDLE handle, int *ret_descriptor)
{
    struct stat st;
    intptr_t number = (intptr_t)handle;
    int descriptor = number > 0 && number <= INT32_MAX ? (int)number & ~MARKS : -1;
    enum opl_shim_kind kind = SHIM_NOTHING;
    *ret_descriptor = -1;
    if (descriptor < 3 || fstat(descriptor, &st) != 0)
        return SHIM_NOTHING;
    if (number & MARKS)
        kind = !S_ISREG(st.st_mode)        ? SHIM_NOTHING
               : (number & MARKS) == MARKS ? SHIM_NOTHING
               : number & MARK_FILE        ? SHIM_FILE
                                           : SHIM_FILE_MAPPING;
    else if (!(st.st_mode & S_IFMT))
        kind = SHIM_EVENT;
    else if (S_ISREG(st.st_mode))
        kind = regular_kind(descriptor);
    if (kind)
        *ret_descriptor = descriptor;
    return kind;
}

BOOL WINAPI CloseHandle(HANDLE handle)
{
    int descriptor;
    enum opl_shim_kind kind = opl_shim_kind(handle, &descriptor);
    if (!kind)
        return opl_shim_fail(ERROR_INVALID_HANDLE);
    if (kind == SHIM_MUTEX)
        opl_shim_mutex_leave(descriptor);
    if (close(descriptor) != 0)
        return opl_shim_fail(ERROR_INVALID_HANDLE);
    if (kind == SHIM_MUTEX || kind == SHIM_MAPPING)
        opl_shim_sweep();
    return TRUE;
}
