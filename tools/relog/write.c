/* SPDX-License-Identifier: MIT */
/* Writes the samples by PDH's own writer, which is fast, if the options allow it. */
#include "relog.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_capture(enum sheet_form form)
{
    return form == SHEET_CSV || form == SHEET_TSV;
}

static bool pdh_is_enough(const struct relog *asked)
{
    return is_capture(asked->form) && asked->every < 2 && !asked->follow && !asked->merge &&
           !asked->renames.count;
}

/* The times of the written lines, which differ from the times in their counters. */
static void read_span(PDH_HLOG log, struct report *report)
{
    PDH_TIME_INFO span = {0};
    DWORD count = 1, size = sizeof span;
    if (!PdhGetDataSourceTimeRangeH(log, &count, &span, &size))
        *report = (struct report){span.StartTime, span.EndTime, span.SampleCount};
}

/* The last time in the capture to append to; 0: it does not exist yet, or has no samples. */
static LONGLONG latest_time(const char *output)
{
    struct stat facts;
    PDH_TIME_INFO span = {0};
    DWORD count = 1, size = sizeof span;
    if (strcmp(output, "-") != 0 && stat(output, &facts) == 0 && S_ISREG(facts.st_mode))
        PdhGetDataSourceTimeRangeA(output, &count, &span, &size);
    return span.EndTime;
}

static void warn_of_order(const struct relog *asked, LONGLONG latest, LONGLONG first)
{
    char before[SHEET_TIME_ROOM], appended[SHEET_TIME_ROOM];
    when_print(latest, before);
    when_print(first, appended);
    fprintf(stderr,
            "relog: %s: times overlap: it has samples up to %s, the appended ones begin at %s\n",
            asked->output, before, appended);
}

/* Is this a system error of writing? PDH's own statuses, of reading, are greater. */
static bool is_writing(PDH_STATUS status)
{
    return (DWORD)status <= 0xffff;
}

/* A damaged place is skipped: reading continues after it. */
static int copy_samples(const struct relog *asked, struct source *source, PDH_HLOG log,
                        struct report *report)
{
    int code = EXIT_GOOD;
    for (;;) {
        PDH_STATUS status = pace_stopped() ? 0 : PdhUpdateLogA(log, NULL);
        if (pace_stopped() || source_ended(status))
            return source_ended(status) && source_end(source) ? EXIT_FAILED : code;
        if (status) {
            code = pdh_complain("relog", is_writing(status) ? asked->output : "a sample", status);
            if (!source_goes_on(source, status))
                return code;
            continue;
        }
        if (report_due(asked, source)) {
            read_span(log, report);
            report_progress(source, report->last);
        }
    }
}

static int copy(const struct relog *asked, struct source *source, struct report *report)
{
    DWORD type = asked->form == SHEET_TSV ? PDH_LOG_TYPE_TSV : PDH_LOG_TYPE_CSV;
    DWORD create = asked->append ? PDH_LOG_OPEN_ALWAYS | PDH_LOG_OPT_APPEND : PDH_LOG_CREATE_ALWAYS;
    LONGLONG latest = asked->append ? latest_time(asked->output) : 0;
    PDH_HLOG log;
    PDH_STATUS status = PdhOpenLogA(asked->output, PDH_LOG_WRITE_ACCESS | create, &type,
                                    source->query, 0, NULL, &log);
    if (status)
        return pdh_complain("relog", asked->output, status);
    int code = copy_samples(asked, source, log, report);
    read_span(log, report);
    status = PdhCloseLog(log, 0);
    if (!status && report->samples && report->first < latest)
        warn_of_order(asked, latest, report->first);
    return status && !code ? pdh_complain("relog", asked->output, status) : code;
}

int write_output(const struct relog *asked, struct source *source)
{
    struct report report = {0};
    int code = source_add(source, asked);
    if (!code)
        code = pdh_is_enough(asked) ? copy(asked, source, &report)
                                    : rows_write(asked, source, &report);
    if (pace_stopped() && !asked->follow)
        code = EXIT_FAILED;
    if (!code || report.samples)
        report_output(asked, &report, !code);
    if (!code && !report.samples && (asked->begin || asked->end))
        fprintf(
            stderr,
            "relog: there are no samples from -b to -e; 'relog FILE' shows the capture's times\n");
    if (pace_stopped() && !asked->follow)
        fprintf(stderr, "relog: stopped; %s contains the samples written so far\n", asked->output);
    return code;
}
