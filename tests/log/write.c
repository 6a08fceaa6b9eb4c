/* SPDX-License-Identifier: MIT */
/* Tests of writing captures: copies are equal, byte for byte, to the files that Windows wrote;
 * written samples are read back; and what a killed process or a full disk leaves in the file. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../temp.h"
#include "log/log.h"
#include "pdh/pdh.h"

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void read_whole(const char *path, struct buffer *ret)
{
    assert_int_equal(file_read(AT_FDCWD, path, ret), 0);
}

/* Reads Windows' file, with the line ends that it had on Windows. */
static void read_golden(const char *name, struct buffer *ret)
{
    char path[4096];
    BUFFER_AUTO raw = {0};
    snprintf(path, sizeof(path), "%s/perfmon-logs/%s", getenv("GOLDEN"), name);
    read_whole(path, &raw);
    for (size_t i = 0; i < raw.len; i++) {
        if (raw.data[i] == '\n')
            buffer_add_byte(ret, '\r');
        buffer_add_byte(ret, raw.data[i]);
    }
}

static void assert_same(const struct buffer *left, const struct buffer *right)
{
    assert_int_equal(left->len, right->len);
    assert_memory_equal(left->data, right->data, left->len);
}

static struct log *open_one(const char *path)
{
    struct log *log = NULL;
    assert_int_equal(log_open(&path, 1, &log, NULL), 0);
    return log;
}

/* ---- a capture that is read and written is unchanged ---- */

static void copy(const char *from, const char *to)
{
    struct log *log = open_one(from);
    struct log_writer *writer = NULL;
    size_t count = log_columns(log);
    const char *paths[64];
    double numbers[64];
    for (size_t i = 0; i < count; i++)
        paths[i] = log_column(log, i)->path;
    const struct log_facts *facts = log_facts(log);
    struct log_header header = {facts->kind, facts->zone, facts->bias,
                                paths,       count,       facts->caption};
    assert_int_equal(log_create(to, LOG_CREATE_ALWAYS, &header, &writer, NULL), 0);
    const struct log_sample *sample;
    while (log_next(log, &sample) == 0) {
        for (size_t i = 0; i < count; i++)
            numbers[i] = sample->values[i].status ? NAN : sample->values[i].number;
        assert_int_equal(log_write(writer, sample->time, numbers, NULL, sample->text), 0);
    }
    assert_int_equal(log_write_close(writer), 0);
    log_close(log);
}

static void reading_and_writing_is_the_identity(void **state)
{
    static const char *const names[] = {"CounterSamples.csv", "CounterSamples.tsv"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[4096];
        BUFFER_AUTO expected = {0};
        BUFFER_AUTO written = {0};
        snprintf(path, sizeof(path), "%s/perfmon-logs/%s", getenv("GOLDEN"), names[i]);
        read_golden(names[i], &expected);
        copy(path, in_folder("copy"));
        read_whole(in_folder("copy"), &written);
        assert_same(&written, &expected);
    }
}

static void captions_survive_the_circle(void **state)
{
    static const char text[] =
        "\"(PDH-CSV 4.0) (Zeit (Ost))(-60)\",\"\\\\M\\O(a \"b\")\\d\",\"cap\"\r\n"
        "\"01/02/2003 04:05:06.007\",\"-1.5000000000000001e-300\",\"say \"hi\"\"\r\n"
        "\"12/31/2003 23:59:59.999\",\" \",\"\"\r\n";
    BUFFER_AUTO written = {0};
    (void)state;
    temp_write(folder, "captions", text);
    char from[128];
    snprintf(from, sizeof(from), "%s", in_folder("captions"));
    copy(from, in_folder("captions2"));
    read_whole(in_folder("captions2"), &written);
    assert_string_equal(written.data, text);
}

/* ---- BLG to CSV, with pdh's formula ---- */

