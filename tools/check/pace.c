/* SPDX-License-Identifier: MIT */
/*
 * Compares the progress of times in three answers with the monotonic clock. A time in a wrong unit
 * is wrong in both intervals between the answers. A correct time may jump in one interval: when the
 * provider renews an answer that it stores, or when a long operation ends and adds its whole
 * duration.
 */
#include "check.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { NAME_SIZE = 256 };

/* The least and the most time that may have passed between the readings of two answers. */
struct interval {
    double least, most; /* seconds */
};

struct course {
    struct check_answer *answers; /* PACE_ANSWERS, the oldest first */
    opl_object_view objects[PACE_ANSWERS];
    struct interval intervals[PACE_ANSWERS - 1];
    struct report *report;
};

static struct interval interval_of(const struct check_answer *before,
                                   const struct check_answer *now)
{
    enum { ROUNDING_MS = 1 }; /* rounding of each of the two times */
    return (struct interval){(double)(now->begin_ms - before->end_ms - ROUNDING_MS) / 1000,
                             (double)(now->end_ms - before->begin_ms + ROUNDING_MS) / 1000};
}

/* ---- the object's time ---- */

static bool uses_object_time(const struct course *course)
{
    opl_counter_view counter = {0};
    while (opl_object_next_counter(&course->answers[0].block, &course->objects[0], &counter))
        if ((counter.definition.CounterType & 0x00300000) == PERF_OBJECT_TIMER)
            return true;
    return false;
}

/* Returns 1 if PerfTime advances much too fast for its PerfFreq in the interval, -1 if it advances
 * much too slowly, 0 if it is right or stands still. */
static int judge_pace(const struct course *course, int i)
{
    enum { FACTOR = 4 };
    const PERF_OBJECT_TYPE *before = &course->objects[i].type, *now = &course->objects[i + 1].type;
    double ticks = (double)(now->PerfTime.QuadPart - before->PerfTime.QuadPart);
    double passed = ticks / (double)now->PerfFreq.QuadPart;
    if (passed > course->intervals[i].most * FACTOR)
        return 1;
    return ticks > 0 && passed * FACTOR < course->intervals[i].least ? -1 : 0;
}

static void check_frequency(const struct course *course)
{
    const PERF_OBJECT_TYPE *before = &course->objects[0].type, *now = &course->objects[1].type;
    struct place place = {now->ObjectNameTitleIndex, 0, NULL};
    if (now->PerfFreq.QuadPart <= 0 || !uses_object_time(course))
        return;
    int pace = judge_pace(course, 0);
    if (pace && pace == judge_pace(course, 1))
        report_add(course->report, MISTAKE, &place, "PerfFreq", IN_VALUES,
                   "the number by which PerfTime grows in a second",
                   "%lld, but PerfTime has grown by %lld in %.0f ms",
                   (long long)now->PerfFreq.QuadPart,
                   (long long)(now->PerfTime.QuadPart - before->PerfTime.QuadPart),
                   course->intervals[0].most * 1000);
}

/* ---- timers ---- */

/* Returns by how many seconds the timer grew more than all processors together can run in the
 * interval; 0 or less: not more. A tick is allowed, because processor time is counted in ticks. */
static double excess(const struct course *course, int i, const opl_counter_view *counter,
                     const opl_instance_view instances[PACE_ANSWERS])
{
    const double units = 1e7, tick = 0.02;
    uint64_t before, now;
    if (!opl_counter_number(&course->answers[i].block, &instances[i], counter, &before) ||
        !opl_counter_number(&course->answers[i + 1].block, &instances[i + 1], counter, &now) ||
        now < before)
        return 0;
    double most = (course->intervals[i].most + tick) * (double)sysconf(_SC_NPROCESSORS_CONF);
    return (double)(now - before) / units - most;
}

static void check_timers(const struct course *course,
                         const opl_instance_view instances[PACE_ANSWERS], const char *name)
{
    opl_counter_view counter = {0};
    while (opl_object_next_counter(&course->answers[0].block, &course->objects[0], &counter)) {
        DWORD type = counter.definition.CounterType;
        struct place place = {course->objects[0].type.ObjectNameTitleIndex,
                              counter.definition.CounterNameTitleIndex, name};
        if ((type == PERF_100NSEC_TIMER || type == PERF_COUNTER_TIMER) &&
            excess(course, 0, &counter, instances) > 0 &&
            excess(course, 1, &counter, instances) > 0)
            report_add(course->report, WARNING, &place, "value", IN_VALUES,
                       "units of 100 ns, and a MULTI_TIMER for the sum of several things",
                       "it grows by more than 100 %% of the time of all processors");
    }
}

/* True if the answer has the same definitions as the first, and an instance of this name at this
 * position. */
static bool next_instance(const struct course *course, int i, opl_instance_view *instance,
                          char name[NAME_SIZE])
{
    opl_block *block = &course->answers[i].block;
    const opl_object_view *object = &course->objects[i];
    char own[NAME_SIZE];
    if (!opl_object_next_instance(block, object, instance))
        return false;
    opl_instance_name(block, object, instance, own, sizeof own);
    if (i == 0)
        strcpy(name, own);
    return strcmp(name, own) == 0 &&
           object->type.DefinitionLength == course->objects[0].type.DefinitionLength;
}

static void check_instances(const struct course *course)
{
    opl_instance_view instances[PACE_ANSWERS] = {0};
    char name[NAME_SIZE];
    for (;;) {
        for (int i = 0; i < PACE_ANSWERS; i++)
            if (!next_instance(course, i, &instances[i], name))
                return;
        if (strncmp(name, "_Total", 6) != 0) /* a sum has the tick errors of all its parts */
            check_timers(course, instances, name);
    }
}

void pace_check(struct check_answer answers[static PACE_ANSWERS], struct report *report)
{
    struct course course = {.answers = answers, .report = report};
    for (int i = 0; i + 1 < PACE_ANSWERS; i++)
        course.intervals[i] = interval_of(&answers[i], &answers[i + 1]);
    while (opl_block_next_object(&answers[0].block, &course.objects[0])) {
        uint32_t number = course.objects[0].type.ObjectNameTitleIndex;
        bool everywhere = true;
        for (int i = 1; i < PACE_ANSWERS; i++)
            everywhere &= opl_block_find_object(&answers[i].block, number, &course.objects[i]);
        if (!everywhere)
            continue;
        check_frequency(&course);
        check_instances(&course);
    }
}
