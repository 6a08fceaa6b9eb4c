/* SPDX-License-Identifier: MIT */
/*
 * After its first answer perfnet.so neither allocates nor opens anything. It survives a program
 * that closes all descriptors, and memory that runs out. It reads nothing beyond the end of files
 * that are cut off or contain something else. Linked statically, with malloc, calloc, realloc and
 * openat replaced by functions that count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openperflib/block.h>
#include <winperf.h>
#include <winerror.h>

#include "counted.h"

DWORD APIENTRY OpenTcpIpPerformanceData(LPWSTR devices);
DWORD APIENTRY CollectTcpIpPerformanceData(LPWSTR query, LPVOID *data, LPDWORD bytes,
                                           LPDWORD types);
DWORD APIENTRY CloseTcpIpPerformanceData(void);

/* ---- a copy of the frozen machine laptop4 (tests/roots) ---- */

static char root[64], original[1024];
static const char *const files[] = {"proc/net/dev",
                                    "proc/net/snmp",
                                    "proc/net/snmp6",
                                    "sys/class/net/enp0s31f6/speed",
                                    "sys/class/net/enp0s31f6/device/uevent",
                                    "sys/class/net/wlp2s0/speed",
                                    "sys/class/net/wlp2s0/device/uevent"};
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

static void write_text(const char *name, const char *text)
{
    memcpy(content, text, strlen(text));
    write_copy(name, strlen(text));
}

static void restore(const char *name)
{
    write_copy(name, read_original(name));
}

/* ---- queries ---- */

static union {
    PERF_DATA_BLOCK header;
    unsigned char bytes[1 << 22];
} capacity;
static WCHAR global[] = {'G', 'l', 'o', 'b', 'a', 'l', 0};

static DWORD collect(DWORD size, DWORD *ret_bytes, DWORD *ret_types)
{
    unsigned char *begin = capacity.bytes + sizeof capacity.header;
    LPVOID data = begin;
    *ret_bytes = size;
    *ret_types = 77;
    DWORD status = CollectTcpIpPerformanceData(global, &data, ret_bytes, ret_types);
    assert_ptr_equal(data, begin + *ret_bytes);
    return status;
}

