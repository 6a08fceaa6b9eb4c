/* SPDX-License-Identifier: MIT */
/*
 * Queries on captures: a sample log that Windows made, in three formats, gives the same 250 values
 * bit for bit; time ranges, several files as one source, lists.
 */
#include "pdh/log/capture.h"
#include <openperflib/capture.h>
#include <openperflib/unstable.h>
#include <windef.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake.h"
#include "objects.h"
#include "table.h"

#include "../temp.h"

static char folder[64];
static const LONGLONG first_time = 131246415908740000, last_time = 131246416629830000;

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

/* Opens the text capture and returns the paths of its columns, which the other two captures have,
 * too. */
static struct log *columns(const char *paths[static COLUMNS])
{
    struct log *log;
    const char *path = csv;
    assert_int_equal(log_open(&path, 1, &log, NULL), 0);
    assert_int_equal(log_columns(log), COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++)
        paths[i] = log_column(log, i)->path;
    return log;
}

static void the_same_250_cells_in_three_formats(void **state)
{
    static struct table binary, comma, tab;
    const char *paths[COLUMNS];
    struct log *log = columns(paths);
    read_table(file(blg), paths, COLUMNS, &binary);
    read_table(file(csv), paths, COLUMNS, &comma);
    read_table(file(tsv), paths, COLUMNS, &tab);
    log_close(log);
    assert_int_equal(binary.rows, SAMPLES);
    assert_int_equal(comma.rows, SAMPLES);
    size_t blanks = 0;
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t k = 0; k < COLUMNS; k++) {
            bool blank = comma.statuses[i][k] != 0;
            blanks += blank;
            assert_int_equal(binary.statuses[i][k] != 0, blank);
            assert_int_equal(tab.statuses[i][k] != 0, blank);
            if (blank)
                continue;
            assert_memory_equal(&binary.cells[i][k].doubleValue, &comma.cells[i][k].doubleValue, 8);
            assert_memory_equal(&tab.cells[i][k].doubleValue, &comma.cells[i][k].doubleValue, 8);
        }
    assert_int_equal(blanks, 8); /* only the first value of each rate is blank */
    assert_true(binary.times[0] == first_time);
    assert_true(binary.times[SAMPLES - 1] == last_time);
}

static void a_range_begins_and_ends_inside(void **state)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_TIME_INFO range;
    LONGLONG time = 0;
    assert_int_equal(capture_time_range(file(blg), &range), 0);
    assert_true(range.StartTime == first_time && range.EndTime == last_time);
    assert_int_equal(range.SampleCount, SAMPLES);
    assert_int_equal(query_open(file(blg), 0, &query), 0);
    assert_int_equal(counter_add(query, "\\memory\\cache faults/sec", false, 0, &counter), 0);
    range.StartTime += 10 * 10000000;
    range.EndTime -= 55 * 10000000;
    assert_int_equal(query_time_range(query, &range), 0);
    int samples = 0;
    while (query_collect(query, &time) == 0) {
        assert_true(time >= range.StartTime && time <= range.EndTime);
        samples++;
    }
    assert_int_equal(samples, 2);
    range.EndTime = range.StartTime - 1;
    assert_int_equal(query_time_range(query, &range), STATUS(INVALID_ARGUMENT));
    assert_int_equal(query_close(query), 0);
}

/* The sample before the beginning of a range is read, too, so that rates have a value in the first
 * sample of the range. (docs/windows/tools.md#g2) */
static void a_range_begins_with_a_rate(void **state)
{
    static struct table whole, part;
    const char *paths[COLUMNS];
    struct log *log = columns(paths);
    PDH_HQUERY query;
    PDH_HCOUNTER counters[COLUMNS];
    read_table(file(blg), paths, COLUMNS, &whole);
    assert_int_equal(query_open(file(blg), 0, &query), 0);
    for (size_t i = 0; i < COLUMNS; i++)
        assert_int_equal(counter_add(query, paths[i], false, 0, &counters[i]), 0);
    PDH_TIME_INFO range = {whole.times[7] - 1, whole.times[9], 0};
    assert_int_equal(query_time_range(query, &range), 0);
    part.columns = COLUMNS;
    read_query(query, counters, &part);
    assert_int_equal(part.rows, 3);
    for (size_t i = 0; i < part.rows; i++)
        for (size_t k = 0; k < COLUMNS; k++) {
            assert_true(part.times[i] == whole.times[7 + i]);
            assert_int_equal(part.statuses[i][k], 0);
            assert_memory_equal(&part.cells[i][k], &whole.cells[7 + i][k], sizeof part.cells[i][k]);
        }
    assert_int_equal(query_close(query), 0);
    log_close(log);
}

