/* SPDX-License-Identifier: MIT */
/*
 * One answer: all objects are read by one query, so that their values are of one moment. From time
 * to time the objects that exist are looked up again, and each is then queried alone, to know how
 * long it takes.
 */
#include "metrics.h"

#include "../common/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <winerror.h>

enum {
    MEASURE_SECONDS = 300,
    LOOK_SECONDS = 3600,
    QUERY_SIZE = 16384,
    OBJECT_TITLE_SIZE = 256,
    OBJECTS_MOST = 1024
};

struct object {
    uint32_t index;
    char title[OBJECT_TITLE_SIZE], prefix[OBJECT_TITLE_SIZE];
    char label[OBJECT_TITLE_SIZE * 6 + 16]; /* object="..." */
    bool usual;                             /* read also if a request names no objects */
    /* duration of a query for it alone; below 0: not known */
    double seconds;
    bool exists; /* it existed when objects were last looked up */
    /* about the answer that is being made */
    bool requested, good, has_clock;
    struct metric_value clock;
    size_t left_out; /* samples above the limit; kept from one answer to the next */
};

struct metrics {
    struct metrics_settings settings;
    struct view_names names;
    struct walk *walk;
    struct view_snapshot snapshot;
    struct object *objects;
    size_t object_count;
    double looked, measured; /* when this was last done; 0: never */
    FILETIME written;        /* the registry's time at the last look */
};

/* Objects that have an instance for each process or thread: too many series for every machine. */
static const uint32_t process_objects[] = {230,  232,  740,    786,    816,
                                           1408, 1548, 101800, 101900, 102000};
enum { PROCESS_V2 = 101900 };

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- which objects there are ---- */

static struct object *object_of(const struct metrics *metrics, uint32_t index)
{
    for (size_t i = 0; i < metrics->object_count; i++)
        if (metrics->objects[i].index == index)
            return &metrics->objects[i];
    return NULL;
}

/* Adds an object, if it has a title; the data of an object that is already there is kept. NULL: it
 * has no title, there are too many, or no memory. */
static struct object *add_object(struct metrics *metrics, uint32_t index)
{
    const char *title = names_english(&metrics->names, index);
    struct object *object = object_of(metrics, index);
    char valid[OBJECT_TITLE_SIZE], escaped[OBJECT_TITLE_SIZE * 2 + 1];
    if (!title || (!object && metrics->object_count == OBJECTS_MOST))
        return NULL;
    metric_utf8(title, valid, sizeof valid);
    if (object && !strcmp(object->title, valid)) {
        object->exists = true;
        return object;
    }
    if (!object) {
        object = reallocarray(metrics->objects, metrics->object_count + 1, sizeof *object);
        if (!object)
            return NULL;
        metrics->objects = object;
        object += metrics->object_count++;
    }
    *object = (struct object){.index = index, .exists = true, .seconds = -1};
    strcpy(object->title, valid);
    metric_escape(object->title, escaped);
    snprintf(object->label, sizeof object->label, "object=\"%s\"", escaped);
    strcpy(object->prefix, "perf_");
    metric_snake(title, object->prefix + 5, sizeof object->prefix - 5);
    return object;
}

static bool add_registered(void *self, const char *name)
{
    struct service_settings service;
    char *end;
    if (service_read(name, &service) == ERROR_SUCCESS && service_enabled(&service))
        for (char *at = service.object_list; at && *at; at = *end ? end + 1 : end) {
            unsigned long index = strtoul(at, &end, 10);
            if (end != at && index <= UINT32_MAX)
                add_object(self, (uint32_t)index);
        }
    service_done(&service);
    return true;
}

static bool is_per_process(uint32_t index)
{
    for (size_t i = 0; i < sizeof process_objects / sizeof *process_objects; i++)
        if (process_objects[i] == index)
            return true;
    return false;
}

/* Measures how long each usual object takes alone. */
static void measure(struct metrics *metrics)
{
    char query[16];
    for (size_t i = 0; i < metrics->object_count; i++) {
        struct object *object = &metrics->objects[i];
        if (!object->usual)
            continue;
        double begin = seconds_now();
        snprintf(query, sizeof query, "%u", object->index);
        object->seconds = snapshot_query(&metrics->snapshot, query) ? -1 : seconds_now() - begin;
    }
}

/* Looks up which objects exist. One that is registered stays even if it does not answer, so that
 * this is reported. */
