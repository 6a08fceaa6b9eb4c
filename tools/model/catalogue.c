/* SPDX-License-Identifier: MIT */
/* Reads the catalogue through PDH, object by object; explanations are those of this machine. */
#include "catalogue.h"

#include "internal.h"

#include "../common/last-event.h"

#include <winbase.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* reading an object takes at most 1 / WATCH_SHARE of the time */
enum { WATCH_SECONDS = 3, WATCH_SHARE = 20, AWAY_SECONDS = 5 };

static atomic_int threads; /* of catalogues, also of those that were freed */

/* An object whose instances are read again and again. */
struct watch {
    /* in seconds: when they were last wanted, and when they must be read again */
    double wanted, due;
    /* the last result: instances, or the reason why the object does not answer; empty: nothing
     * new */
    struct catalogue_object news;
};

struct catalogue {
    char *machine, *files;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct catalogue_object *objects;
    /* `listed`: objects in the list while it is made, which the thread alone uses */
    size_t count, ready, listed;
    bool threaded, complete;
    bool stop;             /* catalogue_free was called: the thread frees the catalogue */
    struct watch *watches; /* one for each object */
    LONGLONG time;         /* `files` is a set, shown at this local time; 0: it is no set */
    char *paths;           /* paths of the set's counters */
    struct view_names names;
};

static size_t list_count(const char *list)
{
    size_t count = 0;
    for (; list && *list; list += strlen(list) + 1)
        count++;
    return count;
}

static void load_names(struct catalogue *catalogue)
{
    char language[8];
    snprintf(language, sizeof language, "%03X", PRIMARYLANGID(GetUserDefaultUILanguage()));
    names_load(&catalogue->names, language);
}

static const char *explain(struct catalogue *catalogue, const char *title)
{
    uint32_t indices[8];
    size_t count = names_find(&catalogue->names, title, indices, 8);
    for (size_t i = 0; i < count && i < 8; i++) {
        const char *help = names_help(&catalogue->names, indices[i] + 1);
        if (help && *help)
            return help;
    }
    return NULL;
}

void catalogue_path(const struct catalogue_object *object, const char *instance,
                    const char *counter, char *ret, size_t capacity)
{
    bool single = object->single;
    snprintf(ret, capacity, "\\%s%s%s%s\\%s", object->name, single ? "" : "(",
             single ? "" : instance, single ? "" : ")", counter);
}

/* Writes the path of a counter for all instances. */
static void path_of(const struct catalogue *catalogue, const struct catalogue_object *object,
                    const char *counter, char *ret, size_t capacity)
{
    const char *machine = catalogue->machine ? catalogue->machine : "";
    snprintf(ret, capacity, "%s%s", *machine && *machine != '\\' ? "\\\\" : "", machine);
    size_t used = strlen(ret); /* a capture may name its machine as it likes */
    catalogue_path(object, "*", counter, ret + used, capacity - used);
}

/* Sets the counter's type and unit. */
static void describe(struct catalogue *catalogue, const struct catalogue_object *object,
                     PDH_HQUERY query, struct catalogue_counter *counter)
{
    char path[2 * PDH_MAX_COUNTER_PATH];
    PDH_HCOUNTER handle;
    DWORD index = 0, size = 0;
    PDH_COUNTER_INFO_A *info = NULL;
    path_of(catalogue, object, counter->name, path, sizeof path);
    if (PdhAddCounterA(query, path, 0, &handle))
        return;
    PdhGetCounterInfoA(handle, FALSE, &size, NULL);
    info = size ? calloc(1, size) : NULL;
    if (info && !PdhGetCounterInfoA(handle, FALSE, &size, info)) {
        /* the index on this machine, because the English names are those of this machine */
        PdhLookupPerfIndexByNameA(NULL, counter->name, &index);
        const char *english = index ? names_english(&catalogue->names, index) : NULL;
        counter->unit.now.definition.CounterType = info->dwType;
        view_describe(&counter->unit, index, english ? english : counter->name);
        counter->text = (info->dwType & 0xc00) == PERF_TYPE_TEXT;
        counter->raw = model_type_is_raw(info->dwType);
    }
    free(info);
    PdhRemoveCounter(handle);
}

