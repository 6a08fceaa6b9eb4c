/* SPDX-License-Identifier: MIT */
/*
 * One object of a snapshot: counters, instances, and for each instance the same one in an older
 * snapshot. Instances with a number and a start time (processes, threads) are matched by these,
 * even if the name changed; all others by equal name, parent, UniqueID and numbers; equal ones by
 * their order.
 */
#include "view.h"

#include <stdlib.h>
#include <string.h>

/* Title indices of values that belong to an instance's identity, wherever they occur. */
enum { ID_NUMBER, ID_START, ID_THREAD, ID_COUNTERS, NAME_SIZE = 2048 };
static const uint32_t id_titles[ID_COUNTERS] = {
    [ID_NUMBER] = 784, /* ID Process */
    [ID_START] = 684,  /* Elapsed Time, whose raw value is the start time */
    [ID_THREAD] = 804, /* ID Thread */
};

const char *view_text(const struct view_object *object, size_t offset)
{
    return object->texts ? object->texts + offset : "";
}

static size_t keep_text(struct view_object *object, const char *text)
{
    size_t size = strlen(text) + 1, at = object->texts_used;
    if (at + size > object->texts_capacity) {
        size_t capacity = (at + size) * 2 + 1024;
        char *texts = realloc(object->texts, capacity);
        if (!texts)
            return 0;
        object->texts = texts;
        object->texts_capacity = capacity;
    }
    memcpy(object->texts + at, text, size);
    object->texts_used += size;
    return at;
}

/* Grows an array by doubling: returns it with space for one more, or NULL. */
static void *grow(void *array, size_t count, size_t size)
{
    if (count & (count - 1) || (count && count < 8))
        return array;
    return realloc(array, (count < 8 ? 8 : count * 2) * size);
}

/* Titles of NT that count bytes without the word Bytes. */
static const uint32_t byte_titles[] = {
    30,   /* Commit Limit */
    178,  /* Working Set Peak */
    180,  /* Working Set */
    1478, /* Working Set - Private */
};

static enum view_unit unit_of(uint32_t title_index, const char *english)
{
    for (size_t i = 0; i < sizeof byte_titles / sizeof *byte_titles; i++)
        if (byte_titles[i] == title_index)
            return UNIT_BYTES;
    if (!english || *english == '%') /* % Committed Bytes In Use */
        return UNIT_PLAIN;
    if (strcasestr(english, "KBytes"))
        return UNIT_KBYTES;
    if (strcasestr(english, "MBytes") || strcasestr(english, "Megabytes"))
        return UNIT_MBYTES;
    return strcasestr(english, "Bytes") ? UNIT_BYTES : UNIT_PLAIN;
}

/* Load averages have the type of a percentage, because no other type has digits after the point. */
enum { LOAD_FIRST = 101402, LOAD_LAST = 101406 };

void view_describe(struct view_counter *counter, uint32_t title_index, const char *english)
{
    opl_type_describe(counter->now.definition.CounterType, &counter->type);
    if (title_index >= LOAD_FIRST && title_index <= LOAD_LAST)
        counter->type.suffix = "";
    counter->unit = unit_of(title_index, english);
}

static const char *title_or_number(const struct view_names *names, uint32_t index, char number[16])
{
    const char *title = names_title(names, index);
    snprintf(number, 16, "#%u", index);
    return title ? title : number;
}

static bool load_counters(struct view_object *object, const struct view_names *names)
{
    opl_counter_view at = {0};
    while (snapshot_next_counter(object->now_snapshot, &object->now, &at)) {
        void *grown = grow(object->counters, object->counter_count, sizeof *object->counters);
        if (!grown)
            return false;
        object->counters = grown;
        struct view_counter *counter = &object->counters[object->counter_count++];
        *counter = (struct view_counter){.now = at};
        view_describe(counter, at.definition.CounterNameTitleIndex,
                      names_english(names, at.definition.CounterNameTitleIndex));
        counter->hidden = counter->type.is_base || at.definition.CounterType == PERF_COUNTER_NODATA;
    }
    for (size_t i = 0; i < object->counter_count; i++) { /* from here on the array does not move */
        struct view_counter *counter = &object->counters[i];
        counter->title =
            title_or_number(names, counter->now.definition.CounterNameTitleIndex, counter->number);
    }
    return true;
}

static void pair_counters(struct view_object *object)
{
    opl_counter_view at = {0};
    while (snapshot_next_counter(object->before_snapshot, &object->before, &at)) {
        if (at.position >= object->counter_count)
            return;
        struct view_counter *counter = &object->counters[at.position];
        counter->before = at;
        counter->has_before =
            at.definition.CounterType == counter->now.definition.CounterType &&
            at.definition.CounterNameTitleIndex == counter->now.definition.CounterNameTitleIndex;
    }
}

/* The position at which the search for a parent continues: children are mostly in their parents'
 * order, so each search is short even with thousands of threads. */
struct parents {
    uint32_t title_index; /* title index of the parents' object; 0: no search yet */
    bool found;
    opl_object_view object;
    opl_instance_view at;
};

