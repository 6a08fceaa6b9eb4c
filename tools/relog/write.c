/* SPDX-License-Identifier: MIT */
/* Writes the samples: by PDH's own writer where that is enough, which is the fast way. */
#include "relog.h"

#include <strings.h>
#include <string.h>

static bool is_capture(enum sheet_form form)
{
    return form == SHEET_CSV || form == SHEET_TSV;
}

static bool pdh_is_enough(const struct relog *asked)
{
    return is_capture(asked->form) && asked->every < 2 && !asked->follow && !asked->merge &&
           !asked->renames.count;
}

/* The time of the sample that was just taken. */
static LONGLONG sample_time(const struct source *source)
{
    PDH_RAW_COUNTER raw = {0};
    for (size_t i = 0; i < source->paths.count; i++)
        if (!PdhGetRawCounterValue(source->handles[i], NULL, &raw) &&
            (raw.TimeStamp.dwLowDateTime || raw.TimeStamp.dwHighDateTime))
            break;
    return (LONGLONG)((ULONGLONG)raw.TimeStamp.dwHighDateTime << 32 | raw.TimeStamp.dwLowDateTime);
}

/* The system refused: PDH's own statuses, of reading, are above. */
static bool is_writing(PDH_STATUS status)
{
    return (DWORD)status <= 0xffff;
}

/* A damaged place costs what is in it: the capture goes on behind. */
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
        LONGLONG time = sample_time(source);
        report->first = report->samples ? report->first : time;
        report->last = time;
        report->samples++;
        report_progress(asked, source, time);
    }
}

static int copy(const struct relog *asked, struct source *source, struct report *report)
{
    DWORD type = asked->form == SHEET_TSV ? PDH_LOG_TYPE_TSV : PDH_LOG_TYPE_CSV;
    DWORD create = asked->append ? PDH_LOG_OPEN_ALWAYS | PDH_LOG_OPT_APPEND : PDH_LOG_CREATE_ALWAYS;
    PDH_HLOG log;
    PDH_STATUS status = PdhOpenLogA(asked->output, PDH_LOG_WRITE_ACCESS | create, &type,
                                    source->query, 0, NULL, &log);
    if (status)
        return pdh_complain("relog", asked->output, status);
    int code = copy_samples(asked, source, log, report);
    /* a counter's own time may differ from that of its sample */
    if (!asked->begin && report->samples)
        report->first = source->extent.StartTime ? source->extent.StartTime : report->first;
    status = PdhCloseLog(log, 0);
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
        fprintf(stderr,
                "relog: there are no samples from -b to -e; relog FILE says when there are\n");
    if (pace_stopped() && !asked->follow)
        fprintf(stderr, "relog: stopped; %s has what was written so far\n", asked->output);
    return code;
}
