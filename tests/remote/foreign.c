/* SPDX-License-Identifier: MIT */
/* The query "Foreign NAME" asks local providers for the counters of the machine NAME: what any
 * provider may answer, and this project's own provider for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <openperflib/block.h>
#include <winperf.h>

#include "../experiments/lab.h"
#include "fake.h"

enum { SIZE = 1 << 20, STATUS_OBJECT = 109000 };
static BYTE data[SIZE];
static opl_block block;
static struct fake plain = {.name = "PLAIN", .base = 5000, .frequency = 3579545};
static struct fake turned = {.name = "TURNED", .base = 7000, .frequency = 1000, .turned = true};

static LSTATUS run_query(const char *query)
{
    DWORD size = SIZE, type = 0;
    memset(data, 0x5a, sizeof data);
    LSTATUS status = RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, &type, data, &size);
    if (status)
        return status;
    assert_int_equal(type, REG_BINARY);
    assert_int_equal(opl_block_init(&block, data, size), OPL_BLOCK_GOOD);
    assert_int_equal(block.size, size);
    return status;
}

static bool has(uint32_t object)
{
    opl_object_view view = {0};
    return opl_block_find_object(&block, object, &view);
}

/* Returns the value of the counter at position `counter` in the first instance with that name; -1:
 * there is none. */
static long long value(uint32_t index, const char *instance, uint32_t counter)
{
    opl_object_view object = {0};
    opl_instance_view found = {0};
    opl_counter_view view = {0};
    uint64_t number;
    char name[64];
    if (!opl_block_find_object(&block, index, &object))
        return -1;
    while (opl_object_next_instance(&block, &object, &found)) {
        opl_instance_name(&block, &object, &found, name, sizeof name);
        if (instance && strcmp(name, instance) != 0)
            continue;
        while (opl_object_next_counter(&block, &object, &view))
            if (view.definition.CounterNameTitleIndex == counter)
                return opl_counter_number(&block, &found, &view, &number) ? (long long)number : -1;
    }
    return -1;
}

/* ---- a provider of the test ---- */

static void register_foreigner(int isolation)
{
    lab_register(&(struct lab_service){.name = "Foreigner",
                                       .library = getenv("FOREIGNER"),
                                       .open = "OpenForeigner",
                                       .collect = "CollectForeigner",
                                       .close = "CloseForeigner",
                                       .isolation = isolation});
}

static void judge_foreigner(void)
{
    assert_int_equal(run_query("Foreign GOOD"), 0);
    assert_int_equal(block.header.NumObjectTypes, 1);
    assert_int_equal(block.header.SystemTime.wYear, 1995);
    assert_int_equal(value(22222, NULL, 6), 4711);
    assert_int_equal(run_query("foreign GOOD"), 0);
    assert_int_equal(block.header.SystemTime.wYear, 1995);
    assert_int_equal(run_query("Foreign OBJECTS"), 0);
    assert_int_equal(block.header.NumObjectTypes, 1);
    assert_true(block.header.SystemTime.wYear > 2000);
    assert_int_equal(value(22222, NULL, 6), 4711);
    assert_int_equal(run_query("Foreign NOWHERE"), 0);
    assert_int_equal(block.header.NumObjectTypes, 0);
    assert_true(block.header.SystemTime.wYear > 2000);
    DWORD size = 100;
    assert_int_equal(
        RegQueryValueExA(HKEY_PERFORMANCE_DATA, "Foreign GOOD", NULL, NULL, data, &size),
        ERROR_MORE_DATA);
}

/* docs/windows/articles.md#c121: a provider may answer with a whole block including its header (it
 * "constructs a PERF_DATA_BLOCK"), which is then the complete answer. */
static void c121_a_block_is_the_answer(void **state)
{
    register_foreigner(LAB_ISOLATED);
    judge_foreigner();
    register_foreigner(LAB_IN_PROCESS);
    judge_foreigner();
}

