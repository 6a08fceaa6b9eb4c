/* SPDX-License-Identifier: MIT */
/*
 * Queries on a simulated machine (fake.h): handles, the order in which arguments are checked
 * (docs/windows/pdh.md#f9), one query of the performance key for each collection, values, and pairs
 * of samples from which no value may be computed.
 */
#include "pdh/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>

#include "../temp.h"
#include "fake.h"

#include <sys/stat.h>

#define STATUS(name) ((PDH_STATUS)PDH_##name)
static const struct pdh_from now;
static PDH_HQUERY query;

/* A vendor folder with lists of names, from which PDH takes the names of local objects: they are
 * those of fake.h. */
static char vendor[64];

static int make_names(void **state)
{
    char folder[sizeof vendor + 16];
    BUFFER_AUTO text = {0};
    temp_make(vendor);
    for (const char *at = fake_titles; *at; at += strlen(at) + 1) {
        const char *name = at + strlen(at) + 1;
        buffer_printf(&text, "%s\t%s\n", at, name);
        at = name;
    }
    snprintf(folder, sizeof folder, "%s/data", vendor);
    assert_int_equal(mkdir(folder, 0755), 0);
    strcat(folder, "/names");
    assert_int_equal(mkdir(folder, 0755), 0);
    temp_write(folder, "009.names", text.data);
    return setenv("OPENPERFLIB_VENDOR", vendor, 1);
}

static int remove_names(void **state)
{
    temp_remove(vendor);
    return 0;
}

static int open_query(void **state)
{
    fake_reset(state);
    return query_open(now, 7, &query);
}

static int close_query(void **state)
{
    return query_close(query);
}

static PDH_HCOUNTER added(const char *path)
{
    PDH_HCOUNTER counter = NULL;
    assert_int_equal(counter_add(query, path, false, 0, &counter), 0);
    return counter;
}

static void collect(LONGLONG milliseconds)
{
    fake_pass(milliseconds);
    assert_int_equal(query_collect(query, NULL), 0);
}

static double value_of(PDH_HCOUNTER counter, DWORD format)
{
    PDH_FMT_COUNTERVALUE value;
    assert_int_equal(counter_value(counter, PDH_FMT_DOUBLE | format, NULL, &value), 0);
    return value.doubleValue;
}

static void no_value(PDH_HCOUNTER counter, DWORD cstatus)
{
    PDH_FMT_COUNTERVALUE value;
    assert_int_equal(counter_value(counter, PDH_FMT_DOUBLE, NULL, &value), STATUS(INVALID_DATA));
    assert_int_equal(value.CStatus, cstatus);
}

/* ---- handles and arguments ---- */

static void strange_handles_are_refused(void **state)
{
    PDH_HCOUNTER counter = added("\\System\\Processor Queue Length");
    PDH_HQUERY strange[] = {NULL, &query, counter, (PDH_HQUERY)-1, (PDH_HQUERY)0x7fff12345678};
    PDH_HCOUNTER out;
    LONGLONG base;
    for (size_t i = 0; i < COUNT(strange); i++) {
        assert_int_equal(query_close(strange[i]), STATUS(INVALID_HANDLE));
        assert_int_equal(query_collect(strange[i], NULL), STATUS(INVALID_HANDLE));
        assert_int_equal(query_collect_each(strange[i], 1, NULL), STATUS(INVALID_HANDLE));
        assert_int_equal(counter_add(strange[i], "\\System\\x", false, 0, &out),
                         STATUS(INVALID_HANDLE));
        assert_false(query_is_real_time(strange[i]));
    }
    assert_int_equal(counter_time_base(query, &base), STATUS(INVALID_HANDLE));
    assert_int_equal(counter_remove(query), STATUS(INVALID_HANDLE));
    assert_int_equal(counter_remove(counter), 0);
    assert_int_equal(counter_remove(counter), STATUS(INVALID_HANDLE));
    assert_true(query_is_real_time(query));
}

