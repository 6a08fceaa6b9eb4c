/* SPDX-License-Identifier: MIT */
/*
 * Private to registry: keys in memory. The same structure is used for a single file, in which
 * `cleared` and `gone` are its deletions "[-key]" and "name"=-, and for the merged view, in which
 * nothing is deleted.
 */
#ifndef OPL_REGISTRY_TREE_H
#define OPL_REGISTRY_TREE_H

#include "base/base.h"

struct tree_value {
    char *name;
    void *data;
    size_t size;
    uint32_t type;
    bool gone;  /* the line "name"=-, which hides the value that earlier files gave */
    bool image; /* name and data are parts of an index, so they are not freed */
};

struct tree_key {
    char *name;
    struct tree_key *parent;
    struct tree_key **keys; /* the subkeys, sorted by folded name */
    size_t key_count, key_capacity;
    struct tree_value *values; /* values in the order in which they were written */
    size_t value_count, value_capacity;
    int64_t last_write; /* FILETIME of the newest file that mentions the key */
    /* the key exists; false: the key is deleted, or is only part of another key's path */
    bool alive;
    bool cleared; /* the file has a line "[-key]", which hides the key that earlier files gave */
    struct lazy *lazy; /* the place of values that are still in the file; NULL: none */
    /* The key, its name and `lazy` are parts of an index, and so are arrays of capacity 0: they are
     * not freed. */
    bool image;
};

struct tree_key *tree_new(void); /* makes a root, which has no name; NULL: no memory */
void tree_free(struct tree_key *key);
void tree_freep(struct tree_key **key);
#define TREE_AUTO __attribute__((cleanup(tree_freep))) struct tree_key

/* Returns the start of the next part of a path and its length *count; NULL at the end. */
const char *path_part(const char **cursor, size_t *count);

struct tree_key *tree_child(const struct tree_key *key, const char *name, size_t count);
struct tree_key *tree_find(const struct tree_key *root, const char *path);
/* Finds or creates the key and all keys above. `alive` true: these keys are marked as existing;
 * false: missing keys are made only as parts of the path. NULL: no memory. */
struct tree_key *tree_make(struct tree_key *root, const char *path, bool alive);
/* returns the key's value with this name, after reading lazy values; NULL: none */
struct tree_value *tree_value(const struct tree_key *key, const char *name);
bool tree_set(struct tree_key *key, const char *name, uint32_t type, const void *data, size_t size);
/* marks the value as deleted; false: no memory */
bool tree_write_tombstone(struct tree_key *key, const char *name);
void tree_drop_value(struct tree_key *key, const char *name);
void tree_clear(struct tree_key *key); /* removes all values and keys below */
/* Does what a line "[-path]" means: the key is emptied, and hides the key of files merged
 * before. */
bool tree_write_key_tombstone(struct tree_key *root, const char *path);
/* Like tree_set and tree_write_tombstone, for a key whose lazy values are being read. */
bool tree_put(struct tree_key *key, const char *name, uint32_t type, const void *data, size_t size);
bool tree_put_gone(struct tree_key *key, const char *name);
/* Merges a file into the merged view; `time`: the file's FILETIME. False: no memory. */
bool tree_merge(struct tree_key *merged, const struct tree_key *file, int64_t time);

/* ---- files.c: values that stay in their file until they are read ---- */
struct file_state;
struct hive_section;
struct opl_reg_entry;
struct lazy *lazy_copy(const struct lazy *lazy);
bool tree_is_lazy(const struct tree_key *key);
/* Reads the key's values if the values are lazy; must be called before they are used. Thread-safe.
 * False: no memory. */
bool tree_fill(const struct tree_key *key);
/* Sets *ret to the lazy section as the text of a file, and *ret_lazy to the section's place. Both
 * must be freed on any status. ERROR_NOT_FOUND: the values have been read already. */
LSTATUS lazy_text(const struct tree_key *key, struct buffer *ret, struct lazy **ret_lazy);
void lazy_report_damaged(const struct lazy *lazy, const struct opl_reg_entry *entry);

#endif
