/* SPDX-License-Identifier: MIT */
/* Tests of writing BLG: a real capture taken apart and written again, byte for byte; what is
 * written is read back; and what a killed process, a full disk or a cut file leaves. The argument
 * is how many times a process is killed. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../temp.h"
#include "log/log.h"

enum { BUFFER = 64 << 10, MOST_ITEMS = 3000, COLUMNS = 3 };
static const LONGLONG noon = INT64_C(131246415908740000);
static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void golden_path(char path[static 4096])
{
    snprintf(path, 4096, "%s/perfmon-logs/CounterSamples.blg", getenv("GOLDEN"));
}

static struct log *open_one(const char *path)
{
    struct log *log = NULL;
    assert_int_equal(log_open(&path, 1, &log, NULL), 0);
    return log;
}

/* ---- a real capture ---- */

static void copy(const char *from, const char *to)
{
    struct log *log = open_one(from);
    struct log_writer *writer = NULL;
    size_t count = log_columns(log);
    struct log_column columns[64];
    for (size_t i = 0; i < count; i++)
        columns[i] = *log_column(log, i);
    struct log_header header = {.kind = LOG_BINARY, .zone_rule = log_facts(log)->zone_rule};
    assert_int_equal(log_create(to, LOG_CREATE_ALWAYS, &header, &writer, NULL), 0);
    const struct log_sample *sample;
    for (bool first = true; log_next(log, &sample) == 0; first = false) {
        if (first)
            assert_int_equal(log_write_columns(writer, sample->time, columns, count), 0);
        assert_int_equal(log_write_values(writer, sample->time, sample->values), 0);
    }
    assert_int_equal(log_write_close(writer), 0);
    log_close(log);
}

/* Copies the bytes at `at` from `theirs` to `ours`, and returns how many of them differed. */
static size_t forget(unsigned char *ours, unsigned char *theirs, size_t at, size_t size)
{
    size_t count = 0;
    for (size_t i = at; i < at + size; i++) {
        count += ours[i] != theirs[i];
        ours[i] = theirs[i];
    }
    return count;
}

/* Makes the fields equal that, by docs/format.md, describe the writer, not what was recorded. */
static size_t forget_own_fields(unsigned char *ours, unsigned char *theirs, size_t size)
{
    static const struct {
        size_t at, size;
    } fields[] = {
        {80,          8  }, /* thread, process */
        {88,          16 }, /* time of the start, processor time */
        {112,         4  }, /* build of Windows */
        {120,         8  }, /* time of the end */
        {156,         4  }, /* clock of the processor */
        {352,         24 }, /* boot, frequency, start */
        {384,         144}, /* the GUID and the file's name as texts */
        {BUFFER + 16, 8  }, /* when the buffer was written */
        {BUFFER + 56, 16 }  /* pointers */
    };
    size_t differed = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        differed += forget(ours, theirs, fields[i].at, fields[i].size);
    for (size_t at = BUFFER + 72; at + 72 < size && theirs[at + 3] == 0xC0;) {
        bool catalogue = theirs[at + 4] == 0x20;
        differed += forget(ours, theirs, at + 8, catalogue ? 16 : 8); /* thread, process; time */
        differed += forget(ours, theirs, at + 48, 16);                /* GUID of the capture */
        size_t length = theirs[at] | (size_t)theirs[at + 1] << 8;
        for (size_t entry = at + 80; catalogue && entry < at + length;) {
            differed += forget(ours, theirs, entry + 8, 4); /* number of the counter */
            entry += theirs[entry] | (size_t)theirs[entry + 1] << 8;
        }
        at += (length + 7) & ~(size_t)7;
    }
    return differed;
}

/* Windows' capture, written again: all bytes are equal, except 701 that describe the writer. */
static void a_real_capture_is_written_again(void **state)
{
    char from[4096], to[128];
    BUFFER_AUTO theirs = {0};
    BUFFER_AUTO ours = {0};
    (void)state;
    golden_path(from);
    /* the file has its own name in it, which must be as long as Windows':
     * C:\Users\jeffbi\CounterSamples.blg */
    snprintf(to, sizeof to, "%s/%0*d", folder, (int)(33 - strlen(folder)), 1);
    assert_int_equal(strlen(to), 34);
    copy(from, to);
    assert_int_equal(file_read(AT_FDCWD, from, &theirs), 0);
    assert_int_equal(file_read(AT_FDCWD, to, &ours), 0);
    assert_int_equal(ours.len, theirs.len);
    size_t differed =
        forget_own_fields((unsigned char *)ours.data, (unsigned char *)theirs.data, theirs.len);
    assert_memory_equal(ours.data, theirs.data, theirs.len);
    assert_true(differed > 400 && differed < 820);
}

/* ---- samples of our own: a number, an array and one that is never there ---- */

static struct log_item items[MOST_ITEMS];
static char names[MOST_ITEMS][32];
/* clang-format off */
static const struct log_column columns[COLUMNS] = {
    {.kind = LOG_RAW, .machine = "\\\\M", .object = "O", .counter = "c", .type = 0x10410400},
    {.kind = LOG_ARRAY, .machine = "\\\\M", .object = "P", .instance = "*", .counter = "größer",
     .type = 0x10410500, .time_base = 1000, .scale = -3},
    {.kind = LOG_RAW, .machine = "\\\\M", .object = "P", .parent = "p", .instance = "i", .counter = "d", .index = 2},
};
/* clang-format on */
static const struct log_header header = {.kind = LOG_BINARY, .zone = "Nowhere", .bias = -60};

static LONGLONG time_of(unsigned number)
{
    return noon + (LONGLONG)number * 10000000;
}

