/* SPDX-License-Identifier: MIT */
/*
 * Every counter type, and instance names of every kind, from the block to the value, through the
 * public functions: what a sample contains, its time base, its value; which instance a path means.
 * The clocks of the simulated machine differ from Linux': 3,579,545 ticks a second, and 1,000 a
 * second for objects with a clock of their own, as on Windows. (docs/windows/types.md#b2,
 * docs/windows/types.md#b3)
 */
#include <openperflib/build.h>
#include <openperflib/unstable.h>
#include <pdh.h>
#include <pdhmsg.h>
#include <windows.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "registry/registry.h"

#define assert_status(call, status) assert_int_equal((DWORD)(call), (DWORD)(status))
enum { TICKS = 3579545, WALL = 10000000, OBJECT = 1000 };
enum { TYPES = 1000, PARENTS = 2000, NAMES = 2002, FIRST_COUNTER = 1010 };

/* ---- the types ---- */

enum clock { NONE, TICK, HUNDRED, OWN, BASE };
struct typed {
    DWORD type, base; /* `base`: type of the base counter that follows; 0: none */
    enum clock second;
    LONGLONG time_base;
    ULONGLONG first[2], bases[2];
    DWORD multi;
    double expected; /* the value after two seconds */
};
/* clang-format off */
static const struct typed typed[] = {
    {PERF_COUNTER_COUNTER,                0, TICK,    TICKS,  {1000, 1600}, {0}, 1, 300},
    {PERF_COUNTER_BULK_COUNT,             0, TICK,    TICKS,  {1ull << 40, (1ull << 40) + 600}, {0}, 1, 300},
    {PERF_SAMPLE_COUNTER,                 0, TICK,    TICKS,  {1000, 1600}, {0}, 1, 300},
    {PERF_COUNTER_TIMER,                  0, TICK,    TICKS,  {0, TICKS}, {0}, 1, 50},
    {PERF_COUNTER_TIMER_INV,              0, TICK,    TICKS,  {0, TICKS / 2}, {0}, 1, 100 - 25 * (TICKS / 2 * 2.0 / TICKS)},
    {PERF_100NSEC_TIMER,                  0, HUNDRED, WALL,   {5, 5000005}, {0}, 1, 25},
    {PERF_100NSEC_TIMER_INV,              0, HUNDRED, WALL,   {5, 5000005}, {0}, 1, 75},
    {PERF_OBJ_TIME_TIMER,                 0, OWN,     OBJECT, {7, 607}, {0}, 1, 30},
    {PERF_COUNTER_MULTI_TIMER,            0, TICK,    TICKS,  {10, 16}, {0}, 4, 75},
    {PERF_COUNTER_MULTI_TIMER_INV,        0, TICK,    TICKS,  {10, 16}, {0}, 4, 25},
    {PERF_100NSEC_MULTI_TIMER,            0, HUNDRED, WALL,   {0, 20000000}, {0}, 4, 25},
    {PERF_100NSEC_MULTI_TIMER_INV,        0, HUNDRED, WALL,   {0, 20000000}, {0}, 4, 75},
    {PERF_COUNTER_QUEUELEN_TYPE,          0, TICK,    TICKS,  {0, 3 * TICKS}, {0}, 1, 1.5},
    {PERF_COUNTER_LARGE_QUEUELEN_TYPE,    0, TICK,    TICKS,  {9, 3 * TICKS + 9}, {0}, 1, 1.5},
    {PERF_COUNTER_100NS_QUEUELEN_TYPE,    0, HUNDRED, WALL,   {0, 50000000}, {0}, 1, 2.5},
    {PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE, 0, OWN,     OBJECT, {0, 7000}, {0}, 1, 3.5},
    {PERF_COUNTER_RAWCOUNT,               0, NONE,    TICKS,  {9, 4000000000u}, {0}, 1, 4000000000.0},
    {PERF_COUNTER_LARGE_RAWCOUNT,         0, NONE,    TICKS,  {9, 1ull << 50}, {0}, 1, 1125899906842624.0},
    {PERF_COUNTER_RAWCOUNT_HEX,           0, NONE,    TICKS,  {9, 255}, {0}, 1, 255},
    {PERF_COUNTER_LARGE_RAWCOUNT_HEX,     0, NONE,    TICKS,  {9, 255}, {0}, 1, 255},
    {PERF_COUNTER_DELTA,                  0, NONE,    TICKS,  {4294967290u, 4}, {0}, 1, 10},
    {PERF_COUNTER_LARGE_DELTA,            0, NONE,    TICKS,  {100, 42000}, {0}, 1, 41900},
    {PERF_SAMPLE_FRACTION, PERF_SAMPLE_BASE,        BASE, TICKS,  {10, 40}, {100, 220}, 1, 25},
    {PERF_RAW_FRACTION,    PERF_RAW_BASE,           BASE, TICKS,  {10, 40}, {100, 160}, 1, 25},
    {PERF_LARGE_RAW_FRACTION, PERF_LARGE_RAW_BASE,  BASE, TICKS,  {10, 1ull << 40}, {1, 1ull << 42}, 1, 25},
    {PERF_AVERAGE_TIMER,   PERF_AVERAGE_BASE,       BASE, TICKS,  {0, 10 * TICKS}, {5, 9}, 1, 2.5},
    {PERF_AVERAGE_BULK,    PERF_AVERAGE_BASE,       BASE, TICKS,  {1000, 9000}, {5, 9}, 1, 2000},
    {PERF_ELAPSED_TIME,                   0, OWN,     OBJECT, {400, 400}, {0}, 1, 2.1},
    {PERF_PRECISION_SYSTEM_TIMER, PERF_LARGE_RAW_BASE, BASE, TICKS,  {10, 40}, {100, 220}, 1, 25},
    {PERF_PRECISION_100NS_TIMER,  PERF_LARGE_RAW_BASE, BASE, WALL,   {10, 40}, {100, 220}, 1, 25},
    {PERF_PRECISION_OBJECT_TIMER, PERF_LARGE_RAW_BASE, BASE, OBJECT, {10, 40}, {100, 220}, 1, 25},
};
/* clang-format on */
enum { TYPED = COUNT(typed) };

