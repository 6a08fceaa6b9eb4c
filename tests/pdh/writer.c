/* SPDX-License-Identifier: MIT */
/* The samples that a query collects are written as CSV and TSV, and read back. */
#include "pdh/log/capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <fcntl.h>
#include <openperflib/capture.h>
#include <openperflib/unstable.h>

#include "fake.h"
#include "table.h"

#include "../temp.h"

static char folder[64];

static int prepare(void **state)
{
    fake_reset(state);
    temp_make(folder);
    table_names();
    return 0;
}

static int clean(void **state)
{
    temp_remove(folder);
    return 0;
}

/* Finds the paths of a capture that match a pattern; returns how many. */
static size_t paths_of(struct pdh_from from, const char *pattern, struct buffer *list,
                       const char **ret)
{
    size_t count = 0;
    assert_int_equal(expand_path(from, pattern, 0, list), 0);
    const char *cursor = list->data, *path;
    while ((path = text_multi_next(&cursor, list->data + list->len)))
        ret[count++] = path;
    return count;
}

/* ---- written ---- */

static void options_of(struct capture_options *options, PDH_HQUERY query, const char *name,
                       char path[512])
{
    snprintf(path, 512, "%s/%s", folder, name);
    *options = (struct capture_options){
        .file = path, .access = PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_ALWAYS, .query = query};
}

/* A query reads a capture and writes it again: the values in the new one are the same. */
static void a_capture_is_written_anew(void **state)
{
    static struct table before, after;
    BUFFER_AUTO list = {0};
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_HLOG log;
    const char *paths[64];
    char path[512];
    struct capture_options options;
    DWORD type = PDH_LOG_TYPE_CSV;
    size_t count = paths_of(file(blg), "\\Network Interface(*)\\*", &list, paths);
    assert_int_equal(query_open(file(blg), 0, &query), 0);
    assert_int_equal(
        counter_add(query, "\\Network Interface(*)\\Bytes Total/sec", false, 0, &counter), 0);
    options_of(&options, query, "new.csv", path);
    assert_int_equal(capture_open(&options, &type, &log), 0);
    while (capture_update(log, 0, NULL) == 0)
        ;
    assert_int_equal(capture_close(log, PDH_FLAGS_CLOSE_QUERY), 0);
    assert_int_equal(query_close(query), STATUS(INVALID_HANDLE));
    read_table(file(blg), paths, count, &before);
    read_table(file(path), paths, count, &after);
    assert_int_equal(after.rows, SAMPLES);
    for (size_t i = 1; i < SAMPLES; i++)
        for (size_t k = 0; k < count; k++)
            assert_memory_equal(&before.cells[i][k].doubleValue, &after.cells[i][k].doubleValue, 8);
}

/* Adds the columns of a text capture to a query, in their order. */
static void add_columns_of(const char *path, PDH_HQUERY query)
{
    struct log *log;
    PDH_HCOUNTER counter;
    assert_int_equal(log_open(&path, 1, &log, NULL), 0);
    for (size_t i = 0; i < log_columns(log); i++)
        assert_int_equal(counter_add(query, log_column(log, i)->path, false, 0, &counter), 0);
    log_close(log);
}

/* Removes carriage returns: in the public files, the line ends of Windows were changed when they
 * were published. */
static void without_returns(struct buffer *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->len; i++)
        if (text->data[i] != '\r')
            text->data[kept++] = text->data[i];
    text->data[text->len = kept] = '\0';
}

/* Windows wrote the same samples to a binary capture and to text files. From the binary one, the
 * same text files must result, byte for byte. */
static void a_binary_capture_becomes_windows_text(void **state)
{
    const struct {
        const char *like;
        DWORD type;
    } cases[] = {
        {csv, PDH_LOG_TYPE_CSV},
        {tsv, PDH_LOG_TYPE_TSV}
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        BUFFER_AUTO written = {0};
        BUFFER_AUTO wanted = {0};
        PDH_HQUERY query;
        PDH_HLOG log;
        char path[512];
        struct capture_options options;
        DWORD type = cases[i].type;
        assert_int_equal(query_open(file(blg), 0, &query), 0);
        add_columns_of(cases[i].like, query);
        options_of(&options, query, "like", path);
        assert_int_equal(capture_open(&options, &type, &log), 0);
        while (capture_update(log, 0, NULL) == 0)
            ;
        assert_int_equal(capture_close(log, PDH_FLAGS_CLOSE_QUERY), 0);
        assert_int_equal(file_read(AT_FDCWD, path, &written), 0);
        assert_int_equal(file_read(AT_FDCWD, cases[i].like, &wanted), 0);
        without_returns(&written);
        without_returns(&wanted);
        assert_string_equal(written.data, wanted.data);
    }
}

