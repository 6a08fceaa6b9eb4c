/* SPDX-License-Identifier: MIT */
/*
 * Rows and objects on this machine. At Open a row gets its source, keys and unit, and an object the
 * rows that exist, their offsets in the counter block, and the definitions, stored as the bytes
 * with which every answer begins. Later rows are read, and objects written.
 */
#include "object/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- rows ---- */

/* clang-format off */
static const struct type_pair {
    DWORD type, base;
} base_types[] = {
    {PERF_RAW_FRACTION,          PERF_RAW_BASE},
    {PERF_LARGE_RAW_FRACTION,    PERF_LARGE_RAW_BASE},
    {PERF_SAMPLE_FRACTION,       PERF_SAMPLE_BASE},
    {PERF_AVERAGE_TIMER,         PERF_AVERAGE_BASE},
    {PERF_AVERAGE_BULK,          PERF_AVERAGE_BASE},
    {PERF_PRECISION_SYSTEM_TIMER, PERF_PRECISION_TIMESTAMP},
    {PERF_PRECISION_100NS_TIMER, PERF_PRECISION_TIMESTAMP},
    {PERF_PRECISION_OBJECT_TIMER, PERF_PRECISION_TIMESTAMP},
};
/* clang-format on */

/* Returns the type of the base; 0: the type has no base. */
static DWORD row_base_type(DWORD type)
{
    for (size_t i = 0; i < COUNT(base_types); i++)
        if (base_types[i].type == type)
            return base_types[i].base;
    return 0;
}

/* Returns the size of a value in bytes; 0: tables cannot have counters of this type. Average timers
 * have 8 bytes, as on Windows, although the size bits of their type mean 4. */
static DWORD row_size(DWORD type)
{
    if (type == PERF_AVERAGE_TIMER)
        return 8;
    if (type & PERF_MULTI_COUNTER || (type & 0xc00) == PERF_TYPE_TEXT)
        return 0;
    DWORD size = type & 0x300;
    return size == PERF_SIZE_DWORD ? 4 : size == PERF_SIZE_LARGE ? 8 : 0;
}

static uint64_t unit_number(int64_t number)
{
    if (number == OPL_RUNTIME_PAGE)
        return (uint64_t)sysconf(_SC_PAGESIZE);
    if (number == OPL_RUNTIME_HZ)
        return (uint64_t)sysconf(_SC_CLK_TCK);
    return (uint64_t)number;
}

static LSTATUS wrong(struct row *row, const char *why)
{
    row->why = why;
    return ERROR_INVALID_PARAMETER;
}

/* Copies the unit of the row's counter; {0, 0}, a unit that is not set, means 1. */
static LSTATUS row_init_unit(struct row *row)
{
    opl_unit unit = row->value->unit;
    if (unit.times < OPL_RUNTIME_HZ || unit.parts < OPL_RUNTIME_HZ || !unit.times != !unit.parts)
        return wrong(row, "its unit is not a fraction: `times` or `parts` is 0 or unknown");
    row->times = unit.times ? unit_number(unit.times) : 1;
    row->parts = unit.parts ? unit_number(unit.parts) : 1;
    if (row->times % row->parts == 0) {
        row->times /= row->parts;
        row->parts = 1;
    }
    return ERROR_SUCCESS;
}

static LSTATUS row_add_term(struct row *row, const char *word, size_t length, bool minus)
{
    bool optional = length > 1 && word[length - 1] == '?';
    struct source_key *key = source_add_key(row->source, word, length - optional);
    if (!key)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (row->term_count == OBJECT_MAX_TERMS)
        return wrong(row, "it adds more than four keys");
    row->terms[row->term_count++] = (struct term){
        .key = (size_t)(key - row->source->keys), .minus = minus, .optional = optional};
    return ERROR_SUCCESS;
}

/* Parses the row's key: "one", "one + other" or "one - other", with blanks around the signs. */
static LSTATUS row_init_keys(struct row *row)
{
    const char *cursor = row->value->key, *word;
    size_t length;
    bool minus = false, sign = true;
    while ((word = text_word(&cursor, &length))) {
        if (!sign) {
            if (length != 1 || (*word != '+' && *word != '-'))
                return wrong(row, "between two keys there must be + or -");
            minus = *word == '-';
            sign = true;
            continue;
        }
        LSTATUS status = row_add_term(row, word, length, minus);
        if (status)
            return status;
        sign = false;
    }
    return row->term_count && !sign ? ERROR_SUCCESS : wrong(row, "a key is missing");
}

