/* SPDX-License-Identifier: MIT */
/*
 * One answer: all objects are read by one query, so that their values are of one moment. From time
 * to time the objects that exist are looked up again, and each is then queried alone, to know how
 * long it takes.
 */
#include "metrics.h"

#include "groups.h"

#include "../common/clock.h"
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
    OBJECTS_MOST = 1024,
    SAME_TITLES = 4,       /* objects of one title that a machine may have */
    REMOTE_MOST = 8 << 20, /* the largest block that is taken from another machine */
    BLOCK_KEPT = 768 << 10 /* bytes of a block whose memory is kept from one answer to the next */
};

struct object {
    uint32_t index; /* 0: the machine knows no object of this title */
    char title[OBJECT_TITLE_SIZE], prefix[OBJECT_TITLE_SIZE];
    bool usual; /* read also if a request names no objects */
    /* duration of a query for it alone; below 0: not known */
    double seconds;
    bool exists; /* it existed when objects were last looked up */
    /* about the answer that is being made */
    bool requested, seen, good, has_clock;
    struct metric_value clock;
    size_t left_out; /* samples above the limit; kept from one answer to the next */
};

struct metrics {
    struct metrics_settings settings;
    HKEY data, perflib;    /* keys of another machine; NULL: none, or not connected yet */
    struct titles *titles; /* NULL: not read yet */
    struct carry *carry;
    struct view_snapshot snapshot;
    struct object *objects;
    size_t object_count;
    double titled, looked, measured; /* when this was last done; 0: never */
    /* the registry's time when titles were read, or the other machine's Last Counter */
    FILETIME written;
    int64_t ticks; /* the clock of the last block from another machine */
    double read;   /* when that block came; 0: there was none */
    size_t steps;  /* of searches in this block */
};

/* Objects that have an instance for each process or thread: too many series for every machine. */
static const uint32_t process_objects[] = {230,  232,  740,    786,    816,
                                           1408, 1548, 101800, 101900, 102000};
/* PROCESS_GROUPS is no object of Perflib: it is made from the two others. */
enum { PROCESS_V2 = 101900, PROCESS_DETAILS = 102000, PROCESS_GROUPS = INT32_MAX };

/* ---- which objects there are ---- */

static struct object *object_of(const struct metrics *metrics, uint32_t index)
{
    for (size_t i = 0; i < metrics->object_count; i++)
        if (metrics->objects[i].index == index)
            return &metrics->objects[i];
    return NULL;
}

static struct object *object_titled(const struct metrics *metrics, const char *title)
{
    for (size_t i = 0; i < metrics->object_count; i++)
        if (!metrics->objects[i].index && !strcmp(metrics->objects[i].title, title))
            return &metrics->objects[i];
    return NULL;
}

/* Adds an object with its title; the data of an object that is already there is kept. NULL: it has
 * no title, there are too many, or no memory. */
static struct object *add_object(struct metrics *metrics, uint32_t index, const char *title)
{
    struct object *object =
        index || !title ? object_of(metrics, index) : object_titled(metrics, title);
    char valid[OBJECT_TITLE_SIZE];
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
    strcpy(object->prefix, "perf_");
    metric_snake(title, object->prefix + 5, sizeof object->prefix - 5);
    return object;
}

static struct object *add_index(struct metrics *metrics, uint32_t index)
{
    if (index == PROCESS_GROUPS)
        return NULL; /* a block has it only if it lies */
    return add_object(metrics, index, names_english(&metrics->titles->names, index));
}

static bool add_registered(void *self, const char *name)
{
    struct service_settings service;
    char *end;
    if (service_read(name, &service) == ERROR_SUCCESS && service_enabled(&service))
        for (char *at = service.object_list; at && *at; at = *end ? end + 1 : end) {
            unsigned long index = strtoul(at, &end, 10);
            if (end != at && index <= UINT32_MAX)
                add_index(self, (uint32_t)index);
        }
    service_done(&service);
    return true;
}

