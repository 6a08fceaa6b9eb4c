/* SPDX-License-Identifier: MIT */
/*
 * Reads one capture, in a separate process without rights: even if a malicious capture takes over
 * this process, it reaches no other file, no network and no other process. Standard input is the
 * capture, standard output the answer, and descriptor 3 has the paths of the counters, one in each
 * line. The reading is done by parts of relog.
 */
#include "serve.h"

#include "../common/json.h"
#include "../model/internal.h"
#include "../relog/relog.h"

#include <openperflib/unstable.h>

#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* PLACES_MOST: the maximum for all lines together; a place, a bucket, has 32 bytes */
enum { POINTS_MOST = 4000, PLACES_MOST = 1 << 20, COUNTERS_MOST = 20000 };

/* ---- no rights ---- */

static void limit(int what, rlim_t most)
{
    const struct rlimit limit = {most, most};
    setrlimit((__rlimit_resource_t)what, &limit);
}

/* Allows the system calls that reading needs; every other call fails. The numbers are those of the
 * processor type of this build; calls of another type (32-bit calls on a 64-bit system) are
 * refused. */
static bool allow_few_calls(void)
{
    static const unsigned short calls[] = {
        SYS_read,         SYS_pread64,       SYS_write,        SYS_pwrite64,
        SYS_lseek,        SYS_close,         SYS_munmap,       SYS_mremap,
        SYS_mprotect,     SYS_madvise,       SYS_brk,          SYS_futex,
        SYS_exit_group,   SYS_exit,          SYS_rt_sigreturn, SYS_rt_sigprocmask,
        SYS_sigaltstack,  SYS_clock_gettime, SYS_gettimeofday, SYS_getpid,
        SYS_gettid,       SYS_sched_yield,   SYS_getrandom,    SYS_ftruncate,
        SYS_fstat,        SYS_flock,         SYS_fcntl,        SYS_restart_syscall,
#ifdef SYS_newfstatat /* libc uses it for fstat; it does not read the content of other files */
        SYS_newfstatat,
#endif
#ifdef SYS_mmap2
        SYS_fstatat64,    SYS_statx,         SYS_mmap2,        SYS_fstat64,
        SYS_fcntl64,      SYS__llseek,       SYS_ftruncate64,  SYS_clock_gettime64,
        SYS_futex_time64,
#else
        SYS_mmap,
#endif
    };
#if defined(__x86_64__)
    const uint32_t kind = AUDIT_ARCH_X86_64;
#elif defined(__i386__)
    const uint32_t kind = AUDIT_ARCH_I386;
#elif defined(__aarch64__)
    const uint32_t kind = AUDIT_ARCH_AARCH64;
#else
    const uint32_t kind = 0; /* not tested on this processor type: every call is refused */
#endif
    enum { COUNT = sizeof calls / sizeof *calls };
    struct sock_filter lines[COUNT + 6] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kind, 0, COUNT + 1),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    for (unsigned i = 0; i < COUNT; i++)
        lines[3 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i],
                                                    (unsigned char)(COUNT - i), 0);
    lines[3 + COUNT] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    lines[4 + COUNT] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {COUNT + 5, lines};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Gives up all rights. What needs other files is done first. False: some right could not be given
 * up. */
static bool drop_rights(void)
{
    enum { NO_USER = 65534 };
    DWORD size = 0;
    tzset();
    dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    PdhLookupPerfNameByIndexA(NULL, 2, NULL, &size); /* loads the names of this machine */
    /* if memory runs out, the kernel kills this process before the server */
    FILE *killed_first = fopen("/proc/self/oom_score_adj", "we");
    if (killed_first) {
        fputs("1000", killed_first);
        fclose(killed_first);
    }
    limit(RLIMIT_CPU, 20);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, CAPTURE_MOST);
#if !defined(__SANITIZE_ADDRESS__)
    limit(RLIMIT_AS, (rlim_t)512 << 20);
#endif
    if (geteuid() == 0 && (setgroups(0, NULL) || setresgid(NO_USER, NO_USER, NO_USER) ||
                           setresuid(NO_USER, NO_USER, NO_USER)))
        return false;
    limit(RLIMIT_NPROC, 0);
    limit(RLIMIT_NOFILE, 16);
    return allow_few_calls();
}

