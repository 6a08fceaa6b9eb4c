/* SPDX-License-Identifier: MIT */
/* Values of one counter: raw, cooked from the newest two samples, and statistics over several. */
#include "pdh/query.h"

#include <string.h>

/* ---- raw ---- */

PDH_STATUS counter_raw(PDH_HCOUNTER handle, DWORD *type, PDH_RAW_COUNTER *ret)
{
    if (!ret)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    /* a wildcard has no single value; its values are read as an array */
    PDH_STATUS status = counter->wild ? (PDH_STATUS)PDH_INVALID_ARGUMENT : 0;
    if (!status) {
        *ret = counter->newest.raw;
        if (type)
            *type = counter->type;
    }
    counter_unlock(counter);
    return status;
}

/* ---- cooked ---- */

static bool good(const struct sample *sample)
{
    return sample->raw.CStatus == PDH_CSTATUS_VALID_DATA ||
           sample->raw.CStatus == PDH_CSTATUS_NEW_DATA;
}

static PDH_STATUS no_value(DWORD cstatus, PDH_FMT_COUNTERVALUE *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->CStatus = cstatus;
    return (PDH_STATUS)PDH_INVALID_DATA;
}

PDH_STATUS cook_samples(const struct counter *counter, DWORD format, const struct sample *newest,
                        const struct sample *before, bool comparable, PDH_FMT_COUNTERVALUE *ret)
{
    if (!good(newest))
        return no_value(newest->raw.CStatus, ret);
    if (!formula_known(counter->type))
        return no_value(PDH_CSTATUS_INVALID_DATA, ret);
    if (formula_needs_two(counter->type)) {
        bool same = before && comparable && newest->identity == before->identity;
        if (!same || !good(before))
            return no_value(PDH_CSTATUS_INVALID_DATA, ret);
    }
    return format_scaled(counter->type, format, &counter->time_base, &newest->raw,
                         before ? &before->raw : NULL, counter->scale, ret);
}

PDH_STATUS counter_value(PDH_HCOUNTER handle, DWORD format, DWORD *type, PDH_FMT_COUNTERVALUE *ret)
{
    if (!ret || !format_valid(format))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    PDH_STATUS status = (PDH_STATUS)PDH_INVALID_ARGUMENT; /* a wildcard has no single value */
    if (!counter->wild) {
        status = cook_samples(counter, format, &counter->newest, &counter->before,
                              counter->comparable, ret);
        if (type)
            *type = counter->type;
    }
    counter_unlock(counter);
    return status;
}

PDH_STATUS counter_calculate(PDH_HCOUNTER handle, DWORD format, const PDH_RAW_COUNTER *newest,
                             const PDH_RAW_COUNTER *before, PDH_FMT_COUNTERVALUE *ret)
{
    if (!newest || !ret || !format_valid(format))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    PDH_STATUS status = format_scaled(counter->type, format, &counter->time_base, newest, before,
                                      counter->scale, ret);
    counter_unlock(counter);
    return status;
}

/* ---- arrays ---- */

/* The values of a counter as an array; a counter that is not a wildcard has one item. */
struct counter_array {
    struct sample_set *set;
    uint32_t count;
    const char *only; /* name of the only instance; NULL: the counter is a wildcard */
};

static void array_of(struct counter *counter, struct counter_array *ret)
{
    *ret = (struct counter_array){.set = &counter->sets[counter->turn]};
    ret->count = ret->set->count;
    if (!counter->wild) {
        ret->only = counter->path.whole ? counter->path.whole : "";
        ret->count = counter->newest.raw.CStatus == PDH_CSTATUS_VALID_DATA;
    }
}

static size_t bytes_of_names(const struct counter_array *array, bool wide)
{
    size_t bytes = 0;
    if (!array->only && !array->count)
        return 0;
    struct item_set *set = array->set->items;
    if (!array->only && !wide)
        return set->names.len;
    if (!array->only) {
        for (uint32_t i = 0; !set->wide_bytes && i < set->count; i++)
            bytes += utf8_to_16(set->names.data + set->items[i].name, set->items[i].length + 1,
                                NULL, 0) *
                     sizeof(uint16_t);
        return set->wide_bytes += bytes;
    }
    size_t length = strlen(array->only) + 1;
    if (!array->count)
        return 0;
    return wide ? utf8_to_16(array->only, length, NULL, 0) * sizeof(uint16_t) : length;
}