static void damaged_blocks_are_dropped(void **state)
{
    for (int isolation = 0; isolation < 2; isolation++) {
        register_foreigner(isolation);
        assert_int_equal(run_query("Foreign DAMAGED"), 0);
        assert_int_equal(block.header.NumObjectTypes, 0);
        assert_int_equal(run_query("Foreign LONG"), 0);
        assert_int_equal(block.header.NumObjectTypes, 0);
        RegCloseKey(HKEY_PERFORMANCE_DATA);
    }
    assert_true(lab_has_event("Foreigner", 1003));
}

/* A whole block is accepted as an answer only to a query for another machine. */
static void a_block_answers_no_other_query(void **state)
{
    register_foreigner(LAB_IN_PROCESS);
    assert_int_equal(run_query("Global"), 0);
    assert_true(block.header.SystemTime.wYear > 2000);
    assert_true(has(2));
    assert_false(has(22222));
    lab_unregister("Foreigner");
}

/* ---- this project's provider ---- */

static void c121_any_machine_that_can_be_reached(void **state)
{
    assert_int_equal(run_query("Foreign PLAIN"), 0);
    assert_int_equal(block.header.SystemTime.wYear, 2024); /* the machine's clock, not ours */
    assert_int_equal(block.header.PerfFreq.QuadPart, 3579545);
    assert_int_equal(value(5000, "two", 5002), 8);
    assert_int_equal(run_query("Foreign \\\\plain 5000 4"), 0);
    assert_int_equal(value(5000, "one", 5002), 7);
    assert_int_equal(run_query("Foreign TURNED"), 0);
    assert_true(block.swapped);
    assert_int_equal(value(7000, "two", 7002), 8);
}

/* Returns the present time of the system's clock, in 100 ns since 1601. */
static uint64_t now_100ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec + 11644473600) * 10000000 + (uint64_t)now.tv_nsec / 100;
}

static void its_status_object(void **state)
{
    const uint64_t second = 10000000;
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_int_equal(run_query("Global"), 0);
    /* the object was not requested, so its provider's process was not started */
    assert_false(has(STATUS_OBJECT));
    uint64_t before = now_100ns();
    assert_int_equal(run_query("Foreign PLAIN"), 0);
    uint64_t after = now_100ns();
    assert_int_equal(run_query("Foreign AWAY"), 0);
    assert_int_equal(block.header.NumObjectTypes, 0);
    assert_int_equal(run_query("Foreign NOSUCH"), 0);
    assert_int_equal(run_query("109000"), 0);
    assert_int_equal(value(STATUS_OBJECT, "PLAIN", 109002), 0);
    assert_int_equal(value(STATUS_OBJECT, "PLAIN", 109004), 1);
    assert_int_equal(value(STATUS_OBJECT, "PLAIN", 109006), 0);
    assert_true(value(STATUS_OBJECT, "PLAIN", 109008) > 300);
    assert_in_range(value(STATUS_OBJECT, "PLAIN", 109010), 0, (after - before) / 10000 + 1);
    assert_in_range(value(STATUS_OBJECT, "PLAIN", 109012), before - second, after + second);
    assert_int_equal(value(STATUS_OBJECT, "AWAY", 109002), RPC_S_SERVER_UNAVAILABLE);
    assert_int_equal(value(STATUS_OBJECT, "AWAY", 109006), 1);
    assert_int_equal(value(STATUS_OBJECT, "NOSUCH", 109002), ERROR_BAD_NETPATH);
    assert_int_equal(run_query("Global"), 0);
    assert_true(has(STATUS_OBJECT));
    assert_true(has(2));
}

/* The object's counters of times, with known values: a machine whose answers take 300 ms, and one
 * that has not answered for 200 ms. */
static void its_times(void **state)
{
    static const LONGLONG second = 10000000;
    plain.state->delay_ms = 300;
    assert_int_equal(run_query("Foreign PLAIN"), 0);
    plain.state->delay_ms = 0;
    usleep(200000);
    assert_int_equal(run_query("109000"), 0);
    assert_in_range(value(STATUS_OBJECT, "PLAIN", 109010), 300, 2000);
    LONGLONG since = value(STATUS_OBJECT, "PLAIN", 109012);
    LONGLONG now = block.header.PerfTime100nSec.QuadPart;
    assert_true(now - since >= second / 5);
    assert_true(now - since < 10 * second);
}

