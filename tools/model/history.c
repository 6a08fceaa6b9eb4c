/* SPDX-License-Identifier: MIT */
/*
 * Histories. The history of a machine has the last MODEL_FINE samples one by one, and earlier ones
 * in groups of MODEL_COARSE, for an hour at one sample a second. The history of a capture has all
 * samples; if the capture is long, several samples share one place. A series takes 1.2 kB for a
 * machine; an hour takes 1.2 kB more if the value changes evenly or seldom, 5.4 kB if it changes at
 * random, and nothing if it has never changed in the groups.
 */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A group of ticks: the summary of the `count` values in them. */
struct group {
    float least, most, average;
    unsigned char count;
};
/* BLOCKS - 1 whole blocks have the part of an hour that the last MODEL_FINE samples do not have */
enum { BLOCK = 56, BLOCKS = MODEL_COARSE_COUNT / BLOCK + 1, STEP = 16, MOST_BYTES = 14 };
/* Groups that follow each other, as add_to_block writes them. */
struct block {
    unsigned char *data;        /* its size is the next multiple of STEP */
    uint16_t length;            /* bytes in use */
    unsigned char first, count; /* position of the first group in the block, number of groups */
};
struct coarse {
    struct block blocks[BLOCKS]; /* group g is in block g / BLOCK, at that number % BLOCKS */
};
enum { LEAST_CAPACITY = 16, MACHINE_TICKS = MODEL_COARSE * MODEL_COARSE_COUNT };
/* maximum number of histories of a table; histories of rows that are gone are forgotten first */
enum { MOST_HISTORIES = 4096 };

/* ---- series ---- */

static void clear_values(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = NAN;
}

/* Adds `more`, which describes `count` values, to a span of `*sum` values. */
static void span_add(struct span *span, uint32_t *sum, struct span more, uint32_t count)
{
    if (isnan(more.average) || count == 0)
        return;
    *sum += count;
    span->least = *sum > count ? fmin(span->least, more.least) : more.least;
    span->most = *sum > count ? fmax(span->most, more.most) : more.most;
    span->average =
        *sum > count ? span->average + (more.average - span->average) * count / *sum : more.average;
    span->last = more.last;
}

static void span_add_value(struct span *span, uint32_t *sum, double value)
{
    span_add(span, sum, (struct span){value, value, value, value}, 1);
}

/* ---- groups of older ticks ---- */

/*
 * A block has each group as differences from what the group before leads to expect, in as few bytes
 * as they need: values that stay, or change evenly, take 1 to 5 bytes a group in place of 13. No
 * bit of a value is lost.
 */
enum { LEAST, RANGE, MIDDLE, PARTS, LENGTHS = 5, NO_VALUES = 2 * LENGTHS * LENGTHS * LENGTHS };
struct code {
    uint32_t before[PARTS]; /* of the group before */
    uint32_t step;          /* by how much `least` of that group was above the one before it */
};

/* Maps floats to integers in the same order, so that the difference of near values is small. */
static uint32_t ordered(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000 ? ~bits : bits | 0x80000000;
}

