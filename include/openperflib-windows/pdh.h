/* SPDX-License-Identifier: MIT */
/*
 * Performance Data Helper: collects counters by path, cooks their values, and writes and reads
 * captures.
 *
 * A query holds counters; each collection samples all of them at one moment, live through the
 * performance key or from a capture; values are cooked from the last two samples. Every function
 * returns a PDH_STATUS (pdhmsg.h), 0 for success. Arguments are checked before handles unless a
 * function says otherwise; a handle that is not valid, or not any more, is PDH_INVALID_HANDLE.
 *
 * Lists are multi-strings: called with a length of 0 a function returns PDH_MORE_DATA and the
 * length needed, in characters with all NULs; the same if the buffer is too small, and that length
 * is always exact. Functions whose name ends in A take and return UTF-8, those in W UTF-16; those
 * in H take an opened data source. For the others a data source is NULL, which means live data, or
 * a capture's file name. The caller owns all buffers. (docs/windows/pdh.md)
 */
#ifndef OPENPERFLIB_PDH_H
#define OPENPERFLIB_PDH_H

#include "windef.h"
#include "winerror.h"
#include "winperf.h"

typedef LONG PDH_STATUS;
typedef HANDLE PDH_HQUERY;
typedef HANDLE PDH_HCOUNTER;
typedef HANDLE PDH_HLOG;
typedef PDH_HLOG HLOG;
typedef PDH_HQUERY HQUERY;
typedef PDH_HCOUNTER HCOUNTER;

#define PDH_CVERSION_WIN40 ((DWORD)0x0400)
#define PDH_CVERSION_WIN50 ((DWORD)0x0500)
#define PDH_VERSION ((DWORD)0x0503)

/* the largest lengths of names and paths, in characters */
#define MAX_COUNTER_PATH 256
#define PDH_MAX_COUNTER_NAME 1024
#define PDH_MAX_INSTANCE_NAME 1024
#define PDH_MAX_COUNTER_PATH 2048
#define PDH_MAX_DATASOURCE_PATH 1024

/* limits of the power of ten that a value is multiplied by */
#define PDH_MAX_SCALE 7L
#define PDH_MIN_SCALE (-7L)

/* levels in addition to PERF_DETAIL_*, for lists of counters */
#define PERF_DETAIL_COSTLY ((DWORD)0x00010000)
#define PERF_DETAIL_STANDARD ((DWORD)0x0000FFFF)

/* the format of a value: exactly one of LONG, DOUBLE, LARGE, and modifiers
 * (docs/windows/pdh.md#f5) */
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

/* The raw value of a counter at one moment. Whether SecondValue is a clock or a base depends on
 * the type: docs/windows/types.md#b3; opl_counter_sample of block.h uses the same rule. TimeStamp
 * is local time. */
typedef struct _PDH_RAW_COUNTER {
    DWORD CStatus;
    FILETIME TimeStamp;
    LONGLONG FirstValue;
    LONGLONG SecondValue;
    DWORD MultiCount;
} PDH_RAW_COUNTER, *PPDH_RAW_COUNTER;

/* A cooked value. It is valid only if CStatus is 0 or 1. */
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

/* One instance of a wildcard counter. */
typedef struct _PDH_RAW_COUNTER_ITEM_A {
    LPSTR szName;
    PDH_RAW_COUNTER RawValue;
} PDH_RAW_COUNTER_ITEM_A, *PPDH_RAW_COUNTER_ITEM_A;
typedef struct _PDH_RAW_COUNTER_ITEM_W {
    LPWSTR szName;
    PDH_RAW_COUNTER RawValue;
} PDH_RAW_COUNTER_ITEM_W, *PPDH_RAW_COUNTER_ITEM_W;
typedef struct _PDH_FMT_COUNTERVALUE_ITEM_A {
    LPSTR szName;
    PDH_FMT_COUNTERVALUE FmtValue;
} PDH_FMT_COUNTERVALUE_ITEM_A, *PPDH_FMT_COUNTERVALUE_ITEM_A;
typedef struct _PDH_FMT_COUNTERVALUE_ITEM_W {
    LPWSTR szName;
    PDH_FMT_COUNTERVALUE FmtValue;
} PDH_FMT_COUNTERVALUE_ITEM_W, *PPDH_FMT_COUNTERVALUE_ITEM_W;

typedef struct _PDH_STATISTICS {
    DWORD dwFormat;
    DWORD count; /* number of valid values */
    PDH_FMT_COUNTERVALUE min;
    PDH_FMT_COUNTERVALUE max;
    PDH_FMT_COUNTERVALUE mean;
} PDH_STATISTICS, *PPDH_STATISTICS;

/* The parts of a path \\machine\object(parent/instance#index)\counter. */
typedef struct _PDH_COUNTER_PATH_ELEMENTS_A {
    LPSTR szMachineName;
    LPSTR szObjectName;
    LPSTR szInstanceName;
    LPSTR szParentInstance;
    DWORD dwInstanceIndex; /* -1: none */
    LPSTR szCounterName;
} PDH_COUNTER_PATH_ELEMENTS_A, *PPDH_COUNTER_PATH_ELEMENTS_A;
typedef struct _PDH_COUNTER_PATH_ELEMENTS_W {
    LPWSTR szMachineName;
    LPWSTR szObjectName;
    LPWSTR szInstanceName;
    LPWSTR szParentInstance;
    DWORD dwInstanceIndex;
    LPWSTR szCounterName;
} PDH_COUNTER_PATH_ELEMENTS_W, *PPDH_COUNTER_PATH_ELEMENTS_W;

/* For WMI sources, which do not exist here; part of PDH_COUNTER_INFO. */
typedef struct _PDH_DATA_ITEM_PATH_ELEMENTS_A {
    LPSTR szMachineName;
    GUID ObjectGUID;
    DWORD dwItemId;
    LPSTR szInstanceName;
} PDH_DATA_ITEM_PATH_ELEMENTS_A, *PPDH_DATA_ITEM_PATH_ELEMENTS_A;
typedef struct _PDH_DATA_ITEM_PATH_ELEMENTS_W {
    LPWSTR szMachineName;
    GUID ObjectGUID;
    DWORD dwItemId;
    LPWSTR szInstanceName;
} PDH_DATA_ITEM_PATH_ELEMENTS_W, *PPDH_DATA_ITEM_PATH_ELEMENTS_W;

