/* SPDX-License-Identifier: MIT */
/* Tests of wire/check.c: what ExtCounterTestLevel 1 refuses, warns of and lets pass (D.4, 5-8). */
#include "golden.h"

#include <stdlib.h>

/* Judges the objects of a golden block with one field changed (field 0: none). */
static enum wire_fault judge(const char *name, size_t field, uint32_t value, uint32_t *ret_object)
{
    struct golden golden;
    golden_load(name, &golden);
    uint32_t header = golden_get(&golden, 24), count = golden_get(&golden, 28);
    if (field)
        golden_set(&golden, field, value);
    enum wire_fault fault =
        wire_check_objects(golden.data + header, golden.size - header, count, ret_object);
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
    ASSERT_JUDGED("types.hex", 0, 0, WIRE_GOOD, 0);
    ASSERT_JUDGED("longer.hex", 0, 0, WIRE_GOOD, 0);
    ASSERT_JUDGED("metadata.hex", 0, 0, WIRE_GOOD, 0);
    ASSERT_JUDGED("empty.hex", 0, 0, WIRE_GOOD, 0);
}

/* As shipped providers do: bytes behind an object without instances, odd values and lengths. */
static void untidy_answers_pass(void **state)
{
    ASSERT_JUDGED("no_instances.hex", 0, 0, WIRE_GOOD, 0);
    /* NumInstances 0: the counter block is unused too */
    ASSERT_JUDGED("hello.hex", 152, 0, WIRE_GOOD, 0);
    /* a 64-bit value at an odd offset, misaligned lengths: a warning */
    ASSERT_JUDGED("unaligned.hex", 0, 0, WIRE_FAULT_ALIGNMENT, 0);
    /* bytes unused behind the block of a single object */
    ASSERT_JUDGED("hello.hex", 256, 4, WIRE_GOOD, 0);
}

static void c127_lengths_of_objects_add_up(void **state)
{
    ASSERT_JUDGED("truncated.hex", 0, 0, WIRE_FAULT_OBJECTS, 2);
    ASSERT_JUDGED("hello.hex", 112, 183, WIRE_FAULT_OBJECTS, 0);
    ASSERT_JUDGED("hello.hex", 112, 185, WIRE_FAULT_OBJECTS, 0);
    ASSERT_JUDGED("hello.hex", 112, 0, WIRE_FAULT_OBJECTS, 0);
    ASSERT_JUDGED("hello.hex", 112, 63, WIRE_FAULT_OBJECTS, 0);
    ASSERT_JUDGED("several.hex", 112, 400, WIRE_FAULT_OBJECTS, 1);
    /* the last one ends early or late */
    ASSERT_JUDGED("several.hex", 520 - 72, 64, WIRE_FAULT_OBJECTS, 2);
    ASSERT_JUDGED("several.hex", 520 - 72, 80, WIRE_FAULT_OBJECTS, 2);
}

static void c127_no_objects_mean_no_bytes(void **state)
{
    static const unsigned char bytes[64] = {64};
    uint32_t object = 99;
    assert_int_equal(wire_check_objects(NULL, 0, 0, &object), WIRE_GOOD);
    assert_int_equal(object, 0);
    assert_int_equal(wire_check_objects(bytes, 8, 0, &object), WIRE_FAULT_OBJECTS);
    assert_int_equal(wire_check_objects(bytes, 63, 1, &object), WIRE_FAULT_OBJECTS);
    assert_int_equal(wire_check_objects(bytes, 0, 1, &object), WIRE_FAULT_OBJECTS);
    assert_int_equal(wire_check_objects(bytes, 64, UINT32_MAX, &object), WIRE_FAULT_OBJECTS);
    assert_int_equal(object, 1);
}

static void definitions_add_up_to_their_length(void **state)
{
    /* DefinitionLength one too long, too short, before the header, behind the object */
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
    ASSERT_JUDGED("several.hex", last.counters, 7, WIRE_GOOD, 0);
    ASSERT_JUDGED("several.hex", last.counters, 3, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", last.offset, 33, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", last.offset, 23, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", last.offset + 20, 9, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", object.offset + 40, 1, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", object.offset + 40, 3, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", object.offset + 40, (uint32_t)-4, WIRE_FAULT_INSTANCES, 1);
    ASSERT_JUDGED("several.hex", object.offset + 40, 0, WIRE_GOOD, 0);
    ASSERT_JUDGED("minus_four.hex", 0, 0, WIRE_FAULT_INSTANCES, 1);
    /* a single object whose counter block is outside */
    ASSERT_JUDGED("hello.hex", 256, 41, WIRE_FAULT_INSTANCES, 0);
    ASSERT_JUDGED("hello.hex", 256, 3, WIRE_FAULT_INSTANCES, 0);
}

/* Seven bytes behind the last instance are rounding, eight are a mistake. */
static void c128_slack_behind_the_last_instance(void **state)
{
    for (size_t slack = 0; slack <= 8; slack++) {
        struct golden golden;
        uint32_t object;
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

/* Two misaligned objects whose lengths together are a multiple of 8. */
static void a_misaligned_length_is_a_warning_and_names_the_first(void **state)
{
    PERF_OBJECT_TYPE types[3] = {
        {64, 64, 64},
        {66, 64, 64},
        {70, 64, 64}
    };
    unsigned char objects[200] = {0};
    uint32_t position = 99;
    memcpy(objects, &types[0], 64);
    memcpy(objects + 64, &types[1], 64);
    memcpy(objects + 130, &types[2], 64);
    assert_int_equal(wire_check_objects(objects, 200, 3, &position), WIRE_FAULT_ALIGNMENT);
    assert_int_equal(position, 1);
    /* damage behind it counts more */
    objects[130 + 8] = 63;
    assert_int_equal(wire_check_objects(objects, 200, 3, &position), WIRE_FAULT_DEFINITIONS);
    assert_int_equal(position, 2);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
