/* SPDX-License-Identifier: MIT */
/* The functions of pdh.h for paths and lists, called as a program does, on a frozen machine (a copy
 * of files of /proc and /sys). (docs/windows/pdh.md, docs/windows/pdh.md#f9) */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pdh.h>
#include <pdhmsg.h>

#include "../pdh/frozen.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define assert_status(call, status) assert_int_equal((DWORD)(call), (DWORD)(status))

static char own[64]; /* this machine's name with its backslashes */

/* Joins a multi-string to "a|b|". */
static const char *joined(const char *list)
{
    static char text[65536];
    size_t at = 0;
    for (; *list; list += strlen(list) + 1)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s|", list);
    text[at] = '\0';
    return text;
}

/* ---- expanding paths ---- */

/* Expands a path: first the length, then the list. In `expected`, @ stands for the machine's
 * name. */
static void expands(const char *path, DWORD flags, const char *expected)
{
    char list[65536], wanted[4096];
    DWORD length = 0, capacity = sizeof list;
    size_t at = 0;
    for (const char *from = expected; *from; from++)
        at += (size_t)snprintf(wanted + at, sizeof wanted - at, *from == '@' ? "%s" : "%.1s",
                               *from == '@' ? own : from);
    wanted[at] = '\0';
    assert_status(PdhExpandWildCardPathA(NULL, path, NULL, &length, flags), PDH_MORE_DATA);
    assert_status(PdhExpandWildCardPathA(NULL, path, list, &capacity, flags), 0);
    assert_int_equal(capacity, length);
    assert_string_equal(joined(list), wanted);
}

static void wildcards_become_paths(void **state)
{
    expands("\\Processor(*)\\% Processor Time", 0,
            "@\\Processor(0)\\% Processor Time|@\\Processor(1)\\% Processor Time|"
            "@\\Processor(_Total)\\% Processor Time|");
    expands("\\processor(_TOTAL)\\% PROCESSOR time", 0, "@\\Processor(_Total)\\% Processor Time|");
    expands("\\238(0)\\6", 0, "@\\Processor(0)\\% Processor Time|");
    expands("\\Processor(?)\\% processor time", 0,
            "@\\Processor(0)\\% Processor Time|@\\Processor(1)\\% Processor Time|");
    expands("\\System\\System Up*", 0, "@\\System\\System Up Time|");
    expands("System::System Up*", 0, "@\\System\\System Up Time|");
    expands("\\System\\no such*", 0, "");
    expands("\\Processor(absent*)\\% Processor Time", 0, "");
    expands("\\Processor(nobody)\\% Processor Time", 0, "@\\Processor(nobody)\\% Processor Time|");
    expands("\\Sys?em\\System Up Time", 0, "@\\System\\System Up Time|");
}

static void flags_leave_wildcards(void **state)
{
    expands("\\Processor(*)\\% Proc*Time", PDH_NOEXPANDCOUNTERS,
            "@\\Processor(0)\\% Proc*Time|@\\Processor(1)\\% Proc*Time|"
            "@\\Processor(_Total)\\% Proc*Time|");
    expands("\\Processor(*)\\% Processor T*", PDH_NOEXPANDINSTANCES,
            "@\\Processor(*)\\% Processor Time|");
    expands("\\Processor(*#*)\\*", PDH_NOEXPANDINSTANCES | PDH_NOEXPANDCOUNTERS,
            "@\\Processor(*#*)\\*|");
}

/* Which of the two processes "twin" is the first instance? The frozen machine's folder may list its
 * processes in any order. */
static bool comes_first(const char *name)
{
    char list[4096];
    DWORD length = sizeof list;
    assert_status(PdhExpandWildCardPathA(NULL, "\\Process(twin)\\ID Process", list, &length,
                                         PDH_REFRESHCOUNTERS),
                  0);
    return strstr(list, name) != NULL;
}

