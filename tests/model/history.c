/* SPDX-License-Identifier: MIT */
/*
 * The model's histories, to which values are added sample by sample, compared with an oracle: a
 * plain array that keeps every value. Tested are spans of fine and coarse ticks, rows that appear
 * and end, gaps, the limit of histories in a table, captures in which several ticks share one
 * place; and the scale of a chart.
 */
#include "bytes.h"
#include "internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { REACH = MODEL_COARSE * MODEL_COARSE_COUNT, MOST = 4096, COLUMNS = 2 };

/* ---- a source of data and a table, without the thread that takes samples ---- */

static struct source source;
static struct spec spec;

static int begin(void **state)
{
    source = (struct source){.step = 1, .time_count = MODEL_FINE + REACH};
    spec = (struct spec){.column_count = COLUMNS, .history = true};
    spec.table.column_count = COLUMNS;
    return 0;
}

static int end(void **state)
{
    histories_free(&spec);
    free(spec.newest.rows);
    free(spec.newest.cells);
    return 0;
}

static void rows_are(size_t count, const uint64_t *identities)
{
    free(spec.newest.rows);
    free(spec.newest.cells);
    spec.newest.row_count = count;
    spec.newest.rows = calloc(count + 1, sizeof *spec.newest.rows);
    spec.newest.cells = calloc((count + 1) * COLUMNS, sizeof *spec.newest.cells);
    for (size_t i = 0; i < count; i++)
        spec.newest.rows[i] = (struct row){.name = "row", .identity = identities[i]};
}

/* Adds a sample in the same way as perfmon's drawing thread. */
static void add_sample(uint64_t tick)
{
    spec.table.tick = tick;
    spec.table.row_count = spec.newest.row_count;
    spec.table.rows = spec.newest.rows;
    assert_true(history_add(&source, &spec, tick));
}

static void add_value(uint64_t identity, uint64_t tick, double value)
{
    rows_are(1, &identity);
    spec.newest.cells[0].number = value;
    spec.newest.cells[1].number = -value;
    add_sample(tick);
}

static const struct history *history_of(uint64_t identity)
{
    for (size_t i = 0; i < spec.capacity; i++)
        if (spec.histories[i] && spec.histories[i]->identity == identity)
            return spec.histories[i];
    return NULL;
}

static size_t histories_kept(void)
{
    size_t count = 0;
    for (size_t i = 0; i < spec.capacity; i++)
        count += spec.histories[i] != NULL;
    return count;
}

static uint64_t *numbered(size_t count, uint64_t from)
{
    uint64_t *identities = calloc(count + 1, sizeof *identities);
    for (size_t i = 0; i < count; i++)
        identities[i] = (from + i) * 0x9e3779b97f4a7c15;
    return identities;
}

static void rows_numbered(size_t count, uint64_t from)
{
    uint64_t *identities = numbered(count, from);
    rows_are(count, identities);
    free(identities);
}

/* ---- the oracle: every value ---- */

enum { ORACLE_TICKS = 40000 };
static float *oracle; /* a value for each tick; NaN: a gap */

static void oracle_clear(void)
{
    oracle = oracle ? oracle : malloc(ORACLE_TICKS * sizeof *oracle);
    for (size_t i = 0; i < ORACLE_TICKS; i++)
        oracle[i] = NAN;
}

static struct span oracle_span(uint64_t from, uint64_t to)
{
    struct span span = {NAN, NAN, NAN, NAN};
    double sum = 0;
    size_t count = 0;
    for (uint64_t t = from; t < to; t++) {
        if (isnan(oracle[t]))
            continue;
        span.least = count ? fminf(span.least, oracle[t]) : oracle[t];
        span.most = count ? fmaxf(span.most, oracle[t]) : oracle[t];
        span.last = oracle[t];
        sum += oracle[t];
        count++;
    }
    span.average = count ? (float)(sum / (double)count) : NAN;
    return span;
}

