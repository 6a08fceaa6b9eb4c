/* SPDX-License-Identifier: MIT */
/* Private to registry: open keys, and functions that work on a key through its handle. */
#ifndef OPL_REGISTRY_KEY_H
#define OPL_REGISTRY_KEY_H

#include "registry/store/store.h"

/* ---- value.c: keys whose content other modules compute ---- */
const struct mount *mount_of_path(const char *path);
bool mount_has_value(const struct mount *mount, const char *name);
const struct registry_computed *computed_value(const char *path, const char *name);
const struct registry_virtual_keys *virtual_keys_of(const char *path);
bool virtual_key(const char *path); /* true for a subkey that the module of its parent key lists */
/* True if the key cannot be deleted: a root, a mount, or a key with computed values. */
bool path_fixed(const char *path);

/* ---- key.c ---- */
/* the mount of a performance key; NULL: `key` is not a performance key */
const struct mount *mount_of_handle(HKEY key);
struct open_key;
/* A handle in use by one call; held_done ends the use. */
struct held {
    const char *path; /* canonical path */
    REGSAM access;
    /* the mount of the predefined performance key, or the mount at `path`; NULL: none */
    const struct mount *mount;
    /* the key is a performance key: only the mount's content is visible */
    bool performance;
    struct remote_key *remote; /* not NULL: the key is one of another machine, and `path` is "" */
    struct open_key *key;      /* the open key; NULL: a predefined key */
};
/* Fails with ERROR_INVALID_HANDLE, ERROR_KEY_DELETED, or ERROR_ACCESS_DENIED if the handle lacks
 * one of the rights `needed`. */
LSTATUS held_open(HKEY key, REGSAM needed, struct held *ret);
void held_done(struct held *held);
#define HELD_AUTO __attribute__((cleanup(held_done))) struct held
/* True for a performance key, local or remote. Callers must not query such a key twice for one
 * answer. */
bool key_is_performance(HKEY key);
/* To be called after a key was deleted with all keys below it, or (`below`) only the keys below:
 * this process's handles of deleted keys then fail. */
void key_mark_deleted(const char *path, bool below);

/* ---- value.c: a value from the files, from a mount, or computed ---- */
struct found {
    const char *name;
    const struct tree_value *stored;
    /* the computed value, which takes precedence over `stored` */
    const struct registry_computed *computed;
    /* the value is the mount's, which takes precedence over `stored` and `computed` */
    bool mounted;
};
bool found_by_name(const struct held *held, const struct tree_key *key, const char *name,
                   struct found *ret);
LSTATUS found_copy(const struct found *found, const struct held *held, bool wide, DWORD *type,
                   void *data, DWORD *size);
/* Reads a value of an ordinary key. */
LSTATUS value_query(const struct held *held, const char *name, bool wide, DWORD *type, void *data,
                    DWORD *size);

#endif
