/* SPDX-License-Identifier: MIT */
/* What has a door already, but nobody behind it. */
#include "pdh/pdh.h"

#define UNFINISHED(name, ...)                                                                      \
    PDH_STATUS name(__VA_ARGS__)                                                                   \
    {                                                                                              \
        return (PDH_STATUS)PDH_NOT_IMPLEMENTED;                                                    \
    }

UNFINISHED(query_open, struct pdh_from from, DWORD_PTR user, PDH_HQUERY *ret)
UNFINISHED(query_close, PDH_HQUERY query)
UNFINISHED(query_time_range, PDH_HQUERY query, const PDH_TIME_INFO *range)
UNFINISHED(query_collect, PDH_HQUERY query, LONGLONG *ret_time)
UNFINISHED(query_collect_each, PDH_HQUERY query, DWORD seconds, HANDLE event)
UNFINISHED(counter_add, PDH_HQUERY query, const char *path, bool english, DWORD_PTR user,
           PDH_HCOUNTER *ret)
UNFINISHED(counter_remove, PDH_HCOUNTER counter)
UNFINISHED(counter_info, PDH_HCOUNTER counter, bool explain, bool wide, DWORD *size, void *ret)
UNFINISHED(counter_scale, PDH_HCOUNTER counter, LONG factor)
UNFINISHED(counter_time_base, PDH_HCOUNTER counter, LONGLONG *ret)
UNFINISHED(counter_raw, PDH_HCOUNTER counter, DWORD *type, PDH_RAW_COUNTER *ret)
UNFINISHED(counter_value, PDH_HCOUNTER counter, DWORD format, DWORD *type,
           PDH_FMT_COUNTERVALUE *ret)
UNFINISHED(counter_calculate, PDH_HCOUNTER counter, DWORD format, const PDH_RAW_COUNTER *newest,
           const PDH_RAW_COUNTER *before, PDH_FMT_COUNTERVALUE *ret)
UNFINISHED(counter_raw_array, PDH_HCOUNTER counter, bool wide, DWORD *size, DWORD *count,
           void *items)
UNFINISHED(counter_value_array, PDH_HCOUNTER counter, DWORD format, bool wide, DWORD *size,
           DWORD *count, void *items)
UNFINISHED(counter_statistics, PDH_HCOUNTER counter, DWORD format, DWORD first, DWORD count,
           const PDH_RAW_COUNTER *samples, PDH_STATISTICS *ret)

UNFINISHED(capture_open, const struct capture_wish *wish, DWORD *type, PDH_HLOG *ret)
UNFINISHED(capture_bind, const char *files, size_t size, PDH_HLOG *ret)
UNFINISHED(capture_update, PDH_HLOG log, const char *user_string)
UNFINISHED(capture_close, PDH_HLOG log, DWORD flags)
UNFINISHED(capture_catalog, PDH_HLOG log)
UNFINISHED(capture_size, PDH_HLOG log, LONGLONG *ret)
UNFINISHED(capture_record, PDH_HLOG log, FILETIME time, PDH_RAW_LOG_RECORD *ret, DWORD *size)
UNFINISHED(capture_time_range, struct pdh_from from, PDH_TIME_INFO *ret)
UNFINISHED(capture_set_default, DWORD source)

bool query_is_real_time(PDH_HQUERY query)
{
    return false;
}
