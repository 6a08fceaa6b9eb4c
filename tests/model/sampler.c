/* SPDX-License-Identifier: MIT */
/*
 * The model (the data behind perfmon's screen) with a PDH that the test replaces (double.h): one
 * query for all tables; tables that are added and removed; counters that are missing and appear
 * later; unreachable machines; calls that hang; samples that are skipped; pauses.
 */
#include "model.h"

#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "double.h"

static const char *const first[] = {"\\Herd(*)\\First"};
static const char *const both[] = {"\\Herd(*)\\First", "\\Herd(*)\\Second"};
static const char *const nothing[] = {"\\Nothing(*)\\First"};
static struct model *model;

/* Models whose sampler thread hangs for ever are kept here, so that their memory is not reported as
 * a leak. */
static struct model *abandoned[32];
static size_t abandoned_count;

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void pass(double seconds)
{
    nanosleep(&(struct timespec){(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)}, NULL);
}

static int begin(void **state)
{
    double_reset();
    model = model_new(0.02);
    return model == NULL;
}

static int end(void **state)
{
    double_hang(0, NULL);
    model_free(model);
    return (int)(double_count(&pdh_double.queries) + double_count(&pdh_double.counters));
}

static struct model_source source_now(size_t number)
{
    struct model_source source;
    model_source(model, number, &source);
    return source;
}

