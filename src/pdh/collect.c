/* SPDX-License-Identifier: MIT */
/*
 * One collection of live data: each machine gets one query, for exactly the objects that the
 * counters need; then each counter finds its value in the answer.
 */
#include "pdh/query.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- time ---- */

/* UTC as FILETIME to the local time of this machine. */
static int64_t local_time(int64_t utc_100ns)
{
    static const int64_t unix_epoch = INT64_C(116444736000000000);
    time_t seconds = (time_t)((utc_100ns - unix_epoch) / CLOCK_TICKS_PER_SECOND);
    struct tm local;
    if (!localtime_r(&seconds, &local))
        return utc_100ns;
    return utc_100ns + (int64_t)local.tm_gmtoff * CLOCK_TICKS_PER_SECOND;
}

static FILETIME filetime_of(int64_t time)
{
    return (FILETIME){(DWORD)(uint64_t)time, (DWORD)((uint64_t)time >> 32)};
}

/* A clock was set, or the machine slept, when the two lengths of an interval
 * differ by more than 1 %. The time between reading the two clocks is not a difference. */
static bool agree(int64_t monotonic_100ns, int64_t wall_100ns)
{
    enum { READING_100NS = 1000 };
    int64_t difference = llabs(monotonic_100ns - wall_100ns);
    return monotonic_100ns > 0 && difference <= monotonic_100ns / 100 + READING_100NS;
}

