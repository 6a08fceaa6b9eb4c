/* SPDX-License-Identifier: MIT */
/*
 * The model with the real PDH on a simulated performance key (tests/pdh/fake.h), whose counters
 * grow evenly with its clock: values and statuses equal those of a query that the test makes
 * itself; each process keeps its identity (a number that stays the same while the process lives).
 */
#include "model.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <cmocka.h>

#define FAKE_QUERY even_query
#include "../pdh/fake.h"
#include "bytes.h"

static pthread_mutex_t machine = PTHREAD_MUTEX_INITIALIZER;
static struct model *model;

/* Every query of data advances the clocks by a tenth of a second. */
static LSTATUS even_query(const char *path, const char *name, bool wide, DWORD *type, void *data,
                          DWORD *size)
{
    pthread_mutex_lock(&machine);
    if (strncmp(name, "Counter", 7) != 0 && strncmp(name, "Explain", 7) != 0) {
        fake_pass(100);
        LONGLONG tenths = fake_ticks / 1000000;
        fake_reads = tenths * 25;
        fake_length = 7;
        fake_busy = 3;
        fake_base = 4;
        for (DWORD i = 0; i < fake_process_count; i++) {
            fake_processes[i].faults = (DWORD)tenths * (i + 1);
            fake_processes[i].cpu = tenths * 100000 * (i + 1);
        }
    }
    LSTATUS status = fake_query(path, name, wide, type, data, size);
    pthread_mutex_unlock(&machine);
    return status;
}

static int begin(void **state)
{
    fake_reset(state);
    model = model_new(0.02);
    return model == NULL || model_add_machine(model, NULL) != 0;
}

static int end(void **state)
{
    model_free(model);
    return 0;
}

static const struct table *after(unsigned table, uint64_t tick)
{
    for (int i = 0; i < 5000; i++) {
        model_update(model);
        if (model_table(model, table)->tick > tick)
            return model_table(model, table);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    fail_msg("no sample");
    return NULL;
}

/* ---- values ---- */

static const char *const process_paths[] = {
    "\\Process(*)\\Page Faults/sec", "\\Process(*)\\% Processor Time", "\\Process(*)\\ID Process"};
static const char *const system_paths[] = {
    "\\System\\File Read Operations/sec", "\\System\\Processor Queue Length",
    "\\System\\% Registry Quota In Use", "\\System\\Nonsense"};

static void assert_equal_to_pdh(const struct table *table, PDH_HCOUNTER counter, size_t column)
{
    DWORD size = 0, count = 0;
    const DWORD format = PDH_FMT_DOUBLE | PDH_FMT_NOCAP100 | PDH_FMT_NOSCALE;
    PdhGetFormattedCounterArrayA(counter, format, &size, &count, NULL);
    PDH_FMT_COUNTERVALUE_ITEM_A *items = malloc(size + 1);
    assert_int_equal(PdhGetFormattedCounterArrayA(counter, format, &size, &count, items), 0);
    assert_int_equal(table->row_count, count);
    for (size_t r = 0; r < count; r++) {
        const struct cell *cell = table_cell(table, r, column);
        assert_string_equal(table->rows[r].name, items[r].szName);
        assert_int_equal(cell->status, items[r].FmtValue.CStatus);
        bool valid = items[r].FmtValue.CStatus <= PDH_CSTATUS_NEW_DATA;
        double wanted = items[r].FmtValue.doubleValue;
        if (valid ? fabs(cell->number - wanted) > 1e-6 * (1 + fabs(wanted)) : !isnan(cell->number))
            fail_msg("%s: %g instead of %g", items[r].szName, cell->number, wanted);
    }
    free(items);
    assert_int_equal(table->columns[column].status, 0);
}

static void assert_table(const char *const *paths, size_t count)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counters[4] = {0};
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    for (size_t c = 0; c < count; c++)
        PdhAddCounterA(query, paths[c], 0, &counters[c]);
    model_set_seconds(model, 0.5); /* the second sample comes after the first has been compared */
    unsigned id = model_add_table(model, 0, paths, count, true);
    const struct table *table = after(id, 0);
    assert_int_equal(PdhCollectQueryData(query), 0);
    for (size_t c = 0; table->tick == 1 && c < count; c++)
        if (counters[c])
            assert_equal_to_pdh(table, counters[c], c);
    table = after(id, 1);
    assert_int_equal(PdhCollectQueryData(query), 0);
    assert_true(table->tick >= 2);
    for (size_t c = 0; c < count; c++) {
        DWORD size = 4096;
        PDH_COUNTER_INFO_A *info = calloc(1, size);
        if (!counters[c]) {
            assert_int_equal((DWORD)table->columns[c].status, PDH_CSTATUS_NO_COUNTER);
            assert_int_equal(table_cell(table, 0, c)->status, PDH_CSTATUS_NO_COUNTER);
            assert_true(isnan(table_cell(table, 0, c)->number));
            free(info);
            continue;
        }
        assert_equal_to_pdh(table, counters[c], c);
        assert_int_equal(PdhGetCounterInfoA(counters[c], TRUE, &size, info), 0);
        assert_int_equal(table->columns[c].type, info->dwType);
        assert_int_equal(table->columns[c].default_scale, info->lDefaultScale);
        const char *explain = table->columns[c].explain;
        assert_string_equal(explain ? explain : "", info->szExplainText ? info->szExplainText : "");
        free(info);
    }
    assert_int_equal(PdhCloseQuery(query), 0);
}