/* The columns of the text capture: one for each item of an array in the binary capture. */
struct flat {
    size_t count;
    char *paths[64];
    PDH_RAW_COUNTER before[64], now[64];
    DWORD types[64];
    LONGLONG bases[64];
};

static void flatten(struct log *log, const struct log_sample *sample, struct flat *flat, bool names)
{
    size_t used = 0;
    for (size_t i = 0; i < log_columns(log); i++) {
        const struct log_column *column = log_column(log, i);
        const struct log_value *value = &sample->values[i];
        size_t items = value->kind == LOG_ARRAY ? value->count : 1;
        for (size_t k = 0; k < items; k++, used++) {
            flat->types[used] = column->type;
            flat->bases[used] = column->time_base;
            flat->now[used] = value->raw;
            if (value->kind == LOG_ARRAY) {
                flat->now[used].FirstValue = value->items[k].first;
                flat->now[used].SecondValue = value->items[k].second;
                flat->now[used].MultiCount = value->items[k].multi;
            }
            if (names && value->kind == LOG_ARRAY)
                flat->paths[used] = text_format("%s\\%s(%s)\\%s", column->machine, column->object,
                                                value->items[k].name, column->counter);
            else if (names)
                flat->paths[used] = strdup(column->path);
        }
    }
    flat->count = used;
}

static void cook(struct flat *flat, bool first, double *numbers)
{
    for (size_t i = 0; i < flat->count; i++) {
        struct cooked cooked;
        PDH_STATUS status = formula_cook(flat->types[i], &flat->bases[i], &flat->now[i],
                                         first ? NULL : &flat->before[i], &cooked);
        numbers[i] = status ? NAN : cooked.is_whole ? (double)cooked.whole : cooked.number;
        flat->before[i] = flat->now[i];
    }
}

static void cook_all(const char *to, enum log_kind kind)
{
    char path[4096];
    struct flat flat = {0};
    double numbers[64];
    const struct log_sample *sample;
    struct log_writer *writer = NULL;
    snprintf(path, sizeof(path), "%s/perfmon-logs/CounterSamples.blg", getenv("GOLDEN"));
    struct log *log = open_one(path);
    bool first = true;
    while (log_next(log, &sample) == 0) {
        flatten(log, sample, &flat, first);
        struct log_header header = {kind,
                                    log_facts(log)->zone,
                                    log_facts(log)->bias,
                                    (const char *const *)flat.paths,
                                    flat.count,
                                    NULL};
        if (first)
            assert_int_equal(log_create(to, LOG_CREATE_ALWAYS, &header, &writer, NULL), 0);
        cook(&flat, first, numbers);
        assert_int_equal(log_write(writer, sample->time, numbers, NULL, NULL), 0);
        first = false;
    }
    assert_int_equal(log_write_close(writer), 0);
    for (size_t i = 0; i < flat.count; i++)
        free(flat.paths[i]);
    log_close(log);
}

static void binary_becomes_the_text_that_windows_made(void **state)
{
    static const struct {
        const char *name;
        enum log_kind kind;
    } cases[] = {
        {"CounterSamples.csv", LOG_CSV},
        {"CounterSamples.tsv", LOG_TSV}
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        BUFFER_AUTO expected = {0};
        BUFFER_AUTO written = {0};
        read_golden(cases[i].name, &expected);
        cook_all(in_folder("cooked"), cases[i].kind);
        read_whole(in_folder("cooked"), &written);
        assert_same(&written, &expected);
    }
}

/* ---- creating and appending ---- */

static const char *const two_paths[] = {"\\\\M\\O\\a", "\\\\M\\O\\b"};
static const struct log_header two = {LOG_CSV, NULL, 0, two_paths, 2, NULL};
static const double one_two[] = {1, 2.5};
static const LONGLONG noon = INT64_C(131246415908740000);