/* ---- captures that follow each other, or overlap ---- */

static void make_text(const char *name, const char *text, char path[512])
{
    snprintf(path, 512, "%s/%s", folder, name);
    assert_int_equal(file_replace(AT_FDCWD, path, 0600, text, strlen(text), NULL, NULL), 0);
}

static double value_of(PDH_HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE value;
    return counter_value(counter, PDH_FMT_DOUBLE, NULL, &value) ? -1 : value.doubleValue;
}

static void columns_of_a_later_head_join(void **state)
{
    char path[512];
    PDH_HQUERY query;
    PDH_HCOUNTER later, all;
    DWORD size = 0, count = 0;
    make_text("appended.csv",
              "\"(PDH-CSV 4.0)\",\"\\\\M\\O(a)\\c\"\n\"01/02/2003 04:05:06.000\",\"1\"\n"
              "\"(PDH-CSV 4.0)\",\"\\\\M\\O(a)\\c\",\"\\\\M\\O(b)\\c\"\n"
              "\"01/02/2003 04:05:07.000\",\"2\",\"3\"\n",
              path);
    assert_int_equal(query_open(file(path), 0, &query), 0);
    assert_int_equal(counter_add(query, "\\O(b)\\c", false, 0, &later), 0);
    assert_int_equal(counter_add(query, "\\O(*)\\c", false, 0, &all), 0);
    assert_int_equal(query_collect(query, NULL), 0);
    assert_true(value_of(later) == -1);
    assert_int_equal(query_collect(query, NULL), 0);
    assert_true(value_of(later) == 3);
    assert_int_equal(counter_raw_array(all, false, &size, &count, NULL), STATUS(MORE_DATA));
    assert_int_equal(count, 2);
    assert_int_equal(query_close(query), 0);
}

/* Two files as one source: CounterSamples.blg, and a file with samples of the times between. The
 * rates of CounterSamples.blg are the same as if it were alone. */
static void rates_go_on_behind_samples_of_another_file(void **state)
{
    static struct table whole;
    const char *paths[COLUMNS];
    struct log *log = columns(paths);
    char other[512];
    BUFFER_AUTO files = {0};
    BUFFER_AUTO text = {0};
    PDH_HQUERY query;
    PDH_HLOG bound;
    PDH_HCOUNTER counter;
    LONGLONG time;
    read_table(file(blg), paths, COLUMNS, &whole);
    buffer_printf(&text, "\"(PDH-CSV 4.0)\",\"\\\\M\\O(a)\\c\"\n");
    for (int i = 0; i < 60; i++)
        buffer_printf(&text, "\"11/26/2016 13:46:%02d.000\",\"1\"\n", i);
    make_text("between.csv", text.data, other);
    buffer_add(&files, blg, strlen(blg) + 1);
    buffer_add(&files, other, strlen(other) + 1);
    assert_int_equal(capture_bind(files.data, files.len, &bound), 0);
    assert_int_equal(query_open((struct pdh_from){.log = bound}, 0, &query), 0);
    /* this counter is a rate */
    assert_int_equal(counter_add(query, paths[1], false, 0, &counter), 0);
    size_t row = 0, others = 0;
    while (query_collect(query, &time) == 0) {
        if (time != whole.times[row]) {
            others++;
            assert_true(value_of(counter) == -1);
            continue;
        }
        if (row > 0)
            assert_true(value_of(counter) == whole.cells[row][1].doubleValue);
        row++;
    }
    assert_int_equal(row, SAMPLES);
    assert_int_equal(others, 60);
    assert_int_equal(query_close(query), 0);
    assert_int_equal(capture_close(bound, 0), 0);
    log_close(log);
}