/* Writes the object's number for a query, or those from which it is made. Returns the length. */
static size_t write_object(const struct metrics *metrics, const struct object *object, char *out,
                           size_t capacity)
{
    if (object->index != PROCESS_GROUPS)
        return (size_t)snprintf(out, capacity, "%u ", object->index);
    bool texts = groups_need_texts(metrics->settings.groups);
    return (size_t)snprintf(out, capacity, texts ? "%u %u " : "%u ", PROCESS_V2, PROCESS_DETAILS);
}

static bool is_per_process(uint32_t index)
{
    for (size_t i = 0; i < sizeof process_objects / sizeof *process_objects; i++)
        if (process_objects[i] == index)
            return true;
    return false;
}

/* Measures how long each `usual` object takes alone. */
static void measure(struct metrics *metrics)
{
    char query[32];
    for (size_t i = 0; i < metrics->object_count; i++) {
        struct object *object = &metrics->objects[i];
        if (!object->usual)
            continue;
        double begin = clock_seconds(CLOCK_BOOTTIME);
        write_object(metrics, object, query, sizeof query);
        object->seconds =
            snapshot_query(&metrics->snapshot, query) ? -1 : clock_seconds(CLOCK_BOOTTIME) - begin;
    }
}

/* Looks up which objects exist. One that is registered stays even if it does not answer, so that
 * this is reported. */
static LSTATUS look(struct metrics *metrics)
{
    opl_object_view at = {0};
    size_t kept = 0;
    for (size_t i = 0; i < metrics->object_count; i++)
        metrics->objects[i].exists = !metrics->objects[i].index; /* reported once, so it stays */
    if (!metrics->settings.machine)
        service_each(add_registered, metrics);
    LSTATUS status = snapshot_query(&metrics->snapshot, "Global");
    if (!status && snapshot_begin(&metrics->snapshot))
        while (snapshot_next_object(&metrics->snapshot, &at)) {
            struct object *object = add_index(metrics, at.type.ObjectNameTitleIndex);
            if (object)
                object->usual = !is_per_process(object->index);
        }
    struct object *groups =
        metrics->settings.groups ? add_object(metrics, PROCESS_GROUPS, "Process Group") : NULL;
    if (groups)
        groups->usual = true;
    snapshot_done(&metrics->snapshot); /* the answer for all processes may be large */
    for (size_t i = 0; i < metrics->object_count; i++)
        if (metrics->objects[i].exists)
            metrics->objects[kept++] = metrics->objects[i];
    metrics->object_count = kept;
    struct object *processes = object_of(metrics, PROCESS_V2); /* its names are unique */
    if (processes)
        processes->usual = metrics->settings.processes;
    return status;
}

/* ---- another machine ---- */

/* Opens the other machine's keys, which share one connection. The library opens that again when it
 * was lost, so the keys stay. */
static LSTATUS connect_machine(struct metrics *metrics)
{
    HKEY root;
    if (metrics->data)
        return ERROR_SUCCESS;
    LSTATUS status =
        RegConnectRegistryA(metrics->settings.machine, HKEY_PERFORMANCE_DATA, &metrics->data);
    if (status) {
        metrics->data = NULL;
        return status;
    }
    metrics->snapshot.most = REMOTE_MOST;
    if (RegConnectRegistryA(metrics->settings.machine, HKEY_LOCAL_MACHINE, &root))
        return ERROR_SUCCESS;
    if (RegOpenKeyExA(root, "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib", 0, KEY_READ,
                      &metrics->perflib))
        metrics->perflib = NULL;
    RegCloseKey(root);
    return ERROR_SUCCESS;
}

/* Reads what changes when counters are registered or removed. False: that is not known. */
static bool read_written(const struct metrics *metrics, FILETIME *ret)
{
    DWORD size = sizeof ret->dwLowDateTime, type;
    if (!metrics->settings.machine)
        return !RegQueryInfoKeyA(HKEY_PERFORMANCE_TEXT, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                 NULL, NULL, NULL, ret);
    return metrics->perflib &&
           !RegQueryValueExA(metrics->perflib, "Last Counter", NULL, &type,
                             (LPBYTE)&ret->dwLowDateTime, &size) &&
           type == REG_DWORD;
}

/* ---- */

