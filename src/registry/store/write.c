/* SPDX-License-Identifier: MIT */
/*
 * Changes manual.reg: takes the lock, reads the current content, applies the change, replaces the
 * whole file. The lock is a separate file, because manual.reg is replaced; readers do not take it.
 */
#include "registry/store/hive.h"
#include "registry/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCK_FILE ".lock"
static const int64_t old_temporary_100ns = (int64_t)60 * CLOCK_TICKS_PER_SECOND;

/* one writer at a time in this process; taken before the file lock */
static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;

struct writing {
    enum registry_layer layer;
    struct writers_lock held;
    struct tree_key *manual;
    /* the file's state when it was read; inode 0: the file did not exist */
    struct file_state state;
    struct buffer remarks;
};

enum registry_layer layer_of_path(const char *path)
{
    static const char user[] = "HKEY_CURRENT_USER";
    return text_starts_fold(path, user) && (!path[sizeof user - 1] || path[sizeof user - 1] == '\\')
               ? LAYER_USER
               : LAYER_MACHINE;
}

/* True if the layer's folder, or the nearest existing folder above it, is writable. */
bool layer_writable(enum registry_layer layer)
{
    char path[PATH_MAX];
    const char *folder = store_folder(layer);
    if (!folder || strlen(folder) >= sizeof path)
        return false;
    strcpy(path, folder);
    while (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0) {
        char *slash = strrchr(path, '/');
        if (errno != ENOENT || !slash || slash == path)
            return false;
        *slash = 0;
    }
    return true;
}

static LSTATUS open_folder(enum registry_layer layer, int *ret_fd)
{
    struct stat st;
    const char *path = store_folder(layer);
    *ret_fd = -1;
    if (!path || layer == LAYER_VENDOR)
        return ERROR_ACCESS_DENIED;
    LSTATUS status = file_make_folders(path, 0755);
    if (status)
        return status;
    *ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*ret_fd < 0 || fstat(*ret_fd, &st) != 0)
        return status_from_errno(errno);
    return layer_trusts(layer, &st) ? ERROR_SUCCESS : ERROR_ACCESS_DENIED;
}

static bool is_temporary_name(const char *name)
{
    return name[0] == '.' && strlen(name) == 21 && strspn(name + 1, "0123456789abcdef") == 16 &&
           !strcmp(name + 17, ".tmp");
}

/* Removes old temporary files of writers that were killed; recent ones may be in use. */
static void sweep(int folder)
{
    struct stat st;
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = again >= 0 ? fdopendir(again) : NULL;
    if (!listing && again >= 0)
        close(again);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        if (is_temporary_name(entry->d_name) && !fstatat(folder, entry->d_name, &st, 0) &&
            clock_filetime() - clock_filetime_of(&st.st_mtim) > old_temporary_100ns)
            unlinkat(folder, entry->d_name, 0);
    if (listing)
        closedir(listing);
}

LSTATUS writers_enter(enum registry_layer layer, struct writers_lock *ret)
{
    static bool swept[STORE_LAYERS]; /* once in a process */
    *ret = (struct writers_lock){-1, -1};
    lock_take(&writers);
    LSTATUS status = open_folder(layer, &ret->folder);
    if (!status)
        status = file_lock(ret->folder, LOCK_FILE, &ret->lock);
    if (status) {
        writers_leave(ret);
    } else if (!swept[layer]) {
        sweep(ret->folder);
        swept[layer] = true;
    }
    return status;
}

void writers_leave(struct writers_lock *lock)
{
    file_unlock(&lock->lock);
    if (lock->folder >= 0)
        close(lock->folder);
    lock_release(&writers);
    store_written();
}

static LSTATUS load_manual(struct writing *writing)
{
    struct layer_file file = {0};
    LSTATUS status = file_load(writing->layer, NULL, writing->held.folder, MANUAL_FILE, &file,
                               &writing->remarks);
    writing->state = file.state;
    writing->manual = status == ERROR_FILE_NOT_FOUND ? tree_new() : file.tree;
    return status && status != ERROR_FILE_NOT_FOUND ? status
           : writing->manual                        ? ERROR_SUCCESS
                                                    : ERROR_NOT_ENOUGH_MEMORY;
}

