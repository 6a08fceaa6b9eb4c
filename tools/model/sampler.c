/* SPDX-License-Identifier: MIT */
/*
 * The sampler thread of one source: the only thread that calls PDH for that source. A machine is
 * sampled at a fixed interval, and once more soon after a table was added, because rates need two
 * samples. A capture is read to its end as fast as the samples are taken over, once for each table.
 */
#include "internal.h"

#include "../common/clock.h"
#include "../common/last-event.h"
#include "../common/pdh-message.h"
#include <openperflib/capture.h>
#include <openperflib/unstable.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    NANOSECONDS = 1000000000,
    MOST_WAITING = 64,
    CAPTURE_PLACES = 1 << 16,
    /* how often a capture is read again while it is being recorded; that takes at most
     * 1 / FOLLOW_SHARE of the time */
    FOLLOW_SECONDS = 1,
    FOLLOW_SHARE = 20,
    TYPE_DOUBLE = 0x00012000 /* of text captures, which have computed values only (pdh.h) */
};
static const int64_t unix_epoch = 11644473600; /* 1970-01-01 in seconds since 1601 */
static const double least = 0.05, soon = 0.2, retry_first = 5, retry_last = 300;

/* Names of processes and threads are used again after their end, so id and start time identify
 * these instances, too. `numbered`: PDH adds numbers to equal names, which change when a process
 * ends. */
enum { ID, START, IDENTITY_COUNTERS };
static const struct {
    const char *object, *id;
    bool numbered;
} identified[] = {
    {"Process",    "ID Process", true },
    {"Process V2", "ID Process", false},
    {"Process IO", "ID Process", true },
    {"Thread",     "ID Thread",  true },
};

/* What a rate needs of an instance's raw value in the last sample; `identity` 0: it had none. */
struct earlier {
    uint64_t identity;
    LONGLONG first, second;
};

struct counters {
    PDH_HCOUNTER *handles; /* one handle for each column; NULL: the counter was not added yet */
    PDH_HCOUNTER identity[IDENTITY_COUNTERS];
    /* names have numbers: PDH compares an instance with the one that had its number before, and
     * gives no rate if that is another one, so rates are computed here, by identity */
    bool numbered;
    struct earlier *earlier; /* raw values of the last sample, row after row */
    size_t earlier_rows;
    /* when missing counters are added again, and the wait before that, in seconds */
    double due, wait;
    bool rows;         /* the last sample had rows */
    double reason_due; /* when the reason why there are no rows is read again */
};

double model_now(void)
{
    return clock_seconds(CLOCK_MONOTONIC);
}

/* ---- counters ---- */

bool model_type_is_raw(DWORD type)
{
    LONGLONG time_base = 1;
    PDH_RAW_COUNTER raw = {0};
    PDH_FMT_COUNTERVALUE value;
    return (DWORD)PdhFormatFromRawValue(type, PDH_FMT_DOUBLE, &time_base, &raw, &raw, &value) ==
           PDH_INVALID_ARGUMENT;
}

static void describe(PDH_HCOUNTER handle, struct column *column)
{
    DWORD size = 0;
    PdhGetCounterInfoA(handle, TRUE, &size, NULL);
    PDH_COUNTER_INFO_A *info = size ? calloc(1, size) : NULL;
    if (info && PdhGetCounterInfoA(handle, TRUE, &size, info) == 0) {
        column->type = info->dwType;
        PdhLookupPerfIndexByNameA(NULL, info->szCounterName, &column->index);
        column->raw |= model_type_is_raw(info->dwType);
        column->default_scale = info->lDefaultScale;
        if (info->szExplainText && *info->szExplainText && !column->explain)
            column->explain = strdup(info->szExplainText);
    }
    free(info);
}

/* Writes the path with the source's machine. PDH adds a counter even if the machine is not
 * reachable, and finds the machine when it is back. */
void full_path(const struct source *source, const char *path, char *ret, size_t capacity)
{
    const char *machine = source->machine;
    snprintf(ret, capacity, "%s%s%s", *machine && *machine != '\\' ? "\\\\" : "", machine, path);
}

/* `kept`: the BLG of model_keep gets the counter. */
static PDH_STATUS add_counter(struct sampler *sampler, const char *path, bool kept,
                              PDH_HCOUNTER *ret)
{
    char full[2 * PDH_MAX_COUNTER_PATH];
    full_path(sampler->source, path, full, sizeof full);
    PDH_STATUS status = PdhAddEnglishCounterA(sampler->query, full, kept, ret);
    if ((DWORD)status != PDH_CSTATUS_NO_OBJECT && (DWORD)status != PDH_CSTATUS_NO_COUNTER)
        return status;
    /* adds the counter by its name in the user's language */
    PDH_STATUS user = PdhAddCounterA(sampler->query, full, kept, ret);
    return user ? status : user;
}

PDH_STATUS add_path(struct sampler *sampler, const char *path, PDH_HCOUNTER *ret)
{
    return add_counter(sampler, path, false, ret);
}

/* Returns the counter that one of the first `columns` columns has for this path; NULL: none. PDH
 * keeps two samples of all instances for each counter, so a counter is added only once. */
static PDH_HCOUNTER added_before(const struct sampler *sampler, const struct spec *spec,
                                 size_t columns, const char *path)
{
    for (size_t c = 0; c < columns && !sampler->source->capture; c++)
        if (!strcasecmp(spec->found[c].path, path))
            return spec->counters->handles[c];
    return NULL;
}

/* Adds the counter `name` for the same object and instances as the table. */
static PDH_HCOUNTER add_sibling(struct sampler *sampler, const struct spec *spec, const char *name)
{
    const char *path = spec->found[0].path;
    char sibling[PDH_MAX_COUNTER_PATH];
    PDH_HCOUNTER handle = NULL;
    const char *last = strrchr(path, '\\');
    int length = last > path && last[-1] == ')' ? (int)(last + 1 - path) : 0;
    if (!length || (size_t)length + strlen(name) >= sizeof sibling)
        return NULL;
    snprintf(sibling, sizeof sibling, "%.*s%s", length, path, name);
    handle = added_before(sampler, spec, spec->column_count, sibling);
    if (!handle)
        add_path(sampler, sibling, &handle);
    return handle;
}

