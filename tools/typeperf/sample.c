/* SPDX-License-Identifier: MIT */
/* Takes samples and prints them, or lets PDH write them to a capture. The data is collected once
 * before the first sample, because rates need two samples. */
#include "typeperf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Defaults, in seconds: the time before the first sample, and the interval. */
static const double first_interval = 0.25, default_interval = 1;

struct sampling {
    const struct typeperf *opts;
    struct counters *counters;
    struct pace pace;
    unsigned long samples;
};

/* Waits for the next sample; false: there are no more. */
static bool next(struct sampling *sampling)
{
    double given = sampling->opts->interval;
    bool first = sampling->samples == 0;
    if (sampling->opts->samples && sampling->samples == sampling->opts->samples)
        return false;
    sampling->samples++;
    return pace_wait(&sampling->pace, given > 0 ? given
                                      : first   ? first_interval
                                                : default_interval);
}

/* Can sampling continue after this status? A missing instance is no error: it may appear later. */
static bool tolerable(PDH_STATUS status)
{
    return !status || (DWORD)status == PDH_NO_DATA;
}

static int begin(struct sampling *sampling)
{
    pace_begin(&sampling->pace);
    PDH_STATUS status = PdhCollectQueryData(sampling->counters->query);
    if (!tolerable(status))
        return pdh_complain("typeperf", "reading the first sample", status);
    counters_note_seen(sampling->counters, true);
    return EXIT_GOOD;
}

/* ---- printed ---- */

static LONGLONG local_now(void)
{
    const LONGLONG since_1601 = 11644473600;
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    return ((LONGLONG)now.tv_sec + parts.tm_gmtoff + since_1601) * 10000000 + now.tv_nsec / 100;
}

static double cooked(PDH_HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE value = {0};
    PDH_STATUS status =
        PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, NULL, &value);
    return status || value.CStatus > PDH_CSTATUS_NEW_DATA ? NAN : value.doubleValue;
}

static int print_samples(struct sampling *sampling, struct sheet *sheet, double *values)
{
    struct counters *counters = sampling->counters;
    while (next(sampling)) {
        LONGLONG time = local_now();
        PDH_STATUS status = PdhCollectQueryDataWithTime(counters->query, &time);
        if (!tolerable(status))
            return pdh_complain("typeperf", "reading a sample", status);
        for (size_t i = 0; i < counters->paths.count; i++)
            values[i] = status ? NAN : cooked(counters->handles[i]);
        counters_note_seen(counters, false);
        sheet_row(sheet, time, values);
        if (!sheet_flush(sheet))
            break; /* an error is reported when the file is closed */
    }
    return EXIT_GOOD;
}

/* Prints the sheet to `out`, which the caller closes. */
static int print_sheet(struct sampling *sampling, FILE *out)
{
    struct counters *counters = sampling->counters;
    const struct typeperf *opts = sampling->opts;
    struct sheet sheet = {.out = out,
                          .format = opts->format,
                          .paths = (const char *const *)counters->paths.texts,
                          .count = counters->paths.count,
                          .top = opts->top};
    double *values = calloc(sheet.count, sizeof *values);
    if (!values || !sheet_begin(&sheet))
        return free(values),
               pdh_complain("typeperf", "reading a sample", PDH_MEMORY_ALLOCATION_FAILURE);
    sheet_flush(&sheet);
    int code = begin(sampling);
    if (!code)
        code = print_samples(sampling, &sheet, values);
    sheet_end(&sheet);
    free(values);
    return code;
}

static void print_end(FILE *out)
{
    fprintf(out, "%-48s\n", "Exiting, please wait...");
    typeperf_success(out);
}

int sample_print(const struct typeperf *opts, struct counters *counters)
{
    struct sampling sampling = {.opts = opts, .counters = counters};
    pace_catch();
    FILE *out = output_file_open("typeperf", opts->output);
    if (!out)
        return output_file_code();
    bool console = opts->format->capture && !opts->output;
    if (console)
        fputc('\n', out);
    int code = print_sheet(&sampling, out);
    if (console && !code)
        print_end(out);
    if (!output_file_close("typeperf", opts->output, out))
        return EXIT_FAILED;
    return code;
}

/* ---- recorded ---- */

/* Shows progress, on terminals only. */
static void show_marker(const struct sampling *sampling)
{
    if (isatty(STDOUT_FILENO) && strcmp(sampling->opts->output, "-") != 0) {
        printf("\r[%lu] ", sampling->samples);
        fflush(stdout);
    }
}

static int record_samples(struct sampling *sampling, PDH_HLOG log)
{
    const char *file = sampling->opts->output;
    int code = begin(sampling);
    if (!code && isatty(STDOUT_FILENO) && strcmp(file, "-") != 0)
        putchar('\n');
    while (!code && next(sampling)) {
        PDH_STATUS status = PdhUpdateLogA(log, NULL);
        if (!tolerable(status))
            code = pdh_complain("typeperf", file, status);
        counters_note_seen(sampling->counters, false);
        show_marker(sampling);
    }
    return code;
}

int sample_record(const struct typeperf *opts, struct counters *counters)
{
    struct sampling sampling = {.opts = opts, .counters = counters};
    DWORD type = opts->format->capture;
    PDH_HLOG log;
    pace_catch();
    PDH_STATUS status = PdhOpenLogA(opts->output, PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_ALWAYS,
                                    &type, counters->query, 0, NULL, &log);
    if (status)
        return pdh_complain("typeperf", opts->output, status);
    int code = record_samples(&sampling, log);
    status = PdhCloseLog(log, 0);
    if (status && !code)
        code = pdh_complain("typeperf", opts->output, status);
    if (!code && strcmp(opts->output, "-") != 0) {
        fputs(isatty(STDOUT_FILENO) ? "\r" : "\n", stdout);
        print_end(stdout);
    }
    return code;
}
