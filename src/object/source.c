/* SPDX-License-Identifier: MIT */
/*
 * A kernel text file. It is read once per collection, or once per instance if its path has a '*',
 * and then searched by key or column. A file for all instances is kept open and read again with
 * pread; files of single instances are opened, read and closed.
 */
#include "object/object.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the root, and descriptors that stay open ---- */

/*
 * The folder below which a provider opens all its files ("/", or the folder OPENPERFLIB_SYSROOT),
 * and descriptors that stay open between collections.
 */

/* ---- kept descriptors ---- */

/* False: the program has closed the descriptor, or opened another file with the same number. */
static bool kept_is_ours(const struct kept *kept)
{
    struct stat now;
    return kept->fd >= 0 && fstat(kept->fd, &now) == 0 && now.st_dev == kept->device &&
           now.st_ino == kept->inode;
}

_Thread_local bool source_lacked;

/* openat with close-on-exec. Records a failure for lack of descriptors, because that does not mean
 * that this machine lacks the file. */
int source_openat(int dir_fd, const char *path, int flags)
{
    int fd = openat(dir_fd, path, flags | O_CLOEXEC);
    if (fd < 0 && status_is_passing(status_from_errno(errno)))
        source_lacked = true;
    return fd;
}

/* Returns the descriptor; opens the file first if it is not open yet or the program has closed the
 * descriptor. -1 with errno: the file cannot be opened. */
int kept_open(struct kept *kept, int dir_fd, const char *path, int flags)
{
    if (kept_is_ours(kept))
        return kept->fd;
    struct stat now;
    kept->fd = source_openat(dir_fd, path, flags);
    if (kept->fd >= 0 && kept->fd <= STDERR_FILENO) {
        /* a program that closed descriptor 0, 1 or 2 may still print, and the printed text would go
         * into the file */
        int low = kept->fd;
        kept->fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        source_lacked |= kept->fd < 0;
        close(low);
    }
    if (kept->fd < 0)
        return -1;
    if (fstat(kept->fd, &now) == 0) {
        kept->device = now.st_dev;
        kept->inode = now.st_ino;
    }
    return kept->fd;
}

void kept_close(struct kept *kept)
{
    if (kept_is_ours(kept))
        close(kept->fd);
    kept->fd = -1;
}

/* ---- the root ---- */

/* Checks once per collection whether the program has closed the descriptor. */
int provider_root(opl_provider *provider)
{
    if (provider->root_checked_for == provider->collection && provider->root.fd >= 0)
        return provider->root.fd;
    provider->root_checked_for = provider->collection;
    return kept_is_ours(&provider->root)
               ? provider->root.fd
               : kept_open(&provider->root, AT_FDCWD, place_sysroot(), O_PATH | O_DIRECTORY);
}

/* Parses the inode number in the link "net:[4026531840]", which is read once per collection. */
uint64_t provider_namespace(opl_provider *provider)
{
    char text[32];
    if (provider->net_checked_for == provider->collection)
        return provider->net;
    provider->net_checked_for = provider->collection;
    provider->net = 0;
    ssize_t length =
        readlinkat(provider_root(provider), "proc/thread-self/ns/net", text, sizeof text - 1);
    if (length > 0 && (text[length] = 0, strchr(text, '[')))
        provider->net = strtoull(strchr(text, '[') + 1, NULL, 10);
    return provider->net;
}

/* ---- the list of sources ---- */

static struct source *source_new(const opl_source *is)
{
    struct source *source = source_known(is) ? calloc(1, sizeof *source) : NULL;
    if (!source)
        return NULL;
    source->is = is;
    source->star = strchr(is->path, '*');
    source->kept.fd = -1;
    if (source->star) {
        source->rest = memrchr(is->path, '/', (size_t)(source->star - is->path));
        source->rest = source->rest ? source->rest + 1 : is->path;
    }
    for (size_t i = 0; i < COUNT(source->persistent); i++)
        source->persistent[i].kept.fd = -1;
    return source;
}

