/* SPDX-License-Identifier: MIT */
/* Reads, writes and deletes values through a handle, by the rules of the Reg functions. */
#include "registry/key.h"

#include <stdlib.h>
#include <string.h>

/* ---- keys of other modules ---- */

/* The tables from win32/tables.c: which key, value or subkey belongs to another module. */

static const struct mount no_mounts[1];
static const struct registry_computed no_computed[1];
static const struct registry_virtual_keys no_keys[1];
static const struct registry_tables no_tables = {no_mounts, no_computed, no_keys, NULL};
const struct registry_tables *registry_tables = &no_tables;

void registry_init(const struct registry_tables *tables)
{
    registry_tables = tables;
}

/* True if `parent` is the path without its last part. */
static bool parent_is(const char *path, const char *parent)
{
    const char *last = strrchr(path, '\\');
    size_t count = last ? (size_t)(last - path) : 0;
    return last && !text_compare_fold_n(path, count, parent, strlen(parent));
}

struct mount_search {
    const char *name;
    bool found;
};

static bool is_wanted(void *self, const char *name)
{
    struct mount_search *search = self;
    search->found = text_equal_fold(search->name, name);
    return !search->found;
}

/* True if the path is another name of a key, which can be opened but is not listed. */
static bool is_alias(const char *path)
{
    const struct mount *mount = registry_tables->mounts;
    for (; mount->path; mount++)
        if (mount->alias && text_equal_fold(mount->path, path))
            return true;
    return false;
}

bool virtual_key(const char *path)
{
    const char *last = strrchr(path, '\\');
    struct mount_search search = {.name = last ? last + 1 : ""};
    const struct registry_virtual_keys *keys = registry_tables->virtual_keys;
    for (; last && keys->path; keys++)
        if (parent_is(path, keys->path) && !keys->each(is_wanted, &search) && search.found)
            return true;
    return is_alias(path);
}

const struct registry_virtual_keys *virtual_keys_of(const char *path)
{
    const struct registry_virtual_keys *keys = registry_tables->virtual_keys;
    for (; keys->path; keys++)
        if (text_equal_fold(keys->path, path))
            return keys;
    return NULL;
}

/* True if the mount is for this path. A mount "A\*" is for every virtual subkey of A. */
static bool mount_matches(const struct mount *mount, const char *path)
{
    size_t count = strlen(mount->path);
    if (count < 2 || strcmp(mount->path + count - 2, "\\*"))
        return text_equal_fold(mount->path, path);
    const char *last = strrchr(path, '\\');
    return last && (size_t)(last - path) == count - 2 &&
           !text_compare_fold_n(path, count - 2, mount->path, count - 2) && virtual_key(path);
}

const struct mount *mount_of_path(const char *path)
{
    const struct mount *mount = registry_tables->mounts;
    for (; mount->path; mount++)
        if (!mount->predefined && mount_matches(mount, path))
            return mount;
    return NULL;
}

bool mount_has_value(const struct mount *mount, const char *name)
{
    for (const char *const *at = mount ? mount->names : NULL; at && *at; at++)
        if (text_equal_fold(*at, name))
            return true;
    return false;
}

const struct registry_computed *computed_value(const char *path, const char *name)
{
    const struct registry_computed *computed = registry_tables->computed;
    for (; computed->path; computed++)
        if (text_equal_fold(computed->name, name) && text_equal_fold(computed->path, path))
            return computed;
    return NULL;
}

bool path_fixed(const char *path)
{
    if (!strchr(path, '\\') || virtual_keys_of(path) || virtual_key(path) || mount_of_path(path))
        return true;
    const struct registry_computed *computed = registry_tables->computed;
    for (; computed->path; computed++)
        if (text_equal_fold(computed->path, path))
            return true;
    return false;
}

/* ---- values ---- */

static bool is_text(uint32_t type)
{
    return type == REG_SZ || type == REG_EXPAND_SZ || type == REG_MULTI_SZ;
}

/* Copies a value to the caller by the rules of RegQueryValueEx; `wide`: text becomes UTF-16. */
static LSTATUS copy_data(uint32_t given_type, const void *given, size_t given_size, bool wide,
                         DWORD *type, void *data, DWORD *size)
{
    BUFFER_AUTO text = {0};
    if (wide && is_text(given_type)) {
        if (!utf8_add_as_16(&text, given, given_size))
            return ERROR_NOT_ENOUGH_MEMORY;
        given = text.data;
        given_size = text.len;
    }
    if (type)
        *type = given_type;
    if (!size)
        return ERROR_SUCCESS;
    DWORD capacity = *size;
    *size = (DWORD)given_size;
    if (!data)
        return ERROR_SUCCESS;
    if (capacity < given_size)
        return ERROR_MORE_DATA;
    if (given_size)
        memcpy(data, given, given_size);
    return ERROR_SUCCESS;
}

/* ---- search ---- */

