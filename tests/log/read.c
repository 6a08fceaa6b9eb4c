/* SPDX-License-Identifier: MIT */
/* Tests of reading captures: the one that Windows made, in its three formats, and damaged copies.
 * With the argument N, every N-th bit is flipped and every N-th truncation is tried. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../skip.h"
#include "log/log.h"

/* Which bits are flipped, and at which lengths captures are cut off: every ninth bit and every 61st
 * length; in the test log-read-slow, which has the argument 3, every third of both. */
static struct stride {
    size_t bits, bytes;
} stride = {9, 61};
static struct buffer golden; /* CounterSamples.blg */

enum { SAMPLES = 25, FIRST_SAMPLE = 0x10438, SAMPLE_SIZE = 816 };

static struct log *open_golden(const char *name)
{
    char path[4096];
    struct log *log = NULL;
    snprintf(path, sizeof(path), "%s/perfmon-logs/%s", getenv("GOLDEN"), name);
    const char *paths[] = {path};
    assert_int_equal(log_open(paths, 1, &log, NULL), 0);
    return log;
}

static int memory_file(const void *bytes, size_t size)
{
    int fd = memfd_create("capture", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, 0), (ssize_t)size);
    return fd;
}

static struct log *open_bytes(const void *bytes, size_t size)
{
    struct log *log = NULL;
    assert_int_equal(log_open_bytes(bytes, size, "capture", &log, NULL), 0);
    return log;
}

static struct log *open_text(const char *text)
{
    return open_bytes(text, strlen(text));
}

static const struct log_sample *next(struct log *log)
{
    const struct log_sample *sample = NULL;
    assert_int_equal(log_next(log, &sample), 0);
    return sample;
}

static void ends(struct log *log)
{
    const struct log_sample *sample;
    assert_int_equal((DWORD)log_next(log, &sample), PDH_NO_MORE_DATA);
}

/* ---- what Windows wrote ---- */

static void binary_has_facts(void **state)
{
    (void)state;
    struct log *log = open_golden("CounterSamples.blg");
    const struct log_facts *facts = log_facts(log);
    assert_int_equal(facts->kind, LOG_BINARY);
    assert_string_equal(facts->machine, "\\\\charlieparker");
    assert_string_equal(facts->zone, "Pacific Standard Time");
    assert_int_equal(facts->bias, 480);
    assert_null(facts->caption);
    assert_int_equal(facts->size_bytes, 131072);
    struct log_extent extent;
    assert_int_equal(log_extent(log, &extent), 0);
    assert_int_equal(extent.samples, SAMPLES);
    assert_int_equal(extent.first, INT64_C(131246415908740000));
    assert_int_equal(extent.last, INT64_C(131246416629830000));
    log_close(log);
}

static void binary_has_columns(void **state)
{
    (void)state;
    struct log *log = open_golden("CounterSamples.blg");
    assert_int_equal(log_columns(log), 6);
    const struct log_column *column = log_column(log, 0);
    assert_int_equal(column->kind, LOG_ARRAY);
    assert_string_equal(column->path, "\\\\charlieparker\\network interface(*)\\bytes total/sec");
    assert_int_equal(column->type, 0x10410500);
    assert_int_equal(column->time_base, 2630633);
    assert_int_equal(column->scale, -4);
    column = log_column(log, 1);
    assert_int_equal(column->kind, LOG_RAW);
    assert_string_equal(column->object, "processor");
    assert_string_equal(column->instance, "_total");
    assert_string_equal(column->counter, "% processor time");
    assert_null(column->parent);
    assert_null(log_column(log, 2)->instance);
    assert_null(log_column(log, 6));
    log_close(log);
}

static void binary_has_raw_values(void **state)
{
    (void)state;
    struct log *log = open_golden("CounterSamples.blg");
    const struct log_sample *sample = next(log);
    assert_int_equal(sample->time, INT64_C(131246415908740000));
    assert_null(sample->text);
    const struct log_value *value = &sample->values[0];
    assert_int_equal(value->kind, LOG_ARRAY);
    assert_int_equal(value->count, 5);
    assert_string_equal(value->items[1].name, "intel[r] dual band wireless-ac 7260");
    assert_int_equal(value->items[1].first, INT64_C(3983296633));
    assert_int_equal(value->items[1].second, INT64_C(0x1d32e8d5d97));
    assert_int_equal(value->items[1].multi, 1);
    assert_false(value->same_names);
    value = &sample->values[2];
    assert_int_equal(value->kind, LOG_RAW);
    assert_int_equal(value->raw.FirstValue, INT64_C(0xde8f432a));
    assert_int_equal(value->raw.SecondValue, INT64_C(0xffffffff));
    assert_int_equal(value->raw.MultiCount, 1);
    assert_int_equal(value->raw.TimeStamp.dwLowDateTime, 0x7e489ba0);
    assert_true(next(log)->values[0].same_names);
    log_close(log);
}

