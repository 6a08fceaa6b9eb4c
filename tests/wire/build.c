/* SPDX-License-Identifier: MIT */
/* Tests of wire/build.c, which builds blocks: layout, text, counts; a buffer that is too small;
 * calls in a wrong order. */
#include "everything.h"
#include "golden.h"

#include <stdlib.h>

static const opl_build_counter hello_counters[] = {
    {1850, 1851, PERF_COUNTER_TEXT,         0, PERF_DETAIL_NOVICE, 28, 0},
    {1852, 1853, PERF_COUNTER_RAWCOUNT_HEX, 0, PERF_DETAIL_NOVICE, 0,  0},
};
static const opl_build_object_info hello_info = {1848, 1849, 0, 0, true, 0, 0, 0};
static const opl_build_counter value_counter = {1850, 1851, PERF_COUNTER_RAWCOUNT, 0, 100, 0, 0};
static const opl_build_object_info instances_info = {1848, 1849, 0, -1, false, 0, 0, 0};
static const opl_build_object_info other_info = {1868, 1869, 0, -1, false, 0, 0, 0};

/* What the builder wrote, as a block whose objects begin at offset 0. */
struct built {
    unsigned char bytes[4096];
    opl_build build;
    opl_block block;
    DWORD status, size, types;
};

static void begin(struct built *built, size_t capacity)
{
    memset(built->bytes, 0xCC, sizeof(built->bytes));
    opl_build_init(&built->build, built->bytes, capacity);
}

static opl_object_view finish(struct built *built)
{
    LPVOID end = built->bytes;
    built->size = built->types = 99;
    built->status = opl_build_collect(&built->build, &end, &built->size, &built->types);
    assert_ptr_equal(end, built->bytes + built->size);
    built->block = (opl_block){.data = built->bytes, .size = built->size};
    built->block.header.NumObjectTypes = built->types;
    if (built->types > 0) {
        struct wire_finding found;
        assert_int_equal(wire_check_objects(built->bytes, built->size, built->types, &found),
                         WIRE_GOOD);
        return object_at(&built->block, 0);
    }
    return (opl_object_view){0};
}

static void build_hello(opl_build *build)
{
    opl_build_object(build, &hello_info, hello_counters, 2);
    opl_build_text(build, 0, "Hello, World!");
    opl_build_dword(build, 1, 7);
}

static void c69_the_first_example(void **state)
{
    struct golden golden;
    struct built built;
    golden_load("hello.hex", &golden);
    begin(&built, sizeof(built.bytes));
    build_hello(&built.build);
    finish(&built);
    assert_int_equal(built.status, ERROR_SUCCESS);
    assert_int_equal(built.size, 184);
    assert_int_equal(built.types, 1);
    /* in the second article (docs/windows) the counter block has 36 bytes and 4 unused bytes
     * follow; the builder includes these, so its counter block has 40 bytes */
    golden_set(&golden, 256, 40);
    assert_memory_equal(built.bytes, golden.data + 112, 184);
    golden_done(&golden);
}

/* With the option `packed`, the result is the same as in the second article (docs/windows), byte by
 * byte. */
static void c69_the_first_example_packed(void **state)
{
    struct golden golden;
    struct built built;
    opl_build_object_info info = hello_info;
    info.packed = true;
    golden_load("hello.hex", &golden);
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &info, hello_counters, 2);
    opl_build_text(&built.build, 0, "Hello, World!");
    opl_build_dword(&built.build, 1, 7);
    finish(&built);
    assert_int_equal(built.status, ERROR_SUCCESS);
    assert_int_equal(built.size, 184);
    assert_memory_equal(built.bytes, golden.data + 112, 184);
    golden_done(&golden);
}

/* A packed object: each instance is as long as its name needs, and the next instance follows
 * without a gap. But the next object begins at a multiple of 8, so bytes are added at the end of
 * the object, also if it has no instances. */