/* Updates the model until `condition` is true; fails after ten seconds. */
#define UNTIL(condition)                                                                           \
    do {                                                                                           \
        double limit = now_seconds() + 10;                                                         \
        while (model_update(model), !(condition))                                                  \
            if (now_seconds() > limit)                                                             \
                fail_msg("never: %s", #condition);                                                 \
            else                                                                                   \
                pass(0.002);                                                                       \
    } while (0)

/* Returns how often this thread had to wait for anything except a processor. */
static long waits(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static double processor_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* Checks that a call does not wait. On a busy machine other threads may run meanwhile; that time
 * does not count. */
#define ASSERT_QUICK(call)                                                                         \
    do {                                                                                           \
        double before = now_seconds(), used = processor_seconds();                                 \
        long waited = waits();                                                                     \
        (void)(call);                                                                              \
        double took = now_seconds() - before;                                                      \
        if ((took > 0.01 && waits() > waited) || processor_seconds() - used > 0.01)                \
            fail_msg("%s took %g s", #call, took);                                                 \
    } while (0)

static void remove_all(const unsigned *tables, size_t count)
{
    for (size_t i = 0; i < count; i++)
        model_remove_table(model, tables[i]);
}

/* ---- tables ---- */

static void texts_have_rows_and_columns(void **state)
{
    static const char *const paths[] = {"\\Process Details(*)\\State",
                                        "\\Process Details(*)\\User"};
    static const char *const missing[] = {"\\Nothing(*)\\State"};
    assert_int_equal(model_add_machine(model, NULL), 0);
    unsigned table = model_add_texts(model, 0, paths, 2);
    unsigned other = model_add_texts(model, 0, missing, 1);
    UNTIL(model_table(model, table)->tick && model_table(model, other)->tick);
    const struct table *texts = model_table(model, table);
    assert_int_equal(texts->row_count, 2);
    assert_string_equal(texts->rows[0].name, "one:1");
    assert_string_equal(texts->texts[0], "idle");
    assert_string_equal(texts->texts[1], "root");
    assert_string_equal(texts->rows[1].name, "two:2");
    assert_string_equal(texts->texts[2], "running");
    assert_null(texts->texts[3]);
    assert_int_equal(model_table(model, other)->row_count, 0);
    uint64_t tick = texts->tick; /* text counters are not read in every sample */
    UNTIL(source_now(0).tick > tick + 5);
    assert_int_equal(model_table(model, table)->tick, tick);
    double begun = now_seconds();
    model_want(model, table);
    UNTIL(model_table(model, table)->tick > tick);
    assert_true(now_seconds() - begun > MODEL_TEXT_WANTED - 1);
    assert_true(now_seconds() - begun < MODEL_TEXT_SECONDS - 1);
    tick = model_table(model, table)->tick;
    begun = now_seconds();
    /* the texts were requested only once, so they must not be read again */
    while (now_seconds() < begun + MODEL_TEXT_WANTED + 1)
        model_update(model), pass(0.01);
    assert_int_equal(model_table(model, table)->tick, tick);
}

/* At an interval near MODEL_TEXT_WANTED wanted texts are read after each sample, not after every
 * second one: a process that lives for two seconds would have no texts. */
static void wanted_texts_follow_each_sample(void **state)
{
    static const char *const paths[] = {"\\Process Details(*)\\State"};
    model_set_seconds(model, 0.75 * MODEL_TEXT_WANTED);
    assert_int_equal(model_add_machine(model, NULL), 0);
    unsigned table = model_add_texts(model, 0, paths, 1);
    uint64_t before = 0, last = 0;
    UNTIL((model_want(model, table), model_table(model, table)->tick) > 0);
    before = last = model_table(model, table)->tick;
    UNTIL((model_want(model, table), before = last, last = model_table(model, table)->tick,
           last == before + 1));
}

static void one_query_for_all_that_is_shown(void **state)
{
    unsigned tables[3];
    assert_int_equal(model_add_machine(model, NULL), 0);
    for (size_t i = 0; i < 3; i++)
        assert_true((tables[i] = model_add_table(model, 0, both, 2, i == 1)) > 0);
    UNTIL(model_table(model, tables[2])->tick > 5);
    model_pause(model, true);
    pass(0.1);
    model_pause(model, false);
    UNTIL(source_now(0).tick > 10);
    assert_int_equal(double_count(&pdh_double.queries), 1);
    assert_int_equal(double_count(&pdh_double.counters), 6);
    assert_true(double_count(&pdh_double.collects) <= source_now(0).tick + 3);
    for (size_t i = 0; i < 3; i++) {
        const struct table *table = model_table(model, tables[i]);
        assert_int_equal(table->id, tables[i]);
        assert_int_equal(table->source, 0);
        assert_int_equal(table->column_count, 2);
        assert_int_equal(table->row_count, 3);
        assert_int_equal(table->tick, source_now(0).tick);
        for (size_t r = 0; r < 3; r++)
            for (size_t c = 0; c < 2; c++) {
                double wanted = (double)table->tick * 100 + (double)r + (c ? 0.5 : 0);
                assert_true(table_cell(table, r, c)->number == wanted);
                assert_int_equal(table_cell(table, r, c)->status, 0);
            }
        assert_true((table->rows[0].history != NULL) == (i == 1));
        assert_int_equal(table->columns[1].type, PERF_COUNTER_RAWCOUNT);
        assert_int_equal(table->columns[1].default_scale, -2);
        assert_string_equal(table->columns[1].explain, "What it counts.");
        assert_string_equal(table->columns[1].path, both[1]);
    }
}

static void why_a_table_has_no_rows(void **state)
{
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, nothing, 1, false);
    unsigned other = model_add_table(model, 0, both, 2, false);
    UNTIL(model_table(model, table)->tick > 5);
    /* the reason is NULL, because no table wanted to know it */
    assert_null(model_table(model, table)->columns->why);
    UNTIL((model_want(model, table), model_want(model, other),
           model_table(model, table)->columns->why));
    uint64_t tick = source_now(0).tick;
    char *text = strdup(model_table(model, table)->columns->why);
    assert_memory_equal(text, "belongs to Faulty", 17);
    UNTIL((model_want(model, table), source_now(0).tick > tick + 20));
    /* the reason is read at most once in 5 s */
    assert_string_equal(model_table(model, table)->columns->why, text);
    assert_null(model_table(model, other)->columns->why);
    free(text);
}

/* Sampling starts with the first update; the first sample has all tables that were added before
 * it. */
static void all_are_in_the_first_sample(void **state)
{
    unsigned tables[5];
    model_add_machine(model, NULL);
    model_add_capture(model, "a.blg", NULL);
    for (size_t i = 0; i < 5; i++) {
        tables[i] = model_add_table(model, 0, both, 2, false);
        pass(0.02);
    }
    assert_int_equal(double_count(&pdh_double.collects), 0);
    assert_int_equal(source_now(0).state, MODEL_STARTING);
    UNTIL(source_now(0).tick > 0);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(model_table(model, tables[i])->tick, source_now(0).tick);
    assert_int_equal(double_count(&pdh_double.counters), 10);
}

static void the_tick_of_a_time(void **state)
{
    model_add_machine(model, NULL);
    model_add_table(model, 0, both, 2, false);
    UNTIL(source_now(0).tick > 4);
    uint64_t newest = source_now(0).tick;
    for (uint64_t tick = 1; tick <= newest; tick++)
        assert_int_equal(model_tick(model, 0, model_time(model, 0, tick)), tick);
    int64_t two = model_time(model, 0, 2), three = model_time(model, 0, 3);
    assert_int_equal(model_tick(model, 0, two + (three - two) / 4), 2);
    assert_int_equal(model_tick(model, 0, three - (three - two) / 4), 3);
    assert_int_equal(model_tick(model, 0, model_time(model, 0, newest) + 1000000000), newest);
    assert_int_equal(model_tick(model, 0, model_time(model, 0, 1) - 1), 0);
    assert_int_equal(model_tick(model, 0, 0), 0);
}

static void rows_are_found_by_name(void **state)
{
    const struct row rows[] = {{.name = "a"}, {.name = "b"}, {.name = "a"}, {.name = "c"}};
    const char *const texts[] = {"1", "2", "3", "4"};
    const struct table table = {.row_count = 4, .column_count = 1, .rows = rows, .texts = texts};
    size_t at = 0;
    assert_int_equal(rows_find(rows, 4, "a", &at), 0);
    assert_int_equal(rows_find(rows, 4, "a", &at), 2);
    assert_int_equal(rows_find(rows, 4, "a", &at), 0);
    assert_int_equal(rows_find(rows, 4, "none", &at), 4);
    assert_int_equal(at, 1);
    assert_string_equal(*table_texts(&table, "c", &at), "4");
    assert_string_equal(*table_texts(&table, "b", &at), "2");
    assert_null(table_texts(&table, "none", &at));
    assert_null(table_texts(NULL, "a", &at));
}

/* The name of a kernel worker has its present work; that of any other process is another one. */
static void workers_are_found_by_number(void **state)
{
    const struct row rows[] = {
        {.name = "sh:7"}, {.name = "kworker_0:1-events:25"}, {.name = "kworker_0:2:31"}};
    const char *const texts[] = {"1", "2", "3"};
    const struct table table = {.row_count = 3, .column_count = 1, .rows = rows, .texts = texts};
    size_t at = 0;
    assert_string_equal(*table_texts(&table, "kworker_0:1-rcu_gp:25", &at), "2");
    assert_string_equal(*table_texts(&table, "kworker_0:2-events:31", &at), "3");
    assert_null(table_texts(&table, "kworker_0:1-events:5", &at));
    assert_null(table_texts(&table, "kworker", &at));
    assert_null(table_texts(&table, "sh:25", &at));
    assert_null(table_texts(&table, "kworker_0:1:7", &at));
}

/* A model that was never updated, or was paused from the beginning, is freed at once. */
static void a_model_that_was_never_updated(void **state)
{
    model_add_machine(model, NULL);
    model_add_capture(model, "a.blg", NULL);
    model_pause(model, true);
    model_add_table(model, 0, both, 2, false);
    double before = now_seconds();
    model_free(model);
    assert_true(now_seconds() - before < 0.5);
    model = NULL;
}

static void tables_come_and_go(void **state)
{
    model_add_machine(model, NULL);
    unsigned kept = model_add_table(model, 0, first, 1, true);
    UNTIL(model_table(model, kept)->tick > 2);
    unsigned other = model_add_table(model, 0, both, 2, true);
    assert_true(other != kept);
    const struct table *young = model_table(model, other);
    assert_int_equal(young->tick, 0);
    assert_int_equal(young->row_count, 0);
    assert_string_equal(young->columns[0].path, both[0]);
    double begun = now_seconds();
    UNTIL(model_table(model, other)->tick);
    assert_true(now_seconds() - begun < 2);
    assert_int_equal(double_count(&pdh_double.counters), 3);
    model_remove_table(model, other);
    assert_null(model_table(model, other));
    size_t count = 1;
    assert_null(model_histories(model, other, &count));
    assert_int_equal(count, 0);
    UNTIL(double_count(&pdh_double.counters) == 1);
    uint64_t tick = source_now(0).tick;
    UNTIL(model_table(model, kept)->tick > tick + 2);
    model_remove_table(model, other);
    model_remove_table(model, kept);
    model_remove_table(model, 12345);
    assert_int_equal(model_add_table(model, 0, first, 0, false), 0);
    UNTIL(double_count(&pdh_double.counters) == 0);
}

/* A table may show a counter's value and its raw value: PDH gets the counter only once. */
static void equal_paths_share_a_counter(void **state)
{
    static const char *const paths[] = {"\\Herd(*)\\First", MODEL_RAW "\\Herd(*)\\First",
                                        "\\Herd(*)\\Second"};
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, paths, 3, false);
    UNTIL(model_table(model, table)->tick >= 2);
    assert_int_equal(double_count(&pdh_double.counters), 2);
    assert_true(model_table(model, table)->columns[1].raw);
    assert_int_equal(model_table(model, table)->columns[1].status, 0);
    model_remove_table(model, table);
    UNTIL(double_count(&pdh_double.counters) == 0);
}

/* A table that rests is not queried and keeps its last sample; after it is woken, it is soon
 * sampled. */
static void a_table_rests(void **state)
{
    model_add_machine(model, NULL);
    unsigned kept = model_add_table(model, 0, first, 1, true);
    unsigned other = model_add_table(model, 0, both, 2, false);
    unsigned asleep = model_add_table(model, 0, both, 2, false);
    model_rest(model, asleep, true);
    UNTIL(model_table(model, other)->tick > 2);
    assert_int_equal(double_count(&pdh_double.counters), 3);
    assert_int_equal(model_table(model, asleep)->tick, 0);
    model_rest(model, other, true);
    UNTIL(double_count(&pdh_double.counters) == 1);
    uint64_t tick = source_now(0).tick;
    UNTIL(model_table(model, kept)->tick > tick + 5);
    assert_true(model_table(model, other)->tick <= tick + 1);
    assert_int_equal(model_table(model, other)->row_count, 3);
    model_rest(model, other, false);
    model_rest(model, asleep, false);
    UNTIL(model_table(model, other)->tick > tick + 5 && model_table(model, asleep)->tick);
    assert_int_equal(double_count(&pdh_double.counters), 5);
    model_rest(model, asleep, true);
    model_remove_table(model, asleep);
    model_rest(model, 12345, true);
    UNTIL(double_count(&pdh_double.counters) == 3);
}

/* Adds and removes tables as fast as possible, so that the thread sanitizer can find races. */
static void tables_come_and_go_at_any_moment(void **state)
{
    unsigned tables[20] = {0};
    model_set_seconds(model, 0.001);
    model_add_machine(model, NULL);
    srand(1);
    for (int i = 0; i < 1500; i++) {
        size_t at = (size_t)rand() % 20, count;
        if (tables[at])
            model_remove_table(model, tables[at]);
        tables[at] = rand() % 3 ? model_add_table(model, 0, both, 2, rand() % 2) : 0;
        model_update(model);
        const struct table *table = model_table(model, tables[at]);
        for (size_t r = 0; table && r < table->row_count; r++)
            assert_true(strlen(table->rows[r].name) > 0);
        model_histories(model, tables[at], &count);
        if (rand() % 10 == 0)
            pass(0.001);
    }
    remove_all(tables, 20);
    UNTIL(double_count(&pdh_double.counters) == 0);
}

/* Rows are found anew in every sample, because one of two counters may have fewer instances. */
static void a_column_with_fewer_instances(void **state)
{
    pdh_double.second_first = 1;
    pdh_double.second_count = 1;
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, both, 2, true);
    UNTIL(model_table(model, table)->tick > 1);
    const struct table *now = model_table(model, table);
    assert_int_equal(now->row_count, 3);
    assert_true(isnan(table_cell(now, 0, 1)->number) && isnan(table_cell(now, 2, 1)->number));
    assert_int_equal(table_cell(now, 0, 1)->status, PDH_CSTATUS_NO_INSTANCE);
    assert_true(table_cell(now, 1, 1)->number == (double)now->tick * 100 + 1.5);
    for (size_t r = 0; r < 3; r++)
        assert_int_equal(table_row(now, now->rows[r].identity), r);
    assert_true(table_row(now, now->rows[0].identity + 1) == (size_t)-1);
}

