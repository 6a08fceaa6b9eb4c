/* SPDX-License-Identifier: MIT */
/*
 * Named objects, which exist as long as a process has a handle or a view of them.
 *
 * An object is a file in its user's folder /dev/shm/openperflib-UID, which other users may not
 * enter (with OPENPERFLIB_ROOT: the folder `objects` in it). Every handle has a shared lock on its
 * file, and every view keeps that of its handle; the kernel releases them when a process ends or is
 * killed. A file without locks is a dead object: it is not found, and the next process that uses
 * the folder removes it. The folder's own lock makes each step atomic. There is only one session,
 * the machine's: Global\x, Local\x and x are the same.
 */
#include "shims.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = "OPLOBJ1";
enum { FILE_NAME_SIZE = 256, PLAIN_MOST = 200 };

static DWORD status_of(int error)
{
    switch (error) {
    case ENOENT:
        return ERROR_FILE_NOT_FOUND;
    case EMFILE:
    case ENFILE:
        return ERROR_TOO_MANY_OPEN_FILES;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
        return ERROR_NOT_ENOUGH_MEMORY;
    default:
        return ERROR_ACCESS_DENIED;
    }
}

/* ---- the folder ---- */

static bool folder_path(char ret[static PATH_MAX])
{
    const char *root = secure_getenv("OPENPERFLIB_ROOT");
    int length = root && *root ? snprintf(ret, PATH_MAX, "%s", root) : 0;
    if (length >= PATH_MAX - 16)
        return false;
    if (length > 0) {
        mkdir(ret, 0755);
        strcpy(ret + length, "/objects");
    } else {
        snprintf(ret, PATH_MAX, "/dev/shm/openperflib-%u", (unsigned)geteuid());
    }
    return true;
}

/* Opens and locks the folder, or returns -1. A folder that belongs to, or is accessible by,
 * other users is refused. */
static int folder_take(bool make, DWORD *ret_status)
{
    struct stat st;
    char path[PATH_MAX];
    if (!folder_path(path)) {
        *ret_status = ERROR_FILENAME_EXCED_RANGE;
        return -1;
    }
    if (make)
        mkdir(path, 0700);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    *ret_status = folder < 0 ? status_of(errno) : ERROR_SUCCESS;
    if (folder < 0)
        return -1;
    if (fstat(folder, &st) != 0 || st.st_uid != geteuid() || st.st_mode & 077) {
        *ret_status = ERROR_ACCESS_DENIED;
        close(folder);
        return -1;
    }
    while (flock(folder, LOCK_EX) != 0 && errno == EINTR)
        continue;
    return folder;
}

/* Is the object dead? If not, a handle or view has a shared lock, and an exclusive lock fails. */
static bool is_gone(int file)
{
    return flock(file, LOCK_EX | LOCK_NB) == 0;
}

static void sweep(int folder)
{
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again >= 0 ? fdopendir(again) : NULL;
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        if (entry->d_name[0] == '.')
            continue;
        int file = openat(folder, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file >= 0 && is_gone(file))
            unlinkat(folder, entry->d_name, 0);
        if (file >= 0)
            close(file);
    }
    if (list)
        closedir(list);
    else if (again >= 0)
        close(again);
}

void opl_shim_sweep(void)
{
    DWORD status, error = GetLastError();
    int saved = errno, folder = folder_take(false, &status);
    if (folder >= 0) {
        sweep(folder);
        close(folder);
    }
    errno = saved;
    SetLastError(error);
}

/* ---- names ---- */

static uint64_t hash(const char *text, uint64_t value)
{
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return value;
}

/* Makes the name of an object's file. Letters and digits are kept, so that `ls` shows readable
 * names, and other bytes are written as %XX. A long name is cut, and ends in two hashes. */
