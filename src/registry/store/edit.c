/* SPDX-License-Identifier: MIT */
/*
 * Single files of the layers: listing them, reading one, and replacing or removing one under the
 * writers' lock. The functions here do not build the merged view.
 */
#include "registry/store/store.h"
#include "registry/store/hive.h"
#include "registry/key.h"

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
    if (!list_grow(&listing->names, listing->count, &listing->capacity, sizeof *listing->names))
        return false;
    listing->names[listing->count] = strdup(name);
    return listing->names[listing->count++];
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Lists the files in the order in which they are merged: sorted by name, manual.reg last. */
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

/* Opens the layer's folder. *ret_fd -1 without error: no folder, or an untrusted one. */
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
        /* file_replace has set `st` before it renamed the file, and renaming changes the ctime */
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

/* ---- importing ---- */

/* Imports a file in one step: its entries become one list of changes for each layer; each list is
 * applied under one lock. Values that belong to other modules are passed to those afterwards. */

/* One entry of the file, with copies of its strings, kept until the entry is applied. */
struct item {
    opl_reg_entry entry; /* the entry that is passed to `report` with the result */
    struct change change;
    const struct mount *mount; /* the mount that the value belongs to, or NULL */
    char *memory;
};
struct items {
    struct item *items;
    size_t count, capacity;
};
struct import {
    struct items layers[STORE_LAYERS];
    struct items mounted;
    void (*report)(void *self, const opl_reg_entry *entry, LSTATUS status);
    void *self;
    LSTATUS status;
};

static void items_done(struct items *items)
{
    for (size_t i = 0; i < items->count; i++)
        free(items->items[i].memory);
    free(items->items);
}

/* Copies the strings into one block: the canonical path, the key as written in the file, the
 * value's name and its data. False: no memory. */
static bool keep_strings(struct item *item, const char *path, const opl_reg_entry *entry)
{
    const char *name = entry->name ? entry->name : "";
    size_t sizes[] = {strlen(path) + 1, strlen(entry->key) + 1, strlen(name) + 1, entry->size};
    char *at = item->memory = malloc(sizes[0] + sizes[1] + sizes[2] + sizes[3]);
    if (!at)
        return false;
    item->change.path = memcpy(at, path, sizes[0]);
    item->entry.key = memcpy(at += sizes[0], entry->key, sizes[1]);
    item->entry.name = memcpy(at += sizes[1], name, sizes[2]);
    if (entry->size)
        memcpy(at += sizes[2], entry->data, entry->size);
    item->change.data = item->entry.data = at;
    return true;
}

static LSTATUS keep(struct items *items, const struct item *like, const char *path)
{
    if (!list_grow(&items->items, items->count, &items->capacity, sizeof *items->items))
        return ERROR_NOT_ENOUGH_MEMORY;
    struct item *item = &items->items[items->count];
    *item = *like;
    if (!keep_strings(item, path, &like->entry))
        return ERROR_NOT_ENOUGH_MEMORY;
    if (item->change.value)
        item->change.value = item->entry.name;
    items->count++;
    return ERROR_SUCCESS;
}

/* Sets in `change` what the entry does to its key; CHANGE_SET: the entry does nothing to the
 * key. */
static LSTATUS judge_key(struct change *change, const char *path, enum opl_reg_kind kind)
{
    bool root = !strchr(path, '\\');
    if (kind == OPL_REG_KEY && path_fixed(path))
        change->kind = CHANGE_SET; /* the key exists: nothing to create */
    else if (kind == OPL_REG_KEY)
        change->kind = CHANGE_MAKE;
    else if (root)
        change->kind = CHANGE_EMPTY;
    else if (path_fixed(path))
        return ERROR_ACCESS_DENIED;
    else
        change->kind = CHANGE_DELETE_KEY;
    return ERROR_SUCCESS;
}

