/* SPDX-License-Identifier: MIT */
/* Blocks as metrics: every counter type against PDH's value, 32-bit counters that wrap, names of
 * every kind, objects that are damaged or too large, and both formats. */
#include "metrics.h"

#include <openperflib/build.h>
#include <openperflib/unstable.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <winperf.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { OBJECT = 2000, OTHER = 2002, FIRST = 3000, WALL = 10000000, OWN = 1000, CAPACITY = 1 << 22 };
enum { ID_PROCESS = 784, ELAPSED = 684 };

/* ---- a block, and its titles ---- */

static unsigned char bytes[CAPACITY];
static struct name_row rows[] = {
    {ELAPSED,    "Elapsed Time"},
    {ID_PROCESS, "ID Process"  },
    {OBJECT,     "My Object"   },
    {OTHER,      "Other"       },
    {FIRST,      "Zero"        },
    {FIRST + 2,  "% One"       },
    {FIRST + 4,  "Two/sec"     },
    {FIRST + 6,  "Two/Sec"     },
};
static struct name_row helps[] = {
    {FIRST + 1, "Back\\slash, \"quotes\",\nlines."}
};
static struct view_names names = {
    .english = {NULL, rows,  COUNT(rows) },
    .helps = {NULL, helps, COUNT(helps)},
    .helps_loaded = true
};
static struct walk *walk;
static struct exposition text;
static opl_block block;

static int begin(void **state)
{
    (void)state;
    walk = walk_new(&names);
    exposition_begin(&text, FORMAT_TEXT);
    return walk == NULL;
}

static int end(void **state)
{
    (void)state;
    walk_free(walk);
    free(text.bytes);
    text = (struct exposition){0};
    return 0;
}

static PERF_DATA_BLOCK header = {
    .Signature = {'P', 'E', 'R', 'F'},
    .LittleEndian = 1,
    .Version = 1,
    .Revision = 1,
    .HeaderLength = sizeof header,
    .PerfFreq.QuadPart = WALL,
    .PerfTime.QuadPart = 777,
    .PerfTime100nSec.QuadPart = 133000000000000000,
};

static opl_build start(void)
{
    opl_build build;
    opl_build_init(&build, bytes + sizeof header, sizeof bytes - sizeof header);
    return build;
}

/* Ends the block, and walks its objects. Returns the result of the first one. */
static enum walk_result finish(opl_build *build, size_t most)
{
    void *cursor = bytes + sizeof header;
    uint32_t size = sizeof bytes - sizeof header, types = 0;
    size_t count;
    assert_int_equal(opl_build_collect(build, &cursor, &size, &types), 0);
    header.NumObjectTypes = types;
    header.TotalByteLength = (DWORD)sizeof header + size;
    memcpy(bytes, &header, sizeof header);
    assert_int_equal(opl_block_init(&block, bytes, header.TotalByteLength), OPL_BLOCK_GOOD);
    opl_object_view object = {0};
    enum walk_result result = WALK_NO_MEMORY;
    for (bool first = true; opl_block_next_object(&block, &object); first = false) {
        enum walk_result next = walk_object(walk, &block, &object, most, &text.sink, &count);
        result = first ? next : result;
    }
    return result;
}

/* The number after "NAME " at the beginning of a line, as written; NULL: none. */
static const char *found(const char *name)
{
    static char number[64];
    size_t length = strlen(name);
    for (const char *at = text.bytes, *last = at + text.size; at && at < last;) {
        const char *line = memchr(at, '\n', (size_t)(last - at));
        if ((size_t)(line - at) > length && !memcmp(at, name, length) && at[length] == ' ') {
            snprintf(number, sizeof number, "%.*s", (int)(line - at - (long)length - 1),
                     at + length + 1);
            return number;
        }
        at = line + 1;
    }
    return NULL;
}

static void clear(enum metric_format format)
{
    exposition_begin(&text, format);
}

