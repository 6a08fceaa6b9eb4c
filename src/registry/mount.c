/* SPDX-License-Identifier: MIT */
/* The tables from win32/tables.c: which key, value or subkey belongs to another module. */
#include "registry/key.h"

#include <string.h>

static const struct registry_tables no_tables;
const struct registry_tables *registry_tables = &no_tables;

void registry_init(const struct registry_tables *tables)
{
    registry_tables = tables;
}

/* Returns the number of a predefined key, sign- or zero-extended in `key`; 0: it is an ordinary
 * handle. */
static uint32_t predefined_number(HKEY key)
{
    uintptr_t value = (uintptr_t)key;
    uint32_t low = (uint32_t)value;
    bool extended = value == low || value == (uintptr_t)(intptr_t)(int32_t)low;
    return extended && low >> 31 ? low : 0;
}

const struct mount *mount_of_handle(HKEY key)
{
    uint32_t number = predefined_number(key);
    const struct mount *mount = registry_tables->mounts;
    for (; number && mount && mount->path; mount++)
        if (mount->predefined && predefined_number(mount->predefined) == number)
            return mount;
    return NULL;
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

/* True for another name of a key, which can be opened but is not listed. */
static bool is_alias(const char *path)
{
    const struct mount *mount = registry_tables->mounts;
    for (; mount && mount->path; mount++)
        if (mount->alias && text_equal_fold(mount->path, path))
            return true;
    return false;
}

bool virtual_key(const char *path)
{
    const char *last = strrchr(path, '\\');
    struct mount_search search = {.name = last ? last + 1 : ""};
    const struct registry_virtual_keys *keys = registry_tables->virtual_keys;
    for (; last && keys && keys->path; keys++)
        if (parent_is(path, keys->path) && !keys->each(is_wanted, &search) && search.found)
            return true;
    return is_alias(path);
}

const struct registry_virtual_keys *virtual_keys_of(const char *path)
{
    const struct registry_virtual_keys *keys = registry_tables->virtual_keys;
    for (; keys && keys->path; keys++)
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
    for (; mount && mount->path; mount++)
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
    for (; computed && computed->path; computed++)
        if (text_equal_fold(computed->name, name) && text_equal_fold(computed->path, path))
            return computed;
    return NULL;
}

bool path_fixed(const char *path)
{
    if (!strchr(path, '\\') || virtual_keys_of(path) || virtual_key(path) || mount_of_path(path))
        return true;
    const struct registry_computed *computed = registry_tables->computed;
    for (; computed && computed->path; computed++)
        if (text_equal_fold(computed->path, path))
            return true;
    return false;
}
