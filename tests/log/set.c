/* SPDX-License-Identifier: MIT */
/* Tests of sets: the captures of a set of logman are read as one, in order of time. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"
#include "log/log.h"
#include "log/formats/zst.h"

enum { FILES = 40, SAMPLES = 240, SECOND = 10000000, STEP = 15 * SECOND };
static const LONGLONG begin = INT64_C(126858528000000000); /* 01/01/2003 */
static char root[64], folder[FOLDER_SIZE];

static const char *in_set(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folders(void **state)
{
    return folder_make(root, "night", folder);
}

static int remove_folders(void **state)
{
    temp_remove(root);
    return 0;
}

/* Writes a file with one counter. Sample i has the value i, at `begin` + i * STEP + `delay`. */
static void write_file(const char *name, const char *counter, unsigned first, unsigned count,
                       LONGLONG delay)
{
    const struct log_header header = {.kind = LOG_BINARY, .zone = "UTC"};
    const struct log_column column = {
        .kind = LOG_RAW, .machine = "\\\\M", .object = "O", .counter = counter, .type = 0x10000};
    struct log_writer *writer = NULL;
    assert_int_equal(log_create(in_set(name), LOG_CREATE_ALWAYS, &header, &writer, NULL), 0);
    for (unsigned i = first; i < first + count; i++) {
        struct log_value value = {.kind = LOG_RAW, .raw = {.FirstValue = i}};
        LONGLONG time = begin + (LONGLONG)i * STEP + delay;
        if (i == first)
            assert_int_equal(log_write_columns(writer, time, &column, 1), 0);
        assert_int_equal(log_write_values(writer, time, &value), 0);
    }
    assert_int_equal(log_write_close(writer), 0);
}

static struct log *open_set(void)
{
    const char *name = "night";
    struct log *log = NULL;
    struct buffer problem = {0};
    PDH_STATUS status = log_open(&name, 1, &log, &problem);
    if (status)
        print_message("%s\n", problem.data ? problem.data : "");
    buffer_done(&problem);
    assert_int_equal(status, 0);
    return log;
}

/* Checks that exactly the samples `first` to `last` follow, each with `columns` values. */
static void check_samples(struct log *log, unsigned first, unsigned last, unsigned columns)
{
    const struct log_sample *sample;
    for (unsigned i = first; i <= last; i++) {
        assert_int_equal(log_next(log, &sample), 0);
        assert_int_equal(sample->time, begin + (LONGLONG)i * STEP);
        for (size_t c = 0; c < columns; c++) {
            assert_int_equal(sample->values[c].status, 0);
            assert_int_equal(sample->values[c].raw.FirstValue, i);
        }
    }
    assert_int_equal((DWORD)log_next(log, &sample), PDH_NO_MORE_DATA);
}

static size_t open_files(void)
{
    size_t count = 0;
    DIR *files = opendir("/proc/self/fd");
    while (readdir(files))
        count++;
    closedir(files);
    return count;
}

/* Samples are in the order of their times, not of the files' names; two series are joined. */
static void ordered(void **state)
{
    for (unsigned i = 0; i < FILES; i++) {
        char name[64];
        snprintf(name, sizeof name, "a_%06u.blg%s", FILES - i,
                 i % 3 || !zst_library() ? "" : ".zst");
        write_file(name, "a", i * SAMPLES, SAMPLES, 0);
        snprintf(name, sizeof name, "b_%06u.blg", i * 7 % FILES);
        write_file(name, "b", i * SAMPLES, SAMPLES, 30000);
    }
    size_t before = open_files();
    struct log *log = open_set();
    assert_int_equal(log_columns(log), 2);
    assert_true(open_files() <= before + 1);
    check_samples(log, 0, FILES * SAMPLES - 1, 2);
    assert_int_equal(open_files(), before + 8); /* the newest stay open, because they may grow */
    assert_false(log_losses(log)->any);
    struct log_extent extent;
    assert_int_equal(log_extent(log, &extent), 0);
    assert_int_equal(extent.samples, 2 * FILES * SAMPLES);
    assert_int_equal(extent.first, begin);
    assert_int_equal(extent.last, begin + (LONGLONG)(FILES * SAMPLES - 1) * STEP + 30000);
    for (unsigned first = 7; first < FILES * SAMPLES; first += 911) {
        unsigned last = first + 500 < FILES * SAMPLES ? first + 500 : FILES * SAMPLES - 1;
        assert_int_equal(
            log_set_range(log, begin + (LONGLONG)first * STEP, begin + (LONGLONG)last * STEP), 0);
        check_samples(log, first, last, 1);
        assert_true(open_files() < before + 20);
    }
    log_close(log);
    assert_int_equal(open_files(), before);
}

/* A set may record to a folder that the user has named, where other files are, too. */
static void elsewhere(void **state)
{
    static const char xml[] = "<DataCollectorSet><RootPath>%s/a &amp; b</RootPath><C>"
                              "<FileName>%s</FileName></C></DataCollectorSet>\n";
    static const char *const others[] = {"a_note.blg", "ab_1.blg", "other.blg"};
    char path[256], text[512];
    write_file("a_1.blg", "a", 0, 10, 0);
    snprintf(path, sizeof path, "%s/sets", root);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(text, sizeof text, xml, root, "a");
    temp_write(path, "night.xml", text);
    snprintf(folder, sizeof folder, "%s/a & b", root);
    assert_int_equal(mkdir(folder, 0700), 0);
    write_file("a_2.blg", "a", 10, 10, 0);
    write_file("a_3.blg", "a", 20, 10, 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        write_file(others[i], "b", 5, 10, 0);
    struct log *log = open_set();
    check_samples(log, 0, 29, 1);
    assert_int_equal(log_columns(log), 1);
    log_close(log);
}

/* A program that may write into the folder can put there what would block a reader. */
static void pipes(void **state)
{
    write_file("a_1.blg", "a", 0, 10, 0);
    assert_int_equal(mkfifo(in_set("a_2.blg"), 0600), 0);
    assert_int_equal(mkdir(in_set("a_3.csv"), 0700), 0);
    alarm(20);
    struct log *log = open_set();
    assert_int_equal(log_losses(log)->list[LOSS_FILE].count, 2);
    check_samples(log, 0, 9, 1);
    log_close(log);
    alarm(0);
}

/* A gap between two files stays a gap: no sample is read in it. */
static void gaps(void **state)
{
    const struct log_sample *sample;
    write_file("a_1.blg", "a", 0, 10, 0);
    write_file("a_2.blg", "a", 100, 10, 0);
    struct log *log = open_set();
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(log_next(log, &sample), 0);
        assert_int_equal(sample->time, begin + (i < 10 ? i : i + 90) * (LONGLONG)STEP);
    }
    assert_int_equal(log_set_range(log, begin + 20LL * STEP, begin + 80LL * STEP), 0);
    assert_int_equal((DWORD)log_next(log, &sample), PDH_NO_MORE_DATA);
    log_close(log);
}

/* A file that is still being written is read up to its last sample. */
static void grows(void **state)
{
    const struct log_header header = {.kind = LOG_BINARY, .zone = "UTC"};
    const struct log_column column = {
        .kind = LOG_RAW, .machine = "\\\\M", .object = "O", .counter = "a", .type = 0x10000};
    struct log_writer *writer = NULL;
    write_file("a_1.blg", "a", 0, 10, 0);
    assert_int_equal(log_create(in_set("a_2.blg"), LOG_CREATE_NEW, &header, &writer, NULL), 0);
    struct log *log = open_set(); /* the second file has no sample yet */
    check_samples(log, 0, 9, 1);
    assert_false(log_losses(log)->any);
    log_close(log);
    assert_int_equal(log_write_columns(writer, begin, &column, 1), 0);
    for (unsigned i = 10; i < 14; i++) {
        struct log_value value = {.kind = LOG_RAW, .raw = {.FirstValue = i}};
        assert_int_equal(log_write_values(writer, begin + (LONGLONG)i * STEP, &value), 0);
        assert_int_equal(log_flush(writer), 0);
        log = open_set();
        check_samples(log, 0, i, 1);
        log_close(log);
    }
    assert_int_equal(log_write_close(writer), 0);
}

static void write_text(const char *name, const char *text)
{
    temp_write(folder, name, text);
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(in_set(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Captures that cannot be read are counted, with the reason; files with other names are ignored. */
static void damaged(void **state)
{
    /* a frame of zstd with one block, which is the beginning of another frame */
    static const char compressed_twice[] = "\x28\xb5\x2f\xfd\x20\x06\x31\0\0\x28\xb5\x2f\xfd\x20";
    write_file("a_1.blg", "a", 0, 10, 0);
    if (zst_library()) /* not in a build for 32 bits without libzstd1 */
        write_file("a_2.blg.zst", "a", 10, 10, 0);
    /* a_2.blg while it is being compressed to a_2.blg.zst: it is read once */
    write_file("a_2.blg", "a", 10, 10, 0);
    write_text("a_3.blg", "this is no capture");
    write_text("a_4.blg.zst", "\x28\xb5\x2f\xfd and then nothing that is a frame");
    write_text("a_5.blg", "");
    write_bytes("a_7.blg.zst", compressed_twice, sizeof compressed_twice);
    write_text("notes.txt", "not a capture");
    write_text(".a_6.blg", "not yet");
    write_text("c.csv",
               "\"(PDH-CSV 4.0)\",\"\\\\M\\O\\c\"\r\n\"01/01/2003 01:00:00.000\",\"7\"\r\n");
    struct log *log = open_set();
    for (int again = 0; again < 2; again++) {
        const struct log_sample *sample;
        struct buffer text = {0};
        for (unsigned i = 0; i < 21; i++)
            assert_int_equal(log_next(log, &sample), 0);
        assert_int_equal(sample->kind, LOG_CSV);
        assert_int_equal((DWORD)log_next(log, &sample), PDH_NO_MORE_DATA);
        assert_int_equal(log_losses(log)->list[LOSS_FILE].count, 3);
        losses_print(log_losses(log), &text);
        assert_non_null(strstr(text.data, "files that cannot be read: 3, the first is a_"));
        buffer_done(&text);
        assert_int_equal(log_rewind(log), 0);
    }
    log_close(log);
}

/* A file that is removed after the set was opened: the others are read. */
static void removed_while_read(void **state)
{
    write_file("a_1.blg", "a", 0, 10, 0);
    write_file("a_2.blg", "a", 10, 10, 0);
    write_file("a_3.blg", "a", 20, 10, 0);
    struct log *log = open_set();
    const struct log_sample *sample;
    assert_int_equal(log_next(log, &sample), 0);
    assert_int_equal(unlink(in_set("a_2.blg")), 0);
    for (unsigned i = 1; i < 20; i++)
        assert_int_equal(log_next(log, &sample), 0);
    assert_int_equal(sample->values[0].raw.FirstValue, 29);
    assert_int_equal((DWORD)log_next(log, &sample), PDH_NO_MORE_DATA);
    struct buffer text = {0};
    losses_print(log_losses(log), &text);
    assert_non_null(strstr(text.data, "files that cannot be read: 1, the first is a_2.blg: "));
    assert_null(strstr(text.data, "null"));
    buffer_done(&text);
    log_close(log);
}

static PDH_STATUS open_name(const char *name, char *why, size_t capacity)
{
    struct log *log = NULL;
    struct buffer problem = {0};
    PDH_STATUS status = log_open(&name, 1, &log, &problem);
    snprintf(why, capacity, "%s", problem.data ? problem.data : "");
    buffer_done(&problem);
    log_close(log);
    return status;
}

static void nothing_recorded(void **state)
{
    char why[512];
    assert_int_equal((DWORD)open_name("night", why, sizeof why), PDH_NO_DATA);
    assert_string_equal(why, "night: nothing was recorded: start it with `logman start night`");
    assert_int_equal((DWORD)open_name("base", why, sizeof why), PDH_NO_DATA);
    assert_non_null(strstr(why, "`logman start base`"));
    assert_int_equal((DWORD)open_name("day", why, sizeof why), PDH_FILE_NOT_FOUND);
    assert_int_equal((DWORD)open_name("../night", why, sizeof why), PDH_FILE_NOT_FOUND);
    assert_int_equal((DWORD)open_name("", why, sizeof why), PDH_FILE_NOT_FOUND);
    write_text("a.blg", "no capture");
    assert_int_equal((DWORD)open_name("night", why, sizeof why), PDH_NO_DATA);
    assert_non_null(strstr(why, "files that cannot be read: 1, the first is a.blg: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folders, remove_folders)
        TEST(ordered),
        TEST(elsewhere),
        TEST(pipes),
        TEST(gaps),
        TEST(grows),
        TEST(damaged),
        TEST(removed_while_read),
        TEST(nothing_recorded),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
