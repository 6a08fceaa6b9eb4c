/* SPDX-License-Identifier: MIT */
/*
 * Writes a query's values. The columns of CSV and TSV are fixed when the file is created: a
 * wildcard is replaced by the instances that exist then. A BLG has the raw values, and for a
 * wildcard those of all instances that exist at each sample.
 * (docs/windows/pdh.md#f4, docs/windows/pdh.md#f8)
 */
#include "pdh/log/capture.h"

#include <openperflib/build.h>
#include <openperflib/capture.h>
#include <openperflib/unstable.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A counter, or in CSV and TSV one instance of a wildcard counter. */
struct writer_column {
    PDH_HCOUNTER counter;
    char *path;
    struct instance_key key; /* key.name NULL: the counter is not a wildcard, or the file a BLG */
    char *instance;
    struct log_item *items; /* used for a wildcard in a BLG */
    uint32_t item_capacity;
    struct pdh_path parts; /* BLG: the parts of the path, for the catalogue */
    /* Only for a text counter. text: the newest text; in a BLG, a block with the newest text of
     * each instance. names: only in a BLG, the title indices of the block's object and counter,
     * each followed by its title. */
    struct buffer text, names;
    uint32_t title; /* BLG: number of a text counter's name; 0: it is none */
};
struct capture_writer {
    struct log_writer *log;
    PDH_HQUERY query;
    enum log_kind kind;
    bool live;   /* write each line at once: another program may follow the file, or the power may
                * fail */
    bool marked; /* OPL_LOG_MARKED */
    DWORD most_bytes;
    char *path, *caption; /* caption NULL: lines have none */
    uint32_t counters;    /* number of the query's counters when the columns were made */
    PDH_HCOUNTER newest;  /* the counter that was added last to the query then */
    struct writer_column *columns;
    double *numbers;
    const char **texts; /* for each column; NULL: it has a number, or no value */
    size_t count;
    struct log_extent extent;
    /* only for a BLG: the columns as the file has them, and the values of one sample */
    struct log_column *written;
    struct log_value *values;
};

/* ---- columns ---- */

static bool add_single(struct capture_writer *writer, PDH_HCOUNTER counter, const char *path)
{
    struct writer_column *columns =
        reallocarray(writer->columns, writer->count + 1, sizeof *columns);
    if (!columns)
        return false;
    writer->columns = columns;
    columns[writer->count] = (struct writer_column){.counter = counter, .path = strdup(path)};
    return columns[writer->count].path && ++writer->count;
}

/* Adds a column for one instance; its path has "a#1" for the second instance named "a". False: not
 * added. */
static bool add_instance(struct capture_writer *writer, PDH_HCOUNTER counter, const char *path)
{
    PATH_AUTO parts = {0};
    if (path_parse(path, &parts) || !parts.whole || !add_single(writer, counter, path))
        return false;
    struct writer_column *column = &writer->columns[writer->count - 1];
    column->instance = strdup(parts.stem);
    if (!column->instance)
        return false;
    column->key = item_key(column->instance, parts.index == PATH_NO_INDEX ? 0 : parts.index);
    return true;
}

