/* SPDX-License-Identifier: MIT */
/*
 * The scan results for every file of the layers: from the cache if the file's stat data is
 * unchanged, else from a scan. The vendor's language bases are treated as additional files.
 */
#include "loadperf/inner.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_file(struct known_file *file)
{
    free(file->name);
    free(file->services);
}

void known_done(struct known_files *known)
{
    for (size_t i = 0; i < known->count; i++)
        free_file(&known->files[i]);
    free(known->files);
    cache_done(&known->cache);
    *known = (struct known_files){0};
}

static LSTATUS add_file(struct known_files *known, struct known_file file)
{
    if (!list_grow(&known->files, known->count, &known->capacity, sizeof *known->files)) {
        free_file(&file);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    known->files[known->count++] = file;
    return ERROR_SUCCESS;
}

/* Makes the entry of a file from its scan, and takes over the memory of scan->services. */
static LSTATUS make_file(const struct registry_file *given, struct file_scan *scan,
                         struct known_file *ret)
{
    *ret = (struct known_file){
        .row = {.file = *given,
                .machine_top = scan->machine_top,
                .user_top = scan->user_top,
                .languages = scan->languages},
        .name = strdup(given->name),
        .services = scan->services.data,
        .fresh = true
    };
    scan->services = (struct buffer){0};
    ret->row.file.name = ret->name;
    ret->row.services = ret->services;
    if (ret->name)
        return ERROR_SUCCESS;
    free_file(ret);
    return ERROR_NOT_ENOUGH_MEMORY;
}

/* ---- queries ---- */

const struct known_file *known_find(const struct known_files *known, enum registry_layer layer,
                                    const char *name)
{
    for (size_t i = 0; i < known->count; i++) {
        const struct registry_file *file = &known->files[i].row.file;
        if (file->layer == layer && !strcmp(file->name, name))
            return &known->files[i];
    }
    return NULL;
}

uint32_t known_top(const struct known_files *known, enum registry_layer layer, const char *without)
{
    bool user = layer == LAYER_USER;
    uint32_t highest = user ? USER_FIRST - 2 : NAMES_BASE_INDEX - 1;
    for (size_t i = 0; i < known->count; i++) {
        const struct range_row *row = &known->files[i].row;
        uint32_t top = user ? row->user_top : row->machine_top;
        if (top > highest &&
            !(without && row->file.layer == layer && !strcmp(row->file.name, without)))
            highest = top;
    }
    return highest;
}

bool known_elsewhere(const struct known_files *known, const char *service,
                     enum registry_layer layer, const char *without)
{
    for (size_t i = 0; i < known->count; i++) {
        const struct range_row *row = &known->files[i].row;
        if (row->file.layer == layer && !strcmp(row->file.name, without))
            continue;
        if (scan_mentions(row->services, service) || scan_mentions(row->services, ""))
            return true;
    }
    return false;
}

bool known_above(const struct known_files *known, const char *service, enum registry_layer layer)
{
    for (size_t i = 0; i < known->count; i++) {
        const struct range_row *row = &known->files[i].row;
        if (row->file.layer > layer && (row->languages || scan_mentions(row->services, service) ||
                                        scan_mentions(row->services, "")))
            return true;
    }
    return false;
}

/* ---- reading all files ---- */

struct knowing {
    struct known_files *known;
    LSTATUS status;
};

/* Scans a file. One that cannot be read or is not trusted counts as empty; a lack of memory or
 * descriptors is an error. */
static LSTATUS scan_file(const struct registry_file *file, struct file_scan *ret)
{
    BUFFER_AUTO text = {0};
    bool shipped = !strncmp(file->name, SHIPPED_NAMES, strlen(SHIPPED_NAMES));
    FREE_AUTO char *path = shipped ? text_format("%s/data/%s", place_vendor(), file->name) : NULL;
    *ret = (struct file_scan){0};
    if (shipped && !path)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = shipped ? file_read(AT_FDCWD, path, &text)
                             : registry_read_file(file->layer, file->name, &text);
    if (status)
        return status_is_passing(status) ? status : ERROR_SUCCESS;
    return shipped ? scan_names(&text, ret) : scan_registry(&text, ret);
}

static bool know_file(void *self, const struct registry_file *given)
{
    struct knowing *knowing = self;
    const struct range_row *row = cache_find(&knowing->known->cache, given);
    struct known_file file = {0};
    struct file_scan scan = {0};
    if (row)
        file.row = *row;
    else if (!(knowing->status = scan_file(given, &scan)))
        knowing->status = make_file(given, &scan, &file);
    if (!knowing->status)
        knowing->status = add_file(knowing->known, file);
    return !knowing->status;
}

static uint64_t nanoseconds(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static bool is_names_file(const char *name)
{
    size_t count = strcspn(name, ".");
    return (count == 3 || count == 4) && !strcmp(name + count, ".names");
}

/* Adds the vendor's language bases, which are not registry files, with a prefix to their names. */
static void know_shipped(struct knowing *knowing)
{
    struct stat st;
    FREE_AUTO char *path = text_format("%s/data/" SHIPPED_NAMES, place_vendor());
    DIR *folder = path ? opendir(path) : NULL;
    for (struct dirent *entry; folder && !knowing->status && (entry = readdir(folder));) {
        char name[sizeof SHIPPED_NAMES + 255];
        if (!is_names_file(entry->d_name) || fstatat(dirfd(folder), entry->d_name, &st, 0) != 0)
            continue;
        snprintf(name, sizeof name, SHIPPED_NAMES "%s", entry->d_name);
        struct registry_file file = {.layer = LAYER_VENDOR,
                                     .name = name,
                                     .device = st.st_dev,
                                     .inode = st.st_ino,
                                     .size = (uint64_t)st.st_size,
                                     .changed_ns = nanoseconds(&st.st_ctim),
                                     .modified_ns = nanoseconds(&st.st_mtim)};
        know_file(knowing, &file);
    }
    if (folder)
        closedir(folder);
}

LSTATUS known_read(enum registry_layer layer, struct known_files *ret)
{
    *ret = (struct known_files){0};
    struct knowing knowing = {.known = ret};
    cache_read(layer, &ret->cache);
    know_shipped(&knowing);
    LSTATUS status = knowing.status ? knowing.status : registry_each_file(know_file, &knowing);
    status = status ? status : knowing.status;
    if (status)
        known_done(ret);
    return status;
}

/* ---- after a change ---- */

void known_forget(struct known_files *known, enum registry_layer layer, const char *name)
{
    struct known_file *file = (struct known_file *)known_find(known, layer, name);
    if (!file)
        return;
    free_file(file);
    size_t following = known->count - (size_t)(file - known->files) - 1;
    memmove(file, file + 1, following * sizeof *file);
    known->count--;
}

LSTATUS known_update(struct known_files *known, const struct registry_file *file,
                     struct file_scan *scan)
{
    struct known_file fresh;
    known_forget(known, file->layer, file->name);
    LSTATUS status = make_file(file, scan, &fresh);
    return status ? status : add_file(known, fresh);
}

void known_save(const struct known_files *known, const struct registry_edit *edit)
{
    enum { SOME = 64 };
    BUFFER_AUTO rows = {0};
    bool fresh = false, whole = known->cache.whole || known->cache.count > 2 * known->count + SOME;
    for (size_t i = 0; i < known->count; i++) {
        fresh |= known->files[i].fresh;
        if (whole || known->files[i].fresh)
            cache_print(&known->files[i].row, &rows);
    }
    if (whole || fresh)
        cache_write(edit, &known->cache, &rows, whole);
}
