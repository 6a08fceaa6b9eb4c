/* SPDX-License-Identifier: MIT */
/* Private to registry: the layers' files, their merged view, and changes to manual.reg. */
#ifndef OPL_REGISTRY_STORE_H
#define OPL_REGISTRY_STORE_H

#include "registry/registry.h"
#include "registry/store/tree.h"

#define MANUAL_FILE "manual.reg"
enum { STORE_LAYERS = LAYER_USER + 1 };

/* ---- files.c: one layer's folder and the content of its files ---- */
struct file_state {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec mtime, ctime;
    mode_t mode; /* the mode is not compared, because a change of the mode also changes ctime */
};
struct layer_file {
    char *name;
    struct file_state state;
    struct tree_key *tree; /* NULL: the file is ignored, as it is not trusted or cannot be read */
    bool damaged;          /* a damaged line of the file was reported */
};
struct layer_folder {
    enum registry_layer layer;
    char *path; /* path of the layer's folder registry.d; NULL: this layer has no folder */
    struct file_state state;
    /* the folder's last change is so old that another change must get a later time */
    bool settled;
    struct layer_file *files; /* the files, sorted by name, manual.reg last */
    size_t count, capacity;
    size_t next;  /* position of the file that is checked next */
    bool missing; /* the folder does not exist; if it is the vendor's, that was reported */
    bool refused; /* it was reported that the folder is not trusted */
};
/* Reads the files that have changed. *ret_changed becomes true if there is such a file, or if one
 * was added or removed. */
LSTATUS folder_scan(struct layer_folder *folder, bool *ret_changed);
void folder_forget(struct layer_folder *folder);
/* True if the folder has changed since it was read, or one of its files. A call looks at most at
 * `files` of them (SIZE_MAX: all), beginning with `next`. */
bool folder_changed(struct layer_folder *folder, size_t files);
/* Appends a file; takes ownership of its tree. */
LSTATUS folder_add(struct layer_folder *folder, const char *name, const struct layer_file *file);
const struct layer_file *folder_file(const struct layer_folder *folder, const char *name);
bool hive_is_name(const char *name); /* true for a visible name that ends with .reg */
/* Opens the folder. ERROR_ACCESS_DENIED: the folder is not trusted, which is logged as an event.
 * The caller closes *ret_fd unless it is -1, on any status. */
LSTATUS folder_open(const struct layer_folder *folder, struct stat *st, int *ret_fd);
/* Sets *ret to the bytes of a file. ERROR_ACCESS_DENIED: the file is not trusted. */
LSTATUS file_text(enum registry_layer layer, int dir_fd, const char *name,
                  struct file_state *ret_state, struct buffer *ret);
/* Reads one file. `folder` is the path of the file's folder: texts of services are lazy then. NULL:
 * no values are lazy. *ret_remarks (may be NULL) gets the comment lines, and damaged lines as
 * comments. */
LSTATUS file_load(enum registry_layer layer, const char *folder, int dir_fd, const char *name,
                  struct layer_file *ret, struct buffer *ret_remarks);
void file_state_of(const struct stat *st, struct file_state *ret);
bool file_state_same(const struct file_state *left, const struct file_state *right);
bool layer_trusts(enum registry_layer layer, const struct stat *st);

/* ---- files.c: lazy values ---- */
struct lazy {
    const struct file_state *state; /* the file's state when it was parsed */
    const char *folder, *name;
    off_t offset; /* offset of the key's line in the file */
    size_t size;
    unsigned line; /* number of the key's line */
};

/* ---- index.c: the merged files of the vendor's and the machine's layer, compiled ---- */
struct index {
    struct buffer bytes;   /* content of the index file */
    void *memory;          /* memory of the tree, which refers to `bytes` */
    struct tree_key *root; /* must be freed before `memory` and `bytes` */
};
/* Reads the index in the folder `place` if it describes the layers' files as they are now, and
 * fills in `folders`, whose files get no trees. Any status but 0 means that the index cannot be
 * used. */
LSTATUS index_read(const char *place, struct layer_folder *folders, struct index *ret);
void index_done(struct index *index);
/* Returns a number that differs for each state of the files; 0: none. */
uint64_t index_identity(const struct index *index);
/* Writes the index if possible and returns the index's identity; 0: not written. `root` must have
 * the content of both folders' files, and no keys that always exist. */
uint64_t index_write(const char *place, const struct layer_folder *folders,
                     const struct tree_key *root);
