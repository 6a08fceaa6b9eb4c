/* SPDX-License-Identifier: MIT */
/*
 * usage: test-killed TYPEPERF RELOG
 *
 * A thousand programs that write captures are killed at random moments: processes that log a live
 * query, processes that copy a capture, and the programs typeperf and relog. Afterwards exactly the
 * samples that were completely written can be read, and a writer that appends continues after them.
 */
#include <pdh.h>
#include <pdhmsg.h>
#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../temp.h"

enum { LIVE = 520, COPIES = 400, PROGRAMS = 80, AT_ONCE = 8 };
enum { COLUMNS = 5, SAMPLES = 3000 };

/* How many samples are certainly in the file, because PdhUpdateLog returned success for each. */
static struct shared {
    atomic_uint ready, reported;
} * shared;

static char folder[64], input[128], reference[2][128];
static const char *typeperf, *relog;
static double copying_seconds;
static unsigned cases, bad, torn, headless, lines_read;

static void complain(const char *path, const char *what, long one, long other)
{
    printf("# %s: %s: %ld, %ld\n", path, what, one, other);
    bad++;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void nap_up_to(double seconds)
{
    usleep((useconds_t)((double)random() / RAND_MAX * seconds * 1e6));
}

/* ---- files ---- */

struct text {
    char *bytes;
    size_t length;
};

static struct text read_text(const char *path)
{
    struct text text = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = file >= 0 ? lseek(file, 0, SEEK_END) : -1;
    text.bytes = calloc((size_t)(size > 0 ? size : 0) + 1, 1);
    if (size > 0 && pread(file, text.bytes, (size_t)size, 0) == size)
        text.length = (size_t)size;
    if (file >= 0)
        close(file);
    return text;
}

/* Counts the lines that end with a line end; *rest is the text after the last of them. */
static long count_lines(const struct text *text, const char **rest)
{
    long count = 0;
    *rest = text->bytes;
    for (const char *at = text->bytes;
         (at = memchr(at, '\n', text->length - (size_t)(at - text->bytes))); *rest = ++at)
        count++;
    return count;
}

/* Does the rest lack nothing but its line end? Then it has as many fields as the first line. */
static bool is_all_but_end(const struct text *text, const char *rest)
{
    size_t quotes = 0, wanted = 0;
    for (const char *at = text->bytes; *at != '\n'; at++)
        wanted += *at == '"';
    for (const char *at = rest; *at; at++)
        quotes += *at == '"';
    return wanted && quotes == wanted;
}

static void make_input(void)
{
    FILE *file = fopen(input, "w");
    if (!file)
        exit(2);
    fputs("\"(PDH-CSV 4.0) (UTC)(0)\"", file);
    for (int i = 0; i < COLUMNS; i++)
        fprintf(file, ",\"\\\\web1\\Demo(%d)\\Visitors\"", i);
    for (int row = 0; row < SAMPLES; row++) {
        fprintf(file, "\r\n\"11/21/2026 %02d:%02d:%02d.%03d\"", row / 3600, row / 60 % 60, row % 60,
                row % 1000);
        for (int i = 0; i < COLUMNS; i++)
            fprintf(file, ",\"%.17g\"", row * 1.1 + i);
    }
    fputs("\r\n", file);
    fclose(file);
}

/* ---- writers ---- */

static PDH_HQUERY open_query(const char *source, const char *path)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    if (PdhOpenQueryA(source, 0, &query) || PdhAddCounterA(query, path, 0, &counter))
        exit(2);
    return query;
}

/* Calls PdhUpdateLog until the source of samples ends; live data never ends. */
static int write_log(PDH_HQUERY query, const char *path, DWORD type, DWORD access)
{
    PDH_HLOG log;
    PDH_STATUS status =
        PdhOpenLogA(path, PDH_LOG_WRITE_ACCESS | access, &type, query, 0, NULL, &log);
    if (status)
        return 1;
    while (!(status = PdhUpdateLogA(log, NULL)))
        atomic_fetch_add(&shared->reported, 1);
    PdhCloseLog(log, 0);
    return (DWORD)status == PDH_NO_MORE_DATA ? 0 : 1;
}