static void c73_packed_instances(void **state)
{
    struct built built;
    opl_build_object_info info = instances_info;
    info.packed = true;
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &info, &value_counter, 1);
    opl_build_instance(&built.build, "first");
    opl_build_dword(&built.build, 0, 42);
    opl_build_instance(&built.build, "ab");
    opl_build_dword(&built.build, 0, 43);
    info.name_index = 1868;
    opl_build_object(&built.build, &info, &value_counter, 1);
    opl_object_view object = finish(&built);
    static const DWORD offsets[] = {104, 148}, sizes[] = {36, 30};
    for (uint32_t i = 0; i < 2; i++) {
        opl_instance_view instance = instance_at(&built.block, &object, i);
        opl_counter_view counter = counter_at(&built.block, &object, 0);
        uint64_t value;
        assert_int_equal(instance.offset, offsets[i]);
        assert_int_equal(instance.definition.ByteLength, sizes[i]);
        assert_int_equal(instance.counters_size, 8);
        assert_true(opl_counter_number(&built.block, &instance, &counter, &value));
        assert_int_equal(value, 42 + i);
    }
    assert_int_equal(object.type.TotalByteLength, 192); /* 186, padded to a multiple of 8 */
    assert_int_equal(built.size, 192 + 104 + 8);
}

/* If the buffer is smaller than the 184 bytes needed, the result is ERROR_MORE_DATA, size and count
 * are 0, and nothing after the buffer is changed. */
static void c71_too_little_space_is_more_data(void **state)
{
    for (size_t capacity = 0; capacity <= 184; capacity++) {
        struct built built;
        begin(&built, capacity);
        build_hello(&built.build);
        finish(&built);
        assert_int_equal(built.status, capacity < 184 ? ERROR_MORE_DATA : ERROR_SUCCESS);
        assert_int_equal(built.size, capacity < 184 ? 0 : 184);
        assert_int_equal(built.types, capacity < 184 ? 0 : 1);
        for (size_t i = capacity; i < 200; i++)
            assert_int_equal(built.bytes[i], 0xCC);
    }
}

static void c73_instances_with_names(void **state)
{
    struct built built;
    char name[32];
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &instances_info, &value_counter, 1);
    opl_build_instance(&built.build, "first");
    opl_build_dword(&built.build, 0, 42);
    opl_build_instance(&built.build, "zwölf €𝄞");
    opl_build_dword(&built.build, 0, 43);
    opl_build_instance(&built.build, NULL);
    opl_build_instance(&built.build, "");
    opl_object_view object = finish(&built);
    assert_int_equal(object.type.NumInstances, 4);
    assert_int_equal(object.type.CodePage, 0);
    assert_int_equal(object.type.DefaultCounter, -1);
    static const char *const names[] = {"first", "zwölf €𝄞", "", ""};
    static const DWORD lengths[] = {12, 20, 0, 2}, sizes[] = {40, 48, 24, 32},
                       values[] = {42, 43, 0, 0};
    for (uint32_t i = 0; i < 4; i++) {
        opl_instance_view instance = instance_at(&built.block, &object, i);
        opl_counter_view counter = counter_at(&built.block, &object, 0);
        uint64_t value;
        opl_instance_name(&built.block, &object, &instance, name, sizeof(name));
        assert_string_equal(name, names[i]);
        assert_int_equal(instance.definition.NameLength, lengths[i]);
        assert_int_equal(instance.definition.NameOffset, 24);
        assert_int_equal(instance.definition.ByteLength, sizes[i]);
        assert_int_equal(instance.definition.UniqueID, PERF_NO_UNIQUE_ID);
        assert_int_equal(instance.definition.ParentObjectTitleIndex, 0);
        assert_true(opl_counter_number(&built.block, &instance, &counter, &value));
        assert_int_equal(value, values[i]);
    }
}

static void c17_parents_and_unique_ids(void **state)
{
    struct built built;
    char name[32];
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &instances_info, &value_counter, 1);
    opl_build_instance_full(&built.build, "mother and more", 6, 0, 0, PERF_NO_UNIQUE_ID);
    opl_build_instance_full(&built.build, "child", 5, 1848, 0, 77);
    opl_object_view object = finish(&built), parent_object;
    opl_instance_view child = instance_at(&built.block, &object, 1), parent;
    assert_true(opl_instance_parent(&built.block, &child, &parent_object, &parent));
    opl_instance_name(&built.block, &object, &parent, name, sizeof(name));
    assert_string_equal(name, "mother");
    opl_instance_name(&built.block, &object, &child, name, sizeof(name));
    assert_string_equal(name, "77");
}