static bool near(float a, float b)
{
    return (isnan(a) && isnan(b)) || fabsf(a - b) <= 1e-3F * (1 + fabsf(b));
}

static void assert_span(const struct history *history, uint64_t from, uint64_t to, bool fine)
{
    struct span is, mirrored, wanted = oracle_span(from, to);
    model_span(history, 0, from, to, &is);
    model_span(history, 1, from, to, &mirrored);
    if (!near(is.least, wanted.least) || !near(is.most, wanted.most) ||
        !near(is.average, wanted.average) || (fine && !near(is.last, wanted.last)))
        fail_msg("[%llu, %llu) at %llu: %g %g %g %g instead of %g %g %g %g",
                 (unsigned long long)from, (unsigned long long)to,
                 (unsigned long long)history->seen, (double)is.least, (double)is.most,
                 (double)is.average, (double)is.last, (double)wanted.least, (double)wanted.most,
                 (double)wanted.average, (double)wanted.last);
    assert_true(near(mirrored.least, -wanted.most) && near(mirrored.most, -wanted.least));
}

static uint64_t random_below(uint64_t limit)
{
    return (uint64_t)rand() % limit;
}

/* Compares spans of whole groups of ticks in the coarse (older) part, of single ticks in the fine
 * (newer) part, and across both. */
static void assert_spans(const struct history *history)
{
    uint64_t newest = history->seen, fine = newest < MODEL_FINE ? 0 : newest - MODEL_FINE + 1;
    uint64_t oldest =
        newest < REACH ? 0 : (newest - REACH) / MODEL_COARSE * MODEL_COARSE + MODEL_COARSE;
    for (int i = 0; i < 8; i++) {
        uint64_t from = fine + random_below(newest - fine + 1);
        assert_span(history, from, from + 1 + random_below(newest - from + 20), true);
    }
    for (int i = 0; fine > oldest + MODEL_COARSE && i < 8; i++) {
        uint64_t groups = (fine - oldest) / MODEL_COARSE, first = random_below(groups);
        uint64_t from = oldest + first * MODEL_COARSE;
        assert_span(history, from, from + MODEL_COARSE * (1 + random_below(groups - first)), false);
        assert_span(history, from,
                    fine / MODEL_COARSE * MODEL_COARSE + MODEL_COARSE + random_below(250), false);
    }
    struct span span;
    model_span(history, 0, newest + 1, newest + 1000, &span);
    assert_true(isnan(span.least) && isnan(span.most) && isnan(span.average) && isnan(span.last));
    model_span(history, 0, 0, history->born, &span);
    assert_true(isnan(span.average));
}

static uint64_t random_gap(void)
{
    switch (random_below(400)) {
    case 0:
        return 301 + random_below(600);
    case 1:
        return random_below(8) == 0 ? 3590 + random_below(2000) : 1;
    case 2:
    case 3:
        return 2 + random_below(40);
    default:
        return 1;
    }
}

/* A number that seldom changes for an odd seed, else one that always changes, or NaN. */
static double random_value(unsigned seed, uint64_t tick, double before)
{
    if (seed % 2 && random_below(3000))
        return before;
    return random_below(20) ? (double)random_below(1000) + (double)tick : NAN;
}

static void spans_are_what_was_added(void **state)
{
    for (unsigned seed = 1; seed <= 60; seed++) {
        begin(state);
        oracle_clear();
        srand(seed);
        uint64_t tick = 1 + random_below(3000);
        double value = 5;
        for (unsigned n = 0; tick < ORACLE_TICKS - 6000 && n < 9000; n++) {
            value = random_value(seed, tick, value);
            oracle[tick] = (float)value;
            add_value(7, tick, value);
            const struct history *history = history_of(7);
            assert_true(spec.newest.rows[0].history == history && history->seen == tick);
            if (random_below(100) == 0)
                assert_spans(history);
            tick += seed % 4 == 1 && random_below(4000) ? 1 : random_gap();
        }
        assert_spans(history_of(7));
        end(state);
        begin(state);
    }
}

