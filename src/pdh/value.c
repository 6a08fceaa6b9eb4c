/* SPDX-License-Identifier: MIT */
/* Values of one counter: as collected, and cooked from the newest two samples. */
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
    /* wildcards have arrays */
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
    PDH_STATUS status = (PDH_STATUS)PDH_INVALID_ARGUMENT; /* wildcards have arrays */
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
