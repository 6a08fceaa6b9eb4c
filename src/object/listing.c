/* SPDX-License-Identifier: MIT */
/* The instances of an object in one collection: for each its name, its parent and a row of numbers,
 * in arrays that are reused. */
#include "object/object.h"

#include <stdlib.h>
#include <string.h>

void listing_done(opl_listing *listing)
{
    free(listing->instances);
    free(listing->values);
    free(listing->unknown);
    free(listing->names);
}

/* Gives memory back to the system. The listing is not read again before the next collection. */
void listing_unused(const opl_listing *listing)
{
    const struct object *object = listing->object;
    size_t capacity = listing->capacity;
    memory_unused(listing->instances, capacity * sizeof *listing->instances);
    memory_unused(listing->values, capacity * (object->all_rows + 1) * sizeof(uint64_t));
    memory_unused(listing->unknown, capacity * (object->all_rows / 64 + 1) * sizeof(uint64_t));
    memory_unused(listing->names, listing->names_capacity * sizeof *listing->names);
}

/* ---- memory ---- */

static bool grow(void **array, size_t count, size_t size)
{
    void *grown = realloc(*array, count * size);
    if (grown)
        *array = grown;
    return grown != NULL;
}

static bool listing_grow(opl_listing *listing)
{
    const struct object *object = listing->object;
    size_t capacity = listing->capacity ? listing->capacity * 2 : object->is->instances ? 16 : 1;
    if (!grow((void **)&listing->instances, capacity, sizeof *listing->instances) ||
        !grow((void **)&listing->values, capacity, (object->all_rows + 1) * sizeof(uint64_t)) ||
        !grow((void **)&listing->unknown, capacity,
              (object->all_rows / 64 + 1) * sizeof(uint64_t))) {
        listing->provider->failed = true;
        return false;
    }
    listing->capacity = capacity;
    return true;
}

static bool names_grow(opl_listing *listing, size_t units)
{
    if (listing->names_used + units <= listing->names_capacity)
        return true;
    size_t capacity = (listing->names_capacity + units) * 2;
    if (!grow((void **)&listing->names, capacity, sizeof *listing->names)) {
        listing->provider->failed = true;
        return false;
    }
    listing->names_capacity = capacity;
    return true;
}

/* Adds an instance whose values are all 0. NULL: no memory. */
static struct instance *listing_new(opl_listing *listing)
{
    if (listing->count == listing->capacity && !listing_grow(listing))
        return NULL;
    struct instance *instance = &listing->instances[listing->count];
    *instance = (struct instance){.name = listing->names_used};
    size_t words = listing->object->mask_words, rows = listing->object->all_rows;
    memset(listing->unknown + listing->count * words, 0, words * sizeof(uint64_t));
    memset(listing->values + listing->count * rows, 0, rows * sizeof(uint64_t));
    listing->count++;
    return instance;
}

/* Converts the ASCII characters at the start of `name`; checks eight bytes at a time. Returns how
 * many characters were converted. */
static size_t ascii_to_16(const char *name, size_t bytes, uint16_t *out)
{
    const uint64_t others = 0x8080808080808080;
    size_t done = 0;
    uint64_t eight;
    for (; bytes - done >= sizeof eight; done += sizeof eight) {
        memcpy(&eight, name + done, sizeof eight);
        if (eight & others)
            break;
        for (size_t i = 0; i < sizeof eight; i++)
            out[done + i] = (unsigned char)name[done + i];
    }
    for (; done < bytes && (unsigned char)name[done] < 0x80; done++)
        out[done] = (unsigned char)name[done];
    return done;
}

/* Names the instance. Ordinary names are ASCII; any other name is converted in full, with U+FFFD
 * for invalid bytes. */
