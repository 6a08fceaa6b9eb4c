/* SPDX-License-Identifier: MIT */
/* Private to registry: the layers' files, the merged view of them, and changes to manual.reg. */
#ifndef OPL_REGISTRY_STORE_H
#define OPL_REGISTRY_STORE_H

#include "registry/registry.h"
#include "registry/tree.h"

#define MANUAL_FILE "manual.reg"
enum { STORE_LAYERS = LAYER_USER + 1 };

/* ---- files.c: one layer's folder and what its files say ---- */
struct file_state {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec mtime, ctime;
};
struct layer_file {
    char *name;
    struct file_state state;
    struct tree_key *tree; /* NULL: ignored, because nobody may trust or read it */
};
struct layer_folder {
    enum registry_layer layer;
    char *path; /* .../registry.d; NULL: this layer has no place */
    struct file_state state;
    bool settled;             /* its last change is old enough to show the next one */
    struct layer_file *files; /* by name, manual.reg last */
    size_t count, room;
    size_t next;  /* the file that is looked at next */
    bool missing; /* which was said */
};
/* Reads what is new. Looks at the folder, and at so many of its files: in turn, if not at all. */
LSTATUS folder_refresh(struct layer_folder *folder, size_t files, bool *ret_changed);
void folder_forget(struct layer_folder *folder);
bool hive_is_name(const char *name); /* of a file that holds registry text */
/* The folder, if it may be believed; an event says why not. *ret_fd is -1 or the caller's. */
LSTATUS folder_open(const struct layer_folder *folder, struct stat *st, int *ret_fd);
/* The event of a damaged line; include registry/hive.h for its type. */
struct opl_reg_entry;
void file_say_damaged(const char *file, const struct opl_reg_entry *entry);
/* The bytes of a file, if it may be believed. */
LSTATUS file_text(enum registry_layer layer, int dir_fd, const char *name,
                  struct file_state *ret_state, struct buffer *ret);
/* Reads one file; `folder`, if not NULL, is its path, and texts of services stay late (late.c);
 * *ret_remarks (may be NULL) gets comment lines and damaged lines as comments. */
LSTATUS file_load(enum registry_layer layer, const char *folder, int dir_fd, const char *name,
                  struct file_state *ret_state, struct tree_key **ret_tree,
                  struct buffer *ret_remarks);
bool file_state_same(const struct file_state *left, const struct file_state *right);
void file_state_of(const struct stat *st, struct file_state *ret);
bool layer_trusts(enum registry_layer layer, const struct stat *st);

/* ---- store.c: the merged view; immutable, so that readers need no lock while they look ---- */
struct snapshot {
    unsigned holders;
    uint64_t generation;
    struct tree_key *root;
};
LSTATUS store_hold(const struct snapshot **ret); /* what the files say now */
void store_drop(const struct snapshot **snapshot);
#define SNAPSHOT_AUTO __attribute__((cleanup(store_drop))) const struct snapshot
const char *store_folder(enum registry_layer layer); /* .../registry.d or NULL */
void store_forget(void);                             /* for tests: all, with the places */
void store_look_again(void); /* a file was met that is not as it was: the next call looks at all */
LSTATUS store_refresh_all(void); /* looks at every file */
/* Does a file below (above) manual.reg of `layer` say something about the key or value? */
bool store_below_has(enum registry_layer layer, const char *path, const char *value);
/* Do these files say exactly this value? Does the key exist by them, or whatever files say? */
bool store_below_says(enum registry_layer layer, const char *path, const struct tree_value *wanted);
bool store_stands(enum registry_layer layer, const char *path);
bool store_above_hides(enum registry_layer layer, const char *path, const char *value);

/* ---- write.c: one change of manual.reg ---- */
enum change_kind { CHANGE_MAKE, CHANGE_SET, CHANGE_DELETE_VALUE, CHANGE_DELETE_KEY, CHANGE_EMPTY };
struct change {
    enum change_kind kind;
    const char *path, *value;
    uint32_t type;
    const void *data;
    size_t size;
    bool must_exist;     /* the key: ERROR_KEY_DELETED else */
    bool without_keys;   /* CHANGE_DELETE_KEY: refuse a key with subkeys */
    unsigned empty_keys; /* CHANGE_DELETE_VALUE: so many keys upwards go when they are empty then */
    bool existed;        /* out: the key was there */
};
LSTATUS store_write(enum registry_layer layer, struct change *change);
/* All of them in one durable step, or none. They are not compared with what is there: what is
 * absent is deleted with success. *ret_failed: the one that was refused. */
LSTATUS store_write_all(enum registry_layer layer, const struct change *changes, size_t count,
                        size_t *ret_failed);
/* The writers' lock: of this process, then of the layer's folder, which is made. */
struct writers_lock {
    int folder, lock;
};
LSTATUS writers_enter(enum registry_layer layer, struct writers_lock *ret);
void writers_leave(struct writers_lock *lock);
enum registry_layer layer_of_path(const char *path);
bool layer_writable(enum registry_layer layer);

/* ---- mount.c ---- */
/* Never NULL; registry_init alone writes it. */
extern const struct registry_tables *registry_tables;

/* ---- path.c ---- */
/* Puts the one name of a key in the place of its aliases (HKEY_CLASSES_ROOT, the user's number). */
bool path_canonical(struct buffer *path);
const char *path_users_own(void); /* HKEY_USERS\S-1-22-1-<uid> */
/* *ret = path\sub. ERROR_BAD_PATHNAME: leading backslash or an empty part. */
LSTATUS path_join(const char *path, const char *sub, struct buffer *ret);
bool path_name_valid(const char *name, size_t limit);

#endif