typedef struct _PDH_COUNTER_INFO_A {
    DWORD dwLength;
    DWORD dwType; /* the counter type, such as PERF_COUNTER_COUNTER */
    DWORD CVersion;
    DWORD CStatus;
    LONG lScale;        /* set by PdhSetCounterScaleFactor, else 0 */
    LONG lDefaultScale; /* the provider's factor, for graphs */
    DWORD_PTR dwUserData;
    DWORD_PTR dwQueryUserData;
    LPSTR szFullPath;
    __extension__ union {
        PDH_DATA_ITEM_PATH_ELEMENTS_A DataItemPath;
        PDH_COUNTER_PATH_ELEMENTS_A CounterPath;
        __extension__ struct {
            LPSTR szMachineName;
            LPSTR szObjectName;
            LPSTR szInstanceName;
            LPSTR szParentInstance;
            DWORD dwInstanceIndex;
            LPSTR szCounterName;
        };
    };
    LPSTR szExplainText; /* NULL if not requested */
    DWORD DataBuffer[1];
} PDH_COUNTER_INFO_A, *PPDH_COUNTER_INFO_A;
typedef struct _PDH_COUNTER_INFO_W {
    DWORD dwLength;
    DWORD dwType;
    DWORD CVersion;
    DWORD CStatus;
    LONG lScale;
    LONG lDefaultScale;
    DWORD_PTR dwUserData;
    DWORD_PTR dwQueryUserData;
    LPWSTR szFullPath;
    __extension__ union {
        PDH_DATA_ITEM_PATH_ELEMENTS_W DataItemPath;
        PDH_COUNTER_PATH_ELEMENTS_W CounterPath;
        __extension__ struct {
            LPWSTR szMachineName;
            LPWSTR szObjectName;
            LPWSTR szInstanceName;
            LPWSTR szParentInstance;
            DWORD dwInstanceIndex;
            LPWSTR szCounterName;
        };
    };
    LPWSTR szExplainText;
    DWORD DataBuffer[1];
} PDH_COUNTER_INFO_W, *PPDH_COUNTER_INFO_W;

/* The first and last local time in a capture, as FILETIME, and the number of its samples. */
typedef struct _PDH_TIME_INFO {
    LONGLONG StartTime;
    LONGLONG EndTime;
    DWORD SampleCount;
} PDH_TIME_INFO, *PPDH_TIME_INFO;

typedef struct _PDH_RAW_LOG_RECORD {
    DWORD dwStructureSize;
    DWORD dwRecordType; /* one of PDH_LOG_TYPE_* */
    DWORD dwItems;
    UCHAR RawBytes[1];
} PDH_RAW_LOG_RECORD, *PPDH_RAW_LOG_RECORD;

typedef PDH_STATUS(WINAPI *CounterPathCallBack)(DWORD_PTR);
/* The arguments of PdhBrowseCounters; there is no dialog here yet. (docs/windows/pdh.md#f7) */
typedef struct _BrowseDlgConfig_HW {
    DWORD bIncludeInstanceIndex : 1, bSingleCounterPerAdd : 1, bSingleCounterPerDialog : 1,
        bLocalCountersOnly : 1, bWildCardInstances : 1, bHideDetailBox : 1, bInitializePath : 1,
        bDisableMachineSelection : 1, bIncludeCostlyObjects : 1, bShowObjectBrowser : 1,
        bReserved : 22;
    HWND hWndOwner;
    PDH_HLOG hDataSource;
    LPWSTR szReturnPathBuffer;
    DWORD cchReturnPathLength;
    CounterPathCallBack pCallBack;
    DWORD_PTR dwCallBackArg;
    PDH_STATUS CallBackStatus;
    DWORD dwDefaultDetailLevel;
    LPWSTR szDialogBoxCaption;
} PDH_BROWSE_DLG_CONFIG_HW, *PPDH_BROWSE_DLG_CONFIG_HW;
typedef struct _BrowseDlgConfig_HA {
    DWORD bIncludeInstanceIndex : 1, bSingleCounterPerAdd : 1, bSingleCounterPerDialog : 1,
        bLocalCountersOnly : 1, bWildCardInstances : 1, bHideDetailBox : 1, bInitializePath : 1,
        bDisableMachineSelection : 1, bIncludeCostlyObjects : 1, bShowObjectBrowser : 1,
        bReserved : 22;
    HWND hWndOwner;
    PDH_HLOG hDataSource;
    LPSTR szReturnPathBuffer;
    DWORD cchReturnPathLength;
    CounterPathCallBack pCallBack;
    DWORD_PTR dwCallBackArg;
    PDH_STATUS CallBackStatus;
    DWORD dwDefaultDetailLevel;
    LPSTR szDialogBoxCaption;
} PDH_BROWSE_DLG_CONFIG_HA, *PPDH_BROWSE_DLG_CONFIG_HA;
typedef struct _BrowseDlgConfig_W {
    DWORD bIncludeInstanceIndex : 1, bSingleCounterPerAdd : 1, bSingleCounterPerDialog : 1,
        bLocalCountersOnly : 1, bWildCardInstances : 1, bHideDetailBox : 1, bInitializePath : 1,
        bDisableMachineSelection : 1, bIncludeCostlyObjects : 1, bShowObjectBrowser : 1,
        bReserved : 22;
    HWND hWndOwner;
    LPWSTR szDataSource;
    LPWSTR szReturnPathBuffer;
    DWORD cchReturnPathLength;
    CounterPathCallBack pCallBack;
    DWORD_PTR dwCallBackArg;
    PDH_STATUS CallBackStatus;
    DWORD dwDefaultDetailLevel;
    LPWSTR szDialogBoxCaption;
} PDH_BROWSE_DLG_CONFIG_W, *PPDH_BROWSE_DLG_CONFIG_W;
typedef struct _BrowseDlgConfig_A {
    DWORD bIncludeInstanceIndex : 1, bSingleCounterPerAdd : 1, bSingleCounterPerDialog : 1,
        bLocalCountersOnly : 1, bWildCardInstances : 1, bHideDetailBox : 1, bInitializePath : 1,
        bDisableMachineSelection : 1, bIncludeCostlyObjects : 1, bShowObjectBrowser : 1,
        bReserved : 22;
    HWND hWndOwner;
    LPSTR szDataSource;
    LPSTR szReturnPathBuffer;
    DWORD cchReturnPathLength;
    CounterPathCallBack pCallBack;
    DWORD_PTR dwCallBackArg;
    PDH_STATUS CallBackStatus;
    DWORD dwDefaultDetailLevel;
    LPSTR szDialogBoxCaption;
} PDH_BROWSE_DLG_CONFIG_A, *PPDH_BROWSE_DLG_CONFIG_A;

#define MAX_TIME_VALUE ((LONGLONG)0x7FFFFFFFFFFFFFFF)
#define MIN_TIME_VALUE ((LONGLONG)0)

/* flags of PdhEnumObjectItems and PdhExpandWildCardPath */
#define PDH_OBJECT_HAS_INSTANCES ((DWORD)0x00000001)
#define PDH_NOEXPANDCOUNTERS 1
#define PDH_NOEXPANDINSTANCES 2
#define PDH_REFRESHCOUNTERS 4