/* ---- values ---- */

struct reading {
    struct input_log source;
    struct bucket *all;   /* of each counter */
    double *now;          /* the values of the last sample */
    struct bucket *lines; /* for each counter, `points` places */
    int64_t *times;       /* time of the first sample of each place */
    /* number of places of a line, an even number; 0: no lines were requested */
    size_t points;
    /* `step`: number of samples that share a place; `seen`: number of samples that were read */
    size_t step, seen;
    int64_t first, last;
};

/* Converts milliseconds since 1970 UTC to a local time; 0: no limit. */
static LONGLONG local_time(const char *text)
{
    int64_t time = strtoll(text, NULL, 10);
    return time > 0 ? local_of_utc(time_of_javascript(time)) : 0;
}

/* When all places are used: joins them in pairs, so that half of them are free. */
static void join_places(struct reading *reading)
{
    size_t half = reading->points / 2;
    for (size_t c = 0; c < reading->source.paths.count; c++) {
        struct bucket *line = reading->lines + c * reading->points;
        for (size_t i = 0; i < half; i++) {
            struct bucket joined = line[2 * i];
            bucket_add(&joined, &line[2 * i + 1]);
            line[i] = joined;
        }
        memset(line + half, 0, half * sizeof *line);
    }
    for (size_t i = 0; i < half; i++)
        reading->times[i] = reading->times[2 * i];
    reading->step *= 2;
}

static void take(void *context, LONGLONG time)
{
    struct reading *reading = context;
    size_t points = reading->points;
    if (points && reading->seen / reading->step == points)
        join_places(reading);
    size_t at = reading->seen / reading->step;
    reading->last = javascript_time(utc_of_local(time));
    reading->first = reading->seen ? reading->first : reading->last;
    if (points && reading->seen % reading->step == 0)
        reading->times[at] = reading->last;
    for (size_t c = 0; c < reading->source.paths.count; c++) {
        double value = reading->now[c] = value_now(reading->source.handles[c]);
        const struct bucket one = {value, value, value, isfinite(value)};
        bucket_add(&reading->all[c], &one);
        if (points)
            bucket_add(&reading->lines[c * points + at], &one);
    }
    reading->seen++;
}

/* ---- answers ---- */

/* Writes the times of the samples, and the messages of the reading, which were printed on standard
 * error, a file. */
static void write_extent(struct json *json, int64_t first, int64_t last, size_t samples)
{
    char loss[4096] = "";
    fflush(stderr);
    if (pread(STDERR_FILENO, loss, sizeof loss - 1, 0) < 0)
        *loss = '\0';
    json_integer(json, "first", first);
    json_integer(json, "last", last);
    json_integer(json, "samples", (int64_t)samples);
    json_string(json, "loss", loss);
}

static void write_counter(struct json *json, PDH_HCOUNTER handle, const char *path)
{
    struct view_counter counter = {0};
    DWORD size = 0;
    PdhGetCounterInfoA(handle, FALSE, &size, NULL);
    PDH_COUNTER_INFO_A *info = calloc(1, size + 1);
    if (!info || PdhGetCounterInfoA(handle, FALSE, &size, info))
        size = 0;
    counter.now.definition.CounterType = size ? info->dwType : 0;
    view_describe(&counter, 0, strrchr(path, '\\') + 1);
    json_open(json, NULL, '{');
    json_string(json, "path", path);
    json_bool(json, "text", size && (info->dwType & 0xc00) == PERF_TYPE_TEXT);
    write_unit(json, &counter);
    json_integer(json, "scale", size ? info->lDefaultScale : 0);
    json_close(json, '}');
    free(info);
}

static int list_counters(struct input_log *source, const struct relog *opts, struct json *json)
{
    const PDH_TIME_INFO *extent = &source->extent;
    int code = source_add(source, opts);
    write_extent(json, javascript_time(utc_of_local(extent->StartTime)),
                 javascript_time(utc_of_local(extent->EndTime)), extent->SampleCount);
    json_open(json, "counters", '[');
    for (size_t i = 0; !code && i < source->paths.count; i++)
        write_counter(json, source->handles[i], source->shown.texts[i]);
    json_close(json, ']');
    return code;
}