/* Walks through everything in the answer. */
static void walk(DWORD types)
{
    opl_block block;
    opl_object_view object = {0};
    DWORD objects = 0;
    assert_int_equal(opl_block_init(&block, &capacity, capacity.header.TotalByteLength),
                     OPL_BLOCK_GOOD);
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

static void run_query(bool reopen)
{
    static const char signature[8] = {'P', 0, 'E', 0, 'R', 0, 'F', 0};
    DWORD bytes, types;
    if (reopen) {
        CloseTcpIpPerformanceData();
        assert_int_equal(OpenTcpIpPerformanceData(NULL), ERROR_SUCCESS);
    }
    assert_int_equal(collect(sizeof capacity - sizeof capacity.header, &bytes, &types),
                     ERROR_SUCCESS);
    memset(&capacity.header, 0, sizeof capacity.header);
    memcpy(capacity.header.Signature, signature, sizeof signature);
    capacity.header.LittleEndian = capacity.header.Version = 1;
    capacity.header.HeaderLength = sizeof capacity.header;
    capacity.header.TotalByteLength = (DWORD)sizeof capacity.header + bytes;
    capacity.header.NumObjectTypes = types;
    walk(types);
}

/* Returns a value of the instance at `position`; UINT64_MAX: there is none. */
static uint64_t number(DWORD object_index, DWORD position, DWORD index)
{
    opl_block block;
    opl_object_view object;
    opl_instance_view instance = {0};
    opl_counter_view counter = {0};
    uint64_t value = UINT64_MAX;
    opl_block_init(&block, &capacity, capacity.header.TotalByteLength);
    if (!opl_block_find_object(&block, object_index, &object))
        return UINT64_MAX;
    while (opl_object_next_counter(&block, &object, &counter))
        if (counter.definition.CounterNameTitleIndex == index)
            break;
    while (opl_object_next_instance(&block, &object, &instance))
        if (instance.position == position)
            opl_counter_number(&block, &instance, &counter, &value);
    return value;
}

/* ---- a steady query ---- */

static void no_allocation_and_no_open_in_a_steady_query(void **state)
{
    run_query(true);
    allocations = opens = 0;
    for (int i = 0; i < 20; i++)
        run_query(false);
    assert_int_equal(allocations, 0);
    assert_int_equal(opens, 0);
}

/* The same test with the files of this machine instead of the copy, in a child process that starts
 * before the library has read OPENPERFLIB_SYSROOT. */
static int live_status;

static void steady_on_this_machine(void)
{
    DWORD bytes, types;
    pid_t child = fork();
    if (child == 0) {
        if (OpenTcpIpPerformanceData(NULL) ||
            collect(sizeof capacity - sizeof capacity.header, &bytes, &types) || !types)
            _exit(1);
        allocations = opens = 0;
        for (int i = 0; i < 20; i++)
            if (collect(sizeof capacity - sizeof capacity.header, &bytes, &types))
                _exit(2);
        _exit(allocations || opens ? 3 : 0);
    }
    if (waitpid(child, &live_status, 0) != child)
        abort();
}

static void nor_on_this_machine(void **state)
{
    assert_int_equal(live_status, 0);
}

static void a_program_may_close_what_is_not_its_own(void **state)
{
    DWORD bytes, types, again;
    collect(sizeof capacity - sizeof capacity.header, &bytes, &types);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    assert_int_equal(collect(sizeof capacity - sizeof capacity.header, &again, &types),
                     ERROR_SUCCESS);
    assert_int_equal(again, bytes);
}

/* One allocation after the other fails: each time the provider returns an error, or an answer
 * without the data concerned, and nothing leaks. */
static void each_allocation_may_fail(void **state)
{
    DWORD status = ERROR_NOT_ENOUGH_MEMORY, bytes, types;
    assert_int_equal(CloseTcpIpPerformanceData(), ERROR_SUCCESS);
    for (unsigned n = 1; status; n++) {
        allocations = 0;
        failing = n;
        status = OpenTcpIpPerformanceData(NULL);
        if (!status) {
            status = collect(sizeof capacity - sizeof capacity.header, &bytes, &types);
            CloseTcpIpPerformanceData();
        }
        failing = 0;
        assert_true(status == ERROR_SUCCESS || status == ERROR_NOT_ENOUGH_MEMORY);
        assert_true(n < 5000);
        status = status || allocations >= n ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
    }
    assert_int_equal(OpenTcpIpPerformanceData(NULL), ERROR_SUCCESS);
}

/* ---- damaged files ---- */

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
        size_t step = size / 60 + 1;
        for (size_t cut = 0; cut < size; cut += step)
            query_twice(files[i], cut);
        restore(files[i]);
        run_query(true);
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
    static const unsigned char bytes[] = "\n\0 :-9./\xff\\T";
    for (int i = 0; i < FILES; i++) {
        for (int round = 0; round < 40; round++) {
            size_t size = read_original(files[i]);
            for (int k = 0; k < 8; k++)
                content[random_number() % size] = bytes[random_number() % (sizeof bytes - 1)];
            query_twice(files[i], size);
        }
        restore(files[i]);
    }
}

static void files_with_huge_things(void **state)
{
    for (int i = 0; i < FILES; i++) {
        memset(content, '9', sizeof content);
        query_twice(files[i], sizeof content);
        for (size_t k = 0; k < sizeof content; k += 8)
            memcpy(content + k, " eth9: 1", 8);
        query_twice(files[i], sizeof content);
        for (size_t k = 0; k < sizeof content; k += 8)
            memcpy(content + k, "Tcp: In\n", 8);
        query_twice(files[i], sizeof content);
        restore(files[i]);
    }
    run_query(true);
}

/* ---- files whose lines change ---- */

