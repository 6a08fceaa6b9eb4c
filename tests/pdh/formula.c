/* SPDX-License-Identifier: MIT */
/* Tests of pdh/formula.c and pdh/value.c through their public functions, with the lines of a
 * golden file (expected results) and with values that Windows printed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pdh/pdh.h"

#define TYPE(name)                                                                                 \
    {                                                                                              \
#name, PERF_##name                                                                         \
    }
#define STATUS(name)                                                                               \
    {                                                                                              \
#name, PDH_##name                                                                          \
    }
struct named {
    const char *name;
    DWORD value;
};

static const struct named types[] = {TYPE(COUNTER_COUNTER),
                                     TYPE(COUNTER_BULK_COUNT),
                                     TYPE(SAMPLE_COUNTER),
                                     TYPE(COUNTER_TIMER),
                                     TYPE(COUNTER_TIMER_INV),
                                     TYPE(100NSEC_TIMER),
                                     TYPE(100NSEC_TIMER_INV),
                                     TYPE(OBJ_TIME_TIMER),
                                     TYPE(COUNTER_MULTI_TIMER),
                                     TYPE(COUNTER_MULTI_TIMER_INV),
                                     TYPE(100NSEC_MULTI_TIMER),
                                     TYPE(100NSEC_MULTI_TIMER_INV),
                                     TYPE(COUNTER_QUEUELEN_TYPE),
                                     TYPE(COUNTER_LARGE_QUEUELEN_TYPE),
                                     TYPE(COUNTER_100NS_QUEUELEN_TYPE),
                                     TYPE(COUNTER_OBJ_TIME_QUEUELEN_TYPE),
                                     TYPE(COUNTER_RAWCOUNT),
                                     TYPE(COUNTER_LARGE_RAWCOUNT),
                                     TYPE(COUNTER_RAWCOUNT_HEX),
                                     TYPE(COUNTER_LARGE_RAWCOUNT_HEX),
                                     TYPE(COUNTER_DELTA),
                                     TYPE(COUNTER_LARGE_DELTA),
                                     TYPE(SAMPLE_FRACTION),
                                     TYPE(RAW_FRACTION),
                                     TYPE(LARGE_RAW_FRACTION),
                                     TYPE(AVERAGE_TIMER),
                                     TYPE(AVERAGE_BULK),
                                     TYPE(ELAPSED_TIME),
                                     TYPE(PRECISION_SYSTEM_TIMER),
                                     TYPE(PRECISION_100NS_TIMER),
                                     TYPE(PRECISION_OBJECT_TIMER),
                                     TYPE(SAMPLE_BASE),
                                     TYPE(AVERAGE_BASE),
                                     TYPE(RAW_BASE),
                                     TYPE(LARGE_RAW_BASE),
                                     TYPE(COUNTER_MULTI_BASE),
                                     TYPE(COUNTER_TEXT),
                                     TYPE(COUNTER_NODATA),
                                     TYPE(COUNTER_HISTOGRAM_TYPE)};
enum { WITHOUT_FORMULA = 8 };
static const struct named statuses[] = {
    STATUS(INVALID_ARGUMENT), STATUS(INVALID_DATA), STATUS(CALC_NEGATIVE_VALUE),
    STATUS(CALC_NEGATIVE_DENOMINATOR), STATUS(CALC_NEGATIVE_TIMEBASE)};

static DWORD value_of(const struct named *names, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i].name, word) == 0)
            return names[i].value;
    fail_msg("unknown word in formula.txt: %s", word);
    return 0;
}

static DWORD type_of(const char *word)
{
    if (strncmp(word, "0x", 2) == 0)
        return (DWORD)strtoul(word, NULL, 16);
    return value_of(types, COUNT(types), word);
}

static DWORD format_of(char *text)
{
    static const struct named formats[] = {
        {"double",  PDH_FMT_DOUBLE  },
        {"long",    PDH_FMT_LONG    },
        {"large",   PDH_FMT_LARGE   },
        {"1000",    PDH_FMT_1000    },
        {"nocap",   PDH_FMT_NOCAP100},
        {"noscale", PDH_FMT_NOSCALE }
    };
    DWORD format = 0;
    char *rest;
    for (char *word = strtok_r(text, "+", &rest); word; word = strtok_r(NULL, "+", &rest))
        format |= value_of(formats, COUNT(formats), word);
    return format;
}

/* Computes the value of a line, and writes it in the format of the line's last column. */
static void answer(DWORD type, DWORD format, const char *base, const PDH_RAW_COUNTER *before,
                   const PDH_RAW_COUNTER *newest, char *ret, size_t capacity)
{
    LONGLONG time_base = strtoll(base, NULL, 10);
    PDH_FMT_COUNTERVALUE value;
    memset(&value, 0x5a, sizeof value);
    PDH_STATUS status = format_from_raw(type, format, strcmp(base, "-") ? &time_base : NULL, newest,
                                        before, &value);
    if (status) {
        bool untouched = value.CStatus == 0x5a5a5a5a;
        assert_int_equal(untouched, (DWORD)status == PDH_INVALID_ARGUMENT);
        if (!untouched)
            assert_int_equal(value.CStatus, PDH_CSTATUS_INVALID_DATA);
        for (size_t i = 0; i < COUNT(statuses); i++)
            if (statuses[i].value == (DWORD)status)
                snprintf(ret, capacity, "%s", statuses[i].name);
        return;
    }
    assert_int_equal(value.CStatus, PDH_CSTATUS_VALID_DATA);
    if (format & PDH_FMT_DOUBLE)
        snprintf(ret, capacity, "%.17g", value.doubleValue);
    else
        snprintf(ret, capacity, "%lld",
                 (long long)(format & PDH_FMT_LARGE ? value.largeValue : value.longValue));
}

