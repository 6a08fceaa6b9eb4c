/* SPDX-License-Identifier: MIT */
/*
 * Histories: of a machine the last MODEL_FINE samples one by one, and before them, for an hour at
 * one sample a second, MODEL_COARSE together; of a capture everything, several samples in one place
 * if it is long. A series takes 5.5 kB for a machine.
 */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct coarse {
    float least, most, average;
};
enum { LEAST_CAPACITY = 16, MACHINE_TICKS = MODEL_COARSE * MODEL_COARSE_COUNT };
enum { MOST_HISTORIES = 4096 }; /* of a table; rows that are gone are forgotten first */

/* ---- series ---- */

static float *empty_values(size_t count)
{
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = NAN;
    return values;
}

static void span_add(struct span *span, uint32_t *count, float least, float most, float average)
{
    if (isnan(average))
        return;
    span->least = *count ? fminf(span->least, least) : least;
    span->most = *count ? fmaxf(span->most, most) : most;
    span->average =
        *count ? span->average + (average - span->average) / (float)(*count + 1) : average;
    span->last = average;
    ++*count;
}

/* Joins the last MODEL_COARSE ticks up to `tick`, which ends such a group. */
static void series_join(struct series *series, uint64_t tick)
{
    struct span span = {NAN, NAN, NAN, NAN};
    uint32_t count = 0;
    if (!series->coarse) {
        series->coarse = malloc(MODEL_COARSE_COUNT * sizeof *series->coarse);
        for (size_t i = 0; series->coarse && i < MODEL_COARSE_COUNT; i++)
            series->coarse[i] = (struct coarse){NAN, NAN, NAN};
    }
    if (!series->coarse)
        return;
    for (uint64_t t = tick + 1 - MODEL_COARSE; t <= tick; t++) {
        float value = series->fine[t % MODEL_FINE];
        span_add(&span, &count, value, value, value);
    }
    series->coarse[tick / MODEL_COARSE % MODEL_COARSE_COUNT] =
        (struct coarse){span.least, span.most, span.average};
}

static void series_free(struct series *series)
{
    free(series->fine);
    free(series->coarse);
    free(series->capture);
}

/* Ticks that were missed become gaps. */
static void series_put(const struct source *source, struct history *history, size_t column,
                       uint64_t tick, double value)
{
    struct series *series = &history->series[column];
    if (series->capture) {
        if (tick / source->step < source->time_count)
            series->capture[tick / source->step] = (float)value;
        return;
    }
    uint64_t t = history->seen + 1;
    if (t + MACHINE_TICKS < tick)
        t = tick - MACHINE_TICKS;
    for (; t <= tick; t++) {
        series->fine[t % MODEL_FINE] = t == tick ? (float)value : NAN;
        if (t % MODEL_COARSE == MODEL_COARSE - 1)
            series_join(series, t);
    }
}

static float coarse_at(const struct series *series, uint64_t group, struct coarse *ret)
{
    *ret = series->coarse[group % MODEL_COARSE_COUNT];
    return ret->average;
}

void model_span(const struct history *history, size_t column, uint64_t from, uint64_t to,
                struct span *ret)
{
    const struct series *series = &history->series[column];
    uint64_t newest = history->seen, t = from > history->born ? from : history->born;
    uint32_t count = 0;
    *ret = (struct span){NAN, NAN, NAN, NAN};
    to = to < newest + 1 ? to : newest + 1;
    while (t < to) {
        struct coarse coarse;
        if (series->capture || t + MODEL_FINE > newest) {
            float value =
                series->capture ? series->capture[t / history->step] : series->fine[t % MODEL_FINE];
            span_add(ret, &count, value, value, value);
            t += history->step;
            continue;
        }
        if (series->coarse && t + MACHINE_TICKS > newest) {
            coarse_at(series, t / MODEL_COARSE, &coarse);
            span_add(ret, &count, coarse.least, coarse.most, coarse.average);
        }
        t = (t / MODEL_COARSE + 1) * MODEL_COARSE;
    }
}

/* ---- rows ---- */

static size_t place_of(struct history *const *histories, size_t capacity, uint64_t identity)
{
    size_t at = identity & (capacity - 1);
    while (histories[at] && histories[at]->identity != identity)
        at = (at + 1) & (capacity - 1);
    return at;
}