/* Adds "Elapsed Time", whose raw value is the start. In a text capture its value is not the start
 * but changes with every sample, so the counter is removed; returns NULL then. */
static PDH_HCOUNTER add_start(struct sampler *sampler, const struct spec *spec)
{
    struct column column = {0};
    PDH_HCOUNTER start = add_sibling(sampler, spec, "Elapsed Time");
    if (start && sampler->source->capture)
        describe(start, &column);
    free(column.explain);
    if (!start || !sampler->source->capture || column.type == PERF_ELAPSED_TIME)
        return start;
    PdhRemoveCounter(start);
    return NULL;
}

static void add_identity(struct sampler *sampler, struct spec *spec)
{
    const char *path = spec->found[0].path;
    size_t length = *path == '\\' ? strcspn(path + 1, "(\\") : 0;
    for (size_t i = 0; i < sizeof identified / sizeof *identified; i++)
        if (strlen(identified[i].object) == length &&
            !strncasecmp(path + 1, identified[i].object, length)) {
            spec->counters->identity[ID] = add_sibling(sampler, spec, identified[i].id);
            spec->counters->identity[START] = add_start(sampler, spec);
            spec->counters->numbered = identified[i].numbered && !sampler->source->capture;
        }
}

/* Hands a copy of the columns over to the drawing side. */
static void publish_columns(struct source *source, struct spec *spec)
{
    struct column *copy = columns_copy(spec->found, spec->column_count);
    pthread_mutex_lock(&source->mutex);
    struct column *old = spec->news;
    spec->news = copy ? copy : old;
    pthread_mutex_unlock(&source->mutex);
    if (copy)
        columns_free(old, spec->column_count);
}

/* Adds the column's counter, or finds its type if it was unknown. True: the column changed. */
static bool add_column(struct sampler *sampler, const struct spec *spec, size_t at)
{
    struct column *column = &spec->found[at];
    PDH_HCOUNTER *handle = &spec->counters->handles[at];
    PDH_STATUS before = column->status;
    if (*handle && !before)
        return false;
    if (!*handle)
        *handle = added_before(sampler, spec, at, column->path);
    if (!*handle)
        column->status = add_counter(sampler, column->path, spec->history, handle);
    if (*handle)
        describe(*handle, column);
    if (*handle && (column->type || column->explain))
        column->status = 0; /* found now, perhaps because the machine is reachable again */
    return *handle || column->status != before;
}

/* Adds the counters that are not added yet. Counters that stay missing are tried less and less
 * often, because each attempt may collect the object several times. */
void add_counters(struct sampler *sampler, struct spec *spec)
{
    struct counters *counters = spec->counters;
    bool changed = counters->wait == 0;
    if (model_now() < counters->due)
        return;
    for (size_t c = 0; c < spec->column_count; c++)
        changed |= add_column(sampler, spec, c);
    counters->wait = changed ? retry_first : fmin(2 * counters->wait, retry_last);
    counters->due = model_now() + counters->wait;
    if (!counters->identity[ID])
        add_identity(sampler, spec);
    if (changed)
        publish_columns(sampler->source, spec);
}

/* Removes the counter, unless it is also that of one of the first `columns` columns. */
static void remove_counter(const struct counters *counters, size_t columns, PDH_HCOUNTER counter)
{
    for (size_t c = 0; c < columns; c++)
        if (counters->handles[c] == counter)
            return;
    if (counter)
        PdhRemoveCounter(counter);
}

void remove_counters(struct spec *spec)
{
    struct counters *counters = spec->counters;
    for (size_t i = 0; i < IDENTITY_COUNTERS; i++)
        remove_counter(counters, spec->column_count, counters->identity[i]);
    for (size_t c = 0; c < spec->column_count; c++)
        remove_counter(counters, c, counters->handles[c]);
    free(counters->earlier);
    free(counters->handles);
    free(counters);
    spec->counters = NULL;
}

struct counters *counters_new(size_t columns)
{
    struct counters *counters = calloc(1, sizeof *counters);
    if (counters)
        counters->handles = calloc(columns, sizeof *counters->handles);
    if (counters && !counters->handles) {
        free(counters);
        return NULL;
    }
    return counters;
}

/* ---- one sample ---- */

typedef PDH_STATUS (*array_function)(PDH_HCOUNTER, DWORD *size, DWORD *count, void *items);

static PDH_STATUS formatted_array(PDH_HCOUNTER counter, DWORD *size, DWORD *count, void *items)
{
    return PdhGetFormattedCounterArrayA(
        counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100 | PDH_FMT_NOSCALE, size, count, items);
}

static PDH_STATUS raw_array(PDH_HCOUNTER counter, DWORD *size, DWORD *count, void *items)
{
    return PdhGetRawCounterArrayA(counter, size, count, items);
}

static bool items_read(struct items *items, array_function read, PDH_HCOUNTER counter)
{
    DWORD size = items->capacity;
    items->count = 0;
    if (!counter)
        return false;
    PDH_STATUS status = read(counter, &size, &items->count, items->data);
    if ((DWORD)status == PDH_MORE_DATA) {
        free(items->data);
        items->capacity = size + size / 4;
        items->data = malloc(items->capacity);
        size = items->capacity = items->data ? items->capacity : 0;
        status = read(counter, &size, &items->count, items->data);
    }
    if (status)
        items->count = 0;
    return status == 0;
}

bool items_read_raw(struct items *items, PDH_HCOUNTER counter)
{
    return items_read(items, raw_array, counter);
}

uint64_t model_hash(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3;
    return sum;
}

uint64_t identity_of_name(const char *name)
{
    return model_hash(MODEL_HASH, name, strlen(name));
}

static int by_identity(const void *a, const void *b)
{
    const struct row *first = *(struct row *const *)a, *second = *(struct row *const *)b;
    if (first->identity != second->identity)
        return first->identity < second->identity ? -1 : 1;
    return first < second ? -1 : 1;
}

