/* SPDX-License-Identifier: MIT */
/* Tests of values in wire/type.c: numbers, texts, and the pairs of numbers from which PDH computes
 * a value. (docs/windows/types.md#b3) */
#include "golden.h"

enum { TICKS = 10000000, BLOCK_TIME = 1000000000, OBJECT_TIME = 500, OBJECT_TICKS = 1000 };
static const LONGLONG block_filetime = 133536836967890000;

struct expected {
    uint32_t position;
    LONGLONG first, second;
    DWORD count;
    LONGLONG time_base;
    bool has_base;
};

static void b3_each_type_keeps_its_pair(void **state)
{
    const struct expected rows[] = {
        {0,  99,           0,              1, TICKS,        false}, /* a base without a counter */
        {1,  4294967294,   BLOCK_TIME,     1, TICKS,        false}, /* COUNTER_COUNTER */
        {2,  1600,         block_filetime, 1, TICKS,        false}, /* 100NSEC_TIMER */
        {3,  2400,         OBJECT_TIME,    1, OBJECT_TICKS, false}, /* OBJ_TIME_TIMER */
  /* COUNTER_MULTI_TIMER: the value is multiplied by the frequency */
        {4,  32000000000,  BLOCK_TIME,     3, TICKS,        false},
        {5,  3,            0,              1, TICKS,        false}, /* COUNTER_MULTI_BASE */
        {6,  4800,         block_filetime, 4, TICKS,        false}, /* 100NSEC_MULTI_TIMER_INV */
        {7,  60,           64,             1, TICKS,        true }, /* RAW_FRACTION */
        {9,  0x1234567890, 80,             1, TICKS,        true }, /* AVERAGE_TIMER of 8 bytes */
        {11, 88,           96,             1, TICKS,        true }, /* PRECISION_100NS_TIMER */
        {13, 104,          112,            1, TICKS,        true }, /* LARGE_RAW_FRACTION */
  /* the type LARGE_RAW_BASE by its other name */
        {14, 112,          0,              1, TICKS,        false},
        {15, 120,          OBJECT_TIME,    1, OBJECT_TICKS, false}, /* ELAPSED_TIME */
  /* the type PRECISION_OBJECT_TIMER, here without a base after it */
        {17, 128,          0,              1, OBJECT_TICKS, false},
        {18, 136,          0,              1, TICKS,        false}, /* unknown: the raw value */
        {19, 144,          0,              1, TICKS,        false}, /* SAMPLE_FRACTION at the end */
    };
    struct golden golden;
    opl_block block;
    golden_open("types.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    opl_instance_view instance = instance_at(&block, &object, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        opl_counter_view counter = counter_at(&block, &object, rows[i].position);
        opl_sample sample;
        assert_true(opl_counter_sample(&block, &object, &instance, &counter, &sample));
        assert_int_equal(sample.type, counter.definition.CounterType);
        assert_int_equal(sample.first, rows[i].first);
        assert_int_equal(sample.second, rows[i].second);
        assert_int_equal(sample.multi_count, rows[i].count);
        assert_int_equal(sample.time_base, rows[i].time_base);
        assert_int_equal(sample.has_base, rows[i].has_base);
    }
    golden_done(&golden);
}

/* Each counter type that needs a clock uses the clock that its bits name, whatever its other bits
 * mean. */
