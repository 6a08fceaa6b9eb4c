/* SPDX-License-Identifier: MIT */
/* --summary: statistics of each counter of a capture, or what differs between two captures. */
#include "relog.h"

#include "../common/json.h"
#include "../view/text.h"
#include "log/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A percentile needs all values of its counter. At most this many values are in memory at once; the
 * capture is read again for the counters that are left. */
enum { VALUES_AT_ONCE = 4000000, CELLS = 16 };
enum { LEAST, AVERAGE, HIGH, MOST, LAST, STATISTICS };
static const struct statistic_name {
    const char *column, *member; /* the names in tables and CSV, and in JSON */
} names[STATISTICS] = {
    {"Minimum",         "minimum"     },
    {"Average",         "average"     },
    {"95th percentile", "percentile95"},
    {"Maximum",         "maximum"     },
    {"Last",            "last"        },
};

struct statistics {
    const char *path;          /* NULL: a text, of which there are no statistics */
    double values[STATISTICS]; /* NAN: the counter has no value */
    double cells[CELLS];       /* the sum of the values in each part of the time */
    unsigned long in_cell[CELLS], count;
};
struct summary {
    struct input_log source;
    const char *file;
    struct statistics *rows; /* one for each counter */
    LONGLONG first, last;    /* the times of the samples, before they are read */
    unsigned long samples;
    /* values of `width` counters from `begin` on, a row for each sample */
    double *values;
    size_t begin, width, row, capacity;
    bool failed; /* no memory */
};

/* ---- reading ---- */

static size_t cell_of(const struct summary *summary, LONGLONG time)
{
    double share = (double)(time - summary->first) / (double)(summary->last - summary->first + 1);
    return (size_t)(fmin(fmax(share, 0), 0.999999) * CELLS);
}

static void add_value(struct statistics *row, double value, size_t cell)
{
    bool first = !row->count++;
    row->values[LEAST] = first ? value : fmin(row->values[LEAST], value);
    row->values[MOST] = first ? value : fmax(row->values[MOST], value);
    row->values[AVERAGE] = (first ? 0 : row->values[AVERAGE]) + value; /* the sum, at first */
    row->values[LAST] = value;
    row->cells[cell] += value;
    row->in_cell[cell]++;
}

/* Makes memory for one more row. The capture's number of samples is only a hint: it may grow. */
static bool make_capacity(struct summary *summary)
{
    if (summary->row < summary->capacity)
        return true;
    size_t capacity =
        summary->capacity ? summary->capacity * 2 : summary->source.extent.SampleCount;
    double *grown = reallocarray(summary->values, capacity + 1, summary->width * sizeof *grown);
    if (!grown)
        return false;
    summary->values = grown;
    summary->capacity = capacity + 1;
    return true;
}

static void take_sample(void *context, LONGLONG time)
{
    struct summary *summary = context;
    struct input_log *source = &summary->source;
    bool first = !source->silent;
    if (summary->failed || !make_capacity(summary)) {
        summary->failed = true;
        return;
    }
    size_t begin = first ? 0 : summary->begin;
    size_t end = first ? source->paths.count : summary->begin + summary->width;
    double *row = summary->values + summary->row++ * summary->width;
    summary->samples += first;
    for (size_t i = begin; i < end; i++) {
        double value = value_now(source->handles[i]);
        if (first && isfinite(value))
            add_value(&summary->rows[i], value, cell_of(summary, time));
        if (i - summary->begin < summary->width)
            row[i - summary->begin] = value;
    }
}

static int compare_numbers(const void *one, const void *other)
{
    double left = *(const double *)one, right = *(const double *)other;
    return (left > right) - (left < right);
}

/* Sets the percentile: the smallest value that at least 95 of 100 values do not exceed. */
static void take_percentile(const struct summary *summary, size_t column, double *scratch)
{
    size_t count = 0;
    for (size_t row = 0; row < summary->row; row++) {
        double value = summary->values[row * summary->width + column];
        if (isfinite(value))
            scratch[count++] = value;
    }
    qsort(scratch, count, sizeof *scratch, compare_numbers);
    if (count)
        summary->rows[summary->begin + column].values[HIGH] = scratch[(count * 95 + 99) / 100 - 1];
}

static bool take_percentiles(struct summary *summary)
{
    double *scratch = malloc((summary->row + 1) * sizeof *scratch);
    for (size_t i = 0; scratch && i < summary->width; i++)
        take_percentile(summary, i, scratch);
    free(scratch);
    return scratch;
}

