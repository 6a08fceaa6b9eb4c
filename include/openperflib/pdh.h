/* SPDX-License-Identifier: MIT */
/*
 * Performance Data Helper: cooked values. So far the arithmetic only: one function turns two raw
 * samples into the number that a person wants to see.
 */
#ifndef OPENPERFLIB_PDH_H
#define OPENPERFLIB_PDH_H

#include "windef.h"
#include "winerror.h"
#include "winperf.h"

typedef LONG PDH_STATUS;

#define PDH_CVERSION_WIN40 ((DWORD)0x0400)
#define PDH_CVERSION_WIN50 ((DWORD)0x0500)
#define PDH_VERSION ((DWORD)0x0503)

/* longest names and paths, in characters */
#define MAX_COUNTER_PATH 256
#define PDH_MAX_COUNTER_NAME 1024
#define PDH_MAX_INSTANCE_NAME 1024
#define PDH_MAX_COUNTER_PATH 2048
#define PDH_MAX_DATASOURCE_PATH 1024

/* power of ten that a value is multiplied by */
#define PDH_MAX_SCALE 7L
#define PDH_MIN_SCALE (-7L)

/* levels beside PERF_DETAIL_*, for lists of counters */
#define PERF_DETAIL_COSTLY ((DWORD)0x00010000)
#define PERF_DETAIL_STANDARD ((DWORD)0x0000FFFF)

/* the form of a value: exactly one of LONG, DOUBLE, LARGE, and how to change it (reference F.5) */
#define PDH_FMT_RAW ((DWORD)0x00000010)
#define PDH_FMT_ANSI ((DWORD)0x00000020)
#define PDH_FMT_UNICODE ((DWORD)0x00000040)
#define PDH_FMT_LONG ((DWORD)0x00000100)
#define PDH_FMT_DOUBLE ((DWORD)0x00000200)
#define PDH_FMT_LARGE ((DWORD)0x00000400)
#define PDH_FMT_NOSCALE ((DWORD)0x00001000)
#define PDH_FMT_1000 ((DWORD)0x00002000)
#define PDH_FMT_NODATA ((DWORD)0x00004000)
#define PDH_FMT_NOCAP100 ((DWORD)0x00008000)

/* What is kept of a counter at one moment. Which clock or base stands in SecondValue depends on the
 * type: reference B.3, and opl_counter_sample of block.h fills the same. TimeStamp is local time.
 */
typedef struct _PDH_RAW_COUNTER {
    DWORD CStatus;
    FILETIME TimeStamp;
    LONGLONG FirstValue;
    LONGLONG SecondValue;
    DWORD MultiCount;
} PDH_RAW_COUNTER, *PPDH_RAW_COUNTER;

/* A cooked value; CStatus above 1 says that the number means nothing. */
typedef struct _PDH_FMT_COUNTERVALUE {
    DWORD CStatus;
    __extension__ union {
        LONG longValue;
        double doubleValue;
        LONGLONG largeValue;
        LPCSTR AnsiStringValue;
        LPCWSTR WideStringValue;
    };
} PDH_FMT_COUNTERVALUE, *PPDH_FMT_COUNTERVALUE;

OPL_BEGIN_DECLS

/*
 * Cooks a value of `counter_type` from its newest sample and the one before it, which may be NULL
 * for types that need only one. *time_base: ticks per second of the type's clock; may be NULL for
 * types that do not divide by it. Percentages above 100 become 100 unless PDH_FMT_NOCAP100 is
 * given; PDH_FMT_1000 multiplies by 1,000. LONG and LARGE are truncated toward zero, and stay at
 * their ends when the value lies outside.
 *
 * Returns 0 and *value with CStatus PDH_CSTATUS_VALID_DATA, or
 *   PDH_INVALID_ARGUMENT           value untouched: NULL where something is needed, not exactly one
 *                                  form, 1000 with NOSCALE, a base, text or unknown counter type
 *   PDH_INVALID_DATA               a sample is not valid: *value has that sample's CStatus
 *   PDH_CALC_NEGATIVE_VALUE        the counter went back (and did not wrap)
 *   PDH_CALC_NEGATIVE_DENOMINATOR  the clock or the base went back
 *   PDH_CALC_NEGATIVE_TIMEBASE     *time_base is zero or less
 * The last three set CStatus to PDH_CSTATUS_INVALID_DATA. (reference B.2-B.5, F.2)
 */
PDH_STATUS WINAPI PdhFormatFromRawValue(DWORD counter_type, DWORD format, LONGLONG *time_base,
                                        PPDH_RAW_COUNTER newest, PPDH_RAW_COUNTER before,
                                        PPDH_FMT_COUNTERVALUE value)
    OPL_SYMBOL(PdhFormatFromRawValue);

OPL_END_DECLS

#endif
