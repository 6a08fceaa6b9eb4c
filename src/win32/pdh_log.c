/* SPDX-License-Identifier: MIT */
/* The functions of pdh.h for captures; and functions for databases and dialogs, which are not
 * implemented. */
#include "win32/pdh_text.h"

PDH_STATUS PdhOpenLogA(LPCSTR file, DWORD access, LPDWORD type, PDH_HQUERY query, DWORD max_size,
                       LPCSTR caption, PDH_HLOG *log)
{
    const struct capture_options options = {file, caption, access, max_size, query};
    return capture_open(&options, type, log);
}

PDH_STATUS PdhOpenLogW(LPCWSTR file, DWORD access, LPDWORD type, PDH_HQUERY query, DWORD max_size,
                       LPCWSTR caption, PDH_HLOG *log)
{
    NARROW(path, file);
    NARROW(message, caption);
    const struct capture_options options = {path.text, message.text, access, max_size, query};
    return capture_open(&options, type, log);
}

PDH_STATUS PdhUpdateLogA(PDH_HLOG log, LPCSTR user_string)
{
    return capture_update(log, 0, user_string);
}

PDH_STATUS PdhUpdateLogW(PDH_HLOG log, LPCWSTR user_string)
{
    NARROW(text, user_string);
    return capture_update(log, 0, text.text);
}

PDH_STATUS PdhCloseLog(PDH_HLOG log, DWORD flags)
{
    return capture_close(log, flags);
}

PDH_STATUS PdhUpdateLogFileCatalog(PDH_HLOG log)
{
    return capture_catalog(log);
}

PDH_STATUS PdhGetLogFileSize(PDH_HLOG log, LONGLONG *size)
{
    return capture_size(log, size);
}

PDH_STATUS PdhReadRawLogRecord(PDH_HLOG log, FILETIME time, PPDH_RAW_LOG_RECORD record,
                               LPDWORD size)
{
    return capture_record(log, time, record, size);
}

/* ---- time range ---- */

static PDH_STATUS time_range(struct pdh_from from, LPDWORD entries, PPDH_TIME_INFO info,
                             LPDWORD size)
{
    if (!entries || !size || (*size && !info))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    DWORD capacity = *size;
    PDH_TIME_INFO found;
    PDH_STATUS status = capture_time_range(from, &found);
    if (status)
        return status;
    *entries = 1;
    *size = sizeof found;
    if (capacity < sizeof found)
        return (PDH_STATUS)PDH_MORE_DATA;
    *info = found;
    return 0;
}

PDH_STATUS PdhGetDataSourceTimeRangeA(LPCSTR source, LPDWORD entries, PPDH_TIME_INFO info,
                                      LPDWORD size)
{
    return time_range(FROM_NAME(source), entries, info, size);
}

PDH_STATUS PdhGetDataSourceTimeRangeW(LPCWSTR source, LPDWORD entries, PPDH_TIME_INFO info,
                                      LPDWORD size)
{
    NARROW(file, source);
    return time_range(FROM_NAME(file.text), entries, info, size);
}

PDH_STATUS PdhGetDataSourceTimeRangeH(PDH_HLOG source, LPDWORD entries, PPDH_TIME_INFO info,
                                      LPDWORD size)
{
    return time_range(FROM_LOG(source), entries, info, size);
}

/* ---- several captures as one ---- */

PDH_STATUS PdhBindInputDataSourceA(PDH_HLOG *source, LPCSTR files)
{
    size_t size = 0;
    if (!source)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    while (files && files[size])
        while (files[size++])
            ;
    return capture_bind(files, size, source);
}

PDH_STATUS PdhBindInputDataSourceW(PDH_HLOG *source, LPCWSTR files)
{
    BUFFER_AUTO list = {0};
    size_t count = 0;
    if (!source)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    while (files && files[count])
        count += utf16_length(files + count) + 1;
    if (!utf16_add_as_8(&list, files, count))
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    return capture_bind(files ? list.data : NULL, list.len, source);
}

PDH_STATUS PdhSetDefaultRealTimeDataSource(DWORD source)
{
    return capture_set_default(source);
}

/* ---- databases and dialogs ---- */

static const PDH_STATUS not_here = (PDH_STATUS)PDH_NOT_IMPLEMENTED;

PDH_STATUS PdhSelectDataSourceA(HWND owner, DWORD flags, LPSTR source, LPDWORD length)
{
    return not_here;
}

PDH_STATUS PdhSelectDataSourceW(HWND owner, DWORD flags, LPWSTR source, LPDWORD length)
{
    return not_here;
}

PDH_STATUS PdhBrowseCountersA(PPDH_BROWSE_DLG_CONFIG_A config)
{
    return not_here;
}

PDH_STATUS PdhBrowseCountersW(PPDH_BROWSE_DLG_CONFIG_W config)
{
    return not_here;
}

PDH_STATUS PdhBrowseCountersHA(PPDH_BROWSE_DLG_CONFIG_HA config)
{
    return not_here;
}

PDH_STATUS PdhBrowseCountersHW(PPDH_BROWSE_DLG_CONFIG_HW config)
{
    return not_here;
}

PDH_STATUS PdhVerifySQLDBA(LPCSTR source)
{
    return not_here;
}

PDH_STATUS PdhVerifySQLDBW(LPCWSTR source)
{
    return not_here;
}

PDH_STATUS PdhCreateSQLTablesA(LPCSTR source)
{
    return not_here;
}

PDH_STATUS PdhCreateSQLTablesW(LPCWSTR source)
{
    return not_here;
}

PDH_STATUS PdhEnumLogSetNamesA(LPCSTR source, LPSTR list, LPDWORD length)
{
    return not_here;
}

PDH_STATUS PdhEnumLogSetNamesW(LPCWSTR source, LPWSTR list, LPDWORD length)
{
    return not_here;
}

PDH_STATUS PdhGetLogSetGUID(PDH_HLOG log, GUID *guid, int *run)
{
    return not_here;
}

PDH_STATUS PdhSetLogSetRunID(PDH_HLOG log, int run)
{
    return not_here;
}
