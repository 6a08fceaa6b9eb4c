/* SPDX-License-Identifier: MIT */
/*
 * A simulated machine that has, one after the other, the values that Windows sampled (golden/pdh-
 * vectors.tsv): a live query gives the same texts that Windows printed, through the public
 * functions. Its clocks have the frequency of the recording, 2,630,633 ticks a second.
 * (docs/windows/types.md#b3, docs/windows/types.md#b4)
 */
#include <openperflib/build.h>
#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "registry/registry.h"
#include "vectors.h"

enum { PROCESSOR_TIME = 5, COMMITTED = 6, FAULTS = 7, DISK_TIME = 8, DISK_QUEUE = 9, CARDS = 5 };
static size_t moment;

static const char titles[] = "1\0"
                             "1847\0"
                             "4\0Memory\0"
                             "6\0% Processor Time\0"
                             "36\0Cache Faults/sec\0"
                             "198\0Current Disk Queue Length\0"
                             "200\0% Disk Time\0"
                             "234\0PhysicalDisk\0"
                             "238\0Processor\0"
                             "388\0Bytes Total/sec\0"
                             "510\0Network Interface\0"
                             "1406\0% Committed Bytes In Use\0";

static ULONGLONG first_of(size_t column)
{
    return (ULONGLONG)vectors[moment][column].new_first;
}

static ULONGLONG second_of(size_t column)
{
    return (ULONGLONG)vectors[moment][column].new_second;
}

static opl_build_counter counter_of(DWORD name, size_t column)
{
    return (opl_build_counter){.name_index = name,
                               .help_index = name + 1,
                               .type = vectors[0][column].type,
                               .scale = vectors[0][column].scale,
                               .level = PERF_DETAIL_NOVICE};
}

/* Returns the definition of a base counter, which follows the counter that it belongs to. */
static opl_build_counter base_of(DWORD name, DWORD type)
{
    return (opl_build_counter){
        .name_index = name, .help_index = name + 1, .type = type, .level = PERF_DETAIL_NOVICE};
}

static void build_memory(opl_build *build)
{
    const opl_build_counter counters[] = {counter_of(1406, COMMITTED), base_of(1406, PERF_RAW_BASE),
                                          counter_of(36, FAULTS)};
    const opl_build_object_info info = {.name_index = 4, .help_index = 5, .single = true};
    opl_build_object(build, &info, counters, COUNT(counters));
    opl_build_dword(build, 0, (DWORD)first_of(COMMITTED));
    opl_build_dword(build, 1, (DWORD)second_of(COMMITTED));
    opl_build_dword(build, 2, (DWORD)first_of(FAULTS));
}

static void build_disk(opl_build *build)
{
    const opl_build_counter counters[] = {
        counter_of(200, DISK_TIME), base_of(200, PERF_LARGE_RAW_BASE), counter_of(198, DISK_QUEUE)};
    const opl_build_object_info info = {.name_index = 234, .help_index = 235};
    opl_build_object(build, &info, counters, COUNT(counters));
    opl_build_instance(build, "_Total");
    opl_build_large(build, 0, first_of(DISK_TIME));
    opl_build_large(build, 1, second_of(DISK_TIME));
    opl_build_dword(build, 2, (DWORD)first_of(DISK_QUEUE));
}

/* Writes NAME of a column's path "\network interface(NAME)\...". */
static void card_name(size_t column, char *ret, size_t capacity)
{
    const char *name = strchr(vectors[0][column].path, '(') + 1;
    snprintf(ret, capacity, "%.*s", (int)(strrchr(name, ')') - name), name);
}

static void build_cards(opl_build *build)
{
    const opl_build_counter counters[] = {counter_of(388, 0)};
    const opl_build_object_info info = {.name_index = 510, .help_index = 511};
    opl_build_object(build, &info, counters, COUNT(counters));
    for (size_t i = 0; i < CARDS; i++) {
        char name[128];
        card_name(i, name, sizeof name);
        opl_build_instance(build, name);
        opl_build_large(build, 0, first_of(i));
    }
}

static void build_processor(opl_build *build)
{
    const opl_build_counter counters[] = {counter_of(6, PROCESSOR_TIME)};
    const opl_build_object_info info = {.name_index = 238, .help_index = 239};
    opl_build_object(build, &info, counters, COUNT(counters));
    opl_build_instance(build, "_Total");
    opl_build_large(build, 0, first_of(PROCESSOR_TIME));
}

