/* SPDX-License-Identifier: MIT */
/*
 * A set's captures at one time. The samples of the minutes before that time are read, so that rates
 * and histories are those that the machine had then. Times here are local times, as in captures.
 *
 * If samples are missing between two samples, the machine's uptime in both shows why: the machine
 * was off, the set did not run, or the clock was set.
 */
#include "internal.h"

#include <openperflib/capture.h>

#include <limits.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN = 60, /* number of samples before the shown time that are read for histories */
    MOST_DAMAGED = 100,
    USUAL_STEP = 15,
    /* after a jump of so many ticks, histories have no values of an earlier time */
    FORGOTTEN = MODEL_FINE + MODEL_COARSE * MODEL_COARSE_COUNT + 1
};

struct view {
    struct sampler *sampler;
    struct source *source;
    PDH_HCOUNTER up; /* the counter of the machine's uptime; NULL: not recorded */
    LONGLONG time;   /* the time that is shown */
    LONGLONG sample; /* time of the last sample not after `time`; 0: none */
    bool in_gap;     /* `time` is in a gap: `sample` is too old for it */
    double sample_up;
    LONGLONG step; /* usual time between two samples */
    struct moment moment;
};

/* ---- single samples ---- */

static double up_time(const struct view *view)
{
    DWORD type;
    PDH_FMT_COUNTERVALUE value;
    if (!view->up || PdhGetFormattedCounterValue(view->up, PDH_FMT_DOUBLE, &type, &value))
        return NAN;
    return value.doubleValue;
}

/* Returns the uptime of a sample: if it is not recorded in it, what it is by the uptime of the
 * sample before and the time between the two. */
static double up_time_after(const struct view *view, LONGLONG before, double up, LONGLONG time)
{
    double now = up_time(view);
    return isnan(now) ? up + (double)(time - before) / SECOND : now;
}

static bool set_range(const struct view *view, LONGLONG from, LONGLONG to)
{
    PDH_TIME_INFO range = {.StartTime = from, .EndTime = to};
    return PdhSetQueryTimeRange(view->sampler->query, &range) == 0;
}

/* Reads the next sample of the query's range; *ret is its time. Damaged places are noted and
 * skipped. */
static bool next_sample(const struct view *view, LONGLONG *ret)
{
    PDH_STATUS status = (PDH_STATUS)PDH_BINARY_LOG_CORRUPT;
    for (int i = 0; i < MOST_DAMAGED && (DWORD)status == PDH_BINARY_LOG_CORRUPT; i++) {
        status = PdhCollectQueryDataWithTime(view->sampler->query, ret);
        if (status)
            note_loss(view->sampler, status);
    }
    return status == 0;
}

/* Finds the first sample of a range; `to` 0: no limit. */
static bool first_sample(const struct view *view, LONGLONG from, LONGLONG to, LONGLONG *ret)
{
    return set_range(view, from, to) && next_sample(view, ret);
}

/* Reads all samples of a range; *ret is the time of the last one. */
static bool read_to_end(const struct view *view, LONGLONG from, LONGLONG to, LONGLONG *ret)
{
    bool any = false;
    for (bool good = first_sample(view, from, to, ret); good; good = next_sample(view, ret))
        any = true;
    return any;
}

/* Finds the last sample not after `time`. If the minutes before it have none, searches by halving
 * the time before, then reads the rest. */
static bool last_sample(const struct view *view, LONGLONG time, LONGLONG *ret)
{
    LONGLONG low, found;
    if (read_to_end(view, time - SHOWN * view->step, time, ret))
        return true;
    if (!first_sample(view, 0, time, &low))
        return false;
    for (LONGLONG high = time; high - low > SHOWN * view->step;) {
        LONGLONG middle = low + (high - low) / 2;
        if (first_sample(view, middle, high, &found) && found > low)
            low = found;
        else
            high = middle;
    }
    return read_to_end(view, low, time, ret);
}

/* ---- what is between two samples ---- */