/* Rows may have equal names: gives them different identities, by their order. */
static void number_equal_rows(struct row **rows, size_t count)
{
    uint64_t identity = 0, number = 0;
    qsort(rows, count, sizeof *rows, by_identity);
    for (size_t i = 0; i < count; i++) {
        number = rows[i]->identity == identity ? number + 1 : 0;
        identity = rows[i]->identity;
        if (number)
            rows[i]->identity = model_hash(identity, &number, sizeof number);
    }
}

/* Returns the raw value of the instance, which is expected at this place; 0: it has none. */
static LONGLONG raw_value(const struct items *items, const char *name, size_t at)
{
    const PDH_RAW_COUNTER_ITEM_A *raw = items->data;
    return at < items->count && !strcmp(raw[at].szName, name) ? raw[at].RawValue.FirstValue : 0;
}

/* Sets the identities of the rows: hashes of their names and of the raw values of id and start. The
 * numbers in names ("name#2", "name#1/3") change when other instances end, so they are left out,
 * as is the work of a kernel worker, except for an instance without an id (Idle, _Total). False: no
 * memory. */
static bool identify_rows(struct sampler *sampler, const struct counters *counters,
                          struct row *rows, size_t count)
{
    struct row **without = malloc((count + 1) * sizeof *without); /* those without an id */
    size_t used = 0;
    if (!without)
        return false;
    items_read(&sampler->values, raw_array, counters->identity[ID]);
    for (size_t i = 0; i < count; i++) /* until the starts are known, too: the id */
        rows[i].identity = (uint64_t)raw_value(&sampler->values, rows[i].name, i);
    items_read(&sampler->values, raw_array, counters->identity[START]);
    for (size_t i = 0; i < count; i++) {
        const char *name = rows[i].name;
        LONGLONG id = (LONGLONG)rows[i].identity;
        LONGLONG start = id ? raw_value(&sampler->values, name, i) : 0;
        size_t worker = worker_length(name);
        size_t length = !id ? strlen(name) : worker ? worker : strcspn(name, "#/");
        uint64_t sum = model_hash(MODEL_HASH, name, length);
        sum = model_hash(model_hash(sum, &id, sizeof id), &start, sizeof start);
        rows[i].identity = sum ? sum : 1;
        if (!id)
            without[used++] = &rows[i];
    }
    number_equal_rows(without, used);
    free(without);
    return true;
}

/* Makes the rows from the instances of one column. False: no memory. */
static bool make_rows(const struct sampler *sampler, struct table_sample *sample,
                      const struct spec *spec)
{
    size_t columns = spec->column_count;
    const PDH_FMT_COUNTERVALUE_ITEM_A *items = sampler->values.data;
    DWORD count = sampler->values.count;
    size_t bytes = 1;
    for (DWORD i = 0; i < count; i++)
        bytes += strlen(items[i].szName) + 1;
    sample->rows = calloc(count, sizeof *sample->rows);
    sample->cells = calloc(count * columns, sizeof *sample->cells);
    sample->names = malloc(bytes);
    if (!sample->rows || !sample->cells || !sample->names)
        return false;
    char *name = sample->names;
    for (DWORD i = 0; i < count; i++) {
        size_t length = strlen(items[i].szName) + 1;
        memcpy(name, items[i].szName, length);
        sample->rows[i] = (struct row){.name = name};
        name += length;
    }
    for (size_t i = 0; i < count * columns; i++) {
        DWORD status = (DWORD)spec->found[i % columns].status;
        sample->cells[i] = (struct cell){NAN, status ? status : PDH_CSTATUS_NO_INSTANCE};
    }
    sample->row_count = count;
    return true;
}

static void fill_column(const struct sampler *sampler, struct table_sample *sample, size_t column,
                        size_t columns)
{
    const PDH_FMT_COUNTERVALUE_ITEM_A *items = sampler->values.data;
    size_t expected = 0;
    for (DWORD i = 0; i < sampler->values.count; i++) {
        size_t row = rows_find(sample->rows, sample->row_count, items[i].szName, &expected);
        if (row == sample->row_count)
            continue;
        const PDH_FMT_COUNTERVALUE *value = &items[i].FmtValue;
        bool good = value->CStatus <= PDH_CSTATUS_NEW_DATA;
        sample->cells[row * columns + column] =
            (struct cell){good ? value->doubleValue : NAN, value->CStatus};
    }
}

static DWORD count_items(PDH_HCOUNTER counter)
{
    DWORD size = 0, count = 0;
    if (counter)
        formatted_array(counter, &size, &count, NULL);
    return count;
}

/* Returns the value that the instance had in the last sample; NULL: none. `expected`: the row where
 * it is unless rows were added or removed. */
static const struct earlier *find_earlier(const struct counters *counters, size_t columns,
                                          size_t column, uint64_t identity, size_t *expected)
{
    for (size_t i = 0; i < counters->earlier_rows; i++) {
        size_t row = (*expected + i) % counters->earlier_rows;
        const struct earlier *earlier = &counters->earlier[row * columns + column];
        if (earlier->identity == identity) {
            *expected = row + 1;
            return earlier;
        }
    }
    return NULL;
}

/* Returns the value of an instance of a column whose rates are computed here, and stores the raw
 * value in `now`. `at`: the row where the earlier value is expected. */
static struct cell rate_of(const struct spec *spec, size_t column, uint64_t identity,
                           PDH_RAW_COUNTER *raw, struct earlier *now, size_t *at)
{
    LONGLONG time_base = 0;
    PDH_FMT_COUNTERVALUE value = {.CStatus = PDH_CSTATUS_INVALID_DATA};
    const struct earlier *earlier =
        find_earlier(spec->counters, spec->column_count, column, identity, at);
    PDH_RAW_COUNTER before = *raw;
    before.FirstValue = earlier ? earlier->first : 0;
    before.SecondValue = earlier ? earlier->second : 0;
    *now = (struct earlier){identity, raw->FirstValue, raw->SecondValue};
    PdhGetCounterTimeBase(spec->counters->handles[column], &time_base);
    bool good = !PdhFormatFromRawValue(spec->found[column].type,
                                       PDH_FMT_DOUBLE | PDH_FMT_NOCAP100 | PDH_FMT_NOSCALE,
                                       &time_base, raw, earlier ? &before : NULL, &value);
    return (struct cell){good ? value.doubleValue : NAN, value.CStatus};
}

