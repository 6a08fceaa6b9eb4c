/* SPDX-License-Identifier: MIT */
/*
 * Finds processes that have been busy for too long.
 *
 * Each record has the last raw sample of its process. PDH could compute the values of all processes
 * by itself, but on Windows PDH finds the previous sample by the instance's name, so a new process
 * "cc" would be compared with a "cc" that has ended. Here only samples of the same process are
 * compared.
 */
#include "protector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Above this load (percent of all processors), a process may have used little time only because it
 * did not get more. */
static const double busy_machine = 95;

static bool same(const struct identity *left, const struct identity *right)
{
    return left->id == right->id && left->began == right->began;
}

static int compare(const void *left, const void *right)
{
    const struct record *a = left, *b = right;
    return a->identity.id < b->identity.id ? -1 : a->identity.id > b->identity.id;
}

struct record *judge_find(const struct judge *judge, uint32_t id)
{
    struct record key = {.identity.id = id};
    return judge->count ? bsearch(&key, judge->all, judge->count, sizeof key, compare) : NULL;
}

/* Returns the percentage of one processor that a process used between two samples; below 0:
 * unknown. The samples' clock is the time of day. If that clock was set between the samples (by
 * more than 1 % of the interval `passed`), the result is unknown. */
static double share(const PDH_RAW_COUNTER *newest, const PDH_RAW_COUNTER *before, int64_t passed)
{
    PDH_FMT_COUNTERVALUE value;
    LONGLONG time_base = SECOND_100NS;
    PDH_RAW_COUNTER samples[2] = {*newest, *before};
    int64_t reported = newest->SecondValue - before->SecondValue;
    if (llabs(reported - passed) > passed / 100 + SECOND_100NS / 100)
        return -1;
    PDH_STATUS status = PdhFormatFromRawValue(PERF_100NSEC_TIMER, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100,
                                              &time_base, &samples[0], &samples[1], &value);
    return status == 0 ? value.doubleValue : -1;
}

/* Adds the interval to the time for which a process was busy, or restarts that time: a single quiet
 * interval ends it. */
static void go_on(double *seconds, double *mean, double percent, double interval)
{
    double before = *seconds;
    *seconds += interval;
    *mean = before > 0 ? (*mean * before + percent * interval) / *seconds : percent;
}

static void weigh(struct record *record, const struct judge *judge, const struct look *look)
{
    const struct limits *limits = &judge->limits;
    double interval = (double)(look->time - judge->time) / SECOND_100NS;
    bool heavy = record->percent >= limits->percent;
    bool busy = heavy && look->load >= limits->load;
    bool calm = !heavy && record->percent >= 0 && look->load >= 0 && look->load < busy_machine;
    if (!busy) {
        record->busy = 0;
        record->reported = false;
    }
    if (!calm)
        record->calm = 0;
    if (busy || calm)
        go_on(busy ? &record->busy : &record->calm, &record->mean, record->percent, interval);
}

static struct record known_or_new(const struct judge *judge, const struct process *process,
                                  const struct look *look)
{
    struct record *before = judge_find(judge, process->identity.id);
    struct record record = {.identity = process->identity, .percent = -1};
    if (before && same(&before->identity, &process->identity)) {
        record = *before;
        before->held = NULL; /* the new record owns `held` now */
        record.percent = share(&process->work, &before->work, look->time - judge->time);
        weigh(&record, judge, look);
    }
    record.work = process->work;
    return record;
}

static void let_go(struct record *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (all[i].held)
            hold_end(all[i].held);
    }
    free(all);
}

bool judge_look(struct judge *judge, const struct look *look)
{
    struct record *all = malloc((look->count + 1) * sizeof *all);
    if (!all)
        return false;
    for (size_t i = 0; i < look->count; i++)
        all[i] = known_or_new(judge, &look->all[i], look);
    qsort(all, look->count, sizeof *all, compare);
    let_go(judge->all, judge->count);
    judge->all = all;
    judge->count = look->count;
    judge->time = look->time;
    return true;
}

/* Has the time reached the limit? Intervals are never exact: ten intervals of a second may take
 * 9.998 s, which is accepted. */
static bool lasts(double seconds, const struct limits *limits)
{
    return seconds > 0 && seconds >= limits->seconds * 0.99;
}

bool judge_too_long(const struct judge *judge, const struct record *record)
{
    return lasts(record->busy, &judge->limits);
}

bool judge_calm_again(const struct judge *judge, const struct record *record)
{
    return lasts(record->calm, &judge->limits);
}

void judge_end(struct judge *judge)
{
    let_go(judge->all, judge->count);
    *judge = (struct judge){0};
}