static void parents_begin(struct parents *parents, struct view_snapshot *snapshot,
                          uint32_t title_index)
{
    *parents = (struct parents){.title_index = title_index};
    parents->found = opl_block_find_object(&snapshot->block, title_index, &parents->object) &&
                     parents->object.type.NumInstances != PERF_NO_INSTANCES;
}

/* Writes the name of the instance's parent; false: it has no parent. */
static bool parent_name(struct view_snapshot *snapshot, struct parents *parents,
                        const opl_instance_view *instance, char name[static NAME_SIZE])
{
    const PERF_INSTANCE_DEFINITION *definition = &instance->definition;
    if (definition->ParentObjectTitleIndex == 0)
        return false;
    if (parents->title_index != definition->ParentObjectTitleIndex)
        parents_begin(parents, snapshot, definition->ParentObjectTitleIndex);
    if (!parents->found)
        return false;
    if (parents->at.end && parents->at.position > definition->ParentObjectInstance)
        parents->at = (opl_instance_view){0};
    while (!parents->at.end || parents->at.position != definition->ParentObjectInstance)
        if (!snapshot_next_instance(snapshot, &parents->object, &parents->at))
            return false;
    opl_instance_name(&snapshot->block, &parents->object, &parents->at, name, NAME_SIZE);
    return true;
}

static void read_id_counters(struct view_snapshot *snapshot, const opl_instance_view *instance,
                             const opl_counter_view *id_counters, uint64_t values[ID_COUNTERS])
{
    for (size_t i = 0; i < ID_COUNTERS; i++) {
        values[i] = 0;
        if (id_counters[i].offset)
            opl_counter_number(&snapshot->block, instance, &id_counters[i], &values[i]);
    }
}

/* Writes the identity of the instance, as text. The name of a process is not part of it, because it
 * may change (kernel workers change theirs with their work). Number 0 is no identity: Idle and
 * _Total have it, and their start time is always now. `id_counters`: the counters (ID, start time,
 * thread ID) that identify an instance. */
static void identity(struct view_snapshot *snapshot, const opl_instance_view *instance,
                     const char *path, const opl_counter_view *id_counters, char *out,
                     size_t capacity)
{
    uint64_t values[ID_COUNTERS];
    bool has_start = id_counters[ID_NUMBER].offset && id_counters[ID_START].offset;
    read_id_counters(snapshot, instance, id_counters, values);
    bool is_process = has_start && values[ID_NUMBER] != 0;
    if (has_start && !is_process)
        values[ID_START] = 0;
    snprintf(out, capacity, "%s\x1f%d\x1f%llx\x1f%llx\x1f%llx", is_process ? "" : path,
             is_process ? 0 : instance->definition.UniqueID, (unsigned long long)values[ID_NUMBER],
             (unsigned long long)values[ID_START], (unsigned long long)values[ID_THREAD]);
}

static void find_id_counters(struct view_snapshot *snapshot, const opl_object_view *where,
                             opl_counter_view id_counters[ID_COUNTERS])
{
    opl_counter_view at = {0};
    memset(id_counters, 0, sizeof *id_counters * ID_COUNTERS);
    while (snapshot_next_counter(snapshot, where, &at))
        for (size_t i = 0; i < ID_COUNTERS; i++)
            if (at.definition.CounterNameTitleIndex == id_titles[i] && !id_counters[i].offset)
                id_counters[i] = at;
}

/* An instance's texts: its name, the name with its parent, and its identity. */
struct path {
    char parent[NAME_SIZE], name[NAME_SIZE], whole[NAME_SIZE * 2], key[NAME_SIZE * 2 + 128];
    bool has_parent;
};

static void path_read(struct path *path, struct view_snapshot *snapshot,
                      const opl_object_view *where, struct parents *parents,
                      const opl_instance_view *instance, const opl_counter_view *id_counters)
{
    path->parent[0] = 0;
    path->has_parent = parent_name(snapshot, parents, instance, path->parent);
    opl_instance_name(&snapshot->block, where, instance, path->name, sizeof path->name);
    snprintf(path->whole, sizeof path->whole, "%s\x1f%s", path->parent, path->name);
    identity(snapshot, instance, path->whole, id_counters, path->key, sizeof path->key);
}

static bool load_instances(struct view_object *object)
{
    struct path path;
    struct parents parents = {0};
    opl_instance_view at = {0};
    opl_counter_view id_counters[ID_COUNTERS];
    find_id_counters(object->now_snapshot, &object->now, id_counters);
    keep_text(object, "");
    while (snapshot_next_instance(object->now_snapshot, &object->now, &at)) {
        void *grown = grow(object->instances, object->instance_count, sizeof *object->instances);
        if (!grown)
            return false;
        object->instances = grown;
        struct view_instance *instance = &object->instances[object->instance_count++];
        path_read(&path, object->now_snapshot, &object->now, &parents, &at, id_counters);
        *instance = (struct view_instance){.now = at, .has_parent = path.has_parent};
        instance->name = keep_text(object, path.name);
        instance->path = keep_text(object, path.whole);
        instance->key = keep_text(object, path.key);
        if (path.has_parent)
            instance->parent_name = keep_text(object, path.parent);
    }
    return true;
}

