/* SPDX-License-Identifier: MIT */
/* Queries the objects Behemoth and Behemoths Summary at once, and walks through the answer with
 * checks, because the answer is not trusted. */
#include "reader.h"

#include "../common/text.h"

#include <pdh.h>
#include <pdhmsg.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

enum { SMALLEST_SIZE = 65536, LARGEST_SIZE = 256 << 20, TITLE_BYTES = 128 };

/* ---- language bases ---- */

/* The size of an answer is not known before: if the buffer is too small, the query is repeated with
 * a larger buffer. */
static LSTATUS query(HKEY data, const char *what, BYTE **block, DWORD *capacity, DWORD *ret_size)
{
    for (;;) {
        *ret_size = *capacity;
        LSTATUS status = *capacity > 0 ? RegQueryValueExA(data, what, NULL, NULL, *block, ret_size)
                                       : ERROR_MORE_DATA;
        if (status != ERROR_MORE_DATA || *capacity >= LARGEST_SIZE)
            return status;
        DWORD larger = *capacity > 0 ? *capacity * 2 : SMALLEST_SIZE;
        BYTE *moved = realloc(*block, larger);
        if (!moved)
            return ERROR_NOT_ENOUGH_MEMORY;
        *block = moved;
        *capacity = larger;
    }
}

static LSTATUS base_read(struct base *base, HKEY data, const char *language)
{
    char what[32];
    DWORD capacity = 0;
    BYTE *block = NULL;
    snprintf(what, sizeof what, "Counter %s", language);
    LSTATUS status = query(data, what, &block, &capacity, &base->size);
    base->text = status ? NULL : realloc(block, (size_t)base->size + 1);
    if (!base->text) {
        free(block);
        return status ? status : ERROR_NOT_ENOUGH_MEMORY;
    }
    base->text[base->size] = 0;
    return ERROR_SUCCESS;
}

/* The list is not trusted: it may end in the middle of an index or title. */
bool base_next(const struct base *base, struct base_title *title)
{
    const char *number = title->next ? title->next : base->text, *end = base->text + base->size;
    if (number >= end || !*number)
        return false;
    const char *text = number + strlen(number) + 1;
    if (text >= end)
        return false;
    *title =
        (struct base_title){(uint32_t)strtoul(number, NULL, 10), text, text + strlen(text) + 1};
    return true;
}

/* Finds the provider's First Counter by its objects' titles in a language base: another machine
 * does not show its services, but every user that may read counters may read its language bases.
 * Another provider may have an object with one of our two titles, but not two objects with both
 * titles and the same distance between their numbers. */
static LSTATUS find_first(const struct base *base, DWORD *ret)
{
    for (struct base_title herd = {0}; base_next(base, &herd);) {
        if (strcmp(herd.text, "Behemoth") != 0)
            continue;
        for (struct base_title other = {0}; base_next(base, &other);) {
            if (other.index - herd.index == BEHEMOTHS_SUMMARY &&
                strcmp(other.text, "Behemoths Summary") == 0) {
                *ret = herd.index;
                return ERROR_SUCCESS;
            }
        }
    }
    return ERROR_FILE_NOT_FOUND;
}

LSTATUS reader_open(struct reader *reader, const char *machine)
{
    struct base base;
    *reader = (struct reader){.data = machine ? NULL : HKEY_PERFORMANCE_DATA};
    LSTATUS status = machine ? RegConnectRegistryA(machine, HKEY_PERFORMANCE_DATA, &reader->data)
                             : ERROR_SUCCESS;
    if (!status)
        status = base_read(&base, reader->data, "009");
    if (status)
        return status;
    status = find_first(&base, &reader->first);
    free(base.text);
    return status;
}

void reader_close(struct reader *reader)
{
    if (reader->data)
        RegCloseKey(reader->data);
    free(reader->block);
    free(reader->all);
    free(reader->spare);
    *reader = (struct reader){0};
}

static LSTATUS add_titles(struct titles *titles, const struct reader *reader, const char *language)
{
    struct base base;
    char clean[TITLE_BYTES];
    LSTATUS status = base_read(&base, reader->data, language);
    if (status)
        return status;
    for (struct base_title title = {0}; base_next(&base, &title);) {
        uint32_t symbol = title.index - reader->first;
        if (symbol / 2 >= READER_SYMBOLS || symbol % 2 != 0 || titles->of[symbol / 2])
            continue;
        text_clean(title.text, clean, sizeof clean);
        titles->of[symbol / 2] = strdup(clean);
    }
    free(base.text);
    return ERROR_SUCCESS;
}