static void history_free(struct history *history, size_t columns)
{
    for (size_t c = 0; history && history->series && c < columns; c++)
        series_free(&history->series[c]);
    if (history) {
        free(history->series);
        free(history->name);
        free(history);
    }
}

void histories_free(struct spec *spec)
{
    for (size_t i = 0; i < spec->capacity; i++)
        history_free(spec->histories[i], spec->table.column_count);
    free(spec->histories);
    spec->histories = NULL;
    spec->capacity = spec->used = 0;
}

static size_t count_seen(const struct spec *spec, uint64_t oldest)
{
    size_t count = 0;
    for (size_t i = 0; i < spec->capacity; i++)
        count += spec->histories[i] && spec->histories[i]->seen >= oldest;
    return count;
}

/* Makes place for one more: a larger hash table without the rows that were last seen before
 * `oldest`, and if that is too many, without all that are gone before `tick`. */
static bool rehash(struct spec *spec, uint64_t oldest, uint64_t tick)
{
    size_t capacity = LEAST_CAPACITY, alive = count_seen(spec, oldest);
    if (alive >= MOST_HISTORIES) {
        oldest = tick - 1;
        alive = count_seen(spec, oldest);
    }
    while (capacity < 3 * (alive + 1))
        capacity *= 2;
    struct history **histories = calloc(capacity, sizeof *histories);
    if (!histories)
        return false;
    for (size_t i = 0; i < spec->capacity; i++) {
        struct history *history = spec->histories[i];
        if (history && history->seen >= oldest)
            histories[place_of(histories, capacity, history->identity)] = history;
        else
            history_free(history, spec->table.column_count);
    }
    free(spec->histories);
    spec->histories = histories;
    spec->capacity = capacity;
    spec->used = alive;
    return true;
}

static struct history *history_new(const struct source *source, const struct spec *spec,
                                   const struct row *row, uint64_t tick)
{
    size_t columns = spec->table.column_count;
    struct history *history = calloc(1, sizeof *history);
    if (!history)
        return NULL;
    history->identity = row->identity;
    history->born = tick;
    history->seen = tick - 1;
    history->step = source->capture ? source->step : 1;
    history->name = strdup(row->name);
    history->series = calloc(columns, sizeof *history->series);
    bool good = history->name && history->series;
    for (size_t c = 0; good && c < columns; c++) {
        float *values = empty_values(source->capture ? source->time_count : MODEL_FINE);
        good = values != NULL;
        *(source->capture ? &history->series[c].capture : &history->series[c].fine) = values;
    }
    if (good)
        return history;
    history_free(history, columns);
    return NULL;
}

bool history_add(struct source *source, struct spec *spec, uint64_t tick)
{
    uint64_t oldest = source->capture || tick < MACHINE_TICKS ? 0 : tick - MACHINE_TICKS;
    for (size_t r = 0; r < spec->newest.row_count; r++) {
        struct row *row = &spec->newest.rows[r];
        bool full = 3 * (spec->used + 1) > 2 * spec->capacity || spec->used >= MOST_HISTORIES;
        if (full && !rehash(spec, oldest, tick))
            return false;
        size_t at = place_of(spec->histories, spec->capacity, row->identity);
        struct history *history = spec->histories[at];
        if (!history && spec->used >= MOST_HISTORIES) {
            spec->table.forgotten++;
            continue;
        }
        if (!history) {
            history = spec->histories[at] = history_new(source, spec, row, tick);
            if (!history)
                return false;
            spec->used++;
        }
        for (size_t c = 0; c < spec->table.column_count; c++)
            series_put(source, history, c, tick,
                       spec->newest.cells[r * spec->table.column_count + c].number);
        history->seen = tick;
        row->history = history;
    }
    return true;
}

/* ---- scale ---- */

int model_scale(LONG default_scale, double most)
{
    if (!(most > 0) || most * pow(10, default_scale) <= 100)
        if (!(most > 0) || most * pow(10, default_scale) >= 1)
            return (int)default_scale;
    return (int)-ceil(log10(most) - 2);
}
