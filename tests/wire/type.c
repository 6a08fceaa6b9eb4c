/* SPDX-License-Identifier: MIT */
/* Tests of wire/type.c: the bit fields of any counter type, and the table of types that have names.
 * (docs/windows/types.md#b1, docs/windows/types.md#b2) */
#include "golden.h"

#include "wire/inner.h"

static opl_type_info describe(DWORD type)
{
    opl_type_info info;
    memset(&info, 0xAA, sizeof(info));
    opl_type_describe(type, &info);
    return info;
}

static void c15_any_type_decodes_into_its_fields(void **state)
{
    opl_type_info rate = describe(0x10410400), inverse = describe(0x23510500);
    assert_string_equal(rate.name, "PERF_COUNTER_COUNTER");
    assert_string_equal(rate.size_text, "DWORD");
    assert_string_equal(rate.type_text, "COUNTER");
    assert_string_equal(rate.subtype_text, "RATE");
    assert_string_equal(rate.timer_text, "TIMER_TICK");
    assert_string_equal(rate.display_text, "/sec");
    assert_true(rate.delta_counter);
    assert_false(rate.delta_base || rate.inverse || rate.multi || rate.is_base || rate.needs_base);
    assert_string_equal(inverse.name, "PERF_100NSEC_MULTI_TIMER_INV");
    assert_string_equal(inverse.size_text, "LARGE");
    assert_string_equal(inverse.timer_text, "TIMER_100NS");
    assert_string_equal(inverse.display_text, "%");
    assert_true(inverse.delta_counter && inverse.inverse && inverse.multi);
    opl_type_info fraction = describe(PERF_SAMPLE_FRACTION);
    assert_true(fraction.delta_counter && fraction.delta_base && fraction.needs_base);
}

static void c16_values_of_each_field(void **state)
{
    static const struct {
        DWORD type;
        const char *size, *kind, *subtype, *timer, *display;
    } rows[] = {
        {0x00000000, "DWORD",        "NUMBER",  "HEX",       "TIMER_TICK",   ""         },
        {0x00010100, "LARGE",        "NUMBER",  "DECIMAL",   "TIMER_TICK",   ""         },
        {0x00020200, "ZERO",         "NUMBER",  "DEC_1000",  "TIMER_TICK",   ""         },
        {0x00030000, "DWORD",        "NUMBER",  "unknown",   "TIMER_TICK",   ""         },
        {0x00000B00, "VARIABLE_LEN", "TEXT",    "UNICODE",   "TIMER_TICK",   ""         },
        {0x00010B00, "VARIABLE_LEN", "TEXT",    "ASCII",     "TIMER_TICK",   ""         },
        {0x00020B00, "VARIABLE_LEN", "TEXT",    "unknown",   "TIMER_TICK",   ""         },
        {0x00000C00, "DWORD",        "ZERO",    "",          "TIMER_TICK",   ""         },
        {0x00000400, "DWORD",        "COUNTER", "VALUE",     "TIMER_TICK",   ""         },
        {0x30240500, "LARGE",        "COUNTER", "ELAPSED",   "OBJECT_TIMER", "secs"     },
        {0x00550500, "LARGE",        "COUNTER", "QUEUELEN",  "TIMER_100NS",  ""         },
        {0x00060400, "DWORD",        "COUNTER", "HISTOGRAM", "TIMER_TICK",   ""         },
        {0x20670500, "LARGE",        "COUNTER", "PRECISION", "OBJECT_TIMER", "%"        },
        {0x40030402, "DWORD",        "COUNTER", "BASE",      "TIMER_TICK",   "hidden"   },
        {0x40020500, "LARGE",        "COUNTER", "FRACTION",  "TIMER_TICK",   "hidden"   },
        {0x00080400, "DWORD",        "COUNTER", "unknown",   "TIMER_TICK",   ""         },
        {0x00300000, "DWORD",        "NUMBER",  "HEX",       "unknown",      ""         },
        {0x50000000, "DWORD",        "NUMBER",  "HEX",       "TIMER_TICK",   "unknown"  },
        {0x80000000, "DWORD",        "NUMBER",  "HEX",       "TIMER_TICK",   "histogram"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        opl_type_info info = describe(rows[i].type);
        assert_string_equal(info.size_text, rows[i].size);
        assert_string_equal(info.type_text, rows[i].kind);
        assert_string_equal(info.subtype_text, rows[i].subtype);
        assert_string_equal(info.timer_text, rows[i].timer);
        assert_string_equal(info.display_text, rows[i].display);
    }
}

/* The whole table of docs/windows/types.md#b2, written again independently of the tested one. */
static void b2_every_named_type(void **state)
{
    enum { TWO = 1, BASED = 2, BASE = 4 };
    static const struct {
        DWORD decimal, size;
        int flags;
        const char *suffix;
    } rows[] = {
        {272696320,  4, TWO,         "/sec"},
        {272696576,  8, TWO,         "/sec"},
        {4260864,    4, TWO,         ""    },
        {541132032,  8, TWO,         "%"   },
        {557909248,  8, TWO,         "%"   },
        {542180608,  8, TWO,         "%"   },
        {558957824,  8, TWO,         "%"   },
        {543229184,  8, TWO,         "%"   },
        {574686464,  8, TWO,         "%"   },
        {591463680,  8, TWO,         "%"   },
        {575735040,  8, TWO,         "%"   },
        {592512256,  8, TWO,         "%"   },
        {1107494144, 8, BASE,        ""    },
        {4523008,    4, TWO,         ""    },
        {4523264,    8, TWO,         ""    },
        {5571840,    8, TWO,         ""    },
        {6620416,    8, TWO,         ""    },
        {65536,      4, 0,           ""    },
        {65792,      8, 0,           ""    },
        {0,          4, 0,           ""    },
        {256,        8, 0,           ""    },
        {4195328,    4, TWO,         ""    },
        {4195584,    8, TWO,         ""    },
        {549585920,  4, TWO | BASED, "%"   },
        {1073939457, 4, BASE,        ""    },
        {537003008,  4, BASED,       "%"   },
        {1073939459, 4, BASE,        ""    },
        {537003264,  8, BASED,       "%"   },
        {1073939712, 8, BASE,        ""    },
        {805438464,  8, TWO | BASED, "secs"},
        {1073874176, 8, TWO | BASED, ""    },
        {1073939458, 4, BASE,        ""    },
        {807666944,  8, 0,           "secs"},
        {541525248,  8, TWO | BASED, "%"   },
        {542573824,  8, TWO | BASED, "%"   },
        {543622400,  8, TWO | BASED, "%"   },
        {2816,       0, 0,           ""    },
        {1073742336, 0, 0,           ""    },
        {0x80000000, 0, 0,           ""    },
        {1073939712, 8, BASE,        ""    },
        {1073939715, 8, BASE,        ""    },
    };
    DWORD type = 7;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *name = type_name_at(i, &type);
        opl_type_info info = describe(type);
        assert_int_equal(type, rows[i].decimal);
        assert_non_null(name);
        if (i != 39) /* row 39 is a second name of the type PERF_LARGE_RAW_BASE */
            assert_string_equal(info.name, name);
        assert_int_equal(type_value_size(type), rows[i].size);
        assert_int_equal(info.needs_two_samples, (rows[i].flags & TWO) != 0);
        assert_int_equal(info.needs_base, (rows[i].flags & BASED) != 0);
        assert_int_equal(info.is_base, (rows[i].flags & BASE) != 0);
        assert_string_equal(info.suffix, rows[i].suffix);
    }
    assert_null(type_name_at(COUNT(rows), &type));
    assert_null(type_name_at((size_t)-1, &type));
    assert_int_equal(type, 1073939715);
}