static LSTATUS row_init_columns(struct row *row)
{
    unsigned most = row->value->column > row->value->plus ? row->value->column : row->value->plus;
    if (!row->value->column || most > OBJECT_MAX_WORDS)
        return wrong(row, "the number of a word must be 1 to 64");
    source_request_word(row->source, row->value->column);
    if (row->value->plus)
        source_request_word(row->source, row->value->plus);
    return ERROR_SUCCESS;
}

/* Checks a variable or member. A text gets as many UTF-16 units as its variable has bytes, because
 * conversion never needs more; or fewer, if its unit says so. */
static LSTATUS row_init_memory(struct row *row)
{
    size_t size = row->value->size, units = (size_t)row->value->unit.times;
    if (row->text && !row->is_base && size > 0 && size <= OBJECT_MAX_TEXT)
        row->size = (DWORD)(units > 0 && units < size ? units : size) * 2;
    else if (row->text)
        return wrong(row, "a text must have at most 1024 bytes, and no base");
    else if (size != 1 && size != 2 && size != 4 && size != 8)
        return wrong(row, "a variable or field must have 1, 2, 4 or 8 bytes");
    return ERROR_SUCCESS;
}

/* Checks the `item`, a number that replaces the row's value. A row with a base must not have one,
 * because its base would be read at another time. */
static LSTATUS row_init_item(struct row *row)
{
    const opl_value *item = &row->is->item;
    if (!item->size)
        return ERROR_SUCCESS;
    if (row->is_base || row_base_type(row->type) || row->text)
        return wrong(row, "a row with a base, or of a text, must not have an `item`");
    if (item->variable || item->source || (item->size != 4 && item->size != 8))
        return wrong(row, "an item must be an OPL_FIELD of 4 or 8 bytes");
    return ERROR_SUCCESS;
}

/* Sets the row's source, keys and unit from the table's counter. */
static LSTATUS row_init(struct row *row, opl_provider *provider, const opl_counter *is,
                        bool is_base)
{
    memset(row, 0, sizeof *row);
    row->is = is;
    row->is_base = is_base;
    row->value = is_base ? &is->base : &is->value;
    row->type = is_base ? row_base_type(is->type) : is->type;
    row->size = row_size(row->type);
    row->total = is->total;
    row->text = row->type == PERF_COUNTER_TEXT;
    /* true at first if the list function sets the value, because no reading can show that the row
     * is absent */
    row->seen = !row->value->source && !row->value->function && !row->value->size;
    LSTATUS status = row->value->size ? row_init_memory(row) : row_init_item(row);
    if (!status)
        status = row->size   ? row_init_unit(row)
                 : row->text ? wrong(row, "a text needs OPL_VARIABLE or OPL_FIELD")
                             : wrong(row, "tables do not support this counter type");
    if (status || !row->value->source)
        return status;
    row->source = source_of(provider, row->value->source);
    if (!row->source)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (row->value->function)
        return ERROR_SUCCESS;
    return row->value->key ? row_init_keys(row) : row_init_columns(row);
}

/* ---- reading a row ---- */

static uint64_t row_unit(const struct row *row, uint64_t number)
{
    if (row->parts == 1)
        return number * row->times;
    return number / row->parts * row->times + number % row->parts * row->times / row->parts;
}

static enum row_result row_read_keys(const struct row *row, opl_reading *reading, uint64_t *ret)
{
    uint64_t sum = 0;
    enum row_result result = ROW_READ;
    const struct source *source = row->source;
    unsigned column = row->value->column;
    /* the row before may have found the keys already */
    bool loaded = source->star && source->keys_for == reading->serial;
    if (!loaded && source_load_keys(reading, row->source))
        return ROW_UNREADABLE;
    for (unsigned i = 0; i < row->term_count; i++) {
        const struct source_key *key = &row->source->keys[row->terms[i].key];
        uint64_t number = !key->at ? 0 : column <= 1 ? key->number : key_number(key, column);
        if (!key->at && !row->terms[i].optional)
            result = ROW_ABSENT;
        sum += row->terms[i].minus ? -number : number;
    }
    *ret = row_unit(row, sum);
    return result;
}

