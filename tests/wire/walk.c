/* SPDX-License-Identifier: MIT */
/* Tests of wire/walk.c, which walks through a block: the contents of golden blocks (tests/golden),
 * and at which offset damage is reported. */
#include "everything.h"
#include "golden.h"

#include <stdio.h>

#define ASSERT_NAME(block, object, instance, expected)                                             \
    do {                                                                                           \
        char name_[64];                                                                            \
        assert_int_equal(opl_instance_name(block, object, instance, name_, sizeof(name_)),         \
                         strlen(expected) + 1);                                                    \
        assert_string_equal(name_, expected);                                                      \
    } while (0)

static void assert_names(const char *golden_name, const char *const *names)
{
    struct golden golden;
    opl_block block;
    opl_instance_view instance = {0};
    golden_open(golden_name, &golden, &block);
    opl_object_view object = object_at(&block, 0);
    for (; *names; names++) {
        assert_true(opl_object_next_instance(&block, &object, &instance));
        ASSERT_NAME(&block, &object, &instance, *names);
    }
    assert_false(opl_object_next_instance(&block, &object, &instance));
    assert_int_equal(block.fault, OPL_BLOCK_GOOD);
    golden_done(&golden);
}

/* ---- valid blocks ---- */

static void c4_the_header_leads_to_the_first_object(void **state)
{
    struct golden golden;
    opl_block block;
    golden_open("hello.hex", &golden, &block);
    assert_int_equal(block.header.TotalByteLength, 296);
    assert_int_equal(block.size, 296);
    assert_int_equal(block.header.HeaderLength, 112);
    assert_int_equal(block.header.NumObjectTypes, 1);
    assert_int_equal(block.header.DefaultObject, 1848);
    assert_int_equal(object_at(&block, 0).offset, 112);
    golden_done(&golden);
}

static void c5_objects_follow_each_other(void **state)
{
    static const DWORD indexes[] = {1848, 1852, 1858};
    struct golden golden;
    opl_block block;
    opl_object_view object = {0};
    golden_open("several.hex", &golden, &block);
    for (uint32_t i = 0; i < COUNT(indexes); i++) {
        size_t expected = i == 0 ? 112 : object.offset + object.type.TotalByteLength;
        assert_true(opl_block_next_object(&block, &object));
        assert_int_equal(object.type.ObjectNameTitleIndex, indexes[i]);
        assert_int_equal(object.offset, expected);
        assert_int_equal(object.position, i);
    }
    opl_object_view last = object;
    assert_false(opl_block_next_object(&block, &object));
    assert_memory_equal(&object, &last, sizeof(last));
    assert_int_equal(block.fault, OPL_BLOCK_GOOD);
    golden_done(&golden);
}

static void c6_single_objects_and_objects_with_instances(void **state)
{
    struct golden golden;
    struct everything found;
    golden_load("several.hex", &golden);
    walk_everything(golden.data, golden.size, &found);
    assert_int_equal(found.objects, 3);
    assert_int_equal(found.counters, 3);
    assert_int_equal(found.instances, 4);
    assert_int_equal(found.values, 5);
    assert_int_equal(found.fault, OPL_BLOCK_GOOD);
    golden_done(&golden);
}

