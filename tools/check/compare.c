/* SPDX-License-Identifier: MIT */
/* Compares two answers to one query: values that can only grow must not have fallen in between.
 * Only objects are compared that have the same instances in both answers, and only instances that,
 * like their parents, have the same start time in both, unless the object's start times change in
 * every answer. */
#include "check.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_SIZE = 256 };

static bool counts_up(DWORD type, bool is_base)
{
    opl_type_info info;
    opl_type_describe(type, &info);
    if (is_base)
        return type == PERF_AVERAGE_BASE || type == PERF_SAMPLE_BASE;
    return info.needs_two_samples && type != PERF_COUNTER_DELTA && type != PERF_COUNTER_LARGE_DELTA;
}

/* True if the value may have wrapped around, as a 32-bit counter does. */
static bool wrapped(uint64_t before, uint64_t now)
{
    return before <= UINT32_MAX && before > UINT32_MAX / 4 * 3 && now < UINT32_MAX / 4;
}

struct pair {
    struct check_answer *before, *now;
    opl_object_view object[2];
    opl_instance_view instance[2];
    char name[NAME_SIZE];
    const struct report *report;
};

/* Advances both objects to their next counter. False: there is none, or the counters differ. */
static bool next_counters(const struct pair *pair, opl_counter_view *before, opl_counter_view *now)
{
    return opl_object_next_counter(&pair->before->block, &pair->object[0], before) &&
           opl_object_next_counter(&pair->now->block, &pair->object[1], now) &&
           before->definition.CounterNameTitleIndex == now->definition.CounterNameTitleIndex &&
           before->definition.CounterType == now->definition.CounterType;
}

/* True if the instance is still the same process or other thing. If the instance has an elapsed
 * time, whose raw value is its start time, that value must not have changed. */
static bool is_the_same(const struct pair *pair)
{
    opl_counter_view before = {0}, now = {0};
    uint64_t first, second;
    while (next_counters(pair, &before, &now))
        if (before.definition.CounterType == PERF_ELAPSED_TIME &&
            opl_counter_number(&pair->before->block, &pair->instance[0], &before, &first) &&
            opl_counter_number(&pair->now->block, &pair->instance[1], &now, &second) &&
            first != second)
            return false;
    return true;
}

/* True if the start times of the object change in every answer, and so identify no instance. */
static bool starts_change(const struct pair *pair)
{
    enum { OFTEN = 2 };
    const struct report *report = pair->report;
    for (size_t i = 0; i < report->count; i++)
        if (report->list[i].object == pair->object[1].type.ObjectNameTitleIndex &&
            strcmp(report->list[i].field, "start") == 0 && report->list[i].times >= OFTEN)
            return true;
    return false;
}

/* True if both instances have the same name, which is copied to pair->name. */
static bool same_names(struct pair *pair)
{
    char before[NAME_SIZE];
    opl_instance_name(&pair->before->block, &pair->object[0], &pair->instance[0], before,
                      sizeof before);
    opl_instance_name(&pair->now->block, &pair->object[1], &pair->instance[1], pair->name,
                      sizeof pair->name);
    return strcmp(before, pair->name) == 0;
}

bool is_total(const char *name)
{
    return strncmp(name, "_Total", 6) == 0;
}

/* Advances both objects to their next instance. Returns 1 if the two are the same instance, 0 if
 * neither answer has a next instance, else -1. */
static int next_instances(struct pair *pair)
{
    PERF_INSTANCE_DEFINITION *first = &pair->instance[0].definition;
    PERF_INSTANCE_DEFINITION *second = &pair->instance[1].definition;
    bool one = opl_object_next_instance(&pair->before->block, &pair->object[0], &pair->instance[0]);
    bool other = opl_object_next_instance(&pair->now->block, &pair->object[1], &pair->instance[1]);
    if (!one || !other)
        return one == other ? 0 : -1;
    return same_names(pair) && first->ParentObjectTitleIndex == second->ParentObjectTitleIndex &&
                   first->ParentObjectInstance == second->ParentObjectInstance
               ? 1
               : -1;
}

static void begin_instances(struct pair *pair)
{
    pair->instance[0] = pair->instance[1] = (opl_instance_view){0};
}

/* False if the instance began in the same clock tick as the first answer: an instance that takes
 * its name later in this tick would have the same start time. */