/* Instances with equal names have separate identities and histories; their order distinguishes
 * them. */
static void instances_with_equal_names(void **state)
{
    pdh_double.instances[2] = pdh_double.instances[3] = "one";
    pdh_double.instance_count = pdh_double.second_count = 4;
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, both, 2, true);
    UNTIL(model_table(model, table)->tick > 2);
    const struct table *now = model_table(model, table);
    uint64_t identities[4];
    struct span span;
    for (size_t r = 0; r < 4; r++) {
        identities[r] = now->rows[r].identity;
        assert_int_equal(table_row(now, identities[r]), r);
        for (uint64_t t = 1; t <= now->tick; t++) {
            model_span(now->rows[r].history, 1, t, t + 1, &span);
            assert_true(span.last == (float)t * 100 + (float)r + 0.5F);
        }
    }
    UNTIL(model_table(model, table)->tick > 5);
    for (size_t r = 0; r < 4; r++)
        assert_true(model_table(model, table)->rows[r].identity == identities[r]);
}

static void instances_are_born_and_die(void **state)
{
    size_t count, known = 0;
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, first, 1, true);
    UNTIL(model_table(model, table)->row_count == 3);
    uint64_t two = model_table(model, table)->rows[1].identity;
    pthread_mutex_lock(&double_mutex);
    pdh_double.instances[1] = "new";
    pthread_mutex_unlock(&double_mutex);
    UNTIL(table_row(model_table(model, table), two) == (size_t)-1);
    uint64_t death = model_table(model, table)->tick;
    UNTIL(model_table(model, table)->tick > death + 2);
    const struct history *const *histories = model_histories(model, table, &count);
    for (size_t i = 0; i < count; i++) {
        if (!histories[i])
            continue;
        known++;
        uint64_t born = histories[i]->born, seen = histories[i]->seen;
        assert_true(!strcmp(histories[i]->name, "new") == (born > 1));
        assert_true((histories[i]->identity == two) == (seen < death));
        struct span span;
        model_span(histories[i], 0, born, born + 1, &span);
        assert_true((uint64_t)span.last / 100 == born);
    }
    assert_int_equal(known, 4);
    assert_true(model_time(model, 0, death) > model_time(model, 0, death - 1));
    assert_true(model_time(model, 0, source_now(0).tick) == source_now(0).time);
    assert_true(model_time(model, 0, 0) == 0 && model_time(model, 0, 1u << 30) == 0);
}