static PDH_STATUS measure(const struct counter_array *array, size_t item_size, bool wide,
                          DWORD *size, DWORD *count, bool *ret_fits)
{
    size_t needed = array->count * item_size + bytes_of_names(array, wide);
    *ret_fits = needed <= *size;
    if (needed > UINT32_MAX)
        return (PDH_STATUS)PDH_INSUFFICIENT_BUFFER;
    *size = (DWORD)needed;
    *count = array->count;
    return *ret_fits ? 0 : (PDH_STATUS)PDH_MORE_DATA;
}

static const char *name_of(const struct counter_array *array, uint32_t at, size_t *ret_length)
{
    if (array->only) {
        *ret_length = strlen(array->only);
        return array->only;
    }
    const struct item_set *set = array->set->items;
    *ret_length = set->items[at].length;
    return set->names.data + set->items[at].name;
}

/* Writes the name at *cursor and returns its address; advances *cursor past it. */
static void *put_name(const struct counter_array *array, uint32_t at, bool wide, char **cursor)
{
    size_t length;
    const char *name = name_of(array, at, &length);
    void *start = *cursor;
    if (wide)
        *cursor += utf8_to_16(name, length + 1, (uint16_t *)start, SIZE_MAX) * sizeof(uint16_t);
    else {
        memcpy(start, name, length + 1);
        *cursor += length + 1;
    }
    return start;
}

PDH_STATUS counter_raw_array(PDH_HCOUNTER handle, bool wide, DWORD *size, DWORD *count, void *items)
{
    PDH_RAW_COUNTER_ITEM_A *out = items;
    struct counter_array array;
    bool fits;
    if (!size || !count || (*size && !items))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    array_of(counter, &array);
    PDH_STATUS status = measure(&array, sizeof *out, wide, size, count, &fits);
    char *cursor = fits && items ? (char *)(out + array.count) : NULL;
    for (uint32_t i = 0; fits && i < array.count; i++) {
        out[i].szName = put_name(&array, i, wide, &cursor);
        out[i].RawValue = array.only ? counter->newest.raw : sample_set_at(array.set, i).raw;
    }
    counter_unlock(counter);
    return status;
}

/* Returns 0 even if some values are invalid: each value has a status of its own, CStatus. */
PDH_STATUS counter_value_array(PDH_HCOUNTER handle, DWORD format, bool wide, DWORD *size,
                               DWORD *count, void *items)
{
    PDH_FMT_COUNTERVALUE_ITEM_A *out = items;
    struct counter_array array;
    bool fits;
    if (!size || !count || (*size && !items) || !format_valid(format))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct counter *counter = counter_lock(handle);
    if (!counter)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    array_of(counter, &array);
    PDH_STATUS status = measure(&array, sizeof *out, wide, size, count, &fits);
    char *cursor = fits && items ? (char *)(out + array.count) : NULL;
    for (uint32_t i = 0; fits && i < array.count; i++) {
        out[i].szName = put_name(&array, i, wide, &cursor);
        if (array.only)
            cook_samples(counter, format, &counter->newest, &counter->before, counter->comparable,
                         &out[i].FmtValue);
        else
            cook_item(counter, i, format, &out[i].FmtValue);
    }
    counter_unlock(counter);
    return status;
}

/* ---- statistics ---- */

struct tally {
    DWORD count;
    PDH_FMT_COUNTERVALUE min, max;
    double sum;
    LONGLONG whole_sum; /* sum of LONG or LARGE values; valid if whole_fits */
    bool whole_fits;
};

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
    if (format & PDH_FMT_DOUBLE) {
        tally->sum += value->doubleValue;
        return;
    }
    LONGLONG whole = whole_of(value, format);
    tally->sum += (double)whole;
    tally->whole_fits &= !__builtin_add_overflow(tally->whole_sum, whole, &tally->whole_sum);
}

static void put_mean(const struct tally *tally, DWORD format, PDH_FMT_COUNTERVALUE *ret)
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

static void put_no_values(DWORD format, PDH_STATISTICS *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->dwFormat = format;
    ret->min.CStatus = ret->max.CStatus = ret->mean.CStatus = PDH_CSTATUS_INVALID_DATA;
}

/* Adds up all values. A type that needs two samples has a value for each sample except the oldest
 * one. */
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
    put_no_values(format, ret);
    if (tally.count) {
        ret->count = tally.count;
        ret->min = tally.min;
        ret->max = tally.max;
        put_mean(&tally, format, &ret->mean);
    }
    return 0;
}