static void look(struct metrics *metrics)
{
    opl_object_view at = {0};
    size_t kept = 0;
    for (size_t i = 0; i < metrics->object_count; i++)
        metrics->objects[i].exists = false;
    service_each(add_registered, metrics);
    if (!snapshot_query(&metrics->snapshot, "Global") && snapshot_begin(&metrics->snapshot))
        while (snapshot_next_object(&metrics->snapshot, &at)) {
            struct object *object = add_object(metrics, at.type.ObjectNameTitleIndex);
            if (object)
                object->usual = !is_per_process(object->index);
        }
    snapshot_done(&metrics->snapshot); /* the answer for all processes may be large */
    for (size_t i = 0; i < metrics->object_count; i++)
        if (metrics->objects[i].exists)
            metrics->objects[kept++] = metrics->objects[i];
    metrics->object_count = kept;
    struct object *processes = object_of(metrics, PROCESS_V2); /* its names are unique */
    if (processes)
        processes->usual = metrics->settings.processes;
}

/* Looks again after a time, or at once when providers were registered or removed. */
static void refresh(struct metrics *metrics)
{
    FILETIME written = {0}; /* when anything was registered or removed */
    double now = seconds_now();
    RegQueryInfoKeyA(HKEY_PERFORMANCE_TEXT, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                     NULL, &written);
    bool changed = metrics->looked == 0 || memcmp(&written, &metrics->written, sizeof written) != 0;
    if (changed) {
        walk_forget(metrics->walk);
        names_done(&metrics->names);
        names_load(&metrics->names, "009");
        metrics->written = written;
    }
    if (changed || now - metrics->looked > LOOK_SECONDS) {
        look(metrics);
        metrics->looked = now;
    }
    if (changed || now - metrics->measured > MEASURE_SECONDS) {
        measure(metrics);
        metrics->measured = now;
    }
}

struct metrics *metrics_new(const struct metrics_settings *settings)
{
    struct metrics *metrics = calloc(1, sizeof *metrics);
    if (!metrics)
        return NULL;
    metrics->settings = *settings;
    metrics->walk = walk_new(&metrics->names);
    if (metrics->walk)
        return metrics;
    free(metrics);
    return NULL;
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    walk_free(metrics->walk);
    names_done(&metrics->names);
    snapshot_done(&metrics->snapshot);
    free(metrics->objects);
    free(metrics);
}

uint32_t metrics_find(struct metrics *metrics, const char *word)
{
    refresh(metrics);
    for (size_t i = 0; i < metrics->object_count; i++)
        if (text_equal(metrics->objects[i].title, word) ||
            !strcmp(metrics->objects[i].prefix, word))
            return metrics->objects[i].index;
    return 0;
}

uint32_t metrics_find_source(struct metrics *metrics, const char *sample)
{
    size_t longest = 0;
    uint32_t index = 0;
    refresh(metrics);
    for (size_t i = 0; i < metrics->object_count; i++) {
        size_t size = strlen(metrics->objects[i].prefix);
        if (size > longest && !strncmp(metrics->objects[i].prefix, sample, size) &&
            sample[size] == '_') {
            longest = size;
            index = metrics->objects[i].index;
        }
    }
    return index;
}

void metrics_each(struct metrics *metrics,
                  void (*each)(void *self, const char *title, const char *prefix), void *self)
{
    refresh(metrics);
    for (size_t i = 0; i < metrics->object_count; i++)
        each(self, metrics->objects[i].title, metrics->objects[i].prefix);
}

/* ---- what the exporter says of itself ---- */

static const struct metric_value one = {.whole = 1}, zero = {0};

/* Emits a gauge without labels, or with those of an object; `begin`: it is the family's first. */
static void emit(struct metric_sink *sink, const char *name, const char *help,
                 const struct object *object, const struct metric_value *value, bool begin)
{
    struct metric_family family = {
        .kind = METRIC_GAUGE, .sample_count = 1, .help = help, .unit = ""};
    struct metric_labels labels = {.name = "", .parent = "", .text = ""};
    size_t size = strlen(name);
    strcpy(family.name, name);
    family.samples[0].suffix = "";
    if (size > 8 && !strcmp(name + size - 8, "_seconds"))
        family.unit = "seconds";
    if (object) {
        labels.text = object->label;
        labels.size = strlen(object->label);
    }
    if (begin)
        sink->family(sink, &family);
    sink->sample(sink, &family, &family.samples[0], &labels, NULL, value);
}

