/* SPDX-License-Identifier: MIT */
/* The counters of a query: adding by path, removing, describing, scaling. */
#include "pdh/query.h"

#include <openperflib/unstable.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTER_TABLE_TAG = 4 };
static struct handle_table counters = {.tag = COUNTER_TABLE_TAG};
static pthread_mutex_t holding = PTHREAD_MUTEX_INITIALIZER;

/* ---- handles and life ---- */

static void let_go(struct counter *counter)
{
    if (__atomic_sub_fetch(&counter->references, 1, __ATOMIC_ACQ_REL))
        return;
    sample_set_done(&counter->sets[0]);
    sample_set_done(&counter->sets[1]);
    path_done(&counter->path);
    free(counter->object_name);
    free(counter->counter_name);
    if (counter->query->source->ops->counter_done)
        counter->query->source->ops->counter_done(counter);
    free(counter);
}

void counter_free(struct counter *counter)
{
    let_go(counter);
}

struct counter *counter_lock(PDH_HCOUNTER handle)
{
    lock_take(&holding);
    struct counter *counter = handle_get(&counters, (uintptr_t)handle);
    if (!counter) {
        lock_release(&holding);
        return NULL;
    }
    struct pdh_query *query = counter->query;
    __atomic_add_fetch(&query->references, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&counter->references, 1, __ATOMIC_RELAXED);
    lock_release(&holding);
    lock_take(&query->lock);
    if (!counter->closed)
        return counter;
    counter_unlock(counter);
    return NULL;
}

void counter_unlock(struct counter *counter)
{
    struct pdh_query *query = counter->query;
    lock_release(&query->lock);
    let_go(counter);
    query_let_go(query);
}