static int copy(const char *path, DWORD type)
{
    PDH_HQUERY query = open_query(input, "\\\\web1\\Demo(*)\\Visitors");
    int code = write_log(query, path, type, PDH_LOG_CREATE_ALWAYS);
    PdhCloseQuery(query);
    return code;
}

/* ---- judging ---- */

/* Returns how many samples can be read; -1: the capture cannot be opened. */
static long samples_of(const char *path, const char *counters)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_FMT_COUNTERVALUE value;
    long count = 0;
    if (PdhOpenQueryA(path, 0, &query))
        return -1;
    PDH_STATUS status = PdhAddCounterA(query, counters, 0, &counter);
    while (!status && !(status = PdhCollectQueryData(query)))
        count++;
    if (!status || (DWORD)status == PDH_NO_MORE_DATA || (DWORD)status == PDH_NO_DATA)
        status = 0;
    PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value);
    PdhCloseQuery(query);
    return status ? -1 : count;
}

/* Checks a capture: each complete line must be read as a sample; a last line that lacks only its
 * line end may be. */
static void judge(const char *path, const char *counters, long reported, const struct text *wanted)
{
    struct text text = read_text(path);
    const char *rest;
    long lines = count_lines(&text, &rest), samples = samples_of(path, counters);
    bool almost = lines && is_all_but_end(&text, rest);
    cases++;
    torn += *rest != '\0';
    /* without its first line the file is no capture; then no sample may have been reported as
     * written */
    if (lines == 0) {
        headless++;
        if (reported > 0 || (samples > 0 && !almost))
            complain(path, "no head, but told and read", reported, samples);
    } else {
        lines_read += (unsigned)lines - 1;
        if (samples != lines - 1 && !(almost && samples == lines))
            complain(path, "whole lines and samples read", lines - 1, samples);
        if (lines - 1 < reported)
            complain(path, "reported as written and whole lines", reported, lines - 1);
    }
    if (wanted && (text.length > wanted->length || memcmp(text.bytes, wanted->bytes, text.length)))
        complain(path, "differs from what should be written", (long)text.length,
                 (long)wanted->length);
    free(text.bytes);
}

/* A writer that appends must remove the incomplete last line, and nothing else. */
static void judge_appending(PDH_HQUERY query, const char *path, DWORD type)
{
    struct text before = read_text(path), after;
    const char *rest;
    PDH_HLOG log;
    long lines = count_lines(&before, &rest), more;
    size_t whole = (size_t)(rest - before.bytes);
    PDH_STATUS status =
        PdhOpenLogA(path, PDH_LOG_WRITE_ACCESS | PDH_LOG_OPEN_ALWAYS | PDH_LOG_OPT_APPEND, &type,
                    query, 0, NULL, &log);
    if (!status) {
        status = PdhUpdateLogA(log, NULL);
        PdhCloseLog(log, 0);
    }
    after = read_text(path);
    more = count_lines(&after, &rest);
    if (status || more != (lines ? lines + 1 : 2) || *rest ||
        memcmp(before.bytes, after.bytes, whole))
        complain(path, "appended to lines", lines, more);
    free(before.bytes);
    free(after.bytes);
}

/* ---- killing ---- */

static void end(pid_t child)
{
    int status = 0;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    /* the child may have ended before it was killed */
    if (!WIFSIGNALED(status) && WEXITSTATUS(status))
        complain("a writer", "failed by itself", WEXITSTATUS(status), 0);
}

static DWORD type_of(int number)
{
    return number % 2 ? PDH_LOG_TYPE_TSV : PDH_LOG_TYPE_CSV;
}

static void path_of(char *path, size_t size, const char *kind, int number)
{
    snprintf(path, size, "%s/%s%d.%s", folder, kind, number % 2, number % 2 ? "tsv" : "csv");
}

static void await_first_line(void)
{
    double until = now() + 10;
    while (!atomic_load(&shared->reported) && now() < until)
        usleep(100);
}