static void duplicates_have_numbers(void **state)
{
    frozen_process(41, "twin", 1, 1);
    frozen_process(42, "Twin", 1, 1);
    bool lower = comes_first("(twin)");
    expands("\\Process(twin#*)\\ID Process", PDH_REFRESHCOUNTERS,
            lower ? "@\\Process(twin)\\ID Process|@\\Process(Twin#1)\\ID Process|"
                  : "@\\Process(Twin)\\ID Process|@\\Process(twin#1)\\ID Process|");
    const char *first = lower ? "@\\Process(twin)\\ID Process|" : "@\\Process(Twin)\\ID Process|";
    expands("\\Process(twin)\\ID Process", 0, first);
    expands("\\Process(twin#0)\\ID Process", 0, first);
    lower = comes_first("(twin)");
    expands("\\Thread(twin/*)\\ID Process", PDH_REFRESHCOUNTERS,
            lower ? "@\\Thread(twin/0)\\ID Process|@\\Thread(Twin/0#1)\\ID Process|"
                  : "@\\Thread(Twin/0)\\ID Process|@\\Thread(twin/0#1)\\ID Process|");
    expands("\\Thread(*win*/*#1)\\ID Process", 0,
            lower ? "@\\Thread(Twin/0#1)\\ID Process|" : "@\\Thread(twin/0#1)\\ID Process|");
    frozen_end_process(41);
    frozen_end_process(42);
}

/* ---- unusual names of instances ---- */

#define ODD_SERVICE "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\OddNames\\Performance"

static void register_odd_names(void)
{
    char text[2048];
    snprintf(text, sizeof text,
             "Windows Registry Editor Version 5.00\n\n[" ODD_SERVICE "]\n\"Library\"=\"%s\"\n"
             "\"Open\"=\"Open\"\n\"Collect\"=\"Collect\"\n\"Close\"=\"Close\"\n"
             "\"First Counter\"=dword:000007d0\n\"Last Counter\"=dword:000007d6\n"
             "\"First Help\"=dword:000007d1\n\"Last Help\"=dword:000007d7\n\n[" ODD_SERVICE
             "\\Names\\009]\n\"2000\"=\"Odd Names\"\n\"2002\"=\"Position\"\n"
             "\"2004\"=\"Odd Children\"\n\"2006\"=\"Child Position\"\n",
             getenv("ODD_NAMES"));
    frozen_run("mkdir -p '%s/machine/registry.d'%s", frozen_folder, "");
    temp_write(frozen_folder, "machine/registry.d/odd.reg", text);
}

static LONGLONG value_at(const char *path)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_RAW_COUNTER raw;
    assert_status(PdhOpenQueryA(NULL, 0, &query), 0);
    assert_status(PdhAddCounterA(query, path, 0, &counter), 0);
    assert_status(PdhCollectQueryData(query), 0);
    assert_status(PdhGetRawCounterValue(counter, NULL, &raw), 0);
    assert_status(PdhCloseQuery(query), 0);
    return raw.FirstValue;
}

/* A name that exists as a whole is not split at "#" or "/". */
static void odd_names_are_found_as_a_whole(void **state)
{
#define POSITION ")\\Position"
    expands("\\Odd Names(twin#*" POSITION, PDH_REFRESHCOUNTERS,
            "@\\Odd Names(twin" POSITION "|@\\Odd Names(Twin#1" POSITION "|");
    expands("\\Odd Names(TWIN (2)" POSITION, 0, "@\\Odd Names(twin (2)" POSITION "|");
    expands("\\Odd Names(a/b" POSITION, 0, "@\\Odd Names(a/b" POSITION "|");
    assert_int_equal(value_at("\\Odd Names(Twin#0" POSITION), 0);
    /* an instance is named "twin#1": it is found, not the second instance named "twin" */
    assert_int_equal(value_at("\\Odd Names(twin#1" POSITION), 3);
    assert_int_equal(value_at("\\Odd Names(twin (2)" POSITION), 2);
    assert_int_equal(value_at("\\Odd Names(a/b" POSITION), 4);
    assert_int_equal(value_at("\\Odd Names(c)(d" POSITION), 5);
    assert_status(PdhValidatePathA("\\Odd Names(a/c" POSITION), PDH_CSTATUS_NO_INSTANCE);
    assert_int_equal(value_at("\\Odd Children(a/b/0)\\Child Position"), 1);
    assert_int_equal(value_at("\\Odd Children(c)(d/f/g)\\Child Position"), 2);
}

