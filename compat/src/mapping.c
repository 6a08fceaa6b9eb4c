/* SPDX-License-Identifier: MIT */
/* File mappings: memory that processes share by a name (object.c), and views of files. */
#include "shims.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GRANULARITY = 65536 };

/* The views of this module, with their lengths, which UnmapViewOfFile does not get. */
struct mapped_view {
    struct mapped_view *next;
    void *address;
    size_t bytes;
};
static struct mapped_view *views;

/* ---- creating ---- */

static bool is_writable(DWORD protection)
{
    protection &= 0xff;
    return protection == PAGE_READWRITE || protection == PAGE_EXECUTE_READWRITE;
}

static DWORD check_protection(DWORD protection)
{
    switch (protection & 0xff) {
    case PAGE_READONLY:
    case PAGE_READWRITE:
    case PAGE_WRITECOPY:
    case PAGE_EXECUTE_READ:
    case PAGE_EXECUTE_READWRITE:
        return protection & SEC_IMAGE ? ERROR_NOT_SUPPORTED : ERROR_SUCCESS;
    default:
        return ERROR_INVALID_PARAMETER;
    }
}

/* Enlarges a file to the size of its mapping. */
static DWORD enlarge(int file, uint64_t size, bool writable, uint64_t bytes)
{
    if (!bytes && !size)
        return ERROR_FILE_INVALID;
    bool enough = bytes <= size || (writable && ftruncate(file, (off_t)bytes) == 0);
    return enough ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

/* Maps a file, which is opened again so that the caller may close `handle`. `bytes` 0: the file's
 * current size. */
static HANDLE map_file(HANDLE handle, DWORD protection, uint64_t bytes)
{
    struct stat st;
    char path[64];
    int file;
    if (opl_shim_kind(handle, &file) != SHIM_FILE || fstat(file, &st) != 0) {
        SetLastError(ERROR_INVALID_HANDLE);
        return NULL;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int flags = fcntl(file, F_GETFL) & O_ACCMODE;
    bool allowed = flags == O_RDWR || (flags == O_RDONLY && !is_writable(protection));
    int again = allowed ? open(path, flags | O_CLOEXEC) : -1;
    DWORD status = again < 0 ? ERROR_ACCESS_DENIED
                             : enlarge(again, (uint64_t)st.st_size, is_writable(protection), bytes);
    if (status && again >= 0)
        close(again);
    SetLastError(status);
    return status ? NULL : opl_shim_handle(again, SHIM_FILE_MAPPING);
}

HANDLE WINAPI CreateFileMappingA(HANDLE file, LPSECURITY_ATTRIBUTES security, DWORD protection,
                                 DWORD bytes_high, DWORD bytes_low, LPCSTR name)
{
    bool existed = false;
    int made = -1;
    struct opl_shim_object desired = {.name = name,
                                      .kind = SHIM_MAPPING,
                                      .bytes = (uint64_t)bytes_high << 32 | bytes_low,
                                      .protection = protection & 0xff,
                                      .committed = !(protection & SEC_RESERVE)};
    DWORD status = check_protection(protection);
    if (!status && file != INVALID_HANDLE_VALUE) {
        if (!name || !*name)
            return map_file(file, protection, desired.bytes);
        status = ERROR_NOT_SUPPORTED;
    }
    if (!status && !desired.bytes)
        status = ERROR_INVALID_PARAMETER;
    status = status ? status : opl_shim_create(&desired, &made, &existed);
    HANDLE handle = status ? NULL : opl_shim_handle(made, SHIM_MAPPING);
    if (status || handle)
        SetLastError(status ? status : existed ? ERROR_ALREADY_EXISTS : ERROR_SUCCESS);
    return handle;
}

HANDLE WINAPI CreateFileMappingW(HANDLE file, LPSECURITY_ATTRIBUTES security, DWORD protection,
                                 DWORD bytes_high, DWORD bytes_low, LPCWSTR name)
{
    char *narrow = name ? opl_shim_narrow(name) : NULL;
    if (name && !narrow) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    HANDLE handle = CreateFileMappingA(file, security, protection, bytes_high, bytes_low, narrow);
    free(narrow);
    return handle;
}

HANDLE WINAPI OpenFileMappingA(DWORD access, BOOL inherit, LPCSTR name)
{
    int file = -1;
    DWORD status = opl_shim_open(name, SHIM_MAPPING, (access & FILE_MAP_WRITE) != 0, &file);
    SetLastError(status);
    return status ? NULL : opl_shim_handle(file, SHIM_MAPPING);
}

HANDLE WINAPI OpenFileMappingW(DWORD access, BOOL inherit, LPCWSTR name)
{
    char *narrow = name ? opl_shim_narrow(name) : NULL;
    HANDLE handle = OpenFileMappingA(access, inherit, narrow);
    free(narrow);
    return handle;
}

/* ---- views ---- */

struct extent {
    int file;
    uint64_t header, bytes;
    bool writable;
};

static DWORD extent_of(HANDLE mapping, struct extent *ret)
{
    struct opl_shim_header header;
    struct stat st;
    enum opl_shim_kind kind = opl_shim_kind(mapping, &ret->file);
    int flags = kind ? fcntl(ret->file, F_GETFL) & O_ACCMODE : 0;
    ret->writable = flags == O_RDWR;
    if (kind == SHIM_MAPPING && opl_shim_header(ret->file, &header)) {
        ret->header = SHIM_HEADER;
        ret->bytes = header.bytes;
        ret->writable = ret->writable && is_writable(header.protection);
        return ERROR_SUCCESS;
    }
    if (kind != SHIM_FILE_MAPPING || fstat(ret->file, &st) != 0)
        return ERROR_INVALID_HANDLE;
    ret->header = 0;
    ret->bytes = (uint64_t)st.st_size;
    return ERROR_SUCCESS;
}

static DWORD remember(void *address, size_t bytes)
{
    struct mapped_view *view = malloc(sizeof *view);
    if (!view)
        return ERROR_NOT_ENOUGH_MEMORY;
    *view = (struct mapped_view){.address = address, .bytes = bytes};
    opl_shim_lock();
    view->next = views;
    views = view;
    opl_shim_unlock();
    return ERROR_SUCCESS;
}

/* Returns the reason why mmap failed; `placed`: an address was requested. */
static DWORD mmap_error(bool placed)
{
    if (placed && (errno == EEXIST || errno == EINVAL))
        return ERROR_INVALID_ADDRESS;
    return errno == EACCES ? ERROR_ACCESS_DENIED : ERROR_NOT_ENOUGH_MEMORY;
}

static DWORD map(const struct extent *extent, DWORD access, uint64_t offset, size_t bytes,
                 void **address)
{
    bool writes = (access & FILE_MAP_WRITE) != 0, copies = access == FILE_MAP_COPY;
    int protection = PROT_READ | (writes || copies ? PROT_WRITE : 0);
    int flags = (copies ? MAP_PRIVATE : MAP_SHARED) | (*address ? MAP_FIXED_NOREPLACE : 0);
    if (writes && !extent->writable)
        return ERROR_ACCESS_DENIED;
    void *got =
        mmap(*address, bytes, protection, flags, extent->file, (off_t)(extent->header + offset));
    if (got == MAP_FAILED)
        return mmap_error(*address);
    DWORD status = *address && got != *address ? ERROR_INVALID_ADDRESS : remember(got, bytes);
    if (status)
        munmap(got, bytes);
    else
        *address = got;
    return status;
}

LPVOID WINAPI MapViewOfFileEx(HANDLE mapping, DWORD access, DWORD offset_high, DWORD offset_low,
                              SIZE_T bytes, LPVOID address)
{
    struct extent extent;
    uint64_t offset = (uint64_t)offset_high << 32 | offset_low;
    DWORD status = extent_of(mapping, &extent);
    if (!status && !(access & (FILE_MAP_COPY | FILE_MAP_WRITE | FILE_MAP_READ)))
        status = ERROR_INVALID_PARAMETER;
    if (!status && (offset % GRANULARITY || (uintptr_t)address % GRANULARITY))
        status = ERROR_MAPPED_ALIGNMENT;
    if (!status && (offset >= extent.bytes || bytes > extent.bytes - offset))
        status = ERROR_ACCESS_DENIED;
    if (!status) {
        uint64_t rest = bytes ? bytes : extent.bytes - offset;
        status = rest > SIZE_MAX ? ERROR_NOT_ENOUGH_MEMORY
                                 : map(&extent, access, offset, (size_t)rest, &address);
    }
    if (status)
        SetLastError(status);
    return status ? NULL : address;
}

LPVOID WINAPI MapViewOfFile(HANDLE mapping, DWORD access, DWORD offset_high, DWORD offset_low,
                            SIZE_T bytes)
{
    return MapViewOfFileEx(mapping, access, offset_high, offset_low, bytes, NULL);
}

BOOL WINAPI UnmapViewOfFile(LPCVOID address)
{
    struct mapped_view *found = NULL;
    opl_shim_lock();
    for (struct mapped_view **link = &views; *link && !found;
         link = found ? link : &(*link)->next) {
        if ((*link)->address != address)
            continue;
        found = *link;
        *link = found->next;
        break;
    }
    opl_shim_unlock();
    if (!found)
        return opl_shim_fail(ERROR_INVALID_ADDRESS);
    munmap(found->address, found->bytes);
    free(found);
    opl_shim_sweep();
    return TRUE;
}

BOOL WINAPI FlushViewOfFile(LPCVOID address, SIZE_T bytes)
{
    bool good = false;
    opl_shim_lock();
    for (const struct mapped_view *view = views; view && !good; view = view->next)
        good = view->address == address && bytes <= view->bytes &&
               msync(view->address, bytes ? bytes : view->bytes, MS_SYNC) == 0;
    opl_shim_unlock();
    return good ? TRUE : opl_shim_fail(ERROR_INVALID_ADDRESS);
}

/* ---- files to map ---- */

/* Converts a path to Linux' notation. Returns 0, or a status if the path is no file of this
 * machine. */
static DWORD own_path(LPCSTR path, char ret[static PATH_MAX])
{
    if (!path || !*path)
        return ERROR_PATH_NOT_FOUND;
    if (!strncmp(path, "\\\\.\\", 4) || !strncmp(path, "\\\\?\\", 4))
        return ERROR_FILE_NOT_FOUND; /* a device of Windows */
    if (!strncmp(path, "\\\\", 2))
        return ERROR_BAD_NETPATH;
    if (path[1] == ':' || strlen(path) >= PATH_MAX)
        return ERROR_PATH_NOT_FOUND; /* there are no drive letters here */
    strcpy(ret, path);
    for (char *at = ret; (at = strchr(at, '\\'));)
        *at = '/';
    return ERROR_SUCCESS;
}

static int open_flags(DWORD access, DWORD disposition)
{
    static const int how[] = {0, O_CREAT | O_EXCL, O_CREAT | O_TRUNC, 0, O_CREAT, O_TRUNC};
    bool reads = access & GENERIC_READ || !(access & GENERIC_WRITE);
    return how[disposition] |
           (!(access & GENERIC_WRITE) ? O_RDONLY
            : reads                   ? O_RDWR
                                      : O_WRONLY) |
           O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
}

static DWORD open_regular(const char *path, int flags, int *ret)
{
    struct stat st;
    *ret = open(path, flags, 0666);
    if (*ret < 0)
        return errno == ENOENT    ? ERROR_FILE_NOT_FOUND
               : errno == ENOTDIR ? ERROR_PATH_NOT_FOUND
               : errno == EEXIST  ? ERROR_FILE_EXISTS
                                  : ERROR_ACCESS_DENIED;
    if (fstat(*ret, &st) == 0 && S_ISREG(st.st_mode))
        return ERROR_SUCCESS;
    close(*ret);
    return ERROR_ACCESS_DENIED;
}

HANDLE WINAPI CreateFileA(LPCSTR path, DWORD desired, DWORD share, LPSECURITY_ATTRIBUTES security,
                          DWORD disposition, DWORD attributes, HANDLE template_file)
{
    int file;
    char own[PATH_MAX];
    DWORD status = own_path(path, own);
    if (!status && (disposition < CREATE_NEW || disposition > TRUNCATE_EXISTING))
        status = ERROR_INVALID_PARAMETER;
    bool existed = !status && access(own, F_OK) == 0;
    if (!status)
        status = open_regular(own, open_flags(desired, disposition), &file);
    HANDLE handle = status ? NULL : opl_shim_handle(file, SHIM_FILE);
    if (status || handle)
        SetLastError(status ? status
                     : existed && (disposition == CREATE_ALWAYS || disposition == OPEN_ALWAYS)
                         ? ERROR_ALREADY_EXISTS
                         : ERROR_SUCCESS);
    return handle ? handle : INVALID_HANDLE_VALUE;
}

HANDLE WINAPI CreateFileW(LPCWSTR path, DWORD access, DWORD share, LPSECURITY_ATTRIBUTES security,
                          DWORD disposition, DWORD attributes, HANDLE template_file)
{
    char *narrow = path ? opl_shim_narrow(path) : NULL;
    HANDLE handle =
        CreateFileA(narrow, access, share, security, disposition, attributes, template_file);
    free(narrow);
    return handle;
}
