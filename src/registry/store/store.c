/* SPDX-License-Identifier: MIT */
/*
 * The merged view of all layers. When a file has changed a new view is built; a view itself never
 * changes. So a reader keeps the view that was current when it began, and needs no lock.
 */
#include "registry/store/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Files edited in place are detected by checking each file. Only 64 files of each layer are
 * checked, once a second, because a query every second must not check a thousand registrations. */
enum { FILES_EVERY_100NS = CLOCK_TICKS_PER_SECOND, FILES_AT_ONCE = 64 };

/* guards the variables below; held while files are read, but never while another module is
 * called */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    bool known; /* true: `folders` has the folders' paths */
    struct layer_folder folders[STORE_LAYERS];
    struct store_view *current;
    uint64_t generation;
    int64_t files_seen;
    bool stale;   /* the last merge failed, so the view is out of date */
    bool indexed; /* the vendor's and the machine's files came from the index and have no trees */
} store;

static bool invalid; /* a file has changed; set without holding `lock` */

void store_invalidate(void)
{
    __atomic_store_n(&invalid, true, __ATOMIC_RELAXED);
}

/* Number of walks (store_walk_begin) that this thread is in. During a walk the thread does not
 * check the folders for each key. */
static __thread unsigned walks;

void store_walk_begin(void)
{
    walks++;
}

void store_walk_end(void)
{
    walks--;
}

void store_written(void)
{
    if (walks)
        store_invalidate();
}

static char *folder_path(const char *place, const char *below)
{
    return place ? text_format("%s/%sregistry.d", place, below) : NULL;
}

static void find_folders(void)
{
    const char *places[STORE_LAYERS] = {place_vendor(), place_machine(), place_user()};
    for (int i = 0; i < STORE_LAYERS; i++)
        store.folders[i] =
            (struct layer_folder){.layer = (enum registry_layer)i,
                                  .path = folder_path(places[i], i == LAYER_VENDOR ? "data/" : "")};
    store.known = true;
}

const char *store_folder(enum registry_layer layer)
{
    lock_take(&lock);
    if (!store.known)
        find_folders();
    const char *path = store.folders[layer].path;
    lock_release(&lock);
    return path;
}

static void free_view(struct store_view *view)
{
    if (view && --view->holders == 0) {
        tree_free(view->root);
        index_done(&view->index);
        free(view);
    }
}

void store_forget(void)
{
    lock_take(&lock);
    for (int i = 0; i < STORE_LAYERS; i++) {
        folder_forget(&store.folders[i]);
        free(store.folders[i].files);
        free(store.folders[i].path);
    }
    free_view(store.current);
    memset(&store.folders, 0, sizeof store.folders);
    store.current = NULL;
    store.known = store.indexed = false;
    lock_release(&lock);
}

/* ---- merging ---- */

static bool merge_folder(struct tree_key *root, const struct layer_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++) {
        const struct layer_file *file = &folder->files[i];
        if (file->tree && !tree_merge(root, file->tree, clock_filetime_of(&file->state.mtime)))
            return false;
    }
    return true;
}

/* Adds the keys that exist whatever the files contain: roots and keys that belong to other modules.
 * False: no memory. */
static bool add_fixed_keys(struct tree_key *root)
{
    static const char *const roots[] = {
        "HKEY_LOCAL_MACHINE\\SOFTWARE\\Classes", "HKEY_CURRENT_USER",
        "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Hardware Profiles\\Current"};
    bool good = tree_make(root, path_users_own(), true);
    for (size_t i = 0; good && i < COUNT(roots); i++)
        good = tree_make(root, roots[i], true);
    const struct mount *mount = registry_tables->mounts;
    for (; good && mount->path; mount++)
        if (!mount->predefined && !mount->alias && !strchr(mount->path, '*'))
            good = tree_make(root, mount->path, true);
    const struct registry_computed *computed = registry_tables->computed;
    for (; good && computed->path; computed++)
        good = tree_make(root, computed->path, true);
    const struct registry_virtual_keys *keys = registry_tables->virtual_keys;
    for (; good && keys->path; keys++)
        good = tree_make(root, keys->path, true);
    return good;
}

static bool changes_machine(const struct layer_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        if (folder->files[i].tree && tree_find(folder->files[i].tree, "HKEY_LOCAL_MACHINE"))
            return true;
    return false;
}

/* Merges the layers. `root` comes from the index and has the vendor's and the machine's files;
 * NULL: those files are merged too, and with `write` an index is written for the next process.
 * *identity: the identity of the index that was read or written, unless the user's files change its
 * content. */