/* flags of PdhMakeCounterPath and PdhParseCounterPath */
#define PDH_PATH_WBEM_RESULT ((DWORD)0x00000001)
#define PDH_PATH_WBEM_INPUT ((DWORD)0x00000002)

/* flags of PdhOpenLog: one access mode, one creation mode, and options */
#define PDH_LOG_READ_ACCESS ((DWORD)0x00010000)
#define PDH_LOG_WRITE_ACCESS ((DWORD)0x00020000)
#define PDH_LOG_UPDATE_ACCESS ((DWORD)0x00040000)
#define PDH_LOG_ACCESS_MASK ((DWORD)0x000F0000)
#define PDH_LOG_CREATE_NEW ((DWORD)0x00000001)
#define PDH_LOG_CREATE_ALWAYS ((DWORD)0x00000002)
#define PDH_LOG_OPEN_ALWAYS ((DWORD)0x00000003)
#define PDH_LOG_OPEN_EXISTING ((DWORD)0x00000004)
#define PDH_LOG_CREATE_MASK ((DWORD)0x0000000F)
#define PDH_LOG_OPT_USER_STRING ((DWORD)0x01000000)
#define PDH_LOG_OPT_CIRCULAR ((DWORD)0x02000000)
#define PDH_LOG_OPT_MAX_IS_BYTES ((DWORD)0x04000000)
#define PDH_LOG_OPT_APPEND ((DWORD)0x08000000)
#define PDH_LOG_OPT_MASK ((DWORD)0x0F000000)

/* kinds of captures */
#define PDH_LOG_TYPE_UNDEFINED 0
#define PDH_LOG_TYPE_CSV 1
#define PDH_LOG_TYPE_TSV 2
#define PDH_LOG_TYPE_TRACE_KERNEL 4
#define PDH_LOG_TYPE_TRACE_GENERIC 5
#define PDH_LOG_TYPE_PERFMON 6
#define PDH_LOG_TYPE_SQL 7
#define PDH_LOG_TYPE_BINARY 8

#define PDH_FLAGS_CLOSE_QUERY ((DWORD)0x00000001)
#define PDH_FLAGS_FILE_BROWSER_ONLY ((DWORD)0x00000001)

/* data sources, for PdhSetDefaultRealTimeDataSource */
#define DATA_SOURCE_REGISTRY ((DWORD)0x00000001)
#define DATA_SOURCE_LOGFILE ((DWORD)0x00000002)
#define DATA_SOURCE_WBEM ((DWORD)0x00000004)

OPL_BEGIN_DECLS

/* ---- queries ---- */

/* Opens a query on live data (source NULL) or a capture. PDH_INVALID_ARGUMENT: query is NULL;
 * PDH_FILE_NOT_FOUND, PDH_LOG_FILE_OPEN_ERROR, PDH_UNKNOWN_LOG_FORMAT: the capture cannot be read.
 * PdhGetCounterInfo returns `user` as dwQueryUserData. */
PDH_STATUS WINAPI PdhOpenQueryA(LPCSTR source, DWORD_PTR user, PDH_HQUERY *query)
    OPL_SYMBOL(PdhOpenQueryA);
PDH_STATUS WINAPI PdhOpenQueryW(LPCWSTR source, DWORD_PTR user, PDH_HQUERY *query)
    OPL_SYMBOL(PdhOpenQueryW);

/* Like PdhOpenQuery, on a source that PdhBindInputDataSource opened. */
PDH_STATUS WINAPI PdhOpenQueryH(PDH_HLOG source, DWORD_PTR user, PDH_HQUERY *query)
    OPL_SYMBOL(PdhOpenQueryH);

/* Closes a query and its counters, and stops its collecting thread. */
PDH_STATUS WINAPI PdhCloseQuery(PDH_HQUERY query) OPL_SYMBOL(PdhCloseQuery);

/* Is `query` a query on live data? FALSE also for an invalid handle. */
BOOL WINAPI PdhIsRealTimeQuery(PDH_HQUERY query) OPL_SYMBOL(PdhIsRealTimeQuery);

/* Limits samples to [StartTime, EndTime]. PDH_DATA_SOURCE_IS_REAL_TIME: the data is live. */
PDH_STATUS WINAPI PdhSetQueryTimeRange(PDH_HQUERY query, PPDH_TIME_INFO range)
    OPL_SYMBOL(PdhSetQueryTimeRange);

/* ---- counters ---- */

/* Adds a counter by its path, named in the user's or any installed language, in English or by
 * numbers. An unknown object is PDH_CSTATUS_NO_OBJECT, an unknown counter
 * PDH_CSTATUS_NO_COUNTER, and *counter becomes NULL; an absent instance is not an error, because
 * it may appear later. PDH_CSTATUS_BAD_COUNTERNAME: not a path. */
PDH_STATUS WINAPI PdhAddCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user,
                                 PDH_HCOUNTER *counter) OPL_SYMBOL(PdhAddCounterA);
PDH_STATUS WINAPI PdhAddCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user,
                                 PDH_HCOUNTER *counter) OPL_SYMBOL(PdhAddCounterW);

/* Like PdhAddCounter, by English names only. */
PDH_STATUS WINAPI PdhAddEnglishCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user,
                                        PDH_HCOUNTER *counter) OPL_SYMBOL(PdhAddEnglishCounterA);
PDH_STATUS WINAPI PdhAddEnglishCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user,
                                        PDH_HCOUNTER *counter) OPL_SYMBOL(PdhAddEnglishCounterW);

/* Removes the counter from its query; the handle becomes invalid. */
PDH_STATUS WINAPI PdhRemoveCounter(PDH_HCOUNTER counter) OPL_SYMBOL(PdhRemoveCounter);

/* Describes a counter. *size is in bytes and includes the texts after the structure. The handle is
 * checked first. If *size is sizeof *info and with_explain is FALSE, all texts are NULL. */
PDH_STATUS WINAPI PdhGetCounterInfoA(PDH_HCOUNTER counter, BOOLEAN with_explain, LPDWORD size,
                                     PPDH_COUNTER_INFO_A info) OPL_SYMBOL(PdhGetCounterInfoA);
PDH_STATUS WINAPI PdhGetCounterInfoW(PDH_HCOUNTER counter, BOOLEAN with_explain, LPDWORD size,
                                     PPDH_COUNTER_INFO_W info) OPL_SYMBOL(PdhGetCounterInfoW);

/* From now on the counter's cooked values are multiplied by 10 to the power `factor`, -7 to 7. The
 * handle is checked first. */
PDH_STATUS WINAPI PdhSetCounterScaleFactor(PDH_HCOUNTER counter, LONG factor)
    OPL_SYMBOL(PdhSetCounterScaleFactor);

