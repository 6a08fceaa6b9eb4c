/* SPDX-License-Identifier: MIT */
/* Lists the numeric names in a folder, such as processes and threads: reads the kernel's directory
 * entries into an array that is reused. */
#include "object/object.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Adds the number that `name` stands for; ignores any other name. */
static LSTATUS folder_add(struct folder *folder, const char *name)
{
    uint32_t number;
    if (*name < '0' || *name > '9' || !text_decimal(name, strlen(name), &number))
        return ERROR_SUCCESS;
    if (!list_grow(&folder->numbers, folder->count, &folder->capacity, sizeof *folder->numbers))
        return ERROR_NOT_ENOUGH_MEMORY;
    folder->numbers[folder->count++] = number;
    return ERROR_SUCCESS;
}

static int compare_numbers(const void *left, const void *right)
{
    uint32_t one = *(const uint32_t *)left, other = *(const uint32_t *)right;
    return (one > other) - (one < other);
}

/* Reads the numeric names in the folder. With `keep` the folder stays open for the next call, which
 * must have the same path. */
LSTATUS folder_read(opl_provider *provider, struct folder *folder, const char *path, bool keep)
{
    int fd = kept_open(&folder->kept, provider_root(provider), path, O_RDONLY | O_DIRECTORY);
    folder->count = 0;
    if (fd < 0)
        return status_from_errno(errno);
    LSTATUS status = lseek(fd, 0, SEEK_SET) < 0 ? status_from_errno(errno) : ERROR_SUCCESS;
    for (long bytes = 1; !status && bytes > 0;) {
        bytes = syscall(SYS_getdents64, fd, provider->entries, sizeof provider->entries);
        if (bytes < 0)
            status = status_from_errno(errno);
        for (long at = 0; !status && at < bytes;) {
            const struct folder_entry *entry = (const void *)(provider->entries + at);
            status = folder_add(folder, entry->name);
            at += entry->length;
        }
    }
    if (!keep) {
        close(fd);
        folder->kept.fd = -1;
    }
    /* the kernel's names are in ascending order; those of OPENPERFLIB_SYSROOT have any order */
    bool ascending = true;
    for (size_t i = 1; i < folder->count; i++)
        ascending &= folder->numbers[i - 1] <= folder->numbers[i];
    if (!status && !ascending)
        qsort(folder->numbers, folder->count, sizeof *folder->numbers, compare_numbers);
    return status;
}

void folder_done(struct folder *folder)
{
    kept_close(&folder->kept);
    free(folder->numbers);
}

/* ---- nested folders ---- */

/*
 * Lists the folders in a folder and those below them: control groups, classes of devices. Reads the
 * kernel's directory entries into arrays that are reused, and sorts by name, because the files
 * below another OPENPERFLIB_SYSROOT may have any order.
 */

struct tree_entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};
struct tree_walk {
    opl_provider *provider;
    struct tree *tree;
    char path[OBJECT_MAX_PATH];
    size_t base; /* length of the start of `path` that is not part of the results */
};

static bool grow(opl_provider *provider, void **array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    size_t more = needed * 2 + 64;
    void *grown = realloc(*array, more * size);
    if (!grown) {
        provider->failed = true;
        return false;
    }
    *array = grown;
    *capacity = more;
    return true;
}

static bool add_bytes(opl_provider *provider, struct text_buffer *to, const char *bytes,
                      size_t count)
{
    if (!grow(provider, (void **)&to->text, &to->capacity, to->used + count, 1))
        return false;
    memcpy(to->text + to->used, bytes, count);
    to->used += count;
    return true;
}

/* Adds the name to the sorted names of this folder, which begin at order[first]. */
static bool add_name(struct tree_walk *walk, const char *name, size_t first)
{
    struct tree *tree = walk->tree;
    uint32_t at = (uint32_t)tree->names.used;
    size_t low = first, high = tree->order_used;
    if (!add_bytes(walk->provider, &tree->names, name, strlen(name) + 1) ||
        !grow(walk->provider, (void **)&tree->order, &tree->order_capacity, tree->order_used + 1,
              sizeof *tree->order))
        return false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(tree->names.text + tree->order[middle], tree->names.text + at) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(tree->order + low + 1, tree->order + low,
            (tree->order_used - low) * sizeof *tree->order);
    tree->order[low] = at;
    tree->order_used++;
    return true;
}

static bool read_names(struct tree_walk *walk, int fd)
{
    char *entries = walk->provider->entries;
    size_t first = walk->tree->order_used;
    for (;;) {
        long bytes = syscall(SYS_getdents64, fd, entries, sizeof walk->provider->entries);
        if (bytes <= 0)
            return bytes == 0;
        for (long at = 0; at < bytes;) {
            const struct tree_entry *entry = (const void *)(entries + at);
            bool wanted = entry->type == DT_DIR || entry->type == DT_LNK;
            if (wanted && *entry->name != '.' && !add_name(walk, entry->name, first))
                return false;
            at += entry->length;
        }
    }
}

/* Opens a folder of the walk. Links are not followed inside the tree, because they may lead to a
 * folder above. */
static int open_folder(struct tree_walk *walk, bool top)
{
    int flags = O_RDONLY | O_DIRECTORY | (top ? 0 : O_NOFOLLOW);
    return source_openat(provider_root(walk->provider), walk->path, flags);
}

static bool walk_folder(struct tree_walk *walk, unsigned depth, bool top)
{
    struct tree *tree = walk->tree;
    size_t first = tree->order_used, names = tree->names.used, length = strlen(walk->path);
    int fd = open_folder(walk, top);
    if (fd < 0)
        return false;
    bool complete = read_names(walk, fd);
    size_t end = tree->order_used;
    close(fd);
    for (size_t i = first; i < end && complete; i++) {
        const char *name = tree->names.text + tree->order[i];
        size_t bytes = strlen(name);
        if (length + 1 + bytes >= sizeof walk->path)
            continue; /* skips the folder, because its path is too long for any source */
        walk->path[length] = '/';
        memcpy(walk->path + length + 1, name, bytes + 1);
        complete = add_bytes(walk->provider, &tree->found, walk->path + walk->base + 1,
                             length - walk->base + bytes + 1);
        if (complete && depth > 1)
            walk_folder(walk, depth - 1, false);
        walk->path[length] = 0;
    }
    tree->order_used = first;
    tree->names.used = names;
    return complete;
}

const char *opl_listing_folders(opl_listing *listing, const char *path, unsigned depth)
{
    struct tree *tree = &listing->provider->tree;
    struct tree_walk walk = {.provider = listing->provider, .tree = tree, .base = strlen(path)};
    tree->found.used = tree->names.used = tree->order_used = 0;
    if (walk.base >= sizeof walk.path)
        return NULL;
    memcpy(walk.path, path, walk.base + 1);
    if (!walk_folder(&walk, depth, true) || !add_bytes(listing->provider, &tree->found, "", 1))
        return NULL;
    return tree->found.text;
}

void tree_done(struct tree *tree)
{
    free(tree->found.text);
    free(tree->names.text);
    free(tree->order);
}
