/* SPDX-License-Identifier: MIT */
/*
 * The source of live data. Counters are found by the titles of their machine. A collection sends
 * each machine one request, for exactly the objects that the counters need; then each counter finds
 * its value in the answer.
 */
#include "pdh/live/machine.h"
#include "pdh/query.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The counters of a query that are on one machine; they are collected by one request. */
struct machine_group {
    struct machine_group *next;
    char *name;              /* the machine's name as in the paths; NULL: this machine */
    struct machine *machine; /* the machine; NULL: not reached yet */
    /* connecting has failed: the next collection tries again, but adding a counter does not */
    bool sought;
    struct snapshot snapshot;
    struct buffer request; /* the numbers of the objects to request, as text */
    bool request_old;
    int64_t retry_ticks; /* missing machines and objects are not searched for before this time */
    PDH_STATUS status;   /* status of the last query */
    /* clocks of the last answer; `frequency` 0: no answer yet */
    int64_t ticks, frequency, wall_100ns;
    bool steady; /* both clocks agree on the time since the previous answer */
};

/* A live source; `groups` stays empty if the source is only used for lists. */
struct live_source {
    struct data_source base;
    struct machine_group *groups;
    struct buffer wanted; /* the counters of the query and those that identify instances, as struct
                           * wanted_counter; empty: all counters are wanted */
};

/* A counter of a live source. */
struct live_member {
    struct counter base;
    struct machine_group *group;
    bool known; /* the machine was reached: base.object, title and position are valid */
    bool lost;  /* the newest answer lacks the object or the counter, although `known` is set */
};
static struct live_member *in_live(const struct counter *counter)
{
    return (struct live_member *)counter;
}

/* ---- time ---- */

/* Converts UTC to this machine's local time, both as FILETIME. */
static int64_t local_time(int64_t utc_100ns)
{
    static const int64_t unix_epoch = INT64_C(116444736000000000);
    time_t seconds = (time_t)((utc_100ns - unix_epoch) / CLOCK_TICKS_PER_SECOND);
    struct tm local;
    if (!localtime_r(&seconds, &local))
        return utc_100ns;
    return utc_100ns + (int64_t)local.tm_gmtoff * CLOCK_TICKS_PER_SECOND;
}

/* Notes the times of the newest answer. `steady`: both clocks agree on the length of the interval
 * before it, to 1 %. If not, the time was set or the machine slept. READING_100NS is added, because
 * the clocks are read one after the other. */
static void note_times(struct machine_group *group)
{
    enum { READING_100NS = 1000 };
    const PERF_DATA_BLOCK *header = &group->snapshot.block.header;
    int64_t ticks = header->PerfTime.QuadPart, frequency = header->PerfFreq.QuadPart;
    int64_t wall = header->PerfTime100nSec.QuadPart;
    group->steady = group->frequency == frequency && frequency > 0;
    if (group->steady) {
        double length = (double)(ticks - group->ticks) * CLOCK_TICKS_PER_SECOND;
        int64_t monotonic = (int64_t)(length / (double)frequency);
        int64_t difference = llabs(monotonic - (wall - group->wall_100ns));
        group->steady = monotonic > 0 && difference <= monotonic / 100 + READING_100NS;
    }
    group->ticks = ticks;
    group->frequency = frequency;
    group->wall_100ns = wall;
}

/* ---- queries ---- */

static int by_number(const void *left, const void *right)
{
    const uint32_t *l = left, *r = right;
    return *l < *r ? -1 : *l > *r;
}

/* Writes the list of the objects that the group's counters need, each once. */
static void renew_request(struct pdh_query *query, struct machine_group *group)
{
    uint32_t numbers[LIMIT_QUERY_OBJECTS], count = 0;
    for (uint32_t i = 0; i < query->counter_count && count < LIMIT_QUERY_OBJECTS; i++) {
        const struct counter *counter = query->counters[i];
        bool there = in_live(counter)->group != group || !in_live(counter)->known;
        for (uint32_t k = 0; k < count && !there; k++)
            there = numbers[k] == counter->object;
        if (!there)
            numbers[count++] = counter->object;
    }
    qsort(numbers, count, sizeof *numbers, by_number);
    buffer_clear(&group->request);
    for (uint32_t i = 0; i < count; i++)
        buffer_printf(&group->request, "%s%u", i ? " " : "", (unsigned)numbers[i]);
    group->request_old = group->request.failed;
}