static int moment; /* which of the two samples is returned: 0 the first, 1 the second */
static const LONGLONG ticks[] = {777, 777 + 2 * TICKS};
static const LONGLONG walls[] = {133000000000000000, 133000000000000000 + 2 * WALL};
static const LONGLONG objects[] = {500, 500 + 2 * OBJECT};

static void build_types(opl_build *build)
{
    opl_build_counter counters[2 * TYPED];
    DWORD count = 0;
    for (DWORD i = 0; i < TYPED; i++) {
        opl_build_counter counter = {.name_index = FIRST_COUNTER + 2 * i,
                                     .help_index = FIRST_COUNTER + 2 * i + 1,
                                     .type = typed[i].type,
                                     .level = PERF_DETAIL_NOVICE};
        counters[count++] = counter;
        counter.type = typed[i].base;
        if (counter.type)
            counters[count++] = counter;
    }
    const opl_build_object_info info = {.name_index = TYPES,
                                        .help_index = TYPES + 1,
                                        .single = true,
                                        .time = objects[moment],
                                        .frequency = OBJECT};
    opl_build_object(build, &info, counters, count);
    for (DWORD i = 0, at = 0; i < TYPED; i++, at++) {
        if (typed[i].type & PERF_MULTI_COUNTER)
            opl_build_multi(build, at, typed[i].first[moment], typed[i].multi);
        else
            opl_build_number(build, at, typed[i].first[moment]);
        if (typed[i].base)
            opl_build_number(build, ++at, typed[i].bases[moment]);
    }
}

/* ---- the names ---- */

static const char *const parents[] = {"p", "P", "b"};
static const struct named {
    const char *name; /* NULL: the instance has a number (UniqueID) instead of a name */
    int parent;       /* position in `parents`; -1: none */
    LONG unique;
} names[] = {
    {"a",                    -1, -1  },
    {"A",                    -1, -1  },
    {"a",                    -1, -1  },
    {"b/c",                  -1, -1  },
    {"c",                    2,  -1  }, /* its parent is "b", so its path is b/c, too */
    {"x",                    0,  -1  },
    {"x",                    1,  -1  }, /* its parent is "P": in paths the same as "p" */
    {"z#7",                  -1, -1  },
    {"w#",                   -1, -1  },
    {"(round)",              -1, -1  },
    {"a)\\b(",               -1, -1  },
    {"/",                    -1, -1  },
    {"/home",                -1, -1  },
    {"C:",                   -1, -1  },
    {"tilde ~ blank",        -1, -1  },
    {"\xc3\xa4\xe2\x82\xac", -1, -1  },
    {NULL,                   -1, 4711},
    {NULL,                   -1, 4711},
    {NULL,                   0,  12  },
};

