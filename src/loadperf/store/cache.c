/* SPDX-License-Identifier: MIT */
/*
 * A new registration must know every index in use, but should not read every registered file. So
 * the file `.ranges` in the layer's folder keeps the result of each file's last scan, with the
 * file's stat data; if that has changed, the file is scanned again. Rows are appended under the
 * writers' lock. Each has a hash, so an incomplete row is ignored; a later row for a file replaces
 * an earlier one.
 */
#include "loadperf/inner.h"

#include <fcntl.h>
#include <inttypes.h>
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

void cache_done(struct range_cache *cache)
{
    buffer_done(&cache->text);
    free(cache->rows);
    free(cache->places);
    *cache = (struct range_cache){0};
}

/* ---- reading: hash, fields in hexadecimal, services, name ---- */

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
void cache_read(enum registry_layer layer, struct range_cache *ret)
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

const struct range_row *cache_find(const struct range_cache *cache,
                                   const struct registry_file *file)
{
    if (!cache->place_count)
        return NULL;
    uint32_t number = cache->places[place_of(cache, file)];
    const struct range_row *row = number ? &cache->rows[number - 1] : NULL;
    return row && same_state(&row->file, file) ? row : NULL;
}

/* ---- writing ---- */

static bool is_plain(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ')
            return false;
    return true;
}

void cache_print(const struct range_row *row, struct buffer *ret)
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

void cache_write(const struct registry_edit *edit, const struct range_cache *cache,
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
