/* SPDX-License-Identifier: MIT */
/* The API for other modules: values by path, with the content of the files only. */
#include "registry/store/hive.h"
#include "registry/registry.h"
#include "registry/store/store.h"

#include <stdlib.h>
#include <string.h>

LSTATUS registry_get(const char *path, const char *value, uint32_t *ret_type, struct buffer *ret)
{
    VIEW_AUTO *view = NULL;
    LSTATUS status = store_hold(&view);
    buffer_clear(ret);
    if (status)
        return status;
    const struct tree_key *key = tree_find(view->root, path);
    const struct tree_value *found = key ? tree_value(key, value ? value : "") : NULL;
    if (!found)
        return ERROR_FILE_NOT_FOUND;
    if (ret_type)
        *ret_type = found->type;
    buffer_add(ret, found->data, found->size);
    return buffer_status(ret);
}

bool registry_expand(const char *text, struct buffer *ret)
{
    while (*text) {
        const char *end = *text == '%' ? strchr(text + 1, '%') : NULL;
        char *name = end ? strndup(text + 1, (size_t)(end - text - 1)) : NULL;
        const char *value = name && *name ? environment_get(name) : NULL;
        if (value)
            buffer_add_text(ret, value);
        else
            buffer_add_byte(ret, *text);
        text = value ? end + 1 : text + 1;
        free(name);
    }
    return !ret->failed;
}

LSTATUS registry_get_text(const char *path, const char *value, struct buffer *ret)
{
    uint32_t type;
    LSTATUS status = registry_get(path, value, &type, ret);
    if (status)
        return status;
    if (type != REG_SZ && type != REG_EXPAND_SZ)
        return ERROR_INVALID_DATA;
    ret->len = ret->data ? strlen(ret->data) : 0;
    if (type == REG_EXPAND_SZ && ret->len) {
        struct buffer plain = *ret;
        *ret = (struct buffer){0};
        registry_expand(plain.data, ret);
        buffer_done(&plain);
    }
    buffer_reserve(ret, 1); /* an empty text has data "", not NULL */
    return buffer_status(ret);
}

LSTATUS registry_get_dword(const char *path, const char *value, uint32_t *ret)
{
    BUFFER_AUTO data = {0};
    uint32_t type;
    LSTATUS status = registry_get(path, value, &type, &data);
    if (status)
        return status;
    if (type != REG_DWORD || data.len != sizeof *ret)
        return ERROR_INVALID_DATA;
    memcpy(ret, data.data, sizeof *ret);
    return ERROR_SUCCESS;
}

LSTATUS registry_each_subkey(const char *path,
                             bool (*each)(void *self, const char *name,
                                          const struct registry_subkey *subkey),
                             void *self)
{
    VIEW_AUTO *view = NULL;
    LSTATUS status = store_hold(&view);
    if (status)
        return status;
    const struct tree_key *key = tree_find(view->root, path);
    store_walk_begin();
    for (size_t i = 0; key && i < key->key_count; i++)
        if (!each(self, key->keys[i]->name, (const void *)key->keys[i]))
            break;
    store_walk_end();
    return key ? ERROR_SUCCESS : ERROR_FILE_NOT_FOUND;
}

struct each_name {
    bool (*each)(void *self, const char *name);
    void *self;
};

static bool call_with_name(void *self, const char *name, const struct registry_subkey *subkey)
{
    const struct each_name *call = self;
    return call->each(call->self, name);
}

LSTATUS registry_each_key(const char *path, bool (*each)(void *self, const char *name), void *self)
{
    return registry_each_subkey(path, call_with_name, &(struct each_name){each, self});
}

struct reporting {
    struct lazy *lazy;
    bool (*each)(void *self, const struct registry_value *value);
    void *self;
};

static bool report_entry(void *self, const opl_reg_entry *entry)
{
    struct reporting *reporting = self;
    struct registry_value value = {entry->name, entry->type, entry->data, entry->size};
    if (entry->kind == OPL_REG_DAMAGED)
        lazy_report_damaged(reporting->lazy, entry);
    return entry->kind != OPL_REG_VALUE || reporting->each(reporting->self, &value);
}

/* Reads lazy values directly from the file, because building a tree just to read each text once is
 * slower. A value that occurs twice in the file is reported twice. */
static LSTATUS report_lazy(const struct tree_key *key, struct reporting reporting)
{
    BUFFER_AUTO text = {0};
    LSTATUS status = lazy_text(key, &text, &reporting.lazy);
    status = status ? status : opl_reg_read(text.data, text.len, 0, report_entry, &reporting);
    free(reporting.lazy);
    return status;
}

LSTATUS registry_each_value_below(const struct registry_subkey *subkey, const char *below,
                                  bool (*each)(void *self, const struct registry_value *value),
                                  void *self)
{
    LSTATUS status;
    const struct tree_key *key = tree_find((const void *)subkey, below);
    if (key && tree_is_lazy(key) &&
        (status = report_lazy(key, (struct reporting){NULL, each, self})) != ERROR_NOT_FOUND)
        return status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : status;
    for (size_t i = 0; key && i < key->value_count; i++) {
        const struct tree_value *value = &key->values[i];
        if (!each(self,
                  &(struct registry_value){value->name, value->type, value->data, value->size}))
            break;
    }
    return key ? ERROR_SUCCESS : ERROR_FILE_NOT_FOUND;
}

LSTATUS registry_each_value(const char *path,
                            bool (*each)(void *self, const struct registry_value *value),
                            void *self)
{
    VIEW_AUTO *view = NULL;
    LSTATUS status = store_hold(&view);
    return status ? status : registry_each_value_below((const void *)view->root, path, each, self);
}

/* ---- writing ---- */

static LSTATUS write_at(enum registry_layer layer, const char *path, struct change change)
{
    BUFFER_AUTO full = {0};
    buffer_add_text(&full, path);
    if (full.failed || !path_canonical(&full))
        return ERROR_NOT_ENOUGH_MEMORY;
    change.path = full.data;
    return store_write(layer, &change);
}

LSTATUS registry_set(enum registry_layer layer, const char *path, const char *value, uint32_t type,
                     const void *data, size_t size)
{
    const char *name = value ? value : "";
    if (!path_name_valid(path, SIZE_MAX) || !path_name_valid(name, LIMIT_VALUE_NAME) ||
        size > LIMIT_VALUE_BYTES)
        return ERROR_INVALID_PARAMETER;
    return write_at(
        layer, path,
        (struct change){
            .kind = CHANGE_SET, .value = name, .type = type, .data = data, .size = size});
}

LSTATUS registry_delete_value(enum registry_layer layer, const char *path, const char *value)
{
    return registry_delete_last_value(layer, path, value, 0);
}

LSTATUS registry_delete_last_value(enum registry_layer layer, const char *path, const char *value,
                                   unsigned empty_keys)
{
    return write_at(layer, path,
                    (struct change){.kind = CHANGE_DELETE_VALUE,
                                    .value = value ? value : "",
                                    .empty_keys = empty_keys});
}

bool registry_is_users(const char *path, const char *value)
{
    BUFFER_AUTO full = {0};
    buffer_add_text(&full, path);
    return !full.failed && path_canonical(&full) &&
           store_above_hides(LAYER_MACHINE, full.data, value);
}

LSTATUS registry_delete_tree(enum registry_layer layer, const char *path)
{
    return write_at(layer, path, (struct change){.kind = CHANGE_DELETE_KEY});
}