static void damage_has_words_of_its_thread(void **state)
{
    char path[512];
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    make_text("damaged.csv",
              "\"(PDH-CSV 4.0)\",\"\\\\M\\O(a)\\c\"\nnonsense\n\"01/02/2003 04:05:06.000\",\"1\"\n",
              path);
    assert_int_equal(query_open(file(path), 0, &query), 0);
    assert_null(opl_capture_problem());
    assert_int_equal(counter_add(query, "\\O(a)\\c", false, 0, &counter), 0);
    assert_int_equal(query_collect(query, NULL), STATUS(BINARY_LOG_CORRUPT));
    assert_memory_equal(opl_capture_problem(), path, strlen(path));
    assert_non_null(strstr(opl_capture_problem(), ": line 2, offset 29: this line does not begin"));
    assert_int_equal(query_collect(query, NULL), 0);
    assert_null(opl_capture_problem());
    assert_int_equal(query_close(query), 0);
    assert_int_equal(query_open(file("/nonexistent.blg"), 0, &query), STATUS(FILE_NOT_FOUND));
    assert_string_equal(opl_capture_problem(), "/nonexistent.blg: no such file");
}

static void the_present_has_no_range(void **state)
{
    PDH_HQUERY query;
    PDH_TIME_INFO range = {0};
    const struct pdh_from now = {0};
    assert_int_equal(capture_time_range(now, &range), STATUS(DATA_SOURCE_IS_REAL_TIME));
    assert_int_equal(query_open(now, 0, &query), 0);
    assert_int_equal(query_time_range(query, &range), STATUS(DATA_SOURCE_IS_REAL_TIME));
    assert_int_equal(query_close(query), 0);
}

static void wildcards_are_arrays(void **state)
{
    const char *const captures[] = {blg, csv};
    for (size_t i = 0; i < COUNT(captures); i++) {
        PDH_HQUERY query;
        PDH_HCOUNTER all, some;
        DWORD size = 0, count = 0;
        assert_int_equal(query_open(file(captures[i]), 0, &query), 0);
        assert_int_equal(
            counter_add(query, "\\Network Interface(*)\\Bytes Total/sec", false, 0, &all), 0);
        assert_int_equal(
            counter_add(query, "\\Network Interface(i*)\\Bytes Total/sec", false, 0, &some), 0);
        assert_int_equal(query_collect(query, NULL), 0);
        assert_int_equal(query_collect(query, NULL), 0);
        assert_int_equal(counter_raw_array(all, false, &size, &count, NULL), STATUS(MORE_DATA));
        assert_int_equal(count, 5);
        size = 0;
        assert_int_equal(counter_raw_array(some, false, &size, &count, NULL), STATUS(MORE_DATA));
        assert_int_equal(count, 4);
        assert_int_equal(query_close(query), 0);
    }
}

