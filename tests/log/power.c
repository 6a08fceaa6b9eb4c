/* SPDX-License-Identifier: MIT */
/*
 * Power cuts while a BLG is written, continued and compressed. The calls that change the file are
 * recorded. Then the file is made as it may be after a cut before each call: of the writes since
 * the last sync, any may be lost, whole or in pages. From each such file, all synced samples must
 * be read, each once, and no false one; and a writer must be able to append. A circular file may
 * lack the oldest samples. The argument is the number of random cases for each cut. Also, each
 * write fails in turn, as on a full disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "../skip.h"
#include "../temp.h"
#include "base/base.h"
#include "log/log.h"

enum {
    MOST_STEPS = 4096,
    PAGE = 4096,
    SAMPLES = 40,
    APPENDED = 1000,
    MORE = 3,
    MOST_ITEMS = 150,
    LARGE = 18, /* the number of a sample that fills more than two buffers */
    LARGE_ITEMS = 30 * MOST_ITEMS,
    CIRCLE = 8 << 16, /* bytes of a circular file: the samples go round it more than once */
    IN_FLIGHT = 2     /* most samples written at once */
};
static const LONGLONG noon = INT64_C(131246415908740000);
static char folder[64];
static unsigned cases = 1;
static bool circular;

/* ---- recording ---- */

enum step_kind { WRITE, CUT, SYNC, RENAME, SAMPLE };
static struct step {
    enum step_kind kind;
    ino_t file;
    uint64_t offset;
    size_t size;
    char *bytes;
} steps[MOST_STEPS];
static size_t step_count;
static bool recording;
static size_t writes, fails_at; /* which write fails; 0: none */
static bool fails_half;         /* a part of the data is written before the write fails */

static struct step *note(enum step_kind kind, int fd)
{
    static struct step none;
    struct stat st = {0};
    if (!recording)
        return &none;
    if (fd >= 0)
        fstat(fd, &st);
    assert_true(step_count < MOST_STEPS);
    steps[step_count] = (struct step){.kind = kind, .file = st.st_ino};
    return &steps[step_count++];
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    bool fails = fails_at && ++writes >= fails_at;
    if (fails && (!fails_half || writes > fails_at)) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t count = syscall(SYS_pwrite64, fd, bytes, fails ? (size + 1) / 2 : size, offset);
    struct step *step = note(WRITE, fd);
    if (recording && count > 0) {
        step->offset = (uint64_t)offset;
        step->size = (size_t)count;
        step->bytes = memcpy(malloc(step->size), bytes, step->size);
    }
    return count;
}

int ftruncate(int fd, off_t size)
{
    note(CUT, fd)->offset = (uint64_t)size;
    return (int)syscall(SYS_ftruncate, fd, size);
}

/* Does nothing: the test needs no data on the real disk. */
int fdatasync(int fd)
{
    note(SYNC, fd);
    return 0;
}

int fsync(int fd)
{
    note(SYNC, fd);
    return 0;
}

