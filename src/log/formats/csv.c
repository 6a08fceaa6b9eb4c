/* SPDX-License-Identifier: MIT */
/* Makes lines of CSV and TSV. A field is written into memory that is reserved once for all of it,
 * because a capture may have millions of them. */
#include "log/log.h"

#include <math.h>
#include <string.h>

void csv_head(struct csv *csv, const char *zone)
{
    buffer_printf(&csv->lines, "\"(PDH-%s 4.0)%s\"%c", csv->separator == '\t' ? "TSV" : "CSV", zone,
                  csv->separator);
}

/* Reserves memory for a field of at most `size` bytes. Returns where it is to be written, after its
 * opening quote; NULL: no memory. */
static char *begin(struct csv *csv, size_t size)
{
    struct buffer *lines = &csv->lines;
    if (!buffer_reserve(lines, size + 3))
        return NULL;
    lines->data[lines->len] = '"';
    return lines->data + lines->len + 1;
}

/* `out`: the end of the field's text. */
static void end(struct csv *csv, char *out)
{
    *out++ = '"';
    *out++ = csv->separator;
    csv->lines.len = (size_t)(out - csv->lines.data);
}

void csv_name(struct csv *csv, const char *name)
{
    char *out = begin(csv, strlen(name));
    if (out)
        end(csv, stpcpy(out, name));
}

void csv_text(struct csv *csv, const char *text)
{
    char *out = begin(csv, strlen(text) * strlen(csv->quote));
    if (!out)
        return;
    for (; *text; text++)
        if (*text == '"')
            out = stpcpy(out, csv->quote);
        else
            *out++ = (unsigned char)*text < ' ' ? ' ' : *text;
    end(csv, out);
}

void csv_number(struct csv *csv, double number)
{
    char *out = begin(csv, NUMBER_FIXED_SIZE);
    if (!out)
        return;
    if (isnan(number))
        out = stpcpy(out, csv->none);
    else
        out += csv->fixed ? number_fixed6(number, out) : number_shortest17(number, out);
    end(csv, out);
}

static char *put_digits(char *out, unsigned number, int digits, char after)
{
    for (int i = digits - 1; i >= 0; i--) {
        out[i] = (char)('0' + number % 10);
        number /= 10;
    }
    out[digits] = after;
    return out + digits + 1;
}

/* Writes a time as "11/26/2016 13:46:30.874". */
void csv_time(struct csv *csv, LONGLONG time)
{
    enum { LENGTH = 23 };
    SYSTEMTIME t;
    char *out = begin(csv, LENGTH);
    if (!out)
        return;
    clock_systemtime(time, &t);
    out = put_digits(out, t.wMonth, 2, '/');
    out = put_digits(out, t.wDay, 2, '/');
    out = put_digits(out, t.wYear, 4, ' ');
    out = put_digits(out, t.wHour, 2, ':');
    out = put_digits(out, t.wMinute, 2, ':');
    out = put_digits(out, t.wSecond, 2, '.');
    end(csv, put_digits(out, t.wMilliseconds, 3, '"') - 1);
}

void csv_end(struct csv *csv)
{
    csv->lines.len -= csv->lines.len > 0;
    buffer_add_text(&csv->lines, csv->end);
}

bool csv_print(struct csv *csv, FILE *out)
{
    csv_end(csv);
    bool good = !csv->lines.failed;
    if (good)
        fwrite(csv->lines.data, 1, csv->lines.len, out);
    buffer_done(&csv->lines);
    return good;
}