/* Returns what is between two samples, from their times (`from`, `to`) and the uptimes in them. */
static struct moment between(const struct view *view, LONGLONG from, double up, LONGLONG to,
                             double up_to)
{
    const double step = (double)view->step / SECOND, passed = (double)(to - from) / SECOND;
    const double set = passed - (up_to - up);
    struct moment moment = {.from = utc_of_local(from), .to = utc_of_local(to)};
    moment.boot = isnan(up_to) ? 0 : moment.to - (int64_t)(up_to * SECOND);
    moment.seconds = set;
    if (passed < 0 && isnan(set))
        moment.seconds = passed;
    if (up_to < up)
        moment.kind = MOMENT_OFF;
    else if (fabs(moment.seconds) > 1.5 * step)
        moment.kind = MOMENT_CLOCK;
    else if (passed > 2.5 * step)
        moment.kind = isnan(set) ? MOMENT_GAP : MOMENT_STOPPED;
    return moment;
}

/* ---- showing a time ---- */

static void add_all(struct view *view)
{
    struct sampler *sampler = view->sampler;
    if (!view->up && add_path(sampler, "\\System\\System Up Time", &view->up))
        view->up = NULL;
    for (size_t i = 0; i < sampler->count; i++) {
        struct spec *spec = sampler->specs[i];
        if (spec->counters)
            remove_counters(spec);
        spec->counters = counters_new(spec->column_count);
        if (spec->counters)
            add_counters(sampler, spec);
    }
}

static void remove_all(struct view *view)
{
    for (size_t i = 0; i < view->sampler->count; i++)
        if (view->sampler->specs[i]->counters)
            remove_counters(view->sampler->specs[i]);
    if (view->up)
        PdhRemoveCounter(view->up);
    view->up = NULL;
}

/* Leaves out tables without values: this sample is from a file with other counters. */
static void drop_empty(struct frame *frame)
{
    size_t kept = 0;
    for (size_t i = 0; i < frame->count; i++) {
        struct table_sample *table = &frame->tables[i];
        bool any = false;
        for (size_t c = 0; !any && c < table->row_count * table->spec->column_count; c++)
            any = !isnan(table->cells[c].number);
        if (any)
            frame->tables[kept++] = *table;
        else
            table_sample_free(table);
    }
    frame->count = kept;
}

static bool show_nothing(struct view *view)
{
    struct sampler *sampler = view->sampler;
    struct frame *frame = calloc(1, sizeof *frame + sampler->count * sizeof *frame->tables);
    if (!frame)
        return true;
    frame->source = view->source;
    frame->time = utc_of_local(view->time);
    sampler->tick += FORGOTTEN;
    frame->tick = sampler->tick;
    for (size_t i = 0; i < sampler->count; i++)
        if (!sampler->specs[i]->text)
            frame->tables[frame->count++].spec = sampler->specs[i];
    return hand_over(view->source, frame);
}

/* Hands over the samples of the minutes before the shown time. False: the sampler must end. */
static bool show_samples(struct view *view)
{
    struct sampler *sampler = view->sampler;
    LONGLONG least = INT64_MAX;
    bool go_on = true, first = true;
    view->sample = 0;
    view->sample_up = NAN;
    for (int damaged = 0; go_on && damaged < MOST_DAMAGED;) {
        struct frame *frame = sample_frame(sampler, sampler->specs, sampler->count);
        if (!frame || frame->status) {
            DWORD status = frame ? (DWORD)frame->status : PDH_NO_MORE_DATA;
            note_loss(sampler, (PDH_STATUS)status);
            if (frame)
                frame_free(frame);
            damaged++;
            if (status == PDH_BINARY_LOG_CORRUPT)
                continue;
            break;
        }
        LONGLONG time = local_of_utc(frame->time);
        double up = up_time(view);
        if (!first) {
            view->moment = between(view, view->sample, view->sample_up, time, up);
            drop_empty(frame);
        }
        if (!first && time - view->sample > SECOND && time - view->sample < least)
            least = time - view->sample;
        first = false;
        view->sample_up = up_time_after(view, view->sample, view->sample_up, time);
        view->sample = time;
        go_on = hand_over(view->source, frame);
    }
    view->step = least < INT64_MAX ? least : view->step;
    return go_on;
}

