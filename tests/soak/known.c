/* SPDX-License-Identifier: MIT */
/* Counters whose right values are known: those of steps.c can be computed, and two counts of the
 * kernel are read directly before and after each collection. */
#include "soak.h"
#include "steps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the kernel's own counts ---- */

static struct look {
    const char *path, *file, *key;
    PDH_HCOUNTER counter;
    /* the kernel's count before and after this collection, and before and after the previous one */
    double before, after, last_before, last_after;
    PDH_RAW_COUNTER raw;
} looks[] = {
    {"\\System\\Context Switches/sec", "/proc/stat",   "\nctxt "   },
    {"\\Memory\\Page Faults/sec",      "/proc/vmstat", "\npgfault "},
};

static double look_at(const char *path, const char *key)
{
    static char text[1 << 18];
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    const char *found = strstr(text, key);
    return found ? atof(found + strlen(key)) : NAN;
}

void known_look(bool after)
{
    for (size_t i = 0; i < COUNT(looks); i++) {
        struct look *look = &looks[i];
        double number = look_at(look->file, look->key);
        if (after) {
            look->after = number;
            continue;
        }
        look->last_before = look->before;
        look->last_after = look->after;
        look->before = number;
    }
}

static void judge_look(struct look *look, const struct interval *interval)
{
    PDH_FMT_COUNTERVALUE value;
    PDH_RAW_COUNTER before = look->raw;
    DWORD type;
    if (PdhGetRawCounterValue(look->counter, &type, &look->raw) ||
        PdhGetFormattedCounterValue(look->counter, PDH_FMT_DOUBLE, NULL, &value))
        return;
    double seconds = (double)(look->raw.SecondValue - before.SecondValue) / 1e7;
    double rise = value.doubleValue * seconds;
    double least = look->before - look->last_after, most = look->after - look->last_before;
    if (interval->sample < 2) /* there is no previous collection to compare with */
        return;
    tally.kernel++;
    if (interval->set || !(rise >= least - 0.5) || !(rise <= most + 0.5))
        offend(interval, "not what the kernel counted", "%s: %.17g, that is %g; it was %g to %g",
               look->path, value.doubleValue, rise, least, most);
}

/* ---- steps.c, the provider whose values can be computed ---- */

struct known {
    const struct watch *steps;
    const struct interval *interval;
    const struct row *row;
    DWORD index; /* position of its counter in steps_rows */
    /* number of collections up to this sample, and up to the previous one */
    ULONGLONG count, before;
    double seconds;
    const PDH_FMT_COUNTERVALUE *value;
};

static ULONGLONG cut(DWORD type, ULONGLONG value)
{
    return (type & 0x300) == PERF_SIZE_LARGE ? value : (uint32_t)value;
}

static double rise_of(const struct known *known, DWORD index)
{
    return (double)steps_rows[index].step * (double)(known->count - known->before);
}

static double expected(const struct known *known)
{
    const struct steps_row *is = &steps_rows[known->index];
    double rise = (double)(LONGLONG)(steps_value(known->index, known->count) -
                                     steps_value(known->index, known->before));
    switch (is->rule) {
    case STEPS_RATE:
        return rise / known->seconds;
    case STEPS_RATIO:
        return rise_of(known, known->index) / rise_of(known, known->index + 1);
    case STEPS_PERCENT:
        return rise_of(known, known->index) / rise_of(known, known->index + 1) * 100;
    default:
        return rise;
    }
}

/* Has the counter wrapped around since the previous sample? Then its value, truncated to its size,
 * has become less. */
static bool wrapped(const struct known *known, DWORD index)
{
    DWORD type = steps_rows[index].type;
    return cut(type, steps_value(index, known->count)) <
           cut(type, steps_value(index, known->before));
}

static void judge_known(const struct known *known)
{
    const struct steps_row *is = &steps_rows[known->index];
    bool valid = known->value->CStatus == PDH_CSTATUS_VALID_DATA;
    double value = known->value->doubleValue, right = expected(known);
    if (right < 0) {
        tally.falls++;
        if (valid)
            offend(known->interval, "a value of what fell", "%s, counter %u: %.17g",
                   known->row->name, (unsigned)steps_title(known->index), value);
        return;
    }
    /* if other queries made several collections between the two samples, the value may be missing;
     * with at most one it must be there */
    bool due = !known->interval->set && known->count - known->before <= 2 && known->seconds > 0.002;
    bool fraction = is->rule == STEPS_PERCENT || is->rule == STEPS_RATIO;
    tally.exact += valid;
    tally.wraps +=
        valid && (wrapped(known, known->index) || (fraction && wrapped(known, known->index + 1)));
    if (valid ? fabs(value - right) > right * 1e-9 : due && known->interval->step == 0)
        offend(known->interval, "not what the provider counted",
               "%s, counter %u: %.17g, status %x, not %.17g; %llu collections after %llu",
               known->row->name, (unsigned)steps_title(known->index), value,
               (unsigned)known->value->CStatus, right, (unsigned long long)known->count,
               (unsigned long long)known->before);
}

static void judge_row(const struct watch *steps, const struct interval *interval, DWORD at)
{
    int before = watch_before(steps, at);
    const struct column *count = &steps->columns[0];
    if (before < 0 || (DWORD)before >= count->count_before)
        return;
    for (unsigned k = 1; k < steps->count; k++) {
        const struct column *column = &steps->columns[k];
        LONGLONG ticks =
            column->raw[at].RawValue.SecondValue - column->raw_before[before].RawValue.SecondValue;
        const struct known known = {
            .steps = steps,
            .interval = interval,
            .row = &steps->now.rows[at],
            .index = ((DWORD)atoi(column->title) - steps_title(0)) / 2,
            .count = (ULONGLONG)count->raw[at].RawValue.FirstValue,
            .before = (ULONGLONG)count->raw_before[before].RawValue.FirstValue,
            .seconds =
                steps_rows[((DWORD)atoi(column->title) - steps_title(0)) / 2].rule == STEPS_RATE
                    ? (double)ticks / 1e7
                    : 1,
            .value = &column->values[at].FmtValue};
        /* else the provider's helper process was restarted, and its count began anew */
        if (known.count > known.before)
            judge_known(&known);
    }
}

/* ---- adding and checking the counters ---- */

bool known_add(PDH_HQUERY query, struct watch *steps)
{
    char title[16];
    for (size_t i = 0; i < COUNT(looks); i++)
        if (PdhAddEnglishCounterA(query, looks[i].path, 0, &looks[i].counter))
            return false;
    for (DWORD i = 0; i < STEPS_COUNTERS; i++) {
        snprintf(title, sizeof title, "%u", (unsigned)steps_title(i));
        if (steps_rows[i].rule != STEPS_BASE && !watch_add_counter(steps, query, title))
            return false;
    }
    return true;
}

void known_judge(const struct watch *steps, const struct interval *interval)
{
    for (size_t i = 0; i < COUNT(looks); i++)
        judge_look(&looks[i], interval);
    for (DWORD i = 0; i < steps->now.count; i++)
        judge_row(steps, interval, i);
}
