/* SPDX-License-Identifier: MIT */
/* Tests of log_skim: all samples of a range are those that reading the set gives, and few samples
 * are some of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "folder.h"
#include "log/log.h"
#include "log/formats/zst.h"

enum { FILES = 3, SAMPLES = 240, ITEMS = 500, STEP = 15, HOUR = 3600 };
static const LONGLONG second = 10000000, begin = INT64_C(134100000000000000);
static char root[64], folder[FOLDER_SIZE];

static LONGLONG time_of(size_t number)
{
    return begin + (LONGLONG)number * STEP * second;
}

static const char *path_of(const char *end, size_t file)
{
    static char path[224];
    snprintf(path, sizeof path, "%s/f_%06zu.%s", folder, file, end);
    return path;
}

/* Writes a file of samples. Each has the sample's number and an array; the arrays of a file have 10
 * MB in all. */
static void write_file(const char *end, size_t file)
{
    static char names[ITEMS][16];
    static struct log_item items[ITEMS];
    const struct log_header header = {.kind = LOG_BINARY, .zone = "UTC"};
    const struct log_column columns[] = {
        {.kind = LOG_ARRAY,
         .machine = "\\\\M",
         .object = "Many",
         .instance = "*",
         .counter = "C",
         .type = 0x00010100},
        {.kind = LOG_RAW,                 .machine = "\\\\M",  .object = "One", .counter = "N", .type = 0x00010100}
    };
    struct log_writer *writer;
    assert_int_equal(log_create(path_of(end, file), LOG_CREATE_NEW, &header, &writer, NULL), 0);
    assert_int_equal(log_write_columns(writer, time_of(file * SAMPLES), columns, 2), 0);
    for (size_t i = file * SAMPLES; i < (file + 1) * SAMPLES; i++) {
        for (size_t k = 0; k < ITEMS; k++) {
            snprintf(names[k], sizeof names[k], "item %zu", k + i / 7);
            items[k] = (struct log_item){.name = names[k], .first = (LONGLONG)(i * k)};
        }
        const struct log_value values[] = {
            {.kind = LOG_ARRAY, .items = items, .count = ITEMS},
            {.kind = LOG_RAW,                 .raw.FirstValue = (LONGLONG)i                }
        };
        assert_int_equal(log_write_values(writer, time_of(i), values), 0);
    }
    assert_int_equal(log_write_close(writer), 0);
}

static int make_folders(void **state)
{
    return folder_make(root, "s", folder);
}

static int remove_folders(void **state)
{
    (void)state;
    temp_remove(root);
    return 0;
}

struct seen {
    size_t count, firsts, most;
    LONGLONG last;
    size_t column, array;
    char name[16]; /* first name of the array in the sample before */
    size_t same;   /* samples that have the names of the one before */
};

static bool take(void *context, const struct log_sample *sample, LONGLONG utc, bool first)
{
    struct seen *seen = context;
    const struct log_value *value = &sample->values[seen->column];
    assert_int_equal(value->status, PDH_CSTATUS_VALID_DATA);
    assert_int_equal(time_of((size_t)value->raw.FirstValue), utc);
    assert_true(utc > seen->last);
    seen->last = utc;
    seen->firsts += first;
    const struct log_value *array = &sample->values[seen->array];
    if (array->kind == LOG_ARRAY && !array->status) {
        assert_int_equal(array->count, ITEMS);
        if (array->same_names)
            assert_string_equal(array->items[0].name, seen->name);
        seen->same += array->same_names;
        snprintf(seen->name, sizeof seen->name, "%s", array->items[0].name);
    }
    return ++seen->count < seen->most;
}

static struct seen skim(struct log *log, LONGLONG from, LONGLONG to, LONGLONG step, size_t most)
{
    struct seen seen = {.most = most};
    for (size_t i = 0; i < log_columns(log); i++) {
        bool wanted = strcmp(log_column(log, i)->counter, "N") == 0;
        log_want(log, i, wanted);
        seen.column = wanted ? i : seen.column;
    }
    const struct log_skim what = {from, to, step, take, &seen};
    assert_int_equal(log_skim(log, &what), 0);
    return seen;
}