int rename(const char *from, const char *to)
{
    note(RENAME, -1);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static void begin_recording(void)
{
    while (step_count)
        free(steps[--step_count].bytes);
    recording = true;
}

/* ---- samples: a number, and an array, which may need several records and buffers ---- */

static LONGLONG time_of(unsigned number)
{
    return noon + (LONGLONG)number * 10000000;
}

static unsigned items_of(unsigned number)
{
    if (number == LARGE)
        return LARGE_ITEMS;
    return number % 11 == 7 ? 8 * MOST_ITEMS : number * 37 % MOST_ITEMS;
}

/* Whether this sample is flushed only together with the next one. */
static bool is_held(unsigned number)
{
    return number + 1 == LARGE;
}

static PDH_STATUS write_sample(struct log_writer *writer, unsigned number)
{
    static struct log_item items[LARGE_ITEMS];
    struct log_value values[] = {
        {.kind = LOG_RAW},
        { .kind = LOG_ARRAY, .items = items}
    };
    values[0].raw.FirstValue = number;
    values[1].count = items_of(number);
    for (unsigned i = 0; i < values[1].count; i++)
        items[i] = (struct log_item){"name", number, (LONGLONG)i, number};
    PDH_STATUS status = log_write_values(writer, time_of(number), values);
    if (status || is_held(number))
        return status;
    status = log_flush(writer);
    note(SAMPLE, -1)->size = number == LARGE ? IN_FLIGHT : 1;
    return status;
}

/* Returns how many samples were written and flushed before a write failed. */
static unsigned write_samples(const char *path, enum log_create_mode mode, unsigned first,
                              unsigned count)
{
    struct log_column columns[2] = {
        {.machine = "\\\\M", .object = "O", .counter = "a"}
    };
    struct log_header header = {.kind = LOG_BINARY, .zone = "Nowhere", .sync = true};
    header.most_bytes = circular ? CIRCLE : 0;
    struct log_writer *writer = NULL;
    columns[1] = columns[0];
    columns[1].kind = LOG_ARRAY;
    columns[1].instance = "*";
    unsigned made = 0, written = 0;
    PDH_STATUS status = log_create(path, mode, &header, &writer, NULL);
    bool created = !status;
    status = status ? status : log_write_columns(writer, time_of(first), columns, 2);
    for (; !status && made < count; made++) {
        status = write_sample(writer, first + made);
        if (!status && !is_held(first + made))
            written = made + 1;
    }
    PDH_STATUS closed = created ? log_write_close(writer) : status;
    assert_true(status ? closed == status : !closed || fails_at);
    assert_true(!closed || closed == ERROR_DISK_FULL);
    return written;
}

static void check_sample(const struct log_sample *sample, unsigned number)
{
    const struct log_value *values = sample->values;
    assert_int_equal(sample->time, time_of(number));
    assert_int_equal(values[0].raw.FirstValue, number);
    assert_int_equal(values[1].count, items_of(number));
    for (unsigned i = 0; i < values[1].count; i++) {
        const struct log_item *item = &values[1].items[i];
        assert_string_equal(item->name, "name");
        assert_true(item->first == number && item->second == i && item->multi == number);
    }
}

/* Checks that the samples have the numbers 0, 1, 2... and then APPENDED, APPENDED + 1... Returns
 * how many samples there are, with the replaced ones of a circular file; *ret_appended: how many
 * from APPENDED on. */
static unsigned check_samples(const char *path, unsigned *ret_appended)
{
    struct log *log = NULL;
    BUFFER_AUTO problem = {0};
    unsigned count = 0, calls = 0;
    *ret_appended = 0;
    if (log_open(&path, 1, &log, &problem)) {
        assert_true(problem.len > 0);
        return 0;
    }
    for (PDH_STATUS status = 0; (DWORD)status != PDH_NO_MORE_DATA; calls++) {
        const struct log_sample *sample;
        assert_true(calls < 4 * SAMPLES);
        status = log_next(log, &sample);
        if (status)
            continue;
        if (circular && !count)
            count = (unsigned)((sample->time - noon) / (time_of(1) - noon));
        if (sample->time < time_of(APPENDED))
            check_sample(sample, count++);
        else
            check_sample(sample, APPENDED + (*ret_appended)++);
    }
    log_close(log);
    return count + *ret_appended;
}

/* ---- the file after a cut ---- */

struct disk {
    char *bytes;
    size_t size, capacity;
};

static void grow(struct disk *disk, size_t size)
{
    if (size > disk->capacity) {
        disk->bytes = realloc(disk->bytes, 2 * size);
        assert_non_null(disk->bytes);
        disk->capacity = 2 * size;
    }
    if (size > disk->size)
        memset(disk->bytes + disk->size, 0, size - disk->size);
    disk->size = size > disk->size ? size : disk->size;
}

/* Applies the part of a write that is in the page, or, if `page` is SIZE_MAX, all of it. */
static void apply_page(struct disk *disk, const struct step *step, size_t page)
{
    size_t from = step->offset, to = from + step->size;
    if (page != SIZE_MAX && from < page * PAGE)
        from = page * PAGE;
    if (page != SIZE_MAX && to > (page + 1) * PAGE)
        to = (page + 1) * PAGE;
    if (from < to)
        memcpy(disk->bytes + from, step->bytes + (from - step->offset), to - from);
}

static void apply(struct disk *disk, const struct step *step)
{
    if (step->kind == CUT) {
        grow(disk, step->offset);
        disk->size = step->offset;
    } else if (step->kind == WRITE) {
        grow(disk, step->offset + step->size);
        apply_page(disk, step, SIZE_MAX);
    }
}

/* Applies the steps in part: to each page only the writes before a random step. */
static void apply_some(struct disk *disk, size_t from, size_t to)
{
    size_t pages = 0;
    for (size_t i = from; i < to; i++)
        if (steps[i].kind == WRITE) {
            grow(disk, steps[i].offset + steps[i].size);
            pages = disk->size / PAGE + 1;
        }
    for (size_t page = 0; page < pages; page++) {
        size_t last = from + (size_t)rand() % (to - from + 1);
        for (size_t i = from; i < last; i++)
            if (steps[i].kind == WRITE)
                apply_page(disk, &steps[i], page);
    }
}

static void save(const struct disk *disk, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, disk->bytes, disk->size), (ssize_t)disk->size);
    close(fd);
}