static void what_a_capture_lacks_has_a_status(void **state)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    assert_int_equal(query_open(file("/nonexistent.blg"), 0, &query), STATUS(FILE_NOT_FOUND));
    assert_int_equal(query_open(file(blg), 0, &query), 0);
    assert_int_equal(counter_add(query, "\\Nonsense\\x", false, 0, &counter),
                     (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(counter_add(query, "\\Memory\\x", false, 0, &counter),
                     (PDH_STATUS)PDH_CSTATUS_NO_COUNTER);
    assert_int_equal(counter_add(query, "\\\\elsewhere\\Memory\\x", false, 0, &counter),
                     (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(query_collect(query, NULL), STATUS(NO_DATA));
    assert_int_equal(query_close(query), 0);
}

/* Two queries on one handle each have their own position in the files. */
static void bound_files_are_one_source(void **state)
{
    BUFFER_AUTO files = {0};
    PDH_HLOG source = NULL;
    PDH_HQUERY first, second;
    PDH_HCOUNTER counter;
    LONGLONG size = 0, time;
    buffer_add(&files, blg, strlen(blg) + 1);
    assert_int_equal(capture_bind(files.data, files.len, &source), 0);
    const struct pdh_from from = {.log = source};
    assert_int_equal(query_open(from, 0, &first), 0);
    assert_int_equal(query_open(from, 0, &second), 0);
    assert_int_equal(counter_add(first, "\\memory\\cache faults/sec", false, 0, &counter), 0);
    assert_int_equal(counter_add(second, "\\memory\\cache faults/sec", false, 0, &counter), 0);
    assert_int_equal(query_collect(first, NULL), 0);
    assert_int_equal(query_collect(first, NULL), 0);
    assert_int_equal(query_collect(second, &time), 0);
    assert_true(time == first_time);
    assert_int_equal(capture_size(source, &size), 0);
    assert_true(size > 60000);
    assert_int_equal(capture_close(source, 0), 0);
    assert_int_equal(capture_close(source, 0), STATUS(INVALID_HANDLE));
    assert_int_equal(query_collect(second, NULL), 0);
    assert_int_equal(query_open(from, 0, &source), STATUS(INVALID_HANDLE));
    query_close(first);
    query_close(second);
}

/* A handle that is bound to no files means live data. (PowerShell's Get-Counter makes such
 * handles.) */
static void bound_to_nothing_is_the_present(void **state)
{
    PDH_HLOG source = NULL;
    PDH_HQUERY query;
    assert_int_equal(capture_bind(NULL, 0, &source), 0);
    assert_non_null(source);
    assert_int_equal(query_open((struct pdh_from){.log = source}, 0, &query), 0);
    assert_true(query_is_real_time(query));
    BUFFER_AUTO machines = {0};
    assert_int_equal(browse_machines((struct pdh_from){.log = source}, &machines), 0);
    assert_int_equal(query_close(query), 0);
    assert_int_equal(capture_close(source, 0), 0);
}

static void a_capture_lists_what_it_holds(void **state)
{
    const char *const captures[] = {blg, csv, tsv};
    for (size_t i = 0; i < COUNT(captures); i++) {
        OBJECT_INFOS_AUTO all = {0};
        OBJECT_INFO_AUTO *network = NULL;
        BUFFER_AUTO machines = {0};
        assert_int_equal(source_objects(file(captures[i]), NULL, INFO_STABLE, &all), 0);
        assert_int_equal(all.count, 4);
        assert_int_equal(source_object(file(captures[i]), "\\\\CharliePARKER", "Network Interface",
                                       false, INFO_STABLE, &network),
                         0);
        assert_int_equal(network->instance_count, 5);
        assert_int_equal(network->counter_count, 1);
        assert_false(network->single);
        assert_int_equal(browse_machines(file(captures[i]), &machines), 0);
        assert_string_equal(machines.data, "\\\\charlieparker");
    }
}

/* The list contains the instances of all samples, also one that is only in the last sample, and one
 * that is missing there. */
static void instances_of_all_samples_are_listed(void **state)
{
    static const char name[] = {'i', 0, 's', 0, 'a', 0, 't', 0, 'a', 0, 'p', 0};
    char path[512];
    BUFFER_AUTO bytes = {0};
    OBJECT_INFO_AUTO *network = NULL;
    OBJECT_INFOS_AUTO all = {0};
    char *last = NULL;
    assert_int_equal(file_read(AT_FDCWD, blg, &bytes), 0);
    for (char *at = bytes.data;
         (at = memmem(at, (size_t)(bytes.data + bytes.len - at), name, sizeof name)); at++)
        last = at;
    assert_non_null(last);
    *last = 'z';
    snprintf(path, sizeof path, "%s/changed.blg", folder);
    assert_int_equal(file_replace(AT_FDCWD, path, 0600, bytes.data, bytes.len, NULL, NULL), 0);
    assert_int_equal(
        source_object(file(path), NULL, "Network Interface", false, INFO_STABLE, &network), 0);
    assert_int_equal(network->instance_count, 6);
    assert_memory_equal(network->instances[5].name, "zsatap", 6);
    PDH_HLOG bound;
    BUFFER_AUTO files = {0};
    BUFFER_AUTO paths = {0};
    buffer_add(&files, path, strlen(path) + 1);
    assert_int_equal(capture_bind(files.data, files.len, &bound), 0);
    const struct pdh_from from = {.log = bound};
    for (int i = 0; i < 3; i++) { /* what one call found stays in the lists of the next calls */
        object_infos_done(&all);
        buffer_clear(&paths);
        assert_int_equal(source_objects(from, NULL, INFO_STABLE, &all), 0);
        assert_int_equal(all.count, 4);
        assert_int_equal(expand_path(from, "\\Network Interface(*)\\*", 0, &paths), 0);
        assert_non_null(memmem(paths.data, paths.len, "(zsatap", 7));
    }
    assert_int_equal(capture_close(bound, 0), 0);
}

/* A counter of a type without a formula is lost for programs that show cooked values, not for those
 * that take raw values. What was lost before is forgotten. */
static void a_type_without_formula_is_lost_once(void **state)
{
    static const char type[] = {0, 4, 0x41, 0x10}, unknown[] = {0, 4, 0x7d, 0x10};
    char path[512];
    BUFFER_AUTO bytes = {0}, paths = {0};
    assert_int_equal(file_read(AT_FDCWD, blg, &bytes), 0);
    char *at = memmem(bytes.data, bytes.len, type, sizeof type);
    assert_non_null(at);
    memcpy(at, unknown, sizeof unknown);
    snprintf(path, sizeof path, "%s/unknown.blg", folder);
    assert_int_equal(file_replace(AT_FDCWD, path, 0600, bytes.data, bytes.len, NULL, NULL), 0);
    assert_int_equal(expand_path(file(path), "\\*(*)\\*", 0, &paths), 0);
    assert_int_equal(expand_path(file(path), "\\*\\*", 0, &paths), 0);
    assert_string_equal(opl_capture_unshown(),
                        "not shown: counters whose type has no formula: 1, the first is "
                        "\\\\charlieparker\\memory\\cache faults/sec");
    assert_int_equal(expand_path(file(path), "\\*\\*", OPL_EXPAND_AS_RECORDED, &paths), 0);
    assert_null(opl_capture_unshown());
    assert_int_equal(expand_path(file(path), "\\*\\*", 0, &paths), 0);
    assert_int_equal(expand_path(file(csv), "\\*\\*", 0, &paths), 0);
    assert_null(opl_capture_unshown());
}

/* A history is current until a file is added or removed. */
static void a_history_is_current_until_files_change(void **state)
{
    static const char *const folders[] = {"captures", "captures/night"};
    static const char text[] =
        "\"(PDH-CSV 4.0)\",\"\\\\M\\O(a)\\c\"\n\"01/02/2003 04:05:06.000\",\"1\"\n";
    char path[512];
    setenv("OPENPERFLIB_ROOT", folder, 1);
    for (size_t i = 0; i < COUNT(folders); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    make_text("captures/night/a.csv", text, path);
    opl_history *history = opl_history_open("night");
    assert_non_null(history);
    assert_true(opl_history_is_current(history));
    usleep(20000); /* more than the unit of a file system's times */
    make_text("captures/night/b.csv", text, path);
    assert_false(opl_history_is_current(history));
    opl_history_close(history);
    unsetenv("OPENPERFLIB_ROOT");
}

/* ---- equal names in an array ---- */

struct read_values {
    char names[16][16];
    double values[16];
    bool begins[16]; /* the instance was in no sample before */
    size_t count;
};

static bool add_value(void *context, const char *instance, int64_t before, int64_t time,
                      double value)
{
    struct read_values *read = context;
    (void)time;
    assert_true(read->count < COUNT(read->names));
    snprintf(read->names[read->count], sizeof read->names[0], "%s", instance);
    read->begins[read->count] = !before;
    read->values[read->count++] = value;
    return true;
}

/* Checks the values that a history has of the instances: "name value" for each, in order; "new name
 * value" for the first value of an instance. */
static void expect_values(const char *instances, const char *expected)
{
    struct read_values read = {0};
    char path[64];
    BUFFER_AUTO text = {0};
    opl_history *history = opl_history_open("twins");
    assert_non_null(history);
    snprintf(path, sizeof path, "\\Process(%s)\\C", instances);
    assert_int_equal(opl_history_read(history, path, 0, INT64_MAX / 2, 0, add_value, &read), 0);
    for (size_t i = 0; i < read.count; i++)
        buffer_printf(&text, "%s%s%s %g", i ? ", " : "", read.begins[i] ? "new " : "",
                      read.names[i], read.values[i]);
    assert_string_equal(text.len ? text.data : "", expected);
    opl_history_close(history);
}

/* Writes a set of samples of "Process(*)\\C"; each sample has the names of a line. The instances of
 * sample n have the values 10 n + 1, 10 n + 2, ... */
static void write_twins(const char *const (*names)[5], size_t samples)
{
    static const char *const folders[] = {"captures", "captures/twins"};
    const struct log_header header = {.kind = LOG_BINARY, .zone = "UTC"};
    const struct log_column column = {.kind = LOG_ARRAY,
                                      .machine = "\\\\M",
                                      .object = "Process",
                                      .instance = "*",
                                      .counter = "C",
                                      .type = 0x00010100};
    struct log_writer *writer;
    char path[512];
    for (size_t i = 0; i < COUNT(folders); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
        mkdir(path, 0755);
    }
    snprintf(path, sizeof path, "%s/captures/twins/t_000001.blg", folder);
    assert_int_equal(log_create(path, LOG_CREATE_ALWAYS, &header, &writer, NULL), 0);
    assert_int_equal(log_write_columns(writer, first_time, &column, 1), 0);
    for (size_t i = 0; i < samples; i++) {
        struct log_item items[5];
        struct log_value value = {.kind = LOG_ARRAY, .items = items};
        for (; value.count < 5 && names[i][value.count]; value.count++)
            items[value.count] = (struct log_item){
                .name = names[i][value.count], .first = (LONGLONG)(10 * (i + 1) + value.count + 1)};
        LONGLONG time = first_time + (LONGLONG)i * 10000000;
        assert_int_equal(log_write_values(writer, time, &value), 0);
    }
    assert_int_equal(log_write_close(writer), 0);
}

/* In each sample, equal names have numbers in the order in which they stand. */
static void a_history_numbers_equal_names(void **state)
{
    /* clang-format off */
    static const char *const twins[][5] = {
        {"init", "sshd", "bash", "sshd"},
        {"init", "sshd", "bash", "sshd"},
        {"sshd", "sshd", "init", "sshd"},
        {"init", "sshd"},
    };
    static const char *const named[][5] = {
        {"SSHD", "sshd"},
        {"sshd#1", "sshd", "sshd"},
        {"sshd", "sshd", "sshd#1"},
    };
    /* clang-format on */
    static const char text[] = "\"(PDH-CSV 4.0)\",\"\\\\M\\Process(sshd)\\C\","
                               "\"\\\\M\\Process(sshd#1)\\C\"\n"
                               "\"01/02/2003 04:05:06.000\",\"1\",\"2\"\n";
    char path[512];
    (void)state;
    setenv("OPENPERFLIB_ROOT", folder, 1);
    write_twins(twins, COUNT(twins));
    expect_values("sshd", "new sshd 12, sshd 22, sshd 31, sshd 42");
    expect_values("sshd#1", "new sshd#1 14, sshd#1 24, sshd#1 32");
    expect_values("sshd#2", "new sshd#2 34");
    expect_values("*", "new init 11, new sshd 12, new bash 13, new sshd#1 14, init 21, sshd 22, "
                       "bash 23, sshd#1 24, sshd 31, sshd#1 32, init 33, new sshd#2 34, init 41, "
                       "sshd 42");
    expect_values("ss*", "new sshd 12, new sshd#1 14, sshd 22, sshd#1 24, sshd 31, sshd#1 32, "
                         "new sshd#2 34, sshd 42");
    expect_values("s*#1", "new sshd#1 14, sshd#1 24, sshd#1 32");
    /* an instance that is named so goes before the second of a name, as in a query */
    write_twins(named, COUNT(named));
    expect_values("sshd#1", "new sshd#1 12, new sshd#1 21, sshd#1 33");
    expect_values("sshd", "new SSHD 11, new sshd 22, sshd 31");
    /* columns of their own */
    snprintf(path, sizeof path, "%s/captures/twins/t_000001.blg", folder);
    assert_int_equal(remove(path), 0);
    make_text("captures/twins/t.csv", text, path);
    expect_values("sshd#1", "sshd#1 2");
    expect_values("*", "sshd 1, sshd#1 2");
    unsetenv("OPENPERFLIB_ROOT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_250_cells_in_three_formats),
        cmocka_unit_test(a_range_begins_and_ends_inside),
        cmocka_unit_test(a_range_begins_with_a_rate),
        cmocka_unit_test(columns_of_a_later_head_join),
        cmocka_unit_test(rates_go_on_behind_samples_of_another_file),
        cmocka_unit_test(damage_has_words_of_its_thread),
        cmocka_unit_test(the_present_has_no_range),
        cmocka_unit_test(wildcards_are_arrays),
        cmocka_unit_test(what_a_capture_lacks_has_a_status),
        cmocka_unit_test(bound_files_are_one_source),
        cmocka_unit_test(bound_to_nothing_is_the_present),
        cmocka_unit_test(a_capture_lists_what_it_holds),
        cmocka_unit_test(instances_of_all_samples_are_listed),
        cmocka_unit_test(a_type_without_formula_is_lost_once),
        cmocka_unit_test(a_history_is_current_until_files_change),
        cmocka_unit_test(a_history_numbers_equal_names),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
