/* SPDX-License-Identifier: MIT */
/*
 * Keys in memory: children ordered by folded name and found by binary search, values in writing
 * order. Files are merged in order; a later file overrides earlier ones.
 */
#include "registry/store/tree.h"
#include "registry/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tree_key *tree_new(void)
{
    struct tree_key *key = calloc(1, sizeof *key);
    if (key)
        key->alive = true;
    return key;
}

static void free_value(struct tree_value *value)
{
    if (value->image)
        return;
    free(value->name);
    free(value->data);
}

void tree_clear(struct tree_key *key)
{
    for (size_t i = 0; i < key->key_count; i++)
        tree_free(key->keys[i]);
    for (size_t i = 0; i < key->value_count; i++)
        free_value(&key->values[i]);
    key->key_count = key->value_count = 0;
    if (!key->image)
        free(key->lazy);
    key->lazy = NULL;
}

void tree_free(struct tree_key *key)
{
    if (!key)
        return;
    tree_clear(key);
    if (key->key_capacity)
        free(key->keys);
    if (key->value_capacity)
        free(key->values);
    if (key->image)
        return;
    free(key->name);
    free(key);
}

void tree_freep(struct tree_key **key)
{
    tree_free(*key);
}

const char *path_part(const char **cursor, size_t *count)
{
    const char *start = *cursor;
    if (!*start)
        return NULL;
    *count = strcspn(start, "\\");
    *cursor = start + *count + (start[*count] == '\\');
    return start;
}