static void c20_names_in_a_code_page(void **state)
{
    struct built built;
    char name[32];
    opl_build_object_info info = instances_info;
    info.code_page = 1251;
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &info, &value_counter, 1);
    opl_build_instance(&built.build, "Ёж €中");
    opl_object_view object = finish(&built);
    opl_instance_view instance = instance_at(&built.block, &object, 0);
    assert_int_equal(object.type.CodePage, 1251);
    assert_int_equal(instance.definition.NameLength, 6);
    assert_memory_equal(built.bytes + instance.offset + 24, "\xA8\xE6 \x88?\0\0\0", 8);
    opl_instance_name(&built.block, &object, &instance, name, sizeof(name));
    assert_string_equal(name, "Ёж €?");
    info.code_page = 4711;
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &info, &value_counter, 1);
    opl_build_instance(&built.build, "x");
    finish(&built);
    assert_int_equal(built.status, ERROR_INVALID_PARAMETER);
}

static void assert_offsets(const opl_build_counter *counters, DWORD count, const DWORD *offsets,
                           const DWORD *sizes, DWORD block_size)
{
    struct built built;
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &hello_info, counters, count);
    opl_object_view object = finish(&built);
    assert_int_equal(built.status, ERROR_SUCCESS);
    for (DWORD i = 0; i < count; i++) {
        PERF_COUNTER_DEFINITION definition = counter_at(&built.block, &object, i).definition;
        assert_int_equal(definition.ByteLength, 40);
        assert_int_equal(definition.CounterOffset, offsets[i]);
        assert_int_equal(definition.CounterSize, sizes[i]);
    }
    assert_int_equal(instance_at(&built.block, &object, 0).counters_size, block_size);
    assert_int_equal(object.type.TotalByteLength % 8, 0);
    assert_int_equal(object.type.DefinitionLength, 64 + 40 * count);
}

static void the_builder_places_values(void **state)
{
    /* clang-format off */
    static const opl_build_counter mixed[] = {
        {.type = PERF_COUNTER_RAWCOUNT},
        {.type = PERF_COUNTER_LARGE_RAWCOUNT},
        {.type = PERF_COUNTER_COUNTER},
        {.type = PERF_AVERAGE_TIMER},
        {.type = PERF_AVERAGE_BASE},
        {.type = PERF_COUNTER_NODATA},
        {.type = PERF_COUNTER_TEXT, .size = 6},
        {.type = PERF_COUNTER_RAWCOUNT},
    };
    /* clang-format on */
    static const DWORD offsets[] = {4, 8, 16, 24, 32, 36, 36, 44},
                       sizes[] = {4, 8, 4, 8, 4, 0, 6, 4};
    assert_offsets(mixed, COUNT(mixed), offsets, sizes, 48);
    static const opl_build_counter one_large[] = {{.type = PERF_COUNTER_BULK_COUNT}};
    static const DWORD at_8[] = {8}, of_8[] = {8};
    assert_offsets(one_large, 1, at_8, of_8, 16);
    static const opl_build_counter unnamed[] = {{.type = 0x10410401}};
    static const DWORD at_4[] = {4}, of_4[] = {4};
    assert_offsets(unnamed, 1, at_4, of_4, 8);
    assert_offsets(NULL, 0, NULL, NULL, 8);
}

static void counters_may_share_a_place(void **state)
{
    /* clang-format off */
    static const opl_build_counter shared[] = {
        {.type = PERF_COUNTER_RAWCOUNT, .offset = 12},
        {.type = PERF_COUNTER_RAWCOUNT},
        {.type = PERF_COUNTER_COUNTER, .offset = 12},
        {.type = PERF_COUNTER_LARGE_RAWCOUNT, .size = 4, .offset = 4},
    };
    /* clang-format on */
    static const DWORD offsets[] = {12, 16, 12, 4}, sizes[] = {4, 4, 4, 4};
    assert_offsets(shared, COUNT(shared), offsets, sizes, 24);
}

