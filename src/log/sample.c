/* SPDX-License-Identifier: MIT */
/*
 * The content of BLG records: the entries of the catalogue, the values of a sample in the same
 * order, and tables of names. Each length and offset is checked before it is used.
 */
#include "log/inner.h"

#include <stdlib.h>

enum {
    ENTRY_HEAD = 52,
    ENTRY_WILDCARD = 1, /* a flag of a catalogue entry */
    VALUE_HEAD = 8,
    ITEMS_HEAD = 24,
    ITEM_SIZE = 24,
    RAW_SIZE = 40,
    KIND_ONE = 1,
    KIND_ITEMS = 2,
    KIND_BLOCK = 5,
    TYPE_TEXT = 0x800 /* of the bits that say whether a counter is a number or a text */
};

/* Returns the length of the UTF-16 text at `at`, up to its NUL or to `end`. */
static size_t units_at(const unsigned char *at, const unsigned char *end)
{
    size_t units = 0;
    while ((size_t)(end - at) >= 2 * (units + 1) && get16(at + 2 * units))
        units++;
    return units;
}

static bool add_utf16(struct buffer *buffer, const unsigned char *at, size_t units)
{
    if (!buffer_reserve(buffer, 3 * units + 1))
        return false;
    buffer->len += utf16_to_8(at, units, buffer->data + buffer->len, 3 * units);
    return buffer_add(buffer, "", 1);
}

/* ---- the catalogue ---- */

/* Copies a text of the entry to `buffer`; `field` is the place in the entry where the text's offset
 * is stored. NULL: the entry lacks the text. */
static const char *entry_text(const unsigned char *entry, size_t length, size_t field,
                              struct buffer *buffer)
{
    uint32_t offset = get32(entry + field);
    if (offset == UINT32_MAX || offset >= length - ENTRY_HEAD)
        return NULL;
    const unsigned char *at = entry + ENTRY_HEAD + offset;
    size_t start = buffer->len;
    if (!add_utf16(buffer, at, units_at(at, entry + length)))
        return NULL;
    return buffer->data + start;
}

static enum log_column_kind kind_of(uint32_t flags, const struct log_column *column)
{
    if (column->counter && strcmp(column->counter, "*") == 0)
        return LOG_BLOCK;
    return flags & ENTRY_WILDCARD ? LOG_ARRAY : LOG_RAW;
}

static PDH_STATUS read_entry(struct file *file, const unsigned char *entry, size_t length)
{
    struct log_column column = {.type = get32(entry + 12),
                                .time_base = (LONGLONG)get64(entry + 16),
                                .scale = (LONG)get32(entry + 24)};
    uint32_t index = get32(entry + 44), number;
    column.index = index == UINT32_MAX ? 0 : index;
    BUFFER_AUTO text = {0};
    /* reserve the memory for all texts, so that those that were added do not move */
    if (!buffer_reserve(&text, 5 * (2 * length + 4)))
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    column.machine = entry_text(entry, length, 28, &text);
    column.object = entry_text(entry, length, 32, &text);
    column.instance = entry_text(entry, length, 36, &text);
    column.parent = entry_text(entry, length, 40, &text);
    column.counter = entry_text(entry, length, 48, &text);
    column.kind = kind_of(get32(entry + 4), &column);
    PDH_STATUS status = columns_add(&file->log->columns, &column, &number);
    return status ? status : file_map_add(file, number);
}

PDH_STATUS catalogue_read(struct file *file, const unsigned char *body, size_t size,
                          uint64_t offset)
{
    /* skip the eight bytes that some records have first; an entry begins with its length, a
     * multiple of 8, and those bytes do not */
    size_t at = size >= 8 && get32(body) % 8 ? 8 : 0;
    while (size - at >= 8) {
        uint32_t length = get32(body + at);
        if (length < ENTRY_HEAD + 2 || length > size - at)
            return file_problem(
                file, (PDH_STATUS)PDH_BINARY_LOG_CORRUPT, offset,
                "entry %zu of the catalogue has an invalid length: %u; the counters "
                "from there on are skipped",
                file->mapped + 1, length);
        PDH_STATUS status = read_entry(file, body + at, length);
        if (status)
            return status;
        at += length;
    }
    return 0;
}

