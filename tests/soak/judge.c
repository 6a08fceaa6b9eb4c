/* SPDX-License-Identifier: MIT */
/* Finds values that are impossible in any sample: negative ones, too large ones, those computed
 * from two different processes, and rates over an interval of unknown length. */
#include "soak.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct tally tally;
unsigned long processors;

/* A value of a sample, with everything that is known about it. */
struct judged {
    const struct watch *watch;
    const struct column *column;
    const struct interval *interval;
    const struct row *row, *before;
    const PDH_FMT_COUNTERVALUE *value;
    const PDH_RAW_COUNTER *raw, *raw_before;
};

/* ---- reporting ---- */

void offend(const struct interval *interval, const char *what, const char *format, ...)
{
    va_list arguments;
    tally.offending++;
    if (tally.offending > 20)
        return;
    printf("sample %lu: %s: ", interval->sample, what);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("; %.4f to %.4f s, wall clock set by %g s\n", interval->shortest, interval->longest,
           interval->step);
    fflush(stdout);
}

static void offends(const struct judged *is, const char *what)
{
    const struct row none = {.pid = -1}, *before = is->before ? is->before : &none;
    const PDH_RAW_COUNTER zero = {0}, *raw = is->raw_before ? is->raw_before : &zero;
    offend(is->interval, what,
           "\\%s(%s#%u)\\%s = %.17g, status %x; process %lld/%lld/%lld after %lld/%lld/%lld, raw "
           "%lld %lld after %lld %lld",
           is->watch->object, is->row->name, is->row->number, is->column->title,
           is->value->doubleValue, (unsigned)is->value->CStatus, is->row->pid, is->row->start,
           is->row->thread, before->pid, before->start, before->thread,
           (long long)is->raw->FirstValue, (long long)is->raw->SecondValue,
           (long long)raw->FirstValue, (long long)raw->SecondValue);
}

/* ---- types ---- */

/* Is the value computed from the increase between two samples? A bit of the type says so; it is
 * also true for averages. */
bool is_rate(DWORD type)
{
    return type & PERF_DELTA_COUNTER || type == PERF_AVERAGE_BULK || type == PERF_AVERAGE_TIMER;
}

static bool is_time(DWORD type)
{
    return type == PERF_100NSEC_TIMER || type == PERF_100NSEC_TIMER_INV;
}

/* ---- bounds ---- */

/* Returns by how many seconds a time may be inexact: proc/PID/stat has two times, each rounded down
 * to a tick; proc/stat counts whole ticks, and adds those that a sleeping processor missed
 * later. */
static double ticks_of(const struct judged *is)
{
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    bool total = !strcmp(is->row->name, "_Total") || strstr(is->row->name, "/_Total");
    if (total)
        return 3 * tick * (is->watch->now.count + is->watch->before.count);
    return (is->watch->pid && is->row->pid ? 2 : 3 * (double)processors) * tick;
}

static double processors_of(const struct judged *is)
{
    bool one = is->watch->processors > 0 && !strstr(is->row->name, "_Total");
    return one ? is->watch->processors : (double)processors;
}

/* Returns the largest possible increase between the two collections. The length of the interval is
 * the one that PDH used. */
static double most(const struct judged *is)
{
    double length = is->raw_before
                        ? (double)(is->raw->SecondValue - is->raw_before->SecondValue) / 1e7
                        : is->interval->shortest;
    if (length <= 0)
        return 0;
    if (is_time(is->column->type))
        return 100 * (processors_of(is) * is->interval->longest + ticks_of(is)) / length;
    bool bytes = strstr(is->column->title, "Bytes");
    double each_second = (bytes ? 5e10 : 5e7) * (double)processors;
    return each_second * is->interval->longest / length;
}

/* The kernel counts the time in an idle state (% C1 Time and so on) only when the processor wakes,
 * so a whole long sleep may be counted in one short interval. */
static bool is_booked_overdue(const struct judged *is)
{
    return !strncmp(is->column->title, "% C", 3) && strlen(is->column->title) == 9;
}

