/* SPDX-License-Identifier: MIT */
/* Private to registry: open keys, and the view of a key through a handle. */
#ifndef OPL_REGISTRY_KEY_H
#define OPL_REGISTRY_KEY_H

#include "registry/store.h"

/* ---- mount.c: keys with a source other than the files ---- */
const struct mount *mount_of_handle(HKEY key); /* of a performance key; NULL: it is none */
const struct mount *mount_of_path(const char *path);
bool mount_has_value(const struct mount *mount, const char *name);
const struct registry_computed *computed_value(const char *path, const char *name);
const struct registry_virtual_keys *virtual_keys_of(const char *path);
bool virtual_key(const char *path); /* is it one of the virtual subkeys of its parent? */
/* A key that cannot be deleted: a root, a mount, one with computed values. */
bool path_fixed(const char *path);

/* ---- key.c ---- */
struct open_key;
/* One use of a handle; release it with held_done. */
struct held {
    const char *path; /* canonical */
    REGSAM access;
    const struct mount *mount; /* of the predefined performance key or of the path */
    bool performance;          /* a performance key: only the mount is read */
    struct remote_key *remote; /* not NULL: another machine's key, `path` is "" */
    struct open_key *key;      /* NULL: a predefined key */
};
/* Fails with ERROR_INVALID_HANDLE, ERROR_KEY_DELETED, or ERROR_ACCESS_DENIED if the handle lacks a
 * right of `needed`. */
LSTATUS held_open(HKEY key, REGSAM needed, struct held *ret);
void held_done(struct held *held);
#define HELD_AUTO __attribute__((cleanup(held_done))) struct held
/* Is it a performance key, local or remote? Such keys must be queried only once. */
bool key_is_performance(HKEY key);
/* Call this after the key and those below it were deleted, or (`below`) only those below it: old
 * handles of this process then fail. */
void key_mark_deleted(const char *path, bool below);

/* ---- value.c: a value from the files, from a mount, or computed ---- */
struct found {
    const char *name;
    const struct tree_value *stored;
    const struct registry_computed *computed; /* takes precedence over `stored` */
    bool mounted;                             /* takes precedence over both */
};
bool found_by_name(const struct held *held, const struct tree_key *key, const char *name,
                   struct found *ret);
LSTATUS found_copy(const struct found *found, const struct held *held, bool wide, DWORD *type,
                   void *data, DWORD *size);

#endif