/* Old values that are all the same take no memory until there is another one, or a gap. */
static void a_value_that_does_not_change(void **state)
{
    for (unsigned gap = 0; gap < 2; gap++) {
        oracle_clear();
        uint64_t t = 17;
        for (; t < 5000; t++)
            add_value(3, t, (double)(oracle[t] = 4));
        assert_null(history_of(3)->series[0].coarse);
        assert_span(history_of(3), 0, 5000, true);
        t += gap;
        add_value(3, t, (double)(oracle[t] = gap ? 4 : 6));
        for (uint64_t last = t + MODEL_FINE; t < last;) {
            t++;
            add_value(3, t, (double)(oracle[t] = 4));
        }
        assert_non_null(history_of(3)->series[0].coarse);
        assert_spans(history_of(3));
        end(state);
        begin(state);
    }
}

/* What counters are like: a time that passes, a processor that is used now and then, random. */
static double like_elapsed(uint64_t row, uint64_t tick)
{
    return 54321.5 + 100 * (double)row + (double)tick + (double)random_below(1000) / 1e6;
}

static double like_processor(uint64_t row, uint64_t tick)
{
    return (tick / 60 + row) % 20 ? 0 : (double)random_below(100000) / 977;
}

static double like_noise(uint64_t row, uint64_t tick)
{
    return (double)rand() * (double)(1 + row) / 777 + (double)(tick % 2);
}

/* An hour of values takes so many bytes a series, and none of them is lost. */
static void an_hour_takes_little(void **state)
{
    static const struct {
        const char *name;
        double (*value)(uint64_t, uint64_t);
        size_t most;
    } kinds[] = {
        {"elapsed",   like_elapsed,   2600},
        {"processor", like_processor, 2800},
        {"noise",     like_noise,     7000}  /* 6,977 with the blocks of glibc */
    };
    enum { ROWS = 50, LAST = 4200 };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t before = bytes_used();
        oracle_clear();
        srand(7);
        rows_numbered(ROWS, 1);
        for (uint64_t t = 1; t <= LAST; t++) {
            for (size_t r = 0; r < ROWS; r++) {
                double value = kinds[k].value(r, t);
                spec.newest.cells[r * COLUMNS].number = value;
                spec.newest.cells[r * COLUMNS + 1].number = -value;
                if (r == 3)
                    oracle[t] = (float)value;
            }
            add_sample(t);
        }
        size_t each = (bytes_used() - before) / (ROWS * COLUMNS);
        if (before && each > kinds[k].most)
            fail_msg("%s: %zu bytes a series, at most %zu", kinds[k].name, each, kinds[k].most);
        assert_spans(spec.newest.rows[3].history);
        end(state);
        begin(state);
    }
}

/* Ticks without a sample are gaps, even if an older value was stored in the same place. */
static void a_gap_that_is_longer_than_an_hour(void **state)
{
    for (uint64_t rest = 0; rest < MODEL_COARSE; rest++) {
        oracle_clear();
        for (uint64_t t = 1; t <= 900; t++)
            add_value(9, t, (double)(oracle[t] = (float)t));
        uint64_t tick = 900 + REACH + 700 + rest;
        add_value(9, tick, (double)(oracle[tick] = 5));
        struct span span;
        for (uint64_t t = tick - REACH - 20; t < tick; t++) {
            model_span(history_of(9), 0, t, t + 1, &span);
            if (!isnan(span.average))
                fail_msg("tick %llu has %g", (unsigned long long)t, (double)span.average);
        }
        assert_span(history_of(9), tick, tick + 1, true);
        end(state);
        begin(state);
    }
}

/* A new row has no values from before it appeared, and none of the older row whose place it
 * took. */
