/* SPDX-License-Identifier: MIT */
/* The Library Validation Code (docs/windows/providers.md#d1): a library that was replaced since it
 * was recorded is not trusted. */
#include "loadperf/stored.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define VALIDATION "Library Validation Code"

char *trust_path(const char *library)
{
    BUFFER_AUTO path = {0};
    if (strchr(library, '%'))
        registry_expand(library, &path);
    else
        buffer_add_text(&path, library);
    if (path.data && !strchr(path.data, '/'))
        return text_format("%s/providers/%s", place_vendor(), path.data);
    char *taken = path.data;
    path = (struct buffer){0};
    return taken;
}

DWORD opl_load_library_path(const char *library, char *path, size_t size)
{
    if (!library || !*library || !path)
        return ERROR_INVALID_PARAMETER;
    FREE_AUTO char *found = trust_path(library);
    if (!found)
        return ERROR_NOT_ENOUGH_MEMORY;
    size_t length = strlen(found);
    if (length >= size)
        return ERROR_MORE_DATA;
    memcpy(path, found, length + 1);
    return ERROR_SUCCESS;
}

/* The library's time and size: 8 bytes each, little-endian. */
bool load_validation(const char *library, unsigned char ret[static VALIDATION_BYTES])
{
    struct stat st;
    FREE_AUTO char *path = trust_path(library);
    if (!path || stat(path, &st) != 0)
        return false;
    uint64_t parts[2] = {(uint64_t)clock_filetime_of(&st.st_mtim), (uint64_t)st.st_size};
    for (size_t i = 0; i < VALIDATION_BYTES; i++)
        ret[i] = (unsigned char)(parts[i / 8] >> i % 8 * 8);
    return true;
}

DWORD opl_load_trust(const char *service, const opl_load_options *options)
{
    struct load load;
    unsigned char code[VALIDATION_BYTES];
    load_init(&load, options);
    if (!service || !*service || strchr(service, '\\'))
        return ERROR_INVALID_PARAMETER;
    FREE_AUTO char *key = here_key(service), *library = here_text(service, "Library");
    if (!key)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (!library || !load_validation(library, code)) {
        if (library)
            load_error(&load, NULL, 0, "%s: its library \"%s\" does not exist", service, library);
        else
            load_error(&load, NULL, 0, "%s: there is no such service, or it has no library",
                       service);
        return ERROR_FILE_NOT_FOUND;
    }
    if (load.options->dry_run)
        return ERROR_SUCCESS;
    LSTATUS status = registry_set(load.layer, key, VALIDATION, REG_BINARY, code, sizeof code);
    if (status)
        load_error(&load, registry_folder(load.layer), 0, "cannot be written: %s",
                   status_text(status));
    return (DWORD)status;
}