static void c7_a_single_object_has_one_nameless_block(void **state)
{
    struct golden golden;
    opl_block block;
    opl_instance_view instance = {0};
    golden_open("hello.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    assert_int_equal(object.type.NumInstances, PERF_NO_INSTANCES);
    assert_true(opl_object_next_instance(&block, &object, &instance));
    assert_int_equal(instance.definition.ByteLength, 0);
    ASSERT_NAME(&block, &object, &instance, "");
    assert_false(opl_object_next_instance(&block, &object, &instance));
    golden_done(&golden);
}

static void c8_definitions_step_by_their_length(void **state)
{
    struct golden golden;
    opl_block block;
    uint64_t value;
    golden_open("longer.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    opl_instance_view instance = instance_at(&block, &object, 0);
    opl_counter_view counter = counter_at(&block, &object, 1);
    assert_int_equal(counter.definition.CounterNameTitleIndex, 1852);
    assert_int_equal(counter.offset, object.offset + 72 + 48);
    assert_true(opl_counter_number(&block, &instance, &counter, &value));
    assert_int_equal(value, 8);
    assert_false(opl_object_next_counter(&block, &object, &counter));
    golden_done(&golden);
}

static void c9_values_of_a_single_object_lie_behind_its_definitions(void **state)
{
    struct golden golden;
    opl_block block;
    golden_open("hello.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    opl_instance_view instance = instance_at(&block, &object, 0);
    opl_counter_view counter = counter_at(&block, &object, 1);
    assert_int_equal(instance.counters, object.offset + object.type.DefinitionLength);
    assert_int_equal(instance.counters_size, 36);
    assert_int_equal(instance.end, 292);
    assert_ptr_equal(opl_counter_data(&block, &instance, &counter), golden.data + 288);
    golden_done(&golden);
}

static void c10_instances_are_pairs_of_definition_and_block(void **state)
{
    struct golden golden;
    opl_block block;
    golden_open("several.hex", &golden, &block);
    opl_object_view object = object_at(&block, 1);
    opl_instance_view first = instance_at(&block, &object, 0);
    opl_instance_view second = instance_at(&block, &object, 1);
    assert_int_equal(first.offset, object.offset + object.type.DefinitionLength);
    assert_int_equal(first.counters, first.offset + 32);
    assert_int_equal(first.end, first.counters + 8);
    assert_int_equal(second.offset, first.end);
    assert_int_equal(second.end, object.offset + object.type.TotalByteLength);
    golden_done(&golden);
}

static void c12_the_header_names_time_and_system(void **state)
{
    struct golden golden;
    opl_block block;
    char name[16] = "untouched";
    golden_open("hello.hex", &golden, &block);
    assert_memory_equal(block.header.Signature, u"PERF", 8);
    assert_int_equal(block.header.Version, 1);
    assert_int_equal(block.header.Revision, 1);
    assert_int_equal(block.header.SystemTime.wYear, 2024);
    assert_int_equal(block.header.SystemTime.wDay, 29);
    assert_int_equal(block.header.SystemTime.wMilliseconds, 789);
    assert_int_equal(block.header.PerfTime.QuadPart, 1000000000);
    assert_int_equal(block.header.PerfFreq.QuadPart, 10000000);
    assert_int_equal(block.header.PerfTime100nSec.QuadPart, 133536836967890000);
    assert_int_equal(opl_block_system_name(&block, NULL, 0), 9);
    assert_int_equal(opl_block_system_name(&block, name, sizeof(name)), 9);
    assert_string_equal(name, "OPL-TEST");
    assert_int_equal(opl_block_system_name(&block, name, 4), 9);
    assert_string_equal(name, "OPL");
    golden_done(&golden);
}

static void c13_an_object_says_what_it_has(void **state)
{
    struct golden golden;
    opl_block block;
    golden_open("codepage1251.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    assert_int_equal(object.type.ObjectNameTitleIndex, 1848);
    assert_int_equal(object.type.ObjectHelpTitleIndex, 1849);
    assert_int_equal(object.type.NumCounters, 2);
    assert_int_equal(object.type.NumInstances, 3);
    assert_int_equal(object.type.CodePage, 1251);
    golden_done(&golden);
}

static void c14_a_counter_says_what_it_is(void **state)
{
    struct golden golden;
    opl_block block;
    golden_open("hello.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    PERF_COUNTER_DEFINITION text = counter_at(&block, &object, 0).definition;
    assert_int_equal(text.CounterNameTitleIndex, 1850);
    assert_int_equal(text.CounterHelpTitleIndex, 1851);
    assert_int_equal(text.CounterType, PERF_COUNTER_TEXT);
    assert_int_equal(text.CounterSize, 28);
    assert_int_equal(text.CounterOffset, 4);
    golden_done(&golden);
}

static void c17_parent_and_unique_id(void **state)
{
    struct golden golden;
    opl_block block;
    opl_object_view object = {.offset = 7};
    opl_instance_view parent = {.offset = 7};
    golden_open("parents.hex", &golden, &block);
    opl_object_view threads = object_at(&block, 1);
    for (uint32_t i = 0; i < 5; i++) {
        opl_instance_view thread = instance_at(&block, &threads, i);
        bool has_parent = opl_instance_parent(&block, &thread, &object, &parent);
        assert_int_equal(thread.definition.UniqueID, PERF_NO_UNIQUE_ID);
        assert_int_equal(has_parent, i < 2);
        if (i < 2) {
            assert_int_equal(parent.position, i);
            assert_int_equal(object.position, 0);
        }
    }
    /* `parent` keeps its value if an instance has no parent */
    assert_int_equal(parent.position, 1);
    assert_int_equal(block.fault, OPL_BLOCK_GOOD);
    golden_done(&golden);
}

static void c18_threads_belong_to_processes(void **state)
{
    struct golden golden;
    opl_block block;
    opl_object_view object;
    opl_instance_view parent;
    golden_open("parents.hex", &golden, &block);
    opl_object_view threads = object_at(&block, 1);
    opl_instance_view second = instance_at(&block, &threads, 1);
    ASSERT_NAME(&block, &threads, &second, "0");
    assert_true(opl_instance_parent(&block, &second, &object, &parent));
    assert_int_equal(object.type.ObjectNameTitleIndex, 230);
    ASSERT_NAME(&block, &object, &parent, "init");
    golden_done(&golden);
}

static void an_instance_cannot_have_a_single_object_as_parent(void **state)
{
    struct golden golden;
    opl_block block;
    opl_object_view object;
    opl_instance_view parent;
    golden_open("several.hex", &golden, &block);
    opl_object_view instances = object_at(&block, 1);
    opl_instance_view child = instance_at(&block, &instances, 0);
    child.definition.ParentObjectTitleIndex = 1848;
    assert_false(opl_instance_parent(&block, &child, &object, &parent));
    golden_done(&golden);
}

static void c19_unique_ids_are_decimal_names(void **state)
{
    static const char *const names[] = {"0", "42", "named", "2147483647", "-2", NULL};
    assert_names("unique_id.hex", names);
}

static void c20_names_in_a_code_page(void **state)
{
    static const char *const cyrillic[] = {"Процесс", "plain", "Ёж", NULL};
    static const char *const utf8[] = {"Größe €", "x\xEF\xBF\xBDy", NULL};
    static const char *const unknown[] = {"a\xEF\xBF\xBD"
                                          "b",
                                          NULL};
    assert_names("codepage1251.hex", cyrillic);
    assert_names("codepage65001.hex", utf8);
    assert_names("codepage_unknown.hex", unknown);
}

static void names_with_and_without_terminator(void **state)
{
    static const char *const names[] = {"with", "without", "", "cut", "odd", NULL};
    assert_names("name_lengths.hex", names);
}

static void c114_the_next_instance_is_behind_the_block(void **state)
{
    struct golden golden;
    opl_block block;
    opl_instance_view instance = {0};
    golden_open("windows/s00-5-Process.perf", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    size_t next = object.offset + object.type.DefinitionLength;
    while (opl_object_next_instance(&block, &object, &instance)) {
        assert_int_equal(instance.offset, next);
        next += instance.definition.ByteLength + instance.counters_size;
    }
    assert_int_equal(next, golden.size);
    golden_done(&golden);
}

static void objects_without_instances_have_no_data(void **state)
{
    struct golden golden;
    struct everything found;
    golden_load("no_instances.hex", &golden);
    walk_everything(golden.data, golden.size, &found);
    assert_int_equal(found.objects, 2);
    assert_int_equal(found.instances, 1);
    golden_done(&golden);
    golden_load("metadata.hex", &golden);
    walk_everything(golden.data, golden.size, &found);
    assert_int_equal(found.objects, 2);
    assert_int_equal(found.counters, 2);
    assert_int_equal(found.instances, 0);
    assert_int_equal(found.fault, OPL_BLOCK_GOOD);
    golden_done(&golden);
}

static void a_block_of_the_other_byte_order(void **state)
{
    struct golden golden;
    opl_block block;
    char name[16];
    golden_open("big_endian.hex", &golden, &block);
    assert_true(block.swapped);
    assert_memory_equal(block.header.Signature, u"PERF", 8);
    assert_int_equal(block.header.SystemTime.wYear, 2024);
    assert_int_equal(block.header.PerfTime100nSec.QuadPart, 133536836967890000);
    assert_int_equal(opl_block_system_name(&block, name, sizeof(name)), 6);
    assert_string_equal(name, "SPARC");
    opl_object_view object = object_at(&block, 0);
    assert_int_equal(object.type.PerfTime.QuadPart, -2);
    assert_int_equal(object.type.PerfFreq.QuadPart, 1000);
    opl_instance_view second = instance_at(&block, &object, 1);
    ASSERT_NAME(&block, &object, &second, "zwölf");
    assert_int_equal(second.definition.ParentObjectTitleIndex, 1848);
    golden_done(&golden);
}

static void fewer_objects_than_announced(void **state)
{
    struct golden golden;
    opl_block block;
    opl_object_view object;
    golden_open("truncated.hex", &golden, &block);
    assert_int_equal(object_at(&block, 1).type.ObjectNameTitleIndex, 1852);
    assert_int_equal(block.fault, OPL_BLOCK_GOOD);
    assert_false(opl_block_find_object(&block, 1, &object));
    assert_int_equal(block.fault, OPL_BLOCK_TRUNCATED);
    assert_int_equal(block.fault_offset, golden.size);
    golden_done(&golden);
}

static void an_object_is_found_by_its_index(void **state)
{
    struct golden golden;
    opl_block block;
    opl_object_view object = {.offset = 1};
    golden_open("several.hex", &golden, &block);
    assert_true(opl_block_find_object(&block, 1852, &object));
    assert_int_equal(object.position, 1);
    assert_false(opl_block_find_object(&block, 1850, &object));
    assert_int_equal(object.position, 1);
    golden_done(&golden);
}

static void texts_are_cut_between_characters(void **state)
{
    struct golden golden;
    opl_block block;
    char name[8];
    golden_open("codepage1251.hex", &golden, &block);
    opl_object_view object = object_at(&block, 0);
    opl_instance_view instance = instance_at(&block, &object, 0);
    static const size_t kept[] = {0, 0, 0, 2, 2, 4, 4, 6};
    for (size_t capacity = 1; capacity <= 7; capacity++) {
        memset(name, '?', sizeof(name));
        assert_int_equal(opl_instance_name(&block, &object, &instance, name, capacity), 15);
        assert_int_equal(strlen(name), kept[capacity]);
        assert_int_equal(name[capacity], '?');
    }
    golden_done(&golden);
}

static void an_odd_address_changes_nothing(void **state)
{
    for (const char *const *name = golden_names; *name; name++) {
        struct golden even, odd;
        struct everything of_even, of_odd;
        golden_load(*name, &even);
        golden_load_odd(*name, &odd);
        walk_everything(even.data, even.size, &of_even);
        walk_everything(odd.data, odd.size, &of_odd);
        assert_memory_equal(&of_even, &of_odd, sizeof(of_odd));
        golden_done(&even);
        golden_done(&odd);
    }
}

/* ---- at which offset damage is reported ---- */

struct damage {
    size_t field;
    uint32_t value;
    opl_block_fault fault;
    size_t where;
};

static void assert_damage(const char *name, const struct damage *damage)
{
    struct golden golden;
    opl_block block;
    opl_object_view object = {0};
    golden_load(name, &golden);
    golden_set(&golden, damage->field, damage->value);
    opl_block_init(&block, golden.data, golden.size);
    while (opl_block_next_object(&block, &object)) {
        opl_counter_view counter = {0};
        opl_instance_view instance = {0};
        while (opl_object_next_counter(&block, &object, &counter))
            continue;
        while (opl_object_next_instance(&block, &object, &instance))
            continue;
    }
    if (block.fault != damage->fault || block.fault_offset != damage->where)
        fail_msg("%s: %u at %zu gives \"%s\" at %zu", name, damage->value, damage->field,
                 opl_block_fault_text(block.fault), block.fault_offset);
    golden_done(&golden);
}

static void damage_of_the_header(void **state)
{
    static const struct damage damages[] = {
        {0,  0x00450051, OPL_BLOCK_SIGNATURE, 0  }, /* "QERF" */
        {4,  0x00470052, OPL_BLOCK_SIGNATURE, 0  }, /* "PERG" */
        {8,  0,          OPL_BLOCK_SIGNATURE, 0  },
        {8,  2,          OPL_BLOCK_SIGNATURE, 0  },
        {8,  0x01000000, OPL_BLOCK_SIGNATURE, 0  },
        {12, 0,          OPL_BLOCK_GOOD,      0  },
        {12, 2,          OPL_BLOCK_VERSION,   0  },
        {16, 77,         OPL_BLOCK_GOOD,      0  },
        {20, 297,        OPL_BLOCK_HEADER,    0  },
        {20, 295,        OPL_BLOCK_OBJECT,    112},
        {20, 111,        OPL_BLOCK_HEADER,    0  },
        {20, 112,        OPL_BLOCK_TRUNCATED, 112},
        {24, 87,         OPL_BLOCK_HEADER,    0  },
        {24, 88,         OPL_BLOCK_OBJECT,    88 },
        {24, 297,        OPL_BLOCK_HEADER,    0  },
        {24, 296,        OPL_BLOCK_TRUNCATED, 296},
 /* at offset 233 only 63 bytes are left, too few for an object */
        {24, 233,        OPL_BLOCK_OBJECT,    233},
        {28, 0,          OPL_BLOCK_GOOD,      0  },
        {28, 2,          OPL_BLOCK_TRUNCATED, 296},
        {28, UINT32_MAX, OPL_BLOCK_TRUNCATED, 296},
        {80, 208,        OPL_BLOCK_GOOD,      0  },
        {80, 209,        OPL_BLOCK_HEADER,    0  },
        {84, 278,        OPL_BLOCK_GOOD,      0  },
        {84, 279,        OPL_BLOCK_HEADER,    0  },
        {84, UINT32_MAX, OPL_BLOCK_HEADER,    0  },
    };
    for (size_t i = 0; i < COUNT(damages); i++)
        assert_damage("hello.hex", &damages[i]);
}

static void damage_of_an_object(void **state)
{
    static const struct damage damages[] = {
        {112, 63,             OPL_BLOCK_OBJECT,   112}, /* TotalByteLength */
        {112, 185,            OPL_BLOCK_OBJECT,   112},
        {112, 180,            OPL_BLOCK_GOOD,     0  },
        {112, 179,            OPL_BLOCK_COUNTERS, 256},
        {112, 147,            OPL_BLOCK_COUNTERS, 256},
        {116, 143,            OPL_BLOCK_OBJECT,   112}, /* DefinitionLength */
        {116, 184,            OPL_BLOCK_COUNTERS, 296},
        {116, 185,            OPL_BLOCK_OBJECT,   112},
        {120, 63,             OPL_BLOCK_OBJECT,   112}, /* HeaderLength */
        {120, 65,             OPL_BLOCK_OBJECT,   112},
        {120, 145,            OPL_BLOCK_OBJECT,   112},
        {144, 0,              OPL_BLOCK_GOOD,     0  }, /* NumCounters */
        {144, 3,              OPL_BLOCK_OBJECT,   112},
        {144, UINT32_MAX,     OPL_BLOCK_OBJECT,   112},
 /* times 40, the size of a counter definition, this overflows 32 bits and leaves 24 */
        {144, 0x06666667,     OPL_BLOCK_OBJECT,   112},
        {152, 0,              OPL_BLOCK_GOOD,     0  }, /* NumInstances */
        {152, (uint32_t)-2,   OPL_BLOCK_GOOD,     0  },
        {152, (uint32_t)-3,   OPL_BLOCK_GOOD,     0  },
        {152, (uint32_t)-4,   OPL_BLOCK_OBJECT,   112},
        {152, 0x80000000,     OPL_BLOCK_OBJECT,   112},
        {152, 1,              OPL_BLOCK_INSTANCE, 256},
        {152, 2,              OPL_BLOCK_OBJECT,   112},
        {152, INT32_MAX - 56, OPL_BLOCK_OBJECT,   112},
    };
    for (size_t i = 0; i < COUNT(damages); i++)
        assert_damage("hello.hex", &damages[i]);
}

static void damage_of_definitions_and_counter_block(void **state)
{
    static const struct damage damages[] = {
        {176, 0,          OPL_BLOCK_DEFINITION, 176}, /* ByteLength */
        {176, 39,         OPL_BLOCK_DEFINITION, 176},
        {176, 80,         OPL_BLOCK_DEFINITION, 256},
        {176, 81,         OPL_BLOCK_DEFINITION, 176},
        {216, 41,         OPL_BLOCK_DEFINITION, 216},
        {208, INT32_MAX,  OPL_BLOCK_GOOD,       0  }, /* CounterSize */
        {208, 0x80000000, OPL_BLOCK_DEFINITION, 176},
        {212, INT32_MAX,  OPL_BLOCK_GOOD,       0  }, /* CounterOffset */
        {212, 0x80000000, OPL_BLOCK_DEFINITION, 176},
        {256, 3,          OPL_BLOCK_COUNTERS,   256}, /* the counter block's ByteLength */
        {256, 4,          OPL_BLOCK_GOOD,       0  },
        {256, 40,         OPL_BLOCK_GOOD,       0  },
        {256, 41,         OPL_BLOCK_COUNTERS,   256},
        {256, UINT32_MAX, OPL_BLOCK_COUNTERS,   256},
    };
    for (size_t i = 0; i < COUNT(damages); i++)
        assert_damage("hello.hex", &damages[i]);
}

/* Damages the last instance of unique_id.hex, which has 24 bytes, no name, and a counter block of 8
 * bytes. */
static void damage_of_an_instance(void **state)
{
    const size_t at = 408 - 32;
    const struct damage damages[] = {
        {at,      0,          OPL_BLOCK_INSTANCE, at     }, /* ByteLength */
        {at,      23,         OPL_BLOCK_INSTANCE, at     },
 /* the instance now ends 4 bytes later, so the value 5 is read as the length of the counter
  * block */
        {at,      28,         OPL_BLOCK_COUNTERS, at + 28},
        {at,      32,         OPL_BLOCK_COUNTERS, at + 32},
        {at,      33,         OPL_BLOCK_INSTANCE, at     },
        {at + 16, 25,         OPL_BLOCK_INSTANCE, at     }, /* NameOffset */
        {at + 16, 0,          OPL_BLOCK_GOOD,     0      },
        {at + 16, UINT32_MAX, OPL_BLOCK_INSTANCE, at     },
        {at + 20, 1,          OPL_BLOCK_INSTANCE, at     }, /* NameLength */
        {at + 20, UINT32_MAX, OPL_BLOCK_INSTANCE, at     },
        {at + 24, 9,          OPL_BLOCK_COUNTERS, at + 24},
        {at + 24, 0,          OPL_BLOCK_COUNTERS, at + 24},
    };
    for (size_t i = 0; i < COUNT(damages); i++)
        assert_damage("unique_id.hex", &damages[i]);
    assert_damage("minus_four.hex", &(struct damage){16, 1, OPL_BLOCK_OBJECT, 224});
}

static void too_short_for_a_header(void **state)
{
    struct golden golden;
    opl_block block;
    char name[4] = "abc";
    opl_object_view object = {0};
    golden_load("empty.hex", &golden);
    assert_int_equal(opl_block_init(&block, golden.data, 87), OPL_BLOCK_SHORT);
    assert_int_equal(opl_block_init(&block, NULL, 0), OPL_BLOCK_SHORT);
    assert_int_equal(block.fault, OPL_BLOCK_SHORT);
    assert_false(opl_block_next_object(&block, &object));
    assert_int_equal(opl_block_system_name(&block, name, sizeof(name)), 1);
    assert_string_equal(name, "");
    assert_int_equal(opl_block_init(&block, golden.data, golden.size), OPL_BLOCK_GOOD);
    assert_false(opl_block_next_object(&block, &object));
    assert_int_equal(block.fault, OPL_BLOCK_GOOD);
    golden_done(&golden);
}

static void a_name_of_no_length_may_lie_anywhere(void **state)
{
    struct golden golden;
    opl_block block;
    golden_load("hello.hex", &golden);
    golden_set(&golden, 80, 0);
    golden_set(&golden, 84, UINT32_MAX);
    assert_int_equal(opl_block_init(&block, golden.data, golden.size), OPL_BLOCK_GOOD);
    assert_int_equal(opl_block_system_name(&block, NULL, 0), 1);
    golden_done(&golden);
}

static void every_fault_has_a_text(void **state)
{
    for (int fault = OPL_BLOCK_GOOD; fault <= OPL_BLOCK_TRUNCATED; fault++) {
        const char *text = opl_block_fault_text((opl_block_fault)fault);
        assert_string_not_equal(text, "unknown fault");
        for (int other = 0; other < fault; other++)
            assert_string_not_equal(text, opl_block_fault_text((opl_block_fault)other));
    }
    assert_string_equal(opl_block_fault_text((opl_block_fault)99), "unknown fault");
    assert_string_equal(opl_block_fault_text((opl_block_fault)-1), "unknown fault");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c4_the_header_leads_to_the_first_object),
        cmocka_unit_test(c5_objects_follow_each_other),
        cmocka_unit_test(c6_single_objects_and_objects_with_instances),
        cmocka_unit_test(c7_a_single_object_has_one_nameless_block),
        cmocka_unit_test(c8_definitions_step_by_their_length),
        cmocka_unit_test(c9_values_of_a_single_object_lie_behind_its_definitions),
        cmocka_unit_test(c10_instances_are_pairs_of_definition_and_block),
        cmocka_unit_test(c12_the_header_names_time_and_system),
        cmocka_unit_test(c13_an_object_says_what_it_has),
        cmocka_unit_test(c14_a_counter_says_what_it_is),
        cmocka_unit_test(c17_parent_and_unique_id),
        cmocka_unit_test(c18_threads_belong_to_processes),
        cmocka_unit_test(an_instance_cannot_have_a_single_object_as_parent),
        cmocka_unit_test(c19_unique_ids_are_decimal_names),
        cmocka_unit_test(c20_names_in_a_code_page),
        cmocka_unit_test(names_with_and_without_terminator),
        cmocka_unit_test(c114_the_next_instance_is_behind_the_block),
        cmocka_unit_test(objects_without_instances_have_no_data),
        cmocka_unit_test(a_block_of_the_other_byte_order),
        cmocka_unit_test(fewer_objects_than_announced),
        cmocka_unit_test(an_object_is_found_by_its_index),
        cmocka_unit_test(texts_are_cut_between_characters),
        cmocka_unit_test(an_odd_address_changes_nothing),
        cmocka_unit_test(damage_of_the_header),
        cmocka_unit_test(damage_of_an_object),
        cmocka_unit_test(damage_of_definitions_and_counter_block),
        cmocka_unit_test(damage_of_an_instance),
        cmocka_unit_test(too_short_for_a_header),
        cmocka_unit_test(a_name_of_no_length_may_lie_anywhere),
        cmocka_unit_test(every_fault_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