/* Sets *time_base to the ticks per second of the counter's clock. */
PDH_STATUS WINAPI PdhGetCounterTimeBase(PDH_HCOUNTER counter, LONGLONG *time_base)
    OPL_SYMBOL(PdhGetCounterTimeBase);

/* ---- collecting ---- */

/* Samples all counters at one moment. PDH_NO_DATA: there is no counter, or none has data;
 * PDH_NO_MORE_DATA: the capture's end. */
PDH_STATUS WINAPI PdhCollectQueryData(PDH_HQUERY query) OPL_SYMBOL(PdhCollectQueryData);

/* Like PdhCollectQueryData; *time is the sample's local time. PDH_INVALID_ARGUMENT: `time` is NULL;
 * this is checked before the handle. */
PDH_STATUS WINAPI PdhCollectQueryDataWithTime(PDH_HQUERY query, LONGLONG *time)
    OPL_SYMBOL(PdhCollectQueryDataWithTime);

/* Samples every `seconds` in a thread of the query, and sets `event` (may be NULL) each time.
 * Another call restarts the thread; PdhCloseQuery ends it. */
PDH_STATUS WINAPI PdhCollectQueryDataEx(PDH_HQUERY query, DWORD seconds, HANDLE event)
    OPL_SYMBOL(PdhCollectQueryDataEx);

/* ---- values ---- */

/* The newest sample. If the instance does not exist, the call succeeds and CStatus is
 * PDH_CSTATUS_NO_INSTANCE. `type` may be NULL. */
PDH_STATUS WINAPI PdhGetRawCounterValue(PDH_HCOUNTER counter, LPDWORD type, PPDH_RAW_COUNTER value)
    OPL_SYMBOL(PdhGetRawCounterValue);

/* The value, cooked from the last two samples and scaled; `format` as for PdhFormatFromRawValue.
 * PDH_INVALID_DATA: there is no value, and CStatus has the reason. */
PDH_STATUS WINAPI PdhGetFormattedCounterValue(PDH_HCOUNTER counter, DWORD format, LPDWORD type,
                                              PPDH_FMT_COUNTERVALUE value)
    OPL_SYMBOL(PdhGetFormattedCounterValue);

/* All instances of a wildcard counter; *size in bytes, including the names after the items. */
PDH_STATUS WINAPI PdhGetRawCounterArrayA(PDH_HCOUNTER counter, LPDWORD size, LPDWORD count,
                                         PPDH_RAW_COUNTER_ITEM_A items)
    OPL_SYMBOL(PdhGetRawCounterArrayA);
PDH_STATUS WINAPI PdhGetRawCounterArrayW(PDH_HCOUNTER counter, LPDWORD size, LPDWORD count,
                                         PPDH_RAW_COUNTER_ITEM_W items)
    OPL_SYMBOL(PdhGetRawCounterArrayW);
PDH_STATUS WINAPI PdhGetFormattedCounterArrayA(PDH_HCOUNTER counter, DWORD format, LPDWORD size,
                                               LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_A items)
    OPL_SYMBOL(PdhGetFormattedCounterArrayA);
PDH_STATUS WINAPI PdhGetFormattedCounterArrayW(PDH_HCOUNTER counter, DWORD format, LPDWORD size,
                                               LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_W items)
    OPL_SYMBOL(PdhGetFormattedCounterArrayW);

/* Cooks two samples with the counter's type, time base and scale. */
PDH_STATUS WINAPI PdhCalculateCounterFromRawValue(PDH_HCOUNTER counter, DWORD format,
                                                  PPDH_RAW_COUNTER newest, PPDH_RAW_COUNTER before,
                                                  PPDH_FMT_COUNTERVALUE value)
    OPL_SYMBOL(PdhCalculateCounterFromRawValue);

/* Minimum, maximum and mean of `count` samples in a ring buffer; `first`: index of the oldest. */
PDH_STATUS WINAPI PdhComputeCounterStatistics(PDH_HCOUNTER counter, DWORD format, DWORD first,
                                              DWORD count, PPDH_RAW_COUNTER samples,
                                              PPDH_STATISTICS statistics)
    OPL_SYMBOL(PdhComputeCounterStatistics);

/* ---- lists ---- */

/* Connects to a machine for the functions below. NULL: this one. Backslashes may be missing. */
PDH_STATUS WINAPI PdhConnectMachineA(LPCSTR machine) OPL_SYMBOL(PdhConnectMachineA);
PDH_STATUS WINAPI PdhConnectMachineW(LPCWSTR machine) OPL_SYMBOL(PdhConnectMachineW);

/* The machines that are connected, or those of a capture, with their backslashes. */
PDH_STATUS WINAPI PdhEnumMachinesA(LPCSTR source, LPSTR list, LPDWORD length)
    OPL_SYMBOL(PdhEnumMachinesA);
PDH_STATUS WINAPI PdhEnumMachinesW(LPCWSTR source, LPWSTR list, LPDWORD length)
    OPL_SYMBOL(PdhEnumMachinesW);
PDH_STATUS WINAPI PdhEnumMachinesHA(PDH_HLOG source, LPSTR list, LPDWORD length)
    OPL_SYMBOL(PdhEnumMachinesHA);
PDH_STATUS WINAPI PdhEnumMachinesHW(PDH_HLOG source, LPWSTR list, LPDWORD length)
    OPL_SYMBOL(PdhEnumMachinesHW);

/* The objects up to a level of detail; `refresh` queries the machine again. */
PDH_STATUS WINAPI PdhEnumObjectsA(LPCSTR source, LPCSTR machine, LPSTR list, LPDWORD length,
                                  DWORD detail, BOOL refresh) OPL_SYMBOL(PdhEnumObjectsA);
PDH_STATUS WINAPI PdhEnumObjectsW(LPCWSTR source, LPCWSTR machine, LPWSTR list, LPDWORD length,
                                  DWORD detail, BOOL refresh) OPL_SYMBOL(PdhEnumObjectsW);
PDH_STATUS WINAPI PdhEnumObjectsHA(PDH_HLOG source, LPCSTR machine, LPSTR list, LPDWORD length,
                                   DWORD detail, BOOL refresh) OPL_SYMBOL(PdhEnumObjectsHA);
PDH_STATUS WINAPI PdhEnumObjectsHW(PDH_HLOG source, LPCWSTR machine, LPWSTR list, LPDWORD length,
                                   DWORD detail, BOOL refresh) OPL_SYMBOL(PdhEnumObjectsHW);

/* An object's counters and instances, each name once. *instances_length becomes 0 if the object
 * never has instances, 2 if it has none now. PDH_CSTATUS_NO_OBJECT: no such object. */
PDH_STATUS WINAPI PdhEnumObjectItemsA(LPCSTR source, LPCSTR machine, LPCSTR object, LPSTR counters,
                                      LPDWORD counters_length, LPSTR instances,
                                      LPDWORD instances_length, DWORD detail, DWORD flags)
    OPL_SYMBOL(PdhEnumObjectItemsA);