static void judge_bound(const struct judged *is)
{
    /* committed memory may exceed its limit, unless vm.overcommit_memory is 2 */
    bool percent =
        (is->column->type == PERF_RAW_FRACTION || is->column->type == PERF_LARGE_RAW_FRACTION) &&
        !strstr(is->column->title, "Committed");
    if (is->watch->known || is_booked_overdue(is) || (!percent && !is_rate(is->column->type)))
        return;
    tally.bounded++;
    if (is->value->doubleValue > (percent ? 100 : most(is)))
        offends(is, "above what is possible");
}

/* ---- which process a value belongs to ---- */

static bool same(const struct row *row, const struct row *before)
{
    return row->pid == before->pid && row->start == before->start && row->thread == before->thread;
}

/* A rate that has a value must come from two samples of the same process. */
static void judge_identity(const struct judged *is)
{
    if (!is->before) {
        offends(is, "a rate of what was not there before");
        return;
    }
    if (!is->watch->pid || is->row->pid == 0)
        return; /* such an instance has no process number, only a name */
    tally.same++;
    if (!same(is->row, is->before))
        offends(is, "two processes in one series");
    else if (is->row->process && is->before->process && is->row->process != is->before->process)
        /* not distinguishable: a process that started in the same tick and has the same number */
        tally.twins++;
}

static void judge_refusal(const struct judged *is)
{
    bool other = is->watch->pid && is->before && is->row->pid && !same(is->row, is->before);
    tally.no_value++;
    tally.refused_set += is->interval->set;
    other = other && !is->interval->set;
    tally.refused_other += other;
    tally.refused_number +=
        other && is->row->pid == is->before->pid && is->row->start != is->before->start;
}

/* An elapsed time must grow as fast as real time passes, even if the wall clock is set. */
static void judge_elapsed(const struct judged *is)
{
    const double reading = 0.02;
    if (is->column->type != PERF_ELAPSED_TIME || !is->before || !is->raw_before ||
        is->row->pid == 0 || !same(is->row, is->before))
        return;
    double grown = (double)(is->raw->SecondValue - is->raw_before->SecondValue) / 1e7;
    tally.elapsed++;
    if (grown < is->interval->shortest - reading || grown > is->interval->longest + reading ||
        is->raw->FirstValue != is->raw_before->FirstValue)
        offends(is, "an elapsed time that does not pass as time does");
}

/* ---- all values ---- */

static void judge_value(const struct judged *is)
{
    bool rate = is_rate(is->column->type);
    bool valid =
        is->value->CStatus == PDH_CSTATUS_VALID_DATA || is->value->CStatus == PDH_CSTATUS_NEW_DATA;
    tally.values++;
    tally.rates += rate;
    if (!valid) {
        if (rate)
            judge_refusal(is);
        return;
    }
    tally.not_negative++;
    if (!(is->value->doubleValue >= 0) || !isfinite(is->value->doubleValue))
        offends(is, "negative or no number");
    if (rate && is->interval->set)
        offends(is, "a rate while the clock was set");
    if (rate)
        judge_identity(is);
    judge_bound(is);
    judge_elapsed(is);
}

void judge_watch(const struct watch *watch, const struct interval *interval)
{
    for (DWORD i = 0; i < watch->now.count; i++) {
        int before = watch_before(watch, i);
        for (unsigned k = 0; k < watch->count; k++) {
            const struct column *column = &watch->columns[k];
            bool had = before >= 0 && (DWORD)before < column->count_before;
            const struct judged judged = {.watch = watch,
                                          .column = column,
                                          .interval = interval,
                                          .row = &watch->now.rows[i],
                                          .before = had ? &watch->before.rows[before] : NULL,
                                          .value = &column->values[i].FmtValue,
                                          .raw = &column->raw[i].RawValue,
                                          .raw_before =
                                              had ? &column->raw_before[before].RawValue : NULL};
            judge_value(&judged);
        }
    }
}
