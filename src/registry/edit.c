/* SPDX-License-Identifier: MIT */
/*
 * Single files of the layers: listing them, reading one, and replacing or removing one under the
 * writers' lock. None of this builds the merged view.
 */
#include "registry/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct registry_edit {
    struct writers_lock held;
    enum registry_layer layer;
};

/* ---- listing ---- */

struct listing {
    char **names;
    size_t count, capacity;
};

static void listing_done(struct listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        free(listing->names[i]);
    free(listing->names);
}

static bool listing_add(struct listing *listing, const char *name)
{
    if (listing->count == listing->capacity) {
        size_t capacity = listing->capacity ? listing->capacity * 2 : 64;
        char **names = reallocarray(listing->names, capacity, sizeof *names);
        if (!names)
            return false;
        listing->names = names;
        listing->capacity = capacity;
    }
    listing->names[listing->count] = strdup(name);
    return listing->names[listing->count++];
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* By name, with manual.reg last, in the order in which they are merged. */
static LSTATUS list_names(DIR *folder, struct listing *ret)
{
    bool manual = false;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (!strcmp(entry->d_name, MANUAL_FILE))
            manual = true;
        else if (hive_is_name(entry->d_name) && !listing_add(ret, entry->d_name))
            return ERROR_NOT_ENOUGH_MEMORY;
    if (ret->count)
        qsort(ret->names, ret->count, sizeof *ret->names, compare_names);
    return !manual || listing_add(ret, MANUAL_FILE) ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

static uint64_t nanoseconds(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static void describe(enum registry_layer layer, const char *name, const struct stat *st,
                     struct registry_file *ret)
{
    *ret = (struct registry_file){.layer = layer,
                                  .name = name,
                                  .device = st->st_dev,
                                  .inode = st->st_ino,
                                  .size = (uint64_t)st->st_size,
                                  .changed_ns = nanoseconds(&st->st_ctim),
                                  .modified_ns = nanoseconds(&st->st_mtim)};
}

/* Opens the layer's folder; ERROR_SUCCESS and -1: the layer has no usable folder. */
static LSTATUS open_layer(enum registry_layer layer, int *ret_fd)
{
    struct stat st;
    struct layer_folder folder = {.layer = layer, .path = (char *)store_folder(layer)};
    *ret_fd = -1;
    if (!folder.path)
        return ERROR_SUCCESS;
    LSTATUS status = folder_open(&folder, &st, ret_fd);
    if (!status || status_is_passing(status))
        return status;
    if (*ret_fd >= 0)
        close(*ret_fd);
    *ret_fd = -1;
    return ERROR_SUCCESS;
}

static LSTATUS each_in_layer(enum registry_layer layer,
                             bool (*each)(void *self, const struct registry_file *file), void *self,
                             bool *ret_stopped)
{
    struct stat st;
    struct registry_file file;
    struct listing listing = {0};
    int fd;
    LSTATUS status = open_layer(layer, &fd);
    DIR *folder = !status && fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder && fd >= 0) {
        close(fd);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (!folder)
        return status;
    status = list_names(folder, &listing);
    for (size_t i = 0; !status && !*ret_stopped && i < listing.count; i++)
        if (fstatat(dirfd(folder), listing.names[i], &st, 0) == 0) {
            describe(layer, listing.names[i], &st, &file);
            *ret_stopped = !each(self, &file);
        }
    closedir(folder);
    listing_done(&listing);
    return status;
}

LSTATUS registry_each_file(bool (*each)(void *self, const struct registry_file *file), void *self)
{
    bool stopped = false;
    LSTATUS status = ERROR_SUCCESS;
    for (int i = 0; !status && !stopped && i < STORE_LAYERS; i++)
        status = each_in_layer((enum registry_layer)i, each, self, &stopped);
    return status;
}

LSTATUS registry_read_file(enum registry_layer layer, const char *name, struct buffer *ret)
{
    struct file_state state;
    int fd;
    buffer_clear(ret);
    LSTATUS status = open_layer(layer, &fd);
    if (!status && fd < 0)
        status = ERROR_FILE_NOT_FOUND;
    status = status ? status : file_text(layer, fd, name, &state, ret);
    if (fd >= 0)
        close(fd);
    return status;
}

const char *registry_folder(enum registry_layer layer)
{
    return store_folder(layer);
}

/* ---- changing one file ---- */

LSTATUS registry_edit_begin(enum registry_layer layer, struct registry_edit **ret)
{
    struct registry_edit *edit = calloc(1, sizeof *edit);
    if (!edit)
        return ERROR_NOT_ENOUGH_MEMORY;
    edit->layer = layer;
    LSTATUS status = writers_enter(layer, &edit->held);
    if (status)
        free(edit);
    else
        *ret = edit;
    return status;
}

int registry_edit_folder(const struct registry_edit *edit)
{
    return edit->held.folder;
}

static bool is_file_name(const char *name)
{
    return hive_is_name(name) && !strchr(name, '/');
}

LSTATUS registry_edit_replace(struct registry_edit *edit, const char *name, const char *text,
                              size_t size, struct registry_file *ret_file)
{
    struct stat old, st;
    if (!is_file_name(name))
        return ERROR_INVALID_NAME;
    bool there = fstatat(edit->held.folder, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
    LSTATUS status =
        file_replace(edit->held.folder, name, 0644, text, size, there ? &old.st_mtim : NULL, &st);
    if (!status && ret_file) {
        /* the rename changed its ctime again */
        if (fstatat(edit->held.folder, name, &st, 0) != 0)
            return status_from_errno(errno);
        describe(edit->layer, name, &st, ret_file);
    }
    return status;
}

LSTATUS registry_edit_remove(struct registry_edit *edit, const char *name)
{
    return is_file_name(name) ? file_remove(edit->held.folder, name) : ERROR_INVALID_NAME;
}

void registry_edit_end(struct registry_edit *edit)
{
    if (edit)
        writers_leave(&edit->held);
    free(edit);
}
