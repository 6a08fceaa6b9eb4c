/* SPDX-License-Identifier: MIT */
/* The file: a head with a checksum, the fixed part of the herd, and the animals. */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct head {
    char magic[8];
    uint64_t bytes; /* of what follows */
    uint64_t sum;   /* FNV-1a of it */
};
static const char magic[8] = "BHMHERD2";
enum { FIXED = offsetof(struct herd, all) };

static uint64_t sum_of(const unsigned char *bytes, size_t count)
{
    uint64_t sum = 0xCBF29CE484222325;
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ bytes[i]) * 0x100000001B3;
    return sum;
}

/* ---- saving ---- */

static bool write_all(int fd, const unsigned char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return fsync(fd) == 0;
}

/* The new name is durable only after the folder is synced. */
static void sync_folder(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 1;
    snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

static bool replace(const char *path, const unsigned char *bytes, size_t count)
{
    char beside[4096];
    if ((size_t)snprintf(beside, sizeof beside, "%s.new", path) >= sizeof beside) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool good = write_all(fd, bytes, count);
    good = close(fd) == 0 && good && rename(beside, path) == 0;
    if (!good) {
        int reason = errno;
        unlink(beside);
        errno = reason;
        return false;
    }
    sync_folder(path);
    return true;
}

enum state_result state_save(const struct herd *herd, const char *path)
{
    size_t animals = (size_t)herd->count * sizeof *herd->all, bytes = FIXED + animals;
    struct head head = {.bytes = bytes};
    unsigned char *all = malloc(sizeof head + bytes);
    if (!all)
        return STATE_FAILED;
    memcpy(all + sizeof head, herd, FIXED);
    if (animals > 0)
        memcpy(all + sizeof head + FIXED, herd->all, animals);
    memcpy(head.magic, magic, sizeof magic);
    head.sum = sum_of(all + sizeof head, bytes);
    memcpy(all, &head, sizeof head);
    bool good = replace(path, all, sizeof head + bytes);
    int reason = errno;
    free(all);
    errno = reason;
    return good ? STATE_DONE : STATE_FAILED;
}

/* ---- restoring ---- */

static bool read_all(int fd, void *to, size_t count)
{
    unsigned char *bytes = to;
    while (count > 0) {
        ssize_t got = read(fd, bytes, count);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        if (got > 0) {
            bytes += got;
            count -= (size_t)got;
        }
    }
    return true;
}

/* A checksum does not protect against a malicious file, so dangerous values are checked. */
static bool sensible(const struct herd *herd)
{
    for (int i = 0; i < HERD_PARAMETERS; i++) {
        if (herd->parameters[i] < herd_parameters[i].least ||
            herd->parameters[i] > herd_parameters[i].most)
            return false;
    }
    uint64_t last = 0;
    for (uint64_t i = 0; i < herd->count; i++) {
        const struct behemoth *is = &herd->all[i].is;
        int64_t now = herd->start + (int64_t)(herd->ticks * BEHEMOTH_SECOND);
        if (is->id <= last || is->id >= herd->next_id || is->sex > BEHEMOTH_FEMALE ||
            is->birthday > now || !memchr(is->name, 0, sizeof is->name) ||
            (is->mother_position != BEHEMOTH_NONE && is->mother_position >= i))
            return false;
        last = is->id;
    }
    return true;
}

static bool take(struct herd *herd, const unsigned char *bytes, size_t count)
{
    struct herd saved = {0};
    memcpy(&saved, bytes, FIXED);
    if (saved.count > BEHEMOTH_HERD_MAX || count != FIXED + saved.count * sizeof *saved.all ||
        saved.start < 0 || saved.start > INT64_MAX / 2 ||
        saved.ticks > (uint64_t)(INT64_MAX / 2 / BEHEMOTH_SECOND) ||
        !herd_capacity(&saved, saved.count > 0 ? saved.count : 1))
        return false;
    memcpy(saved.all, bytes + FIXED, count - FIXED);
    if (!sensible(&saved)) {
        herd_end(&saved);
        return false;
    }
    *herd = saved;
    return true;
}

enum state_result state_load(struct herd *herd, const char *path)
{
    struct head head;
    struct stat status;
    enum state_result result = STATE_DAMAGED;
    /* Opening a pipe could block for ever. */
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? STATE_NONE : STATE_FAILED;
    const size_t most = FIXED + BEHEMOTH_HERD_MAX * sizeof(struct animal);
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && read_all(fd, &head, sizeof head) &&
        memcmp(head.magic, magic, sizeof magic) == 0 && head.bytes >= FIXED && head.bytes <= most &&
        (uint64_t)status.st_size == sizeof head + head.bytes) {
        unsigned char *bytes = malloc((size_t)head.bytes);
        if (bytes && read_all(fd, bytes, (size_t)head.bytes) &&
            sum_of(bytes, (size_t)head.bytes) == head.sum && take(herd, bytes, (size_t)head.bytes))
            result = STATE_DONE;
        free(bytes);
    }
    close(fd);
    return result;
}
