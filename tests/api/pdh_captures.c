/* SPDX-License-Identifier: MIT */
/*
 * Captures (files with recorded samples), read through the public functions: a recording that
 * Windows made, with 250 values, gives the same values from its three formats (BLG, CSV, TSV), and
 * its raw records are returned as they are in the files. (docs/windows/types.md#b4,
 * docs/windows/pdh.md#f2)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openperflib/capture.h>
#include <openperflib/unstable.h>

#include "../pdh/vectors.h"
#include "../temp.h"

#define assert_status(call, status) assert_int_equal((DWORD)(call), (DWORD)(status))
static char folder[64], blg[512], csv[512], tsv[512];
static LONGLONG times[VECTOR_SAMPLES]; /* the times of the samples, as in the BLG */

static int begin(void **state)
{
    const char *golden = getenv("GOLDEN");
    snprintf(blg, sizeof blg, "%s/perfmon-logs/CounterSamples.blg", golden);
    snprintf(csv, sizeof csv, "%s/perfmon-logs/CounterSamples.csv", golden);
    snprintf(tsv, sizeof tsv, "%s/perfmon-logs/CounterSamples.tsv", golden);
    temp_make(folder);
    vectors_read();
    return 0;
}

static int end(void **state)
{
    temp_remove(folder);
    return 0;
}

/* ---- the cells ---- */

static PDH_HLOG opened(const char *file, DWORD type)
{
    PDH_HLOG log = NULL;
    DWORD found = PDH_LOG_TYPE_UNDEFINED;
    assert_status(
        PdhOpenLogA(file, PDH_LOG_READ_ACCESS | PDH_LOG_OPEN_EXISTING, &found, NULL, 0, NULL, &log),
        0);
    assert_int_equal(found, type);
    return log;
}

static void cells_of_binary(const char *file)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counters[VECTOR_COLUMNS];
    assert_status(PdhOpenQueryA(file, 0, &query), 0);
    vectors_add(query, counters);
    for (size_t i = 0; i < VECTOR_SAMPLES; i++) {
        assert_status(PdhCollectQueryDataWithTime(query, &times[i]), 0);
        for (size_t k = 0; k < VECTOR_COLUMNS; k++) {
            vector_is_collected(&vectors[i][k], counters[k]);
            vector_is_calculated(&vectors[i][k], counters[k]);
        }
    }
    for (size_t k = 0; k < VECTOR_COLUMNS; k++) {
        vector_is_described(&vectors[0][k], counters[k]);
        column_has_statistics(k, counters[k]);
    }
    LONGLONG kept = 5;
    assert_status(PdhCollectQueryDataWithTime(query, &kept), PDH_NO_MORE_DATA);
    assert_true(kept == 5);
    assert_status(PdhCloseQuery(query), 0);
}

static void cells_of_the_binary_capture(void **state)
{
    cells_of_binary(blg);
}

static void cells_of_the_compressed_capture(void **state)
{
    char path[512];
    LONGLONG size = 0;
    snprintf(path, sizeof path, "%s/compressed", folder); /* whatever its name */
    PDH_STATUS status = (PDH_STATUS)opl_capture_compress(blg, path);
    if (status && strstr(opl_capture_problem(), "install the package libzstd1"))
        return; /* a build for 32 bits; cmocka calls a skipped test "not ok" */
    assert_status(status, 0);
    cells_of_binary(path);
    PDH_HLOG log = opened(path, PDH_LOG_TYPE_BINARY);
    assert_status(PdhGetLogFileSize(log, &size), 0);
    assert_true(size > 1000 && size < 20000); /* the size of the compressed file */
    assert_status(PdhCloseLog(log, 0), 0);
    assert_status(opl_capture_compress(csv, path), PDH_UNKNOWN_LOG_FORMAT);
    assert_non_null(strstr(opl_capture_problem(), "it is no BLG"));
}

static void cells_of_text(const char *file)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counters[VECTOR_COLUMNS];
    PDH_FMT_COUNTERVALUE value;
    assert_status(PdhOpenQueryA(file, 0, &query), 0);
    vectors_add(query, counters);
    for (size_t i = 0; i < VECTOR_SAMPLES; i++) {
        assert_status(PdhCollectQueryData(query), 0);
        for (size_t k = 0; k < VECTOR_COLUMNS; k++)
            vector_is(&vectors[i][k],
                      PdhGetFormattedCounterValue(counters[k], VECTOR_DOUBLE, NULL, &value),
                      &value);
    }
    assert_status(PdhCloseQuery(query), 0);
}

