/* SPDX-License-Identifier: MIT */
/*
 * Simulates a day within seconds: the model (tools/model, the data behind perfmon's screen) uses a
 * PDH that the test replaces, and takes samples as fast as possible; a simulated clock advances one
 * second with each sample. Each sample must have this clock's time, also across midnight and after
 * the clock was set; histories of every age must be right; and instances that come and go must not
 * increase the memory in use after the first hours.
 */
#include "model.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <cmocka.h>

#include "bytes.h"
#include "double.h"

enum { HOUR = 3600, DAY = 24 * HOUR, ROWS = 20, LIFE = 200, MOST_AHEAD = 60 };
enum { STEP_AT = 20 * HOUR + 5, STEP = 2 * HOUR }; /* the clock is set back by STEP seconds */
static const time_t start = 1767222000 - 4 * HOUR; /* four hours before a midnight in UTC */
static const int64_t second = 10000000, unix_epoch = 11644473600;

/* ---- the clock: it waits while the sampler is MOST_AHEAD samples ahead of the drawing ---- */

static pthread_mutex_t clock_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t clock_wake = PTHREAD_COND_INITIALIZER;
static unsigned clock_samples, clock_taken;
static bool clock_free;       /* the test is over, so the clock never stops again */
static pthread_t main_thread; /* only this thread sees the system's clock */

static time_t clock_at(uint64_t tick)
{
    return start + (time_t)tick - (tick >= STEP_AT ? STEP : 0);
}

int clock_gettime(clockid_t id, struct timespec *ret)
{
    static int (*system_clock)(clockid_t, struct timespec *);
    if (id != CLOCK_REALTIME || pthread_equal(pthread_self(), main_thread)) {
        if (!system_clock)
            *(void **)&system_clock = dlsym(RTLD_NEXT, "clock_gettime");
        return system_clock(id, ret);
    }
    pthread_mutex_lock(&clock_mutex);
    clock_samples++;
    pthread_cond_broadcast(&clock_wake);
    while (clock_samples > clock_taken + MOST_AHEAD && !clock_free)
        pthread_cond_wait(&clock_wake, &clock_mutex);
    *ret = (struct timespec){.tv_sec = clock_at(clock_samples)};
    pthread_mutex_unlock(&clock_mutex);
    return 0;
}

/* Waits while the sampler is MOST_AHEAD samples ahead of the drawing thread. */
static void clock_wait(void)
{
    pthread_mutex_lock(&clock_mutex);
    while (clock_samples <= clock_taken + MOST_AHEAD)
        pthread_cond_wait(&clock_wake, &clock_mutex);
    pthread_mutex_unlock(&clock_mutex);
}

/* Records that the drawing thread has the samples up to `tick`, so that the sampler may
 * continue. */
static void clock_take(uint64_t tick, bool last)
{
    pthread_mutex_lock(&clock_mutex);
    clock_taken = (unsigned)tick;
    clock_free = last;
    pthread_cond_broadcast(&clock_wake);
    pthread_mutex_unlock(&clock_mutex);
}

/* ---- the rows (instances): every LIFE ticks one ends, and a new one takes its place ---- */

static char names[ROWS][16];

static void change_rows(uint64_t tick)
{
    pthread_mutex_lock(&double_mutex);
    for (unsigned i = 0; i < ROWS; i++) {
        bool young = i == tick / LIFE % (ROWS - 1) + 1; /* the first row (instance) never ends */
        if (tick == 0 || young)
            snprintf(names[i], sizeof names[i], "row-%u", (unsigned)(tick / LIFE) * ROWS + i);
        pdh_double.instances[i] = names[i];
    }
    pdh_double.instance_count = ROWS;
    pdh_double.second_count = ROWS;
    pthread_mutex_unlock(&double_mutex);
}

/* ---- checks ---- */

/* Checks a history of the first row, whose value at each tick is 100 times the tick. */
static void check_history(const struct history *history, uint64_t newest)
{
    uint64_t reach = newest < HOUR ? newest : HOUR;
    struct span span;
    for (uint64_t t = newest; t > newest - reach; t -= t > 7 ? 7 : t) {
        bool fine = t + MODEL_FINE > newest;
        double low = fine ? (double)t : (double)(t / MODEL_COARSE * MODEL_COARSE);
        double high = fine ? low : low + MODEL_COARSE - 1;
        low = fmax(low, (double)history->born);
        model_span(history, 0, t, t + 1, &span);
        assert_true(span.least == (float)(100 * low) && span.most == (float)(100 * high));
        assert_true(fabs((double)span.average - 50 * (low + high)) < 1);
    }
}

static void check_times(const struct model *model, uint64_t newest)
{
    uint64_t reach = newest < HOUR ? newest : HOUR;
    for (uint64_t t = newest; t > newest - reach; t--)
        assert_int_equal(model_time(model, 0, t), ((int64_t)clock_at(t) + unix_epoch) * second);
}

/* Checks the histories of all rows. Those of rows that ended over an hour ago may exist until they
 * are removed next time. */
static void check_rows(const struct model *model, unsigned table, uint64_t newest)
{
    size_t capacity, count = 0;
    const struct history *const *histories = model_histories(model, table, &capacity);
    for (size_t i = 0; i < capacity; i++)
        if (histories[i]) {
            assert_true(histories[i]->seen + HOUR + MODEL_FINE >= newest);
            count++;
        }
    assert_true(count >= ROWS && count <= ROWS + (HOUR + MODEL_FINE) / LIFE + 1);
}

static void a_day(void **state)
{
    static const char *const paths[] = {"\\Herd(*)\\First", "\\Herd(*)\\Second"};
    struct model *model = model_new(0);
    size_t most = 0;
    double at = 0;
    uint64_t checked = 0, changed = 0;
    struct model_source source = {0};
    double_reset();
    change_rows(0);
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, paths, 2, true);
    while (source.tick < DAY) {
        model_update(model);
        model_source(model, 0, &source);
        clock_take(source.tick, false);
        double before = at; /* the clock of intervals is not set with the other */
        at = source.tick ? model_table(model, table)->at : 0;
        assert_true(at >= before && (before == 0 || at < before + HOUR));
        if (source.tick / LIFE > changed)
            change_rows((changed = source.tick / LIFE) * LIFE);
        if (source.tick >= checked + HOUR / 2 || source.tick >= DAY) {
            checked = source.tick;
            check_history(model_table(model, table)->rows[0].history, source.tick);
            check_times(model, source.tick);
            check_rows(model, table, source.tick);
            if (source.tick < DAY / 4)
                most = most > bytes_used() ? most : bytes_used();
            else
                assert_true(bytes_used() <= most + most / 4);
        }
        clock_wait();
    }
    assert_int_equal(source.dropped, 0);
    assert_int_equal(model_table(model, table)->forgotten, 0);
    clock_take(source.tick, true);
    model_free(model);
}

int main(void)
{
    main_thread = pthread_self();
    static const struct CMUnitTest tests[] = {cmocka_unit_test(a_day)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
