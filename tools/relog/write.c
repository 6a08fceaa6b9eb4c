/* SPDX-License-Identifier: MIT */
/* Writes the samples by PDH's own writer, which is fast, if the options allow it. */
#include "relog.h"

#include "../view/text.h"

#include <openperflib/capture.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if PDH's own writer can do what the options request. It is not used for a terminal, because
 * it would print control characters in names as they are. */
static bool pdh_is_enough(const struct relog *opts)
{
    bool terminal = strcmp(opts->output, "-") == 0 && isatty(STDOUT_FILENO);
    bool plain = opts->every < 2 && !opts->follow && !opts->merge && !opts->renames.count;
    return opts->binary || (!terminal && opts->format->capture && plain);
}

/* Reads the first and last time of the written lines. Their counters may have other times. */
static void read_span(PDH_HLOG log, struct relog_report *report)
{
    PDH_TIME_INFO span = {0};
    DWORD count = 1, size = sizeof span;
    if (PdhGetDataSourceTimeRangeH(log, &count, &span, &size))
        return;
    report->first = span.StartTime;
    report->last = span.EndTime;
    if (span.SampleCount > report->samples)
        report_time(&report->order, span.EndTime);
    report->samples = span.SampleCount;
}

/* Returns the last time in the capture to append to; 0: no such capture yet, or no samples. */
static LONGLONG latest_time(const char *output)
{
    struct stat facts;
    PDH_TIME_INFO span = {0};
    DWORD count = 1, size = sizeof span;
    if (strcmp(output, "-") != 0 && stat(output, &facts) == 0 && S_ISREG(facts.st_mode))
        PdhGetDataSourceTimeRangeA(output, &count, &span, &size);
    return span.EndTime;
}

static void warn_of_overlap(const struct relog *opts, LONGLONG latest, LONGLONG first)
{
    char before[SHEET_TIME_SIZE], appended[SHEET_TIME_SIZE];
    when_print(latest, before);
    when_print(first, appended);
    fprintf(stderr,
            "relog: %s: warning: the samples were appended, but the earliest is of %s, and the "
            "file already had samples up to %s\n",
            text_seen(opts->output), appended, before);
}

/* True for system errors, which only writing returns; PDH's own statuses are larger numbers. */
static bool is_writing(PDH_STATUS status)
{
    return (DWORD)status <= 0xffff;
}

/* Skips samples, so that each n-th of -t is kept. */
static PDH_STATUS skip(const struct relog *opts, const struct input_log *source)
{
    PDH_STATUS status = 0;
    for (unsigned long i = 1; i < opts->every && !status; i++)
        status = PdhCollectQueryData(source->query);
    return status;
}

/* Copies the samples. Reading continues after a damaged place. */
static int copy_samples(const struct relog *opts, struct input_log *source, PDH_HLOG log,
                        struct relog_report *report)
{
    int code = EXIT_GOOD;
    for (;;) {
        PDH_STATUS status = report->samples ? skip(opts, source) : 0;
        if (!status && !pace_stopped())
            status = PdhUpdateLogA(log, NULL);
        if (pace_stopped() || source_ended(status))
            return source_ended(status) && source_end(source) ? EXIT_FAILED : code;
        if (status) {
            code = pdh_complain("relog", is_writing(status) ? opts->output : "reading a sample",
                                status);
            if (!source_goes_on(source, status))
                return code;
            continue;
        }
        read_span(log, report);
        if (report_due(opts, source))
            report_progress(source, report->last);
    }
}

static int copy(const struct relog *opts, struct input_log *source, struct relog_report *report)
{
    DWORD type = opts->format->capture;
    DWORD create = opts->append ? PDH_LOG_OPEN_ALWAYS | PDH_LOG_OPT_APPEND : PDH_LOG_CREATE_ALWAYS;
    create |= opts->merge ? OPL_LOG_MERGE : 0;
    LONGLONG latest = opts->append ? latest_time(opts->output) : 0;
    PDH_HLOG log;
    PDH_STATUS status = PdhOpenLogA(opts->output, PDH_LOG_WRITE_ACCESS | create, &type,
                                    source->query, 0, NULL, &log);
    if (status)
        return pdh_complain("relog", opts->output, status);
    int code = copy_samples(opts, source, log, report);
    status = PdhCloseLog(log, 0);
    if (!status && latest && report->samples && report->order.least < latest)
        warn_of_overlap(opts, latest, report->order.least);
    return status && !code ? pdh_complain("relog", opts->output, status) : code;
}

int write_output(const struct relog *opts, struct input_log *source)
{
    struct relog_report report = {0};
    int code = source_add(source, opts);
    if (!code)
        code =
            pdh_is_enough(opts) ? copy(opts, source, &report) : rows_write(opts, source, &report);
    if (pace_stopped() && !opts->follow)
        code = EXIT_FAILED;
    report_order(opts, &report.order);
    if (!code || report.samples)
        report_output(opts, &report, !code);
    if (!code && !report.samples && (opts->begin || opts->end))
        report_no_samples();
    if (pace_stopped() && !opts->follow)
        fprintf(stderr, "relog: stopped; %s contains the samples written so far\n",
                text_seen(opts->output));
    return code;
}
