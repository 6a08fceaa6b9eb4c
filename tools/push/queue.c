/* SPDX-License-Identifier: MIT */
/*
 * A folder with a file for each batch. Its name has the time, the part and the number of samples,
 * so that the order of names is that of batches. A batch is written to the file "new", which gets
 * its name when it is complete and on disk. The file "newest" has the time of the newest batch, to
 * know it after all were sent, and is locked while the folder is in use. One thread adds, another
 * one reads.
 */
#include "push.h"

#include "../common/list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_SIZE = 64 };

struct queue {
    int folder, newest_file;
    pthread_mutex_t mutex;
    struct batch *batches; /* the oldest first */
    size_t count, capacity;
    uint64_t most;
    atomic_uint_fast64_t bytes, samples; /* read without the mutex, too */
    int64_t newest_ms;
    bool sending; /* the first one is being sent */
};

static void write_name(const struct batch *batch, char name[static NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "%013" PRId64 "-%05u-%zu", batch->time_ms, batch->part,
             batch->samples);
}

/* Returns the place for one more batch at the end; NULL: no memory. */
static struct batch *extend(struct queue *queue)
{
    return list_grow(&queue->batches, queue->count, &queue->capacity, sizeof *queue->batches)
               ? &queue->batches[queue->count]
               : NULL;
}

static void append(struct queue *queue, const struct batch *batch)
{
    queue->batches[queue->count++] = *batch;
    queue->bytes += batch->size;
    queue->samples += batch->samples;
}

static void remove_at(struct queue *queue, size_t at)
{
    char name[NAME_SIZE];
    const struct batch batch = queue->batches[at];
    write_name(&batch, name);
    unlinkat(queue->folder, name, 0);
    queue->bytes -= batch.size;
    queue->samples -= batch.samples;
    queue->count--;
    memmove(&queue->batches[at], &queue->batches[at + 1],
            (queue->count - at) * sizeof *queue->batches);
}

/* ---- the folder ---- */

static int in_order(const void *left, const void *right)
{
    const struct batch *a = left, *b = right;
    return a->time_ms != b->time_ms ? (a->time_ms > b->time_ms) - (a->time_ms < b->time_ms)
                                    : (a->part > b->part) - (a->part < b->part);
}