PDH_STATUS WINAPI PdhEnumObjectItemsW(LPCWSTR source, LPCWSTR machine, LPCWSTR object,
                                      LPWSTR counters, LPDWORD counters_length, LPWSTR instances,
                                      LPDWORD instances_length, DWORD detail, DWORD flags)
    OPL_SYMBOL(PdhEnumObjectItemsW);
PDH_STATUS WINAPI PdhEnumObjectItemsHA(PDH_HLOG source, LPCSTR machine, LPCSTR object,
                                       LPSTR counters, LPDWORD counters_length, LPSTR instances,
                                       LPDWORD instances_length, DWORD detail, DWORD flags)
    OPL_SYMBOL(PdhEnumObjectItemsHA);
PDH_STATUS WINAPI PdhEnumObjectItemsHW(PDH_HLOG source, LPCWSTR machine, LPCWSTR object,
                                       LPWSTR counters, LPDWORD counters_length, LPWSTR instances,
                                       LPDWORD instances_length, DWORD detail, DWORD flags)
    OPL_SYMBOL(PdhEnumObjectItemsHW);

/* The name of the default object, or of an object's default counter, which a viewer shows first. */
PDH_STATUS WINAPI PdhGetDefaultPerfObjectA(LPCSTR source, LPCSTR machine, LPSTR name,
                                           LPDWORD length) OPL_SYMBOL(PdhGetDefaultPerfObjectA);
PDH_STATUS WINAPI PdhGetDefaultPerfObjectW(LPCWSTR source, LPCWSTR machine, LPWSTR name,
                                           LPDWORD length) OPL_SYMBOL(PdhGetDefaultPerfObjectW);
PDH_STATUS WINAPI PdhGetDefaultPerfObjectHA(PDH_HLOG source, LPCSTR machine, LPSTR name,
                                            LPDWORD length) OPL_SYMBOL(PdhGetDefaultPerfObjectHA);
PDH_STATUS WINAPI PdhGetDefaultPerfObjectHW(PDH_HLOG source, LPCWSTR machine, LPWSTR name,
                                            LPDWORD length) OPL_SYMBOL(PdhGetDefaultPerfObjectHW);
PDH_STATUS WINAPI PdhGetDefaultPerfCounterA(LPCSTR source, LPCSTR machine, LPCSTR object,
                                            LPSTR name, LPDWORD length)
    OPL_SYMBOL(PdhGetDefaultPerfCounterA);
PDH_STATUS WINAPI PdhGetDefaultPerfCounterW(LPCWSTR source, LPCWSTR machine, LPCWSTR object,
                                            LPWSTR name, LPDWORD length)
    OPL_SYMBOL(PdhGetDefaultPerfCounterW);
PDH_STATUS WINAPI PdhGetDefaultPerfCounterHA(PDH_HLOG source, LPCSTR machine, LPCSTR object,
                                             LPSTR name, LPDWORD length)
    OPL_SYMBOL(PdhGetDefaultPerfCounterHA);
PDH_STATUS WINAPI PdhGetDefaultPerfCounterHW(PDH_HLOG source, LPCWSTR machine, LPCWSTR object,
                                             LPWSTR name, LPDWORD length)
    OPL_SYMBOL(PdhGetDefaultPerfCounterHW);

/* The title of an index, in the user's language. For index 0 the function succeeds and writes
 * nothing. */
PDH_STATUS WINAPI PdhLookupPerfNameByIndexA(LPCSTR machine, DWORD index, LPSTR name, LPDWORD length)
    OPL_SYMBOL(PdhLookupPerfNameByIndexA);
PDH_STATUS WINAPI PdhLookupPerfNameByIndexW(LPCWSTR machine, DWORD index, LPWSTR name,
                                            LPDWORD length) OPL_SYMBOL(PdhLookupPerfNameByIndexW);

/* The index of a title. PDH_STRING_NOT_FOUND: there is no such title. */
PDH_STATUS WINAPI PdhLookupPerfIndexByNameA(LPCSTR machine, LPCSTR name, LPDWORD index)
    OPL_SYMBOL(PdhLookupPerfIndexByNameA);
PDH_STATUS WINAPI PdhLookupPerfIndexByNameW(LPCWSTR machine, LPCWSTR name, LPDWORD index)
    OPL_SYMBOL(PdhLookupPerfIndexByNameW);

/* ---- paths ---- */

/* Makes a path from its parts; object and counter are required. */
PDH_STATUS WINAPI PdhMakeCounterPathA(PPDH_COUNTER_PATH_ELEMENTS_A parts, LPSTR path,
                                      LPDWORD length, DWORD flags) OPL_SYMBOL(PdhMakeCounterPathA);
PDH_STATUS WINAPI PdhMakeCounterPathW(PPDH_COUNTER_PATH_ELEMENTS_W parts, LPWSTR path,
                                      LPDWORD length, DWORD flags) OPL_SYMBOL(PdhMakeCounterPathW);

/* Splits a path into its parts; *size in bytes, including the texts after the structure. */
PDH_STATUS WINAPI PdhParseCounterPathA(LPCSTR path, PPDH_COUNTER_PATH_ELEMENTS_A parts,
                                       LPDWORD size, DWORD flags) OPL_SYMBOL(PdhParseCounterPathA);
PDH_STATUS WINAPI PdhParseCounterPathW(LPCWSTR path, PPDH_COUNTER_PATH_ELEMENTS_W parts,
                                       LPDWORD size, DWORD flags) OPL_SYMBOL(PdhParseCounterPathW);

/* Splits "parent/instance#index" into its parts. */
PDH_STATUS WINAPI PdhParseInstanceNameA(LPCSTR text, LPSTR instance, LPDWORD instance_length,
                                        LPSTR parent, LPDWORD parent_length, LPDWORD index)
    OPL_SYMBOL(PdhParseInstanceNameA);
PDH_STATUS WINAPI PdhParseInstanceNameW(LPCWSTR text, LPWSTR instance, LPDWORD instance_length,
                                        LPWSTR parent, LPDWORD parent_length, LPDWORD index)
    OPL_SYMBOL(PdhParseInstanceNameW);

/* Does the counter exist? The status is about the first part that is not found, in the order
 * machine, object, instance, counter. */
PDH_STATUS WINAPI PdhValidatePathA(LPCSTR path) OPL_SYMBOL(PdhValidatePathA);
PDH_STATUS WINAPI PdhValidatePathW(LPCWSTR path) OPL_SYMBOL(PdhValidatePathW);
PDH_STATUS WINAPI PdhValidatePathExA(PDH_HLOG source, LPCSTR path) OPL_SYMBOL(PdhValidatePathExA);
PDH_STATUS WINAPI PdhValidatePathExW(PDH_HLOG source, LPCWSTR path) OPL_SYMBOL(PdhValidatePathExW);