static void a_file_has_one_writer(void **state)
{
    static const enum log_create_mode modes[] = {LOG_CREATE_APPEND, LOG_CREATE_ALWAYS};
    struct log_writer *writer = NULL, *second = NULL;
    (void)state;
    const char *path = in_folder("one-writer");
    assert_int_equal(log_create(path, LOG_CREATE_NEW, &two, &writer, NULL), 0);
    assert_int_equal(log_write(writer, noon, one_two, NULL, NULL), 0);
    assert_int_equal(log_flush(writer), 0);
    BUFFER_AUTO before = {0};
    read_whole(path, &before);
    for (size_t i = 0; i < COUNT(modes); i++) {
        BUFFER_AUTO problem = {0}, after = {0};
        assert_int_equal((DWORD)log_create(path, modes[i], &two, &second, &problem),
                         PDH_LOG_FILE_OPEN_ERROR);
        assert_non_null(strstr(problem.data, "another program is writing it"));
        read_whole(path, &after);
        assert_same(&before, &after);
    }
    assert_int_equal(log_write_close(writer), 0);
    assert_int_equal(log_create(path, LOG_CREATE_ALWAYS, &two, &writer, NULL), 0);
    assert_int_equal(log_write_close(writer), 0);
}

static void modes_of_creation(void **state)
{
    struct log_writer *writer = NULL;
    BUFFER_AUTO problem = {0};
    (void)state;
    const char *path = in_folder("modes");
    assert_int_equal(log_create(path, LOG_CREATE_NEW, &two, &writer, NULL), 0);
    assert_int_equal(log_write(writer, noon, one_two, NULL, NULL), 0);
    assert_int_equal(log_write_close(writer), 0);
    assert_int_equal((DWORD)log_create(path, LOG_CREATE_NEW, &two, &writer, &problem),
                     PDH_FILE_ALREADY_EXISTS);
    assert_non_null(strstr(problem.data, path));
    struct log_header other = two;
    other.count = 1;
    assert_int_equal((DWORD)log_create(path, LOG_CREATE_APPEND, &other, &writer, NULL),
                     PDH_UNMATCHED_APPEND_COUNTER);
    assert_int_equal(log_create(path, LOG_CREATE_APPEND, &two, &writer, NULL), 0);
    assert_int_equal(log_write(writer, noon + 10000, one_two, NULL, NULL), 0);
    uint64_t size = log_written_bytes(writer);
    assert_int_equal(log_write_close(writer), 0);
    BUFFER_AUTO written = {0};
    read_whole(path, &written);
    assert_string_equal(written.data, "\"(PDH-CSV 4.0)\",\"\\\\M\\O\\a\",\"\\\\M\\O\\b\"\r\n"
                                      "\"11/26/2016 13:46:30.874\",\"1\",\"2.5\"\r\n"
                                      "\"11/26/2016 13:46:30.875\",\"1\",\"2.5\"\r\n");
    assert_int_equal(size, written.len);
    assert_int_equal((DWORD)log_create("/nonexistent/x", LOG_CREATE_NEW, &two, &writer, NULL),
                     PDH_LOG_FILE_CREATE_ERROR);
}

/* A capture cut off at any byte: complete lines are read, and a writer that appends continues after
 * them. */