static void processes_as_pdh_has_them(void **state)
{
    assert_table(process_paths, 3);
}

static void a_single_object_as_pdh_has_it(void **state)
{
    assert_table(system_paths, 4);
    size_t count;
    unsigned id = model_add_table(model, 0, system_paths, 1, true);
    const struct table *table = after(id, after(id, 0)->tick);
    assert_int_equal(table->row_count, 1);
    assert_string_equal(table->rows[0].name, "");
    assert_true(fabs(table_cell(table, 0, 0)->number - 250) < 1e-6);
    assert_int_equal(table->columns[0].default_scale, -3);
    assert_non_null(model_histories(model, id, &count));
}

/* An object that disappears and comes back leaves a gap. */
static void an_object_that_is_gone_for_a_while(void **state)
{
    unsigned id = model_add_table(model, 0, process_paths, 3, true);
    const struct table *table = after(id, 2);
    uint64_t twin = table->rows[1].identity;
    pthread_mutex_lock(&machine);
    fake_gone = true;
    pthread_mutex_unlock(&machine);
    struct model_source source;
    for (int i = 0; i < 50; i++) {
        model_update(model);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    model_source(model, 0, &source);
    uint64_t gone = source.tick;
    table = model_table(model, id);
    assert_true(table->tick < gone || table->row_count == 0 ||
                isnan(table_cell(table, 0, 0)->number));
    pthread_mutex_lock(&machine);
    fake_gone = false;
    pthread_mutex_unlock(&machine);
    for (int i = 0; i < 500 && (table = after(id, gone), table_row(table, twin) == (size_t)-1); i++)
        gone = table->tick;
    size_t row = table_row(table, twin);
    assert_true(row != (size_t)-1);
    struct span span;
    model_span(table->rows[row].history, 2, source.tick - 3, source.tick, &span);
    assert_true(isnan(span.average));
    model_span(table->rows[row].history, 2, table->tick, table->tick + 1, &span);
    assert_true(span.last == 10);
}

/* ---- identity ---- */

static void set_processes(DWORD count, const struct fake_process *processes)
{
    pthread_mutex_lock(&machine);
    memcpy(fake_processes, processes, count * sizeof *processes);
    fake_process_count = count;
    pthread_mutex_unlock(&machine);
}

static uint64_t identity_of_id(const struct table *table, double id)
{
    for (size_t i = 0; i < table->row_count; i++)
        if (table_cell(table, i, 0)->number == id)
            return table->rows[i].identity;
    fail_msg("no process %g", id);
    return 0;
}

static void processes_keep_their_identity(void **state)
{
    static const char *const paths[] = {"\\Process(*)\\ID Process"};
    static const struct fake_process twins[] = {
        {"twin", 10, 2000, 0, 0},
        {"Twin", 11, 3000, 0, 0},
        {"twin", 12, 3000, 0, 0}
    };
    static const struct fake_process later[] = {
        {"twin", 12, 3000, 0, 0},
        {"Twin", 11, 3000, 0, 0},
        {"twin", 10, 9000, 0, 0},
    };
    set_processes(3, twins);
    unsigned id = model_add_table(model, 0, paths, 1, true);
    const struct table *table = after(id, 2);
    /* PDH adds no numbers such as "#1" to equal names in arrays */
    assert_string_equal(table->rows[2].name, "twin");
    uint64_t ten = identity_of_id(table, 10), eleven = identity_of_id(table, 11),
             twelve = identity_of_id(table, 12);
    assert_true(ten != eleven && eleven != twelve && ten != twelve);
    set_processes(2, &twins[1]);
    table = after(id, table->tick + 1);
    assert_int_equal(table->row_count, 2);
    assert_string_equal(table->rows[0].name, "Twin");
    assert_true(identity_of_id(table, 11) == eleven && identity_of_id(table, 12) == twelve);
    assert_true(table_row(table, ten) == (size_t)-1);
    const struct history *history = table->rows[table_row(table, twelve)].history;
    assert_true(history->born <= 2 && history->seen == table->tick);
    /* another process with the same id and name, which shows in its start time */
    set_processes(3, later);
    table = after(id, table->tick + 1);
    assert_true(identity_of_id(table, 10) != ten);
    assert_true(identity_of_id(table, 11) == eleven && identity_of_id(table, 12) == twelve);
}

/* The identity of a row does not depend on the columns: the first one may be a missing counter
 * whose name has a bracket, another counter, or ID Process. */
static void identity_does_not_depend_on_the_columns(void **state)
{
    static const char *const paths[] = {"\\Process(*)\\Nonsense (bytes)",
                                        "\\Process(*)\\ID Process"};
    static const char *const one[] = {"\\Process(twin*)\\ID Process"};
    unsigned all = model_add_table(model, 0, paths, 2, true);
    unsigned bare = model_add_table(model, 0, process_paths, 3, true);
    unsigned some = model_add_table(model, 0, one, 1, true);
    after(all, 2);
    const struct table *a = after(bare, 2), *b = model_table(model, all);
    const struct table *c = after(some, 2);
    b = model_table(model, all), a = model_table(model, bare);
    assert_int_equal(a->row_count, 3);
    assert_int_equal(c->row_count, 2);
    for (size_t r = 0; r < 3; r++)
        assert_true(a->rows[r].identity == b->rows[r].identity);
    for (size_t r = 0; r < 2; r++)
        assert_true(table_row(a, c->rows[r].identity) == r + 1);
}

/* The object does not exist yet when the table is added. When it appears, its rows have identities
 * as usual. */
static void an_object_that_appears_later(void **state)
{
    pthread_mutex_lock(&machine);
    fake_gone = true;
    pthread_mutex_unlock(&machine);
    unsigned id = model_add_table(model, 0, process_paths, 3, true);
    const struct table *table;
    for (int i = 0; i < 500 && !model_table(model, id)->columns[0].status; i++) {
        model_update(model);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    assert_int_equal((DWORD)model_table(model, id)->columns[2].status, PDH_CSTATUS_NO_OBJECT);
    pthread_mutex_lock(&machine);
    fake_gone = false;
    pthread_mutex_unlock(&machine);
    for (int i = 0; i < 2000 && model_table(model, id)->row_count == 0; i++) {
        model_update(model);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    table = after(id, model_table(model, id)->tick + 1);
    assert_int_equal(table->row_count, 3);
    assert_int_equal(table->columns[1].status, 0);
    assert_int_equal(table->columns[1].type, PERF_100NSEC_TIMER);
    assert_true(fabs(table_cell(table, 0, 0)->number - 10) < 1e-6);
    uint64_t twin = table->rows[2].identity;
    set_processes(1, &(const struct fake_process){"Twin", 11, 3000, 0, 0});
    table = after(id, table->tick + 1);
    assert_true(table->rows[0].identity == twin);
}

/* ---- memory ---- */

/* What a list of thousands of processes keeps between samples, with the answer, PDH's two samples
 * and the model's own. */
static void a_process_takes_little_memory(void **state)
{
    enum { PROCESSES = 4000, SAMPLES = 4, MOST = 600, TRIES = 100 };
    static struct fake_process processes[PROCESSES];
    static char names[PROCESSES][16];
    size_t before = bytes_used();
    for (unsigned i = 0; i < PROCESSES; i++) {
        snprintf(names[i], sizeof names[i], "process-%u", i);
        processes[i] = (struct fake_process){names[i], i + 1, 1000, 0, 0};
    }
    set_processes(PROCESSES, processes);
    model_set_seconds(model, 0.3);
    unsigned id = model_add_table(model, 0, process_paths, 3, false);
    const struct table *table = after(id, SAMPLES);
    assert_int_equal(table->row_count, PROCESSES);
    model_pause(model, true);
    size_t each = (bytes_used() - before) / PROCESSES;
    for (int i = 0; each > MOST && i < TRIES; i++) { /* a sample may be in progress */
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        each = (bytes_used() - before) / PROCESSES;
    }
    if (before && each > MOST)
        fail_msg("%zu bytes a process, at most %d", each, MOST);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        /* must be the first test: PDH would remember that the object exists */
        CASE(an_object_that_appears_later),  CASE(processes_as_pdh_has_them),
        CASE(a_single_object_as_pdh_has_it), CASE(an_object_that_is_gone_for_a_while),
        CASE(processes_keep_their_identity), CASE(identity_does_not_depend_on_the_columns),
        CASE(a_process_takes_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