static bool is_old(const struct pair *pair)
{
    enum { TICKS_A_SECOND = 20 }; /* the clocks of start times have more ticks than this */
    const PERF_OBJECT_TYPE *type = &pair->object[0].type;
    opl_counter_view before = {0}, now = {0};
    uint64_t start;
    while (next_counters(pair, &before, &now))
        if (before.definition.CounterType == PERF_ELAPSED_TIME &&
            opl_counter_number(&pair->before->block, &pair->instance[0], &before, &start) &&
            (uint64_t)type->PerfTime.QuadPart - start <
                (uint64_t)type->PerfFreq.QuadPart / TICKS_A_SECOND)
            return false;
    return true;
}

/* True if no instance with this one's name is new. If one is new, this one may be new, too: two of
 * the same name that begin in one clock tick have equal start times. */
static bool same_namesakes(const struct pair *pair)
{
    struct pair own = *pair;
    int step;
    begin_instances(&own);
    while ((step = next_instances(&own)) > 0)
        if (strcmp(own.name, pair->name) == 0 && !is_the_same(&own))
            return false;
    return step == 0;
}

/* True if the instance and its parents are still the same things. */
static bool is_the_same_child(const struct pair *pair)
{
    enum { GENERATIONS = 4 }; /* a provider may name an instance as its own parent */
    struct pair own = *pair;
    bool same = starts_change(pair) || (is_old(pair) && same_namesakes(pair));
    for (int generation = 0; same && generation < GENERATIONS; generation++) {
        struct pair child = own;
        bool before = opl_instance_parent(&child.before->block, &child.instance[0], &own.object[0],
                                          &own.instance[0]);
        bool now = opl_instance_parent(&child.now->block, &child.instance[1], &own.object[1],
                                       &own.instance[1]);
        if (!before || !now)
            return before == now;
        same = same_names(&own) && (starts_change(&own) || (is_old(&own) && same_namesakes(&own)));
    }
    return same;
}

static void compare_counters(const struct pair *pair, struct report *report)
{
    opl_counter_view before = {0}, now = {0};
    uint64_t first, second;
    while (next_counters(pair, &before, &now)) {
        const PERF_COUNTER_DEFINITION *definition = &now.definition;
        opl_type_info info;
        opl_type_describe(definition->CounterType, &info);
        if (!counts_up(definition->CounterType, info.is_base) ||
            !opl_counter_number(&pair->before->block, &pair->instance[0], &before, &first) ||
            !opl_counter_number(&pair->now->block, &pair->instance[1], &now, &second) ||
            second >= first || wrapped(first, second) || !is_the_same_child(pair))
            continue;
        report_add(report, MISTAKE,
                   &(struct place){pair->object[1].type.ObjectNameTitleIndex,
                                   definition->CounterNameTitleIndex, pair->name},
                   "falling value", IN_VALUES,
                   "never less than before, because the counter type is that of a count",
                   "%" PRIu64 " after %" PRIu64 " (%s)", (uint64_t)second, (uint64_t)first,
                   info.name ? info.name : "unknown type");
    }
}

static bool find_object(struct pair *pair, uint32_t number)
{
    return opl_block_find_object(&pair->before->block, number, &pair->object[0]) &&
           opl_block_find_object(&pair->now->block, number, &pair->object[1]);
}

/* True if the same instances are at the same positions. */
static bool same_population(const struct pair *pair)
{
    struct pair own = *pair;
    int step = 1;
    begin_instances(&own);
    while (step > 0)
        step = next_instances(&own);
    return step == 0;
}

static void compare_instances(struct pair *pair, struct report *report)
{
    if (!same_population(pair))
        return;
    begin_instances(pair);
    while (next_instances(pair) > 0)
        if (!is_total(pair->name))
            compare_counters(pair, report);
}

static void compare_times(const struct pair *pair, struct report *report)
{
    const PERF_OBJECT_TYPE *before = &pair->object[0].type, *now = &pair->object[1].type;
    struct place place = {now->ObjectNameTitleIndex, 0, NULL};
    if (now->PerfTime.QuadPart < before->PerfTime.QuadPart)
        report_add(report, MISTAKE, &place, "PerfTime", IN_VALUES, "never less than before",
                   "%lld after %lld", (long long)now->PerfTime.QuadPart,
                   (long long)before->PerfTime.QuadPart);
    if (now->PerfFreq.QuadPart != before->PerfFreq.QuadPart)
        report_add(report, MISTAKE, &place, "PerfFreq", IN_VALUES,
                   "the same in each answer, because the time of each rate is calculated with it",
                   "%lld after %lld", (long long)now->PerfFreq.QuadPart,
                   (long long)before->PerfFreq.QuadPart);
}