LSTATUS titles_load(struct titles *titles, const struct reader *reader, const char *language)
{
    *titles = (struct titles){0};
    snprintf(titles->language, sizeof titles->language, "%s", language);
    LSTATUS status = add_titles(titles, reader, language);
    /* English titles replace missing ones */
    return status ? status : add_titles(titles, reader, "009");
}

void titles_free(struct titles *titles)
{
    for (size_t i = 0; i < READER_SYMBOLS; i++)
        free(titles->of[i]);
    *titles = (struct titles){0};
}

const char *titles_get(const struct titles *titles, unsigned symbol)
{
    static char number[16];
    snprintf(number, sizeof number, "+%u", symbol);
    return titles->of[symbol / 2] ? titles->of[symbol / 2] : number;
}

const char *titles_unit(const struct titles *titles, const char *english)
{
    static const char *const russian[][2] = {
        {"kg", "кг"},
        {"l",  "л"  },
        {"m",  "м"  },
        {"s",  "с"  }
    };
    for (size_t i = 0; strcmp(titles->language, "019") == 0 && i < 4; i++) {
        if (strcmp(russian[i][0], english) == 0)
            return russian[i][1];
    }
    return english;
}

void titles_languages(const char *machine, char out[READER_LANGUAGES])
{
    HKEY registry = HKEY_LOCAL_MACHINE, perflib;
    char name[8];
    DWORD size = sizeof name;
    size_t used = 0;
    out[0] = 0;
    if (machine && RegConnectRegistryA(machine, HKEY_LOCAL_MACHINE, &registry))
        return;
    if (RegOpenKeyExA(registry, PERFLIB, 0, KEY_READ, &perflib) == ERROR_SUCCESS) {
        for (DWORD i = 0; RegEnumKeyExA(perflib, i, name, &size, NULL, NULL, NULL, NULL) == 0;
             i++) {
            if (name[strspn(name, "0123456789abcdefABCDEF")] == 0 &&
                used + size + 2 < READER_LANGUAGES)
                used += (size_t)snprintf(out + used, READER_LANGUAGES - used, "%s%s",
                                         used > 0 ? " " : "", name);
            size = sizeof name;
        }
        RegCloseKey(perflib);
    }
    if (machine)
        RegCloseKey(registry);
}

/* ---- the answer ---- */

/* The counter definitions of an object by symbol, found once for all instances. */
struct columns {
    opl_counter_view of[READER_SYMBOLS];
    bool has[READER_SYMBOLS];
};

static bool find_columns(const struct reader *reader, opl_block *block, unsigned symbol,
                         opl_object_view *object, struct columns *ret)
{
    opl_counter_view counter = {0};
    *ret = (struct columns){0};
    if (!opl_block_find_object(block, reader->first + symbol, object))
        return false;
    while (opl_object_next_counter(block, object, &counter)) {
        DWORD i = (counter.definition.CounterNameTitleIndex - reader->first) / 2;
        /* skips a base counter, which has the same title as its counter */
        if (i >= READER_SYMBOLS || ret->has[i])
            continue;
        ret->of[i] = counter;
        ret->has[i] = true;
    }
    return true;
}

/* Reads the values of a behemoth. A value that is missing for one behemoth is not shown for any
 * behemoth. */
static void read_values(const opl_block *block, const opl_instance_view *instance,
                        struct columns *columns, uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        columns->has[i] =
            columns->has[i] && opl_counter_number(block, instance, &columns->of[i], &value);
        values[i] = value;
    }
}

static LSTATUS read_herd(struct reader *reader, opl_block *block)
{
    struct columns columns;
    opl_object_view object = {0};
    opl_instance_view instance = {0};
    if (!find_columns(reader, block, BEHEMOTH, &object, &columns))
        return ERROR_FILE_NOT_FOUND;
    reader->time = object.type.PerfTime.QuadPart;
    reader->frequency = object.type.PerfFreq.QuadPart;
    for (reader->count = 0; opl_object_next_instance(block, &object, &instance); reader->count++) {
        if (reader->count == reader->capacity) {
            size_t capacity = reader->capacity > 0 ? reader->capacity * 2 : 64;
            struct reader_behemoth *all = realloc(reader->all, capacity * sizeof *all);
            if (!all)
                return ERROR_NOT_ENOUGH_MEMORY;
            reader->all = all;
            reader->capacity = capacity;
        }
        struct reader_behemoth *one = &reader->all[reader->count];
        const PERF_INSTANCE_DEFINITION *is = &instance.definition;
        bool has_mother = is->ParentObjectTitleIndex == reader->first + BEHEMOTH;
        memset(one->name, 0, sizeof one->name);
        opl_instance_name(block, &object, &instance, one->name, sizeof one->name);
        one->mother = has_mother ? (int64_t)is->ParentObjectInstance : NO_MOTHER;
        read_values(block, &instance, &columns, one->values, READER_VALUES);
    }
    for (size_t i = 0; i < READER_VALUES; i++) {
        reader->has[i] = columns.has[i];
        for (size_t j = 0; j < reader->count && !columns.has[i]; j++)
            reader->all[j].values[i] = 0;
    }
    return ERROR_SUCCESS;
}