static PDH_STATUS list_instances(struct catalogue_object *object, PDH_STATUS status)
{
    object->instances = calloc(list_count(object->instance_list) + 1, sizeof *object->instances);
    for (char *at = object->instance_list; object->instances && *at; at += strlen(at) + 1)
        object->instances[object->instance_count++] = at;
    return status;
}

static PDH_STATUS read_lists(struct catalogue *catalogue, struct catalogue_object *object)
{
    DWORD counters = 0, instances = 0;
    pthread_mutex_lock(&catalogue->mutex);
    LONGLONG time = catalogue->time;
    pthread_mutex_unlock(&catalogue->mutex);
    if (time)
        return list_instances(object, recorded_lists(catalogue->paths, catalogue->files, time,
                                                     object->name, &object->counter_list,
                                                     &object->instance_list, &object->single));
    PDH_STATUS status =
        PdhEnumObjectItemsA(catalogue->files, catalogue->machine, object->name, NULL, &counters,
                            NULL, &instances, PERF_DETAIL_WIZARD, 0);
    if ((DWORD)status != PDH_MORE_DATA)
        return status ? status : (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
    counters += counters / 2; /* more counters may be added before the next call */
    instances += instances / 2 + 256;
    object->counter_list = calloc(1, counters + 2);
    object->instance_list = calloc(1, instances + 2);
    if (!object->counter_list || !object->instance_list)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    status = PdhEnumObjectItemsA(catalogue->files, catalogue->machine, object->name,
                                 object->counter_list, &counters, object->instance_list, &instances,
                                 PERF_DETAIL_WIZARD, 0);
    object->single = instances == 0;
    return list_instances(object, status);
}

static void items_free(struct catalogue_object *object)
{
    free(object->counters);
    free(object->instances);
    free(object->counter_list);
    free(object->instance_list);
    free(object->why);
}

/* Returns what is recorded of the provider of an object that does not answer; NULL: nothing. */
static char *find_reason(const struct catalogue *catalogue, const char *object)
{
    char text[LAST_EVENT_SIZE];
    bool here = !catalogue->machine && !catalogue->files;
    return here && last_event_of_object(object, text, sizeof text) ? strdup(text) : NULL;
}

/* Reads counters and instances of the object. After a failure the object has no counters. */
static PDH_STATUS read_items(struct catalogue *catalogue, struct catalogue_object *object)
{
    PDH_HQUERY query;
    PDH_STATUS status = read_lists(catalogue, object);
    if (status)
        return status;
    object->counters = calloc(list_count(object->counter_list) + 1, sizeof *object->counters);
    for (char *at = object->counter_list; object->counters && *at; at += strlen(at) + 1)
        object->counters[object->counter_count++] =
            (struct catalogue_counter){.name = at, .explain = explain(catalogue, at)};
    if ((status = PdhOpenQueryA(catalogue->files, 0, &query)))
        return status;
    for (size_t c = 0; c < object->counter_count; c++)
        describe(catalogue, object, query, &object->counters[c]);
    return PdhCloseQuery(query);
}

/* Reads the present instances of the object into `news`. If it had no counters, because it did not
 * answer, they are read, too. */
static void read_instances(struct catalogue *catalogue, const struct catalogue_object *of,
                           struct catalogue_object *news)
{
    char path[2 * PDH_MAX_COUNTER_PATH];
    DWORD size = 0;
    PDH_STATUS status = 0;
    news->name = of->name;
    path_of(catalogue, of, "*", path, sizeof path);
    /* makes PDH read the lists again; it keeps those of an object that is gone */
    if (!catalogue->files)
        status = PdhExpandWildCardPathA(NULL, path, NULL, &size, PDH_REFRESHCOUNTERS);
    if ((DWORD)status != PDH_CSTATUS_NO_OBJECT)
        status = of->counter_count ? read_lists(catalogue, news) : read_items(catalogue, news);
    if (!status)
        return;
    items_free(news);
    *news = (struct catalogue_object){.why = find_reason(catalogue, of->name)};
}

/* Reads a watched object again. The caller holds the mutex, which is released while it is read. */
static void renew(struct catalogue *catalogue, size_t at)
{
    struct catalogue_object of = catalogue->objects[at], news = {0};
    double begun = model_now();
    LONGLONG time = catalogue->time;
    pthread_mutex_unlock(&catalogue->mutex);
    read_instances(catalogue, &of, &news);
    pthread_mutex_lock(&catalogue->mutex);
    items_free(&catalogue->watches[at].news);
    catalogue->watches[at].news = news;
    double now = model_now();
    catalogue->watches[at].due = now + fmax(WATCH_SECONDS, (now - begun) * WATCH_SHARE);
    if (catalogue->time != time) /* the user went to another time meanwhile */
        catalogue->watches[at].due = 0;
}

static int compare_objects(const void *left, const void *right)
{
    const struct catalogue_object *l = left, *r = right;
    return strcasecmp(l->name, r->name);
}

static char *list_objects(const struct catalogue *catalogue, DWORD detail, BOOL refresh)
{
    DWORD size = 0;
    PDH_STATUS status =
        PdhEnumObjectsA(catalogue->files, catalogue->machine, NULL, &size, detail, refresh);
    char *list = (DWORD)status == PDH_MORE_DATA ? calloc(1, size + 2) : NULL;
    if (list && PdhEnumObjectsA(catalogue->files, catalogue->machine, list, &size, detail, FALSE)) {
        free(list);
        return NULL;
    }
    return list;
}

static char *read_objects(struct catalogue *catalogue)
{
    if (!catalogue->time)
        return list_objects(catalogue, PERF_DETAIL_WIZARD | PERF_DETAIL_COSTLY, TRUE);
    catalogue->paths = recorded_paths(catalogue->files);
    return recorded_objects(catalogue->paths);
}

static void publish(struct catalogue *catalogue, size_t count, size_t ready, bool *ret_stop)
{
    pthread_mutex_lock(&catalogue->mutex);
    catalogue->count = count;
    catalogue->ready = ready;
    *ret_stop = catalogue->stop;
    pthread_mutex_unlock(&catalogue->mutex);
}

/* Reads the watched objects whose time has come, and waits for the next one; without watched
 * objects until catalogue_watch is called. */
static void watch_once(struct catalogue *catalogue)
{
    struct timespec until;
    bool watched = false;
    double now = model_now();
    for (size_t i = 0; i < catalogue->ready && !catalogue->stop; i++) {
        if (catalogue->watches[i].wanted + WATCH_SECONDS <= now)
            continue;
        watched = true;
        if (catalogue->watches[i].due <= now)
            renew(catalogue, i);
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    if (catalogue->stop)
        return;
    if (watched)
        pthread_cond_timedwait(&catalogue->changed, &catalogue->mutex, &until);
    else
        pthread_cond_wait(&catalogue->changed, &catalogue->mutex);
}

/* Reads the instances of the watched objects every few seconds, until the catalogue is freed. */
static void watch_instances(struct catalogue *catalogue)
{
    pthread_mutex_lock(&catalogue->mutex);
    catalogue->complete = true;
    while (!catalogue->stop)
        watch_once(catalogue);
    pthread_mutex_unlock(&catalogue->mutex);
}

/* Returns the names of all objects. While the machine is away it waits and tries again; NULL: the
 * catalogue is being freed, or a capture has none. */
static char *wait_objects(struct catalogue *catalogue)
{
    struct timespec until;
    char *list;
    bool stop = !catalogue->machine;
    while (!(list = read_objects(catalogue)) && !stop) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += AWAY_SECONDS;
        pthread_mutex_lock(&catalogue->mutex);
        if (!catalogue->stop)
            pthread_cond_timedwait(&catalogue->changed, &catalogue->mutex, &until);
        stop = catalogue->stop;
        pthread_mutex_unlock(&catalogue->mutex);
    }
    return list;
}

/* Adds an object, unless it is there already. `usual`: the objects that PDH lists by default; NULL:
 * not known. */
static void add_object(struct catalogue *catalogue, const char *name, const char *usual)
{
    bool costly = usual;
    for (size_t i = 0; i < catalogue->listed; i++)
        if (!strcmp(catalogue->objects[i].name, name))
            return;
    struct catalogue_object *objects =
        realloc(catalogue->objects, (catalogue->listed + 1) * sizeof *objects);
    if (!objects)
        return;
    for (; costly && *usual; usual += strlen(usual) + 1)
        costly = strcmp(usual, name) != 0;
    catalogue->objects = objects;
    objects[catalogue->listed] = (struct catalogue_object){.name = strdup(name), .costly = costly};
    catalogue->listed += objects[catalogue->listed].name != NULL;
}

/* Adds an object whose provider fails, so that PDH does not list it. */
static void add_silent(void *self, DWORD number)
{
    char name[1024];
    DWORD size = sizeof name;
    if (!PdhLookupPerfNameByIndexA(NULL, number, name, &size))
        add_object(self, name, NULL);
}

static void release(struct catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->count; i++) {
        struct catalogue_object *object = &catalogue->objects[i];
        free(object->name);
        items_free(object);
        if (catalogue->watches)
            items_free(&catalogue->watches[i].news);
    }
    free(catalogue->watches);
    free(catalogue->objects);
    names_done(&catalogue->names);
    pthread_cond_destroy(&catalogue->changed);
    pthread_mutex_destroy(&catalogue->mutex);
    free(catalogue->machine);
    free(catalogue->files);
    free(catalogue->paths);
    free(catalogue);
}

