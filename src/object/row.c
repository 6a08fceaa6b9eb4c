/* SPDX-License-Identifier: MIT */
/* One counter on this machine: a row of a table, with source, keys and unit resolved at Open. */
#include "object/object.h"

#include <string.h>
#include <unistd.h>

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

DWORD row_base_type(DWORD type)
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
        return wrong(row, "its unit is not a fraction: one of times and parts is 0 or unknown");
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

LSTATUS row_init(struct row *row, opl_provider *provider, const opl_counter *is, bool is_base)
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

/* ---- reading ---- */

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