/* All paths that a path with wildcards matches now; in a capture in the order of its columns,
 * and of all machines if the machine is a wildcard. */
PDH_STATUS WINAPI PdhExpandCounterPathA(LPCSTR path, LPSTR list, LPDWORD length)
    OPL_SYMBOL(PdhExpandCounterPathA);
PDH_STATUS WINAPI PdhExpandCounterPathW(LPCWSTR path, LPWSTR list, LPDWORD length)
    OPL_SYMBOL(PdhExpandCounterPathW);
PDH_STATUS WINAPI PdhExpandWildCardPathA(LPCSTR source, LPCSTR path, LPSTR list, LPDWORD length,
                                         DWORD flags) OPL_SYMBOL(PdhExpandWildCardPathA);
PDH_STATUS WINAPI PdhExpandWildCardPathW(LPCWSTR source, LPCWSTR path, LPWSTR list, LPDWORD length,
                                         DWORD flags) OPL_SYMBOL(PdhExpandWildCardPathW);
PDH_STATUS WINAPI PdhExpandWildCardPathHA(PDH_HLOG source, LPCSTR path, LPSTR list, LPDWORD length,
                                          DWORD flags) OPL_SYMBOL(PdhExpandWildCardPathHA);
PDH_STATUS WINAPI PdhExpandWildCardPathHW(PDH_HLOG source, LPCWSTR path, LPWSTR list,
                                          LPDWORD length, DWORD flags)
    OPL_SYMBOL(PdhExpandWildCardPathHW);

/* ---- captures ---- */

/* Opens a capture for writing what `query` collects, or for reading. *type is the kind of file: an
 * input for writing (CSV, TSV or BINARY), an output for reading. max_size is in bytes, 0: no limit.
 * A circular file (BINARY with PDH_LOG_OPT_CIRCULAR), in which new samples replace the oldest,
 * needs a limit. A query on a text capture cannot be written as BINARY: PDH_NOT_IMPLEMENTED.
 * A file that is being written: PDH_LOG_FILE_OPEN_ERROR. */
PDH_STATUS WINAPI PdhOpenLogA(LPCSTR file, DWORD access, LPDWORD type, PDH_HQUERY query,
                              DWORD max_size, LPCSTR caption, PDH_HLOG *log)
    OPL_SYMBOL(PdhOpenLogA);
PDH_STATUS WINAPI PdhOpenLogW(LPCWSTR file, DWORD access, LPDWORD type, PDH_HQUERY query,
                              DWORD max_size, LPCWSTR caption, PDH_HLOG *log)
    OPL_SYMBOL(PdhOpenLogW);

/* Collects the log's query and writes one sample. */
PDH_STATUS WINAPI PdhUpdateLogA(PDH_HLOG log, LPCSTR user_string) OPL_SYMBOL(PdhUpdateLogA);
PDH_STATUS WINAPI PdhUpdateLogW(PDH_HLOG log, LPCWSTR user_string) OPL_SYMBOL(PdhUpdateLogW);

/* Closes the log; PDH_FLAGS_CLOSE_QUERY closes its query too. */
PDH_STATUS WINAPI PdhCloseLog(PDH_HLOG log, DWORD flags) OPL_SYMBOL(PdhCloseLog);

/* PDH_NOT_IMPLEMENTED for text files, which have no catalog. */
PDH_STATUS WINAPI PdhUpdateLogFileCatalog(PDH_HLOG log) OPL_SYMBOL(PdhUpdateLogFileCatalog);

/* Bytes in the file. */
PDH_STATUS WINAPI PdhGetLogFileSize(PDH_HLOG log, LONGLONG *size) OPL_SYMBOL(PdhGetLogFileSize);

/* Copies the last record that is not newer than `time` (local time, as in captures) as it is in the
 * file: a text line without its line break, or a BLG sample that begins with "BL". *size is in
 * bytes and counts the whole structure. PDH_ENTRY_NOT_IN_LOG_FILE: all records are newer. */
PDH_STATUS WINAPI PdhReadRawLogRecord(PDH_HLOG log, FILETIME time, PPDH_RAW_LOG_RECORD record,
                                      LPDWORD size) OPL_SYMBOL(PdhReadRawLogRecord);

/* First and last time and the number of samples; *entries becomes 1. For a capture that is being
 * written: the times and the number of samples that its handle wrote. */
PDH_STATUS WINAPI PdhGetDataSourceTimeRangeA(LPCSTR source, LPDWORD entries, PPDH_TIME_INFO info,
                                             LPDWORD size) OPL_SYMBOL(PdhGetDataSourceTimeRangeA);
PDH_STATUS WINAPI PdhGetDataSourceTimeRangeW(LPCWSTR source, LPDWORD entries, PPDH_TIME_INFO info,
                                             LPDWORD size) OPL_SYMBOL(PdhGetDataSourceTimeRangeW);
PDH_STATUS WINAPI PdhGetDataSourceTimeRangeH(PDH_HLOG source, LPDWORD entries, PPDH_TIME_INFO info,
                                             LPDWORD size) OPL_SYMBOL(PdhGetDataSourceTimeRangeH);

/* Opens several captures as one source. PdhCloseLog closes the source. */
PDH_STATUS WINAPI PdhBindInputDataSourceA(PDH_HLOG *source, LPCSTR files)
    OPL_SYMBOL(PdhBindInputDataSourceA);
PDH_STATUS WINAPI PdhBindInputDataSourceW(PDH_HLOG *source, LPCWSTR files)
    OPL_SYMBOL(PdhBindInputDataSourceW);

/* Chooses what a source of NULL means: only DATA_SOURCE_REGISTRY is possible, as there is no WBEM
 * here. */
PDH_STATUS WINAPI PdhSetDefaultRealTimeDataSource(DWORD source)
    OPL_SYMBOL(PdhSetDefaultRealTimeDataSource);

/* ---- for databases and dialogs: PDH_NOT_IMPLEMENTED for now ---- */

PDH_STATUS WINAPI PdhSelectDataSourceA(HWND owner, DWORD flags, LPSTR source, LPDWORD length)
    OPL_SYMBOL(PdhSelectDataSourceA);
PDH_STATUS WINAPI PdhSelectDataSourceW(HWND owner, DWORD flags, LPWSTR source, LPDWORD length)
    OPL_SYMBOL(PdhSelectDataSourceW);
PDH_STATUS WINAPI PdhBrowseCountersA(PPDH_BROWSE_DLG_CONFIG_A config)
    OPL_SYMBOL(PdhBrowseCountersA);
PDH_STATUS WINAPI PdhBrowseCountersW(PPDH_BROWSE_DLG_CONFIG_W config)
    OPL_SYMBOL(PdhBrowseCountersW);