/* Fills a column from raw values: with `now`, by rate_of; else with the raw values themselves, but
 * text counters get no number, nor do those of text captures, whose raw values are not known. */
static void fill_raw_column(const struct sampler *sampler, struct table_sample *sample,
                            size_t column, struct earlier *now)
{
    const struct spec *spec = sample->spec;
    PDH_RAW_COUNTER_ITEM_A *items = sampler->values.data;
    DWORD type = spec->found[column].type;
    bool unknown = (type & 0xc00) == PERF_TYPE_TEXT || type == TYPE_DOUBLE;
    size_t expected = 0, earlier = 0;
    for (DWORD i = 0; i < sampler->values.count; i++) {
        size_t row = rows_find(sample->rows, sample->row_count, items[i].szName, &expected);
        if (row == sample->row_count)
            continue;
        PDH_RAW_COUNTER *raw = &items[i].RawValue;
        size_t at = row * spec->column_count + column;
        struct cell *cell = &sample->cells[at];
        *cell = (struct cell){NAN, unknown ? PDH_CSTATUS_INVALID_DATA : raw->CStatus};
        if (raw->CStatus <= PDH_CSTATUS_NEW_DATA && now)
            *cell = rate_of(spec, column, sample->rows[row].identity, raw, &now[at], &earlier);
        else if (raw->CStatus <= PDH_CSTATUS_NEW_DATA && !unknown)
            cell->number = (double)raw->FirstValue;
    }
}

/* Fills the columns of an object whose names are numbered. False: no memory. */
static bool fill_numbered(struct sampler *sampler, struct table_sample *sample)
{
    struct counters *counters = sample->spec->counters;
    size_t columns = sample->spec->column_count;
    struct earlier *now = calloc(sample->row_count * columns, sizeof *now);
    if (!now)
        return false;
    for (size_t c = 0; c < columns; c++)
        if (!sample->spec->found[c].raw &&
            items_read(&sampler->values, raw_array, counters->handles[c]))
            fill_raw_column(sampler, sample, c, now);
    free(counters->earlier);
    counters->earlier = now;
    counters->earlier_rows = sample->row_count;
    return true;
}

/* Samples a table; the column with the most instances determines the rows. */
static bool sample_table(struct sampler *sampler, struct spec *spec, struct table_sample *sample)
{
    struct counters *counters = spec->counters;
    size_t columns = spec->column_count, most = 0;
    DWORD rows = 0;
    sample->spec = spec;
    if (!counters)
        return true;
    for (size_t c = 0; c < columns; c++) {
        DWORD count = count_items(counters->handles[c]);
        most = count > rows ? c : most;
        rows = count > rows ? count : rows;
    }
    counters->rows = rows > 0;
    if (!rows)
        return true;
    items_read(&sampler->values, formatted_array, counters->handles[most]);
    if (!make_rows(sampler, sample, spec) ||
        !identify_rows(sampler, counters, sample->rows, sample->row_count))
        return false;
    for (size_t c = 0; c < columns; c++)
        if (spec->found[c].raw && items_read(&sampler->values, raw_array, counters->handles[c]))
            fill_raw_column(sampler, sample, c, NULL);
        else if (!counters->numbered &&
                 items_read(&sampler->values, formatted_array, counters->handles[c]))
            fill_column(sampler, sample, c, columns);
    return !counters->numbered || fill_numbered(sampler, sample);
}

void frame_free(struct frame *frame)
{
    for (size_t i = 0; i < frame->count; i++)
        table_sample_free(&frame->tables[i]);
    free(frame->loss);
    free(frame);
}

int64_t utc_of_local(LONGLONG local)
{
    time_t seconds = (time_t)(local / SECOND - unix_epoch);
    struct tm fields;
    if (!gmtime_r(&seconds, &fields))
        return local;
    fields.tm_isdst = -1;
    return ((int64_t)mktime(&fields) + unix_epoch) * SECOND + local % SECOND;
}

LONGLONG local_of_utc(int64_t utc)
{
    time_t seconds = (time_t)(utc / SECOND - unix_epoch);
    struct tm fields;
    if (!localtime_r(&seconds, &fields))
        return utc;
    return ((int64_t)timegm(&fields) + unix_epoch) * SECOND + utc % SECOND;
}

static bool has_counters(const struct spec *spec)
{
    bool any = false;
    for (size_t c = 0; spec->counters && c < spec->column_count; c++)
        any |= spec->counters->handles[c] != NULL;
    return any;
}

/* True if the texts of a machine must be read now. Samples do not come exactly in time: the nearest
 * one to MODEL_TEXT_WANTED counts, or every second one would be too early at an interval of one
 * second. */
static bool texts_due(struct source *source, struct spec *spec)
{
    enum { RARELY = 500, SOON = 30 }; /* multiples of the processor time that a sample takes */
    double now = model_now(), age = now - spec->text_sample, cost = spec->text_cost;
    double rarely = fmin(fmax(RARELY * cost, MODEL_TEXT_SECONDS), MODEL_TEXT_MOST);
    pthread_mutex_lock(&source->mutex);
    double wanted =
        fmin(fmax(SOON * cost, MODEL_TEXT_WANTED - source->seconds / 2), MODEL_TEXT_MOST);
    bool due = !spec->text_sample || age >= rarely || (spec->wanted && age >= wanted);
    spec->wanted &= !due;
    pthread_mutex_unlock(&source->mutex);
    spec->text_sample = due ? now : spec->text_sample;
    return due;
}

