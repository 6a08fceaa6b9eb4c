/* SPDX-License-Identifier: MIT */
/* PDH functions on a frozen machine: the library reads a copy of files of /proc and /sys instead of
 * the real ones, and the test changes this copy while it runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openperflib/unstable.h>
#include <pdh.h>
#include <pdhmsg.h>

static char root[64];

static void write_file(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Called before the first call of the library, because the library reads its environment only
 * once. */
static int begin(void **state)
{
    char command[1024];
    snprintf(root, sizeof root, "/tmp/opl-frozen-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(command, sizeof command, "cp -r '%s/tests/roots/laptop4/.' '%s'",
             getenv("SOURCE_ROOT"), root);
    setenv("OPENPERFLIB_SYSROOT", root, 1);
    return system(command);
}

static int end(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

/* ---- load average ---- */

static PDH_FMT_COUNTERVALUE value_of(const char *path, DWORD format)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_FMT_COUNTERVALUE value = {0};
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    assert_int_equal(PdhAddCounterA(query, path, 0, &counter), 0);
    assert_int_equal(PdhCollectQueryData(query), 0);
    assert_int_equal(PdhGetFormattedCounterValue(counter, format, NULL, &value), 0);
    assert_int_equal(PdhCloseQuery(query), 0);
    return value;
}

static void a_load_is_what_the_file_says(void **state)
{
    static const char *const minute = "\\System\\Load Average 1 min",
                             *const five = "\\System\\Load Average 5 min",
                             *const fifteen = "\\System\\Load Average 15 min";
    write_file("proc/loadavg", "2.36 250.00 0.07 1/96 11421\n");
    assert_true(value_of(minute, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100).doubleValue == 2.36);
    assert_true(value_of(minute, PDH_FMT_DOUBLE).doubleValue == 2.36);
    assert_int_equal(value_of(minute, PDH_FMT_LONG).longValue, 2);
    assert_int_equal(value_of(minute, PDH_FMT_LONG | PDH_FMT_1000).longValue, 2360);
    assert_int_equal(value_of(minute, PDH_FMT_LARGE | PDH_FMT_1000).largeValue, 2360);
    assert_true(value_of(five, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100).doubleValue == 250.0);
    assert_int_equal(value_of(five, PDH_FMT_LARGE | PDH_FMT_NOCAP100).largeValue, 250);
    assert_int_equal(value_of(five, PDH_FMT_LONG | PDH_FMT_NOCAP100).longValue, 250);
    /* without NOCAP100, a fraction above 100 becomes 100, as on Windows */
    assert_int_equal(value_of(five, PDH_FMT_LONG).longValue, 100);
    assert_true(value_of(fifteen, PDH_FMT_DOUBLE).doubleValue - 0.07 < 1e-15);
}

static void a_recorded_load_is_the_same(void **state)
{
    char file[128];
    DWORD type = PDH_LOG_TYPE_CSV;
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_HLOG log;
    PDH_FMT_COUNTERVALUE value;
    const char *path = "\\System\\Load Average 5 min";
    snprintf(file, sizeof file, "%s/load.csv", root);
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    assert_int_equal(PdhAddCounterA(query, path, 0, &counter), 0);
    assert_int_equal(
        PdhOpenLogA(file, PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_NEW, &type, query, 0, NULL, &log),
        0);
    assert_int_equal(PdhUpdateLogA(log, NULL), 0);
    assert_int_equal(PdhCloseLog(log, PDH_FLAGS_CLOSE_QUERY), 0);
    assert_int_equal(PdhOpenQueryA(file, 0, &query), 0);
    assert_int_equal(PdhAddCounterA(query, path, 0, &counter), 0);
    assert_int_equal(PdhCollectQueryData(query), 0);
    assert_int_equal(
        PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, NULL, &value), 0);
    assert_true(value.doubleValue == 250.0);
    assert_int_equal(PdhCloseQuery(query), 0);
}

/* ---- Process V2 ---- */