static void a_closed_query_takes_its_counters_along(void **state)
{
    PDH_HQUERY other;
    PDH_HCOUNTER counter;
    LONGLONG base;
    assert_int_equal(query_open(now, 0, &other), 0);
    assert_int_equal(counter_add(other, "\\System\\44", true, 0, &counter), 0);
    assert_int_equal(query_close(other), 0);
    assert_int_equal(query_close(other), STATUS(INVALID_HANDLE));
    assert_int_equal(counter_time_base(counter, &base), STATUS(INVALID_HANDLE));
}

static void arguments_are_checked_first(void **state)
{
    PDH_HCOUNTER counter = added("\\System\\Processor Queue Length"), out;
    PDH_FMT_COUNTERVALUE value;
    PDH_RAW_COUNTER raw;
    LONGLONG base;
    const char *path = "\\System\\Processor Queue Length";
    assert_int_equal(query_open(now, 0, NULL), STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_add(NULL, path, false, 0, NULL), STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_add(NULL, path, false, 0, &out), STATUS(INVALID_HANDLE));
    assert_int_equal(counter_add(query, NULL, false, 0, &out), STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_add(query, path, false, 0, NULL), STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_value(NULL, PDH_FMT_LARGE, NULL, NULL), STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_value(NULL, PDH_FMT_LARGE, NULL, &value), STATUS(INVALID_HANDLE));
    assert_int_equal(counter_value(counter, PDH_FMT_LARGE, NULL, NULL), STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_value(counter, PDH_FMT_LARGE | PDH_FMT_LONG, NULL, &value),
                     STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_raw(NULL, NULL, &raw), STATUS(INVALID_HANDLE));
    assert_int_equal(counter_raw(counter, NULL, NULL), STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_scale(NULL, 8), STATUS(INVALID_HANDLE));
    assert_int_equal(counter_scale(counter, 8), STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_scale(counter, -8), STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_scale(counter, 7), 0);
    assert_int_equal(counter_scale(counter, -7), 0);
    assert_int_equal(counter_time_base(NULL, NULL), STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_time_base(NULL, &base), STATUS(INVALID_HANDLE));
}

static void what_is_not_there_cannot_be_added(void **state)
{
    static const struct {
        const char *path;
        DWORD status;
    } cases[] = {
        {"\\System\\System Down Time",          PDH_CSTATUS_NO_COUNTER     },
        {"\\Systems\\Processor Queue Length",   PDH_CSTATUS_NO_OBJECT      },
        {"System Up Time",                      PDH_CSTATUS_BAD_COUNTERNAME},
        {"\\System\\% Registry Quota In Use x", PDH_CSTATUS_NO_COUNTER     },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        PDH_HCOUNTER counter = &counter;
        assert_int_equal(counter_add(query, cases[i].path, false, 0, &counter),
                         (PDH_STATUS)cases[i].status);
        assert_null(counter);
    }
    assert_int_equal(query_collect(query, NULL), STATUS(NO_DATA));
}

/* A counter of a machine that cannot be reached stays in the query, because the machine may be
 * reached later. */
static void a_counter_of_an_absent_machine_is_kept(void **state)
{
    PDH_HCOUNTER counter = NULL;
    PDH_RAW_COUNTER raw;
    assert_int_equal(counter_add(query, "\\\\no-such-machine\\System\\x", false, 0, &counter),
                     (PDH_STATUS)PDH_CSTATUS_NO_MACHINE);
    assert_non_null(counter);
    assert_int_equal(query_collect(query, NULL), STATUS(NO_DATA));
    assert_int_equal(counter_raw(counter, NULL, &raw), 0);
    assert_int_equal(raw.CStatus, PDH_CSTATUS_NO_MACHINE);
}

/* When its service is registered again, an object gets another number: PDH must find its counters
 * again. */