/* Reads the capture as often as the memory for values requires. */
static int read_values(struct summary *summary, const struct relog *opts)
{
    struct input_log *source = &summary->source;
    size_t at_once = VALUES_AT_ONCE / (source->extent.SampleCount + 1) + 1;
    int code = EXIT_GOOD;
    for (summary->begin = 0; summary->begin < source->paths.count; summary->begin += at_once) {
        size_t left = source->paths.count - summary->begin;
        summary->width = left < at_once ? left : at_once;
        summary->row = 0;
        int one = source_read(source, opts, take_sample, summary);
        code = source->silent ? code : one;
        source->silent = true;
        if (pace_stopped())
            return EXIT_FAILED;
        if (summary->failed || !take_percentiles(summary))
            return pdh_complain("relog", summary->file, (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE);
    }
    return code;
}

static void finish_rows(struct summary *summary)
{
    for (size_t i = 0; i < summary->source.paths.count; i++) {
        struct statistics *row = &summary->rows[i];
        PDH_RAW_COUNTER raw;
        DWORD type = 0;
        PdhGetRawCounterValue(summary->source.handles[i], &type, &raw);
        if ((type & 0xc00) != PERF_TYPE_TEXT)
            row->path = summary->source.shown.texts[i];
        row->values[AVERAGE] /= (double)row->count;
        for (size_t c = 0; c < CELLS; c++)
            row->cells[c] = row->in_cell[c] ? row->cells[c] / (double)row->in_cell[c] : NAN;
        for (size_t s = 0; !row->count && s < STATISTICS; s++)
            row->values[s] = NAN;
    }
}

static int read_summary(struct summary *summary, const struct relog *opts, char *file)
{
    struct relog one = *opts;
    one.inputs = (struct text_list){.texts = &file, .count = 1};
    summary->file = file;
    int code = source_open(&summary->source, &one);
    if (!code && opts->top)
        code = top_choose(&one, &summary->source);
    if (code)
        return code;
    const PDH_TIME_INFO *extent = &summary->source.extent;
    summary->first = opts->begin > extent->StartTime ? opts->begin : extent->StartTime;
    summary->last = opts->end && opts->end < extent->EndTime ? opts->end : extent->EndTime;
    summary->rows = calloc(summary->source.paths.count, sizeof *summary->rows);
    if (!summary->rows)
        return pdh_complain("relog", file, (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE);
    code = read_values(summary, &one);
    finish_rows(summary);
    return code;
}

static void summary_done(struct summary *summary)
{
    source_close(&summary->source);
    free(summary->rows);
    free(summary->values);
}

/* ---- comparing ---- */

/* A line of the output: the statistics of a counter in one capture, or in two; NULL: the second
 * lacks it, or the first. */
struct summary_line {
    const struct statistics *sides[2];
    double difference, relative; /* of the averages; NAN: unknown */
};

static const char *path_of(const struct summary_line *line)
{
    return line->sides[line->sides[0] ? 0 : 1]->path;
}

/* Sorts by path; of equal paths, the first capture's line comes first. */
static int compare_paths(const void *one, const void *other)
{
    const struct summary_line *left = one, *right = other;
    int order = strcasecmp(path_of(left), path_of(right));
    return order ? order : (right->sides[0] != NULL) - (left->sides[0] != NULL);
}

static int rank(double number)
{
    return isnan(number) ? 0 : isinf(number) ? 2 : 1;
}

/* Sorts by relative difference, then by difference, largest first; lines without one come last. */
static int compare_lines(const void *one, const void *other)
{
    const struct summary_line *left = one, *right = other;
    double size = fabs(left->relative), than = fabs(right->relative);
    if (rank(size) != rank(than))
        return rank(than) - rank(size);
    if (rank(size) != 1 || size == than)
        size = fabs(left->difference), than = fabs(right->difference);
    return size > than ? -1 : size < than ? 1 : compare_paths(one, other);
}

static void set_difference(struct summary_line *line)
{
    double before = line->sides[0] ? line->sides[0]->values[AVERAGE] : NAN;
    double after = line->sides[1] ? line->sides[1]->values[AVERAGE] : NAN;
    line->difference = after - before;
    line->relative = line->difference == 0 ? 0 : line->difference / fabs(before);
}

/* Joins the lines of counters that both captures have, and sorts them. Returns their number. */
static size_t join_lines(struct summary_line *lines, size_t count)
{
    size_t kept = 0;
    qsort(lines, count, sizeof *lines, compare_paths);
    for (size_t i = 0; i < count; i++) {
        struct summary_line *last = kept ? &lines[kept - 1] : NULL;
        bool same = last && !last->sides[1] && !lines[i].sides[0] &&
                    strcasecmp(path_of(last), path_of(&lines[i])) == 0;
        if (same)
            last->sides[1] = lines[i].sides[1];
        else
            lines[kept++] = lines[i];
    }
    for (size_t i = 0; i < kept; i++)
        set_difference(&lines[i]);
    qsort(lines, kept, sizeof *lines, compare_lines);
    return kept;
}

/* ---- printing ---- */

struct printer {
    FILE *out;
    const struct sheet_format *format;
    const struct summary *captures;
    size_t sides;
    bool utf8;
    struct json json;
    struct csv csv;
    bool failed; /* no memory */
};

/* Writes a number in eleven columns, right-aligned. */
static void put_number(FILE *out, double number, bool signed_number)
{
    char text[32];
    double size = fabs(number);
    const char *format = size < 1e6 ? "%.3f" : size < 1e9 ? "%.0f" : "%.4g";
    const char *with_sign = size < 1e6 ? "%+.3f" : size < 1e9 ? "%+.0f" : "%+.4g";
    if (isnan(number))
        strcpy(text, "-");
    else
        snprintf(text, sizeof text, signed_number ? with_sign : format, number);
    fprintf(out, " %11s", text);
}

/* Draws a counter's course: for each part of the time a block, whose height shows the part's
 * average between the lowest and the highest of these averages; a blank if there is no value. */
static void put_cells(const struct printer *printer, const double *cells)
{
    static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char plain[] = "_.:-=+*#";
    double least = NAN, most = NAN;
    for (size_t i = 0; i < CELLS; i++) {
        least = fmin(least, cells[i]);
        most = fmax(most, cells[i]);
    }
    for (size_t i = 0; i < CELLS; i++) {
        double share = most > least ? (cells[i] - least) / (most - least) : 0;
        size_t level = (size_t)(fmin(share, 0.999) * 8);
        if (isnan(cells[i]))
            fputc(' ', printer->out);
        else if (printer->utf8)
            fputs(blocks[level], printer->out);
        else
            fputc(plain[level], printer->out);
    }
}

static void table_begin(struct printer *printer)
{
    static const char *const heads[] = {
        "    Minimum     Average  95th perc.     Maximum        Last  Line              Counter",
        "  Average A   Average B  Difference      Change      95th A      95th B  Counter"};
    for (size_t i = 0; i < printer->sides; i++) {
        const struct summary *capture = &printer->captures[i];
        char first[SHEET_TIME_SIZE], last[SHEET_TIME_SIZE];
        when_print(capture->first, first);
        when_print(capture->last, last);
        fprintf(printer->out, "%s%s: %lu samples, %s to %s\n",
                printer->sides == 1 ? ""
                : i                 ? "B: "
                                    : "A: ",
                text_shown(printer->out, capture->file), capture->samples, first, last);
    }
    fprintf(printer->out, "\n %s\n", heads[printer->sides - 1]);
}

static double value_of(const struct summary_line *line, size_t side, size_t statistic)
{
    return line->sides[side] ? line->sides[side]->values[statistic] : NAN;
}

static void table_line(struct printer *printer, const struct summary_line *line)
{
    FILE *out = printer->out;
    const double *one = line->sides[0] ? line->sides[0]->values : NULL;
    if (printer->sides == 1) {
        for (size_t i = 0; i < STATISTICS; i++)
            put_number(out, one[i], false);
        fputs("  ", out);
        put_cells(printer, line->sides[0]->cells);
    } else {
        put_number(out, value_of(line, 0, AVERAGE), false);
        put_number(out, value_of(line, 1, AVERAGE), false);
        put_number(out, line->difference, true);
        if (isfinite(line->relative))
            fprintf(out, " %+10.1f%%", line->relative * 100);
        else
            fprintf(out, " %11s", isnan(line->relative) ? "-" : "from 0");
        put_number(out, value_of(line, 0, HIGH), false);
        put_number(out, value_of(line, 1, HIGH), false);
    }
    fprintf(out, "  %s\n", text_shown(out, path_of(line)));
}

static double finite_of(double number)
{
    return isfinite(number) ? number : NAN;
}

static void columns_begin(struct printer *printer)
{
    static const char *const suffixes[] = {"", " A", " B"};
    csv_name(&printer->csv, "Counter");
    for (size_t side = 0; side < printer->sides; side++)
        for (size_t i = 0; i < STATISTICS; i++) {
            char name[32];
            const char *suffix = suffixes[printer->sides == 1 ? 0 : side + 1];
            snprintf(name, sizeof name, "%s%s", names[i].column, suffix);
            csv_name(&printer->csv, name);
        }
    if (printer->sides == 2) {
        csv_name(&printer->csv, "Difference");
        csv_name(&printer->csv, "Relative difference");
    }
    printer->failed |= !csv_print(&printer->csv, printer->out);
}

static void columns_line(struct printer *printer, const struct summary_line *line)
{
    csv_text(&printer->csv, text_shown(printer->out, path_of(line)));
    for (size_t side = 0; side < printer->sides; side++)
        for (size_t i = 0; i < STATISTICS; i++)
            csv_number(&printer->csv, finite_of(value_of(line, side, i)));
    if (printer->sides == 2) {
        csv_number(&printer->csv, finite_of(line->difference));
        csv_number(&printer->csv, finite_of(line->relative));
    }
    printer->failed |= !csv_print(&printer->csv, printer->out);
}

static void json_side(struct json *json, const struct statistics *side)
{
    json_integer(json, "values", (int64_t)side->count);
    for (size_t i = 0; i < STATISTICS; i++)
        json_double(json, names[i].member, side->values[i]);
    json_open(json, "line", '[');
    for (size_t i = 0; i < CELLS; i++)
        json_double(json, NULL, side->cells[i]);
    json_close(json, ']');
}

static void json_line(struct printer *printer, const struct summary_line *line)
{
    static const char *const keys[] = {"a", "b"};
    struct json *json = &printer->json;
    json_open_flat(json, NULL);
    json_string(json, "path", path_of(line));
    for (size_t i = 0; i < printer->sides; i++) {
        if (printer->sides == 1) {
            json_side(json, line->sides[i]);
        } else if (line->sides[i]) {
            json_open(json, keys[i], '{');
            json_side(json, line->sides[i]);
            json_close(json, '}');
        } else {
            json_string(json, keys[i], NULL);
        }
    }
    if (printer->sides == 2) {
        json_double(json, "difference", line->difference);
        json_double(json, "relative", line->relative);
    }
    json_close_flat(json);
}

static void json_line_only(struct printer *printer, const struct summary_line *line)
{
    json_line(printer, line);
    fputc('\n', printer->out);
    printer->json = (struct json){.out = printer->out};
}

static void json_begin(struct printer *printer)
{
    json_open(&printer->json, NULL, '[');
}

static void json_end(struct printer *printer)
{
    json_close(&printer->json, ']');
    fputc('\n', printer->out);
}

static void print_lines(struct printer *printer, const struct summary_line *lines, size_t count)
{
    static const struct {
        void (*begin)(struct printer *printer);
        void (*line)(struct printer *printer, const struct summary_line *line);
        void (*end)(struct printer *printer);
    } formats[SHEET_KINDS] = {
        [SHEET_COLUMNS] = {columns_begin, columns_line,   NULL    },
        [SHEET_ARRAY] = {json_begin,    json_line,      json_end},
        [SHEET_LINES] = {NULL,          json_line_only, NULL    },
        [SHEET_TABLE] = {table_begin,   table_line,     NULL    },
    };
    enum sheet_kind kind = printer->format->kind;
    printer->json.out = printer->out;
    if (formats[kind].begin)
        formats[kind].begin(printer);
    for (size_t i = 0; i < count; i++)
        formats[kind].line(printer, &lines[i]);
    if (formats[kind].end)
        formats[kind].end(printer);
}

/* ---- entry point ---- */

static int print_summary(const struct relog *opts, const struct summary *captures, FILE *out)
{
    struct printer printer = {
        .out = out,
        .format = opts->format,
        .captures = captures,
        .sides = opts->inputs.count,
        .utf8 = text_begin(),
        .csv = {opts->format->separator, false, "", "\"\"", "\r\n"}
    };
    size_t counts[2] = {captures[0].source.paths.count, captures[1].source.paths.count};
    size_t all = counts[0] + counts[1], count = 0;
    struct summary_line *lines = calloc(all, sizeof *lines);
    for (size_t i = 0; lines && i < all; i++) {
        bool other = i >= counts[0];
        const struct statistics *row = &captures[other].rows[other ? i - counts[0] : i];
        if (row->path)
            lines[count++].sides[other] = row;
    }
    if (lines && printer.sides == 2)
        count = join_lines(lines, count);
    print_lines(&printer, lines, count);
    free(lines);
    return lines && !printer.failed
               ? EXIT_GOOD
               : pdh_complain("relog", captures->file, (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE);
}

static int write_summary(const struct relog *opts, const struct summary *captures)
{
    FILE *out = output_file_open("relog", opts->output);
    if (!out)
        return output_file_code();
    int code = print_summary(opts, captures, out);
    return output_file_close("relog", opts->output, out) ? code : EXIT_FAILED;
}

int summary_write(const struct relog *opts)
{
    struct summary captures[2] = {0};
    int code = EXIT_GOOD, unread = EXIT_GOOD;
    for (size_t i = 0; i < opts->inputs.count && !unread; i++) {
        int one = read_summary(&captures[i], opts, opts->inputs.texts[i]);
        code = one ? one : code;
        unread = captures[i].samples ? EXIT_GOOD : one;
    }
    if (!unread && !captures[0].samples && (opts->begin || opts->end))
        report_no_samples();
    if (!unread) {
        int written = write_summary(opts, captures);
        code = written ? written : code;
    }
    size_t missing = captures[0].source.missing + captures[1].source.missing;
    for (size_t i = 0; i < 2; i++)
        summary_done(&captures[i]);
    return !code && missing ? EXIT_MISSING : code;
}
