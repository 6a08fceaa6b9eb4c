/* SPDX-License-Identifier: MIT */
/* Writes samples value by value: for JSON and tables, -t, --merge and --follow. */
#include "relog.h"

#include "../view/text.h"

#include <openperflib/unstable.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --merge joins samples of several files within half a second to one line. */
static const LONGLONG join_span = 5000000;
static const double follow_seconds = 0.25;

struct sheet_rows {
    const struct relog *opts;
    struct input_log *source;
    struct relog_report *report;
    struct sheet sheet;      /* in CSV and TSV only its count is used */
    opl_rows *file;          /* CSV and TSV; NULL: another format */
    PDH_STATUS failed;       /* why a row was not written */
    PDH_RAW_COUNTER *before; /* values of the last kept sample, for --every */
    struct mean {
        /* the sum of each value times its interval, and the sum of the intervals */
        double sum, span;
    } * means;          /* sums since the last kept sample; NULL: without --average */
    LONGLONG mean_time; /* time of the last added sample */
    double *values, *pending;
    char **texts, **pending_texts; /* those of text counters; the others are NULL */
    LONGLONG time, pending_time;   /* pending_time 0: nothing is pending */
    unsigned long seen;
    bool torn; /* the capture ends in the middle of a sample */
};

/* ---- values ---- */

enum { WHOLE = PDH_FMT_DOUBLE | PDH_FMT_NOCAP100 | PDH_FMT_NOSCALE };

static double usable(PDH_STATUS status, const PDH_FMT_COUNTERVALUE *value)
{
    return status || value->CStatus > PDH_CSTATUS_NEW_DATA ? NAN : value->doubleValue;
}

double value_now(PDH_HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE value = {0};
    PDH_STATUS status = PdhGetFormattedCounterValue(counter, WHOLE, NULL, &value);
    return usable(status, &value);
}

/* Returns the value for the time between the last kept sample and this one. Values that are text in
 * the capture have no raw values. */
static double value_since(PDH_HCOUNTER counter, PDH_RAW_COUNTER *before)
{
    PDH_FMT_COUNTERVALUE value = {0};
    PDH_RAW_COUNTER now = {0};
    DWORD type = 0;
    PDH_STATUS status = PdhGetRawCounterValue(counter, &type, &now);
    if (status || !type)
        return value_now(counter);
    bool first = !before->TimeStamp.dwHighDateTime && !before->TimeStamp.dwLowDateTime;
    status = first ? PdhGetFormattedCounterValue(counter, WHOLE, NULL, &value)
                   : PdhCalculateCounterFromRawValue(counter, WHOLE, &now, before, &value);
    *before = now;
    return usable(status, &value);
}

/* Is the counter's value that of a single moment, or a text? Then its mean must be summed up from
 * all samples. Values of other types are differences between two samples, so the value between two
 * kept samples is the mean already. */
static bool is_momentary(PDH_HCOUNTER counter)
{
    PDH_RAW_COUNTER raw;
    DWORD type = PERF_TYPE_COUNTER;
    PdhGetRawCounterValue(counter, &type, &raw);
    return !(type & PERF_TYPE_ZERO) || type == PERF_RAW_FRACTION || type == PERF_LARGE_RAW_FRACTION;
}

/* Adds the sample's values to the sums. A value's weight is the interval that ends with its
 * sample. */
static void add_to_means(struct sheet_rows *rows)
{
    LONGLONG last = rows->mean_time ? rows->mean_time : rows->time;
    double span = rows->time > last ? (double)(rows->time - last) : 0;
    rows->mean_time = rows->time;
    for (size_t i = 0; span > 0 && i < rows->sheet.count; i++) {
        PDH_HCOUNTER counter = rows->source->handles[i];
        double value = is_momentary(counter) ? value_now(counter) : NAN;
        if (isnan(value))
            continue;
        rows->means[i].sum += value * span;
        rows->means[i].span += span;
    }
}

