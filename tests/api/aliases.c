/* SPDX-License-Identifier: MIT */
/*
 * Names of other agents: each leads to the counter that means the same, when it is added, checked
 * and expanded. Names that nobody has stay unknown.
 */
#include <openperflib/pdh.h>
#include <openperflib/pdhmsg.h>
#include <openperflib/windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *written, *meant;
} names[] = {
    {"\\Logical Disk(/boot)\\% Free Inodes",             "\\Filesystem Inodes(/boot)\\% Free Inodes"      },
    {"\\Logical Disk(/boot)\\% Used Inodes",             "\\Filesystem Inodes(/boot)\\% Used Inodes"      },
    {"\\LogicalDisk(_Total)\\% Used Inodes",             "\\Filesystem Inodes(_Total)\\% Used Inodes"     },
    {"\\LogicalDisk(/boot)\\% Free Inodes",              "\\Filesystem Inodes(/boot)\\% Free Inodes"      },
    {"\\Logical Disk(_Total)\\% Free Space",             "\\LogicalDisk(_Total)\\% Free Space"            },
    {"\\Logical Disk(_Total)\\Free Megabytes",           "\\LogicalDisk(_Total)\\Free Megabytes"          },
    {"\\Logical Disk(_Total)\\Disk Transfers/sec",       "\\LogicalDisk(_Total)\\Disk Transfers/sec"      },
    {"\\Logical Disk(_Total)\\Logical Disk Bytes/sec",   "\\LogicalDisk(_Total)\\Disk Bytes/sec"          },
    {"\\Physical Disk(_Total)\\Avg. Disk sec/Read",      "\\PhysicalDisk(_Total)\\Avg. Disk sec/Read"     },
    {"\\Physical Disk(_Total)\\Physical Disk Bytes/sec", "\\PhysicalDisk(_Total)\\Disk Bytes/sec"         },
    {"\\memory\\available mbytes memory",                "\\Memory\\Available MBytes"                     },
    {"\\Memory\\% Available Memory",                     "\\Memory Usage\\% Available Memory"             },
    {"\\Memory\\% Used Memory",                          "\\Memory Usage\\% Used Memory"                  },
    {"\\Memory\\Used Memory MBytes",                     "\\Memory Usage\\Used Memory MBytes"             },
    {"\\Memory\\Available MBytes Swap",                  "\\Memory Usage\\Available MBytes Swap"          },
    {"\\Memory\\% Available Swap",                       "\\Memory Usage\\% Available Swap"               },
    {"\\Memory\\% Available Swap Space",                 "\\Memory Usage\\% Available Swap"               },
    {"\\Memory\\% Used Swap",                            "\\Memory Usage\\% Used Swap Space"              },
    {"\\Memory\\% Used Swap Space",                      "\\Memory Usage\\% Used Swap Space"              },
    {"\\Memory\\Used MBytes Swap Space",                 "\\Memory Usage\\Used MBytes Swap Space"         },
    {"\\Processor(_Total)\\% IO Wait Time",              "\\Processor Information(_Total)\\% IO Wait Time"},
    {"\\Processor(_Total)\\% Nice Time",                 "\\Processor Information(_Total)\\% Nice Time"   },
    {"\\Processor(0)\\% IO Wait Time",                   "\\Processor Information(0,0)\\% IO Wait Time"   },
    {"\\Processor(3)\\% Nice Time",                      "\\Processor Information(0,3)\\% Nice Time"      },
};

/* The path behind the machine's name. */
static const char *own_part(const char *path)
{
    return strncmp(path, "\\\\", 2) ? path : strchr(path + 2, '\\');
}

static void each_name_can_be_added(void **state)
{
    PDH_HQUERY query;
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        union {
            PDH_COUNTER_INFO_A info;
            char room[4096];
        } about;
        DWORD size = sizeof about;
        PDH_HCOUNTER counter;
        PDH_STATUS status = PdhAddEnglishCounterA(query, names[i].written, 0, &counter);
        if (status)
            fail_msg("%s: %08x", names[i].written, (unsigned)status);
        assert_int_equal(PdhGetCounterInfoA(counter, FALSE, &size, &about.info), 0);
        assert_string_equal(own_part(about.info.szFullPath), names[i].meant);
        assert_int_equal(PdhRemoveCounter(counter), 0);
        assert_int_equal(PdhAddCounterA(query, names[i].written, 0, &counter), 0);
    }
    assert_int_equal(PdhCloseQuery(query), 0);
}