static void an_object_comes_back_under_another_number(void **state)
{
    PDH_HCOUNTER length = added("\\System\\Processor Queue Length");
    collect(0);
    fake_number = 2222;
    assert_int_equal(query_collect(query, NULL), STATUS(NO_DATA));
    no_value(length, PDH_CSTATUS_NO_OBJECT);
    fake_length = 4;
    LONGLONG end = clock_ticks() + 10 * CLOCK_TICKS_PER_SECOND;
    while (query_collect(query, NULL) != 0 && clock_ticks() < end)
        ;
    assert_true(value_of(length, 0) == 4);
    assert_string_equal(fake_question, "2222");
}

/* A counter disappears from its object and comes back. Meanwhile it has no value, but the counter
 * that follows it in the object keeps its value. */
static void a_counter_moves_in_its_object(void **state)
{
    PDH_HCOUNTER reads = added("\\System\\File Read Operations/sec");
    PDH_HCOUNTER length = added("\\System\\Processor Queue Length");
    fake_length = 4;
    collect(0);
    fake_fewer = true;
    collect(1000);
    assert_true(value_of(length, 0) == 4);
    no_value(reads, PDH_CSTATUS_NO_COUNTER);
    fake_fewer = false;
    fake_length = 5;
    collect(1000);
    assert_true(value_of(length, 0) == 5);
}

/* ---- collecting ---- */

static void a_collection_asks_once_for_what_is_needed(void **state)
{
    added("\\System\\Processor Queue Length");
    added("\\Process(init)\\ID Process");
    PDH_HCOUNTER last = added("\\Process(twin)\\ID Process");
    fake_questions = 0;
    collect(1000);
    assert_int_equal(fake_questions, 1);
    assert_string_equal(fake_question, "2 230");
    assert_string_equal(fake_wanted, "0:784 0:684 0:804 2:44 230:784 ");
    assert_int_equal(wanted_here.count, 0);
    assert_int_equal(counter_remove(last), 0);
    added("\\System\\File Read Operations/sec");
    collect(1000);
    assert_string_equal(fake_question, "2 230");
    assert_string_equal(fake_wanted, "0:784 0:684 0:804 2:44 230:784 2:10 ");
}

static void values_are_cooked_from_two_samples(void **state)
{
    PDH_HCOUNTER reads = added("\\System\\File Read Operations/sec");
    PDH_HCOUNTER length = added("\\System\\Processor Queue Length");
    PDH_HCOUNTER quota = added("\\System\\% Registry Quota In Use");
    fake_length = 5;
    fake_busy = 1;
    fake_base = 4;
    /* the first collection has no sample before it (docs/windows/pdh.md#f9) */
    assert_true(value_of(length, 0) == 0);
    collect(0);
    no_value(reads, PDH_CSTATUS_INVALID_DATA);
    assert_true(value_of(length, 0) == 5);
    assert_true(value_of(quota, 0) == 25);
    fake_reads += 100;
    collect(500);
    assert_true(value_of(reads, 0) == 200);
}

static void values_are_scaled(void **state)
{
    PDH_HCOUNTER length = added("\\System\\Processor Queue Length");
    PDH_FMT_COUNTERVALUE value;
    fake_length = 1234;
    collect(0);
    assert_int_equal(counter_scale(length, 2), 0);
    assert_true(value_of(length, 0) == 123400);
    assert_true(value_of(length, PDH_FMT_NOSCALE) == 1234);
    assert_true(value_of(length, PDH_FMT_1000) == 123400000);
    assert_int_equal(counter_scale(length, -2), 0);
    assert_true(value_of(length, 0) == 12.34);
    assert_int_equal(counter_value(length, PDH_FMT_LARGE, NULL, &value), 0);
    assert_int_equal(value.largeValue, 12);
    assert_int_equal(counter_scale(length, 7), 0);
    assert_int_equal(counter_value(length, PDH_FMT_LONG, NULL, &value), 0);
    assert_int_equal(value.longValue, INT32_MAX);
}