static void b3_clocks_by_type(void **state)
{
    static const struct {
        DWORD type;
        LONGLONG second, time_base;
    } rows[] = {
        {PERF_COUNTER_BULK_COUNT,             BLOCK_TIME,         TICKS       },
        {PERF_SAMPLE_COUNTER,                 BLOCK_TIME,         TICKS       },
        {PERF_COUNTER_TIMER,                  BLOCK_TIME,         TICKS       },
        {PERF_COUNTER_TIMER_INV,              BLOCK_TIME,         TICKS       },
        {PERF_COUNTER_QUEUELEN_TYPE,          BLOCK_TIME,         TICKS       },
        {PERF_COUNTER_LARGE_QUEUELEN_TYPE,    BLOCK_TIME,         TICKS       },
        {PERF_100NSEC_TIMER_INV,              133536836967890000, TICKS       },
        {PERF_COUNTER_100NS_QUEUELEN_TYPE,    133536836967890000, TICKS       },
        {PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE, OBJECT_TIME,        OBJECT_TICKS},
        {PERF_COUNTER_RAWCOUNT,               0,                  TICKS       },
        {PERF_COUNTER_LARGE_RAWCOUNT,         0,                  TICKS       },
        {PERF_COUNTER_RAWCOUNT_HEX,           0,                  TICKS       },
        {PERF_COUNTER_LARGE_RAWCOUNT_HEX,     0,                  TICKS       },
        {PERF_COUNTER_DELTA,                  0,                  TICKS       },
        {PERF_COUNTER_LARGE_DELTA,            0,                  TICKS       },
    };
    struct golden golden;
    opl_block block;
    golden_open("types.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    opl_instance_view instance = instance_at(&block, &object, 0);
    opl_counter_view counter = counter_at(&block, &object, 2);
    for (size_t i = 0; i < COUNT(rows); i++) {
        opl_sample sample;
        counter.definition.CounterType = rows[i].type;
        assert_true(opl_counter_sample(&block, &object, &instance, &counter, &sample));
        assert_int_equal(sample.second, rows[i].second);
        assert_int_equal(sample.time_base, rows[i].time_base);
        assert_int_equal(sample.multi_count, 1);
    }
    golden_done(&golden);
}

/* Types that count in 100 ns have 10,000,000 ticks a second, whatever frequency the block
 * states. */
static void b3_time_base_of_other_frequencies(void **state)
{
    struct golden golden;
    opl_block block;
    opl_sample sample;
    golden_open("types.hex", &golden, &block);
    block.header.PerfFreq.QuadPart = 3579545;
    opl_object_view object = object_at(&block, 0);
    opl_instance_view instance = instance_at(&block, &object, 0);
    static const LONGLONG bases[] = {3579545, 3579545, TICKS, OBJECT_TICKS, 3579545, 3579545,
                                     TICKS,   3579545, 0,     3579545,      0,       TICKS};
    for (uint32_t i = 0; i < COUNT(bases); i++) {
        opl_counter_view counter = counter_at(&block, &object, i);
        assert_true(opl_counter_sample(&block, &object, &instance, &counter, &sample));
        if (bases[i])
            assert_int_equal(sample.time_base, bases[i]);
    }
    golden_done(&golden);
}

/* A fraction accepts as its base each type that .NET accepts, and no other type. */
static void bases_as_dotnet_knows_them(void **state)
{
    static const DWORD bases[] = {PERF_AVERAGE_BASE, PERF_COUNTER_MULTI_BASE,
                                  PERF_RAW_BASE,     PERF_LARGE_RAW_BASE,
                                  0x40030503,        PERF_SAMPLE_BASE};
    static const DWORD others[] = {PERF_COUNTER_RAWCOUNT, PERF_COUNTER_HISTOGRAM_TYPE, 0x40030404,
                                   PERF_COUNTER_NODATA, 0x40070500};
    struct golden golden;
    opl_block block;
    opl_sample sample;
    golden_open("types.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    opl_instance_view instance = instance_at(&block, &object, 0);
    opl_counter_view counter = counter_at(&block, &object, 7),
                     base = counter_at(&block, &object, 8);
    for (size_t i = 0; i < COUNT(bases) + COUNT(others); i++) {
        bool good = i < COUNT(bases);
        golden_set(&golden, base.offset + 28, good ? bases[i] : others[i - COUNT(bases)]);
        assert_true(opl_counter_sample(&block, &object, &instance, &counter, &sample));
        assert_int_equal(sample.has_base, good);
        assert_int_equal(sample.second, good ? 64 : 0);
    }
    golden_done(&golden);
}

static void damaged_values_give_nothing(void **state)
{
    struct golden golden;
    opl_block block;
    opl_sample sample = {.first = 7};
    uint64_t number = 7;
    golden_open("types.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    opl_instance_view instance = instance_at(&block, &object, 0);
    opl_counter_view last = counter_at(&block, &object, 19);
    opl_counter_view fraction = counter_at(&block, &object, 7),
                     base = counter_at(&block, &object, 8);
    opl_counter_view multi = counter_at(&block, &object, 4);
    assert_int_equal(instance.counters_size, 152);
    last.definition.CounterOffset = 148;
    assert_true(opl_counter_number(&block, &instance, &last, &number));
    last.definition.CounterOffset = 149;
    number = 7;
    assert_null(opl_counter_data(&block, &instance, &last));
    assert_false(opl_counter_number(&block, &instance, &last, &number));
    last.definition.CounterOffset = 153;
    last.definition.CounterSize = 0;
    assert_null(opl_counter_data(&block, &instance, &last));
    last.definition.CounterOffset = 152;
    assert_non_null(opl_counter_data(&block, &instance, &last));
    assert_false(opl_counter_number(&block, &instance, &last, &number));
    /* the base is now outside the counter block, so the fraction has no value, either */
    golden_set(&golden, base.offset + 36, 150);
    assert_false(opl_counter_sample(&block, &object, &instance, &fraction, &sample));
    /* 140 is the last offset with space for the value and, after it, the timers' count */
    multi.definition.CounterOffset = 140;
    assert_true(opl_counter_sample(&block, &object, &instance, &multi, &sample));
    sample.first = 7;
    multi.definition.CounterOffset = 141;
    assert_false(opl_counter_sample(&block, &object, &instance, &multi, &sample));
    assert_int_equal(number, 7);
    assert_int_equal(sample.first, 7);
    golden_done(&golden);
}

static void only_4_and_8_bytes_are_numbers(void **state)
{
    struct golden golden;
    opl_block block;
    uint64_t number;
    golden_open("types.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    opl_instance_view instance = instance_at(&block, &object, 0);
    opl_counter_view counter = counter_at(&block, &object, 2);
    for (DWORD size = 0; size <= 16; size++) {
        counter.definition.CounterSize = size;
        assert_int_equal(opl_counter_number(&block, &instance, &counter, &number),
                         size == 4 || size == 8);
    }
    counter.definition.CounterSize = 8;
    counter.definition.CounterType = PERF_COUNTER_TEXT;
    assert_false(opl_counter_number(&block, &instance, &counter, &number));
    golden_done(&golden);
}

static void c69_the_text_says_hello_world(void **state)
{
    struct golden golden;
    opl_block block;
    char text[32] = "?";
    uint64_t number;
    golden_open("hello.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    opl_instance_view instance = instance_at(&block, &object, 0);
    opl_counter_view hello = counter_at(&block, &object, 0), digit = counter_at(&block, &object, 1);
    assert_int_equal(opl_counter_text(&block, &object, &instance, &hello, text, sizeof(text)), 14);
    assert_string_equal(text, "Hello, World!");
    assert_int_equal(opl_counter_text(&block, &object, &instance, &hello, NULL, 0), 14);
    assert_false(opl_counter_number(&block, &instance, &hello, &number));
    assert_true(opl_counter_number(&block, &instance, &digit, &number));
    assert_int_equal(number, 7);
    assert_int_equal(opl_counter_text(&block, &object, &instance, &digit, text, sizeof(text)), 0);
    /* the last bytes of the text would be outside the counter block */
    hello.definition.CounterOffset = 9;
    assert_int_equal(opl_counter_text(&block, &object, &instance, &hello, text, sizeof(text)), 0);
    assert_string_equal(text, "Hello, World!");
    golden_done(&golden);
}

static void c16_texts_of_one_byte_are_in_the_code_page(void **state)
{
    static const char *const texts[] = {"да", "yes", "нет"};
    struct golden golden;
    opl_block block;
    char text[32];
    golden_open("codepage1251.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    opl_counter_view counter = counter_at(&block, &object, 1);
    for (uint32_t i = 0; i < COUNT(texts); i++) {
        opl_instance_view instance = instance_at(&block, &object, i);
        assert_int_equal(opl_counter_text(&block, &object, &instance, &counter, text, sizeof(text)),
                         strlen(texts[i]) + 1);
        assert_string_equal(text, texts[i]);
    }
    /* without a code page texts are UTF-8, and these bytes are not valid UTF-8 */
    object.type.CodePage = 0;
    opl_instance_view first = instance_at(&block, &object, 0);
    opl_counter_text(&block, &object, &first, &counter, text, sizeof(text));
    assert_string_equal(text, "\xEF\xBF\xBD\xEF\xBF\xBD");
    golden_done(&golden);
}

static void values_of_the_other_byte_order(void **state)
{
    struct golden golden;
    opl_block block;
    opl_sample sample;
    uint64_t number;
    char text[16];
    golden_open("big_endian.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    opl_instance_view instance = instance_at(&block, &object, 0);
    opl_counter_view dword = counter_at(&block, &object, 0), bulk = counter_at(&block, &object, 1);
    opl_counter_view hello = counter_at(&block, &object, 2);
    assert_true(opl_counter_number(&block, &instance, &dword, &number));
    assert_int_equal(number, 0x01020304);
    assert_true(opl_counter_sample(&block, &object, &instance, &bulk, &sample));
    assert_int_equal(sample.first, 0x0102030405060708);
    assert_int_equal(sample.second, BLOCK_TIME);
    opl_counter_text(&block, &object, &instance, &hello, text, sizeof(text));
    assert_string_equal(text, "hello");
    golden_done(&golden);
}

static void values_at_odd_places(void **state)
{
    struct golden golden;
    opl_block block;
    uint64_t number;
    golden_open("unaligned.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    opl_instance_view second = instance_at(&block, &object, 1);
    opl_counter_view large = counter_at(&block, &object, 0), dword = counter_at(&block, &object, 1);
    assert_true(opl_counter_number(&block, &second, &large, &number));
    assert_int_equal(number, (uint64_t)-2);
    assert_true(opl_counter_number(&block, &second, &dword, &number));
    assert_int_equal(number, 77);
    golden_done(&golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b3_each_type_keeps_its_pair),
        cmocka_unit_test(b3_clocks_by_type),
        cmocka_unit_test(b3_time_base_of_other_frequencies),
        cmocka_unit_test(bases_as_dotnet_knows_them),
        cmocka_unit_test(damaged_values_give_nothing),
        cmocka_unit_test(only_4_and_8_bytes_are_numbers),
        cmocka_unit_test(c69_the_text_says_hello_world),
        cmocka_unit_test(c16_texts_of_one_byte_are_in_the_code_page),
        cmocka_unit_test(values_of_the_other_byte_order),
        cmocka_unit_test(values_at_odd_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
