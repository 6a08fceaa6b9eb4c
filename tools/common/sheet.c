/* SPDX-License-Identifier: MIT */
/* Prints samples. In CSV and TSV the header fixes the columns; the other formats choose and
 * sort them for each sample. */
#include "sheet.h"

#include "../view/text.h"

#include <openperflib/unstable.h>
#include <windef.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "json.h"

/* Writes a local time as "MM/DD/YYYY HH:MM:SS.mmm", or ISO 8601 "YYYY-MM-DDTHH:MM:SS.mmm". */
static void put_time(LONGLONG time, bool iso, char text[SHEET_TIME_SIZE])
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

/* Compares two columns by value: first those with a value; equal values keep their order. */
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

static const char *text_of(const struct sheet *sheet, size_t column)
{
    return sheet->texts ? sheet->texts[column] : NULL;
}

/* Prints a text as CSV, without escapes: a quote becomes an apostrophe, a control character a
 * blank. */
static void print_text(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' ? ' ' : *text == '"' ? '\'' : *text, out);
}

/* ---- CSV and TSV as on Windows' console; the library writes those of captures ---- */

static bool capture_begin(struct sheet *sheet)
{
    const struct sheet_format *format = sheet->format;
    fprintf(sheet->out, "\"(PDH-%s 4.0)\"", format->name);
    for (size_t i = 0; i < sheet->shown; i++)
        fprintf(sheet->out, "%c\"%s\"", format->separator,
                text_shown(sheet->out, sheet->paths[sheet->order[i]]));
    fputc('\n', sheet->out);
    return true;
}

static void text_row(const struct sheet *sheet, LONGLONG time, const double *values)
{
    char text[SHEET_TIME_SIZE], separator = sheet->format->separator;
    put_time(time, false, text);
    fprintf(sheet->out, "\"%s\"", text);
    for (size_t i = 0; i < sheet->shown; i++) {
        double value = values[sheet->order[i]];
        const char *given = isnan(value) ? text_of(sheet, sheet->order[i]) : NULL;
        if (given) {
            fprintf(sheet->out, "%c\"", separator);
            print_text(sheet->out, given);
            fputc('"', sheet->out);
        } else if (isnan(value))
            fprintf(sheet->out, "%c\"-1\"", separator);
        else
            fprintf(sheet->out, "%c\"%f\"", separator, value);
    }
    fputc('\n', sheet->out);
}

/* ---- JSON ---- */

/* Makes for each column, once, the text before its number: {"path": "...", "value": and a blank */
static bool lines_begin(struct sheet *sheet)
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
    enum { OTHERS = 8 }; /* bytes of brackets and comma */
    sheet->head_text = text;
    sheet->row = malloc(size + sheet->count * (OPL_CAPTURE_NUMBER_SIZE + OTHERS) + 128);
    return good && sheet->row;
}

static char *put(char *at, const char *text, size_t size)
{
    memcpy(at, text, size);
    return at + size;
}

/* Prints a row. It is formatted in one buffer for speed: a capture may have a million rows. */
static void print_json(const struct sheet *sheet, LONGLONG time, const double *values)
{
    char text[SHEET_TIME_SIZE];
    char *at = sheet->row;
    put_time(time, true, text);
    at += sprintf(at, "{\"time\": \"%s\", \"counters\": [", text);
    for (size_t i = 0; i < sheet->shown; i++) {
        size_t column = sheet->order[i], head = sheet->heads[column];
        if (i)
            at = put(at, ", ", 2);
        at = put(at, sheet->head_text + head, sheet->heads[column + 1] - head);
        const char *given = isnan(values[column]) ? text_of(sheet, column) : NULL;
        if (given) { /* of any length */
            fwrite(sheet->row, 1, (size_t)(at - sheet->row), sheet->out);
            at = sheet->row;
            json_string(&(struct json){.out = sheet->out, .flat = true}, NULL, given);
        } else if (isfinite(values[column]))
            at += opl_capture_number(values[column], at);
        else
            at = put(at, "null", 4);
        *at++ = '}';
    }
    at = put(at, "]}", 2);
    fwrite(sheet->row, 1, (size_t)(at - sheet->row), sheet->out);
}

static void lines_row(const struct sheet *sheet, LONGLONG time, const double *values)
{
    print_json(sheet, time, values);
    fputc('\n', sheet->out);
}

static bool array_begin(struct sheet *sheet)
{
    fputc('[', sheet->out);
    return lines_begin(sheet);
}

