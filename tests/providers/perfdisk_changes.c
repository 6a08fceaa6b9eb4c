/* SPDX-License-Identifier: MIT */
/*
 * Disks and mounts change between two collections: times wrap around; devices are replaced, removed
 * and added; files are cut off anywhere or contain something else. The provider is linked with the
 * test and reads files of a folder that the test makes.
 */
#include "answer.h"

#include <ftw.h>
#include <sys/stat.h>

enum { PHYSICAL = 234, LOGICAL = 236 };

DWORD APIENTRY OpenDiskObject(LPWSTR devices);
DWORD APIENTRY CollectDiskObjectData(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD APIENTRY CloseDiskObject(void);

static const struct library perfdisk = {OpenDiskObject, CollectDiskObjectData, CloseDiskObject};
static char root[64];

static void run_query(void)
{
    assert_int_equal(library_query(&perfdisk, "234 236"), ERROR_SUCCESS);
    answer_begin();
}

static void put(const char *name, const void *text, size_t size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0755);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
}

static void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

/* Writes the line of a disk all of whose times are `ms` milliseconds. */
static void put_times(uint64_t ms)
{
    char text[512];
    snprintf(text, sizeof text, "8 0 sda 1 0 8 %llu 2 0 16 %llu 3 %llu %llu\n",
             (unsigned long long)ms, (unsigned long long)ms, (unsigned long long)ms,
             (unsigned long long)ms);
    put_text("proc/diskstats", text);
}

static void begin(void)
{
    CloseDiskObject();
    put_text("proc/self/mountinfo", "20 1 8:0 / / rw - ext4 /dev/sda rw\n");
    put_text("statfs", "1048576 100 60 50 /\n");
    put_times(1000);
    assert_int_equal(OpenDiskObject(NULL), ERROR_SUCCESS);
}

/* The kernel counts milliseconds in 32 bits, so a disk's time wraps around after 49.7 days of
 * reading (with 32 requests at once, after two days). */
static void times_go_on_where_they_wrap_around(void **state)
{
    static const unsigned times[] = {202, 204, 1400, 1402, 1404, 208, 210};
    uint64_t before[7];
    begin();
    put_times(UINT32_MAX - 500);
    CloseDiskObject();
    assert_int_equal(OpenDiskObject(NULL), ERROR_SUCCESS);
    run_query();
    for (int i = 0; i < 7; i++)
        before[i] = answer_number(PHYSICAL, "sda", times[i], false);
    assert_int_equal(before[0], (UINT32_MAX - 500ULL) * 10000);
    put_times(499);
    run_query();
    for (int i = 0; i < 7; i++)
        VALUE(PHYSICAL, "sda", times[i], before[i] + 1000 * 10000);
    put_times(1499);
    run_query();
    VALUE(PHYSICAL, "sda", 202, before[0] + 2000 * 10000);
}

static void a_kernel_with_more_bits_is_trusted(void **state)
{
    begin();
    put_times(5ULL << 32);
    run_query();
    VALUE(PHYSICAL, "sda", 202, (5ULL << 32) * 10000);
    put_times((5ULL << 32) + 7);
    run_query();
    VALUE(PHYSICAL, "sda", 202, ((5ULL << 32) + 7) * 10000);
}

/* If a time falls by a little, it did not wrap around: the name now belongs to another disk, whose
 * time begins again. */
static void a_small_fall_is_another_disk(void **state)
{
    begin();
    put_times(5000);
    run_query();
    VALUE(PHYSICAL, "sda", 202, 5000 * 10000);
    put_times(3);
    run_query();
    VALUE(PHYSICAL, "sda", 202, 3 * 10000);
}

/* The kernel rounds a disk's busy time to its ticks, so the busy time may be more than the time
 * that passed; the idle time then stays the same instead of falling. */
static void idle_time_never_goes_back(void **state)
{
    begin();
    run_query();
    uint64_t idle = answer_number(PHYSICAL, "sda", 1482, false);
    uint64_t now = answer_number(PHYSICAL, "sda", 1482, true);
    assert_int_equal(idle, now - 1000 * 10000);
    put_times(1000 + 3600000); /* an hour of work, although no time has passed */
    run_query();
    VALUE(PHYSICAL, "sda", 1482, idle);
    assert_true(answer_number(PHYSICAL, "sda", 1482, true) > now);
}

static void devices_go_and_come(void **state)
{
    begin();
    put_text("proc/diskstats", "8 0 sda 1 0 0 0 0 0 0 0 0 0 0\n8 1 sda1 2 0 0 0 0 0 0 0 0 0 0\n"
                               "8 16 sdb 3 0 0 0 0 0 0 0 0 0 0\n");
    run_query();
    assert_string_equal(answer_names(PHYSICAL), "sda,sdb,_Total,");
    put_text("proc/diskstats", "8 16 sdb 4 0 0 0 0 0 0 0 0 0 0\n");
    run_query();
    assert_string_equal(answer_names(PHYSICAL), "sdb,_Total,");
    VALUE(PHYSICAL, "sdb", 214, 4);
    VALUE(LOGICAL, "/", 214, 0); /* the device of "/" was removed */
    put_text("proc/diskstats", "8 16 sdb 5 0 0 0 0 0 0 0 0 0 0\n8 32 sdc 6 0 0 0 0 0 0 0 0 0 0\n"
                               "8 0 sda 7 0 0 0 0 0 0 0 0 0 0\n");
    run_query();
    assert_string_equal(answer_names(PHYSICAL), "sdb,sdc,sda,_Total,");
    VALUE(PHYSICAL, "sda", 214, 7);
    VALUE(LOGICAL, "/", 214, 7);
}