static void a_number_after_the_name_finds_one_process(void **state)
{
    char list[1024] = "";
    DWORD size = sizeof list;
    assert_int_equal(value_of("\\Process V2(editor:400)\\ID Process", PDH_FMT_LONG).longValue, 400);
    assert_int_equal(value_of("\\Process V2(Idle:0)\\ID Process", PDH_FMT_LONG).longValue, 0);
    assert_int_equal(
        PdhExpandWildCardPathA(NULL, "\\Process V2(*:400)\\ID Process", list, &size, 0), 0);
    assert_non_null(strstr(list, "Process V2(editor:400)"));
    assert_int_equal(strlen(list) + 2, size);
}

/* ---- text counters ---- */

struct heard {
    unsigned count, most; /* the callback returns false after `most` texts */
    char all[4096];
};

static bool hear(void *context, const char *instance, const char *counter, const char *text)
{
    struct heard *heard = context;
    size_t used = strlen(heard->all);
    snprintf(heard->all + used, sizeof heard->all - used, "%s %s=%s;", instance, counter, text);
    return ++heard->count < heard->most;
}

static int32_t find_texts(const char *path, struct heard *heard)
{
    *heard = (struct heard){.most = 100};
    return opl_text_values(path, hear, heard);
}

static void a_text_is_found_by_its_path(void **state)
{
    struct heard heard;
    write_file("proc/400/cmdline", "editor --file");
    write_file("proc/400/cgroup", "0::/system.slice/ssh.service\n");
    assert_int_equal(find_texts("\\Process Details(editor:400)\\Command Line", &heard), 0);
    assert_string_equal(heard.all, "editor:400 Command Line=editor --file;");
    assert_int_equal(find_texts("Process Details(editor:400)::Unit", &heard), 0);
    assert_string_equal(heard.all, "editor:400 Unit=ssh.service;");
    assert_int_equal(find_texts("\\102000(*:400)\\*", &heard), 0);
    assert_int_equal(heard.count, 5); /* text counters only, no numbers */
    assert_non_null(
        strstr(heard.all, "editor:400 State=sleeping;editor:400 Control Group=/system"));
    assert_int_equal(find_texts("\\Process Details(*)\\State", &heard), 0);
    assert_int_equal(heard.count, 4);
    heard = (struct heard){.most = 2};
    assert_int_equal(opl_text_values("\\Process Details(*)\\*", hear, &heard), 0);
    assert_int_equal(heard.count, 2);
}

static void a_text_that_is_not_there_has_a_reason(void **state)
{
    struct heard heard;
    assert_int_equal(find_texts("\\Process Details(none)\\Unit", &heard),
                     (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE);
    assert_int_equal(find_texts("\\Process Details\\Unit", &heard),
                     (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE);
    assert_int_equal(find_texts("\\Process Details(*)\\ID Process", &heard),
                     (PDH_STATUS)PDH_CSTATUS_NO_COUNTER);
    assert_int_equal(find_texts("\\Process Details(*)\\Shoe Size", &heard),
                     (PDH_STATUS)PDH_CSTATUS_NO_COUNTER);
    assert_int_equal(find_texts("\\No Object(*)\\Unit", &heard), (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(find_texts("Unit", &heard), (PDH_STATUS)PDH_CSTATUS_BAD_COUNTERNAME);
    assert_int_equal(find_texts(NULL, &heard), (PDH_STATUS)PDH_INVALID_ARGUMENT);
    assert_int_equal(opl_text_values("\\Process Details(*)\\Unit", NULL, NULL),
                     (PDH_STATUS)PDH_INVALID_ARGUMENT);
    assert_int_equal(heard.count, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_is_what_the_file_says),
        cmocka_unit_test(a_recorded_load_is_the_same),
        cmocka_unit_test(a_number_after_the_name_finds_one_process),
        cmocka_unit_test(a_text_is_found_by_its_path),
        cmocka_unit_test(a_text_that_is_not_there_has_a_reason),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