/* For tests: index_parse makes the tree of index->bytes; index_seal and derived_seal compute the
 * hash of changed bytes, of an index and of a derived file. */
LSTATUS index_parse(struct index *index);
void index_seal(void *bytes, size_t size);
void derived_seal(void *bytes, size_t size);

/* ---- store.c: the merged view; immutable, so that readers need no lock ---- */
struct store_view {
    unsigned holders;
    uint64_t generation;
    struct tree_key *root;
    /* the index from which root was made; empty: root was made from the files */
    struct index index;
    /* identity of the index that has the same content except HKEY_CURRENT_USER; 0: no such index */
    uint64_t identity;
};
/* Returns the identity of the current view; 0: the view has no identity, or not this generation. */
uint64_t store_identity(uint64_t generation);
LSTATUS store_hold(const struct store_view **ret); /* gets the current content of the files */
void store_drop(const struct store_view **view);
#define VIEW_AUTO __attribute__((cleanup(store_drop))) const struct store_view
/* returns the path of the layer's folder registry.d, or NULL */
const char *store_folder(enum registry_layer layer);
void store_forget(void); /* for tests: forgets everything, including the paths */
/* Between begin and end this thread checks the files for changes only once. May be nested. */
void store_walk_begin(void);
void store_walk_end(void);
/* to be called when this process has written a file: a walk then checks the files once more */
void store_written(void);
void store_invalidate(void);     /* a file has changed since it was read: the next call checks all
                                  * files */
LSTATUS store_refresh_all(void); /* checks every file for changes */
/* "Below" are all files that are merged before manual.reg of `layer`. True if the value (`value`
 * NULL: the key) exists in the files below. */
bool store_below_has(enum registry_layer layer, const char *path, const char *value);
/* True if the files below have exactly this value. */
bool store_below_agrees(enum registry_layer layer, const char *path,
                        const struct tree_value *wanted);
/* True if the key exists in the files below, or exists whatever the files contain. */
bool store_stands(enum registry_layer layer, const char *path);
/* True if a higher layer hides the value (`value` NULL: the key) that `layer` would contain. */
bool store_above_hides(enum registry_layer layer, const char *path, const char *value);

/* ---- write.c: one change of manual.reg ---- */
enum change_kind { CHANGE_MAKE, CHANGE_SET, CHANGE_DELETE_VALUE, CHANGE_DELETE_KEY, CHANGE_EMPTY };
struct change {
    enum change_kind kind;
    const char *path, *value;
    uint32_t type;
    const void *data;
    size_t size;
    bool must_exist;   /* the key must exist, else ERROR_KEY_DELETED */
    bool without_keys; /* CHANGE_DELETE_KEY: a key with subkeys is refused */
    /* CHANGE_DELETE_VALUE: maximum number of keys, from `path` upwards, that are removed if they
     * are empty */
    unsigned empty_keys;
    bool existed; /* set by the change: the key existed */
};
LSTATUS store_write(enum registry_layer layer, struct change *change);
/* Writes all changes in one durable step, or none. Deleting a key or value that is absent succeeds.
 * *ret_failed: the change that was refused. */
LSTATUS store_write_all(enum registry_layer layer, const struct change *changes, size_t count,
                        size_t *ret_failed);
/* The writers' lock: a mutex of this process, then the file lock of the layer's folder, which is
 * created if it is missing. */
struct writers_lock {
    int folder, lock;
};
LSTATUS writers_enter(enum registry_layer layer, struct writers_lock *ret);
void writers_leave(struct writers_lock *lock);
enum registry_layer layer_of_path(const char *path);
bool layer_writable(enum registry_layer layer);

/* ---- value.c: keys of other modules ---- */
/* The tables that registry_init was given; empty ones before that, never NULL. */
extern const struct registry_tables *registry_tables;

/* ---- tree.c: paths ---- */
/* Replaces an alias at the path's beginning (HKEY_CLASSES_ROOT, HKEY_USERS with the user's number)
 * by the path under which the key is stored. False: no memory. */
bool path_canonical(struct buffer *path);
const char *path_users_own(void); /* HKEY_USERS\S-1-22-1-<uid> */
/* Sets *ret to path\sub. ERROR_BAD_PATHNAME: `sub` begins with a backslash or has an empty part. */
LSTATUS path_join(const char *path, const char *sub, struct buffer *ret);
bool path_name_valid(const char *name, size_t limit);

#endif
