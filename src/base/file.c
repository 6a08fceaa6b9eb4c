/* SPDX-License-Identifier: MIT */
/*
 * Whole files: read, replaced in one step, locked, checked.
 *
 * A replacement is durable when the function returns: the content is synced, the file renamed, then
 * the folder synced. Disk operations go through `file_steps`, so that a test can record them, make
 * them fail or stop between them.
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int step_open(int dir_fd, const char *path, int flags, mode_t mode)
{
    return openat(dir_fd, path, flags, mode);
}

static int step_unlink(int dir_fd, const char *path)
{
    return unlinkat(dir_fd, path, 0);
}

ssize_t file_write_limited(int fd, const void *data, size_t size, off_t at)
{
    sigset_t too_large, before, pending;
    const struct timespec at_once = {0, 0};
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &too_large, &before);
    ssize_t count = at < 0 ? write(fd, data, size) : pwrite(fd, data, size, at);
    int error = errno;
    if (!sigismember(&pending, SIGXFSZ))
        sigtimedwait(&too_large, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return count;
}

static ssize_t write_limited(int fd, const void *data, size_t size)
{
    return file_write_limited(fd, data, size, -1);
}

struct file_steps file_steps = {.open = step_open,
                                .write = write_limited,
                                .sync = fsync,
                                .rename = renameat,
                                .unlink = step_unlink};

static int open_again(int dir_fd, const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = file_steps.open(dir_fd, path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static void close_auto(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}
#define FD_AUTO __attribute__((cleanup(close_auto))) int

/* ---- reading ---- */

static LSTATUS read_most(int fd, size_t most, struct buffer *ret)
{
    enum { LARGE = 256 << 10 };
    struct stat st;
    buffer_clear(ret);
    /* one byte more than the file's size, so that the last read, which finds the file's end, needs
     * no larger buffer */
    size_t piece = fstat(fd, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size + 1 : 4096;
    for (;;) {
        if (ret->len > most || piece - 1 > most)
            return ERROR_FILE_TOO_LARGE;
        if (!buffer_reserve(ret, piece))
            return ERROR_NOT_ENOUGH_MEMORY;
        if (piece >= LARGE)
            memory_populate(ret->data + ret->len, piece);
        ssize_t count = read(fd, ret->data + ret->len, ret->capacity - ret->len - 1);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return status_from_errno(errno);
        if (count == 0)
            return ERROR_SUCCESS;
        ret->len += (size_t)count;
        ret->data[ret->len] = '\0';
        piece = ret->capacity - ret->len - 1 ? ret->capacity - ret->len - 1 : 4096;
    }
}

const char *file_kind_of(const struct stat *st)
{
    return S_ISREG(st->st_mode)    ? NULL
           : S_ISDIR(st->st_mode)  ? "it is a folder, not a file"
           : S_ISFIFO(st->st_mode) ? "it is a pipe (FIFO), not a file"
           : S_ISSOCK(st->st_mode) ? "it is a socket, not a file"
           : S_ISLNK(st->st_mode)  ? "it is a symbolic link, not a file"
                                   : "it is a device, not a file";
}

const char *file_kind(const char *path)
{
    struct stat st;
    return stat(path, &st) != 0 ? NULL : file_kind_of(&st);
}

LSTATUS file_read_fd(int fd, struct buffer *ret)
{
    return read_most(fd, SIZE_MAX, ret);
}

LSTATUS file_read_most(int dir_fd, const char *path, size_t most, struct buffer *ret)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK; /* a pipe must not block us */
    buffer_clear(ret);
    FD_AUTO fd = openat(dir_fd, path, flags);
    return fd < 0 ? status_from_errno(errno) : read_most(fd, most, ret);
}

LSTATUS file_read(int dir_fd, const char *path, struct buffer *ret)
{
    return file_read_most(dir_fd, path, SIZE_MAX, ret);
}

/* ---- replacing ---- */

static LSTATUS open_folder_of(int dir_fd, const char *path, int *ret_fd, const char **ret_name)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 1;
    *ret_fd = -1;
    *ret_name = slash ? slash + 1 : path;
    if (length >= sizeof folder || strlen(*ret_name) > NAME_MAX)
        return ERROR_FILENAME_EXCED_RANGE;
    memcpy(folder, slash ? path : ".", length);
    strcpy(folder + length, slash && !length ? "/" : "");
    *ret_fd = open_again(dir_fd, folder, O_RDONLY | O_DIRECTORY, 0);
    return *ret_fd < 0 ? status_from_errno(errno) : ERROR_SUCCESS;
}

static LSTATUS write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t count = file_steps.write(fd, data, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return status_from_errno(errno);
        if (count == 0)
            return ERROR_WRITE_FAULT;
        data += count;
        size -= (size_t)count;
    }
    return ERROR_SUCCESS;
}

static LSTATUS sync_all(int fd)
{
    int result;
    do
        result = file_steps.sync(fd);
    while (result < 0 && errno == EINTR);
    return result < 0 ? status_from_errno(errno) : ERROR_SUCCESS;
}

/* Syncs the folder. Some file systems cannot do that and return EINVAL, which is not an error
 * here. */
static LSTATUS sync_folder(int folder)
{
    LSTATUS status = sync_all(folder);
    return status == ERROR_INVALID_PARAMETER ? ERROR_SUCCESS : status;
}

static bool is_later(const struct timespec *time, const struct timespec *than)
{
    return time->tv_sec != than->tv_sec ? time->tv_sec > than->tv_sec
                                        : time->tv_nsec > than->tv_nsec;
}