static double value_of(struct sheet_rows *rows, size_t i)
{
    PDH_HCOUNTER counter = rows->source->handles[i];
    if (rows->opts->every < 2)
        return value_now(counter);
    if (!rows->means || !rows->means[i].span)
        return value_since(counter, &rows->before[i]);
    double mean = rows->means[i].sum / rows->means[i].span;
    rows->means[i] = (struct mean){0};
    return mean;
}

static bool keep_text(void *ret, const char *instance, const char *counter, const char *text)
{
    (void)instance, (void)counter;
    *(char **)ret = strdup(text);
    return false;
}

static void take_values(struct sheet_rows *rows)
{
    for (size_t i = 0; i < rows->sheet.count; i++) {
        rows->values[i] = value_of(rows, i);
        free(rows->texts[i]);
        rows->texts[i] = NULL;
        if (isnan(rows->values[i]))
            opl_counter_texts(rows->source->handles[i], keep_text, &rows->texts[i]);
    }
}

/* ---- lines ---- */

static void flush(struct sheet_rows *rows)
{
    if (!rows->file)
        sheet_flush(&rows->sheet);
    else if (!rows->failed)
        rows->failed = (PDH_STATUS)opl_rows_flush(rows->file);
}

static void print(struct sheet_rows *rows, LONGLONG time, const double *values, char *const *texts)
{
    struct relog_report *report = rows->report;
    report->first = report->samples ? report->first : time;
    report->last = time;
    report->samples++;
    rows->sheet.texts = texts;
    if (!rows->failed && rows->file)
        rows->failed =
            (PDH_STATUS)opl_rows_add(rows->file, time, values, (const char *const *)texts);
    else if (!rows->failed && !sheet_row(&rows->sheet, time, values))
        rows->failed = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (rows->opts->flows)
        flush(rows);
    if (report_due(rows->opts, rows->source))
        report_progress(rows->source, time);
}

static void print_pending(struct sheet_rows *rows)
{
    if (rows->pending_time)
        print(rows, rows->pending_time, rows->pending, rows->pending_texts);
    rows->pending_time = 0;
}

/* Can the sample be joined with the pending sample? No, if a counter has a value in both. */
static bool belongs(const struct sheet_rows *rows)
{
    if (!rows->pending_time || rows->time - rows->pending_time > join_span)
        return false;
    for (size_t i = 0; i < rows->sheet.count; i++)
        if ((!isnan(rows->pending[i]) && !isnan(rows->values[i])) ||
            (rows->pending_texts[i] && rows->texts[i]))
            return false;
    return true;
}

static void join(struct sheet_rows *rows)
{
    bool joined = belongs(rows);
    if (!joined) {
        print_pending(rows);
        rows->pending_time = rows->time;
    }
    for (size_t i = 0; i < rows->sheet.count; i++) {
        if (!joined || isnan(rows->pending[i]))
            rows->pending[i] = rows->values[i];
        if (joined && !rows->texts[i])
            continue;
        free(rows->pending_texts[i]);
        rows->pending_texts[i] = rows->texts[i];
        rows->texts[i] = NULL;
    }
}

/* ---- the samples ---- */

/* Reads the next sample; with --follow waits for it at the file's end. False: there are no more. */
static bool next(struct sheet_rows *rows, PDH_STATUS *ret_status)
{
    struct pace pace;
    *ret_status = PdhCollectQueryDataWithTime(rows->source->query, &rows->time);
    if (source_ended(*ret_status) && rows->opts->follow && !rows->opts->flows) {
        pace_begin(&pace);
        print_pending(rows);
        flush(rows);
        while (source_ended(*ret_status) && pace_wait(&pace, follow_seconds))
            *ret_status = PdhCollectQueryDataWithTime(rows->source->query, &rows->time);
    }
    rows->torn = source_ended(*ret_status) && !pace_stopped() && source_end(rows->source);
    if (pace_stopped() || source_ended(*ret_status))
        *ret_status = 0, rows->time = 0;
    return !*ret_status && rows->time;
}