PDH_STATUS WINAPI PdhBrowseCountersHA(PPDH_BROWSE_DLG_CONFIG_HA config)
    OPL_SYMBOL(PdhBrowseCountersHA);
PDH_STATUS WINAPI PdhBrowseCountersHW(PPDH_BROWSE_DLG_CONFIG_HW config)
    OPL_SYMBOL(PdhBrowseCountersHW);
PDH_STATUS WINAPI PdhVerifySQLDBA(LPCSTR source) OPL_SYMBOL(PdhVerifySQLDBA);
PDH_STATUS WINAPI PdhVerifySQLDBW(LPCWSTR source) OPL_SYMBOL(PdhVerifySQLDBW);
PDH_STATUS WINAPI PdhCreateSQLTablesA(LPCSTR source) OPL_SYMBOL(PdhCreateSQLTablesA);
PDH_STATUS WINAPI PdhCreateSQLTablesW(LPCWSTR source) OPL_SYMBOL(PdhCreateSQLTablesW);
PDH_STATUS WINAPI PdhEnumLogSetNamesA(LPCSTR source, LPSTR list, LPDWORD length)
    OPL_SYMBOL(PdhEnumLogSetNamesA);
PDH_STATUS WINAPI PdhEnumLogSetNamesW(LPCWSTR source, LPWSTR list, LPDWORD length)
    OPL_SYMBOL(PdhEnumLogSetNamesW);
PDH_STATUS WINAPI PdhGetLogSetGUID(PDH_HLOG log, GUID *guid, int *run) OPL_SYMBOL(PdhGetLogSetGUID);
PDH_STATUS WINAPI PdhSetLogSetRunID(PDH_HLOG log, int run) OPL_SYMBOL(PdhSetLogSetRunID);

/* ---- for Visual Basic: narrow text, no structures, the same handles ---- */

/* Opens a query on live data. */
PDH_STATUS WINAPI PdhVbOpenQuery(PDH_HQUERY *query) OPL_SYMBOL(PdhVbOpenQuery);
PDH_STATUS WINAPI PdhVbAddCounter(PDH_HQUERY query, LPCSTR path, PDH_HCOUNTER *counter)
    OPL_SYMBOL(PdhVbAddCounter);

/* The value, or 0 if *counter_status is not a valid status. */
double WINAPI PdhVbGetDoubleCounterValue(PDH_HCOUNTER counter, LPDWORD counter_status)
    OPL_SYMBOL(PdhVbGetDoubleCounterValue);

/* Returns 1 for success and PDH_CSTATUS_NEW_DATA, 0 for warnings and errors. */
DWORD WINAPI PdhVbIsGoodStatus(PDH_STATUS status) OPL_SYMBOL(PdhVbIsGoodStatus);

/* Splits a path into five texts of `size` characters each; an absent part is "". PDH_MORE_DATA: a
 * text does not fit, and no text is written. */
PDH_STATUS WINAPI PdhVbGetCounterPathElements(LPCSTR path, LPSTR machine, LPSTR object,
                                              LPSTR instance, LPSTR parent, LPSTR counter,
                                              DWORD size) OPL_SYMBOL(PdhVbGetCounterPathElements);

/* Like PdhOpenLog, PdhUpdateLog and PdhGetLogFileSize. PDH_INSUFFICIENT_BUFFER: the size
 * is above 2 GiB. */
PDH_STATUS WINAPI PdhVbOpenLog(LPCSTR file, DWORD access, LPDWORD type, PDH_HQUERY query,
                               DWORD max_size, LPCSTR caption, PDH_HLOG *log)
    OPL_SYMBOL(PdhVbOpenLog);
PDH_STATUS WINAPI PdhVbUpdateLog(PDH_HLOG log, LPCSTR user_string) OPL_SYMBOL(PdhVbUpdateLog);
PDH_STATUS WINAPI PdhVbGetLogFileSize(PDH_HLOG log, LONG *size) OPL_SYMBOL(PdhVbGetLogFileSize);

/* ---- the library ---- */

/* *version becomes PDH_VERSION. */
PDH_STATUS WINAPI PdhGetDllVersion(LPDWORD version) OPL_SYMBOL(PdhGetDllVersion);

/*
 * Cooks a value of `counter_type` from its newest sample and the one before it, which may be NULL
 * for types that need only one. *time_base: ticks per second of the type's clock; may be NULL for
 * types that do not divide by it. Percentages above 100 become 100 unless PDH_FMT_NOCAP100 is
 * given; PDH_FMT_1000 multiplies by 1,000. LONG and LARGE are truncated toward zero, and limited to
 * their range.
 *
 * Returns 0, and *value with CStatus PDH_CSTATUS_VALID_DATA, or an error:
 *
 *     PDH_INVALID_ARGUMENT: a pointer that is needed is NULL; `format` has not exactly one of
 *         LONG, LARGE and DOUBLE, or has both PDH_FMT_1000 and PDH_FMT_NOSCALE; `counter_type` is
 *         a base, a text or unknown. *value is unchanged.
 *     PDH_INVALID_DATA: a sample is not valid; *value has that sample's CStatus.
 *     PDH_CALC_NEGATIVE_VALUE: the counter decreased, and did not wrap.
 *     PDH_CALC_NEGATIVE_DENOMINATOR: the clock or the base decreased.
 *     PDH_CALC_NEGATIVE_TIMEBASE: *time_base is zero or less.
 *
 * With the last three, *value has CStatus PDH_CSTATUS_INVALID_DATA. (docs/windows/types.md,
 * docs/windows/pdh.md#f2)
 */
PDH_STATUS WINAPI PdhFormatFromRawValue(DWORD counter_type, DWORD format, LONGLONG *time_base,
                                        PPDH_RAW_COUNTER newest, PPDH_RAW_COUNTER before,
                                        PPDH_FMT_COUNTERVALUE value)
    OPL_SYMBOL(PdhFormatFromRawValue);

OPL_END_DECLS