/* ---- values ---- */

/* Returns the status of a recorded value; new data becomes valid data. */
static DWORD status_of(DWORD cstatus)
{
    return cstatus == PDH_CSTATUS_NEW_DATA ? PDH_CSTATUS_VALID_DATA : cstatus;
}

/* False for bytes that cannot be a status: a status is 16 bits of code, and its severity. */
static bool is_status(DWORD cstatus)
{
    return !(cstatus & 0x3FFF0000);
}

/* The functions that read a value return false if it is damaged. */
static bool read_raw(const unsigned char *body, size_t size, struct log_value *value)
{
    /* longer than a raw value with its padding to 8 bytes: the bytes are not a raw value */
    if (size < RAW_SIZE || size >= RAW_SIZE + 8 || !is_status(get32(body)))
        return false;
    /* the layout of PDH_RAW_COUNTER on 64-bit Windows */
    value->kind = LOG_RAW;
    value->raw.CStatus = get32(body);
    value->status = status_of(value->raw.CStatus);
    memcpy(&value->raw.TimeStamp, body + 4, sizeof(FILETIME));
    value->raw.FirstValue = (LONGLONG)get64(body + 16);
    value->raw.SecondValue = (LONGLONG)get64(body + 24);
    value->raw.MultiCount = get32(body + 32);
    return true;
}

static bool make_items(struct item_array *array, size_t count)
{
    if (array->capacity >= count)
        return true;
    size_t capacity = count + count / 2;
    struct log_item *items = realloc(array->items, capacity * sizeof(*items));
    if (!items)
        return false;
    array->items = items;
    array->capacity = capacity;
    return true;
}

/* True if the array has the same names at the same offsets as the array before it, which is
 * usual. */
static bool same_names(const struct item_array *array, const unsigned char *body, size_t length,
                       size_t count)
{
    size_t names = ITEMS_HEAD + count * ITEM_SIZE;
    const unsigned char *before = (const unsigned char *)array->raw.data;
    if (array->count != count || array->raw.len != length ||
        memcmp(before + names, body + names, length - names) != 0)
        return false;
    for (size_t at = ITEMS_HEAD; at < names; at += ITEM_SIZE)
        if (get32(before + at) != get32(body + at))
            return false;
    return true;
}

/* True if the array has the names of the one before it in the same sample, as those of an object
 * usually do. */
static bool is_like_left(const struct file *file, size_t entry, const unsigned char *body,
                         size_t length, size_t count)
{
    const struct item_array *left = entry ? &file->arrays[entry - 1] : NULL;
    return left && left->turn == file->turn && file->map[entry - 1] + 1 == file->map[entry] &&
           same_names(left, body, length, count);
}

/* Copies the names of the array before it. */
static bool copy_names(struct item_array *array)
{
    const struct item_array *from = array - 1;
    buffer_clear(&array->raw);
    buffer_clear(&array->text);
    array->count = 0;
    if (!make_items(array, from->count) ||
        !buffer_add(&array->raw, from->raw.data, from->raw.len) ||
        !buffer_add(&array->text, from->text.data, from->text.len))
        return false;
    for (size_t i = 0; i < from->count; i++)
        array->items[i].name = array->text.data + (from->items[i].name - from->text.data);
    array->count = from->count;
    return true;
}

static bool take_names(struct item_array *array, const unsigned char *body, size_t length,
                       size_t count)
{
    buffer_clear(&array->raw);
    buffer_clear(&array->text);
    array->count = 0;
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t offset = get32(body + ITEMS_HEAD + i * ITEM_SIZE);
        capacity += 4;
        if (offset < length)
            capacity += 3 * units_at(body + offset, body + length);
        if (capacity > LIMIT_RECORD)
            return false;
    }
    if (!make_items(array, count) || !buffer_reserve(&array->text, capacity) ||
        !buffer_add(&array->raw, body, length))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t offset = get32(body + ITEMS_HEAD + i * ITEM_SIZE);
        const unsigned char *at = body + (offset < length ? offset : length);
        array->items[i].name = array->text.data + array->text.len;
        add_utf16(&array->text, at, units_at(at, body + length));
    }
    array->count = count;
    return true;
}

