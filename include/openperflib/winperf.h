/* SPDX-License-Identifier: MIT */
/*
 * The performance data block: its structures, counter types and the three provider functions.
 * Layout and meaning of every field: docs/format.md (reference parts A and B).
 */
#ifndef OPENPERFLIB_WINPERF_H
#define OPENPERFLIB_WINPERF_H

#include "windef.h"

#define PERF_DATA_VERSION 1
#define PERF_DATA_REVISION 1

typedef struct _PERF_DATA_BLOCK {
    WCHAR Signature[4];
    DWORD LittleEndian;
    DWORD Version;
    DWORD Revision;
    DWORD TotalByteLength;
    DWORD HeaderLength;
    DWORD NumObjectTypes;
    LONG DefaultObject;
    SYSTEMTIME SystemTime;
    LARGE_INTEGER PerfTime;
    LARGE_INTEGER PerfFreq;
    LARGE_INTEGER PerfTime100nSec;
    DWORD SystemNameLength;
    DWORD SystemNameOffset;
} PERF_DATA_BLOCK, *PPERF_DATA_BLOCK;

/* without casts, as on Windows: sources use it in their own texts and conditions */
#define PERF_NO_INSTANCES -1
#define PERF_METADATA_MULTIPLE_INSTANCES (-2)
#define PERF_METADATA_NO_INSTANCES (-3)

/* The title fields are pointers only in 32-bit Windows' header; on the wire they are 4 reserved
 * bytes. Programs that name their type get the 32-bit integer that 64-bit Windows has. */
typedef struct _PERF_OBJECT_TYPE {
    DWORD TotalByteLength;
    DWORD DefinitionLength;
    DWORD HeaderLength;
    DWORD ObjectNameTitleIndex;
    DWORD ObjectNameTitle;
    DWORD ObjectHelpTitleIndex;
    DWORD ObjectHelpTitle;
    DWORD DetailLevel;
    DWORD NumCounters;
    LONG DefaultCounter;
    LONG NumInstances;
    DWORD CodePage;
    LARGE_INTEGER PerfTime;
    LARGE_INTEGER PerfFreq;
} PERF_OBJECT_TYPE, *PPERF_OBJECT_TYPE;

typedef struct _PERF_COUNTER_DEFINITION {
    DWORD ByteLength;
    DWORD CounterNameTitleIndex;
    DWORD CounterNameTitle;
    DWORD CounterHelpTitleIndex;
    DWORD CounterHelpTitle;
    LONG DefaultScale;
    DWORD DetailLevel;
    DWORD CounterType;
    DWORD CounterSize;
    DWORD CounterOffset;
} PERF_COUNTER_DEFINITION, *PPERF_COUNTER_DEFINITION;

#define PERF_NO_UNIQUE_ID (-1)

typedef struct _PERF_INSTANCE_DEFINITION {
    DWORD ByteLength;
    DWORD ParentObjectTitleIndex;
    DWORD ParentObjectInstance;
    LONG UniqueID;
    DWORD NameOffset;
    DWORD NameLength;
} PERF_INSTANCE_DEFINITION, *PPERF_INSTANCE_DEFINITION;

typedef struct _PERF_COUNTER_BLOCK {
    DWORD ByteLength;
} PERF_COUNTER_BLOCK, *PPERF_COUNTER_BLOCK;

#define PERF_QUERY_OBJECTS ((LONG)0x80000000)
#define PERF_QUERY_GLOBAL ((LONG)0x80000001)
#define PERF_QUERY_COSTLY ((LONG)0x80000002)

#define PERF_DETAIL_NOVICE 100
#define PERF_DETAIL_ADVANCED 200
#define PERF_DETAIL_EXPERT 300
#define PERF_DETAIL_WIZARD 400