/* The array's length depends on the sample's number: 0 to `most` items. */
static size_t items_of(unsigned number, size_t most)
{
    return most ? number * 7919u % (most + 1) : 0;
}

static PDH_STATUS write_one(struct log_writer *writer, unsigned number, size_t most)
{
    struct log_value values[COLUMNS] = {{.kind = LOG_RAW}, {.kind = LOG_ARRAY}, {.kind = LOG_RAW}};
    values[0].raw = (PDH_RAW_COUNTER){.FirstValue = number * 10ll, .SecondValue = -5};
    values[1].items = items;
    values[1].count = items_of(number, most);
    values[2].raw.CStatus = PDH_CSTATUS_NO_INSTANCE;
    for (size_t i = 0; i < values[1].count; i++) {
        snprintf(names[i], sizeof names[i], "ä/%zu", i / 2);
        items[i] = (struct log_item){names[i], (LONGLONG)(number + i), -1, (DWORD)i};
    }
    return log_write_values(writer, time_of(number), values);
}

static struct log_writer *create(const char *path, enum log_create_mode mode, uint64_t most_bytes)
{
    struct log_writer *writer = NULL;
    struct log_header own = header;
    own.most_bytes = most_bytes;
    assert_int_equal(log_create(path, mode, &own, &writer, NULL), 0);
    assert_int_equal(log_write_columns(writer, noon, columns, COLUMNS), 0);
    return writer;
}

static void write_many(const char *path, unsigned count, size_t most, bool flush)
{
    struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, 0);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(write_one(writer, i, most), 0);
        if (flush)
            assert_int_equal(log_flush(writer), 0);
    }
    assert_int_equal(log_write_close(writer), 0);
}

/* Checks the values of the sample with this number. */
static void check_sample(const struct log_sample *sample, unsigned number, size_t most)
{
    const struct log_value *values = sample->values;
    assert_int_equal(sample->time, time_of(number));
    assert_int_equal(values[0].status, 0);
    assert_int_equal(values[0].raw.FirstValue, number * 10);
    assert_int_equal(values[0].raw.SecondValue, -5);
    assert_int_equal(values[1].count, items_of(number, most));
    for (size_t i = 0; i < values[1].count; i++) {
        char name[32];
        snprintf(name, sizeof name, "ä/%zu", i / 2);
        assert_string_equal(values[1].items[i].name, name);
        assert_int_equal(values[1].items[i].first, number + i);
        assert_int_equal(values[1].items[i].second, -1);
        assert_int_equal(values[1].items[i].multi, i);
    }
    assert_int_equal(values[2].status, PDH_CSTATUS_NO_INSTANCE);
}

/* number of records that were lost in the file that was read last */
static uint64_t lost;

/* Reads samples with successive numbers, and returns the first number; *ret_count: how many. */
static unsigned check_samples(const char *path, size_t most, bool whole, unsigned *ret_count)
{
    struct log *log = open_one(path);
    const struct log_sample *sample;
    unsigned first = 0;
    *ret_count = 0;
    while (log_next(log, &sample) == 0) {
        if (!*ret_count)
            first = (unsigned)((sample->time - noon) / 10000000);
        check_sample(sample, first + (*ret_count)++, most);
    }
    lost = log_losses(log)->list[LOSS_RECORD].count;
    const char *problem = log_problem(log) ? log_problem(log) : "";
    if (whole) {
        /* a last record whose next part is missing is reported, but not counted as lost, because
         * its writer may still write that part */
        assert_false(log_losses(log)->any);
        if (!strstr(problem, "parts of this record, which is skipped: it was trunc"))
            assert_string_equal(problem, "");
    }
    log_close(log);
    return first;
}

static void what_is_written_is_read(void **state)
{
    static const size_t sizes[] = {0, 1, 200,
                                   MOST_ITEMS}; /* the last needs several records and buffers */
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned count;
        write_many(in_folder("written"), 300, sizes[i], i % 2);
        assert_int_equal(check_samples(in_folder("written"), sizes[i], true, &count), 0);
        assert_int_equal(count, 300);
        assert_int_equal(lost, 0);
    }
    struct log *log = open_one(in_folder("written"));
    assert_int_equal(log_columns(log), COLUMNS);
    assert_string_equal(log_column(log, 0)->path, "\\\\M\\O\\c");
    assert_string_equal(log_column(log, 1)->path, "\\\\M\\P(*)\\größer");
    assert_string_equal(log_column(log, 2)->path, "\\\\M\\P(p/i#2)\\d");
    assert_int_equal(log_column(log, 1)->time_base, 1000);
    assert_int_equal(log_column(log, 1)->scale, -3);
    assert_string_equal(log_facts(log)->zone, "Nowhere");
    assert_int_equal(log_facts(log)->bias, -60);
    log_close(log);
}

/* Readers pass over an array with a status, and keep the names of the one before. So the array
 * after it does not have "the names of the sample before", also if both are equal. */
static void an_array_with_a_status_has_no_names(void **state)
{
    enum { SAMPLES = 4 };
    struct log_item one[] = {{.name = "a"}}, two[] = {{.name = "b"}};
    const struct log_sample *sample;
    (void)state;
    struct log_writer *writer = create(in_folder("status"), LOG_CREATE_ALWAYS, 0);
    for (unsigned i = 0; i < SAMPLES; i++) {
        struct log_value values[COLUMNS] = {
            {.kind = LOG_RAW}, {.kind = LOG_ARRAY}, {.kind = LOG_RAW}};
        values[1].items = i ? two : one;
        values[1].count = 1;
        values[1].raw.CStatus = i == 1 ? PDH_CSTATUS_NO_INSTANCE : 0;
        assert_int_equal(log_write_values(writer, time_of(i), values), 0);
    }
    assert_int_equal(log_write_close(writer), 0);
    struct log *log = open_one(in_folder("status"));
    for (unsigned i = 0; i < SAMPLES; i++) {
        assert_int_equal(log_next(log, &sample), 0);
        assert_int_equal(sample->values[1].status, i == 1 ? PDH_CSTATUS_NO_INSTANCE : 0);
        if (i != 1)
            assert_int_equal(sample->values[1].same_names, i == SAMPLES - 1);
    }
    log_close(log);
}