static void listing_name(opl_listing *listing, struct instance *instance, const char *name,
                         size_t bytes)
{
    if (!bytes || !names_grow(listing, bytes))
        return;
    uint16_t *out = listing->names + listing->names_used;
    size_t units = ascii_to_16(name, bytes, out);
    if (units < bytes)
        units = utf8_to_16(name, bytes, out, bytes);
    instance->name = listing->names_used;
    instance->name_units = (uint32_t)units;
    listing->names_used += units;
}

void opl_listing_append_name(opl_listing *listing, const opl_object *object, const char *text)
{
    size_t length = strlen(text);
    if (listing->object->address != object || !listing->count || !names_grow(listing, length))
        return;
    ascii_to_16(text, length, listing->names + listing->names_used);
    listing->names_used += length;
    listing->instances[listing->count - 1].name_units += (uint32_t)length;
}

/* Names the instance by the text in parentheses in the process's stat file. The program chose that
 * name freely, so it is sanitized. */
static void listing_own_name(opl_listing *listing, struct instance *instance,
                             const struct source *source)
{
    listing_name(listing, instance, source->name, source->name_bytes);
    if (instance->name_units)
        name_sanitize(listing->names + instance->name, instance->name_units);
}

/* ---- values ---- */

static void row_unknown(opl_listing *listing, size_t position, size_t row)
{
    struct row *what = &listing->object->rows[row];
    uint64_t *unknown = listing->unknown + position * listing->object->mask_words;
    unknown[row / 64] |= (uint64_t)1 << row % 64;
    listing->values[position * listing->object->all_rows + row] = 0;
    if (listing->provider->opening || what->complained || what->is_base)
        return;
    char name[256];
    const struct instance *instance = &listing->instances[position];
    size_t bytes = 0;
    if (instance->name_units)
        bytes = utf16_to_8(listing->names + instance->name, instance->name_units, name,
                           sizeof name - 1);
    name[bytes < sizeof name ? bytes : 0] = 0;
    what->complained = true;
    trace("object", "%s: \"%s\" cannot be read for some instances (\"%s\" is the first)",
          listing->object->is->name, what->is->name, name);
}

/* Reads every row of the last instance. */
static void listing_read_rows(opl_listing *listing)
{
    struct object *object = listing->object;
    size_t position = listing->count - 1;
    uint64_t *values = listing->values + position * object->all_rows;
    bool known = true, all_seen = true;
    for (size_t i = 0; i < object->row_count; i++) {
        struct row *row = &object->rows[i];
        if (row->unwanted)
            continue;
        listing->provider->denied = false;
        enum row_result result =
            row->is_base && !known ? ROW_UNREADABLE : row_read(row, &listing->reading, &values[i]);
        known = result != ROW_UNREADABLE;
        row->seen |= result == ROW_READ;
        all_seen &= row->seen;
        if (known)
            continue;
        row->denied |= listing->provider->denied;
        row->unread |= listing->provider->denied || object->is->known_only;
        row_unknown(listing, position, i);
        if (row->is_base)
            row_unknown(listing, position, i - 1);
    }
    object->all_seen |= all_seen;
}

/* Begins the reading of an instance that may have no files of its own. */
static void reading_begin(opl_listing *listing, const char *folder, uint64_t note)
{
    opl_reading *reading = &listing->reading;
    reading->folder = folder;
    reading->item = NULL;
    reading->note = note;
    reading->position = (uint32_t)listing->count;
    reading->serial = ++listing->provider->serial;
    listing->provider->folder_serial = 0;
}

/* Begins the reading of an instance that has a folder. If the instance before, even one of another
 * object, has the same folder, its files are not read again. */
static void reading_begin_folder(opl_listing *listing, const char *folder, uint64_t note)
{
    opl_provider *provider = listing->provider;
    uint64_t before = provider->folder_serial;
    bool same = *folder && before > provider->collection && !strcmp(provider->folder, folder);
    size_t length = strlen(folder);
    reading_begin(listing, folder, note);
    if (same)
        listing->reading.serial = before;
    else if (length < sizeof provider->folder)
        memcpy(provider->folder, folder, length + 1);
    if (length < sizeof provider->folder)
        provider->folder_serial = listing->reading.serial;
}

