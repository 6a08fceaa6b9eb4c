/* SPDX-License-Identifier: MIT */
/*
 * Imports a file in one step: its entries become lists of changes, one for each layer, which are
 * applied under one lock. Values that belong to another module's mount are passed to it afterwards.
 */
#include "registry/hive.h"
#include "registry/key.h"

#include <stdlib.h>
#include <string.h>

/* One entry, with copies of its strings, until it is written. */
struct item {
    opl_reg_entry entry; /* for `report` */
    struct change change;
    const struct mount *mount; /* the mount that the value belongs to, or NULL */
    char *memory;
};
struct items {
    struct item *items;
    size_t count, capacity;
};
struct import {
    struct items layers[STORE_LAYERS];
    struct items mounted;
    void (*report)(void *self, const opl_reg_entry *entry, LSTATUS status);
    void *self;
    LSTATUS status;
};

static void items_done(struct items *items)
{
    for (size_t i = 0; i < items->count; i++)
        free(items->items[i].memory);
    free(items->items);
}

/* path, the key as in the file, the value's name, its data: in one block. */
static bool keep_strings(struct item *item, const char *path, const opl_reg_entry *entry)
{
    const char *name = entry->name ? entry->name : "";
    size_t sizes[] = {strlen(path) + 1, strlen(entry->key) + 1, strlen(name) + 1, entry->size};
    char *at = item->memory = malloc(sizes[0] + sizes[1] + sizes[2] + sizes[3]);
    if (!at)
        return false;
    item->change.path = memcpy(at, path, sizes[0]);
    item->entry.key = memcpy(at += sizes[0], entry->key, sizes[1]);
    item->entry.name = memcpy(at += sizes[1], name, sizes[2]);
    if (entry->size)
        memcpy(at += sizes[2], entry->data, entry->size);
    item->change.data = item->entry.data = at;
    return true;
}

static LSTATUS keep(struct items *items, const struct item *like, const char *path)
{
    if (items->count == items->capacity) {
        size_t capacity = items->capacity ? items->capacity * 2 : 64;
        struct item *grown = realloc(items->items, capacity * sizeof *grown);
        if (!grown)
            return ERROR_NOT_ENOUGH_MEMORY;
        items->items = grown;
        items->capacity = capacity;
    }
    struct item *item = &items->items[items->count];
    *item = *like;
    if (!keep_strings(item, path, &like->entry))
        return ERROR_NOT_ENOUGH_MEMORY;
    if (item->change.value)
        item->change.value = item->entry.name;
    items->count++;
    return ERROR_SUCCESS;
}

/* The entry's change to the key; ERROR_SUCCESS without a path: none. */
static LSTATUS judge_key(struct change *change, const char *path, enum opl_reg_kind kind)
{
    bool root = !strchr(path, '\\');
    if (kind == OPL_REG_KEY && path_fixed(path))
        change->kind = CHANGE_SET; /* the key exists: nothing to create */
    else if (kind == OPL_REG_KEY)
        change->kind = CHANGE_MAKE;
    else if (root)
        change->kind = CHANGE_EMPTY;
    else if (path_fixed(path))
        return ERROR_ACCESS_DENIED;
    else
        change->kind = CHANGE_DELETE_KEY;
    return ERROR_SUCCESS;
}

static LSTATUS judge_value(struct item *item, const char *path)
{
    const opl_reg_entry *entry = &item->entry;
    const struct mount *mount = mount_of_path(path);
    bool deletes = entry->kind == OPL_REG_DELETE_VALUE;
    if (mount_has_value(mount, entry->name)) {
        item->mount = mount;
        if (deletes || !mount->set)
            return deletes ? ERROR_ACCESS_DENIED : mount->set_status;
    }
    item->change = (struct change){.kind = deletes ? CHANGE_DELETE_VALUE : CHANGE_SET,
                                   .value = entry->name,
                                   .type = entry->type,
                                   .size = entry->size};
    if (!path_name_valid(entry->name, LIMIT_VALUE_NAME))
        return ERROR_INVALID_PARAMETER;
    return entry->size > LIMIT_VALUE_BYTES ? ERROR_NO_SYSTEM_RESOURCES : ERROR_SUCCESS;
}

static LSTATUS take(struct import *import, const opl_reg_entry *entry)
{
    BUFFER_AUTO path = {0};
    struct item item = {.entry = *entry};
    const char *rest = strchr(entry->key, '\\');
    FREE_AUTO char *root = rest ? strndup(entry->key, (size_t)(rest - entry->key)) : NULL;
    if (rest && !root)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = path_join(root ? root : entry->key, rest ? rest + 1 : NULL, &path);
    if (status)
        return status;
    bool is_key = entry->kind == OPL_REG_KEY || entry->kind == OPL_REG_DELETE_KEY;
    status =
        is_key ? judge_key(&item.change, path.data, entry->kind) : judge_value(&item, path.data);
    if (status || (is_key && item.change.kind == CHANGE_SET))
        return status;
    struct items *items = item.mount ? &import->mounted : &import->layers[layer_of_path(path.data)];
    return keep(items, &item, path.data);
}

static bool take_entry(void *self, const opl_reg_entry *entry)
{
    struct import *import = self;
    if (entry->kind == OPL_REG_DAMAGED && import->report)
        import->report(import->self, entry, ERROR_INVALID_DATA);
    if (entry->kind == OPL_REG_DAMAGED || entry->kind == OPL_REG_COMMENT)
        return true;
    import->status = take(import, entry);
    if (import->status && import->report)
        import->report(import->self, entry, import->status);
    return !import->status;
}

static LSTATUS write_layer(struct import *import, enum registry_layer layer)
{
    const struct items *items = &import->layers[layer];
    struct change *changes = items->count ? calloc(items->count, sizeof *changes) : NULL;
    size_t failed = 0;
    if (!items->count)
        return ERROR_SUCCESS;
    for (size_t i = 0; changes && i < items->count; i++)
        changes[i] = items->items[i].change;
    LSTATUS status =
        changes ? store_write_all(layer, changes, items->count, &failed) : ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; !status && i < items->count; i++)
        if (changes[i].kind == CHANGE_DELETE_KEY || changes[i].kind == CHANGE_EMPTY)
            key_mark_deleted(changes[i].path, changes[i].kind == CHANGE_EMPTY);
    free(changes);
    if (status && import->report)
        import->report(import->self, &items->items[failed].entry, status);
    return status;
}

static LSTATUS write_mounted(struct import *import)
{
    LSTATUS status = ERROR_SUCCESS;
    for (size_t i = 0; !status && i < import->mounted.count; i++) {
        const struct item *item = &import->mounted.items[i];
        const struct change *change = &item->change;
        status =
            item->mount->set(change->path, change->value, change->type, change->data, change->size);
        if (status && import->report)
            import->report(import->self, &item->entry, status);
    }
    return status;
}

LSTATUS opl_reg_import(const void *bytes, size_t size, unsigned flags,
                       void (*report)(void *self, const opl_reg_entry *entry, LSTATUS status),
                       void *self)
{
    struct import import = {.report = report, .self = self};
    LSTATUS status = opl_reg_read(bytes, size, flags, take_entry, &import);
    status = status ? status : import.status;
    for (int layer = LAYER_MACHINE; !status && layer < STORE_LAYERS; layer++)
        status = write_layer(&import, layer);
    status = status ? status : write_mounted(&import);
    for (int layer = 0; layer < STORE_LAYERS; layer++)
        items_done(&import.layers[layer]);
    items_done(&import.mounted);
    return status;
}