/* ---- missing counters and machines ---- */

static void a_type_without_a_formula_is_raw(void **state)
{
    pdh_double.type = PERF_COUNTER_HISTOGRAM_TYPE;
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, first, 1, false);
    UNTIL(model_table(model, table)->tick > 0 && model_table(model, table)->columns[0].raw);
    const struct table *now = model_table(model, table);
    assert_int_equal(now->row_count, 3);
    assert_true(table_cell(now, 1, 0)->number == 7001);
    assert_false(model_type_is_raw(PERF_COUNTER_RAWCOUNT));
}

static void a_text_has_no_number(void **state)
{
    pdh_double.type = PERF_COUNTER_TEXT;
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, first, 1, false);
    UNTIL(model_table(model, table)->tick > 0);
    const struct table *now = model_table(model, table);
    assert_int_equal(now->row_count, 3);
    assert_true(isnan(table_cell(now, 1, 0)->number));
}

static void a_missing_object_says_so(void **state)
{
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, nothing, 1, true);
    UNTIL(model_table(model, table)->columns[0].status);
    assert_int_equal((DWORD)model_table(model, table)->columns[0].status, PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(model_table(model, table)->row_count, 0);
    assert_int_equal(model_table(model, table)->columns[0].type, 0);
    assert_null(model_table(model, table)->columns[0].explain);
    UNTIL(source_now(0).state == MODEL_GOOD); /* the machine itself can be reached */
}

/* A counter, an object and a machine do not exist at first; they are found when they appear
 * later. */
static void what_comes_later_is_found(void **state)
{
    pdh_double.has_second = false;
    pdh_double.away = true;
    model_add_machine(model, NULL);
    model_add_machine(model, "remote");
    unsigned table = model_add_table(model, 0, both, 2, true),
             other = model_add_table(model, 1, both, 2, true);
    UNTIL(model_table(model, table)->tick > 1);
    UNTIL(source_now(1).state == MODEL_AWAY);
    const struct table *now = model_table(model, table);
    assert_int_equal((DWORD)now->columns[1].status, PDH_CSTATUS_NO_COUNTER);
    assert_int_equal(now->columns[0].status, 0);
    assert_int_equal(now->row_count, 3);
    assert_int_equal(table_cell(now, 0, 1)->status, PDH_CSTATUS_NO_COUNTER);
    assert_true(isnan(table_cell(now, 0, 1)->number) && !isnan(table_cell(now, 0, 0)->number));
    assert_true(source_now(1).status != 0);
    assert_string_equal(source_now(1).name, "remote");
    assert_int_equal((DWORD)model_table(model, other)->columns[0].status, PDH_CSTATUS_NO_MACHINE);
    assert_int_equal(model_table(model, other)->row_count, 0);
    uint64_t tick = source_now(0).tick;
    /* waits until after the next attempt to find what is missing; meanwhile source 0 continues */
    UNTIL(source_now(0).tick > tick + 280);
    assert_int_equal(source_now(0).state, MODEL_GOOD);
    assert_int_equal(double_count(&pdh_double.counters), 3); /* no counter was added twice */
    pthread_mutex_lock(&double_mutex);
    pdh_double.has_second = true;
    pdh_double.away = false;
    pthread_mutex_unlock(&double_mutex);
    UNTIL(source_now(1).state == MODEL_GOOD);
    UNTIL(model_table(model, other)->row_count == 3);
    UNTIL(model_table(model, table)->columns[1].status == 0);
    UNTIL(model_table(model, other)->columns[0].status == 0);
    UNTIL(!isnan(table_cell(model_table(model, other), 2, 1)->number));
    now = model_table(model, table);
    assert_int_equal(now->columns[1].type, PERF_COUNTER_RAWCOUNT);
    assert_string_equal(now->columns[1].explain, "What it counts.");
    UNTIL(!isnan(table_cell(model_table(model, table), 0, 1)->number));
    assert_int_equal(model_table(model, other)->columns[0].type, PERF_COUNTER_RAWCOUNT);
    pthread_mutex_lock(&double_mutex);
    pdh_double.away = true;
    pthread_mutex_unlock(&double_mutex);
    UNTIL(source_now(1).state == MODEL_AWAY);
}

