/* SPDX-License-Identifier: MIT */
/* Lists the content of a key: its subkeys and values one by one, their numbers and maximum
 * lengths. */
#include "registry/key.h"

#include <stdlib.h>
#include <string.h>

/* ---- copying a name, by the rules of RegEnumKeyEx and RegEnumValue ---- */

static size_t length_in_encoding(const char *name, bool wide)
{
    return wide ? utf8_to_16(name, strlen(name), NULL, 0) : strlen(name);
}

static LSTATUS copy_name(const char *name, bool wide, void *out, DWORD *size)
{
    BUFFER_AUTO text = {0};
    size_t length = length_in_encoding(name, wide);
    if (*size <= length)
        return ERROR_MORE_DATA; /* *size is not changed if it is too small */
    if (wide) {
        if (!utf8_add_as_16(&text, name, strlen(name) + 1))
            return ERROR_NOT_ENOUGH_MEMORY;
        memcpy(out, text.data, text.len);
    } else {
        memcpy(out, name, length + 1);
    }
    *size = (DWORD)length;
    return ERROR_SUCCESS;
}

static FILETIME filetime_of(int64_t time)
{
    return (FILETIME){(DWORD)time, (DWORD)((uint64_t)time >> 32)};
}

/* ---- subkeys: those of the files, merged with virtual ones ---- */

struct subkeys {
    /* the key's node; NULL: a virtual key, which has no node in the tree */
    const struct tree_key *key;
    char **names; /* strings that were allocated for virtual keys */
    size_t count, capacity;
    bool failed;
};

static bool add_subkey(void *self, const char *name)
{
    struct subkeys *list = self;
    char *copy = strdup(name);
    if (!copy || !list_grow(&list->names, list->count, &list->capacity, sizeof *list->names)) {
        free(copy);
        list->failed = true;
        return false;
    }
    list->names[list->count++] = copy;
    return true;
}

static int compare_names(const void *left, const void *right)
{
    return text_compare_fold(*(char *const *)left, *(char *const *)right);
}

static void subkeys_done(struct subkeys *list)
{
    for (size_t i = 0; list->names && i < list->count; i++)
        free(list->names[i]);
    free(list->names);
}

/* Removes repeated names; they are adjacent, because the list is sorted. */
static void drop_repeated(struct subkeys *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (kept && !compare_names(&list->names[kept - 1], &list->names[i]))
            free(list->names[i]);
        else
            list->names[kept++] = list->names[i];
    list->count = kept;
}

