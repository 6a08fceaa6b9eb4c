/* SPDX-License-Identifier: MIT */
/*
 * Queries of pdh.h, as a program calls them, on a frozen machine (a copy of files of /proc and
 * /sys): which status is returned, also if several arguments are wrong. Arguments are checked in
 * the order in which Windows checks them. (docs/windows/pdh.md#f2, docs/windows/pdh.md#f6)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pdh.h>
#include <pdhmsg.h>

#include "../pdh/frozen.h"

#define assert_status(call, status) assert_int_equal((DWORD)(call), (DWORD)(status))
#define UP_TIME "\\System\\System Up Time"
#define TOTAL "\\Processor(_Total)\\% Processor Time"

static PDH_HQUERY query;

static int open_query(void **state)
{
    return PdhOpenQueryA(NULL, 0, &query);
}

static int close_query(void **state)
{
    return PdhCloseQuery(query);
}

static PDH_HCOUNTER added(const char *path)
{
    PDH_HCOUNTER counter = NULL;
    assert_status(PdhAddCounterA(query, path, 0, &counter), 0);
    assert_non_null(counter);
    return counter;
}

/* ---- queries ---- */

static void queries_open_and_close(void **state)
{
    PDH_HQUERY other = NULL;
    assert_status(PdhOpenQueryA(NULL, 0, NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhOpenQueryW(NULL, 0, NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhCloseQuery(NULL), PDH_INVALID_HANDLE);
    assert_status(PdhCloseQuery(&other), PDH_INVALID_HANDLE);
    assert_status(PdhOpenQueryW(NULL, 0, &other), 0);
    assert_true(PdhIsRealTimeQuery(other));
    assert_status(PdhCloseQuery(other), 0);
    assert_status(PdhCloseQuery(other), PDH_INVALID_HANDLE);
}

static void the_present_has_no_time_range(void **state)
{
    PDH_TIME_INFO range = {0, 0, 0};
    assert_status(PdhSetQueryTimeRange(query, &range), PDH_DATA_SOURCE_IS_REAL_TIME);
    assert_status(PdhSetQueryTimeRange(&range, &range), PDH_INVALID_HANDLE);
    assert_status(PdhSetQueryTimeRange(query, NULL), PDH_INVALID_ARGUMENT);
}

/* ---- counters ---- */

typedef PDH_STATUS adder(PDH_HQUERY query, LPCSTR path, DWORD_PTR user, PDH_HCOUNTER *counter);
typedef PDH_STATUS wide_adder(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user,
                              PDH_HCOUNTER *counter);
static adder *const adders[] = {PdhAddCounterA, PdhAddEnglishCounterA};
static wide_adder *const wide_adders[] = {PdhAddCounterW, PdhAddEnglishCounterW};

static void counters_are_added(void **state)
{
    PDH_HCOUNTER counter;
    for (size_t i = 0; i < 2; i++) {
        assert_status(adders[i](NULL, UP_TIME, 0, NULL), PDH_INVALID_ARGUMENT);
        assert_status(adders[i](NULL, UP_TIME, 0, &counter), PDH_INVALID_HANDLE);
        assert_status(adders[i](query, NULL, 0, &counter), PDH_INVALID_ARGUMENT);
        assert_status(adders[i](query, UP_TIME, 0, NULL), PDH_INVALID_ARGUMENT);
        counter = &counter;
        assert_status(adders[i](query, "\\System\\System Down Time", 0, &counter),
                      PDH_CSTATUS_NO_COUNTER);
        assert_null(counter);
        assert_status(adders[i](query, UP_TIME, 0, &counter), 0);
        assert_status(PdhCollectQueryData(NULL), PDH_INVALID_HANDLE);
        assert_status(PdhCollectQueryData(counter), PDH_INVALID_HANDLE);
        assert_status(PdhCollectQueryData(query), 0);
        assert_status(PdhCloseQuery(counter), PDH_INVALID_HANDLE);
        assert_status(PdhRemoveCounter(counter), 0);
        assert_status(PdhRemoveCounter(counter), PDH_INVALID_HANDLE);
        assert_status(PdhRemoveCounter(query), PDH_INVALID_HANDLE);
    }
}

static void counters_are_added_by_wide_paths(void **state)
{
    PDH_HCOUNTER counter;
    for (size_t i = 0; i < 2; i++) {
        assert_status(wide_adders[i](NULL, u"\\System\\System Up Time", 0, NULL),
                      PDH_INVALID_ARGUMENT);
        assert_status(wide_adders[i](NULL, u"\\System\\System Up Time", 0, &counter),
                      PDH_INVALID_HANDLE);
        assert_status(wide_adders[i](query, NULL, 0, &counter), PDH_INVALID_ARGUMENT);
        assert_status(wide_adders[i](query, u"\\System\\System Up Time", 0, &counter), 0);
    }
}

static void bad_paths_say_what_is_wrong(void **state)
{
    static const struct {
        const char *path;
        DWORD status;
    } rows[] = {
        {"",                       PDH_CSTATUS_NO_COUNTERNAME },
        {"\\System",               PDH_CSTATUS_BAD_COUNTERNAME},
        {"System Up Time",         PDH_CSTATUS_BAD_COUNTERNAME},
        {"\\No Such Object\\x",    PDH_CSTATUS_NO_OBJECT      },
        {"\\No Such Object(y)\\x", PDH_CSTATUS_NO_OBJECT      },
        {"\\Processor(0)\\x",      PDH_CSTATUS_NO_COUNTER     },
        {"\\Processor(*)\\x",      PDH_CSTATUS_NO_COUNTER     },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        PDH_HCOUNTER counter = &counter;
        assert_status(PdhAddCounterA(query, rows[i].path, 0, &counter), rows[i].status);
        assert_null(counter);
    }
    PDH_HCOUNTER counter;
    assert_status(PdhAddCounterA(query, "\\Processor(nobody)\\% Processor Time", 0, &counter), 0);
}

static void english_names_and_numbers(void **state)
{
    PDH_HCOUNTER by_name, by_number;
    PDH_RAW_COUNTER first, second;
    assert_status(PdhAddEnglishCounterA(query, TOTAL, 0, &by_name), 0);
    assert_status(PdhAddCounterA(query, "\\238(_total)\\6", 0, &by_number), 0);
    assert_status(PdhCollectQueryData(query), 0);
    assert_status(PdhGetRawCounterValue(by_name, NULL, &first), 0);
    assert_status(PdhGetRawCounterValue(by_number, NULL, &second), 0);
    assert_true(first.FirstValue == second.FirstValue && first.FirstValue != 0);
}

static void scale_factors(void **state)
{
    PDH_HCOUNTER counter = added(UP_TIME);
    assert_status(PdhSetCounterScaleFactor(NULL, 8), PDH_INVALID_HANDLE);
    assert_status(PdhSetCounterScaleFactor(NULL, 1), PDH_INVALID_HANDLE);
    assert_status(PdhSetCounterScaleFactor(counter, 8), PDH_INVALID_ARGUMENT);
    assert_status(PdhSetCounterScaleFactor(counter, -8), PDH_INVALID_ARGUMENT);
    assert_status(PdhSetCounterScaleFactor(counter, 7), 0);
    assert_status(PdhSetCounterScaleFactor(counter, 0), 0);
    assert_status(PdhSetCounterScaleFactor(counter, -5), 0);
}

static void counter_time_bases(void **state)
{
    PDH_HCOUNTER counter = added(UP_TIME);
    LONGLONG base = 0;
    assert_status(PdhGetCounterTimeBase(NULL, NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhGetCounterTimeBase(NULL, &base), PDH_INVALID_HANDLE);
    assert_status(PdhGetCounterTimeBase(counter, NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhGetCounterTimeBase(counter, &base), 0);
    assert_true(base == 10000000);
}

static void counter_infos(void **state)
{
    PDH_HCOUNTER counter = added(UP_TIME);
    union {
        PDH_COUNTER_INFO_A narrow;
        PDH_COUNTER_INFO_W wide;
        char storage[4096];
    } info;
    DWORD size = 0, small = sizeof info.narrow - 1;
    assert_status(PdhGetCounterInfoA(NULL, 0, NULL, NULL), PDH_INVALID_HANDLE);
    assert_status(PdhGetCounterInfoA(counter, 0, NULL, NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhGetCounterInfoA(counter, 0, NULL, &info.narrow), PDH_INVALID_ARGUMENT);
    assert_status(PdhGetCounterInfoA(counter, 0, &size, NULL), PDH_MORE_DATA);
    assert_true(size > sizeof info.narrow && size < sizeof info);
    assert_status(PdhGetCounterInfoA(counter, 0, &small, &info.narrow), PDH_MORE_DATA);
    assert_int_equal(small, size);
    assert_status(PdhGetCounterInfoA(counter, 0, &size, &info.narrow), 0);
    assert_int_equal(info.narrow.lScale, 0);
    assert_int_equal(info.narrow.CStatus, PDH_CSTATUS_VALID_DATA);
    assert_string_equal(info.narrow.szCounterName, "System Up Time");
    assert_string_equal(info.narrow.szObjectName, "System");
    assert_null(info.narrow.szExplainText);
    assert_status(PdhSetCounterScaleFactor(counter, -5), 0);
    size = sizeof info;
    assert_status(PdhGetCounterInfoW(counter, 1, &size, &info.wide), 0);
    assert_int_equal(info.wide.lScale, -5);
    assert_true(info.wide.szExplainText && info.wide.szExplainText[0]);
    assert_status(PdhGetCounterInfoW(NULL, 0, NULL, NULL), PDH_INVALID_HANDLE);
}

/* Fills the query's array of counters at its first size: nothing beyond its end may be read. */
static void counters_are_removed_in_any_order(void **state)
{
    enum { MANY = 16 };
    static const int order[MANY] = {15, 0, 7, 14, 13, 1, 2, 12, 3, 11, 4, 10, 5, 9, 6, 8};
    PDH_HCOUNTER counters[MANY];
    PDH_RAW_COUNTER value;
    for (int i = 0; i < MANY; i++)
        counters[i] = added(UP_TIME);
    for (int i = 0; i < MANY; i++) {
        assert_status(PdhCollectQueryData(query), 0);
        for (int k = i; k < MANY; k++)
            assert_status(PdhGetRawCounterValue(counters[order[k]], NULL, &value), 0);
        assert_status(PdhRemoveCounter(counters[order[i]]), 0);
    }
}

/* ---- collecting ---- */

static void collections(void **state)
{
    LONGLONG time = 0;
    assert_status(PdhCollectQueryData(query), PDH_NO_DATA); /* no counters */
    PDH_HCOUNTER absent = added("\\Processor(nobody)\\% Processor Time");
    assert_status(PdhCollectQueryData(query), PDH_NO_DATA);
    assert_status(PdhRemoveCounter(absent), 0);
    added(UP_TIME);
    assert_status(PdhCollectQueryDataWithTime(query, &time), 0);
    assert_true(time > 0);
}

static void f_d1_info_of_exactly_the_structure(void **state)
{
    struct {
        union {
            PDH_COUNTER_INFO_A narrow;
            PDH_COUNTER_INFO_W wide;
        } info;
        char after[64];
    } to;
    PDH_HCOUNTER counter = added(UP_TIME);
    assert_status(PdhSetCounterScaleFactor(counter, 3), 0);
    for (int wide = 0; wide < 2; wide++) {
        DWORD size = sizeof to.info;
        memset(&to, 0x5a, sizeof to);
        assert_status(wide ? PdhGetCounterInfoW(counter, FALSE, &size, &to.info.wide)
                           : PdhGetCounterInfoA(counter, FALSE, &size, &to.info.narrow),
                      0);
        assert_int_equal(size, sizeof to.info);
        assert_int_equal(to.info.narrow.dwType, PERF_ELAPSED_TIME);
        assert_int_equal(to.info.narrow.lScale, 3);
        assert_null(to.info.narrow.szFullPath);
        for (size_t i = 0; i < sizeof to.after; i++)
            assert_int_equal(to.after[i], 0x5a);
        /* this size has space for the structure, but not for the explanation that was requested,
         * too */
        size = sizeof to.info;
        assert_status(PdhGetCounterInfoA(counter, TRUE, &size, &to.info.narrow), PDH_MORE_DATA);
        assert_true(size > sizeof to.info);
    }
}

static void f_d3_the_time_is_required(void **state)
{
    assert_status(PdhCollectQueryDataWithTime(NULL, NULL), PDH_INVALID_ARGUMENT);
    added(UP_TIME);
    assert_status(PdhCollectQueryDataWithTime(query, NULL), PDH_INVALID_ARGUMENT);
}

static void collections_in_the_background(void **state)
{
    PDH_HCOUNTER counter = added(UP_TIME);
    PDH_FMT_COUNTERVALUE value;
    assert_status(PdhCollectQueryDataEx(NULL, 1, NULL), PDH_INVALID_HANDLE);
    assert_status(PdhCollectQueryDataEx(query, 1, NULL), 0);
    assert_status(PdhCollectQueryDataEx(query, 1, NULL), 0);
    assert_status(PdhCollectQueryData(query), 0);
    assert_status(PdhGetFormattedCounterValue(counter, PDH_FMT_LARGE, NULL, &value), 0);
}

/* ---- values ---- */

static void formatted_values(void **state)
{
    PDH_HCOUNTER counter = added(UP_TIME);
    PDH_FMT_COUNTERVALUE value;
    DWORD type = 0;
    assert_status(PdhGetFormattedCounterValue(NULL, PDH_FMT_LARGE, NULL, NULL),
                  PDH_INVALID_ARGUMENT);
    assert_status(PdhGetFormattedCounterValue(NULL, PDH_FMT_LARGE, NULL, &value),
                  PDH_INVALID_HANDLE);
    assert_status(PdhGetFormattedCounterValue(counter, PDH_FMT_LARGE, NULL, NULL),
                  PDH_INVALID_ARGUMENT);
    assert_status(PdhGetFormattedCounterValue(counter, PDH_FMT_LARGE, NULL, &value), 0);
    assert_status(PdhSetCounterScaleFactor(counter, -5), 0);
    assert_status(
        PdhGetFormattedCounterValue(counter, PDH_FMT_LARGE | PDH_FMT_NOSCALE, NULL, &value), 0);
    assert_status(PdhCollectQueryData(query), 0);
    assert_status(
        PdhGetFormattedCounterValue(counter, PDH_FMT_LARGE | PDH_FMT_NOSCALE, &type, &value), 0);
    assert_int_equal(type, PERF_ELAPSED_TIME);
    assert_true(value.largeValue != 0);
    static const DWORD bad[] = {0, PDH_FMT_LONG | PDH_FMT_LARGE, PDH_FMT_NOSCALE};
    for (size_t i = 0; i < 3; i++)
        assert_status(PdhGetFormattedCounterValue(counter, bad[i], NULL, &value),
                      PDH_INVALID_ARGUMENT);
}

static void raw_values(void **state)
{
    PDH_HCOUNTER counter = added(UP_TIME);
    PDH_RAW_COUNTER value = {.CStatus = 77};
    assert_status(PdhGetRawCounterValue(NULL, NULL, &value), PDH_INVALID_HANDLE);
    assert_status(PdhGetRawCounterValue(counter, NULL, NULL), PDH_INVALID_ARGUMENT);
    assert_int_equal(value.CStatus, 77);
    assert_status(PdhGetRawCounterValue(counter, NULL, &value), 0);
    assert_int_equal(value.CStatus, PDH_CSTATUS_VALID_DATA);
    assert_status(PdhCollectQueryData(query), 0);
    assert_status(PdhGetRawCounterValue(counter, NULL, &value), 0);
    assert_true(value.CStatus == PDH_CSTATUS_VALID_DATA || value.CStatus == PDH_CSTATUS_NEW_DATA);
}

static void values_of_whom_is_not_there(void **state)
{
    PDH_HCOUNTER counter = added("\\Processor(nobody)\\% Processor Time");
    PDH_RAW_COUNTER raw;
    PDH_FMT_COUNTERVALUE value;
    PdhCollectQueryData(query);
    assert_status(PdhGetRawCounterValue(counter, NULL, &raw), 0);
    assert_int_equal(raw.CStatus, PDH_CSTATUS_NO_INSTANCE);
    assert_status(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value),
                  PDH_INVALID_DATA);
    assert_int_equal(value.CStatus, PDH_CSTATUS_NO_INSTANCE);
}

static void first_samples_of_rates(void **state)
{
    PDH_HCOUNTER counter = added(TOTAL);
    PDH_FMT_COUNTERVALUE value;
    assert_status(PdhCollectQueryData(query), 0);
    assert_status(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value),
                  PDH_INVALID_DATA);
    assert_int_equal(value.CStatus, PDH_CSTATUS_INVALID_DATA);
}

static void arrays_have_sizes_in_bytes(void **state)
{
    PDH_HCOUNTER counter = added("\\Processor(*)\\Interrupts/sec");
    DWORD size = 0, count = 0;
    union {
        PDH_RAW_COUNTER_ITEM_A raw[3];
        PDH_FMT_COUNTERVALUE_ITEM_W wide[3];
        char storage[1024];
    } items;
    assert_status(PdhCollectQueryData(query), 0);
    assert_status(PdhGetRawCounterArrayA(counter, &size, &count, NULL), PDH_MORE_DATA);
    assert_int_equal(size, sizeof items.raw + sizeof "0" + sizeof "1" + sizeof "_Total");
    assert_status(PdhGetRawCounterArrayA(counter, &size, &count, items.raw), 0);
    assert_int_equal(count, 3);
    assert_string_equal(items.raw[2].szName, "_Total");
    size = sizeof items;
    assert_status(PdhGetFormattedCounterArrayW(counter, PDH_FMT_LONG, &size, &count, items.wide),
                  0);
    assert_int_equal(size, sizeof items.wide + 2 * (sizeof "0" + sizeof "1" + sizeof "_Total"));
    assert_memory_equal(items.wide[2].szName, u"_Total", sizeof u"_Total");
    assert_int_equal(items.wide[2].FmtValue.CStatus, PDH_CSTATUS_INVALID_DATA);
    assert_status(PdhGetRawCounterArrayA(counter, NULL, &count, NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhGetRawCounterArrayA(counter, &size, NULL, NULL), PDH_INVALID_ARGUMENT);
    size = 0;
    assert_status(PdhGetRawCounterArrayA(NULL, &size, &count, NULL), PDH_INVALID_HANDLE);
    assert_status(PdhGetFormattedCounterArrayA(counter, 0, &size, &count, NULL),
                  PDH_INVALID_ARGUMENT);
}

static void callers_samples(void **state)
{
    PDH_HCOUNTER counter = added("\\System\\Processes");
    PDH_RAW_COUNTER samples[3];
    PDH_FMT_COUNTERVALUE value;
    PDH_STATISTICS statistics;
    for (int i = 0; i < 3; i++) {
        assert_status(PdhCollectQueryData(query), 0);
        assert_status(PdhGetRawCounterValue(counter, NULL, &samples[i]), 0);
        samples[i].FirstValue = 10 + i;
    }
    assert_status(
        PdhCalculateCounterFromRawValue(counter, PDH_FMT_LARGE, &samples[2], NULL, &value), 0);
    assert_true(value.largeValue == 12);
    assert_status(PdhCalculateCounterFromRawValue(NULL, PDH_FMT_LARGE, &samples[2], NULL, &value),
                  PDH_INVALID_HANDLE);
    assert_status(PdhCalculateCounterFromRawValue(counter, PDH_FMT_LARGE, NULL, NULL, &value),
                  PDH_INVALID_ARGUMENT);
    assert_status(PdhComputeCounterStatistics(counter, PDH_FMT_LARGE, 1, 3, samples, &statistics),
                  0);
    assert_int_equal(statistics.count, 3);
    assert_true(statistics.min.largeValue == 10 && statistics.max.largeValue == 12 &&
                statistics.mean.largeValue == 11);
    assert_status(PdhComputeCounterStatistics(counter, PDH_FMT_LARGE, 0, 3, NULL, &statistics),
                  PDH_INVALID_ARGUMENT);
}

static void versions(void **state)
{
    DWORD version = 0;
    assert_status(PdhGetDllVersion(NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhGetDllVersion(&version), 0);
    assert_int_equal(version, PDH_VERSION);
}

#define WITH_QUERY(test) cmocka_unit_test_setup_teardown(test, open_query, close_query)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_open_and_close),
        cmocka_unit_test(versions),
        WITH_QUERY(the_present_has_no_time_range),
        WITH_QUERY(counters_are_added),
        WITH_QUERY(counters_are_added_by_wide_paths),
        WITH_QUERY(bad_paths_say_what_is_wrong),
        WITH_QUERY(english_names_and_numbers),
        WITH_QUERY(scale_factors),
        WITH_QUERY(counter_time_bases),
        WITH_QUERY(counter_infos),
        WITH_QUERY(f_d1_info_of_exactly_the_structure),
        WITH_QUERY(f_d3_the_time_is_required),
        WITH_QUERY(counters_are_removed_in_any_order),
        WITH_QUERY(collections),
        WITH_QUERY(collections_in_the_background),
        WITH_QUERY(formatted_values),
        WITH_QUERY(raw_values),
        WITH_QUERY(values_of_whom_is_not_there),
        WITH_QUERY(first_samples_of_rates),
        WITH_QUERY(arrays_have_sizes_in_bytes),
        WITH_QUERY(callers_samples),
    };
    return cmocka_run_group_tests_name("api-pdh-query", tests, frozen_make, frozen_remove);
}
