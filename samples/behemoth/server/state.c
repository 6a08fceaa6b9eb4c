/* SPDX-License-Identifier: MIT */
/* The herd's file: a head with a checksum, the fixed part of struct herd, and the animals. */
#include "herd.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct head {
    char magic[8];
    uint64_t bytes; /* number of bytes after the head */
    uint64_t sum;   /* FNV-1a hash of the bytes after the head */
};
static const char magic[8] = "BHMHERD2";
enum { FIXED = offsetof(struct herd, all) };

static uint64_t sum_of(const struct herd *herd)
{
    const unsigned char *parts[] = {(const unsigned char *)herd, (const unsigned char *)herd->all};
    const size_t counts[] = {FIXED, (size_t)herd->count * sizeof *herd->all};
    uint64_t sum = 0xCBF29CE484222325;
    for (int part = 0; part < 2; part++) {
        for (size_t i = 0; i < counts[part]; i++)
            sum = (sum ^ parts[part][i]) * 0x100000001B3;
    }
    return sum;
}

enum state_result state_save(const struct herd *herd, const char *path)
{
    char beside[4096 + 4], folder[4096];
    size_t count = (size_t)herd->count;
    struct head head = {.bytes = FIXED + count * sizeof *herd->all, .sum = sum_of(herd)};
    memcpy(head.magic, magic, sizeof magic);
    snprintf(beside, sizeof beside, "%s.new", path);
    snprintf(folder, sizeof folder, "%s", path);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file)
        return STATE_FAILED;
    bool good = fwrite(&head, sizeof head, 1, file) == 1 && fwrite(herd, FIXED, 1, file) == 1 &&
                (count == 0 || fwrite(herd->all, sizeof *herd->all, count, file) == count) &&
                fflush(file) == 0 && fsync(fd) == 0;
    good = fclose(file) == 0 && good && rename(beside, path) == 0;
    int reason = errno;
    /* only when the folder is synced, too, the file's new name is durable */
    fd = good ? open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    if (!good)
        unlink(beside);
    errno = reason;
    return good ? STATE_DONE : STATE_FAILED;
}

/* Is the herd of a file usable? A checksum does not protect against a malicious file, so values
 * that could do harm are checked. */
static bool is_sensible(const struct herd *herd)
{
    if (herd->start < 0 || herd->start > INT64_MAX / 2 ||
        herd->ticks > (uint64_t)(INT64_MAX / 2 / BEHEMOTH_SECOND))
        return false;
    for (int i = 0; i < HERD_PARAMETERS; i++) {
        if (herd->parameters[i] < herd_parameters[i].least ||
            herd->parameters[i] > herd_parameters[i].most)
            return false;
    }
    uint64_t last = 0;
    int64_t now = herd->start + (int64_t)(herd->ticks * BEHEMOTH_SECOND);
    for (uint64_t i = 0; i < herd->count; i++) {
        const struct behemoth *is = &herd->all[i].is;
        if (is->id <= last || is->id >= herd->next_id || is->sex > BEHEMOTH_FEMALE ||
            is->birthday > now || !memchr(is->name, 0, sizeof is->name) ||
            (is->mother_position != BEHEMOTH_NONE && is->mother_position >= i))
            return false;
        last = is->id;
    }
    return true;
}

/* Reads a herd, if the file is as long as its beginning says, has its sum, and is sensible. */
static bool read_herd(struct herd *herd, FILE *file)
{
    struct head head;
    struct stat status;
    if (fstat(fileno(file), &status) < 0 || !S_ISREG(status.st_mode) ||
        fread(&head, sizeof head, 1, file) != 1 || fread(herd, FIXED, 1, file) != 1 ||
        memcmp(head.magic, magic, sizeof magic) != 0 || herd->count > BEHEMOTH_HERD_MAX ||
        head.bytes != FIXED + herd->count * sizeof *herd->all ||
        (uint64_t)status.st_size != sizeof head + head.bytes)
        return false;
    size_t count = (size_t)herd->count;
    return herd_allocate(herd) && fread(herd->all, sizeof *herd->all, count, file) == count &&
           sum_of(herd) == head.sum && is_sensible(herd);
}

enum state_result state_load(struct herd *herd, const char *path)
{
    struct herd saved = {0};
    /* without O_NONBLOCK, opening a pipe could block for ever */
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? STATE_NONE : STATE_FAILED;
    FILE *file = fdopen(fd, "r");
    bool good = file && read_herd(&saved, file);
    if (file)
        fclose(file);
    if (good)
        *herd = saved;
    else
        herd_end(&saved);
    return good ? STATE_DONE : STATE_DAMAGED;
}
