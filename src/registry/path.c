/* SPDX-License-Identifier: MIT */
/* Paths of keys: joining, the rules for names, and the aliases that Windows has for some keys. */
#include "registry/store.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