static void cells_of_the_text_captures(void **state)
{
    cells_of_text(csv);
    cells_of_text(tsv);
}

/* ---- records ---- */

static FILETIME filetime(LONGLONG time)
{
    return (FILETIME){(DWORD)(uint64_t)time, (DWORD)((uint64_t)time >> 32)};
}

/* Reads a record: first its size, then the record. The caller frees it. */
static PDH_RAW_LOG_RECORD *record_at(PDH_HLOG log, LONGLONG time)
{
    DWORD size = 0;
    assert_status(PdhReadRawLogRecord(log, filetime(time), NULL, &size), PDH_MORE_DATA);
    PDH_RAW_LOG_RECORD *record = malloc(size + 1);
    DWORD small = size - 1, capacity = size + 1;
    memset(record, 0x5a, size + 1);
    assert_status(PdhReadRawLogRecord(log, filetime(time), record, &small), PDH_MORE_DATA);
    assert_int_equal(small, size);
    /* the buffer was too small, and nothing was written */
    assert_int_equal(record->dwStructureSize, 0x5a5a5a5a);
    assert_status(PdhReadRawLogRecord(log, filetime(time), record, &capacity), 0);
    assert_int_equal(capacity, size);
    assert_int_equal(record->dwStructureSize, size);
    assert_int_equal(record->dwItems, size - offsetof(PDH_RAW_LOG_RECORD, RawBytes));
    assert_int_equal(((unsigned char *)record)[size], 0x5a);
    return record;
}

static LONGLONG number_at(const UCHAR *at)
{
    LONGLONG number;
    memcpy(&number, at, sizeof number);
    return number;
}

static DWORD dword_at(const UCHAR *at)
{
    DWORD number;
    memcpy(&number, at, sizeof number);
    return number;
}

/* The first piece of a record is the array of network cards: items with name, multi count, first
 * and second value. (docs/windows/pdh.md#f8) */
static void cards_are(const UCHAR *piece, size_t sample)
{
    enum { ITEMS = 8 + 24, ITEM = 24 };
    assert_int_equal(dword_at(piece), 0x02034C42);
    assert_int_equal(dword_at(piece + 12), 5);
    for (size_t i = 0; i < 5; i++) {
        const UCHAR *item = piece + ITEMS + i * ITEM;
        bool found = false;
        for (size_t k = 0; k < 5; k++)
            found |= number_at(item + 8) == vectors[sample][k].new_first &&
                     number_at(item + 16) == vectors[sample][k].new_second;
        assert_true(found);
    }
}

/* A single value in a record: a PDH_RAW_COUNTER as it is in memory on 64-bit Windows. */
static void value_is(const UCHAR *piece, const struct vector *vector)
{
    assert_int_equal(dword_at(piece), 0x01034C42);
    assert_int_equal(dword_at(piece + 4), 0x30);
    assert_true(number_at(piece + 8 + 16) == vector->new_first);
    assert_true(number_at(piece + 8 + 24) == vector->new_second);
}

static void binary_records(void **state)
{
    PDH_HLOG log = opened(blg, PDH_LOG_TYPE_BINARY);
    for (size_t i = 0; i < VECTOR_SAMPLES; i++) {
        PDH_RAW_LOG_RECORD *record = record_at(log, times[i]);
        const UCHAR *bytes = record->RawBytes;
        assert_int_equal(record->dwRecordType, PDH_LOG_TYPE_BINARY);
        assert_int_equal(dword_at(bytes), 0x00034C42);
        assert_true(dword_at(bytes + 4) <= record->dwItems);
        cards_are(bytes + 8, i);
        const UCHAR *piece = bytes + 8 + dword_at(bytes + 12);
        for (size_t k = 5; k < VECTOR_COLUMNS; k++, piece += 0x30)
            value_is(piece, &vectors[i][k]);
        assert_true(piece == bytes + dword_at(bytes + 4));
        free(record);
    }
    assert_status(PdhCloseLog(log, 0), 0);
}