static LSTATUS return_titles(void *data, DWORD *size)
{
    DWORD capacity = *size;
    *size = sizeof titles;
    if (capacity < sizeof titles)
        return ERROR_MORE_DATA;
    memcpy(data, titles, sizeof titles);
    return ERROR_SUCCESS;
}

/* Answers every query with all objects. */
static LSTATUS query_key(const char *path, const char *name, bool wide, DWORD *type, void *data,
                         DWORD *size)
{
    PERF_DATA_BLOCK header = {
        .Signature = {'P', 'E', 'R', 'F'},
        .LittleEndian = 1,
        .Version = 1,
        .Revision = 1,
        .HeaderLength = sizeof header,
        .DefaultObject = 238
    };
    if (!strncmp(name, "Counter", 7) || !strncmp(name, "Explain", 7))
        return return_titles(data, size);
    if (*size < sizeof header)
        return ERROR_MORE_DATA;
    opl_build build;
    LPVOID cursor = (char *)data + sizeof header;
    DWORD bytes = *size - (DWORD)sizeof header, types = 0;
    opl_build_init(&build, cursor, bytes);
    build_cards(&build);
    build_processor(&build);
    build_memory(&build);
    build_disk(&build);
    LSTATUS status = (LSTATUS)opl_build_collect(&build, &cursor, &bytes, &types);
    if (status)
        return status;
    header.NumObjectTypes = types;
    header.TotalByteLength = *size = (DWORD)sizeof header + bytes;
    header.PerfTime.QuadPart = (LONGLONG)second_of(0);
    header.PerfFreq.QuadPart = vectors[0][0].time_base;
    header.PerfTime100nSec.QuadPart = (LONGLONG)second_of(PROCESSOR_TIME);
    memcpy(data, &header, sizeof header);
    return ERROR_SUCCESS;
}

static const struct mount mounts[] = {
    {.path = "HKEY_PERFORMANCE_DATA", .predefined = HKEY_PERFORMANCE_DATA, .query = query_key},
    {.path = NULL            },
};
static const struct registry_computed no_computed[1];
static const struct registry_virtual_keys no_keys[1];
static const struct registry_tables tables = {mounts, no_computed, no_keys, NULL};

__attribute__((constructor)) static void hand_down_tables(void)
{
    registry_init(&tables);
}

/* ---- the printed values ---- */

static void cells_of_the_present(void **state)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counters[VECTOR_COLUMNS];
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    vectors_add(query, counters);
    for (moment = 0; moment < VECTOR_SAMPLES; moment++) {
        assert_int_equal(PdhCollectQueryData(query), 0);
        for (size_t i = 0; i < VECTOR_COLUMNS; i++) {
            vector_is_collected(&vectors[moment][i], counters[i]);
            vector_is_calculated(&vectors[moment][i], counters[i]);
        }
    }
    moment = 0;
    for (size_t i = 0; i < VECTOR_COLUMNS; i++) {
        vector_is_described(&vectors[0][i], counters[i]);
        column_has_statistics(i, counters[i]);
    }
    assert_int_equal(PdhCloseQuery(query), 0);
}

/* Reads the five network cards as one array (instance *), with both ways to name the object. */
static void cells_of_a_wildcard(void **state)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    assert_int_equal(PdhAddEnglishCounterA(query, "\\510(*)\\388", 0, &counter), 0);
    for (moment = 0; moment < VECTOR_SAMPLES; moment++) {
        union {
            PDH_FMT_COUNTERVALUE_ITEM_A items[CARDS];
            char storage[1024];
        } is;
        DWORD size = sizeof is, count = 0;
        assert_int_equal(PdhCollectQueryData(query), 0);
        assert_int_equal(
            PdhGetFormattedCounterArrayA(counter, VECTOR_DOUBLE, &size, &count, is.items), 0);
        assert_int_equal(count, CARDS);
        for (size_t i = 0; i < CARDS; i++) {
            char name[128];
            card_name(i, name, sizeof name);
            assert_string_equal(is.items[i].szName, name);
            PDH_STATUS status = is.items[i].FmtValue.CStatus ? (PDH_STATUS)PDH_INVALID_DATA : 0;
            vector_is(&vectors[moment][i], status, &is.items[i].FmtValue);
        }
    }
    moment = 0;
    assert_int_equal(PdhCloseQuery(query), 0);
}

static int begin(void **state)
{
    setenv("LC_ALL", "C", 1);
    vectors_read();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_the_present),
        cmocka_unit_test(cells_of_a_wildcard),
    };
    return cmocka_run_group_tests_name("pdh-vectors", tests, begin, NULL);
}