struct source *source_of(opl_provider *provider, const opl_source *is)
{
    for (size_t i = 0; i < provider->source_count; i++)
        if (provider->sources[i]->is == is)
            return provider->sources[i];
    struct source **grown =
        realloc(provider->sources, (provider->source_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    provider->sources = grown;
    struct source *source = source_new(is);
    if (source)
        grown[provider->source_count++] = source;
    return source;
}

struct source_key *source_add_key(struct source *source, const char *text, size_t length)
{
    for (size_t i = 0; i < source->key_count; i++)
        if (source->keys[i].length == length && !memcmp(source->keys[i].text, text, length))
            return &source->keys[i];
    if (length >= OBJECT_MAX_KEY)
        return NULL;
    struct source_key *grown = realloc(source->keys, (source->key_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    source->keys = grown;
    struct source_key *key = &grown[source->key_count++];
    memset(key, 0, sizeof *key);
    memcpy(key->text, text, length);
    key->length = length;
    key->after = source->key_count;
    source->key_starts[(unsigned char)*text / 64] |= (uint64_t)1 << (unsigned char)*text % 64;
    source->keys_for = 0;
    source->keys_sorted = false;
    return key;
}

void source_done(struct source *source)
{
    kept_close(&source->kept);
    for (size_t i = 0; i < COUNT(source->persistent); i++)
        kept_close(&source->persistent[i].kept);
    free(source->keys);
    free(source->text);
    free(source);
}

/* ---- reading ---- */

static bool source_grow(struct source *source)
{
    size_t storage = source->capacity ? source->capacity * 2 : 4096;
    char *grown = realloc(source->text, storage);
    if (!grown)
        return false;
    source->text = grown;
    source->capacity = storage;
    return true;
}

/* Reads the file to its end. For the file of an instance, a read that returns less than requested
 * is taken as the file's end. Other kernel files return a page at a time. */
static LSTATUS source_read(struct source *source, int fd)
{
    source->length = 0;
    for (;;) {
        if (source->capacity - source->length < 2 && !source_grow(source))
            return ERROR_NOT_ENOUGH_MEMORY;
        size_t storage = source->capacity - source->length - 1;
        ssize_t count = pread(fd, source->text + source->length, storage, (off_t)source->length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return status_from_errno(errno);
        source->length += (size_t)count;
        bool whole = source->star && !source->is->pieces;
        if (count == 0 || (whole && (size_t)count < storage))
            break;
    }
    source->text[source->length] = 0;
    return ERROR_SUCCESS;
}

/* Returns `path` with the instance's folder in place of its '*'. NULL: too long. */
const char *source_place(opl_reading *reading, const char *path, char storage[OBJECT_MAX_PATH])
{
    char *out = storage, *end = storage + OBJECT_MAX_PATH;
    if (*path != '*' && !strchr(path, '*'))
        return path;
    for (; *path != '*' && out < end; path++)
        *out++ = *path;
    for (const char *folder = reading->folder; *folder && out < end; folder++)
        *out++ = *folder;
    for (path++; *path && out < end; path++)
        *out++ = *path;
    if (out == end)
        return NULL;
    *out = 0;
    return storage;
}

/* Returns the descriptor of the folder before the '*', checked once per collection. */
static int source_folder(opl_provider *provider, struct source *source)
{
    if (source->checked_for == provider->collection && source->kept.fd >= 0)
        return source->kept.fd;
    char path[OBJECT_MAX_PATH];
    size_t length = (size_t)(source->rest - source->is->path);
    if (length >= sizeof path)
        return -1;
    memcpy(path, source->is->path, length);
    path[length] = 0;
    source->checked_for = provider->collection;
    return kept_open(&source->kept, provider_root(provider), path, O_PATH | O_DIRECTORY);
}

/* Returns the slot in which the instance's file stays open, which only the first instances have;
 * NULL: the file is not kept open. */
static struct persistent *source_persistent(const opl_reading *reading, struct source *source)
{
    if (!source->is->persistent || reading->position >= COUNT(source->persistent) ||
        reading->provider->frugal)
        return NULL;
    struct persistent *persistent = &source->persistent[reading->position];
    if (strcmp(persistent->folder, reading->folder) != 0) {
        kept_close(&persistent->kept);
        snprintf(persistent->folder, sizeof persistent->folder, "%s", reading->folder);
    }
    return strlen(reading->folder) < sizeof persistent->folder ? persistent : NULL;
}

/* Opens the instance's file or returns its open descriptor; -1 with errno. */
static int source_open_instance(opl_reading *reading, struct source *source,
                                struct persistent *persistent)
{
    char storage[OBJECT_MAX_PATH];
    if (persistent && kept_is_ours(&persistent->kept))
        return persistent->kept.fd;
    int folder = source_folder(reading->provider, source);
    const char *path = source_place(reading, source->rest, storage);
    if (folder < 0 || !path) {
        errno = ENOENT;
        return -1;
    }
    return persistent ? kept_open(&persistent->kept, folder, path, O_RDONLY)
                      : source_openat(folder, path, O_RDONLY);
}

static LSTATUS source_read_instance(opl_reading *reading, struct source *source)
{
    struct persistent *persistent = source_persistent(reading, source);
    int fd = source_open_instance(reading, source, persistent);
    LSTATUS status = fd < 0 ? status_from_errno(errno) : source_read(source, fd);
    if (reading->provider->frugal)
        kept_close(&source->kept);
    if (fd < 0)
        return status;
    if (!persistent)
        close(fd);
    /* the open file cannot be read now: close it, so that the next reading opens it again */
    else if (status && status != ERROR_INVALID_PARAMETER)
        kept_close(&persistent->kept);
    return status;
}

/* True if the process has changed its mount namespace since the last call: the open file still
 * shows the mounts of the earlier one. */
static bool source_is_elsewhere(opl_provider *provider, struct source *source)
{
    struct stat now;
    ino_t before = source->namespace;
    if (fstatat(provider_root(provider), "proc/self/ns/mnt", &now, 0) != 0)
        return false;
    source->namespace = now.st_ino;
    return before && before != now.st_ino;
}

/* True if poll() reports no change of a watched file. A file whose driver has no poll function is
 * always reported as writable, so it counts as changed. */
static bool source_is_unchanged(opl_provider *provider, struct source *source)
{
    if (source_is_elsewhere(provider, source))
        kept_close(&source->kept);
    struct pollfd requested = {.fd = source->kept.fd, .events = POLLPRI | POLLOUT};
    return source->version && !source->status && kept_is_ours(&source->kept) &&
           poll(&requested, 1, 0) == 0;
}

static LSTATUS source_read_system(opl_provider *provider, struct source *source)
{
    static const char net[] = "proc/net/";
    char storage[OBJECT_MAX_PATH];
    const char *path = source->is->path;
    if (source->is->watched && provider->live && source_is_unchanged(provider, source))
        return ERROR_SUCCESS;
    /* proc/net is a link to self/net, the folder of the process's first thread, but each thread may
     * be in another network namespace: so its own folder is read */
    if (strncmp(path, net, sizeof net - 1) == 0) {
        uint64_t namespace = provider_namespace(provider);
        if (source->net != namespace)
            kept_close(&source->kept);
        source->net = namespace;
        if (namespace) {
            snprintf(storage, sizeof storage, "proc/thread-self/net/%s", path + sizeof net - 1);
            path = storage;
        }
    }
    int fd = kept_open(&source->kept, provider_root(provider), path, O_RDONLY);
    if (fd < 0)
        return status_from_errno(errno);
    source->version++;
    LSTATUS status = source_read(source, fd);
    if (provider->frugal)
        kept_close(&source->kept);
    return status;
}

static LSTATUS source_make_silent(struct source *source)
{
    if (!source->capacity && !source_grow(source))
        return ERROR_NOT_ENOUGH_MEMORY;
    source->text[source->length = 0] = 0;
    return ERROR_SUCCESS;
}

LSTATUS source_load(opl_reading *reading, struct source *source)
{
    opl_provider *provider = reading->provider;
    uint64_t serial = source->star ? reading->serial : provider->collection;
    if (source->read_for != serial) {
        const opl_source *is = source->is;
        uint64_t word = 1;
        source->read_for = serial;
        /* if word `if_word` of `if_source` is 0, this source has no content for the instance */
        if (is->if_source && opl_reading_column(reading, is->if_source, is->if_word, &word) &&
            word == 0)
            source->status = source_make_silent(source);
        else
            source->status = source->star ? source_read_instance(reading, source)
                                          : source_read_system(provider, source);
    }
    provider->failed |= source->status == ERROR_NOT_ENOUGH_MEMORY;
    provider->denied |= source->status == ERROR_ACCESS_DENIED;
    return source->status;
}