/* Reads the file, continues it, and reads it again. `least`, `most`: number of samples that it may
 * have. */
static void check_disk(const struct disk *disk, unsigned least, unsigned most)
{
    char path[96];
    unsigned appended, before, count;
    snprintf(path, sizeof path, "%s/cut.blg", folder);
    save(disk, path);
    count = check_samples(path, &before);
    assert_in_range(count, least, most);
    if (before || !count || circular)
        return; /* nothing to append to, or samples were appended before the cut */
    write_samples(path, LOG_CREATE_APPEND, APPENDED, MORE);
    assert_int_equal(check_samples(path, &appended), count + MORE);
    assert_int_equal(appended, MORE);
}

/* Makes the files that a cut before step `at` may leave. `synced` is the file at the last sync,
 * step `since`. `least` and `most`: how many samples may be read. */
static void cut(const struct disk *synced, size_t since, size_t at, unsigned least, unsigned most)
{
    for (unsigned variant = 0; variant < cases + 3; variant++) {
        struct disk disk = {0};
        grow(&disk, synced->size);
        if (synced->size)
            memcpy(disk.bytes, synced->bytes, synced->size);
        if (variant >= 3)
            apply_some(&disk, since, at);
        for (size_t i = since; i < at && variant && variant < 3; i++) {
            struct step step = steps[i];
            if (variant == 2 && i + 1 == at) /* torn */
                step.size /= 2;
            apply(&disk, &step);
        }
        check_disk(&disk, least, most);
        free(disk.bytes);
    }
}

static void cut_everywhere(void)
{
    struct disk synced = {0};
    unsigned samples = 0, safe = 0;
    size_t since = 0;
    for (size_t at = 0; at <= step_count; at++) {
        /* samples can be in the file before log_flush has returned, so there may be more */
        cut(&synced, since, at, safe, samples + IN_FLIGHT);
        if (at == step_count)
            break;
        if (steps[at].kind == SAMPLE)
            samples += (unsigned)steps[at].size;
        if (steps[at].kind != SYNC)
            continue;
        for (; since < at; since++)
            apply(&synced, &steps[since]);
        safe = samples;
    }
    assert_true(safe >= SAMPLES - 1);
    free(synced.bytes);
}

static void a_recording_is_cut(void **state)
{
    char path[96];
    (void)state;
    snprintf(path, sizeof path, "%s/recorded.blg", folder);
    begin_recording();
    write_samples(path, LOG_CREATE_ALWAYS, 0, SAMPLES);
    write_samples(path, LOG_CREATE_APPEND, APPENDED, MORE);
    recording = false;
    cut_everywhere();
}