static void the_present_is_written(void **state)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_HLOG log;
    char path[512];
    struct capture_options options;
    DWORD type = PDH_LOG_TYPE_TSV;
    LONGLONG size = 0;
    PDH_TIME_INFO range;
    BUFFER_AUTO text = {0};
    assert_int_equal(query_open((struct pdh_from){0}, 0, &query), 0);
    assert_int_equal(counter_add(query, "\\System\\Processor Queue Length", false, 0, &counter), 0);
    assert_int_equal(counter_add(query, "\\Process(t*)\\ID Process", false, 0, &counter), 0);
    options_of(&options, query, "now.tsv", path);
    options.access |= PDH_LOG_OPT_USER_STRING;
    options.caption = "a caption";
    assert_int_equal(capture_open(&options, &type, &log), 0);
    fake_length = 3;
    assert_int_equal(capture_time_range((struct pdh_from){.log = log}, &range), 0);
    assert_int_equal(range.SampleCount, 0);
    assert_int_equal(capture_update(log, 0, "a word"), 0);
    assert_int_equal(capture_size(log, &size), 0);
    assert_int_equal(file_read(AT_FDCWD, path, &text), 0);
    assert_int_equal(size, text.len);
    assert_int_equal(capture_time_range((struct pdh_from){.log = log}, &range), 0);
    assert_int_equal(range.SampleCount, 1);
    assert_true(range.StartTime == range.EndTime && range.StartTime > 0);
    assert_non_null(strstr(text.data, "\\Process(twin)\\ID Process\"\t"));
    assert_non_null(strstr(text.data, "\\Process(Twin#1)\\ID Process\"\t\"a caption\""));
    assert_non_null(strstr(text.data, "\t\"3\"\t\"10\"\t\"11\"\t\"a word\"\r\n"));
    assert_int_equal(capture_close(log, 0), 0);
    assert_int_equal(query_close(query), 0);
}

/* The capture has one catalogue, with one entry for the wildcard; samples have the instances. */
static void a_wildcard_is_one_entry(void **state)
{
    static const char catalogue[] = "\xFF\x06\0\0\x08\0\x02";
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_HLOG handle;
    char path[512];
    const char *paths[] = {path};
    struct capture_options options;
    struct log *log = NULL;
    const struct log_sample *sample;
    DWORD type = PDH_LOG_TYPE_BINARY, count = fake_process_count;
    BUFFER_AUTO bytes = {0};
    assert_int_equal(query_open((struct pdh_from){0}, 0, &query), 0);
    assert_int_equal(counter_add(query, "\\Process(*)\\ID Process", false, 0, &counter), 0);
    options_of(&options, query, "live.blg", path);
    assert_int_equal(capture_open(&options, &type, &handle), 0);
    static const int differences[] = {0, 2, -1, 0};
    for (size_t i = 0; i < COUNT(differences); i++) {
        fake_process_count = count + (DWORD)differences[i];
        fake_processes[count] = fake_processes[count + 1] = (struct fake_process){"born", 77};
        assert_int_equal(capture_update(handle, 0, NULL), 0);
        fake_pass(1000);
    }
    assert_int_equal(capture_close(handle, 0), 0);
    assert_int_equal(query_close(query), 0);
    assert_int_equal(log_open(paths, 1, &log, NULL), 0);
    assert_int_equal(log_columns(log), 1);
    assert_int_equal(log_column(log, 0)->kind, LOG_ARRAY);
    for (size_t i = 0; i < COUNT(differences); i++) {
        assert_int_equal(log_next(log, &sample), 0);
        assert_int_equal(sample->values[0].kind, LOG_ARRAY);
        assert_int_equal(sample->values[0].count, count + (DWORD)differences[i]);
    }
    assert_int_equal(sample->values[0].items[0].first, fake_processes[0].id);
    log_close(log);
    assert_int_equal(file_read(AT_FDCWD, path, &bytes), 0);
    const char *first = memmem(bytes.data, bytes.len, catalogue, 8);
    assert_non_null(first);
    assert_null(memmem(first + 1, bytes.len - (size_t)(first + 1 - bytes.data), catalogue, 8));
}