/* Reads the titles if they have changed, or if that is not known for a time. *ret: they are new. */
static LSTATUS refresh_titles(struct metrics *metrics, bool *ret)
{
    FILETIME written = {0};
    bool remote = metrics->settings.machine, known = read_written(metrics, &written);
    double now = clock_seconds(CLOCK_BOOTTIME);
    struct titles *titles;
    if (metrics->titles && !memcmp(&written, &metrics->written, sizeof written) &&
        (known || now - metrics->titled < LOOK_SECONDS))
        return ERROR_SUCCESS;
    LSTATUS status = titles_take(remote, &titles);
    if (status)
        return status;
    titles_drop(metrics->titles);
    metrics->titles = titles;
    metrics->written = written;
    metrics->titled = now;
    *ret = true;
    return ERROR_SUCCESS;
}

/* Looks again after a time, or at once when counters were registered or removed. `objects`: what
 * exists is of interest, too. */
static LSTATUS refresh(struct metrics *metrics, bool objects)
{
    bool remote = metrics->settings.machine, changed = false;
    LSTATUS status = remote ? connect_machine(metrics) : ERROR_SUCCESS;
    if (status)
        return status;
    view_use(metrics->data);
    status = refresh_titles(metrics, &changed);
    if (status)
        return status;
    if (changed)
        metrics->looked = metrics->measured = 0;
    double now = clock_seconds(CLOCK_BOOTTIME);
    if (objects && (metrics->looked == 0 || now - metrics->looked > LOOK_SECONDS)) {
        status = look(metrics);
        metrics->looked = remote && status ? 0 : now;
    }
    if (!remote && (metrics->measured == 0 || now - metrics->measured > MEASURE_SECONDS)) {
        measure(metrics);
        metrics->measured = now;
    }
    return remote ? status : ERROR_SUCCESS;
}

struct metrics *metrics_new(const struct metrics_settings *settings)
{
    struct metrics *metrics = calloc(1, sizeof *metrics);
    if (!metrics)
        return NULL;
    metrics->settings = *settings;
    metrics->carry = carry_new();
    if (metrics->carry)
        return metrics;
    free(metrics);
    return NULL;
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    if (metrics->perflib)
        RegCloseKey(metrics->perflib);
    if (metrics->data)
        RegCloseKey(metrics->data);
    titles_drop(metrics->titles);
    carry_free(metrics->carry);
    groups_free(metrics->settings.groups);
    vocabulary_free(metrics->settings.names);
    snapshot_done(&metrics->snapshot);
    free(metrics->objects);
    free(metrics);
}

uint32_t metrics_find(struct metrics *metrics, const char *word)
{
    refresh(metrics, true);
    for (size_t i = 0; i < metrics->object_count; i++)
        if (text_equal(metrics->objects[i].title, word) ||
            !strcmp(metrics->objects[i].prefix, word))
            return metrics->objects[i].index;
    return 0;
}

void metrics_each(struct metrics *metrics,
                  void (*each)(void *self, const char *title, const char *prefix), void *self)
{
    refresh(metrics, true);
    for (size_t i = 0; i < metrics->object_count; i++)
        each(self, metrics->objects[i].title, metrics->objects[i].prefix);
}

/* ---- what the exporter says of itself ---- */

static const struct metric_value one = {.whole = 1}, zero = {0};

