/* SPDX-License-Identifier: MIT */
/* One value: raw as the block has it, cooked by PdhFormatFromRawValue, printed with the unit
 * that its type (and the word Bytes in its title) allows. */
#include "view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_text(const struct view_counter *counter)
{
    return (counter->now.definition.CounterType & 0x00000c00) == PERF_TYPE_TEXT;
}

static PDH_RAW_COUNTER raw_counter(const opl_sample *sample)
{
    return (PDH_RAW_COUNTER){.CStatus = PDH_CSTATUS_VALID_DATA,
                             .FirstValue = sample->first,
                             .SecondValue = sample->second,
                             .MultiCount = sample->multi_count};
}

static void cook(const struct view_counter *counter, const opl_sample *now,
                 const opl_sample *before, struct view_value *ret)
{
    PDH_RAW_COUNTER newer = raw_counter(now), older;
    PDH_FMT_COUNTERVALUE value = {0};
    LONGLONG time_base = now->time_base;
    if (before)
        older = raw_counter(before);
    ret->status = (DWORD)PdhFormatFromRawValue(counter->now.definition.CounterType,
                                               PDH_FMT_DOUBLE | PDH_FMT_NOCAP100 | PDH_FMT_NOSCALE,
                                               &time_base, &newer, before ? &older : NULL, &value);
    if (ret->status == 0)
        ret->status = value.CStatus > PDH_CSTATUS_NEW_DATA ? value.CStatus : 0;
    ret->state = ret->status ? VIEW_INVALID : VIEW_NUMBER;
    ret->number = value.doubleValue;
}

bool view_whole(const struct view_counter *counter)
{
    DWORD type = counter->now.definition.CounterType;
    return (type & 0x00000c00) == PERF_TYPE_NUMBER && (type & 0x000f0000) != PERF_NUMBER_DEC_1000 &&
           counter->type.name;
}

void view_value_get(const struct view_object *object, const struct view_instance *instance,
                    const struct view_counter *counter, struct view_value *ret)
{
    opl_sample before;
    bool has_before = false;
    *ret = (struct view_value){.state = VIEW_NOTHING};
    if (counter->now.definition.CounterType == PERF_COUNTER_NODATA)
        return;
    if (is_text(counter)) {
        bool there = opl_counter_text(&object->now_snapshot->block, &object->now, &instance->now,
                                      &counter->now, NULL, 0) != 0;
        ret->state = there ? VIEW_STRING : VIEW_DAMAGED;
        return;
    }
    ret->has_raw = opl_counter_sample(&object->now_snapshot->block, &object->now, &instance->now,
                                      &counter->now, &ret->raw);
    if (!ret->has_raw) {
        ret->state = VIEW_DAMAGED;
        return;
    }
    if (counter->type.is_base)
        return;
    ret->whole = view_whole(counter);
    if (object->has_before && instance->has_before && counter->has_before)
        has_before = opl_counter_sample(&object->before_snapshot->block, &object->before,
                                        &instance->before, &counter->before, &before);
    if (!counter->type.name)
        ret->state = VIEW_UNKNOWN;
    else if (counter->type.needs_two_samples && !has_before)
        ret->state = VIEW_WAITING;
    else
        cook(counter, &ret->raw, has_before ? &before : NULL, ret);
}

void view_value_string(const struct view_object *object, const struct view_instance *instance,
                       const struct view_counter *counter, char *out, size_t capacity)
{
    char text[1024] = "";
    opl_counter_text(&object->now_snapshot->block, &object->now, &instance->now, &counter->now,
                     text, sizeof text);
    text_clean(text, out, capacity);
}

/* ---- units ---- */

/* Units in languages where they differ from English. */
static const struct unit_word {
    const char *language, *english, *word;
} unit_text[] = {
    {"019", "B",   "Б"      },
    {"019", "KiB", "КиБ"  },
    {"019", "MiB", "МиБ"  },
    {"019", "GiB", "ГиБ"  },
    {"019", "TiB", "ТиБ"  },
    {"019", "us",  "мкс"  },
    {"019", "ms",  "мс"    },
    {"019", "s",   "с"      },
    {"019", "d",   "д"      },
    {"019", "/s",  "/с"     },
    {"019", "k",   "тыс." },
    {"019", "M",   "млн"  },
    {"019", "G",   "млрд"},
    {"00C", "B",   "o"       },
    {"00C", "KiB", "Kio"     },
    {"00C", "MiB", "Mio"     },
    {"00C", "GiB", "Gio"     },
    {"00C", "TiB", "Tio"     },
    {"00C", "d",   "j"       },
};
static const char *unit_language = "";

void view_unit_language(const char *language)
{
    unit_language = language;
}

static const char *unit_word(const char *english)
{
    for (size_t i = 0; i < sizeof unit_text / sizeof *unit_text; i++)
        if (strcasecmp(unit_text[i].language, unit_language) == 0 &&
            strcmp(unit_text[i].english, english) == 0)
            return unit_text[i].word;
    return english;
}

struct scale {
    double from;
    double divide;
    const char *unit;
};

/* Prints three significant digits, or all digits of the integer part: 1.23, 12.3, 123, 1234. */
static void print_scaled(char *out, size_t capacity, double number, const char *unit)
{
    double size = fabs(number);
    int digits = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : 2;
    snprintf(out, capacity, "%.*f%s%s", digits, number, *unit ? " " : "", unit);
}