static void want(struct buffer *list, uint32_t object, uint32_t counter)
{
    const struct wanted_counter one = {object, counter}, *there = (const void *)list->data;
    for (size_t i = 0; i < list->len / sizeof one; i++)
        if (there[i].object == object && there[i].counter == counter)
            return;
    buffer_add(list, &one, sizeof one);
}

/* Lists the counters that the query needs, each once. */
static void renew_wanted(struct pdh_query *query)
{
    struct buffer *list = &((struct live_source *)query->source)->wanted;
    buffer_clear(list);
    for (size_t i = 0; i < COUNT(snapshot_identifiers); i++)
        want(list, 0, snapshot_identifiers[i]);
    for (uint32_t i = 0; i < query->counter_count; i++)
        if (in_live(query->counters[i])->known)
            want(list, query->counters[i]->object, query->counters[i]->title);
    if (list->failed)
        buffer_clear(list);
}

/* ---- resolving a path ---- */

static struct machine_group *group_of(struct pdh_query *query, const char *machine)
{
    struct live_source *source = (struct live_source *)query->source;
    struct machine_group *group = source->groups;
    for (; group; group = group->next)
        if (group->name && machine ? text_equal_fold(group->name, machine) : group->name == machine)
            return group;
    group = calloc(1, sizeof *group);
    if (group && machine && !(group->name = strdup(machine))) {
        free(group);
        group = NULL;
    }
    if (group) {
        group->next = source->groups;
        source->groups = group;
    }
    return group;
}

/* Stores in *ret a copy of `shown`, the name as lists spell it; or of `written`, the name in the
 * path, if `shown` is missing or differs only in case. */
static bool take_name(const char *shown, const char *written, char **ret)
{
    free(*ret);
    *ret = strdup(*shown && !text_equal_fold(shown, written) ? shown : written);
    return *ret;
}

