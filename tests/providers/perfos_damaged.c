/* SPDX-License-Identifier: MIT */
/*
 * Kernel files that are cut off anywhere or contain something else: perfos.so reads nothing beyond
 * their end, and its answer is always a valid block. The files are damaged copies of those of
 * laptop4, a machine in tests/roots.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openperflib/block.h>
#include <winperf.h>
#include <winerror.h>

DWORD APIENTRY OpenOSObject(LPWSTR devices);
DWORD APIENTRY CollectOSObjectData(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD APIENTRY CloseOSObject(void);

static char root[64], original[1024];
static const char *const files[] = {"proc/stat",
                                    "proc/meminfo",
                                    "proc/vmstat",
                                    "proc/loadavg",
                                    "proc/softirqs",
                                    "proc/interrupts",
                                    "proc/swaps",
                                    "proc/sysvipc/sem",
                                    "sys/devices/system/cpu/cpu0/cpuidle/state0/name",
                                    "sys/devices/system/cpu/cpu0/cpuidle/state1/time",
                                    "sys/devices/system/cpu/cpu1/cpuidle/state1/time",
                                    "sys/devices/system/cpu/cpu3/cpuidle/state1/time"};
enum { FILES = sizeof files / sizeof *files, MOST_BYTES = 65536 };
static unsigned char content[MOST_BYTES];

static size_t read_original(const char *name)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", original, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(content, 1, sizeof content, file);
    fclose(file);
    return size;
}

static void write_copy(const char *name, size_t size)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0755);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    fclose(file);
}

/* Walks through everything in the answer. */
static void walk(void *data, size_t size, DWORD types)
{
    opl_block block;
    opl_object_view object = {0};
    DWORD objects = 0;
    assert_int_equal(opl_block_init(&block, data, size), OPL_BLOCK_GOOD);
    for (; opl_block_next_object(&block, &object); objects++) {
        opl_instance_view instance = {0};
        while (opl_object_next_instance(&block, &object, &instance)) {
            opl_counter_view counter = {0};
            uint64_t value;
            while (opl_object_next_counter(&block, &object, &counter))
                assert_true(opl_counter_number(&block, &instance, &counter, &value));
        }
    }
    assert_int_equal(block.fault, OPL_BLOCK_GOOD);
    assert_int_equal(objects, types);
}

static union {
    PERF_DATA_BLOCK header;
    unsigned char bytes[1 << 18];
} capacity;

static void run_query(bool reopen)
{
    static WCHAR global[] = {'G', 'l', 'o', 'b', 'a', 'l', 0};
    LPVOID data = capacity.bytes + sizeof capacity.header;
    DWORD types, bytes = sizeof capacity - sizeof capacity.header;
    if (reopen) {
        CloseOSObject();
        assert_int_equal(OpenOSObject(NULL), ERROR_SUCCESS);
    }
    assert_int_equal(CollectOSObjectData(global, &data, &bytes, &types), ERROR_SUCCESS);
    static const char signature[8] = {'P', 0, 'E', 0, 'R', 0, 'F', 0};
    memset(&capacity.header, 0, sizeof capacity.header);
    memcpy(capacity.header.Signature, signature, sizeof signature);
    capacity.header.LittleEndian = capacity.header.Version = 1;
    capacity.header.HeaderLength = sizeof capacity.header;
    capacity.header.TotalByteLength = (DWORD)sizeof capacity.header + bytes;
    capacity.header.NumObjectTypes = types;
    walk(&capacity, capacity.header.TotalByteLength, types);
}

/* Queries with a file that was damaged before Open, and with one damaged after Open. */
static void query_twice(const char *name, size_t size)
{
    write_copy(name, size);
    run_query(false);
    run_query(true);
}

static void files_cut_off(void **state)
{
    for (int i = 0; i < FILES; i++) {
        size_t size = read_original(files[i]);
        size_t step = size / 30 + 1;
        for (size_t cut = 0; cut < size; cut += step)
            query_twice(files[i], cut);
        for (size_t end = size; end > 0 && end + 12 > size; end--)
            query_twice(files[i], end);
        write_copy(files[i], size);
    }
}

static uint32_t random_number(void)
{
    static uint32_t seed = 20070813;
    seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
    return seed;
}