static LSTATUS judge_value(struct item *item, const char *path)
{
    const opl_reg_entry *entry = &item->entry;
    const struct mount *mount = mount_of_path(path);
    bool deletes = entry->kind == OPL_REG_DELETE_VALUE;
    if (mount_has_value(mount, entry->name)) {
        item->mount = mount;
        if (deletes || !mount->set)
            return deletes ? ERROR_ACCESS_DENIED : mount->set_status;
    }
    item->change = (struct change){.kind = deletes ? CHANGE_DELETE_VALUE : CHANGE_SET,
                                   .value = entry->name,
                                   .type = entry->type,
                                   .size = entry->size};
    if (!path_name_valid(entry->name, LIMIT_VALUE_NAME))
        return ERROR_INVALID_PARAMETER;
    return entry->size > LIMIT_VALUE_BYTES ? ERROR_NO_SYSTEM_RESOURCES : ERROR_SUCCESS;
}

static LSTATUS take(struct import *import, const opl_reg_entry *entry)
{
    BUFFER_AUTO path = {0};
    struct item item = {.entry = *entry};
    const char *rest = strchr(entry->key, '\\');
    FREE_AUTO char *root = rest ? strndup(entry->key, (size_t)(rest - entry->key)) : NULL;
    if (rest && !root)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = path_join(root ? root : entry->key, rest ? rest + 1 : NULL, &path);
    if (status)
        return status;
    bool is_key = entry->kind == OPL_REG_KEY || entry->kind == OPL_REG_DELETE_KEY;
    status =
        is_key ? judge_key(&item.change, path.data, entry->kind) : judge_value(&item, path.data);
    if (status || (is_key && item.change.kind == CHANGE_SET))
        return status;
    struct items *items = item.mount ? &import->mounted : &import->layers[layer_of_path(path.data)];
    return keep(items, &item, path.data);
}

static bool take_entry(void *self, const opl_reg_entry *entry)
{
    struct import *import = self;
    if (entry->kind == OPL_REG_DAMAGED && import->report)
        import->report(import->self, entry, ERROR_INVALID_DATA);
    if (entry->kind == OPL_REG_DAMAGED || entry->kind == OPL_REG_COMMENT)
        return true;
    import->status = take(import, entry);
    if (import->status && import->report)
        import->report(import->self, entry, import->status);
    return !import->status;
}

static LSTATUS write_layer(struct import *import, enum registry_layer layer)
{
    const struct items *items = &import->layers[layer];
    struct change *changes = items->count ? calloc(items->count, sizeof *changes) : NULL;
    size_t failed = 0;
    if (!items->count)
        return ERROR_SUCCESS;
    for (size_t i = 0; changes && i < items->count; i++)
        changes[i] = items->items[i].change;
    LSTATUS status =
        changes ? store_write_all(layer, changes, items->count, &failed) : ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; !status && i < items->count; i++)
        if (changes[i].kind == CHANGE_DELETE_KEY || changes[i].kind == CHANGE_EMPTY)
            key_mark_deleted(changes[i].path, changes[i].kind == CHANGE_EMPTY);
    free(changes);
    if (status && import->report)
        import->report(import->self, &items->items[failed].entry, status);
    return status;
}

static LSTATUS write_mounted(struct import *import)
{
    LSTATUS status = ERROR_SUCCESS;
    for (size_t i = 0; !status && i < import->mounted.count; i++) {
        const struct item *item = &import->mounted.items[i];
        const struct change *change = &item->change;
        status =
            item->mount->set(change->path, change->value, change->type, change->data, change->size);
        if (status && import->report)
            import->report(import->self, &item->entry, status);
    }
    return status;
}

LSTATUS opl_reg_import(const void *bytes, size_t size, unsigned flags,
                       void (*report)(void *self, const opl_reg_entry *entry, LSTATUS status),
                       void *self)
{
    struct import import = {.report = report, .self = self};
    LSTATUS status = opl_reg_read(bytes, size, flags, take_entry, &import);
    status = status ? status : import.status;
    for (int layer = LAYER_MACHINE; !status && layer < STORE_LAYERS; layer++)
        status = write_layer(&import, layer);
    status = status ? status : write_mounted(&import);
    for (int layer = 0; layer < STORE_LAYERS; layer++)
        items_done(&import.layers[layer]);
    items_done(&import.mounted);
    return status;
}