static void build_names(opl_build *build)
{
    const opl_build_counter counter = {
        .name_index = 10, .help_index = 11, .type = PERF_COUNTER_RAWCOUNT, .level = 100};
    opl_build_object_info info = {.name_index = PARENTS, .help_index = PARENTS + 1};
    opl_build_object(build, &info, &counter, 1);
    for (size_t i = 0; i < COUNT(parents); i++)
        opl_build_instance(build, parents[i]);
    info.name_index = NAMES;
    info.help_index = NAMES + 1;
    opl_build_object(build, &info, &counter, 1);
    for (DWORD i = 0; i < COUNT(names); i++) {
        const struct named *named = &names[i];
        DWORD above = named->parent < 0 ? 0 : PARENTS;
        opl_build_instance_full(build, named->name, named->name ? strlen(named->name) : 0, above,
                                above ? (DWORD)named->parent : 0, named->unique);
        opl_build_dword(build, 0, 100 + i);
    }
}

/* ---- the machine ---- */

static LSTATUS query_key(const char *path, const char *name, bool wide, DWORD *type, void *data,
                         DWORD *size)
{
    static const char titles[] = "1\0"
                                 "1847\0";
    PERF_DATA_BLOCK header = {
        .Signature = {'P', 'E', 'R', 'F'},
        .LittleEndian = 1,
        .Version = 1,
        .Revision = 1,
        .HeaderLength = sizeof header
    };
    bool text = !strncmp(name, "Counter", 7) || !strncmp(name, "Explain", 7);
    DWORD capacity = *size, types = 0;
    if (capacity < (text ? sizeof titles : sizeof header)) {
        *size = text ? sizeof titles : capacity;
        return ERROR_MORE_DATA;
    }
    if (text) {
        memcpy(data, titles, *size = sizeof titles);
        return ERROR_SUCCESS;
    }
    opl_build build;
    LPVOID cursor = (char *)data + sizeof header;
    DWORD bytes = capacity - (DWORD)sizeof header;
    opl_build_init(&build, cursor, bytes);
    build_types(&build);
    build_names(&build);
    LSTATUS status = (LSTATUS)opl_build_collect(&build, &cursor, &bytes, &types);
    if (status)
        return status;
    header.NumObjectTypes = types;
    header.TotalByteLength = *size = (DWORD)sizeof header + bytes;
    header.PerfTime.QuadPart = ticks[moment];
    header.PerfFreq.QuadPart = TICKS;
    header.PerfTime100nSec.QuadPart = walls[moment];
    memcpy(data, &header, sizeof header);
    return ERROR_SUCCESS;
}

static const struct mount mounts[] = {
    {.path = "HKEY_PERFORMANCE_DATA", .predefined = HKEY_PERFORMANCE_DATA, .query = query_key},
    {.path = NULL            },
};
static const struct registry_computed no_computed[1];
static const struct registry_virtual_keys no_keys[1];
static const struct registry_tables tables = {mounts, no_computed, no_keys, NULL};

__attribute__((constructor)) static void hand_down_tables(void)
{
    registry_init(&tables);
}

static PDH_HQUERY query;

static int open_query(void **state)
{
    moment = 0;
    setenv("LC_ALL", "C", 1);
    return PdhOpenQueryA(NULL, 0, &query);
}

static int close_query(void **state)
{
    return PdhCloseQuery(query);
}

static void collect(int at)
{
    moment = at;
    assert_status(PdhCollectQueryData(query), 0);
}

/* ---- every type ---- */

static LONGLONG second_of(const struct typed *of)
{
    switch (of->second) {
    case TICK:
        return ticks[moment];
    case HUNDRED:
        return walls[moment];
    case OWN:
        return objects[moment];
    case BASE:
        return (LONGLONG)of->bases[moment];
    default:
        return 0;
    }
}

/* docs/windows/types.md#b3: the raw value of a multi timer that counts ticks is multiplied by the
 * frequency. */
static void keeps(const struct typed *of, PDH_HCOUNTER counter)
{
    bool ticking = of->type == PERF_COUNTER_MULTI_TIMER || of->type == PERF_COUNTER_MULTI_TIMER_INV;
    PDH_RAW_COUNTER raw;
    DWORD type = 0;
    assert_status(PdhGetRawCounterValue(counter, &type, &raw), 0);
    assert_int_equal(type, of->type);
    assert_true(raw.FirstValue == (LONGLONG)of->first[moment] * (ticking ? TICKS : 1));
    assert_true(raw.SecondValue == second_of(of));
    assert_int_equal(raw.MultiCount, of->multi);
}

