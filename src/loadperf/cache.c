/* SPDX-License-Identifier: MIT */
/*
 * A registration must know every index in use, and must not read every registered file for that:
 * what a file meant when it was last scanned is kept beside the files, in `.ranges`, with what stat
 * said of the file. A file that stat describes otherwise is scanned again; a cache that is torn or
 * somebody else's is as none. It is written in place under the writers' lock, and read without.
 */
#include "loadperf/inner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_FILE ".ranges"
#define CACHE_HEAD "openperflib ranges 1"

static uint64_t hash_of(const char *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    for (; size; size--)
        hash = (hash ^ (unsigned char)*bytes++) * UINT64_C(0x100000001b3);
    return hash;
}

/* ---- the list ---- */

static void free_file(struct known_file *file)
{
    free((char *)file->file.name);
    free(file->services);
}

void known_done(struct known *known)
{
    for (size_t i = 0; i < known->count; i++)
        free_file(&known->files[i]);
    free(known->files);
    *known = (struct known){0};
}

static bool add_file(struct known *known, struct known_file file)
{
    if (!list_grow(&known->files, known->count, &known->room, sizeof *known->files)) {
        free_file(&file);
        return false;
    }
    known->files[known->count++] = file;
    return true;
}

static bool same_state(const struct registry_file *left, const struct registry_file *right)
{
    return left->device == right->device && left->inode == right->inode &&
           left->size == right->size && left->changed_ns == right->changed_ns &&
           left->modified_ns == right->modified_ns;
}

const struct known_file *known_find(const struct known *known, enum registry_layer layer,
                                    const char *name)
{
    for (size_t i = 0; i < known->count; i++)
        if (known->files[i].file.layer == layer && !strcmp(known->files[i].file.name, name))
            return &known->files[i];
    return NULL;
}

uint32_t known_top(const struct known *known, enum registry_layer layer, const char *but)
{
    bool user = layer == LAYER_USER;
    uint32_t highest = user ? USER_FIRST - 2 : NAMES_BASE_INDEX - 1;
    for (size_t i = 0; i < known->count; i++) {
        const struct known_file *file = &known->files[i];
        uint32_t top = user ? file->user_top : file->machine_top;
        bool left_out = but && file->file.layer == layer && !strcmp(file->file.name, but);
        if (!left_out && top > highest)
            highest = top;
    }
    return highest;
}

/* ---- the cache file ---- */

/* Layer and what stat says, tops, the flag; then the name and each service behind a tab. */
static bool read_row(const char *row, struct known *ret)
{
    unsigned layer, machine_top, user_top, languages;
    struct registry_file file = {0};
    int length = 0;
    if (sscanf(row, "%u %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %u %u %u%n",
               &layer, &file.device, &file.inode, &file.size, &file.changed_ns, &file.modified_ns,
               &machine_top, &user_top, &languages, &length) != 9 ||
        layer > LAYER_USER || row[length] != '\t')
        return false;
    const char *name = row + length + 1, *end = name + strcspn(name, "\n");
    size_t count = strcspn(name, "\t\n");
    struct known_file known = {
        .file = file, .machine_top = machine_top, .user_top = user_top, .languages = languages};
    known.file.layer = (enum registry_layer)layer;
    known.file.name = strndup(name, count);
    if (name[count] == '\t') {
        known.services = strndup(name + count, (size_t)(end - name) - count);
        for (char *at = known.services; at && *at; at++)
            *at = *at == '\t' ? '\n' : *at;
    }
    if (!known.file.name || (name[count] == '\t' && !known.services)) {
        free_file(&known);
        return false;
    }
    return add_file(ret, known);
}

static void read_rows(const char *text, size_t size, struct known *ret)
{
    uint64_t hash;
    int length = 0;
    if (sscanf(text, CACHE_HEAD " %" SCNx64 "%n", &hash, &length) != 1 || text[length] != '\n')
        return;
    const char *row = text + length + 1;
    if (hash_of(row, size - (size_t)(row - text)) != hash)
        return;
    for (; *row; row += strcspn(row, "\n") + 1)
        if (!read_row(row, ret))
            break;
}

static void read_cache(enum registry_layer layer, struct known *ret)
{
    BUFFER_AUTO text = {0};
    struct stat st;
    const char *folder = registry_folder(layer);
    FREE_AUTO char *path = folder ? text_format("%s/" CACHE_FILE, folder) : NULL;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && file_trusted(&st, false) &&
        file_read_fd(fd, &text) == ERROR_SUCCESS && text.len && strlen(text.data) == text.len)
        read_rows(text.data, text.len, ret);
    if (fd >= 0)
        close(fd);
}

static bool has_plain_name(const struct known_file *file)
{
    for (const char *at = file->file.name; *at; at++)
        if ((unsigned char)*at < ' ')
            return false;
    return true;
}

static void print_row(const struct known_file *file, struct buffer *ret)
{
    const struct registry_file *state = &file->file;
    buffer_printf(ret,
                  "%u %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %u %u %u\t%s",
                  (unsigned)state->layer, state->device, state->inode, state->size,
                  state->changed_ns, state->modified_ns, (unsigned)file->machine_top,
                  (unsigned)file->user_top, (unsigned)file->languages, state->name);
    for (const char *at = file->services; at && *at; at++)
        buffer_add_byte(ret, *at == '\n' ? '\t' : *at);
    buffer_add_byte(ret, '\n');
}

