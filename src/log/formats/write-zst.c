/* SPDX-License-Identifier: MIT */
/*
 * Compresses a complete BLG: frames of whole buffers, with checksums, then the seek table of zstd's
 * seekable format. The file gets its name when all of it is on the disk.
 */
#include "log/formats/binary.h"
#include "log/formats/zst.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

enum { LEVEL = 3 };

struct packer {
    const struct zst_library *library;
    ZSTD_CCtx *context;
    int from, to;
    size_t frame_bytes, capacity; /* sizes of `plain` and `packed` */
    char *plain, *packed;
    uint64_t written;
    struct buffer table; /* the seek table's entries */
    uint32_t frames;
};

bool log_is_zst(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".zst") == 0;
}

/* ---- files ---- */

/* Creates a file in the folder of `path`. *ret_name is its path, to be freed. */
static int open_beside(const char *path, mode_t mode, char **ret_name)
{
    const char *slash = strrchr(path, '/');
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return -1;
    char *name = text_format("%.*s.openperflib-%016llx.tmp", slash ? (int)(slash + 1 - path) : 0,
                             path, (unsigned long long)number);
    *ret_name = name;
    if (!name)
        errno = ENOMEM;
    return name ? open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode) : -1;
}

int zst_open_plain(const char *path)
{
    FREE_AUTO char *name = NULL;
    int fd = open_beside(path, 0666, &name);
    if (fd >= 0)
        unlink(name);
    return fd;
}

static bool sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    FREE_AUTO char *folder = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    bool good = fsync(fd) == 0 || errno == EINVAL; /* some file systems cannot sync folders */
    close(fd);
    return good;
}

/* ---- frames ---- */

/* Adds bytes to the new file. */
static bool add(struct packer *packer, const void *bytes, size_t size)
{
    packer->written += size;
    return write_at(packer->to, bytes, size, packer->written - size);
}

static bool write_frame(struct packer *packer, size_t size)
{
    size_t packed = packer->library->compress2(packer->context, packer->packed, packer->capacity,
                                               packer->plain, size);
    errno = ENOMEM;
    uint32_t entry[2] = {(uint32_t)packed, (uint32_t)size};
    if (packer->library->isError(packed) || !buffer_add(&packer->table, entry, sizeof entry))
        return false;
    packer->frames++;
    return add(packer, packer->packed, packed);
}

static bool write_table(struct packer *packer)
{
    uint32_t head[2] = {ZST_TABLE, (uint32_t)(packer->table.len + 9)}, footer = ZST_FOOTER;
    buffer_add(&packer->table, &packer->frames, sizeof packer->frames);
    buffer_add_byte(&packer->table, 0); /* the entries have no checksums */
    errno = ENOMEM;
    return buffer_add(&packer->table, &footer, sizeof footer) && add(packer, head, sizeof head) &&
           add(packer, packer->table.data, packer->table.len);
}

static bool set(const struct packer *packer, ZSTD_cParameter parameter, int value)
{
    size_t status = packer->library->CCtx_setParameter(packer->context, parameter, value);
    return !packer->library->isError(status);
}

static bool prepare(struct packer *packer, uint32_t buffer_bytes)
{
    packer->frame_bytes =
        buffer_bytes < ZST_FRAME_BYTES ? ZST_FRAME_BYTES / buffer_bytes * buffer_bytes : 0;
    if (!packer->frame_bytes) /* larger buffers, up to 16 MiB, are split */
        packer->frame_bytes = ZST_FRAME_BYTES;
    packer->capacity = packer->library->compressBound(packer->frame_bytes);
    packer->context = packer->library->createCCtx();
    packer->plain = malloc(packer->frame_bytes);
    packer->packed = malloc(packer->capacity);
    errno = ENOMEM;
    return packer->context && packer->plain && packer->packed &&
           set(packer, ZSTD_c_compressionLevel, LEVEL) && set(packer, ZSTD_c_checksumFlag, 1);
}

static bool pack(struct packer *packer, uint32_t buffer_bytes)
{
    struct stat st;
    bool good = prepare(packer, buffer_bytes), more = good;
    while (good && more) {
        size_t size = read_at(packer->from, packer->plain, packer->frame_bytes,
                              (uint64_t)packer->frames * packer->frame_bytes);
        more = size == packer->frame_bytes;
        good = (more || !errno) && (!size || write_frame(packer, size));
    }
    good = good && write_table(packer) && fstat(packer->from, &st) == 0;
    if (good && fchown(packer->to, (uid_t)-1, st.st_gid) != 0)
        st.st_mode &= ~(mode_t)070; /* else this process's group could read it */
    good = good && fchmod(packer->to, st.st_mode & 0777) == 0 && fsync(packer->to) == 0;
    packer->library->freeCCtx(packer->context);
    free(packer->plain);
    free(packer->packed);
    buffer_done(&packer->table);
    return good;
}

PDH_STATUS zst_write(int from, const char *to)
{
    FREE_AUTO char *name = NULL;
    uint32_t buffer_bytes = 0;
    struct packer packer = {.library = zst_library(), .from = from};
    if (pread(from, &buffer_bytes, sizeof buffer_bytes, 0) != sizeof buffer_bytes || !buffer_bytes)
        return (PDH_STATUS)PDH_UNKNOWN_LOG_FORMAT;
    packer.to = open_beside(to, 0600, &name);
    if (packer.to < 0)
        return (PDH_STATUS)write_status(errno);
    bool good = pack(&packer, buffer_bytes);
    good = close(packer.to) == 0 && good && rename(name, to) == 0;
    LSTATUS status = good ? ERROR_SUCCESS : write_status(errno);
    if (!good)
        unlink(name);
    else if (!sync_folder(to))
        status = write_status(errno);
    return (PDH_STATUS)status;
}

/* ---- a BLG that another program has closed ---- */

PDH_STATUS log_compress(const char *from, const char *to, struct buffer *problem)
{
    unsigned char start[BINARY_NAMES] = {0};
    const char *message = NULL, *name = from;
    int fd = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    LSTATUS opened = fd < 0 ? status_from_errno(errno) : ERROR_SUCCESS;
    PDH_STATUS status = status_to_pdh(opened);
    if (opened) {
        message = status_text(opened);
    } else if (flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK) {
        status = (PDH_STATUS)PDH_LOG_FILE_OPEN_ERROR;
        message = "another program is writing it";
    } else if (pread(fd, start, sizeof start, 0) != sizeof start ||
               !format_binary.matches(start, sizeof start)) {
        status = (PDH_STATUS)PDH_UNKNOWN_LOG_FORMAT;
        message = "it is no BLG: it was not compressed";
    } else if (!zst_library()) {
        status = (PDH_STATUS)PDH_LOG_FILE_CREATE_ERROR;
        message = ZST_MISSING;
    } else {
        status = zst_write(fd, name = to);
        message = status_text(status);
    }
    if (fd >= 0)
        close(fd);
    if (status && problem)
        buffer_printf(problem, "%s: %s", name, message);
    return status;
}