static enum row_result row_read_columns(const struct row *row, opl_reading *reading, uint64_t *ret)
{
    const struct source *source = row->source;
    /* the row before may have split the words already */
    bool loaded = source->star && source->words_for == reading->serial;
    if (!loaded && source_load_words(reading, row->source, 0))
        return ROW_UNREADABLE;
    if (!source_has_number(source, row->value->column) ||
        (row->value->plus && !source_has_number(source, row->value->plus)))
        return ROW_UNREADABLE;
    uint64_t sum = source->words[row->value->column];
    if (row->value->plus)
        sum += source->words[row->value->plus];
    *ret = row_unit(row, sum);
    return ROW_READ;
}

static uint64_t memory_number(const void *at, size_t size)
{
    uint64_t wide;
    uint32_t dword;
    uint16_t word;
    switch (size) {
    case 1:
        return *(const uint8_t *)at;
    case 2:
        return memcpy(&word, at, size), word;
    case 4:
        return memcpy(&dword, at, size), dword;
    default:
        return memcpy(&wide, at, sizeof wide), wide;
    }
}

enum row_result row_read(const struct row *row, opl_reading *reading, uint64_t *ret)
{
    const opl_value *value = row->value, *item = &row->is->item;
    if (item->size && reading->item) { /* the list function passed the number */
        *ret = memory_number((const char *)reading->item + item->offset, item->size);
        return ROW_READ;
    }
    *ret = 0;
    if (value->size) {
        const char *at = value->variable;
        if (!at && reading->item)
            at = (const char *)reading->item + value->offset;
        if (!at)
            return ROW_UNREADABLE;
        /* the value of a text is its address; the text is converted when it is written */
        *ret = row->text ? (uint64_t)(uintptr_t)at : row_unit(row, memory_number(at, value->size));
        return ROW_READ;
    }
    if (value->function)
        return value->function(reading, ret) ? ROW_READ : ROW_UNREADABLE;
    if (!row->source) /* the list function set the value with opl_listing_set */
        return ROW_READ;
    return value->key ? row_read_keys(row, reading, ret) : row_read_columns(row, reading, ret);
}

/* ---- objects ---- */

static size_t rows_with_bases(const opl_object *is)
{
    size_t count = is->counter_count;
    for (size_t i = 0; i < is->counter_count; i++)
        count += row_base_type(is->counters[i].type) != 0;
    return count;
}

static LSTATUS refuse(const opl_object *object, const char *counter, const char *why)
{
    event_log("Perflib", 4004, NULL,
              EVENT_FIELDS(EVENT_TEXT("Object", object->name), EVENT_TEXT("Counter", counter),
                           EVENT_TEXT("Reason", why)),
              NULL);
    return ERROR_INVALID_PARAMETER;
}

static LSTATUS object_add_row(struct object *object, opl_provider *provider,
                              const opl_counter *counter, bool is_base)
{
    struct row *row = &object->rows[object->row_count];
    LSTATUS status = row_init(row, provider, counter, is_base);
    if (status == ERROR_INVALID_PARAMETER)
        return refuse(object->is, counter->name ? counter->name : "a row without name", row->why);
    if (!status)
        object->row_count++;
    return status;
}

LSTATUS object_init(struct object *object, opl_provider *provider, const opl_object *is,
                    const opl_object *address)
{
    LSTATUS status = ERROR_SUCCESS;
    size_t count = rows_with_bases(is);
    object->is = is;
    object->address = address;
    object->listing.provider = provider;
    object->listing.object = object;
    if (count > OBJECT_MAX_ROWS)
        return refuse(is, "all rows",
                      "an object must have at most 256 counters, base counters included");
    if (is->instances && !is->lines.source && !is->list && !is->listed_with)
        return refuse(is, "its instances",
                      "nothing lists its instances: lines, list or listed_with is missing");
    /* a row that is no base follows the last one */
    object->rows = calloc(count + 1, sizeof *object->rows);
    if (!object->rows)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; i < is->counter_count && !status; i++) {
        status = object_add_row(object, provider, &is->counters[i], false);
        if (!status && row_base_type(is->counters[i].type))
            status = object_add_row(object, provider, &is->counters[i], true);
    }
    if (!status && is->lines.source && !source_of(provider, is->lines.source))
        status = ERROR_NOT_ENOUGH_MEMORY;
    object->all_rows = object->row_count;
    object->mask_words = (object->row_count + 63) / 64;
    return status;
}