static void births_and_deaths(void **state)
{
    static const uint64_t both[] = {1, 2}, second[] = {2};
    struct span span;
    for (uint64_t t = 1; t <= 400; t++) {
        rows_are(t < 100 ? 1 : 2, both);
        if (t > 350)
            rows_are(1, second);
        for (size_t i = 0; i < spec.newest.row_count * COLUMNS; i++)
            spec.newest.cells[i].number = (double)t;
        add_sample(t);
    }
    const struct history *first = history_of(1), *young = history_of(2);
    assert_int_equal(first->born, 1);
    assert_int_equal(first->seen, 350);
    assert_int_equal(young->born, 100);
    assert_int_equal(young->seen, 400);
    assert_int_equal(young->step, 1);
    model_span(first, 0, 351, 401, &span);
    assert_true(isnan(span.average));
    model_span(first, 0, 350, 401, &span);
    assert_true(span.average == 350);
    model_span(first, 0, 330, 340, &span);
    assert_true(span.least == 330 && span.most == 339 && span.last == 339);
    model_span(young, 0, 0, 100, &span);
    assert_true(isnan(span.average));
    model_span(young, 0, 0, 101, &span);
    assert_true(span.least == 100);
    model_span(young, 0, 400, 400, &span);
    assert_true(isnan(span.average));
}

/* In an average over many ticks every tick has the same weight, whether its value is kept alone or
 * in a group. */
static void every_tick_weighs_the_same(void **state)
{
    struct span span;
    oracle_clear();
    for (uint64_t t = 0; t <= 1200; t++) {
        float value = t < 900 ? 100 : 0;
        if (t / 10 % 2 && t % 10 && t < 900)
            value = NAN; /* every second group has only one value */
        oracle[t + 1] = value;
        add_value(3, t + 1, (double)value);
    }
    model_span(history_of(3), 0, 1, 1202, &span);
    float wanted = oracle_span(1, 1202).average;
    if (fabs(span.average - wanted) > 1)
        fail_msg("%g instead of %g", (double)span.average, (double)wanted);
}

/* Sums of large numbers do not add up the errors of single precision. */
static void an_average_is_as_exact_as_its_values(void **state)
{
    struct span span;
    double sum = 0;
    for (uint64_t t = 0; t < 60; t++) {
        add_value(3, t + 1, 65762.2118 + 0.2 * (double)t);
        sum += 65762.2118 + 0.2 * (double)t;
    }
    model_span(history_of(3), 0, 1, 61, &span);
    assert_true(fabs(span.average - sum / 60) <= sum / 60 * 0x1p-24);
}

/* ---- the limit of histories ---- */

static double seconds_now(void)
{
    return model_now();
}

/* replaces the function of the sampler, which is not linked with this test */
double model_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Every sample has new instances: there are never more than 4,096 histories, and each instance that
 * exists now has one. */
static void random_instances_have_a_bound(void **state)
{
    for (uint64_t t = 1; t <= 100; t++) {
        rows_numbered(500, t * 1000);
        add_sample(t);
        assert_true(histories_kept() <= MOST);
        for (size_t i = 0; i < 500; i++)
            assert_non_null(spec.newest.rows[i].history);
    }
    assert_int_equal(spec.table.forgotten, 0);
    assert_true(histories_kept() > 1000); /* rows that ended recently still have histories */
}

/* Rows above the limit are counted and get no history. The other rows keep their histories. All
 * this takes no more time than usual. */
static void too_many_rows_are_counted(void **state)
{
    double begun = seconds_now();
    for (uint64_t t = 1; t <= 30; t++) {
        rows_numbered(6000, 1);
        for (size_t i = 0; i < 6000; i++)
            spec.newest.cells[i * COLUMNS].number = (double)i;
        add_sample(t);
        size_t with = 0;
        for (size_t i = 0; i < 6000; i++)
            with += spec.newest.rows[i].history != NULL;
        assert_int_equal(with, MOST);
        assert_int_equal(histories_kept(), MOST);
        assert_int_equal(spec.table.forgotten % (6000 - MOST), 0);
        assert_true(spec.table.forgotten >= 6000 - MOST);
    }
    for (size_t i = 0; i < 6000; i++)
        if (spec.newest.rows[i].history)
            assert_int_equal(spec.newest.rows[i].history->born, 1);
    double each = (seconds_now() - begun) / 30;
    if (each > 0.05)
        fail_msg("%g s for each sample", each);
}