static void is_cooked(const struct typed *of, PDH_HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE value;
    PDH_STATUS status = PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value);
    bool single = of->type == PERF_ELAPSED_TIME || of->second == NONE ||
                  of->type == PERF_RAW_FRACTION || of->type == PERF_LARGE_RAW_FRACTION;
    single &= of->type != PERF_COUNTER_DELTA && of->type != PERF_COUNTER_LARGE_DELTA;
    if (moment == 0) {
        assert_status(status, single ? 0 : PDH_INVALID_DATA);
        assert_int_equal(value.CStatus, single ? PDH_CSTATUS_VALID_DATA : PDH_CSTATUS_INVALID_DATA);
        return;
    }
    assert_status(status, 0);
    assert_true(fabs(value.doubleValue - of->expected) <= 1e-12 * fabs(of->expected));
}

static void every_type(void **state)
{
    PDH_HCOUNTER counters[TYPED];
    for (DWORD i = 0; i < TYPED; i++) {
        char path[64];
        LONGLONG base = 0;
        snprintf(path, sizeof path, "\\%d\\%u", TYPES, (unsigned)(FIRST_COUNTER + 2 * i));
        assert_status(PdhAddEnglishCounterA(query, path, 0, &counters[i]), 0);
        assert_status(PdhGetCounterTimeBase(counters[i], &base), 0);
        assert_true(base == typed[i].time_base);
    }
    for (int at = 0; at < 2; at++) {
        collect(at);
        for (DWORD i = 0; i < TYPED; i++) {
            keeps(&typed[i], counters[i]);
            is_cooked(&typed[i], counters[i]);
        }
    }
    for (DWORD i = 0; i < TYPED; i++) {
        LONGLONG base = 0;
        assert_status(PdhGetCounterTimeBase(counters[i], &base), 0);
        assert_true(base == typed[i].time_base);
    }
}

/* Formats collected values: with and without the limit of 100 %, with scales, as LONG and LARGE. */
static void formats_of_values(void **state)
{
    PDH_HCOUNTER raw, percent;
    PDH_FMT_COUNTERVALUE value;
    /* its value is 4,000,000,000 */
    assert_status(PdhAddCounterA(query, "\\1000\\1042", 0, &raw), 0);
    /* its value is 50 %: 1 s of 2 s */
    assert_status(PdhAddCounterA(query, "\\1000\\1016", 0, &percent), 0);
    collect(0);
    collect(1);
    static const struct {
        DWORD format;
        LONG scale;
        LONGLONG expected;
    } rows[] = {
        {PDH_FMT_LARGE,                    0,  4000000000       },
        {PDH_FMT_LONG,                     0,  INT32_MAX        },
        {PDH_FMT_LARGE,                    -3, 4000000          },
        {PDH_FMT_LONG,                     -3, 4000000          },
        {PDH_FMT_LARGE | PDH_FMT_NOSCALE,  -3, 4000000000       },
        {PDH_FMT_LARGE | PDH_FMT_1000,     0,  4000000000000    },
        {PDH_FMT_LARGE | PDH_FMT_1000,     -3, 4000000000       },
        {PDH_FMT_LARGE,                    7,  40000000000000000},
        {PDH_FMT_LARGE | PDH_FMT_1000,     7,  INT64_MAX        },
        {PDH_FMT_LARGE,                    -7, 400              },
        {PDH_FMT_LARGE | PDH_FMT_NOCAP100, 0,  4000000000       },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_status(PdhSetCounterScaleFactor(raw, rows[i].scale), 0);
        assert_status(PdhGetFormattedCounterValue(raw, rows[i].format, NULL, &value), 0);
        assert_true((rows[i].format & PDH_FMT_LONG ? value.longValue : value.largeValue) ==
                    rows[i].expected);
    }
    /* the value is limited to 100 first, and then scaled */
    assert_status(PdhSetCounterScaleFactor(percent, 2), 0);
    assert_status(PdhGetFormattedCounterValue(percent, PDH_FMT_LONG, NULL, &value), 0);
    assert_int_equal(value.longValue, 5000);
}

/* ---- every name ---- */

/* A pattern expands to paths. Each of these paths means exactly one instance, and each instance has
 * exactly one such path. */