static void *catalogue_run(void *argument)
{
    struct catalogue *catalogue = argument;
    bool stop = false;
    char *list = wait_objects(catalogue);
    load_names(catalogue);
    char *usual =
        list && !catalogue->time ? list_objects(catalogue, PERF_DETAIL_WIZARD, FALSE) : NULL;
    for (char *at = list; at && *at; at += strlen(at) + 1)
        add_object(catalogue, at, usual);
    if (!catalogue->machine && !catalogue->files)
        last_event_objects(add_silent, catalogue);
    catalogue->watches = calloc(catalogue->listed + 1, sizeof *catalogue->watches);
    size_t count = catalogue->watches ? catalogue->listed : 0;
    if (count)
        qsort(catalogue->objects, count, sizeof *catalogue->objects, compare_objects);
    free(list);
    free(usual);
    publish(catalogue, count, 0, &stop);
    for (size_t i = 0; i < count && !stop; i++) {
        struct catalogue_object *object = &catalogue->objects[i];
        object->explain = explain(catalogue, object->name);
        if (read_items(catalogue, object))
            object->why = find_reason(catalogue, object->name);
        publish(catalogue, count, i + 1, &stop);
    }
    watch_instances(catalogue);
    release(catalogue);
    atomic_fetch_sub(&threads, 1);
    return NULL;
}