/* Writes manual.reg, or removes the file if it is empty now. */
static LSTATUS save_manual(struct writing *writing)
{
    BUFFER_AUTO text = {0};
    if (!hive_print(&text, writing->manual, writing->remarks.data))
        return ERROR_NOT_ENOUGH_MEMORY;
    if (!writing->remarks.len && !strcmp(text.data, HIVE_HEADER "\n"))
        return writing->state.inode ? file_remove(writing->held.folder, MANUAL_FILE)
                                    : ERROR_SUCCESS;
    const struct timespec *after = writing->state.inode ? &writing->state.mtime : NULL;
    return file_replace(writing->held.folder, MANUAL_FILE, 0644, text.data, text.len, after, NULL);
}

/* ---- the changes ---- */

/* True if manual.reg deletes the key or a key above it, so that no content of files merged before
 * is visible. */
static bool is_cleared(const struct tree_key *key, const char *path)
{
    const char *part;
    size_t count;
    while (key && (part = path_part(&path, &count))) {
        key = tree_child(key, part, count);
        if (key && key->cleared)
            return true;
    }
    return false;
}

static bool is_empty(const struct tree_key *key)
{
    bool empty = tree_fill(key) && !key->value_count;
    for (size_t i = 0; empty && i < key->key_count; i++)
        empty = !key->keys[i]->alive;
    return empty;
}

/* Removes keys that are empty now from manual.reg, from `path` upwards: the lowest `count` keys,
 * and above these the keys that exist without manual.reg. Stops at the first key that must stay. */
static void drop_empty_keys(struct writing *writing, const char *path, unsigned count)
{
    FREE_AUTO char *above = strdup(path);
    while (above && *above) {
        struct tree_key *key = tree_find(writing->manual, above);
        if (key && key->alive) {
            bool stands = count == 0 && store_stands(writing->layer, above);
            if (key->cleared || !is_empty(key) || (count == 0 && !stands))
                return;
            key->alive = false;
        }
        count -= count > 0;
        char *last = strrchr(above, '\\');
        if (!last)
            return;
        *last = 0;
    }
}