/* All names of an array belong after its last item: returns how many do not, plus 1 if there is
 * space for another item before the first name, because then `count` is too small. */
static size_t misplaced(const unsigned char *body, size_t length, size_t count)
{
    size_t names = ITEMS_HEAD + count * ITEM_SIZE, first = length, lost = 0;
    for (size_t at = ITEMS_HEAD; at < names; at += ITEM_SIZE) {
        uint32_t offset = get32(body + at);
        lost += offset < names || offset >= length;
        first = offset < first ? offset : first;
    }
    return lost + (first >= names + ITEM_SIZE);
}

static bool read_items(struct file *file, size_t entry, const unsigned char *body, size_t size,
                       struct log_value *value)
{
    struct item_array *array = &file->arrays[entry];
    /* names are compared only if the previous sample has an array of the same column */
    bool before = array->column == file->map[entry] && array->turn + 1 == file->turn;
    if (size < ITEMS_HEAD || !is_status(get32(body + 8)))
        return false;
    uint32_t length = get32(body), count = get32(body + 4);
    if (length < ITEMS_HEAD || length > size || count > (length - ITEMS_HEAD) / ITEM_SIZE)
        return false;
    bool same = same_names(array, body, length, count);
    bool like = !same && is_like_left(file, entry, body, length, count);
    if (!same && !(like ? copy_names(array) : take_names(array, body, length, count)))
        return false;
    file_lose(file, LOSS_VALUE, misplaced(body, length, count), "%.60s, names of instances",
              file->log->columns.list[file->map[entry]]->info.path);
    value->kind = LOG_ARRAY;
    value->same_names = same && before;
    value->like_left = like;
    for (uint32_t i = 0; i < count; i++) {
        const unsigned char *item = body + ITEMS_HEAD + (size_t)i * ITEM_SIZE;
        array->items[i].multi = get32(item + 4);
        array->items[i].first = (LONGLONG)get64(item + 8);
        array->items[i].second = (LONGLONG)get64(item + 16);
    }
    value->raw = (PDH_RAW_COUNTER){.CStatus = get32(body + 8)};
    memcpy(&value->raw.TimeStamp, body + 16, sizeof(FILETIME));
    value->status = status_of(value->raw.CStatus);
    value->items = array->items;
    value->count = count;
    array->column = file->map[entry];
    /* readers pass over a value with a status, so that they do not have these names */
    array->turn = value->status ? 0 : file->turn;
    return true;
}

static bool read_block(const unsigned char *body, size_t size, struct log_value *value)
{
    static const unsigned char signature[9] = {0, 'P', 0, 'E', 0, 'R', 0, 'F', 0};
    /* the block's signature may be in either byte order */
    if (size < 8 || (memcmp(body, signature + 1, 8) && memcmp(body, signature, 8)))
        return false;
    value->kind = LOG_BLOCK;
    value->status = PDH_CSTATUS_VALID_DATA;
    value->block = body;
    value->size = size;
    return true;
}

static void read_value(struct file *file, size_t entry, int kind, const unsigned char *body,
                       size_t size)
{
    uint32_t number = file->map[entry];
    struct column *column = file->log->columns.list[number];
    struct log_value *value = &file->values[number];
    if (column->unwanted) {
        value->status = PDH_NO_DATA;
        return;
    }
    *value = (struct log_value){.kind = column->info.kind, .status = PDH_CSTATUS_INVALID_DATA};
    bool good = kind == KIND_ONE     ? read_raw(body, size, value)
                : kind == KIND_ITEMS ? read_items(file, entry, body, size, value)
                : kind == KIND_BLOCK ? read_block(body, size, value)
                                     : false;
    if (!good)
        file_lose(file, LOSS_VALUE, 1, "%.60s, kind %d", column->info.path, kind);
    if (kind != KIND_BLOCK && (column->info.type & 0xc00) == TYPE_TEXT) {
        file_lose(file, LOSS_TYPE, !column->info.no_texts, "%s", column->info.path);
        column->info.no_texts = true;
    }
}