/* Finds why there is no sample at the shown time, and shows no values. */
static bool show_gap(struct view *view)
{
    LONGLONG before = 0, after = 0;
    bool earlier = last_sample(view, view->time, &before);
    double up = earlier ? up_time(view) : NAN;
    bool later = first_sample(view, view->time + 1, 0, &after);
    view->sample = before;
    view->moment = earlier && later ? between(view, before, up, after, up_time(view))
                                    : (struct moment){.from = earlier ? utc_of_local(before) : 0,
                                                      .to = later ? utc_of_local(after) : 0};
    if (!earlier || !later)
        view->moment.kind = earlier ? MOMENT_AFTER : MOMENT_BEFORE;
    else if (view->moment.kind == MOMENT_SAMPLE)
        view->moment.kind = MOMENT_GAP;
    return show_nothing(view);
}

/* Hands over the texts of the last sample. False: the sampler must end. */
static bool show_texts(struct view *view)
{
    struct sampler *sampler = view->sampler;
    struct frame *frame = take_texts(sampler, sampler->specs, sampler->count);
    return !frame || hand_over(view->source, frame);
}

static bool show(struct view *view, const struct moment *crossed)
{
    struct sampler *sampler = view->sampler;
    sampler->tick += FORGOTTEN;
    view->moment = (struct moment){0};
    set_range(view, view->time - SHOWN * view->step, view->time);
    add_all(view);
    if (!show_samples(view))
        return false;
    double steps = (double)(view->time - view->sample) / (double)view->step;
    view->in_gap = !view->sample || steps > 2.5;
    if (!(view->in_gap ? show_gap(view) : show_texts(view)))
        return false;
    if (crossed && crossed->kind)
        view->moment = *crossed;
    struct frame *frame = empty_frame(view->source, sampler->damage, true);
    if (!frame)
        return true;
    frame->time = utc_of_local(view->time);
    frame->moment = view->moment;
    pthread_mutex_lock(&view->source->mutex);
    view->source->going = false;
    pthread_mutex_unlock(&view->source->mutex);
    add_loss(&frame->loss, sampler->loss);
    add_loss(&frame->loss, sampler->unshown);
    return hand_over(view->source, frame);
}

/* ---- going to another time ---- */

/* Goes to the next sample (`by` above 0) or the previous one; *ret is what is between them. False:
 * there is no such sample. */
static bool go_to_sample(struct view *view, int64_t by, struct moment *ret)
{
    LONGLONG found, from = view->sample;
    double up = view->sample_up;
    if (by > 0 && first_sample(view, (from ? from : view->time) + 1, 0, &found)) {
        if (from)
            *ret = between(view, from, up, found, up_time(view));
        view->time = view->sample = found;
    } else if (by < 0 && from && last_sample(view, from - 1, &found)) {
        *ret = between(view, found, up_time(view), from, up);
        view->time = view->sample = found;
    } else {
        return false;
    }
    view->sample_up = up_time(view);
    return true;
}

/* If there is a gap, or the clock was set, between two samples: sets the time to show (in the gap,
 * or after the change of the clock), and returns true. */
static bool take_gap(struct view *view, LONGLONG before, LONGLONG found, struct moment between_them,
                     struct moment *ret)
{
    bool clock = between_them.kind == MOMENT_CLOCK;
    if (!clock && (!between_them.kind || found - before <= 3 * view->step))
        return false;
    *ret = clock ? between_them : (struct moment){0};
    view->time = clock ? found : before + 3 * view->step;
    return true;
}

/* Goes into the next gap, or to the first sample after the clock was set. After it was set back,
 * that is the first sample that is later than all before. */