/* ---- interrupted ---- */

/* After each sample the file is complete, whatever happens then. */
static void each_sample_is_in_the_file(void **state)
{
    (void)state;
    struct log_writer *writer = create(in_folder("growing"), LOG_CREATE_ALWAYS, 0);
    struct log *follower = NULL; /* reads on while the file grows */
    const struct log_sample *sample;
    for (unsigned i = 0; i < 60; i++) {
        unsigned count;
        assert_int_equal(write_one(writer, i, 400), 0);
        assert_int_equal(log_flush(writer), 0);
        assert_int_equal(check_samples(in_folder("growing"), 400, true, &count), 0);
        assert_int_equal(count, i + 1);
        assert_int_equal(lost, 0);
        follower = follower ? follower : open_one(in_folder("growing"));
        assert_int_equal(log_next(follower, &sample), 0);
        check_sample(sample, i, 400);
        assert_int_equal(log_next(follower, &sample), (PDH_STATUS)PDH_NO_MORE_DATA);
    }
    log_close(follower);
    assert_int_equal(log_write_close(writer), 0);
}

/* A slow reader has read the last buffer before it was full, and misses nothing when it goes on. */
static void a_slow_reader_misses_nothing(void **state)
{
    enum { COUNT = 200, LAG = 3 };
    (void)state;
    struct log_writer *writer = create(in_folder("slow"), LOG_CREATE_ALWAYS, 0);
    struct log *log = NULL;
    const struct log_sample *sample;
    for (unsigned i = 0; i < COUNT + LAG; i++) {
        if (i < COUNT) {
            assert_int_equal(write_one(writer, i, 30), 0);
            assert_int_equal(log_flush(writer), 0);
        }
        if (i < LAG)
            continue;
        log = log ? log : open_one(in_folder("slow"));
        PDH_STATUS status = log_next(log, &sample);
        if (status == (PDH_STATUS)PDH_NO_MORE_DATA) /* as the file was when it was read */
            status = log_next(log, &sample);
        assert_int_equal(status, 0);
        check_sample(sample, i - LAG, 30);
    }
    assert_false(log_losses(log)->any);
    log_close(log);
    assert_int_equal(log_write_close(writer), 0);
}

/* A writer counts a sample after it has written it. A reader that comes in between does not see the
 * sample, does not report it as lost, and reads it later. */
static void a_sample_that_is_not_counted_comes_later(void **state)
{
    enum { HEAD = 72 };
    BUFFER_AUTO before = {0};
    BUFFER_AUTO after = {0};
    const struct log_sample *sample;
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("between"));
    struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(write_one(writer, i, 30), 0);
        assert_int_equal(log_flush(writer), 0);
        assert_int_equal(file_read(AT_FDCWD, path, i < 2 ? &before : &after), 0);
    }
    assert_int_equal(log_write_close(writer), 0);
    assert_int_equal(before.len, after.len);
    size_t last = after.len - BUFFER;
    assert_memory_not_equal(before.data + last, after.data + last, HEAD);
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_int_equal(write(fd, after.data, after.len), (ssize_t)after.len);
    assert_int_equal(pwrite(fd, before.data + last, HEAD, (off_t)last), HEAD);
    struct log *log = open_one(path);
    for (unsigned i = 0; i < 3; i++) {
        if (i == 2) {
            assert_int_equal(log_next(log, &sample), (PDH_STATUS)PDH_NO_MORE_DATA);
            assert_int_equal(pwrite(fd, after.data + last, HEAD, (off_t)last), HEAD);
        }
        assert_int_equal(log_next(log, &sample), 0);
        check_sample(sample, i, 30);
    }
    assert_false(log_losses(log)->any);
    log_close(log);
    close(fd);
}

static void a_cut_file_has_its_whole_samples(void **state)
{
    BUFFER_AUTO whole = {0};
    unsigned last = 0, count;
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("cut"));
    write_many(path, 40, 300, true);
    assert_int_equal(file_read(AT_FDCWD, path, &whole), 0);
    for (size_t size = 600; size < whole.len; size += 499) {
        int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
        assert_int_equal(write(fd, whole.data, size), (ssize_t)size);
        close(fd);
        assert_int_equal(check_samples(path, 300, false, &count), 0);
        assert_true(count >= last);
        last = count;
    }
    assert_int_equal(last, 40);
}

static unsigned times = 60;        /* how often a writer is killed */
static volatile unsigned *flushed; /* how many samples the child has written; in shared memory */

static void write_for_ever(const char *path)
{
    struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, 0);
    for (unsigned i = 0; !write_one(writer, i, 300) && !log_flush(writer); i++)
        *flushed = i + 1;
    _exit(1);
}