/* From its CSV, TSV and BLG form, the recording has the same time zone and all samples, also when
 * it is read a second time. */
static void all_forms_are_read_to_the_end(void **state)
{
    static const char *const names[] = {"CounterSamples.blg", "CounterSamples.csv",
                                        "CounterSamples.tsv"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct log *log = open_golden(names[i]);
        assert_string_equal(log_facts(log)->zone, "Pacific Standard Time");
        assert_int_equal(log_facts(log)->bias, 480);
        for (int round = 0; round < 2; round++) {
            for (int k = 0; k < SAMPLES; k++)
                next(log);
            ends(log);
            ends(log);
            assert_null(log_problem(log));
            assert_int_equal(log_rewind(log), 0);
        }
        log_close(log);
    }
}

static void text_has_numbers_and_gaps(void **state)
{
    (void)state;
    struct log *log = open_golden("CounterSamples.tsv");
    assert_int_equal(log_facts(log)->kind, LOG_TSV);
    assert_int_equal(log_columns(log), 10);
    const struct log_sample *sample = next(log);
    assert_int_equal(sample->time, INT64_C(131246415908740000));
    assert_int_equal(sample->values[0].kind, LOG_COOKED);
    assert_int_equal(sample->values[0].status, PDH_CSTATUS_INVALID_DATA);
    assert_int_equal(sample->values[6].status, PDH_CSTATUS_VALID_DATA);
    assert_true(sample->values[6].number == 86.93735103284412);
    log_close(log);
}

static void a_range_leaves_the_rest_out(void **state)
{
    (void)state;
    struct log *log = open_golden("CounterSamples.csv");
    const LONGLONG first = INT64_C(131246415908740000);
    assert_int_equal(log_set_range(log, first + 1, first + INT64_C(65000000)), 0);
    assert_int_equal(next(log)->time, first + INT64_C(30030000));
    assert_int_equal(next(log)->time, first + INT64_C(60050000));
    ends(log);
    struct log_extent extent;
    assert_int_equal(log_extent(log, &extent), 0);
    assert_int_equal(extent.samples, SAMPLES);
    assert_int_equal(log_set_range(log, 0, 0), 0);
    assert_int_equal(next(log)->time, first);
    log_close(log);
}

static void unwanted_columns_are_left_out(void **state)
{
    (void)state;
    struct log *log = open_golden("CounterSamples.blg");
    log_want(log, 0, false);
    next(log); /* skips the sample that was read when the log was opened */
    const struct log_sample *sample = next(log);
    assert_int_equal(sample->values[0].status, PDH_NO_DATA);
    assert_int_equal(sample->values[1].status, PDH_CSTATUS_VALID_DATA);
    log_close(log);
}

/* ---- layouts: captures of fuzz/corpus/blg, made from the format's description ---- */

static struct log *open_made(const char *name)
{
    char path[4096];
    struct log *log = NULL;
    snprintf(path, sizeof(path), "%s/fuzz/corpus/blg/%s.blg", getenv("SOURCE_ROOT"), name);
    const char *paths[] = {path};
    assert_int_equal(log_open(paths, 1, &log, NULL), 0);
    return log;
}

static const LONGLONG made_start = INT64_C(131246415908740000);

static void a_log_of_2003_is_read(void **state)
{
    (void)state;
    struct log *log = open_made("w2003");
    assert_string_equal(log_facts(log)->zone, "Pacific Standard Time");
    assert_int_equal(log_facts(log)->bias, 480);
    for (int i = 0; i < 3; i++) {
        const struct log_sample *sample = next(log);
        assert_int_equal(sample->values[0].raw.FirstValue, i);
        assert_string_equal(sample->values[1].items[0].name, "p/a");
    }
    ends(log);
    log_close(log);
}

static void a_circular_log_is_put_in_order(void **state)
{
    (void)state;
    struct log *log = open_made("circular");
    for (int round = 0; round < 2; round++) {
        for (int i = 6; i < 14; i++)
            assert_int_equal(next(log)->time, made_start + i * INT64_C(10000000));
        ends(log);
        assert_null(log_problem(log));
        /* that the oldest buffer was overwritten does not count as a loss */
        assert_false(log_losses(log)->any);
        assert_int_equal(log_rewind(log), 0);
    }
    log_close(log);
}

static void parts_are_joined(void **state)
{
    (void)state;
    struct log *log = open_made("parts");
    assert_int_equal(log_columns(log), 2);
    const struct log_value *value = &next(log)->values[1];
    assert_int_equal(value->count, 24);
    assert_string_equal(value->items[23].name, "instance 23");
    assert_int_equal(value->items[23].first, 23);
    assert_int_equal(next(log)->values[1].count, 2);
    ends(log);
    log_close(log);
}

