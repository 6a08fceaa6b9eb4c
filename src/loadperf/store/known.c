/* SPDX-License-Identifier: MIT */
/*
 * The scan results for every file of the layers. A new registration must know every index in use,
 * but should not read every registered file. So the file `.ranges` in the layer's folder keeps the
 * result of each file's last scan, with the file's stat data; if that has changed, the file is
 * scanned again. Rows are appended under the writers' lock. Each has a hash, so an incomplete row
 * is ignored; a later row for a file replaces an earlier one. The vendor's language bases are
 * treated as additional files.
 */
#include "loadperf/inner.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_FILE ".ranges"
#define CACHE_HEAD "openperflib ranges 4\n"
enum { HASH_DIGITS = 16, FIELDS = 9 };

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
    return hash ^ hash >> 32;
}

static void cache_done(struct range_cache *cache)
{
    buffer_done(&cache->text);
    free(cache->rows);
    free(cache->places);
    *cache = (struct range_cache){0};
}

/* ---- reading the cache: hash, fields in hexadecimal, services, name ---- */

static int digit_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Reads a hexadecimal number and the blank after it; false: the row has no number there. */
static bool take_number(const char **cursor, uint64_t *ret)
{
    const char *at = *cursor;
    *ret = 0;
    for (int digit; (digit = digit_of(*at)) >= 0; at++)
        *ret = *ret << 4 | (uint64_t)digit;
    bool good = at > *cursor && *at == ' ';
    *cursor = at + good;
    return good;
}

/* Parses one row. The newline at `end` and the blank before the name become NUL, because *ret
 * refers to the texts in the row. False: the row is damaged. */
static bool read_row(char *row, char *end, struct range_row *ret)
{
    uint64_t hash, fields[FIELDS];
    const char *cursor = row;
    if (!take_number(&cursor, &hash) || hash != hash_of(cursor, (size_t)(end - cursor)))
        return false;
    for (size_t i = 0; i < FIELDS; i++)
        if (!take_number(&cursor, &fields[i]))
            return false;
    char *last_tab = memrchr(cursor, '\t', (size_t)(end - cursor));
    if (fields[0] > LAYER_USER || *cursor != '\t' || last_tab[1] != ' ')
        return false;
    last_tab[1] = *end = '\0';
    *ret = (struct range_row){
        .file = {.layer = (enum registry_layer)fields[0],
                 .name = last_tab + 2,
                 .device = fields[1],
                 .inode = fields[2],
                 .size = fields[3],
                 .changed_ns = fields[4],
                 .modified_ns = fields[5]},
        .machine_top = (uint32_t)fields[6],
        .user_top = (uint32_t)fields[7],
        .languages = fields[8] != 0,
        .services = cursor
    };
    return true;
}

static bool read_rows(struct range_cache *cache)
{
    char *row = cache->text.data + strlen(CACHE_HEAD), *end;
    for (; *row; row = end + 1) {
        end = strchr(row, '\n');
        if (!end || !list_grow(&cache->rows, cache->count, &cache->capacity, sizeof *cache->rows) ||
            !read_row(row, end, &cache->rows[cache->count]))
            return false;
        cache->count++;
    }
    return true;
}

static size_t place_of(const struct range_cache *cache, const struct registry_file *file)
{
    uint64_t hash = hash_of(file->name, strlen(file->name)) + file->layer;
    size_t place = (size_t)hash % cache->place_count;
    while (cache->places[place]) {
        const struct registry_file *other = &cache->rows[cache->places[place] - 1].file;
        if (other->layer == file->layer && !strcmp(other->name, file->name))
            break;
        place = (place + 1) % cache->place_count;
    }
    return place;
}

static void order_rows(struct range_cache *cache)
{
    cache->place_count = cache->count * 2 + 1;
    cache->places = calloc(cache->place_count, sizeof *cache->places);
    if (!cache->places) {
        cache->count = cache->place_count = 0;
        cache->whole = true;
    }
    for (size_t i = 0; i < cache->count; i++)
        cache->places[place_of(cache, &cache->rows[i].file)] = (uint32_t)i + 1;
}

static LSTATUS read_text(int fd, struct buffer *ret)
{
    struct stat st;
    bool good = fstat(fd, &st) == 0 && !file_fault(&st, STATE_LISTS_MOST) &&
                file_read_fd(fd, ret) == ERROR_SUCCESS && ret->len &&
                strlen(ret->data) == ret->len &&
                !strncmp(ret->data, CACHE_HEAD, strlen(CACHE_HEAD));
    return good ? ERROR_SUCCESS : ERROR_INVALID_DATA;
}

/* Reads the cache. If it is incomplete, owned by another user or of another version, it counts as
 * empty. */
static void cache_read(enum registry_layer layer, struct range_cache *ret)
{
    *ret = (struct range_cache){.whole = true};
    const char *folder = registry_folder(layer);
    FREE_AUTO char *path = folder ? text_format("%s/" CACHE_FILE, folder) : NULL;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    if (fd < 0)
        return;
    if (read_text(fd, &ret->text) == ERROR_SUCCESS)
        ret->whole = !read_rows(ret);
    order_rows(ret);
    close(fd);
}

static bool same_state(const struct registry_file *left, const struct registry_file *right)
{
    return left->device == right->device && left->inode == right->inode &&
           left->size == right->size && left->changed_ns == right->changed_ns &&
           left->modified_ns == right->modified_ns;
}

/* Returns the file's row if its stat data is unchanged; NULL: the file must be scanned. */
static const struct range_row *cache_find(const struct range_cache *cache,
                                          const struct registry_file *file)
{
    if (!cache->place_count)
        return NULL;
    uint32_t number = cache->places[place_of(cache, file)];
    const struct range_row *row = number ? &cache->rows[number - 1] : NULL;
    return row && same_state(&row->file, file) ? row : NULL;
}

/* ---- writing the cache ---- */

static bool is_plain(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ')
            return false;
    return true;
}

/* Appends a row as text. */
static void cache_print(const struct range_row *row, struct buffer *ret)
{
    BUFFER_AUTO text = {0};
    const struct registry_file *file = &row->file;
    if (!is_plain(file->name))
        return;
    buffer_printf(&text,
                  "%x %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %x %x %x %s %s",
                  (unsigned)file->layer, file->device, file->inode, file->size, file->changed_ns,
                  file->modified_ns, (unsigned)row->machine_top, (unsigned)row->user_top,
                  (unsigned)row->languages, row->services ? row->services : "\t", file->name);
    if (!text.failed)
        buffer_printf(ret, "%0*" PRIx64 " %s\n", HASH_DIGITS, hash_of(text.data, text.len),
                      text.data);
}

/* Appends rows to the cache file; with `whole` they replace its content. */
static void cache_write(const struct registry_edit *edit, const struct range_cache *cache,
                        const struct buffer *rows, bool whole)
{
    BUFFER_AUTO text = {0};
    if (whole)
        buffer_add_text(&text, CACHE_HEAD);
    buffer_add(&text, rows->data, rows->len);
    int fd = rows->failed || text.failed ? -1
                                         : file_open_to_write(registry_edit_folder(edit),
                                                              CACHE_FILE, STATE_LISTS_MOST, false);
    if (fd < 0)
        return;
    off_t start = whole ? 0 : (off_t)cache->text.len;
    ssize_t written = file_write_limited(fd, text.data, text.len, start);
    if (fchmod(fd, 0644) != 0 || ftruncate(fd, start + (written > 0 ? written : 0)) != 0)
        trace("loadperf", "the cache of ranges could not be written");
    close(fd);
}

/* ---- the files ---- */

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