/* Returns the child's position; if there is no such child, the position at which to insert it. */
static size_t child_place(const struct tree_key *key, const char *name, size_t count,
                          bool *ret_found)
{
    size_t low = 0, high = key->key_count;
    *ret_found = false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *other = key->keys[middle]->name;
        int order = text_compare_fold_n(other, strlen(other), name, count);
        if (order == 0) {
            *ret_found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct tree_key *tree_child(const struct tree_key *key, const char *name, size_t count)
{
    bool found;
    size_t place = child_place(key, name, count, &found);
    return found ? key->keys[place] : NULL;
}

struct tree_key *tree_find(const struct tree_key *root, const char *path)
{
    const struct tree_key *key = root;
    const char *part;
    size_t count;
    while (key && (part = path_part(&path, &count)))
        key = tree_child(key, part, count);
    return (struct tree_key *)key;
}

/* Makes space for one more element of `size` bytes. An array that is part of an index (capacity 0)
 * is copied. False: no memory. */
static bool grow(void *array_pointer, size_t count, size_t *capacity, size_t size)
{
    void **array = array_pointer;
    if (count < *capacity)
        return true;
    size_t more = count ? count * 2 : 4;
    void *bigger = realloc(*capacity ? *array : NULL, more * size);
    if (!bigger)
        return false;
    if (!*capacity && count)
        memcpy(bigger, *array, count * size);
    *array = bigger;
    *capacity = more;
    return true;
}

static struct tree_key *make_child(struct tree_key *key, const char *name, size_t count)
{
    bool found;
    size_t place = child_place(key, name, count, &found);
    if (found)
        return key->keys[place];
    if (!grow(&key->keys, key->key_count, &key->key_capacity, sizeof *key->keys))
        return NULL;
    struct tree_key *child = calloc(1, sizeof *child);
    if (!child || !(child->name = strndup(name, count))) {
        free(child);
        return NULL;
    }
    memmove(key->keys + place + 1, key->keys + place, (key->key_count - place) * sizeof *key->keys);
    key->keys[place] = child;
    key->key_count++;
    child->parent = key;
    return child;
}

struct tree_key *tree_make(struct tree_key *root, const char *path, bool alive)
{
    struct tree_key *key = root;
    const char *part;
    size_t count;
    while (key && (part = path_part(&path, &count))) {
        key = make_child(key, part, count);
        if (key && alive)
            key->alive = true;
    }
    return key;
}

static struct tree_value *find_value(const struct tree_key *key, const char *name)
{
    for (size_t i = 0; i < key->value_count; i++)
        if (text_equal_fold(key->values[i].name, name))
            return &key->values[i];
    return NULL;
}

struct tree_value *tree_value(const struct tree_key *key, const char *name)
{
    return tree_fill(key) ? find_value(key, name) : NULL;
}

/* Returns a value that may be changed: a value whose name and data are parts of an index gets a
 * copy of the name, and no data. */
static struct tree_value *own_value(struct tree_value *value)
{
    char *name = value->image ? strdup(value->name) : value->name;
    if (!name)
        return NULL;
    if (value->image)
        *value = (struct tree_value){.name = name};
    return value;
}

static struct tree_value *make_value(struct tree_key *key, const char *name)
{
    struct tree_value *value = find_value(key, name);
    if (value)
        return own_value(value);
    if (!grow(&key->values, key->value_count, &key->value_capacity, sizeof *key->values))
        return NULL;
    value = &key->values[key->value_count];
    *value = (struct tree_value){.name = strdup(name)};
    if (!value->name)
        return NULL;
    key->value_count++;
    return value;
}

bool tree_put(struct tree_key *key, const char *name, uint32_t type, const void *data, size_t size)
{
    void *copy = malloc(size ? size : 1);
    struct tree_value *value = copy ? make_value(key, name) : NULL;
    if (!value) {
        free(copy);
        return false;
    }
    if (size)
        memcpy(copy, data, size);
    free(value->data);
    value->data = copy;
    value->size = size;
    value->type = type;
    value->gone = false;
    return true;
}

bool tree_set(struct tree_key *key, const char *name, uint32_t type, const void *data, size_t size)
{
    return tree_fill(key) && tree_put(key, name, type, data, size);
}

bool tree_put_gone(struct tree_key *key, const char *name)
{
    struct tree_value *value = make_value(key, name);
    if (!value)
        return false;
    free(value->data);
    value->data = NULL;
    value->size = 0;
    value->gone = true;
    return true;
}

bool tree_write_tombstone(struct tree_key *key, const char *name)
{
    return tree_fill(key) && tree_put_gone(key, name);
}

void tree_drop_value(struct tree_key *key, const char *name)
{
    struct tree_value *value = tree_value(key, name);
    if (!value)
        return;
    free_value(value);
    size_t following = key->value_count - (size_t)(value - key->values) - 1;
    memmove(value, value + 1, following * sizeof *value);
    key->value_count--;
}

bool tree_write_key_tombstone(struct tree_key *root, const char *path)
{
    struct tree_key *key = tree_make(root, path, false);
    if (!key)
        return false;
    tree_clear(key);
    key->alive = false;
    key->cleared = true;
    return true;
}

/* Merges the file's values of one key. The values stay lazy while no other file has values for the
 * key. False: no memory. */
static bool merge_values(struct tree_key *merged, const struct tree_key *file)
{
    if (tree_is_lazy(file) && !tree_is_lazy(merged) && !merged->value_count)
        return (merged->lazy = lazy_copy(file->lazy)) != NULL;
    if (!tree_fill(file) || (file->value_count && !tree_fill(merged)))
        return false;
    for (size_t i = 0; i < file->value_count; i++) {
        const struct tree_value *value = &file->values[i];
        if (value->gone)
            tree_drop_value(merged, value->name);
        else if (!tree_set(merged, value->name, value->type, value->data, value->size))
            return false;
    }
    return true;
}

static void remove_child(struct tree_key *parent, const char *name)
{
    bool found;
    size_t place = child_place(parent, name, strlen(name), &found);
    if (!found)
        return;
    tree_free(parent->keys[place]);
    parent->key_count--;
    memmove(parent->keys + place, parent->keys + place + 1,
            (parent->key_count - place) * sizeof *parent->keys);
}

/* Returns the key into which `child` is to be merged. NULL: no memory (*ret_failed), or `merged`
 * does not have the key and the file has only deletions below it, which must not create keys. */
static struct tree_key *merge_step(struct tree_key *merged, const struct tree_key *child,
                                   bool *ret_failed)
{
    if (child->cleared)
        remove_child(merged, child->name);
    if (!child->alive)
        return tree_child(merged, child->name, strlen(child->name));
    struct tree_key *target = make_child(merged, child->name, strlen(child->name));
    *ret_failed = !target;
    return target;
}

bool tree_merge(struct tree_key *merged, const struct tree_key *file, int64_t time)
{
    if (file->alive) {
        merged->alive = true;
        if (time > merged->last_write)
            merged->last_write = time;
    }
    if (!merge_values(merged, file))
        return false;
    for (size_t i = 0; i < file->key_count; i++) {
        bool failed = false;
        struct tree_key *target = merge_step(merged, file->keys[i], &failed);
        if (failed || (target && !tree_merge(target, file->keys[i], time)))
            return false;
    }
    return true;
}

/* ---- paths ---- */

/* Paths of keys: joining, the rules for names, and the aliases that Windows has for some keys. */

const char *path_users_own(void)
{
    static __thread char path[64];
    snprintf(path, sizeof path, "HKEY_USERS\\S-1-22-1-%lu", (unsigned long)geteuid());
    return path;
}

static bool replace_prefix(struct buffer *path, const char *alias, const char *target)
{
    size_t count = strlen(alias);
    if (path->len < count || text_compare_fold_n(path->data, count, alias, count) ||
        (path->data[count] && path->data[count] != '\\'))
        return true;
    BUFFER_AUTO tail = {0};
    buffer_add_text(&tail, target);
    buffer_add_text(&tail, path->data + count);
    buffer_clear(path);
    return buffer_add(path, tail.data, tail.len) && !tail.failed;
}

bool path_canonical(struct buffer *path)
{
    return replace_prefix(path, path_users_own(), "HKEY_CURRENT_USER") &&
           replace_prefix(path, "HKEY_CLASSES_ROOT", "HKEY_LOCAL_MACHINE\\SOFTWARE\\Classes") &&
           replace_prefix(
               path, "HKEY_CURRENT_CONFIG",
               "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Hardware Profiles\\Current");
}

/* False for names with control characters too, because a file of lines cannot store them. */
bool path_name_valid(const char *name, size_t limit)
{
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ')
            return false;
    return utf8_to_16(name, strlen(name), NULL, 0) <= limit;
}

static LSTATUS add_part(struct buffer *ret, const char *part, size_t count)
{
    if (!count)
        return ERROR_BAD_PATHNAME;
    if (utf8_to_16(part, count, NULL, 0) > LIMIT_KEY_NAME)
        return ERROR_INVALID_PARAMETER;
    buffer_add_byte(ret, '\\');
    buffer_add(ret, part, count);
    return ERROR_SUCCESS;
}

LSTATUS path_join(const char *path, const char *sub, struct buffer *ret)
{
    size_t count, depth = 0;
    buffer_clear(ret);
    buffer_add_text(ret, path);
    for (const char *part; sub && (part = path_part(&sub, &count));) {
        LSTATUS status = add_part(ret, part, count);
        if (status)
            return status;
    }
    for (const char *at = ret->data; at && *at; at++)
        depth += *at == '\\';
    if (depth > LIMIT_KEY_DEPTH || (ret->data && !path_name_valid(ret->data, ret->len)))
        return ERROR_INVALID_PARAMETER;
    return path_canonical(ret) ? buffer_status(ret) : ERROR_NOT_ENOUGH_MEMORY;
}
