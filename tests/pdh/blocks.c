/* SPDX-License-Identifier: MIT */
/*
 * Captures that contain whole blocks (answers of the performance key): values are found by the
 * names that the capture contains, and processes are distinguished as in live data. The test
 * replaces the functions of the module log by its own, which return one column with blocks made by
 * fake.h.
 */
#include "pdh/log/capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "fake.h"

#define STATUS(name) ((PDH_STATUS)PDH_##name)

/* ---- the capture ---- */

static const struct log_column column = {.kind = LOG_BLOCK,
                                         .path = "\\\\there\\Process(*)\\*",
                                         .machine = "\\\\there",
                                         .object = "Process",
                                         .instance = "*",
                                         .counter = "*"};
static unsigned char block[64 << 10];
static DWORD block_size;
static struct log_value value;
static struct log_sample sample;
static unsigned opened, closed, seen;
static bool from_start;

PDH_STATUS log_open(const char *const *paths, size_t count, struct log **ret,
                    struct buffer *problem)
{
    opened++;
    from_start = false;
    *ret = (struct log *)(void *)&opened;
    return 0;
}

void log_close(struct log *log)
{
    closed += log != NULL;
}

const struct log_facts *log_facts(struct log *log)
{
    static const struct log_facts facts = {.kind = LOG_BINARY, .machine = "\\\\there"};
    return &facts;
}

void log_know_columns(struct log *log)
{
}

bool log_merge(struct log *log, struct buffer *problem)
{
    (void)log, (void)problem;
    return true;
}

void log_want_early(struct log *log, bool wanted)
{
}

const char *log_problem(const struct log *log)
{
    return NULL;
}

size_t log_columns(const struct log *log)
{
    return 1;
}

const struct log_column *log_column(const struct log *log, size_t number)
{
    return &column;
}

const char *log_name(const struct log *log, const char *machine, DWORD index)
{
    static const struct {
        DWORD index;
        const char *name;
    } names[] = {
        {230, "Process"         },
        {6,   "% Processor Time"},
        {28,  "Page Faults/sec" },
        {684, "Elapsed Time"    },
        {784, "ID Process"      },
    };
    assert_string_equal(machine, "\\\\there");
    for (size_t i = 0; i < COUNT(names); i++)
        if (names[i].index == index)
            return names[i].name;
    return NULL;
}

void log_want(struct log *log, size_t number, bool wanted)
{
}

/* Returns the next sample. A scan that began at the first sample ends after 20 samples; a query
 * that collects gets samples without end. */
PDH_STATUS log_next(struct log *log, const struct log_sample **ret)
{
    if (from_start && ++seen > 20)
        return STATUS(NO_MORE_DATA);
    block_size = sizeof block;
    fake_pass(1000);
    assert_int_equal(fake_block("230", block, &block_size), 0);
    value = (struct log_value){.kind = LOG_BLOCK, .block = block, .size = block_size};
    if (fake_gone)
        value.size = 20;
    sample = (struct log_sample){.time = fake_wall, .values = &value};
    *ret = &sample;
    return 0;
}

PDH_STATUS log_rewind(struct log *log)
{
    from_start = true;
    seen = 0;
    return 0;
}

struct log_losses *log_losses(struct log *log)
{
    static struct log_losses losses;
    return &losses;
}

PDH_STATUS log_set_range(struct log *log, LONGLONG first, LONGLONG last)
{
    return 0;
}

PDH_STATUS log_extent(struct log *log, struct log_extent *ret)
{
    return STATUS(NO_DATA);
}

PDH_STATUS log_create(const char *path, enum log_create_mode mode, const struct log_header *header,
                      struct log_writer **ret, struct buffer *problem)
{
    return STATUS(NOT_IMPLEMENTED);
}

PDH_STATUS log_set_header(struct log_writer *writer, const char *path,
                          const struct log_header *header, struct buffer *problem)
{
    return STATUS(NOT_IMPLEMENTED);
}

PDH_STATUS log_write(struct log_writer *writer, LONGLONG time, const double *numbers,
                     const char *const *texts, const char *caption)
{
    return STATUS(NOT_IMPLEMENTED);
}

PDH_STATUS log_write_columns(struct log_writer *writer, LONGLONG time,
                             const struct log_column *columns, size_t count)
{
    return 0;
}

PDH_STATUS log_write_values(struct log_writer *writer, LONGLONG time,
                            const struct log_value *values)
{
    return 0;
}

PDH_STATUS log_flush(struct log_writer *writer)
{
    return 0;
}

uint64_t log_written_bytes(const struct log_writer *writer)
{
    return 0;
}

PDH_STATUS log_write_close(struct log_writer *writer)
{
    return 0;
}

bool log_is_zst(const char *path)
{
    return false;
}

PDH_STATUS log_compress(const char *from, const char *to, struct buffer *problem)
{
    return STATUS(NOT_IMPLEMENTED);
}