/* After a writer was killed, at most the sample that it was writing is lost; all else is good. */
static void a_killed_writer_loses_nothing(void **state)
{
    (void)state;
    srand(19);
    unsigned most = 0, count;
    flushed =
        mmap(NULL, sizeof *flushed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(flushed != MAP_FAILED);
    for (unsigned i = 0; i < times; i++) {
        *flushed = 0;
        unlink(in_folder("killed"));
        pid_t child = fork();
        if (child == 0)
            write_for_ever(in_folder("killed"));
        usleep((useconds_t)(rand() % 20000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        struct stat facts;
        if (stat(in_folder("killed"), &facts) || facts.st_size < BUFFER)
            continue; /* the child was killed before it had created the file */
        assert_int_equal(check_samples(in_folder("killed"), 300, true, &count), 0);
        assert_in_range(count, *flushed, *flushed + 1);
        most = count > most ? count : most;
    }
    assert_true(most > 10);
}

/* A limit of the file's size acts like a full disk. */
static void write_until_full(rlim_t size)
{
    struct log_writer *writer = NULL;
    struct rlimit limit = {size, size};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    PDH_STATUS status = log_create(in_folder("full"), LOG_CREATE_ALWAYS, &header, &writer, NULL);
    if (status)
        _exit(status == ERROR_DISK_FULL ? 0 : 1);
    status = log_write_columns(writer, noon, columns, COLUMNS);
    for (unsigned i = 0; i < 100000 && !status; i++) {
        status = write_one(writer, i, 300);
        status = status ? status : log_flush(writer);
    }
    if (status != ERROR_DISK_FULL || write_one(writer, 0, 0) != ERROR_DISK_FULL)
        _exit(2);
    _exit(log_write_close(writer) == ERROR_DISK_FULL ? 0 : 3);
}

static void a_full_disk_leaves_whole_samples(void **state)
{
    (void)state;
    for (rlim_t size = 1000; size < 400000; size += 13337) {
        int status = -1;
        unsigned count = 0;
        pid_t child = fork();
        if (child == 0)
            write_until_full(size);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        struct stat facts;
        assert_int_equal(stat(in_folder("full"), &facts), 0);
        if (facts.st_size)
            check_samples(in_folder("full"), 300, false, &count);
        assert_true(size < 3 * BUFFER || count > 5);
    }
}

/* ---- appended, circular ---- */

static void samples_are_appended(void **state)
{
    char path[128], golden[4096];
    unsigned count;
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("appended"));
    write_many(path, 30, 50, false);
    struct log_writer *writer = create(path, LOG_CREATE_APPEND, 0);
    for (unsigned i = 30; i < 60; i++)
        assert_int_equal(write_one(writer, i, 50), 0);
    assert_int_equal(log_write_close(writer), 0);
    assert_int_equal(check_samples(path, 50, true, &count), 0);
    assert_int_equal(count, 60);
    /* appends samples with other columns to Windows' capture */
    golden_path(golden);
    copy(golden, path);
    writer = create(path, LOG_CREATE_APPEND, 0);
    assert_int_equal(write_one(writer, 100, 3), 0);
    assert_int_equal(log_write_close(writer), 0);
    struct log *log = open_one(path);
    const struct log_sample *sample;
    struct log_extent extent;
    assert_int_equal(log_extent(log, &extent), 0);
    assert_int_equal(extent.samples, 26);
    assert_int_equal(log_columns(log), 6 + COLUMNS);
    while (log_next(log, &sample) == 0)
        if (sample->time == time_of(100))
            assert_int_equal(sample->values[6].raw.FirstValue, 1000);
    assert_false(log_losses(log)->any);
    log_close(log);
}

/* Sets the size of the buffers in the head of a file, in both places. */
static void set_size(const char *path, uint32_t one, uint32_t other)
{
    enum { SIZE = 104 };
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, &one, sizeof one, 0), sizeof one);
    assert_int_equal(pwrite(fd, &other, sizeof other, SIZE), sizeof other);
    close(fd);
}

/* Buffers may be smaller than the parts that are written to others. A head that may be damaged is
 * refused. */
static void samples_are_appended_to_small_buffers(void **state)
{
    static const uint32_t sizes[] = {1024, 1536, 4096, 8192, 16384};
    static const uint32_t damaged[] = {0, 40, 100, 1000, 1025, 32768, 16 << 20, UINT32_MAX};
    const char *path = in_folder("small");
    BUFFER_AUTO problem = {0};
    unsigned count;
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        write_many(path, 0, 0, false);
        set_size(path, sizes[k], sizes[k]);
        assert_int_equal(truncate(path, sizes[k]), 0);
        struct log_writer *writer = create(path, LOG_CREATE_APPEND, 0);
        for (unsigned i = 0; i < 20; i++)
            assert_int_equal(write_one(writer, i, 1000), 0);
        assert_int_equal(log_write_close(writer), 0);
        assert_int_equal(check_samples(path, 1000, true, &count), 0);
        assert_int_equal(count, 20);
    }
    for (size_t k = 0; k < sizeof damaged / sizeof *damaged; k++) {
        struct log_writer *writer = NULL;
        write_many(path, 10, 3, false);
        set_size(path, damaged[k], BUFFER);
        assert_int_equal((DWORD)log_create(path, LOG_CREATE_APPEND, &header, &writer, &problem),
                         PDH_UNABLE_READ_LOG_HEADER);
        assert_non_null(strstr(problem.data, "nothing was appended"));
        buffer_clear(&problem);
    }
}

/* A writer was killed before the buffer's head counted its last sample, which is written again. */
static void uncounted_samples_are_overwritten(void **state)
{
    (void)state;
    const char *path = in_folder("uncounted");
    unsigned char head[72];
    unsigned count;
    write_many(path, 10, 3, false);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, head, sizeof head, BUFFER), sizeof head);
    close(fd);
    write_many(path, 11, 3, false);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(fd, head, sizeof head, BUFFER), sizeof head);
    close(fd);
    struct log_writer *writer = create(path, LOG_CREATE_APPEND, 0);
    for (unsigned i = 10; i < 20; i++)
        assert_int_equal(write_one(writer, i, 3), 0);
    assert_int_equal(log_write_close(writer), 0);
    assert_int_equal(check_samples(path, 3, true, &count), 0);
    assert_int_equal(count, 20);
    assert_int_equal(lost, 0);
}

