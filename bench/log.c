/* SPDX-License-Identifier: MIT */
/*
 * The cost of converting captures: a BLG of about 100 MB, made from a recording by repeating its
 * samples, is converted to CSV in /dev/null. Reading, cooking and formatting are also measured
 * alone, and our formatting beside printf, so that the ratios are right on a busy machine.
 */
#include "log/log.h"
#include "pdh/pdh.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 4096, MEGA = 1000000, TARGET_MB = 100, TARGET_KB = 64 << 10, NUMBERS = 1 << 20 };

static const char *made = "/var/tmp/openperflib-bench-XXXXXX";
static char made_path[64];

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fail(const char *what)
{
    fprintf(stderr, "bench-log: %s\n", what);
    exit(1);
}

/* Makes a capture: head and catalogue once, then the buffer with the samples repeatedly. Returns
 * its size in bytes. */
static uint64_t make_capture(const char *from, size_t mega)
{
    BUFFER_AUTO whole = {0};
    if (file_read(AT_FDCWD, from, &whole) || whole.len != 131072)
        fail("the recording cannot be read");
    strcpy(made_path, made);
    int fd = mkstemp(made_path);
    if (fd < 0 || write(fd, whole.data, whole.len) != (ssize_t)whole.len)
        fail("no space for the capture");
    /* fill a buffer with the samples of the recording, repeated, without its catalogue */
    enum { BUFFER = 65536, FIRST = 0x438, SAMPLE = 816 };
    char *buffer = whole.data + BUFFER;
    size_t used = 72;
    static char filled[BUFFER];
    memcpy(filled, buffer, 72);
    for (size_t i = 0; used + SAMPLE <= BUFFER; i++, used += SAMPLE)
        memcpy(filled + used, buffer + FIRST + i % 25 * SAMPLE, SAMPLE);
    memcpy(filled + 48, &(uint32_t){(uint32_t)used}, 4);
    uint64_t size = whole.len;
    for (; size < mega * MEGA; size += BUFFER)
        if (write(fd, filled, BUFFER) != BUFFER)
            fail("no space for the capture");
    close(fd);
    return size;
}

/* ---- the work ---- */

struct flat {
    size_t count;
    PDH_RAW_COUNTER *now, *before;
    double *numbers;
    const char **paths;
    const struct log_column **columns;
};

static void make_flat(struct flat *flat, size_t count)
{
    flat->count = count;
    flat->now = calloc(count, sizeof(*flat->now));
    flat->before = calloc(count, sizeof(*flat->before));
    flat->numbers = calloc(count, sizeof(*flat->numbers));
    flat->paths = calloc(count, sizeof(*flat->paths));
    flat->columns = calloc(count, sizeof(*flat->columns));
    if (!flat->now || !flat->before || !flat->numbers || !flat->paths || !flat->columns)
        fail("no memory");
}

static void drop_flat(struct flat *flat)
{
    free(flat->now);
    free(flat->before);
    free(flat->numbers);
    free(flat->paths);
    free(flat->columns);
}

static size_t flatten(struct log *log, const struct log_sample *sample, struct flat *flat)
{
    size_t used = 0;
    for (size_t i = 0; i < log_columns(log); i++) {
        const struct log_value *value = &sample->values[i];
        size_t items = value->kind == LOG_ARRAY ? value->count : 1;
        for (size_t k = 0; k < items && used < flat->count; k++, used++) {
            flat->columns[used] = log_column(log, i);
            flat->paths[used] = flat->columns[used]->path;
            flat->now[used] = value->raw;
            if (value->kind != LOG_ARRAY)
                continue;
            flat->now[used].FirstValue = value->items[k].first;
            flat->now[used].SecondValue = value->items[k].second;
            flat->now[used].MultiCount = value->items[k].multi;
        }
    }
    return used;
}

static void cook(struct flat *flat, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct cooked cooked;
        PDH_STATUS status = formula_cook(flat->columns[i]->type, &flat->columns[i]->time_base,
                                         &flat->now[i], &flat->before[i], &cooked);
        flat->numbers[i] = status ? NAN : cooked.is_whole ? (double)cooked.whole : cooked.number;
        flat->before[i] = flat->now[i];
    }
}

enum depth { READ, COOK, WRITE };

static void convert(enum depth depth)
{
    const char *path = made_path;
    struct log *log = NULL;
    struct log_writer *writer = NULL;
    struct flat flat;
    const struct log_sample *sample;
    if (log_open(&path, 1, &log, NULL))
        fail("the capture cannot be opened");
    make_flat(&flat, SIZE);
    while (log_next(log, &sample) == 0) {
        if (depth == READ)
            continue;
        size_t count = flatten(log, sample, &flat);
        cook(&flat, count);
        struct log_header header = {LOG_CSV, "Zone", 0, flat.paths, count, NULL};
        if (depth == WRITE && !writer &&
            log_create("/dev/null", LOG_CREATE_ALWAYS, &header, &writer, NULL))
            fail("/dev/null cannot be written");
        if (depth == WRITE)
            log_write(writer, sample->time, flat.numbers, NULL, NULL);
    }
    if (writer)
        log_write_close(writer);
    log_close(log);
    drop_flat(&flat);
}