/* Returns the status of a sample without data. Counters without wildcards show if the machine
 * cannot be reached. */
static PDH_STATUS why_no_data(const struct source *source, struct spec **specs, size_t count,
                              PDH_STATUS status)
{
    for (size_t i = 0; i < count && *source->name && !source->capture; i++) {
        DWORD type;
        PDH_RAW_COUNTER raw;
        PDH_HCOUNTER counter = specs[i]->counters ? specs[i]->counters->handles[0] : NULL;
        if (counter && PdhGetRawCounterValue(counter, &type, &raw) == 0 &&
            raw.CStatus == PDH_CSTATUS_NO_MACHINE)
            return (PDH_STATUS)PDH_CSTATUS_NO_MACHINE;
    }
    return status;
}

/* Adds the sample that was collected at `time` to the BLG of model_keep. After a failure, which is
 * for lack of memory, the next sample begins a new one. */
static void keep_sample(struct sampler *sampler, LONGLONG time)
{
    const DWORD access =
        PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_ALWAYS | PDH_LOG_OPT_CIRCULAR | OPL_LOG_MARKED;
    DWORD type = PDH_LOG_TYPE_BINARY;
    struct source *source = sampler->source;
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", source->kept);
    pthread_mutex_lock(&source->keeping);
    PDH_STATUS status = sampler->kept ? 0
                                      : PdhOpenLogA(path, access, &type, sampler->query, MODEL_KEPT,
                                                    NULL, &sampler->kept);
    if (!status)
        status = (PDH_STATUS)opl_log_newest(sampler->kept, time);
    if (status && (DWORD)status != PDH_NO_DATA && sampler->kept) {
        PdhCloseLog(sampler->kept, 0);
        sampler->kept = NULL;
    }
    pthread_mutex_unlock(&source->keeping);
}

/* Returns the time (UTC) of a machine's sample that PDH has collected at `local`; 0: it has not. A
 * local time alone may stand for two times, when clocks go back. */
static int64_t time_of_sample(LONGLONG local)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t time = ((int64_t)now.tv_sec + unix_epoch) * SECOND + now.tv_nsec / 100;
    int64_t took = local_of_utc(time) - local;
    return took > 0 && took < 60 * (int64_t)SECOND ? time - took : time;
}

struct frame *sample_frame(struct sampler *sampler, struct spec **specs, size_t count)
{
    struct frame *frame = calloc(1, sizeof *frame + count * sizeof *frame->tables);
    if (!frame)
        return NULL;
    frame->source = sampler->source;
    sampler->begun = model_now();
    LONGLONG local = 0;
    bool any = sampler->source->capture;
    for (size_t i = 0; i < count; i++) {
        any |= has_counters(specs[i]);
        if (specs[i]->counters)
            specs[i]->counters->rows = false; /* false until the sample has rows */
    }
    frame->status = any ? PdhCollectQueryDataWithTime(sampler->query, &local) : 0;
    frame->time = sampler->source->capture ? utc_of_local(local) : time_of_sample(local);
    frame->begun = sampler->begun;
    if (!frame->status || !sampler->source->capture)
        frame->tick = ++sampler->tick;
    if (local && sampler->source->kept >= 0)
        keep_sample(sampler, local);
    if (frame->status) {
        frame->status = why_no_data(sampler->source, specs, count, frame->status);
        return frame;
    }
    for (size_t i = 0; i < count; i++) {
        if (specs[i]->text)
            continue;
        if (!sample_table(sampler, specs[i], &frame->tables[frame->count++])) {
            frame_free(frame);
            return NULL;
        }
    }
    frame->cost = model_now() - sampler->begun;
    /* not needed until the next sample, and large with thousands of instances */
    free(sampler->values.data);
    sampler->values = (struct items){0};
    return frame;
}

struct frame *take_texts(struct sampler *sampler, struct spec **specs, size_t count)
{
    struct frame *frame = calloc(1, sizeof *frame + count * sizeof *frame->tables);
    bool good = frame, recorded = sampler->source->capture;
    for (size_t i = 0; good && i < count; i++) {
        struct spec *spec = specs[i];
        if (spec->text && recorded && spec->counters)
            good = recorded_texts(spec, spec->counters->handles, &frame->tables[frame->count++]);
        else if (spec->text && !recorded && texts_due(sampler->source, spec)) {
            double begun = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
            good = sample_texts(sampler->source, spec, &frame->tables[frame->count++]);
            spec->text_cost = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - begun;
        }
    }
    if (good && frame->count) {
        frame->source = sampler->source;
        frame->tick = sampler->tick;
        frame->begun = model_now();
        frame->texts = true;
        return frame;
    }
    if (frame)
        frame_free(frame);
    return NULL;
}

/* ---- handing over ---- */

bool hand_over(struct source *source, struct frame *frame)
{
    static const uint64_t one = 1;
    pthread_mutex_lock(&source->mutex);
    while (source->capture && source->waiting >= MOST_WAITING && !source->stop)
        pthread_cond_wait(&source->wake, &source->mutex);
    if (source->last)
        source->last->next = frame;
    else
        source->first = frame;
    source->last = frame;
    if (source->waiting++ >= MOST_WAITING) {
        struct frame *oldest = source->first;
        source->first = oldest->next;
        source->waiting--;
        source->dropped++;
        frame_free(oldest);
    }
    source->begun = 0;
    bool stop = source->stop;
    pthread_mutex_unlock(&source->mutex);
    if (write(source->model->descriptor, &one, sizeof one) < 0)
        return !stop; /* no error: the descriptor is readable already */
    return !stop;
}

static void leave_resting(struct sampler *sampler)
{
    size_t kept = 0;
    for (size_t i = 0; i < sampler->count; i++)
        if (!sampler->specs[i]->rests)
            sampler->specs[kept++] = sampler->specs[i];
        else if (sampler->specs[i]->counters)
            remove_counters(sampler->specs[i]);
    sampler->count = kept;
}

