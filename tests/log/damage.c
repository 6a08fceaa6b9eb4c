/* SPDX-License-Identifier: MIT */
/*
 * Damages captures: cuts them off at every N-th byte, and flips every N-th bit of their first 72
 * KiB (in the captures made here, the last 8 KiB of these have the samples). N is the first
 * argument. The captures are one that log writes, its compressed form, and the files in the other
 * arguments. A cut capture gives its first samples unchanged. Of a compressed capture, which has
 * checksums, no false sample may be read after a flip. Sanitizers check all the rest.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../skip.h"
#include "../temp.h"
#include "log/log.h"

enum { MOST_SAMPLES = 64, MOST_READ = 1000, FLIPPED_BYTES = 72 << 10 };

static size_t step = 1;
static const char *const *files; /* captures in the arguments */
static char folder[64], made[80], compressed[96];

/* The samples of the undamaged capture. */
static struct {
    struct buffer bytes;
    size_t count, at[MOST_SAMPLES + 1];
} whole;

/* ---- the captures ---- */

static void write_made(void)
{
    static const char names[] = "10\0O\0\x31\x32\0text";
    unsigned char block[88] = "P\0E\0R\0F";
    block[8] = block[12] = block[16] = 1;
    block[20] = block[24] = sizeof block;
    struct log_column columns[3] = {
        {.path = "1", .type = 0x10000}
    };
    columns[1] = (struct log_column){.kind = LOG_ARRAY, .path = "2", .instance = "*"};
    columns[2] = (struct log_column){.kind = LOG_ARRAY, .path = "3", .instance = "*"};
    columns[2].type = 0xB00;
    columns[2].names = names;
    columns[2].names_size = sizeof names;
    for (int i = 0; i < 3; i++) {
        columns[i].machine = "\\\\M";
        columns[i].object = "O";
        columns[i].counter = i == 2 ? "text" : "number";
    }
    struct log_item items[] = {
        {.name = "a",        .first = 7  },
        {.name = "größer", .second = -1}
    };
    struct log_header header = {.kind = LOG_BINARY, .zone = "Nowhere"};
    struct log_writer *writer = NULL;
    assert_int_equal(log_create(made, LOG_CREATE_ALWAYS, &header, &writer, NULL), 0);
    for (LONGLONG i = 0; i < 12; i++) {
        LONGLONG time = INT64_C(131246415908740000) + i * 10000000;
        struct log_value values[] = {
            {.kind = LOG_RAW, .raw.FirstValue = i },
            { .kind = LOG_ARRAY, .items = items,           .count = 2},
            { .kind = LOG_BLOCK, .block = block, .size = sizeof block},
        };
        items[1].first = i;
        if (i % 6 == 0) /* a second catalogue is in the middle */
            assert_int_equal(log_write_columns(writer, time, columns, 3), 0);
        assert_int_equal(log_write_values(writer, time, values), 0);
        assert_int_equal(log_flush(writer), 0);
    }
    assert_int_equal(log_write_close(writer), 0);
}

/* ---- reading ---- */

static size_t sum; /* keeps the compiler from removing the reads */

static void touch(const struct log_sample *sample, size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        const struct log_value *value = &sample->values[i];
        for (size_t k = 0; !value->status && value->kind == LOG_ARRAY && k < value->count; k++)
            sum += strlen(value->items[k].name);
        if (!value->status && value->kind == LOG_BLOCK)
            sum += ((const unsigned char *)value->block)[value->size - 1];
    }
}

/* Was this sample in the undamaged capture: as sample number `number`, or, if `any`, as any of its
 * samples? */
static bool is_known(const struct log_sample *sample, size_t number, bool any)
{
    for (size_t i = any ? 0 : number; i < whole.count && (any || i == number); i++) {
        size_t size = whole.at[i + 1] - whole.at[i];
        if (size == sample->record_size + sizeof sample->time &&
            !memcmp(whole.bytes.data + whole.at[i], &sample->time, sizeof sample->time) &&
            !memcmp(whole.bytes.data + whole.at[i] + sizeof sample->time, sample->record,
                    sample->record_size))
            return true;
    }
    return false;
}

