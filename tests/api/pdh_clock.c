/* SPDX-License-Identifier: MIT */
/*
 * What happens to values when the clock is set or the machine sleeps, tested through the whole
 * library. This program defines clock_gettime, which the library calls instead of the C library's.
 * An interval whose lengths by the wall clock and by the monotonic clock differ by more than 1 %
 * has no value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/syscall.h>
#include <time.h>

#include <pdh.h>
#include <pdhmsg.h>

#include "../pdh/frozen.h"

#define assert_status(call, status) assert_int_equal((DWORD)(call), (DWORD)(status))
enum { MS = 1000000, SECOND = 1000 * MS };
#ifdef SYS_clock_gettime64 /* SYS_clock_gettime has 32-bit times here */
enum { GETTIME = SYS_clock_gettime64 };
#else
enum { GETTIME = SYS_clock_gettime };
#endif

/* ---- the clocks ---- */

static int64_t wall_ns = 1800000000LL * SECOND, steady_ns = 1000LL * SECOND;
static int64_t interruption_ns; /* added to both clocks when the wall clock is read next */
static unsigned readings;

/* Replaces the C library's function for all threads of this program. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    if (which == CLOCK_REALTIME && interruption_ns) {
        wall_ns += interruption_ns;
        steady_ns += interruption_ns;
        interruption_ns = 0;
    }
    if (which != CLOCK_REALTIME && which != CLOCK_MONOTONIC)
        return (int)syscall(GETTIME, which, ret);
    int64_t ns = which == CLOCK_REALTIME ? wall_ns : steady_ns;
    *ret = (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)};
    readings++;
    return 0;
}

static void pass(int64_t wall, int64_t steady)
{
    wall_ns += wall;
    steady_ns += steady;
}

/* ---- a query ---- */

static unsigned long switches = 522540;
static PDH_HQUERY query;
static PDH_HCOUNTER rate, length, times;

/* Rewrites /proc/stat of the frozen machine with 1,000 more context switches, and 1 s more user
 * time of the first processor. */
static void switch_more(void)
{
    char text[512];
    switches += 1000;
    unsigned long user = 4200 + switches / 10;
    snprintf(text, sizeof text,
             "cpu  %lu 0 5994 265952 926 0 113 31 0 0\n"
             "cpu0 %lu 0 2530 134967 32 0 17 13 0 0\n"
             "cpu1 6412 0 3464 130985 893 0 95 18 0 0\n"
             "intr 271987 0\nctxt %lu\nbtime 1795277979\nprocesses 11416\n"
             "procs_running 1\nprocs_blocked 0\nsoftirq 215838 0 26387 4 5050 86699 0 2 53339\n",
             6412 + user, user, switches);
    frozen_write("proc/stat", text);
}

static void collect(int64_t wall, int64_t steady)
{
    switch_more();
    pass(wall, steady);
    assert_status(PdhCollectQueryData(query), 0);
}

static int open_query(void **state)
{
    bool opened = !PdhOpenQueryA(NULL, 0, &query) &&
                  !PdhAddCounterA(query, "\\System\\Context Switches/sec", 0, &rate) &&
                  !PdhAddCounterA(query, "\\System\\Processes", 0, &length) &&
                  !PdhAddCounterA(query, "\\Processor(*)\\% Processor Time", 0, &times);
    return !opened || PdhCollectQueryData(query);
}

static int close_query(void **state)
{
    return PdhCloseQuery(query);
}

static double rate_is(PDH_STATUS status, DWORD cstatus)
{
    PDH_FMT_COUNTERVALUE value = {.CStatus = 77};
    assert_status(PdhGetFormattedCounterValue(rate, PDH_FMT_DOUBLE, NULL, &value), status);
    assert_int_equal(value.CStatus, cstatus);
    return value.doubleValue;
}