static void the_constants_have_these_names(void **state)
{
#define NAMED(constant) assert_string_equal(describe(constant).name, #constant)
    NAMED(PERF_COUNTER_COUNTER);
    NAMED(PERF_COUNTER_BULK_COUNT);
    NAMED(PERF_SAMPLE_COUNTER);
    NAMED(PERF_COUNTER_TIMER);
    NAMED(PERF_COUNTER_TIMER_INV);
    NAMED(PERF_100NSEC_TIMER);
    NAMED(PERF_100NSEC_TIMER_INV);
    NAMED(PERF_OBJ_TIME_TIMER);
    NAMED(PERF_COUNTER_MULTI_TIMER);
    NAMED(PERF_COUNTER_MULTI_TIMER_INV);
    NAMED(PERF_100NSEC_MULTI_TIMER);
    NAMED(PERF_100NSEC_MULTI_TIMER_INV);
    NAMED(PERF_COUNTER_MULTI_BASE);
    NAMED(PERF_COUNTER_QUEUELEN_TYPE);
    NAMED(PERF_COUNTER_LARGE_QUEUELEN_TYPE);
    NAMED(PERF_COUNTER_100NS_QUEUELEN_TYPE);
    NAMED(PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE);
    NAMED(PERF_COUNTER_RAWCOUNT);
    NAMED(PERF_COUNTER_LARGE_RAWCOUNT);
    NAMED(PERF_COUNTER_RAWCOUNT_HEX);
    NAMED(PERF_COUNTER_LARGE_RAWCOUNT_HEX);
    NAMED(PERF_COUNTER_DELTA);
    NAMED(PERF_COUNTER_LARGE_DELTA);
    NAMED(PERF_SAMPLE_FRACTION);
    NAMED(PERF_SAMPLE_BASE);
    NAMED(PERF_RAW_FRACTION);
    NAMED(PERF_RAW_BASE);
    NAMED(PERF_LARGE_RAW_FRACTION);
    NAMED(PERF_LARGE_RAW_BASE);
    NAMED(PERF_AVERAGE_TIMER);
    NAMED(PERF_AVERAGE_BULK);
    NAMED(PERF_AVERAGE_BASE);
    NAMED(PERF_ELAPSED_TIME);
    NAMED(PERF_PRECISION_SYSTEM_TIMER);
    NAMED(PERF_PRECISION_100NS_TIMER);
    NAMED(PERF_PRECISION_OBJECT_TIMER);
    NAMED(PERF_COUNTER_TEXT);
    NAMED(PERF_COUNTER_NODATA);
    NAMED(PERF_COUNTER_HISTOGRAM_TYPE);
}

static void types_without_a_name(void **state)
{
    opl_type_info rate = describe(0x10410401), plain = describe(0x30010400);
    assert_null(rate.name);
    assert_true(rate.needs_two_samples);
    assert_string_equal(rate.suffix, "/sec");
    assert_false(plain.needs_two_samples);
    assert_string_equal(plain.suffix, "secs");
    assert_string_equal(describe(0x20010400).suffix, "%");
    assert_string_equal(describe(0x40010400).suffix, "");
    assert_string_equal(describe(0x00010401).suffix, "");
    assert_false(describe(0x40030404).is_base);
    assert_int_equal(type_value_size(0x10410401), 4);
    assert_int_equal(type_value_size(0x10410501), 8);
    assert_int_equal(type_value_size(0x00010201), 0);
    assert_int_equal(type_value_size(0x00010301), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c15_any_type_decodes_into_its_fields),
        cmocka_unit_test(c16_values_of_each_field),
        cmocka_unit_test(b2_every_named_type),
        cmocka_unit_test(the_constants_have_these_names),
        cmocka_unit_test(types_without_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
