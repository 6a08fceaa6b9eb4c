/* SPDX-License-Identifier: MIT */
/* Tests of time ranges in long captures: a range gives the same samples as if the whole capture
 * were read, but what is outside the range is not read. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "log/log.h"

enum { LINES = 40000, HEADS = 4, SECOND = 10000000, BUFFER = 65536, BUFFERS = 80 };
static const LONGLONG begin = INT64_C(126858528000000000); /* 01/01/2003 */

static int memory_file(const void *bytes, size_t size)
{
    int fd = memfd_create("capture", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, 0), (ssize_t)size);
    return fd;
}

/* Returns a line's time in seconds. The capture's second quarter is earlier than the first. */
static size_t second_of_line(size_t number)
{
    size_t quarter = LINES / 4;
    return number < quarter ? number + quarter : number < 2 * quarter ? number - quarter : number;
}

/* Writes lines with several heads, each with other columns; returns where the lines begin. */
static void make_text(struct buffer *text, size_t *places)
{
    for (size_t i = 0; i < LINES; i++) {
        size_t head = i / (LINES / HEADS), second = second_of_line(i);
        if (i % (LINES / HEADS) == 0)
            buffer_printf(text, "\"(PDH-CSV 4.0)\",\"\\\\M\\O\\line\",\"\\\\M\\O(%zu)\\c\"\r\n",
                          head);
        places[i] = text->len;
        buffer_printf(text, "\"01/01/2003 %02zu:%02zu:%02zu.000\",\"%zu\",\"%zu.5\"\r\n",
                      second / 3600, second / 60 % 60, second % 60, i, i);
    }
    assert_false(text->failed);
}

static LONGLONG time_of_line(size_t number)
{
    return begin + (LONGLONG)second_of_line(number) * SECOND;
}

static void check_range(struct log *log, LONGLONG from, LONGLONG until)
{
    assert_int_equal(log_set_range(log, from, until), 0);
    const struct log_sample *sample;
    for (size_t i = 0; i < LINES; i++) {
        if (time_of_line(i) < from || time_of_line(i) > until)
            continue;
        assert_int_equal(log_next(log, &sample), 0);
        assert_int_equal(sample->time, time_of_line(i));
        assert_true(sample->values[0].number == (double)i);
        size_t head = i / (LINES / HEADS);
        for (size_t k = 0; k < HEADS; k++)
            assert_int_equal(sample->values[1 + k].status,
                             k == head ? PDH_CSTATUS_VALID_DATA : PDH_ENTRY_NOT_IN_LOG_FILE);
        assert_true(sample->values[1 + head].number == (double)i + 0.5);
    }
    assert_int_equal((DWORD)log_next(log, &sample), PDH_NO_MORE_DATA);
}

static void a_range_has_what_reading_all_has(void **state)
{
    static size_t places[LINES];
    BUFFER_AUTO text = {0};
    struct log *log = NULL;
    struct log_extent extent;
    make_text(&text, places);
    assert_int_equal(log_open_fd(memory_file(text.data, text.len), "capture", &log, NULL), 0);
    assert_int_equal(log_extent(log, &extent), 0);
    assert_int_equal(extent.samples, LINES);
    assert_int_equal(extent.first, begin);
    assert_int_equal(extent.last, begin + (LONGLONG)(LINES - 1) * SECOND);
    assert_int_equal(log_columns(log), 1 + HEADS); /* the columns of later heads are included */
    static const size_t spans[][2] = {
        {0,         LINES - 1},
        {0,         0        },
        {LINES - 1, LINES - 1},
        {9990,      10010    },
        {19000,     21000    },
        {5,         7        },
        {39990,     39995    },
        {29999,     30001    },
        {15000,     15000    }
    };
    for (size_t i = 0; i < COUNT(spans); i++)
        check_range(log, begin + (LONGLONG)spans[i][0] * SECOND,
                    begin + (LONGLONG)spans[i][1] * SECOND);
    log_close(log);
}

/* Overwrites lines outside the range after the log was opened: reading them would be an error. */
static void what_is_outside_is_not_read(void **state)
{
    static size_t places[LINES];
    static char garbage[1 << 20];
    BUFFER_AUTO text = {0};
    struct log *log = NULL;
    struct log_extent extent;
    const struct log_sample *sample;
    memset(garbage, '#', sizeof garbage);
    make_text(&text, places);
    int fd = memory_file(text.data, text.len);
    assert_int_equal(log_open_fd(dup(fd), "capture", &log, NULL), 0);
    assert_int_equal(log_extent(log, &extent), 0);
    assert_int_equal(pwrite(fd, garbage, sizeof garbage, 1000), sizeof garbage);
    assert_int_equal(pwrite(fd, "?", 1, (off_t)places[30003]), 1);
    assert_int_equal(
        log_set_range(log, begin + 30000 * (LONGLONG)SECOND, begin + 30005 * (LONGLONG)SECOND), 0);
    for (size_t i = 30000; i < 30006; i++) {
        if (i == 30003) {
            char message[100];
            assert_int_equal((DWORD)log_next(log, &sample), PDH_BINARY_LOG_CORRUPT);
            snprintf(message, sizeof message, "capture: line %zu, offset %zu: ", i + 1 + HEADS,
                     places[i]);
            assert_memory_equal(log_problem(log), message, strlen(message));
            continue;
        }
        assert_int_equal(log_next(log, &sample), 0);
        assert_true(sample->values[0].number == (double)i);
    }
    assert_int_equal((DWORD)log_next(log, &sample), PDH_NO_MORE_DATA);
    log_close(log);
    close(fd);
}