/* Expects this status for each instance of the wildcard counter `times`. */
static void all_have(DWORD cstatus)
{
    union {
        PDH_FMT_COUNTERVALUE_ITEM_A items[3];
        char storage[512];
    } is;
    DWORD size = sizeof is, count = 0;
    assert_status(PdhGetFormattedCounterArrayA(times, PDH_FMT_DOUBLE, &size, &count, is.items), 0);
    assert_int_equal(count, 3);
    for (DWORD i = 0; i < count; i++)
        assert_int_equal(is.items[i].FmtValue.CStatus, cstatus);
}

static void has_no_value(void)
{
    PDH_FMT_COUNTERVALUE value;
    PDH_RAW_COUNTER raw;
    rate_is((PDH_STATUS)PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    all_have(PDH_CSTATUS_INVALID_DATA);
    assert_status(PdhGetRawCounterValue(rate, NULL, &raw), 0);
    assert_int_equal(raw.CStatus, PDH_CSTATUS_VALID_DATA);
    assert_status(PdhGetFormattedCounterValue(length, PDH_FMT_LARGE, NULL, &value), 0);
    assert_true(value.largeValue > 0); /* a counter that needs no interval has a value */
}

/* ---- the tests ---- */

static void a_steady_second(void **state)
{
    collect(SECOND, SECOND);
    assert_true(readings > 0);
    assert_true(rate_is(0, PDH_CSTATUS_VALID_DATA) == 1000);
    all_have(PDH_CSTATUS_VALID_DATA);
}

/* The wall clock jumps while the monotonic clock does not: it is set by an hour, by a second (as at
 * a leap second) and by 50 ms, each forward and back; 8 hours are a night in which the machine
 * sleeps. Rates over such an interval have no value. */
static void a_clock_that_was_set(void **state)
{
    static const int64_t jumps[] = {3600LL * SECOND,     -3600LL * SECOND, SECOND,  -SECOND,
                                    8LL * 3600 * SECOND, 50 * MS,          -50 * MS};
    for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
        collect(SECOND + jumps[i], SECOND);
        has_no_value();
        collect(SECOND, SECOND);
        assert_true(rate_is(0, PDH_CSTATUS_VALID_DATA) == 1000);
        all_have(PDH_CSTATUS_VALID_DATA);
    }
}

/* The wall clock runs 1 % too fast or too slow in an interval, which is allowed: programs that set
 * the clock from the network correct it by much less. */
static void a_clock_that_is_slewed(void **state)
{
    collect(SECOND + 10 * MS, SECOND);
    assert_true(rate_is(0, PDH_CSTATUS_VALID_DATA) == 1000);
    collect(SECOND - 10 * MS, SECOND);
    assert_true(rate_is(0, PDH_CSTATUS_VALID_DATA) == 1000);
    collect(SECOND + 11 * MS, SECOND);
    has_no_value();
    collect(SECOND - 11 * MS, SECOND);
    has_no_value();
}

static void a_clock_that_stands(void **state)
{
    collect(0, 0);
    has_no_value();
    collect(SECOND, SECOND);
    assert_true(rate_is(0, PDH_CSTATUS_VALID_DATA) == 1000);
}

/* Another thread runs while the two clocks are read, one after the other: this is not taken for a
 * clock that was set. */
static void an_interruption_between_the_clocks(void **state)
{
    interruption_ns = 200 * MS;
    switch_more();
    pass(SECOND, SECOND);
    assert_status(PdhCollectQueryData(query), 0);
    assert_true(interruption_ns == 0);
    assert_true(rate_is(0, PDH_CSTATUS_VALID_DATA) < 1000);
    collect(SECOND, SECOND);
    assert_true(rate_is(0, PDH_CSTATUS_VALID_DATA) == 1000);
}

/* If the clock was set in an interval, a CSV capture has a blank for each rate of this interval. A
 * counter that needs only one sample still has its number. */