static struct catalogue *catalogue_make(const char *machine, const char *files)
{
    pthread_condattr_t monotonic;
    struct catalogue *catalogue = calloc(1, sizeof *catalogue);
    if (!catalogue)
        return NULL;
    catalogue->machine = machine ? strdup(machine) : NULL;
    catalogue->files = files ? strdup(files) : NULL;
    pthread_mutex_init(&catalogue->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&catalogue->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return catalogue;
}

struct catalogue *catalogue_new(const char *machine, const char *files, int64_t time)
{
    struct catalogue *catalogue = catalogue_make(machine, files);
    if (!catalogue)
        return NULL;
    catalogue->time = time ? local_of_utc(time) : 0;
    atomic_fetch_add(&threads, 1);
    catalogue->threaded = pthread_create(&catalogue->thread, NULL, catalogue_run, catalogue) == 0;
    if (catalogue->threaded)
        return catalogue;
    atomic_fetch_sub(&threads, 1);
    release(catalogue);
    return NULL;
}

/* Returns the object's name in the user's language; for a capture, returns `name` unchanged. */
static char *full_name(const struct catalogue *catalogue, const char *name)
{
    char text[1024], *end;
    DWORD size = sizeof text, index = (DWORD)strtoul(name, &end, 10);
    bool number = *name >= '0' && *name <= '9' && !*end;
    if (!catalogue->files &&
        (number || !PdhLookupPerfIndexByNameA(catalogue->machine, name, &index)) &&
        !PdhLookupPerfNameByIndexA(catalogue->machine, index, text, &size))
        return strdup(text);
    return strdup(name);
}

struct catalogue *catalogue_find(const char *machine, const char *files, const char *name,
                                 PDH_STATUS *ret_status)
{
    struct catalogue *catalogue = catalogue_make(machine, files);
    *ret_status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (!catalogue)
        return NULL;
    load_names(catalogue);
    catalogue->objects = calloc(1, sizeof *catalogue->objects);
    struct catalogue_object *object = catalogue->objects;
    if (object && (object->name = full_name(catalogue, name))) {
        catalogue->count = catalogue->ready = 1;
        object->explain = explain(catalogue, object->name);
        *ret_status = read_items(catalogue, object);
    }
    if (!*ret_status)
        return catalogue;
    release(catalogue);
    return NULL;
}

void catalogue_free(struct catalogue *catalogue)
{
    if (catalogue && !catalogue->threaded) {
        release(catalogue);
    } else if (catalogue) {
        pthread_mutex_lock(&catalogue->mutex);
        catalogue->stop = true;
        pthread_detach(catalogue->thread);
        pthread_cond_broadcast(&catalogue->changed);
        pthread_mutex_unlock(&catalogue->mutex);
    }
}

void catalogue_wait(void)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 100 && atomic_load(&threads); i++)
        nanosleep(&pause, NULL);
}

