/* SPDX-License-Identifier: MIT */
/* Tests of wire/check.c: which faults in providers' answers it refuses, warns about, and accepts,
 * at the strictest setting (ExtCounterTestLevel 1). (docs/windows/providers.md#d4, 5-8) */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>

/* Checks the objects of a golden block (tests/golden) after the 32-bit number at offset `field` was
 * set to `value` (field 0: unchanged). */
static enum wire_fault judge(const char *name, size_t field, uint32_t value, uint32_t *ret_object)
{
    struct golden golden;
    golden_load(name, &golden);
    uint32_t header = golden_get(&golden, 24), count = golden_get(&golden, 28);
    if (field)
        golden_set(&golden, field, value);
    struct wire_finding finding;
    enum wire_fault fault =
        wire_check_objects(golden.data + header, golden.size - header, count, &finding);
    *ret_object = finding.position;
    golden_done(&golden);
    return fault;
}

#define ASSERT_JUDGED(name, field, value, fault, object)                                           \
    do {                                                                                           \
        uint32_t object_ = 99;                                                                     \
        assert_int_equal(judge(name, field, value, &object_), fault);                              \
        assert_int_equal(object_, object);                                                         \
    } while (0)

static void good_answers_pass(void **state)
{
    ASSERT_JUDGED("hello.hex", 0, 0, WIRE_GOOD, 0);
    ASSERT_JUDGED("parents.hex", 0, 0, WIRE_GOOD, 0);
    ASSERT_JUDGED("several.hex", 0, 0, WIRE_GOOD, 0);
    for (size_t i = 0; golden_names[i]; i++) /* in the blocks that Windows made, nothing is found */
        if (!strncmp(golden_names[i], "windows/", 8))
            ASSERT_JUDGED(golden_names[i], 0, 0, WIRE_GOOD, 0);
    /* this block has all types in the order of their table, so two fractions are not followed by a
     * base */
    ASSERT_JUDGED("types.hex", 0, 0, WIRE_FAULT_BASE, 0);
    ASSERT_JUDGED("longer.hex", 0, 0, WIRE_GOOD, 0);
    ASSERT_JUDGED("metadata.hex", 0, 0, WIRE_GOOD, 0);
    ASSERT_JUDGED("empty.hex", 0, 0, WIRE_GOOD, 0);
}

/* Untidy answers, as existing Windows providers give them, are accepted: bytes after an object
 * without instances, values at addresses that are not multiples of their size, and lengths that are
 * not multiples of 8. */
static void untidy_answers_pass(void **state)
{
    ASSERT_JUDGED("no_instances.hex", 0, 0, WIRE_GOOD, 0);
    /* with NumInstances 0 nothing reads the counter block */
    ASSERT_JUDGED("hello.hex", 152, 0, WIRE_GOOD, 0);
    /* a 64-bit value at an odd offset, and lengths that are not multiples of 8: only a warning */
    ASSERT_JUDGED("unaligned.hex", 0, 0, WIRE_FAULT_ALIGNMENT, 0);
    /* the counter block is shorter than the space for it, so the counters have no values: only a
     * warning */
    ASSERT_JUDGED("hello.hex", 256, 4, WIRE_FAULT_OFFSET, 0);
}

static void c127_lengths_of_objects_add_up(void **state)
{
    ASSERT_JUDGED("truncated.hex", 0, 0, WIRE_FAULT_OBJECTS, 2);
    ASSERT_JUDGED("hello.hex", 112, 183, WIRE_FAULT_OBJECTS, 0);
    ASSERT_JUDGED("hello.hex", 112, 185, WIRE_FAULT_OBJECTS, 0);
    ASSERT_JUDGED("hello.hex", 112, 0, WIRE_FAULT_OBJECTS, 0);
    ASSERT_JUDGED("hello.hex", 112, 63, WIRE_FAULT_OBJECTS, 0);
    ASSERT_JUDGED("several.hex", 112, 400, WIRE_FAULT_OBJECTS, 1);
    /* the last object is 8 bytes too short or too long */
    ASSERT_JUDGED("several.hex", 520 - 72, 64, WIRE_FAULT_OBJECTS, 2);
    ASSERT_JUDGED("several.hex", 520 - 72, 80, WIRE_FAULT_OBJECTS, 2);
}

