/* SPDX-License-Identifier: MIT */
/*
 * perfdisk.so with the frozen machines (tests/roots: folders with files of proc and sys): every
 * number, which instances exist and which do not, and definitions equal to those of Windows. Number
 * k of line n of proc/diskstats is 1000 * k + n (tests/roots/generate).
 */
#include "answer.h"

#include <errno.h>

enum { PHYSICAL = 234, LOGICAL = 236, SPACE = 101700 };

static const uint64_t MS = 10000;

static void run_query(const char *root, const char *query)
{
    static const char *const perfdisk[] = {"perfdisk", "OpenDiskObject", "CollectDiskObjectData",
                                           "CloseDiskObject"};
    query_root(perfdisk, root, query);
}

static void disk_counts(unsigned object, const char *name, uint64_t line)
{
    VALUE(object, name, 198, 9000 + line);
    VALUE(object, name, 212, 1000 + line + 5000 + line);
    VALUE(object, name, 214, 1000 + line);
    VALUE(object, name, 216, 5000 + line);
    VALUE(object, name, 218, (3000 + line + 7000 + line) * 512);
    VALUE(object, name, 220, (3000 + line) * 512);
    VALUE(object, name, 222, (7000 + line) * 512);
    VALUE(object, name, 224, (3000 + line + 7000 + line) * 512);
    BASE(object, name, 224, 1000 + line + 5000 + line);
    VALUE(object, name, 226, (3000 + line) * 512);
    BASE(object, name, 226, 1000 + line);
    VALUE(object, name, 228, (7000 + line) * 512);
    BASE(object, name, 228, 5000 + line);
}

static void disk_times(unsigned object, const char *name, uint64_t line)
{
    uint64_t now = answer_number(object, name, 200, true);
    VALUE(object, name, 200, (4000 + line + 8000 + line) * MS);
    VALUE(object, name, 1400, (11000 + line) * MS);
    VALUE(object, name, 202, (4000 + line) * MS);
    BASE(object, name, 202, now);
    VALUE(object, name, 1402, (4000 + line) * MS);
    VALUE(object, name, 204, (8000 + line) * MS);
    BASE(object, name, 204, now);
    VALUE(object, name, 1404, (8000 + line) * MS);
    VALUE(object, name, 206, (4000 + line + 8000 + line) * MS);
    BASE(object, name, 206, 1000 + line + 5000 + line);
    VALUE(object, name, 208, (4000 + line) * MS);
    BASE(object, name, 208, 1000 + line);
    VALUE(object, name, 210, (8000 + line) * MS);
    BASE(object, name, 210, 5000 + line);
    VALUE(object, name, 1482, now - (10000 + line) * MS);
    BASE(object, name, 1482, now);
}

static void disk_values(unsigned object, const char *name, uint64_t line)
{
    disk_counts(object, name, line);
    disk_times(object, name, line);
}

static void parent_is(const char *name, const char *parent)
{
    opl_object_view logical, physical;
    opl_instance_view child, disk;
    assert_true(answer_object(LOGICAL, &logical));
    assert_true(answer_instance(&logical, name, &child));
    if (!parent) {
        assert_int_equal(child.definition.ParentObjectTitleIndex, 0);
        assert_int_equal(child.definition.ParentObjectInstance, 0);
        return;
    }
    assert_true(answer_object(PHYSICAL, &physical));
    assert_true(answer_instance(&physical, parent, &disk));
    assert_int_equal(child.definition.ParentObjectTitleIndex, PHYSICAL);
    assert_int_equal(child.definition.ParentObjectInstance, disk.position);
}

/* ---- whole disks ---- */

static void laptop_disks(void **state)
{
    run_query("laptop4", "234");
    assert_int_equal(answer.header.NumObjectTypes, 1);
    assert_string_equal(answer_names(PHYSICAL), "nvme0n1,sda,_Total,");
    disk_values(PHYSICAL, "nvme0n1", 0);
    disk_values(PHYSICAL, "sda", 7);
}