static void a_block_comes_whole_with_its_names(void **state)
{
    char path[4096];
    BUFFER_AUTO block = {0};
    (void)state;
    snprintf(path, sizeof(path), "%s/windows/s00-1-TCPv4.perf", getenv("GOLDEN"));
    assert_int_equal(file_read(AT_FDCWD, path, &block), 0);
    struct log *log = open_made("block");
    assert_int_equal(log_column(log, 0)->kind, LOG_BLOCK);
    const struct log_value *value = &next(log)->values[0];
    assert_int_equal(value->kind, LOG_BLOCK);
    assert_int_equal(value->size, block.len);
    assert_memory_equal(value->block, block.data, block.len);
    assert_string_equal(log_name(log, "\\\\m", 638), "TCPv4");
    assert_string_equal(log_name(log, "\\\\M", 2), "System");
    assert_null(log_name(log, "\\\\M", 3));
    log_close(log);
}

static void an_appended_log_has_a_second_catalogue(void **state)
{
    (void)state;
    struct log *log = open_made("appended");
    const struct log_sample *sample = next(log);
    assert_int_equal(sample->values[1].count, 2);
    assert_true(sample->values[1].items[0].name[0] == 'a');
    sample = next(log);
    assert_int_equal(log_columns(log), 3);
    assert_int_equal(sample->values[0].status, PDH_ENTRY_NOT_IN_LOG_FILE);
    assert_int_equal(sample->values[1].items[0].first, 5);
    assert_int_equal(sample->values[2].raw.FirstValue, 7);
    ends(log);
    log_close(log);
}

/* ---- zones ---- */

static void zones_have_english_names(void **state)
{
    (void)state;
    assert_string_equal(zone_name("@tzres.dll,-322"), "W. Europe Standard Time");
    assert_string_equal(zone_name("@tzres.dll,-321"), "W. Europe Daylight Time");
    assert_string_equal(zone_name("@tzres.dll,-171"), "Central Daylight Time (Mexico)");
    assert_string_equal(zone_name("@tzres.dll,-262"), "GMT Standard Time");
    assert_string_equal(zone_name("@tzres.dll,-112"), "Eastern Standard Time");
    assert_string_equal(zone_name("@tzres.dll,-512"), "Central Asia Standard Time");
    assert_string_equal(zone_name("@tzres.dll,-872"), "Pakistan Standard Time");
    assert_string_equal(zone_name("@tzres.dll,-492"), "India Standard Time");
    assert_string_equal(zone_name("@tzres.dll,-572"), "China Standard Time");
    assert_string_equal(zone_name("@tzres.dll,-622"), "Korea Standard Time");
    assert_string_equal(zone_name("@tzres.dll,-632"), "Tokyo Standard Time");
    assert_string_equal(zone_name("@tzres.dll,-672"), "AUS Eastern Standard Time");
    assert_string_equal(zone_name("@tzres.dll,-99999"), "@tzres.dll,-99999");
    assert_string_equal(zone_name("Mitteleuropa"), "Mitteleuropa");
}

/* If a capture's first sample is in July, the time zone has the name and offset of daylight saving
 * time. */
static void summer_has_its_own_name_and_bias(void **state)
{
    (void)state;
    int fd = memory_file(golden.data, golden.len);
    LONGLONG july = INT64_C(131246415908740000) - 140 * INT64_C(864000000000);
    assert_int_equal(pwrite(fd, &july, sizeof(july), 0x10438 + 16), (ssize_t)sizeof(july));
    struct log *log = NULL;
    assert_int_equal(log_open_fd(fd, "capture", &log, NULL), 0);
    assert_string_equal(log_facts(log)->zone, "Pacific Daylight Time");
    assert_int_equal(log_facts(log)->bias, 420);
    log_close(log);
}

/* A zone with half an hour of daylight saving time, and a zone that Windows does not have. */
static void f_a6_zones_have_names_and_minutes(void **state)
{
    const LONGLONG january = INT64_C(131276160000000000),
                   july = january + 180 * INT64_C(864000000000);
    char storage[ZONE_TEXT_SIZE];
    LONG bias;
    (void)state;
    const char *set = getenv("TZ");
    FREE_AUTO char *before = set ? strdup(set) : NULL;
    if (access("/usr/share/zoneinfo/Australia/Lord_Howe", R_OK) != 0) {
        report_skipped("tzdata is not installed");
        return;
    }
    setenv("TZ", "Australia/Lord_Howe", 1);
    tzset();
    assert_string_equal(zone_local(january, storage, &bias), "Lord Howe Daylight Time");
    assert_int_equal(bias, -660);
    assert_string_equal(zone_local(july, storage, &bias), "Lord Howe Standard Time");
    assert_int_equal(bias, -630);
    setenv("TZ", "Asia/Colombo", 1);
    tzset();
    assert_string_equal(zone_local(july, storage, &bias), "Asia/Colombo");
    assert_int_equal(bias, -330);
    if (before)
        setenv("TZ", before, 1);
    else
        unsetenv("TZ");
    tzset();
}

