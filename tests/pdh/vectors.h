/* SPDX-License-Identifier: MIT */
/*
 * The 250 values of golden/pdh-vectors.tsv: for each, what Windows sampled, and the text that it
 * printed. They are compared through the public functions; the query may have any data source.
 */
#ifndef OPL_TEST_PDH_VECTORS_H
#define OPL_TEST_PDH_VECTORS_H

#include <pdh.h>
#include <pdhmsg.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTOR_SAMPLES = 25, VECTOR_COLUMNS = 10, VECTOR_FIELDS = 12 };
struct vector {
    char path[128]; /* without the machine's name */
    DWORD type, multi;
    LONGLONG time_base, old_first, old_second, new_first, new_second;
    LONG scale;
    bool has_old, blank;
    char text[40];
};
static struct vector vectors[VECTOR_SAMPLES][VECTOR_COLUMNS];

static inline void vector_take(char *line, size_t row)
{
    char *fields[VECTOR_FIELDS];
    size_t count = 0;
    for (char *at = line; at && count < VECTOR_FIELDS; count++)
        fields[count] = strsep(&at, "\t\n");
    assert_int_equal(count, VECTOR_FIELDS);
    assert_int_equal(strtoul(fields[0], NULL, 10), row / VECTOR_COLUMNS);
    struct vector *vector = &vectors[row / VECTOR_COLUMNS][row % VECTOR_COLUMNS];
    snprintf(vector->path, sizeof vector->path, "%s", strchr(fields[2] + 2, '\\'));
    vector->type = (DWORD)strtoul(fields[3], NULL, 16);
    vector->time_base = strtoll(fields[4], NULL, 10);
    vector->scale = (LONG)strtol(fields[5], NULL, 10);
    vector->has_old = fields[6][0] != '\0';
    vector->old_first = strtoll(fields[6], NULL, 10);
    vector->old_second = strtoll(fields[7], NULL, 10);
    vector->new_first = strtoll(fields[8], NULL, 10);
    vector->new_second = strtoll(fields[9], NULL, 10);
    vector->multi = (DWORD)strtoul(fields[10], NULL, 10);
    vector->blank = !strcmp(fields[11], "BLANK");
    snprintf(vector->text, sizeof vector->text, "%s", fields[11]);
}

static inline void vectors_read(void)
{
    char path[512], line[512];
    size_t row = 0;
    snprintf(path, sizeof path, "%s/pdh-vectors.tsv", getenv("GOLDEN"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file)); /* the heading */
    for (; fgets(line, sizeof line, file); row++) {
        assert_true(row < VECTOR_SAMPLES * VECTOR_COLUMNS);
        vector_take(line, row);
    }
    fclose(file);
    assert_int_equal(row, VECTOR_SAMPLES * VECTOR_COLUMNS);
}

/* Checks that the value is what Windows printed, or absent where Windows printed a blank. */
static inline void vector_is(const struct vector *vector, PDH_STATUS status,
                             const PDH_FMT_COUNTERVALUE *value)
{
    char text[40];
    if (vector->blank) {
        assert_int_equal((DWORD)status, PDH_INVALID_DATA);
        assert_int_equal(value->CStatus, PDH_CSTATUS_INVALID_DATA);
        return;
    }
    assert_int_equal(status, 0);
    assert_int_equal(value->CStatus, PDH_CSTATUS_VALID_DATA);
    snprintf(text, sizeof text, "%.17g", value->doubleValue);
    assert_string_equal(text, vector->text);
}

enum { VECTOR_DOUBLE = PDH_FMT_DOUBLE | PDH_FMT_NOCAP100 };

/* Compares the value of the query's newest sample: raw, computed, and truncated to a whole
 * number. */
static inline void vector_is_collected(const struct vector *vector, PDH_HCOUNTER counter)
{
    PDH_RAW_COUNTER raw;
    PDH_FMT_COUNTERVALUE value;
    DWORD type = 77;
    assert_int_equal(PdhGetRawCounterValue(counter, &type, &raw), 0);
    assert_int_equal(type, vector->type);
    assert_int_equal(raw.CStatus, PDH_CSTATUS_VALID_DATA);
    assert_true(raw.FirstValue == vector->new_first && raw.SecondValue == vector->new_second);
    assert_int_equal(raw.MultiCount, vector->multi);
    type = 77;
    PDH_STATUS status = PdhGetFormattedCounterValue(counter, VECTOR_DOUBLE, &type, &value);
    vector_is(vector, status, &value);
    assert_int_equal(type, vector->type);
    if (vector->blank)
        return;
    LONGLONG whole = (LONGLONG)strtod(vector->text, NULL);
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_LARGE, NULL, &value), 0);
    assert_true(value.largeValue == whole);
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_LONG, NULL, &value), 0);
    assert_true(value.longValue == (whole > INT32_MAX ? INT32_MAX : (LONG)whole));
}