/* As on Windows: in _Total, times are the mean of all disks, and all other values are sums. */
static void laptop_disk_totals(void **state)
{
    run_query("laptop4", "234");
    uint64_t now = answer_number(PHYSICAL, "sda", 200, true);
    VALUE(PHYSICAL, "_Total", 198, 9000 + 9007);
    VALUE(PHYSICAL, "_Total", 200, (12000 + 12014) * MS / 2);
    BASE(PHYSICAL, "_Total", 200, now);
    VALUE(PHYSICAL, "_Total", 202, (4000 + 4007) * MS / 2);
    VALUE(PHYSICAL, "_Total", 204, (8000 + 8007) * MS / 2);
    VALUE(PHYSICAL, "_Total", 1482, now - (10000 + 10007) * MS / 2);
    VALUE(PHYSICAL, "_Total", 1400, (11000 + 11007) * MS);
    VALUE(PHYSICAL, "_Total", 208, (4000 + 4007) * MS);
    BASE(PHYSICAL, "_Total", 208, 1000 + 1007);
    VALUE(PHYSICAL, "_Total", 218, (10000 + 10014) * 512);
}

static void disks_with_odd_names(void **state)
{
    run_query("oddnames", "234");
    assert_string_equal(answer_names(PHYSICAL), "cciss!c0d0,sda,sdb,mmcblk0,xvda1,_Total,");
    disk_values(PHYSICAL, "cciss!c0d0", 0);
    disk_values(PHYSICAL, "mmcblk0", 7);
    disk_values(PHYSICAL, "xvda1", 13);
}

/* This machine has no folder sys, so the names decide which devices are disks. */
static void disks_without_sys(void **state)
{
    run_query("cpu128", "234");
    assert_string_equal(answer_names(PHYSICAL), "sda,sdb,sdaa,_Total,");
    disk_values(PHYSICAL, "sdaa", 3);
}

static void disks_of_an_old_kernel(void **state)
{
    run_query("old419", "Global");
    assert_string_equal(answer_names(PHYSICAL), "sda,_Total,");
    disk_values(PHYSICAL, "sda", 0);
    disk_values(LOGICAL, "/", 1);
    VALUE(LOGICAL, "/", 410, 4);
    /* 5120 KiB in use, 4096 available; 1024 are reserved for the system */
    BASE(LOGICAL, "/", 408, 9);
    parent_is("/", "sda");
}

static void disks_of_a_small_board(void **state)
{
    run_query("board4", "Global");
    assert_string_equal(answer_names(PHYSICAL), "mmcblk0,_Total,");
    assert_string_equal(answer_names(LOGICAL), "/,/boot,_Total,");
    disk_values(LOGICAL, "/", 2);
    disk_values(LOGICAL, "/boot", 1);
    parent_is("/boot", "mmcblk0");
}

/* ---- file systems ---- */

static void laptop_file_systems(void **state)
{
    run_query("laptop4", "236");
    assert_string_equal(answer_names(LOGICAL),
                        "/,/boot,/boot/efi,/run/media/me/My Stick,/mnt/share,_Total,");
    /* mountinfo names btrfs' device luks-1234, which is dm-0 */
    disk_values(LOGICAL, "/", 5);
    disk_values(LOGICAL, "/boot", 2);
    disk_values(LOGICAL, "/boot/efi", 1);
    disk_values(LOGICAL, "/run/media/me/My Stick", 8);
    parent_is("/", "nvme0n1"); /* dm-0 consists of the partition nvme0n1p3 */
    parent_is("/boot", "nvme0n1");
    parent_is("/run/media/me/My Stick", "sda");
    parent_is("/mnt/share", NULL);
    parent_is("_Total", NULL);
}

static void laptop_free_space(void **state)
{
    run_query("laptop4", "236");
    VALUE(LOGICAL, "/", 410, 60000000ULL * 4096 >> 20);
    VALUE(LOGICAL, "/", 408, 60000000ULL * 4096 >> 20);
    BASE(LOGICAL, "/", 408, 100000000ULL * 4096 >> 20);
    VALUE(LOGICAL, "/boot", 408, 450000 >> 10);
    BASE(LOGICAL, "/boot", 408, (500000 + 450000) >> 10);
    VALUE(LOGICAL, "/run/media/me/My Stick", 408, 0);
    VALUE(LOGICAL, "_Total", 410, 234375 + 439 + 128 + 700);
    BASE(LOGICAL, "_Total", 408, 390625 + 927 + 256 + 31250 + 1000);
}