bool found_by_name(const struct held *held, const struct tree_key *key, const char *name,
                   struct found *ret)
{
    *ret = (struct found){.name = name, .mounted = mount_has_value(held->mount, name)};
    ret->stored = key ? tree_value(key, name) : NULL;
    ret->computed = computed_value(held->path, name);
    if (ret->computed && ret->computed->under_files && ret->stored)
        ret->computed = NULL;
    if (ret->stored)
        ret->name = ret->stored->name;
    return ret->mounted || ret->computed || ret->stored;
}

static LSTATUS compute(const struct registry_computed *computed, struct buffer *ret)
{
    uint32_t number = 0;
    LSTATUS status = computed->get(&number, ret);
    if (status)
        return status;
    if (computed->type == REG_DWORD) {
        buffer_clear(ret);
        buffer_add(ret, &number, sizeof number);
    } else {
        buffer_add_byte(ret, 0);
    }
    return buffer_status(ret);
}

LSTATUS found_copy(const struct found *found, const struct held *held, bool wide, DWORD *type,
                   void *data, DWORD *size)
{
    BUFFER_AUTO computed = {0};
    if (found->mounted)
        return held->mount->query(held->path, found->name, wide, type, data, size);
    if (!found->computed)
        return copy_data(found->stored->type, found->stored->data, found->stored->size, wide, type,
                         data, size);
    LSTATUS status = compute(found->computed, &computed);
    if (status)
        return status;
    return copy_data(found->computed->type, computed.data, computed.len, wide, type, data, size);
}

/* ---- reading ---- */

LSTATUS value_query(const struct held *held, const char *name, bool wide, DWORD *type, void *data,
                    DWORD *size)
{
    VIEW_AUTO *view = NULL;
    struct found found;
    LSTATUS status = store_hold(&view);
    if (status)
        return status;
    const struct tree_key *key = tree_find(view->root, held->path);
    if (!key && !virtual_key(held->path))
        return ERROR_KEY_DELETED;
    return found_by_name(held, key, name, &found) ? found_copy(&found, held, wide, type, data, size)
                                                  : ERROR_FILE_NOT_FOUND;
}

/* Reads the value as it is stored, with texts in UTF-8. */
static LSTATUS fetch(HKEY key, const char *name, DWORD *ret_type, struct buffer *ret)
{
    DWORD size = 0;
    LSTATUS status = key_query(key, name, false, ret_type, NULL, &size);
    while (!status) {
        buffer_clear(ret);
        if (!buffer_reserve(ret, size))
            return ERROR_NOT_ENOUGH_MEMORY;
        status = key_query(key, name, false, ret_type, ret->data, &size);
        if (!status)
            ret->len = size;
        if (status != ERROR_MORE_DATA)
            break;
        status = ERROR_SUCCESS; /* another process wrote a longer value between the two calls: try
                                 * again */
    }
    return status;
}

static bool type_allowed(DWORD type, DWORD flags)
{
    static const struct {
        DWORD type, flag;
    } rows[] = {
        {REG_NONE,      RRF_RT_REG_NONE     },
        {REG_SZ,        RRF_RT_REG_SZ       },
        {REG_EXPAND_SZ, RRF_RT_REG_EXPAND_SZ},
        {REG_BINARY,    RRF_RT_REG_BINARY   },
        {REG_DWORD,     RRF_RT_REG_DWORD    },
        {REG_MULTI_SZ,  RRF_RT_REG_MULTI_SZ },
        {REG_QWORD,     RRF_RT_REG_QWORD    }
    };
    if ((flags & RRF_RT_ANY) == RRF_RT_ANY)
        return true;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].type == type)
            return flags & rows[i].flag;
    return false;
}

/* False if only numbers are wanted, and REG_BINARY of this size is none. */
static bool size_allowed(size_t size, DWORD flags)
{
    DWORD types = flags & RRF_RT_ANY;
    return types == RRF_RT_DWORD ? size == 4 : types != RRF_RT_QWORD || size == 8;
}

/* Applies the rules of RegGetValue: expands REG_EXPAND_SZ, checks the type against `flags`, and
 * adds missing terminators. */
static LSTATUS refine(DWORD flags, DWORD *type, struct buffer *data)
{
    if (*type == REG_EXPAND_SZ && !(flags & RRF_NOEXPAND)) {
        BUFFER_AUTO plain = *data;
        *data = (struct buffer){0};
        *type = REG_SZ;
        registry_expand(plain.data ? plain.data : "", data);
    }
    if (!type_allowed(*type, flags))
        return ERROR_UNSUPPORTED_TYPE;
    if (*type == REG_BINARY && !size_allowed(data->len, flags))
        return ERROR_DATATYPE_MISMATCH;
    size_t wanted = *type == REG_MULTI_SZ ? 2 : is_text(*type);
    size_t zeros = 0;
    while (zeros < wanted && zeros < data->len && !data->data[data->len - 1 - zeros])
        zeros++;
    for (; zeros < wanted; zeros++)
        buffer_add_byte(data, 0);
    return buffer_status(data);
}

