/* SPDX-License-Identifier: MIT */
/*
 * One layer's folder: its .reg files, whether they are trusted, and their content. Only a file
 * whose inode, size or times changed is read again.
 */
#include "registry/store/hive.h"
#include "registry/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Numbers of events that Windows does not have; docs/registry.md lists them. */
enum {
    EVENT_FILE_NOT_TRUSTED = 4001,
    EVENT_FILE_NOT_READ = 4002,
    EVENT_DAMAGED_ENTRY = 4003,
    EVENT_NO_INSTALLATION = 4005
};

bool file_state_same(const struct file_state *left, const struct file_state *right)
{
    return left->device == right->device && left->inode == right->inode &&
           left->size == right->size && left->mtime.tv_sec == right->mtime.tv_sec &&
           left->mtime.tv_nsec == right->mtime.tv_nsec &&
           left->ctime.tv_sec == right->ctime.tv_sec && left->ctime.tv_nsec == right->ctime.tv_nsec;
}

/* Logs the event of a damaged line. */
static void file_report_damaged(const char *file, const opl_reg_entry *entry)
{
    char start[81];
    snprintf(start, sizeof start, "%s", entry->name);
    event_log("Perflib", EVENT_DAMAGED_ENTRY, file,
              EVENT_FIELDS(EVENT_TEXT("Path", file), EVENT_NUMBER("Line", entry->line),
                           EVENT_TEXT("Reason", entry->why), EVENT_TEXT("Entry", start)),
              NULL);
}

/* ---- lazy values ---- */

/*
 * Lazy values: they stay in their file until they are used. The texts of a service in five
 * languages are fifty times as large as the rest of its file. Programs that read counters do not
 * need them, and reading those of a thousand services would take seconds. A key is lazy only if no
 * other file has values for it.
 */

/* guards members `lazy` of keys and values of lazy keys; taken after other locks of the registry */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct owned {
    struct lazy lazy;
    struct file_state state;
    char text[];
};

static struct lazy *make(const struct lazy *like)
{
    size_t folder_size = strlen(like->folder) + 1, name_size = strlen(like->name) + 1;
    struct owned *owned = malloc(sizeof *owned + folder_size + name_size);
    if (!owned)
        return NULL;
    owned->lazy = *like;
    owned->state = *like->state;
    owned->lazy.state = &owned->state;
    owned->lazy.folder = memcpy(owned->text, like->folder, folder_size);
    owned->lazy.name = memcpy(owned->text + folder_size, like->name, name_size);
    return &owned->lazy; /* `lazy` is the first member of *owned */
}

/* Describes lazy values: the section of the file `name` in `folder`. The section is UTF-8 text and
 * begins with the key's line. */
static struct lazy *lazy_new(const char *folder, const char *name, const struct file_state *state,
                             const struct hive_section *section)
{
    return make(&(struct lazy){.state = state,
                               .folder = folder,
                               .name = name,
                               .offset = (off_t)section->offset,
                               .size = section->size,
                               .line = section->line});
}

struct lazy *lazy_copy(const struct lazy *lazy)
{
    return make(lazy);
}

bool tree_is_lazy(const struct tree_key *key)
{
    return __atomic_load_n(&key->lazy, __ATOMIC_ACQUIRE) != NULL;
}

/* Reads the section as if it were a file of its own. If the file was replaced meanwhile, returns
 * ERROR_FILE_NOT_FOUND, and the merged view is rebuilt at the next call. */
static LSTATUS read_section(const struct lazy *lazy, struct buffer *ret)
{
    struct stat st;
    struct file_state now = {0};
    buffer_clear(ret);
    buffer_add_text(ret, HIVE_HEADER "\n");
    if (!buffer_reserve(ret, lazy->size + 1))
        return ERROR_NOT_ENOUGH_MEMORY;
    FREE_AUTO char *path = text_format("%s/%s", lazy->folder, lazy->name);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (fd >= 0 && fstat(fd, &st) == 0)
        file_state_of(&st, &now);
    ssize_t count = file_state_same(&now, lazy->state)
                        ? pread(fd, ret->data + ret->len, lazy->size, lazy->offset)
                        : -1;
    if (fd >= 0)
        close(fd);
    if (count != (ssize_t)lazy->size) {
        store_invalidate();
        return ERROR_FILE_NOT_FOUND;
    }
    ret->len += lazy->size;
    ret->data[ret->len] = '\0';
    return ERROR_SUCCESS;
}