/* True if the row and its partner (its base, or the row whose base it is) could both be read: they
 * are kept or dropped together. */
static bool row_pair_seen(const struct object *object, size_t position)
{
    const struct row *row = &object->rows[position];
    if (row->is_base)
        return row->seen && row[-1].seen;
    return row->seen && (!row[1].is_base || row[1].seen);
}

static void object_drop_absent(struct object *object)
{
    bool seen[OBJECT_MAX_ROWS];
    size_t kept = 0;
    for (size_t i = 0; i < object->row_count; i++)
        seen[i] = row_pair_seen(object, i);
    for (size_t i = 0; i < object->row_count; i++) {
        if (seen[i])
            object->rows[kept++] = object->rows[i];
        else if (!object->rows[i].is_base)
            trace("object", "%s: no \"%s\" here", object->is->name, object->rows[i].is->name);
    }
    object->row_count = kept;
    object->rows[kept].is_base = false;
    object->mask_words = (kept + 63) / 64;
}

/* Places the values in the order of their rows. 8-byte values are aligned; the 4-byte gap that this
 * may leave is used by the next 4-byte value. */
static void object_place_rows(struct object *object)
{
    DWORD at = sizeof(PERF_COUNTER_BLOCK), hole = 0;
    for (size_t i = 0; i < object->row_count; i++) {
        struct row *row = &object->rows[i];
        if (row->hidden)
            continue;
        if (row->size == 4 && hole) {
            row->offset = hole;
            hole = 0;
            continue;
        }
        if (row->size == 8 && at % 8) {
            hole = at;
            at += 4;
        }
        row->offset = at;
        at += (row->size + 3) / 4 * 4; /* a text's size may be any number of bytes */
    }
    object->block_size = (at + 7) / 8 * 8;
}

/* Returns how a row's value is written: 32-bit counters are truncated, because formulas expect them
 * to wrap around; other values that need more than 32 bits become the largest number. */
static struct cell row_cell(const struct row *row)
{
    struct cell cell = {.item = (uint32_t)row->is->item.offset, .offset = row->offset};
    bool of_fraction = row->is_base && row->type == PERF_RAW_BASE;
    if (row->hidden)
        cell.format = CELL_HIDDEN;
    else if (row->type == PERF_RAW_FRACTION || of_fraction || row->text)
        cell.format = CELL_OTHER;
    else if (row->size == 8)
        cell.format = CELL_LARGE;
    else
        cell.format = (row->type & 0xc00) == PERF_TYPE_COUNTER ? CELL_COUNTER : CELL_LEVEL;
    return cell;
}

static void object_make_cells(struct object *object)
{
    object->items = object->row_count > 0;
    for (size_t i = 0; i < object->row_count; i++) {
        object->cells[i] = row_cell(&object->rows[i]);
        object->items &= object->rows[i].is->item.size == sizeof(uint64_t);
    }
}

static void object_write_type(const struct object *object, const opl_provider *provider,
                              LONG default_position, DWORD level)
{
    PERF_OBJECT_TYPE type = {
        .DefinitionLength = object->definition_size,
        .HeaderLength = sizeof type,
        .ObjectNameTitleIndex = object->is->index + provider->first_counter,
        .ObjectHelpTitleIndex = object->is->help_index + provider->first_help,
        .DetailLevel = level,
        .NumCounters = (DWORD)object->shown,
        .DefaultCounter = default_position,
        .NumInstances = PERF_NO_INSTANCES,
    };
    type.PerfFreq.QuadPart = object->is->clock ? CLOCK_TICKS_PER_SECOND : 0;
    memcpy(object->definition, &type, sizeof type);
}