static void an_absent_instance_may_come(void **state)
{
    PDH_HCOUNTER counter = added("\\Process(later)\\% Processor Time");
    PDH_RAW_COUNTER raw;
    assert_int_equal(query_collect(query, NULL), STATUS(NO_DATA));
    assert_int_equal(counter_raw(counter, NULL, &raw), 0);
    assert_int_equal(raw.CStatus, PDH_CSTATUS_NO_INSTANCE);
    no_value(counter, PDH_CSTATUS_NO_INSTANCE);
    fake_processes[fake_process_count++] = (struct fake_process){"Later", 99, 5, 0, 0};
    collect(1000);
    no_value(counter, PDH_CSTATUS_INVALID_DATA);
    fake_processes[3].cpu = 5000000;
    collect(1000);
    assert_true(value_of(counter, 0) == 50);
}

static void twins_have_numbers(void **state)
{
    PDH_HCOUNTER first = added("\\Process(twin)\\ID Process");
    PDH_HCOUNTER zeroth = added("\\Process(TWIN#0)\\ID Process");
    PDH_HCOUNTER second = added("\\Process(twin#1)\\ID Process");
    PDH_HCOUNTER third = added("\\Process(twin#2)\\ID Process");
    collect(0);
    assert_true(value_of(first, 0) == 10);
    assert_true(value_of(zeroth, 0) == 10);
    assert_true(value_of(second, 0) == 11);
    no_value(third, PDH_CSTATUS_NO_INSTANCE);
}

/* Many instances of an object may have the same name: numbering them must be quick. */
static void equal_names_are_numbered_quickly(void **state)
{
    enum { TWINS = 100000 };
    struct item_set set = {0};
    for (uint32_t i = 0; i < TWINS; i++) {
        struct instance_key key = item_key("twin", 0);
        key.number = item_set_number(&set, key);
        assert_int_equal(key.number, i);
        assert_true(item_add(&set, &key));
    }
    assert_int_equal(item_set_number(&set, item_key("Twin", 0)), TWINS);
    assert_int_equal(item_set_number(&set, item_key("other", 0)), 0);
    item_set_done(&set);
}

static void names_may_hold_what_paths_are_made_of(void **state)
{
    fake_processes[0].name = "a/b(c)#3";
    PDH_HCOUNTER counter = added("\\Process(a/b(c)#3)\\ID Process");
    collect(0);
    assert_true(value_of(counter, 0) == 1);
}

/* ---- pairs of samples without a value ---- */

/* A rate has no value if the name now belongs to another process, which its process number or start
 * time shows. */
static void another_process_of_that_name_has_no_common_value(void **state)
{
    PDH_HCOUNTER faults = added("\\Process(init)\\Page Faults/sec");
    PDH_HCOUNTER id = added("\\Process(init)\\ID Process");
    collect(0);
    fake_processes[0].faults = 1000;
    collect(1000);
    assert_true(value_of(faults, 0) == 1000);
    fake_processes[0] = (struct fake_process){"init", 2, 1000, 0, 5000};
    collect(1000);
    no_value(faults, PDH_CSTATUS_INVALID_DATA);
    assert_true(value_of(id, 0) == 2);
    fake_processes[0].faults += 10;
    collect(1000);
    assert_true(value_of(faults, 0) == 10);
    fake_processes[0].start++; /* another start time: the number now belongs to another process */
    fake_processes[0].faults += 10;
    collect(1000);
    no_value(faults, PDH_CSTATUS_INVALID_DATA);
}

/* The first of two processes "twin" ends. Then the name "twin" means the process that was "twin#1"
 * before, so a rate from both samples would be wrong and must have no value. */