static LSTATUS get_value(HKEY key, const char *name, bool wide, DWORD flags, DWORD *type,
                         void *data, DWORD *size)
{
    BUFFER_AUTO value = {0};
    DWORD kind = REG_NONE;
    LSTATUS status = ERROR_SUCCESS;
    /* a performance query must not be repeated, so the query gets the caller's buffer at once */
    if (key_is_performance(key)) {
        status = key_query(key, name, wide, &kind, data, size);
        if (type)
            *type = kind;
        return status ? status : type_allowed(kind, flags) ? ERROR_SUCCESS : ERROR_UNSUPPORTED_TYPE;
    }
    status = fetch(key, name, &kind, &value);
    status = status ? status : refine(flags, &kind, &value);
    if (status)
        return status;
    return copy_data(kind, value.data, value.len, wide, type, data, size);
}

/* False: `flags` allow expanded text (RRF_RT_REG_EXPAND_SZ without RRF_NOEXPAND) but not all types
 * (RRF_RT_ANY). */
static bool flags_are_valid(DWORD flags)
{
    bool expands = (flags & RRF_RT_REG_EXPAND_SZ) && !(flags & RRF_NOEXPAND);
    return !expands || (flags & RRF_RT_ANY) == RRF_RT_ANY;
}

LSTATUS key_get_value(HKEY key, const char *sub, const char *name, bool wide, DWORD flags,
                      DWORD *type, void *data, DWORD *size)
{
    DWORD capacity = size ? *size : 0;
    HKEY opened = NULL;
    if ((data && !size) || !flags_are_valid(flags))
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = ERROR_SUCCESS;
    if (sub && *sub)
        status = key_open(key, sub, KEY_QUERY_VALUE, &opened);
    if (!status)
        status = get_value(opened ? opened : key, name, wide, flags, type, data, size);
    if (opened && !mount_of_handle(opened))
        key_close(opened);
    if (status && data && (flags & RRF_ZEROONFAILURE))
        memset(data, 0, capacity);
    return status;
}

/* ---- writing ---- */

/* Converts texts to UTF-8 for storage; invalid bytes become U+FFFD. */
static bool narrow_data(DWORD type, bool wide, const void *data, size_t size, struct buffer *ret)
{
    if (!is_text(type) || (!wide && utf8_valid(data, size)))
        return buffer_add(ret, data, size);
    BUFFER_AUTO units = {0};
    if (!wide && !utf8_add_as_16(&units, data, size))
        return false;
    const void *from = wide ? data : units.data;
    size_t count = (wide ? size : units.len) / 2;
    size_t need = utf16_to_8(from, count, NULL, 0);
    if (!buffer_reserve(ret, need))
        return false;
    ret->len = utf16_to_8(from, count, ret->data, need);
    ret->data[ret->len] = 0;
    return true;
}

static LSTATUS set_held(const struct held *held, const char *name, DWORD type,
                        const struct buffer *data)
{
    const struct mount *mount = held->mount;
    if (held->performance || mount_has_value(mount, name))
        return mount->set ? mount->set(held->path, name, type, data->data, data->len)
                          : mount->set_status;
    struct change change = {.kind = CHANGE_SET,
                            .path = held->path,
                            .value = name,
                            .type = type,
                            .data = data->data,
                            .size = data->len,
                            .must_exist = !virtual_key(held->path)};
    return store_write(layer_of_path(held->path), &change);
}

LSTATUS key_set(HKEY key, const char *name, bool wide, DWORD type, const void *data, DWORD size)
{
    HELD_AUTO held;
    BUFFER_AUTO bytes = {0};
    name = name ? name : "";
    LSTATUS status = held_open(key, KEY_SET_VALUE, &held);
    if (!status && held.performance && !held.mount->set)
        status = held.mount->set_status;
    if (status)
        return status;
    if ((!data && size) || !path_name_valid(name, LIMIT_VALUE_NAME))
        return ERROR_INVALID_PARAMETER;
    if (size > LIMIT_VALUE_BYTES)
        return ERROR_NO_SYSTEM_RESOURCES;
    if (size && !narrow_data(type, wide, data, size, &bytes))
        return ERROR_NOT_ENOUGH_MEMORY;
    return set_held(&held, name, type, &bytes);
}

LSTATUS key_delete_value(HKEY key, const char *name)
{
    HELD_AUTO held;
    name = name ? name : "";
    LSTATUS status = held_open(key, KEY_SET_VALUE, &held);
    if (!status && held.performance)
        status = held.mount->set_status;
    if (!status && mount_has_value(held.mount, name))
        status = ERROR_ACCESS_DENIED;
    if (status)
        return status;
    struct change change = {.kind = CHANGE_DELETE_VALUE,
                            .path = held.path,
                            .value = name,
                            .must_exist = !virtual_key(held.path)};
    return store_write(layer_of_path(held.path), &change);
}