/* File systems store times in steps of 1 ns to 2 s: adds larger and larger steps until the stored
 * time is later than `after`. */
static LSTATUS make_later(int fd, const struct timespec *after, struct stat *ret)
{
    static const long steps_ns[] = {0, 1, 1000, 1000000, 1000000000, 2000000000};
    for (size_t i = 0; i < COUNT(steps_ns); i++) {
        int64_t ns = after ? after->tv_nsec + (int64_t)steps_ns[i] : 0;
        struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = ns % 1000000000}};
        times[1].tv_sec = after ? after->tv_sec + (time_t)(ns / 1000000000) : 0;
        if (i && futimens(fd, times) != 0)
            break;
        if (fstat(fd, ret) != 0)
            break;
        if (!after || is_later(&ret->st_mtim, after))
            return ERROR_SUCCESS;
    }
    return ERROR_WRITE_FAULT;
}

static LSTATUS fill(int fd, mode_t mode, const void *data, size_t size,
                    const struct timespec *after, struct stat *ret_stat)
{
    if (fchmod(fd, mode) != 0) /* gives the file the requested mode, whatever the umask */
        return status_from_errno(errno);
    LSTATUS status = write_all(fd, data, size);
    if (status == ERROR_SUCCESS)
        status = make_later(fd, after, ret_stat);
    return status ? status : sync_all(fd);
}

enum { TEMPORARY_SIZE = 32 };

/* Creates a temporary file with a random name, which does not contain the final file's name,
 * because that may already have the maximum length. Readers ignore files with the ending of
 * temporary files. */
static LSTATUS open_temporary(int folder, char name[static TEMPORARY_SIZE], int *ret_fd)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t number = (uint64_t)clock_ticks() ^ (uint64_t)getpid() << 40;
        if (getrandom(&number, sizeof number, GRND_NONBLOCK) < 0)
            number += (uint64_t)attempt;
        snprintf(name, TEMPORARY_SIZE, ".%016llx.tmp", (unsigned long long)number);
        *ret_fd = open_again(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (*ret_fd >= 0)
            return ERROR_SUCCESS;
        if (errno != EEXIST)
            break;
    }
    return status_from_errno(errno);
}

LSTATUS file_replace(int dir_fd, const char *path, mode_t mode, const void *data, size_t size,
                     const struct timespec *after, struct stat *ret_stat)
{
    const char *name;
    char temporary[TEMPORARY_SIZE];
    FD_AUTO folder = -1;
    FD_AUTO fd = -1;
    struct stat st;
    LSTATUS status = open_folder_of(dir_fd, path, &folder, &name);
    if (status == ERROR_SUCCESS)
        status = open_temporary(folder, temporary, &fd);
    if (status != ERROR_SUCCESS)
        return status;
    status = fill(fd, mode, data, size, after, &st);
    if (status == ERROR_SUCCESS && file_steps.rename(folder, temporary, folder, name) != 0)
        status = status_from_errno(errno);
    if (status != ERROR_SUCCESS) {
        file_steps.unlink(folder, temporary);
        return status;
    }
    if (ret_stat)
        *ret_stat = st;
    return sync_folder(folder);
}

LSTATUS file_remove(int dir_fd, const char *path)
{
    const char *name;
    FD_AUTO folder = -1;
    LSTATUS status = open_folder_of(dir_fd, path, &folder, &name);
    if (status != ERROR_SUCCESS)
        return status;
    if (file_steps.unlink(folder, name) != 0)
        return status_from_errno(errno);
    return sync_folder(folder);
}

/* ---- folders and locks ---- */

static LSTATUS make_folder(const char *path, mode_t mode)
{
    struct stat st;
    if (mkdir(path, 0700) != 0) {
        int error = errno;
        bool there = stat(path, &st) == 0;
        if (there && !S_ISDIR(st.st_mode))
            return ERROR_PATH_NOT_FOUND;
        return there ? ERROR_SUCCESS : status_from_errno(error);
    }
    const char *name;
    FD_AUTO parent = -1;
    if (chmod(path, mode) != 0)
        return status_from_errno(errno);
    if (open_folder_of(AT_FDCWD, path, &parent, &name) != ERROR_SUCCESS)
        return ERROR_SUCCESS; /* a parent that this user may enter but not read cannot be opened to
                               * be synced */
    return sync_folder(parent);
}

LSTATUS file_make_folders(const char *path, mode_t mode)
{
    char part[PATH_MAX];
    if (!*path)
        return ERROR_PATH_NOT_FOUND;
    if (strlen(path) >= sizeof part)
        return ERROR_FILENAME_EXCED_RANGE;
    for (const char *at = path; *at;) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        memcpy(part, path, (size_t)(at - path));
        part[at - path] = '\0';
        LSTATUS status = make_folder(part, mode);
        if (status != ERROR_SUCCESS)
            return status;
        at += strspn(at, "/");
    }
    return ERROR_SUCCESS;
}

LSTATUS file_lock(int dir_fd, const char *path, int *ret_fd)
{
    int fd = open_again(dir_fd, path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NOCTTY, 0600);
    *ret_fd = -1;
    if (fd < 0)
        return status_from_errno(errno);
    int result;
    do
        result = flock(fd, LOCK_EX);
    while (result < 0 && errno == EINTR);
    if (result < 0) {
        LSTATUS status = status_from_errno(errno);
        close(fd);
        return status;
    }
    *ret_fd = fd;
    return ERROR_SUCCESS;
}

void file_unlock(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}