static struct tree_key *merge_all(struct tree_key *root, bool write, uint64_t *identity)
{
    const char *place = place_machine();
    bool indexed = root;
    root = root ? root : tree_new();
    bool good = root;
    for (int i = LAYER_VENDOR; good && !indexed && i < LAYER_USER; i++)
        good = merge_folder(root, &store.folders[i]);
    if (good && write && !indexed && place)
        *identity = index_write(place, store.folders, root);
    if (changes_machine(&store.folders[LAYER_USER]))
        *identity = 0;
    if (good && merge_folder(root, &store.folders[LAYER_USER]) && add_fixed_keys(root))
        return root;
    tree_free(root);
    return NULL;
}

/* Makes a new current view from the index, if the index has a root, and from the files. Takes
 * ownership of the index. */
static LSTATUS take_new_view(struct index *index, bool write)
{
    struct store_view *fresh = calloc(1, sizeof *fresh);
    uint64_t identity = index_identity(index);
    struct tree_key *root = fresh ? merge_all(index->root, write, &identity) : NULL;
    if (!root) {
        free(fresh);
        index_done(index);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *fresh = (struct store_view){.holders = 1,
                                 .generation = ++store.generation,
                                 .root = root,
                                 .index = *index,
                                 .identity = identity};
    free_view(store.current);
    store.current = fresh;
    return ERROR_SUCCESS;
}

/* Reads the files that have changed, or the index if there is no view yet. After any change of a
 * file, and before this process writes, the index is not used any more and every file is read. */
static LSTATUS read_changes(size_t files, bool *changed, struct index *ret)
{
    LSTATUS status = ERROR_SUCCESS;
    if (!store.current && files != SIZE_MAX && place_machine())
        store.indexed = index_read(place_machine(), store.folders, ret) == ERROR_SUCCESS;
    if (store.current && store.indexed) {
        *changed |= files == SIZE_MAX;
        for (int i = 0; !*changed && i < STORE_LAYERS; i++)
            *changed = folder_changed(&store.folders[i], files);
        for (int i = 0; *changed && i < STORE_LAYERS; i++) {
            folder_forget(&store.folders[i]);
            store.folders[i].state = (struct file_state){0};
            store.folders[i].settled = false;
        }
        store.indexed = !*changed;
    }
    for (int i = store.indexed ? LAYER_USER : 0; !status && i < STORE_LAYERS; i++)
        if (folder_changed(&store.folders[i], files))
            status = folder_scan(&store.folders[i], changed);
    return status;
}

static LSTATUS refresh(bool every_file)
{
    struct index index = {0};
    bool changed = !store.current || store.stale;
    if (__atomic_exchange_n(&invalid, false, __ATOMIC_RELAXED)) {
        every_file = true;
        if (store.current)
            store.current->identity = 0; /* the view may lack values that the index has */
    }
    if (walks && !changed && !every_file)
        return ERROR_SUCCESS;
    int64_t now = clock_ticks();
    if (!store.known)
        find_folders();
    bool due = now - store.files_seen >= FILES_EVERY_100NS;
    size_t files = every_file ? SIZE_MAX : due ? FILES_AT_ONCE : 0;
    if (files)
        store.files_seen = now;
    LSTATUS status = read_changes(files, &changed, &index);
    if (status)
        index_done(&index);
    else if (changed)
        status = take_new_view(&index, !store.current && !every_file);
    store.stale = status != ERROR_SUCCESS;
    return status;
}

/* ---- for readers ---- */

LSTATUS store_hold(const struct store_view **ret)
{
    lock_take(&lock);
    LSTATUS status = refresh(false);
    *ret = status ? NULL : store.current;
    if (!status)
        store.current->holders++;
    lock_release(&lock);
    return status;
}

void store_drop(const struct store_view **view)
{
    lock_take(&lock);
    free_view((struct store_view *)*view);
    lock_release(&lock);
}

LSTATUS store_refresh_all(void)
{
    lock_take(&lock);
    LSTATUS status = refresh(true);
    lock_release(&lock);
    return status;
}

uint64_t registry_generation(void)
{
    lock_take(&lock);
    refresh(false);
    uint64_t generation = store.generation;
    lock_release(&lock);
    return generation;
}

uint64_t store_identity(uint64_t generation)
{
    lock_take(&lock);
    bool same = store.current && !store.stale && store.generation == generation &&
                !__atomic_load_n(&invalid, __ATOMIC_RELAXED);
    uint64_t identity = same ? store.current->identity : 0;
    lock_release(&lock);
    return identity;
}

static int64_t newer(int64_t time, const struct file_state *state)
{
    int64_t other = state->inode ? clock_filetime_of(&state->mtime) : 0;
    return other > time ? other : time;
}

int64_t registry_last_write(void)
{
    int64_t time = 0;
    lock_take(&lock);
    refresh(false);
    for (int i = 0; i < STORE_LAYERS; i++) {
        const struct layer_folder *folder = &store.folders[i];
        time = newer(time, &folder->state);
        for (size_t k = 0; k < folder->count; k++)
            time = newer(time, &folder->files[k].state);
    }
    lock_release(&lock);
    return time;
}

/* ---- for writers: the content of the other files ---- */

/* Finds a key in a file; NULL: the file does not have it. *ret_cleared: the file deletes what files
 * merged before it have there. */
static const struct tree_key *key_in(const struct tree_key *file, const char *path,
                                     bool *ret_cleared)
{
    const struct tree_key *key = file;
    const char *part;
    size_t count;
    *ret_cleared = false;
    while (key && (part = path_part(&path, &count))) {
        key = tree_child(key, part, count);
        *ret_cleared |= key && key->cleared;
    }
    return key;
}

/* Returns the value that is visible after this file is merged; `before` is the value visible
 * before. NULL: none. */
static const struct tree_value *value_after(const struct tree_key *file, const char *path,
                                            const char *value, const struct tree_value *before)
{
    bool cleared;
    const struct tree_key *key = key_in(file, path, &cleared);
    const struct tree_value *entry = key ? tree_value(key, value) : NULL;
    return entry ? (entry->gone ? NULL : entry) : cleared ? NULL : before;
}

/* True if the key (or value) exists after this file is merged; `before`: if it existed before. */
static bool exists_after(const struct tree_key *file, const char *path, const char *value,
                         bool before)
{
    bool cleared;
    const struct tree_key *key = key_in(file, path, &cleared);
    const struct tree_value *entry = key && value ? tree_value(key, value) : NULL;
    before &= !cleared;
    return entry ? !entry->gone : before || (key && !value && key->alive);
}

bool store_below_has(enum registry_layer layer, const char *path, const char *value)
{
    bool has = false;
    lock_take(&lock);
    for (int i = 0; i <= (int)layer; i++)
        for (size_t j = 0; j < store.folders[i].count; j++) {
            const struct layer_file *file = &store.folders[i].files[j];
            if (file->tree && !(i == (int)layer && !strcmp(file->name, MANUAL_FILE)))
                has = exists_after(file->tree, path, value, has);
        }
    lock_release(&lock);
    return has;
}

bool store_below_agrees(enum registry_layer layer, const char *path,
                        const struct tree_value *wanted)
{
    const struct tree_value *found = NULL;
    lock_take(&lock);
    for (int i = 0; i <= (int)layer; i++)
        for (size_t j = 0; j < store.folders[i].count; j++) {
            const struct layer_file *file = &store.folders[i].files[j];
            if (file->tree && !(i == (int)layer && !strcmp(file->name, MANUAL_FILE)))
                found = value_after(file->tree, path, wanted->name, found);
        }
    bool same = found && found->type == wanted->type && found->size == wanted->size &&
                (!found->size || !memcmp(found->data, wanted->data, found->size));
    lock_release(&lock);
    return same;
}

bool store_stands(enum registry_layer layer, const char *path)
{
    TREE_AUTO *fixed = NULL;
    if (store_below_has(layer, path, NULL))
        return true;
    fixed = tree_new();
    return fixed && add_fixed_keys(fixed) && tree_find(fixed, path);
}

/* True if this file hides the value (`value` NULL: the key) of files merged before it: the file
 * deletes the key or a key above, or the file contains or deletes the value (or key). */
static bool file_hides(const struct tree_key *file, const char *path, const char *value)
{
    bool cleared;
    const struct tree_key *key = key_in(file, path, &cleared);
    return cleared || (key && (value ? tree_value(key, value) != NULL : key->alive));
}

bool store_above_hides(enum registry_layer layer, const char *path, const char *value)
{
    bool hides = false;
    lock_take(&lock);
    for (int i = (int)layer + 1; i < STORE_LAYERS; i++)
        for (size_t j = 0; !hides && j < store.folders[i].count; j++)
            hides = store.folders[i].files[j].tree &&
                    file_hides(store.folders[i].files[j].tree, path, value);
    lock_release(&lock);
    return hides;
}