static FILE *open_under(const char *variable, const char *path)
{
    char name[4096];
    FILE *file;
    assert_non_null(getenv(variable));
    snprintf(name, sizeof name, "%s/%s", getenv(variable), path);
    file = fopen(name, "r");
    assert_non_null(file);
    return file;
}

static void check_line(const char *line, unsigned number)
{
    char type[64], format[64], base[32], first[2][32], second[2][32], expected[64], got[64] = "?";
    PDH_RAW_COUNTER before = {0}, newest = {0};
    if (sscanf(line, "%63s %63s %31s %31s %31s %31s %31s %u %63s", type, format, base, first[0],
               second[0], first[1], second[1], &newest.MultiCount, expected) != 9)
        fail_msg("formula.txt:%u: not nine columns", number);
    before.FirstValue = strtoll(first[0], NULL, 10);
    before.SecondValue = strtoll(second[0], NULL, 10);
    newest.FirstValue = strtoll(first[1], NULL, 10);
    newest.SecondValue = strtoll(second[1], NULL, 10);
    answer(type_of(type), format_of(format), base, strcmp(first[0], "-") ? &before : NULL, &newest,
           got, sizeof got);
    if (strcmp(got, expected) != 0)
        fail_msg("formula.txt:%u: %s: expected %s, got %s", number, type, expected, got);
}

static void golden_lines(void **state)
{
    FILE *file = open_under("SOURCE_ROOT", "tests/formula.txt");
    char line[512];
    unsigned number = 0, cases = 0;
    while (fgets(line, sizeof line, file)) {
        number++;
        if (line[0] == '#' || line[0] == '\n')
            continue;
        check_line(line, number);
        cases++;
    }
    fclose(file);
    assert_true(cases > 90);
}

/* Checks one value of a log that Windows wrote: from its raw values the printed text must result;
 * where Windows printed a blank, no value. */
static bool check_cell(char *line)
{
    char *field[12], *rest = line;
    char got[64] = "?";
    PDH_RAW_COUNTER before = {0}, newest = {0};
    for (size_t i = 0; i < COUNT(field); i++)
        field[i] = strsep(&rest, "\t\n");
    assert_non_null(field[11]);
    before.FirstValue = strtoll(field[6], NULL, 10);
    before.SecondValue = strtoll(field[7], NULL, 10);
    newest.FirstValue = strtoll(field[8], NULL, 10);
    newest.SecondValue = strtoll(field[9], NULL, 10);
    newest.MultiCount = (DWORD)strtoul(field[10], NULL, 10);
    answer((DWORD)strtoul(field[3], NULL, 16), PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, field[4],
           *field[6] ? &before : NULL, &newest, got, sizeof got);
    if (strcmp(field[11], "BLANK") == 0) {
        assert_string_equal(got, "INVALID_ARGUMENT");
        return false;
    }
    assert_string_equal(got, field[11]);
    return true;
}

static void windows_cells_bit_for_bit(void **state)
{
    FILE *file = open_under("GOLDEN", "pdh-vectors.tsv");
    char line[2048];
    int filled = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file))
        filled += check_cell(line);
    fclose(file);
    assert_int_equal(filled, 242);
}

/* For every type that has a name, it is decided: it has a formula, or it is listed as one that must
 * have none. */
static void every_type_is_decided(void **state)
{
    for (size_t i = 0; i < COUNT(types); i++)
        assert_int_equal(formula_known(types[i].value), i < COUNT(types) - WITHOUT_FORMULA);
}