int32_t opl_counter_texts(void *handle, opl_text_found found, void *context)
{
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    const struct item_set *set = counter->sets[counter->turn].items;
    bool more = type_is_text(counter->type);
    PDH_STATUS status = more ? 0 : (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
    for (uint32_t i = 0; more && set && i < set->count; i++)
        if (item_text(set, &set->items[i]))
            more = found(context, set->names.data + set->items[i].name, counter->path.counter,
                         item_text(set, &set->items[i]));
    counter_unlock(counter);
    return status;
}

uint32_t opl_counter_title(void *handle)
{
    struct counter *counter = counter_lock(handle);
    uint32_t title = counter ? counter->title : 0;
    if (counter)
        counter_unlock(counter);
    return title;
}

uint32_t opl_counter_status(void *handle)
{
    struct counter *counter = counter_lock(handle);
    uint32_t status = PDH_CSTATUS_INVALID_DATA;
    if (!counter)
        return PDH_INVALID_HANDLE;
    if (counter->sets[counter->turn].count)
        status = PDH_CSTATUS_VALID_DATA;
    else if (counter->collected)
        status = counter->newest.raw.CStatus;
    counter_unlock(counter);
    return status;
}

/* Makes the counter's handle invalid. The caller holds the query's claim. */
void counter_forget_handle(struct counter *counter)
{
    lock_take(&holding);
    handle_take(&counters, counter->handle);
    lock_release(&holding);
    lock_take(&counter->query->lock);
    counter->closed = true;
    lock_release(&counter->query->lock);
}

/* ---- the instances of the path ---- */

static void take_key(struct counter *counter, const char *name, size_t length, uint32_t number)
{
    counter->keys[counter->key_count++] = (struct instance_key){
        .name = name, .length = length, .hash = text_hash_fold(name, length), .number = number};
}

/* Sets the keys by which instances are found: "a#2" may be an instance with that name, or the third
 * one named "a". */
void counter_take_keys(struct counter *counter)
{
    const char *whole = counter->path.whole;
    counter->wild = path_has_any_instance(&counter->path);
    counter->key_count = 0;
    if (!whole || counter->wild)
        return;
    const char *hash = strrchr(whole, '#');
    uint32_t number;
    take_key(counter, whole, strlen(whole), 0);
    if (hash && text_decimal(hash + 1, strlen(hash + 1), &number))
        take_key(counter, whole, (size_t)(hash - whole), number);
}

/* ---- adding and removing ---- */

/* Adds the counter to the query. A counter whose machine cannot be reached is kept, because the
 * machine may be reachable later. (docs/windows/pdh.md#f2) */
static PDH_STATUS enter(struct pdh_query *query, struct counter *counter, PDH_HCOUNTER *ret)
{
    PDH_STATUS status = query->source->ops->resolve(counter);
    bool kept = status == 0 || status == (PDH_STATUS)PDH_CSTATUS_NO_MACHINE;
    if (kept && (!list_grow(&query->counters, query->counter_count, &query->counter_capacity,
                            sizeof *query->counters) ||
                 handle_new(&counters, counter, &counter->handle))) {
        status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        kept = false;
    }
    if (!kept) {
        let_go(counter);
        return status;
    }
    query->counters[query->counter_count++] = counter;
    query->changed = true;
    *ret = (PDH_HCOUNTER)counter->handle;
    return status;
}

static PDH_STATUS make(struct pdh_query *query, const char *path, bool english, DWORD_PTR user,
                       struct counter **ret)
{
    struct counter *counter = calloc(1, query->source->ops->counter_size);
    if (!counter)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    counter->query = query;
    counter->references = 1;
    counter->user = user;
    counter->english = english;
    counter->newest.raw.MultiCount = 1;
    PDH_STATUS status = path_parse(path, &counter->path);
    if (status) {
        let_go(counter);
        return status;
    }
    counter_take_keys(counter);
    *ret = counter;
    return 0;
}

PDH_STATUS counter_add(PDH_HQUERY handle, const char *path, bool english, DWORD_PTR user,
                       PDH_HCOUNTER *ret)
{
    struct counter *counter = NULL;
    if (!path || !ret)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct pdh_query *query = query_claim(handle);
    if (!query)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    *ret = NULL;
    PDH_STATUS status = make(query, path, english, user, &counter);
    if (!status)
        status = enter(query, counter, ret);
    query_unclaim(query);
    return status;
}

static void take_out(struct pdh_query *query, const struct counter *counter)
{
    uint32_t at = 0;
    while (query->counters[at] != counter)
        at++;
    query->counter_count--;
    memmove(&query->counters[at], &query->counters[at + 1],
            (query->counter_count - at) * sizeof(struct counter *));
}

PDH_STATUS counter_remove(PDH_HCOUNTER handle)
{
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    PDH_HQUERY of = (PDH_HQUERY)counter->query->handle;
    counter_unlock(counter);
    struct pdh_query *query = query_claim(of);
    if (!query)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    lock_take(&holding);
    /* NULL: another thread has removed the counter */
    counter = handle_take(&counters, (uintptr_t)handle);
    lock_release(&holding);
    if (counter) {
        take_out(query, counter);
        counter_forget_handle(counter);
        query->changed = true;
        let_go(counter);
    }
    query_unclaim(query);
    return counter ? 0 : (PDH_STATUS)PDH_INVALID_HANDLE;
}

/* ---- description ---- */

static void full_path(const struct counter *counter, const char *machine, struct buffer *ret)
{
    struct pdh_path path = counter->path;
    path.machine = machine;
    path.object = counter->object_name ? counter->object_name : path.object;
    path.counter = counter->counter_name ? counter->counter_name : path.counter;
    buffer_printf(ret, "%s\\%s", machine ? machine : "", path.object);
    if (path.whole)
        buffer_printf(ret, "(%s)", path.whole);
    buffer_printf(ret, "\\%s", path.counter);
}

void counter_full_path(struct counter *counter, struct buffer *ret)
{
    full_path(counter, counter->query->source->ops->machine(counter), ret);
}

/* Fills in the structure. One function serves the ANSI and the wide version of the structure,
 * because both have their pointers at the same offsets. */
static PDH_STATUS copy_info(struct counter *counter, const char *explanation, struct pack *pack,
                            DWORD *size, void *ret)
{
    const struct pdh_path *path = &counter->path;
    const char *machine = counter->query->source->ops->machine(counter);
    BUFFER_AUTO text = {0};
    full_path(counter, machine, &text);
    if (text.failed)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    PDH_COUNTER_INFO_A info = {.dwType = counter->type,
                               .CStatus = counter->newest.raw.CStatus,
                               .lScale = counter->scale,
                               .lDefaultScale = counter->default_scale,
                               .dwUserData = counter->user,
                               .dwQueryUserData = counter->query->user,
                               .dwInstanceIndex = path->index};
    info.szFullPath = pack_text(pack, text.data);
    info.szMachineName = pack_text(pack, machine);
    info.szObjectName = pack_text(pack, counter->object_name ? counter->object_name : path->object);
    info.szInstanceName = pack_text(pack, path->instance);
    info.szParentInstance = pack_text(pack, path->parent);
    info.szCounterName =
        pack_text(pack, counter->counter_name ? counter->counter_name : path->counter);
    info.szExplainText = pack_text(pack, explanation);
    info.dwLength = (DWORD)pack->used;
    PDH_STATUS status = pack_end(pack, size);
    if (!status)
        memcpy(ret, &info, sizeof info);
    return status;
}

/* Called if the buffer is exactly as large as the structure, without texts: fills in only the
 * numbers, as Windows does. (docs/windows/pdh.md#f2) */
static void copy_numbers(const struct counter *counter, void *ret)
{
    const PDH_COUNTER_INFO_A info = {.dwLength = sizeof info,
                                     .dwType = counter->type,
                                     .CStatus = counter->newest.raw.CStatus,
                                     .lScale = counter->scale,
                                     .lDefaultScale = counter->default_scale,
                                     .dwUserData = counter->user,
                                     .dwQueryUserData = counter->query->user,
                                     .dwInstanceIndex = counter->path.index};
    memcpy(ret, &info, sizeof info);
}

/* Reads the explanation. No lock is held meanwhile. */
static void explain(PDH_HCOUNTER handle, struct buffer *ret)
{
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return;
    uint32_t help = counter->help;
    char *machine = counter->path.machine ? strdup(counter->path.machine) : NULL;
    const struct source_ops *ops = counter->query->source->ops;
    counter_unlock(counter);
    if (help && ops->explain)
        ops->explain(machine, help, ret);
    free(machine);
}

PDH_STATUS counter_info(PDH_HCOUNTER handle, bool with_explanation, bool wide, DWORD *size,
                        void *ret)
{
    BUFFER_AUTO explanation = {0};
    struct pack pack;
    if (with_explanation)
        explain(handle, &explanation);
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    PDH_STATUS status = (PDH_STATUS)PDH_INVALID_ARGUMENT;
    if (size && ret && *size == sizeof(PDH_COUNTER_INFO_A) && !with_explanation) {
        copy_numbers(counter, ret);
        status = 0;
    } else if (size && (ret || *size == 0)) {
        pack_begin(&pack, ret, *size, sizeof(PDH_COUNTER_INFO_A), wide);
        const char *text = explanation.len ? explanation.data : "";
        status = copy_info(counter, with_explanation ? text : NULL, &pack, size, ret);
    }
    counter_unlock(counter);
    return status;
}

PDH_STATUS counter_scale(PDH_HCOUNTER handle, LONG factor)
{
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    bool good = factor >= PDH_MIN_SCALE && factor <= PDH_MAX_SCALE;
    if (good)
        counter->scale = factor;
    counter_unlock(counter);
    return good ? 0 : (PDH_STATUS)PDH_INVALID_ARGUMENT;
}

PDH_STATUS counter_time_base(PDH_HCOUNTER handle, LONGLONG *ret)
{
    if (!ret)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    *ret = counter->time_base;
    counter_unlock(counter);
    return 0;
}

/* ---- a structure and its texts in the caller's memory ---- */

/* Starts a structure with texts in the caller's memory. Texts that do not fit are counted too, so
 * one pass finds the required size. */

void pack_begin(struct pack *pack, void *memory, size_t capacity, size_t fixed, bool wide)
{
    *pack = (struct pack){.memory = memory, .capacity = capacity, .used = fixed, .wide = wide};
}

void *pack_text(struct pack *pack, const char *text)
{
    if (!text)
        return NULL;
    size_t bytes = strlen(text) + 1, at = pack->used;
    if (!pack->wide) {
        pack->used += bytes;
        return pack->used <= pack->capacity ? memcpy(pack->memory + at, text, bytes) : NULL;
    }
    at += at % sizeof(uint16_t);
    uint16_t *out = at < pack->capacity ? (uint16_t *)(pack->memory + at) : NULL;
    size_t left = out ? (pack->capacity - at) / sizeof *out : 0;
    size_t units = utf8_to_16(text, bytes, out, left);
    pack->used = at + units * sizeof *out;
    return units <= left ? out : NULL;
}

PDH_STATUS pack_end(const struct pack *pack, DWORD *size)
{
    *size = (DWORD)pack->used;
    return pack->used <= pack->capacity ? 0 : (PDH_STATUS)PDH_MORE_DATA;
}
