/* SPDX-License-Identifier: MIT */
/* Numbers as short texts. */
#include "screen.h"

#include "../../common/pdh-message.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { KILO = 1000, KIBI = 1024, MINUTE = 60, HOUR = 3600, DAY = 86400 };

static void text_scaled(double number, double step, const char *const units[], char out[TEXT_SIZE])
{
    size_t unit = 0;
    double size = fabs(number);
    if (isnan(number)) {
        strcpy(out, "-");
        return;
    }
    while (size >= step * 0.9995 && units[unit + 1]) {
        size /= step;
        unit++;
    }
    snprintf(out, TEXT_SIZE, "%s%.*f%s", number < 0 ? "-" : "",
             size < 9.995 && (unit || size != floor(size))   ? 2
             : size < 99.95 && (unit || size != floor(size)) ? 1
                                                             : 0,
             size, units[unit]);
}

void text_number(double number, char out[TEXT_SIZE])
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E", NULL};
    text_scaled(number, KILO, units, out);
}

void text_bytes(double bytes, char out[TEXT_SIZE])
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB", NULL};
    text_scaled(bytes, KIBI, units, out);
}

void text_whole(double number, char out[TEXT_SIZE])
{
    if (isnan(number))
        strcpy(out, "-");
    else
        snprintf(out, TEXT_SIZE, "%.0f", number);
}

void text_percent(double number, char out[TEXT_SIZE])
{
    if (isnan(number))
        strcpy(out, "-");
    else
        snprintf(out, TEXT_SIZE, "%.1f", number);
}

void text_duration(double seconds, char out[TEXT_SIZE])
{
    if (isnan(seconds) || seconds < 0 || seconds > 1e12) {
        strcpy(out, "-");
        return;
    }
    long long whole = (long long)seconds;
    int hours = (int)(whole % DAY / HOUR), minutes = (int)(whole % HOUR / MINUTE);
    if (whole >= DAY)
        snprintf(out, TEXT_SIZE, "%lld d %d:%02d", whole / DAY, hours, minutes);
    else
        snprintf(out, TEXT_SIZE, "%d:%02d:%02d", hours, minutes, (int)(whole % MINUTE));
}

void text_time(int64_t time, const char *format, char *ret, size_t capacity)
{
    time_t seconds = (time_t)(time / 10000000 - 11644473600);
    struct tm parts;
    *ret = 0;
    if (time && localtime_r(&seconds, &parts))
        strftime(ret, capacity, format, &parts);
}

void text_reason(struct model *model, const struct table *table, char out[REASON_SIZE])
{
    const struct column *column = table ? table->columns : NULL;
    *out = 0;
    if (!table || !table->tick || (table->row_count && !column->status))
        return;
    struct model_source source;
    model_source(model, table->source, &source);
    model_want(model, table->id);
    const char *path = column->path, *end = strpbrk(path + 1, "(\\");
    if (column->why && end)
        snprintf(out, REASON_SIZE, local("%.*s does not answer: it %s"), (int)(end - path - 1),
                 path + 1, column->why);
    else if (source.capture && ((DWORD)column->status == PDH_CSTATUS_NO_COUNTER ||
                                (DWORD)column->status == PDH_CSTATUS_NO_OBJECT))
        snprintf(out, REASON_SIZE, local("%s: the capture has no such counter"), path);
    else
        snprintf(out, REASON_SIZE, "%s: %s", path,
                 pdh_message(column->status       ? column->status
                             : end && *end == '(' ? (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE
                                                  : (PDH_STATUS)PDH_CSTATUS_NO_OBJECT));
}

enum style style_of_percent(double percent)
{
    return isnan(percent) ? STYLE_PLAIN
           : percent < 50 ? STYLE_GOOD
           : percent < 80 ? STYLE_WARN
                          : STYLE_BAD;
}

void text_append(char *ret, size_t capacity, const char *format, ...)
{
    size_t used = strlen(ret);
    va_list args;
    va_start(args, format);
    vsnprintf(ret + used, capacity - used, format, args);
    va_end(args);
}