/* The reading has already begun: provider_read does that for every listing. */
void listing_single(opl_listing *listing)
{
    if (listing_new(listing))
        listing_read_rows(listing);
}

/* ---- lines ---- */

static bool line_word(const char *line, unsigned number, const char **ret, size_t *ret_bytes)
{
    for (unsigned i = 1;; i++) {
        line += strspn(line, " \t");
        size_t bytes = strcspn(line, " \t\n");
        if (bytes == 0)
            return false;
        if (i == number || (number == 0 && i == 1)) {
            *ret = line;
            *ret_bytes = bytes;
            return true;
        }
        line += bytes;
    }
}

static void listing_line(opl_listing *listing, const char *line)
{
    const opl_lines *lines = &listing->object->is->lines;
    char folder[OBJECT_MAX_KEY] = "";
    const char *name;
    size_t bytes, prefix = strlen(lines->prefix ? lines->prefix : "");
    if (!line_word(line, lines->name, &name, &bytes) || bytes <= prefix ||
        memcmp(name, lines->prefix ? lines->prefix : "", prefix) != 0)
        return;
    struct instance *instance = listing_new(listing);
    if (!instance)
        return;
    name += prefix;
    bytes -= prefix;
    if (bytes < sizeof folder)
        memcpy(folder, name, bytes);
    listing_name(listing, instance, name, bytes);
    listing->reading.line = line;
    reading_begin(listing, folder, 0);
    listing->reading.position--;
    listing_read_rows(listing);
    listing->reading.folder = "";
}

void listing_lines(opl_listing *listing)
{
    const opl_lines *lines = &listing->object->is->lines;
    struct source *source = source_of(listing->provider, lines->source);
    if (!source || source_load(&listing->reading, source))
        return;
    const char *line = source->text;
    for (unsigned i = 0; i < lines->skip; i++)
        line = opl_next_line(line);
    listing->reading.line_source = source;
    for (; *line; line = opl_next_line(line))
        listing_line(listing, line);
}

/* ---- for list functions ---- */

opl_reading *opl_listing_reading(opl_listing *listing)
{
    return &listing->reading;
}

opl_listing *opl_listing_of(opl_listing *listing, const opl_object *object)
{
    opl_provider *provider = listing->provider;
    for (size_t i = 0; i < provider->object_count; i++)
        if (provider->objects[i].address == object && provider->objects[i].listing.requested)
            return &provider->objects[i].listing;
    return NULL;
}

void opl_listing_add(opl_listing *listing, const char *name, size_t name_bytes)
{
    struct instance *instance = listing_new(listing);
    if (instance)
        listing_name(listing, instance, name, name_bytes);
}

void opl_listing_item(opl_listing *listing, const char *name, const void *item)
{
    reading_begin(listing, "", 0);
    listing->reading.item = item;
    struct instance *instance = listing_new(listing);
    if (!instance)
        return;
    listing_name(listing, instance, name, strlen(name));
    listing_read_rows(listing);
}

opl_reading *opl_listing_at(opl_listing *listing, const char *folder)
{
    reading_begin_folder(listing, folder, 0);
    return &listing->reading;
}

void opl_listing_line(opl_listing *listing, const opl_source *is, const char *line,
                      const char *folder, const char *name)
{
    struct source *source = source_of(listing->provider, is);
    reading_begin(listing, folder, 0);
    listing->reading.line_source = source;
    listing->reading.line = line;
    struct instance *instance = source ? listing_new(listing) : NULL;
    if (!instance)
        return;
    listing_name(listing, instance, name, strlen(name));
    listing_read_rows(listing);
    listing->reading.folder = "";
}

/* Returns the first source of the rows whose path has a '*': an instance exists only if this file
 * can be read. NULL: no row has such a source. */