static void multi_timers_carry_their_count(void **state)
{
    static const opl_build_counter counters[] = {
        {.type = PERF_COUNTER_MULTI_TIMER}, {.type = PERF_COUNTER_RAWCOUNT},
        {.type = PERF_100NSEC_MULTI_TIMER}, {.type = PERF_COUNTER_MULTI_BASE},
        {.type = PERF_COUNTER_RAWCOUNT},
    };
    static const DWORD offsets[] = {8, 20, 24, 32, 40}, sizes[] = {8, 4, 8, 8, 4};
    /* a base behind a base is the count of no timer, so its place is its own */
    static const opl_build_counter two_bases[] = {
        {.type = PERF_COUNTER_MULTI_TIMER, .offset = 8},
        {.type = PERF_COUNTER_MULTI_BASE },
        {.type = PERF_COUNTER_MULTI_BASE                               },
        {.type = PERF_COUNTER_RAWCOUNT,                                .offset = 64           },
    };
    static const DWORD own_offsets[] = {8, 16, 72, 64}, own_sizes[] = {8, 8, 8, 4};
    struct built built;
    opl_sample sample;
    assert_offsets(two_bases, COUNT(two_bases), own_offsets, own_sizes, 80);
    assert_offsets(counters, COUNT(counters), offsets, sizes, 48);
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &hello_info, counters, COUNT(counters));
    opl_build_multi(&built.build, 0, 1000, 3);
    opl_build_dword(&built.build, 1, 4);
    opl_build_multi(&built.build, 2, 2000, 5);
    opl_object_view object = finish(&built);
    opl_instance_view instance = instance_at(&built.block, &object, 0);
    built.block.header.PerfFreq.QuadPart = 10;
    static const LONGLONG values[] = {10000, 4, 2000, 5, 0};
    static const DWORD counts[] = {3, 1, 5, 1, 1};
    for (uint32_t i = 0; i < COUNT(counts); i++) {
        opl_counter_view counter = counter_at(&built.block, &object, i);
        assert_true(opl_counter_sample(&built.block, &object, &instance, &counter, &sample));
        assert_int_equal(sample.first, values[i]);
        assert_int_equal(sample.multi_count, counts[i]);
    }
}

static void numbers_go_where_they_fit(void **state)
{
    static const opl_build_counter counters[] = {{.type = PERF_COUNTER_RAWCOUNT},
                                                 {.type = PERF_COUNTER_LARGE_RAWCOUNT}};
    struct built built;
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &hello_info, counters, 2);
    opl_build_number(&built.build, 0, 0x1122334455667788);
    opl_build_large(&built.build, 1, 0x1122334455667788);
    finish(&built);
    DWORD low;
    uint64_t whole;
    memcpy(&low, built.bytes + 144 + 4, 4);
    memcpy(&whole, built.bytes + 144 + 8, 8);
    assert_int_equal(low, 0x55667788);
    assert_int_equal(whole, 0x1122334455667788);
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &hello_info, counters, 2);
    opl_build_large(&built.build, 1, ~0ull);
    opl_build_dword(&built.build, 1, 5); /* sets all 8 bytes of the counter */
    finish(&built);
    memcpy(&whole, built.bytes + 144 + 8, 8);
    assert_int_equal(whole, 5);
}

static void assert_text(const opl_build_counter *counter, const char *text, const void *bytes)
{
    struct built built;
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &hello_info, counter, 1);
    opl_build_text(&built.build, 0, "earlier text");
    opl_build_text(&built.build, 0, text);
    finish(&built);
    assert_memory_equal(built.bytes + 104 + 4, bytes, counter->size);
}

static void texts_are_cut_to_their_size(void **state)
{
    opl_build_counter wide = {.type = PERF_COUNTER_TEXT, .size = 8};
    opl_build_counter narrow = {.type = PERF_COUNTER_TEXT | PERF_TEXT_ASCII, .size = 4};
    assert_text(&wide, "abc", u"abc");
    assert_text(&wide, "abcd", u"abc");
    assert_text(&wide, "a", u"a\0\0");
    assert_text(&wide, "", u"\0\0\0");
    /* no space for both halves of a surrogate pair, so neither is written */
    assert_text(&wide, "ab𝄞", u"ab\0");
    assert_text(&wide, "a𝄞", u"a𝄞");
    assert_text(&narrow, "abc", "abc");
    assert_text(&narrow, "abcdef", "abc");
    assert_text(&narrow, "aöö", "aö");
    assert_text(&narrow, "abö", "ab\0");
    wide.size = 2;
    assert_text(&wide, "abc", u"");
    wide.size = 3; /* 3 bytes: one UTF-16 unit and a half */
    assert_text(&wide, "abc", "\0\0");
}

