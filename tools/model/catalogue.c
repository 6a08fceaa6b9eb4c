/* SPDX-License-Identifier: MIT */
/* Reads the catalogue through PDH, object by object; explanations are those of this machine. */
#include "catalogue.h"

#include "../view/view.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct catalogue {
    char *machine, *files;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t finished;
    struct catalogue_object *objects;
    size_t count, ready;
    bool stop, ended;
    struct view_names names;
};

static size_t list_count(const char *list)
{
    size_t count = 0;
    for (; list && *list; list += strlen(list) + 1)
        count++;
    return count;
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

/* Fails without harm: the object then has no counters. */
static void read_items(struct catalogue *catalogue, struct catalogue_object *object)
{
    DWORD counters = 0, instances = 0;
    PDH_STATUS status =
        PdhEnumObjectItemsA(catalogue->files, catalogue->machine, object->name, NULL, &counters,
                            NULL, &instances, PERF_DETAIL_WIZARD, 0);
    if ((DWORD)status != PDH_MORE_DATA)
        return;
    counters += counters / 2; /* they may become more until the next call */
    instances += instances / 2 + 256;
    object->counter_list = calloc(1, counters + 2);
    object->instance_list = calloc(1, instances + 2);
    if (!object->counter_list || !object->instance_list ||
        PdhEnumObjectItemsA(catalogue->files, catalogue->machine, object->name,
                            object->counter_list, &counters, object->instance_list, &instances,
                            PERF_DETAIL_WIZARD, 0))
        return;
    object->single = instances <= 1 || !*object->instance_list;
    object->counters = calloc(list_count(object->counter_list) + 1, sizeof *object->counters);
    object->instances = calloc(list_count(object->instance_list) + 1, sizeof *object->instances);
    if (!object->counters || !object->instances)
        return;
    for (char *at = object->counter_list; *at; at += strlen(at) + 1)
        object->counters[object->counter_count++] =
            (struct catalogue_counter){at, explain(catalogue, at)};
    for (char *at = object->instance_list; *at; at += strlen(at) + 1)
        object->instances[object->instance_count++] = at;
}

static int compare_objects(const void *left, const void *right)
{
    const struct catalogue_object *l = left, *r = right;
    return strcasecmp(l->name, r->name);
}

static char *read_objects(const struct catalogue *catalogue)
{
    DWORD size = 0;
    PDH_STATUS status = PdhEnumObjectsA(catalogue->files, catalogue->machine, NULL, &size,
                                        PERF_DETAIL_WIZARD, TRUE);
    char *list = (DWORD)status == PDH_MORE_DATA ? calloc(1, size + 2) : NULL;
    if (list && PdhEnumObjectsA(catalogue->files, catalogue->machine, list, &size,
                                PERF_DETAIL_WIZARD, FALSE) == 0)
        return list;
    free(list);
    return NULL;
}

static void publish(struct catalogue *catalogue, size_t count, size_t ready, bool *ret_stop)
{
    pthread_mutex_lock(&catalogue->mutex);
    catalogue->count = count;
    catalogue->ready = ready;
    *ret_stop = catalogue->stop;
    pthread_mutex_unlock(&catalogue->mutex);
}

static void *catalogue_run(void *argument)
{
    struct catalogue *catalogue = argument;
    bool stop = false;
    size_t count = 0;
    char *list = read_objects(catalogue);
    names_load(&catalogue->names, "009");
    catalogue->objects = calloc(list_count(list) + 1, sizeof *catalogue->objects);
    for (char *at = list; catalogue->objects && at && *at; at += strlen(at) + 1)
        if ((catalogue->objects[count].name = strdup(at)))
            count++;
    if (catalogue->objects)
        qsort(catalogue->objects, count, sizeof *catalogue->objects, compare_objects);
    free(list);
    publish(catalogue, count, 0, &stop);
    for (size_t i = 0; i < count && !stop; i++) {
        catalogue->objects[i].explain = explain(catalogue, catalogue->objects[i].name);
        read_items(catalogue, &catalogue->objects[i]);
        publish(catalogue, count, i + 1, &stop);
    }
    pthread_mutex_lock(&catalogue->mutex);
    catalogue->ended = true;
    pthread_cond_broadcast(&catalogue->finished);
    pthread_mutex_unlock(&catalogue->mutex);
    return NULL;
}

static void release(struct catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->count; i++) {
        struct catalogue_object *object = &catalogue->objects[i];
        free(object->name);
        free(object->counters);
        free(object->instances);
        free(object->counter_list);
        free(object->instance_list);
    }
    free(catalogue->objects);
    names_done(&catalogue->names);
    pthread_cond_destroy(&catalogue->finished);
    pthread_mutex_destroy(&catalogue->mutex);
    free(catalogue->machine);
    free(catalogue->files);
    free(catalogue);
}

struct catalogue *catalogue_new(const char *machine, const char *files)
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
    pthread_cond_init(&catalogue->finished, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&catalogue->thread, NULL, catalogue_run, catalogue) == 0)
        return catalogue;
    release(catalogue);
    return NULL;
}

void catalogue_free(struct catalogue *catalogue)
{
    struct timespec until;
    int failed = 0;
    if (!catalogue)
        return;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&catalogue->mutex);
    catalogue->stop = true;
    while (!catalogue->ended && failed != ETIMEDOUT)
        failed = pthread_cond_timedwait(&catalogue->finished, &catalogue->mutex, &until);
    bool ended = catalogue->ended;
    pthread_mutex_unlock(&catalogue->mutex);
    if (!ended) {
        pthread_detach(catalogue->thread);
        return;
    }
    pthread_join(catalogue->thread, NULL);
    release(catalogue);
}

size_t catalogue_count(struct catalogue *catalogue, size_t *ret_ready)
{
    pthread_mutex_lock(&catalogue->mutex);
    size_t count = catalogue->count;
    *ret_ready = catalogue->ready;
    pthread_mutex_unlock(&catalogue->mutex);
    return count;
}

const struct catalogue_object *catalogue_object(struct catalogue *catalogue, size_t at)
{
    return &catalogue->objects[at];
}

/* ---- search ---- */

static bool has_word(const struct catalogue_object *object, const struct catalogue_counter *counter,
                     const char *word)
{
    return text_contains(object->name, word) ||
           (object->explain && text_contains(object->explain, word)) ||
           (counter && (text_contains(counter->name, word) ||
                        (counter->explain && text_contains(counter->explain, word))));
}

/* What people call things, and a word that is in their names here. */
static bool has_alias(const struct catalogue_object *object,
                      const struct catalogue_counter *counter, const char *word)
{
    static const struct {
        const char *alias, *word;
    } aliases[] = {
        {"cpu",  "processor"   },
        {"mem",  "memory"      },
        {"ram",  "memory"      },
        {"net",  "network"     },
        {"load", "queue length"},
        {"swap", "paging"      },
        {"fs",   "file system" }
    };
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (!strcasecmp(aliases[i].alias, word) && has_word(object, counter, aliases[i].word))
            return true;
    return false;
}

bool catalogue_matches(const struct catalogue_object *object,
                       const struct catalogue_counter *counter, const char *text)
{
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (!has_word(object, counter, word) && !has_alias(object, counter, word))
            return false;
    return true;
}