/* Names may be taken for those of the sample before only if the caller got that sample. */
static void check_names(struct log *log)
{
    const LONGLONG end = time_of(FILES * SAMPLES);
    for (size_t i = 0; i < log_columns(log); i++)
        log_want(log, i, true);
    for (size_t from = SAMPLES; from < FILES * SAMPLES; from += 60) {
        struct seen seen = {.most = SIZE_MAX};
        seen.column = strcmp(log_column(log, 0)->counter, "N") != 0;
        seen.array = !seen.column;
        const struct log_skim what = {time_of(from), end, 0, take, &seen};
        assert_int_equal(log_skim(log, &what), 0);
        assert_in_range(seen.same, seen.count / 2, seen.count);
    }
}

static void check_set(const char *end)
{
    const LONGLONG end_time = time_of(FILES * SAMPLES);
    const char *name = "s";
    struct log *log;
    for (size_t i = 0; i < FILES; i++)
        write_file(end, i);
    assert_int_equal(log_open(&name, 1, &log, NULL), 0);
    /* all samples; from = 0 and a far end, so that nothing is outside the range */
    struct seen all = skim(log, 0, INT64_MAX / 2, 0, SIZE_MAX);
    assert_int_equal(all.count, FILES * SAMPLES);
    assert_int_equal(all.firsts, 1);
    /* a quarter of an hour in the last file: the beginning of the file is not read */
    LONGLONG from = time_of(2 * SAMPLES + 180);
    struct seen some = skim(log, from, from + 15 * 60 * second, 0, SIZE_MAX);
    assert_in_range(some.count, 61, 61 + 110 + SAMPLES);
    assert_int_equal(some.last, time_of(FILES * SAMPLES - 1));
    /* with a step, some samples of each file; with a smaller step more of them */
    struct seen few = skim(log, 0, end_time, HOUR * second, SIZE_MAX);
    struct seen more = skim(log, 0, end_time, 900 * second, SIZE_MAX);
    assert_in_range(few.count, FILES, 2 * FILES);
    assert_in_range(more.count, few.count + 1, 5 * FILES);
    check_names(log);
    /* the callback refuses further samples after the fifth */
    assert_int_equal(skim(log, 0, INT64_MAX / 2, 0, 5).count, 5);
    /* afterwards, reading the set gives and checks all samples as before */
    const struct log_sample *sample;
    assert_int_equal(log_rewind(log), 0);
    size_t count = 0;
    while (log_next(log, &sample) == 0)
        count++;
    assert_int_equal(count, FILES * SAMPLES);
    assert_int_equal(log_losses(log)->any, false);
    log_close(log);
    for (size_t i = 0; i < FILES; i++)
        assert_int_equal(remove(path_of(end, i)), 0);
}

static void a_set_of_plain_files(void **state)
{
    (void)state;
    check_set("blg");
}

static void a_set_of_compressed_files(void **state)
{
    (void)state;
    if (zst_library()) /* not in a build for 32 bits without libzstd1 */
        check_set("blg.zst");
}

/* Damage that opening the set does not see: the file is named, with the reason. */
static void a_damaged_file_says_why(void **state)
{
    const char *name = "s";
    struct log *log;
    struct buffer text = {0};
    (void)state;
    if (!zst_library())
        return;
    for (size_t i = 0; i < FILES; i++)
        write_file("blg.zst", i);
    assert_int_equal(log_open(&name, 1, &log, NULL), 0);
    FILE *file = fopen(path_of("blg.zst", 1), "r+b");
    assert_non_null(file);
    fseek(file, 100, SEEK_SET);
    fwrite("damage damage damage", 1, 20, file);
    fclose(file);
    assert_int_equal(skim(log, 0, INT64_MAX / 2, 0, SIZE_MAX).count, (FILES - 1) * SAMPLES);
    losses_print(log_losses(log), &text);
    assert_non_null(
        strstr(text.data, ": 1, the first is f_000001.blg.zst: offset 0: cannot be read"));
    buffer_done(&text);
    log_close(log);
    for (size_t i = 0; i < FILES; i++)
        assert_int_equal(remove(path_of("blg.zst", i)), 0);
}

static void only_sets_are_skimmed(void **state)
{
    struct log *log;
    (void)state;
    static const char text[] = "\"(PDH-CSV 4.0)\",\"\\\\M\\O\\C\"\r\n";
    assert_int_equal(log_open_bytes(text, sizeof text - 1, "x", &log, NULL), 0);
    const struct log_skim what = {0, 1, 0, take, NULL};
    assert_int_equal((DWORD)log_skim(log, &what), PDH_INVALID_ARGUMENT);
    log_close(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_of_plain_files),
        cmocka_unit_test(a_set_of_compressed_files),
        cmocka_unit_test(a_damaged_file_says_why),
        cmocka_unit_test(only_sets_are_skimmed),
    };
    return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