static void the_sample_before_comes_when_wanted(void **state)
{
    static size_t places[LINES];
    BUFFER_AUTO text = {0};
    struct log *log = NULL;
    const struct log_sample *sample;
    const LONGLONG from = begin + 25000 * (LONGLONG)SECOND;
    make_text(&text, places);
    assert_int_equal(log_open_fd(memory_file(text.data, text.len), "capture", &log, NULL), 0);
    log_want_early(log, true);
    assert_int_equal(log_set_range(log, from, from), 0);
    LONGLONG before = 0;
    size_t count = 0;
    while (log_next(log, &sample) == 0 && sample->early) {
        assert_true(sample->time < from);
        before = sample->time;
        count++;
    }
    assert_int_equal(before, from - SECOND);
    assert_int_equal(sample->time, from);
    assert_true(count < LINES / 2); /* fewer than all samples were read */
    assert_int_equal((DWORD)log_next(log, &sample), PDH_NO_MORE_DATA);
    log_close(log);
}

/* ---- binary captures ---- */

enum { FIRST = 0x438, SAMPLE = 816, IN_BUFFER = 79 };

/* Makes a capture: CounterSamples.blg, then more buffers of samples, one second apart. Returns its
 * descriptor; *ret_first is the time of the last sample before these buffers. */
static int make_binary(LONGLONG *ret_first)
{
    char path[4096];
    BUFFER_AUTO whole = {0};
    static char filled[BUFFER];
    snprintf(path, sizeof path, "%s/perfmon-logs/CounterSamples.blg", getenv("GOLDEN"));
    assert_int_equal(file_read(AT_FDCWD, path, &whole), 0);
    int fd = memory_file(whole.data, whole.len);
    char *buffer = whole.data + BUFFER;
    memcpy(ret_first, buffer + FIRST + 24 * SAMPLE + 16, 8);
    LONGLONG time = *ret_first;
    memcpy(filled, buffer, 72);
    for (int i = 0; i < BUFFERS; i++) {
        uint32_t used = 72;
        for (int k = 0; k < IN_BUFFER; k++, used += SAMPLE) {
            memcpy(filled + used, buffer + FIRST + k % 25 * SAMPLE, SAMPLE);
            time += SECOND;
            memcpy(filled + used + 16, &time, 8);
        }
        memcpy(filled + 48, &used, 4);
        assert_int_equal(pwrite(fd, filled, BUFFER, (off_t)(2 + i) * BUFFER), BUFFER);
    }
    return fd;
}

static void a_binary_range_is_found(void **state)
{
    static char garbage[40 * BUFFER];
    LONGLONG first;
    struct log *log = NULL;
    struct log_extent extent;
    const struct log_sample *sample;
    int fd = make_binary(&first);
    memset(garbage, 0x55, sizeof garbage);
    assert_int_equal(log_open_fd(dup(fd), "capture", &log, NULL), 0);
    assert_int_equal(log_extent(log, &extent), 0);
    assert_int_equal(extent.samples, 25 + BUFFERS * IN_BUFFER);
    assert_int_equal(pwrite(fd, garbage, sizeof garbage, 10 * BUFFER), sizeof garbage);
    const LONGLONG from = first + 60 * IN_BUFFER * (LONGLONG)SECOND;
    assert_int_equal(log_set_range(log, from, from + 200 * (LONGLONG)SECOND), 0);
    for (LONGLONG i = 0; i <= 200; i++) {
        assert_int_equal(log_next(log, &sample), 0);
        assert_int_equal(sample->time, from + i * SECOND);
        assert_int_equal(sample->values[0].kind, LOG_ARRAY);
        assert_int_equal(sample->values[0].count, 5);
    }
    assert_int_equal((DWORD)log_next(log, &sample), PDH_NO_MORE_DATA);
    log_close(log);
    close(fd);
}

/* ---- long lines ---- */

/* The bytes that this process has read so far; 0: the system does not say. */
static uint64_t bytes_read(void)
{
    BUFFER_AUTO text = {0};
    if (file_read(AT_FDCWD, "/proc/self/io", &text))
        return 0;
    const char *line = strstr(text.data, "rchar: ");
    return line ? strtoull(line + 7, NULL, 10) : 0;
}

/* Lines with as many columns as Process has counters on a large machine: the reader reads the file
 * at most four times in all. */
static void a_long_line_is_not_read_again_and_again(void **state)
{
    enum { COLUMNS = 20000 };
    BUFFER_AUTO text = {0};
    struct log *log = NULL;
    const struct log_sample *sample;
    buffer_printf(&text, "\"(PDH-CSV 4.0)\"");
    for (int i = 0; i < COLUMNS; i++)
        buffer_printf(&text, ",\"\\\\HOST\\Process(p%d)\\%% Processor Time\"", i);
    for (int line = 0; line < 3; line++) {
        buffer_printf(&text, "\n\"01/02/2003 04:05:%02d.000\"", line);
        for (int i = 0; i < COLUMNS; i++)
            buffer_printf(&text, ",\"%d.5\"", i);
    }
    buffer_printf(&text, "\n");
    uint64_t before = bytes_read();
    assert_int_equal(log_open_fd(memory_file(text.data, text.len), "capture", &log, NULL), 0);
    for (int line = 0; line < 3; line++) {
        assert_int_equal(log_next(log, &sample), 0);
        assert_true(sample->values[COLUMNS - 1].number == COLUMNS - 0.5);
    }
    uint64_t read = bytes_read() - before;
    if (read > 4 * text.len)
        fail_msg("%llu bytes were read of %zu", (unsigned long long)read, text.len);
    log_close(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_has_what_reading_all_has),
        cmocka_unit_test(what_is_outside_is_not_read),
        cmocka_unit_test(the_sample_before_comes_when_wanted),
        cmocka_unit_test(a_binary_range_is_found),
        cmocka_unit_test(a_long_line_is_not_read_again_and_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