static double measure(const char *what, enum depth depth, uint64_t size)
{
    double start = now_s();
    convert(depth);
    double speed = (double)size / MEGA / (now_s() - start);
    printf("%-34s %8.0f MB/s of input\n", what, speed);
    return speed;
}

/* ---- numbers ---- */

static double numbers[NUMBERS];

static double time_numbers(bool printf_too)
{
    char text[64];
    size_t sum = 0;
    double start = now_s();
    for (size_t i = 0; i < NUMBERS; i++)
        sum += printf_too ? (size_t)snprintf(text, sizeof(text), "%.17g", numbers[i])
                          : number_shortest17(numbers[i], text);
    double ns = (now_s() - start) / NUMBERS * 1e9;
    return sum ? ns : 0;
}

/* ---- the program ---- */

/* Runs relog as a process; prints its CPU time in seconds and its peak memory. `extension`, such as
 * ".zst", is that of a file beside the capture; NULL: the output is /dev/null. */
static void run_relog(const char *relog, const char *format, const char *extension, bool half,
                      uint64_t size)
{
    char output[sizeof made_path + 8];
    snprintf(output, sizeof output, "%s%s", extension ? made_path : "/dev/null",
             extension ? extension : "");
    struct rusage usage;
    int status;
    fflush(stdout);
    pid_t process = fork();
    if (process == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(127);
        execl(relog, "relog", made_path, "-y", "-f", format, "-o", output,
              half ? "-t" : (char *)NULL, "2", (char *)NULL);
        _exit(127);
    }
    if (process < 0 || wait4(process, &status, 0, &usage) != process || status)
        fail("relog fails");
    double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    if (extension)
        unlink(output);
    printf("relog -f %-5s %-19s %8.2f s, %.0f MB/s, %ld KB: %s\n", format,
           extension ? extension
           : half    ? "-t 2"
                     : "",
           seconds, (double)size / MEGA / seconds, usage.ru_maxrss,
           usage.ru_maxrss < TARGET_KB ? "below 64 MB" : "NOT below 64 MB");
}

static void run_all(const char *relog, uint64_t size)
{
    static const char *const formats[] = {"CSV", "TSV", "jsonl", "json"};
    for (size_t i = 0; i < COUNT(formats); i++)
        run_relog(relog, formats[i], NULL, false, size);
    run_relog(relog, "CSV", NULL, true, size);
    run_relog(relog, "BIN", ".blg", false, size);
    run_relog(relog, "BIN", ".zst", false, size);
}

static void compare_numbers(void)
{
    uint64_t seed = 88172645463325252;
    for (size_t i = 0; i < NUMBERS; i++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        numbers[i] = (double)(seed >> 20) / (double)(1 + (seed & 0xFFFFF));
    }
    double ours = time_numbers(false), theirs = time_numbers(true);
    printf("%-34s %8.1f ns, printf %.1f ns: %.1f times as fast\n", "a number as text", ours, theirs,
           theirs / ours);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4 || strcmp(argv[1], "--help") == 0) {
        bool wants_help = argc > 1 && strcmp(argv[1], "--help") == 0;
        fputs(
            "usage: bench-log CAPTURE [RELOG [MB]]\n\n"
            "The cost of reading, cooking and writing. CAPTURE is\n"
            "tests/golden/perfmon-logs/CounterSamples.blg; its samples are repeated to 100 MB, or\n"
            "MB, in /var/tmp. With the path of relog also the cost of the whole program.\n",
            wants_help ? stdout : stderr);
        return wants_help ? 0 : 2;
    }
    size_t mega = argc > 3 ? strtoul(argv[3], NULL, 10) : TARGET_MB;
    uint64_t size = make_capture(argv[1], mega);
    measure("read", READ, size);
    measure("read and cook", COOK, size);
    double speed = measure("BLG to CSV", WRITE, size);
    compare_numbers();
    if (argc > 2)
        run_all(argv[2], size);
    unlink(made_path);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-34s %8ld KB\n", "memory", usage.ru_maxrss);
    printf("at least %d MB/s: %s; below %d KB: %s\n", TARGET_MB, speed >= TARGET_MB ? "yes" : "NO",
           TARGET_KB, usage.ru_maxrss < TARGET_KB ? "yes" : "NO");
    return 0;
}