bool take_changes(struct sampler *sampler)
{
    struct source *source = sampler->source;
    struct spec **link = &source->specs, *removed = NULL;
    bool added = false;
    sampler->count = 0;
    pthread_mutex_lock(&source->mutex);
    source->changed = false;
    while (*link) {
        struct spec *spec = *link;
        if (spec->removed) {
            *link = spec->next;
            spec->next = removed;
            removed = spec;
            continue;
        }
        struct spec **specs = realloc(sampler->specs, (sampler->count + 1) * sizeof *specs);
        if (specs) {
            sampler->specs = specs;
            specs[sampler->count++] = spec;
            spec->rests = spec->resting;
            added |= !spec->rests && (spec->text ? spec->text_sample == 0 : !spec->counters);
        }
        link = &spec->next;
    }
    pthread_mutex_unlock(&source->mutex);
    leave_resting(sampler);
    while (removed) {
        struct spec *spec = removed;
        removed = spec->next;
        if (spec->counters)
            remove_counters(spec);
        pthread_mutex_lock(&source->mutex);
        spec->next = source->finished;
        source->finished = spec;
        pthread_mutex_unlock(&source->mutex);
    }
    return added;
}

bool wait_until(struct source *source, double due)
{
    pthread_mutex_lock(&source->mutex);
    bool untimed = source->at;
    double seconds = untimed ? 0 : due - model_now();
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double nanoseconds = (double)until.tv_nsec + (seconds > 0 ? seconds : 0) * NANOSECONDS;
    until.tv_sec += (time_t)(nanoseconds / NANOSECONDS);
    until.tv_nsec = (long)fmod(nanoseconds, NANOSECONDS);
    int failed = 0;
    while (!source->stop) {
        bool paused = source->paused && !source->capture;
        if (!paused && (source->changed || failed == ETIMEDOUT))
            break;
        failed = paused || untimed ? pthread_cond_wait(&source->wake, &source->mutex)
                                   : pthread_cond_timedwait(&source->wake, &source->mutex, &until);
    }
    bool stop = source->stop;
    pthread_mutex_unlock(&source->mutex);
    return !stop;
}

/* Notes that a sample begins at `now`, or that none is being taken (0). False: the sampler must
 * end. */
static bool note_begun(struct source *source, double now)
{
    pthread_mutex_lock(&source->mutex);
    source->begun = now;
    bool stop = source->stop;
    pthread_mutex_unlock(&source->mutex);
    return !stop;
}

static double interval_of(struct source *source)
{
    pthread_mutex_lock(&source->mutex);
    double seconds = source->seconds;
    pthread_mutex_unlock(&source->mutex);
    return seconds;
}

/* Finds out why a table has no rows, if model_want was called for it. */
static void find_reason(struct source *source, struct spec *spec)
{
    char object[PDH_MAX_COUNTER_PATH], text[LAST_EVENT_SIZE];
    struct counters *counters = spec->counters;
    struct column *column = spec->found;
    pthread_mutex_lock(&source->mutex);
    bool wanted = spec->wanted && !counters->rows;
    spec->wanted = false;
    pthread_mutex_unlock(&source->mutex);
    if (wanted ? model_now() < counters->reason_due : !counters->rows || !column->why)
        return;
    counters->reason_due = wanted ? model_now() + retry_first : 0;
    snprintf(object, sizeof object, "%.*s", (int)strcspn(column->path + 1, "(\\"),
             column->path + 1);
    free(column->why);
    column->why = wanted && last_event_of_object(object, text, sizeof text) ? strdup(text) : NULL;
    publish_columns(source, spec);
}

/* Takes one sample of a machine. False: the sampler must end. */
static bool sample_machine(struct sampler *sampler)
{
    note_begun(sampler->source, model_now());
    for (size_t i = 0; i < sampler->count; i++) {
        if (!sampler->specs[i]->counters && !sampler->specs[i]->text)
            sampler->specs[i]->counters = counters_new(sampler->specs[i]->column_count);
        if (sampler->specs[i]->counters)
            add_counters(sampler, sampler->specs[i]);
    }
    for (size_t i = 0; i < sampler->count; i++)
        if (sampler->specs[i]->counters && !*sampler->source->name)
            find_reason(sampler->source, sampler->specs[i]);
    struct frame *frame = sample_frame(sampler, sampler->specs, sampler->count);
    bool failed = frame && frame->status;
    if (frame && !hand_over(sampler->source, frame))
        return false;
    note_begun(sampler->source, model_now());
    /* texts begin after the second sample, so that they do not delay the first rates */
    frame =
        failed || sampler->tick < 2 ? NULL : take_texts(sampler, sampler->specs, sampler->count);
    return frame ? hand_over(sampler->source, frame) : note_begun(sampler->source, 0);
}

/* Samples a machine until the sampler must end. New tables are sampled at once, but not so soon
 * that the rates of other tables become inexact. */
static void run_machine(struct sampler *sampler)
{
    double due = 0;
    while (wait_until(sampler->source, due)) {
        bool added = take_changes(sampler);
        double seconds = interval_of(sampler->source);
        due = fmin(due, sampler->begun + (added ? fmin(least, seconds) : seconds));
        double now = model_now();
        if (now < due)
            continue;
        if (sampler->count && !sample_machine(sampler))
            return;
        now = model_now();
        due = added ? fmax(now, sampler->begun + fmin(soon, seconds)) : due + seconds;
        if (due < now)
            due = now + seconds;
    }
}

struct frame *empty_frame(struct source *source, PDH_STATUS status, bool complete)
{
    struct frame *frame = calloc(1, sizeof *frame);
    if (frame)
        *frame = (struct frame){.source = source, .status = status, .complete = complete};
    return frame;
}

/* Hands over the last frame of a source. */
static void end_with(struct source *source, PDH_STATUS status)
{
    struct frame *frame = empty_frame(source, status, false);
    if (frame)
        hand_over(source, frame);
}