static void only_a_linear_blg_is_appended_to(void **state)
{
    struct log_writer *writer = NULL;
    BUFFER_AUTO problem = {0};
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("other"));
    temp_write(folder, "other", "\"(PDH-CSV 4.0)\",\"\\\\M\\O\\a\"\r\n");
    assert_int_equal((DWORD)log_create(path, LOG_CREATE_APPEND, &header, &writer, &problem),
                     PDH_UNABLE_READ_LOG_HEADER);
    assert_non_null(strstr(problem.data, "nothing was appended"));
    writer = create(path, LOG_CREATE_ALWAYS, 4 * BUFFER);
    assert_int_equal(log_write_close(writer), 0);
    assert_int_equal((DWORD)log_create(path, LOG_CREATE_APPEND, &header, &writer, &problem),
                     PDH_INVALID_ARGUMENT);
    assert_non_null(strstr(problem.data, "circular"));
}

static void a_circular_file_has_the_newest(void **state)
{
    char path[128];
    unsigned count;
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("circle"));
    struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, 5 * BUFFER);
    for (unsigned i = 0; i < 2000; i++) {
        assert_int_equal(write_one(writer, i, 100), 0);
        if (i % 100 == 99) {
            assert_int_equal(log_flush(writer), 0);
            unsigned first = check_samples(path, 100, true, &count);
            assert_int_equal(first + count, i + 1);
            assert_int_equal(lost, 0);
        }
    }
    assert_int_equal(log_write_close(writer), 0);
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_size, 5 * BUFFER);
    unsigned first = check_samples(path, 100, true, &count);
    assert_int_equal(first + count, 2000);
    assert_true(count > 40);
}

/* A pipe gives all samples, too, though its end is not known when it is opened. */
static void a_circular_file_is_read_from_a_pipe(void **state)
{
    char path[128], pipe[144];
    unsigned count = 0, piped = 0;
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("piped"));
    struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, 5 * BUFFER);
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(write_one(writer, i, 300), 0);
    assert_int_equal(log_write_close(writer), 0);
    unsigned first = check_samples(path, 300, true, &count);
    assert_int_equal(first + count, 200);
    snprintf(pipe, sizeof pipe, "%s.pipe", path);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        BUFFER_AUTO bytes = {0};
        bool good = !file_read(AT_FDCWD, path, &bytes);
        int fd = open(pipe, O_WRONLY | O_CLOEXEC);
        for (size_t done = 0; good && done < bytes.len;) {
            ssize_t size = write(fd, bytes.data + done, bytes.len - done);
            good = size > 0;
            done += good ? (size_t)size : 0;
        }
        _exit(good ? 0 : 1);
    }
    assert_int_equal(check_samples(pipe, 300, true, &piped), first);
    assert_int_equal(piped, count);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Columns are set where a buffer has space for them and not for the sample, too: each sample is
 * read with one set of columns. */
static void columns_change_anywhere_in_a_circular_file(void **state)
{
    static const unsigned sizes[] = {600, 1400, 2200, 2999}; /* in up to three buffers */
    char path[128];
    unsigned count;
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("changing"));
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, 12 * BUFFER);
        for (unsigned i = 0; i < (k < 2 ? 150 : 50); i++) {
            if (i % 3)
                assert_int_equal(log_write_columns(writer, time_of(i), columns, COLUMNS), 0);
            assert_int_equal(write_one(writer, i, sizes[k]), 0);
            assert_int_equal(log_flush(writer), 0);
            unsigned first = check_samples(path, sizes[k], true, &count);
            assert_int_equal(first + count, i + 1);
            assert_int_equal(lost, 0);
            assert_true(count > 1 || first == 0);
        }
        assert_int_equal(log_write_close(writer), 0);
    }
}

/* A reader that has come to the end, and is slower than the writer, says that it missed samples. */
static void an_overtaken_reader_says_so(void **state)
{
    const char *path = in_folder("overtaken");
    const struct log_sample *sample;
    struct log *log = NULL;
    unsigned count = 0;
    (void)state;
    struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, 12 * BUFFER);
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(write_one(writer, i, 2200), 0);
        assert_int_equal(log_flush(writer), 0);
        if (i != 1)
            continue;
        log = open_one(path);
        while (log_next(log, &sample) == 0)
            check_sample(sample, count++, 2200);
        assert_int_equal(count, 2);
        assert_false(log_losses(log)->any);
    }
    while (log_next(log, &sample) != (PDH_STATUS)PDH_NO_MORE_DATA)
        count++;
    assert_true(count > 2 && count < 100);
    assert_true(log_losses(log)->list[LOSS_BUFFER].count > 50);
    log_close(log);
    assert_int_equal(log_write_close(writer), 0);
}

/* A reader that has come to the end gets each further sample, also those that are added to the
 * buffer that it has read; after log_rewind it gets all that are in the file now. */
