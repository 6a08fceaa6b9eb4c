/* SPDX-License-Identifier: MIT */
/* Prints the blocks about input and output, and the progress. */
#include "relog.h"

#include "../view/text.h"

#include <limits.h>
#include <openperflib/unstable.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool report_wanted(const struct relog *opts)
{
    return !opts->output || strcmp(opts->output, "-") != 0;
}

static void print_span(LONGLONG first, LONGLONG last, unsigned long samples, const char *of)
{
    char begin[SHEET_TIME_SIZE], end[SHEET_TIME_SIZE];
    when_print(first, begin);
    when_print(last, end);
    if (samples)
        printf("Begin:    %s\nEnd:      %s\n", begin, end);
    printf("Samples:  %lu%s\n", samples, of);
}

void report_input(const struct relog *opts, const struct input_log *source)
{
    if (!report_wanted(opts))
        return;
    const char *of = "";
    printf("\nInput\n----------------\nFile(s):\n");
    for (size_t i = 0; i < opts->inputs.count; i++) {
        const char *name = opts->inputs.texts[i];
        char folder[PATH_MAX];
        bool own;
        printf("     %s (%s)\n", text_seen(name), opts->flows ? "a pipe" : source_kind(name));
        if (opts->flows || !opl_captures_folder(name, folder, sizeof folder, &own))
            continue;
        printf("     the captures in %s\n", text_seen(folder));
        of = " in all files of the set";
    }
    putchar('\n');
    if (!opts->flows) {
        print_span(source->extent.StartTime, source->extent.EndTime, source->extent.SampleCount,
                   of);
        putchar('\n');
    }
    fflush(stdout);
}

void report_counters(const struct input_log *source, FILE *out)
{
    for (size_t i = 0; i < source->shown.count; i++)
        fprintf(out, "%s\n", text_shown(out, source->shown.texts[i]));
}

static double seconds_between(const struct timespec *then, const struct timespec *now)
{
    return (double)(now->tv_sec - then->tv_sec) + (double)(now->tv_nsec - then->tv_nsec) / 1e9;
}

/* Draws the progress, without colours and escapes: "\r 45.32%
 * ##################......................". */
static void draw(double share)
{
    enum { CELLS = 40 };
    static const char done[] = "########################################";
    static const char left[] = "........................................";
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    int cells = (int)(share * CELLS);
    printf("\r%.2f%%  %.*s%.*s ", 100 * share, cells, done, CELLS - cells, left);
    fflush(stdout);
}

static bool drawn;

bool report_due(const struct relog *opts, const struct input_log *source)
{
    static struct timespec begin, last;
    static int terminal = -1;
    struct timespec now;
    terminal = terminal < 0 ? isatty(STDOUT_FILENO) : terminal;
    if (!terminal || source->extent.EndTime <= source->extent.StartTime || opts->follow ||
        !report_wanted(opts))
        return false;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (!begin.tv_sec)
        begin = now;
    if (seconds_between(&begin, &now) < 1 || seconds_between(&last, &now) < 0.1)
        return false;
    last = now;
    return true;
}

void report_progress(const struct input_log *source, LONGLONG time)
{
    LONGLONG begin = source->extent.StartTime;
    drawn = true;
    draw((double)(time - begin) / (double)(source->extent.EndTime - begin));
}

static void end_progress(bool whole)
{
    enum { WIDTH = 52 };
    if (drawn)
        printf("\r%-*s\r", WIDTH, "");
    if (whole)
        printf("100.00%%\n");
}

void report_output(const struct relog *opts, const struct relog_report *report, bool good)
{
    if (!report_wanted(opts))
        return;
    end_progress(!pace_stopped() || opts->follow);
    printf("\nOutput\n----------------\nFile:     %s\n\n", text_seen(opts->output));
    print_span(report->first, report->last, report->samples, "");
    if (good)
        printf("\nThe command completed successfully.\n");
}

void report_time(struct relog_order *order, LONGLONG time)
{
    if (!order->read++)
        order->least = time;
    else if (time < order->newest && !order->backward++) {
        order->place = order->read;
        order->from = order->newest;
        order->to = time;
    }
    order->newest = time;
    order->least = time < order->least ? time : order->least;
}

void report_order(const struct relog *opts, const struct relog_order *order)
{
    char from[SHEET_TIME_SIZE], to[SHEET_TIME_SIZE];
    if (!order->backward)
        return;
    when_print(order->from, from);
    when_print(order->to, to);
    fprintf(stderr,
            "relog: %s: times run backwards: %lu of %lu samples are earlier than the one before "
            "them, the first is number %lu, at %s after %s\n",
            opts->inputs.count == 1 ? text_seen(opts->inputs.texts[0]) : "the captures",
            order->backward, order->read, order->place, to, from);
}

void report_no_samples(void)
{
    fprintf(stderr, "relog: there are no samples from -b to -e; 'relog FILE' shows the capture's "
                    "times\n");
}