static void many_disks(void **state)
{
    static char text[1 << 18];
    size_t used = 0;
    begin();
    for (unsigned i = 0; i < 3000; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "8 %u vd%c%c%c %u 0 0 0 0 0 0 0 0 0 0\n", i, 'a' + i / 676 % 26,
                                 'a' + i / 26 % 26, 'a' + i % 26, i);
    put("proc/diskstats", text, used);
    run_query();
    VALUE(PHYSICAL, "vdaaa", 214, 0);
    VALUE(PHYSICAL, "vdelj", 214, 2999);
    VALUE(PHYSICAL, "_Total", 214, 2999 * 3000 / 2);
}

static void mounts_go_and_come(void **state)
{
    begin();
    put_text("statfs", "1048576 100 60 50 /\n1048576 200 20 10 /mnt\n");
    put_text("proc/self/mountinfo", "20 1 8:0 / / rw - ext4 /dev/sda rw\n"
                                    "21 20 8:1 / /mnt rw - ext4 /dev/sda1 rw\n");
    run_query();
    assert_string_equal(answer_names(LOGICAL), "/,/mnt,_Total,");
    VALUE(LOGICAL, "_Total", 410, 60);
    put_text("proc/self/mountinfo", "20 1 8:0 / / rw - ext4 /dev/sda rw\n");
    run_query();
    assert_string_equal(answer_names(LOGICAL), "/,_Total,");
}

/* ---- damage ---- */

static uint32_t random_number(void)
{
    static uint32_t seed = 20070813;
    seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
    return seed;
}

static void walk(void)
{
    opl_object_view object = {0};
    while (opl_block_next_object(&answer_block, &object)) {
        opl_instance_view instance = {0};
        while (opl_object_next_instance(&answer_block, &object, &instance)) {
            opl_counter_view counter = {0};
            uint64_t value;
            while (opl_object_next_counter(&answer_block, &object, &counter))
                assert_true(opl_counter_number(&answer_block, &instance, &counter, &value));
        }
    }
    assert_int_equal(answer_block.fault, OPL_BLOCK_GOOD);
}

static void damage_one(const char *name, unsigned char *content, size_t size)
{
    static const unsigned char bytes[] = "\n\0 :-9)/\xff\\C";
    for (size_t cut = 0; cut < size; cut += 1 + size / 40)
        put(name, content, cut), run_query(), walk();
    for (int round = 0; round < 60; round++) {
        unsigned char copy[8192];
        memcpy(copy, content, size);
        for (int k = 0; k < 8; k++)
            copy[random_number() % size] = bytes[random_number() % (sizeof bytes - 1)];
        put(name, copy, size), run_query(), walk();
        if (round % 10 == 0) {
            CloseDiskObject();
            assert_int_equal(OpenDiskObject(NULL), ERROR_SUCCESS);
        }
    }
}

static void damaged_files_are_read_safely(void **state)
{
    static const char *const files[] = {"proc/diskstats", "proc/self/mountinfo", "statfs"};
    static const char *const roots[] = {"laptop4", "oddnames"};
    unsigned char content[8192];
    begin();
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            char path[1024];
            snprintf(path, sizeof path, "%s/tests/roots/%s/%s", getenv("SOURCE_ROOT"), roots[i],
                     files[k]);
            FILE *file = fopen(path, "r");
            assert_non_null(file);
            size_t size = fread(content, 1, sizeof content, file);
            fclose(file);
            damage_one(files[k], content, size);
            put(files[k], content, size);
        }
    static unsigned char nines[65536];
    memset(nines, '9', sizeof nines);
    for (int k = 0; k < 3; k++)
        put(files[k], nines, sizeof nines), run_query(), walk();
}

static void files_that_go_away(void **state)
{
    char path[128];
    begin();
    snprintf(path, sizeof path, "%s/proc/diskstats", root);
    assert_int_equal(unlink(path), 0);
    run_query(), walk();
    CloseDiskObject();
    assert_int_equal(OpenDiskObject(NULL), ERROR_SUCCESS);
    run_query(), walk();
    assert_string_equal(answer_names(PHYSICAL), "no object");
    VALUE(LOGICAL, "/", 410, 50);
    assert_false(answer_has(LOGICAL, 214));
}

static int make_root(void **state)
{
    snprintf(root, sizeof root, "/tmp/opl-disks-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    return setenv("OPENPERFLIB_SYSROOT", root, 1);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    return remove(path);
}

static int remove_root(void **state)
{
    CloseDiskObject();
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_go_on_where_they_wrap_around),
        cmocka_unit_test(a_kernel_with_more_bits_is_trusted),
        cmocka_unit_test(a_small_fall_is_another_disk),
        cmocka_unit_test(idle_time_never_goes_back),
        cmocka_unit_test(devices_go_and_come),
        cmocka_unit_test(many_disks),
        cmocka_unit_test(mounts_go_and_come),
        cmocka_unit_test(damaged_files_are_read_safely),
        cmocka_unit_test(files_that_go_away),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