LSTATUS lazy_text(const struct tree_key *key, struct buffer *ret, struct lazy **ret_lazy)
{
    lock_take(&lock);
    *ret_lazy = key->lazy ? lazy_copy(key->lazy) : NULL;
    LSTATUS status = *ret_lazy   ? read_section(*ret_lazy, ret)
                     : key->lazy ? ERROR_NOT_ENOUGH_MEMORY
                                 : ERROR_NOT_FOUND;
    lock_release(&lock);
    return status;
}

/* Reports a damaged line; entry->line counts from the header that read_section put in front. */
void lazy_report_damaged(const struct lazy *lazy, const opl_reg_entry *entry)
{
    opl_reg_entry there = *entry;
    there.line += lazy->line - 2;
    file_report_damaged(lazy->name, &there);
}

struct filling {
    struct tree_key *key;
    bool failed;
};

static bool fill_entry(void *self, const opl_reg_entry *entry)
{
    struct filling *filling = self;
    if (entry->kind == OPL_REG_VALUE)
        filling->failed |=
            !tree_put(filling->key, entry->name, entry->type, entry->data, entry->size);
    else if (entry->kind == OPL_REG_DELETE_VALUE)
        filling->failed |= !tree_put_gone(filling->key, entry->name);
    else if (entry->kind == OPL_REG_DAMAGED)
        lazy_report_damaged(filling->key->lazy, entry);
    return !filling->failed;
}

bool tree_fill(const struct tree_key *given)
{
    BUFFER_AUTO text = {0};
    struct filling filling = {.key = (struct tree_key *)given};
    if (!tree_is_lazy(given))
        return true;
    lock_take(&lock);
    struct lazy *lazy = given->lazy;
    LSTATUS status = lazy ? read_section(lazy, &text) : ERROR_NOT_FOUND;
    if (!status)
        status = opl_reg_read(text.data, text.len, 0, fill_entry, &filling);
    if (!status && !filling.failed) {
        __atomic_store_n(&filling.key->lazy, NULL, __ATOMIC_RELEASE);
        if (!given->image)
            free(lazy);
    }
    lock_release(&lock);
    return status != ERROR_NOT_ENOUGH_MEMORY && !filling.failed;
}

/* ---- files ---- */

enum { UNSETTLED_100NS = 50 * 10000 };

static void close_auto(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}
#define FD_AUTO __attribute__((cleanup(close_auto))) int

void file_state_of(const struct stat *st, struct file_state *ret)
{
    *ret = (struct file_state){st->st_dev,  st->st_ino,  st->st_size,
                               st->st_mtim, st->st_ctim, st->st_mode};
}

bool layer_trusts(enum registry_layer layer, const struct stat *st)
{
    /* a user who may write the vendor's folder may also write the library in it, so the group's
     * write permission is accepted, as in a build tree that was made with umask 002 */
    if (layer == LAYER_VENDOR) {
        struct stat without_group = *st;
        without_group.st_mode &= ~(mode_t)S_IWGRP;
        return file_trusted(&without_group, false);
    }
    if (layer == LAYER_USER)
        return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
    return file_trusted(st, false);
}

/* ---- one file ---- */

struct loading {
    struct tree_key *root, *key; /* `key` is the key to which the next values belong */
    const char *file, *folder;   /* `folder` NULL: no values are lazy */
    const struct file_state *state;
    struct buffer *remarks;
    struct buffer path;
    bool failed, damaged;
    bool repeated; /* a lazy key occurred twice, so the file must be read again without lazy keys */
};

static void add_remark(struct loading *loading, const opl_reg_entry *entry)
{
    if (!loading->remarks)
        return;
    if (entry->kind == OPL_REG_DAMAGED)
        buffer_printf(loading->remarks, "; damaged (%s): %s\n", entry->why, entry->name);
    else
        buffer_printf(loading->remarks, "%s\n", entry->name);
}

static bool load_key(struct loading *loading, const opl_reg_entry *entry)
{
    buffer_clear(&loading->path);
    if (!buffer_add_text(&loading->path, entry->key) || !path_canonical(&loading->path))
        return false;
    if (entry->kind == OPL_REG_DELETE_KEY)
        return tree_write_key_tombstone(loading->root, loading->path.data);
    loading->key = tree_make(loading->root, loading->path.data, true);
    return loading->key;
}