/* Counts the samples of a capture, from which follows how many ticks share a place in a series. */
static bool measure_capture(struct source *source, bool may_grow)
{
    DWORD entries, size = sizeof(PDH_TIME_INFO);
    PDH_TIME_INFO info = {0};
    PDH_STATUS status = PdhGetDataSourceTimeRangeA(source->name, &entries, &info, &size);
    size_t samples = status ? 0 : info.SampleCount;
    source->step = (uint32_t)(samples / CAPTURE_PLACES + 1);
    source->time_count = samples / source->step + 2;
    if (may_grow)
        source->time_count = 2 * CAPTURE_PLACES;
    source->times = calloc(source->time_count, sizeof *source->times);
    return source->times;
}

bool is_changed(struct source *source)
{
    pthread_mutex_lock(&source->mutex);
    bool changed = source->changed || source->stop;
    pthread_mutex_unlock(&source->mutex);
    return changed;
}

static bool was_removed(struct source *source, const struct spec *spec)
{
    pthread_mutex_lock(&source->mutex);
    bool removed = spec->removed;
    pthread_mutex_unlock(&source->mutex);
    return removed;
}

/* True for the end of the capture and for a table without counters, which are no errors. */
static bool is_end(const struct sampler *sampler, DWORD status)
{
    return status == PDH_NO_MORE_DATA || (status == PDH_NO_DATA && sampler->sampled);
}

void add_loss(char **loss, const char *text)
{
    for (const char *at = text; at && *at; at += strspn(at, "\n")) {
        size_t size = strcspn(at, "\n");
        const char *old = *loss;
        char *line = strndup(at, size), *all = NULL;
        if (line && !(old && strstr(old, line)) &&
            asprintf(&all, "%s%s%s", old ? old : "", old ? "\n" : "", line) >= 0) {
            free(*loss);
            *loss = all;
        }
        free(line);
        at += size;
    }
}

void note_loss(struct sampler *sampler, PDH_STATUS status)
{
    bool torn = is_end(sampler, (DWORD)status) && opl_capture_problem();
    if (torn || (DWORD)status == PDH_BINARY_LOG_CORRUPT)
        sampler->damage = (PDH_STATUS)PDH_BINARY_LOG_CORRUPT;
    add_loss(&sampler->loss, opl_capture_problem());
    const char *text = opl_capture_unshown();
    char *unshown = text ? strdup(text) : NULL;
    if (!unshown)
        return;
    free(sampler->unshown);
    sampler->unshown = unshown;
}

/* Takes the next sample of the capture and notes damaged places before it. NULL: no memory; a frame
 * with a status is the last of this table. */
static struct frame *take_undamaged(struct sampler *sampler, struct spec *spec)
{
    struct frame *frame;
    while ((frame = sample_frame(sampler, &spec, 1)) && frame->status) {
        note_loss(sampler, frame->status);
        if ((DWORD)frame->status != PDH_BINARY_LOG_CORRUPT)
            break;
        if (++sampler->damaged > PDH_MOST_DAMAGE) {
            add_loss(&sampler->loss, PDH_MUCH_DAMAGE);
            break;
        }
        frame_free(frame);
    }
    return frame;
}

/* Called before the last table of a capture is read. If an earlier reading lost data, adds the
 * counters of all tables to this reading, so that its report counts each loss once. */
static void add_others(struct sampler *sampler)
{
    PDH_HCOUNTER handle;
    for (size_t i = 0; i < sampler->count; i++)
        if (!sampler->specs[i]->read)
            return;
    for (size_t i = 0; sampler->unshown && i < sampler->count; i++)
        for (size_t c = 0; !sampler->specs[i]->counters && c < sampler->specs[i]->column_count; c++)
            add_path(sampler, sampler->specs[i]->found[c].path, &handle);
}

/* Hands over the last frame of a table (may be NULL), unless that is no error, and the texts of the
 * last sample, which was taken at `time`. False: the sampler must end. */
static bool hand_over_end(struct sampler *sampler, struct spec *spec, struct frame *end,
                          int64_t time)
{
    bool go_on = true;
    if (end && is_end(sampler, (DWORD)end->status))
        frame_free(end);
    else if (end)
        go_on = hand_over(sampler->source, end);
    if (sampler->end == UINT64_MAX && sampler->tick) {
        sampler->end = sampler->tick;
        sampler->end_time = time;
    }
    struct frame *texts = go_on && sampler->tick ? take_texts(sampler, &spec, 1) : NULL;
    return texts ? hand_over(sampler->source, texts) : go_on;
}

/* Reads the capture once, for one table. False: the sampler must end. */
static bool read_capture(struct sampler *sampler, struct spec *spec)
{
    struct source *source = sampler->source;
    struct frame *frame = NULL;
    int64_t time = 0;
    bool go_on = true;
    sampler->tick = 0;
    sampler->damaged = 0;
    spec->counters = counters_new(spec->column_count);
    PDH_STATUS status = PdhOpenQueryA(source->name, 0, &sampler->query);
    if (status || !spec->counters)
        frame =
            empty_frame(source, status ? status : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE, false);
    else {
        add_counters(sampler, spec);
        add_others(sampler);
    }
    while (go_on && !frame && !was_removed(source, spec)) {
        frame = take_undamaged(sampler, spec);
        if (!frame || frame->status)
            break;
        time = frame->time;
        go_on = hand_over(source, frame);
        frame = NULL;
        sampler->sampled = true;
    }
    go_on = go_on && hand_over_end(sampler, spec, frame, time);
    if (spec->counters)
        remove_counters(spec);
    if (!status)
        PdhCloseQuery(sampler->query);
    return go_on;
}

/* Hands over that the capture was read to its end. False: the sampler must end. */
static bool end_reading(struct sampler *sampler)
{
    struct frame *frame =
        sampler->count ? empty_frame(sampler->source, sampler->damage, true) : NULL;
    if (!frame)
        return true;
    add_loss(&frame->loss, sampler->loss);
    add_loss(&frame->loss, sampler->unshown);
    return hand_over(sampler->source, frame);
}

/* ---- a capture that is being recorded ---- */

