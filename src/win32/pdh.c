/* SPDX-License-Identifier: MIT */
/* The doors of pdh.h. */
#include "pdh/pdh.h"

PDH_STATUS WINAPI PdhFormatFromRawValue(DWORD counter_type, DWORD format, LONGLONG *time_base,
                                        PPDH_RAW_COUNTER newest, PPDH_RAW_COUNTER before,
                                        PPDH_FMT_COUNTERVALUE value)
{
    return format_from_raw(counter_type, format, time_base, newest, before, value);
}