#define assert_sample(name, number)                                                                \
    do {                                                                                           \
        const char *there = found(name);                                                           \
        if (!there)                                                                                \
            fail_msg("no %s in\n%.*s", name, (int)text.size, text.bytes);                          \
        assert_string_equal(there, number);                                                        \
    } while (0)

/* ---- every type ---- */

/* How the value of a viewer follows from two answers; x is the sample, t the clock, b the base. */
enum rule {
    NEWEST,
    RATE,
    SHARE,
    IDLE,
    MULTI,
    MULTI_IDLE,
    QUOTIENT,
    BASED,
    DELTA,
    AVERAGE,
    RATIO,
    AGE
};
static const struct typed {
    uint32_t type, base;
    enum { TICKS, HUNDRED, OWNS } clock;
    enum rule rule;
    const char *name; /* rest of the metric's name after perf_my_object_zero */
    uint64_t first[2], bases[2];
} typed[] = {
  /* clang-format off */
    {PERF_COUNTER_COUNTER,                0, TICKS,   RATE,     "_total",              {4294967000, 1600}, {0}},
    {PERF_COUNTER_BULK_COUNT,             0, TICKS,   RATE,     "_total",              {1ull << 60, (1ull << 60) + 601}, {0}},
    {PERF_SAMPLE_COUNTER,                 0, TICKS,   RATE,     "_total",              {1000, 1600}, {0}},
    {PERF_COUNTER_TIMER,                  0, TICKS,   SHARE,    "_seconds_total",      {17, 10000018}, {0}},
    {PERF_COUNTER_TIMER_INV,              0, TICKS,   IDLE,     "_idle_seconds_total", {0, 5000003}, {0}},
    {PERF_100NSEC_TIMER,                  0, HUNDRED, SHARE,    "_seconds_total",      {5, 5000006}, {0}},
    {PERF_100NSEC_TIMER_INV,              0, HUNDRED, IDLE,     "_idle_seconds_total", {5, 5000006}, {0}},
    {PERF_OBJ_TIME_TIMER,                 0, OWNS,    SHARE,    "_seconds_total",      {7, 607}, {0}},
    {PERF_COUNTER_MULTI_TIMER,            0, TICKS,   MULTI,    "_seconds_total",      {10, 16}, {0}},
    {PERF_COUNTER_MULTI_TIMER_INV,        0, TICKS,   MULTI_IDLE, "_idle_seconds_total", {10, 16}, {0}},
    {PERF_100NSEC_MULTI_TIMER,            0, HUNDRED, MULTI,    "_seconds_total",      {0, 20000001}, {0}},
    {PERF_100NSEC_MULTI_TIMER_INV,        0, HUNDRED, MULTI_IDLE, "_idle_seconds_total", {0, 20000001}, {0}},
    {PERF_COUNTER_QUEUELEN_TYPE,          0, TICKS,   QUOTIENT, "_seconds_total",      {4294967290, 30000000}, {0}},
    {PERF_COUNTER_LARGE_QUEUELEN_TYPE,    0, TICKS,   QUOTIENT, "_seconds_total",      {9, 70000003}, {0}},
    {PERF_COUNTER_100NS_QUEUELEN_TYPE,    0, HUNDRED, QUOTIENT, "_seconds_total",      {0, 50000000}, {0}},
    {PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE, 0, OWNS,    QUOTIENT, "_seconds_total",      {0, 7000}, {0}},
    {PERF_COUNTER_RAWCOUNT,               0, TICKS,   NEWEST,   "",                    {9, 4000000000}, {0}},
    {PERF_COUNTER_LARGE_RAWCOUNT,         0, TICKS,   NEWEST,   "",                    {9, 1ull << 50}, {0}},
    {PERF_COUNTER_RAWCOUNT_HEX,           0, TICKS,   NEWEST,   "",                    {9, 255}, {0}},
    {PERF_COUNTER_LARGE_RAWCOUNT_HEX,     0, TICKS,   NEWEST,   "",                    {9, 255}, {0}},
    {PERF_COUNTER_DELTA,                  0, TICKS,   DELTA,    "_total",              {4294967290, 4}, {0}},
    {PERF_COUNTER_LARGE_DELTA,            0, TICKS,   DELTA,    "_total",              {100, 42000}, {0}},
    {PERF_SAMPLE_FRACTION, PERF_SAMPLE_BASE,          TICKS, BASED, "_total",          {10, 40}, {4294967200, 120}},
    {PERF_RAW_FRACTION,    PERF_RAW_BASE,             TICKS, RATIO, "_ratio",          {10, 41}, {100, 160}},
    {PERF_LARGE_RAW_FRACTION, PERF_LARGE_RAW_BASE,    TICKS, RATIO, "_ratio",          {10, 1ull << 40}, {1, 3ull << 42}},
    {PERF_AVERAGE_TIMER,   PERF_AVERAGE_BASE,         TICKS, AVERAGE, "_sum",          {0, 100000001}, {4294967295, 9}},
    {PERF_AVERAGE_BULK,    PERF_AVERAGE_BASE,         TICKS, AVERAGE, "_sum",          {1000, 9000}, {5, 9}},
    {PERF_ELAPSED_TIME,                   0, OWNS,    AGE,      "_start_time_seconds", {400, 400}, {0}},
    {PERF_PRECISION_SYSTEM_TIMER, PERF_PRECISION_TIMESTAMP, TICKS,   BASED, "_seconds_total", {10, 40}, {100, 220}},
    {PERF_PRECISION_100NS_TIMER,  PERF_PRECISION_TIMESTAMP, HUNDRED, BASED, "_seconds_total", {10, 40}, {100, 220}},
    {PERF_PRECISION_OBJECT_TIMER, PERF_PRECISION_TIMESTAMP, OWNS,    BASED, "_seconds_total", {10, 40}, {100, 220}},
  /* clang-format on */
};

