/* SPDX-License-Identifier: MIT */
/* Takes samples and prints them, or lets PDH write them to a capture. The data is collected once
 * before the first sample, because rates need two samples. */
#include "typeperf.h"

#include "../common/list.h"
#include "../common/when.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
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

static double cooked(PDH_HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE value = {0};
    PDH_STATUS status =
        PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, NULL, &value);
    return status || value.CStatus > PDH_CSTATUS_NEW_DATA ? NAN : value.doubleValue;
}

/* ---- wildcards: the columns of one sample ---- */

struct cells {
    struct text_list paths;
    double *values;
    size_t capacity;
};

static bool add_cell(struct cells *cells, const char *path, double value)
{
    if (!list_grow(&cells->values, cells->paths.count, &cells->capacity, sizeof *cells->values))
        return false;
    cells->values[cells->paths.count] = value;
    return text_list_add(&cells->paths, path);
}

/* Returns the values of a wildcard's instances, to be freed; NULL: there are none. */
static PDH_FMT_COUNTERVALUE_ITEM_A *items_of(PDH_HCOUNTER counter, DWORD *ret_count)
{
    const DWORD format = PDH_FMT_DOUBLE | PDH_FMT_NOCAP100;
    DWORD size = 0;
    PDH_FMT_COUNTERVALUE_ITEM_A *items = NULL;
    if ((DWORD)PdhGetFormattedCounterArrayA(counter, format, &size, ret_count, NULL) ==
        PDH_MORE_DATA)
        items = malloc(size);
    if (items && !PdhGetFormattedCounterArrayA(counter, format, &size, ret_count, items))
        return items;
    free(items);
    return NULL;
}

/* An instance's name, and how many instances before it have the same name. */
struct namesake {
    const char *name;
    unsigned long before;
};

static int compare_names(const void *one, const void *other)
{
    const struct namesake *left = one, *right = other;
    return strcmp(left->name, right->name);
}

static void keep_namesake(void *namesake)
{
    (void)namesake; /* an array owns it */
}

/* Adds the cell of an instance. Its path is the wildcard's with the instance's name in brackets;
 * the second instance of a name has #1 after it. */
static bool add_instance(struct cells *cells, const char *pattern, const struct namesake *instance,
                         const PDH_FMT_COUNTERVALUE *value, bool totals)
{
    const char *open = strchr(pattern, '('), *close = strrchr(pattern, '\\');
    char number[24] = "", *path = NULL;
    if (instance->before)
        snprintf(number, sizeof number, "#%lu", instance->before);
    if (!open || asprintf(&path, "%.*s%s%s)%s", (int)(open + 1 - pattern), pattern, instance->name,
                          number, close) < 0)
        return false;
    bool good = value->CStatus <= PDH_CSTATUS_NEW_DATA;
    bool added = (!totals && counter_path_is_total(path)) ||
                 add_cell(cells, path, good ? value->doubleValue : NAN);
    free(path);
    return added;
}

static bool add_instances(struct cells *cells, const char *pattern, PDH_HCOUNTER counter,
                          bool totals)
{
    DWORD count = 0;
    PDH_FMT_COUNTERVALUE_ITEM_A *items = items_of(counter, &count);
    struct namesake *names = items ? calloc(count, sizeof *names) : NULL;
    void *tree = NULL;
    bool good = !items || names;
    for (DWORD i = 0; names && good && i < count; i++) {
        names[i].name = items[i].szName;
        struct namesake **first = tsearch(&names[i], &tree, compare_names);
        struct namesake instance = names[i];
        if (first && *first != &names[i])
            instance.before = ++(*first)->before;
        good = first && add_instance(cells, pattern, &instance, &items[i].FmtValue, totals);
    }
    tdestroy(tree, keep_namesake);
    free(names);
    free(items);
    return good;
}

/* Makes the columns of this sample: a wildcard has one for each of its instances. */
static bool take_cells(const struct counters *counters, bool totals, struct cells *cells)
{
    bool good = true;
    text_list_done(&cells->paths);
    for (size_t i = 0; good && i < counters->paths.count; i++) {
        const char *path = counters->paths.texts[i];
        if (counters->states[i].wild)
            good = add_instances(cells, path, counters->handles[i], totals);
        else
            good = add_cell(cells, path, cooked(counters->handles[i]));
    }
    return good;
}

/* Prints a sample of counters with wildcards. */
static bool print_live(const struct sampling *sampling, struct sheet *sheet, LONGLONG time,
                       struct cells *cells)
{
    if (!take_cells(sampling->counters, !sampling->opts->top, cells) ||
        !sheet_columns(sheet, (const char *const *)cells->paths.texts, cells->paths.count))
        return false;
    return sheet_row(sheet, time, cells->values);
}

static int print_samples(struct sampling *sampling, struct sheet *sheet, double *values,
                         struct cells *cells)
{
    struct counters *counters = sampling->counters;
    while (next(sampling)) {
        LONGLONG time = when_now();
        PDH_STATUS status = PdhCollectQueryDataWithTime(counters->query, &time);
        if (!tolerable(status))
            return pdh_complain("typeperf", "reading a sample", status);
        counters_note_seen(counters, false);
        for (size_t i = 0; !counters->wild_count && i < counters->paths.count; i++)
            values[i] = status ? NAN : cooked(counters->handles[i]);
        if (counters->wild_count ? !print_live(sampling, sheet, time, cells)
                                 : !sheet_row(sheet, time, values))
            return pdh_complain("typeperf", "reading a sample", PDH_MEMORY_ALLOCATION_FAILURE);
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
    struct cells cells = {0};
    if (!code)
        code = print_samples(sampling, &sheet, values, &cells);
    sheet_end(&sheet);
    text_list_done(&cells.paths);
    free(cells.values);
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
