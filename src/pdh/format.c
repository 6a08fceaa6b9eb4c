/* SPDX-License-Identifier: MIT */
/*
 * Formats a cooked value: capped, times 1,000, as LONG, LARGE or DOUBLE. Conversions saturate at
 * the limits of their type; a whole number never passes through a double on its way to LARGE.
 */
#include "pdh/pdh.h"

#include <stdlib.h>
#include <string.h>

static const DWORD kinds = PDH_FMT_LONG | PDH_FMT_DOUBLE | PDH_FMT_LARGE;

bool format_valid(DWORD format)
{
    DWORD kind = format & kinds;
    bool one_kind = kind && !(kind & (kind - 1));
    bool text = format & (PDH_FMT_RAW | PDH_FMT_ANSI | PDH_FMT_UNICODE);
    bool contrary = format & PDH_FMT_1000 && format & PDH_FMT_NOSCALE;
    return one_kind && !text && !contrary;
}

/* Percentages are limited to 0 to 100: several processors exceed 100, skewed clocks give less than
 * 0. (docs/windows/types.md#b5) */
static double capped(const struct cooked *cooked, DWORD format)
{
    if (!cooked->percent)
        return cooked->number;
    if (cooked->number < 0)
        return 0;
    return cooked->number > 100.0 && !(format & PDH_FMT_NOCAP100) ? 100.0 : cooked->number;
}

/* Times a power of ten, rounded toward zero. */
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

/* Toward zero. 2^63 is the first double that does not fit. */
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

/* `ret` gets the reason why there is no number; the caller's status is returned. */
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