/* True if a counter has changed from which a rate is calculated. */
static bool counts_changed(struct pair *pair)
{
    uint64_t first, second;
    if (!same_population(pair))
        return false;
    begin_instances(pair);
    while (next_instances(pair) > 0) {
        opl_counter_view before = {0}, now = {0};
        while (next_counters(pair, &before, &now))
            if (counts_up(now.definition.CounterType, false) &&
                opl_counter_number(&pair->before->block, &pair->instance[0], &before, &first) &&
                opl_counter_number(&pair->now->block, &pair->instance[1], &now, &second) &&
                first != second && is_the_same_child(pair))
                return true;
    }
    return false;
}

/* True if there was time for two ticks of the object's clock. Frequency 0: it has no clock. */
static bool must_move(const struct pair *pair)
{
    enum { COARSE_MS = 20 }; /* two ticks of a clock that advances 100 times a second */
    int64_t ms = pair->now->begin_ms - pair->before->end_ms;
    return ms >= COARSE_MS && pair->object[1].type.PerfFreq.QuadPart >= 2000 / ms;
}

/* Compares the objects' times. To return a stored answer is no mistake: the time is unchanged then,
 * but so are the values. */
void values_compare_times(struct check_answer *before, struct check_answer *now,
                          struct report *report)
{
    struct pair pair = {.before = before, .now = now, .report = report};
    while (opl_block_next_object(&now->block, &pair.object[1])) {
        uint32_t number = pair.object[1].type.ObjectNameTitleIndex;
        LONGLONG time = pair.object[1].type.PerfTime.QuadPart;
        /* 0: the object has no clock of its own */
        if (time && opl_block_find_object(&before->block, number, &pair.object[0]) &&
            pair.object[0].type.PerfTime.QuadPart == time && must_move(&pair) &&
            counts_changed(&pair))
            report_add(report, MISTAKE, &(struct place){number, 0, NULL}, "PerfTime", IN_VALUES,
                       "a later time, because values have changed and rates are divided by the "
                       "time between two answers",
                       "still %lld after %lld ms", (long long)time,
                       (long long)(now->begin_ms - before->end_ms));
    }
}

/* True if both answers have the same instances of the object, but all with changed start times. */
static bool all_started_again(struct check_answer *before, struct check_answer *now,
                              uint32_t number)
{
    struct pair pair = {.before = before, .now = now};
    bool any = false;
    int step = -1;
    if (!before->data || !find_object(&pair, number))
        return false;
    begin_instances(&pair);
    while ((step = next_instances(&pair)) > 0) {
        if (is_total(pair.name))
            continue;
        if (is_the_same(&pair))
            return false;
        any = true;
    }
    return any && step == 0;
}

/* Reports start times that change in every answer. A start that is calculated from clocks may
 * differ by their ticks, so times are compared that were read TICKS_MS apart. */
static void compare_starts(struct check_answer *first, struct pair *pair, struct report *report)
{
    enum { TICKS_MS = 50 };
    uint32_t number = pair->object[1].type.ObjectNameTitleIndex;
    if (first->data && pair->now->begin_ms - first->end_ms > TICKS_MS &&
        all_started_again(pair->before, pair->now, number) &&
        all_started_again(first, pair->now, number) &&
        all_started_again(first, pair->before, number))
        report_add(report, WARNING, &(struct place){number, 0, NULL}, "start", IN_VALUES,
                   "the start time (the type is PERF_ELAPSED_TIME), which stays the same as long "
                   "as the instance exists",
                   "another value in each of three answers, for all instances");
}

void values_compare(struct check_answer *first, struct check_answer *before,
                    struct check_answer *now, struct report *report)
{
    struct pair pair = {.before = before, .now = now, .report = report};
    while (opl_block_next_object(&now->block, &pair.object[1]))
        if (opl_block_find_object(&before->block, pair.object[1].type.ObjectNameTitleIndex,
                                  &pair.object[0])) {
            compare_times(&pair, report);
            compare_starts(first, &pair, report);
            compare_instances(&pair, report);
        }
}