/* Builds the object at one of two moments, 2.0000001 s apart, and keeps its first instance's sample
 * as PDH stores it. */
static void expose_type(const struct typed *of, int moment, int64_t frequency, PDH_RAW_COUNTER *raw,
                        int64_t *time_base)
{
    opl_build_counter counters[] = {
        {.name_index = FIRST,     .type = of->type, .level = 100},
        {.name_index = FIRST + 2, .type = of->base, .level = 100}
    };
    const opl_build_object_info info = {
        .name_index = OBJECT, .single = true, .time = 500 + moment * 2 * OWN, .frequency = OWN};
    header.PerfFreq.QuadPart = frequency;
    header.PerfTime.QuadPart = 777 + moment * (2 * frequency + 1);
    header.PerfTime100nSec.QuadPart = 133000000000000000 + moment * (2 * WALL + 1);
    opl_build build = start();
    opl_build_object(&build, &info, counters, of->base ? 2 : 1);
    if (of->type & PERF_MULTI_COUNTER)
        opl_build_multi(&build, 0, of->first[moment], 4);
    else
        opl_build_number(&build, 0, of->first[moment]);
    if (of->base)
        opl_build_number(&build, 1, of->bases[moment]);
    clear(FORMAT_TEXT);
    assert_int_equal(finish(&build, 100), WALK_GOOD);
    opl_object_view object = {0};
    opl_counter_view counter = {0};
    opl_instance_view instance = {0};
    opl_sample sample;
    assert_true(opl_block_next_object(&block, &object) &&
                opl_object_next_counter(&block, &object, &counter) &&
                opl_object_next_instance(&block, &object, &instance) &&
                opl_counter_sample(&block, &object, &instance, &counter, &sample));
    *raw = (PDH_RAW_COUNTER){.CStatus = PDH_CSTATUS_VALID_DATA,
                             .FirstValue = sample.first,
                             .SecondValue = sample.second,
                             .MultiCount = sample.multi_count};
    *time_base = sample.time_base;
}

static long double number(const char *ending)
{
    char name[128];
    snprintf(name, sizeof name, "perf_my_object_zero%s", ending);
    const char *at = found(name);
    if (!at)
        fail_msg("no %s in\n%.*s", name, (int)text.size, text.bytes);
    return strtold(at, NULL);
}