static float from_ordered(uint32_t ordered)
{
    uint32_t bits = ordered & 0x80000000 ? ordered & 0x7fffffff : ~ordered;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Remembers the parts of the group that was written or read. */
static void code_next(struct code *code, const uint32_t parts[PARTS])
{
    code->step = parts[LEAST] - code->before[LEAST];
    memcpy(code->before, parts, sizeof code->before);
}

/* Writes a group; returns the number of bytes, at most MOST_BYTES. */
static size_t group_write(struct code *code, const struct group *group, unsigned char *ret)
{
    uint32_t least = ordered(group->least);
    const uint32_t parts[PARTS] = {least, ordered(group->most) - least,
                                   ordered(group->average) - least};
    bool full = group->count == MODEL_COARSE;
    unsigned head = 0;
    size_t used = 1;
    if (!group->count) {
        *ret = NO_VALUES;
        return used;
    }
    if (!full)
        ret[used++] = group->count;
    for (int p = 0; p < PARTS; p++) {
        uint32_t off = parts[p] - code->before[p] - (p == LEAST ? code->step : 0);
        unsigned length = 0;
        /* the sign goes to the lowest bit, so that small differences of either sign are short */
        for (off = off << 1 ^ (off & 0x80000000 ? UINT32_MAX : 0); off; off >>= 8, length++)
            ret[used++] = (unsigned char)off;
        head = head * LENGTHS + length;
    }
    *ret = (unsigned char)(2 * head + !full);
    code_next(code, parts);
    return used;
}

/* Reads what group_write has written; returns the number of bytes. */
static size_t group_read(struct code *code, const unsigned char *data, struct group *ret)
{
    static const unsigned shares[PARTS] = {LENGTHS * LENGTHS, LENGTHS, 1};
    uint32_t parts[PARTS];
    size_t used = 1;
    *ret = (struct group){NAN, NAN, NAN, 0};
    if (*data == NO_VALUES)
        return used;
    ret->count = *data & 1 ? data[used++] : MODEL_COARSE;
    for (int p = 0; p < PARTS; p++) {
        uint32_t off = 0;
        unsigned length = *data / 2 / shares[p] % LENGTHS;
        for (unsigned i = 0; i < length; i++)
            off |= (uint32_t)data[used++] << 8 * i;
        off = off >> 1 ^ (off & 1 ? UINT32_MAX : 0);
        parts[p] = code->before[p] + (p == LEAST ? code->step : 0) + off;
    }
    code_next(code, parts);
    ret->least = from_ordered(parts[LEAST]);
    ret->most = from_ordered(parts[LEAST] + parts[RANGE]);
    ret->average = from_ordered(parts[LEAST] + parts[MIDDLE]);
    return used;
}

/* The block that was read last, because spans beside each other are mostly in one block; NULL:
 * none, or it has changed since. Each model has one thread that calls these functions. */
static _Thread_local const struct block *read_block;
static _Thread_local struct group read_groups[BLOCK];

/* Returns the groups of a block, and the state for the group after them. */
static const struct group *block_read(const struct block *block, struct code *ret)
{
    *ret = (struct code){0};
    for (size_t i = 0, at = 0; i < block->count; i++)
        at += group_read(ret, block->data + at, &read_groups[i]);
    read_block = block;
    return read_groups;
}

/* Adds the group that follows the last one of the block; without memory it is left out. */
static void block_add(struct block *block, const struct group *group)
{
    struct code code;
    unsigned char bytes[MOST_BYTES];
    block_read(block, &code);
    read_block = NULL;
    size_t length = group_write(&code, group, bytes), before = (block->length + STEP - 1) / STEP;
    size_t after = (block->length + length + STEP - 1) / STEP;
    if (after > before) {
        unsigned char *data = realloc(block->data, after * STEP);
        if (!data)
            return;
        block->data = data;
    }
    memcpy(block->data + block->length, bytes, length);
    block->length += (uint16_t)length;
    block->count++;
}

static void coarse_put(struct coarse *coarse, uint64_t group, struct span span, uint32_t count)
{
    struct block *block = &coarse->blocks[group / BLOCK % BLOCKS];
    const struct group added = {(float)span.least, (float)span.most, (float)span.average,
                                (unsigned char)count};
    if (group % BLOCK == 0 || !block->count) { /* the first of a new block */
        free(block->data);
        *block = (struct block){.first = (unsigned char)(group % BLOCK)};
    }
    if (block->first + block->count == (int)(group % BLOCK)) /* else memory was short before */
        block_add(block, &added);
}

/* Returns the group, which has no values if it is not known. */
static struct group coarse_get(const struct coarse *coarse, uint64_t group)
{
    struct code code;
    const struct block *block = &coarse->blocks[group / BLOCK % BLOCKS];
    size_t at = group % BLOCK - block->first;
    if (group % BLOCK < block->first || at >= block->count)
        return (struct group){NAN, NAN, NAN, 0};
    return block == read_block ? read_groups[at] : block_read(block, &code)[at];
}

static void coarse_free(struct coarse *coarse)
{
    for (size_t i = 0; coarse && i < BLOCKS; i++)
        free(coarse->blocks[i].data);
    free(coarse);
    read_block = NULL;
}

/* Returns how many ticks of the group the history has, which may begin within the group. */
static uint32_t ticks_of(uint64_t born, uint64_t group)
{
    return born / MODEL_COARSE == group ? (uint32_t)(MODEL_COARSE - born % MODEL_COARSE)
                                        : MODEL_COARSE;
}

/* Makes the memory for groups, which had the same value up to but without this one. */
static void coarse_make(struct series *series, uint64_t born, uint64_t group)
{
    float level = series->level;
    series->coarse = calloc(1, sizeof *series->coarse);
    series->level = NAN;
    uint64_t first = born / MODEL_COARSE;
    if (group - first > MODEL_COARSE_COUNT)
        first = group - MODEL_COARSE_COUNT;
    for (uint64_t g = first; series->coarse && g < group; g++)
        coarse_put(series->coarse, g, (struct span){level, level, level, level},
                   isnan(level) ? 0 : ticks_of(born, g));
}

/* Joins the MODEL_COARSE ticks up to `last`, which are about to leave the fine values. */
static void series_join(struct series *series, uint64_t born, uint64_t last)
{
    struct span span = {NAN, NAN, NAN, NAN};
    uint32_t count = 0;
    uint64_t group = last / MODEL_COARSE;
    for (uint64_t t = last + 1 - MODEL_COARSE; t <= last; t++)
        span_add_value(&span, &count, series->fine[t % MODEL_FINE]);
    if (group == born / MODEL_COARSE)
        series->level = (float)span.least;
    bool same =
        count == ticks_of(born, group) && span.least >= series->level && span.most <= series->level;
    if (!series->coarse && !same)
        coarse_make(series, born, group);
    if (series->coarse)
        coarse_put(series->coarse, group, span, count);
}

static void series_free(struct series *series)
{
    free(series->fine);
    coarse_free(series->coarse);
    free(series->capture);
}

/* Makes a capture's series long enough for the place. A series grows only so far, so that a
 * short-lived row takes little memory. */
static bool series_grow(struct series *series, size_t place)
{
    if (place < series->capacity)
        return true;
    size_t capacity = place + place / 2 + LEAST_CAPACITY;
    float *values = realloc(series->capture, capacity * sizeof *values);
    if (!values)
        return false;
    clear_values(values + series->capacity, capacity - series->capacity);
    series->capture = values;
    series->capacity = capacity;
    return true;
}

/* Stores a value. Ticks since the row was last seen become gaps. */
static void series_put(const struct source *source, struct history *history, size_t column,
                       uint64_t tick, double value)
{
    struct series *series = &history->series[column];
    if (source_is_whole(source)) {
        size_t place = tick / source->step - history->born / source->step;
        if (!isnan(value) && series_grow(series, place))
            series->capture[place] = (float)value;
        return;
    }
    uint64_t t = history->seen + 1;
    if (t + MACHINE_TICKS < tick) { /* all earlier values are older than a history reaches */
        clear_values(series->fine, MODEL_FINE);
        coarse_free(series->coarse);
        series->coarse = NULL;
        series->level = NAN;
        t = tick;
    }
    for (; t <= tick; t++) {
        /* how many ticks stay in the fine values when a group of ticks leaves them */
        const uint64_t younger = MODEL_FINE - MODEL_COARSE;
        series->fine[t % MODEL_FINE] = t == tick ? (float)value : NAN;
        if (t % MODEL_COARSE == MODEL_COARSE - 1 && t >= history->born + younger)
            series_join(series, history->born, t - younger);
    }
}

static void span_add_group(struct span *span, uint32_t *sum, const struct history *history,
                           const struct series *series, uint64_t group)
{
    float level = series->level;
    if (!series->coarse) {
        span_add(span, sum, (struct span){level, level, level, level},
                 ticks_of(history->born, group));
        return;
    }
    struct group of = coarse_get(series->coarse, group);
    span_add(span, sum, (struct span){of.least, of.most, of.average, of.average}, of.count);
}

void model_span(const struct history *history, size_t column, uint64_t from, uint64_t to,
                struct span *ret)
{
    const struct series *series = &history->series[column];
    uint64_t newest = history->seen, t = from > history->born ? from : history->born;
    uint32_t sum = 0;
    *ret = (struct span){NAN, NAN, NAN, NAN};
    to = to < newest + 1 ? to : newest + 1;
    if (series->fine && t + MACHINE_TICKS <= newest)
        t = newest - MACHINE_TICKS + 1;
    while (t < to) {
        if (!series->fine) {
            size_t place = t / history->step - history->born / history->step;
            if (place >= series->capacity)
                return; /* no later place has a value */
            span_add_value(ret, &sum, series->capture[place]);
            t = (t / history->step + 1) * history->step;
        } else if (t + MODEL_FINE > newest) {
            span_add_value(ret, &sum, series->fine[t % MODEL_FINE]);
            t++;
        } else {
            span_add_group(ret, &sum, history, series, t / MODEL_COARSE);
            t = (t / MODEL_COARSE + 1) * MODEL_COARSE;
        }
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

/* Makes a hash table with space for one more row, without the rows that were last seen before
 * `oldest`. If too many rows are left, drops those that ended first, but no row that was seen at
 * `tick`. */
static bool rehash(struct spec *spec, uint64_t oldest, uint64_t tick)
{
    size_t capacity = LEAST_CAPACITY, alive = count_seen(spec, oldest);
    for (; alive >= MOST_HISTORIES && oldest < tick; alive = count_seen(spec, oldest))
        oldest += (tick - oldest + 1) / 2;
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
    spec->rehashed = tick;
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
    history->step = source_is_whole(source) ? source->step : 1;
    history->name = strdup(row->name);
    history->series = calloc(columns, sizeof *history->series);
    bool good = history->name && history->series;
    for (size_t c = 0; good && c < columns; c++) {
        if (source_is_whole(source))
            continue;
        history->series[c].fine = malloc(MODEL_FINE * sizeof(float));
        good = history->series[c].fine != NULL;
        if (good)
            clear_values(history->series[c].fine, MODEL_FINE);
    }
    if (good)
        return history;
    history_free(history, columns);
    return NULL;
}

/* True if the series have a place for the tick. A capture may have more samples than it had at
 * first, because it is still being recorded. */
static bool has_place(const struct source *source, uint64_t tick)
{
    return !source_is_whole(source) || tick / source->step < source->time_count;
}

/* Adds the row's values to its history, if it has one. */
static void add_row(struct source *source, struct spec *spec, size_t r, uint64_t tick)
{
    struct row *row = &spec->newest.rows[r];
    size_t columns = spec->table.column_count;
    size_t at = spec->capacity ? place_of(spec->histories, spec->capacity, row->identity) : 0;
    struct history *history = spec->capacity ? spec->histories[at] : NULL;
    row->history = history;
    if (!history || !has_place(source, tick))
        return;
    for (size_t c = 0; c < columns; c++)
        series_put(source, history, c, tick, spec->newest.cells[r * columns + c].number);
    history->seen = tick;
}

/* Makes a history for a new row, unless there are too many histories. False: no memory. */
static bool add_history(const struct source *source, struct spec *spec, const struct row *row,
                        uint64_t oldest, uint64_t tick)
{
    bool full = spec->used >= MOST_HISTORIES;
    if (full && spec->rehashed == tick)
        return true; /* all rows in the table exist now, so none can be dropped */
    if ((full || 3 * (spec->used + 1) > 2 * spec->capacity) && !rehash(spec, oldest, tick))
        return false;
    if (spec->used >= MOST_HISTORIES)
        return true;
    size_t at = place_of(spec->histories, spec->capacity, row->identity);
    if (spec->histories[at])
        return true; /* another row has the same identity */
    spec->histories[at] = history_new(source, spec, row, tick);
    if (spec->histories[at])
        spec->histories[at]->number = spec->made++;
    spec->used += spec->histories[at] != NULL;
    return spec->histories[at] != NULL;
}

bool history_add(struct source *source, struct spec *spec, uint64_t tick)
{
    size_t count = spec->newest.row_count;
    uint64_t oldest = source_is_whole(source) || tick < MACHINE_TICKS ? 0 : tick - MACHINE_TICKS;
    /* these rows first, so that their histories are not forgotten */
    for (size_t r = 0; r < count; r++)
        add_row(source, spec, r, tick);
    if (tick >= spec->rehashed + MODEL_FINE && !rehash(spec, oldest, tick))
        return false;
    for (size_t r = 0; r < count; r++) {
        if (spec->newest.rows[r].history || !has_place(source, tick)) {
            spec->table.forgotten += !has_place(source, tick);
            continue;
        }
        if (!add_history(source, spec, &spec->newest.rows[r], oldest, tick))
            return false;
        add_row(source, spec, r, tick);
        spec->table.forgotten += !spec->newest.rows[r].history;
    }
    return true;
}

/* ---- scale ---- */

/* A processor that is busy all the time has 100.04 %, since its times are counted in ticks: that is
 * not a reason to draw it at a tenth. */
#define MOST_DRAWN 102

int model_scale(LONG default_scale, double most)
{
    double drawn = most * pow(10, default_scale);
    if (!(most > 0) || isinf(most) || (drawn >= 1 && drawn <= MOST_DRAWN))
        return (int)default_scale;
    return (int)-ceil(log10(most) - 2);
}