static const struct scale *scale_for(const struct scale *scales, double number)
{
    while (scales[1].unit && fabs(number) >= scales[1].from)
        scales++;
    return scales;
}

static void print_bytes(char *out, size_t capacity, double bytes, const char *suffix)
{
    static const struct scale scales[] = {
        {0,                   1,               "B"  },
        {1000,                1024.0,          "KiB"},
        {1000 * 1024.0,       1048576.0,       "MiB"},
        {1000 * 1048576.0,    1073741824.0,    "GiB"},
        {1000 * 1073741824.0, 1099511627776.0, "TiB"},
        {0,                   0,               NULL },
    };
    const struct scale *scale = scale_for(scales, bytes);
    char unit[32];
    snprintf(unit, sizeof unit, "%s%s", unit_word(scale->unit), suffix);
    print_scaled(out, capacity, bytes / scale->divide, unit);
}

static void print_seconds(char *out, size_t capacity, double seconds)
{
    static const struct scale scales[] = {
        {0,    1e-6, "us"},
        {1e-3, 1e-3, "ms"},
        {1,    1,    "s" },
        {0,    0,    NULL}
    };
    if (seconds < 100) {
        const struct scale *scale = seconds == 0 ? &scales[2] : scale_for(scales, seconds);
        print_scaled(out, capacity, seconds / scale->divide, unit_word(scale->unit));
        return;
    }
    long long whole = (long long)seconds, days = whole / 86400;
    int hours = (int)(whole / 3600 % 24), minutes = (int)(whole / 60 % 60),
        rest = (int)(whole % 60);
    if (days)
        snprintf(out, capacity, "%lld %s %02d:%02d:%02d", days, unit_word("d"), hours, minutes,
                 rest);
    else
        snprintf(out, capacity, "%d:%02d:%02d", hours, minutes, rest);
}

static void print_rate(char *out, size_t capacity, double rate, const char *suffix)
{
    static const struct scale scales[] = {
        {0,   1,   ""  },
        {1e5, 1e3, "k" },
        {1e6, 1e6, "M" },
        {1e9, 1e9, "G" },
        {0,   0,   NULL}
    };
    const struct scale *scale = scale_for(scales, rate);
    char unit[32];
    snprintf(unit, sizeof unit, "%s%s", unit_word(scale->unit), suffix);
    print_scaled(out, capacity, rate / scale->divide, unit);
}

static void print_whole(const struct view_counter *counter, const opl_sample *raw, char *out,
                        size_t capacity)
{
    static const double factors[] = {1, 1, 1024.0, 1048576.0};
    DWORD type = counter->now.definition.CounterType;
    if ((type & 0x000f0000) == PERF_NUMBER_HEX)
        snprintf(out, capacity, "0x%" PRIX64, (uint64_t)raw->first);
    else if (counter->unit != UNIT_PLAIN)
        print_bytes(out, capacity, (double)raw->first * factors[counter->unit], "");
    else
        snprintf(out, capacity, "%" PRId64, (int64_t)raw->first);
}

void view_number_text(const struct view_counter *counter, const struct view_value *value, char *out,
                      size_t capacity)
{
    const char *suffix = counter->type.suffix ? counter->type.suffix : "";
    const char *rate = strcmp(suffix, "/sec") == 0 ? unit_word("/s") : "";
    if (value->whole)
        print_whole(counter, &value->raw, out, capacity);
    else if (strcmp(suffix, "%") == 0)
        snprintf(out, capacity, "%.1f %%", value->number);
    else if (strcmp(suffix, "secs") == 0)
        print_seconds(out, capacity, value->number);
    else if (counter->unit == UNIT_BYTES)
        print_bytes(out, capacity, value->number, rate);
    else
        print_rate(out, capacity, value->number, rate);
}

void view_value_text(const struct view_object *object, const struct view_instance *instance,
                     const struct view_counter *counter, char *out, size_t capacity)
{
    struct view_value value;
    view_value_get(object, instance, counter, &value);
    if (value.state == VIEW_STRING)
        view_value_string(object, instance, counter, out, capacity);
    else if (value.state == VIEW_NUMBER)
        view_number_text(counter, &value, out, capacity);
    else
        snprintf(out, capacity, "-");
}

const char *view_value_why(const struct view_value *value)
{
    static const char *const reasons[] = {
        [VIEW_NUMBER] = "",
        [VIEW_STRING] = "",
        [VIEW_NOTHING] = "",
        [VIEW_WAITING] = "needs two samples",
        [VIEW_UNKNOWN] = "unknown counter type",
        [VIEW_DAMAGED] = "damaged: the value lies outside its counter block",
    };
    if (value->state != VIEW_INVALID)
        return reasons[value->state];
    if (value->status == PDH_CALC_NEGATIVE_VALUE)
        return "the value became smaller between the samples";
    if (value->status == PDH_CALC_NEGATIVE_DENOMINATOR)
        return "its clock or base became smaller between the samples";
    if (value->status == PDH_CALC_NEGATIVE_TIMEBASE)
        return "the frequency of its clock is 0";
    return "invalid data";
}