void metrics_emit(struct metric_sink *sink, const char *name, const char *help, const char *text,
                  const struct metric_value *value, bool begin)
{
    struct metric_family family = {
        .kind = METRIC_GAUGE, .sample_count = 1, .help = help, .unit = ""};
    struct metric_labels labels = {.name = "", .parent = "", .text = ""};
    size_t size = strlen(name);
    strcpy(family.name, name);
    family.samples[0].suffix = "";
    if (size > 8 && !strcmp(name + size - 8, "_seconds"))
        family.unit = "seconds";
    if (text) {
        labels.text = text;
        labels.size = strlen(text);
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
        metrics_emit(
            sink, METRIC_SAMPLE_TIME,
            "When the values were read, since 1970; the clock of timers in units of 100 ns.", NULL,
            &value, true);
    if (metric_divide((uint64_t)header->PerfTime.QuadPart, header->PerfFreq.QuadPart, &value))
        metrics_emit(sink, "perf_sample_ticks_seconds",
                     "When the values were read, on the clock of rates and of timers in ticks.",
                     NULL, &value, true);
}

/* Is the object missing, while another one of its title is there or was found missing before? */
static bool is_repeated(const struct metrics *metrics, size_t at)
{
    const struct object *objects = metrics->objects;
    for (size_t i = 0; !objects[at].good && i < metrics->object_count; i++)
        if (i != at && objects[i].requested && (objects[i].good || i < at) &&
            !strcmp(objects[i].title, objects[at].title))
            return true;
    return false;
}

enum object_family {
    OBJECT_SUCCESS,
    OBJECT_DURATION,
    OBJECT_LEFT_OUT,
    OBJECT_CLOCK,
    OBJECT_FAMILIES
};

/* False: the object has no sample of this family. */
static bool object_value(const struct object *object, enum object_family family,
                         struct metric_value *ret)
{
    switch (family) {
    case OBJECT_SUCCESS:
        *ret = object->good ? one : zero;
        return true;
    case OBJECT_DURATION:
        *ret = (struct metric_value){.is_real = true, .real = object->seconds};
        return object->seconds >= 0;
    case OBJECT_LEFT_OUT:
        *ret = (struct metric_value){.whole = object->left_out};
        return object->left_out;
    default:
        *ret = object->clock;
        return object->has_clock;
    }
}

/* Emits the families that have a sample for each requested object. */
static void emit_objects(const struct metrics *metrics, struct metric_sink *sink)
{
    static const char *const names[][2] = {
        {"perf_object_success",          "1 if the object was read and all of it is exposed."   },
        {"perf_object_duration_seconds", "How long a query for this object alone took, at most 5 "
                                         "minutes ago." },
        {"perf_object_left_out",         "Series that are not exposed because there would be too "
                                 "many."                        },
        {"perf_object_time_seconds",     "When the values were read, on the object's own clock."},
    };
    for (enum object_family f = 0; f < OBJECT_FAMILIES; f++) {
        bool begin = true;
        for (size_t i = 0; i < metrics->object_count; i++) {
            const struct object *object = &metrics->objects[i];
            struct metric_value value;
            if (!object->requested || !object_value(object, f, &value) || is_repeated(metrics, i))
                continue;
            char label[OBJECT_TITLE_SIZE * 2 + 16] = "object=\"";
            strcat(label + metric_escape(object->title, label + 8), "\"");
            metrics_emit(sink, names[f][0], names[f][1], label, &value, begin);
            begin = false;
        }
    }
}

/* ---- an answer ---- */

/* Marks the objects that are requested by number; count 0: the usual ones. */
static void request_objects(const struct metrics *metrics, const uint32_t *objects, size_t count)
{
    for (size_t i = 0; i < metrics->object_count; i++) {
        struct object *object = &metrics->objects[i];
        object->requested = count == 0 && object->usual;
        for (size_t k = 0; k < count; k++)
            object->requested |= objects[k] == object->index;
    }
}

static void report_unknown(const struct metrics *metrics, const struct object *object)
{
    char title[4 * OBJECT_TITLE_SIZE], machine[OBJECT_TITLE_SIZE];
    text_clean(object->title, title, sizeof title); /* text_seen has one buffer for all threads */
    text_clean(metrics->settings.machine, machine, sizeof machine);
    fprintf(
        stderr,
        "openperflib-serve: [modules]: %s knows no object \"%s\"; if it is mistyped, correct it "
        "in the file of --metrics-machines\n",
        machine, title);
}

/* Marks the objects that are requested by title. A counter may have the same title as an object, so
 * all numbers of the title are requested. */
static void request_titles(struct metrics *metrics, char *const *titles, size_t count)
{
    request_objects(metrics, (const uint32_t[]){UINT32_MAX}, 1); /* none */
    for (size_t k = 0; k < count; k++) {
        uint32_t found[SAME_TITLES] = {0};
        size_t most = names_find(&metrics->titles->names, titles[k], found, SAME_TITLES);
        for (size_t i = 0; i < (most ? most : 1); i++) {
            bool known = most || object_titled(metrics, titles[k]);
            struct object *object =
                most ? add_index(metrics, found[i]) : add_object(metrics, 0, titles[k]);
            if (object)
                object->requested = true;
            if (object && !known)
                report_unknown(metrics, object);
        }
    }
}

/* Marks the object from which a sample of this name comes. */
static void request_source(void *context, const char *sample)
{
    struct metrics *metrics = context;
    struct object *found = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < metrics->object_count; i++) {
        size_t size = strlen(metrics->objects[i].prefix);
        if (size > longest && !strncmp(metrics->objects[i].prefix, sample, size) &&
            sample[size] == '_') {
            longest = size;
            found = &metrics->objects[i];
        }
    }
    if (found)
        found->requested = true;
}