static void every_name_is_found_again(void **state)
{
    char list[4096];
    DWORD length = sizeof list, count = 0;
    PDH_HCOUNTER counters[COUNT(names)];
    assert_status(PdhExpandWildCardPathA(NULL, "\\2002(*)\\10", list, &length, 0), 0);
    for (const char *path = list; *path; path += strlen(path) + 1, count++) {
        assert_true(count < COUNT(names));
        assert_status(PdhValidatePathA(path), 0);
        assert_status(PdhAddCounterA(query, path, 0, &counters[count]), 0);
    }
    assert_int_equal(count, COUNT(names));
    collect(0);
    for (DWORD i = 0; i < count; i++) {
        PDH_FMT_COUNTERVALUE value;
        assert_status(PdhGetFormattedCounterValue(counters[i], PDH_FMT_LONG, NULL, &value), 0);
        assert_int_equal(value.longValue, 100 + i);
    }
}

static void means(const char *instance, LONG expected)
{
    char path[64];
    PDH_HCOUNTER counter;
    PDH_FMT_COUNTERVALUE value;
    snprintf(path, sizeof path, "\\2002(%s)\\10", instance);
    assert_status(PdhAddCounterA(query, path, 0, &counter), 0);
    PdhCollectQueryData(query);
    PDH_STATUS status = PdhGetFormattedCounterValue(counter, PDH_FMT_LONG, NULL, &value);
    assert_status(status, expected ? 0 : PDH_INVALID_DATA);
    if (expected)
        assert_int_equal(value.longValue, expected);
    else
        assert_int_equal(value.CStatus, PDH_CSTATUS_NO_INSTANCE);
    assert_status(PdhRemoveCounter(counter), 0);
}

static void names_mean_instances(void **state)
{
    static const struct {
        const char *instance;
        LONG value;
    } rows[] = {
        {"a",                    100},
        {"A#0",                  100},
        {"a#1",                  101},
        {"A#2",                  102},
        {"a#3",                  0  },
        {"a#01",                 101},
        {"b/c",                  103},
        {"B/C#1",                104},
        {"p/x",                  105},
        {"P/X#1",                106},
        {"x",                    0  },
        {"c",                    0  },
        {"z#7",                  107},
        {"z",                    0  },
        {"w#",                   108},
        {"(round)",              109},
        {"/",                    111},
        {"/HOME",                112},
        {"\xc3\x84\xe2\x82\xac", 115}, /* the same name with upper and lower case exchanged */
        {"4711",                 116},
        {"4711#1",               117},
        {"p/12",                 118},
        {"12",                   0  },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        means(rows[i].instance, rows[i].value);
}

/* Checks the values of all instances that match a pattern, in the order of their names. */
static void fits(const char *instance, const char *expected)
{
    char path[64], text[512] = "";
    PDH_HCOUNTER counter;
    union {
        PDH_FMT_COUNTERVALUE_ITEM_A items[COUNT(names)];
        char storage[2048];
    } is;
    DWORD size = sizeof is, count = 0;
    size_t at = 0;
    snprintf(path, sizeof path, "\\2002(%s)\\10", instance);
    assert_status(PdhAddCounterA(query, path, 0, &counter), 0);
    PdhCollectQueryData(query);
    assert_status(PdhGetFormattedCounterArrayA(counter, PDH_FMT_LONG, &size, &count, is.items), 0);
    for (DWORD i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s=%d|", is.items[i].szName,
                               (int)is.items[i].FmtValue.longValue);
    assert_string_equal(text, expected);
    assert_status(PdhRemoveCounter(counter), 0);
}

static void patterns_fit_instances(void **state)
{
    fits("a#*", "a=100|A=101|a=102|");
    fits("?", "a=100|A=101|a=102|/=111|");
    fits("p/*", "p/x=105|P/x=106|p/12=118|");
    fits("*/x#*", "p/x=105|P/x=106|");
    fits("p/*#1", "P/x=106|");
    fits("*#2", "a=102|");
    fits("*c", "b/c=103|b/c=104|");
    fits("4711*", "4711=116|4711=117|");
    fits("none*", "");
}

#define WITH_QUERY(test) cmocka_unit_test_setup_teardown(test, open_query, close_query)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_QUERY(every_type),
        WITH_QUERY(formats_of_values),
        WITH_QUERY(every_name_is_found_again),
        WITH_QUERY(names_mean_instances),
        WITH_QUERY(patterns_fit_instances),
    };
    return cmocka_run_group_tests_name("pdh-types", tests, NULL, NULL);
}