static void object_write_counter(const struct object *object, const struct row *row,
                                 size_t position, const opl_provider *provider)
{
    PERF_COUNTER_DEFINITION definition = {
        .ByteLength = sizeof definition,
        .CounterNameTitleIndex = row->is->index + provider->first_counter,
        .CounterHelpTitleIndex = row->is->help_index + provider->first_help,
        .DefaultScale = row->is_base ? 0 : row->is->scale,
        .DetailLevel = row->is->level,
        .CounterType = row->type,
        .CounterSize = row->size,
        .CounterOffset = row->offset,
    };
    memcpy(object->definition + sizeof(PERF_OBJECT_TYPE) + position * sizeof definition,
           &definition, sizeof definition);
}

/* Determines the offsets and writes the definitions of the rows that are not hidden.
 * object->definition must have space for the definitions of all rows. */
static void object_lay_out(struct object *object, const opl_provider *provider)
{
    DWORD level = PERF_DETAIL_WIZARD;
    LONG default_position = -1;
    object_place_rows(object);
    object_make_cells(object);
    object->shown = 0;
    for (size_t i = 0; i < object->row_count; i++) {
        const struct row *row = &object->rows[i];
        if (row->hidden)
            continue;
        if (default_position < 0 && !row->is_base && row->is->index == object->is->default_counter)
            default_position = (LONG)object->shown;
        if (row->is->level < level)
            level = row->is->level;
        object_write_counter(object, row, object->shown++, provider);
    }
    object->definition_size =
        (DWORD)(sizeof(PERF_OBJECT_TYPE) + object->shown * sizeof(PERF_COUNTER_DEFINITION));
    if (default_position < 0 && object->shown)
        default_position = 0;
    object_write_type(object, provider, default_position,
                      object->shown ? level : (DWORD)PERF_DETAIL_NOVICE);
}

LSTATUS object_fix(struct object *object, const opl_provider *provider)
{
    object_drop_absent(object);
    object->cells = calloc(object->row_count + 1, sizeof *object->cells);
    object->definition =
        malloc(sizeof(PERF_OBJECT_TYPE) + object->row_count * sizeof(PERF_COUNTER_DEFINITION));
    if (!object->cells || !object->definition)
        return ERROR_NOT_ENOUGH_MEMORY;
    object_lay_out(object, provider);
    return ERROR_SUCCESS;
}

/* Records the counters that this user may not read, as "Object: counter, counter", for the thread
 * that queries; tools show them. */
static void note_denied(const struct object *object)
{
    char *text = denied_here;
    size_t used = strlen(object->is->name), any = 0;
    bool ours = strncmp(text, object->is->name, used) == 0 && text[used] == ':';
    for (size_t i = 0; i < object->row_count; i++) {
        const struct row *row = &object->rows[i];
        if (!row->denied || row->is_base || used >= DENIED_SIZE)
            continue;
        if (!any++)
            snprintf(text, DENIED_SIZE, "%s:", object->is->name);
        used = strlen(text);
        snprintf(text + used, DENIED_SIZE - used, "%s %s", any > 1 ? "," : "", row->is->name);
    }
    if (!any && ours)
        *text = 0;
}

bool object_hide_denied(struct object *object, const opl_provider *provider)
{
    bool changed = false, denied = false, complete = true;
    for (size_t i = 0; i < object->row_count; i++) {
        struct row *row = &object->rows[i];
        denied |= row->denied;
        complete &= !row->unwanted;
        const struct row *partner = row->is_base ? row - 1 : row[1].is_base ? row + 1 : row;
        bool hidden = row->unwanted || row->unread || partner->unread;
        if (hidden == row->hidden)
            continue;
        row->hidden = hidden;
        changed = true;
        if (!row->is_base)
            trace("object", "%s: \"%s\" is %s", object->is->name, row->is->name,
                  row->unwanted ? "left out: the query does not need it"
                  : hidden ? "left out: it cannot be read for every instance (root may read more)"
                           : "there again");
    }
    if (changed)
        object_lay_out(object, provider);
    if (denied || (complete && *denied_here))
        note_denied(object);
    return object->shown > 0;
}

void object_done(struct object *object)
{
    listing_done(&object->listing);
    free(object->rows);
    free(object->cells);
    free(object->definition);
}

/* ---- the binary format ---- */

/* Writes the binary format: the definitions made at Open, then the listing's instances. Sizes are
 * known before the first byte is written. */

static size_t instance_size(const struct instance *instance)
{
    return (sizeof(PERF_INSTANCE_DEFINITION) + (instance->name_units + 1) * 2 + 7) / 8 * 8;
}