/* Marks the objects that have something under these names, and the groups, which keep theirs. */
static void request_sources(struct metrics *metrics, const struct vocabulary *names)
{
    request_objects(metrics, (const uint32_t[]){PROCESS_GROUPS}, 1);
    vocabulary_sources(names, request_source, metrics);
}

/* Writes the query for the requested objects. */
static void write_query(struct metrics *metrics, char query[static QUERY_SIZE])
{
    size_t used = 0;
    strcpy(query, "0"); /* no object has this number */
    for (size_t i = 0; i < metrics->object_count; i++) {
        struct object *object = &metrics->objects[i];
        object->seen = object->good = object->has_clock = false;
        if (object->requested && object->index)
            used += write_object(metrics, object, query + used, QUERY_SIZE - used);
    }
}

static void report_left_out(const struct metrics *metrics, struct object *object, size_t count)
{
    char title[4 * OBJECT_TITLE_SIZE]; /* text_seen has one buffer for all threads */
    if (count && !object->left_out && !metrics->settings.machine) {
        text_clean(object->title, title, sizeof title);
        fprintf(stderr,
                "openperflib-serve: the object %s is not exposed: with its %zu series there would "
                "be more than %zu; to expose it, use --metrics-series\n",
                title, count, metrics->settings.series_most);
    }
    object->left_out = count;
}

/* Gives an object of the block to the sink, unless it has more than `most` samples. */
static enum walk_result walk_one(struct metrics *metrics, const opl_object_view *at, size_t most,
                                 struct metric_sink *sink, size_t *ret_size)
{
    struct titles *titles = metrics->titles;
    pthread_mutex_lock(&titles->lock);
    walk_use(titles->walk, metrics->carry, &metrics->steps);
    enum walk_result result =
        walk_object(titles->walk, &metrics->snapshot.block, at, most, sink, ret_size);
    pthread_mutex_unlock(&titles->lock);
    return result;
}

/* Adds the processes of the block to their groups, and exposes these. */
static void collect_groups(struct metrics *metrics, struct object *object, size_t left,
                           struct metric_sink *sink)
{
    static const uint32_t sources[] = {PROCESS_V2, PROCESS_DETAILS};
    struct groups *groups = metrics->settings.groups;
    opl_object_view at;
    size_t size;
    bool good = true;
    for (size_t i = 0; good && i < (groups_need_texts(groups) ? 2 : 1); i++)
        good = opl_block_find_object(&metrics->snapshot.block, sources[i], &at) &&
               walk_one(metrics, &at, SIZE_MAX, groups_sink(groups), &size) == WALK_GOOD;
    good = groups_end(groups, good, &size);
    object->good = good && size <= left;
    report_left_out(metrics, object, good && size > left ? size : 0);
    if (object->good)
        groups_emit(groups, sink);
}

/* Another machine that was restarted begins its counters anew: that is no wrap. Its clock was set
 * back, or has run for less time than passed here since its last block. */