#ifdef UNICODE
#define PdhOpenQuery PdhOpenQueryW
#define PdhAddCounter PdhAddCounterW
#define PdhAddEnglishCounter PdhAddEnglishCounterW
#define PdhGetCounterInfo PdhGetCounterInfoW
#define PdhGetRawCounterArray PdhGetRawCounterArrayW
#define PdhGetFormattedCounterArray PdhGetFormattedCounterArrayW
#define PdhConnectMachine PdhConnectMachineW
#define PdhEnumMachines PdhEnumMachinesW
#define PdhEnumMachinesH PdhEnumMachinesHW
#define PdhEnumObjects PdhEnumObjectsW
#define PdhEnumObjectsH PdhEnumObjectsHW
#define PdhEnumObjectItems PdhEnumObjectItemsW
#define PdhEnumObjectItemsH PdhEnumObjectItemsHW
#define PdhGetDefaultPerfObject PdhGetDefaultPerfObjectW
#define PdhGetDefaultPerfObjectH PdhGetDefaultPerfObjectHW
#define PdhGetDefaultPerfCounter PdhGetDefaultPerfCounterW
#define PdhGetDefaultPerfCounterH PdhGetDefaultPerfCounterHW
#define PdhLookupPerfNameByIndex PdhLookupPerfNameByIndexW
#define PdhLookupPerfIndexByName PdhLookupPerfIndexByNameW
#define PdhMakeCounterPath PdhMakeCounterPathW
#define PdhParseCounterPath PdhParseCounterPathW
#define PdhParseInstanceName PdhParseInstanceNameW
#define PdhValidatePath PdhValidatePathW
#define PdhValidatePathEx PdhValidatePathExW
#define PdhExpandCounterPath PdhExpandCounterPathW
#define PdhExpandWildCardPath PdhExpandWildCardPathW
#define PdhExpandWildCardPathH PdhExpandWildCardPathHW
#define PdhOpenLog PdhOpenLogW
#define PdhUpdateLog PdhUpdateLogW
#define PdhGetDataSourceTimeRange PdhGetDataSourceTimeRangeW
#define PdhBindInputDataSource PdhBindInputDataSourceW
#define PdhSelectDataSource PdhSelectDataSourceW
#define PdhBrowseCounters PdhBrowseCountersW
#define PdhBrowseCountersH PdhBrowseCountersHW
#define PdhVerifySQLDB PdhVerifySQLDBW
#define PdhCreateSQLTables PdhCreateSQLTablesW
#define PdhEnumLogSetNames PdhEnumLogSetNamesW
#define PDH_COUNTER_INFO PDH_COUNTER_INFO_W
#define PPDH_COUNTER_INFO PPDH_COUNTER_INFO_W
#define PDH_COUNTER_PATH_ELEMENTS PDH_COUNTER_PATH_ELEMENTS_W
#define PPDH_COUNTER_PATH_ELEMENTS PPDH_COUNTER_PATH_ELEMENTS_W
#define PDH_RAW_COUNTER_ITEM PDH_RAW_COUNTER_ITEM_W
#define PPDH_RAW_COUNTER_ITEM PPDH_RAW_COUNTER_ITEM_W
#define PDH_FMT_COUNTERVALUE_ITEM PDH_FMT_COUNTERVALUE_ITEM_W
#define PPDH_FMT_COUNTERVALUE_ITEM PPDH_FMT_COUNTERVALUE_ITEM_W
#define PDH_BROWSE_DLG_CONFIG PDH_BROWSE_DLG_CONFIG_W
#define PPDH_BROWSE_DLG_CONFIG PPDH_BROWSE_DLG_CONFIG_W
#define PDH_BROWSE_DLG_CONFIG_H PDH_BROWSE_DLG_CONFIG_HW
#define PPDH_BROWSE_DLG_CONFIG_H PPDH_BROWSE_DLG_CONFIG_HW
#else
#define PdhOpenQuery PdhOpenQueryA
#define PdhAddCounter PdhAddCounterA
#define PdhAddEnglishCounter PdhAddEnglishCounterA
#define PdhGetCounterInfo PdhGetCounterInfoA
#define PdhGetRawCounterArray PdhGetRawCounterArrayA
#define PdhGetFormattedCounterArray PdhGetFormattedCounterArrayA
#define PdhConnectMachine PdhConnectMachineA
#define PdhEnumMachines PdhEnumMachinesA
#define PdhEnumMachinesH PdhEnumMachinesHA
#define PdhEnumObjects PdhEnumObjectsA
#define PdhEnumObjectsH PdhEnumObjectsHA
#define PdhEnumObjectItems PdhEnumObjectItemsA
#define PdhEnumObjectItemsH PdhEnumObjectItemsHA
#define PdhGetDefaultPerfObject PdhGetDefaultPerfObjectA
#define PdhGetDefaultPerfObjectH PdhGetDefaultPerfObjectHA
#define PdhGetDefaultPerfCounter PdhGetDefaultPerfCounterA
#define PdhGetDefaultPerfCounterH PdhGetDefaultPerfCounterHA
#define PdhLookupPerfNameByIndex PdhLookupPerfNameByIndexA
#define PdhLookupPerfIndexByName PdhLookupPerfIndexByNameA
#define PdhMakeCounterPath PdhMakeCounterPathA
#define PdhParseCounterPath PdhParseCounterPathA
#define PdhParseInstanceName PdhParseInstanceNameA
#define PdhValidatePath PdhValidatePathA
#define PdhValidatePathEx PdhValidatePathExA
#define PdhExpandCounterPath PdhExpandCounterPathA
#define PdhExpandWildCardPath PdhExpandWildCardPathA
#define PdhExpandWildCardPathH PdhExpandWildCardPathHA
#define PdhOpenLog PdhOpenLogA
#define PdhUpdateLog PdhUpdateLogA
#define PdhGetDataSourceTimeRange PdhGetDataSourceTimeRangeA
#define PdhBindInputDataSource PdhBindInputDataSourceA
#define PdhSelectDataSource PdhSelectDataSourceA
#define PdhBrowseCounters PdhBrowseCountersA
#define PdhBrowseCountersH PdhBrowseCountersHA
#define PdhVerifySQLDB PdhVerifySQLDBA
#define PdhCreateSQLTables PdhCreateSQLTablesA
#define PdhEnumLogSetNames PdhEnumLogSetNamesA
#define PDH_COUNTER_INFO PDH_COUNTER_INFO_A
#define PPDH_COUNTER_INFO PPDH_COUNTER_INFO_A
#define PDH_COUNTER_PATH_ELEMENTS PDH_COUNTER_PATH_ELEMENTS_A
#define PPDH_COUNTER_PATH_ELEMENTS PPDH_COUNTER_PATH_ELEMENTS_A
#define PDH_RAW_COUNTER_ITEM PDH_RAW_COUNTER_ITEM_A
#define PPDH_RAW_COUNTER_ITEM PPDH_RAW_COUNTER_ITEM_A
#define PDH_FMT_COUNTERVALUE_ITEM PDH_FMT_COUNTERVALUE_ITEM_A
#define PPDH_FMT_COUNTERVALUE_ITEM PPDH_FMT_COUNTERVALUE_ITEM_A
#define PDH_BROWSE_DLG_CONFIG PDH_BROWSE_DLG_CONFIG_A
#define PPDH_BROWSE_DLG_CONFIG PPDH_BROWSE_DLG_CONFIG_A
#define PDH_BROWSE_DLG_CONFIG_H PDH_BROWSE_DLG_CONFIG_HA
#define PPDH_BROWSE_DLG_CONFIG_H PPDH_BROWSE_DLG_CONFIG_HA
#endif

#endif