static struct source *listing_main_source(const struct object *object)
{
    for (size_t i = 0; i < object->row_count; i++)
        if (object->rows[i].source && object->rows[i].source->star)
            return object->rows[i].source;
    return NULL;
}

/* True if the instance is gone: its main file is read again and fails. */
static bool reading_gone(opl_listing *listing, struct source *main)
{
    main->read_for = 0;
    return source_load(&listing->reading, main) != ERROR_SUCCESS;
}

static bool rows_failed_as_if_gone(const opl_listing *listing)
{
    const struct object *object = listing->object;
    for (size_t i = 0; i < object->row_count; i++) {
        const struct source *source = object->rows[i].source;
        if (source && source->star && source->read_for == listing->reading.serial &&
            source->status && source->status != ERROR_ACCESS_DENIED)
            return true;
    }
    return false;
}

/* Reads all rows of an instance, after reading_begin. False: it is gone, or no memory. */
static bool listing_read(opl_listing *listing, const char *name, size_t name_bytes)
{
    struct source *main = listing_main_source(listing->object);
    if (main && source_load_words(&listing->reading, main, 2))
        return false;
    struct instance *instance = listing_new(listing);
    if (!instance)
        return false;
    if (name_bytes == 0 && main && main->name)
        listing_own_name(listing, instance, main);
    else
        listing_name(listing, instance, name, name_bytes);
    if (!listing->provider->opening || !listing->object->all_seen)
        listing_read_rows(listing);
    if (main && rows_failed_as_if_gone(listing) && reading_gone(listing, main)) {
        opl_listing_withdraw(listing);
        return false;
    }
    return true;
}

bool opl_listing_read_with(opl_listing *listing, const char *folder, const char *name,
                           size_t name_bytes, uint64_t note, const void *item)
{
    reading_begin_folder(listing, folder, note);
    listing->reading.item = item;
    return listing_read(listing, name, name_bytes);
}

/* Adds an instance and copies all its values from the caller's item, which has a number for each
 * row: no file is read. */
static bool listing_copy(opl_listing *listing, const char *name, size_t name_bytes,
                         const unsigned char *item)
{
    const struct object *object = listing->object;
    struct instance *instance = listing_new(listing);
    if (!instance)
        return false;
    listing_name(listing, instance, name, name_bytes);
    uint64_t *values = listing->values + (listing->count - 1) * object->all_rows;
    for (size_t i = 0; i < object->row_count; i++)
        memcpy(&values[i], item + object->cells[i].item, sizeof *values);
    return true;
}

/* Adds an instance; `item` has some of its values. Does not read a file only to see whether the
 * instance exists: the instance is gone if a file that a row needs is gone. */
bool opl_listing_read_known(opl_listing *listing, const char *folder, const char *name,
                            size_t name_bytes, uint64_t note, const void *item)
{
    reading_begin_folder(listing, folder, note);
    if (listing->object->items && item)
        return listing_copy(listing, name, name_bytes, item);
    listing->reading.item = item;
    struct instance *instance = listing_new(listing);
    if (!instance)
        return false;
    listing_name(listing, instance, name, name_bytes);
    listing_read_rows(listing);
    bool gone = rows_failed_as_if_gone(listing);
    listing->reading.item = NULL;
    if (gone)
        opl_listing_withdraw(listing);
    return !gone;
}

bool opl_listing_read(opl_listing *listing, const char *folder, const char *name, size_t name_bytes)
{
    return opl_listing_read_with(listing, folder, name, name_bytes, 0, NULL);
}

void opl_listing_set(opl_listing *listing, DWORD index, uint64_t value)
{
    const struct object *object = listing->object;
    for (size_t i = 0; i < object->row_count && listing->count > 0; i++)
        if (object->rows[i].is->index == index && !object->rows[i].is_base)
            listing->values[(listing->count - 1) * object->all_rows + i] = value;
}

uint64_t opl_listing_column(opl_listing *listing, const opl_source *is, unsigned column)
{
    uint64_t value;
    return opl_reading_column(&listing->reading, is, column, &value) ? value : 0;
}