static void set_away(bool away)
{
    pthread_mutex_lock(&double_mutex);
    pdh_double.away = away;
    pthread_mutex_unlock(&double_mutex);
}

/* A machine that is away has no present values: its rows stay, without values, and its histories
 * keep the past and have a gap. */
static void a_machine_that_is_away_has_no_values(void **state)
{
    struct span span;
    model_add_machine(model, "remote");
    unsigned table = model_add_table(model, 0, both, 2, true);
    UNTIL(model_table(model, table)->tick > 5);
    set_away(true);
    UNTIL(source_now(0).state == MODEL_AWAY);
    const struct table *now = model_table(model, table);
    uint64_t last = now->tick;
    assert_int_equal(now->row_count, 3);
    for (size_t i = 0; i < 6; i++) {
        assert_true(isnan(table_cell(now, i / 2, i % 2)->number));
        assert_int_equal(table_cell(now, i / 2, i % 2)->status, (DWORD)source_now(0).status);
    }
    UNTIL(source_now(0).tick > last + 5);
    assert_int_equal(model_table(model, table)->tick, last);
    model_span(model_table(model, table)->rows[1].history, 0, last, last + 1, &span);
    assert_true(span.last > 0);
    set_away(false);
    UNTIL(source_now(0).state == MODEL_GOOD);
    now = model_table(model, table);
    assert_true(table_cell(now, 1, 0)->number > 0);
    model_span(now->rows[1].history, 0, last + 1, last + 5, &span);
    assert_true(isnan(span.last));
    model_span(now->rows[1].history, 0, last, now->tick + 1, &span);
    assert_true(span.least < span.last);
}

/* While samples of a machine that is away last long, it is still away: the states do not
 * alternate. */
static void a_machine_that_is_away_is_not_silent(void **state)
{
    model_add_machine(model, "remote");
    model_add_table(model, 0, both, 2, true);
    UNTIL(source_now(0).tick > 2);
    set_away(true);
    UNTIL(source_now(0).state == MODEL_AWAY);
    double_hang(COLLECT, NULL);
    pass(0.2);
    assert_int_equal(source_now(0).state, MODEL_AWAY);
}

static void no_query_no_sample(void **state)
{
    pdh_double.open_status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    model_add_machine(model, NULL);
    model_add_table(model, 0, first, 1, false);
    UNTIL(source_now(0).state == MODEL_AWAY);
    assert_int_equal((DWORD)source_now(0).status, PDH_MEMORY_ALLOCATION_FAILURE);
}

/* A source without tables makes no query, and is not reported as "does not answer". */
static void a_source_without_tables(void **state)
{
    model_add_machine(model, NULL);
    for (int i = 0; i < 50; i++) {
        model_update(model);
        assert_int_equal(source_now(0).state, MODEL_STARTING);
        pass(0.002);
    }
    model_pause(model, true);
    pass(0.1);
    assert_int_equal(source_now(0).state, MODEL_STARTING);
    assert_int_equal(double_count(&pdh_double.collects), 0);
}

/* ---- calls that hang ---- */

static void everything_is_quick(unsigned table)
{
    size_t count;
    unsigned young = 0;
    struct model_source source;
    ASSERT_QUICK(model_update(model));
    ASSERT_QUICK(model_table(model, table));
    ASSERT_QUICK(model_source(model, 0, &source));
    ASSERT_QUICK(model_histories(model, table, &count));
    ASSERT_QUICK(model_time(model, 0, 1));
    ASSERT_QUICK(young = model_add_table(model, 0, both, 2, true));
    ASSERT_QUICK(model_remove_table(model, young));
    ASSERT_QUICK(model_set_seconds(model, 0.02));
    ASSERT_QUICK(model_pause(model, true));
    ASSERT_QUICK(model_pause(model, false));
}

/* Two sources hang: no call of the model waits for them, and the third source continues. The two
 * continue when their calls return. A model can be freed in time even if its sources hang. */
