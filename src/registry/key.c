/* SPDX-License-Identifier: MIT */
/*
 * Handles of keys. An open key has a path and access rights, but no reference to the tree, so it
 * always shows the current content of the files. When this process deletes a key, handles opened
 * before fail even if the key is created again.
 */
#include "registry/key.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_TABLE_TAG = 1 };
static const REGSAM writing_rights = KEY_SET_VALUE | KEY_CREATE_SUB_KEY | KEY_CREATE_LINK | DELETE;

struct open_key {
    struct open_key *next, **link; /* list of all open keys, to mark deleted ones */
    unsigned holders;
    bool deleted;
    REGSAM access;
    const struct mount *mount;
    struct remote_key *remote; /* NULL: this is a key of this machine */
    bool remote_performance;
    char path[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle_table handles = {.tag = KEY_TABLE_TAG};
static struct open_key *open_keys;

/* ---- handles ---- */

static struct open_key *new_key(const char *path, REGSAM access)
{
    struct open_key *key = calloc(1, sizeof *key + strlen(path) + 1);
    if (!key)
        return NULL;
    strcpy(key->path, path);
    key->holders = 1;
    key->access = access;
    return key;
}

/* Makes a handle of the key. Takes ownership of the key, even on failure. */
static LSTATUS put_into_table(struct open_key *key, HKEY *ret)
{
    uintptr_t handle = 0;
    lock_take(&lock);
    LSTATUS status = handle_new(&handles, key, &handle);
    if (status) {
        free(key);
    } else {
        key->next = open_keys;
        key->link = &open_keys;
        if (key->next)
            key->next->link = &key->next;
        open_keys = key;
    }
    lock_release(&lock);
    *ret = (HKEY)handle;
    return status;
}

static LSTATUS new_handle(const char *path, REGSAM access, HKEY *ret)
{
    struct open_key *key = new_key(path, access);
    if (!key)
        return ERROR_NOT_ENOUGH_MEMORY;
    key->mount = mount_of_path(path);
    return put_into_table(key, ret);
}

/* Makes a handle of another machine's key. Takes ownership: on failure the key is closed. */
static LSTATUS key_of_remote(struct remote_key *remote, bool performance, HKEY *ret)
{
    struct open_key *key = new_key("", KEY_READ);
    LSTATUS status = ERROR_NOT_ENOUGH_MEMORY;
    if (key) {
        key->remote = remote;
        key->remote_performance = performance;
        status = put_into_table(key, ret);
    }
    if (status)
        registry_tables->remote->close(remote);
    return status;
}

/* Drops one reference. The caller holds the lock, which this function releases before it closes a
 * remote key, because that may take long. */
static void drop_and_unlock(struct open_key *key)
{
    bool last = --key->holders == 0;
    if (last) {
        *key->link = key->next;
        if (key->next)
            key->next->link = key->link;
    }
    lock_release(&lock);
    if (!last)
        return;
    if (key->remote)
        registry_tables->remote->close(key->remote);
    free(key);
}

const struct mount *mount_of_handle(HKEY key)
{
    uintptr_t value = (uintptr_t)key;
    uint32_t number = (uint32_t)value; /* a predefined key may be sign- or zero-extended */
    bool extended = value == number || value == (uintptr_t)(intptr_t)(int32_t)number;
    const struct mount *mount = registry_tables->mounts;
    for (; extended && mount->path; mount++)
        if (mount->predefined && (uint32_t)(uintptr_t)mount->predefined == number)
            return mount;
    return NULL;
}

static const char *root_path(HKEY key)
{
    static const char *const paths[] = {
        "HKEY_LOCAL_MACHINE\\SOFTWARE\\Classes",
        "HKEY_CURRENT_USER",
        "HKEY_LOCAL_MACHINE",
        "HKEY_USERS",
        NULL,
        "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Hardware Profiles\\Current"};
    uintptr_t value = (uintptr_t)key, index = (uint32_t)value - UINT32_C(0x80000000);
    bool extended = value == (uint32_t)value || value == (uintptr_t)(intptr_t)(int32_t)value;
    return extended && index < COUNT(paths) ? paths[index] : NULL;
}

static LSTATUS hold_handle(HKEY key, struct held *ret)
{
    lock_take(&lock);
    struct open_key *found = handle_get(&handles, (uintptr_t)key);
    if (found) {
        found->holders++;
        *ret = (struct held){.path = found->path,
                             .access = found->access,
                             .mount = found->mount,
                             .remote = found->remote,
                             .key = found};
    }
    bool deleted = found && found->deleted;
    lock_release(&lock);
    return !found ? ERROR_INVALID_HANDLE : deleted ? ERROR_KEY_DELETED : ERROR_SUCCESS;
}

LSTATUS held_open(HKEY key, REGSAM needed, struct held *ret)
{
    *ret = (struct held){.access = KEY_ALL_ACCESS};
    ret->mount = mount_of_handle(key);
    ret->performance = ret->mount;
    ret->path = ret->mount ? ret->mount->path : root_path(key);
    LSTATUS status = ret->path ? ERROR_SUCCESS : hold_handle(key, ret);
    return status ? status : needed & ~ret->access ? ERROR_ACCESS_DENIED : ERROR_SUCCESS;
}

void held_done(struct held *held)
{
    if (!held->key)
        return;
    lock_take(&lock);
    drop_and_unlock(held->key);
}

bool key_is_performance(HKEY key)
{
    HELD_AUTO held;
    if (held_open(key, 0, &held))
        return false;
    return held.performance || (held.key && held.key->remote_performance);
}

static bool at_or_below(const char *path, const char *above)
{
    size_t count = strlen(above);
    return strlen(path) >= count && !text_compare_fold_n(path, count, above, count) &&
           (!path[count] || path[count] == '\\');
}

/* Marks the open keys at `path` and below it as deleted; with `below` only those below it. */
void key_mark_deleted(const char *path, bool below)
{
    lock_take(&lock);
    for (struct open_key *key = open_keys; key; key = key->next)
        if (at_or_below(key->path, path) && (!below || strlen(key->path) > strlen(path)))
            key->deleted = true;
    lock_release(&lock);
}

/* ---- opening ---- */

static bool path_exists(const struct store_view *view, const char *path)
{
    return tree_find(view->root, path) || virtual_key(path);
}

/* Replaces generic access rights by those of keys. */
static REGSAM plain_access(REGSAM access)
{
    static const struct {
        REGSAM generic, rights;
    } rows[] = {
        {0x80000000, KEY_READ      },
        {0x40000000, KEY_WRITE     },
        {0x20000000, KEY_EXECUTE   },
        {0x10000000, KEY_ALL_ACCESS}
    };
    REGSAM rights = access & 0x0fffffff;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (access & rows[i].generic)
            rights |= rows[i].rights;
    return rights;
}

/* Makes a handle of the key at `path`, which must exist. */
static LSTATUS open_path(const char *path, REGSAM access, HKEY *ret)
{
    const struct mount *mount = mount_of_path(path);
    access = plain_access(access);
    if (mount && mount->opens_as && !(access & KEY_SET_VALUE)) {
        *ret = mount->opens_as;
        return ERROR_SUCCESS;
    }
    bool wants_to_write = access & writing_rights;
    bool most = access & MAXIMUM_ALLOWED;
    bool writable = (wants_to_write || most) && layer_writable(layer_of_path(path));
    if (wants_to_write && !writable)
        return ERROR_ACCESS_DENIED;
    if (most)
        access |= writable ? KEY_ALL_ACCESS : KEY_READ;
    return new_handle(path, access, ret);
}

/* Sets *ret_path to the key's path with `sub` appended; `sub` NULL: the key's own path. */
static LSTATUS locate(HKEY key, const char *sub, struct buffer *ret_path)
{
    HELD_AUTO held;
    LSTATUS status = held_open(key, 0, &held);
    if (!status && held.remote)
        status = ERROR_ACCESS_DENIED; /* keys of other machines are read-only */
    if (!status && held.performance)
        status = held.mount->open_status ? held.mount->open_status : ERROR_INVALID_HANDLE;
    return status ? status : path_join(held.path, sub, ret_path);
}

static LSTATUS open_remote(const struct held *above, const char *sub, REGSAM access, HKEY *ret)
{
    struct remote_key *remote = NULL;
    if (plain_access(access) & writing_rights)
        return ERROR_ACCESS_DENIED;
    LSTATUS status = registry_tables->remote->open(above->remote, sub, &remote);
    return status ? status : key_of_remote(remote, above->key->remote_performance, ret);
}

static LSTATUS open_here(HKEY key, const char *sub, REGSAM access, HKEY *ret)
{
    BUFFER_AUTO path = {0};
    VIEW_AUTO *view = NULL;
    LSTATUS status = locate(key, sub, &path);
    status = status ? status : store_hold(&view);
    if (!status && !path_exists(view, path.data))
        status = ERROR_FILE_NOT_FOUND;
    return status ? status : open_path(path.data, access, ret);
}

LSTATUS key_open(HKEY key, const char *sub, REGSAM access, HKEY *ret)
{
    HELD_AUTO held;
    *ret = NULL;
    LSTATUS status = held_open(key, 0, &held);
    if (status)
        return status;
    return held.remote ? open_remote(&held, sub, access, ret) : open_here(key, sub, access, ret);
}

LSTATUS key_create(HKEY key, const char *sub, REGSAM access, HKEY *ret, bool *ret_existed)
{
    BUFFER_AUTO path = {0};
    VIEW_AUTO *view = NULL;
    *ret = NULL;
    LSTATUS status = locate(key, sub, &path);
    status = status ? status : store_hold(&view);
    if (status)
        return status;
    *ret_existed = path_exists(view, path.data);
    if (!*ret_existed) {
        struct change change = {.kind = CHANGE_MAKE, .path = path.data};
        status = store_write(layer_of_path(path.data), &change);
        *ret_existed = change.existed;
    }
    return status ? status : open_path(path.data, access, ret);
}

LSTATUS key_close(HKEY key)
{
    const struct mount *mount = mount_of_handle(key);
    if (mount)
        return mount->close ? mount->close() : ERROR_SUCCESS;
    if (root_path(key))
        return ERROR_SUCCESS;
    lock_take(&lock);
    struct open_key *closed = handle_take(&handles, (uintptr_t)key);
    if (closed)
        drop_and_unlock(closed);
    else
        lock_release(&lock);
    return closed ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
}

LSTATUS key_flush(HKEY key)
{
    HELD_AUTO held;
    return held_open(key, 0, &held);
}

/* Does what RegConnectRegistry does for this machine: makes a handle of the root. */
static LSTATUS key_connect_here(HKEY root, HKEY *ret)
{
    const struct mount *mount = mount_of_handle(root);
    if (mount && mount == mount_of_handle(HKEY_PERFORMANCE_DATA)) {
        *ret = HKEY_PERFORMANCE_DATA;
        return ERROR_SUCCESS;
    }
    const char *path = root_path(root);
    if (!path || (path != root_path(HKEY_LOCAL_MACHINE) && path != root_path(HKEY_USERS)))
        return ERROR_INVALID_HANDLE;
    return open_path(path, MAXIMUM_ALLOWED, ret);
}

/* ---- deleting ---- */

LSTATUS key_delete(HKEY key, const char *sub)
{
    BUFFER_AUTO path = {0};
    if (!sub)
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = locate(key, sub, &path);
    if (status)
        return status;
    if (path_fixed(path.data))
        return ERROR_ACCESS_DENIED;
    struct change change = {.kind = CHANGE_DELETE_KEY, .path = path.data, .without_keys = true};
    status = store_write(layer_of_path(path.data), &change);
    if (!status)
        key_mark_deleted(path.data, false);
    return status;
}

static LSTATUS empty_key(HKEY key)
{
    HELD_AUTO held;
    LSTATUS status =
        held_open(key, DELETE | KEY_ENUMERATE_SUB_KEYS | KEY_QUERY_VALUE | KEY_SET_VALUE, &held);
    if (!status && held.performance)
        status = held.mount->set_status;
    if (status)
        return status;
    struct change change = {.kind = CHANGE_EMPTY, .path = held.path, .must_exist = true};
    status = store_write(layer_of_path(held.path), &change);
    if (!status)
        key_mark_deleted(held.path, true);
    return status;
}

LSTATUS key_delete_tree(HKEY key, const char *sub)
{
    BUFFER_AUTO path = {0};
    if (!sub || !*sub)
        return empty_key(key);
    LSTATUS status = locate(key, sub, &path);
    if (status)
        return status;
    if (path_fixed(path.data))
        return ERROR_ACCESS_DENIED;
    struct change change = {.kind = CHANGE_DELETE_KEY, .path = path.data};
    status = store_write(layer_of_path(path.data), &change);
    if (!status)
        key_mark_deleted(path.data, false);
    return status;
}

/* ---- connecting to several machines ---- */

static void take_key(const struct pending_remote *from, struct pending_connect *pending)
{
    pending->status = from->status;
    if (!from->status)
        pending->status =
            key_of_remote(from->key, mount_of_handle(pending->root) != NULL, &pending->key);
}

static void connect_remote(struct pending_connect *pendings, size_t count,
                           struct pending_remote *remote)
{
    size_t begun = 0;
    for (size_t i = 0; i < count; i++)
        if (!machine_is_own(pendings[i].machine))
            remote[begun++] =
                (struct pending_remote){.machine = pendings[i].machine, .root = pendings[i].root};
    if (begun)
        registry_tables->remote->connect_all(remote, begun);
    for (size_t i = 0, at = 0; i < count; i++)
        if (!machine_is_own(pendings[i].machine))
            take_key(&remote[at++], &pendings[i]);
}

void key_connect_all(struct pending_connect *pendings, size_t count)
{
    FREE_AUTO struct pending_remote *remote = calloc(count + 1, sizeof *remote);
    for (size_t i = 0; i < count; i++) {
        struct pending_connect *pending = &pendings[i];
        pending->key = NULL;
        if (machine_is_own(pending->machine))
            pending->status = key_connect_here(pending->root, &pending->key);
        else
            pending->status = remote ? ERROR_BAD_NETPATH : ERROR_NOT_ENOUGH_MEMORY;
    }
    if (remote && registry_tables->remote)
        connect_remote(pendings, count, remote);
}

LSTATUS key_connect(const char *machine, HKEY root, HKEY *ret)
{
    struct pending_connect pending = {.machine = machine, .root = root};
    key_connect_all(&pending, 1);
    *ret = pending.key;
    return pending.status;
}

/* ---- queries ---- */

LSTATUS key_query(HKEY key, const char *name, bool wide, DWORD *type, void *data, DWORD *size)
{
    HELD_AUTO held;
    LSTATUS status = held_open(key, KEY_QUERY_VALUE, &held);
    if (status)
        return status;
    if (data && !size)
        return ERROR_INVALID_PARAMETER;
    if (held.remote)
        return registry_tables->remote->query(held.remote, name, wide, type, data, size);
    if (held.performance)
        return held.mount->query(held.path, name, wide, type, data, size);
    return value_query(&held, name ? name : "", wide, type, data, size);
}

struct batch {
    struct key_request *requests;
    struct held *held;
    size_t count;
};

/* Queries a performance key of this machine. The query does not return the size that is needed
 * (docs/windows/queries.md#c3), so the buffer is doubled until the value fits, and kept for the
 * next query. The size that providers in this process need is known, and gets some space for new
 * instances. */
static LSTATUS query_here(const struct held *held, const char *name, struct buffer *data)
{
    enum { FIRST_SIZE = 512 << 10, MOST_SIZE = 256 << 20 };
    size_t capacity = data->capacity > FIRST_SIZE ? data->capacity - 1 : FIRST_SIZE;
    for (size_t needed;; capacity = needed > capacity * 2 ? needed : capacity * 2) {
        buffer_clear(data);
        if (capacity > MOST_SIZE || !buffer_reserve(data, capacity))
            return ERROR_NOT_ENOUGH_MEMORY;
        DWORD size = (DWORD)data->capacity - 1;
        LSTATUS status = held->mount->query(held->path, name, false, NULL, data->data, &size);
        if (status != ERROR_MORE_DATA) {
            data->len = status ? 0 : size;
            return status;
        }
        needed = shortage_here.needed;
        needed += needed / 8;
    }
}

/* Called while other machines work on their queries: queries the values of this machine. */
static void query_own(void *self)
{
    const struct batch *batch = self;
    for (size_t i = 0; i < batch->count; i++) {
        struct key_request *request = &batch->requests[i];
        const struct held *held = &batch->held[i];
        if (!request->status && !held->remote)
            request->status = held->performance ? query_here(held, request->name, request->data)
                                                : ERROR_INVALID_HANDLE;
    }
}

static void query_remote(struct batch *batch, struct remote_request *remote)
{
    size_t begun = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (!batch->requests[i].status && batch->held[i].remote)
            remote[begun++] = (struct remote_request){.key = batch->held[i].remote,
                                                      .name = batch->requests[i].name,
                                                      .data = batch->requests[i].data};
    if (begun)
        registry_tables->remote->query_all(remote, begun, query_own, batch);
    else
        query_own(batch);
    for (size_t i = 0, at = 0; at < begun; i++)
        if (batch->held[i].remote && batch->requests[i].data == remote[at].data)
            batch->requests[i].status = remote[at++].status;
}

static void query_all(struct batch *batch, struct remote_request *remote)
{
    for (size_t i = 0; i < batch->count; i++)
        batch->requests[i].status =
            held_open(batch->requests[i].key, KEY_QUERY_VALUE, &batch->held[i]);
    query_remote(batch, remote);
    for (size_t i = 0; i < batch->count; i++)
        held_done(&batch->held[i]);
}

/* Asks all requests at once. No memory is allocated if there are only a few requests. */
void key_query_all(struct key_request *requests, size_t count)
{
    enum { FEW = 8 };
    struct held few_held[FEW];
    struct remote_request few_remote[FEW];
    bool few = count <= FEW;
    FREE_AUTO struct held *held = few ? NULL : calloc(count, sizeof *held);
    FREE_AUTO struct remote_request *remote = few ? NULL : calloc(count, sizeof *remote);
    struct batch batch = {requests, few ? few_held : held, count};
    if (few || (held && remote))
        query_all(&batch, few ? few_remote : remote);
    for (size_t i = 0; !few && !(held && remote) && i < count; i++)
        requests[i].status = ERROR_NOT_ENOUGH_MEMORY;
}