static void write_line(struct json *json, const struct reading *reading, size_t counter)
{
    const struct bucket *line = reading->lines + counter * reading->points;
    size_t count = (reading->seen + reading->step - 1) / reading->step;
    static const char *const keys[] = {"line", "low", "high"};
    for (enum figure figure = AVERAGE; figure <= (reading->step > 1 ? MOST : AVERAGE); figure++) {
        json_open(json, keys[figure], '[');
        for (size_t i = 0; i < count; i++)
            json_double(json, NULL, bucket_figure(&line[i], figure));
        json_close(json, ']');
    }
}

static bool take_text(void *context, const char *instance, const char *counter, const char *text)
{
    json_string(context, "text", text);
    return false;
}

static void write_series(struct json *json, const struct reading *reading)
{
    json_open(json, "times", '[');
    for (size_t i = 0; reading->points && i * reading->step < reading->seen; i++)
        json_integer(json, NULL, reading->times[i]);
    json_close(json, ']');
    json_open(json, "series", '[');
    for (size_t c = 0; c < reading->source.paths.count; c++) {
        const struct bucket *all = &reading->all[c];
        json_open(json, NULL, '{');
        json_string(json, "path", reading->source.shown.texts[c]);
        json_double(json, "now", reading->seen ? reading->now[c] : NAN);
        for (enum figure figure = AVERAGE; figure <= MOST; figure++)
            json_double(json, figure_keys[figure], bucket_figure(all, figure));
        if (isnan(reading->now[c]))
            opl_counter_texts(reading->source.handles[c], take_text, json);
        if (reading->points)
            write_line(json, reading, c);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static int read_values(struct input_log *source, const struct relog *opts, struct json *json,
                       size_t points)
{
    size_t count = source->paths.count;
    struct reading reading = {.source = *source, .step = 1};
    if (count > COUNTERS_MOST) {
        fprintf(stderr, "These are %zu counters; at most %d can be read at once.\n", count,
                COUNTERS_MOST);
        return READER_NOTHING;
    }
    points = points < POINTS_MOST ? points : POINTS_MOST;
    points = points * count < PLACES_MOST ? points : PLACES_MOST / count;
    reading.points = points & ~(size_t)1;
    reading.all = calloc(count, sizeof *reading.all);
    reading.now = calloc(count, sizeof *reading.now);
    reading.lines = calloc(count * points + 1, sizeof *reading.lines);
    reading.times = calloc(points + 1, sizeof *reading.times);
    if (!reading.all || !reading.now || !reading.lines || !reading.times)
        return READER_NOTHING;
    int code = source_read(&reading.source, opts, take, &reading);
    *source = reading.source;
    write_extent(json, reading.first, reading.last, reading.seen);
    write_series(json, &reading);
    return reading.seen ? EXIT_GOOD : code;
}

/* ---- */

/* `arguments`: "counters", "values", "csv" or "blg"; the first and the last time in ms since 1970
 * (0: no limit); the number of points of a line. */
void reader_main(char **arguments)
{
    static char input[] = "-", *inputs[] = {input};
    const char *what = arguments[0];
    bool binary = !strcmp(what, "blg"), writes = binary || !strcmp(what, "csv");
    struct relog opts = {
        .inputs = {.texts = inputs, .count = 1},
          .output = input, .yes = true
    };
    struct input_log source = {0};
    struct json json = {.out = stdout, .flat = true};
    if (!text_list_read(&opts.wanted, "/proc/self/fd/3") || !drop_rights()) {
        fputs("The rights of the reading process could not be given up.\n", stderr);
        _exit(READER_NOTHING);
    }
    opts.binary = binary;
    opts.format = sheet_format_of(binary ? "BIN" : "CSV");
    opts.begin = local_time(arguments[1]);
    opts.end = local_time(arguments[2]);
    int code = source_open(&source, &opts);
    if (!code && writes) {
        code = write_output(&opts, &source);
    } else if (!code) {
        json_open(&json, NULL, '{');
        code = !strcmp(what, "values")
                   ? read_values(&source, &opts, &json, strtoul(arguments[3], NULL, 10))
                   : list_counters(&source, &opts, &json);
        json_close(&json, '}');
    }
    fflush(stdout);
    fflush(stderr);
    _exit(code); /* the memory is not freed, because the process ends */
}