/* A text may be at any address, odd or even; setting it does not change the bytes beside it. */
static void odd_addresses_are_fine(void **state)
{
    static const opl_build_counter counters[] = {
        {.type = PERF_COUNTER_RAWCOUNT},
        {.type = PERF_COUNTER_TEXT,     .size = 6},
        {.type = PERF_COUNTER_LARGE_RAWCOUNT                            },
    };
    unsigned char made[2][512] = {{0}};
    for (size_t odd = 0; odd < 2; odd++) {
        opl_build build;
        DWORD bytes = 0, types = 0;
        unsigned char *start = malloc(296 + odd);
        LPVOID end = start + odd;
        opl_build_init(&build, end, 296);
        opl_build_object(&build, &instances_info, counters, 3);
        for (DWORD i = 0; i < 2; i++) {
            opl_build_instance(&build, i ? "b" : "äöü");
            opl_build_dword(&build, 0, 0xFFFFFFFF);
            opl_build_large(&build, 2, ~0ull);
            opl_build_text(&build, 1, "überlang");
        }
        assert_int_equal(opl_build_collect(&build, &end, &bytes, &types), ERROR_SUCCESS);
        assert_int_equal(bytes, 296);
        memcpy(made[odd], start + odd, bytes);
        free(start);
    }
    assert_memory_equal(made[0], made[1], sizeof(made[0]));
    assert_memory_equal(made[0] + 184 + 32 + 4, u"\xFFFF\xFFFFüb\0", 10);
}

static void an_object_without_instances_at_the_end_is_padded(void **state)
{
    struct built built;
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &instances_info, &value_counter, 1);
    opl_build_object(&built.build, &other_info, hello_counters, 2);
    opl_object_view first = finish(&built), second = object_at(&built.block, 1);
    assert_int_equal(built.types, 2);
    assert_int_equal(first.type.NumInstances, 0);
    assert_int_equal(first.type.TotalByteLength, first.type.DefinitionLength);
    assert_int_equal(second.type.TotalByteLength, second.type.DefinitionLength + 40);
    assert_int_equal(built.size, 104 + 184);
    for (size_t i = 104 + 144; i < built.size; i++)
        assert_int_equal(built.bytes[i], 0);
    /* no bytes are added after objects with data, even if an empty object before them was ended
     * explicitly */
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &instances_info, &value_counter, 1);
    build_end(&built.build);
    build_end(&built.build);
    finish(&built);
    assert_int_equal(built.size, 104 + 8);
    finish(&built); /* collected again, it is the same */
    assert_int_equal(built.size, 104 + 8);
    begin(&built, 104 + 7);
    opl_build_object(&built.build, &instances_info, &value_counter, 1);
    finish(&built);
    assert_int_equal(built.status, ERROR_MORE_DATA);
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &other_info, &value_counter, 1);
    build_hello(&built.build);
    finish(&built);
    assert_int_equal(built.size, 104 + 184);
}

