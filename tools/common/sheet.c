/* SPDX-License-Identifier: MIT */
/* Prints samples. In CSV and TSV the header fixes the columns; the other formats choose and
 * sort them for each sample. */
#include "sheet.h"

#include "../view/text.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "json.h"
#include "log/log.h"

/* Writes a local time as "YYYY-MM-DDTHH:MM:SS.mmm". */
static void put_time(LONGLONG time, char text[SHEET_TIME_SIZE])
{
    SYSTEMTIME t;
    clock_systemtime(time, &t);
    snprintf(text, SHEET_TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03d", t.wYear, t.wMonth, t.wDay,
             t.wHour, t.wMinute, t.wSecond, t.wMilliseconds);
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

/* Returns the text that stands in place of a missing value; NULL: there is none. */
static const char *text_of(const struct sheet *sheet, size_t column, const double *values)
{
    return sheet->texts && isnan(values[column]) ? sheet->texts[column] : NULL;
}

/* ---- CSV and TSV as on Windows' console ---- */

static struct csv csv_of(const struct sheet *sheet)
{
    return (struct csv){sheet->format->separator, true, "-1", "'", "\n"};
}

static bool columns_begin(struct sheet *sheet)
{
    struct csv csv = csv_of(sheet);
    csv_head(&csv, "");
    for (size_t i = 0; i < sheet->shown; i++)
        csv_name(&csv, text_shown(sheet->out, sheet->paths[sheet->order[i]]));
    return csv_print(&csv, sheet->out);
}

static bool columns_row(const struct sheet *sheet, LONGLONG time, const double *values)
{
    struct csv csv = csv_of(sheet);
    csv_time(&csv, time);
    for (size_t i = 0; i < sheet->shown; i++) {
        const char *text = text_of(sheet, sheet->order[i], values);
        if (text)
            csv_text(&csv, text);
        else
            csv_number(&csv, values[sheet->order[i]]);
    }
    return csv_print(&csv, sheet->out);
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
    sheet->head_text = text;
    return good;
}

/* Prints a row. It is formatted in one buffer for speed: a capture may have a million rows. */
static bool print_json(const struct sheet *sheet, LONGLONG time, const double *values)
{
    char text[SHEET_TIME_SIZE];
    BUFFER_AUTO row = {0};
    put_time(time, text);
    buffer_printf(&row, "{\"time\": \"%s\", \"counters\": [", text);
    for (size_t i = 0; i < sheet->shown; i++) {
        size_t column = sheet->order[i], head = sheet->heads[column];
        buffer_add_text(&row, i ? ", " : "");
        buffer_add(&row, sheet->head_text + head, sheet->heads[column + 1] - head);
        const char *given = text_of(sheet, column, values);
        if (given) {
            fwrite(row.data, 1, row.len, sheet->out);
            buffer_clear(&row);
            json_string(&(struct json){.out = sheet->out, .flat = true}, NULL, given);
        } else if (!isfinite(values[column]))
            buffer_add_text(&row, "null");
        else if (buffer_reserve(&row, NUMBER_SIZE))
            row.len += number_shortest17(values[column], row.data + row.len);
        buffer_add_byte(&row, '}');
    }
    buffer_add_text(&row, "]}");
    fwrite(row.data, 1, row.len, sheet->out);
    return !row.failed;
}

static bool lines_row(const struct sheet *sheet, LONGLONG time, const double *values)
{
    return print_json(sheet, time, values) && fputc('\n', sheet->out);
}

static bool array_begin(struct sheet *sheet)
{
    fputc('[', sheet->out);
    return lines_begin(sheet);
}

static bool array_row(const struct sheet *sheet, LONGLONG time, const double *values)
{
    fputs(sheet->samples ? ",\n" : "\n", sheet->out);
    return print_json(sheet, time, values);
}

/* ---- the table for reading ---- */

static bool table_row(const struct sheet *sheet, LONGLONG time, const double *values)
{
    char text[SHEET_TIME_SIZE];
    put_time(time, text);
    text[10] = ' ';
    fprintf(sheet->out, "%s%s\n", sheet->samples ? "\n" : "", text);
    for (size_t i = 0; i < sheet->shown; i++) {
        double value = values[sheet->order[i]];
        const char *given = text_of(sheet, sheet->order[i], values);
        if (isnan(value))
            fprintf(sheet->out, "%20s", given ? text_seen(given) : "-");
        else
            fprintf(sheet->out, "%20.3f", value);
        fprintf(sheet->out, "  %s\n", text_seen(sheet->paths[sheet->order[i]]));
    }
    return true;
}

/* ---- entry points ---- */

const struct sheet_format sheet_formats[] = {
    {"CSV",   PDH_LOG_TYPE_CSV,    ',',  SHEET_COLUMNS, columns_begin, columns_row, ""     },
    {"TSV",   PDH_LOG_TYPE_TSV,    '\t', SHEET_COLUMNS, columns_begin, columns_row, ""     },
    {"BIN",   PDH_LOG_TYPE_BINARY, 0,    SHEET_PDH,     NULL,          NULL,        ""     },
    {"json",  0,                   0,    SHEET_ARRAY,   array_begin,   array_row,   "\n]\n"},
    {"jsonl", 0,                   0,    SHEET_LINES,   lines_begin,   lines_row,   ""     },
    {"table", 0,                   0,    SHEET_TABLE,   NULL,          table_row,   ""     },
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
    sheet->order = sheet->heads = NULL;
    sheet->head_text = NULL;
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

bool sheet_row(struct sheet *sheet, LONGLONG time, const double *values)
{
    const struct sheet_format *format = sheet->format;
    if (sheet->top && (!format->capture || !sheet->samples)) {
        choose_top(sheet, values);
        if (format->capture && !format->begin(sheet))
            return false;
    }
    bool good = format->row(sheet, time, values);
    sheet->samples++;
    return good;
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