/* ---- damage ---- */

/* Reads all samples, and returns how many there were. Every reported failure must have a text with
 * the offset in the file. */
static int read_all(struct log *log, bool *ret_reported)
{
    int count = 0;
    *ret_reported = false;
    for (int calls = 0; calls < 1000; calls++) {
        const struct log_sample *sample;
        PDH_STATUS status = log_next(log, &sample);
        count += status == 0;
        if (status == 0)
            continue;
        if (log_problem(log)) {
            assert_non_null(strstr(log_problem(log), "capture: offset "));
            *ret_reported = true;
        }
        if ((DWORD)status == PDH_NO_MORE_DATA)
            return count;
        assert_int_equal((DWORD)status, PDH_BINARY_LOG_CORRUPT);
        assert_non_null(log_problem(log));
    }
    fail_msg("no end");
    return 0;
}

static void every_flipped_bit_is_survived(void **state)
{
    int fd = memory_file(golden.data, golden.len);
    (void)state;
    for (size_t bit = 0; bit < 4096 * 8; bit += stride.bits) {
        char byte = golden.data[bit / 8] ^ (char)(1 << bit % 8);
        assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
        struct log *log = NULL;
        bool reported = false;
        BUFFER_AUTO problem = {0};
        assert_int_equal(log_open_fd(dup(fd), "capture", &log, &problem), 0);
        int count = read_all(log, &reported);
        if (count != SAMPLES)
            fail_msg("bit %zu costs %d samples", bit, SAMPLES - count);
        log_close(log);
        assert_int_equal(pwrite(fd, &golden.data[bit / 8], 1, (off_t)(bit / 8)), 1);
    }
    close(fd);
}

static void check_truncated(int fd, size_t size)
{
    struct log *log = NULL;
    BUFFER_AUTO problem = {0};
    PDH_STATUS status = log_open_fd(dup(fd), "capture", &log, &problem);
    if (status) {
        if (size >= 0x210)
            fail_msg("%zu bytes are not opened", size);
        assert_non_null(strstr(problem.data, "capture: offset "));
        return;
    }
    size_t whole = size < FIRST_SAMPLE ? 0 : (size - FIRST_SAMPLE) / SAMPLE_SIZE;
    size_t expected = whole > SAMPLES ? SAMPLES : whole;
    bool reported;
    int count = read_all(log, &reported);
    if ((size_t)count != expected)
        fail_msg("%zu bytes give %d samples", size, count);
    bool torn = size > 0x10000 && size < 0x10000 + 0x53e8;
    if (torn && !reported)
        fail_msg("%zu bytes: nothing was reported", size);
    log_close(log);
}

static void every_truncation_is_survived(void **state)
{
    int fd = memory_file(golden.data, golden.len);
    (void)state;
    for (size_t size = golden.len; size > 0; size -= size > stride.bytes ? stride.bytes : size) {
        assert_int_equal(ftruncate(fd, (off_t)size), 0);
        check_truncated(fd, size);
    }
    close(fd);
}

/* After damage, the rest of the buffer is lost; the samples before it are read. */
static void damage_is_reported_once_with_its_offset(void **state)
{
    (void)state;
    int fd = memory_file(golden.data, golden.len);
    off_t third = FIRST_SAMPLE + 2 * SAMPLE_SIZE;
    assert_int_equal(pwrite(fd, "\0\0", 2, third), 2);
    struct log *log = NULL;
    const struct log_sample *sample;
    assert_int_equal(log_open_fd(fd, "capture", &log, NULL), 0);
    next(log);
    next(log);
    assert_int_equal((DWORD)log_next(log, &sample), PDH_BINARY_LOG_CORRUPT);
    char expected[64];
    snprintf(expected, sizeof(expected), "capture: offset %lld: ", (long long)third);
    assert_memory_equal(log_problem(log), expected, strlen(expected));
    ends(log);
    assert_null(log_problem(log));
    log_close(log);
}

/* Reads a damaged capture. If samples are missing, an error must be reported, or a loss counted.
 * `at` is the damaged offset. */
static void nothing_is_silent(const struct buffer *capture, size_t at)
{
    struct log *log = open_bytes(capture->data, capture->len);
    bool reported;
    int count = read_all(log, &reported);
    if (count < SAMPLES && !reported && !log_losses(log)->any)
        fail_msg("byte %zu, now %02hhX: %d samples, without a message", at, capture->data[at],
                 count);
    log_close(log);
}

