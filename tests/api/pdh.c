/* SPDX-License-Identifier: MIT */
/* PdhFormatFromRawValue and PdhEnumMachines as a program calls them: each argument must reach the
 * right parameter of the function inside the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pdh.h>
#include <pdhmsg.h>

static void newest_comes_before_older(void **state)
{
    PDH_RAW_COUNTER before = {.FirstValue = 100, .SecondValue = 5000};
    PDH_RAW_COUNTER newest = {.FirstValue = 400, .SecondValue = 6500};
    LONGLONG time_base = 1000;
    PDH_FMT_COUNTERVALUE value;
    assert_int_equal(PdhFormatFromRawValue(PERF_COUNTER_COUNTER, PDH_FMT_LARGE, &time_base, &newest,
                                           &before, &value),
                     0);
    assert_int_equal(value.CStatus, PDH_CSTATUS_VALID_DATA);
    assert_true(value.largeValue == 200);
    assert_int_equal((DWORD)PdhFormatFromRawValue(PERF_COUNTER_COUNTER, PDH_FMT_LARGE, &time_base,
                                                  &before, &newest, &value),
                     PDH_CALC_NEGATIVE_DENOMINATOR);
    assert_int_equal(value.CStatus, PDH_CSTATUS_INVALID_DATA);
}

static void refusal_leaves_the_value(void **state)
{
    PDH_RAW_COUNTER newest = {0};
    PDH_FMT_COUNTERVALUE value, same;
    memset(&value, 0x5a, sizeof value);
    same = value;
    assert_int_equal((DWORD)PdhFormatFromRawValue(PERF_SAMPLE_BASE, PDH_FMT_LONG, NULL, &newest,
                                                  &newest, &value),
                     PDH_INVALID_ARGUMENT);
    assert_memory_equal(&value, &same, sizeof value);
}

/* The first call returns the length that the second call needs. */
static void f_d2_machines_in_two_calls(void **state)
{
    char list[256];
    DWORD length = 0;
    assert_int_equal((DWORD)PdhEnumMachinesA(NULL, NULL, &length), PDH_MORE_DATA);
    assert_in_range(length, 5, sizeof list);
    assert_int_equal(PdhEnumMachinesA(NULL, list, &length), 0);
    assert_int_equal(strlen(list) + 2, length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f_d2_machines_in_two_calls),
        cmocka_unit_test(newest_comes_before_older),
        cmocka_unit_test(refusal_leaves_the_value),
    };
    return cmocka_run_group_tests_name("api-pdh", tests, NULL, NULL);
}