static void kill_live(PDH_HQUERY query, int number)
{
    char path[128];
    path_of(path, sizeof path, "live", number);
    unlink(path);
    atomic_store(&shared->reported, 0);
    pid_t child = fork();
    if (child == 0)
        _exit(write_log(query, path, type_of(number), PDH_LOG_CREATE_ALWAYS));
    if (number % 10) /* nine of ten are killed after their first line, one while it starts */
        await_first_line();
    nap_up_to(0.004);
    end(child);
    judge(path, "\\System\\Processes", atomic_load(&shared->reported), NULL);
    if (number % 7 == 0)
        judge_appending(query, path, type_of(number));
}

static void kill_copy(const struct text *wanted, int number)
{
    char path[128];
    path_of(path, sizeof path, "copy", number);
    unlink(path);
    pid_t child = fork();
    if (child == 0)
        _exit(copy(path, type_of(number)));
    nap_up_to(copying_seconds * 1.1);
    end(child);
    judge(path, "\\\\web1\\Demo(0)\\Visitors", 0, wanted);
}

static pid_t start_program(const char *path, int number)
{
    const char *format = number % 2 ? "TSV" : "CSV";
    pid_t child = fork();
    if (child)
        return child;
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    if (number & 2)
        execl(relog, relog, input, "-y", "-f", format, "-o", path, (char *)NULL);
    else
        execl(typeperf, typeperf, "\\System\\Processes", "-si", "0.002", "-y", "-f", format, "-o",
              path, (char *)NULL);
    _exit(127);
}

/* Kills several programs at the same time, because each takes long to start. */
static void kill_programs(const struct text *wanted, int first)
{
    pid_t children[AT_ONCE];
    char path[AT_ONCE][128];
    for (int i = 0; i < AT_ONCE; i++) {
        snprintf(path[i], sizeof path[i], "%s/program%d", folder, i);
        unlink(path[i]);
        children[i] = start_program(path[i], first + i);
    }
    usleep(100000);
    for (int i = 0; i < AT_ONCE; i++) {
        nap_up_to(0.1);
        end(children[i]);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        bool copies = (first + i) & 2;
        judge(path[i], copies ? "\\\\web1\\Demo(0)\\Visitors" : "\\System\\Processes", 0,
              copies ? &wanted[(first + i) % 2] : NULL);
    }
}

/* ---- main ---- */

static void report(const char *what)
{
    static int number;
    printf("%sok %d - %s: %u writers killed, %u in the middle of a line, %u before the first, %u "
           "whole lines read back\n",
           bad ? "not " : "", ++number, what, cases, torn, headless, lines_read);
    fflush(stdout);
    cases = torn = headless = lines_read = 0;
}

static void make_references(struct text *wanted)
{
    make_input();
    for (int i = 0; i < 2; i++) {
        double begin = now();
        path_of(reference[i], sizeof reference[i], "reference", i);
        if (copy(reference[i], type_of(i)))
            exit(2);
        copying_seconds = now() - begin;
        wanted[i] = read_text(reference[i]);
    }
}

int main(int argc, char **argv)
{
    struct text wanted[2];
    if (argc != 3)
        return 2;
    typeperf = argv[1];
    relog = argv[2];
    temp_make(folder);
    setenv("OPENPERFLIB_ROOT", folder, 1);
    setenv("TZ", "UTC0", 1);
    srandom((unsigned)getpid());
    snprintf(input, sizeof input, "%s/input.csv", folder);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    make_references(wanted);
    puts("1..3");
    PDH_HQUERY query = open_query(NULL, "\\System\\Processes");
    PdhCollectQueryData(query);
    for (int i = 0; i < LIVE; i++)
        kill_live(query, i);
    PdhCloseQuery(query);
    report("a live query's log");
    for (int i = 0; i < COPIES; i++)
        kill_copy(&wanted[i % 2], i);
    report("a capture being copied");
    for (int i = 0; i < PROGRAMS; i += AT_ONCE)
        kill_programs(wanted, i);
    report("typeperf and relog");
    free(wanted[0].bytes);
    free(wanted[1].bytes);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    temp_remove(folder);
    return bad > 0;
}