static void a_process_that_moves_up_has_no_value(void **state)
{
    PDH_HCOUNTER faults = added("\\Process(twin)\\Page Faults/sec");
    PDH_HCOUNTER all = added("\\Process(*)\\Page Faults/sec");
    PDH_FMT_COUNTERVALUE_ITEM_A items[8];
    char storage[1024];
    DWORD size = sizeof storage, count = 0;
    fake_processes[1].faults = 10;
    fake_processes[2].faults = 500;
    collect(0);
    fake_processes[1] = fake_processes[2];
    fake_process_count--;
    fake_processes[0].faults = 3;
    collect(1000);
    no_value(faults, PDH_CSTATUS_INVALID_DATA);
    assert_int_equal(counter_value_array(all, PDH_FMT_DOUBLE, false, &size, &count, storage), 0);
    memcpy(items, storage, count * sizeof *items);
    assert_int_equal(count, 2);
    assert_int_equal(items[0].FmtValue.CStatus, 0);
    assert_true(items[0].FmtValue.doubleValue == 3);
    assert_int_equal(items[1].FmtValue.CStatus, PDH_CSTATUS_INVALID_DATA);
}

/* A rate has no value if the wall clock and the other clock show intervals of different lengths,
 * because the wall clock was set or the machine slept. */
static void an_interval_of_two_lengths_has_no_value(void **state)
{
    PDH_HCOUNTER reads = added("\\System\\File Read Operations/sec");
    PDH_HCOUNTER length = added("\\System\\Processor Queue Length");
    static const LONGLONG jumps[] = {-36000000000, -200000, 200000, 36000000000};
    collect(0);
    for (size_t i = 0; i < COUNT(jumps); i++) {
        fake_reads += 100;
        fake_wall += jumps[i];
        collect(1000);
        no_value(reads, PDH_CSTATUS_INVALID_DATA);
        assert_true(value_of(length, 0) == 0);
        fake_reads += 100;
        fake_wall += 50000; /* half a percent of difference is allowed */
        collect(1000);
        assert_true(value_of(reads, 0) == 100);
    }
}

static void a_fall_is_no_value_and_a_wrap_is(void **state)
{
    PDH_HCOUNTER faults = added("\\Process(init)\\Page Faults/sec");
    PDH_FMT_COUNTERVALUE value;
    fake_processes[0].faults = 4294967290u;
    collect(0);
    fake_processes[0].faults = 4;
    collect(1000);
    assert_true(value_of(faults, 0) == 10);
    fake_processes[0].faults = 3;
    collect(1000);
    assert_int_equal(counter_value(faults, PDH_FMT_DOUBLE, NULL, &value),
                     STATUS(CALC_NEGATIVE_VALUE));
    assert_int_equal(value.CStatus, PDH_CSTATUS_INVALID_DATA);
}

/* ---- arrays ---- */

static void wildcards_meet_what_is_there_each_time(void **state)
{
    PDH_HCOUNTER all = added("\\Process(*)\\ID Process");
    PDH_HCOUNTER some = added("\\Process(t*)\\ID Process");
    DWORD size = 0, count = 9;
    collect(0);
    assert_int_equal(counter_raw_array(all, false, &size, &count, NULL), STATUS(MORE_DATA));
    assert_int_equal(count, 3);
    assert_int_equal(size, 3 * sizeof(PDH_RAW_COUNTER_ITEM_A) + 15);
    PDH_RAW_COUNTER_ITEM_A *items = malloc(size);
    assert_int_equal(counter_raw_array(all, false, &size, &count, items), 0);
    assert_string_equal(items[0].szName, "init");
    assert_string_equal(items[2].szName, "Twin");
    assert_int_equal(items[2].RawValue.FirstValue, 11);
    free(items);
    size = 0;
    assert_int_equal(counter_raw_array(some, true, &size, &count, NULL), STATUS(MORE_DATA));
    assert_int_equal(count, 2);
    assert_int_equal(size, 2 * sizeof(PDH_RAW_COUNTER_ITEM_A) + 20);
    fake_process_count = 1;
    collect(1000);
    size = 0;
    assert_int_equal(counter_raw_array(some, true, &size, &count, NULL), 0);
    assert_int_equal(count, 0);
}