/* Changes each byte of the third sample's head in several ways, and then the whole head. */
static void no_damaged_head_costs_samples_silently(void **state)
{
    (void)state;
    const size_t third = FIRST_SAMPLE + 2 * SAMPLE_SIZE;
    char head[72];
    memcpy(head, golden.data + third, sizeof(head));
    for (size_t i = 0; i < sizeof(head); i++) {
        const char byte = head[i];
        const char changes[] = {byte, (char)~byte, 1, 2, 4, 8, 16, 32, 64, (char)128};
        for (size_t change = 0; change < sizeof(changes); change++) {
            golden.data[third + i] = byte ^ changes[change];
            nothing_is_silent(&golden, third + i);
        }
        golden.data[third + i] = byte;
    }
    for (size_t size = 4; size <= sizeof(head); size += 4) {
        memset(golden.data + third, 0xff, size);
        nothing_is_silent(&golden, third);
        memset(golden.data + third, 0, size);
        nothing_is_silent(&golden, third);
        memcpy(golden.data + third, head, size);
    }
}

/* A circular capture: its buffers have the sequence numbers 1, 3, 4, 5, 6. The gap after 1 is where
 * an old buffer was overwritten, which is no loss. Buffer 5 is damaged here, and counts as a
 * loss. */
static void f_h14_a_circular_log_lacks_a_buffer(void **state)
{
    (void)state;
    BUFFER_AUTO capture = {0};
    char path[4096];
    snprintf(path, sizeof(path), "%s/fuzz/corpus/blg/circular.blg", getenv("SOURCE_ROOT"));
    assert_int_equal(file_read(AT_FDCWD, path, &capture), 0);
    memset(capture.data + 2 * 1024, 0, 1024); /* the buffer with sequence number 5 */
    struct log *log = open_bytes(capture.data, capture.len);
    bool reported;
    assert_int_equal(read_all(log, &reported), 6);
    assert_false(reported);
    assert_int_equal(log_losses(log)->list[LOSS_BUFFER].count, 1);
    log_close(log);
}

/* Filler bytes in place of records are damage; after a buffer's last record they are normal,
 * because they mark its end. */
static void filler_in_place_of_records_is_reported(void **state)
{
    (void)state;
    const size_t third = FIRST_SAMPLE + 2 * SAMPLE_SIZE, rest = (SAMPLES - 2) * SAMPLE_SIZE;
    BUFFER_AUTO capture = {0};
    assert_true(buffer_add(&capture, golden.data, golden.len));
    memset(capture.data + third, 0xff, rest);
    struct log *log = open_bytes(capture.data, capture.len);
    const struct log_sample *sample;
    next(log);
    next(log);
    assert_int_equal((DWORD)log_next(log, &sample), PDH_BINARY_LOG_CORRUPT);
    assert_non_null(strstr(log_problem(log), "the rest of this buffer is skipped"));
    ends(log);
    assert_null(log_problem(log));
    log_close(log);
}

/* After the capture's first buffer there is one with an empty head, filled with one byte. 0 and FF
 * mean that it was never written, because a disk and Windows leave these bytes; any other byte is
 * damage. */
static void buffers_that_were_never_written(void **state)
{
    enum { BUFFER = 1024, HEAD = 72 };
    static const char fillers[] = {0, (char)0xff, 'A'};
    BUFFER_AUTO capture = {0};
    char path[4096];
    (void)state;
    snprintf(path, sizeof(path), "%s/fuzz/corpus/blg/w2003.blg", getenv("SOURCE_ROOT"));
    assert_int_equal(file_read(AT_FDCWD, path, &capture), 0);
    for (size_t i = 0; i < sizeof fillers; i++) {
        const struct log_sample *sample;
        BUFFER_AUTO changed = {0};
        char unwritten[BUFFER] = {0};
        int samples = 0, problems = 0;
        memset(unwritten + HEAD, fillers[i], BUFFER - HEAD);
        buffer_add(&changed, capture.data, BUFFER);
        buffer_add(&changed, unwritten, BUFFER);
        buffer_add(&changed, capture.data + BUFFER, capture.len - BUFFER);
        struct log *log = open_bytes(changed.data, changed.len);
        for (PDH_STATUS status = 0; (DWORD)status != PDH_NO_MORE_DATA && problems < 3;) {
            status = log_next(log, &sample);
            samples += status == 0;
            problems += (DWORD)status == PDH_BINARY_LOG_CORRUPT;
            if ((DWORD)status == PDH_BINARY_LOG_CORRUPT)
                assert_non_null(strstr(log_problem(log), fillers[i] == 'A'
                                                             ? "not the header of a buffer"
                                                             : "never written"));
        }
        assert_int_equal(samples, 3);
        assert_int_equal(problems, 1);
        log_close(log);
    }
}