static void each_name_is_valid_and_expands(void **state)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char list[4096];
        DWORD size = sizeof list;
        PDH_STATUS status = PdhValidatePathA(names[i].written);
        if (!status)
            status = PdhExpandWildCardPathA(NULL, names[i].written, list, &size, 0);
        if (status)
            fail_msg("%s: %08x", names[i].written, (unsigned)status);
        assert_string_equal(own_part(list), names[i].meant);
    }
}

static void all_instances_of_another_name(void **state)
{
    char list[4096];
    DWORD size = sizeof list;
    assert_int_equal(
        PdhExpandWildCardPathA(NULL, "\\Logical Disk(*)\\% Used Inodes", list, &size, 0), 0);
    assert_string_equal(own_part(list), "\\Filesystem Inodes(/dev/shm)\\% Used Inodes");
    const char *second = list + strlen(list) + 1;
    assert_string_equal(own_part(second), "\\Filesystem Inodes(/boot)\\% Used Inodes");
}

static void values_are_those_of_the_machine(void **state)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_FMT_COUNTERVALUE value;
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    assert_int_equal(PdhAddCounterA(query, "\\Logical Disk(/boot)\\% Used Inodes", 0, &counter), 0);
    assert_int_equal(PdhCollectQueryData(query), 0);
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value), 0);
    assert_true(value.doubleValue > 100.0 * 535 / 65536 && value.doubleValue < 100.0 * 537 / 65536);
    assert_int_equal(PdhCloseQuery(query), 0);
}

/* A processor's number alone: its value, not only its name. */
static void a_processor_is_found_by_its_number(void **state)
{
    static const char *const paths[] = {"\\Processor(3)\\% IO Wait Time",
                                        "\\Processor Information(0,3)\\% IO Wait Time",
                                        "\\Processor(2)\\% IO Wait Time"};
    PDH_RAW_COUNTER raw[3];
    PDH_HCOUNTER counters[3];
    PDH_HQUERY query;
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(PdhAddCounterA(query, paths[i], 0, &counters[i]), 0);
    assert_int_equal(PdhCollectQueryData(query), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(PdhGetRawCounterValue(counters[i], NULL, &raw[i]), 0);
    assert_int_equal(raw[0].CStatus, PDH_CSTATUS_VALID_DATA);
    assert_int_equal(raw[0].FirstValue, 5003 * 100000);
    assert_int_equal(raw[1].FirstValue, 5003 * 100000);
    assert_int_equal(raw[2].CStatus, (DWORD)PDH_CSTATUS_NO_INSTANCE); /* it is off */
    assert_int_equal(PdhCloseQuery(query), 0);
}

static void other_names_stay_unknown(void **state)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    assert_int_equal(PdhAddCounterA(query, "\\Memory\\% Forgotten Memory", 0, &counter),
                     (PDH_STATUS)PDH_CSTATUS_NO_COUNTER);
    assert_int_equal(PdhAddCounterA(query, "\\Logical Disk(_Total)\\% Haste", 0, &counter),
                     (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(PdhAddCounterA(query, "\\Logical Disc(_Total)\\% Free Space", 0, &counter),
                     (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(PdhCloseQuery(query), 0);
}

static int use_a_frozen_machine(void **state)
{
    char root[1024];
    snprintf(root, sizeof root, "%s/tests/roots/laptop4", getenv("SOURCE_ROOT"));
    return setenv("OPENPERFLIB_SYSROOT", root, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_can_be_added),
        cmocka_unit_test(each_name_is_valid_and_expands),
        cmocka_unit_test(all_instances_of_another_name),
        cmocka_unit_test(values_are_those_of_the_machine),
        cmocka_unit_test(a_processor_is_found_by_its_number),
        cmocka_unit_test(other_names_stay_unknown),
    };
    return cmocka_run_group_tests(tests, use_a_frozen_machine, NULL);
}