/* The table has as many histories as are allowed. A sample that failed, whose tick number is
 * skipped, must not remove any of them. */
static void a_missed_tick_forgets_nobody(void **state)
{
    /* only every second tick has a sample; the others failed */
    for (uint64_t t = 1; t <= 9; t += 2) {
        rows_numbered(MOST, 1);
        add_sample(t);
    }
    rows_numbered(MOST + 1, 0); /* one row more than allowed, at the beginning of the list */
    add_sample(11);
    size_t old = 0;
    for (size_t i = 0; i <= MOST; i++)
        old += spec.newest.rows[i].history && spec.newest.rows[i].history->born == 1;
    assert_int_equal(old, MOST);
}

/* If there are too many histories, those of the rows that ended first are removed first. */
static void those_that_ended_last_are_kept(void **state)
{
    for (uint64_t t = 1; t <= 40; t++) { /* 100 new rows each time, which exist for one sample */
        rows_numbered(100, t * 1000);
        add_sample(t);
    }
    rows_numbered(200, 100000);
    add_sample(41);
    uint64_t *last = numbered(100, 40000), *first = numbered(100, 1000);
    assert_non_null(history_of(last[50]));
    assert_null(history_of(first[50]));
    free(last);
    free(first);
}

static void rows_that_were_not_seen_for_an_hour_are_forgotten(void **state)
{
    rows_numbered(30, 1);
    add_sample(1);
    for (uint64_t t = 2; t <= REACH + MODEL_FINE + 10; t++) {
        rows_numbered(3, 1);
        add_sample(t);
        if (t == REACH - 10)
            assert_int_equal(histories_kept(), 30);
    }
    assert_int_equal(histories_kept(), 3);
}

/* ---- captures ---- */

static void ticks_of_a_long_capture_share_places(void **state)
{
    enum { SAMPLES = 1000 };
    struct span span;
    for (uint32_t step = 1; step <= 7; step++) {
        source.capture = true;
        source.step = step;
        source.time_count = SAMPLES / step + 2;
        for (uint64_t t = 1; t <= SAMPLES; t++)
            add_value(4, t, (double)t);
        const struct history *history = history_of(4);
        assert_int_equal(history->step, step);
        for (uint64_t from = 1; from <= SAMPLES; from += 13)
            for (uint64_t to = from + 1; to <= SAMPLES + 1; to += 11) {
                model_span(history, 0, from, to, &span);
                assert_true(span.least >= (float)from && span.least < (float)(from + step));
                assert_true(span.last >= (float)(to - 1) && span.last < (float)(to - 1 + step));
                assert_true(span.most == span.last);
            }
        end(state);
        begin(state);
    }
}

/* Several ticks of a long capture share one place in the history. It has a value if any of these
 * ticks has one. */
static void a_gap_hides_no_value_of_its_place(void **state)
{
    struct span span;
    source.capture = true;
    source.step = 4;
    source.time_count = 30;
    for (uint64_t t = 1; t <= 100; t++)
        add_value(4, t, t % 4 == 1 ? (double)t : NAN);
    model_span(history_of(4), 0, 1, 101, &span);
    assert_true(span.least == 1 && span.most == 97);
}

/* The history of a row in a capture uses memory only for the time in which the row exists. */
static void short_lived_rows_of_a_capture_take_little(void **state)
{
    struct span span;
    source.capture = true;
    source.step = 3;
    source.time_count = 60000;
    for (uint64_t t = 100000; t <= 100060; t++)
        add_value(4, t, (double)t);
    const struct history *history = history_of(4);
    assert_true(history->series[0].capacity < 100);
    model_span(history, 0, 0, UINT64_MAX, &span);
    assert_true(span.least >= 100000 && span.least < 100003 && span.last == 100060);
    model_span(history, 0, 100030, 100033, &span);
    assert_true(span.last >= 100032 && span.last < 100036);
    for (uint64_t t = 100061; t <= 100100; t++)
        add_value(4, t, NAN);
    model_span(history_of(4), 0, 100064, 100101, &span);
    assert_true(isnan(span.last));
}