static void all_counters_but_no_bases(void **state)
{
    char list[65536];
    DWORD length = sizeof list;
    assert_status(PdhExpandCounterPathA("\\System\\*", list, &length), 0);
    assert_non_null(strstr(joined(list), "\\System\\System Up Time|"));
    size_t count = 0;
    for (const char *path = list; *path; path += strlen(path) + 1, count++)
        assert_status(PdhValidatePathA(path), 0);
    DWORD counters = 0, instances = 0;
    assert_status(PdhEnumObjectItemsA(NULL, NULL, "System", NULL, &counters, NULL, &instances,
                                      PERF_DETAIL_WIZARD, 0),
                  PDH_MORE_DATA);
    char *names = malloc(counters);
    assert_status(PdhEnumObjectItemsA(NULL, NULL, "System", names, &counters, NULL, &instances,
                                      PERF_DETAIL_WIZARD, 0),
                  0);
    for (const char *name = names; *name; name += strlen(name) + 1)
        count--;
    free(names);
    assert_int_equal(count, 0);
}

static void refused_expansions(void **state)
{
    char list[64];
    DWORD length = sizeof list;
    static const struct {
        const char *path;
        DWORD status;
    } rows[] = {
        {"\\No Such Object(*)\\*",         PDH_CSTATUS_NO_OBJECT      },
        {"\\System(*)\\*",                 PDH_INVALID_PATH           },
        {"\\System\\No Such Counter",      PDH_CSTATUS_NO_COUNTER     },
        {"\\\\no-such-machine\\System\\*", PDH_CSTATUS_NO_MACHINE     },
        {"\\System",                       PDH_CSTATUS_BAD_COUNTERNAME},
        {"",                               PDH_CSTATUS_NO_COUNTERNAME },
        {NULL,                             PDH_INVALID_ARGUMENT       },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_status(PdhExpandWildCardPathA(NULL, rows[i].path, list, &length, 0), rows[i].status);
    assert_status(PdhExpandWildCardPathA(NULL, "\\System\\*", list, NULL, 0), PDH_INVALID_ARGUMENT);
    assert_status(PdhExpandWildCardPathA(NULL, "\\System\\*", NULL, &length, 0),
                  PDH_INVALID_ARGUMENT);
    length = 3; /* too small, but the needed length is exact */
    assert_status(PdhExpandCounterPathA("\\System\\System Up Time", list, &length), PDH_MORE_DATA);
    assert_int_equal(length, strlen(own) + strlen("\\System\\System Up Time") + 2);
}

static void wide_lists_are_counted_in_characters(void **state)
{
    WCHAR list[256];
    DWORD length = 0;
    static const WCHAR path[] = u"\\System\\System Up Time";
    assert_status(PdhExpandWildCardPathW(NULL, path, NULL, &length, 0), PDH_MORE_DATA);
    assert_int_equal(length, strlen(own) + COUNT(path) + 1);
    assert_status(PdhExpandWildCardPathW(NULL, path, list, &length, 0), 0);
    assert_memory_equal(list + strlen(own), path, sizeof path);
    assert_int_equal(list[length - 1], 0);
}

/* ---- validating paths ---- */

static void validated_in_order(void **state)
{
    static const struct {
        const char *path;
        DWORD status;
    } rows[] = {
        {NULL,                                 PDH_INVALID_ARGUMENT       },
        {"",                                   PDH_INVALID_ARGUMENT       },
        {"\\System",                           PDH_CSTATUS_BAD_COUNTERNAME},
        {"System Up Time",                     PDH_CSTATUS_BAD_COUNTERNAME},
        {"\\System\\System Down Time",         PDH_CSTATUS_NO_COUNTER     },
        {"\\System\\System Up Time",           0                          },
        {"\\\\no-such-machine\\Nothing(x)\\y", PDH_CSTATUS_NO_MACHINE     },
        {"\\Nothing(x)\\y",                    PDH_CSTATUS_NO_OBJECT      },
        {"\\Processor(x)\\y",                  PDH_CSTATUS_NO_INSTANCE    },
        {"\\Processor\\% Processor Time",      PDH_CSTATUS_NO_INSTANCE    },
        {"\\System(x)\\System Up Time",        PDH_CSTATUS_NO_INSTANCE    },
        {"\\Processor(0)\\y",                  PDH_CSTATUS_NO_COUNTER     },
        {"\\Processor(0#1)\\% Processor Time", PDH_CSTATUS_NO_INSTANCE    },
        {"\\Processor(*)\\% Processor Time",   0                          },
        {"\\Processor(*)\\*",                  0                          },
        {"\\Processor(z*)\\*",                 PDH_CSTATUS_NO_INSTANCE    },
        {"\\Processor(*)\\z*",                 PDH_CSTATUS_NO_COUNTER     },
        {"\\Z*\\*",                            PDH_CSTATUS_NO_OBJECT      },
        {"\\238(_Total)\\6",                   0                          },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_status(PdhValidatePathA(rows[i].path), rows[i].status);
        assert_status(PdhValidatePathExA(NULL, rows[i].path), rows[i].status);
    }
    assert_status(PdhValidatePathW(NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhValidatePathExW(NULL, u"\\System\\System Up Time"), 0);
}

/* ---- lists ---- */

static bool listed(const char *list, const char *name)
{
    for (; *list; list += strlen(list) + 1)
        if (!strcmp(list, name))
            return true;
    return false;
}

static void objects_are_listed(void **state)
{
    char list[65536];
    DWORD length = 0, capacity = sizeof list;
    assert_status(PdhEnumObjectsA(NULL, NULL, NULL, &length, PERF_DETAIL_WIZARD, TRUE),
                  PDH_MORE_DATA);
    assert_status(PdhEnumObjectsA(NULL, NULL, list, &capacity, PERF_DETAIL_WIZARD, FALSE), 0);
    assert_int_equal(capacity, length);
    assert_true(listed(list, "Processor") && listed(list, "System") && listed(list, "Process"));
    for (const char *name = list; *name; name += strlen(name) + 1)
        assert_false(listed(name + strlen(name) + 1, name));
    length = 1;
    assert_status(PdhEnumObjectsA(NULL, NULL, list, &length, PERF_DETAIL_WIZARD, FALSE),
                  PDH_MORE_DATA);
    assert_int_equal(length, capacity);
    assert_status(PdhEnumObjectsA(NULL, "\\\\no-such-machine", list, &capacity, 400, FALSE),
                  PDH_CSTATUS_NO_MACHINE);
    assert_status(PdhEnumObjectsA(NULL, NULL, NULL, NULL, 400, FALSE), PDH_INVALID_ARGUMENT);
    assert_status(PdhEnumObjectsA(NULL, NULL, NULL, &length, 400, FALSE), PDH_INVALID_ARGUMENT);
}

static void level_zero_lists_nothing(void **state)
{
    char list[65536];
    DWORD length = sizeof list;
    assert_status(PdhEnumObjectsA(NULL, NULL, list, &length, 0, FALSE), 0);
    assert_int_equal(length, 2);
    DWORD novice = 0, wizard = 0, instances = 0;
    PdhEnumObjectItemsA(NULL, NULL, "Memory", NULL, &novice, NULL, &instances, PERF_DETAIL_NOVICE,
                        0);
    instances = 0;
    PdhEnumObjectItemsA(NULL, NULL, "Memory", NULL, &wizard, NULL, &instances, PERF_DETAIL_WIZARD,
                        0);
    assert_true(novice > 2 && novice < wizard);
}

/* Gets both lists of an object: first the lengths, then the lists. */
static void items(const char *object, char *counters, DWORD *counter_length, char *instances,
                  DWORD *instance_length)
{
    assert_status(PdhEnumObjectItemsA(NULL, NULL, object, counters, counter_length, instances,
                                      instance_length, PERF_DETAIL_WIZARD, 0),
                  0);
}

static void items_are_listed(void **state)
{
    char counters[16384], instances[16384];
    DWORD c = sizeof counters, i = sizeof instances;
    items("Processor", counters, &c, instances, &i);
    assert_string_equal(joined(instances), "0|1|_Total|");
    assert_int_equal(i, sizeof "0\0001\0_Total\0");
    assert_true(listed(counters, "% Processor Time"));
    c = sizeof counters, i = sizeof instances;
    items("Memory", counters, &c, instances, &i); /* this object never has instances */
    assert_int_equal(i, 0);
    assert_false(listed(counters, "") || counters[0] == '\0');
}

static void instances_stay_until_refreshed(void **state)
{
    char counters[16384], instances[16384], before[16384];
    DWORD c = sizeof counters, i = sizeof instances, length = 0;
    PdhEnumObjectsA(NULL, NULL, NULL, &length, PERF_DETAIL_WIZARD, TRUE);
    items("Process", counters, &c, before, &i);
    frozen_process(51, "newcomer", 1, 1);
    frozen_process(52, "newcomer", 1, 1);
    c = sizeof counters, i = sizeof instances;
    items("Process", counters, &c, instances, &i);
    assert_memory_equal(instances, before, i);
    length = 0;
    PdhEnumObjectsA(NULL, NULL, NULL, &length, PERF_DETAIL_WIZARD, TRUE);
    c = sizeof counters, i = sizeof instances;
    items("Process", counters, &c, instances, &i);
    assert_true(listed(instances, "newcomer"));
    const char *first = strstr(joined(instances), "|newcomer|");
    assert_null(strstr(first + 2, "|newcomer|")); /* each name is listed once */
    frozen_end_process(51);
    frozen_end_process(52);
}

static void refused_items(void **state)
{
    DWORD c = 0, i = 0;
    assert_status(PdhEnumObjectItemsA(NULL, NULL, "No Such Object", NULL, &c, NULL, &i, 400, 0),
                  PDH_CSTATUS_NO_OBJECT);
    assert_status(PdhEnumObjectItemsA(NULL, NULL, NULL, NULL, &c, NULL, &i, 400, 0),
                  PDH_INVALID_ARGUMENT);
    assert_status(PdhEnumObjectItemsA(NULL, NULL, "System", NULL, NULL, NULL, &i, 400, 0),
                  PDH_INVALID_ARGUMENT);
    assert_status(PdhEnumObjectItemsA(NULL, NULL, "System", NULL, &c, NULL, NULL, 400, 0),
                  PDH_INVALID_ARGUMENT);
    assert_status(
        PdhEnumObjectItemsA(NULL, "\\\\no-such-machine", "System", NULL, &c, NULL, &i, 400, 0),
        PDH_CSTATUS_NO_MACHINE);
}

static void machines(void **state)
{
    char list[256];
    DWORD length = sizeof list;
    assert_status(PdhConnectMachineA(NULL), 0);
    assert_status(PdhConnectMachineA(own), 0);
    assert_status(PdhConnectMachineA("\\\\no-such-machine"), PDH_CSTATUS_NO_MACHINE);
    assert_status(PdhEnumMachinesA(NULL, list, &length), 0);
    assert_string_equal(list, own);
    assert_int_equal(length, strlen(own) + 2);
}

static void defaults(void **state)
{
    char name[64];
    WCHAR wide[64];
    DWORD length = 0;
    assert_status(PdhGetDefaultPerfObjectA(NULL, NULL, NULL, &length), PDH_MORE_DATA);
    assert_int_equal(length, sizeof "Processor");
    assert_status(PdhGetDefaultPerfObjectA(NULL, NULL, name, &length), 0);
    assert_string_equal(name, "Processor");
    length = COUNT(wide);
    assert_status(PdhGetDefaultPerfCounterW(NULL, NULL, u"Processor", wide, &length), 0);
    assert_memory_equal(wide, u"% Processor Time", sizeof u"% Processor Time");
    length = sizeof name;
    assert_status(PdhGetDefaultPerfCounterA(NULL, NULL, "No Such Object", name, &length),
                  PDH_CSTATUS_NO_OBJECT);
    assert_status(PdhGetDefaultPerfCounterA(NULL, NULL, NULL, name, &length), PDH_INVALID_ARGUMENT);
}

/* ---- titles ---- */

static void numbers_of_titles(void **state)
{
    DWORD index = 5;
    assert_status(PdhLookupPerfIndexByNameA(NULL, NULL, NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhLookupPerfIndexByNameA(NULL, NULL, &index), PDH_INVALID_ARGUMENT);
    assert_status(PdhLookupPerfIndexByNameA(NULL, "No Counter", NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhLookupPerfIndexByNameA(NULL, "No Counter", &index), PDH_STRING_NOT_FOUND);
    assert_int_equal(index, 5);
    assert_status(PdhLookupPerfIndexByNameA(NULL, "% Processor Time", &index), 0);
    assert_int_equal(index, 6);
    assert_status(PdhLookupPerfIndexByNameW(NULL, u"System Up Time", &index), 0);
    assert_int_equal(index, 674);
}

static void titles_of_numbers(void **state)
{
    char name[64] = "kept";
    WCHAR wide[64];
    DWORD length = 1;
    assert_status(PdhLookupPerfNameByIndexA(NULL, 0, NULL, NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhLookupPerfNameByIndexA(NULL, 0, NULL, &length), 0);
    assert_int_equal(length, 1);
    length = sizeof name; /* the old content of the buffer must not remain */
    assert_status(PdhLookupPerfNameByIndexA(NULL, 0, name, &length), 0);
    assert_string_equal(name, "");
    assert_int_equal(length, 1);
    length = COUNT(wide);
    assert_status(PdhLookupPerfNameByIndexW(NULL, 0, wide, &length), 0);
    assert_int_equal(wide[0], 0);
    assert_int_equal(length, 1);
    length = 0;
    assert_status(PdhLookupPerfNameByIndexA(NULL, 0, name, &length), 0);
    assert_int_equal(length, 1);
    strcpy(name, "kept");
    length = 0;
    assert_status(PdhLookupPerfNameByIndexA(NULL, 6, name, &length), PDH_MORE_DATA);
    assert_int_equal(length, 17);
    assert_string_equal(name, "kept");
    assert_status(PdhLookupPerfNameByIndexA(NULL, 6, name, &length), 0);
    assert_string_equal(name, "% Processor Time");
    length = COUNT(wide);
    assert_status(PdhLookupPerfNameByIndexW(NULL, 674, wide, &length), 0);
    assert_int_equal(length, COUNT(u"System Up Time"));
    assert_memory_equal(wide, u"System Up Time", sizeof u"System Up Time");
    assert_status(PdhLookupPerfNameByIndexA(NULL, 99998, name, &length), PDH_STRING_NOT_FOUND);
}

/* ---- making paths from parts, and splitting them ---- */

/* The paths that a program gets if it fills in their parts one by one. */
static void made_of_parts(void **state)
{
    char text[256];
    DWORD length = 0;
    PDH_COUNTER_PATH_ELEMENTS_A parts = {.szMachineName = (char *)"machine"};
    assert_status(PdhMakeCounterPathA(NULL, NULL, NULL, 0), PDH_INVALID_ARGUMENT);
    assert_status(PdhMakeCounterPathA(NULL, text, &length, 0), PDH_INVALID_ARGUMENT);
    text[0] = '\0';
    length = sizeof text;
    assert_status(PdhMakeCounterPathA(&parts, text, &length, 0), PDH_INVALID_ARGUMENT);
    parts.szObjectName = (char *)"object";
    parts.szInstanceName = (char *)"instance";
    parts.szParentInstance = (char *)"parent";
    parts.dwInstanceIndex = 1;
    assert_status(PdhMakeCounterPathA(&parts, text, &length, 0), PDH_INVALID_ARGUMENT);
    assert_string_equal(text, "");
    parts.szCounterName = (char *)"counter";
    assert_status(PdhMakeCounterPathA(&parts, text, &length, 0), 0);
    assert_string_equal(text, "\\\\machine\\object(parent/instance#1)\\counter");
    assert_int_equal(length, strlen(text) + 1);
    parts.szInstanceName = NULL;
    length = sizeof text;
    assert_status(PdhMakeCounterPathA(&parts, text, &length, 0), 0);
    assert_string_equal(text, "\\\\machine\\object\\counter");
    length = 3;
    assert_status(PdhMakeCounterPathA(&parts, text, &length, 0), PDH_MORE_DATA);
    assert_int_equal(length, strlen(text) + 1);
    parts.szObjectName = NULL;
    assert_status(PdhMakeCounterPathA(&parts, text, &length, 0), PDH_INVALID_ARGUMENT);
}

static void taken_apart(void **state)
{
    union {
        PDH_COUNTER_PATH_ELEMENTS_A narrow;
        PDH_COUNTER_PATH_ELEMENTS_W wide;
        char storage[512];
    } parts;
    DWORD size = 0;
    const char *path = "\\\\h\\Thread(bash/0#2)\\c";
    assert_status(PdhParseCounterPathA(path, NULL, &size, 0), PDH_MORE_DATA);
    assert_int_equal(size, sizeof parts.narrow + sizeof "\\\\h" + sizeof "Thread" + sizeof "bash" +
                               sizeof "0" + sizeof "c");
    assert_status(PdhParseCounterPathA(path, &parts.narrow, &size, 0), 0);
    assert_string_equal(parts.narrow.szMachineName, "\\\\h");
    assert_string_equal(parts.narrow.szObjectName, "Thread");
    assert_string_equal(parts.narrow.szParentInstance, "bash");
    assert_string_equal(parts.narrow.szInstanceName, "0");
    assert_int_equal(parts.narrow.dwInstanceIndex, 2);
    assert_string_equal(parts.narrow.szCounterName, "c");
    size = sizeof parts;
    assert_status(PdhParseCounterPathW(u"\\System\\Up", &parts.wide, &size, 0), 0);
    assert_null(parts.wide.szMachineName);
    assert_null(parts.wide.szInstanceName);
    assert_null(parts.wide.szParentInstance);
    assert_memory_equal(parts.wide.szCounterName, u"Up", sizeof u"Up");
    assert_status(PdhParseCounterPathA("\\System", &parts.narrow, &size, 0),
                  PDH_CSTATUS_BAD_COUNTERNAME);
    assert_status(PdhParseCounterPathA(NULL, &parts.narrow, &size, 0), PDH_INVALID_ARGUMENT);
    assert_status(PdhParseCounterPathA(path, &parts.narrow, NULL, 0), PDH_INVALID_ARGUMENT);
}

static void instance_names_taken_apart(void **state)
{
    char name[16], parent[16];
    DWORD name_length = sizeof name, parent_length = sizeof parent, index = 77;
    assert_status(
        PdhParseInstanceNameA("bash/0#3", name, &name_length, parent, &parent_length, &index), 0);
    assert_string_equal(name, "0");
    assert_string_equal(parent, "bash");
    assert_int_equal(index, 3);
    assert_int_equal(name_length, 2);
    assert_int_equal(parent_length, 5);
    name_length = 0;
    parent_length = sizeof parent;
    assert_status(PdhParseInstanceNameA("sda", NULL, &name_length, parent, &parent_length, &index),
                  PDH_MORE_DATA);
    assert_int_equal(name_length, 4);
    assert_int_equal(parent_length, 1); /* the parent is an empty text */
    assert_int_equal(index, 0);
    assert_status(PdhParseInstanceNameA("", name, &name_length, parent, &parent_length, &index),
                  PDH_INVALID_INSTANCE);
    assert_status(PdhParseInstanceNameA("a", name, &name_length, parent, &parent_length, NULL),
                  PDH_INVALID_ARGUMENT);
}

static int begin(void **state)
{
    char list[sizeof own];
    DWORD length = sizeof list;
    frozen_make(state);
    register_odd_names();
    if (PdhConnectMachineA(NULL) || PdhEnumMachinesA(NULL, list, &length))
        return -1;
    strcpy(own, list);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wildcards_become_paths),
        cmocka_unit_test(flags_leave_wildcards),
        cmocka_unit_test(duplicates_have_numbers),
        cmocka_unit_test(odd_names_are_found_as_a_whole),
        cmocka_unit_test(all_counters_but_no_bases),
        cmocka_unit_test(refused_expansions),
        cmocka_unit_test(wide_lists_are_counted_in_characters),
        cmocka_unit_test(validated_in_order),
        cmocka_unit_test(objects_are_listed),
        cmocka_unit_test(level_zero_lists_nothing),
        cmocka_unit_test(items_are_listed),
        cmocka_unit_test(instances_stay_until_refreshed),
        cmocka_unit_test(refused_items),
        cmocka_unit_test(machines),
        cmocka_unit_test(defaults),
        cmocka_unit_test(numbers_of_titles),
        cmocka_unit_test(titles_of_numbers),
        cmocka_unit_test(made_of_parts),
        cmocka_unit_test(taken_apart),
        cmocka_unit_test(instance_names_taken_apart),
    };
    return cmocka_run_group_tests_name("api-pdh-paths", tests, begin, frozen_remove);
}
