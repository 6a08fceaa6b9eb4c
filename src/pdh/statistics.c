/* SPDX-License-Identifier: MIT */
/* Smallest, largest and mean value of a ring of samples. */
#include "pdh/query.h"

#include <string.h>

struct tally {
    DWORD count;
    PDH_FMT_COUNTERVALUE min, max;
    double sum;
    LONGLONG whole_sum; /* of LONG and LARGE, unless it overflows */
    bool whole_fits;
};

static double number_of(const PDH_FMT_COUNTERVALUE *value, DWORD format)
{
    if (format & PDH_FMT_DOUBLE)
        return value->doubleValue;
    return format & PDH_FMT_LARGE ? (double)value->largeValue : value->longValue;
}

static LONGLONG whole_of(const PDH_FMT_COUNTERVALUE *value, DWORD format)
{
    return format & PDH_FMT_LARGE ? value->largeValue : value->longValue;
}

static bool less(const PDH_FMT_COUNTERVALUE *left, const PDH_FMT_COUNTERVALUE *right, DWORD format)
{
    if (format & PDH_FMT_DOUBLE)
        return left->doubleValue < right->doubleValue;
    return whole_of(left, format) < whole_of(right, format);
}

static void tally_add(struct tally *tally, const PDH_FMT_COUNTERVALUE *value, DWORD format)
{
    if (tally->count == 0 || less(value, &tally->min, format))
        tally->min = *value;
    if (tally->count == 0 || less(&tally->max, value, format))
        tally->max = *value;
    tally->count++;
    tally->sum += number_of(value, format);
    if (!(format & PDH_FMT_DOUBLE))
        tally->whole_fits &=
            !__builtin_add_overflow(tally->whole_sum, whole_of(value, format), &tally->whole_sum);
}

static void give_mean(const struct tally *tally, DWORD format, PDH_FMT_COUNTERVALUE *ret)
{
    double mean = tally->sum / tally->count;
    memset(ret, 0, sizeof *ret);
    if (format & PDH_FMT_DOUBLE)
        ret->doubleValue = mean;
    else {
        LONGLONG whole =
            tally->whole_fits ? tally->whole_sum / (LONGLONG)tally->count : (LONGLONG)mean;
        if (format & PDH_FMT_LARGE)
            ret->largeValue = whole;
        else
            ret->longValue = (LONG)whole;
    }
}

static void give_nothing(DWORD format, PDH_STATISTICS *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->dwFormat = format;
    ret->min.CStatus = ret->max.CStatus = ret->mean.CStatus = PDH_CSTATUS_INVALID_DATA;
}

/* A type that needs two samples has a value for each sample except the oldest. */
static void tally_all(const struct counter *counter, DWORD format, DWORD first, DWORD count,
                      const PDH_RAW_COUNTER *samples, struct tally *ret)
{
    bool two = formula_needs_two(counter->type);
    for (DWORD i = two; i < count; i++) {
        PDH_FMT_COUNTERVALUE value;
        const PDH_RAW_COUNTER *newest = &samples[(first + (ULONGLONG)i) % count];
        const PDH_RAW_COUNTER *before = i ? &samples[(first + (ULONGLONG)i - 1) % count] : NULL;
        if (format_scaled(counter->type, format, &counter->time_base, newest, before,
                          counter->scale, &value) == 0)
            tally_add(ret, &value, format);
    }
}

PDH_STATUS counter_statistics(PDH_HCOUNTER handle, DWORD format, DWORD first, DWORD count,
                              const PDH_RAW_COUNTER *samples, PDH_STATISTICS *ret)
{
    if (!samples || !ret || !count || first >= count || !format_valid(format))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    struct tally tally = {.whole_fits = true};
    PDH_STATUS status = formula_known(counter->type) ? 0 : (PDH_STATUS)PDH_INVALID_ARGUMENT;
    if (!status)
        tally_all(counter, format, first, count, samples, &tally);
    counter_unlock(counter);
    if (status)
        return status;
    give_nothing(format, ret);
    if (tally.count) {
        ret->count = tally.count;
        ret->min = tally.min;
        ret->max = tally.max;
        give_mean(&tally, format, &ret->mean);
    }
    return 0;
}