/* True if the capture is a file that was written to since the previous call. */
static bool is_written(struct sampler *sampler)
{
    struct stat about = {0};
    struct timespec before = sampler->modified;
    if (stat(sampler->source->name, &about) == 0)
        sampler->modified = about.st_mtim;
    return sampler->modified.tv_sec != before.tv_sec || sampler->modified.tv_nsec != before.tv_nsec;
}

/* Adds the counters of all tables, and goes to the last sample that all tables have. False: the
 * capture does not have it any more, because it was replaced or is circular. */
static bool go_to_end(struct sampler *sampler)
{
    LONGLONG time = 0;
    PDH_STATUS status = 0;
    for (size_t i = 0; i < sampler->count; i++) {
        sampler->specs[i]->counters = counters_new(sampler->specs[i]->column_count);
        if (sampler->specs[i]->counters)
            add_counters(sampler, sampler->specs[i]);
    }
    for (sampler->tick = 0; sampler->tick < sampler->end; sampler->tick += !status) {
        status = PdhCollectQueryDataWithTime(sampler->query, &time);
        if (status && (DWORD)status != PDH_BINARY_LOG_CORRUPT)
            return false;
    }
    return !sampler->end || utc_of_local(time) == sampler->end_time;
}

/* Forgets what was read, so that the capture is read again for all tables. False: the sampler must
 * end. */
static bool read_again(struct sampler *sampler)
{
    struct source *source = sampler->source;
    struct frame *frame = empty_frame(source, 0, false);
    if (!frame)
        return true;
    frame->again = true;
    sampler->end = UINT64_MAX;
    sampler->damage = 0; /* what was lost of the capture before says nothing about this one */
    free(sampler->loss);
    free(sampler->unshown);
    sampler->loss = sampler->unshown = NULL;
    add_loss(&sampler->loss, sampler->given);
    pthread_mutex_lock(&source->mutex);
    for (struct spec *spec = source->specs; spec; spec = spec->next)
        spec->read = false;
    source->changed = true;
    pthread_mutex_unlock(&source->mutex);
    return hand_over(source, frame);
}

/* Hands over the samples that were written since. False: the sampler must end. */
static bool take_new(struct sampler *sampler)
{
    struct frame *frame = NULL;
    int64_t time = 0;
    bool go_on = true;
    while (go_on && (frame = sample_frame(sampler, sampler->specs, sampler->count)) &&
           !frame->status) {
        time = frame->time;
        go_on = hand_over(sampler->source, frame);
    }
    if (go_on && frame)
        frame_free(frame);
    if (!go_on || sampler->tick <= sampler->end)
        return go_on;
    sampler->end = sampler->tick;
    sampler->end_time = time;
    frame = take_texts(sampler, sampler->specs, sampler->count);
    return (!frame || hand_over(sampler->source, frame)) && end_reading(sampler);
}

/* Waits until tables are added or removed, or the capture must be read again; meanwhile hands over
 * what is written to the capture. It is opened again for that: a query that was at the end of a BLG
 * does not go on. `took`: the processor time of the reading before, in seconds.
 * False: the sampler must end. */
static bool follow(struct sampler *sampler, double took)
{
    double due = model_now() + fmax(FOLLOW_SECONDS, took * FOLLOW_SHARE);
    while (wait_until(sampler->source, due)) {
        if (is_changed(sampler->source))
            return true;
        double begun = model_now();
        if (sampler->count && is_written(sampler) &&
            !PdhOpenQueryA(sampler->source->name, 0, &sampler->query)) {
            bool go_on = go_to_end(sampler) ? take_new(sampler) : read_again(sampler);
            for (size_t i = 0; i < sampler->count; i++)
                if (sampler->specs[i]->counters)
                    remove_counters(sampler->specs[i]);
            PdhCloseQuery(sampler->query);
            if (!go_on)
                return false;
        }
        due = model_now() + fmax(FOLLOW_SECONDS, (model_now() - begun) * FOLLOW_SHARE);
    }
    return false;
}

static void run_capture(struct sampler *sampler)
{
    sampler->end = UINT64_MAX;
    bool is_file = is_written(sampler);
    add_loss(&sampler->given, sampler->source->loss);
    add_loss(&sampler->loss, sampler->given);
    if (!measure_capture(sampler->source, is_file)) {
        end_with(sampler->source, (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE);
        return;
    }
    double took;
    do {
        took = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
        take_changes(sampler);
        for (size_t i = 0; i < sampler->count; i++)
            if (!sampler->specs[i]->read) {
                sampler->specs[i]->read = true;
                if (!read_capture(sampler, sampler->specs[i]))
                    return;
            }
        if (sampler->end == UINT64_MAX)
            sampler->end = 0;
        if (!end_reading(sampler))
            return;
        took = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - took;
    } while (follow(sampler, took));
}

static void wait_for_release(struct source *source)
{
    pthread_mutex_lock(&source->mutex);
    while (!source->released && !source->stop)
        pthread_cond_wait(&source->wake, &source->mutex);
    pthread_mutex_unlock(&source->mutex);
}

void *sampler_run(void *argument)
{
    struct sampler sampler = {.source = argument};
    PDH_STATUS status = 0;
    wait_for_release(sampler.source);
    if (sampler.source->at)
        run_moment(&sampler);
    else if (sampler.source->capture)
        run_capture(&sampler);
    else if ((status = PdhOpenQueryA(NULL, 0, &sampler.query)))
        end_with(sampler.source, status);
    else {
        run_machine(&sampler);
        if (sampler.kept)
            PdhCloseLog(sampler.kept, 0);
        for (size_t i = 0; i < sampler.count; i++)
            if (sampler.specs[i]->counters)
                remove_counters(sampler.specs[i]);
        PdhCloseQuery(sampler.query);
    }
    free(sampler.specs);
    free(sampler.loss);
    free(sampler.given);
    free(sampler.unshown);
    free(sampler.values.data);
    pthread_mutex_lock(&sampler.source->mutex);
    sampler.source->ended = true;
    pthread_cond_broadcast(&sampler.source->wake);
    pthread_mutex_unlock(&sampler.source->mutex);
    return NULL;
}