static void go_to_gap(struct view *view, struct moment *ret)
{
    LONGLONG before = view->in_gap ? view->time : view->sample, found, back = LLONG_MAX;
    bool first = true;
    double up = NAN;
    ret->kind = MOMENT_NO_GAP;
    for (bool good = first_sample(view, before, 0, &found); good && !is_changed(view->source);
         good = next_sample(view, &found)) {
        double now = up_time(view);
        back = found < before && found < back ? found : back;
        if (!first && found > before + SECOND / 2) {
            struct moment moment = between(view, before, up, found, now);
            if (back < before && moment.kind == MOMENT_SAMPLE) { /* no uptime: the clock was set */
                moment.kind = MOMENT_CLOCK;
                moment.seconds = (double)(back - before) / SECOND;
            }
            if (take_gap(view, before, found, moment, ret))
                return;
            up = up_time_after(view, before, up, found);
        }
        up = first ? now : up;
        before = found < before ? before : found;
        first = false;
    }
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* Adds the names of a sample to `tree`; of a kernel worker without its work, which changes. Returns
 * the first name that `before` lacks; NULL: none. */
static const char *take_names(const struct items *items, void **tree, void *const *before)
{
    const PDH_RAW_COUNTER_ITEM_A *item = items->data;
    const char *born = NULL;
    for (DWORD i = 0; i < items->count; i++) {
        char *name = strdup(item[i].szName);
        if (!name)
            continue;
        size_t worker = worker_length(name);
        const char *number = worker ? strrchr(name, ':') : NULL;
        if (number)
            memmove(name + worker, number, strlen(number) + 1);
        if (before && !born && !tfind(name, before, compare_names))
            born = item[i].szName;
        char **at = tsearch(name, tree, compare_names);
        if (!at || *at != name)
            free(name);
    }
    return born;
}

/* Goes to the next sample with a process that the sample before it lacks. */
static void go_to_birth(struct view *view, struct moment *ret)
{
    PDH_HCOUNTER names = NULL;
    LONGLONG found;
    void *before = NULL;
    ret->kind = MOMENT_NO_BIRTH;
    if (add_path(view->sampler, "\\Process V2(*)\\ID Process", &names))
        return;
    bool good = first_sample(view, view->sample ? view->sample : view->time, 0, &found),
         born = false;
    for (bool any = false; good && !born && !is_changed(view->source);
         good = born || next_sample(view, &found)) {
        void *now = NULL;
        if (!items_read_raw(&view->sampler->values, names) || !view->sampler->values.count)
            continue;
        born = take_names(&view->sampler->values, &now, any ? &before : NULL);
        tdestroy(before, free);
        before = now;
        any = true;
    }
    tdestroy(before, free);
    PdhRemoveCounter(names);
    if (!born)
        return;
    view->time = found;
    ret->kind = MOMENT_SAMPLE;
}

static void go(struct view *view, enum model_go how, int64_t by, struct moment *ret)
{
    if (how == GO_TO)
        view->time = local_of_utc(by);
    else if (how == GO_BY)
        view->time += by * SECOND;
    if (how == GO_SAMPLE)
        while (by && go_to_sample(view, by, ret))
            by += by > 0 ? -1 : 1;
    remove_all(view);
    if (how >= GO_BIRTH && add_path(view->sampler, "\\System\\System Up Time", &view->up))
        view->up = NULL;
    if (how == GO_BIRTH)
        go_to_birth(view, ret);
    else if (how == GO_GAP)
        go_to_gap(view, ret);
}

void run_moment(struct sampler *sampler)
{
    struct source *source = sampler->source;
    struct view view = {.sampler = sampler,
                        .source = source,
                        .time = source->by,
                        .step = (LONGLONG)USUAL_STEP * SECOND};
    PDH_STATUS status = PdhOpenQueryA(source->name, 0, &sampler->query);
    if (status) {
        note_loss(sampler, status);
        struct frame *frame = empty_frame(source, status, true);
        if (frame) {
            add_loss(&frame->loss, sampler->loss);
            hand_over(source, frame);
        }
        return;
    }
    bool go_on = true;
    while (go_on) {
        struct moment crossed = {0};
        pthread_mutex_lock(&source->mutex);
        bool goes = source->goes;
        enum model_go how = source->go;
        int64_t by = source->by;
        source->goes = false;
        source->going = goes;
        pthread_mutex_unlock(&source->mutex);
        take_changes(sampler);
        if (goes)
            go(&view, how, by, &crossed);
        go_on = show(&view, &crossed) && wait_until(source, 0);
    }
    remove_all(&view);
    PdhCloseQuery(sampler->query);
}