static void a_circular_recording_is_cut(void **state)
{
    char path[96];
    (void)state;
    snprintf(path, sizeof path, "%s/circular.blg", folder);
    circular = true;
    begin_recording();
    write_samples(path, LOG_CREATE_ALWAYS, 0, 2 * SAMPLES);
    recording = false;
    cut_everywhere();
    circular = false;
}

/* Of the record of the third sample, the page with its last two numbers was lost. It has its time,
 * but does not count as a sample. */
static void a_torn_record_is_no_sample(void **state)
{
    enum { NUMBERS = 64, HEAD = 72 };
    char path[96];
    BUFFER_AUTO bytes = {0};
    BUFFER_AUTO problem = {0};
    struct log *log = NULL;
    struct log_extent extent;
    (void)state;
    snprintf(path, sizeof path, "%s/torn.blg", folder);
    write_samples(path, LOG_CREATE_ALWAYS, 0, 3);
    assert_int_equal(file_read(AT_FDCWD, path, &bytes), 0);
    const LONGLONG time = time_of(2);
    char *found = memmem(bytes.data, bytes.len, &time, sizeof time);
    assert_non_null(found);
    memset(found - 16 + NUMBERS, 0, HEAD - NUMBERS);
    save(&(struct disk){.bytes = bytes.data, .size = bytes.len}, path);
    assert_int_equal(log_open((const char *[]){path}, 1, &log, &problem), 0);
    assert_int_equal(log_extent(log, &extent), 0);
    assert_int_equal(extent.samples, 2);
    assert_int_equal(extent.last, time_of(1));
    log_close(log);
}

/* Each write fails in turn, with or without a part of its data written; later writes succeed. */
static void a_full_disk_costs_no_whole_sample(void **state)
{
    char path[96];
    unsigned written = 0, appended;
    (void)state;
    snprintf(path, sizeof path, "%s/full.blg", folder);
    for (size_t turn = 2; written < SAMPLES; turn++) {
        fails_half = turn % 2;
        fails_at = turn / 2;
        writes = 0;
        unlink(path);
        written = write_samples(path, LOG_CREATE_ALWAYS, 0, SAMPLES);
        fails_at = 0;
        unsigned count = check_samples(path, &appended);
        assert_in_range(count, written, written + is_held(written));
        if (!count)
            continue;
        write_samples(path, LOG_CREATE_APPEND, APPENDED, MORE);
        assert_int_equal(check_samples(path, &appended), count + MORE);
    }
}

/* The data must be on the disk before the file's name is; the name, before the function returns. */
static void a_compressed_file_is_whole(void **state)
{
    char from[96], to[96];
    BUFFER_AUTO problem = {0};
    (void)state;
    snprintf(from, sizeof from, "%s/closed.blg", folder);
    snprintf(to, sizeof to, "%s/closed.blg.zst", folder);
    write_samples(from, LOG_CREATE_ALWAYS, 0, SAMPLES);
    begin_recording();
    PDH_STATUS status = log_compress(from, to, &problem);
    recording = false;
    if (status) {
        report_skipped(problem.data);
        return;
    }
    size_t at = 0;
    while (steps[at].kind == WRITE)
        at++;
    assert_true(at > 1 && step_count == at + 3);
    assert_true(steps[at].kind == SYNC && steps[at].file == steps[0].file);
    assert_true(steps[at + 1].kind == RENAME);
    assert_true(steps[at + 2].kind == SYNC && steps[at + 2].file != steps[0].file);
}

static int make_folder(void **state)
{
    (void)state;
    srand(19);
    temp_make(folder);
    return folder[0] ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    begin_recording();
    temp_remove(folder);
    return 0;
}

int main(int count, char **arguments)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_is_cut),
        cmocka_unit_test(a_circular_recording_is_cut),
        cmocka_unit_test(a_torn_record_is_no_sample),
        cmocka_unit_test(a_full_disk_costs_no_whole_sample),
        cmocka_unit_test(a_compressed_file_is_whole),
    };
    if (count > 1)
        cases = (unsigned)strtoul(arguments[1], NULL, 10);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