static void hangs(unsigned call)
{
    double_hang(call, "\\\\stuck");
    for (int i = 0; i < 3; i++)
        model_add_machine(model, i == 2 ? NULL : "\\\\stuck");
    unsigned tables[3];
    for (size_t i = 0; i < 3; i++)
        tables[i] = model_add_table(model, i, first, 1, true);
    UNTIL(double_count(&pdh_double.hung) == 2);
    everything_is_quick(tables[0]);
    UNTIL(source_now(0).state == MODEL_SILENT && source_now(1).state == MODEL_SILENT);
    everything_is_quick(tables[1]);
    uint64_t tick = source_now(2).tick;
    UNTIL(source_now(2).tick > tick + 3);
    assert_int_equal(source_now(2).state, MODEL_GOOD);
    double_hang(0, NULL);
    UNTIL(source_now(0).state == MODEL_GOOD && source_now(1).state == MODEL_GOOD);
    UNTIL(model_table(model, tables[1])->tick > 0);
    double_hang(call & ~(unsigned)ADD, "\\\\stuck");
    if (call != ADD)
        UNTIL(double_count(&pdh_double.hung) == 2);
    abandoned[abandoned_count++] = model;
    double before = now_seconds();
    model_free(model);
    double took = now_seconds() - before;
    if (took > 1.5)
        fail_msg("model_free took %g s", took);
    double_hang(0, NULL);
    model = NULL;
    for (int i = 0; i < 500 && double_count(&pdh_double.queries); i++)
        pass(0.01); /* samplers that hung when their model was freed end, too */
}

static void a_collection_that_hangs(void **state)
{
    hangs(COLLECT);
}

static void an_array_that_hangs(void **state)
{
    hangs(ARRAY);
}

static void a_counter_that_hangs_when_it_is_added(void **state)
{
    hangs(ADD);
}

/* Adding a capture never waits, however long any part of reading it takes. */
static void a_capture_that_hangs(void **state)
{
    double_hang(RANGE | OPEN, "slow.blg");
    pdh_double.capture_samples = pdh_double.range_samples = 10;
    ASSERT_QUICK(model_add_capture(model, "slow.blg", NULL));
    unsigned table = model_add_table(model, 0, first, 1, true);
    UNTIL(double_count(&pdh_double.hung) == 1);
    assert_int_equal(source_now(0).state, MODEL_STARTING);
    everything_is_quick(table);
    double_hang(OPEN, "slow.blg");
    everything_is_quick(table);
    double_hang(0, NULL);
    UNTIL(source_now(0).state == MODEL_COMPLETE);
    assert_int_equal(model_table(model, table)->tick, 10);
}

/* ---- time ---- */

static void samples_that_are_not_taken_are_counted(void **state)
{
    size_t count;
    struct span span;
    model_set_seconds(model, 0.001);
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, first, 1, true);
    UNTIL(model_table(model, table)->tick > 3);
    uint64_t before = model_table(model, table)->tick;
    for (int i = 0; i < 1000 && double_count(&pdh_double.collects) < before + 200; i++)
        pass(0.01);
    model_set_seconds(model, 60);
    pass(0.05);
    assert_true(source_now(0).dropped >= 100);
    struct pollfd poller = {.fd = model_descriptor(model), .events = POLLIN};
    assert_int_equal(poll(&poller, 1, 0), 1);
    size_t taken = model_update(model);
    assert_true(taken > 10 && taken <= 64);
    assert_int_equal(poll(&poller, 1, 0), 0);
    uint64_t after = model_table(model, table)->tick, dropped = source_now(0).dropped;
    assert_int_equal(after, before + dropped + taken);
    const struct history *history = model_table(model, table)->rows[0].history;
    model_span(history, 0, before + 1, before + dropped + 1, &span);
    assert_true(isnan(span.average)); /* a gap */
    model_span(history, 0, before + dropped + 1, before + dropped + 2, &span);
    assert_true(span.last == (float)(before + dropped + 1) * 100);
    assert_non_null(model_histories(model, table, &count));
}

static void a_pause(void **state)
{
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, first, 1, true);
    UNTIL(model_table(model, table)->tick > 3);
    model_pause(model, true);
    uint64_t tick = source_now(0).tick;
    model_add_machine(model, "later");
    unsigned later = model_add_table(model, 1, first, 1, false);
    pass(0.2); /* one sample may have been in progress */
    unsigned collects = double_count(&pdh_double.collects);
    for (int i = 0; i < 60; i++) {
        assert_int_equal(model_update(model), 0);
        assert_int_equal(source_now(0).tick, tick);
        assert_int_equal(source_now(0).state, MODEL_GOOD);
        pass(0.002);
    }
    model_set_seconds(model, 0.02);
    pass(0.05);
    assert_int_equal(double_count(&pdh_double.collects), collects);
    model_pause(model, false);
    UNTIL(source_now(0).tick > tick + 3);
    UNTIL(model_table(model, later)->tick > 0);
}

/* A sample that was being taken when the pause began can be used after the pause, without a new
 * sample. */
static void a_sample_that_waited_for_the_end_of_a_pause(void **state)
{
    model_set_seconds(model, 60);
    model_add_machine(model, NULL);
    model_update(model); /* starts the sampling */
    unsigned table = model_add_table(model, 0, first, 1, true);
    for (int i = 0; i < 500 && double_count(&pdh_double.collects) < 2; i++)
        pass(0.01);
    pass(0.05);
    model_pause(model, true);
    assert_int_equal(model_update(model), 0);
    assert_int_equal(model_table(model, table)->tick, 0);
    model_pause(model, false);
    struct pollfd poller = {.fd = model_descriptor(model), .events = POLLIN};
    assert_int_equal(poll(&poller, 1, 0), 1);
    assert_true(model_update(model) >= 2);
    assert_true(model_table(model, table)->tick >= 2);
}

