/* SPDX-License-Identifier: MIT */
/* The door of pdh: raw samples become the numbers that people want to see. (reference B.2-B.5, F.5)
 */
#ifndef OPL_PDH_H
#define OPL_PDH_H

#include "base/base.h"
#include <openperflib/pdh.h>
#include <openperflib/pdhmsg.h>

/* ---- formula.c ---- */
/* A value before it gets its form. Raw counts and differences are whole, and stay exact. */
struct cooked {
    double number;
    LONGLONG whole;
    bool is_whole;
    bool percent; /* capped at 100 unless the caller says otherwise */
};
/* Has the type a formula? False for bases, texts, headings, unknown ones. */
bool formula_known(DWORD counter_type);
bool formula_needs_two(DWORD counter_type);
/* `before` and `time_base` may be NULL. The samples' CStatus is not looked at.
 * PDH_INVALID_ARGUMENT: no formula, or no time base where one is needed; PDH_CSTATUS_INVALID_DATA:
 * the first sample of a type that needs two; PDH_CALC_NEGATIVE_*. */
PDH_STATUS formula_cook(DWORD counter_type, const LONGLONG *time_base,
                        const PDH_RAW_COUNTER *newest, const PDH_RAW_COUNTER *before,
                        struct cooked *ret);

/* ---- format.c ---- */
bool format_valid(DWORD format);
void format_value(const struct cooked *cooked, DWORD format, PDH_FMT_COUNTERVALUE *ret);
/* Cook and form in one: what PdhFormatFromRawValue does. */
PDH_STATUS format_from_raw(DWORD counter_type, DWORD format, const LONGLONG *time_base,
                           const PDH_RAW_COUNTER *newest, const PDH_RAW_COUNTER *before,
                           PDH_FMT_COUNTERVALUE *ret);

#endif