static void note_times(struct machine_group *group)
{
    const PERF_DATA_BLOCK *header = &group->snapshot.block.header;
    int64_t ticks = header->PerfTime.QuadPart, frequency = header->PerfFreq.QuadPart;
    int64_t wall = header->PerfTime100nSec.QuadPart;
    group->steady = group->frequency == frequency && frequency > 0;
    if (group->steady) {
        double length = (double)(ticks - group->ticks) * CLOCK_TICKS_PER_SECOND;
        group->steady = agree((int64_t)(length / (double)frequency), wall - group->wall_100ns);
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

/* The objects of the group's counters, without duplicates. */
static void renew_question(struct pdh_query *query, struct machine_group *group)
{
    uint32_t numbers[LIMIT_QUERY_OBJECTS], count = 0;
    for (uint32_t i = 0; i < query->counter_count && count < LIMIT_QUERY_OBJECTS; i++) {
        const struct counter *counter = query->counters[i];
        bool there = counter->group != group || !counter->known;
        for (uint32_t k = 0; k < count && !there; k++)
            there = numbers[k] == counter->object;
        if (!there)
            numbers[count++] = counter->object;
    }
    qsort(numbers, count, sizeof *numbers, by_number);
    buffer_clear(&group->question);
    for (uint32_t i = 0; i < count; i++)
        buffer_printf(&group->question, "%s%u", i ? " " : "", (unsigned)numbers[i]);
    group->question_old = group->question.failed;
}

/* A machine that could not be reached, or an object that did not exist, may be available by now;
 * perhaps under another number. Checked once a second: it costs more than collecting. */
static void look_again(struct pdh_query *query, struct machine_group *group)
{
    bool any = false;
    if (group->look_ticks > clock_ticks())
        return;
    for (uint32_t i = 0; i < query->counter_count; i++) {
        struct counter *counter = query->counters[i];
        if (counter->group != group || (counter->known && !counter->lost))
            continue;
        bool known = counter->known;
        any = true;
        counter->known = false;
        if (counter_resolve(counter) == 0)
            group->question_old = true;
        else
            counter->known = known;
    }
    if (any)
        group->look_ticks = clock_ticks() + CLOCK_TICKS_PER_SECOND;
}

static uint32_t count_groups(const struct pdh_query *query)
{
    uint32_t count = 0;
    for (const struct machine_group *group = query->groups; group; group = group->next)
        count++;
    return count;
}

/* Connects those that were not reached yet. The names of newly reached ones are resolved by
 * look_again. */
static void find_machines(struct pdh_query *query, uint32_t count)
{
    struct machine_wanted few[FEW_MACHINES] = {0};
    FREE_AUTO struct machine_wanted *many =
        count > FEW_MACHINES ? calloc(count, sizeof *many) : NULL;
    struct machine_wanted *wanted = count > FEW_MACHINES ? many : few;
    size_t missing = 0, at = 0;
    for (struct machine_group *group = query->groups; wanted && group; group = group->next)
        if (!group->machine && group->look_ticks <= clock_ticks())
            wanted[missing++].name = group->name;
    if (missing)
        machine_find_all(wanted, missing);
    for (struct machine_group *group = query->groups; at < missing; group = group->next)
        if (!group->machine && group->name == wanted[at].name) {
            group->machine = wanted[at++].machine;
            group->look_ticks = group->machine ? 0 : clock_ticks() + CLOCK_TICKS_PER_SECOND;
        }
}

/* True: it has a query. */
static bool prepare_group(struct pdh_query *query, struct machine_group *group)
{
    bool away = group->status == (PDH_STATUS)PDH_CSTATUS_NO_MACHINE && group->question.len;
    if (group->machine && !away)
        look_again(query, group);
    group->status = (PDH_STATUS)PDH_CSTATUS_NO_MACHINE;
    if (!group->machine)
        return false;
    if (group->question_old)
        renew_question(query, group);
    group->status = (PDH_STATUS)PDH_NO_DATA;
    return group->question.len;
}

static void take_answer(struct machine_group *group, const struct machine_question *question)
{
    if (question)
        group->status = question->status;
    if (group->status == 0)
        note_times(group);
    else
        group->frequency = 0; /* no interval ends at a gap */
}

static void ask_groups(struct pdh_query *query)
{
    uint32_t count = count_groups(query), used = 0, at = 0;
    struct machine_question few[FEW_MACHINES];
    bool are_few = count <= FEW_MACHINES;
    FREE_AUTO struct machine_question *many = are_few ? NULL : calloc(count, sizeof *many);
    struct machine_question *questions = are_few ? few : many;
    find_machines(query, count);
    for (struct machine_group *group = query->groups; group; group = group->next)
        if (prepare_group(query, group) && questions)
            questions[used++] = (struct machine_question){.machine = group->machine,
                                                          .query = group->question.data,
                                                          .snapshot = &group->snapshot};
    if (used)
        machine_ask_all(questions, used);
    for (struct machine_group *group = query->groups; group; group = group->next) {
        bool mine = at < used && questions[at].snapshot == &group->snapshot;
        take_answer(group, mine ? &questions[at] : NULL);
        at += mine;
    }
}

/* ---- one value ---- */

/* Definitions are mostly at the same position as before. */
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

static void take_value(struct counter *counter, struct snapshot *snapshot,
                       const struct snapshot_object *object,
                       const struct snapshot_instance *instance, const opl_counter_view *definition,
                       struct sample *ret)
{
    opl_sample sample;
    if (!opl_counter_sample(&snapshot->block, &object->view, &instance->view, definition,
                            &sample)) {
        ret->raw.CStatus = PDH_CSTATUS_INVALID_DATA;
        return;
    }
    ret->raw.FirstValue = sample.first;
    ret->raw.SecondValue = sample.second;
    ret->raw.MultiCount = sample.multi_count;
    counter->time_base = sample.time_base;
    ret->identity = snapshot_identity(snapshot, object, instance);
}

static const struct snapshot_instance *instance_of(const struct counter *counter,
                                                   struct snapshot *snapshot,
                                                   const struct snapshot_object *object)
{
    const struct snapshot_instance *found = NULL;
    if (object->view.type.NumInstances == PERF_NO_INSTANCES)
        return object->instance_count && !counter->path.whole ? snapshot_instances(snapshot, object)
                                                              : NULL;
    for (unsigned i = 0; i < counter->key_count && !found; i++) {
        const struct instance_key *key = &counter->keys[i];
        found = snapshot_find(snapshot, object, key->hash, key->name, key->length, key->number);
    }
    return found;
}

/* ---- one counter ---- */

void counter_sampled(struct counter *counter, const struct sample *sample, bool steady)
{
    counter->before = counter->newest;
    counter->newest = *sample;
    counter->comparable = steady && counter->collected > 0;
    counter->collected += counter->collected < 2;
}

struct item_set *counter_next_set(struct counter *counter)
{
    struct item_set *set = &counter->sets[!counter->turn];
    item_set_clear(set);
    return set;
}

void counter_sampled_set(struct counter *counter, bool steady)
{
    counter->turn = !counter->turn;
    counter->comparable = steady && counter->collected > 0;
    counter->collected += counter->collected < 2;
}

void sample_all(struct counter *counter, struct snapshot *snapshot,
                const struct snapshot_object *object, const opl_counter_view *definition,
                const struct sample *empty)
{
    struct item_set *set = &counter->sets[!counter->turn];
    const struct snapshot_instance *instances = snapshot_instances(snapshot, object);
    uint32_t count = object->view.type.NumInstances > 0 ? object->instance_count : 0;
    bool each = counter->path.whole && !strcmp(counter->path.whole, "*");
    for (uint32_t i = 0; i < count; i++) {
        const char *name = snapshot_full_name(snapshot, &instances[i]);
        if (!each && !path_match_full(&counter->path, name, instances[i].number))
            continue;
        struct sample sample = *empty;
        const struct instance_key key = {name, strlen(name), instances[i].hash,
                                         instances[i].number};
        take_value(counter, snapshot, object, &instances[i], definition, &sample);
        if (!item_add(set, &key, &sample))
            break;
    }
}

void sample_one(struct counter *counter, struct snapshot *snapshot,
                const struct snapshot_object *object, const opl_counter_view *definition,
                struct sample *ret)
{
    const struct snapshot_instance *instance = instance_of(counter, snapshot, object);
    if (instance)
        take_value(counter, snapshot, object, instance, definition, ret);
    else
        ret->raw.CStatus = PDH_CSTATUS_NO_INSTANCE;
}

/* A sample without a value, and the reason. */
static bool sample_none(struct counter *counter, DWORD cstatus, struct sample *sample)
{
    sample->raw.CStatus = cstatus;
    if (!counter->wild) {
        counter_sampled(counter, sample, false);
        return false;
    }
    counter_next_set(counter);
    counter_sampled_set(counter, false);
    return false;
}

/* False: it has no data now. */
static bool sample_counter(struct counter *counter, FILETIME time)
{
    struct machine_group *group = counter->group;
    struct sample sample = {.raw.TimeStamp = time, .raw.MultiCount = 1};
    if (group->status)
        return sample_none(counter,
                           group->status == (PDH_STATUS)PDH_CSTATUS_NO_MACHINE
                               ? PDH_CSTATUS_NO_MACHINE
                               : PDH_CSTATUS_INVALID_DATA,
                           &sample);
    const struct snapshot_object *object =
        counter->known ? snapshot_object(&group->snapshot, counter->object) : NULL;
    counter->lost = !object;
    if (!object)
        return sample_none(counter, PDH_CSTATUS_NO_OBJECT, &sample);
    const opl_counter_view *definition = definition_of(counter, &group->snapshot, object);
    counter->lost = !definition;
    if (!definition)
        return sample_none(counter, PDH_CSTATUS_NO_COUNTER, &sample);
    if (counter->wild) {
        const struct item_set *set = counter_next_set(counter);
        sample_all(counter, &group->snapshot, object, definition, &sample);
        counter_sampled_set(counter, group->steady);
        return set->count > 0;
    }
    sample_one(counter, &group->snapshot, object, definition, &sample);
    counter_sampled(counter, &sample, group->steady);
    return sample.raw.CStatus == PDH_CSTATUS_VALID_DATA;
}

PDH_STATUS collect_live(struct pdh_query *query, LONGLONG *ret_time)
{
    bool any = false;
    if (query->counter_count == 0) {
        if (ret_time)
            *ret_time = local_time(clock_filetime());
        return (PDH_STATUS)PDH_NO_DATA;
    }
    int64_t time = local_time(clock_filetime());
    ask_groups(query);
    lock_take(&query->lock);
    for (uint32_t i = 0; i < query->counter_count; i++)
        any |= sample_counter(query->counters[i], filetime_of(time));
    lock_release(&query->lock);
    if (ret_time)
        *ret_time = time;
    return any ? 0 : (PDH_STATUS)PDH_NO_DATA;
}