/* Computes the value from the same two samples, which are passed to PDH by the caller, and compares
 * it. */
static inline void vector_is_calculated(const struct vector *vector, PDH_HCOUNTER counter)
{
    PDH_RAW_COUNTER old = {.FirstValue = vector->old_first, .SecondValue = vector->old_second};
    PDH_RAW_COUNTER new = {.FirstValue = vector->new_first, .SecondValue = vector->new_second};
    PDH_RAW_COUNTER *before = vector->has_old ? &old : NULL;
    PDH_FMT_COUNTERVALUE value;
    LONGLONG base = vector->time_base;
    old.MultiCount = new.MultiCount = vector->multi;
    PDH_STATUS both[] = {
        PdhCalculateCounterFromRawValue(counter, VECTOR_DOUBLE, &new, before, &value),
        PdhFormatFromRawValue(vector->type, VECTOR_DOUBLE, &base, &new, before, &value)};
    if (vector->blank) {
        assert_int_equal((DWORD)both[0], PDH_INVALID_ARGUMENT);
        assert_int_equal((DWORD)both[1], PDH_INVALID_ARGUMENT);
        return;
    }
    vector_is(vector, both[1], &value);
    assert_int_equal(PdhCalculateCounterFromRawValue(counter, VECTOR_DOUBLE, &new, before, &value),
                     both[0]);
    vector_is(vector, both[0], &value);
}

/* Compares the description of a counter. */
static inline void vector_is_described(const struct vector *vector, PDH_HCOUNTER counter)
{
    union {
        PDH_COUNTER_INFO_A info;
        char storage[2048];
    } is;
    LONGLONG base = 0;
    DWORD size = sizeof is;
    assert_int_equal(PdhGetCounterTimeBase(counter, &base), 0);
    assert_true(base == vector->time_base);
    assert_int_equal(PdhGetCounterInfoA(counter, FALSE, &size, &is.info), 0);
    assert_int_equal(is.info.dwType, vector->type);
    assert_int_equal(is.info.lDefaultScale, vector->scale);
    assert_int_equal(is.info.lScale, 0);
}

/* Compares the statistics of a column: the number of values, the smallest, the largest, and the
 * mean. */
static inline void column_has_statistics(size_t column, PDH_HCOUNTER counter)
{
    PDH_RAW_COUNTER ring[VECTOR_SAMPLES];
    PDH_STATISTICS is;
    const size_t first = 7; /* the ring of samples begins with the oldest one at this position */
    double min = 0, max = 0, sum = 0;
    DWORD count = 0;
    for (size_t i = 0; i < VECTOR_SAMPLES; i++) {
        const struct vector *vector = &vectors[i][column];
        ring[(i + first) % VECTOR_SAMPLES] = (PDH_RAW_COUNTER){.FirstValue = vector->new_first,
                                                               .SecondValue = vector->new_second,
                                                               .MultiCount = vector->multi};
        double number = strtod(vector->text, NULL);
        if (vector->blank)
            continue;
        min = !count || number < min ? number : min;
        max = !count || number > max ? number : max;
        sum += number;
        count++;
    }
    assert_int_equal(PdhComputeCounterStatistics(counter, VECTOR_DOUBLE, (DWORD)first,
                                                 VECTOR_SAMPLES, ring, &is),
                     0);
    assert_int_equal(is.dwFormat, VECTOR_DOUBLE);
    assert_int_equal(is.count, count);
    assert_true(is.min.doubleValue == min && is.max.doubleValue == max);
    assert_true(is.mean.doubleValue == sum / count);
}

/* Adds all columns to a query. */
static inline void vectors_add(PDH_HQUERY query, PDH_HCOUNTER ret[static VECTOR_COLUMNS])
{
    for (size_t i = 0; i < VECTOR_COLUMNS; i++)
        assert_int_equal(PdhAddCounterA(query, vectors[0][i].path, 0, &ret[i]), 0);
}

#endif