/* The values of a wildcard counter must be these, with their names; NAN: no value. */
static void values_are(PDH_HCOUNTER counter, const char *const *names, const double *values,
                       DWORD count)
{
    PDH_FMT_COUNTERVALUE_ITEM_A items[8];
    DWORD size = sizeof items, got = 0;
    assert_int_equal(counter_value_array(counter, PDH_FMT_DOUBLE, false, &size, &got, items), 0);
    assert_int_equal(got, count);
    for (DWORD i = 0; i < count; i++) {
        assert_string_equal(items[i].szName, names[i]);
        assert_int_equal(items[i].FmtValue.CStatus,
                         isnan(values[i]) ? PDH_CSTATUS_INVALID_DATA : 0);
        assert_true(isnan(values[i]) || items[i].FmtValue.doubleValue == values[i]);
    }
}

/* Counters that are added one after the other share the names of their instances: also while one of
 * them is removed, with others between them, and after the instances have changed. */
static void counters_with_the_same_instances_keep_their_values(void **state)
{
    static const char *const before[] = {"init", "twin", "Twin"}, *const after[] = {"Twin", "init"};
    PDH_HCOUNTER first = added("\\Process(*)\\ID Process");
    PDH_HCOUNTER faults = added("\\Process(*)\\Page Faults/sec");
    PDH_HCOUNTER some = added("\\Process(t*)\\ID Process");
    PDH_HCOUNTER last = added("\\Process(*)\\ID Process");
    collect(0);
    values_are(first, before, (const double[]){1, 10, 11}, 3);
    values_are(some, before + 1, (const double[]){10, 11}, 2);
    assert_int_equal(counter_remove(first), 0);
    for (int i = 0; i < 3; i++)
        fake_processes[i].faults += 10 * (DWORD)(i + 1);
    collect(1000);
    values_are(faults, before, (const double[]){10, 20, 30}, 3);
    values_are(last, before, (const double[]){1, 10, 11}, 3);
    fake_processes[1] = fake_processes[0];
    fake_processes[0] = fake_processes[2];
    fake_process_count = 2;
    fake_processes[1].faults += 5;
    collect(1000);
    values_are(faults, after, (const double[]){NAN, 5}, 2); /* Twin was twin#1 before */
    values_are(some, after, (const double[]){11}, 1);
    values_are(last, after, (const double[]){11, 1}, 2);
    assert_int_equal(counter_remove(faults), 0);
    values_are(last, after, (const double[]){11, 1}, 2);
}

/* True if both samples of the wildcard counter have one copy of their instances. */
static bool has_one_copy(PDH_HCOUNTER handle)
{
    const struct counter *counter = counter_lock(handle);
    const struct sample_set *newest = &counter->sets[counter->turn];
    bool one = newest->items == counter->sets[!counter->turn].items;
    assert_int_equal(newest->samples.len, newest->count * sizeof(LONGLONG));
    assert_int_equal(newest->items->count, newest->count);
    counter_unlock((struct counter *)counter);
    return one;
}

/* With thousands of instances, their names would take most of the memory. */
static void instances_that_stay_are_kept_once(void **state)
{
    static const char *const all[] = {"init", "twin", "Twin", "Later"};
    PDH_HCOUNTER faults = added("\\Process(*)\\Page Faults/sec");
    PDH_HCOUNTER some = added("\\Process(t*)\\Page Faults/sec");
    for (int i = 0; i < 3; i++) {
        fake_processes[0].faults += 5;
        collect(1000);
    }
    assert_true(has_one_copy(faults) && has_one_copy(some));
    values_are(faults, all, (const double[]){5, 0, 0}, 3);
    fake_processes[fake_process_count++] = (struct fake_process){"Later", 99, 5, 0, 0};
    collect(1000); /* one more at the end */
    assert_true(!has_one_copy(faults) && has_one_copy(some));
    values_are(faults, all, (const double[]){0, 0, 0, NAN}, 4);
    fake_processes[1].id++; /* another process with this name */
    collect(1000);
    assert_true(!has_one_copy(faults) && !has_one_copy(some));
    values_are(faults, all, (const double[]){0, NAN, 0, 0}, 4);
    fake_process_count -= 2; /* less at the end */
    collect(1000);
    assert_true(!has_one_copy(faults) && !has_one_copy(some));
    values_are(faults, all, (const double[]){0, 0}, 2);
    values_are(some, all + 1, (const double[]){0}, 1);
    collect(1000);
    assert_true(has_one_copy(faults) && has_one_copy(some));
}