/* A counter that is added after PdhOpenLog, or in a BLG after samples, is in the next sample. */
static void counters_are_added_later(void **state)
{
    static const DWORD types[] = {PDH_LOG_TYPE_CSV, PDH_LOG_TYPE_TSV, PDH_LOG_TYPE_BINARY};
    for (size_t i = 0; i < COUNT(types); i++) {
        PDH_HQUERY query;
        PDH_HCOUNTER counter;
        PDH_HLOG handle;
        char path[512];
        const char *const paths[] = {path};
        struct capture_options options;
        struct log *log;
        const struct log_sample *sample;
        DWORD type = types[i];
        bool binary = type == PDH_LOG_TYPE_BINARY;
        assert_int_equal(query_open((struct pdh_from){0}, 0, &query), 0);
        options_of(&options, query, "later", path);
        assert_int_equal(capture_open(&options, &type, &handle), 0);
        assert_int_equal(capture_update(handle, 0, NULL), STATUS(NO_DATA)); /* writes no sample */
        assert_int_equal(counter_add(query, "\\Process(*)\\ID Process", false, 0, &counter), 0);
        assert_int_equal(counter_add(query, "\\System\\Processor Queue Length", false, 0, &counter),
                         0);
        assert_int_equal(capture_update(handle, 0, NULL), 0);
        assert_int_equal(counter_add(query, "\\Process(init)\\ID Process", false, 0, &counter), 0);
        fake_pass(1000);
        assert_int_equal(capture_update(handle, 0, NULL), 0);
        assert_int_equal(capture_close(handle, PDH_FLAGS_CLOSE_QUERY), 0);
        assert_int_equal(log_open(paths, 1, &log, NULL), 0);
        size_t columns = log_columns(log);
        assert_true(binary ? columns == 2 : columns > 3);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(log_next(log, &sample), 0);
            for (size_t c = 0; c < (binary ? 2 + (size_t)k : columns); c++)
                assert_int_equal(sample->values[c].status, 0);
        }
        assert_int_equal((DWORD)log_next(log, &sample), PDH_NO_MORE_DATA);
        assert_int_equal(log_columns(log), columns + binary);
        log_close(log);
    }
}

/* A program keeps some counters of the samples that it collects itself. The counter of a path that
 * comes and goes, and is there twice for a while, is one column. */
static void chosen_counters_are_kept(void **state)
{
    static const char length[] = "\\System\\Processor Queue Length";
    PDH_HQUERY query;
    PDH_HCOUNTER counters[3];
    PDH_HLOG handle;
    char path[512];
    const char *const paths[] = {path};
    struct capture_options options;
    struct log *log;
    const struct log_sample *sample;
    DWORD type = PDH_LOG_TYPE_BINARY;
    LONGLONG times[4];
    assert_int_equal(query_open((struct pdh_from){0}, 0, &query), 0);
    assert_int_equal(counter_add(query, length, false, 1, &counters[0]), 0);
    assert_int_equal(counter_add(query, "\\Process(init)\\ID Process", false, 0, &counters[1]), 0);
    options_of(&options, query, "kept.blg", path);
    options.access |= OPL_LOG_MARKED;
    assert_int_equal(capture_open(&options, &type, &handle), 0);
    for (int i = 0; i < (int)COUNT(times); i++) {
        if (i == 1)
            assert_int_equal(counter_add(query, length, false, 1, &counters[2]), 0);
        if (i == 2)
            assert_int_equal(counter_remove(counters[0]), 0);
        fake_length = 10 + (DWORD)i;
        assert_int_equal(query_collect(query, &times[i]), 0);
        fake_length = 99; /* what another sample would have */
        assert_int_equal(opl_log_newest(handle, times[i]), 0);
        fake_pass(1000);
    }
    assert_int_equal(counter_remove(counters[2]), 0);
    assert_int_equal(opl_log_newest(handle, times[3]), PDH_NO_DATA);
    assert_int_equal(capture_close(handle, PDH_FLAGS_CLOSE_QUERY), 0);
    assert_int_equal(log_open(paths, 1, &log, NULL), 0);
    for (int i = 0; i < (int)COUNT(times); i++) {
        assert_int_equal(log_next(log, &sample), 0);
        assert_int_equal(sample->time, times[i]);
        assert_int_equal(sample->values[0].raw.FirstValue, 10 + i);
    }
    assert_int_equal((DWORD)log_next(log, &sample), PDH_NO_MORE_DATA);
    assert_int_equal(log_columns(log), 1);
    log_close(log);
}