/* Each record is a line of the file, without its end; records may be read in any order. */
static void records_of_text(const char *path, DWORD type)
{
    PDH_HLOG log = opened(path, type);
    char lines[VECTOR_SAMPLES + 1][1024];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (size_t i = 0; i <= VECTOR_SAMPLES; i++) {
        assert_non_null(fgets(lines[i], sizeof lines[i], file));
        lines[i][strcspn(lines[i], "\r\n")] = '\0';
    }
    fclose(file);
    for (size_t i = 0; i < 3 * VECTOR_SAMPLES; i++) {
        size_t at = i < VECTOR_SAMPLES ? i : i * 7 % VECTOR_SAMPLES;
        PDH_RAW_LOG_RECORD *record = record_at(log, times[at]);
        assert_int_equal(record->dwRecordType, type);
        assert_int_equal(record->dwItems, strlen(lines[at + 1]));
        assert_memory_equal(record->RawBytes, lines[at + 1], record->dwItems);
        free(record);
    }
    assert_status(PdhCloseLog(log, 0), 0);
}

static void text_records(void **state)
{
    records_of_text(csv, PDH_LOG_TYPE_CSV);
    records_of_text(tsv, PDH_LOG_TYPE_TSV);
}

/* A carriage return belongs to the line's end, in UTF-16 too; all other bytes are those of the
 * file. */
static void record_of(const char *name, const char *bytes, size_t size, const char *line,
                      size_t line_size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    PDH_HLOG log = opened(path, PDH_LOG_TYPE_CSV);
    PDH_RAW_LOG_RECORD *record = record_at(log, MAX_TIME_VALUE);
    assert_int_equal(record->dwItems, line_size);
    assert_memory_equal(record->RawBytes, line, line_size);
    free(record);
    assert_status(PdhCloseLog(log, 0), 0);
}

static void records_end_before_their_return(void **state)
{
    static const char narrow[] = "\"(PDH-CSV 4.0)\",\"\\\\h\\o\\c\"\r\n"
                                 "\"01/02/2020 03:04:05.678\",\"7\"\r\n";
    static const char line[] = "\"01/02/2020 03:04:05.678\",\"7\"";
    char wide[2 * sizeof narrow], wide_line[2 * sizeof line];
    for (size_t i = 0; i < sizeof narrow; i++)
        wide[2 * i] = narrow[i], wide[2 * i + 1] = '\0';
    for (size_t i = 0; i < sizeof line; i++)
        wide_line[2 * i] = line[i], wide_line[2 * i + 1] = '\0';
    record_of("narrow.csv", narrow, sizeof narrow - 1, line, sizeof line - 1);
    record_of("wide.csv", wide, 2 * (sizeof narrow - 1), wide_line, 2 * (sizeof line - 1));
}

/* PdhReadRawLogRecord returns the newest record that is not later than the given time. For example,
 * one tick (100 ns) before the third record's time it returns the second record. */
static void the_record_before_a_moment(void **state)
{
    PDH_HLOG log = opened(blg, PDH_LOG_TYPE_BINARY);
    DWORD size = 0;
    assert_status(PdhReadRawLogRecord(log, filetime(times[0] - 1), NULL, &size),
                  PDH_ENTRY_NOT_IN_LOG_FILE);
    assert_int_equal(size, 0);
    PDH_RAW_LOG_RECORD *second = record_at(log, times[2] - 1);
    value_is(second->RawBytes + 8 + dword_at(second->RawBytes + 12), &vectors[1][5]);
    PDH_RAW_LOG_RECORD *last = record_at(log, times[VECTOR_SAMPLES - 1] + 86400 * 10000000LL);
    value_is(last->RawBytes + 8 + dword_at(last->RawBytes + 12), &vectors[24][5]);
    assert_status(PdhReadRawLogRecord(log, filetime(times[0] - 1), NULL, &size),
                  PDH_ENTRY_NOT_IN_LOG_FILE);
    free(second);
    free(last);
    assert_status(PdhCloseLog(log, 0), 0);
}

/* Reading records does not consume the samples of a query, and a query does not consume records. */
static void records_beside_a_query(void **state)
{
    PDH_HLOG source = NULL;
    PDH_HQUERY query;
    PDH_HCOUNTER counters[VECTOR_COLUMNS];
    BYTE files[sizeof blg + 1] = {0};
    memcpy(files, blg, strlen(blg));
    assert_status(PdhBindInputDataSourceA(&source, (LPCSTR)files), 0);
    free(record_at(source, times[20]));
    assert_status(PdhOpenQueryH(source, 0, &query), 0);
    vectors_add(query, counters);
    for (size_t i = 0; i < VECTOR_SAMPLES; i++) {
        LONGLONG time = 0;
        assert_status(PdhCollectQueryDataWithTime(query, &time), 0);
        assert_true(time == times[i]);
        PDH_RAW_LOG_RECORD *record = record_at(source, times[VECTOR_SAMPLES - 1 - i]);
        value_is(record->RawBytes + 8 + dword_at(record->RawBytes + 12),
                 &vectors[VECTOR_SAMPLES - 1 - i][5]);
        free(record);
    }
    assert_status(PdhCloseQuery(query), 0);
    assert_status(PdhCloseLog(source, 0), 0);
}