static int copy_rows(struct sheet_rows *rows)
{
    PDH_STATUS status = 0;
    int code = EXIT_GOOD;
    unsigned long every = rows->opts->every > 1 ? rows->opts->every : 1;
    while (!rows->failed && (rows->file || !ferror(rows->sheet.out))) {
        bool more = next(rows, &status);
        if (status)
            code = pdh_complain("relog", "reading a sample", status);
        if (status && source_goes_on(rows->source, status))
            continue;
        if (!more)
            break;
        report_time(&rows->report->order, rows->time);
        if (rows->means)
            add_to_means(rows);
        if (rows->seen++ % every)
            continue;
        take_values(rows);
        if (rows->opts->merge)
            join(rows);
        else
            print(rows, rows->time, rows->values, rows->texts);
    }
    print_pending(rows);
    return rows->torn ? EXIT_FAILED : code;
}

static int print_rows(struct sheet_rows *rows)
{
    size_t count = rows->sheet.count;
    rows->before = calloc(count, sizeof *rows->before);
    rows->values = calloc(count * 2, sizeof *rows->values);
    rows->texts = calloc(count * 2, sizeof *rows->texts);
    rows->means = rows->opts->average ? calloc(count, sizeof *rows->means) : NULL;
    if (!rows->before || !rows->values || !rows->texts || (rows->opts->average && !rows->means) ||
        (!rows->file && !sheet_begin(&rows->sheet)))
        return pdh_complain("relog", "reading the samples",
                            (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE);
    rows->pending = rows->values + count;
    rows->pending_texts = rows->texts + count;
    return copy_rows(rows);
}

/* Writes a capture. On a terminal, control characters in names are replaced. */
static int write_file(struct sheet_rows *rows)
{
    const struct relog *opts = rows->opts;
    struct input_log *source = rows->source;
    size_t count = source->paths.count;
    char **paths = source->shown.texts;
    bool terminal = strcmp(opts->output, "-") == 0 && isatty(STDOUT_FILENO);
    for (size_t i = 0; terminal && i < count; i++) {
        char *shown = strdup(text_seen(paths[i]));
        free(shown ? paths[i] : NULL);
        paths[i] = shown ? shown : paths[i];
    }
    PDH_STATUS status =
        (PDH_STATUS)opl_rows_open(opts->output, opts->format->capture, source->query,
                                  (const char *const *)paths, count, terminal, &rows->file);
    if (status)
        return pdh_complain("relog", opts->output, status);
    int code = print_rows(rows);
    status = (PDH_STATUS)opl_rows_close(rows->file);
    status = rows->failed ? rows->failed : status;
    return status ? pdh_complain("relog", opts->output, status) : code;
}

static int write_sheet(struct sheet_rows *rows)
{
    rows->sheet.out = output_file_open("relog", rows->opts->output);
    if (!rows->sheet.out)
        return output_file_code();
    int code = print_rows(rows);
    sheet_end(&rows->sheet);
    if (rows->failed)
        code = pdh_complain("relog", rows->opts->output, rows->failed);
    bool good = output_file_close("relog", rows->opts->output, rows->sheet.out);
    return good ? code : EXIT_FAILED;
}

int rows_write(const struct relog *opts, struct input_log *source, struct relog_report *report)
{
    struct sheet_rows rows = {.opts = opts, .source = source, .report = report};
    rows.sheet.format = opts->format;
    rows.sheet.paths = (const char *const *)source->shown.texts;
    rows.sheet.count = source->paths.count;
    int code = opts->format->capture ? write_file(&rows) : write_sheet(&rows);
    free(rows.before);
    free(rows.means);
    free(rows.values);
    for (size_t i = 0; rows.texts && i < source->paths.count * 2; i++)
        free(rows.texts[i]);
    free(rows.texts);
    return code;
}