static void types_that_need_two_samples(void **state)
{
    assert_true(formula_needs_two(PERF_COUNTER_COUNTER));
    assert_true(formula_needs_two(PERF_AVERAGE_TIMER));
    assert_true(formula_needs_two(PERF_AVERAGE_BULK));
    assert_false(formula_needs_two(PERF_RAW_FRACTION));
    assert_false(formula_needs_two(PERF_ELAPSED_TIME));
    assert_false(formula_needs_two(PERF_COUNTER_TEXT));
}

static void first_sample_has_no_value(void **state)
{
    PDH_RAW_COUNTER newest = {.FirstValue = 1, .SecondValue = 1};
    LONGLONG base = 1;
    struct cooked cooked;
    assert_int_equal((DWORD)formula_cook(PERF_COUNTER_COUNTER, &base, &newest, NULL, &cooked),
                     PDH_CSTATUS_INVALID_DATA);
}

static void invalid_sample_passes_its_status_on(void **state)
{
    PDH_RAW_COUNTER bad = {.CStatus = PDH_CSTATUS_NO_INSTANCE}, good = {.CStatus = 1};
    PDH_FMT_COUNTERVALUE value = {0};
    LONGLONG base = 1;
    PDH_STATUS status =
        format_from_raw(PERF_COUNTER_COUNTER, PDH_FMT_LONG, &base, &bad, &good, &value);
    assert_int_equal((DWORD)status, PDH_INVALID_DATA);
    assert_int_equal(value.CStatus, PDH_CSTATUS_NO_INSTANCE);
    value.CStatus = 0;
    status = format_from_raw(PERF_COUNTER_COUNTER, PDH_FMT_LONG, &base, &good, &bad, &value);
    assert_int_equal((DWORD)status, PDH_INVALID_DATA);
    assert_int_equal(value.CStatus, PDH_CSTATUS_NO_INSTANCE);
    /* this type needs only the newest sample, so the bad older one is ignored */
    status = format_from_raw(PERF_COUNTER_RAWCOUNT, PDH_FMT_LONG, &base, &good, &bad, &value);
    assert_int_equal(status, 0);
}

static void exactly_one_format(void **state)
{
    static const DWORD wrong[] = {0,
                                  PDH_FMT_RAW,
                                  PDH_FMT_ANSI | PDH_FMT_LONG,
                                  PDH_FMT_UNICODE | PDH_FMT_LONG,
                                  PDH_FMT_LONG | PDH_FMT_DOUBLE,
                                  PDH_FMT_LONG | PDH_FMT_DOUBLE | PDH_FMT_LARGE,
                                  PDH_FMT_LARGE | PDH_FMT_1000 | PDH_FMT_NOSCALE,
                                  PDH_FMT_NOCAP100};
    PDH_RAW_COUNTER newest = {0};
    PDH_FMT_COUNTERVALUE value;
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(
            (DWORD)format_from_raw(PERF_COUNTER_RAWCOUNT, wrong[i], NULL, &newest, NULL, &value),
            PDH_INVALID_ARGUMENT);
}

static void null_arguments(void **state)
{
    PDH_RAW_COUNTER newest = {0};
    PDH_FMT_COUNTERVALUE value;
    assert_int_equal((DWORD)format_from_raw(0, PDH_FMT_LONG, NULL, NULL, NULL, &value),
                     PDH_INVALID_ARGUMENT);
    assert_int_equal((DWORD)format_from_raw(0, PDH_FMT_LONG, NULL, &newest, NULL, NULL),
                     PDH_INVALID_ARGUMENT);
}

static void doubles_out_of_range_stop_at_the_ends(void **state)
{
    static const double numbers[] = {1e300, -1e300, 9223372036854775808.0, -9223372036854775808.0,
                                     -1.9};
    static const LONGLONG larges[] = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, -1};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        struct cooked cooked = {.number = numbers[i]};
        PDH_FMT_COUNTERVALUE value;
        format_value(&cooked, PDH_FMT_LARGE, 0, &value);
        assert_true(value.largeValue == larges[i]);
        format_value(&cooked, PDH_FMT_LONG, 0, &value);
        assert_int_equal(value.longValue, larges[i] == -1 ? -1
                                          : larges[i] < 0 ? INT32_MIN
                                                          : INT32_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_lines),
        cmocka_unit_test(windows_cells_bit_for_bit),
        cmocka_unit_test(every_type_is_decided),
        cmocka_unit_test(types_that_need_two_samples),
        cmocka_unit_test(first_sample_has_no_value),
        cmocka_unit_test(invalid_sample_passes_its_status_on),
        cmocka_unit_test(exactly_one_format),
        cmocka_unit_test(null_arguments),
        cmocka_unit_test(doubles_out_of_range_stop_at_the_ends),
    };
    return cmocka_run_group_tests_name("pdh-formula", tests, NULL, NULL);
}