size_t object_size(const struct object *object)
{
    const opl_listing *listing = &object->listing;
    size_t size = object->definition_size;
    if (object->is->instances)
        for (size_t i = 0; i < listing->count; i++)
            size += instance_size(&listing->instances[i]);
    /* an object without instances is followed by the space of one counter block, because some
     * readers look for one after its definitions and would read past the end */
    return size + (listing->count ? listing->count : 1) * object->block_size;
}

/* Writes the text as UTF-16. The block is zeroed before, so the text needs no terminator. */
static void write_text(const struct row *row, uint64_t value, unsigned char *out)
{
    const char *text = (const char *)(uintptr_t)value;
    uint16_t units[OBJECT_MAX_TEXT];
    size_t capacity = row->size / 2 - 1;
    size_t count = text ? utf8_to_16(text, strnlen(text, row->value->size), units, capacity) : 0;
    memcpy(out + row->offset, units, (count < capacity ? count : capacity) * 2);
}

static void write_block(const struct object *object, const uint64_t *values, unsigned char *block)
{
    memset(block, 0, object->block_size);
    memcpy(block, &object->block_size, sizeof object->block_size);
    for (size_t i = 0; i < object->row_count; i++) {
        const struct cell *cell = &object->cells[i];
        const struct row *row = &object->rows[i];
        uint64_t value = values[i];
        if (cell->format == CELL_LARGE) {
            memcpy(block + cell->offset, &value, sizeof value);
        } else if (cell->format == CELL_COUNTER || cell->format == CELL_LEVEL) {
            bool limited = cell->format == CELL_LEVEL && value > UINT32_MAX;
            DWORD dword = limited ? UINT32_MAX : (DWORD)value;
            memcpy(block + cell->offset, &dword, sizeof dword);
        } else if (cell->format == CELL_OTHER && row->type == PERF_RAW_FRACTION) {
            /* with its base: both parts are shifted right until they fit into 32 bits */
            uint64_t whole = values[i + 1];
            for (; (value | whole) > UINT32_MAX; value >>= 1, whole >>= 1)
                ;
            DWORD parts[] = {(DWORD)value, (DWORD)whole};
            memcpy(block + row[0].offset, &parts[0], sizeof parts[0]);
            memcpy(block + row[1].offset, &parts[1], sizeof parts[1]);
        } else if (cell->format == CELL_OTHER && row->text) {
            write_text(row, value, block);
        }
    }
}

static unsigned char *write_instance(const opl_listing *listing, size_t position,
                                     unsigned char *out)
{
    const struct instance *instance = &listing->instances[position];
    PERF_INSTANCE_DEFINITION definition = {
        .ByteLength = (DWORD)instance_size(instance),
        .ParentObjectTitleIndex = instance->parent_object,
        .ParentObjectInstance = instance->parent,
        .UniqueID = PERF_NO_UNIQUE_ID,
        .NameOffset = sizeof definition,
        .NameLength = (instance->name_units + 1) * 2,
    };
    memset(out + definition.ByteLength - 8, 0, 8);
    memcpy(out, &definition, sizeof definition);
    memcpy(out + sizeof definition, listing->names + instance->name, instance->name_units * 2);
    memset(out + sizeof definition + instance->name_units * 2, 0, 2);
    return out + definition.ByteLength;
}

unsigned char *object_write(const struct object *object, unsigned char *out, LONGLONG now)
{
    const opl_listing *listing = &object->listing;
    PERF_OBJECT_TYPE type;
    memcpy(out, object->definition, object->definition_size);
    memcpy(&type, out, sizeof type);
    type.TotalByteLength = (DWORD)object_size(object);
    type.NumInstances = object->is->instances ? (LONG)listing->count : PERF_NO_INSTANCES;
    type.PerfTime.QuadPart = object->is->clock ? now : 0;
    memcpy(out, &type, sizeof type);

    unsigned char *at = out + object->definition_size;
    for (size_t i = 0; i < listing->count; i++) {
        if (object->is->instances)
            at = write_instance(listing, i, at);
        write_block(object, listing->values + i * object->all_rows, at);
        at += object->block_size;
    }
    if (listing->count == 0)
        memset(at, 0, object->block_size);
    return out + type.TotalByteLength;
}