static void a_counter_without_wildcard_is_an_array_of_one(void **state)
{
    PDH_HCOUNTER one = added("\\Process(init)\\ID Process");
    char storage[256];
    DWORD size = sizeof storage, count;
    PDH_FMT_COUNTERVALUE_ITEM_W *items = (PDH_FMT_COUNTERVALUE_ITEM_W *)storage;
    collect(0);
    assert_int_equal(counter_value_array(one, PDH_FMT_LONG, true, &size, &count, storage), 0);
    assert_int_equal(count, 1);
    assert_int_equal(items[0].FmtValue.longValue, 1);
    assert_int_equal(items[0].szName[0], 'i');
    assert_int_equal(items[0].szName[4], 0);
}

/* ---- about a counter ---- */

static void info_says_what_a_counter_is(void **state)
{
    PDH_HCOUNTER counter = NULL;
    assert_int_equal(counter_add(query, "\\system\\10", true, 42, &counter), 0);
    DWORD size = 0;
    assert_int_equal(counter_info(NULL, false, false, NULL, NULL), STATUS(INVALID_HANDLE));
    assert_int_equal(counter_info(counter, false, false, NULL, NULL), STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_info(counter, false, false, &size, NULL), STATUS(MORE_DATA));
    PDH_COUNTER_INFO_A *info = malloc(size);
    assert_int_equal(counter_info(counter, false, false, &size, info), 0);
    assert_int_equal(info->dwLength, size);
    assert_int_equal(info->dwType, PERF_COUNTER_BULK_COUNT);
    assert_int_equal(info->lScale, 0);
    assert_int_equal(info->lDefaultScale, -3);
    assert_int_equal(info->dwUserData, 42);
    assert_int_equal(info->dwQueryUserData, 7);
    assert_non_null(strstr(info->szFullPath, "\\system\\File Read Operations/sec"));
    assert_string_equal(info->szCounterName, "File Read Operations/sec");
    assert_null(info->szInstanceName);
    assert_null(info->szExplainText);
    free(info);
}

static void time_bases(void **state)
{
    LONGLONG base = 0;
    assert_int_equal(counter_time_base(added("\\System\\44"), &base), 0);
    assert_int_equal(base, 10000000);
}

static void statistics_of_a_ring(void **state)
{
    PDH_HCOUNTER length = added("\\System\\Processor Queue Length");
    PDH_RAW_COUNTER ring[4] = {{.FirstValue = 8}, {.FirstValue = 1}, {.FirstValue = 5}, {0}};
    PDH_STATISTICS result;
    ring[3].CStatus = PDH_CSTATUS_NO_INSTANCE;
    assert_int_equal(counter_statistics(length, PDH_FMT_DOUBLE, 2, 4, ring, &result), 0);
    assert_int_equal(result.count, 3);
    assert_true(result.min.doubleValue == 1);
    assert_true(result.max.doubleValue == 8);
    assert_true(result.mean.doubleValue == 14.0 / 3);
    assert_int_equal(counter_statistics(length, PDH_FMT_LONG, 0, 4, ring, &result), 0);
    assert_int_equal(result.mean.longValue, 4);
    assert_int_equal(counter_statistics(length, PDH_FMT_LONG, 4, 4, ring, &result),
                     STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_statistics(NULL, PDH_FMT_LONG, 0, 4, ring, &result),
                     STATUS(INVALID_HANDLE));
}