/* After years of samples, computing a span over the whole time takes no longer than over an
 * hour. */
static void spans_of_all_that_there_is(void **state)
{
    struct span span;
    for (uint64_t t = 1; t < 2000; t++)
        add_value(4, t, 1);
    for (uint64_t t = 4000000000; t < 4000002000; t++)
        add_value(4, t, 2);
    double begun = seconds_now();
    for (int i = 0; i < 1000; i++)
        model_span(history_of(4), 0, 0, UINT64_MAX, &span);
    assert_true(seconds_now() - begun < 1);
    assert_true(span.least == 2 && span.average == 2);
}

/* A capture may have more samples than its summary says: no value is wrong, but the last values may
 * be missing. */
static void a_capture_that_is_longer_than_it_said(void **state)
{
    struct span span;
    source.capture = true;
    source.time_count = 50;
    for (uint64_t t = 1; t <= 5000; t++)
        add_value(4, t, (double)t);
    model_span(history_of(4), 0, 1, 5001, &span);
    assert_true(span.least == 1 && span.most >= 49 && span.most <= 5000);
    model_span(history_of(4), 0, 4000, 4500, &span);
    assert_true(isnan(span.average) || span.least >= 4000);
}

/* ---- scale ---- */

static void scales(void **state)
{
    static const struct {
        LONG standard;
        double most;
        int scale;
    } cases[] = {
        {0,  50,   0  },
        {0,  100,  0  },
        {0,  0,    0  },
        {-3, 0,    -3 },
        {2,  -5,   2  },
        {0,  NAN,  0  },
        {0,  1000, -1 },
        {0,  1001, -2 },
        {0,  101,  0  }, /* a percentage that is a little too high for its clocks */
        {0,  103,  -1 },
        {-6, 5e7,  -6 },
        {-6, 5e9,  -8 },
        {1,  11,   0  },
        {0,  5e12, -11},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (model_scale(cases[i].standard, cases[i].most) != cases[i].scale)
            fail_msg("%d, %g: %d", (int)cases[i].standard, cases[i].most,
                     model_scale(cases[i].standard, cases[i].most));
    for (double most = 1e-9; most < 1e15; most *= 1.7)
        for (LONG standard = -7; standard <= 7; standard++) {
            int scale = model_scale(standard, most);
            double drawn = most * pow(10, scale);
            if (scale != standard && !(drawn > 9.999 && drawn < 100.001))
                fail_msg("%g at %d is %g", most, scale, drawn);
            assert_true(drawn < (scale == standard ? 102.001 : 100.001));
        }
    assert_int_equal(model_scale(3, INFINITY), 3);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(spans_are_what_was_added),
        CASE(a_value_that_does_not_change),
        CASE(an_hour_takes_little),
        CASE(a_gap_that_is_longer_than_an_hour),
        CASE(births_and_deaths),
        CASE(every_tick_weighs_the_same),
        CASE(an_average_is_as_exact_as_its_values),
        CASE(random_instances_have_a_bound),
        CASE(too_many_rows_are_counted),
        CASE(a_missed_tick_forgets_nobody),
        CASE(those_that_ended_last_are_kept),
        CASE(rows_that_were_not_seen_for_an_hour_are_forgotten),
        CASE(ticks_of_a_long_capture_share_places),
        CASE(a_gap_hides_no_value_of_its_place),
        CASE(short_lived_rows_of_a_capture_take_little),
        CASE(spans_of_all_that_there_is),
        CASE(a_capture_that_is_longer_than_it_said),
        CASE(scales),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(oracle);
    return failed;
}