static void notice_restart(struct metrics *metrics)
{
    const PERF_DATA_BLOCK *header = &metrics->snapshot.block.header;
    int64_t ticks = header->PerfTime.QuadPart;
    double now = clock_seconds(CLOCK_BOOTTIME),
           ran = (double)ticks / (double)header->PerfFreq.QuadPart;
    bool restarted = metrics->read && (ticks < metrics->ticks || ran < now - metrics->read);
    struct carry *fresh = restarted ? carry_new() : NULL;
    if (fresh) {
        carry_free(metrics->carry);
        metrics->carry = fresh;
    }
    metrics->ticks = ticks;
    metrics->read = now;
}

/* Gives the requested objects of the block to the sink. */
static void walk_objects(struct metrics *metrics, struct metric_sink *sink)
{
    size_t left = metrics->settings.series_most, size;
    opl_object_view at = {0};
    opl_block *block = &metrics->snapshot.block;
    while (opl_block_next_object(block, &at)) {
        struct object *object = object_of(metrics, at.type.ObjectNameTitleIndex);
        if (!object || !object->requested || object->seen)
            continue; /* parents of the requested instances, or the same object again */
        object->seen = true;
        enum walk_result result = walk_one(metrics, &at, left, sink, &size);
        object->good = result == WALK_GOOD;
        report_left_out(metrics, object, result == WALK_TOO_MANY ? size : 0);
        if (result == WALK_GOOD)
            left -= size;
        object->has_clock = metric_divide((uint64_t)at.type.PerfTime.QuadPart,
                                          at.type.PerfFreq.QuadPart, &object->clock);
    }
    struct object *groups = object_of(metrics, PROCESS_GROUPS);
    if (groups && groups->requested)
        collect_groups(metrics, groups, left, sink);
}

/* Begins an answer under the names of another exporter. */
static struct metric_sink *begin_names(struct metrics *metrics, struct vocabulary *names,
                                       struct metric_sink *sink)
{
    struct utsname machine = {0};
    char name[sizeof machine.nodename];
    if (!metrics->settings.machine) {
        uname(&machine);
    } else {
        opl_block_system_name(&metrics->snapshot.block, name, sizeof name);
        metric_utf8(name, machine.nodename, sizeof machine.nodename);
    }
    return vocabulary_begin(names, &machine, sink);
}

static LSTATUS collect(struct metrics *metrics, struct vocabulary *names, struct metric_sink *sink)
{
    char query[QUERY_SIZE];
    write_query(metrics, query);
    LSTATUS status = snapshot_query(&metrics->snapshot, query);
    if (!status && !snapshot_begin(&metrics->snapshot))
        status = ERROR_INVALID_DATA;
    if (!status) {
        metrics->steps = 0;
        if (metrics->settings.machine)
            notice_restart(metrics);
        sink = names ? begin_names(metrics, names, sink) : sink;
        emit_times(metrics, sink);
        walk_objects(metrics, sink);
        emit_objects(metrics, sink);
        if (names && !vocabulary_end(names))
            status = ERROR_NOT_ENOUGH_MEMORY;
    }
    if (metrics->settings.machine)
        snapshot_done(&metrics->snapshot); /* there may be a thousand machines */
    else
        snapshot_rest(&metrics->snapshot, BLOCK_KEPT); /* one of all processes may be large */
    return status;
}

LSTATUS metrics_collect(struct metrics *metrics, const uint32_t *objects, size_t count,
                        struct metric_sink *sink)
{
    LSTATUS status = refresh(metrics, true);
    if (status)
        return status;
    struct vocabulary *names = count ? NULL : metrics->settings.names;
    if (names)
        request_sources(metrics, names);
    else
        request_objects(metrics, objects, count);
    status = collect(metrics, names, sink);
    if (names && !status && metrics->settings.report_names) {
        metrics->settings.report_names = false;
        vocabulary_report(names);
    }
    return status;
}

LSTATUS metrics_collect_titles(struct metrics *metrics, char *const *titles, size_t count,
                               struct vocabulary *names, struct metric_sink *sink)
{
    LSTATUS status = refresh(metrics, !count);
    if (status)
        return status;
    if (count)
        request_titles(metrics, titles, count);
    else if (names)
        request_sources(metrics, names);
    else
        request_objects(metrics, NULL, 0);
    return collect(metrics, names, sink);
}