/* The statistics of a rate: each pair of samples gives a value, which belongs to the second sample;
 * the oldest sample has none. */
static void statistics_of_a_rate(void **state)
{
    PDH_HCOUNTER reads = added("\\System\\File Read Operations/sec");
    PDH_RAW_COUNTER ring[3] = {
        {.FirstValue = 40, .SecondValue = 30000000},
        {.FirstValue = 0,  .SecondValue = 10000000},
        {.FirstValue = 10, .SecondValue = 20000000}
    };
    PDH_STATISTICS result;
    assert_int_equal(counter_statistics(reads, PDH_FMT_DOUBLE, 1, 3, ring, &result), 0);
    assert_int_equal(result.count, 2);
    assert_true(result.min.doubleValue == 10);
    assert_true(result.max.doubleValue == 30);
    assert_true(result.mean.doubleValue == 20);
}

static void samples_can_be_cooked_by_the_caller(void **state)
{
    PDH_HCOUNTER reads = added("\\System\\File Read Operations/sec");
    PDH_RAW_COUNTER before = {.SecondValue = 10000000};
    PDH_RAW_COUNTER newest = {.FirstValue = 30, .SecondValue = 20000000};
    PDH_FMT_COUNTERVALUE value;
    assert_int_equal(counter_calculate(reads, PDH_FMT_LONG, &newest, &before, &value), 0);
    assert_int_equal(value.longValue, 30);
    assert_int_equal(counter_calculate(reads, PDH_FMT_LONG, NULL, &before, &value),
                     STATUS(INVALID_ARGUMENT));
    assert_int_equal(counter_calculate(NULL, PDH_FMT_LONG, &newest, &before, &value),
                     STATUS(INVALID_HANDLE));
}

#define QUERY_TEST(name) cmocka_unit_test_setup_teardown(name, open_query, close_query)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUERY_TEST(strange_handles_are_refused),
        QUERY_TEST(a_closed_query_takes_its_counters_along),
        QUERY_TEST(arguments_are_checked_first),
        QUERY_TEST(what_is_not_there_cannot_be_added),
        QUERY_TEST(a_counter_of_an_absent_machine_is_kept),
        QUERY_TEST(a_counter_moves_in_its_object),
        QUERY_TEST(a_collection_asks_once_for_what_is_needed),
        QUERY_TEST(values_are_cooked_from_two_samples),
        QUERY_TEST(values_are_scaled),
        QUERY_TEST(an_absent_instance_may_come),
        QUERY_TEST(twins_have_numbers),
        QUERY_TEST(equal_names_are_numbered_quickly),
        QUERY_TEST(names_may_hold_what_paths_are_made_of),
        QUERY_TEST(another_process_of_that_name_has_no_common_value),
        QUERY_TEST(a_process_that_moves_up_has_no_value),
        QUERY_TEST(an_interval_of_two_lengths_has_no_value),
        QUERY_TEST(a_fall_is_no_value_and_a_wrap_is),
        QUERY_TEST(wildcards_meet_what_is_there_each_time),
        QUERY_TEST(counters_with_the_same_instances_keep_their_values),
        QUERY_TEST(instances_that_stay_are_kept_once),
        QUERY_TEST(a_counter_without_wildcard_is_an_array_of_one),
        QUERY_TEST(info_says_what_a_counter_is),
        QUERY_TEST(time_bases),
        QUERY_TEST(statistics_of_a_ring),
        QUERY_TEST(statistics_of_a_rate),
        QUERY_TEST(samples_can_be_cooked_by_the_caller),
        /* must be the last test: PDH uses the object's earlier number for one more second */
        QUERY_TEST(an_object_comes_back_under_another_number),
    };
    return cmocka_run_group_tests(tests, make_names, remove_names);
}
