/* SPDX-License-Identifier: MIT */
/* Reads bytes at any position, through a window that moves. The bytes of a pipe are copied to an
 * unnamed file when they are requested, so that they can be read again. The window of a compressed
 * file has decompressed bytes. */
#include "log/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int spool_open(void)
{
    const char *folder = secure_getenv("TMPDIR");
    int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    char path[] = "/tmp/openperflib.XXXXXX";
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

LSTATUS stream_open(struct stream *stream, int fd, const char *name)
{
    int error = errno;
    *stream = (struct stream){.fd = fd, .pipe = -1, .name = strdup(name)};
    if (!stream->name)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (fd < 0)
        return status_from_errno(error);
    struct stat st;
    if (fstat(fd, &st) != 0)
        return status_from_errno(errno);
    if (S_ISDIR(st.st_mode))
        return ERROR_ACCESS_DENIED;
    if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode))
        return ERROR_SUCCESS;
    int spool = spool_open();
    if (spool < 0)
        return status_from_errno(errno);
    stream->pipe = fd;
    stream->fd = spool;
    return ERROR_SUCCESS;
}

LSTATUS stream_lend(struct stream *stream, char *bytes, size_t size, const char *name)
{
    *stream = (struct stream){
        .fd = -1, .pipe = -1, .name = strdup(name), .window = bytes, .len = size, .lent = true};
    return stream->name ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

LSTATUS stream_open_bytes(struct stream *stream, const void *bytes, size_t size, const char *name)
{
    *stream = (struct stream){.fd = -1, .pipe = -1, .name = strdup(name)};
    stream->window = malloc(size ? size : 1);
    if (!stream->name || !stream->window)
        return ERROR_NOT_ENOUGH_MEMORY;
    memcpy(stream->window, bytes, size);
    stream->len = size;
    return ERROR_SUCCESS;
}

void stream_done(struct stream *stream)
{
    if (stream->fd >= 0)
        close(stream->fd);
    if (stream->pipe >= 0)
        close(stream->pipe);
    zst_free(stream->zst);
    free(stream->name);
    if (!stream->lent)
        free(stream->window);
    *stream = (struct stream){.fd = -1, .pipe = -1};
}

static ssize_t read_again(int fd, void *out, size_t size)
{
    ssize_t count;
    do
        count = read(fd, out, size);
    while (count < 0 && errno == EINTR);
    return count;
}

size_t read_at(int fd, void *out, size_t size, uint64_t offset)
{
    size_t got = 0;
    errno = 0;
    while (got < size) {
        ssize_t count = pread(fd, (char *)out + got, size - got, (off_t)(offset + got));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return got;
        got += (size_t)count;
    }
    return got;
}

bool write_at(int fd, const void *data, size_t size, uint64_t offset)
{
    const char *bytes = data;
    while (size) {
        ssize_t count = pwrite(fd, bytes, size, (off_t)offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        bytes += count;
        size -= (size_t)count;
        offset += (uint64_t)count;
    }
    return true;
}

/* Reads from the pipe until `end` is reached or the pipe ends. Does nothing if there is no pipe. */
static LSTATUS spool_to(struct stream *stream, uint64_t end)
{
    char bytes[16384];
    while (stream->pipe >= 0 && stream->spooled < end) {
        ssize_t count = read_again(stream->pipe, bytes, sizeof(bytes));
        if (count < 0)
            return status_from_errno(errno);
        if (count == 0)
            return ERROR_SUCCESS;
        if (!write_at(stream->fd, bytes, (size_t)count, stream->spooled))
            return status_from_errno(errno);
        stream->spooled += (uint64_t)count;
    }
    return ERROR_SUCCESS;
}

LSTATUS stream_read_pipe(struct stream *stream)
{
    return spool_to(stream, UINT64_MAX);
}

LSTATUS stream_clone(const struct stream *stream, struct stream *ret)
{
    *ret = (struct stream){.fd = -1, .pipe = -1};
    struct stream *from = (struct stream *)stream;
    if (stream->fd < 0)
        return stream_open_bytes(ret, stream->window, stream->len, stream->name);
    LSTATUS status = stream_read_pipe(from);
    if (status)
        return status;
    int fd = fcntl(stream->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return status_from_errno(errno);
    *ret = (struct stream){.fd = fd, .pipe = -1, .name = strdup(stream->name)};
    if (!ret->name)
        return ERROR_NOT_ENOUGH_MEMORY;
    return stream->zst ? zst_clone(stream->zst, fd, &ret->zst) : ERROR_SUCCESS;
}

LSTATUS stream_decompress(struct stream *stream, struct zst_decoder **decoder)
{
    LSTATUS status = stream_read_pipe(stream);
    if (status)
        return status;
    if (stream->pipe >= 0)
        close(stream->pipe);
    stream->pipe = -1;
    if (stream->fd < 0) {
        stream->fd = memfd_create("capture", MFD_CLOEXEC);
        if (stream->fd < 0 || !write_at(stream->fd, stream->window, stream->len, 0))
            return status_from_errno(errno);
    }
    if (!stream->lent)
        free(stream->window);
    stream->lent = false;
    stream->window = NULL;
    stream->capacity = stream->len = 0;
    return zst_open(stream->fd, decoder, &stream->zst);
}

uint64_t stream_file_size(const struct stream *stream)
{
    struct stat st;
    if (stream->fd < 0)
        return stream->len;
    return fstat(stream->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

uint64_t stream_size(const struct stream *stream)
{
    return stream->zst ? zst_size(stream->zst) : stream_file_size(stream);
}

void stream_forget(struct stream *stream)
{
    if (stream->fd >= 0)
        stream->len = 0;
}

size_t stream_have(const struct stream *stream, uint64_t offset)
{
    bool inside = offset >= stream->start && offset - stream->start <= stream->len;
    return inside && stream->window ? stream->len - (size_t)(offset - stream->start) : 0;
}

/* Makes the window large enough for `size` bytes. The size is doubled, because a search for the end
 * of a long line requests a little more each time. Returns false if there is no memory. */
static bool make_capacity(struct stream *stream, size_t size)
{
    size_t capacity = stream->capacity ? stream->capacity : STREAM_WINDOW;
    if (stream->capacity >= size && stream->capacity)
        return true;
    while (capacity < size)
        capacity *= 2;
    char *window = realloc(stream->window, capacity);
    if (!window)
        return false;
    stream->window = window;
    stream->capacity = capacity;
    return true;
}

/* Reads bytes of the file; of a compressed file, decompressed ones. *ret 0: the end. */
static LSTATUS read_some(struct stream *stream, uint64_t offset, char *out, size_t size,
                         size_t *ret)
{
    if (stream->zst)
        return zst_read(stream->zst, offset, out, size, ret);
    ssize_t count;
    do
        count = pread(stream->fd, out, size, (off_t)offset);
    while (count < 0 && errno == EINTR);
    *ret = count < 0 ? 0 : (size_t)count;
    return count < 0 ? status_from_errno(errno) : ERROR_SUCCESS;
}

/* Fills the window from `offset` on. From a pipe only `size` bytes are read, because waiting for a
 * whole window would delay reading a capture that is still being written. */
static LSTATUS fill(struct stream *stream, uint64_t offset, size_t size)
{
    LSTATUS status = spool_to(stream, offset + size);
    if (status)
        return status;
    stream->start = offset;
    stream->len = 0;
    stream->seen = stream_file_size(stream);
    while (stream->len < size) {
        size_t count;
        status = read_some(stream, offset + stream->len, stream->window + stream->len,
                           stream->capacity - stream->len, &count);
        if (status)
            return status;
        if (count == 0)
            break;
        stream->len += count;
    }
    return ERROR_SUCCESS;
}

const unsigned char *stream_at(struct stream *stream, uint64_t offset, size_t size, size_t *ret)
{
    if (stream->fd < 0 && offset > stream->len)
        offset = stream->len;
    if (stream->fd >= 0 && (!stream->window || stream_have(stream, offset) < size)) {
        stream->status =
            make_capacity(stream, size) ? fill(stream, offset, size) : ERROR_NOT_ENOUGH_MEMORY;
        if (stream->status)
            return NULL;
    }
    size_t skip = (size_t)(offset - stream->start);
    *ret = stream->len - skip < size ? stream->len - skip : size;
    return (const unsigned char *)stream->window + skip;
}