/* Computes a viewer's value from the exposed values, as docs/metrics.md describes. */
static long double value_of(const struct typed *of, const long double x[2], const long double b[2],
                            const long double t[2])
{
    long double dx = x[1] - x[0], db = b[1] - b[0], dt = t[1] - t[0];
    switch (of->rule) {
    case RATE:
    case QUOTIENT:
        return dx / dt;
    case SHARE:
        return dx / dt * 100;
    case IDLE:
        return (1 - dx / dt) * 100;
    case MULTI:
        return dx / dt / b[1] * 100;
    case MULTI_IDLE:
        return (1 - dx / dt / b[1]) * 100;
    case BASED:
        return dx / db * 100;
    case AVERAGE:
        return dx / db;
    case DELTA:
        return dx;
    case RATIO:
        return x[1] * 100;
    case AGE: /* the date of the block and the object's clock show the same time */
        return t[1] - x[1];
    default:
        return x[1];
    }
}

static void check_type(const struct typed *of, int64_t frequency)
{
    PDH_RAW_COUNTER raw[2];
    PDH_FMT_COUNTERVALUE expected;
    int64_t time_base;
    long double x[2], b[2] = {0}, t[2];
    char base[64];
    const char *second = of->rule == AVERAGE ? "_count" : "_base_total";
    snprintf(base, sizeof base, "_base%s", of->name);
    if (of->type & PERF_MULTI_COUNTER)
        second = "_base";
    else if (of->rule == BASED)
        second = base;
    for (int i = 0; i < 2; i++) {
        expose_type(of, i, frequency, &raw[i], &time_base);
        x[i] = number(of->name);
        if (of->rule == BASED || of->rule == AVERAGE || of->type & PERF_MULTI_COUNTER)
            b[i] = number(second);
        /* differences of times are taken as integers, because a double has no 18 digits */
        t[i] = of->rule == AGE
                   ? (long double)(header.PerfTime100nSec.QuadPart - METRIC_EPOCH_100NS) / WALL
               : of->clock == HUNDRED ? (long double)(i * (2 * WALL + 1)) / WALL
               : of->clock == TICKS ? (long double)header.PerfTime.QuadPart / (long double)frequency
                                    : (500 + i * 2.0L * OWN) / OWN;
    }
    long long base_ticks = time_base;
    assert_int_equal(PdhFormatFromRawValue(of->type, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100,
                                           (LONGLONG *)&base_ticks, &raw[1], &raw[0], &expected),
                     0);
    long double value = value_of(of, x, b, t);
    long double most = frequency == WALL && of->rule != AGE ? 1e-14L : 1e-7L;
    if (fabsl(value - expected.doubleValue) > most * fabsl(value))
        fail_msg("%x: exposed values give %.20Lg, PDH %.17g\n%.*s", of->type, value,
                 expected.doubleValue, (int)text.size, text.bytes);
}

static void every_type_gives_pdhs_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(typed); i++) {
        walk_free(walk);
        walk = walk_new(&names);
        check_type(&typed[i], WALL);
        walk_free(walk);
        walk = walk_new(&names);
        /* frequency of a Windows machine's clock; it is no power of ten */
        check_type(&typed[i], 3579545);
    }
}

static void other_types_are_not_exposed(void **state)
{
    static const uint32_t types[] = {
        PERF_COUNTER_NODATA, PERF_SAMPLE_BASE,        PERF_AVERAGE_BASE,           PERF_RAW_BASE,
        PERF_LARGE_RAW_BASE, PERF_COUNTER_MULTI_BASE, PERF_COUNTER_HISTOGRAM_TYPE, 0x12345678};
    struct metric_family families[METRIC_FAMILIES];
    (void)state;
    for (size_t i = 0; i < COUNT(types); i++)
        assert_int_equal(metric_describe("A", "B", 1, types[i], families), 0);
}

/* ---- 32 bits ---- */

