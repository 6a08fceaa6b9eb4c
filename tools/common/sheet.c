/* SPDX-License-Identifier: MIT */
/* Prints samples. In CSV and TSV the header fixes the columns; the other formats choose and
 * sort them for each sample. */
#include "sheet.h"

#include <openperflib/unstable.h>
#include <windef.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "json.h"

enum sheet_format sheet_format_of(const char *name)
{
    static const char *const names[] = {"csv", "tsv", "json", "jsonl", "table"};
    size_t i = 0;
    while (i < SHEET_UNKNOWN && strcasecmp(names[i], name) != 0)
        i++;
    return (enum sheet_format)i;
}

void sheet_time(LONGLONG time, bool iso, char text[SHEET_TIME_SIZE])
{
    const LONGLONG second = 10000000, since_1601 = 11644473600;
    time_t seconds = (time_t)(time / second - since_1601);
    int milliseconds = (int)(time % second / 10000);
    struct tm parts = {0};
    gmtime_r(&seconds, &parts);
    if (iso)
        snprintf(text, SHEET_TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03d",
                 (parts.tm_year + 1900) % 10000, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                 parts.tm_min, parts.tm_sec, milliseconds);
    else
        snprintf(text, SHEET_TIME_SIZE, "%02d/%02d/%04d %02d:%02d:%02d.%03d", parts.tm_mon + 1,
                 parts.tm_mday, (parts.tm_year + 1900) % 10000, parts.tm_hour, parts.tm_min,
                 parts.tm_sec, milliseconds);
}

/* ---- selection and order of columns ---- */

/* Columns without a value come last; equal values keep their order. */
static int compare_columns(const void *one, const void *other, void *context)
{
    size_t left = *(const size_t *)one, right = *(const size_t *)other;
    const double *values = context;
    bool left_none = isnan(values[left]), right_none = isnan(values[right]);
    if (left_none != right_none)
        return left_none ? 1 : -1;
    if (!left_none && values[left] != values[right])
        return values[left] > values[right] ? -1 : 1;
    return left < right ? -1 : 1;
}

static void choose_top(struct sheet *sheet, const double *values)
{
    for (size_t i = 0; i < sheet->count; i++)
        sheet->order[i] = i;
    qsort_r(sheet->order, sheet->count, sizeof *sheet->order, compare_columns, (void *)values);
    sheet->shown = sheet->top < sheet->count ? sheet->top : sheet->count;
}

static bool columns_fixed(const struct sheet *sheet)
{
    return sheet->format == SHEET_CSV || sheet->format == SHEET_TSV;
}

/* ---- CSV and TSV ---- */

static void print_header(const struct sheet *sheet)
{
    char separator = sheet->format == SHEET_CSV ? ',' : '\t';
    fprintf(sheet->out, "\"(PDH-%s 4.0)%s\"", sheet->format == SHEET_CSV ? "CSV" : "TSV",
            sheet->zone ? sheet->zone : "");
    for (size_t i = 0; i < sheet->shown; i++)
        fprintf(sheet->out, "%c\"%s\"", separator, sheet->paths[sheet->order[i]]);
    fputs(sheet->line_end, sheet->out);
}

static void print_line(const struct sheet *sheet, LONGLONG time, const double *values)
{
    char text[SHEET_TIME_SIZE];
    char separator = sheet->format == SHEET_CSV ? ',' : '\t';
    sheet_time(time, false, text);
    fprintf(sheet->out, "\"%s\"", text);
    for (size_t i = 0; i < sheet->shown; i++) {
        double value = values[sheet->order[i]];
        if (isnan(value))
            fprintf(sheet->out, "%c\"%s\"", separator, sheet->missing);
        else if (sheet->exact)
            fprintf(sheet->out, "%c\"%.*s\"", separator, (int)opl_capture_number(value, text),
                    text);
        else
            fprintf(sheet->out, "%c\"%f\"", separator, value);
    }
    fputs(sheet->line_end, sheet->out);
}

/* ---- the other formats ---- */