static void emit_times(const struct metrics *metrics, struct metric_sink *sink)
{
    const PERF_DATA_BLOCK *header = &metrics->snapshot.block.header;
    struct metric_value value = {
        .whole = (uint64_t)header->PerfTime100nSec.QuadPart - METRIC_EPOCH_100NS, .digits = 7};
    if (header->PerfTime100nSec.QuadPart >= METRIC_EPOCH_100NS)
        emit(sink, "perf_sample_time_seconds",
             "When the values were read, since 1970; the clock of timers in units of 100 ns.", NULL,
             &value, true);
    if (metric_divide((uint64_t)header->PerfTime.QuadPart, header->PerfFreq.QuadPart, &value))
        emit(sink, "perf_sample_ticks_seconds",
             "When the values were read, on the clock of rates and of timers in ticks.", NULL,
             &value, true);
}

/* Emits the families that have a sample for each requested object. */
static void emit_objects(const struct metrics *metrics, struct metric_sink *sink)
{
    enum { SUCCESS, DURATION, LEFT_OUT, CLOCK, FAMILIES };
    static const char *const names[][2] = {
        {"perf_object_success",          "1 if the object was read and all of it is exposed."   },
        {"perf_object_duration_seconds", "How long a query for this object alone took, at most 5 "
                                         "minutes ago." },
        {"perf_object_left_out",         "Series that are not exposed because there would be too "
                                 "many."                        },
        {"perf_object_time_seconds",     "When the values were read, on the object's own clock."},
    };
    for (int f = 0; f < FAMILIES; f++) {
        bool begin = true;
        for (size_t i = 0; i < metrics->object_count; i++) {
            const struct object *object = &metrics->objects[i];
            struct metric_value value =
                f == SUCCESS    ? object->good ? one : zero
                : f == DURATION ? (struct metric_value){.is_real = true, .real = object->seconds}
                : f == LEFT_OUT ? (struct metric_value){.whole = object->left_out}
                                : object->clock;
            if (!object->requested || (f == DURATION && object->seconds < 0) ||
                (f == LEFT_OUT && !object->left_out) || (f == CLOCK && !object->has_clock))
                continue;
            emit(sink, names[f][0], names[f][1], object, &value, begin);
            begin = false;
        }
    }
}

/* ---- an answer ---- */

/* Marks the requested objects, and writes the query for them. */
static void write_query(struct metrics *metrics, const uint32_t *objects, size_t count,
                        char query[static QUERY_SIZE])
{
    size_t used = 0;
    strcpy(query, "0"); /* no object has this number */
    for (size_t i = 0; i < metrics->object_count; i++) {
        struct object *object = &metrics->objects[i];
        object->requested = count == 0 && object->usual;
        object->good = object->has_clock = false;
        for (size_t k = 0; k < count; k++)
            object->requested |= objects[k] == object->index;
        if (object->requested)
            used += (size_t)snprintf(query + used, QUERY_SIZE - used, "%u ", object->index);
    }
}

static void report_left_out(struct object *object, size_t count, size_t most)
{
    if (count && !object->left_out)
        fprintf(stderr,
                "openperflib-serve: the object %s is not exposed: with its %zu series there would "
                "be more than %zu; to expose it, use --metrics-series\n",
                text_seen(object->title), count, most);
    object->left_out = count;
}

LSTATUS metrics_collect(struct metrics *metrics, const uint32_t *objects, size_t count,
                        struct metric_sink *sink)
{
    char query[QUERY_SIZE];
    size_t left = metrics->settings.series_most, size;
    opl_object_view at = {0};
    refresh(metrics);
    write_query(metrics, objects, count, query);
    LSTATUS status = snapshot_query(&metrics->snapshot, query);
    if (!status && !snapshot_begin(&metrics->snapshot))
        status = ERROR_INVALID_DATA;
    if (status)
        return status;
    emit_times(metrics, sink);
    opl_block *block = &metrics->snapshot.block;
    while (opl_block_next_object(block, &at)) {
        struct object *object = object_of(metrics, at.type.ObjectNameTitleIndex);
        if (!object || !object->requested || object->good)
            continue; /* parents of the requested instances, or the same object again */
        enum walk_result result = walk_object(metrics->walk, block, &at, left, sink, &size);
        object->good = result == WALK_GOOD;
        report_left_out(object, result == WALK_TOO_MANY ? size : 0, metrics->settings.series_most);
        if (result == WALK_GOOD)
            left -= size;
        object->has_clock = metric_divide((uint64_t)at.type.PerfTime.QuadPart,
                                          at.type.PerfFreq.QuadPart, &object->clock);
    }
    emit_objects(metrics, sink);
    return ERROR_SUCCESS;
}