static void another_interval(void **state)
{
    model_set_seconds(model, 3600);
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, first, 1, true);
    UNTIL(model_table(model, table)->tick == 2); /* rates need a second sample, so it comes soon */
    pass(0.3);
    model_update(model);
    assert_int_equal(model_table(model, table)->tick, 2);
    model_set_seconds(model, 0.02);
    double begun = now_seconds();
    UNTIL(model_table(model, table)->tick > 12);
    double took = now_seconds() - begun;
    if (took < 0.15 || took > 2)
        fail_msg("ten samples in %g s", took);
    model_set_seconds(model, 3600);
    pass(0.1);
    model_update(model);
    uint64_t tick = model_table(model, table)->tick;
    pass(0.3);
    model_update(model);
    assert_int_equal(model_table(model, table)->tick, tick);
    assert_int_equal(source_now(0).state, MODEL_GOOD);
}

/* Tables are added and removed often: this must not cause samples so close together that rates are
 * meaningless. */
static void changes_are_not_samples(void **state)
{
    model_set_seconds(model, 1);
    model_add_machine(model, NULL);
    unsigned table = model_add_table(model, 0, first, 1, true);
    UNTIL(model_table(model, table)->tick >= 2);
    unsigned collects = double_count(&pdh_double.collects);
    double begun = now_seconds();
    for (int i = 0; i < 100; i++) {
        unsigned other = model_add_table(model, 0, both, 2, false);
        pass(0.002);
        model_remove_table(model, other);
        model_set_seconds(model, 1);
        model_update(model);
    }
    assert_true(double_count(&pdh_double.collects) - collects <=
                3 + (unsigned)((now_seconds() - begun) / 0.05));
}

static volatile sig_atomic_t signals;

static void note_signal(int number)
{
    signals++;
}