const char *zone_local(LONGLONG utc, char storage[static ZONE_TEXT_SIZE], LONG *ret_bias)
{
    return "UTC";
}

/* ---- queries on the capture ---- */

static const struct pdh_from from = {.file = "any"};
static PDH_HQUERY query;

static int open_query(void **state)
{
    fake_reset(state);
    return query_open(from, 0, &query);
}

static int close_query(void **state)
{
    int status = query_close(query);
    return status || opened != closed;
}

static PDH_HCOUNTER added(const char *path)
{
    PDH_HCOUNTER counter = NULL;
    assert_int_equal(counter_add(query, path, false, 0, &counter), 0);
    return counter;
}

static void no_value(PDH_HCOUNTER counter, DWORD cstatus)
{
    PDH_FMT_COUNTERVALUE cooked;
    assert_int_equal(counter_value(counter, PDH_FMT_DOUBLE, NULL, &cooked), STATUS(INVALID_DATA));
    assert_int_equal(cooked.CStatus, cstatus);
}

static double value_of(PDH_HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE cooked;
    assert_int_equal(counter_value(counter, PDH_FMT_DOUBLE, NULL, &cooked), 0);
    return cooked.doubleValue;
}

static void values_are_found_by_their_names(void **state)
{
    PDH_HCOUNTER id = added("\\Process(twin#1)\\ID Process");
    PDH_HCOUNTER faults = added("\\\\THERE\\process(init)\\page faults/sec");
    PDH_HCOUNTER none = added("\\Process(nobody)\\ID Process");
    PDH_HCOUNTER second = added("\\Process(absent#1)\\ID Process"); /* no name of either reading */
    PDH_HCOUNTER unknown = added("\\Process(init)\\Nonsense");
    assert_int_equal(query_collect(query, NULL), 0);
    assert_true(value_of(id) == 11);
    no_value(faults, PDH_CSTATUS_INVALID_DATA);
    no_value(none, PDH_CSTATUS_NO_INSTANCE);
    no_value(second, PDH_CSTATUS_NO_INSTANCE);
    no_value(unknown, PDH_CSTATUS_NO_COUNTER);
    fake_processes[0].faults = 30;
    assert_int_equal(query_collect(query, NULL), 0);
    assert_true(value_of(faults) == 30);
}

/* In captures, too, a rate must have no value if the name now belongs to another process, which its
 * process number or start time shows. */
static void another_process_of_that_name_has_no_common_value(void **state)
{
    PDH_HCOUNTER faults = added("\\Process(init)\\Page Faults/sec");
    assert_int_equal(query_collect(query, NULL), 0);
    fake_processes[0].id = 77;
    fake_processes[0].faults = 500;
    assert_int_equal(query_collect(query, NULL), 0);
    no_value(faults, PDH_CSTATUS_INVALID_DATA);
}

static void a_damaged_block_has_no_values(void **state)
{
    PDH_HCOUNTER id = added("\\Process(init)\\ID Process");
    fake_gone = true;
    assert_int_equal(query_collect(query, NULL), 0);
    no_value(id, PDH_CSTATUS_INVALID_DATA);
    fake_gone = false;
    assert_int_equal(query_collect(query, NULL), 0);
    assert_true(value_of(id) == 1);
}

static void wildcards_meet_what_the_block_has(void **state)
{
    PDH_HCOUNTER some = added("\\Process(t*)\\ID Process");
    char storage[1024];
    DWORD size = sizeof storage, count = 0;
    assert_int_equal(query_collect(query, NULL), 0);
    assert_int_equal(counter_value_array(some, PDH_FMT_LONG, false, &size, &count, storage), 0);
    const PDH_FMT_COUNTERVALUE_ITEM_A *items = (PDH_FMT_COUNTERVALUE_ITEM_A *)storage;
    assert_int_equal(count, 2);
    assert_string_equal(items[1].szName, "Twin");
    assert_int_equal(items[1].FmtValue.longValue, 11);
}

static void lists_look_into_the_blocks(void **state)
{
    OBJECT_INFO_AUTO *process = NULL;
    SOURCE_AUTO *source = NULL;
    assert_int_equal(source_open(from, SOURCE_NAMES, &source), 0);
    assert_int_equal(source->ops->object(source, NULL, "process", false, INFO_STABLE, &process), 0);
    assert_false(process->single);
    assert_int_equal(process->counter_count, 4);
    assert_int_equal(process->instance_count, 3);
    assert_string_equal(process->instances[2].name, "Twin");
    assert_int_equal(process->instances[2].number, 1);
    assert_non_null(source->ops->counter(process, "Elapsed Time", false));
}

#define QUERY_TEST(name) cmocka_unit_test_setup_teardown(name, open_query, close_query)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUERY_TEST(values_are_found_by_their_names),
        QUERY_TEST(another_process_of_that_name_has_no_common_value),
        QUERY_TEST(a_damaged_block_has_no_values),
        QUERY_TEST(wildcards_meet_what_the_block_has),
        QUERY_TEST(lists_look_into_the_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