/* ---- a file that grows ---- */

static void what_is_written_later_comes_later(void **state)
{
    (void)state;
    int fd = memory_file(golden.data, FIRST_SAMPLE + SAMPLE_SIZE + 5);
    struct log *log = NULL;
    assert_int_equal(log_open_fd(dup(fd), "capture", &log, NULL), 0);
    next(log);
    ends(log);
    assert_non_null(log_problem(log));
    assert_int_equal(pwrite(fd, golden.data, golden.len, 0), (ssize_t)golden.len);
    for (int i = 1; i < SAMPLES; i++)
        next(log);
    ends(log);
    assert_null(log_problem(log));
    log_close(log);
    close(fd);
}

static void a_pipe_is_read_as_it_fills(void **state)
{
    (void)state;
    int ends_of_pipe[2];
    struct log *log = NULL;
    static const char head[] =
        "\"(PDH-CSV 4.0)\",\"\\\\M\\O\\c\"\r\n\"01/02/2003 04:05:06.789\",\"1\"\r\n";
    static const char more[] = "\"01/02/2003 04:05:07.789\",\"2\"\r\n";
    assert_int_equal(pipe2(ends_of_pipe, O_CLOEXEC), 0);
    assert_int_equal(write(ends_of_pipe[1], head, strlen(head)), (ssize_t)strlen(head));
    assert_int_equal(log_open_fd(ends_of_pipe[0], "pipe", &log, NULL), 0);
    assert_true(next(log)->values[0].number == 1);
    assert_int_equal(write(ends_of_pipe[1], more, strlen(more)), (ssize_t)strlen(more));
    assert_true(next(log)->values[0].number == 2);
    close(ends_of_pipe[1]);
    ends(log);
    struct log_extent extent;
    assert_int_equal(log_extent(log, &extent), 0);
    assert_int_equal(extent.samples, 2);
    log_close(log);
}

/* ---- CSV files of other programs ---- */

static void text_without_zone_or_quotes_is_read(void **state)
{
    (void)state;
    struct log *log = open_text("(PDH-CSV 4.0),\\\\M\\O(p/a#2)\\c\n01/02/2003 04:05:06,-1.5");
    assert_string_equal(log_facts(log)->zone, "");
    const struct log_column *column = log_column(log, 0);
    assert_string_equal(column->parent, "p");
    assert_string_equal(column->instance, "a");
    assert_int_equal(column->index, 2);
    ends(log); /* without quotes it is unknown whether -1.5 is complete */
    assert_non_null(log_problem(log));
    log_close(log);
    log = open_text("(PDH-CSV 4.0),\\\\M\\O(x)\\c\n01/02/2003 04:05:06,-1.5\n\n");
    assert_true(next(log)->values[0].number == -1.5);
    ends(log);
    log_close(log);
}

static void odd_names_and_captions_are_kept(void **state)
{
    (void)state;
    struct log *log =
        open_text("\"(PDH-CSV 4.0) (Zeit (Ost))(-60)\",\"\\\\M\\O(a \"b\" (c))\\d\","
                  "\"caption\"\n\"01/02/2003 04:05:06.007\",\" \",\"say \"hi\" you\"\n");
    assert_string_equal(log_facts(log)->zone, "Zeit (Ost)");
    assert_int_equal(log_facts(log)->bias, -60);
    assert_string_equal(log_facts(log)->caption, "caption");
    assert_string_equal(log_column(log, 0)->instance, "a \"b\" (c)");
    const struct log_sample *sample = next(log);
    assert_int_equal(sample->values[0].status, PDH_CSTATUS_INVALID_DATA);
    assert_string_equal(sample->text, "say \"hi\" you");
    log_close(log);
}

static void wide_and_western_text_is_read(void **state)
{
    static const char text[] = "\"(PDH-CSV 4.0)\",\"\\\\M\\Gr\xF6\xDF"
                               "e\\c\"\r\n"
                               "\"01/02/2003 04:05:06.789\",\"7\"\r\n";
    enum { WIDE = 2 * sizeof(text) };
    char wide[2][WIDE] = {"\xFF\xFE", "\xFE\xFF"};
    (void)state;
    for (size_t i = 0; i < strlen(text); i++)
        wide[0][2 * i + 2] = wide[1][2 * i + 3] = text[i];
    /* UTF-8, and UTF-16 of both byte orders, with byte order mark and without */
    for (int i = 0; i < 5; i++) {
        size_t skip = i > 2 ? 2 : 0;
        struct log *log =
            i == 0 ? open_text(text) : open_bytes(wide[(i - 1) % 2] + skip, WIDE - skip);
        assert_string_equal(log_column(log, 0)->object, "Größe");
        assert_true(next(log)->values[0].number == 7);
        ends(log);
        log_close(log);
    }
}