static void one_process(const char *name, uint32_t id, uint64_t began, uint32_t value)
{
    const opl_build_counter counters[] = {
        {.name_index = FIRST,      .type = PERF_COUNTER_COUNTER,  .level = 100},
        {.name_index = ID_PROCESS, .type = PERF_COUNTER_RAWCOUNT, .level = 100},
        {.name_index = ELAPSED,    .type = PERF_ELAPSED_TIME,     .level = 100},
    };
    const opl_build_object_info info = {.name_index = OBJECT, .time = 1, .frequency = OWN};
    opl_build build = start();
    opl_build_object(&build, &info, counters, 3);
    opl_build_instance(&build, name);
    opl_build_dword(&build, 0, value);
    opl_build_dword(&build, 1, id);
    opl_build_large(&build, 2, began);
    clear(FORMAT_TEXT);
    assert_int_equal(finish(&build, 100), WALK_GOOD);
}

#define assert_zero(name, number)                                                                  \
    assert_sample("perf_my_object_zero_total{name=\"" name "\"}", number)

static void wraps_are_carried_on(void **state)
{
    (void)state;
    one_process("a", 5, 100, 4294967290);
    assert_zero("a", "4294967290");
    one_process("a", 5, 100, 4);
    assert_zero("a", "4294967300");
    one_process("a", 5, 100, 4000000000);
    one_process("a", 5, 100, 3);
    assert_zero("a", "8589934595");
    one_process("new", 5, 100, 4); /* the process has only changed its name */
    assert_zero("new", "8589934596");
    one_process("new", 6, 200, 5); /* another process with the same name */
    assert_zero("new", "5");
    one_process("new", 5, 100, 2); /* not a wrap: another counter, which begins anew */
    assert_zero("new", "2");
}

/* As on Windows, a base has the title of its counter. */
static void a_base_is_carried_on_alone(void **state)
{
    static const uint32_t values[][2] = {
        {4294967290, 5},
        {4,          6},
        {5,          7},
    };
    const opl_build_counter counters[] = {
        {.name_index = FIRST, .type = PERF_SAMPLE_FRACTION, .level = 100},
        {.name_index = FIRST, .type = PERF_SAMPLE_BASE,     .level = 100},
    };
    const opl_build_object_info info = {.name_index = OBJECT};
    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        opl_build build = start();
        opl_build_object(&build, &info, counters, 2);
        opl_build_instance(&build, "a");
        opl_build_dword(&build, 0, values[i][0]);
        opl_build_dword(&build, 1, values[i][1]);
        clear(FORMAT_TEXT);
        assert_int_equal(finish(&build, 100), WALK_GOOD);
    }
    assert_zero("a", "4294967301");
    assert_sample("perf_my_object_zero_base_total{name=\"a\"}", "7");
}

/* Machines with the same titles use one walk. */
static void machines_are_carried_on_alone(void **state)
{
    struct carry *first = carry_new(), *second = carry_new();
    size_t steps = 0;
    (void)state;
    assert_true(first && second);
    walk_use(walk, first, &steps);
    one_process("a", 5, 100, 4294967290);
    walk_use(walk, second, &steps);
    one_process("a", 5, 100, 4);
    assert_zero("a", "4");
    walk_use(walk, first, &steps);
    one_process("a", 5, 100, 4);
    assert_zero("a", "4294967300");
    carry_free(first);
    carry_free(second);
}

static void another_type_keeps_the_name(void **state)
{
    static const uint32_t types[] = {PERF_COUNTER_RAWCOUNT, PERF_COUNTER_RAWCOUNT_HEX};
    (void)state;
    for (size_t i = 0; i < COUNT(types); i++) {
        const opl_build_counter counters[] = {
            {.name_index = FIRST + 4, .type = types[i],              .level = 100},
            {.name_index = FIRST + 6, .type = PERF_COUNTER_RAWCOUNT, .level = 100},
        };
        const opl_build_object_info info = {.name_index = OBJECT};
        opl_build build = start();
        opl_build_object(&build, &info, counters, 2);
        opl_build_instance(&build, "a");
        opl_build_dword(&build, 0, 1);
        opl_build_dword(&build, 1, 2);
        clear(FORMAT_TEXT);
        assert_int_equal(finish(&build, 100), WALK_GOOD);
        assert_sample("perf_my_object_two_per_seconds{name=\"a\"}", "1");
        assert_sample("perf_my_object_two_per_seconds_3006{name=\"a\"}", "2");
    }
}