static DWORD file_name(const char *name, char ret[static FILE_NAME_SIZE])
{
    static const char kept[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
    size_t used = 0;
    if (!strncmp(name, "Global\\", 7))
        name += 7;
    else if (!strncmp(name, "Local\\", 6))
        name += 6;
    if (strchr(name, '\\'))
        return ERROR_PATH_NOT_FOUND;
    if (!*name)
        return ERROR_INVALID_NAME;
    if (MultiByteToWideChar(CP_UTF8, 0, name, -1, NULL, 0) > MAX_PATH)
        return ERROR_FILENAME_EXCED_RANGE;
    for (const char *at = name; *at && used < PLAIN_MOST; at++) {
        bool plain = strchr(kept, *at) && (*at != '.' || at != name);
        used += (size_t)snprintf(ret + used, FILE_NAME_SIZE - used, plain ? "%c" : "%%%02x",
                                 (unsigned char)*at);
    }
    if (used >= PLAIN_MOST)
        snprintf(ret + PLAIN_MOST, FILE_NAME_SIZE - PLAIN_MOST, "~%016llx%016llx",
                 (unsigned long long)hash(name, UINT64_C(0xcbf29ce484222325)),
                 (unsigned long long)hash(name, UINT64_C(0x9e3779b97f4a7c15)));
    return ERROR_SUCCESS;
}

/* ---- objects ---- */

bool opl_shim_header(int descriptor, struct opl_shim_header *ret)
{
    return pread(descriptor, ret, sizeof *ret, 0) == sizeof *ret &&
           memcmp(ret->magic, magic, sizeof magic) == 0;
}

static DWORD fill(int file, const struct opl_shim_object *desired)
{
    struct opl_shim_header header = {.kind = desired->kind,
                                     .pointer_bytes = sizeof(void *),
                                     .bytes = desired->bytes,
                                     .protection = desired->protection};
    memcpy(header.magic, magic, sizeof magic);
    if (desired->bytes > INT64_MAX - SHIM_HEADER ||
        ftruncate(file, (off_t)(SHIM_HEADER + desired->bytes)) != 0)
        return ERROR_NOT_ENOUGH_MEMORY;
    /* allocates the memory now: with a full /dev/shm the first write would kill the process */
    int error = desired->committed && desired->bytes
                    ? posix_fallocate(file, SHIM_HEADER, (off_t)desired->bytes)
                    : 0;
    if (error && error != EOPNOTSUPP && error != EINVAL)
        return status_of(error);
    if (pwrite(file, &header, sizeof header, 0) != sizeof header)
        return status_of(errno);
    return desired->kind != SHIM_MUTEX || opl_shim_mutex_prepare(file) ? ERROR_SUCCESS
                                                                       : ERROR_NOT_ENOUGH_MEMORY;
}

static DWORD hold(int file)
{
    return flock(file, LOCK_SH | LOCK_NB) == 0 ? ERROR_SUCCESS : ERROR_ACCESS_DENIED;
}

/* Opens an existing object. The caller has locked the folder and removed dead objects. */
static DWORD join(int folder, const char *name, enum opl_shim_kind kind, bool writable, int *ret)
{
    struct opl_shim_header header;
    int file = openat(folder, name, (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return status_of(errno);
    DWORD status =
        !opl_shim_header(file, &header) || header.kind != kind ? ERROR_INVALID_HANDLE : hold(file);
    if (status)
        close(file);
    else
        *ret = file;
    return status;
}

static DWORD make(int folder, const char *name, const struct opl_shim_object *desired, int *ret)
{
    int file = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return status_of(errno);
    DWORD status = hold(file);
    status = status ? status : fill(file, desired);
    if (status) {
        unlinkat(folder, name, 0);
        close(file);
    } else {
        *ret = file;
    }
    return status;
}

static DWORD make_nameless(const struct opl_shim_object *desired, int *ret)
{
    int file = memfd_create("openperflib", MFD_CLOEXEC);
    DWORD status = file < 0 ? status_of(errno) : fill(file, desired);
    if (status && file >= 0)
        close(file);
    if (!status)
        *ret = file;
    return status;
}

DWORD opl_shim_create(const struct opl_shim_object *desired, int *ret, bool *ret_existed)
{
    DWORD status;
    char name[FILE_NAME_SIZE];
    *ret_existed = false;
    if (!desired->name || !*desired->name)
        return make_nameless(desired, ret);
    status = file_name(desired->name, name);
    int folder = status ? -1 : folder_take(true, &status);
    if (status)
        return status;
    sweep(folder);
    status = join(folder, name, desired->kind, true, ret);
    *ret_existed = status == ERROR_SUCCESS;
    if (status == ERROR_FILE_NOT_FOUND)
        status = make(folder, name, desired, ret);
    close(folder);
    return status;
}

DWORD opl_shim_open(const char *wanted, enum opl_shim_kind kind, bool writable, int *ret)
{
    char name[FILE_NAME_SIZE];
    DWORD status = wanted ? file_name(wanted, name) : ERROR_INVALID_PARAMETER;
    int folder = status ? -1 : folder_take(false, &status);
    if (status)
        return status;
    sweep(folder);
    status = join(folder, name, kind, writable, ret);
    close(folder);
    return status;
}