static void the_object_says_what_it_was_told(void **state)
{
    opl_build_object_info info = {2, 3, 0, 1, true, 0, -5, 10000000};
    opl_build_counter counters[] = {
        {4, 9, PERF_COUNTER_RAWCOUNT, -3, PERF_DETAIL_WIZARD,   0, 0},
        {6, 7, PERF_COUNTER_RAWCOUNT, 2,  PERF_DETAIL_ADVANCED, 0, 0},
        {8, 5, PERF_COUNTER_RAWCOUNT, 0,  PERF_DETAIL_EXPERT,   0, 0},
    };
    struct built built;
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &info, counters, 3);
    opl_object_view object = finish(&built);
    assert_int_equal(object.type.HeaderLength, 64);
    assert_int_equal(object.type.ObjectNameTitleIndex, 2);
    assert_int_equal(object.type.ObjectHelpTitleIndex, 3);
    assert_int_equal(object.type.DetailLevel, PERF_DETAIL_ADVANCED);
    assert_int_equal(object.type.NumCounters, 3);
    assert_int_equal(object.type.DefaultCounter, 1);
    assert_int_equal(object.type.NumInstances, PERF_NO_INSTANCES);
    assert_int_equal(object.type.PerfTime.QuadPart, -5);
    assert_int_equal(object.type.PerfFreq.QuadPart, 10000000);
    PERF_COUNTER_DEFINITION definition = counter_at(&built.block, &object, 0).definition;
    assert_int_equal(definition.CounterNameTitleIndex, 4);
    assert_int_equal(definition.CounterHelpTitleIndex, 9);
    assert_int_equal(definition.DefaultScale, -3);
    assert_int_equal(definition.DetailLevel, PERF_DETAIL_WIZARD);
    info.level = PERF_DETAIL_EXPERT;
    begin(&built, sizeof(built.bytes));
    opl_build_object(&built.build, &info, counters, 3);
    assert_int_equal(finish(&built).type.DetailLevel, PERF_DETAIL_EXPERT);
}

/* If the object's level is not given, it is the lowest level of its counters, in whatever order
 * they are. Memory after the counters is not read. */
static void an_object_without_level_has_its_easiest_counters(void **state)
{
    opl_build_object_info info = {2, 3, 0, 1, true, 0, 0, 0};
    for (DWORD count = 1; count <= 4; count++)
        for (DWORD easiest = 0; easiest < count; easiest++) {
            opl_build_counter counters[5];
            struct built built;
            for (DWORD i = 0; i < 5; i++)
                counters[i] = (opl_build_counter){
                    .name_index = 4 + 2 * i, .type = PERF_COUNTER_RAWCOUNT, .level = 300 + i};
            counters[easiest].level = 200;
            counters[count].level = 100;
            begin(&built, sizeof(built.bytes));
            opl_build_object(&built.build, &info, counters, count);
            assert_int_equal(finish(&built).type.DetailLevel, 200);
        }
}

static void c44_nothing_built_is_success_with_zeros(void **state)
{
    struct built built;
    begin(&built, 0);
    finish(&built);
    assert_int_equal(built.status, ERROR_SUCCESS);
    assert_int_equal(built.size, 0);
    assert_int_equal(built.types, 0);
    opl_build_init(&built.build, NULL, 0);
    build_hello(&built.build);
    LPVOID nowhere = NULL;
    DWORD bytes = 9, types = 9;
    assert_int_equal(opl_build_collect(&built.build, &nowhere, &bytes, &types), ERROR_MORE_DATA);
    assert_null(nowhere);
    assert_int_equal(bytes + types, 0);
}

/* ---- misuse ---- */

static void wrong_large(opl_build *build)
{
    build_hello(build);
    opl_build_large(build, 1, 1); /* an 8-byte value for a counter of 4 bytes */
}

static void wrong_position(opl_build *build)
{
    build_hello(build);
    opl_build_dword(build, 2, 1);
}

static void wrong_number_for_text(opl_build *build)
{
    build_hello(build);
    opl_build_number(build, 0, 1);
}

static void wrong_text_for_number(opl_build *build)
{
    build_hello(build);
    opl_build_text(build, 1, "x");
}

static void wrong_multi(opl_build *build)
{
    build_hello(build);
    opl_build_multi(build, 1, 1, 1);
}

static void wrong_instance_of_single(opl_build *build)
{
    build_hello(build);
    opl_build_instance(build, "x");
}

static void wrong_instance_first(opl_build *build)
{
    opl_build_instance(build, "x");
}

static void wrong_value_before_instance(opl_build *build)
{
    opl_build_object(build, &instances_info, &value_counter, 1);
    opl_build_dword(build, 0, 1);
}

static void wrong_value_after_end(opl_build *build)
{
    build_hello(build);
    build_end(build);
    opl_build_dword(build, 1, 1);
}

