/* SPDX-License-Identifier: MIT */
/* Queries the objects Behemoth and Behemoths Summary at once, and walks through the answer with
 * checks, because the answer is not trusted. */
#include "reader.h"

#include "../common/text.h"

#include <pdh.h>
#include <pdhmsg.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

enum { SMALLEST_SIZE = 65536, LARGEST_SIZE = 256 << 20, TITLE_BYTES = 128 };

/* The size of an answer is not known before: if the buffer is too small, the query is repeated with
 * a larger buffer. One byte follows the buffer. */
static LSTATUS query(HKEY data, const char *what, BYTE **block, DWORD *capacity, DWORD *ret_size)
{
    for (;;) {
        *ret_size = *capacity;
        LSTATUS status = *capacity > 0 ? RegQueryValueExA(data, what, NULL, NULL, *block, ret_size)
                                       : ERROR_MORE_DATA;
        if (status != ERROR_MORE_DATA || *capacity >= LARGEST_SIZE)
            return status;
        DWORD larger = *capacity > 0 ? *capacity * 2 : SMALLEST_SIZE;
        BYTE *moved = realloc(*block, larger + 1);
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
    if (!status)
        block[base->size] = 0;
    base->text = (char *)block; /* the caller frees it, also after an error */
    return status;
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

/* Keeps the titles of our symbols that are not known yet. */
static void add_titles(struct reader *reader, const struct base *base)
{
    char clean[TITLE_BYTES];
    for (struct base_title title = {0}; base_next(base, &title);) {
        uint32_t symbol = title.index - reader->first;
        if (symbol / 2 >= READER_SYMBOLS || symbol % 2 != 0 || reader->titles[symbol / 2])
            continue;
        text_clean(title.text, clean, sizeof clean);
        reader->titles[symbol / 2] = strdup(clean);
    }
}

LSTATUS reader_open(struct reader *reader, const char *machine, const char *language)
{
    struct base english = {0}, other = {0};
    *reader = (struct reader){0};
    snprintf(reader->language, sizeof reader->language, "%s", language);
    LSTATUS status = RegConnectRegistryA(machine, HKEY_PERFORMANCE_DATA, &reader->data);
    if (!status)
        status = base_read(&english, reader->data, "009");
    if (!status)
        status = find_first(&english, &reader->first);
    if (!status)
        status = base_read(&other, reader->data, language);
    if (!status) {
        add_titles(reader, &other);
        add_titles(reader, &english);
    }
    free(english.text);
    free(other.text);
    return status;
}

void reader_close(struct reader *reader)
{
    if (reader->data)
        RegCloseKey(reader->data);
    for (size_t i = 0; i < READER_SYMBOLS; i++)
        free(reader->titles[i]);
    free(reader->block);
    free(reader->all);
    *reader = (struct reader){0};
}

const char *reader_title(const struct reader *reader, unsigned symbol)
{
    static char number[16];
    snprintf(number, sizeof number, "+%u", symbol);
    return reader->titles[symbol / 2] ? reader->titles[symbol / 2] : number;
}

const char *reader_unit(const struct reader *reader, const char *english)
{
    static const char *const russian[] = {"kg", "кг", "l", "л", "m", "м", "s", "с"};
    for (size_t i = 0; strcmp(reader->language, "019") == 0 && i < 8; i += 2) {
        if (strcmp(russian[i], english) == 0)
            return russian[i + 1];
    }
    return english;
}

bool language_installed(const char *machine, const char *language, char out[READER_LANGUAGES])
{
    HKEY registry, perflib;
    char name[8];
    DWORD size = sizeof name;
    size_t used = 0;
    bool found = false;
    if (RegConnectRegistryA(machine, HKEY_LOCAL_MACHINE, &registry))
        return true;
    if (!RegOpenKeyExA(registry, PERFLIB, 0, KEY_READ, &perflib)) {
        for (DWORD i = 0; !RegEnumKeyExA(perflib, i, name, &size, NULL, NULL, NULL, NULL); i++) {
            if (name[strspn(name, "0123456789abcdefABCDEF")] == 0 && used + 8 < READER_LANGUAGES)
                used += (size_t)sprintf(out + used, " %s", name);
            found = found || strcmp(name, language) == 0;
            size = sizeof name;
        }
        RegCloseKey(perflib);
    }
    RegCloseKey(registry);
    return found || used == 0; /* a machine that lists no languages is assumed to have all */
}

/* Finds an object, and its counter definitions by symbol, which are the same for all instances. A
 * counter that is not there has the offset 0. */
static bool find_object(const struct reader *reader, opl_block *block, unsigned symbol,
                        opl_object_view *object, opl_counter_view counters[READER_SYMBOLS])
{
    opl_counter_view counter = {0};
    memset(counters, 0, READER_SYMBOLS * sizeof *counters);
    if (!opl_block_find_object(block, reader->first + symbol, object))
        return false;
    while (opl_object_next_counter(block, object, &counter)) {
        DWORD i = (counter.definition.CounterNameTitleIndex - reader->first) / 2;
        /* skips a base counter, which has the same title as its counter */
        if (i < READER_SYMBOLS && counters[i].offset == 0)
            counters[i] = counter;
    }
    return true;
}

static LSTATUS read_herd(struct reader *reader, opl_block *block)
{
    opl_counter_view counters[READER_SYMBOLS];
    opl_object_view object = {0};
    opl_instance_view instance = {0};
    reader->count = 0;
    /* an instance needs more bytes than its definition, so there cannot be more than these */
    reader->all = calloc(block->size / sizeof instance.definition, sizeof *reader->all);
    if (!reader->all)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (!find_object(reader, block, BEHEMOTH, &object, counters))
        return ERROR_FILE_NOT_FOUND;
    reader->time = object.type.PerfTime.QuadPart;
    reader->frequency = object.type.PerfFreq.QuadPart;
    for (size_t i = 0; i < READER_VALUES; i++)
        reader->has[i] = counters[i].offset > 0;
    while (opl_object_next_instance(block, &object, &instance)) {
        struct reader_behemoth *one = &reader->all[reader->count++];
        const PERF_INSTANCE_DEFINITION *is = &instance.definition;
        bool has_mother = is->ParentObjectTitleIndex == reader->first + BEHEMOTH;
        opl_instance_name(block, &object, &instance, one->name, sizeof one->name);
        one->mother = has_mother ? (int64_t)is->ParentObjectInstance : NO_MOTHER;
        /* a value that one behemoth lacks is not shown for any */
        for (size_t i = 0; i < READER_VALUES; i++)
            reader->has[i] = reader->has[i] &&
                             opl_counter_number(block, &instance, &counters[i], &one->values[i]);
    }
    return ERROR_SUCCESS;
}

/* Reads into separate memory; the shown data is replaced only if the whole answer is valid. */
LSTATUS reader_take(struct reader *reader, const void *data, size_t size)
{
    opl_block block;
    opl_counter_view counters[READER_SYMBOLS];
    opl_object_view object = {0};
    opl_instance_view instance = {0};
    struct reader fresh = *reader;
    if (opl_block_init(&block, data, size) != OPL_BLOCK_GOOD)
        return ERROR_INVALID_DATA;
    opl_block_system_name(&block, fresh.machine, sizeof fresh.machine);
    LSTATUS status = read_herd(&fresh, &block);
    if (!status && (!find_object(&fresh, &block, BEHEMOTHS_SUMMARY, &object, counters) ||
                    !opl_object_next_instance(&block, &object, &instance)))
        status = ERROR_FILE_NOT_FOUND;
    for (size_t i = 0; !status && i < READER_SYMBOLS; i++) {
        struct reader_pair *pair = &fresh.pairs[i], was = *pair;
        *pair = (struct reader_pair){.was_there = was.there, .before = was.now};
        pair->there = counters[i].offset > 0 &&
                      opl_counter_sample(&block, &object, &instance, &counters[i], &pair->now);
    }
    if (block.fault)
        status = ERROR_INVALID_DATA;
    free(status ? fresh.all : reader->all);
    if (!status)
        *reader = fresh;
    return status;
}

LSTATUS reader_read(struct reader *reader)
{
    char what[32];
    DWORD size;
    snprintf(what, sizeof what, "%u %u", (unsigned)(reader->first + BEHEMOTH),
             (unsigned)(reader->first + BEHEMOTHS_SUMMARY));
    LSTATUS status = query(reader->data, what, &reader->block, &reader->capacity, &size);
    return status ? status : reader_take(reader, reader->block, size);
}

int64_t reader_raw(const struct reader *reader, unsigned symbol)
{
    return reader->pairs[symbol / 2].now.first;
}

double reader_summary(const struct reader *reader, unsigned symbol)
{
    const struct reader_pair *pair = &reader->pairs[symbol / 2];
    const opl_sample *samples[2] = {&pair->now, &pair->before};
    const DWORD format = PDH_FMT_DOUBLE | PDH_FMT_NOCAP100 | PDH_FMT_NOSCALE;
    PDH_RAW_COUNTER raw[2];
    PDH_FMT_COUNTERVALUE value;
    LONGLONG time_base = pair->now.time_base;
    for (int i = 0; i < 2; i++)
        raw[i] = (PDH_RAW_COUNTER){.CStatus = PDH_CSTATUS_VALID_DATA,
                                   .FirstValue = samples[i]->first,
                                   .SecondValue = samples[i]->second,
                                   .MultiCount = samples[i]->multi_count};
    bool good = pair->there &&
                !PdhFormatFromRawValue(pair->now.type, format, &time_base, &raw[0],
                                       pair->was_there ? &raw[1] : NULL, &value) &&
                value.CStatus <= PDH_CSTATUS_NEW_DATA;
    return good ? value.doubleValue : NAN;
}

double reader_age(const struct reader *reader, const struct reader_behemoth *one)
{
    int64_t since = (int64_t)one->values[BEHEMOTH_AGE / 2];
    if (!reader->has[BEHEMOTH_AGE / 2] || reader->frequency <= 0)
        return -1;
    return ((double)reader->time - (double)since) / (double)reader->frequency;
}