size_t catalogue_count(struct catalogue *catalogue, size_t *ret_ready)
{
    pthread_mutex_lock(&catalogue->mutex);
    size_t count = catalogue->count;
    *ret_ready = catalogue->ready;
    pthread_mutex_unlock(&catalogue->mutex);
    return count;
}

bool catalogue_complete(struct catalogue *catalogue)
{
    pthread_mutex_lock(&catalogue->mutex);
    bool complete = catalogue->complete;
    pthread_mutex_unlock(&catalogue->mutex);
    return complete;
}

const struct catalogue_object *catalogue_object(struct catalogue *catalogue, size_t at)
{
    return &catalogue->objects[at];
}

/* Takes over what `news` has of the object; its counters only if the object had none. False: `news`
 * is empty. Leaves in `news` what the caller must free. */
static bool take_news(struct catalogue_object *object, struct catalogue_object *news)
{
    struct catalogue_object old = *object;
    if (!news->instances && !news->why)
        return false;
    *object = *news;
    object->name = old.name;
    object->explain = old.explain;
    object->costly = old.costly;
    if (old.counters) {
        object->counters = old.counters;
        object->counter_count = old.counter_count;
        object->counter_list = old.counter_list;
        object->single = old.single;
        old.counters = news->counters;
        old.counter_list = news->counter_list;
    }
    *news = old;
    return true;
}

void catalogue_go(struct catalogue *catalogue, int64_t time)
{
    LONGLONG local = local_of_utc(time);
    pthread_mutex_lock(&catalogue->mutex);
    for (size_t i = 0; local != catalogue->time && i < catalogue->ready; i++)
        catalogue->watches[i].due = 0;
    catalogue->time = local;
    pthread_mutex_unlock(&catalogue->mutex);
}

bool catalogue_watch(struct catalogue *catalogue, size_t at)
{
    struct watch *watch = &catalogue->watches[at];
    pthread_mutex_lock(&catalogue->mutex);
    bool taken = take_news(&catalogue->objects[at], &watch->news);
    items_free(&watch->news);
    watch->news = (struct catalogue_object){0};
    double now = model_now();
    /* wakes the thread, because the instances may be old, or because it waits for a first watch */
    if (watch->due <= now || watch->wanted + WATCH_SECONDS <= now)
        pthread_cond_broadcast(&catalogue->changed);
    watch->wanted = now;
    pthread_mutex_unlock(&catalogue->mutex);
    return taken;
}
