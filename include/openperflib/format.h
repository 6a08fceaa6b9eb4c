/* SPDX-License-Identifier: MIT */
/*
 * The performance data block: its structures and counter types, by the names that the format has
 * (docs/format.md). Windows' winperf.h has the same structures, and the same numbers as macros.
 */
#ifndef OPENPERFLIB_FORMAT_H
#define OPENPERFLIB_FORMAT_H

#include <openperflib/base.h>

union _LARGE_INTEGER {
    __extension__ struct {
        uint32_t LowPart;
        int32_t HighPart;
    };
    struct {
        uint32_t LowPart;
        int32_t HighPart;
    } u;
    opl_int64 QuadPart;
};
struct _SYSTEMTIME {
    uint16_t wYear;
    uint16_t wMonth;
    uint16_t wDayOfWeek;
    uint16_t wDay;
    uint16_t wHour;
    uint16_t wMinute;
    uint16_t wSecond;
    uint16_t wMilliseconds;
};

typedef struct _PERF_DATA_BLOCK {
    opl_char16 Signature[4];
    uint32_t LittleEndian;
    uint32_t Version;
    uint32_t Revision;
    uint32_t TotalByteLength;
    uint32_t HeaderLength;
    uint32_t NumObjectTypes;
    int32_t DefaultObject;
    struct _SYSTEMTIME SystemTime;
    union _LARGE_INTEGER PerfTime;
    union _LARGE_INTEGER PerfFreq;
    union _LARGE_INTEGER PerfTime100nSec;
    uint32_t SystemNameLength;
    uint32_t SystemNameOffset;
} PERF_DATA_BLOCK;

/* The title fields are pointers only in 32-bit Windows' header; on the wire they are 4 reserved
 * bytes. Programs that use their type get a 32-bit integer, as on 64-bit Windows. */
typedef struct _PERF_OBJECT_TYPE {
    uint32_t TotalByteLength;
    uint32_t DefinitionLength;
    uint32_t HeaderLength;
    uint32_t ObjectNameTitleIndex;
    uint32_t ObjectNameTitle;
    uint32_t ObjectHelpTitleIndex;
    uint32_t ObjectHelpTitle;
    uint32_t DetailLevel;
    uint32_t NumCounters;
    int32_t DefaultCounter;
    int32_t NumInstances;
    uint32_t CodePage;
    union _LARGE_INTEGER PerfTime;
    union _LARGE_INTEGER PerfFreq;
} PERF_OBJECT_TYPE;

typedef struct _PERF_COUNTER_DEFINITION {
    uint32_t ByteLength;
    uint32_t CounterNameTitleIndex;
    uint32_t CounterNameTitle;
    uint32_t CounterHelpTitleIndex;
    uint32_t CounterHelpTitle;
    int32_t DefaultScale;
    uint32_t DetailLevel;
    uint32_t CounterType;
    uint32_t CounterSize;
    uint32_t CounterOffset;
} PERF_COUNTER_DEFINITION;

typedef struct _PERF_INSTANCE_DEFINITION {
    uint32_t ByteLength;
    uint32_t ParentObjectTitleIndex;
    uint32_t ParentObjectInstance;
    int32_t UniqueID;
    uint32_t NameOffset;
    uint32_t NameLength;
} PERF_INSTANCE_DEFINITION;

typedef struct _PERF_COUNTER_BLOCK {
    uint32_t ByteLength;
} PERF_COUNTER_BLOCK;