static void names_move_within_their_lines(void **state)
{
    run_query(true);
    assert_int_equal(number(638, 0, 642), 7);
    write_text("proc/net/snmp", "Ip: A\nIp: 1\nTcp: CurrEstab InSegs\nTcp: 77 88\n");
    run_query(false);
    assert_int_equal(number(638, 0, 642), 77);
    assert_int_equal(number(638, 0, 652), 88);
    assert_int_equal(number(638, 0, 644), 0);
    write_text("proc/net/snmp", "Ip: A\nIp: 1\nTcp: CurrEstab InSegs\nTcp: 7 8\n");
    run_query(false);
    assert_int_equal(number(638, 0, 652), 8);
    write_text("proc/net/snmp", "Ip: A\nIp: 1\nTcp: InSegs CurrEstab\nTcp: 5 6\n");
    run_query(false); /* a line of the same length, with the names in another order */
    assert_int_equal(number(638, 0, 642), 6);
    assert_int_equal(number(638, 0, 652), 5);
    write_text("proc/net/snmp", "Tcp: InSegs CurrEstab\nTcp: 5\nTcp: ActiveOpens\nUdp: 9\n");
    run_query(false); /* one number is missing, and two lines are no pair of names and numbers */
    assert_int_equal(number(638, 0, 652), 5);
    assert_int_equal(number(638, 0, 642), 0);
    assert_int_equal(number(638, 0, 644), 0);
    restore("proc/net/snmp");
    run_query(false);
    assert_int_equal(number(638, 0, 642), 7);
}

static void interfaces_come_and_go(void **state)
{
    static const char line[] = "1\n2\n enp0s31f6: 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n";
    enum { BYTES = 264, BANDWIDTH = 520 };
    restore("proc/net/dev");
    run_query(true);
    assert_int_equal(number(510, 1, BANDWIDTH), 1000000000);
    assert_int_equal(number(1820, 0, BYTES), 1001);
    write_text("proc/net/dev", line);
    run_query(false);
    assert_int_equal(number(510, 0, BYTES), 5);
    assert_int_equal(number(510, 0, BANDWIDTH), 1000000000);
    assert_int_equal(number(1820, 0, BYTES), 5);
    assert_int_equal(number(510, 1, BYTES), UINT64_MAX);
    write_text("sys/class/net/enp0s31f6/speed", "2500\n");
    run_query(false);
    assert_int_equal(number(510, 0, BANDWIDTH), 2500000000);
    restore("sys/class/net/enp0s31f6/speed");
    restore("proc/net/dev");
    run_query(false);
    assert_int_equal(number(510, 4, BYTES), 1004);
    assert_int_equal(number(1820, 1, BYTES), 1002);
}

static int begin(void **state)
{
    snprintf(original, sizeof original, "%s/tests/roots/laptop4", getenv("SOURCE_ROOT"));
    snprintf(root, sizeof root, "/tmp/opl-net-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    setenv("OPENPERFLIB_SYSROOT", root, 1);
    for (int i = 0; i < FILES; i++)
        restore(files[i]);
    /* the kernel has such a file for each interface */
    write_text("sys/class/net/lo/speed", "-1\n");
    write_text("sys/class/net/docker0/speed", "-1\n");
    write_text("sys/class/net/vethd3adb33/speed", "10000\n");
    return (int)OpenTcpIpPerformanceData(NULL);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    return remove(path);
}

static int finish(void **state)
{
    CloseTcpIpPerformanceData();
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_allocation_and_no_open_in_a_steady_query),
        cmocka_unit_test(nor_on_this_machine),
        cmocka_unit_test(a_program_may_close_what_is_not_its_own),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(files_cut_off),
        cmocka_unit_test(files_with_wrong_bytes),
        cmocka_unit_test(files_with_huge_things),
        cmocka_unit_test(names_move_within_their_lines),
        cmocka_unit_test(interfaces_come_and_go),
    };
    steady_on_this_machine();
    return cmocka_run_group_tests(tests, begin, finish);
}