static void a_circular_file_is_followed(void **state)
{
    enum { COUNT = 100, BUFFERS = 4 }; /* all of the file is in the reader's window */
    static const unsigned sizes[] = {100, 600};
    const struct log_sample *sample;
    const char *path = in_folder("followed");
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, BUFFERS * BUFFER);
        struct log *log = NULL, *again = NULL;
        for (unsigned i = 0; i < COUNT; i++) {
            assert_int_equal(write_one(writer, i, sizes[k]), 0);
            assert_int_equal(log_flush(writer), 0);
            log = log ? log : open_one(path);
            again = again ? again : open_one(path);
            assert_int_equal(log_next(log, &sample), 0);
            check_sample(sample, i, sizes[k]);
            assert_int_equal(log_next(log, &sample), (PDH_STATUS)PDH_NO_MORE_DATA);
        }
        assert_false(log_losses(log)->any);
        assert_int_equal(log_rewind(again), 0);
        assert_int_equal(log_next(again, &sample), 0);
        unsigned number = (unsigned)((sample->time - noon) / 10000000);
        assert_in_range(number, k ? COUNT / 2 : 0, COUNT - 3);
        for (check_sample(sample, number, sizes[k]); ++number < COUNT;) {
            assert_int_equal(log_next(again, &sample), 0);
            check_sample(sample, number, sizes[k]);
        }
        assert_false(log_losses(again)->any);
        log_close(again);
        log_close(log);
        assert_int_equal(log_write_close(writer), 0);
    }
}

/* Replaces the system's function: a sample is written when the head of a buffer has been read. */
static struct log_writer *intruder; /* NULL: reading is not disturbed */
static unsigned intruder_number;
static off_t intruder_offset; /* of the buffer */
ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    ssize_t got = preadv(fd, &(struct iovec){bytes, size}, 1, offset);
    struct log_writer *writer = intruder;
    off_t end = offset + (off_t)size;
    if (writer && offset <= intruder_offset && end > intruder_offset &&
        end <= intruder_offset + BUFFER) {
        intruder = NULL;
        assert_int_equal(write_one(writer, intruder_number, MOST_ITEMS), 0);
        assert_int_equal(log_flush(writer), 0);
    }
    return got;
}

/* A sample of two buffers is written while a reader at the end looks for new ones, which has read
 * the old head of the first of them, and then reads the new one of the second. */
static void a_circular_file_is_followed_while_it_changes(void **state)
{
    enum { BUFFERS = 41, NUMBER = 36, STEP = MOST_ITEMS + 1, COUNT = 60 };
    const char *path = in_folder("changes");
    const struct log_sample *sample;
    unsigned i = 0, disturbed = 0;
    (void)state;
    struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, BUFFERS * BUFFER);
    for (; i < 25; i++)
        assert_int_equal(write_one(writer, NUMBER + i * STEP, MOST_ITEMS), 0);
    assert_int_equal(log_flush(writer), 0);
    struct log *log = open_one(path);
    while (log_next(log, &sample) == 0)
        continue;
    for (; i < COUNT; i++) {
        intruder_number = NUMBER + i * STEP;
        intruder_offset = (1 + 2 * (off_t)i % (BUFFERS - 1)) * BUFFER;
        intruder = writer;
        PDH_STATUS status = log_next(log, &sample);
        if (status == (PDH_STATUS)PDH_NO_MORE_DATA)
            status = log_next(log, &sample);
        disturbed += !intruder;
        intruder = NULL;
        assert_int_equal(status, 0);
        check_sample(sample, intruder_number, MOST_ITEMS);
    }
    assert_int_equal(disturbed, COUNT - 25);
    assert_false(log_losses(log)->any);
    log_close(log);
    assert_int_equal(log_write_close(writer), 0);
}

/* The buffer in which the file ends is read as far as it goes, and what is cut off is reported. */
static void a_cut_circular_file_is_read_to_its_end(void **state)
{
    enum { SAMPLES = 120, MOST = 20 };
    BUFFER_AUTO whole = {0};
    char path[128];
    unsigned before = 0;
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("cut-circle"));
    struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, 20 * BUFFER);
    for (unsigned i = 0; i < SAMPLES; i++)
        assert_int_equal(write_one(writer, i, MOST), 0);
    assert_int_equal(log_write_close(writer), 0);
    assert_int_equal(file_read(AT_FDCWD, path, &whole), 0);
    assert_int_equal(whole.len, 2 * BUFFER);
    for (size_t size = BUFFER + 73; size < BUFFER + 30000; size += 997) {
        struct log *log = NULL;
        const struct log_sample *sample;
        unsigned count = 0;
        PDH_STATUS status, found = 0;
        assert_int_equal(log_open_bytes(whole.data, size, "cut", &log, NULL), 0);
        while ((status = log_next(log, &sample)) != (PDH_STATUS)PDH_NO_MORE_DATA) {
            found = status ? status : found;
            if (!status)
                check_sample(sample, count++, MOST);
        }
        assert_int_equal((DWORD)found, PDH_BINARY_LOG_CORRUPT);
        assert_true(count >= before);
        before = count;
        log_close(log);
    }
    assert_true(before > 20);
}

enum { CIRCLE = 6, SEQUENCE = 24, USED = 48 };
enum { TWINS, ALL_SAME, ALL_ONES, EMPTY, LAST_EMPTY, RANDOM, HEADS = RANDOM + 60 };

static char *head_of(const struct buffer *file, size_t number)
{
    return file->data + number * BUFFER;
}

static uint64_t sequence_of(const struct buffer *file, size_t number)
{
    uint64_t sequence;
    memcpy(&sequence, head_of(file, number) + SEQUENCE, sizeof sequence);
    return sequence;
}