/* Queries Filesystem Space (101700) alone, and in one answer with LogicalDisk (236). */
static void laptop_used_space(void **state)
{
    static const char *const queries[] = {"101700", "101700 236", "Costly"};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        run_query("laptop4", queries[i]);
        assert_string_equal(answer_names(SPACE),
                            "/,/boot,/boot/efi,/run/media/me/My Stick,/mnt/share,_Total,");
        VALUE(SPACE, "/boot", 101702, 500000 >> 10);
        BASE(SPACE, "/boot", 101702, (500000 + 450000) >> 10);
        VALUE(SPACE, "/boot", 101704, 500000 >> 10);
        VALUE(SPACE, "/boot", 101706, 1000000 << 10);
        VALUE(SPACE, "/boot", 101708, 500000 << 10); /* 50,000 KiB more than available */
        VALUE(SPACE, "/mnt/share", 101704, 300);
        VALUE(SPACE, "_Total", 101702, 156250 + 488 + 128 + 31249 + 300);
        BASE(SPACE, "_Total", 101702, 390625 + 927 + 256 + 31250 + 1000);
        assert_string_equal(answer_names(LOGICAL),
                            strstr(queries[i], "236") ? answer_names(SPACE) : "no object");
    }
    run_query("laptop4", "Global");
    assert_string_equal(answer_names(SPACE), "no object");
}

/* Of a file system that another machine serves, only the free space is known; means do not include
 * it. */
static void what_another_machine_has_is_not_known(void **state)
{
    run_query("laptop4", "236");
    VALUE(LOGICAL, "/mnt/share", 410, 700);
    VALUE(LOGICAL, "/mnt/share", 214, 0);
    BASE(LOGICAL, "/mnt/share", 1482, 0);
    BASE(LOGICAL, "_Total", 1482, answer_number(LOGICAL, "/", 1482, true));
}

static void places_with_odd_names(void **state)
{
    run_query("oddnames", "236");
    assert_string_equal(answer_names(LOGICAL), "/,/data[old]_2_,/a_b_c,/twice,/below,_Total,");
    /* line 1 of diskstats: of two mounts at this place, the second counts */
    disk_values(LOGICAL, "/", 1);
    disk_values(LOGICAL, "/data[old]_2_", 6);
    disk_values(LOGICAL, "/a_b_c", 12);
    disk_values(LOGICAL, "/twice", 13);
    disk_values(LOGICAL, "/below", 5);
    VALUE(LOGICAL, "/a_b_c", 410, 5);
    BASE(LOGICAL, "/data[old]_2_", 408, 10);
    parent_is("/", "cciss!c0d0");
    parent_is("/data[old]_2_", NULL); /* its device is made of two disks, so it has no parent */
    parent_is("/a_b_c", "mmcblk0");
    parent_is("/twice", "xvda1");
}

/* This machine is a container without diskstats and sys: only its own root is shown, and of it only
 * the space. */
static void container_has_its_space(void **state)
{
    run_query("container", "Global");
    assert_int_equal(answer.header.NumObjectTypes, 1);
    assert_string_equal(answer_names(LOGICAL), "/,_Total,");
    VALUE(LOGICAL, "/", 410, 250000 * 4096 >> 20);
    BASE(LOGICAL, "/", 408, (700000ULL + 250000) * 4096 >> 20);
    opl_object_view object;
    assert_true(answer_object(LOGICAL, &object));
    assert_int_equal(object.type.NumCounters, 3);
    parent_is("/", NULL);
}

static void machines_without_both_have_no_object(void **state)
{
    run_query("vm2", "Global");
    assert_int_equal(answer.header.NumObjectTypes, 0);
}

/* docs/windows/queries.md#c7: an instance's parent must be in the same block, so a query for
 * logical disks also returns the physical disks. */
