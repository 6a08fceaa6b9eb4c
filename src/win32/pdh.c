/* SPDX-License-Identifier: MIT */
/* The functions of pdh.h: queries, counters, values. */
#include "win32/pdh_text.h"

#include <string.h>

/* ---- texts ---- */

/* ---- how the functions of pdh.h write lists and names into the caller's buffer ---- */

bool out_valid(struct text_out out)
{
    return out.length && (out.text || *out.length == 0);
}

/* Copies `bytes` bytes of UTF-8, which include all NULs. *out.length becomes the length that is
 * needed. */
static PDH_STATUS copy_out(const char *text, size_t bytes, struct text_out out)
{
    size_t needed = out.wide ? utf8_to_16(text, bytes, NULL, 0) : bytes;
    DWORD capacity = *out.length;
    *out.length = (DWORD)needed;
    if (needed > capacity)
        return (PDH_STATUS)PDH_MORE_DATA;
    if (out.wide)
        utf8_to_16(text, bytes, out.text, needed);
    else
        memcpy(out.text, text, bytes);
    return 0;
}

PDH_STATUS copy_list(const struct buffer *list, struct text_out out)
{
    if (list->failed)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    return list->len ? copy_out(list->data, list->len + 1, out) : copy_out("\0", 2, out);
}

PDH_STATUS copy_text(const struct buffer *text, struct text_out out)
{
    if (text->failed)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    return copy_out(text->len ? text->data : "", text->len + 1, out);
}

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

/* ---- for Visual Basic ---- */

/* The functions of pdh.h whose simple signatures Visual Basic can call: ANSI text, no structures.
 * (docs/windows/pdh.md#f2) */

PDH_STATUS PdhVbOpenQuery(PDH_HQUERY *query)
{
    return query_open(FROM_NAME(NULL), 0, query);
}

PDH_STATUS PdhVbAddCounter(PDH_HQUERY query, LPCSTR path, PDH_HCOUNTER *counter)
{
    return counter_add(query, path, false, 0, counter);
}

/* Returns 0 if there is no value; then *counter_status is the value's status, or the call's status
 * if the counter was not found. */
double PdhVbGetDoubleCounterValue(PDH_HCOUNTER counter, LPDWORD counter_status)
{
    PDH_FMT_COUNTERVALUE value = {0};
    PDH_STATUS status = counter_value(counter, PDH_FMT_DOUBLE, NULL, &value);
    if (counter_status)
        *counter_status = value.CStatus || !status ? value.CStatus : (DWORD)status;
    return status ? 0 : value.doubleValue;
}

DWORD PdhVbIsGoodStatus(PDH_STATUS status)
{
    return status >= 0;
}

/* ---- parts of a path ---- */

enum { MACHINE, OBJECT, INSTANCE, PARENT, COUNTER, PARTS };

static PDH_STATUS copy_parts(const struct pdh_path *path, LPSTR const *ret, DWORD size)
{
    const char *parts[PARTS] = {path->machine, path->object, path->instance, path->parent,
                                path->counter};
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i] && strlen(parts[i]) >= size)
            return (PDH_STATUS)PDH_MORE_DATA;
    for (size_t i = 0; i < PARTS; i++)
        strcpy(ret[i], parts[i] ? parts[i] : "");
    return 0;
}

PDH_STATUS PdhVbGetCounterPathElements(LPCSTR path, LPSTR machine, LPSTR object, LPSTR instance,
                                       LPSTR parent, LPSTR counter, DWORD size)
{
    PATH_AUTO found = {0};
    const LPSTR parts[PARTS] = {machine, object, instance, parent, counter};
    if (!path || !size || !machine || !object || !instance || !parent || !counter)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = path_parse(path, &found);
    return status ? status : copy_parts(&found, parts, size);
}

/* ---- captures ---- */

PDH_STATUS PdhVbOpenLog(LPCSTR file, DWORD access, LPDWORD type, PDH_HQUERY query, DWORD max_size,
                        LPCSTR caption, PDH_HLOG *log)
{
    const struct capture_options options = {file, caption, access, max_size, query};
    return capture_open(&options, type, log);
}

PDH_STATUS PdhVbUpdateLog(PDH_HLOG log, LPCSTR user_string)
{
    return capture_update(log, 0, user_string);
}

/* Fails for sizes above 2 GiB, which do not fit into a Long of Visual Basic. */
PDH_STATUS PdhVbGetLogFileSize(PDH_HLOG log, LONG *size)
{
    LONGLONG bytes;
    if (!size)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = capture_size(log, &bytes);
    if (!status && bytes > INT32_MAX)
        return (PDH_STATUS)PDH_INSUFFICIENT_BUFFER;
    if (!status)
        *size = (LONG)bytes;
    return status;
}