static void what_a_console_showed_is_read(void **state)
{
    (void)state;
    struct log *log = open_text("\r\n\"(PDH-CSV 4.0)\",\"\\\\M\\O\\c\"\r\n"
                                "\"01/02/2003 04:05:06.789\",\"7.000000\"\r\n"
                                "Exiting, please wait...                         \r\n"
                                "The command completed successfully.\r\n");
    assert_true(next(log)->values[0].number == 7);
    ends(log);
    assert_null(log_problem(log));
    log_close(log);
}

static void a_bad_line_is_reported_and_passed(void **state)
{
    const struct log_sample *sample;
    (void)state;
    struct log *log = open_text("\"(PDH-CSV 4.0)\",\"\\\\M\\O\\c\"\nnonsense\n"
                                "\"01/02/2003 04:05:06.789\",\"7\"\n");
    assert_int_equal((DWORD)log_next(log, &sample), PDH_BINARY_LOG_CORRUPT);
    assert_string_equal(
        log_problem(log),
        "capture: line 2, offset 26: this line does not begin with a time; it is skipped");
    assert_true(next(log)->values[0].number == 7);
    log_close(log);
}

static void what_is_no_capture_is_refused(void **state)
{
    static const char *const texts[] = {"", "a,b,c\n1,2,3\n",
                                        "PK\003\004 something that is longer"};
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct log *log = NULL;
        BUFFER_AUTO problem = {0};
        int fd = memory_file(texts[i], strlen(texts[i]));
        assert_int_equal((DWORD)log_open_fd(fd, "x", &log, &problem), PDH_UNKNOWN_LOG_FORMAT);
        assert_non_null(strstr(problem.data, "x: offset 0: "));
    }
    const char *paths[] = {"/nonexistent/file"};
    struct log *log = NULL;
    BUFFER_AUTO problem = {0};
    assert_int_equal((DWORD)log_open(paths, 1, &log, &problem), PDH_FILE_NOT_FOUND);
    assert_non_null(strstr(problem.data, paths[0]));
}

/* ---- several files ---- */

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void several_files_are_one_source(void **state)
{
    char folder[] = "/tmp/openperflib-log.XXXXXX", one[64], two[64];
    struct log *log = NULL;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(one, sizeof(one), "%s/one", folder);
    snprintf(two, sizeof(two), "%s/two", folder);
    write_file(one, "\"(PDH-CSV 4.0)\",\"\\\\M\\O\\a\",\"\\\\M\\O\\b\"\n"
                    "\"01/02/2003 04:05:07.000\",\"3\",\"4\"\n");
    write_file(two, "\"(PDH-TSV 4.0)\"\t\"\\\\m\\o\\b\"\t\"\\\\M\\O\\c\"\n"
                    "\"01/02/2003 04:05:06.000\"\t\"1\"\t\"2\"\n"
                    "\"01/02/2003 04:05:08.000\"\t\"5\"\t\"6\"\n");
    const char *paths[] = {one, two};
    assert_int_equal(log_open(paths, 2, &log, NULL), 0);
    assert_int_equal(log_columns(log), 3);
    const struct log_sample *sample = next(log);
    assert_int_equal(sample->values[0].status, PDH_ENTRY_NOT_IN_LOG_FILE);
    assert_true(sample->values[1].number == 1 && sample->values[2].number == 2);
    sample = next(log);
    assert_true(sample->values[0].number == 3 && sample->values[1].number == 4);
    assert_int_equal(sample->values[2].status, PDH_ENTRY_NOT_IN_LOG_FILE);
    assert_true(next(log)->values[2].number == 6);
    ends(log);
    log_close(log);
    unlink(one);
    unlink(two);
    rmdir(folder);
}

/* ---- impossible values ---- */

/* Dates and times of which one part is invalid. */
static void impossible_times_are_no_samples(void **state)
{
    static const char *const times[] = {"13/05/2003 04:05:06.000", "00/05/2003 04:05:06.000",
                                        "01/00/2003 04:05:06.000", "01/32/2003 04:05:06.000",
                                        "01/05/1600 04:05:06.000", "01/05/2003 24:05:06.000",
                                        "01/05/2003 04:60:06.000", "01/05/2003 04:05:61.000"};
    const struct log_sample *sample;
    (void)state;
    for (size_t i = 0; i < COUNT(times); i++) {
        char text[256];
        snprintf(text, sizeof text, "\"(PDH-CSV 4.0)\",\"\\\\M\\O\\a\"\n\"%s\",\"7\"\n", times[i]);
        struct log *log = open_text(text);
        if (log_next(log, &sample) == 0)
            fail_msg("%s is taken for a time", times[i]);
        log_close(log);
    }
}

