/* SPDX-License-Identifier: MIT */
/*
 * Private to registry: keys in memory. One structure serves a single file (where `cleared` and
 * `gone` are its deletions, "[-key]" and "name"=-) and the merged view (which has no deletions
 * left).
 */
#ifndef OPL_REGISTRY_TREE_H
#define OPL_REGISTRY_TREE_H

#include "base/base.h"

struct tree_value {
    char *name;
    void *data;
    size_t size;
    uint32_t type;
    bool gone;  /* hides the value of the files below */
    bool image; /* name and data are parts of an index */
};

struct tree_key {
    char *name;
    struct tree_key *parent;
    struct tree_key **keys; /* ordered by folded name */
    size_t key_count, key_capacity;
    struct tree_value *values; /* in writing order */
    size_t value_count, value_capacity;
    int64_t last_write; /* FILETIME of the newest file that mentions the key */
    bool alive;         /* the key exists; false: only a step on the way, or deleted */
    bool cleared;       /* "[-key]" came first: hides the key of the files below */
    struct lazy *lazy;  /* the values are still in the file; else NULL */
    /* the key, its name and `lazy` are parts of an index, and so is an array of capacity 0 */
    bool image;
};

struct tree_key *tree_new(void); /* a nameless root; NULL: no memory */
void tree_free(struct tree_key *key);
void tree_freep(struct tree_key **key);
#define TREE_AUTO __attribute__((cleanup(tree_freep))) struct tree_key

/* Next part of a path: its start and *count, NULL at the end. */
const char *path_part(const char **cursor, size_t *count);

struct tree_key *tree_child(const struct tree_key *key, const char *name, size_t count);
struct tree_key *tree_find(const struct tree_key *root, const char *path);
/* Finds or creates the key and all above it; they are marked as existing, unless it is only a
 * step. */
struct tree_key *tree_make(struct tree_key *root, const char *path, bool alive);
struct tree_value *tree_value(const struct tree_key *key, const char *name); /* reads lazy values */
bool tree_set(struct tree_key *key, const char *name, uint32_t type, const void *data, size_t size);
bool tree_write_tombstone(struct tree_key *key, const char *name); /* marks the value as deleted */
void tree_drop_value(struct tree_key *key, const char *name);
void tree_clear(struct tree_key *key); /* all values and keys below */
/* The equivalent of "[-path]": the key is emptied, and hides those of the files below. */
bool tree_write_key_tombstone(struct tree_key *root, const char *path);
/* The same for a key whose lazy values are being read. */
bool tree_put(struct tree_key *key, const char *name, uint32_t type, const void *data, size_t size);
bool tree_put_gone(struct tree_key *key, const char *name);
/* Merges a file over the merged view. */
bool tree_merge(struct tree_key *merged, const struct tree_key *file, int64_t time);

/* ---- lazy.c: values that stay in their file until they are read ---- */
struct file_state;
struct hive_section;
struct opl_reg_entry;
/* The values of `name` in `folder`: a section of UTF-8 text that begins with the key's line. */
struct lazy *lazy_new(const char *folder, const char *name, const struct file_state *state,
                      const struct hive_section *section);
struct lazy *lazy_copy(const struct lazy *lazy);
bool tree_is_lazy(const struct tree_key *key);
/* Must be called before a key's values are read; thread-safe. false: no memory. */
bool tree_fill(const struct tree_key *key);
/* The section as the text of a file, and its origin; free both on any status. ERROR_NOT_FOUND: the
 * values have been read already. */
LSTATUS lazy_text(const struct tree_key *key, struct buffer *ret, struct lazy **ret_lazy);
void lazy_report_damaged(const struct lazy *lazy, const struct opl_reg_entry *entry);

#endif