static LSTATUS subkeys_open(const struct tree_key *key, const char *path, struct subkeys *ret)
{
    const struct registry_virtual_keys *keys = virtual_keys_of(path);
    *ret = (struct subkeys){.key = key, .count = key && !keys ? key->key_count : 0};
    if (!keys)
        return ERROR_SUCCESS;
    for (size_t i = 0; key && i < key->key_count; i++)
        add_subkey(ret, key->keys[i]->name);
    /* a failure is ignored: the module's names are missing, all others are listed */
    keys->each(add_subkey, ret);
    if (ret->failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (ret->count)
        qsort(ret->names, ret->count, sizeof *ret->names, compare_names);
    drop_repeated(ret);
    return ERROR_SUCCESS;
}
#define SUBKEYS_AUTO __attribute__((cleanup(subkeys_done))) struct subkeys

static const char *subkey_name(const struct subkeys *list, size_t index)
{
    return list->names ? list->names[index] : list->key->keys[index]->name;
}

/* ---- an ordinary key through its handle ---- */

static LSTATUS look(const struct held *held, const struct store_view **view,
                    const struct tree_key **ret)
{
    LSTATUS status = store_hold(view);
    if (status)
        return status;
    *ret = tree_find((*view)->root, held->path);
    return *ret || virtual_key(held->path) ? ERROR_SUCCESS : ERROR_KEY_DELETED;
}

/* ---- a key of another machine ---- */

static LSTATUS enum_remote_key(const struct held *held, DWORD index, bool wide, void *name,
                               DWORD *name_size, FILETIME *ret_time)
{
    BUFFER_AUTO text = {0};
    FILETIME time = {0};
    LSTATUS status = registry_tables->remote->enum_key(held->remote, index, &text, &time);
    status = status ? status : copy_name(text.data, wide, name, name_size);
    if (!status && ret_time)
        *ret_time = time;
    return status;
}

static LSTATUS enum_remote_value(const struct held *held, DWORD index, bool wide, void *name,
                                 DWORD *name_size, DWORD *type, void *data, DWORD *size)
{
    BUFFER_AUTO text = {0};
    LSTATUS status =
        registry_tables->remote->enum_value(held->remote, index, wide, &text, type, data, size);
    return status ? status : copy_name(text.data, wide, name, name_size);
}

LSTATUS key_enum_key(HKEY key, DWORD index, bool wide, void *name, DWORD *name_size,
                     FILETIME *ret_time)
{
    HELD_AUTO held;
    VIEW_AUTO *view = NULL;
    SUBKEYS_AUTO list = {0};
    const struct tree_key *found;
    LSTATUS status = held_open(key, KEY_ENUMERATE_SUB_KEYS, &held);
    if (status || held.performance)
        return status ? status : held.mount->enum_key_status;
    if (!name || !name_size)
        return ERROR_INVALID_PARAMETER;
    if (held.remote)
        return enum_remote_key(&held, index, wide, name, name_size, ret_time);
    status = look(&held, &view, &found);
    status = status ? status : subkeys_open(found, held.path, &list);
    if (status || index >= list.count)
        return status ? status : ERROR_NO_MORE_ITEMS;
    const char *sub = subkey_name(&list, index);
    const struct tree_key *child = found ? tree_child(found, sub, strlen(sub)) : NULL;
    if (ret_time)
        *ret_time = filetime_of(child ? child->last_write : 0);
    return copy_name(sub, wide, name, name_size);
}

/* ---- values: of the files, then computed ones, then those of a mount ---- */

static bool already_listed(const struct held *held, const struct tree_key *key, const char *name,
                           bool by_mount)
{
    return (key && tree_value(key, name)) || (by_mount && computed_value(held->path, name));
}

static bool found_by_index(const struct held *held, const struct tree_key *key, size_t index,
                           struct found *ret)
{
    size_t stored = key && tree_fill(key) ? key->value_count : 0;
    if (index < stored)
        return found_by_name(held, key, key->values[index].name, ret);
    index -= stored;
    const struct registry_computed *computed = registry_tables->computed;
    for (; computed->path; computed++)
        if (text_equal_fold(computed->path, held->path) &&
            !already_listed(held, key, computed->name, false) && index-- == 0)
            return found_by_name(held, key, computed->name, ret);
    for (const char *const *at = held->mount ? held->mount->names : NULL; at && *at; at++)
        if (!already_listed(held, key, *at, true) && index-- == 0)
            return found_by_name(held, key, *at, ret);
    return false;
}

/* Copies a listed value. Without `size` the data of a mounted value is not queried, because a
 * caller that only wants the type must not cause a query of the whole machine. */
static LSTATUS copy_listed(const struct held *held, const struct found *found, bool wide,
                           DWORD *type, void *data, DWORD *size)
{
    DWORD none = 0;
    if (size || !found->mounted)
        return found_copy(found, held, wide, type, data, size);
    if (type)
        found_copy(found, held, wide, type, NULL, &none);
    return ERROR_SUCCESS;
}

LSTATUS key_enum_value(HKEY key, DWORD index, bool wide, void *name, DWORD *name_size, DWORD *type,
                       void *data, DWORD *size)
{
    HELD_AUTO held;
    VIEW_AUTO *view = NULL;
    const struct tree_key *node = NULL;
    struct found found;
    LSTATUS status = held_open(key, KEY_QUERY_VALUE, &held);
    if (status)
        return status;
    if (!name || !name_size || (data && !size))
        return ERROR_INVALID_PARAMETER;
    if (held.remote)
        return enum_remote_value(&held, index, wide, name, name_size, type, data, size);
    /* the names of a performance key's values have no greatest length, so no buffer is large enough
     * (docs/windows/queries.md#c4) */
    status = held.performance ? ERROR_MORE_DATA : look(&held, &view, &node);
    if (status)
        return status;
    if (!found_by_index(&held, node, index, &found))
        return ERROR_NO_MORE_ITEMS;
    DWORD name_capacity = *name_size;
    status = copy_name(found.name, wide, name, &name_capacity);
    if (status)
        return status;
    status = copy_listed(&held, &found, wide, type, data, size);
    if (!status)
        *name_size = name_capacity;
    return status;
}

/* ---- totals ---- */

static void count_value(const struct held *held, const struct found *found, bool wide,
                        struct key_info *info)
{
    DWORD length = (DWORD)length_in_encoding(found->name, wide), size = 0;
    info->values++;
    if (length > info->longest_name)
        info->longest_name = length;
    if (!held->performance && !found_copy(found, held, wide, NULL, NULL, &size) &&
        size > info->largest_data)
        info->largest_data = size;
}

LSTATUS key_info(HKEY key, bool wide, struct key_info *ret)
{
    HELD_AUTO held;
    VIEW_AUTO *view = NULL;
    SUBKEYS_AUTO list = {0};
    const struct tree_key *node = NULL;
    struct found found;
    *ret = (struct key_info){0};
    LSTATUS status = held_open(key, KEY_QUERY_VALUE, &held);
    if (!status && held.remote)
        return registry_tables->remote->info(held.remote, wide, ret);
    if (!status && !held.performance)
        status = look(&held, &view, &node);
    if (!status && !held.performance)
        status = subkeys_open(node, held.path, &list);
    if (status)
        return status;
    ret->keys = (DWORD)list.count;
    ret->last_write = filetime_of(held.mount && held.mount->last_write ? held.mount->last_write()
                                  : node                               ? node->last_write
                                                                       : 0);
    for (size_t i = 0; i < list.count; i++) {
        DWORD length = (DWORD)length_in_encoding(subkey_name(&list, i), wide);
        ret->longest_key = length > ret->longest_key ? length : ret->longest_key;
    }
    for (size_t i = 0; found_by_index(&held, node, i, &found); i++)
        count_value(&held, &found, wide, ret);
    return ERROR_SUCCESS;
}