static void c127_no_objects_mean_no_bytes(void **state)
{
    static const unsigned char bytes[64] = {64};
    struct wire_finding object;
    assert_int_equal(wire_check_objects(NULL, 0, 0, &object), WIRE_GOOD);
    assert_int_equal(object.position, 0);
    assert_int_equal(wire_check_objects(bytes, 8, 0, &object), WIRE_FAULT_OBJECTS);
    assert_int_equal(wire_check_objects(bytes, 63, 1, &object), WIRE_FAULT_OBJECTS);
    assert_int_equal(wire_check_objects(bytes, 0, 1, &object), WIRE_FAULT_OBJECTS);
    assert_int_equal(wire_check_objects(bytes, 64, UINT32_MAX, &object), WIRE_FAULT_OBJECTS);
    assert_int_equal(object.position, 1);
}

static void definitions_add_up_to_their_length(void **state)
{
    /* DefinitionLength: one too long, one too short, inside the header, after the object's end */
    ASSERT_JUDGED("hello.hex", 116, 145, WIRE_FAULT_DEFINITIONS, 0);
    ASSERT_JUDGED("hello.hex", 116, 143, WIRE_FAULT_DEFINITIONS, 0);
    ASSERT_JUDGED("hello.hex", 116, 63, WIRE_FAULT_DEFINITIONS, 0);
    ASSERT_JUDGED("hello.hex", 116, 185, WIRE_FAULT_DEFINITIONS, 0);
    ASSERT_JUDGED("hello.hex", 120, 63, WIRE_FAULT_DEFINITIONS, 0); /* HeaderLength */
    ASSERT_JUDGED("hello.hex", 120, 145, WIRE_FAULT_DEFINITIONS, 0);
    ASSERT_JUDGED("hello.hex", 144, 1, WIRE_FAULT_DEFINITIONS, 0); /* NumCounters */
    ASSERT_JUDGED("hello.hex", 144, 3, WIRE_FAULT_DEFINITIONS, 0);
    ASSERT_JUDGED("hello.hex", 144, 0, WIRE_FAULT_DEFINITIONS, 0);
    ASSERT_JUDGED("hello.hex", 176, 39, WIRE_FAULT_DEFINITIONS, 0); /* ByteLength */
    ASSERT_JUDGED("hello.hex", 216, 41, WIRE_FAULT_DEFINITIONS, 0);
    ASSERT_JUDGED("hello.hex", 212, 0x80000000, WIRE_FAULT_DEFINITIONS, 0);
    ASSERT_JUDGED("several.hex", 224 + 4, 145, WIRE_FAULT_DEFINITIONS, 1);
}