static LSTATUS make_key(struct writing *writing, const struct change *change)
{
    if (change->existed)
        return ERROR_ALREADY_EXISTS;
    return tree_make(writing->manual, change->path, true) ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

/* Drops the value from manual.reg and returns true, if the files merged before manual.reg contain
 * exactly this value already. So the value of a package's next version will take effect. */
static bool drop_value(struct writing *writing, const struct change *change)
{
    const struct tree_value wanted = {.name = (char *)change->value,
                                      .type = change->type,
                                      .data = (void *)change->data,
                                      .size = change->size};
    if (is_cleared(writing->manual, change->path) ||
        !store_below_agrees(writing->layer, change->path, &wanted))
        return false;
    struct tree_key *key = tree_find(writing->manual, change->path);
    if (key)
        tree_drop_value(key, change->value);
    drop_empty_keys(writing, change->path, 0);
    return true;
}

static LSTATUS set_value(struct writing *writing, const struct change *change)
{
    if (drop_value(writing, change))
        return ERROR_SUCCESS;
    struct tree_key *key = tree_make(writing->manual, change->path, true);
    bool good = key && tree_set(key, change->value, change->type, change->data, change->size);
    return good ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

static LSTATUS delete_value(struct writing *writing, const struct change *change)
{
    struct tree_key *key = tree_find(writing->manual, change->path);
    if (!store_below_has(writing->layer, change->path, change->value)) {
        if (key)
            tree_drop_value(key, change->value);
        drop_empty_keys(writing, change->path, change->empty_keys);
        return ERROR_SUCCESS;
    }
    key = tree_make(writing->manual, change->path, true);
    return key && tree_write_tombstone(key, change->value) ? ERROR_SUCCESS
                                                           : ERROR_NOT_ENOUGH_MEMORY;
}

static LSTATUS delete_key(struct writing *writing, const struct change *change)
{
    struct tree_key *key = tree_find(writing->manual, change->path);
    if (store_below_has(writing->layer, change->path, NULL))
        return tree_write_key_tombstone(writing->manual, change->path) ? ERROR_SUCCESS
                                                                       : ERROR_NOT_ENOUGH_MEMORY;
    if (key) {
        tree_clear(key);
        key->alive = key->cleared = false;
    }
    drop_empty_keys(writing, change->path, 0);
    return ERROR_SUCCESS;
}

static LSTATUS empty_key(struct writing *writing, const struct change *change)
{
    LSTATUS status = delete_key(writing, change);
    if (!status && !tree_make(writing->manual, change->path, true))
        status = ERROR_NOT_ENOUGH_MEMORY;
    return status;
}

/* Checks under the lock whether the current content allows the change. */
static LSTATUS check_change(enum registry_layer layer, struct change *change)
{
    VIEW_AUTO *view = NULL;
    LSTATUS status = store_refresh_all();
    status = status ? status : store_hold(&view);
    if (status)
        return status;
    const struct tree_key *key = tree_find(view->root, change->path);
    change->existed = key != NULL;
    if (change->must_exist && !key)
        return ERROR_KEY_DELETED;
    if (change->kind == CHANGE_DELETE_VALUE && (!key || !tree_value(key, change->value)))
        return ERROR_FILE_NOT_FOUND;
    if (change->kind == CHANGE_DELETE_KEY && !key)
        return ERROR_FILE_NOT_FOUND;
    if (change->kind == CHANGE_DELETE_KEY && change->without_keys && key->key_count)
        return ERROR_ACCESS_DENIED;
    return store_above_hides(layer, change->path, change->value) ? ERROR_ACCESS_DENIED
                                                                 : ERROR_SUCCESS;
}

static LSTATUS (*const kinds[])(struct writing *,
                                const struct change *) = {[CHANGE_MAKE] = make_key,
                                                          [CHANGE_SET] = set_value,
                                                          [CHANGE_DELETE_VALUE] = delete_value,
                                                          [CHANGE_DELETE_KEY] = delete_key,
                                                          [CHANGE_EMPTY] = empty_key};

static LSTATUS apply(struct writing *writing, struct change *change)
{
    LSTATUS status = check_change(writing->layer, change);
    status = status ? status : load_manual(writing);
    status = status ? status : kinds[change->kind](writing, change);
    return status ? status : save_manual(writing);
}

LSTATUS store_write(enum registry_layer layer, struct change *change)
{
    struct writing writing = {.layer = layer};
    bool deletes = change->kind == CHANGE_DELETE_VALUE || change->kind == CHANGE_DELETE_KEY;
    /* a deletion of what does not exist ends here, before the folder would be created */
    LSTATUS status = deletes ? check_change(layer, change) : ERROR_SUCCESS;
    status = status ? status : writers_enter(layer, &writing.held);
    if (status)
        return status;
    status = apply(&writing, change);
    writers_leave(&writing.held);
    tree_free(writing.manual);
    buffer_done(&writing.remarks);
    if (change->kind == CHANGE_MAKE && status == ERROR_ALREADY_EXISTS)
        return ERROR_SUCCESS; /* another writer was faster and created the key */
    return status;
}

/* True if the change creates a key that exists: nothing is to be done then. An earlier change of
 * the list may have deleted the key, so after a deletion the key is created. */
static bool is_made(const struct store_view *view, const struct change *change, bool deleted,
                    bool hidden)
{
    return change->kind == CHANGE_MAKE && (!deleted || hidden) &&
           tree_find(view->root, change->path);
}

static LSTATUS apply_all(struct writing *writing, const struct change *changes, size_t count,
                         size_t *ret_failed)
{
    VIEW_AUTO *view = NULL;
    bool deleted = false;
    LSTATUS status = store_refresh_all();
    status = status ? status : store_hold(&view);
    status = status ? status : load_manual(writing);
    for (size_t i = 0; !status && i < count; i++) {
        const struct change *change = &changes[i];
        bool hidden = store_above_hides(writing->layer, change->path, change->value);
        if (is_made(view, change, deleted, hidden))
            continue;
        deleted |= change->kind == CHANGE_DELETE_KEY || change->kind == CHANGE_EMPTY;
        status = hidden ? ERROR_ACCESS_DENIED : kinds[change->kind](writing, change);
        *ret_failed = status ? i : *ret_failed;
    }
    return status ? status : save_manual(writing);
}

LSTATUS store_write_all(enum registry_layer layer, const struct change *changes, size_t count,
                        size_t *ret_failed)
{
    struct writing writing = {.layer = layer};
    *ret_failed = 0;
    LSTATUS status = writers_enter(layer, &writing.held);
    if (status)
        return status;
    status = apply_all(&writing, changes, count, ret_failed);
    writers_leave(&writing.held);
    tree_free(writing.manual);
    buffer_done(&writing.remarks);
    return status;
}