void opl_listing_parent(opl_listing *listing, const opl_object *parent, uint32_t position)
{
    if (listing->count == 0)
        return;
    struct instance *instance = &listing->instances[listing->count - 1];
    instance->parent_object = parent->index + listing->provider->first_counter;
    instance->parent = position;
}

void opl_listing_withdraw(opl_listing *listing)
{
    if (listing->count > 0)
        listing->names_used = listing->instances[--listing->count].name;
}

bool opl_listing_enough(const opl_listing *listing)
{
    return listing->provider->opening && listing->object->all_seen;
}

uint32_t opl_listing_count(const opl_listing *listing)
{
    return (uint32_t)listing->count;
}

bool opl_listing_numbers(opl_listing *listing, const char *path, unsigned level,
                         const uint32_t **ret, size_t *ret_count)
{
    if (level >= OBJECT_LEVELS)
        return false;
    struct folder *folder = &listing->provider->folders[level];
    LSTATUS status = folder_read(listing->provider, folder, path, level == 0);
    *ret = folder->numbers;
    *ret_count = folder->count;
    return status == ERROR_SUCCESS;
}

/* ---- _Total ---- */

/* Writes the last instance, `_Total`, by each row's rule from the values that could be read. */

/* For each row: the sum of the values that could be read, and the number of those that could
 * not. */
struct sums {
    uint64_t sum[OBJECT_MAX_ROWS];
    size_t unknown[OBJECT_MAX_ROWS];
};

static void leave_out(const uint64_t *unknown, const uint64_t *values, size_t rows,
                      struct sums *sums)
{
    for (size_t i = 0; i < rows; i++)
        if (unknown[i / 64] >> i % 64 & 1) {
            sums->sum[i] -= values[i];
            sums->unknown[i]++;
        }
}

/* Adds up each row's values. The loop goes through the instances in the order in which they lie in
 * memory. */
static void add_up(const opl_listing *listing, size_t count, struct sums *sums)
{
    const struct object *object = listing->object;
    size_t rows = object->row_count;
    memset(sums->sum, 0, rows * sizeof *sums->sum);
    memset(sums->unknown, 0, rows * sizeof *sums->unknown);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *values = listing->values + i * object->all_rows;
        const uint64_t *unknown = listing->unknown + i * object->mask_words;
        uint64_t any = 0;
        for (size_t j = 0; j < rows; j++)
            sums->sum[j] += values[j];
        for (size_t j = 0; j < object->mask_words; j++)
            any |= unknown[j];
        if (any)
            leave_out(unknown, values, rows, sums);
    }
}

/* Makes the last instance of the parent object (its total) the parent of this total. */
static void total_parent(opl_listing *listing)
{
    const opl_object *parent = listing->object->is->listed_with;
    const opl_listing *parents = parent ? opl_listing_of(listing, parent) : NULL;
    if (parents && parents->count)
        opl_listing_parent(listing, parent, (uint32_t)parents->count - 1);
}

void listing_total(opl_listing *listing)
{
    const struct object *object = listing->object;
    size_t count = listing->count;
    struct sums sums;
    opl_listing_add(listing, object->is->total, strlen(object->is->total));
    if (listing->count == count)
        return;
    total_parent(listing);
    add_up(listing, count, &sums);
    uint64_t *total = listing->values + count * object->all_rows;
    for (size_t i = 0; i < object->row_count; i++) {
        opl_total rule = object->rows[i].total;
        if (object->rows[i].text)
            continue; /* skips texts, which have no total */
        if (rule == OPL_SUM || rule == OPL_MEAN)
            total[i] = sums.sum[i];
        if (rule == OPL_MEAN && sums.unknown[i] < count)
            total[i] /= count - sums.unknown[i];
        if (rule == OPL_NOW)
            total[i] = (uint64_t)listing->provider->time;
    }
}