/* Finds the batches of an earlier process. Files with other names are not ours. */
static bool find_batches(struct queue *queue)
{
    int copy = openat(queue->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
    bool good = folder != NULL;
    const struct dirent *entry;
    while (good && (entry = readdir(folder))) {
        struct batch batch;
        struct stat st;
        char name[NAME_SIZE];
        if (sscanf(entry->d_name, "%" SCNd64 "-%u-%zu", &batch.time_ms, &batch.part,
                   &batch.samples) != 3)
            continue;
        write_name(&batch, name);
        if (strcmp(name, entry->d_name) != 0 ||
            fstatat(queue->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        batch.size = (size_t)st.st_size;
        good = extend(queue);
        if (good)
            append(queue, &batch);
        if (batch.time_ms > queue->newest_ms)
            queue->newest_ms = batch.time_ms;
    }
    if (folder)
        closedir(folder);
    else if (copy >= 0)
        close(copy);
    if (good && queue->count)
        qsort(queue->batches, queue->count, sizeof *queue->batches, in_order);
    return good;
}

/* Opens and locks the folder. Returns NULL or the reason. */
static const char *open_folder(struct queue *queue, const char *folder)
{
    struct stat st;
    char text[32] = "";
    mkdir(folder, 0700);
    queue->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (queue->folder < 0 || fstat(queue->folder, &st) != 0)
        return strerror(errno);
    if (st.st_uid != geteuid() || (st.st_mode & 022))
        return "it must belong to the user of this program, and no other user may write to it";
    queue->newest_file = openat(queue->folder, "newest", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (queue->newest_file < 0)
        return strerror(errno);
    if (flock(queue->newest_file, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? "another process uses it" : strerror(errno);
    if (pread(queue->newest_file, text, sizeof text - 1, 0) > 0)
        queue->newest_ms = strtoll(text, NULL, 10);
    return find_batches(queue) ? NULL : "it cannot be read";
}

struct queue *queue_open(const char *folder, uint64_t most, char why[static PUSH_WHY])
{
    struct queue *queue = calloc(1, sizeof *queue);
    const char *reason = "no memory";
    if (queue) {
        queue->most = most;
        queue->folder = queue->newest_file = -1;
        pthread_mutex_init(&queue->mutex, NULL);
        reason = open_folder(queue, folder);
    }
    if (!reason)
        return queue;
    snprintf(why, PUSH_WHY, "%s", reason);
    queue_close(queue);
    return NULL;
}

void queue_close(struct queue *queue)
{
    if (!queue)
        return;
    if (queue->folder >= 0)
        close(queue->folder);
    if (queue->newest_file >= 0)
        close(queue->newest_file);
    pthread_mutex_destroy(&queue->mutex);
    free(queue->batches);
    free(queue);
}

/* ---- for the thread that adds ---- */

int64_t queue_newest(struct queue *queue)
{
    return queue->newest_ms; /* only the thread that adds changes it */
}

static int write_file(const struct queue *queue, const void *bytes, size_t size)
{
    int fd = openat(queue->folder, "new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    const char *at = bytes;
    int error = 0;
    while (size && !error) {
        ssize_t written = write(fd, at, size);
        if (written < 0)
            error = errno == EINTR ? 0 : errno;
        else if (written == 0)
            error = EIO;
        at += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    /* else a crash of the machine could leave the name without the bytes */
    if (!error && fdatasync(fd) != 0)
        error = errno;
    if (close(fd) != 0 && !error)
        error = errno;
    if (error)
        unlinkat(queue->folder, "new", 0);
    return error;
}

static void set_newest(struct queue *queue, int64_t time_ms)
{
    char text[32];
    int size = snprintf(text, sizeof text, "%013" PRId64 "\n", time_ms);
    queue->newest_ms = time_ms;
    /* without space for it the clock is still watched while this process runs */
    (void)!pwrite(queue->newest_file, text, (size_t)size, 0);
}

int queue_add(struct queue *queue, const struct batch *batch, const void *bytes,
              size_t *ret_removed)
{
    char name[NAME_SIZE];
    *ret_removed = 0;
    pthread_mutex_lock(&queue->mutex);
    while (batch->size <= queue->most && queue->bytes + batch->size > queue->most &&
           queue->count > queue->sending) {
        *ret_removed += queue->batches[queue->sending].samples;
        remove_at(queue, queue->sending);
    }
    bool fits = queue->bytes + batch->size <= queue->most; /* not beside one that is being sent */
    pthread_mutex_unlock(&queue->mutex);
    if (!fits)
        return EFBIG;
    /* without the mutex, because a disk may be slow */
    int error = write_file(queue, bytes, batch->size);
    if (!error && batch->time_ms > queue->newest_ms)
        set_newest(queue, batch->time_ms);
    pthread_mutex_lock(&queue->mutex);
    write_name(batch, name);
    if (!error && !extend(queue))
        error = ENOMEM;
    if (!error && renameat(queue->folder, "new", queue->folder, name) != 0)
        error = errno;
    if (!error)
        append(queue, batch);
    pthread_mutex_unlock(&queue->mutex);
    return error;
}

/* ---- for the thread that sends ---- */

bool queue_first(struct queue *queue, struct batch *ret)
{
    pthread_mutex_lock(&queue->mutex);
    queue->sending = queue->count > 0;
    if (queue->count)
        *ret = queue->batches[0];
    bool found = queue->sending;
    pthread_mutex_unlock(&queue->mutex);
    return found;
}

int queue_read(struct queue *queue, const struct batch *batch, void *bytes)
{
    char name[NAME_SIZE];
    write_name(batch, name);
    int fd = openat(queue->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ssize_t size = read(fd, bytes, batch->size);
    int error = size < 0 ? errno : (size_t)size == batch->size ? 0 : EBADMSG;
    close(fd);
    return error;
}

void queue_settle(struct queue *queue, bool remove)
{
    pthread_mutex_lock(&queue->mutex);
    queue->sending = false;
    if (remove)
        remove_at(queue, 0);
    pthread_mutex_unlock(&queue->mutex);
}

void queue_size(struct queue *queue, uint64_t *ret_bytes, uint64_t *ret_samples)
{
    *ret_bytes = queue->bytes;
    *ret_samples = queue->samples;
}