void known_save(const struct known *known, const struct registry_edit *edit)
{
    BUFFER_AUTO rows = {0};
    BUFFER_AUTO text = {0};
    if (!known->changed)
        return;
    for (size_t i = 0; i < known->count; i++)
        if (has_plain_name(&known->files[i]))
            print_row(&known->files[i], &rows);
    buffer_printf(&text, CACHE_HEAD " %" PRIx64 "\n", hash_of(rows.data, rows.len));
    buffer_add(&text, rows.data, rows.len);
    int fd = rows.failed || text.failed
                 ? -1
                 : openat(registry_edit_folder(edit), CACHE_FILE,
                          O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644);
    if (fd < 0)
        return;
    fchmod(fd, 0644);
    ssize_t written = pwrite(fd, text.data, text.len, 0);
    if (ftruncate(fd, written > 0 ? written : 0) != 0)
        trace("loadperf", "the cache of ranges could not be shortened");
    close(fd);
}

/* ---- all files ---- */

struct knowing {
    struct known *known, *cached;
    size_t cursor; /* in cached: both are in the same order */
    LSTATUS status;
};

static const struct known_file *from_cache(struct knowing *knowing,
                                           const struct registry_file *file)
{
    const struct known *cached = knowing->cached;
    for (size_t i = 0; i < cached->count; i++) {
        size_t at = (knowing->cursor + i) % cached->count;
        const struct registry_file *row = &cached->files[at].file;
        if (row->layer != file->layer || strcmp(row->name, file->name))
            continue;
        knowing->cursor = at + 1;
        return same_state(row, file) ? &cached->files[at] : NULL;
    }
    return NULL;
}

static LSTATUS take_scan(struct known_file *file, struct scan *scan)
{
    file->machine_top = scan->machine_top;
    file->user_top = scan->user_top;
    file->languages = scan->languages;
    file->services = scan->services.data;
    scan->services = (struct buffer){0};
    return ERROR_SUCCESS;
}

/* A file that cannot be read or believed says nothing; want of memory says nothing of the file. */
static LSTATUS scan_file(struct known_file *file)
{
    BUFFER_AUTO text = {0};
    struct scan scan;
    const char *name = file->file.name;
    bool shipped = !strncmp(name, SHIPPED_NAMES, strlen(SHIPPED_NAMES));
    FREE_AUTO char *path = shipped ? text_format("%s/data/%s", place_vendor(), name) : NULL;
    if (shipped && !path)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = shipped ? file_read(AT_FDCWD, path, &text)
                             : registry_read_file(file->file.layer, name, &text);
    if (status)
        return status_is_passing(status) ? status : ERROR_SUCCESS;
    status = shipped ? scan_names(&text, &scan) : scan_registry(&text, &scan);
    return status ? status : take_scan(file, &scan);
}

static bool know_file(void *self, const struct registry_file *given)
{
    struct knowing *knowing = self;
    const struct known_file *row = from_cache(knowing, given);
    struct known_file file = {.file = *given};
    file.file.name = strdup(given->name);
    knowing->status = file.file.name ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
    if (row && !knowing->status) {
        file.machine_top = row->machine_top;
        file.user_top = row->user_top;
        file.languages = row->languages;
        file.services = row->services ? strdup(row->services) : NULL;
        if (row->services && !file.services)
            knowing->status = ERROR_NOT_ENOUGH_MEMORY;
    } else if (!knowing->status) {
        knowing->known->changed = true;
        knowing->status = scan_file(&file);
    }
    if (knowing->status) {
        free_file(&file);
        return false;
    }
    if (!add_file(knowing->known, file))
        knowing->status = ERROR_NOT_ENOUGH_MEMORY;
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

/* The vendor's bases, which are no registry files, under names of their own. */
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

LSTATUS known_read(enum registry_layer layer, struct known *ret)
{
    struct known cached = {0};
    *ret = (struct known){0};
    struct knowing knowing = {.known = ret, .cached = &cached};
    read_cache(layer, &cached);
    know_shipped(&knowing);
    LSTATUS status = knowing.status ? knowing.status : registry_each_file(know_file, &knowing);
    status = status ? status : knowing.status;
    ret->changed |= ret->count != cached.count;
    known_done(&cached);
    if (status)
        known_done(ret);
    return status;
}

/* ---- after a change ---- */

void known_forget(struct known *known, enum registry_layer layer, const char *name)
{
    struct known_file *file = (struct known_file *)known_find(known, layer, name);
    if (!file)
        return;
    free_file(file);
    size_t behind = known->count - (size_t)(file - known->files) - 1;
    memmove(file, file + 1, behind * sizeof *file);
    known->count--;
    known->changed = true;
}

LSTATUS known_update(struct known *known, const struct registry_file *file,
                     const struct buffer *text)
{
    struct scan scan;
    LSTATUS status = scan_registry(text, &scan);
    struct known_file fresh = {.file = *file};
    if (status)
        return status;
    known_forget(known, file->layer, file->name);
    fresh.file.name = strdup(file->name);
    take_scan(&fresh, &scan);
    known->changed = true;
    if (fresh.file.name)
        return add_file(known, fresh) ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
    free_file(&fresh);
    return ERROR_NOT_ENOUGH_MEMORY;
}