static void files_with_wrong_bytes(void **state)
{
    static const unsigned char bytes[] = "\n\0 :-9)/\xff\\C";
    for (int i = 0; i < FILES; i++)
        for (int round = 0; round < 30; round++) {
            size_t size = read_original(files[i]);
            for (int k = 0; k < 8; k++)
                content[random_number() % size] = bytes[random_number() % (sizeof bytes - 1)];
            query_twice(files[i], size);
        }
}

/* Numbers too long for 64 bits, and lines without an end. */
static void files_with_huge_things(void **state)
{
    for (int i = 0; i < FILES; i++) {
        memset(content, '9', sizeof content);
        query_twice(files[i], sizeof content);
        for (size_t k = 0; k < sizeof content; k += 4)
            memcpy(content + k, "CPU9", 4);
        query_twice(files[i], sizeof content);
        write_copy(files[i], read_original(files[i]));
    }
}

/* A heading that ends where a number should be: the reader must not take a number from the next
 * line. */
static void headings_without_numbers(void **state)
{
    static const char *const texts[] = {"CPU\n 24: 1 2\n", "CPU0 CPU\n\n\n7",
                                        "CPU \nCPU1\n 1:", "CPU"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int file = 4; file <= 5; file++) {
            memcpy(content, texts[i], strlen(texts[i]));
            query_twice(files[file], strlen(texts[i]));
            write_copy(files[file], read_original(files[file]));
        }
}

static void files_that_go_away(void **state)
{
    char path[2048];
    for (int i = 0; i < FILES; i++) {
        write_copy(files[i], read_original(files[i]));
        run_query(true);
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        assert_int_equal(unlink(path), 0);
        run_query(false);
        run_query(true);
        write_copy(files[i], read_original(files[i]));
    }
}

/* Returns % C1 Time of a processor; 0: there is no such instance. */
static uint64_t c1_time(const char *processor)
{
    opl_block block;
    opl_object_view object;
    opl_instance_view instance = {0};
    opl_counter_view counter = {0};
    uint64_t value = 0;
    char name[16];
    opl_block_init(&block, &capacity, capacity.header.TotalByteLength);
    assert_true(opl_block_find_object(&block, 238, &object));
    while (counter.definition.CounterNameTitleIndex != 1748)
        assert_true(opl_object_next_counter(&block, &object, &counter));
    while (opl_object_next_instance(&block, &object, &instance)) {
        opl_instance_name(&block, &object, &instance, name, sizeof name);
        if (strcmp(name, processor) == 0)
            opl_counter_number(&block, &instance, &counter, &value);
    }
    return value;
}

static void processors_go_and_come(void **state)
{
    static const char without_1[] = "cpu  2 2 2 2 2 2 2 2 2 2\ncpu0 1 1 1 1 1 1 1 1 1 1\n"
                                    "cpu3 1 1 1 1 1 1 1 1 1 1\nctxt 1\nbtime 1\nprocs_running 1\n";
    run_query(true);
    assert_int_equal(c1_time("1"), 10000010);
    assert_int_equal(c1_time("3"), 10000030);
    memcpy(content, without_1, sizeof without_1 - 1);
    write_copy("proc/stat", sizeof without_1 - 1);
    run_query(false);
    assert_int_equal(c1_time("1"), 0);
    assert_int_equal(c1_time("3"), 10000030); /* processor 3 is the second instance now */
    write_copy("proc/stat", read_original("proc/stat"));
    run_query(false);
    assert_int_equal(c1_time("1"), 10000010);
    assert_int_equal(c1_time("3"), 10000030);
}

static int begin(void **state)
{
    snprintf(original, sizeof original, "%s/tests/roots/laptop4", getenv("SOURCE_ROOT"));
    snprintf(root, sizeof root, "/tmp/opl-damaged-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    setenv("OPENPERFLIB_SYSROOT", root, 1);
    for (int i = 0; i < FILES; i++)
        write_copy(files[i], read_original(files[i]));
    return (int)OpenOSObject(NULL);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    return remove(path);
}

static int finish(void **state)
{
    CloseOSObject();
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_cut_off),          cmocka_unit_test(files_with_wrong_bytes),
        cmocka_unit_test(files_with_huge_things), cmocka_unit_test(headings_without_numbers),
        cmocka_unit_test(processors_go_and_come), cmocka_unit_test(files_that_go_away),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
