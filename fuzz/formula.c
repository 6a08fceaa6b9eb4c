/* SPDX-License-Identifier: MIT */
/*
 * Input: type, format, time base, and two samples laid out as PDH_RAW_COUNTER. The result must be a
 * status that the API documents, without undefined behaviour and never NaN.
 */
#include "pdh/pdh.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

struct input {
    DWORD type, format;
    LONGLONG time_base;
    PDH_RAW_COUNTER newest, before;
};

static void check_value(DWORD format, const PDH_FMT_COUNTERVALUE *value)
{
    if (value->CStatus != PDH_CSTATUS_VALID_DATA)
        abort();
    if (format & PDH_FMT_DOUBLE && __builtin_isnan(value->doubleValue))
        abort();
}

static void run(const struct input *input, const PDH_RAW_COUNTER *before)
{
    PDH_FMT_COUNTERVALUE value = {0};
    PDH_STATUS status = format_from_raw(input->type, input->format, &input->time_base,
                                        &input->newest, before, &value);
    if (status == 0)
        check_value(input->format, &value);
    else if ((DWORD)status != PDH_INVALID_ARGUMENT && value.CStatus == PDH_CSTATUS_VALID_DATA)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {0};
    memcpy(&input, data, size < sizeof input ? size : sizeof input);
    run(&input, &input.before);
    run(&input, NULL);
    return 0;
}