static void many_counters_are_carried_on(void **state)
{
    struct carry *carry = carry_new();
    (void)state;
    assert_non_null(carry);
    for (uint64_t round = 0; round < 3; round++) /* 0, 2^31 + 1, and 0 after a wrap */
        for (uint64_t key = 1; key <= 100000; key++)
            assert_true(carry_on(carry, key << 20, round == 1 ? 0x80000001u : 0, 1000) ==
                        (round == 1 ? 0x80000001u : round << 31));
    carry_free(carry);
}

static void the_forgotten_begin_anew(void **state)
{
    struct carry *carry = carry_new();
    (void)state;
    carry_on(carry, 7, 4294967295u, 0);
    assert_true(carry_on(carry, 7, 0, 0) == 4294967296u);
    for (uint64_t key = 100; key < 10000; key++) /* the table must not keep all of them */
        carry_on(carry, key, 1, (int64_t)key * 100);
    assert_true(carry_on(carry, 7, 1, 1000000) == 1);
    carry_free(carry);
}

/* ---- names ---- */

static void build_named(opl_build *build, const char *const *list)
{
    const opl_build_counter counter = {
        .name_index = FIRST, .help_index = FIRST + 1, .type = PERF_COUNTER_RAWCOUNT, .level = 100};
    opl_build_object_info info = {.name_index = OBJECT};
    opl_build_object(build, &info, &counter, 1);
    for (uint32_t i = 0; list[i]; i++) {
        opl_build_instance(build, list[i]);
        opl_build_dword(build, 0, i);
    }
}

#define INSTANCE(label) "perf_my_object_zero{name=\"" label "\"}"

static void names_are_escaped_numbered_and_summed_by_queries(void **state)
{
    const char *const list[] = {"a\"b\\c\n1", "x",        "x",     "_Total",
                                "0,_Total",   "\xc3\xa4", "Total", NULL};
    opl_build build = start();
    (void)state;
    build_named(&build, list);
    assert_int_equal(finish(&build, 100), WALK_GOOD);
    assert_sample(INSTANCE("a\\\"b\\\\c\\n1"), "0");
    assert_sample(INSTANCE("x"), "1");
    assert_sample(INSTANCE("x#1"), "2");
    assert_sample(INSTANCE("\xc3\xa4"), "5");
    assert_sample(INSTANCE("Total"), "6");
    assert_null(found(INSTANCE("_Total")));
    assert_null(found(INSTANCE("0,_Total")));
}

static void a_total_alone_is_exposed(void **state)
{
    const char *const list[] = {"_Total", NULL};
    opl_build build = start();
    (void)state;
    build_named(&build, list);
    assert_int_equal(finish(&build, 100), WALK_GOOD);
    assert_sample(INSTANCE("_Total"), "0");
}

static void parents_are_labels(void **state)
{
    const char *const list[] = {"p", "q", NULL};
    const opl_build_counter counter = {
        .name_index = FIRST, .type = PERF_COUNTER_RAWCOUNT, .level = 100};
    const opl_build_object_info info = {.name_index = OTHER};
    opl_build build = start();
    (void)state;
    build_named(&build, list);
    opl_build_object(&build, &info, &counter, 1);
    for (uint32_t i = 0; i < 4; i++) { /* the last one's parent is not there */
        static const uint32_t parents[] = {1, 0, 1, 9};
        opl_build_instance_full(&build, i == 1 ? "q" : "c", 1, OBJECT, parents[i], -1);
        opl_build_dword(&build, 0, 10 + i);
    }
    assert_int_equal(finish(&build, 100), WALK_GOOD);
    assert_sample("perf_other_zero{name=\"c\",parent=\"q\"}", "10");
    assert_sample("perf_other_zero{name=\"q\",parent=\"p\"}", "11");
    assert_sample("perf_other_zero{name=\"c#1\",parent=\"q\"}", "12");
    assert_sample("perf_other_zero{name=\"c\"}", "13");
}

