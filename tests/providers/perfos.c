/* SPDX-License-Identifier: MIT */
/*
 * perfos.so with the frozen machines (tests/roots: folders with files of proc and sys): every
 * number. The values of the generated machines follow rules in tests/roots/generate: for example,
 * number k of processor c in proc/stat is 1000 * k + c.
 */
#include "answer.h"

enum {
    SYSTEM = 2,
    MEMORY = 4,
    CACHE = 86,
    PROCESSOR = 238,
    OBJECTS = 260,
    PAGING_FILE = 700,
    NODE = 1814
};

static const uint64_t KIB = 1024, MILLION = 1000000;
static const uint64_t BOOT = (1600000000ULL + 11644473600ULL) * 10000000; /* btime as FILETIME */

static uint64_t page_kib(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE) / KIB;
}

static uint64_t tick(void)
{
    return 10000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void run_query(const char *root, const char *query)
{
    static const char *const perfos[] = {"perfos", "OpenOSObject", "CollectOSObjectData",
                                         "CloseOSObject"};
    query_root(perfos, root, query);
}

/* ---- the machine laptop4 ---- */

static void laptop_system(void **state)
{
    run_query("laptop4", "2");
    VALUE(SYSTEM, NULL, 146, 5000000000 % (1ULL << 32));
    VALUE(SYSTEM, NULL, 674, BOOT);
    VALUE(SYSTEM, NULL, 44, 7 - 3); /* seven threads run or wait, three processors are online */
    VALUE(SYSTEM, NULL, 248, 4);
    VALUE(SYSTEM, NULL, 250, 987);
    VALUE(SYSTEM, NULL, 101402, 50);
    VALUE(SYSTEM, NULL, 101404, 40);
    VALUE(SYSTEM, NULL, 101406, 30);
    BASE(SYSTEM, NULL, 101406, 10000);
    assert_false(answer_has(SYSTEM, 10));
    assert_false(answer_has(MEMORY, 28));
}

static void laptop_memory(void **state)
{
    run_query("laptop4", "4");
    VALUE(MEMORY, NULL, 28, 77); /* the file's value is 2^32 more, but the counter has 32 bits */
    VALUE(MEMORY, NULL, 24, 3000000 * KIB);
    VALUE(MEMORY, NULL, 26, 9000000 * KIB);
    VALUE(MEMORY, NULL, 30, 6000000 * KIB);
    VALUE(MEMORY, NULL, 40, 4000 / page_kib() + 50);
    VALUE(MEMORY, NULL, 822, 4000 / page_kib());
    VALUE(MEMORY, NULL, 42, 12345);
    VALUE(MEMORY, NULL, 48, 50);
    VALUE(MEMORY, NULL, 56, 200000 * KIB);
    VALUE(MEMORY, NULL, 58, 100000 * KIB);
    VALUE(MEMORY, NULL, 818, 900000 * KIB);
    VALUE(MEMORY, NULL, 66, 200000 * KIB);
    VALUE(MEMORY, NULL, 76, 700000 * KIB);
    VALUE(MEMORY, NULL, 1406, 9000000); /* 150 % of the limit is committed */
    BASE(MEMORY, NULL, 1406, 6000000);
    VALUE(MEMORY, NULL, 1380, 3000000);
    VALUE(MEMORY, NULL, 1382, 2929);
    VALUE(MEMORY, NULL, 824, 1234);
    VALUE(MEMORY, NULL, 1676, 1000000 * KIB);
    VALUE(MEMORY, NULL, 1678, 640 * KIB);
    VALUE(MEMORY, NULL, 1682, 600000 * KIB);
}

static void laptop_cache(void **state)
{
    run_query("laptop4", "86");
    VALUE(CACHE, NULL, 140, 55555);
    VALUE(CACHE, NULL, 1810, 160);
    VALUE(CACHE, NULL, 1812, 98765);
}

static void processor_values(const char *name, uint64_t cpu)
{
    VALUE(PROCESSOR, name, 6, (9000 + 2 * cpu) * tick());
    VALUE(PROCESSOR, name, 142, (3000 + 2 * cpu) * tick());
    VALUE(PROCESSOR, name, 144, (16000 + 3 * cpu) * tick());
    VALUE(PROCESSOR, name, 148, 280 + 8 * cpu);
    VALUE(PROCESSOR, name, 696, (7000 + cpu) * tick());
    VALUE(PROCESSOR, name, 698, (6000 + cpu) * tick());
    VALUE(PROCESSOR, name, 1334, 4500 + 10 * cpu);
    VALUE(PROCESSOR, name, 1746, (9000 + 2 * cpu) * tick());
}

static void processor_sleeps(const char *name, uint64_t cpu)
{
    VALUE(PROCESSOR, name, 1748, (1 * MILLION + cpu) * 10);
    VALUE(PROCESSOR, name, 1750, (2 * MILLION + cpu) * 10);
    VALUE(PROCESSOR, name, 1752, (7 * MILLION + 2 * cpu) * 10);
    VALUE(PROCESSOR, name, 1754, 100 + cpu);
    VALUE(PROCESSOR, name, 1756, 200 + cpu);
    VALUE(PROCESSOR, name, 1758, 700 + 2 * cpu);
}

static void laptop_processor(void **state)
{
    run_query("laptop4", "238");
    assert_string_equal(answer_names(PROCESSOR), "0,1,3,_Total,"); /* processor 2 is offline */
    processor_values("0", 0), processor_sleeps("0", 0);
    processor_values("1", 1), processor_sleeps("1", 1);
    processor_values("3", 3), processor_sleeps("3", 3);
}

static void laptop_processor_total(void **state)
{
    run_query("laptop4", "238");
    /* times in _Total are the mean of all processors */
    VALUE(PROCESSOR, "_Total", 6, (27000 + 8) * tick() / 3);
    VALUE(PROCESSOR, "_Total", 144, (48000 + 12) * tick() / 3);
    VALUE(PROCESSOR, "_Total", 1752, (21 * MILLION + 8) * 10 / 3);
    /* counts in _Total are the sum of all processors */
    VALUE(PROCESSOR, "_Total", 148, 3 * 280 + 8 * 4);
    VALUE(PROCESSOR, "_Total", 1334, 3 * 4500 + 10 * 4);
    VALUE(PROCESSOR, "_Total", 1754, 3 * 100 + 4);
}

static void laptop_objects_and_paging(void **state)
{
    run_query("laptop4", "260 700");
    VALUE(OBJECTS, NULL, 248, 4);
    VALUE(OBJECTS, NULL, 250, 987);
    VALUE(OBJECTS, NULL, 254, 3 + 4);
    assert_string_equal(answer_names(PAGING_FILE), "/dev/nvme0n1p3,/swapfile,_Total,");
    VALUE(PAGING_FILE, "/dev/nvme0n1p3", 702, 1000000);
    BASE(PAGING_FILE, "/dev/nvme0n1p3", 702, 4000000);
    VALUE(PAGING_FILE, "/swapfile", 702, 500000);
    BASE(PAGING_FILE, "/swapfile", 702, 2000000);
    VALUE(PAGING_FILE, "_Total", 702, 1500000);
    BASE(PAGING_FILE, "_Total", 702, 6000000);
}

/* ---- other machines ---- */

static void cpu128_processors(void **state)
{
    run_query("cpu128", "238");
    opl_object_view object;
    assert_true(answer_object(PROCESSOR, &object));
    assert_int_equal(object.type.NumInstances, 129);
    assert_int_equal(strncmp(answer_names(PROCESSOR), "0,1,2,3,4,5,6,7,8,9,10,11,", 26), 0);
    processor_values("0", 0);
    processor_values("64", 64);
    processor_values("127", 127);
    VALUE(PROCESSOR, "_Total", 6, (128 * 9000 + 127 * 128) * tick() / 128);
    VALUE(PROCESSOR, "_Total", 148, 128 * 280 + 8 * 127 * 64);
    for (unsigned index = 1748; index <= 1758; index += 2) /* this machine has no idle states */
        assert_false(answer_has(PROCESSOR, index));
}

static void cpu128_others(void **state)
{
    run_query("cpu128", "Global");
    VALUE(SYSTEM, NULL, 44, 200 - 128);
    VALUE(SYSTEM, NULL, 248, 2);
    VALUE(SYSTEM, NULL, 250, 3000);
    VALUE(MEMORY, NULL, 24, 18000000000 * KIB);
    /* both values are shifted until they fit into 32 bits */
    VALUE(MEMORY, NULL, 1406, 9000000000 >> 3);
    BASE(MEMORY, NULL, 1406, 18000000000 >> 3);
    assert_string_equal(answer_names(PAGING_FILE), "no object"); /* this machine has no swap area */
}

static void container_lacks_what_is_hidden(void **state)
{
    run_query("container", "Global");
    VALUE(SYSTEM, NULL, 146, 1000);
    VALUE(SYSTEM, NULL, 248, 3);
    VALUE(SYSTEM, NULL, 44, 0);
    VALUE(MEMORY, NULL, 24, 1800000 * KIB);
    static const unsigned absent[] = {28, 40, 822, 42, 48, 824, 26, 30, 1406, 56, 58, 818, 66};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (answer_has(MEMORY, absent[i]))
            fail_msg("%u is there", absent[i]);
    assert_string_equal(answer_names(CACHE), "no object");
    assert_string_equal(answer_names(PAGING_FILE), "no object");
    /* proc/interrupts of this machine is empty */
    assert_false(answer_has(PROCESSOR, 148));
    assert_false(answer_has(PROCESSOR, 1334));
    assert_false(answer_has(OBJECTS, 254));
    VALUE(PROCESSOR, "1", 6, 9002 * tick());
}

static void oddnames_swap_areas(void **state)
{
    run_query("oddnames", "Global");
    assert_string_equal(answer_names(PAGING_FILE),
                        "/my swap [old]_2_.img,/a_b_c,/gone [deleted],_Total,");
    VALUE(PAGING_FILE, "/my swap [old]_2_.img", 702, 100);
    VALUE(PAGING_FILE, "/a_b_c", 702, 200);
    VALUE(PAGING_FILE, "/gone [deleted]", 702, 300);
    BASE(PAGING_FILE, "_Total", 702, 3000);
    VALUE(SYSTEM, NULL, 248, 11);
}

static void old_kernel(void **state)
{
    run_query("old419", "Global");
    assert_string_equal(answer_names(PROCESSOR), "0,_Total,");
    processor_values("0", 0);
    VALUE(PROCESSOR, "_Total", 148,
          /* lines ERR and MIS, which have only one number, are not included */
          280);
    /* this kernel lacks two kinds of memory that newer ones count */
    VALUE(MEMORY, NULL, 824, 1200);
    VALUE(SYSTEM, NULL, 44, 4 - 1);
    assert_string_equal(answer_names(PAGING_FILE), "no object");
}

/* The machine vm2 was captured, not generated: the expected numbers were computed from its files by
 * awk. */
static void captured_machine(void **state)
{
    run_query("vm2", "Global");
    VALUE(SYSTEM, NULL, 146, 522540);
    VALUE(SYSTEM, NULL, 674, (1795277979ULL + 11644473600ULL) * 10000000);
    VALUE(SYSTEM, NULL, 44, 0);
    VALUE(SYSTEM, NULL, 248, 12);
    VALUE(SYSTEM, NULL, 250, 96);
    VALUE(MEMORY, NULL, 28, 4570264);
    VALUE(MEMORY, NULL, 24, 24262368 * KIB);
    VALUE(MEMORY, NULL, 822, 2735301 / page_kib());
    VALUE(MEMORY, NULL, 1406, 74432);
    BASE(MEMORY, NULL, 1406, 12342040);
    VALUE(CACHE, NULL, 1812, 1213506);
    VALUE(PROCESSOR, "0", 6, (134967 + 32) * tick());
    VALUE(PROCESSOR, "1", 144, (3464 + 95) * tick());
    VALUE(PROCESSOR, "0", 148, 99451);
    VALUE(PROCESSOR, "1", 148, 178186);
    VALUE(PROCESSOR, "_Total", 1334, 64890 + 150969);
    /* state 0 is POLL, which is no sleep; the first sleep is "haltpoll idle" */
    VALUE(PROCESSOR, "0", 1748, 1351128958ULL * 10);
    VALUE(PROCESSOR, "1", 1754, 123625);
    assert_false(answer_has(PROCESSOR, 1750));
    assert_string_equal(answer_names(PAGING_FILE), "no object");
    VALUE(OBJECTS, NULL, 254, 0);
}

/* ---- instances and definitions of the objects ---- */

static void shape(unsigned index, LONG default_counter, bool clock, LONG instances)
{
    opl_object_view object;
    assert_true(answer_object(index, &object));
    assert_int_equal(object.type.DefaultCounter, default_counter);
    assert_int_equal(object.type.PerfFreq.QuadPart, clock ? 10000000 : 0);
    assert_int_equal(object.type.PerfTime.QuadPart != 0, clock);
    assert_int_equal(object.type.NumInstances, instances);
    assert_int_equal(object.type.CodePage, 0);
    assert_int_equal(object.type.ObjectHelpTitleIndex, index + 1);
    assert_int_equal(object.type.TotalByteLength % 8, 0);
}

/* As in blocks recorded on Windows: only System has an object time of its own. */
static void objects_are_shaped_as_windows(void **state)
{
    run_query("laptop4", "Global");
    shape(SYSTEM, 0, true, PERF_NO_INSTANCES);
    /* the default counter is at position 4: Pages/sec */
    shape(MEMORY, 4, false, PERF_NO_INSTANCES);
    shape(CACHE, 0, false, PERF_NO_INSTANCES);
    shape(PROCESSOR, 0, false, 4);
    shape(OBJECTS, 0, false, PERF_NO_INSTANCES);
    shape(PAGING_FILE, 0, false, 3);
    shape(NODE, 3, false, 1);
    assert_int_equal(answer.header.NumObjectTypes, 7);
}

static void lists_bring_what_they_name(void **state)
{
    run_query("laptop4", "22222 4");
    assert_int_equal(answer.header.NumObjectTypes, 1);
    assert_true(answer_has(MEMORY, 28));
}

static void c116_unknown_and_foreign_bring_nothing(void **state)
{
    run_query("laptop4", "Costly");
    assert_int_equal(answer.header.NumObjectTypes, 0);
    run_query("laptop4", "Foreign elsewhere 2");
    assert_int_equal(answer.header.NumObjectTypes, 0);
    run_query("laptop4", "nonsense");
    assert_int_equal(answer.header.NumObjectTypes, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(laptop_system),
        cmocka_unit_test(laptop_memory),
        cmocka_unit_test(laptop_cache),
        cmocka_unit_test(laptop_processor),
        cmocka_unit_test(laptop_processor_total),
        cmocka_unit_test(laptop_objects_and_paging),
        cmocka_unit_test(cpu128_processors),
        cmocka_unit_test(cpu128_others),
        cmocka_unit_test(container_lacks_what_is_hidden),
        cmocka_unit_test(oddnames_swap_areas),
        cmocka_unit_test(old_kernel),
        cmocka_unit_test(captured_machine),
        cmocka_unit_test(objects_are_shaped_as_windows),
        cmocka_unit_test(lists_bring_what_they_name),
        cmocka_unit_test(c116_unknown_and_foreign_bring_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