enum check { KEEP, FIRST_ONES, ANY_OF_THEM, NOTHING };

/* Reads all samples, and returns how many there were; SIZE_MAX: the capture cannot be opened. Each
 * failure must have a message. */
static size_t read_samples(const void *bytes, size_t size, enum check check)
{
    struct log *log = NULL;
    BUFFER_AUTO problem = {0};
    size_t count = 0, calls = 0;
    PDH_STATUS status = log_open_bytes(bytes, size, "capture", &log, &problem);
    if (status) {
        assert_true(problem.len > 0);
        return SIZE_MAX;
    }
    for (; (DWORD)status != PDH_NO_MORE_DATA && calls < MOST_READ; calls++) {
        const struct log_sample *sample;
        status = log_next(log, &sample);
        if (status) {
            assert_true((DWORD)status == PDH_NO_MORE_DATA || log_problem(log));
            continue;
        }
        touch(sample, log_columns(log));
        if (check == KEEP) {
            assert_true(count < MOST_SAMPLES);
            buffer_add(&whole.bytes, &sample->time, sizeof sample->time);
            assert_true(buffer_add(&whole.bytes, sample->record, sample->record_size));
            whole.at[count + 1] = whole.bytes.len;
        } else if (check != NOTHING) {
            assert_true(is_known(sample, count, check == ANY_OF_THEM));
        }
        count++;
    }
    assert_true(calls < MOST_READ);
    log_close(log);
    return count;
}

/* ---- damage ---- */

static void cut(const struct buffer *file)
{
    size_t last = 0;
    for (size_t size = 0; size < file->len; size += step) {
        char *bytes = malloc(size + 1); /* of just this size, for the sanitizer */
        assert_non_null(bytes);
        memcpy(bytes, file->data, size);
        size_t count = read_samples(bytes, size, FIRST_ONES);
        free(bytes);
        assert_true(count == SIZE_MAX ? !last : count >= last);
        last = count == SIZE_MAX ? 0 : count;
    }
}

static void flip(struct buffer *file, enum check check)
{
    size_t bits = 8 * (file->len < FLIPPED_BYTES ? file->len : FLIPPED_BYTES);
    for (size_t bit = 0; bit < bits; bit += step) {
        file->data[bit / 8] ^= (char)(1 << bit % 8);
        read_samples(file->data, file->len, check);
        file->data[bit / 8] ^= (char)(1 << bit % 8);
    }
}

static void damage(const char *path, enum check flipped)
{
    BUFFER_AUTO file = {0};
    assert_int_equal(file_read(AT_FDCWD, path, &file), 0);
    buffer_clear(&whole.bytes);
    whole.count = read_samples(file.data, file.len, KEEP);
    assert_true(whole.count >= 10 && whole.count <= MOST_SAMPLES);
    cut(&file);
    flip(&file, flipped);
}

static void a_written_capture(void **state)
{
    (void)state;
    damage(made, NOTHING);
}

static void a_compressed_capture(void **state)
{
    BUFFER_AUTO problem = {0};
    (void)state;
    if (log_compress(made, compressed, &problem) == 0)
        damage(compressed, ANY_OF_THEM);
    else
        report_skipped(problem.data);
}

static void given_captures(void **state)
{
    (void)state;
    for (const char *const *file = files; *file; file++)
        damage(*file, NOTHING);
}

static int make_captures(void **state)
{
    (void)state;
    temp_make(folder);
    snprintf(made, sizeof made, "%s/made.blg", folder);
    snprintf(compressed, sizeof compressed, "%s.zst", made);
    write_made();
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    buffer_done(&whole.bytes);
    temp_remove(folder);
    return 0;
}

int main(int count, char **arguments)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_written_capture),
        cmocka_unit_test(a_compressed_capture),
        cmocka_unit_test(given_captures),
    };
    step = count > 1 ? strtoul(arguments[1], NULL, 10) : 1;
    files = (const char *const *)arguments + (count > 1 ? 2 : 1);
    return cmocka_run_group_tests(tests, make_captures, remove_folder);
}