/* A signal that this thread blocks stays pending: no sampler thread may receive it. */
static void signals_are_not_for_samplers(void **state)
{
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    signal(SIGUSR1, note_signal);
    model_add_machine(model, NULL);
    model_add_capture(model, "a.blg", NULL);
    unsigned table = model_add_table(model, 0, first, 1, true);
    UNTIL(model_table(model, table)->tick > 1);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    kill(getpid(), SIGUSR1);
    UNTIL(model_table(model, table)->tick > 5);
    assert_int_equal(signals, 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(signals, 1);
}

/* ---- captures ---- */

static void a_capture_waits_for_who_takes_it(void **state)
{
    pdh_double.capture_samples = pdh_double.range_samples = 1000;
    model_add_capture(model, "a.blg", NULL);
    unsigned table = model_add_table(model, 0, both, 2, true);
    model_update(model);
    pass(0.2);
    assert_true(double_count(&pdh_double.collects) >= 64 &&
                double_count(&pdh_double.collects) <= 66);
    UNTIL(source_now(0).state == MODEL_COMPLETE);
    assert_int_equal(source_now(0).dropped, 0);
    assert_int_equal(source_now(0).tick, 1000);
    assert_true(source_now(0).capture);
    assert_string_equal(source_now(0).name, "a.blg");
    struct span span;
    for (uint64_t t = 1; t <= 1000; t++) {
        model_span(model_table(model, table)->rows[2].history, 1, t, t + 1, &span);
        assert_true(span.last == (float)t * 100 + 2.5F);
        assert_true(model_time(model, 0, t) - model_time(model, 0, 1) ==
                    ((int64_t)t - 1) * 10000000);
    }
    unsigned later = model_add_table(model, 0, first, 1, true);
    unsigned missing = model_add_table(model, 0, nothing, 1, true);
    UNTIL(model_table(model, later)->tick == 1000);
    UNTIL(source_now(0).state == MODEL_COMPLETE && model_table(model, missing)->columns[0].status);
    assert_int_equal((DWORD)model_table(model, missing)->columns[0].status, PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(source_now(0).status, 0);
    assert_int_equal(source_now(0).tick, 1000);
    assert_int_equal(model_table(model, table)->tick, 1000);
}

/* A capture can be closed at once even if its samples were not used. */
static void a_capture_that_is_not_taken_ends(void **state)
{
    pdh_double.capture_samples = pdh_double.range_samples = 1000000;
    model_add_capture(model, "a.blg", NULL);
    model_add_table(model, 0, both, 2, true);
    model_update(model);
    pass(0.1);
    double before = now_seconds();
    model_free(model);
    assert_true(now_seconds() - before < 0.5);
    model = NULL;
}

static void a_capture_with_other_counts_than_it_said(void **state)
{
    pdh_double.capture_samples = 6000;
    pdh_double.range_samples = 10;
    model_add_capture(model, "a.blg", NULL);
    unsigned table = model_add_table(model, 0, first, 1, true);
    UNTIL(source_now(0).state == MODEL_COMPLETE);
    struct span span;
    model_span(model_table(model, table)->rows[0].history, 0, 1, 6001, &span);
    assert_true(span.least == 100);
    for (uint64_t t = 0; t < 7000; t++)
        model_time(model, 0, t);
    assert_int_equal(model_table(model, table)->tick, 6000);
    assert_true(model_table(model, table)->forgotten > 0);
}

/* Both tables read the capture, and both get the messages about lost data. Each message is shown
 * once, also one that was known before. */
static void a_capture_that_lost_samples(void **state)
{
    pdh_double.capture_samples = pdh_double.range_samples = 3;
    pdh_double.unshown = "not shown: one\nnot shown: two";
    model_add_capture(model, "a.blg", NULL);
    model_add_loss(model, 0, "not shown: zero\nnot shown: one");
    assert_string_equal(source_now(0).loss, "not shown: zero\nnot shown: one");
    model_add_table(model, 0, both, 2, true);
    model_add_table(model, 0, first, 1, true);
    UNTIL(source_now(0).state == MODEL_COMPLETE);
    assert_string_equal(source_now(0).loss, "not shown: zero\nnot shown: one\nnot shown: two");
    assert_int_equal(source_now(0).status, 0);
}

/* Sets which samples the capture has, then changes the time of its file. */
static void write_capture(int file, unsigned first_sample, unsigned count)
{
    pthread_mutex_lock(&double_mutex);
    pdh_double.capture_first = first_sample;
    pdh_double.capture_samples = pdh_double.range_samples = count;
    pthread_mutex_unlock(&double_mutex);
    assert_int_equal(write(file, "x", 1), 1);
}

/* A capture that goes on keeps what was read. One that was replaced, or is circular, is read again,
 * also if it has as many samples as before, or fewer. */
static void a_capture_that_changes(void **state)
{
    static const unsigned written[][2] = {
        {0,  5},
        {0,  7},
        {3,  7},
        {20, 9},
        {40, 2}
    };
    char name[64];
    int file = memfd_create("capture", 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    write_capture(file, 0, 5);
    model_add_capture(model, name, NULL);
    unsigned table = model_add_table(model, 0, both, 2, true);
    unsigned asleep = model_add_table(model, 0, first, 1, true);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        unsigned from = written[i][0], count = written[i][1];
        struct span span;
        size_t capacity, rows = 0;
        if (i)
            write_capture(file, from, count);
        UNTIL(source_now(0).state == MODEL_COMPLETE && model_table(model, table)->row_count &&
              table_cell(model_table(model, table), 0, 0)->number == (from + count) * 100);
        assert_int_equal(model_table(model, table)->tick, count);
        assert_int_equal(source_now(0).tick, count);
        const struct history *const *all = model_histories(model, table, &capacity);
        for (size_t h = 0; h < capacity; h++)
            rows += all[h] != NULL;
        assert_int_equal(rows, 3);
        const struct history *history = model_table(model, table)->rows[0].history;
        for (uint64_t t = 1; t <= count; t++) {
            model_span(history, 0, t, t + 1, &span);
            assert_true(span.last == (float)(from + t) * 100);
            assert_true(model_time(model, 0, t) - model_time(model, 0, 1) ==
                        (int64_t)(t - 1) * 10000000);
        }
        model_rest(model, asleep, i % 2 == 0); /* while it rests, the capture changes */
    }
    model_rest(model, asleep, false);
    UNTIL(model_table(model, asleep)->row_count &&
          table_cell(model_table(model, asleep), 0, 0)->number == 4200);
    assert_int_equal(model_table(model, asleep)->tick, 2);
    model_free(model);
    model = NULL;
    close(file);
}

static void a_capture_of_many_samples(void **state)
{
    enum { SAMPLES = 200000 };
    pdh_double.capture_samples = pdh_double.range_samples = SAMPLES;
    model_add_capture(model, "a.blg", NULL);
    unsigned table = model_add_table(model, 0, first, 1, true);
    double limit = now_seconds() + 60;
    while (source_now(0).state != MODEL_COMPLETE && now_seconds() < limit)
        model_update(model);
    assert_int_equal(source_now(0).tick, SAMPLES);
    const struct history *history = model_table(model, table)->rows[0].history;
    struct span span;
    assert_true(history->step >= 3 && history->step <= 5);
    model_span(history, 0, 1, SAMPLES + 1, &span);
    assert_true(span.least <= history->step * 100.0F && span.most == SAMPLES * 100.0F);
    for (uint64_t t = 1; t <= SAMPLES; t += 777) {
        model_span(history, 0, t, t + 1, &span);
        assert_true(fabs((double)span.last / 100 - (double)t) <= history->step);
        assert_true(llabs(model_time(model, 0, t) - model_time(model, 0, 1) -
                          (int64_t)(t - 1) * 10000000) <= (int64_t)history->step * 10000000);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(texts_have_rows_and_columns),
        CASE(wanted_texts_follow_each_sample),
        CASE(why_a_table_has_no_rows),
        CASE(one_query_for_all_that_is_shown),
        CASE(the_tick_of_a_time),
        CASE(rows_are_found_by_name),
        CASE(workers_are_found_by_number),
        CASE(all_are_in_the_first_sample),
        CASE(a_model_that_was_never_updated),
        CASE(tables_come_and_go),
        CASE(tables_come_and_go_at_any_moment),
        CASE(a_column_with_fewer_instances),
        CASE(instances_with_equal_names),
        CASE(instances_are_born_and_die),
        CASE(a_type_without_a_formula_is_raw),
        CASE(a_text_has_no_number),
        CASE(equal_paths_share_a_counter),
        CASE(a_table_rests),
        CASE(a_missing_object_says_so),
        CASE(what_comes_later_is_found),
        CASE(a_machine_that_is_away_has_no_values),
        CASE(a_machine_that_is_away_is_not_silent),
        CASE(no_query_no_sample),
        CASE(a_source_without_tables),
        CASE(a_collection_that_hangs),
        CASE(an_array_that_hangs),
        CASE(a_counter_that_hangs_when_it_is_added),
        CASE(a_capture_that_hangs),
        CASE(samples_that_are_not_taken_are_counted),
        CASE(a_pause),
        CASE(a_sample_that_waited_for_the_end_of_a_pause),
        CASE(another_interval),
        CASE(changes_are_not_samples),
        CASE(signals_are_not_for_samplers),
        CASE(a_capture_waits_for_who_takes_it),
        CASE(a_capture_that_is_not_taken_ends),
        CASE(a_capture_with_other_counts_than_it_said),
        CASE(a_capture_that_lost_samples),
        CASE(a_capture_that_changes),
        CASE(a_capture_of_many_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