static LSTATUS read_summary(struct reader *reader, opl_block *block)
{
    struct columns columns;
    opl_object_view object = {0};
    opl_instance_view instance = {0};
    if (!find_columns(reader, block, BEHEMOTHS_SUMMARY, &object, &columns) ||
        !opl_object_next_instance(block, &object, &instance))
        return ERROR_FILE_NOT_FOUND;
    read_values(block, &instance, &columns, reader->summary, READER_SYMBOLS);
    for (size_t i = 0; i < READER_SYMBOLS; i++) {
        struct reader_pair *pair = &reader->pairs[i];
        pair->was_there = pair->there;
        pair->before = pair->now;
        pair->there = columns.has[i] &&
                      opl_counter_sample(block, &object, &instance, &columns.of[i], &pair->now);
    }
    return ERROR_SUCCESS;
}

/* Reads into separate memory; the shown data is replaced only if the whole answer is valid. */
LSTATUS reader_take(struct reader *reader, const void *data, size_t size)
{
    opl_block block;
    struct reader fresh = *reader;
    fresh.all = reader->spare;
    fresh.capacity = reader->spare_capacity;
    if (opl_block_init(&block, data, size) != OPL_BLOCK_GOOD)
        return ERROR_INVALID_DATA;
    opl_block_system_name(&block, fresh.machine, sizeof fresh.machine);
    LSTATUS status = read_herd(&fresh, &block);
    if (!status)
        status = read_summary(&fresh, &block);
    if (block.fault)
        status = ERROR_INVALID_DATA;
    struct reader_behemoth *old = status ? fresh.all : reader->all;
    size_t old_capacity = status ? fresh.capacity : reader->capacity;
    if (!status)
        *reader = fresh;
    reader->spare = old;
    reader->spare_capacity = old_capacity;
    return status;
}

LSTATUS reader_read(struct reader *reader)
{
    char what[32];
    DWORD size;
    snprintf(what, sizeof what, "%u %u", (unsigned)(reader->first + BEHEMOTH),
             (unsigned)(reader->first + BEHEMOTHS_SUMMARY));
    LSTATUS status = query(reader->data, what, &reader->block, &reader->block_capacity, &size);
    return status ? status : reader_take(reader, reader->block, size);
}

/* ---- what the values mean ---- */

bool reader_server_there(const struct reader *reader)
{
    return reader->summary[BEHEMOTHS_SUMMARY_STATUS / 2] != 0;
}

/* Has the server ever answered? If not, the data's age counts from time 0. */
bool reader_server_heard(const struct reader *reader)
{
    return reader->summary[BEHEMOTHS_SUMMARY_DATA_AGE / 2] != 0;
}

static PDH_RAW_COUNTER raw_of(const opl_sample *sample)
{
    return (PDH_RAW_COUNTER){.CStatus = PDH_CSTATUS_VALID_DATA,
                             .FirstValue = sample->first,
                             .SecondValue = sample->second,
                             .MultiCount = sample->multi_count};
}

bool reader_summary(const struct reader *reader, unsigned symbol, double *ret)
{
    const struct reader_pair *pair = &reader->pairs[symbol / 2];
    PDH_RAW_COUNTER now = raw_of(&pair->now), before = raw_of(&pair->before);
    PDH_FMT_COUNTERVALUE value;
    opl_type_info type;
    LONGLONG time_base = pair->now.time_base;
    opl_type_describe(pair->now.type, &type);
    if (!pair->there || (type.needs_two_samples && !pair->was_there) ||
        PdhFormatFromRawValue(pair->now.type, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100 | PDH_FMT_NOSCALE,
                              &time_base, &now, pair->was_there ? &before : NULL,
                              &value) != ERROR_SUCCESS ||
        value.CStatus > PDH_CSTATUS_NEW_DATA)
        return false;
    *ret = value.doubleValue;
    return true;
}

double reader_age(const struct reader *reader, const struct reader_behemoth *one)
{
    int64_t since = (int64_t)one->values[BEHEMOTH_AGE / 2];
    if (!reader->has[BEHEMOTH_AGE / 2] || reader->frequency <= 0)
        return -1;
    return ((double)reader->time - (double)since) / (double)reader->frequency;
}