static void logical_disks_bring_their_parents(void **state)
{
    run_query("laptop4", "236");
    assert_int_equal(answer.header.NumObjectTypes, 2);
    run_query("laptop4", "234");
    assert_int_equal(answer.header.NumObjectTypes, 1);
    run_query("laptop4", "Costly");
    assert_int_equal(answer.header.NumObjectTypes, 1); /* only Filesystem Space, no disks */
    run_query("laptop4", "Foreign elsewhere 234");
    assert_int_equal(answer.header.NumObjectTypes, 0);
}

/* ---- definitions in blocks that Windows made ---- */

static unsigned char recorded[4096];

static void load_recorded(const char *file, opl_block *ret)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/golden/windows/%s", getenv("SOURCE_ROOT"), file);
    FILE *stream = fopen(path, "rb");
    if (!stream)
        fail_msg("%s: %s", path, strerror(errno));
    size_t size = fread(recorded, 1, sizeof recorded, stream);
    fclose(stream);
    assert_int_equal(opl_block_init(ret, recorded, size), OPL_BLOCK_GOOD);
}

/* Compares two definitions. Here a base has the same detail level as its counter; on Windows, the
 * base of % Idle Time has another level. */
static void same_definition(const PERF_COUNTER_DEFINITION *ours,
                            const PERF_COUNTER_DEFINITION *theirs)
{
    assert_int_equal(ours->ByteLength, theirs->ByteLength);
    assert_int_equal(ours->CounterNameTitleIndex, theirs->CounterNameTitleIndex);
    assert_int_equal(ours->CounterHelpTitleIndex, theirs->CounterHelpTitleIndex);
    assert_int_equal(ours->DefaultScale, theirs->DefaultScale);
    assert_int_equal(ours->CounterType, theirs->CounterType);
    assert_int_equal(ours->CounterSize, theirs->CounterSize);
    if (theirs->CounterType != PERF_LARGE_RAW_BASE)
        assert_int_equal(ours->DetailLevel, theirs->DetailLevel);
}

static void same_as_recorded(const char *file, unsigned index, unsigned count)
{
    opl_block block;
    opl_object_view ours, theirs = {0};
    opl_counter_view our = {0}, their = {0};
    run_query("laptop4", "Global");
    load_recorded(file, &block);
    assert_true(answer_object(index, &ours));
    assert_true(opl_block_next_object(&block, &theirs));
    assert_int_equal(ours.type.ObjectNameTitleIndex, theirs.type.ObjectNameTitleIndex);
    assert_int_equal(ours.type.ObjectHelpTitleIndex, theirs.type.ObjectHelpTitleIndex);
    assert_int_equal(ours.type.DetailLevel, theirs.type.DetailLevel);
    assert_int_equal(ours.type.NumCounters, count);
    /* Windows has one counter more, the last one: Split IO/Sec */
    assert_int_equal(theirs.type.NumCounters, count + 1);
    while (opl_object_next_counter(&answer_block, &ours, &our)) {
        assert_true(opl_object_next_counter(&block, &theirs, &their));
        same_definition(&our.definition, &their.definition);
    }
    assert_true(opl_object_next_counter(&block, &theirs, &their));
    assert_int_equal(their.definition.CounterNameTitleIndex, 1484);
}

static void definitions_are_windows(void **state)
{
    same_as_recorded("s00-4-PhysicalDisk.perf", PHYSICAL, 30);
    same_as_recorded("s00-0-LogicalDisk.perf", LOGICAL, 33);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(laptop_disks),
        cmocka_unit_test(laptop_disk_totals),
        cmocka_unit_test(disks_with_odd_names),
        cmocka_unit_test(disks_without_sys),
        cmocka_unit_test(disks_of_an_old_kernel),
        cmocka_unit_test(disks_of_a_small_board),
        cmocka_unit_test(laptop_file_systems),
        cmocka_unit_test(laptop_free_space),
        cmocka_unit_test(laptop_used_space),
        cmocka_unit_test(what_another_machine_has_is_not_known),
        cmocka_unit_test(places_with_odd_names),
        cmocka_unit_test(container_has_its_space),
        cmocka_unit_test(machines_without_both_have_no_object),
        cmocka_unit_test(logical_disks_bring_their_parents),
        cmocka_unit_test(definitions_are_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