static void c128_instances_end_where_the_object_ends(void **state)
{
    struct golden golden;
    opl_block block;
    golden_open("several.hex", &golden, &block);
    opl_object_view object = object_at(&block, 1);
    opl_instance_view last = instance_at(&block, &object, 1);
    golden_done(&golden);
    ASSERT_JUDGED("several.hex", last.counters, 9, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", last.counters, 7, WIRE_FAULT_OFFSET, 1);
    ASSERT_JUDGED("several.hex", last.counters, 3, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", last.offset, 33, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", last.offset, 23, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", last.offset + 20, 9, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", object.offset + 40, 1, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", object.offset + 40, 3, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", object.offset + 40, (uint32_t)-4, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", object.offset + 40, 0, WIRE_GOOD, 0);
    ASSERT_JUDGED("minus_four.hex", 0, 0, WIRE_FAULT_INSTANCES, 1);
    /* an object without instances, whose counter block reaches beyond the object */
    ASSERT_JUDGED("hello.hex", 256, 41, WIRE_FAULT_INSTANCES, 0);
    ASSERT_JUDGED("hello.hex", 256, 3, WIRE_FAULT_INSTANCES, 0);
}

/* After the last instance, up to seven unused bytes are accepted as padding; eight are an error. */
static void c128_slack_behind_the_last_instance(void **state)
{
    for (size_t slack = 0; slack <= 8; slack++) {
        struct golden golden;
        struct wire_finding object;
        golden_load("unaligned.hex", &golden);
        size_t size = golden.size - 112;
        unsigned char *objects = calloc(1, size + slack);
        memcpy(objects, golden.data + 112, size);
        uint32_t total = (uint32_t)(size + slack);
        memcpy(objects, &total, sizeof(total));
        enum wire_fault expected = slack > 7                 ? WIRE_FAULT_INSTANCES
                                   : (size + slack) % 8 == 0 ? WIRE_GOOD
                                                             : WIRE_FAULT_ALIGNMENT;
        assert_int_equal(wire_check_objects(objects, size + slack, 1, &object), expected);
        free(objects);
        golden_done(&golden);
    }
}

/* Two objects have lengths that are not multiples of 8, but the sum of the lengths is: a warning,
 * which names the first of the two. */
static void a_misaligned_length_is_a_warning_and_names_the_first(void **state)
{
    PERF_OBJECT_TYPE types[3] = {
        {64, 64, 64, .ObjectNameTitleIndex = 2},
        {66, 64, 64, .ObjectNameTitleIndex = 4},
        {70, 64, 64, .ObjectNameTitleIndex = 6}
    };
    unsigned char objects[200] = {0};
    struct wire_finding found;
    memcpy(objects, &types[0], 64);
    memcpy(objects + 64, &types[1], 64);
    memcpy(objects + 130, &types[2], 64);
    assert_int_equal(wire_check_objects(objects, 200, 3, &found), WIRE_FAULT_ALIGNMENT);
    assert_int_equal(found.position, 1);
    /* damage in a later object is more important than the warning */
    objects[130 + 8] = 63;
    assert_int_equal(wire_check_objects(objects, 200, 3, &found), WIRE_FAULT_DEFINITIONS);
    assert_int_equal(found.position, 2);
}

/* Returns the description of the fault in a golden block after the number at offset `field` was set
 * to `value`. */
static const char *text_of(const char *name, size_t field, uint32_t value)
{
    static char text[500];
    struct golden golden;
    struct wire_finding finding;
    char found[WIRE_TEXT], expected[WIRE_TEXT], counter[40] = "";
    golden_load(name, &golden);
    golden_set(&golden, field, value);
    wire_check_objects(golden.data + 112, golden.size - 112, golden_get(&golden, 28), &finding);
    golden_done(&golden);
    assert_non_null(finding.field);
    wire_finding_text(&finding, found, expected);
    if (finding.has_counter)
        snprintf(counter, sizeof counter, " counter %u", finding.counter);
    snprintf(text, sizeof text, "%u%s%s%s: %s at %zu is %s, expected %s", finding.object, counter,
             finding.has_instance ? " instance " : "", finding.instance, finding.field,
             finding.offset, found, expected);
    return text;
}

static void f_e1_a_finding_says_what_where_found_expected(void **state)
{
    struct golden golden;
    opl_block block;
    golden_open("several.hex", &golden, &block);
    opl_object_view object = object_at(&block, 1);
    opl_instance_view last = instance_at(&block, &object, 1);
    golden_done(&golden);
    const struct {
        const char *name;
        size_t field;
        uint32_t value;
        const char *text;
    } rows[] = {
  /* clang-format off */
        {"hello.hex",   112,               185,        "TotalByteLength at 0 is 185, expected 184 (the number of bytes that were returned)"},
        {"hello.hex",   112,               63,         "TotalByteLength at 0 is 63, expected at least 64 (the size of its header)"},
        {"several.hex", 520 - 72,          64,         "TotalByteLength at 336 is 64, expected 72 (the number of bytes that were returned)"},
        {"several.hex", 28,                2,          "NumObjectTypes at 112 is 2, expected at least 3 (the number of objects that were returned)"},
        {"several.hex", 28,                4,          "NumObjectTypes at 408 is 4, expected at most 3 (the number of objects that were returned)"},
        {"hello.hex",   116,               145,        "DefinitionLength at 4 is 145, expected 144 (HeaderLength plus the length of the definitions)"},
        {"hello.hex",   144,               3,          "NumCounters at 32 is 3, expected at most 2 (what fits into DefinitionLength)"},
        {"hello.hex",   176,               39,         "ByteLength at 64 is 39, expected at least 40 (the size of a definition)"},
        {"hello.hex",   212,               0x80000000, "CounterOffset at 100 is 2147483648, expected at most 2147483647"},
        {"several.hex", last.counters,     9,          " instance b: ByteLength of the counter block at 328 is 9, expected at most 8 (the rest of the object)"},
        {"several.hex", last.offset,       23,         "ByteLength at 296 is 23, expected at least 24 (the size of an instance definition)"},
        {"several.hex", last.offset + 20,  9,          "NameLength at 316 is 9, expected at most 8 (ByteLength minus NameOffset)"},
        {"several.hex", object.offset + 40, 1,         "NumInstances at 152 is 1, expected at least 2 (one more instance follows)"},
        {"several.hex", object.offset + 40, 3,         "NumInstances at 152 is 3, expected at most 2 (what fits into TotalByteLength)"},
        {"hello.hex",   212,               40,         "CounterOffset at 100 is 40, expected at most 8 (because the value must be inside the counter block)"},
  /* clang-format on */
    };
    bool good = true;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *text = text_of(rows[i].name, rows[i].field, rows[i].value);
        if (!strstr(text, rows[i].text))
            print_error("%s\n", text);
        good &= strstr(text, rows[i].text) != NULL;
    }
    assert_true(good);
}

/* Another machine's block is only refused, so nothing is reported. */
static void a_whole_block_is_good_or_not(void **state)
{
    static const struct {
        const char *name;
        size_t fields[2];
        uint32_t values[2];
        bool good;
    } rows[] = {
        {"hello.hex",     {0},      {0},      true }, /* field 0: unchanged */
        {"several.hex",   {0},      {0},      true },
        {"truncated.hex", {0},      {0},      false},
        {"hello.hex",     {116},    {63},     false}, /* DefinitionLength */
        {"hello.hex",     {176},    {39},     false}, /* a definition's ByteLength */
        {"hello.hex",     {256},    {41},     false}, /* the counter block's ByteLength */
        {"several.hex",   {28},     {2},      true }, /* NumObjectTypes; nothing reads the third */
        {"several.hex",   {20, 28}, {448, 2}, false}, /* bytes after the block */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct golden golden;
        golden_load(rows[i].name, &golden);
        for (size_t k = 0; k < COUNT(rows[i].fields); k++)
            if (rows[i].fields[k])
                golden_set(&golden, rows[i].fields[k], rows[i].values[k]);
        if (wire_check_block(golden.data, golden.size) != rows[i].good)
            fail_msg("row %zu: %s should be %s", i, rows[i].name,
                     rows[i].good ? "good" : "refused");
        golden_done(&golden);
    }
}

/* One object more than NumObjectTypes says, even if it is only a header, is a wrong number of
 * objects; fewer bytes are no object, so the length before them is wrong. */
static void f_e1_a_header_is_an_object(void **state)
{
    const PERF_OBJECT_TYPE types[2] = {
        {64, 64, 64},
        {64, 64, 64}
    };
    struct wire_finding finding;
    assert_int_equal(wire_check_objects(types, 128, 1, &finding), WIRE_FAULT_OBJECTS);
    assert_string_equal(finding.field, "NumObjectTypes");
    assert_int_equal(wire_check_objects(types, 127, 1, &finding), WIRE_FAULT_OBJECTS);
    assert_string_equal(finding.field, "TotalByteLength");
}

/* A single object that ends with its definitions: the size that it needs is named. */
static void f_e1_a_single_object_lacks_its_counter_block(void **state)
{
    const PERF_OBJECT_TYPE type = {64, 64, 64, .NumInstances = PERF_NO_INSTANCES};
    struct wire_finding finding;
    char found[WIRE_TEXT], expected[WIRE_TEXT];
    assert_int_equal(wire_check_objects(&type, sizeof type, 1, &finding), WIRE_FAULT_INSTANCES);
    wire_finding_text(&finding, found, expected);
    assert_string_equal(finding.field, "TotalByteLength");
    assert_string_equal(expected,
                        "at least 68 (because a counter block must follow the definitions)");
}

/* ---- base counters, offsets of values, numbers of names ---- */

enum { SIZE = 4096 };
static unsigned char built[SIZE];
static unsigned findings[WIRE_FAULT_ALIGNMENT + 1];
static struct wire_finding latest;

static void count_finding(void *self, const struct wire_finding *finding)
{
    findings[finding->fault]++;
    latest = *finding;
}

/* Adds an object with counters of these types, and two instances, "one" and "two", whose values are
 * 0. */
static void add_object(opl_build *build, DWORD index, const DWORD *types, DWORD count)
{
    opl_build_counter counters[4];
    const opl_build_object_info info = {.name_index = index, .help_index = index + 1};
    for (DWORD i = 0; i < count; i++)
        counters[i] = (opl_build_counter){.name_index = index + 2 * i + 2, .type = types[i]};
    opl_build_object(build, &info, counters, count);
    opl_build_instance(build, "one");
    opl_build_instance(build, "two");
}

static enum wire_fault check_built(opl_build *build)
{
    void *end = built;
    DWORD size = 0, objects = 0;
    assert_int_equal(opl_build_collect(build, &end, &size, &objects), 0);
    memset(findings, 0, sizeof findings);
    return wire_check_each(built, size, objects, count_finding, NULL);
}

static enum wire_fault check_types(const DWORD *types, DWORD count)
{
    opl_build build;
    opl_build_init(&build, built, SIZE);
    add_object(&build, 4000, types, count);
    return check_built(&build);
}

static void f_b4_a_base_stands_directly_behind(void **state)
{
    const DWORD good[] = {PERF_RAW_FRACTION, PERF_RAW_BASE, PERF_AVERAGE_BULK, PERF_AVERAGE_BASE};
    const DWORD parted[] = {PERF_RAW_FRACTION, PERF_COUNTER_COUNTER, PERF_RAW_BASE};
    const DWORD none[] = {PERF_COUNTER_COUNTER, PERF_LARGE_RAW_FRACTION};
    char found[WIRE_TEXT], expected[WIRE_TEXT];
    assert_int_equal(check_types(good, 4), WIRE_GOOD);
    assert_int_equal(check_types(parted, 3), WIRE_FAULT_BASE);
    assert_int_equal(findings[WIRE_FAULT_BASE], 1);
    assert_int_equal(latest.counter, 4002);
    assert_int_equal(latest.offset, 64 + 40 + offsetof(PERF_COUNTER_DEFINITION, CounterType));
    wire_finding_text(&latest, found, expected);
    assert_string_equal(found, "PERF_COUNTER_COUNTER");
    assert_string_equal(expected, "PERF_RAW_BASE (the base of this counter)");
    assert_int_equal(check_types(none, 2), WIRE_FAULT_BASE);
    assert_int_equal(latest.counter, 4004);
}

static void f_b4_a_value_outside_its_block_is_a_warning_once(void **state)
{
    const DWORD types[] = {PERF_COUNTER_RAWCOUNT, PERF_COUNTER_RAWCOUNT};
    DWORD offset = 4000;
    opl_build build;
    opl_build_init(&build, built, SIZE);
    add_object(&build, 4000, types, 2);
    memcpy(built + 64 + 40 + 36, &offset, sizeof offset);
    assert_int_equal(check_built(&build), WIRE_FAULT_OFFSET);
    assert_false(wire_fault_damages(WIRE_FAULT_OFFSET));
    assert_int_equal(findings[WIRE_FAULT_OFFSET], 1); /* counted for each of the two instances */
    assert_int_equal(latest.counter, 4004);
    assert_string_equal(latest.instance, "one");
    assert_string_equal(latest.field, "CounterOffset");
    assert_int_equal(latest.found, 4000);
    assert_int_equal(latest.offset, 64 + 40 + 36);
}

static void f_b4_two_objects_of_one_number(void **state)
{
    const DWORD types[] = {PERF_COUNTER_RAWCOUNT};
    opl_build build;
    opl_build_init(&build, built, SIZE);
    add_object(&build, 4000, types, 1);
    add_object(&build, 5000, types, 1);
    add_object(&build, 4000, types, 1);
    assert_int_equal(check_built(&build), WIRE_FAULT_TWICE);
    assert_int_equal(findings[WIRE_FAULT_TWICE], 1);
    assert_int_equal(latest.position, 2);
    assert_int_equal(latest.object, 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_answers_pass),
        cmocka_unit_test(untidy_answers_pass),
        cmocka_unit_test(c127_lengths_of_objects_add_up),
        cmocka_unit_test(c127_no_objects_mean_no_bytes),
        cmocka_unit_test(definitions_add_up_to_their_length),
        cmocka_unit_test(c128_instances_end_where_the_object_ends),
        cmocka_unit_test(c128_slack_behind_the_last_instance),
        cmocka_unit_test(a_misaligned_length_is_a_warning_and_names_the_first),
        cmocka_unit_test(f_e1_a_finding_says_what_where_found_expected),
        cmocka_unit_test(a_whole_block_is_good_or_not),
        cmocka_unit_test(f_e1_a_header_is_an_object),
        cmocka_unit_test(f_e1_a_single_object_lacks_its_counter_block),
        cmocka_unit_test(f_b4_a_base_stands_directly_behind),
        cmocka_unit_test(f_b4_a_value_outside_its_block_is_a_warning_once),
        cmocka_unit_test(f_b4_two_objects_of_one_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