static PDH_STATUS take_info(struct counter *counter, const struct object_info *info,
                            const struct counter_info *found)
{
    lock_take(&counter->query->lock);
    if (path_alias_settle(&counter->path, info))
        counter_take_keys(counter);
    counter->object = info->index;
    counter->title = found->index;
    counter->position = (uint32_t)(found - info->counters);
    counter->type = found->type;
    counter->help = found->help;
    counter->default_scale = found->scale;
    counter->time_base = object_info_time_base(info, found->type);
    in_live(counter)->known = take_name(info->name, counter->path.object, &counter->object_name) &&
                              take_name(found->name, counter->path.counter, &counter->counter_name);
    lock_release(&counter->query->lock);
    return in_live(counter)->known ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

/* Connects to the group's machine, once: adding further counters of a machine that cannot be
 * reached does not wait again. */
static PDH_STATUS find_group_machine(struct machine_group *group)
{
    if (group->machine)
        return 0;
    if (group->sought)
        return (PDH_STATUS)PDH_CSTATUS_NO_MACHINE;
    PDH_STATUS status = machine_find(group->name, &group->machine);
    group->sought = status == (PDH_STATUS)PDH_CSTATUS_NO_MACHINE;
    return status;
}

/* Finds the counter's object and title. If recent data lack the counter, the counter may be new, so
 * the data is read again, unless that was just done for another counter. */
static PDH_STATUS resolve_names(struct counter *counter)
{
    static const enum info_age ages[] = {INFO_RECENT, INFO_NOW};
    struct machine_group *group = in_live(counter)->group;
    int64_t just_now = clock_ticks() - CLOCK_TICKS_PER_SECOND / 1000;
    PDH_STATUS status = find_group_machine(group);
    for (size_t i = 0; !status && !in_live(counter)->known && i < COUNT(ages); i++) {
        OBJECT_INFO_AUTO *info = NULL;
        status = live_object(counter->query->source, group->name, counter->path.object,
                             counter->english, ages[i], &info);
        if (status)
            break;
        const struct counter_info *found =
            live_counter(info, counter->path.counter, counter->english);
        if (found)
            status = take_info(counter, info, found);
        else if (info->taken_ticks >= just_now)
            break; /* reading again would give no newer data */
    }
    return status || in_live(counter)->known ? status : (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
}

static PDH_STATUS resolve_in_group(struct counter *counter)
{
    PDH_STATUS status = resolve_names(counter);
    struct pdh_path written = counter->path;
    if (!is_unknown_name(status) || !path_alias(&counter->path))
        return status;
    if (resolve_names(counter) == 0)
        return 0;
    counter->path = written;
    return status;
}

static PDH_STATUS live_resolve(struct counter *counter)
{
    path_alias_brackets(&counter->path);
    counter_take_keys(counter);
    in_live(counter)->group = group_of(counter->query, counter->path.machine);
    return in_live(counter)->group ? resolve_in_group(counter)
                                   : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

/* ---- requests ---- */

/* Looks for missing machines and objects again. A machine that could not be reached, or an object
 * that did not exist, may be available by now, the object perhaps under another number. Both are
 * looked for once a second only, because the search takes longer than collecting. */
static void resolve_missing(struct pdh_query *query, struct machine_group *group)
{
    bool any = false;
    if (group->retry_ticks > clock_ticks())
        return;
    for (uint32_t i = 0; i < query->counter_count; i++) {
        struct counter *counter = query->counters[i];
        struct live_member *member = in_live(counter);
        bool known = member->known;
        if (member->group != group || (known && !member->lost))
            continue;
        any = true;
        member->known = false;
        if (resolve_in_group(counter) == 0)
            group->request_old = true;
        else
            member->known = known;
    }
    if (any)
        group->retry_ticks = clock_ticks() + CLOCK_TICKS_PER_SECOND;
}

/* Connects to the machines that were not reached before; resolve_missing then finds the counters of
 * those that are reached now. */
static void find_machines(struct machine_group *groups, uint32_t count)
{
    struct machine_wanted few[FEW_MACHINES] = {0};
    FREE_AUTO struct machine_wanted *many =
        count > FEW_MACHINES ? calloc(count, sizeof *many) : NULL;
    struct machine_wanted *wanted = count > FEW_MACHINES ? many : few;
    size_t missing = 0, at = 0;
    for (struct machine_group *group = groups; wanted && group; group = group->next)
        if (!group->machine && group->retry_ticks <= clock_ticks())
            wanted[missing++].name = group->name;
    if (missing)
        machine_find_all(wanted, missing);
    for (struct machine_group *group = groups; at < missing; group = group->next)
        if (!group->machine && group->name == wanted[at].name) {
            group->machine = wanted[at++].machine;
            group->retry_ticks = group->machine ? 0 : clock_ticks() + CLOCK_TICKS_PER_SECOND;
        }
}

/* Returns true if the group has objects to request. */
static bool prepare_group(struct pdh_query *query, struct machine_group *group)
{
    bool away = group->status == (PDH_STATUS)PDH_CSTATUS_NO_MACHINE && group->request.len;
    if (group->machine && !away)
        resolve_missing(query, group);
    group->status = (PDH_STATUS)PDH_CSTATUS_NO_MACHINE;
    if (!group->machine)
        return false;
    if (group->request_old) {
        renew_request(query, group);
        renew_wanted(query);
    }
    group->status = (PDH_STATUS)PDH_NO_DATA;
    return group->request.len;
}

static void take_answer(struct machine_group *group, const struct machine_request *request)
{
    if (request)
        group->status = request->status;
    if (group->status == 0)
        note_times(group);
    else
        group->frequency = 0; /* the next answer is not compared with one before this failure */
}

static void query_groups(struct pdh_query *query, struct machine_group *groups)
{
    uint32_t count = 0, used = 0, at = 0;
    for (struct machine_group *group = groups; group; group = group->next) {
        count++;
        group->request_old |= query->changed;
    }
    query->changed = false;
    struct machine_request few[FEW_MACHINES];
    bool are_few = count <= FEW_MACHINES;
    FREE_AUTO struct machine_request *many = are_few ? NULL : calloc(count, sizeof *many);
    struct machine_request *requests = are_few ? few : many;
    find_machines(groups, count);
    for (struct machine_group *group = groups; group; group = group->next)
        if (prepare_group(query, group) && requests)
            requests[used++] = (struct machine_request){.machine = group->machine,
                                                        .query = group->request.data,
                                                        .snapshot = &group->snapshot};
    const struct buffer *wanted = &((struct live_source *)query->source)->wanted;
    wanted_here =
        (struct wanted_list){(void *)wanted->data, wanted->len / sizeof(struct wanted_counter)};
    if (used)
        machine_query_all(requests, used);
    wanted_here = (struct wanted_list){0};
    for (struct machine_group *group = groups; group; group = group->next) {
        bool mine = at < used && requests[at].snapshot == &group->snapshot;
        take_answer(group, mine ? &requests[at] : NULL);
        at += mine;
    }
}

/* ---- one value ---- */

/* Finds the counter's definition; usually it is at the same position as in the previous answer. */
static const opl_counter_view *definition_of(struct counter *counter,
                                             const struct snapshot *snapshot,
                                             const struct snapshot_object *object)
{
    const opl_counter_view *views = snapshot_counters(snapshot, object);
    if (counter->position < object->counter_count &&
        views[counter->position].definition.CounterNameTitleIndex == counter->title &&
        views[counter->position].definition.CounterType == counter->type)
        return &views[counter->position];
    for (uint32_t i = 0; i < object->counter_count; i++)
        if (views[i].definition.CounterNameTitleIndex == counter->title) {
            counter->position = i;
            counter->type = views[i].definition.CounterType;
            return &views[i];
        }
    return NULL;
}

/* ---- one counter ---- */

/* Stores a sample without a value; `cstatus` is the reason. Returns false. */
static bool sample_none(struct counter *counter, DWORD cstatus, struct sample *sample)
{
    sample->raw.CStatus = cstatus;
    counter_next_set(counter);
    if (counter->wild) {
        counter->newest = *sample;
        counter_sampled_set(counter, false);
    } else {
        counter_sampled(counter, sample, false);
    }
    return false;
}

/* True if the counter before this one in the query has the same instances, in the same answer.
 * Texts are kept with the instances, so they are not shared. */
static bool is_like(const struct counter *counter, const struct counter *before)
{
    return before && before->wild && !in_live(before)->lost &&
           in_live(before)->group == in_live(counter)->group && before->object == counter->object &&
           !type_is_text(before->type) && !type_is_text(counter->type) &&
           !strcmp(before->path.whole, counter->path.whole);
}

/* Takes the counter's value from the answer. Returns false if the counter has no data now.
 * `before`: the counter that was sampled before this one; NULL: none. */
static bool sample_counter(struct counter *counter, const struct counter *before, int64_t time)
{
    struct machine_group *group = in_live(counter)->group;
    struct sample sample = sample_at(time, 0);
    if (group->status)
        return sample_none(counter,
                           group->status == (PDH_STATUS)PDH_CSTATUS_NO_MACHINE
                               ? PDH_CSTATUS_NO_MACHINE
                               : PDH_CSTATUS_INVALID_DATA,
                           &sample);
    const struct snapshot_object *object =
        in_live(counter)->known ? snapshot_object(&group->snapshot, counter->object) : NULL;
    in_live(counter)->lost = !object;
    if (!object)
        return sample_none(counter, PDH_CSTATUS_NO_OBJECT, &sample);
    const opl_counter_view *definition = definition_of(counter, &group->snapshot, object);
    in_live(counter)->lost = !definition;
    if (!definition)
        return sample_none(counter, PDH_CSTATUS_NO_COUNTER, &sample);
    const struct sample_set *set = counter_next_set(counter);
    if (counter->wild) {
        sample_all(counter, &group->snapshot, object, definition, &sample,
                   is_like(counter, before) ? before : NULL);
        counter_sampled_set(counter, group->steady);
        counter->newest.raw.CStatus = PDH_CSTATUS_NO_INSTANCE; /* if the set is empty */
        return set->count > 0;
    }
    sample_one(counter, &group->snapshot, object, definition, &sample);
    counter_sampled(counter, &sample, group->steady);
    return sample.raw.CStatus == PDH_CSTATUS_VALID_DATA;
}

static PDH_STATUS live_collect(struct pdh_query *query, LONGLONG *ret_time)
{
    bool any = false;
    if (query->counter_count == 0) {
        if (ret_time)
            *ret_time = local_time(clock_filetime());
        return (PDH_STATUS)PDH_NO_DATA;
    }
    int64_t time = local_time(clock_filetime());
    struct machine_group *groups = ((struct live_source *)query->source)->groups;
    query_groups(query, groups);
    lock_take(&query->lock);
    for (uint32_t i = 0; i < query->counter_count; i++)
        any |= sample_counter(query->counters[i], i ? query->counters[i - 1] : NULL, time);
    lock_release(&query->lock);
    for (struct machine_group *group = groups; group; group = group->next) {
        snapshot_unused(&group->snapshot);
        if (group->machine)
            machine_drop_recent(group->machine);
    }
    if (ret_time)
        *ret_time = time;
    return any ? 0 : (PDH_STATUS)PDH_NO_DATA;
}

/* ---- the live source ---- */

static PDH_STATUS live_machines(struct data_source *source, struct buffer *ret)
{
    machine_list(ret);
    return 0;
}

static PDH_STATUS live_label(struct data_source *source, const char *name, struct buffer *ret)
{
    struct machine *machine;
    PDH_STATUS status = machine_find(name, &machine);
    if (!status)
        buffer_add_text(ret, machine_label(machine));
    return status;
}

static const char *live_machine(const struct counter *counter)
{
    const struct machine_group *group = in_live(counter)->group;
    return group->machine ? machine_label(group->machine) : group->name;
}

static PDH_STATUS live_limit(struct data_source *source, const PDH_TIME_INFO *range)
{
    return (PDH_STATUS)PDH_DATA_SOURCE_IS_REAL_TIME;
}

static const char *live_zone(struct data_source *source, char storage[static ZONE_TEXT_SIZE],
                             LONG *ret_bias, const void **ret_rule)
{
    *ret_rule = NULL;
    return zone_local(clock_filetime(), storage, ret_bias);
}

static bool live_prepare(struct data_source *source, const char *file, enum log_kind kind,
                         bool merge, struct buffer *problem)
{
    if (!log_is_zst(file))
        return true;
    buffer_printf(problem, "a compressed capture is written as a whole, from one that is "
                           "complete: record to a .blg, then use relog");
    return false;
}

static void live_close(struct data_source *source)
{
    struct machine_group *group = ((struct live_source *)source)->groups;
    while (group) {
        struct machine_group *next = group->next;
        snapshot_done(&group->snapshot);
        buffer_done(&group->request);
        free(group->name);
        free(group);
        group = next;
    }
    buffer_done(&((struct live_source *)source)->wanted);
    free(source);
}

PDH_STATUS live_source_open(struct data_source **ret)
{
    static const struct source_ops live = {.real_time = true,
                                           .aliases = true,
                                           .machines = live_machines,
                                           .label = live_label,
                                           .objects = live_objects,
                                           .object = live_object,
                                           .counter = live_counter,
                                           .has_title = live_has_title,
                                           .counter_size = sizeof(struct live_member),
                                           .resolve = live_resolve,
                                           .machine = live_machine,
                                           .collect = live_collect,
                                           .limit = live_limit,
                                           .explain = live_explain,
                                           .zone = live_zone,
                                           .prepare = live_prepare,
                                           .close = live_close};
    struct live_source *source = calloc(1, sizeof *source);
    if (!source)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    source->base.ops = &live;
    *ret = &source->base;
    return 0;
}
