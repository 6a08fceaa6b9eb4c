/* SPDX-License-Identifier: MIT */
/*
 * Alternative names: names that other monitoring agents use for counters. A path with such a name
 * leads to our counter with the same meaning, whether a program adds, validates or expands the
 * path. All other names that we do not have stay unknown.
 */
#include <pdh.h>
#include <pdhmsg.h>
#include <windows.h>

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
    {"\\Logical Disk(/boot)\\% Used Space",              "\\Filesystem Space(/boot)\\% Used Space"        },
    {"\\Logical Disk(_Total)\\Disk Read Bytes/sec",      "\\LogicalDisk(_Total)\\Disk Read Bytes/sec"     },
    {"\\Logical Disk(_Total)\\Disk Write Bytes/sec",     "\\LogicalDisk(_Total)\\Disk Write Bytes/sec"    },
    {"\\Logical Disk(_Total)\\Disk Reads/sec",           "\\LogicalDisk(_Total)\\Disk Reads/sec"          },
    {"\\Logical Disk(_Total)\\Disk Writes/sec",          "\\LogicalDisk(_Total)\\Disk Writes/sec"         },
    {"\\Physical Disk(_Total)\\Avg. Disk sec/Write",     "\\PhysicalDisk(_Total)\\Avg. Disk sec/Write"    },
    {"\\Physical Disk(_Total)\\Avg. Disk sec/Transfer",
     "\\PhysicalDisk(_Total)\\Avg. Disk sec/Transfer"                                                     },
    {"\\Memory(*)\\Available MBytes Memory",             "\\Memory\\Available MBytes"                     },
    {"\\Memory(*)\\% Available Memory",                  "\\Memory Usage\\% Available Memory"             },
    {"\\Memory(*)\\Used Memory MBytes",                  "\\Memory Usage\\Used Memory MBytes"             },
    {"\\Memory(*)\\% Used Memory",                       "\\Memory Usage\\% Used Memory"                  },
    {"\\Memory(*)\\Pages/sec",                           "\\Memory\\Pages/sec"                            },
    {"\\Memory(*)\\Page Reads/sec",                      "\\Memory\\Page Reads/sec"                       },
    {"\\Memory(*)\\Available MBytes Swap",               "\\Memory Usage\\Available MBytes Swap"          },
    {"\\Memory(*)\\% Available Swap Space",              "\\Memory Usage\\% Available Swap"               },
    {"\\Memory(*)\\Used MBytes Swap Space",              "\\Memory Usage\\Used MBytes Swap Space"         },
    {"\\Memory(*)\\% Used Swap Space",                   "\\Memory Usage\\% Used Swap Space"              },
    {"\\Process(editor)\\Pct User Time",                 "\\Process(editor)\\% User Time"                 },
    {"\\Process(_Total)\\Pct Privileged Time",           "\\Process(_Total)\\% Privileged Time"           },
    {"\\System(*)\\Uptime",                              "\\System\\System Up Time"                       },
    {"\\System(*)\\Load1",                               "\\System\\Load Average 1 min"                   },
    {"\\System\\Load15",                                 "\\System\\Load Average 15 min"                  },
    {"\\System\\Uptime",                                 "\\System\\System Up Time"                       },
    {"\\System(*)\\Processes",                           "\\System\\Processes"                            },
    {"\\Network(wlp2s0)\\Total Bytes",                   "\\Network(wlp2s0)\\Total Bytes"                 },
    {"\\Network(wlp2s0)\\Total Bytes Transmitted",       "\\Network(wlp2s0)\\Total Bytes Transmitted"     },
    {"\\Network(wlp2s0)\\Total Bytes Received",          "\\Network(wlp2s0)\\Total Bytes Received"        },
    {"\\Network(wlp2s0)\\Total Packets Transmitted",
     "\\Network(wlp2s0)\\Total Packets Transmitted"                                                       },
    {"\\Network(wlp2s0)\\Total Packets Received",        "\\Network(wlp2s0)\\Total Packets Received"      },
    {"\\Network(wlp2s0)\\Total Rx Errors",               "\\Network(wlp2s0)\\Total Rx Errors"             },
    {"\\Network(wlp2s0)\\Total Tx Errors",               "\\Network(wlp2s0)\\Total Tx Errors"             },
    {"\\Network(wlp2s0)\\Total Collisions",              "\\Network(wlp2s0)\\Total Collisions"            },
    {"\\Processor(0)\\% Processor Time",                 "\\Processor(0)\\% Processor Time"               },
    {"\\Processor(0)\\% Idle Time",                      "\\Processor(0)\\% Idle Time"                    },
    {"\\Processor(0)\\% User Time",                      "\\Processor(0)\\% User Time"                    },
    {"\\Processor(0)\\% Privileged Time",                "\\Processor(0)\\% Privileged Time"              },
    {"\\Processor(0)\\% Interrupt Time",                 "\\Processor(0)\\% Interrupt Time"               },
    {"\\Processor(0)\\% DPC Time",                       "\\Processor(0)\\% DPC Time"                     },
};

