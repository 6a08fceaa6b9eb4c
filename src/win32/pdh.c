/* SPDX-License-Identifier: MIT */
/* The functions of pdh.h: queries, counters, values. */
#include "win32/pdh_text.h"

/* ---- queries ---- */

PDH_STATUS PdhOpenQueryA(LPCSTR source, DWORD_PTR user, PDH_HQUERY *query)
{
    return query_open(FROM_NAME(source), user, query);
}

PDH_STATUS PdhOpenQueryW(LPCWSTR source, DWORD_PTR user, PDH_HQUERY *query)
{
    NARROW(file, source);
    return query_open(FROM_NAME(file.text), user, query);
}

PDH_STATUS PdhOpenQueryH(PDH_HLOG source, DWORD_PTR user, PDH_HQUERY *query)
{
    return query_open(FROM_LOG(source), user, query);
}

PDH_STATUS PdhCloseQuery(PDH_HQUERY query)
{
    return query_close(query);
}

BOOL PdhIsRealTimeQuery(PDH_HQUERY query)
{
    return query_is_real_time(query);
}

PDH_STATUS PdhSetQueryTimeRange(PDH_HQUERY query, PPDH_TIME_INFO range)
{
    return query_time_range(query, range);
}

PDH_STATUS PdhCollectQueryData(PDH_HQUERY query)
{
    return query_collect(query, NULL);
}

PDH_STATUS PdhCollectQueryDataWithTime(PDH_HQUERY query, LONGLONG *time)
{
    return time ? query_collect(query, time) : (PDH_STATUS)PDH_INVALID_ARGUMENT;
}

PDH_STATUS PdhCollectQueryDataEx(PDH_HQUERY query, DWORD seconds, HANDLE event)
{
    return query_collect_each(query, seconds, event);
}

/* ---- counters ---- */

PDH_STATUS PdhAddCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user, PDH_HCOUNTER *counter)
{
    return counter_add(query, path, false, user, counter);
}

PDH_STATUS PdhAddCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user, PDH_HCOUNTER *counter)
{
    NARROW(text, path);
    return counter_add(query, text.text, false, user, counter);
}

PDH_STATUS PdhAddEnglishCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user,
                                 PDH_HCOUNTER *counter)
{
    return counter_add(query, path, true, user, counter);
}

PDH_STATUS PdhAddEnglishCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user,
                                 PDH_HCOUNTER *counter)
{
    NARROW(text, path);
    return counter_add(query, text.text, true, user, counter);
}

PDH_STATUS PdhRemoveCounter(PDH_HCOUNTER counter)
{
    return counter_remove(counter);
}

PDH_STATUS PdhGetCounterInfoA(PDH_HCOUNTER counter, BOOLEAN with_explain, LPDWORD size,
                              PPDH_COUNTER_INFO_A info)
{
    return counter_info(counter, with_explain, false, size, info);
}

PDH_STATUS PdhGetCounterInfoW(PDH_HCOUNTER counter, BOOLEAN with_explain, LPDWORD size,
                              PPDH_COUNTER_INFO_W info)
{
    return counter_info(counter, with_explain, true, size, info);
}

PDH_STATUS PdhSetCounterScaleFactor(PDH_HCOUNTER counter, LONG factor)
{
    return counter_scale(counter, factor);
}

PDH_STATUS PdhGetCounterTimeBase(PDH_HCOUNTER counter, LONGLONG *time_base)
{
    return counter_time_base(counter, time_base);
}

/* ---- values ---- */

PDH_STATUS PdhGetRawCounterValue(PDH_HCOUNTER counter, LPDWORD type, PPDH_RAW_COUNTER value)
{
    return counter_raw(counter, type, value);
}

PDH_STATUS PdhGetFormattedCounterValue(PDH_HCOUNTER counter, DWORD format, LPDWORD type,
                                       PPDH_FMT_COUNTERVALUE value)
{
    return counter_value(counter, format, type, value);
}

PDH_STATUS PdhGetRawCounterArrayA(PDH_HCOUNTER counter, LPDWORD size, LPDWORD count,
                                  PPDH_RAW_COUNTER_ITEM_A items)
{
    return counter_raw_array(counter, false, size, count, items);
}

PDH_STATUS PdhGetRawCounterArrayW(PDH_HCOUNTER counter, LPDWORD size, LPDWORD count,
                                  PPDH_RAW_COUNTER_ITEM_W items)
{
    return counter_raw_array(counter, true, size, count, items);
}

PDH_STATUS PdhGetFormattedCounterArrayA(PDH_HCOUNTER counter, DWORD format, LPDWORD size,
                                        LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_A items)
{
    return counter_value_array(counter, format, false, size, count, items);
}

PDH_STATUS PdhGetFormattedCounterArrayW(PDH_HCOUNTER counter, DWORD format, LPDWORD size,
                                        LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_W items)
{
    return counter_value_array(counter, format, true, size, count, items);
}

PDH_STATUS PdhCalculateCounterFromRawValue(PDH_HCOUNTER counter, DWORD format,
                                           PPDH_RAW_COUNTER newest, PPDH_RAW_COUNTER before,
                                           PPDH_FMT_COUNTERVALUE value)
{
    return counter_calculate(counter, format, newest, before, value);
}

PDH_STATUS PdhComputeCounterStatistics(PDH_HCOUNTER counter, DWORD format, DWORD first, DWORD count,
                                       PPDH_RAW_COUNTER samples, PPDH_STATISTICS statistics)
{
    return counter_statistics(counter, format, first, count, samples, statistics);
}

PDH_STATUS WINAPI PdhFormatFromRawValue(DWORD counter_type, DWORD format, LONGLONG *time_base,
                                        PPDH_RAW_COUNTER newest, PPDH_RAW_COUNTER before,
                                        PPDH_FMT_COUNTERVALUE value)
{
    return format_from_raw(counter_type, format, time_base, newest, before, value);
}

/* ---- the library ---- */

PDH_STATUS PdhGetDllVersion(LPDWORD version)
{
    if (!version)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    *version = PDH_VERSION;
    return 0;
}