/* A key and the position of its instance; equal keys keep their order when sorted. */
struct keyed {
    const char *key;
    size_t text; /* offset of the key, while the texts may still move */
    size_t position;
    opl_instance_view view;
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order ? order : a->position < b->position ? -1 : a->position > b->position;
}

static struct keyed *old_keys(struct view_object *object, size_t *ret_count)
{
    struct path path;
    struct parents parents = {0};
    struct keyed *keys = NULL;
    size_t count = 0;
    opl_instance_view at = {0};
    opl_counter_view id_counters[ID_COUNTERS];
    find_id_counters(object->before_snapshot, &object->before, id_counters);
    while (snapshot_next_instance(object->before_snapshot, &object->before, &at)) {
        struct keyed *grown = grow(keys, count, sizeof *keys);
        if (!grown)
            break;
        keys = grown;
        path_read(&path, object->before_snapshot, &object->before, &parents, &at, id_counters);
        keys[count] = (struct keyed){NULL, keep_text(object, path.key), count, at};
        count++;
    }
    for (size_t i = 0; i < count; i++)
        keys[i].key = view_text(object, keys[i].text);
    if (count)
        qsort(keys, count, sizeof *keys, by_key);
    *ret_count = count;
    return keys;
}

static struct keyed *new_keys(const struct view_object *object)
{
    struct keyed *keys = calloc(object->instance_count + 1, sizeof *keys);
    for (size_t i = 0; keys && i < object->instance_count; i++)
        keys[i] = (struct keyed){.key = view_text(object, object->instances[i].key), .position = i};
    if (keys)
        qsort(keys, object->instance_count, sizeof *keys, by_key);
    return keys;
}

static void pair_instances(struct view_object *object)
{
    size_t old_count, o = 0, n = 0;
    struct keyed *old = old_keys(object, &old_count), *fresh = new_keys(object);
    while (fresh && o < old_count && n < object->instance_count) {
        int order = strcmp(old[o].key, fresh[n].key);
        if (order == 0) {
            struct view_instance *instance = &object->instances[fresh[n].position];
            instance->before = old[o].view;
            instance->has_before = true;
        }
        o += order <= 0;
        n += order >= 0;
    }
    free(old);
    free(fresh);
}

/* Numbers instances with equal names and parents: name, name#1, name#2. False: no memory. */
static bool number_copies(struct view_object *object)
{
    struct keyed *keys = calloc(object->instance_count + 1, sizeof *keys);
    if (!keys)
        return false;
    for (size_t i = 0; i < object->instance_count; i++)
        keys[i] =
            (struct keyed){.key = view_text(object, object->instances[i].path), .position = i};
    qsort(keys, object->instance_count, sizeof *keys, by_key);
    for (size_t i = 1; i < object->instance_count; i++)
        if (strcmp(keys[i - 1].key, keys[i].key) == 0 && keys[i].key[1])
            object->instances[keys[i].position].copy =
                object->instances[keys[i - 1].position].copy + 1;
    free(keys);
    return true;
}

bool view_object_load(struct view_object *object, struct view_snapshot *now,
                      const opl_object_view *where, struct view_snapshot *before,
                      const struct view_names *names)
{
    *object = (struct view_object){.now_snapshot = now, .now = *where, .before_snapshot = before};
    object->title = title_or_number(names, where->type.ObjectNameTitleIndex, object->number);
    object->has_before =
        before &&
        opl_block_find_object(&before->block, where->type.ObjectNameTitleIndex, &object->before);
    if (!load_counters(object, names) || !load_instances(object) || !number_copies(object))
        return false;
    if (object->has_before) {
        pair_counters(object);
        pair_instances(object);
    }
    return true;
}

void view_object_done(struct view_object *object)
{
    free(object->counters);
    free(object->instances);
    free(object->texts);
    *object = (struct view_object){0};
}

void view_instance_label(const struct view_object *object, const struct view_instance *instance,
                         char *out, size_t capacity)
{
    char name[NAME_SIZE], parent[NAME_SIZE], copy[16] = "";
    text_clean(view_text(object, instance->name), name, sizeof name);
    text_clean(view_text(object, instance->parent_name), parent, sizeof parent);
    if (instance->copy)
        snprintf(copy, sizeof copy, "#%u", instance->copy);
    if (instance->has_parent && *name != '/') /* "/home" is shown without its parent, as in paths */
        snprintf(out, capacity, "%s/%s%s", parent, name, copy);
    else
        snprintf(out, capacity, "%s%s", *name ? name : "(no name)", copy);
}

bool view_object_single(const struct view_object *object)
{
    return object->now.type.NumInstances == PERF_NO_INSTANCES;
}

size_t view_counter_find(const struct view_object *object, uint32_t title_index)
{
    for (size_t i = 0; i < object->counter_count; i++)
        if (object->counters[i].now.definition.CounterNameTitleIndex == title_index &&
            !object->counters[i].hidden)
            return i;
    return (size_t)-1;
}