static PDH_STATUS add_wild(struct capture_writer *writer, struct pdh_query *query,
                           struct counter *counter, const char *path)
{
    BUFFER_AUTO list = {0};
    PDH_STATUS status = expand_path(query->source->from, path, PDH_NOEXPANDCOUNTERS, &list);
    if (status && status != (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE)
        return status;
    const char *cursor = list.data, *end = cursor + list.len, *one;
    while (list.len && (one = text_multi_next(&cursor, end)))
        if (!add_instance(writer, (PDH_HCOUNTER)counter->handle, one))
            return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    return 0;
}

/* Adds a column of a BLG. */
static PDH_STATUS add_recorded(struct capture_writer *writer, PDH_HCOUNTER counter,
                               const char *path)
{
    if (!add_single(writer, counter, path))
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    return path_parse(path, &writer->columns[writer->count - 1].parts);
}

/* With OPL_LOG_MARKED: true if the file gets no column for the counter. */
static bool is_left_out(const struct capture_writer *writer, const struct counter *counter,
                        const char *path)
{
    bool there = !counter->user;
    for (size_t i = 0; i < writer->count && !there; i++)
        there = !strcasecmp(writer->columns[i].path, path);
    return writer->marked && there;
}

static PDH_STATUS add_column(struct capture_writer *writer, struct pdh_query *query,
                             struct counter *counter)
{
    BUFFER_AUTO path = {0};
    counter_full_path(counter, &path);
    if (!path.failed && is_left_out(writer, counter, path.data))
        return 0;
    if (!path.failed && writer->kind == LOG_BINARY)
        return add_recorded(writer, (PDH_HCOUNTER)counter->handle, path.data);
    if (!path.failed && counter->wild)
        return add_wild(writer, query, counter, path.data);
    bool added = !path.failed && add_single(writer, (PDH_HCOUNTER)counter->handle, path.data);
    return added ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

static PDH_HCOUNTER newest_of(const struct pdh_query *query)
{
    uint32_t count = query->counter_count;
    return count ? (PDH_HCOUNTER)query->counters[count - 1]->handle : NULL;
}

/* Adds columns for all counters. */
static PDH_STATUS add_columns(struct capture_writer *writer, struct pdh_query *query)
{
    PDH_STATUS status = 0;
    for (uint32_t i = 0; !status && i < query->counter_count; i++)
        status = add_column(writer, query, query->counters[i]);
    writer->counters = query->counter_count;
    writer->newest = newest_of(query);
    return status;
}

static void free_columns(struct capture_writer *writer)
{
    for (size_t i = 0; i < writer->count; i++) {
        free(writer->columns[i].path);
        free(writer->columns[i].instance);
        free(writer->columns[i].items);
        path_done(&writer->columns[i].parts);
        buffer_done(&writer->columns[i].text);
        buffer_done(&writer->columns[i].names);
    }
    free(writer->columns);
    writer->columns = NULL;
    writer->count = 0;
}

/* ---- opening ---- */

static PDH_STATUS kind_of(DWORD type, enum log_kind *ret)
{
    if (type != PDH_LOG_TYPE_CSV && type != PDH_LOG_TYPE_TSV && type != PDH_LOG_TYPE_BINARY)
        return type == PDH_LOG_TYPE_UNDEFINED ? (PDH_STATUS)PDH_INVALID_ARGUMENT
                                              : (PDH_STATUS)PDH_NOT_IMPLEMENTED;
    *ret = (enum log_kind)type;
    return 0;
}

static PDH_STATUS mode_of(const struct capture_options *options, enum log_kind kind,
                          enum log_create_mode *ret)
{
    struct stat st;
    bool there = stat(options->file, &st) == 0;
    *ret = LOG_CREATE_APPEND;
    if (options->access & PDH_LOG_OPT_CIRCULAR && kind != LOG_BINARY)
        return (PDH_STATUS)PDH_NOT_IMPLEMENTED; /* text files have no records of fixed length */
    if (options->access & PDH_LOG_OPT_CIRCULAR && !options->max_size)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    switch (options->access & PDH_LOG_CREATE_MASK) {
    case PDH_LOG_CREATE_NEW:
        *ret = LOG_CREATE_NEW;
        return 0;
    case PDH_LOG_CREATE_ALWAYS:
        *ret = LOG_CREATE_ALWAYS;
        return 0;
    case PDH_LOG_OPEN_ALWAYS:
        return 0;
    case PDH_LOG_OPEN_EXISTING:
        return there ? 0 : (PDH_STATUS)PDH_FILE_NOT_FOUND;
    default:
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    }
}

/* Allocates the arrays that have an element for each column. */
static PDH_STATUS make_arrays(struct capture_writer *writer)
{
    size_t count = writer->count + 1;
    free(writer->numbers);
    free(writer->texts);
    writer->numbers = calloc(count, sizeof *writer->numbers);
    writer->texts = calloc(count, sizeof *writer->texts);
    if (writer->kind == LOG_BINARY) {
        free(writer->written);
        free(writer->values);
        writer->written = calloc(count, sizeof *writer->written);
        writer->values = calloc(count, sizeof *writer->values);
    }
    bool good = writer->numbers && writer->texts &&
                (writer->kind != LOG_BINARY || (writer->written && writer->values));
    return good ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

/* Creates the file, or if *ret is open sets the columns of a text file; the header gets the time
 * zone of the query's source. */
static PDH_STATUS create_file(const struct pdh_query *query, const char *file,
                              enum log_create_mode mode, struct log_header *header,
                              struct log_writer **ret)
{
    char storage[ZONE_TEXT_SIZE];
    BUFFER_AUTO problem = {0};
    header->zone =
        query->source->ops->zone(query->source, storage, &header->bias, &header->zone_rule);
    problem_clear();
    PDH_STATUS status = *ret ? log_set_header(*ret, file, header, &problem)
                             : log_create(file, mode, header, ret, &problem);
    problem_note(problem.data);
    return status;
}

static PDH_STATUS create(struct capture_writer *writer, const struct pdh_query *query,
                         uint64_t most_bytes, enum log_create_mode mode)
{
    const char **paths = calloc(writer->count + 1, sizeof *paths);
    PDH_STATUS status = make_arrays(writer);
    if (!status && !paths)
        status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    for (size_t i = 0; !status && i < writer->count; i++)
        paths[i] = writer->columns[i].path;
    struct log_header header = {.kind = writer->kind,
                                .paths = paths,
                                .count = writer->count,
                                .caption = writer->caption,
                                .most_bytes = most_bytes,
                                .sync = writer->live};
    if (!status)
        status = create_file(query, writer->path, mode, &header, &writer->log);
    free(paths);
    return status;
}

/* Refuses what cannot be written, with a message. */
static PDH_STATUS prepare(const struct pdh_query *query, const struct capture_options *options,
                          enum log_kind kind)
{
    BUFFER_AUTO problem = {0};
    bool merge = options->access & OPL_LOG_MERGE;
    problem_clear();
    if (query->source->ops->prepare(query->source, options->file, kind, merge, &problem))
        return 0;
    problem_note(problem.data);
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

/* Copies the strings of the options that are needed later. */
static PDH_STATUS keep_names(struct capture_writer *writer, const struct capture_options *options)
{
    bool has_caption = options->access & PDH_LOG_OPT_USER_STRING;
    writer->path = strdup(options->file);
    writer->caption = has_caption ? strdup(options->caption ? options->caption : "") : NULL;
    return writer->path && (writer->caption || !has_caption)
               ? 0
               : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

PDH_STATUS writer_open(const struct capture_options *options, DWORD type,
                       struct capture_writer **ret)
{
    bool circular = options->access & PDH_LOG_OPT_CIRCULAR;
    enum log_kind kind;
    enum log_create_mode mode;
    PDH_STATUS status = kind_of(type, &kind);
    if (!status)
        status = mode_of(options, kind, &mode);
    if (status)
        return status;
    struct pdh_query *query = query_claim(options->query);
    if (!query)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    status = prepare(query, options, kind);
    struct capture_writer *writer = status ? NULL : calloc(1, sizeof *writer);
    status = status ? status : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (writer) {
        writer->query = options->query;
        writer->live = query->source->ops->real_time;
        writer->kind = kind;
        writer->marked = options->access & OPL_LOG_MARKED;
        writer->most_bytes = circular ? 0 : options->max_size;
        status = keep_names(writer, options);
    }
    if (!status)
        status = add_columns(writer, query);
    if (!status)
        status = create(writer, query, circular ? options->max_size : 0, mode);
    query_unclaim(query);
    if (status)
        writer_close(writer);
    else
        *ret = writer;
    return status;
}

PDH_STATUS writer_close(struct capture_writer *writer)
{
    if (!writer)
        return 0;
    PDH_STATUS status = writer->log ? log_write_close(writer->log) : 0;
    free_columns(writer);
    free(writer->path);
    free(writer->caption);
    free(writer->written);
    free(writer->values);
    free(writer->numbers);
    free(writer->texts);
    free(writer);
    return status;
}

PDH_HQUERY writer_query(const struct capture_writer *writer)
{
    return writer->query;
}

uint64_t writer_bytes(const struct capture_writer *writer)
{
    return log_written_bytes(writer->log);
}

const struct log_extent *writer_extent(const struct capture_writer *writer)
{
    return &writer->extent;
}

/* ---- lines ---- */

static PDH_STATUS cook_instance(struct counter *counter, const struct instance_key *key,
                                uint32_t hint, PDH_FMT_COUNTERVALUE *ret)
{
    const struct sample_set *set = &counter->sets[counter->turn];
    uint32_t at = sample_find(set, key, hint);
    if (at == set->count)
        return (PDH_STATUS)PDH_INVALID_DATA;
    return cook_item(counter, at, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100 | PDH_FMT_NOSCALE, ret);
}

/* Returns the column's text, copied to its buffer; NULL: it has none. */
static const char *text_of(struct writer_column *column, struct counter *counter, uint32_t hint)
{
    const struct sample_set *set = &counter->sets[counter->turn];
    uint32_t at = column->key.name ? sample_find(set, &column->key, hint) : 0;
    const char *text = at < set->count ? item_text(set->items, &set->items->items[at]) : NULL;
    buffer_clear(&column->text);
    return text && buffer_add_text(&column->text, text) ? column->text.data : NULL;
}

/* Returns the value, neither scaled nor capped (docs/windows/pdh.md#f8); NAN: there is no value,
 * or a text. */
static double number_of(struct writer_column *column, uint32_t hint, const char **ret_text)
{
    PDH_FMT_COUNTERVALUE value;
    struct counter *counter = counter_lock(column->counter);
    if (!counter)
        return NAN;
    PDH_STATUS status =
        column->key.name
            ? cook_instance(counter, &column->key, hint, &value)
            : cook_samples(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100 | PDH_FMT_NOSCALE,
                           &counter->newest, &counter->before, counter->comparable, &value);
    *ret_text = type_is_text(counter->type) ? text_of(column, counter, hint) : NULL;
    counter_unlock(counter);
    return status ? NAN : value.doubleValue;
}

static void take_numbers(struct capture_writer *writer)
{
    uint32_t hint = 0;
    for (size_t i = 0; i < writer->count; i++) {
        hint = i && writer->columns[i].counter == writer->columns[i - 1].counter ? hint + 1 : 0;
        writer->numbers[i] = number_of(&writer->columns[i], hint, &writer->texts[i]);
    }
}

/* ---- samples of a BLG ---- */

/* Points the value to the items of a wildcard's newest set. Items without a value are left out,
 * because an array has one status for all. `absent`: the capture's file lacks the counter. */
static PDH_STATUS take_items(struct writer_column *column, const struct sample_set *set,
                             bool absent, struct log_value *ret)
{
    if (set->count > column->item_capacity) {
        struct log_item *items = reallocarray(column->items, set->count, sizeof *items);
        if (!items)
            return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        column->items = items;
        column->item_capacity = set->count;
    }
    *ret = (struct log_value){.kind = LOG_ARRAY, .items = column->items};
    ret->raw.CStatus = absent ? PDH_ENTRY_NOT_IN_LOG_FILE : PDH_CSTATUS_NO_INSTANCE;
    for (uint32_t i = 0; i < set->count; i++) {
        const PDH_RAW_COUNTER raw = sample_set_at(set, i).raw;
        if (raw.CStatus > PDH_CSTATUS_NEW_DATA)
            continue;
        ret->raw = raw;
        column->items[ret->count++] =
            (struct log_item){.name = set->items->names.data + set->items->items[i].name,
                              .first = raw.FirstValue,
                              .second = raw.SecondValue,
                              .multi = raw.MultiCount};
    }
    return 0;
}

/* Fills the column. Returns true if the file has another type or title for the column. */
static bool describe(struct writer_column *column, const struct counter *counter,
                     struct log_column *ret)
{
    const struct pdh_path *parts = &column->parts;
    LONGLONG time_base = ret->time_base;
    DWORD type = ret->type;
    bool text = type_is_text(counter->type);
    bool changed = !ret->path || type != counter->type || time_base != counter->time_base ||
                   (text && column->title != counter->title);
    column->title = text ? counter->title : 0;
    *ret = (struct log_column){.kind = counter->wild ? LOG_ARRAY : LOG_RAW,
                               .path = column->path,
                               .machine = parts->machine,
                               .object = parts->object,
                               .parent = parts->parent,
                               .instance = parts->instance,
                               .counter = parts->counter,
                               .index = parts->index == PATH_NO_INDEX ? 0 : parts->index,
                               .type = counter->type,
                               .time_base = counter->time_base,
                               .scale = counter->default_scale};
    if (!changed || !text)
        return changed;
    buffer_clear(&column->names);
    buffer_printf(&column->names, "%u%c%s%c%u%c%s%c", (unsigned)counter->object, 0, parts->object,
                  0, (unsigned)counter->title, 0, parts->counter, 0);
    return true;
}

/* ---- texts in a BLG: a block of the performance key, with one counter ---- */

static void add_text_instances(opl_build *build, const struct item_set *set, bool each)
{
    BUFFER_AUTO name = {0};
    for (uint32_t i = 0; i < set->count; i++) {
        const struct sample_item *item = &set->items[i];
        const char *text = item_text(set, item);
        buffer_clear(&name);
        buffer_add_text(&name, set->names.data + item->name);
        if (!each && item->number) /* else the reader numbers equal names by their order */
            buffer_printf(&name, "#%u", (unsigned)item->number);
        if (text && item->length)
            opl_build_instance(build, name.data);
        if (text)
            opl_build_text(build, 0, text);
    }
}

/* Returns the size of the counter: the longest text with its NUL. */
static uint32_t text_size(const struct item_set *set)
{
    size_t most = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const char *text = item_text(set, &set->items[i]);
        size_t units = text ? utf8_to_16(text, strlen(text), NULL, 0) : 0;
        most = units > most ? units : most;
    }
    return (uint32_t)(2 * (most + 1) + 7) & ~7u;
}

/* Makes the block of a text counter's newest texts; one without instances has no object. */
static void make_block(const struct counter *counter, LONGLONG time, struct buffer *ret)
{
    enum { OF_OBJECT = sizeof(PERF_DATA_BLOCK) + 256, OF_INSTANCE = 128 };
    static const struct item_set none;
    const struct sample_set *samples = &counter->sets[counter->turn];
    const struct item_set *set = samples->items ? samples->items : &none;
    opl_build_counter definition = {
        .name_index = counter->title, .type = PERF_COUNTER_TEXT, .size = text_size(set)};
    opl_build_object_info object = {.name_index = counter->object,
                                    .level = PERF_DETAIL_NOVICE,
                                    .default_counter = -1,
                                    .single = !counter->path.whole};
    opl_build build;
    uint32_t bytes, objects;
    buffer_clear(ret);
    if (!buffer_reserve(ret, OF_OBJECT + 2 * set->names.len +
                                 set->count * (size_t)(OF_INSTANCE + definition.size)))
        return;
    void *end = ret->data + sizeof(PERF_DATA_BLOCK);
    opl_build_init(&build, end, ret->capacity - sizeof(PERF_DATA_BLOCK) - 1);
    if (counter->path.whole || set->count)
        opl_build_object(&build, &object, &definition, 1);
    add_text_instances(&build, set, counter->path.whole && !strcmp(counter->path.whole, "*"));
    ret->failed |= opl_build_collect(&build, &end, &bytes, &objects) != 0;
    PERF_DATA_BLOCK head = {
        .Signature = {'P', 'E', 'R', 'F'},
        .LittleEndian = 1,
        .Version = PERF_DATA_VERSION,
        .Revision = PERF_DATA_REVISION,
        .TotalByteLength = (DWORD)sizeof head + bytes,
        .HeaderLength = sizeof head,
        .NumObjectTypes = objects,
        .PerfTime.QuadPart = time,
        .PerfFreq.QuadPart = CLOCK_TICKS_PER_SECOND,
        .PerfTime100nSec.QuadPart = time,
        .SystemNameOffset = sizeof head
    };
    clock_systemtime(time, &head.SystemTime);
    memcpy(ret->data, &head, sizeof head);
    ret->len = head.TotalByteLength;
}

/* Fills the value; of a text counter also the names in the column. */
static PDH_STATUS take_value(struct writer_column *column, const struct counter *counter,
                             LONGLONG time, struct log_column *described, struct log_value *ret)
{
    if (column->title) {
        make_block(counter, time, &column->text);
        described->names = column->names.data;
        described->names_size = column->names.len;
        *ret = (struct log_value){
            .kind = LOG_BLOCK, .block = column->text.data, .size = column->text.len};
        return column->text.failed || column->names.failed
                   ? (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE
                   : 0;
    }
    if (counter->wild)
        return take_items(column, &counter->sets[counter->turn], counter->absent, ret);
    ret->raw = counter->newest.raw;
    return 0;
}

/* True if the wall clock was set since the last sample, and the counter's value is divided by the
 * time that passed on that clock. Readers of the file cannot know that the clock was set, so the
 * value is not written. */
static bool misleads(const struct counter *counter)
{
    return counter->collected > 1 && !counter->comparable && formula_needs_two(counter->type) &&
           counter->type & PERF_TIMER_100NS;
}

/* Writes the raw values, and before them the catalogue if a type has changed, which happens when a
 * machine answers for the first time. */
static PDH_STATUS write_raw(struct capture_writer *writer, LONGLONG time)
{
    struct pdh_query *query = query_claim(writer->query);
    PDH_STATUS status = query ? 0 : (PDH_STATUS)PDH_INVALID_HANDLE;
    bool changed = false;
    for (size_t i = 0; i < writer->count && !status; i++) {
        struct writer_column *column = &writer->columns[i];
        struct counter *counter = counter_lock(column->counter);
        struct log_value *value = &writer->values[i];
        *value = (struct log_value){.kind = LOG_RAW, .raw.CStatus = PDH_CSTATUS_NO_COUNTER};
        if (!counter)
            continue;
        changed |= describe(column, counter, &writer->written[i]);
        status = take_value(column, counter, time, &writer->written[i], value);
        if (misleads(counter)) {
            value->raw.CStatus = PDH_CSTATUS_INVALID_DATA;
            value->count = 0;
        }
        counter_unlock(counter);
    }
    if (!status && changed)
        status = log_write_columns(writer->log, time, writer->written, writer->count);
    if (!status)
        status = log_write_values(writer->log, time, writer->values);
    if (query)
        query_unclaim(query);
    return status;
}

/* Makes the columns those of the query's present counters: counters may have been added or removed
 * since PdhOpenLog. The columns of a text file are fixed with its first line. Without counters,
 * nothing is to be written (PDH_NO_DATA): such a sample would look like one whose values are all
 * missing. */
static PDH_STATUS follow_query(struct capture_writer *writer)
{
    struct pdh_query *query = query_claim(writer->query);
    if (!query)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    bool binary = writer->kind == LOG_BINARY;
    bool changed = query->counter_count != writer->counters || newest_of(query) != writer->newest;
    PDH_STATUS status = 0;
    if (changed && (binary || !writer->extent.samples)) {
        free_columns(writer);
        status = add_columns(writer, query);
        if (!status)
            status = binary ? make_arrays(writer) : create(writer, query, 0, LOG_CREATE_APPEND);
        if (status)
            writer->counters = UINT32_MAX; /* the next sample tries again */
    }
    query_unclaim(query);
    return status || writer->count ? status : (PDH_STATUS)PDH_NO_DATA;
}

/* A counter without a value has a blank as its cell. */
PDH_STATUS writer_update(struct capture_writer *writer, LONGLONG time, const char *user_string)
{
    if (writer->most_bytes && log_written_bytes(writer->log) >= writer->most_bytes)
        return (PDH_STATUS)PDH_LOG_FILE_TOO_SMALL;
    PDH_STATUS status = follow_query(writer);
    if (status)
        return status;
    if (!time)
        status = query_collect(writer->query, &time);
    if ((status && status != (PDH_STATUS)PDH_NO_DATA) || !time)
        return status;
    if (writer->written) {
        status = write_raw(writer, time);
    } else {
        take_numbers(writer);
        status = log_write(writer->log, time, writer->numbers, writer->texts, user_string);
    }
    if (status)
        return status;
    writer->extent.first = writer->extent.samples++ ? writer->extent.first : time;
    writer->extent.last = time;
    return writer->live ? log_flush(writer->log) : 0;
}

/* ---- rows that the program computes: opl_rows is a log_writer ---- */

uint32_t opl_rows_open(const char *file, uint32_t type, void *query, const char *const *paths,
                       size_t count, bool terminal, opl_rows **ret)
{
    struct log_header header = {
        .kind = (enum log_kind)type, .paths = paths, .count = count, .terminal = terminal};
    if (type != PDH_LOG_TYPE_CSV && type != PDH_LOG_TYPE_TSV)
        return PDH_INVALID_ARGUMENT;
    struct pdh_query *claimed = query_claim(query);
    if (!claimed)
        return PDH_INVALID_HANDLE;
    *ret = NULL;
    PDH_STATUS status =
        create_file(claimed, file, LOG_CREATE_ALWAYS, &header, (struct log_writer **)ret);
    query_unclaim(claimed);
    return (uint32_t)status;
}

uint32_t opl_rows_add(opl_rows *rows, int64_t time, const double *numbers, const char *const *texts)
{
    return (uint32_t)log_write((struct log_writer *)rows, time, numbers, texts, NULL);
}

uint32_t opl_rows_flush(opl_rows *rows)
{
    return (uint32_t)log_flush((struct log_writer *)rows);
}

uint32_t opl_rows_close(opl_rows *rows)
{
    return rows ? (uint32_t)log_write_close((struct log_writer *)rows) : 0;
}