static void refused_records(void **state)
{
    PDH_HLOG log = opened(csv, PDH_LOG_TYPE_CSV), now = NULL;
    PDH_RAW_LOG_RECORD record;
    DWORD size = sizeof record;
    assert_status(PdhReadRawLogRecord(NULL, filetime(0), &record, NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhReadRawLogRecord(log, filetime(0), NULL, &size), PDH_INVALID_ARGUMENT);
    assert_status(PdhReadRawLogRecord(NULL, filetime(0), &record, &size), PDH_INVALID_HANDLE);
    assert_status(PdhReadRawLogRecord(&record, filetime(0), &record, &size), PDH_INVALID_HANDLE);
    assert_status(PdhBindInputDataSourceA(&now, NULL), 0);
    assert_status(PdhReadRawLogRecord(now, filetime(0), &record, &size),
                  PDH_DATA_SOURCE_IS_REAL_TIME);
    assert_status(PdhCloseLog(now, 0), 0);
    assert_status(PdhCloseLog(log, 0), 0);
    assert_status(PdhReadRawLogRecord(log, filetime(0), &record, &size), PDH_INVALID_HANDLE);
    assert_int_equal(size, sizeof record);
}

/* ---- paths ---- */

/* The name of the object or the counter is a pattern: the paths of all five instances are found. */
static void names_of_paths_may_be_patterns(void **state)
{
    static const char *const paths[] = {"\\Network Interface(*)\\Bytes *",
                                        "\\Network Int*(*)\\Bytes Total/sec"};
    const char *const captures[] = {blg, csv};
    for (size_t i = 0; i < 4; i++) {
        PDH_HLOG source;
        char list[2000];
        DWORD length = sizeof list, found = 0;
        assert_status(PdhBindInputDataSourceA(&source, captures[i / 2]), 0);
        assert_status(PdhExpandWildCardPathHA(source, paths[i % 2], list, &length, 0), 0);
        for (const char *path = list; *path; path += strlen(path) + 1)
            found++;
        assert_int_equal(found, 5);
        assert_status(PdhCloseLog(source, 0), 0);
    }
}

/* With PDH_NOEXPANDINSTANCES, as on Windows, a path keeps its (*). With OPL_EXPAND_AS_RECORDED it
 * becomes what the capture has: one array of all interfaces in the BLG, five columns in the CSV. */
static void instances_are_not_expanded_unless_wanted(void **state)
{
    static const char wanted[] = "\\Network Interface(*)\\Bytes *";
    static const struct {
        const char *capture;
        DWORD flags, found;
    } rows[] = {
        {blg, PDH_NOEXPANDINSTANCES,  1},
        {blg, OPL_EXPAND_AS_RECORDED, 1},
        {blg, 0,                      5},
        {csv, PDH_NOEXPANDINSTANCES,  1},
        {csv, OPL_EXPAND_AS_RECORDED, 5},
        {csv, 0,                      5}
    };
    for (size_t i = 0; i < 6; i++) {
        PDH_HLOG source;
        char list[2000];
        DWORD length = sizeof list, found = 0;
        assert_status(PdhBindInputDataSourceA(&source, rows[i].capture), 0);
        assert_status(PdhExpandWildCardPathHA(source, wanted, list, &length, rows[i].flags), 0);
        for (const char *path = list; *path; path += strlen(path) + 1, found++)
            assert_int_equal(strstr(path, "(*)") != NULL, rows[i].found == 1);
        assert_int_equal(found, rows[i].found);
        assert_status(PdhCloseLog(source, 0), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_the_binary_capture), /* must be first, because it fills `times` */
        cmocka_unit_test(cells_of_the_compressed_capture),
        cmocka_unit_test(cells_of_the_text_captures),
        cmocka_unit_test(binary_records),
        cmocka_unit_test(text_records),
        cmocka_unit_test(records_end_before_their_return),
        cmocka_unit_test(the_record_before_a_moment),
        cmocka_unit_test(records_beside_a_query),
        cmocka_unit_test(refused_records),
        cmocka_unit_test(names_of_paths_may_be_patterns),
        cmocka_unit_test(instances_are_not_expanded_unless_wanted),
    };
    return cmocka_run_group_tests_name("api-pdh-captures", tests, begin, end);
}