static void a_capture_has_blanks(void **state)
{
    char path[128], line[1024];
    DWORD type = PDH_LOG_TYPE_CSV;
    PDH_HLOG log = NULL;
    snprintf(path, sizeof path, "%s/set.csv", frozen_folder);
    assert_status(PdhOpenLogA(path, PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_ALWAYS, &type, query, 0,
                              NULL, &log),
                  0);
    switch_more();
    pass(SECOND + 60LL * SECOND, SECOND);
    assert_status(PdhUpdateLogA(log, NULL), 0);
    assert_status(PdhCloseLog(log, 0), 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    /* a blank for the rate, then the number of processes */
    assert_non_null(strstr(line, ",\" \",\""));
    assert_non_null(strstr(line, ",\" \",\" \",\" \"\r\n"));
}

static void update(PDH_HLOG log, int64_t jump)
{
    switch_more();
    pass(SECOND + jump, SECOND);
    assert_status(PdhUpdateLogA(log, NULL), 0);
}

/* Reads the next sample of a capture. Expects this status for the processor's time. The rate of
 * context switches must always be right, because its clock cannot be set. */
static void reads(PDH_HQUERY capture, PDH_HCOUNTER time, PDH_HCOUNTER switched, PDH_STATUS status)
{
    PDH_FMT_COUNTERVALUE value;
    assert_status(PdhCollectQueryData(capture), 0);
    assert_status(PdhGetFormattedCounterValue(time, PDH_FMT_DOUBLE, NULL, &value), status);
    assert_status(PdhGetFormattedCounterValue(switched, PDH_FMT_DOUBLE, NULL, &value), 0);
    assert_true(value.doubleValue == 1000);
}

/* A BLG has raw values, from which readers compute rates. If the wall clock was set before a
 * sample, counters whose rate is computed with this clock have no value in the sample. */
static void a_blg_has_no_false_values(void **state)
{
    static const int64_t jumps[] = {3600LL * SECOND, -7200LL * SECOND};
    char path[128];
    PDH_HQUERY capture;
    PDH_HCOUNTER time, switched;
    for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
        DWORD type = PDH_LOG_TYPE_BINARY;
        PDH_HLOG log = NULL;
        snprintf(path, sizeof path, "%s/set%zu.blg", frozen_folder, i);
        assert_status(PdhOpenLogA(path, PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_ALWAYS, &type, query,
                                  0, NULL, &log),
                      0);
        for (int k = 0; k < 6; k++)
            update(log, k == 3 ? jumps[i] : 0);
        assert_status(PdhCloseLog(log, 0), 0);
        assert_status(PdhOpenQueryA(path, 0, &capture), 0);
        assert_status(PdhAddCounterA(capture, "\\Processor(0)\\% Processor Time", 0, &time), 0);
        assert_status(PdhAddCounterA(capture, "\\System\\Context Switches/sec", 0, &switched), 0);
        assert_status(PdhCollectQueryData(capture), 0);
        reads(capture, time, switched, 0);
        reads(capture, time, switched, 0);
        reads(capture, time, switched, (PDH_STATUS)PDH_INVALID_DATA); /* the clock was set */
        reads(capture, time, switched, (PDH_STATUS)PDH_INVALID_DATA); /* without a sample before */
        reads(capture, time, switched, 0);
        assert_status(PdhCloseQuery(capture), 0);
    }
}

#define WITH_QUERY(test) cmocka_unit_test_setup_teardown(test, open_query, close_query)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_QUERY(a_steady_second),
        WITH_QUERY(a_clock_that_was_set),
        WITH_QUERY(a_clock_that_is_slewed),
        WITH_QUERY(a_clock_that_stands),
        WITH_QUERY(an_interruption_between_the_clocks),
        WITH_QUERY(a_capture_has_blanks),
        WITH_QUERY(a_blg_has_no_false_values),
    };
    return cmocka_run_group_tests_name("api-pdh-clock", tests, frozen_make, frozen_remove);
}