static void report_not_trusted(const char *path, const struct stat *st)
{
    char mode[16];
    snprintf(mode, sizeof mode, "%04o", (unsigned)st->st_mode & 07777);
    event_log("Perflib", EVENT_FILE_NOT_TRUSTED, path,
              EVENT_FIELDS(EVENT_TEXT("Path", path), EVENT_NUMBER("Owner", st->st_uid),
                           EVENT_TEXT("Mode", mode)),
              NULL);
}

/* True for a key Services\NAME\Performance\Names\LLL, which holds a service's texts. */
static bool holds_texts(const char *path)
{
    static const char above[] = REGISTRY_SERVICES "\\", below[] = "\\Performance\\Names\\";
    if (!text_starts_fold(path, above))
        return false;
    const char *name = path + strlen(above), *rest = name + strcspn(name, "\\");
    return text_starts_fold(rest, below) && !strchr(rest + strlen(below), '\\');
}

static bool is_lazy(void *self, const char *key)
{
    struct loading *loading = self;
    if (!loading->key || !holds_texts(key))
        return false;
    loading->repeated |= loading->key->lazy || loading->key->value_count;
    return !loading->repeated;
}

static void keep_lazy(void *self, const struct hive_section *section)
{
    struct loading *loading = self;
    loading->key->lazy = lazy_new(loading->folder, loading->file, loading->state, section);
    loading->failed |= !loading->key->lazy;
}

static bool load_entry(void *self, const opl_reg_entry *entry)
{
    struct loading *loading = self;
    bool good = true;
    if (entry->kind == OPL_REG_KEY || entry->kind == OPL_REG_DELETE_KEY)
        good = load_key(loading, entry);
    else if (entry->kind == OPL_REG_VALUE)
        good = tree_set(loading->key, entry->name, entry->type, entry->data, entry->size);
    else if (entry->kind == OPL_REG_DELETE_VALUE)
        good = tree_write_tombstone(loading->key, entry->name);
    else
        add_remark(loading, entry);
    if (entry->kind == OPL_REG_DAMAGED)
        file_report_damaged(loading->file, entry);
    loading->damaged |= entry->kind == OPL_REG_DAMAGED;
    loading->failed |= !good;
    return good;
}

static LSTATUS parse(const struct buffer *text, struct loading *loading)
{
    static const struct hive_lazy lazy = {is_lazy, keep_lazy};
    LSTATUS status =
        hive_read(text->data, text->len, 0, load_entry, loading->folder ? &lazy : NULL, loading);
    bool failed = loading->failed || (loading->remarks && loading->remarks->failed);
    buffer_done(&loading->path);
    return status ? status : failed ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
}

static LSTATUS open_file(enum registry_layer layer, int dir_fd, const char *name, int *ret_fd,
                         struct file_state *ret_state)
{
    struct stat st;
    *ret_fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (*ret_fd < 0 || fstat(*ret_fd, &st) != 0)
        return status_from_errno(errno);
    file_state_of(&st, ret_state);
    if (!S_ISREG(st.st_mode) || st.st_size > REGISTRY_FILE_MOST)
        return ERROR_NOT_REGISTRY_FILE;
    if (layer_trusts(layer, &st))
        return ERROR_SUCCESS;
    report_not_trusted(name, &st);
    return ERROR_ACCESS_DENIED;
}

LSTATUS file_text(enum registry_layer layer, int dir_fd, const char *name,
                  struct file_state *ret_state, struct buffer *ret)
{
    FD_AUTO fd = -1;
    *ret_state = (struct file_state){0};
    LSTATUS status = open_file(layer, dir_fd, name, &fd, ret_state);
    return status ? status : file_read_fd(fd, ret);
}

LSTATUS file_load(enum registry_layer layer, const char *folder, int dir_fd, const char *name,
                  struct layer_file *ret, struct buffer *ret_remarks)
{
    BUFFER_AUTO text = {0};
    ret->tree = NULL;
    LSTATUS status = file_text(layer, dir_fd, name, &ret->state, &text);
    if (status)
        return status;
    TREE_AUTO *root = tree_new();
    struct loading loading = {.root = root,
                              .file = name,
                              .folder = strcmp(name, MANUAL_FILE) ? folder : NULL,
                              .state = &ret->state,
                              .remarks = ret_remarks};
    if (!root)
        return ERROR_NOT_ENOUGH_MEMORY;
    status = parse(&text, &loading);
    if (!status && loading.repeated) {
        tree_clear(root);
        loading = (struct loading){.root = root, .file = name, .remarks = ret_remarks};
        status = parse(&text, &loading);
    }
    ret->damaged = loading.damaged;
    if (!status) {
        ret->tree = root;
        root = NULL;
    }
    return status;
}

