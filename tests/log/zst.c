/* SPDX-License-Identifier: MIT */
/*
 * Tests of compressed captures: our reader and zstd's own program get the same BLG from what we
 * write; from a cut or damaged file only true samples are read, and the missing ones are reported;
 * frames and tables as other programs write them; memory; what happens without libzstd.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../temp.h"
#include "log/formats/zst.h"

enum {
    BUFFER = 64 << 10,
    SAMPLES = 600,
    ITEMS = 30,
    FRAME = 2 * BUFFER,  /* bytes of the BLG in each frame that the tests make */
    LAST_ENTRY_BYTES = 9 /* size of the seek table's footer */
};
static const LONGLONG noon = INT64_C(131246415908740000);
static char folder[64];
static struct buffer plain;  /* a BLG of SAMPLES samples, long enough for several frames */
static struct buffer packed; /* made of it */
static size_t step = 1;      /* of the cuts and flipped bits, one in so many is tried */

static const char *in_folder(const char *name)
{
    static char paths[2][128]; /* results of the last two calls of in_folder */
    static unsigned turn;
    char *path = paths[turn++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const struct zst_library *library(void)
{
    const struct zst_library *found = zst_library();
    assert_non_null(found);
    return found;
}

/* ---- samples that can be checked ---- */

static LONGLONG time_of(size_t number)
{
    return noon + (LONGLONG)number * 10000000;
}

static LONGLONG number_of(size_t sample, size_t item)
{
    uint64_t number = (sample * ITEMS + item + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return (LONGLONG)(number >> 20);
}

static const struct log_column column = {.kind = LOG_ARRAY,
                                         .path = "\\\\M\\P(*)\\c",
                                         .machine = "\\\\M",
                                         .object = "P",
                                         .instance = "*",
                                         .counter = "c",
                                         .type = PERF_COUNTER_LARGE_RAWCOUNT,
                                         .time_base = 1000};

static void write_samples(struct log_writer *writer, size_t count)
{
    struct log_item items[ITEMS];
    char names[ITEMS][16];
    for (size_t i = 0; i < ITEMS; i++)
        snprintf(names[i], sizeof names[i], "name %zu", i);
    assert_int_equal(log_write_columns(writer, noon, &column, 1), 0);
    for (size_t sample = 0; sample < count; sample++) {
        struct log_value value = {.kind = LOG_ARRAY, .items = items, .count = ITEMS};
        for (size_t i = 0; i < ITEMS; i++)
            items[i] = (struct log_item){names[i], number_of(sample, i), (LONGLONG)sample, 1};
        assert_int_equal(log_write_values(writer, time_of(sample), &value), 0);
    }
}

static void write_blg(const char *path, size_t count)
{
    struct log_writer *writer = NULL;
    const struct log_header header = {.kind = LOG_BINARY, .zone = "Nowhere"};
    assert_int_equal(log_create(path, LOG_CREATE_ALWAYS, &header, &writer, NULL), 0);
    write_samples(writer, count);
    assert_int_equal(log_write_close(writer), 0);
}

/* Checks that the sample has all values that the test wrote; returns the sample's number. */
static size_t check_sample(const struct log_sample *sample, size_t columns)
{
    size_t number = (size_t)((sample->time - noon) / 10000000);
    assert_int_equal(sample->time, time_of(number));
    assert_int_equal(columns, 1);
    assert_int_equal(sample->values[0].status, 0);
    assert_int_equal(sample->values[0].count, ITEMS);
    for (size_t i = 0; i < ITEMS; i++) {
        assert_int_equal(sample->values[0].items[i].first, number_of(number, i));
        assert_int_equal(sample->values[0].items[i].second, number);
    }
    return number;
}

struct outcome {
    PDH_STATUS opened;
    size_t samples;
    bool reported; /* there was a message, or a loss was counted */
    char problem[512];
};

static void note(struct outcome *outcome, const char *problem)
{
    outcome->reported |= problem && *problem;
    if (problem && *problem)
        snprintf(outcome->problem, sizeof outcome->problem, "%s", problem);
}

/* Reads the capture: all its samples must be true, and their times must rise. */
static struct outcome read_all(struct log *log)
{
    struct outcome outcome = {0};
    const struct log_sample *sample;
    PDH_STATUS status;
    size_t least = 0;
    while ((DWORD)(status = log_next(log, &sample)) != PDH_NO_MORE_DATA) {
        note(&outcome, log_problem(log));
        if (status) {
            assert_int_equal((DWORD)status, PDH_BINARY_LOG_CORRUPT);
            continue;
        }
        size_t number = check_sample(sample, log_columns(log));
        assert_true(number >= least);
        least = number + 1;
        outcome.samples++;
    }
    note(&outcome, log_problem(log));
    outcome.reported |= log_losses(log)->any;
    return outcome;
}

static struct outcome read_bytes(const void *bytes, size_t size)
{
    struct log *log = NULL;
    BUFFER_AUTO problem = {0};
    struct outcome outcome = {.opened = log_open_bytes(bytes, size, "made", &log, &problem)};
    if (outcome.opened)
        note(&outcome, problem.data);
    else
        outcome = read_all(log);
    log_close(log);
    return outcome;
}

static struct outcome read_file(const char *path)
{
    struct log *log = NULL;
    BUFFER_AUTO problem = {0};
    struct outcome outcome = {.opened = log_open(&path, 1, &log, &problem)};
    if (outcome.opened)
        note(&outcome, problem.data);
    else
        outcome = read_all(log);
    log_close(log);
    return outcome;
}

static void expect_all(struct outcome outcome)
{
    assert_string_equal(outcome.problem, "");
    assert_int_equal(outcome.opened, 0);
    assert_int_equal(outcome.samples, SAMPLES);
    assert_false(outcome.reported);
}

/* ---- frames that the tests make ---- */

struct frames { /* how to make frames, and the offsets of those that were made */
    size_t frame_bytes;
    bool unsized, unchecked;
    int window_log; /* 0: libzstd's choice */
    bool table_checksums;
    size_t count;
    size_t at[256];
    size_t table; /* where the table begins */
};

static size_t compress(const struct frames *frames, const char *bytes, size_t size, char *out,
                       size_t capacity)
{
    ZSTD_CCtx *context = library()->createCCtx();
    library()->CCtx_setParameter(context, ZSTD_c_checksumFlag, !frames->unchecked);
    library()->CCtx_setParameter(context, ZSTD_c_contentSizeFlag, !frames->unsized);
    if (frames->window_log)
        library()->CCtx_setParameter(context, ZSTD_c_windowLog, frames->window_log);
    size_t got = library()->compress2(context, out, capacity, bytes, size);
    assert_false(library()->isError(got));
    library()->freeCCtx(context);
    return got;
}

static void add_number(struct buffer *buffer, uint32_t number)
{
    buffer_add(buffer, &number, sizeof number);
}

static void add_table(struct buffer *ret, struct frames *frames, size_t size)
{
    uint32_t entry = frames->table_checksums ? 12 : 8;
    frames->table = ret->len;
    add_number(ret, ZST_TABLE);
    add_number(ret, (uint32_t)frames->count * entry + LAST_ENTRY_BYTES);
    for (size_t i = 0; i < frames->count; i++) {
        size_t left = size - i * frames->frame_bytes;
        size_t end = i + 1 < frames->count ? frames->at[i + 1] : frames->table;
        add_number(ret, (uint32_t)(end - frames->at[i]));
        add_number(ret, (uint32_t)(left < frames->frame_bytes ? left : frames->frame_bytes));
        if (frames->table_checksums)
            add_number(ret, 0);
    }
    add_number(ret, (uint32_t)frames->count);
    buffer_add_byte(ret, frames->table_checksums ? (char)0x80 : 0);
    add_number(ret, ZST_FOOTER);
}

static void make_frames(struct buffer *ret, struct frames *frames, const char *bytes, size_t size)
{
    size_t capacity = library()->compressBound(frames->frame_bytes);
    char *out = malloc(capacity);
    assert_non_null(out);
    buffer_clear(ret);
    frames->count = 0;
    for (size_t at = 0; at < size; at += frames->frame_bytes) {
        size_t left = size - at < frames->frame_bytes ? size - at : frames->frame_bytes;
        assert_true(frames->count < 256);
        frames->at[frames->count++] = ret->len;
        buffer_add(ret, out, compress(frames, bytes + at, left, out, capacity));
    }
    free(out);
    add_table(ret, frames, size);
}

static struct frames usual;

/* ---- what is written ---- */

static void run(const char *command)
{
    int status = system(command);
    if (status)
        print_message("%s\n", command);
    assert_int_equal(status, 0);
}

static void what_is_written_is_the_blg(void **state)
{
    struct stat facts;
    char command[512];
    (void)state;
    write_blg(in_folder("large.blg"), 12000); /* about 20 MB, in 5 frames */
    assert_int_equal(chmod(in_folder("large.blg"), 0640), 0);
    assert_int_equal(log_compress(in_folder("large.blg"), in_folder("large.blg.zst"), NULL), 0);
    assert_int_equal(stat(in_folder("large.blg.zst"), &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0640);
    snprintf(command, sizeof command, "cd %s && zstd -qt large.blg.zst", folder);
    run(command);
    snprintf(command, sizeof command, "cd %s && zstd -dcq large.blg.zst | cmp - large.blg", folder);
    run(command);
    snprintf(command, sizeof command, "! ls -A %s | grep tmp", folder);
    run(command);
    struct outcome outcome = read_file(in_folder("large.blg.zst"));
    assert_int_equal(outcome.samples, 12000);
    assert_false(outcome.reported);
}

static void frames_have_whole_buffers_and_checksums(void **state)
{
    BUFFER_AUTO whole = {0};
    (void)state;
    assert_int_equal(file_read(AT_FDCWD, in_folder("large.blg.zst"), &whole), 0);
    const char *end = whole.data + whole.len;
    assert_int_equal(get32(end - 4), ZST_FOOTER);
    assert_int_equal(end[-5], 0);
    size_t count = get32(end - 9);
    assert_in_range(count, 4, 10);
    const char *entry = end - 9 - 8 * count, *at = whole.data;
    assert_int_equal(get32(entry - 8), ZST_TABLE);
    assert_int_equal(get32(entry - 4), 8 * count + 9);
    for (size_t i = 0; i < count; i++, entry += 8) {
        assert_int_equal(get32(at), ZST_FRAME);
        assert_true(at[4] & 4);
        if (i + 1 < count)
            assert_int_equal(get32(entry + 4), ZST_FRAME_BYTES);
        assert_int_equal(get32(entry + 4) % BUFFER, 0);
        at += get32(entry);
    }
    assert_ptr_equal(at, end - 17 - 8 * count);
}

static void a_writer_compresses_when_it_is_closed(void **state)
{
    (void)state;
    write_blg(in_folder("direct.blg.zst"), SAMPLES);
    expect_all(read_file(in_folder("direct.blg.zst")));
    write_blg(in_folder("direct.blg.zst"), SAMPLES); /* replaces it */
    expect_all(read_file(in_folder("direct.blg.zst")));
    assert_int_equal(chdir(folder), 0); /* a path without a folder */
    write_blg("here.zst", SAMPLES);
    expect_all(read_file("here.zst"));
}

static void refused(const char *path, enum log_create_mode mode, const struct log_header *header,
                    DWORD status, const char *text)
{
    struct log_writer *writer = NULL;
    BUFFER_AUTO problem = {0};
    assert_int_equal((DWORD)log_create(path, mode, header, &writer, &problem), status);
    assert_non_null(strstr(problem.data, text));
}

static void append_and_circular_are_refused(void **state)
{
    static const char *const path = "\\\\M\\P\\c";
    const struct log_header linear = {.kind = LOG_BINARY},
                            circular = {.kind = LOG_BINARY, .most_bytes = 1 << 20},
                            text = {.kind = LOG_CSV, .paths = &path, .count = 1};
    const char *old = in_folder("direct.blg.zst");
    (void)state;
    refused(old, LOG_CREATE_APPEND, &linear, PDH_INVALID_ARGUMENT, "written once, as a whole");
    refused(old, LOG_CREATE_ALWAYS, &circular, PDH_INVALID_ARGUMENT, "written once, as a whole");
    refused(old, LOG_CREATE_ALWAYS, &text, PDH_INVALID_ARGUMENT, "only BLG");
    refused(old, LOG_CREATE_NEW, &linear, PDH_FILE_ALREADY_EXISTS, "exists already");
    refused("/nowhere/x.zst", LOG_CREATE_NEW, &linear, PDH_LOG_FILE_CREATE_ERROR, "no such folder");
    expect_all(read_file(old)); /* the file is unchanged */
    char renamed[128];
    snprintf(renamed, sizeof renamed, "%s", in_folder("renamed.blg"));
    assert_int_equal(rename(old, renamed), 0);
    refused(renamed, LOG_CREATE_APPEND, &linear, PDH_UNABLE_READ_LOG_HEADER, "compressed");
    expect_all(read_file(renamed));
}

static void only_a_blg_is_compressed(void **state)
{
    BUFFER_AUTO problem = {0};
    (void)state;
    temp_write(folder, "text.csv", "\"(PDH-CSV 4.0)\",\"\\\\M\\O\\a\"\r\n");
    assert_int_equal((DWORD)log_compress(in_folder("text.csv"), in_folder("text.zst"), &problem),
                     PDH_UNKNOWN_LOG_FORMAT);
    assert_non_null(strstr(problem.data, "text.csv: it is no BLG"));
    assert_int_equal(access(in_folder("text.zst"), F_OK), -1);
    assert_int_equal((DWORD)log_compress(in_folder("missing"), in_folder("text.zst"), &problem),
                     PDH_FILE_NOT_FOUND);
}

static void compress_on_full_disk(rlim_t size)
{
    struct rlimit limit = {size, size};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    DWORD status = (DWORD)log_compress(in_folder("large.blg"), in_folder("full.zst"), NULL);
    _exit(status == ERROR_DISK_FULL ? 0 : 1);
}

static void a_full_disk_leaves_nothing(void **state)
{
    char command[128];
    (void)state;
    temp_write(folder, "full.zst", "old");
    for (rlim_t size = 0; size < 500000; size += 123456) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            compress_on_full_disk(size);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    snprintf(command, sizeof command, "cd %s && [ $(cat full.zst) = old ] && ! ls -A | grep tmp",
             folder);
    run(command);
}

/* ---- other programs' frames ---- */

static void frames_of_other_programs_are_read(void **state)
{
    /* clang-format off */
    static const struct frames kinds[] = {
        {.frame_bytes = FRAME, .unsized = true},
        {.frame_bytes = FRAME, .unchecked = true, .table_checksums = true},
        {.frame_bytes = 10000}, /* less than a buffer */
        {.frame_bytes = 100001, .unsized = true, .unchecked = true},
        {.frame_bytes = 5 << 20},
        {.frame_bytes = 5 << 20, .unsized = true},
        {.frame_bytes = FRAME, .window_log = 23, .unsized = true},
    };
    /* clang-format on */
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct frames frames = kinds[i];
        make_frames(&packed, &frames, plain.data, plain.len);
        expect_all(read_bytes(packed.data, packed.len));
        expect_all(read_bytes(packed.data, frames.table)); /* without its table */
    }
}

/* A BLG that is still being written is refused, because later samples would not be compressed. */
static void what_is_being_written_is_not_compressed(void **state)
{
    struct log_writer *writer = NULL;
    const struct log_header header = {.kind = LOG_BINARY, .zone = "Nowhere"};
    BUFFER_AUTO problem = {0};
    (void)state;
    const char *blg = in_folder("written.blg"), *zst = in_folder("written.blg.zst");
    assert_int_equal(log_create(blg, LOG_CREATE_NEW, &header, &writer, NULL), 0);
    write_samples(writer, 10);
    assert_int_equal(log_flush(writer), 0);
    assert_int_equal((DWORD)log_compress(blg, zst, &problem), PDH_LOG_FILE_OPEN_ERROR);
    assert_non_null(strstr(problem.data, "written.blg: another program is writing it"));
    assert_int_equal(access(zst, F_OK), -1);
    assert_int_equal(log_write_close(writer), 0);
    assert_int_equal(log_compress(blg, zst, NULL), 0);
}

/* Frames without data may be before and between the others. */
static void skipped_frames_are_skipped(void **state)
{
    struct frames frames = {.frame_bytes = FRAME};
    BUFFER_AUTO mixed = {0};
    (void)state;
    make_frames(&packed, &frames, plain.data, plain.len);
    for (size_t i = 0; i < frames.count; i++) {
        size_t end = i + 1 < frames.count ? frames.at[i + 1] : frames.table;
        add_number(&mixed, ZST_SKIPPED + (uint32_t)i);
        add_number(&mixed, (uint32_t)i);
        buffer_add(&mixed, "frame without data", i);
        buffer_add(&mixed, packed.data + frames.at[i], end - frames.at[i]);
    }
    expect_all(read_bytes(mixed.data, mixed.len));
}

/* Frames without data count, too: no more frames than the limit are read when a file is opened. */
static void skipped_frames_are_counted(void **state)
{
    struct frames frames = {.frame_bytes = FRAME};
    BUFFER_AUTO many = {0};
    (void)state;
    make_frames(&packed, &frames, plain.data, plain.len);
    buffer_add(&many, packed.data, frames.table);
    for (int i = 0; i < 1 << 18; i++) {
        add_number(&many, ZST_SKIPPED);
        add_number(&many, 0);
    }
    struct outcome outcome = read_bytes(many.data, many.len);
    assert_int_equal(outcome.samples, SAMPLES);
    assert_non_null(strstr(outcome.problem, "more than 262144 frames"));
}

/* A small file of gigabytes of zeros is read to a limit, in one frame and in many. */
static void zeros_are_not_read_for_ever(void **state)
{
    enum { ZEROS = 300 << 20, FEW = 100 };
    BUFFER_AUTO small = {0};
    (void)state;
    write_blg(in_folder("small.blg"), FEW);
    assert_int_equal(file_read(AT_FDCWD, in_folder("small.blg"), &small), 0);
    for (int i = 0; i < 2; i++) {
        struct frames frames = {.frame_bytes = FRAME, .unsized = i};
        BUFFER_AUTO many = {0};
        size_t size = i ? ZEROS : 4 << 20, capacity = library()->compressBound(size);
        char *zeros = calloc(1, size), *out = malloc(capacity);
        assert_true(zeros && out);
        make_frames(&packed, &frames, small.data, small.len);
        buffer_add(&many, packed.data, frames.table);
        size_t length = compress(&frames, zeros, size, out, capacity);
        for (size_t left = ZEROS; left; left -= size)
            buffer_add(&many, out, length);
        free(zeros);
        free(out);
        struct outcome outcome = read_bytes(many.data, many.len);
        assert_int_equal(outcome.samples, FEW);
        assert_non_null(strstr(outcome.problem, "more than 2000 times larger"));
    }
}

/* A frame of more than 4 MiB is read in parts, which may be requested in any order. */
static void large_frames_are_read_in_parts(void **state)
{
    struct frames frames = {.frame_bytes = 64 << 20};
    BUFFER_AUTO whole = {0};
    char bytes[1000];
    size_t got;
    struct zst *zst;
    struct zst_decoder *decoder = NULL;
    (void)state;
    assert_int_equal(file_read(AT_FDCWD, in_folder("large.blg"), &whole), 0);
    for (int i = 0; i < 2; i++) {
        frames.unsized = i;
        make_frames(&packed, &frames, whole.data, whole.len);
        temp_write(folder, "parts", "");
        int fd = open(in_folder("parts"), O_RDWR | O_TRUNC);
        assert_int_equal(write(fd, packed.data, packed.len), packed.len);
        assert_int_equal(zst_open(fd, &decoder, &zst), 0);
        assert_int_equal(zst_size(zst), whole.len);
        static const size_t places[] = {0, 15000000, 4194304, 4194305, 9999999, 100};
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            assert_int_equal(zst_read(zst, places[k], bytes, sizeof bytes, &got), 0);
            assert_true(got > 0);
            assert_memory_equal(bytes, whole.data + places[k], got);
        }
        zst_free(zst);
        close(fd);
        assert_int_equal(read_bytes(packed.data, packed.len).samples, 12000);
    }
    zst_decoder_free(decoder);
}

static void a_large_window_is_refused(void **state)
{
    struct frames frames = {.frame_bytes = FRAME, .unsized = true};
    (void)state;
    make_frames(&packed, &frames, plain.data, plain.len);
    packed.data[5] = (char)((27 - 10) << 3); /* 128 MiB */
    struct outcome outcome = read_bytes(packed.data, packed.len);
    assert_int_equal((DWORD)outcome.opened, PDH_LOG_FILE_OPEN_ERROR);
    assert_non_null(strstr(outcome.problem, "more than 8 MiB"));
}

static void only_blg_is_read(void **state)
{
    static const char text[] = "\"(PDH-CSV 4.0)\",\"\\\\M\\O\\a\"\r\n";
    struct frames frames = {.frame_bytes = FRAME};
    (void)state;
    make_frames(&packed, &frames, text, sizeof text - 1);
    struct outcome outcome = read_bytes(packed.data, packed.len);
    assert_int_equal((DWORD)outcome.opened, PDH_UNKNOWN_LOG_FORMAT);
    assert_non_null(strstr(outcome.problem, "only BLG is read from a compressed file"));
}

static void a_pipe_is_read(void **state)
{
    int ends[2];
    struct log *log = NULL;
    (void)state;
    make_frames(&packed, &usual, plain.data, plain.len);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(write(ends[1], packed.data, packed.len) != (ssize_t)packed.len);
    close(ends[1]);
    assert_int_equal(log_open_fd(ends[0], "pipe", &log, NULL), 0);
    expect_all(read_all(log));
    log_close(log);
    waitpid(child, NULL, 0);
}

/* ---- tables that lie ---- */

static void set32(size_t at, uint32_t number)
{
    memcpy(packed.data + at, &number, sizeof number);
}

static void a_lying_table_is_not_believed(void **state)
{
    (void)state;
    for (size_t i = 0; i < usual.count; i++) {
        for (int lie = 0; lie < 6; lie++) {
            make_frames(&packed, &usual, plain.data, plain.len);
            size_t entry = usual.table + 8 + 8 * i;
            uint32_t bytes = get32(packed.data + entry), size = get32(packed.data + entry + 4);
            uint32_t lies[] = {bytes - 1, bytes + 1, 0, UINT32_MAX, size - BUFFER, 0x7FFFFFFF};
            set32(entry + (lie < 4 ? 0 : 4), lies[lie]);
            expect_all(read_bytes(packed.data, packed.len));
        }
        if (i + 1 == usual.count)
            continue;
        /* an entry for two frames */
        make_frames(&packed, &usual, plain.data, plain.len);
        size_t entry = usual.table + 8 + 8 * i;
        set32(entry, get32(packed.data + entry) + get32(packed.data + entry + 8));
        struct outcome outcome = read_bytes(packed.data, packed.len);
        assert_true(outcome.samples == SAMPLES || outcome.reported);
    }
    static const uint32_t counts[] = {0, 1, 0x7FFFFFFF, UINT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        make_frames(&packed, &usual, plain.data, plain.len);
        set32(packed.len - LAST_ENTRY_BYTES, counts[i]);
        expect_all(read_bytes(packed.data, packed.len));
    }
}

/* ---- cut and damaged files ---- */

/* Returns how many samples are in the first `size` bytes of the BLG. */
static size_t samples_before(size_t size)
{
    return size ? read_bytes(plain.data, size).samples : 0;
}

static void a_cut_file_gives_what_decodes(void **state)
{
    size_t least = 0;
    (void)state;
    make_frames(&packed, &usual, plain.data, plain.len);
    for (size_t size = 1; size < packed.len;
         size += size + 499 * step < usual.table ? 499 * step : 1) {
        struct outcome outcome = read_bytes(packed.data, size);
        size_t frames = 0;
        while (frames < usual.count && usual.at[frames] <= size)
            frames++;
        bool complete = size >= usual.table;
        if (outcome.opened) { /* even the head of the BLG is incomplete */
            assert_true(frames <= 1);
            assert_true(outcome.reported);
            continue;
        }
        assert_true(outcome.samples >= samples_before((frames - 1) * FRAME));
        assert_true(outcome.samples >= least);
        assert_true(complete || outcome.reported);
        assert_true(!complete || outcome.samples == SAMPLES);
        least = outcome.samples;
    }
    assert_int_equal(least, SAMPLES);
    /* between two frames */
    for (size_t i = 1; i < usual.count; i++) {
        struct outcome outcome = read_bytes(packed.data, usual.at[i]);
        assert_int_equal(outcome.samples, samples_before(i * FRAME));
        assert_true(outcome.reported);
    }
}

/* Reads the file with one bit changed; at most one frame may be missing. */
static void flip(size_t byte, int bit, bool lossless)
{
    packed.data[byte] ^= (char)(1 << bit);
    struct outcome outcome = read_bytes(packed.data, packed.len);
    packed.data[byte] ^= (char)(1 << bit);
    if (lossless) {
        assert_int_equal(outcome.samples, SAMPLES);
        return;
    }
    bool first = byte < usual.at[1]; /* is it the frame with the head of the BLG? */
    size_t frame = SAMPLES / (usual.count - 1) + 2;
    assert_true(outcome.opened ? first : first || outcome.samples + frame >= SAMPLES);
    assert_true(outcome.samples == SAMPLES || outcome.reported);
}

static void flipped_bits_lose_at_most_their_frame(void **state)
{
    (void)state;
    make_frames(&packed, &usual, plain.data, plain.len);
    for (size_t byte = usual.table; byte < packed.len; byte += step)
        for (int bit = 0; bit < 8; bit++)
            flip(byte, bit, true);
    for (size_t i = 0; i < usual.count; i += i < 2 ? 1 : usual.count - 3)
        for (size_t byte = usual.at[i]; byte < usual.at[i] + 12; byte++)
            for (int bit = 0; bit < 8; bit++)
                flip(byte, bit, false);
    for (size_t byte = 0; byte < usual.table; byte += 811 * step)
        flip(byte, (int)(byte % 8), false);
}

/* A damaged head may be one byte longer than the true one, and the bytes after it may look like the
 * last block of the frame: the table still says where the next frame begins. */
static void a_false_end_loses_one_frame(void **state)
{
    (void)state;
    for (size_t i = 1; i + 1 < usual.count; i++) {
        make_frames(&packed, &usual, plain.data, plain.len);
        char *head = packed.data + usual.at[i];
        assert_int_equal(head[4] & 3, 0);
        head[4] |= 1; /* a dictionary's number of one byte */
        size_t block = head[4] & 0x20 ? 10 : 11;
        memcpy(head + block, "\x41\x1f", 3); /* the last block, 1,000 bytes as they are */
        struct outcome outcome = read_bytes(packed.data, packed.len);
        assert_int_equal(outcome.samples,
                         SAMPLES - samples_before((i + 1) * FRAME) + samples_before(i * FRAME));
        assert_true(outcome.reported);
    }
}

/* Without the seek table, samples after a damaged frame may be lost, but none may be false. */
static void flipped_bits_without_table(void **state)
{
    (void)state;
    make_frames(&packed, &usual, plain.data, plain.len);
    for (size_t byte = 0; byte < usual.table; byte += 307 * step) {
        packed.data[byte] ^= (char)(1 << byte % 8);
        struct outcome outcome = read_bytes(packed.data, usual.table);
        packed.data[byte] ^= (char)(1 << byte % 8);
        assert_true(outcome.samples == SAMPLES || outcome.reported);
    }
}

/* Flips the bits of the blocks' heads in a capture that is a single frame of many blocks. */
static void flipped_bits_between_blocks(void **state)
{
    struct frames one = {.frame_bytes = 64 << 20};
    (void)state;
    make_frames(&packed, &one, plain.data, plain.len);
    uint32_t block = 0;
    unsigned blocks = 0;
    /* the first block is after the frame's magic number (4 bytes), flags (1) and size (4), and the
     * window (1) if the flag 0x20 is not set */
    size_t at = packed.data[4] & 0x20 ? 9 : 10;
    for (; !(block & 1); at += 3 + (block >> 3 & 0x1FFFFF), blocks++) {
        block = get32(packed.data + at) & 0xFFFFFF;
        for (unsigned bit = blocks % step; bit < 24; bit += (unsigned)step) {
            packed.data[at + bit / 8] ^= (char)(1 << bit % 8);
            for (int table = 0; table < 2; table++) {
                struct outcome outcome = read_bytes(packed.data, table ? packed.len : one.table);
                assert_true(outcome.samples == SAMPLES || outcome.reported);
            }
            packed.data[at + bit / 8] ^= (char)(1 << bit % 8);
        }
    }
    assert_int_equal(at + 4, one.table);
    assert_true(blocks > 5);
}

static void damage_is_described(void **state)
{
    char where[64];
    (void)state;
    make_frames(&packed, &usual, plain.data, plain.len);
    packed.data[usual.at[3] + 1000] ^= 1;
    struct outcome outcome = read_bytes(packed.data, packed.len);
    snprintf(where, sizeof where, "the frame at byte %zu of the compressed file is damaged",
             usual.at[3]);
    assert_non_null(strstr(outcome.problem, where));
    assert_int_equal(outcome.samples + samples_before(4 * FRAME) - samples_before(3 * FRAME),
                     SAMPLES);
    struct log *log = NULL;
    assert_int_equal(log_open_bytes(packed.data, packed.len, "made", &log, NULL), 0);
    read_all(log);
    assert_int_equal(log_losses(log)->list[LOSS_BUFFER].count, FRAME / BUFFER);
    log_close(log);
    packed.data[1000] ^= 1;
    assert_non_null(strstr(read_bytes(packed.data, packed.len).problem,
                           "the first frame, which has the capture's head, is damaged"));
    packed.data[1000] ^= 1;
    outcome = read_bytes(packed.data, usual.at[2] + 5000);
    assert_non_null(strstr(outcome.problem, "the compressed file ends inside the frame"));
}

/* ---- random access, memory ---- */

static __typeof__(&ZSTD_DCtx_reset) real_reset;
static unsigned begun; /* frames whose decoding was begun */

static size_t count_reset(ZSTD_DCtx *context, ZSTD_ResetDirective directive)
{
    begun++;
    return real_reset(context, directive);
}

static int count_frames(void **state)
{
    (void)state;
    real_reset = library()->DCtx_reset;
    ((struct zst_library *)library())->DCtx_reset = count_reset;
    return 0;
}

static int count_no_frames(void **state)
{
    (void)state;
    ((struct zst_library *)library())->DCtx_reset = real_reset;
    return 0;
}

static void only_the_needed_frames_are_decoded(void **state)
{
    struct log *log = NULL;
    const struct log_sample *sample;
    size_t count = 0;
    (void)state;
    make_frames(&packed, &usual, plain.data, plain.len);
    assert_int_equal(log_open_bytes(packed.data, packed.len, "made", &log, NULL), 0);
    assert_int_equal(log_set_range(log, time_of(SAMPLES / 2), time_of(SAMPLES / 2 + 5)), 0);
    begun = 0;
    while (count < 6 && log_next(log, &sample) == 0)
        count += check_sample(sample, 1) >= SAMPLES / 2;
    assert_int_equal(count, 6);
    /* the first frame, which has the catalogue, and at most three around the range */
    assert_in_range(begun, 1, 4);
    log_close(log);
}

static void reading_in_the_middle_decodes_one_frame(void **state)
{
    char bytes[100];
    size_t got;
    struct zst *zst;
    struct zst_decoder *decoder = NULL;
    int fd = open(in_folder("large.blg.zst"), O_RDONLY);
    (void)state;
    begun = 0;
    assert_int_equal(zst_open(fd, &decoder, &zst), 0);
    assert_int_equal(begun, 0);
    assert_int_equal(zst_read(zst, 9 << 20, bytes, sizeof bytes, &got), 0);
    assert_int_equal(got, sizeof bytes);
    assert_int_equal(begun, 1);
    assert_int_equal(zst_read(zst, 9 << 20, bytes, sizeof bytes, &got), 0);
    assert_int_equal(begun, 1);
    zst_free(zst);
    zst_decoder_free(decoder);
    close(fd);
}

static long peak_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Makes a small frame that decompresses to a gigabyte of zeros; `states`: its head says so. */
static void make_bomb(struct buffer *ret, bool states)
{
    uint64_t size = UINT64_C(1) << 30;
    buffer_clear(ret);
    add_number(ret, ZST_FRAME);
    buffer_add_byte(ret, states ? (char)0xC0 : 0);
    buffer_add_byte(ret, 13 << 3); /* a window of 8 MiB */
    if (states)
        buffer_add(ret, &size, sizeof size);
    for (size_t i = 0; i < size >> 17; i++) {
        uint32_t block = (1 << 17) << 3 | 1 << 1 | (i + 1 == size >> 17);
        buffer_add(ret, &block, 3);
        buffer_add_byte(ret, 0);
    }
}

/* Many files are one capture, whose samples are merged: they share one decoder. */
static void many_files_take_the_memory_of_one(void **state)
{
    static const char *paths[50];
    struct log *log = NULL;
    const struct log_sample *sample;
    size_t samples = 0;
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        paths[i] = i % 2 ? in_folder("large.blg.zst") : in_folder("here.zst");
    long before = peak_kb();
    assert_int_equal(log_open(paths, sizeof paths / sizeof *paths, &log, NULL), 0);
    for (; samples < 1000 && log_next(log, &sample) == 0; samples++)
        check_sample(sample, 1);
    assert_int_equal(samples, 1000);
    assert_false(log_losses(log)->any);
    log_close(log);
    assert_in_range(peak_kb() - before, 0, 120 << 10);
}

static void a_bomb_takes_no_memory(void **state)
{
    long before = peak_kb();
    (void)state;
    for (int states = 0; states < 2; states++) {
        make_bomb(&packed, states);
        struct outcome outcome = read_bytes(packed.data, packed.len);
        assert_int_equal((DWORD)outcome.opened, PDH_UNKNOWN_LOG_FORMAT);
    }
    /* sizes that no data follows */
    make_frames(&packed, &usual, plain.data, plain.len);
    packed.data[usual.at[1] + 4] |= (char)0xC0;
    read_bytes(packed.data, packed.len);
    assert_in_range(peak_kb() - before, 0, 40 << 10);
}

/* ---- without libzstd ---- */

static int without_library(const char *compressed, const char *blg)
{
    struct log *log = NULL;
    struct log_writer *writer = NULL;
    const struct log_header header = {.kind = LOG_BINARY};
    BUFFER_AUTO read = {0}, written = {0}, made = {0};
    if (zst_library())
        return 1;
    if ((DWORD)log_open(&compressed, 1, &log, &read) != PDH_LOG_FILE_OPEN_ERROR ||
        !strstr(read.data, "install the package libzstd1"))
        return 2;
    if ((DWORD)log_create("x.zst", LOG_CREATE_ALWAYS, &header, &writer, &written) !=
            PDH_LOG_FILE_CREATE_ERROR ||
        !strstr(written.data, "install the package libzstd1"))
        return 3;
    if ((DWORD)log_compress(blg, "x.zst", &made) != PDH_LOG_FILE_CREATE_ERROR ||
        !strstr(made.data, "install the package libzstd1"))
        return 4;
    if (log_open(&blg, 1, &log, NULL)) /* all else works */
        return 5;
    log_close(log);
    return access("x.zst", F_OK) == 0 ? 6 : 0;
}

static void without_libzstd_a_sentence_names_the_package(void **state)
{
    int status = -1;
    char compressed[128], blg[128];
    (void)state;
    /* a file that is no library is found first */
    temp_write(folder, "libzstd.so.1", "");
    snprintf(compressed, sizeof compressed, "%s", in_folder("renamed.blg"));
    snprintf(blg, sizeof blg, "%s", in_folder("large.blg"));
    pid_t child = fork();
    if (child == 0) {
        setenv("LD_LIBRARY_PATH", folder, 1);
        execl("/proc/self/exe", "test-log-zst", "--without", compressed, blg, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int begin(void **state)
{
    (void)state;
    temp_make(folder);
    write_blg(in_folder("plain.blg"), SAMPLES);
    usual = (struct frames){.frame_bytes = FRAME};
    return file_read(AT_FDCWD, in_folder("plain.blg"), &plain) ? -1 : 0;
}

static int end(void **state)
{
    (void)state;
    buffer_done(&plain);
    buffer_done(&packed);
    temp_remove(folder);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--without") == 0)
        return without_library(argv[2], argv[3]);
    if (!zst_library()) { /* a 32-bit build, for which libzstd1 is optional */
        puts("1..0 # SKIP libzstd1 is not installed for this architecture");
        return 0;
    }
    step = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_the_blg),
        cmocka_unit_test(frames_have_whole_buffers_and_checksums),
        cmocka_unit_test(a_writer_compresses_when_it_is_closed),
        cmocka_unit_test(append_and_circular_are_refused),
        cmocka_unit_test(only_a_blg_is_compressed),
        cmocka_unit_test(what_is_being_written_is_not_compressed),
        cmocka_unit_test(a_full_disk_leaves_nothing),
        cmocka_unit_test(a_bomb_takes_no_memory),
        cmocka_unit_test(many_files_take_the_memory_of_one),
        cmocka_unit_test(frames_of_other_programs_are_read),
        cmocka_unit_test(skipped_frames_are_skipped),
        cmocka_unit_test(skipped_frames_are_counted),
        cmocka_unit_test(zeros_are_not_read_for_ever),
        cmocka_unit_test(large_frames_are_read_in_parts),
        cmocka_unit_test(a_large_window_is_refused),
        cmocka_unit_test(only_blg_is_read),
        cmocka_unit_test(a_pipe_is_read),
        cmocka_unit_test(a_lying_table_is_not_believed),
        cmocka_unit_test(a_cut_file_gives_what_decodes),
        cmocka_unit_test(flipped_bits_lose_at_most_their_frame),
        cmocka_unit_test(a_false_end_loses_one_frame),
        cmocka_unit_test(flipped_bits_without_table),
        cmocka_unit_test(flipped_bits_between_blocks),
        cmocka_unit_test(damage_is_described),
        cmocka_unit_test_setup_teardown(only_the_needed_frames_are_decoded, count_frames,
                                        count_no_frames),
        cmocka_unit_test_setup_teardown(reading_in_the_middle_decodes_one_frame, count_frames,
                                        count_no_frames),
        cmocka_unit_test(without_libzstd_a_sentence_names_the_package),
    };
    return cmocka_run_group_tests_name("zst", tests, begin, end);
}