static void invalid_utf8_is_replaced(void **state)
{
    static const char *const pairs[][2] = {
        {"good \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "good \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"       },
        {"\xff",                                      "\xef\xbf\xbd"                                    },
        {"a\xc3",                                     "a\xef\xbf\xbd"                                   },
        {"\xc0\xaf",                                  "\xef\xbf\xbd\xef\xbf\xbd"                        },
        {"\xe0\x80\xaf",                              "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"            },
        {"\xed\xa0\x80",                              "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"            },
        {"\xf4\x90\x80\x80",                          "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    char out[64];
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        assert_int_equal(metric_utf8(pairs[i][0], out, sizeof out), strlen(pairs[i][1]));
        assert_string_equal(out, pairs[i][1]);
    }
}

static void titles_that_become_one_name_stay_apart(void **state)
{
    const opl_build_counter counters[] = {
        {.name_index = FIRST + 4, .type = PERF_COUNTER_COUNTER, .level = 100},
        {.name_index = FIRST + 6, .type = PERF_COUNTER_COUNTER, .level = 100},
        {.name_index = FIRST + 8,
         .type = PERF_COUNTER_RAWCOUNT,
         .level = 100                                                       }, /* without a title */
    };
    const opl_build_object_info info = {.name_index = OBJECT, .single = true};
    opl_build build = start();
    (void)state;
    opl_build_object(&build, &info, counters, 3);
    opl_build_dword(&build, 0, 1);
    opl_build_dword(&build, 1, 2);
    assert_int_equal(finish(&build, 100), WALK_GOOD);
    assert_sample("perf_my_object_two_total", "1");
    assert_sample("perf_my_object_two_3006_total", "2");
}

/* ---- limits and damage ---- */

static void too_many_samples_give_none(void **state)
{
    const char *const list[] = {"a", "b", "c", NULL};
    opl_build build = start();
    (void)state;
    build_named(&build, list);
    assert_int_equal(finish(&build, 2), WALK_TOO_MANY);
    assert_int_equal(text.size, 0);
    build = start();
    build_named(&build, list);
    assert_int_equal(finish(&build, 3), WALK_GOOD);
}

static void damage_leaves_nothing_exposed(void **state)
{
    const char *const list[] = {"a", "b", "c", NULL};
    size_t damaged = 0;
    opl_build build = start();
    (void)state;
    build_named(&build, list);
    assert_int_equal(finish(&build, 100), WALK_GOOD);
    for (size_t at = sizeof header; at < header.TotalByteLength; at++)
        for (int bit = 0; bit < 8; bit++) {
            unsigned char old = bytes[at];
            opl_object_view object = {0};
            size_t count;
            bytes[at] ^= (unsigned char)(1 << bit);
            clear(FORMAT_TEXT);
            if (opl_block_init(&block, bytes, header.TotalByteLength) == OPL_BLOCK_GOOD &&
                opl_block_next_object(&block, &object) &&
                walk_object(walk, &block, &object, 100, &text.sink, &count) == WALK_DAMAGED) {
                assert_int_equal(text.size, 0);
                damaged++;
            }
            bytes[at] = old;
        }
    assert_in_range(damaged, 20, 100000);
}

/* ---- the formats ---- */

static void expose_formats(enum metric_format format)
{
    const opl_build_counter counters[] = {
        {.name_index = FIRST,
         .help_index = FIRST + 1,
         .type = PERF_COUNTER_TEXT,
         .level = 100,
         .size = 64},
        {.name_index = FIRST + 2,          .type = PERF_COUNTER_RAWCOUNT,            .level = 100               },
        {.name_index = FIRST + 4,       .type = PERF_COUNTER_BULK_COUNT,.level = 100},
        {.name_index = ELAPSED,       .type = PERF_100NSEC_TIMER,            .level = 100                               },
        {.name_index = ID_PROCESS,       .type = PERF_COUNTER_LARGE_RAWCOUNT,.level = 100},
    };
    const opl_build_object_info info = {.name_index = OBJECT, .single = true};
    opl_build build = start();
    opl_build_object(&build, &info, counters, 5);
    opl_build_text(&build, 0, "\"quoted\"\n");
    opl_build_dword(&build, 1, 45);
    opl_build_large(&build, 2, UINT64_MAX);
    opl_build_large(&build, 3, 100000500);
    opl_build_large(&build, 4, (uint64_t)-5);
    clear(format);
    assert_int_equal(finish(&build, 100), WALK_GOOD);
    exposition_end(&text);
    text.bytes[text.size] = '\0'; /* there is space: the capacity is much larger */
}

static void both_formats_are_written(void **state)
{
    (void)state;
    expose_formats(FORMAT_TEXT);
    assert_string_equal(text.bytes,
                        "# HELP perf_my_object_zero_info Back\\\\slash, \"quotes\",\\nlines.\n"
                        "# TYPE perf_my_object_zero_info gauge\n"
                        "perf_my_object_zero_info{text=\"\\\"quoted\\\"\\n\"} 1\n"
                        "# TYPE perf_my_object_one_ratio gauge\n"
                        "perf_my_object_one_ratio 0.45\n"
                        "# TYPE perf_my_object_two_total counter\n"
                        "perf_my_object_two_total 18446744073709551615\n"
                        "# TYPE perf_my_object_elapsed_time_seconds_total counter\n"
                        "perf_my_object_elapsed_time_seconds_total 10.00005\n"
                        "# TYPE perf_my_object_id_process gauge\n"
                        "perf_my_object_id_process -5\n");
    expose_formats(FORMAT_OPENMETRICS);
    assert_string_equal(text.bytes,
                        "# HELP perf_my_object_zero Back\\\\slash, \\\"quotes\\\",\\nlines.\n"
                        "# TYPE perf_my_object_zero info\n"
                        "perf_my_object_zero_info{text=\"\\\"quoted\\\"\\n\"} 1\n"
                        "# TYPE perf_my_object_one_ratio gauge\n"
                        "# UNIT perf_my_object_one_ratio ratio\n"
                        "perf_my_object_one_ratio 0.45\n"
                        "# TYPE perf_my_object_two counter\n"
                        "perf_my_object_two_total 18446744073709551615\n"
                        "# TYPE perf_my_object_elapsed_time_seconds counter\n"
                        "# UNIT perf_my_object_elapsed_time_seconds seconds\n"
                        "perf_my_object_elapsed_time_seconds_total 10.00005\n"
                        "# TYPE perf_my_object_id_process gauge\n"
                        "perf_my_object_id_process -5\n"
                        "# EOF\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_type_gives_pdhs_value, begin, end),
        cmocka_unit_test(other_types_are_not_exposed),
        cmocka_unit_test_setup_teardown(wraps_are_carried_on, begin, end),
        cmocka_unit_test_setup_teardown(a_base_is_carried_on_alone, begin, end),
        cmocka_unit_test_setup_teardown(machines_are_carried_on_alone, begin, end),
        cmocka_unit_test_setup_teardown(another_type_keeps_the_name, begin, end),
        cmocka_unit_test(many_counters_are_carried_on),
        cmocka_unit_test(the_forgotten_begin_anew),
        cmocka_unit_test_setup_teardown(names_are_escaped_numbered_and_summed_by_queries, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_total_alone_is_exposed, begin, end),
        cmocka_unit_test_setup_teardown(parents_are_labels, begin, end),
        cmocka_unit_test(invalid_utf8_is_replaced),
        cmocka_unit_test_setup_teardown(titles_that_become_one_name_stay_apart, begin, end),
        cmocka_unit_test_setup_teardown(too_many_samples_give_none, begin, end),
        cmocka_unit_test_setup_teardown(damage_leaves_nothing_exposed, begin, end),
        cmocka_unit_test_setup_teardown(both_formats_are_written, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