/* Columns whose names differ only in letters outside ASCII, and columns with the same name; a
 * second head has the same columns in the same order. The reader must not compare each column with
 * all columns before it. */
static void many_columns_of_like_names_are_found(void **state)
{
    enum { MANY = 20000 };
    BUFFER_AUTO text = {0};
    (void)state;
    for (int head = 0; head < 2; head++) {
        buffer_add_text(&text, "\"(PDH-CSV 4.0)\"");
        for (int i = 0; i < MANY; i++) {
            buffer_printf(&text, ",\"\\\\M\\O\\same\",\"\\\\M\\O\\");
            for (int rest = i; rest; rest /= 10)
                buffer_printf(&text, "\xd0%c", 0xb0 + rest % 10);
            buffer_add_text(&text, "\"");
        }
        buffer_add_text(&text, "\n\"01/05/2003 04:05:06.000\"\n");
    }
    struct log *log = open_text(text.data);
    assert_int_equal(log_columns(log), 2 * MANY);
    assert_non_null(next(log));
    assert_non_null(next(log));
    assert_int_equal(log_columns(log), 2 * MANY);
    for (int i = 2; i < 2 * MANY; i++)
        assert_int_equal(log_column(log, (size_t)i)->twice, i % 2 == 0);
    log_close(log);
}

/* A file that can never be read: in /proc/self/mem there is no page at offset 0. */
static void a_file_that_cannot_be_read_is_reported(void **state)
{
    static const char *const paths[] = {"/proc/self/mem"};
    struct log *log = NULL;
    BUFFER_AUTO problem = {0};
    (void)state;
    assert_int_not_equal(log_open(paths, 1, &log, &problem), 0);
    assert_non_null(strstr(problem.data, "/proc/self/mem"));
    assert_non_null(strstr(problem.data, "cannot be read: "));
}

/* ---- */

static int read_golden(void **state)
{
    char path[4096];
    (void)state;
    snprintf(path, sizeof(path), "%s/perfmon-logs/CounterSamples.blg", getenv("GOLDEN"));
    return file_read(AT_FDCWD, path, &golden);
}

static int drop_golden(void **state)
{
    (void)state;
    buffer_done(&golden);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        stride = (struct stride){strtoul(argv[1], NULL, 10), strtoul(argv[1], NULL, 10)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_has_facts),
        cmocka_unit_test(impossible_times_are_no_samples),
        cmocka_unit_test(many_columns_of_like_names_are_found),
        cmocka_unit_test(a_file_that_cannot_be_read_is_reported),
        cmocka_unit_test(binary_has_columns),
        cmocka_unit_test(binary_has_raw_values),
        cmocka_unit_test(all_forms_are_read_to_the_end),
        cmocka_unit_test(text_has_numbers_and_gaps),
        cmocka_unit_test(a_range_leaves_the_rest_out),
        cmocka_unit_test(unwanted_columns_are_left_out),
        cmocka_unit_test(a_log_of_2003_is_read),
        cmocka_unit_test(a_circular_log_is_put_in_order),
        cmocka_unit_test(f_h14_a_circular_log_lacks_a_buffer),
        cmocka_unit_test(parts_are_joined),
        cmocka_unit_test(a_block_comes_whole_with_its_names),
        cmocka_unit_test(an_appended_log_has_a_second_catalogue),
        cmocka_unit_test(zones_have_english_names),
        cmocka_unit_test(summer_has_its_own_name_and_bias),
        cmocka_unit_test(f_a6_zones_have_names_and_minutes),
        cmocka_unit_test(every_flipped_bit_is_survived),
        cmocka_unit_test(every_truncation_is_survived),
        cmocka_unit_test(damage_is_reported_once_with_its_offset),
        cmocka_unit_test(buffers_that_were_never_written),
        cmocka_unit_test(no_damaged_head_costs_samples_silently),
        cmocka_unit_test(filler_in_place_of_records_is_reported),
        cmocka_unit_test(what_is_written_later_comes_later),
        cmocka_unit_test(a_pipe_is_read_as_it_fills),
        cmocka_unit_test(text_without_zone_or_quotes_is_read),
        cmocka_unit_test(odd_names_and_captions_are_kept),
        cmocka_unit_test(wide_and_western_text_is_read),
        cmocka_unit_test(what_a_console_showed_is_read),
        cmocka_unit_test(a_bad_line_is_reported_and_passed),
        cmocka_unit_test(what_is_no_capture_is_refused),
        cmocka_unit_test(several_files_are_one_source),
    };
    return cmocka_run_group_tests(tests, read_golden, drop_golden);
}