static void a_torn_line_is_taken_back(void **state)
{
    struct log_writer *writer = NULL;
    BUFFER_AUTO whole = {0};
    (void)state;
    char path[128];
    snprintf(path, sizeof(path), "%s", in_folder("torn"));
    assert_int_equal(log_create(path, LOG_CREATE_ALWAYS, &two, &writer, NULL), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(log_write(writer, noon + i * 10000, one_two, NULL, NULL), 0);
    assert_int_equal(log_write_close(writer), 0);
    read_whole(path, &whole);
    size_t head = (size_t)(strchr(whole.data, '\n') - whole.data) + 1;
    size_t line = (whole.len - head) / 20;
    for (size_t size = head; size < whole.len; size++) {
        assert_int_equal(truncate(path, (off_t)size), 0);
        struct log *log = open_one(path);
        struct log_extent extent;
        assert_int_equal(log_extent(log, &extent), 0);
        /* a last line that lacks only its newline may be counted or not */
        size_t expected = (size - head + 2) / line;
        assert_true(extent.samples == expected || extent.samples == (size - head) / line);
        log_close(log);
        assert_int_equal(log_create(path, LOG_CREATE_APPEND, &two, &writer, NULL), 0);
        assert_int_equal(log_written_bytes(writer), head + (size - head) / line * line);
        assert_int_equal(log_write_close(writer), 0);
        int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
        assert_int_equal(write(fd, whole.data, whole.len), (ssize_t)whole.len);
        close(fd);
    }
}

/* ---- no space ---- */

/* A limit of the file's size acts like a full disk. */
static void write_until_full(void)
{
    struct log_writer *writer = NULL;
    struct rlimit limit = {200001, 200001};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    if (log_create(in_folder("full"), LOG_CREATE_ALWAYS, &two, &writer, NULL))
        _exit(1);
    PDH_STATUS status = 0;
    for (int i = 0; i < 100000 && !status; i++)
        status = log_write(writer, noon + i * 10000, one_two, NULL, NULL);
    if (status != ERROR_DISK_FULL ||
        log_write(writer, noon, one_two, NULL, NULL) != ERROR_DISK_FULL)
        _exit(2);
    _exit(log_write_close(writer) == ERROR_DISK_FULL ? 0 : 3);
}

static void a_full_disk_leaves_whole_lines(void **state)
{
    int status = -1;
    (void)state;
    pid_t child = fork();
    if (child == 0)
        write_until_full();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    BUFFER_AUTO written = {0};
    read_whole(in_folder("full"), &written);
    assert_true(written.len > 199900 && written.len <= 200001);
    assert_int_equal(written.data[written.len - 1], '\n');
    struct log *log = open_one(in_folder("full"));
    const struct log_sample *sample;
    uint64_t count = 0;
    while (log_next(log, &sample) == 0)
        assert_int_equal(sample->time, noon + (LONGLONG)count++ * 10000);
    assert_null(log_problem(log));
    assert_true(count > 5000);
    log_close(log);
}

/* There is no space even for the first line: nothing of it remains in the file. */
static void create_without_capacity(void)
{
    struct log_writer *writer = NULL;
    struct rlimit limit = {11, 11};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    PDH_STATUS status = log_create(in_folder("none"), LOG_CREATE_ALWAYS, &two, &writer, NULL);
    _exit(status == ERROR_DISK_FULL ? 0 : 1);
}

static void a_torn_first_line_is_taken_back(void **state)
{
    int status = -1;
    (void)state;
    pid_t child = fork();
    if (child == 0)
        create_without_capacity();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    struct stat facts;
    assert_int_equal(stat(in_folder("none"), &facts), 0);
    assert_int_equal(facts.st_size, 0);
}

static void a_device_without_space_is_reported(void **state)
{
    struct log_writer *writer = NULL;
    BUFFER_AUTO problem = {0};
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        return;
    assert_int_equal(log_create("/dev/full", LOG_CREATE_ALWAYS, &two, &writer, &problem),
                     ERROR_DISK_FULL);
    assert_string_equal(problem.data, "/dev/full: the disk is full");
}

static int make_folder(void **state)
{
    (void)state;
    temp_make(folder);
    return folder[0] ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    temp_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_and_writing_is_the_identity),
        cmocka_unit_test(captions_survive_the_circle),
        cmocka_unit_test(binary_becomes_the_text_that_windows_made),
        cmocka_unit_test(modes_of_creation),
        cmocka_unit_test(a_file_has_one_writer),
        cmocka_unit_test(a_torn_line_is_taken_back),
        cmocka_unit_test(a_full_disk_leaves_whole_lines),
        cmocka_unit_test(a_torn_first_line_is_taken_back),
        cmocka_unit_test(a_device_without_space_is_reported),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
