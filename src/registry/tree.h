/* SPDX-License-Identifier: MIT */
/*
 * Private to registry: keys in memory. One form serves a single file (where `cleared` and `gone`
 * are its deletions, "[-key]" and "name"=-) and the merged view (which has no deletions left).
 */
#ifndef OPL_REGISTRY_TREE_H
#define OPL_REGISTRY_TREE_H

#include "base/base.h"

struct tree_value {
    char *name;
    void *data;
    size_t size;
    uint32_t type;
    bool gone; /* hides the value of the files below */
};

struct tree_key {
    char *name;
    struct tree_key *parent;
    struct tree_key **keys; /* ordered by folded name */
    size_t key_count, key_room;
    struct tree_value *values; /* in writing order */
    size_t value_count, value_room;
    int64_t last_write; /* FILETIME of the newest file that says something here */
    bool alive;         /* the key exists; false: only a step on the way, or deleted */
    bool cleared;       /* "[-key]" came first: hides the key of the files below */
};

struct tree_key *tree_new(void); /* a nameless root; NULL: no memory */
void tree_free(struct tree_key *key);
void tree_freep(struct tree_key **key);
#define TREE_AUTO __attribute__((cleanup(tree_freep))) struct tree_key

/* Next part of a path: its start and *count, NULL at the end. */
const char *path_part(const char **cursor, size_t *count);

struct tree_key *tree_child(const struct tree_key *key, const char *name, size_t count);
struct tree_key *tree_find(const struct tree_key *root, const char *path);
/* Finds or makes the key and all above it; they all are alive then, unless it is only a step. */
struct tree_key *tree_make(struct tree_key *root, const char *path, bool alive);
struct tree_value *tree_value(const struct tree_key *key, const char *name);
bool tree_set(struct tree_key *key, const char *name, uint32_t type, const void *data, size_t size);
bool tree_bury(struct tree_key *key, const char *name); /* leaves a deletion behind */
void tree_drop_value(struct tree_key *key, const char *name);
void tree_clear(struct tree_key *key); /* all values and keys below */
/* The text of "[-path]": nothing remains, and nothing of the files below shows. */
bool tree_bury_key(struct tree_key *root, const char *path);
/* Lays a file over the merged view. */
bool tree_merge(struct tree_key *merged, const struct tree_key *file, int64_t time);

#endif