/* Makes heads false; `newest`: the number of the newest buffer. */
static void falsify(struct buffer *file, int kind, size_t newest)
{
    size_t last = newest == 1 ? CIRCLE - 1 : newest - 1, older = last == 1 ? CIRCLE - 1 : last - 1;
    if (kind == TWINS)
        memcpy(head_of(file, last) + SEQUENCE, head_of(file, newest) + SEQUENCE, 8);
    for (size_t i = 0; kind == ALL_SAME && i < CIRCLE; i++)
        memset(head_of(file, i) + SEQUENCE, 0, 8);
    if (kind == ALL_ONES)
        memset(head_of(file, last), 0xFF, 72);
    if (kind == EMPTY || kind == LAST_EMPTY)
        memcpy(head_of(file, kind == EMPTY ? older : newest) + USED, "\x48\0\0", 4);
    for (int i = 0; kind >= RANDOM && i < 4; i++)
        head_of(file, (size_t)rand() % CIRCLE)[SEQUENCE + rand() % 32] = (char)rand();
}

/* Whatever the heads of the buffers say, reading ends, and what is missing is reported. */
static void a_circular_file_with_false_heads_is_read_to_its_end(void **state)
{
    enum { SAMPLES = 40, MOST_CALLS = 1000 };
    BUFFER_AUTO whole = {0};
    BUFFER_AUTO copy = {0};
    char path[128];
    size_t newest = 1;
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("heads"));
    struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, CIRCLE * BUFFER);
    for (unsigned i = 0; i < SAMPLES; i++)
        assert_int_equal(write_one(writer, i, 600), 0);
    assert_int_equal(log_write_close(writer), 0);
    assert_int_equal(file_read(AT_FDCWD, path, &whole), 0);
    assert_int_equal(whole.len, CIRCLE * BUFFER);
    for (size_t i = 2; i < CIRCLE; i++)
        newest = sequence_of(&whole, i) > sequence_of(&whole, newest) ? i : newest;
    srand(11);
    for (int kind = 0; kind < HEADS; kind++) {
        buffer_clear(&copy);
        buffer_add(&copy, whole.data, whole.len);
        falsify(&copy, kind, newest);
        int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), calls = 0;
        assert_int_equal(write(fd, copy.data, copy.len), (ssize_t)copy.len);
        close(fd);
        struct log *log = NULL;
        const struct log_sample *sample;
        if (log_open(&(const char *){path}, 1, &log, NULL))
            continue; /* the first head may be false, too */
        bool reported = false;
        for (PDH_STATUS status = 0; (DWORD)status != PDH_NO_MORE_DATA; calls++) {
            assert_in_range(calls, 0, MOST_CALLS);
            status = log_next(log, &sample);
            reported |= (DWORD)status == PDH_BINARY_LOG_CORRUPT || log_losses(log)->any;
        }
        assert_true(reported || kind <= ALL_SAME || kind >= RANDOM);
        log_close(log);
    }
}

static atomic_bool writing;
static atomic_uint written;
enum { MOST_WRITTEN = 1500 }; /* so that a slow reader does not fill the disk */
static void *write_on(void *writer)
{
    for (; writing && written < MOST_WRITTEN; written++)
        if (write_one(writer, written, 2200) || log_flush(writer))
            return "failed";
    return NULL;
}

/* Samples are whole and in their order, also where the writer replaces buffers while they are
 * read. Of a file that is not circular (0 buffers) none is missing. */
static void a_file_is_read_while_it_is_written(void **state)
{
    static const unsigned buffers[] = {0, 12, 40};
    const char *path = in_folder("written-on");
    const struct log_sample *sample;
    unsigned most = 0;
    (void)state;
    for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) {
        pthread_t thread;
        void *failed;
        written = 0;
        writing = true;
        struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, buffers[k] * BUFFER);
        assert_int_equal(log_flush(writer), 0);
        assert_int_equal(pthread_create(&thread, NULL, write_on, writer), 0);
        while (written < 20)
            usleep(1000);
        for (int round = 0; round < 5; round++) {
            struct log *log = open_one(path);
            unsigned last = 0, count = 0;
            for (PDH_STATUS status = 0; (DWORD)status != PDH_NO_MORE_DATA && count < 1000;) {
                status = log_next(log, &sample);
                assert_true(!status || (DWORD)status == PDH_NO_MORE_DATA ||
                            log_losses(log)->list[LOSS_BUFFER].count);
                if (status)
                    continue;
                unsigned number = (unsigned)((sample->time - noon) / 10000000);
                assert_true(buffers[k] ? !count || number > last : number == count);
                count++;
                check_sample(sample, last = number, 2200);
            }
            most = count > most ? count : most;
            log_close(log);
        }
        writing = false;
        assert_int_equal(pthread_join(thread, &failed), 0);
        assert_null(failed);
        assert_int_equal(log_write_close(writer), 0);
    }
    assert_true(most > 5);
}

/* ---- parts of samples ---- */

/* Reads all samples, each of which must have its own values; *ret_count: how many. Returns true if
 * damage was reported. */
static bool check_each(struct log *log, size_t most, unsigned *ret_count)
{
    const struct log_sample *sample;
    bool damaged = false;
    PDH_STATUS status;
    while ((status = log_next(log, &sample)) != (PDH_STATUS)PDH_NO_MORE_DATA) {
        damaged |= status != 0;
        if (status)
            continue;
        check_sample(sample, (unsigned)((sample->time - noon) / 10000000), most);
        ++*ret_count;
    }
    return damaged || log_losses(log)->any;
}

static void check_damaged(const struct buffer *file, unsigned whole)
{
    struct log *log = NULL;
    unsigned count = 0;
    assert_int_equal(log_open_bytes(file->data, file->len, "damaged", &log, NULL), 0);
    assert_true(check_each(log, MOST_ITEMS, &count));
    assert_in_range(count, whole - 5, whole - 1);
    log_close(log);
}