static void array_row(const struct sheet *sheet, LONGLONG time, const double *values)
{
    fputs(sheet->samples ? ",\n" : "\n", sheet->out);
    print_json(sheet, time, values);
}

/* ---- the table for reading ---- */

static void table_row(const struct sheet *sheet, LONGLONG time, const double *values)
{
    char text[SHEET_TIME_SIZE];
    put_time(time, true, text);
    text[10] = ' ';
    fprintf(sheet->out, "%s%s\n", sheet->samples ? "\n" : "", text);
    for (size_t i = 0; i < sheet->shown; i++) {
        double value = values[sheet->order[i]];
        const char *given = isnan(value) ? text_of(sheet, sheet->order[i]) : NULL;
        if (isnan(value))
            fprintf(sheet->out, "%20s", given ? text_seen(given) : "-");
        else
            fprintf(sheet->out, "%20.3f", value);
        fprintf(sheet->out, "  %s\n", text_seen(sheet->paths[sheet->order[i]]));
    }
}

/* ---- entry points ---- */

const struct sheet_format sheet_formats[] = {
    {"CSV",   PDH_LOG_TYPE_CSV,    ',',  capture_begin, text_row,  ""     },
    {"TSV",   PDH_LOG_TYPE_TSV,    '\t', capture_begin, text_row,  ""     },
    {"BIN",   PDH_LOG_TYPE_BINARY, 0,    NULL,          NULL,      ""     }, /* by PDH's writer only */
    {"json",  0,                   0,    array_begin,   array_row, "\n]\n"},
    {"jsonl", 0,                   0,    lines_begin,   lines_row, ""     },
    {"table", 0,                   0,    NULL,          table_row, ""     },
};

const struct sheet_format *sheet_format_of(const char *name)
{
    if (strcasecmp(name, "blg") == 0)
        name = "BIN";
    for (size_t i = 0; i < sizeof sheet_formats / sizeof *sheet_formats; i++)
        if (strcasecmp(sheet_formats[i].name, name) == 0)
            return &sheet_formats[i];
    return NULL;
}

int sheet_take_format(const struct options *options, const struct sheet_format **ret)
{
    const char *name = options->value;
    if (strcasecmp(name, "sql") == 0)
        return options_complain(options, "-f %s is not supported yet; use CSV, TSV or jsonl", name);
    *ret = sheet_format_of(name);
    return *ret ? 0
                : options_complain(options, "-f must be CSV, TSV, BIN, " SHEET_OTHERS ", not %s",
                                   name);
}

int sheet_take_output(const struct options *options, const char **ret)
{
    *ret = options->value;
    return strncasecmp(*ret, "sql:", 4) == 0
               ? options_complain(options, "%s: writing to databases is not supported yet", *ret)
               : 0;
}

static bool show_all(struct sheet *sheet)
{
    sheet->order = malloc((sheet->count + 1) * sizeof *sheet->order);
    for (size_t i = 0; sheet->order && i < sheet->count; i++)
        sheet->order[i] = i;
    sheet->shown = sheet->count;
    return sheet->order;
}

static void forget_columns(struct sheet *sheet)
{
    free(sheet->order);
    free(sheet->heads);
    free(sheet->head_text);
    free(sheet->row);
    sheet->order = sheet->heads = NULL;
    sheet->head_text = sheet->row = NULL;
}

bool sheet_columns(struct sheet *sheet, const char *const *paths, size_t count)
{
    forget_columns(sheet);
    sheet->paths = paths;
    sheet->count = count;
    return show_all(sheet) && (!sheet->format->begin || lines_begin(sheet));
}

bool sheet_begin(struct sheet *sheet)
{
    if (!show_all(sheet))
        return false;
    bool later = sheet->top && sheet->format->capture;
    return later || !sheet->format->begin || sheet->format->begin(sheet);
}

void sheet_row(struct sheet *sheet, LONGLONG time, const double *values)
{
    const struct sheet_format *format = sheet->format;
    if (sheet->top && (!format->capture || !sheet->samples)) {
        choose_top(sheet, values);
        if (format->capture)
            format->begin(sheet);
    }
    format->row(sheet, time, values);
    sheet->samples++;
}

bool sheet_flush(const struct sheet *sheet)
{
    return fflush(sheet->out) == 0 && !ferror(sheet->out);
}

void sheet_end(struct sheet *sheet)
{
    fputs(sheet->format->end, sheet->out);
    forget_columns(sheet);
}