static bool is_piece(const unsigned char *body, size_t size, size_t at)
{
    return size >= VALUE_HEAD && at <= size - VALUE_HEAD && body[at] == 'B' &&
           body[at + 1] == 'L' && body[at + 2] == 3;
}

/* Returns where the next value begins: at `end`, the end of the value before; or at the next
 * multiple of 8, if a value begins only there. */
static size_t next_piece(const unsigned char *body, size_t size, size_t end)
{
    size_t aligned = (end + 7) & ~(size_t)7;
    return !is_piece(body, size, end) && is_piece(body, size, aligned) ? aligned : end;
}

bool sample_matches(const unsigned char *body, size_t size)
{
    return is_piece(body, size, 0) && body[3] == 0;
}

PDH_STATUS sample_read(struct file *file, const unsigned char *body, size_t size, uint64_t offset)
{
    PDH_STATUS status = file_make_values(file);
    if (status)
        return status;
    if (!sample_matches(body, size) || get32(body + 4) > size)
        return file_problem(file, (PDH_STATUS)PDH_BINARY_LOG_CORRUPT, offset,
                            "this sample has no header; it is skipped");
    bool more = size - get32(body + 4) >= VALUE_HEAD;
    size = get32(body + 4);
    file->turn++;
    size_t at = VALUE_HEAD, entry = 0;
    for (; entry < file->mapped && is_piece(body, size, at); entry++) {
        uint32_t length = get32(body + at + 4);
        if (length < VALUE_HEAD || length > size - at)
            break;
        read_value(file, entry, body[at + 3], body + at + VALUE_HEAD, length - VALUE_HEAD);
        at = next_piece(body, size, at + length);
    }
    if (entry == file->mapped && entry > 0) {
        if (more || is_piece(body, size, at))
            file_lose(file, LOSS_SURPLUS, 1, "in the sample at offset %llu",
                      (unsigned long long)offset);
        return 0;
    }
    return file_problem(file, (PDH_STATUS)PDH_BINARY_LOG_CORRUPT, offset,
                        "this sample ends early: %zu of %zu values; it is skipped", entry,
                        file->mapped);
}

/* ---- names ---- */

/* Reads pairs of index and name: "1", "1847", "2", "System", ... A record may end after an index;
 * then the next record begins with its name. */
static bool take_pairs(struct file *file, struct column_names *names, const char *at,
                       const char *end, uint64_t offset)
{
    while (end > at && !end[-1])
        end--;
    while (at < end) {
        const char *next = at + strlen(at) + 1;
        if (names->waits) {
            names->waits = false;
            if (!names_add(names, names->index, at))
                return false;
        } else if (text_decimal(at, strlen(at), &names->index)) {
            names->waits = true;
        } else {
            file_lose(file, LOSS_NAMES, 1, "'%.40s' at offset %llu", at,
                      (unsigned long long)offset);
        }
        at = next;
    }
    return true;
}

/* Reads a record with names of a machine: the machine's name, then pairs. */
PDH_STATUS names_read(struct file *file, const unsigned char *body, size_t size, uint64_t offset)
{
    const unsigned char *at = body, *end = body + size;
    BUFFER_AUTO text = {0};
    while (end - at >= 2) {
        size_t units = units_at(at, end);
        if (!add_utf16(&text, at, units))
            break;
        at += 2 * units;
        at += end - at >= 2 ? 2 : 0;
    }
    if (text.failed)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (!text.data)
        return file_problem(file, (PDH_STATUS)PDH_BINARY_LOG_CORRUPT, offset,
                            "a table of names without a machine; it is skipped");
    struct column_names *names = names_of(file->log, text.data);
    bool good = names && take_pairs(file, names, text.data + strlen(text.data) + 1,
                                    text.data + text.len, offset);
    return good ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}