/* A record is damaged, or a buffer is missing, so that the part of a later sample follows that is
 * next by its number. The samples' lengths are the same; each has four parts. */
static void parts_of_two_samples_are_not_joined(void **state)
{
    enum { COUNT = 14, NUMBER = 135, STEP = MOST_ITEMS + 1 };
    BUFFER_AUTO file = {0};
    BUFFER_AUTO copy = {0};
    const char *path = in_folder("parts");
    (void)state;
    assert_in_range(items_of(NUMBER, MOST_ITEMS), 690, 720);
    struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, 0);
    for (unsigned i = 0; i < 2; i++) /* small, so that samples begin anywhere in a buffer */
        assert_int_equal(write_one(writer, 0, MOST_ITEMS), 0);
    for (unsigned i = 1; i < COUNT; i++)
        assert_int_equal(write_one(writer, NUMBER + i * STEP, MOST_ITEMS), 0);
    assert_int_equal(log_write_close(writer), 0);
    assert_int_equal(file_read(AT_FDCWD, path, &file), 0);
    for (size_t start = BUFFER; start + BUFFER < file.len; start += BUFFER) {
        size_t used;
        for (size_t at = start + 72; at + 72 < start + BUFFER && file.data[at + 3] == '\xC0';
             at += (used + 7) & ~(size_t)7) {
            used = (unsigned char)file.data[at] | (size_t)(unsigned char)file.data[at + 1] << 8;
            if (file.data[at + 4] != 0x22)
                continue;
            file.data[at + 3] = 0;
            check_damaged(&file, COUNT + 1);
            file.data[at + 3] = '\xC0';
        }
        buffer_clear(&copy);
        buffer_add(&copy, file.data, start);
        buffer_add(&copy, file.data + start + BUFFER, file.len - start - BUFFER);
        if (start > BUFFER)
            check_damaged(&copy, COUNT + 1);
    }
}

/* The reader has the first parts of a sample when it is overtaken. */
static void an_overtaken_reader_joins_no_parts(void **state)
{
    enum { NUMBER = 36, STEP = MOST_ITEMS + 1 };
    const char *path = in_folder("halves");
    (void)state;
    assert_in_range(items_of(NUMBER, MOST_ITEMS), 2900, 3000);
    for (unsigned last = 20; last < 22; last++) {
        struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, (20 + last % 2) * BUFFER);
        unsigned i = 0, count = 0;
        for (; i < 3; i++) /* the second half of the last sample is not in the file yet */
            assert_int_equal(write_one(writer, NUMBER + i * STEP, MOST_ITEMS), 0);
        struct log *log = open_one(path);
        check_each(log, MOST_ITEMS, &count);
        assert_int_equal(count, 2);
        for (; i < last; i++)
            assert_int_equal(write_one(writer, NUMBER + i * STEP, MOST_ITEMS), 0);
        check_each(log, MOST_ITEMS, &count);
        assert_true(count > 5 && count < last);
        assert_true(log_losses(log)->list[LOSS_BUFFER].count);
        log_close(log);
        assert_int_equal(log_write_close(writer), 0);
    }
}

/* A sample that would replace all others, or itself, is not written; later ones are. */
static void a_sample_too_large_for_the_circle_is_refused(void **state)
{
    enum { FITS = 1000, TOO_MANY = MOST_ITEMS - 1 };
    char path[128];
    unsigned count;
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("narrow"));
    struct log_writer *writer = create(path, LOG_CREATE_ALWAYS, 4 * BUFFER);
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(write_one(writer, i, FITS), 0);
        assert_int_equal((DWORD)write_one(writer, 1, TOO_MANY), PDH_LOG_FILE_TOO_SMALL);
        assert_int_equal(log_flush(writer), 0);
        unsigned first = check_samples(path, FITS, true, &count);
        assert_int_equal(first + count, i + 1);
        assert_true(count > 1 || i == 0);
    }
    assert_int_equal(log_write_close(writer), 0);
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

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_capture_is_written_again),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(an_array_with_a_status_has_no_names),
        cmocka_unit_test(each_sample_is_in_the_file),
        cmocka_unit_test(a_slow_reader_misses_nothing),
        cmocka_unit_test(a_sample_that_is_not_counted_comes_later),
        cmocka_unit_test(a_cut_file_has_its_whole_samples),
        cmocka_unit_test(a_killed_writer_loses_nothing),
        cmocka_unit_test(a_full_disk_leaves_whole_samples),
        cmocka_unit_test(samples_are_appended),
        cmocka_unit_test(samples_are_appended_to_small_buffers),
        cmocka_unit_test(uncounted_samples_are_overwritten),
        cmocka_unit_test(only_a_linear_blg_is_appended_to),
        cmocka_unit_test(a_circular_file_has_the_newest),
        cmocka_unit_test(a_circular_file_is_read_from_a_pipe),
        cmocka_unit_test(columns_change_anywhere_in_a_circular_file),
        cmocka_unit_test(an_overtaken_reader_says_so),
        cmocka_unit_test(a_circular_file_is_followed),
        cmocka_unit_test(a_circular_file_is_followed_while_it_changes),
        cmocka_unit_test(a_cut_circular_file_is_read_to_its_end),
        cmocka_unit_test(a_circular_file_with_false_heads_is_read_to_its_end),
        cmocka_unit_test(a_file_is_read_while_it_is_written),
        cmocka_unit_test(parts_of_two_samples_are_not_joined),
        cmocka_unit_test(an_overtaken_reader_joins_no_parts),
        cmocka_unit_test(a_sample_too_large_for_the_circle_is_refused),
    };
    if (count > 1)
        times = (unsigned)strtoul(arguments[1], NULL, 10);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