/* An existing text file is continued if it has the columns of the counters at the first sample. */
static void later_counters_are_appended(void **state)
{
    static const char *const counters[] = {"\\Process(init)\\ID Process",
                                           "\\System\\Processor Queue Length"};
    static const size_t choices[] = {0, 0, 1};
    DWORD type = PDH_LOG_TYPE_CSV;
    char path[512];
    struct capture_options options;
    BUFFER_AUTO before = {0}, after = {0};
    for (size_t i = 0; i < COUNT(choices); i++) {
        PDH_HQUERY query;
        PDH_HCOUNTER counter;
        PDH_HLOG handle;
        assert_int_equal(query_open((struct pdh_from){0}, 0, &query), 0);
        options_of(&options, query, "continued", path);
        options.access = PDH_LOG_WRITE_ACCESS | PDH_LOG_OPEN_ALWAYS;
        assert_int_equal(capture_open(&options, &type, &handle), 0);
        assert_int_equal(counter_add(query, counters[choices[i]], false, 0, &counter), 0);
        PDH_STATUS wanted = i == 2 ? STATUS(UNMATCHED_APPEND_COUNTER) : 0;
        assert_int_equal(capture_update(handle, 0, NULL), wanted);
        assert_int_equal(capture_update(handle, 0, NULL), wanted);
        assert_int_equal(capture_close(handle, PDH_FLAGS_CLOSE_QUERY), 0);
        assert_int_equal(file_read(AT_FDCWD, path, i < 2 ? &before : &after), 0);
    }
    assert_string_equal(before.data, after.data);
    size_t lines = 0;
    for (const char *at = after.data; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 5);
}

static void options_that_cannot_be(void **state)
{
    PDH_HQUERY query;
    PDH_HLOG log;
    char path[512];
    struct capture_options options;
    DWORD type = PDH_LOG_TYPE_PERFMON;
    assert_int_equal(query_open((struct pdh_from){0}, 0, &query), 0);
    options_of(&options, query, "never", path);
    assert_int_equal(capture_open(&options, NULL, &log), STATUS(INVALID_ARGUMENT));
    assert_int_equal(capture_open(&options, &type, &log), STATUS(NOT_IMPLEMENTED));
    /* refused: a recording may be killed at any time, but a compressed file must be complete */
    options_of(&options, query, "never.blg.zst", path);
    type = PDH_LOG_TYPE_BINARY;
    assert_int_equal(capture_open(&options, &type, &log), STATUS(NOT_IMPLEMENTED));
    assert_non_null(strstr(opl_capture_problem(), "record to a .blg, then use relog"));
    options_of(&options, query, "now.blg", path); /* the next one is not refused for that reason */
    assert_int_equal(capture_open(&options, &type, &log), 0);
    assert_null(opl_capture_problem());
    assert_int_equal(capture_close(log, 0), 0);
    options_of(&options, query, "never", path);
    type = PDH_LOG_TYPE_CSV;
    options.access = PDH_LOG_CREATE_ALWAYS;
    assert_int_equal(capture_open(&options, &type, &log), STATUS(INVALID_ARGUMENT));
    options.access = PDH_LOG_WRITE_ACCESS | PDH_LOG_OPEN_EXISTING;
    assert_int_equal(capture_open(&options, &type, &log), STATUS(FILE_NOT_FOUND));
    options.access = PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_NEW;
    options.query = NULL;
    assert_int_equal(capture_open(&options, &type, &log), STATUS(INVALID_HANDLE));
    assert_int_equal(capture_update(query, 0, NULL), STATUS(INVALID_HANDLE));
    assert_int_equal(query_close(query), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_capture_is_written_anew),
        cmocka_unit_test(a_binary_capture_becomes_windows_text),
        cmocka_unit_test(the_present_is_written),
        cmocka_unit_test(a_wildcard_is_one_entry),
        cmocka_unit_test(counters_are_added_later),
        cmocka_unit_test(chosen_counters_are_kept),
        cmocka_unit_test(later_counters_are_appended),
        cmocka_unit_test(options_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