/* For each column the text before its number, made once: {"path": "...", "value":_ */
static bool make_heads(struct sheet *sheet)
{
    char *text = NULL;
    size_t size = 0;
    sheet->heads = calloc(sheet->count + 1, sizeof *sheet->heads);
    FILE *out = sheet->heads ? open_memstream(&text, &size) : NULL;
    if (!out)
        return false;
    for (size_t i = 0; i < sheet->count; i++) {
        struct json json = {.out = out, .flat = true};
        sheet->heads[i] = (size_t)ftell(out);
        json_open(&json, NULL, '{');
        json_string(&json, "path", sheet->paths[i]);
        fputs(", \"value\": ", out);
    }
    sheet->heads[sheet->count] = (size_t)ftell(out);
    bool good = !ferror(out);
    good &= fclose(out) == 0;
    enum { OTHERS = 8 }; /* brackets, comma */
    sheet->head_text = text;
    sheet->row = malloc(size + sheet->count * (OPL_CAPTURE_NUMBER_SIZE + OTHERS) + 128);
    return good && sheet->row;
}

static char *put(char *at, const char *text, size_t size)
{
    memcpy(at, text, size);
    return at + size;
}

static char *put_text(char *at, const char *text)
{
    return put(at, text, strlen(text));
}

/* The row is formatted in one buffer for speed: a capture may have a million rows. */
static void print_json(const struct sheet *sheet, LONGLONG time, const double *values)
{
    char text[SHEET_TIME_SIZE];
    char *at = sheet->row;
    sheet_time(time, true, text);
    if (sheet->format == SHEET_JSON && sheet->samples)
        at = put_text(at, ",\n");
    at += sprintf(at, "{\"time\": \"%s\", \"counters\": [", text);
    for (size_t i = 0; i < sheet->shown; i++) {
        size_t column = sheet->order[i], head = sheet->heads[column];
        if (i)
            at = put_text(at, ", ");
        at = put(at, sheet->head_text + head, sheet->heads[column + 1] - head);
        if (isfinite(values[column]))
            at += opl_capture_number(values[column], at);
        else
            at = put_text(at, "null");
        *at++ = '}';
    }
    at = put_text(at, sheet->format == SHEET_JSONL ? "]}\n" : "]}");
    fwrite(sheet->row, 1, (size_t)(at - sheet->row), sheet->out);
}

static void print_table(const struct sheet *sheet, LONGLONG time, const double *values)
{
    char text[SHEET_TIME_SIZE];
    sheet_time(time, true, text);
    text[10] = ' ';
    fprintf(sheet->out, "%s%s\n", sheet->samples ? "\n" : "", text);
    for (size_t i = 0; i < sheet->shown; i++) {
        double value = values[sheet->order[i]];
        if (isnan(value))
            fprintf(sheet->out, "%20s", "-");
        else
            fprintf(sheet->out, "%20.3f", value);
        fprintf(sheet->out, "  %s\n", sheet->paths[sheet->order[i]]);
    }
}

/* ---- entry points ---- */

bool sheet_begin(struct sheet *sheet)
{
    sheet->order = malloc((sheet->count + 1) * sizeof *sheet->order);
    if (!sheet->order)
        return false;
    for (size_t i = 0; i < sheet->count; i++)
        sheet->order[i] = i;
    sheet->shown = sheet->count;
    if (columns_fixed(sheet) && !sheet->top)
        print_header(sheet);
    if ((sheet->format == SHEET_JSON || sheet->format == SHEET_JSONL) && !make_heads(sheet))
        return false;
    if (sheet->format == SHEET_JSON)
        fputs("[\n", sheet->out);
    return true;
}

void sheet_row(struct sheet *sheet, LONGLONG time, const double *values)
{
    bool fixed = columns_fixed(sheet);
    if (sheet->top && (!fixed || !sheet->samples)) {
        choose_top(sheet, values);
        if (fixed)
            print_header(sheet);
    }
    if (fixed)
        print_line(sheet, time, values);
    else if (sheet->format == SHEET_TABLE)
        print_table(sheet, time, values);
    else
        print_json(sheet, time, values);
    sheet->samples++;
}

bool sheet_flush(const struct sheet *sheet)
{
    return fflush(sheet->out) == 0 && !ferror(sheet->out);
}

bool sheet_end(struct sheet *sheet)
{
    if (sheet->format == SHEET_JSON)
        fputs(sheet->samples ? "\n]\n" : "]\n", sheet->out);
    free(sheet->order);
    free(sheet->heads);
    free(sheet->head_text);
    free(sheet->row);
    sheet->order = sheet->heads = NULL;
    sheet->head_text = sheet->row = NULL;
    return sheet_flush(sheet);
}