/* ---- the files of a folder ---- */

static void free_file(struct layer_file *file)
{
    free(file->name);
    tree_free(file->tree);
}

void folder_forget(struct layer_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        free_file(&folder->files[i]);
    folder->count = 0;
}

/* Orders files by name, with manual.reg last. */
static int compare_names(const char *left, const char *right)
{
    int left_manual = !strcmp(left, MANUAL_FILE), right_manual = !strcmp(right, MANUAL_FILE);
    return left_manual != right_manual ? left_manual - right_manual : strcmp(left, right);
}

static int compare_files(const void *left, const void *right)
{
    return compare_names(((const struct layer_file *)left)->name,
                         ((const struct layer_file *)right)->name);
}

const struct layer_file *folder_file(const struct layer_folder *folder, const char *name)
{
    struct layer_file wanted = {.name = (char *)name};
    if (!folder->count)
        return NULL;
    return bsearch(&wanted, folder->files, folder->count, sizeof wanted, compare_files);
}

LSTATUS folder_add(struct layer_folder *folder, const char *name, const struct layer_file *file)
{
    char *copy = strdup(name);
    if (!copy ||
        !list_grow(&folder->files, folder->count, &folder->capacity, sizeof *folder->files)) {
        free(copy);
        tree_free(file->tree);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    folder->files[folder->count] = *file;
    folder->files[folder->count++].name = copy;
    return ERROR_SUCCESS;
}

bool hive_is_name(const char *name)
{
    size_t count = strlen(name);
    return *name != '.' && count > 4 && !strcmp(name + count - 4, ".reg");
}

/* Adds the file to `fresh`: unchanged files keep their parsed content, others are read. A file that
 * cannot be read or trusted has no content, and is read again only when the file has changed. If
 * this process lacks descriptors or memory, an error is returned and the file is read again next
 * time. */
static LSTATUS take_file(struct layer_folder *folder, int dir_fd, const char *name,
                         struct layer_folder *fresh, bool *ret_changed)
{
    struct layer_file *old = (struct layer_file *)folder_file(folder, name), file = {0};
    struct stat st;
    if (old && fstatat(dir_fd, name, &st, 0) == 0)
        file_state_of(&st, &file.state);
    if (old && file_state_same(&old->state, &file.state)) {
        file = *old;
        old->tree = NULL;
        return folder_add(fresh, name, &file);
    }
    LSTATUS status = file_load(folder->layer, folder->path, dir_fd, name, &file, NULL);
    *ret_changed = true;
    if (status_is_passing(status))
        return status;
    if (status && status != ERROR_ACCESS_DENIED && status != ERROR_FILE_NOT_FOUND)
        event_log("Perflib", EVENT_FILE_NOT_READ, name,
                  EVENT_FIELDS(EVENT_TEXT("Path", name), EVENT_STATUS(status)), NULL);
    if (status) {
        file.state = (struct file_state){0};
        if (fstatat(dir_fd, name, &st, 0) == 0)
            file_state_of(&st, &file.state);
    }
    return folder_add(fresh, name, &file);
}

static LSTATUS take_files(struct layer_folder *folder, DIR *listing, struct layer_folder *fresh,
                          bool *ret_changed)
{
    LSTATUS status = ERROR_SUCCESS;
    for (struct dirent *entry; !status && (entry = readdir(listing));)
        if (hive_is_name(entry->d_name))
            status = take_file(folder, dirfd(listing), entry->d_name, fresh, ret_changed);
    if (fresh->count)
        qsort(fresh->files, fresh->count, sizeof *fresh->files, compare_files);
    return status;
}

/* True if the folder's last change is so old that the next change must give the folder another
 * time: two changes within one clock tick get the same time. A time in the future is not the result
 * of a recent change, so it counts as old. */
static bool is_settled(const struct stat *st)
{
    int64_t age = clock_filetime() - clock_filetime_of(&st->st_mtim);
    return age > UNSETTLED_100NS || age < -UNSETTLED_100NS;
}

/* Lists the folder, and replaces the former list of files. */
static LSTATUS list_folder(struct layer_folder *folder, int dir_fd, bool *ret_changed)
{
    DIR *listing = fdopendir(dir_fd);
    if (!listing) {
        close(dir_fd);
        folder->state = (struct file_state){0};
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    struct layer_folder fresh = {.layer = folder->layer};
    LSTATUS status = take_files(folder, listing, &fresh, ret_changed);
    closedir(listing);
    if (fresh.count != folder->count)
        *ret_changed = true;
    for (size_t i = 0; i < fresh.count && i < folder->count; i++)
        if (strcmp(fresh.files[i].name, folder->files[i].name))
            *ret_changed = true;
    folder_forget(folder);
    free(folder->files);
    folder->files = fresh.files;
    folder->count = fresh.count;
    folder->capacity = fresh.capacity;
    if (status)
        folder->state = (struct file_state){0};
    return status;
}

LSTATUS folder_open(const struct layer_folder *folder, struct stat *st, int *ret_fd)
{
    *ret_fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*ret_fd < 0 || fstat(*ret_fd, st) != 0)
        return status_from_errno(errno);
    if (layer_trusts(folder->layer, st))
        return ERROR_SUCCESS;
    report_not_trusted(folder->path, st);
    close(*ret_fd);
    *ret_fd = -1;
    return ERROR_ACCESS_DENIED;
}

/* Reports that the vendor's folder is missing; the folders of the other layers are optional. */
static void report_missing(struct layer_folder *folder, LSTATUS status)
{
    folder->missing = true;
    if (folder->layer != LAYER_VENDOR)
        return;
    trace("registry", "%s: %s; all installed objects and names are missing", folder->path,
          status_text(status));
    event_log("Perflib", EVENT_NO_INSTALLATION, folder->path,
              EVENT_FIELDS(EVENT_TEXT("Path", folder->path), EVENT_STATUS(status)), NULL);
}

LSTATUS folder_scan(struct layer_folder *folder, bool *ret_changed)
{
    struct stat st = {0};
    int fd;
    LSTATUS status = folder_open(folder, &st, &fd);
    if (status_is_passing(status)) {
        close_auto(&fd);
        folder->state = (struct file_state){0};
        return status;
    }
    folder->refused = status && (folder->layer == LAYER_VENDOR || (status != ERROR_FILE_NOT_FOUND &&
                                                                   status != ERROR_PATH_NOT_FOUND));
    if (status) {
        *ret_changed |= folder->count > 0;
        if (!st.st_ino && !folder->missing)
            report_missing(folder, status);
        if (fd >= 0)
            close(fd);
        folder_forget(folder);
        return ERROR_SUCCESS;
    }
    file_state_of(&st, &folder->state);
    folder->settled = is_settled(&st);
    folder->missing = false;
    return list_folder(folder, fd, ret_changed);
}

static bool file_changed(int dir_fd, const struct layer_file *file)
{
    struct file_state now;
    struct stat st;
    if (fstatat(dir_fd, file->name, &st, 0) != 0)
        return true;
    file_state_of(&st, &now);
    return !file_state_same(&now, &file->state);
}

/* True if one of at most `most` files has changed, from the file after the last checked one on. */
static bool any_file_changed(struct layer_folder *folder, size_t most)
{
    int fd = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    size_t left = most < folder->count ? most : folder->count;
    bool changed = false;
    for (; fd >= 0 && !changed && left > 0; left--) {
        folder->next %= folder->count;
        changed = file_changed(fd, &folder->files[folder->next++]);
    }
    close_auto(&fd);
    return changed;
}

bool folder_changed(struct layer_folder *folder, size_t files)
{
    struct stat st;
    struct file_state now;
    if (!folder->path)
        return false;
    if (stat(folder->path, &st) != 0) {
        if (!folder->missing)
            report_missing(folder, status_from_errno(errno));
        st = (struct stat){0};
    }
    file_state_of(&st, &now);
    bool same = file_state_same(&now, &folder->state);
    if (same && (folder->settled || !st.st_ino) && !(files && any_file_changed(folder, files)))
        return false;
    folder->state = now;
    folder->settled = is_settled(&st);
    return true;
}