static void wrong_text_without_size(opl_build *build)
{
    opl_build_object(build, &hello_info, &(opl_build_counter){.type = PERF_COUNTER_TEXT}, 1);
}

static void wrong_offset(opl_build *build)
{
    opl_build_object(build, &hello_info, &(opl_build_counter){.offset = 3}, 1);
}

static void wrong_huge_offset(opl_build *build)
{
    opl_build_object(build, &hello_info, &(opl_build_counter){.offset = INT32_MAX - 3}, 1);
}

static void wrong_huge_size(opl_build *build)
{
    opl_build_object(build, &hello_info, &(opl_build_counter){.size = UINT32_MAX}, 1);
}

static void wrong_count(opl_build *build)
{
    static const opl_build_counter many[OPL_BUILD_MAX_COUNTERS + 1];
    opl_build_object(build, &hello_info, many, OPL_BUILD_MAX_COUNTERS + 1);
}

static void misuse_is_an_invalid_parameter(void **state)
{
    static void (*const misuses[])(opl_build *) = {
        wrong_large,           wrong_position,
        wrong_number_for_text, wrong_text_for_number,
        wrong_multi,           wrong_instance_of_single,
        wrong_instance_first,  wrong_value_before_instance,
        wrong_value_after_end, wrong_text_without_size,
        wrong_offset,          wrong_huge_offset,
        wrong_huge_size,       wrong_count,
    };
    for (size_t i = 0; i < COUNT(misuses); i++) {
        struct built built;
        begin(&built, sizeof(built.bytes));
        misuses[i](&built.build);
        build_hello(&built.build); /* after an error, correct calls do not help */
        finish(&built);
        assert_int_equal(built.status, ERROR_INVALID_PARAMETER);
        assert_int_equal(built.size, 0);
        assert_int_equal(built.types, 0);
    }
}

static void as_many_counters_as_allowed(void **state)
{
    static const opl_build_counter many[OPL_BUILD_MAX_COUNTERS];
    static unsigned char bytes[64 + 41 * 4 * OPL_BUILD_MAX_COUNTERS];
    opl_build build;
    LPVOID end = bytes;
    DWORD size, types;
    opl_build_init(&build, bytes, sizeof(bytes));
    opl_build_object(&build, &hello_info, many, OPL_BUILD_MAX_COUNTERS);
    opl_build_dword(&build, OPL_BUILD_MAX_COUNTERS - 1, 1);
    assert_int_equal(opl_build_collect(&build, &end, &size, &types), ERROR_SUCCESS);
}

/* After something did not fit, the result is ERROR_MORE_DATA, even if something smaller would still
 * fit. */
static void once_full_stays_full(void **state)
{
    struct built built;
    begin(&built, 200);
    build_hello(&built.build);
    build_hello(&built.build);
    assert_true(built.build.full);
    opl_build_instance(&built.build, "x");
    opl_build_dword(&built.build, 99, 1);
    assert_false(built.build.misused);
    finish(&built);
    assert_int_equal(built.status, ERROR_MORE_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c69_the_first_example),
        cmocka_unit_test(c69_the_first_example_packed),
        cmocka_unit_test(c73_packed_instances),
        cmocka_unit_test(c71_too_little_space_is_more_data),
        cmocka_unit_test(c73_instances_with_names),
        cmocka_unit_test(c17_parents_and_unique_ids),
        cmocka_unit_test(c20_names_in_a_code_page),
        cmocka_unit_test(the_builder_places_values),
        cmocka_unit_test(counters_may_share_a_place),
        cmocka_unit_test(multi_timers_carry_their_count),
        cmocka_unit_test(numbers_go_where_they_fit),
        cmocka_unit_test(texts_are_cut_to_their_size),
        cmocka_unit_test(odd_addresses_are_fine),
        cmocka_unit_test(an_object_without_instances_at_the_end_is_padded),
        cmocka_unit_test(the_object_says_what_it_was_told),
        cmocka_unit_test(an_object_without_level_has_its_easiest_counters),
        cmocka_unit_test(c44_nothing_built_is_success_with_zeros),
        cmocka_unit_test(misuse_is_an_invalid_parameter),
        cmocka_unit_test(as_many_counters_as_allowed),
        cmocka_unit_test(once_full_stays_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