/* docs/windows/articles.md#c120: while a machine is unreachable, its last valid data is shown, and
 * its status counter says so; when it is back, it is reconnected without any action. */
static void c120_lost_and_found(void **state)
{
    plain.state->level = 100;
    assert_int_equal(run_query("Foreign PLAIN"), 0);
    LONGLONG time = block.header.PerfTime.QuadPart;
    fake_stop(&plain);
    assert_int_equal(run_query("Foreign PLAIN"), 0);
    assert_int_equal(block.header.PerfTime.QuadPart, time);
    assert_int_equal(value(5000, "one", 5002), 100);
    assert_int_equal(run_query("Foreign PLAIN 5000"),
                     0); /* another query, for which no earlier answer is kept */
    assert_int_equal(block.header.NumObjectTypes, 0);
    assert_int_equal(run_query("109000"), 0);
    assert_int_equal(value(STATUS_OBJECT, "PLAIN", 109002), RPC_S_SERVER_UNAVAILABLE);
    fake_start(&plain);
    for (int i = 0; i < 80; i++) {
        usleep(100000);
        assert_int_equal(run_query("Foreign PLAIN"), 0);
        if (block.header.PerfTime.QuadPart != time)
            break;
    }
    assert_int_equal(value(5000, "one", 5002), 7);
    assert_int_equal(run_query("109000"), 0);
    assert_int_equal(value(STATUS_OBJECT, "PLAIN", 109002), 0);
}

/* All queries use the same connection, also after the key was closed. */
static void the_connection_is_kept(void **state)
{
    int before = plain.state->connections;
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    for (int i = 0; i < 20; i++)
        assert_int_equal(run_query("Foreign PLAIN"), 0);
    assert_int_equal(plain.state->connections, before + 1);
}

/* Writes a script that replaces ssh, and records each start. */
static void make_shell(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/shell", lab_root);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\necho started >>'%s/starts'\nexec '%s' --stdio\n", lab_root,
            getenv("WINREGD"));
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
    lab_set_text("SOFTWARE\\openperflib\\Remote", "Shell", path);
}

/* The provider starts ssh from its helper process, which may start only some programs and whose
 * orphans are ended: ssh must be neither refused nor ended. */
static void c121_a_machine_by_ssh(void **state)
{
    enum { SYSTEM = 2 };
    make_shell();
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run_query("Foreign ssh://here 2"), 0);
        assert_int_equal(block.header.NumObjectTypes, 1);
        assert_true(has(SYSTEM));
        assert_int_equal(run_query("109000"), 0);
        assert_int_equal(value(STATUS_OBJECT, "ssh:__here", 109002), 0);
        /* an orphan (a process whose parent has ended) would be ended within a second */
        usleep(1500000);
    }
    char *starts = lab_read("starts");
    assert_string_equal(starts, "started\n");
    RegCloseKey(HKEY_PERFORMANCE_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c121_a_block_is_the_answer),
        cmocka_unit_test(damaged_blocks_are_dropped),
        cmocka_unit_test(a_block_answers_no_other_query),
        cmocka_unit_test(c121_any_machine_that_can_be_reached),
        cmocka_unit_test(its_status_object),
        cmocka_unit_test(its_times),
        cmocka_unit_test(c120_lost_and_found),
        cmocka_unit_test(the_connection_is_kept),
        cmocka_unit_test(c121_a_machine_by_ssh),
    };
    lab_open();
    lab_keep();
    /* "Smb" names no program, so unknown names are not searched in the network */
    lab_set_text("SOFTWARE\\openperflib\\Remote", "Smb", "/none");
    fake_start(&plain);
    fake_start(&turned);
    fake_absent("AWAY");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    fake_stop(&plain);
    fake_stop(&turned);
    lab_close();
    return failed;
}