/* PERF_COUNTER_HISTOGRAM_TYPE is missing, because its value does not fit into an int. */
enum {
    PERF_NO_INSTANCES = -1,
    PERF_METADATA_MULTIPLE_INSTANCES = -2,
    PERF_METADATA_NO_INSTANCES = -3,
    PERF_NO_UNIQUE_ID = -1,
    PERF_DETAIL_NOVICE = 100,
    PERF_DETAIL_ADVANCED = 200,
    PERF_DETAIL_EXPERT = 300,
    PERF_DETAIL_WIZARD = 400,
    PERF_SIZE_DWORD = 0x00000000,
    PERF_SIZE_LARGE = 0x00000100,
    PERF_SIZE_ZERO = 0x00000200,
    PERF_SIZE_VARIABLE_LEN = 0x00000300,
    PERF_TYPE_NUMBER = 0x00000000,
    PERF_TYPE_COUNTER = 0x00000400,
    PERF_TYPE_TEXT = 0x00000800,
    PERF_TYPE_ZERO = 0x00000C00,
    PERF_NUMBER_HEX = 0x00000000,
    PERF_NUMBER_DECIMAL = 0x00010000,
    PERF_NUMBER_DEC_1000 = 0x00020000,
    PERF_COUNTER_VALUE = 0x00000000,
    PERF_COUNTER_RATE = 0x00010000,
    PERF_COUNTER_FRACTION = 0x00020000,
    PERF_COUNTER_BASE = 0x00030000,
    PERF_COUNTER_ELAPSED = 0x00040000,
    PERF_COUNTER_QUEUELEN = 0x00050000,
    PERF_COUNTER_HISTOGRAM = 0x00060000,
    PERF_COUNTER_PRECISION = 0x00070000,
    PERF_TEXT_UNICODE = 0x00000000,
    PERF_TEXT_ASCII = 0x00010000,
    PERF_TIMER_TICK = 0x00000000,
    PERF_TIMER_100NS = 0x00100000,
    PERF_OBJECT_TIMER = 0x00200000,
    PERF_DELTA_COUNTER = 0x00400000,
    PERF_DELTA_BASE = 0x00800000,
    PERF_INVERSE_COUNTER = 0x01000000,
    PERF_MULTI_COUNTER = 0x02000000,
    PERF_DISPLAY_NO_SUFFIX = 0x00000000,
    PERF_DISPLAY_PER_SEC = 0x10000000,
    PERF_DISPLAY_PERCENT = 0x20000000,
    PERF_DISPLAY_SECONDS = 0x30000000,
    PERF_DISPLAY_NOSHOW = 0x40000000,
    PERF_COUNTER_COUNTER = 0x10410400,
    PERF_COUNTER_TIMER = 0x20410500,
    PERF_COUNTER_QUEUELEN_TYPE = 0x00450400,
    PERF_COUNTER_LARGE_QUEUELEN_TYPE = 0x00450500,
    PERF_COUNTER_100NS_QUEUELEN_TYPE = 0x00550500,
    PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE = 0x00650500,
    PERF_COUNTER_BULK_COUNT = 0x10410500,
    PERF_COUNTER_TEXT = 0x00000B00,
    PERF_COUNTER_RAWCOUNT = 0x00010000,
    PERF_COUNTER_LARGE_RAWCOUNT = 0x00010100,
    PERF_COUNTER_RAWCOUNT_HEX = 0x00000000,
    PERF_COUNTER_LARGE_RAWCOUNT_HEX = 0x00000100,
    PERF_SAMPLE_FRACTION = 0x20C20400,
    PERF_SAMPLE_COUNTER = 0x00410400,
    PERF_COUNTER_NODATA = 0x40000200,
    PERF_COUNTER_TIMER_INV = 0x21410500,
    PERF_SAMPLE_BASE = 0x40030401,
    PERF_AVERAGE_TIMER = 0x30020400,
    PERF_AVERAGE_BASE = 0x40030402,
    PERF_AVERAGE_BULK = 0x40020500,
    PERF_OBJ_TIME_TIMER = 0x20610500,
    PERF_100NSEC_TIMER = 0x20510500,
    PERF_100NSEC_TIMER_INV = 0x21510500,
    PERF_COUNTER_MULTI_TIMER = 0x22410500,
    PERF_COUNTER_MULTI_TIMER_INV = 0x23410500,
    PERF_COUNTER_MULTI_BASE = 0x42030500,
    PERF_100NSEC_MULTI_TIMER = 0x22510500,
    PERF_100NSEC_MULTI_TIMER_INV = 0x23510500,
    PERF_RAW_FRACTION = 0x20020400,
    PERF_LARGE_RAW_FRACTION = 0x20020500,
    PERF_RAW_BASE = 0x40030403,
    PERF_LARGE_RAW_BASE = 0x40030500,
    PERF_ELAPSED_TIME = 0x30240500,
    PERF_COUNTER_DELTA = 0x00400400,
    PERF_COUNTER_LARGE_DELTA = 0x00400500,
    PERF_PRECISION_SYSTEM_TIMER = 0x20470500,
    PERF_PRECISION_100NS_TIMER = 0x20570500,
    PERF_PRECISION_OBJECT_TIMER = 0x20670500,
    PERF_PRECISION_TIMESTAMP = PERF_LARGE_RAW_BASE
};

#endif
