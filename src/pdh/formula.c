/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of every counter type: each type has a row that states how to read the two samples
 * and which formula to apply. The order of operations is Windows' own, determined by reproducing
 * 242 printed values bit for bit: operands are converted to double, divisions are done first, the
 * factor 100 is applied last. (docs/windows/types.md#b4) A cooked value is then formatted as LONG,
 * LARGE or DOUBLE.
 */
#include "pdh/pdh.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The input of a formula. */
struct operands {
    double first;  /* FirstValue or its increase; for an age, the time since FirstValue */
    double second; /* SecondValue, or its increase */
    double time_base;
    double multi_count;
    LONGLONG whole; /* `first` as an exact integer */
};

typedef double formula(const struct operands *from);

static double formula_value(const struct operands *from)
{
    return from->first;
}

static double formula_rate(const struct operands *from)
{
    return from->first / (from->second / from->time_base);
}

static double formula_ratio(const struct operands *from)
{
    return from->first / from->second;
}

static double formula_percent(const struct operands *from)
{
    return from->first / from->second * 100.0;
}

static double formula_percent_inverse(const struct operands *from)
{
    return (1.0 - from->first / from->second) * 100.0;
}

/* No time base is needed, because FirstValue was already multiplied by the frequency
 * (docs/windows/types.md#b3). */
static double formula_multi(const struct operands *from)
{
    return from->first / from->second / from->multi_count * 100.0;
}

/* Divides by MultiCount, as Windows' perfmon does; the sample in the documentation omits that.
 * (docs/windows/types.md#b5) */
static double formula_multi_inverse(const struct operands *from)
{
    return (from->multi_count - from->first / from->second) / from->multi_count * 100.0;
}

static double formula_average_time(const struct operands *from)
{
    return from->first / from->time_base / from->second;
}

static double formula_seconds(const struct operands *from)
{
    return from->first / from->time_base;
}

/* Which operands are taken from the samples. */
enum reading {
    READ_NEWEST, /* the newest values, unchanged */
    READ_RISE,   /* newest minus previous value, for FirstValue and SecondValue */
    READ_DOUBLE, /* FirstValue has the bits of a double */
    READ_AGE     /* SecondValue, a clock, minus FirstValue, a start time */
};

enum {
    NARROW = 1,      /* the counter has 4 bytes and wraps at 2^32 */
    NARROW_BASE = 2, /* the base has 4 bytes and wraps at 2^32 */
    /* SecondValue is a base, which may wrap; without this flag SecondValue is a clock, or not
     * used */
    BASE = 4,
    DIVIDES = 8,    /* the formula divides by SecondValue; if that is 0, the result is 0 */
    TIME_BASE = 16, /* the formula needs the ticks per second */
    MULTI = 32,     /* the formula divides by MultiCount */
    PERCENT = 64,
    WHOLE = 128, /* the result is exactly the integer `whole` */
    CLOCK = DIVIDES,
    PERCENT_OF_CLOCK = PERCENT | CLOCK,
    PER_SECOND = CLOCK | TIME_BASE,
    FRACTION = BASE | DIVIDES
};

struct formula_row {
    DWORD type;
    enum reading reading;
    formula *formula;
    unsigned flags;
};

/* clang-format off */
static const struct formula_row formula_rows[] = {
    {PERF_COUNTER_COUNTER,                READ_RISE,   formula_rate,            PER_SECOND | NARROW},
    {PERF_COUNTER_BULK_COUNT,             READ_RISE,   formula_rate,            PER_SECOND},
    {PERF_SAMPLE_COUNTER,                 READ_RISE,   formula_rate,            PER_SECOND | NARROW},
    {PERF_COUNTER_TIMER,                  READ_RISE,   formula_percent,         PERCENT_OF_CLOCK},
    {PERF_COUNTER_TIMER_INV,              READ_RISE,   formula_percent_inverse, PERCENT_OF_CLOCK},
    {PERF_100NSEC_TIMER,                  READ_RISE,   formula_percent,         PERCENT_OF_CLOCK},
    {PERF_100NSEC_TIMER_INV,              READ_RISE,   formula_percent_inverse, PERCENT_OF_CLOCK},
    {PERF_OBJ_TIME_TIMER,                 READ_RISE,   formula_percent,         PERCENT_OF_CLOCK},
    {PERF_COUNTER_MULTI_TIMER,            READ_RISE,   formula_multi,           PERCENT_OF_CLOCK | MULTI},
    {PERF_COUNTER_MULTI_TIMER_INV,        READ_RISE,   formula_multi_inverse,   PERCENT_OF_CLOCK | MULTI},
    {PERF_100NSEC_MULTI_TIMER,            READ_RISE,   formula_multi,           PERCENT_OF_CLOCK | MULTI},
    {PERF_100NSEC_MULTI_TIMER_INV,        READ_RISE,   formula_multi_inverse,   PERCENT_OF_CLOCK | MULTI},
    {PERF_COUNTER_QUEUELEN_TYPE,          READ_RISE,   formula_ratio,           CLOCK | NARROW},
    {PERF_COUNTER_LARGE_QUEUELEN_TYPE,    READ_RISE,   formula_ratio,           CLOCK},
    {PERF_COUNTER_100NS_QUEUELEN_TYPE,    READ_RISE,   formula_ratio,           CLOCK},
    {PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE, READ_RISE,   formula_ratio,           CLOCK},
    {PERF_COUNTER_RAWCOUNT,               READ_NEWEST, formula_value,           WHOLE},
    {PERF_COUNTER_LARGE_RAWCOUNT,         READ_NEWEST, formula_value,           WHOLE},
    {PERF_COUNTER_RAWCOUNT_HEX,           READ_NEWEST, formula_value,           WHOLE},
    {PERF_COUNTER_LARGE_RAWCOUNT_HEX,     READ_NEWEST, formula_value,           WHOLE},
    {PERF_COUNTER_DELTA,                  READ_RISE,   formula_value,           WHOLE | NARROW},
    {PERF_COUNTER_LARGE_DELTA,            READ_RISE,   formula_value,           WHOLE},
    {PERF_SAMPLE_FRACTION,                READ_RISE,   formula_percent,         PERCENT | FRACTION | NARROW | NARROW_BASE},
    {PERF_RAW_FRACTION,                   READ_NEWEST, formula_percent,         PERCENT | FRACTION},
    {PERF_LARGE_RAW_FRACTION,             READ_NEWEST, formula_percent,         PERCENT | FRACTION},
    /* not NARROW: the type has 4 bytes, but disk counters have 8, so a decrease is no wrap at
     * 2^32 */
    {PERF_AVERAGE_TIMER,                  READ_RISE,   formula_average_time,    FRACTION | NARROW_BASE | TIME_BASE},
    {PERF_AVERAGE_BULK,                   READ_RISE,   formula_ratio,           FRACTION | NARROW_BASE},
    {PERF_ELAPSED_TIME,                   READ_AGE,    formula_seconds,         TIME_BASE},
    {PERF_PRECISION_SYSTEM_TIMER,         READ_RISE,   formula_percent,         PERCENT | FRACTION},
    {PERF_PRECISION_100NS_TIMER,          READ_RISE,   formula_percent,         PERCENT | FRACTION},
    {PERF_PRECISION_OBJECT_TIMER,         READ_RISE,   formula_percent,         PERCENT | FRACTION},
    {TYPE_DOUBLE,                         READ_DOUBLE, formula_value,           0},
};
/* clang-format on */

/* Tries the row that was found last first: the values of a counter's instances have one type. */
static const struct formula_row *row_of(DWORD type)
{
    static _Atomic size_t last;
    size_t at = atomic_load_explicit(&last, memory_order_relaxed);
    if (formula_rows[at].type == type)
        return &formula_rows[at];
    for (at = 0; at < COUNT(formula_rows) && formula_rows[at].type != type; at++)
        ;
    if (at == COUNT(formula_rows))
        return NULL;
    atomic_store_explicit(&last, at, memory_order_relaxed);
    return &formula_rows[at];
}

bool formula_known(DWORD counter_type)
{
    return row_of(counter_type) != NULL;
}

bool formula_needs_two(DWORD counter_type)
{
    const struct formula_row *row = row_of(counter_type);
    return row && row->reading == READ_RISE;
}

/* Computes a counter's increase. A decrease by more than half of the counter's range is taken as
 * one wrap. Returns false for a smaller decrease: the two values are not of one counter, because
 * the instance was probably replaced by another with its name.
 * (docs/windows/types.md#b5) */
static bool rise_of(LONGLONG newest, LONGLONG before, bool narrow, ULONGLONG *ret)
{
    ULONGLONG to = (ULONGLONG)newest, from = (ULONGLONG)before;
    *ret = to - from;
    if (to >= from)
        return true;
    if (!narrow || from > UINT32_MAX)
        return from - to > UINT64_MAX / 2;
    *ret = (uint32_t)*ret;
    return from - to > UINT32_MAX / 2;
}

/* Computes a clock's increase. A clock never wraps: if it went back, returns false, because the two
 * samples cannot be used. */
static bool clock_rise_of(LONGLONG newest, LONGLONG before, ULONGLONG *ret)
{
    *ret = (ULONGLONG)newest - (ULONGLONG)before;
    return newest >= before;
}

static PDH_STATUS read_newest(const struct formula_row *row, const PDH_RAW_COUNTER *newest,
                              struct operands *ret)
{
    ret->whole = newest->FirstValue;
    ret->first = (double)newest->FirstValue;
    ret->second = (double)newest->SecondValue;
    if (row->flags & DIVIDES && newest->SecondValue < 0)
        return (PDH_STATUS)PDH_CALC_NEGATIVE_DENOMINATOR;
    if (row->flags & DIVIDES && newest->FirstValue < 0)
        return (PDH_STATUS)PDH_CALC_NEGATIVE_VALUE;
    return 0;
}

static PDH_STATUS read_rise(const struct formula_row *row, const PDH_RAW_COUNTER *newest,
                            const PDH_RAW_COUNTER *before, struct operands *ret)
{
    ULONGLONG first, second = 0;
    bool forward = true;
    if (row->flags & BASE)
        forward =
            rise_of(newest->SecondValue, before->SecondValue, row->flags & NARROW_BASE, &second);
    else if (row->flags & DIVIDES)
        forward = clock_rise_of(newest->SecondValue, before->SecondValue, &second);
    if (!forward)
        return (PDH_STATUS)PDH_CALC_NEGATIVE_DENOMINATOR;
    if (!rise_of(newest->FirstValue, before->FirstValue, row->flags & NARROW, &first))
        return (PDH_STATUS)PDH_CALC_NEGATIVE_VALUE;
    ret->first = (double)first;
    ret->second = (double)second;
    ret->whole = (LONGLONG)first;
    return 0;
}

/* Computes the time since FirstValue. The time is 0 if FirstValue is 0 (not started) or in the
 * future. (docs/windows/types.md#b5) */
static PDH_STATUS read_age(const PDH_RAW_COUNTER *newest, struct operands *ret)
{
    ULONGLONG age = 0;
    if (newest->FirstValue == 0 || !clock_rise_of(newest->SecondValue, newest->FirstValue, &age))
        age = 0;
    ret->first = (double)age;
    return 0;
}

/* Reads a number that is cooked already; columns of text captures have cooked numbers. */
static PDH_STATUS read_double(const PDH_RAW_COUNTER *newest, struct operands *ret)
{
    memcpy(&ret->first, &newest->FirstValue, sizeof ret->first);
    return __builtin_isfinite(ret->first) ? 0 : (PDH_STATUS)PDH_CSTATUS_INVALID_DATA;
}

static PDH_STATUS read_operands(const struct formula_row *row, const PDH_RAW_COUNTER *newest,
                                const PDH_RAW_COUNTER *before, struct operands *ret)
{
    ret->multi_count = newest->MultiCount;
    if (row->reading == READ_NEWEST)
        return read_newest(row, newest, ret);
    if (row->reading == READ_DOUBLE)
        return read_double(newest, ret);
    if (row->reading == READ_AGE)
        return read_age(newest, ret);
    if (!before)
        return (PDH_STATUS)PDH_CSTATUS_INVALID_DATA;
    return read_rise(row, newest, before, ret);
}

/* True if a divisor is 0, so that the value is 0, not NaN. (docs/windows/types.md#b5) */
static bool nothing_happened(const struct formula_row *row, const struct operands *from)
{
    return (row->flags & DIVIDES && from->second == 0) ||
           (row->flags & MULTI && from->multi_count == 0);
}

PDH_STATUS formula_cook(DWORD counter_type, const LONGLONG *time_base,
                        const PDH_RAW_COUNTER *newest, const PDH_RAW_COUNTER *before,
                        struct cooked *ret)
{
    const struct formula_row *row = row_of(counter_type);
    struct operands from = {0};
    PDH_STATUS status;
    if (!row || (row->flags & TIME_BASE && !time_base))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    if (row->flags & TIME_BASE && *time_base <= 0)
        return (PDH_STATUS)PDH_CALC_NEGATIVE_TIMEBASE;
    if (time_base)
        from.time_base = (double)*time_base;
    status = read_operands(row, newest, before, &from);
    if (status)
        return status;
    ret->number = nothing_happened(row, &from) ? 0 : row->formula(&from);
    ret->whole = from.whole;
    ret->is_whole = row->flags & WHOLE;
    ret->percent = row->flags & PERCENT;
    return 0;
}

/* ---- formats ---- */

/*
 * Formats a cooked value as LONG, LARGE or DOUBLE; `format` also says whether the value is capped,
 * and multiplied by 1,000. Conversions saturate at the limits of the result's type; an integer is
 * formatted as LARGE without being converted to double, so it stays exact.
 */
static const DWORD kinds = PDH_FMT_LONG | PDH_FMT_DOUBLE | PDH_FMT_LARGE;

bool format_valid(DWORD format)
{
    DWORD kind = format & kinds;
    bool one_kind = kind && !(kind & (kind - 1));
    bool text = format & (PDH_FMT_RAW | PDH_FMT_ANSI | PDH_FMT_UNICODE);
    bool contrary = format & PDH_FMT_1000 && format & PDH_FMT_NOSCALE;
    return one_kind && !text && !contrary;
}

/* Limits percentages to 0 to 100: a sum over processors can exceed 100, and two clocks that
 * disagree can lead to less than 0. (docs/windows/types.md#b5) */
static double capped(const struct cooked *cooked, DWORD format)
{
    if (!cooked->percent)
        return cooked->number;
    if (cooked->number < 0)
        return 0;
    return cooked->number > 100.0 && !(format & PDH_FMT_NOCAP100) ? 100.0 : cooked->number;
}

/* Multiplies by 10 to the power of `scale`, and rounds toward zero. */
static LONGLONG scaled(LONGLONG number, LONG scale)
{
    for (; scale < 0; scale++)
        number /= 10;
    for (; scale > 0; scale--) {
        LONGLONG product;
        if (__builtin_mul_overflow(number, 10, &product))
            return number < 0 ? INT64_MIN : INT64_MAX;
        number = product;
    }
    return number;
}

static double power_of_ten(LONG scale)
{
    double power = 1;
    for (LONG i = 0; i < labs(scale); i++)
        power *= 10;
    return power;
}

/* Rounds toward zero. 2^63 is the smallest double that is too large. */
static LONGLONG whole_of(double number)
{
    if (number >= 9223372036854775808.0)
        return INT64_MAX;
    return number > -9223372036854775808.0 ? (LONGLONG)number : INT64_MIN;
}

static LONG long_of(LONGLONG number)
{
    if (number > INT32_MAX)
        return INT32_MAX;
    return number < INT32_MIN ? INT32_MIN : (LONG)number;
}

void format_value(const struct cooked *cooked, DWORD format, LONG scale, PDH_FMT_COUNTERVALUE *ret)
{
    scale += format & PDH_FMT_1000 ? 3 : 0;
    double number = capped(cooked, format), power = power_of_ten(scale);
    number = scale < 0 ? number / power : number * power;
    memset(ret, 0, sizeof *ret);
    ret->CStatus = PDH_CSTATUS_VALID_DATA;
    if (format & PDH_FMT_DOUBLE) {
        ret->doubleValue = number;
        return;
    }
    LONGLONG whole = cooked->is_whole ? scaled(cooked->whole, scale) : whole_of(number);
    if (format & PDH_FMT_LARGE)
        ret->largeValue = whole;
    else
        ret->longValue = long_of(whole);
}

static bool good(const PDH_RAW_COUNTER *sample)
{
    return sample->CStatus == PDH_CSTATUS_VALID_DATA || sample->CStatus == PDH_CSTATUS_NEW_DATA;
}

/* Stores `cstatus`, the reason why there is no number, in `ret`; returns the caller's `status`. */
static PDH_STATUS no_value(DWORD cstatus, PDH_STATUS status, PDH_FMT_COUNTERVALUE *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->CStatus = cstatus;
    return status;
}

PDH_STATUS format_scaled(DWORD counter_type, DWORD format, const LONGLONG *time_base,
                         const PDH_RAW_COUNTER *newest, const PDH_RAW_COUNTER *before, LONG scale,
                         PDH_FMT_COUNTERVALUE *ret)
{
    bool two = formula_needs_two(counter_type);
    struct cooked cooked;
    PDH_STATUS status;
    if (!ret || !newest || (two && !before) || !format_valid(format) ||
        !formula_known(counter_type))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    if (!good(newest))
        return no_value(newest->CStatus, (PDH_STATUS)PDH_INVALID_DATA, ret);
    if (two && !good(before))
        return no_value(before->CStatus, (PDH_STATUS)PDH_INVALID_DATA, ret);
    status = formula_cook(counter_type, time_base, newest, before, &cooked);
    if (status == (PDH_STATUS)PDH_INVALID_ARGUMENT)
        return status;
    if (status)
        return no_value(PDH_CSTATUS_INVALID_DATA, status, ret);
    format_value(&cooked, format, format & PDH_FMT_NOSCALE ? 0 : scale, ret);
    return 0;
}

PDH_STATUS format_from_raw(DWORD counter_type, DWORD format, const LONGLONG *time_base,
                           const PDH_RAW_COUNTER *newest, const PDH_RAW_COUNTER *before,
                           PDH_FMT_COUNTERVALUE *ret)
{
    return format_scaled(counter_type, format, time_base, newest, before, 0, ret);
}