/* The part of a path after the machine's name. */
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
            char storage[4096];
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

/* Paths with an alternative name select a processor by its number. The value is compared, too,
 * because a wrong processor would have the same counter. */
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
    /* processor 2 is offline, so there is no such instance */
    assert_int_equal(raw[2].CStatus, (DWORD)PDH_CSTATUS_NO_INSTANCE);
    assert_int_equal(PdhCloseQuery(query), 0);
}

static double value_at(const char *path)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_FMT_COUNTERVALUE value;
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    assert_int_equal(PdhAddCounterA(query, path, 0, &counter), 0);
    assert_int_equal(PdhCollectQueryData(query), 0);
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value), 0);
    assert_int_equal(PdhCloseQuery(query), 0);
    return value.doubleValue;
}

/* "(*)" after an object that has no instances is accepted, and the counter has a value. */
static void stars_behind_what_has_no_instances(void **state)
{
    assert_true(value_at("\\Memory(*)\\Available MBytes Memory") == 3000000 / 1024);
    assert_true(value_at("\\Memory(*)\\Used Memory MBytes") == 5000000 / 1024);
    assert_true(value_at("\\System(*)\\Processes") > 0);
    double used = value_at("\\Logical Disk(/boot)\\% Used Space");
    double free = value_at("\\Logical Disk(/boot)\\% Free Space");
    assert_true(used + free > 99.8 && used + free <= 100);
    assert_true(value_at("\\Network(wlp2s0)\\Total Bytes") == 1002 + 9002);
}

/* After an object without instances, only a path with alternative names may have brackets: "(*)".
 * In all other paths such brackets are refused, as on Windows (docs/windows/pdh.md#f4). */
static void other_brackets_are_refused(void **state)
{
    static const char *const paths[] = {"\\Memory(*)\\Available Bytes", "\\Memory(x)\\Pages/sec",
                                        "\\Memory(*)\\*", "\\System(*)\\System Up Time",
                                        "\\Memory(x)\\% Used Memory"};
    char list[4096];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        DWORD size = sizeof list;
        assert_int_equal(PdhExpandWildCardPathA(NULL, paths[i], list, &size, 0),
                         (PDH_STATUS)PDH_INVALID_PATH);
        assert_int_not_equal(PdhValidatePathA(paths[i]), 0);
    }
}

/* Names that other agents use, but for which we have no counter (docs/counters lists them), are
 * refused as unknown. */
static void names_without_a_meaning_stay_unknown(void **state)
{
    static const char *const paths[] = {"\\System\\Users",
                                        "\\System\\Unique Users",
                                        "\\System\\CPUs",
                                        "\\System\\Free Physical Memory",
                                        "\\System\\Free Virtual Memory",
                                        "\\System\\Free Space in Paging Files",
                                        "\\System\\Size Stored In Paging Files",
                                        "\\Process(_Total)\\Used Memory",
                                        "\\Process(_Total)\\Used Memory kBytes",
                                        "\\Process(_Total)\\Virtual Shared Memory",
                                        "\\Memory\\Page Writes/sec"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_int_equal(PdhValidatePathA(paths[i]), (PDH_STATUS)PDH_CSTATUS_NO_COUNTER);
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
        cmocka_unit_test(stars_behind_what_has_no_instances),
        cmocka_unit_test(other_brackets_are_refused),
        cmocka_unit_test(names_without_a_meaning_stay_unknown),
        cmocka_unit_test(other_names_stay_unknown),
    };
    return cmocka_run_group_tests(tests, use_a_frozen_machine, NULL);
}