/* counter type, bits 8-9: size */
#define PERF_SIZE_DWORD 0x00000000
#define PERF_SIZE_LARGE 0x00000100
#define PERF_SIZE_ZERO 0x00000200
#define PERF_SIZE_VARIABLE_LEN 0x00000300
/* bits 10-11: type */
#define PERF_TYPE_NUMBER 0x00000000
#define PERF_TYPE_COUNTER 0x00000400
#define PERF_TYPE_TEXT 0x00000800
#define PERF_TYPE_ZERO 0x00000C00
/* bits 16-19: subtype of a number, of a counter, of a text */
#define PERF_NUMBER_HEX 0x00000000
#define PERF_NUMBER_DECIMAL 0x00010000
#define PERF_NUMBER_DEC_1000 0x00020000
#define PERF_COUNTER_VALUE 0x00000000
#define PERF_COUNTER_RATE 0x00010000
#define PERF_COUNTER_FRACTION 0x00020000
#define PERF_COUNTER_BASE 0x00030000
#define PERF_COUNTER_ELAPSED 0x00040000
#define PERF_COUNTER_QUEUELEN 0x00050000
#define PERF_COUNTER_HISTOGRAM 0x00060000
#define PERF_COUNTER_PRECISION 0x00070000
#define PERF_TEXT_UNICODE 0x00000000
#define PERF_TEXT_ASCII 0x00010000
/* bits 20-21: time base */
#define PERF_TIMER_TICK 0x00000000
#define PERF_TIMER_100NS 0x00100000
#define PERF_OBJECT_TIMER 0x00200000
/* bits 22-27: calculation */
#define PERF_DELTA_COUNTER 0x00400000
#define PERF_DELTA_BASE 0x00800000
#define PERF_INVERSE_COUNTER 0x01000000
#define PERF_MULTI_COUNTER 0x02000000
/* bits 28-31: display */
#define PERF_DISPLAY_NO_SUFFIX 0x00000000
#define PERF_DISPLAY_PER_SEC 0x10000000
#define PERF_DISPLAY_PERCENT 0x20000000
#define PERF_DISPLAY_SECONDS 0x30000000
#define PERF_DISPLAY_NOSHOW 0x40000000

#define PERF_COUNTER_COUNTER 0x10410400
#define PERF_COUNTER_TIMER 0x20410500
#define PERF_COUNTER_QUEUELEN_TYPE 0x00450400
#define PERF_COUNTER_LARGE_QUEUELEN_TYPE 0x00450500
#define PERF_COUNTER_100NS_QUEUELEN_TYPE 0x00550500
#define PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE 0x00650500
#define PERF_COUNTER_BULK_COUNT 0x10410500
#define PERF_COUNTER_TEXT 0x00000B00
#define PERF_COUNTER_RAWCOUNT 0x00010000
#define PERF_COUNTER_LARGE_RAWCOUNT 0x00010100
#define PERF_COUNTER_RAWCOUNT_HEX 0x00000000
#define PERF_COUNTER_LARGE_RAWCOUNT_HEX 0x00000100
#define PERF_SAMPLE_FRACTION 0x20C20400
#define PERF_SAMPLE_COUNTER 0x00410400
#define PERF_COUNTER_NODATA 0x40000200
#define PERF_COUNTER_TIMER_INV 0x21410500
#define PERF_SAMPLE_BASE 0x40030401
#define PERF_AVERAGE_TIMER 0x30020400
#define PERF_AVERAGE_BASE 0x40030402
#define PERF_AVERAGE_BULK 0x40020500
#define PERF_OBJ_TIME_TIMER 0x20610500
#define PERF_100NSEC_TIMER 0x20510500
#define PERF_100NSEC_TIMER_INV 0x21510500
#define PERF_COUNTER_MULTI_TIMER 0x22410500
#define PERF_COUNTER_MULTI_TIMER_INV 0x23410500
#define PERF_COUNTER_MULTI_BASE 0x42030500
#define PERF_100NSEC_MULTI_TIMER 0x22510500
#define PERF_100NSEC_MULTI_TIMER_INV 0x23510500
#define PERF_RAW_FRACTION 0x20020400
#define PERF_LARGE_RAW_FRACTION 0x20020500
#define PERF_RAW_BASE 0x40030403
#define PERF_LARGE_RAW_BASE 0x40030500
#define PERF_ELAPSED_TIME 0x30240500
#define PERF_COUNTER_HISTOGRAM_TYPE 0x80000000
#define PERF_COUNTER_DELTA 0x00400400
#define PERF_COUNTER_LARGE_DELTA 0x00400500
#define PERF_PRECISION_SYSTEM_TIMER 0x20470500
#define PERF_PRECISION_100NS_TIMER 0x20570500
#define PERF_PRECISION_OBJECT_TIMER 0x20670500
#define PERF_PRECISION_TIMESTAMP PERF_LARGE_RAW_BASE

/* The three functions of a provider. Open gets NULL or the strings of Linkage\Export. Collect
 * gets the query string, the buffer and its size (out: bytes written, objects written);
 * ERROR_MORE_DATA with zeros if the buffer is too small, ERROR_SUCCESS with zeros if it has no
 * data. (docs/windows/articles.md#c41, docs/windows/articles.md#c43) */
OPL_BEGIN_DECLS
typedef DWORD(APIENTRY PM_OPEN_PROC)(LPWSTR);
typedef DWORD(APIENTRY PM_COLLECT_PROC)(LPWSTR, LPVOID *, LPDWORD, LPDWORD);
typedef DWORD(APIENTRY PM_CLOSE_PROC)(void);
OPL_END_DECLS

#define WINPERF_LOG_NONE 0
#define WINPERF_LOG_USER 1
#define WINPERF_LOG_DEBUG 2
#define WINPERF_LOG_VERBOSE 3

#endif
